//! Setup packets, and the short packets that draw with the state that they set.
//!
//! A setup packet is stored unchanged. It sets the raster operation, masks, colours, pattern, clip
//! rectangle and destination (BR01 to BR09, 2d p.47 to 53). The short packet contains the fields
//! that these registers do not hold, such as the tiling and the seeds of the pattern.

use super::bitmap::{Bitmap, Bits};
use super::depth::Depth;
use super::operands::{
    check_operands, clip, destination, mono_pattern, packing, pattern_in_memory,
    with_immediate_data,
};
use super::operation::{Operation, Rectangle, Source};
use super::packets::Draw;
use super::pattern::{Expansion, Pattern};
use super::rop::Rop;
use super::setup_state::{Setup, SetupState};
use crate::assumptions::SOLID_SELECT_IS_FOR_MONO_PATTERNS;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::blitter::{
    XyPixelBlt, XyScanlinesBlt, XySetupBlt, XySetupClipBlt, XySetupMonoPatternSlBlt, XyTextBlt,
    XyTextImmediateBlt,
};

macro_rules! clip_rectangle {
    ($packet:expr) => {
        Some(Rectangle {
            left: $packet.clip_rect_x1_coordinate_left.get(),
            top: $packet.clip_rect_y1_coordinate_top.get(),
            right: $packet.clip_rect_x2_coordinate_right.get(),
            bottom: $packet.clip_rect_y2_coordinate_bottom.get(),
        })
    };
}

/// XY_SETUP_BLT: stores the packet and its clip rectangle.
pub fn setup(exec: &mut Exec<'_>, packet: &XySetupBlt) -> Result<(), Fault> {
    *exec.state.slots.get_mut::<SetupState>() =
        SetupState { setup: Some(Setup::Color(*packet)), clip: clip_rectangle!(packet) };
    Ok(())
}

/// XY_SETUP_MONO_PATTERN_SL_BLT: stores the packet and its clip rectangle.
pub fn setup_mono_pattern(
    exec: &mut Exec<'_>,
    packet: &XySetupMonoPatternSlBlt,
) -> Result<(), Fault> {
    *exec.state.slots.get_mut::<SetupState>() =
        SetupState { setup: Some(Setup::Mono(*packet)), clip: clip_rectangle!(packet) };
    Ok(())
}

/// XY_SETUP_CLIP_BLT: replaces the clip rectangle.
pub fn setup_clip(exec: &mut Exec<'_>, packet: &XySetupClipBlt) -> Result<(), Fault> {
    exec.state.slots.get_mut::<SetupState>().clip = clip_rectangle!(packet);
    Ok(())
}

/// Reads fields that both setup packets have.
macro_rules! both {
    ($setup:expr, $packet:ident => $value:expr) => {
        match $setup {
            Setup::Color($packet) => $value,
            Setup::Mono($packet) => $value,
        }
    };
}

impl Setup {
    /// The latest setup packet.
    fn get(exec: &Exec<'_>) -> Result<Self, Fault> {
        let why = "no XY_SETUP_BLT or XY_SETUP_MONO_PATTERN_SL_BLT was executed before the packet";
        exec.state
            .slots
            .with(|state: &SetupState| state.setup)
            .ok_or_else(|| Fault::Malformed { why: why.into(), at: exec.at })
    }

    /// The background colour, used for bits that are 0 and by XY_PIXEL_BLT (BR05, 2d p.50), and the
    /// foreground colour, used for bits that are 1 (BR06, 2d p.51).
    fn colors(&self) -> [u32; 2] {
        match self {
            Setup::Color(packet) => [packet.background_color, packet.foreground_color],
            Setup::Mono(packet) => {
                [packet.pattern_background_color, packet.pattern_foreground_color]
            }
        }
        .map(|color| color.get() as u32)
    }

