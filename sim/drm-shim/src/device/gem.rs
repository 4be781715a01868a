//! Objects: memory that client and GPU share.

use super::fence::{FOREVER, Fence, now};
use super::host::{FilePages, Pages, UserPages};
use super::tiling::SharedView;
use super::{Device, File, Outcome, Stop};
use crate::uapi::{drm, i915, mode};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Most bytes of an object; offsets for mmap have room for so many.
pub const MAX_SIZE: u64 = 1 << 35;

/// An object, whatever number files have for it.
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
    /// The memory, whatever kind it is.
    pub fn pages(&self) -> &dyn Pages {
        match self {
            Storage::File(pages) => &**pages,
            Storage::User(pages) => &**pages,
        }
    }

    /// True unless these are the client's pages and the client has unmapped or protected some.
    pub fn is_accessible(&self) -> bool {
        match self {
            Storage::File(_) => true,
            Storage::User(pages) => pages.is_accessible(),
        }
    }

    /// Parts of the memory that may hold anything but zeros.
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

/// All objects.
pub type Objects = BTreeMap<ObjectId, Object>;

/// An object.
#[derive(Debug)]
pub struct Object {
    /// Handles, descriptors and frame buffers that lead to it.
    pub users: u32,
    /// Bytes, whole pages.
    pub size: u64,
    /// Its memory.
    pub storage: Storage,
    /// Of an object of another process, the descriptor that it came by: while it is open the other
    /// one keeps the object.
    pub imported_from: Option<OwnedFd>,
    /// Others may look at it without asking: the display, other processes.
    pub is_shared: bool,
    /// The kernel's number: linear, X, Y.
    pub tiling: u32,
    /// Bytes from row to row if tiled.
    pub stride: u32,
    /// The GPU must not write.
    pub read_only: bool,
    /// What SET_CACHING said; GPUs with a common last-level cache start with 1.
    pub caching: u32,
    /// The number that everyone can open it by.
    pub name: Option<u32>,
    /// What the aperture shows of it.
    pub view: Option<SharedView>,
    /// It was part of a submission: the machine knows it.
    pub submitted: bool,
    /// The last work that writes it, until that is past.
    pub written: Option<Fence>,
    /// Work that reads it since.
    pub read: Vec<Fence>,
}

impl Object {
    /// Forgets work that is past.
    fn advance(&mut self) {
        self.written.take_if(|fence| fence.is_signaled());
        self.read.retain(|fence| !fence.is_signaled());
    }

    /// Work on it that is not past: what writes it, and what reads it if asked for.
    pub fn work(&mut self, also_reads: bool) -> Vec<Fence> {
        self.advance();
        let reads = if also_reads { &self.read[..] } else { &[] };
        self.written.iter().chain(reads).cloned().collect()
    }

    /// There is new work on it.
    pub fn add_work(&mut self, fence: &Fence, writes: bool) {
        self.advance();
        if writes {
            self.written = Some(fence.clone());
            self.read.clear();
        } else {
            self.read.push(fence.clone());
        }
    }

    /// Waits for work on it.
    ///
    /// # Errors
    /// [`Stop::Wait`] while there is any.
    pub fn wait(&mut self, also_reads: bool) -> Outcome {
        match self.work(also_reads)[..] {
            [] => Ok(()),
            _ => Err(Stop::Wait(FOREVER)),
        }
    }
}

impl Device {
    /// An object.
    ///
    /// # Errors
    /// ENOENT if it is gone.
    pub(super) fn object(&self, id: ObjectId) -> Result<&Object, Errno> {
        self.objects.get(&id).ok_or(Errno::NOENT)
    }

    /// An object, to be changed.
    ///
    /// # Errors
    /// ENOENT if it is gone.
    pub(super) fn object_mut(&mut self, id: ObjectId) -> Result<&mut Object, Errno> {
        self.objects.get_mut(&id).ok_or(Errno::NOENT)
    }

    /// A copy of its bytes.
    pub(super) fn bytes(&self, id: ObjectId) -> Vec<u8> {
        let Some(object) = self.objects.get(&id) else { return Vec::new() };
        let mut bytes = vec![0; object.size as usize];
        match object.storage.pages().read(0, &mut bytes) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }

