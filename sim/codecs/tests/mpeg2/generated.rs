//! Random valid streams: all picture structures and predictions, all tables.

use super::encoder::{self, Levels, Macroblock, SliceWriter};
use super::{front, software};
use crate::bits::BitWriter;
use crate::support;
use fastrand::Rng;
use genxml_codecs::mpeg2::{
    Motion, Parameters, PictureType, Prediction, Structure, Vector, tables,
};
use genxml_codecs::zigzag::ZIGZAG_8X8;

/// What the streams used, to see that the test covers it.
#[derive(Debug, Default)]
struct Coverage {
    frame: usize,
    field_in_frame: usize,
    field_in_field: usize,
    sixteen_by_eight: usize,
    dual_in_frame: usize,
    dual_in_field: usize,
    both_directions: usize,
    second_field_of_target: usize,
    skipped_p: usize,
    skipped_b: usize,
    without_vector: usize,
    concealment: usize,
    field_dct: usize,
    escapes: usize,
    table_one: usize,
    alternate_scan: usize,
    nonlinear: usize,
}

/// A stream being generated.
struct Generator {
    random: Rng,
    writer: BitWriter,
    /// In macroblocks.
    size: (usize, usize),
    interlaced: bool,
    /// P and B pictures have no coefficients but multiples of eight in intra DC: all decoders must
    /// agree on them.
    exact: bool,
    matrices: [[u8; 64]; 2],
    coverage: Coverage,
}

/// A stream and the macroblocks in it.
pub struct Generated {
    pub bytes: Vec<u8>,
    macroblocks: u32,
    exact: bool,
    coverage: Coverage,
}

pub fn generate(seed: u64) -> Generated {
    let mut random = Rng::with_seed(seed);
    let interlaced = random.u8(0..4) > 0;
    let height = if interlaced { 2 * random.usize(1..=3) } else { random.usize(1..=5) };
    let size =
        (if random.u8(0..8) == 0 { random.usize(36..=44) } else { random.usize(1..=8) }, height);
    let exact = random.bool();
    let mut generator = Generator {
        random,
        writer: BitWriter::default(),
        size,
        interlaced,
        exact,
        matrices: [tables::DEFAULT_INTRA_MATRIX, tables::DEFAULT_NON_INTRA_MATRIX],
        coverage: Coverage::default(),
    };
    let frames = generator.stream();
    generator.writer.start(0xb7);
    Generated {
        bytes: generator.writer.bytes,
        macroblocks: (frames * size.0 * size.1) as u32,
        exact,
        coverage: generator.coverage,
    }
}

impl Generator {
    /// Returns the number of frames.
    fn stream(&mut self) -> usize {
        let load = self.new_matrices();
        let matrices = self.matrices;
        encoder::sequence(
            &mut self.writer,
            (16 * self.size.0, 16 * self.size.1),
            !self.interlaced,
            [load[0].then_some(&matrices[0]), load[1].then_some(&matrices[1])],
        );
        encoder::group(&mut self.writer);
        let frames = self.random.usize(3..=7);
        let mut references = 0;
        for number in 0..frames {
            let kind = match (references, self.random.u8(0..8)) {
                (0, _) | (_, 0) => PictureType::I,
                (1, _) | (_, 1..=3) => PictureType::P,
                _ => PictureType::B,
            };
            if self.interlaced && self.random.bool() {
                let first = if self.random.bool() { Structure::Top } else { Structure::Bottom };
                self.picture(number, kind, first, false);
                let second = match kind {
                    PictureType::I if references > 0 && self.random.bool() => PictureType::P,
                    kind => kind,
                };
                self.picture(number, second, first.opposite(), true);
            } else {
                self.picture(number, kind, Structure::Frame, false);
            }
            references += usize::from(kind != PictureType::B);
        }
        frames
    }

    /// Changes some of the matrices; returns which ones.
    fn new_matrices(&mut self) -> [bool; 2] {
        let load = [self.random.bool(), self.random.bool()];
        for (matrix, _) in self.matrices.iter_mut().zip(load).filter(|(_, load)| *load) {
            // With the largest quantiser scale, 112, level 1 stays below the saturation.
            matrix.fill_with(|| self.random.u8(1..=190));
        }
        if load[0] {
            self.matrices[0][0] = 8;
        }
        load
    }

