//! Errors that `submit` detects.

use genxml::batch::{Batch, BatchError, Buffer, FinishedBatch, Heap};
use genxml::core::address::{DynamicState, Instruction, SurfaceState};
use genxml::core::{Address, lit};
use genxml::engine::Render;
use genxml::gen8::media::MediaInterfaceDescriptorLoad;
use genxml::gen8::render3d_binding::ThreeDStateSamplerStatePointersPs;
use genxml::gen8::render3d_pixel::ThreeDStateBlendStatePointers;
use genxml::gen8::state::{
    InterfaceDescriptorData, RenderSurfaceState, SamplerState, StateBaseAddress,
};

fn dynamic_base(address: u64) -> StateBaseAddress {
    StateBaseAddress {
        dynamic_state_base_address: Address::new(address).unwrap(),
        dynamic_state_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    }
}

/// A batch that sets the dynamic state base and loads samplers from `offset`.
fn samplers(base: u64, offset: u64) -> FinishedBatch<Render> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096).unwrap().assume();
    batch.emit(&dynamic_base(base)).unwrap();
    let pointer = Address::new(offset).unwrap();
    batch
        .emit(&ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: pointer })
        .unwrap();
    finish(batch)
}

fn finish(batch: Batch<Render, genxml::pipeline::ThreeD>) -> FinishedBatch<Render> {
    batch.finish().unwrap()
}

fn heap() -> Heap<DynamicState> {
    let mut heap = Heap::new("dynamic", 0x8000, 4096).unwrap();
    heap.samplers::<32, 32>(&[SamplerState::new(); 4]).unwrap();
    heap.put::<_, 32, 32>(&SamplerState::new()).unwrap();
    heap.put_dwords::<32, 32>("constants", &[1; 8]).unwrap();
    heap.put::<_, 64, 32>(&InterfaceDescriptorData::new()).unwrap();
    heap
}

fn error(batch: FinishedBatch<Render>, others: impl IntoIterator<Item = Buffer>) -> String {
    batch.submit(others).unwrap_err().to_string()
}

#[test]
fn good_offsets_pass() {
    // Offsets in the heap: 0 (unused), the array of samplers, its third element, the single
    // sampler, and untyped dwords.
    for offset in [0, 64, 96, 128, 192] {
        samplers(0x8000, offset).submit([heap().finish()]).unwrap();
    }
    // The contents of a plain buffer are not checked.
    samplers(0x8000, 0x500).submit([Buffer::new("plain", 0x8000, 4096).unwrap()]).unwrap();
}

#[test]
fn offsets_of_other_heaps_are_found() {
    let place =
        "3DSTATE_SAMPLER_STATE_POINTERS_PS at +0x40 of batch: Pointer to PS Sampler State is";
    let ask = "does the offset belong to another heap?";
    for (offset, found) in [
        (0x140, "nothing was put there"),
        (0x100, "INTERFACE_DESCRIPTOR_DATA is there, not SAMPLER_STATE"),
        (0x1000, "it has only 4096 bytes"),
    ] {
        assert_eq!(
            error(samplers(0x8000, offset), [heap().finish()]),
            format!("{place} +{offset:#x} of dynamic, but {found}: {ask}")
        );
    }
}

#[test]
fn bases_are_there_and_come_first() {
    assert_eq!(
        error(samplers(0x8000, 32), []),
        "STATE_BASE_ADDRESS at +0x0 of batch: Dynamic State Base Address is 0x8000, where no buffer of the submission is"
    );
    let batch = || {
        let mut batch = Batch::<Render>::new("batch", 0x1000, 4096).unwrap().assume();
        let pointer = lit!(0x40);
        batch
            .emit(&ThreeDStateBlendStatePointers {
                blend_state_pointer: pointer,
                ..Default::default()
            })
            .unwrap();
        batch
    };
    assert_eq!(
        error(finish(batch()), [heap().finish()]),
        "3DSTATE_BLEND_STATE_POINTERS at +0x0 of batch: Blend State Pointer is an offset from the base of dynamic-state space, \
         which is not set yet: emit STATE_BASE_ADDRESS with this base and its Modify Enable, or call `assume_base`"
    );
    let buffer = Buffer::new("plain", 0x8000, 4096).unwrap();
    finish(batch().assume_base::<DynamicState>(0x8000)).submit([buffer]).unwrap();
    // A base in an earlier batch does not hide a wrong offset.
    assert!(matches!(
        finish(batch().assume_base::<DynamicState>(0x8000)).submit([heap().finish()]),
        Err(BatchError::Dangling { .. })
    ));
}

