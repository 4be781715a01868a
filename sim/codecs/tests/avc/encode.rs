//! Random macroblocks in random streams, encoded.
//!
//! The generator makes streams with all kinds of headers. The slices of their pictures are replaced:
//! the headers stay, and the encoder encodes random macroblocks. Frames with MBAFF stay as they are.
//!
//! `GENXML_STREAMS` is the number of streams, `AVC_SEED` the seed of a single one.

use super::container::nal_units;
use super::front::{Front, Job};
use super::generate;
use super::streams::{difference, software_frames};
use crate::support::number;
use genxml_codecs::avc::encode::{
    Coded, Forward, Insertion, Inter, Kind, Macroblock, Picture, Rounding, Settings, Shape,
};
use genxml_codecs::avc::{Output, Outputs, Parameters, References, Slice, SliceKind};
use genxml_codecs::{Frame, emulation};
use std::cell::RefCell;
use std::rc::Rc;

/// What the modes of a macroblock depend on: its slice, and whether it is intra.
type Done = Option<(usize, bool)>;

/// Chooses the macroblocks of a picture.
struct Chooser<'a> {
    random: &'a mut fastrand::Rng,
    parameters: &'a Parameters,
    done: Vec<Done>,
    /// Share of intra macroblocks in inter slices, of 16.
    intra: u8,
    /// Largest component of a vector, in quarter samples.
    reach: i16,
    /// Share of macroblocks without coefficients, of 16.
    empty: u8,
    /// No direct prediction.
    no_direct: bool,
}

/// Samples that a block may be predicted from: left, above, corner.
type Available = [bool; 3];

/// Modes of blocks that the samples allow (8.3.1.2, 8.3.2.2).
fn block_modes([left, above, corner]: Available) -> Vec<u8> {
    let mut modes = vec![2];
    if above {
        modes.extend([0, 3, 7]);
    }
    if left {
        modes.extend([1, 8]);
    }
    if left && above && corner {
        modes.extend([4, 5, 6]);
    }
    modes
}

