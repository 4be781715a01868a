//! Conversion from named fields to dwords.

use super::error::{BuildError, Reason, nearest};
use super::tree::Tree;
use super::{DWORDS, LENGTH, described};
use crate::bits::{ones, put, sign_extend};
use crate::check::{within, within_signed};
use crate::fixed::scale;
use crate::members::{Element, Elements, Level, Member};
use crate::reflect::{Container, Enumeration, Expr, Field, Kind, Op, Stored, Type};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The dwords of a container of type `info` with the fields that `tree` names. Other fields get
/// their defaults.
///
/// # Errors
/// The first field that is unknown or missing, or whose value does not fit; or a length that the
/// container cannot have.
pub fn build(info: &'static Container, tree: &Tree) -> Result<Vec<u32>, BuildError> {
    let given = |name: &str| match tree {
        Tree::Map(entries) => entries.iter().find(|(other, _)| other == name).map(|(_, tree)| tree),
        _ => None,
    };
    let tail = Level::of(info, &[]).arrays().find(|array| array.group.count == 0);
    let elements = match tail.and_then(|tail| given(tail.name())) {
        Some(Tree::List(elements)) => elements.len(),
        _ => 0,
    };
    let described = described(info, |_| elements);
    let instruction = matches!(info.kind, Kind::Instruction { .. });
    let mut builder = Builder { container: info.name, instruction, dwords: Vec::new() };
    let rest = given(DWORDS).map(|tree| raw(tree).map_err(|reason| builder.error(DWORDS, reason)));
    let rest = rest.transpose()?;
    let full = match (&rest, tail) {
        (Some(rest), _) => described + rest.len(),
        (None, Some(_)) => described,
        (None, None) => info.dwords(),
    };
    let length = match given(LENGTH) {
        None => full,
        Some(tree) => {
            let length = integer(tree).and_then(|length| usize::try_from(length).ok());
            length.ok_or_else(|| builder.error(LENGTH, kind("a number of dwords", tree)))?
        }
    };
    if let Kind::Instruction { bias, opcode_mask, opcode, length_field, .. } = info.kind {
        let stored = (length as u64).checked_sub(bias.into());
        let fits = match length_field {
            Some((start, end)) => stored.is_some_and(|stored| stored <= ones(end - start + 1)),
            None => length == info.dwords(),
        };
        if !fits || length == 0 {
            return Err(builder.error("", Reason::Length { dwords: length }));
        }
        builder.dwords = vec![0; full.max(length).max(info.dwords())];
        builder.level(Level::of(info, &[]), tree, "")?;
        builder.dwords[0] |= opcode & opcode_mask;
        if let (Some((start, end)), Some(stored)) = (length_field, stored) {
            put(&mut builder.dwords, start, end, stored);
        }
    } else {
        builder.dwords = vec![0; full];
        builder.level(Level::of(info, &[]), tree, "")?;
    }
    let trailing = rest.unwrap_or_default();
    builder.dwords[described..][..trailing.len()].copy_from_slice(&trailing);
    if builder.dwords.iter().skip(length).any(|dword| *dword != 0) {
        return Err(builder.error("", Reason::Short { dwords: length }));
    }
    builder.dwords.truncate(length);
    Ok(builder.dwords)
}

/// Reads a list of dwords.
fn raw(tree: &Tree) -> Result<Vec<u32>, Reason> {
    let word = |tree: &Tree| integer(tree).and_then(|value| u32::try_from(value).ok());
    let list = match tree {
        Tree::List(list) => list.iter().map(word).collect(),
        _ => None,
    };
    list.ok_or_else(|| kind("a list of dwords", tree))
}

/// A map without fields.
const NO_FIELDS: Tree = Tree::Map(Vec::new());

struct Builder {
    container: &'static str,
    instruction: bool,
    dwords: Vec<u32>,
}

impl Builder {
    fn error(&self, path: &str, reason: Reason) -> BuildError {
        BuildError { container: self.container, path: path.into(), reason }
    }