    fn picture(&mut self, number: usize, kind: PictureType, structure: Structure, second: bool) {
        let random = &mut self.random;
        let largest = if random.bool() { 9 } else { 3 };
        let mut f_code = |used: bool| if used { random.u8(1..=largest) } else { 15 };
        let concealment_vectors = f_code(true) % 3 == 0;
        let forward = kind != PictureType::I || concealment_vectors;
        let backward = kind == PictureType::B;
        let frame = structure == Structure::Frame;
        let mut parameters = Parameters {
            width: self.size.0,
            height: self.size.1,
            picture_type: kind,
            structure,
            f_codes: [[f_code(forward), f_code(forward)], [f_code(backward), f_code(backward)]],
            intra_dc_precision: random.u8(0..4),
            top_field_first: self.interlaced && frame && random.bool(),
            frame_pred_frame_dct: !self.interlaced || frame && random.u8(0..4) == 0,
            concealment_vectors,
            nonlinear_quantiser: random.bool(),
            intra_vlc_format: random.bool(),
            alternate_scan: random.bool(),
            mismatch_control: true,
            conceal: false,
            intra_matrix: self.matrices[0],
            non_intra_matrix: self.matrices[1],
        };
        encoder::picture(&mut self.writer, &parameters, number as u32, !self.interlaced);
        if self.random.u8(0..3) == 0 {
            let load = self.new_matrices();
            let matrices = self.matrices;
            let some = |index: usize| load[index].then_some(&matrices[index]);
            encoder::matrices(&mut self.writer, [some(0), some(1)]);
            [parameters.intra_matrix, parameters.non_intra_matrix] = matrices;
        }
        self.coverage.alternate_scan += usize::from(parameters.alternate_scan);
        self.coverage.nonlinear += usize::from(parameters.nonlinear_quantiser);
        let rows = if frame { self.size.1 } else { self.size.1 / 2 };
        let skips = self.random.u8(0..3);
        for row in 0..rows {
            let mut column = 0;
            while column < self.size.0 {
                let end = match self.random.bool() {
                    true => self.size.0,
                    false => self.random.usize(column + 1..=self.size.0),
                };
                self.slice(&parameters, (column, end), row, skips, second);
                column = end;
            }
        }
    }

    /// Writes the macroblocks of columns `first..end`.
    fn slice(
        &mut self,
        parameters: &Parameters,
        (first, end): (usize, usize),
        row: usize,
        skips: u8,
        second: bool,
    ) {
        let extra = vec![self.random.u8(..); self.random.usize(0..8).saturating_sub(5)];
        let code = self.random.u8(1..=31);
        let mut writer = std::mem::take(&mut self.writer);
        let mut slice = SliceWriter::new(&mut writer, parameters, (first, row), code, &extra);
        for column in first..end {
            let may_skip = column != first && column + 1 != end && self.random.u8(0..4) < skips;
            if may_skip && self.can_skip(&slice, (column, row)) {
                slice.skip();
                match parameters.picture_type {
                    PictureType::P => self.coverage.skipped_p += 1,
                    _ => self.coverage.skipped_b += 1,
                }
                continue;
            }
            let macroblock = self.macroblock(parameters, (column, row), slice.quantiser_scale_code);
            if second && parameters.picture_type == PictureType::P {
                self.coverage.second_field_of_target += usize::from(
                    macroblock.kind & tables::FORWARD != 0
                        && macroblock.motion.bottom[0][0]
                            == (parameters.structure == Structure::Top),
                );
            }
            slice.macroblock(&mut writer, &macroblock);
        }
        self.writer = writer;
    }

    /// The vectors of a skipped macroblock must stay in the picture.
    fn can_skip(&self, slice: &SliceWriter, (column, row): (usize, usize)) -> bool {
        match slice.parameters.picture_type {
            PictureType::I => false,
            PictureType::P => true,
            PictureType::B => {
                let area = self.area(slice.parameters, Whole, (column, row));
                slice.directions != [false; 2]
                    && (0..2).all(|direction| {
                        !slice.directions[direction]
                            || area.contains(slice.predictors[0][direction])
                    })
            }
        }
    }

