//! Messages in IGA's words.

use crate::gen8::{descriptors as mdc, eu_messages as msd, messages as md};
use crate::instruction::SharedFunction;
use core::fmt::{self, Write};

/// A message in IGA's words where it has some, to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    pub(super) function: SharedFunction,
    pub(super) descriptor: u32,
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl Words {
    /// Writes the words of the message, `?` if it has none.
    pub(super) fn write<W: Write + ?Sized>(&self, out: &mut W) -> fmt::Result {
        let dwords = &[self.descriptor];
        let written = match self.function {
            SharedFunction::Sampler => sampler(out, dwords),
            SharedFunction::Gateway => gateway(out, dwords),
            SharedFunction::DataPortSampler | SharedFunction::DataPortConstant => read_only(out, dwords),
            SharedFunction::DataPortRender => render(out, dwords),
            SharedFunction::Urb => urb(out, dwords),
            SharedFunction::ThreadSpawner => spawner(out, dwords),
            SharedFunction::DataPort0 => data_port_0(out, dwords),
            SharedFunction::DataPort1 => data_port_1(out, dwords),
            SharedFunction::PixelInterpolator => pixel_interpolator(out, dwords),
            SharedFunction::Null
            | SharedFunction::MotionEstimation
            | SharedFunction::CheckAndRefinement
            | SharedFunction::Reserved(_) => None,
        };
        written.unwrap_or_else(|| out.write_str("?"))
    }
}

/// What came of writing, if the message has words.
type Written = Option<fmt::Result>;

fn sampler<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    use md::MessageDescriptorSamplingEngineMessageType as Type;
    let message = md::MessageDescriptorSamplingEngine::unpack_lossy(dwords);
    let mode = ["simd4x2", "simd8", "simd16", "simd32"].get(message.simd_mode_1_0.bits() as usize)?;
    let operation = match message.message_type {
        Type::SAMPLE => "sample",
        Type::SAMPLE_B => "sample LOD bias",
        Type::SAMPLE_L => "sample override LOD",
        Type::SAMPLE_C => "sample compare",
        Type::SAMPLE_D => "sample with gradients",
        Type::SAMPLE_B_C => "sample LOD bias, compare",
        Type::SAMPLE_L_C => "sample override LOD, compare",
        Type::LD => "sample load",
        Type::GATHER4 => "sample gather4",
        Type::LOD => "sample LOD query",
        Type::RESINFO => "sample resource info",
        Type::SAMPLEINFO => "sample info",
        Type::SAMPLE_KILLPIX => "sample with pixel kill",
        Type::GATHER4_C => "sample gather4 compare",
        Type::GATHER4_PO => "sample gather4 with offsets",
        Type::GATHER4_PO_C => "sample gather4 compare with offsets",
        Type::SAMPLE_D_C => "sample compare with gradients",
        Type::SAMPLE_MIN => "sample minimum",
        Type::SAMPLE_MAX => "sample maximum",
        Type::LD_MCS => "sample load auxiliary data",
        Type::LD2DMS => "sample load multisampled",
        Type::LD2DSS => "sample load sample",
        _ => return None,
    };
    Some(write!(out, "{mode} {operation} using sampler index {}", message.sampler_index.get()))
}

fn gateway<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
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
    names.get(message.gateway_opcode.bits() as usize).map(|name| out.write_str(name))
}

fn spawner<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::ThreadSpawnMessageDescriptor::unpack_lossy(dwords);
    let spawn = message.opcode.bits() == 1;
    Some(out.write_str(if spawn { "spawn thread" } else { "end of thread" }))
}

fn urb<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::UrbMessageDescriptor::unpack_lossy(dwords);
    let names = [
        "hword write",
        "oword write",
        "hword read",
        "oword read",
        "atomic move",
        "atomic increment",
        "atomic add",
        "simd8 write",
        "simd8 read",
    ];
    let name = names.get(message.urb_opcode.bits() as usize)?;
    let slots = if message.per_slot_offset { " with offset per slot" } else { "" };
    Some(write!(out, "{name}{slots} at {}", message.global_offset.get()))
}

fn pixel_interpolator<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = msd::PixelInterpolatorMessageDescriptor::unpack_lossy(dwords);
    let names = ["shared offset", "sample position", "centroid", "offset per slot"];
    names.get(message.message_type.bits() as usize).map(|name| out.write_str(name))
}

