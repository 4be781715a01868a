//! Control flow instructions. They decide where each channel continues
//! ([`Flow`](super::flow::Flow)).

use super::kernel::Kernel;
use super::stop::{Interrupt, Stop};
use super::thread::Thread;
use super::uop::{NOWHERE, Op, Opcode, Shape, Target, Uop};
use crate::assumptions::{BREAK_MARKS_ITS_CHANNELS, JOIN_KEEPS_CHANNELS_WITHOUT_PREDICATE};
use crate::machine::fault::Refusal;

impl Thread {
    /// Executes a control flow instruction. `mask` has the channels that the execution mask and the
    /// predicate enable.
    pub(super) fn branch(
        &mut self,
        u: &Uop,
        opcode: Opcode,
        mask: u32,
        kernel: &Kernel,
    ) -> Result<(), Interrupt> {
        let channels = mask.checked_shl(u32::from(u.first)).unwrap_or(0);
        if opcode == Opcode::Jmpi {
            return self.jump_indexed(u, mask, kernel);
        }
        let goes = match self.modes.single_flow {
            true => channels >> u.first & 1 == 1,
            // If no channel is active, `brc` still jumps to JIP, so it needs its targets.
            false => {
                channels & self.flow.active != 0 || (opcode == Opcode::Brc && self.flow.active == 0)
            }
        };
        let (jip, uip) = self.targets(u, opcode, goes, kernel)?;
        if self.modes.single_flow {
            self.single_flow(u, opcode, channels, (jip, uip), kernel);
            return Ok(());
        }
        self.diverge(u, opcode, channels, (jip, uip), kernel)
    }

    /// Executes a branch outside single program flow: each channel can go to its own target.
    fn diverge(
        &mut self,
        u: &Uop,
        opcode: Opcode,
        channels: u32,
        (jip, uip): (u32, u32),
        kernel: &Kernel,
    ) -> Result<(), Interrupt> {
        let flow = &mut self.flow;
        let taken = channels & flow.active;
        let others = flow.active & !taken;
        match opcode {
            Opcode::If => {
                flow.leave(others, jip);
                flow.proceed(u.next, jip);
            }
            Opcode::Else => {
                flow.leave(flow.active, if u.branch.control { jip } else { uip });
                flow.proceed(u.next, jip);
            }
            Opcode::Endif => flow.proceed(u.next, jip),
            Opcode::Join => {
                // Active channels inside the execution size that are not enabled wait at this
                // `join`. Active channels outside the execution size continue.
                if JOIN_KEEPS_CHANNELS_WITHOUT_PREDICATE {
                    let size = u.lanes.checked_shl(u32::from(u.first)).unwrap_or(0);
                    flow.leave(others & size, flow.ip);
                }
                flow.proceed(u.next, jip);
            }
            Opcode::While => {
                // Channels that left the loop by `break` waited at this `while`. Clear their marks.
                let again = taken & !flow.broken;
                flow.broken &= !flow.active;
                if again == 0 {
                    flow.advance(u.next);
                } else {
                    flow.leave(flow.active & !again, u.next);
                    flow.advance(jip);
                }
            }
            Opcode::Break => {
                if BREAK_MARKS_ITS_CHANNELS && kernel.operation(uip) == Some(Op::Isa(Opcode::While))
                {
                    flow.broken |= taken;
                }
                flow.leave(taken, uip);
                flow.proceed(u.next, jip);
            }
            Opcode::Cont | Opcode::Halt | Opcode::Brc => {
                flow.leave(taken, uip);
                flow.proceed(u.next, jip);
            }
            Opcode::Goto if u.branch.control => {
                flow.leave(taken, uip);
                flow.leave(others, u.next);
                flow.advance(uip);
                if flow.active == 0 {
                    flow.proceed(u.next, jip);
                }
            }
            Opcode::Goto => {
                flow.leave(others, uip);
                flow.proceed(u.next, jip);
            }
            Opcode::Brd | Opcode::Call | Opcode::Calla => {
                if taken == 0 {
                    flow.advance(u.next);
                } else {
                    flow.leave(others, u.next);
                    self.link(u, taken, kernel);
                    self.flow.advance(jip);
                }
            }
            Opcode::Ret => {
                // Channels that return wait at the return address; the others continue at the next
                // instruction. If no channel continues there, the thread goes to the return address
                // (assumptions::RETURN_MASK_IS_NOT_LOOKED_AT).
                if taken == 0 {
                    flow.advance(u.next);
                } else {
                    flow.leave(taken, jip);
                    flow.proceed(u.next, jip);
                }
            }
            _ => return Err(Refusal::illegal(format!("{opcode} is not a branch")).into()),
        }
        Ok(())
    }

