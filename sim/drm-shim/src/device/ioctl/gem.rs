//! Objects (GEM): creation, mappings, transfers, waits.

use super::extensions::extensions;
use crate::device::fence::{FOREVER, Fence, now};
use crate::device::gem::{Advice, MAX_SIZE, Object, ObjectId, PAGE, Storage};
use crate::device::host::{FilePages, Keeper, Mappable};
use crate::device::outcome::{Outcome, Stop};
use crate::device::{Device, File, Id};
use crate::uapi::{drm, i915, mode};
use rustix::io::Errno;
use std::sync::Arc;

impl Device {
    /// An object.
    ///
    /// # Errors
    /// ENOENT if it does not exist.
    pub(super) fn object(&self, id: ObjectId) -> Result<&Object, Errno> {
        self.objects.get(&id).ok_or(Errno::NOENT)
    }

    /// An object, mutable.
    ///
    /// # Errors
    /// ENOENT if it does not exist.
    pub(super) fn object_mut(&mut self, id: ObjectId) -> Result<&mut Object, Errno> {
        self.objects.get_mut(&id).ok_or(Errno::NOENT)
    }

    /// A copy of the contents of an object; empty if they cannot be read.
    pub(super) fn bytes(&self, id: ObjectId) -> Vec<u8> {
        let Some(object) = self.objects.get(&id) else { return Vec::new() };
        let mut bytes = vec![0; object.size as usize];
        match object.storage.pages().read(0, &mut bytes) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }

    /// New memory of zeros that clients can map. A forked child gets its own arena: parent and
    /// child would otherwise allocate the same ranges.
    ///
    /// # Errors
    /// If the arena has no room: [`Stop::Wait`] while pending work uses freed objects, whose memory
    /// becomes free later; else ENOMEM.
    pub(super) fn allocate(&mut self, size: u64) -> Result<Arc<dyn FilePages>, Stop> {
        let arena = match self.arena.take().filter(|arena| arena.owner() == std::process::id()) {
            Some(arena) => arena,
            None => self.host.new_arena()?,
        };
        let arena = self.arena.insert(arena);
        // Read this before the allocation, because work may end at any time.
        let has_freed = self.queue.has_freed();
        match arena.allocate(size) {
            Some(pages) => Ok(pages),
            None if has_freed => Err(Stop::Wait(FOREVER)),
            None => Err(Errno::NOMEM.into()),
        }
    }

