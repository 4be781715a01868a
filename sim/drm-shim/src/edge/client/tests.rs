use super::*;

#[test]
fn pinned_pages() {
    const AT: u64 = 0x7000_0000_0000;
    let own = Pinned::new(AT, 8192, true);
    let within = Pinned::new(AT + 4096, 4096, true);
    for (address, bytes, expected) in
        [(AT, 1, true), (AT + 8191, 1, true), (AT - 4096, 4096, false), (AT + 8192, 4096, false)]
    {
        assert_eq!((is_pinned(address, bytes), own.overlaps(address, bytes)), (expected, expected));
    }
    drop(own);
    assert!(!is_pinned(AT, 4096) && is_pinned(AT, 8192));
    drop(within);
    assert!(!is_pinned(AT, 8192));
}

/// Only a block that has a whole page of a range unpins it. Only a submission that lists the object
/// pins it again: a check of all bound objects does not.
#[test]
fn blocks_of_the_heap() {
    const AT: u64 = 0x7000_0100_0000;
    let own = Pinned::new(AT, 0x4000, false);
    for (address, bytes) in [(AT - 0x2000, 0x2ff0), (AT + 0x3010, 0x8000), (AT + 16, 4096 - 16)] {
        assert!(!give_back(address, bytes) && is_pinned(AT, 1), "{address:#x} {bytes:#x}");
    }
    assert!(give_back(AT + 0x1010, 0x2000));
    assert!(!is_pinned(AT, 0x4000) && !give_back(AT, 0x4000));
    own.is_accessible();
    assert!(!give_back(AT, 0x4000));
    own.pin();
    assert!(give_back(AT, 0x4000));
}

/// Oracle: copy_from_user and copy_to_user of Linux on x86, where a page that can be written can be
/// read, too.
#[test]
fn protected_memory() {
    let both = libc::PROT_READ | libc::PROT_WRITE;
    for (protection, reads, writes) in [
        (libc::PROT_NONE, false, false),
        (libc::PROT_READ, true, false),
        (libc::PROT_WRITE, cfg!(target_arch = "x86_64"), true),
        (both, true, true),
    ] {
        // SAFETY: without an address the kernel maps pages where nothing is mapped. The second page
        // is unmapped again. No reference to the pages exists.
        let at = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let at = libc::mmap(std::ptr::null_mut(), 8192, both, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            at.cast::<u8>().add(4000).write(7);
            assert_eq!(libc::munmap(at.wrapping_byte_add(4096), 4096), 0);
            assert_eq!(libc::mprotect(at, 4096, protection), 0);
            at as u64
        };
        let mut byte = [0];
        let result = |works: bool| if works { Ok(()) } else { Err(Errno::FAULT) };
        assert_eq!(read(at + 4000, &mut byte), result(reads), "{protection}");
        assert_eq!(byte, [if reads { 7 } else { 0 }]);
        assert_eq!(write(at, &[1]), result(writes), "{protection}");
        // Ranges with an unmapped page.
        assert_eq!(read(at + 4000, &mut [0; 200]), Err(Errno::FAULT));
        assert_eq!(write(at + 4000, &[0; 200]), Err(Errno::FAULT));
        assert_eq!(read(at + 4096, &mut byte), Err(Errno::FAULT));
        // SAFETY: the page was mapped above, and nothing refers to it.
        assert_eq!(unsafe { libc::munmap(at as *mut libc::c_void, 4096) }, 0);
    }
    assert_eq!(read(8, &mut [0; 8]), Err(Errno::FAULT));
    assert_eq!(read(u64::MAX - 4, &mut [0; 8]), Err(Errno::FAULT));
    assert_eq!(read(1 << 63, &mut [0; 8]), Err(Errno::FAULT));
}
