//! Prints messages in Mesa's words, as the second line of a send.

use super::text::{Line, invalid};
use crate::encoding as enc;
use crate::gen8::{eu, eu_gen9, eu_gen11, eu_messages as msd, messages as md};
use crate::generation::Generation;
use crate::instruction::SharedFunction;
use crate::syntax::{self, Syntax};
use core::fmt::{self, Write};

/// Prints the shared function, the message and its lengths:
/// `dp data 1 MsgDesc: ( DC typed surface write, Surface = 1, SIMD16, Mask = 0x0) mlen 7 rlen 0`.
/// Without an immediate descriptor, prints `indirect` after `MsgDesc:`. `extended` is the length of
/// the second payload, if a split send has it in the instruction.
pub(super) fn write<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    generation: Generation,
    function: eu::Sfid,
    descriptor: Option<u32>,
    extended: Option<u64>,
) -> fmt::Result {
    let number = function.bits();
    let meaning = enc::SHARED_FUNCTION.decode(function);
    use SharedFunction::*;
    match meaning {
        // In later generations this number belongs to another unit; Mesa prints that unit's name.
        Some(MotionEstimation) => line.text("rt accel")?,
        Some(meaning) => {
            line.text(syntax::FUNCTIONS.name(meaning, Syntax::Mesa).unwrap_or_default())?
        }
        None if number == 1 => line.text("math")?,
        None => invalid(line, "SFID", number)?,
    }
    line.text(" MsgDesc:")?;
    let second = |line: &mut Line<'_, W>| match extended {
        Some(length) => {
            line.text(" ex_mlen ")?;
            line.unsigned(length)
        }
        None => Ok(()),
    };
    let Some(descriptor) = descriptor else {
        line.text(" indirect")?;
        return second(line);
    };
    let dwords = &[descriptor];
    match meaning {
        Some(Sampler) => sampler(line, generation, dwords)?,
        Some(DataPortSampler | DataPortConstant) => {
            // Mesa reads the message type of these data ports as that of data port 1, which has bit
            // 18 too. For these data ports, bit 18 is reserved.
            let message = md::DataPort1MessageDescriptor::unpack_lossy(dwords);
            let message_type = message.message_type.bits();
            let fields =
                [message.binding_table_index.get(), message.message_control.get(), message_type, 0];
            for (index, field) in fields.into_iter().enumerate() {
                line.text(if index == 0 { " (" } else { ", " })?;
                line.unsigned(field)?;
            }
            line.text(")")?;
        }
        Some(DataPortRender) => render(line, generation, dwords)?,
        Some(Urb) => urb(line, dwords)?,
        Some(ThreadSpawner) => {}
        Some(Gateway) => {
            let message = md::MessageGatewayDescriptor::unpack_lossy(dwords);
            line.text(" (")?;
            line.text(
                GATEWAY.get(message.gateway_opcode.bits() as usize).copied().unwrap_or("(null)"),
            )?;
            line.text(")")?;
        }
        Some(DataPort0) => data_port_0(line, dwords)?,
        Some(DataPort1) => data_port_1(line, dwords)?,
        Some(PixelInterpolator) => {
            let message = msd::PixelInterpolatorMessageDescriptor::unpack_lossy(dwords);
            line.text(if message.linear { " (linear, " } else { " (persp, " })?;
            line.text(
                INTERPOLATION
                    .get(message.message_type.bits() as usize)
                    .copied()
                    .unwrap_or_default(),
            )?;
            line.text(", 0x")?;
            line.hex(message.message_data.pack()[0].into(), 2)?;
            line.text(")")?;
        }
        _ => {
            line.text("unsupported shared function ID ")?;
            line.unsigned(number)?;
        }
    }
    let message = eu::EuInstructionOperandSendMsg::unpack_lossy(dwords).message_descriptor;
    line.text(" mlen ")?;
    line.unsigned(message.message_length.get())?;
    second(line)?;
    line.text(" rlen ")?;
    line.unsigned(message.response_length.get())
}

/// Prints a space and the word with this number in a table, or `invalid` if it is missing. Empty
/// words are gaps in the table.
pub(super) fn word<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    table: &[&str],
    value: u64,
    what: &str,
) -> fmt::Result {
    match table.get(value as usize) {
        Some(word) if !word.is_empty() => {
            line.text(" ")?;
            line.text(word)
        }
        _ => invalid(line, what, value),
    }
}

fn sampler<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    generation: Generation,
    dwords: &[u32; 1],
) -> fmt::Result {
    let message = md::MessageDescriptorSamplingEngine::unpack_lossy(dwords);
    word(line, &SAMPLER, message.message_type.bits(), "sampler message")?;
    let modes: &[&str] = match generation {
        Generation::Gen11 | Generation::Gen12 => &SAMPLER_MODES,
        _ => &SAMPLER_MODES[..4],
    };
    let (mode, half) = match generation {
        Generation::Gen8 => (message.simd_mode_1_0.bits(), false),
        _ => {
            let mode = eu_gen9::SamplerMessageMode::unpack_lossy(dwords);
            (mode.simd_mode_1_0.get() + mode.simd_mode_2_2.get() * 4, mode.return_format)
        }
    };
    word(line, modes, mode, "sampler simd mode")?;
    line.text(if half { " HP" } else { "" })?;
    line.text(" Surface = ")?;
    line.unsigned(message.binding_table_index.get())?;
    line.text(" Sampler = ")?;
    line.unsigned(message.sampler_index.get())
}

