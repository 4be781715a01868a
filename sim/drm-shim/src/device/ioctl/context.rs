//! Contexts and address spaces of clients.

use super::extensions::extensions;
use crate::device::addresses::{Vm, VmId};
use crate::device::config::Config;
use crate::device::context::{Context, EngineContextId};
use crate::device::gem::ObjectId;
use crate::device::outcome::Outcome;
use crate::device::{Device, File};
use crate::uapi::i915::{self, EngineClass, context_param};
use genxml_sim::EngineId;
use rustix::io::Errno;
use std::sync::atomic::Ordering;

/// Largest number of engines in an engine map: a submission's flags have 6 bits for the index.
const MAX_ENGINES: usize = 64;

impl File {
    /// True if the file has a handle of an object.
    pub(super) fn has(&self, object: ObjectId) -> bool {
        self.objects.iter().any(|(_, id)| *id == object)
    }

    /// A context that the client uses.
    ///
    /// # Errors
    /// ENOENT if it does not exist.
    fn use_context(&mut self, number: u32) -> Result<&Context, Errno> {
        let context = self.contexts.get_mut(&number).ok_or(Errno::NOENT)?;
        context.is_in_use = true;
        Ok(context)
    }
}

impl Device {
    /// A new address space with one reference; on a GPU with one table for all contexts, a further
    /// reference to its address space.
    pub(in crate::device) fn new_vm(&mut self) -> VmId {
        let chip = self.config.chip();
        if !chip.has_ppgtt
            && let Some((id, vm)) = self.vms.iter_mut().next()
        {
            vm.users += 1;
            return *id;
        }
        let id = VmId(self.next_vm);
        self.next_vm += 1;
        self.vms.insert(id, Vm::with_user(&chip));
        id
    }

    /// Drops a reference to an address space, and removes the space with its last reference.
    pub(in crate::device) fn release_vm(&mut self, id: VmId) {
        if let Some(vm) = self.vms.get_mut(&id) {
            vm.users -= 1;
            if vm.users == 0 {
                self.vms.remove(&id);
                self.queue.release(id);
            }
        }
    }

    fn use_vm(&mut self, id: VmId) {
        if let Some(vm) = self.vms.get_mut(&id) {
            vm.users += 1;
        }
    }

    /// Removes a context. Its state on engines is removed when its work is complete. If the context
    /// is not persistent, its requests that have not started fail.
    pub(in crate::device) fn destroy_context(&mut self, mut context: Context) {
        if !context.persistent {
            let states: Vec<EngineContextId> = context.hardware.values().copied().collect();
            self.queue.cancel(&states);
        }
        self.forget_state(&mut context);
        self.release_vm(context.vm);
    }

    /// Removes the context's state on all engines. Its later submissions start with new state.
    fn forget_state(&mut self, context: &mut Context) {
        let states: Vec<EngineContextId> =
            std::mem::take(&mut context.hardware).into_values().collect();
        self.queue.free(&[], &states);
    }

    /// The id of the context's state with key `slot` in `Context::hardware`. The first call for a
    /// key makes a new id.
    pub(super) fn hardware(&mut self, context: &mut Context, slot: u32) -> EngineContextId {
        *context.hardware.entry(slot).or_insert_with(|| {
            let id = EngineContextId(self.next_engine_context);
            self.next_engine_context += 1;
            id
        })
    }

    /// Executes the ioctl GEM_VM_CREATE.
    pub(super) fn vm_create(&mut self, file: &mut File, arg: &mut i915::VmControl) -> Outcome {
        if !self.config.chip().has_ppgtt {
            return Err(Errno::NODEV.into());
        }
        if arg.flags != 0 || !extensions(self.host, arg.extensions)?.is_empty() {
            return Err(Errno::INVAL.into());
        }
        let vm = self.new_vm();
        arg.vm_id = file.vms.add(vm);
        Ok(())
    }

    /// Executes the ioctl GEM_VM_DESTROY.
    pub(super) fn vm_destroy(&mut self, file: &mut File, arg: &mut i915::VmControl) -> Outcome {
        if arg.flags != 0 || arg.extensions != 0 {
            return Err(Errno::INVAL.into());
        }
        let vm = file.vms.remove(arg.vm_id)?;
        self.release_vm(vm);
        Ok(())
    }