    /// The targets of a branch, JIP and UIP, as indices of uops. A target in a register is an
    /// offset from the branch, or an address for `calla` and `ret`. `goes` is true if the branch
    /// goes to a target; otherwise the register is not read. If the target is not decoded yet, the
    /// thread stops before the branch has any effect.
    fn targets(
        &mut self,
        u: &Uop,
        opcode: Opcode,
        goes: bool,
        kernel: &Kernel,
    ) -> Result<(u32, u32), Interrupt> {
        let computed = matches!(
            opcode,
            Opcode::Call | Opcode::Calla | Opcode::Ret | Opcode::Brd | Opcode::Brc
        );
        if !computed || u.branch.jip != NOWHERE || !goes {
            return Ok((u.branch.jip, u.branch.uip));
        }
        let absolute = matches!(opcode, Opcode::Calla | Opcode::Ret);
        let mut find = |value: u32| {
            let offset = if absolute {
                value.wrapping_sub(kernel.ip_base)
            } else {
                u.offset.wrapping_add(value)
            } & !7;
            kernel.index(offset).ok_or_else(|| {
                self.pending.stop = Some(Stop::Decode(offset as i32));
                self.pending.again = true;
                Interrupt::Pause
            })
        };
        let [first, second] = match &u.src[0].shape {
            Shape::Scalar(offset) | Shape::Contiguous(offset) => {
                self.regs.dwords(usize::from(*offset))
            }
            Shape::Table(table) => [0, 1].map(|n| self.regs.u32(usize::from(table[n]))),
            _ => [0; 2],
        };
        Ok((find(first)?, if opcode == Opcode::Brc { find(second)? } else { NOWHERE }))
    }

    /// Stores the return address and the mask of the channels that called, if the instruction is a
    /// call.
    fn link(&mut self, u: &Uop, taken: u32, kernel: &Kernel) {
        if let (Op::Isa(Opcode::Call | Opcode::Calla), Target::File { offset, .. }) =
            (u.op, &u.dst.target)
        {
            let back = kernel.ip_base.wrapping_add(u.offset).wrapping_add(u32::from(u.length));
            self.regs.set_dwords(usize::from(*offset), [back, taken]);
        }
    }

    /// `jmpi` moves the thread with all its active channels if channel 0 of the instruction is
    /// enabled.
    fn jump_indexed(&mut self, u: &Uop, mask: u32, kernel: &Kernel) -> Result<(), Interrupt> {
        if mask & 1 == 0 {
            self.flow.advance(u.next);
            return Ok(());
        }
        if u.branch.jip != NOWHERE {
            self.flow.arrive(u.branch.jip);
            return Ok(());
        }
        let distance = match &u.src[0].shape {
            Shape::Scalar(offset) | Shape::Contiguous(offset) => {
                self.regs.u32(usize::from(*offset))
            }
            Shape::Table(table) => self.regs.u32(usize::from(table[0])),
            _ => 0,
        };
        self.jump_to(kernel, u.offset.wrapping_add(u32::from(u.length)).wrapping_add(distance) & !7)
    }

    /// Single program flow: the thread goes where channel 0 of the instruction goes (004:3284).
    fn single_flow(
        &mut self,
        u: &Uop,
        opcode: Opcode,
        channels: u32,
        (jip, uip): (u32, u32),
        kernel: &Kernel,
    ) {
        let taken = channels >> u.first & 1 == 1;
        let target = match opcode {
            Opcode::If if taken => u.next,
            Opcode::If | Opcode::Else => uip,
            Opcode::While if self.flow.broken != 0 => {
                self.flow.broken = 0;
                u.next
            }
            Opcode::Break if taken => {
                if BREAK_MARKS_ITS_CHANNELS && kernel.operation(uip) == Some(Op::Isa(Opcode::While))
                {
                    self.flow.broken = u32::MAX;
                }
                uip
            }
            Opcode::Cont | Opcode::Halt | Opcode::Brc if taken => uip,
            // A taken `goto` with BranchCtrl goes to UIP, and so does a `goto` without BranchCtrl
            // that is not taken.
            Opcode::Goto if taken == u.branch.control => uip,
            Opcode::While | Opcode::Brd | Opcode::Ret if taken => jip,
            Opcode::Call | Opcode::Calla if taken => {
                self.link(u, self.flow.active, kernel);
                jip
            }
            _ => u.next,
        };
        self.flow.advance(target);
    }
}
