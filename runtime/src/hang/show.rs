//! A summary as lines of text.

use super::{
    Fault, Flags, Hang, Header, Location, Near, Quoted, RingPosition, Semaphore, Summary, Units,
};
use std::fmt;

/// A line of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownLine {
    /// What kind of line it is.
    pub style: Style,
    /// Text of the line.
    pub text: String,
}

/// The kind of a line, for colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The title of the summary or of an engine.
    Title,
    /// Details.
    Plain,
    /// A quoted command.
    Command,
    /// The command that the engine was executing.
    Culprit,
    /// A likely cause: an error, a fault, a broken rule or an unsatisfied semaphore.
    Problem,
    /// A remark.
    Note,
}

struct Lines(Vec<ShownLine>);

impl Lines {
    fn add(&mut self, style: Style, text: impl Into<String>) {
        self.0.push(ShownLine { style, text: text.into() });
    }
}

impl Summary {
    /// The summary as lines.
    pub fn lines(&self) -> Vec<ShownLine> {
        let mut lines = Lines(Vec::new());
        let platform = self
            .platform
            .map_or_else(|| "an unknown GPU".to_owned(), |platform| platform.to_string());
        let kernel =
            if self.kernel.is_empty() { String::new() } else { format!(", Linux {}", self.kernel) };
        lines.add(Style::Title, format!("What hung: {platform}{kernel}"));
        if !self.message.is_empty() {
            lines.add(Style::Plain, format!("  the driver says: {}", self.message));
        }
        if let Some(platform) =
            self.platform.filter(|platform| platform.generation != self.generation)
        {
            let text = match self.generation {
                80 => format!(
                    "  {platform} is not Broadwell: commands and registers are shown by Broadwell's tables, which may be wrong for it"
                ),
                _ => format!(
                    "  commands and registers are shown by the tables of another generation than {platform}, which may be wrong for it"
                ),
            };
            lines.add(Style::Note, text);
        }
        for flags in &self.errors {
            lines.add(Style::Problem, format!("  {flags}"));
        }
        for hang in &self.engines {
            hang.lines(&mut lines);
        }
        let reported = self.engines.iter().any(|hang| hang.fault.is_some());
        if let Some(fault) = self.fault.as_ref().filter(|_| !reported) {
            lines.add(Style::Plain, format!("last page fault: {fault}"));
            near(fault, &mut lines);
        }
        if self.engines.is_empty() {
            lines.add(Style::Note, "no engine had anything to do, as far as the file says");
        }
        if !self.idle.is_empty() {
            let names: Vec<&str> = self.idle.iter().map(|idle| idle.engine.as_str()).collect();
            lines.add(Style::Plain, format!("idle: {}", names.join(", ")));
        }
        for idle in &self.idle {
            for units in &idle.units {
                lines.add(Style::Plain, format!("  {} {units}", idle.engine));
            }
        }
        lines.0
    }
}

/// The lines, each with a line end.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{}", line.text))
    }
}

impl Hang {
    fn lines(&self, lines: &mut Lines) {
        let why = match self.because.is_empty() {
            true => "had work".to_owned(),
            false => format!("hung ({})", self.because.join("; ")),
        };
        lines.add(Style::Title, format!("{} {why}", self.engine));
        if let Some(process) = &self.process {
            lines.add(Style::Plain, format!("  process: {} [{}]", process.name, process.pid));
        }
        self.place_lines(lines);
        for quoted in &self.before {
            lines.add(Style::Command, format!("    {quoted}"));
        }
        if let Some(command) = &self.command {
            match command.text.as_slice() {
                [] => lines.add(Style::Culprit, format!("  > {command}")),
                [first, rest @ ..] => {
                    lines.add(Style::Culprit, format!("  > {}", first.trim_start()));
                    rest.iter().for_each(|line| lines.add(Style::Culprit, format!("    {line}")));
                }
            }
        }
        for quoted in &self.after {
            lines.add(Style::Command, format!("    {quoted}"));
        }
        if let Some(ipehr) = self.ipehr {
            lines.add(Style::Plain, format!("  IPEHR: {ipehr}"));
        }
        for (name, location, what) in [("HEAD", self.head, "at"), ("TAIL", self.tail, "after")] {
            if let Some(location) = location {
                lines.add(Style::Plain, format!("  {name}: {}", location.text(what)));
            }
        }
        if let Some(semaphore) = &self.semaphore {
            let style = if semaphore.holds() == Some(true) { Style::Plain } else { Style::Problem };
            lines.add(style, format!("  {semaphore}"));
        }
        if let Some(fault) = &self.fault {
            lines.add(Style::Problem, format!("  page fault: {fault}"));
            near(fault, lines);
        }
        for units in &self.units {
            lines.add(Style::Plain, format!("  {units}"));
        }
        for flags in &self.flags {
            lines.add(Style::Plain, format!("  {flags}"));
        }
        if let Some(violation) = &self.violation {
            lines.add(Style::Problem, "  first broken rule:".to_owned());
            violation
                .text
                .lines()
                .for_each(|line| lines.add(Style::Problem, format!("    {line}")));
        } else if self.command.is_some() && self.checked {
            lines.add(Style::Plain, "  no rule is broken up to the marked command".to_owned());
        }
    }

