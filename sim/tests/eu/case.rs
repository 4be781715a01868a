//! Random instructions of given types in a random thread.

use DataType::{Df, F, Hf, Uv, Uw, V, Vf, W};
use genxml_eu::instruction::{
    AccessMode, Arf, Condition, DataType, Destination, Flag, Immediate, Instruction,
    MacroAccumulator, Operand, Predicate, PredicateControl, Region, Register, Source, Vertical,
};
use genxml_eu::ops::{Modifiers, Opcode, Traits};
use genxml_eu::signature::Combination;
use genxml_testkit::Random;

/// A source of random operands.
pub trait Values {
    /// A value of a type: special values, small values, values with similar exponents, or any bits.
    fn value(&mut self, ty: DataType) -> u64;
}

impl Values for Random {
    fn value(&mut self, ty: DataType) -> u64 {
        let bits = self.bits();
        let float = |fraction: u32, exponent: u32, random: &mut Random| {
            let infinity = ((1u64 << exponent) - 1) << fraction;
            let sign = (bits & 1) << (fraction + exponent);
            let one = ((1u64 << (exponent - 1)) - 1) << fraction;
            let least = 1u64 << fraction;
            let any = random.bits() & ((1 << (fraction + exponent)) - 1);
            let near = one + ((random.bits() % 16) << fraction) - (8 << fraction) + any % least;
            sign | match random.below(12) {
                0 => random.pick(&[
                    0,
                    1,
                    least - 1,
                    least,
                    infinity,
                    infinity - 1,
                    infinity + least / 2,
                    one,
                ]),
                1 => any % least,
                2 => infinity - least + any % least,
                3 => random.pick(&[
                    one + least,
                    one - least,
                    one + least / 2,
                    one + least + least / 4,
                ]),
                4 | 5 => any,
                _ => near,
            }
        };
        match ty {
            Hf => float(10, 5, self),
            F => float(23, 8, self),
            Df => float(52, 11, self),
            _ => {
                let size = 8 * u32::from(ty.size());
                let top = 1u64 << (size - 1);
                let value = match self.below(6) {
                    0 => self.pick(&[0, 1, 2, u64::MAX, top, top - 1, top + 1]),
                    1 => bits % 64,
                    2 => (bits % 64).wrapping_neg(),
                    3 => bits >> self.below(64),
                    _ => bits,
                };
                if size == 64 { value } else { value & ((1 << size) - 1) }
            }
        }
    }
}

/// First register of each source.
pub const SOURCES: [u8; 3] = [10, 30, 50];
pub const DESTINATION: u8 = 80;
/// Number of registers that a source may reach, from its first one on.
const REACH: usize = 18;

/// A thread and its instruction.
#[derive(Clone, Debug)]
pub struct Case {
    pub instruction: Instruction,
    pub registers: Vec<u8>,
    pub flags: u64,
    pub addresses: [u16; 16],
    pub dispatch: u32,
    pub control: u32,
    /// Contents of the accumulators, as elements of the execution type: complete integers, or
    /// patterns of floats.
    pub accumulators: [u64; 32],
}

/// Random registers: sources with interesting values of their types, a destination of random bytes.
fn register_file(types: &[DataType], random: &mut Random) -> Vec<u8> {
    let mut registers = vec![0; 4096];
    for (index, ty) in types.iter().enumerate() {
        let size = usize::from(ty.size());
        let first = 32 * usize::from(SOURCES[index]);
        for element in registers[first..first + 32 * REACH].chunks_exact_mut(size) {
            element.copy_from_slice(&random.value(*ty).to_le_bytes()[..size]);
        }
    }
    for byte in &mut registers[32 * usize::from(DESTINATION)..] {
        *byte = random.bits() as u8;
    }
    registers
}

