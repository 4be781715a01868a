//! The blitter: rectangles of pixels.
//!
//! * this file: its packets, resolved to a [`Blit`];
//! * [`rop`]: raster operations;
//! * [`transfer`]: the rectangle loop.

pub mod rop;
#[cfg(test)]
mod tests;
pub mod transfer;

pub use rop::Rop;
pub use transfer::{Blit, Plane};

use crate::context::{Clip, Exec};
use crate::fault::Fault;
use crate::observe::Observer;
use crate::surface::TileMode;
use genxml::gen8::blitter::{
    BlitByteMask, BlitColorDepth, XyColorBlt, XySetupBlt, XySetupClipBlt, XySrcCopyBlt,
};
use genxml::gen8::registers::BcsSwctrl;

/// XY_SETUP_BLT: of what it sets, the implemented commands use the clip rectangle.
pub fn setup<O: Observer>(exec: &mut Exec<'_, O>, packet: &XySetupBlt) -> Result<(), Fault> {
    exec.state.clip = Some(Clip {
        left: packet.clip_rect_x1_coordinate_left.get(),
        top: packet.clip_rect_y1_coordinate_top.get(),
        right: packet.clip_rect_x2_coordinate_right.get(),
        bottom: packet.clip_rect_y2_coordinate_bottom.get(),
    });
    Ok(())
}

/// XY_SETUP_CLIP_BLT.
pub fn setup_clip<O: Observer>(exec: &mut Exec<'_, O>, packet: &XySetupClipBlt) -> Result<(), Fault> {
    exec.state.clip = Some(Clip {
        left: packet.clip_rect_x1_coordinate_left.get(),
        top: packet.clip_rect_y1_coordinate_top.get(),
        right: packet.clip_rect_x2_coordinate_right.get(),
        bottom: packet.clip_rect_y2_coordinate_bottom.get(),
    });
    Ok(())
}

/// XY_COLOR_BLT: the colour is the pattern; there is no source.
pub fn color<O: Observer>(exec: &mut Exec<'_, O>, packet: &XyColorBlt) -> Result<(), Fault> {
    let rop = Rop::new(packet.raster_operation.bits() as u8);
    if rop.uses_source() {
        let why = "the operation needs a source, which XY_COLOR_BLT does not have";
        return Err(exec.bad_field("Raster Operation", rop.code().into(), why));
    }
    let clip = clip(exec, packet.clipping_enable)?;
    let destination = Side {
        tiled: packet.dest_tiling_enable,
        y_major: tiling(exec).tile_y_destination,
        base: packet.destination_base_address.va48(),
        pitch: packet.destination_pitch.get(),
        names: ["Destination Base Address", "Destination Pitch"],
    };
    let (x, y) = (packet.destination_x1_coordinate_left.get(), packet.destination_y1_coordinate_top.get());
    let pixel_bytes = pixel_bytes(packet.color_depth);
    let blit = Blit {
        pixel_bytes,
        rop,
        write_mask: write_mask(pixel_bytes, packet._32bpp_byte_mask),
        destination: destination.resolve(exec)?,
        x,
        y,
        width: packet.destination_x2_coordinate_right.get() - x,
        height: packet.destination_y2_coordinate_bottom.get() - y,
        source: None,
        pattern: packet.solid_pattern_color.get() as u32,
    };
    blit.clip(clip).run(exec)
}

