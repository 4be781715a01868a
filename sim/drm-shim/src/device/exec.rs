//! Submissions: EXECBUFFER2.

use super::addresses::{self, Wanted, canonical};
use super::context::{Context, HardwareId, extensions};
use super::gem::{Object, ObjectId};
use super::report::{Listed, Submitted};
use super::syncobj::{self, SharedSync};
use super::{Device, File, Outcome, Stop};
use crate::edge::{client, token};
use crate::uapi::i915::{self, ExecBuffer2, ExecObject2, exec, object};
use genxml_sim::EngineId;
use rustix::fd::IntoRawFd;
use rustix::io::Errno;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most objects of a submission; drivers have some thousands.
const MAX_OBJECTS: u64 = 1 << 18;

/// A fence of a submission: which, its point (0 if it is no timeline), and flags.
type Fence = (SharedSync, u64, u32);

/// A submission, as it is understood.
struct Batch {
    entries: Vec<ExecObject2>,
    objects: Vec<ObjectId>,
    addresses: Vec<u64>,
    /// Place of the batch in the list.
    batch: usize,
}

impl Device {
    /// GEM_EXECBUFFER2. The work is done when it returns.
    pub(super) fn execbuffer2(&mut self, file: &mut File, arg: &mut ExecBuffer2) -> Outcome {
        let fences = self.fences(file, arg)?;
        if arg.flags & (exec::FENCE_IN | exec::FENCE_SUBMIT) != 0 {
            let fence = client::descriptor(arg.rsvd2 as u32 as i32).map_err(|_| Errno::INVAL)?;
            // Whoever is to signal it may be another process, never one that waits for us.
            token::is_ready(&fence, None);
        }
        let id = arg.rsvd1 as u32;
        let mut context = file.contexts.remove(&id).ok_or(Errno::NOENT)?;
        let outcome = self.submit(file, &mut context, arg);
        file.contexts.insert(id, context);
        outcome?;
        for (sync, point, flags) in &fences {
            if flags & i915::FENCE_SIGNAL != 0 {
                syncobj::set(sync, *point);
            }
        }
        if arg.flags & exec::FENCE_OUT != 0 {
            let fence = token::signaled()?.into_raw_fd();
            arg.rsvd2 = arg.rsvd2 & 0xffff_ffff | (fence as u64) << 32;
        }
        Ok(())
    }

    /// All fences; those to be waited for must be there.
    fn fences(&self, file: &File, arg: &ExecBuffer2) -> Result<Vec<Fence>, Stop> {
        let mut named: Vec<(i915::ExecFence, u64)> = Vec::new();
        if arg.flags & exec::USE_EXTENSIONS != 0 {
            for (extension, address) in extensions(arg.cliprects_ptr)? {
                if extension.name != i915::EXT_TIMELINE_FENCES {
                    return Err(Errno::INVAL.into());
                }
                let list: i915::TimelineFences = client::value(address)?;
                let fences = client::array(list.handles_ptr, list.fence_count)?;
                let points: Vec<u64> = client::array(list.values_ptr, list.fence_count)?;
                named.extend(fences.into_iter().zip(points));
            }
        } else if arg.flags & exec::FENCE_ARRAY != 0 {
            let fences: Vec<i915::ExecFence> = client::array(arg.cliprects_ptr, arg.num_cliprects.into())?;
            named.extend(fences.into_iter().map(|fence| (fence, 0)));
        } else if arg.num_cliprects != 0 || arg.cliprects_ptr != 0 {
            return Err(Errno::INVAL.into());
        }
        let mut fences = Vec::with_capacity(named.len());
        for (fence, point) in named {
            if fence.flags & !(i915::FENCE_WAIT | i915::FENCE_SIGNAL) != 0 {
                return Err(Errno::INVAL.into());
            }
            let sync = file.syncobjs.get(fence.handle)?.clone();
            if fence.flags & i915::FENCE_WAIT != 0 && !syncobj::is_past(&sync, point) {
                return Err(Errno::INVAL.into());
            }
            fences.push((sync, point, fence.flags));
        }
        Ok(fences)
    }

