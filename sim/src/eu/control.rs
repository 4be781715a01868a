//! Machine registers, whose writes have side effects (`sr0`, `cr0`, `n0`, `tdr0`, `tm0`, `ce0`),
//! and exceptions.
//!
//! An exception stores the return address in `cr0.2` and continues in the system routine, which
//! returns by clearing the master bit of `cr0.0` (004 3.3.3.8, G45 vol 4 chapter 12).
//! Exceptions do not nest: inside the routine, an exception sets its bit in `cr0.1` and does not
//! enter the routine again.

use super::execute;
use super::fast::{self, Level, Operation};
use super::kernel::Kernel;
use super::modes::{Change, Modes, masks_control};
use super::regions::{CE0, CR0, GRF_BYTES, IP, MASK0, MS0, MSD0, N0, REGISTER, SR0, TDR0, TM0};
use super::stop::{Interrupt, Stop, Trap};
use super::thread::Thread;
use super::uop::{NOWHERE, Shape, Target, Uop};
use crate::assumptions::{MACHINE_REGISTERS_DROP_WRITES, SUPPRESSED_BREAKPOINT_STEPS};
use crate::machine::fault::{Exception, Refusal};
use genxml_core::{Address, U, U64};
use genxml_eu::gen8::eu_registers::{
    ControlRegister, NotificationRegister, StateRegister, ThreadDependencyRegister,
    TimestampRegister,
};

impl Thread {
    /// The value of `cr0`.
    pub fn control(&self) -> ControlRegister {
        ControlRegister::unpack_lossy(&self.regs.dwords(CR0))
    }

    fn set_control(&mut self, control: &ControlRegister) {
        #[cfg(feature = "gen45")]
        if self.modes.gen45 {
            return self.set_control_gen45(control);
        }
        self.regs.set_dwords(CR0, control.pack());
        self.modes = Modes::from_control(self.regs.u32(CR0));
    }

    /// Requests the external halt exception. It is raised before the next instruction outside the
    /// system routine.
    pub fn halt(&mut self) {
        self.set_control(&ControlRegister { external_halt_status: true, ..self.control() });
        self.pending.watch = true;
    }

    /// Adds a notification to subregister `register` (0, 1 or 2) of `n0`. The counts 0 and 2 have
    /// 16 bits and saturate. The host notification, 1, has one bit.
    pub fn notify(&mut self, register: u8) {
        let mut counts = NotificationRegister::unpack_lossy(&self.regs.dwords(N0));
        let more = |count: U<16>| U::new((count.get() + 1).min(0xffff)).unwrap_or(count);
        match register {
            0 => counts.thread_notification_count_0 = more(counts.thread_notification_count_0),
            1 => counts.host_notification = true,
            _ => counts.thread_notification_count_2 = more(counts.thread_notification_count_2),
        }
        self.regs.set_dwords(N0, counts.pack());
    }

    /// Call when the thread with this FFTID has ended: a `sendc` no longer waits for it.
    pub fn retired(&mut self, fftid: u8) {
        for n in 0..8 {
            let dependency = self.dependency(n);
            if dependency.fftid.get() == u64::from(fftid) {
                self.set_dependency(n, ThreadDependencyRegister { valid: false, ..dependency });
            }
        }
    }

    /// The value of `tdr0.n`; `n` must be 0 to 7.
    fn dependency(&self, n: usize) -> ThreadDependencyRegister {
        ThreadDependencyRegister::unpack_lossy(&[self.regs.u16(TDR0 + 2 * n).into()])
    }

    /// Replaces `tdr0.n`; only the low 3 bits of `n` are used.
    pub fn set_dependency(&mut self, n: usize, dependency: ThreadDependencyRegister) {
        let [bits] = dependency.pack();
        self.regs.set_u16(TDR0 + 2 * (n & 7), bits as u16);
    }

    /// FFTID of a thread that a `sendc` has to wait for, if there is one.
    pub(super) fn awaited(&self) -> Option<u8> {
        (0..8).map(|n| self.dependency(n)).find(|d| d.valid).map(|d| d.fftid.get() as u8)
    }

    /// Updates the registers that change without a write: `ip`, `tm0` and `ce0`.
    pub(super) fn refresh(&mut self, u: &Uop, kernel: &Kernel, timestamp: Option<u64>) {
        self.regs.set_u32(IP, kernel.ip_base.wrapping_add(u.offset));
        if let Some(timestamp) = timestamp {
            let clock = TimestampRegister { time: U64::from_bits(timestamp), event: false };
            self.regs.set_dwords(TM0, clock.pack());
        }
        // Bit 0 of ce0 is the first channel of the instruction (gen8_facts 3.8).
        self.regs.set_u32(CE0, self.flow.active >> u.first);
    }

