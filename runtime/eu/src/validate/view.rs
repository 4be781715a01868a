//! An instruction with derived properties that many rules need.

use super::place::Place;
use crate::instruction::*;
use crate::ops::{Format, Op, Opcode};

/// Size of a register in bytes.
pub const REGISTER: u32 = 32;

/// An instruction that is checked.
pub struct View<'a> {
    /// The instruction.
    pub i: &'a Instruction,
    /// The row of the instruction's operation in the table of operations.
    pub op: &'static Op,
    /// The execution type.
    pub execution: Option<DataType>,
}

/// Offsets of the elements of an operand, in bytes from the start of its register.
#[derive(Clone, Copy)]
pub struct Elements {
    first: [u32; 32],
    count: usize,
    size: u32,
}

impl Elements {
    /// Offset of each channel's element.
    pub fn offsets(&self) -> &[u32] {
        &self.first[..self.count]
    }

    /// Offset of the last byte of all elements.
    pub fn last(&self) -> u32 {
        self.offsets().iter().max().map_or(0, |first| first + self.size - 1)
    }

    /// Number of registers up to the last byte, counted from the register that the operand names.
    pub fn registers(&self) -> u32 {
        self.last() / REGISTER + 1
    }

    /// Number of registers, among the first two, that contain an element. The register that the
    /// operand names may contain none.
    pub fn touched(&self) -> u32 {
        let low = self.offsets().iter().any(|first| *first < REGISTER);
        let high = self.offsets().iter().any(|first| first + self.size > REGISTER);
        u32::from(low) + u32::from(high)
    }
}

impl<'a> View<'a> {
    pub fn new(i: &'a Instruction) -> View<'a> {
        View { i, op: i.opcode.op(), execution: execution_type(i) }
    }

    /// True if the instruction computes with regions: the basic format, or math.
    pub fn computes(&self) -> bool {
        matches!(self.op.format, Format::Basic | Format::Math)
    }

    pub fn align1(&self) -> bool {
        self.i.access_mode == AccessMode::Align1
    }

    pub fn is(&self, opcode: Opcode) -> bool {
        self.i.opcode == opcode
    }

    /// The register sources, with their numbers.
    pub fn registers(&self) -> impl Iterator<Item = (Place, &'a Source)> + use<'a> {
        self.i.sources.iter().enumerate().filter_map(|(number, operand)| match operand {
            Operand::Register(source) => Some((Place::Source(number as u8), source)),
            _ => None,
        })
    }

    /// The immediate, with the number of its source.
    pub fn immediate(&self) -> Option<(Place, &'a Immediate)> {
        self.i.sources.iter().enumerate().find_map(|(number, operand)| match operand {
            Operand::Immediate(immediate) => Some((Place::Source(number as u8), immediate)),
            _ => None,
        })
    }

    /// The destination; `None` if it is the null register.
    pub fn written(&self) -> Option<&'a Destination> {
        self.i.destination.as_ref().filter(|destination| !destination.register.is_null())
    }

    /// The types of the sources.
    pub fn source_types(&self) -> impl Iterator<Item = DataType> + Clone + use<'a> {
        self.i.sources.iter().filter_map(type_of)
    }

