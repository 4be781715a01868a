//! Views of a surface and a sampler. Each is resolved when a message first uses it.

use super::state;
use crate::assumptions::{
    G45_LOADS_OUTSIDE_HAVE_ALPHA_ZERO_FOR_BYTES, G45_NEAREST_LEVELS_HAVE_WHOLE_BOUNDS,
    G45_PRECLAMP_DEPENDS_ON_THE_LEVELS,
};
use crate::gen45::message::bindings::Bindings;
use crate::gen45::state::{ADDRESSES, State};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::surface::format::{Class, Codec, Format, Letter};
use crate::unit::sampler::key::Key;
use crate::unit::sampler::lod::Rules;
use crate::unit::sampler::view::{Extras, View};
use crate::unit::sampler::{Palettes, border, views};
use genxml::gen45::commands_3d::ThreeDStateChromaKey;
use genxml::gen45::state_surface::{SamplerBorderColorState, SamplerState, SurfaceState};

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
        let surface_state = self.state(exec, index)?;
        let mut dwords = [0; SamplerState::DWORDS];
        if let Some(address) = address {
            exec.vm
                .read(address, bytemuck::must_cast_slice_mut(&mut dwords))
                .map_err(|fault| exec.page(fault, "sampler state"))?;
        }
        let sampler_state = SamplerState::unpack_lossy(&dwords);
        let sampler = state::resolve(&sampler_state).map_err(|bad| {
            let why =
                format!("SAMPLER_STATE at {:#x}: the value is reserved", address.unwrap_or(0));
            exec.bad_field(bad.field, bad.value, why)
        })?;
        let mut extras = Extras {
            faces: faces(&surface_state),
            rules: Rules {
                preclamps_to_levels: G45_PRECLAMP_DEPENDS_ON_THE_LEVELS,
                nearest_has_whole_bounds: G45_NEAREST_LEVELS_HAVE_WHOLE_BOUNDS,
            },
            mono: [sampler_state.monochrome_filter_width, sampler_state.monochrome_filter_height]
                .map(|extent| extent.get() as u32),
            ..Extras::default()
        };
        let Some(format) = surface.codec.map(Codec::format) else {
            return Ok(View::new(&surface, &sampler, extras));
        };
        if lacks_alpha_in_bytes(format) {
            extras.outside = Some([0; 4]);
        }
        if address.is_some() && View::has_border(extras.faces, &surface, &sampler) {
            let mut dwords = [0; SamplerBorderColorState::DWORDS];
            // In the mode DX9, the colour has one dword.
            let used = if sampler.dx9 { 1 } else { dwords.len() };
            let at = self.general_base.wrapping_add(sampler.border) & ADDRESSES;
            exec.vm
                .read(at, bytemuck::cast_slice_mut(&mut dwords[..used]))
                .map_err(|fault| exec.page(fault, "border colour"))?;
            extras.border = border::color(format, state::stored(sampler.dx9, &dwords));
        }
        if let Some((entry, mode)) = sampler.key.filter(|_| address.is_some()) {
            extras.key = Some(Key::new(bounds(exec, entry), mode, format));
        }
        if format.channels().iter().any(|channel| channel.letter == Letter::P) {
            let number = usize::from(format.name.ends_with("PALETTE1"));
            let palette = exec.state.slots.with(|palettes: &Palettes| *palettes.get(number));
            extras.palette = Some(Box::new(palette.map(views::color)));
        }
        Ok(View::new(&surface, &sampler, extras))
    }
}

/// Low and high value of an entry of the chroma key table (3DSTATE_CHROMA_KEY).
fn bounds(exec: &Exec<'_>, entry: u8) -> [u32; 2] {
    let packet: ThreeDStateChromaKey =
        exec.state.slots.with(|state: &State| state.latched.read(entry.into()));
    [packet.chroma_key_low_value, packet.chroma_key_high_value].map(|bound| bound.get() as u32)
}

/// Which faces of a cube map are enabled, in the order +X, -X, +Y, -Y, +Z, -Z.
fn faces(state: &SurfaceState) -> [bool; 6] {
    [
        state.cube_face_enable_positive_x,
        state.cube_face_enable_negative_x,
        state.cube_face_enable_positive_y,
        state.cube_face_enable_negative_y,
        state.cube_face_enable_positive_z,
        state.cube_face_enable_negative_z,
    ]
}

/// True for a format of 8 bits in each channel without alpha. Loads outside of the surface return 0
/// in alpha for it (erratum 003:4064).
fn lacks_alpha_in_bytes(format: &Format) -> bool {
    G45_LOADS_OUTSIDE_HAVE_ALPHA_ZERO_FOR_BYTES
        && format.class == Class::Channels
        && format.channels().iter().all(|channel| channel.bits == 8)
        && !border::has_alpha(format)
}
