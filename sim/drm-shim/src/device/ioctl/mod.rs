//! The ioctls: methods of [`Device`], one file for each topic. This file finds the method for
//! an ioctl's number.
//!
//! * `gem`: objects; `tiling`: tiled objects; `prime`: shared objects;
//! * `context`: contexts and address spaces; `extensions`: chains of extensions;
//! * `exec`: submissions; `syncobj`: syncobjs as descriptors;
//! * `params`: queries about the GPU;
//! * `display`: modesets, flips, properties and atomic commits; `frame_buffers`: frame buffers;
//!   `master`: the client that controls the display.

mod context;
mod display;
mod exec;
mod extensions;
mod frame_buffers;
mod gem;
mod master;
mod params;
mod prime;
mod syncobj;
mod tiling;

use super::descriptor::Id;
use super::host::Host;
use super::outcome::{Outcome, Stop};
use super::syncobj as sync;
use super::{Device, File, PRIMARY};
use crate::uapi::{Request, drm, i915, mode};
use bytemuck::Pod;
use rustix::io::Errno;

/// One call of an ioctl.
#[derive(Clone, Copy, Debug)]
struct Call {
    host: &'static dyn Host,
    request: Request,
    address: u64,
    since: u64,
}

impl Call {
    /// Reads the argument and calls `work`. Then writes the argument back, also after an error, but
    /// not if the ioctl returns no data or must wait. As in the kernel, a client may be compiled
    /// with an older, shorter structure: the fields that this structure lacks are 0.
    fn with<T: Pod>(self, work: impl FnOnce(&mut T) -> Outcome) -> Outcome {
        let mut argument = T::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut argument);
        let known = bytes.len().min(self.request.size());
        self.host.read(self.address, &mut bytes[..known])?;
        let outcome = work(&mut argument);
        let stores = self.request.0 >> 31 != 0 && !matches!(outcome, Err(Stop::Wait(_)));
        if stores {
            self.host.write(self.address, &bytemuck::bytes_of(&argument)[..known])?;
        }
        outcome
    }
}

impl Device {
    /// Executes an ioctl of type [`DRM_TYPE`](crate::uapi::DRM_TYPE) with its argument at `address`
    /// in the client's memory. After [`Stop::Wait`] it is called again; `since` is the time of the
    /// first call.
    ///
    /// # Errors
    /// [`Stop`]: the kernel's error, EBADF for a file that is not open, or what to wait for.
    pub fn ioctl(&mut self, id: Id, request: Request, address: u64, since: u64) -> Outcome {
        // Take the file out of the map during the call, so that the file and the device can both be
        // changed.
        let mut file = self.files.remove(&id).ok_or(Errno::BADF)?;
        let outcome =
            self.dispatch(id, &mut file, Call { host: self.host, request, address, since });
        self.files.insert(id, file);
        outcome
    }

    fn dispatch(&mut self, id: Id, file: &mut File, call: Call) -> Outcome {
        use crate::uapi::COMMAND_BASE;
        match call.request.number() {
            number @ COMMAND_BASE..0xa0 => self.driver(file, number - COMMAND_BASE, call),
            number @ (0xa0..0xbf | 0xc6..=0xc9 | mode::nr::GETFB2) => {
                self.mode(id, file, number, call)
            }
            number => self.core(id, file, number, call),
        }
    }

