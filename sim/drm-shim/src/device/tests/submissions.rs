//! EXECBUFFER2: addresses, relocations, faults, captures.

use super::*;

#[test]
fn pinned_objects() {
    const DATA: u64 = 0xffff_8001_0000_0000;
    let mut client = Client::open(RENDER);
    let data = client.create(4096);
    let batch = client.store_batch(DATA + 8, 0x1234_5678);
    let mut objects = [pinned(data, DATA), pinned(batch, 0x20_0000)];
    client.exec(&mut objects, 0, 0).unwrap();
    assert_eq!(client.read::<4>(data, 8), 0x1234_5678u32.to_le_bytes());

    // The batch is the first object, on the blitter engine.
    client.write(data, 8, &[0; 4]).unwrap();
    objects.reverse();
    client.exec(&mut objects, exec::BATCH_FIRST | exec::BLT, 0).unwrap();
    assert_eq!(client.read::<4>(data, 8), 0x1234_5678u32.to_le_bytes());

    let mut twice = [pinned(data, DATA), pinned(batch, DATA)];
    assert_eq!(client.exec(&mut twice, 0, 0), errno(Errno::NOSPC));
    let mut plain = [pinned(data, 0x8001_0000_0000), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut plain, 0, 0), errno(Errno::INVAL));
    let mut same = [pinned(batch, DATA), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut same, 0, 0), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, exec::GEN7_SOL_RESET, 0), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, 5, 0), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, 0, 9), errno(Errno::NOENT));
    assert_eq!(client.exec(&mut [], 0, 0), errno(Errno::INVAL));
}

#[test]
fn relocations() {
    let mut client = Client::open(RENDER);
    for lut in [0, exec::HANDLE_LUT] {
        let data = client.create(8192);
        let batch = client.store_batch(0, 77);
        let mut relocation = i915::Relocation {
            target_handle: if lut == 0 { data } else { 0 },
            delta: 4096,
            offset: ADDRESS_FIELD,
            presumed_offset: u64::MAX,
            ..Default::default()
        };
        let mut objects = [
            ExecObject2 { handle: data, ..Default::default() },
            ExecObject2 {
                handle: batch,
                relocation_count: 1,
                relocs_ptr: std::ptr::from_mut(&mut relocation) as u64,
                ..Default::default()
            },
        ];
        client.exec(&mut objects, lut, 0).unwrap();
        assert_eq!(client.read::<4>(data, 4096), [77, 0, 0, 0]);
        assert_eq!(relocation.presumed_offset, objects[0].offset);
        assert_ne!(objects[0].offset, 0);
        assert!(objects[1].offset >> 32 == 0);
        // The objects keep their addresses, so the next submission needs no relocation.
        let offsets = objects.map(|object| object.offset);
        relocation.offset = u64::MAX;
        client.exec(&mut objects, lut | exec::NO_RELOC, 0).unwrap();
        assert_eq!(objects.map(|object| object.offset), offsets);
        relocation.presumed_offset = 0;
        assert_eq!(client.exec(&mut objects, lut, 0), errno(Errno::INVAL));
        relocation.target_handle = 99;
        assert_eq!(client.exec(&mut objects, lut, 0), errno(Errno::NOENT));
    }
}

/// A relocation has domains of the GPU, and at most one write domain.
/// Oracle: Linux i915_gem_execbuffer.c, eb_relocate_entry.
#[test]
fn domains_of_relocations() {
    const CPU: u32 = 1;
    const RENDER_AND_INSTRUCTION: u32 = 0x12;
    let mut client = Client::open(RENDER);
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 7);
    let allowed = [(0, 0), (0x10, 0x10), (RENDER_AND_INSTRUCTION, 2)];
    let refused = [
        (CPU, 0),
        (0, CPU),
        (i915::DOMAIN_GTT, i915::DOMAIN_GTT),
        (RENDER_AND_INSTRUCTION, RENDER_AND_INSTRUCTION),
        (0x80, 0),
    ];
    for (domains, expected) in [(&allowed[..], Ok(())), (&refused[..], errno(Errno::INVAL))] {
        for &(read_domains, write_domain) in domains {
            let mut relocation = i915::Relocation {
                target_handle: data,
                offset: ADDRESS_FIELD,
                presumed_offset: 0x30_0000,
                read_domains,
                write_domain,
                ..Default::default()
            };
            let mut objects = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
            (objects[1].relocation_count, objects[1].relocs_ptr) =
                (1, std::ptr::from_mut(&mut relocation) as u64);
            let found = client.exec(&mut objects, 0, 0);
            assert_eq!(found, expected, "{read_domains:#x}, {write_domain:#x}");
        }
    }
}

