//! Scattered reads and writes of bytes, dwords and qwords.
//!
//! Oracle: G45 vol 4, 5.10.5 (the global offset is added, in dwords; outside the surface, reads
//! return 0 and writes are dropped); 2d p.117 (bytes of a slot); 2d p.5 and p.122-318 (the first
//! element of all slots, then the next element of all slots); gen8_facts 4.5 and 4.6.

use crate::dataport::probe::{
    DATA, DATA_BYTES, Message, Probe, Register, Unit, World, dword, set_dword,
};
use crate::dataport::untyped::{PLACES, Place, locate, offset, probe};
use genxml::eu::gen8::descriptors::{MdcA64Ds, MdcDs, MdcSm2};
use genxml::eu::gen8::eu_messages::{A64ScatteredSubtype, Msd0Bs, Msd0Dws, Msd1A64S};
use genxml::gen8::message_headers::{MhA32Go, MhcA32Bba, MhcPtss};
use genxml::gen8::messages::{MtDp0, MtDp1, MtDpRo};
use genxml_cases::{Random, at, u};

/// The header of a message of data port 0.
pub fn header(place: Place, global: u32) -> Register {
    let base = if place == Place::Stateless { DATA + 1024 } else { 0 };
    MhA32Go {
        global_offset: u(global.into()),
        // Scratch space of 8 KiB, more than the memory that exists.
        per_thread_scratch_space: MhcPtss { per_thread_scratch_space: u(3) },
        buffer_base_address: MhcA32Bba { buffer_base_address_offset: at(base + 0x3ff) },
    }
    .pack()
}

#[test]
fn dwords() {
    let mut random = Random::new(11);
    let mut probe = probe();
    for (place, index) in PLACES {
        if matches!(place, Place::Structured | Place::Local) {
            continue;
        }
        for wide in [false, true] {
            for kind in [MtDp0::MT0R_DWS, MtDp0::MT0W_DWS] {
                for _ in 0..24 {
                    dwords_once(&mut random, &mut probe, place, index, wide, kind);
                }
            }
        }
    }
}

fn dwords_once(
    random: &mut Random,
    probe: &mut Probe,
    place: Place,
    index: u64,
    wide: bool,
    kind: MtDp0,
) {
    let world = World::random(random);
    let (count, registers) = if wide { (16, 2) } else { (8, 1) };
    let write = kind == MtDp0::MT0W_DWS;
    let bare = place == Place::StatelessBare || place != Place::Stateless && random.below(2) == 0;
    let global = if bare { 0 } else { random.below(20) as u32 };
    let mask = random.bits() as u32 & random.bits() as u32 & ((1 << count) - 1)
        | 1 << random.below(count as u64);
    // Distinct dwords: offsets from a random one on, 1 to 4 dwords apart.
    let start = offset(random, place, 16).0 / 4;
    let step = 1 + random.below(4) as u32;
    let mut payload = Vec::new();
    if !bare {
        payload.push(header(place, global));
    }
    let first = payload.len();
    let mut offsets = Vec::new();
    for n in 0..count as u32 {
        let offset = match place {
            Place::Stateless | Place::StatelessBare => start + n * step,
            _ => (start + n * step) & 0x3fff_ffff,
        };
        offsets.push(offset);
        if n % 8 == 0 {
            payload.push([0; 8]);
        }
        payload[first + n as usize / 8][n as usize % 8] = offset;
    }
    let data = payload.len();
    if write {
        payload.extend((0..registers).map(|_| std::array::from_fn(|_| random.bits() as u32)));
    }
    let mut expected = world.clone();
    for n in (0..count).filter(|n| mask >> n & 1 == 1) {
        let byte = (u64::from(global) + u64::from(offsets[n])) * 4;
        let inside = u32::try_from(byte).ok().and_then(|byte| locate(place, byte, None));
        let value = inside.map(|(_, byte)| dword(&world.data, byte));
        if !write {
            expected.answer[n / 8][n % 8] = value.unwrap_or(0);
        } else if let Some((_, byte)) = inside {
            set_dword(&mut expected.data, byte, payload[data + n / 8][n % 8]);
        }
    }
    let descriptor = Msd0Dws {
        binding_table_index: u(index),
        simd_mode: if wide { MdcSm2::SIMD16 } else { MdcSm2::SIMD8 },
        message_type: kind,
        header_present: !bare,
        response_length: u(if write { 0 } else { registers as u64 }),
        message_length: u(payload.len() as u64),
        ..Msd0Dws::new()
    };
    let mut message = Message {
        unit: Unit::Port0,
        channels: count,
        mask,
        descriptor: descriptor.pack()[0],
        payload,
    };
    probe.check(&message, &world, &expected, false);
    // The constant cache and the sampler cache have the same message, for surfaces only.
    if !write && index < 240 {
        message.unit = if random.below(2) == 0 { Unit::Constant } else { Unit::Sampler };
        assert_eq!(MtDpRo::MT_CC_DWS.bits(), MtDp0::MT0R_DWS.bits());
        probe.check(&message, &world, &expected, false);
    }
}

