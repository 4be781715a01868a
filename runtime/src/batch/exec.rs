//! A submission in the form of the i915 kernel driver (DRM_IOCTL_I915_GEM_EXECBUFFER2). Names and
//! numbers are those of `i915_drm.h`, so that a driver can copy field by field, or pass a pointer
//! where the layouts are equal.

use super::buffer::Buffer;
use super::error::BatchError;
use super::reloc::{Access, canonical};
use super::submission::Submission;
use crate::engine::EngineId;
use alloc::vec::Vec;

/// `EXEC_OBJECT_WRITE`: the GPU writes the object.
pub const EXEC_OBJECT_WRITE: u64 = 1 << 2;
/// `EXEC_OBJECT_SUPPORTS_48B_ADDRESS`: the object may lie above 4 GiB.
pub const EXEC_OBJECT_SUPPORTS_48B_ADDRESS: u64 = 1 << 3;
/// `EXEC_OBJECT_PINNED`: the object must lie at `offset` (softpin).
pub const EXEC_OBJECT_PINNED: u64 = 1 << 4;
/// `I915_EXEC_NO_RELOC`: relocations can be skipped if all objects are at their presumed addresses.
pub const I915_EXEC_NO_RELOC: u64 = 1 << 11;
/// `I915_EXEC_HANDLE_LUT`: relocations name objects by their index in the list.
pub const I915_EXEC_HANDLE_LUT: u64 = 1 << 12;
/// `I915_EXEC_BATCH_FIRST`: the batch is the first object instead of the last.
pub const I915_EXEC_BATCH_FIRST: u64 = 1 << 18;
/// `I915_GEM_DOMAIN_RENDER`: read or written by the GPU.
pub const I915_GEM_DOMAIN_RENDER: u32 = 2;

/// How objects get their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Objects stay at their addresses: no relocations.
    Softpin,
    /// The kernel chooses the addresses and writes them into the buffers.
    Relocated,
}

/// As `struct drm_i915_gem_relocation_entry`: same fields, same layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct RelocationEntry {
    /// The object: its index in the list of objects (`I915_EXEC_HANDLE_LUT`).
    pub target_handle: u32,
    /// The value added to the object's address, with the flags in the bits below the address.
    pub delta: u32,
    /// Offset in the buffer where the sum is written; the sum has 8 bytes on this generation.
    pub offset: u64,
    /// The presumed address of the object, canonical.
    pub presumed_offset: u64,
    /// Always `I915_GEM_DOMAIN_RENDER`.
    pub read_domains: u32,
    /// `I915_GEM_DOMAIN_RENDER` if the GPU writes the object, else 0.
    pub write_domain: u32,
}

/// As `struct drm_i915_gem_exec_object2`, with the relocations themselves instead of a pointer to
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecObject {
    /// The kernel's handle ([`Buffer::with_handle`]).
    pub handle: u32,
    /// The relocations of `relocs_ptr` and `relocation_count`.
    pub relocations: Vec<RelocationEntry>,
    /// Alignment in bytes if the kernel chooses the address; 0 means a page.
    pub alignment: u64,
    /// Present or wanted address of the object, canonical.
    pub offset: u64,
    /// Flags: `EXEC_OBJECT_...`.
    pub flags: u64,
}

/// As `struct drm_i915_gem_execbuffer2`, with the objects themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecBuffer {
    /// The objects, the batch first.
    pub objects: Vec<ExecObject>,
    /// Offset of the batch in the first object: 0.
    pub batch_start_offset: u32,
    /// Length of the batch in bytes, a multiple of 8.
    pub batch_len: u32,
    /// Number of the ring, and flags `I915_EXEC_...`.
    pub flags: u64,
}

