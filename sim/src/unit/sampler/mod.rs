//! The sampling engine: messages that read textures (gen8_facts 4.2 and 11, 003 chapter 4).
//!
//! A message selects a surface by binding table index and a sampler by number. Both are resolved
//! once, to a [`View`]. The modules in the order in which a sample passes through them:
//!
//! * [`kinds`], [`payload`]: kinds of messages, the registers of their parameters, and their
//!   responses;
//! * [`samplers`], [`views`], [`view`], [`state`], [`border`], [`key`], [`palette`]: the resolved
//!   surface and sampler;
//! * [`point`], [`cube`]: coordinates, layer and face of a lane;
//! * [`levels`], [`lod`]: level of detail, and the mip levels that it selects;
//! * [`footprint`], [`address`]: the texels of a level and their weights;
//! * [`texels`]: reads texels from memory;
//! * [`fast_path`], [`fast_sample`]: all these steps in one, for textures with 8 bits in each
//!   channel;
//! * [`rows`], [`plain`], [`vector`]: the same for all lanes of a group together, also for other
//!   textures;
//! * [`mod@sample`], [`gather`], [`load`], [`info`], [`mono`]: the results of each kind of message;
//! * [`media`]: the messages that sample a block of pixels.

pub mod address;
pub mod border;
pub mod cube;
pub mod fast_path;
pub mod fast_sample;
pub mod footprint;
pub mod gather;
pub mod info;
pub mod key;
pub mod kinds;
pub mod levels;
pub mod load;
pub mod lod;
pub mod media;
pub mod mono;
pub mod palette;
pub mod payload;
pub mod plain;
pub mod point;
pub mod rows;
pub mod sample;
pub mod samplers;
pub mod state;
#[cfg(test)]
mod tests;
pub mod texels;
pub mod vector;
pub mod vector_state;
pub mod view;
pub mod views;

pub use palette::Palettes;
pub use samplers::Samplers;
pub use view::View;

use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::mem::PageFault;
use crate::surface::SurfaceKind;
use crate::surface::format::{Class, Codec};
use crate::unit::bindings::FIRST_SPECIAL_INDEX;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::gen8::messages::{
    MessageDescriptorSamplingEngine,
    MessageDescriptorSamplingEngineMessageType as SamplerMessageType,
};
use genxml::gen8::state::RenderSurfaceStateView;
use payload::{Action, Kind, Request, Sample, Simd};
use samplers::Known;

/// The message type of a cache flush. In the modes SIMD32 and SIMD64, its number is the one that
/// means `ld2dss` in the other modes (gen8_facts 4.2).
const CACHE_FLUSH: SamplerMessageType = SamplerMessageType::LD2DSS;

