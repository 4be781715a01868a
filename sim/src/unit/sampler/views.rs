//! Cache of views by binding table index and sampler. Each view is resolved when a message first
//! uses it.

use super::border::{self, Stored};
use super::key::Key;
use super::palette::Palettes;
use super::samplers::Samplers;
use super::state::Sampler;
use super::vector;
use super::view::{Extras, FACES, View};
use crate::assumptions::RESOURCE_MIN_LOD_BOUNDS_LEVELS;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::Client;
use crate::surface::Dimension;
use crate::surface::format::value::Value;
use crate::surface::format::{Codec, Letter};
use crate::unit::bindings::Bindings;
use genxml::gen8::render3d_binding::{
    PaletteEntry, SamplerIndirectState, ThreeDStateMonofilterSize,
};
use genxml::gen8::render3d_pixel::ThreeDStateChromaKey;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateEwaDisableForCube as EwaForCube, SamplerState,
};

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
        let number = self.view_number(exec, index, sampler)?;
        Ok(self.samplers.get(number))
    }

    /// As [`view`](Self::view), but returns the number of the view in [`Bindings::samplers`].
    ///
    /// # Errors
    /// As [`view`](Self::view).
    #[inline]
    pub fn view_number(
        &mut self,
        exec: &Exec<'_>,
        index: u8,
        sampler: Option<u64>,
    ) -> Result<usize, Fault> {
        match self.samplers.recent(index, sampler) {
            Some(number) => Ok(number),
            None => self.look_up(exec, index, sampler),
        }
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
        let resource_lod = state.resource_min_lod.bits() as i32 - 256 * surface.first_level as i32;
        let mut extras = Extras {
            faces: faces(&state),
            resource_lod: if RESOURCE_MIN_LOD_BOUNDS_LEVELS { resource_lod } else { 0 },
            base_level: (state.base_mip_level.get() * 256.0) as i32,
            ewa: surface.layout.dimension != Dimension::Cube
                || state.ewa_disable_for_cube != EwaForCube::DISABLE,
            ..Extras::default()
        };
        let Some(format) = surface.codec.map(Codec::format) else {
            return Ok(vector::prepared(View::new(&surface, &sampler, extras)));
        };
        if address.is_some() && View::has_border(extras.faces, &surface, &sampler) {
            let mut dwords = [0; SamplerIndirectState::DWORDS];
            let at = self.samplers.base.wrapping_add(sampler.border);
            let _client = exec.vm.client(Client::State);
            exec.vm
                .read(at, bytemuck::must_cast_slice_mut(&mut dwords))
                .map_err(|fault| exec.page(fault, "border colour"))?;
            let state = SamplerIndirectState::unpack_lossy(&dwords);
            extras.border = border::color(format, stored(sampler.dx9, &state));
        }
        if let Some((entry, mode)) = sampler.key.filter(|_| address.is_some()) {
            let packet = exec.state.latched.read::<ThreeDStateChromaKey>(entry.into());
            let bounds = [packet.chroma_key_low_value, packet.chroma_key_high_value];
            extras.key = Some(Key::new(bounds.map(|bound| bound.get() as u32), mode, format));
        }
        if format.channels().iter().any(|channel| channel.letter == Letter::P) {
            let number = usize::from(format.name.ends_with("PALETTE1"));
            let palette = exec.state.slots.with(|palettes: &Palettes| *palettes.get(number));
            extras.palette = Some(Box::new(palette.map(color)));
        }
        let size: ThreeDStateMonofilterSize = exec.state.latched.read(0);
        extras.mono =
            [size.monochrome_filter_width, size.monochrome_filter_height].map(|n| n.get() as u32);
        Ok(vector::prepared(View::new(&surface, &sampler, extras)))
    }
}

/// Which faces of a cube map are enabled. Disabled faces have the border colour.
fn faces(state: &RenderSurfaceState) -> [bool; FACES as usize] {
    [
        state.cube_face_enable_positive_x,
        state.cube_face_enable_negative_x,
        state.cube_face_enable_positive_y,
        state.cube_face_enable_negative_y,
        state.cube_face_enable_positive_z,
        state.cube_face_enable_negative_z,
    ]
}

/// The border colour in memory, in the mode DX9 or in the mode DX10/OGL.
fn stored(dx9: bool, state: &SamplerIndirectState) -> Stored {
    let [red, green, blue, alpha] = [
        state.border_color_red,
        state.border_color_green,
        state.border_color_blue,
        state.border_color_alpha,
    ];
    match dx9 {
        true => Stored::Bytes(
            [
                state.border_color_red_dx9,
                state.border_color_green_dx9,
                state.border_color_blue_dx9,
                state.border_color_alpha_dx9,
            ]
            .map(|byte| byte.get() as u8),
        ),
        false => Stored::Channels([red, green, blue, alpha].map(|dword| dword.get() as u32)),
    }
}

/// Converts an entry of a palette to red, green, blue and alpha from 0 to 1 (2d p.290).
pub fn color(entry: u32) -> Value {
    let entry = PaletteEntry::unpack_lossy(&[entry]);
    [entry.red, entry.green, entry.blue, entry.alpha]
        .map(|byte| (byte.get() as f32 / 255.0).to_bits())
}
