//! Headers, bit planes and containers as bits: the encoder's direction of `parse`.

use super::bitplane::{self, Group, MODE_CODES, MODES as PLANE_MODES, Mode};
use super::headers::{Fcm, Header, MODES, Plane, Sequence};
use super::player::escape;
use crate::bits::BitWriter;
use genxml_codecs::vc1::Code;
use genxml_codecs::vc1::{Alternative, Intensity, Overlap, PictureType, VectorMode};

impl BitWriter {
    pub fn code(&mut self, (code, length): Code) {
        self.put(code, length.into());
    }

    fn ternary(&mut self, value: u32) {
        self.code([(0, 1), (2, 2), (3, 2)][value as usize]);
    }

    /// `value` ones and a zero, or zeros and a one; the last bit is left out at `limit`.
    fn unary(&mut self, value: u32, ones: bool, limit: u32) {
        (0..value).for_each(|_| self.flag(ones));
        if value < limit {
            self.flag(!ones);
        }
    }
}

/// STRUCT_C.
pub fn struct_c(s: &Sequence) -> Vec<u8> {
    let mut bits = BitWriter::default();
    bits.put(s.profile, 2);
    bits.put(0, 10);
    bits.flag(s.loop_filter);
    bits.put(0, 1);
    bits.flag(s.multires);
    bits.put(1, 1);
    bits.flag(s.fast_chroma);
    bits.flag(s.extended_mv);
    bits.put(s.dquant, 2);
    bits.flag(s.variable_transform);
    bits.put(0, 1);
    bits.flag(s.overlap);
    bits.flag(s.sync_marker);
    bits.flag(s.range_reduction);
    bits.put(s.max_b, 3);
    bits.put(s.quantizer, 2);
    bits.flag(s.interpolation);
    bits.put(1, 1);
    bits.bytes
}

/// The sequence and entry point headers of advanced profile, with start codes.
pub fn advanced_headers(s: &Sequence) -> Vec<u8> {
    let size = |bits: &mut BitWriter| {
        bits.put(s.width as u32 / 2 - 1, 12);
        bits.put(s.height as u32 / 2 - 1, 12);
    };
    let mut bits = BitWriter::default();
    bits.put(3, 2);
    bits.put(2, 3);
    bits.put(1, 2);
    bits.put(0, 8);
    bits.flag(s.postproc);
    size(&mut bits);
    bits.flag(s.pulldown);
    bits.flag(s.interlace);
    bits.flag(s.frame_counter);
    bits.flag(s.interpolation);
    bits.put(1, 1);
    bits.put(0, 3);
    bits.put(1, 1);
    let mut out = unit(0xf, &bits.bytes);
    let mut bits = BitWriter::default();
    bits.put(1, 2);
    bits.flag(s.pan_scan);
    bits.flag(s.reference_distance);
    bits.flag(s.loop_filter);
    bits.flag(s.fast_chroma);
    bits.flag(s.extended_mv);
    bits.put(s.dquant, 2);
    bits.flag(s.variable_transform);
    bits.flag(s.overlap);
    bits.put(s.quantizer, 2);
    bits.flag(true);
    size(&mut bits);
    if s.extended_mv {
        bits.flag(s.extended_dmv);
    }
    bits.put(0, 2);
    bits.put(1, 1);
    out.extend(unit(0xe, &bits.bytes));
    out
}

/// A unit with its start code.
pub fn unit(code: u8, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0, 0, 1, code];
    out.extend(escape(data));
    out
}

/// An RCV file (annex L): STRUCT_C, STRUCT_A, STRUCT_B and frames.
pub fn rcv(s: &Sequence, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut out = (frames.len() as u32 | 0xc500_0000).to_le_bytes().to_vec();
    out.extend(4u32.to_le_bytes());
    out.extend(struct_c(s));
    out.extend((s.height as u32).to_le_bytes());
    out.extend((s.width as u32).to_le_bytes());
    for word in [12u32, 0, 0, 25] {
        out.extend(word.to_le_bytes());
    }
    for (time, frame) in frames.iter().enumerate() {
        out.extend((frame.len() as u32 | 0x8000_0000).to_le_bytes());
        out.extend((time as u32 * 40).to_le_bytes());
        out.extend(frame);
    }
    out
}

