//! Which short cut an instruction takes and what it needs for it, decided once, when the
//! instruction is decoded.

use super::Operation;
use crate::assumptions::MATH_KEEPS_SUBNORMALS_BY_MODE;
use crate::eu::regions::{FILE_BYTES, GRF_BYTES, NULL};
use crate::eu::uop::{
    Condition, ExecType, Indirect, Math, Op, Predicate, Shape, Src, Target, Type, Uop,
};

/// How the elements of an operand lie, and what they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Form {
    /// One element for all channels.
    Dword,
    Word,
    SignedWord,
    Byte,
    SignedByte,
    /// One after the other.
    Dwords,
    Words,
    SignedWords,
    Bytes,
    SignedBytes,
    /// Every second element.
    DwordsBy2,
    WordsBy2,
    SignedWordsBy2,
    BytesBy2,
    SignedBytesBy2,
    /// Every fourth element.
    DwordsBy4,
    WordsBy4,
    SignedWordsBy4,
    BytesBy4,
    SignedBytesBy4,
    /// By the table of the uop.
    DwordsAt,
    WordsAt,
    SignedWordsAt,
    BytesAt,
    SignedBytesAt,
    /// No operand.
    Nothing,
    /// Any other distance between channels (destinations).
    Other,
}

/// How far apart the elements of neighbouring channels are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Same,
    Next,
    By2,
    By4,
    Table,
}

impl Form {
    /// The form of elements of an integer type or F.
    fn of(ty: Type, spacing: Spacing) -> Option<Form> {
        use Form::*;
        let forms = match ty {
            Type::D | Type::Ud | Type::F => [Dword, Dwords, DwordsBy2, DwordsBy4, DwordsAt],
            Type::Uw => [Word, Words, WordsBy2, WordsBy4, WordsAt],
            Type::W => [SignedWord, SignedWords, SignedWordsBy2, SignedWordsBy4, SignedWordsAt],
            Type::Ub => [Byte, Bytes, BytesBy2, BytesBy4, BytesAt],
            Type::B => [SignedByte, SignedBytes, SignedBytesBy2, SignedBytesBy4, SignedBytesAt],
            Type::Uq | Type::Q | Type::Hf | Type::Df => return None,
        };
        Some(forms[spacing as usize])
    }
}

/// Stands for "not through an address register" in [`Place::address`].
pub const DIRECT: u8 = u8::MAX;

/// Where an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its elements.
    pub form: Form,
    /// Subregister of `a0` to which `offset` is added, or [`DIRECT`].
    pub address: u8,
    /// First byte in the file.
    pub offset: i16,
    /// Bytes that an access may touch from the first byte on.
    pub extent: u16,
}

impl Place {
    const NOTHING: Place = Place { form: Form::Nothing, address: DIRECT, offset: 0, extent: 0 };
}

/// A source: where it is, and what happens to its bits on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Where it is. Constants are zeros of the null register, with all of their bits flipped in.
    pub place: Place,
    /// Which source of the uop it is: comparisons may have them in the other order.
    pub source: u8,
    /// Bits that are inverted: all for the negative or the complement of an integer, the sign for
    /// the negative of a float.
    pub flip: u32,
    /// Integers: what is added after that, one for the negative. Floats: bits that are kept before
    /// that, all but the sign for the absolute value.
    pub second: u32,
}

/// How results are brought into the range of the destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clamp {
    /// Low bits.
    None,
    /// They are signed numbers.
    Signed,
    /// They are unsigned numbers.
    Unsigned,
}

/// The short cut of an instruction, with its operands: a cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub struct Plan {
    /// What to do; [`Operation::None`] for the general path.
    pub operation: Operation,
    /// Logarithm of the number of channels.
    pub size: u8,
    /// There is more to do with results than to store them: saturation, flags.
    pub more: bool,
    /// Comparisons: the flag is the opposite of what is found.
    pub opposite: bool,
    /// Saturation of integers.
    pub clamp: Clamp,
    /// What a condition sees the results as.
    pub seen: Type,
    /// Destination.
    pub dst: Place,
    /// Sources.
    pub src: [Operand; 3],
}

