//! The references that `submit` follows: jumps, calls and loops with the current bases; state at
//! offsets.

use genxml::batch::{Arena, Batch, BatchError, Buffer, Heap};
use genxml::core::address::{DynamicState, Instruction, SurfaceState};
use genxml::core::lit;
use genxml::engine::Render;
use genxml::gen8::formats::SamplerIndirectStateBorderColor;
use genxml::gen8::media_states::{
    SamplerState8x8Avs, SamplerState8x8Convolve, SamplerState8x8ErodeDilateMinmaxfilter,
};
use genxml::gen8::mi::MiNoop;
use genxml::gen8::render3d_binding::{
    ThreeDStateBindingTablePointersPs, ThreeDStateSamplerStatePointersPs,
};
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::state::{RenderSurfaceState, SamplerState, StateBaseAddress};
use genxml::pipeline::ThreeD;

fn batch() -> Batch<Render, ThreeD> {
    Batch::<Render>::new("batch", 0x1000, 4096).unwrap().assume()
}

fn surface_base(batch: &mut Batch<Render, ThreeD>, heap: &Heap<SurfaceState>) {
    let base = StateBaseAddress {
        surface_state_base_address: batch.reads(heap, 0).unwrap(),
        surface_state_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    };
    batch.emit(&base).unwrap();
}

fn dynamic_base(batch: &mut Batch<Render, ThreeD>, heap: &Heap<DynamicState>) {
    let base = StateBaseAddress {
        dynamic_state_base_address: batch.reads(heap, 0).unwrap(),
        dynamic_state_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    };
    batch.emit(&base).unwrap();
}

/// A routine whose buffers jump to each other in a loop.
#[test]
fn a_loop_in_a_routine_that_grew_ends() {
    let routine = Batch::<Render>::growing(Arena::new("routine", 0x10_0000, 0x10_0000, 4096))
        .unwrap()
        .routine(|routine| {
            let top = routine.here();
            for _ in 0..3000 {
                routine.emit(&MiNoop::new())?;
            }
            routine.jump_if(top)?;
            Ok(())
        })
        .unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096).unwrap();
    batch.call(&routine).unwrap();
    batch.call(&routine).unwrap();
    batch.finish().unwrap().submit(routine.into_buffers()).unwrap();
}

/// The first structure of a heap has an offset other than 0, so a missing base is detected.
#[test]
fn the_first_thing_of_a_heap_is_no_null_pointer() {
    let mut kernels = Heap::<Instruction>::new("kernels", 0x4000, 4096).unwrap();
    let kernel = kernels.kernel(&[0; 16]).unwrap();
    assert_eq!(kernel.get(), 64);
    let mut batch = batch();
    batch.emit(&ThreeDStatePs { kernel_start_pointer_0: kernel, ..ThreeDStatePs::new() }).unwrap();
    let error = batch.finish().unwrap().submit([kernels.finish()]).unwrap_err();
    assert!(matches!(error, BatchError::NoBase { space: "instruction", .. }), "{error}");
}

/// A packet that the program defines does not hide the packets after it.
#[test]
fn packets_that_no_table_knows_are_skipped() {
    let mut batch = batch();
    batch.emit(&Own { value: lit!(1) }).unwrap();
    batch
        .emit(&ThreeDStatePs { kernel_start_pointer_0: lit!(64), ..ThreeDStatePs::new() })
        .unwrap();
    let error = batch.finish().unwrap().submit([]).unwrap_err();
    assert!(matches!(error, BatchError::NoBase { .. }), "{error}");
}

/// A 3D command that is not in the specification.
#[derive(Clone, Copy, genxml::Packet)]
#[packet(
    name = "OWN",
    engine = "render",
    length = 2,
    bias = 2,
    dword_length(bits = "7:0"),
    zero(dword = 0, bits = "15:8"),
    opcode(bits = "31:16", value = 0x7fff)
)]
struct Own {
    #[field(dword = 1, bits = "31:0")]
    value: genxml::core::U<32>,
}