/// Writes a picture header. Bit planes get coding modes from `random`.
pub fn picture(s: &Sequence, h: &Header, random: &mut fastrand::Rng) -> BitWriter {
    let mut bits = BitWriter::default();
    if !h.second_field {
        if s.is_advanced() {
            advanced(s, h, &mut bits);
        } else {
            main(s, h, &mut bits);
        }
    }
    if !h.skipped {
        rest(s, h, &mut bits, random);
    }
    bits
}

fn advanced(s: &Sequence, h: &Header, bits: &mut BitWriter) {
    if s.interlace {
        bits.ternary(h.fcm as u32);
    }
    if h.fcm == Fcm::Field {
        bits.put(h.field_types, 3);
    } else {
        let ones = match h.kind {
            PictureType::P if h.skipped => 4,
            PictureType::P => 0,
            PictureType::B => 1,
            PictureType::I => 2,
            PictureType::Bi => 3,
        };
        bits.unary(ones, true, 4);
    }
    if s.frame_counter {
        bits.put(0, 8);
    }
    if s.pulldown {
        if s.interlace {
            bits.flag(h.top_first);
            bits.put(0, 1);
        } else {
            bits.put(0, 2);
        }
    }
    if h.skipped {
        return;
    }
    bits.flag(h.rounding);
    if s.interlace {
        bits.put(1, 1);
    }
    let bidirectional = matches!(h.kind, PictureType::B | PictureType::Bi);
    match h.fcm {
        Fcm::Field => {
            if s.reference_distance && !bidirectional {
                bits.put(h.distance.min(3), 2);
                if h.distance >= 3 {
                    bits.unary(h.distance - 3, true, 13);
                }
            }
            if bidirectional {
                fraction(h.fraction, bits);
            }
        }
        Fcm::Progressive => {
            if s.interpolation {
                bits.put(0, 1);
            }
            if h.kind == PictureType::B {
                fraction(h.fraction, bits);
            }
        }
        Fcm::Frame => {}
    }
}

fn fraction(index: u32, bits: &mut BitWriter) {
    if index < 7 {
        bits.put(index, 3);
    } else {
        bits.put(7, 3);
        bits.put(index - 7, 4);
    }
}

fn main(s: &Sequence, h: &Header, bits: &mut BitWriter) {
    if s.interpolation {
        bits.put(0, 1);
    }
    bits.put(0, 2);
    if s.range_reduction {
        bits.flag(h.reduced);
    }
    bits.flag(h.kind == PictureType::P);
    if h.kind != PictureType::P && s.max_b > 0 {
        bits.flag(h.kind == PictureType::I);
        match h.kind {
            PictureType::B => fraction(h.fraction, bits),
            PictureType::Bi => fraction(22, bits),
            _ => {}
        }
    }
    if h.intra() {
        bits.put(5, 7);
    }
}

fn rest(s: &Sequence, h: &Header, bits: &mut BitWriter, random: &mut fastrand::Rng) {
    bits.put(h.index, 5);
    if h.index < 9 {
        bits.flag(h.half);
    }
    if s.quantizer == 1 {
        bits.flag(h.uniform);
    }
    if s.is_advanced() && s.postproc {
        bits.put(0, 2);
    }
    if !s.is_advanced() {
        if s.extended_mv {
            bits.unary(h.mv_range, true, 3);
        }
        if s.multires && h.kind != PictureType::B {
            bits.put(0, 2);
        }
    }
    match h.kind {
        PictureType::I | PictureType::Bi => intra(s, h, bits, random),
        PictureType::P => predicted(s, h, bits, random),
        PictureType::B => bidirectional(s, h, bits, random),
    }
    if !h.intra() {
        quantizers(s, h, bits);
        if s.variable_transform {
            bits.flag(h.picture_transform);
            if h.picture_transform {
                bits.put(h.transform, 2);
            }
        }
    }
    bits.ternary(h.chroma_set);
    if h.intra() {
        bits.ternary(h.luma_set);
    }
    bits.flag(h.dc_table);
    if h.intra() && s.is_advanced() {
        quantizers(s, h, bits);
    }
}

