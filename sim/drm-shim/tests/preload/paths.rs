//! Paths to the device, lists of directories, and file systems.

use crate::client::compute;
use crate::process::preloaded;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

unsafe extern "C" {
    fn scandir(
        path: *const libc::c_char,
        list: *mut *mut *mut libc::dirent,
        filter: *const libc::c_void,
        compare: *const libc::c_void,
    ) -> libc::c_int;
}

#[test]
fn files() {
    preloaded("paths::files", || {
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
        // libudev checks that an open directory is on sysfs (Linux magic.h).
        let directory = File::open("/sys/class/drm/card0/device").unwrap();
        // SAFETY: a statfs is a structure of integers, and the call writes only to it.
        let (mut status, result): (libc::statfs, _) = unsafe {
            let mut status = std::mem::zeroed();
            let result = libc::fstatfs(directory.as_raw_fd(), &mut status);
            (status, result)
        };
        assert_eq!((result, status.f_type), (0, libc::SYSFS_MAGIC));
        for (path, expected) in [
            (c"/dev/dri", libc::TMPFS_MAGIC),
            (c"/sys/kernel/debug/dri/0", libc::DEBUGFS_MAGIC),
            (c"/sys/class/../../proc", libc::PROC_SUPER_MAGIC),
        ] {
            // SAFETY: the path is a C string, and the call writes only to the structure.
            assert_eq!(unsafe { libc::statfs(path.as_ptr(), &mut status) }, 0, "{path:?}");
            assert_eq!(status.f_type, expected, "{path:?}");
        }
        // SAFETY: as above.
        assert_eq!(unsafe { libc::statfs(c"/dev/dri/card7".as_ptr(), &mut status) }, -1);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOENT));
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
    preloaded("paths::lists_above_the_device", || {
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

/// Relative paths lead to the device from the working directory and from open directories. Oracle:
/// the same files by their absolute paths.
#[test]
fn relative_paths() {
    preloaded("paths::relative_paths", || {
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