impl Plan {
    /// The general path.
    pub const NONE: Plan = Plan {
        operation: Operation::None,
        size: 0,
        more: false,
        opposite: false,
        clamp: Clamp::None,
        seen: Type::D,
        dst: Place::NOTHING,
        src: [Operand { place: Place::NOTHING, source: 0, flip: 0, second: 0 }; 3],
    };

    /// The short cut of a decoded instruction.
    pub fn of(u: &Uop) -> Plan {
        plan(u).unwrap_or(Plan::NONE)
    }
}

fn plan(u: &Uop) -> Option<Plan> {
    let count = match u.op {
        Op::Mov | Op::Not | Op::Frc | Op::Rndd | Op::Rndu | Op::Rnde | Op::Rndz => 1,
        Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Asr => 2,
        Op::Avg | Op::Sel | Op::Cmp | Op::Line | Op::Pln => 2,
        Op::Mad => 3,
        Op::Math(Math::Fdiv | Math::Pow) => 2,
        Op::Math(_) => 1,
        _ => return None,
    };
    if u.volatile
        || u.acc_write
        || u.dst.control
        || matches!(u.condition, Condition::O | Condition::U)
    {
        return None;
    }
    let dst = destination(u)?;
    let mut plan = Plan {
        size: u.size.trailing_zeros() as u8,
        more: u.saturate || u.condition != Condition::None && u.op != Op::Cmp,
        dst,
        seen: u.dst.ty,
        ..Plan::NONE
    };
    let sources = &u.src[..count];
    if matches!(u.op, Op::Line | Op::Pln) && !is_plane(sources, usize::from(u.size)) {
        return None;
    }
    if sources.iter().all(|src| src.ty == Type::F) {
        floats(u, sources, &mut plan)?;
    } else if matches!(u.exec, ExecType::Word | ExecType::Dword) {
        ints(u, sources, &mut plan)?;
    }
    (plan.operation != Operation::None).then_some(plan)
}

/// True if a plane's coefficients are four numbers in registers, and its coordinates whole
/// registers of the file.
fn is_plane(sources: &[Src], n: usize) -> bool {
    let coordinates = |offset: u16| usize::from(offset) + 8 * n.max(8) <= GRF_BYTES;
    matches!(
        (&sources[0].shape, &sources[1].shape),
        (Shape::Scalar(tuple), Shape::Contiguous(offset)) if usize::from(*tuple) < GRF_BYTES && coordinates(*offset)
    )
}

// ---- places ----

fn destination(u: &Uop) -> Option<Place> {
    let n = usize::from(u.size);
    // Conditions see results in this type even if they go nowhere.
    Form::of(u.dst.ty, Spacing::Next)?;
    let (address, offset, stride) = match u.dst.target {
        Target::Null => return Some(Place::NOTHING),
        Target::File { offset, stride } => (DIRECT, offset as i16, usize::from(stride)),
        Target::Indirect { address, immediate, stride } => {
            (address, immediate, usize::from(stride))
        }
        Target::Table(_) | Target::Accumulator(_) | Target::Ip => return None,
    };
    let size = u.dst.ty.size();
    let spacing = match stride / size {
        _ if n == 1 => Spacing::Next,
        1 => Spacing::Next,
        2 => Spacing::By2,
        4 if size < 4 => Spacing::By4,
        _ => Spacing::Table,
    };
    let place = place(u.dst.ty, spacing, address, offset, n)?;
    let fits =
        address != DIRECT || usize::from(offset as u16) + usize::from(place.extent) <= FILE_BYTES;
    Some(match spacing {
        Spacing::Next | Spacing::By2 | Spacing::By4 if fits => place,
        _ => Place { form: Form::Other, extent: ((n - 1) * stride + size) as u16, ..place },
    })
}

