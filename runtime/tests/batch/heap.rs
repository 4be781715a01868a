//! State heaps.

use genxml::batch::{Buffer, Heap};
use genxml::core::address::{DynamicState, Instruction, SurfaceState};
use genxml::core::{Address, U};
use genxml::gen8::{media, state};

#[test]
fn heaps_give_offsets_of_their_space() {
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x4000, 4096).unwrap();
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 256).unwrap();
    let surface = surfaces.put(&state::RenderSurfaceState::default()).unwrap();
    let second = surfaces.put(&state::RenderSurfaceState::default()).unwrap();
    let table = surfaces.binding_table(&[surface, second]).unwrap();
    assert_eq!((surface.get(), second.get(), table.get()), (64, 128, 192));

    let descriptor =
        state::InterfaceDescriptorData { binding_table_pointer: table, ..Default::default() };
    let constants: Address<DynamicState, 1, 32> =
        dynamic.put_dwords("constants", &[1, 2, 3]).unwrap();
    let load = media::MediaInterfaceDescriptorLoad {
        interface_descriptor_data_start_address: dynamic.put(&descriptor).unwrap(),
        interface_descriptor_total_length: U::new(32).unwrap(),
    };
    assert_eq!((constants.get(), load.interface_descriptor_data_start_address.get()), (64, 128));
    assert_eq!((dynamic.base(), dynamic.used()), (0x8000, 160));
    let error = dynamic.put_all::<_, 32, 32>(&[descriptor; 9]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "INTERFACE_DESCRIPTOR_DATA takes 320 bytes, 96 of 256 are left in dynamic: give it a larger size"
    );
    let bytes = surfaces.finish();
    assert_eq!(bytes.bytes()[192..200], [64, 0, 0, 0, 128, 0, 0, 0]);
}

#[test]
fn an_offset_that_its_field_cannot_hold_is_refused() {
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x4000, 1 << 17).unwrap();
    surfaces.put_dwords::<64, 32>("filler", &[0; 1 << 14]).unwrap();
    let surface = surfaces.put(&state::RenderSurfaceState::new()).unwrap();
    // Binding table pointers have 16 bits.
    let error = surfaces.binding_table::<32, 16>(&[surface]).unwrap_err();
    let why = Address::<SurfaceState, 32, 16>::new(0x10080).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "BINDING_TABLE_STATE at +0x10080 of surfaces: the offset does not fit its field: {why}"
        )
    );
}

#[test]
fn kernels_constants_samplers_and_descriptors() {
    let mut kernels = Heap::<Instruction>::new("kernels", 0x4000, 4096).unwrap();
    let first: Address<Instruction, 64, 48> = kernels.kernel(&[1; 4]).unwrap();
    let second: Address<Instruction, 64, 48> = kernels.kernel(&[2; 4]).unwrap();
    // At least 128 zero bytes follow each kernel.
    assert_eq!((first.get(), second.get()), (64, 256));
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 8192).unwrap();
    let samplers: Address<DynamicState, 32, 32> =
        dynamic.samplers(&[state::SamplerState::new(); 3]).unwrap();
    let load = dynamic.curbe(&[7; 17]).unwrap();
    assert_eq!((samplers.get(), load.curbe_data_start_address.get()), (64, 128));
    // 17 dwords are padded to two times 64 bytes.
    assert_eq!(load.curbe_total_data_length.get(), 128);
    let load = dynamic.interface_descriptors(&[state::InterfaceDescriptorData::new(); 2]).unwrap();
    assert_eq!(load.interface_descriptor_data_start_address.get(), 256);
    assert_eq!(load.interface_descriptor_total_length.get(), 64);
    let buffer = dynamic.finish();
    assert_eq!(super::dwords(&buffer)[32..51], {
        let mut constants = [7; 19];
        constants[17..].fill(0);
        constants
    });
    let mut large = Heap::<DynamicState>::new("large", 0x10000, 1 << 20).unwrap();
    let error = large.curbe(&[0; 1 << 15]).unwrap_err();
    let why = U::<17>::new(1 << 17).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("constants at +0x40 of large: the offset does not fit its field: {why}")
    );
}

/// Addresses taken for several structures are recorded in each of them.
#[test]
fn references_of_all_elements_are_placed() {
    let buffers: Vec<Buffer> =
        (1..4).map(|n| Buffer::new("target", n << 20, 4096).unwrap()).collect();
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x4000, 4096).unwrap();
    let states: Vec<_> = buffers
        .iter()
        .map(|buffer| state::RenderSurfaceState {
            surface_base_address: surfaces.writes(buffer, 0).unwrap(),
            ..state::RenderSurfaceState::new()
        })
        .collect();
    let first: Address<SurfaceState, 64, 32> = surfaces.put_all(&states).unwrap();
    // The address is in dword 8 of each.
    let places: Vec<_> = (0..3).map(|n| (first.get() + 64 * n + 32, (n + 1) << 20)).collect();
    let buffer = surfaces.clone().finish();
    let found: Vec<_> = buffer.relocations().iter().map(|one| (one.offset, one.target)).collect();
    assert_eq!(found, places);
    // An address that no element contains is an error, and no element is put.
    let used = surfaces.used();
    surfaces.writes::<4, 64>(&buffers[0], 64).unwrap();
    let error = surfaces.put_all::<_, 64, 32>(&states[..2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "RENDER_SURFACE_STATE does not hold the address 0x100040 of target that was taken for it: take an address right \
         before the packet that uses it"
    );
    assert_eq!(surfaces.used(), used);
    assert_eq!(surfaces.finish(), buffer);
}

/// Offset 0 is reserved: a pointer of 0 means unused.
#[test]
fn the_first_line_of_a_heap_stays_free() {
    for size in [1, 63, 64, 65] {
        let mut heap = Heap::<DynamicState>::new("small", 0x8000, size).unwrap();
        let error = heap.put_dwords::<4, 32>("constants", &[1, 2]).unwrap_err();
        let left = size.saturating_sub(64);
        assert_eq!(
            error.to_string(),
            format!(
                "constants takes 8 bytes, {left} of {size} are left in small: give it a larger size"
            )
        );
    }
}
