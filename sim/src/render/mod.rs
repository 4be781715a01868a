//! The 3D pipeline: one file for each fixed function, with the manual's name.
//!
//! State packets are latched when they are parsed ([`crate::machine::latched::Latched`]). A draw
//! resolves them once and passes the resolved state to the stages. A stage is a function from this
//! state and an input stream to an output stream. It does not read packets while it runs. Surface
//! and sampler states are read when a message first uses them.
//!
//! 1. [`draw`] takes a draw through the stages, a [`vertex_batch`] at a time; [`front`] runs the
//!    stages up to setup, also on several host threads; [`vf`] fetches vertices by number,
//!    [`topology`] makes primitives from them;
//! 2. [`vs`] shades vertices; [`stage`] and [`shader`] are common to all stages with kernels,
//!    [`vue`] holds the vertices between stages; [`geometry`] takes primitives through the next
//!    stages: [`hs`], [`te`] and [`ds`] for patches, [`gs`] makes primitives from primitives,
//!    [`sol`] writes vertices to memory;
//! 3. [`raster_state`] is the state of the next stages: [`clip`] and [`sf`] (setup), which makes
//!    [`primitives`], with [`points_lines`], [`thin_line`] and [`stipple`];
//! 4. [`tiles`] of the screen collect the primitives that touch them; [`crate::pixel`] finds the
//!    covered samples and the values there;
//! 5. [`sbe`] sets up the attributes that [`ps`] interpolates;
//! 6. [`wm`] takes subspans through tests, pixel shader and targets: [`depth`], [`stencil`],
//!    [`compare`], [`coverage`], [`merge`], [`blend`], [`logic_op`], [`render_target`],
//!    [`elements`] (copies of elements), [`aux_surface`] (auxiliary surfaces); [`turn`] is for
//!    rotated targets, [`yuv_target`] for targets with a YUV format; [`hiz`] clears depth and
//!    stencil buffers.

pub mod aux_surface;
pub mod blend;
pub mod clip;
pub mod compare;
pub mod constant_buffers;
pub mod coverage;
pub mod depth;
pub mod draw;
pub mod ds;
pub mod elements;
pub mod front;
pub mod geometry;
pub mod gs;
pub mod hiz;
pub mod hs;
pub mod logic_op;
pub mod merge;
pub mod points_lines;
pub mod primitives;
pub mod ps;
pub mod raster_state;
pub mod render_target;
pub mod sbe;
pub mod screen_vertices;
pub mod sf;
pub mod shader;
pub mod sol;
pub mod stage;
pub mod state;
pub mod stencil;
pub mod stipple;
mod strip;
pub mod te;
pub mod thin_line;
pub mod tiles;
pub mod topology;
pub mod turn;
pub mod vertex_batch;
pub mod vf;
pub mod vs;
pub mod vue;
pub mod wm;
pub mod yuv_target;

use crate::machine::drawing::Primitive;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::state::Changed;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use hiz::HzPackets;

/// Executes 3DPRIMITIVE. The caller has checked MI_TOPOLOGY_FILTER. `changed` is what the packets
/// since the last draw can have changed.
///
/// # Errors
/// Any [`Fault`] of a thread, of memory, or of the draw's state.
pub fn primitive(
    exec: &mut Exec<'_>,
    packet: &ThreeDPrimitive,
    changed: Changed,
) -> Result<(), Fault> {
    exec.emit_draw(Primitive::Gen8(packet), false);
    draw::run(exec, packet, changed)?;
    exec.emit_draw(Primitive::Gen8(packet), true);
    Ok(())
}

/// Executes the newest 3DSTATE_WM_HZ_OP. Call at a PIPE_CONTROL with a post-sync operation
/// (gen8_facts 8.2).
///
/// # Errors
/// As [`hiz::run`].
pub fn clear_depth(exec: &mut Exec<'_>) -> Result<(), Fault> {
    let operation = state::packet(exec);
    let packets = HzPackets {
        operation: &operation,
        depth: &state::packet(exec),
        stencil: &state::packet(exec),
        clear: &state::packet(exec),
    };
    if packets.asks() { hiz::run(exec, &packets) } else { Ok(()) }
}