fn render<W: Write + ?Sized>(
    line: &mut Line<'_, W>,
    generation: Generation,
    dwords: &[u32; 1],
) -> fmt::Result {
    let message = msd::MsdRtw::unpack_lossy(dwords);
    let types: &[&str] = match generation {
        Generation::Gen8 => &RENDER,
        _ => &RENDER_GEN9,
    };
    word(line, types, message.message_type.bits(), "DP rc message type")?;
    if message.message_type == msd::MtDpRt::MT_RTW {
        word(line, &RENDER_SUBTYPE, message.message_subtype.bits(), "RT message type")?;
        if message.slot_group_select.bits() != 0 {
            line.text(" Hi")?;
        }
        if message.last_render_target_select {
            line.text(" LastRT")?;
        }
        let coarse = eu_gen11::RenderTargetCoarse::unpack_lossy(dwords).coarse_write;
        if generation >= Generation::Gen11 && coarse {
            line.text(" CoarseWrite")?;
        }
    } else {
        // Mesa prints a decimal number after `0x`.
        line.text(" MsgCtrl = 0x")?;
        line.unsigned(md::DataPort0MessageDescriptor::unpack_lossy(dwords).message_control.get())?;
    }
    line.text(" Surface = ")?;
    line.unsigned(message.binding_table_index.get())
}

fn urb<W: Write + ?Sized>(line: &mut Line<'_, W>, dwords: &[u32; 1]) -> fmt::Result {
    let message = md::UrbMessageDescriptor::unpack_lossy(dwords);
    line.text(" ")?;
    line.unsigned(message.global_offset.get())?;
    let opcode = message.urb_opcode.bits();
    word(line, &URB, opcode, "urb opcode")?;
    if message.per_slot_offset {
        line.text(" per-slot")?;
    }
    match (message.swizzle_control.bits(), opcode) {
        (0, _) => Ok(()),
        (_, 7 | 8) => line.text(" masked"),
        _ => line.text(" interleave"),
    }
}

fn data_port_0<W: Write + ?Sized>(line: &mut Line<'_, W>, dwords: &[u32; 1]) -> fmt::Result {
    let message = md::DataPort0MessageDescriptor::unpack_lossy(dwords);
    line.text(" (")?;
    if message.legacy_dap_dc_message.bits() == 1 {
        // For scratch messages Mesa reads after the end of its table; these words are our own.
        let scratch = msd::Msd0Scratch::unpack_lossy(dwords);
        line.text(if scratch.write {
            " DC scratch block write, "
        } else {
            " DC scratch block read, "
        })?;
        line.unsigned(scratch.block_size.get())?;
        line.text(", ")?;
        line.unsigned(scratch.offset.get())?;
        return line.text(")");
    }
    let ty = message.message_type.bits();
    word(line, &DATA_PORT_0, ty, "DP DC0 message type")?;
    line.text(", ")?;
    line.unsigned(message.binding_table_index.get())?;
    line.text(", ")?;
    if ty == 6 {
        word(line, &ATOMIC, message.message_control.get() % 16, "atomic op")?;
    } else {
        line.unsigned(message.message_control.get())?;
    }
    line.text(")")
}

fn data_port_1<W: Write + ?Sized>(line: &mut Line<'_, W>, dwords: &[u32; 1]) -> fmt::Result {
    use md::MtDp1;
    let message = md::DataPort1MessageDescriptor::unpack_lossy(dwords);
    line.text(" (")?;
    word(line, &DATA_PORT_1, message.message_type.bits(), "DP DC1 message type")?;
    line.text(", Surface = ")?;
    line.unsigned(message.binding_table_index.get())?;
    line.text(", ")?;
    let atomic = msd::Msd1Uai::unpack_lossy(dwords);
    let half = if atomic.simd_mode.bits() != 0 { "SIMD8," } else { "SIMD16," };
    match message.message_type {
        MtDp1::MT1A_UI | MtDp1::MT1A_TA | MtDp1::MT1A_TC => {
            line.text(half)?;
            word(line, &ATOMIC, atomic.atomic_integer_operation_type.bits(), "atomic op")?;
        }
        MtDp1::MT1A_UI4X2
        | MtDp1::MT1A_TA4X2
        | MtDp1::MT1A_TC4X2
        | MtDp1::MT1A_A64_UI
        | MtDp1::MT1A_A64_UI4X2 => {
            word(line, &ATOMIC, atomic.atomic_integer_operation_type.bits(), "atomic op")?;
        }
        MtDp1::MT1R_US
        | MtDp1::MT1W_US
        | MtDp1::MT1R_TS
        | MtDp1::MT1W_TS
        | MtDp1::MT1R_A64_US
        | MtDp1::MT1W_A64_US => {
            let surface = msd::Msd1Us::unpack_lossy(dwords);
            let modes = ["4x2", "16", "8"];
            line.text("SIMD")?;
            // For the fourth value Mesa reads after the end of its table.
            line.text(modes.get(surface.simd_mode.bits() as usize).copied().unwrap_or("?"))?;
            line.text(", Mask = 0x")?;
            line.hex(surface.channel_mask.bits(), 1)?;
        }
        // Operations on floats, which Gen8 does not have.
        ty if matches!(ty.bits(), 0x1b | 0x1d | 0x1e) => {
            line.text(half)?;
            word(
                line,
                &["", "fmax", "fmin", "fcmpwr"],
                message.message_control.get() % 16,
                "atomic float op",
            )?;
        }
        _ => {
            line.text("0x")?;
            line.hex(message.message_control.get(), 1)?;
        }
    }
    line.text(")")
}

