//! The short format against the front end of these tests, whose slices FFmpeg's decoder confirms:
//! all slices of all streams that it decodes must come out equal.

use super::dpb::Dpb;
use super::headers::{Pps, Sps};
use genxml_codecs::avc::short::{HeaderError, Store, Stream};
use genxml_codecs::avc::{Parameters, Slice};
use genxml_codecs::emulation;

/// The state that a driver of the short format sends. None if it cannot be stated: a frame of which
/// one field is a long-term reference and the other a short-term one, or of which only one decoded
/// field is a reference, because its place in B slices depends on the other field.
fn stream(sps: &Sps, pps: &Pps, dpb: &Dpb) -> Option<Stream> {
    let mut stores = [Store::default(); 16];
    for (index, store) in dpb.used() {
        if store.short != 0 && store.long != 0 || store.short | store.long != store.decoded {
            return None;
        }
        let fields = store.short | store.long;
        stores[index] = Store {
            fields: [fields & 1 != 0, fields & 2 != 0],
            long_term: store.long != 0,
            missing: store.absent,
            number: match store.long {
                0 => store.frame_num as u16,
                _ => store.long_term_index as u16,
            },
            ..Store::default()
        };
    }
    Some(Stream {
        frame_number_bits: sps.log2_max_frame_num as u8,
        order_type: sps.poc_type as u8,
        order_bits: sps.log2_max_poc_lsb as u8,
        order_delta_always_zero: sps.delta_pic_order_always_zero,
        order_of_bottom_field: pps.bottom_field_pic_order,
        deblocking_control: pps.deblocking_control,
        redundant_pictures: pps.redundant_pic_cnt,
        reference_counts: pps.num_ref_idx.map(|count| count as u8),
        initial_qp: (pps.pic_init_qp - 26) as i8,
        stores,
        ..Stream::default()
    })
}

/// Asserts that the short format gives `slice`. Returns whether it was compared.
pub fn check(
    (sps, pps, dpb): (&Sps, &Pps, &Dpb),
    parameters: &Parameters,
    slice: &Slice,
    unit: &[u8],
) -> bool {
    let Some(stream) = stream(sps, pps, dpb) else { return false };
    let plain = emulation::remove(unit);
    for (data, escaped) in [(unit, true), (plain.as_slice(), false)] {
        let found = stream.slice(parameters, data, escaped, 1);
        assert_eq!(found, Ok(Slice { unescaped: !escaped, ..slice.clone() }));
    }
    true
}

#[test]
fn wrong_headers_are_refused() {
    let stream = Stream { frame_number_bits: 4, order_bits: 4, ..Stream::default() };
    let parameters = Parameters::default();
    let read = |data: &[u8]| stream.slice(&parameters, data, false, 1).unwrap_err();
    assert_eq!(read(&[]), HeaderError::End);
    assert_eq!(read(&[0x41]), HeaderError::End);
    assert_eq!(read(&[0x67, 0xff]), HeaderError::UnitType(7));
    assert_eq!(read(&[0x74, 0xff]), HeaderError::UnitType(20));
    // first_mb_in_slice 0, slice_type 3 (SP): 1 00100.
    assert_eq!(read(&[0x41, 0b1001_0000, 0]), HeaderError::Range("slice_type", 3));
    // I slice 1 011, set 0, frame_num and order of 4 bits each, no marking, then slice_qp_delta 26:
    // 00000110100.
    let bits = [0x01, 0b1011_1000, 0b0000_0000, 0b0011_0100, 0x80];
    assert_eq!(read(&bits), HeaderError::Range("slice_qp_delta", 52));
    let fields = Parameters { frame_mbs_only: false, ..parameters };
    // The same with field_pic_flag set.
    let bits = [0x01, 0b1011_1000, 0b0100_0000, 0, 0x80];
    assert_eq!(stream.slice(&fields, &bits, false, 1), Err(HeaderError::Structure));
}

/// Random bytes as headers: a slice or an error, and no panic.
#[test]
fn random_headers_end() {
    let mut random = fastrand::Rng::with_seed(20);
    let mut slices = 0;
    for _ in 0..super::super::support::number("GENXML_MUTATIONS").unwrap_or(20_000) {
        let mut data: Vec<u8> = (0..random.usize(0..40)).map(|_| random.u8(..)).collect();
        if let Some(first) = data.first_mut().filter(|_| random.u8(0..8) > 0) {
            *first = [0x41, 0x65, 0x01, 0x74][random.usize(0..4)];
        }
        let store = |random: &mut fastrand::Rng| Store {
            fields: [random.bool(), random.bool()],
            long_term: random.bool(),
            missing: random.bool(),
            number: random.u16(..) >> random.u8(0..16),
            view: random.u16(0..3),
            view_index: [(); 2].map(|()| random.bool().then(|| random.u8(0..15))),
        };
        let stream = Stream {
            frame_number_bits: random.u8(..),
            order_type: random.u8(..4),
            order_bits: random.u8(..),
            order_delta_always_zero: random.bool(),
            order_of_bottom_field: random.bool(),
            deblocking_control: random.bool(),
            redundant_pictures: random.bool(),
            reference_counts: [random.u8(..), random.u8(..)],
            initial_qp: random.i8(..),
            view: random.u16(0..3),
            views: [random.u8(0..16), random.u8(0..16)],
            stores: std::array::from_fn(|_| store(&mut random)),
        };
        let parameters = Parameters {
            width: random.usize(0..300),
            frame_mbs_only: random.bool(),
            mbaff: random.bool(),
            cabac: random.bool(),
            monochrome: random.bool(),
            weighted_prediction: random.bool(),
            weighted_biprediction: random.u8(0..4),
            count: [random.i32(..), random.i32(..)],
            counts: std::array::from_fn(|_| [random.i32(..), random.i32(..)]),
            ..Parameters::default()
        };
        let start = if random.u8(0..16) == 0 { random.usize(..) } else { random.usize(0..4) };
        let found = stream.slice(&parameters, &data, random.bool(), start);
        slices += usize::from(found.is_ok());
    }
    assert!(slices > 100, "{slices} slices");
}