    fn macroblock(
        &mut self,
        parameters: &Parameters,
        position: (usize, usize),
        mut quantiser_scale_code: u8,
    ) -> Macroblock {
        let kinds: &[(&str, u8)] = match parameters.picture_type {
            PictureType::I => &tables::MACROBLOCK_TYPE_I,
            PictureType::P => &tables::MACROBLOCK_TYPE_P,
            PictureType::B => &tables::MACROBLOCK_TYPE_B,
        };
        let exact = self.exact && parameters.picture_type != PictureType::I;
        let kind = loop {
            let kind = kinds[self.random.usize(0..kinds.len())].1;
            let intra = kind & tables::INTRA != 0;
            // Less intra macroblocks than types, so that motion shows.
            if !(exact && kind & tables::PATTERN != 0)
                && (!intra
                    || parameters.picture_type == PictureType::I
                    || self.random.u8(0..4) == 0)
            {
                break kind;
            }
        };
        let is = |flag: u8| kind & flag != 0;
        let intra = is(tables::INTRA);
        if is(tables::QUANT) {
            quantiser_scale_code = self.random.u8(1..=31);
        }
        let (motion, differential) = if is(tables::FORWARD | tables::BACKWARD) {
            self.motion(parameters, position, [is(tables::FORWARD), is(tables::BACKWARD)])
        } else if intra && parameters.concealment_vectors {
            self.coverage.concealment += 1;
            self.concealment(parameters, position)
        } else {
            self.coverage.without_vector += usize::from(!intra);
            (Motion::default(), [0; 2])
        };
        let pattern = match (is(tables::PATTERN), intra) {
            (true, _) => self.random.u8(1..64),
            (false, true) => 63,
            (false, false) => 0,
        };
        let precision = parameters.intra_dc_precision;
        let dc = [(); 6].map(|()| {
            let value = self.random.i32(0..256 << precision);
            if exact { value >> precision << precision } else { value }
        });
        let mut levels: [Levels; 6] = Default::default();
        for (block, levels) in levels.iter_mut().enumerate() {
            if pattern & 32 >> block != 0 && !(exact && intra) {
                *levels = self.levels(parameters, intra, quantiser_scale_code);
            }
        }
        let field_dct = self.random.bool();
        let choice = parameters.structure == Structure::Frame && !parameters.frame_pred_frame_dct;
        self.coverage.field_dct += usize::from(field_dct && choice && pattern != 0);
        let kind_of_table = intra && parameters.intra_vlc_format;
        self.coverage.table_one += usize::from(kind_of_table);
        Macroblock {
            kind,
            field_dct,
            quantiser_scale_code,
            motion,
            differential,
            pattern,
            dc,
            levels,
        }
    }

    /// Random coefficients that do not saturate: the software decoder does not saturate them.
    fn levels(&mut self, parameters: &Parameters, intra: bool, code: u8) -> Levels {
        let scale = match parameters.nonlinear_quantiser {
            true => i32::from(tables::NONLINEAR_QUANTISER_SCALE[usize::from(code)]),
            false => 2 * i32::from(code),
        };
        let (matrix, scan) = (
            if intra { &parameters.intra_matrix } else { &parameters.non_intra_matrix },
            if parameters.alternate_scan { &tables::ALTERNATE } else { &ZIGZAG_8X8 },
        );
        let mut levels = Levels::new();
        let mut at = usize::from(intra);
        let most = if self.random.bool() { 3 } else { 20 };
        let count = self.random.usize(usize::from(!intra)..=most);
        while levels.len() < count {
            let run = match self.random.u8(0..6) {
                0 | 1 => 0,
                2 | 3 => self.random.usize(0..4),
                4 => self.random.usize(0..32),
                _ => self.random.usize(0..64),
            };
            at += run;
            let Some(&position) = scan.get(at) else {
                break;
            };
            // Twice the level plus 1, times weight and scale, by 32.
            let weight = i32::from(matrix[usize::from(position)]);
            let limit = ((2047 * 32 / (weight * scale) - 1) / 2).clamp(1, 2047);
            let wanted = match self.random.u8(0..16) {
                0 => self.random.i32(1..=2047),
                1..6 => self.random.i32(1..=40),
                _ => self.random.i32(1..=3),
            };
            let level = wanted.min(limit);
            levels.push((run as u8, if self.random.bool() { -level } else { level }));
            self.coverage.escapes += usize::from(run > 16 && level > 1 || level > 40);
            at += 1;
        }
        if levels.is_empty() && !intra {
            levels.push((0, 1));
        }
        levels
    }
}

use Area::{Half, Whole};

/// The part of a macroblock that a vector moves.
#[derive(Clone, Copy)]
enum Area {
    /// All rows, in lines of the picture.
    Whole,
    /// Number of a half: of a field in a frame picture, of a 16x8 half in a field picture.
    Half(usize),
}

