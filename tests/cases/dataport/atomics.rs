//! Untyped atomic operations, also at 64-bit addresses, and append counters.
//!
//! Oracle: 2d p.14-16 (what each operation does and returns), p.124-130 and p.306-317 (operands and
//! responses). The slots run in ascending order, which is the model's choice
//! (`assumptions::ATOMIC_SLOTS_GO_UPWARD`).

use crate::dataport::probe::{DATA, Message, Probe, Register, Unit, World, dword, null, set_dword};
use crate::dataport::untyped::{
    PLACES, Place, addresses, header, locate, offset, probe, registers, slots, takes_part,
};
use genxml::eu::gen8::descriptors::{MdcSm2r, MdcSm3};
use genxml::eu::gen8::eu_messages::{MdcAop, Msd1A64Ai, Msd1A64AiDataWidth, Msd1Tac, Msd1Uai};
use genxml::gen8::messages::MtDp1;
use genxml::gen8::state::{
    RenderSurfaceState, RenderSurfaceStateAuxiliary, RenderSurfaceStateAuxiliarySurfaceMode,
};
use genxml_cases::{Random, at, raw_buffer, u};

/// Operation numbers from this one on are operations on floats.
const FLOAT: u64 = 16;
const FLOATS: [u64; 3] = [FLOAT + 1, FLOAT + 2, FLOAT + 3];

/// The value that a float operation leaves in memory. Oracle: GL_INTEL_shader_atomic_float_minmax
/// for the order of NaNs and numbers; Mesa's and Intel's compilers for the operation numbers.
fn float(number: u64, old: u32, a: u32, b: u32) -> u32 {
    let value = |bits: u32| f64::from(f32::from_bits(bits));
    let key = |bits: u32, sign: f64| match value(bits) {
        x if !x.is_nan() => (1, sign * x),
        _ if bits & 0x0040_0000 == 0 => (0, 0.0),
        _ => (2, 0.0),
    };
    let takes = match number - FLOAT {
        1 => key(a, -1.0) < key(old, -1.0),
        2 => key(a, 1.0) < key(old, 1.0),
        3 => return if value(old) == value(a) { b } else { old },
        _ => unreachable!("there are three"),
    };
    if takes { a } else { old }
}

/// A random float: values near each other, and NaNs.
fn single(random: &mut Random) -> u64 {
    let few = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        f32::MIN_POSITIVE,
        -1e-42,
        1e-42,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    let bits = match random.below(8) {
        0 => 0x7fc0_0000,
        1 => 0xff80_0001,
        2 => random.bits() as u32,
        _ => few[random.below(few.len() as u64) as usize].to_bits(),
    };
    bits.into()
}

/// The value that an operation leaves in memory, and the value it returns, by operation number.
/// `bits` is 32 or 64.
fn operation(number: u64, bits: u32, old: u64, a: u64, b: u64) -> (u64, u64) {
    if number >= FLOAT {
        return (float(number, old as u32, a as u32, b as u32).into(), old);
    }
    let limit = 1i128 << bits;
    let signed = |value: u64| {
        let value = i128::from(value);
        if value >= limit / 2 { value - limit } else { value }
    };
    let wrapped = |value: i128| value.rem_euclid(limit) as u64;
    let (x, y) = (i128::from(old), i128::from(a));
    let new = match number {
        0 | 14 => {
            if old == a {
                b
            } else {
                old
            }
        }
        1 => old & a,
        2 => old | a,
        3 => old ^ a,
        4 => a,
        5 => wrapped(x + 1),
        6 | 15 => wrapped(x - 1),
        7 => wrapped(x + y),
        8 => wrapped(x - y),
        9 => wrapped(y - x),
        10 => [old, a].into_iter().max_by_key(|value| signed(*value)).expect("two"),
        11 => [old, a].into_iter().min_by_key(|value| signed(*value)).expect("two"),
        12 => u64::max(old, a),
        13 => u64::min(old, a),
        _ => unreachable!("four bits"),
    };
    (new, if number == 15 { new } else { old })
}