pub(super) static GATEWAY: [&str; 7] = [
    "open",
    "close",
    "forward msg",
    "get timestamp",
    "barrier msg",
    "update state",
    "mmio read/write",
];

static INTERPOLATION: [&str; 4] =
    ["per_message_offset", "sample_position", "centroid", "per_slot_offset"];

static URB: [&str; 9] = [
    "write HWord",
    "write OWord",
    "read HWord",
    "read OWord",
    "atomic mov",
    "atomic inc",
    "atomic add",
    "SIMD8 write",
    "SIMD8 read",
];

static RENDER: [&str; 14] = [
    "",
    "",
    "",
    "",
    "media block read",
    "typed surface read",
    "typed atomic op",
    "memory fence",
    "",
    "",
    "media block write",
    "",
    "RT write",
    "typed surface write",
];

/// Gen9 has no other messages to the render cache (facts: Mesa brw_eu_defines.h).
static RENDER_GEN9: [&str; 14] =
    ["", "", "", "", "", "", "", "", "", "", "", "", "RT write", "RT read"];

static RENDER_SUBTYPE: [&str; 8] = [
    "SIMD16",
    "SIMD16/RepData",
    "SIMD8/DualSrcLow",
    "SIMD8/DualSrcHigh",
    "SIMD8",
    "SIMD8/ImageWrite",
    "",
    "SIMD16/RepData-111",
];

static DATA_PORT_0: [&str; 14] = [
    "DC OWORD block read",
    "DC unaligned OWORD block read",
    "DC OWORD dual block read",
    "DC DWORD scattered read",
    "DC byte scattered read",
    "DC untyped surface read",
    "DC untyped atomic",
    "DC mfence",
    "DC OWORD block write",
    "",
    "DC OWORD dual block write",
    "DC DWORD scatterd write",
    "DC byte scattered write",
    "DC untyped surface write",
];

static DATA_PORT_1: [&str; 31] = [
    "",
    "untyped surface read",
    "DC untyped atomic op",
    "DC untyped 4x2 atomic op",
    "DC media block read",
    "DC typed surface read",
    "DC typed atomic",
    "DC typed 4x2 atomic op",
    "",
    "DC untyped surface write",
    "DC media block write",
    "DC atomic counter op",
    "DC 4x2 atomic counter op",
    "DC typed surface write",
    "",
    "",
    "DC A64 scattered read",
    "DC A64 untyped surface read",
    "DC A64 untyped atomic op",
    "DC A64 untyped atomic half-integer op",
    "DC A64 oword block read",
    "DC A64 oword block write",
    "",
    "",
    "",
    "DC A64 untyped surface write",
    "DC A64 scattered write",
    "DC untyped atomic float op",
    "",
    "DC A64 untyped atomic float op",
    "DC A64 untyped atomic half-float op",
];

/// Gen8 and Gen9 have no half SIMD modes (facts: Mesa brw_eu_defines.h).
pub(super) static SAMPLER_MODES: [&str; 7] =
    ["SIMD4x2", "SIMD8", "SIMD16", "SIMD32/64", "", "SIMD8H", "SIMD16H"];

static ATOMIC: [&str; 16] = [
    "", "and", "or", "xor", "mov", "inc", "dec", "add", "sub", "revsub", "imax", "imin", "umax",
    "umin", "cmpwr", "predec",
];

pub(super) static SAMPLER: [&str; 32] = [
    "sample",
    "sample_b",
    "sample_l",
    "sample_c",
    "sample_d",
    "sample_b_c",
    "sample_l_c",
    "ld",
    "gather4",
    "lod",
    "resinfo",
    "sampleinfo",
    "",
    "",
    "",
    "",
    "gather4_c",
    "gather4_po",
    "gather4_po_c",
    "",
    "sample_d_c",
    "",
    "",
    "",
    "sample_lz",
    "sample_c_lz",
    "ld_lz",
    "",
    "ld2dms_w",
    "ld_mcs",
    "ld2dms",
    "ld2dss",
];
