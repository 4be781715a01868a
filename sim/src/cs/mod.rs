//! The command streamer: fetches packets of a batch and has them executed, one after the other.
//!
//! * [`run`]: the fetch loop, with the levels of batches;
//! * [`mi`]: commands of the streamer itself, the same on every engine; [`math`]: MI_MATH; [`atomic`]: MI_ATOMIC;
//! * [`render`]: PIPE_CONTROL, state and media commands of the render engine; [`latch`]: 3D state.
//!
//! Levels (gen8_facts 2.1): a submission is a first-level batch. MI_BATCH_BUFFER_START for the first level replaces
//! it; for the second level it is a call, and there is no deeper level: inside a second-level batch it is a jump that
//! still returns to the first level. MI_BATCH_BUFFER_END goes back one level, from the first to the ring.

pub mod atomic;
pub mod latch;
pub mod math;
pub mod mi;
pub mod render;
#[cfg(test)]
mod tests;

use crate::blt;
use crate::context::Exec;
use crate::fault::{Fault, Place};
use crate::mem::ADDRESS_MASK;
use crate::observe::{Event, Observer};
use crate::watchdog;
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
    /// Nothing: the submission is over.
    End,
}

/// A batch being executed.
#[derive(Clone, Copy, Debug)]
struct Batch {
    /// Address of its first packet.
    start: u64,
    /// Address of the next packet.
    next: u64,
    /// Where it ends even without MI_BATCH_BUFFER_END.
    end: Option<u64>,
}

impl Batch {
    fn new(address: u64) -> Self {
        let address = address & ADDRESS_MASK & !3;
        Batch { start: address, next: address, end: None }
    }
}

/// Runs the batch at `address` on an engine.
///
/// `length` in bytes is what the driver told the kernel. Hardware never sees it: a batch ends at its
/// MI_BATCH_BUFFER_END, and that is the rule here as well; 0 says nothing more. Another length is a promise that the
/// batch does not go on behind it, and ends a batch that has no MI_BATCH_BUFFER_END by then. It holds for this batch,
/// not for those that it starts.
///
/// # Errors
/// The first [`Fault`] of a packet, or of fetching one.
pub fn run<O: Observer>(
    exec: &mut Exec<'_, O>,
    engine: EngineId,
    address: u64,
    length: u64,
) -> Result<(), Fault> {
    let mut batch = Batch::new(address);
    batch.end = (length != 0).then(|| (batch.start + (length & !3)).min(ADDRESS_MASK + 1));
    let mut caller = None;
    let mut dwords = Vec::new();
    exec.stats.batches += 1;
    loop {
        if batch.end == Some(batch.next) {
            let Some(first_level) = caller.take() else { return Ok(()) };
            batch = first_level;
            continue;
        }
        fetch(exec, engine, &batch, &mut dwords)?;
        exec.tell(&Event::Packet { at: exec.at, dwords: &dwords });
        exec.stats.packets += 1;
        let flow = execute(exec, engine, &dwords)?;
        batch.next = (batch.next + 4 * dwords.len() as u64) & ADDRESS_MASK;
        match flow {
            Flow::Next => {}
            Flow::Chain(address) => {
                if caller.is_some() {
                    return Err(exec.unimplemented(
                        "a first-level MI_BATCH_BUFFER_START inside a second-level batch",
                        "no source says where it returns to",
                    ));
                }
                batch = Batch::new(address);
                exec.stats.batches += 1;
            }
            Flow::Call(address) => {
                caller.get_or_insert(batch);
                batch = Batch::new(address);
                exec.stats.batches += 1;
            }
            Flow::Return => match caller.take() {
                Some(first_level) => batch = first_level,
                None => return Ok(()),
            },
            // From the second level it ends the first as well (gen8_facts 2.1).
            Flow::End => return Ok(()),
        }
    }
}

/// Reads the next packet of `batch` into `dwords`, and says in `exec.at` which one it is.
fn fetch<O: Observer>(
    exec: &mut Exec<'_, O>,
    engine: EngineId,
    batch: &Batch,
    dwords: &mut Vec<u32>,
) -> Result<(), Fault> {
    exec.at = Place::new(engine, "batch", batch.next, batch.start);
    exec.spend(watchdog::PACKET)?;
    let header = exec.vm.read_u32(batch.next).map_err(|fault| exec.page(fault, "packet header"))?;
    let Some((container, length)) = find(engine, header) else {
        return Err(Fault::UnknownPacket { header, engine: engine.name(), at: exec.at });
    };
    exec.at.packet = container.name;
    if let Some(end) = batch.end {
        let available = ((end - batch.next) / 4) as usize;
        if length > available {
            return Err(Fault::Truncated { needed: length, available, at: exec.at });
        }
    }
    exec.spend(length as u64)?;
    dwords.clear();
    dwords.push(header);
    for index in 1..length as u64 {
        let address = batch.next + 4 * index;
        dwords.push(exec.vm.read_u32(address).map_err(|fault| exec.page(fault, "rest of the packet"))?);
    }
    Ok(())
}

