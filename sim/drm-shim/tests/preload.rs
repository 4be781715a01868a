//! Tests of the library as programs use it. Each test starts itself again in a child process with
//! the library preloaded. The child uses the device through libc only.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use genxml::capture::Capture;
use genxml::core::{Address, U};
use genxml::gen8::mi::{MiBatchBufferEnd, MiStoreDataImm};
use genxml_drm_uapi::{Request, drm, i915, sync_file};
use rustix::net;
use std::ffi::CStr;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn _Exit(status: libc::c_int) -> !;
    fn quick_exit(status: libc::c_int) -> !;
    fn scandir(
        path: *const libc::c_char,
        list: *mut *mut *mut libc::dirent,
        filter: *const libc::c_void,
        compare: *const libc::c_void,
    ) -> libc::c_int;
}

/// Environment variable that is set in the child.
const CHILD: &str = "GENX_SHIM_TEST_CHILD";

/// The library, which Cargo builds into the directory of the test or its parent.
fn library() -> PathBuf {
    let directory = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let name = "libgenxml_drm_shim.so";
    let candidates = [directory.join(name), directory.parent().unwrap().join(name)];
    candidates.into_iter().find(|path| path.is_file()).expect("Cargo has not built the library")
}

/// Runs `program`, the body of the test `name`, in child processes with the library: one without
/// and one with GENX_SHIM_ASYNC.
fn preloaded(name: &str, program: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        program();
        return;
    }
    for asynchronous in ["0", "1"] {
        let status = Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env("LD_PRELOAD", library())
            .env("GENX_SHIM_THREADS", "1")
            .env("GENX_SHIM_ASYNC", asynchronous)
            .env(CHILD, "1")
            .status()
            .unwrap();
        assert!(status.success(), "{name}: {status}");
    }
}

