//! One container or enumeration for people: `genx spec show NAME`. A picture of its dwords, then a line for each field.

use std::fmt::Write;

use crate::check::bits_text;
use crate::expr;
use crate::list::{engine_names, is_inline, kind};
use crate::model::{Access, Container, Enum, Expr, Field, Group, Kind, Rule, Severity, Spec, Stored, Type};
use crate::suggest;

/// Lists of values longer than this are only named.
const VALUES_SHOWN: usize = 16;

/// There is nothing of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DidYouMean {
    /// What was asked for.
    pub name: String,
    /// What may have been meant.
    pub nearest: Vec<String>,
}

impl std::fmt::Display for DidYouMean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the specification has no `{}`", self.name)?;
        match &self.nearest[..] {
            [] => Ok(()),
            [one] => write!(f, "; did you mean `{one}`?"),
            many => write!(f, "; did you mean one of `{}`?", many.join("`, `")),
        }
    }
}

impl std::error::Error for DidYouMean {}

/// The container or enumeration named `name`, by the manual's name or the Rust type's, in any case.
pub fn show(spec: &Spec, name: &str) -> Result<String, DidYouMean> {
    let names = || {
        let containers = spec.containers.iter().map(|container| container.name.as_str());
        containers.chain(spec.enums.iter().map(|list| list.name.as_str()))
    };
    let found =
        names().position(|other| other == name).or_else(|| names().position(|other| key(other) == key(name)));
    match found {
        Some(index) => Ok(match spec.containers.get(index) {
            Some(container) => {
                Show { spec, text: String::new(), fields: &container.fields }.container(container)
            }
            None => enumeration(spec, &spec.enums[index - spec.containers.len()]),
        }),
        None => {
            let wanted = key(name);
            let inside = names().filter(|other| wanted.len() > 2 && key(other).contains(&wanted)).take(8);
            let mut nearest: Vec<String> = inside.map(str::to_owned).collect();
            if nearest.is_empty() {
                nearest.extend(suggest::nearest(name, names()).map(str::to_owned));
            }
            Err(DidYouMean { name: name.to_owned(), nearest })
        }
    }
}

/// Letters and digits in one case; `ThreeD` is `3D`, as in the names of Rust types.
fn key(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect::<String>().replace("threed", "3d")
}

fn enumeration(spec: &Spec, list: &Enum) -> String {
    let mut facts =
        vec!["enum".to_owned(), format!("{} bits", list.bits), format!("{} values", list.values.len())];
    facts.extend((!list.prefix.is_empty()).then(|| format!("prefix {}", list.prefix)));
    facts.extend(spec.files.get(list.file).map(|file| file.unit.clone()));
    facts.extend((!list.source.is_empty()).then(|| list.source.clone()));
    let mut text = heading(&list.name, &facts, &list.doc);
    values(&mut text, list, "  ");
    for set in &list.sets {
        let holds = |value: u64| set.ranges.iter().any(|(first, last)| (*first..=*last).contains(&value));
        let names = list.values.iter().filter(|value| !value.alias && holds(value.value));
        let names: Vec<&str> = names.map(|value| value.name.as_str()).collect();
        let doc = if set.doc.is_empty() { String::new() } else { format!(" · {}", set.doc) };
        let _ = writeln!(text, "\n{}: {}{doc}", set.name, names.join(", "));
    }
    text
}

fn heading(name: &str, facts: &[String], doc: &str) -> String {
    let doc = if doc.is_empty() { String::new() } else { format!("{doc}\n") };
    format!("{name} · {}\n{doc}\n", facts.join(" · "))
}

fn values(text: &mut String, list: &Enum, indent: &str) {
    let digits = list.values.iter().map(|value| format!("{:#x}", value.value).len()).max().unwrap_or(0);
    for value in &list.values {
        let number = format!("{:#x}", value.value);
        let _ = write!(text, "{indent}{number:>digits$} {}", value.name);
        if value.alias {
            text.push_str(" (alias)");
        }
        if let Some(expansion) = value.expansion {
            let _ = write!(text, " -> {expansion:#b}");
        }
        if let Some(bits) = value.bits {
            let _ = write!(text, " · {bits} bits");
        }
        if !value.doc.is_empty() {
            let _ = write!(text, " · {}", value.doc);
        }
        text.push('\n');
    }
}

