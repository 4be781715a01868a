//! The kernel's interface as data: ioctl numbers and their structures, as in Linux's headers
//! `drm.h`, `drm_mode.h` and `i915_drm.h` on 64-bit machines. The layout is a stable ABI. Names are
//! the kernel's without prefix.

pub mod drm;
pub mod i915;
pub mod mode;
pub mod sync_file;

use bytemuck::Pod;

/// Type of DRM ioctls: `'d'`.
pub const DRM_TYPE: u32 = b'd' as u32;

/// First number of driver-specific ioctls.
pub const COMMAND_BASE: u32 = 0x40;

/// The request number of an ioctl: direction, size of the argument, type, and number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request(
    /// The number as it is passed to `ioctl`.
    pub u32,
);

impl Request {
    /// A DRM ioctl that reads and writes a `T`.
    pub const fn of<T>(number: u32) -> Request {
        Request(3 << 30 | (size_of::<T>() as u32) << 16 | DRM_TYPE << 8 | number)
    }

    /// An i915 ioctl that reads and writes a `T`.
    pub const fn i915<T>(number: u32) -> Request {
        Request::of::<T>(COMMAND_BASE + number)
    }

    /// The number of the ioctl within its type: bits 7:0.
    pub const fn number(self) -> u32 {
        self.0 & 0xff
    }

    /// The type of the ioctl, which identifies the subsystem: bits 15:8.
    pub const fn kind(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Size of the argument in bytes: bits 29:16.
    pub const fn size(self) -> usize {
        (self.0 >> 16 & 0x3fff) as usize
    }
}

/// The header of an extension in a chain (`i915_user_extension`).
#[repr(C)]
#[derive(Clone, Copy, Pod, bytemuck::Zeroable, Debug, Default)]
pub struct Extension {
    /// Address of the next extension, or 0.
    pub next: u64,
    /// Number that says which extension this is.
    pub name: u32,
    /// Must be 0.
    pub flags: u32,
    /// Must be 0.
    pub reserved: [u32; 4],
}

/// Declares structures of the ABI: plain data with public fields, zero by default.
macro_rules! structures {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable, Debug)]
        #[allow(missing_docs, reason = "the kernel's names")]
        pub struct $name { $(pub $field: $type),* }

        impl Default for $name {
            fn default() -> Self {
                bytemuck::Zeroable::zeroed()
            }
        }
    )*};
}
use structures;

#[cfg(test)]
mod tests;
