//! The actions of the decoder for each kind of container, by its name and fields.

use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, Field, Kind, Type};

/// The action after a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    Nothing,
    /// Follow the address fields that have a target or point to instructions.
    Targets,
    BatchStart,
    BatchEnd,
    BaseAddresses,
    InterfaceDescriptorLoad,
    /// Data whose start and length are in the packet.
    LocatedData,
    /// The coded data of a picture or of a part of it.
    CodedData,
    /// State of a coded picture; the index in its table.
    CodedState(usize),
    LoadRegisterImm,
    /// A register that is loaded from memory or another register, or stored.
    MoveRegister,
    Math,
    /// Pushed constants.
    Constants,
    /// Gathered constants.
    Gather,
    Scratch,
    /// Surfaces with addresses in the packet.
    Surfaces(SurfaceUse),
    /// Surfaces of the blitter, whose pitches count dwords if they are tiled.
    Blit,
    /// State for the next draw.
    DrawState(Sets),
    /// A stage of the 3D pipeline; its kernels are followed as targets.
    Stage(usize),
    /// The address of a stage's binding table, followed at the draw that uses it.
    BindingTable(usize),
    /// The address of a stage's samplers.
    SamplerTable(usize),
    /// The address of the blend state, whose length is known at the draw.
    BlendState,
    Draw,
}

impl Follow {
    pub fn of(container: &'static Container) -> Follow {
        for (prefix, follow) in [
            ("3DSTATE_BINDING_TABLE_POINTERS_", Follow::BindingTable as fn(usize) -> Follow),
            ("3DSTATE_SAMPLER_STATE_POINTERS_", Follow::SamplerTable),
            ("3DSTATE_", Follow::Stage),
        ] {
            let stage = container.name.strip_prefix(prefix);
            if let Some(stage) =
                stage.and_then(|stage| STAGES.iter().position(|name| *name == stage))
            {
                return follow(stage);
            }
        }
        match container.name {
            "3DPRIMITIVE" => Follow::Draw,
            "3DSTATE_BLEND_STATE_POINTERS" => Follow::BlendState,
            "MI_BATCH_BUFFER_START" => Follow::BatchStart,
            "MI_BATCH_BUFFER_END" => Follow::BatchEnd,
            "STATE_BASE_ADDRESS" | "MFX_IND_OBJ_BASE_ADDR_STATE" => Follow::BaseAddresses,
            "MEDIA_INTERFACE_DESCRIPTOR_LOAD" => Follow::InterfaceDescriptorLoad,
            "MEDIA_VFE_STATE" => Follow::Scratch,
            "MI_LOAD_REGISTER_IMM" => Follow::LoadRegisterImm,
            "MI_LOAD_REGISTER_MEM" | "MI_LOAD_REGISTER_REG" | "MI_STORE_REGISTER_MEM" => {
                Follow::MoveRegister
            }
            "MI_MATH" => Follow::Math,
            name if is_coded_object(name) => Follow::CodedData,
            name if name.starts_with("3DSTATE_GATHER_CONSTANT_") => Follow::Gather,
            name if SurfaceUse::of(name).is_some() => {
                SurfaceUse::of(name).map_or(Follow::Nothing, Follow::Surfaces)
            }
            _ if may_be_tiled(container) => Follow::Blit,
            _ if !matches!(container.kind, Kind::Instruction { .. }) => {
                match container.fields.iter().any(is_target) {
                    true => Follow::Targets,
                    false => Follow::Nothing,
                }
            }
            _ if constants(container).is_some() => Follow::Constants,
            _ if located_data(container).next().is_some() => Follow::LocatedData,
            name if coded_state(name).is_some() => {
                coded_state(name).map_or(Follow::Nothing, Follow::CodedState)
            }
            name if Sets::of(name).is_some() => {
                Sets::of(name).map_or(Follow::Nothing, Follow::DrawState)
            }
            _ if container.fields.iter().any(is_target) => Follow::Targets,
            _ => Follow::Nothing,
        }
    }
}

/// True if the decoder follows the field.
pub(super) fn is_target(field: &Field) -> bool {
    match field.ty {
        Type::Address { space, target, .. } => {
            !target.is_empty() || space == SpaceKind::Instruction
        }
        _ => false,
    }
}

/// Stages that run kernels, in the order of the pipeline.
pub(super) const STAGES: [&str; 5] = ["VS", "HS", "DS", "GS", "PS"];

/// The part of the state for draws that a packet sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sets {
    VertexBuffers,
    VertexElements,
    IndexBuffer,
    CutIndex,
    Instancing,
    Clip,
    /// An array of viewports or scissors: its index in [`ARRAYS`].
    Array(usize),
    GatherPool,
    TablePool,
    StreamBuffer,
    Picture,
}

/// State in memory with one element for each viewport: the packet that points to it, and the
/// structure of an element.
pub(super) const ARRAYS: [(&str, &str); 3] = [
    ("3DSTATE_VIEWPORT_STATE_POINTERS_CC", "CC_VIEWPORT"),
    ("3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP", "SF_CLIP_VIEWPORT"),
    ("3DSTATE_SCISSOR_STATE_POINTERS", "SCISSOR_RECT"),
];