    /// The engine that a submission is for, and whose state it takes.
    fn engine(&self, context: &Context, flags: u64) -> Result<(EngineId, u32), Errno> {
        let number = flags & exec::RING_MASK;
        if let Some(engines) = &context.engines {
            let engine = engines.get(number as usize).copied().flatten().ok_or(Errno::INVAL)?;
            return Ok((engine, number as u32));
        }
        let video = flags >> exec::BSD_SHIFT & 3;
        let engine = match number {
            0 | exec::RENDER => EngineId::Render,
            exec::BSD => EngineId::Video,
            exec::BLT => EngineId::Blitter,
            exec::VEBOX => EngineId::VideoEnhance,
            _ => return Err(Errno::INVAL),
        };
        if engine != EngineId::Video && video != 0 {
            return Err(Errno::INVAL);
        }
        // A second video engine has state of its own.
        let second = engine == EngineId::Video && video == 2 && self.config.topology().videos > 1;
        Ok((engine, engine as u32 + if second { 8 } else { 0 }))
    }

    fn submit(&mut self, file: &mut File, context: &mut Context, arg: &mut ExecBuffer2) -> Outcome {
        // Gen7 has it; constants by the kernel ended with gen6, the resource streamer with it.
        let refused = exec::GEN7_SOL_RESET | exec::CONSTANTS_MASK | exec::RESOURCE_STREAMER;
        if arg.flags & !exec::KNOWN != 0
            || arg.flags & refused != 0
            || !arg.batch_start_offset.is_multiple_of(8)
            || !arg.batch_len.is_multiple_of(8)
            || arg.buffer_count == 0
        {
            return Err(Errno::INVAL.into());
        }
        let (engine, slot) = self.engine(context, arg.flags)?;
        if context.banned {
            return Err(Errno::IO.into());
        }
        if u64::from(arg.buffer_count) > MAX_OBJECTS {
            return Err(Errno::TOOBIG.into());
        }
        let mut entries: Vec<ExecObject2> = client::array(arg.buffers_ptr, arg.buffer_count.into())?;
        let (objects, addresses) = self.place(file, context, &entries)?;
        let moved =
            entries.iter().zip(&addresses).any(|(entry, address)| entry.offset != canonical(*address));
        for (entry, address) in entries.iter_mut().zip(&addresses) {
            entry.offset = canonical(*address);
        }
        let batch = if arg.flags & exec::BATCH_FIRST != 0 { 0 } else { entries.len() - 1 };
        let batch = Batch { entries, objects, addresses, batch };
        for id in &batch.objects {
            if !self.is_there(*id) {
                return Err(Errno::FAULT.into());
            }
            self.store_view(*id);
        }
        if arg.flags & exec::NO_RELOC == 0 || moved {
            self.relocate(&batch, arg.flags)?;
        }
        let size = self.object(batch.objects[batch.batch])?.size;
        if u64::from(arg.batch_start_offset) + u64::from(arg.batch_len) > size {
            return Err(Errno::INVAL.into());
        }
        if arg.flags & exec::NO_RELOC == 0 || moved {
            client::put_array(arg.buffers_ptr, &batch.entries)?;
        }
        let hardware = self.hardware(context, slot)?;
        self.map(hardware, &batch)?;
        let address = batch.addresses[batch.batch] + u64::from(arg.batch_start_offset);
        self.run(file, context, hardware, engine, address, arg.batch_len, &batch)
    }

    /// The objects of a submission and their addresses.
    fn place(
        &mut self,
        file: &File,
        context: &Context,
        entries: &[ExecObject2],
    ) -> Result<(Vec<ObjectId>, Vec<u64>), Errno> {
        let mut seen = HashSet::with_capacity(entries.len());
        let mut wanted = Vec::with_capacity(entries.len());
        for entry in entries {
            let id = *file.objects.get(entry.handle)?;
            if entry.flags & !object::KNOWN != 0
                || (entry.alignment != 0 && !entry.alignment.is_power_of_two())
                || !seen.insert(id)
            {
                return Err(Errno::INVAL);
            }
            let size = self.object(id)?.size;
            wanted.push(Wanted {
                object: id,
                size,
                alignment: entry.alignment,
                pinned: addresses::pinned(entry.offset, entry.flags, size)?,
                wide: entry.flags & object::SUPPORTS_48B != 0,
            });
        }
        let vm = self.vms.get_mut(&context.vm).ok_or(Errno::NOENT)?;
        let addresses = vm.place(&wanted)?;
        Ok((wanted.iter().map(|wanted| wanted.object).collect(), addresses))
    }

