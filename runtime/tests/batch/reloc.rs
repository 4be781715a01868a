//! References to buffer objects, and the structures for the kernel.

use genxml::batch::{
    Access, Batch, Buffer, EXEC_OBJECT_PINNED, EXEC_OBJECT_SUPPORTS_48B_ADDRESS, EXEC_OBJECT_WRITE,
    Heap, Placement, RelocationEntry, Submission,
};
use genxml::core::address::{Address, Graphics, Instruction, SurfaceState};
use genxml::core::{U, lit};
use genxml::engine::Render;
use genxml::gen8::mi::{MiCopyMemMem, MiNoop, MiStoreDataImm, PipeControl};
use genxml::gen8::render3d_fetch::{ThreeDStateVertexBuffers, VertexBufferState};
use genxml::gen8::state::{
    MemoryObjectControlState, RenderSurfaceState, StateBaseAddress, StatePrefetch,
};

/// A submission with all kinds of references: packets with flags below the address, a group of a
/// packet, state, jumps, a call, a chain.
fn submission(places: [u64; 6]) -> Submission {
    let [first, second, routine, heap, kernels, target] = places;
    let target = Buffer::new("target", target, 8192).unwrap().with_handle(9);
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", heap, 4096).unwrap();
    let surface = RenderSurfaceState {
        surface_base_address: surfaces.writes(&target, 4096).unwrap(),
        ..RenderSurfaceState::new()
    };
    surfaces.put::<_, 64, 32>(&surface).unwrap();
    let kernels = Heap::<Instruction>::new("kernels", kernels, 4096).unwrap();
    let routine = Batch::<Render>::new("routine", routine, 4096)
        .unwrap()
        .routine(|routine| {
            let values = [U::new(1)?];
            let address = routine.writes(&target, 8)?;
            routine.emit(&MiStoreDataImm {
                data_dword: (&values).into(),
                ..MiStoreDataImm::new(address)
            })?;
            Ok(())
        })
        .unwrap();
    let mut places = [first, second].into_iter();
    let allocate = move |_: usize| Buffer::new("batch", places.next().unwrap_or(1), 4096);
    let mut batch = Batch::<Render>::growing(allocate).unwrap().select_3d().unwrap();
    let mocs =
        MemoryObjectControlState { age_for_quadlru: lit!(3), ..MemoryObjectControlState::new() };
    batch
        .emit(&StateBaseAddress {
            surface_state_base_address: batch.reads(&surfaces, 0).unwrap(),
            surface_state_base_address_modify_enable: true,
            surface_state_mocs: mocs,
            instruction_base_address: batch.reads(&kernels, 0).unwrap(),
            instruction_base_address_modify_enable: true,
            ..StateBaseAddress::new()
        })
        .unwrap();
    let end = batch.label();
    batch.jump_if(end).unwrap();
    batch.call(&routine).unwrap();
    let buffers = [0, 16].map(|delta| VertexBufferState {
        buffer_starting_address: batch.reads(&target, delta).unwrap(),
        ..VertexBufferState::new()
    });
    batch.emit(&ThreeDStateVertexBuffers { vertex_buffer_state: (&buffers).into() }).unwrap();
    for _ in 0..1500 {
        batch.emit(&MiNoop::new()).unwrap();
    }
    batch.bind(end).unwrap();
    let copy = MiCopyMemMem {
        source_memory_address: batch.reads(&target, 4).unwrap(),
        destination_memory_address: batch.writes(&target, 8).unwrap(),
        ..MiCopyMemMem::new()
    };
    batch.emit(&copy).unwrap();
    let others = routine.into_buffers().chain([surfaces.finish(), kernels.finish(), target]);
    batch.finish().unwrap().submit(others.collect::<Vec<_>>()).unwrap()
}

const HERE: [u64; 6] = [0x10_0000, 0x20_0000, 0x30_0000, 0x40_0000, 0x50_0000, 0x60_0000];
/// The same objects at other addresses. The last one is above 2^47, where canonical addresses are
/// negative.
const THERE: [u64; 6] =
    [0x7_0000_0000, 0x1000, 0x1234_5000, 0x9_8765_4000, 0x2000, 0xffff_0000_0000];

fn bytes(submission: &Submission) -> Vec<&[u8]> {
    submission.buffers.iter().map(Buffer::bytes).collect()
}

