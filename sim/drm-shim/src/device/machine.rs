//! The model with the clients' objects and contexts. One thread at a time owns the machine
//! ([`queue`](super::queue)). Ioctls never inspect the machine, so they need not wait until it is
//! idle.

use super::addresses::VmId;
use super::bindings::{Binding, Bindings};
use super::busy::Busy;
use super::config::Config;
use super::context::{EngineContextId, Health};
use super::fence::now;
use super::gem::{ObjectId, Storage};
use super::report::{Listed, Reporter, Submitted, say};
use super::tiling::SharedView;
use genxml::gen8::engine_registers::RingTimestamp;
use genxml_sim::gpu::{Progress, Suspended};
use genxml_sim::machine::registers::mmio_base;
use genxml_sim::mem::{AddressSpace, Frames, Memory, OutOfMemory};
use genxml_sim::{Context as ModelContext, ContextId, EngineId, Gpu};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Length of a time slice in units of work: about 16 ms. A draw or dispatch is not interrupted.
const SLICE: u64 = 1 << 24;

/// Longest time in nanoseconds that a submission only waits for semaphores. i915 resets an engine
/// after about ten seconds without progress. (Linux Kconfig.profile: heartbeats every 2.5 s)
const LONGEST_WAIT: u64 = 10_000_000_000;

/// A submission, ready to run.
#[derive(Debug)]
pub struct Job {
    /// The context state on its engine.
    pub hardware: EngineContextId,
    /// The address space of the context.
    pub vm: VmId,
    /// The engine.
    pub engine: EngineId,
    /// Address of the batch.
    pub address: u64,
    /// Length of the batch according to the client, in bytes; 0 if not given.
    pub length: u64,
    /// The objects that the submission can access.
    pub objects: Vec<Item>,
    /// Fault state of the submission's context.
    pub health: Arc<Health>,
    /// Busy times of the submission's file.
    pub busy: Arc<Busy>,
}

/// A submission that has started and not ended.
#[derive(Debug)]
pub struct Started {
    /// The submission.
    pub job: Job,
    submitted: Submitted,
    /// The batch, between time slices; `None` before the first one.
    suspended: Option<Suspended>,
    /// The time of the monotonic clock since which the batch has only waited for a semaphore.
    waits_since: Option<u64>,
}

/// How a time slice of a submission ended.
#[derive(Debug)]
pub enum Slice {
    /// The submission has ended. True if it succeeded, or if it faulted and the options say to
    /// ignore faults.
    Ended(bool),
    /// The submission has not ended: [`Machine::run`] continues it.
    Suspended(Box<Started>),
}

impl Started {
    /// True if the last time slice ended because the batch waits for a semaphore.
    pub fn waits(&self) -> bool {
        self.waits_since.is_some()
    }
}

/// An object of a submission.
#[derive(Debug)]
pub struct Item {
    /// The object.
    pub id: ObjectId,
    /// The object's memory.
    pub storage: Storage,
    /// The object's GPU address.
    pub address: u64,
    /// True if the GPU may not write the object.
    pub read_only: bool,
    /// Tiling: the kernel's number for linear, X or Y.
    pub tiling: u32,
    /// Stride in bytes if tiled.
    pub stride: u32,
    /// The object's linear view through the aperture, if it has one.
    pub view: Option<SharedView>,
}

/// The state of a context on one engine.
#[derive(Debug)]
struct Hardware {
    id: ContextId,
    /// The bindings that the page tables of the model context map; not used if all contexts have
    /// the same table.
    mapped: Bindings,
    /// Number of the state in captures and reports.
    number: u32,
}

/// The model, and the objects and context states of the clients.
#[derive(Debug)]
pub struct Machine {
    config: Config,
    gpu: Gpu,
    /// Reports what the model does.
    pub reporter: Reporter,
    objects: BTreeMap<ObjectId, (Storage, Frames)>,
    hardware: BTreeMap<EngineContextId, Hardware>,
    /// The address space and the bindings that the global table maps, if all contexts use this
    /// table.
    global: Option<(VmId, Bindings)>,
    /// The objects that are bound in each address space.
    bindings: BTreeMap<VmId, Bindings>,
    /// Number of context states created so far.
    states: u32,
    /// Contexts of the model that no context state uses. A new state takes one of them.
    spare: Vec<ContextId>,
}

impl Machine {
    /// A machine without objects or context states.
    pub fn new(config: Config) -> Machine {
        let mut gpu = Gpu::of(config.chip().generation, Memory::new());
        gpu.set_threads(config.threads);
        gpu.set_work_limit(config.work_limit);
        let reporter = Reporter::new(&config);
        // No address space has this number: the first submission maps its bindings.
        let none = || (VmId(0), Bindings::default());
        let global = gpu.generation().is_global_only().then(none);
        Machine {
            config,
            gpu,
            reporter,
            objects: BTreeMap::new(),
            hardware: BTreeMap::new(),
            global,
            bindings: BTreeMap::new(),
            states: 0,
            spare: Vec::new(),
        }
    }

