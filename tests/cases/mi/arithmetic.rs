//! MI_MATH and MI_ATOMIC.

use crate::mi::*;
use genxml_cases::{Random, packets};

/// Random programs over the sixteen registers, compared with the ALU that gen8_facts 2.5 describes.
#[test]
fn math() {
    use {MiMathAluOpcode as Op, MiMathOperand as R};
    let mut random = Random::new(7);
    for engine in EngineId::ALL {
        for _ in 0..50 {
            let mut model = model();
            let mut registers = [0u64; 16];
            let mut batch = Vec::new();
            for (index, value) in registers.iter_mut().enumerate() {
                *value = match random.below(4) {
                    0 => random.below(3),
                    1 => u64::MAX - random.below(2),
                    _ => random.bits(),
                };
                let halves = wide(engine, index as u32, *value);
                batch.extend(packets![load(&halves)]);
            }
            let (mut a, mut b, mut result, mut zero, mut carry) = (0u64, 0u64, 0u64, false, false);
            let mut program = Vec::new();
            for _ in 0..60 {
                let index = random.below(16) as usize;
                let register = R::from_bits(index as u64);
                let first = random.below(2) == 0;
                let side = if first { R::SRCA } else { R::SRCB };
                let mut set = |value| if first { a = value } else { b = value };
                let (opcode, one, two) = match random.below(10) {
                    0 | 1 => {
                        set(registers[index]);
                        (Op::LOAD, side, register)
                    }
                    2 => {
                        set(!registers[index]);
                        (Op::LOADINV, side, register)
                    }
                    3 => {
                        set(0);
                        (Op::LOAD0, side, register)
                    }
                    4 => {
                        set(u64::MAX);
                        (Op::LOAD1, side, register)
                    }
                    5 | 6 => {
                        let op =
                            [Op::ADD, Op::SUB, Op::AND, Op::OR, Op::XOR][random.below(5) as usize];
                        let wide = match op {
                            Op::ADD => u128::from(a) + u128::from(b),
                            Op::SUB => u128::from(a).wrapping_sub(u128::from(b)),
                            Op::AND => u128::from(a & b),
                            Op::OR => u128::from(a | b),
                            _ => u128::from(a ^ b),
                        };
                        result = wide as u64;
                        zero = result == 0;
                        carry = wide >> 64 != 0;
                        (op, register, register)
                    }
                    choice => {
                        let (from, value) = [
                            (R::ACCU, result),
                            (R::ZF, if zero { u64::MAX } else { 0 }),
                            (R::CF, if carry { u64::MAX } else { 0 }),
                        ][random.below(3) as usize];
                        let inverted = choice == 9;
                        registers[index] = if inverted { !value } else { value };
                        (if inverted { Op::STOREINV } else { Op::STORE }, register, from)
                    }
                };
                program.push(MiMathAluInstruction {
                    alu_opcode: opcode,
                    operand_1: one,
                    operand_2: two,
                });
            }
            batch.extend(packets![MiMath { instruction: (&program[..]).into() }]);
            for index in 0..16 {
                batch.extend(packets![
                    save(gpr(engine, index), 2 * u64::from(index)),
                    save(gpr(engine, index) + 4, 2 * u64::from(index) + 1)
                ]);
            }
            model.submit(engine, &batch).unwrap();
            let expected: Vec<u32> =
                registers.iter().flat_map(|value| [*value as u32, (*value >> 32) as u32]).collect();
            assert_eq!(model.get(DATA, 32), expected, "{engine} {program:?}");
        }
    }
}

/// Operation `number` on memory (gen8_facts 2.3, the data port's operation numbers), with `bits`
/// bits. Returns the new memory value and the returned value.
fn atomic(number: u64, bits: u32, memory: u64, one: u64, two: u64) -> (u64, u64) {
    let mask = u64::MAX >> (64 - bits);
    let signed = |value: u64| (value << (64 - bits)) as i64 >> (64 - bits);
    let (memory, one, two) = (memory & mask, one & mask, two & mask);
    let new = match number {
        1 => memory & one,
        2 => memory | one,
        3 => memory ^ one,
        4 => one,
        5 => memory.wrapping_add(1),
        6 => memory.wrapping_sub(1),
        7 => memory.wrapping_add(one),
        8 => memory.wrapping_sub(one),
        9 => one.wrapping_sub(memory),
        10 => {
            if signed(one) > signed(memory) {
                one
            } else {
                memory
            }
        }
        11 => {
            if signed(one) < signed(memory) {
                one
            } else {
                memory
            }
        }
        12 => memory.max(one),
        13 => memory.min(one),
        14 => {
            if memory == one {
                two
            } else {
                memory
            }
        }
        15 => memory.wrapping_sub(1),
        _ => unreachable!(),
    } & mask;
    // PREDEC returns the new value, all others return the old one.
    (new, if number == 15 { new } else { memory })
}

