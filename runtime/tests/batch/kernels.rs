//! `submit` compares kernels with the state around them.

use genxml::batch::{Batch, BatchError, Buffer, Heap, Room};
use genxml::core::Address;
use genxml::core::address::{DynamicState, Instruction, SurfaceState};
use genxml::engine::Render;
use genxml::eu::asm::{Options, assemble};
use genxml::eu::syntax::Syntax;
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersPs, ThreeDStateSamplerStatePointersPs,
};
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::render3d_stages::{ThreeDStateUrbVs, ThreeDStateVs};
use genxml::gen8::state::{
    InterfaceDescriptorData, RenderSurfaceState, SamplerState, StateBaseAddress,
};
use genxml::packet;

const END: &str = "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}\n";
/// A message that names surface 2: an oword block read of the data cache, with a header.
const SURFACE_2: &str = "(W) send (8|M0) r10 r1 0x0A 0x02180002\n";
/// A sample of SIMD8 with surface 0 and sampler 1.
const SAMPLER_1: &str = "send (8|M0) r10 r1 0x02 0x04420100\n";
/// A scratch block read of 1 register at register 31: it ends at 1024 bytes.
const SCRATCH_1024: &str = "(W) send (8|M0) r10 r1 0x0A 0x021C001F\n";
/// A scratch block read of 2 registers at register 31: it ends at 1056 bytes.
const SCRATCH_1056: &str = "(W) send (8|M0) r10 r1 0x0A 0x022C101F\n";

fn assembled(text: &str) -> Vec<u32> {
    assemble(text, Syntax::Iga, &Options::default()).unwrap().dwords()
}

/// State for a kernel of thread groups.
#[derive(Clone, Copy)]
struct Compute {
    surfaces: usize,
    samplers: usize,
    /// The logarithm of the scratch space in KiB.
    scratch: Option<u64>,
}

const COMPUTE: Compute = Compute { surfaces: 1, samplers: 1, scratch: None };

/// Submits a batch that loads a descriptor for the kernel with this text.
fn compute(kernel: &str, state: Compute) -> Result<(), BatchError> {
    let mut kernels = Heap::<Instruction>::new("kernels", 0x4000, 4096)?;
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x6000, 4096)?;
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 4096)?;
    let surface = surfaces.put::<_, 64, 32>(&RenderSurfaceState::new())?;
    let descriptor = InterfaceDescriptorData {
        kernel_start_pointer: kernels.kernel(&assembled(kernel))?,
        binding_table_pointer: match state.surfaces {
            0 => Address::ZERO,
            count => surfaces.binding_table(&vec![surface; count])?,
        },
        sampler_state_pointer: match state.samplers {
            0 => Address::ZERO,
            count => dynamic.samplers(&vec![SamplerState::new(); count])?,
        },
        ..InterfaceDescriptorData::new()
    };
    let load = dynamic.interface_descriptors(&[descriptor])?;
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_gpgpu()?;
    let bases = bases(&batch, &kernels, &surfaces, &dynamic)?;
    batch.emit(&bases)?;
    if let Some(scratch) = state.scratch {
        batch.emit(&packet! {
            MediaVfeState {
                scratch_space_base_pointer: Address::new(0x10_0000).unwrap(),
                per_thread_scratch_space: scratch?,
                ..
            }
        })?;
    } else {
        batch.emit(&MediaVfeState::new())?;
    }
    batch.emit(&load)?;
    batch.finish()?.submit([kernels.finish(), dynamic.finish(), surfaces.finish()]).map(drop)
}

fn bases<P: genxml::pipeline::Pipeline>(
    batch: &Batch<Render, P>,
    kernels: &Heap<Instruction>,
    surfaces: &Heap<SurfaceState>,
    dynamic: &Heap<DynamicState>,
) -> Result<StateBaseAddress, BatchError> {
    Ok(StateBaseAddress {
        instruction_base_address: batch.reads(kernels, 0)?,
        instruction_base_address_modify_enable: true,
        surface_state_base_address: batch.reads(surfaces, 0)?,
        surface_state_base_address_modify_enable: true,
        dynamic_state_base_address: batch.reads(dynamic, 0)?,
        dynamic_state_base_address_modify_enable: true,
        general_state_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    })
}