    /// The timestamp of the render engine.
    pub fn timestamp(&self) -> u64 {
        let register = mmio_base(EngineId::Render) + RingTimestamp::OFFSET;
        let halves = [register, register + 4].map(|offset| u64::from(self.gpu.mmio_read(offset)));
        halves[0] | halves[1] << 32
    }

    /// Numbers of objects, context states and unused model contexts.
    pub fn counts(&self) -> [usize; 3] {
        [self.objects.len(), self.hardware.len(), self.spare.len()]
    }

    /// Called in a forked child: disables captures, images, the trace, statistics and checks,
    /// which only the parent process writes.
    pub fn forked(&mut self) {
        let reporter = Reporter::new(&Config {
            capture: None,
            frames: None,
            trace: None,
            stats: false,
            check: false,
            ..self.config.clone()
        });
        // The parent writes the buffered output of its reporter, so do not write it again here.
        std::mem::forget(std::mem::replace(&mut self.reporter, reporter));
    }

    /// Removes an object.
    pub fn free(&mut self, id: ObjectId) {
        let Some((_, frames)) = self.objects.remove(&id) else { return };
        for bindings in self.bindings.values_mut() {
            bindings.release(id);
        }
        for hardware in self.hardware.values_mut() {
            if let Some((address, binding)) = hardware.mapped.release(id) {
                self.gpu.unmap(hardware.id, address, binding.frames.count);
            }
        }
        if let Some((_, mapped)) = &mut self.global
            && let Some((address, binding)) = mapped.release(id)
        {
            self.gpu.ggtt.unmap(&mut self.gpu.memory, address, binding.frames.count);
        }
        self.gpu.memory.free(frames);
        self.reporter.freed(id);
    }

    /// Removes an address space.
    pub fn release(&mut self, vm: VmId) {
        self.bindings.remove(&vm);
    }

    /// Removes the state of a context on an engine.
    pub fn forget(&mut self, id: EngineContextId) {
        let Some(hardware) = self.hardware.remove(&id) else { return };
        // The unused context has no page tables until it is used again.
        let nothing = ModelContext::new(AddressSpace::with_root4(0));
        let old = std::mem::replace(self.gpu.context_mut(hardware.id), nothing);
        old.space.destroy(&mut self.gpu.memory);
        self.spare.push(hardware.id);
    }

    /// Starts a submission: binds its objects, reports it, and executes it for a time slice.
    pub fn start(&mut self, job: Job) -> Slice {
        if job.health.banned.load(Ordering::Relaxed) {
            return Slice::Ended(false);
        }
        let is_accessible = |item: &Item| item.storage.is_accessible();
        let mapped = match job.objects.iter().all(is_accessible) {
            true => self.map(&job).map_err(|error| error.to_string()),
            false => Err("the client has unmapped or protected its own pages".to_owned()),
        };
        match mapped {
            Ok(mut submitted) => {
                submitted.number =
                    self.reporter.before(&self.gpu, &submitted, &populated(&self.objects));
                self.gpu.enqueue(submitted.model, submitted.engine, submitted.address, 0);
                self.run(Box::new(Started { job, submitted, suspended: None, waits_since: None }))
            }
            Err(error) => {
                say(&format!("{}: submission: it cannot run: {error}", self.reporter.program()));
                Slice::Ended(self.end(&job, false))
            }
        }
    }

    /// Continues a submission for a time slice.
    ///
    /// Captures and traces need submissions one after another. So while they are written, only a
    /// semaphore ends a time slice.
    pub fn run(&mut self, mut started: Box<Started>) -> Slice {
        if self.config.wall_clock {
            self.gpu.advance_clock(now());
        }
        let Started { job, submitted, suspended, waits_since } = &mut *started;
        if let Some(batch) = suspended.take() {
            self.gpu.resume(submitted.engine, batch);
        }
        let units = if self.reporter.is_recording() { u64::MAX } else { SLICE };
        job.busy.begin(submitted.engine);
        let mut result = self.reporter.run(&mut self.gpu, units);
        job.busy.end(submitted.engine);
        if result == Ok(Progress::Waiting) {
            let since = *waits_since.get_or_insert_with(now);
            if now().saturating_sub(since) >= self.config.work_limit.min(LONGEST_WAIT) {
                // Nothing has signaled the semaphore: the fault names it.
                result = self.gpu.run().map(|_| Progress::Idle);
            }
        } else {
            *waits_since = None;
        }
        let well = match result {
            Ok(Progress::Working | Progress::Waiting) => {
                *suspended = self.gpu.suspend(submitted.engine);
                return Slice::Suspended(started);
            }
            Ok(Progress::Idle) => true,
            Err(_) => false,
        };
        let populated = populated(&self.objects);
        self.reporter.after(&self.gpu, submitted, &populated);
        if let Err(fault) = &result {
            self.reporter.fault(&mut self.gpu, submitted, fault, &self.config, &populated);
        }
        // Save before the fence signals: after that, the client may exit at once.
        self.reporter.save_if_due();
        drop(populated);
        Slice::Ended(self.end(job, well))
    }

