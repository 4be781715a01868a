//! Damaged data and parameters.

use super::front;
use super::random::{File, join, stuff};
use crate::support;
use fastrand::Rng;
use genxml_codecs::Frame;
use genxml_codecs::jpeg::{Decoder, InputFormat, Rotation, Status};

/// A scan of several segments.
struct Case {
    picture: front::Picture,
    segments: Vec<Vec<u8>>,
    /// The undamaged picture.
    frame: Frame,
}

impl Case {
    fn new(random: &mut Rng, fewest: usize) -> Case {
        loop {
            let file = File::new(random);
            if file.scans.len() == 1 && file.scans[0].len() >= fewest {
                let picture = front::read(&file.bytes).unwrap();
                let frame = picture.decode(&file.bytes).0;
                return Case { picture, segments: file.scans[0].clone(), frame };
            }
        }
    }

    /// Decodes `data`, and checks that all units but those of segments `lost` are the same as in
    /// the undamaged picture. The units of segments `kept` stay as they were.
    fn check(&self, data: &[u8], lost: &[usize], kept: &[usize]) -> genxml_codecs::jpeg::Outcome {
        let (parameters, scan, _) = &self.picture.scans[0];
        let mut frame = self.frame.clone();
        frame.planes.iter_mut().for_each(|plane| plane.data.fill(99));
        let outcome = Decoder::new(parameters).unwrap().scan(scan, data, &mut frame);
        let columns = match self.picture.format {
            // A scan of one component has a block in each unit.
            InputFormat::Yuv400 => parameters.width_in_blocks,
            _ => parameters.units().0,
        };
        for component in 0..parameters.format.components() {
            let (got, want) = (&frame.planes[component], &self.frame.planes[component]);
            let (across, down) = parameters.format.sampling(component);
            for (at, sample) in got.data.iter().enumerate() {
                let (x, y) = (at % got.width, at / got.width);
                let unit = y / (8 * down as usize) * columns as usize + x / (8 * across as usize);
                let segment = unit / usize::from(scan.restart_interval);
                if kept.contains(&segment) {
                    assert_eq!(*sample, 99, "segment {segment}");
                } else if !lost.contains(&segment) {
                    assert_eq!(*sample, want.data[at], "segment {segment}, lost {lost:?}");
                }
            }
        }
        let report = outcome.report;
        assert_eq!(report.macroblocks + report.concealed, scan.mcu_count);
        outcome
    }

    /// The data without segment `lost` and without the marker before it.
    fn without(&self, lost: &[usize]) -> Vec<u8> {
        let mut data = Vec::new();
        for (number, segment) in self.segments.iter().enumerate() {
            if lost.contains(&number) {
                continue;
            }
            if number > 0 {
                data.extend([0xff, 0xd0 + (number as u8 - 1) % 8]);
            }
            data.extend(stuff(segment));
        }
        data
    }
}

/// Units after a damaged segment are not affected.
#[test]
fn a_damaged_segment_is_the_only_one_lost() {
    let mut random = Rng::with_seed(5);
    let mut failed = 0;
    for _ in 0..100 {
        let case = Case::new(&mut random, 3);
        let lost = random.usize(0..case.segments.len());
        let mut segments = case.segments.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(0..segments[lost].len());
            segments[lost][at] ^= 1 << random.u8(0..8);
        }
        let length = random.usize(0..=segments[lost].len());
        segments[lost].truncate(length);
        let outcome = case.check(&join(&segments), &[lost], &[]);
        failed += u32::from(outcome.report.concealed > 0);
        assert!(!outcome.status.extra_segment && !outcome.status.missing_segment);
    }
    assert!(failed > 50, "{failed}");
}

/// A scan that starts at a unit inside the picture writes the units from there on.
#[test]
fn scans_that_start_inside_the_picture() {
    let mut random = Rng::with_seed(10);
    for _ in 0..50 {
        let mut case = Case::new(&mut random, 3);
        let from = random.usize(1..case.segments.len());
        let (parameters, scan, _) = &mut case.picture.scans[0];
        let columns = match parameters.format {
            InputFormat::Yuv400 => parameters.width_in_blocks,
            _ => parameters.units().0,
        };
        let first = from as u32 * u32::from(scan.restart_interval);
        (scan.horizontal, scan.vertical) = (first % columns, first / columns);
        scan.mcu_count -= first;
        let before: Vec<usize> = (0..from).collect();
        let outcome = case.check(&join(&case.segments[from..]), &[], &before);
        assert_eq!(outcome.status, Status::default());
    }
}

/// One or two segments that are missing are found by the number of the next marker.
#[test]
fn missing_segments_are_skipped() {
    let mut random = Rng::with_seed(6);
    for _ in 0..100 {
        let case = Case::new(&mut random, 5);
        let first = random.usize(1..case.segments.len() - 2);
        for lost in [vec![first], vec![first, first + 1]] {
            let outcome = case.check(&case.without(&lost), &[], &lost);
            let status = Status { missing_segment: true, ..Status::default() };
            assert_eq!((outcome.status, outcome.report.errors), (status, 1));
        }
        // Segments at the end.
        let last = case.segments.len() - 1;
        let outcome = case.check(&case.without(&[last]), &[], &[last]);
        assert!(outcome.status.missing_segment);
        // A segment that comes twice.
        let mut data = case.without(&(first + 1..=last).collect::<Vec<_>>());
        data.extend([0xff, 0xd0 + (first as u8 - 1) % 8]);
        data.extend(stuff(&case.segments[first]));
        for (number, segment) in case.segments.iter().enumerate().skip(first + 1) {
            data.extend([0xff, 0xd0 + (number as u8 - 1) % 8]);
            data.extend(stuff(segment));
        }
        let outcome = case.check(&data, &[], &[]);
        let status = Status { extra_segment: true, ..Status::default() };
        assert_eq!((outcome.status, outcome.report.errors), (status, 1));
    }
}

