//! The device: it does for clients what the kernel driver i915 does, with the model in place of the
//! hardware. The layer above passes ioctls to [`Device::ioctl`] and implements [`Host`].
//!
//! * this file: [`Device`], open files;
//! * [`config`]: the options; [`host`]: what the device needs from the client's process;
//! * [`descriptor`]: file descriptors that stand for devices, buffers and fences;
//! * [`fence`]: fences; [`outcome`]: results of ioctls; [`handles`]: handles of a client;
//! * [`gem`]: objects; [`tiling`]: linear views of tiled objects;
//! * [`busy`]: busy time of engines; [`context`]: contexts; [`addresses`]: addresses of objects;
//!   [`bindings`]: objects that are bound to addresses; [`syncobj`]: syncobjs and timelines;
//!   [`kms`]: the display;
//! * [`queue`]: pending submissions and the thread that runs them; [`machine`]: the model;
//! * [`report`]: faults, captures, checks and statistics;
//! * `ioctl`: the ioctls, which use all of these.

pub mod addresses;
pub mod bindings;
pub mod busy;
pub mod config;
pub mod context;
pub mod descriptor;
pub mod fence;
pub mod gem;
pub mod handles;
pub mod host;
mod ioctl;
pub mod kms;
pub mod machine;
pub mod outcome;
pub mod queue;
pub mod report;
pub mod syncobj;
pub mod tiling;

#[cfg(test)]
mod tests;

use addresses::{Vm, VmId};
use busy::Busy;
use config::Config;
use context::Context;
use descriptor::{Descriptor, Id};
use fence::{Changes, FOREVER, Fence, now};
use gem::{ObjectId, Objects};
use handles::Handles;
use host::{Arena, Host};
use kms::{ClientCaps, Kms};
use machine::Machine;
use outcome::{Outcome, Stop};
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

/// Longest time in nanoseconds that the process waits at its end for the reports to be written, if
/// it ends without the functions of atexit.
const LAST_REPORTS: u64 = 10_000_000_000;

/// Number of exported descriptors that triggers the first sweep for closed ones.
const SWEEP_THRESHOLD: usize = 64;

/// Bits of a handle within the range of a process.
const RANGE_BITS: u32 = 20;
/// Number of ranges of forked processes. The first range is that of their first ancestor.
const MAX_RANGES: u32 = (1 << (32 - RANGE_BITS)) - 1;

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
    /// The smallest number of a context that this process gives.
    first_context: u32,
    /// No free number from `first_context` on is smaller.
    next_context: u32,
    vms: Handles<VmId>,
    syncobjs: Handles<SharedSync>,
    /// Number of the file among those that have asked for a magic number; 0 before.
    magic: u32,
    /// Capabilities that the client has enabled (SET_CLIENT_CAP).
    caps: ClientCaps,
    /// Number of faults of the file's contexts.
    resets: Arc<AtomicU32>,
    /// Busy time of the engines with the file's work.
    busy: Arc<Busy>,
    /// Pending requests, each with the time of its submission.
    work: VecDeque<(u64, Fence)>,
}

impl File {
    /// Called in a forked child: makes new handles and numbers of contexts start at `first`.
    fn start_at(&mut self, first: u32) {
        self.objects.start_at(first);
        self.vms.start_at(first);
        self.syncobjs.start_at(first);
        (self.first_context, self.next_context) = (first, first);
    }

    /// Removes a context.
    ///
    /// # Errors
    /// ENOENT if there is no context with this number.
    fn remove_context(&mut self, number: u32) -> Result<Context, Errno> {
        let context = self.contexts.remove(&number).ok_or(Errno::NOENT)?;
        self.next_context = self.next_context.min(number).max(self.first_context);
        Ok(context)
    }

    /// Adds a context and returns its number: the smallest free one, as in the kernel.
    fn add_context(&mut self, context: Context) -> u32 {
        while self.contexts.contains_key(&self.next_context) {
            self.next_context += 1;
        }
        self.contexts.insert(self.next_context, context);
        self.next_context
    }

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
    /// The machine, which is taken out of the queue while the process forks.
    paused: Option<Machine>,
    /// The arena that provides the memory of new objects.
    arena: Option<Box<dyn Arena>>,
    objects: Objects,
    next_object: u64,
    files: BTreeMap<Id, File>,
    /// The client that controls the display (SET_MASTER).
    master: Option<Id>,
    /// True for each file with a magic number that was not authenticated yet.
    magics: Handles<bool>,
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
            master: None,
            magics: Handles::default(),
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
        if minor == PRIMARY {
            self.master.get_or_insert(id);
        }
        let vm = self.new_vm();
        let mut contexts = BTreeMap::new();
        let resets = Arc::new(AtomicU32::new(0));
        let mut first = Context::new(vm, &resets);
        first.is_in_use = true;
        contexts.insert(0, first);
        let file = File {
            minor,
            channel,
            objects: Handles::default(),
            contexts,
            first_context: 1,
            next_context: 1,
            vms: Handles::default(),
            syncobjs: Handles::default(),
            magic: 0,
            caps: ClientCaps::default(),
            resets,
            busy: Arc::default(),
            work: VecDeque::new(),
        };
        self.files.insert(id, file);
    }

    /// The lines that the kernel adds to `/proc/PID/fdinfo` of a file; `None` if this device has no
    /// such file.
    pub fn fdinfo(&self, id: Id) -> Option<String> {
        let (engines, videos) = (self.config.chip().engines, self.config.topology().videos);
        Some(self.files.get(&id)?.busy.fdinfo(id.serial, &engines, videos))
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
    ///
    /// With a kernel, parent and children share an inherited file. Here each process has its own
    /// copy. `number` counts the forked processes: each gives handles of its own range for
    /// inherited files, so that no two processes use the same handle for different objects.
    pub fn forked(&mut self, number: u32) {
        let Some(mut machine) = self.paused.take() else { return };
        machine.forked();
        let changes = Arc::new(Changes::default());
        let queue = Queue::new(self.host, machine, changes.clone());
        std::mem::forget(std::mem::replace(&mut self.queue, queue));
        self.changes = changes;
        for object in self.objects.values_mut() {
            std::mem::forget((object.written.take(), std::mem::take(&mut object.read)));
        }
        let first = (1 + number % MAX_RANGES) << RANGE_BITS;
        for file in self.files.values_mut() {
            file.start_at(first);
            std::mem::forget(std::mem::take(&mut file.work));
            for context in file.contexts.values_mut() {
                std::mem::forget(context.take_work());
            }
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

    /// Called when the process ends without the functions of atexit: as [`finish`](Self::finish),
    /// but may run in a signal handler, and waits at most ten seconds if no submission runs. Does
    /// nothing in a process without submissions.
    pub fn finish_at_once(&self) {
        self.queue.finish_in_worker(LAST_WORK, LAST_REPORTS);
    }

    /// Called when a signal ends the process: as [`finish_at_once`](Self::finish_at_once), but
    /// waits at most ten seconds for running submissions, too. Their results are then missing in
    /// the reports.
    pub fn finish_soon(&self) {
        self.queue.finish_in_worker(LAST_REPORTS, LAST_REPORTS);
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
        self.master.take_if(|master| *master == id);
        // A file that has not asked for a number has none to remove.
        let _ = self.magics.remove(file.magic);
    }
}
