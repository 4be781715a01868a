//! Objects: memory, mappings, the client's pages, tiling.

use super::*;

/// Access to a wrong address is an error.
#[test]
fn wrong_addresses() {
    let mut bytes = [1u8, 2, 3, 4];
    let address = bytes.as_mut_ptr() as u64;
    assert_eq!(PROCESS.value::<u32>(address), Ok(u32::from_ne_bytes(bytes)));
    PROCESS.put(address, &9u32).unwrap();
    assert_eq!(PROCESS.value::<u32>(address), Ok(9));
    for wrong in [0, 4, u64::MAX, 1 << 47] {
        assert_eq!(PROCESS.value::<u32>(wrong), Err(Errno::FAULT), "{wrong:#x}");
        assert_eq!(PROCESS.put(wrong, &1u32), Err(Errno::FAULT), "{wrong:#x}");
    }
    assert_eq!(PROCESS.array::<u64>(address, u64::MAX), Err(Errno::NOMEM));
    assert_eq!(PROCESS.array::<u64>(0, 1 << 20), Err(Errno::FAULT));
}

#[test]
fn objects() {
    let mut client = Client::open(RENDER);
    let mut create = i915::GemCreate { size: 5000, ..Default::default() };
    client.i915(i915::nr::GEM_CREATE, &mut create).unwrap();
    assert_eq!((create.size, create.handle), (8192, 1));
    assert_eq!(client.read::<8>(1, 4996), [0; 8]);
    client.write(1, 8190, &[1, 2]).unwrap();
    assert_eq!(client.write(1, 8191, &[1, 2]), errno(Errno::INVAL));
    assert_eq!(client.write(2, 0, &[1, 2]), errno(Errno::NOENT));

    let mut map = i915::GemMmapOffset { handle: 1, flags: 2, ..Default::default() };
    client.i915(i915::nr::GEM_MMAP_OFFSET, &mut map).unwrap();
    let host::Mappable { file, offset, .. } =
        client.device.mapping(client.id, map.offset, 8192).unwrap();
    let pages = PROCESS.import(file, offset, 8192).unwrap();
    assert_eq!(bytes(&*pages, 8190), [1, 2]);
    assert!(client.device.mapping(client.id, map.offset + 4096, 8192).is_err());
    assert!(client.device.mapping(client.id, 77 << 36, 4096).is_err());

    for size in [0, u64::MAX, gem::MAX_SIZE + 1] {
        let mut create = i915::GemCreate { size, ..Default::default() };
        assert_eq!(
            client.i915(i915::nr::GEM_CREATE, &mut create),
            errno(Errno::INVAL),
            "{size:#x}"
        );
    }
    // Oracle: i915_gem_object_size_2big (Linux i915_gem_object.h): the number of pages must fit a
    // signed 32-bit number.
    for (size, error) in [(1 << 43, Errno::TOOBIG), ((1 << 43) - 4096, Errno::INVAL)] {
        let mut create = i915::GemCreate { size, ..Default::default() };
        assert_eq!(client.i915(i915::nr::GEM_CREATE, &mut create), errno(error), "{size:#x}");
    }
    let mut close = drm::GemClose { handle: 1, pad: 0 };
    client.core(drm::nr::GEM_CLOSE, &mut close).unwrap();
    assert_eq!(client.core(drm::nr::GEM_CLOSE, &mut close), errno(Errno::INVAL));
    assert!(client.device.objects.is_empty());
    assert_eq!(client.core(0x90, &mut close), errno(Errno::INVAL));
    assert_eq!(
        client.device.ioctl(client.id, Request::of::<drm::GemClose>(9), 16, 0),
        errno(Errno::FAULT)
    );
}

/// Oracle: i915_user_extensions (Linux i915_user_extensions.c): a chain that cannot be read is
/// EFAULT; GEM_MMAP_OFFSET has no extensions, so any other chain is EINVAL.
#[test]
fn extensions_of_mappings() {
    let mut client = Client::open(RENDER);
    let handle = client.create(4096);
    let unknown = crate::uapi::Extension { name: u32::MAX, ..Default::default() };
    let known = std::ptr::from_ref(&unknown) as u64;
    for (extensions, error) in [(u64::MAX, Errno::FAULT), (known, Errno::INVAL)] {
        let mut map = i915::GemMmapOffset { handle, flags: 2, extensions, ..Default::default() };
        assert_eq!(client.i915(i915::nr::GEM_MMAP_OFFSET, &mut map), errno(error));
    }
}

