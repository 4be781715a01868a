//! `genx spec assumptions`: the points that the manuals leave open, and the model's choices.

use crate::output::{Error, Exit, bad_input, stdout};
use genxml_sim::assumptions::{AREAS, Assumption, Kind};
use serde::Serialize;
use std::io::{self, Write};

/// Maximum number of columns of the text.
const WIDTH: usize = 80;

/// An assumption as JSON.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    area: &'static str,
    kind: &'static str,
    value: Option<&'static str>,
    question: &'static str,
    choice: &'static str,
    reason: &'static str,
}

impl Entry {
    fn new(area: &'static str, assumption: &Assumption) -> Entry {
        let &Assumption { name, question, choice, reason, kind } = assumption;
        let (kind, value) = match kind {
            Kind::Value(value) => ("value", Some(value)),
            Kind::Documentation => ("documentation", None),
        };
        Entry { name, area, kind, value, question, choice, reason }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.value {
            Some(value) => write_wrapped(out, "  ", &format!("{} = {value}", self.name))?,
            None => writeln!(out, "  {}", self.name)?,
        }
        write_wrapped(out, "    ", self.question)?;
        write_wrapped(out, "    ", &format!("Choice: {}", self.choice))?;
        write_wrapped(out, "    ", &format!("Reason: {}", self.reason))
    }
}

/// Lists the assumptions whose name contains `pattern`, in any case.
pub fn run(pattern: Option<&str>, json: bool) -> Result<Exit, Error> {
    let pattern = pattern.unwrap_or_default().to_uppercase();
    let entries: Vec<Entry> = AREAS
        .iter()
        .flat_map(|area| area.assumptions.iter().map(|entry| Entry::new(area.name, entry)))
        .filter(|entry| entry.name.contains(&pattern))
        .collect();
    if entries.is_empty() {
        return Err(bad_input(format!(
            "no assumption has `{pattern}` in its name; without a name, all are listed"
        )));
    }
    if json {
        let text = serde_json::to_string_pretty(&entries).map_err(bad_input)?;
        stdout(|out| writeln!(out, "{text}"))?;
    } else {
        stdout(|out| write_text(out, &entries))?;
    }
    Ok(Exit::Ok)
}

fn write_text(out: &mut dyn Write, entries: &[Entry]) -> io::Result<()> {
    for of_area in entries.chunk_by(|a, b| a.area == b.area) {
        writeln!(out, "{}", of_area[0].area)?;
        for entry in of_area {
            entry.write(out)?;
            writeln!(out)?;
        }
    }
    let values = entries.iter().filter(|entry| entry.value.is_some()).count();
    writeln!(out, "{} assumptions: code reads the values of {values}", entries.len())
}

/// Writes words in lines of at most [`WIDTH`] columns; a longer word gets a line of its own.
fn write_wrapped(out: &mut dyn Write, indent: &str, text: &str) -> io::Result<()> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent.len() + line.len() + 1 + word.len() > WIDTH {
            writeln!(out, "{indent}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{indent}{line}")
}
