//! The DRM master: the client that controls the display.
//!
//! The first client of the primary node becomes the master. Here, the master authenticates other
//! clients, and gets handles of frame buffers. Other rights are not checked: clients of other
//! processes have a display of their own.

use crate::device::descriptor::Id;
use crate::device::outcome::Outcome;
use crate::device::{Device, File, PRIMARY};
use crate::uapi::drm;
use rustix::io::Errno;

/// Number of low bits of a magic number that identify the file within its process. The other bits
/// are those of the process, because a master authenticates clients of other processes. (Process
/// ids have at most 22 bits: Linux include/linux/threads.h)
const FILE_BITS: u32 = 10;

impl Device {
    /// SET_MASTER: makes the client the master if there is none. (Linux drm_auth.c)
    ///
    /// # Errors
    /// EACCES for a client of the render node; EBUSY if another client is the master.
    pub(super) fn set_master(&mut self, id: Id, file: &File) -> Outcome {
        if file.minor != PRIMARY {
            return Err(Errno::ACCESS.into());
        }
        if self.master != Some(id) {
            // The master may have closed its file.
            self.collect();
        }
        if *self.master.get_or_insert(id) == id { Ok(()) } else { Err(Errno::BUSY.into()) }
    }

    /// DROP_MASTER: leaves the device without a master. (Linux drm_auth.c)
    ///
    /// # Errors
    /// EINVAL if the client is not the master.
    pub(super) fn drop_master(&mut self, id: Id) -> Outcome {
        self.master.take_if(|master| *master == id).map(drop).ok_or(Errno::INVAL.into())
    }

    /// GET_MAGIC: the number with which a master authenticates the client.
    ///
    /// # Errors
    /// ENOSPC if the process has more than 1023 such clients.
    pub(super) fn get_magic(&mut self, file: &mut File, arg: &mut drm::Auth) -> Outcome {
        if file.magic == 0 {
            let number = self.magics.add(true);
            if number >> FILE_BITS != 0 {
                self.magics.remove(number)?;
                return Err(Errno::NOSPC.into());
            }
            file.magic = number;
        }
        arg.magic = std::process::id() << FILE_BITS | file.magic;
        Ok(())
    }

    /// AUTH_MAGIC: authenticates a client. Numbers of other processes are accepted without a check.
    /// (Linux drm_auth.c)
    ///
    /// # Errors
    /// EACCES if the caller is not the master; EINVAL if no client has the number, or if the client
    /// is authenticated already.
    pub(super) fn auth_magic(&mut self, id: Id, arg: &mut drm::Auth) -> Outcome {
        if self.master != Some(id) {
            return Err(Errno::ACCESS.into());
        }
        let (process, number) = (arg.magic >> FILE_BITS, arg.magic & ((1 << FILE_BITS) - 1));
        if process != std::process::id() {
            return Ok(());
        }
        let is_new = self.magics.get_mut(number).map_err(|_| Errno::INVAL)?;
        if std::mem::take(is_new) { Ok(()) } else { Err(Errno::INVAL.into()) }
    }
}