impl Chooser<'_> {
    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.random.usize(0..values.len())]
    }

    /// Whether the macroblock `dx`, `dy` from `at` has samples for intra prediction.
    fn usable(&self, at: usize, slice: usize, dx: isize, dy: isize) -> bool {
        let width = self.parameters.width as isize;
        let (x, y) = (at as isize % width + dx, at as isize / width + dy);
        if x < 0 || x >= width || y < 0 {
            return false;
        }
        let hidden = self.parameters.constrained_intra;
        self.done[(y * width + x) as usize]
            .is_some_and(|(found, intra)| found == slice && (intra || !hidden))
    }

    fn intra(&mut self, at: usize, slice: usize) -> Kind {
        let [left, above, corner] =
            [(-1, 0), (0, -1), (-1, -1)].map(|(dx, dy)| self.usable(at, slice, dx, dy));
        let chroma = {
            let mut modes = vec![0];
            modes.extend(left.then_some(1));
            modes.extend(above.then_some(2));
            modes.extend((left && above && corner).then_some(3));
            self.pick(&modes)
        };
        let inside = |x: usize, y: usize| {
            let corner = match (x, y) {
                (0, 0) => corner,
                (0, _) => left,
                (_, 0) => above,
                _ => true,
            };
            [x > 0 || left, y > 0 || above, corner]
        };
        let few = self.random.bool();
        match self.random.u8(0..10) {
            0 => Kind::Pcm,
            1..4 => Kind::Intra4x4(
                std::array::from_fn(|at| {
                    let modes = block_modes(inside(at % 4, at / 4));
                    if few { modes[0] } else { self.pick(&modes) }
                }),
                chroma,
            ),
            4..7 if self.parameters.transform_8x8 => Kind::Intra8x8(
                std::array::from_fn(|at| {
                    let modes = block_modes(inside(at % 2, at / 2));
                    self.pick(&modes)
                }),
                chroma,
            ),
            _ => {
                let mut modes = vec![2];
                modes.extend(above.then_some(0));
                modes.extend(left.then_some(1));
                modes.extend((left && above && corner).then_some(3));
                Kind::Intra16x16(self.pick(&modes), chroma)
            }
        }
    }

    fn inter(&mut self, slice: &Slice) -> Inter {
        let is_b = slice.kind == SliceKind::B;
        let mut inter = Inter {
            shape: self.pick(&[
                Shape::Whole,
                Shape::Whole,
                Shape::Wide,
                Shape::Tall,
                Shape::Quarters,
                Shape::Quarters,
            ]),
            skip: self.random.u8(0..12) == 0 && !self.no_direct,
            ..Inter::default()
        };
        let lists: [u8; 4] = [(); 4].map(|()| if is_b { self.random.u8(1..4) } else { 1 });
        let zero = self.random.u8(0..4) == 0;
        // The partition of each 8x8 block.
        let owner = match inter.shape {
            Shape::Whole => [0; 4],
            Shape::Wide => [0, 0, 2, 2],
            Shape::Tall => [0, 1, 0, 1],
            Shape::Quarters => [0, 1, 2, 3],
        };
        inter.lists = owner.map(|owner| lists[owner]);
        for list in 0..2 {
            let count = slice.reference_counts[list].max(1) as i8;
            let indices: [i8; 4] =
                [(); 4].map(|()| if zero { 0 } else { self.random.i8(0..count) });
            inter.references[list] = owner.map(|owner| match lists[owner] >> list & 1 {
                1 => indices[owner],
                _ => -1,
            });
        }
        if inter.shape == Shape::Quarters {
            if is_b && !self.no_direct {
                inter.direct = match self.random.u8(0..4) {
                    0 => 15,
                    1 => 0,
                    _ => self.random.u8(0..16),
                };
            }
            let whole = self.random.bool();
            inter.parts = [(); 4].map(|()| if whole { 0 } else { self.random.u8(0..4) });
        }
        for list in 0..2 {
            for block in 0..4 {
                let (width, height) = match (inter.shape, inter.parts[block]) {
                    (Shape::Quarters, 1) => (2, 1),
                    (Shape::Quarters, 2) => (1, 2),
                    (Shape::Quarters, 3) => (1, 1),
                    _ => (2, 2),
                };
                for at in 0..4 {
                    let (x, y) = (block % 2 * 2 + at % 2, block / 2 * 2 + at / 2);
                    let first = match inter.shape {
                        Shape::Whole => (0, 0),
                        Shape::Wide => (0, y / 2 * 2),
                        Shape::Tall => (x / 2 * 2, 0),
                        Shape::Quarters => (x / width * width, y / height * height),
                    };
                    let value = if first == (x, y) {
                        self.vector()
                    } else {
                        inter.vectors[list][4 * first.1 + first.0]
                    };
                    inter.vectors[list][4 * y + x] = value;
                }
            }
        }
        inter
    }

    fn vector(&mut self) -> [i16; 2] {
        match self.random.u8(0..4) {
            0 => [0; 2],
            1 => [self.random.i16(-2..=2), 0],
            _ => [(); 2].map(|()| self.random.i16(-self.reach..=self.reach)),
        }
    }

    fn macroblock(&mut self, at: usize, index: usize, slice: &Slice) -> Macroblock {
        let is_intra = slice.kind == SliceKind::I || self.random.u8(0..16) < self.intra;
        let kind = match is_intra {
            true => self.intra(at, index),
            false => Kind::Inter(Box::new(self.inter(slice))),
        };
        self.done[at] = Some((index, is_intra));
        let coded = match self.random.u8(0..16) {
            share if share < self.empty => Coded::NONE,
            1 => Coded {
                luma: self.random.u16(..),
                chroma: [self.random.u8(0..16), self.random.u8(0..16)],
                dc: self.random.u8(0..8),
            },
            2 => Coded { luma: 0, ..Coded::ALL },
            3 => Coded { chroma: [0; 2], ..Coded::ALL },
            _ => Coded::ALL,
        };
        Macroblock {
            kind,
            qp: match self.random.u8(0..4) {
                0 => self.random.u8(0..52),
                1 => slice.qp.saturating_add(self.random.u8(0..3)).min(51),
                _ => slice.qp,
            },
            transform_8x8: self.random.bool(),
            coded,
            skip_conversion: self.random.u8(0..4) > 0,
            direct_conversion: self.random.u8(0..4) > 0,
            limit: if self.random.bool() { 2047 } else { 1 << 20 },
        }
    }
}

