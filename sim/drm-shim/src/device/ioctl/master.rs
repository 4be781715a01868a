//! The DRM master, which is the client that controls the display, and the leases that it grants.
//!
//! The first client of the primary node becomes the master. The device asks for a master only
//! where a client authenticates another one, and for handles of frame buffers. It does not check
//! the master's other rights, because each process has a display of its own.

use crate::device::descriptor::{Descriptor, Id};
use crate::device::outcome::Outcome;
use crate::device::{Device, File, PRIMARY};
use crate::uapi::{drm, mode};
use rustix::fd::IntoRawFd;
use rustix::io::Errno;

/// Number of low bits of a magic number that identify the file within its process. The other bits
/// are those of the process, because a master authenticates clients of other processes. (Process
/// ids have at most 22 bits: Linux include/linux/threads.h)
const FILE_BITS: u32 = 10;

impl Device {
    /// True for the master and for the clients to which it has leased objects.
    pub(super) fn is_master(&self, id: Id) -> bool {
        self.master.is_some() && self.master == Some(self.kms.lessor(id).unwrap_or(id))
    }

    /// CREATE_LEASE: a new file of the device, whose client may use some objects of the display.
    ///
    /// # Errors
    /// EINVAL for unknown flags, and for a client that has a lease itself; those of the list of
    /// objects; EMFILE or ENFILE if there are too many descriptors.
    pub(super) fn create_lease(
        &mut self,
        id: Id,
        file: &File,
        arg: &mut mode::CreateLease,
    ) -> Outcome {
        if arg.flags & !(drm::CLOEXEC | mode::LEASE_NONBLOCK) != 0 || self.kms.lessor(id).is_some()
        {
            return Err(Errno::INVAL.into());
        }
        let objects: Vec<u32> = self.host.array(arg.object_ids, arg.object_count.into())?;
        let held = self.kms.leasable(id, &objects, file.caps.universal_planes)?;
        let lessee = Id::new();
        let descriptor = Descriptor::Device { id: lessee, minor: file.minor };
        let (client, end) = self.new_descriptor(descriptor, arg.flags & drm::CLOEXEC != 0)?;
        if arg.flags & mode::LEASE_NONBLOCK != 0 {
            rustix::io::ioctl_fionbio(&client, true)?;
        }
        self.open(lessee, file.minor, Some(end));
        arg.lessee_id = self.kms.lease(id, lessee, held);
        arg.fd = client.into_raw_fd();
        Ok(())
    }

    /// SET_MASTER: makes the client the master if no client is. (Linux drm_auth.c)
    ///
    /// # Errors
    /// EACCES for a client of the render node; EBUSY if another client is the master; EINVAL for a
    /// client that has a lease.
    pub(super) fn set_master(&mut self, id: Id, file: &File) -> Outcome {
        if file.minor != PRIMARY {
            return Err(Errno::ACCESS.into());
        }
        if self.is_master(id) {
            return Ok(());
        }
        if self.master.is_some() {
            // The master may have closed its file.
            self.collect();
        }
        match self.master {
            Some(_) => Err(Errno::BUSY.into()),
            None if self.kms.lessor(id).is_some() => Err(Errno::INVAL.into()),
            None => {
                self.master = Some(id);
                Ok(())
            }
        }
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
        // The master may have closed its file.
        self.collect();
        if !self.is_master(id) {
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
