//! Oracle: areas of triangles as exact integers, divided in f64. For perspective, the weight of
//! each corner is divided by its w (Direct3D 11, 3.8).

use super::*;
use crate::pixel::coordinates::Point;
use crate::pixel::interpolate::{Corner, Planes};
use crate::pixel::multisample::{Multisample, PixelLocation, RasterMode, Samples};
use crate::pixel::viewport::ScreenVertex;
use genxml::eu::gen8::eu_messages::PixelInterpolatorMessageData as Data;
use genxml_core::U;
use genxml_eu::instruction::SharedFunction;

/// Corners of a triangle: x and y in pixels, and w.
const CORNERS: [(i32, i32, f32); 3] = [(-3, 5, 1.0), (60, -20, 4.0), (25, 70, 0.5)];
/// Byte offsets of the message's payload and of its response in the registers.
const PAYLOAD: usize = 20 * REGISTER;
const RESPONSE: usize = 40 * REGISTER;

fn pixels() -> Pixels {
    let corner = |n: usize| {
        let (x, y, w) = CORNERS[n];
        let at = Point { x: 256 * x, y: 256 * y };
        Corner::vertex(ScreenVertex { at, z: 0.0, inv_w: 1.0 / w }, n)
    };
    let mode = RasterMode { on: true, pattern: true };
    let samples = Samples::standard(4).unwrap();
    Pixels {
        planes: Planes::triangle(&[0, 1, 2].map(corner)).unwrap(),
        multisample: Multisample::new(samples, mode, PixelLocation::Centre, false),
        subspans: std::array::from_fn(|n| [4 + 6 * n as u32, 30 - 2 * n as u32]),
        coverage: std::array::from_fn(|n| [0xf, 0, 1 << (n % 4), 0xe]),
    }
}

/// b1 and b2 at a position in 1/16 pixels.
fn expected(linear: bool, x: i32, y: i32) -> [f64; 2] {
    let corners = CORNERS.map(|(x, y, _)| (i64::from(16 * x), i64::from(16 * y)));
    let area = |a: (i64, i64), b: (i64, i64), c: (i64, i64)| {
        ((b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)) as f64
    };
    let at = (i64::from(x), i64::from(y));
    let [a, b, c] = corners;
    let mut weights = [area(at, b, c), area(a, at, c), area(a, b, at)];
    if !linear {
        for (weight, (.., w)) in weights.iter_mut().zip(CORNERS) {
            *weight /= f64::from(w);
        }
    }
    let all: f64 = weights.iter().sum();
    [weights[1] / all, weights[2] / all]
}

/// Sends a message and compares its response with [`expected`]. `place` returns the position for a
/// slot, in 1/16 pixels from the upper-left corner of its pixel. Disabled channels must not change.
fn check(
    descriptor: &Descriptor,
    first: u8,
    place: impl Fn(usize) -> [i32; 2],
    registers: &mut Registers,
) {
    let pixels = pixels();
    let channels = if descriptor.simd_mode == MdcSm2::SIMD16 { 16 } else { 8 };
    let group = 16 * descriptor.slot_group_select.get() as usize;
    // Every other channel is enabled.
    let mask = 0x5555 & ((1 << channels) - 1);
    let message = Message {
        function: SharedFunction::PixelInterpolator,
        descriptor: descriptor.pack()[0],
        mask,
        no_mask: false,
        channels: channels as u8,
        first,
        payload: PAYLOAD,
        response: Some(RESPONSE),
        eot: false,
        ip: 0,
    };
    registers.grf_mut()[RESPONSE..RESPONSE + 4 * REGISTER].fill(0xaa);
    answer(registers, &message, descriptor, &pixels).unwrap();
    for channel in 0..16 {
        let slot = group + usize::from(first) % 16 + channel;
        let [x, y] = pixels.subspans[slot / 4 % 8];
        let (x, y) = (x as i32 + (slot as i32 & 1), y as i32 + (slot as i32 >> 1 & 1));
        for axis in 0..2 {
            let at = RESPONSE + (2 * (channel / 8) + axis) * REGISTER + 4 * (channel % 8);
            if mask >> channel & 1 == 0 {
                assert_eq!(registers.u32(at), 0xaaaa_aaaa, "{descriptor:?} {channel}");
                continue;
            }
            let found = f64::from(f32::from_bits(registers.u32(at)));
            let [dx, dy] = place(slot);
            let want = expected(descriptor.linear, 16 * x + dx, 16 * y + dy)[axis];
            assert!(
                (found - want).abs() < 1e-6 * (1.0 + want.abs()),
                "{descriptor:?} {slot}: {found} {want}"
            );
        }
    }
}

