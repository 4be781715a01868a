//! Sync files and shared buffers (`sync_file.h`, `dma-buf.h`).

use super::structures;

/// Type of the ioctls of sync files: `'>'`.
pub const SYNC_FILE_TYPE: u32 = b'>' as u32;
/// Type of the ioctls of shared buffers: `'b'`.
pub const DMA_BUF_TYPE: u32 = b'b' as u32;

/// Numbers of the ioctls.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod nr {
    pub const SYNC_IOC_MERGE: u32 = 3;
    pub const SYNC_IOC_FILE_INFO: u32 = 4;
    pub const DMA_BUF_IOCTL_SYNC: u32 = 0;
    pub const DMA_BUF_IOCTL_EXPORT_SYNC_FILE: u32 = 2;
    pub const DMA_BUF_IOCTL_IMPORT_SYNC_FILE: u32 = 3;
}

/// DMA_BUF_IOCTL_SYNC: the CPU reads the buffer.
pub const DMA_BUF_SYNC_READ: u64 = 1;
/// DMA_BUF_IOCTL_SYNC: the CPU writes the buffer.
pub const DMA_BUF_SYNC_WRITE: u64 = 2;
/// DMA_BUF_IOCTL_SYNC: the access ends. Without this flag, it begins.
pub const DMA_BUF_SYNC_END: u64 = 4;

structures! {
    /// Argument of SYNC_IOC_MERGE.
    MergeData { name: [u8; 32], fd2: i32, fence: i32, flags: u32, pad: u32 }
    /// Argument of SYNC_IOC_FILE_INFO.
    FileInfo {
        name: [u8; 32], status: i32, flags: u32, num_fences: u32, pad: u32, sync_fence_info: u64,
    }
    /// A fence in the answer to SYNC_IOC_FILE_INFO.
    FenceInfo {
        obj_name: [u8; 32], driver_name: [u8; 32], status: i32, flags: u32, timestamp_ns: u64,
    }
    /// Argument of DMA_BUF_IOCTL_SYNC.
    DmaBufSync { flags: u64 }
    /// Argument of DMA_BUF_IOCTL_EXPORT_SYNC_FILE.
    ExportSyncFile { flags: u32, fd: i32 }
}
