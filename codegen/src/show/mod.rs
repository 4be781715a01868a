//! Shows one container or enumeration as text: `genx spec show NAME`. The text has a picture of the
//! dwords, then every field with its type, values, range and source, then alternatives, groups and
//! rules. No line is longer than 80 columns.
//!
//! `find` finds the item, `picture` draws dwords, `canvas` wraps and colours the text.

mod canvas;
mod find;
mod picture;

pub use find::DidYouMean;

use canvas::{Canvas, Piece, Style, WIDTH, dotted};
use find::{Found, find, users};
use picture::{Cell, draw, join, letters};

use crate::expr;
use crate::model::{
    Access, Container, Enum, Expr, Field, Group, Kind, Rule, Severity, Spec, Stored, Type, View,
};
use crate::words::{ALL_PIPELINES, bits_text, engine_names, is_inline, kind, pipeline_names};

/// Maximum number of values of a named enumeration that are listed with a field. For a longer one,
/// only the name and the number of values are printed.
const VALUES_SHOWN: usize = 16;

/// Maximum width of the column of field names.
const NAMES: usize = 28;

/// Shows the container or enumeration `name` as plain text. `name` is the name in the manual or of
/// the Rust type, in any case, or the offset of a register (`0x2358`).
pub fn show(spec: &Spec, name: &str) -> Result<String, DidYouMean> {
    show_colored(spec, name, false)
}

/// Does the same as [`show`], with ANSI colours if `color` is set.
pub fn show_colored(spec: &Spec, name: &str, color: bool) -> Result<String, DidYouMean> {
    let found = find(spec, name)?;
    let mut show = Show { spec, canvas: Canvas::new(color), fields: &[] };
    match found {
        Found::Container(at) => show.container(&spec.containers[at]),
        Found::Enum(at) => show.enumeration(&spec.enums[at]),
    }
    Ok(show.canvas.text)
}

struct Show<'a> {
    spec: &'a Spec,
    canvas: Canvas,
    /// Fields that conditions may name.
    fields: &'a [Field],
}

fn plain(text: impl Into<String>) -> Piece {
    (text.into(), Style::Plain)
}

fn faint(text: impl Into<String>) -> Piece {
    (text.into(), Style::Faint)
}

impl<'a> Show<'a> {
    fn heading(&mut self, name: &str, facts: Vec<String>, file: usize, source: &str, doc: &str) {
        self.canvas.wrap(0, 2, &[(name.to_owned(), Style::Title)]);
        let unit = self.spec.files.get(file).map(|file| file.unit.clone()).unwrap_or_default();
        let facts = facts.into_iter().map(plain).chain([plain(unit), faint(source)]);
        self.canvas.wrap(0, 2, &dotted(facts));
        if !doc.is_empty() {
            self.canvas.wrap(0, 0, &[plain(doc)]);
        }
    }

    fn enumeration(&mut self, list: &Enum) {
        let mut facts = vec![
            "enum".to_owned(),
            format!("{} bits", list.bits),
            format!("{} values", list.values.len()),
        ];
        facts.extend((!list.prefix.is_empty()).then(|| format!("prefix {}", list.prefix)));
        self.heading(&list.name, facts, list.file, &list.source, &list.doc);
        if !is_inline(self.spec, list) {
            self.used_by("used by", users(self.spec, |ty| self.is_enum(ty, list)));
        }
        self.canvas.end_line();
        self.values(list, 2);
        for set in &list.sets {
            let members = list.values.iter().filter(|value| {
                !value.alias
                    && set.ranges.iter().any(|(low, high)| (*low..=*high).contains(&value.value))
            });
            let members: Vec<&str> = members.map(|value| value.name.as_str()).collect();
            self.canvas.end_line();
            let head = [(format!("set {}: ", set.name), Style::Title), plain(members.join(", "))];
            self.canvas.wrap(0, 2, &head);
            if !set.doc.is_empty() {
                self.canvas.wrap(2, 2, &[plain(format!("  {}", set.doc))]);
            }
        }
    }

    fn is_enum(&self, ty: &Type, list: &Enum) -> bool {
        match ty {
            Type::Enum(id) => {
                self.spec.enums.get(id.0).is_some_and(|other| std::ptr::eq(other, list))
            }
            _ => false,
        }
    }

