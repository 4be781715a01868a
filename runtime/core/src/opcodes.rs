//! From the first dword of a packet to its instruction and length, in constant time.
//!
//! [`OpcodeTable`] is built from an engine's containers when the program is compiled. Bits 31:24 of
//! a header give a row, further bits down to 16 an entry of it, which names the most specific
//! instruction that agrees; its whole opcode is compared then. Nothing but loads and one
//! well-predicted branch stands between a header and the next one.

use crate::bits::{get, ones};
use crate::packet::{ParseError, UnpackError};
use crate::reflect::{Container, Engines, Kind};

/// The instructions of an engine: `N` of them, found through `L` entries.
#[derive(Debug)]
pub struct OpcodeTable<const N: usize, const L: usize> {
    instructions: &'static [&'static Container; N],
    rows: [Row; 256],
    entries: [u16; L],
    shapes: [Shape; N],
}

/// Where the entries of one value of bits 31:24 are, and which further bits tell them apart.
#[derive(Debug, Clone, Copy)]
struct Row {
    first: u16,
    shift: u8,
    mask: u8,
}

/// No instruction.
const NONE: u16 = u16::MAX;

/// What is needed of an instruction to check its header and to find the end of its packet.
#[derive(Debug, Clone, Copy)]
struct Shape {
    position: u32,
    mask: u32,
    opcode: u32,
    length_shift: u32,
    length_mask: u32,
    bias: u32,
    min: u32,
    max: u32,
}

impl Shape {
    const NONE: Shape = Shape {
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
    /// Length of the packet in dwords, by its header; at least 1.
    pub length: usize,
    /// The least and greatest lengths that the instruction can have.
    pub lengths: (usize, usize),
}

impl<const N: usize, const L: usize> OpcodeTable<N, L> {
    /// The table of `instructions`; `L` is what [`entries`] says of them. Of two with the same
    /// opcode the first counts.
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
            OpcodeTable { instructions, rows, entries: [NONE; L], shapes: [Shape::NONE; N] };
        let mut shapes = [Shape::NONE; N];
        let mut position = 0;
        while position < N {
            shapes[position] = Shape { position: position as u32, ..shape(instructions[position]) };
            position += 1;
        }
        // Those with the most opcode bits first: what they do not match may still match one with
        // fewer.
        let (mut ones, mut at) = (32, 0);
        loop {
            let mut position = 0;
            while position < N {
                if shapes[position].mask.count_ones() == ones {
                    table.shapes[at] = shapes[position];
                    at += 1;
                }
                position += 1;
            }
            if ones == 0 {
                break;
            }
            ones -= 1;
        }
        // From the least specific on, so that the most specific stays.
        while at > 0 {
            at -= 1;
            let shape = table.shapes[at];
            table.enter(at as u16, &shape);
        }
        table
    }

    /// Writes `index` of a shape to all entries of headers that agree with the opcode.
    const fn enter(&mut self, index: u16, shape: &Shape) {
        let (free, mut top) = ((!shape.mask >> 24) as u8, 0u8);
        loop {
            let row = self.rows[((shape.opcode >> 24) as u8 | top) as usize];
            let value = (shape.opcode >> row.shift) as u8 & row.mask;
            let low = !(shape.mask >> row.shift) as u8 & row.mask;
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

    /// The instruction that starts with `header`, and its length.
    #[inline(always)]
    pub fn find(&self, header: u32) -> Option<Found> {
        let row = self.rows[(header >> 24) as usize];
        let entry = row.first as usize + ((header >> row.shift) as u8 & row.mask) as usize;
        let mut index = usize::from(*self.entries.get(entry)?);
        loop {
            let shape = self.shapes.get(index)?;
            if header & shape.mask == shape.opcode {
                let length =
                    (header >> shape.length_shift & shape.length_mask).wrapping_add(shape.bias);
                let length = if length == 0 { 1 } else { length as usize };
                let position = shape.position as usize;
                return Some(Found {
                    position,
                    length,
                    lengths: (shape.min as usize, shape.max as usize),
                });
            }
            // Only where opcodes have bits below 16: a less specific one may still agree.
            index += 1;
        }
    }
}

/// Entries that an [`OpcodeTable`] of `instructions` has.
pub const fn entries(instructions: &[&Container]) -> usize {
    let rows = rows(instructions);
    let (mut count, mut top) = (0, 0);
    while top < 256 {
        if rows[top].first != NONE {
            count += rows[top].mask as usize + 1;
        }
        top += 1;
    }
    // One more where there is nothing: rows without instructions point to the first.
    if count == 0 { 1 } else { count }
}

/// Which bits of 23:16 tell the instructions apart whose bits 31:24 agree. `first` only says
/// whether there are any.
const fn rows(instructions: &[&Container]) -> [Row; 256] {
    let mut masks = [0u8; 256];
    let mut rows = [Row { first: NONE, shift: 16, mask: 0 }; 256];
    let mut position = 0;
    while position < instructions.len() {
        let shape = shape(instructions[position]);
        let (free, mut top) = ((!shape.mask >> 24) as u8, 0u8);
        loop {
            let at = ((shape.opcode >> 24) as u8 | top) as usize;
            rows[at].first = 0;
            masks[at] |= (shape.mask >> 16) as u8;
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

const fn shape(info: &Container) -> Shape {
    let Kind::Instruction { bias, opcode_mask, opcode, length_field, variable, .. } = info.kind
    else {
        panic!("a table of opcodes holds a container that is not an instruction");
    };
    let whole = info.dwords() as u32;
    let mut shape = Shape {
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
        shape.length_shift = start;
        shape.length_mask = ones(end - start + 1) as u32;
        shape.bias = bias;
        // What a field with a range leaves out at the packet's end reads as zero.
        let mut index = 0;
        while index < info.fields.len() && info.fields[index].start <= start {
            let field = &info.fields[index];
            if field.start == start
                && field.end == end
                && let Some((min, max)) = field.range
            {
                shape.min = min as u32 + bias;
                shape.max = if max as u32 + bias > whole { max as u32 + bias } else { whole };
            }
            index += 1;
        }
    }
    if variable || info.partial {
        (shape.min, shape.max) = (0, u32::MAX);
    }
    shape
}

/// Length in dwords of a packet that no table knows, by the rules of its kind (MI opcodes below
/// 0x10 and single-dword render commands have no length field; media commands have a longer one, of
/// the render engine longer still). Facts: Mesa's batch decoder, i915's command parser.
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

/// Refuses a packet of an illegal length, or one that is cut short: the reason for it.
#[cold]
#[inline(never)]
pub fn refuse(info: &'static Container, found: Found, available: usize) -> ParseError {
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
