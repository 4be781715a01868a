//! The sampling engine: messages that read textures (003 chapter 4).
//!
//! * [`kinds`]: which message a type and a length mean, and its parameters;
//! * [`state`], [`views`]: the resolved surface and sampler;
//! * [`message`]: executes a message with the functions that all generations share
//!   ([`crate::unit::sampler`]); [`info`]: resinfo.

pub mod info;
pub mod kinds;
pub mod state;
pub mod views;

use super::payload::Payload;
use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::gen45::state::ADDRESSES;
use crate::machine::fault::Fault;
use crate::surface::format::{Class, Codec};
use crate::surface::{Dimension, SurfaceKind};
use crate::unit::sampler::View;
use crate::unit::sampler::payload::{Action, Request, Simd};
use crate::unit::sampler::{load, sample};
use genxml::gen45::message_headers::SamplerMessageHeader;
use genxml::gen45::messages::SamplerMessageDescriptor;
use kinds::{Form, MOST_TYPE};

/// Bytes of a sampler state.
const STATE: u64 = 16;

/// Executes a message to the sampler.
///
/// # Errors
/// Page faults at states and texels; [`Fault::IllegalInstruction`] for a type and length that mean
/// no message, for messages that the surface does not support, and for a message that ends its
/// thread; [`Fault::Unimplemented`] for messages whose type is not published (sample_unorm).
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = SamplerMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "a message to the sampler");
    let kind = descriptor.message_type.get();
    if message.eot {
        return Err(payload.illegal(port, "a thread cannot end with it (003:3920)"));
    }
    if kind > MOST_TYPE {
        let what = format!("sampler message type {kind}: sample_unorm has an unpublished type");
        return Err(port.missing(&what, message, "003:4065"));
    }
    let Some(Form { simd, kind, .. }) = Form::of(kind, payload.sent()) else {
        let why = format!("no message has type {kind} and {} registers", payload.sent());
        return Err(payload.illegal(port, &why));
    };
    let header = SamplerMessageHeader::unpack_lossy(&payload.dwords(registers, 0));
    let sent = payload.sent() - 1;
    let mut request = Request::plain(message, kind, *simd, payload.at(1), sent, payload.returned());
    let absent = [
        header.red_write_channel_mask,
        header.green_write_channel_mask,
        header.blue_write_channel_mask,
        header.alpha_write_channel_mask,
    ];
    if absent == [true; 4] {
        return Err(payload.illegal(port, "all four channels are masked (003:3975)"));
    }
    request.present = (0..4).fold(0, |mask, n| mask | u8::from(!absent[n]) << n);
    request.keeps_registers = *simd == Simd::Eight;
    request.zero_lod = header.force_lod_to_zero;
    request.offset = [header.u_offset, header.v_offset, header.r_offset].map(|n| n.get() as i32);
    let samples = matches!(kind.action, Action::Sample(_));
    let table = port.bindings.general_base.wrapping_add(header.sampler_state_pointer.get());
    let sampler =
        samples.then(|| table.wrapping_add(STATE * descriptor.sampler_index.get()) & ADDRESSES);
    let index = descriptor.binding_table_index.get() as u8;
    let view = port.bindings.view(port.exec, index, sampler)?;
    if let Some(why) = refused(view, kind.action) {
        let name = kind.name;
        return Err(payload.illegal(port, &format!("{name} of {why}, which it does not support")));
    }
    let vm = &port.exec.vm;
    let bytes = match kind.action {
        Action::Sample(how) => {
            sample::sample(view, vm, registers, &request, how).map(|done| done.bytes)
        }
        Action::Load => load::load(view, vm, registers, &request),
        _ => {
            info::size(view, registers, &request);
            Ok(0)
        }
    };
    payload.moved(port, false, bytes)
}

/// What the message does not support about the surface; `None` if it supports it.
fn refused(view: &View, action: Action) -> Option<&'static str> {
    let surface = &view.surface;
    let format = surface.codec.map(Codec::format)?;
    if surface.kind == SurfaceKind::Null {
        return None;
    }
    let samples = match action {
        Action::Sample(_) => true,
        Action::Load => false,
        _ => return None,
    };
    let unreadable = match format.class {
        // A buffer cannot have elements of less than a byte.
        Class::Channels if format.bits < 8 => surface.kind != SurfaceKind::Image,
        Class::Channels => !surface.codec.is_some_and(Codec::has_channels),
        // The only raw format that can be sampled has one bit. It is used with the filter MONO.
        Class::Raw => format.bits != 1 || !samples,
        _ => false,
    };
    if unreadable {
        Some(format.name)
    } else if samples && surface.kind != SurfaceKind::Image {
        Some("a buffer")
    } else if !samples && surface.layout.dimension == Dimension::Cube {
        Some("a cube map")
    } else {
        None
    }
}
