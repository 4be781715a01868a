use super::*;

/// Existing files and links are not changed.
#[test]
fn new_files() {
    let directory =
        std::env::temp_dir().join(format!("genx-shim-new-files-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("kept"), b"kept").unwrap();
    std::os::unix::fs::symlink("kept", directory.join("state.1.txt")).unwrap();
    std::os::unix::fs::symlink("nowhere", directory.join("state.2.txt")).unwrap();
    let (_, path) = create(&directory, "state", 1).unwrap();
    assert_eq!(path, directory.join("state.3.txt"));
    trace_file(&directory.join("kept"), "other.1").unwrap();
    assert!(directory.join("kept.other.1").exists());
    assert_eq!(std::fs::read(directory.join("kept")).unwrap(), b"kept");
    assert!(!directory.join("nowhere").exists());
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn differences() {
    let then = [0u8; 256];
    let mut now = [0u8; 300];
    now[70] = 1;
    now[130] = 1;
    now[299] = 1;
    let parts: Vec<(u64, usize)> =
        changes(&then, 0..300, |at, out| out.copy_from_slice(&now[at..at + out.len()]))
            .iter()
            .map(|(at, part)| (*at, part.len()))
            .collect();
    assert_eq!(parts, [(64, 128), (256, 44)]);
    // A change that spans several pieces is one change.
    let ones = vec![1; 200_000];
    let all =
        changes(&then, 100..200_000, |at, out| out.copy_from_slice(&ones[at..at + out.len()]));
    assert_eq!((all.len(), all[0].0, &all[0].1[..]), (1, 100, &ones[100..]));
}
