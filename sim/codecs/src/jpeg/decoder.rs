//! Decodes the minimum coded units of a scan (T.81 A.2, F.2).

use super::huffman::{Codes, extend};
use super::idct;
use super::parameters::{Error, Parameters, Rotation, Scan};
use super::segments::Segments;
use crate::bits::BitReader;
use crate::zigzag::ZIGZAG_8X8;
use crate::{Frame, Plane, Report};
use std::ops::Range;

/// The largest number of bits of a difference or a coefficient that is decoded. Baseline pictures
/// have at most 11 (T.81 tables F.1 and F.2).
const MAX_SIZE: u32 = 15;

/// Kinds of errors in a scan, as the engine reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// A code is in no Huffman table, or a coefficient is outside its block.
    pub inconsistent: bool,
    /// A segment has data after its last block.
    pub extra_block: bool,
    /// A segment ends before its last block.
    pub missing_block: bool,
    /// The scan has more segments than coded units need.
    pub extra_segment: bool,
    /// The scan has fewer segments than coded units need.
    pub missing_segment: bool,
}

/// What came of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Counts of coded units and of errors. Samples of a concealed unit stay as they were, except
    /// in blocks that come before the error.
    pub report: Report,
    /// Kinds of the errors.
    pub status: Status,
}

/// Decodes the scans of a picture.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    parameters: &'a Parameters,
    /// DC and AC codes of component 0 and of the others.
    codes: [Option<(Codes, Codes)>; 2],
    /// Quantiser matrix of each component, in the order of the data.
    quantisers: [[f64; 64]; 3],
}

/// A component in a scan.
#[derive(Clone, Copy, Debug, Default)]
struct Component {
    /// The component: 0 is Y.
    index: usize,
    /// Columns and rows of blocks in a coded unit.
    across: u32,
    down: u32,
}

/// How the blocks of a scan follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    components: [Component; 3],
    /// Number of `components`.
    count: usize,
    /// Columns and rows of coded units.
    columns: u32,
    rows: u32,
}

/// The decoding of a scan.
struct Run<'a> {
    decoder: &'a Decoder<'a>,
    layout: Layout,
    /// Number of the first unit in the grid, row by row.
    first: u64,
    /// Number of units of the scan that are in the grid.
    count: u64,
    target: &'a mut Frame,
    outcome: Outcome,
}

/// Why a segment cannot be decoded further.
enum Stop {
    /// No code, or a coefficient outside the block.
    Inconsistent,
    /// The data ended.
    Missing,
}

impl<'a> Decoder<'a> {
    /// A decoder of the picture that `parameters` describe.
    pub fn new(parameters: &'a Parameters) -> Result<Self, Error> {
        parameters.check()?;
        let codes = parameters.huffman.each_ref().map(|tables| {
            tables.as_ref().map(|tables| {
                (
                    Codes::new(&tables.dc_counts, &tables.dc_values),
                    Codes::new(&tables.ac_counts, &tables.ac_values),
                )
            })
        });
        // The engine exchanges rows and columns of a block before it dequantises, if the rotation
        // asks for it. This decoder dequantises first, so it exchanges those of the matrix.
        let transposed = parameters.rotation.transposes();
        let quantisers = parameters.quantisers.map(|matrix| {
            ZIGZAG_8X8.map(|raster| {
                let at = if transposed { raster % 8 * 8 + raster / 8 } else { raster };
                f64::from(matrix[usize::from(at)])
            })
        });
        Ok(Decoder { parameters, codes, quantisers })
    }

    /// Decodes the scan of which `data` has the entropy-coded segments: all from the end of the
    /// scan's header on. Writes the samples that are inside of `target`, whose planes may be
    /// smaller or larger than the picture.
    ///
    /// Units are lost from an error to the next restart marker. Numbers of restart markers show
    /// when one or two segments are missing.
    pub fn scan(&self, scan: &Scan, data: &[u8], target: &mut Frame) -> Outcome {
        let layout = self.layout(scan);
        let total = u64::from(layout.columns) * u64::from(layout.rows);
        let first = u64::from(scan.vertical) * u64::from(layout.columns);
        let first = (first + u64::from(scan.horizontal)).min(total);
        let count = u64::from(scan.mcu_count).min(total - first);
        let outcome = Outcome::default();
        let mut run = Run { decoder: self, layout, first, count, target, outcome };
        if layout.count == 0 || count < u64::from(scan.mcu_count) {
            run.outcome.report.errors += 1;
        }
        if layout.count > 0 {
            run.segments(scan.restart_interval, data);
        }
        let report = &mut run.outcome.report;
        report.concealed = (count as u32).saturating_sub(report.macroblocks);
        run.outcome
    }