impl Sets {
    /// The part of the state for draws that the packet `name` sets; `None` if it sets no such
    /// state.
    pub fn of(name: &str) -> Option<Sets> {
        Some(match name {
            "3DSTATE_VERTEX_BUFFERS" => Sets::VertexBuffers,
            "3DSTATE_VERTEX_ELEMENTS" => Sets::VertexElements,
            "3DSTATE_INDEX_BUFFER" => Sets::IndexBuffer,
            "3DSTATE_VF" => Sets::CutIndex,
            "3DSTATE_VF_INSTANCING" => Sets::Instancing,
            "3DSTATE_CLIP" => Sets::Clip,
            "3DSTATE_GATHER_POOL_ALLOC" => Sets::GatherPool,
            "3DSTATE_BINDING_TABLE_POOL_ALLOC" => Sets::TablePool,
            "3DSTATE_SO_BUFFER" => Sets::StreamBuffer,
            "MFX_SURFACE_STATE" | "VEBOX_SURFACE_STATE" => Sets::Picture,
            name => Sets::Array(ARRAYS.iter().position(|(packet, _)| *packet == name)?),
        })
    }
}

/// The surfaces that a packet uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SurfaceUse {
    Depth,
    Hierarchical,
    Stencil,
    StreamOut,
    Codec,
    Enhancement,
}

impl SurfaceUse {
    /// The surfaces that the packet `name` uses; `None` if it uses no surfaces of these kinds.
    pub fn of(name: &str) -> Option<SurfaceUse> {
        Some(match name {
            "3DSTATE_DEPTH_BUFFER" => SurfaceUse::Depth,
            "3DSTATE_HIER_DEPTH_BUFFER" => SurfaceUse::Hierarchical,
            "3DSTATE_STENCIL_BUFFER" => SurfaceUse::Stencil,
            "3DSTATE_STREAMOUT" => SurfaceUse::StreamOut,
            "MFX_PIPE_BUF_ADDR_STATE" => SurfaceUse::Codec,
            "VEB_DI_IECP" => SurfaceUse::Enhancement,
            _ => return None,
        })
    }
}

/// True for commands of the blitter with surfaces that may be tiled.
pub(super) fn may_be_tiled(container: &Container) -> bool {
    container
        .fields
        .iter()
        .any(|field| field.name.ends_with(" Pitch") && field.unit.contains("if tiled"))
}

/// Number of buffers of constants in a packet.
pub(super) const CONSTANT_BUFFERS: usize = 4;

/// Where a packet has a buffer of constants: first and last bit of its length and of its pointer.
pub(super) type ConstantBuffer = [(u32, u32); 2];

/// The buffers of constants that a packet has in a structure. Mesa's files describe them as two
/// arrays.
pub(super) fn constants(container: &Container) -> Option<[ConstantBuffer; CONSTANT_BUFFERS]> {
    container.fields.iter().find_map(|field| {
        let Type::Struct(inner) = field.ty else { return None };
        let mut buffers = [[(0, 0); 2]; CONSTANT_BUFFERS];
        for (number, buffer) in buffers.iter_mut().enumerate() {
            let names = [
                (format!("Constant Buffer {number} Read Length"), "Read Length"),
                (format!("Pointer To Constant Buffer {number}"), "Buffer"),
            ];
            for ((name, element), place) in names.iter().zip(buffer) {
                let named = inner.fields.iter().find(|other| other.name == *name);
                let of_array = || {
                    let group = inner.groups.iter().find(|group| {
                        group.count as usize == CONSTANT_BUFFERS
                            && group.fields.iter().any(|field| field.name == *element)
                    })?;
                    let first = group.start + number as u32 * group.bits;
                    group.fields.first().map(|field| (first + field.start, first + field.end))
                };
                let (start, end) = named.map(|found| (found.start, found.end)).or_else(of_array)?;
                *place = (field.start + start, field.start + end);
            }
        }
        Some(buffers)
    })
}

/// Data that a packet locates: the field with the start, the field with the length in bytes, and
/// the name of the data.
pub(super) fn located_data(
    container: &'static Container,
) -> impl Iterator<Item = (&'static Field, &'static Field, &'static str)> {
    const START: &str = "Data Start";
    container.fields.iter().filter_map(|start| {
        let Type::Address { .. } = start.ty else { return None };
        let prefix = &start.name[..start.name.find(START)?];
        let name = &start.name[..prefix.len() + "Data".len()];
        // The names of lengths: "Indirect BSD Data Length", "CURBE Total Data Length".
        let is_length = |field: &&Field| {
            let rest = field.name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest == "Data Length" || rest == "Total Data Length")
        };
        container.fields.iter().find(is_length).map(|length| (start, length, name))
    })
}

/// The packets with state of a picture that the summary reads.
pub(super) const CODED_STATE: [&str; 9] = [
    "MFX_PIPE_MODE_SELECT",
    "MFX_PIPE_BUF_ADDR_STATE",
    "MFX_AVC_IMG_STATE",
    "MFX_AVC_SLICE_STATE",
    "MFX_AVC_REF_IDX_STATE",
    "MFX_MPEG2_PIC_STATE",
    "MFD_VC1_LONG_PIC_STATE",
    "MFX_VP8_PIC_STATE",
    "MFX_JPEG_PIC_STATE",
];

/// The index of a packet in [`CODED_STATE`].
pub(super) fn coded_state(name: &str) -> Option<usize> {
    CODED_STATE.iter().position(|known| *known == name)
}

/// True for packets that decode coded data.
pub(super) fn is_coded_object(name: &str) -> bool {
    name.starts_with("MFD_") && name.ends_with("_BSD_OBJECT")
}
