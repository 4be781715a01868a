//! Numbers of registers that messages send and return, from the payloads of 2d p.115-501. For
//! messages without a page in the manual, the numbers are those that Mesa's compiler emits. A slot
//! is the place of one channel's data in a payload.

use crate::gen8::{descriptors as mdc, eu_messages as msd, messages as md};
use crate::instruction::SharedFunction;
use core::fmt;

/// A set of allowed register counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Least count.
    pub min: u8,
    /// Greatest count.
    pub max: u8,
    /// Step between allowed counts.
    pub step: u8,
}

impl Span {
    /// Exactly one count.
    pub const fn exactly(count: u8) -> Span {
        Span { min: count, max: count, step: 1 }
    }

    /// All counts from `min` to `max`.
    pub const fn between(min: u8, max: u8) -> Span {
        Span { min, max, step: 1 }
    }

    /// True if `count` is allowed.
    pub const fn contains(self, count: u8) -> bool {
        self.min <= count && count <= self.max && (count - self.min).is_multiple_of(self.step)
    }

    const fn plus(self, count: u8) -> Span {
        Span { min: self.min + count, max: self.max + count, ..self }
    }
}

/// Formats the counts: `2`, `2 to 4`, `2, 4 or 6`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Span { min, max, step } = *self;
        if min == max {
            return write!(f, "{min}");
        }
        if step == 1 {
            return write!(f, "{min} to {max}");
        }
        let mut count = min;
        while count + step < max {
            write!(f, "{count}, ")?;
            count += step;
        }
        write!(f, "{count} or {}", count + step)
    }
}

/// Register counts of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// Registers sent, including the header.
    pub sent: Span,
    /// Registers returned, if a response is requested.
    pub returned: Span,
}

impl Lengths {
    /// True if the message may send this number of registers.
    pub const fn may_send(self, count: u8) -> bool {
        self.sent.contains(count)
    }

    /// True if the message may return this number of registers. None is always allowed.
    pub const fn may_return(self, count: u8) -> bool {
        count == 0 || self.returned.contains(count)
    }
}

/// Register counts of the payload without header, and of the response; `None` if unknown.
type Payload = Option<(Span, Span)>;

const NOTHING: Span = Span::exactly(0);

pub(super) fn lengths(
    function: SharedFunction,
    dwords: &[u32; 1],
    header: bool,
) -> Option<Lengths> {
    let mut header_length = u8::from(header);
    let (payload, returned) = match function {
        SharedFunction::Sampler => sampler(dwords),
        SharedFunction::Gateway => gateway(dwords),
        SharedFunction::DataPortSampler | SharedFunction::DataPortConstant => read_only(dwords),
        SharedFunction::DataPortRender => {
            header_length *= 2;
            render(dwords)
        }
        SharedFunction::Urb => urb(dwords),
        SharedFunction::ThreadSpawner => spawner(dwords),
        SharedFunction::DataPort0 => data_port_0(dwords, header),
        SharedFunction::DataPort1 => data_port_1(dwords),
        SharedFunction::PixelInterpolator => pixel_interpolator(dwords),
        SharedFunction::MotionEstimation | SharedFunction::CheckAndRefinement => {
            motion_estimation(dwords)
        }
        SharedFunction::Null
        | SharedFunction::Math
        | SharedFunction::DataPortRead
        | SharedFunction::DataPortWrite
        | SharedFunction::Reserved(_) => None,
    }?;
    Some(Lengths { sent: payload.plus(header_length), returned })
}

/// Parameters sent and components returned: one register each in SIMD8, two in SIMD16. SIMD4x2
/// returns all components in one register.
fn sampler(dwords: &[u32; 1]) -> Payload {
    use md::MessageDescriptorSamplingEngineSimdMode10 as Mode;
    let all = |step: u8, parameters, components| {
        let span = |count: u8| Span { min: step, max: (count * step).min(15), step };
        Some((span(parameters), span(components)))
    };
    match md::MessageDescriptorSamplingEngine::unpack_lossy(dwords).simd_mode_1_0 {
        Mode::SIMD4X2 => all(1, 4, 1),
        Mode::SIMD8 => all(1, 11, 4),
        Mode::SIMD16 => all(2, 7, 4),
        _ => None,
    }
}