    fn used_by(&mut self, how: &str, names: Vec<String>) {
        if names.is_empty() {
            return;
        }
        const SHOWN: usize = 8;
        let more = names.len().saturating_sub(SHOWN);
        let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        if more > 0 {
            text += &format!(" and {more} more");
        }
        self.canvas.wrap(0, 2, &[faint(format!("{how} {text}"))]);
    }

    /// Writes the values: in columns, or one per line if a value has documentation or an expansion.
    fn values(&mut self, list: &Enum, indent: usize) {
        let decimal = list.values.iter().all(|value| value.value < 10);
        let number = |value: u64| if decimal { value.to_string() } else { format!("{value:#x}") };
        let said =
            |value: &crate::model::EnumValue| value.expansion.is_some() || !value.doc.is_empty();
        if !list.values.iter().any(said) {
            let items = list.values.iter().map(|value| {
                let alias = if value.alias { " (alias)" } else { "" };
                (number(value.value), format!("{}{alias}", value.name))
            });
            self.canvas.columns(indent, &items.collect::<Vec<_>>());
            return;
        }
        let digits = list.values.iter().map(|value| number(value.value).len()).max().unwrap_or(0);
        for value in &list.values {
            self.canvas
                .put(&format!("{:indent$}{:>digits$} ", "", number(value.value)), Style::Faint);
            let mut name = value.name.clone();
            if value.alias {
                name += " (alias)";
            }
            if let Some(expansion) = value.expansion {
                name += &format!(" -> {expansion:#b}");
            }
            let pieces = dotted([(name, Style::Name), plain(value.doc.clone())]);
            self.canvas.wrap(indent + digits + 1, indent + digits + 3, &pieces);
        }
    }

    fn container(&mut self, container: &'a Container) {
        let mut facts = vec![kind(&container.kind).to_owned()];
        let variable = container.is_variable();
        facts.push(match container.bits % 32 {
            0 => {
                format!("{}{} dwords", container.bits / 32, if variable { " or more" } else { "" })
            }
            _ => format!("{} bits", container.bits),
        });
        match container.kind {
            Kind::Struct { align } if align > 1 => facts.push(format!("aligned to {align} bytes")),
            Kind::Struct { .. } => {}
            Kind::Instruction { engines, pipelines, bias } => {
                facts.push(engine_names(engines).join(", "));
                if pipelines != ALL_PIPELINES {
                    facts.push(format!("pipeline {}", pipeline_names(pipelines).join(" or ")));
                }
                facts.push(format!("bias {bias}"));
            }
            Kind::Register {
                offset,
                per_engine,
                count,
                stride,
                masked,
                access,
                ref instance_of,
            } => {
                let base = if per_engine { "each engine's base + " } else { "" };
                facts.push(format!("at {base}{offset:#x}"));
                facts.extend((count > 1).then(|| format!("{count} of them, {stride} bytes apart")));
                facts.extend(
                    (!instance_of.is_empty()).then(|| format!("one engine's {instance_of}")),
                );
                facts.extend(masked.then(|| "bits 31:16 enable writes of 15:0".to_owned()));
                match access {
                    Access::ReadWrite => {}
                    Access::ReadOnly => facts.push("read only".to_owned()),
                    Access::WriteOnly => facts.push("write only".to_owned()),
                }
            }
        }
        facts.extend(container.partial.then(|| "described in part".to_owned()));
        facts.extend(container.overlap_allowed.then(|| "fields overlap".to_owned()));
        self.heading(&container.name, facts, container.file, &container.source, &container.doc);
        if matches!(container.kind, Kind::Struct { .. }) {
            let inside = users(self.spec, |ty| match ty {
                Type::Struct(id) => self
                    .spec
                    .containers
                    .get(id.0)
                    .is_some_and(|other| std::ptr::eq(other, container)),
                _ => false,
            });
            self.used_by("part of", inside);
            let target =
                |ty: &Type| matches!(ty, Type::Address { target, .. } if *target == container.name);
            self.used_by("pointed to by", users(self.spec, target));
        }
        self.canvas.end_line();
        self.scope(&container.fields, &container.groups, 0);
        for view in &container.views {
            self.view(view);
        }
        for rule in &container.rules {
            self.rule(rule);
        }
    }