    /// Zeros that clients can map. After a fork the child takes an arena of its own, since both
    /// would give out the same ranges of the old one.
    ///
    /// # Errors
    /// ENOMEM.
    pub(super) fn allocate(&mut self, size: u64) -> Result<Arc<dyn FilePages>, Errno> {
        let arena = match self.arena.take().filter(|arena| arena.owner() == std::process::id()) {
            Some(arena) => arena,
            None => self.host.new_arena()?,
        };
        self.arena.insert(arena).allocate(size).ok_or(Errno::NOMEM)
    }

    /// A new object with one user.
    pub(super) fn insert(&mut self, storage: Storage) -> ObjectId {
        let id = ObjectId(self.next_object);
        self.next_object += 1;
        self.objects.insert(
            id,
            Object {
                users: 1,
                size: storage.pages().size(),
                storage,
                imported_from: None,
                is_shared: false,
                tiling: 0,
                stride: 0,
                read_only: false,
                caching: 1,
                name: None,
                view: None,
                submitted: false,
                written: None,
                read: Vec::new(),
            },
        );
        id
    }

    /// A new object of `size` zeros with one user.
    ///
    /// # Errors
    /// EINVAL for a size that cannot be, ENOMEM.
    pub(super) fn create(&mut self, size: u64) -> Result<ObjectId, Errno> {
        let size = size.checked_next_multiple_of(PAGE).filter(|size| (1..=MAX_SIZE).contains(size));
        let pages = self.allocate(size.ok_or(Errno::INVAL)?)?;
        Ok(self.insert(Storage::File(pages)))
    }

    /// One user less; after the last one the object goes. Its memory stays as long as work needs
    /// it.
    pub(super) fn release(&mut self, id: ObjectId) {
        let Some(object) = self.objects.get_mut(&id) else { return };
        object.users -= 1;
        if object.users > 0 {
            return;
        }
        let Some(object) = self.objects.remove(&id) else { return };
        for vm in self.vms.values_mut() {
            vm.forget(id);
        }
        if let Some(name) = object.name {
            // It was given with the object.
            let _ = self.names.remove(name);
        }
        if object.submitted {
            self.queue.free(&[id], &[]);
        }
    }

    /// GEM_BUSY: engines with work on an object.
    pub(super) fn gem_busy(&mut self, file: &mut File, arg: &mut i915::GemBusy) -> Outcome {
        // (Linux i915_gem_busy.c: readers by class above, the writer's class and one below)
        let reader = |fence: &Fence| fence.class().map_or(0xffff_0000, |class| 0x1_0000 << class);
        let object = self.object_mut(*file.objects.get(arg.handle)?)?;
        object.advance();
        let written = object.written.as_ref();
        let writer = written.map_or(0, |fence| {
            reader(fence) | fence.class().map_or(0xffff, |class| u32::from(class) + 1)
        });
        arg.busy = object.read.iter().map(reader).fold(writer, |all, one| all | one);
        Ok(())
    }

    /// GEM_WAIT: until there is no work on an object. The timeout says what is left of it.
    pub(super) fn gem_wait(
        &mut self,
        file: &mut File,
        arg: &mut i915::GemWait,
        since: u64,
    ) -> Outcome {
        if arg.flags != 0 {
            return Err(Errno::INVAL.into());
        }
        let object = self.object_mut(*file.objects.get(arg.bo_handle)?)?;
        let waits = object.wait(true);
        let Ok(timeout) = u64::try_from(arg.timeout_ns) else { return waits };
        let (now, until) = (now(), since.saturating_add(timeout));
        if waits.is_err() && now < until {
            return Err(Stop::Wait(until));
        }
        arg.timeout_ns = until.saturating_sub(now) as i64;
        waits.map_err(|_| Errno::TIME.into())
    }

    /// GEM_CREATE.
    pub(super) fn gem_create(&mut self, file: &mut File, arg: &mut i915::GemCreate) -> Outcome {
        let object = self.create(arg.size)?;
        arg.size = self.object(object)?.size;
        arg.handle = file.objects.add(object);
        Ok(())
    }

    /// GEM_CREATE_EXT: extensions choose regions of memory, of which there is one.
    pub(super) fn gem_create_ext(
        &mut self,
        file: &mut File,
        arg: &mut i915::GemCreateExt,
    ) -> Outcome {
        const MEMORY_REGIONS: u32 = 0;
        if arg.flags != 0 {
            return Err(Errno::INVAL.into());
        }
        for (extension, _) in super::context::extensions(self.host, arg.extensions)? {
            if extension.name != MEMORY_REGIONS {
                return Err(Errno::INVAL.into());
            }
        }
        let mut plain = i915::GemCreate { size: arg.size, ..Default::default() };
        self.gem_create(file, &mut plain)?;
        (arg.size, arg.handle) = (plain.size, plain.handle);
        Ok(())
    }

