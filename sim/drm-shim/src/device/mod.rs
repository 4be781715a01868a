//! The device: it does for clients what the kernel driver i915 does, with the model in place of the
//! hardware. The layer above passes ioctls to [`Device::ioctl`] and implements [`Host`].
//!
//! * this file: [`Device`], open files, dispatch of ioctls;
//! * [`config`]: the options; [`host`]: what the device needs from the client's process;
//! * [`descriptor`]: file descriptors that stand for devices, buffers and fences;
//! * [`gem`]: objects; [`tiling`]: linear views of tiled objects; [`prime`]: shared objects;
//! * [`context`]: contexts and address spaces; [`exec`]: submissions; [`addresses`]: addresses of
//!   objects; [`bindings`]: objects that are bound to addresses;
//! * [`queue`]: pending submissions and the thread that runs them; [`machine`]: the model;
//!   [`fence`]: fences;
//! * [`params`]: queries about the GPU; [`syncobj`]: syncobjs and timelines; [`kms`]: the display;
//! * [`report`]: faults, captures, checks and statistics.

pub mod addresses;
pub mod bindings;
pub mod config;
pub mod context;
pub mod descriptor;
pub mod exec;
pub mod fence;
pub mod gem;
pub mod host;
pub mod kms;
pub mod machine;
pub mod params;
pub mod prime;
pub mod queue;
pub mod report;
pub mod syncobj;
pub mod tiling;

#[cfg(test)]
mod tests;

use crate::uapi::{Request, drm, i915, mode};
use addresses::{Vm, VmId};
use bytemuck::Pod;
use config::Config;
use context::Context;
use descriptor::{Descriptor, Id};
use fence::{Changes, FOREVER, Fence, now};
use gem::{ObjectId, Objects};
use host::{Arena, Host};
use kms::{ClientCaps, Kms};
use machine::Machine;
use queue::Queue;
use report::Unimplemented;
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use syncobj::SharedSync;

/// Minor number of the primary node, card0.
pub const PRIMARY: u32 = 0;
/// Minor number of the render node, renderD128.
pub const RENDER: u32 = 128;

/// Minimum age in nanoseconds of the requests that GEM_THROTTLE waits for. (Linux
/// i915_gem_throttle.c)
const THROTTLE: u64 = 20_000_000;

/// Longest time in nanoseconds that the process waits for pending work when it ends. A submission
/// that hangs may take minutes until the model stops it.
const LAST_WORK: u64 = 600_000_000_000;

/// Number of exported descriptors that triggers the first sweep for closed ones.
const SWEEP_THRESHOLD: usize = 64;

/// Why an ioctl has not completed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The ioctl failed with this error.
    Errno(Errno),
    /// The ioctl must wait for a change. Call it again after the next change, or at this time of
    /// the monotonic clock in nanoseconds.
    Wait(u64),
    /// The ioctl succeeded; return once this fence signals.
    After(Fence),
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Stop {
        Stop::Errno(error)
    }
}

/// The result of an ioctl.
pub type Outcome = Result<(), Stop>;

/// Handles, numbers from 1 on, each of which stands for a value such as an object.
#[derive(Debug)]
pub struct Handles<T> {
    entries: BTreeMap<u32, T>,
    next: u32,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Handles { entries: BTreeMap::new(), next: 1 }
    }
}

impl<T> Handles<T> {
    /// Adds a value and returns its handle: the smallest free number, as in the kernel.
    pub fn add(&mut self, value: T) -> u32 {
        while self.entries.contains_key(&self.next) {
            self.next += 1;
        }
        let handle = self.next;
        self.entries.insert(handle, value);
        self.next += 1;
        handle
    }

    /// The value of a handle.
    ///
    /// # Errors
    /// ENOENT if the handle is not in use.
    pub fn get(&self, handle: u32) -> Result<&T, Errno> {
        self.entries.get(&handle).ok_or(Errno::NOENT)
    }

    /// The value of a handle, mutable.
    ///
    /// # Errors
    /// ENOENT if the handle is not in use.
    pub fn get_mut(&mut self, handle: u32) -> Result<&mut T, Errno> {
        self.entries.get_mut(&handle).ok_or(Errno::NOENT)
    }

    /// Removes a handle, and returns its value.
    ///
    /// # Errors
    /// ENOENT if the handle is not in use.
    pub fn remove(&mut self, handle: u32) -> Result<T, Errno> {
        let value = self.entries.remove(&handle).ok_or(Errno::NOENT)?;
        self.next = self.next.min(handle);
        Ok(value)
    }