/// The place of `n` elements; whole words around them may be touched.
fn place(ty: Type, spacing: Spacing, address: u8, offset: i16, n: usize) -> Option<Place> {
    let form = Form::of(ty, spacing)?;
    let extent = match spacing {
        Spacing::Same => ty.size(),
        Spacing::Next => n * ty.size(),
        Spacing::By2 => n * ty.size() * 2,
        Spacing::By4 => n * ty.size() * 4,
        Spacing::Table => 0,
    };
    Some(Place { form, address, offset, extent: extent as u16 })
}

/// How the elements at these bytes are spaced.
fn spacing(offsets: &[u16], size: usize) -> Spacing {
    let by = |step: usize| {
        offsets
            .iter()
            .enumerate()
            .all(|(n, &offset)| usize::from(offset) == usize::from(offsets[0]) + n * step)
    };
    if by(0) {
        Spacing::Same
    } else if by(size) {
        Spacing::Next
    } else if by(2 * size) {
        Spacing::By2
    } else if by(4 * size) {
        Spacing::By4
    } else {
        Spacing::Table
    }
}

fn source(src: &Src, n: usize) -> Option<Place> {
    let size = src.ty.size();
    let direct = |spacing, offset: u16| {
        let place = place(src.ty, spacing, DIRECT, offset as i16, n)?;
        (usize::from(offset) + usize::from(place.extent) <= FILE_BYTES).then_some(place)
    };
    match &src.shape {
        Shape::Scalar(offset) => direct(Spacing::Same, *offset),
        Shape::Contiguous(offset) => direct(Spacing::Next, *offset),
        Shape::Table(table) => match direct(spacing(&table[..n], size), table[0]) {
            None => direct(Spacing::Table, table[0]),
            place => place,
        },
        Shape::Immediate(_) => {
            Some(Place { form: Form::Dword, offset: NULL as i16, ..Place::NOTHING })
        }
        Shape::Indirect(region) => {
            let Indirect { address, immediate, share, lanes } = &**region;
            let spacing = spacing(&lanes[..n], size);
            if usize::from(*share) < n || spacing == Spacing::Table || lanes[0] != 0 {
                // Every channel has an address of its own.
                return place(src.ty, Spacing::Table, DIRECT, 0, n)
                    .filter(|_| share.is_power_of_two());
            }
            place(src.ty, spacing, *address, *immediate, n)
        }
        Shape::Vector(_) => place(src.ty, Spacing::Table, DIRECT, 0, n),
        Shape::Accumulator(_) => None,
    }
}

// ---- operations ----

/// What the lanes of 32 bits say of the numbers in a source, which the manual's arithmetic sees
/// without a limit.
#[derive(Clone, Copy)]
struct Exact {
    /// As signed numbers they are the source's.
    signed: bool,
    /// As unsigned numbers they are.
    unsigned: bool,
}

fn exact(src: &Src) -> Exact {
    match (src.ty, &src.shape) {
        (Type::D | Type::Ud, Shape::Immediate(bits)) if *bits as u32 <= i32::MAX as u32 => {
            Exact { signed: true, unsigned: true }
        }
        (Type::D, _) => Exact { signed: !src.negate, unsigned: false },
        (Type::Ud, _) => Exact { signed: false, unsigned: !src.negate },
        (Type::Uw | Type::Ub, _) => Exact { signed: true, unsigned: !src.negate },
        _ => Exact { signed: true, unsigned: false },
    }
}