/// A marker with a wrong number is taken as the expected one if the number is far from it.
#[test]
fn damaged_markers() {
    let mut random = Rng::with_seed(7);
    for _ in 0..50 {
        let case = Case::new(&mut random, 3);
        let at = random.usize(1..case.segments.len());
        let mut data = join(&case.segments[..at]);
        data.extend([0xff, 0xd0 + (at as u8 - 1 + random.u8(3..6)) % 8]);
        data.extend(stuff(&case.segments[at]));
        for (number, segment) in case.segments.iter().enumerate().skip(at + 1) {
            data.extend([0xff, 0xd0 + (number as u8 - 1) % 8]);
            data.extend(stuff(segment));
        }
        let outcome = case.check(&data, &[], &[]);
        assert_eq!(outcome.status, Status::default());
    }
}

/// What is left over, and what is not there, is reported.
#[test]
fn extra_and_missing_blocks() {
    let mut random = Rng::with_seed(8);
    for _ in 0..50 {
        let case = Case::new(&mut random, 2);
        let at = random.usize(0..case.segments.len());
        let mut segments = case.segments.clone();
        segments[at].push(0);
        let outcome = case.check(&join(&segments), &[], &[]);
        assert_eq!(outcome.status, Status { extra_block: true, ..Status::default() });
        segments[at].clear();
        let outcome = case.check(&join(&segments), &[], &[at]);
        assert_eq!(outcome.status, Status { missing_block: true, ..Status::default() });
    }
}

/// Any data and any parameters end without a panic, and count each unit once.
#[test]
fn mutations_do_not_panic() {
    let count = support::number("GENXML_MUTATIONS").unwrap_or(3000);
    let mut random = Rng::with_seed(9);
    // Ten scans for each file.
    for _ in 0..count.div_ceil(10) {
        let file = File::new(&mut random);
        let picture = front::read(&file.bytes).unwrap();
        let (parameters, scan, start) = &picture.scans[random.usize(0..picture.scans.len())];
        for _ in 0..10 {
            let (mut parameters, mut scan) = (parameters.clone(), *scan);
            let mut data = file.bytes[*start..].to_vec();
            for _ in 0..random.usize(0..6) {
                let at = random.usize(0..data.len());
                data[at] ^= 1 << random.u8(0..8);
            }
            data.truncate(random.usize(0..=data.len()));
            mutate(&mut random, &mut parameters, &mut scan);
            let mut frame = picture.frame();
            for plane in &mut frame.planes {
                if random.u8(0..8) == 0 {
                    *plane = genxml_codecs::Plane::new(random.usize(0..40), random.usize(0..40), 0);
                }
            }
            let Ok(decoder) = Decoder::new(&parameters) else {
                let sizes = [parameters.width_in_blocks, parameters.height_in_blocks];
                assert!(sizes.iter().any(|size| *size == 0 || *size > 8192));
                continue;
            };
            let outcome = decoder.scan(&scan, &data, &mut frame);
            let count = outcome.report.macroblocks + outcome.report.concealed;
            assert!(count <= scan.mcu_count);
        }
    }
}

fn mutate(
    random: &mut Rng,
    parameters: &mut genxml_codecs::jpeg::Parameters,
    scan: &mut genxml_codecs::jpeg::Scan,
) {
    let size = |random: &mut Rng| match random.u8(0..3) {
        0 => random.u32(..),
        1 => random.u32(0..=8193),
        _ => random.u32(0..20),
    };
    match random.u8(0..12) {
        0 => parameters.width_in_blocks = size(random),
        1 => parameters.height_in_blocks = size(random),
        2 => parameters.format = InputFormat::from_bits(random.u8(..)),
        3 => parameters.picture = random.bool().then(|| (size(random), size(random))),
        4 => parameters.rotation = Rotation::from_bits(random.u8(..)),
        5 => scan.mcu_count = size(random),
        6 => scan.restart_interval = size(random) as u16,
        7 => (scan.horizontal, scan.vertical) = (size(random), size(random)),
        8 => scan.components = random.u8(..),
        9 => scan.interleaved = random.bool(),
        10 => {
            for tables in parameters.huffman.iter_mut().flatten() {
                for _ in 0..random.usize(0..4) {
                    tables.dc_counts[random.usize(0..12)] = random.u8(..);
                    tables.dc_values[random.usize(0..12)] = random.u8(..);
                    tables.ac_counts[random.usize(0..16)] = random.u8(..);
                    tables.ac_values[random.usize(0..162)] = random.u8(..);
                }
            }
        }
        _ => {}
    }
}
