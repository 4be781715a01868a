//! Submission by execution lists (2d p.107-111; gen8_facts 1.3; Linux i915 gvt/execlist.c for the
//! order of events).
//!
//! A list has two elements, each the descriptor of a context; the second may be invalid. The host
//! writes both descriptors to the submission port. The contexts run one after the other, each until
//! the head of its ring is at the tail. The context status buffer reports every switch. A second
//! list waits until the first has ended, or preempts it at MI_ARB_CHECK or at a semaphore that does
//! not pass.

use crate::cs::status::PLACES;
use crate::cs::streamer::{Batch, Ring, Streamer, tail};
use crate::gpu::Gpu;
use crate::gpu::context::{Context, ContextId};
use crate::gpu::engine::{Active, Source};
use crate::gpu::image;
use crate::machine::device::Interrupt;
use crate::machine::fault::{Fault, Place};
use crate::machine::registers::mmio_base;
use crate::machine::registers::{Home, rule};
use crate::machine::state::State;
use crate::machine::watchdog::Budget;
use crate::mem::{AddressSpace, PAGE};
use genxml::core::U;
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::{
    RingBbPerCtxPtr, RingContextControl, RingContextStatusBuf, RingContextStatusPtr,
    RingCtxTimestamp, RingExeclistStatusHi, RingExeclistStatusLo, RingHwsPga, RingIndirectCtx,
    RingPdp, RingTail,
};
use genxml::gen8::memory::{
    ContextDescriptorFormat as Descriptor,
    ContextDescriptorFormatAddressingModeLegacyContext as Addressing,
};
use genxml::gen8::structures::{ContextStatus, ContextStatusSemaphoreWaitMode};

/// True if both descriptors name the same context: image and number (Linux i915 gvt/execlist.c).
/// False if the kind of page tables differs, because the context must then be restored.
fn same(a: &Descriptor, b: &Descriptor) -> bool {
    a.context_id == b.context_id
        && a.logical_ring_context_address_lrca == b.logical_ring_context_address_lrca
        && a.addressing_mode_legacy_context == b.addressing_mode_legacy_context
        && a.privilege_access == b.privilege_access
}

fn lrca(descriptor: &Descriptor) -> u32 {
    descriptor.logical_ring_context_address_lrca.get() as u32
}

