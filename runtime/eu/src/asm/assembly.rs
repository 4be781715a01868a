//! An assembled kernel, and options for it.

use super::parse::OperandSpans;
use crate::generation::Generation;
use crate::kernel::Located;
use crate::validate::Place;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// Options of the assembler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Which instructions get the 8-byte form.
    pub compaction: Compaction,
    /// The generation of the kernel: Gen8, or Gen4, G45 or Gen5 in Mesa's language.
    pub generation: Generation,
}

/// Which instructions get the 8-byte form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Compaction {
    /// Those with the option `{Compacted}`; it is an error if one of them has no 8-byte form.
    #[default]
    AsWritten,
    /// No instruction, even if it has the option `{Compacted}`.
    None,
    /// All instructions that have an 8-byte form, except branches with a label or a distance.
    /// Branches keep their targets.
    All,
}

/// An assembled kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Assembly {
    /// The instructions in memory.
    pub bytes: Vec<u8>,
    /// Instructions in order.
    pub lines: Vec<Line>,
    /// Byte offsets of the labels.
    pub labels: BTreeMap<String, u64>,
}

/// An instruction and its position in the source.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The instruction as decoded from its bytes, with its position.
    pub located: Located,
    /// Line in the source, from 1.
    pub line: usize,
    /// Byte range in the source.
    pub span: Range<usize>,
    pub(super) spans: OperandSpans,
    pub(super) jip: Range<usize>,
    pub(super) uip: Range<usize>,
}

impl Line {
    /// The byte range in the source of a part of the instruction, or of the whole instruction if
    /// the part is not written.
    pub fn place(&self, place: Place) -> Range<usize> {
        let part = match place {
            Place::Instruction => None,
            Place::Destination => Some(&self.spans.destination),
            Place::Source(number) => self.spans.sources.get(usize::from(number)),
            Place::Jip => Some(&self.jip),
            Place::Uip => Some(&self.uip),
        };
        part.filter(|part| !part.is_empty()).unwrap_or(&self.span).clone()
    }
}

/// The assembler stops after this many errors.
pub(super) const MAX_ERRORS: usize = 50;
