//! Blocks of owords and hwords, dual blocks, scratch blocks, and those at 64-bit addresses.
//!
//! Oracle: G45 vol 4, 5.10.2 and 5.10.3 (registers, which channels enable a dword, accesses outside
//! the surface), 2d p.42 (units of the offset), p.74 (channel mode), p.208-211 and p.277-282
//! (data), p.294 and p.410 (scratch space), p.6-11.

use crate::dataport::probe::{
    DATA, DATA_BYTES, Message, Probe, Register, Unit, World, dword, set_dword,
};
use crate::dataport::scattered::header;
use crate::dataport::untyped::{Place, locate, probe};
use genxml::eu::gen8::descriptors::{MdcA64DbHw, MdcA64DbOwd, MdcCmode, MdcDbOwd};
use genxml::eu::gen8::eu_messages::{A64BlockSubtype, Msd0Owdb, Msd0Scratch, Msd1A64B};
use genxml::gen8::message_headers::{
    MhA32Hwb, MhA64Hwb, MhA64Owb, MhA64Owdb, MhcA32Bba, MhcA64Cmode, MhcPtss,
};
use genxml::gen8::messages::{MdcDbOw, Msd0rOwb, Msd0rOwub, Msd0wOwb, MtDp0, MtDp1};
use genxml_cases::{Random, at, u};
use genxml_core::{PowerOfTwo, U64};

const SIZES: [MdcDbOw; 5] =
    [MdcDbOw::OW1L, MdcDbOw::OW1U, MdcDbOw::OW2, MdcDbOw::OW4, MdcDbOw::OW8];

/// Number of owords of a size, and the half of the register that holds the first one.
fn owords(size: MdcDbOw) -> (usize, usize) {
    match size {
        MdcDbOw::OW1L => (1, 0),
        MdcDbOw::OW1U => (1, 1),
        MdcDbOw::OW2 => (2, 0),
        MdcDbOw::OW4 => (4, 0),
        _ => (8, 0),
    }
}

/// A dword of a block: its position in the registers, and its byte offset in memory if it is
/// inside.
struct Cell {
    register: usize,
    column: usize,
    memory: Option<usize>,
}

/// The expected result of a block message: the dwords for which `enabled` returns true are moved.
fn moves(
    world: &World,
    cells: &[Cell],
    data: &[Register],
    write: bool,
    enabled: impl Fn(&Cell) -> bool,
) -> World {
    let mut expected = world.clone();
    for cell in cells.iter().filter(|cell| enabled(cell)) {
        if !write {
            expected.answer[cell.register][cell.column] =
                cell.memory.map_or(0, |byte| dword(&world.data, byte));
        } else if let Some(byte) = cell.memory {
            set_dword(&mut expected.data, byte, data[cell.register][cell.column]);
        }
    }
    expected
}

/// True if the channel of a dword is enabled: channels 7:0 for registers 0 and 2, 15:8 for the
/// others. Channels that the send does not have count as enabled.
fn channel(cell: &Cell, mask: u32, channels: usize) -> bool {
    let channel = cell.register % 2 * 8 + cell.column;
    channel >= channels || mask >> channel & 1 == 1
}

/// True if one of the four channels of the dword's oword is enabled.
fn any_of_four(cell: &Cell, mask: u32, channels: usize) -> bool {
    (0..4).any(|n| channel(&Cell { column: cell.column / 4 * 4 + n, ..*cell }, mask, channels))
}

fn masks(random: &mut Random, channels: usize) -> u32 {
    let all = (1u32 << channels) - 1;
    match random.below(3) {
        0 => all,
        1 => random.bits() as u32 & all | 1,
        _ => random.bits() as u32 & random.bits() as u32 & all | 2,
    }
}

#[test]
fn oword_blocks() {
    let mut random = Random::new(31);
    let mut probe = probe();
    let places = [
        (Place::Raw(1500), 0),
        (Place::Raw(1003), 1),
        (Place::Null, 3),
        (Place::Raw(752), 6),
        (Place::Stateless, 255),
        (Place::Stateless, 253),
    ];
    for (place, index) in places {
        for size in SIZES {
            for (kind, unit) in
                [(MtDp0::MT0R_OWB, 16), (MtDp0::MT0R_OWUB, 1), (MtDp0::MT0W_OWB, 16)]
            {
                for channels in [8, 16] {
                    for _ in 0..6 {
                        one(&mut random, &mut probe, (place, index), size, kind, unit, channels);
                    }
                }
            }
        }
    }
}

