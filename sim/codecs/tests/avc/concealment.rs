//! Macroblocks that no slice decodes. Oracle: the rows of the reference itself, and a mean that is
//! computed here.

use genxml_codecs::avc::{
    Concealment, Entry, Outputs, Parameters, Picture, References, Slice, SliceKind, Substitute,
};
use genxml_codecs::{Frame, Structure};

const WIDTH: usize = 3;
const HEIGHT: usize = 2;

/// A frame in which all samples differ from their neighbours, and from those of other seeds.
fn frame(seed: usize) -> Frame {
    let mut frame = Frame::new(16 * WIDTH, 16 * HEIGHT, (2, 2), 0);
    for plane in &mut frame.planes {
        for (at, sample) in plane.data.iter_mut().enumerate() {
            *sample = (at * 7 + at / plane.width * 5 + seed * 31) as u8;
        }
    }
    frame
}

fn entry(store: u8) -> Entry {
    Entry { present: true, store, ..Entry::default() }
}

/// Decodes a P picture of `structure` in which only the first macroblock is coded (as skipped).
fn decode(structure: Structure, concealment: Concealment) -> Frame {
    let stores = [frame(1), frame(2), frame(3)];
    let mut counts = [[0; 2]; 16];
    counts[0] = [0, 1];
    counts[1] = [8, 9];
    counts[2] = [30, 31];
    let parameters = Parameters {
        width: WIDTH,
        height: HEIGHT,
        structure,
        counts,
        count: [10, 11],
        ..Parameters::default()
    };
    let mut lists = [[Entry::default(); 32]; 2];
    lists[0][0] = entry(0);
    lists[0][1] = entry(1);
    lists[0][2] = Entry { long_term: true, bottom: true, ..entry(2) };
    let slice = Slice {
        kind: SliceKind::P,
        reference_counts: [3, 0],
        lists,
        deblocking: 1,
        data_offset: 8,
        concealment,
        ..Slice::default()
    };
    let mut references = References::default();
    for (store, frame) in stores.iter().enumerate() {
        references.frames[store] = Some(frame);
    }
    let mut picture = Picture::new(&parameters, references, frame(9), Vec::new()).unwrap();
    // A run of one skipped macroblock (ue 010), then the stop bit.
    picture.slice(&slice, &[0x01, 0b0101_0000]);
    let output = picture.finish(Outputs { unfiltered: true, filtered: false });
    assert_eq!(output.report.macroblocks, 1);
    output.unfiltered.unwrap()
}

/// Asserts that the macroblocks after the first are rows of `expected`. `rows` maps rows of the
/// target to rows of `expected`; rows without a source must be those of the untouched target.
fn check(found: &Frame, expected: &Frame, rows: impl Fn(usize) -> Option<usize>) {
    let old = frame(9);
    for plane in 0..3 {
        let size = [16, 8, 8][plane];
        let width = size * WIDTH;
        for row in 0..size * HEIGHT {
            let start = if row < size { size } else { 0 };
            let found = &found.planes[plane].data[row * width + start..(row + 1) * width];
            let (source, from) = match rows(row) {
                Some(from) => (expected, from),
                None => (&old, row),
            };
            let expected = &source.planes[plane].data[from * width + start..(from + 1) * width];
            assert_eq!(found, expected, "plane {plane}, row {row}");
        }
    }
}

#[test]
fn missing_macroblocks_are_copied_from_the_selected_reference() {
    let cases = [
        (Substitute::First, 1),
        (Substitute::Closest, 2),
        (Substitute::LongTerm, 3),
        (Substitute::Picture(entry(1)), 2),
    ];
    for (substitute, seed) in cases {
        let found = decode(Structure::Frame, Concealment::Inter(substitute));
        check(&found, &frame(seed), Some);
    }
    check(&decode(Structure::Frame, Concealment::Off), &frame(9), Some);
    // A store without a picture.
    let found = decode(Structure::Frame, Concealment::Inter(Substitute::Picture(entry(7))));
    assert_eq!(found, decode(Structure::Frame, Concealment::Intra));
}

#[test]
fn missing_macroblocks_of_a_field_come_from_the_field_of_the_reference() {
    let copy = |structure, substitute| decode(structure, Concealment::Inter(substitute));
    // All of a field of one row of macroblocks but the first.
    let top = copy(Structure::Top, Substitute::First);
    check_field(&top, 0, &frame(1), 0);
    let bottom = copy(Structure::Bottom, Substitute::LongTerm);
    check_field(&bottom, 1, &frame(3), 1);
    let bottom = copy(Structure::Bottom, Substitute::Closest);
    check_field(&bottom, 1, &frame(2), 0);
}

/// Asserts that the field `parity` of the target holds the field `from` of `expected`, besides its
/// first macroblock, and that the other field is unchanged.
fn check_field(found: &Frame, parity: usize, expected: &Frame, from: usize) {
    let old = frame(9);
    for plane in 0..3 {
        let size = [16, 8, 8][plane];
        let width = size * WIDTH;
        let part = |frame: &Frame, row: usize| {
            frame.planes[plane].data[row * width + size..(row + 1) * width].to_vec()
        };
        for row in 0..size {
            assert_eq!(part(found, 2 * row + parity), part(expected, 2 * row + from));
            assert_eq!(part(found, 2 * row + 1 - parity), part(&old, 2 * row + 1 - parity));
        }
    }
}

#[test]
fn intra_concealment_takes_the_mean_of_the_neighbours() {
    let found = decode(Structure::Frame, Concealment::Intra);
    let luma = &found.planes[0];
    let at = |x: usize, y: usize| u32::from(luma.data[y * luma.width + x]);
    let flat = |x: usize, y: usize, value: u32| {
        for (dx, dy) in (0..256).map(|at| (at % 16, at / 16)) {
            assert_eq!(at(x + dx, y + dy), value, "at {x}+{dx}, {y}+{dy}");
        }
    };
    let left: u32 = (0..16).map(|row| at(15, row)).sum();
    flat(16, 0, (left + 8) / 16);
    let above: u32 = (0..16).map(|column| at(column, 15)).sum();
    flat(0, 16, (above + 8) / 16);
    // Here both neighbours are concealed, and flat.
    flat(16, 16, (at(16, 15) + at(15, 16)).div_ceil(2));
}