fn ints(u: &Uop, sources: &[Src], plan: &mut Plan) -> Option<()> {
    let logic = matches!(u.op, Op::Not | Op::And | Op::Or | Op::Xor);
    for (n, (operand, src)) in plan.src.iter_mut().zip(sources).enumerate() {
        operand.source = n as u8;
        operand.place = source(src, usize::from(u.size))?;
        (operand.flip, operand.second) = match (&src.shape, src.ty) {
            _ if src.abs && !logic => return None,
            (Shape::Immediate(_), _) if !src.plain() => return None,
            (Shape::Immediate(bits), Type::W) => (*bits as i16 as u32, 0),
            (Shape::Immediate(bits), Type::B) => (*bits as i8 as u32, 0),
            (Shape::Immediate(bits), _) => (*bits as u32, 0),
            _ if src.negate && logic => (u32::MAX, 0),
            _ if src.negate => (u32::MAX, 1),
            _ => (0, 0),
        };
    }
    let signed = sources.iter().all(|src| exact(src).signed);
    let unsigned = sources.iter().all(|src| exact(src).unsigned);
    let word = u.exec == ExecType::Word;
    let float = u.dst.ty == Type::F;
    let chosen = u.op == Op::Sel && u.select == Condition::None;
    let (less, more) = (
        matches!(u.select, Condition::L | Condition::Le),
        matches!(u.select, Condition::G | Condition::Ge),
    );
    // The operation, and whether 32 bits are all there is of the result if those of the sources
    // are.
    let (operation, whole) = match u.op {
        Op::Mov if float && signed => (Operation::SignedToFloat, true),
        Op::Mov if float && unsigned => (Operation::UnsignedToFloat, true),
        _ if float && u.op != Op::Cmp => return None,
        Op::Mov => (Operation::Mov, true),
        Op::Not => (Operation::Not, signed),
        Op::And => (Operation::And, true),
        Op::Or => (Operation::Or, true),
        Op::Xor => (Operation::Xor, true),
        Op::Add => (Operation::Add, word),
        Op::Mul => {
            let long = sources.iter().all(|src| src.ty == Type::Uw);
            (Operation::Mul, word && !long)
        }
        Op::Shl => (Operation::Shl, false),
        Op::Shr if word => (Operation::ShrWord, true),
        Op::Shr => (Operation::Shr, unsigned),
        Op::Asr if exact(&sources[0]).signed => (Operation::Asr, true),
        Op::Asr if exact(&sources[0]).unsigned => (Operation::Shr, true),
        Op::Avg if signed => (Operation::AvgSigned, true),
        Op::Avg if unsigned => (Operation::AvgUnsigned, true),
        Op::Sel if chosen && u.predicate != Predicate::None => (Operation::Sel, true),
        Op::Sel if less && signed => (Operation::MinSigned, true),
        Op::Sel if less && unsigned => (Operation::MinUnsigned, true),
        Op::Sel if more && signed => (Operation::MaxSigned, true),
        Op::Sel if more && unsigned => (Operation::MaxUnsigned, true),
        Op::Cmp if signed => (Operation::LessSigned, true),
        Op::Cmp if unsigned => (Operation::LessUnsigned, true),
        _ => return None,
    };
    plan.operation = operation;
    if u.op == Op::Cmp {
        // a < b and a == b do for all conditions.
        let (operation, swap, opposite) = match u.condition {
            Condition::Z => (Operation::Equal, false, false),
            Condition::Nz => (Operation::Equal, false, true),
            Condition::L => (operation, false, false),
            Condition::Ge => (operation, false, true),
            Condition::G => (operation, true, false),
            Condition::Le => (operation, true, true),
            Condition::None | Condition::O | Condition::U => return None,
        };
        if swap {
            plan.src.swap(0, 1);
        }
        (plan.operation, plan.opposite) = (operation, opposite);
        return Some(());
    }
    if float {
        return Some(());
    }
    let signed = match u.op {
        // The second source is a count.
        Op::Asr => exact(&sources[0]).signed,
        Op::Shr if word => true,
        _ => signed,
    };
    if u.saturate {
        plan.clamp = match (whole && signed, whole && unsigned) {
            (true, _) => Clamp::Signed,
            (_, true) => Clamp::Unsigned,
            _ => return None,
        };
    }
    Some(())
}