fn one(
    random: &mut Random,
    probe: &mut Probe,
    (place, index): (Place, u64),
    size: MdcDbOw,
    kind: MtDp0,
    unit: u32,
    channels: usize,
) {
    let world = World::random(random);
    let write = kind == MtDp0::MT0W_OWB;
    let (count, half) = owords(size);
    let registers = (count + half).div_ceil(2);
    let mask = masks(random, channels);
    // The block is inside the buffer, a little after its end, or far outside.
    let mut byte = random.below(1600) as u32 & !3;
    if place != Place::Stateless && random.below(8) == 0 {
        byte = 0xffff_fff0;
    }
    let global = byte / unit;
    let start = u64::from(global) * u64::from(unit);
    let mut payload = vec![header(place, global)];
    if write {
        payload.extend((0..registers).map(|_| std::array::from_fn(|_| random.bits() as u32)));
    }
    let cells: Vec<Cell> = (0..4 * count)
        .map(|n| {
            let offset = u32::try_from(start + 4 * n as u64).ok();
            Cell {
                register: (n + 4 * half) / 8,
                column: (n + 4 * half) % 8,
                memory: offset.and_then(|offset| locate(place, offset, None)).map(|(_, byte)| byte),
            }
        })
        .collect();
    let expected = moves(&world, &cells, &payload[1..], write, |cell| match write {
        true => channel(cell, mask, channels),
        false => any_of_four(cell, mask, channels),
    });
    let (index, length, back) = (u(index), u(payload.len() as u64), u(registers as u64));
    let descriptor = match kind {
        MtDp0::MT0R_OWB => Msd0rOwb {
            binding_table_index: index,
            data_blocks: size,
            header_present: true,
            response_length: back,
            message_length: length,
            ..Msd0rOwb::new()
        }
        .pack(),
        MtDp0::MT0R_OWUB => Msd0rOwub {
            binding_table_index: index,
            data_blocks: size,
            header_present: true,
            response_length: back,
            message_length: length,
            ..Msd0rOwub::new()
        }
        .pack(),
        _ => Msd0wOwb {
            binding_table_index: index,
            data_blocks: size,
            header_present: true,
            message_length: length,
            ..Msd0wOwb::new()
        }
        .pack(),
    }[0];
    let mut message = Message { unit: Unit::Port0, channels, mask, descriptor, payload };
    probe.check(&message, &world, &expected, false);
    if !write && place != Place::Stateless {
        // The constant cache has the same two reads (MSD_CC_OWB, MSD_CC_OWUB).
        message.unit = Unit::Constant;
        probe.check(&message, &world, &expected, false);
    }
}

/// Cells of two blocks side by side. `memory(block, n)` returns the offset in memory of byte `n` of
/// a block.
fn side_by_side(count: usize, memory: impl Fn(usize, usize) -> Option<usize>) -> Vec<Cell> {
    let mut cells = Vec::new();
    for register in 0..count {
        for column in 0..8 {
            let (block, n) = (column / 4, column % 4);
            cells.push(Cell { register, column, memory: memory(block, 16 * register + 4 * n) });
        }
    }
    cells
}

#[test]
fn dual_blocks() {
    let mut random = Random::new(32);
    let mut probe = probe();
    for (place, index) in [(Place::Raw(1500), 0), (Place::Null, 3), (Place::Stateless, 255)] {
        for (size, count) in [(MdcDbOwd::OWD1, 1), (MdcDbOwd::OWD4, 4)] {
            for kind in [MtDp0::MT0R_OWDB, MtDp0::MT0W_OWDB] {
                for _ in 0..20 {
                    let write = kind == MtDp0::MT0W_OWDB;
                    let world = World::random(&mut random);
                    let bare = place != Place::Stateless && random.below(2) == 0;
                    let global = if bare { 0 } else { random.below(10) as u32 };
                    let mask = masks(&mut random, 8);
                    // Offsets in owords. The blocks must not overlap.
                    let first = random.below(40) as u32;
                    let offsets = [first, first + 4 + random.below(50) as u32];
                    let mut payload = Vec::new();
                    if !bare {
                        payload.push(header(place, global));
                    }
                    let noise = random.bits() as u32;
                    payload
                        .push([offsets[0], noise, noise, noise, offsets[1], noise, noise, noise]);
                    let data = payload.len();
                    if write {
                        payload.extend(
                            (0..count).map(|_| std::array::from_fn(|_| random.bits() as u32)),
                        );
                    }
                    let cells = side_by_side(count, |block, byte| {
                        let offset = 16 * (global + offsets[block]) + byte as u32;
                        locate(place, offset, None).map(|(_, byte)| byte)
                    });
                    // Each register of the block uses channels 7:0.
                    let on = |column: usize| mask >> column & 1 == 1;
                    let expected =
                        moves(&world, &cells, &payload[data..], write, |cell| match write {
                            true => on(cell.column),
                            false => (0..4).any(|n| on(cell.column / 4 * 4 + n)),
                        });
                    let descriptor = Msd0Owdb {
                        binding_table_index: u(index),
                        data_blocks: size,
                        message_type: kind,
                        header_present: !bare,
                        response_length: u(if write { 0 } else { count as u64 }),
                        message_length: u(payload.len() as u64),
                        ..Msd0Owdb::new()
                    };
                    let descriptor = descriptor.pack()[0];
                    let mut message =
                        Message { unit: Unit::Port0, channels: 8, mask, descriptor, payload };
                    probe.check(&message, &world, &expected, false);
                    if !write && place != Place::Stateless {
                        message.unit = Unit::Constant;
                        probe.check(&message, &world, &expected, false);
                    }
                }
            }
        }
    }
}

