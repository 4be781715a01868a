use crate::fault::Fault;
use crate::testing::{Bench, DATA, DATA_SIZE, at, batch, s, u};
use genxml::gen8::blitter::*;
use genxml::gen8::mi::{MiBatchBufferEnd, MiLoadRegisterImm, MiLoadRegisterImmRegister};
use genxml::gen8::registers::BcsSwctrl;
use proptest::prelude::*;

const END: MiBatchBufferEnd = MiBatchBufferEnd::new();

#[derive(Clone, Copy, PartialEq, Debug)]
enum Tiling {
    Linear,
    X,
    Y,
}

/// A side of a blit, as a test sees it.
#[derive(Clone, Copy, Debug)]
struct Side {
    tiling: Tiling,
    /// From DATA.
    base: usize,
    pitch: i64,
}

impl Side {
    /// Offset from DATA of byte `x` of row `y`, spelt out: whole tiles before it, then the place inside.
    fn offset(&self, x: i64, y: i64) -> usize {
        let (w, h) = match self.tiling {
            Tiling::Linear => return (self.base as i64 + y * self.pitch + x) as usize,
            Tiling::X => (512, 8),
            Tiling::Y => (128, 32),
        };
        let tile = (y / h) * (self.pitch / w) + x / w;
        let (x, y) = (x % w, y % h);
        let inside = if self.tiling == Tiling::X { y * 512 + x } else { (x / 16) * 512 + y * 16 + x % 16 };
        self.base + (tile * 4096 + inside) as usize
    }

    fn pitch_field(&self) -> i64 {
        if self.tiling == Tiling::Linear { self.pitch } else { self.pitch / 4 }
    }
}

/// A blit, and how it works out: every pixel of the source first, then bit by bit.
#[derive(Clone, Copy, Debug)]
struct Case {
    bytes: i64,
    rop: u8,
    mask: u64,
    from: Side,
    to: Side,
    source: (i64, i64),
    rect: [i64; 4],
    colour: u32,
    clip: Option<[i64; 4]>,
}

impl Case {
    fn run(&self, before: &[u8], has_source: bool) -> Vec<u8> {
        let mut after = before.to_vec();
        let [x1, y1, x2, y2] = self.rect;
        for (x, y) in (y1..y2).flat_map(|y| (x1..x2).map(move |x| (x, y))) {
            if let Some([left, top, right, bottom]) = self.clip
                && (x < left || x >= right || y < top || y >= bottom)
            {
                continue;
            }
            for byte in 0..self.bytes {
                let written = self.bytes < 4 || self.mask & if byte == 3 { 2 } else { 1 } != 0;
                if !written {
                    continue;
                }
                let to = self.to.offset(x * self.bytes + byte, y);
                let (sx, sy) = (self.source.0 + x - x1, self.source.1 + y - y1);
                let s = if has_source { before[self.from.offset(sx * self.bytes + byte, sy)] } else { 0 };
                let (p, d) = (self.colour.to_le_bytes()[byte as usize], before[to]);
                after[to] = (0..8).fold(0, |result, bit| {
                    let index = (p >> bit & 1) << 2 | (s >> bit & 1) << 1 | (d >> bit & 1);
                    result | (self.rop >> index & 1) << bit
                });
            }
        }
        after
    }

