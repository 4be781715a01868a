//! What a message asks for, in words: the comments of the disassembly.
//!
//! The words are IGA's where it has some; [`describe`] serves other tools too.

use crate::gen8::{descriptors as mdc, eu, eu_messages as msd, messages as md};
use crate::instruction::*;
use alloc::format;
use alloc::string::{String, ToString};

/// `wr:3h+0, rd:0; hdc.dc1; media block write`: lengths in registers, receiver, message.
pub fn comment(instruction: &Instruction) -> Option<String> {
    let send = instruction.send?;
    let function = function_name(send.function);
    match send.descriptor {
        Descriptor::Address(byte) => {
            let word = byte / 4;
            Some(format!("wr:a0.{word}[28:25]+0, rd:a0.{word}[24:20]; {function}"))
        }
        Descriptor::Immediate(descriptor) => {
            let message = eu::EuInstructionOperandSendMsg::unpack_lossy(&[descriptor]).message_descriptor;
            let header = if message.header_present { "h" } else { "" };
            let (sent, returned) = (message.message_length.get(), message.response_length.get());
            let what = describe(send.function, descriptor).unwrap_or_else(|| "?".into());
            Some(format!("wr:{sent}{header}+0, rd:{returned}; {function}; {what}"))
        }
    }
}

/// IGA's name of a receiver.
pub fn function_name(function: SharedFunction) -> &'static str {
    match function {
        SharedFunction::Null => "null",
        SharedFunction::Sampler => "sampler",
        SharedFunction::Gateway => "gateway",
        SharedFunction::DataPortSampler => "hdc.dcro",
        SharedFunction::DataPortRender => "hdc.rc",
        SharedFunction::Urb => "urb",
        SharedFunction::ThreadSpawner => "spawner",
        SharedFunction::MotionEstimation => "vme",
        SharedFunction::DataPortConstant => "hdc.cc",
        SharedFunction::DataPort0 => "hdc.dc0",
        SharedFunction::PixelInterpolator => "pixi",
        SharedFunction::DataPort1 => "hdc.dc1",
        SharedFunction::CheckAndRefinement => "cre",
        SharedFunction::Reserved(_) => "reserved",
    }
}

/// The message in words, or `None` if no description of it is known: motion estimation, check and refinement, reserved
/// types.
pub fn describe(function: SharedFunction, descriptor: u32) -> Option<String> {
    let dwords = &[descriptor];
    match function {
        SharedFunction::Sampler => sampler(dwords),
        SharedFunction::Gateway => gateway(dwords),
        SharedFunction::DataPortSampler | SharedFunction::DataPortConstant => read_only(dwords),
        SharedFunction::DataPortRender => render(dwords),
        SharedFunction::Urb => urb(dwords),
        SharedFunction::ThreadSpawner => spawner(dwords),
        SharedFunction::DataPort0 => data_port_0(dwords),
        SharedFunction::DataPort1 => data_port_1(dwords),
        SharedFunction::PixelInterpolator => pixel_interpolator(dwords),
        SharedFunction::Null
        | SharedFunction::MotionEstimation
        | SharedFunction::CheckAndRefinement
        | SharedFunction::Reserved(_) => None,
    }
}

fn sampler(dwords: &[u32; 1]) -> Option<String> {
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
    Some(format!("{mode} {operation} using sampler index {}", message.sampler_index.get()))
}

fn gateway(dwords: &[u32; 1]) -> Option<String> {
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
    names.get(message.gateway_opcode.bits() as usize).map(|name| name.to_string())
}

fn spawner(dwords: &[u32; 1]) -> Option<String> {
    let message = md::ThreadSpawnMessageDescriptor::unpack_lossy(dwords);
    let spawn = message.opcode.bits() == 1;
    Some(if spawn { "spawn thread" } else { "end of thread" }.into())
}

fn urb(dwords: &[u32; 1]) -> Option<String> {
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
    Some(format!("{name}{slots} at {}", message.global_offset.get()))
}

fn pixel_interpolator(dwords: &[u32; 1]) -> Option<String> {
    let message = msd::PixelInterpolatorMessageDescriptor::unpack_lossy(dwords);
    let names = ["shared offset", "sample position", "centroid", "offset per slot"];
    names.get(message.message_type.bits() as usize).map(|name| name.to_string())
}

fn render(dwords: &[u32; 1]) -> Option<String> {
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
    Some(format!("{precision}-precision {name} {channels}{last} to surface {surface}"))
}

fn read_only(dwords: &[u32; 1]) -> Option<String> {
    let message = md::ReadOnlyDataPortMessageDescriptor::unpack_lossy(dwords);
    let blocks = || owords(md::Msd0rOwb::unpack_lossy(dwords).data_blocks);
    Some(match message.message_type {
        md::MtDpRo::MT_CC_OWB => format!("oword block read{}", blocks()),
        md::MtDpRo::MT_CC_OWUB | md::MtDpRo::MT_SC_OWUB => format!("oword aligned block read{}", blocks()),
        md::MtDpRo::MT_CC_OWDB => "oword dual block read".into(),
        md::MtDpRo::MT_CC_DWS => "dword gathering read".into(),
        md::MtDpRo::MT_SC_MB => "media block read".into(),
        md::MtDpRo::MT_RSI => "read surface info".into(),
        _ => return None,
    })
}