    /// Executes an instruction whose destination is a machine register, with the side effects of
    /// the write.
    pub(super) fn write_machine(
        &mut self,
        u: &Uop,
        mask: u32,
        kernel: &Kernel,
    ) -> Result<(), Interrupt> {
        let Target::File { offset, stride } = u.dst.target else {
            let why = "a register of the machine as an indirect destination";
            return Err(Refusal::illegal(why).into());
        };
        let offset = usize::from(offset);
        let register = offset - offset % REGISTER;
        let before: [u32; 8] = self.regs.dwords(register);
        // The same instruction on the same `cr0` has the same result. Only two fields are copied: a
        // copy of the whole `Change` would take longer than the rest.
        if let Some(change) = &self.change
            && change.by.is_some()
            && change.before == before
            && change.by == masks_control(u)
        {
            let (stored, modes) = (change.stored, change.modes);
            return self.change_again(stored, modes, u);
        }
        let fast = u.plan.operation != Operation::NONE
            && Level::detect().is_some_and(|level| fast::run(level, self, u, mask));
        if mask != 0 && !fast {
            execute::alu(self, u, mask)?;
        }
        match register {
            CR0 => return self.control_written(before, u, kernel),
            SR0 if !self.modes.gen45() => {
                let state = StateRegister::unpack_lossy(&self.regs.dwords(SR0));
                self.regs.set_dwords(SR0, state.pack());
            }
            TDR0 => {
                // A write to `tdr0` only clears the valid bits of the entries that it touches
                // (004:3690).
                let written: Vec<usize> = (0..usize::from(u.size))
                    .filter(|c| mask >> c & 1 == 1)
                    .map(|c| offset + c * usize::from(stride) - TDR0)
                    .flat_map(|first| first / 2..(first + u.dst.ty.size()).div_ceil(2))
                    .collect();
                self.regs.set_dwords(register, before);
                for n in written.into_iter().filter(|n| *n < 8) {
                    let dependency =
                        ThreadDependencyRegister { valid: false, ..self.dependency(n) };
                    self.set_dependency(n, dependency);
                }
            }
            N0 | TM0 | CE0 if MACHINE_REGISTERS_DROP_WRITES => {
                self.regs.set_dwords(register, before)
            }
            #[cfg(feature = "gen45")]
            _ if self.modes.gen45 => self.written_gen45(register, before),
            _ => {}
        }
        self.flow.advance(u.next);
        Ok(())
    }

    /// Applies the effects of a write to `cr0`, which contained `before`.
    fn control_written(
        &mut self,
        before: [u32; 8],
        u: &Uop,
        kernel: &Kernel,
    ) -> Result<(), Interrupt> {
        let written = self.regs.dwords(CR0);
        if let Some(change) = &self.change
            && change.before == before
            && change.written == written
        {
            let (stored, modes) = (change.stored, change.modes);
            return self.change_again(stored, modes, u);
        }
        let old = ControlRegister::unpack_lossy(&[before[0], before[1], before[2], before[3]]);
        self.control_changed(&old, u, kernel)?;
        if !old.master_exception_state && !self.modes.gen45() {
            let (stored, modes) = (self.regs.dwords(CR0), self.modes);
            self.change = Some(Change { by: masks_control(u), before, written, stored, modes });
        }
        Ok(())
    }

    /// Repeats a write to `cr0` that only changed modes.
    fn change_again(&mut self, stored: [u32; 8], modes: Modes, u: &Uop) -> Result<(), Interrupt> {
        self.regs.set_dwords(CR0, stored);
        self.modes = modes;
        self.pending.watch = false;
        self.flow.advance(u.next);
        if self.pending.any() { Err(Interrupt::Pause) } else { Ok(()) }
    }

    /// As [`control_written`](Self::control_written), for any write.
    fn control_changed(
        &mut self,
        before: &ControlRegister,
        u: &Uop,
        kernel: &Kernel,
    ) -> Result<(), Interrupt> {
        let mut control = self.control();
        let returns = before.master_exception_state && !control.master_exception_state;
        // Software can clear the master bit, but cannot set it.
        control.master_exception_state &= before.master_exception_state;
        self.set_control(&control);
        let next = u.offset.wrapping_add(u32::from(u.length));
        if returns {
            let address = control.application_instruction_pointer.get() as u32;
            self.pending.goto = Some(address.wrapping_sub(kernel.ip_base));
        } else {
            self.flow.advance(u.next);
        }
        if control.master_exception_state {
            return Ok(());
        }
        if control.software_exception_status && control.software_exception_enable {
            let at = self.pending.goto.unwrap_or(next);
            self.raise(Exception::Software, at, kernel)?;
        }
        self.pending.watch =
            control.external_halt_status || control.breakpoint_status && control.breakpoint_enable;
        if self.pending.any() { Err(Interrupt::Pause) } else { Ok(()) }
    }

