//! The summary of a hang, which `genx decode` prints before the packets of an error state or a
//! device coredump.

use genxml::hang::{Style, Summary};
use std::io::{self, Write};

/// Prints a summary, with or without colours.
///
/// # Errors
/// If `out` cannot be written.
pub fn print(summary: &Summary, color: bool, out: &mut dyn Write) -> io::Result<()> {
    for line in summary.lines() {
        let code = match line.style {
            Style::Title => "\x1b[1;7m",
            Style::Plain => "",
            Style::Command => "\x1b[36m",
            Style::Culprit => "\x1b[1m",
            Style::Problem => "\x1b[1;31m",
            Style::Note => "\x1b[33m",
        };
        match color && !code.is_empty() {
            true => writeln!(out, "{code}{}\x1b[0m", line.text)?,
            false => writeln!(out, "{}", line.text)?,
        }
    }
    writeln!(out)
}
