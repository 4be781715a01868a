//! The hook for ioctl.

use super::{descriptor, hooks, number};
use crate::device::descriptor::{self as descriptors, Descriptor};
use crate::edge::host::PROCESS;
use crate::edge::session;
use crate::uapi::sync_file::{
    DMA_BUF_SYNC_END, DMA_BUF_SYNC_READ, DMA_BUF_SYNC_WRITE, DMA_BUF_TYPE, DmaBufSync,
    ExportSyncFile, FenceInfo, FileInfo, MergeData, SYNC_FILE_TYPE, nr,
};
use crate::uapi::{DRM_TYPE, Request};
use libc::{c_int, c_ulong, c_void};
use rustix::fd::IntoRawFd;
use rustix::io::Errno;

/// DMA_BUF_IOCTL_SYNC: the CPU reads and writes the buffer.
const BOTH: u64 = DMA_BUF_SYNC_READ | DMA_BUF_SYNC_WRITE;

hooks! {
    fn ioctl(file: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
        match ours(file, Request(request as u32), argument as u64) {
            Some(result) => number(result.map(|()| 0)),
            // SAFETY: the caller of `ioctl` passes an argument that fits the request, and the
            // kernel checks the address. An ioctl without argument ignores whatever is in its
            // register.
            None => unsafe { libc::syscall(libc::SYS_ioctl, file, request, argument) as c_int },
        }
    }
}

/// Executes ioctls of devices, shared buffers and sync files; `None` if the kernel must execute the
/// ioctl.
fn ours(file: c_int, request: Request, argument: u64) -> Option<Result<(), Errno>> {
    match request.kind() {
        DRM_TYPE => match descriptor(file)? {
            Descriptor::Device { id, minor } => Some(session::ioctl(id, minor, request, argument)),
            _ => Some(Err(Errno::NOTTY)),
        },
        SYNC_FILE_TYPE => sync_file(file, request, argument),
        DMA_BUF_TYPE => Some(match (descriptor(file)?, request.number()) {
            (Descriptor::DmaBuf { .. }, nr::DMA_BUF_IOCTL_SYNC) => access(argument),
            (Descriptor::DmaBuf { .. }, nr::DMA_BUF_IOCTL_EXPORT_SYNC_FILE) => export(argument),
            (Descriptor::DmaBuf { .. }, nr::DMA_BUF_IOCTL_IMPORT_SYNC_FILE) => Ok(()),
            _ => Err(Errno::NOTTY),
        }),
        _ => None,
    }
}

/// Executes ioctls of sync files; `None` if the kernel must execute the ioctl.
fn sync_file(file: c_int, request: Request, argument: u64) -> Option<Result<(), Errno>> {
    let is_sync_file = || matches!(descriptor(file), Some(Descriptor::SyncFile { .. }));
    let has_size = |size| request.size() == size;
    match request.number() {
        nr::SYNC_IOC_MERGE if has_size(size_of::<MergeData>()) && is_sync_file() => {
            Some(merge(file, argument))
        }
        nr::SYNC_IOC_FILE_INFO if has_size(size_of::<FileInfo>()) && is_sync_file() => {
            Some(info(file, argument))
        }
        _ => None,
    }
}

/// Executes the ioctl SYNC_IOC_MERGE.
fn merge(file: c_int, argument: u64) -> Result<(), Errno> {
    let mut merge: MergeData = PROCESS.value(argument)?;
    // A second descriptor that is not a sync file gives ENOENT. (Linux sync_file.c,
    // sync_file_ioctl_merge)
    let second = PROCESS.sync_file(merge.fd2).map_err(|_| Errno::NOENT)?;
    let files = [PROCESS.sync_file(file)?, second];
    merge.fence = session::merge(files)?.into_raw_fd();
    PROCESS.put(argument, &merge)
}

/// Executes the ioctl SYNC_IOC_FILE_INFO. A merged sync file is reported as one fence.
fn info(file: c_int, argument: u64) -> Result<(), Errno> {
    let mut info: FileInfo = PROCESS.value(argument)?;
    let status = descriptors::status(PROCESS.duplicate(file)?);
    (info.status, info.flags) = (status, 0);
    if info.num_fences > 0 {
        PROCESS.put(info.sync_fence_info, &FenceInfo { status, ..Default::default() })?;
    }
    info.num_fences = 1;
    PROCESS.put(argument, &info)
}

/// DMA_BUF_IOCTL_SYNC: begin or end of CPU access. Nothing to do, because memory is coherent and
/// submissions with shared buffers are complete when their ioctl returns.
///
/// # Errors
/// EINVAL unless the flags are READ, WRITE or both, maybe with END. (Linux dma-buf.c)
fn access(argument: u64) -> Result<(), Errno> {
    let DmaBufSync { flags } = PROCESS.value(argument)?;
    match flags & !DMA_BUF_SYNC_END {
        DMA_BUF_SYNC_READ | DMA_BUF_SYNC_WRITE | BOTH => Ok(()),
        _ => Err(Errno::INVAL),
    }
}

/// DMA_BUF_IOCTL_EXPORT_SYNC_FILE: returns a sync file that has signaled, since submissions with
/// shared buffers are complete when their ioctl returns.
fn export(argument: u64) -> Result<(), Errno> {
    let mut export: ExportSyncFile = PROCESS.value(argument)?;
    export.fd = descriptors::signaled_fence()?.into_raw_fd();
    PROCESS.put(argument, &export)
}