    fn batch(&self, has_source: bool) -> Vec<u32> {
        let swctrl = MiLoadRegisterImmRegister {
            register_offset: at(BcsSwctrl::OFFSET.into()),
            data_dword: u(0x3_0000
                | u64::from(self.from.tiling == Tiling::Y)
                | u64::from(self.to.tiling == Tiling::Y) << 1),
        };
        let registers = [swctrl];
        let mut batch =
            batch![MiLoadRegisterImm { register: (&registers).into(), ..MiLoadRegisterImm::new() }];
        let [x1, y1, x2, y2] = self.rect.map(s);
        let depth = match self.bytes {
            1 => BlitColorDepth::_8BPP,
            2 if self.colour & 1 == 0 => BlitColorDepth::_16BPP_565,
            2 => BlitColorDepth::_16BPP_1555,
            _ => BlitColorDepth::_32BPP,
        };
        if let Some([left, top, right, bottom]) = self.clip {
            batch.extend(batch![XySetupClipBlt {
                clip_rect_x1_coordinate_left: s(left),
                clip_rect_y1_coordinate_top: s(top),
                clip_rect_x2_coordinate_right: s(right),
                clip_rect_y2_coordinate_bottom: s(bottom),
                ..XySetupClipBlt::new()
            }]);
        }
        if has_source {
            batch.extend(batch![XySrcCopyBlt {
                dest_tiling_enable: self.to.tiling != Tiling::Linear,
                src_tiling_enable: self.from.tiling != Tiling::Linear,
                _32bpp_byte_mask: BlitByteMask::from_bits(self.mask),
                destination_pitch: s(self.to.pitch_field()),
                source_pitch: s(self.from.pitch_field()),
                raster_operation: BlitRasterOperation::from_bits(self.rop.into()),
                color_depth: depth,
                clipping_enable: self.clip.is_some(),
                destination_x1_coordinate_left: x1,
                destination_y1_coordinate_top: y1,
                destination_x2_coordinate_right: x2,
                destination_y2_coordinate_bottom: y2,
                destination_base_address: at(DATA + self.to.base as u64),
                source_x1_coordinate_left: s(self.source.0),
                source_y1_coordinate_top: s(self.source.1),
                source_base_address: at(DATA + self.from.base as u64),
            }]);
        } else {
            batch.extend(batch![XyColorBlt {
                dest_tiling_enable: self.to.tiling != Tiling::Linear,
                _32bpp_byte_mask: BlitByteMask::from_bits(self.mask),
                destination_pitch: s(self.to.pitch_field()),
                raster_operation: BlitRasterOperation::from_bits(self.rop.into()),
                color_depth: depth,
                clipping_enable: self.clip.is_some(),
                destination_x1_coordinate_left: x1,
                destination_y1_coordinate_top: y1,
                destination_x2_coordinate_right: x2,
                destination_y2_coordinate_bottom: y2,
                destination_base_address: at(DATA + self.to.base as u64),
                solid_pattern_color: u(self.colour.into()),
            }]);
        }
        batch.extend(batch![END]);
        batch
    }
}