    /// GEM_USERPTR: the client's own pages.
    pub(super) fn userptr(&mut self, file: &mut File, arg: &mut i915::GemUserptr) -> Outcome {
        let known = i915::USERPTR_READ_ONLY | i915::USERPTR_PROBE | i915::USERPTR_UNSYNCHRONIZED;
        let (address, size) = (arg.user_ptr, arg.user_size);
        let bad = arg.flags & !known != 0
            || size == 0
            || size > MAX_SIZE
            || !(address | size).is_multiple_of(PAGE);
        if bad || address.checked_add(size).is_none() {
            return Err(Errno::INVAL.into());
        }
        let read_only = arg.flags & i915::USERPTR_READ_ONLY != 0;
        let is_probed = arg.flags & i915::USERPTR_PROBE != 0;
        if address == 0 || (is_probed && !self.host.is_accessible(address, size, !read_only)) {
            return Err(Errno::FAULT.into());
        }
        let id = self.insert(Storage::User(self.host.user_pages(address, size, !read_only)));
        self.object_mut(id)?.read_only = read_only;
        arg.handle = file.objects.add(id);
        Ok(())
    }

    /// Work on the client's own pages of a range that is not past.
    pub fn work_on(&mut self, address: u64, bytes: u64) -> Vec<Fence> {
        let here = |object: &&mut Object| match &object.storage {
            Storage::User(pages) => pages.overlaps(address, bytes),
            Storage::File(_) => false,
        };
        self.objects.values_mut().filter(here).flat_map(|object| object.work(true)).collect()
    }

    /// GEM_CLOSE and its like.
    pub(super) fn close_handle(&mut self, file: &mut File, handle: u32) -> Outcome {
        let object = file.objects.remove(handle).map_err(|_| Errno::INVAL)?;
        self.release(object);
        Ok(())
    }

    /// GEM_CLOSE.
    pub(super) fn gem_close(&mut self, file: &mut File, arg: &mut drm::GemClose) -> Outcome {
        let is_shared = file
            .objects
            .get(arg.handle)
            .is_ok_and(|id| self.object(*id).is_ok_and(|object| object.is_shared));
        self.close_handle(file, arg.handle)?;
        if is_shared {
            // Its descriptors may be closed, so that it can go.
            self.collect();
        }
        Ok(())
    }

    /// The object behind a handle, if `offset` and `size` lie in it.
    fn part(&self, file: &File, handle: u32, offset: u64, size: u64) -> Result<ObjectId, Errno> {
        let id = *file.objects.get(handle)?;
        let object = self.object(id)?;
        let fits = offset.checked_add(size).is_some_and(|end| end <= object.size);
        fits.then_some(id).ok_or(Errno::INVAL)
    }

    /// GEM_PREAD.
    pub(super) fn pread(&mut self, file: &mut File, arg: &mut i915::GemTransfer) -> Outcome {
        let host = self.host;
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        let object = self.object_mut(id)?;
        if matches!(object.storage, Storage::User(_)) {
            return Err(Errno::INVAL.into());
        }
        object.wait(false)?;
        object.store_view();
        for (offset, length) in pieces(arg.offset, arg.size) {
            let mut bytes = vec![0; length];
            object.storage.pages().read(offset, &mut bytes)?;
            host.write(arg.data_ptr.wrapping_add(offset - arg.offset), &bytes)?;
        }
        Ok(())
    }

    /// GEM_PWRITE.
    pub(super) fn pwrite(&mut self, file: &mut File, arg: &mut i915::GemTransfer) -> Outcome {
        let host = self.host;
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        let object = self.object_mut(id)?;
        if matches!(object.storage, Storage::User(_)) {
            return Err(Errno::INVAL.into());
        }
        object.wait(true)?;
        object.store_view();
        for (offset, length) in pieces(arg.offset, arg.size) {
            let mut bytes = vec![0; length];
            host.read(arg.data_ptr.wrapping_add(offset - arg.offset), &mut bytes)?;
            object.storage.pages().write(offset, &bytes)?;
        }
        object.show_view();
        Ok(())
    }

    /// GEM_MMAP: maps it for the client.
    pub(super) fn gem_mmap(&mut self, file: &mut File, arg: &mut i915::GemMmap) -> Outcome {
        const WRITE_COMBINING: u64 = 1;
        if arg.flags & !WRITE_COMBINING != 0 || !arg.offset.is_multiple_of(PAGE) || arg.size == 0 {
            return Err(Errno::INVAL.into());
        }
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        let (file, offset) = self.mapped_file(id)?;
        arg.addr_ptr = self.host.map(file, offset + arg.offset, arg.size)?;
        Ok(())
    }

