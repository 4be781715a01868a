//! Random files: an encoder that starts from random coefficients.

use super::tables::{AC_CHROMA, AC_LUMA, Counts, DC_CHROMA, DC_LUMA};
use super::transform::{definition, round};
use super::{front, reference};
use crate::support;
use fastrand::Rng;
use genxml_codecs::jpeg::{Decoder, InputFormat, Parameters, Rotation};
use genxml_codecs::{Frame, Plane};
use std::collections::BTreeMap;

/// A file, and what it decodes to.
pub struct File {
    pub bytes: Vec<u8>,
    /// The data of each scan: segments without stuffed bytes.
    pub scans: Vec<Vec<Vec<u8>>>,
    /// Whether every scan has all components.
    pub interleaved: bool,
    /// Planes of whole units of the picture. Samples that no scan has are 128.
    pub planes: Frame,
}

/// Symbols of a class of codes, each with the bits that follow its code.
#[derive(Clone, Copy)]
enum Symbol {
    Dc(u8, u32),
    Ac(u8, u32),
}

impl Symbol {
    fn value(self) -> u8 {
        match self {
            Symbol::Dc(value, _) | Symbol::Ac(value, _) => value,
        }
    }

    fn class(self) -> usize {
        usize::from(matches!(self, Symbol::Ac(..)))
    }

    /// Number of bits that follow, and the bits.
    fn extra(self) -> (u32, u32) {
        let (Symbol::Dc(value, bits) | Symbol::Ac(value, bits)) = self;
        (u32::from(value & 15), bits)
    }
}

/// Codes of a table by value: length and bits.
type Codes = BTreeMap<u8, (u32, u32)>;

struct Component {
    /// Columns and rows of blocks in a unit.
    sampling: (usize, usize),
    /// Columns of blocks, of whole units.
    columns: usize,
    /// Columns and rows of blocks that a scan of this component alone has.
    own: (usize, usize),
    /// Quantised coefficients in raster order.
    blocks: Vec<[i32; 64]>,
    /// In raster order.
    quantiser: [u8; 64],
}

/// The positions of a block along its diagonals, which change direction (T.81 figure A.6).
fn zigzag() -> Vec<usize> {
    let mut order: Vec<usize> = (0..64).collect();
    order.sort_by_key(|at| {
        let (x, y) = (at % 8, at / 8);
        (x + y, if (x + y) % 2 == 0 { x } else { y })
    });
    order
}

/// The size in bits of a number, and the bits that stand for it (T.81 F.1.2.1).
fn bits_of(value: i32) -> (u8, u32) {
    let size = 32 - value.unsigned_abs().leading_zeros();
    let bits = if value < 0 { value - 1 } else { value };
    (size as u8, bits as u32 & ((1 << size) - 1))
}

impl File {
    pub fn new(random: &mut Rng) -> File {
        let format = InputFormat::from_bits(random.u8(0..8));
        let (width, height) = (random.usize(1..=70), random.usize(1..=70));
        let luma = format.sampling(0);
        let units = (width.div_ceil(8 * luma.0 as usize), height.div_ceil(8 * luma.1 as usize));
        let tables = if random.bool() { 1 } else { random.usize(1..=4) };
        let quantisers: Vec<[u8; 64]> = (0..tables).map(|_| quantiser(random)).collect();
        let mut selectors = Vec::new();
        let components: Vec<Component> = (0..format.components())
            .map(|index| {
                let own = format.sampling(index);
                let sampling = (own.0 as usize, own.1 as usize);
                selectors.push(random.usize(0..tables));
                let quantiser = quantisers[selectors[index]];
                let samples = |size: usize, own: u32, luma: u32| {
                    (size * own as usize).div_ceil(luma as usize).div_ceil(8)
                };
                Component {
                    sampling,
                    columns: units.0 * sampling.0,
                    own: (samples(width, own.0, luma.0), samples(height, own.1, luma.1)),
                    blocks: (0..units.0 * sampling.0 * units.1 * sampling.1)
                        .map(|_| block(random, &quantiser))
                        .collect(),
                    quantiser,
                }
            })
            .collect();
        let mut file = File {
            bytes: vec![0xff, 0xd8],
            scans: Vec::new(),
            interleaved: components.len() == 1 || random.u8(0..4) > 0,
            planes: Frame::default(),
        };
        for (index, table) in quantisers.iter().enumerate() {
            let values: Vec<u8> = zigzag().iter().map(|&at| table[at]).collect();
            file.marker(0xdb, &[&[index as u8], &values[..]].concat());
        }
        let mut frame = vec![8, 0, height as u8, 0, width as u8, components.len() as u8];
        for (index, component) in components.iter().enumerate() {
            let (across, down) = component.sampling;
            frame.extend([index as u8 + 1, (across << 4 | down) as u8, selectors[index] as u8]);
        }
        file.marker(0xc0, &frame);
        if file.interleaved {
            file.scan(random, &components, &(0..components.len()).collect::<Vec<_>>(), units);
        } else {
            for index in 0..components.len() {
                file.scan(random, &components, &[index], components[index].own);
            }
        }
        file.bytes.extend([0xff, 0xd9]);
        for (index, component) in components.iter().enumerate() {
            file.planes.planes[index] = component.plane(file.interleaved && components.len() > 1);
        }
        file
    }

