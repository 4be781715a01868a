//! AVC Loop Filter Read. Oracle: the positions of 003:5318-5410 and 003:5515-5816, written as
//! tables of names, and the tables of the H.264 standard (8-16 and 8-17) as steps.

use crate::buffers::buffer;
use crate::rig::{DATA, Rig, Send, u};
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::message_headers::AvcLoopFilterReadMessageHeader;
use genxml::gen45::messages::AvcLoopFilterReadDescriptor;
use genxml_testkit::Random;
use std::collections::HashMap;

/// Indices of the record from dword 4, bit 16 on: a byte each, for A and B in turn.
const INDICES: [&str; 15] = [
    "internal_y",
    "left0_y",
    "left1_y",
    "top0_y",
    "top1_y",
    "internal_cb",
    "left0_cb",
    "left1_cb",
    "top0_cb",
    "top1_cb",
    "internal_cr",
    "left0_cr",
    "left1_cr",
    "top0_cr",
    "top1_cr",
];

/// Boundary strengths of the record: of 2 bits from dword 1 on, then of 4 bits.
const INNER: &str = "v01 v11 v21 v31 v02 v12 v22 v32 v03 v13 v23 v33 h10 h11 h12 h13 h20 h21 h22 \
                     h23 h30 h31 h32 h33";
const OUTER: &str = "v00_0 v10_0 v20_0 v30_0 v00_1 v10_1 v20_1 v30_1 h00_0 h01_0 h02_0 h03_0 h00_1 \
                     h01_1 h02_1 h03_1";

/// The value of a table of H.264 at `index`. `list` has the first index of each value.
fn steps(index: u32, list: &[(u32, u32)]) -> u32 {
    list.iter().take_while(|(from, _)| *from <= index).last().map_or(0, |(_, value)| *value)
}

fn tc0(strength: u32, index: u32) -> u32 {
    let list: &[(u32, u32)] = match strength {
        1 => &[
            (23, 1),
            (33, 2),
            (37, 3),
            (40, 4),
            (43, 5),
            (44, 6),
            (46, 7),
            (47, 8),
            (48, 9),
            (49, 10),
            (50, 11),
            (51, 13),
        ],
        2 => &[
            (21, 1),
            (31, 2),
            (35, 3),
            (38, 4),
            (40, 5),
            (42, 6),
            (43, 7),
            (44, 8),
            (46, 10),
            (47, 11),
            (48, 12),
            (49, 13),
            (50, 15),
            (51, 17),
        ],
        3 => &[
            (17, 1),
            (27, 2),
            (31, 3),
            (34, 4),
            (37, 5),
            (38, 6),
            (40, 7),
            (41, 8),
            (42, 9),
            (43, 10),
            (44, 11),
            (45, 13),
            (46, 14),
            (47, 16),
            (48, 18),
            (49, 20),
            (50, 23),
            (51, 25),
        ],
        _ => &[],
    };
    steps(index, list)
}

fn beta(index: u32) -> u32 {
    match index {
        0..16 => 0,
        16..19 => 2,
        19..23 => 3,
        23..26 => 4,
        _ => (index - 26) / 2 + 6,
    }
}

fn alpha(index: u32) -> u32 {
    const ALPHA: &str = "4 4 5 6 7 8 9 10 12 13 15 17 20 22 25 28 32 36 40 45 50 56 63 71 80 90 101 \
                         113 127 144 162 182 203 226 255 255";
    let list: Vec<u32> = ALPHA.split(' ').map(|number| number.parse().unwrap()).collect();
    index.checked_sub(16).map_or(0, |n| list[n as usize])
}

/// The bytes of the response from W3.0 on, lowest first, by name: tc0 of an edge, alpha or beta of
/// a side.
const BYTES: &str = "\
v00_0_y v10_0_y v20_0_y v30_0_y v01_y v11_y v21_y v31_y v02_y v12_y v22_y v32_y v03_y v13_y v23_y v33_y
h00_0_y h01_0_y h02_0_y h03_0_y h10_y h11_y h12_y h13_y h20_y h21_y h22_y h23_y h30_y h31_y h32_y h33_y
a:left0_y b:left0_y a:top0_y b:top0_y a:internal_y b:internal_y - - - - - - - - - -
a:left1_y b:left1_y a:top1_y b:top1_y - - - - v00_1_y v10_1_y v20_1_y v30_1_y h00_1_y h01_1_y h02_1_y h03_1_y
v00_0_cb v10_0_cb v20_0_cb v30_0_cb v02_cb v12_cb v22_cb v32_cb h00_0_cb h01_0_cb h02_0_cb h03_0_cb h20_cb h21_cb h22_cb h23_cb
v00_0_cr v10_0_cr v20_0_cr v30_0_cr v02_cr v12_cr v22_cr v32_cr h00_0_cr h01_0_cr h02_0_cr h03_0_cr h20_cr h21_cr h22_cr h23_cr
a:left0_cb b:left0_cb a:top0_cb b:top0_cb a:internal_cb b:internal_cb - - a:left0_cr b:left0_cr a:top0_cr b:top0_cr a:internal_cr b:internal_cr - -
- - - - - - - - - - - - - - - -
a:left1_cb b:left1_cb a:top1_cb b:top1_cb - - - - v00_1_cb v10_1_cb v20_1_cb v30_1_cb h00_1_cb h01_1_cb h02_1_cb h03_1_cb
a:left1_cr b:left1_cr a:top1_cr b:top1_cr - - - - v00_1_cr v10_1_cr v20_1_cr v30_1_cr h00_1_cr h01_1_cr h02_1_cr h03_1_cr";