    /// The components and the grid of units of a scan.
    fn layout(&self, scan: &Scan) -> Layout {
        let format = self.parameters.format;
        let mut layout = Layout::default();
        for index in (0..format.components()).filter(|index| scan.components >> index & 1 != 0) {
            let (across, down) = format.sampling(index);
            layout.components[layout.count] = Component { index, across, down };
            layout.count += 1;
        }
        // A scan of one component has a block in each unit whatever the sampling factors are
        // (T.81 A.2.2).
        if layout.count > 1 && scan.interleaved {
            (layout.columns, layout.rows) = self.parameters.units();
        } else if layout.count > 0 {
            let component = &mut layout.components[0];
            (component.across, component.down) = (1, 1);
            (layout.columns, layout.rows) = self.blocks(component.index);
            layout.count = 1;
        }
        layout
    }

    /// Columns and rows of blocks in a scan of one component. They exclude the padding to whole
    /// units of the picture, which only a component with several blocks in a unit can have.
    fn blocks(&self, component: usize) -> (u32, u32) {
        let (columns, rows) = self.parameters.blocks(component);
        let Some((width, height)) = self.parameters.picture else {
            return (columns, rows);
        };
        let (luma, own) =
            (self.parameters.format.sampling(0), self.parameters.format.sampling(component));
        let exact = |size: u32, luma: u32, own: u32, padded: u32| match own {
            1 => padded,
            _ => size.div_ceil(luma / own).div_ceil(8).clamp(1, padded),
        };
        (exact(width, luma.0, own.0, columns), exact(height, luma.1, own.1, rows))
    }

    /// Decodes a block (T.81 F.2.2).
    #[inline]
    fn block(
        &self,
        component: usize,
        reader: &mut BitReader<'_>,
        prediction: &mut i32,
    ) -> Result<[u8; 64], Stop> {
        // Which table a component uses is not in the packets. Drivers load the first one for
        // component 0 and the second one for the others.
        let own = usize::from(component != 0);
        let Some((dc, ac)) = self.codes[own].as_ref().or(self.codes[1 - own].as_ref()) else {
            return Err(Stop::Inconsistent);
        };
        let quantiser = &self.quantisers[component];
        let (size, difference) = number(dc, reader)?;
        if size > MAX_SIZE {
            return Err(Stop::Inconsistent);
        }
        *prediction = prediction.wrapping_add(difference);
        let mut coefficients = [0.0; 64];
        coefficients[0] = f64::from(*prediction) * quantiser[0];
        let (mut at, mut rows) = (1, 0);
        while at < 64 {
            let (symbol, value) = number(ac, reader)?;
            let (run, size) = ((symbol >> 4) as usize, symbol & 15);
            if size == 0 {
                // Only 15 zeros go on; what else has no bits ends the block (T.81 F.2.2.2).
                if run != 15 {
                    break;
                }
                at += 16;
                continue;
            }
            at += run;
            let Some(&raster) = ZIGZAG_8X8.get(at) else {
                return Err(Stop::Inconsistent);
            };
            coefficients[usize::from(raster)] = f64::from(value) * quantiser[at];
            rows |= 1 << (raster / 8);
            at += 1;
        }
        if reader.overrun() > 0 {
            return Err(Stop::Missing);
        }
        Ok(match rows {
            0 => [idct::flat(coefficients[0]); 64],
            // The first coefficient is in row 0.
            _ => idct::samples(&coefficients, rows | 1),
        })
    }

    /// Writes the samples of the block at a column and row of blocks, turned with the picture.
    #[inline]
    fn store(
        &self,
        component: usize,
        (column, row): (u32, u32),
        samples: &[u8; 64],
        plane: &mut Plane,
    ) {
        if self.parameters.rotation == Rotation::None {
            return write(plane, (column, row), samples);
        }
        let (columns, rows) = self.parameters.blocks(component);
        // A unit at the edge may have blocks outside of the picture.
        if column >= columns || row >= rows {
            return;
        }
        let (right, below) = (columns - 1 - column, rows - 1 - row);
        let mut turned = [0; 64];
        let at = match self.parameters.rotation {
            Rotation::None => (column, row),
            Rotation::Clockwise90 => (below, column),
            Rotation::Clockwise270 => (row, right),
            Rotation::Half => (right, below),
        };
        for (index, sample) in turned.iter_mut().enumerate() {
            let (x, y) = (index % 8, index / 8);
            let (from_x, from_y) = match self.parameters.rotation {
                Rotation::None => (x, y),
                Rotation::Clockwise90 => (y, 7 - x),
                Rotation::Clockwise270 => (7 - y, x),
                Rotation::Half => (7 - x, 7 - y),
            };
            *sample = samples[8 * from_y + from_x];
        }
        write(plane, at, &turned);
    }
}

