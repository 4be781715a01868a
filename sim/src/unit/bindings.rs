//! Binding tables: surfaces by index.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::Client;
use crate::surface::Surface;
use crate::unit::by_index::ByIndex;
use crate::unit::resource_streamer::tables::Table;
use crate::unit::sampler::samplers::Samplers;
use genxml::gen8::state::{RenderSurfaceState, RenderSurfaceStateMediaBoundaryPixelMode};
#[cfg(feature = "fast")]
use genxml_jit::{BOUNDS, Bounds};

/// First binding table index that is not an entry of the table. This index and the larger ones have
/// special meanings (2d p.471).
pub const FIRST_SPECIAL_INDEX: u8 = 240;

/// A surface that a binding table entry refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The resolved surface.
    pub surface: Surface,
    /// How media block reads treat rows above and below the surface.
    pub boundary: RenderSurfaceStateMediaBoundaryPixelMode,
}

/// Surfaces that the threads of one packet use.
#[derive(Clone, Debug)]
pub struct Bindings {
    /// Graphics address to which the offsets of surface states are added.
    pub base: u64,
    /// The binding table.
    pub table: Table,
    surfaces: ByIndex<Bound>,
    /// The bounds of buffers that messages of dwords have accessed, for machine code.
    #[cfg(feature = "fast")]
    bounds: Option<Box<[Bounds; BOUNDS]>>,
    /// The samplers that sampler messages use together with the surfaces.
    pub samplers: Samplers,
}

impl Default for Bindings {
    fn default() -> Bindings {
        Bindings::new(0, 0)
    }
}

impl Bindings {
    /// A binding table at the address `table`. Its pointers to surface states are relative to
    /// `base`.
    pub fn new(base: u64, table: u64) -> Bindings {
        Bindings::with(base, Table::Software(table))
    }

    /// The binding table `table`. Its pointers to surface states are relative to `base`.
    pub fn with(base: u64, table: Table) -> Bindings {
        Bindings {
            base,
            table,
            surfaces: ByIndex::default(),
            #[cfg(feature = "fast")]
            bounds: None,
            samplers: Samplers::default(),
        }
    }

    /// The same bindings, but with these samplers.
    #[must_use]
    pub fn with_samplers(self, samplers: Samplers) -> Bindings {
        Bindings { samplers, ..self }
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

    /// The bounds of buffers, by binding table index; `None` if no message has used one.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn bounds(&self) -> Option<&[Bounds; BOUNDS]> {
        self.bounds.as_deref()
    }

    /// Lets machine code access the buffer with this binding table index.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn bind(&mut self, index: u8, bounds: Bounds) {
        let all = self.bounds.get_or_insert_with(|| Box::new([Bounds::default(); BOUNDS]));
        all[usize::from(index)] = bounds;
    }

    #[cold]
    fn find(&mut self, exec: &Exec<'_>, index: u8) -> Result<usize, Fault> {
        let bound = self.resolve(exec, index)?;
        Ok(self.surfaces.add(index, bound))
    }

    /// Copies the surfaces and the states of samplers that only `other` has resolved. `self` and
    /// `other` must refer to the same tables.
    pub fn merge(&mut self, other: &Bindings) {
        self.surfaces.merge(&other.surfaces);
        self.samplers.merge(&other.samplers);
    }

    /// Reads the surface state of entry `index` from memory.
    ///
    /// # Errors
    /// A page fault at the binding table or at the surface state.
    pub fn state(&self, exec: &Exec<'_>, index: u8) -> Result<RenderSurfaceState, Fault> {
        Ok(RenderSurfaceState::unpack_lossy(&self.dwords(exec, index)?))
    }

    /// Reads the first dwords of the state of entry `index` from memory. Entries can refer to
    /// states of different kinds.
    ///
    /// # Errors
    /// A page fault at the binding table or at the surface state.
    pub(super) fn dwords<const N: usize>(
        &self,
        exec: &Exec<'_>,
        index: u8,
    ) -> Result<[u32; N], Fault> {
        let _client = exec.vm.client(Client::State);
        let pointer = self
            .table
            .entry(index, |address, bytes| exec.vm.read(address, bytes))
            .map_err(|fault| exec.page(fault, format!("binding table entry {index}")))?;
        let mut dwords = [0; N];
        exec.vm
            .read(self.base.wrapping_add(pointer), bytemuck::must_cast_slice_mut(&mut dwords))
            .map_err(|fault| {
            exec.page(fault, format!("surface state of binding table entry {index}"))
        })?;
        Ok(dwords)
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
