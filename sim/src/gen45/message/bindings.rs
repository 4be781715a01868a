//! Binding tables of G45: surfaces by index (003:3042-3332).

use super::surface;
use crate::gen45::state::ADDRESSES;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::bindings::Bound;
use crate::unit::by_index::ByIndex;
use crate::unit::sampler::Samplers;
use genxml::gen45::state_surface::{BindingTableState, SurfaceState};

/// Binding table index of a stateless message.
pub const STATELESS: u8 = 255;

/// Surfaces that the threads of one draw use. Each is resolved when a message first uses it.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    /// Surface State Base Address: offsets of surface states are relative to it.
    pub surface_base: u64,
    /// General State Base Address: pointers to samplers and scratch space are relative to it.
    pub general_base: u64,
    /// General State Access Upper Bound; 0 is no bound.
    pub general_bound: u64,
    /// Graphics address of the binding table.
    pub table: u64,
    surfaces: ByIndex<Bound>,
    /// Resolved pairs of a surface and a sampler.
    pub(super) samplers: Samplers,
}

impl Bindings {
    /// The binding table at the offset `table` from `surface_base`.
    pub fn new(surface_base: u64, table: u64, general_base: u64, general_bound: u64) -> Bindings {
        Bindings {
            surface_base,
            general_base,
            general_bound,
            table: surface_base.wrapping_add(table) & ADDRESSES,
            surfaces: ByIndex::default(),
            samplers: Samplers::new(general_base, 0),
        }
    }

    /// The surface of entry `index`.
    ///
    /// # Errors
    /// A page fault at the binding table or at the surface state, or a field of the surface state
    /// with an invalid value.
    #[inline]
    pub fn surface(&mut self, exec: &Exec<'_>, index: u8) -> Result<&Bound, Fault> {
        let number = match self.surfaces.number(index) {
            Some(number) => number,
            None => self.find(exec, index)?,
        };
        Ok(self.surfaces.get(number))
    }

    #[cold]
    fn find(&mut self, exec: &Exec<'_>, index: u8) -> Result<usize, Fault> {
        let state = self.state(exec, index)?;
        let surface = surface::resolve(&state).map_err(|bad| {
            let why = format!("binding table entry {index}: {}", bad.why);
            exec.bad_field(bad.field, bad.value, why)
        })?;
        let bound = Bound { surface, boundary: surface::boundary(&state) };
        Ok(self.surfaces.add(index, bound))
    }

    /// Copies the surfaces and the views that only `other` has resolved. `self` and `other` must
    /// refer to the same tables.
    pub fn merge(&mut self, other: &Bindings) {
        self.surfaces.merge(&other.surfaces);
        self.samplers.merge(&other.samplers);
    }

    /// Reads the surface state of entry `index` from memory.
    ///
    /// # Errors
    /// A page fault at the binding table or at the surface state.
    pub fn state(&self, exec: &Exec<'_>, index: u8) -> Result<SurfaceState, Fault> {
        let mut entry = [0u32; BindingTableState::DWORDS];
        let at = self.table.wrapping_add(4 * u64::from(index)) & ADDRESSES;
        exec.vm
            .read(at, bytemuck::must_cast_slice_mut(&mut entry))
            .map_err(|fault| exec.page(fault, format!("binding table entry {index}")))?;
        let pointer = BindingTableState::unpack_lossy(&entry).surface_state_pointer.get();
        let mut dwords = [0u32; SurfaceState::DWORDS];
        exec.vm
            .read(
                self.surface_base.wrapping_add(pointer) & ADDRESSES,
                bytemuck::must_cast_slice_mut(&mut dwords),
            )
            .map_err(|fault| {
                exec.page(fault, format!("surface state of binding table entry {index}"))
            })?;
        Ok(SurfaceState::unpack_lossy(&dwords))
    }
}
