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

/// A capture that cannot be written is not reported as written.
#[test]
fn captures_that_cannot_be_written() {
    let file = std::env::temp_dir().join(format!("genx-shim-plain-{}", std::process::id()));
    std::fs::write(&file, b"kept").unwrap();
    let mut reporter = Reporter::new(&Config { capture: Some(file.clone()), ..Config::default() });
    assert_eq!(reporter.save(), None, "no submission");
    reporter.submissions = 1;
    assert_eq!(reporter.save(), None, "a file is where the directory should be");
    std::fs::remove_file(&file).unwrap();
    let directory = reporter.save().expect("written").to_owned();
    assert!(directory.starts_with(&file) && directory.join("manifest.json").is_file());
    assert_eq!(std::fs::read_dir(&file).unwrap().count(), 1);
    std::fs::remove_dir_all(&file).unwrap();
}