    fn marker(&mut self, code: u8, payload: &[u8]) {
        let length = payload.len() as u16 + 2;
        self.bytes.extend([0xff, code]);
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(payload);
    }

    /// Writes the tables, the header and the data of a scan of `columns` x `rows` units.
    fn scan(
        &mut self,
        random: &mut Rng,
        components: &[Component],
        indices: &[usize],
        (columns, rows): (usize, usize),
    ) {
        let interval = if random.bool() { 0 } else { random.usize(1..=columns * rows + 1) };
        let step = if interval == 0 { columns * rows } else { interval };
        // All components use table 0, or all but the first component use table 1.
        let shared = random.u8(0..4) == 0;
        let table = |index: usize| usize::from(index != 0 && !shared);
        let mut segments: Vec<Vec<(usize, Symbol)>> = Vec::new();
        let mut predictions = [0; 3];
        for unit in 0..columns * rows {
            if unit % step == 0 {
                segments.push(Vec::new());
                predictions = [0; 3];
            }
            let (column, row) = (unit % columns, unit / columns);
            for &index in indices {
                let component = &components[index];
                let (across, down) = if indices.len() > 1 { component.sampling } else { (1, 1) };
                for block in 0..across * down {
                    let x = column * across + block % across;
                    let y = row * down + block / across;
                    let block = &component.blocks[y * component.columns + x];
                    let symbols = symbols(block, &mut predictions[index]);
                    let segment = segments.last_mut().unwrap();
                    segment.extend(symbols.into_iter().map(|symbol| (table(index), symbol)));
                }
            }
        }
        let mut codes = [const { [const { Codes::new() }; 2] }; 2];
        for (class, codes) in codes.iter_mut().enumerate() {
            for (number, codes) in codes.iter_mut().enumerate() {
                let used: Vec<u8> = segments
                    .iter()
                    .flatten()
                    .filter(|(table, symbol)| (*table, symbol.class()) == (number, class))
                    .map(|(_, symbol)| symbol.value())
                    .collect();
                if used.is_empty() {
                    continue;
                }
                let (counts, values) = table_of(random, class, number, &used);
                *codes = codes_of(&counts, &values);
                let target = (class << 4 | number) as u8;
                self.marker(0xc4, &[&[target], &counts[..], &values].concat());
            }
        }
        if interval > 0 || random.bool() {
            self.marker(0xdd, &(interval as u16).to_be_bytes());
        } else if !self.scans.is_empty() {
            self.marker(0xdd, &[0, 0]);
        }
        let mut header = vec![indices.len() as u8];
        for &index in indices {
            header.extend([index as u8 + 1, table(index) as u8 * 0x11]);
        }
        header.extend([0, 63, 0]);
        self.marker(0xda, &header);
        let segments: Vec<Vec<u8>> = segments.iter().map(|symbols| pack(symbols, &codes)).collect();
        self.bytes.extend(join(&segments));
        self.scans.push(segments);
    }
}