/// Oracle: set_placements (Linux i915_gem_create.c): the list of regions must name existing
/// regions, each once.
#[test]
fn memory_regions_of_objects() {
    let mut client = Client::open(RENDER);
    let right = [i915::MemoryRegion { class: 0, instance: 0 }];
    let wrong = [i915::MemoryRegion { class: 1, instance: 0 }];
    let twice = [right[0]; 2];
    let mut create = |regions: &[i915::MemoryRegion], num_regions, pad| {
        let list = i915::CreateExtMemoryRegions {
            num_regions,
            pad,
            regions: regions.as_ptr() as u64,
            ..Default::default()
        };
        let extensions = std::ptr::from_ref(&list) as u64;
        let mut create = i915::GemCreateExt { size: 4096, extensions, ..Default::default() };
        client.i915(i915::nr::GEM_CREATE_EXT, &mut create)
    };
    assert_eq!(create(&right, 1, 0), Ok(()));
    for (regions, number, pad) in
        [(&right[..], 0, 0), (&right, 1, 1), (&right, u32::MAX, 0), (&wrong, 1, 0), (&twice, 2, 0)]
    {
        assert_eq!(create(regions, number, pad), errno(Errno::INVAL), "{regions:?} {number} {pad}");
    }
    let mut chain = i915::CreateExtMemoryRegions {
        num_regions: 1,
        regions: right.as_ptr() as u64,
        ..Default::default()
    };
    let second = chain;
    chain.base.next = std::ptr::from_ref(&second) as u64;
    let extensions = std::ptr::from_ref(&chain) as u64;
    let mut create = i915::GemCreateExt { size: 4096, extensions, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_CREATE_EXT, &mut create), errno(Errno::INVAL));
}

/// If there is no memory for an object, but pending work uses freed objects, the ioctl waits.
#[test]
fn memory_of_freed_objects() {
    let mut client = asynchronous();
    let create = |client: &mut Client, size| {
        let mut create = i915::GemCreate { size, ..Default::default() };
        client.i915(i915::nr::GEM_CREATE, &mut create).map(|()| create.handle)
    };
    let batch = client.store_batch(0x20_0800, 1);
    let freed = client.create(4096);
    let mut size = gem::MAX_SIZE;
    while size >= 4096 {
        while create(&mut client, size).is_ok() {}
        size /= 2;
    }
    assert_eq!(create(&mut client, 4096), errno(Errno::NOMEM));
    let (gate, opens) = Client::gate();
    client.exec_after(&gate, &mut [pinned(freed, 0x30_0000), pinned(batch, 0x20_0000)]);
    client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle: freed, pad: 0 }).unwrap();
    assert_eq!(create(&mut client, 4096), Err(Stop::Wait(FOREVER)));
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(batch, -1).0, Ok(()));
    assert!(create(&mut client, 4096).is_ok());
}

/// A mapping has its memory after the object's last handle was closed. Oracle: mmap(2) and
/// drm_gem_vm_open (Linux drm_gem.c): a mapping refers to the object.
#[test]
fn closed_but_mapped() {
    let mut client = Client::open(RENDER);
    let [first, second] = [(); 2].map(|()| client.create(8192));
    client.write(first, 4096, b"first").unwrap();
    client.write(second, 4096, b"second").unwrap();
    let mut offset = i915::GemMmapOffset { handle: first, flags: 2, ..Default::default() };
    client.i915(i915::nr::GEM_MMAP_OFFSET, &mut offset).unwrap();
    let memory = client.device.mapping(client.id, offset.offset, 8192).unwrap();
    let file = memory.file.try_clone().unwrap();
    let pages = PROCESS.import(file, memory.offset, 8192).unwrap();
    let mut map = i915::GemMmap { handle: second, size: 8192, ..Default::default() };
    client.i915(i915::nr::GEM_MMAP, &mut map).unwrap();
    for handle in [first, second] {
        client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    }
    assert!(client.device.objects.is_empty());
    assert_eq!(&bytes(&*pages, 4096), b"first");
    assert_eq!(PROCESS.value::<[u8; 6]>(map.addr_ptr + 4096), Ok(*b"second"));
    PROCESS.put(map.addr_ptr, b"more").unwrap();
    assert_eq!(PROCESS.value::<[u8; 4]>(map.addr_ptr), Ok(*b"more"));
    // Without the mapping the memory is free: it consists of zeros.
    drop(memory);
    assert_eq!(bytes(&*pages, 4096), [0; 5]);
}