struct Show<'a> {
    spec: &'a Spec,
    text: String,
    /// Fields that conditions name.
    fields: &'a [Field],
}

impl<'a> Show<'a> {
    fn container(mut self, container: &'a Container) -> String {
        let mut facts = vec![kind(&container.kind).to_owned()];
        let variable = container.groups.iter().any(|group| group.count == 0);
        facts.push(match container.bits % 32 {
            0 => format!("{}{} dwords", container.bits / 32, if variable { " or more" } else { "" }),
            _ => format!("{} bits", container.bits),
        });
        match container.kind {
            Kind::Struct { align } if align > 1 => facts.push(format!("aligned to {align} bytes")),
            Kind::Struct { .. } => {}
            Kind::Instruction { engines, bias } => {
                facts.push(engine_names(engines).join(", "));
                facts.push(format!("bias {bias}"));
            }
            Kind::Register { offset, per_engine, count, stride, masked, access, ref instance_of } => {
                let base = if per_engine { "each engine's base + " } else { "" };
                facts.push(format!("at {base}{offset:#x}"));
                facts.extend((count > 1).then(|| format!("{count} of them, {stride} bytes apart")));
                facts.extend((!instance_of.is_empty()).then(|| format!("one engine's {instance_of}")));
                facts.extend(masked.then(|| "bits 31:16 enable writes of 15:0".to_owned()));
                match access {
                    Access::ReadWrite => {}
                    Access::ReadOnly => facts.push("read only".to_owned()),
                    Access::WriteOnly => facts.push("write only".to_owned()),
                }
            }
        }
        facts.extend(container.partial.then(|| "header only".to_owned()));
        facts.extend(self.spec.files.get(container.file).map(|file| file.unit.clone()));
        facts.extend((!container.source.is_empty()).then(|| container.source.clone()));
        self.text = heading(&container.name, &facts, &container.doc);
        self.scope(&container.fields, &container.groups, "");
        for rule in &container.rules {
            self.rule(rule);
        }
        self.text
    }

    /// The picture and list of the fields of a container or group element.
    fn scope(&mut self, fields: &'a [Field], groups: &'a [Group], indent: &str) {
        self.fields = fields;
        let mut sets: Vec<(&str, &str)> = Vec::new();
        for (set, one) in fields.iter().filter_map(|field| field.variant.as_ref()) {
            if !sets.contains(&(set, one)) {
                sets.push((set, one));
            }
        }
        // The common picture shows a variant set as a block; then each alternative has a picture of its dwords.
        let mut cells: Vec<Cell> =
            fields.iter().filter(|field| field.variant.is_none()).map(Cell::field).collect();
        for (set, _) in &sets {
            cells.extend(
                fields
                    .iter()
                    .filter(|field| is_of(field, set, None))
                    .map(|field| Cell { text: format!("<{set}>"), ..Cell::field(field) }),
            );
        }
        cells.extend(groups.iter().map(Cell::group));
        picture(&mut self.text, join(cells), indent);
        let common: Vec<&Field> = fields.iter().filter(|field| field.variant.is_none()).collect();
        self.lines(&common, indent);
        for (set, one) in &sets {
            let members: Vec<&Field> = fields.iter().filter(|field| is_of(field, set, Some(one))).collect();
            let condition = members.iter().find_map(|field| field.exists_if.as_ref());
            let condition =
                condition.map_or("otherwise".to_owned(), |expr| format!("if {}", self.condition(expr)));
            let _ = writeln!(self.text, "\n{indent}<{set}> {one}, {condition}");
            picture(&mut self.text, join(members.iter().map(|field| Cell::field(field)).collect()), indent);
            self.lines(&members, indent);
        }
        for group in groups {
            let times = if group.count == 0 {
                "to the end of the packet".to_owned()
            } else {
                format!("{} times", group.count)
            };
            let name = if group.name.is_empty() { "group" } else { &group.name };
            let place = format!("from dw{} bit {}", group.start / 32, group.start % 32);
            let _ = writeln!(self.text, "\n{indent}{name}: {} bits, {times}, {place}", group.bits);
            self.scope(&group.fields, &group.groups, &format!("{indent}  "));
        }
    }