/// A random instruction with operands of these types, and the state it starts from.
pub fn random(combination: &Combination, random: &mut Random) -> Case {
    let types: Vec<DataType> = combination.sources.iter().flatten().copied().collect();
    let destination = combination.destination.expect("a destination");
    let op = combination.opcode.op();
    let registers = register_file(&types, random);
    let widest = types.iter().chain([&destination]).map(|ty| ty.size()).max().unwrap_or(4);
    let sizes: Vec<u8> = op
        .exec_sizes()
        .iter()
        .filter(|size| {
            usize::from(*size) * usize::from(widest) <= 64 && (*size < 32 || widest <= 2)
        })
        .filter(|size| *size >= smallest(combination.opcode) && *size <= greatest(combination))
        .collect();
    let size = random.pick(&sizes);
    let mut i = Instruction::new(combination.opcode, size);
    i.math = combination.math;
    let float = types.iter().all(|ty| ty.is_float());
    let three = types.len() == 3;
    let plane = matches!(combination.opcode, Opcode::Line | Opcode::Pln);
    let align16 = three
        || !plane
            && widest == types.iter().map(|ty| ty.size()).min().unwrap_or(0)
            && widest == destination.size()
            && widest >= 4
            && size >= 4
            && !matches!(combination.opcode, Opcode::Movi | Opcode::Math)
            && random.one_in(5);
    if align16 {
        i.access_mode = AccessMode::Align16;
    }
    i.channel_offset = match size {
        32 => 0,
        16 => random.pick(&[0, 16]),
        8 => random.pick(&[0, 8, 16, 24]),
        _ => 4 * random.below(8) as u8,
    };
    i.no_mask = random.one_in(3);
    i.flag = Flag { register: random.below(2) as u8, subregister: random.below(2) as u8 };
    if size == 32 {
        i.flag.subregister = 0;
    }
    modifiers(&mut i, float, random);
    for (index, ty) in types.iter().enumerate() {
        let last = index + 1 == types.len();
        i.sources[index] = source(&i, index, *ty, last, &types, random);
    }
    i.destination = Some(place(&i, destination, random));
    if three {
        i.destination = Some(Destination {
            write_mask: random.below(16) as u8,
            ..Destination::new(Register::grf(DESTINATION), destination)
        });
    }
    if combination.opcode == Opcode::Madm {
        i.destination = Some(Destination {
            macro_accumulator: Some(MacroAccumulator::NONE),
            ..Destination::new(Register::grf(DESTINATION), destination)
        });
    }
    let traits = op.traits;
    let moves =
        matches!(combination.opcode, Opcode::Cmp | Opcode::Cmpn | Opcode::Movi | Opcode::Madm);
    if traits.contains(Traits::WRITES_ACCUMULATOR) {
        i.acc_write = true;
    } else if !traits.contains(Traits::NO_ACCUMULATOR_DESTINATION)
        && i.math.is_none()
        && !moves
        && !destination_byte(&i)
    {
        i.acc_write = random.one_in(4);
    }
    accumulator_operands(&mut i, &types, random);
    let mut addresses = [0; 16];
    for address in &mut addresses {
        let low = (random.bits() % 256) as u16;
        let step = if combination.opcode == Opcode::Movi { 1 } else { 16 };
        *address = 32 * u16::from(SOURCES[0]) + low / step * step;
    }
    Case {
        instruction: i,
        registers,
        flags: random.bits(),
        addresses,
        dispatch: random.bits() as u32 | 1 << random.below(32),
        control: control(&types, destination, combination, random),
        accumulators: std::array::from_fn(|_| match float {
            true => random.value(execution(&types, destination)),
            false => random.bits() >> random.below(64),
        }),
    }
}

/// The execution type of an instruction (eu.md 3.1, G45 vol 4 section 11.3.9): the widest type of
/// its sources. Bytes count as words, unsigned integers as signed ones, and halves with a single
/// destination as singles.
pub fn execution(types: &[DataType], destination: DataType) -> DataType {
    let any = |wanted: &[DataType]| types.iter().any(|ty| wanted.contains(&ty.element()));
    match () {
        () if any(&[Df]) => Df,
        () if any(&[F]) || any(&[Hf]) && destination == F => F,
        () if any(&[Hf]) => Hf,
        () if any(&[DataType::Q, DataType::Uq]) => DataType::Q,
        () if any(&[DataType::D, DataType::Ud]) => DataType::D,
        () => W,
    }
}

fn destination_byte(i: &Instruction) -> bool {
    i.destination.is_some_and(|destination| destination.ty.size() == 1)
}

