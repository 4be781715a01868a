//! The initial state of a thread of G45, and writes to its architecture registers.

use crate::assumptions::SINGLE_FLOW_PROTECTS_MASK_STACKS;
use crate::eu::modes::Modes;
use crate::eu::regions::{A0, CR0, MASK0, MS0, MSD0, SR0};
use crate::eu::thread::{Launch, Thread};
use genxml::gen45::eu_registers::{
    ControlRegister, MaskRegister, MaskStackDepthRegister, MaskStackRegister, StateRegister,
};
use genxml_core::U;
use genxml_eu::gen8::eu_registers::ControlRegister as Gen8Control;

impl Modes {
    /// Reads `cr0.0` of G45 (003:8037-8138). Arithmetic rounds toward zero and flushes subnormal
    /// numbers in both float modes (003:7007).
    fn of_gen45(control: &ControlRegister) -> Modes {
        Modes {
            alternative: control.floating_point_mode.bits() == 1,
            accumulator_disabled: control.accumulator_disable,
            single_flow: control.single_program_flow,
            keep_single: false,
            keep_double: false,
            keep_half: false,
            rounding: 3,
            gen45: true,
        }
    }
}

impl Thread {
    /// Sets the registers and the modes at the start of a thread of G45. All registers must be
    /// zero.
    pub(in crate::eu) fn start_gen45(&mut self, launch: &Launch) {
        let channels = U::from_bits(u64::from(launch.dispatch_mask & 0xffff));
        let state =
            StateRegister { dispatch_mask: channels, ..StateRegister::unpack_lossy(&launch.state) };
        self.regs.set_dwords(SR0, state.pack());
        let control = ControlRegister {
            master_exception_state: false,
            ..ControlRegister::unpack_lossy(&[launch.control, launch.exceptions, 0, 0])
        };
        self.regs.set_dwords(CR0, control.pack());
        self.modes = Modes::of_gen45(&control);
        self.pending.watch = control.external_halt_status || control.breakpoint_status;
        let masks = MaskRegister {
            active_mask: channels,
            if_mask: channels,
            loop_mask: channels,
            continue_mask: channels,
        };
        self.regs.set_dwords(MASK0, masks.pack());
        self.enable(launch.dispatch_mask & 0xffff);
    }

    /// Replaces the fields of `cr0` that Gen8 has too; the others stay.
    pub(in crate::eu) fn set_control_gen45(&mut self, new: &Gen8Control) {
        let control = ControlRegister {
            master_exception_state: new.master_exception_state,
            breakpoint_suppress: new.breakpoint_suppress,
            breakpoint_status: new.breakpoint_status,
            external_halt_status: new.external_halt_status,
            software_exception_control: new.software_exception_status,
            illegal_opcode_status: new.illegal_opcode_status,
            ..ControlRegister::unpack_lossy(&self.regs.dwords(CR0))
        };
        self.regs.set_dwords(CR0, control.pack());
        // The manual drops four low bits (003:8118), but a compact instruction can be at a multiple
        // of 8 bytes.
        let [_, _, back, _] = new.pack();
        self.regs.set_u32(CR0 + 8, back);
        self.modes = Modes::of_gen45(&control);
    }

    /// What a write to `a0`, `sr0`, `mask0`, `ms0` or `msd0` does after its values are in the
    /// register: bits without storage are dropped, read-only registers keep their value `before`.
    pub(in crate::eu) fn written_gen45(&mut self, register: usize, before: [u32; 8]) {
        let protected = self.modes.single_flow && SINGLE_FLOW_PROTECTS_MASK_STACKS;
        match register {
            // The first two words have 16 bits, the others 12 (003:7645).
            A0 => {
                for word in 2..8 {
                    let at = A0 + 2 * word;
                    self.regs.set_u16(at, self.regs.u16(at) & 0xfff);
                }
                self.regs.set_dwords::<4>(A0 + 16, [0; 4]);
            }
            MASK0 => self.masks_changed(),
            MS0 | MSD0 if protected => self.regs.set_dwords(register, before),
            MS0 => {
                let stacks = MaskStackRegister::unpack_lossy(&self.regs.dwords(MS0));
                self.regs.set_dwords(MS0, stacks.pack());
            }
            MSD0 => {
                let depths = MaskStackDepthRegister::unpack_lossy(&self.regs.dwords(MSD0));
                self.regs.set_dwords(MSD0, depths.pack());
            }
            SR0 => self.regs.set_dwords(SR0, before),
            _ => {}
        }
    }

    /// Updates the active channels after a change of `mask0`.
    pub(in crate::eu) fn masks_changed(&mut self) {
        let [low, high] = self.regs.dwords(MASK0);
        self.regs.set_dwords::<6>(MASK0 + 8, [0; 6]);
        let both = low & high;
        self.enable(both & both >> 16);
    }
}
