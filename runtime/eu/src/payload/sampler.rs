//! Messages to the sampler.

use super::error::PayloadError;
use super::header::Header;
use super::message::Message;
use super::part::{Coordinates, Part, Registers, Simd};
use crate::gen8::eu_payloads::SamplerMessageHeader;
use crate::gen8::messages::MessageDescriptorSamplingEngine;
use crate::gen8::messages::MessageDescriptorSamplingEngineMessageType as Type;
use crate::gen8::messages::MessageDescriptorSamplingEngineSimdMode10 as Mode;
use crate::instruction::SharedFunction;
use genxml_core::{S, U};

/// A message to the sampler in SIMD8 or SIMD16.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// The operation.
    pub kind: Type,
    /// Binding table index.
    pub surface: u8,
    /// Number of the sampler. Loads and queries ignore it.
    pub sampler: U<4>,
    /// Channels.
    pub simd: Simd,
    /// Coordinates that the surface uses. The message ends after the last parameter that these
    /// coordinates need.
    pub coordinates: Coordinates,
    /// Number of components that are returned, from red on: 1 to 4.
    pub components: u8,
    /// Header, for offsets in texels, for components that are not returned, and for the channel of
    /// gather4. Fields of r0 remain in all dwords but that of these fields. The pointer to the
    /// samplers replaces that of r0 unless it is 0.
    pub header: Option<SamplerMessageHeader>,
}

impl Sample {
    /// A message for surface 0 and sampler 0, without a header, that returns four components.
    pub const fn new(kind: Type, simd: Simd, coordinates: Coordinates) -> Sample {
        Sample {
            kind,
            surface: 0,
            sampler: U::ZERO,
            simd,
            coordinates,
            components: 4,
            header: None,
        }
    }
}

/// A message to the sampler (2d p.257-258). The payload has the parameters of the operation, in the
/// sampler's order: [`Part::CoordinateU`] and the other coordinates, [`Part::Lod`] and so on. The
/// reply has [`Part::Red`] to [`Part::Alpha`].
///
/// # Errors
/// * The operation has no builder: `sampleinfo` and `sample+killpix`, and reserved values.
/// * The number of components is not 1 to 4.
pub fn sample(sample: &Sample) -> Result<Message, PayloadError> {
    let name = MessageDescriptorSamplingEngine::NAME;
    let Some(order) = order(sample.kind) else {
        let value = sample.kind.bits();
        return Err(PayloadError::Unsupported { message: name, field: "Message Type", value });
    };
    if !(1..=4).contains(&sample.components) {
        let (field, value) = ("components", sample.components.into());
        return Err(PayloadError::Unsupported { message: name, field, value });
    }
    let descriptor = MessageDescriptorSamplingEngine {
        message_type: sample.kind,
        simd_mode_1_0: match sample.simd {
            Simd::Eight => Mode::SIMD8,
            Simd::Sixteen => Mode::SIMD16,
        },
        sampler_index: sample.sampler,
        binding_table_index: U::from_bits(sample.surface.into()),
        ..MessageDescriptorSamplingEngine::new()
    };
    let needed = |part: &Part| coordinates(*part) <= sample.coordinates;
    let length = order.iter().rposition(needed).map_or(0, |last| last + 1);
    Ok(Message {
        exec_size: sample.simd.channels(),
        header: sample.header.map(|header| self::header(&header)),
        parts: Registers::each(order[..length].iter().copied(), sample.simd),
        reply: reply(sample),
        ..Message::new(SharedFunction::Sampler, descriptor.pack())
    })
}

