//! The kernel's interface: ioctl numbers and the structures that they carry, as Linux's headers
//! `drm.h`, `drm_mode.h` and `i915_drm.h` have them on 64-bit machines. The layout is a stable ABI;
//! names are the kernel's without prefix.

pub mod drm;
pub mod i915;
pub mod mode;
pub mod sync_file;

use bytemuck::Pod;

/// The type of DRM's ioctls: `'d'`.
pub const DRM_TYPE: u32 = b'd' as u32;

/// Driver's ioctls start here.
pub const COMMAND_BASE: u32 = 0x40;

/// An ioctl request, in its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request(
    /// As passed to `ioctl`.
    pub u32,
);

impl Request {
    /// An ioctl of DRM that reads and writes a `T`.
    pub const fn of<T>(number: u32) -> Request {
        Request(3 << 30 | (size_of::<T>() as u32) << 16 | DRM_TYPE << 8 | number)
    }

    /// One of i915's.
    pub const fn i915<T>(number: u32) -> Request {
        Request::of::<T>(COMMAND_BASE + number)
    }

    /// Which ioctl of its type.
    pub const fn number(self) -> u32 {
        self.0 & 0xff
    }

    /// The subsystem.
    pub const fn kind(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Bytes of the argument.
    pub const fn size(self) -> usize {
        (self.0 >> 16 & 0x3fff) as usize
    }
}

/// An extension in a chain of them (`i915_user_extension`).
#[repr(C)]
#[derive(Clone, Copy, Pod, bytemuck::Zeroable, Debug, Default)]
pub struct Extension {
    /// Address of the next one, or 0.
    pub next: u64,
    /// Which.
    pub name: u32,
    /// Must be 0.
    pub flags: u32,
    /// Must be 0.
    pub reserved: [u32; 4],
}

/// Declares structures of the ABI: plain data, all fields public, zeros by default.
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
mod tests {
    use super::{Extension, Request, drm, i915, mode};
    use std::mem::offset_of;

