//! State of a context that batches leave and later ones use.

use super::bases::Bases;
use super::draw_state::DrawState;
use super::effects::STAGES;
use super::registers::Registers;
use super::stage::Stage;

/// State of a context that batches leave and later ones use.
#[derive(Debug, Clone, Default)]
pub struct State {
    pub(super) bases: Bases,
    pub(super) stages: [Stage; STAGES.len()],
    /// Blending of all targets: offset from the dynamic state base.
    pub(super) blend: Option<u64>,
    pub(super) draw: DrawState,
    pub(super) registers: Registers,
}