/// The delta of a relocation may be negative. Oracle: Linux's relocation_target.
#[test]
fn relocations_backwards() {
    const DATA: u64 = 0x3000_0000;
    let mut client = Client::open(RENDER);
    let (data, behind) = (client.create(4096), client.create(4096));
    let batch = client.store_batch(0, 78);
    let mut relocation = i915::Relocation {
        target_handle: behind,
        delta: (-8i32).cast_unsigned(),
        offset: ADDRESS_FIELD,
        presumed_offset: u64::MAX,
        ..Default::default()
    };
    let mut objects = [pinned(data, DATA), pinned(behind, DATA + 4096), pinned(batch, 0x20_0000)];
    (objects[2].relocation_count, objects[2].relocs_ptr) =
        (1, std::ptr::from_mut(&mut relocation) as u64);
    client.exec(&mut objects, 0, 0).unwrap();
    assert_eq!(client.read::<4>(data, 4096 - 8), [78, 0, 0, 0]);
}

/// Oracle: i915_gem_check_execbuffer and eb_lookup_vmas (Linux i915_gem_execbuffer.c): DR1 and DR4
/// must be 0, DR4 may be all ones; the batch must begin in its object.
#[test]
fn arguments_of_submissions() {
    let mut client = Client::open(RENDER);
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 1);
    let mut objects = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    let plain = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 2,
        ..Default::default()
    };
    let mut submit = |mut exec| client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec);
    let refused = errno(Errno::INVAL);
    assert_eq!(submit(ExecBuffer2 { dr1: 1, ..plain }), refused);
    assert_eq!(submit(ExecBuffer2 { dr4: 1, ..plain }), refused);
    assert_eq!(submit(ExecBuffer2 { batch_start_offset: 4096, ..plain }), refused);
    assert_eq!(submit(ExecBuffer2 { batch_start_offset: 4088, batch_len: 16, ..plain }), refused);
    assert_eq!(submit(ExecBuffer2 { dr4: u32::MAX, ..plain }), Ok(()));
    assert_eq!(submit(plain), Ok(()));
}

/// Oracle: i915_vma_insert (Linux i915_vma.c): a pinned object must be aligned as its entry says,
/// and must end below the last page of 4 GiB unless its entry has SUPPORTS_48B.
#[test]
fn pinned_addresses() {
    let mut client = Client::open(RENDER);
    let batch = client.create(4096);
    client.write(batch, 0, bytemuck::cast_slice(&MiBatchBufferEnd::new().pack())).unwrap();
    let wide = object::SUPPORTS_48B;
    for (offset, alignment, flags, fits) in [
        (0x1_0000, 0x1_0000, wide, true),
        (0x1_1000, 0x1_0000, wide, false),
        (0xffff_e000, 0, 0, true),
        (0xffff_f000, 0, 0, false),
        (0x1_0000_0000, 0, 0, false),
        (0x1_0000_0000, 0, wide, true),
    ] {
        let flags = object::PINNED | flags;
        let entry = ExecObject2 { offset, alignment, flags, ..pinned(batch, 0) };
        let expected = if fits { Ok(()) } else { errno(Errno::INVAL) };
        assert_eq!(
            client.exec(&mut [entry], 0, 0),
            expected,
            "{offset:#x} {alignment:#x} {flags:#x}"
        );
    }
}

/// Access to an address where no object is bound is a fault. It is reported to the client, and an
/// error state is written.
#[test]
fn faults() {
    let mut client = Client::open(RENDER);
    let batch = client.store_batch(0x30_0000, 1);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let mut param = i915::ContextParam {
        ctx_id: create.ctx_id,
        param: i915::context_param::RECOVERABLE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    let mut objects = [pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut objects, 0, create.ctx_id), errno(Errno::IO));
    let mut stats = i915::ResetStats { ctx_id: create.ctx_id, ..Default::default() };
    client.i915(i915::nr::GET_RESET_STATS, &mut stats).unwrap();
    assert_eq!((stats.reset_count, stats.batch_active, stats.batch_pending), (1, 1, 0));
    // The context is banned: its submissions fail, whatever they contain.
    let data = client.create(4096);
    let mut right = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut right, 0, create.ctx_id), errno(Errno::IO));
    client.exec(&mut right, 0, 0).unwrap();
    // Another context is not banned, and a recoverable context continues after a fault.
    let wrong = client.store_batch(0x50_0000, 1);
    assert_eq!(client.exec(&mut [pinned(wrong, 0x40_0000)], 0, 0), errno(Errno::IO));
    client.exec(&mut right, 0, 0).unwrap();
    let directory = &client.device.config.errors;
    let mine = format!(".{}.1.txt", std::process::id());
    let state = std::fs::read_dir(directory)
        .unwrap()
        .flatten()
        .find(|file| file.file_name().to_string_lossy().ends_with(&mine));
    let path = state.unwrap().path();
    let mut dump = genxml::dump::Dump::open(&path, &Default::default()).unwrap();
    // The ring in the error state leads to the batch, whose contents the error state also has.
    let mut found = 0;
    dump.submissions(&mut |submission| {
        let memory = submission.memory.tail(0x20_0000);
        found += u32::from(memory.starts_with(&store(0x30_0000, 1)));
        Ok(())
    })
    .unwrap();
    assert_eq!(found, 1);
}

