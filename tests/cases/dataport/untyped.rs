//! Untyped surface reads and writes, also at 64-bit addresses.
//!
//! Oracle: 2d p.73 (a set bit of the channel mask disables a channel), p.126 and p.129-131 (data),
//! p.421-438 (addresses), p.299 (pixel mask); G45 vol 4, 5.10 (outside the surface, reads return 0
//! and writes are dropped); gen8_facts 4.6.

use crate::dataport::probe::{
    DATA, DATA_BYTES, LOCAL_BYTES, Message, Probe, Register, Unit, World, dword, null, set_dword,
    structured,
};
use genxml::eu;
use genxml::eu::gen8::descriptors::{MdcCmask, MdcSm3};
use genxml::eu::gen8::eu_messages::Msd1Us;
use genxml::gen8::message_headers::{Mh1A32Psm, MhcA32Bba, MhcPsm};
use genxml::gen8::messages::MtDp1;
use genxml::gen8::state::{RenderSurfaceState, StateBaseAddress, SurfaceFormat};
use genxml_cases::{Compute, Model, Random, at, packets, raw_buffer, u};

/// The memory that a message accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A buffer of this many bytes with a pitch of one byte, from byte 64 of the data on.
    Raw(usize),
    /// A structured buffer, from byte 128 on: 40 elements of 36 bytes.
    Structured,
    /// A null surface.
    Null,
    /// Shared local memory.
    Local,
    /// General state, from the base in the header on: byte 1024 of the data.
    Stateless,
    /// General state, without a header.
    StatelessBare,
}

/// All kinds of memory, each with its binding table index.
pub const PLACES: [(Place, u64); 8] = [
    (Place::Raw(1500), 0),
    (Place::Raw(1003), 1),
    (Place::Structured, 2),
    (Place::Null, 3),
    (Place::Local, 254),
    (Place::Stateless, 255),
    (Place::StatelessBare, 253),
    (Place::Raw(752), 6),
];

const ELEMENTS: u32 = 40;
const PITCH: u32 = 36;

/// The surfaces of [`PLACES`].
pub fn probe() -> Probe {
    Probe::new(
        vec![
            raw_buffer(DATA + 64, 1500),
            raw_buffer(DATA + 64, 1003),
            structured(DATA + 128, ELEMENTS.into(), PITCH.into()),
            null(),
        ],
        // Drivers describe buffers of constants like this. The pitch determines the size, not the
        // format.
        vec![RenderSurfaceState {
            surface_format: SurfaceFormat::R32G32B32A32_FLOAT,
            ..raw_buffer(DATA + 64, 752)
        }],
    )
}

/// Position of the dword at `offset`: true for local memory, false for the data, and the byte
/// offset. `inner` is the offset within an element. `None` if the dword is outside.
pub fn locate(place: Place, offset: u32, inner: Option<u32>) -> Option<(bool, usize)> {
    let offset = offset as u64;
    match place {
        Place::Raw(size) => (offset + 4 <= size as u64).then_some((false, 64 + offset as usize)),
        Place::Structured => {
            let inner = inner.expect("an offset in the element") & !3;
            let inside = offset < ELEMENTS.into() && u64::from(inner) + 4 <= PITCH.into();
            inside.then(|| (false, 128 + (offset as u32 * PITCH + inner) as usize))
        }
        Place::Null => None,
        Place::Local => {
            // Only bits 15:0 of the offset count (assumptions::LOCAL_MEMORY_OFFSET_BITS).
            let offset = offset & 0xffff;
            (offset + 4 <= LOCAL_BYTES as u64).then_some((true, offset as usize))
        }
        Place::Stateless => Some((false, 1024 + offset as usize)),
        Place::StatelessBare => Some((false, offset.checked_sub(DATA)? as usize)),
    }
}