    /// All handles with their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().map(|(handle, value)| (*handle, value))
    }

    fn take(&mut self) -> BTreeMap<u32, T> {
        std::mem::take(&mut self.entries)
    }
}

/// An open file of the device: the state of one client.
#[derive(Debug)]
pub struct File {
    /// [`PRIMARY`] or [`RENDER`].
    pub minor: u32,
    /// The device's end of the descriptor, through which the device sends events and detects that
    /// the descriptor was closed. `None` if another process opened the file.
    channel: Option<OwnedFd>,
    objects: Handles<ObjectId>,
    contexts: BTreeMap<u32, Context>,
    next_context: u32,
    vms: Handles<VmId>,
    syncobjs: Handles<SharedSync>,
    /// Capabilities that the client has enabled (SET_CLIENT_CAP).
    caps: ClientCaps,
    /// Number of faults of the file's contexts.
    resets: Arc<AtomicU32>,
    /// Pending requests, each with the time of its submission.
    work: VecDeque<(u64, Fence)>,
}

impl File {
    /// Adds the fence of a request that was submitted now.
    fn add_work(&mut self, fence: &Fence) {
        self.advance();
        self.work.push_back((now(), fence.clone()));
    }

    fn advance(&mut self) {
        while self.work.front().is_some_and(|(_, fence)| fence.is_signaled()) {
            self.work.pop_front();
        }
    }

    /// GEM_THROTTLE: makes the ioctl wait for requests that are older than [`THROTTLE`].
    fn throttle(&mut self) -> Outcome {
        self.advance();
        match self.work.front() {
            Some((since, _)) if now().saturating_sub(*since) > THROTTLE => Err(Stop::Wait(FOREVER)),
            _ => Ok(()),
        }
    }
}

