//! The state of a context that packets set for later packets.

use crate::machine::latched::LatchedOf;
use crate::machine::slots::UnitState;
use genxml::gen45::{LATCH_DWORDS, LATCH_SLOTS};

/// The bits of a graphics address. Sums of a base and an offset wrap at 32 bits.
pub const ADDRESSES: u64 = 0xffff_ffff;

impl UnitState for State {}

/// The newest packet of each latched type of the G45: attribute `latch` in `spec-xml/gen45`. The
/// entries of VERTEX_BUFFER_STATE are the structures of 3DSTATE_VERTEX_BUFFERS.
pub type Latched = LatchedOf<LATCH_DWORDS, LATCH_SLOTS>;

/// The state of a context that packets set for later packets, in `exec.state.slots`. Registers are
/// in `exec.state.registers`.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The newest packet of each latched type.
    pub latched: Latched,
    /// Base addresses and limits, from STATE_BASE_ADDRESS.
    pub base: Bases,
}

/// Base addresses and limits of STATE_BASE_ADDRESS. There is no instruction base: kernels are in
/// general state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bases {
    /// General State: states of units, kernels, samplers, constants, scratch space.
    pub general: u64,
    /// Surface State: binding tables and surface states.
    pub surface: u64,
    /// Indirect Object: indirect data of MEDIA_OBJECT.
    pub indirect: u64,
    /// First address after General State; 0 means no limit.
    pub general_bound: u64,
    /// First address after the indirect data; 0 means no limit.
    pub indirect_bound: u64,
}