/// An object stays bound after its submission: later submissions in the same address space can use
/// it without listing it, on every engine. Oracle: Linux's i915_vma, which is unbound only if the
/// object is closed or moved, or if another object needs the addresses.
#[test]
fn unlisted_objects_stay_bound() {
    const DATA: u64 = 0x30_0000;
    let mut client = Client::open(RENDER);
    let data = client.create(8192);
    let first = client.store_batch(DATA, 1);
    client.exec(&mut [pinned(data, DATA), pinned(first, 0x20_0000)], 0, 0).unwrap();
    for (value, flags) in [(2, 0), (3, exec::BLT), (4, 0)] {
        let batch = client.store_batch(DATA + 4096, value);
        client.exec(&mut [pinned(batch, 0x20_0000)], flags, 0).unwrap();
        assert_eq!(client.read::<4>(data, 4096), (value as u32).to_le_bytes());
    }
    // Another context has an address space of its own.
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let other = client.store_batch(DATA + 4096, 5);
    let mut alone = [pinned(other, 0x21_0000)];
    assert_eq!(client.exec(&mut alone, 0, create.ctx_id), errno(Errno::IO));

    // An object that overlaps the second page unbinds the old object, also its first page.
    let new = client.create(4096);
    let mut both = [pinned(new, DATA + 4096), pinned(other, 0x21_0000)];
    client.exec(&mut both, 0, 0).unwrap();
    assert_eq!(client.read::<4>(new, 0), 5u32.to_le_bytes());
    assert_eq!(client.read::<4>(data, 4096), 4u32.to_le_bytes());
    assert_eq!(client.exec(&mut [pinned(first, 0x20_0000)], 0, 0), errno(Errno::IO));

    // An object that is bound at another address is no longer at the old one.
    client.exec(&mut [pinned(new, DATA + 8192), pinned(first, 0x20_0000)], 0, 0).unwrap_err();
    let late = client.store_batch(DATA + 4096, 6);
    assert_eq!(client.exec(&mut [pinned(late, 0x22_0000)], 0, 0), errno(Errno::IO));
    let moved = client.store_batch(DATA + 8192, 7);
    client.exec(&mut [pinned(moved, 0x23_0000)], 0, 0).unwrap();
    assert_eq!(client.read::<4>(new, 0), 7u32.to_le_bytes());

    // A closed object is unbound.
    let mut close = drm::GemClose { handle: new, pad: 0 };
    client.core(drm::nr::GEM_CLOSE, &mut close).unwrap();
    assert_eq!(client.exec(&mut [pinned(moved, 0x23_0000)], 0, 0), errno(Errno::IO));
}

/// Objects whose addresses the device chose stay bound, too, and get no address where a pinned
/// object is bound.
#[test]
fn unlisted_objects_keep_assigned_addresses() {
    let mut client = Client::open(RENDER);
    let data = client.create(4096);
    let nothing = client.create(4096);
    client
        .write(nothing, 0, &bytemuck::cast::<_, [u8; 8]>([MiBatchBufferEnd::new().pack()[0], 0]))
        .unwrap();
    let free = |handle| ExecObject2 { handle, ..Default::default() };
    let mut objects = [free(data), free(nothing)];
    client.exec(&mut objects, 0, 0).unwrap();
    let address = objects[0].offset;
    let beside = client.create(4096);
    let next = objects[1].offset + 4096;
    client.exec(&mut [pinned(beside, next), free(nothing)], 0, 0).unwrap();
    let batch = client.store_batch(address, 9);
    let mut alone = [free(batch)];
    client.exec(&mut alone, 0, 0).unwrap();
    assert_eq!(client.read::<4>(data, 0), 9u32.to_le_bytes());
    assert_eq!(alone[0].offset, next + 4096);
}

