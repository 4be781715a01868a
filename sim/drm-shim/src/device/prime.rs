//! Objects of others: by descriptor (PRIME) within a process and across processes, and by name
//! (FLINK).

use super::gem::{Object, ObjectId, Pages};
use super::{Device, File, Outcome};
use crate::edge::arena;
use crate::edge::token::{self, Id, Token};
use crate::uapi::drm;
use rustix::fd::{AsFd, BorrowedFd, IntoRawFd};
use rustix::io::Errno;

impl Device {
    /// PRIME_HANDLE_TO_FD.
    pub(super) fn prime_export(&mut self, file: &mut File, arg: &mut drm::PrimeHandle) -> Outcome {
        let id = *file.objects.get(arg.handle)?;
        let object = self.object_mut(id)?;
        // The kernel shares no user pages either.
        let Pages::File(pages) = &object.pages else { return Err(Errno::INVAL.into()) };
        object.is_shared = true;
        let (pid, number, offset) = pages.found();
        let token = Token::Buffer {
            id: Id { pid, ..Id::new() },
            file: number as u32,
            offset,
            size: object.size,
            tiling: (object.tiling, object.stride),
            object: id.0,
        };
        let (client, device) = self.give_out(token, arg.flags & drm::CLOEXEC != 0)?;
        // Who polls it waits for the work on it, which is done: submissions with objects that
        // others see are waited for.
        token::tell(&device, &[0]);
        self.exports.push((id, device));
        self.object_mut(id)?.users += 1;
        arg.fd = client.into_raw_fd();
        Ok(())
    }

    /// PRIME_FD_TO_HANDLE.
    pub(super) fn prime_import(&mut self, file: &mut File, arg: &mut drm::PrimeHandle) -> Outcome {
        let descriptor = crate::edge::client::descriptor(arg.fd)?;
        let Some(token) = Token::of(descriptor.as_fd()) else { return Err(Errno::INVAL.into()) };
        let id = self.import(token, descriptor.as_fd())?;
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

    /// The object that a descriptor stands for, with one more user.
    fn import(&mut self, token: Token, descriptor: BorrowedFd<'_>) -> Result<ObjectId, Errno> {
        let Token::Buffer { id: Id { pid, .. }, file, offset, size, tiling, object } = token else {
            return Err(Errno::INVAL);
        };
        let here = |found: &&Object| match &found.pages {
            Pages::File(pages) => pages.found() == (pid, file as i32, offset),
            Pages::Client(_) => false,
        };
        let known = self.objects.get(&ObjectId(object)).filter(here).map(|_| ObjectId(object));
        // An object of another process that came before.
        let known = known.or_else(|| self.imported(token));
        if let Some(id) = known {
            self.object_mut(id)?.users += 1;
            return Ok(id);
        }
        let file = arena::open_foreign(pid, file).inspect_err(|error| {
            self.reporter.missing(&format!(
                "a buffer of process {pid}, whose file cannot be opened: {error}"
            ));
        })?;
        let pages = arena::foreign(file, offset, size)?;
        let kept = rustix::io::fcntl_dupfd_cloexec(descriptor, 512)
            .or_else(|_| rustix::io::fcntl_dupfd_cloexec(descriptor, 0))?;
        let id = self.insert(Pages::File(pages));
        let object = self.object_mut(id)?;
        (object.token, object.is_shared) = (Some(kept), true);
        (object.tiling, object.stride) = tiling;
        Ok(id)
    }

    /// An object of another process that is here already.
    fn imported(&self, token: Token) -> Option<ObjectId> {
        let Token::Buffer { id, object, .. } = token else { return None };
        self.objects.iter().find_map(|(known, here)| {
            match Token::of(here.token.as_ref()?.as_fd())? {
                Token::Buffer { id: Id { pid, .. }, object: theirs, .. } => {
                    (pid == id.pid && theirs == object).then_some(*known)
                }
                _ => None,
            }
        })
    }

    /// What a client maps that passes the descriptor of a buffer to mmap.
    ///
    /// # Errors
    /// EINVAL beyond its end, or the kernel's.
    pub fn shared_mapping(
        &self,
        token: Token,
        offset: u64,
        length: u64,
    ) -> Result<(rustix::fd::OwnedFd, u64), Errno> {
        let Token::Buffer { id, file, offset: start, size, .. } = token else {
            return Err(Errno::NODEV);
        };
        let end =
            length.checked_next_multiple_of(4096).and_then(|length| offset.checked_add(length));
        if end.is_none_or(|end| end > size) {
            return Err(Errno::INVAL);
        }
        Ok((arena::open_foreign(id.pid, file)?, start + offset))
    }

    /// GEM_FLINK.
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

    /// GEM_OPEN; names are this process' own.
    pub(super) fn gem_open(&mut self, file: &mut File, arg: &mut drm::GemOpen) -> Outcome {
        let id = *self.names.get(arg.name)?;
        let object = self.object_mut(id)?;
        object.users += 1;
        arg.size = object.size;
        arg.handle = file.objects.add(id);
        Ok(())
    }
}