#[test]
fn user_pages() {
    const DATA: u64 = 0x7fff_0000_0000;
    let mut client = Client::open(RENDER);
    let mut memory = vec![0u8; 3 * 4096];
    let start = (memory.as_mut_ptr() as u64).next_multiple_of(4096);
    let mut userptr = i915::GemUserptr { user_ptr: start, user_size: 4096, ..Default::default() };
    client.i915(i915::nr::GEM_USERPTR, &mut userptr).unwrap();
    let batch = client.store_batch(DATA, 0x5566);
    client.exec(&mut [pinned(userptr.handle, DATA), pinned(batch, 0x20_0000)], 0, 0).unwrap();
    let stored: u32 = PROCESS.value(start).unwrap();
    assert_eq!(stored, 0x5566);

    userptr.flags = i915::USERPTR_READ_ONLY;
    client.i915(i915::nr::GEM_USERPTR, &mut userptr).unwrap();
    let outcome = client.exec(&mut [pinned(userptr.handle, DATA), pinned(batch, 0x20_0000)], 0, 0);
    assert_eq!(outcome, errno(Errno::IO));

    let mut odd = i915::GemUserptr { user_ptr: start + 8, user_size: 4096, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_USERPTR, &mut odd), errno(Errno::INVAL));
    let flags = i915::USERPTR_PROBE;
    let mut nowhere =
        i915::GemUserptr { user_ptr: 4096, user_size: 4096, flags, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_USERPTR, &mut nowhere), errno(Errno::FAULT));
    nowhere.flags = 0;
    client.i915(i915::nr::GEM_USERPTR, &mut nowhere).unwrap();
    let mut domain =
        i915::GemSetDomain { handle: nowhere.handle, read_domains: 1, write_domain: 0 };
    assert_eq!(client.i915(i915::nr::GEM_SET_DOMAIN, &mut domain), errno(Errno::FAULT));
    let outcome = client.exec(&mut [pinned(nowhere.handle, DATA), pinned(batch, 0x20_0000)], 0, 0);
    assert_eq!(outcome, errno(Errno::FAULT));
}

/// Oracle: an X tile is 8 rows of 512 bytes.
#[test]
fn aperture() {
    let mut client = Client::open(RENDER);
    let handle = client.create(2 * 4096);
    let mut tiling = i915::GemSetTiling { handle, tiling_mode: 1, stride: 1024, swizzle_mode: 9 };
    client.i915(i915::nr::GEM_SET_TILING, &mut tiling).unwrap();
    assert_eq!(tiling.swizzle_mode, 0);
    // Row 1, byte 512 of the view: row 1 of the second tile.
    client.write(handle, 4096 + 512, b"here").unwrap();
    let mut map =
        i915::GemMmapOffset { handle, flags: i915::MMAP_OFFSET_GTT, ..Default::default() };
    client.i915(i915::nr::GEM_MMAP_OFFSET, &mut map).unwrap();
    let host::Mappable { file, offset, .. } =
        client.device.mapping(client.id, map.offset, 8192).unwrap();
    let pages = PROCESS.import(file, offset, 8192).unwrap();
    assert_eq!(&bytes(&*pages, 1024 + 512), b"here");
    pages.write(1024 + 512, b"there").unwrap();
    client.i915(i915::nr::GEM_SW_FINISH, &mut i915::GemSwFinish { handle }).unwrap();
    assert_eq!(&client.read::<5>(handle, 4096 + 512), b"there");
    client.write(handle, 4096, b"row 0").unwrap();
    let domain = i915::DOMAIN_GTT;
    let mut domains = i915::GemSetDomain { handle, read_domains: domain, write_domain: 0 };
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domains).unwrap();
    assert_eq!(&bytes(&*pages, 512), b"row 0");
    // A write to the view reaches the object, even after two requests for the domain. A PWRITE to
    // the object reaches the view.
    pages.write(1024, b"row 1").unwrap();
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domains).unwrap();
    pages.write(1024 + 3, b"!!").unwrap();
    client.write(handle, 4096, b"ROW").unwrap();
    assert_eq!(&client.read::<5>(handle, 512), b"row!!");
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domains).unwrap();
    assert_eq!((&bytes(&*pages, 1024), &bytes(&*pages, 512)), (b"row!!", b"ROW 0"));
    // A client can write through a direct mapping without an ioctl. The next request must then
    // copy the object again.
    map.flags = i915::MMAP_OFFSET_UC;
    client.i915(i915::nr::GEM_MMAP_OFFSET, &mut map).unwrap();
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domains).unwrap();
    let host::Mappable { file, offset, .. } =
        client.device.mapping(client.id, map.offset, 8192).unwrap();
    let direct = PROCESS.import(file, offset, 8192).unwrap();
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domains).unwrap();
    direct.write(4096, b"here").unwrap();
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domains).unwrap();
    assert_eq!(&bytes(&*pages, 512), b"here0");
    tiling.stride = 100;
    assert_eq!(client.i915(i915::nr::GEM_SET_TILING, &mut tiling), errno(Errno::INVAL));
}