/// A capture contains the objects that a submission uses without listing them.
#[test]
fn captures_have_unlisted_objects() {
    let directory = std::env::temp_dir().join(format!("genx-shim-unlisted-{}", std::process::id()));
    let mut client =
        Client::with(RENDER, Config { capture: Some(directory.clone()), ..Config::default() });
    let data = client.create(4096);
    let first = client.store_batch(0x30_0010, 1);
    client.exec(&mut [pinned(data, 0x30_0000), pinned(first, 0x20_0000)], 0, 0).unwrap();
    let second = client.store_batch(0x30_0020, 2);
    client.exec(&mut [pinned(second, 0x21_0000)], 0, 0).unwrap();
    client.device.finish();
    let inside = std::fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let capture = genxml::capture::Capture::open(&inside).unwrap();
    let mut replay = genxml_sim::replay::Replay::new(&capture);
    while let Some(step) = replay.step() {
        if let genxml_sim::replay::Step::Exec { result, .. } = step {
            result.unwrap();
        }
    }
    let last = capture.execs().last().unwrap();
    let object = last.objects.iter().find(|object| object.address == 0x30_0000).unwrap().object;
    let bytes = replay.bytes(object);
    assert_eq!((bytes[0x10], bytes[0x20]), (1, 2));
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Invalid arguments. Oracle: Linux's i915_gem_execbuffer.c, drm_syncobj.c, drm_framebuffer.c.
#[test]
fn refusals() {
    let mut client = Client::open(PRIMARY);
    let batch = client.store_batch(0x40_0000, 1);
    let data = client.create(4096);
    let mut objects = [pinned(data, 0x40_0000), pinned(batch, 0x20_0000)];
    assert_eq!(client.exec(&mut objects, exec::SECURE, 0), errno(Errno::PERM));

    let mut sync = drm::Syncobj { flags: drm::SYNCOBJ_CREATE_SIGNALED, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let handles = std::ptr::from_ref(&sync.handle) as u64;
    let mut wait =
        drm::SyncobjWait { handles, count_handles: 1, flags: 1 << 30, ..Default::default() };
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::INVAL));
    let mut wait = drm::SyncobjTimelineWait {
        handles,
        count_handles: 1,
        flags: 1 << 30,
        ..Default::default()
    };
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::INVAL));
    for (flags, error) in [(0, Errno::INVAL), (drm::SYNCOBJ_SYNC_FILE, Errno::NOENT)] {
        let mut export = drm::SyncobjHandle { handle: 99, flags, ..Default::default() };
        assert_eq!(client.core(drm::nr::SYNCOBJ_HANDLE_TO_FD, &mut export), errno(error));
    }

    // A wrong engine map leaves the context unchanged.
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let mut engines = i915::ContextParam {
        ctx_id: create.ctx_id,
        param: i915::context_param::ENGINES,
        size: 8,
        value: 16,
    };
    assert_eq!(client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut engines), errno(Errno::FAULT));
    client.exec(&mut objects, exec::BLT, create.ctx_id).unwrap();

    let handle = client.create(64 * 64 * 4);
    let mut fb = mode::FbCmd {
        width: 64,
        height: 64,
        pitch: 252,
        bpp: 32,
        depth: 24,
        handle,
        ..Default::default()
    };
    assert_eq!(client.core(mode::nr::ADDFB, &mut fb), errno(Errno::INVAL));
    fb.pitch = 256;
    client.core(mode::nr::ADDFB, &mut fb).unwrap();
    let (first, other) = (client.id, Id::new());
    client.device.open(other, PRIMARY, None);
    client.id = other;
    let mut remove = mode::FbId { fb_id: fb.fb_id };
    assert_eq!(client.core(mode::nr::RMFB, &mut remove), errno(Errno::NOENT));
    client.id = first;
    client.core(mode::nr::RMFB, &mut remove).unwrap();
}