/// What a test of an atomic varies.
#[derive(Clone, Copy, Debug)]
struct Variant {
    /// Number of the operation.
    number: u64,
    /// True for qwords, false for dwords.
    wide_data: bool,
    /// True if the operands are in the packet, false if they are in registers.
    inline: bool,
    /// True if the old value is returned in registers.
    returns: bool,
}

impl Variant {
    /// The packet with its operands, two dwords of each.
    fn packet(self, operands: &[MiAtomicOperand]) -> MiAtomic<'_> {
        MiAtomic {
            data_size: if self.wide_data {
                MiAtomicDataSize::QWORD
            } else {
                MiAtomicDataSize::DWORD
            },
            inline_data: self.inline,
            return_data_control: self.returns,
            atomic_opcode: MiAtomicAtomicOpcode::from_bits(
                self.number + if self.wide_data { 0x20 } else { 0 },
            ),
            memory_address: at(DATA),
            operand: if self.inline { operands.into() } else { operands[..0].into() },
            ..MiAtomic::new()
        }
    }

    /// Runs the operation on random values and checks memory and the registers of the result.
    fn check(self, random: &mut Random, model: &mut Model, engine: EngineId) {
        let Variant { number, wide_data, inline, returns } = self;
        let bits = if wide_data { 64 } else { 32 };
        let pick = |random: &mut Random| match random.below(3) {
            0 => random.below(2),
            1 => u64::MAX << random.below(64),
            _ => random.bits(),
        };
        let (memory, one, two) = (pick(random), pick(random), pick(random));
        let one = if random.below(3) == 0 { memory } else { one };
        let (new, result) = atomic(number, bits, memory, one, two);
        model.put(DATA, &[memory as u32, (memory >> 32) as u32, 0x77, 0x88]);
        let operands: Vec<_> = (0..4)
            .map(|index| {
                let half =
                    |value: u64| u(if index < 2 { value >> (32 * index) & 0xffff_ffff } else { 0 });
                MiAtomicOperand { operand1_data_dword: half(one), operand2_data_dword: half(two) }
            })
            .collect();
        let start = [wide(engine, 0, one), wide(engine, 2, two), wide(engine, 4, 0x55)];
        let batch = packets![
            load(&start[0]),
            load(&start[1]),
            load(&start[2]),
            self.packet(&operands),
            save(gpr(engine, 4), 2),
            save(gpr(engine, 4) + 4, 3)
        ];
        model.submit(engine, &batch).unwrap();
        let after = if wide_data { new } else { memory >> 32 << 32 | new };
        let returned = if returns { result } else { 0x55 };
        let expected =
            [after as u32, (after >> 32) as u32, returned as u32, (returned >> 32) as u32];
        assert_eq!(
            model.get(DATA, 4),
            expected,
            "{engine} {number} {bits} inline {inline}: {memory:#x} {one:#x} {two:#x}"
        );
    }
}

/// Every operation in both sizes, with operands in the packet and in registers, with and without a
/// return value.
#[test]
fn atomics() {
    let mut random = Random::new(3);
    for engine in EngineId::ALL {
        let mut model = model();
        for number in 1..16u64 {
            for wide_data in [false, true] {
                for inline in [false, true] {
                    for returns in [false, true] {
                        let variant = Variant { number, wide_data, inline, returns };
                        variant.check(&mut random, &mut model, engine);
                    }
                }
            }
        }
    }
}

/// Sizes and operations that do not fit together, operations that do not exist for 16 bytes, and
/// data that is not aligned to its size.
#[test]
fn atomics_that_are_refused() {
    for engine in EngineId::ALL {
        let mut model = model();
        let bad = |size, opcode| MiAtomic {
            data_size: size,
            atomic_opcode: MiAtomicAtomicOpcode::from_bits(opcode),
            memory_address: at(DATA),
            ..MiAtomic::new()
        };
        for packet in [
            bad(MiAtomicDataSize::DWORD, 0x25),
            bad(MiAtomicDataSize::QWORD, 5),
            bad(MiAtomicDataSize::DWORD, 0),
        ] {
            assert!(model.submit(engine, &packets![packet]).is_err());
        }
        let fault =
            model.submit(engine, &packets![bad(MiAtomicDataSize::OCTWORD, 0x45)]).unwrap_err();
        assert!(fault.to_string().contains("16 bytes"), "{fault}");
        // Data must be aligned to its size.
        for (size, opcode, address) in [
            (MiAtomicDataSize::QWORD, 0x25, DATA + 4),
            (MiAtomicDataSize::OCTWORD, 0x4e, DATA + 8),
            (MiAtomicDataSize::from_bits(3), 0x4e, DATA),
        ] {
            let packet = MiAtomic { memory_address: at(address), ..bad(size, opcode) };
            assert!(model.submit(engine, &packets![packet]).is_err());
        }
    }
}

