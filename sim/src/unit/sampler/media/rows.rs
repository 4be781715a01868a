//! The rows of a picture in memory: what all formats of a MEDIA_SURFACE_STATE share
//! (2d p.240-247).

use super::super::address::{clamped, mirrored};
use crate::mem::{PageFault, Vm};
use crate::surface::{BadSurface, TileMode};
use genxml::gen8::media::{
    MediaSurfaceState, MediaSurfaceStateAddressControl as AddressControl,
    MediaSurfaceStatePictureStructure as Structure, MediaSurfaceStateTileMode as Tiles,
};

/// Position of the first pixel of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// Byte within a row.
    pub left: i64,
    /// Row.
    pub top: i64,
}

/// The rows of a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rows {
    base: u64,
    pitch: i64,
    tile_mode: TileMode,
    mirrors: bool,
    line_stride: u32,
    line_offset: i64,
}

impl Rows {
    /// Resolves the fields that do not depend on the format.
    ///
    /// # Errors
    /// [`BadSurface`] with the first field that has an invalid value.
    pub fn resolve(state: &MediaSurfaceState) -> Result<Rows, BadSurface> {
        let bad = |field, value, why| Err(BadSurface { field, value, why });
        let tile_mode = match state.tile_mode {
            Tiles::TILEMODE_LINEAR => TileMode::Linear,
            Tiles::TILEMODE_XMAJOR => TileMode::X,
            Tiles::TILEMODE_YMAJOR => TileMode::Y,
            other => return bad("Tile Mode", other.bits(), "the value is reserved"),
        };
        let pitch = state.surface_pitch.get() as u32;
        if !pitch.is_multiple_of(tile_mode.pitch_unit()) {
            let why = "the pitch of a tiled surface must be a multiple of the width of a tile";
            return bad("Surface Pitch", pitch.into(), why);
        }
        if Structure::from_bits(3) == state.picture_structure {
            return bad("Picture Structure", 3, "the value is not allowed");
        }
        let line_stride = state.vertical_line_stride.get() as u32;
        let line_offset = state.vertical_line_stride_offset.get();
        if line_offset > 0 && line_stride == 0 {
            let why = "it must be 0 if no lines are skipped";
            return bad("Vertical Line Stride Offset", line_offset, why);
        }
        Ok(Rows {
            base: state.surface_base_address.get(),
            pitch: pitch.into(),
            tile_mode,
            mirrors: state.address_control == AddressControl::MIRROR,
            line_stride,
            line_offset: line_offset as i64,
        })
    }

    /// Maps a position outside of `size` pixels to a pixel (Address Control, 2d p.243).
    #[inline(always)]
    pub fn inside(&self, at: i32, size: i32) -> i32 {
        if (0..size).contains(&at) {
            return at;
        }
        let (at, size) = (i64::from(at), i64::from(size));
        (if self.mirrors { mirrored(at, size) } else { clamped(at, size) }) as i32
    }

    /// Graphics address of byte `byte` of row `y` of the plane at `origin`.
    #[inline(always)]
    pub fn address(&self, origin: Origin, byte: i64, y: i32) -> u64 {
        let y = (i64::from(y) << self.line_stride) + self.line_offset + origin.top;
        self.base.wrapping_add(self.tile_mode.offset(origin.left + byte, y, self.pitch) as u64)
    }

    /// Reads the bytes from `first` on of row `y` of the plane at `origin`.
    ///
    /// # Errors
    /// A page fault.
    pub fn read(
        &self,
        vm: &Vm<'_>,
        origin: Origin,
        first: i64,
        y: i32,
        out: &mut [u8],
    ) -> Result<(), PageFault> {
        let run = i64::from(self.tile_mode.run());
        let (mut at, mut rest) = (first, out);
        while !rest.is_empty() {
            let phase = (origin.left + at).rem_euclid(run);
            let (now, later) = rest.split_at_mut(rest.len().min((run - phase) as usize));
            vm.read(self.address(origin, at, y), now)?;
            at += now.len() as i64;
            rest = later;
        }
        Ok(())
    }
}