/// Scratch blocks: 1 to 8 registers at a multiple of 32 bytes. Beyond the thread's scratch space,
/// reads return 0 and writes are dropped.
#[test]
fn scratch_blocks() {
    let mut random = Random::new(33);
    let mut probe = probe();
    for power in 0..4 {
        for write in [false, true] {
            for dwords in [false, true] {
                for channels in [8, 16] {
                    for _ in 0..12 {
                        let world = World::random(&mut random);
                        let mask = masks(&mut random, channels);
                        let count = 1usize << power;
                        // The space has 1, 2 or 4 KiB and starts at byte 1024 of the data.
                        let code = random.below(3);
                        let offset = random.below((1 << code) * 32 + 8);
                        let header = MhA32Hwb {
                            per_thread_scratch_space: MhcPtss { per_thread_scratch_space: u(code) },
                            buffer_base_address: MhcA32Bba {
                                buffer_base_address_offset: at(DATA + 1024 + random.below(1024)),
                            },
                        };
                        let mut payload = vec![header.pack()];
                        if write {
                            payload.extend(
                                (0..count).map(|_| std::array::from_fn(|_| random.bits() as u32)),
                            );
                        }
                        let cells: Vec<Cell> = (0..8 * count)
                            .map(|n| {
                                let byte = 32 * offset as usize + 4 * n;
                                let inside = byte < 1024 << code;
                                Cell {
                                    register: n / 8,
                                    column: n % 8,
                                    memory: inside.then_some(1024 + byte),
                                }
                            })
                            .collect();
                        let expected =
                            moves(&world, &cells, &payload[1..], write, |cell| match dwords {
                                true => channel(cell, mask, channels),
                                false => any_of_four(cell, mask, channels),
                            });
                        let descriptor = Msd0Scratch {
                            offset: u(offset),
                            block_size: PowerOfTwo::new(count as u64).expect("1 to 8"),
                            dword_channel_mode: dwords,
                            write,
                            header_present: true,
                            response_length: u(if write { 0 } else { count as u64 }),
                            message_length: u(payload.len() as u64),
                            ..Msd0Scratch::new()
                        };
                        let descriptor = descriptor.pack()[0];
                        let message =
                            Message { unit: Unit::Port0, channels, mask, descriptor, payload };
                        probe.check(&message, &world, &expected, false);
                    }
                }
            }
        }
    }
}

/// Sends an A64 block message and compares the result.
#[allow(clippy::too_many_arguments)]
fn long(
    probe: &mut Probe,
    world: &World,
    expected: &World,
    subtype: A64BlockSubtype,
    blocks: u64,
    write: bool,
    registers: usize,
    (channels, mask): (usize, u32),
    payload: Vec<Register>,
) {
    let descriptor = Msd1A64B {
        binding_table_index: u(255),
        data_blocks: u(blocks),
        subtype,
        message_type: if write { MtDp1::MT1W_A64_B } else { MtDp1::MT1R_A64_B },
        header_present: true,
        response_length: u(if write { 0 } else { registers as u64 }),
        message_length: u(payload.len() as u64),
        ..Msd1A64B::new()
    };
    let message =
        Message { unit: Unit::Port1, channels, mask, descriptor: descriptor.pack()[0], payload };
    probe.check(&message, world, expected, false);
}

/// A random byte offset in the data, and its address. Sometimes the address is not canonical, which
/// is out of bounds; then the offset is `None`.
fn somewhere(random: &mut Random, align: u64) -> (Option<usize>, U64<64>) {
    let byte = random.below(DATA_BYTES as u64 - 512) / align * align;
    match random.below(6) {
        0 => (None, U64::new((DATA + byte) | (1 << (48 + random.below(16)))).expect("64 bits")),
        _ => (Some(byte as usize), U64::new(DATA + byte).expect("64 bits")),
    }
}