/// Number of operands of an operation.
fn operands(number: u64) -> usize {
    match number {
        5 | 6 | 15 => 0,
        0 | 14 | 19 => 2,
        _ => 1,
    }
}

/// A random operand: values near each other and near the limits of the type.
fn number(random: &mut Random, op: u64, bits: u32) -> u64 {
    if op >= FLOAT {
        return single(random);
    }
    let near = random.below(4);
    let value = match random.below(5) {
        0 => near,
        1 => near.wrapping_sub(2),
        2 => (1u64 << (bits - 1)).wrapping_add(near).wrapping_sub(2),
        _ => random.bits(),
    };
    if bits == 32 { value & 0xffff_ffff } else { value }
}

fn qword(bytes: &[u8], offset: usize) -> u64 {
    u64::from(dword(bytes, offset)) | u64::from(dword(bytes, offset + 4)) << 32
}

#[test]
fn on_surfaces_and_local_memory() {
    let mut random = Random::new(21);
    let mut probe = probe();
    for (place, index) in PLACES {
        for simd in [MdcSm3::SIMD4X2, MdcSm3::SIMD8, MdcSm3::SIMD16] {
            for number in (0..FLOAT).chain(FLOATS) {
                for returns in [false, true] {
                    for _ in 0..2 {
                        one(&mut random, &mut probe, place, index, simd, number, returns);
                    }
                }
            }
        }
    }
}

/// Reads a value of `bits` bits.
fn value(bytes: &[u8], offset: usize, bits: u32) -> u64 {
    if bits == 64 { qword(bytes, offset) } else { dword(bytes, offset).into() }
}

/// Replaces a value of `bits` bits.
fn set_value(bytes: &mut [u8], offset: usize, bits: u32, value: u64) {
    set_dword(bytes, offset, value as u32);
    if bits == 64 {
        set_dword(bytes, offset + 4, (value >> 32) as u32);
    }
}

/// Position of a value of `bits` bits, as [`locate`] returns it. `None` if any part of the value is
/// outside.
fn find(place: Place, bits: u32, (offset, inner): (u32, u32)) -> Option<(bool, usize)> {
    match place {
        Place::Structured if bits == 64 => {
            locate(place, offset, Some(inner + 4)).and_then(|_| locate(place, offset, Some(inner)))
        }
        Place::Structured => locate(place, offset, Some(inner)),
        _ if bits == 64 => {
            let last = offset.checked_add(4).and_then(|last| locate(place, last, None));
            last.and_then(|_| locate(place, offset, None))
        }
        _ => locate(place, offset, None),
    }
}

/// Offsets of slots, aligned to the size of the value. There are few, so that several slots use the
/// same one.
fn offsets(random: &mut Random, place: Place, count: usize, bits: u32) -> Vec<(u32, u32)> {
    let some: Vec<(u32, u32)> = (0..5).map(|_| offset(random, place, 16)).collect();
    let mut places: Vec<(u32, u32)> = (0..count).map(|_| some[random.below(5) as usize]).collect();
    for place_of_slot in &mut places {
        match place {
            Place::Structured => place_of_slot.1 &= !(bits / 8 - 1),
            _ => place_of_slot.0 &= !(bits / 8 - 1),
        }
    }
    places
}

/// Operands of each slot.
fn sources(random: &mut Random, op: u64, bits: u32, count: usize) -> Vec<Vec<u64>> {
    (0..operands(op)).map(|_| (0..count).map(|_| number(random, op, bits)).collect()).collect()
}

/// Puts the value that slot `n` returns into the response.
fn respond(answer: &mut [Register], simd: MdcSm3, n: usize, bits: u32, value: u64) {
    match simd {
        MdcSm3::SIMD4X2 => {
            answer[0][4 * n] = value as u32;
            if bits == 64 {
                answer[0][4 * n + 1] = (value >> 32) as u32;
            }
        }
        // High halves are in registers of their own (MDP_AOP8_QW1, MDP_AOP16_QW1).
        _ => {
            answer[n / 8][n % 8] = value as u32;
            if bits == 64 {
                answer[registers(simd) + n / 8][n % 8] = (value >> 32) as u32;
            }
        }
    }
}

