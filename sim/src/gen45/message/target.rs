//! Render target writes: their pixels and colours (003:4911-5246). The pipeline executes them.

use super::payload::Payload;
use super::port::Port;
use super::write::Write;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::gen45::debug::messages;
use crate::gen45::state::ADDRESSES;
use crate::machine::fault::Fault;
use crate::unit::render_cache::{self, SLOTS, Shape, Source};
use genxml::gen45::message_headers::{
    RenderTargetWriteMessageHeader as Header,
    RenderTargetWriteMessageHeaderFrontBackFacingPolygon as Facing,
};
use genxml::gen45::message_payloads::RenderTargetStencilAndAntialiasAlphaPayload as StencilPayload;
use genxml::gen45::messages::{RenderTargetWriteDescriptor, RenderTargetWriteType as Type};

/// Slots and colours of a message type; `None` for a reserved type.
fn shape(message_type: Type) -> Option<Shape> {
    Some(match message_type {
        Type::SIMD16 => Shape::new(16, 0),
        Type::SIMD16_REPDATA => Shape { replicated: true, ..Shape::new(16, 0) },
        Type::SIMD8_DUALSRC_LO => Shape { dual: true, ..Shape::new(8, 0) },
        Type::SIMD8_DUALSRC_HI => Shape { dual: true, ..Shape::new(8, 8) },
        Type::SIMD8_LO => Shape::new(8, 0),
        _ => return None,
    })
}

/// Decodes a render target write and appends it to [`super::Local::writes`].
///
/// # Errors
/// [`Fault::IllegalInstruction`] for a sender that is not a pixel shader, a reserved type, parts
/// that the type does not allow, and a length that does not fit the parts that the header names.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let payload = Payload::open_gen45(message, "a render target write");
    if !port.local.pixels {
        return Err(payload.illegal(port, "only pixel shaders have render targets"));
    }
    let flagged = messages::is_flagged(registers, payload.at(0));
    let constant = if flagged { messages::constant_color(port.exec) } else { None };
    match parse(registers, &payload, port.bindings.general_base) {
        Ok(write) => {
            port.local.writes.push(Write { constant, ..write });
            Ok(())
        }
        Err(why) => Err(payload.illegal(port, &why)),
    }
}

/// Decodes a render target write. The execution mask is ignored (003:4935).
fn parse(registers: &Registers, payload: &Payload<'_>, general: u64) -> Result<Write, String> {
    let descriptor = RenderTargetWriteDescriptor::unpack_lossy(&[payload.message.descriptor]);
    let Some(shape) = shape(descriptor.message_type) else {
        return Err(format!("type {} is reserved", descriptor.message_type.bits()));
    };
    if payload.sent() < 2 {
        return Err("a header has two registers".into());
    }
    let header = Header::unpack_lossy(&payload.dwords(registers, 0));
    let alpha = header.antialias_alpha_present_to_render_target;
    let stencil = header.destination_stencil_present_to_render_target;
    let source = header.source_depth_present_to_render_target;
    let destination = header.destination_depth_present_to_render_target;
    if destination && !source {
        return Err("destination depths without source depths (003:5006)".into());
    }
    if shape.replicated && (alpha || stencil || source || destination) {
        return Err(
            "a message with one colour for all pixels cannot have depth, stencil or antialias \
            alpha"
                .into(),
        );
    }
    if shape.dual && alpha {
        return Err("a message with two colours cannot have antialias alpha (003:4930)".into());
    }
    // The parts in order, each with its registers (003:5212-5246).
    let rows = shape.slots / 8;
    let colors = match (shape.replicated, shape.dual) {
        (true, _) => 1,
        (false, dual) => 4 * rows * (1 + usize::from(dual)),
    };
    let part = |present: bool, registers: usize| if present { registers } else { 0 };
    let needs =
        2 + part(alpha || stencil, 1) + colors + part(source, rows) + part(destination, rows);
    if payload.sent() != needs {
        return Err(format!(
            "{} registers, but its type and header (source depth {source}, destination depth \
             {destination}, stencil {stencil}, antialias alpha {alpha}) need {needs}",
            payload.sent()
        ));
    }

    let mut reader = Reader { registers, at: payload.at(2), shape };
    let tests = (alpha || stencil).then(|| reader.stencil());
    let (color, second) = if shape.replicated {
        (registers.dwords::<4>(reader.at).map(|value| [value; SLOTS]), None)
    } else {
        (reader.color(), shape.dual.then(|| reader.color()))
    };
    let depth = source.then(|| reader.slots().map(f32::from_bits));
    let destination_depth = destination.then(|| reader.slots());
    Ok(Write {
        base: render_cache::Write {
            binding: descriptor.binding_table_index.get() as u8,
            entry: 0,
            last: descriptor.last_render_target_select,
            upper: false,
            slots: shape.mask() as u16,
            mask: header.pixel_enables.get() as u16 & shape.mask() as u16,
            // Quads lie at even columns and rows.
            subspans: header
                .subspan
                .map(|subspan| [subspan.x.get() as u32 & !1, subspan.y.get() as u32 & !1]),
            slice: header.render_target_array_index.get() as u32,
            viewport: header.viewport_index.get() as u8,
            back: header.front_back_facing_polygon == Facing::BACK_FACING,
            color,
            second,
            alpha: None,
            omask: None,
            depth,
        },
        dispatched: header.dispatched_pixel_enables.get() as u16,
        clipped_out: header.clipped_out_mask.get() as u16,
        destination_depth,
        destination_stencil: tests
            .filter(|_| stencil)
            .map(|part| part.destination_stencil.map(|value| value.get() as u8)),
        antialias: tests
            .filter(|_| alpha)
            .map(|part| part.antialias_alpha.map(|value| value.bits() as u8)),
        color_calc: general.wrapping_add(header.color_calculator_state_pointer.get()) & ADDRESSES,
        eot: payload.message.eot,
        constant: None,
    })
}

/// Reads the parts of a message one after the other.
struct Reader<'r> {
    registers: &'r Registers,
    at: usize,
    shape: Shape,
}

impl Reader<'_> {
    fn stencil(&mut self) -> StencilPayload {
        let part = StencilPayload::unpack_lossy(&self.registers.dwords(self.at));
        self.at += REGISTER;
        part
    }

    /// A dword for each slot of the message. Other slots get 0.
    fn slots(&mut self) -> [u32; SLOTS] {
        let mut lanes = [0; SLOTS];
        let first = self.shape.first;
        for to in lanes[first..first + self.shape.slots].as_chunks_mut::<8>().0 {
            *to = self.registers.dwords(self.at);
            self.at += REGISTER;
        }
        lanes
    }

    /// Red, green, blue and alpha of eight slots, then of the next eight.
    fn color(&mut self) -> Source {
        let mut color = [[0; SLOTS]; 4];
        let first = self.shape.first;
        for row in 0..self.shape.slots / 8 {
            for channel in &mut color {
                let to = first + 8 * row;
                channel[to..to + 8].copy_from_slice(&self.registers.dwords::<8>(self.at));
                self.at += REGISTER;
            }
        }
        color
    }
}