    /// Adds an object with one reference.
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
                is_mapped: false,
                view: None,
                advice: Advice::Needed,
                submitted: false,
                written: None,
                read: Vec::new(),
            },
        );
        id
    }

    /// A new object of `size` zero bytes, rounded up to whole pages, with one reference.
    ///
    /// # Errors
    /// EINVAL for a size of 0 or above [`MAX_SIZE`]; E2BIG if the number of pages does not fit a
    /// signed 32-bit number; the errors of [`allocate`](Self::allocate).
    pub(super) fn create(&mut self, size: u64) -> Result<ObjectId, Stop> {
        let size = size.checked_next_multiple_of(PAGE).ok_or(Errno::INVAL)?;
        if i32::try_from(size / PAGE).is_err() {
            return Err(Errno::TOOBIG.into());
        }
        if !(1..=MAX_SIZE).contains(&size) {
            return Err(Errno::INVAL.into());
        }
        let pages = self.allocate(size)?;
        Ok(self.insert(Storage::File(pages)))
    }

    /// Drops a reference to an object. With the last reference the object is removed; its memory
    /// stays until pending work is complete.
    pub(in crate::device) fn release(&mut self, id: ObjectId) {
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
            // Only the removal of an object removes its name, so the name still exists.
            let _ = self.names.remove(name);
        }
        if object.submitted {
            self.queue.free(&[id], &[]);
        }
    }

    /// GEM_BUSY: the classes of engines with pending work on an object.
    pub(super) fn gem_busy(&mut self, file: &mut File, arg: &mut i915::GemBusy) -> Outcome {
        // Bit 16 + class is set for each reader and for the writer. Bits 15:0 are the writer's
        // class + 1. (Linux i915_gem_busy.c)
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

    /// GEM_WAIT: waits for pending work on an object. `arg.timeout_ns` returns the time that is
    /// left. A negative timeout has no limit and stays unchanged. `since` is the time of the
    /// ioctl's first call.
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

    /// Executes the ioctl GEM_CREATE.
    pub(super) fn gem_create(&mut self, file: &mut File, arg: &mut i915::GemCreate) -> Outcome {
        let object = self.create(arg.size)?;
        arg.size = self.object(object)?.size;
        arg.handle = file.objects.add(object);
        Ok(())
    }

    /// GEM_CREATE_EXT. Its extensions choose memory regions. There is only one region, so they are
    /// ignored.
    pub(super) fn gem_create_ext(
        &mut self,
        file: &mut File,
        arg: &mut i915::GemCreateExt,
    ) -> Outcome {
        const MEMORY_REGIONS: u32 = 0;
        if arg.flags != 0 {
            return Err(Errno::INVAL.into());
        }
        let chain = extensions(self.host, arg.extensions)?;
        // The list of regions may be given once.
        if chain.len() > 1 {
            return Err(Errno::INVAL.into());
        }
        for (extension, address) in chain {
            if extension.name != MEMORY_REGIONS {
                return Err(Errno::INVAL.into());
            }
            self.check_regions(&self.host.value(address)?)?;
        }
        let mut plain = i915::GemCreate { size: arg.size, ..Default::default() };
        self.gem_create(file, &mut plain)?;
        (arg.size, arg.handle) = (plain.size, plain.handle);
        Ok(())
    }

    /// EINVAL unless the list has the one region, system memory, once. (Linux i915_gem_create.c,
    /// set_placements)
    fn check_regions(&self, list: &i915::CreateExtMemoryRegions) -> Result<(), Errno> {
        if list.pad != 0 || list.num_regions != 1 || list.regions == 0 {
            return Err(Errno::INVAL);
        }
        match self.host.value(list.regions)? {
            i915::MemoryRegion { class: 0, instance: 0 } => Ok(()),
            _ => Err(Errno::INVAL),
        }
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

    /// Fences of pending work on objects of the client's own pages (GEM_USERPTR) that overlap a
    /// range of the client's addresses.
    pub fn work_on(&mut self, address: u64, bytes: u64) -> Vec<Fence> {
        let here = |object: &&mut Object| match &object.storage {
            Storage::User(pages) => pages.overlaps(address, bytes),
            Storage::File(_) => false,
        };
        self.objects.values_mut().filter(here).flat_map(|object| object.work(true)).collect()
    }

    /// Closes a handle: GEM_CLOSE, DESTROY_DUMB. If it is the last handle of the object in this
    /// file, the file's address spaces unbind the object. (Linux i915_gem_object.c,
    /// i915_gem_close_object)
    pub(super) fn close_handle(&mut self, file: &mut File, handle: u32) -> Outcome {
        let object = file.objects.remove(handle).map_err(|_| Errno::INVAL)?;
        if self.object(object)?.users > 1 && !file.has(object) {
            for vm in file.contexts.values().map(|context| context.vm) {
                if let Some(vm) = self.vms.get_mut(&vm) {
                    vm.forget(object);
                }
            }
        }
        self.release(object);
        Ok(())
    }

    /// Executes the ioctl GEM_CLOSE.
    pub(super) fn gem_close(&mut self, file: &mut File, arg: &mut drm::GemClose) -> Outcome {
        let is_shared = file
            .objects
            .get(arg.handle)
            .is_ok_and(|id| self.object(*id).is_ok_and(|object| object.is_shared));
        self.close_handle(file, arg.handle)?;
        if is_shared {
            // The exported descriptors of the object may be closed already. Then the object can be
            // removed now.
            self.collect();
        }
        Ok(())
    }

    /// GEM_MADVISE: whether the client needs the contents of an object. Returns whether the object
    /// still has them.
    pub(super) fn madvise(&mut self, file: &mut File, arg: &mut i915::GemMadvise) -> Outcome {
        if arg.madv > i915::MADV_DONTNEED {
            return Err(Errno::INVAL.into());
        }
        let object = self.object_mut(*file.objects.get(arg.handle)?)?;
        object.advise(arg.madv != i915::MADV_DONTNEED);
        arg.retained = (object.advice != Advice::Purged).into();
        Ok(())
    }

    /// The object of a handle. EINVAL if `size` bytes from `offset` on do not lie in the object.
    fn part(&self, file: &File, handle: u32, offset: u64, size: u64) -> Result<ObjectId, Errno> {
        let id = *file.objects.get(handle)?;
        let object = self.object(id)?;
        let fits = offset.checked_add(size).is_some_and(|end| end <= object.size);
        fits.then_some(id).ok_or(Errno::INVAL)
    }

    /// Executes the ioctl GEM_PREAD.
    pub(super) fn pread(&mut self, file: &mut File, arg: &mut i915::GemTransfer) -> Outcome {
        let host = self.host;
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        let object = self.object_mut(id)?;
        if matches!(object.storage, Storage::User(_)) {
            return Err(Errno::INVAL.into());
        }
        object.check_contents()?;
        object.wait(false)?;
        object.write_back_view();
        for (offset, length) in pieces(arg.offset, arg.size) {
            let mut bytes = vec![0; length];
            object.storage.pages().read(offset, &mut bytes)?;
            host.write(arg.data_ptr.wrapping_add(offset - arg.offset), &bytes)?;
        }
        Ok(())
    }

    /// Executes the ioctl GEM_PWRITE.
    pub(super) fn pwrite(&mut self, file: &mut File, arg: &mut i915::GemTransfer) -> Outcome {
        let host = self.host;
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        let object = self.object_mut(id)?;
        if matches!(object.storage, Storage::User(_)) {
            return Err(Errno::INVAL.into());
        }
        object.check_contents()?;
        object.wait(true)?;
        object.write_back_view();
        for (offset, length) in pieces(arg.offset, arg.size) {
            let mut bytes = vec![0; length];
            host.read(arg.data_ptr.wrapping_add(offset - arg.offset), &mut bytes)?;
            object.storage.pages().write(offset, &bytes)?;
        }
        object.refresh_view();
        Ok(())
    }

    /// GEM_MMAP: maps an object and returns the address.
    pub(super) fn gem_mmap(&mut self, file: &mut File, arg: &mut i915::GemMmap) -> Outcome {
        const WRITE_COMBINING: u64 = 1;
        if arg.flags & !WRITE_COMBINING != 0 || !arg.offset.is_multiple_of(PAGE) || arg.size == 0 {
            return Err(Errno::INVAL.into());
        }
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        let memory = self.object_mut(id)?.mappable(arg.offset)?;
        arg.addr_ptr = self.host.map(memory, arg.size)?;
        Ok(())
    }

    /// GEM_MMAP_OFFSET: the offset to pass to mmap. `old` is true for GEM_MMAP_GTT, whose argument
    /// is shorter.
    pub(super) fn mmap_offset(
        &mut self,
        file: &mut File,
        arg: &mut i915::GemMmapOffset,
        old: bool,
    ) -> Outcome {
        let kind = if old { i915::MMAP_OFFSET_GTT } else { arg.flags };
        // No extension exists, but the chain must be readable.
        let chain = if old { Vec::new() } else { extensions(self.host, arg.extensions)? };
        if kind > i915::MMAP_OFFSET_UC || !chain.is_empty() {
            return Err(Errno::INVAL.into());
        }
        let id = *file.objects.get(arg.handle)?;
        // The client has mapped its own pages already.
        if matches!(self.object(id)?.storage, Storage::User(_)) {
            return Err(Errno::NODEV.into());
        }
        let through_aperture = kind == i915::MMAP_OFFSET_GTT && self.object(id)?.tiling != 0;
        if through_aperture {
            self.make_view(id)?;
        }
        arg.offset = offset_of(id, through_aperture);
        Ok(())
    }

    /// The memory to map when a client passes `offset` to mmap of a file. `length` bytes must lie
    /// in the object.
    ///
    /// # Errors
    /// EINVAL for an offset that no object has, or a range beyond the end of the object; EACCES if
    /// the file has no handle of the object (Linux drm_gem.c, drm_vma_node_is_allowed); EMFILE if
    /// there are too many descriptors.
    pub fn mapping(&mut self, file: Id, offset: u64, length: u64) -> Result<Mappable, Errno> {
        let (id, aperture, within) = object_at(offset);
        let is_allowed = self.files.get(&file).is_some_and(|file| file.has(id));
        let object = self.object_mut(id).map_err(|_| Errno::INVAL)?;
        if !is_allowed {
            return Err(Errno::ACCESS);
        }
        if aperture {
            let view = object.view.as_ref().ok_or(Errno::INVAL)?.pages();
            inside(within, length, view.size())?;
            let (file, start) = view.file();
            let file = rustix::io::fcntl_dupfd_cloexec(file, 0)?;
            let offset = start + within;
            return Ok(Mappable { file, offset, keeper: Keeper::of_pages(view.clone()) });
        }
        inside(within, length, object.size)?;
        object.mappable(within)
    }

    /// CREATE_DUMB: an object for an image that the CPU draws.
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

    /// Executes the ioctl MAP_DUMB.
    pub(super) fn map_dumb(&mut self, file: &mut File, arg: &mut mode::MapDumb) -> Outcome {
        arg.offset = offset_of(*file.objects.get(arg.handle)?, false);
        Ok(())
    }
}

/// Splits a range into pieces of at most 1 MiB, which are copied one by one: offset and length of
/// each.
fn pieces(offset: u64, size: u64) -> impl Iterator<Item = (u64, usize)> {
    const PIECE: u64 = 1 << 20;
    let end = offset + size;
    (offset..end).step_by(PIECE as usize).map(move |at| (at, PIECE.min(end - at) as usize))
}

fn inside(offset: u64, length: u64, size: u64) -> Result<(), Errno> {
    let end = offset.checked_add(length);
    end.is_some_and(|end| end <= size).then_some(()).ok_or(Errno::INVAL)
}

/// The offset for mmap at which an object starts: object number from bit 36 on; bit 35 for the view
/// through the aperture. Bits 34:0 are for the offset in the object.
fn offset_of(id: ObjectId, aperture: bool) -> u64 {
    id.0 << 36 | u64::from(aperture) << 35
}

/// The inverse of [`offset_of`]: the object, true if the offset is in the object's view, and the
/// offset in the object or view.
fn object_at(offset: u64) -> (ObjectId, bool, u64) {
    (ObjectId(offset >> 36), offset >> 35 & 1 != 0, offset & (MAX_SIZE - 1))
}