/// Executes a message to the sampler.
///
/// # Errors
/// Page faults at states and texels; [`Fault::IllegalInstruction`] for messages that the surface
/// does not support and for reserved types; [`Fault::Unimplemented`] for some media messages.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = MessageDescriptorSamplingEngine::unpack_lossy(&[message.descriptor]);
    if let Some(known) = port.bindings.samplers.known(message.descriptor) {
        let [sent, returned] = known.lengths;
        let body = message.payload;
        let request = Request::plain(message, known.kind, known.simd, body, sent, returned);
        count(port, &request);
        return filtered(port, registers, &request, known.sample, known.view);
    }
    let Some(simd) = Simd::of(descriptor.simd_mode_1_0) else {
        if descriptor.message_type == CACHE_FLUSH {
            // Compilers use the response only to wait for the end of the flush.
            return Payload::open(message, "a cache flush").acknowledge(port, registers, 1);
        }
        return media::message(port, registers, message, &descriptor);
    };
    let Some(kind) = Kind::of(descriptor.message_type) else {
        let bits = descriptor.message_type.bits();
        return Err(
            port.illegal(format!("sampler message {bits:#x}: the type is reserved"), message)
        );
    };
    let request = Request::open(port, registers, message, kind, simd)?;
    let index = descriptor.binding_table_index.get() as u8;
    if index >= FIRST_SPECIAL_INDEX {
        return Err(request
            .illegal(port, &format!("of binding table index {index}, which is not a surface")));
    }
    let sampler = match kind.action {
        Action::Sample(_) | Action::Gather { .. } | Action::Lod => {
            Some(port.bindings.samplers.address(request.samplers, descriptor.sampler_index.get()))
        }
        _ => None,
    };
    if !matches!(kind.action, Action::Lod | Action::SurfaceInfo | Action::SampleInfo) {
        count(port, &request);
    }
    let number = port.bindings.view_number(port.exec, index, sampler)?;
    let view = port.bindings.samplers.get(number);
    if let Some(why) = refused(view, kind.action) {
        return Err(request.illegal(port, &why));
    }
    let vm = &port.exec.vm;
    let bytes = match kind.action {
        Action::Sample(sample) => {
            if !request.has_header() {
                let lengths = request.lengths();
                let descriptor = message.descriptor;
                let known = Known { descriptor, kind, sample, simd, lengths, view: number };
                port.bindings.samplers.remember(known);
            }
            return filtered(port, registers, &request, sample, number);
        }
        Action::Gather { compares } => gather::gather(view, vm, registers, &request, compares),
        Action::Load | Action::LoadSample | Action::LoadStored => {
            load::load(view, vm, registers, &request)
        }
        Action::LoadControl => load::load_control(view, vm, registers, &request),
        Action::Lod => {
            info::lod(view, registers, &request);
            Ok(0)
        }
        Action::SurfaceInfo => {
            info::size(view, registers, &request);
            Ok(0)
        }
        Action::SampleInfo => {
            let palette_index = match port.bindings.state(port.exec, index)?.view {
                RenderSurfaceStateView::Image { multisample_position_palette_index, .. } => {
                    multisample_position_palette_index.get() as u32
                }
                RenderSurfaceStateView::Structured {} => 0,
            };
            let view = port.bindings.view(port.exec, index, sampler)?;
            info::samples(view, palette_index, registers, &request);
            Ok(0)
        }
    };
    finish(port, &request, bytes)
}

/// Counts the blocks of four lanes with an active lane.
#[inline(always)]
fn count(port: &mut Port<'_, '_>, request: &Request<'_>) {
    let blocks = (0..4).filter(|block| request.mask >> (4 * block) & 0xf != 0).count();
    port.exec.device.observed.add(Counter::Sampled, blocks as u64);
}

/// Executes a message that returns filtered texels. `view` is the number of its view.
#[inline]
fn filtered(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    request: &Request<'_>,
    sample: Sample,
    view: usize,
) -> Result<(), Fault> {
    let (view, vm) = (port.bindings.samplers.get(view), &port.exec.vm);
    let done = sample::sample(view, vm, registers, request, sample);
    finish(port, request, done.map(|done| done.bytes))
}

/// Ends a message. `bytes` is the number of bytes that it has read, or the page fault that it has
/// caused.
#[inline(always)]
fn finish(
    port: &mut Port<'_, '_>,
    request: &Request<'_>,
    bytes: Result<u64, PageFault>,
) -> Result<(), Fault> {
    // Uncovered pixels of a quad may be beyond the edges of surfaces.
    if let (Some(log), Some(covered)) = (port.exec.vm.log(), port.local.covered) {
        log.keep_outside(covered >> request.message().first);
    }
    request.read(port, bytes)
}

/// The reason why the surface does not support the message; `None` if it does.
#[inline]
fn refused(view: &View, action: Action) -> Option<String> {
    let surface = &view.surface;
    let format = surface.codec.map(Codec::format)?;
    if surface.kind == SurfaceKind::Null
        || matches!(action, Action::SurfaceInfo | Action::SampleInfo)
    {
        return None;
    }
    let texels = matches!(action, Action::Sample(_) | Action::Gather { .. } | Action::Lod);
    let unreadable = match format.class {
        // A buffer cannot have elements of less than a byte.
        Class::Channels if format.bits < 8 => surface.kind != SurfaceKind::Image,
        Class::Channels => !surface.codec.is_some_and(Codec::has_channels),
        // The only raw format that can be sampled has one bit. It is used with the filter MONO.
        Class::Raw => format.bits != 1 || !texels,
        _ => false,
    };
    let why = if unreadable && action != Action::LoadControl {
        format.name
    } else if texels && surface.kind != SurfaceKind::Image {
        "a buffer"
    } else if texels && surface.layout.samples > 1 {
        "a surface with several samples"
    } else if surface.kind == SurfaceKind::Structured {
        "a structured buffer"
    } else {
        return None;
    };
    Some(format!("of {why}, which it does not support"))
}
