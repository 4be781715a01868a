//! Picture headers from bits.

use super::bitplane;
use super::headers::{Fcm, Header, MODES, Plane, Sequence};
use genxml_codecs::bits::BitReader;
use genxml_codecs::vc1::{Alternative, Intensity, Overlap, PictureType, VectorMode};

/// Reads the header of a frame, or of its first field.
pub fn picture(sequence: &Sequence, bits: &mut BitReader<'_>) -> Header {
    let mut header = Header::default();
    if sequence.is_advanced() {
        advanced(sequence, bits, &mut header);
        if header.skipped {
            return header;
        }
    } else {
        main(sequence, bits, &mut header);
    }
    rest(sequence, bits, &mut header);
    header
}

/// Reads the header of the second field of the frame of `first`.
pub fn second_field(sequence: &Sequence, first: &Header, bits: &mut BitReader<'_>) -> Header {
    let mut header = Header {
        second_field: true,
        kind: PictureType::of_field(first.field_types as u8, true),
        fcm: Fcm::Field,
        field_types: first.field_types,
        top_first: first.top_first,
        rounding: first.rounding,
        distance: first.distance,
        fraction: first.fraction,
        ..Header::default()
    };
    rest(sequence, bits, &mut header);
    header
}

/// Zeros before a one, or ones before a zero if `ones`, at most `limit`.
fn unary(bits: &mut BitReader<'_>, ones: bool, limit: u32) -> u32 {
    (0..limit).find(|_| bits.flag() != ones).unwrap_or(limit)
}

fn ternary(bits: &mut BitReader<'_>) -> u32 {
    if bits.flag() { 1 + bits.read(1) } else { 0 }
}

fn fraction(bits: &mut BitReader<'_>) -> u32 {
    match bits.read(3) {
        7 => 7 + bits.read(4),
        index => index,
    }
}

/// The start of a header of advanced profile (7.1.1).
fn advanced(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    if sequence.interlace {
        header.fcm = [Fcm::Progressive, Fcm::Frame, Fcm::Field][ternary(bits) as usize];
    }
    if header.fcm == Fcm::Field {
        header.field_types = bits.read(3);
        header.kind = PictureType::of_field(header.field_types as u8, false);
    } else {
        let kinds = [PictureType::P, PictureType::B, PictureType::I, PictureType::Bi];
        let ones = unary(bits, true, 4) as usize;
        header.skipped = ones == 4;
        header.kind = kinds.get(ones).copied().unwrap_or(PictureType::P);
    }
    if sequence.frame_counter {
        bits.skip(8);
    }
    header.top_first = true;
    if sequence.pulldown {
        if !sequence.interlace || sequence.segmented {
            bits.skip(2);
        } else {
            header.top_first = bits.flag();
            bits.skip(1);
        }
    }
    assert!(!sequence.pan_scan, "pan and scan windows are not read");
    if header.skipped {
        return;
    }
    header.rounding = bits.flag();
    if sequence.interlace {
        bits.skip(1);
    }
    let bidirectional = matches!(header.kind, PictureType::B | PictureType::Bi);
    match header.fcm {
        Fcm::Field => {
            if sequence.reference_distance && !bidirectional {
                header.distance = bits.read(2);
                if header.distance == 3 {
                    header.distance += unary(bits, true, 13);
                }
            }
            if bidirectional {
                header.fraction = fraction(bits);
            }
        }
        Fcm::Progressive => {
            if sequence.interpolation {
                bits.skip(1);
            }
            if header.kind == PictureType::B {
                header.fraction = fraction(bits);
            }
        }
        Fcm::Frame => {}
    }
}

/// The start of a header of simple and main profile (7.1.1).
fn main(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    if sequence.interpolation {
        bits.skip(1);
    }
    bits.skip(2);
    header.reduced = sequence.range_reduction && bits.flag();
    header.kind = if bits.flag() {
        PictureType::P
    } else if sequence.max_b == 0 || bits.flag() {
        PictureType::I
    } else {
        header.fraction = fraction(bits);
        if header.fraction == 22 { PictureType::Bi } else { PictureType::B }
    };
    if header.intra() {
        bits.skip(7);
    }
}

/// From PQINDEX on.
fn rest(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    header.index = bits.read(5).max(1);
    header.half = header.index < 9 && bits.flag();
    header.uniform = match sequence.quantizer {
        0 => header.index < 9,
        1 => bits.flag(),
        2 => false,
        _ => true,
    };
    if sequence.is_advanced() && sequence.postproc {
        bits.skip(2);
    }
    if !sequence.is_advanced() {
        if sequence.extended_mv {
            header.mv_range = unary(bits, true, 3);
        }
        if sequence.multires && header.kind != PictureType::B {
            bits.skip(2);
        }
    }
    match header.kind {
        PictureType::I | PictureType::Bi => intra(sequence, bits, header),
        PictureType::P => predicted(sequence, bits, header),
        PictureType::B => bidirectional(sequence, bits, header),
    }
    if !header.intra() {
        quantizers(sequence, bits, header);
        header.picture_transform = true;
        if sequence.variable_transform {
            header.picture_transform = bits.flag();
            if header.picture_transform {
                header.transform = bits.read(2);
            }
        }
    }
    header.chroma_set = ternary(bits);
    if header.intra() {
        header.luma_set = ternary(bits);
    }
    header.dc_table = bits.flag();
    if header.intra() && sequence.is_advanced() {
        quantizers(sequence, bits, header);
    }
}

fn plane(sequence: &Sequence, bits: &mut BitReader<'_>, header: &Header) -> Option<Plane> {
    Some(bitplane::read(bits, sequence.size_in_mbs(header.fcm == Fcm::Field)))
}