    /// ioctls of all DRM drivers.
    fn core(&mut self, id: Id, file: &mut File, number: u32, call: Call) -> Outcome {
        use drm::nr;
        let host = self.host;
        match number {
            nr::VERSION => call.with(|arg| self.version(arg)),
            nr::GET_UNIQUE => call.with(|arg| self.unique(arg)),
            nr::GET_MAGIC => call.with(|arg| self.get_magic(file, arg)),
            nr::AUTH_MAGIC => call.with(|arg| self.auth_magic(id, arg)),
            nr::GET_CLIENT => call.with(params::client),
            nr::GET_STATS => call.with(|arg| {
                // The kernel has no statistics any more. (Linux drm_ioctl.c)
                *arg = drm::Stats::default();
                Ok(())
            }),
            nr::SET_MASTER => self.set_master(id, file),
            nr::DROP_MASTER => self.drop_master(id),
            nr::SET_VERSION => call.with(|arg: &mut drm::SetVersion| {
                (arg.di_major, arg.di_minor, arg.dd_major, arg.dd_minor) = (1, 4, 1, 6);
                Ok(())
            }),
            nr::GET_CAP => call.with(|arg| self.cap(file, arg)),
            nr::SET_CLIENT_CAP => call.with(|arg| file.caps.set(arg)),
            nr::GEM_CLOSE => call.with(|arg| self.gem_close(file, arg)),
            nr::GEM_FLINK => call.with(|arg| self.flink(file, arg)),
            nr::GEM_OPEN => call.with(|arg| self.gem_open(file, arg)),
            nr::PRIME_HANDLE_TO_FD => call.with(|arg| self.prime_export(file, arg)),
            nr::PRIME_FD_TO_HANDLE => call.with(|arg| self.prime_import(file, arg)),
            nr::WAIT_VBLANK => call.with(|arg| self.kms.wait_vblank(file.channel.as_ref(), arg)),
            nr::CRTC_GET_SEQUENCE => call.with(|arg: &mut drm::CrtcGetSequence| {
                self.kms.held(id).find(arg.crtc_id)?;
                self.kms.get_sequence(arg)
            }),
            nr::SYNCOBJ_CREATE => call.with(|arg| sync::create(&mut file.syncobjs, arg)),
            nr::SYNCOBJ_DESTROY => call.with(|arg| sync::destroy(&mut file.syncobjs, arg)),
            nr::SYNCOBJ_HANDLE_TO_FD => call.with(|arg| self.sync_export(file, arg)),
            nr::SYNCOBJ_FD_TO_HANDLE => call.with(|arg| self.sync_import(file, arg)),
            nr::SYNCOBJ_WAIT => call.with(|arg| sync::wait(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_TIMELINE_WAIT => {
                call.with(|arg| sync::timeline_wait(host, &file.syncobjs, arg))
            }
            nr::SYNCOBJ_RESET => call.with(|arg| sync::reset(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_SIGNAL => call.with(|arg| sync::signal(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_TIMELINE_SIGNAL => {
                call.with(|arg| sync::timeline_signal(host, &file.syncobjs, arg))
            }
            nr::SYNCOBJ_QUERY => call.with(|arg| sync::query(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_EVENTFD => call.with(|arg| sync::event(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_TRANSFER => {
                call.with(|arg| sync::transfer(&file.syncobjs, arg, call.since))
            }
            _ => self.unknown(call),
        }
    }

    /// ioctls of i915.
    fn driver(&mut self, file: &mut File, number: u32, call: Call) -> Outcome {
        use i915::nr;
        match number {
            nr::GETPARAM => call.with(|arg| self.get_param(arg)),
            nr::QUERY => call.with(|arg| self.query(arg)),
            nr::REG_READ => call.with(|arg| self.reg_read(arg)),
            nr::GET_RESET_STATS => call.with(|arg| self.reset_stats(file, arg)),
            nr::GET_PIPE_FROM_CRTC_ID => call.with(|arg: &mut i915::PipeFromCrtc| {
                arg.pipe = 0;
                Ok(())
            }),
            nr::GEM_CREATE => call.with(|arg| self.gem_create(file, arg)),
            nr::GEM_CREATE_EXT => call.with(|arg| self.gem_create_ext(file, arg)),
            nr::GEM_USERPTR => call.with(|arg| self.userptr(file, arg)),
            nr::GEM_PREAD => call.with(|arg| self.pread(file, arg)),
            nr::GEM_PWRITE => call.with(|arg| self.pwrite(file, arg)),
            nr::GEM_MMAP => call.with(|arg| self.gem_mmap(file, arg)),
            nr::GEM_MMAP_OFFSET => {
                let old = call.request.size() < size_of::<i915::GemMmapOffset>();
                call.with(|arg| self.mmap_offset(file, arg, old))
            }
            nr::GEM_SET_DOMAIN => call.with(|arg| self.set_domain(file, arg)),
            nr::GEM_SW_FINISH => call.with(|arg| self.sw_finish(file, arg)),
            nr::GEM_BUSY => call.with(|arg| self.gem_busy(file, arg)),
            nr::GEM_WAIT => call.with(|arg| self.gem_wait(file, arg, call.since)),
            nr::GEM_THROTTLE => file.throttle(),
            nr::GEM_SET_TILING => call.with(|arg| self.set_tiling(file, arg)),
            nr::GEM_GET_TILING => call.with(|arg| self.get_tiling(file, arg)),
            nr::GEM_GET_APERTURE => call.with(|arg: &mut i915::GemGetAperture| {
                let aperture = self.config.chip().aperture;
                (arg.aper_size, arg.aper_available_size) = (aperture, aperture);
                Ok(())
            }),
            nr::GEM_MADVISE => call.with(|arg| self.madvise(file, arg)),
            nr::GEM_SET_CACHING => call.with(|arg: &mut i915::GemCaching| {
                let object = *file.objects.get(arg.handle)?;
                self.object_mut(object)?.caching = if arg.caching <= 2 { arg.caching } else { 0 };
                if arg.caching > 2 { Err(Errno::INVAL.into()) } else { Ok(()) }
            }),
            nr::GEM_GET_CACHING => call.with(|arg: &mut i915::GemCaching| {
                arg.caching = self.object(*file.objects.get(arg.handle)?)?.caching;
                Ok(())
            }),
            nr::GEM_CONTEXT_CREATE => call.with(|arg| self.context_create(file, arg)),
            nr::GEM_CONTEXT_DESTROY => call.with(|arg| self.context_destroy(file, arg)),
            nr::GEM_CONTEXT_GETPARAM => call.with(|arg| self.context_get(file, arg)),
            nr::GEM_CONTEXT_SETPARAM => call.with(|arg| self.context_set(file, arg)),
            nr::GEM_VM_CREATE => call.with(|arg| self.vm_create(file, arg)),
            nr::GEM_VM_DESTROY => call.with(|arg| self.vm_destroy(file, arg)),
            nr::GEM_EXECBUFFER2 => call.with(|arg| self.execbuffer2(file, arg)),
            // A kernel without performance counters returns this error.
            nr::PERF_OPEN | nr::PERF_ADD_CONFIG | nr::PERF_REMOVE_CONFIG => {
                Err(Errno::NOTSUP.into())
            }
            _ => self.unknown(call),
        }
    }

    /// ioctls of the display (KMS).
    fn mode(&mut self, id: Id, file: &mut File, number: u32, call: Call) -> Outcome {
        use mode::nr;
        let host = self.host;
        if file.minor != PRIMARY
            && !matches!(number, nr::CREATE_DUMB | nr::MAP_DUMB | nr::DESTROY_DUMB)
        {
            return Err(Errno::ACCESS.into());
        }
        let held = self.kms.held(id);
        match number {
            nr::GETRESOURCES => call.with(|arg| self.kms.resources(host, held, arg)),
            nr::GETCRTC => call.with(|arg: &mut mode::Crtc| {
                held.find(arg.crtc_id)?;
                self.kms.crtc(arg)
            }),
            nr::SETCRTC => call.with(|arg| self.set_crtc(held, arg)),
            nr::GETENCODER => call.with(|arg| self.kms.encoder(held, arg)),
            nr::GETCONNECTOR => call.with(|arg: &mut mode::GetConnector| {
                held.find(arg.connector_id)?;
                self.kms.connector(host, file.caps, arg)
            }),
            nr::GETPROPERTY => call.with(|arg| self.kms.property(host, arg)),
            nr::OBJ_GETPROPERTIES => call.with(|arg: &mut mode::ObjGetProperties| {
                held.find(arg.obj_id)?;
                self.kms.properties(host, file.caps, arg)
            }),
            nr::OBJ_SETPROPERTY => call.with(|arg| self.set_property(held, arg)),
            nr::SETPROPERTY => call.with(|arg| self.set_connector_property(held, arg)),
            nr::GETPLANERESOURCES => call.with(|arg| self.kms.planes(host, held, file.caps, arg)),
            nr::GETPLANE => call.with(|arg: &mut mode::GetPlane| {
                held.find(arg.plane_id)?;
                self.kms.plane(host, held, arg)
            }),
            nr::GETPROPBLOB => {
                // A client that closes its file destroys its blobs.
                self.collect();
                call.with(|arg| self.kms.get_blob(host, arg))
            }
            nr::CREATEPROPBLOB => call.with(|arg| self.kms.create_blob(host, id, arg)),
            nr::DESTROYPROPBLOB => call.with(|arg| self.kms.destroy_blob(id, arg)),
            nr::ATOMIC => call.with(|arg| self.atomic(file, held, arg)),
            nr::ADDFB => call.with(|arg| self.add_fb(id, file, arg)),
            nr::ADDFB2 => call.with(|arg| self.add_fb2(id, file, arg)),
            nr::GETFB => call.with(|arg| self.get_fb(id, file, arg)),
            nr::GETFB2 => call.with(|arg| self.get_fb2(id, file, arg)),
            nr::RMFB => {
                call.with(|arg: &mut mode::FbId| match self.kms.owned(id).contains(&arg.fb_id) {
                    true => self.remove_fb(arg.fb_id),
                    false => Err(Errno::NOENT.into()),
                })
            }
            nr::PAGE_FLIP => call.with(|arg| self.page_flip(file, held, arg)),
            nr::DIRTYFB => call.with(|arg| self.dirty_fb(arg)),
            nr::CURSOR | nr::CURSOR2 | nr::SETGAMMA | nr::GETGAMMA => Ok(()),
            nr::CREATE_LEASE | nr::LIST_LESSEES | nr::GET_LEASE | nr::REVOKE_LEASE => {
                self.lease(id, file, number, call)
            }
            nr::CREATE_DUMB => call.with(|arg| self.create_dumb(file, arg)),
            nr::MAP_DUMB => call.with(|arg| self.map_dumb(file, arg)),
            nr::DESTROY_DUMB => {
                call.with(|arg: &mut mode::DestroyDumb| self.close_handle(file, arg.handle))
            }
            _ => self.unknown(call),
        }
    }

    /// ioctls of leases, which only masters and their lessees may call. (Linux drm_lease.c)
    fn lease(&mut self, id: Id, file: &mut File, number: u32, call: Call) -> Outcome {
        use mode::nr;
        let host = self.host;
        if !self.is_master(id) {
            return Err(Errno::ACCESS.into());
        }
        // Leases end with the file of their client.
        self.collect();
        match number {
            nr::CREATE_LEASE => call.with(|arg| self.create_lease(id, file, arg)),
            nr::LIST_LESSEES => call.with(|arg| Ok(self.kms.lessees(host, id, arg)?)),
            nr::GET_LEASE => call.with(|arg| Ok(self.kms.leased(host, id, arg)?)),
            _ => call.with(|arg: &mut mode::RevokeLease| Ok(self.kms.revoke(id, arg.lessee_id)?)),
        }
    }

    /// Handles an ioctl that is not implemented: reports it once, and returns EINVAL.
    fn unknown(&mut self, call: Call) -> Outcome {
        self.unimplemented.report(&format!(
            "ioctl {:#010x} (number {:#x})",
            call.request.0,
            call.request.number()
        ));
        Err(Errno::INVAL.into())
    }
}
