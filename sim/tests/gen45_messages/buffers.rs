//! Messages of the data port to buffers (003:4533-4907, 5250-5288). Oracle: an array of bytes that
//! the tests change dword by dword.

use crate::rig::{ANSWER, BASE, DATA, Rig, Send, before, u};
use crate::texture::Texture;
use genxml::core::{Address, MinusOne};
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::enums::SurfaceType;
use genxml::gen45::message_headers::DataPortMessageHeader;
use genxml::gen45::message_payloads::StreamedVertexBufferWritePayload;
use genxml::gen45::messages::*;
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{SurfaceState, SurfaceStateExtent};
use genxml_sim::gen45::message::dataport::streamed::Streamed;
use genxml_testkit::Random;

/// Entries of 16 bytes of the buffer.
const ENTRIES: u64 = 21;
const INDEX: u64 = 7;

pub fn buffer(entries: u64, pitch: u64) -> SurfaceState {
    SurfaceState {
        surface_type: SurfaceType::SURFTYPE_BUFFER,
        surface_format: SurfaceFormat::R32G32B32A32_FLOAT,
        surface_base_address: Address::new(DATA).unwrap(),
        extent: SurfaceStateExtent::Buffer {
            width: u((entries - 1) & 0x7f),
            height: u((entries - 1) >> 7),
            depth: u(0),
        },
        surface_pitch: MinusOne::new(pitch).unwrap(),
        ..SurfaceState::new()
    }
}

fn header(global: u64) -> [u32; 8] {
    DataPortMessageHeader { global_offset: u(global), ..DataPortMessageHeader::new() }.pack()
}

fn read(descriptor: u32, payload: Vec<[u32; 8]>) -> Send {
    Send::new(SharedFunction::DataPortRead, descriptor, payload)
}

fn write(descriptor: u32, payload: Vec<[u32; 8]>) -> Send {
    let send = Send::new(SharedFunction::DataPortWrite, descriptor, payload);
    Send { response: false, ..send }
}

/// Dwords of the buffer and some after it.
const DWORDS: usize = 4 * ENTRIES as usize + 64;

fn rig() -> (Rig, Vec<u32>) {
    let mut rig = Rig::new();
    // The pitch is ignored.
    rig.bind(INDEX, &buffer(ENTRIES, 4).pack());
    let contents: Vec<u32> = (0..DWORDS as u32).map(|n| 0x5000_0000 + n).collect();
    rig.put(DATA, &contents);
    (rig, contents)
}

/// True if dword `n` of memory belongs to the buffer.
fn inside(n: u64) -> bool {
    n < 4 * ENTRIES
}

#[test]
fn oword_blocks() {
    let (mut rig, contents) = rig();
    let sizes = [
        (OWordBlockSize::_1_OWORD_LOW, 0usize, 1usize),
        (OWordBlockSize::_1_OWORD_HIGH, 1, 1),
        (OWordBlockSize::_2_OWORDS, 0, 2),
        (OWordBlockSize::_4_OWORDS, 0, 4),
        (OWordBlockSize::_8_OWORDS, 0, 8),
    ];
    for (size, half, count) in sizes {
        let registers = (half + count).div_ceil(2);
        for global in [0u64, 48, 16 * 15, 16 * 20, 16 * 21, 0xffff_fff0] {
            for mask in [0xffffu32, 0x8421, 0x00f0, 0x0f0f] {
                let descriptor = OWordBlockReadDescriptor {
                    block_size: size,
                    binding_table_index: u(INDEX),
                    response_length: u(registers as u64),
                    ..OWordBlockReadDescriptor::new()
                };
                let send = Send { mask, ..read(descriptor.pack()[0], vec![header(global)]) };
                rig.send(&send).unwrap();
                for n in 0..registers {
                    for dword in 0..8 {
                        let oword = (2 * n + dword / 4) as i64 - half as i64;
                        let inside_block = (0..count as i64).contains(&oword);
                        let lanes = (n % 2) * 8 + dword / 4 * 4;
                        let active = inside_block && mask >> lanes & 0xf != 0;
                        let at = global / 4 + 4 * oword.max(0) as u64 + dword as u64 % 4;
                        let expected = match (active, inside(at)) {
                            (false, _) => before(ANSWER + n, dword),
                            (true, true) => contents[at as usize],
                            (true, false) => 0,
                        };
                        assert_eq!(rig.answer(n)[dword], expected, "{size:?} {global} {mask:#x}");
                    }
                }
                // Write the same place; each dword has its own enable.
                let descriptor = OWordBlockWriteDescriptor {
                    block_size: size,
                    binding_table_index: u(INDEX),
                    ..OWordBlockWriteDescriptor::new()
                };
                let mut payload = vec![header(global)];
                payload
                    .extend((0..registers).map(|n| std::array::from_fn(|d| (16 * n + d) as u32)));
                rig.send(&Send { mask, ..write(descriptor.pack()[0], payload) }).unwrap();
                let mut expected = contents.clone();
                for n in 0..registers {
                    for dword in 0..8 {
                        let oword = (2 * n + dword / 4) as i64 - half as i64;
                        let inside_block = (0..count as i64).contains(&oword);
                        let at = global / 4 + 4 * oword.max(0) as u64 + dword as u64 % 4;
                        if inside_block && mask >> ((n % 2) * 8 + dword) & 1 == 1 && inside(at) {
                            expected[at as usize] = (16 * n + dword) as u32;
                        }
                    }
                }
                assert_eq!(rig.get(DATA, DWORDS), expected, "{size:?} {global} {mask:#x}");
                rig.put(DATA, &contents);
            }
        }
    }
}

