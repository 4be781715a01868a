//! Submissions: EXECBUFFER2.

use super::extensions::extensions;
use crate::device::addresses::{self, Wanted, canonical};
use crate::device::context::{CLASSES, Context};
use crate::device::descriptor;
use crate::device::fence::{FOREVER, Fence};
use crate::device::gem::{Object, ObjectId, PAGE};
use crate::device::machine::{Item, Job};
use crate::device::outcome::{Outcome, Stop};
use crate::device::queue::Request;
use crate::device::syncobj::{self, SharedSync};
use crate::device::{Device, File};
use crate::uapi::i915::{self, ExecBuffer2, ExecObject2, exec, object};
use genxml_sim::EngineId;
use rustix::fd::{IntoRawFd, OwnedFd};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;

/// Largest number of relocations of an object. (Linux i915_gem_execbuffer.c, eb_relocate_vma)
const MAX_RELOCATIONS: usize = i32::MAX as usize / size_of::<i915::Relocation>();
/// Number of relocations that are read at once.
const RELOCATIONS_AT_ONCE: usize = 4096;

/// Fences of a submission.
#[derive(Default)]
struct Fences {
    /// Fences that must signal before the submission runs.
    waits: Vec<Fence>,
    /// Sync files that must signal before the submission runs.
    files: Vec<OwnedFd>,
    /// Syncobjs that get the submission's fence, each with its timeline point; 0 for a binary
    /// syncobj.
    signals: Vec<(SharedSync, u64)>,
}

/// A submission with resolved handles.
struct Batch {
    entries: Vec<ExecObject2>,
    objects: Vec<ObjectId>,
    addresses: Vec<u64>,
    /// Index of the batch among the objects.
    batch: usize,
}

impl Device {
    /// GEM_EXECBUFFER2. The ioctl returns when the work is complete or waits for something from
    /// outside, like a semaphore that the client writes. With GENX_SHIM_ASYNC it returns at once.
    /// If the submission uses shared objects, the ioctl returns when the work is complete.
    pub(super) fn execbuffer2(&mut self, file: &mut File, arg: &mut ExecBuffer2) -> Outcome {
        let fences = self.fences(file, arg)?;
        let id = arg.rsvd1 as u32;
        let mut context = file.contexts.remove(&id).ok_or(Errno::NOENT)?;
        context.is_in_use = true;
        let outcome = self.submit(file, &mut context, arg, fences);
        file.contexts.insert(id, context);
        let (fence, is_shared) = outcome?;
        file.add_work(&fence);
        if arg.flags & exec::FENCE_OUT != 0 {
            let fence = fence.descriptor()?.into_raw_fd();
            arg.rsvd2 = arg.rsvd2 & 0xffff_ffff | (fence as u64) << 32;
        }
        // Other processes and the display read shared objects without waiting for fences.
        match (is_shared, self.config.asynchronous) {
            (true, _) => Err(Stop::After(fence)),
            (false, true) => Ok(()),
            (false, false) => Err(Stop::AfterWork(fence)),
        }
    }

