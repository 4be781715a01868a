//! State of the GPU that belongs to no context: registers, interrupts, signals between engines, the
//! last fault.

use crate::machine::fault::Fault;
use crate::machine::host_threads::HostThreads;
use crate::machine::observation::Observed;
use crate::machine::overlay_pool::OverlayPool;
use crate::machine::registers::mmio_base;
use crate::machine::registers::{Home, Registers, rule};
use crate::machine::slots::Slots;
use crate::mem::claims::Claims;
use crate::mem::{Cause, Coherence, PageFault, Tables};
use genxml::core::{Shifted, U};
use genxml::engine::EngineId;
use genxml::gen8::display_registers::{
    Gen8GtIir0, Gen8GtIir1, Gen8GtIir3, Gen8GtImr0, Gen8GtImr1, Gen8GtImr3, GtInterrupts0,
    GtInterrupts1,
};
use genxml::gen8::engine_registers::{
    RingActhd, RingActhdUdw, RingBbaddr, RingBbaddrUdw, RingContextStatusPtr, RingEir, RingEmr,
    RingEsr, RingForceToNonpriv, RingImr, RingIpehr, RingSbbaddr, RingSbbaddrUdw,
};
use genxml::gen8::mi::MiSemaphoreSignalTargetEngineSelect as Target;
use genxml::gen8::registers::{
    FaultReg, FaultRegEngineId, FaultRegFaultType, FaultRegGttsel, Gen8FaultTlbData0,
    Gen8FaultTlbData1,
};
use genxml::gen8::structures::{
    BitDefinitionForInterruptControlRegistersVideoEnhancement as VideoEnhanceInterrupts,
    HardwareDetectedErrorBitDefinitions as Errors,
};

/// Why an engine interrupts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interrupt {
    /// MI_USER_INTERRUPT.
    User,
    /// Notify Enable of PIPE_CONTROL or MI_FLUSH_DW.
    Notify,
    /// A context was switched.
    ContextSwitch,
    /// A semaphore wait did not pass, and the context must not be switched out while it waits.
    SemaphoreWait,
    /// An error in [`RingEir`].
    Error,
}

/// A signal of MI_SEMAPHORE_SIGNAL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// The engine that receives it.
    pub engine: EngineId,
    /// The context that receives it, by its number.
    pub context: u32,
}

/// The state of the GPU that belongs to no context.
#[derive(Clone, Debug)]
pub struct Device {
    /// Registers whose home is [`Home::Device`].
    pub registers: Registers,
    /// Signals that are not delivered yet.
    pub signals: Vec<Signal>,
    /// The record of caches that commands flushed and invalidated.
    pub coherence: Coherence,
    /// The counters of performance reports. RenderBusy does not include the current turn.
    pub observed: Observed,
    /// The clock at the start of the current or last turn of the render engine.
    pub render_since: u64,
    /// Number of host threads that thread groups and tiles of the screen may run on.
    pub threads: usize,
    /// Host memory that speculative parts reuse; not state of the GPU.
    pub(crate) overlays: OverlayPool,
    /// Claims of pages for parallel work, whose memory later work reuses; not state of the GPU.
    pub(crate) claims: Claims,
    /// Host memory that units reuse; not state of the GPU.
    pub(crate) scratch: Slots,
    /// The host threads of parallel work; not state of the GPU.
    pub(crate) host_threads: HostThreads,
}

impl Default for Device {
    fn default() -> Self {
        let mut registers = Registers::default();
        for engine in EngineId::ALL {
            // After reset the write pointer of the context status buffer is 7: entry 0 is written
            // next (Linux i915 gvt/execlist.c).
            let [pointer] =
                RingContextStatusPtr { write_pointer: U::MAX, ..RingContextStatusPtr::new() }
                    .pack();
            registers.write(mmio_base(engine) + RingContextStatusPtr::OFFSET, pointer);
        }
        Device {
            registers,
            signals: Vec::new(),
            coherence: Coherence::default(),
            observed: Observed::default(),
            render_since: 0,
            threads: 1,
            overlays: OverlayPool::default(),
            claims: Claims::default(),
            scratch: Slots::default(),
            host_threads: HostThreads::default(),
        }
    }
}

impl Device {
    /// A register of an engine, by its offset from the engine's base.
    #[inline]
    pub fn engine(&self, engine: EngineId, offset: u32) -> u32 {
        self.registers.read(mmio_base(engine) + offset)
    }

