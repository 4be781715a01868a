//! Rules about jumps, structured control flow and thread control.

use super::place::Place;
use super::rule::{Check, Report, Rule, error, warning};
use super::slots::{Slot, Slots, falls_through, jumps_anywhere, targets};
use super::view::View;
use crate::instruction::*;
use crate::ops::{Format, Opcode};

pub(super) static RULES: &[Rule] = &[
    error(
        "EU-JUMP-OUTSIDE",
        "2a, jumps",
        "a jump target must be in the kernel",
        "correct the distance: it is in bytes from the first byte of the jump",
        Check::Kernel(outside),
    ),
    error(
        "EU-JUMP-INSIDE",
        "2a, jumps",
        "a jump target must be the first byte of an instruction",
        "correct the distance; compact instructions have 8 bytes",
        Check::Kernel(inside),
    ),
    warning(
        "EU-JUMP-SELF",
        "2a jmpi",
        "a jump should not have itself as target: the thread would never end",
        "correct the distance",
        Check::Instruction(to_itself),
    ),
    error(
        "EU-IF-TARGET",
        "2a if",
        "UIP of an if must point to its endif, or with BranchCtrl to its else; JIP must point to the instruction after its else, to its endif, or with BranchCtrl to a join",
        "compute the distances from the labels of the block",
        Check::Kernel(if_target),
    ),
    error(
        "EU-ELSE-TARGET",
        "2a else",
        "JIP and UIP of an else must point to its endif; with BranchCtrl JIP may point to a join",
        "compute the distances from the labels of the block",
        Check::Kernel(else_target),
    ),
    error(
        "EU-BLOCK-FORWARD",
        "2a if, else, break, cont, halt",
        "the targets of if, else, break, cont and halt must be after the instruction",
        "compute the distance from a label after the instruction",
        Check::Instruction(forward),
    ),
    error(
        "EU-IF-SIZE",
        "2a if, else, endif",
        "if, else and endif of a block must have the same number of channels",
        "give them the execution size of the if",
        Check::Kernel(if_size),
    ),
    error(
        "EU-LOOP-TARGET",
        "2a break, cont",
        "UIP of a break or cont must point to the while of its loop",
        "compute the distance from the label of the while",
        Check::Kernel(loop_target),
    ),
    error(
        "EU-LOOP-SIZE",
        "2a cont",
        "while, break and cont of a loop must have the same number of channels",
        "give them the execution size of the while",
        Check::Kernel(loop_size),
    ),
    error(
        "EU-BLOCK-END",
        "2a break, cont, halt, endif",
        "JIP of a break, cont, halt or endif must point to the end of the enclosing block (an else, endif, while, halt or join) or to the next instruction",
        "compute the distance from the label of the block's end",
        Check::Kernel(block_end),
    ),
    error(
        "EU-WHILE-TARGET",
        "G45 vol 4 while",
        "JIP of a while must point backwards",
        "compute the distance from the first instruction of the loop",
        Check::Instruction(while_target),
    ),
    error(
        "EU-HALT-TARGET",
        "2a halt",
        "UIP of a halt must point to a halt, or to the next instruction",
        "end the program with a halt and point to it",
        Check::Kernel(halt_target),
    ),
    warning(
        "EU-GOTO-TARGET",
        "2a goto",
        "UIP of a goto should point to a join, which enables its channels again",
        "put a join there",
        Check::Kernel(goto_target),
    ),
    warning(
        "EU-DEPENDENCY",
        "2b p.14",
        "after a write with NoDDClr the same basic block should write the register again without NoDDClr, before any read",
        "remove NoDDClr from the last write of a sequence",
        Check::Kernel(dependency),
    ),
    warning(
        "EU-NO-END",
        "G45 vol 4 send",
        "a kernel should not run past its last instruction: a thread ends with a message that has EOT",
        "end with a send {EOT}",
        Check::Kernel(no_end),
    ),
    warning(
        "EU-UNREACHED",
        "2a, jumps",
        "every instruction should be reachable",
        "remove the code, or correct the jump that should reach it",
        Check::Kernel(unreached),
    ),
    error(
        "EU-JMPI",
        "2a p.468",
        "jmpi must have one channel and no quarter control",
        "write jmpi (1|M0)",
        Check::Instruction(jmpi),
    ),
    warning(
        "EU-JMPI-MASK",
        "2a p.468",
        "jmpi should have NoMask, or it depends on the channel enables",
        "add NoMask",
        Check::Instruction(jmpi_mask),
    ),
    error(
        "EU-JMPI-TYPE",
        "2a p.468",
        "the distance of jmpi must have type d",
        "convert it first",
        Check::Instruction(jmpi_type),
    ),
    error(
        "EU-BRANCH-SWITCH",
        "2a brc, brd",
        "brd and brc must not switch threads",
        "remove {Switch}",
        Check::Instruction(branch_switch),
    ),
    warning(
        "EU-CALL-SWITCH",
        "2a call",
        "a call and the first instruction of the subroutine should switch threads",
        "add {Switch}",
        Check::Kernel(call_switch),
    ),
    error(
        "EU-CALL-DESTINATION",
        "2a call, calla",
        "the destination of a call, which gets the return address, must start at a multiple of 8 bytes",
        "start at an even dword",
        Check::Instruction(call_destination),
    ),
    error(
        "EU-RET-REGION",
        "2a brc, calla; IGA ret",
        "a pair of addresses must have the region <2;2,1>",
        "write the region <2;2,1>",
        Check::Instruction(pair_region),
    ),
    error(
        "EU-WAIT",
        "IVB vol 4 part 3, notification registers",
        "wait must have one channel and a notification register",
        "write wait (1) n0.0, n0.1 or n0.2",
        Check::Instruction(wait),
    ),
    warning(
        "EU-WAIT-ADJACENT",
        "IVB vol 4 part 3, notification registers",
        "a wait should not directly follow a wait",
        "put another instruction between them",
        Check::Kernel(adjacent_waits),
    ),
];