    /// Writes the picture and the list of the fields of a container or group element.
    fn scope(&mut self, fields: &'a [Field], groups: &'a [Group], indent: usize) {
        self.fields = fields;
        let mut sets: Vec<(&str, &str)> = Vec::new();
        for (set, one) in fields.iter().filter_map(|field| field.variant.as_ref()) {
            if !sets.contains(&(set, one)) {
                sets.push((set, one));
            }
        }
        // The main picture shows a variant set as one block. After it, each alternative has its own
        // picture.
        let common: Vec<&Field> = fields.iter().filter(|field| field.variant.is_none()).collect();
        let blocks = fields
            .iter()
            .filter_map(|field| field.variant.as_ref().map(|(set, _)| Cell::set(field, set)));
        let others = blocks.chain(groups.iter().map(Cell::group)).collect();
        self.fields_of(&common, others, indent);
        for (set, one) in &sets {
            let is_of = |field: &&Field| {
                field
                    .variant
                    .as_ref()
                    .is_some_and(|(name, alternative)| name == set && alternative == one)
            };
            let members: Vec<&Field> = fields.iter().filter(is_of).collect();
            let condition = match members.iter().find_map(|field| field.exists_if.as_ref()) {
                Some(condition) => format!("if {}", self.condition(condition)),
                None => "otherwise".to_owned(),
            };
            let head = [
                (format!("<{set}> {one}"), Style::Title),
                plain(", "),
                (condition, Style::Condition),
            ];
            self.canvas.end_line();
            self.canvas.text += &" ".repeat(indent);
            self.canvas.wrap(indent, indent + 2, &head);
            self.fields_of(&members, Vec::new(), indent);
        }
        for group in groups {
            let times = match group.count {
                0 => "to the end of the packet".to_owned(),
                count => format!("{count} times"),
            };
            let name = if group.name.is_empty() { "group" } else { &group.name };
            let place = format!("from dw{} bit {}", group.start / 32, group.start % 32);
            let head = [
                (name.to_owned(), Style::Title),
                plain(format!(": {} bits, {times}, {place}", group.bits)),
            ];
            self.canvas.end_line();
            self.canvas.text += &" ".repeat(indent);
            self.canvas.wrap(indent, indent + 2, &head);
            self.scope(&group.fields, &group.groups, (indent + 2).min(8));
            self.fields = fields;
        }
    }

