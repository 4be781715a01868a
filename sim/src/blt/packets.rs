//! Packets that contain all their operands, and the [`Operation`] of each.

use super::bitmap::{Bitmap, Bits, Packing};
use super::depth::Depth;
use super::key::Key;
use super::operands::{
    byte_rectangle, check_operands, clip, destination, immediate_pattern, mono_pattern, packing,
    pattern_in_memory, source_plane, with_immediate_data,
};
use super::operation::{Operation, Rectangle, Source};
use super::pattern::{Expansion, Pattern};
use super::rop::Rop;
use crate::assumptions::WORD_ALIGNMENT_IS_FOR_ALL_BUT_TEXT;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::blitter::*;

/// A packet that draws.
pub trait Draw {
    /// The operation of the packet, with everything resolved but the pixels of source and
    /// destination.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if a field has a value with which the packet cannot be executed;
    /// [`Fault::Page`] if its pattern is not mapped; `Fault::Malformed` if it needs a setup packet
    /// and none was executed; `Fault::Unimplemented` for fixed patterns.
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault>;
}

macro_rules! operations {
    ($($packet:ty: source $source:ident, pattern $pattern:ident, key $key:ident;)*) => {$(
        impl Draw for $packet {
            fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
                let depth = Depth::new(self.color_depth);
                let operation = Operation {
                    depth,
                    rop: Rop::new(self.raster_operation.bits() as u8),
                    write_mask: depth.write_mask(self._32bpp_byte_mask),
                    destination: destination(
                        exec,
                        self.dest_tiling_enable,
                        self.destination_base_address.va48(),
                        self.destination_pitch.get(),
                    )
                    .resolve(exec)?,
                    rectangle: rectangle!(self),
                    clip: clip(exec, self.clipping_enable)?,
                    source: Source::None,
                    pattern: None,
                    key: key!($key, self, depth),
                };
                check_operands(exec, operation.rop, present!($source), present!($pattern))?;
                if operation.is_empty() {
                    return Ok(operation);
                }
                Ok(Operation {
                    source: source!($source, exec, self, &operation),
                    pattern: pattern!($pattern, exec, self, &operation),
                    ..operation
                })
            }
        }
    )*};
}

operations! {
    XyColorBlt:                         source none,      pattern solid,     key none;
    XyPatBlt:                           source none,      pattern color,     key none;
    XyPatBltImmediate<'_>:              source none,      pattern immediate, key none;
    XyPatChromaBlt:                     source none,      pattern color,     key range;
    XyPatChromaBltImmediate<'_>:        source none,      pattern immediate, key range;
    XyMonoPatBlt:                       source none,      pattern mono,      key none;
    XySrcCopyBlt:                       source color,     pattern none,      key none;
    XySrcCopyChromaBlt:                 source color,     pattern none,      key range;
    XyMonoSrcCopyBlt:                   source mono,      pattern none,      key none;
    XyMonoSrcCopyImmediateBlt<'_>:      source immediate, pattern none,      key none;
    XyFullBlt:                          source color,     pattern color,     key none;
    XyFullImmediatePatternBlt<'_>:      source color,     pattern immediate, key none;
    XyFullMonoSrcBlt:                   source mono,      pattern color,     key none;
    XyFullMonoSrcImmediatePatternBlt<'_>: source mono,    pattern immediate, key none;
    XyFullMonoPatternBlt:               source color,     pattern mono,      key none;
    XyFullMonoPatternMonoSrcBlt:        source mono,      pattern mono,      key none;
}

/// COLOR_BLT: rows of bytes from an address on, without coordinates.
impl Draw for ColorBlt {
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
        let depth = Depth::new(self.color_depth);
        let (width, height) = (self.destination_byte_width.get(), self.destination_height.get());
        let (base, pitch) = (self.destination_address.va48(), self.destination_pitch.get());
        let operation = Operation {
            depth,
            rop: Rop::new(self.raster_operation.bits() as u8),
            write_mask: depth.write_mask(self._32bpp_byte_mask),
            destination: destination(exec, false, base, pitch).resolve(exec)?,
            rectangle: byte_rectangle(exec, depth, width, height, self.clipping_enable)?,
            clip: None,
            source: Source::None,
            pattern: Some(Pattern::solid(self.solid_pattern_color.get() as u32)),
            key: None,
        };
        check_operands(exec, operation.rop, false, true)?;
        Ok(operation)
    }
}

/// SRC_COPY_BLT: the same as COLOR_BLT, with a source instead of a colour.
impl Draw for SrcCopyBlt {
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
        let depth = Depth::new(self.color_depth);
        let (width, height) = (self.destination_byte_width.get(), self.destination_height.get());
        let (base, pitch) = (self.destination_address.va48(), self.destination_pitch.get());
        let source = source_plane(exec, false, self.source_address.va48(), self.source_pitch.get());
        let operation = Operation {
            depth,
            rop: Rop::new(self.raster_operation.bits() as u8),
            write_mask: depth.write_mask(self._32bpp_byte_mask),
            destination: destination(exec, false, base, pitch).resolve(exec)?,
            rectangle: byte_rectangle(exec, depth, width, height, self.clipping_enable)?,
            clip: None,
            source: Source::Color { plane: source.resolve(exec)?, x: 0, y: 0 },
            pattern: None,
            key: None,
        };
        check_operands(exec, operation.rop, true, false)?;
        Ok(operation)
    }
}

/// XY_MONO_PAT_FIXED_BLT: not implemented, because no available manual describes its patterns.
impl Draw for XyMonoPatFixedBlt {
    fn operation(&self, exec: &mut Exec<'_>) -> Result<Operation, Fault> {
        let page = "no available manual describes the patterns or the field that selects one";
        Err(exec.unimplemented("the fixed patterns of XY_MONO_PAT_FIXED_BLT", page))
    }
}
