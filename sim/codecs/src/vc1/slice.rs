//! The macroblocks of a slice.

use super::compensation::Reference;
use super::decoder::{Decoded, Decoder, Samples};
use super::input::{Input, MOTION_BYTES, Slice};
use super::macroblock::Macroblock;
use super::parameters::{Coding, PictureType};
use super::picture::Picture;
use super::vectors::vector_range;
use super::vlc::CODES;
use crate::bits::BitReader;
use crate::conceal::Block;
use crate::{Frame, Report, Structure, emulation};

impl Picture {
    /// Decodes a slice into its rows of `target`, which is a frame even for fields. Samples outside
    /// `target` are dropped. The picture's motion is written to `motion_out`, [`MOTION_BYTES`] per
    /// macroblock in raster order, as far as it has room; pass an empty slice for B pictures.
    /// A macroblock with an error and those after it are copied from the forward reference. Without a
    /// reference they keep what `target` holds. They are counted as concealed. Bits after the end of
    /// the data read as zero; the macroblock that reads them is the last one.
    pub fn slice(
        &mut self,
        slice: &Slice,
        input: &Input<'_>,
        target: &mut Frame,
        motion_out: &mut [u8],
    ) -> Report {
        let p = &self.parameters;
        let end_row = slice.end_row.min(p.height_in_mbs);
        let first_row = slice.first_row;
        if first_row >= end_row {
            return Report { errors: 1, ..Report::default() };
        }
        let unescaped;
        let data = if p.advanced {
            unescaped = emulation::remove(input.data);
            &unescaped
        } else {
            input.data
        };
        let reference = |index: usize| {
            let luts = &self.luts[index % 2];
            Reference::new(input.references[index], p, p.interlaced[index], luts)
        };
        let width = p.width_in_mbs;
        self.macroblocks[first_row * width..end_row * width].fill(Macroblock::default());
        let structure = self.structure();
        let mut decoder = Decoder {
            p,
            codes: &CODES,
            macroblocks: &mut self.macroblocks,
            intra: &mut self.intra,
            bits: BitReader::new(data, slice.bit_offset),
            bitplanes: input.bitplanes,
            references: [[reference(0), reference(2)], [reference(1), reference(3)]],
            motion: input.motion,
            target,
            structure,
            first_row,
            x: 0,
            y: first_row,
            escape: None,
            range: vector_range(p),
            transform_codes: usize::from(p.quantizer > 4) + usize::from(p.quantizer > 12),
            samples: Samples { planes: [[0; 256]; 3] },
        };
        let report = decoder.run(end_row);
        decoder.write_motion(motion_out, report.macroblocks as usize);
        let forward = match structure {
            Structure::Bottom => input.references[2],
            _ => input.references[0],
        };
        if let Some(forward) = forward {
            for at in first_row * width + report.macroblocks as usize..end_row * width {
                let position = (at % width, at / width);
                for (plane, size) in [16, 8, 8].into_iter().enumerate() {
                    Block { position, size, structure }.copy(
                        &forward.planes[plane],
                        structure,
                        &mut target.planes[plane],
                    );
                }
            }
        }
        report
    }
}

impl Decoder<'_> {
    /// Decodes the macroblocks up to row `end_row`, then filters what was decoded.
    fn run(&mut self, end_row: usize) -> Report {
        let width = self.p.width_in_mbs;
        let mut report = Report::default();
        'rows: for y in self.first_row..end_row {
            for x in 0..width {
                (self.x, self.y) = (x, y);
                if self.macroblock().is_err() {
                    report.errors += 1;
                    break 'rows;
                }
                report.macroblocks += 1;
                if self.bits.overrun() > 0 {
                    report.errors += 1;
                    break 'rows;
                }
            }
        }
        let count = report.macroblocks as usize;
        let decoded = self.first_row * width + count;
        // The macroblock that failed may have left flags behind.
        if let Some(failed) = self.macroblocks.get_mut(decoded..end_row * width) {
            failed.fill(Macroblock::default());
        }
        report.concealed = ((end_row - self.first_row) * width - count) as u32;
        let end_row = decoded.div_ceil(width);
        if self.p.overlap && self.p.picture != PictureType::B {
            self.smooth(end_row);
        }
        self.store_intra(end_row);
        if self.p.loop_filter {
            self.deblock(end_row);
        }
        report
    }

    /// Decodes a macroblock.
    fn macroblock(&mut self) -> Decoded<()> {
        use Coding::{BottomFieldFirst, InterlacedFrame, Progressive, TopFieldFirst};
        match (self.p.picture, self.p.coding) {
            (PictureType::I | PictureType::Bi, _) => self.intra_picture_macroblock(),
            (PictureType::P, Progressive) => self.predicted_macroblock(),
            (PictureType::B, Progressive) => self.bidirectional_macroblock(),
            (PictureType::P, InterlacedFrame) => self.frame_p_macroblock(),
            (PictureType::B, InterlacedFrame) => self.frame_b_macroblock(),
            (PictureType::P, TopFieldFirst | BottomFieldFirst) => self.field_p_macroblock(),
            (PictureType::B, TopFieldFirst | BottomFieldFirst) => self.field_b_macroblock(),
        }
    }

    /// Writes the motion of the slice's first `count` macroblocks for later B pictures.
    fn write_motion(&self, out: &mut [u8], count: usize) {
        let first = self.first_row * self.p.width_in_mbs;
        let macroblocks = &self.macroblocks[first..];
        let Some(out) = out.get_mut(first * MOTION_BYTES..) else {
            return;
        };
        for (out, macroblock) in out.chunks_exact_mut(MOTION_BYTES).zip(macroblocks).take(count) {
            let (vectors, opposite) = self.motion_of(macroblock);
            out.fill(0);
            for (out, mv) in out.chunks_exact_mut(4).zip(vectors) {
                out[..2].copy_from_slice(&mv.x.to_le_bytes());
                out[2..].copy_from_slice(&mv.y.to_le_bytes());
            }
            out[8] = u8::from(opposite);
        }
    }
}