fn floats(u: &Uop, sources: &[Src], plan: &mut Plan) -> Option<()> {
    for (n, (operand, src)) in plan.src.iter_mut().zip(sources).enumerate() {
        operand.source = n as u8;
        operand.place = source(src, usize::from(u.size))?;
        let keep = if src.abs { i32::MAX as u32 } else { u32::MAX };
        let sign = u32::from(src.negate) << 31;
        (operand.flip, operand.second) = match src.shape {
            Shape::Immediate(bits) if src.plain() => (bits as u32, 0),
            Shape::Immediate(_) => return None,
            _ => (sign, keep),
        };
        // Whether a subnormal constant counts is for the mode to say.
        if matches!(src.shape, Shape::Immediate(bits) if bits & 0x7f80_0000 == 0 && bits & 0x7f_ffff != 0)
        {
            return None;
        }
    }
    let float = u.dst.ty == Type::F;
    let raw = u.op == Op::Mov && sources[0].plain() && !u.saturate;
    plan.operation = match u.op {
        Op::Mov if raw && float && u.condition == Condition::None => {
            plan.src[0].second = 0;
            Operation::Mov
        }
        Op::Mov if raw && float => return None,
        Op::Mov if float => Operation::MovFloat,
        // Saturation of a conversion to an integer changes nothing; the conversion clamps anyway.
        Op::Mov if u.dst.ty == Type::Ud => Operation::FloatToUnsigned,
        Op::Mov => {
            plan.clamp = Clamp::Signed;
            plan.more |= u.dst.ty != Type::D;
            Operation::FloatToSigned
        }
        Op::Cmp => {
            let (operation, swap, opposite) = match u.condition {
                Condition::Z => (Operation::EqualFloat, false, false),
                Condition::Nz => (Operation::EqualFloat, false, true),
                Condition::L => (Operation::LessFloat, false, false),
                Condition::G => (Operation::LessFloat, true, false),
                Condition::Le => (Operation::AtMostFloat, false, false),
                Condition::Ge => (Operation::AtMostFloat, true, false),
                Condition::None | Condition::O | Condition::U => return None,
            };
            if swap {
                plan.src.swap(0, 1);
            }
            plan.opposite = opposite;
            operation
        }
        _ if !float => return None,
        Op::Add => Operation::AddFloat,
        Op::Mul => Operation::MulFloat,
        Op::Mad => Operation::MadFloat,
        Op::Line => Operation::LineFloat,
        Op::Pln => Operation::PlaneFloat,
        Op::Math(_) if !MATH_KEEPS_SUBNORMALS_BY_MODE => return None,
        Op::Math(Math::Inv) => Operation::Inv,
        Op::Math(Math::Fdiv) => Operation::Fdiv,
        Op::Math(Math::Sqrt) => Operation::Sqrt,
        Op::Math(Math::Rsq) => Operation::Rsq,
        Op::Math(Math::Log) => Operation::Log,
        Op::Math(Math::Exp) => Operation::Exp,
        Op::Math(Math::Sin) => Operation::Sin,
        Op::Math(Math::Cos) => Operation::Cos,
        Op::Math(Math::Pow) => Operation::Pow,
        Op::Frc => Operation::Frc,
        Op::Rndd => Operation::Rndd,
        Op::Rndu => Operation::Rndu,
        Op::Rnde => Operation::Rnde,
        Op::Rndz => Operation::Rndz,
        Op::Sel => match u.select {
            Condition::None if u.predicate != Predicate::None => Operation::SelFloat,
            Condition::L | Condition::Le => Operation::MinFloat,
            Condition::G | Condition::Ge => Operation::MaxFloat,
            _ => return None,
        },
        _ => return None,
    };
    Some(())
}
