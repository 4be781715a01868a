//! Media blocks (003:4683-4796). Oracle: an array of bytes, addressed by counting tiles.

use crate::rig::{DATA, Rig, Send, u};
use genxml::core::{Address, MinusOne, S};
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::enums::{SurfaceType, TileWalk};
use genxml::gen45::message_headers::MediaBlockMessageHeader;
use genxml::gen45::messages::{MediaBlockReadDescriptor, MediaBlockWriteDescriptor, TargetCache};
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{
    SurfaceState, SurfaceStateExtent, SurfaceStateMediaBoundaryPixelMode as Boundary,
};
use genxml_testkit::Random;

const INDEX: u64 = 2;
const PITCH: usize = 512;
const BYTES: usize = 64 * PITCH;

fn offset(walk: Option<TileWalk>, x: usize, y: usize) -> usize {
    match walk {
        None => y * PITCH + x,
        Some(TileWalk::TILEWALK_YMAJOR) => {
            (y / 32 * 4 + x / 128) * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16
        }
        Some(_) => y / 8 * 4096 + y % 8 * 512 + x % 512,
    }
}

fn state(walk: Option<TileWalk>, dwords: u64, height: u64) -> SurfaceState {
    SurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8_UINT,
        surface_base_address: Address::new(DATA).unwrap(),
        extent: SurfaceStateExtent::Image {
            width: MinusOne::new(dwords).unwrap(),
            height: MinusOne::new(height).unwrap(),
            depth: MinusOne::ONE,
        },
        tiled_surface: walk.is_some(),
        tile_walk: walk.unwrap_or(TileWalk::TILEWALK_XMAJOR),
        surface_pitch: MinusOne::new(PITCH as u64).unwrap(),
        ..SurfaceState::new()
    }
}

fn header(x: i64, y: i64, width: u64, height: u64) -> [u32; 8] {
    MediaBlockMessageHeader {
        x_offset: S::new(x).unwrap(),
        y_offset: S::new(y).unwrap(),
        block_width: MinusOne::new(width).unwrap(),
        block_height: MinusOne::new(height).unwrap(),
        ..MediaBlockMessageHeader::new()
    }
    .pack()
}

/// Rows of a block are apart by a power of two, at least a dword.
fn pitch(width: u64) -> usize {
    (width as usize).next_power_of_two().max(4)
}

fn read(header: [u32; 8], bytes: usize) -> Send {
    let descriptor = MediaBlockReadDescriptor {
        binding_table_index: u(INDEX),
        target_cache: TargetCache::SAMPLER_CACHE,
        response_length: u(bytes.div_ceil(32) as u64),
        ..MediaBlockReadDescriptor::new()
    };
    Send::new(SharedFunction::DataPortRead, descriptor.pack()[0], vec![header])
}

#[test]
fn blocks() {
    let mut random = Random::new(4683);
    for walk in [None, Some(TileWalk::TILEWALK_XMAJOR), Some(TileWalk::TILEWALK_YMAJOR)] {
        let mut rig = Rig::new();
        let (dwords, rows) = (25u64, 40u64);
        rig.bind(INDEX, &state(walk, dwords, rows).pack());
        let mut contents = random.bytes(BYTES);
        rig.put_bytes(DATA, &contents);
        for _ in 0..60 {
            let width = 1 + random.below(32);
            let height = 1 + random.below(256 / pitch(width) as u64);
            let (x, y) = (random.below(140) as i64 - 20, random.below(60) as i64 - 10);
            let block = pitch(width) * height as usize;
            rig.send(&Send { mask: 0, ..read(header(x, y, width, height), block) }).unwrap();
            for row in 0..height as usize {
                for column in 0..width as usize {
                    let cx = (x + column as i64).clamp(0, 4 * dwords as i64 - 1);
                    let cy = (y + row as i64).clamp(0, rows as i64 - 1);
                    let at = row * pitch(width) + column;
                    let found = rig.answer(at / 32)[at % 32 / 4].to_le_bytes()[at % 4];
                    assert_eq!(found, contents[offset(walk, cx as usize, cy as usize)]);
                }
            }
            let (x, width) = (x / 4 * 4, width.div_ceil(4) * 4);
            let height = 1 + random.below(256 / pitch(width) as u64);
            let registers = (pitch(width) * height as usize).div_ceil(32);
            let mut payload = vec![header(x, y, width, height)];
            payload.extend((0..registers).map(|_| {
                let dwords = random.dwords(8);
                std::array::from_fn(|n| dwords[n])
            }));
            for row in 0..height as usize {
                for column in 0..width as usize {
                    let (cx, cy) = (x + column as i64, y + row as i64);
                    if (0..4 * dwords as i64).contains(&cx) && (0..rows as i64).contains(&cy) {
                        let at = row * pitch(width) + column;
                        contents[offset(walk, cx as usize, cy as usize)] =
                            payload[1 + at / 32][at % 32 / 4].to_le_bytes()[at % 4];
                    }
                }
            }
            let descriptor = MediaBlockWriteDescriptor {
                binding_table_index: u(INDEX),
                ..MediaBlockWriteDescriptor::new()
            };
            let send = Send::new(SharedFunction::DataPortWrite, descriptor.pack()[0], payload);
            rig.send(&Send { mask: 0, response: false, ..send }).unwrap();
            assert_eq!(rig.get_bytes(DATA, BYTES), contents);
        }
    }
}