/// Parameters of an operation in SIMD8 and SIMD16, in order (Mesa, brw_fs.cpp,
/// lower_sampler_logical_send_gfx7).
fn order(kind: Type) -> Option<&'static [Part]> {
    use Part::{
        ArrayIndex, Bias, CoordinateR, CoordinateU, CoordinateV, DrDx, DrDy, DuDx, DuDy, DvDx,
        DvDy, Lod, Mcs, OffsetU, OffsetV, Reference, SampleIndex,
    };
    Some(match kind {
        Type::SAMPLE | Type::GATHER4 | Type::LOD | Type::SAMPLE_MIN | Type::SAMPLE_MAX => {
            &[CoordinateU, CoordinateV, CoordinateR, ArrayIndex]
        }
        Type::SAMPLE_B => &[Bias, CoordinateU, CoordinateV, CoordinateR, ArrayIndex],
        Type::SAMPLE_L => &[Lod, CoordinateU, CoordinateV, CoordinateR, ArrayIndex],
        Type::SAMPLE_C | Type::GATHER4_C => {
            &[Reference, CoordinateU, CoordinateV, CoordinateR, ArrayIndex]
        }
        Type::SAMPLE_B_C => &[Reference, Bias, CoordinateU, CoordinateV, CoordinateR, ArrayIndex],
        Type::SAMPLE_L_C => &[Reference, Lod, CoordinateU, CoordinateV, CoordinateR, ArrayIndex],
        Type::SAMPLE_D => {
            &[CoordinateU, DuDx, DuDy, CoordinateV, DvDx, DvDy, CoordinateR, DrDx, DrDy, ArrayIndex]
        }
        Type::SAMPLE_D_C => &[
            Reference,
            CoordinateU,
            DuDx,
            DuDy,
            CoordinateV,
            DvDx,
            DvDy,
            CoordinateR,
            DrDx,
            DrDy,
            ArrayIndex,
        ],
        Type::LD => &[CoordinateU, Lod, CoordinateV, CoordinateR],
        Type::RESINFO => &[Lod],
        Type::GATHER4_PO => &[CoordinateU, CoordinateV, OffsetU, OffsetV, CoordinateR],
        Type::GATHER4_PO_C => &[Reference, CoordinateU, CoordinateV, OffsetU, OffsetV, CoordinateR],
        Type::LD_MCS => &[CoordinateU, CoordinateV, CoordinateR],
        Type::LD2DMS => &[SampleIndex, Mcs, CoordinateU, CoordinateV, CoordinateR],
        Type::LD2DSS => &[SampleIndex, CoordinateU, CoordinateV, CoordinateR],
        _ => return None,
    })
}

/// The least coordinates with which a message has a parameter.
fn coordinates(part: Part) -> Coordinates {
    match part {
        Part::ArrayIndex => Coordinates::All,
        Part::CoordinateR | Part::DrDx | Part::DrDy => Coordinates::Three,
        Part::CoordinateV | Part::DvDx | Part::DvDy | Part::OffsetU | Part::OffsetV => {
            Coordinates::Two
        }
        _ => Coordinates::One,
    }
}

/// A copy of r0 with the fields of `header`.
fn header(header: &SamplerMessageHeader) -> Header {
    let pointer = SamplerMessageHeader {
        sampler_state_pointer: header.sampler_state_pointer,
        ..SamplerMessageHeader::new()
    };
    // The dword of the offsets also has the other fields of the message.
    let offsets =
        SamplerMessageHeader { u_offset: S::from_bits(u64::MAX), ..SamplerMessageHeader::new() };
    let mut copy = Header::of_r0();
    copy.replace_dwords(&offsets.pack(), &header.pack());
    copy.replace_dwords(&pointer.pack(), &header.pack());
    copy
}

/// The components that are returned.
fn reply(sample: &Sample) -> Registers {
    let skipped = sample.header.map_or([false; 4], |header| {
        [
            header.red_write_channel_mask,
            header.green_write_channel_mask,
            header.blue_write_channel_mask,
            header.alpha_write_channel_mask,
        ]
    });
    let all = Part::COLORS.into_iter().zip(skipped).take(sample.components.into());
    Registers::each(all.filter(|(_, skipped)| !skipped).map(|(part, _)| part), sample.simd)
}