    /// The file and offset in it that show an object.
    ///
    /// # Errors
    /// EINVAL for pages of the client itself: it has them.
    fn mapped_file(&self, id: ObjectId) -> Result<(BorrowedFd<'_>, u64), Errno> {
        match &self.object(id)?.storage {
            Storage::File(pages) => Ok(pages.file()),
            Storage::User(_) => Err(Errno::INVAL),
        }
    }

    /// GEM_MMAP_OFFSET, and in its `old` form GEM_MMAP_GTT: the offset that the client passes to
    /// mmap.
    pub(super) fn mmap_offset(
        &mut self,
        file: &mut File,
        arg: &mut i915::GemMmapOffset,
        old: bool,
    ) -> Outcome {
        let kind = if old { i915::MMAP_OFFSET_GTT } else { arg.flags };
        if kind > i915::MMAP_OFFSET_UC || (!old && arg.extensions != 0) {
            return Err(Errno::INVAL.into());
        }
        let id = *file.objects.get(arg.handle)?;
        self.mapped_file(id).map_err(|_| Errno::NODEV)?;
        let through_aperture = kind == i915::MMAP_OFFSET_GTT && self.object(id)?.tiling != 0;
        if through_aperture {
            self.make_view(id)?;
        }
        arg.offset = offset_of(id, through_aperture);
        Ok(())
    }

    /// What a client maps that passes `offset` to mmap: a file and the offset there. `length` bytes
    /// must lie in the object.
    ///
    /// # Errors
    /// EINVAL for an offset that was not given.
    pub fn mapping(&self, offset: u64, length: u64) -> Result<(OwnedFd, u64), Errno> {
        let (id, aperture, within) = object_at(offset);
        let object = self.object(id).map_err(|_| Errno::INVAL)?;
        if aperture {
            let view = object.view.as_ref().ok_or(Errno::INVAL)?.pages();
            inside(within, length, view.size())?;
            let (file, start) = view.file();
            return Ok((rustix::io::dup(file)?, start + within));
        }
        inside(within, length, object.size)?;
        let (file, start) = self.mapped_file(id)?;
        Ok((rustix::io::dup(file)?, start + within))
    }

    /// CREATE_DUMB: an object for pictures that the CPU paints.
    pub(super) fn create_dumb(&mut self, file: &mut File, arg: &mut mode::CreateDumb) -> Outcome {
        let bytes = u64::from(arg.bpp.div_ceil(8));
        let pitch = (u64::from(arg.width) * bytes).next_multiple_of(64);
        let size = pitch.checked_mul(arg.height.into()).ok_or(Errno::INVAL)?;
        if bytes > 8 || pitch > u64::from(u32::MAX) {
            return Err(Errno::INVAL.into());
        }
        let id = self.create(size)?;
        arg.size = self.object(id)?.size;
        arg.pitch = pitch as u32;
        arg.handle = file.objects.add(id);
        Ok(())
    }

    /// MAP_DUMB.
    pub(super) fn map_dumb(&mut self, file: &mut File, arg: &mut mode::MapDumb) -> Outcome {
        arg.offset = offset_of(*file.objects.get(arg.handle)?, false);
        Ok(())
    }
}

/// A range in pieces that are copied one by one.
fn pieces(offset: u64, size: u64) -> impl Iterator<Item = (u64, usize)> {
    const PIECE: u64 = 1 << 20;
    let end = offset + size;
    (offset..end).step_by(PIECE as usize).map(move |at| (at, PIECE.min(end - at) as usize))
}

fn inside(offset: u64, length: u64, size: u64) -> Result<(), Errno> {
    let end = offset.checked_add(length);
    end.is_some_and(|end| end <= size).then_some(()).ok_or(Errno::INVAL)
}

/// The offset for mmap: the object above, then whether through the aperture, then the offset in it.
fn offset_of(id: ObjectId, aperture: bool) -> u64 {
    id.0 << 36 | u64::from(aperture) << 35
}

/// What [`offset_of`] made, with the bytes that were added.
fn object_at(offset: u64) -> (ObjectId, bool, u64) {
    (ObjectId(offset >> 36), offset >> 35 & 1 != 0, offset & (MAX_SIZE - 1))
}
