//! Kernels as sources: their disassembly with numbered lines.

use genxml_eu::syntax::Syntax;
use genxml_sim::inspect::debugger::{Code, Stop};
use serde_json::{Value, json};

/// The disassembly of a kernel.
#[derive(Debug)]
struct Source {
    /// Address of the first instruction.
    kernel: u64,
    text: String,
    /// Byte offset of the instruction of each line, from line 1 on; `None` for labels and for the
    /// second lines of messages.
    lines: Vec<Option<u32>>,
}

/// All kernels that the client has seen. A kernel that changes in memory is another source.
#[derive(Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// The source of the thread's kernel, and the number of the line with the next instruction.
    ///
    /// # Errors
    /// Without a thread, as text.
    pub fn here(&mut self, stop: &Stop<'_>, syntax: Syntax) -> Result<(Value, u64), String> {
        let thread = stop.stopped_thread()?;
        let source = Source::of(&stop.code()?, syntax);
        let line = source.line(thread.ip).unwrap_or(1);
        let same = |other: &Source| other.kernel == source.kernel && other.text == source.text;
        let index = self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(source);
            self.0.len() - 1
        });
        Ok((self.description(index), line))
    }

    /// A source as the protocol describes it.
    fn description(&self, index: usize) -> Value {
        let name = format!("kernel {:#x}", self.0[index].kernel);
        json!({ "name": name, "sourceReference": index + 1, "origin": "disassembly" })
    }

    fn get(&self, reference: u64) -> Result<&Source, String> {
        let index = usize::try_from(reference).ok().and_then(|n| n.checked_sub(1));
        index.and_then(|index| self.0.get(index)).ok_or_else(|| {
            format!(
                "there is no source {reference}; a kernel becomes a source when a thread of it \
                     stops"
            )
        })
    }

    /// The text of a source.
    ///
    /// # Errors
    /// If there is no such source, as text.
    pub fn text(&self, reference: u64) -> Result<&str, String> {
        Ok(&self.get(reference)?.text)
    }

    /// The line and the address of the first instruction from a line on.
    ///
    /// # Errors
    /// If there is no such source or no such instruction, as text.
    pub fn instruction(&self, reference: u64, line: u64) -> Result<(u64, u64), String> {
        let source = self.get(reference)?;
        let from = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        let found = source.lines.iter().enumerate().skip(from);
        let found = found.filter_map(|(n, offset)| Some((n, (*offset)?))).next();
        let (index, offset) = found.ok_or_else(|| format!("no instruction from line {line} on"))?;
        Ok((index as u64 + 1, source.kernel.wrapping_add(offset.into())))
    }
}

impl Source {
    fn of(code: &Code, syntax: Syntax) -> Source {
        let mut source = Source { kernel: code.address, text: String::new(), lines: Vec::new() };
        for line in code.listing(syntax) {
            for (n, text) in line.text.lines().enumerate() {
                source.text += text;
                source.text.push('\n');
                source.lines.push(line.offset.filter(|_| n == 0));
            }
        }
        source
    }

    /// The number of the line of the instruction at an offset.
    fn line(&self, offset: u32) -> Option<u64> {
        let index = self.lines.iter().position(|line| *line == Some(offset))?;
        Some(index as u64 + 1)
    }
}