/// A random offset for a message. If the memory has an end, the `span` bytes from the offset on may
/// be partly or completely outside. For structured buffers: an element and an offset in it.
pub fn offset(random: &mut Random, place: Place, span: u32) -> (u32, u32) {
    let dwords = |random: &mut Random, end: u64| (random.below(end / 4) * 4) as u32;
    match place {
        Place::Raw(size) => match random.below(4) {
            0 => (size as u32 / 4 * 4 - span + dwords(random, 32), 0),
            1 => (0xffff_fffc - dwords(random, 64), 0),
            _ => (dwords(random, size as u64), 0),
        },
        Place::Structured => match random.below(6) {
            0 => (ELEMENTS + random.below(1000) as u32, dwords(random, PITCH.into())),
            1 => (random.below(ELEMENTS.into()) as u32, dwords(random, 100)),
            _ => (random.below(ELEMENTS.into()) as u32, dwords(random, PITCH.into())),
        },
        Place::Null => (random.bits() as u32 & !3, random.bits() as u32 & !3),
        Place::Local => match random.below(4) {
            0 => (LOCAL_BYTES as u32 - span + dwords(random, 32), 0),
            // Compilers make offsets of this form, with bit 28 set.
            1 => (0x1000_0000 | dwords(random, LOCAL_BYTES as u64), 0),
            _ => (dwords(random, LOCAL_BYTES as u64), 0),
        },
        Place::Stateless => (dwords(random, DATA_BYTES as u64 - 1024 - 320), 0),
        Place::StatelessBare => (DATA as u32 + dwords(random, DATA_BYTES as u64 - 320), 0),
    }
}

/// The header of a message: a base for stateless messages, and a mask of enabled slots.
pub fn header(place: Place, pixels: u32) -> Register {
    let base = if place == Place::Stateless { DATA + 1024 } else { 0 };
    Mh1A32Psm {
        // Bits 9:0 of the dword are not part of the base.
        buffer_base_address: MhcA32Bba { buffer_base_address_offset: at(base + 0x155) },
        pixel_sample_mask: MhcPsm { pixel_sample_mask: u(pixels.into()) },
    }
    .pack()
}

/// Number of slots of a SIMD mode.
pub fn slots(simd: MdcSm3) -> usize {
    match simd {
        MdcSm3::SIMD4X2 => 2,
        MdcSm3::SIMD8 => 8,
        _ => 16,
    }
}

/// True if slot `n` is enabled: its channel is, and its bit of the pixel mask is set if there is a
/// header. For SIMD4x2, one of four channels is enough, and the pixel mask is ignored.
pub fn takes_part(simd: MdcSm3, n: usize, mask: u32, pixels: Option<u32>) -> bool {
    match simd {
        MdcSm3::SIMD4X2 => mask >> (4 * n) & 15 != 0,
        _ => mask >> n & 1 == 1 && pixels.is_none_or(|pixels| pixels >> n & 1 == 1),
    }
}

/// Puts a dword for each slot into registers. For SIMD4x2 it goes to dword `column` of each half.
pub fn lay_out(simd: MdcSm3, values: &[u32], registers: &mut [Register], column: usize) {
    for (n, value) in values.iter().enumerate() {
        match simd {
            MdcSm3::SIMD4X2 => registers[0][4 * n + column] = *value,
            _ => registers[n / 8][n % 8] = *value,
        }
    }
}

/// Number of registers that hold a dword of each slot.
pub fn registers(simd: MdcSm3) -> usize {
    if simd == MdcSm3::SIMD16 { 2 } else { 1 }
}

/// Registers of the offsets of slots. For structured buffers, the offsets in the elements follow
/// them; for SIMD4x2, both are in one register. `unused` is what the registers contain elsewhere.
pub fn addresses(
    place: Place,
    simd: MdcSm3,
    places: &[(u32, u32)],
    unused: Vec<Register>,
) -> Vec<Register> {
    let mut addresses = unused;
    let offsets: Vec<u32> = places.iter().map(|place| place.0).collect();
    lay_out(simd, &offsets, &mut addresses, 0);
    if place == Place::Structured {
        let inner: Vec<u32> = places.iter().map(|place| place.1).collect();
        if simd == MdcSm3::SIMD4X2 {
            lay_out(simd, &inner, &mut addresses, 1);
        } else {
            let mut more = vec![[0; 8]; registers(simd)];
            lay_out(simd, &inner, &mut more, 0);
            addresses.extend(more);
        }
    }
    addresses
}

#[test]
fn surfaces_and_local_memory() {
    let mut random = Random::new(1);
    let mut probe = probe();
    for (place, index) in PLACES {
        for simd in [MdcSm3::SIMD4X2, MdcSm3::SIMD8, MdcSm3::SIMD16] {
            for left_out in 0..15u32 {
                for write in [false, true] {
                    for _ in 0..3 {
                        one(&mut random, &mut probe, place, index, simd, left_out, write);
                    }
                }
            }
        }
    }
}

