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
