//! Prints messages in IGA's words. IGA decodes many messages as on later hardware.

use super::atomics::operation;
use crate::gen8::{descriptors as mdc, eu_messages as msd, messages as md};
use crate::instruction::SharedFunction;
use core::fmt::{self, Write};
use genxml_core::bits;

/// A message in words; its `Display` prints them. IGA's words are used unless IGA has none or has
/// wrong ones for Gen8. `?` is printed for an unknown message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    pub(super) function: SharedFunction,
    pub(super) descriptor: u32,
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match super::gen8_words::write(f, self.function, self.descriptor) {
            Some(written) => written,
            None => self.write_iga(f),
        }
    }
}

impl Words {
    /// Writes IGA's words exactly as IGA's listings have them, even if wrong.
    pub(super) fn write_iga<W: Write + ?Sized>(&self, out: &mut W) -> fmt::Result {
        let dwords = &[self.descriptor];
        let written = match self.function {
            SharedFunction::Sampler => sampler(out, dwords),
            SharedFunction::Gateway => gateway(out, dwords),
            SharedFunction::DataPortConstant => read_only(out, dwords),
            SharedFunction::DataPortRender => render(out, dwords),
            SharedFunction::Urb => urb(out, dwords),
            SharedFunction::ThreadSpawner => spawner(out, dwords),
            SharedFunction::DataPort0 => data_port_0(out, dwords),
            SharedFunction::DataPort1 => data_port_1(out, dwords),
            SharedFunction::Null
            | SharedFunction::DataPortSampler
            | SharedFunction::PixelInterpolator
            | SharedFunction::MotionEstimation
            | SharedFunction::CheckAndRefinement
            | SharedFunction::Math
            | SharedFunction::DataPortRead
            | SharedFunction::DataPortWrite
            | SharedFunction::Reserved(_) => None,
        };
        written.unwrap_or_else(|| out.write_str("?"))
    }
}

/// The result of writing; `None` if the message has no words.
type Written = Option<fmt::Result>;

fn sampler<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    use md::MessageDescriptorSamplingEngineMessageType as Type;
    use md::MessageDescriptorSamplingEngineSimdMode10 as Mode;
    let message = md::MessageDescriptorSamplingEngine::unpack_lossy(dwords);
    // Later generations have a third bit of the SIMD mode.
    let high = bits::get(dwords, SIMD_MODE_2, SIMD_MODE_2) == 1;
    let mode = match message.simd_mode_1_0 {
        Mode::SIMD8 if high => "simd8 high",
        Mode::SIMD16 if high => "simd16 high",
        Mode::SIMD32_64 if high => "",
        Mode::SIMD8 => "simd8",
        Mode::SIMD16 => "simd16",
        Mode::SIMD32_64 => "simd32/64",
        _ => "unknown simd mode",
    };
    // The widest mode has its own operation numbers.
    let wide = message.simd_mode_1_0 == Mode::SIMD32_64 && !high;
    let operation = match message.message_type {
        _ if wide => match message.message_type.bits() {
            0x00 => "sample unorm",
            0x02 => "sample unorm+killpix",
            0x08 => "sample deinterlace",
            0x0a => "sample unorm+killpix for media",
            0x0b => "sample 8x8",
            0x0c => "sample unorm for media",
            0x1f => "sampler cache flush",
            _ => "?",
        },
        Type::SAMPLE => "sample",
        Type::SAMPLE_B => "sample+LOD bias",
        Type::SAMPLE_L => "sample override LOD",
        Type::SAMPLE_C => "sample compare",
        Type::SAMPLE_D => "sample gradient",
        Type::SAMPLE_B_C => "sample compare+LOD bias",
        Type::SAMPLE_L_C => "sample compare+override LOD",
        Type::LD => "sample load",
        Type::GATHER4 => "sample gather4",
        Type::LOD => "sample override lod",
        Type::RESINFO => "sample res info",
        Type::SAMPLEINFO => "sample info",
        Type::SAMPLE_KILLPIX => "sample+killpix",
        Type::GATHER4_C => "sample gather4+compare",
        Type::GATHER4_PO => "sample gather4+pixel offset",
        Type::GATHER4_PO_C => "sample gather4 pixel offset+compare",
        Type::SAMPLE_D_C => "sample derivatives+compare",
        Type::SAMPLE_MIN => "sample min",
        Type::SAMPLE_MAX => "sample max",
        Type::LD_MCS => "sample load mcs auxilary data",
        Type::LD2DMS => "sample load multi-sample",
        Type::LD2DSS => "sample multi-sample without mcs",
        other => match other.bits() {
            0x18 => "sample with lod forced to 0",
            0x19 => "sample compare+with lod forced to 0",
            0x1a => "sample load with lod forced to 0",
            0x1c => "sample ld2 multi-sample wide",
            _ => "?",
        },
    };
    let half = if bits::get(dwords, RETURN_FORMAT, RETURN_FORMAT) == 1 { " 16b" } else { "" };
    Some(write!(
        out,
        "{mode}{half} {operation} using sampler index {}",
        message.sampler_index.get()
    ))
}

