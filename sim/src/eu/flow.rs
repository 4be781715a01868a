//! Control flow: every channel has an instruction pointer of its own (eu.md 4.3).
//!
//! Channels that are where the thread is are *active*; the others *wait* at the address where they will be active
//! again. The thread goes from instruction to instruction and, where an instruction finds nobody at the next one,
//! to the place that the instruction names. Channels that an instruction's size leaves out count as not taking a
//! branch. In single program flow all channels go where channel 0 goes.

use super::kernel::Kernel;
use super::thread::{Thread, Trap};
use super::uop::{NOWHERE, Op, Shape, Target, Uop};

/// Where the channels of a thread are.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Index of the current uop.
    pub ip: u32,
    /// Channels that are there.
    pub active: u32,
    /// Channels that are elsewhere.
    waiting: u32,
    /// Where the waiting ones are.
    places: [u32; 32],
    /// Waiting channels that left a loop by `break`: the `while` that they wait at lets them out.
    broken: u32,
}

impl Flow {
    /// All channels of `enabled` at the first instruction.
    pub fn new(enabled: u32) -> Flow {
        Flow { ip: 0, active: enabled, waiting: 0, places: [NOWHERE; 32], broken: 0 }
    }

    /// Goes to uop `index`, and so do all active channels; those that wait there join them.
    #[inline(always)]
    pub fn advance(&mut self, index: u32) {
        self.ip = index;
        if self.waiting != 0 {
            self.join();
        }
    }

    /// The same, as the end of a jump.
    #[inline(always)]
    pub fn arrive(&mut self, index: u32) {
        self.advance(index);
    }

    fn join(&mut self) {
        let here = (0..32).fold(0, |bits, c| bits | u32::from(self.places[c] == self.ip) << c) & self.waiting;
        self.active |= here;
        self.waiting &= !here;
    }

    /// Sends active channels to wait at uop `index`.
    fn leave(&mut self, channels: u32, index: u32) {
        self.active &= !channels;
        self.waiting |= channels;
        for (c, place) in self.places.iter_mut().enumerate() {
            if channels >> c & 1 == 1 {
                *place = index;
            }
        }
    }

    /// Goes on at `next` if a channel is there, else at `other`.
    fn proceed(&mut self, next: u32, other: u32) {
        self.advance(next);
        if self.active == 0 {
            self.advance(other);
        }
    }
}

impl Thread {
    /// Executes a control flow instruction; `mask` are its enabled channels by execution mask and predicate.
    pub(super) fn branch(&mut self, u: &Uop, mask: u32, kernel: &Kernel) -> Result<(), Trap> {
        let channels = mask.checked_shl(u32::from(u.first)).unwrap_or(0);
        if u.op == Op::Jmpi {
            return self.jump_indexed(u, mask, kernel);
        }
        if self.modes.single_flow {
            return self.single_flow(u, channels, kernel);
        }
        let (jip, uip) = self.targets(u, kernel)?;
        let flow = &mut self.flow;
        let taken = channels & flow.active;
        let others = flow.active & !taken;
        match u.op {
            Op::If => {
                flow.leave(others, jip);
                flow.proceed(u.next, jip);
            }
            Op::Else => {
                flow.leave(flow.active, if u.branch.control { jip } else { uip });
                flow.proceed(u.next, jip);
            }
            Op::Endif | Op::Join => flow.proceed(u.next, jip),
            Op::While => {
                let out = taken & flow.broken;
                flow.broken &= !out;
                let again = taken & !out;
                if again == 0 {
                    flow.advance(u.next);
                } else {
                    flow.leave(flow.active & !again, u.next);
                    flow.advance(jip);
                }
            }
            Op::Break => {
                if kernel.uops.get(uip as usize).is_some_and(|at| at.op == Op::While) {
                    flow.broken |= taken;
                }
                flow.leave(taken, uip);
                flow.proceed(u.next, jip);
            }
            Op::Cont | Op::Halt | Op::Brc => {
                flow.leave(taken, uip);
                flow.proceed(u.next, jip);
            }
            Op::Goto if u.branch.control => {
                flow.leave(taken, uip);
                flow.leave(others, u.next);
                flow.advance(uip);
                if flow.active == 0 {
                    flow.proceed(u.next, jip);
                }
            }
            Op::Goto => {
                flow.leave(others, uip);
                flow.proceed(u.next, jip);
            }
            Op::Brd => {
                if taken == 0 {
                    flow.advance(u.next);
                } else {
                    flow.leave(others, u.next);
                    flow.advance(jip);
                }
            }
            Op::Call | Op::Calla => {
                if taken == 0 {
                    flow.advance(u.next);
                } else {
                    flow.leave(others, u.next);
                    self.link(u, taken, kernel);
                    self.flow.advance(jip);
                }
            }
            Op::Ret => {
                if taken == 0 {
                    flow.advance(u.next);
                } else {
                    // Channels that do not return yet are at the next instruction; the rest resume at the return
                    // address, which the call stored (the mask beside it names the same channels).
                    flow.leave(taken, jip);
                    flow.proceed(u.next, jip);
                }
            }
            _ => return Err(Trap::Illegal(format!("{:?} is no branch", u.op))),
        }
        Ok(())
    }

