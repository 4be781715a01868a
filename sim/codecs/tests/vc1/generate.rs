//! Random streams.
//!
//! Headers and bit planes are chosen field by field. Macroblocks are random bits: the codes of the
//! standard are complete, so that any bits are valid macroblocks. Only strings that hold an escape
//! to large numbers are left out, because software decoders keep 16 bits of coefficients.

use super::headers::{Fcm, Header, MODES, Plane, Sequence};
use super::parse;
use super::write;
use crate::bits::BitWriter;
use fastrand::Rng;
use genxml_codecs::bits::BitReader;
use genxml_codecs::vc1::{
    Alternative, COEFFICIENTS, Code, Intensity, MVDATA, Overlap, PictureType, VectorMode,
};

/// Features of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// 0 simple, 1 main, 3 advanced.
    pub profile: u32,
    /// Codings of frames.
    pub fcm: &'static [Fcm],
    pub b: bool,
    /// Chroma vectors are rounded to half samples.
    pub fast_chroma: bool,
    /// I pictures of reduced range, without filters, in main profile.
    pub reduced: bool,
}

impl Features {
    pub fn new(profile: u32, fcm: &'static [Fcm], b: bool) -> Self {
        Features { profile, fcm, b, fast_chroma: profile == 0, reduced: false }
    }
}

/// A stream: its headers, and its frames as a container holds them.
pub struct Stream {
    pub sequence: Sequence,
    pub frames: Vec<Vec<u8>>,
    /// Description for messages.
    pub pictures: Vec<String>,
}

impl Stream {
    /// A file that the software decoder reads, and its name of the format.
    pub fn file(&self) -> (Vec<u8>, &'static str) {
        if self.sequence.is_advanced() {
            let mut out = write::advanced_headers(&self.sequence);
            out.extend(self.frames.iter().flatten());
            (out, "vc1")
        } else {
            (write::rcv(&self.sequence, &self.frames), "vc1test")
        }
    }
}

/// Makes a stream of `count` frames.
pub fn stream(features: Features, count: usize, random: &mut Rng) -> Stream {
    let sequence = sequence(features, random);
    let mut stream = Stream { sequence, frames: Vec::new(), pictures: Vec::new() };
    let mut anchor = Fcm::Progressive;
    let mut anchors = 0;
    let mut top_first = true;
    while stream.frames.len() < count {
        let b = features.b && anchors >= 2 && random.u8(0..5) < 2;
        let mut fcm = if b { anchor } else { *random.choice(features.fcm).unwrap() };
        if fcm == Fcm::Progressive && anchor != Fcm::Progressive && anchors > 0 {
            // The software decoder confuses the fields of a reference far outside the picture.
            fcm = Fcm::Frame;
        }
        let kind = match (b, random.u8(0..6)) {
            (true, 0) => PictureType::Bi,
            (true, _) => PictureType::B,
            _ if anchors == 0 || features.reduced => PictureType::I,
            (false, 0) => PictureType::I,
            (false, _) => PictureType::P,
        };
        // The software decoder finds motion for direct prediction by the order of fields, not by
        // their parity: streams with B pictures keep the order.
        let may_swap = stream.sequence.pulldown && stream.sequence.interlace;
        if may_swap && (stream.frames.is_empty() || !features.b) {
            top_first = random.bool();
        }
        // The software decoder does not keep motion of skipped pictures, nor does it distinguish
        // their intensity compensation from that of the picture before.
        let may_skip = stream.sequence.is_advanced() && !features.b && fcm != Fcm::Field;
        let skipped = may_skip
            && kind == PictureType::P
            && !features.fcm.contains(&Fcm::Field)
            && random.u8(0..6) == 0;
        let place = Place { alone: anchors == 0, top_first, skipped };
        let (data, text) = frame(&stream.sequence, fcm, kind, place, random);
        if !b {
            anchor = fcm;
            anchors += 1;
        }
        stream.frames.push(data);
        stream.pictures.push(text);
    }
    stream
}

