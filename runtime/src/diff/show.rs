//! Differences of dumps as text and as JSON.
//!
//! The text resembles that of other diff programs. The first column has a mark: `-` only in the
//! first dump, `+` only in the second, `~` in both with different contents, and a blank for equal
//! context. The differences inside an entry are indented below it.
//!
//! JSON has a line for each entry that differs:
//!
//! | key | value |
//! |---|---|
//! | `change` | `changed`, `removed` or `added` |
//! | `kind` | `submission`, or the kind of the record: `packet`, `struct`, `note` and so on |
//! | `name`, `index` | of the packet, structure and so on |
//! | `inside` | the entries that hold it, outermost first: objects with `kind`, `name`, `index` |
//! | `old`, `new` | its position `{"address": "0x1000"}`; missing if only the other dump has it |
//! | `fields` | what changed: `field`, `dword`, `bits`, `old` and `new` as text (null: the field does not exist there) |
//! | `lines` | if no field changed: `change` (`removed` or `added`) and `text` |
//!
//! The last line is `{"kind": "summary", "same": false, "changed": 1, "removed": 0, "added": 2}`.

use super::dump::{Changed, DumpDiff, TreeStep, has_fields, instructions};
use super::tree::{Node, Tree};
use crate::decode::Kind;
use genxml_core::members::Level;
use serde_json::{Value, json};
use std::io::{self, Write};

/// How text is shown.
#[derive(Debug, Clone, Copy)]
pub struct Show {
    /// ANSI colours.
    pub color: bool,
    /// Largest number of equal entries that are named before and after each difference.
    pub context: usize,
}

impl Default for Show {
    fn default() -> Show {
        Show { color: false, context: 3 }
    }
}

/// How an entry differs: equal or changed in both dumps, or only in the first or the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Same,
    Changed,
    Removed,
    Added,
}

impl Mark {
    fn of(step: &TreeStep) -> Mark {
        match (step.old, step.new, &step.changed) {
            (Some(_), Some(_), None) => Mark::Same,
            (Some(_), Some(_), Some(_)) => Mark::Changed,
            (Some(_), None, _) => Mark::Removed,
            _ => Mark::Added,
        }
    }

    fn char(self) -> char {
        match self {
            Mark::Same => ' ',
            Mark::Changed => '~',
            Mark::Removed => '-',
            Mark::Added => '+',
        }
    }

    fn color(self) -> &'static str {
        match self {
            Mark::Same => "",
            Mark::Changed => "\x1b[33m",
            Mark::Removed => "\x1b[31m",
            Mark::Added => "\x1b[32m",
        }
    }
}

/// Writes the differences as text; nothing if there are none.
///
/// # Errors
/// Those returned by `out`.
pub fn write_text(diff: &DumpDiff<'_>, show: Show, out: &mut dyn Write) -> io::Result<()> {
    Text { diff, show, out }.steps(&diff.steps, 0)
}

struct Text<'a, 'b> {
    diff: &'a DumpDiff<'a>,
    show: Show,
    out: &'b mut dyn Write,
}

impl Text<'_, '_> {
    fn line(&mut self, mark: Mark, depth: usize, text: &str) -> io::Result<()> {
        let (mark_char, indent) = (mark.char(), 2 * depth);
        let line = format!("{mark_char} {:indent$}{text}", "");
        match (self.show.color, mark.color()) {
            (true, color) if !color.is_empty() => {
                writeln!(self.out, "{color}{}\x1b[0m", line.trim_end())
            }
            _ => writeln!(self.out, "{}", line.trim_end()),
        }
    }

    fn steps(&mut self, steps: &[TreeStep], depth: usize) -> io::Result<()> {
        let mut at = 0;
        while at < steps.len() {
            let run = steps[at..].iter().take_while(|step| step.is_same()).count();
            self.same(&steps[at..at + run], at > 0, at + run < steps.len(), depth)?;
            at += run;
            let Some(step) = steps.get(at) else { break };
            self.step(step, depth)?;
            at += 1;
        }
        Ok(())
    }

