//! Makes the [`Plan`] of an instruction, once, when the instruction is decoded.

use super::plan::{Clamp, DIRECT, Form, Operand, Place, Plan, Spacing};
use super::rule::Facts;
use crate::eu::ops;
use crate::eu::regions::{FILE_BYTES, NULL};
use crate::eu::uop::{Condition, ExecType, Indirect, Op, Opcode, Shape, Src, Target, Type, Uop};
use genxml_eu::ops::Traits;

/// The plan of a decoded instruction; [`Plan::NONE`] if it takes the general path.
pub fn plan(u: &Uop) -> Plan {
    match u.op {
        Op::Isa(opcode) => of_operation(u, opcode).unwrap_or(Plan::NONE),
        _ => Plan::NONE,
    }
}

fn of_operation(u: &Uop, opcode: Opcode) -> Option<Plan> {
    let mut rows = ops::fast(opcode).peekable();
    rows.peek()?;
    if u.volatile
        || u.acc_write
        || matches!(u.condition, Some(Condition::Overflow | Condition::Unordered))
    {
        return None;
    }
    let count = u.function.map_or(opcode.op().sources, |function| function.sources());
    let sources = &u.src[..usize::from(count)];
    let floats = sources.iter().all(|src| src.ty == Type::F);
    let long = is_long(u.dst.ty) || sources.iter().any(|src| is_long(src.ty));
    if !floats && !matches!(u.exec, ExecType::Word | ExecType::Dword) && !long {
        return None;
    }
    if long && !(is_integer(u.dst.ty) && sources.iter().all(extends_from_32_bits)) {
        return None;
    }
    let to_float = u.dst.ty == Type::F;
    let facts = Facts::new(u, sources);
    let (operation, row, choice) = rows.find_map(|(operation, row)| {
        let choice = row.class.takes(long, floats, to_float).then(|| (row.rule)(&facts))??;
        Some((operation, row, choice))
    })?;
    let flagged = u.condition.is_some() && !row.class.compares();
    let mut plan = Plan {
        operation,
        size: u.size.trailing_zeros() as u8,
        more: u.saturate || flagged,
        opposite: choice.opposite,
        clamp: choice.clamp,
        dst: destination(u)?,
        seen: u.dst.ty,
        // Writes to machine registers have side effects.
        vector: row.vector.filter(|_| !u.dst.control),
        ..Plan::NONE
    };
    let logic = opcode.op().traits.contains(Traits::LOGIC);
    for (n, (operand, src)) in plan.src.iter_mut().zip(sources).enumerate() {
        let place = source(src, usize::from(u.size))?;
        // A copy of bits treats floats as integers.
        let float = floats && !choice.raw;
        let (flip, second) = if float { float_bits(src)? } else { int_bits(src, logic)? };
        *operand = Operand { place, source: n as u8, flip, second };
    }
    if choice.clamp != Clamp::None {
        // The body clamps to the range of D. Other destination types need another clamp.
        plan.more |= u.dst.ty != Type::D;
    }
    if u.saturate && !floats && !to_float && !row.class.compares() {
        plan.clamp = choice.saturation?;
    }
    if choice.swap {
        plan.src.swap(0, 1);
    }
    Some(plan)
}

fn is_long(ty: Type) -> bool {
    matches!(ty, Type::Q | Type::Uq)
}

fn is_integer(ty: Type) -> bool {
    !matches!(ty, Type::F | Type::Hf | Type::Df)
}

/// True for an integer whose constant, if it is one, has the value of its low 32 bits as a signed
/// number.
fn extends_from_32_bits(src: &Src) -> bool {
    is_integer(src.ty)
        && match (&src.shape, src.ty) {
            (Shape::Immediate(bits), Type::Q | Type::Uq) => *bits as i64 == i64::from(*bits as i32),
            (Shape::Immediate(bits), Type::Ud) => *bits as i32 >= 0,
            _ => true,
        }
}

/// [`Operand::flip`] and [`Operand::second`] of an integer source; `None` if the fast path cannot
/// apply its modifiers.
fn int_bits(src: &Src, logic: bool) -> Option<(u32, u32)> {
    Some(match (&src.shape, src.ty) {
        _ if src.abs && !logic => return None,
        (Shape::Immediate(_), _) if !src.plain() => return None,
        (Shape::Immediate(bits), Type::W) => (*bits as i16 as u32, 0),
        (Shape::Immediate(bits), Type::B) => (*bits as i8 as u32, 0),
        (Shape::Immediate(bits), _) => (*bits as u32, 0),
        _ if src.negate && logic => (u32::MAX, 0),
        _ if src.negate => (u32::MAX, 1),
        _ => (0, 0),
    })
}

/// [`Operand::flip`] and [`Operand::second`] of a float source; `None` for constants that the fast
/// path does not support.
fn float_bits(src: &Src) -> Option<(u32, u32)> {
    let keep = if src.abs { i32::MAX as u32 } else { u32::MAX };
    let sign = u32::from(src.negate) << 31;
    match src.shape {
        // The mode decides at run time whether a subnormal constant is flushed.
        Shape::Immediate(bits) if bits & 0x7f80_0000 == 0 && bits & 0x7f_ffff != 0 => None,
        Shape::Immediate(bits) if src.plain() => Some((bits as u32, 0)),
        Shape::Immediate(_) => None,
        _ => Some((sign, keep)),
    }
}

fn destination(u: &Uop) -> Option<Place> {
    let n = usize::from(u.size);
    // The destination type must be supported even for a null destination: the condition is
    // evaluated on the result in that type.
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

/// The [`Place`] of `n` elements. Its extent includes the gaps between the elements; it is 0 for
/// elements at offsets of their own.
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

/// The spacing of elements of `size` bytes that are at these byte offsets.
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
                // The offset of each channel is computed on its own.
                return place(src.ty, Spacing::Table, DIRECT, 0, n)
                    .filter(|_| share.is_power_of_two());
            }
            place(src.ty, spacing, *address, *immediate, n)
        }
        Shape::Vector(_) => place(src.ty, Spacing::Table, DIRECT, 0, n),
        Shape::Accumulator(_) => None,
    }
}
