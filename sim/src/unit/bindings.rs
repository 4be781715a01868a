//! Binding tables: surfaces by index.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::surface::Surface;
use crate::unit::Samplers;
use genxml::gen8::state::{
    BindingTableState, RenderSurfaceState, RenderSurfaceStateMediaBoundaryPixelMode,
};

/// A surface as a binding table names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Where it lies.
    pub surface: Surface,
    /// What reads above and below it return.
    pub boundary: RenderSurfaceStateMediaBoundaryPixelMode,
}

/// The surfaces of the threads of one packet, looked up when a message first names them.
#[derive(Clone, Debug)]
pub struct Bindings {
    /// Graphics address that surface state offsets count from.
    pub base: u64,
    /// Graphics address of the binding table.
    pub table: u64,
    /// By index: place in `found` and one more, or 0.
    places: [u16; 256],
    found: Vec<Bound>,
    /// The samplers that messages name beside surfaces.
    pub samplers: Samplers,
}

impl Default for Bindings {
    fn default() -> Bindings {
        Bindings::new(0, 0)
    }
}

impl Bindings {
    /// A binding table at `table`, pointing to surface states relative to `base`.
    pub fn new(base: u64, table: u64) -> Bindings {
        Bindings { base, table, places: [0; 256], found: Vec::new(), samplers: Samplers::default() }
    }

    /// The same with samplers.
    #[must_use]
    pub fn with_samplers(self, samplers: Samplers) -> Bindings {
        Bindings { samplers, ..self }
    }

    /// The surface of entry `index`.
    ///
    /// # Errors
    /// A page fault on the way to it, or a surface state that asks for something that is not
    /// possible.
    #[inline]
    pub fn surface(&mut self, exec: &Exec<'_>, index: u8) -> Result<&Bound, Fault> {
        if self.places[usize::from(index)] == 0 {
            self.find(exec, index)?;
        }
        Ok(&self.found[usize::from(self.places[usize::from(index)]) - 1])
    }

    #[cold]
    fn find(&mut self, exec: &Exec<'_>, index: u8) -> Result<(), Fault> {
        let bound = self.resolve(exec, index)?;
        self.found.push(bound);
        self.places[usize::from(index)] = self.found.len() as u16;
        Ok(())
    }

    /// Takes over the surfaces that `other`, the same table, found and this one has not.
    pub fn merge(&mut self, other: &Bindings) {
        for (own, &place) in self.places.iter_mut().zip(&other.places) {
            if *own == 0 && place != 0 {
                self.found.push(other.found[usize::from(place) - 1]);
                *own = self.found.len() as u16;
            }
        }
        self.samplers.merge(&other.samplers);
    }

    /// The surface state of entry `index` as it stands in memory.
    ///
    /// # Errors
    /// A page fault on the way to it.
    pub fn state(&self, exec: &Exec<'_>, index: u8) -> Result<RenderSurfaceState, Fault> {
        let entry = self.table.wrapping_add(4 * u64::from(index));
        let dword = exec
            .vm
            .read_u32(entry)
            .map_err(|fault| exec.page(fault, format!("binding table entry {index}")))?;
        let pointer = BindingTableState::unpack_lossy(&[dword]).surface_state_pointer;
        let mut dwords = [0; RenderSurfaceState::DWORDS];
        exec.vm
            .read(self.base.wrapping_add(pointer.get()), bytemuck::must_cast_slice_mut(&mut dwords))
            .map_err(|fault| {
                exec.page(fault, format!("surface state of binding table entry {index}"))
            })?;
        Ok(RenderSurfaceState::unpack_lossy(&dwords))
    }

    fn resolve(&self, exec: &Exec<'_>, index: u8) -> Result<Bound, Fault> {
        let state = self.state(exec, index)?;
        let surface = Surface::resolve(&state).map_err(|bad| {
            exec.bad_field(
                bad.field,
                bad.value,
                format!("binding table entry {index}: {}", bad.why),
            )
        })?;
        Ok(Bound { surface, boundary: state.media_boundary_pixel_mode })
    }
}