/// Oracle: the kernel's rule (i915, relocate_entry): the canonical form of target + delta, 64 bits
/// at the offset.
#[test]
fn relocations_applied_by_the_kernels_rule_give_what_the_other_addresses_would() {
    let (here, there) = (submission(HERE), submission(THERE));
    assert_ne!(bytes(&here), bytes(&there));
    let exec = here.exec(Placement::Relocated).unwrap();
    assert_eq!(exec.objects.iter().map(|object| object.relocations.len()).sum::<usize>(), 11);
    let mut moved: Vec<Vec<u8>> = bytes(&here).into_iter().map(<[u8]>::to_vec).collect();
    for (buffer, object) in moved.iter_mut().zip(&exec.objects) {
        for entry in &object.relocations {
            let target = entry.target_handle as usize;
            assert_eq!(entry.presumed_offset, HERE[target]);
            let sum = THERE[target] + u64::from(entry.delta);
            let canonical = ((sum << 16) as i64 >> 16) as u64;
            buffer[entry.offset as usize..][..8].copy_from_slice(&canonical.to_le_bytes());
        }
    }
    assert_eq!(moved, bytes(&there));
}

#[test]
fn a_submission_moves_itself() {
    let mut moved = submission(HERE);
    moved.relocate(&THERE).unwrap();
    assert_eq!(moved, submission(THERE));
    assert_eq!(
        moved.relocate(&[0x800; 6]).unwrap_err().to_string(),
        "buffer batch: 4096 bytes at 0x800 do not start on a page of 4096 bytes below 2^48"
    );
}

#[test]
fn the_kernel_gets_objects_with_their_flags() {
    let pinned = submission(THERE).exec(Placement::Softpin).unwrap();
    assert!(pinned.objects.iter().all(|object| object.relocations.is_empty()));
    let target = &pinned.objects[5];
    assert_eq!((target.handle, target.offset), (9, 0xffff_ffff_0000_0000));
    assert_eq!(
        target.flags,
        EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS | EXEC_OBJECT_WRITE
    );
    assert_eq!(pinned.objects[0].flags, EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS);
    // Kernels and other instruction-base objects stay below 4 GiB, unless the program pins them
    // higher.
    assert_eq!(pinned.objects[4].flags, EXEC_OBJECT_PINNED);
    // Ring 1 (render), NO_RELOC, HANDLE_LUT, BATCH_FIRST; lengths in qwords.
    assert_eq!(pinned.flags, 1 | 0x800 | 0x1000 | 0x4_0000);
    assert_eq!((pinned.batch_start_offset, pinned.batch_len % 8), (0, 0));

    let relocated = submission(HERE).exec(Placement::Relocated).unwrap();
    assert_eq!(relocated.objects[5].flags, EXEC_OBJECT_SUPPORTS_48B_ADDRESS | EXEC_OBJECT_WRITE);
    let surface = RelocationEntry {
        target_handle: 5,
        delta: 4096,
        offset: 96,
        presumed_offset: HERE[5],
        read_domains: 2,
        write_domain: 2,
    };
    assert_eq!(relocated.objects[3].relocations, [surface]);
    // The sizes of the kernel's structures.
    assert_eq!(size_of::<RelocationEntry>(), 32);
}

/// Flags in the low bits of an address are part of the delta.
#[test]
fn deltas_carry_the_flags_below_the_address() {
    let here = submission(HERE);
    let [surfaces, kernels] = [3, 4].map(|target| {
        let mut all = here.buffers[0].relocations().iter();
        all.find(|one| one.target == HERE[target]).unwrap().clone()
    });
    assert_eq!(
        (surfaces.packet, surfaces.field),
        ("STATE_BASE_ADDRESS", "Surface State Base Address")
    );
    // Modify Enable in bit 0; the age in bits 5:4 (part of MOCS in 10:4).
    assert_eq!((surfaces.delta, kernels.delta), (1 | 3 << 4, 1));
    assert_eq!((surfaces.access, surfaces.address), (Access::Read, HERE[3]));
}

#[test]
fn references_follow_patches() {
    let (one, two) =
        (Buffer::new("one", 0x1000, 4096).unwrap(), Buffer::new("two", 0x2000, 4096).unwrap());
    let mut batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap();
    let write = |batch: &Batch<Render>, to: &Buffer| PipeControl {
        address: batch.writes(to, 64).unwrap(),
        ..PipeControl::new()
    };
    let packet = write(&batch, &one);
    let position = batch.emit(&packet).unwrap();
    // Changing another field keeps the reference.
    batch.edit(position, |flush: &mut PipeControl| flush.notify_enable = true).unwrap();
    // The reference changes to another object.
    let address = batch.writes(&two, 8).unwrap();
    batch.edit(position, |flush: &mut PipeControl| flush.address = address).unwrap();
    let same = batch.reads(&two, 8).unwrap();
    batch.edit(position, |flush: &mut PipeControl| flush.address = same).unwrap();
    let other = batch.emit(&packet);
    other.unwrap();
    let buffer = batch.finish().unwrap().buffer;
    let found: Vec<_> =
        buffer.relocations().iter().map(|one| (one.offset, one.target, one.delta)).collect();
    // The second packet contains the number, but no reference.
    assert_eq!(found, [(8, 0x2000, 8)]);
}