impl Component {
    /// The samples of all blocks that a scan has.
    fn plane(&self, interleaved: bool) -> Plane {
        let rows = self.blocks.len() / self.columns;
        let mut plane = Plane::new(8 * self.columns, 8 * rows, 128);
        for (at, block) in self.blocks.iter().enumerate() {
            let (x, y) = (at % self.columns, at / self.columns);
            if !interleaved && (x >= self.own.0 || y >= self.own.1) {
                continue;
            }
            let mut coefficients = [0.0; 64];
            for (at, coefficient) in coefficients.iter_mut().enumerate() {
                *coefficient = f64::from(block[at] * i32::from(self.quantiser[at]));
            }
            for (at, sample) in definition(&coefficients).into_iter().enumerate() {
                plane.data[(8 * y + at / 8) * plane.width + 8 * x + at % 8] = round(sample);
            }
        }
        plane
    }
}

fn quantiser(random: &mut Rng) -> [u8; 64] {
    let largest = [1, 4, 20, 100, 255][random.usize(0..5)];
    [(); 64].map(|()| random.u8(1..=largest))
}

/// A block whose samples are not far out of range. Some have all coefficients, few, or the largest
/// that the standard allows.
fn block(random: &mut Rng, quantiser: &[u8; 64]) -> [i32; 64] {
    let mut block = [0; 64];
    let limit = |at: usize, value: i32| value / i32::from(quantiser[at]);
    let dc = limit(0, 1023);
    block[0] = random.i32(-dc..=dc);
    let (count, range) = match random.u8(0..8) {
        0 => (0, 0),
        1 => (64, 30),
        2 => (1, 1023),
        _ => (random.usize(0..12), 200),
    };
    for _ in 0..count {
        let at = random.usize(1..64);
        let largest = limit(at, range).max(1);
        block[at] = random.i32(-largest..=largest);
    }
    block
}

/// The symbols of a block (T.81 F.1.2).
fn symbols(block: &[i32; 64], prediction: &mut i32) -> Vec<Symbol> {
    let (size, bits) = bits_of(block[0] - *prediction);
    *prediction = block[0];
    let (mut symbols, mut run) = (vec![Symbol::Dc(size, bits)], 0);
    for &at in &zigzag()[1..] {
        if block[at] == 0 {
            run += 1;
            continue;
        }
        while run > 15 {
            symbols.push(Symbol::Ac(0xf0, 0));
            run -= 16;
        }
        let (size, bits) = bits_of(block[at]);
        symbols.push(Symbol::Ac(run << 4 | size, bits));
        run = 0;
    }
    if run > 0 {
        symbols.push(Symbol::Ac(0, 0));
    }
    symbols
}

/// A table that has codes for all values of `used`: an example of the standard, or a random one.
fn table_of(random: &mut Rng, class: usize, number: usize, used: &[u8]) -> (Counts, Vec<u8>) {
    if random.u8(0..3) == 0 {
        return match (class, number) {
            (0, 0) => (DC_LUMA, (0..12).collect()),
            (0, _) => (DC_CHROMA, (0..12).collect()),
            (_, 0) => (AC_LUMA.0, AC_LUMA.1.to_vec()),
            _ => (AC_CHROMA.0, AC_CHROMA.1.to_vec()),
        };
    }
    let mut values = used.to_vec();
    for _ in 0..random.usize(0..8) {
        values.push(match class {
            0 => random.u8(0..12),
            _ => random.u8(0..16) << 4 | random.u8(1..=10),
        });
    }
    values.sort_unstable();
    values.dedup();
    random.shuffle(&mut values);
    // A tree of codes that grows at random leaves. One leaf stays unused: no code has all bits set
    // (T.81 C.2).
    let longest = if class == 0 { 12 } else { 16 };
    let mut leaves = vec![0];
    while leaves.len() <= values.len() {
        let at = random.usize(0..leaves.len());
        if leaves[at] < longest {
            leaves[at] += 1;
            leaves.push(leaves[at]);
        }
    }
    leaves.sort_unstable();
    leaves.pop();
    let mut counts = [0; 16];
    leaves.iter().for_each(|&length: &usize| counts[length - 1] += 1);
    (counts, values)
}