/// Offsets of slots: adjacent, the same for eight slots, or random. Writes must not overlap: each
/// has `bytes` bytes.
fn offsets(
    random: &mut Random,
    place: Place,
    count: usize,
    bytes: u32,
    write: bool,
) -> Vec<(u32, u32)> {
    let mut places: Vec<(u32, u32)> = Vec::new();
    let start = offset(random, place, 16);
    let kind = random.below(5);
    // Sometimes the second eight slots are elsewhere.
    let jump = if random.below(2) == 0 { 0 } else { 160 };
    for n in 0..count as u32 {
        let further = start.0.wrapping_add(n / 8 * jump);
        places.push(match place {
            Place::Structured if write => (n * 3 % 50, random.below(12) as u32 * 4),
            Place::Structured => offset(random, place, 16),
            _ if kind == 0 => (start.0.wrapping_add(n * 16), 0),
            _ if write || kind == 1 || kind == 2 => (further.wrapping_add(n * bytes), 0),
            _ if kind == 3 => (further, 0),
            _ => offset(random, place, 16),
        });
        // Stateless memory has no end, so stay inside the mapped part.
        let last = places.last_mut().expect("pushed");
        let end = match place {
            Place::Stateless => (DATA_BYTES - 1024) as u32,
            Place::StatelessBare => DATA as u32 + DATA_BYTES as u32,
            _ => u32::MAX,
        };
        if last.0 > end - 16 {
            last.0 = end - 16 * (n + 1);
        }
    }
    places
}

/// The expected result of a message: enabled slots write the registers in `sent`, or read if `sent`
/// is `None`. Also returns the number of dwords that lie outside.
fn moves(
    world: &World,
    (place, simd): (Place, MdcSm3),
    channels: &[usize],
    places: &[(u32, u32)],
    (mask, pixels): (u32, Option<u32>),
    sent: Option<&[Register]>,
) -> (World, u64) {
    let mut expected = world.clone();
    let mut outside = 0;
    for (n, &(offset, inner)) in places.iter().enumerate() {
        if !takes_part(simd, n, mask, pixels) {
            continue;
        }
        for (k, &c) in channels.iter().enumerate() {
            let inside = match place {
                Place::Structured => locate(place, offset, Some(inner + 4 * c as u32)),
                _ => {
                    offset.checked_add(4 * c as u32).and_then(|offset| locate(place, offset, None))
                }
            };
            outside += u64::from(inside.is_none());
            let (register, column) = match simd {
                MdcSm3::SIMD4X2 => (0, 4 * n + c),
                _ => (k * registers(simd) + n / 8, n % 8),
            };
            if let Some(sent) = sent {
                let value = sent[register][column];
                match inside {
                    Some((false, byte)) => set_dword(&mut expected.data, byte, value),
                    Some((true, byte)) => set_dword(&mut expected.local, byte, value),
                    None => {}
                }
            } else {
                expected.answer[register][column] = match inside {
                    Some((false, byte)) => dword(&world.data, byte),
                    Some((true, byte)) => dword(&world.local, byte),
                    None => 0,
                };
            }
        }
    }
    (expected, outside)
}

