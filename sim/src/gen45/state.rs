//! The state of a context that packets set for later packets.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::latched::LatchedOf;
use crate::machine::slots::UnitState;
use genxml::gen45::{LATCH_DWORDS, LATCH_SLOTS};
use genxml_core::latch::Latch;
use genxml_core::packet::{Dwords, Fixed};

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

/// The newest packet of a type; all zero if the context has not received one.
pub fn latched<T: Latch + Fixed>(exec: &Exec<'_>) -> T {
    exec.state.slots.with(|state: &State| state.latched.read(0))
}

/// Reads the state at an offset from General State Base Address.
///
/// # Errors
/// A page fault that names the state.
pub fn general<T: Fixed>(exec: &Exec<'_>, offset: u64) -> Result<T, Fault>
where
    T::Dwords: AsMut<[u32]>,
{
    let base = exec.state.slots.with(|state: &State| state.base.general);
    let mut dwords = T::Dwords::padded(&[]);
    exec.vm
        .read(base.wrapping_add(offset) & ADDRESSES, bytemuck::cast_slice_mut(dwords.as_mut()))
        .map_err(|fault| exec.page(fault, T::NAME))?;
    Ok(T::from_dwords_lossy(&dwords))
}