#[test]
fn bytes() {
    let mut random = Random::new(12);
    let mut probe = probe();
    for (place, index) in PLACES {
        if place == Place::Structured {
            continue;
        }
        for wide in [false, true] {
            for size in [MdcDs::B, MdcDs::W, MdcDs::DW] {
                for kind in [MtDp0::MT0R_BS, MtDp0::MT0W_BS] {
                    for _ in 0..8 {
                        bytes_once(&mut random, &mut probe, place, index, wide, size, kind);
                    }
                }
            }
        }
    }
}

/// Position of the byte at `offset` as in [`locate`]; `None` if it is outside.
fn byte_at(place: Place, offset: u64) -> Option<(bool, usize)> {
    match place {
        Place::Raw(size) => (offset < size as u64).then_some((false, 64 + offset as usize)),
        Place::Local => (offset < 4096).then_some((true, offset as usize)),
        Place::Null | Place::Structured => None,
        Place::Stateless => Some((false, 1024 + offset as usize)),
        Place::StatelessBare => Some((false, (offset - DATA) as usize)),
    }
}

fn bytes_once(
    random: &mut Random,
    probe: &mut Probe,
    place: Place,
    index: u64,
    wide: bool,
    size: MdcDs,
    kind: MtDp0,
) {
    let world = World::random(random);
    let (count, registers) = if wide { (16, 2) } else { (8, 1) };
    let length = 1usize << size.bits();
    let write = kind == MtDp0::MT0W_BS;
    let bare = place == Place::StatelessBare || place != Place::Stateless && random.below(2) == 0;
    let global = if bare { 0 } else { random.below(99) as u32 };
    let mask = random.bits() as u32 & ((1 << count) - 1) | 1;
    // Arbitrary offsets, at least four bytes apart.
    let start = offset(random, place, 4).0.wrapping_add(random.below(4) as u32);
    let step = 4 + random.below(12) as u32;
    let offsets: Vec<u32> = (0..count as u32).map(|n| start.wrapping_add(n * step)).collect();
    let mut payload = Vec::new();
    if !bare {
        payload.push(header(place, global));
    }
    payload.extend(offsets.chunks(8).map(|row| Register::try_from(row).expect("eight")));
    let data = payload.len();
    if write {
        payload.extend((0..registers).map(|_| std::array::from_fn(|_| random.bits() as u32)));
    }
    let mut expected = world.clone();
    for n in (0..count).filter(|n| mask >> n & 1 == 1) {
        let mut value = 0u32;
        for k in 0..length {
            let first = u64::from(global) + u64::from(offsets[n]);
            // Only bits 15:0 of the offset count (assumptions::LOCAL_MEMORY_OFFSET_BITS).
            let first = if place == Place::Local { first & 0xffff } else { first };
            match (byte_at(place, first + k as u64), write) {
                (Some((false, byte)), false) => value |= u32::from(world.data[byte]) << (8 * k),
                (Some((true, byte)), false) => value |= u32::from(world.local[byte]) << (8 * k),
                (Some((false, byte)), true) => {
                    expected.data[byte] = payload[data + n / 8][n % 8].to_le_bytes()[k];
                }
                (Some((true, byte)), true) => {
                    expected.local[byte] = payload[data + n / 8][n % 8].to_le_bytes()[k];
                }
                (None, _) => {}
            }
        }
        if !write {
            expected.answer[n / 8][n % 8] = value;
        }
    }
    let descriptor = Msd0Bs {
        binding_table_index: u(index),
        simd_mode: if wide { MdcSm2::SIMD16 } else { MdcSm2::SIMD8 },
        data_elements: size,
        message_type: kind,
        header_present: !bare,
        response_length: u(if write { 0 } else { registers as u64 }),
        message_length: u(payload.len() as u64),
        ..Msd0Bs::new()
    };
    let message = Message {
        unit: Unit::Port0,
        channels: count,
        mask,
        descriptor: descriptor.pack()[0],
        payload,
    };
    probe.check(&message, &world, &expected, place == Place::Local);
}

