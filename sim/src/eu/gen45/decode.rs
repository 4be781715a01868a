//! Converts G45 instructions to uops.
//!
//! A compressed instruction stands for two instructions of half its size (003:8741-8829). It
//! becomes one uop if the first half writes nothing that the second half reads; else it becomes
//! two. A message whose source 0 is a register becomes a move to the first message register and the
//! message. The indices of other uops are not set here ([`crate::eu::decode`]).

use super::halves;
use crate::assumptions::{
    DOT_PRODUCTS_OF_INTEGERS, IMPLICIT_ACCUMULATOR_STARTS_AT_CHANNEL_0,
    NO_CONTINUE_MASK_IS_FOR_OPERATIONS, SHR_OF_SIGNED_IS_ARITHMETIC,
};
use crate::eu::decode8::{
    Decoded, check_condition, controls, illegal, is_signed, operands, refused, widen_immediates,
};
use crate::eu::fast::{Plan, choose};
use crate::eu::ops;
use crate::eu::regions::{MASK0, MRF, MS0, REGISTER};
use crate::eu::uop::{Branch, ExecType, Op, Opcode, Response, SendInfo, Shape, Target, Uop};
use genxml_eu::instruction::{
    self as isa, AccessMode, Arf, Compression, Descriptor, Destination, Gen4Controls, Instruction,
    Operand, Register,
};
use genxml_eu::ops::Traits;

/// The uops of an instruction, at least one.
pub fn uops(i: &Instruction, offset: u32) -> Vec<Uop> {
    let mut parts = match parts(i, offset) {
        Ok(parts) => parts,
        Err(refusal) => vec![refused(i.opcode, offset, refusal)],
    };
    if i.gen4.no_continue_mask && !i.no_mask && NO_CONTINUE_MASK_IS_FOR_OPERATIONS {
        let mask = |on| Uop { op: Op::IgnoreContinueMask(on), ..Uop::nop(offset) };
        if parts.iter().all(|u| matches!(u.op, Op::Isa(_))) {
            parts.insert(0, mask(true));
            parts.push(mask(false));
        }
    }
    for u in &mut parts {
        u.length = i.length() as u8;
    }
    parts
}

fn parts(i: &Instruction, offset: u32) -> Decoded<Vec<Uop>> {
    let one = match i.opcode {
        Opcode::Illegal => Uop { op: Op::Isa(Opcode::Illegal), ..Uop::nop(offset) },
        Opcode::Nop | Opcode::Nenop => Uop::nop(offset),
        Opcode::Send if i.gen4.compression == Compression::None => return send(i, offset),
        // A compressed message is two messages. The second one uses the next registers
        // (gen45_facts 12.2).
        Opcode::Send => {
            let [first, mut second] = halves::of(i);
            second.gen4.message_register = second.gen4.message_register.wrapping_add(1);
            let mut parts = send(&first, offset)?;
            parts.extend(send(&second, offset)?);
            return Ok(parts);
        }
        Opcode::Do
        | Opcode::If
        | Opcode::Iff
        | Opcode::Else
        | Opcode::Endif
        | Opcode::While
        | Opcode::Break
        | Opcode::Cont
        | Opcode::Halt => branch(i, offset),
        Opcode::Jmpi => jump(i, offset)?,
        Opcode::Msave | Opcode::Mrest | Opcode::Push | Opcode::Pop => stack(i, offset)?,
        _ => return operation(i, offset),
    };
    Ok(vec![one])
}

/// An instruction that changes masks, and its number of popped masks.
fn branch(i: &Instruction, offset: u32) -> Uop {
    let u = controls(i, i.opcode, offset);
    let branch = Branch { pops: i.gen4.pop_count, ..u.branch };
    Uop { op: Op::Gen45(i.opcode), condition: None, branch, ..u }
}

fn jump(i: &Instruction, offset: u32) -> Decoded<Uop> {
    let mut u = Uop { op: Op::Gen45(Opcode::Jmpi), ..controls(i, i.opcode, offset) };
    // The destination is `ip`, and so is source 0: the manual puts the count in source 1.
    let target = i.operands().last().copied().unwrap_or(Operand::None);
    let bare =
        Instruction { destination: None, sources: [target, Operand::None, Operand::None], ..*i };
    operands(&bare, Opcode::Jmpi, &mut u)?;
    match (&u.src[0].shape, i.branch) {
        (_, Some(_)) | (Shape::Scalar(_) | Shape::Contiguous(_) | Shape::Table(_), None) => Ok(u),
        _ => Err(illegal("a target that is not in a directly addressed register")),
    }
}