fn gateway(dwords: &[u32; 1]) -> Payload {
    use md::MessageGatewayDescriptorGatewayOpcode as Operation;
    let message = md::MessageGatewayDescriptor::unpack_lossy(dwords);
    let answer = if message.ack_request { Span::between(0, 1) } else { NOTHING };
    match message.gateway_opcode {
        Operation::GET_TIME_STAMP => Some((Span::exactly(1), Span::exactly(1))),
        Operation::BARRIER => Some((Span::exactly(1), answer)),
        _ => None,
    }
}

fn spawner(dwords: &[u32; 1]) -> Payload {
    let message = md::ThreadSpawnMessageDescriptor::unpack_lossy(dwords);
    (message.opcode.bits() == 0).then_some((Span::exactly(1), NOTHING))
}

/// The header holds the URB handles.
fn urb(dwords: &[u32; 1]) -> Payload {
    let message = md::UrbMessageDescriptor::unpack_lossy(dwords);
    let offsets = u8::from(message.per_slot_offset);
    let mask = message.swizzle_control.bits() as u8;
    match message.urb_opcode.bits() {
        // Opcode 7 is a SIMD8 write, 8 a SIMD8 read.
        7 => Some((Span::between(offsets + mask + 1, 14), NOTHING)),
        8 => Some((Span::exactly(offsets), Span::between(1, 16))),
        _ => None,
    }
}

/// Payload: source 0 alpha, sample mask, colours, depth and stencil. Only the colours are always
/// present.
fn render(dwords: &[u32; 1]) -> Payload {
    use msd::RenderTargetWriteSubtype as Subtype;
    let message = msd::MsdRtw::unpack_lossy(dwords);
    if message.message_type != msd::MtDpRt::MT_RTW || message.precision.bits() != 0 {
        return None;
    }
    let payload = match message.message_subtype {
        Subtype::SIMD16 => Span::between(8, 13),
        Subtype::SIMD16_REPDATA => Span::exactly(1),
        Subtype::SIMD8_LO => Span::between(4, 8),
        Subtype::SIMD8_DUALSRC_LO | Subtype::SIMD8_DUALSRC_HI => Span::between(8, 12),
        _ => return None,
    };
    Some((payload, NOTHING))
}

fn pixel_interpolator(dwords: &[u32; 1]) -> Payload {
    let message = msd::PixelInterpolatorMessageDescriptor::unpack_lossy(dwords);
    let wide = if message.simd_mode == mdc::MdcSm2::SIMD16 { 2 } else { 1 };
    let offsets = message.message_type == msd::PixelInterpolatorType::PER_SLOT_OFFSET;
    Some((Span::exactly(if offsets { 2 * wide } else { 1 }), Span::exactly(2 * wide)))
}

/// A check or refinement sends a header and seven registers of data, and returns seven registers.
fn motion_estimation(dwords: &[u32; 1]) -> Payload {
    use msd::MotionEstimationType as Type;
    match msd::MotionEstimationMessageDescriptor::unpack_lossy(dwords).message_type {
        Type::SIC | Type::FBR => Some((Span::exactly(7), Span::exactly(7))),
        _ => None,
    }
}

/// Register count of a block of owords.
fn owords(blocks: md::MdcDbOw) -> Option<Span> {
    match blocks {
        md::MdcDbOw::OW1L | md::MdcDbOw::OW1U | md::MdcDbOw::OW2 => Some(Span::exactly(1)),
        md::MdcDbOw::OW4 => Some(Span::exactly(2)),
        md::MdcDbOw::OW8 => Some(Span::exactly(4)),
        _ => None,
    }
}

