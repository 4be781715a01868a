//! The parts of a message's payload that matter: addresses and data of enabled channels.

use super::rules::Id;
use crate::eu::access::{Packet, Part};
use crate::eu::regions::{GRF_BYTES, REGISTER};
use crate::eu::uop::Uop;
use crate::unit::sampler::payload::Simd;
use genxml::eu::instruction::SharedFunction;
use genxml::eu::message::describe;
use genxml::gen8::messages::{
    DataPort0MessageDescriptor, DataPort0MessageDescriptorLegacyDapDcMessage,
    DataPort1MessageDescriptor, MessageDescriptorSamplingEngine, MtDp0, MtDp1,
};
use rustc_hash::FxHashMap;

/// Lanes of a register.
const LANES: usize = 8;
/// Byte offset of the global offset in a header, and its size.
const GLOBAL_OFFSET: (usize, u8) = (8, 4);

/// How the payload is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layout {
    /// Nothing is checked.
    Opaque,
    /// A block: the header has the offset.
    Block,
    /// A value of four bytes for each lane, row after row. The first `addresses` are addresses; the
    /// others are data.
    Lanes { addresses: usize, long: bool },
}

/// What a descriptor says about a message, with numbers of registers.
#[derive(Clone, Copy, Debug)]
struct Kind {
    headers: usize,
    sent: usize,
    returned: usize,
    layout: Layout,
}

/// The kinds of messages so far, by descriptor, size and shared function: to describe a message
/// takes longer than to check it.
#[derive(Debug, Default)]
pub struct Layouts(FxHashMap<(u32, u8, SharedFunction), Kind>);

fn kind(function: SharedFunction, descriptor: u32, size: u8) -> Kind {
    let description = describe(function, descriptor);
    Kind {
        headers: match (description.header, function) {
            (false, _) => 0,
            (true, SharedFunction::DataPortRender) => 2,
            (true, _) => 1,
        },
        sent: description.sent.into(),
        returned: description.returned.into(),
        layout: layout(function, descriptor, size),
    }
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    layout: Layout,
    /// First byte after the header.
    body: usize,
    /// First byte after the payload.
    end: usize,
    header: Option<usize>,
    /// Registers of a value of all lanes.
    rows: usize,
    /// Bytes of the response.
    pub response: (usize, usize),
}

impl Sent {
    /// The message of a `send`.
    pub fn new(u: &Uop, packet: &Packet, layouts: &mut Layouts) -> Option<Sent> {
        let function = u.send?.function;
        let kind = *layouts
            .0
            .entry((packet.descriptor, u.size, function))
            .or_insert_with(|| kind(function, packet.descriptor, u.size));
        let body = packet.payload + kind.headers * REGISTER;
        let end = packet.payload + kind.sent * REGISTER;
        let response = packet
            .response
            .map_or((0, 0), |at| (at, (at + kind.returned * REGISTER).min(GRF_BYTES)));
        Some(Sent {
            layout: kind.layout,
            body,
            end: end.min(GRF_BYTES),
            header: (kind.headers > 0).then_some(packet.payload),
            rows: usize::from(u.size).div_ceil(LANES),
            response,
        })
    }

    /// Calls `check` for the parts that a channel sends. Bit 0 of the channels is the first one of
    /// the instruction.
    pub fn channel(&self, channel: usize, mut check: impl FnMut(Id, Part)) {
        let Layout::Lanes { addresses, long } = self.layout else { return };
        let mut first = self.body;
        let mut number = 0;
        loop {
            let size = if long && number == 0 { 8 } else { 4 };
            let next = first + size * self.rows * LANES;
            if next > self.end {
                return;
            }
            let id = if number < addresses { Id::Address } else { Id::Output };
            check(id, Part::File((first + size * channel) as u16, size as u8));
            first = next;
            number += 1;
        }
    }

    /// Calls `check` for the parts that do not belong to a channel.
    pub fn common(&self, mut check: impl FnMut(Id, Part)) {
        if let (Layout::Block, Some(header)) = (self.layout, self.header) {
            let (offset, bytes) = GLOBAL_OFFSET;
            check(Id::Address, Part::File((header + offset) as u16, bytes));
        }
    }
}

fn layout(function: SharedFunction, descriptor: u32, size: u8) -> Layout {
    let all = Layout::Lanes { addresses: usize::MAX, long: false };
    let some = |addresses| Layout::Lanes { addresses, long: false };
    if !matches!(size, 8 | 16) {
        return match function {
            SharedFunction::DataPort0 | SharedFunction::DataPortConstant => {
                block(function, descriptor)
            }
            _ => Layout::Opaque,
        };
    }
    match function {
        SharedFunction::Sampler => {
            let fields = MessageDescriptorSamplingEngine::unpack_lossy(&[descriptor]);
            match (Simd::of(fields.simd_mode_1_0), size) {
                (Some(Simd::Eight), 8) | (Some(Simd::Sixteen), 16) => all,
                _ => Layout::Opaque,
            }
        }
        SharedFunction::DataPort1 => {
            let kind = DataPort1MessageDescriptor::unpack_lossy(&[descriptor]).message_type;
            match kind {
                MtDp1::MT1R_US | MtDp1::MT1W_US | MtDp1::MT1A_UI | MtDp1::MT1A_UF => some(1),
                MtDp1::MT1R_A64_SB | MtDp1::MT1W_A64_SB | MtDp1::MT1R_A64_US => {
                    Layout::Lanes { addresses: 1, long: true }
                }
                MtDp1::MT1R_TS => all,
                _ => Layout::Opaque,
            }
        }
        SharedFunction::DataPortRender => some(0),
        _ => block(function, descriptor),
    }
}

/// Messages of data port 0 and of the constant cache.
fn block(function: SharedFunction, descriptor: u32) -> Layout {
    let fields = DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
    let scratch =
        fields.legacy_dap_dc_message == DataPort0MessageDescriptorLegacyDapDcMessage::SCRATCH_BLOCK;
    match (function, fields.message_type) {
        (SharedFunction::DataPort0, _) if scratch => Layout::Opaque,
        (SharedFunction::DataPort0, MtDp0::MT0R_OWB | MtDp0::MT0W_OWB) => Layout::Block,
        (
            SharedFunction::DataPort0,
            MtDp0::MT0R_DWS | MtDp0::MT0W_DWS | MtDp0::MT0R_BS | MtDp0::MT0W_BS,
        ) => Layout::Lanes { addresses: 1, long: false },
        _ => Layout::Opaque,
    }
}