/// The instructions that could be decoded.
fn decoded(slots: &Slots) -> impl Iterator<Item = (&Slot, &Instruction)> {
    slots.all().iter().filter_map(|slot| Some((slot, slot.instruction.as_ref().ok()?)))
}

fn outside(slots: &Slots, report: &mut Report<'_>) {
    for (slot, i) in decoded(slots) {
        for (place, to) in targets(slot.position, i) {
            if to < 0 || to > slots.end() as i64 {
                report.at(
                    slot.position,
                    Some(i),
                    place,
                    format_args!("byte {to} of a kernel of {} bytes", slots.end()),
                );
            }
        }
    }
}

fn inside(slots: &Slots, report: &mut Report<'_>) {
    for (slot, i) in decoded(slots) {
        for (place, to) in targets(slot.position, i) {
            let Ok(to) = u64::try_from(to) else { continue };
            if to < slots.end() && slots.index(to).is_none() {
                report.at(slot.position, Some(i), place, format_args!("byte {to:#x}"));
            }
        }
    }
}

fn to_itself(view: &View<'_>, report: &mut Report<'_>) {
    // Compilers write `join 0` if there can be no channel to wait for.
    if let Some(branch) = view.i.branch
        && branch.jip == 0
        && !matches!(view.i.opcode, Opcode::Calla | Opcode::Join)
    {
        report.add(Place::Jip, format_args!("distance 0"));
    }
}

/// The instruction at a target, if it is in the kernel and can be decoded; other rules report the
/// rest.
fn target_at(slots: &Slots, to: i64) -> Option<&Instruction> {
    slots.at(u64::try_from(to).ok()?)
}

/// The operation of the instruction before a target, if it can be decoded.
fn before(slots: &Slots, to: i64) -> Option<Opcode> {
    let index = slots.index(u64::try_from(to).ok()?)?.checked_sub(1)?;
    slots.all()[index].instruction.as_ref().ok().map(|i| i.opcode)
}

/// Reports JIP and UIP of the instructions that `applies` selects, if their target is not
/// `allowed`.
fn check_targets(
    slots: &Slots,
    report: &mut Report<'_>,
    applies: impl Fn(&Instruction) -> bool,
    allowed: impl Fn(Place, i64, &Slot, &Instruction, Opcode) -> bool,
) {
    for (slot, i) in decoded(slots).filter(|(_, i)| applies(i)) {
        for (place, to) in targets(slot.position, i) {
            if let Some(target) = target_at(slots, to)
                && !allowed(place, to, slot, i, target.opcode)
            {
                report.at(
                    slot.position,
                    Some(i),
                    place,
                    format_args!("{} at {to:#x}", target.opcode.name()),
                );
            }
        }
    }
}

fn if_target(slots: &Slots, report: &mut Report<'_>) {
    check_targets(
        slots,
        report,
        |i| i.opcode == Opcode::If,
        |place, to, _, i, target| match place {
            Place::Uip => target == Opcode::Endif || (i.branch_ctrl && target == Opcode::Else),
            _ => {
                target == Opcode::Endif
                    || before(slots, to) == Some(Opcode::Else)
                    || (i.branch_ctrl && target == Opcode::Join)
            }
        },
    );
}

fn else_target(slots: &Slots, report: &mut Report<'_>) {
    check_targets(
        slots,
        report,
        |i| i.opcode == Opcode::Else,
        |place, _, _, i, target| {
            target == Opcode::Endif
                || (i.branch_ctrl && place == Place::Jip && target == Opcode::Join)
        },
    );
}