/// A batch that is the target of a jump runs with the bases of the batch that jumps.
#[test]
fn jumps_to_other_batches_are_followed() {
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x8000, 4096).unwrap();
    let surface = surfaces.put(&RenderSurfaceState::new()).unwrap();
    let table = surfaces.binding_table(&[surface]).unwrap();
    let other = |table| {
        let mut other = Batch::<Render>::new("other", 0x2000, 4096).unwrap().assume::<ThreeD>();
        let start = other.here();
        let target = other.target(start).unwrap();
        other
            .emit(&ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table })
            .unwrap();
        (target, other.finish().unwrap().buffer)
    };
    let submit = |table, with_base| {
        let (target, other) = other(table);
        let mut batch = batch();
        if with_base {
            surface_base(&mut batch, &surfaces);
        }
        batch.jump_to(&target).unwrap();
        batch.finish().unwrap().submit([other, surfaces.clone().finish()])
    };
    submit(table, true).unwrap();
    assert!(matches!(submit(table, false), Err(BatchError::NoBase { .. })));
    assert!(matches!(submit(lit!(0x800), true), Err(BatchError::Dangling { .. })));
}

/// Two heaps, one after the other, are the surface state base. Each has its own binding table.
#[test]
fn state_is_checked_with_the_bases_of_its_packet() {
    let mut heaps: Vec<Heap<SurfaceState>> = (1..3u64)
        .map(|n| Heap::<SurfaceState>::new(format!("surfaces {n}"), n << 16, 4096).unwrap())
        .collect();
    // Make the offsets of the two heaps differ.
    heaps[1].put_dwords::<64, 32>("filler", &[0; 64]).unwrap();
    let mut batch = batch();
    for heap in &mut heaps {
        let surface = heap.put(&RenderSurfaceState::new()).unwrap();
        let table = heap.binding_table(&[surface]).unwrap();
        surface_base(&mut batch, heap);
        batch
            .emit(&ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table })
            .unwrap();
    }
    batch.finish().unwrap().submit(heaps.into_iter().map(Heap::finish)).unwrap();
}

/// A wrong heap is detected at the packet that uses the table, although the right base is set
/// later.
#[test]
fn state_of_the_wrong_base_is_found() {
    let mut one = Heap::<SurfaceState>::new("one", 0x1_0000, 4096).unwrap();
    let mut two = Heap::<SurfaceState>::new("two", 0x2_0000, 4096).unwrap();
    one.put_dwords::<64, 32>("filler", &[0; 64]).unwrap();
    let surface = one.put(&RenderSurfaceState::new()).unwrap();
    // A table in heap two that refers to a surface in heap one.
    let table = two.binding_table(&[surface]).unwrap();
    let mut batch = batch();
    surface_base(&mut batch, &two);
    batch.emit(&ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table }).unwrap();
    surface_base(&mut batch, &one);
    let error = batch.finish().unwrap().submit([one.finish(), two.finish()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "BINDING_TABLE_STATE at +0x40 of two: Surface State Pointer is +0x140 of two, but nothing was put there: does the \
         offset belong to another heap?"
    );
}

/// Any offset into an empty heap is wrong.
#[test]
fn offsets_into_an_empty_heap_are_found() {
    let mut one = Heap::<SurfaceState>::new("one", 0x1_0000, 4096).unwrap();
    let two = Heap::<SurfaceState>::new("two", 0x2_0000, 4096).unwrap();
    let surface = one.put(&RenderSurfaceState::new()).unwrap();
    let table = one.binding_table(&[surface]).unwrap();
    let mut batch = batch();
    surface_base(&mut batch, &two);
    batch.emit(&ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table }).unwrap();
    let error = batch.finish().unwrap().submit([one.finish(), two.finish()]).unwrap_err();
    assert!(matches!(error, BatchError::Dangling { .. }), "{error}");
}

