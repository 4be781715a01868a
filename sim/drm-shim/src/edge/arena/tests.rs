use super::*;
use crate::device::host::Arena as _;

/// An allocated range consists of zeros and is shared with other mappings of the file. When the
/// last reference to it is dropped, the range consists of zeros again and is free.
#[test]
fn ranges() {
    let arena = Arena::new().unwrap();
    let first = arena.allocate(5000).unwrap();
    let second = arena.allocate(1).unwrap();
    assert_eq!((first.file().1, first.size(), second.file().1), (0, 8192, 8192));
    let mut bytes = [1; 8192];
    first.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 8192]);
    // The host may populate large pages of an untouched range, but never the whole range.
    let large = arena.allocate(64 << 20).unwrap();
    let populated = large.populated();
    assert!(populated.iter().map(|part| part.end - part.start).sum::<u64>() < 64 << 20);
    first.write(4097, &[7]).unwrap();
    let other = import(rustix::io::dup(first.file().0).unwrap(), 0, 8192).unwrap();
    let seen = || {
        let mut bytes = [0xee; 2];
        other.read(4096, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(seen(), [0, 7]);
    assert!(first.populated().iter().any(|part| part.contains(&4097)));
    let mut bytes = [0; 2];
    first.write(8190, &bytes).unwrap();
    assert_eq!(first.write(8191, &bytes), Err(Errno::INVAL));
    assert_eq!(first.read(u64::MAX, &mut bytes), Err(Errno::INVAL));
    let copy = first.clone();
    drop(first);
    assert_eq!(seen(), [0, 7]);
    drop(copy);
    assert_eq!(seen(), [0, 0]);
    drop((second, large));
    assert_eq!(arena.free.lock().unwrap().ranges.len(), 1);
}