    /// Writes a picture of the fields and `others`, then a list of the fields: dword by dword, from
    /// bit 31 down.
    fn fields_of(&mut self, fields: &[&'a Field], others: Vec<Cell>, indent: usize) {
        let letters = letters(fields);
        let cells = fields
            .iter()
            .zip(&letters)
            .map(|(field, letter)| Cell::field(field).with_letter(*letter));
        draw(&mut self.canvas, &join(cells.chain(others).collect()), indent);
        let mut lines: Vec<(&Field, Option<char>)> = fields.iter().copied().zip(letters).collect();
        lines.sort_by_key(|(field, _)| (field.start / 32, std::cmp::Reverse(field.start)));
        let names =
            lines.iter().map(|(field, _)| field.name.chars().count()).max().unwrap_or(0).min(NAMES);
        let marks = lines.iter().any(|(_, letter)| letter.is_some());
        let mut dword = None;
        for (field, letter) in lines {
            if dword.replace(field.start / 32) != Some(field.start / 32) {
                self.canvas.text += &" ".repeat(indent);
                self.canvas.put(&format!("dw{}", field.start / 32), Style::Title);
                self.canvas.end_line();
            }
            self.field(field, marks.then_some(letter.unwrap_or(' ')), names, indent);
        }
    }

    fn field(&mut self, field: &'a Field, mark: Option<char>, names: usize, indent: usize) {
        let low = field.start % 32;
        let high = field.end - field.start / 32 * 32;
        let place = if low == high { low.to_string() } else { format!("{high}:{low}") };
        let mut head = format!("{:indent$}{place:>7} ", "");
        head.extend(mark);
        head.extend(mark.map(|_| ' '));
        let reserved = matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved);
        let style = if reserved { Style::Faint } else { Style::Name };
        let column = head.chars().count() + names + 2;
        self.canvas.put(&head, Style::Plain);
        let width = field.name.chars().count();
        if head.chars().count() + width + 2 > WIDTH - 16 {
            self.canvas.wrap(
                head.chars().count(),
                head.chars().count() + 2,
                &[(field.name.clone(), style)],
            );
            self.canvas.text += &" ".repeat(column);
            self.canvas.wrap(column, column, &self.facts(field));
        } else {
            self.canvas.put(&field.name, style);
            let pad = names.saturating_sub(width) + 2;
            self.canvas.text += &" ".repeat(pad);
            self.canvas.wrap(head.chars().count() + width + pad, column, &self.facts(field));
        }
        let inner = indent + 10;
        match field.ty {
            Type::Enum(id) => {
                if let Some(list) = self.spec.enums.get(id.0)
                    && (is_inline(self.spec, list) || list.values.len() <= VALUES_SHOWN)
                {
                    self.values(list, inner);
                }
            }
            Type::Struct(id) => {
                if let Some(container) = self.spec.containers.get(id.0) {
                    let place = |field: &Field| bits_text(field.start, field.end);
                    let members = container.fields.iter().filter(|field| {
                        !matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
                    });
                    let members =
                        members.map(|field| plain(format!("{} {}", place(field), field.name)));
                    self.canvas.text += &" ".repeat(inner);
                    self.canvas.wrap(
                        inner,
                        inner,
                        &dotted(members.chain(container.groups.iter().map(|group| {
                            plain(format!("dw{} {}[{}]", group.start / 32, group.name, group.count))
                        }))),
                    );
                }
            }
            _ => {}
        }
    }

    fn ty(&self, field: &Field) -> String {
        match &field.ty {
            Type::Uint => "uint".to_owned(),
            Type::Int => "int".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Float => "float".to_owned(),
            Type::UFixed { int, frac } => format!("u{int}.{frac}"),
            Type::SFixed { int, frac } => format!("s{int}.{frac}"),
            Type::Address { space, align, .. } => {
                let what = if space == "graphics" { "address" } else { "offset" };
                let align = if *align > 1 { format!(", {align} bytes") } else { String::new() };
                format!("{space} {what}{align}")
            }
            Type::Enum(id) => match self.spec.enums.get(id.0) {
                Some(list) if is_inline(self.spec, list) => "enum".to_owned(),
                Some(list) if list.values.len() > VALUES_SHOWN => {
                    format!("{} ({} values)", list.name, list.values.len())
                }
                Some(list) => list.name.clone(),
                None => "enum".to_owned(),
            },
            Type::Struct(id) => {
                self.spec.containers.get(id.0).map(|c| c.name.clone()).unwrap_or_default()
            }
            Type::MustBeZero => "mbz".to_owned(),
            Type::MustBeOne => "mbo".to_owned(),
            Type::Reserved => "reserved".to_owned(),
        }
    }

    /// Formats a condition with the names of values.
    fn condition(&self, condition: &Expr) -> String {
        expr::display_with(condition, &|start, end, value| {
            let field =
                self.fields.iter().find(|field| (field.start, field.end) == (start, end))?;
            match field.ty {
                Type::Enum(id) => {
                    let list = self.spec.enums.get(id.0)?;
                    list.values
                        .iter()
                        .find(|other| other.value == value)
                        .map(|other| other.name.clone())
                }
                _ => None,
            }
        })
    }