    fn lines(&mut self, fields: &[&Field], indent: &str) {
        let place = |field: &Field| bits_text(field.start, field.end);
        let places = fields.iter().map(|field| place(field).len()).max().unwrap_or(0);
        let names = fields.iter().map(|field| field.name.chars().count()).max().unwrap_or(0);
        let types = fields.iter().map(|field| self.ty(field).chars().count()).max().unwrap_or(0);
        for field in fields {
            let facts = self.facts(field);
            let ty = self.ty(field);
            let line =
                format!("{indent}  {:places$}  {:names$}  {ty:types$}  {facts}", place(field), field.name);
            self.text.push_str(line.trim_end());
            self.text.push('\n');
            if let Type::Enum(id) = field.ty
                && let Some(list) = self.spec.enums.get(id.0)
                && list.values.len() <= VALUES_SHOWN
            {
                values(&mut self.text, list, &format!("{indent}  {:places$}    ", ""));
            }
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
                Some(list) => list.name.clone(),
                None => "enum".to_owned(),
            },
            Type::Struct(id) => self.spec.containers.get(id.0).map(|c| c.name.clone()).unwrap_or_default(),
            Type::MustBeZero => "mbz".to_owned(),
            Type::MustBeOne => "mbo".to_owned(),
            Type::Reserved => "reserved".to_owned(),
        }
    }

    /// A condition, with values by name where they have one.
    fn condition(&self, condition: &Expr) -> String {
        expr::display_with(condition, &|start, end, value| {
            let field = self.fields.iter().find(|field| (field.start, field.end) == (start, end))?;
            match field.ty {
                Type::Enum(id) => {
                    let list = self.spec.enums.get(id.0)?;
                    list.values.iter().find(|other| other.value == value).map(|other| other.name.clone())
                }
                _ => None,
            }
        })
    }

    fn facts(&self, field: &Field) -> String {
        let mut facts = Vec::new();
        facts.extend(field.opcode.then(|| "opcode".to_owned()));
        facts.extend(field.length.then(|| "length".to_owned()));
        facts.extend(field.default.map(|value| format!("default {}", self.value(field, value))));
        facts.extend(
            field
                .range
                .map(|(low, high)| format!("{} to {}", self.meant(field, low), self.meant(field, high))),
        );
        facts.extend(match field.stored {
            Stored::Plain => None,
            Stored::MinusOne => Some("stored less one".to_owned()),
            Stored::Shifted(by) => Some(format!("stored divided by {}", 1u64 << by.min(63))),
            Stored::Log2 => Some("stored as logarithm".to_owned()),
        });
        facts.extend((!field.unit.is_empty()).then(|| field.unit.clone()));
        facts.extend(field.required.then(|| "required".to_owned()));
        facts.extend(field.nonzero.then(|| "not zero".to_owned()));
        if let Type::Address { target, .. } = &field.ty {
            facts.extend((!target.is_empty()).then(|| format!("of {target}")));
        }
        if field.variant.is_none() {
            facts.extend(field.exists_if.as_ref().map(|expr| format!("if {}", self.condition(expr))));
        }
        facts.extend((!field.doc.is_empty()).then(|| field.doc.clone()));
        facts.extend((!field.doubt.is_empty()).then(|| format!("doubtful: {}", field.doubt)));
        facts.extend((!field.source.is_empty()).then(|| field.source.clone()));
        facts.join(" · ")
    }

    /// A stored value as people write it.
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
                let named = list.and_then(|list| list.values.iter().find(|other| other.value == value));
                named.map_or_else(|| value.to_string(), |named| named.name.clone())
            }
            _ if value < 10 => value.to_string(),
            _ => format!("{value:#x}"),
        }
    }

    /// The end of a range, back to the meant value.
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

    fn rule(&mut self, rule: &Rule) {
        let severity = match rule.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Workaround => "workaround",
        };
        let source = if rule.source.is_empty() { String::new() } else { format!(" ({})", rule.source) };
        let condition = &rule.text;
        let _ =
            write!(self.text, "\n{severity} {}: {}{source}\n  unless {condition}\n", rule.id, rule.message);
    }
}

fn is_of(field: &Field, set: &str, alternative: Option<&str>) -> bool {
    match &field.variant {
        Some((name, one)) => name == set && alternative.is_none_or(|wanted| wanted == one),
        None => false,
    }
}

/// A labelled range of bits in the picture.
#[derive(Debug, Clone)]
struct Cell {
    start: u32,
    /// First bit after it.
    end: u32,
    text: String,
}

