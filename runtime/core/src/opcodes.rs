//! Finds the instruction and the length of a packet from its first dword, in constant time.
//!
//! [`OpcodeTable`] is built from an engine's containers at compile time. Bits 31:24 of a header
//! select a row. Further bits, down to bit 16, select an entry of the row. The entry names the most
//! specific instruction that agrees with these bits; then the whole opcode is compared. The path
//! from one header to the next has only loads and one well-predicted branch.

use crate::bits::{get, ones};
use crate::packet::{ParseError, UnpackError};
use crate::reflect::{Container, Engines, Kind};

/// The instructions of an engine: `N` of them, found through `L` entries.
#[derive(Debug)]
pub struct OpcodeTable<const N: usize, const L: usize> {
    instructions: &'static [&'static Container; N],
    rows: [Row; 256],
    entries: [u16; L],
    patterns: [Pattern; N],
}

/// The entries for one value of bits 31:24 of a header: the index of the first entry, and the
/// position of the bits that select one of the entries.
#[derive(Debug, Clone, Copy)]
struct Row {
    first: u16,
    shift: u8,
    mask: u8,
}

/// Marks a table entry that has no instruction.
const NONE: u16 = u16::MAX;

/// The data of an instruction that is needed to check its header and to compute the packet's
/// length.
#[derive(Debug, Clone, Copy)]
struct Pattern {
    position: u32,
    mask: u32,
    opcode: u32,
    length_shift: u32,
    length_mask: u32,
    bias: u32,
    min: u32,
    max: u32,
}

impl Pattern {
    const NONE: Pattern = Pattern {
        position: 0,
        mask: 0,
        opcode: 0,
        length_shift: 0,
        length_mask: 0,
        bias: 1,
        min: 1,
        max: 1,
    };
}

/// An instruction found by its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Position in the engine's list of instructions.
    pub position: usize,
    /// Length of the packet in dwords, from its header; at least 1.
    pub length: usize,
    /// The least and greatest lengths that the instruction can have.
    pub lengths: (usize, usize),
}

impl<const N: usize, const L: usize> OpcodeTable<N, L> {
    /// The table of `instructions`; `L` must be the result of [`entries`] for them. Of two
    /// instructions with the same opcode the first is found.
    pub const fn new(instructions: &'static [&'static Container; N]) -> Self {
        let mut rows = rows(instructions);
        let mut first = 0;
        let mut top = 0;
        while top < 256 {
            if rows[top].first != NONE {
                rows[top].first = first;
                first += rows[top].mask as u16 + 1;
            } else {
                rows[top].first = 0;
            }
            top += 1;
        }
        let mut table =
            OpcodeTable { instructions, rows, entries: [NONE; L], patterns: [Pattern::NONE; N] };
        let mut patterns = [Pattern::NONE; N];
        let mut position = 0;
        while position < N {
            patterns[position] =
                Pattern { position: position as u32, ..pattern(instructions[position]) };
            position += 1;
        }
        // Sort by number of opcode bits, most first: a header that does not match a specific
        // instruction may match one with fewer opcode bits.
        let (mut ones, mut at) = (32, 0);
        loop {
            let mut position = 0;
            while position < N {
                if patterns[position].mask.count_ones() == ones {
                    table.patterns[at] = patterns[position];
                    at += 1;
                }
                position += 1;
            }
            if ones == 0 {
                break;
            }
            ones -= 1;
        }
        // Enter the least specific instruction first: more specific ones overwrite its entries.
        while at > 0 {
            at -= 1;
            let pattern = table.patterns[at];
            table.enter(at as u16, &pattern);
        }
        table
    }

    /// Writes `index` to the entries of all headers that agree with the pattern's opcode.
    const fn enter(&mut self, index: u16, pattern: &Pattern) {
        let (free, mut top) = ((!pattern.mask >> 24) as u8, 0u8);
        loop {
            let row = self.rows[((pattern.opcode >> 24) as u8 | top) as usize];
            let value = (pattern.opcode >> row.shift) as u8 & row.mask;
            let low = !(pattern.mask >> row.shift) as u8 & row.mask;
            let mut below = 0u8;
            loop {
                self.entries[row.first as usize + (value | below) as usize] = index;
                below = below.wrapping_sub(low) & low;
                if below == 0 {
                    break;
                }
            }
            top = top.wrapping_sub(free) & free;
            if top == 0 {
                break;
            }
        }
    }

    /// The instructions.
    pub const fn instructions(&self) -> &'static [&'static Container; N] {
        self.instructions
    }

    /// The instruction that starts with `header`, and its length; `None` if no opcode matches.
    #[inline(always)]
    pub fn find(&self, header: u32) -> Option<Found> {
        let row = self.rows[(header >> 24) as usize];
        let entry = row.first as usize + ((header >> row.shift) as u8 & row.mask) as usize;
        let mut index = usize::from(*self.entries.get(entry)?);
        loop {
            let pattern = self.patterns.get(index)?;
            if header & pattern.mask == pattern.opcode {
                let length = (header >> pattern.length_shift & pattern.length_mask)
                    .wrapping_add(pattern.bias);
                let length = if length == 0 { 1 } else { length as usize };
                let position = pattern.position as usize;
                return Some(Found {
                    position,
                    length,
                    lengths: (pattern.min as usize, pattern.max as usize),
                });
            }
            // Reached only if opcodes have bits below 16: a less specific instruction may still
            // match.
            index += 1;
        }
    }
}

