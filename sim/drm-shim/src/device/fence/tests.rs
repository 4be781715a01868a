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

/// Oracle: signal(7): a handler interrupts a wait with a time limit, whatever SA_RESTART says.
#[test]
fn interrupted_waits() {
    use std::os::unix::thread::JoinHandleExt;
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing, and no other test uses this signal.
    unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
    let changes = Arc::new(Changes::default());
    let waits = {
        let changes = changes.clone();
        // A wait lasts at most a second.
        std::thread::spawn(move || (0..20).any(|_| changes.wait(0, FOREVER)))
    };
    while !waits.is_finished() {
        // SAFETY: the thread has not been joined, so its handle is valid.
        unsafe { libc::pthread_kill(waits.as_pthread_t(), libc::SIGUSR2) };
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(waits.join().unwrap(), "no wait was interrupted in 20 seconds");
    // The count is not 1 any more, so the wait returns at once, before any signal.
    assert!(!changes.wait(1, FOREVER));
}