/// Compare-and-write of 16 bytes, checked with 128-bit numbers: equal values, and values that
/// differ in any dword. Operands are in the packet or in registers; the first of two registers has
/// the low half.
#[test]
fn compare_and_write_of_16_bytes() {
    let mut random = Random::new(4);
    for engine in EngineId::ALL {
        let mut model = model();
        for round in 0..64u32 {
            let wide_number =
                |random: &mut Random| u128::from(random.bits()) << 64 | u128::from(random.bits());
            let (one, two) = (wide_number(&mut random), wide_number(&mut random));
            let memory = if round % 5 < 4 { one ^ 1 << (32 * (round % 5) + 7) } else { one };
            let (inline, returns) = (round % 2 == 0, round / 2 % 2 == 0);
            let dwords =
                |value: u128| -> [u32; 4] { std::array::from_fn(|n| (value >> (32 * n)) as u32) };
            model.put(DATA, &[&dwords(memory)[..], &[0x77; 5]].concat());
            let pairs: Vec<_> = dwords(one)
                .into_iter()
                .zip(dwords(two))
                .map(|(one, two)| MiAtomicOperand {
                    operand1_data_dword: u(one.into()),
                    operand2_data_dword: u(two.into()),
                })
                .collect();
            let packet = MiAtomic {
                data_size: MiAtomicDataSize::OCTWORD,
                atomic_opcode: MiAtomicAtomicOpcode::from_bits(0x4e),
                inline_data: inline,
                return_data_control: returns,
                memory_address: at(DATA),
                operand: if inline { (&pairs[..]).into() } else { (&pairs[..0]).into() },
                ..MiAtomic::new()
            };
            let mut batch = Vec::new();
            let registers = [
                (0, one as u64),
                (1, (one >> 64) as u64),
                (2, two as u64),
                (3, (two >> 64) as u64),
                (4, 0x55),
                (5, 0x66),
            ];
            for (index, value) in registers {
                // Operands in the packet differ from those in the registers.
                let value = if inline && index < 4 { !value } else { value };
                batch.extend(packets![load(&wide(engine, index, value))]);
            }
            batch.extend(packets![packet]);
            for (index, dword) in [(4, 4), (5, 6)] {
                batch.extend(packets![
                    save(gpr(engine, index), dword),
                    save(gpr(engine, index) + 4, dword + 1)
                ]);
            }
            model.submit(engine, &batch).unwrap();
            let after = if memory == one { two } else { memory };
            let returned = if returns { memory } else { 0x66 << 64 | 0x55 };
            let expected = [&dwords(after)[..], &dwords(returned), &[0x77]].concat();
            assert_eq!(model.get(DATA, 9), expected, "{engine} {round}");
        }
    }
}

/// The size determines the number of inline dwords of both operands. A packet with fewer dwords is
/// refused.
#[test]
fn length_of_inline_data() {
    let pairs: Vec<_> = (0..4)
        .map(|n| MiAtomicOperand { operand1_data_dword: u(5 + n), operand2_data_dword: u(0) })
        .collect();
    for engine in EngineId::ALL {
        let mut model = model();
        for (size, opcode, needed) in [
            (MiAtomicDataSize::DWORD, 0x07, 1),
            (MiAtomicDataSize::QWORD, 0x27, 2),
            (MiAtomicDataSize::OCTWORD, 0x4e, 4),
        ] {
            for count in 0..=4 {
                let packet = MiAtomic {
                    data_size: size,
                    atomic_opcode: MiAtomicAtomicOpcode::from_bits(opcode),
                    inline_data: true,
                    memory_address: at(DATA),
                    operand: (&pairs[..count]).into(),
                    ..MiAtomic::new()
                };
                model.put(DATA, &[1, 2]);
                let result = model.submit(engine, &packets![packet]);
                assert_eq!(result.is_ok(), count >= needed, "{engine} {size:?} {count}");
                let sum = match (count >= needed, needed) {
                    (true, 1) => [6, 2],
                    (true, 2) => [6, 8],
                    _ => [1, 2],
                };
                assert_eq!(model.get(DATA, 2), sum, "{engine} {size:?} {count}");
            }
        }
    }
}