fn sequence(features: Features, random: &mut Rng) -> Sequence {
    let advanced = features.profile == 3;
    let simple = features.profile == 0;
    let interlace = features.fcm != [Fcm::Progressive];
    let mut s = Sequence {
        profile: features.profile,
        width: random.usize(12..50) * 2,
        height: random.usize(12..40) * 2,
        postproc: advanced && random.bool(),
        interlace,
        pulldown: advanced && random.bool(),
        frame_counter: advanced && random.bool(),
        interpolation: random.bool(),
        reference_distance: advanced && random.bool(),
        loop_filter: !simple && random.bool(),
        fast_chroma: features.fast_chroma,
        extended_mv: !simple && random.bool(),
        // The software decoder ignores ALTPQUANT with DQUANT = 2.
        dquant: if simple { 0 } else { random.u32(0..2) },
        variable_transform: random.bool(),
        overlap: random.bool(),
        quantizer: random.u32(0..4),
        multires: !advanced && random.bool(),
        max_b: u32::from(features.b),
        ..Sequence::default()
    };
    if features.reduced {
        (s.range_reduction, s.loop_filter, s.overlap) = (true, false, false);
    }
    s.extended_dmv = advanced && s.extended_mv && random.bool();
    if interlace {
        // The software decoder's chroma edges need fields of whole chroma rows.
        s.height = s.height / 4 * 4;
    }
    s
}

/// What a frame gets from its stream.
struct Place {
    /// There is no frame before it.
    alone: bool,
    top_first: bool,
    skipped: bool,
}

fn frame(
    s: &Sequence,
    fcm: Fcm,
    kind: PictureType,
    place: Place,
    random: &mut Rng,
) -> (Vec<u8>, String) {
    let mut first = header(s, fcm, kind, random);
    first.top_first = place.top_first;
    first.reduced = s.range_reduction;
    if place.skipped {
        first = Header {
            fcm,
            kind,
            index: 1,
            skipped: true,
            top_first: first.top_first,
            ..Header::default()
        };
    }
    let mut text = describe(&first);
    if fcm != Fcm::Field {
        let out = units(s, &first, 0xd, random);
        return (out, text);
    }
    let other = match kind {
        PictureType::I => *random.choice(&[PictureType::I, PictureType::P]).unwrap(),
        PictureType::P => PictureType::P,
        PictureType::B => *random.choice(&[PictureType::B, PictureType::Bi]).unwrap(),
        PictureType::Bi => *random.choice(&[PictureType::B, PictureType::Bi]).unwrap(),
    };
    let bit = |kind: PictureType| u32::from(matches!(kind, PictureType::P | PictureType::Bi));
    first.field_types = u32::from(matches!(kind, PictureType::B | PictureType::Bi)) << 2
        | bit(kind) << 1
        | bit(other);
    let mut second = header(s, fcm, other, random);
    if place.alone {
        // Only the first field is there to refer to.
        (second.two_references, second.far_reference) = (false, false);
        second.mv_table %= 4;
    }
    second.second_field = true;
    // The engine has room for two compensations of a field, not three.
    let own = usize::from(first.top_first);
    if first.intensity[own].is_some() {
        second.intensity[own] = None;
    }
    second.field_types = first.field_types;
    second.top_first = first.top_first;
    text += " + ";
    text += &describe(&second);
    let mut out = units(s, &first, 0xd, random);
    out.extend(units(s, &second, 0xc, random));
    (out, text)
}

fn describe(h: &Header) -> String {
    if h.skipped {
        return "skipped".into();
    }
    format!(
        "{:?} {:?} index {} {:?} {:?} ic {:?} mvrange {} two {} fraction {} cond {:?}",
        h.fcm,
        h.kind,
        h.index,
        h.mode,
        h.alternative,
        h.intensity,
        h.mv_range,
        h.two_references,
        h.fraction,
        h.conditional_overlap,
    )
}

fn header(s: &Sequence, fcm: Fcm, kind: PictureType, random: &mut Rng) -> Header {
    let mut h = Header { fcm, kind, ..Header::default() };
    let advanced = s.is_advanced();
    h.rounding = random.bool();
    h.distance = if s.reference_distance && random.bool() { random.u32(0..7) } else { 0 };
    h.fraction = random.u32(0..21);
    h.index = random.u32(1..32);
    h.half = h.index < 9 && random.bool();
    h.uniform = match s.quantizer {
        0 => h.index < 9,
        1 => random.bool(),
        2 => false,
        _ => true,
    };
    h.mv_range = if s.extended_mv { random.u32(0..4) } else { 0 };
    let predicted = matches!(kind, PictureType::P | PictureType::B);
    h.dmv_range = if s.extended_dmv && s.interlace && predicted { random.u32(0..4) } else { 0 };
    if kind == PictureType::B && fcm == Fcm::Progressive {
        h.dmv_range = 0;
    }
    h.mode = MODES[0][random.usize(0..4)];
    if kind == PictureType::B && fcm == Fcm::Progressive {
        h.mode = if random.bool() { VectorMode::One } else { VectorMode::OneHalfBilinear };
    }
    if kind == PictureType::P && random.u8(0..3) == 0 {
        let mut one = || Some(Intensity { scale: random.u8(0..64), shift: random.u8(0..64) });
        let (top, bottom) = (one(), one());
        h.intensity = match (fcm, random.u8(0..3)) {
            (Fcm::Field, 0) => [top, None],
            (Fcm::Field, 1) => [None, bottom],
            (Fcm::Field, _) => [top, bottom],
            _ => [top, top],
        };
    }
    h.two_references = fcm == Fcm::Field && kind == PictureType::P && random.bool();
    h.far_reference = !h.two_references && random.bool();
    h.four_vectors = random.bool();
    tables_of(s, &mut h, random);
    planes_of(s, &mut h, random);
    if s.dquant == 1 && (advanced || !h.intra()) {
        h.alternative = match random.u8(0..6) {
            0 => Alternative::None,
            1 => Alternative::Edges(15),
            2 => Alternative::Edges([3, 6, 12, 9][random.usize(0..4)]),
            3 => Alternative::Edges(1 << random.u8(0..4)),
            4 => Alternative::Each,
            _ => Alternative::Choice,
        };
        h.alternative_quantizer = random.u32(1..32);
        if h.alternative == Alternative::Each {
            // MQDIFF adds up to 6.
            h.index = h.index.min(25);
            h.half = false;
        }
    }
    h
}