    /// Handles an illegal opcode: raises the exception if it is enabled, else works as `nop`
    /// (003:9342). The status bit is set in both cases (001:21696).
    pub(super) fn illegal_opcode(&mut self, u: &Uop, kernel: &Kernel) -> Result<(), Interrupt> {
        let mut control = self.control();
        control.illegal_opcode_status = true;
        self.set_control(&control);
        if control.illegal_opcode_enable && !control.master_exception_state {
            self.raise(Exception::IllegalOpcode, u.offset, kernel)?;
            return Err(Interrupt::Pause);
        }
        if u.next == NOWHERE {
            // Decoding ended here, after many successive illegal opcodes (`MAX_PADDING`).
            self.pending.goto = Some(u.offset.wrapping_add(u32::from(u.length)));
            return Err(Interrupt::Pause);
        }
        self.flow.advance(u.next);
        Ok(())
    }

    /// Raises a pending external halt or breakpoint exception before the instruction at `offset`.
    /// Returns true if an exception was raised: the thread then goes to the system routine.
    /// `breakpoint` is true if the instruction has a breakpoint.
    pub(super) fn interrupted(
        &mut self,
        breakpoint: bool,
        offset: u32,
        kernel: &Kernel,
    ) -> Result<bool, Interrupt> {
        let mut control = self.control();
        let lingers = control.breakpoint_status;
        if breakpoint {
            control.breakpoint_status = true;
        }
        if control.master_exception_state {
            self.set_control(&control);
            return Ok(false);
        }
        if control.external_halt_status && self.halt_enabled() {
            self.raise(Exception::ExternalHalt, offset, kernel)?;
            return Ok(true);
        }
        if !(control.breakpoint_enable && (breakpoint || lingers)) {
            self.set_control(&control);
            self.pending.watch = false;
            return Ok(false);
        }
        if control.breakpoint_suppress {
            // The instruction at `offset` is executed without an exception. If the system routine
            // left the status bit set, the next instruction raises the exception: a single step.
            #[cfg(feature = "gen45")]
            if lingers && kernel.is_compressed(offset) {
                let why = "a single step of a compressed instruction: hardware does not advance \
                    the instruction pointer (003:8100)";
                return Err(Refusal::illegal(why).into());
            }
            control.breakpoint_suppress = false;
            control.breakpoint_status = lingers;
            self.set_control(&control);
            self.pending.watch = lingers && SUPPRESSED_BREAKPOINT_STEPS;
            return Ok(false);
        }
        self.set_control(&control);
        self.raise(Exception::Breakpoint, offset, kernel)?;
        Ok(true)
    }

    /// True if the exception External Halt is enabled. Only G45 can disable it.
    fn halt_enabled(&self) -> bool {
        #[cfg(feature = "gen45")]
        if self.modes.gen45 {
            return self.halt_enabled_gen45();
        }
        true
    }

    /// Enters the system routine, which will return to `back`.
    pub(super) fn raise(
        &mut self,
        exception: Exception,
        back: u32,
        kernel: &Kernel,
    ) -> Result<(), Trap> {
        let Some(routine) = self.system_routine else { return Err(Trap::Exception(exception)) };
        let address = kernel.ip_base.wrapping_add(back) & !7;
        let control = ControlRegister {
            master_exception_state: true,
            application_instruction_pointer: Address::from_bits(address.into()),
            ..self.control()
        };
        self.set_control(&control);
        self.pending.goto = Some(routine.wrapping_sub(kernel.ip_base));
        self.pending.watch = false;
        Ok(())
    }

    /// Executes `wait`: decrements the counter of `n0` that the instruction names. If the counter
    /// is zero, the thread stops and waits for a notification.
    pub(super) fn wait(&mut self, u: &Uop) -> Result<(), Interrupt> {
        let counter = match u.src[0].shape {
            Shape::Scalar(offset) => usize::from(offset),
            _ => N0,
        };
        match self.regs.u32(counter) {
            0 => {
                let register = ((counter - N0) / 4) as u32;
                self.pending.stop = Some(Stop::Notification(register));
                self.pending.again = true;
                Err(Interrupt::Pause)
            }
            count => {
                self.regs.set_u32(counter, count - 1);
                self.flow.advance(u.next);
                Ok(())
            }
        }
    }
}

/// True if the byte `offset` of the file is in a machine register: writes to it have side effects.
pub fn belongs_to_machine(offset: usize) -> bool {
    let register = offset - offset % REGISTER;
    offset >= GRF_BYTES
        && matches!(register, CR0 | SR0 | TDR0 | N0 | TM0 | CE0 | MASK0 | MS0 | MSD0)
}