#[test]
fn all_messages() {
    let mut registers = Registers::default();
    let samples = [[6, 2], [14, 6], [2, 10], [10, 14]];
    for (simd, group, first) in [
        (MdcSm2::SIMD8, 0, 0),
        (MdcSm2::SIMD8, 0, 8),
        (MdcSm2::SIMD16, 0, 0),
        (MdcSm2::SIMD16, 1, 16),
    ] {
        for linear in [false, true] {
            let descriptor = |message_type, data| Descriptor {
                message_length: U::new(if message_type == Type::PER_SLOT_OFFSET { 4 } else { 1 })
                    .unwrap(),
                response_length: U::new(if simd == MdcSm2::SIMD16 { 4 } else { 2 }).unwrap(),
                simd_mode: simd,
                linear,
                message_type,
                slot_group_select: U::new(group).unwrap(),
                message_data: Data::unpack_lossy(&[data]),
                ..Descriptor::new()
            };
            // Offsets from -8 to 7 sixteenths. X is in the low four bits.
            for (data, offset) in
                [(0x00, [0, 0]), (0x87, [7, -8]), (0x7f, [-1, 7]), (0x18, [-8, 1])]
            {
                let place = |_| offset.map(|o| 8 + o);
                check(&descriptor(Type::SHARED_OFFSET, data), first, place, &mut registers);
            }
            for (sample, place) in samples.into_iter().enumerate() {
                let descriptor = descriptor(Type::SAMPLE_POSITION, (sample as u32) << 4);
                check(&descriptor, first, |_| place, &mut registers);
            }
            let centroid = |slot: usize| match slot % 4 {
                0 | 1 => [8, 8],
                2 => samples[slot / 4 % 4],
                _ => samples[1],
            };
            check(&descriptor(Type::CENTROID, 0), first, centroid, &mut registers);
            // The payload has the X offsets of all channels, then the Y offsets.
            let rows = if simd == MdcSm2::SIMD16 { 16 } else { 8 };
            let offset = |slot: usize| [slot as i32 % 16 - 8, 7 - slot as i32 % 16];
            let begin = 16 * group as usize + usize::from(first) % 16;
            for channel in 0..rows {
                for axis in 0..2 {
                    let at = PAYLOAD + 4 * (axis * rows + channel);
                    registers.set_u32(at, offset(begin + channel)[axis] as u32);
                }
            }
            let place = |slot| offset(slot).map(|o| 8 + o);
            check(&descriptor(Type::PER_SLOT_OFFSET, 0), first, place, &mut registers);
        }
    }
}

#[test]
fn missing_offsets_are_refused() {
    let descriptor = Descriptor {
        message_length: U::new(1).unwrap(),
        message_type: Type::PER_SLOT_OFFSET,
        ..Descriptor::new()
    };
    let message = Message {
        function: SharedFunction::PixelInterpolator,
        descriptor: 0,
        mask: !0,
        no_mask: true,
        channels: 8,
        first: 0,
        payload: PAYLOAD,
        response: None,
        eot: false,
        ip: 0,
    };
    let why = answer(&mut Registers::default(), &message, &descriptor, &pixels()).unwrap_err();
    assert!(why.contains("2 registers"), "{why}");
}
