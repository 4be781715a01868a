//! State of a context that persists from one batch to the next.

use super::bases::Bases;
use super::coded::Coded;
use super::draw_state::DrawState;
use super::effects::STAGES;
use super::registers::Registers;
use super::stage::Stage;

/// State of a context that persists from one batch to the next.
#[derive(Debug, Clone, Default)]
pub struct State {
    pub(super) bases: Bases,
    pub(super) stages: [Stage; STAGES.len()],
    /// Offset of the blend state of all targets from Dynamic State Base Address.
    pub(super) blend: Option<u64>,
    pub(super) draw: DrawState,
    pub(super) coded: Coded,
    pub(super) registers: Registers,
}
