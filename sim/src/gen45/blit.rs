//! 2D commands, which the render engine executes. They are those of Gen8 with addresses of 32 bits,
//! so each becomes the command of Gen8 with the same fields.

use crate::blt;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::core::Address;
use genxml::gen8::blitter as gen8;
use genxml::gen45::commands_blitter::{XyColorBlt, XySetupBlt, XySrcCopyBlt, XyTextImmediateBlt};

/// Makes a packet of Gen8. All four packets have a byte mask; the first list names the packet's
/// other fields whose types differ, the second those whose names differ. The packet after `..` has
/// the values of fields that the G45 does not have.
macro_rules! packet {
    (
        $packet:expr => $to:ident { $($same:ident,)* } tiled $tiled:ident;
        $($new:ident: $old:ident,)* $(..$rest:ident)?
    ) => {
        gen8::$to {
            dest_tiling_enable: $packet.$tiled,
            _32bpp_byte_mask: gen8::BlitByteMask::from_bits($packet._32bpp_byte_mask.bits()),
            $($same: packet!(@$same $packet),)*
            $($new: $packet.$old,)*
            $(..gen8::$rest::new())?
        }
    };
    (@raster_operation $packet:expr) => {
        gen8::BlitRasterOperation::from_bits($packet.raster_operation.bits())
    };
    (@color_depth $packet:expr) => {
        gen8::BlitColorDepth::from_bits($packet.color_depth.bits())
    };
    (@destination_base_address $packet:expr) => {
        Address::from_bits($packet.destination_base_address.get())
    };
    (@source_base_address $packet:expr) => {
        Address::from_bits($packet.source_base_address.get())
    };
    (@pattern_base_address $packet:expr) => {
        Address::from_bits($packet.pattern_base_address.get())
    };
}

/// XY_SETUP_BLT: stores the packet and its clip rectangle.
pub fn setup(exec: &mut Exec<'_>, packet: &XySetupBlt) -> Result<(), Fault> {
    let packet = packet!(packet => XySetupBlt {
        raster_operation, color_depth, destination_base_address, pattern_base_address,
    } tiled tiling_enable;
        destination_pitch: destination_pitch,
        monochrome_source_transparency_mode: mono_source_transparency_mode,
        clipping_enable: clipping_enabled,
        clip_rect_x1_coordinate_left: clip_rect_x1_coordinate,
        clip_rect_y1_coordinate_top: clip_rect_y1_coordinate,
        clip_rect_x2_coordinate_right: clip_rect_x2_coordinate,
        clip_rect_y2_coordinate_bottom: clip_rect_y2_coordinate,
        background_color: background_color,
        foreground_color: foreground_color,
        ..XySetupBlt
    );
    blt::setup(exec, &packet)
}

/// XY_TEXT_IMMEDIATE_BLT: a glyph in the command, drawn with the state of XY_SETUP_BLT.
pub fn text(exec: &mut Exec<'_>, packet: &XyTextImmediateBlt<'_>) -> Result<(), Fault> {
    let packet = packet!(packet => XyTextImmediateBlt {} tiled tiling_enable;
        destination_x1_coordinate_left: destination_x1_coordinate,
        destination_y1_coordinate_top: destination_y1_coordinate,
        destination_x2_coordinate_right: destination_x2_coordinate,
        destination_y2_coordinate_bottom: destination_y2_coordinate,
        immediate_data: immediate_data,
        ..XyTextImmediateBlt
    );
    blt::draw(exec, &packet)
}

/// XY_COLOR_BLT: fills a rectangle.
pub fn color(exec: &mut Exec<'_>, packet: &XyColorBlt) -> Result<(), Fault> {
    let packet = packet!(packet => XyColorBlt {
        raster_operation, color_depth, destination_base_address,
    } tiled tiling_enable;
        destination_pitch: destination_pitch,
        clipping_enable: clipping_enabled,
        destination_x1_coordinate_left: destination_x1_coordinate,
        destination_y1_coordinate_top: destination_y1_coordinate,
        destination_x2_coordinate_right: destination_x2_coordinate,
        destination_y2_coordinate_bottom: destination_y2_coordinate,
        solid_pattern_color: solid_pattern_color,
    );
    blt::draw(exec, &packet)
}

/// XY_SRC_COPY_BLT: copies a rectangle.
pub fn copy(exec: &mut Exec<'_>, packet: &XySrcCopyBlt) -> Result<(), Fault> {
    let packet = packet!(packet => XySrcCopyBlt {
        raster_operation, color_depth, destination_base_address, source_base_address,
    } tiled destination_tiling_enable;
        src_tiling_enable: source_tiling_enable,
        destination_pitch: destination_pitch,
        clipping_enable: clipping_enabled,
        destination_x1_coordinate_left: destination_x1_coordinate,
        destination_y1_coordinate_top: destination_y1_coordinate,
        destination_x2_coordinate_right: destination_x2_coordinate,
        destination_y2_coordinate_bottom: destination_y2_coordinate,
        source_x1_coordinate_left: source_x1_coordinate,
        source_y1_coordinate_top: source_y1_coordinate,
        source_pitch: source_pitch,
    );
    blt::draw(exec, &packet)
}
