//! Random streams. Each bit of VP8 has a probability, hence random bits after a frame header are a
//! valid random picture: macroblock modes, vectors and coefficients that are distributed as the
//! probabilities in the header state.

use super::container;
use super::front::Front;
use super::tables;
use crate::support;
use fastrand::Rng;
use genxml_codecs::Frame;
use std::rc::Rc;

/// The boolean encoder (RFC 6386 7.3), bit by bit.
struct Encoder {
    bits: Vec<bool>,
    low: u32,
    range: u32,
}

impl Encoder {
    fn new() -> Self {
        Encoder { bits: Vec::new(), low: 0, range: 255 }
    }

    fn write(&mut self, bit: bool, probability: u8) {
        let split = 1 + (((self.range - 1) * u32::from(probability)) >> 8);
        if bit {
            self.add(split);
            self.range -= split;
        } else {
            self.range = split;
        }
        while self.range < 128 {
            self.range *= 2;
            self.bits.push(self.low & 0x80 != 0);
            self.low = self.low << 1 & 0xff;
        }
    }

    fn add(&mut self, value: u32) {
        self.low += value;
        if self.low > 0xff {
            self.low &= 0xff;
            for bit in self.bits.iter_mut().rev() {
                *bit = !*bit;
                if *bit {
                    break;
                }
            }
        }
    }

    fn flag(&mut self, bit: bool) {
        self.write(bit, 128);
    }

    fn literal(&mut self, value: u8, count: u32) {
        for bit in (0..count).rev() {
            self.flag(value >> bit & 1 != 0);
        }
    }

    fn optional(&mut self, value: Option<i8>, count: u32) {
        self.flag(value.is_some());
        if let Some(value) = value {
            self.literal(value.unsigned_abs(), count);
            self.flag(value < 0);
        }
    }

    /// The bytes so far. They continue at random.
    fn finish(mut self, random: &mut Rng) -> Vec<u8> {
        let offset = random.u32(..self.range);
        self.add(offset);
        self.bits.extend((0..8).rev().map(|bit| self.low >> bit & 1 != 0));
        while !self.bits.len().is_multiple_of(8) {
            self.bits.push(random.bool());
        }
        let byte = |bits: &[bool]| bits.iter().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        self.bits.chunks_exact(8).map(byte).collect()
    }
}

/// What the frames of a stream have in common.
struct Style {
    version: u8,
    size: (u16, u16),
    log2_partitions: u8,
    segments: bool,
    /// Probability in percent that a probability of coefficients changes.
    coefficient_changes: u8,
    /// Vectors are short in most macroblocks.
    short_vectors: bool,
}

impl Style {
    fn new(random: &mut Rng) -> Self {
        Style {
            version: if random.bool() { 0 } else { random.u8(1..4) },
            size: (random.u16(1..100), random.u16(1..100)),
            log2_partitions: random.u8(0..4),
            segments: random.bool(),
            coefficient_changes: [0, 1, 10, 50][random.usize(..4)],
            short_vectors: random.u8(..4) > 0,
        }
    }
}

/// A frame without the tails of its partitions.
struct Parts {
    tag: u32,
    /// Start code and size of key frames.
    start: Vec<u8>,
    first: Vec<u8>,
    others: Vec<Vec<u8>>,
}

impl Parts {
    fn extend(&mut self, random: &mut Rng, count: usize) {
        for part in self.others.iter_mut().chain([&mut self.first]) {
            // No encoder starts with 255: the value of the decoder stays below its range.
            let first = random.u8(..255);
            part.extend((0..count).map(|at| if at == 0 { first } else { random.u8(..) }));
        }
    }

    fn assemble(&self) -> Vec<u8> {
        let tag = self.tag | (self.first.len() as u32) << 5;
        let mut frame = tag.to_le_bytes()[..3].to_vec();
        frame.extend(&self.start);
        frame.extend(&self.first);
        for part in &self.others[..self.others.len() - 1] {
            frame.extend(&(part.len() as u32).to_le_bytes()[..3]);
        }
        frame.extend(self.others.iter().flatten());
        frame
    }
}

/// A random change of a value, so that the sum is in the range 0..=`largest`.
fn change(random: &mut Rng, base: u8, largest: i8) -> i8 {
    random.i8(0..=largest) - base as i8
}

