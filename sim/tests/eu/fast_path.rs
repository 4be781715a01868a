//! Compares every body of the fast path with the general path. Oracle: the general path, which the
//! other tests check against Rust's own arithmetic. Both run the same random instructions, from any
//! region, under any mask and mode.

use crate::eu::support::{decode, end, run_from};
use genxml_eu::instruction::{
    Condition, DataType, Destination, Flag, Immediate, Instruction, MathFunction, Operand,
    Predicate, PredicateControl, Region, Register, Source, Vertical,
};
use genxml_eu::ops::Opcode;
use genxml_sim::eu::fast::Operation;
use genxml_sim::eu::fast::rule::Class;
use genxml_sim::eu::ops::all_fast;
use genxml_sim::eu::ops::family::Fast;
use genxml_sim::eu::regions::{A0, FLAGS};
use genxml_sim::eu::{Launch, Thread};
use genxml_testkit::Random;
use std::collections::BTreeMap;

const INTS: [DataType; 6] =
    [DataType::Ub, DataType::B, DataType::Uw, DataType::W, DataType::Ud, DataType::D];

/// For the bodies with integers of 64 bits.
const LONGS: [DataType; 8] = [
    DataType::Q,
    DataType::Q,
    DataType::Uq,
    DataType::Uw,
    DataType::W,
    DataType::Ud,
    DataType::D,
    DataType::B,
];

const CONDITIONS: [Condition; 8] = [
    Condition::Equal,
    Condition::NotEqual,
    Condition::Greater,
    Condition::GreaterEqual,
    Condition::Less,
    Condition::LessEqual,
    Condition::Overflow,
    Condition::Unordered,
];

const FUNCTIONS: [MathFunction; 7] = [
    MathFunction::Inverse,
    MathFunction::Log,
    MathFunction::Exp,
    MathFunction::SquareRoot,
    MathFunction::InverseSquareRoot,
    MathFunction::Sin,
    MathFunction::Cos,
];

const FUNCTIONS_OF_TWO: [MathFunction; 2] = [MathFunction::Divide, MathFunction::Power];

/// Patterns that arithmetic treats differently as integers of some size or as floats.
pub const SPECIAL: [u32; 30] = [
    0,
    0x8000_0000,
    1,
    u32::MAX,
    0x7fff_ffff,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc1_2345,
    0x7f80_0001,
    0x4f00_0000,
    0x4f80_0000,
    0xcf00_0000,
    0x3f00_0000,
    0x4020_0000,
    0x0000_ffff,
    0x8000_7fff,
    0x00ff_80ff,
    0x80ff_ffff,
    0x3380_0000,
    0x7f7f_ffff,
    0xcf00_0001,
    0x1f80_0000,
    0x2080_0001,
];

/// Mask of the bits of an immediate of this type.
fn immediate_bits(ty: DataType) -> u64 {
    match ty {
        DataType::V | DataType::Uv => u32::MAX.into(),
        ty => u64::MAX >> (64 - 8 * ty.size()),
    }
}

fn source(random: &mut Random, ty: DataType, size: u8, last: bool, modifiers: bool) -> Operand {
    if last && random.one_in(4) {
        let ty = match ty {
            DataType::Ub => DataType::Uw,
            DataType::B => DataType::W,
            ty => ty,
        };
        let ty = match ty {
            DataType::W if random.one_in(4) => DataType::V,
            DataType::Uw if random.one_in(4) => DataType::Uv,
            DataType::F if random.one_in(4) => DataType::Vf,
            ty => ty,
        };
        let bits = if random.one_in(2) { u64::from(random.pick(&SPECIAL)) } else { random.bits() };
        return Operand::Immediate(Immediate { ty, bits: bits & immediate_bits(ty) });
    }
    let region = match random.below(8) {
        0 | 1 => Region::new(0, 1, 0),
        2 | 3 => Region::packed(size),
        4 => Region::new(2, 1, 0),
        5 => Region::new(4, 1, 0),
        _ => {
            let width = 1u8 << random.index(size.trailing_zeros() as usize + 1).min(4);
            Region::new(random.pick(&[0, 1, 2, 4, 8, 16]), width, random.pick(&[0, 1, 2, 4]))
        }
    };
    let mut region = region;
    let register = if random.one_in(6) {
        if random.one_in(2) {
            region.vertical = Vertical::Addresses;
        }
        Register::Indirect {
            address: random.below(16) as u8,
            offset: random.below(1024) as i16 - 512,
        }
    } else {
        let byte = random.index(32 / usize::from(ty.size())) as u8 * ty.size();
        Register::Grf { number: 16 + random.below(24) as u8, byte }
    };
    let mut source = Source::new(register, ty, region);
    source.negate = modifiers && random.one_in(4);
    source.absolute = modifiers && random.one_in(6);
    Operand::Register(source)
}