/// Sends one message and checks its result.
fn one(
    random: &mut Random,
    probe: &mut Probe,
    place: Place,
    index: u64,
    simd: MdcSm3,
    op: u64,
    returns: bool,
) {
    let mut world = World::random(random);
    let count = slots(simd);
    // The two-dword compare-and-write works on 8 bytes, aligned to 8.
    let bits = if op == 0 { 64 } else { 32 };
    let with_header =
        place == Place::Stateless || place != Place::StatelessBare && random.below(2) == 0;
    let pixels = with_header.then(|| random.bits() as u32 & 0xffff | 1);
    let send = if simd == MdcSm3::SIMD16 { 16 } else { 8 };
    let mask = if random.below(2) == 0 {
        (1 << send) - 1
    } else {
        random.bits() as u32 & ((1 << send) - 1) | 1
    };
    let places = offsets(random, place, count, bits);
    // Memory holds values that may equal operands.
    let sources = sources(random, op, bits, count);
    for slot in &places {
        if let Some((local, byte)) = find(place, bits, *slot) {
            let value = match sources.first() {
                Some(first) if random.below(2) == 0 => first[random.below(count as u64) as usize],
                _ => number(random, op, bits),
            };
            let bytes = if local { &mut world.local } else { &mut world.data };
            set_value(bytes, byte, bits, value);
        }
    }
    let mut payload: Vec<Register> = Vec::new();
    if let Some(pixels) = pixels {
        payload.push(header(place, pixels));
    }
    payload.extend(addresses(place, simd, &places, vec![[0; 8]; registers(simd)]));
    payload.extend(data(simd, bits, &sources));

    let mut expected = world.clone();
    for n in (0..count).filter(|n| takes_part(simd, *n, mask, pixels)) {
        let mut back = 0;
        if let Some((local, byte)) = find(place, bits, places[n]) {
            let memory = if local { &mut expected.local } else { &mut expected.data };
            let source = |k: usize| sources.get(k).map_or(0, |values| values[n]);
            let old = value(memory, byte, bits);
            let new;
            (new, back) = operation(op, bits, old, source(0), source(1));
            set_value(memory, byte, bits, new);
        }
        if returns {
            respond(&mut expected.answer, simd, n, bits, back);
        }
    }
    let answer_registers = match simd {
        MdcSm3::SIMD4X2 => 1,
        _ => registers(simd) * bits as usize / 32,
    };
    let descriptor = Msd1Uai {
        binding_table_index: u(index),
        atomic_integer_operation_type: MdcAop::from_bits(op % FLOAT),
        simd_mode: if simd == MdcSm3::SIMD16 { MdcSm2r::SIMD16 } else { MdcSm2r::SIMD8 },
        return_data_control: returns,
        message_type: match (simd, op >= FLOAT) {
            (MdcSm3::SIMD4X2, false) => MtDp1::MT1A_UI4X2,
            (MdcSm3::SIMD4X2, true) => MtDp1::MT1A_UF4X2,
            (_, false) => MtDp1::MT1A_UI,
            (_, true) => MtDp1::MT1A_UF,
        },
        header_present: pixels.is_some(),
        response_length: u(if returns { answer_registers as u64 } else { 0 }),
        message_length: u(payload.len() as u64),
        ..Msd1Uai::new()
    };
    let message = Message {
        unit: Unit::Port1,
        channels: send,
        mask,
        descriptor: descriptor.pack()[0],
        payload,
    };
    probe.check(&message, &world, &expected, place == Place::Local);
}