    fn facts(&self, field: &Field) -> Vec<Piece> {
        let mut facts = vec![(self.ty(field), Style::Type)];
        facts.extend(field.opcode.then(|| plain("opcode")));
        facts.extend(field.length.then(|| plain("length")));
        facts.extend(
            field.default.map(|value| plain(format!("default {}", self.value(field, value)))),
        );
        facts.extend(field.range.map(|(low, high)| {
            plain(format!("{} to {}", self.meant(field, low), self.meant(field, high)))
        }));
        facts.extend(match field.stored {
            Stored::Plain => None,
            Stored::MinusOne => Some(plain("stored less one")),
            Stored::Shifted(by) => Some(plain(format!("stored divided by {}", 1u64 << by.min(63)))),
            Stored::Log2 => Some(plain("stored as logarithm")),
        });
        facts.push(plain(field.unit.clone()));
        facts.extend(field.required.then(|| plain("required")));
        facts.extend(field.nonzero.then(|| plain("not zero")));
        if let Type::Address { target, .. } = &field.ty {
            facts.extend((!target.is_empty()).then(|| (format!("of {target}"), Style::Type)));
        }
        if field.variant.is_none() {
            let condition = field.exists_if.as_ref();
            facts.extend(
                condition.map(|expr| (format!("if {}", self.condition(expr)), Style::Condition)),
            );
        }
        facts.push(plain(field.doc.clone()));
        facts.extend(
            (!field.doubt.is_empty()).then(|| (format!("doubtful: {}", field.doubt), Style::Alarm)),
        );
        facts.push(faint(field.source.clone()));
        dotted(facts)
    }

    /// Formats a stored value.
    fn value(&self, field: &Field, value: u64) -> String {
        let width = (field.end - field.start + 1).clamp(1, 64);
        let signed = ((value << (64 - width)) as i64) >> (64 - width);
        match &field.ty {
            Type::Int => signed.to_string(),
            Type::UFixed { frac, .. } => (value as f64 / (*frac as f64).exp2()).to_string(),
            Type::SFixed { frac, .. } => (signed as f64 / (*frac as f64).exp2()).to_string(),
            Type::Float if width == 64 => f64::from_bits(value).to_string(),
            Type::Float => f32::from_bits(value as u32).to_string(),
            Type::Bool => (value != 0).to_string(),
            Type::Enum(id) => {
                let list = self.spec.enums.get(id.0);
                let named =
                    list.and_then(|list| list.values.iter().find(|other| other.value == value));
                named.map_or_else(|| value.to_string(), |named| named.name.clone())
            }
            _ if value < 10 => value.to_string(),
            _ => format!("{value:#x}"),
        }
    }

    /// Formats a bound of a range as the meant value.
    fn meant(&self, field: &Field, stored: u64) -> String {
        match field.stored {
            Stored::Plain if matches!(field.ty, Type::Uint) => stored.to_string(),
            Stored::Plain => self.value(field, stored),
            Stored::MinusOne => (u128::from(stored) + 1).to_string(),
            Stored::Shifted(by) => (u128::from(stored) << by.min(63)).to_string(),
            Stored::Log2 if stored < 64 => (1u64 << stored).to_string(),
            Stored::Log2 => format!("2^{stored}"),
        }
    }

    fn view(&mut self, view: &View) {
        let field = &view.field;
        let what = match &field.ty {
            Type::Struct(id) => self.spec.containers.get(id.0).map(|inner| inner.name.as_str()),
            Type::Enum(id) => self.spec.enums.get(id.0).map(|list| list.name.as_str()),
            _ => None,
        };
        self.canvas.end_line();
        let bits = bits_text(field.start, field.end);
        let mut head = vec![plain(format!("view of {bits}: ")), (field.name.clone(), Style::Title)];
        if let Some(what) = what.filter(|what| *what != field.name) {
            head.push((format!(", {what}"), Style::Type));
        }
        if !view.text.is_empty() {
            head.push(plain(" if "));
            head.push((view.text.clone(), Style::Condition));
        }
        self.canvas.wrap(0, 2, &head);
    }

    fn rule(&mut self, rule: &Rule) {
        let severity = match rule.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Workaround => "workaround",
        };
        self.canvas.end_line();
        let mut head = vec![
            (format!("{severity} "), Style::Alarm),
            (format!("{}: ", rule.id), Style::Title),
            plain(rule.message.clone()),
        ];
        head.extend((!rule.source.is_empty()).then(|| faint(format!(" ({})", rule.source))));
        self.canvas.wrap(0, 2, &head);
        self.canvas.text += "  ";
        self.canvas.wrap(2, 4, &[plain("unless "), (rule.text.clone(), Style::Condition)]);
    }
}