/// Bit that selects half floats on later hardware; reserved on Gen8 (2d p.257).
const RETURN_FORMAT: u32 = 30;

/// Highest bit of the sampler's mode on later hardware; reserved on Gen8.
const SIMD_MODE_2: u32 = 29;

fn gateway<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::MessageGatewayDescriptor::unpack_lossy(dwords);
    let name = match message.gateway_opcode.bits() {
        0 => "end of thread",
        1 => "signal event",
        2 => "monitor event",
        3 => "unmonitor event",
        4 => "signal barrier",
        6 => "wait for event",
        _ => return None,
    };
    Some(out.write_str(name))
}

fn spawner<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let end = bits::get(dwords, 0, 2) == 0;
    end.then(|| out.write_str("end of thread"))
}

fn urb<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::UrbMessageDescriptor::unpack_lossy(dwords);
    let name = match message.urb_opcode.bits() {
        7 if message.swizzle_control.bits() != 0 => "urb dword masked write",
        7 => "urb dword write",
        8 => "urb dword read",
        9 => return Some(out.write_str("urb fence")),
        _ => return None,
    };
    let slots = if message.per_slot_offset { " with per-slot offset enabled" } else { "" };
    Some(write!(out, "{name}{slots}"))
}

fn render<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    use msd::RenderTargetWriteSubtype as Subtype;
    let message = msd::MsdRtw::unpack_lossy(dwords);
    let write = message.message_type == msd::MtDpRt::MT_RTW;
    let read = message.message_type == msd::MtDpRt::MT_RTR;
    let (name, channels) = match message.message_subtype {
        Subtype::SIMD16 if write => ("render target write", " SIMD16"),
        Subtype::SIMD16_REPDATA if write => ("render target write", " replicated SIMD16"),
        Subtype::SIMD8_DUALSRC_LO if write => ("render target write", " of low SIMD8"),
        Subtype::SIMD8_DUALSRC_HI if write => ("render target write", " of high SIMD8"),
        Subtype::SIMD8_LO if write => ("render target write", " SIMD8"),
        _ if write => ("render target write", "unknown write subop"),
        Subtype::SIMD16 if read => ("render target read", " SIMD16"),
        Subtype::SIMD16_REPDATA if read => ("render target read", " SIMD8"),
        _ if read => ("render target read", "unknown read subop"),
        _ => ("unknown render target op", ""),
    };
    let precision = if message.precision.bits() == 0 { "full" } else { "half" };
    let coarse = if write && bits::get(dwords, PER_COARSE_PIXEL, PER_COARSE_PIXEL) == 1 {
        " with Per-Coarse Pixel PS outputs enable"
    } else {
        ""
    };
    let sample = if message.per_sample { " with Per-Sample Pixel PS outputs enable" } else { "" };
    let last = if write && message.last_render_target_select { "; last render target" } else { "" };
    let high = if message.slot_group_select.bits() != 0 { " slot group high" } else { "" };
    let surface = message.binding_table_index.get();
    Some(write!(
        out,
        "{precision}-precision {name}{channels}{coarse}{sample}{last}{high} to surface {surface}"
    ))
}