/// Registers of operands: MDP_AOP4X2_DW2, MDP_AOP8_DW2, MDP_AOP16_DW2, and for 64 bits
/// MDP_AOP4X2_QW2, MDP_AOP8_QW2, MDP_AOP16_QW2.
fn data(simd: MdcSm3, bits: u32, sources: &[Vec<u64>]) -> Vec<Register> {
    let mut all = Vec::new();
    if simd == MdcSm3::SIMD4X2 {
        if sources.is_empty() {
            return all;
        }
        let mut register = [0; 8];
        for (k, source) in sources.iter().enumerate() {
            for (n, value) in source.iter().enumerate() {
                if bits == 64 {
                    register[4 * n + 2 * k] = *value as u32;
                    register[4 * n + 2 * k + 1] = (value >> 32) as u32;
                } else {
                    register[4 * n + k] = *value as u32;
                }
            }
        }
        return vec![register];
    }
    for source in sources {
        let low: Vec<u32> = source.iter().map(|value| *value as u32).collect();
        all.extend(low.chunks(8).map(|row| Register::try_from(row).expect("eight")));
        if bits == 64 {
            let high: Vec<u32> = source.iter().map(|value| (value >> 32) as u32).collect();
            all.extend(high.chunks(8).map(|row| Register::try_from(row).expect("eight")));
        }
    }
    all
}

#[test]
fn at_64_bit_addresses() {
    let mut random = Random::new(22);
    let mut probe = probe();
    for simd in [MdcSm3::SIMD4X2, MdcSm3::SIMD8] {
        for wide in [false, true] {
            for op in (0..FLOAT).chain(FLOATS) {
                if op >= FLOAT && wide || op == 0 && (wide || simd == MdcSm3::SIMD4X2) {
                    continue;
                }
                for returns in [false, true] {
                    for _ in 0..4 {
                        long(&mut random, &mut probe, simd, wide, op, returns);
                    }
                }
            }
        }
    }
}

fn long(random: &mut Random, probe: &mut Probe, simd: MdcSm3, wide: bool, op: u64, returns: bool) {
    let mut world = World::random(random);
    let count = slots(simd);
    let bits = if wide || op == 0 { 64 } else { 32 };
    let mask = if random.below(2) == 0 { 255 } else { random.bits() as u32 & 255 | 1 };
    let places: Vec<usize> = (0..count).map(|_| 8 * random.below(6) as usize + 1000).collect();
    let sources = sources(random, op, bits, count);
    for place in &places {
        let value = match sources.first() {
            Some(first) if random.below(2) == 0 => first[0],
            _ => number(random, op, bits),
        };
        set_value(&mut world.data, *place, bits, value);
    }
    let mut payload: Vec<Register> = vec![[0; 8]; if simd == MdcSm3::SIMD4X2 { 1 } else { 2 }];
    for (n, place) in places.iter().enumerate() {
        let address = DATA + *place as u64;
        let (register, column) =
            if simd == MdcSm3::SIMD4X2 { (0, 4 * n) } else { (n / 4, n % 4 * 2) };
        payload[register][column] = address as u32;
        payload[register][column + 1] = (address >> 32) as u32;
    }
    if wide {
        // Each operand is a whole qword: MDP_A64_AOP4X2_QW2, MDP_A64_AOP8_QW2.
        for source in &sources {
            let mut registers = vec![[0; 8]; if simd == MdcSm3::SIMD4X2 { 1 } else { 2 }];
            for (n, value) in source.iter().enumerate() {
                let (register, column) =
                    if simd == MdcSm3::SIMD4X2 { (0, 4 * n) } else { (n / 4, n % 4 * 2) };
                registers[register][column] = *value as u32;
                registers[register][column + 1] = (value >> 32) as u32;
            }
            payload.extend(registers);
        }
    } else {
        payload.extend(data(simd, bits, &sources));
    }
    let mut expected = world.clone();
    for n in (0..count).filter(|n| takes_part(simd, *n, mask, None)) {
        let byte = places[n];
        let old = value(&expected.data, byte, bits);
        let source = |k: usize| sources.get(k).map_or(0, |values| values[n]);
        let (new, back) = operation(op, bits, old, source(0), source(1));
        set_value(&mut expected.data, byte, bits, new);
        if returns {
            let (low, high) = match (simd, wide) {
                (MdcSm3::SIMD4X2, _) => ((0, 4 * n), (0, 4 * n + 1)),
                (_, true) => ((n / 4, n % 4 * 2), (n / 4, n % 4 * 2 + 1)),
                (_, false) => ((0, n), (1, n)),
            };
            expected.answer[low.0][low.1] = back as u32;
            if bits == 64 {
                expected.answer[high.0][high.1] = (back >> 32) as u32;
            }
        }
    }
    let answer_registers = if simd == MdcSm3::SIMD4X2 { 1 } else { bits as u64 / 32 };
    let descriptor = Msd1A64Ai {
        binding_table_index: u(255),
        atomic_integer_operation_type: MdcAop::from_bits(op % FLOAT),
        data_width: if wide { Msd1A64AiDataWidth::QWORD } else { Msd1A64AiDataWidth::DWORD },
        return_data_control: returns,
        message_type: match (simd, op >= FLOAT) {
            (MdcSm3::SIMD4X2, false) => MtDp1::MT1A_A64_UI4X2,
            (MdcSm3::SIMD4X2, true) => MtDp1::MT1A_A64_UF4X2,
            (_, false) => MtDp1::MT1A_A64_UI,
            (_, true) => MtDp1::MT1A_A64_UF,
        },
        response_length: u(if returns { answer_registers } else { 0 }),
        message_length: u(payload.len() as u64),
        ..Msd1A64Ai::new()
    };
    let message =
        Message { unit: Unit::Port1, channels: 8, mask, descriptor: descriptor.pack()[0], payload };
    probe.check(&message, &world, &expected, false);
}

