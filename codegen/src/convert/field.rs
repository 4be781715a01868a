//! Converts a `field` element to a [`Field`].

use serde::Deserialize;

use super::attribute::{check_content, doc, flag, number_below, required};
use super::condition::Pending;
use super::converter::Converter;
use super::enumeration::{sets, values};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Enum, EnumId, Field, Stored, Type};
use crate::value::{self, BITS_LIMIT, BUILT_IN, ones};
use crate::xml::{self, At, Element};
use genxml_syntax::number::number;
use genxml_syntax::suggest;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct FieldAttributes {
    name: Option<At>,
    start: Option<At>,
    end: Option<At>,
    dword: Option<At>,
    bits: Option<At>,
    r#type: Option<At>,
    default: Option<At>,
    range: Option<At>,
    stored_as: Option<At>,
    align: Option<At>,
    address_space: Option<At>,
    target: Option<At>,
    unit: Option<At>,
    opcode: Option<At>,
    required: Option<At>,
    nonzero: Option<At>,
    exists_if: Option<At>,
    variant: Option<At>,
    prefix: Option<At>,
    source: Option<At>,
    doc: Option<At>,
    derived: Option<At>,
    doubtful: Option<At>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct ViewAttributes {
    name: Option<At>,
    start: Option<At>,
    end: Option<At>,
    dword: Option<At>,
    bits: Option<At>,
    r#type: Option<At>,
    exists_if: Option<At>,
    source: Option<At>,
    doc: Option<At>,
}

impl Converter<'_> {
    /// Reads a view (a field with fewer attributes) and the text of its condition. Returns `None`
    /// if the name, position or type is unusable.
    pub fn view(&mut self, element: &Element) -> Option<(Field, Pending)> {
        let a: ViewAttributes = xml::attributes(element, self.problems);
        let ViewAttributes { name, start, end, dword, bits, r#type, exists_if, source, doc } = a;
        check_content(element, &["doc"], self.problems);
        let a = FieldAttributes {
            name,
            start,
            end,
            dword,
            bits,
            r#type,
            exists_if,
            source,
            doc,
            ..FieldAttributes::default()
        };
        self.read_field(element, &a)
    }

    /// Reads a field and its condition, which is parsed after all fields have been read. Returns
    /// `None` if the name, position or type is unusable.
    pub fn field(&mut self, element: &Element) -> Option<(Field, Pending)> {
        let a: FieldAttributes = xml::attributes(element, self.problems);
        check_content(element, &["value", "set", "doc"], self.problems);
        self.read_field(element, &a)
    }

    fn read_field(&mut self, element: &Element, a: &FieldAttributes) -> Option<(Field, Pending)> {
        // In Mesa's files, bits that must be one or zero may have no name.
        let nameless = self.foreign
            && a.name.is_none()
            && matches!(&*element.text_of(a.r#type), "mbo" | "mbz");
        let name = if nameless {
            Some("Reserved".to_string())
        } else {
            required(element, a.name, "name", self.problems).map(|at| element.text_of(Some(at)))
        };
        let place = self.place(element, a);
        let stored = self.stored(element, a.stored_as);
        let variant = self.variant(element, a.variant);
        let ty = self.ty(element, a, place, variant.as_ref());
        let flags = [a.opcode, a.required, a.nonzero].map(|at| flag(element, at, self.problems));
        let name = name?;
        let (Some((start, end)), Some(ty)) = (place, ty) else {
            self.lost.push(name);
            return None;
        };
        let width = end - start + 1;
        let range = self.range(element, a.range, &ty, stored, width);
        let range = match flags[2] {
            true => self.nonzero(element, a.nonzero, &ty, range, width),
            false => range,
        };
        let doubt = [a.derived, a.doubtful].map(|at| element.text_of(at));
        let pending =
            a.exists_if.map(|at| (element.at(at).value.clone(), element.at(at).value_span.clone()));
        let field = Field {
            name,
            start,
            end,
            default: self.default(element, a.default, &ty, width),
            range,
            ty,
            stored,
            opcode: flags[0],
            length: false,
            required: flags[1],
            nonzero: flags[2],
            exists_if: None,
            variant,
            unit: element.text_of(a.unit),
            doc: doc(element, a.doc),
            source: element.text_of(a.source),
            doubt: doubt.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; "),
            span: element.span.clone(),
        };
        Some((field, pending))
    }

    /// Reads the position: first and last bit.
    fn place(&mut self, element: &Element, a: &FieldAttributes) -> Option<(u32, u32)> {
        let (start, end, at) = match (a.start, a.end, a.dword, a.bits) {
            (Some(start), Some(end), None, None) => {
                let first = number_below(element.at(start), BITS_LIMIT, self.problems);
                let last = number_below(element.at(end), BITS_LIMIT, self.problems);
                (first?, last?, end)
            }
            (None, None, Some(dword), Some(bits)) => {
                let base = number_below(element.at(dword), BITS_LIMIT / 32, self.problems);
                let text = &element.at(bits).value;
                let (high, low) = text.split_once(':').unwrap_or((text, text));
                let bit = |text: &str| number(text).filter(|bit| *bit < BITS_LIMIT / 2);
                let (Some(high), Some(low)) = (bit(high), bit(low)) else {
                    self.problems.push(
                        Diagnostic::new(
                            Code::Position,
                            element.at(bits).value_span.clone(),
                            format!("`{text}` is not a range of bits"),
                        )
                        .hint("bits are written high:low, as in bits=\"15:0\""),
                    );
                    return None;
                };
                let base = base? * 32;
                (base + low, base + high, bits)
            }
            (None, None, None, None) => {
                required(element, None, "dword", self.problems);
                return None;
            }
            _ => {
                self.problems.push(
                    Diagnostic::new(
                        Code::Position,
                        element.span.clone(),
                        "the position is incomplete, or given twice",
                    )
                    .hint("a field has either `dword` and `bits`, or `start` and `end`"),
                );
                return None;
            }
        };
        if end < start || end >= BITS_LIMIT {
            let message = format!("the last bit, {end}, comes before the first, {start}");
            let large = format!("bit {end} is too large: it must be less than {BITS_LIMIT}");
            let message = if end < start { message } else { large };
            self.problems.push(
                Diagnostic::new(Code::Position, element.at(at).value_span.clone(), message)
                    .hint("bits are written high:low, as in bits=\"15:0\""),
            );
            return None;
        }
        Some((start as u32, end as u32))
    }

    fn stored(&mut self, element: &Element, at: Option<At>) -> Stored {
        let Some(attribute) = at.map(|at| element.at(at)) else { return Stored::Plain };
        value::stored(&attribute.value).unwrap_or_else(|| {
            let message = format!("`stored-as` cannot be `{}`", attribute.value);
            self.problems.push(
                Diagnostic::new(Code::Value, attribute.value_span.clone(), message)
                    .hint("it may be: minus-one, shifted:N (N from 1 to 63), log2"),
            );
            Stored::Plain
        })
    }

    fn variant(&mut self, element: &Element, at: Option<At>) -> Option<(String, String)> {
        let attribute = element.at(at?);
        let parts: Vec<&str> = attribute.value.split('/').map(str::trim).collect();
        match parts[..] {
            [set, alternative] if !set.is_empty() && !alternative.is_empty() => {
                Some((set.to_owned(), alternative.to_owned()))
            }
            _ => {
                let message = format!("`{}` is not a variant", attribute.value);
                self.problems.push(
                    Diagnostic::new(Code::Variant, attribute.value_span.clone(), message).hint(
                        "a variant is written set/alternative, as in variant=\"Extent/Buffer\"",
                    ),
                );
                None
            }
        }
    }

    fn ty(
        &mut self,
        element: &Element,
        a: &FieldAttributes,
        place: Option<(u32, u32)>,
        variant: Option<&(String, String)>,
    ) -> Option<Type> {
        let at = required(element, a.r#type, "type", self.problems)?;
        let attribute = element.at(at);
        let text = attribute.value.trim();
        let has_values = element.children.iter().any(|child| child.name == "value");
        if has_values && text != "uint" && !self.foreign {
            self.problems.push(
                Diagnostic::new(
                    Code::Values,
                    attribute.value_span.clone(),
                    format!("a field of type `{text}` cannot have values inside"),
                )
                .hint("a field with values is of type uint"),
            );
        }
        Some(match text {
            "uint" if has_values => Type::Enum(self.inline_enum(element, a, variant)),
            "uint" => Type::Uint,
            "int" => Type::Int,
            "bool" => Type::Bool,
            "float" => Type::Float,
            "mbz" => Type::MustBeZero,
            "mbo" => Type::MustBeOne,
            "reserved" => Type::Reserved,
            "address" | "offset" => self.address(element, a, text == "offset", place)?,
            _ => {
                match (value::fixed(text), self.names.structs.get(text), self.names.enums.get(text))
                {
                    (Some(fixed), _, _) => fixed,
                    (None, Some(id), _) => Type::Struct(*id),
                    (None, None, Some(id)) => Type::Enum(*id),
                    (None, None, None) => {
                        let declared = self.names.structs.keys().chain(self.names.enums.keys());
                        let known: Vec<&str> =
                            BUILT_IN.iter().copied().chain(declared.map(String::as_str)).collect();
                        let hint = nearest_sorted(text, known);
                        self.problems.push(
                            Diagnostic::new(
                                Code::Type,
                                attribute.value_span.clone(),
                                format!(
                                    "`{text}` is neither a built-in type nor a struct nor an enum"
                                ),
                            )
                            .label("unknown type")
                            .hint(hint.unwrap_or_else(|| {
                                format!("built in are {}, uI.F, sI.F", BUILT_IN.join(", "))
                            })),
                        );
                        return None;
                    }
                }
            }
        })
    }

    fn address(
        &mut self,
        element: &Element,
        a: &FieldAttributes,
        offset: bool,
        place: Option<(u32, u32)>,
    ) -> Option<Type> {
        let space = match a.address_space {
            Some(at) => {
                let attribute = element.at(at);
                let text = attribute.value.trim();
                if !value::SPACES.contains(&text) {
                    let hint = suggest::hint(text, value::SPACES.iter().copied())
                        .unwrap_or_else(|| format!("it may be: {}", value::SPACES.join(", ")));
                    self.problems.push(
                        Diagnostic::new(
                            Code::Space,
                            attribute.value_span.clone(),
                            format!("`{text}` is not an address space"),
                        )
                        .hint(hint),
                    );
                    return None;
                }
                text
            }
            None if !offset => "graphics",
            // Mesa's files do not state the base of an offset. `crate::bases` adds it.
            None if self.foreign => "unknown",
            None => {
                self.problems.push(
                    Diagnostic::new(
                        Code::Space,
                        element.span.clone(),
                        "an offset must say what it counts from".to_owned(),
                    )
                    .label("no `address-space`")
                    .hint(format!("it may be: {}", value::SPACES.join(", "))),
                );
                return None;
            }
        };
        let align = match a.align {
            Some(at) => number_below(element.at(at), 1 << 48, self.problems)?,
            None => 1 << (place?.0 % 32),
        };
        Some(Type::Address { space: space.to_owned(), align, target: element.text_of(a.target) })
    }

    /// Returns the enumeration inside a field. Fields of one container that have the same name and
    /// values share one enumeration.
    fn inline_enum(
        &mut self,
        element: &Element,
        a: &FieldAttributes,
        variant: Option<&(String, String)>,
    ) -> EnumId {
        let values = values(element, self.problems);
        let field = element.text_of(a.name);
        let same = |list: &Enum| {
            let key = |list: &[crate::model::EnumValue]| -> Vec<(String, u64)> {
                list.iter().map(|value| (value.name.clone(), value.value)).collect()
            };
            key(&list.values) == key(&values)
        };
        let mut name = format!("{} {field}", self.container);
        for attempt in 0.. {
            match self.enums.iter().position(|list| list.file == self.file && list.name == name) {
                Some(found) if same(&self.enums[found]) => return EnumId(found),
                None => break,
                Some(_) => {
                    name = match (attempt, variant) {
                        (0, Some((_, alternative))) => {
                            format!("{} {alternative} {field}", self.container)
                        }
                        _ => format!("{} {field} {}", self.container, attempt + 2),
                    };
                }
            }
        }
        let mut list = Enum {
            name,
            file: self.file,
            prefix: element.text_of(a.prefix),
            bits: 1,
            values,
            sets: Vec::new(),
            doc: doc(element, a.doc),
            source: element.text_of(a.source),
            span: element.span.clone(),
        };
        sets(element, &mut list, self.problems);
        self.enums.push(list);
        EnumId(self.enums.len() - 1)
    }

    fn default(&mut self, element: &Element, at: Option<At>, ty: &Type, width: u32) -> Option<u64> {
        let attribute = element.at(at?);
        match value::default(&attribute.value, ty, width, self.enums) {
            Ok(value) => Some(value),
            // In Mesa's files, some defaults of fixed-point fields are stored values.
            Err(_) if self.foreign && value::fits(&attribute.value, width).is_some() => {
                value::fits(&attribute.value, width)
            }
            Err(message) => {
                let message =
                    format!("the default of `{}` is wrong: {message}", field_name(element));
                self.problems.push(Diagnostic::new(
                    Code::Default,
                    attribute.value_span.clone(),
                    message,
                ));
                None
            }
        }
    }

    fn range(
        &mut self,
        element: &Element,
        at: Option<At>,
        ty: &Type,
        stored: Stored,
        width: u32,
    ) -> Option<(u64, u64)> {
        let attribute = element.at(at?);
        let mut wrong = |message: String| {
            let message = format!("the range of `{}` is wrong: {message}", field_name(element));
            self.problems.push(
                Diagnostic::new(Code::Range, attribute.value_span.clone(), message)
                    .hint("a range is written least..greatest, both included, in meant values"),
            );
            None
        };
        if !matches!(ty, Type::Uint | Type::Int | Type::UFixed { .. } | Type::SFixed { .. }) {
            return wrong("only integers and fixed-point numbers have one".into());
        }
        let Some((low, high)) = attribute.value.split_once("..") else {
            return wrong(format!("`{}` has no `..`", attribute.value));
        };
        match (value::bound(low, ty, stored, width), value::bound(high, ty, stored, width)) {
            (Ok(low), Ok(high)) => {
                let signed = matches!(ty, Type::Int | Type::SFixed { .. });
                let empty = if signed { (low as i64) > (high as i64) } else { low > high };
                match empty {
                    true => wrong(format!("`{}` is empty", attribute.value)),
                    false => Some((low, high)),
                }
            }
            (Err(message), _) | (_, Err(message)) => wrong(message),
        }
    }

    /// Removes zero from the range of a `nonzero` field, so that checks of ranges refuse zero.
    fn nonzero(
        &mut self,
        element: &Element,
        at: Option<At>,
        ty: &Type,
        range: Option<(u64, u64)>,
        width: u32,
    ) -> Option<(u64, u64)> {
        let signed = matches!(ty, Type::Int | Type::SFixed { .. });
        let without = match (ty, range) {
            (Type::Uint | Type::UFixed { .. }, None) => Some((1, ones(width))),
            (Type::Uint | Type::UFixed { .. }, Some((least, greatest))) => {
                (greatest > 0).then_some((least.max(1), greatest))
            }
            // A signed range is accepted only if it does not contain zero, because without zero it
            // would become two ranges.
            (_, Some((least, greatest)))
                if signed && (least as i64 > 0 || (greatest as i64) < 0) =>
            {
                range
            }
            _ => None,
        };
        // In Mesa's files, fields of other types may be `nonzero` too. `emit::checks` generates
        // their checks.
        if without.is_none() && !self.foreign {
            let message = format!("`nonzero` of `{}` leaves no range", field_name(element));
            let attribute = at.map_or(element.span.clone(), |at| element.at(at).value_span.clone());
            self.problems.push(
                Diagnostic::new(Code::Range, attribute, message)
                    .hint("unsigned integers and fixed-point numbers may be `nonzero`"),
            );
        }
        without.or(range)
    }
}

/// The hint with the nearest name. Sorting makes it independent of the order of a hash map.
fn nearest_sorted(text: &str, mut known: Vec<&str>) -> Option<String> {
    known.sort_unstable();
    suggest::hint(text, known)
}

fn field_name(element: &Element) -> &str {
    let name = element.attributes.iter().find(|attribute| attribute.name == "name");
    name.map_or("", |attribute| attribute.value.trim())
}