    /// The fences that a submission names. A syncobj to wait for must have a fence, at its timeline
    /// point if it has one; otherwise the result is EINVAL.
    fn fences(&self, file: &File, arg: &ExecBuffer2) -> Result<Fences, Stop> {
        let mut fences = Fences::default();
        if arg.flags & (exec::FENCE_IN | exec::FENCE_SUBMIT) != 0 {
            let fence = self.host.sync_file(arg.rsvd2 as u32 as i32)?;
            if !descriptor::is_signaled(&fence) {
                fences.files.push(fence);
            }
        }
        let mut named: Vec<(i915::ExecFence, u64)> = Vec::new();
        if arg.flags & exec::USE_EXTENSIONS != 0 {
            // The chain uses the field of the array. (Linux i915_gem_execbuffer.c,
            // parse_execbuf2_extensions)
            if arg.flags & exec::FENCE_ARRAY != 0 || arg.num_cliprects != 0 {
                return Err(Errno::INVAL.into());
            }
            for (extension, address) in extensions(self.host, arg.cliprects_ptr)? {
                if extension.name != i915::EXT_TIMELINE_FENCES {
                    return Err(Errno::INVAL.into());
                }
                let list: i915::TimelineFences = self.host.value(address)?;
                let fences = self.host.array(list.handles_ptr, list.fence_count)?;
                let points: Vec<u64> = self.host.array(list.values_ptr, list.fence_count)?;
                named.extend(fences.into_iter().zip(points));
            }
        } else if arg.flags & exec::FENCE_ARRAY != 0 {
            let fences: Vec<i915::ExecFence> =
                self.host.array(arg.cliprects_ptr, arg.num_cliprects.into())?;
            named.extend(fences.into_iter().map(|fence| (fence, 0)));
        } else if arg.num_cliprects != 0 || arg.cliprects_ptr != 0 {
            return Err(Errno::INVAL.into());
        }
        for (fence, point) in named {
            if fence.flags & !(i915::FENCE_WAIT | i915::FENCE_SIGNAL) != 0 {
                return Err(Errno::INVAL.into());
            }
            let sync = file.syncobjs.get(fence.handle)?;
            // A submission cannot wait for the point that it signals. (Linux
            // i915_gem_execbuffer.c, add_timeline_fence_array)
            if point != 0 && fence.flags == i915::FENCE_WAIT | i915::FENCE_SIGNAL {
                return Err(Errno::INVAL.into());
            }
            if fence.flags & i915::FENCE_WAIT != 0 {
                fences.waits.extend(syncobj::fences(sync, point).ok_or(Errno::INVAL)?);
            }
            if fence.flags & i915::FENCE_SIGNAL != 0 {
                fences.signals.push((sync.clone(), point));
            }
        }
        Ok(fences)
    }