/// Minimum number of channels. Some operations combine pairs of channels.
fn smallest(opcode: Opcode) -> u8 {
    if matches!(opcode, Opcode::Sad2 | Opcode::Sada2) { 2 } else { 1 }
}

/// Maximum number of channels: eight for integer division, for `movi`, which has eight address
/// registers, and for `mach`, `addc` and `subb`, whose elements must fit one accumulator.
fn greatest(combination: &Combination) -> u8 {
    use genxml_eu::instruction::MathFunction::{IntQuotient, IntQuotientRemainder, IntRemainder};
    let divides =
        matches!(combination.math, Some(IntQuotient | IntQuotientRemainder | IntRemainder));
    let one =
        matches!(combination.opcode, Opcode::Mach | Opcode::Addc | Opcode::Subb | Opcode::Movi);
    if divides || one { 8 } else { 32 }
}

/// A random value for `cr0.0`: any rounding mode and subnormal bits, and sometimes ALT mode if all
/// operands are singles and the operation is not a division.
fn control(
    types: &[DataType],
    destination: DataType,
    combination: &Combination,
    random: &mut Random,
) -> u32 {
    if random.one_in(4) {
        return 0;
    }
    let bits = random.bits() as u32 & (3 << 4 | 1 << 6 | 1 << 7 | 1 << 10);
    let single = types.iter().chain([&destination]).all(|ty| *ty == F);
    let divides = combination.math == Some(genxml_eu::instruction::MathFunction::Divide);
    bits | u32::from(single && !divides && random.one_in(3))
}

fn modifiers(i: &mut Instruction, float: bool, random: &mut Random) {
    let op = i.opcode.op();
    let takes = |modifier| op.modifiers.contains(modifier);
    let conditions = [
        Condition::Equal,
        Condition::NotEqual,
        Condition::Greater,
        Condition::GreaterEqual,
        Condition::Less,
        Condition::LessEqual,
    ];
    i.saturate = takes(Modifiers::SATURATE) && random.one_in(3);
    let predicated = takes(Modifiers::PREDICATE) && random.one_in(2);
    i.condition = match i.opcode {
        Opcode::Cmpn => Some(random.pick(&[Condition::Less, Condition::GreaterEqual])),
        Opcode::Cmp | Opcode::Csel => Some(random.pick(&conditions)),
        Opcode::Sel if predicated => None,
        Opcode::Sel => Some(random.pick(&[Condition::Less, Condition::GreaterEqual])),
        Opcode::Not | Opcode::And | Opcode::Or | Opcode::Xor if random.one_in(2) => {
            Some(random.pick(&[Condition::Equal, Condition::NotEqual]))
        }
        Opcode::Not | Opcode::And | Opcode::Or | Opcode::Xor => None,
        _ if !takes(Modifiers::CONDITION) || i.math.is_some() || random.one_in(2) => None,
        Opcode::Lrp => Some(random.pick(&conditions)),
        _ if random.one_in(4) => {
            Some(if float && random.one_in(2) { Condition::Unordered } else { Condition::Overflow })
        }
        _ => Some(random.pick(&conditions)),
    };
    if predicated {
        let control = if i.access_mode == AccessMode::Align16 {
            match random.below(7) {
                0 => PredicateControl::Any(4),
                1 => PredicateControl::All(4),
                n @ 2..6 => PredicateControl::Replicate(n as u8 - 2),
                _ => PredicateControl::Sequential,
            }
        } else {
            match random.below(8) {
                0 => PredicateControl::AnyV,
                1 => PredicateControl::AllV,
                2 => PredicateControl::Any(random.pick(&[2, 4, 8, 16, 32])),
                3 => PredicateControl::All(random.pick(&[2, 4, 8, 16, 32])),
                _ => PredicateControl::Sequential,
            }
        };
        i.predicate = Some(Predicate { control, inverse: random.one_in(2) });
    }
}