    /// Replaces a register of an engine.
    #[inline]
    pub fn set_engine(&mut self, engine: EngineId, offset: u32, value: u32) {
        self.registers.write(mmio_base(engine) + offset, value);
    }

    /// Writes the bits in `enable` of a register, as a command or the host does. Ignores registers
    /// that do not belong to the GPU and write-only registers.
    pub fn write(&mut self, offset: u32, value: u32, enable: u32) {
        let rule = rule(offset);
        if rule.home == Home::Device && !rule.write_only {
            let old = self.registers.read(offset);
            self.registers.write(offset, rule.merge(old, value, enable));
        }
    }

    /// Reads a register as a command or the host does; 0 for write-only registers.
    pub fn read(&self, offset: u32) -> u32 {
        if rule(offset).write_only { 0 } else { self.registers.read(offset) }
    }

    /// True if RING_FORCE_TO_NONPRIV lets batches without privilege write a register (Linux i915
    /// gt/intel_engine_regs.h).
    pub fn is_given(&self, engine: EngineId, offset: u32) -> bool {
        (0..RingForceToNonpriv::COUNT).any(|index| {
            let at = RingForceToNonpriv::OFFSET + 4 * index;
            let given = RingForceToNonpriv::unpack_lossy(&[self.engine(engine, at)]);
            let address = given.ring_force_to_nonpriv_address.get();
            address != 0 && address == u64::from(offset & !3) && !given.ring_force_to_nonpriv_deny
        })
    }

    /// Records the command that an engine executes, so that a hang can be diagnosed.
    #[inline]
    pub fn command(&mut self, engine: EngineId, address: u64, header: u32) {
        self.set_engine(engine, RingActhd::OFFSET, address as u32);
        self.set_engine(engine, RingActhdUdw::OFFSET, (address >> 32) as u32);
        self.set_engine(engine, RingIpehr::OFFSET, header);
    }

    /// Records the position of an engine in its batches of the first and second level.
    pub fn batches(&mut self, engine: EngineId, first: u64, second: u64) {
        self.set_engine(engine, RingBbaddr::OFFSET, first as u32);
        self.set_engine(engine, RingBbaddrUdw::OFFSET, (first >> 32) as u32);
        self.set_engine(engine, RingSbbaddr::OFFSET, second as u32);
        self.set_engine(engine, RingSbbaddrUdw::OFFSET, (second >> 32) as u32);
    }

    /// Sets the bit of an interrupt in the GT interrupt identity register (IIR) of the engine,
    /// unless RING_IMR of the engine or the GT interrupt mask register (IMR) masks it (2d p.24-32;
    /// Linux i915 gt/intel_gt_irq.c).
    pub fn interrupt(&mut self, engine: EngineId, interrupt: Interrupt) {
        let is = |other| interrupt == other;
        let (user, notify, switch) =
            (is(Interrupt::User), is(Interrupt::Notify), is(Interrupt::ContextSwitch));
        let (wait, error) = (is(Interrupt::SemaphoreWait), is(Interrupt::Error));
        let (bits, [iir, imr]) = match engine {
            EngineId::Render => {
                let bits = GtInterrupts0 {
                    render_command_parser_user_interrupt: user,
                    pipe_control_notify_interrupt: notify,
                    render_context_switch_interrupt: switch,
                    render_wait_on_semaphore: wait,
                    render_command_parser_master_error: error,
                    ..GtInterrupts0::new()
                };
                (bits.pack(), [Gen8GtIir0::OFFSET, Gen8GtImr0::OFFSET])
            }
            EngineId::Blitter => {
                let bits = GtInterrupts0 {
                    blitter_command_parser_user_interrupt: user,
                    blitter_mi_flush_dw_notify_interrupt: notify,
                    blitter_context_switch_interrupt: switch,
                    blitter_wait_on_semaphore: wait,
                    blitter_command_parser_master_error: error,
                    ..GtInterrupts0::new()
                };
                (bits.pack(), [Gen8GtIir0::OFFSET, Gen8GtImr0::OFFSET])
            }
            EngineId::Video => {
                let bits = GtInterrupts1 {
                    media_1_video_command_parser_user_interrupt: user,
                    media_1_mi_flush_dw_notify_interrupt: notify,
                    media_1_context_switch_interrupt: switch,
                    media_1_wait_on_semaphore: wait,
                    media_1_video_command_parser_master_error: error,
                    ..GtInterrupts1::new()
                };
                (bits.pack(), [Gen8GtIir1::OFFSET, Gen8GtImr1::OFFSET])
            }
            EngineId::VideoEnhance => {
                let bits = VideoEnhanceInterrupts {
                    video_enhancement_command_parser_user_interrupt: user,
                    mi_flush_dw_notify_interrupt: notify,
                    context_switch_interrupt: switch,
                    wait_on_semaphore: wait,
                    video_enhancement_command_parser_master_error: error,
                };
                (bits.pack(), [Gen8GtIir3::OFFSET, Gen8GtImr3::OFFSET])
            }
        };
        let masked = self.engine(engine, RingImr::OFFSET) | self.registers.read(imr);
        self.registers.write(iir, self.registers.read(iir) | (bits[0] & !masked));
    }