impl Cell {
    fn field(field: &Field) -> Cell {
        let text = match field.ty {
            Type::MustBeZero => "0".to_owned(),
            Type::MustBeOne => "1".to_owned(),
            Type::Reserved => "-".to_owned(),
            _ => match (field.opcode, field.default) {
                (true, Some(value)) => format!("{} {value:#x}", field.name),
                _ => field.name.clone(),
            },
        };
        Cell { start: field.start, end: field.end + 1, text }
    }

    fn group(group: &Group) -> Cell {
        let name = match (&group.name[..], group.fields.first()) {
            ("", Some(field)) => field.name.clone(),
            (name, _) => name.to_owned(),
        };
        match group.count {
            0 => Cell { start: group.start, end: group.start + group.bits, text: format!("{name}[...]") },
            count => Cell {
                start: group.start,
                end: group.start + count * group.bits,
                text: format!("{name}[{count}]"),
            },
        }
    }
}

/// Cells in order and without overlap: those that say the same and touch or overlap become one, others give way.
fn join(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by_key(|cell| (cell.start, cell.end));
    let mut joined: Vec<Cell> = Vec::new();
    for mut cell in cells {
        match joined.last_mut() {
            Some(last) if cell.start <= last.end && cell.text == last.text => {
                last.end = last.end.max(cell.end)
            }
            Some(last) if cell.end <= last.end => {}
            Some(last) => {
                cell.start = cell.start.max(last.end);
                joined.push(cell);
            }
            None => joined.push(cell),
        }
    }
    joined
}

/// Draws dwords, bit 31 left, two columns a bit. A text that does not fit is cut; the list below has it in full.
fn picture(text: &mut String, cells: Vec<Cell>, indent: &str) {
    let Some(last) = cells.last() else { return };
    let (first_dword, dwords) = (cells[0].start / 32, last.end.div_ceil(32));
    let _ = writeln!(
        text,
        "{indent}          31            24 23            16 15             8 7              0"
    );
    let mut rows: Vec<(u32, u32, String, String)> = Vec::new();
    for dword in first_dword..dwords {
        let (edges, line) = row(&cells, dword);
        match rows.last_mut() {
            // A field over many dwords is drawn once.
            Some((_, to, old_edges, old))
                if *old_edges == edges && *old == line && !old.trim().is_empty() =>
            {
                *to = dword
            }
            _ => rows.push((dword, dword, edges, line)),
        }
    }
    let mut above = "+".to_owned() + &"-".repeat(63) + "+";
    for (from, to, edges, line) in rows {
        let border: String = above
            .chars()
            .zip(edges.chars())
            .map(|(above, below)| if above == '+' || below == '+' { '+' } else { '-' })
            .collect();
        let label = if from == to { format!("dw{from}") } else { format!("dw{from}-{to}") };
        let _ = write!(text, "{indent}         {border}\n{indent}{label:>8} {line}\n");
        above = edges;
    }
    let _ = writeln!(text, "{indent}         {above}\n");
}

/// The edges (`+` where a bar stands) and the text of one dword.
fn row(cells: &[Cell], dword: u32) -> (String, String) {
    let (low, high) = (dword * 32, dword * 32 + 32);
    let mut line = vec![' '; 65];
    let mut edges = vec!['-'; 65];
    let column = |bit: u32| ((high - bit) * 2) as usize;
    let mut bar = |column: usize, line: &mut Vec<char>| {
        line[column] = '|';
        edges[column] = '+';
    };
    bar(0, &mut line);
    bar(64, &mut line);
    for cell in cells.iter().filter(|cell| cell.start < high && cell.end > low) {
        let (left, right) = (column(cell.end.min(high)), column(cell.start.max(low)));
        bar(left, &mut line);
        bar(right, &mut line);
        let room = right - left - 1;
        let shown: Vec<char> = match cell.text.chars().count() <= room {
            true => cell.text.chars().collect(),
            false if room > 3 => cell.text.chars().take(room - 1).chain(['~']).collect(),
            false => cell.text.chars().take(room).collect(),
        };
        let pad = (room - shown.len()) / 2;
        for (index, c) in shown.into_iter().enumerate() {
            line[left + 1 + pad + index] = c;
        }
    }
    (edges.into_iter().collect(), line.into_iter().collect())
}