/// Number of entries of an [`OpcodeTable`] of `instructions`.
pub const fn entries(instructions: &[&Container]) -> usize {
    let rows = rows(instructions);
    let (mut count, mut top) = (0, 0);
    while top < 256 {
        if rows[top].first != NONE {
            count += rows[top].mask as usize + 1;
        }
        top += 1;
    }
    // At least one: rows without instructions point to the first entry.
    if count == 0 { 1 } else { count }
}

/// For each value of bits 31:24, the bits among 23:16 that distinguish its instructions. `first` is
/// [`NONE`] if there are no instructions; otherwise its value has no meaning yet.
const fn rows(instructions: &[&Container]) -> [Row; 256] {
    let mut masks = [0u8; 256];
    let mut rows = [Row { first: NONE, shift: 16, mask: 0 }; 256];
    let mut position = 0;
    while position < instructions.len() {
        let pattern = pattern(instructions[position]);
        let (free, mut top) = ((!pattern.mask >> 24) as u8, 0u8);
        loop {
            let at = ((pattern.opcode >> 24) as u8 | top) as usize;
            rows[at].first = 0;
            masks[at] |= (pattern.mask >> 16) as u8;
            top = top.wrapping_sub(free) & free;
            if top == 0 {
                break;
            }
        }
        position += 1;
    }
    let mut top = 0;
    while top < 256 {
        if masks[top] != 0 {
            let shift = masks[top].trailing_zeros();
            rows[top].shift = 16 + shift as u8;
            rows[top].mask = (0xffu8 >> masks[top].leading_zeros()) >> shift;
        }
        top += 1;
    }
    rows
}

const fn pattern(info: &Container) -> Pattern {
    let Kind::Instruction { bias, opcode_mask, opcode, length_field, variable, .. } = info.kind
    else {
        panic!("a table of opcodes holds a container that is not an instruction");
    };
    let whole = info.dwords() as u32;
    let mut pattern = Pattern {
        position: 0,
        mask: opcode_mask,
        opcode: opcode & opcode_mask,
        length_shift: 0,
        length_mask: 0,
        bias: whole,
        min: whole,
        max: whole,
    };
    if let Some((start, end)) = length_field {
        pattern.length_shift = start;
        pattern.length_mask = ones(end - start + 1) as u32;
        pattern.bias = bias;
        // If the length field has a range, trailing dwords that it leaves out read as zero.
        let mut index = 0;
        while index < info.fields.len() && info.fields[index].start <= start {
            let field = &info.fields[index];
            if field.start == start
                && field.end == end
                && let Some((min, max)) = field.range
            {
                pattern.min = min as u32 + bias;
                pattern.max = if max as u32 + bias > whole { max as u32 + bias } else { whole };
            }
            index += 1;
        }
    }
    if variable || info.partial {
        (pattern.min, pattern.max) = (0, u32::MAX);
    }
    pattern
}

/// Length in dwords of a packet that is in no table, by the rules of its command type. MI opcodes
/// below 0x10 and single-dword render commands have no length field. The length field of media
/// commands has 16 bits on the render engine and 12 bits on other engines; that of other commands
/// has 8 bits. Headers of other types count as one dword. Facts: Mesa's batch decoder, i915's
/// command parser.
pub const fn unknown_length(engines: Engines, header: u32) -> usize {
    let dwords = [header];
    let length = match (get(&dwords, 29, 31), get(&dwords, 27, 28)) {
        (0, _) if get(&dwords, 23, 28) < 0x10 => 1,
        (0 | 2, _) => get(&dwords, 0, 7) + 2,
        (3, 1) => 1,
        (3, 2) if engines.intersects(Engines::RENDER) => get(&dwords, 0, 15) + 2,
        (3, 2) => get(&dwords, 0, 11) + 2,
        (3, _) => get(&dwords, 0, 7) + 2,
        _ => 1,
    };
    length as usize
}

/// The error for a packet of an illegal length, or one that is cut short.
#[cold]
#[inline(never)]
pub fn length_error(info: &'static Container, found: Found, available: usize) -> ParseError {
    let (min, max) = found.lengths;
    if found.length >= min && found.length <= max {
        let (container, needed) = (info.name, found.length);
        return ParseError::Unpack(UnpackError::Truncated { container, needed, available });
    }
    let (bias, start, end) = match info.kind {
        Kind::Instruction { bias, length_field: Some((start, end)), .. } => {
            (bias as usize, start, end)
        }
        _ => (0, 0, 0),
    };
    let field = info.fields.iter().find(|field| (field.start, field.end) == (start, end));
    let nearest = if found.length < min { min } else { max };
    ParseError::Unpack(UnpackError::Fixed {
        container: info.name,
        field: field.map_or("DWord Length", |field| field.name),
        start,
        expected: nearest.saturating_sub(bias) as u64,
        found: found.length.saturating_sub(bias) as u64,
    })
}