    /// Writes equal entries before, between or after differences: the names of the nearest, and the
    /// number of the others.
    fn same(
        &mut self,
        run: &[TreeStep],
        before: bool,
        after: bool,
        depth: usize,
    ) -> io::Result<()> {
        if !before && !after {
            return Ok(());
        }
        let first = if before { self.show.context.min(run.len()) } else { 0 };
        let last = if after { self.show.context.min(run.len() - first) } else { 0 };
        for (position, step) in run.iter().enumerate() {
            if position < first || position >= run.len() - last {
                self.title(step, Mark::Same, depth)?;
            } else if position == first {
                let left = run.len() - first - last;
                self.line(Mark::Same, depth, &format!("... {left} the same"))?;
            }
        }
        Ok(())
    }

    fn node(&self, step: &TreeStep) -> Option<(&Tree, usize)> {
        let old = step.old.map(|at| (self.diff.old, at));
        old.or(step.new.map(|at| (self.diff.new, at)))
    }

    /// Writes the line with the name of an entry and its addresses in both dumps.
    fn title(&mut self, step: &TreeStep, mark: Mark, depth: usize) -> io::Result<()> {
        let Some((tree, at)) = self.node(step) else { return Ok(()) };
        let mut text = name(&tree.nodes[at]);
        let places: Vec<String> = [(self.diff.old, step.old), (self.diff.new, step.new)]
            .into_iter()
            .filter_map(|(tree, at)| place(&tree.nodes[at?]))
            .collect();
        match &places[..] {
            [] => {}
            [one, other] if one != other => text += &format!("  {one} -> {other}"),
            [one, ..] => text += &format!("  {one}"),
        }
        self.line(mark, depth, &text)
    }

    fn step(&mut self, step: &TreeStep, depth: usize) -> io::Result<()> {
        let mark = Mark::of(step);
        match &step.changed {
            Some(changed) => {
                // An entry that differs only in what it points to is printed as context.
                let own = !changed.fields.is_empty() || !changed.lines.is_empty();
                self.title(step, if own { mark } else { Mark::Same }, depth)?;
                for field in &changed.fields {
                    self.line(Mark::Changed, depth + 2, &field.to_string())?;
                }
                for (added, line) in &changed.lines {
                    self.line(if *added { Mark::Added } else { Mark::Removed }, depth + 2, line)?;
                }
                self.steps(&changed.inner, depth + 1)
            }
            None => {
                self.title(step, mark, depth)?;
                let Some((tree, at)) = self.node(step) else { return Ok(()) };
                let node = &tree.nodes[at];
                let details = details(tree, node);
                let below: Vec<(usize, String)> = inside(tree, at);
                details.iter().try_for_each(|line| self.line(mark, depth + 2, line))?;
                below.iter().try_for_each(|(deeper, line)| self.line(mark, depth + deeper, line))
            }
        }
    }
}

fn name(node: &Node) -> String {
    match (node.kind, node.register, node.index) {
        (None | Some(Kind::Note), ..) => node.text.to_string(),
        (_, Some(register), _) => register.to_string(),
        (_, _, Some(index)) => format!("{}[{index}]", node.name),
        _ => node.name.to_owned(),
    }
}

/// The address of an entry as text; remarks and registers have none.
fn place(node: &Node) -> Option<String> {
    match node.kind {
        Some(Kind::Note | Kind::Register) => None,
        _ => Some(format!("{:#x}", node.address)),
    }
}

/// The lines below an entry: a kernel's instructions, otherwise the fields that are not zero.
fn details(tree: &Tree, node: &Node) -> Vec<String> {
    let dwords = tree.dwords(node);
    match (node.kind, node.container) {
        (Some(Kind::Kernel), _) => instructions(dwords),
        (_, Some(container)) if has_fields(node) => {
            let mut all = Vec::new();
            values(Level::of(container, dwords), &mut String::new(), &mut all);
            all.into_iter().map(|(path, value)| format!("{path}: {value}")).collect()
        }
        _ => Vec::new(),
    }
}