/// A source: noise of some strength around a slope, or around a reference.
fn source(random: &mut fastrand::Rng, target: &Frame, references: &References<'_>) -> Frame {
    let mut frame = target.clone();
    let reference = references.frames.iter().flatten().next().filter(|_| random.u8(0..4) > 0);
    let noise = [0, 2, 10, 60, 255][random.usize(0..5)];
    let slopes = [random.f32() * 8.0, random.f32() * 8.0];
    for (index, plane) in frame.planes.iter_mut().enumerate() {
        let width = plane.width;
        for (at, sample) in plane.data.iter_mut().enumerate() {
            let base = match reference {
                Some(reference) => i32::from(reference.planes[index].data[at]),
                None => {
                    (slopes[0] * (at % width) as f32 + slopes[1] * (at / width) as f32) as i32 % 256
                }
            };
            *sample = (base + random.i32(-noise..=noise)).clamp(0, 255) as u8;
        }
    }
    frame
}

/// The matrices of the forward quantiser.
fn forward(parameters: &Parameters) -> Forward {
    let inverse = |entry: u8| (65536 / u32::from(entry.max(1))).min(65535) as u16;
    let matrices = &parameters.matrices;
    Forward {
        intra_4x4: matrices.intra_4x4.map(|matrix| matrix.map(inverse)),
        inter_4x4: matrices.inter_4x4.map(|matrix| matrix.map(inverse)),
        intra_8x8: matrices.intra_8x8.map(inverse),
        inter_8x8: matrices.inter_8x8.map(inverse),
    }
}