    /// Writes the addresses that clients left to the kernel.
    fn relocate(&mut self, batch: &Batch, flags: u64) -> Result<(), Errno> {
        let handles: HashMap<u32, usize> = match flags & exec::HANDLE_LUT {
            0 => batch.entries.iter().enumerate().map(|(index, entry)| (entry.handle, index)).collect(),
            _ => HashMap::new(),
        };
        for (entry, id) in batch.entries.iter().zip(&batch.objects) {
            if entry.relocation_count == 0 {
                continue;
            }
            let mut relocations: Vec<i915::Relocation> =
                client::array(entry.relocs_ptr, entry.relocation_count.into())?;
            let bytes = self.bytes_mut(*id);
            let mut changed = false;
            for relocation in &mut relocations {
                let target = match flags & exec::HANDLE_LUT {
                    0 => handles.get(&relocation.target_handle).copied(),
                    _ => Some(relocation.target_handle as usize),
                };
                let address = target.and_then(|target| batch.addresses.get(target)).ok_or(Errno::NOENT)?;
                let address = canonical(*address);
                if relocation.presumed_offset == address {
                    continue;
                }
                if !relocation.offset.is_multiple_of(4) {
                    return Err(Errno::INVAL);
                }
                let value = canonical(address.wrapping_add(relocation.delta.into()));
                let at = usize::try_from(relocation.offset).map_err(|_| Errno::INVAL)?;
                let place = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<8>).ok_or(Errno::INVAL)?;
                *place = value.to_le_bytes();
                relocation.presumed_offset = address;
                changed = true;
            }
            if changed {
                client::put_array(entry.relocs_ptr, &relocations)?;
            }
        }
        Ok(())
    }

    /// Makes a context see exactly the objects of a submission.
    fn map(&mut self, id: HardwareId, batch: &Batch) -> Result<(), Errno> {
        let Some(hardware) = self.hardware.get_mut(&id) else { return Err(Errno::NOENT) };
        let mut wanted = BTreeMap::new();
        for (object, address) in batch.objects.iter().zip(&batch.addresses) {
            let frames = self.objects.get(object).ok_or(Errno::NOENT)?.frames;
            wanted.insert(*address, (*object, frames));
        }
        for (address, mapping) in &hardware.mapped {
            if wanted.get(address) != Some(mapping) {
                self.gpu.unmap(hardware.id, *address, mapping.1.count);
            }
        }
        for (address, mapping) in &wanted {
            if hardware.mapped.get(address) != Some(mapping) {
                let writable = !self.objects.get(&mapping.0).is_some_and(|object| object.read_only);
                let mapped = self.gpu.map_as(hardware.id, *address, mapping.1, writable);
                mapped.map_err(|_| Errno::NOMEM)?;
            }
        }
        hardware.mapped = wanted;
        Ok(())
    }

    /// Runs it; a fault is what the kernel makes of it.
    #[expect(clippy::too_many_arguments, reason = "a submission has so many parts")]
    fn run(
        &mut self,
        file: &mut File,
        context: &mut Context,
        hardware: HardwareId,
        engine: EngineId,
        address: u64,
        length: u32,
        batch: &Batch,
    ) -> Outcome {
        let Some(state) = self.hardware.get(&hardware) else { return Err(Errno::NOENT.into()) };
        let model = state.id;
        let (gpu, objects, arenas) = (&mut self.gpu, &self.objects, &self.arenas);
        let listed = batch.objects.iter().zip(&batch.addresses).filter_map(|(id, address)| {
            let &Object { frames, tiling, stride, .. } = objects.get(id)?;
            Some(Listed { id: *id, address: *address, frames, tiling, stride })
        });
        let submitted = Submitted {
            context: state.number,
            model,
            engine,
            address,
            length: length.into(),
            objects: listed.collect(),
        };
        let touched = |id| Device::touched(objects, arenas, id);
        self.reporter.before(gpu, &submitted, &touched);
        let result = self.reporter.run(gpu, &submitted);
        self.reporter.after(gpu, &submitted, &touched);
        let fault = match result {
            Ok(_) => None,
            Err(fault) => {
                self.reporter.fault(gpu, &submitted, &fault, &self.config, &touched);
                Some(fault)
            }
        };
        for id in &batch.objects {
            self.show_view(*id);
        }
        if fault.is_none() {
            return Ok(());
        }
        file.resets += 1;
        context.guilty += 1;
        // What was latched belongs to a state that nobody can go on with.
        self.forget_state(context);
        if self.config.ignore_faults {
            return Ok(());
        }
        context.banned = !context.recoverable;
        Err(Errno::IO.into())
    }
}
