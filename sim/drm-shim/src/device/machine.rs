//! The model with the clients' objects and contexts. One thread at a time owns the machine
//! ([`queue`](super::queue)). Ioctls never inspect the machine, so they need not wait until it is
//! idle.

use super::config::Config;
use super::context::{EngineContextId, Health};
use super::gem::{ObjectId, Storage};
use super::report::{Listed, Reporter, Submitted, say};
use super::tiling::SharedView;
use genxml::gen8::engine_registers::RingTimestamp;
use genxml_sim::machine::registers::mmio_base;
use genxml_sim::mem::{AddressSpace, Frames, OutOfMemory};
use genxml_sim::{Context as ModelContext, ContextId, EngineId, Gpu};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A submission, ready to run.
#[derive(Debug)]
pub struct Job {
    /// The context state on its engine.
    pub hardware: EngineContextId,
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
    /// Tiling: the kernel's number.
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
    /// Objects that the last submission with this state mapped, by address.
    mapped: BTreeMap<u64, (ObjectId, Frames)>,
    /// Number of the state in captures and reports.
    number: u32,
}

/// The model.
#[derive(Debug)]
pub struct Machine {
    config: Config,
    gpu: Gpu,
    /// Reports what the model does.
    pub reporter: Reporter,
    objects: BTreeMap<ObjectId, (Storage, Frames)>,
    hardware: BTreeMap<EngineContextId, Hardware>,
    /// Number of context states created so far.
    states: u32,
    /// Contexts of the model that no context state uses. A new state takes one of them.
    spare: Vec<ContextId>,
}

impl Machine {
    /// A machine without objects or context states.
    pub fn new(config: Config) -> Machine {
        let mut gpu = Gpu::new();
        gpu.set_threads(config.threads);
        gpu.set_work_limit(config.work_limit);
        let reporter = Reporter::new(&config);
        Machine {
            config,
            gpu,
            reporter,
            objects: BTreeMap::new(),
            hardware: BTreeMap::new(),
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
        for hardware in self.hardware.values_mut() {
            let gpu = &mut self.gpu;
            hardware.mapped.retain(|address, (mapped, frames)| {
                if *mapped == id {
                    gpu.unmap(hardware.id, *address, frames.count);
                }
                *mapped != id
            });
        }
        self.gpu.memory.free(frames);
        self.reporter.freed(id);
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

    /// Runs a submission, unless a fault has banned its context. A fault is recorded in the context
    /// as the kernel does. Returns true if the submission succeeded, or if it faulted and the
    /// options say to ignore faults.
    pub fn run(&mut self, job: &Job) -> bool {
        if job.health.banned.load(Ordering::Relaxed) {
            return false;
        }
        let is_accessible = |item: &Item| item.storage.is_accessible();
        let mapped = match job.objects.iter().all(is_accessible) {
            true => self.map(job).map_err(|error| error.to_string()),
            false => Err("the client has unmapped or protected its own pages".to_owned()),
        };
        let well = match mapped {
            Ok(submitted) => self.execute(&submitted),
            Err(error) => {
                say(&format!("{}: submission: it cannot run: {error}", self.reporter.program()));
                false
            }
        };
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

    /// Maps exactly the objects of a submission in the address space of its model context.
    fn map(&mut self, job: &Job) -> Result<Submitted, OutOfMemory> {
        let mut objects = Vec::with_capacity(job.objects.len());
        let mut wanted = BTreeMap::new();
        for &Item { id, ref storage, address, tiling, stride, .. } in &job.objects {
            let frames = match self.objects.entry(id) {
                Entry::Occupied(known) => known.get().1,
                Entry::Vacant(new) => {
                    let frames = self.gpu.memory.adopt(storage.pages().backing())?;
                    new.insert((storage.clone(), frames));
                    frames
                }
            };
            objects.push(Listed { id, address, frames, tiling, stride });
            wanted.insert(address, (id, frames));
        }
        let hardware = self.hardware(job.hardware)?;
        let (model, number) = (hardware.id, hardware.number);
        let mapped = std::mem::take(&mut hardware.mapped);
        for (address, mapping) in &mapped {
            if wanted.get(address) != Some(mapping) {
                self.gpu.unmap(model, *address, mapping.1.count);
            }
        }
        for item in &job.objects {
            let mapping = wanted.get(&item.address);
            if let Some((_, frames)) = mapping
                && mapped.get(&item.address) != mapping
            {
                self.gpu.map_as(model, item.address, *frames, !item.read_only)?;
            }
        }
        self.hardware(job.hardware)?.mapped = wanted;
        Ok(Submitted {
            context: number,
            model,
            engine: job.engine,
            address: job.address,
            length: job.length,
            objects,
        })
    }

    /// Returns the context state `id`, and creates it at the first call.
    fn hardware(&mut self, id: EngineContextId) -> Result<&mut Hardware, OutOfMemory> {
        match self.hardware.entry(id) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let model = match self.spare.pop() {
                    Some(id) => {
                        let space = AddressSpace::new(&mut self.gpu.memory)?;
                        *self.gpu.context_mut(id) = ModelContext::new(space);
                        id
                    }
                    None => self.gpu.create_context()?,
                };
                let number = self.states;
                self.states += 1;
                Ok(new.insert(Hardware { id: model, mapped: BTreeMap::new(), number }))
            }
        }
    }

    /// Runs a submission whose objects are mapped, and reports it. True if there was no fault.
    fn execute(&mut self, submitted: &Submitted) -> bool {
        let Machine { gpu, reporter, objects, config, .. } = self;
        let populated = |id| match objects.get(&id) {
            Some((storage, _)) => storage.populated(),
            None => Vec::new(),
        };
        reporter.before(gpu, submitted, &populated);
        let result = reporter.run(gpu, submitted);
        reporter.after(gpu, submitted, &populated);
        match result {
            Ok(_) => true,
            Err(fault) => {
                reporter.fault(gpu, submitted, &fault, config, &populated);
                false
            }
        }
    }
}