/// Bit that selects coarse pixels on later hardware; reserved on Gen8.
const PER_COARSE_PIXEL: u32 = 18;

fn read_only<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::ReadOnlyDataPortMessageDescriptor::unpack_lossy(dwords);
    let blocks = owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks);
    Some(match message.message_type {
        md::MtDpRo::MT_CC_OWB => write!(out, "constant oword block read{blocks}"),
        md::MtDpRo::MT_CC_OWUB => write!(out, "constant aligned oword block read{blocks}"),
        md::MtDpRo::MT_CC_DWS => out.write_str("constant dword gathering read"),
        _ => return None,
    })
}

/// The number of owords as text: ` x4`. A single oword in the upper half of a register is ` x1H`.
fn owords(blocks: md::MdcDbOw) -> &'static str {
    match blocks {
        md::MdcDbOw::OW1L => " x1",
        md::MdcDbOw::OW1U => " x1H",
        md::MdcDbOw::OW2 => " x2",
        md::MdcDbOw::OW4 => " x4",
        md::MdcDbOw::OW8 => " x8",
        _ => " x0",
    }
}

fn data_port_0<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let message = md::DataPort0MessageDescriptor::unpack_lossy(dwords);
    if message.legacy_dap_dc_message.bits() == 1 {
        let scratch = msd::Msd0Scratch::unpack_lossy(dwords);
        let what = if scratch.write { "write" } else { "read" };
        return Some(write!(out, "hword scratch block {what} x{}", scratch.block_size.get()));
    }
    let blocks = || owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks);
    let bytes = || msd::Msd0Bs::unpack_lossy(dwords).data_elements;
    let elements = || match bytes().bits() {
        0 => "",
        1 => " x2",
        2 => " x4",
        _ => " x8",
    };
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
        md::MtDp0::MT0R_DWS => write!(out, "dword gathering read{}", elements()),
        md::MtDp0::MT0W_DWS => write!(out, "dword scattering write{}", elements()),
        md::MtDp0::MT0R_BS => write!(out, "byte gathering read{}", bits()),
        md::MtDp0::MT0W_BS => write!(out, "byte scattering write{}", bits()),
        md::MtDp0::MT0_MEMFENCE => return fence(out, dwords),
        // Messages of later generations. IGA calls the write a read here.
        other => match other.bits() {
            0x5 | 0xd => out.write_str("qword gathering read"),
            0x9 => write!(out, "hword aligned block write{}", blocks()),
            _ => return None,
        },
    })
}

/// A fence is for shared local memory, or, with binding table index 0, for all memory. For other
/// indexes IGA prints no more than `synchronized`, if the fence waits.
fn fence<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    let waits = md::MsdMemfence::unpack_lossy(dwords).commit;
    let before = if waits { "synchronized " } else { "" };
    match md::DataPort0MessageDescriptor::unpack_lossy(dwords).binding_table_index.get() {
        SHARED_LOCAL_MEMORY => Some(write!(out, "{before}SLM fence")),
        0 => Some(out.write_str(before).and_then(|()| global_fence(out, dwords))),
        _ => waits.then(|| out.write_str(before)),
    }
}

/// Writes a fence for all memory, with the parts of the caches that it flushes.
fn global_fence<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> fmt::Result {
    const PARTS: [(u64, &str); 4] =
        [(8, " r/w data"), (4, " constant data"), (2, " texture data"), (1, " instruction data")];
    out.write_str("global fence flushing")?;
    let first = bits::get(dwords, FLUSH_L1, FLUSH_L1) == 1;
    out.write_str(if first { " L1" } else { "" })?;
    match md::MsdMemfence::unpack_lossy(dwords).l3_flush.bits() {
        0 => {}
        15 => out.write_str(" all L3 data")?,
        flush => {
            out.write_str(" L3")?;
            let mut before = "";
            for (bit, name) in PARTS.into_iter().filter(|(bit, _)| flush & bit != 0) {
                // There is no comma after the first part.
                out.write_str(if bit == 8 { "" } else { before })?;
                out.write_str(name)?;
                before = if bit == 8 { "" } else { "," };
            }
        }
    }
    Ok(())
}

