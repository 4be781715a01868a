//! File descriptors that stand for something: an open device, a shared buffer, a shared
//! synchronisation object.
//!
//! Each is one end of a pair of sockets; the other end stays with the device and has a name that
//! tells what it is. So whoever holds the descriptor, in whatever process, can ask for the name of
//! its peer; poll and read work on it by themselves; and when the last copy is closed, the device's
//! end hangs up.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind,
    getpeername, recv, send, socketpair,
};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// What names begin with.
const PREFIX: &str = "genx-shim/";

/// What a descriptor stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Descriptor {
    /// An open device.
    Device {
        /// Who opened it and which one it is.
        id: Id,
        /// Minor number of the device.
        minor: u32,
    },
    /// A buffer: part of a file in memory.
    DmaBuf {
        /// Which one it is.
        id: Id,
        /// Descriptor of the file in the process that has it.
        file: u32,
        /// Where the buffer begins in it.
        offset: u64,
        /// Bytes.
        size: u64,
        /// The kernel's number of the layout, and bytes from row to row.
        tiling: (u32, u32),
        /// The object.
        object: u64,
    },
    /// A synchronisation object.
    Syncobj {
        /// Which one it is.
        id: Id,
    },
    /// A fence: a sync file.
    SyncFile {
        /// Which one it is.
        id: Id,
    },
    /// A directory of the [tree](crate::tree).
    Directory {
        /// Who opened it.
        id: Id,
        /// Its [number](crate::tree::Tree::number) there.
        number: u64,
    },
}

/// A process and a number within it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Id {
    /// The process.
    pub pid: u32,
    /// The number.
    pub serial: u64,
}

impl Id {
    /// One that this process has not had.
    pub fn new() -> Id {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Id { pid: std::process::id(), serial: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Default for Id {
    fn default() -> Self {
        Id::new()
    }
}

impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Descriptor::Device { id, minor } => {
                write!(f, "{PREFIX}device/{}/{}/{minor}", id.pid, id.serial)
            }
            Descriptor::DmaBuf { id, file, offset, size, tiling: (mode, stride), object } => {
                write!(
                    f,
                    "{PREFIX}buffer/{}/{}/{file}/{offset}/{size}/{mode}/{stride}/{object}",
                    id.pid, id.serial
                )
            }
            Descriptor::Syncobj { id } => write!(f, "{PREFIX}sync/{}/{}", id.pid, id.serial),
            Descriptor::SyncFile { id } => write!(f, "{PREFIX}fence/{}/{}", id.pid, id.serial),
            Descriptor::Directory { id, number } => {
                write!(f, "{PREFIX}directory/{}/{}/{number}", id.pid, id.serial)
            }
        }
    }
}

/// A name that is not one of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownName;

impl FromStr for Descriptor {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Descriptor, UnknownName> {
        let (kind, numbers) =
            name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/')).ok_or(UnknownName)?;
        let numbers: Result<Vec<u64>, _> = numbers.split('/').map(str::parse).collect();
        let numbers = numbers.map_err(|_| UnknownName)?;
        let id =
            |pid: u64, serial| Ok(Id { pid: pid.try_into().map_err(|_| UnknownName)?, serial });
        let narrow = |number: u64| u32::try_from(number).map_err(|_| UnknownName);
        match (kind, &numbers[..]) {
            ("device", &[pid, serial, minor]) => {
                Ok(Descriptor::Device { id: id(pid, serial)?, minor: narrow(minor)? })
            }
            ("buffer", &[pid, serial, file, offset, size, mode, stride, object]) => {
                Ok(Descriptor::DmaBuf {
                    id: id(pid, serial)?,
                    file: narrow(file)?,
                    offset,
                    size,
                    tiling: (narrow(mode)?, narrow(stride)?),
                    object,
                })
            }
            ("directory", &[pid, serial, number]) => {
                Ok(Descriptor::Directory { id: id(pid, serial)?, number })
            }
            ("fence", &[pid, serial]) => Ok(Descriptor::SyncFile { id: id(pid, serial)? }),
            ("sync", &[pid, serial]) => Ok(Descriptor::Syncobj { id: id(pid, serial)? }),
            _ => Err(UnknownName),
        }
    }
}