    /// GEM_CONTEXT_CREATE, with or without extensions.
    pub(super) fn context_create(
        &mut self,
        file: &mut File,
        arg: &mut i915::ContextCreate,
    ) -> Outcome {
        const USE_EXTENSIONS: u32 = 1;
        const SINGLE_TIMELINE: u32 = 2;
        const SETPARAM: u32 = 0;
        if arg.flags & !(USE_EXTENSIONS | SINGLE_TIMELINE) != 0 {
            return Err(Errno::INVAL.into());
        }
        let vm = self.new_vm();
        let mut context = Context::new(vm, &file.resets);
        context.has_single_timeline = arg.flags & SINGLE_TIMELINE != 0;
        let chain = if arg.flags & USE_EXTENSIONS != 0 {
            extensions(self.host, arg.extensions)
        } else {
            Ok(Vec::new())
        };
        let set = chain.map_err(Into::into).and_then(|chain| {
            chain.into_iter().try_for_each(|(extension, address)| {
                if extension.name != SETPARAM {
                    return Err(Errno::INVAL.into());
                }
                let set: i915::ContextSetParam = self.host.value(address)?;
                // The context has no number yet. (Linux i915_gem_context.c, create_setparam)
                if set.param.ctx_id != 0 {
                    return Err(Errno::INVAL.into());
                }
                self.set(file, &mut context, &set.param)
            })
        });
        if let Err(stop) = set {
            self.destroy_context(context);
            return Err(stop);
        }
        arg.ctx_id = file.add_context(context);
        Ok(())
    }

    /// Executes the ioctl GEM_CONTEXT_DESTROY.
    pub(super) fn context_destroy(
        &mut self,
        file: &mut File,
        arg: &mut i915::ContextDestroy,
    ) -> Outcome {
        if arg.pad != 0 {
            return Err(Errno::INVAL.into());
        }
        if arg.ctx_id == 0 {
            return Err(Errno::NOENT.into());
        }
        let context = file.remove_context(arg.ctx_id)?;
        self.destroy_context(context);
        Ok(())
    }

    /// Executes the ioctl GEM_CONTEXT_SETPARAM.
    pub(super) fn context_set(&mut self, file: &mut File, arg: &mut i915::ContextParam) -> Outcome {
        let mut context = file.contexts.remove(&arg.ctx_id).ok_or(Errno::NOENT)?;
        let outcome = self.set(file, &mut context, arg);
        file.contexts.insert(arg.ctx_id, context);
        outcome
    }

    fn set(&mut self, file: &File, context: &mut Context, arg: &i915::ContextParam) -> Outcome {
        use context_param as param;
        let flag = || match (arg.size, arg.value) {
            (0, value) => Ok(value != 0),
            _ => Err(Errno::INVAL),
        };
        match arg.param {
            param::NO_ERROR_CAPTURE => context.no_error_capture = flag()?,
            param::BANNABLE => context.bannable = flag()?,
            param::RECOVERABLE => context.health.recoverable.store(flag()?, Ordering::Relaxed),
            param::PERSISTENCE => context.persistent = flag()?,
            param::PRIORITY => {
                flag()?;
                let priority = arg.value as i64;
                if !(-1023..=1023).contains(&priority) {
                    return Err(Errno::INVAL.into());
                }
                context.priority = priority;
            }
            param::VM if !context.is_in_use => {
                flag()?;
                let vm = u32::try_from(arg.value).map_err(|_| Errno::NOENT)?;
                let vm = *file.vms.get(vm)?;
                self.use_vm(vm);
                self.release_vm(context.vm);
                context.vm = vm;
            }
            param::ENGINES if !context.is_in_use && context.engines.is_none() => {
                context.engines = Some(self.engine_map(arg)?);
            }
            // The number of active slices and subslices can be set on Gen11 only.
            param::SSEU if arg.size as usize >= size_of::<i915::ContextSseu>() => {
                return Err(Errno::NODEV.into());
            }
            // An address space or engine map of a context that has been used; a second engine map;
            // a parameter that the kernel does not have for a Broadwell, or has removed.
            _ => return Err(Errno::INVAL.into()),
        }
        Ok(())
    }

