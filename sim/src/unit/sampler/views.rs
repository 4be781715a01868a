//! Cache of views by binding table index and sampler. Each is resolved when a message first uses
//! it.

use super::border;
use super::key::Key;
use super::state::Sampler;
use super::view::{Extras, View};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::surface::format::codec::Value;
use crate::surface::format::{Codec, Letter};
use crate::unit::Bindings;
use crate::unit::sampler::Palettes;
use genxml::gen8::render3d_binding::{
    PaletteEntry, SamplerIndirectState, ThreeDStateMonofilterSize,
};
use genxml::gen8::render3d_pixel::ThreeDStateChromaKey;
use genxml::gen8::state::SamplerState;

/// Bytes of a sampler state.
const STATE: u64 = 16;
/// Maximum number of cached views. The limit is needed because a kernel can compute sampler
/// addresses, so that the number of views has no other bound.
const MOST_VIEWS: usize = 4096;
/// Number of colours of a palette.
pub const COLORS: usize = 256;

/// The samplers of the threads of one packet, and the views that messages have used.
#[derive(Clone, Debug)]
pub struct Samplers {
    /// Dynamic State Base Address: offsets of samplers and border colours are relative to it.
    pub base: u64,
    /// Graphics address of the table of sampler states.
    pub table: u64,
    /// For each binding table index: position in `views` of the view that was used last, plus one;
    /// 0 if there is none.
    recent: [u16; 256],
    views: Vec<CachedView>,
}

#[derive(Clone, Debug)]
struct CachedView {
    surface: u8,
    /// Address of the sampler state; none for messages without a sampler.
    sampler: Option<u64>,
    view: Box<View>,
}

impl Default for Samplers {
    fn default() -> Samplers {
        Samplers::new(0, 0)
    }
}

impl Samplers {
    /// Sampler states at graphics address `table`. Offsets are relative to `base`.
    pub fn new(base: u64, table: u64) -> Samplers {
        Samplers { base, table, recent: [0; 256], views: Vec::new() }
    }

    /// Graphics address of sampler state `index`. With `offset`, the table at this offset from the
    /// base is used instead of the default table.
    #[inline(always)]
    pub fn address(&self, offset: Option<u64>, index: u64) -> u64 {
        let table = offset.map_or(self.table, |offset| self.base.wrapping_add(offset));
        table.wrapping_add(STATE * index)
    }

    /// Copies the views that only `other` has. Both must use the same tables.
    pub fn merge(&mut self, other: &Samplers) {
        for view in &other.views {
            if self.index(view.surface, view.sampler).is_none() && self.views.len() < MOST_VIEWS {
                self.views.push(view.clone());
            }
        }
    }

    fn index(&self, surface: u8, sampler: Option<u64>) -> Option<usize> {
        self.views.iter().position(|view| view.surface == surface && view.sampler == sampler)
    }
}

impl Bindings {
    /// The view of surface `index` and the sampler at address `sampler`, which is none for messages
    /// without a sampler.
    ///
    /// # Errors
    /// A page fault at one of their states, or a field of a state with an invalid value.
    #[inline]
    pub fn view(
        &mut self,
        exec: &Exec<'_>,
        index: u8,
        sampler: Option<u64>,
    ) -> Result<&View, Fault> {
        let recent = usize::from(self.samplers.recent[usize::from(index)]);
        let hit = recent > 0
            && self.samplers.views.get(recent - 1).is_some_and(|view| view.sampler == sampler);
        let position = if hit { recent - 1 } else { self.look_up(exec, index, sampler)? };
        Ok(&self.samplers.views[position].view)
    }

    #[cold]
    fn look_up(
        &mut self,
        exec: &Exec<'_>,
        index: u8,
        sampler: Option<u64>,
    ) -> Result<usize, Fault> {
        let position = match self.samplers.index(index, sampler) {
            Some(position) => position,
            None => {
                let view = Box::new(self.resolve_view(exec, index, sampler)?);
                if self.samplers.views.len() >= MOST_VIEWS {
                    self.samplers.views.clear();
                    self.samplers.recent = [0; 256];
                }
                self.samplers.views.push(CachedView { surface: index, sampler, view });
                self.samplers.views.len() - 1
            }
        };
        self.samplers.recent[usize::from(index)] = position as u16 + 1;
        Ok(position)
    }

    fn resolve_view(
        &mut self,
        exec: &Exec<'_>,
        index: u8,
        address: Option<u64>,
    ) -> Result<View, Fault> {
        let surface = self.surface(exec, index)?.surface;
        let state = self.state(exec, index)?;
        let mut dwords = [0; SamplerState::DWORDS];
        if let Some(address) = address {
            exec.vm
                .read(address, bytemuck::must_cast_slice_mut(&mut dwords))
                .map_err(|fault| exec.page(fault, "sampler state"))?;
        }
        let sampler = Sampler::resolve(&SamplerState::unpack_lossy(&dwords)).map_err(|bad| {
            let why =
                format!("SAMPLER_STATE at {:#x}: the value is reserved", address.unwrap_or(0));
            exec.bad_field(bad.field, bad.value, why)
        })?;
        let mut extras = Extras::default();
        let Some(format) = surface.codec.map(Codec::format) else {
            return Ok(View::new(&state, &surface, &sampler, extras));
        };
        if address.is_some() && View::has_border(&state, &surface, &sampler) {
            let mut dwords = [0; SamplerIndirectState::DWORDS];
            let at = self.samplers.base.wrapping_add(sampler.border);
            exec.vm
                .read(at, bytemuck::must_cast_slice_mut(&mut dwords))
                .map_err(|fault| exec.page(fault, "border colour"))?;
            let state = SamplerIndirectState::unpack_lossy(&dwords);
            extras.border = border::color(format, sampler.dx9, &state);
        }
        if let Some((entry, mode)) = sampler.key.filter(|_| address.is_some()) {
            let packet = exec.state.latched.read::<ThreeDStateChromaKey>(entry.into());
            extras.key = Some(Key::new(&packet, mode, format));
        }
        if format.channels().iter().any(|channel| channel.letter == Letter::P) {
            let number = usize::from(format.name.ends_with("PALETTE1"));
            let palette = exec.state.slots.with(|palettes: &Palettes| *palettes.get(number));
            extras.palette = Some(Box::new(palette.map(color)));
        }
        let size: ThreeDStateMonofilterSize = exec.state.latched.read(0);
        extras.mono =
            [size.monochrome_filter_width, size.monochrome_filter_height].map(|n| n.get() as u32);
        Ok(View::new(&state, &surface, &sampler, extras))
    }
}

/// A colour of a palette (2d p.290).
fn color(entry: u32) -> Value {
    let entry = PaletteEntry::unpack_lossy(&[entry]);
    [entry.red, entry.green, entry.blue, entry.alpha]
        .map(|byte| (byte.get() as f32 / 255.0).to_bits())
}