/// Calls an ioctl.
fn ioctl<T>(file: &File, request: Request, argument: &mut T) -> std::io::Result<()> {
    // SAFETY: the argument has the size that the request says, and lives until the call returns.
    let result =
        unsafe { libc::ioctl(file.as_raw_fd(), request.0.into(), std::ptr::from_mut(argument)) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Maps an object. The GPU and child processes write the memory, so its dwords are atomic.
fn map(file: &File, length: usize, offset: u64) -> &'static [AtomicU32] {
    // SAFETY: without an address the kernel maps the file where nothing is mapped.
    let at = unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let (file, offset) = (file.as_raw_fd(), offset as i64);
        libc::mmap64(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file, offset)
    };
    assert_ne!(at, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
    // SAFETY: the mapping has this length, is aligned to a page, and is never unmapped.
    unsafe { std::slice::from_raw_parts(at.cast(), length / 4) }
}

/// Creates and maps an object. Returns its handle and its mapping.
fn object(file: &File, bytes: u64) -> (u32, &'static [AtomicU32]) {
    let mut create = i915::GemCreate { size: bytes, ..Default::default() };
    ioctl(file, Request::i915::<i915::GemCreate>(i915::nr::GEM_CREATE), &mut create).unwrap();
    let mut offset = i915::GemMmapOffset { handle: create.handle, flags: 2, ..Default::default() };
    ioctl(file, Request::i915::<i915::GemMmapOffset>(i915::nr::GEM_MMAP_OFFSET), &mut offset)
        .unwrap();
    (create.handle, map(file, bytes as usize, offset.offset))
}

fn open() -> File {
    File::options().read(true).write(true).open("/dev/dri/renderD128").unwrap()
}

/// Address of the object that batches write.
const DATA: u64 = 0x8000_0000;

/// Writes a batch that stores the numbers from 1 to `last`, one after another, all at [`DATA`] + 8.
fn stores(batch: &[AtomicU32], last: u64) {
    let mut at = 0;
    let mut put = |dwords: &[u32]| {
        for dword in dwords {
            batch[at].store(*dword, Ordering::Relaxed);
            at += 1;
        }
    };
    for value in 1..=last {
        let stored = [U::<32>::new(value).unwrap()];
        let address = Address::from_bits(DATA + 8);
        let packet =
            MiStoreDataImm { data_dword: (&stored).into(), ..MiStoreDataImm::new(address) };
        let mut dwords = [0; 8];
        let length = packet.pack_into(&mut dwords).unwrap();
        put(&dwords[..length]);
    }
    put(&MiBatchBufferEnd::new().pack());
}

/// Submits a batch with the object that it writes.
fn submit(file: &File, data: u32, batch: u32) -> std::io::Result<()> {
    let flags = i915::object::PINNED;
    let mut list = [
        i915::ExecObject2 { handle: data, offset: DATA, flags, ..Default::default() },
        i915::ExecObject2 { handle: batch, offset: 0x9000_0000, flags, ..Default::default() },
    ];
    let mut exec = i915::ExecBuffer2 {
        buffers_ptr: list.as_mut_ptr() as u64,
        buffer_count: 2,
        ..Default::default()
    };
    ioctl(file, Request::i915::<i915::ExecBuffer2>(i915::nr::GEM_EXECBUFFER2), &mut exec)
}

fn wait(file: &File, object: u32) {
    let mut wait = i915::GemWait { bo_handle: object, flags: 0, timeout_ns: -1 };
    ioctl(file, Request::i915::<i915::GemWait>(i915::nr::GEM_WAIT), &mut wait).unwrap();
}

/// Stores the numbers from 1 to `value` with the GPU, and checks that `value` is left in the mapped
/// memory.
fn compute(file: &File, value: u64) {
    let (data, numbers) = object(file, 4096);
    let (batch, commands) = object(file, 1 << 16);
    stores(commands, value);
    submit(file, data, batch).unwrap();
    wait(file, batch);
    let number = |index: usize| numbers[index].load(Ordering::Relaxed);
    assert_eq!((u64::from(number(2)), number(1)), (value, 0));
}

#[test]
fn files() {
    preloaded("files", || {
        let names: Vec<String> = std::fs::read_dir("/dev/dri")
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(names, ["by-path", "card0", "renderD128"]);
        let status = std::fs::metadata("/dev/dri/by-path/pci-0000:00:02.0-render").unwrap();
        assert!(status.file_type().is_char_device());
        assert_eq!(status.rdev(), libc::makedev(226, 128));
        let device = std::fs::read_to_string("/sys/dev/char/226:128/device/device").unwrap();
        assert_eq!(device, "0x1616\n");
        let real = std::fs::canonicalize("/sys/class/drm/card0/device").unwrap();
        assert_eq!(real, PathBuf::from("/sys/devices/pci0000:00/0000:00:02.0"));
        assert!(std::fs::metadata("/dev/dri/card7").is_err());
        // libudev checks that an open directory is on sysfs (magic.h: 0x62656572).
        let directory = File::open("/sys/class/drm/card0/device").unwrap();
        // SAFETY: a statfs is a structure of integers, and the call writes only to it.
        let (mut status, result): (libc::statfs, _) = unsafe {
            let mut status = std::mem::zeroed();
            let result = libc::fstatfs(directory.as_raw_fd(), &mut status);
            (status, result)
        };
        assert_eq!((result, status.f_type), (0, 0x6265_6572));
        // SAFETY: the path is a C string, and the call writes only to the structure.
        assert_eq!(unsafe { libc::statfs(c"/dev/dri".as_ptr(), &mut status) }, 0);
        assert_eq!(status.f_type, libc::TMPFS_MAGIC);
        // Other files are not affected.
        assert!(std::fs::read_dir("/sys").unwrap().count() > 3);
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        assert!(std::fs::read_to_string("/proc/self/maps").unwrap().contains("libgenxml_drm_shim"));
    });
}

/// The lists of the machine's directories above the device have the names that lead to it, once.
/// (libudev's enumeration lists them from /sys/class and /sys/bus on.)
#[test]
fn lists_above_the_device() {
    preloaded("lists_above_the_device", || {
        for (directory, name) in [
            ("/dev", "dri"),
            ("/sys/class", "drm"),
            ("/sys/bus/../class/", "drm"),
            ("/sys/dev/char", "226:128"),
            ("/sys/bus/pci", "devices"),
            ("/sys/bus/pci/drivers", "i915"),
            ("/sys/class/drm/card0/device/subsystem", "devices"),
        ] {
            let Ok(list) = std::fs::read_dir(directory) else { continue };
            let names: Vec<_> = list.map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names.iter().filter(|found| **found == *name).count(), 1, "{directory}");
        }
        // SAFETY: these are C strings, descriptors and directories of this function, and each
        // entry is read before the next one.
        unsafe {
            let file = libc::open(c"/sys/class".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY);
            let directory = libc::fdopendir(file);
            let names = |directory| {
                let mut names = Vec::new();
                while let Some(entry) = libc::readdir(directory).as_ref() {
                    names.push(CStr::from_ptr(entry.d_name.as_ptr()).to_owned());
                }
                names
            };
            let all = names(directory);
            assert!(all.iter().any(|name| *name == *c"drm") && all.len() > 3, "{all:?}");
            libc::rewinddir(directory);
            assert_eq!(names(directory), all);
            // A path that starts at the directory leads to the device.
            let card = libc::openat(libc::dirfd(directory), c"drm/card0".as_ptr(), libc::O_PATH);
            assert!(card >= 0);
            libc::close(card);
            // The link itself, as libudev opens it (open(2): O_PATH with O_NOFOLLOW).
            let flags = libc::O_PATH | libc::O_NOFOLLOW;
            let link = libc::open(c"/sys/class/drm/card0".as_ptr(), flags);
            let mut status: libc::stat = std::mem::zeroed();
            assert_eq!(libc::fstat(link, &mut status), 0);
            assert_eq!(status.st_mode & libc::S_IFMT, libc::S_IFLNK);
            let mut target = [0u8; 64];
            let length = libc::readlinkat(link, c"".as_ptr(), target.as_mut_ptr().cast(), 64);
            assert!(target[..length as usize].ends_with(b"0000:00:02.0/drm/card0"));
            libc::close(link);
            libc::closedir(directory);
            let (mut list, no) = (std::ptr::null_mut(), std::ptr::null());
            let count = scandir(c"/sys/class".as_ptr(), &mut list, no, no);
            let entries = std::slice::from_raw_parts(list, count as usize);
            let scanned: Vec<_> = entries
                .iter()
                .map(|entry| CStr::from_ptr((**entry).d_name.as_ptr()).to_owned())
                .collect();
            assert_eq!(scanned, all);
            for entry in entries {
                libc::free(entry.cast());
            }
            libc::free(list.cast());
        }
    });
}