/// Oracle: IGT's gem_madvise, and Linux i915_gem.c and i915_gem_pages.c. An object that the GPU has
/// used keeps its pages until memory runs short.
#[test]
fn purged_objects() {
    let mut client = Client::open(RENDER);
    let advise = |client: &mut Client, handle, madv| {
        let mut advise = i915::GemMadvise { handle, madv, retained: 9 };
        client.i915(i915::nr::GEM_MADVISE, &mut advise).map(|()| advise.retained)
    };
    let unused = client.create(4096);
    client.write(unused, 0, &store(0x20_0000, 1)).unwrap();
    assert_eq!(advise(&mut client, unused, 0), Ok(1));
    assert_eq!(advise(&mut client, unused, 2), errno(Errno::INVAL));
    assert_eq!(advise(&mut client, 99, 2), errno(Errno::INVAL));
    assert_eq!(advise(&mut client, 99, 1), errno(Errno::NOENT));
    for madv in [1, 0] {
        // The contents do not come back.
        assert_eq!(advise(&mut client, unused, madv), Ok(0));
        assert_eq!(client.write(unused, 0, &[1]), errno(Errno::FAULT));
        let mut byte = [0u8];
        let data_ptr = byte.as_mut_ptr() as u64;
        let mut read =
            i915::GemTransfer { handle: unused, size: 1, data_ptr, ..Default::default() };
        assert_eq!(client.i915(i915::nr::GEM_PREAD, &mut read), errno(Errno::FAULT));
        let mut domain = i915::GemSetDomain { handle: unused, read_domains: 1, write_domain: 0 };
        assert_eq!(client.i915(i915::nr::GEM_SET_DOMAIN, &mut domain), errno(Errno::FAULT));
        assert_eq!(client.exec(&mut [pinned(unused, 0x10_0000)], 0, 0), errno(Errno::FAULT));
    }
    let used = client.store_batch(0x20_0800, 1);
    client.exec(&mut [pinned(used, 0x20_0000)], 0, 0).unwrap();
    assert_eq!(advise(&mut client, used, 1), Ok(1));
    client.write(used, 0x800, &[7]).unwrap();
    assert_eq!(advise(&mut client, used, 0), Ok(1));
    assert_eq!(client.read(used, 0x800), [7, 0, 0, 0]);
}

/// Oracle: i915_gem_tiling.c: SET_TILING returns EBUSY if it changes an object with a frame buffer.
#[test]
fn tiling_of_displayed_objects() {
    let mut client = Client::open(PRIMARY);
    let handle = client.create(4096 * 1024);
    let set = |client: &mut Client, tiling_mode, stride| {
        let mut tiling = i915::GemSetTiling { handle, tiling_mode, stride, swizzle_mode: 0 };
        client.i915(i915::nr::GEM_SET_TILING, &mut tiling)
    };
    set(&mut client, 1, 4096).unwrap();
    let mut fb = mode::FbCmd2 {
        width: 512,
        height: 512,
        pixel_format: u32::from_le_bytes(*b"XR24"),
        handles: [handle, 0, 0, 0],
        pitches: [4096, 0, 0, 0],
        ..Default::default()
    };
    client.core(mode::nr::ADDFB2, &mut fb).unwrap();
    for (tiling, stride) in [(1, 2048), (2, 4096), (0, 0)] {
        assert_eq!(set(&mut client, tiling, stride), errno(Errno::BUSY), "{tiling} {stride}");
    }
    set(&mut client, 1, 4096).unwrap();
    client.core(mode::nr::RMFB, &mut mode::FbId { fb_id: fb.fb_id }).unwrap();
    set(&mut client, 2, 4096).unwrap();
}