/// T.81 C.2.
fn codes_of(counts: &Counts, values: &[u8]) -> Codes {
    let (mut codes, mut values, mut code) = (Codes::new(), values.iter(), 0);
    for (length, &count) in (1..).zip(counts) {
        for _ in 0..count {
            codes.insert(*values.next().unwrap(), (length, code));
            code += 1;
        }
        code <<= 1;
    }
    codes
}

/// The bytes of a segment, padded with ones (T.81 F.1.2.3).
fn pack(symbols: &[(usize, Symbol)], codes: &[[Codes; 2]; 2]) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    for &(table, symbol) in symbols {
        let code = codes[symbol.class()][table][&symbol.value()];
        for (count, value) in [code, symbol.extra()] {
            bits.extend((0..count).rev().map(|bit| value >> bit & 1 != 0));
        }
    }
    bits.resize(bits.len().next_multiple_of(8), true);
    bits.chunks(8).map(|byte| byte.iter().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect()
}

/// Segments with stuffed bytes and restart markers.
pub fn join(segments: &[Vec<u8>]) -> Vec<u8> {
    let mut data = Vec::new();
    for (number, segment) in segments.iter().enumerate() {
        if number > 0 {
            data.extend([0xff, 0xd0 + (number as u8 - 1) % 8]);
        }
        data.extend(stuff(segment));
    }
    data
}

/// A segment with stuffed bytes.
pub fn stuff(segment: &[u8]) -> Vec<u8> {
    let bytes = |&byte: &u8| if byte == 0xff { vec![0xff, 0] } else { vec![byte] };
    segment.iter().flat_map(bytes).collect()
}

/// The part of a plane at its upper left corner.
fn corner(plane: &Plane, width: usize, height: usize) -> Plane {
    let rows = plane.data.chunks_exact(plane.width.max(1)).take(height);
    let data = rows.flat_map(|row| row[..width].to_vec()).collect();
    Plane { width, height, data }
}

/// Oracle: FFmpeg's software decoder, within the limits, and the samples that the transform gives
/// for the coefficients that the file was made from. `GENXML_STREAMS` sets the number of files.
#[test]
fn random_files() {
    let count = support::number("GENXML_STREAMS").unwrap_or(10);
    for seed in 0..count {
        let file = File::new(&mut Rng::with_seed(seed));
        let picture = front::read(&file.bytes).unwrap();
        let (frame, outcomes) = picture.decode(&file.bytes);
        let name = format!("file {seed}: {:?} {:?}", picture.format, picture.size);
        check(&name, &file, &frame, &outcomes);
        if let Some(want) = reference::decode(&file.bytes) {
            reference::compare(&name, &frame, &want);
        }
    }
    // More files without the slow reference.
    for seed in count..count + 300 {
        let file = File::new(&mut Rng::with_seed(seed));
        let (frame, outcomes) = front::read(&file.bytes).unwrap().decode(&file.bytes);
        check(&format!("file {seed}"), &file, &frame, &outcomes);
    }
}

fn check(name: &str, file: &File, frame: &Frame, outcomes: &[genxml_codecs::jpeg::Outcome]) {
    for outcome in outcomes {
        assert_eq!((outcome.report.concealed, outcome.report.errors), (0, 0), "{name}");
        assert_eq!(outcome.status, Default::default(), "{name}");
    }
    for (got, want) in frame.planes.iter().zip(&file.planes.planes) {
        assert_eq!(*got, corner(want, got.width, got.height), "{name}");
    }
}

/// Decodes all scans with changed parameters.
fn decode(file: &File, target: &mut Frame, change: impl Fn(&mut Parameters)) {
    for (mut parameters, scan, start) in front::read(&file.bytes).unwrap().scans {
        change(&mut parameters);
        Decoder::new(&parameters).unwrap().scan(&scan, &file.bytes[start..], target);
    }
}