fn render<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = msd::MsdRtw::unpack_lossy(dwords);
    let name = match message.message_type {
        msd::MtDpRt::MT_RTW => "render target write",
        msd::MtDpRt::MT_RTR => "render target read",
        _ => return None,
    };
    let channels = match message.message_subtype {
        msd::RenderTargetWriteSubtype::SIMD16 => "SIMD16",
        msd::RenderTargetWriteSubtype::SIMD16_REPDATA => "SIMD16 with replicated data",
        msd::RenderTargetWriteSubtype::SIMD8_DUALSRC_LO => "SIMD8 dual source low",
        msd::RenderTargetWriteSubtype::SIMD8_DUALSRC_HI => "SIMD8 dual source high",
        msd::RenderTargetWriteSubtype::SIMD8_LO => "SIMD8 low",
        _ => return None,
    };
    let precision = if message.precision.bits() == 0 { "full" } else { "half" };
    let last = if message.last_render_target_select { "; last render target" } else { "" };
    let surface = message.binding_table_index.get();
    Some(write!(out, "{precision}-precision {name} {channels}{last} to surface {surface}"))
}

fn read_only<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::ReadOnlyDataPortMessageDescriptor::unpack_lossy(dwords);
    let blocks = || owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks);
    Some(match message.message_type {
        md::MtDpRo::MT_CC_OWB => write!(out, "oword block read{}", blocks()),
        md::MtDpRo::MT_CC_OWUB | md::MtDpRo::MT_SC_OWUB => {
            write!(out, "oword aligned block read{}", blocks())
        }
        md::MtDpRo::MT_CC_OWDB => out.write_str("oword dual block read"),
        md::MtDpRo::MT_CC_DWS => out.write_str("dword gathering read"),
        md::MtDpRo::MT_SC_MB => out.write_str("media block read"),
        md::MtDpRo::MT_RSI => out.write_str("read surface info"),
        _ => return None,
    })
}

/// ` x4`
fn owords(blocks: md::MdcDbOw) -> &'static str {
    match blocks {
        md::MdcDbOw::OW1L | md::MdcDbOw::OW1U => " x1",
        md::MdcDbOw::OW2 => " x2",
        md::MdcDbOw::OW4 => " x4",
        md::MdcDbOw::OW8 => " x8",
        _ => "",
    }
}

fn data_port_0<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::DataPort0MessageDescriptor::unpack_lossy(dwords);
    if message.legacy_dap_dc_message.bits() == 1 {
        let scratch = msd::Msd0Scratch::unpack_lossy(dwords);
        let what = if scratch.write { "write" } else { "read" };
        return Some(write!(
            out,
            "scratch block {what} x{} at {}",
            scratch.block_size.get(),
            scratch.offset.get()
        ));
    }
    let blocks = || owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks);
    let bytes = || msd::Msd0Bs::unpack_lossy(dwords).data_elements;
    let bits = || match bytes() {
        mdc::MdcDs::B => " 8b",
        mdc::MdcDs::W => " 16b",
        mdc::MdcDs::DW => " 32b",
        _ => "",
    };
    Some(match message.message_type {
        md::MtDp0::MT0R_OWB => write!(out, "oword block read{}", blocks()),
        md::MtDp0::MT0R_OWUB => write!(out, "oword aligned block read{}", blocks()),
        md::MtDp0::MT0W_OWB => write!(out, "oword block write{}", blocks()),
        md::MtDp0::MT0R_OWDB => out.write_str("oword dual block read"),
        md::MtDp0::MT0W_OWDB => out.write_str("oword dual block write"),
        md::MtDp0::MT0R_DWS => out.write_str("dword gathering read"),
        md::MtDp0::MT0W_DWS => out.write_str("dword scattering write"),
        md::MtDp0::MT0R_BS => write!(out, "byte gathering read{}", bits()),
        md::MtDp0::MT0W_BS => write!(out, "byte scattering write{}", bits()),
        md::MtDp0::MT0_MEMFENCE => {
            let commit = if md::MsdMemfence::unpack_lossy(dwords).commit { "synchronized " } else { "" };
            write!(out, "{commit}global fence flushing")
        }
        _ => return None,
    })
}