/// An instruction that works on a mask stack and a mask.
fn stack(i: &Instruction, offset: u32) -> Decoded<Uop> {
    let mut u = Uop { op: Op::Gen45(i.opcode), ..controls(i, i.opcode, offset) };
    operands(i, i.opcode, &mut u)?;
    let is_stack = |at: u16| matches!(usize::from(at).wrapping_sub(MS0), 0 | 16);
    let target = match u.dst.target {
        Target::File { offset, .. } => offset,
        _ => return Err(illegal("a destination that is not a directly addressed register")),
    };
    let source = match u.src[0].shape {
        Shape::Scalar(offset) => Some(offset),
        _ => None,
    };
    let stack = if i.opcode == Opcode::Mrest { source } else { Some(target) };
    if !stack.is_some_and(is_stack) {
        return Err(illegal("without a mask stack"));
    }
    let mask = if i.opcode == Opcode::Mrest { Some(target) } else { source };
    let is_mask = |at: u16| usize::from(at).wrapping_sub(MASK0) < 8 && at.is_multiple_of(2);
    if i.opcode != Opcode::Pop && !mask.is_some_and(is_mask) {
        return Err(illegal("without a mask"));
    }
    Ok(u)
}

/// An arithmetic or logic instruction, `mov`, or `wait`.
fn operation(i: &Instruction, offset: u32) -> Decoded<Vec<Uop>> {
    if i.gen4.compression == Compression::None {
        return Ok(vec![single(i, offset, i.channel_offset != 0)?]);
    }
    let [first, second] = halves::of(i);
    let (first, second) = (single(&first, offset, false)?, single(&second, offset, true)?);
    Ok(match halves::join(&first, &second) {
        Some(both) => vec![Uop { plan: plan(&both), ..both }],
        None => vec![first, second],
    })
}

/// True if an instruction writes the accumulator without naming it, and the manual defines the
/// value (the rows "Imp'd Accu" of 003 chapter 14).
pub(super) fn writes_accumulator(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Add
            | Opcode::Mul
            | Opcode::Avg
            | Opcode::Mac
            | Opcode::Line
            | Opcode::Pln
            | Opcode::Sad2
            | Opcode::Sada2
    )
}

/// An instruction that is not compressed. `upper`: its implicit accumulator is `acc1`.
fn single(i: &Instruction, offset: u32, upper: bool) -> Decoded<Uop> {
    let opcode = match i.opcode {
        // The manual allows signed numbers with (abs) only (003:13551).
        Opcode::Shr if SHR_OF_SIGNED_IS_ARITHMETIC && is_signed(&i.sources[0]) => Opcode::Asr,
        opcode => opcode,
    };
    let mut u = Uop { select: None, ..controls(i, opcode, offset) };
    if opcode == Opcode::Sel {
        u.condition = None;
    }
    let count = operands(i, opcode, &mut u)?;
    u.exec = ExecType::of(u.src[..count].iter().map(|src| src.ty));
    if IMPLICIT_ACCUMULATOR_STARTS_AT_CHANNEL_0 {
        u.accumulator = match u.exec {
            _ if !upper => 0,
            ExecType::Word => 16,
            // For eight singles from channel 8 on, `implicit_element` takes `acc1`.
            ExecType::Single if u.size == 8 && u.first & 8 != 0 => 0,
            _ => 8,
        };
    }
    let dwords = opcode == Opcode::Mul
        && u.exec == ExecType::Dword
        && u.src[..2].iter().all(|src| src.ty.size() == 4);
    if u.exec == ExecType::Dword && !dwords {
        widen_immediates(&mut u.src[..count]);
    }
    check_condition(opcode, &u)?;
    let least = ops::general(opcode).map_or(1, |row| row.least_channels);
    if u.size < least {
        return Err(illegal(format!("{} channels, fewer than {least}", u.size)));
    }
    if opcode == Opcode::Wait {
        return check_wait(i).map(|()| u);
    }
    if opcode == Opcode::Mach {
        // The high word is that of source 0 (003:12160); Gen8 takes that of source 1.
        u.src.swap(0, 1);
    }
    u.acc_write = writes_accumulator(opcode);
    let integers = DOT_PRODUCTS_OF_INTEGERS
        && opcode == Opcode::Dp4
        && matches!(u.exec, ExecType::Word | ExecType::Dword);
    if dwords
        || integers
        || matches!(opcode, Opcode::Frc | Opcode::Rndu | Opcode::Rnde | Opcode::Rndz)
    {
        u.op = Op::Gen45(opcode);
        return Ok(u);
    }
    u.plan = plan(&u);
    Ok(u)
}