/// `submit` also checks pointers inside state, such as the kernel of an interface descriptor.
#[test]
fn state_in_heaps_is_checked_too() {
    let mut kernels = Heap::<Instruction>::new("kernels", 0x4000, 4096).unwrap();
    kernels.kernel::<64, 48>(&[0; 16]).unwrap();
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x6000, 4096).unwrap();
    surfaces.put::<_, 64, 32>(&RenderSurfaceState::new()).unwrap();
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 4096).unwrap();
    let descriptor = InterfaceDescriptorData {
        kernel_start_pointer: lit!(0x800),
        ..InterfaceDescriptorData::new()
    };
    let load: MediaInterfaceDescriptorLoad = dynamic.interface_descriptors(&[descriptor]).unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096).unwrap().select_gpgpu().unwrap();
    batch
        .emit(&StateBaseAddress {
            instruction_base_address: batch.reads(&kernels, 0).unwrap(),
            instruction_base_address_modify_enable: true,
            ..dynamic_base(0x8000)
        })
        .unwrap();
    batch.emit(&load).unwrap();
    assert_eq!(
        error(batch.finish().unwrap(), [kernels.finish(), dynamic.finish(), surfaces.finish()]),
        "INTERFACE_DESCRIPTOR_DATA at +0x40 of dynamic: Kernel Start Pointer is +0x800 of kernels, but nothing was put there: \
         does the offset belong to another heap?"
    );
}

/// State in a heap needs base addresses. The errors: a base was never set, or it was set without
/// Modify Enable.
#[test]
fn state_in_heaps_needs_its_bases() {
    let submit = |surface_base: bool, instruction_base: bool| {
        let mut kernels = Heap::<Instruction>::new("kernels", 0x4000, 4096).unwrap();
        // send (8|M0) null r112 0x27 0x02000010 {EOT}
        let end = [0x0780_0031, 0x2000_0a40, 0x0e00_0e00, 0x8200_0010];
        let kernel = kernels.kernel::<64, 48>(&end).unwrap();
        let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x6000, 4096).unwrap();
        let surface = surfaces.put::<_, 64, 32>(&RenderSurfaceState::new()).unwrap();
        let table = surfaces.binding_table::<32, 16>(&[surface]).unwrap();
        let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 4096).unwrap();
        let descriptor = InterfaceDescriptorData {
            kernel_start_pointer: kernel,
            binding_table_pointer: table,
            ..InterfaceDescriptorData::new()
        };
        let load = dynamic.interface_descriptors(&[descriptor]).unwrap();
        let mut batch =
            Batch::<Render>::new("batch", 0x1000, 4096).unwrap().select_gpgpu().unwrap();
        batch
            .emit(&StateBaseAddress {
                instruction_base_address: batch.reads(&kernels, 0).unwrap(),
                instruction_base_address_modify_enable: instruction_base,
                surface_state_base_address: batch.reads(&surfaces, 0).unwrap(),
                surface_state_base_address_modify_enable: surface_base,
                ..dynamic_base(0x8000)
            })
            .unwrap();
        batch.emit(&load).unwrap();
        batch.finish().unwrap().submit([kernels.finish(), dynamic.finish(), surfaces.finish()])
    };
    submit(true, true).unwrap();
    assert_eq!(
        submit(true, false).unwrap_err().to_string(),
        "INTERFACE_DESCRIPTOR_DATA at +0x40 of dynamic: Kernel Start Pointer is an offset from the base of \
         instruction space, which is not set yet: emit STATE_BASE_ADDRESS with this base and its \
         Modify Enable, or call `assume_base`"
    );
    let error = submit(false, true).unwrap_err();
    assert!(matches!(error, BatchError::NoBase { space: "surface-state", .. }), "{error}");
}

#[test]
fn second_level_batches_are_looked_into() {
    let routine = Batch::<Render>::new("routine", 0x2000, 4096)
        .unwrap()
        .assume::<genxml::pipeline::ThreeD>()
        .routine(|routine| {
            let pointer = lit!(0x200);
            routine.emit(&ThreeDStateSamplerStatePointersPs {
                pointer_to_ps_sampler_state: pointer,
            })?;
            Ok(())
        })
        .unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096).unwrap().assume();
    batch.emit(&dynamic_base(0x8000)).unwrap();
    batch.call(&routine).unwrap();
    let others = routine.into_buffers().chain([heap().finish()]);
    assert_eq!(
        error(finish(batch), others),
        "3DSTATE_SAMPLER_STATE_POINTERS_PS at +0x0 of routine: Pointer to PS Sampler State is +0x200 of dynamic, but \
         nothing was put there: does the offset belong to another heap?"
    );
}

#[test]
fn buffers_do_not_overlap() {
    let batch = || Batch::<Render>::new("batch", 0x1000, 8192).unwrap().finish().unwrap();
    assert_eq!(
        error(batch(), [Buffer::new("other", 0x2000, 4096).unwrap()]),
        "batch and other both have the address 0x2000"
    );
    batch().submit([Buffer::new("other", 0x3000, 4096).unwrap()]).unwrap();
}