fn data_port_1<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    use md::MtDp1;
    let message = md::DataPort1MessageDescriptor::unpack_lossy(dwords);
    let channels = || channels(msd::Msd1Us::unpack_lossy(dwords).channel_mask);
    let atomic = || operation(msd::Msd1Uai::unpack_lossy(dwords).atomic_integer_operation_type);
    Some(match message.message_type {
        MtDp1::MT1R_T => out.write_str("transpose read"),
        MtDp1::MT1R_MB => out.write_str("media block read"),
        MtDp1::MT1W_MB => out.write_str("media block write"),
        MtDp1::MT1R_US => write!(out, "untyped surface read with {}", channels()),
        MtDp1::MT1W_US => write!(out, "untyped surface write with {}", channels()),
        MtDp1::MT1R_TS => write!(out, "typed surface read with {}", channels()),
        MtDp1::MT1W_TS => write!(out, "typed surface write with {}", channels()),
        MtDp1::MT1R_A64_US => write!(out, "a64 untyped surface read with {}", channels()),
        MtDp1::MT1W_A64_US => write!(out, "a64 untyped surface write with {}", channels()),
        MtDp1::MT1A_UI => write!(out, "untyped atomic int32 {}", atomic()),
        MtDp1::MT1A_UI4X2 => write!(out, "untyped simd4x2 atomic int32 {}", atomic()),
        MtDp1::MT1A_TA => write!(out, "typed atomic int32 {}", atomic()),
        MtDp1::MT1A_TA4X2 => write!(out, "typed simd4x2 atomic int32 {}", atomic()),
        MtDp1::MT1A_TC => write!(out, "atomic counter {}", atomic()),
        MtDp1::MT1A_TC4X2 => write!(out, "simd4x2 atomic counter {}", atomic()),
        MtDp1::MT1A_A64_UI | MtDp1::MT1A_A64_UI4X2 => {
            let simd = if message.message_type == MtDp1::MT1A_A64_UI { "" } else { " simd4x2" };
            let wide = msd::Msd1A64Ai::unpack_lossy(dwords).data_width.bits() == 1;
            write!(out, "untyped a64{simd} atomic int{} {}", if wide { 64 } else { 32 }, atomic())
        }
        MtDp1::MT1R_A64_SB => scattered(out, dwords, "gathering read")?,
        MtDp1::MT1W_A64_SB => scattered(out, dwords, "scattering write")?,
        MtDp1::MT1R_A64_B => write!(out, "a64 {} read", block(dwords)?),
        MtDp1::MT1W_A64_B => write!(out, "a64 {} write", block(dwords)?),
        _ => return None,
    })
}

/// Element and direction of a scattered access.
fn scattered<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1], direction: &str) -> Written {
    let message = msd::Msd1A64S::unpack_lossy(dwords);
    let bits = match message.data_size {
        mdc::MdcA64Ds::DE1 => 8,
        mdc::MdcA64Ds::DE2 => 16,
        mdc::MdcA64Ds::DE4 => 32,
        _ => 64,
    };
    match message.subtype {
        msd::A64ScatteredSubtype::BYTE => Some(write!(out, "a64 byte {direction} {bits}b")),
        msd::A64ScatteredSubtype::DWORD => Some(write!(out, "a64 dword {direction}")),
        msd::A64ScatteredSubtype::QWORD => Some(write!(out, "a64 qword {direction}")),
        _ => None,
    }
}

fn block(dwords: &[u32; 1]) -> Option<&'static str> {
    Some(match msd::Msd1A64B::unpack_lossy(dwords).subtype {
        msd::A64BlockSubtype::OWORD => "oword block",
        msd::A64BlockSubtype::UNALIGNED_OWORD => "oword aligned block",
        msd::A64BlockSubtype::OWORD_DUAL => "oword dual block",
        msd::A64BlockSubtype::HWORD => "hword block",
        _ => return None,
    })
}

/// The channels that take part; a set bit of the mask leaves one out.
fn channels(mask: mdc::MdcCmask) -> &'static str {
    const NAMES: [&str; 16] =
        ["xyzw", "yzw", "xzw", "zw", "xyw", "yw", "xw", "w", "xyz", "yz", "xz", "z", "xy", "y", "x", ""];
    NAMES.get(mask.bits() as usize).copied().unwrap_or_default()
}

fn operation(operation: msd::MdcAop) -> &'static str {
    match operation {
        msd::MdcAop::AOP_AND => "logical AND",
        msd::MdcAop::AOP_OR => "logical OR",
        msd::MdcAop::AOP_XOR => "logical XOR",
        msd::MdcAop::AOP_MOV => "exchange",
        msd::MdcAop::AOP_INC => "integer increment",
        msd::MdcAop::AOP_DEC => "integer decrement",
        msd::MdcAop::AOP_ADD => "integer add",
        msd::MdcAop::AOP_SUB => "integer subtract",
        msd::MdcAop::AOP_REVSUB => "integer subtract reverse",
        msd::MdcAop::AOP_IMAX => "signed-integer max",
        msd::MdcAop::AOP_IMIN => "signed-integer min",
        msd::MdcAop::AOP_UMAX => "unsigned-integer max",
        msd::MdcAop::AOP_UMIN => "unsigned-integer min",
        msd::MdcAop::AOP_CMPWR => "integer compare and swap",
        msd::MdcAop::AOP_PREDEC => "integer pre-decrement",
        _ => "integer compare and swap of two",
    }
}