/// Oracle: the table of 003:4387-4400, for four rows and input rows -4 to 7.
#[test]
fn rows_above_and_below() {
    let table = [
        (Boundary::NORMAL_MODE, 0, 0, "000001233333"),
        (Boundary::NORMAL_MODE, 1, 0, "000002222222"),
        (Boundary::NORMAL_MODE, 1, 1, "111113333333"),
        (Boundary::PROGRESSIVE_FRAME, 0, 0, "000001233333"),
        (Boundary::PROGRESSIVE_FRAME, 1, 0, "000002333333"),
        (Boundary::PROGRESSIVE_FRAME, 1, 1, "000013333333"),
        (Boundary::INTERLACED_FRAME, 0, 0, "010101232323"),
        (Boundary::INTERLACED_FRAME, 1, 0, "000002222222"),
        (Boundary::INTERLACED_FRAME, 1, 1, "111113333333"),
    ];
    for (boundary, stride, line, expected) in table {
        for overridden in [false, true] {
            let mut rig = Rig::new();
            let (own, height) = if overridden { (0, 4) } else { (stride, 4 >> stride) };
            let surface = SurfaceState {
                media_boundary_pixel_mode: boundary,
                vertical_line_stride: u(own),
                vertical_line_stride_offset: u(if overridden { 0 } else { line }),
                ..state(None, 4, height)
            };
            rig.bind(INDEX, &surface.pack());
            for row in 0..4u8 {
                rig.put_bytes(DATA + u64::from(row) * PITCH as u64, &[row; 16]);
            }
            let descriptor = MediaBlockReadDescriptor {
                binding_table_index: u(INDEX),
                target_cache: TargetCache::RENDER_CACHE,
                response_length: u(2),
                vertical_line_stride_override: overridden,
                override_vertical_line_stride: u(stride),
                override_vertical_line_stride_offset: u(line),
                ..MediaBlockReadDescriptor::new()
            };
            let payload = vec![header(0, -4, 4, 12)];
            let send = Send::new(SharedFunction::DataPortRead, descriptor.pack()[0], payload);
            rig.send(&send).unwrap();
            let found: String =
                (0..12).map(|n| (rig.answer(n / 8)[n % 8] as u8 + b'0') as char).collect();
            assert_eq!(found, expected, "{boundary:?} {stride} {line} {overridden}");
        }
    }
}

#[test]
fn refused() {
    let mut rig = Rig::new();
    rig.bind(INDEX, &state(None, 16, 16).pack());
    let text = rig.refusal(&read(header(0, 0, 32, 9), 256));
    assert!(text.contains("too many"), "{text}");
    let text = rig.refusal(&read(header(0, 0, 32, 8), 32));
    assert!(text.contains("answers with 8"), "{text}");
    let descriptor = MediaBlockReadDescriptor {
        binding_table_index: u(INDEX),
        response_length: u(1),
        ..MediaBlockReadDescriptor::new()
    };
    let payload = vec![header(0, 0, 4, 1)];
    let data_cache = Send::new(SharedFunction::DataPortRead, descriptor.pack()[0], payload);
    let text = rig.refusal(&data_cache);
    assert!(text.contains("data cache"), "{text}");
    let descriptor = MediaBlockWriteDescriptor {
        binding_table_index: u(INDEX),
        ..MediaBlockWriteDescriptor::new()
    };
    let write = |payload| Send {
        response: false,
        ..Send::new(SharedFunction::DataPortWrite, descriptor.pack()[0], payload)
    };
    let text = rig.refusal(&write(vec![header(1, 0, 4, 1), [0; 8]]));
    assert!(text.contains("multiples of 4"), "{text}");
    let array = SurfaceState {
        extent: SurfaceStateExtent::Image {
            width: MinusOne::new(16).unwrap(),
            height: MinusOne::new(16).unwrap(),
            depth: MinusOne::new(2).unwrap(),
        },
        ..state(None, 16, 16)
    };
    rig.bind(INDEX, &array.pack());
    let text = rig.refusal(&read(header(0, 0, 4, 1), 4));
    assert!(text.contains("without array"), "{text}");
    rig.bind(INDEX, &state(None, 16, 1).pack());
    let field = MediaBlockReadDescriptor {
        target_cache: TargetCache::SAMPLER_CACHE,
        binding_table_index: u(INDEX),
        vertical_line_stride_override: true,
        override_vertical_line_stride: u(1),
        response_length: u(1),
        ..MediaBlockReadDescriptor::new()
    };
    let payload = vec![header(0, 0, 4, 1)];
    let send = Send::new(SharedFunction::DataPortRead, field.pack()[0], payload);
    let text = rig.refusal(&send);
    assert!(text.contains("one row"), "{text}");
}
