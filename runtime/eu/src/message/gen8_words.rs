//! Descriptions of messages for which IGA has no words, or wrong ones: the numbers of some messages
//! have another meaning on later hardware.

use super::atomics::operation;
use crate::gen8::{descriptors as mdc, eu_messages as msd, messages as md};
use crate::instruction::SharedFunction;
use core::fmt::{self, Write};

/// Writes the message if IGA's words are missing or wrong; else returns `None`.
pub(super) fn write<W: Write + ?Sized>(
    out: &mut W,
    function: SharedFunction,
    descriptor: u32,
) -> Option<fmt::Result> {
    let dwords = &[descriptor];
    match function {
        SharedFunction::Gateway => named(out, gateway(dwords)),
        SharedFunction::ThreadSpawner => named(out, spawner(dwords)),
        SharedFunction::Urb => urb(out, dwords),
        SharedFunction::DataPortSampler => named(out, read_only(dwords)),
        SharedFunction::PixelInterpolator => named(out, pixel_interpolator(dwords)),
        SharedFunction::DataPort1 => data_port_1(out, dwords),
        _ => None,
    }
}

fn named<W: Write + ?Sized>(out: &mut W, name: Option<&str>) -> Option<fmt::Result> {
    name.map(|name| out.write_str(name))
}

fn gateway(dwords: &[u32; 1]) -> Option<&'static str> {
    let names = [
        "open gateway",
        "close gateway",
        "forward message",
        "read timestamp",
        "signal barrier",
        "update gateway state",
        "read or write register",
    ];
    let message = md::MessageGatewayDescriptor::unpack_lossy(dwords);
    names.get(message.gateway_opcode.bits() as usize).copied()
}

fn spawner(dwords: &[u32; 1]) -> Option<&'static str> {
    let message = md::ThreadSpawnMessageDescriptor::unpack_lossy(dwords);
    Some(if message.opcode.bits() == 1 { "spawn thread" } else { "end of thread" })
}

fn read_only(dwords: &[u32; 1]) -> Option<&'static str> {
    match md::ReadOnlyDataPortMessageDescriptor::unpack_lossy(dwords).message_type {
        md::MtDpRo::MT_SC_OWUB => Some("sampler cache unaligned oword block read"),
        md::MtDpRo::MT_SC_MB => Some("sampler cache media block read"),
        _ => None,
    }
}

fn urb<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Option<fmt::Result> {
    let message = md::UrbMessageDescriptor::unpack_lossy(dwords);
    let names = [
        "urb hword write",
        "urb oword write",
        "urb hword read",
        "urb oword read",
        "urb atomic move",
        "urb atomic increment",
        "urb atomic add",
    ];
    let name = names.get(message.urb_opcode.bits() as usize)?;
    let slots = if message.per_slot_offset { " with per-slot offset enabled" } else { "" };
    Some(write!(out, "{name}{slots}"))
}

fn pixel_interpolator(dwords: &[u32; 1]) -> Option<&'static str> {
    let names = ["shared offset", "sample position", "centroid", "offset per slot"];
    let message = msd::PixelInterpolatorMessageDescriptor::unpack_lossy(dwords);
    names.get(message.message_type.bits() as usize).copied()
}

fn data_port_1<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Option<fmt::Result> {
    use md::MtDp1;
    let message_type = md::DataPort1MessageDescriptor::unpack_lossy(dwords).message_type;
    let atomic = || operation(msd::Msd1Uai::unpack_lossy(dwords).atomic_integer_operation_type);
    Some(match message_type {
        MtDp1::MT1R_T => out.write_str("transpose read"),
        MtDp1::MT1A_UI4X2 => write!(out, "untyped simd4x2 atomic int32 {}", atomic()),
        MtDp1::MT1A_TA4X2 => write!(out, "typed simd4x2 atomic 32-bit integer {}", atomic()),
        MtDp1::MT1A_TC4X2 => write!(out, "typed simd4x2 atomic 32-bit counter {}", atomic()),
        MtDp1::MT1A_A64_UI4X2 => {
            let wide = msd::Msd1A64Ai::unpack_lossy(dwords).data_width.bits() == 1;
            write!(out, "untyped a64 simd4x2 atomic int{} {}", if wide { 64 } else { 32 }, atomic())
        }
        MtDp1::MT1R_A64_B => block(out, dwords, "read"),
        MtDp1::MT1W_A64_B => block(out, dwords, "write"),
        _ => return None,
    })
}

fn block<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1], direction: &str) -> fmt::Result {
    use msd::A64BlockSubtype as Subtype;
    let owords = match md::Msd0rOwb::unpack_lossy(dwords).data_blocks {
        md::MdcDbOw::OW1L => " x1",
        md::MdcDbOw::OW1U => " x1H",
        md::MdcDbOw::OW2 => " x2",
        md::MdcDbOw::OW4 => " x4",
        md::MdcDbOw::OW8 => " x8",
        _ => "",
    };
    match msd::Msd1A64B::unpack_lossy(dwords).subtype {
        Subtype::UNALIGNED_OWORD => write!(out, "a64 unaligned oword block {direction}{owords}"),
        Subtype::HWORD => {
            let hwords = match mdc::Msd1rA64Hwb::unpack_lossy(dwords).data_elements {
                mdc::MdcA64DbHw::HW1 => " x1",
                mdc::MdcA64DbHw::HW2 => " x2",
                mdc::MdcA64DbHw::HW4 => " x4",
                mdc::MdcA64DbHw::HW8 => " x8",
                _ => "",
            };
            write!(out, "a64 hword block {direction}{hwords}")
        }
        Subtype::OWORD_DUAL => write!(out, "a64 oword dual block {direction}"),
        _ => write!(out, "a64 aligned oword block {direction}{owords}"),
    }
}