/// Reports jumps of the operations `from` to an `end` with another execution size.
fn same_size(slots: &Slots, report: &mut Report<'_>, from: &[Opcode], end: Opcode) {
    for (slot, i) in decoded(slots).filter(|(_, i)| from.contains(&i.opcode)) {
        let Some((place, to)) = targets(slot.position, i).last() else { continue };
        if let Some(target) = target_at(slots, to)
            && target.opcode == end
            && target.exec_size != i.exec_size
        {
            report.at(
                slot.position,
                Some(i),
                place,
                format_args!("{} channels, {} has {}", i.exec_size, end.name(), target.exec_size),
            );
        }
    }
}

fn if_size(slots: &Slots, report: &mut Report<'_>) {
    same_size(slots, report, &[Opcode::If, Opcode::Else], Opcode::Endif);
}

fn loop_size(slots: &Slots, report: &mut Report<'_>) {
    same_size(slots, report, &[Opcode::Break, Opcode::Cont], Opcode::While);
}

fn loop_target(slots: &Slots, report: &mut Report<'_>) {
    check_targets(
        slots,
        report,
        |i| matches!(i.opcode, Opcode::Break | Opcode::Cont),
        |place, _, _, _, target| place != Place::Uip || target == Opcode::While,
    );
}

fn block_end(slots: &Slots, report: &mut Report<'_>) {
    use Opcode::{Break, Cont, Else, Endif, Halt, Join, While};
    check_targets(
        slots,
        report,
        |i| matches!(i.opcode, Break | Cont | Halt | Endif),
        |place, to, slot, i, target| {
            place != Place::Jip
                || matches!(target, Else | Endif | While | Halt | Join)
                || to == slot.position as i64 + i64::from(i.length())
        },
    );
}

fn forward(view: &View<'_>, report: &mut Report<'_>) {
    use Opcode::{Break, Cont, Else, Halt, If};
    let Some(branch) = view.i.branch else { return };
    if matches!(view.i.opcode, If | Else | Break | Cont | Halt) {
        let distances = [(Place::Jip, Some(branch.jip)), (Place::Uip, branch.uip)];
        for (place, distance) in distances {
            if let Some(distance) = distance.filter(|distance| *distance < 0) {
                report.add(place, format_args!("{distance}"));
            }
        }
    }
}

fn while_target(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(branch) = view.i.branch
        && view.is(Opcode::While)
        && branch.jip > 0
    {
        report.add(Place::Jip, format_args!("{}", branch.jip));
    }
}

fn halt_target(slots: &Slots, report: &mut Report<'_>) {
    check_targets(
        slots,
        report,
        |i| i.opcode == Opcode::Halt,
        |place, to, slot, i, target| {
            place != Place::Uip
                || target == Opcode::Halt
                || to == slot.position as i64 + i64::from(i.length())
        },
    );
}

fn goto_target(slots: &Slots, report: &mut Report<'_>) {
    check_targets(
        slots,
        report,
        |i| i.opcode == Opcode::Goto,
        |place, _, _, _, target| place != Place::Uip || target == Opcode::Join,
    );
}

fn no_end(slots: &Slots, report: &mut Report<'_>) {
    let Some(slot) = slots.all().last() else { return };
    if let Ok(i) = &slot.instruction
        && slots.reached.last() == Some(&true)
        && falls_through(i)
    {
        report.at(slot.position, Some(i), Place::Instruction, format_args!("the last instruction"));
    }
    let end = slots.end() as i64;
    for (slot, i) in decoded(slots) {
        if let Some((place, _)) = targets(slot.position, i).find(|(_, to)| *to == end) {
            report.at(slot.position, Some(i), place, format_args!("the end of the kernel"));
        }
    }
}

/// Reports the first of consecutive unreachable instructions. `nop`, zeros, undefined operations
/// and dwords that cannot be decoded are not reported, and the instruction after them counts as a
/// first one.
fn unreached(slots: &Slots, report: &mut Report<'_>) {
    let mut before = false;
    for (slot, reached) in slots.all().iter().zip(&slots.reached) {
        let code = matches!(&slot.instruction, Ok(i) if !matches!(i.opcode, Opcode::Illegal | Opcode::Nop));
        let lost = !*reached && code;
        if lost && !before {
            report.at(
                slot.position,
                slot.instruction.as_ref().ok(),
                Place::Instruction,
                format_args!("from here on"),
            );
        }
        before = lost;
    }
}

/// The first general register that an instruction writes.
fn written(i: &Instruction) -> Option<u8> {
    match i.destination?.register {
        Register::Grf { number, .. } => Some(number),
        _ => None,
    }
}

fn reads(i: &Instruction, register: u8) -> bool {
    i.operands().any(|operand| match operand {
        Operand::Register(Source { register: Register::Grf { number, .. }, .. }) => {
            *number == register
        }
        _ => false,
    })
}