/// Smallest and largest vector that stays in the picture.
struct Range {
    low: Vector,
    high: Vector,
}

impl Range {
    fn contains(&self, vector: Vector) -> bool {
        (0..2).all(|at| (self.low[at]..=self.high[at]).contains(&vector[at]))
    }
}

impl Generator {
    fn area(&self, parameters: &Parameters, area: Area, (x, y): (usize, usize)) -> Range {
        let (width, height) = (16 * self.size.0 as i32, 16 * self.size.1 as i32);
        let (x, y) = (16 * x as i32, 16 * y as i32);
        let (line, lines, rows) = match (area, parameters.structure) {
            (Whole, Structure::Frame) => (y, height, 16),
            (Half(_), Structure::Frame) => (y / 2, height / 2, 8),
            (Whole, _) => (y, height / 2, 16),
            (Half(number), _) => (y + 8 * number as i32, height / 2, 8),
        };
        Range { low: [-2 * x, -2 * line], high: [2 * (width - 16 - x), 2 * (lines - rows - line)] }
    }

    /// A vector in the picture and in the range of f_code. Vectors of fields in a frame picture
    /// have half of the vertical range (7.6.3.1).
    fn vector(&mut self, range: &Range, f_codes: [u8; 2], halve: bool) -> Vector {
        let mut vector = [0; 2];
        for at in 0..2 {
            let limit = (16 << (f_codes[at] - 1)) >> i32::from(halve && at == 1);
            let (low, high) = (range.low[at].max(-limit), range.high[at].min(limit - 1));
            vector[at] = match self.random.u8(0..8) {
                0 | 1 => 0,
                2 => low,
                3 => high,
                4 | 5 => self.random.i32(low.max(-5)..=high.min(5)),
                _ => self.random.i32(low..=high),
            };
        }
        vector
    }

    fn concealment(
        &mut self,
        parameters: &Parameters,
        position: (usize, usize),
    ) -> (Motion, Vector) {
        let range = self.area(parameters, Whole, position);
        let frame = parameters.structure == Structure::Frame;
        let mut motion = Motion {
            prediction: if frame { Prediction::Frame } else { Prediction::Field },
            ..Motion::default()
        };
        motion.vectors[0][0] = self.vector(&range, parameters.f_codes[0], false);
        motion.bottom[0][0] = self.random.bool();
        (motion, [0; 2])
    }

    fn motion(
        &mut self,
        parameters: &Parameters,
        position: (usize, usize),
        directions: [bool; 2],
    ) -> (Motion, Vector) {
        let frame = parameters.structure == Structure::Frame;
        let choices: &[Prediction] = match (frame, parameters.frame_pred_frame_dct) {
            (true, true) => &[Prediction::Frame],
            (true, false) => &[Prediction::Frame, Prediction::Field, Prediction::DualPrime],
            (false, _) => &[Prediction::Field, Prediction::SixteenByEight, Prediction::DualPrime],
        };
        let mut prediction = choices[self.random.usize(0..choices.len())];
        if prediction == Prediction::DualPrime {
            if parameters.picture_type == PictureType::P
                && let Some(found) = self.dual_prime(parameters, position)
            {
                return found;
            }
            prediction = Prediction::Field;
        }
        let mut motion = Motion { prediction, directions, ..Motion::default() };
        let halves = match prediction {
            Prediction::Frame => 1,
            Prediction::Field => 1 + usize::from(frame),
            _ => 2,
        };
        for direction in (0..2).filter(|&direction| directions[direction]) {
            for number in 0..halves {
                let area = if halves == 2 { Half(number) } else { Whole };
                let range = self.area(parameters, area, position);
                let halve = frame && halves == 2;
                motion.vectors[number][direction] =
                    self.vector(&range, parameters.f_codes[direction], halve);
                motion.bottom[number][direction] = self.random.bool();
            }
        }
        self.coverage.both_directions += usize::from(directions == [true; 2]);
        match (prediction, frame) {
            (Prediction::Frame, _) => self.coverage.frame += 1,
            (Prediction::Field, true) => self.coverage.field_in_frame += 1,
            (Prediction::Field, false) => self.coverage.field_in_field += 1,
            _ => self.coverage.sixteen_by_eight += 1,
        }
        (motion, [0; 2])
    }

