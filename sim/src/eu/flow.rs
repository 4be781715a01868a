//! Control flow: every channel has an instruction pointer of its own (eu.md 4.3).
//!
//! Channels at the thread's current instruction are *active*. The others *wait* at the address
//! where they become active again. The thread continues with the next instruction; if no channel is
//! active there, it continues at the target that the instruction names. Channels outside the size
//! of a branch do not take it. In single program flow all channels go where channel 0 goes.

use super::control::Stop;
use super::kernel::Kernel;
use super::thread::{Interrupt, Thread};
use super::uop::{NOWHERE, Op, Opcode, Shape, Target, Uop};
use crate::assumptions::{BREAK_MARKS_ITS_CHANNELS, JOIN_KEEPS_CHANNELS_WITHOUT_PREDICATE};
use crate::machine::fault::Refusal;

/// The instruction pointers of the channels of a thread.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Index of the current uop.
    pub ip: u32,
    /// Channels that are at this uop.
    pub active: u32,
    /// Channels that wait at another uop.
    waiting: u32,
    /// Indices of the uops where they wait.
    places: [u32; 32],
    /// Bit n is set if a channel may wait at an index that is n modulo 64. With it, nearly all
    /// instructions skip the search for waiting channels.
    awaited: u64,
    /// Waiting channels that left a loop by `break`. They leave the loop at the `while` where they
    /// wait.
    broken: u32,
}

impl Flow {
    /// All channels of `enabled` at the first instruction.
    pub fn new(enabled: u32) -> Flow {
        Flow { ip: 0, active: enabled, waiting: 0, places: [NOWHERE; 32], awaited: 0, broken: 0 }
    }

    /// All active channels go to uop `index`. Channels that wait there become active.
    #[inline(always)]
    pub fn advance(&mut self, index: u32) {
        self.ip = index;
        if self.awaited >> (index & 63) & 1 == 1 {
            self.join();
        }
    }

    /// The same, as the end of a jump.
    #[inline(always)]
    pub fn arrive(&mut self, index: u32) {
        self.advance(index);
    }

    fn join(&mut self) {
        let here = (0..32).fold(0, |bits, c| bits | u32::from(self.places[c] == self.ip) << c)
            & self.waiting;
        self.active |= here;
        self.waiting &= !here;
        self.awaited = self.waiting().fold(0, |bits, (_, index)| bits | 1 << (index & 63));
    }

    /// Sends active channels to wait at uop `index`.
    fn leave(&mut self, channels: u32, index: u32) {
        if channels == 0 {
            return;
        }
        self.active &= !channels;
        self.waiting |= channels;
        self.awaited |= 1 << (index & 63);
        for (c, place) in self.places.iter_mut().enumerate() {
            if channels >> c & 1 == 1 {
                *place = index;
            }
        }
    }

    /// Waiting channels with the index of the uop where they wait.
    pub fn waiting(&self) -> impl Iterator<Item = (u8, u32)> + '_ {
        (0u8..32).filter(|c| self.waiting >> c & 1 == 1).map(|c| (c, self.places[usize::from(c)]))
    }

    /// Continues at `next` if a channel is active there, else at `other`.
    fn proceed(&mut self, next: u32, other: u32) {
        self.advance(next);
        if self.active == 0 {
            self.advance(other);
        }
    }
}

impl Thread {
    /// Executes a control flow instruction; `mask` are its enabled channels by execution mask and
    /// predicate.
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
            // Without active channels, a converging branch still continues at its first target.
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

    /// Each channel goes its own way.
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
                // Channels outside the size continue.
                if JOIN_KEEPS_CHANNELS_WITHOUT_PREDICATE {
                    let size = u.lanes.checked_shl(u32::from(u.first)).unwrap_or(0);
                    flow.leave(others & size, flow.ip);
                }
                flow.proceed(u.next, jip);
            }
            Opcode::While => {
                // Channels that left the loop waited here. Their mark is not needed any more.
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
                // Channels that do not return continue at the next instruction. After the last one
                // has returned, the thread continues where the callers wait
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

    /// The targets of a branch. A target in a register is an offset from the branch, or an address
    /// for `calla` and `ret`; it is read only if the branch `goes`. If the target is not decoded
    /// yet, the thread stops before the branch has any effect.
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
            // With BranchCtrl a taken branch goes to UIP, without it a branch that is not taken.
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
