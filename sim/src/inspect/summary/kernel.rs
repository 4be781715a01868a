//! The messages of a kernel in memory.

use crate::eu::decode::{self, Fetched};
use crate::machine::view::View;
use genxml::eu::Generation;
use genxml::eu::decode::{decode_on, length};
use genxml::eu::instruction::{Descriptor, Instruction, SharedFunction};

/// Passes the descriptors of a kernel's messages to `function` to `each`; returns false if there
/// may be others: in a register, or in a part of the kernel that cannot be read.
pub fn descriptors(
    view: &dyn View,
    (generation, address): (Generation, u64),
    function: SharedFunction,
    each: &mut dyn FnMut(u32),
) -> bool {
    let mut all = true;
    let readable = instructions(view, (generation, address), &mut |_, instruction| {
        let send = instruction.send.filter(|send| send.function == function);
        match send.map(|send| send.descriptor) {
            Some(Descriptor::Immediate(descriptor)) => each(descriptor),
            Some(_) => all = false,
            None => {}
        }
    });
    all && readable
}

/// Passes each instruction of a kernel to `each`, with its byte offset; returns false if a part of
/// the kernel cannot be read.
pub fn instructions(
    view: &dyn View,
    (generation, address): (Generation, u64),
    each: &mut dyn FnMut(i32, &Instruction),
) -> bool {
    let mut readable = true;
    decode::kernel_on(generation, address, 0, |offset| {
        let at = address.wrapping_add_signed(offset.into());
        let mut dwords = [0u32; 4];
        let mut read = view.read(at, bytemuck::must_cast_slice_mut(&mut dwords[..2]));
        let compact = length(dwords[0]) == 8;
        if read && !compact {
            read = view.read(at, bytemuck::must_cast_slice_mut(&mut dwords));
        }
        match decode_on(generation, if compact { &dwords[..2] } else { &dwords }) {
            Ok(instruction) if read => {
                each(offset, &instruction);
                Fetched::Instruction(Box::new(instruction))
            }
            _ => {
                readable = false;
                Fetched::Garbage(String::new())
            }
        }
    });
    readable
}
