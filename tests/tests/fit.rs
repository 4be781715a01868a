//! `?` in packets: run-time values are checked against their field, and errors name the field.
//! Oracle: bits and ranges of the manual, written by hand.

use genxml::batch::{Batch, BatchError, Heap};
use genxml::core::address::SurfaceState;
use genxml::core::reflect::{Field, Group, Type};
use genxml::core::{Address, FieldError, MinusOne, U, fit, lit, names};
use genxml::engine::Render;
use genxml::gen8::mi::MiNoop;
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml::gen8::state::{BindingTableState, RenderSurfaceState, RenderSurfaceStateExtent};
use genxml::packet;
use genxml::pipeline::ThreeD;
use genxml_codegen::emit::names::field_name;

fn threads(count: u32) -> Result<ThreeDStateVs, FieldError> {
    Ok(packet! { ThreeDStateVs { maximum_number_of_threads: count?, .. } })
}

#[test]
fn integers() {
    assert_eq!(threads(504).map(|vs| vs.maximum_number_of_threads.get()), Ok(504));
    let error = threads(600).expect_err("too many");
    assert_eq!((error.container(), error.field()), ("3DSTATE_VS", "Maximum Number of Threads"));
    // 9 bits hold the number minus one, so at most 512; the manual allows 504.
    assert_eq!(
        error.to_string(),
        "3DSTATE_VS: Maximum Number of Threads (dw7 31:23) = 600 does not fit 1..=504"
    );
}

#[test]
fn without_the_macro() -> Result<(), FieldError> {
    let mut vs = ThreeDStateVs::new();
    vs.maximum_number_of_threads = fit!(ThreeDStateVs.maximum_number_of_threads, 36usize)?;
    assert_eq!(vs.maximum_number_of_threads.bits(), 35);
    Ok(())
}

/// Oracle: 2d p.334: a buffer's width holds 7 bits of its size, an image's all 14.
#[test]
fn alternatives() -> Result<(), FieldError> {
    let buffer = |width: u32| -> Result<RenderSurfaceState, FieldError> {
        let extent =
            RenderSurfaceStateExtent::Buffer { width: lit!(1), height: lit!(2), depth: lit!(3) };
        let state = RenderSurfaceState { extent, ..RenderSurfaceState::new() };
        Ok(packet! {
            RenderSurfaceState {
                extent: RenderSurfaceStateExtent::Buffer { width: width?, height: 16383, depth: 1023 },
                ..state
            }
        })
    };
    assert!(buffer(127).is_ok());
    assert_eq!(
        buffer(128).expect_err("too wide").to_string(),
        "RENDER_SURFACE_STATE: Width (dw2 13:0) = 128 does not fit 0..=127"
    );
    let image = |width: u32| -> Result<MinusOne<14>, _> {
        fit!(RenderSurfaceState.extent.Image.width, width)
    };
    assert_eq!(image(16384)?.get(), 16384);
    assert_eq!(
        image(16385).expect_err("too wide").to_string(),
        "RENDER_SURFACE_STATE: Width (dw2 13:0) = 16385 does not fit 1..=16384"
    );
    let width: U<14> = fit!(RenderSurfaceState.extent.Buffer.width, 127u8)?;
    assert_eq!(width.get(), 127);
    Ok(())
}

/// The error of a conversion gets the field's name; the error of a heap is returned unchanged.
#[test]
fn results() -> Result<(), BatchError> {
    fn entry(offset: u64) -> Result<BindingTableState, FieldError> {
        Ok(packet! { BindingTableState { surface_state_pointer: Address::new(offset)? } })
    }
    assert_eq!(
        entry(0x41).expect_err("misaligned").to_string(),
        "BINDING_TABLE_STATE: Surface State Pointer (dw0 31:6) = 0x41 is not a multiple of 0x40"
    );
    let mut heap = Heap::<SurfaceState>::new("surfaces", 0x1000, 4096)?;
    let pointed = packet! { BindingTableState { surface_state_pointer: heap.put(&BindingTableState::new())? } };
    assert_eq!(pointed.surface_state_pointer.get(), 64);
    let own: Result<u32, BatchError> = Ok(3);
    let noop = packet! { MiNoop { identification_number: (own?)?, .. } };
    assert_eq!(noop.identification_number, U::new(3).expect("fits"));
    Ok(())
}

#[test]
fn batches() -> Result<(), BatchError> {
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.assume::<ThreeD>();
    let emit = |batch: &mut Batch<Render, ThreeD>, numbers: &[u64]| -> Result<(), BatchError> {
        genxml::batch! { batch =>
            let first = ThreeDStateVs::new();
            first;
            for number in numbers {
                MiNoop { identification_number: (*number)?, .. };
            }
        }
    };
    emit(&mut batch, &[1, 2])?;
    assert_eq!(batch.dwords()[9..], [1, 2]);
    let error = emit(&mut batch, &[3, u64::MAX]).expect_err("too large");
    assert_eq!(
        error.to_string(),
        "MI_NOOP: Identification Number (dw0 21:0) = 18446744073709551615 does not fit 0..=4194303"
    );
    assert_eq!(batch.dwords().len(), 2 * 9 + 3);
    Ok(())
}

/// The names in the tables match the members of the generated types, for every field of Gen8.
/// Oracle: the name mapping of the generator.
#[test]
fn names_of_members() {
    fn visit(fields: &[Field], groups: &[Group], count: &mut usize) {
        let member = |field: &&Field| {
            !matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
        };
        for field in fields.iter().filter(member) {
            let rust = field_name(field.name);
            assert!(names::matches(field.name, &rust), "{} is {rust}", field.name);
            assert!(
                !names::matches(field.name, &format!("{rust}x"))
                    && !names::matches(field.name, &rust[1..])
            );
            *count += 1;
        }
        groups.iter().for_each(|group| visit(group.fields, group.groups, count));
    }
    let mut count = 0;
    for container in genxml::gen8::CONTAINERS {
        visit(container.fields, container.groups, &mut count);
    }
    assert!(count > 3000, "{count} fields");
}