/// A surface of at most 16 KiB for rows of up to 256 bytes, somewhere in the first 32 KiB so that sides overlap often.
fn side() -> impl Strategy<Value = Side> {
    let tiling = prop_oneof![Just(Tiling::Linear), Just(Tiling::X), Just(Tiling::Y)];
    (tiling, 0usize..4, 0usize..300, 0i64..3, any::<bool>()).prop_map(|(tiling, page, byte, extra, up)| {
        let pitch = match tiling {
            Tiling::Linear => 256 + 13 * extra,
            Tiling::X => 512,
            Tiling::Y => 256 + 128 * extra,
        };
        match tiling {
            Tiling::Linear if up => Side { tiling, base: 40_000 + byte, pitch: -pitch },
            Tiling::Linear => Side { tiling, base: 4096 * page + byte, pitch },
            _ => Side { tiling, base: 4096 * page, pitch },
        }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let rop = prop_oneof![any::<u8>(), Just(0xcc), Just(0xf0), Just(0x66), Just(0x5a)];
    let clip = prop::option::of((0i64..40, 0i64..40, 0i64..60, 0i64..60));
    let geometry = (0i64..20, 0i64..20, 0i64..20, 0i64..20, -2i64..40, -2i64..40);
    (0u32..3, rop, 0u64..4, side(), side(), geometry, any::<u32>(), clip).prop_map(
        |(size, rop, mask, from, to, (x, y, source_x, source_y, width, height), colour, clip)| Case {
            bytes: 1 << size,
            rop,
            mask,
            from,
            to,
            source: (source_x, source_y),
            rect: [x, y, x + width, y + height],
            colour,
            clip: clip.map(|(left, top, right, bottom)| [left, top, right, bottom]),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Oracle: the blit worked out bit by bit from a copy of memory.
    #[test]
    fn rectangles(case in case(), has_source in any::<bool>()) {
        let mut bench = Bench::new();
        let before: Vec<u8> = (0..DATA_SIZE as u32).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13) as u8).collect();
        bench.gpu.vm(bench.context).write(DATA, &before).unwrap();
        // An operation that needs what the command lacks is refused; take the part that it can do.
        let rop = if has_source {
            case.rop & 0x0f | case.rop << 4
        } else {
            case.rop & 0x33 | (case.rop & 0x33) << 2
        };
        let case = Case { rop, ..case };
        bench.blit(&case.batch(has_source)).unwrap();
        let mut after = vec![0; DATA_SIZE];
        bench.gpu.vm(bench.context).read(DATA, &mut after).unwrap();
        let expected = case.run(&before, has_source);
        if after != expected {
            let at = (0..DATA_SIZE).find(|&at| after[at] != expected[at]).unwrap();
            prop_assert_eq!((at, after[at]), (at, expected[at]));
        }
    }
}

const PLAIN: Case = Case {
    bytes: 4,
    rop: 0xcc,
    mask: 3,
    from: Side { tiling: Tiling::Linear, base: 0, pitch: 256 },
    to: Side { tiling: Tiling::Linear, base: 0x8000, pitch: 256 },
    source: (0, 0),
    rect: [0, 0, 8, 8],
    colour: 0,
    clip: None,
};

#[test]
fn what_cannot_be_is_refused() {
    let mut bench = Bench::new();
    let mut field = |case: Case, has_source| match bench.blit(&case.batch(has_source)) {
        Err(Fault::BadPacket { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(Case { rop: 0xf0, ..PLAIN }, true), "Raster Operation");
    assert_eq!(field(Case { rop: 0xcc, ..PLAIN }, false), "Raster Operation");
    let tiled = |base, pitch| Side { tiling: Tiling::X, base, pitch };
    assert_eq!(field(Case { to: tiled(0, 256), ..PLAIN }, true), "Destination Pitch");
    assert_eq!(field(Case { to: tiled(64, 512), ..PLAIN }, true), "Destination Base Address");
    assert_eq!(field(Case { from: tiled(0, -512), ..PLAIN }, true), "Source Pitch");
    let mut bench = Bench::new();
    let unset = XyColorBlt { clipping_enable: true, ..XyColorBlt::new() };
    assert!(matches!(bench.blit(&batch![unset]), Err(Fault::BadPacket { field: "Clipping Enable", .. })));
}

#[test]
fn memory_ends_where_it_ends() {
    let mut bench = Bench::new();
    let outside = Case { to: Side { base: DATA_SIZE - 1024, ..PLAIN.to }, ..PLAIN };
    let fault = bench.blit(&outside.batch(true)).unwrap_err();
    let Fault::Page { fault, what, at, .. } = fault else { panic!("{fault}") };
    assert_eq!((fault.address, fault.write), (DATA + DATA_SIZE as u64, true));
    assert_eq!((&*what, at.packet), ("destination", "XY_SRC_COPY_BLT"));
    // Nothing is touched for an empty rectangle, wherever it lies.
    let empty = Case { rect: [5, 0, 5, 9], to: Side { base: 1 << 40, ..PLAIN.to }, ..PLAIN };
    bench.blit(&empty.batch(true)).unwrap();
    // A rectangle of eight million pixels onto one row.
    let huge = Case { rect: [0, -32768, 128, 32767], to: Side { pitch: 0, ..PLAIN.to }, rop: 0, ..PLAIN };
    assert!(bench.blit(&huge.batch(false)).is_ok());
    bench.gpu.set_work_limit(1 << 20);
    assert!(matches!(bench.blit(&huge.batch(false)), Err(Fault::Hang { .. })));
}