fn read_only(dwords: &[u32; 1]) -> Payload {
    match md::ReadOnlyDataPortMessageDescriptor::unpack_lossy(dwords).message_type {
        md::MtDpRo::MT_CC_OWB | md::MtDpRo::MT_CC_OWUB | md::MtDpRo::MT_SC_OWUB => {
            Some((NOTHING, owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks)?))
        }
        md::MtDpRo::MT_SC_MB => Some((NOTHING, Span::between(1, 8))),
        _ => None,
    }
}

fn data_port_0(dwords: &[u32; 1], header: bool) -> Payload {
    let message = md::DataPort0MessageDescriptor::unpack_lossy(dwords);
    if message.legacy_dap_dc_message.bits() == 1 {
        let scratch = msd::Msd0Scratch::unpack_lossy(dwords);
        let block = Span::exactly(scratch.block_size.get() as u8);
        return Some(if scratch.write { (block, NOTHING) } else { (NOTHING, block) });
    }
    let block = || owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks);
    let simd =
        || if msd::Msd0Bs::unpack_lossy(dwords).simd_mode == mdc::MdcSm2::SIMD16 { 2 } else { 1 };
    match message.message_type {
        md::MtDp0::MT0R_OWB | md::MtDp0::MT0R_OWUB => Some((NOTHING, block()?)),
        md::MtDp0::MT0W_OWB => Some((block()?, NOTHING)),
        md::MtDp0::MT0R_DWS | md::MtDp0::MT0R_BS => {
            Some((Span::exactly(simd()), Span::exactly(simd())))
        }
        md::MtDp0::MT0W_DWS | md::MtDp0::MT0W_BS => Some((Span::exactly(simd() * 2), NOTHING)),
        md::MtDp0::MT0_MEMFENCE => {
            // One register is sent, which hardware ignores, whether or not it is marked as a
            // header.
            let commit = md::MsdMemfence::unpack_lossy(dwords).commit;
            Some((Span::exactly(u8::from(!header)), Span::exactly(u8::from(commit))))
        }
        _ => None,
    }
}

fn data_port_1(dwords: &[u32; 1]) -> Payload {
    use md::MtDp1;
    let message = md::DataPort1MessageDescriptor::unpack_lossy(dwords);
    match message.message_type {
        MtDp1::MT1R_MB | MtDp1::MT1R_T => Some((NOTHING, Span::between(1, 8))),
        MtDp1::MT1W_MB => Some((Span::between(1, 8), NOTHING)),
        MtDp1::MT1R_US | MtDp1::MT1W_US | MtDp1::MT1R_A64_US | MtDp1::MT1W_A64_US => {
            untyped(dwords)
        }
        MtDp1::MT1R_TS => Some((Span::between(1, 4), Span::exactly(channels(dwords)))),
        MtDp1::MT1W_TS => Some((Span::between(1, 4).plus(channels(dwords)), NOTHING)),
        MtDp1::MT1A_UI => {
            let simd = simd2(dwords);
            Some((Span::exactly(simd * (1 + sources(dwords)?)), answer(dwords, simd)))
        }
        MtDp1::MT1A_TA => Some((Span::between(1, 4).plus(sources(dwords)?), answer(dwords, 1))),
        MtDp1::MT1A_TC => {
            let simd = simd2(dwords);
            Some((Span::exactly(simd * sources(dwords)?), answer(dwords, simd)))
        }
        MtDp1::MT1A_A64_UI => {
            let wide = msd::Msd1A64Ai::unpack_lossy(dwords).data_width.bits() as u8 + 1;
            Some((Span::exactly(2 + wide * sources(dwords)?), answer(dwords, wide)))
        }
        MtDp1::MT1R_A64_SB => Some((Span::exactly(2), scattered(dwords)?)),
        MtDp1::MT1W_A64_SB => Some((scattered(dwords)?.plus(2), NOTHING)),
        MtDp1::MT1R_A64_B => Some((NOTHING, block(dwords)?)),
        MtDp1::MT1W_A64_B => Some((block(dwords)?, NOTHING)),
        _ => None,
    }
}