/// Checks the operand of `wait`.
fn check_wait(i: &Instruction) -> Decoded<()> {
    match i.sources[0] {
        Operand::Register(isa::Source {
            register: Register::Arf { file: Arf::Notification, number: 0 | 1, byte: 0 },
            ..
        }) => Ok(()),
        _ => Err(illegal("only n0 and n1 can be waited for")),
    }
}

/// The plan of an operation. The negation of a source is arithmetic for logic operations too, and
/// they have absolute values (003:10915): these take the general path.
pub(super) fn plan(u: &Uop) -> Plan {
    match u.op {
        Op::Isa(opcode)
            if opcode.op().traits.contains(Traits::LOGIC)
                && u.src.iter().any(|src| !src.plain()) =>
        {
            Plan::NONE
        }
        _ => choose::plan(u),
    }
}

/// The uops of a message that is not compressed: the implied move, if source 0 is a register, and
/// the message.
fn send(i: &Instruction, offset: u32) -> Decoded<Vec<Uop>> {
    let Some(send) = i.send else { return Err(illegal("no message")) };
    let response = match i.destination.map(|destination| destination.register) {
        Some(Register::Grf { number, .. }) if number > 127 => {
            return Err(illegal(format!("response r{number}")));
        }
        Some(Register::Grf { number, .. }) => {
            Response::Register(u16::from(number) * REGISTER as u16)
        }
        Some(Register::Indirect { address, offset }) => {
            Response::Indirect { address: address & 7, immediate: offset }
        }
        Some(Register::Arf { .. } | Register::Mrf { .. }) | None => Response::None,
    };
    if let Descriptor::Address(byte) = send.descriptor
        && (byte % 4 != 0 || byte > 12)
    {
        return Err(illegal(format!("a descriptor at byte {byte} of a0")));
    }
    let payload = (MRF + usize::from(i.gen4.message_register & 15) * REGISTER) as u16;
    let mut lanes = u32::MAX;
    let mut position = 0;
    if let Some(destination) = i.destination {
        if i.access_mode == AccessMode::Align16 {
            lanes = u32::from(destination.write_mask & 15) * 0x1111_1111;
        }
        if let Register::Grf { byte, .. } | Register::Arf { byte, .. } = destination.register {
            position = byte / destination.ty.size().max(1);
        }
    }
    let controls = controls(i, Opcode::Send, offset);
    let message = Uop {
        condition: None,
        lanes: controls.lanes & lanes,
        send: Some(SendInfo {
            function: send.function,
            eot: send.end_of_thread,
            descriptor: send.descriptor,
            payload,
            response,
            dependent: false,
            position,
            transfer: None,
        }),
        ..controls
    };
    let mut parts = Vec::new();
    if let Operand::Register(source) = &i.sources[0]
        && !source.register.is_null()
    {
        parts.push(implied_move(i, source, offset)?);
    }
    parts.push(message);
    Ok(parts)
}

/// The move of a message's source 0 to its first message register. It fills the register, whatever
/// the execution size and the type of the destination are: kernels send `r0` of dwords with 16
/// channels and a destination of words (assumptions: IMPLIED_MOVE_COPIES_A_REGISTER).
fn implied_move(i: &Instruction, source: &isa::Source, offset: u32) -> Decoded<Uop> {
    let register = Register::Mrf { number: i.gen4.message_register & 15, byte: 0 };
    let size = source.ty.size().max(1) as usize;
    let copy = Instruction {
        opcode: Opcode::Mov,
        exec_size: (REGISTER / size) as u8,
        channel_offset: 0,
        predicate: None,
        condition: None,
        saturate: false,
        send: None,
        no_mask: true,
        destination: Some(Destination::new(register, source.ty)),
        sources: [Operand::Register(*source), Operand::None, Operand::None],
        gen4: Gen4Controls::NONE,
        ..*i
    };
    single(&copy, offset, false)
}
