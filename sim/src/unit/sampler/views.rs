//! Cache of views by binding table index and sampler. Each view is resolved when a message first
//! uses it.

use super::border;
use super::key::Key;
use super::palette::Palettes;
use super::samplers::Samplers;
use super::state::Sampler;
use super::view::{Extras, View};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::surface::format::value::Value;
use crate::surface::format::{Codec, Letter};
use crate::unit::bindings::Bindings;
use genxml::gen8::render3d_binding::{
    PaletteEntry, SamplerIndirectState, ThreeDStateMonofilterSize,
};
use genxml::gen8::render3d_pixel::ThreeDStateChromaKey;
use genxml::gen8::state::SamplerState;

impl Bindings {
    /// The view of surface `index` and the sampler at address `sampler`, which is `None` for
    /// messages without a sampler.
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
        let number = match self.samplers.recent(index, sampler) {
            Some(number) => number,
            None => self.look_up(exec, index, sampler)?,
        };
        Ok(self.samplers.get(number))
    }

    #[cold]
    fn look_up(
        &mut self,
        exec: &Exec<'_>,
        index: u8,
        sampler: Option<u64>,
    ) -> Result<usize, Fault> {
        if let Some(number) = self.samplers.look_up(index, sampler) {
            return Ok(number);
        }
        let view = Box::new(self.resolve_view(exec, index, sampler)?);
        Ok(self.samplers.add(index, sampler, view))
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
            Samplers::read(exec, address, &mut dwords)?;
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

/// Converts an entry of a palette to red, green, blue and alpha from 0 to 1 (2d p.290).
fn color(entry: u32) -> Value {
    let entry = PaletteEntry::unpack_lossy(&[entry]);
    [entry.red, entry.green, entry.blue, entry.alpha]
        .map(|byte| (byte.get() as f32 / 255.0).to_bits())
}
