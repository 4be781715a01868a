//! Pixel interpolator: barycentrics of a pixel shader's object at places that the shader chooses
//! (gen8_facts 4.7).
//!
//! Whoever starts a thread of a pixel shader leaves a [`Pixels`] in [`Local`](super::Local);
//! messages ask it for b1 and b2, which `pln` takes as it takes those of the payload.

use super::Port;
use crate::assumptions::INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::pixel::interpolate::{Barycentric, Planes, Position};
use crate::pixel::multisample::Multisample;
use genxml::eu::gen8::descriptors::MdcSm2;
use genxml::eu::gen8::eu_messages::{
    PixelInterpolatorMessageDescriptor as Descriptor, PixelInterpolatorType as Type,
};
use genxml_core::S;

/// Slots of half a thread of 32, which a message can tell apart.
const GROUP: usize = 16;

/// The pixels of a thread, and what is interpolated over them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pixels {
    /// Depth, w and barycentrics of the object.
    pub planes: Planes,
    /// Where pixel values and samples are.
    pub multisample: Multisample,
    /// Column and row of the upper left pixel of each quad, by slots.
    pub subspans: [[u32; 2]; 8],
    /// Covered samples of the pixels of each quad.
    pub coverage: [[u8; 4]; 8],
}

impl Pixels {
    /// A place in the pixel of a slot, in 1/16 pixels from its upper-left corner.
    fn position(&self, slot: usize, [x, y]: [i32; 2]) -> Position {
        let ([left, top], pixel) = (self.subspans[slot / 4], slot as u32 % 4);
        let corner = Position::in_pixel(left + (pixel & 1), top + (pixel >> 1), [0, 0]);
        Position { x: corner.x + x, y: corner.y + y }
    }

    /// `offset` from where the pixel's own values are.
    fn beside(&self, offset: [i32; 2]) -> [i32; 2] {
        let from = match INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION {
            true => self.multisample.location.position(),
            false => [8, 8],
        };
        [0, 1].map(|n| i32::from(from[n]) + offset[n])
    }

    /// A sample; the pixel's location if there is no such one.
    fn sample(&self, sample: usize) -> [i32; 2] {
        let positions = self.multisample.samples.positions();
        positions
            .get(sample)
            .copied()
            .unwrap_or(self.multisample.location.position())
            .map(i32::from)
    }

    /// Where centroid values of a slot are.
    fn centroid(&self, slot: usize) -> [i32; 2] {
        let covered = self.coverage[slot / 4][slot % 4].into();
        self.multisample
            .samples
            .centroid(covered, self.multisample.location.position())
            .map(i32::from)
    }
}

/// Sixteenths of a pixel: the low four bits, of which the highest is the sign.
fn sixteenths(bits: u64) -> i32 {
    S::<4>::from_bits(bits).get() as i32
}

/// A message to the pixel interpolator. Each enabled channel gets b1 and b2, eight channels of both
/// before the next eight.
///
/// # Errors
/// [`Fault::IllegalInstruction`] from threads that are no pixel shader's, and for offsets that are
/// not all there.
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
    // A message of eight channels in a thread of more is for the quarter that sends it.
    let quarter = if rows == 1 { usize::from(message.first) / 8 % 2 * 8 } else { 0 };
    let first = descriptor.slot_group_select.get() as usize * GROUP + quarter;
    let header = usize::from(descriptor.header_present);
    let sent = descriptor.message_length.get() as usize;
    let needs =
        header + if descriptor.message_type == Type::PER_SLOT_OFFSET { 2 * rows } else { 0 };
    if sent < needs {
        return Err(format!(
            "offsets of all slots are {needs} registers (message length), {sent} came"
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
#[path = "tests_pixel_interpolator.rs"]
mod tests;