    /// Records an error that the engine reports (2d p.198): in its status register, and in its
    /// identity register unless the error is masked. A new bit in the identity register raises an
    /// interrupt.
    pub fn error(&mut self, engine: EngineId, errors: Errors) {
        let [bits] = errors.pack();
        let esr = self.engine(engine, RingEsr::OFFSET) | bits;
        self.set_engine(engine, RingEsr::OFFSET, esr);
        let eir = self.engine(engine, RingEir::OFFSET);
        let new = eir | (bits & !self.engine(engine, RingEmr::OFFSET));
        if new != eir {
            self.set_engine(engine, RingEir::OFFSET, new);
            self.interrupt(engine, Interrupt::Error);
        }
    }

    /// Records a fault in the registers that drivers read: a page fault in the fault registers, an
    /// unknown or malformed packet as an instruction error of its engine. Other faults change no
    /// register.
    pub fn fault(&mut self, fault: &Fault) {
        let Some(engine) = fault.place().map(|place| place.engine) else { return };
        match fault {
            Fault::Page { fault, .. } => self.page_fault(engine, fault),
            Fault::UnknownPacket { .. } | Fault::Malformed { .. } => {
                self.error(engine, Errors { instruction_error: true, ..Errors::new() });
            }
            _ => {}
        }
    }

    fn page_fault(&mut self, engine: EngineId, fault: &PageFault) {
        let global = fault.tables == Tables::Global;
        let level = match fault.cause {
            Cause::NotPresent(level) | Cause::BadFrame(level) | Cause::ReadOnly(level) => level,
            Cause::Outside => 4,
        };
        let [register] = FaultReg {
            valid_bit: true,
            fault_type: match level {
                4 => FaultRegFaultType::INVALID_PML4E_FAULT,
                3 => FaultRegFaultType::INVALID_PDPE_FAULT,
                2 => FaultRegFaultType::INVALID_PDE_FAULT,
                _ => FaultRegFaultType::INVALID_PTE_FAULT,
            },
            gttsel: if global { FaultRegGttsel::GGTT } else { FaultRegGttsel::PPGTT },
            engine_id: match engine {
                EngineId::Render => FaultRegEngineId::GFX,
                EngineId::Blitter => FaultRegEngineId::BLT,
                EngineId::Video => FaultRegEngineId::MFX0,
                EngineId::VideoEnhance => FaultRegEngineId::VEBX,
            },
            ..FaultReg::new()
        }
        .pack();
        // The page number is 36 of the 48 address bits; the first register holds 32 of them.
        let low = fault.address & ((1 << 44) - 1) & !4095;
        let [data0] = Gen8FaultTlbData0 { fault_va: Shifted::new(low).unwrap_or_default() }.pack();
        let high = U::new(fault.address >> 44 & 15).unwrap_or_default();
        let [data1] = Gen8FaultTlbData1 { fault_va_high_bits: high, fault_gtt_sel: global }.pack();
        self.registers.write(FaultReg::OFFSET, register);
        self.registers.write(Gen8FaultTlbData0::OFFSET, data0);
        self.registers.write(Gen8FaultTlbData1::OFFSET, data1);
    }
}

/// The engine that receives a signal; `None` for an engine that the model does not have.
pub fn target(target: Target) -> Option<EngineId> {
    match target {
        Target::RCS => Some(EngineId::Render),
        Target::VCS0 => Some(EngineId::Video),
        Target::BCS => Some(EngineId::Blitter),
        Target::VECS => Some(EngineId::VideoEnhance),
        _ => None,
    }
}