/// Oracle: the picture without rotation, turned. Rotation 1 is clockwise, 2 counter-clockwise and 3
/// by 180 degrees (`MFX_JPEG_PIC_STATE`).
#[test]
fn rotation_turns_the_picture() {
    for seed in 0..60 {
        let file = File::new(&mut Rng::with_seed(1000 + seed));
        for rotation in 0..4 {
            let rotation = Rotation::from_bits(rotation);
            let change = |parameters: &mut Parameters| {
                parameters.rotation = rotation;
                if rotation.transposes() {
                    for matrix in &mut parameters.quantisers {
                        let raster = *matrix;
                        for (at, value) in matrix.iter_mut().enumerate() {
                            *value = raster[at % 8 * 8 + at / 8];
                        }
                    }
                }
            };
            let mut parameters = front::read(&file.bytes).unwrap().scans[0].0.clone();
            change(&mut parameters);
            let mut frame = parameters.frame(128).unwrap();
            decode(&file, &mut frame, change);
            for (got, plane) in frame.planes.iter().zip(&file.planes.planes) {
                let size = match rotation.transposes() {
                    true => (plane.height, plane.width),
                    false => (plane.width, plane.height),
                };
                assert_eq!((got.width, got.height), size);
                for (at, sample) in plane.data.iter().enumerate() {
                    let (x, y) = (at % plane.width, at / plane.width);
                    let (right, below) = (plane.width - 1 - x, plane.height - 1 - y);
                    let (x, y) = match rotation {
                        Rotation::None => (x, y),
                        Rotation::Clockwise90 => (below, x),
                        Rotation::Clockwise270 => (y, right),
                        Rotation::Half => (right, below),
                    };
                    assert_eq!(got.data[y * got.width + x], *sample, "{rotation:?} {x} {y}");
                }
            }
        }
    }
}

/// Planes of any size get the samples that are inside, and keep the others.
#[test]
fn planes_of_any_size() {
    let mut random = Rng::with_seed(2);
    for seed in 0..200 {
        let file = File::new(&mut Rng::with_seed(2000 + seed));
        let mut frame = Frame::default();
        for plane in &mut frame.planes {
            *plane = Plane::new(random.usize(0..100), random.usize(0..100), 77);
        }
        decode(&file, &mut frame, |_| {});
        // A scan of one component leaves out the padding, which the expected planes have as 128.
        for (got, want) in frame.planes.iter().zip(&file.planes.planes) {
            for (at, sample) in got.data.iter().enumerate() {
                let (x, y) = (at % got.width, at / got.width);
                let inside = x < want.width && y < want.height;
                let want = if inside { want.data[y * want.width + x] } else { 77 };
                let padding = !file.interleaved && want == 128;
                assert!(*sample == want || padding && *sample == 77, "{seed}: {x} {y}");
            }
        }
    }
}

/// The size in blocks of a scan of one component may leave out the padding to whole units. The size
/// in samples is not needed then.
#[test]
fn sizes_without_padding() {
    let mut found = 0;
    for seed in 0..200 {
        let file = File::new(&mut Rng::with_seed(4000 + seed));
        if file.interleaved {
            continue;
        }
        found += 1;
        let picture = front::read(&file.bytes).unwrap();
        let mut frame = picture.frame();
        decode(&file, &mut frame, |parameters| {
            parameters.picture = None;
            parameters.width_in_blocks = picture.size.0.div_ceil(8) as u32;
            parameters.height_in_blocks = picture.size.1.div_ceil(8) as u32;
        });
        for (got, want) in frame.planes.iter().zip(&file.planes.planes) {
            assert_eq!(*got, corner(want, got.width, got.height));
        }
    }
    assert!(found > 10, "{found}");
}

/// A component whose tables were not loaded uses the others: a driver that found one pair of tables
/// loads table 0 only.
#[test]
fn missing_tables_are_those_of_the_other_components() {
    let mut shared = 0;
    for seed in 0..60 {
        let file = File::new(&mut Rng::with_seed(3000 + seed));
        let scans = front::read(&file.bytes).unwrap().scans;
        let [first, second] = &scans[0].0.huffman;
        if first.is_none() || first != second {
            continue;
        }
        shared += 1;
        for missing in 0..2 {
            let mut frame = scans[0].0.frame(128).unwrap();
            decode(&file, &mut frame, |parameters| {
                if parameters.huffman[1 - missing].is_some() {
                    parameters.huffman[missing] = None;
                }
            });
            assert_eq!(frame, file.planes);
        }
    }
    assert!(shared > 3, "{shared}");
}
