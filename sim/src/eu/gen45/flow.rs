//! Control flow of G45: four masks enable channels, and two stacks save masks.
//!
//! `mask0` has the active, if, loop and continue mask. A channel is enabled if its bit is set in
//! all four. `ms0` has the if stack and the loop stack: for each channel, the number of masks on
//! the stack in which its bit is clear. `msd0` has the depths of the stacks (003:7811-7991). The
//! instructions are as their pseudocode says (003:10573-10790 and each instruction's page).

use crate::assumptions::{MASK_STACK_COUNTERS_WRAP, MASK_STACK_DEPTH_LIMIT};
use crate::eu::kernel::Kernel;
use crate::eu::regions::{CR0, MASK0, MS0, MSD0};
use crate::eu::stop::Interrupt;
use crate::eu::thread::Thread;
use crate::eu::uop::{NOWHERE, Opcode, Shape, Src, Target, Uop};
use crate::machine::fault::{Exception, Refusal};
use genxml::gen45::eu_registers::ControlRegister;

/// A mask of `mask0`, by the number of its word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mask {
    Active = 0,
    If = 1,
    Loop = 2,
    Continue = 3,
}

/// A mask stack, by its half of `ms0` and its word of `msd0`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stack {
    If = 0,
    Loop = 1,
}

impl Stack {
    /// The stack whose counters begin at byte `offset` of the file.
    fn at(offset: usize) -> Stack {
        if offset == MS0 { Stack::If } else { Stack::Loop }
    }

    fn counters(self) -> usize {
        MS0 + 16 * self as usize
    }

    fn depth(self) -> usize {
        MSD0 + 2 * self as usize
    }
}

impl Thread {
    /// Sets the channels that are active.
    pub(in crate::eu) fn enable(&mut self, channels: u32) {
        self.flow.active = channels;
    }

    fn mask(&self, mask: Mask) -> u16 {
        self.regs.u16(MASK0 + 2 * mask as usize)
    }

    fn set_mask(&mut self, mask: Mask, value: u16) {
        self.regs.set_u16(MASK0 + 2 * mask as usize, value);
    }

    /// The top mask of a stack.
    fn top(&self, stack: Stack) -> u16 {
        let counters: [u8; 16] = self.regs.row(stack.counters());
        let set = |(n, counter): (usize, &u8)| u16::from(*counter == 0) << n;
        counters.iter().enumerate().map(set).sum()
    }

    fn push(&mut self, stack: Stack, mask: u16) {
        if self.modes.single_flow {
            return;
        }
        let mut counters: [u8; 16] = self.regs.row(stack.counters());
        for (n, counter) in counters.iter_mut().enumerate() {
            let more = *counter + (!mask >> n & 1) as u8;
            *counter = if MASK_STACK_COUNTERS_WRAP { more & 15 } else { more.min(15) };
        }
        self.regs.set_row(stack.counters(), counters);
        let depth = self.regs.u16(stack.depth()) + 1;
        self.regs.set_u16(stack.depth(), depth & 15);
        if depth > MASK_STACK_DEPTH_LIMIT {
            self.record(match stack {
                Stack::If => |control| control.istack_overflow_status = true,
                Stack::Loop => |control| control.lstack_overflow_status = true,
            });
        }
    }

    fn pop(&mut self, stack: Stack, levels: u8) {
        if self.modes.single_flow {
            return;
        }
        let mut counters: [u8; 16] = self.regs.row(stack.counters());
        for counter in &mut counters {
            *counter = counter.saturating_sub(levels);
        }
        self.regs.set_row(stack.counters(), counters);
        let depth = self.regs.u16(stack.depth());
        self.regs.set_u16(stack.depth(), depth.wrapping_sub(levels.into()) & 15);
        if u16::from(levels) > depth {
            self.record(match stack {
                Stack::If => |control| control.istack_underflow_status = true,
                Stack::Loop => |control| control.lstack_underflow_status = true,
            });
        }
    }