/// The room that is too small, what there is and what is needed.
fn too_small(result: Result<(), BatchError>) -> Option<(Room, u32, u32)> {
    match result {
        Ok(()) => None,
        Err(BatchError::TooSmall { room, has, needed, .. }) => Some((room, has, needed)),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_kernel_ends_its_thread() {
    compute(END, COMPUTE).unwrap();
    let error = compute("(W) mov (8|M0) r10.0<1>:ud r0.0<8;8,1>:ud\n", COMPUTE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "INTERFACE_DESCRIPTOR_DATA at +0x80 of dynamic: the kernel at +0x40 of kernels has no \
         instruction that ends the thread: end it with a `send` with {EOT}"
    );
}

#[test]
fn messages_name_entries_of_tables() {
    let kernel = format!("{SURFACE_2}{END}");
    let error = compute(&kernel, COMPUTE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "INTERFACE_DESCRIPTOR_DATA at +0x80 of dynamic: the binding table has 1 entry, but the \
         instruction at +0x0 of the kernel at +0x40 of kernels needs 3: put the surface into the \
         table"
    );
    let surfaces = |surfaces| too_small(compute(&kernel, Compute { surfaces, ..COMPUTE }));
    assert_eq!(surfaces(0), Some((Room::BindingTable, 0, 3)));
    assert_eq!(surfaces(2), Some((Room::BindingTable, 2, 3)));
    assert_eq!(surfaces(3), None);
    let kernel = format!("{SAMPLER_1}{END}");
    let samplers = |samplers| too_small(compute(&kernel, Compute { samplers, ..COMPUTE }));
    assert_eq!(samplers(0), Some((Room::SamplerTable, 0, 2)));
    assert_eq!(samplers(1), Some((Room::SamplerTable, 1, 2)));
    assert_eq!(samplers(2), None);
}

#[test]
fn scratch_blocks_are_inside_the_scratch_space() {
    let run = |text: &str, scratch| {
        too_small(compute(&format!("{text}{END}"), Compute { scratch, ..COMPUTE }))
    };
    assert_eq!(run(SCRATCH_1024, None), Some((Room::Scratch, 0, 1024)));
    assert_eq!(run(SCRATCH_1024, Some(0)), None);
    assert_eq!(run(SCRATCH_1056, Some(0)), Some((Room::Scratch, 1024, 1056)));
    assert_eq!(run(SCRATCH_1056, Some(1)), None);
}

/// State of the stages of the 3D pipeline counts when something is drawn.
#[test]
fn draws_use_the_state_of_their_stages() {
    // A pixel shader with surface 2 and sampler 1, and a vertex shader that writes 2 registers for
    // each of 8 vertices after 62 owords: it ends at 62 * 16 + 8 bytes.
    let pixel = format!("{SURFACE_2}{SAMPLER_1}{END}");
    let vertex = "send (8|M0) null r1 0x26 0x060803E7 {EOT}\n";
    let run = |entries: usize, samplers: usize, rows: u64, draw: bool, enable: bool| {
        let mut kernels = Heap::<Instruction>::new("kernels", 0x4000, 4096)?;
        let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x6000, 4096)?;
        let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 4096)?;
        let surface = surfaces.put::<_, 64, 32>(&RenderSurfaceState::new())?;
        let table = surfaces.binding_table(&vec![surface; entries])?;
        let states = dynamic.samplers(&vec![SamplerState::new(); samplers])?;
        let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_3d()?;
        let bases = bases(&batch, &kernels, &surfaces, &dynamic)?;
        batch.emit(&bases)?;
        batch.emit(&ThreeDStateVs {
            kernel_start_pointer: kernels.kernel(&assembled(vertex))?,
            function_enable: enable,
            ..ThreeDStateVs::new()
        })?;
        batch.emit(&packet! {
            ThreeDStateUrbVs { vs_urb_entry_allocation_size: rows?, vs_number_of_urb_entries: 64, .. }
        })?;
        batch.emit(&ThreeDStatePs {
            kernel_start_pointer_0: kernels.kernel(&assembled(&pixel))?,
            ..ThreeDStatePs::new()
        })?;
        batch.emit(&ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table })?;
        batch.emit(&ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: states })?;
        if draw {
            batch.emit(&packet! { ThreeDPrimitive { vertex_count_per_instance: 3, .. } })?;
        }
        batch.finish()?.submit([kernels.finish(), dynamic.finish(), surfaces.finish()]).map(drop)
    };
    assert_eq!(too_small(run(3, 2, 16, true, true)), None);
    assert_eq!(too_small(run(2, 2, 16, true, true)), Some((Room::BindingTable, 2, 3)));
    assert_eq!(too_small(run(3, 1, 16, true, true)), Some((Room::SamplerTable, 1, 2)));
    assert_eq!(too_small(run(3, 2, 15, true, true)), Some((Room::UrbEntry, 960, 1000)));
    assert_eq!(too_small(run(3, 2, 15, true, false)), None, "the stage is off");
    assert_eq!(too_small(run(2, 1, 15, false, true)), None, "nothing is drawn");
    let error = run(2, 2, 16, true, true).unwrap_err().to_string();
    assert!(error.starts_with("3DPRIMITIVE at +0x"), "{error}");
}

/// The contents of buffers that are not heaps are unknown, and so is a binding table that an earlier
/// batch set.
#[test]
fn unknown_tables_are_not_compared() {
    let mut kernels = Buffer::new("kernels", 0x4000, 4096).unwrap();
    let code = assembled(SURFACE_2);
    let bytes: Vec<u8> = code.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    kernels.bytes_mut()[64..64 + bytes.len()].copy_from_slice(&bytes);
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096).unwrap().select_3d().unwrap();
    let bases = StateBaseAddress {
        instruction_base_address: batch.reads(&kernels, 0).unwrap(),
        instruction_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    };
    batch.emit(&bases).unwrap();
    let pointer = Address::new(64).unwrap();
    batch.emit(&ThreeDStatePs { kernel_start_pointer_0: pointer, ..ThreeDStatePs::new() }).unwrap();
    batch.emit(&ThreeDPrimitive::new()).unwrap();
    batch.finish().unwrap().submit([kernels]).unwrap();
}