/// A stream that is made frame by frame.
pub struct Generator {
    random: Rng,
    style: Style,
    /// The last frame had segments, so that the next one may use its map.
    has_map: bool,
    /// Segments change values absolutely, quantiser indices and filter levels of segments.
    segment_values: (bool, [i8; 4], [i8; 4]),
    pub front: Front,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let style = Style::new(&mut random);
        let padding = (random.usize(..3) * 16, random.usize(..3) * 2);
        Generator {
            random,
            style,
            has_map: false,
            segment_values: (true, [0; 4], [0; 4]),
            front: Front::new(padding),
        }
    }

    /// The next frame. It is the first one, or a random kind.
    pub fn next(&mut self) -> (Vec<u8>, Rc<Frame>, bool) {
        let key_frame = self.front.references[0].is_none() || self.random.u8(..8) == 0;
        if key_frame && self.random.u8(..4) == 0 {
            self.style.size = (self.random.u16(1..100), self.random.u16(1..100));
        }
        let mut parts = self.header(key_frame);
        let mut count = 16;
        loop {
            parts.extend(&mut self.random, count);
            count *= 2;
            if self.decode(&parts).is_none() {
                continue;
            }
            // Some bytes to spare: FFmpeg's decoder reads a byte after the end of a partition.
            parts.extend(&mut self.random, 8);
            if let Some((front, frame, visible)) = self.decode(&parts) {
                self.front = front;
                return (parts.assemble(), frame, visible);
            }
        }
    }

    /// Decodes a frame. `None` if its partitions are too short.
    fn decode(&self, parts: &Parts) -> Option<(Front, Rc<Frame>, bool)> {
        let data = parts.assemble();
        let mut front = self.front.clone();
        let picture = front.parse(&data).expect("a valid header");
        let (frame, report) = front.decode(&picture).expect("valid parameters");
        if report.errors > 0 {
            return None;
        }
        let macroblocks = picture.parameters.width * picture.parameters.height;
        assert_eq!((report.macroblocks as usize, report.concealed), (macroblocks, 0));
        Some((front, frame, picture.visible))
    }

    fn header(&mut self, key_frame: bool) -> Parts {
        let mut encoder = Encoder::new();
        let visible = key_frame || self.random.u8(..6) > 0;
        let tag = u32::from(!key_frame) | u32::from(self.style.version) << 1;
        let tag = tag | u32::from(visible) << 4;
        let mut start = Vec::new();
        if key_frame {
            start = vec![0x9d, 1, 0x2a];
            // The upper two bits are scaling, which decoding ignores.
            let scale = self.random.u16(..4) << 14;
            start.extend((self.style.size.0 | scale).to_le_bytes());
            start.extend((self.style.size.1 | scale).to_le_bytes());
            encoder.literal(0, 2);
        }
        let quantiser = match self.random.u8(..3) {
            0 => self.random.u8(..128),
            _ => self.random.u8(..40),
        };
        let level = if self.random.u8(..4) == 0 { 0 } else { self.random.u8(1..64) };
        self.write_segmentation(&mut encoder, key_frame, quantiser, level);
        self.write_filter(&mut encoder, level);
        encoder.literal(self.style.log2_partitions, 2);
        encoder.literal(quantiser, 7);
        for _ in 0..5 {
            let delta = self.random.bool().then(|| self.random.i8(-15..16));
            encoder.optional(delta, 4);
        }
        if !key_frame {
            let refresh = [self.random.u8(..4) == 0, self.random.u8(..4) == 0];
            encoder.flag(refresh[0]);
            encoder.flag(refresh[1]);
            for _ in refresh.iter().filter(|refresh| !**refresh) {
                encoder.literal(self.random.u8(..3), 2);
            }
            encoder.flag(self.random.bool());
            encoder.flag(self.random.bool());
        }
        encoder.flag(self.random.bool());
        if !key_frame {
            encoder.flag(self.random.u8(..4) > 0);
        }
        self.write_probabilities(&mut encoder, key_frame);
        let first = encoder.finish(&mut self.random);
        Parts { tag, start, first, others: vec![Vec::new(); 1 << self.style.log2_partitions] }
    }

    fn write_segmentation(
        &mut self,
        encoder: &mut Encoder,
        key_frame: bool,
        quantiser: u8,
        level: u8,
    ) {
        let random = &mut self.random;
        let segments = self.style.segments && random.u8(..8) > 0;
        encoder.flag(segments);
        let may_keep = self.has_map && !key_frame;
        self.has_map = segments;
        if !segments {
            return;
        }
        let update_map = !may_keep || random.bool();
        encoder.flag(update_map);
        // Changes of other values must not leave the range: decoders differ in where they clamp.
        encoder.flag(true);
        let absolute = random.bool();
        encoder.flag(absolute);
        let mut value = |base: u8, largest: i8| match absolute {
            true => random.i8(0..=largest),
            false => change(random, base, largest),
        };
        let quantisers = [(); 4].map(|()| value(quantiser, 127));
        let levels = [(); 4].map(|()| value(level, 63));
        self.segment_values = (absolute, quantisers, levels);
        for value in quantisers {
            encoder.optional((value != 0).then_some(value), 7);
        }
        for value in levels {
            encoder.optional((value != 0).then_some(value), 6);
        }
        if update_map {
            for _ in 0..3 {
                let explicit = random.bool();
                encoder.flag(explicit);
                if explicit {
                    encoder.literal(random.u8(1..), 8);
                }
            }
        }
    }

    fn write_filter(&mut self, encoder: &mut Encoder, level: u8) {
        let random = &mut self.random;
        encoder.flag(random.u8(..3) == 0);
        encoder.literal(level, 6);
        encoder.literal(if random.bool() { 0 } else { random.u8(..8) }, 3);
        let deltas = random.bool();
        encoder.flag(deltas);
        if deltas {
            let update = random.bool();
            encoder.flag(update);
            for _ in 0..if update { 8 } else { 0 } {
                let delta = random.bool().then(|| random.i8(-63..64));
                encoder.optional(delta, 6);
            }
        }
    }

    fn write_probabilities(&mut self, encoder: &mut Encoder, key_frame: bool) {
        let random = &mut self.random;
        let updates = tables::COEFFICIENT_UPDATES.as_flattened().as_flattened().as_flattened();
        for &update in updates {
            let change = random.u8(..100) < self.style.coefficient_changes;
            encoder.write(change, update);
            if change {
                encoder.literal(random.u8(1..), 8);
            }
        }
        let skipping = random.u8(..4) > 0;
        encoder.flag(skipping);
        if skipping {
            encoder.literal(random.u8(1..), 8);
        }
        if key_frame {
            return;
        }
        // Mostly inter macroblocks.
        encoder.literal(random.u8(1..128), 8);
        encoder.literal(random.u8(1..), 8);
        encoder.literal(random.u8(1..), 8);
        for count in [4, 3] {
            let update = random.bool();
            encoder.flag(update);
            for _ in 0..if update { count } else { 0 } {
                encoder.literal(random.u8(1..), 8);
            }
        }
        for updates in tables::VECTOR_UPDATES {
            for (index, update) in updates.into_iter().enumerate() {
                // The first probability is that of the short form.
                let change = random.u8(..8) == 0 || index == 0;
                encoder.write(change, update);
                if change {
                    let short = index == 0 && self.style.short_vectors;
                    encoder.literal(random.u8(if short { 120..128 } else { 0..128 }), 7);
                }
            }
        }
    }
}