    /// `level` with the dwords that are written so far.
    fn current<'a>(&'a self, level: &Level<'_>) -> Level<'a> {
        level.over(&self.dwords)
    }

    fn level(&mut self, level: Level<'_>, tree: &Tree, path: &str) -> Result<(), BuildError> {
        let Tree::Map(entries) = tree else {
            let reason = Reason::Kind { expected: "a map of fields", found: tree.to_string() };
            return Err(self.error(path, reason));
        };
        // All bits are zero here. Fields without conditions are written first, because conditions
        // read them.
        let data: Vec<&'static Field> =
            level.fields.iter().filter(|field| level.is_data(field)).collect();
        self.names(&level, &data, entries, path)?;
        let mut given: Vec<Option<&Tree>> = entries.iter().map(|(_, tree)| Some(tree)).collect();
        let (mut waiting, mut plain): (Vec<_>, Vec<_>) =
            data.into_iter().partition(|field| field.alternative.is_some());
        waiting.sort_by_key(|field| field.exists_if.is_none());
        plain.sort_by_key(|field| field.exists_if.is_some());
        for field in plain {
            self.write(&level, field, entries, &mut given, path)?;
        }
        let mut written = Vec::new();
        while let Some(at) = waiting.iter().position(|field| self.current(&level).exists(field)) {
            let field = waiting.remove(at);
            self.write(&level, field, entries, &mut given, path)?;
            written.push(field);
        }
        let inactive = written.into_iter().find(|field| !self.current(&level).exists(field));
        let unused = entries.iter().zip(&given).find(|((name, _), given)| {
            given.is_some() && level.fields.iter().any(|field| field.name == *name)
        });
        let absent =
            inactive.map(|field| field.name).or(unused.map(|((name, _), _)| name.as_str()));
        if let Some(name) = absent {
            let conditions = level.fields.iter().filter(|field| field.name == name);
            let conditions: Vec<String> =
                conditions.filter_map(|field| field.exists_if).map(condition_text).collect();
            let condition = match &conditions[..] {
                [] => "no other field takes its bits".to_string(),
                conditions => conditions.join(", or "),
            };
            return Err(self.error(&join(path, name), Reason::Absent { condition }));
        }
        for field in level.fields.iter().filter(|field| matches!(field.ty, Type::MustBeOne)) {
            if self.current(&level).exists(field) {
                for start in (field.start..=field.end).step_by(64) {
                    let end = field.end.min(start + 63);
                    put(
                        &mut self.dwords,
                        level.base + start,
                        level.base + end,
                        ones(end - start + 1),
                    );
                }
            }
        }
        for array in level.arrays() {
            let tree = entries.iter().find(|(name, _)| name == array.name()).map(|(_, tree)| tree);
            self.array(array, tree, &join(path, array.name()))?;
        }
        Ok(())
    }