/// Sends one message and checks its result. Bits set in `left_out` disable channels.
fn one(
    random: &mut Random,
    probe: &mut Probe,
    place: Place,
    index: u64,
    simd: MdcSm3,
    left_out: u32,
    write: bool,
) {
    let world = World::random(random);
    let count = slots(simd);
    let channels: Vec<usize> = (0..4).filter(|c| left_out >> c & 1 == 0).collect();
    let with_header =
        place == Place::Stateless || place != Place::StatelessBare && random.below(2) == 0;
    let pixels = with_header.then(|| random.bits() as u32 & 0xffff);
    let send = if simd == MdcSm3::SIMD16 { 16 } else { 8 };
    let mask = match random.below(3) {
        0 => random.bits() as u32 & ((1 << send) - 1),
        _ => (1 << send) - 1,
    };
    let bytes = 4 * (channels.last().map_or(0, |last| *last as u32) + 1);
    let places = offsets(random, place, count, bytes, write);
    let mut payload: Vec<Register> = Vec::new();
    if let Some(pixels) = pixels {
        payload.push(header(place, pixels));
    }
    let noise = vec![std::array::from_fn(|_| random.bits() as u32); registers(simd)];
    payload.extend(addresses(place, simd, &places, noise));
    let data = payload.len();
    let data_registers = if simd == MdcSm3::SIMD4X2 { 1 } else { registers(simd) * channels.len() };
    if write {
        payload.extend((0..data_registers).map(|_| std::array::from_fn(|_| random.bits() as u32)));
    }
    let sent = write.then(|| &payload[data..]);
    let (mut expected, mut outside) =
        moves(&world, (place, simd), &channels, &places, (mask, pixels), sent);
    let descriptor = Msd1Us {
        binding_table_index: u(index),
        channel_mask: MdcCmask::from_bits(left_out.into()),
        simd_mode: simd,
        message_type: if write { MtDp1::MT1W_US } else { MtDp1::MT1R_US },
        header_present: pixels.is_some(),
        response_length: u(if write { 0 } else { data_registers as u64 }),
        message_length: u(payload.len() as u64),
        ..Msd1Us::new()
    };
    if mask == 0 {
        (expected, outside) = (world.clone(), 0);
    }
    let message = Message {
        unit: Unit::Port1,
        channels: send,
        mask,
        descriptor: descriptor.pack()[0],
        payload,
    };
    probe.check(&message, &world, &expected, place == Place::Local);
    assert_eq!(probe.cut_off(), outside, "accesses that are cut off by {place:?}: {message:x?}");
}

#[test]
fn at_64_bit_addresses() {
    let mut random = Random::new(2);
    let mut probe = probe();
    for simd in [MdcSm3::SIMD4X2, MdcSm3::SIMD8, MdcSm3::SIMD16] {
        for left_out in 0..15u32 {
            for write in [false, true] {
                for _ in 0..6 {
                    long(&mut random, &mut probe, simd, left_out, write);
                }
            }
        }
    }
}

fn long(random: &mut Random, probe: &mut Probe, simd: MdcSm3, left_out: u32, write: bool) {
    let world = World::random(random);
    let count = slots(simd);
    let channels: Vec<usize> = (0..4).filter(|c| left_out >> c & 1 == 0).collect();
    let send = if simd == MdcSm3::SIMD16 { 16 } else { 8 };
    let mask = match random.below(3) {
        0 => random.bits() as u32 & ((1 << send) - 1) | 1,
        _ => (1 << send) - 1,
    };
    let start = random.below(128) * 4;
    let distance =
        if random.below(2) == 0 { 4 * channels.len() as u64 } else { 16 + random.below(80) * 4 };
    let places: Vec<u64> = (0..count as u64)
        .map(|n| {
            if write || random.below(8) != 0 {
                start + n * distance.max(4 * (1 + *channels.last().expect("a channel") as u64))
            } else {
                random.below(2000) * 4
            }
        })
        .map(|offset| if write { offset } else { offset.min(DATA_BYTES as u64 - 16) })
        .collect();
    let registers = registers(simd);
    // 64-bit addresses: four in a register, or one in each half (2d p.422, 432, 437). Bits 63:48
    // are ignored.
    let mut payload: Vec<Register> =
        vec![[0; 8]; if simd == MdcSm3::SIMD4X2 { 1 } else { 2 * registers }];
    for (n, offset) in places.iter().enumerate() {
        let address = (DATA + offset) | (random.below(1 << 16) << 48);
        let (register, column) = match simd {
            MdcSm3::SIMD4X2 => (0, 4 * n),
            _ => (n / 4, n % 4 * 2),
        };
        payload[register][column] = address as u32;
        payload[register][column + 1] = (address >> 32) as u32;
    }
    let data = payload.len();
    let data_registers = if simd == MdcSm3::SIMD4X2 { 1 } else { registers * channels.len() };
    if write {
        payload.extend((0..data_registers).map(|_| std::array::from_fn(|_| random.bits() as u32)));
    }
    let mut expected = world.clone();
    for n in (0..count).filter(|n| takes_part(simd, *n, mask, None)) {
        for (k, &c) in channels.iter().enumerate() {
            let (register, column) = match simd {
                MdcSm3::SIMD4X2 => (0, 4 * n + c),
                _ => (k * registers + n / 8, n % 8),
            };
            let byte = places[n] as usize + 4 * c;
            match write {
                true => set_dword(&mut expected.data, byte, payload[data + register][column]),
                false => expected.answer[register][column] = dword(&world.data, byte),
            }
        }
    }
    let descriptor = Msd1Us {
        binding_table_index: u(if random.below(2) == 0 { 255 } else { 253 }),
        channel_mask: MdcCmask::from_bits(left_out.into()),
        simd_mode: simd,
        message_type: if write { MtDp1::MT1W_A64_US } else { MtDp1::MT1R_A64_US },
        response_length: u(if write { 0 } else { data_registers as u64 }),
        message_length: u(payload.len() as u64),
        ..Msd1Us::new()
    };
    let message = Message {
        unit: Unit::Port1,
        channels: send,
        mask,
        descriptor: descriptor.pack()[0],
        payload,
    };
    probe.check(&message, &world, &expected, false);
}

