//! Syncobjs as descriptors: export, import, sync files.

use crate::device::descriptor::{self, Descriptor, Id};
use crate::device::fence::Fence;
use crate::device::outcome::Outcome;
use crate::device::syncobj::{fences, set};
use crate::device::{Device, File};
use crate::uapi::drm;
use rustix::fd::{AsFd, IntoRawFd, OwnedFd};
use rustix::io::Errno;

impl Device {
    /// Executes the ioctl SYNCOBJ_HANDLE_TO_FD.
    pub(super) fn sync_export(&mut self, file: &mut File, arg: &mut drm::SyncobjHandle) -> Outcome {
        check(arg)?;
        let is_file = arg.flags & drm::SYNCOBJ_SYNC_FILE != 0;
        // Exports as a sync file and as a syncobj return different errors. (Linux drm_syncobj.c)
        let missing = if is_file { Errno::NOENT } else { Errno::INVAL };
        let sync = file.syncobjs.get(arg.handle).map_err(|_| missing)?.clone();
        if is_file {
            let fences = fences(&sync, 0).ok_or(Errno::INVAL)?;
            arg.fd = match &fences[..] {
                [] => descriptor::signaled_fence()?,
                [fence] => fence.descriptor()?,
                _ => self.queue.after(fences, Vec::new())?.descriptor()?,
            }
            .into_raw_fd();
            return Ok(());
        }
        let id = Id::new();
        let (client, device) = self.new_descriptor(Descriptor::Syncobj { id }, true)?;
        self.shared_syncs.push((id, sync, device));
        arg.fd = client.into_raw_fd();
        Ok(())
    }

    /// Executes the ioctl SYNCOBJ_FD_TO_HANDLE.
    pub(super) fn sync_import(&mut self, file: &mut File, arg: &mut drm::SyncobjHandle) -> Outcome {
        check(arg)?;
        if arg.flags & drm::SYNCOBJ_SYNC_FILE != 0 {
            let fence = self.host.sync_file(arg.fd)?;
            let sync = file.syncobjs.get(arg.handle)?;
            set(sync, 0, self.fence_of(fence)?);
            return Ok(());
        }
        let descriptor = self.host.duplicate(arg.fd).map_err(|_| Errno::INVAL)?;
        let Some(Descriptor::Syncobj { id }) = Descriptor::of(descriptor.as_fd()) else {
            return Err(Errno::INVAL.into());
        };
        match self.shared_syncs.iter().find(|(known, ..)| *known == id) {
            Some((_, sync, _)) => {
                arg.handle = file.syncobjs.add(sync.clone());
                Ok(())
            }
            None => {
                self.unimplemented.report("a synchronisation object of another process");
                Err(Errno::INVAL.into())
            }
        }
    }

    /// The fence of a sync file; `None` if it has signaled.
    fn fence_of(&self, file: OwnedFd) -> Result<Option<Fence>, Errno> {
        match descriptor::is_signaled(&file) {
            true => Ok(None),
            false => self.queue.after(Vec::new(), vec![file]).map(Some),
        }
    }

    /// SYNC_IOC_MERGE: a new sync file that signals when both `files` have signaled.
    ///
    /// # Errors
    /// EAGAIN if the worker cannot be started; EMFILE or ENFILE if there are too many descriptors.
    pub fn merge(&self, files: [OwnedFd; 2]) -> Result<OwnedFd, Errno> {
        if files.iter().all(descriptor::is_signaled)
            && files.iter().all(|file| descriptor::status(file) == 1)
        {
            return descriptor::signaled_fence();
        }
        self.queue.after(Vec::new(), files.into())?.descriptor()
    }
}

/// EINVAL for unknown flags or a set padding, before the handle is looked up. (Linux drm_syncobj.c)
fn check(arg: &drm::SyncobjHandle) -> Result<(), Errno> {
    if arg.pad != 0 || arg.flags & !drm::SYNCOBJ_SYNC_FILE != 0 {
        return Err(Errno::INVAL);
    }
    Ok(())
}