/// Oracle: proc(5): a path of /proc/self/fd opens the file of the descriptor again. The new file
/// has objects of its own.
#[test]
fn reopened_descriptors() {
    preloaded("reopened_descriptors", || {
        let first = open();
        let (handle, _) = object(&first, 4096);
        for path in ["/proc/self/fd/", &format!("/proc/{}/fd/", std::process::id()), "/dev/fd/"] {
            let path = format!("{path}{}", first.as_raw_fd());
            let again = File::options().read(true).write(true).open(&path).expect(&path);
            let mut close = drm::GemClose { handle, pad: 0 };
            let request = Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE);
            let error = ioctl(&again, request, &mut close).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{path}");
            compute(&again, 5);
        }
        // IGT finds a device's number in the path of a descriptor, and compares fstat with stat.
        let link = std::fs::read_link(format!("/proc/self/fd/{}", first.as_raw_fd())).unwrap();
        assert_eq!(link, Path::new("/dev/dri/renderD128"));
        let (by_path, by_file) = (std::fs::metadata(&link).unwrap(), first.metadata().unwrap());
        assert_eq!((by_path.dev(), by_path.ino()), (by_file.dev(), by_file.ino()));
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let error = File::open(format!("/proc/self/fd/{}", socket.as_raw_fd())).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENXIO));
    });
}

/// fdinfo of the device's descriptors has the kernel's lines, and busy times that grow with work.
/// Oracle: Linux Documentation/gpu/drm-usage-stats.rst.
#[test]
fn busy_times() {
    preloaded("busy_times", || {
        let (file, idle) = (open(), open());
        let own = format!("/proc/{}/fdinfo/{}", std::process::id(), file.as_raw_fd());
        let read = |path: &str| {
            let text = std::fs::read_to_string(path).unwrap();
            let lines = text.lines().filter_map(|line| line.split_once(":\t"));
            let lines: Vec<(String, String)> =
                lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            move |key: &str| {
                let found = lines.iter().find(|(known, _)| known == key);
                found.unwrap_or_else(|| panic!("no {key}: {lines:?}")).1.clone()
            }
        };
        let busy = |path: &str, engine: &str| -> u64 {
            let value = read(path)(&format!("drm-engine-{engine}"));
            value.strip_suffix(" ns").unwrap().parse().unwrap()
        };
        let line = read(&own);
        assert_eq!((line("drm-driver"), line("drm-pdev")), ("i915".into(), "0000:00:02.0".into()));
        assert!(!line("flags").is_empty(), "a line of the kernel");
        assert_eq!(busy(&own, "render"), 0);
        compute(&file, 200);
        let first = busy(&own, "render");
        assert!(first > 0);
        compute(&file, 200);
        let path = format!("/proc/self/fdinfo/{}", file.as_raw_fd());
        assert!(busy(&path, "render") > first);
        assert_eq!(busy(&path, "copy"), 0);
        let idle = format!("/proc/self/fdinfo/{}", idle.as_raw_fd());
        assert_eq!(busy(&idle, "render"), 0);
        assert_ne!(read(&idle)("drm-client-id"), line("drm-client-id"));
        let stream = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", 0)).unwrap();
        assert!(!stream.contains("drm-"), "not a device: {stream}");
    });
}

/// Relative paths lead to the device from the working directory and from open directories. Oracle:
/// the same files by their absolute paths.
#[test]
fn relative_paths() {
    preloaded("relative_paths", || {
        let home = std::env::current_dir().unwrap();
        let minor = |path: &str| libc::minor(std::fs::metadata(path).unwrap().rdev());
        let go = |path: &str| std::env::set_current_dir(path).unwrap();
        go("/dev");
        assert_eq!(minor("dri/renderD128"), 128);
        compute(&File::options().read(true).write(true).open("./dri/renderD128").unwrap(), 3);
        go("dri");
        assert_eq!(std::env::current_dir().unwrap(), PathBuf::from("/dev/dri"));
        assert_eq!(std::fs::canonicalize("by-path/..").unwrap(), PathBuf::from("/dev/dri"));
        compute(&File::options().read(true).write(true).open("renderD128").unwrap(), 4);
        assert_eq!(minor("by-path/pci-0000:00:02.0-card"), 0);
        assert!(std::fs::metadata("null").is_err());
        assert!(std::fs::metadata("../null").unwrap().file_type().is_char_device());
        assert_eq!(std::fs::read_dir(".").unwrap().count(), 3);
        assert!(std::env::set_current_dir("card0").is_err());
        go("/sys/class");
        assert_eq!(std::fs::read_to_string("drm/card0/device/vendor").unwrap(), "0x8086\n");
        go("..");
        assert_eq!(std::env::current_dir().unwrap(), PathBuf::from("/sys"));
        go("../dev/dri/..");
        assert_eq!(std::env::current_dir().unwrap(), PathBuf::from("/dev"));
        go(home.to_str().unwrap());
        assert_eq!(std::env::current_dir().unwrap(), home);
        assert!(std::fs::metadata("dri/card0").is_err());
        assert!(std::fs::metadata("Cargo.toml").unwrap().is_file());

        for (directory, name) in [
            ("/dev", c"dri/renderD128"),
            ("/dev", c"../dev/dri/by-path/../renderD128"),
            ("/", c"dev/dri/renderD128"),
            ("/dev/dri", c"renderD128"),
            ("/dev/dri/by-path", c"pci-0000:00:02.0-render"),
            ("/tmp", c"../dev/dri/renderD128"),
        ] {
            let directory = File::open(directory).unwrap();
            // SAFETY: the name is a C string. The new descriptor has no other owner.
            let file = unsafe {
                let flags = libc::O_RDWR | libc::O_CLOEXEC;
                let number = libc::openat(directory.as_raw_fd(), name.as_ptr(), flags);
                assert!(number >= 0, "{name:?}: {}", std::io::Error::last_os_error());
                File::from_raw_fd(number)
            };
            assert_eq!(file.metadata().unwrap().rdev(), libc::makedev(226, 128));
            compute(&file, 5);
            // SAFETY: the descriptor is that of an open directory or an error results.
            assert_eq!(unsafe { libc::fchdir(directory.as_raw_fd()) }, 0);
            assert_eq!(minor(name.to_str().unwrap()), 128);
        }
    });
}