/// Operands of `line` and `pln`: coefficients and coordinates, sometimes in registers that only the
/// general path supports.
fn plane(random: &mut Random, opcode: Opcode, size: u8, modifiers: bool) -> [Operand; 3] {
    let mut operand = |number: u8, byte: u8, region: Region| {
        let mut source = Source::new(Register::Grf { number, byte }, DataType::F, region);
        source.negate = modifiers && random.one_in(4);
        source.absolute = modifiers && random.one_in(6);
        Operand::Register(source)
    };
    let packed = Region::packed(if opcode == Opcode::Pln { size.min(8) } else { size });
    let coefficients = operand(16, 0, Region::new(0, 1, 0));
    let coordinates = operand(40, 0, packed);
    let mut moved = |source: Operand, most: usize, bytes: &[u8]| match source {
        Operand::Register(source) => {
            let number =
                if random.one_in(16) { 120 + random.index(8) } else { 16 + random.index(most) };
            let register = Register::Grf { number: number as u8, byte: random.pick(bytes) };
            Operand::Register(Source { register, ..source })
        }
        other => other,
    };
    [moved(coefficients, 24, &[0, 16]), moved(coordinates, 80, &[0]), Operand::None]
}

/// An instruction of the operation that `row` belongs to, with operands of its class.
fn instruction(random: &mut Random, row: &Fast) -> Instruction {
    use Opcode::{Cmp, Line, Math, Mov, Pln, Sel};
    let opcode = row.opcode;
    let size = 1u8 << random.below(6);
    let float = matches!(row.class, Class::Float | Class::FloatToInt | Class::CompareFloats);
    let count = match opcode {
        Math => 1 + random.index(2),
        _ => usize::from(opcode.op().sources),
    };
    // Half of the time all operands are of one type, as in most kernels.
    let ints: &[DataType] = if row.class == Class::Long { &LONGS } else { &INTS };
    let common = random.pick(ints);
    let alike = random.one_in(2);
    let int = |random: &mut Random| if alike { common } else { random.pick(ints) };
    let converts = matches!(opcode, Mov | Cmp) && row.class != Class::Long;
    let ty = match (float, converts && random.one_in(3)) {
        (true, false) | (false, true) => DataType::F,
        _ => int(random),
    };
    let mut sources = [Operand::None; 3];
    let modifiers = random.one_in(3);
    for (n, slot) in sources.iter_mut().enumerate().take(count) {
        let ty = if float { DataType::F } else { int(random) };
        *slot = source(random, ty, size, n + 1 == count && count < 3, modifiers);
    }
    if matches!(opcode, Line | Pln) {
        sources = plane(random, opcode, size, modifiers);
    }
    let register = match random.below(8) {
        0 => Register::NULL,
        1 => Register::Indirect {
            address: random.below(16) as u8,
            offset: random.below(1024) as i16 - 512,
        },
        _ => {
            let byte = random.index(32 / usize::from(ty.size())) as u8 * ty.size();
            Register::Grf { number: 16 + random.below(24) as u8, byte }
        }
    };
    let mut destination = Destination::new(register, ty);
    destination.stride = random.pick(&[1, 1, 1, 2, 4]);
    let control = match random.below(8) {
        0 => PredicateControl::AnyV,
        1 => PredicateControl::Any(random.pick(&[2, 4, 8, 16])),
        2 => PredicateControl::All(random.pick(&[2, 4, 8, 16])),
        _ => PredicateControl::Sequential,
    };
    let choice = opcode == Sel;
    let predicated = if choice { random.one_in(2) } else { random.one_in(4) };
    let compared = if choice { !predicated } else { opcode == Cmp || random.one_in(4) };
    let functions: &[MathFunction] = if count == 1 { &FUNCTIONS } else { &FUNCTIONS_OF_TWO };
    Instruction {
        destination: Some(destination),
        math: (opcode == Math).then(|| random.pick(functions)),
        sources,
        condition: compared.then(|| random.pick(&CONDITIONS)),
        predicate: predicated.then(|| Predicate { control, inverse: random.one_in(2) }),
        saturate: opcode != Cmp && random.one_in(4),
        no_mask: random.one_in(8),
        channel_offset: if size <= 8 { 8 * random.below(4) as u8 } else { 0 },
        flag: Flag { register: random.below(2) as u8, subregister: random.below(2) as u8 },
        ..Instruction::new(opcode, size)
    }
}