    /// The engine of a submission, and the key of its context state in `Context::hardware`.
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
        let exists = self.config.chip().engines.contains(&Some(engine));
        if !exists || engine != EngineId::Video && video != 0 {
            return Err(Errno::INVAL);
        }
        // A second video engine has its own context state.
        let second = engine == EngineId::Video && video == 2 && self.config.topology().videos > 1;
        Ok((engine, engine as u32 + if second { 8 } else { 0 }))
    }

    /// Queues a submission. Returns the fence of the submission, and whether it uses shared
    /// objects.
    fn submit(
        &mut self,
        file: &File,
        context: &mut Context,
        arg: &ExecBuffer2,
        fences: Fences,
    ) -> Result<(Fence, bool), Stop> {
        // These flags are refused: GEN7_SOL_RESET is for Gen7 only, offsets for constants exist
        // only up to Gen6, and the kernel does not support the resource streamer.
        let refused = exec::GEN7_SOL_RESET | exec::CONSTANTS_MASK | exec::RESOURCE_STREAMER;
        if arg.flags & !exec::KNOWN != 0
            || arg.flags & refused != 0
            || !arg.batch_start_offset.is_multiple_of(8)
            || !arg.batch_len.is_multiple_of(8)
            // An old client of X passes garbage in this field. (Linux i915_gem_execbuffer.c)
            || arg.dr1 != 0
            || !matches!(arg.dr4, 0 | u32::MAX)
            || arg.buffer_count == 0
        {
            return Err(Errno::INVAL.into());
        }
        // Only the DRM master may submit secure batches, and no client counts as master here.
        if arg.flags & exec::SECURE != 0 {
            return Err(Errno::PERM.into());
        }
        let (engine, slot) = self.engine(context, arg.flags)?;
        if context.health.banned.load(Ordering::Relaxed) {
            return Err(Errno::IO.into());
        }
        // If the file has O_NONBLOCK, the kernel returns EWOULDBLOCK instead of waiting. The device
        // does not know this flag.
        if !context.has_room(slot) {
            return Err(Stop::Wait(FOREVER));
        }
        let mut entries: Vec<ExecObject2> =
            self.host.array(arg.buffers_ptr, arg.buffer_count.into())?;
        let (objects, addresses) = self.place(file, context, &entries)?;
        let moved = entries
            .iter()
            .zip(&addresses)
            .any(|(entry, address)| entry.offset != canonical(*address));
        for (entry, address) in entries.iter_mut().zip(&addresses) {
            entry.offset = canonical(*address);
        }
        let batch = if arg.flags & exec::BATCH_FIRST != 0 { 0 } else { entries.len() - 1 };
        let mut batch = Batch { entries, objects, addresses, batch };
        for id in &batch.objects {
            let object = self.object(*id)?;
            if !object.storage.is_accessible() {
                return Err(Errno::FAULT.into());
            }
            object.check_contents()?;
            object.storage.pin();
            object.write_back_view();
        }
        let mut written = Vec::new();
        if arg.flags & exec::NO_RELOC == 0 || moved {
            written = self.relocate(&batch, arg.flags)?;
        }
        let size = self.object(batch.objects[batch.batch])?.size;
        let start = u64::from(arg.batch_start_offset);
        if start >= size || start + u64::from(arg.batch_len) > size {
            return Err(Errno::INVAL.into());
        }
        if arg.flags & exec::NO_RELOC == 0 || moved {
            // Lists in memory that can only be read are allowed: the kernel ignores errors of these
            // writes. (Linux i915_gem_execbuffer.c)
            let _ = self.host.put_array(arg.buffers_ptr, &batch.entries);
        }
        for target in written {
            batch.entries[target].flags |= object::WRITE;
        }
        let address = batch.addresses[batch.batch] + start;
        let Fences { mut waits, files, signals } = fences;
        waits.extend(self.implicit_fences(&batch));
        waits.extend(context.last.clone());
        let items = batch.objects.iter().zip(&batch.addresses).filter_map(|(id, address)| {
            let Object { storage, read_only, tiling, stride, view, .. } = self.objects.get(id)?;
            Some(Item {
                id: *id,
                storage: storage.clone(),
                address: *address,
                read_only: *read_only,
                tiling: *tiling,
                stride: *stride,
                view: view.clone(),
            })
        });
        let objects = items.collect();
        let job = Job {
            hardware: self.hardware(context, slot),
            vm: context.vm,
            engine,
            address,
            length: arg.batch_len.into(),
            objects,
            health: context.health.clone(),
            busy: file.busy.clone(),
        };
        let class = CLASSES.iter().position(|known| *known == engine).map(|class| class as u16);
        let fence = Fence::new(class, &self.changes);
        self.queue.add(Request { job: Some(job), waits, files, fence: fence.clone() })?;
        context.add_work(slot, &fence);
        let mut is_shared = false;
        for (id, entry) in batch.objects.iter().zip(&batch.entries) {
            let object = self.object_mut(*id)?;
            object.submitted = true;
            object.add_work(&fence, entry.flags & object::WRITE != 0);
            is_shared |= object.is_shared;
        }
        for (sync, point) in signals {
            syncobj::set(&sync, point, Some(fence.clone()));
        }
        Ok((fence, is_shared))
    }

    /// Fences of earlier work on the same objects: a read waits for earlier writes, a write for
    /// earlier reads and writes. Objects with the flag ASYNC are left out.
    fn implicit_fences(&mut self, batch: &Batch) -> Vec<Fence> {
        let mut waits = Vec::new();
        for (id, entry) in batch.objects.iter().zip(&batch.entries) {
            if entry.flags & object::ASYNC == 0
                && let Some(object) = self.objects.get_mut(id)
            {
                waits.extend(object.work(entry.flags & object::WRITE != 0));
            }
        }
        waits
    }

    /// Returns the objects of a submission's handles, and the address of each object.
    fn place(
        &mut self,
        file: &File,
        context: &Context,
        entries: &[ExecObject2],
    ) -> Result<(Vec<ObjectId>, Vec<u64>), Errno> {
        let mut seen = HashSet::with_capacity(entries.len());
        let mut wanted = Vec::with_capacity(entries.len());
        let has_ppgtt = self.config.chip().has_ppgtt;
        for entry in entries {
            let id = *file.objects.get(entry.handle)?;
            if entry.flags & !object::KNOWN != 0
                || (entry.alignment != 0 && !entry.alignment.is_power_of_two())
                || !seen.insert(id)
            {
                return Err(Errno::INVAL);
            }
            // The addresses after a shorter object stay free.
            let pad = entry.pad_to_size * u64::from(entry.flags & object::PAD_TO_SIZE != 0);
            if !pad.is_multiple_of(PAGE) {
                return Err(Errno::INVAL);
            }
            // With a larger size, the sums of addresses below would overflow. (Linux i915_vma.c,
            // i915_vma_insert)
            if pad > addresses::END_48 {
                return Err(Errno::NOSPC);
            }
            let size = self.object(id)?.size.max(pad);
            wanted.push(Wanted {
                object: id,
                size,
                alignment: entry.alignment,
                pinned: addresses::pinned(entry, size, has_ppgtt)?,
                wish: addresses::wish(entry),
                wide: has_ppgtt && entry.flags & object::SUPPORTS_48B != 0,
            });
        }
        let vm = self.vms.get_mut(&context.vm).ok_or(Errno::NOENT)?;
        let addresses = vm.place(&wanted)?;
        Ok((wanted.iter().map(|wanted| wanted.object).collect(), addresses))
    }

    /// Writes addresses of objects into the objects that have relocations, as the relocations
    /// describe.
    ///
    /// Returns the indices of the objects that relocations declare as written: for implicit
    /// fences, that is the same as the flag WRITE. (Linux i915_gem_execbuffer.c, eb_relocate_entry)
    ///
    /// # Errors
    /// EINVAL for a list of 2 GiB or more; those of [`relocate_part`](Self::relocate_part).
    fn relocate(&mut self, batch: &Batch, flags: u64) -> Result<Vec<usize>, Stop> {
        let mut written = Vec::new();
        let handles: Option<HashMap<u32, usize>> = (flags & exec::HANDLE_LUT == 0).then(|| {
            batch.entries.iter().enumerate().map(|(index, entry)| (entry.handle, index)).collect()
        });
        for (entry, id) in batch.entries.iter().zip(&batch.objects) {
            let count = entry.relocation_count as usize;
            if count > MAX_RELOCATIONS {
                return Err(Errno::INVAL.into());
            }
            for first in (0..count).step_by(RELOCATIONS_AT_ONCE) {
                let address = (first * size_of::<i915::Relocation>()) as u64;
                let address = entry.relocs_ptr.checked_add(address).ok_or(Errno::FAULT)?;
                let count = RELOCATIONS_AT_ONCE.min(count - first);
                let (part, handles) = ((address, count), handles.as_ref());
                self.relocate_part(batch, *id, part, handles, &mut written)?;
            }
        }
        Ok(written)
    }

    /// Applies some relocations of an object: `part` has their address in the client's memory and
    /// their number. Skips a relocation whose presumed address is right. Makes the ioctl wait for
    /// pending work on the object before the first write to the object. `handles` gives the index
    /// of each handle in the list of objects; without it, relocations have indices. Adds the
    /// indices of the objects that are declared as written to `written`.
    ///
    /// # Errors
    /// EFAULT if the relocations cannot be read; ENOENT for a target that is not in the list;
    /// EINVAL for a domain that is not the GPU's, for two write domains, and for an offset that is
    /// not aligned or not in the object.
    fn relocate_part(
        &mut self,
        batch: &Batch,
        id: ObjectId,
        part: (u64, usize),
        handles: Option<&HashMap<u32, usize>>,
        written: &mut Vec<usize>,
    ) -> Outcome {
        let host = self.host;
        // Relocations have 32 bits before Gen8. (Linux i915_gem_execbuffer.c, relocate_entry)
        let bytes = if self.config.chip().has_ppgtt { 8 } else { 4 };
        let mut relocations: Vec<i915::Relocation> = host.array(part.0, part.1 as u64)?;
        let object = self.object_mut(id)?;
        let mut changed = false;
        for relocation in &mut relocations {
            let target = match handles {
                Some(handles) => handles.get(&relocation.target_handle).copied(),
                None => Some(relocation.target_handle as usize),
            };
            let target = target.ok_or(Errno::NOENT)?;
            let address = canonical(*batch.addresses.get(target).ok_or(Errno::NOENT)?);
            let domains = relocation.read_domains | relocation.write_domain;
            if domains & !i915::GPU_DOMAINS != 0 || relocation.write_domain.count_ones() > 1 {
                return Err(Errno::INVAL.into());
            }
            if relocation.write_domain != 0 && written.last() != Some(&target) {
                written.push(target);
            }
            if relocation.presumed_offset == address {
                continue;
            }
            if !relocation.offset.is_multiple_of(4) {
                return Err(Errno::INVAL.into());
            }
            if !changed && !object.work(true).is_empty() {
                return Err(Stop::Wait(FOREVER));
            }
            // The kernel sign-extends the delta. (Linux i915_gem_execbuffer.c, relocation_target)
            let delta = i64::from(relocation.delta.cast_signed());
            let value = canonical(address.wrapping_add_signed(delta));
            object.storage.pages().write(relocation.offset, &value.to_le_bytes()[..bytes])?;
            relocation.presumed_offset = address;
            changed = true;
        }
        if changed {
            // Errors are ignored, as for the list of objects.
            let _ = host.put_array(part.0, &relocations);
        }
        Ok(())
    }
}