    /// Where the branch leads. A target in a register is an offset from the branch, but for `calla` and `ret` an address.
    fn targets(&self, u: &Uop, kernel: &Kernel) -> Result<(u32, u32), Trap> {
        if !matches!(u.op, Op::Call | Op::Calla | Op::Ret | Op::Brd | Op::Brc) || u.branch.jip != NOWHERE {
            return Ok((u.branch.jip, u.branch.uip));
        }
        let absolute = matches!(u.op, Op::Calla | Op::Ret);
        let find = |value: u32| {
            let offset =
                if absolute { value.wrapping_sub(kernel.ip_base) } else { u.offset.wrapping_add(value) };
            kernel.index(offset).ok_or_else(|| Trap::Missing {
                what: format!("{:?} to +{offset:#x}, which no direct branch reaches", u.op),
                page: "2a, control flow",
            })
        };
        let dword = |n: usize| match &u.src[0].shape {
            Shape::Scalar(offset) | Shape::Contiguous(offset) => {
                Ok(self.regs.u32(usize::from(*offset) + 4 * n))
            }
            Shape::Table(table) => Ok(self.regs.u32(usize::from(table[n]))),
            _ => Err(Trap::Illegal(format!("{:?} with a target that is not in a general register", u.op))),
        };
        let first = find(dword(0)?)?;
        let second = if u.op == Op::Brc { find(dword(1)?)? } else { NOWHERE };
        Ok((first, second))
    }

    /// Stores the return address and the mask of the channels that called.
    fn link(&mut self, u: &Uop, taken: u32, kernel: &Kernel) {
        if let Target::File { offset, .. } = u.dst.target {
            let back = kernel.ip_base.wrapping_add(u.offset).wrapping_add(u32::from(u.length));
            self.regs.set_u32(usize::from(offset), back);
            self.regs.set_u32(usize::from(offset) + 4, taken);
        }
    }

    /// `jmpi` moves the thread with all its active channels if channel 0 of the instruction is enabled.
    fn jump_indexed(&mut self, u: &Uop, mask: u32, kernel: &Kernel) -> Result<(), Trap> {
        if mask & 1 == 0 {
            self.flow.advance(u.next);
            return Ok(());
        }
        if u.branch.jip != NOWHERE {
            self.flow.arrive(u.branch.jip);
            return Ok(());
        }
        let distance = match &u.src[0].shape {
            Shape::Scalar(offset) | Shape::Contiguous(offset) => self.regs.u32(usize::from(*offset)),
            _ => return Err(Trap::Illegal("jmpi with a target that is not in a register".into())),
        };
        let offset = u.offset.wrapping_add(u32::from(u.length)).wrapping_add(distance);
        match kernel.index(offset) {
            Some(index) => {
                self.flow.arrive(index);
                Ok(())
            }
            None => Err(Trap::Missing {
                what: format!("jmpi to +{offset:#x}, which no direct branch reaches"),
                page: "2a jmpi",
            }),
        }
    }

    /// Single program flow: the thread goes where channel 0 of the instruction goes (004:3284).
    fn single_flow(&mut self, u: &Uop, channels: u32, kernel: &Kernel) -> Result<(), Trap> {
        let (jip, uip) = self.targets(u, kernel)?;
        let taken = channels >> u.first & 1 == 1;
        let target = match u.op {
            Op::If if taken => u.next,
            Op::If | Op::Else => uip,
            Op::Endif | Op::Join => u.next,
            Op::While if self.flow.broken != 0 => {
                self.flow.broken = 0;
                u.next
            }
            Op::Break if taken => {
                if kernel.uops.get(uip as usize).is_some_and(|at| at.op == Op::While) {
                    self.flow.broken = u32::MAX;
                }
                uip
            }
            Op::Cont | Op::Halt | Op::Brc if taken => uip,
            // With BranchCtrl the taken way is the far one, without it the near one.
            Op::Goto if taken == u.branch.control => uip,
            Op::While | Op::Brd | Op::Ret if taken => jip,
            Op::Call | Op::Calla if taken => {
                self.link(u, self.flow.active, kernel);
                jip
            }
            _ => u.next,
        };
        self.flow.advance(target);
        Ok(())
    }
}