impl Run<'_> {
    /// Decodes the segments of the scan.
    fn segments(&mut self, restart_interval: u16, data: &[u8]) {
        let interval = match restart_interval {
            0 => self.count,
            interval => u64::from(interval),
        };
        let (mut segments, mut segment) = (Segments::new(data), Vec::new());
        // Number of the segment that is expected, and of units before the one that is expected.
        let (mut number, mut done) = (0, 0);
        while let Some(restart) = segments.next(&mut segment) {
            let start = match restart {
                None => 0,
                // A marker where none is expected: the data were damaged. Units go on after it.
                Some(_) if restart_interval == 0 => {
                    self.extra_segment();
                    done
                }
                Some(restart) => match lost_segments(number, restart) {
                    Some(lost) => {
                        if lost > 0 {
                            self.missing_segment();
                        }
                        number += lost;
                        number * interval
                    }
                    None => {
                        self.extra_segment();
                        continue;
                    }
                },
            };
            if start >= self.count {
                self.extra_segment();
                break;
            }
            done = start + self.units(start..self.count.min(start + interval), &segment);
            number += 1;
        }
        if number.saturating_mul(interval) < self.count {
            self.missing_segment();
        }
    }

    fn extra_segment(&mut self) {
        self.outcome.status.extra_segment = true;
        self.outcome.report.errors += 1;
    }

    fn missing_segment(&mut self) {
        self.outcome.status.missing_segment = true;
        self.outcome.report.errors += 1;
    }

    /// Decodes the units of a segment; `units` count from the first one of the scan. Returns how
    /// many were decoded.
    fn units(&mut self, units: Range<u64>, segment: &[u8]) -> u64 {
        let mut reader = BitReader::new(segment, 0);
        // DC coefficients are predicted from 0 at the start of a segment (T.81 F.2.1.3.1).
        let mut predictions = [0; 3];
        let (start, columns) = (units.start, u64::from(self.layout.columns));
        for unit in units.clone() {
            let at = self.first + unit;
            let at = ((at % columns) as u32, (at / columns) as u32);
            if let Err(stop) = self.unit(at, &mut reader, &mut predictions) {
                match stop {
                    Stop::Inconsistent if reader.overrun() == 0 => {
                        self.outcome.status.inconsistent = true;
                    }
                    _ => self.outcome.status.missing_block = true,
                }
                self.outcome.report.errors += 1;
                return unit - start;
            }
            self.outcome.report.macroblocks += 1;
        }
        // A segment is padded to a whole byte only.
        if reader.left() >= 8 {
            self.outcome.status.extra_block = true;
            self.outcome.report.errors += 1;
        }
        units.end - start
    }

    /// Decodes the blocks of a unit: component by component, row by row (T.81 A.2.3).
    #[inline]
    fn unit(
        &mut self,
        (column, row): (u32, u32),
        reader: &mut BitReader<'_>,
        predictions: &mut [i32; 3],
    ) -> Result<(), Stop> {
        for component in &self.layout.components[..self.layout.count] {
            let index = component.index;
            for down in 0..component.down {
                for across in 0..component.across {
                    let samples = self.decoder.block(index, reader, &mut predictions[index])?;
                    let at = (column * component.across + across, row * component.down + down);
                    self.decoder.store(index, at, &samples, &mut self.target.planes[index]);
                }
            }
        }
        Ok(())
    }
}

/// Reads a code and the number that follows it. Returns the value of the code, and the number,
/// whose size in bits the four low bits of the value state.
#[inline]
fn number(codes: &Codes, reader: &mut BitReader<'_>) -> Result<(u32, i32), Stop> {
    let bits = reader.peek(32);
    let Some((length, value)) = codes.decode(bits) else {
        // Zero bits after the end of the data may be in no table.
        let ended = reader.left() < 16;
        return Err(if ended { Stop::Missing } else { Stop::Inconsistent });
    };
    let size = u32::from(value & 15);
    // A code has at most 16 bits, and a number at most 15.
    let number = (u64::from(bits) << length & 0xffff_ffff) >> (32 - size);
    reader.skip((length + size) as usize);
    Ok((u32::from(value), extend(number as u32, size)))
}

/// How many segments are lost if the marker `restart` comes before segment `number`, or `None` if
/// the marker belongs to a segment that came before. Markers count from 0 to 7 in a circle, so a
/// marker that is far from the expected one is taken as damaged.
fn lost_segments(number: u64, restart: u8) -> Option<u64> {
    let expected = number.wrapping_sub(1) & 7;
    match (u64::from(restart).wrapping_sub(expected)) & 7 {
        lost @ 0..=2 => Some(lost),
        6 | 7 => None,
        _ => Some(0),
    }
}

/// Writes the block at a column and row of blocks as far as it is inside the plane.
#[inline]
fn write(plane: &mut Plane, (column, row): (u32, u32), samples: &[u8; 64]) {
    let (x, y) = (8 * column as usize, 8 * row as usize);
    let width = plane.width.saturating_sub(x).min(8);
    let height = plane.height.saturating_sub(y).min(8);
    if width == 0 || height == 0 {
        return;
    }
    let stride = plane.width;
    let Some(rows) = plane.data.get_mut(y * stride + x..) else {
        return;
    };
    for (to, from) in rows.chunks_mut(stride).zip(samples.chunks_exact(8)).take(height) {
        if width == 8 && to.len() >= 8 {
            to[..8].copy_from_slice(from);
        } else {
            to.iter_mut().zip(&from[..width]).for_each(|(to, from)| *to = *from);
        }
    }
}
