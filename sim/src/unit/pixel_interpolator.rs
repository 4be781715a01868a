//! Pixel interpolator: computes barycentrics of a pixel shader's object at positions that the
//! shader chooses (gen8_facts 4.7).
//!
//! The stage that starts a pixel shader thread stores a [`Pixels`] in [`Local`](super::Local).
//! Messages get b1 and b2 from it. The shader passes them to `pln`, like the barycentrics of its
//! payload.

use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::pixel::interpolate::{Barycentric, Position, Positions};
use crate::unit::pixels::Pixels;
use genxml::eu::gen8::descriptors::MdcSm2;
use genxml::eu::gen8::eu_messages::{
    PixelInterpolatorMessageDescriptor as Descriptor, PixelInterpolatorType as Type,
};
use genxml_core::S;

/// Number of slots in a slot group. A message selects one of the two groups of a thread with 32
/// slots.
const GROUP: usize = 16;

/// An offset in 1/16 pixels: the low four bits of `bits` as a signed number.
fn sixteenths(bits: u64) -> i32 {
    S::<4>::from_bits(bits).get() as i32
}

/// Executes a message to the pixel interpolator. Each enabled channel gets b1 and b2. The response
/// has b1 and b2 of eight channels, then b1 and b2 of the next eight.
///
/// # Errors
/// [`Fault::IllegalInstruction`] if the thread does not run a pixel shader, or if the message lacks
/// the offsets of some slots.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let Some(pixels) = port.local.pixels else {
        return Err(
            port.illegal("only pixel shaders have pixels to interpolate over".into(), message)
        );
    };
    let descriptor = Descriptor::unpack_lossy(&[message.descriptor]);
    match answer(registers, message, &descriptor, &pixels) {
        Ok(()) => Ok(()),
        Err(why) => Err(port.illegal(why, message)),
    }
}

fn answer(
    registers: &mut Registers,
    message: &Message,
    descriptor: &Descriptor,
    pixels: &Pixels,
) -> Result<(), String> {
    let rows = if descriptor.simd_mode == MdcSm2::SIMD16 { 2 } else { 1 };
    // A SIMD8 message is for the eight slots of the channels that send it.
    let quarter = if rows == 1 { usize::from(message.first) / 8 % 2 * 8 } else { 0 };
    let first = descriptor.slot_group_select.get() as usize * GROUP + quarter;
    let header = usize::from(descriptor.header_present);
    let sent = descriptor.message_length.get() as usize;
    let needs =
        header + if descriptor.message_type == Type::PER_SLOT_OFFSET { 2 * rows } else { 0 };
    if sent < needs {
        return Err(format!(
            "the offsets of all slots need {needs} registers (message length), but there are {sent}"
        ));
    }
    let kind = if descriptor.linear { Barycentric::Linear } else { Barycentric::Perspective };
    let data = &descriptor.message_data;
    let upper = data.y_offset_or_sample_index.get();
    let offsets = message.payload + header * REGISTER;
    let place = |registers: &Registers, row: usize, channel: usize| match descriptor.message_type {
        Type::SHARED_OFFSET => pixels.beside([data.x_offset.get() as i32, sixteenths(upper)]),
        Type::SAMPLE_POSITION => pixels.sample(upper as usize),
        Type::CENTROID => pixels.centroid(first + 8 * row + channel),
        _ => pixels.beside([0, rows].map(|axis| {
            sixteenths(registers.u32(offsets + (axis + row) * REGISTER + 4 * channel).into())
        })),
    };
    let mut answers = [[[0_f32; 8]; 2]; 2];
    for (row, answers) in answers[..rows].iter_mut().enumerate() {
        let at: [Position; 8] = std::array::from_fn(|channel| {
            pixels.position(first + 8 * row + channel, place(registers, row, channel))
        });
        let at = Positions { x: at.map(|at| at.x), y: at.map(|at| at.y) };
        *answers = pixels.planes.barycentrics(kind, &at);
    }
    let Some(response) = message.response else { return Ok(()) };
    let room = descriptor.response_length.get() as usize;
    for (n, values) in answers[..rows].as_flattened().iter().enumerate().take(room) {
        let enabled = message.mask >> (n / 2 * 8);
        for channel in (0..8).filter(|channel| enabled >> channel & 1 == 1) {
            registers.set_u32(response + n * REGISTER + 4 * channel, values[channel].to_bits());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