/// The device.
#[derive(Debug)]
pub struct Device {
    config: Config,
    /// The client's process.
    host: &'static dyn Host,
    /// Counts changes, for threads that wait for one.
    changes: Arc<Changes>,
    queue: Queue,
    /// The machine, while the process forks.
    paused: Option<Machine>,
    /// The arena that provides the memory of new objects.
    arena: Option<Box<dyn Arena>>,
    objects: Objects,
    next_object: u64,
    files: BTreeMap<Id, File>,
    vms: BTreeMap<VmId, Vm>,
    next_vm: u64,
    next_engine_context: u64,
    /// Exported buffers, with the device's end of each descriptor.
    exports: Vec<(ObjectId, OwnedFd)>,
    /// Exported syncobjs, with the device's end of each descriptor.
    shared_syncs: Vec<(Id, SharedSync, OwnedFd)>,
    /// Number of exported descriptors that triggers the next sweep for closed ones.
    sweep_at: usize,
    /// Objects with global names (GEM_FLINK).
    names: Handles<ObjectId>,
    kms: Kms,
    unimplemented: Unimplemented,
}

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
    /// A device without open files.
    pub fn new(config: Config, host: &'static dyn Host) -> Device {
        let changes = Arc::new(Changes::default());
        let machine = Machine::new(config.clone());
        let kms = Kms::new(config.mode);
        Device {
            config,
            host,
            queue: Queue::new(host, machine, changes.clone()),
            changes,
            paused: None,
            arena: None,
            objects: BTreeMap::new(),
            next_object: 1,
            files: BTreeMap::new(),
            vms: BTreeMap::new(),
            next_vm: 1,
            next_engine_context: 0,
            exports: Vec::new(),
            shared_syncs: Vec::new(),
            sweep_at: SWEEP_THRESHOLD,
            names: Handles::default(),
            kms,
            unimplemented: Unimplemented::default(),
        }
    }

    /// The options.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// True if this device has an open file with this id.
    pub fn has_file(&self, file: Id) -> bool {
        self.files.contains_key(&file)
    }

    /// Opens the node with this minor number as the file `id`. `channel` is the device's end of the
    /// file's descriptor, if this process created the descriptor.
    pub fn open(&mut self, id: Id, minor: u32, channel: Option<OwnedFd>) {
        self.collect();
        let vm = self.new_vm();
        let mut contexts = BTreeMap::new();
        let resets = Arc::new(AtomicU32::new(0));
        contexts.insert(0, Context::new(vm, &resets));
        let file = File {
            minor,
            channel,
            objects: Handles::default(),
            contexts,
            next_context: 1,
            vms: Handles::default(),
            syncobjs: Handles::default(),
            caps: ClientCaps::default(),
            resets,
            work: VecDeque::new(),
        };
        self.files.insert(id, file);
    }

    /// The count of changes, for threads that wait for one.
    pub fn changes(&self) -> Arc<Changes> {
        self.changes.clone()
    }

    /// Called before the process forks. No submission runs until [`resume`](Self::resume) or
    /// [`forked`](Self::forked).
    pub fn pause(&mut self) {
        self.paused = Some(self.queue.pause());
    }

    /// Called after a fork, in the parent: submissions run again.
    pub fn resume(&mut self) {
        if let Some(machine) = self.paused.take() {
            self.queue.resume(machine);
        }
    }

    /// Called after a fork, in the child. The parent completes and reports pending work. The worker
    /// thread does not exist in the child, and locks that it held stay locked. Objects that may
    /// contain such a lock are therefore leaked, not dropped.
    pub fn forked(&mut self) {
        let Some(mut machine) = self.paused.take() else { return };
        machine.forked();
        let changes = Arc::new(Changes::default());
        let queue = Queue::new(self.host, machine, changes.clone());
        std::mem::forget(std::mem::replace(&mut self.queue, queue));
        self.changes = changes;
        for object in self.objects.values_mut() {
            std::mem::forget((object.written.take(), std::mem::take(&mut object.read)));
        }
        for file in self.files.values_mut() {
            std::mem::forget(std::mem::take(&mut file.work));
            for (_, sync) in file.syncobjs.iter() {
                syncobj::with(sync, syncobj::Sync::forget_work);
            }
        }
    }

    /// Called when the process ends. Waits until no submission runs or is ready, because other
    /// processes may see the results, but at most ten minutes. Then writes statistics, captures and
    /// the trace.
    pub fn finish(&mut self) {
        self.queue.drain(LAST_WORK);
        self.queue.when_idle(|machine| machine.reporter.finish());
    }

    /// Releases files, exported objects and exported syncobjs whose last descriptor was closed.
    pub fn collect(&mut self) {
        let closed = |(id, file): (&Id, &File)| {
            file.channel.as_ref().is_some_and(descriptor::hung_up).then_some(*id)
        };
        let gone: Vec<Id> = self.files.iter().filter_map(closed).collect();
        for id in gone {
            self.close(id);
        }
        let (gone, kept) = std::mem::take(&mut self.exports)
            .into_iter()
            .partition(|(_, end)| descriptor::hung_up(end));
        self.exports = kept;
        let gone: Vec<(ObjectId, OwnedFd)> = gone;
        for (object, _) in gone {
            self.release(object);
        }
        self.shared_syncs.retain(|(.., end)| !descriptor::hung_up(end));
        self.sweep_at = SWEEP_THRESHOLD.max(2 * (self.exports.len() + self.shared_syncs.len()));
    }

    /// Creates a descriptor: returns the client's end and the device's end. Nothing notifies the
    /// device when the client closes its end. So the device looks for closed descriptors when the
    /// number of exported ones has doubled, and when the process has too many open files.
    fn new_descriptor(
        &mut self,
        descriptor: Descriptor,
        close_on_exec: bool,
    ) -> Result<(OwnedFd, OwnedFd), Errno> {
        if self.exports.len() + self.shared_syncs.len() >= self.sweep_at {
            self.collect();
        }
        match descriptor.create(close_on_exec) {
            Err(Errno::MFILE) => {
                self.collect();
                descriptor.create(close_on_exec)
            }
            ends => ends,
        }
    }

    /// Closes a file: releases its contexts, address spaces, objects, frame buffers and blobs.
    pub fn close(&mut self, id: Id) {
        let Some(mut file) = self.files.remove(&id) else { return };
        for (_, context) in std::mem::take(&mut file.contexts) {
            self.destroy_context(context);
        }
        for (_, vm) in file.vms.take() {
            self.release_vm(vm);
        }
        for (_, object) in file.objects.take() {
            self.release(object);
        }
        for fb in self.kms.owned(id) {
            // `owned` listed the frame buffers just now, so each of them exists.
            let _ = self.remove_fb(fb);
        }
        self.kms.forget(id);
    }

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
            number @ 0xa0..0xbf => self.mode(id, file, number, call),
            number => self.core(file, number, call),
        }
    }

    /// ioctls of all DRM drivers.
    fn core(&mut self, file: &mut File, number: u32, call: Call) -> Outcome {
        use drm::nr;
        let host = self.host;
        match number {
            nr::VERSION => call.with(|arg| self.version(arg)),
            nr::GET_UNIQUE => call.with(|arg| self.unique(arg)),
            nr::GET_MAGIC => call.with(|arg: &mut drm::Auth| {
                arg.magic = 1;
                Ok(())
            }),
            nr::AUTH_MAGIC | nr::SET_MASTER | nr::DROP_MASTER => Ok(()),
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
            nr::CRTC_GET_SEQUENCE => call.with(|arg| self.kms.get_sequence(arg)),
            nr::SYNCOBJ_CREATE => call.with(|arg| syncobj::create(&mut file.syncobjs, arg)),
            nr::SYNCOBJ_DESTROY => call.with(|arg| syncobj::destroy(&mut file.syncobjs, arg)),
            nr::SYNCOBJ_HANDLE_TO_FD => call.with(|arg| self.sync_export(file, arg)),
            nr::SYNCOBJ_FD_TO_HANDLE => call.with(|arg| self.sync_import(file, arg)),
            nr::SYNCOBJ_WAIT => call.with(|arg| syncobj::wait(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_TIMELINE_WAIT => {
                call.with(|arg| syncobj::timeline_wait(host, &file.syncobjs, arg))
            }
            nr::SYNCOBJ_RESET => call.with(|arg| syncobj::reset(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_SIGNAL => call.with(|arg| syncobj::signal(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_TIMELINE_SIGNAL => {
                call.with(|arg| syncobj::timeline_signal(host, &file.syncobjs, arg))
            }
            nr::SYNCOBJ_QUERY => call.with(|arg| syncobj::query(host, &file.syncobjs, arg)),
            nr::SYNCOBJ_TRANSFER => {
                call.with(|arg| syncobj::transfer(&file.syncobjs, arg, call.since))
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
                (arg.aper_size, arg.aper_available_size) = (config::APERTURE, config::APERTURE);
                Ok(())
            }),
            nr::GEM_MADVISE => call.with(|arg: &mut i915::GemMadvise| {
                file.objects.get(arg.handle)?;
                // Memory never runs short here, so the pages are always retained.
                arg.retained = 1;
                if arg.madv > 1 { Err(Errno::INVAL.into()) } else { Ok(()) }
            }),
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
        match number {
            nr::GETRESOURCES => call.with(|arg| self.kms.resources(host, arg)),
            nr::GETCRTC => call.with(|arg| self.kms.crtc(arg)),
            nr::SETCRTC => call.with(|arg| self.set_crtc(arg)),
            nr::GETENCODER => call.with(|arg| self.kms.encoder(arg)),
            nr::GETCONNECTOR => call.with(|arg| self.kms.connector(host, file.caps, arg)),
            nr::GETPROPERTY => call.with(|arg| self.kms.property(host, arg)),
            nr::OBJ_GETPROPERTIES => call.with(|arg| self.kms.properties(host, file.caps, arg)),
            nr::GETPLANERESOURCES => call.with(|arg| self.kms.planes(host, file.caps, arg)),
            nr::GETPLANE => call.with(|arg| self.kms.plane(host, arg)),
            nr::GETPROPBLOB => call.with(|arg| self.kms.get_blob(host, arg)),
            nr::CREATEPROPBLOB => call.with(|arg| self.kms.create_blob(host, id, arg)),
            nr::DESTROYPROPBLOB => call.with(|arg| self.kms.destroy_blob(id, arg)),
            nr::ATOMIC => call.with(|arg| self.atomic(file, arg)),
            nr::ADDFB => call.with(|arg| self.add_fb(id, file, arg)),
            nr::ADDFB2 => call.with(|arg| self.add_fb2(id, file, arg)),
            nr::GETFB => call.with(|arg| self.get_fb(file, arg)),
            nr::RMFB => {
                call.with(|arg: &mut mode::FbId| match self.kms.owned(id).contains(&arg.fb_id) {
                    true => self.remove_fb(arg.fb_id),
                    false => Err(Errno::NOENT.into()),
                })
            }
            nr::PAGE_FLIP => call.with(|arg| self.page_flip(file, arg)),
            nr::DIRTYFB => call.with(|arg| self.dirty_fb(arg)),
            nr::CURSOR | nr::CURSOR2 | nr::SETGAMMA | nr::GETGAMMA | nr::SETPROPERTY => Ok(()),
            nr::CREATE_DUMB => call.with(|arg| self.create_dumb(file, arg)),
            nr::MAP_DUMB => call.with(|arg| self.map_dumb(file, arg)),
            nr::DESTROY_DUMB => {
                call.with(|arg: &mut mode::DestroyDumb| self.close_handle(file, arg.handle))
            }
            _ => self.unknown(call),
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