/// Runs the test `name` as a child with the library. Its capture goes to `directory`. Returns its
/// exit status and standard error.
fn captured(name: &str, directory: &Path, way: &str) -> std::process::Output {
    Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env("LD_PRELOAD", library())
        .env("GENX_SHIM_THREADS", "1")
        .env("GENX_SHIM_STATS", "1")
        .env("GENX_SHIM_CAPTURE", directory)
        .env(CHILD, way)
        .output()
        .unwrap()
}

/// The number of submissions in the only capture in `directory`; `None` while there is no capture.
fn submissions(directory: &Path) -> Option<usize> {
    let inside = std::fs::read_dir(directory).ok()?.next()?.unwrap().path();
    inside.join("manifest.json").is_file().then(|| Capture::open(inside).unwrap().execs().count())
}

/// The signal of this name that a process of the test [`ends`] sends to itself; `None` for another
/// way to end.
fn signal_of(way: &str) -> Option<libc::c_int> {
    match way {
        "TERM" => Some(libc::SIGTERM),
        "INT" => Some(libc::SIGINT),
        "KILL" => Some(libc::SIGKILL),
        "ABRT" => Some(libc::SIGABRT),
        "HUP" => Some(libc::SIGHUP),
        _ => None,
    }
}

/// However a process ends, the directory has a capture that can be read. Except after SIGKILL, the
/// capture has all submissions, and the statistics are printed once.
#[test]
fn ends() {
    if let Some(way) = std::env::var_os(CHILD) {
        let file = open();
        compute(&file, 5);
        let way = way.into_string().unwrap();
        compute(&file, 6);
        compute(&file, 7);
        // SAFETY: the process ends, and its other threads do not use anything of this one.
        unsafe {
            match &way[..] {
                "_exit" => libc::_exit(3),
                "_Exit" => _Exit(3),
                "quick_exit" => quick_exit(3),
                "vfork" => {
                    // The child has the memory of the parent, and ends at once.
                    #[allow(deprecated, reason = "this tests vfork")]
                    if libc::vfork() == 0 {
                        libc::_exit(0);
                    }
                    libc::exit(3)
                }
                way => libc::raise(signal_of(way).unwrap()),
            };
        }
        unreachable!("the process has ended");
    }
    for way in ["_exit", "_Exit", "quick_exit", "vfork", "TERM", "INT", "KILL", "ABRT", "HUP"] {
        let directory = std::env::temp_dir().join(format!("genx-ends-{}", std::process::id()));
        if let Some(signal) = signal_of(way) {
            // Shells start programs in the background with some signals ignored, and children
            // inherit that. For SIGKILL the call fails, and has no effect.
            // SAFETY: no handler is installed.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        let output = captured("ends", &directory, way);
        let text = String::from_utf8(output.stderr).unwrap();
        let found = submissions(&directory);
        std::fs::remove_dir_all(&directory).unwrap();
        if way == "KILL" {
            assert!((1..=3).contains(&found.unwrap()), "{way}: {text}");
        } else {
            assert_eq!(found, Some(3), "{way}: {text}");
            assert_eq!(text.matches(": 3 submissions in ").count(), 1, "{way}: {text}");
        }
        let signal = signal_of(way);
        let code = if signal.is_none() { Some(3) } else { None };
        assert_eq!((output.status.code(), output.status.signal()), (code, signal), "{way}: {text}");
    }
}

/// A capture is complete soon after the last submission, while the process still runs.
#[test]
fn captures_of_running_processes() {
    if std::env::var_os(CHILD).is_some() {
        let file = open();
        (1..=20).for_each(|value| compute(&file, value));
        let directory = PathBuf::from(std::env::var_os("GENX_SHIM_CAPTURE").unwrap());
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while submissions(&directory) != Some(20) {
            assert!(std::time::Instant::now() < end, "{:?}", submissions(&directory));
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        return;
    }
    let directory = std::env::temp_dir().join(format!("genx-running-{}", std::process::id()));
    let output = captured("captures_of_running_processes", &directory, "1");
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn device() {
    preloaded("device", || {
        let file = open();
        assert_eq!(file.metadata().unwrap().rdev(), libc::makedev(226, 128));
        let mut name = [0u8; 8];
        let mut version = drm::Version {
            name_len: name.len() as u64,
            name: name.as_mut_ptr() as u64,
            ..Default::default()
        };
        ioctl(&file, Request::of::<drm::Version>(drm::nr::VERSION), &mut version).unwrap();
        assert_eq!(CStr::from_bytes_until_nul(&name).unwrap(), c"i915");
        compute(&file, 1234);
        // A duplicate of a descriptor refers to the same file.
        let copy = file.try_clone().unwrap();
        drop(file);
        compute(&copy, 77);
        let error = ioctl(&copy, Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE), &mut [0u64; 1])
            .unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        // Other descriptors have no DRM ioctls.
        let null = File::open("/dev/null").unwrap();
        let error =
            ioctl(&null, Request::of::<drm::Version>(drm::nr::VERSION), &mut version).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    });
}

/// A forked child creates its own objects, and the parent continues.
#[test]
fn children() {
    preloaded("children", || {
        let file = open();
        let (_, numbers) = object(&file, 4096);
        numbers[0].store(1, Ordering::Relaxed);
        // SAFETY: of the locks that other threads may hold, the child uses only those of the
        // library, which takes them before the fork.
        let child = unsafe { libc::fork() };
        if child == 0 {
            compute(&file, 5);
            let (_, own) = object(&file, 4096);
            own[0].store(99, Ordering::Relaxed);
            numbers[1].store(2, Ordering::Relaxed);
            // SAFETY: _exit ends the child and touches nothing else.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: `status` can be written until the call returns.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        // Both processes see the memory of an object that existed before the fork. Objects that the
        // child created are its own.
        assert_eq!([0, 1].map(|index: usize| numbers[index].load(Ordering::Relaxed)), [1, 2]);
        compute(&file, 6);
        let (_, fresh) = object(&file, 4096);
        assert_eq!(fresh[0].load(Ordering::Relaxed), 0);
    });
}

/// The lists of objects and of relocations of a submission may be in memory that can only be read.
/// Oracle: Linux i915_gem_execbuffer.c (eb_relocate_entry, i915_gem_execbuffer2_ioctl): errors of
/// writes to the lists are ignored.
#[test]
fn submissions_from_read_only_memory() {
    #[repr(C)]
    struct Lists {
        objects: [i915::ExecObject2; 2],
        relocation: i915::Relocation,
    }
    preloaded("submissions_from_read_only_memory", || {
        let file = open();
        let ((data, numbers), (batch, commands)) = (object(&file, 4096), object(&file, 4096));
        stores(commands, 7);
        // The address of the first packet is relocated: to the start of the object of numbers.
        let relocation = i915::Relocation {
            target_handle: data,
            offset: 4,
            presumed_offset: u64::MAX,
            write_domain: 2,
            ..Default::default()
        };
        let flags = i915::object::PINNED;
        // SAFETY: the kernel maps new memory, which is large enough for the lists. It is written
        // before it becomes read-only, and is used by this test only.
        let lists = unsafe {
            let writable = libc::PROT_READ | libc::PROT_WRITE;
            let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let lists: *mut Lists =
                libc::mmap(std::ptr::null_mut(), 4096, writable, anonymous, -1, 0).cast();
            lists.write(Lists {
                objects: [
                    i915::ExecObject2 { handle: data, offset: DATA, flags, ..Default::default() },
                    i915::ExecObject2 {
                        handle: batch,
                        offset: 0x9000_0000,
                        flags,
                        relocation_count: 1,
                        relocs_ptr: std::ptr::from_ref(&(*lists).relocation) as u64,
                        ..Default::default()
                    },
                ],
                relocation,
            });
            assert_eq!(libc::mprotect(lists.cast(), 4096, libc::PROT_READ), 0);
            lists
        };
        let mut exec =
            i915::ExecBuffer2 { buffers_ptr: lists as u64, buffer_count: 2, ..Default::default() };
        ioctl(&file, Request::i915::<i915::ExecBuffer2>(i915::nr::GEM_EXECBUFFER2), &mut exec)
            .unwrap();
        wait(&file, data);
        assert_eq!(numbers[0].load(Ordering::Relaxed), 1, "the first store, at the new address");
        assert_eq!(numbers[2].load(Ordering::Relaxed), 7);
    });
}

/// The device reads arguments from a mapping that the client may only write: on x86 such pages can
/// be read. Oracle: mmap(2), "on some hardware architectures (e.g., i386), PROT_WRITE implies
/// PROT_READ".
#[test]
fn arguments_in_write_only_mappings() {
    preloaded("arguments_in_write_only_mappings", || {
        let file = open();
        let (handle, numbers) = object(&file, 4096);
        let mut offset = i915::GemMmapOffset { handle, flags: 2, ..Default::default() };
        ioctl(&file, Request::i915::<i915::GemMmapOffset>(i915::nr::GEM_MMAP_OFFSET), &mut offset)
            .unwrap();
        // SAFETY: without an address the kernel maps the file where nothing is mapped.
        let at = unsafe {
            let (file, offset) = (file.as_raw_fd(), offset.offset as i64);
            libc::mmap64(
                std::ptr::null_mut(),
                4096,
                libc::PROT_WRITE,
                libc::MAP_SHARED,
                file,
                offset,
            )
        };
        assert_ne!(at, libc::MAP_FAILED);
        numbers[0].store(0x1234_5678, Ordering::Relaxed);
        let mut transfer = i915::GemTransfer {
            handle,
            offset: 64,
            size: 4,
            data_ptr: at as u64,
            ..Default::default()
        };
        ioctl(&file, Request::i915::<i915::GemTransfer>(i915::nr::GEM_PWRITE), &mut transfer)
            .unwrap();
        assert_eq!(numbers[16].load(Ordering::Relaxed), 0x1234_5678);
    });
}

/// A mapping has its memory after its object was closed, until it is unmapped, wherever mremap has
/// moved it. It cannot grow. Oracle: mmap(2); Linux i915_gem_mmap.c (VM_DONTEXPAND).
#[test]
fn mappings_without_objects() {
    const PAGE: usize = 4096;
    preloaded("mappings_without_objects", || {
        let file = open();
        let (handle, numbers) = object(&file, 4 * PAGE as u64);
        for (page, numbers) in numbers.chunks(PAGE / 4).enumerate() {
            numbers[0].store(page as u32 + 1, Ordering::Relaxed);
        }
        let mut close = drm::GemClose { handle, pad: 0 };
        ioctl(&file, Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE), &mut close).unwrap();
        let start: *mut libc::c_void = numbers.as_ptr().cast_mut().cast();
        // SAFETY: mremap refuses to let the mapping grow, and changes nothing.
        let grown = unsafe { libc::mremap(start, 4 * PAGE, 8 * PAGE, libc::MREMAP_MAYMOVE) };
        assert_eq!(grown, libc::MAP_FAILED);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EFAULT));
        // SAFETY: the second page is not used any more. The fourth page moves to an address where
        // nothing is mapped, and is used at that address only.
        let moved = unsafe {
            assert_eq!(libc::munmap(start.add(PAGE), PAGE), 0);
            let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let room = libc::mmap(std::ptr::null_mut(), PAGE, 0, anonymous, -1, 0);
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            assert_eq!(libc::mremap(start.add(3 * PAGE), PAGE, PAGE, flags, room), room);
            room.cast::<AtomicU32>()
        };
        // The device uses no memory again that is still mapped.
        for _ in 0..8 {
            let (_, fresh) = object(&file, 4 * PAGE as u64);
            fresh.iter().for_each(|number| number.store(99, Ordering::Relaxed));
        }
        assert_eq!(numbers[0].load(Ordering::Relaxed), 1);
        assert_eq!(numbers[2 * PAGE / 4].load(Ordering::Relaxed), 3);
        // SAFETY: the fourth page is mapped here, and consists of atomic dwords.
        assert_eq!(unsafe { (*moved).load(Ordering::Relaxed) }, 4);
        compute(&file, 5);
    });
}

