//! Objects: memory that client and GPU share.

use super::tiling::View;
use super::{Device, File, Outcome};
use crate::edge::{arena, client};
use crate::uapi::{drm, i915, mode};
use genxml_sim::mem::Frames;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Most bytes of an object; offsets for mmap have room for so many.
pub const MAX_SIZE: u64 = 1 << 35;

/// An object, whatever number files have for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ObjectId(pub u64);

/// Whose memory it is.
#[derive(Debug)]
pub enum Place {
    /// A range of an arena.
    Arena {
        /// Which.
        arena: usize,
        /// The range's start.
        offset: u64,
    },
    /// The client's own pages.
    Client {
        /// Where.
        address: u64,
    },
    /// An object of another process.
    Foreign {
        /// Its file.
        file: OwnedFd,
        /// Where in it.
        offset: u64,
        /// The descriptor that it came by: while it is open the other process keeps the object.
        _token: OwnedFd,
    },
}

/// All objects.
pub type Objects = BTreeMap<ObjectId, Object>;

/// Files in memory that objects lie in, with the process that made each.
pub type Arenas = Vec<(u32, arena::Arena)>;

/// An object.
#[derive(Debug)]
pub struct Object {
    /// Handles, descriptors and frame buffers that lead to it.
    pub users: u32,
    /// Bytes, whole pages.
    pub size: u64,
    /// Its memory, as the model has it.
    pub frames: Frames,
    /// Its memory, as clients map it.
    pub place: Place,
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
    pub view: Option<View>,
}

impl Device {
    /// An object.
    ///
    /// # Errors
    /// ENOENT if it is gone.
    pub(super) fn object(&self, id: ObjectId) -> Result<&Object, Errno> {
        self.objects.get(&id).ok_or(Errno::NOENT)
    }

    /// Which parts of an object hold anything.
    pub(super) fn touched(objects: &Objects, arenas: &Arenas, id: ObjectId) -> Vec<Range<usize>> {
        let Some(object) = objects.get(&id) else { return Vec::new() };
        let whole = 0..object.size as usize;
        match &object.place {
            Place::Arena { arena, offset } => {
                let parts = arenas[*arena].1.touched(*offset, object.size).into_iter();
                parts.map(|part| part.start as usize..part.end as usize).collect()
            }
            // A client may have taken its pages away meanwhile.
            Place::Client { address } if !client::are_there(*address, object.size) => Vec::new(),
            Place::Client { .. } | Place::Foreign { .. } => vec![whole],
        }
    }

    /// An object, to be changed.
    ///
    /// # Errors
    /// ENOENT if it is gone.
    pub(super) fn object_mut(&mut self, id: ObjectId) -> Result<&mut Object, Errno> {
        self.objects.get_mut(&id).ok_or(Errno::NOENT)
    }

    /// Its bytes.
    pub(super) fn bytes(&self, id: ObjectId) -> &[u8] {
        self.objects.get(&id).map_or(&[], |object| self.gpu.memory.bytes(object.frames))
    }

    /// Its bytes, to be changed.
    pub(super) fn bytes_mut(&mut self, id: ObjectId) -> &mut [u8] {
        match self.objects.get(&id) {
            Some(object) => self.gpu.memory.bytes_mut(object.frames),
            None => &mut [],
        }
    }

    /// The arena that new objects lie in: after a fork the child takes one of its own, since both would give out the same
    /// ranges of the old one.
    fn arena(&mut self) -> Result<usize, Errno> {
        let process = std::process::id();
        if self.arenas.last().is_none_or(|(owner, _)| *owner != process) {
            self.arenas.push((process, arena::Arena::new()?));
        }
        Ok(self.arenas.len() - 1)
    }

    /// Zeros that clients can map: arena, offset, and the memory for the model.
    ///
    /// # Errors
    /// ENOMEM.
    pub(super) fn allocate(&mut self, size: u64) -> Result<(usize, u64, arena::Shared), Errno> {
        let index = self.arena()?;
        let arena = &mut self.arenas[index].1;
        let offset = arena.allocate(size).ok_or(Errno::NOMEM)?;
        Ok((index, offset, arena.pages(offset, size)))
    }