fn intra(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    if !sequence.is_advanced() {
        return;
    }
    if header.fcm == Fcm::Frame {
        header.field_transform = plane(sequence, bits, header);
    }
    header.ac_prediction = plane(sequence, bits, header);
    if sequence.overlap && header.pquant(sequence) <= 8 {
        header.conditional_overlap =
            [Overlap::None, Overlap::All, Overlap::Flagged][ternary(bits) as usize];
        if header.conditional_overlap == Overlap::Flagged {
            header.overlap_flags = plane(sequence, bits, header);
        }
    }
}

fn intensity(bits: &mut BitReader<'_>) -> Option<Intensity> {
    Some(Intensity { scale: bits.read(6) as u8, shift: bits.read(6) as u8 })
}

/// MVMODE, MVMODE2 and what follows with intensity compensation.
fn mode(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    let modes = MODES[usize::from(header.pquant(sequence) <= 12)];
    let zeros = unary(bits, false, 4) as usize;
    if zeros != 3 {
        header.mode = modes[zeros.min(3)];
        return;
    }
    header.mode = modes[unary(bits, false, 3) as usize];
    if header.fcm == Fcm::Field {
        // INTCOMPFIELD: 1 both, 00 top, 01 bottom.
        let (top, bottom) = match bits.flag() {
            true => (true, true),
            false if bits.flag() => (false, true),
            false => (true, false),
        };
        header.intensity[0] = if top { intensity(bits) } else { None };
        header.intensity[1] = if bottom { intensity(bits) } else { None };
    } else {
        header.intensity = [intensity(bits); 2];
    }
}

fn predicted(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    if sequence.is_advanced() {
        if header.fcm == Fcm::Field {
            header.two_references = bits.flag();
            header.far_reference = !header.two_references && bits.flag();
        }
        if sequence.extended_mv {
            header.mv_range = unary(bits, true, 3);
        }
        if sequence.extended_dmv && sequence.interlace {
            header.dmv_range = unary(bits, true, 3);
        }
    }
    match header.fcm {
        Fcm::Progressive => {
            mode(sequence, bits, header);
            if header.mode == VectorMode::Mixed {
                header.mv_type = plane(sequence, bits, header);
            }
            header.skip = plane(sequence, bits, header);
            header.mv_table = bits.read(2);
            header.cbp_table = bits.read(2);
        }
        Fcm::Frame => {
            header.four_vectors = bits.flag();
            if bits.flag() {
                header.intensity = [intensity(bits); 2];
            }
            header.skip = plane(sequence, bits, header);
            header.mode_table = bits.read(2);
            header.mv_table = bits.read(2);
            header.cbp_table = bits.read(3);
            header.two_mv_table = bits.read(2);
            if header.four_vectors {
                header.four_mv_table = bits.read(2);
            }
        }
        Fcm::Field => {
            mode(sequence, bits, header);
            header.mode_table = bits.read(3);
            header.mv_table = bits.read(2 + u32::from(header.two_references));
            header.cbp_table = bits.read(3);
            if header.mode == VectorMode::Mixed {
                header.four_mv_table = bits.read(2);
            }
        }
    }
}

fn bidirectional(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    if sequence.is_advanced() {
        if header.fcm == Fcm::Frame {
            header.fraction = fraction(bits);
        }
        if sequence.extended_mv {
            header.mv_range = unary(bits, true, 3);
        }
    }
    match header.fcm {
        Fcm::Progressive => {
            header.mode = if bits.flag() { VectorMode::One } else { VectorMode::OneHalfBilinear };
            header.direct = plane(sequence, bits, header);
            header.skip = plane(sequence, bits, header);
            header.mv_table = bits.read(2);
            header.cbp_table = bits.read(2);
        }
        Fcm::Frame => {
            if sequence.extended_dmv {
                header.dmv_range = unary(bits, true, 3);
            }
            bits.skip(1);
            header.direct = plane(sequence, bits, header);
            header.skip = plane(sequence, bits, header);
            header.mode_table = bits.read(2);
            header.mv_table = bits.read(2);
            header.cbp_table = bits.read(3);
            header.two_mv_table = bits.read(2);
            header.four_mv_table = bits.read(2);
        }
        Fcm::Field => {
            if sequence.extended_dmv {
                header.dmv_range = unary(bits, true, 3);
            }
            let modes = MODES[usize::from(header.pquant(sequence) <= 12)];
            header.mode = modes[unary(bits, false, 3) as usize];
            header.forward = plane(sequence, bits, header);
            header.mode_table = bits.read(3);
            header.mv_table = bits.read(3);
            header.cbp_table = bits.read(3);
            if header.mode == VectorMode::Mixed {
                header.four_mv_table = bits.read(2);
            }
        }
    }
}

/// VOPDQUANT (7.1.1).
fn quantizers(sequence: &Sequence, bits: &mut BitReader<'_>, header: &mut Header) {
    header.alternative = match sequence.dquant {
        0 => return,
        2 => Alternative::Edges(15),
        _ => {
            if !bits.flag() {
                return;
            }
            match bits.read(2) {
                0 => Alternative::Edges(15),
                1 => Alternative::Edges([3, 6, 12, 9][bits.read(2) as usize]),
                2 => Alternative::Edges(1 << bits.read(2)),
                _ if bits.flag() => Alternative::Choice,
                _ => {
                    header.alternative = Alternative::Each;
                    return;
                }
            }
        }
    };
    header.alternative_quantizer = match bits.read(3) {
        7 => bits.read(5).max(1),
        difference => (header.pquant(sequence) + difference + 1).min(31),
    };
}