    /// The operation of a short packet, without its source and pattern.
    fn operation(
        &self,
        exec: &Exec<'_>,
        tiled: bool,
        rectangle: Rectangle,
    ) -> Result<Operation, Fault> {
        both!(self, packet => {
            let depth = Depth::new(packet.color_depth);
            let base = packet.destination_base_address.va48();
            Ok(Operation {
                depth,
                rop: Rop::new(packet.raster_operation.bits() as u8),
                write_mask: depth.write_mask(packet._32bpp_byte_mask),
                destination: destination(exec, tiled, base, packet.destination_pitch.get()).resolve(exec)?,
                rectangle,
                clip: clip(exec, packet.clipping_enable)?,
                source: Source::None,
                pattern: None,
                key: None,
            })
        })
    }

    /// The source of a text packet, without its bits.
    fn text(&self, start: u64, byte_packed: u64) -> Bitmap {
        let [background, foreground] = self.colors();
        let transparent = both!(self, packet => packet.monochrome_source_transparency_mode);
        Bitmap {
            bits: Bits::Immediate(Vec::new()),
            start: start as u8,
            packing: packing(byte_packed),
            expansion: Expansion { background, foreground, transparent },
        }
    }

    /// The pattern that XY_SCANLINES_BLT draws.
    fn pattern(
        &self,
        exec: &mut Exec<'_>,
        operation: &Operation,
        seeds: [u8; 2],
    ) -> Result<Option<Pattern>, Fault> {
        let [background, foreground] = self.colors();
        match self {
            Setup::Color(packet)
                if packet.solid_pattern_select && !SOLID_SELECT_IS_FOR_MONO_PATTERNS =>
            {
                Ok(Some(Pattern::solid(background)))
            }
            Setup::Color(packet) => {
                pattern_in_memory(exec, packet.pattern_base_address.va48(), operation, seeds)
            }
            Setup::Mono(packet) => {
                let transparent = packet.monochrome_pattern_transparency_mode;
                let data = [packet.pattern_data_0, packet.pattern_data_1];
                let expansion = Expansion { background, foreground, transparent };
                Ok(Some(mono_pattern(data, packet.solid_pattern_select, expansion, seeds)))
            }
        }
    }
}

/// XY_PIXEL_BLT: one pixel in the background colour, which is the pattern.
impl Draw for XyPixelBlt {
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
        let setup = Setup::get(exec)?;
        let (left, top) =
            (self.destination_x_coordinate.get(), self.destination_y_coordinate.get());
        let rectangle = Rectangle { left, top, right: left + 1, bottom: top + 1 };
        let operation = setup.operation(exec, self.dest_tiling_enable, rectangle)?;
        check_operands(exec, operation.rop, false, true)?;
        Ok(Operation { pattern: Some(Pattern::solid(setup.colors()[0])), ..operation })
    }
}

/// XY_SCANLINES_BLT: rows of the pattern.
impl Draw for XyScanlinesBlt {
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
        let setup = Setup::get(exec)?;
        let operation = setup.operation(exec, self.dest_tiling_enable, rectangle!(self))?;
        check_operands(exec, operation.rop, false, true)?;
        if operation.is_empty() {
            return Ok(operation);
        }
        Ok(Operation { pattern: setup.pattern(exec, &operation, seeds!(self))?, ..operation })
    }
}

/// XY_TEXT_BLT: a glyph in memory.
impl Draw for XyTextBlt {
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
        let setup = Setup::get(exec)?;
        let operation = setup.operation(exec, self.dest_tiling_enable, rectangle!(self))?;
        check_operands(exec, operation.rop, true, false)?;
        let bitmap = setup.text(self.monochrome_source_start.get(), self.bit_byte_packed.bits());
        let bits = Bits::Memory(self.source_address.va48());
        Ok(Operation { source: Source::Mono(Bitmap { bits, ..bitmap }), ..operation })
    }
}

/// XY_TEXT_IMMEDIATE_BLT: a glyph in the command.
impl Draw for XyTextImmediateBlt<'_> {
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
        let setup = Setup::get(exec)?;
        let operation = setup.operation(exec, self.dest_tiling_enable, rectangle!(self))?;
        check_operands(exec, operation.rop, true, false)?;
        if operation.is_empty() {
            return Ok(operation);
        }
        let source = setup.text(self.monochrome_source_start.get(), self.bit_byte_packed.bits());
        let source =
            with_immediate_data(exec, Source::Mono(source), self.immediate_data, &operation)?;
        Ok(Operation { source, ..operation })
    }
}