    /// A new object with one user.
    pub(super) fn insert(&mut self, size: u64, frames: Frames, place: Place) -> ObjectId {
        let id = ObjectId(self.next_object);
        self.next_object += 1;
        self.objects.insert(
            id,
            Object {
                users: 1,
                size,
                frames,
                place,
                tiling: 0,
                stride: 0,
                read_only: false,
                caching: 1,
                name: None,
                view: None,
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
        let size = size.ok_or(Errno::INVAL)?;
        let (arena, offset, pages) = self.allocate(size)?;
        let frames = self.gpu.memory.adopt(Box::new(pages)).map_err(|_| Errno::NOMEM)?;
        Ok(self.insert(size, frames, Place::Arena { arena, offset }))
    }

    /// One user less; after the last one the object goes.
    pub(super) fn release(&mut self, id: ObjectId) {
        let Some(object) = self.objects.get_mut(&id) else { return };
        object.users -= 1;
        if object.users > 0 {
            return;
        }
        let Some(object) = self.objects.remove(&id) else { return };
        self.unmap_everywhere(id);
        for vm in self.vms.values_mut() {
            vm.forget(id);
        }
        if let Some(name) = object.name {
            // It was given with the object.
            let _ = self.names.remove(name);
        }
        self.gpu.memory.free(object.frames);
        if let Place::Arena { arena, offset } = object.place {
            self.give_back(arena, offset, object.size);
        }
        if let Some(view) = object.view {
            self.give_back(view.arena, view.offset, view.size());
        }
        self.reporter.freed(id);
    }

    /// Gives a range of an arena back. Those of a parent process stay as they are.
    pub(super) fn give_back(&mut self, arena: usize, offset: u64, size: u64) {
        if let Some((owner, arena)) = self.arenas.get_mut(arena)
            && *owner == std::process::id()
        {
            arena.release(offset, size);
        }
    }

    /// GEM_CREATE.
    pub(super) fn gem_create(&mut self, file: &mut File, arg: &mut i915::GemCreate) -> Outcome {
        let object = self.create(arg.size)?;
        arg.size = self.object(object)?.size;
        arg.handle = file.objects.add(object);
        Ok(())
    }

    /// GEM_CREATE_EXT: extensions choose regions of memory, of which there is one.
    pub(super) fn gem_create_ext(&mut self, file: &mut File, arg: &mut i915::GemCreateExt) -> Outcome {
        const MEMORY_REGIONS: u32 = 0;
        if arg.flags != 0 {
            return Err(Errno::INVAL.into());
        }
        for (extension, _) in super::context::extensions(arg.extensions)? {
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
        let bad =
            arg.flags & !known != 0 || size == 0 || size > MAX_SIZE || !(address | size).is_multiple_of(PAGE);
        if bad || address.checked_add(size).is_none() {
            return Err(Errno::INVAL.into());
        }
        if address == 0 || (arg.flags & i915::USERPTR_PROBE != 0 && !client::are_there(address, size)) {
            return Err(Errno::FAULT.into());
        }
        let pages = client::Own::new(address, size);
        let frames = self.gpu.memory.adopt(Box::new(pages)).map_err(|_| Errno::NOMEM)?;
        let id = self.insert(size, frames, Place::Client { address });
        self.object_mut(id)?.read_only = arg.flags & i915::USERPTR_READ_ONLY != 0;
        arg.handle = file.objects.add(id);
        Ok(())
    }

    /// GEM_CLOSE and its like.
    pub(super) fn close_handle(&mut self, file: &mut File, handle: u32) -> Outcome {
        let object = file.objects.remove(handle).map_err(|_| Errno::INVAL)?;
        self.release(object);
        Ok(())
    }

    /// GEM_CLOSE.
    pub(super) fn gem_close(&mut self, file: &mut File, arg: &mut drm::GemClose) -> Outcome {
        self.close_handle(file, arg.handle)
    }

    /// The object behind a handle, if `offset` and `size` lie in it.
    fn part(&self, file: &File, handle: u32, offset: u64, size: u64) -> Result<ObjectId, Errno> {
        let id = *file.objects.get(handle)?;
        let object = self.object(id)?;
        let fits = offset.checked_add(size).is_some_and(|end| end <= object.size);
        fits.then_some(id).ok_or(Errno::INVAL)
    }

    /// True unless the object is the client's own memory and that is gone.
    pub(super) fn is_there(&self, id: ObjectId) -> bool {
        match self.objects.get(&id) {
            Some(Object { place: Place::Client { address }, size, .. }) => client::are_there(*address, *size),
            Some(_) => true,
            None => false,
        }
    }

    /// GEM_PREAD.
    pub(super) fn pread(&mut self, file: &mut File, arg: &mut i915::GemTransfer) -> Outcome {
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        if matches!(self.object(id)?.place, Place::Client { .. }) {
            return Err(Errno::INVAL.into());
        }
        self.store_view(id);
        let bytes = &self.bytes(id)[arg.offset as usize..][..arg.size as usize];
        Ok(client::write(arg.data_ptr, bytes)?)
    }

    /// GEM_PWRITE.
    pub(super) fn pwrite(&mut self, file: &mut File, arg: &mut i915::GemTransfer) -> Outcome {
        let id = self.part(file, arg.handle, arg.offset, arg.size)?;
        if matches!(self.object(id)?.place, Place::Client { .. }) {
            return Err(Errno::INVAL.into());
        }
        self.store_view(id);
        let bytes = &mut self.bytes_mut(id)[arg.offset as usize..][..arg.size as usize];
        client::read(arg.data_ptr, bytes)?;
        self.show_view(id);
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
        arg.addr_ptr = arena::map_for_client(file, offset + arg.offset, arg.size)?;
        Ok(())
    }

    /// The file and offset in it that show an object.
    ///
    /// # Errors
    /// EINVAL for pages of the client itself: it has them.
    fn mapped_file(&self, id: ObjectId) -> Result<(BorrowedFd<'_>, u64), Errno> {
        match &self.object(id)?.place {
            Place::Arena { arena, offset } => Ok((self.arenas[*arena].1.file(), *offset)),
            Place::Foreign { file, offset, .. } => Ok((file.as_fd(), *offset)),
            Place::Client { .. } => Err(Errno::INVAL),
        }
    }

    /// GEM_MMAP_OFFSET, and in its `old` form GEM_MMAP_GTT: the offset that the client passes to mmap.
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

    /// What a client maps that passes `offset` to mmap: a file and the offset there. `length` bytes must lie in the object.
    ///
    /// # Errors
    /// EINVAL for an offset that was not given.
    pub fn mapping(&self, offset: u64, length: u64) -> Result<(OwnedFd, u64), Errno> {
        let (id, aperture, within) = object_at(offset);
        let object = self.object(id).map_err(|_| Errno::INVAL)?;
        if aperture {
            let view = object.view.as_ref().ok_or(Errno::INVAL)?;
            inside(within, length, view.size())?;
            let file = self.arenas.get(view.arena).ok_or(Errno::INVAL)?.1.file();
            return Ok((rustix::io::dup(file)?, view.offset + within));
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
