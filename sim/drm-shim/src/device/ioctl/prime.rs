//! Shared objects: by descriptor (PRIME) within a process and between processes, and by global name
//! (FLINK).

use crate::device::descriptor::{self, Descriptor, Id};
use crate::device::gem::{Object, ObjectId, Storage};
use crate::device::host::{Keeper, Mappable};
use crate::device::outcome::Outcome;
use crate::device::{Device, File};
use crate::uapi::drm;
use rustix::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use rustix::io::Errno;
use std::fs;
use std::sync::Arc;

impl Device {
    /// PRIME_HANDLE_TO_FD. EINVAL for unknown flags. (Linux drm_prime.c) Waits for pending work on
    /// the object, because other users of the buffer do not wait for it. The kernel does not wait
    /// here: a client that exports an object before it signals what the work waits for blocks.
    pub(super) fn prime_export(&mut self, file: &mut File, arg: &mut drm::PrimeHandle) -> Outcome {
        if arg.flags & !(drm::CLOEXEC | drm::RDWR) != 0 {
            return Err(Errno::INVAL.into());
        }
        let id = *file.objects.get(arg.handle)?;
        let object = self.object_mut(id)?;
        // As in the kernel, the client's own pages cannot be exported.
        let Storage::File(pages) = object.storage.clone() else { return Err(Errno::INVAL.into()) };
        object.wait(true)?;
        object.is_shared = true;
        let (number, offset) = pages.location();
        let buffer = Descriptor::DmaBuf {
            id: Id { pid: pages.owner(), ..Id::new() },
            file: number as u32,
            offset,
            size: object.size,
            tiling: (object.tiling, object.stride),
            object: id.0,
        };
        let (client, device) = self.new_descriptor(buffer, arg.flags & drm::CLOEXEC != 0)?;
        // Clients poll the descriptor to wait for work on the buffer. Work that is submitted after
        // this export is complete when its ioctl returns. So make the descriptor readable at once,
        // by sending the file through it. An importer finds the file there even if this process has
        // ended.
        if let Storage::File(pages) = &self.object(id)?.storage {
            descriptor::attach(&device, pages.file().0)?;
        }
        self.exports.push((id, device));
        self.object_mut(id)?.users += 1;
        arg.fd = client.into_raw_fd();
        Ok(())
    }

    /// Executes the ioctl PRIME_FD_TO_HANDLE.
    pub(super) fn prime_import(&mut self, file: &mut File, arg: &mut drm::PrimeHandle) -> Outcome {
        let descriptor = self.host.duplicate(arg.fd)?;
        let id = self.import(descriptor.as_fd())?;
        let known = file.objects.iter().find(|(_, known)| **known == id).map(|(handle, _)| handle);
        arg.handle = match known {
            Some(handle) => {
                self.release(id);
                handle
            }
            None => file.objects.add(id),
        };
        Ok(())
    }

    /// The object that a buffer's descriptor stands for, with one more reference. Imports the
    /// object if it belongs to another process.
    fn import(&mut self, descriptor: BorrowedFd<'_>) -> Result<ObjectId, Errno> {
        let buffer = Descriptor::of(descriptor).ok_or(Errno::INVAL)?;
        let Descriptor::DmaBuf { id: Id { pid, .. }, file, offset, size, tiling, .. } = buffer
        else {
            return Err(Errno::INVAL);
        };
        if let Some(id) = self.known(&buffer) {
            self.object_mut(id)?.users += 1;
            return Ok(id);
        }
        let file = file_of(descriptor, pid, file).inspect_err(|error| {
            self.unimplemented.report(&format!(
                "a buffer of process {pid}, whose file cannot be opened: {error}"
            ));
        })?;
        let pages = self.host.import(file, offset, size)?;
        let kept = descriptor::keep(descriptor)?;
        let id = self.insert(Storage::File(pages));
        let object = self.object_mut(id)?;
        (object.imported_from, object.is_shared) = (Some(Arc::new(kept)), true);
        (object.tiling, object.stride) = tiling;
        Ok(id)
    }

    /// The object that a buffer stands for, if this process has it: its own object, or one that it
    /// has imported.
    fn known(&self, buffer: &Descriptor) -> Option<ObjectId> {
        let &Descriptor::DmaBuf { id: Id { pid, .. }, file, offset, object, .. } = buffer else {
            return None;
        };
        let here = |found: &&Object| match &found.storage {
            Storage::File(pages) => {
                pages.owner() == pid && pages.location() == (file as i32, offset)
            }
            Storage::User(_) => false,
        };
        let own = self.objects.get(&ObjectId(object)).filter(here).map(|_| ObjectId(object));
        own.or_else(|| self.imported(pid, object))
    }

    /// The object that was imported from process `owner`, in which its number is `object`.
    fn imported(&self, owner: u32, object: u64) -> Option<ObjectId> {
        self.objects.iter().find_map(|(known, here)| {
            match Descriptor::of(here.imported_from.as_ref()?.as_fd())? {
                Descriptor::DmaBuf { id: Id { pid, .. }, object: theirs, .. } => {
                    (pid == owner && theirs == object).then_some(*known)
                }
                _ => None,
            }
        })
    }

    /// The memory to map when a client passes a buffer's descriptor to mmap.
    ///
    /// # Errors
    /// ENODEV for a descriptor that is not a buffer; EINVAL beyond the end of the buffer; those of
    /// open.
    pub fn shared_mapping(
        &mut self,
        descriptor: BorrowedFd<'_>,
        offset: u64,
        length: u64,
    ) -> Result<Mappable, Errno> {
        let buffer = Descriptor::of(descriptor).ok_or(Errno::NODEV)?;
        let Descriptor::DmaBuf { id, file, offset: start, size, .. } = buffer else {
            return Err(Errno::NODEV);
        };
        let end =
            length.checked_next_multiple_of(4096).and_then(|length| offset.checked_add(length));
        if end.is_none_or(|end| end > size) {
            return Err(Errno::INVAL);
        }
        if let Some(known) = self.known(&buffer) {
            return self.object_mut(known)?.mappable(offset);
        }
        let keeper = Keeper::of_buffer(Arc::new(descriptor::keep(descriptor)?));
        Ok(Mappable { file: file_of(descriptor, id.pid, file)?, offset: start + offset, keeper })
    }

    /// Executes the ioctl GEM_FLINK.
    pub(super) fn flink(&mut self, file: &mut File, arg: &mut drm::GemFlink) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        arg.name = match self.object(id)?.name {
            Some(name) => name,
            None => {
                let name = self.names.add(id);
                self.object_mut(id)?.name = Some(name);
                name
            }
        };
        Ok(())
    }

    /// GEM_OPEN. Global names are valid only in this process.
    pub(super) fn gem_open(&mut self, file: &mut File, arg: &mut drm::GemOpen) -> Outcome {
        let id = *self.names.get(arg.name)?;
        let object = self.object_mut(id)?;
        object.users += 1;
        arg.size = object.size;
        arg.handle = file.objects.add(id);
        Ok(())
    }
}

/// The file of a buffer: the one that is attached to its descriptor, or else the one that process
/// `pid` has open as descriptor `number`.
///
/// # Errors
/// ENOENT or EACCES if there is no such process or file, or if it belongs to another user.
fn file_of(buffer: BorrowedFd<'_>, pid: u32, number: u32) -> Result<OwnedFd, Errno> {
    if let Ok(file) = descriptor::attached(buffer) {
        return Ok(file);
    }
    let path = format!("/proc/{pid}/fd/{number}");
    let file = fs::File::options().read(true).write(true).open(path);
    file.map(OwnedFd::from).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
