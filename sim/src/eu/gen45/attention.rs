//! Attention: a thread shows the host that it waits (`wait n1`), with one bit of data, and the host
//! lets it continue (003:2513-2590). This module also reads the state that a debugger shows.

use crate::eu::regions::{CR0, SR0};
use crate::eu::thread::Thread;
use genxml::gen45::eu_registers::{ControlRegister, StateRegister};

impl Thread {
    /// The bit of data that the thread shows the host: Host Notification Data of `cr0.0`.
    pub fn attention_data(&self) -> bool {
        self.control_register().host_notification_data
    }

    /// The host clears the attention of the thread: a notification in `n1`, and the bit of data
    /// becomes 0 (assumptions::G45_CLEARED_ATTENTION_NOTIFIES).
    pub fn clear_attention(&mut self) {
        self.notify(1);
        let [modes, ..]: [u32; 4] = self.regs.dwords(CR0);
        let control = ControlRegister {
            host_notification_data: false,
            ..ControlRegister::unpack_lossy(&[modes, 0, 0, 0])
        };
        self.regs.set_u32(CR0, control.pack()[0]);
    }

    /// True if the exception External Halt is enabled. Gen8 cannot disable it.
    pub(in crate::eu) fn halt_enabled_gen45(&self) -> bool {
        self.control_register().external_halt_enable
    }

    /// The identity of the thread, and the channels that it started with.
    pub fn identity(&self) -> StateRegister {
        StateRegister::unpack_lossy(&self.regs.dwords(SR0))
    }

    /// `cr0`: modes, exceptions, and the return address of the system routine.
    fn control_register(&self) -> ControlRegister {
        ControlRegister::unpack_lossy(&self.regs.dwords(CR0))
    }
}