#[test]
fn oword_dual_blocks() {
    let (mut rig, contents) = rig();
    let sizes = [
        (OWordDualBlockSize::_1_OWORD_LOW, 1usize),
        (OWordDualBlockSize::_2_OWORDS, 2),
        (OWordDualBlockSize::_4_OWORDS, 4),
        (OWordDualBlockSize::_8_OWORDS, 8),
    ];
    for (size, count) in sizes {
        for offsets in [[0u32, 0], [16, 160], [320, 64], [336, 0xffff_fff0]] {
            for mask in [0xffu32, 0x1f, 0xe0] {
                let global = 32;
                let place = [0; 8].map(|_: u32| 0xbad);
                let mut blocks = place;
                (blocks[0], blocks[4]) = (offsets[0], offsets[1]);
                let descriptor = OWordDualBlockReadDescriptor {
                    block_size: size,
                    binding_table_index: u(INDEX),
                    response_length: u(count as u64),
                    ..OWordDualBlockReadDescriptor::new()
                };
                let send = read(descriptor.pack()[0], vec![header(global), blocks]);
                rig.send(&Send { mask, channels: 8, ..send }).unwrap();
                let at = |n: usize, dword: usize| {
                    (global + u64::from(offsets[dword / 4])) / 4 + (4 * n + dword % 4) as u64
                };
                for n in 0..count {
                    for dword in 0..8 {
                        let active = mask >> (dword / 4 * 4) & 0xf != 0;
                        let expected = match (active, inside(at(n, dword))) {
                            (false, _) => before(ANSWER + n, dword),
                            (true, true) => contents[at(n, dword) as usize],
                            (true, false) => 0,
                        };
                        assert_eq!(rig.answer(n)[dword], expected);
                    }
                }
                let descriptor = OWordDualBlockWriteDescriptor {
                    block_size: size,
                    binding_table_index: u(INDEX),
                    send_write_commit_message: true,
                    response_length: u(1),
                    ..OWordDualBlockWriteDescriptor::new()
                };
                let mut payload = vec![header(global), blocks];
                payload.extend((0..count).map(|n| std::array::from_fn(|d| (8 * n + d) as u32)));
                let send = write(descriptor.pack()[0], payload);
                rig.send(&Send { mask, channels: 8, response: true, ..send }).unwrap();
                // The commit does not change the register (003:4355).
                assert_eq!(rig.answer(0), std::array::from_fn(|n| before(ANSWER, n)));
                let mut expected = contents.clone();
                for n in 0..count {
                    for dword in 0..8 {
                        if mask >> dword & 1 == 1 && inside(at(n, dword)) {
                            expected[at(n, dword) as usize] = (8 * n + dword) as u32;
                        }
                    }
                }
                assert_eq!(rig.get(DATA, DWORDS), expected, "{size:?} {offsets:?} {mask:#x}");
                rig.put(DATA, &contents);
            }
        }
    }
}

