//! What /proc has about descriptors of the device.

use crate::client::{compute, ioctl, object, open};
use crate::process::preloaded;
use genxml_drm_uapi::{Request, drm};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Oracle: proc(5): a path of /proc/self/fd opens the file of the descriptor again. The new file
/// has objects of its own.
#[test]
fn reopened_descriptors() {
    preloaded("descriptors::reopened_descriptors", || {
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
    preloaded("descriptors::busy_times", || {
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