/// Blocks of owords, aligned and unaligned.
#[test]
fn owords_at_64_bit_addresses() {
    let mut random = Random::new(34);
    let mut probe = probe();
    for _ in 0..12 {
        for channels in [8, 16] {
            for size in SIZES {
                for (subtype, align, write) in [
                    (A64BlockSubtype::OWORD, 16, false),
                    (A64BlockSubtype::OWORD, 16, true),
                    (A64BlockSubtype::UNALIGNED_OWORD, 4, false),
                ] {
                    let world = World::random(&mut random);
                    let mask = masks(&mut random, channels);
                    let (count, half) = owords(size);
                    let registers = (count + half).div_ceil(2);
                    let (begin, address) = somewhere(&mut random, align);
                    let mut payload = vec![MhA64Owb { block_offset: address }.pack()];
                    if write {
                        payload.extend(
                            (0..registers).map(|_| std::array::from_fn(|_| random.bits() as u32)),
                        );
                    }
                    let cells: Vec<Cell> = (0..4 * count)
                        .map(|n| Cell {
                            register: (n + 4 * half) / 8,
                            column: (n + 4 * half) % 8,
                            memory: begin.map(|begin| begin + 4 * n),
                        })
                        .collect();
                    let expected =
                        moves(&world, &cells, &payload[1..], write, |cell| match write {
                            true => channel(cell, mask, channels),
                            false => any_of_four(cell, mask, channels),
                        });
                    let blocks = size.bits();
                    let send = (channels, mask);
                    long(
                        &mut probe, &world, &expected, subtype, blocks, write, registers, send,
                        payload,
                    );
                }
            }
        }
    }
}

/// Blocks of registers, in both channel modes.
#[test]
fn hwords_at_64_bit_addresses() {
    let mut random = Random::new(35);
    let mut probe = probe();
    for _ in 0..12 {
        for channels in [8, 16] {
            for (size, count) in [
                (MdcA64DbHw::HW1, 1),
                (MdcA64DbHw::HW2, 2),
                (MdcA64DbHw::HW4, 4),
                (MdcA64DbHw::HW8, 8),
            ] {
                for write in [false, true] {
                    let world = World::random(&mut random);
                    let mask = masks(&mut random, channels);
                    let dwords = random.below(2) == 0;
                    let (begin, address) = somewhere(&mut random, 32);
                    let mode = if dwords { MdcCmode::DWORD } else { MdcCmode::OWORD };
                    let header = MhA64Hwb {
                        block_offset: address,
                        hword_channel_mode: MhcA64Cmode { channel_mode: mode },
                    };
                    let mut payload = vec![header.pack()];
                    if write {
                        payload.extend(
                            (0..count).map(|_| std::array::from_fn(|_| random.bits() as u32)),
                        );
                    }
                    let cells: Vec<Cell> = (0..8 * count)
                        .map(|n| Cell {
                            register: n / 8,
                            column: n % 8,
                            memory: begin.map(|begin| begin + 4 * n),
                        })
                        .collect();
                    let expected =
                        moves(&world, &cells, &payload[1..], write, |cell| match dwords {
                            true => channel(cell, mask, channels),
                            false => any_of_four(cell, mask, channels),
                        });
                    let (subtype, blocks) = (A64BlockSubtype::HWORD, size.bits());
                    let send = (channels, mask);
                    long(
                        &mut probe, &world, &expected, subtype, blocks, write, count, send, payload,
                    );
                }
            }
        }
    }
}

/// Two blocks side by side.
#[test]
fn dual_blocks_at_64_bit_addresses() {
    let mut random = Random::new(36);
    let mut probe = probe();
    for _ in 0..12 {
        for (size, count) in [(MdcA64DbOwd::OWD1, 1), (MdcA64DbOwd::OWD4, 4)] {
            for write in [false, true] {
                let world = World::random(&mut random);
                let mask = masks(&mut random, 8);
                let first = somewhere(&mut random, 16);
                let mut second = somewhere(&mut random, 16);
                // The two blocks must not overlap.
                while let (Some(a), Some(b)) = (first.0, second.0)
                    && a.abs_diff(b) < 64
                {
                    second = somewhere(&mut random, 16);
                }
                let mut payload =
                    vec![MhA64Owdb { block_offset0: first.1, block_offset1: second.1 }.pack()];
                if write {
                    payload
                        .extend((0..count).map(|_| std::array::from_fn(|_| random.bits() as u32)));
                }
                let cells = side_by_side(count, |block, byte| {
                    [first.0, second.0][block].map(|begin| begin + byte)
                });
                let on = |column: usize| mask >> column & 1 == 1;
                let expected = moves(&world, &cells, &payload[1..], write, |cell| match write {
                    true => on(cell.column),
                    false => (0..4).any(|n| on(cell.column / 4 * 4 + n)),
                });
                let (subtype, blocks) = (A64BlockSubtype::OWORD_DUAL, size.bits());
                long(
                    &mut probe,
                    &world,
                    &expected,
                    subtype,
                    blocks,
                    write,
                    count,
                    (8, mask),
                    payload,
                );
            }
        }
    }
}