fn intra(s: &Sequence, h: &Header, bits: &mut BitWriter, random: &mut fastrand::Rng) {
    if !s.is_advanced() {
        return;
    }
    plane(s, h, &h.field_transform, bits, random);
    plane(s, h, &h.ac_prediction, bits, random);
    if s.overlap && h.pquant(s) <= 8 {
        bits.ternary(match h.conditional_overlap {
            Overlap::None => 0,
            Overlap::All => 1,
            Overlap::Flagged => 2,
        });
        plane(s, h, &h.overlap_flags, bits, random);
    }
}

fn mode(s: &Sequence, h: &Header, bits: &mut BitWriter) {
    let modes = MODES[usize::from(h.pquant(s) <= 12)];
    let zeros = modes.iter().position(|mode| *mode == h.mode).unwrap() as u32;
    let intensity = |intensity: Option<Intensity>, bits: &mut BitWriter| {
        if let Some(Intensity { scale, shift }) = intensity {
            bits.put(scale.into(), 6);
            bits.put(shift.into(), 6);
        }
    };
    if h.intensity == [None; 2] {
        bits.unary(if zeros == 3 { 4 } else { zeros }, false, 4);
        return;
    }
    bits.unary(3, false, 4);
    bits.unary(zeros, false, 3);
    if h.fcm == Fcm::Field {
        bits.code(match h.intensity {
            [Some(_), Some(_)] => (1, 1),
            [None, _] => (1, 2),
            _ => (0, 2),
        });
        intensity(h.intensity[0], bits);
        intensity(h.intensity[1], bits);
    } else {
        intensity(h.intensity[0], bits);
    }
}

fn predicted(s: &Sequence, h: &Header, bits: &mut BitWriter, random: &mut fastrand::Rng) {
    if s.is_advanced() {
        if h.fcm == Fcm::Field {
            bits.flag(h.two_references);
            if !h.two_references {
                bits.flag(h.far_reference);
            }
        }
        if s.extended_mv {
            bits.unary(h.mv_range, true, 3);
        }
        if s.extended_dmv && s.interlace {
            bits.unary(h.dmv_range, true, 3);
        }
    }
    match h.fcm {
        Fcm::Progressive => {
            mode(s, h, bits);
            plane(s, h, &h.mv_type, bits, random);
            plane(s, h, &h.skip, bits, random);
            bits.put(h.mv_table, 2);
            bits.put(h.cbp_table, 2);
        }
        Fcm::Frame => {
            bits.flag(h.four_vectors);
            bits.flag(h.intensity[0].is_some());
            if let Some(Intensity { scale, shift }) = h.intensity[0] {
                bits.put(scale.into(), 6);
                bits.put(shift.into(), 6);
            }
            plane(s, h, &h.skip, bits, random);
            bits.put(h.mode_table, 2);
            bits.put(h.mv_table, 2);
            bits.put(h.cbp_table, 3);
            bits.put(h.two_mv_table, 2);
            if h.four_vectors {
                bits.put(h.four_mv_table, 2);
            }
        }
        Fcm::Field => {
            mode(s, h, bits);
            bits.put(h.mode_table, 3);
            bits.put(h.mv_table, 2 + u32::from(h.two_references));
            bits.put(h.cbp_table, 3);
            if h.mode == VectorMode::Mixed {
                bits.put(h.four_mv_table, 2);
            }
        }
    }
}