impl Descriptor {
    /// Both ends: the client's and the device's.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create(self, close_on_exec: bool) -> Result<(OwnedFd, OwnedFd), Errno> {
        let name = SocketAddrUnix::new_abstract_name(self.to_string().as_bytes())?;
        let flags = if close_on_exec { SocketFlags::CLOEXEC } else { SocketFlags::empty() };
        let (client, device) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        if !close_on_exec {
            rustix::io::fcntl_setfd(&device, rustix::io::FdFlags::CLOEXEC)?;
        }
        // Out of the way of numbers that programs expect.
        let device = rustix::io::fcntl_dupfd_cloexec(&device, 512).unwrap_or(device);
        bind(&device, &name)?;
        Ok((client, device))
    }

    /// What a descriptor stands for, if it is one of these.
    pub fn of(descriptor: BorrowedFd<'_>) -> Option<Descriptor> {
        let peer = getpeername(descriptor).ok()??;
        let peer = SocketAddrUnix::try_from(peer).ok()?;
        std::str::from_utf8(peer.abstract_name()?).ok()?.parse().ok()
    }
}

/// True if nobody holds the other end any more.
pub fn hung_up(device: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(device, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().contains(PollFlags::HUP)
}

/// Something to read at the other end; lost if too much waits there already, as the kernel's events
/// are.
pub fn send_event(device: &OwnedFd, event: &[u8]) {
    let _ = send(device, event, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// A descriptor that is always ready to be read: a fence that is past.
///
/// # Errors
/// The kernel's.
pub fn signaled_fence() -> Result<OwnedFd, Errno> {
    let (client, device) = new_fence()?;
    signal(&device, true);
    Ok(client)
}

/// A descriptor that is ready to be read when [`signal`] is called for its other end, or that is
/// gone.
///
/// # Errors
/// The kernel's.
pub fn new_fence() -> Result<(OwnedFd, OwnedFd), Errno> {
    Descriptor::SyncFile { id: Id::new() }.create(true)
}

/// True if a descriptor stands for a fence.
pub fn is_fence(descriptor: BorrowedFd<'_>) -> bool {
    matches!(Descriptor::of(descriptor), Some(Descriptor::SyncFile { .. }))
}

/// The fence is past, and whether all went well.
pub fn signal(device: &OwnedFd, well: bool) {
    let status = if well { 1 } else { -Errno::IO.raw_os_error() };
    send_event(device, &status.to_ne_bytes());
}

/// What SYNC_IOC_FILE_INFO says of a fence: 1 if it is past, 0 if not yet, an error below 0 if it
/// failed.
pub fn status(fence: impl AsFd) -> i32 {
    let mut status = [0; 4];
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    match recv(&fence, &mut status, flags) {
        Ok((4, _)) => i32::from_ne_bytes(status),
        _ => is_signaled(fence).into(),
    }
}

/// True if the fence behind a descriptor is past.
pub fn is_signaled(fence: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&fence, PollFlags::IN)];
    matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(1..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let token = Descriptor::DmaBuf {
            id: Id::new(),
            file: 9,
            offset: 4096,
            size: 1 << 33,
            tiling: (2, 512),
            object: 77,
        };
        let (client, device) = token.create(true).unwrap();
        assert_eq!(Descriptor::of(client.as_fd()), Some(token));
        let copy = rustix::io::dup(&client).unwrap();
        drop(client);
        assert!(!hung_up(&device));
        assert_eq!(Descriptor::of(copy.as_fd()), Some(token));
        drop(copy);
        assert!(hung_up(&device));
        // The name stays when the device's end is gone.
        let directory = Descriptor::Directory { id: Id::new(), number: 3 };
        let (client, device) = directory.create(true).unwrap();
        drop(device);
        assert_eq!(Descriptor::of(client.as_fd()), Some(directory));
        let past = signaled_fence().unwrap();
        assert!(is_fence(past.as_fd()) && is_signaled(&past) && status(&past) == 1);
        assert!(!is_fence(client.as_fd()));
    }
}