#[test]
fn scattered_dwords() {
    let (mut rig, contents) = rig();
    let mut random = Random::new(45);
    for (size, rows) in
        [(DWordScatteredBlockSize::_8_DWORDS, 1usize), (DWordScatteredBlockSize::_16_DWORDS, 2)]
    {
        for _ in 0..40 {
            let mask = random.bits() as u32 & 0xffff;
            let global = u64::from(random.bits() as u32 & 0x3c);
            // Different dwords, some of them beyond the buffer.
            let first = random.bits() as u32 & 0x3f;
            let offsets: Vec<[u32; 8]> = (0..rows)
                .map(|n| std::array::from_fn(|d| 4 * (first + 5 * (8 * n + d) as u32)))
                .collect();
            let descriptor = DWordScatteredReadDescriptor {
                block_size: size,
                binding_table_index: u(INDEX),
                response_length: u(rows as u64),
                ..DWordScatteredReadDescriptor::new()
            };
            let mut payload = vec![header(global)];
            payload.extend(&offsets);
            rig.send(&Send { mask, ..read(descriptor.pack()[0], payload.clone()) }).unwrap();
            let mut changed = contents.clone();
            for n in 0..8 * rows {
                let at = (global + u64::from(offsets[n / 8][n % 8])) / 4;
                let expected = match (mask >> n & 1, inside(at)) {
                    (0, _) => before(ANSWER + n / 8, n % 8),
                    (_, true) => contents[at as usize],
                    (_, false) => 0,
                };
                assert_eq!(rig.answer(n / 8)[n % 8], expected);
                if mask >> n & 1 == 1 && inside(at) {
                    changed[at as usize] = 900 + n as u32;
                }
            }
            let descriptor = DWordScatteredWriteDescriptor {
                block_size: size,
                binding_table_index: u(INDEX),
                ..DWordScatteredWriteDescriptor::new()
            };
            payload.extend((0..rows).map(|n| std::array::from_fn(|d| 900 + (8 * n + d) as u32)));
            rig.send(&Send { mask, ..write(descriptor.pack()[0], payload) }).unwrap();
            assert_eq!(rig.get(DATA, DWORDS), changed);
            rig.put(DATA, &contents);
        }
    }
}

/// Stateless messages: a base in the header, the upper bound of general state (003:4315-4342).
#[test]
fn stateless() {
    let (mut rig, contents) = rig();
    let scratch = DataPortMessageHeader {
        immediate_buffer_base_address: Address::new(DATA - BASE).unwrap(),
        ..DataPortMessageHeader::new()
    };
    let descriptor = OWordDualBlockReadDescriptor {
        block_size: OWordDualBlockSize::_1_OWORD_LOW,
        binding_table_index: u(255),
        target_cache: TargetCache::RENDER_CACHE,
        response_length: u(1),
        ..OWordDualBlockReadDescriptor::new()
    };
    let blocks = [32, 0, 0, 0, 64, 0, 0, 0];
    let send = read(descriptor.pack()[0], vec![scratch.pack(), blocks]);
    rig.send(&send).unwrap();
    let found = rig.answer(0);
    assert_eq!((&found[..4], &found[4..]), (&contents[8..12], &contents[16..20]));
    rig.bindings.general_bound = DATA + 64;
    rig.send(&send).unwrap();
    let found = rig.answer(0);
    assert_eq!((&found[..4], &found[4..]), (&contents[8..12], &[0; 4][..]));
}

/// A vertex: as many channels as the format has, at a multiple of the pitch (003:5250-5288).
#[test]
fn streamed_vertices() {
    for (format, channels) in [
        (SurfaceFormat::R32G32B32A32_FLOAT, 4),
        (SurfaceFormat::R32G32B32_FLOAT, 3),
        (SurfaceFormat::R32_UINT, 1),
    ] {
        for (index, mask) in [(0u64, 0xfu32), (5, 0xd), (20, 0xf), (21, 0xf), (1 << 27, 0xf)] {
            let (mut rig, contents) = rig();
            let state = SurfaceState { surface_format: format, ..buffer(ENTRIES, 20) };
            rig.bind(INDEX, &state.pack());
            let payload = StreamedVertexBufferWritePayload {
                r_data: u(1),
                g_data: u(2),
                b_data: u(3),
                a_data: u(4),
                destination_index: u(index),
                ..StreamedVertexBufferWritePayload::new()
            };
            let descriptor = StreamedVertexBufferWriteDescriptor {
                binding_table_index: u(INDEX),
                increment_svbis: true,
                increment_prim_storage_needed: true,
                increment_num_prims_written: index < 2,
                ..StreamedVertexBufferWriteDescriptor::new()
            };
            let send = write(descriptor.pack()[0], vec![payload.pack()]);
            rig.send(&Send { mask, ..send }).unwrap();
            let mut expected = contents;
            for n in (0..channels).filter(|n| mask >> n & 1 == 1 && index < ENTRIES) {
                expected[5 * index as usize + n] = 1 + n as u32;
            }
            assert_eq!(rig.get(DATA, DWORDS), expected, "{format:?} {index}");
            let streamed = *rig.state.slots.get_mut::<Streamed>();
            let written = u64::from(index < 2);
            assert_eq!(streamed, Streamed { index: [1; 4], written, needed: 1 });
        }
    }
}