#[test]
fn wrong_references_are_refused() {
    let target = Buffer::new("target", 0x1000, 4096).unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap();
    let beyond = batch.reads::<4, 64>(&target, 4096).unwrap_err();
    assert_eq!(beyond.to_string(), "+0x1000 is not inside target, which has 4096 bytes");
    let odd = batch.reads::<4, 64>(&target, 2).unwrap_err();
    let why = Address::<Graphics, 4, 64>::new(0x1002).unwrap_err();
    assert_eq!(
        odd.to_string(),
        format!("the reference at +0x2 of target: the offset does not fit its field: {why}")
    );
    batch.reads::<4, 64>(&target, 8).unwrap();
    let error = batch.emit(&MiNoop::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "MI_NOOP does not hold the address 0x1008 of target that was taken for it: \
         take an address right before the packet that uses it"
    );
    // The next packet is emitted without an error.
    batch.emit(&MiNoop::new()).unwrap();

    // A 32-bit pointer is allowed if the object is pinned.
    let prefetch = StatePrefetch {
        prefetch_pointer: batch.reads(&target, 0).unwrap(),
        ..StatePrefetch::new()
    };
    batch.emit(&prefetch).unwrap();
    let submission = batch.finish().unwrap().submit([target]).unwrap();
    submission.exec(Placement::Softpin).unwrap();
    assert_eq!(
        submission.exec(Placement::Relocated).unwrap_err().to_string(),
        "Prefetch Pointer of STATE_PREFETCH cannot be relocated: the kernel writes 64 bits there, and not all of them \
         belong to the address"
    );
}

/// A field that is 0 means unused, so address 0 cannot be referenced.
#[test]
fn references_to_address_0_are_refused() {
    let zero = Buffer::new("zero", 0, 4096).unwrap();
    let batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap();
    let error = batch.reads::<4, 64>(&zero, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "zero is at address 0, which in a field means nowhere: give it another address"
    );
    batch.reads::<4, 64>(&zero, 4).unwrap();
}

/// References are matched by value, so the field must be unique.
#[test]
fn an_address_in_more_fields_than_it_was_taken_for_is_refused() {
    let target = Buffer::new("target", 0x1000, 4096).unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap();
    let copy = |source, destination| MiCopyMemMem {
        source_memory_address: source,
        destination_memory_address: destination,
        ..MiCopyMemMem::new()
    };
    let one = batch.reads(&target, 8).unwrap();
    let error = batch.emit(&copy(one, one)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 fields of MI_COPY_MEM_MEM hold the address 0x1008 of target, which was taken 1 times: take it once for each"
    );
    let (one, two) = (batch.reads(&target, 8).unwrap(), batch.reads(&target, 8).unwrap());
    let position = batch.emit(&copy(one, two)).unwrap();
    // This packet is known to contain the address in both fields.
    let other = batch.reads(&target, 16).unwrap();
    batch.edit(position, |copy: &mut MiCopyMemMem| copy.source_memory_address = other).unwrap();
    let same = batch.reads(&target, 8).unwrap();
    batch.edit(position, |copy: &mut MiCopyMemMem| copy.source_memory_address = same).unwrap();
    let buffer = batch.finish().unwrap().buffer;
    let mut found: Vec<_> =
        buffer.relocations().iter().map(|one| (one.offset, one.address)).collect();
    found.sort_unstable();
    assert_eq!(found, [(4, 0x1008), (12, 0x1008)]);
}

/// The kernel's `delta` is an `int` where it is added (i915, relocate_entry).
#[test]
fn deltas_have_31_bits() {
    let target = Buffer::new("target", 0x1000, 0x8000_1000).unwrap();
    let submission = |delta| {
        let mut batch = Batch::<Render>::new("batch", 0x1_0000_0000, 4096).unwrap();
        let address = batch.writes(&target, delta).unwrap();
        batch.emit(&PipeControl { address, ..PipeControl::new() }).unwrap();
        Submission::new(batch.finish().unwrap(), [target.clone()])
    };
    submission(0x7fff_fffc).exec(Placement::Relocated).unwrap();
    submission(0x8000_0000).exec(Placement::Softpin).unwrap();
    assert_eq!(
        submission(0x8000_0000).exec(Placement::Relocated).unwrap_err().to_string(),
        "Address of PIPE_CONTROL cannot be relocated: it is target + 0x80000000, and the kernel adds at most 0x7fffffff"
    );
}

#[test]
fn moving_needs_a_place_for_each_buffer() {
    let mut moved = submission(HERE);
    assert_eq!(
        moved.relocate(&[0x1000]).unwrap_err().to_string(),
        "1 addresses for 6 buffers: each needs one"
    );
    let mut places = THERE;
    places[1] = places[0];
    assert_eq!(
        moved.relocate(&places).unwrap_err().to_string(),
        "batch and batch both have the address 0x700000000"
    );
    assert_eq!(moved, submission(HERE));
}