/// Encodes the picture of a job. `limits`: for each slice, whether direct prediction is left out.
fn encode(
    random: &mut fastrand::Rng,
    job: &mut Job,
    limits: &[bool],
    (references, target, motion): (References<'_>, &Frame, &[u8]),
) -> Option<Output> {
    let parameters = job.parameters.clone();
    if parameters.mbaff {
        return None;
    }
    let source = source(random, target, &references);
    let mut picture = Picture::new(
        &parameters,
        &forward(&parameters),
        references,
        &source,
        target.clone(),
        motion.to_vec(),
    )
    .expect("a picture that can be encoded");
    let height = parameters.height / if parameters.structure.is_field() { 2 } else { 1 };
    let count = parameters.width * height;
    let firsts: Vec<usize> = job
        .slices
        .iter()
        .map(|(slice, _)| slice.first.1 * parameters.width + slice.first.0)
        .collect();
    let mut chooser = Chooser {
        parameters: &parameters,
        done: vec![None; count],
        intra: random.u8(0..6),
        reach: [4, 40, 400][random.usize(0..3)],
        empty: [0, 4, 14][random.usize(0..3)],
        no_direct: false,
        random,
    };
    for (index, (slice, unit)) in job.slices.iter().enumerate() {
        let end = firsts.get(index + 1).copied().unwrap_or(count);
        // FFmpeg filters intra macroblocks of fields otherwise than the standard at such edges.
        let rare = parameters.structure.is_field() && slice.deblocking == 2;
        chooser.intra = if rare { 0 } else { chooser.intra };
        chooser.no_direct = limits[index];
        let macroblocks: Vec<Macroblock> =
            (firsts[index]..end).map(|at| chooser.macroblock(at, index, slice)).collect();
        let mut header = vec![0, 0, 1];
        header.extend(&emulation::remove(unit)[..slice.data_offset.div_ceil(8)]);
        let last_bits = (slice.data_offset + 7) as u32 % 8 + 1;
        picture.insert(&Insertion { data: &header, last_bits, protect: true, unprotected: 4 });
        let sixteenths = |random: &mut fastrand::Rng| random.u32(0..=8) * 4096;
        let rounding =
            Rounding { intra: sixteenths(chooser.random), inter: sixteenths(chooser.random) };
        let settings = Settings { rounding, derive_direct: true };
        if let Err((at, error)) = picture.slice(slice, &settings, &macroblocks) {
            panic!("macroblock {at} of slice {index}: {error}: {:?}", macroblocks[at]);
        }
    }
    let filtered = job.slices.iter().any(|(slice, _)| slice.deblocking != 1);
    let output = picture.finish(Outputs { unfiltered: !filtered, filtered });
    let units = nal_units(&output.stream);
    assert_eq!(units.len(), job.slices.len());
    for ((slice, unit), new) in job.slices.iter_mut().zip(units) {
        *unit = new;
        slice.data_offset = slice.data_offset.min(8 * unit.len());
    }
    Some(output.picture)
}

/// Encodes the pictures of the stream of a seed. Returns the reasons why it is wrong. `None` without
/// FFmpeg.
fn check(seed: u64) -> Option<Vec<String>> {
    let (units, limits) = generate::stream_and_limits(seed);
    let mut random = fastrand::Rng::with_seed(seed);
    let encoded: Rc<RefCell<Vec<Vec<u8>>>> = Rc::default();
    let mut front = Front::default();
    let sink = Rc::clone(&encoded);
    let mut slices = 0;
    front.encode = Some(Box::new(move |job, references, target, motion| {
        let limits = &limits[slices..];
        slices += job.slices.len();
        let output = encode(&mut random, job, limits, (references, target, motion));
        sink.borrow_mut().extend(job.slices.iter().map(|(_, unit)| unit.clone()));
        output
    }));
    let refused = front.decode(&units).err();
    let mut encoded = encoded.take().into_iter();
    let mut file: Vec<u8> = Vec::new();
    for unit in &units {
        file.extend([0, 0, 0, 1]);
        match unit[0] & 31 {
            1 | 5 => file.extend(encoded.next().unwrap_or_default()),
            _ => file.extend(unit),
        }
    }
    if number("AVC_SEED").is_some() {
        let path = std::env::temp_dir().join(format!("avc-encoded-{seed}.264"));
        std::fs::write(&path, &file).ok()?;
        println!("{}", path.display());
    }
    let mut wrong = std::mem::take(&mut front.wrong);
    wrong.extend(refused);
    if front.report.errors > 0 {
        wrong.push(format!("{:?}", front.report));
    }
    // Vector code of FFmpeg keeps less bits of intermediate values than the standard allows.
    let options = ["-cpuflags", "0", "-err_detect", "explode", "-f", "h264"];
    let (software, log) = software_frames(&file, &front.shown, &options)?;
    wrong.extend(log.lines().find(|line| line.starts_with("[h264")).map(String::from));
    if software.len() != front.shown.len() {
        wrong.push(format!("{} frames for {}", front.shown.len(), software.len()));
    }
    for (at, (got, want)) in front.shown.iter().zip(&software).enumerate() {
        let planes = if front.monochrome { 1 } else { 3 };
        if got.frame.planes[..planes] != want.planes[..planes] {
            wrong.push(format!(
                "output {at}, decoded {}, kinds {}: {}",
                got.index,
                got.kinds,
                difference(&got.frame, want)
            ));
            break;
        }
    }
    Some(wrong)
}

/// Oracle: FFmpeg's software decoder and the project's: both show what the encoder has reconstructed.
#[test]
fn encoded_macroblocks_decode_as_they_were_reconstructed() {
    let seeds = match number("AVC_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("GENXML_STREAMS").unwrap_or(10),
    };
    let mut failed = Vec::new();
    for seed in seeds {
        let Some(wrong) = check(seed) else { return };
        if !wrong.is_empty() {
            println!("seed {seed}: {}", wrong.join("\n    "));
            failed.push(seed);
        }
    }
    assert!(failed.is_empty(), "{} streams are wrong: {failed:?}", failed.len());
}

/// Random values in all fields of random macroblocks. A failure is a panic.
#[test]
fn random_choices_end() {
    let count = number("GENXML_MUTATIONS").unwrap_or(600);
    let mut random = fastrand::Rng::with_seed(3);
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..count {
        let parameters = Parameters {
            width: random.usize(1..4),
            height: 2 * random.usize(1..3),
            cabac: random.bool(),
            mbaff: random.u8(0..10) == 0,
            transform_8x8: random.bool(),
            constrained_intra: random.bool(),
            direct_8x8_inference: random.bool(),
            weighted_biprediction: random.u8(0..4),
            chroma_qp_offsets: [random.i8(-12..=12), random.i8(..)],
            ..Parameters::default()
        };
        let (width, height) = (16 * parameters.width, 16 * parameters.height);
        let mut source = Frame::new(width, height, (2, 2), 0);
        source.planes[0].data.fill_with(|| random.u8(..));
        let reference = source.clone();
        let mut references = References::default();
        references.frames[0] = random.bool().then_some(&reference);
        let target = Frame::new(width, height, (2, 2), 9);
        let any = |random: &mut fastrand::Rng| std::array::from_fn(|_| random.u16(..));
        let mut forward = forward(&parameters);
        forward.intra_8x8 = std::array::from_fn(|_| random.u16(..));
        forward.inter_4x4 = [any(&mut random); 3];
        let mut picture =
            Picture::new(&parameters, &forward, references, &source, target, Vec::new()).unwrap();
        let extreme = random.u8(0..4) == 0;
        let slice = Slice {
            kind: [SliceKind::P, SliceKind::B, SliceKind::I][random.usize(0..3)],
            first: (random.usize(0..3), random.usize(0..2)),
            reference_counts: [random.u8(0..3), random.u8(0..40)],
            qp: random.u8(0..54),
            cabac_init: random.u8(..),
            direct_spatial: random.bool(),
            ..Slice::default()
        };
        let mut chooser = Chooser {
            parameters: &parameters,
            done: vec![None; 64],
            intra: 4,
            reach: 4000,
            empty: 2,
            no_direct: false,
            random: &mut random,
        };
        let first = slice.first.1 * parameters.width + slice.first.0;
        let mut macroblocks: Vec<Macroblock> =
            (0..8).map(|at| chooser.macroblock(first + at, 0, &slice)).collect();
        let changed = random.usize(0..8);
        if extreme && let Kind::Inter(inter) = &mut macroblocks[changed].kind {
            inter.lists[random.usize(0..4)] = random.u8(..);
            inter.parts[random.usize(0..4)] = random.u8(..);
            inter.direct = random.u8(..);
            inter.references[random.usize(0..2)][random.usize(0..4)] = random.i8(..);
            inter.vectors[0][random.usize(0..16)] = [random.i16(..), random.i16(..)];
        } else if extreme {
            macroblocks[changed].kind = Kind::Intra4x4([random.u8(0..12); 16], random.u8(0..5));
            macroblocks[changed].qp = random.u8(..);
        }
        let settings = Settings {
            rounding: Rounding { intra: random.u32(0..=65536), inter: 0 },
            derive_direct: random.bool(),
        };
        let whole = if random.bool() { 8 } else { 2 };
        match picture.slice(&slice, &settings, &macroblocks[..whole]) {
            Ok(()) => right += 1,
            Err((_, error)) => {
                wrong += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        let output = picture.finish(Outputs { unfiltered: false, filtered: true });
        assert!(output.picture.filtered.is_some());
    }
    assert!(right > count / 20 && wrong > count / 20, "{right} right, {wrong} wrong");
}