/// ` x4`
fn owords(blocks: md::MdcDbOw) -> String {
    let count = match blocks {
        md::MdcDbOw::OW1L | md::MdcDbOw::OW1U => 1,
        md::MdcDbOw::OW2 => 2,
        md::MdcDbOw::OW4 => 4,
        md::MdcDbOw::OW8 => 8,
        _ => return String::new(),
    };
    format!(" x{count}")
}

fn data_port_0(dwords: &[u32; 1]) -> Option<String> {
    let message = md::DataPort0MessageDescriptor::unpack_lossy(dwords);
    if message.legacy_dap_dc_message.bits() == 1 {
        let scratch = msd::Msd0Scratch::unpack_lossy(dwords);
        let what = if scratch.write { "write" } else { "read" };
        return Some(format!(
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
        md::MtDp0::MT0R_OWB => format!("oword block read{}", blocks()),
        md::MtDp0::MT0R_OWUB => format!("oword aligned block read{}", blocks()),
        md::MtDp0::MT0W_OWB => format!("oword block write{}", blocks()),
        md::MtDp0::MT0R_OWDB => "oword dual block read".into(),
        md::MtDp0::MT0W_OWDB => "oword dual block write".into(),
        md::MtDp0::MT0R_DWS => "dword gathering read".into(),
        md::MtDp0::MT0W_DWS => "dword scattering write".into(),
        md::MtDp0::MT0R_BS => format!("byte gathering read{}", bits()),
        md::MtDp0::MT0W_BS => format!("byte scattering write{}", bits()),
        md::MtDp0::MT0_MEMFENCE => {
            let commit = if md::MsdMemfence::unpack_lossy(dwords).commit { "synchronized " } else { "" };
            format!("{commit}global fence flushing")
        }
        _ => return None,
    })
}

fn data_port_1(dwords: &[u32; 1]) -> Option<String> {
    use md::MtDp1;
    let message = md::DataPort1MessageDescriptor::unpack_lossy(dwords);
    let channels = || channels(msd::Msd1Us::unpack_lossy(dwords).channel_mask);
    let atomic = || operation(msd::Msd1Uai::unpack_lossy(dwords).atomic_integer_operation_type);
    Some(match message.message_type {
        MtDp1::MT1R_T => "transpose read".into(),
        MtDp1::MT1R_MB => "media block read".into(),
        MtDp1::MT1W_MB => "media block write".into(),
        MtDp1::MT1R_US => format!("untyped surface read with {}", channels()),
        MtDp1::MT1W_US => format!("untyped surface write with {}", channels()),
        MtDp1::MT1R_TS => format!("typed surface read with {}", channels()),
        MtDp1::MT1W_TS => format!("typed surface write with {}", channels()),
        MtDp1::MT1R_A64_US => format!("a64 untyped surface read with {}", channels()),
        MtDp1::MT1W_A64_US => format!("a64 untyped surface write with {}", channels()),
        MtDp1::MT1A_UI => format!("untyped atomic int32 {}", atomic()),
        MtDp1::MT1A_UI4X2 => format!("untyped simd4x2 atomic int32 {}", atomic()),
        MtDp1::MT1A_TA => format!("typed atomic int32 {}", atomic()),
        MtDp1::MT1A_TA4X2 => format!("typed simd4x2 atomic int32 {}", atomic()),
        MtDp1::MT1A_TC => format!("atomic counter {}", atomic()),
        MtDp1::MT1A_TC4X2 => format!("simd4x2 atomic counter {}", atomic()),
        MtDp1::MT1A_A64_UI | MtDp1::MT1A_A64_UI4X2 => {
            let simd = if message.message_type == MtDp1::MT1A_A64_UI { "" } else { " simd4x2" };
            let wide = msd::Msd1A64Ai::unpack_lossy(dwords).data_width.bits() == 1;
            format!("untyped a64{simd} atomic int{} {}", if wide { 64 } else { 32 }, atomic())
        }
        MtDp1::MT1R_A64_SB => format!("a64 {}", scattered(dwords, "gathering read")?),
        MtDp1::MT1W_A64_SB => format!("a64 {}", scattered(dwords, "scattering write")?),
        MtDp1::MT1R_A64_B => format!("a64 {} read", block(dwords)?),
        MtDp1::MT1W_A64_B => format!("a64 {} write", block(dwords)?),
        _ => return None,
    })
}

/// Element and direction of a scattered access.
fn scattered(dwords: &[u32; 1], direction: &str) -> Option<String> {
    let message = msd::Msd1A64S::unpack_lossy(dwords);
    let bits = match message.data_size {
        mdc::MdcA64Ds::DE1 => 8,
        mdc::MdcA64Ds::DE2 => 16,
        mdc::MdcA64Ds::DE4 => 32,
        _ => 64,
    };
    match message.subtype {
        msd::A64ScatteredSubtype::BYTE => Some(format!("byte {direction} {bits}b")),
        msd::A64ScatteredSubtype::DWORD => Some(format!("dword {direction}")),
        msd::A64ScatteredSubtype::QWORD => Some(format!("qword {direction}")),
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
fn channels(mask: mdc::MdcCmask) -> String {
    let out = mask.bits();
    (0..4).zip("xyzw".chars()).filter(|(bit, _)| out >> bit & 1 == 0).map(|(_, name)| name).collect()
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