fn bidirectional(s: &Sequence, h: &Header, bits: &mut BitWriter, random: &mut fastrand::Rng) {
    if s.is_advanced() {
        if h.fcm == Fcm::Frame {
            fraction(h.fraction, bits);
        }
        if s.extended_mv {
            bits.unary(h.mv_range, true, 3);
        }
    }
    if h.fcm != Fcm::Progressive && s.extended_dmv {
        bits.unary(h.dmv_range, true, 3);
    }
    match h.fcm {
        Fcm::Progressive => {
            bits.flag(h.mode == VectorMode::One);
            plane(s, h, &h.direct, bits, random);
            plane(s, h, &h.skip, bits, random);
            bits.put(h.mv_table, 2);
            bits.put(h.cbp_table, 2);
        }
        Fcm::Frame => {
            bits.put(0, 1);
            plane(s, h, &h.direct, bits, random);
            plane(s, h, &h.skip, bits, random);
            bits.put(h.mode_table, 2);
            bits.put(h.mv_table, 2);
            bits.put(h.cbp_table, 3);
            bits.put(h.two_mv_table, 2);
            bits.put(h.four_mv_table, 2);
        }
        Fcm::Field => {
            let modes = MODES[usize::from(h.pquant(s) <= 12)];
            let zeros = modes.iter().position(|mode| *mode == h.mode).unwrap() as u32;
            bits.unary(zeros, false, 3);
            plane(s, h, &h.forward, bits, random);
            bits.put(h.mode_table, 3);
            bits.put(h.mv_table, 3);
            bits.put(h.cbp_table, 3);
            if h.mode == VectorMode::Mixed {
                bits.put(h.four_mv_table, 2);
            }
        }
    }
}

fn quantizers(s: &Sequence, h: &Header, bits: &mut BitWriter) {
    match s.dquant {
        0 => return,
        1 => {
            bits.flag(h.alternative != Alternative::None);
            match h.alternative {
                Alternative::None => return,
                Alternative::Edges(15) => bits.put(0, 2),
                Alternative::Edges(mask) if mask.count_ones() == 2 => {
                    bits.put(1, 2);
                    let index = [3, 6, 12, 9].iter().position(|two| *two == mask).unwrap();
                    bits.put(index as u32, 2);
                }
                Alternative::Edges(mask) => {
                    bits.put(2, 2);
                    bits.put(mask.trailing_zeros(), 2);
                }
                Alternative::Each => {
                    bits.put(6, 3);
                    return;
                }
                Alternative::Choice => bits.put(7, 3),
            }
        }
        _ => {}
    }
    bits.put(7, 3);
    bits.put(h.alternative_quantizer, 5);
}

/// Writes a bit plane if it is there, with a mode from `random`.
fn plane(
    s: &Sequence,
    h: &Header,
    plane: &Option<Plane>,
    bits: &mut BitWriter,
    random: &mut fastrand::Rng,
) {
    let Some(plane) = plane else {
        return;
    };
    let invert = random.bool();
    let mode = PLANE_MODES[if plane.raw { 0 } else { random.usize(1..7) }];
    plane_in_mode(plane, s.size_in_mbs(h.fcm == Fcm::Field), mode, invert, bits);
}

/// Writes a bit plane (8.7).
pub fn plane_in_mode(
    plane: &Plane,
    (width, height): (usize, usize),
    mode: Mode,
    invert: bool,
    bits: &mut BitWriter,
) {
    bits.flag(invert);
    bits.code(MODE_CODES[PLANE_MODES.iter().position(|found| *found == mode).unwrap()]);
    let flags: Vec<bool> = (0..plane.bits.len())
        .map(|at| match mode {
            Mode::Diff2 | Mode::Diff6 => {
                plane.bits[at] ^ bitplane::predicted(&plane.bits, at, width, invert)
            }
            _ => plane.bits[at] ^ invert,
        })
        .collect();
    for group in bitplane::groups(mode, width, height) {
        match group {
            Group::Flags(at) => at.into_iter().for_each(|at| bits.flag(flags[at])),
            Group::Optional(at) => {
                let any = at.iter().any(|&at| flags[at]);
                bits.flag(any);
                if any {
                    at.into_iter().for_each(|at| bits.flag(flags[at]));
                }
            }
            Group::Coded(at) => {
                let flags = at.iter().enumerate().map(|(n, &at)| usize::from(flags[at]) << n);
                let symbol: usize = flags.sum();
                bits.code(if at.len() == 2 {
                    bitplane::PAIR_CODES[symbol]
                } else {
                    bitplane::SIX_CODES[symbol]
                });
            }
        }
    }
}
