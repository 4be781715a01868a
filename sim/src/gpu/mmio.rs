//! Reads and writes of registers by the host.

#[cfg(feature = "gen45")]
use crate::gen45;
#[cfg(feature = "gen45")]
use crate::gpu::Generation;
use crate::gpu::{ContextId, Gpu};
use crate::machine::fault::{Fault, Place};
#[cfg(feature = "gen45")]
use crate::machine::registers::mmio_base;
use crate::machine::registers::{Home, engine_at, rule};
use crate::machine::watchdog::ticks;
use genxml::engine::EngineId;
use genxml::gen8::ENGINES;
use genxml::gen8::engine_registers::{
    RingCtl, RingElsp, RingHead, RingMiMode, RingStart, RingTail,
};

impl Gpu {
    /// Writes a register as the host does, by byte offset in the register space. Work that the
    /// write submits (a ring whose tail moved, an execution list) runs at the next
    /// [`run`](Self::run).
    ///
    /// A register that belongs to contexts is written in the context that runs, or ran last, on an
    /// engine; if no context ran yet, in the context of the engine's ring. The engine is the one
    /// whose register space contains the offset, or else the render engine. So are the debug
    /// registers of a G45.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for an invalid submission, [`Fault::Page`] if a status page or context
    /// image is not mapped, [`Fault::Unimplemented`] for a submission to the second video engine,
    /// which the model does not have.
    pub fn mmio_write(&mut self, offset: u32, value: u32) -> Result<(), Fault> {
        self.second_video_engine(offset)?;
        let owner = engine_at(offset);
        match owner {
            Some((engine, RingElsp::OFFSET)) => return self.write_port(engine, value),
            Some((
                engine,
                RingTail::OFFSET | RingHead::OFFSET | RingStart::OFFSET | RingCtl::OFFSET,
            )) => {
                self.ring_written(engine);
            }
            _ => {}
        }
        let debug = self.has_debug_register(offset);
        match rule(offset).home {
            Home::Context if !debug => {
                let engine = owner.map_or(EngineId::Render, |(engine, _)| engine);
                let context = self.context_of_registers(engine);
                self.load_register(context, offset, value);
            }
            #[cfg(feature = "gen45")]
            _ if debug => {
                let context = self.context_of_registers(EngineId::Render);
                let state = &mut self.contexts[context.index()].state;
                gen45::debug::registers::write(state, offset, value, !0).map_err(|missing| {
                    let base = mmio_base(EngineId::Render).into();
                    let at = Place::new(EngineId::Render, "register write", offset.into(), base);
                    Fault::Unimplemented {
                        what: missing.what.into(),
                        at,
                        page: missing.page.into(),
                    }
                })?;
            }
            _ => self.device.write(offset, value, !0),
        }
        Ok(())
    }

    /// True for the offset of a debug register of a G45.
    fn has_debug_register(&self, offset: u32) -> bool {
        #[cfg(feature = "gen45")]
        if self.generation == Generation::G45 {
            return gen45::debug::registers::covers(offset);
        }
        let _ = offset;
        false
    }

    /// The context whose registers the host accesses: that which runs or ran last on an engine, or
    /// that of the engine's ring.
    fn context_of_registers(&mut self, engine: EngineId) -> ContextId {
        match self.engines[engine as usize].last {
            Some(context) => context,
            None => self.ring_context(engine),
        }
    }

    /// Reads a register as the host does. A register that was never written reads its value after
    /// reset, usually 0. TIMESTAMP and the idle bit of RING_MI_MODE are computed. A register that
    /// belongs to contexts is read from the context that [`mmio_write`](Self::mmio_write) uses. A
    /// word of a debug register of the G45 that the model does not have reads 0.
    pub fn mmio_read(&self, offset: u32) -> u32 {
        let owner = engine_at(offset);
        match (rule(offset).home, owner) {
            (Home::Clock, _) if offset & 4 != 0 => (ticks(self.clock) >> 32) as u32,
            (Home::Clock, _) => ticks(self.clock) as u32,
            (Home::Device, Some((engine, RingMiMode::OFFSET))) => {
                let mode = RingMiMode::unpack_lossy(&[self.device.read(offset)]);
                let [value] = RingMiMode { mode_idle: self.is_idle(engine), ..mode }.pack();
                value
            }
            (Home::Device, _) => self.device.read(offset),
            (Home::Context, _) => {
                let engine = owner.map_or(EngineId::Render, |(engine, _)| engine);
                let engine = &self.engines[engine as usize];
                let context = engine.last.or(engine.ring);
                context.map_or(0, |context| {
                    let state = &self.contexts[context.index()].state;
                    #[cfg(feature = "gen45")]
                    if self.has_debug_register(offset) {
                        return gen45::debug::registers::read(state, offset).unwrap_or(0);
                    }
                    state.registers.read(offset)
                })
            }
        }
    }

    /// The context that runs on an engine, or ran last; `None` if none ran yet.
    pub fn context_on(&self, engine: EngineId) -> Option<ContextId> {
        self.engines[engine as usize].last
    }

    /// The context of an engine whose image is at `lrca` in the global table; `None` if the image
    /// was never loaded.
    pub fn context_at(&self, engine: EngineId, lrca: u32) -> Option<ContextId> {
        self.images.get(&(engine, lrca)).copied()
    }

    /// True if an engine has nothing to do: no batch, no list, and a ring that is disabled, empty
    /// or stopped by a fault.
    pub fn is_idle(&self, engine: EngineId) -> bool {
        let state = &self.engines[engine as usize];
        let register = |offset| self.device.engine(engine, offset);
        let control = RingCtl::unpack_lossy(&[register(RingCtl::OFFSET)]);
        let head = RingHead::unpack_lossy(&[register(RingHead::OFFSET)]).head_addr.get();
        let tail = RingTail::unpack_lossy(&[register(RingTail::OFFSET)]).tail_addr.get();
        let ring = control.ring_valid && head != tail && !state.hung;
        state.active.is_none() && state.queue.is_empty() && state.lists.element().is_none() && !ring
    }

    /// Refuses a write that would start the second video engine.
    fn second_video_engine(&self, offset: u32) -> Result<(), Fault> {
        let Some(second) = ENGINES.iter().find(|engine| engine.name == "VCS2") else {
            return Ok(());
        };
        match offset.wrapping_sub(second.base) {
            RingElsp::OFFSET | RingTail::OFFSET => Err(Fault::Unimplemented {
                what: "the second video engine (VCS2)".into(),
                at: Place::new(
                    EngineId::Video,
                    "register write",
                    offset.into(),
                    second.base.into(),
                ),
                page: "facts: Linux i915 (GEN8_BSD2_RING_BASE)".into(),
            }),
            _ => Ok(()),
        }
    }
}