    /// Takes `levels` masks off the if stack; the last one becomes the if mask.
    fn restore_if(&mut self, levels: u8) {
        if levels != 0 {
            self.pop(Stack::If, levels - 1);
            self.set_mask(Mask::If, self.top(Stack::If));
            self.pop(Stack::If, 1);
        }
    }

    /// Takes the continue mask and the loop mask off the loop stack.
    fn restore_loop(&mut self) {
        for mask in [Mask::Continue, Mask::Loop] {
            self.set_mask(mask, self.top(Stack::Loop));
            self.pop(Stack::Loop, 1);
        }
    }

    #[cold]
    fn record(&mut self, status: fn(&mut ControlRegister)) {
        let mut control = ControlRegister::unpack_lossy(&self.regs.dwords(CR0));
        let [_, _, back, _] = self.regs.dwords(CR0);
        status(&mut control);
        self.regs.set_dwords(CR0, control.pack());
        self.regs.set_u32(CR0 + 8, back);
        // The exception is raised after the instruction.
        self.pending.stacks = control.mask_stack_enable && !control.master_exception_state;
    }

    /// Executes a control flow instruction of G45. `mask` has the channels that the execution mask
    /// and the predicate enable.
    pub(in crate::eu) fn control_gen45(
        &mut self,
        u: &Uop,
        opcode: Opcode,
        mask: u32,
        kernel: &Kernel,
    ) -> Result<(), Interrupt> {
        if opcode == Opcode::Jmpi {
            return self.jump_gen45(u, mask, kernel);
        }
        let jumps = self.update_masks(u, opcode, mask)?;
        self.masks_changed();
        self.flow.advance(if jumps { u.branch.jip } else { u.next });
        if std::mem::take(&mut self.pending.stacks) {
            self.stack_exception(kernel)?;
        }
        Ok(())
    }

    /// Does what a control flow instruction does to masks and stacks. Returns true if it jumps.
    fn update_masks(&mut self, u: &Uop, opcode: Opcode, mask: u32) -> Result<bool, Interrupt> {
        let channels = (mask << u.first) as u16;
        let enabled = self.flow.active as u16;
        let all = |value: u16| if u.no_mask { u16::MAX } else { value };
        let size = (u.lanes << u.first) as u16;
        Ok(match opcode {
            Opcode::If => {
                self.push(Stack::If, self.mask(Mask::If));
                self.set_mask(Mask::If, channels);
                channels == 0
            }
            Opcode::Iff => {
                if channels != 0 {
                    self.push(Stack::If, self.mask(Mask::If));
                    self.set_mask(Mask::If, channels);
                }
                channels == 0
            }
            Opcode::Else => {
                let others = !self.mask(Mask::If) & self.top(Stack::If);
                self.set_mask(Mask::If, others);
                self.masks_changed();
                let none = all(self.flow.active as u16) & size == 0;
                if none {
                    self.set_mask(Mask::If, self.top(Stack::If));
                    self.pop(Stack::If, u.branch.pops);
                }
                none
            }
            Opcode::Endif => {
                self.set_mask(Mask::If, self.top(Stack::If));
                self.pop(Stack::If, u.branch.pops);
                false
            }
            // In single program flow, `do` does nothing.
            Opcode::Do if self.modes.single_flow => false,
            Opcode::Do => {
                self.push(Stack::Loop, self.mask(Mask::Loop));
                self.push(Stack::Loop, self.mask(Mask::Continue));
                self.set_mask(Mask::Loop, enabled);
                self.set_mask(Mask::Continue, enabled);
                false
            }
            Opcode::While => {
                // The continue mask is ignored.
                let masks = self.mask(Mask::Active) & self.mask(Mask::If) & self.mask(Mask::Loop);
                let predicate = (self.predicate(u) << u.first) as u16;
                let again = all(masks) & predicate & size;
                if again != 0 {
                    self.set_mask(Mask::Continue, again);
                    self.set_mask(Mask::Loop, again);
                } else {
                    self.restore_loop();
                }
                again != 0
            }
            Opcode::Break => {
                let loops = self.mask(Mask::Loop) & !channels;
                self.set_mask(Mask::Loop, loops);
                self.set_mask(Mask::Continue, self.mask(Mask::Continue) & !channels);
                let none = loops & self.mask(Mask::Active) == 0;
                if none {
                    self.restore_loop();
                    self.restore_if(u.branch.pops);
                }
                none
            }
            Opcode::Cont => {
                let continues = self.mask(Mask::Continue) & !channels;
                self.set_mask(Mask::Continue, continues);
                let none = continues & self.mask(Mask::Active) == 0;
                if none {
                    self.restore_if(u.branch.pops);
                }
                none
            }
            Opcode::Halt => {
                let rest = self.mask(Mask::Active) & !channels;
                self.set_mask(Mask::Active, rest);
                rest == 0
            }
            Opcode::Msave | Opcode::Mrest | Opcode::Push | Opcode::Pop => {
                self.explicit(u, opcode, all(enabled));
                false
            }
            _ => return Err(Refusal::illegal(format!("{opcode} is not a branch of G45")).into()),
        })
    }