    /// Called when a submission has ended. A fault is recorded in the context as the kernel does.
    /// Returns true if the submission succeeded, or if the options say to ignore faults.
    fn end(&mut self, job: &Job, well: bool) -> bool {
        for item in &job.objects {
            if let Some(view) = &item.view {
                view.refresh(item.storage.pages());
            }
        }
        if well {
            return true;
        }
        // Latched state is unusable after a fault: the next submission starts with new state.
        self.forget(job.hardware);
        job.health.fault(!self.config.ignore_faults);
        self.config.ignore_faults
    }

    /// Binds the objects of a submission in its address space, and maps all bound objects in the
    /// model context. Memory of the client that is no longer accessible is unbound.
    fn map(&mut self, job: &Job) -> Result<Submitted, OutOfMemory> {
        let bindings = self.bindings.entry(job.vm).or_default();
        let objects = &self.objects;
        bindings.retain(|binding| {
            objects.get(&binding.id).is_some_and(|(storage, _)| storage.is_accessible())
        });
        for &Item { id, ref storage, address, read_only, tiling, stride, .. } in &job.objects {
            let frames = match self.objects.entry(id) {
                Entry::Occupied(known) => known.get().1,
                Entry::Vacant(new) => {
                    let frames = self.gpu.memory.adopt(storage.pages().backing())?;
                    new.insert((storage.clone(), frames));
                    frames
                }
            };
            bindings.bind(address, Binding { id, frames, is_writable: !read_only, tiling, stride });
        }
        let objects = bindings.iter().map(|(address, binding)| {
            let &Binding { id, frames, tiling, stride, .. } = binding;
            Listed { id, address, frames, tiling, stride }
        });
        let objects = objects.collect();
        let version = bindings.version();
        let mapped = match &self.global {
            Some((vm, mapped)) => (*vm == job.vm).then(|| mapped.version()),
            None => Some(self.hardware(job.hardware)?.mapped.version()),
        };
        if mapped != Some(version) {
            self.map_bindings(job.hardware, job.vm)?;
        }
        let hardware = self.hardware(job.hardware)?;
        Ok(Submitted {
            context: hardware.number,
            model: hardware.id,
            engine: job.engine,
            address: job.address,
            length: job.length,
            objects,
            number: 0,
        })
    }

    /// Changes the page tables of a model context to those of the bindings of an address space.
    fn map_bindings(&mut self, hardware: EngineContextId, vm: VmId) -> Result<(), OutOfMemory> {
        let bindings = self.bindings.entry(vm).or_default().clone();
        let model = self.hardware(hardware)?.id;
        let old = match &mut self.global {
            Some(global) => std::mem::replace(global, (vm, bindings.clone())).1,
            None => std::mem::replace(&mut self.hardware(hardware)?.mapped, bindings.clone()),
        };
        for (address, binding) in old.iter().filter(|(at, old)| !bindings.maps(*at, old)) {
            self.gpu.unmap(model, address, binding.frames.count);
        }
        for (address, binding) in bindings.iter().filter(|(at, new)| !old.maps(*at, new)) {
            self.gpu.map_as(model, address, binding.frames, binding.is_writable)?;
        }
        Ok(())
    }

    /// Returns the context state `id`, and creates it at the first call.
    fn hardware(&mut self, id: EngineContextId) -> Result<&mut Hardware, OutOfMemory> {
        match self.hardware.entry(id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let model = match self.spare.pop() {
                    Some(id) => {
                        self.gpu.renew_context(id)?;
                        id
                    }
                    None => self.gpu.create_context()?,
                };
                let number = self.states;
                self.states += 1;
                Ok(new.insert(Hardware { id: model, mapped: Bindings::default(), number }))
            }
        }
    }
}

/// A function that returns the populated parts of an object.
fn populated(
    objects: &BTreeMap<ObjectId, (Storage, Frames)>,
) -> impl Fn(ObjectId) -> Vec<Range<usize>> {
    |id| match objects.get(&id) {
        Some((storage, _)) => storage.populated(),
        None => Vec::new(),
    }
}
