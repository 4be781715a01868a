//! The 3D pipeline: one fixed function a file, named as the manual does.
//!
//! State packets are latched as they come ([`crate::machine::latched::Latched`]); a draw follows them once
//! and gives resolved state to the stages, which are functions from that state and a stream to a
//! stream. No stage reads a packet or a state address.
//!
//! 1. [`draw`] leads a draw through the stages; [`vf`] fetches vertices by their numbers,
//!    [`topology`] makes primitives of them;
//! 2. [`vs`] shades vertices; [`shader`] is what all stages with kernels have in common, [`vue`]
//!    what they hand on; [`geometry`] leads primitives through the stages behind: [`hs`], [`te`] and
//!    [`ds`] for patches, [`gs`] makes primitives of primitives, [`sol`] writes vertices to memory;
//! 3. [`raster_state`] has the state of what follows: [`clip`], [`viewport`], [`sf`], [`points_lines`];
//! 4. [`tiles`] of the screen get the primitives that touch them; [`raster`] finds the samples that
//!    are covered, [`multisample`] says where they are, [`interpolate`] the values there;
//! 5. [`sbe`] gives primitives the attributes that [`ps`] interpolates;
//! 6. [`wm`] leads subspans through tests, pixel shader and targets: [`depth`], [`stencil`],
//!    [`compare`], [`coverage`], [`merge`], [`blend`], [`logic_op`], [`render_target`] with its
//!    [`elements`] and auxiliary surfaces, [`aux_surface`]; [`hiz`] clears depth buffers;
//! 7. [`summary`] tells observers what a draw works with.

pub mod aux_surface;
pub mod blend;
pub mod clip;
pub mod compare;
pub mod coverage;
pub mod depth;
pub mod draw;
pub mod ds;
pub mod elements;
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
pub mod sf;
pub mod shader;
pub mod sol;
pub mod stage;
pub mod state;
pub mod stencil;
pub mod stipple;
pub mod te;
pub mod thin_line;
pub mod tiles;
pub mod topology;
pub mod vf;
pub mod vs;
pub mod vue;
pub mod wm;

use crate::machine::drawing;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use hiz::HzPackets;

/// 3DPRIMITIVE, of a topology that MI_TOPOLOGY_FILTER does not filter out.
///
/// # Errors
/// Any [`Fault`] of a thread, of memory, or of the state that the draw names.
pub fn primitive(exec: &mut Exec<'_>, packet: &ThreeDPrimitive) -> Result<(), Fault> {
    drawing::emit(exec, packet, false);
    draw::Draw::resolve(exec, packet)?.run(exec)?;
    drawing::emit(exec, packet, true);
    Ok(())
}

/// What the newest 3DSTATE_WM_HZ_OP asks for, which takes place with a PIPE_CONTROL that writes
/// (gen8_facts 8.2).
///
/// # Errors
/// As of [`hiz::run`].
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
