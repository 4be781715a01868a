//! Kernels in memory, decoded.

use crate::context::Exec;
use crate::eu::Kernel;
use crate::eu::decode8::{self, Fetched};
use crate::observe::Observer;
use genxml::eu::decode::{decode as decode_instruction, length};
use std::rc::Rc;

/// Decodes the kernel at `address`, whose offset from Instruction Base Address is `ip_base`. Memory that cannot be
/// read, and bytes that are no instruction, are reported when a thread gets there.
pub fn decode<O: Observer>(exec: &Exec<'_, O>, address: u64, ip_base: u32) -> Rc<Kernel> {
    Rc::new(decode8::kernel(address, ip_base, |offset| {
        let at = address.wrapping_add_signed(offset.into());
        let mut dwords = [0u32; 4];
        let read = |dwords: &mut [u32]| exec.vm.read(at, bytemuck::must_cast_slice_mut(dwords));
        if let Err(fault) = read(&mut dwords[..2]) {
            return Fetched::Garbage(format!("instruction fetch: {fault}"));
        }
        let compact = length(dwords[0]) == 8;
        if !compact && let Err(fault) = read(&mut dwords) {
            return Fetched::Garbage(format!("instruction fetch: {fault}"));
        }
        match decode_instruction(if compact { &dwords[..2] } else { &dwords }) {
            Ok(instruction) => Fetched::Instruction(Box::new(instruction)),
            Err(error) => Fetched::Garbage(error.problem.to_string()),
        }
    }))
}