/// A shared buffer stays after the process that exported it has ended. Oracle: a dma-buf is a file,
/// whose last descriptor keeps the memory (Linux Documentation/driver-api/dma-buf.rst).
#[test]
fn buffers_without_exporters() {
    preloaded("buffers_without_exporters", || {
        let (ours, theirs) = std::os::unix::net::UnixDatagram::pair().unwrap();
        // SAFETY: of the locks that other threads may hold, the child uses only those of the
        // library, which takes them before the fork.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let file = open();
            let (handle, numbers) = object(&file, 8192);
            numbers[1024].store(77, Ordering::Relaxed);
            let mut prime = drm::PrimeHandle { handle, flags: drm::CLOEXEC | 2, fd: -1 };
            let request = Request::of::<drm::PrimeHandle>(drm::nr::PRIME_HANDLE_TO_FD);
            ioctl(&file, request, &mut prime).unwrap();
            // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
            let buffer = unsafe { OwnedFd::from_raw_fd(prime.fd) };
            let files = [buffer.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = net::SendAncillaryBuffer::new(&mut space);
            assert!(control.push(net::SendAncillaryMessage::ScmRights(&files)));
            let bytes = [IoSlice::new(b"x")];
            net::sendmsg(&theirs, &bytes, &mut control, net::SendFlags::empty()).unwrap();
            // SAFETY: _exit ends the child and touches nothing else.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: `status` can be written until the call returns.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = net::RecvAncillaryBuffer::new(&mut space);
        let bytes = &mut [0];
        let bytes = &mut [IoSliceMut::new(bytes)];
        net::recvmsg(&ours, bytes, &mut control, net::RecvFlags::empty()).unwrap();
        let received = control.drain().find_map(|message| match message {
            net::RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        let buffer = File::from(received.unwrap());
        assert_eq!(map(&buffer, 8192, 0)[1024].load(Ordering::Relaxed), 77);
        let file = open();
        let mut prime = drm::PrimeHandle { fd: buffer.as_raw_fd(), ..Default::default() };
        let request = Request::of::<drm::PrimeHandle>(drm::nr::PRIME_FD_TO_HANDLE);
        ioctl(&file, request, &mut prime).unwrap();
        drop(buffer);
        let (batch, commands) = object(&file, 4096);
        stores(commands, 5);
        submit(&file, prime.handle, batch).unwrap();
        let mut offset =
            i915::GemMmapOffset { handle: prime.handle, flags: 2, ..Default::default() };
        let request = Request::i915::<i915::GemMmapOffset>(i915::nr::GEM_MMAP_OFFSET);
        ioctl(&file, request, &mut offset).unwrap();
        let numbers = map(&file, 8192, offset.offset);
        let numbers = [2, 1024].map(|index: usize| numbers[index].load(Ordering::Relaxed));
        assert_eq!(numbers, [5, 77]);
    });
}

/// One thread waits for a syncobj, and another thread signals it.
#[test]
fn waits() {
    preloaded("waits", || {
        let file = open();
        let mut sync = drm::Syncobj::default();
        ioctl(&file, Request::of::<drm::Syncobj>(drm::nr::SYNCOBJ_CREATE), &mut sync).unwrap();
        let handles = [sync.handle];
        let address = handles.as_ptr() as u64;
        std::thread::scope(|scope| {
            let file = &file;
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                let mut signal = drm::SyncobjArray { handles: address, count_handles: 1, pad: 0 };
                ioctl(file, Request::of::<drm::SyncobjArray>(drm::nr::SYNCOBJ_SIGNAL), &mut signal)
                    .unwrap();
            });
            let mut wait = drm::SyncobjWait {
                handles: address,
                timeout_nsec: i64::MAX,
                count_handles: 1,
                flags: drm::SYNCOBJ_WAIT_FOR_SUBMIT,
                ..Default::default()
            };
            ioctl(file, Request::of::<drm::SyncobjWait>(drm::nr::SYNCOBJ_WAIT), &mut wait).unwrap();
        });
    });
}

/// The model does not run on the client's stack.
#[test]
fn small_stacks() {
    preloaded("small_stacks", || {
        let file = open();
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        thread.spawn(move || compute(&file, 3)).unwrap().join().unwrap();
    });
}

/// munmap of pages that a client gave to the GPU waits until the GPU has finished with them. Later
/// submissions that use these pages fail.
#[test]
fn pages_that_go() {
    const LAST: u64 = 100_000;
    preloaded("pages_that_go", || {
        let file = open();
        let (batch, commands) = object(&file, 1 << 21);
        stores(commands, LAST);
        // SAFETY: without an address the kernel maps pages where nothing is mapped.
        let pages = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        let mut user =
            i915::GemUserptr { user_ptr: pages as u64, user_size: 4096, ..Default::default() };
        ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user).unwrap();
        submit(&file, user.handle, batch).unwrap();
        // SAFETY: nothing uses the pages any more.
        assert_eq!(unsafe { libc::munmap(pages, 4096) }, 0);
        let mut busy = i915::GemBusy { handle: user.handle, busy: 1 };
        ioctl(&file, Request::i915::<i915::GemBusy>(i915::nr::GEM_BUSY), &mut busy).unwrap();
        assert_eq!(busy.busy, 0);
        let error = submit(&file, user.handle, batch).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
        compute(&file, 5);
    });
}

