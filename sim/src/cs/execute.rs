//! From dwords to the function that executes a packet.

use super::semaphore::Wait;
use super::{atomic, latch, math, mi, predicate, render, semaphore};
use crate::blt;
use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::core::ParseError;
use genxml::core::reflect::Container;
use genxml::engine::EngineId;
use genxml::gen8::{BlitterPacket, RenderPacket, VideoEnhancePacket, VideoPacket};

/// What comes after a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The packet behind it.
    Next,
    /// Another batch of the first level; nothing returns.
    Chain(u64),
    /// Another batch of the second level.
    Call(u64),
    /// What called this batch.
    Return,
    /// Nothing: the batch is over, and the one that called it.
    End,
    /// The packet behind it, once this has passed.
    Wait(Wait),
}

/// The packet of a header and its length in dwords.
pub(super) fn find(engine: EngineId, header: u32) -> Option<(&'static Container, usize)> {
    match engine {
        EngineId::Render => RenderPacket::find(header).zip(RenderPacket::length(header)),
        EngineId::Blitter => BlitterPacket::find(header).zip(BlitterPacket::length(header)),
        EngineId::Video => VideoPacket::find(header).zip(VideoPacket::length(header)),
        EngineId::VideoEnhance => VideoEnhancePacket::find(header).zip(VideoEnhancePacket::length(header)),
    }
}

/// Packets of an engine: those of the command streamer and the ones listed; all others are not implemented.
macro_rules! packets {
    ($exec:ident, $dwords:ident: $packet:ident { $($name:ident => $execute:expr,)* }) => {
        match $packet::parse($dwords).map_err(|error| malformed($exec, &error))?.0 {
            $packet::MiNoop(packet) => mi::noop($exec, &packet.unpack_lossy()),
            $packet::MiBatchBufferStart(packet) => return mi::batch_buffer_start($exec, &packet.unpack_lossy()),
            $packet::MiBatchBufferEnd(_) => return Ok(Flow::Return),
            $packet::MiStoreDataImm(packet) => mi::store_data_imm($exec, &packet.unpack_lossy()),
            $packet::MiLoadRegisterImm(packet) => mi::load_register_imm($exec, &packet.unpack_lossy()),
            $packet::MiLoadRegisterMem(packet) => mi::load_register_mem($exec, &packet.unpack_lossy()),
            $packet::MiLoadRegisterReg(packet) => mi::load_register_reg($exec, &packet.unpack_lossy()),
            $packet::MiStoreRegisterMem(packet) => mi::store_register_mem($exec, &packet.unpack_lossy()),
            $packet::MiCopyMemMem(packet) => mi::copy_mem_mem($exec, &packet.unpack_lossy()),
            $packet::MiMath(packet) => math::math($exec, &packet.unpack_lossy()),
            $packet::MiPredicate(packet) => predicate::predicate($exec, &packet.unpack_lossy()),
            $packet::MiSemaphoreWait(packet) => {
                return semaphore::semaphore_wait($exec, &packet.unpack_lossy());
            }
            $packet::MiAtomic(packet) => atomic::atomic($exec, &packet.unpack_lossy()),
            $packet::MiConditionalBatchBufferEnd(packet) => {
                return mi::conditional_batch_buffer_end($exec, &packet.unpack_lossy());
            }
            // Points of preemption and of waiting for flushes: packets are executed in order, each to its end. Nobody
            // listens to the interrupt, or waits for the signal.
            $packet::MiSemaphoreSignal(_)
            | $packet::MiArbCheck(_)
            | $packet::MiArbOnOff(_)
            | $packet::MiSuspendFlush(_)
            | $packet::MiUserInterrupt(_) => Ok(()),
            $($packet::$name(packet) => $execute($exec, &packet.unpack_lossy()),)*
            #[allow(unreachable_patterns)]
            _ if latch::latch($exec, $dwords)? => Ok(()),
            #[allow(unreachable_patterns)]
            _ => Err(not_implemented($exec, $dwords[0])),
        }
    };
}

/// Executes one packet.
///
/// # Errors
/// Its [`Fault`].
pub(super) fn execute<O: Observer>(exec: &mut Exec<'_, O>, dwords: &[u32]) -> Result<Flow, Fault> {
    match exec.engine {
        EngineId::Render => packets!(exec, dwords: RenderPacket {
            PipeControl => render::pipe_control,
            PipelineSelect => render::pipeline_select,
            StateBaseAddress => render::state_base_address,
            StateSip => render::state_sip,
            StatePrefetch => render::state_prefetch,
            MediaVfeState => render::media_vfe_state,
            MediaCurbeLoad => render::media_curbe_load,
            MediaInterfaceDescriptorLoad => render::media_interface_descriptor_load,
            MediaStateFlush => render::media_state_flush,
            MediaObject => crate::media::dispatch_object,
            GpgpuWalker => render::gpgpu_walker,
        }),
        EngineId::Blitter => packets!(exec, dwords: BlitterPacket {
            MiFlushDw => mi::flush_dw,
            XySetupBlt => blt::setup,
            XySetupClipBlt => blt::setup_clip,
            XyColorBlt => blt::color,
            XySrcCopyBlt => blt::src_copy,
        }),
        EngineId::Video => packets!(exec, dwords: VideoPacket { MiFlushDw => mi::flush_dw, }),
        EngineId::VideoEnhance => packets!(exec, dwords: VideoEnhancePacket { MiFlushDw => mi::flush_dw, }),
    }?;
    Ok(Flow::Next)
}

/// A packet that the tables know and the model does not.
#[cold]
fn not_implemented<O: Observer>(exec: &Exec<'_, O>, header: u32) -> Fault {
    let source = find(exec.engine, header).map_or("", |(container, _)| container.source);
    exec.unimplemented(exec.at.packet, source)
}

/// A packet whose dwords are not in order.
#[cold]
fn malformed<O: Observer>(exec: &Exec<'_, O>, error: &ParseError) -> Fault {
    Fault::Malformed { why: error.to_string().into(), at: exec.at }
}
