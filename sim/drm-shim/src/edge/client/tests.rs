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