fn tables_of(s: &Sequence, h: &mut Header, random: &mut Rng) {
    let predicted = h.kind == PictureType::P;
    let frame = h.fcm != Fcm::Field;
    h.mv_table = random.u32(0..if frame || (predicted && !h.two_references) { 4 } else { 8 });
    h.cbp_table = random.u32(0..if h.fcm == Fcm::Progressive { 4 } else { 8 });
    h.mode_table = random.u32(0..if frame { 4 } else { 8 });
    h.four_mv_table = random.u32(0..4);
    h.two_mv_table = random.u32(0..4);
    h.picture_transform = !s.variable_transform || random.bool();
    h.transform = if s.variable_transform { random.u32(0..4) } else { 0 };
    h.chroma_set = random.u32(0..3);
    h.luma_set = random.u32(0..3);
    h.dc_table = random.bool();
}

fn planes_of(s: &Sequence, h: &mut Header, random: &mut Rng) {
    let (width, height) = s.size_in_mbs(h.fcm == Fcm::Field);
    let mut plane = |density: u8| {
        let raw = random.u8(0..4) == 0;
        let bits = (0..if raw { 0 } else { width * height }).map(|_| random.u8(0..8) < density);
        Some(Plane { raw, bits: bits.collect() })
    };
    match (h.kind, h.fcm) {
        (PictureType::I | PictureType::Bi, _) if s.is_advanced() => {
            if h.fcm == Fcm::Frame {
                h.field_transform = plane(4);
            }
            h.ac_prediction = plane(4);
            if s.overlap && h.pquant(s) <= 8 {
                let flags = plane(5);
                h.conditional_overlap =
                    *random.choice(&[Overlap::None, Overlap::All, Overlap::Flagged]).unwrap();
                if h.conditional_overlap == Overlap::Flagged {
                    h.overlap_flags = flags;
                }
            }
        }
        (PictureType::I | PictureType::Bi, _) => {}
        (PictureType::P, Fcm::Progressive) => {
            if h.mode == VectorMode::Mixed {
                h.mv_type = plane(3);
            }
            h.skip = plane(1);
        }
        (PictureType::P, Fcm::Frame) => h.skip = plane(1),
        (PictureType::P, Fcm::Field) => {}
        (PictureType::B, Fcm::Field) => h.forward = plane(4),
        (PictureType::B, _) => {
            h.direct = plane(2);
            h.skip = plane(1);
        }
    }
}

/// The units of a picture: its header and macroblocks, and slices of advanced profile.
fn units(s: &Sequence, h: &Header, code: u8, random: &mut Rng) -> Vec<u8> {
    let (_, height) = s.size_in_mbs(h.fcm == Fcm::Field);
    let avoided = avoided(s, h, random);
    let mut bits = write::picture(s, h, random);
    if h.skipped {
        bits.flag(true);
        return write::unit(code, &bits.bytes);
    }
    macroblocks(s, &mut bits, &avoided, random);
    if !s.is_advanced() {
        return bits.bytes;
    }
    let mut out = write::unit(code, &bits.bytes);
    let mut row = 0;
    while random.u8(0..3) == 0 {
        row += random.usize(1..4);
        if row >= height {
            break;
        }
        let mut bits = BitWriter::default();
        // Rows of the second field follow those of the first one.
        let address = if h.second_field { row + height } else { row };
        bits.put(address as u32, 9);
        bits.flag(false);
        macroblocks(s, &mut bits, &avoided, random);
        out.extend(write::unit(0xb, &bits.bytes));
    }
    out
}

