//! Selects the function that executes a packet.

use super::flow::Flow;
use super::latch::LatchPacket;
use super::{
    atomic, counters, math, mi, predicate, quiet, render, resource_streamer, semaphore, status, urb,
};
use crate::blt;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::Changed;
use crate::vebox;
use crate::video;
use genxml::core::ParseError;
use genxml::core::reflect::Container;
use genxml::engine::EngineId;
use genxml::gen8::{BlitterPacket, RenderPacket, VideoEnhancePacket, VideoPacket};

/// The packet type that a header selects, and the packet's length in dwords. `None` if the engine
/// has no such packet.
pub type Find = fn(EngineId, u32) -> Option<(&'static Container, usize)>;

/// Executes one packet.
pub type Execute = fn(&mut Exec<'_>, &[u32]) -> Result<Flow, Fault>;

/// The packets of a generation.
#[derive(Clone, Copy, Debug)]
pub struct Commands {
    /// Finds the packet type of a header.
    pub find: Find,
    /// Executes a packet.
    pub execute: Execute,
}

/// The packets of Gen8.
impl Default for Commands {
    fn default() -> Self {
        Commands { find, execute }
    }
}

/// The [`Find`] of Gen8.
pub(super) fn find(engine: EngineId, header: u32) -> Option<(&'static Container, usize)> {
    match engine {
        EngineId::Render => RenderPacket::find(header).zip(RenderPacket::length(header)),
        EngineId::Blitter => BlitterPacket::find(header).zip(BlitterPacket::length(header)),
        EngineId::Video => VideoPacket::find(header).zip(VideoPacket::length(header)),
        EngineId::VideoEnhance => {
            VideoEnhancePacket::find(header).zip(VideoEnhancePacket::length(header))
        }
    }
}

impl From<()> for Flow {
    fn from((): ()) -> Flow {
        Flow::Next
    }
}

/// Parses a packet of an engine and executes it with the function that is listed for it. The macro
/// adds to the list the MI packets that all engines have. Packets after `quiet` have no effect. Any
/// other packet is stored if it is latched state; otherwise it is refused as not implemented.
/// `$changed` is what the packets between the last draw and this packet can have changed.
macro_rules! packets {
    ($exec:ident, $dwords:ident, $changed:ident: $packet:ident { $($name:ident => $execute:expr,)* } quiet $($quiet:ident)*) => {
        packets!(@arms $exec, $dwords, $changed: $packet {
            MiNoop => mi::noop,
            MiBatchBufferStart => mi::batch_buffer_start,
            MiBatchBufferEnd => mi::batch_buffer_end,
            MiConditionalBatchBufferEnd => mi::conditional_batch_buffer_end,
            MiStoreDataImm => mi::store_data_imm,
            MiStoreDataIndex => status::store_data_index,
            MiReportHead => status::report_head,
            MiLoadRegisterImm => mi::load_register_imm,
            MiLoadRegisterMem => mi::load_register_mem,
            MiLoadRegisterReg => mi::load_register_reg,
            MiStoreRegisterMem => mi::store_register_mem,
            MiCopyMemMem => mi::copy_mem_mem,
            MiUpdateGtt => mi::update_gtt,
            MiMath => math::math,
            MiAtomic => atomic::atomic,
            MiPredicate => predicate::predicate,
            MiSetPredicate => predicate::set_predicate,
            MiSemaphoreWait => semaphore::semaphore_wait,
            MiSemaphoreSignal => semaphore::semaphore_signal,
            MiUserInterrupt => mi::user_interrupt,
            MiArbCheck => mi::arb_check,
            MiArbOnOff => mi::arb_on_off,
            $($name => $execute,)*
        } quiet MiSuspendFlush MiSetAppid MiFlush $($quiet)*)
    };
    (@arms $exec:ident, $dwords:ident, $changed:ident: $packet:ident { $($name:ident => $execute:expr,)* } quiet $($quiet:ident)*) => {
        match $packet::parse($dwords).map_err(|error| malformed($exec, &error))?.0 {
            $($packet::$name(packet) => $execute($exec, &packet.unpack_lossy()).map(Flow::from),)*
            $($packet::$quiet(_) => Ok(quiet::without_effect($exec).into()),)*
            #[allow(unreachable_patterns)]
            packet => match packet.latch_packet($exec, $dwords)? {
                true => {
                    $exec.state.changed = $changed.max(packet.changes());
                    Ok(Flow::Next)
                }
                false => Err(not_implemented($exec, $dwords[0])),
            },
        }
    };
}

/// Executes one packet, unless MI_SET_PREDICATE skips it.
///
/// # Errors
/// The [`Fault`] of the packet.
pub(super) fn execute(exec: &mut Exec<'_>, dwords: &[u32]) -> Result<Flow, Fault> {
    if predicate::skips(exec) {
        return Ok(Flow::Next);
    }
    // By default, a packet counts as changing any state. Latched packets and draws can set a
    // smaller value after this.
    let changed = std::mem::replace(&mut exec.state.changed, Changed::Anything);
    let primitive = |exec: &mut Exec<'_>, packet: &_| render::primitive(exec, packet, changed);
    match exec.engine {
        EngineId::Render => packets!(exec, dwords, changed: RenderPacket {
            PipeControl => render::pipe_control,
            PipelineSelect => render::pipeline_select,
            StateBaseAddress => render::state_base_address,
            StateSip => render::state_sip,
            StatePrefetch => render::state_prefetch,
            MediaVfeState => crate::media::vfe_state,
            MediaCurbeLoad => render::media_curbe_load,
            MediaInterfaceDescriptorLoad => render::media_interface_descriptor_load,
            MediaStateFlush => crate::media::state_flush,
            MediaObject => crate::media::dispatch_object,
            MediaObjectGrpid => crate::media::dispatch_grpid,
            MediaObjectPrt => crate::media::dispatch_prt,
            MediaObjectWalker => crate::media::dispatch_object_walker,
            GpgpuWalker => render::gpgpu_walker,
            ThreeDPrimitive => primitive,
            MiReportPerfCount => counters::report_perf_count,
            MiRsStoreDataImm => resource_streamer::store_data_imm,
            MiRsControl => resource_streamer::control,
            MiRsContext => resource_streamer::context,
            ThreeDStateBindingTableEditVs => resource_streamer::edit_vs,
            ThreeDStateBindingTableEditHs => resource_streamer::edit_hs,
            ThreeDStateBindingTableEditDs => resource_streamer::edit_ds,
            ThreeDStateBindingTableEditGs => resource_streamer::edit_gs,
            ThreeDStateBindingTableEditPs => resource_streamer::edit_ps,
            ThreeDStateDx9ConstantfVs => resource_streamer::floats_vs,
            ThreeDStateDx9ConstantfPs => resource_streamer::floats_ps,
            ThreeDStateDx9ConstantiVs => resource_streamer::integers_vs,
            ThreeDStateDx9ConstantiPs => resource_streamer::integers_ps,
            ThreeDStateDx9ConstantbVs => resource_streamer::booleans_vs,
            ThreeDStateDx9ConstantbPs => resource_streamer::booleans_ps,
            ThreeDStateDx9LocalValidVs => resource_streamer::valid_vs,
            ThreeDStateDx9LocalValidPs => resource_streamer::valid_ps,
            ThreeDStateDx9GenerateActiveVs => resource_streamer::generate_vs,
            ThreeDStateDx9GenerateActivePs => resource_streamer::generate_ps,
            MiUrbClear => urb::urb_clear,
            MiLoadUrbMem => urb::load_urb_mem,
            MiStoreUrbMem => urb::store_urb_mem,
            MiDisplayFlip => quiet::display_flip,
            MiSetContext => mi::set_context,
        } quiet MiWaitForEvent MiLoadScanLinesIncl MiLoadScanLinesExcl MiClflush),
        EngineId::Blitter => packets!(exec, dwords, changed: BlitterPacket {
            MiFlushDw => mi::flush_dw,
            XySetupBlt => blt::setup,
            XySetupClipBlt => blt::setup_clip,
            XySetupMonoPatternSlBlt => blt::setup_mono_pattern,
            XyPixelBlt => blt::draw,
            XyScanlinesBlt => blt::draw,
            XyTextBlt => blt::draw,
            XyTextImmediateBlt => blt::draw,
            ColorBlt => blt::draw,
            SrcCopyBlt => blt::draw,
            XyColorBlt => blt::draw,
            XyPatBlt => blt::draw,
            XyPatBltImmediate => blt::draw,
            XyPatChromaBlt => blt::draw,
            XyPatChromaBltImmediate => blt::draw,
            XyMonoPatBlt => blt::draw,
            XyMonoPatFixedBlt => blt::draw,
            XySrcCopyBlt => blt::draw,
            XySrcCopyChromaBlt => blt::draw,
            XyMonoSrcCopyBlt => blt::draw,
            XyMonoSrcCopyImmediateBlt => blt::draw,
            XyFullBlt => blt::draw,
            XyFullImmediatePatternBlt => blt::draw,
            XyFullMonoSrcBlt => blt::draw,
            XyFullMonoSrcImmediatePatternBlt => blt::draw,
            XyFullMonoPatternBlt => blt::draw,
            XyFullMonoPatternMonoSrcBlt => blt::draw,
            MiDisplayFlip => quiet::display_flip,
        } quiet MiWaitForEvent),
        EngineId::Video => {
            video::before(exec, dwords)?;
            packets!(exec, dwords, changed: VideoPacket {
                MiFlushDw => mi::flush_dw,
                MfxPipeModeSelect => video::pipe_mode_select,
                MfxWait => video::wait,
                MfdAvcBsdObject => video::avc::object,
                MfdJpegBsdObject => video::jpeg::object,
                MfdMpeg2BsdObject => video::mpeg2::object,
                MfdVc1BsdObject => video::vc1::object,
                MfdVp8BsdObject => video::vp8::object,
                MfdItObject => video::it::object,
                MfxPakInsertObject => video::encode::insert,
                MfcAvcPakObject => video::encode::avc::object,
                MfcMpeg2PakObject => video::encode::mpeg2::object,
            } quiet)
        }
        EngineId::VideoEnhance => packets!(exec, dwords, changed: VideoEnhancePacket {
            MiFlushDw => mi::flush_dw,
            VebDiIecp => vebox::di_iecp,
        } quiet),
    }
}

/// The fault for a packet that the specification has and the model does not implement.
#[cold]
fn not_implemented(exec: &Exec<'_>, header: u32) -> Fault {
    let source = find(exec.engine, header).map_or("", |(container, _)| container.source);
    exec.unimplemented(exec.at.packet, source)
}

/// The fault for a packet whose dwords cannot be parsed.
#[cold]
pub fn malformed(exec: &Exec<'_>, error: &ParseError) -> Fault {
    Fault::Malformed { why: error.to_string().into(), at: exec.at }
}