/// The packet of a header and its length in dwords.
fn find(engine: EngineId, header: u32) -> Option<(&'static Container, usize)> {
    match engine {
        EngineId::Render => RenderPacket::find(header).zip(RenderPacket::length(header)),
        EngineId::Blitter => BlitterPacket::find(header).zip(BlitterPacket::length(header)),
        EngineId::Video => VideoPacket::find(header).zip(VideoPacket::length(header)),
        EngineId::VideoEnhance => VideoEnhancePacket::find(header).zip(VideoEnhancePacket::length(header)),
    }
}

/// Packets of an engine: those of the command streamer and the ones listed; all others are not implemented.
macro_rules! packets {
    ($exec:ident, $engine:ident, $dwords:ident: $packet:ident { $($name:ident => $execute:expr,)* }) => {
        match $packet::parse($dwords).map_err(|error| malformed($exec, &error))?.0 {
            $packet::MiNoop(packet) => mi::noop($exec, $engine, &packet.unpack_lossy()),
            $packet::MiBatchBufferStart(packet) => return mi::batch_buffer_start($exec, $engine, &packet.unpack_lossy()),
            $packet::MiBatchBufferEnd(_) => return Ok(Flow::Return),
            $packet::MiStoreDataImm(packet) => mi::store_data_imm($exec, &packet.unpack_lossy()),
            $packet::MiLoadRegisterImm(packet) => mi::load_register_imm($exec, &packet.unpack_lossy()),
            $packet::MiLoadRegisterMem(packet) => mi::load_register_mem($exec, &packet.unpack_lossy()),
            $packet::MiLoadRegisterReg(packet) => mi::load_register_reg($exec, &packet.unpack_lossy()),
            $packet::MiStoreRegisterMem(packet) => mi::store_register_mem($exec, $engine, &packet.unpack_lossy()),
            $packet::MiCopyMemMem(packet) => mi::copy_mem_mem($exec, &packet.unpack_lossy()),
            $packet::MiMath(packet) => math::math($exec, $engine, &packet.unpack_lossy()),
            $packet::MiPredicate(packet) => mi::set_predicate_result($exec, $engine, &packet.unpack_lossy()),
            $packet::MiSemaphoreWait(packet) => mi::semaphore_wait($exec, &packet.unpack_lossy()),
            $packet::MiAtomic(packet) => atomic::atomic($exec, $engine, &packet.unpack_lossy()),
            $packet::MiConditionalBatchBufferEnd(packet) => {
                return mi::conditional_batch_buffer_end($exec, &packet.unpack_lossy());
            }
            // Points of preemption and of waiting for flushes: one submission runs at a time, in order. Nobody
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
            _ => Err(not_implemented($exec, $engine, $dwords[0])),
        }
    };
}

/// Executes one packet.
fn execute<O: Observer>(exec: &mut Exec<'_, O>, engine: EngineId, dwords: &[u32]) -> Result<Flow, Fault> {
    match engine {
        EngineId::Render => packets!(exec, engine, dwords: RenderPacket {
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
        EngineId::Blitter => packets!(exec, engine, dwords: BlitterPacket {
            MiFlushDw => mi::flush_dw,
            XySetupBlt => blt::setup,
            XySetupClipBlt => blt::setup_clip,
            XyColorBlt => blt::color,
            XySrcCopyBlt => blt::src_copy,
        }),
        EngineId::Video => packets!(exec, engine, dwords: VideoPacket { MiFlushDw => mi::flush_dw, }),
        EngineId::VideoEnhance => {
            packets!(exec, engine, dwords: VideoEnhancePacket { MiFlushDw => mi::flush_dw, })
        }
    }?;
    Ok(Flow::Next)
}

/// A packet that the tables know and the model does not.
#[cold]
fn not_implemented<O: Observer>(exec: &Exec<'_, O>, engine: EngineId, header: u32) -> Fault {
    let source = find(engine, header).map_or("", |(container, _)| container.source);
    exec.unimplemented(exec.at.packet, source)
}

/// A packet whose dwords are not in order.
#[cold]
fn malformed<O: Observer>(exec: &Exec<'_, O>, error: &ParseError) -> Fault {
    Fault::Malformed { why: error.to_string().into(), at: exec.at }
}