fn dependency(slots: &Slots, report: &mut Report<'_>) {
    let all = slots.all();
    for (index, slot) in all.iter().enumerate() {
        let Ok(i) = &slot.instruction else { continue };
        let Some(register) = written(i).filter(|_| i.no_dd_clear) else { continue };
        // The next instruction that uses the register must write it and not read it. A jump, a
        // dword that cannot be decoded, or the end before that instruction is a violation too.
        let next = all[index + 1..].iter().find_map(|slot| match &slot.instruction {
            Err(_) => Some((slot.position, false)),
            Ok(i) if reads(i, register) => Some((slot.position, false)),
            Ok(i) if written(i) == Some(register) => Some((slot.position, true)),
            Ok(i)
                if targets(slot.position, i).next().is_some()
                    || !falls_through(i)
                    || jumps_anywhere(i) =>
            {
                Some((slot.position, false))
            }
            Ok(_) => None,
        });
        match next {
            Some((_, true)) => {}
            Some((at, false)) => {
                report.at(
                    slot.position,
                    Some(i),
                    Place::Destination,
                    format_args!("r{register}, until {at:#x}"),
                );
            }
            None => {
                report.at(
                    slot.position,
                    Some(i),
                    Place::Destination,
                    format_args!("r{register}, until the end"),
                );
            }
        }
    }
}

fn jmpi(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Jmpi)
        && (!view.op.exec_sizes().contains(view.i.exec_size) || view.i.channel_offset >= 8)
    {
        report.add(
            Place::Instruction,
            format_args!("{} channels from {} on", view.i.exec_size, view.i.channel_offset),
        );
    }
}

fn jmpi_mask(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Jmpi) && !view.i.no_mask {
        report.add(Place::Instruction, format_args!("MaskCtrl is 0"));
    }
}

fn jmpi_type(view: &View<'_>, report: &mut Report<'_>) {
    if view.is(Opcode::Jmpi)
        && let Some(ty) = view.source_types().find(|ty| *ty != DataType::D)
    {
        report.add(Place::Source(0), format_args!("type {}", ty.name()));
    }
}

fn branch_switch(view: &View<'_>, report: &mut Report<'_>) {
    let switch = view.i.thread_control == ThreadControl::Switch;
    if switch && matches!(view.i.opcode, Opcode::Brd | Opcode::Brc) {
        report.add(Place::Instruction, format_args!("{{Switch}}"));
    }
}

fn call_switch(slots: &Slots, report: &mut Report<'_>) {
    let switches = |i: &Instruction| i.thread_control == ThreadControl::Switch;
    for (slot, i) in decoded(slots) {
        if !matches!(i.opcode, Opcode::Call | Opcode::Calla) {
            continue;
        }
        if !switches(i) {
            report.at(slot.position, Some(i), Place::Instruction, format_args!("no {{Switch}}"));
        }
        for (place, to) in targets(slot.position, i) {
            if target_at(slots, to).is_some_and(|first| !switches(first)) {
                report.at(slot.position, Some(i), place, format_args!("no {{Switch}} at {to:#x}"));
            }
        }
    }
}

fn call_destination(view: &View<'_>, report: &mut Report<'_>) {
    if view.op.format == Format::Call
        && let Some(Register::Grf { byte, .. }) = view.i.destination.map(|d| d.register)
        && !byte.is_multiple_of(8)
    {
        report.add(Place::Destination, format_args!("byte {byte}"));
    }
}

fn pair_region(view: &View<'_>, report: &mut Report<'_>) {
    if !matches!(view.i.opcode, Opcode::Ret | Opcode::Brc | Opcode::Calla) || !view.align1() {
        return;
    }
    for (place, source) in view.registers() {
        let Region { vertical, width, horizontal } = source.region;
        if source.region != Region::new(2, 2, 1) {
            report.add(place, format_args!("{vertical:?}, width {width}, stride {horizontal}"));
        }
    }
}

fn wait(view: &View<'_>, report: &mut Report<'_>) {
    if !view.is(Opcode::Wait) {
        return;
    }
    if view.i.exec_size != 1 {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
    for (place, source) in view.registers() {
        if !matches!(source.register, Register::Arf { file: Arf::Notification, .. }) {
            report.add(place, format_args!("{:?}", source.register));
        }
    }
}

fn adjacent_waits(slots: &Slots, report: &mut Report<'_>) {
    let wait = |slot: &Slot| matches!(&slot.instruction, Ok(i) if i.opcode == Opcode::Wait);
    for pair in slots.all().windows(2) {
        if wait(&pair[0]) && wait(&pair[1]) {
            let i = pair[1].instruction.as_ref().ok();
            report.at(pair[1].position, i, Place::Instruction, format_args!("a wait before it"));
        }
    }
}
