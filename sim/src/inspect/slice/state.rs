//! The state that a draw depends on: the packets that set it, with the part of the pipeline that
//! reads each of them.

use crate::inspect::history::Fragment;
use crate::inspect::history::fragment::Lost;
use crate::machine::place::Place;
use std::collections::BTreeMap;

/// A part of the pipeline, in the order in which a primitive goes through it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// Vertex fetch, and the shaders before the rasteriser.
    Geometry,
    /// Clipper and setup.
    Setup,
    /// Scissor, drawing rectangle, sample mask.
    Coverage,
    /// Depth and stencil tests.
    Tests,
    /// The pixel shader.
    Shader,
    /// Blending, and the write to the target.
    Output,
}

impl Stage {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Geometry => "geometry",
            Stage::Setup => "setup",
            Stage::Coverage => "coverage",
            Stage::Tests => "tests",
            Stage::Shader => "shader",
            Stage::Output => "output",
        }
    }
}

/// A packet that set state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetState {
    /// Position of the packet.
    pub at: Place,
    /// Its dwords.
    pub dwords: Vec<u32>,
}

/// A packet that set state which a draw depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatePacket {
    /// The part of the pipeline that reads the state.
    pub stage: Stage,
    /// Position of the packet.
    pub at: Place,
    /// Its dwords.
    pub dwords: Vec<u32>,
}

/// The packets, by the part of the pipeline that reads them. Only the newest packet of each name is
/// recorded. So if a packet sets one of several entries (3DSTATE_VF_INSTANCING sets one vertex
/// element), the packets for the other entries are missing.
const READERS: &[(Stage, &[&str])] = &[
    (
        Stage::Geometry,
        &[
            "STATE_BASE_ADDRESS",
            "3DPRIMITIVE",
            "3DSTATE_VF",
            "3DSTATE_VF_INSTANCING",
            "3DSTATE_VF_SGVS",
            "3DSTATE_VF_TOPOLOGY",
            "3DSTATE_INDEX_BUFFER",
            "3DSTATE_VERTEX_BUFFERS",
            "3DSTATE_VERTEX_ELEMENTS",
            "3DSTATE_VS",
            "3DSTATE_HS",
            "3DSTATE_TE",
            "3DSTATE_DS",
            "3DSTATE_GS",
            "3DSTATE_STREAMOUT",
            "3DSTATE_CONSTANT_VS",
            "3DSTATE_CONSTANT_HS",
            "3DSTATE_CONSTANT_DS",
            "3DSTATE_CONSTANT_GS",
            "3DSTATE_BINDING_TABLE_POINTERS_VS",
            "3DSTATE_BINDING_TABLE_POINTERS_HS",
            "3DSTATE_BINDING_TABLE_POINTERS_DS",
            "3DSTATE_BINDING_TABLE_POINTERS_GS",
            "3DSTATE_SAMPLER_STATE_POINTERS_VS",
            "3DSTATE_SAMPLER_STATE_POINTERS_HS",
            "3DSTATE_SAMPLER_STATE_POINTERS_DS",
            "3DSTATE_SAMPLER_STATE_POINTERS_GS",
        ],
    ),
    (
        Stage::Setup,
        &[
            "3DSTATE_CLIP",
            "3DSTATE_SF",
            "3DSTATE_RASTER",
            "3DSTATE_LINE_STIPPLE",
            "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP",
            "3DSTATE_MULTISAMPLE",
            "3DSTATE_SAMPLE_PATTERN",
        ],
    ),
    (
        Stage::Coverage,
        &[
            "3DSTATE_DRAWING_RECTANGLE",
            "3DSTATE_SCISSOR_STATE_POINTERS",
            "3DSTATE_SAMPLE_MASK",
            "3DSTATE_POLY_STIPPLE_OFFSET",
            "3DSTATE_POLY_STIPPLE_PATTERN",
            "3DSTATE_AA_LINE_PARAMETERS",
        ],
    ),
    (
        Stage::Tests,
        &[
            "3DSTATE_WM_DEPTH_STENCIL",
            "3DSTATE_DEPTH_BUFFER",
            "3DSTATE_STENCIL_BUFFER",
            "3DSTATE_HIER_DEPTH_BUFFER",
            "3DSTATE_CLEAR_PARAMS",
            "3DSTATE_VIEWPORT_STATE_POINTERS_CC",
            "3DSTATE_CC_STATE_POINTERS",
            "3DSTATE_WM_HZ_OP",
        ],
    ),
    (
        Stage::Shader,
        &[
            "3DSTATE_WM",
            "3DSTATE_WM_CHROMAKEY",
            "3DSTATE_PS",
            "3DSTATE_PS_EXTRA",
            "3DSTATE_SBE",
            "3DSTATE_SBE_SWIZ",
            "3DSTATE_CONSTANT_PS",
            "3DSTATE_BINDING_TABLE_POINTERS_PS",
            "3DSTATE_SAMPLER_STATE_POINTERS_PS",
            "3DSTATE_SAMPLER_PALETTE_LOAD0",
            "3DSTATE_SAMPLER_PALETTE_LOAD1",
            "3DSTATE_CHROMA_KEY",
        ],
    ),
    (Stage::Output, &["3DSTATE_PS_BLEND", "3DSTATE_BLEND_STATE_POINTERS"]),
];

/// The last part of the pipeline that a fragment reached.
pub fn reached(fragment: &Fragment, sample: u32) -> Stage {
    match fragment.lost_by(sample) {
        Some(Lost::Clipped | Lost::Culled) => Stage::Setup,
        Some(Lost::Scissor | Lost::Mask) => Stage::Coverage,
        _ if fragment.coverage.is_none() => Stage::Coverage,
        // A test after the shader depends on the shader.
        Some(Lost::Depth | Lost::Stencil) if fragment.shading.is_none() => Stage::Tests,
        _ => Stage::Output,
    }
}

/// The packets among `set` that a fragment depends on which reached `last`, in the order of the
/// pipeline.
pub fn packets(set: &BTreeMap<&'static str, SetState>, last: Stage) -> Vec<StatePacket> {
    let mut packets = Vec::new();
    for (stage, names) in READERS.iter().filter(|(stage, _)| *stage <= last) {
        for name in *names {
            if let Some(SetState { at, dwords }) = set.get(name) {
                packets.push(StatePacket { stage: *stage, at: *at, dwords: dwords.clone() });
            }
        }
    }
    packets
}