/// XY_SRC_COPY_BLT: source and destination; there is no pattern.
pub fn src_copy<O: Observer>(exec: &mut Exec<'_, O>, packet: &XySrcCopyBlt) -> Result<(), Fault> {
    let rop = Rop::new(packet.raster_operation.bits() as u8);
    if rop.uses_pattern() {
        let why = "the operation needs a pattern, which XY_SRC_COPY_BLT does not have";
        return Err(exec.bad_field("Raster Operation", rop.code().into(), why));
    }
    let clip = clip(exec, packet.clipping_enable)?;
    let destination = Side {
        tiled: packet.dest_tiling_enable,
        y_major: tiling(exec).tile_y_destination,
        base: packet.destination_base_address.va48(),
        pitch: packet.destination_pitch.get(),
        names: ["Destination Base Address", "Destination Pitch"],
    };
    let source = Side {
        tiled: packet.src_tiling_enable,
        y_major: tiling(exec).tile_y_source,
        base: packet.source_base_address.va48(),
        pitch: packet.source_pitch.get(),
        names: ["Source Base Address", "Source Pitch"],
    };
    let (x, y) = (packet.destination_x1_coordinate_left.get(), packet.destination_y1_coordinate_top.get());
    let (source_x, source_y) =
        (packet.source_x1_coordinate_left.get(), packet.source_y1_coordinate_top.get());
    let pixel_bytes = pixel_bytes(packet.color_depth);
    let blit = Blit {
        pixel_bytes,
        rop,
        write_mask: write_mask(pixel_bytes, packet._32bpp_byte_mask),
        destination: destination.resolve(exec)?,
        x,
        y,
        width: packet.destination_x2_coordinate_right.get() - x,
        height: packet.destination_y2_coordinate_bottom.get() - y,
        source: Some((source.resolve(exec)?, source_x, source_y)),
        pattern: 0,
    };
    blit.clip(clip).run(exec)
}

/// Bytes of a pixel.
fn pixel_bytes(depth: BlitColorDepth) -> usize {
    match depth {
        BlitColorDepth::_8BPP => 1,
        BlitColorDepth::_16BPP_565 | BlitColorDepth::_16BPP_1555 => 2,
        _ => 4,
    }
}

/// Bits of a pixel that are written: the byte mask selects colour and alpha for 32 bits, and means nothing for fewer.
fn write_mask(pixel_bytes: usize, mask: BlitByteMask) -> u32 {
    if pixel_bytes != 4 {
        return !0;
    }
    match mask {
        BlitByteMask::WRITE_RGBA => !0,
        BlitByteMask::WRITE_RGB => 0x00ff_ffff,
        BlitByteMask::WRITE_ALPHA => 0xff00_0000,
        _ => 0,
    }
}

/// The clip rectangle, if the packet wants to be clipped.
fn clip<O: Observer>(exec: &Exec<'_, O>, enabled: bool) -> Result<Option<Clip>, Fault> {
    if enabled && exec.state.clip.is_none() {
        let why = "there is no clip rectangle; XY_SETUP_CLIP_BLT sets it";
        return Err(exec.bad_field("Clipping Enable", 1, why));
    }
    Ok(exec.state.clip.filter(|_| enabled))
}

/// What tiled surfaces are: BCS_SWCTRL, X-major unless it says Y.
fn tiling<O: Observer>(exec: &Exec<'_, O>) -> BcsSwctrl {
    BcsSwctrl::unpack_lossy(&[exec.state.registers.read(BcsSwctrl::OFFSET)])
}

/// A side of a blit as the packet gives it.
struct Side {
    tiled: bool,
    y_major: bool,
    base: u64,
    /// Bytes if linear, dwords if tiled.
    pitch: i64,
    /// The fields of base and pitch.
    names: [&'static str; 2],
}

impl Side {
    fn resolve<O: Observer>(&self, exec: &Exec<'_, O>) -> Result<Plane, Fault> {
        let tile_mode = match (self.tiled, self.y_major) {
            (false, _) => {
                return Ok(Plane { base: self.base, pitch: self.pitch, tile_mode: TileMode::Linear });
            }
            (true, false) => TileMode::X,
            (true, true) => TileMode::Y,
        };
        let pitch = self.pitch * 4;
        if !self.base.is_multiple_of(4096) {
            return Err(exec.bad_field(
                self.names[0],
                self.base,
                "a tiled surface starts at a multiple of 4096",
            ));
        }
        if pitch <= 0 || pitch % i64::from(tile_mode.width()) != 0 {
            let why = format!("a tiled surface's pitch is a multiple of {} dwords", tile_mode.width() / 4);
            return Err(exec.bad_field(self.names[1], self.pitch as u64, why));
        }
        Ok(Plane { base: self.base, pitch, tile_mode })
    }
}
