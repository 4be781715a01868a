//! What sanitizers report.

use crate::machine::fault::Place;
use crate::mem::Va;
use genxml::core::rule::Severity;
use std::fmt;

/// A rule that a sanitizer checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Stable name, in capitals: `FLUSH-RENDER-TARGET`.
    pub id: &'static str,
    /// Severity of a violation.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: &'static str,
    /// What the program must do instead.
    pub remedy: &'static str,
    /// Volume and page of the manual, or the origin of the fact.
    pub source: &'static str,
}

impl Rule {
    /// A rule of severity error.
    pub const fn error(
        id: &'static str,
        message: &'static str,
        remedy: &'static str,
        source: &'static str,
    ) -> Rule {
        Rule { id, severity: Severity::Error, message, remedy, source }
    }
}

/// One of the two accesses, or other actions, that break a rule together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// What the side does, in words: `written through the render target cache`.
    pub action: String,
    /// The packet, and the instruction if a thread's message did it.
    pub at: Place,
    /// Number of the thread, if a thread's message did it.
    pub thread: Option<u32>,
    /// Graphics address of the first byte, in the address space of this side.
    pub address: u64,
    /// Number of bytes; 0 if the side is not about memory.
    pub bytes: u64,
}

/// A violation of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The earlier side.
    pub first: Side,
    /// The later side.
    pub second: Side,
    /// Number of accesses with the same rule and the same two sides. The sides have the addresses
    /// of the first one.
    pub count: u64,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            0 => write!(f, "{}, by {}", self.action, self.at)?,
            bytes => {
                let address = Va(self.address);
                write!(f, "{}: {bytes} bytes at {address}, by {}", self.action, self.at)?;
            }
        }
        match self.thread {
            Some(thread) => write!(f, ", thread {thread}"),
            None => Ok(()),
        }
    }
}

/// Several lines: the rule, both sides, the remedy.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { id, severity, message, remedy, source } = self.rule;
        writeln!(f, "{}: {id}: {message}", severity.name())?;
        writeln!(f, "  {}", self.first)?;
        writeln!(f, "  {}", self.second)?;
        if self.count > 1 {
            writeln!(f, "  {} accesses like this", self.count)?;
        }
        write!(f, "  {remedy} ({source})")
    }
}