/// A RAW buffer with an append counter.
fn counted(counter: u64) -> RenderSurfaceState {
    let auxiliary = match RenderSurfaceState::new().auxiliary {
        RenderSurfaceStateAuxiliary::Surface {
            auxiliary_surface_qpitch,
            auxiliary_surface_pitch,
            ..
        } => RenderSurfaceStateAuxiliary::Surface {
            auxiliary_surface_qpitch,
            auxiliary_surface_pitch,
            auxiliary_surface_mode: RenderSurfaceStateAuxiliarySurfaceMode::AUX_APPEND,
            auxiliary_surface_base_address: at(counter),
        },
        other => other,
    };
    RenderSurfaceState { auxiliary, ..raw_buffer(DATA, 64) }
}

/// Oracle: 2d p.334 (the auxiliary surface is an append buffer). All slots work on its first dword.
#[test]
fn append_counters() {
    let mut random = Random::new(23);
    let mut probe = Probe::new(vec![counted(DATA + 4096), null()], vec![]);
    for simd in [MdcSm3::SIMD4X2, MdcSm3::SIMD8] {
        for op in 1..16 {
            if op == 14 {
                continue;
            }
            for returns in [false, true] {
                let mut world = World::random(&mut random);
                let first = number(&mut random, op, 32) as u32;
                set_dword(&mut world.data, 4096, first);
                let count = slots(simd);
                let (mask, pixels) = (random.bits() as u32 & 255 | 1, random.bits() as u32 & 255);
                let sources = sources(&mut random, op, 32, count);
                let mut payload = vec![header(Place::Null, pixels)];
                payload.extend(data(simd, 32, &sources));
                let mut expected = world.clone();
                for n in (0..count).filter(|n| takes_part(simd, *n, mask, Some(pixels))) {
                    let old = dword(&expected.data, 4096);
                    let source = sources.first().map_or(0, |values| values[n]);
                    let (new, back) = operation(op, 32, old.into(), source, 0);
                    set_dword(&mut expected.data, 4096, new as u32);
                    if returns {
                        let column = if simd == MdcSm3::SIMD4X2 { 4 * n } else { n };
                        expected.answer[0][column] = back as u32;
                    }
                }
                let descriptor = Msd1Tac {
                    binding_table_index: u(0),
                    atomic_integer_operation_type: MdcAop::from_bits(op),
                    simd_mode: MdcSm2r::SIMD8,
                    return_data_control: returns,
                    message_type: if simd == MdcSm3::SIMD4X2 {
                        MtDp1::MT1A_TC4X2
                    } else {
                        MtDp1::MT1A_TC
                    },
                    header_present: true,
                    response_length: u(returns.into()),
                    message_length: u(payload.len() as u64),
                    ..Msd1Tac::new()
                };
                let descriptor = descriptor.pack()[0];
                let message = Message { unit: Unit::Port1, channels: 8, mask, descriptor, payload };
                probe.check(&message, &world, &expected, false);
            }
        }
    }
}
