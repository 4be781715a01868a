//! File descriptors that stand for an open device, a shared buffer, a syncobj, a sync file or an
//! open directory.
//!
//! Each descriptor is one end of a pair of sockets. The other end stays with the device, and the
//! name of that socket says what the descriptor stands for. Any process that holds the descriptor
//! can read this name (getpeername). poll and read work without additional code. When the last
//! duplicate of the descriptor is closed, the device's end hangs up.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, getpeername,
    recv, recvmsg, send, sendmsg, socketpair,
};
use std::fmt;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Start of the name of every such socket.
const PREFIX: &str = "genx-shim/";

/// A duplicate of one of the client's descriptors for the device to keep. Its number is 512 or
/// more, if the limit of the process permits that.
///
/// # Errors
/// EMFILE if there are too many descriptors.
pub fn keep(descriptor: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    rustix::io::fcntl_dupfd_cloexec(descriptor, 512)
        .or_else(|_| rustix::io::fcntl_dupfd_cloexec(descriptor, 0))
}

/// What a descriptor stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Descriptor {
    /// An open device.
    Device {
        /// Identifies the open file.
        id: Id,
        /// Minor number of the device.
        minor: u32,
    },
    /// A buffer (dma-buf): part of a file in memory.
    DmaBuf {
        /// Identifies the export.
        id: Id,
        /// Number of the file's descriptor, in the process that owns the buffer.
        file: u32,
        /// Offset of the buffer in the file.
        offset: u64,
        /// Size in bytes.
        size: u64,
        /// Tiling (the kernel's number) and stride in bytes.
        tiling: (u32, u32),
        /// Number of the object in the process that owns the buffer.
        object: u64,
    },
    /// A syncobj.
    Syncobj {
        /// Identifies the export.
        id: Id,
    },
    /// A sync file.
    SyncFile {
        /// Identifies the fence.
        id: Id,
    },
    /// A directory in `/dev` or `/sys` that this library provides, or a link there that was opened
    /// with O_PATH.
    Directory {
        /// Identifies the open directory or link.
        id: Id,
        /// Number of its path among the paths that this library provides.
        number: u64,
    },
}

/// A process, and a number that is unique within it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Id {
    /// The process.
    pub pid: u32,
    /// The number.
    pub serial: u64,
}

impl Id {
    /// An id that this process has not used before.
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

/// The error for a socket name that stands for no descriptor of this library.
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
    /// Creates a descriptor: returns the client's end and the device's end.
    ///
    /// # Errors
    /// EMFILE or ENFILE if there are too many descriptors.
    pub fn create(self, close_on_exec: bool) -> Result<(OwnedFd, OwnedFd), Errno> {
        let name = SocketAddrUnix::new_abstract_name(self.to_string().as_bytes())?;
        let flags = if close_on_exec { SocketFlags::CLOEXEC } else { SocketFlags::empty() };
        let (client, device) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        if !close_on_exec {
            rustix::io::fcntl_setfd(&device, rustix::io::FdFlags::CLOEXEC)?;
        }
        // A high number: programs expect certain low numbers for the files that they open.
        let device = rustix::io::fcntl_dupfd_cloexec(&device, 512).unwrap_or(device);
        bind(&device, &name)?;
        Ok((client, device))
    }

    /// What a descriptor stands for; `None` if this library did not create it.
    pub fn of(descriptor: BorrowedFd<'_>) -> Option<Descriptor> {
        let peer = getpeername(descriptor).ok()??;
        let peer = SocketAddrUnix::try_from(peer).ok()?;
        std::str::from_utf8(peer.abstract_name()?).ok()?.parse().ok()
    }
}

/// True if every duplicate of the client's end is closed.
pub fn hung_up(device: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(device, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().contains(PollFlags::HUP)
}

/// Sends an event, which the client can read from its end. If the socket's buffer is full, the
/// event is dropped, as the kernel drops events.
pub fn send_event(device: &OwnedFd, event: &[u8]) {
    let _ = send(device, event, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Sends an event of one byte with a file, which any process that holds the client's end can
/// [receive](attached).
///
/// # Errors
/// The errors of sendmsg.
pub fn attach(device: &OwnedFd, file: BorrowedFd<'_>) -> Result<(), Errno> {
    let files = [file];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&files));
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(device, &[IoSlice::new(&[0])], &mut control, flags).map(drop)
}

/// A duplicate of the file that the device has attached to a descriptor. The file stays attached,
/// also if the process of the device has ended.
///
/// # Errors
/// ENOENT if there is no file; those of recvmsg.
pub fn attached(client: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    recvmsg(client, &mut [IoSliceMut::new(&mut [0])], &mut control, flags)?;
    let mut messages = control.drain();
    messages
        .find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        })
        .ok_or(Errno::NOENT)
}

/// A sync file that has signaled.
///
/// # Errors
/// EMFILE or ENFILE if there are too many descriptors.
pub fn signaled_fence() -> Result<OwnedFd, Errno> {
    let (client, device) = new_fence()?;
    signal(&device, true);
    Ok(client)
}

/// A sync file and the device's end of it. The sync file signals when [`signal`] is called for the
/// device's end, or when that end is closed.
///
/// # Errors
/// EMFILE or ENFILE if there are too many descriptors.
pub fn new_fence() -> Result<(OwnedFd, OwnedFd), Errno> {
    Descriptor::SyncFile { id: Id::new() }.create(true)
}

/// True if a descriptor is a sync file.
pub fn is_fence(descriptor: BorrowedFd<'_>) -> bool {
    matches!(Descriptor::of(descriptor), Some(Descriptor::SyncFile { .. }))
}

/// Signals a sync file through the device's end. `well` is false if the work failed.
pub fn signal(device: &OwnedFd, well: bool) {
    let status = if well { 1 } else { -Errno::IO.raw_os_error() };
    send_event(device, &status.to_ne_bytes());
}

/// The status of a sync file as SYNC_IOC_FILE_INFO reports it: 1 if signaled, 0 if not, a negative
/// error if the work failed.
pub fn status(fence: impl AsFd) -> i32 {
    let mut status = [0; 4];
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    match recv(&fence, &mut status, flags) {
        Ok((4, _)) => i32::from_ne_bytes(status),
        _ => is_signaled(fence).into(),
    }
}

/// True if a sync file has signaled.
pub fn is_signaled(fence: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&fence, PollFlags::IN)];
    matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(1..))
}

#[cfg(test)]
mod tests;
