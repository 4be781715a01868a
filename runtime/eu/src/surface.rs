//! The surface and the sampler that a message uses, and how it uses the surface.

use crate::gen8::messages as md;
use crate::instruction::SharedFunction;
use genxml_core::bits;
use genxml_core::rule::{Role, Roles};

/// Binding table indexes from this one on select no surface of the binding table: 254 is shared
/// local memory, 253 and 255 address memory without a surface (2d Binding Table Index).
const FIRST_SPECIAL: u64 = 240;

/// The binding table index that a message names, if it selects a surface: bits 7:0 of the
/// descriptor (2d message descriptors). In scratch block messages these bits are part of an offset;
/// in fences they have no meaning.
pub fn binding_table_index(function: SharedFunction, descriptor: u32) -> Option<u8> {
    use SharedFunction::*;
    let indexed = match function {
        DataPort0 => {
            let message = md::DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
            message.legacy_dap_dc_message.bits() == 0
                && message.message_type != md::MtDp0::MT0_MEMFENCE
        }
        Sampler | DataPortSampler | DataPortRender | DataPortConstant | DataPort1
        | MotionEstimation | CheckAndRefinement | DataPortRead | DataPortWrite => true,
        _ => false,
    };
    let index = bits::get(&[descriptor], 0, 7);
    (indexed && index < FIRST_SPECIAL).then_some(index as u8)
}

/// The sampler that a message names, if its operation uses one. Loads and queries about the surface
/// do not (2d p.257-258, bits 11:8).
pub fn sampler_index(function: SharedFunction, descriptor: u32) -> Option<u8> {
    use md::MessageDescriptorSamplingEngineMessageType as Type;
    use md::MessageDescriptorSamplingEngineSimdMode10 as Mode;
    if function != SharedFunction::Sampler {
        return None;
    }
    let message = md::MessageDescriptorSamplingEngine::unpack_lossy(&[descriptor]);
    let none = matches!(
        message.message_type,
        Type::LD | Type::RESINFO | Type::SAMPLEINFO | Type::LD_MCS | Type::LD2DMS | Type::LD2DSS
    );
    // In SIMD32/64 mode these numbers are other operations, which all use a sampler.
    let samples = !none || message.simd_mode_1_0 == Mode::SIMD32_64;
    samples.then(|| message.sampler_index.get() as u8)
}

/// True if a sampler message returns properties of the surface and no texels: size, number of
/// samples, level of detail. Shader Channel Select does not affect these messages (002:7646).
fn is_query(descriptor: u32) -> bool {
    use md::MessageDescriptorSamplingEngineMessageType as Type;
    use md::MessageDescriptorSamplingEngineSimdMode10 as Mode;
    let message = md::MessageDescriptorSamplingEngine::unpack_lossy(&[descriptor]);
    // In SIMD32/64 mode these numbers are other operations.
    matches!(message.message_type, Type::LOD | Type::RESINFO | Type::SAMPLEINFO)
        && message.simd_mode_1_0 != Mode::SIMD32_64
}

/// How a message uses the surface that it names; empty for queries about the surface, for messages
/// that use no surface, and for messages that are not described.
pub fn roles(function: SharedFunction, descriptor: u32) -> Roles {
    use Role::*;
    let roles: &[Role] = match function {
        SharedFunction::Sampler if is_query(descriptor) => &[],
        SharedFunction::Sampler => &[Sampled, Read],
        SharedFunction::DataPortSampler | SharedFunction::DataPortConstant => {
            match md::ReadOnlyDataPortMessageDescriptor::unpack_lossy(&[descriptor]).message_type {
                md::MtDpRo::MT_CC_DWS => &[Scattered, Read],
                md::MtDpRo::MT_SC_MB => &[Media, Read],
                md::MtDpRo::MT_CC_OWB
                | md::MtDpRo::MT_CC_OWUB
                | md::MtDpRo::MT_SC_OWUB
                | md::MtDpRo::MT_CC_OWDB => &[Block, Read],
                _ => &[],
            }
        }
        SharedFunction::DataPortRender => {
            use crate::gen8::eu_messages::{MsdRtw, MtDpRt};
            match MsdRtw::unpack_lossy(&[descriptor]).message_type {
                MtDpRt::MT_RTW => &[RenderTarget, Written],
                MtDpRt::MT_RTR => &[RenderTarget, Read],
                _ => &[],
            }
        }
        SharedFunction::DataPort0 => data_port_0(descriptor),
        SharedFunction::DataPort1 => data_port_1(descriptor),
        _ => &[],
    };
    Roles::of(roles)
}

fn data_port_0(descriptor: u32) -> &'static [Role] {
    use Role::*;
    let message = md::DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
    // Scratch block messages do not use a surface.
    if message.legacy_dap_dc_message.bits() == 1 {
        return &[];
    }
    match message.message_type {
        md::MtDp0::MT0R_OWB | md::MtDp0::MT0R_OWUB | md::MtDp0::MT0R_OWDB => &[Block, Read],
        md::MtDp0::MT0W_OWB | md::MtDp0::MT0W_OWDB => &[Block, Written],
        md::MtDp0::MT0R_DWS | md::MtDp0::MT0R_BS => &[Scattered, Read],
        md::MtDp0::MT0W_DWS | md::MtDp0::MT0W_BS => &[Scattered, Written],
        _ => &[],
    }
}

fn data_port_1(descriptor: u32) -> &'static [Role] {
    use Role::*;
    use md::MtDp1;
    match md::DataPort1MessageDescriptor::unpack_lossy(&[descriptor]).message_type {
        MtDp1::MT1R_T | MtDp1::MT1R_MB => &[Media, Read],
        MtDp1::MT1W_MB => &[Media, Written],
        MtDp1::MT1R_US => &[Untyped, Read],
        MtDp1::MT1W_US => &[Untyped, Written],
        MtDp1::MT1R_TS => &[Typed, Read],
        MtDp1::MT1W_TS => &[Typed, Written],
        MtDp1::MT1A_UI | MtDp1::MT1A_UI4X2 => &[Untyped, Atomic, Read, Written],
        MtDp1::MT1A_TA | MtDp1::MT1A_TA4X2 => &[Typed, Atomic, Read, Written],
        MtDp1::MT1A_TC | MtDp1::MT1A_TC4X2 => &[Atomic, Read, Written],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Message types of 2d p.257-258, bits 16:12; SIMD mode in bits 18:17: 1 is SIMD8, 3 is
    /// SIMD32/64, in which 0x0b is another operation.
    #[test]
    fn queries_do_not_sample() {
        let message = |kind: u32, mode: u32| {
            roles(SharedFunction::Sampler, 1 << 19 | mode << 17 | kind << 12)
        };
        for (kind, samples) in
            [(0x00, true), (0x07, true), (0x09, false), (0x0a, false), (0x0b, false), (0x1e, true)]
        {
            assert_eq!(message(kind, 1).contains(Role::Sampled), samples, "{kind:#x}");
            assert_eq!(message(kind, 1).contains(Role::Read), samples, "{kind:#x}");
        }
        assert!(message(0x0b, 3).contains(Role::Sampled));
    }
}
