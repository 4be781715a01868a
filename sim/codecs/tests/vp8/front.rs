//! What application and driver do: headers, probabilities from frame to frame, references.

use super::tables;
use genxml_codecs::vp8::{self, Data, FilterType, Parameters, Probabilities, Quantiser, Start};
use genxml_codecs::{Frame, Report};
use std::rc::Rc;

/// The boolean decoder, bit by bit as in RFC 6386 7.3.
struct Bits<'a> {
    data: &'a [u8],
    /// Number of bits of the data that were shifted into `value`.
    position: usize,
    value: u32,
    range: u32,
}

impl<'a> Bits<'a> {
    fn new(data: &'a [u8]) -> Self {
        let value = u32::from(data.first().copied().unwrap_or(0));
        Bits { data, position: 8, value, range: 255 }
    }

    fn read(&mut self, probability: u8) -> bool {
        let split = 1 + (((self.range - 1) * u32::from(probability)) >> 8);
        let bit = self.value >= split;
        if bit {
            self.range -= split;
            self.value -= split;
        } else {
            self.range = split;
        }
        while self.range < 128 {
            let byte = self.data.get(self.position / 8).copied().unwrap_or(0);
            let next = u32::from(byte >> (7 - self.position % 8) & 1);
            self.range *= 2;
            // Damaged data may start with a value above the range.
            self.value = self.value << 1 | next;
            self.position += 1;
        }
        bit
    }

    fn flag(&mut self) -> bool {
        self.read(128)
    }

    fn literal(&mut self, count: u32) -> u8 {
        (0..count).fold(0, |value, _| value << 1 | u8::from(self.flag()))
    }

    /// A magnitude of `count` bits and a sign.
    fn signed(&mut self, count: u32) -> i8 {
        let magnitude = self.literal(count) as i8;
        if self.flag() { -magnitude } else { magnitude }
    }

    fn optional(&mut self, count: u32) -> Option<i8> {
        self.flag().then(|| self.signed(count))
    }
}

#[derive(Clone, Default)]
struct Segmentation {
    absolute: bool,
    quantisers: [i8; 4],
    levels: [i8; 4],
}

/// A picture that is ready to be decoded.
pub struct Picture<'a> {
    pub parameters: Parameters,
    pub start: Start,
    pub modes: &'a [u8],
    pub coefficients: Vec<&'a [u8]>,
    pub visible: bool,
    /// Level of the loop filter in the header; 0 disables the filter (RFC 6386 9.6).
    pub filter_level: u8,
    /// The frame replaces the last, the golden, the alternate frame.
    pub refresh: [bool; 3],
    /// The reference that replaces the golden and the alternate frame.
    pub copy: [Option<usize>; 2],
}

/// The state between frames.
#[derive(Clone, Default)]
pub struct Front {
    /// Size of the picture in samples.
    pub size: (usize, usize),
    /// Samples that surfaces have to the right of whole macroblocks, and below.
    pub padding: (usize, usize),
    pub references: [Option<Rc<Frame>>; 3],
    pub segments: Vec<u8>,
    probabilities: Probabilities,
    segmentation: Segmentation,
    reference_deltas: [i8; 4],
    mode_deltas: [i8; 4],
    sign_bias: [bool; 2],
}

/// The value that samples outside the picture have before decoding.
pub const OUTSIDE: u8 = 0xa5;

impl Front {
    /// The state before the first frame.
    pub fn new(padding: (usize, usize)) -> Self {
        Front { padding, ..Front::default() }
    }