/// The nibbles of W2, lowest first: the map of an edge, or with A or B that of an outer edge.
const NIBBLES: &str = "\
v01 v11 v21 v31 v02 v12 v22 v32 v03 v13 v23 v33 h10 h11 h12 h13 h20 h21 h22 h23 h30 h31 h32 h33 - - - - - - - -
Av00_0 Av10_0 Av20_0 Av30_0 Bv00_0 Bv10_0 Bv20_0 Bv30_0 Ah00_0 Ah01_0 Ah02_0 Ah03_0 Bh00_0 Bh01_0 Bh02_0 Bh03_0
Av00_1 Av10_1 Av20_1 Av30_1 Bv00_1 Bv10_1 Bv20_1 Bv30_1 Ah00_1 Ah01_1 Ah02_1 Ah03_1 Bh00_1 Bh01_1 Bh02_1 Bh03_1";

/// A record with the values of its fields by name.
struct Record {
    dwords: [u32; 16],
    strengths: HashMap<String, u32>,
    indices: HashMap<String, u32>,
}

fn record(random: &mut Random) -> Record {
    let mut record = [0u32; 16];
    record[0] = random.bits() as u32 & 0x00ff_ffff;
    record[1] = random.bits() as u32;
    record[2] = random.bits() as u32 & 0xffff;
    let mut strengths = HashMap::new();
    for (n, name) in INNER.split_whitespace().enumerate() {
        strengths.insert(name.to_owned(), record[1 + n / 16] >> (2 * (n % 16)) & 3);
    }
    // Outer strengths begin at dword 2, bit 16.
    for (n, name) in OUTER.split_whitespace().enumerate() {
        let (dword, shift) = (2 + (4 + n) / 8, (16 + 4 * n) % 32);
        let strength = random.below(5) as u32;
        record[dword] |= strength << shift;
        strengths.insert(name.to_owned(), strength);
    }
    let mut indices = HashMap::new();
    for (n, name) in INDICES.into_iter().enumerate() {
        for (half, letter) in ["a", "b"].into_iter().enumerate() {
            let index = random.below(52) as u32;
            let bit = 4 * 32 + 16 + 16 * n + 8 * half;
            record[bit / 32] |= index << (bit % 32);
            indices.insert(format!("{letter}:{name}"), index);
        }
    }
    Record { dwords: record, strengths, indices }
}

#[test]
fn expanded_controls() {
    let mut random = Random::new(264);
    for round in 0..40u64 {
        let Record { dwords: record, strengths, indices } = record(&mut random);
        let mut rig = Rig::new();
        rig.bind(2, &buffer(64, 16).pack());
        rig.put(DATA + 64 * round, &record);
        let descriptor = AvcLoopFilterReadDescriptor {
            binding_table_index: u(2),
            response_length: u(8),
            ..AvcLoopFilterReadDescriptor::new()
        };
        let header = AvcLoopFilterReadMessageHeader {
            global_offset: u(64 * round),
            ..AvcLoopFilterReadMessageHeader::new()
        };
        let send =
            Send::new(SharedFunction::DataPortRead, descriptor.pack()[0], vec![header.pack()]);
        rig.send(&Send { mask: 0, ..send }).unwrap();
        if round >= 16 {
            // Beyond the buffer.
            assert!((0..8).all(|n| rig.answer(n) == [0; 8]));
            continue;
        }
        let words: Vec<u32> = (0..8).flat_map(|n| rig.answer(n)).collect();
        assert_eq!(words[..12], record[..12]);
        assert_eq!(words[12..16], [0; 4]);
        for (n, name) in NIBBLES.split_whitespace().enumerate() {
            let found = words[16 + n / 8] >> (4 * (n % 8)) & 0xf;
            let strength = |name: &str| strengths[name];
            let expected = match name.split_at(1) {
                ("-", _) => false,
                ("A", name) => strength(name) > 0,
                ("B", name) => strength(name) == 4,
                _ => strength(name) > 0,
            };
            assert_eq!(found, if expected { 0xf } else { 0 }, "{name}");
        }
        for (n, name) in BYTES.split_whitespace().enumerate() {
            let found = words[24 + n / 4] >> (8 * (n % 4)) & 0xff;
            let expected = if name == "-" {
                0
            } else if name.starts_with("a:") {
                alpha(indices[name])
            } else if name.starts_with("b:") {
                beta(indices[name])
            } else {
                let (edge, component) = name.rsplit_once('_').unwrap();
                let side = match edge.split_once('_') {
                    Some((edge, number)) if edge.starts_with('v') => format!("left{number}"),
                    Some((_, number)) => format!("top{number}"),
                    None => "internal".to_owned(),
                };
                tc0(strengths[edge], indices[&format!("a:{side}_{component}")])
            };
            assert_eq!(found, expected, "{name}, strengths {strengths:?}, indices {indices:?}");
        }
    }
}