fn source(
    i: &Instruction,
    index: usize,
    ty: DataType,
    last: bool,
    types: &[DataType],
    random: &mut Random,
) -> Operand {
    let bytes = ty.size();
    let register = |byte: u8| Register::Grf { number: SOURCES[index], byte };
    let mut source = Source::new(register(0), ty, Region::packed(i.exec_size));
    let op = i.opcode.op();
    let divides = !types.iter().all(|ty| ty.is_float()) && i.math.is_some();
    if op.modifiers.contains(Modifiers::SOURCE) && !divides {
        source.negate = random.one_in(3);
        source.absolute = random.one_in(4) && !op.traits.contains(Traits::LOGIC);
    }
    if set_special_region(i, index, ty, types, &mut source, random) {
        return Operand::Register(source);
    }
    if i.access_mode == AccessMode::Align16 {
        source.region = Region {
            vertical: Vertical::Stride(if bytes == 8 { 2 } else { 4 }),
            width: 4,
            horizontal: 1,
        };
        if random.one_in(4) {
            source.region.vertical = Vertical::Stride(0);
        }
        source.swizzle = swizzle(ty, random);
        source.register = register(16 * random.below(2) as u8);
        if index == 0 && random.one_in(4) {
            source.register =
                Register::Indirect { address: 0, offset: 16 * random.below(4) as i16 };
        }
        return Operand::Register(source);
    }
    let single = types.len() == 1;
    let two_wide = matches!(i.opcode, Opcode::Sad2 | Opcode::Sada2);
    if last && !two_wide && bytes > 1 && (bytes < 8 || single) && random.one_in(5) {
        let bits = random.value(ty);
        return Operand::Immediate(match ty {
            W if random.one_in(3) => Immediate { ty: V, bits: (bits * 0x1_0001) & 0xffff_ffff },
            Uw if random.one_in(3) => Immediate { ty: Uv, bits: (bits * 0x1_0001) & 0xffff_ffff },
            F if random.one_in(3) => Immediate { ty: Vf, bits },
            _ => Immediate { ty, bits },
        });
    }
    let dots = matches!(i.opcode, Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph);
    if i.math.is_some() || dots {
        // The region is packed and starts at the register's first byte. For math it may also be a
        // scalar.
        if i.math.is_some() && random.one_in(4) {
            source.region = Region::SCALAR;
        }
        return Operand::Register(source);
    }
    let vertical = random.pick(&[0u8, 1, 2, 4, 8, 16]);
    let width = 1 << random.below(1 + u64::from(i.exec_size.min(16).ilog2()));
    let horizontal = random.pick(&[0u8, 1, 1, 2, 4]);
    if random.one_in(2)
        && reach(i.exec_size, vertical, width, horizontal) * usize::from(bytes) < 32 * (REACH - 2)
    {
        source.region = Region::new(vertical, width, horizontal);
    }
    if random.one_in(6) {
        source.region = Region::SCALAR;
    }
    source.register = register(bytes * random.index(usize::from(32 / bytes)) as u8);
    if index == 0 && i.exec_size <= 8 && random.one_in(8) {
        let offset = i16::from(bytes) * random.below(16) as i16;
        source.register = Register::Indirect { address: random.below(8) as u8, offset };
        source.region = Region::new(0, width.min(i.exec_size), 1);
        if random.one_in(2) {
            source.region.vertical = Vertical::Addresses;
        }
    }
    Operand::Register(source)
}

/// Sets the region of a source if the operation restricts it. Returns false if any region is legal.
fn set_special_region(
    i: &Instruction,
    index: usize,
    ty: DataType,
    types: &[DataType],
    source: &mut Source,
    random: &mut Random,
) -> bool {
    let bytes = ty.size();
    let register = |byte: u8| Register::Grf { number: SOURCES[index], byte };
    if i.opcode == Opcode::Madm {
        source.region = Region::new(4, 4, 1);
        source.macro_accumulator = Some(MacroAccumulator::NONE);
        return true;
    }
    if types.len() == 3 {
        source.region = Region::new(4, 4, 1);
        source.swizzle = swizzle(ty, random);
        source.replicate = bytes < 8 && random.one_in(3);
        if source.replicate {
            source.region = Region::SCALAR;
            source.swizzle = Source::IDENTITY;
        }
        let steps = if bytes == 8 || !source.replicate { 2 } else { 8 };
        source.register = register(32 / steps * random.index(usize::from(steps)) as u8);
        return true;
    }
    match i.opcode {
        Opcode::Movi => {
            source.register =
                Register::Indirect { address: 0, offset: 16 * random.below(4) as i16 };
            source.region = Region::SCALAR;
            return true;
        }
        Opcode::Line | Opcode::Pln if index == 0 => {
            source.region = Region::SCALAR;
            source.register = register(16 * random.below(2) as u8);
            return true;
        }
        Opcode::Pln => return true,
        _ => {}
    }
    false
}