fn fill(random: &mut Random, thread: &mut Thread) {
    let floats = random.one_in(2);
    for dword in thread.regs.grf_mut().chunks_exact_mut(4) {
        let bits = match random.below(4) {
            0 => random.pick(&SPECIAL),
            1 if floats => (random.below(2000) as f32 / 16.0 - 60.0).to_bits(),
            _ => random.bits() as u32,
        };
        dword.copy_from_slice(&bits.to_le_bytes());
    }
    for n in 0..16 {
        // Most addresses are in the middle of the general registers. With some others, regions
        // extend past their end.
        let address =
            if random.one_in(4) { random.bits() as u16 } else { 1024 + random.below(1024) as u16 };
        thread.regs.set_u16(A0 + 2 * n, if random.one_in(8) { address } else { address & !3 });
    }
    let flags = random.bits();
    thread.regs.set_u64(FLAGS, flags);
}

#[test]
fn agree_with_the_general_path() {
    let mut random = Random::new(1);
    let mut hits: BTreeMap<(Operation, u8), u32> = BTreeMap::new();
    let mut forms: BTreeMap<String, u32> = BTreeMap::new();
    let rounds = 60_000;
    let rows: Vec<_> = all_fast().collect();
    for _ in 0..rounds {
        let (_, row) = random.pick(&rows);
        let instruction = instruction(&mut random, row);
        let body = [instruction, end()];
        let plan = decode(&body).uops[0].plan;
        if plan.operation != Operation::NONE {
            *hits.entry((plan.operation, plan.size)).or_default() += 1;
            *forms.entry(format!("to {:?}", plan.dst.form)).or_default() += 1;
            *forms.entry(format!("from {:?}", plan.src[0].place.form)).or_default() += 1;
            *forms.entry(format!("clamp {:?}", plan.clamp)).or_default() += 1;
        }
        let control = match random.below(8) {
            0 => 1 << 7,
            1 => 1,
            2 => random.below(4) as u32 * 16,
            _ => 0,
        };
        let mask = if random.one_in(2) { u32::MAX } else { random.bits() as u32 };
        let launch =
            Launch { dispatch_mask: mask, vector_mask: mask, control, ..Launch::default() };
        let mut thread = Thread::new(&launch);
        fill(&mut random, &mut thread);
        // `run_from` compares the paths.
        let _ = run_from(&body, &thread);
    }
    let taken: u32 = hits.values().sum();
    println!("{taken} of {rounds} random instructions took the fast path");
    let mut missed = Vec::new();
    for (operation, row) in all_fast() {
        let counts: Vec<u32> =
            (0..6).map(|size| hits.get(&(operation, size)).copied().unwrap_or(0)).collect();
        println!("{}: {counts:?} for 1, 2, 4, 8, 16, 32 channels", row.name);
        // `line` and `pln` need at least four channels.
        let least = if matches!(row.opcode, Opcode::Line | Opcode::Pln) { 2 } else { 0 };
        if counts[least..].contains(&0) {
            missed.push(row.name);
        }
    }
    println!("{forms:?}");
    assert!(missed.is_empty(), "bodies that no instruction reached: {missed:?}");
    for element in ["Dword", "Word", "SignedWord", "Byte", "SignedByte"] {
        for spacing in ["", "s", "sBy2", "sBy4", "sAt"] {
            assert!(
                forms.contains_key(&format!("from {element}{spacing}")),
                "no source {element}{spacing}"
            );
        }
        for spacing in ["s", "sBy2"] {
            assert!(
                forms.contains_key(&format!("to {element}{spacing}")),
                "no destination {element}{spacing}"
            );
        }
    }
    for form in
        ["to Nothing", "to Other", "to WordsBy4", "to BytesBy4", "clamp Signed", "clamp Unsigned"]
    {
        assert!(forms.contains_key(form), "no {form}");
    }
}