/// A sampler state pointer may refer to SAMPLER_STATE and to each SAMPLER_STATE_8X8 structure.
#[test]
fn all_kinds_of_samplers_go_behind_a_sampler_pointer() {
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 16384).unwrap();
    let color = dynamic.put(&SamplerIndirectStateBorderColor::new()).unwrap();
    let offsets = [
        dynamic
            .put(&SamplerState { indirect_state_pointer: color, ..SamplerState::new() })
            .unwrap(),
        dynamic.put(&SamplerState8x8Avs::new()).unwrap(),
        dynamic.put(&SamplerState8x8Convolve::new()).unwrap(),
        dynamic.put(&SamplerState8x8ErodeDilateMinmaxfilter::new()).unwrap(),
    ];
    let mut batch = batch();
    dynamic_base(&mut batch, &dynamic);
    for offset in offsets {
        batch
            .emit(&ThreeDStateSamplerStatePointersPs { pointer_to_ps_sampler_state: offset })
            .unwrap();
    }
    batch.finish().unwrap().submit([dynamic.finish()]).unwrap();
}

/// A pointer to an empty binding table and a load of an empty CURBE are valid, even if nothing
/// follows in the heap.
#[test]
fn empty_arrays_may_be_pointed_to() {
    for filler in [false, true] {
        let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x8000, 128).unwrap();
        let table = surfaces.binding_table(&[]).unwrap();
        if filler {
            surfaces.put::<_, 64, 32>(&RenderSurfaceState::new()).unwrap();
        }
        let mut dynamic = Heap::<DynamicState>::new("dynamic", 0xa000, 128).unwrap();
        dynamic.put_dwords::<64, 32>("constants", &[1; 16]).unwrap();
        let curbe = dynamic.curbe(&[]).unwrap();
        let mut batch = batch();
        surface_base(&mut batch, &surfaces);
        dynamic_base(&mut batch, &dynamic);
        batch
            .emit(&ThreeDStateBindingTablePointersPs { pointer_to_ps_binding_table: table })
            .unwrap();
        let mut batch = batch.select_gpgpu().unwrap();
        batch.emit(&curbe).unwrap();
        batch.finish().unwrap().submit([surfaces.finish(), dynamic.finish()]).unwrap();
    }
}

/// A routine is checked with the base that it assumes, if the caller has not set one; otherwise
/// with the caller's base.
#[test]
fn routines_are_checked_with_the_callers_base_or_the_assumed_one() {
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 4096).unwrap();
    let samplers = dynamic.samplers(&[SamplerState::new()]).unwrap();
    let routine = |samplers, base| {
        Batch::<Render>::new("routine", 0x2000, 4096)
            .unwrap()
            .assume::<ThreeD>()
            .assume_base::<DynamicState>(base)
            .routine(|routine| {
                routine.emit(&ThreeDStateSamplerStatePointersPs {
                    pointer_to_ps_sampler_state: samplers,
                })?;
                Ok(())
            })
            .unwrap()
    };
    let submit_at = |samplers, base, own: bool| {
        let routine = routine(samplers, base);
        let mut batch = batch();
        if own {
            dynamic_base(&mut batch, &dynamic);
        }
        batch.call(&routine).unwrap();
        let plain = Buffer::new("plain", 0x6000, 4096).unwrap();
        batch
            .finish()
            .unwrap()
            .submit(routine.into_buffers().chain([dynamic.clone().finish(), plain]))
    };
    let submit = |base, own| submit_at(samplers, base, own);
    submit(0x8000, false).unwrap();
    // From the assumed base 0x8400, no sampler is at the offset. From the caller's base, 0x8000,
    // there is one.
    let error = submit(0x8400, false).unwrap_err();
    assert!(matches!(error, BatchError::Dangling { .. }), "{error}");
    submit(0x8400, true).unwrap();
    // From the assumed base 0x7c00, there is a sampler at 0x400. From the caller's base there is
    // none.
    submit_at(lit!(0x400), 0x7c00, false).unwrap();
    let error = submit_at(lit!(0x400), 0x7c00, true).unwrap_err();
    assert!(matches!(error, BatchError::Dangling { .. }), "{error}");
    // The contents of a plain buffer are not checked.
    submit(0x6000, false).unwrap();
}
