use super::*;

#[test]
fn descriptors() {
    let changes = Arc::new(Changes::default());
    let fence = Fence::new(None, &changes);
    let early = fence.descriptor().unwrap();
    assert!(!fence.is_signaled() && !descriptor::is_signaled(&early));
    assert_eq!(descriptor::status(&early), 0);
    let copy = fence.clone();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| fence.wait());
        copy.signal(true);
        changes.add();
        assert_eq!(waiting.join().unwrap(), Ok(()));
    });
    assert!(descriptor::is_signaled(&early));
    assert_eq!(
        (descriptor::status(&early), descriptor::status(fence.descriptor().unwrap())),
        (1, 1)
    );

    let failed = Fence::new(None, &changes);
    let early = failed.descriptor().unwrap();
    failed.signal(false);
    let late = failed.descriptor().unwrap();
    for descriptor in [early, late] {
        assert_eq!(descriptor::status(&descriptor), -Errno::IO.raw_os_error());
    }
    assert_eq!(failed.wait(), Err(Errno::IO));
    // When the last clone of a fence is dropped, its sync files signal.
    let lost = Fence::new(None, &changes);
    let descriptor = lost.descriptor().unwrap();
    drop(lost);
    assert!(descriptor::is_signaled(&descriptor));
}

/// A sync file and its fence signal at the same time: whoever has seen one finds the other.
#[test]
fn fences_and_files_agree() {
    let changes = Arc::new(Changes::default());
    for round in 0..2000 {
        let fence = Fence::new(None, &changes);
        let file = fence.descriptor().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| fence.signal(true));
            if round % 2 == 0 {
                while !fence.is_signaled() {}
                assert!(descriptor::is_signaled(&file));
            } else {
                while !descriptor::is_signaled(&file) {}
                assert!(fence.is_signaled());
            }
        });
    }
}