/// `free` and `realloc` of a large block wait in the same way, although libc unmaps its pages
/// without a call of munmap.
#[test]
fn blocks_that_go() {
    const LAST: u64 = 100_000;
    const SIZE: usize = 8 << 20;
    preloaded("blocks_that_go", || {
        let file = open();
        let (batch, commands) = object(&file, 1 << 21);
        stores(commands, LAST);
        for size in [0, 4096, 2 * SIZE] {
            // SAFETY: 4096 is a valid alignment.
            let block = unsafe { libc::memalign(4096, SIZE) };
            assert!(!block.is_null());
            let (user_ptr, user_size) = (block as u64, SIZE as u64);
            let mut user = i915::GemUserptr { user_ptr, user_size, ..Default::default() };
            ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user)
                .unwrap();
            submit(&file, user.handle, batch).unwrap();
            // SAFETY: the block is from memalign, and nothing uses it or the new one any more.
            unsafe {
                match size {
                    0 => libc::free(block),
                    _ => libc::free(libc::realloc(block, size)),
                }
            };
            let mut busy = i915::GemBusy { handle: user.handle, busy: 1 };
            ioctl(&file, Request::i915::<i915::GemBusy>(i915::nr::GEM_BUSY), &mut busy).unwrap();
            assert_eq!(busy.busy, 0);
            let error = submit(&file, user.handle, batch).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EFAULT), "{size}");
        }
        compute(&file, 5);
    });
}