    /// The engine map that a client passes.
    fn engine_map(&mut self, arg: &i915::ContextParam) -> Result<Vec<Option<EngineId>>, Errno> {
        const LOAD_BALANCE: u32 = 0;
        const NONE: u16 = u16::MAX;
        let head = size_of::<u64>() as u32;
        let each = size_of::<EngineClass>() as u32;
        let count =
            arg.size.checked_sub(head).filter(|bytes| bytes % each == 0).ok_or(Errno::INVAL)?
                / each;
        if count as usize > MAX_ENGINES {
            return Err(Errno::INVAL);
        }
        let chain: u64 = self.host.value(arg.value)?;
        let engines: Vec<EngineClass> =
            self.host.array(arg.value + u64::from(head), count.into())?;
        let known = |engine: &EngineClass| known_engine(&self.config, engine);
        let mut map = engines
            .iter()
            .map(|engine| match (engine.class, engine.instance) {
                (NONE, NONE) => Ok(None),
                _ => known(engine).map(Some).ok_or(Errno::NOENT),
            })
            .collect::<Result<Vec<_>, _>>()?;
        for (extension, address) in extensions(self.host, chain)? {
            if extension.name != LOAD_BALANCE {
                return Err(Errno::INVAL);
            }
            // Submissions run one after another, so any sibling gives the same result.
            let balance: i915::LoadBalance = self.host.value(address)?;
            let siblings: Vec<EngineClass> = self.host.array(
                address + size_of::<i915::LoadBalance>() as u64,
                u64::from(balance.num_siblings).min(MAX_ENGINES as u64),
            )?;
            let first = siblings.first().and_then(known).ok_or(Errno::INVAL)?;
            *map.get_mut(usize::from(balance.engine_index)).ok_or(Errno::INVAL)? = Some(first);
        }
        Ok(map)
    }

    /// Executes the ioctl GEM_CONTEXT_GETPARAM.
    pub(super) fn context_get(&mut self, file: &mut File, arg: &mut i915::ContextParam) -> Outcome {
        use context_param as param;
        let context = file.use_context(arg.ctx_id)?;
        let chip = self.config.chip();
        match arg.param {
            param::VM if !chip.has_ppgtt => return Err(Errno::NODEV.into()),
            param::VM => {
                let vm = context.vm;
                self.use_vm(vm);
                (arg.size, arg.value) = (0, file.vms.add(vm).into());
                return Ok(());
            }
            param::SSEU => {
                const ENGINE_INDEX: u32 = 1;
                let size = size_of::<i915::ContextSseu>() as u32;
                if arg.size != 0 {
                    if arg.size < size {
                        return Err(Errno::INVAL.into());
                    }
                    let topology = self.config.topology();
                    let mut sseu: i915::ContextSseu = self.host.value(arg.value)?;
                    let instance = usize::from(sseu.engine.instance);
                    let exists = match &context.engines {
                        Some(engines) => engines.get(instance).is_some_and(Option::is_some),
                        None => known_engine(&self.config, &sseu.engine).is_some(),
                    };
                    let by_index = sseu.flags & ENGINE_INDEX != 0;
                    if sseu.rsvd != 0
                        || sseu.flags & !ENGINE_INDEX != 0
                        || by_index != context.engines.is_some()
                        || !exists
                    {
                        return Err(Errno::INVAL.into());
                    }
                    sseu.slice_mask = (1 << topology.slices) - 1;
                    sseu.subslice_mask = (1 << topology.subslices) - 1;
                    sseu.min_eus_per_subslice = topology.eus as u16;
                    sseu.max_eus_per_subslice = topology.eus as u16;
                    self.host.put(arg.value, &sseu)?;
                }
                arg.size = size;
                return Ok(());
            }
            _ => {}
        }
        arg.size = 0;
        arg.value = match arg.param {
            param::GTT_SIZE if chip.has_ppgtt => 1 << 48,
            param::GTT_SIZE => chip.end_address + 4096,
            param::NO_ERROR_CAPTURE => context.no_error_capture.into(),
            param::BANNABLE => context.bannable.into(),
            param::RECOVERABLE => context.health.recoverable.load(Ordering::Relaxed).into(),
            param::PERSISTENCE => context.persistent.into(),
            param::PRIORITY => context.priority as u64,
            _ => return Err(Errno::INVAL.into()),
        };
        Ok(())
    }

    /// Executes the ioctl GET_RESET_STATS.
    pub(super) fn reset_stats(&mut self, file: &mut File, arg: &mut i915::ResetStats) -> Outcome {
        if arg.flags != 0 || arg.pad != 0 {
            return Err(Errno::INVAL.into());
        }
        arg.reset_count = file.resets.load(Ordering::Relaxed);
        let context = file.use_context(arg.ctx_id)?;
        // A fault does not affect the work of other contexts, so no reset finds this context's
        // work pending.
        (arg.batch_active, arg.batch_pending) = (context.health.guilty.load(Ordering::Relaxed), 0);
        Ok(())
    }
}

/// The engine with a class and instance; `None` if it does not exist.
fn known_engine(config: &Config, engine: &EngineClass) -> Option<EngineId> {
    let id = (*config.chip().engines.get(usize::from(engine.class))?)?;
    let instances = if id == EngineId::Video { config.topology().videos } else { 1 };
    (u32::from(engine.instance) < instances).then_some(id)
}
