//! The media messages: one message samples a block of pixels at regular distances (SIMD modes
//! SIMD32 and SIMD64; gen8_facts 4.2, video.md 11).
//!
//! * [`rows`]: the rows of pictures in memory;
//! * [`picture`]: the pictures of the scaler;
//! * [`scaler`], [`avs`]: the adaptive video scaler;
//! * [`detail`]: the detail filter, which follows the scaler;
//! * [`analytics`]: the other functions of sample_8x8;
//! * [`unorm`]: sample_unorm, which has ordinary surfaces and samplers;
//! * [`response`]: the registers of responses.

pub mod analytics;
pub mod avs;
pub mod cache;
pub mod detail;
pub mod picture;
pub mod response;
pub mod rows;
pub mod scaler;
pub mod unorm;

use super::samplers::Samplers;
use crate::assumptions::SAMPLERS_OF_8X8_ARE_THIS_FAR_APART;
use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::unit::bindings::{Bindings, FIRST_SPECIAL_INDEX};
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use analytics::Analytics;
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayload, Sample8x8MessagePayloadFunction as Function, SamplerMessageHeader,
};
use genxml::gen8::media::MediaSurfaceState;
use genxml::gen8::media_states::SamplerState8x8Avs;
use genxml::gen8::messages::MessageDescriptorSamplingEngine;
use picture::Picture;
use response::{Response, Shape};
use scaler::Scaler;
use unorm::Kind;

/// Message type of sample_8x8.
const SAMPLE_8X8: u64 = 0x0b;

/// Extents of the blocks of sample_8x8, by the field Sequence (video.md 11.1).
const SHAPES: [Shape; 4] = [
    Shape { columns: 16, rows: 4 },
    Shape { columns: 8, rows: 4 },
    Shape { columns: 16, rows: 8 },
    Shape { columns: 4, rows: 4 },
];

/// Executes a media message.
///
/// # Errors
/// Page faults at states and pixels; [`Fault::IllegalInstruction`] for messages that the surface
/// does not support; [`Fault::BadPacket`] for states with values that are not valid;
/// [`Fault::Unimplemented`] for functions that no source describes.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    descriptor: &MessageDescriptorSamplingEngine,
) -> Result<(), Fault> {
    let number = descriptor.message_type.bits();
    let (name, kind) = match (number, Kind::of(number)) {
        (SAMPLE_8X8, _) => ("sample_8x8", None),
        (_, Some(kind)) => ("sample_unorm", Some(kind)),
        (_, None) => {
            return Err(port.missing(
                &format!("the sampler's media message {number:#x}"),
                message,
                "gen8_facts 4.2: no source has the layout of its response",
            ));
        }
    };
    let index = descriptor.binding_table_index.get() as u8;
    let payload = Payload::open(message, name);
    // Without a header, all its fields are 0 (2d p.257).
    let header = payload
        .header
        .map(|at| SamplerMessageHeader::unpack_lossy(&registers.dwords(at)))
        .unwrap_or_default();
    if index >= FIRST_SPECIAL_INDEX {
        let why = format!("{name} of binding table index {index}, which is not a surface");
        return Err(port.illegal(why, message));
    }
    let table = payload.header.map(|_| header.sampler_state_pointer.get());
    let sampler = descriptor.sampler_index.get();
    match kind {
        Some(kind) => {
            let sampler = port.bindings.samplers.address(table, sampler);
            unorm::message(port, registers, &payload, &header, kind, index, sampler)
        }
        None => {
            let table = port.bindings.samplers.address(table, 0);
            let parameters = Sample8x8MessagePayload::unpack_lossy(&registers.dwords(payload.body));
            let payload = &payload;
            let sample = Analytics { payload, header, parameters, index, table, sampler };
            sample_8x8(port, registers, &sample)
        }
    }
}

fn sample_8x8(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    sample: &Analytics<'_>,
) -> Result<(), Fault> {
    let Analytics { payload, header, parameters, index, table, sampler } = sample;
    let message = payload.message;
    if parameters.function.name().is_none() {
        let what = format!("function {} of sample_8x8", parameters.function.bits());
        return Err(port.missing(&what, message, "video.md 11.1: later devices have it"));
    }
    if parameters.function != Function::AVS {
        return analytics::message(port, registers, sample);
    }
    let sampler = table.wrapping_add(SAMPLERS_OF_8X8_ARE_THIS_FAR_APART * sampler);
    let shape = SHAPES[parameters.sequence.get() as usize % SHAPES.len()];
    let response = Response::new(header, shape);
    payload.check(port, 1, response.registers())?;
    let picture = port.bindings.picture(port.exec, *index)?;
    let scaler = port.bindings.scaler(port.exec, sampler)?;
    let detail = match (parameters.ief_bypass, scaler.detail) {
        (true, _) => None,
        (false, Some(detail)) => Some(detail),
        (false, None) => {
            let what = "the smooth filter of sample_8x8 (IEF4Smooth_ Enable = 1)";
            return Err(port.missing(what, message, "video.md 11.5: no source has its formula"));
        }
    };
    port.exec.device.observed.add(Counter::Sampled, shape.pixels() as u64 / 4);
    let vm = &port.exec.vm;
    let done = avs::block(scaler, detail, &picture, vm, parameters, shape, response.channels);
    let bytes = done.map(|(block, bytes)| {
        if let Some(to) = payload.answer() {
            response.write(registers, to, &block);
        }
        bytes
    });
    payload.moved(port, false, bytes)
}

impl Bindings {
    /// The picture of binding table entry `index`.
    ///
    /// # Errors
    /// A page fault at the states, or a field with an invalid value.
    pub(in crate::unit) fn picture(
        &mut self,
        exec: &Exec<'_>,
        index: u8,
    ) -> Result<Picture, Fault> {
        let pictures = &self.samplers.media.pictures;
        if let Some(number) = pictures.number(index) {
            return Ok(*pictures.get(number));
        }
        let state = MediaSurfaceState::unpack_lossy(&self.dwords(exec, index)?);
        let picture = Picture::resolve(&state).map_err(|bad| {
            let why = format!("MEDIA_SURFACE_STATE of binding table entry {index}: {}", bad.why);
            exec.bad_field(bad.field, bad.value, why)
        })?;
        self.samplers.media.pictures.add(index, picture);
        Ok(picture)
    }

    /// The scaler whose state is at a graphics address.
    fn scaler(&mut self, exec: &Exec<'_>, address: u64) -> Result<&Scaler, Fault> {
        self.samplers.media.scalers.find(address, || {
            let mut dwords = [0; SamplerState8x8Avs::DWORDS];
            Samplers::read(exec, address, &mut dwords)?;
            Ok(Scaler::resolve(&SamplerState8x8Avs::unpack_lossy(&dwords)))
        })
    }
}
