//! Kernels with the breakpoints of the instruction cache (003:2226-2305). They are not in the cache
//! of decoded kernels.

use super::value;
use crate::assumptions::G45_BREAKPOINTS_HAVE_GRAPHICS_ADDRESSES;
use crate::eu::gen45::breakpoints::{AtOpcode, Breakpoints};
use crate::eu::{Kernel, cache, decode};
use crate::machine::exec::Exec;
use crate::machine::registers::Registers;
use genxml::gen45::debug_shared::{IscL1caBpAdr1, IscL1caBpAdr2, IscL1caBpOpc1, IscL1caBpOpc2};
use genxml_eu::Generation;
use std::sync::Arc;

/// The breakpoints of the instruction cache; none if no register sets one.
pub fn breakpoints(registers: &Registers) -> Option<Breakpoints> {
    let one = value!(registers, IscL1caBpAdr1);
    let two = value!(registers, IscL1caBpAdr2);
    let first = value!(registers, IscL1caBpOpc1);
    let second = value!(registers, IscL1caBpOpc2);
    let breakpoints = Breakpoints {
        addresses: [
            one.bpip_1_enable.then(|| one.breakpoint_address_1.get()),
            two.bpip_2_enable.then(|| two.breakpoint_address_2.get()),
        ],
        opcodes: [
            first.breakpoint_opcode_1_enable.then(|| AtOpcode {
                code: first.breakpoint_opcode_1.get() as u8,
                eot: first.breakpoint_opcode_1_eot_enable,
            }),
            second
                .breakpoint_opcode_2_enable
                .then(|| AtOpcode { code: second.breakpoint_opcode_2.get() as u8, eot: false }),
        ],
    };
    (!breakpoints.is_empty()).then_some(breakpoints)
}

/// The kernel at `address` with breakpoints.
pub fn marked(
    exec: &Exec<'_>,
    address: u64,
    ip_base: u32,
    breakpoints: &Breakpoints,
) -> Arc<Kernel> {
    let mut kernel = Arc::new(Kernel::new(Generation::Gen45, address, ip_base));
    extend(exec, &mut kernel, 0, breakpoints);
    kernel
}

/// Decodes the code that a thread reaches by a computed jump, with breakpoints.
pub fn extend(exec: &Exec<'_>, kernel: &mut Arc<Kernel>, offset: i32, breakpoints: &Breakpoints) {
    let (address, base) = (kernel.address, kernel.ip_base);
    decode::extend(Arc::make_mut(kernel), offset, |offset| {
        let fetched = cache::fetched(&exec.vm, Generation::Gen45, address, offset);
        let at = match G45_BREAKPOINTS_HAVE_GRAPHICS_ADDRESSES {
            true => address.wrapping_add_signed(offset.into()),
            false => u64::from(base.wrapping_add_signed(offset)),
        };
        breakpoints.mark(fetched, at)
    });
}