/// Lengths of untyped surface messages: addresses, and one register of data for each enabled
/// component (x, y, z, w) and eight slots. Addresses of 64 bits take twice the registers, except in
/// SIMD4x2.
fn untyped(dwords: &[u32; 1]) -> Payload {
    use md::MtDp1;
    let message = msd::Msd1Us::unpack_lossy(dwords);
    let long = matches!(message.message_type, MtDp1::MT1R_A64_US | MtDp1::MT1W_A64_US);
    let write = matches!(message.message_type, MtDp1::MT1W_US | MtDp1::MT1W_A64_US);
    let (addresses, data) = match message.simd_mode {
        mdc::MdcSm3::SIMD8 => (1, channels(dwords)),
        mdc::MdcSm3::SIMD16 => (2, 2 * channels(dwords)),
        // In SIMD4x2 two slots share one register.
        mdc::MdcSm3::SIMD4X2 => (1, 1),
        _ => return None,
    };
    let addresses =
        if long && message.simd_mode != mdc::MdcSm3::SIMD4X2 { addresses * 2 } else { addresses };
    Some(match write {
        true => (Span::exactly(addresses + data), NOTHING),
        false => (Span::exactly(addresses), Span::exactly(data)),
    })
}

fn channels(dwords: &[u32; 1]) -> u8 {
    4 - msd::Msd1Us::unpack_lossy(dwords).channel_mask.bits().count_ones() as u8
}

/// Registers per operand: one for eight slots, two for sixteen.
fn simd2(dwords: &[u32; 1]) -> u8 {
    if msd::Msd1Uai::unpack_lossy(dwords).simd_mode == mdc::MdcSm2r::SIMD16 { 2 } else { 1 }
}

/// Number of operands of an atomic operation in the message.
fn sources(dwords: &[u32; 1]) -> Option<u8> {
    use msd::MdcAop;
    match msd::Msd1Uai::unpack_lossy(dwords).atomic_integer_operation_type {
        MdcAop::AOP_INC | MdcAop::AOP_DEC | MdcAop::AOP_PREDEC => Some(0),
        MdcAop::AOP_CMPWR => Some(2),
        MdcAop::AOP_CMPWR_2W => None,
        _ => Some(1),
    }
}

fn answer(dwords: &[u32; 1], registers: u8) -> Span {
    let wanted = msd::Msd1Uai::unpack_lossy(dwords).return_data_control;
    Span::exactly(if wanted { registers } else { 0 })
}

/// Number of data registers for eight slots. Scattered bytes: one register for up to four bytes in
/// each slot, two for eight bytes. Scattered dwords and qwords: one register for each dword of a
/// slot, two for each qword.
fn scattered(dwords: &[u32; 1]) -> Option<Span> {
    let message = msd::Msd1A64S::unpack_lossy(dwords);
    let elements = match message.data_size {
        mdc::MdcA64Ds::DE1 => 1,
        mdc::MdcA64Ds::DE2 => 2,
        mdc::MdcA64Ds::DE4 => 4,
        _ => 8,
    };
    match message.subtype {
        msd::A64ScatteredSubtype::BYTE => Some(Span::exactly(if elements == 8 { 2 } else { 1 })),
        msd::A64ScatteredSubtype::DWORD => Some(Span::exactly(elements)),
        msd::A64ScatteredSubtype::QWORD => Some(Span::exactly(2 * elements)),
        _ => None,
    }
}

fn block(dwords: &[u32; 1]) -> Option<Span> {
    use msd::A64BlockSubtype as Subtype;
    match msd::Msd1A64B::unpack_lossy(dwords).subtype {
        Subtype::OWORD | Subtype::UNALIGNED_OWORD => {
            owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks)
        }
        Subtype::HWORD => match mdc::Msd1rA64Hwb::unpack_lossy(dwords).data_elements {
            mdc::MdcA64DbHw::HW1 => Some(Span::exactly(1)),
            mdc::MdcA64DbHw::HW2 => Some(Span::exactly(2)),
            mdc::MdcA64DbHw::HW4 => Some(Span::exactly(4)),
            mdc::MdcA64DbHw::HW8 => Some(Span::exactly(8)),
            _ => None,
        },
        _ => None,
    }
}
