//! Compressed instructions: splits one into its two halves, and joins two halves into one uop.

use crate::assumptions::PACKED_BYTES_MOVE_LIKE_WORDS;
use crate::eu::regions::{GRF_BYTES, REGISTER};
use crate::eu::uop::{
    Condition, Dst, ExecType, MAX_CHANNELS, Op, Opcode, PredicateControl, Shape, Src, Target, Uop,
    shape,
};
use genxml_eu::instruction::{
    Compression, Destination, Instruction, Operand, Register, Source, Vertical,
};
use genxml_eu::ops::Traits;

/// The two instructions of a compressed instruction (003:8741-8829).
pub fn of(i: &Instruction) -> [Instruction; 2] {
    let mut first = *i;
    first.exec_size = (i.exec_size / 2).max(1);
    first.gen4.compression = Compression::None;
    let mut second = first;
    // With 32 channels, both halves use the same flags and masks.
    second.channel_offset = if i.exec_size < 32 { 8 } else { 0 };
    second.breakpoint = false;
    for (n, operand) in second.sources.iter_mut().enumerate() {
        if let Operand::Register(source) = operand {
            next_source(i, n, source);
        }
    }
    if let Some(Destination { register, .. }) = &mut second.destination {
        *register = match *register {
            Register::Mrf { number, byte } if i.gen4.compression == Compression::Compr4 => {
                Register::Mrf { number: number.wrapping_add(4), byte }
            }
            Register::Mrf { number, byte } => {
                Register::Mrf { number: number.wrapping_add(1), byte }
            }
            register => next(register),
        };
    }
    [first, second]
}

/// The register of the second half: bit 0 of its number is set. For an indirect register, bit 0 of
/// the number of its address subregister is set.
fn next(register: Register) -> Register {
    match register {
        Register::Grf { number, byte } => Register::Grf { number: number | 1, byte },
        Register::Arf { file, number, byte } => Register::Arf { file, number: number | 1, byte },
        Register::Indirect { address, offset } => {
            Register::Indirect { address: address | 1, offset }
        }
        register => register,
    }
}

/// Makes a source the source of the second half.
fn next_source(i: &Instruction, index: usize, source: &mut Source) {
    let scalar = source.region.horizontal == 0 && source.region.vertical == Vertical::Stride(0);
    if scalar || source.register.is_null() {
        return;
    }
    let dwords = i.destination.is_some_and(|it| it.ty.size() == 4 && it.stride == 1);
    let packed = match (source.ty.size(), source.region.horizontal) {
        (2, 1) => true,
        (1, 2) => PACKED_BYTES_MOVE_LIKE_WORDS,
        _ => false,
    };
    source.register = match source.register {
        // Each half of `pln` reads two registers from source 1, so the second half is two registers
        // further.
        Register::Grf { number, byte } if i.opcode == Opcode::Pln && index == 1 => {
            Register::Grf { number: number.wrapping_add(2), byte }
        }
        Register::Grf { number, byte } if i.exec_size == 16 && dwords && packed => {
            Register::Grf { number, byte: byte | 16 }
        }
        register => next(register),
    };
}