/// Number of elements from the first to the last element of a region, with the gaps.
fn reach(channels: u8, vertical: u8, width: u8, horizontal: u8) -> usize {
    let rows = usize::from(channels.div_ceil(width));
    (rows - 1) * usize::from(vertical) + usize::from(width - 1) * usize::from(horizontal) + 1
}

fn swizzle(ty: DataType, random: &mut Random) -> [u8; 4] {
    if random.one_in(2) {
        return Source::IDENTITY;
    }
    if ty.size() == 8 {
        return random.pick(&[[0, 1, 0, 1], [2, 3, 2, 3], [2, 3, 0, 1]]);
    }
    std::array::from_fn(|_| random.below(4) as u8)
}

fn place(i: &Instruction, ty: DataType, random: &mut Random) -> Destination {
    let mut destination = Destination::new(Register::grf(DESTINATION), ty);
    let bytes = ty.size();
    if i.access_mode == AccessMode::Align16 {
        destination.write_mask = random.below(16) as u8;
        destination.register =
            Register::Grf { number: DESTINATION, byte: 16 * random.below(2) as u8 };
        return destination;
    }
    let null = i.math.is_none() && i.opcode != Opcode::Movi && random.one_in(8);
    if null {
        return Destination::new(Register::NULL, ty);
    }
    match i.opcode {
        Opcode::Movi => {
            destination.register =
                Register::Grf { number: DESTINATION, byte: 16 * random.below(2) as u8 };
        }
        Opcode::Math | Opcode::Sad2 | Opcode::Sada2 => {}
        _ => {
            destination.stride = random.pick(&[1, 1, 2, 4]);
            let byte = bytes * random.index(usize::from(32 / bytes)) as u8;
            destination.register = Register::Grf { number: DESTINATION, byte };
            if random.one_in(10) {
                let offset = 8 * random.below(100) as i16 - 400;
                destination.register = Register::Indirect { address: 15, offset };
            }
        }
    }
    destination
}

/// Makes source 0 or the destination the accumulator in some instructions, if its elements then
/// have the execution type.
fn accumulator_operands(i: &mut Instruction, types: &[DataType], random: &mut Random) {
    let traits = i.opcode.op().traits;
    let Some(destination) = &mut i.destination else { return };
    let size = types[0].size();
    let alike = types.iter().all(|ty| ty.size() == size && ty.is_float() == types[0].is_float())
        && destination.ty.size() == size
        && destination.ty.is_float() == types[0].is_float();
    let bytes = usize::from(i.exec_size) * usize::from(size);
    let fits = bytes <= if types[0] == F { 64 } else { 32 };
    let simple = types.len() < 3 && i.access_mode == AccessMode::Align1 && i.math.is_none();
    let implicit =
        traits.contains(Traits::READS_ACCUMULATOR) || traits.contains(Traits::WRITES_ACCUMULATOR);
    let other = matches!(i.opcode, Opcode::Line | Opcode::Pln | Opcode::Movi | Opcode::Sad2);
    if !alike || !fits || !simple || implicit || other || size == 1 || i.acc_write {
        return;
    }
    let register = Register::Arf { file: Arf::Accumulator, number: 0, byte: 0 };
    if !traits.contains(Traits::NO_ACCUMULATOR_SOURCE)
        && random.one_in(6)
        && let Operand::Register(source) = &mut i.sources[0]
    {
        *source = Source {
            negate: source.negate,
            absolute: source.absolute,
            ..Source::new(register, source.ty, Region::packed(i.exec_size))
        };
        return;
    }
    let compares = matches!(i.opcode, Opcode::Cmp | Opcode::Cmpn);
    if !traits.contains(Traits::NO_ACCUMULATOR_DESTINATION) && !compares && random.one_in(6) {
        *destination = Destination::new(register, destination.ty);
    }
}