/// Strings of bits that macroblocks do not hold: their bits and length.
fn avoided(s: &Sequence, h: &Header, random: &mut Rng) -> Vec<Code> {
    let mut avoided = Vec::new();
    // The second vector of an interpolated macroblock must not be intra.
    if h.kind == PictureType::B && h.fcm == Fcm::Progressive && random.u8(0..4) > 0 {
        let codes = MVDATA[h.mv_table as usize];
        avoided.extend([codes[35], codes[72]]);
    }
    // Escapes of mode 3 have up to 11 bits, and 8 bits with PQUANT of 8 and above.
    let small = matches!(h.pquant(s), 1 | 8..=12) && h.alternative == Alternative::None;
    if !small {
        let escapes = COEFFICIENTS.iter().map(|codes| codes[codes.len() - 1]);
        avoided.extend(escapes.map(|(code, length)| (code << 2, length + 2)));
    }
    // An escape of mode 1 or 2 of an escape.
    for codes in &COEFFICIENTS {
        let (code, length) = codes[codes.len() - 1];
        avoided.push((code << (length + 1) | 1 << length | code, 2 * length + 1));
        avoided.push((code << (length + 2) | 1 << length | code, 2 * length + 2));
    }
    // The string that is no code in the coding sets of mid rate.
    let used = |inter: usize| h.chroma_set == 2 || (inter == 0 && h.luma_set == 2);
    for inter in 0..2 {
        if used(inter) {
            avoided.push(unused(COEFFICIENTS[4 + inter]));
        }
    }
    avoided
}

/// The code that a table lacks.
fn unused(codes: &[Code]) -> Code {
    let length = 9;
    let fits = |word: u32| {
        codes.iter().any(|&(code, bits)| {
            let bits = u32::from(bits);
            if bits <= length {
                word >> (length - bits) == code
            } else {
                code >> (bits - length) == word
            }
        })
    };
    let word = (0..1 << length).find(|&word| !fits(word)).unwrap();
    (word, length as u8)
}

/// Adds random bits for all macroblocks.
fn macroblocks(s: &Sequence, bits: &mut BitWriter, avoided: &[Code], random: &mut Rng) {
    let (width, height) = s.size_in_mbs(false);
    let count = width * height * 8 * 160;
    let mut string: Vec<bool> = Vec::with_capacity(count);
    let mut last = 0u64;
    while string.len() < count {
        let holds = |bit: bool| {
            let word = last << 1 | u64::from(bit);
            avoided.iter().any(|&(code, length)| word & ((1 << length) - 1) == u64::from(code))
        };
        let bit = random.bool();
        match (holds(bit), holds(!bit)) {
            (false, _) => string.push(bit),
            (true, false) => string.push(!bit),
            (true, true) => string.truncate(string.len().saturating_sub(40)),
        }
        let recent = &string[string.len().saturating_sub(64)..];
        last = recent.iter().fold(0, |word, &bit| word << 1 | u64::from(bit));
    }
    string.into_iter().for_each(|bit| bits.flag(bit));
}

/// A header that was read writes as the same bits.
#[test]
fn headers_read_as_they_were_written() {
    const ALL: &[Fcm] = &[Fcm::Progressive, Fcm::Frame, Fcm::Field];
    let mut random = Rng::with_seed(3);
    for round in 0..600 {
        let profile = [0, 1, 3, 3][round % 4];
        let fcm = if profile == 3 { ALL } else { &ALL[..1] };
        let s = sequence(Features::new(profile, fcm, profile > 0), &mut random);
        let kinds = [PictureType::I, PictureType::P, PictureType::B, PictureType::Bi];
        let kind = kinds[random.usize(0..if profile > 0 { 4 } else { 2 })];
        let mut h = header(&s, *random.choice(fcm).unwrap(), kind, &mut random);
        h.top_first = true;
        h.field_types = match kind {
            PictureType::I => 0,
            PictureType::P => 3,
            PictureType::B => 4,
            PictureType::Bi => 7,
        };
        let written = write::picture(&s, &h, &mut Rng::with_seed(round as u64));
        let mut bits = BitReader::new(&written.bytes, 0);
        let read = parse::picture(&s, &mut bits);
        assert_eq!(read.kind, kind);
        let again = write::picture(&s, &read, &mut Rng::with_seed(round as u64));
        assert_eq!(again.bytes, written.bytes, "{s:?} {h:?} {read:?}");
    }
}