/// One uop for both halves; `None` if the second half may read what the first one writes, or if
/// their operands do not follow each other.
pub fn join(first: &Uop, second: &Uop) -> Option<Uop> {
    let Op::Isa(opcode) = first.op else { return None };
    let wide =
        matches!(first.predicate, Some(PredicateControl::Any(9..) | PredicateControl::All(9..)));
    let accumulates = first.acc_write || opcode.op().traits.contains(Traits::WRITES_ACCUMULATOR);
    if second.op != first.op
        || first.size != 8
        || (second.first, second.flag) != (first.first + 8, first.flag + 8)
        || first.condition.is_some() && wide
        || accumulates && first.exec == ExecType::Word
        || first.volatile
        || first.dst.control
        || opcode == Opcode::Movi
        || first.condition == Some(Condition::Round)
    {
        return None;
    }
    let target = join_targets(&first.dst, &second.dst)?;
    let mut both = Uop {
        size: 16,
        lanes: first.lanes | second.lanes << 8,
        dst: Dst { target, ..first.dst.clone() },
        ..first.clone()
    };
    for (n, src) in both.src.iter_mut().enumerate() {
        src.shape = if opcode == Opcode::Pln && n == 1 {
            let (Shape::Contiguous(a), Shape::Contiguous(b)) =
                (&first.src[1].shape, &second.src[1].shape)
            else {
                return None;
            };
            if usize::from(*b) != usize::from(*a) + 2 * REGISTER {
                return None;
            }
            Shape::Contiguous(*a)
        } else {
            join_shapes(&first.src[n], &second.src[n])?
        };
        if overwritten(first, second, n, opcode) {
            return None;
        }
    }
    Some(both)
}

fn join_targets(first: &Dst, second: &Dst) -> Option<Target> {
    match (&first.target, &second.target) {
        (Target::Null, Target::Null) => Some(Target::Null),
        (&Target::File { offset, stride }, &Target::File { offset: next, .. })
            if usize::from(next) == usize::from(offset) + 8 * usize::from(stride) =>
        {
            Some(Target::File { offset, stride })
        }
        (Target::Accumulator(a), Target::Accumulator(b)) => {
            Some(Target::Accumulator(Box::new(follow(a, b))))
        }
        _ => None,
    }
}

/// The first eight entries of both tables.
fn follow(a: &[u16; MAX_CHANNELS], b: &[u16; MAX_CHANNELS]) -> [u16; MAX_CHANNELS] {
    std::array::from_fn(|c| if c < 8 { a[c] } else { b[c % 8] })
}

/// Byte offsets of the eight elements of a shape in the general registers.
fn offsets(src: &Src) -> Option<[u16; MAX_CHANNELS]> {
    let size = src.ty.size() as u16;
    let table = match &src.shape {
        Shape::Scalar(offset) => [*offset; MAX_CHANNELS],
        Shape::Contiguous(offset) => std::array::from_fn(|c| offset + (c % 8) as u16 * size),
        Shape::Table(table) => **table,
        _ => return None,
    };
    table[..8].iter().all(|at| usize::from(*at) < GRF_BYTES).then_some(table)
}

fn join_shapes(first: &Src, second: &Src) -> Option<Shape> {
    match (&first.shape, &second.shape) {
        (Shape::Immediate(a), Shape::Immediate(b)) if a == b => Some(Shape::Immediate(*a)),
        (Shape::Vector(a), Shape::Vector(b)) => Some(Shape::Vector(
            (0..16).map(|c| if c < 8 { a[c % a.len()] } else { b[c % 8 % b.len()] }).collect(),
        )),
        (Shape::Accumulator(a), Shape::Accumulator(b)) => {
            Some(Shape::Accumulator(Box::new(follow(a, b))))
        }
        _ => Some(shape(follow(&offsets(first)?, &offsets(second)?), 16, first.ty.size())),
    }
}

/// True if source `n` of the second half may contain what the first half writes.
fn overwritten(first: &Uop, second: &Uop, n: usize, opcode: Opcode) -> bool {
    let (Target::File { offset, stride }, Some(read)) =
        (&first.dst.target, offsets(&second.src[n]))
    else {
        return false;
    };
    let from = usize::from(*offset);
    let to = from + 7 * usize::from(*stride) + first.dst.ty.size();
    let size = second.src[n].ty.size();
    // `line` and `pln` read more than their first source names, and `pln` more than its second.
    let (before, after) = match (opcode, n) {
        (Opcode::Line | Opcode::Pln, 0) => (12, 16),
        (Opcode::Pln, 1) => (0, REGISTER + size),
        _ => (0, size),
    };
    read[..8].iter().any(|at| {
        let at = usize::from(*at);
        at.saturating_sub(before) < to && from < at + after
    })
}