    /// Oracle: the requests that a C compiler makes of libdrm's headers (2.4.114, x86-64), without
    /// their direction.
    #[test]
    fn requests() {
        let table = [
            (Request::of::<drm::Version>(drm::nr::VERSION), 0xc040_6400),
            (Request::of::<drm::Unique>(drm::nr::GET_UNIQUE), 0xc010_6401),
            (Request::of::<drm::Auth>(drm::nr::GET_MAGIC), 0x8004_6402),
            (Request::of::<drm::SetVersion>(drm::nr::SET_VERSION), 0xc010_6407),
            (Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE), 0x4008_6409),
            (Request::of::<drm::GemFlink>(drm::nr::GEM_FLINK), 0xc008_640a),
            (Request::of::<drm::GemOpen>(drm::nr::GEM_OPEN), 0xc010_640b),
            (Request::of::<drm::Cap>(drm::nr::GET_CAP), 0xc010_640c),
            (Request::of::<drm::Cap>(drm::nr::SET_CLIENT_CAP), 0x4010_640d),
            (Request::of::<drm::PrimeHandle>(drm::nr::PRIME_HANDLE_TO_FD), 0xc00c_642d),
            (Request::of::<drm::PrimeHandle>(drm::nr::PRIME_FD_TO_HANDLE), 0xc00c_642e),
            (Request::of::<drm::WaitVblank>(drm::nr::WAIT_VBLANK), 0xc018_643a),
            (Request::of::<drm::CrtcGetSequence>(drm::nr::CRTC_GET_SEQUENCE), 0xc018_643b),
            (Request::of::<drm::Syncobj>(drm::nr::SYNCOBJ_CREATE), 0xc008_64bf),
            (Request::of::<drm::Syncobj>(drm::nr::SYNCOBJ_DESTROY), 0xc008_64c0),
            (Request::of::<drm::SyncobjHandle>(drm::nr::SYNCOBJ_HANDLE_TO_FD), 0xc010_64c1),
            (Request::of::<drm::SyncobjHandle>(drm::nr::SYNCOBJ_FD_TO_HANDLE), 0xc010_64c2),
            (Request::of::<drm::SyncobjWait>(drm::nr::SYNCOBJ_WAIT), 0xc020_64c3),
            (Request::of::<drm::SyncobjArray>(drm::nr::SYNCOBJ_RESET), 0xc010_64c4),
            (Request::of::<drm::SyncobjArray>(drm::nr::SYNCOBJ_SIGNAL), 0xc010_64c5),
            (Request::of::<drm::SyncobjTimelineWait>(drm::nr::SYNCOBJ_TIMELINE_WAIT), 0xc028_64ca),
            (Request::of::<drm::SyncobjTimelineArray>(drm::nr::SYNCOBJ_QUERY), 0xc018_64cb),
            (Request::of::<drm::SyncobjTransfer>(drm::nr::SYNCOBJ_TRANSFER), 0xc020_64cc),
            (
                Request::of::<drm::SyncobjTimelineArray>(drm::nr::SYNCOBJ_TIMELINE_SIGNAL),
                0xc018_64cd,
            ),
            (Request::of::<mode::CardRes>(mode::nr::GETRESOURCES), 0xc040_64a0),
            (Request::of::<mode::Crtc>(mode::nr::GETCRTC), 0xc068_64a1),
            (Request::of::<mode::Crtc>(mode::nr::SETCRTC), 0xc068_64a2),
            (Request::of::<mode::CrtcLut>(mode::nr::GETGAMMA), 0xc020_64a4),
            (Request::of::<mode::GetEncoder>(mode::nr::GETENCODER), 0xc014_64a6),
            (Request::of::<mode::GetConnector>(mode::nr::GETCONNECTOR), 0xc050_64a7),
            (Request::of::<mode::GetProperty>(mode::nr::GETPROPERTY), 0xc040_64aa),
            (Request::of::<mode::FbCmd>(mode::nr::GETFB), 0xc01c_64ad),
            (Request::of::<mode::FbCmd>(mode::nr::ADDFB), 0xc01c_64ae),
            (Request::of::<mode::FbId>(mode::nr::RMFB), 0xc004_64af),
            (Request::of::<mode::FbDirty>(mode::nr::DIRTYFB), 0xc018_64b1),
            (Request::of::<mode::PageFlip>(mode::nr::PAGE_FLIP), 0xc018_64b0),
            (Request::of::<mode::CreateDumb>(mode::nr::CREATE_DUMB), 0xc020_64b2),
            (Request::of::<mode::MapDumb>(mode::nr::MAP_DUMB), 0xc010_64b3),
            (Request::of::<mode::DestroyDumb>(mode::nr::DESTROY_DUMB), 0xc004_64b4),
            (Request::of::<mode::PlaneRes>(mode::nr::GETPLANERESOURCES), 0xc010_64b5),
            (Request::of::<mode::Blob>(mode::nr::GETPROPBLOB), 0xc010_64ac),
            (Request::of::<mode::CreateBlob>(mode::nr::CREATEPROPBLOB), 0xc010_64bd),
            (Request::of::<mode::BlobId>(mode::nr::DESTROYPROPBLOB), 0xc004_64be),
            (Request::of::<mode::Atomic>(mode::nr::ATOMIC), 0xc038_64bc),
            (Request::of::<mode::GetPlane>(mode::nr::GETPLANE), 0xc020_64b6),
            (Request::of::<mode::FbCmd2>(mode::nr::ADDFB2), 0xc068_64b8),
            (Request::of::<mode::ObjGetProperties>(mode::nr::OBJ_GETPROPERTIES), 0xc020_64b9),
            (Request::i915::<i915::GetParam>(i915::nr::GETPARAM), 0xc010_6446),
            (Request::i915::<i915::GemBusy>(i915::nr::GEM_BUSY), 0xc008_6457),
            (Request::i915::<i915::GemCreate>(i915::nr::GEM_CREATE), 0xc010_645b),
            (Request::i915::<i915::GemTransfer>(i915::nr::GEM_PREAD), 0x4020_645c),
            (Request::i915::<i915::GemTransfer>(i915::nr::GEM_PWRITE), 0x4020_645d),
            (Request::i915::<i915::GemMmap>(i915::nr::GEM_MMAP), 0xc028_645e),
            (Request::i915::<i915::GemSetDomain>(i915::nr::GEM_SET_DOMAIN), 0x400c_645f),
            (Request::i915::<i915::GemSwFinish>(i915::nr::GEM_SW_FINISH), 0x4004_6460),
            (Request::i915::<i915::GemSetTiling>(i915::nr::GEM_SET_TILING), 0xc010_6461),
            (Request::i915::<i915::GemGetTiling>(i915::nr::GEM_GET_TILING), 0xc010_6462),
            (Request::i915::<i915::GemGetAperture>(i915::nr::GEM_GET_APERTURE), 0x8010_6463),
            (Request::i915::<i915::GemMmapOffset>(i915::nr::GEM_MMAP_OFFSET), 0xc020_6464),
            (Request::i915::<i915::PipeFromCrtc>(i915::nr::GET_PIPE_FROM_CRTC_ID), 0xc008_6465),
            (Request::i915::<i915::GemMadvise>(i915::nr::GEM_MADVISE), 0xc00c_6466),
            (Request::i915::<i915::ExecBuffer2>(i915::nr::GEM_EXECBUFFER2), 0xc040_6469),
            (Request::i915::<i915::GemWait>(i915::nr::GEM_WAIT), 0xc010_646c),
            (Request::i915::<i915::ContextCreate>(i915::nr::GEM_CONTEXT_CREATE), 0xc010_646d),
            (Request::i915::<i915::ContextDestroy>(i915::nr::GEM_CONTEXT_DESTROY), 0x4008_646e),
            (Request::i915::<i915::GemCaching>(i915::nr::GEM_SET_CACHING), 0x4008_646f),
            (Request::i915::<i915::GemCaching>(i915::nr::GEM_GET_CACHING), 0xc008_6470),
            (Request::i915::<i915::RegRead>(i915::nr::REG_READ), 0xc010_6471),
            (Request::i915::<i915::ResetStats>(i915::nr::GET_RESET_STATS), 0xc018_6472),
            (Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), 0xc018_6473),
            (Request::i915::<i915::ContextParam>(i915::nr::GEM_CONTEXT_GETPARAM), 0xc018_6474),
            (Request::i915::<i915::ContextParam>(i915::nr::GEM_CONTEXT_SETPARAM), 0xc018_6475),
            (Request::i915::<i915::Query>(i915::nr::QUERY), 0xc010_6479),
            (Request::i915::<i915::VmControl>(i915::nr::GEM_VM_CREATE), 0xc010_647a),
            (Request::i915::<i915::VmControl>(i915::nr::GEM_VM_DESTROY), 0x4010_647b),
            (Request::i915::<i915::GemCreateExt>(i915::nr::GEM_CREATE_EXT), 0xc018_647c),
        ];
        for (ours, theirs) in table {
            assert_eq!(ours.0 & 0x3fff_ffff, theirs & 0x3fff_ffff, "{theirs:#x}");
        }
    }

    /// Oracle: sizes and offsets that a C compiler finds in libdrm's headers (2.4.114, x86-64).
    #[test]
    fn layout() {
        let sizes = [
            (size_of::<drm::EventVblank>(), 32),
            (size_of::<mode::ModeInfo>(), 68),
            (size_of::<mode::PropertyEnum>(), 40),
            (size_of::<mode::FormatModifierBlob>(), 24),
            (size_of::<mode::FormatModifier>(), 24),
            (offset_of!(mode::FormatModifier, modifier), 16),
            (offset_of!(mode::Atomic, user_data), 48),
            (offset_of!(mode::GetPlane, format_type_ptr), 24),
            (size_of::<i915::ExecObject2>(), 56),
            (size_of::<i915::Relocation>(), 32),
            (size_of::<i915::ExecFence>(), 8),
            (size_of::<i915::TimelineFences>(), 56),
            (size_of::<i915::ContextSetParam>(), 56),
            (size_of::<i915::ContextSseu>(), 32),
            (size_of::<i915::QueryItem>(), 24),
            (size_of::<i915::TopologyInfo>(), 16),
            (size_of::<i915::ListHead>(), 16),
            (size_of::<i915::EngineInfo>(), 56),
            (size_of::<i915::MemoryRegionInfo>(), 88),
            (size_of::<Extension>(), 32),
            (offset_of!(mode::FbCmd2, modifier), 72),
            (offset_of!(mode::GetConnector, connection), 60),
            (offset_of!(mode::Crtc, mode), 36),
            (offset_of!(i915::ExecBuffer2, rsvd2), 56),
            (offset_of!(drm::Version, desc), 56),
            (offset_of!(mode::GetProperty, count_values), 56),
            (offset_of!(i915::EngineInfo, logical_instance), 24),
            (offset_of!(mode::ModeInfo, vrefresh), 24),
            (offset_of!(i915::MemoryRegionInfo, probed_size), 8),
            (offset_of!(mode::CreateDumb, pitch), 20),
            (offset_of!(i915::LoadBalance, mbz64), 40),
            (offset_of!(i915::LoadBalance, num_siblings), 34),
        ];
        for (index, (ours, theirs)) in sizes.into_iter().enumerate() {
            assert_eq!(ours, theirs, "row {index}");
        }
    }
}