    /// Parses a frame's header and updates the state that the header changes. `None` if the frame
    /// is too short to have a header, or the first one is not a key frame.
    pub fn parse<'a>(&mut self, data: &'a [u8]) -> Option<Picture<'a>> {
        let tag = data.get(..3)?;
        let tag = u32::from_le_bytes([tag[0], tag[1], tag[2], 0]);
        let (key_frame, version) = (tag & 1 == 0, tag >> 1 & 7);
        let mut first = data.get(3..)?;
        if key_frame {
            self.start_key_frame(data)?;
            first = &data[10..];
        }
        if self.size.0 == 0 || self.size.1 == 0 {
            return None;
        }
        let first_size = (tag >> 5) as usize;
        let rest = first.get(first_size..)?;
        let mut bits = Bits::new(&first[..first_size]);
        if key_frame {
            // Colour space, and whether clamping is needed: it never hurts.
            bits.literal(2);
        }
        let mut parameters = Parameters {
            width: self.size.0.div_ceil(16),
            height: self.size.1.div_ceil(16),
            key_frame,
            bilinear: version != 0,
            full_pixel_chroma: version == 3,
            ..Parameters::default()
        };
        self.parse_segmentation(&mut bits, &mut parameters);
        let filter_level = self.parse_filter(&mut bits, &mut parameters);
        let coefficients = partitions(rest, 1 << bits.literal(2))?;
        self.parse_quantisers(&mut bits, &mut parameters);
        let mut refresh = [true; 3];
        let mut copy = [None; 2];
        if !key_frame {
            (refresh[1], refresh[2]) = (bits.flag(), bits.flag());
            for (index, others) in [[0, 2], [0, 1]].into_iter().enumerate() {
                let source = if refresh[index + 1] { 0 } else { bits.literal(2) };
                copy[index] = others.get(usize::from(source).wrapping_sub(1)).copied();
            }
            self.sign_bias = [bits.flag(), bits.flag()];
        }
        let keep_probabilities = bits.flag();
        if !key_frame {
            refresh[0] = bits.flag();
        }
        let saved = self.probabilities.clone();
        self.parse_probabilities(&mut bits, &mut parameters);
        [parameters.golden_sign_bias, parameters.alternate_sign_bias] = self.sign_bias;
        if !keep_probabilities {
            self.probabilities = saved;
        }
        let start = Start {
            range: bits.range as u8,
            value: bits.value as u8,
            count: (bits.position % 8) as u8,
        };
        Some(Picture {
            parameters,
            start,
            modes: &first[(bits.position / 8).min(first_size)..first_size],
            coefficients,
            visible: tag >> 4 & 1 != 0,
            filter_level,
            refresh,
            copy,
        })
    }

    fn start_key_frame(&mut self, data: &[u8]) -> Option<()> {
        let header = data.get(3..10).filter(|header| header.starts_with(&[0x9d, 1, 0x2a]))?;
        // Two bits of scaling above 14 bits of size.
        let size =
            |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]])) & 0x3fff;
        let size = (size(3), size(5));
        *self = Front {
            size,
            padding: self.padding,
            references: std::mem::take(&mut self.references),
            segments: std::mem::take(&mut self.segments),
            ..Front::default()
        };
        self.segments.resize(size.0.div_ceil(16) * size.1.div_ceil(16), 0);
        self.probabilities.luma_modes = tables::LUMA_MODES;
        self.probabilities.chroma_modes = tables::CHROMA_MODES;
        self.probabilities.vectors = tables::VECTORS;
        self.probabilities.coefficients = tables::COEFFICIENTS;
        Some(())
    }

    fn parse_segmentation(&mut self, bits: &mut Bits, parameters: &mut Parameters) {
        parameters.segmentation = bits.flag();
        if !parameters.segmentation {
            return;
        }
        parameters.update_segments = bits.flag();
        parameters.segments_in = !parameters.update_segments;
        parameters.segments_out = parameters.update_segments;
        if bits.flag() {
            self.segmentation.absolute = bits.flag();
            let quantisers = [(); 4].map(|()| bits.optional(7).unwrap_or(0));
            let levels = [(); 4].map(|()| bits.optional(6).unwrap_or(0));
            (self.segmentation.quantisers, self.segmentation.levels) = (quantisers, levels);
        }
        if parameters.update_segments {
            self.probabilities.segments =
                [(); 3].map(|()| if bits.flag() { bits.literal(8) } else { 255 });
        }
    }

    fn parse_filter(&mut self, bits: &mut Bits, parameters: &mut Parameters) -> u8 {
        parameters.filter_type = if bits.flag() { FilterType::Simple } else { FilterType::Normal };
        let level = bits.literal(6);
        parameters.sharpness = bits.literal(3);
        parameters.filter_deltas = bits.flag();
        if parameters.filter_deltas && bits.flag() {
            for delta in self.reference_deltas.iter_mut().chain(&mut self.mode_deltas) {
                *delta = bits.optional(6).unwrap_or(*delta);
            }
        }
        parameters.reference_deltas = self.reference_deltas;
        parameters.mode_deltas = self.mode_deltas;
        parameters.filter_levels = self.segmentation.levels.map(|change| {
            match (parameters.segmentation, self.segmentation.absolute) {
                (false, _) => level,
                (true, true) => change.clamp(0, 63) as u8,
                (true, false) => (level as i8 + change).clamp(0, 63) as u8,
            }
        });
        level
    }

    fn parse_quantisers(&self, bits: &mut Bits, parameters: &mut Parameters) {
        let base = i32::from(bits.literal(7));
        let [y1_dc, y2_dc, y2_ac, uv_dc, uv_ac] =
            [(); 5].map(|()| i32::from(bits.optional(4).unwrap_or(0)));
        parameters.quantisers = self.segmentation.quantisers.map(|change| {
            let index = match (parameters.segmentation, self.segmentation.absolute) {
                (false, _) => base,
                (true, true) => i32::from(change),
                (true, false) => base + i32::from(change),
            };
            let index = index.clamp(0, 127);
            let step =
                |table: &[u16; 128], delta: i32| table[(index + delta).clamp(0, 127) as usize];
            let (dc, ac) = (&tables::DC_STEPS, &tables::AC_STEPS);
            Quantiser {
                y1: [step(dc, y1_dc), step(ac, 0)],
                y2: [2 * step(dc, y2_dc), (u32::from(step(ac, y2_ac)) * 155 / 100).max(8) as u16],
                uv: [step(dc, uv_dc).min(132), step(ac, uv_ac)],
            }
        });
    }

    fn parse_probabilities(&mut self, bits: &mut Bits, parameters: &mut Parameters) {
        let probabilities = &mut self.probabilities;
        let updates = tables::COEFFICIENT_UPDATES.as_flattened().as_flattened().as_flattened();
        let coefficients = probabilities.coefficients.as_flattened_mut().as_flattened_mut();
        for (probability, &update) in coefficients.as_flattened_mut().iter_mut().zip(updates) {
            if bits.read(update) {
                *probability = bits.literal(8);
            }
        }
        parameters.skipping = bits.flag();
        probabilities.skip = if parameters.skipping { bits.literal(8) } else { 0 };
        if !parameters.key_frame {
            probabilities.intra = bits.literal(8);
            probabilities.last = bits.literal(8);
            probabilities.golden = bits.literal(8);
            if bits.flag() {
                probabilities.luma_modes = [(); 4].map(|()| bits.literal(8));
            }
            if bits.flag() {
                probabilities.chroma_modes = [(); 3].map(|()| bits.literal(8));
            }
            let updates = tables::VECTOR_UPDATES.as_flattened();
            let vectors = probabilities.vectors.as_flattened_mut();
            for (probability, &update) in vectors.iter_mut().zip(updates) {
                if bits.read(update) {
                    let value = bits.literal(7);
                    *probability = if value == 0 { 1 } else { 2 * value };
                }
            }
        }
        parameters.probabilities = probabilities.clone();
    }

    /// A surface for a picture.
    pub fn surface(&self, parameters: &Parameters) -> Frame {
        let width = 16 * parameters.width + self.padding.0;
        let height = 16 * parameters.height + self.padding.1;
        Frame::new(width, height, (2, 2), OUTSIDE)
    }

    /// Decodes a parsed picture and updates the references.
    pub fn decode(&mut self, picture: &Picture) -> Result<(Rc<Frame>, Report), vp8::Error> {
        let data = Data {
            start: picture.start,
            modes: picture.modes,
            coefficients: &picture.coefficients,
        };
        let references = std::mem::take(&mut self.references);
        let mut target = self.surface(&picture.parameters);
        let decode = if picture.filter_level == 0 {
            |parameters: &_, data: &_, references, target: &mut _, segments: &mut _| {
                vp8::reconstruct(parameters, data, references, target, segments)
                    .map(|reconstruction| reconstruction.report)
            }
        } else {
            vp8::decode
        };
        let views = references.each_ref().map(Option::as_deref);
        let report = decode(&picture.parameters, &data, views, &mut target, &mut self.segments)?;
        let target = Rc::new(target);
        self.references = references.clone();
        for (index, source) in picture.copy.into_iter().enumerate() {
            if let Some(source) = source {
                self.references[index + 1] = references[source].clone();
            }
        }
        for (reference, refresh) in self.references.iter_mut().zip(picture.refresh) {
            if refresh {
                *reference = Some(target.clone());
            }
        }
        Ok((target, report))
    }
}

/// The partitions of coefficients: their sizes except the last one, three bytes each, come first.
fn partitions(data: &[u8], count: usize) -> Option<Vec<&[u8]>> {
    let (sizes, mut rest) = data.split_at_checked(3 * (count - 1))?;
    let mut partitions = Vec::new();
    for size in sizes.chunks_exact(3) {
        let size = u32::from_le_bytes([size[0], size[1], size[2], 0]) as usize;
        let (partition, after) = rest.split_at(size.min(rest.len()));
        partitions.push(partition);
        rest = after;
    }
    partitions.push(rest);
    Some(partitions)
}
