//! The DRM master: the client that controls the display.
//!
//! The first client of the primary node becomes the master. Here, being the master only decides who
//! gets handles of frame buffers: clients of other processes have a display of their own.

use crate::device::descriptor::Id;
use crate::device::outcome::Outcome;
use crate::device::{Device, File, PRIMARY};
use rustix::io::Errno;

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
}