/// Stateless messages end where General State ends, with a header and without (MH_A32_GO, 2d
/// p.462). A dword that is not completely inside reads 0 and is not written.
#[test]
fn general_state_ends() {
    const END: usize = 0x1000;
    let mut random = Random::new(3);
    let mut probe = probe().with_general_state((DATA + END as u64) / 4096);
    for (place, index, begin) in
        [(Place::Stateless, 255, DATA + 1024), (Place::StatelessBare, 253, 0)]
    {
        for write in [false, true] {
            let world = World::random(&mut random);
            let bytes = [0x400, END - 8, END - 4, END, END + 4, END + 0x800, 0x500, 0x1ffc];
            let mut payload: Vec<Register> = Vec::new();
            if place == Place::Stateless {
                payload.push(header(place, 0xffff));
            }
            payload.push(bytes.map(|byte| (DATA + byte as u64 - begin) as u32));
            let data: Register = std::array::from_fn(|_| random.bits() as u32);
            let mut expected = world.clone();
            for (n, &byte) in bytes.iter().enumerate() {
                match write {
                    true if byte < END => set_dword(&mut expected.data, byte, data[n]),
                    true => {}
                    false => {
                        expected.answer[0][n] =
                            if byte < END { dword(&world.data, byte) } else { 0 }
                    }
                }
            }
            payload.extend(write.then_some(data));
            let descriptor = Msd1Us {
                binding_table_index: u(index),
                channel_mask: MdcCmask::R,
                simd_mode: MdcSm3::SIMD8,
                message_type: if write { MtDp1::MT1W_US } else { MtDp1::MT1R_US },
                header_present: place == Place::Stateless,
                response_length: u(u64::from(!write)),
                message_length: u(payload.len() as u64),
                ..Msd1Us::new()
            };
            let [descriptor] = descriptor.pack();
            let message =
                Message { unit: Unit::Port1, channels: 8, mask: 0xff, descriptor, payload };
            probe.check(&message, &world, &expected, false);
        }
    }
}

/// Stateless messages start at General State Base Address. STATE_BASE_ADDRESS changes it only with
/// its modify enable (2a STATE_BASE_ADDRESS).
#[test]
fn general_state_base() {
    // Writes two owords to offset 32 of the stateless surface 255.
    const KERNEL: &[u32] = &eu! {
        (W) mov (8|M0)   r126.0<1>:ud  0:ud
        (W) mov (1|M0)   r126.2<1>:ud  2:ud
        (W) mov (8|M0)   r127.0<1>:ud  7:ud
        (W) send (8|M0)  null  r126  0xA  0x040a02ff
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    let base = |page: u64, modify| StateBaseAddress {
        general_state_base_address: at(DATA + 4096 * page),
        general_state_base_address_modify_enable: modify,
        ..StateBaseAddress::new()
    };
    for (last_modifies, page) in [(false, 1), (true, 2)] {
        let mut model = Model::new();
        model.map(DATA, 3 * 4096);
        let compute = Compute::new(KERNEL);
        let mut batch = compute.batch(&mut model);
        batch.truncate(batch.len() - compute.walker().pack().len());
        batch.extend(packets![base(1, true), base(2, last_modifies), compute.walker()]);
        model.render(&batch).unwrap();
        let mut expected = vec![0; 3 * 1024];
        expected[1024 * page + 8..][..8].fill(7);
        assert_eq!(model.get(DATA, 3 * 1024), expected, "{last_modifies}");
    }
}