/// Binding table index of shared local memory (2d p.13).
const SHARED_LOCAL_MEMORY: u64 = 254;

/// Bit of a fence that flushes the L1 cache on later hardware; reserved on Gen8.
const FLUSH_L1: u32 = 8;

fn data_port_1<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1]) -> Written {
    use md::MtDp1;
    let message = md::DataPort1MessageDescriptor::unpack_lossy(dwords);
    let channels = || channels(msd::Msd1Us::unpack_lossy(dwords).channel_mask);
    let atomic = || operation(msd::Msd1Uai::unpack_lossy(dwords).atomic_integer_operation_type);
    Some(match message.message_type {
        MtDp1::MT1R_MB => media(out, dwords, "read"),
        MtDp1::MT1W_MB => media(out, dwords, "write"),
        MtDp1::MT1R_US => write!(out, "untyped surface read with {}", channels()),
        MtDp1::MT1W_US => write!(out, "untyped surface write with {}", channels()),
        MtDp1::MT1R_TS => typed(out, dwords, "read", ""),
        MtDp1::MT1W_TS => typed(out, dwords, "write", ""),
        read if read.bits() == TYPED_READ_WITH_STATUS => {
            typed(out, dwords, "read", " returning status")
        }
        MtDp1::MT1R_A64_US => write!(out, "a64 untyped surface read with {}", channels()),
        MtDp1::MT1W_A64_US => write!(out, "a64 untyped surface write with {}", channels()),
        MtDp1::MT1A_UI => write!(out, "untyped atomic int32 {}", atomic()),
        MtDp1::MT1A_TA => match msd::Msd1Tai::unpack_lossy(dwords).slot_group.bits() {
            0 => write!(out, "typed atomic 32-bit integer {}", atomic()),
            _ => write!(out, "typed_sgh atomic 32-bit integer (slot group high) {}", atomic()),
        },
        // On later generations the numbers of SIMD4x2 mean 16-bit operations.
        MtDp1::MT1A_TA4X2 => {
            let name = match msd::Msd1Tai::unpack_lossy(dwords).slot_group.bits() {
                0 => "typed atomic 16-bit integer",
                _ => "typed_sgh atomic 16-bit integer (slot group high)",
            };
            write!(out, "{name} {}{}", atomic(), coordinates(message.message_length.get()))
        }
        MtDp1::MT1A_TC | MtDp1::MT1A_TC4X2 => {
            let wide = msd::Msd1Uai::unpack_lossy(dwords).simd_mode == mdc::MdcSm2r::SIMD16;
            let sent = message.message_length.get() / if wide { 2 } else { 1 };
            let size = if message.message_type == MtDp1::MT1A_TC { 32 } else { 16 };
            write!(out, "typed atomic {size}-bit counter {}{}", atomic(), coordinates(sent))
        }
        MtDp1::MT1A_A64_UI => {
            let wide = msd::Msd1A64Ai::unpack_lossy(dwords).data_width.bits() == 1;
            write!(out, "untyped a64 atomic int{} {}", if wide { 64 } else { 32 }, atomic())
        }
        MtDp1::MT1A_UF => float_atomic(out, dwords, "float atomic")?,
        MtDp1::MT1A_A64_UF => float_atomic(out, dwords, "a64 float atomic")?,
        MtDp1::MT1R_A64_SB => scattered(out, dwords, "gathering read"),
        MtDp1::MT1W_A64_SB => scattered(out, dwords, "scattering write"),
        MtDp1::MT1R_A64_B => block(out, dwords, "read"),
        MtDp1::MT1W_A64_B => block(out, dwords, "write"),
        _ => return None,
    })
}

/// A message of later hardware; reserved on Gen8.
const TYPED_READ_WITH_STATUS: u64 = 0xe;

