//! Which bytes of a message belong to which lane: the payload that the response of a lane depends
//! on.

use crate::eu::access::Packet;
use crate::eu::regions::REGISTER;
use crate::eu::uop::Uop;
use crate::unit::sampler::payload::{Action, Kind, LodFrom, Simd};
use genxml::gen8::messages::MessageDescriptorSamplingEngine;
use genxml_eu::Generation;
use genxml_eu::gen8::messages::{
    DataPort0MessageDescriptor, DataPort1MessageDescriptor, MtDp0, MtDp1,
};
use genxml_eu::instruction::SharedFunction;
use genxml_eu::message::{describe, lengths_on};
use std::ops::Range;

/// Lanes of a register.
const LANES: usize = 8;

/// The registers of a message, and how they are divided into lanes.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// Bytes of the header in the register file.
    pub header: Range<usize>,
    /// Bytes of the payload after the header.
    pub body: Range<usize>,
    /// Bytes of the response.
    pub response: Range<usize>,
    /// Registers of one value of all lanes: 1 for 8 lanes, 2 for 16. `None` if the message has no
    /// lanes, or lanes that are not described here; then everything depends on the whole payload.
    rows: Option<usize>,
    /// The value of a lane depends on all four lanes of its quad.
    quads: bool,
}

impl Lanes {
    /// The lanes of a message of Gen8.
    pub fn of(u: &Uop, packet: &Packet) -> Option<Lanes> {
        let function = u.send?.function;
        let (sent, returned) = lengths_on(Generation::Gen8, packet.descriptor);
        let header = usize::from(describe(function, packet.descriptor).header);
        let first = packet.payload;
        let body = first + header * REGISTER;
        let (rows, quads) = divided(u, function, packet.descriptor);
        let response = packet.response.unwrap_or_default();
        Some(Lanes {
            header: first..body,
            body: body..(first + sent as usize * REGISTER).max(body),
            response: response..match packet.response {
                Some(at) => at + returned as usize * REGISTER,
                None => response,
            },
            rows,
            quads,
        })
    }

    /// The lane of a byte of the response. `None` if all lanes use it.
    pub fn lane(&self, byte: usize) -> Option<usize> {
        let rows = self.rows?;
        let byte = byte.checked_sub(self.response.start)?;
        Some(byte / REGISTER % rows * LANES + byte % REGISTER / 4)
    }

    /// The ranges of the payload that the value of a lane depends on, without the header.
    pub fn payload(&self, lane: Option<usize>) -> Vec<Range<usize>> {
        let (Some(rows), Some(lane)) = (self.rows, lane) else {
            return self.body.clone().step_by(4).map(|at| at..at + 4).collect();
        };
        let lanes = if self.quads { (lane & !3)..(lane & !3) + 4 } else { lane..lane + 1 };
        let size = rows * REGISTER;
        let mut ranges = Vec::new();
        for value in self.body.clone().step_by(size) {
            for lane in lanes.clone() {
                let at = value + lane / LANES * REGISTER + lane % LANES * 4;
                if at + 4 <= self.body.end {
                    ranges.push(at..at + 4);
                }
            }
        }
        ranges
    }
}

/// Registers of a value of all lanes, and whether quads share values.
fn divided(u: &Uop, function: SharedFunction, descriptor: u32) -> (Option<usize>, bool) {
    let by_size = match u.size {
        8 => Some(1),
        16 => Some(2),
        _ => None,
    };
    match function {
        SharedFunction::Sampler => {
            let fields = MessageDescriptorSamplingEngine::unpack_lossy(&[descriptor]);
            let rows = match Simd::of(fields.simd_mode_1_0) {
                Some(Simd::Eight) => Some(1),
                Some(Simd::Sixteen) => Some(2),
                _ => None,
            };
            let quads = Kind::of(fields.message_type).is_some_and(|kind| match kind.action {
                Action::Sample(sample) => {
                    matches!(sample.lod, LodFrom::Neighbours | LodFrom::Bias)
                }
                Action::Gather { .. } | Action::Lod => true,
                _ => false,
            });
            (rows, quads)
        }
        SharedFunction::DataPort1 => {
            let fields = DataPort1MessageDescriptor::unpack_lossy(&[descriptor]);
            let lanes = matches!(
                fields.message_type,
                MtDp1::MT1R_US
                    | MtDp1::MT1W_US
                    | MtDp1::MT1A_UI
                    | MtDp1::MT1A_UF
                    | MtDp1::MT1R_TS
                    | MtDp1::MT1W_TS
                    | MtDp1::MT1A_TA
            );
            (by_size.filter(|_| lanes), false)
        }
        SharedFunction::DataPort0 => {
            let fields = DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
            let lanes = matches!(
                fields.message_type,
                MtDp0::MT0R_DWS | MtDp0::MT0W_DWS | MtDp0::MT0R_BS | MtDp0::MT0W_BS
            );
            (by_size.filter(|_| lanes), false)
        }
        SharedFunction::PixelInterpolator => (by_size, false),
        _ => (None, false),
    }
}