/// If the client itself cannot access its pages in the way the GPU would, a submission with these
/// pages fails, and the process does not crash.
#[test]
fn pages_that_are_not_writable() {
    preloaded("pages_that_are_not_writable", || {
        let file = open();
        let (batch, commands) = object(&file, 4096);
        stores(commands, 1);
        let read_only = i915::USERPTR_READ_ONLY;
        for (protection, flags) in
            [(libc::PROT_READ, 0), (libc::PROT_NONE, 0), (libc::PROT_NONE, read_only)]
        {
            // SAFETY: without an address the kernel maps pages where nothing is mapped.
            let pages = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0)
            };
            let mut user = i915::GemUserptr {
                user_ptr: pages as u64,
                user_size: 4096,
                flags,
                ..Default::default()
            };
            ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user)
                .unwrap();
            let error = submit(&file, user.handle, batch).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
            user.flags |= i915::USERPTR_PROBE;
            let probed =
                ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user);
            assert_eq!(probed.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        }
    });
}

/// A child that is forked while the GPU works can use the objects and submit work.
#[test]
fn forks_with_work() {
    const LAST: u64 = 100_000;
    preloaded("forks_with_work", || {
        let file = open();
        let (data, numbers) = object(&file, 4096);
        let (batch, commands) = object(&file, 1 << 21);
        stores(commands, LAST);
        submit(&file, data, batch).unwrap();
        submit(&file, data, batch).unwrap();
        // SAFETY: of the locks that other threads may hold, the child uses only those of the
        // library, which takes them before the fork.
        let child = unsafe { libc::fork() };
        if child == 0 {
            wait(&file, data);
            compute(&file, 5);
            // SAFETY: _exit ends the child and touches nothing else.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: `status` can be written until the call returns.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        wait(&file, data);
        assert_eq!(u64::from(numbers[2].load(Ordering::Relaxed)), LAST);
        compute(&file, 6);
    });
}

/// Processes that share a file by fork never use the same handle for different objects: with a
/// kernel, they have one table of handles. Oracle: Linux drm_gem.c and i915_gem_context.c.
#[test]
fn handles_of_children() {
    preloaded("handles_of_children", || {
        let file = open();
        let (shared, numbers) = object(&file, 16 * 4096);
        let create = |file: &File| {
            let mut create = i915::ContextCreate::default();
            let request = Request::i915::<i915::ContextCreate>(i915::nr::GEM_CONTEXT_CREATE);
            ioctl(file, request, &mut create).unwrap();
            create.ctx_id
        };
        let close = |file: &File, handle: u32| {
            let mut close = drm::GemClose { handle, pad: 0 };
            ioctl(file, Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE), &mut close)
        };
        // Each process stores its handles in a part of the shared object.
        let work = |part: usize, file: &File| {
            let part = &numbers[part * 1024..][..1024];
            for (index, number) in part[..8].iter().enumerate() {
                // A handle that is free again.
                if index == 4 {
                    close(file, part[2].load(Ordering::Relaxed)).unwrap();
                }
                number.store(object(file, 4096).0, Ordering::Relaxed);
            }
            part[8].store(create(file), Ordering::Relaxed);
            compute(file, 5);
        };
        for part in 1..4 {
            // SAFETY: of the locks that other threads may hold, the child uses only those of the
            // library, which takes them before the fork.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: as above.
                let grandchild = unsafe { libc::fork() };
                work(if grandchild == 0 { part } else { part + 4 }, &file);
                // A closed handle of the parent is not given to another object.
                close(&file, shared).unwrap();
                assert_ne!(object(&file, 4096).0, shared);
                let mut status = 0;
                // SAFETY: `status` can be written until the call returns, and _exit ends the
                // process and touches nothing else.
                unsafe {
                    if grandchild != 0 {
                        assert_eq!(libc::waitpid(grandchild, &mut status, 0), grandchild);
                    }
                    libc::_exit(status)
                }
            }
            work(8 + part, &file);
            let mut status = 0;
            // SAFETY: `status` can be written until the call returns.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
        }
        for range in [0..8, 8..9] {
            let mut all: Vec<(u32, usize)> = (0..16)
                .flat_map(|part| range.clone().map(move |index| (part, index)))
                .map(|(part, index)| (numbers[part * 1024 + index].load(Ordering::Relaxed), part))
                .filter(|(handle, _)| *handle != 0)
                .collect();
            // Of one process, a handle may be there twice: it was closed in between.
            all.sort_unstable();
            all.dedup();
            assert!(all.windows(2).all(|pair| pair[0].0 != pair[1].0), "{all:?}");
            assert!(all.len() >= 9 * range.len().min(7), "{all:?}");
        }
        // A file that the child opens has handles of its own.
        // SAFETY: as above.
        let child = unsafe { libc::fork() };
        if child == 0 {
            assert_eq!(object(&open(), 4096).0, 1);
            // SAFETY: _exit ends the child and touches nothing else.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: `status` can be written until the call returns.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
    });
}