    /// Refuses names that the container or element does not have, and names that are given twice.
    fn names(
        &self,
        level: &Level<'_>,
        data: &[&'static Field],
        entries: &[(String, Tree)],
        path: &str,
    ) -> Result<(), BuildError> {
        let names =
            || data.iter().map(|field| field.name).chain(level.arrays().map(|array| array.name()));
        for (index, (name, _)) in entries.iter().enumerate() {
            let special = [LENGTH, DWORDS].contains(&name.as_str());
            if path.is_empty() && special && self.instruction {
                continue;
            }
            if !names().any(|known| known == name) {
                let hint = nearest(name, names());
                return Err(self.error(&join(path, name), Reason::Unknown { hint }));
            }
            if entries[..index].iter().any(|(other, _)| other == name) {
                return Err(self.error(&join(path, name), Reason::Twice));
            }
        }
        Ok(())
    }

    /// Writes a field of `level`: the given value, or else the default.
    fn write(
        &mut self,
        level: &Level<'_>,
        field: &'static Field,
        entries: &[(String, Tree)],
        given: &mut [Option<&Tree>],
        path: &str,
    ) -> Result<(), BuildError> {
        let path = join(path, field.name);
        let at = entries.iter().position(|(name, _)| name == field.name);
        match at.and_then(|at| given[at].take()) {
            Some(tree) => self.field(field, level.base, tree, &path),
            None if field.required => Err(self.error(&path, Reason::Missing)),
            None => self.default(field, level.base, &path),
        }
    }

    fn default(&mut self, field: &'static Field, base: u32, path: &str) -> Result<(), BuildError> {
        let (start, end) = (base + field.start, base + field.end);
        match (field.default, field.ty) {
            (Some(value), _) => put(&mut self.dwords, start, end.min(start + 63), value),
            (None, Type::Struct(info)) => {
                self.level(Level::nested(info, &[], start), &NO_FIELDS, path)?
            }
            (None, _) => {}
        }
        Ok(())
    }

    fn array(
        &mut self,
        array: Elements<'_>,
        tree: Option<&Tree>,
        path: &str,
    ) -> Result<(), BuildError> {
        let count = array.group.count;
        let elements: Vec<Option<&Tree>> = match tree {
            None => vec![None; count as usize],
            Some(Tree::List(elements)) => elements.iter().map(Some).collect(),
            Some(other) => {
                let reason = Reason::Kind { expected: "a list", found: other.to_string() };
                return Err(self.error(path, reason));
            }
        };
        if count > 0 && elements.len() != count as usize {
            return Err(self.error(path, Reason::Count { expected: count, found: elements.len() }));
        }
        for (index, tree) in elements.into_iter().enumerate() {
            let path = format!("{path}[{index}]");
            match (array.get(index as u32), tree) {
                (Element::Field(Member { field, base, .. }), Some(tree)) => {
                    self.field(field, base, tree, &path)?;
                }
                (Element::Field(Member { field, base, .. }), None) => {
                    self.default(field, base, &path)?
                }
                (Element::Level(level), tree) => {
                    self.level(level, tree.unwrap_or(&NO_FIELDS), &path)?
                }
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: &'static Field,
        base: u32,
        tree: &Tree,
        path: &str,
    ) -> Result<(), BuildError> {
        let (start, end) = (base + field.start, base + field.end);
        if let Type::Struct(info) = field.ty {
            return self.level(Level::nested(info, &[], start), tree, path);
        }
        if end - start < 64 {
            // The manual's range applies only if the field has an effect.
            let effective =
                field.exists_if.is_none_or(|condition| condition.holds(&self.dwords, base));
            let stored =
                stored(field, tree, effective).map_err(|reason| self.error(path, reason))?;
            put(&mut self.dwords, start, end, stored);
            return Ok(());
        }
        let expected = "a list of dwords";
        let kind = || Reason::Kind { expected, found: tree.to_string() };
        let Tree::List(words) = tree else { return Err(self.error(path, kind())) };
        let pieces = (start..=end).step_by(32);
        if words.len() != pieces.clone().count() {
            let expected = pieces.count() as u32;
            return Err(self.error(path, Reason::Count { expected, found: words.len() }));
        }
        for (first, word) in pieces.zip(words) {
            let last = end.min(first + 31);
            let value = integer(word).and_then(|value| u64::try_from(value).ok());
            let Some(value) = value.filter(|value| *value <= ones(last - first + 1)) else {
                return Err(self.error(path, kind()));
            };
            put(&mut self.dwords, first, last, value);
        }
        Ok(())
    }
}

/// Converts a value to its stored bits.
fn stored(field: &'static Field, tree: &Tree, effective: bool) -> Result<u64, Reason> {
    let width = field.end - field.start + 1;
    let signed = matches!(field.ty, Type::Int | Type::SFixed(_));
    let value = match field.ty {
        Type::Bool if width == 1 => match (tree, integer(tree)) {
            (Tree::Bool(value), _) => Some(u64::from(*value)),
            (_, Some(value @ 0..=1)) => Some(value as u64),
            _ => return Err(kind("true or false", tree)),
        },
        Type::Enum(list) => Some(listed(list, tree)?).filter(|value| *value <= ones(width)),
        Type::Float if width == 32 => return single(field, tree),
        Type::Float if width == 64 => match (tree, pattern(tree)) {
            (Tree::Float(value), _) => Some(value.to_bits()),
            (Tree::Integer(value), _) => Some((*value as f64).to_bits()),
            (_, Some(bits)) => Some(bits),
            _ => return Err(kind("a number", tree)),
        },
        Type::UFixed(fraction) | Type::SFixed(fraction) => {
            let value = match (tree, pattern(tree)) {
                (_, Some(bits)) if bits <= ones(width) => {
                    return in_range(field, bits, signed, tree, effective);
                }
                (Tree::Float(value), _) => *value,
                (Tree::Integer(value), _) => *value as f64,
                _ => return Err(kind("a number", tree)),
            };
            let scaled = scale(value, fraction.min(63));
            let (least, most) = limits(signed, width);
            let fits = scaled >= least as f64 && scaled <= most as f64;
            fits.then_some(scaled as i128 as u64 & ones(width))
        }
        Type::Int => {
            let value = integer(tree).ok_or_else(|| kind("an integer", tree))?;
            let (least, most) = limits(true, width);
            (least..=most).contains(&value).then_some(value as u64 & ones(width))
        }
        Type::Address { align, .. } => {
            let value = integer(tree).ok_or_else(|| kind("an address", tree))?;
            let shift = Member { field, dwords: &[], base: 0 }.address_shift();
            let fits = value >= 0 && value >> shift <= ones(width).into();
            let aligned = value % i128::from(align.max(1)) == 0 && value >> shift << shift == value;
            (fits && aligned).then_some((value >> shift) as u64)
        }
        _ => {
            let power = match (field.stored, tree) {
                (Stored::Log2, Tree::Text(text)) => {
                    text.strip_prefix("2^").and_then(|power| power.parse().ok())
                }
                _ => None,
            };
            let value = integer(tree);
            match (field.stored, power, value) {
                (_, Some(power), _) => Some(power),
                (_, None, None) => return Err(kind("an integer", tree)),
                (Stored::Plain, _, Some(value)) => u64::try_from(value).ok(),
                (Stored::MinusOne, _, Some(value)) => u64::try_from(value - 1).ok(),
                (Stored::Shifted(by), _, Some(value)) => {
                    u64::try_from(value >> by).ok().filter(|_| value >> by << by == value)
                }
                (Stored::Log2, _, Some(value)) => {
                    (value.count_ones() == 1).then(|| value.trailing_zeros().into())
                }
            }
            .filter(|value| *value <= ones(width))
        }
    };
    match value {
        Some(value) => in_range(field, value, signed, tree, effective),
        None => Err(out_of_range(field, signed, tree)),
    }
}

fn single(field: &'static Field, tree: &Tree) -> Result<u64, Reason> {
    let value = match (tree, pattern(tree)) {
        (_, Some(bits)) if bits <= u32::MAX.into() => return Ok(bits),
        (Tree::Float(value), _) => *value,
        (Tree::Integer(value), _) => *value as f64,
        _ => return Err(kind("a number", tree)),
    };
    let single = value as f32;
    if single.is_finite() {
        Ok(single.to_bits().into())
    } else {
        Err(out_of_range(field, true, tree))
    }
}

/// Reads a value of an enumeration, given by name or number.
fn listed(list: &'static Enumeration, tree: &Tree) -> Result<u64, Reason> {
    let name = match tree {
        Tree::Text(name) => name,
        _ => {
            let value = integer(tree).and_then(|value| u64::try_from(value).ok());
            return value.ok_or_else(|| kind("a name or a number", tree));
        }
    };
    let number = || integer(tree).and_then(|value| u64::try_from(value).ok());
    list.value_of(name).or_else(number).ok_or_else(|| {
        let hint = nearest(name, list.values.iter().map(|(_, name)| *name));
        Reason::Name { list: list.name, name: name.clone(), hint }
    })
}

fn kind(expected: &'static str, tree: &Tree) -> Reason {
    Reason::Kind { expected, found: tree.to_string() }
}

/// Returns `stored` if it is in the range that the manual allows, or if the field has no effect.
fn in_range(
    field: &'static Field,
    stored: u64,
    signed: bool,
    tree: &Tree,
    effective: bool,
) -> Result<u64, Reason> {
    let width = field.end - field.start + 1;
    let fits = match field.range {
        Some((min, max)) if signed => within_signed(stored, width, min, max),
        Some((min, max)) => within(stored, min, max),
        None => true,
    };
    let fits = fits || !effective;
    if fits { Ok(stored) } else { Err(out_of_range(field, signed, tree)) }
}

/// Least and greatest stored value of a field of `width` bits.
fn limits(signed: bool, width: u32) -> (i128, i128) {
    if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, ones(width).into()) }
}

fn out_of_range(field: &'static Field, signed: bool, tree: &Tree) -> Reason {
    let width = field.end - field.start + 1;
    let number =
        |stored: u64| if signed { sign_extend(stored, width).into() } else { i128::from(stored) };
    let (min, max) = match field.range {
        Some((min, max)) => (number(min), number(max)),
        None => limits(signed, width),
    };
    let shift = Member { field, dwords: &[], base: 0 }.address_shift();
    let steps = |step: u128| if step > 1 { format!(" in steps of {step}") } else { String::new() };
    let range = match (field.ty, field.stored) {
        (Type::UFixed(fraction) | Type::SFixed(fraction), _) => {
            let unit = (1u64 << fraction.min(63)) as f64;
            format!("{}..={}", min as f64 / unit, max as f64 / unit)
        }
        (Type::Address { align, .. }, _) => {
            format!(
                "{:#x}..={:#x}{}",
                min << shift,
                max << shift,
                steps(u128::from(align).max(1 << shift))
            )
        }
        (_, Stored::MinusOne) => format!("{}..={}", min + 1, max + 1),
        (_, Stored::Shifted(by)) => format!("{}..={}{}", min << by, max << by, steps(1 << by)),
        (_, Stored::Log2) => format!("2^{min}..=2^{max}, powers of two"),
        (Type::Float, _) => "the finite numbers".to_string(),
        _ => format!("{min}..={max}"),
    };
    let place =
        format!("dw{} {}:{}", field.start / 32, field.start % 32 + width - 1, field.start % 32);
    Reason::Range { value: tree.to_string(), range, place }
}

/// Reads an integer, given as a number or as text.
fn integer(tree: &Tree) -> Option<i128> {
    match tree {
        Tree::Integer(value) => Some(*value),
        Tree::Float(value) if *value as i64 as f64 == *value => Some(*value as i64 as i128),
        Tree::Text(text) => match pattern(tree) {
            Some(value) => Some(value.into()),
            None => text
                .parse::<i64>()
                .map(i128::from)
                .or_else(|_| text.parse::<u64>().map(i128::from))
                .ok(),
        },
        _ => None,
    }
}

/// Reads a stored pattern, given as hexadecimal text.
fn pattern(tree: &Tree) -> Option<u64> {
    match tree {
        Tree::Text(text) => {
            text.strip_prefix("0x").and_then(|text| u64::from_str_radix(text, 16).ok())
        }
        _ => None,
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// The text of a condition, for messages.
fn condition_text(expr: &Expr) -> String {
    match expr {
        Expr::Number(value) => value.to_string(),
        Expr::Field { name, .. } => (*name).to_string(),
        Expr::Not(inner) => format!("not ({})", condition_text(inner)),
        Expr::Binary(op, left, right) => {
            let op = match op {
                Op::Or => "or",
                Op::And => "and",
                Op::Eq => "=",
                Op::Ne => "!=",
                Op::Lt => "<",
                Op::Le => "<=",
                Op::Gt => ">",
                Op::Ge => ">=",
                Op::BitAnd => "&",
                Op::Add => "+",
                Op::Sub => "-",
                Op::Mul => "*",
                Op::Div => "/",
                Op::Rem => "mod",
            };
            format!("{} {op} {}", condition_text(left), condition_text(right))
        }
    }
}
