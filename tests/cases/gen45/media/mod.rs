//! The media pipeline: MEDIA_OBJECT and its threads. Oracle: the text of the manual's sections on
//! media blocks, gateway and thread spawner, and where kernels of drivers find their data.

mod children;
mod objects;
mod vld;

use super::{BATCH, DATA, END as BATCH_END, G45};
use genxml::core::U;
use genxml::eu;
use genxml::gen45::commands_common::{
    ConstantBuffer, CsUrbState, PipelineSelect, PipelineSelectPipelineSelection, StateBaseAddress,
    UrbFence,
};
use genxml::gen45::enums::SurfaceType;
use genxml::gen45::media::{InterfaceDescriptor, MediaObject, MediaStatePointers, VfeState};
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{BindingTableState, SurfaceState, SurfaceStateExtent};
use genxml_cases::{at, minus_one, push, u};
use genxml_sim::{EngineId, Event, Fault, Now};

/// VFE_STATE; the other addresses follow.
const VFE: u64 = DATA;
const DESCRIPTORS: u64 = DATA + 0x100;
const TABLE: u64 = DATA + 0x200;
const SURFACES: u64 = DATA + 0x400;
const CONSTANTS: u64 = DATA + 0x800;
const INDIRECT: u64 = DATA + 0x2000;
const KERNELS: u64 = DATA + 0x4000;
/// The surface that kernels write.
const TARGET: u64 = DATA + 0x8000;
/// The surface that kernels read.
const SOURCE: u64 = DATA + 0x1_0000;
/// Bytes of a row of both.
const PITCH: usize = 64;

/// What a test has in the state of the pipeline.
struct Scene<'a> {
    kernels: &'a [&'a [u32]],
    descriptor: InterfaceDescriptor,
    vfe: VfeState,
    constants: Vec<u32>,
    surfaces: Vec<SurfaceState>,
}

impl<'a> Scene<'a> {
    fn new(kernels: &'a [&'a [u32]]) -> Self {
        Scene {
            kernels,
            descriptor: InterfaceDescriptor {
                grf_register_blocks: minus_one(8),
                ..InterfaceDescriptor::new()
            },
            vfe: VfeState {
                maximum_number_of_threads: minus_one(16),
                urb_entry_allocation_size: minus_one(4),
                number_of_urb_entries: u(8),
                interface_descriptor_base_pointer: at(DESCRIPTORS),
                ..VfeState::new()
            },
            constants: Vec::new(),
            surfaces: vec![surface(TARGET, 64), surface(SOURCE, 64)],
        }
    }

    /// Writes the state to memory. Returns the packets that select it.
    fn state(&self, g45: &mut G45) -> Vec<u32> {
        let mut put =
            |address: u64, dwords: &[u32]| g45.write(address, bytemuck::cast_slice(dwords));
        put(VFE, &self.vfe.pack());
        for (n, kernel) in self.kernels.iter().enumerate() {
            let n = n as u64;
            put(KERNELS + 0x400 * n, kernel);
            let descriptor = InterfaceDescriptor {
                kernel_start_pointer: at(KERNELS + 0x400 * n),
                binding_table_pointer: at(TABLE),
                ..self.descriptor
            };
            put(DESCRIPTORS + 16 * n, &descriptor.pack());
        }
        for (n, surface) in self.surfaces.iter().enumerate() {
            let (n, address) = (n as u64, SURFACES + 32 * n as u64);
            put(address, &surface.pack());
            let entry = BindingTableState { surface_state_pointer: at(address) };
            put(TABLE + 4 * n, &entry.pack());
        }
        put(CONSTANTS, &self.constants);
        let rows = (self.constants.len() as u64).div_ceil(16);
        let mut batch = Vec::new();
        let pipeline_selection = PipelineSelectPipelineSelection::MEDIA;
        push(&mut batch, &PipelineSelect { pipeline_selection });
        push(
            &mut batch,
            &StateBaseAddress {
                indirect_object_base_address: at(INDIRECT),
                indirect_object_base_address_modify_enable: true,
                ..StateBaseAddress::new()
            },
        );
        push(
            &mut batch,
            &UrbFence {
                vfe_unit_urb_reallocation_request: true,
                vfe_fence: u(320),
                cs_unit_urb_reallocation_request: true,
                cs_fence: u(384),
                ..UrbFence::new()
            },
        );
        push(
            &mut batch,
            &MediaStatePointers { pointer_to_vfe_state: at(VFE), ..MediaStatePointers::new() },
        );
        if rows > 0 {
            push(
                &mut batch,
                &CsUrbState {
                    number_of_urb_entries: u(1),
                    urb_entry_allocation_size: minus_one(rows),
                },
            );
            push(
                &mut batch,
                &ConstantBuffer {
                    valid: true,
                    buffer_starting_address: at(CONSTANTS),
                    buffer_length: minus_one(rows),
                },
            );
        }
        batch
    }
}

/// A linear surface of bytes.
fn surface(address: u64, rows: u64) -> SurfaceState {
    SurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8_UINT,
        surface_base_address: at(address),
        extent: SurfaceStateExtent::Image {
            width: minus_one(PITCH as u64 / 4),
            height: minus_one(rows),
            depth: minus_one(1),
        },
        surface_pitch: minus_one(PITCH as u64),
        ..SurfaceState::new()
    }
}

fn object(batch: &mut Vec<u32>, descriptor: u64, inline: &[u32]) {
    let data: Vec<U<32>> = inline.iter().map(|&dword| u(dword.into())).collect();
    let packet = MediaObject {
        interface_descriptor_offset: u(descriptor),
        inline_data: data[..].into(),
        ..MediaObject::new()
    };
    push(batch, &packet);
}

/// The payloads of all threads.
fn payloads(g45: &mut G45, batch: &[u32]) -> Result<Vec<Vec<u32>>, Fault> {
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut hear = |_: Now, event: &Event<'_>| {
        if let Event::Thread { payload, .. } = event {
            found.push(
                payload.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect(),
            );
        }
    };
    let batch = [batch, &[BATCH_END, 0]].concat();
    g45.write(BATCH, bytemuck::cast_slice(&batch));
    g45.gpu.submit_observed(g45.context, EngineId::Render, BATCH, 0, &mut hear)?;
    Ok(found)
}

/// Ends a root thread, and releases its URB entry.
const END: [u32; 4] = eu! {
    #![g45]
    send(8) 1 null<1>UD g0<8,8,1>UD 0x87100000
        thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
};