/// 003:5260: vertices cannot be streamed without a surface.
#[test]
fn streamed_vertices_need_a_surface() {
    let (mut rig, contents) = rig();
    rig.bind(255, &buffer(ENTRIES, 20).pack());
    let descriptor = StreamedVertexBufferWriteDescriptor {
        binding_table_index: u(255),
        ..StreamedVertexBufferWriteDescriptor::new()
    };
    let payload = StreamedVertexBufferWritePayload {
        r_data: u(1),
        ..StreamedVertexBufferWritePayload::new()
    };
    let send = write(descriptor.pack()[0], vec![payload.pack()]);
    assert!(rig.send(&send).unwrap_err().to_string().contains("5260"));
    assert_eq!(rig.get(DATA, DWORDS), contents);
}

/// Reserved types and sizes, wrong lengths and surfaces, ends of threads, and what is missing.
#[test]
fn refused() {
    let (mut rig, _) = rig();
    let block = OWordBlockReadDescriptor {
        block_size: OWordBlockSize::_2_OWORDS,
        binding_table_index: u(INDEX),
        response_length: u(1),
        ..OWordBlockReadDescriptor::new()
    };
    let mut check = |send: Send, expected: &str| {
        let text = rig.refusal(&send);
        assert!(text.contains(expected), "{text} has not {expected}");
    };
    let one = vec![header(0)];
    check(Send { eot: true, ..read(block.pack()[0], one.clone()) }, "cannot end");
    for bits in [5u64, 6, 7] {
        let bad = OWordBlockReadDescriptor { block_size: OWordBlockSize::from_bits(bits), ..block };
        check(read(bad.pack()[0], one.clone()), "reserved");
    }
    check(read(block.pack()[0], vec![header(0); 2]), "needs 1 registers");
    let long = OWordBlockReadDescriptor { response_length: u(2), ..block };
    check(read(long.pack()[0], one.clone()), "answers with 1");
    let mut kind = |bits: u64, expected: &str| {
        let descriptor = DataPortReadMessageDescriptor {
            read_message_type: DataPortReadType::from_bits(bits),
            binding_table_index: u(INDEX),
            response_length: u(1),
            ..DataPortReadMessageDescriptor::new()
        };
        check(read(descriptor.pack()[0], one.clone()), expected);
    };
    kind(1, "does not implement render target UNORM reads");
    kind(5, "reserved");
    kind(7, "reserved");
    let unorm = DataPortWriteMessageDescriptor {
        write_message_type: DataPortWriteType::RENDER_TARGET_UNORM_WRITE,
        ..DataPortWriteMessageDescriptor::new()
    };
    check(write(unorm.pack()[0], one.clone()), "does not implement render target UNORM writes");
    let commit = OWordBlockWriteDescriptor {
        block_size: OWordBlockSize::_2_OWORDS,
        binding_table_index: u(INDEX),
        response_length: u(1),
        ..OWordBlockWriteDescriptor::new()
    };
    check(write(commit.pack()[0], vec![header(0); 2]), "response length 1");
    let flush = FlushRenderCacheDescriptor {
        send_write_commit_message: true,
        response_length: u(1),
        ..FlushRenderCacheDescriptor::new()
    };
    let (mut rig, _) = self::rig();
    rig.send(&write(flush.pack()[0], vec![[0; 8]])).unwrap();
    let image = Texture::new(SurfaceType::SURFTYPE_2D, [8, 8, 1], 1);
    rig.bind(INDEX, &image.state().pack());
    let text = rig.refusal(&read(block.pack()[0], vec![header(0)]));
    assert!(text.contains("not a buffer"), "{text}");
}