    /// The sources that are accumulators.
    pub fn accumulator_sources(&self) -> impl Iterator<Item = (Place, &'a Source)> + use<'a> {
        self.registers().filter(|(_, source)| is_accumulator(&source.register))
    }

    /// True if an accumulator is read, explicitly or implicitly.
    pub fn reads_accumulator(&self) -> bool {
        self.op.traits.contains(crate::ops::Traits::READS_ACCUMULATOR)
            || self.accumulator_sources().next().is_some()
    }

    /// True if the destination is an accumulator.
    pub fn writes_accumulator(&self) -> bool {
        self.i.destination.is_some_and(|destination| is_accumulator(&destination.register))
    }

    /// True for a move that preserves the bits: no conversion except of signedness, no modifier, no
    /// saturation.
    pub fn raw_move(&self) -> bool {
        let same = |ty: DataType, to: DataType| {
            ty == to
                || (!ty.is_float()
                    && !to.is_float()
                    && ty.size() == to.size()
                    && ty == ty.element())
        };
        let Some(destination) = self.i.destination else { return false };
        self.is(Opcode::Mov)
            && !self.i.saturate
            && match self.i.sources[0] {
                Operand::Register(s) => !s.negate && !s.absolute && same(s.ty, destination.ty),
                Operand::Immediate(s) => same(s.ty, destination.ty),
                Operand::None => false,
            }
    }

    /// True if half and single floats are mixed, as in a `mov` between them.
    pub fn mixed_float(&self) -> bool {
        let types = self.source_types().chain(self.i.destination.map(|destination| destination.ty));
        let has = |wanted| types.clone().any(|ty| ty.element() == wanted);
        self.computes() && has(DataType::Hf) && has(DataType::F)
    }

    /// The elements of the destination, if it is addressed directly.
    pub fn written_elements(&self) -> Option<Elements> {
        let destination = self.written()?;
        let byte = direct_byte(&destination.register)?;
        let size = u32::from(destination.ty.size());
        let mut elements = Elements { first: [0; 32], count: self.channels(), size };
        for (channel, first) in elements.first.iter_mut().enumerate().take(elements.count) {
            *first = byte + channel as u32 * u32::from(destination.stride) * size;
        }
        Some(elements)
    }

    /// The elements of a source in Align1, if it is addressed directly and has a vertical stride.
    pub fn read_elements(&self, source: &Source) -> Option<Elements> {
        let byte = direct_byte(&source.register)?;
        let Vertical::Stride(vertical) = source.region.vertical else { return None };
        let size = u32::from(source.ty.size());
        let width = usize::from(source.region.width.max(1));
        let mut elements = Elements { first: [0; 32], count: self.channels(), size };
        for (channel, first) in elements.first.iter_mut().enumerate().take(elements.count) {
            let row = (channel / width) as u32 * u32::from(vertical);
            let column = (channel % width) as u32 * u32::from(source.region.horizontal);
            *first = byte + (row + column) * size;
        }
        Some(elements)
    }

    fn channels(&self) -> usize {
        usize::from(self.i.exec_size.clamp(1, 32))
    }
}

/// The type of an operand.
pub fn type_of(operand: &Operand) -> Option<DataType> {
    match operand {
        Operand::Register(source) => Some(source.ty),
        Operand::Immediate(immediate) => Some(immediate.ty),
        Operand::None => None,
    }
}

pub fn is_accumulator(register: &Register) -> bool {
    matches!(register, Register::Arf { file: Arf::Accumulator, .. })
}

/// Byte offset in the register; `None` for indirect addressing.
pub fn direct_byte(register: &Register) -> Option<u32> {
    match *register {
        Register::Grf { byte, .. } | Register::Arf { byte, .. } | Register::Mrf { byte, .. } => {
            Some(byte.into())
        }
        Register::Indirect { .. } => None,
    }
}

/// True if all channels read one element.
pub fn is_scalar(region: &Region) -> bool {
    *region == Region::SCALAR
}

/// The type in which an operand executes: bytes and words as words, all integers as signed.
fn channel_type(ty: DataType) -> DataType {
    match ty.element() {
        float @ (DataType::Hf | DataType::F | DataType::Df) => float,
        DataType::Q | DataType::Uq => DataType::Q,
        DataType::D | DataType::Ud => DataType::D,
        _ => DataType::W,
    }
}

/// The execution type of an instruction with one or two sources: the widest source type, or single
/// float if half and single floats are mixed. A half float that is converted executes in the
/// destination type (G45 vol 4 11.3.3; Gen8: Mesa).
fn execution_type(i: &Instruction) -> Option<DataType> {
    let destination = i.destination?.ty;
    let mut types = i.sources.iter().filter_map(type_of).map(channel_type);
    let first = types.next()?;
    let Some(second) = types.next() else {
        return Some(if first == DataType::Hf { destination } else { first });
    };
    let has = |wanted| first == wanted || second == wanted;
    let half = has(DataType::Hf) || destination == DataType::Hf;
    if half && (has(DataType::F) || destination == DataType::F) {
        return Some(DataType::F);
    }
    let order = [DataType::Q, DataType::Df, DataType::F, DataType::D, DataType::Hf];
    Some(order.into_iter().find(|ty| has(*ty)).unwrap_or(DataType::W))
}