impl Submission {
    /// The submission in the form of the kernel.
    ///
    /// With [`Placement::Softpin`] every object is pinned to its address. With
    /// [`Placement::Relocated`] the objects have relocations, and their addresses are presumed
    /// ones.
    ///
    /// An object is marked as written if a packet or state took its address with `writes`. Heaps of
    /// general state and instructions are not marked as supporting addresses above 4 GiB, because
    /// of Broadwell's errata (Wa32bitGeneralStateOffset, Wa32bitInstructionBaseOffset). An object
    /// that softpin puts above 4 GiB is always marked.
    ///
    /// ```
    /// use genxml::batch::{Batch, Buffer, Placement, EXEC_OBJECT_WRITE};
    /// use genxml::core::U;
    /// use genxml::engine::Render;
    /// use genxml::gen8::mi::MiStoreDataImm;
    ///
    /// let target = Buffer::new("target", 0x10000, 4096)?.with_handle(7);
    /// let mut batch = Batch::<Render>::new("batch", 0x20000, 4096)?;
    /// let values = [U::new(42)?];
    /// let address = batch.writes(&target, 8)?;
    /// batch.emit(&MiStoreDataImm { data_dword: (&values).into(), ..MiStoreDataImm::new(address) })?;
    /// let exec = batch.finish()?.submit([target])?.exec(Placement::Relocated)?;
    /// let entry = exec.objects[0].relocations[0];
    /// assert_eq!((entry.target_handle, entry.offset, entry.delta), (1, 4, 8));
    /// assert_eq!(exec.objects[1].flags & EXEC_OBJECT_WRITE, EXEC_OBJECT_WRITE);
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError::Missing`] if something refers to an object that is not in the submission. For
    /// relocations also [`BatchError::Unrelocatable`] if a field does not have the form that the
    /// kernel writes, and [`BatchError::TooFar`] if the value that the kernel must add to the
    /// object's address is not in the range 0 to 2^31 - 1.
    pub fn exec(&self, placement: Placement) -> Result<ExecBuffer, BatchError> {
        self.references()?;
        if placement == Placement::Relocated {
            self.relocatable()?;
        }
        let mut objects: Vec<ExecObject> =
            self.buffers.iter().map(|buffer| self.object(buffer, placement)).collect();
        let all = self.buffers.iter().flat_map(|buffer| &buffer.relocations);
        for relocation in all.filter(|relocation| relocation.access == Access::Write) {
            if let Some(object) =
                self.index(relocation.target).and_then(|index| objects.get_mut(index))
            {
                object.flags |= EXEC_OBJECT_WRITE;
            }
        }
        let ring = match self.engine {
            EngineId::Render => 1,
            EngineId::Video => 2,
            EngineId::Blitter => 3,
            EngineId::VideoEnhance => 4,
        };
        Ok(ExecBuffer {
            objects,
            batch_start_offset: 0,
            batch_len: self.batch_length as u32,
            flags: ring | I915_EXEC_NO_RELOC | I915_EXEC_HANDLE_LUT | I915_EXEC_BATCH_FIRST,
        })
    }

    fn object(&self, buffer: &Buffer, placement: Placement) -> ExecObject {
        let high = if buffer.low { 0 } else { EXEC_OBJECT_SUPPORTS_48B_ADDRESS };
        let (flags, relocations) = match placement {
            // Below 4 GiB, the flag depends on what the object holds; above, it is required.
            Placement::Softpin if buffer.address + buffer.bytes.len() as u64 <= 1 << 32 => {
                (EXEC_OBJECT_PINNED | high, Vec::new())
            }
            Placement::Softpin => {
                (EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS, Vec::new())
            }
            Placement::Relocated => (high, self.entries(buffer)),
        };
        ExecObject {
            handle: buffer.handle,
            relocations,
            alignment: 0,
            offset: canonical(buffer.address),
            flags,
        }
    }

    fn entries(&self, buffer: &Buffer) -> Vec<RelocationEntry> {
        let entries = buffer.relocations.iter().filter_map(|relocation| {
            Some(RelocationEntry {
                target_handle: self.index(relocation.target)? as u32,
                // `relocatable` has checked that it fits.
                delta: relocation.delta as u32,
                offset: relocation.offset,
                presumed_offset: canonical(relocation.target),
                read_domains: I915_GEM_DOMAIN_RENDER,
                write_domain: match relocation.access {
                    Access::Read => 0,
                    Access::Write => I915_GEM_DOMAIN_RENDER,
                },
            })
        });
        entries.collect()
    }
}