impl Gpu {
    /// Handles a write to the submission port. Four writes submit a list: high and low dword of the
    /// second element, then high and low dword of the first.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the first element is not valid, or both lists are in use; those of
    /// `lite_restore` and `post`.
    pub(super) fn write_port(&mut self, engine: EngineId, value: u32) -> Result<(), Fault> {
        let lists = &mut self.engines[engine as usize].lists;
        lists.written.push(value);
        let &[high1, low1, high0, low0] = &lists.written[..] else { return Ok(()) };
        lists.written.clear();
        let list = [[low0, high0], [low1, high1]].map(|dwords| Descriptor::unpack_lossy(&dwords));
        let bad = |field, value: u64, why: &'static str| {
            let at = Place::new(engine, "RING_ELSP", 0, 0);
            Err(Fault::BadPacket { field, value, why: why.into(), at })
        };
        if !list[0].valid {
            return bad("Valid", low0.into(), "the first element of a list must be valid");
        }
        let last = lists.is_last();
        match lists.element().copied() {
            None => {
                lists.running = Some((list, 0));
                self.post(engine, ContextStatus { idle_to_active: true, ..ContextStatus::new() })?;
            }
            Some(running) if last && same(&running, &list[0]) && !list[0].force_restore => {
                self.lite_restore(engine, &list[0])?;
                self.engines[engine as usize].lists.running = Some((list, 0));
                let context_id = list[0].context_id;
                let status =
                    ContextStatus { preempted: true, lite_restore: true, ..ContextStatus::new() };
                self.post(engine, ContextStatus { context_id, ..status })?;
            }
            Some(_) if lists.pending.is_none() => lists.pending = Some(list),
            Some(_) => return bad("RING_ELSP", low0.into(), "both lists of the engine are in use"),
        }
        self.show_status(engine);
        Ok(())
    }

    /// Handles a new submission of the context that runs: reads its ring tail again, and with Force
    /// PD Restore also its page tables.
    ///
    /// # Errors
    /// The errors of [`load_element`](Self::load_element).
    fn lite_restore(&mut self, engine: EngineId, descriptor: &Descriptor) -> Result<(), Fault> {
        let active = self.engines[engine as usize].active.as_ref();
        let Some(context) =
            active.filter(|a| a.source == Source::Element).map(|active| active.context)
        else {
            return Ok(());
        };
        let mut entries = self.image(engine, lrca(descriptor))?;
        let base = mmio_base(engine);
        entries.retain(|entry| {
            let within = entry.register.wrapping_sub(base);
            let pdps = RingPdp::OFFSET..RingPdp::OFFSET + 8 * RingPdp::COUNT;
            within == RingTail::OFFSET || descriptor.force_pd_restore && pdps.contains(&within)
        });
        for entry in &entries {
            self.device.registers.write(entry.register, entry.value);
        }
        self.page_tables(engine, context, descriptor)?;
        let tail = tail(&self.device, engine);
        if let Some(active) = &mut self.engines[engine as usize].active {
            for entry in entries {
                if let Ok(index) = active.loaded.binary_search_by_key(&entry.at, |loaded| loaded.at)
                {
                    active.loaded[index] = entry;
                }
            }
            if let Some(ring) = active.streamer.ring_mut() {
                ring.tail = tail % ring.size;
            }
            // New work gets a new budget.
            active.budget = Budget::new(self.work_limit, self.clock);
        }
        Ok(())
    }

    /// Reads the registers of an image.
    fn image(&mut self, engine: EngineId, lrca: u32) -> Result<Vec<image::Entry>, Fault> {
        let page = u64::from(lrca) + PAGE;
        image::entries(&self.global(), page, engine).map_err(|fault| Fault::Page {
            fault,
            near: None,
            what: "register state".into(),
            at: Place::new(engine, "context image", page, lrca.into()),
        })
    }

    /// Loads the current element of the list that runs, if there is one.
    ///
    /// # Errors
    /// [`Fault::Page`] if its image is not mapped, [`Fault::Unimplemented`] for contexts with
    /// shared virtual memory.
    pub(super) fn load_element(&mut self, engine: EngineId) -> Result<Option<Active>, Fault> {
        let Some(descriptor) = self.engines[engine as usize].lists.element().copied() else {
            return Ok(None);
        };
        let lrca = lrca(&descriptor);
        let known = self.images.contains_key(&(engine, lrca));
        let context = self.context_of_image(engine, lrca);
        let entries = self.image(engine, lrca)?;
        let control = mmio_base(engine) + RingContextControl::OFFSET;
        let value =
            entries.iter().find(|entry| entry.register == control).map_or(0, |entry| entry.value);
        let control = RingContextControl::unpack_lossy(&[value]);
        let inhibited = control.ctx_ctrl_engine_ctx_restore_inhibit;
        if inhibited {
            self.contexts[context.index()].state = State::default();
            self.contexts[context.index()].suspended = None;
        } else if !known {
            self.contexts[context.index()].state.restored = true;
        }
        let mut loaded = entries;
        loaded.retain(|entry| !(inhibited && entry.engine_state));
        for entry in &loaded {
            self.load_register(context, entry.register, entry.value);
        }
        for entry in &mut loaded {
            entry.value = self.context_register(context, entry.register);
        }
        self.page_tables(engine, context, &descriptor)?;
        let ring = Ring::of(&self.device, engine);
        let batches = self.restore_batches(engine);
        let kept = &mut self.contexts[context.index()];
        let unsaved =
            control.ctx_ctrl_engine_ctx_save_inhibit.then(|| Box::new(kept.state.clone()));
        // Unless the driver moved the head, the context continues where it was switched out.
        let streamer = kept.suspended.take().and_then(|streamer| streamer.resume(ring));
        let streamer = streamer.unwrap_or_else(|| Streamer::ring(ring)).restored(batches);
        self.stamp(engine, lrca, PLACES.restored)?;
        Ok(Some(Active {
            context,
            streamer,
            budget: Budget::new(self.work_limit, self.clock),
            source: Source::Element,
            unsaved,
            loaded,
            image: Some(lrca),
            number: descriptor.context_id.get() as u32,
            log: None,
        }))
    }

    /// The context of an image; creates one with default state if there is none.
    pub(super) fn context_of_image(&mut self, engine: EngineId, lrca: u32) -> ContextId {
        let contexts = &mut self.contexts;
        *self.images.entry((engine, lrca)).or_insert_with(|| {
            contexts.push(Context::new(AddressSpace::with_root4(0)));
            ContextId::of(contexts.len() - 1)
        })
    }

    /// Writes a register to the context, or to the device if the register belongs to the device.
    pub(super) fn load_register(&mut self, context: ContextId, register: u32, value: u32) {
        let rule = rule(register);
        match rule.home {
            Home::Context => {
                let registers = &mut self.contexts[context.index()].state.registers;
                registers.write(register, rule.merge(registers.read(register), value, !0));
            }
            _ => self.device.write(register, value, !0),
        }
    }

    /// The value of a register of a context, or of the device.
    fn context_register(&self, context: ContextId, register: u32) -> u32 {
        match rule(register).home {
            Home::Context => self.contexts[context.index()].state.registers.read(register),
            _ => self.device.read(register),
        }
    }

    /// Sets the page tables of a context from its descriptor and the root registers.
    fn page_tables(
        &mut self,
        engine: EngineId,
        context: ContextId,
        descriptor: &Descriptor,
    ) -> Result<(), Fault> {
        let roots: [u64; 4] = std::array::from_fn(|index| {
            self.device.registers.read_u64(mmio_base(engine) + RingPdp::OFFSET + 8 * index as u32)
        });
        let context = &mut self.contexts[context.index()];
        context.global_only = !descriptor.privilege_access;
        match descriptor.addressing_mode_legacy_context {
            _ if context.global_only => context.space.forget(),
            Addressing::LEGACY_CONTEXT_WITH_NO_64_BIT_VA_SUPPORT => {
                context.space = AddressSpace::with_roots3(roots);
            }
            Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT => {
                context.space = AddressSpace::with_root4(roots[0]);
            }
            _ => {
                return Err(Fault::Unimplemented {
                    what: "a context with shared virtual memory (Addressing Mode: advanced)".into(),
                    at: Place::new(engine, "context descriptor", 0, 0),
                    page: "2d p.108".into(),
                });
            }
        }
        Ok(())
    }

    /// Batches that run after each restore of a context, before the context continues: the commands
    /// of RING_INDIRECT_CTX, then those of RING_BB_PER_CTX_PTR.
    fn restore_batches(&self, engine: EngineId) -> Vec<Batch> {
        let mut batches = Vec::new();
        let indirect =
            RingIndirectCtx::unpack_lossy(&[self.device.engine(engine, RingIndirectCtx::OFFSET)]);
        let bytes = 64 * indirect.indirect_context_size.get();
        if bytes != 0 {
            let batch = Batch::new(indirect.indirect_context_address.get(), true);
            batches.push(Batch { end: Some(batch.start + bytes), ..batch });
        }
        let per_context =
            RingBbPerCtxPtr::unpack_lossy(&[self.device.engine(engine, RingBbPerCtxPtr::OFFSET)]);
        if per_context.per_ctx_bb_valid {
            batches.push(Batch::new(per_context.batch_address.get(), true));
        }
        batches
    }

    /// Writes a context back to its image. Stores the streamer if it is within a batch or waits. A
    /// register that still holds the loaded value is not written, because the driver may have
    /// written a new value, such as the tail for the next list, to the image. Engine state is not
    /// written if the image inhibits the save.
    ///
    /// # Errors
    /// [`Fault::Page`] if the image is no longer mapped.
    pub(super) fn save(&mut self, engine: EngineId, active: Active) -> Result<(), Fault> {
        let Active { context, streamer, image: Some(lrca), unsaved, loaded, .. } = active else {
            return Ok(());
        };
        streamer.publish(&mut self.device, engine);
        let control = mmio_base(engine) + RingContextControl::OFFSET;
        let page = u64::from(lrca) + PAGE;
        for entry in self.image(engine, lrca)? {
            if entry.engine_state && unsaved.is_some() {
                continue;
            }
            let mut value = self.context_register(context, entry.register);
            if entry.register == control {
                // The image now holds state to restore.
                let mut register = RingContextControl::unpack_lossy(&[value]);
                register.ctx_ctrl_engine_ctx_restore_inhibit = false;
                [value] = register.pack();
            }
            let before = loaded
                .binary_search_by_key(&entry.at, |loaded| loaded.at)
                .map(|index| loaded[index]);
            if before.is_ok_and(|before| before.register == entry.register && before.value == value)
            {
                continue;
            }
            if rule(entry.register).masked {
                value = entry.value & 0xffff_0000 | value & 0xffff;
            }
            if value != entry.value {
                self.write_global(engine, "context image", page + entry.at, value)?;
            }
        }
        let run_time = self.device.engine(engine, RingCtxTimestamp::OFFSET);
        let at = u64::from(lrca) + PLACES.run_time;
        self.write_global(engine, "context image", at, run_time)?;
        if let Some(wait) = streamer.wait() {
            let at = u64::from(lrca) + PLACES.semaphore;
            for (index, dword) in wait.packet.into_iter().enumerate() {
                self.write_global(engine, "context image", at + 4 * index as u64, dword)?;
            }
        }
        if let Some(state) = unsaved {
            self.contexts[context.index()].state = *state;
        }
        self.contexts[context.index()].suspended = streamer.is_within().then_some(streamer);
        self.stamp(engine, lrca, PLACES.saved)
    }

    /// Ends the element that runs and reports `why`. Then makes the second element of the list the
    /// running one, or, after the last element, the pending list if there is one.
    pub(super) fn element_done(
        &mut self,
        engine: EngineId,
        why: ContextStatus,
    ) -> Result<(), Fault> {
        let lists = &mut self.engines[engine as usize].lists;
        let Some((list, element)) = lists.running else { return Ok(()) };
        let why = ContextStatus { context_id: list[element].context_id, ..why };
        if !lists.is_last() {
            lists.running = Some((list, 1));
            self.post(engine, ContextStatus { element_switch: true, ..why })?;
        } else {
            lists.running = lists.pending.take().map(|list| (list, 0));
            let next = lists.running.is_some();
            self.post(engine, ContextStatus { active_to_idle: true, ..why })?;
            if next {
                self.post(engine, ContextStatus { idle_to_active: true, ..ContextStatus::new() })?;
            }
        }
        self.show_status(engine);
        Ok(())
    }

    /// Saves the context that runs, makes the pending list the running one, and reports the
    /// preemption.
    pub(super) fn preempted(&mut self, engine: EngineId, active: Active) -> Result<(), Fault> {
        let number = active.number;
        self.save(engine, active)?;
        let lists = &mut self.engines[engine as usize].lists;
        lists.running = lists.pending.take().map(|list| (list, 0));
        let context_id = U::from_bits(number.into());
        self.post(engine, ContextStatus { preempted: true, context_id, ..ContextStatus::new() })?;
        self.show_status(engine);
        Ok(())
    }

    /// Switches out a context that waits for a semaphore, and reports the wait.
    pub(super) fn waits(&mut self, engine: EngineId, active: Active) -> Result<(), Fault> {
        let polls = active.streamer.wait().is_some_and(|wait| wait.polls);
        self.save(engine, active)?;
        let semaphore_wait_mode = match polls {
            true => ContextStatusSemaphoreWaitMode::POLL_MODE,
            false => ContextStatusSemaphoreWaitMode::SIGNAL_MODE,
        };
        let status =
            ContextStatus { wait_on_semaphore: true, semaphore_wait_mode, ..ContextStatus::new() };
        self.element_done(engine, status)
    }

    /// Reports an event in the context status buffer, in its copy in the status page, and by an
    /// interrupt. While RING_HWS_PGA is 0 there is no status page.
    ///
    /// # Errors
    /// [`Fault::Page`] if the status page is not mapped.
    pub(super) fn post(&mut self, engine: EngineId, status: ContextStatus) -> Result<(), Fault> {
        let base = mmio_base(engine);
        let offset = base + RingContextStatusPtr::OFFSET;
        let mut pointer = RingContextStatusPtr::unpack_lossy(&[self.device.registers.read(offset)]);
        let entries = u64::from(RingContextStatusBuf::COUNT);
        let index = match pointer.write_pointer.get() + 1 {
            next if next >= entries => 0,
            next => next,
        };
        pointer.write_pointer = U::from_bits(index);
        self.device.registers.write(offset, pointer.pack()[0]);
        let [low, high] = status.pack();
        let event = u64::from(low) | u64::from(high) << 32;
        self.device
            .registers
            .write_u64(base + RingContextStatusBuf::OFFSET + 8 * index as u32, event);
        let page = u64::from(self.device.engine(engine, RingHwsPga::OFFSET));
        if page != 0 {
            let at = page + PLACES.context_status(index as u32);
            self.write_global(engine, "context status", at, low)?;
            self.write_global(engine, "context status", at + 4, high)?;
            self.write_global(engine, "context status", page + PLACES.last_written, index as u32)?;
        }
        self.device.interrupt(engine, Interrupt::ContextSwitch);
        Ok(())
    }

    /// Updates the registers RING_EXECLIST_STATUS from the lists of an engine.
    pub(super) fn show_status(&mut self, engine: EngineId) {
        let lists = &self.engines[engine as usize].lists;
        let element = lists.element().copied();
        let status = RingExeclistStatusLo {
            execlist_0_valid: element.is_some(),
            execlist_0_active: element.is_some(),
            execlist_queue_full: lists.pending.is_some(),
            ..RingExeclistStatusLo::new()
        };
        let number = element.map_or(0, |element| element.context_id.get() as u32);
        self.device.set_engine(engine, RingExeclistStatusLo::OFFSET, status.pack()[0]);
        self.device.set_engine(engine, RingExeclistStatusHi::OFFSET, number);
    }

    /// Writes the current timestamp at byte `offset` of the status page of a context.
    fn stamp(&mut self, engine: EngineId, lrca: u32, offset: u64) -> Result<(), Fault> {
        let now = crate::machine::watchdog::ticks(self.clock);
        let at = u64::from(lrca) + offset;
        self.write_global(engine, "context image", at, now as u32)?;
        self.write_global(engine, "context image", at + 4, (now >> 32) as u32)
    }

    /// Writes a dword through the global table. `engine` and `what` are for the fault.
    fn write_global(
        &mut self,
        engine: EngineId,
        what: &'static str,
        at: u64,
        value: u32,
    ) -> Result<(), Fault> {
        self.global().write_u32(at, value).map_err(|fault| Fault::Page {
            fault,
            near: None,
            what: what.into(),
            at: Place::new(engine, what, at, at),
        })
    }
}