/// Atomic operations on floats, including those of later hardware. The float operation is in the
/// field of the integer operation.
fn float_atomic<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1], name: &str) -> Written {
    let message = msd::Msd1Uai::unpack_lossy(dwords);
    let (operation, size) = match message.atomic_integer_operation_type.bits() % 8 {
        1 => ("max", 32),
        2 => ("min", 32),
        3 => ("fp-compare and swap ", 32),
        4 => ("add", 32),
        5 => ("subtract", 32),
        6 => ("64b add", 64),
        7 => ("64b subtract", 64),
        _ => return None,
    };
    let answer = if message.return_data_control { " with return" } else { "" };
    Some(write!(out, "{name} {operation} ({size}b){answer}"))
}

/// Names of the coordinates. IGA derives them only from the number of registers.
fn coordinates(registers: u64) -> &'static str {
    match registers {
        1 => "; u",
        2 => "; u,v",
        3 => "; u,v,r",
        4 => "; u,v,r,lod",
        _ => "",
    }
}

fn typed<W: Write + ?Sized>(
    out: &mut W,
    dwords: &[u32; 1],
    direction: &str,
    status: &str,
) -> fmt::Result {
    let message = msd::Msd1Ts::unpack_lossy(dwords);
    let high = if message.slot_group == mdc::MdcSg3::SG8U { " (high slot group)" } else { "" };
    let (channels, sent) = (channels(message.channel_mask), message.message_length.get());
    write!(out, "typed surface {direction}{high}{status} with {channels}{}", coordinates(sent))
}

/// Bits 2:0 of the control override the vertical line stride and offset.
fn media<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1], direction: &str) -> fmt::Result {
    let control = md::DataPort1MessageDescriptor::unpack_lossy(dwords).message_control.get() % 8;
    let stride = match control {
        0 => "",
        1 | 5 => " with vertical line stride  and skip",
        2 | 6 => " with vertical line stride override and offset",
        3 | 7 => " with vertical line stride override,skip, and offset",
        _ => " with vertical line stride ",
    };
    write!(out, "media block {direction}{stride}")
}

/// Writes the element size and direction of a scattered access.
fn scattered<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1], direction: &str) -> fmt::Result {
    let message = msd::Msd1A64S::unpack_lossy(dwords);
    let bits = match message.data_size {
        mdc::MdcA64Ds::DE1 => " 8b",
        mdc::MdcA64Ds::DE2 => " 16b",
        mdc::MdcA64Ds::DE4 => " 32b",
        _ => "",
    };
    match message.subtype {
        msd::A64ScatteredSubtype::DWORD => write!(out, "a64 dword {direction}"),
        msd::A64ScatteredSubtype::QWORD => write!(out, "a64 qword {direction}"),
        _ => write!(out, "a64 byte {direction}{bits}"),
    }
}

/// IGA swaps the names of aligned and unaligned owords, has no dual block, and prints the number of
/// hwords as if it were a logarithm, as in scratch blocks.
fn block<W: Write + ?Sized>(out: &mut W, dwords: &[u32; 1], direction: &str) -> fmt::Result {
    use msd::A64BlockSubtype as Subtype;
    let blocks = owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks);
    match msd::Msd1A64B::unpack_lossy(dwords).subtype {
        Subtype::UNALIGNED_OWORD => write!(out, "a64 aligned oword block {direction}{blocks}"),
        Subtype::HWORD => {
            let count = mdc::Msd1rA64Hwb::unpack_lossy(dwords).data_elements.bits();
            write!(out, "a64 unaligned hword block {direction} x{}", 1u32 << count)
        }
        _ => write!(out, "a64 unaligned oword block {direction}{blocks}"),
    }
}

/// The names of the enabled channels; a set bit of the mask disables one.
fn channels(mask: mdc::MdcCmask) -> &'static str {
    const NAMES: [&str; 16] = [
        "xyzw", "yzw", "xzw", "zw", "xyw", "yw", "xw", "w", "xyz", "yz", "xz", "z", "xy", "y", "x",
        "",
    ];
    NAMES.get(mask.bits() as usize).copied().unwrap_or_default()
}