    fn place_lines(&self, lines: &mut Lines) {
        let Some(acthd) = self.acthd else {
            return lines.add(Style::Note, "  the file has no ACTHD: the command is unknown");
        };
        match &self.location {
            Location::Buffer(name, start, offset) => {
                lines.add(
                    Style::Plain,
                    format!("  ACTHD: {acthd:#014x}, {offset:#x} bytes into {name} at {start:#x}"),
                );
                if self.command.is_none() {
                    lines.add(
                        Style::Note,
                        "  no command there is reached from the ring or the start of the batch",
                    );
                }
            }
            Location::Nowhere => {
                lines.add(
                    Style::Problem,
                    format!("  ACTHD: {acthd:#014x}, in no buffer that the file has"),
                );
            }
        }
    }
}

fn near(fault: &Fault, lines: &mut Lines) {
    let Some(address) = fault.address else { return };
    for near in &fault.near {
        lines.add(Style::Plain, format!("    {}", near.text(address)));
    }
    if fault.near.is_empty() {
        lines.add(Style::Plain, "    no memory is near it in the file".to_owned());
    }
}

impl Near {
    /// Describes the position of an address relative to this memory.
    fn text(&self, address: u64) -> String {
        let Near { name, address: start, end, has_bytes } = self;
        let bytes = if *has_bytes { "" } else { " (its bytes are not in the file)" };
        let at = match self.distance(address) {
            0 => format!("{:#x} bytes into", address - start),
            _ if address < *start => format!("{:#x} bytes before", start - address),
            distance => format!("{:#x} bytes after the end of", distance - 1),
        };
        format!("{at} {name}, {start:#x} to {end:#x}{bytes}")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => write!(f, "{address:#014x}")?,
            None => f.write_str("address unknown")?,
        }
        f.write_str(if self.global { " of the global table" } else { " of the context's tables" })?;
        if let Some(kind) = self.kind {
            write!(f, ", {kind}")?;
        }
        if let Some(engine) = self.engine {
            write!(f, ", engine {engine}")?;
        }
        match self.source {
            Some(source) => write!(f, ", source {source}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#014x}: {:08x}  {}", self.address, self.header, self.name)
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.value)?;
        match self.name {
            Some(name) => write!(f, ", {name}")?,
            None => f.write_str(", no command of this engine")?,
        }
        match self.back {
            Some(0) => f.write_str(", the command that ACTHD points into"),
            Some(1) => f.write_str(", the command before the one that ACTHD points into"),
            Some(back) => write!(f, ", {back} commands before the one that ACTHD points into"),
            None => Ok(()),
        }
    }
}

impl RingPosition {
    fn text(&self, what: &str) -> String {
        let command = match self.command {
            Some((address, name)) => format!(", {what} {name} at {address:#x}"),
            None => String::new(),
        };
        let wraps = match self.wraps {
            0 => String::new(),
            1 => ", after 1 wrap of the ring".to_owned(),
            wraps => format!(", after {wraps} wraps of the ring"),
        };
        format!("{:#x}{command}{wraps}", self.offset)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:#010x}", self.register, self.value)?;
        if self.set.is_empty() { Ok(()) } else { write!(f, ", {}", self.set.join(", ")) }
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Units { register, value, busy, of_render } = self;
        write!(f, "{register}: {value:#010x}, ")?;
        match (busy.is_empty(), of_render) {
            (true, _) => write!(f, "all units are done"),
            (false, false) => write!(f, "not done: {}", busy.join(", ")),
            (false, true) => write!(
                f,
                "the units of this engine are not documented; if the bits are read as those of the \
                 render engine, these units are not done: {}",
                busy.join(", ")
            ),
        }
    }
}

impl fmt::Display for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.compare {
            "SAD_GREATER_THAN_SDD" => ">",
            "SAD_GREATER_THAN_OR_EQUAL_SDD" => ">=",
            "SAD_LESS_THAN_SDD" => "<",
            "SAD_LESS_THAN_OR_EQUAL_SDD" => "<=",
            "SAD_EQUAL_SDD" => "=",
            "SAD_NOT_EQUAL_SDD" => "!=",
            other => other,
        };
        let table = if self.global { "global " } else { "" };
        write!(f, "waits until memory at {table}{:#x} is {sign} {:#x}: ", self.address, self.data)?;
        match (self.value, self.holds()) {
            (Some(value), Some(true)) => write!(f, "it is {value:#x}, which holds"),
            (Some(value), _) => write!(f, "it is {value:#x}, which does not hold"),
            (None, _) => f.write_str("the file does not have it"),
        }
    }
}