#[test]
fn at_64_bit_addresses() {
    let mut random = Random::new(13);
    let mut probe = probe();
    let sizes = [MdcA64Ds::DE1, MdcA64Ds::DE2, MdcA64Ds::DE4, MdcA64Ds::DE8];
    for subtype in
        [A64ScatteredSubtype::BYTE, A64ScatteredSubtype::DWORD, A64ScatteredSubtype::QWORD]
    {
        for (power, size) in sizes.into_iter().enumerate() {
            for write in [false, true] {
                for _ in 0..24 {
                    // Eight qwords for each of eight slots are more than 256 bytes.
                    if (subtype, size) != (A64ScatteredSubtype::QWORD, MdcA64Ds::DE8) {
                        long(&mut random, &mut probe, subtype, size, 1 << power, write);
                    }
                }
            }
        }
    }
}

fn long(
    random: &mut Random,
    probe: &mut Probe,
    subtype: A64ScatteredSubtype,
    size: MdcA64Ds,
    elements: usize,
    write: bool,
) {
    let world = World::random(random);
    let width = [1, 4, 8][subtype.bits() as usize];
    let mask = if random.below(2) == 0 { 255 } else { random.bits() as u32 & 255 | 8 };
    let start = random.below(300) * width;
    let distance = match random.below(2) {
        0 => width * elements as u64,
        _ => 64 + random.below(20) * width,
    };
    let mut payload: Vec<Register> = vec![[0; 8]; 2];
    let places: Vec<u64> = (0..8).map(|n| start + n * distance).collect();
    for (n, place) in places.iter().enumerate() {
        let address = DATA + place;
        payload[n / 4][n % 4 * 2] = address as u32;
        payload[n / 4][n % 4 * 2 + 1] = (address >> 32) as u32;
    }
    // Number of data registers. A dword holds up to four bytes of a slot, a qword holds eight. For
    // eight slots, dwords take one register and qwords take two.
    let registers = match width {
        1 => elements.div_ceil(4),
        4 => elements,
        _ => 2 * elements,
    };
    if write {
        payload.extend((0..registers).map(|_| std::array::from_fn(|_| random.bits() as u32)));
    }
    // Position of byte `k` of element `e` of slot `n`: register and byte in it.
    let stands = |n: usize, e: usize, k: usize| match width {
        1 if elements == 8 => (n / 4, n % 4 * 8 + e),
        1 => (0, 4 * n + e),
        4 => (e, 4 * n + k),
        _ => (2 * e + n / 4, n % 4 * 8 + k),
    };
    let mut expected = world.clone();
    for n in (0..8).filter(|n| mask >> n & 1 == 1) {
        if width == 1 && !write {
            // Bytes are zero-extended. Eight bytes replace the whole qword.
            if elements < 8 {
                expected.answer[0][n] = 0;
            }
        }
        for e in 0..elements {
            for k in 0..width as usize {
                let byte = places[n] as usize + e * width as usize + k;
                assert!(byte < DATA_BYTES);
                let (register, at) = stands(n, e, k);
                if write {
                    expected.data[byte] = payload[2 + register][at / 4].to_le_bytes()[at % 4];
                } else {
                    let dword = &mut expected.answer[register][at / 4];
                    let mut bytes = dword.to_le_bytes();
                    bytes[at % 4] = world.data[byte];
                    *dword = u32::from_le_bytes(bytes);
                }
            }
        }
    }
    let descriptor = Msd1A64S {
        binding_table_index: u(255),
        subtype,
        data_size: size,
        message_type: if write { MtDp1::MT1W_A64_SB } else { MtDp1::MT1R_A64_SB },
        response_length: u(if write { 0 } else { registers as u64 }),
        message_length: u(payload.len() as u64),
        ..Msd1A64S::new()
    };
    let message =
        Message { unit: Unit::Port1, channels: 8, mask, descriptor: descriptor.pack()[0], payload };
    probe.check(&message, &world, &expected, false);
}