    /// A vector of dual prime whose derived vectors stay in the picture; `None` if none was found.
    fn dual_prime(
        &mut self,
        parameters: &Parameters,
        position: (usize, usize),
    ) -> Option<(Motion, Vector)> {
        let frame = parameters.structure == Structure::Frame;
        let range = self.area(parameters, if frame { Half(0) } else { Whole }, position);
        // Distance to the other parity's field, and half a line up or down (tables 7-11, 7-12).
        let derived: &[(f64, i32)] = match (parameters.structure, parameters.top_field_first) {
            (Structure::Frame, true) => &[(0.5, -1), (1.5, 1)],
            (Structure::Frame, false) => &[(1.5, -1), (0.5, 1)],
            (Structure::Top, _) => &[(0.5, -1)],
            (Structure::Bottom, _) => &[(0.5, 1)],
        };
        for _ in 0..30 {
            let vector = self.vector(&range, parameters.f_codes[0], frame);
            let differential = [self.random.i32(-1..=1), self.random.i32(-1..=1)];
            let inside = derived.iter().all(|&(factor, line)| {
                // `f64::round` rounds halves away from zero, as the standard's // does.
                let scale = |component: i32| (f64::from(component) * factor).round() as i32;
                range.contains([
                    scale(vector[0]) + differential[0],
                    scale(vector[1]) + differential[1] + line,
                ])
            });
            if inside {
                match frame {
                    true => self.coverage.dual_in_frame += 1,
                    false => self.coverage.dual_in_field += 1,
                }
                let mut motion = Motion { prediction: Prediction::DualPrime, ..Motion::default() };
                motion.vectors[0][0] = vector;
                return Some((motion, differential));
            }
        }
        None
    }
}

/// Oracle: FFmpeg's software decoder with the transform that is the nearest to the exact one. Each
/// frame is replaced by the other decoder's one before others refer to it, so that a difference
/// does not hide in the drift of the transforms: pictures without residual must be equal, others
/// differ by at most 1. Without FFmpeg, the syntax must still be read without an error.
#[test]
fn generated_streams_decode_as_in_the_software_decoder() {
    let mut total: Vec<(String, usize)> = Vec::new();
    let (mut exact_frames, mut frames, mut unequal) = (0, 0, 0u64);
    let streams = support::number("GENXML_STREAMS").unwrap_or(10);
    for seed in 0..streams {
        let generated = generate(seed);
        let options = ["-cpuflags", "0", "-flags", "bitexact", "-idct", "faani"];
        let software = software::decode(&generated.bytes, &options);
        let sequence = front::parse(&generated.bytes);
        let size = software::frame_bytes(sequence.size);
        if let Some(software) = &software {
            assert_eq!(software.len(), size * sequence.frames.len(), "stream {seed}");
        }
        let report = sequence.decode(&generated.bytes, |coded, frame| {
            let (Some(output), Some(software)) = (coded.output, &software) else {
                return;
            };
            let bytes = &software[output * size..][..size];
            let found = software::compare(&sequence, frame, bytes);
            let mut allowed = 0;
            for picture in &coded.pictures {
                let parameters = &picture.parameters;
                // The second field may predict from the first one, which was not replaced.
                allowed += u8::from(!generated.exact || parameters.picture_type == PictureType::I);
            }
            frames += 1;
            exact_frames += usize::from(allowed == 0);
            unequal += found.sum;
            let what = format!("stream {seed}: frame {output}: {found:?}");
            assert!(found.largest <= allowed, "{what}, allowed {allowed}");
            software::replace(frame, bytes);
        });
        assert_eq!((report.errors, report.concealed), (0, 0), "stream {seed}");
        assert_eq!(report.macroblocks, generated.macroblocks, "stream {seed}");
        add(&mut total, &generated.coverage);
    }
    eprintln!("{frames} frames, {exact_frames} exact; sum of differences {unequal}; {total:?}");
    if streams >= 10 {
        assert!(total.iter().all(|(_, count)| *count > 0), "not covered: {total:?}");
    }
}

/// Adds the counts by name.
fn add(total: &mut Vec<(String, usize)>, coverage: &Coverage) {
    let text = format!("{coverage:?}");
    let fields = text.trim_start_matches("Coverage {").trim_end_matches('}').split(',');
    for (index, field) in fields.enumerate() {
        let (name, count) = field.split_once(':').unwrap();
        let count: usize = count.trim().parse().unwrap();
        match total.get_mut(index) {
            Some(entry) => entry.1 += count,
            None => total.push((name.trim().to_owned(), count)),
        }
    }
}
