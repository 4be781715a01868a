//! Objects (GEM): memory that client and GPU share.

use super::fence::{FOREVER, Fence};
use super::host::{FilePages, Keeper, Mappable, Pages, UserPages};
use super::outcome::{Outcome, Stop};
use super::tiling::SharedView;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Largest size of an object in bytes. Offsets for mmap have 35 bits for the offset in an object.
pub const MAX_SIZE: u64 = 1 << 35;

/// Identifies an object in the device. Files have their own handles for the object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ObjectId(pub u64);

/// Memory of an object, shared by its users.
#[derive(Clone, Debug)]
pub enum Storage {
    /// Part of a file, which clients map.
    File(Arc<dyn FilePages>),
    /// The client's own pages (GEM_USERPTR).
    User(Arc<dyn UserPages>),
}

impl Storage {
    /// The memory, from a file or from the client.
    pub fn pages(&self) -> &dyn Pages {
        match self {
            Storage::File(pages) => &**pages,
            Storage::User(pages) => &**pages,
        }
    }

    /// False if this is memory of the client, and the client has unmapped or protected some pages.
    pub fn is_accessible(&self) -> bool {
        match self {
            Storage::File(_) => true,
            Storage::User(pages) => pages.is_accessible(),
        }
    }

    /// The client lists the object in a submission. See [`UserPages::pin`].
    pub fn pin(&self) {
        if let Storage::User(pages) = self {
            pages.pin();
        }
    }

    /// Parts of the memory that may contain bytes other than zero. Empty for memory of the client
    /// that is not accessible.
    pub fn populated(&self) -> Vec<Range<usize>> {
        match self {
            Storage::File(pages) => pages
                .populated()
                .into_iter()
                .map(|part| part.start as usize..part.end as usize)
                .collect(),
            Storage::User(pages) if !pages.is_accessible() => Vec::new(),
            Storage::User(pages) => std::iter::once(0..pages.size() as usize).collect(),
        }
    }
}

/// Whether a client needs the contents of an object (GEM_MADVISE).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// The client needs the contents.
    Needed,
    /// The contents may be removed. They are not: the host's memory does not run short.
    NotNeeded,
    /// The contents were removed. The object cannot be used any more.
    Purged,
}

/// All objects.
pub type Objects = BTreeMap<ObjectId, Object>;

/// An object.
#[derive(Debug)]
pub struct Object {
    /// Number of handles, descriptors and frame buffers that refer to the object.
    pub users: u32,
    /// Size in bytes, whole pages.
    pub size: u64,
    /// The object's memory.
    pub storage: Storage,
    /// The descriptor, if the object was imported from another process. That process keeps the
    /// object as long as the descriptor is open.
    pub imported_from: Option<Arc<OwnedFd>>,
    /// True if the display or other processes may read the object without waiting for fences.
    pub is_shared: bool,
    /// Tiling: the kernel's number for linear, X or Y.
    pub tiling: u32,
    /// Stride in bytes if tiled.
    pub stride: u32,
    /// True if the GPU may not write the object.
    pub read_only: bool,
    /// Caching level (SET_CACHING). It is 1 at first, as on all GPUs with a shared last-level
    /// cache.
    pub caching: u32,
    /// The object's global name, if a client has requested one (FLINK).
    pub name: Option<u32>,
    /// True if a client may have mapped the object's own memory, not only its linear view.
    pub is_mapped: bool,
    /// The object's linear view through the aperture, if a client has requested one.
    pub view: Option<SharedView>,
    /// Whether the client needs the contents (GEM_MADVISE).
    pub advice: Advice,
    /// True if a submission has listed the object. The machine adopts the object's memory when that
    /// submission runs.
    pub submitted: bool,
    /// Fence of the last work that writes the object, until this fence signals.
    pub written: Option<Fence>,
    /// Fences of work that reads the object and was submitted after the last write.
    pub read: Vec<Fence>,
}

impl Object {
    /// The object's memory from `offset` on, for a mapping of the client.
    ///
    /// # Errors
    /// EINVAL for the client's own pages, which the client has mapped already; EMFILE if there are
    /// too many descriptors.
    pub fn mappable(&mut self, offset: u64) -> Result<Mappable, Errno> {
        self.is_mapped = true;
        let Storage::File(pages) = &self.storage else { return Err(Errno::INVAL) };
        let keeper = match &self.imported_from {
            Some(buffer) => Keeper::of_buffer(buffer.clone()),
            None => Keeper::of_pages(pages.clone()),
        };
        let (file, start) = pages.file();
        Ok(Mappable {
            file: rustix::io::fcntl_dupfd_cloexec(file, 0)?,
            offset: start + offset,
            keeper,
        })
    }

    /// Advises whether the client needs the contents. As in the kernel, an object that the GPU has
    /// not used loses its contents at once if they are not needed: the kernel has no list of its
    /// pages. (Linux i915_gem.c, i915_gem_madvise_ioctl)
    pub(super) fn advise(&mut self, is_needed: bool) {
        let has_pages =
            self.submitted || self.is_shared || matches!(self.storage, Storage::User(_));
        self.advice = match self.advice {
            Advice::Purged => Advice::Purged,
            _ if is_needed => Advice::Needed,
            _ if has_pages => Advice::NotNeeded,
            _ => Advice::Purged,
        };
    }

    /// Returns EFAULT if the contents were removed. (Linux i915_gem_pages.c)
    pub(super) fn check_contents(&self) -> Result<(), Errno> {
        if self.advice == Advice::Purged { Err(Errno::FAULT) } else { Ok(()) }
    }

    /// Removes fences that have signaled.
    pub(super) fn advance(&mut self) {
        self.written.take_if(|fence| fence.is_signaled());
        self.read.retain(|fence| !fence.is_signaled());
    }

    /// Fences of pending work: those of the last write and, with `also_reads`, those of reads.
    pub fn work(&mut self, also_reads: bool) -> Vec<Fence> {
        self.advance();
        let reads = if also_reads { &self.read[..] } else { &[] };
        self.written.iter().chain(reads).cloned().collect()
    }

    /// Records new work on the object. `writes` is true if the work writes the object.
    pub fn add_work(&mut self, fence: &Fence, writes: bool) {
        self.advance();
        if writes {
            self.written = Some(fence.clone());
            self.read.clear();
        } else {
            self.read.push(fence.clone());
        }
    }

    /// Makes the ioctl wait for the pending work that `work` returns.
    ///
    /// # Errors
    /// [`Stop::Wait`] while there is such work.
    pub fn wait(&mut self, also_reads: bool) -> Outcome {
        match self.work(also_reads)[..] {
            [] => Ok(()),
            _ => Err(Stop::Wait(FOREVER)),
        }
    }

    /// Copies the object into its view, if it has one.
    pub(super) fn refresh_view(&self) {
        if let Some(view) = &self.view {
            view.refresh(self.storage.pages());
        }
    }

    /// For GEM_SET_DOMAIN: writes the client's changes in the view to the object, then copies the
    /// object into the view. `aperture` is true for the domain GTT.
    pub(super) fn request_view(&self, aperture: bool) {
        if let Some(view) = &self.view {
            let alone = !self.is_mapped && !self.is_shared;
            view.request(self.storage.pages(), aperture && alone);
        }
    }

    /// Copies what the client changed in the view into the object.
    pub(super) fn write_back_view(&self) {
        if let Some(view) = &self.view {
            view.write_back(self.storage.pages());
        }
    }
}