/// Oracle: FFmpeg's software decoder, without code for special processors because that may differ
/// where numbers leave their range. The number of streams is in `GENXML_STREAMS`.
#[test]
fn random_streams_decode_as_by_ffmpeg() {
    for seed in 0..support::number("GENXML_STREAMS").unwrap_or(10) {
        let mut generator = Generator::new(seed);
        let (mut frames, mut want) = (Vec::new(), Vec::new());
        let mut size = (0, 0);
        for _ in 0..8 {
            let (data, frame, visible) = generator.next();
            if frames.is_empty() {
                size = generator.style.size;
            }
            frames.push(data);
            if visible {
                let (width, height) = generator.front.size;
                append(&frame, (width, height), &mut want);
            }
        }
        let file = container::ivf(&frames, size.0, size.1);
        let options = ["-cpuflags", "0", "-f", "ivf"];
        let Some((got, errors)) = support::software(&file, &options) else { return };
        assert!(got == want, "stream {seed} differs: {errors}");
    }
}

/// Appends the visible part of a frame.
fn append(frame: &Frame, (width, height): (usize, usize), out: &mut Vec<u8>) {
    for (plane, step) in frame.planes.iter().zip([1, 2, 2]) {
        for row in plane.data.chunks_exact(plane.width).take(height.div_ceil(step)) {
            out.extend(&row[..width.div_ceil(step)]);
        }
    }
}