/// Paths and values of the fields that are not zero.
pub(crate) fn values(level: Level<'_>, path: &mut String, out: &mut Vec<(String, String)>) {
    use genxml_core::members::Element;
    let before = path.len();
    for member in level.fields() {
        path.push_str(member.field.name);
        match member.level() {
            Some(inner) => {
                path.push('.');
                values(inner, path, out);
            }
            None if member.stored() != 0 => out.push((path.clone(), member.value().to_string())),
            None => {}
        }
        path.truncate(before);
    }
    for array in level.arrays() {
        for (index, element) in array.iter().enumerate() {
            path.push_str(&format!("{}[{index}]", array.name()));
            match element {
                Element::Field(member) if member.level().is_none() => {
                    if member.stored() != 0 {
                        out.push((path.clone(), member.value().to_string()));
                    }
                }
                Element::Field(member) => {
                    if let Some(inner) = member.level() {
                        path.push('.');
                        values(inner, path, out);
                    }
                }
                Element::Level(inner) => {
                    path.push('.');
                    values(inner, path, out);
                }
            }
            path.truncate(before);
        }
    }
}

/// The nodes that a node points to, directly or not: depth below it, name and address of each.
fn inside(tree: &Tree, of: usize) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut open = vec![tree.nodes[of].end];
    for at in of + 1..tree.nodes[of].end {
        while open.len() > 1 && open.last().is_some_and(|end| *end <= at) {
            open.pop();
        }
        let node = &tree.nodes[at];
        let place = place(node).map(|place| format!("  {place}")).unwrap_or_default();
        out.push((open.len(), format!("{}{place}", name(node))));
        open.push(node.end);
    }
    out
}

/// Writes the differences as JSON: a line for each difference, and one with the counts.
///
/// # Errors
/// Those returned by `out`.
pub fn write_json(diff: &DumpDiff<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut inside = Vec::new();
    json_steps(diff, &diff.steps, &mut inside, out)?;
    let counts = diff.counts();
    let summary = json!({
        "kind": "summary",
        "same": diff.is_empty(),
        "changed": counts.changed,
        "removed": counts.removed,
        "added": counts.added,
    });
    writeln!(out, "{summary}")
}

fn kind(node: &Node) -> &'static str {
    node.kind.map_or("submission", Kind::name)
}

fn label(node: &Node) -> Value {
    let name = match node.register {
        Some(register) => register.to_string(),
        None if matches!(node.kind, None | Some(Kind::Note)) => node.text.to_string(),
        None => node.name.to_owned(),
    };
    json!({"kind": kind(node), "name": name, "index": node.index})
}

fn json_steps(
    diff: &DumpDiff<'_>,
    steps: &[TreeStep],
    inside: &mut Vec<Value>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for step in steps.iter().filter(|step| !step.is_same()) {
        let (old, new) =
            (step.old.map(|at| &diff.old.nodes[at]), step.new.map(|at| &diff.new.nodes[at]));
        let Some(node) = old.or(new) else { continue };
        let mut value = label(node);
        value["inside"] = Value::Array(inside.clone());
        let place = |node: &Node| json!({"address": format!("{:#x}", node.address)});
        for (key, node) in [("old", old), ("new", new)] {
            if let Some(node) = node {
                value[key] = place(node);
            }
        }
        let none = Changed::default();
        let changed = step.changed.as_deref().unwrap_or(&none);
        value["change"] = match Mark::of(step) {
            Mark::Removed => "removed",
            Mark::Added => "added",
            Mark::Changed | Mark::Same => "changed",
        }
        .into();
        if step.changed.is_some() {
            let fields = changed.fields.iter().map(|field| {
                let (start, end) = field.bits;
                json!({
                    "field": field.path,
                    "dword": start / 32,
                    "bits": format!("{}:{}", end - start / 32 * 32, start % 32),
                    "old": field.old.map(|side| side.to_string()),
                    "new": field.new.map(|side| side.to_string()),
                })
            });
            value["fields"] = fields.collect();
            let lines = changed.lines.iter().map(
                |(added, text)| json!({"change": if *added { "added" } else { "removed" }, "text": text}),
            );
            value["lines"] = lines.collect();
        }
        if step.changed.is_none() || !changed.fields.is_empty() || !changed.lines.is_empty() {
            writeln!(out, "{value}")?;
        }
        inside.push(label(node));
        json_steps(diff, &changed.inner, inside, out)?;
        inside.pop();
    }
    Ok(())
}