/// Oracle: IGT's prime_mmap@test_invalid_sync_flags, and Linux dma-buf.c.
#[test]
fn accesses_to_buffers() {
    preloaded("accesses_to_buffers", || {
        let file = open();
        let (handle, _) = object(&file, 4096);
        let mut prime = drm::PrimeHandle { handle, flags: drm::CLOEXEC, fd: -1 };
        let request = Request::of::<drm::PrimeHandle>(drm::nr::PRIME_HANDLE_TO_FD);
        ioctl(&file, request, &mut prime).unwrap();
        // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
        let buffer = unsafe { File::from_raw_fd(prime.fd) };
        // DMA_BUF_IOCTL_SYNC as a C compiler computes it from linux/dma-buf.h.
        let request = Request(0x4008_6200);
        for (flags, works) in [
            (0, false),
            (1, true),
            (2, true),
            (3, true),
            (4, false),
            (5, true),
            (6, true),
            (7, true),
            (8, false),
            (9, false),
            (1 << 31 | 1, false),
            (1 << 63 | 1, false),
        ] {
            let mut sync = sync_file::DmaBufSync { flags };
            let result = ioctl(&buffer, request, &mut sync).map_err(|error| error.raw_os_error());
            let expected = if works { Ok(()) } else { Err(Some(libc::EINVAL)) };
            assert_eq!(result, expected, "{flags:#x}");
        }
        // SAFETY: the kernel's interface takes any address.
        let result = unsafe { libc::ioctl(buffer.as_raw_fd(), 0x4008_6200, 8usize) };
        let error = std::io::Error::last_os_error().raw_os_error();
        assert_eq!((result, error), (-1, Some(libc::EFAULT)));
    });
}