    /// Executes an instruction that names a mask stack. `enabled` are the enabled channels.
    fn explicit(&mut self, u: &Uop, opcode: Opcode, enabled: u16) {
        let value = self.scalar(&u.src[0]);
        match (opcode, &u.src[0].shape) {
            (Opcode::Mrest, Shape::Scalar(from)) => {
                let stack = Stack::at(usize::from(*from));
                self.regs.set_u16(destination(u), self.top(stack));
                self.pop(stack, 1);
            }
            (Opcode::Pop, _) => self.pop(Stack::at(destination(u)), (value & 15) as u8),
            (_, shape) => {
                self.push(Stack::at(destination(u)), value);
                if let (Opcode::Msave, Shape::Scalar(mask)) = (opcode, shape) {
                    self.regs.set_u16(usize::from(*mask), enabled);
                }
            }
        }
    }

    /// The first element of a source, cut to 16 bits.
    fn scalar(&self, src: &Src) -> u16 {
        match &src.shape {
            Shape::Scalar(offset) | Shape::Contiguous(offset) => {
                self.regs.u16(usize::from(*offset))
            }
            Shape::Table(table) => self.regs.u16(usize::from(table[0])),
            Shape::Immediate(bits) => *bits as u16,
            _ => 0,
        }
    }

    /// `jmpi` jumps if channel 0 of the instruction is enabled. The count is in units of
    /// 16 bytes from the next instruction; hardware uses 16 bits of it (003:11960).
    fn jump_gen45(&mut self, u: &Uop, mask: u32, kernel: &Kernel) -> Result<(), Interrupt> {
        if mask & 1 == 0 {
            self.flow.advance(u.next);
            return Ok(());
        }
        if u.branch.jip != NOWHERE {
            self.flow.arrive(u.branch.jip);
            return Ok(());
        }
        let count = i32::from(self.scalar(&u.src[0]) as i16);
        self.jump_to(kernel, u.offset.wrapping_add_signed((count + 1) * 16))
    }

    /// Raises the exception of a mask stack. The system routine returns to the next instruction.
    #[cold]
    fn stack_exception(&mut self, kernel: &Kernel) -> Result<(), Interrupt> {
        let next = self.position(kernel);
        self.raise(Exception::MaskStack, next, kernel)?;
        Err(Interrupt::Pause)
    }

    /// With `ignored`, enables the channels without regard to the continue mask; without it,
    /// enables them by all four masks again (MaskCtrlEx, 003:9813).
    pub(in crate::eu) fn ignore_continue_mask(&mut self, ignored: bool) {
        if ignored {
            let masks = self.mask(Mask::Active) & self.mask(Mask::If) & self.mask(Mask::Loop);
            self.enable(masks.into());
        } else {
            self.masks_changed();
        }
    }
}

/// The byte of the file where the destination of an instruction begins. The decoder has checked
/// that instructions of mask stacks have one.
fn destination(u: &Uop) -> usize {
    match u.dst.target {
        Target::File { offset, .. } => usize::from(offset),
        _ => MS0,
    }
}