/// A replay of the capture repeats the submissions and what the client wrote between them.
#[test]
fn captures() {
    let directory = std::env::temp_dir().join(format!("genx-shim-capture-{}", std::process::id()));
    let mut client = Client::with(
        RENDER,
        Config { capture: Some(directory.clone()), check: true, ..Config::default() },
    );
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0010, 0x99);
    let mut objects = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    client.exec(&mut objects, 0, 0).unwrap();
    client.write(data, 256, &[5]).unwrap();
    client.exec(&mut objects, 0, 0).unwrap();
    client.device.finish();
    let inside = std::fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let capture = genxml::capture::Capture::open(&inside).unwrap();
    let mut replay = genxml_sim::replay::Replay::new(&capture);
    while replay.step().is_some() {}
    let second = capture.execs().nth(1).unwrap();
    let writes = &second.objects.iter().find(|object| object.address == 0x30_0000).unwrap().writes;
    assert_eq!((writes.len(), writes[0].offset), (1, 256));
    let object = second.objects.iter().find(|object| object.address == 0x30_0000).unwrap().object;
    let bytes = replay.bytes(object);
    assert_eq!((bytes[0x10], bytes[256]), (0x99, 5));
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Oracle: eb_relocate_vma (Linux i915_gem_execbuffer.c): a list may have up to 2 GiB - 1 bytes.
#[test]
fn long_lists_of_relocations() {
    const LIST: usize = 300 << 20;
    let mut client = Client::open(RENDER);
    let batch = client.create(4096);
    client.write(batch, 0, bytemuck::cast_slice(&MiBatchBufferEnd::new().pack())).unwrap();
    // Zeros are relocations with index 0, whose presumed address 0 is right. The pages are only
    // read, so they take no memory.
    // SAFETY: without an address the kernel maps pages where nothing is mapped. The page after the
    // list stays inaccessible.
    let list = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let list = libc::mmap(std::ptr::null_mut(), LIST + 4096, libc::PROT_NONE, flags, -1, 0);
        assert_ne!(list, libc::MAP_FAILED);
        assert_eq!(libc::mprotect(list, LIST, libc::PROT_READ), 0);
        list
    };
    let mut exec = |bytes: usize| {
        let relocation_count = (bytes / size_of::<i915::Relocation>()) as u32;
        let entry = ExecObject2 { relocation_count, relocs_ptr: list as u64, ..pinned(batch, 0) };
        client.exec(&mut [entry], exec::HANDLE_LUT, 0)
    };
    assert_eq!(exec(LIST), Ok(()));
    assert_eq!(exec(LIST + 4096), errno(Errno::FAULT));
    assert_eq!(exec(2 << 30), errno(Errno::INVAL));
    assert_eq!(exec((2 << 30) - 32), errno(Errno::FAULT));
    // SAFETY: the pages were mapped above, and nothing refers to them.
    assert_eq!(unsafe { libc::munmap(list, LIST + 4096) }, 0);
}

/// A list of objects that is too long for the kernel to allocate is refused. Oracle: Linux
/// i915_gem_execbuffer.c, check_buffer_count and its kvmalloc_array.
#[test]
fn too_many_objects() {
    let mut client = Client::open(RENDER);
    let mut exec =
        ExecBuffer2 { buffer_count: u32::MAX >> 1, buffers_ptr: 4096, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::NOMEM));
}

/// Oracle: IGT's gem_vm_create@execbuf. Another address space has free addresses again.
#[test]
fn offsets_are_wishes() {
    let mut client = Client::open(RENDER);
    let batch = client.create(4096);
    client.write(batch, 0, bytemuck::cast_slice(&MiBatchBufferEnd::new().pack())).unwrap();
    let other = client.create(4096);
    let mut entry = ExecObject2 { handle: batch, offset: 48 << 20, ..Default::default() };
    client.exec(std::slice::from_mut(&mut entry), 0, 0).unwrap();
    assert_eq!(entry.offset, 48 << 20);
    let mut both = [ExecObject2 { handle: other, ..entry }, entry];
    client.exec(&mut both, 0, 0).unwrap();
    assert_ne!(both[0].offset, 48 << 20);
    assert_eq!(both[1].offset, 48 << 20);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    both = [ExecObject2 { handle: other, ..entry }, entry];
    client.exec(&mut both, 0, create.ctx_id).unwrap();
    assert_eq!(both[0].offset, 48 << 20);
}

/// Oracle: eb_validate_vma and eb_vma_misplaced (Linux i915_gem_execbuffer.c), i915_vma_insert
/// (i915_vma.c): an object with PAD_TO_SIZE takes at least that many addresses.
#[test]
fn padded_objects() {
    let mut client = Client::open(RENDER);
    let padded = client.create(4096);
    let batch = client.store_batch(0x20_0000, 1);
    let mut list = [pinned(padded, 0x20_0000), pinned(batch, 0x20_2000)];
    list[0].flags |= object::PAD_TO_SIZE;
    for (pad_to_size, outcome) in [
        (0x2000, Ok(())),
        (0x3000, errno(Errno::NOSPC)),
        (0x2001, errno(Errno::INVAL)),
        (!0xfff, errno(Errno::NOSPC)),
    ] {
        list[0].pad_to_size = pad_to_size;
        assert_eq!(client.exec(&mut list, 0, 0), outcome, "{pad_to_size:#x}");
    }
}
