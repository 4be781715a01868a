//! The 3D pipeline of the G45: a file for each unit (gen45_facts 5 to 11).
//!
//! A draw resolves the states of the units once and passes them to the stages:
//! 1. [`draw`] takes a draw through the units; [`fetch`] reads vertices, [`objects`] makes objects
//!    of them, [`numbers`] numbers them for debugging; [`mod@unit`] is common to all units that run
//!    threads, [`common`] has small functions;
//! 2. [`vs`] shades vertices, [`gs`] makes polygons and lines of quads and other objects, [`clip`]
//!    clips; [`produced`] takes what their threads put out;
//! 3. [`raster_state`] is the state of the next stages; [`sf`] sets up primitives: its threads
//!    compute the planes of attributes;
//! 4. [`wm`] rasterises and runs pixel shaders, [`ps`] makes their payloads; [`early`] decides when
//!    depth and stencil are tested; [`output`] tests, blends and writes pixels; [`depth`] tests
//!    them in the [`depth_buffer`].

pub mod clip;
pub mod common;
pub mod depth;
pub mod depth_buffer;
pub mod draw;
pub mod early;
pub mod fetch;
pub mod gs;
pub mod numbers;
pub mod objects;
pub mod output;
pub mod produced;
pub mod ps;
pub mod raster_state;
pub mod sf;
pub mod unit;
pub mod vs;
pub mod wm;

use super::debug;
use crate::machine::drawing::Primitive;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen45::commands_3d::ThreeDPrimitive;

/// 3DPRIMITIVE: draws with the state that earlier packets set ([`super::state::State`]).
///
/// # Errors
/// Any [`Fault`] of a thread, of memory, or of the draw's state.
pub fn primitive(exec: &mut Exec<'_>, packet: &ThreeDPrimitive) -> Result<(), Fault> {
    let changed = match debug::enabled(&exec.state.registers) {
        false => None,
        true => match debug::fixed::topology(exec, packet) {
            Some(packet) => Some(packet),
            None => return Ok(()),
        },
    };
    let packet = changed.as_ref().unwrap_or(packet);
    exec.emit_draw(Primitive::Gen45(packet), false);
    draw::Draw::resolve(exec, packet)?.run(exec)?;
    exec.emit_draw(Primitive::Gen45(packet), true);
    Ok(())
}
