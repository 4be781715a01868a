//! Each operation alone, at its limits.

use super::expressions::Compare;
use super::*;
use genxml::batch::Buffer;
use genxml::engine::{Blitter, Engine, Render, VideoEnhance};
use genxml::mi::{Atomic, Gprs, Operand, PostSync, Until, Value};

/// Operands for operations with two operands: every pair is tested once. Other operations are
/// tested with random operands in `expressions.rs`.
const NUMBERS: [u64; 8] =
    [0, 1, 3, 0xffff_ffff, 0x1_0000_0000, 0x0123_4567_89ab_cdef, 1 << 63, u64::MAX - 240_057];

/// Runs `operation` on each pair of [`NUMBERS`], one batch per first number. A result is not
/// checked if `expected` returns `None`.
fn pairs(
    operation: impl Fn(Mem<Qword>, Mem<Qword>) -> Value,
    expected: impl Fn(u64, u64) -> Option<u64>,
) {
    for (i, a) in NUMBERS.into_iter().enumerate() {
        let mut run = Run::new::<Render>(&NUMBERS, |mi| {
            (0..8).try_for_each(|j| mi.store(output(j), operation(input(i as u64), input(j))))
        })
        .unwrap();
        for (j, b) in NUMBERS.into_iter().enumerate() {
            if let Some(expected) = expected(a, b) {
                assert_eq!(run.output(j as u64), expected, "{a:#x} and {b:#x}");
            }
        }
    }
}

#[test]
fn multiplication_and_division_by_values() {
    pairs(|a, b| a * b, |a, b| Some(a.wrapping_mul(b)));
    pairs(|a, b| a.low() * b, |a, b| Some((a & 0xffff_ffff).wrapping_mul(b)));
    pairs(|a, b| a / b, |a, b| a.checked_div(b));
    pairs(|a, b| a % b, |a, b| a.checked_rem(b));
    pairs(|a, b| a.low() / b.low(), |a, b| (a & 0xffff_ffff).checked_div(b & 0xffff_ffff));
}

#[test]
fn shifts_by_values() {
    let mut inputs = vec![0x8123_4567_89ab_cdef, 0x7edc_ba98_7654_3210];
    let amounts = [0, 1, 2, 7, 31, 32, 33, 47, 63, 64, 65, 1 << 40];
    inputs.extend(amounts);
    for x in 0..2 {
        let mut run = Run::new::<Render>(&inputs, |mi| {
            for index in 0..amounts.len() as u64 {
                let (value, by) = (input(x), input(2 + index));
                mi.store(output(3 * index), value << by)?;
                mi.store(output(3 * index + 1), value >> by)?;
                mi.store(output(3 * index + 2), value.shift_right_signed(by))?;
            }
            Ok(())
        })
        .unwrap();
        for (index, by) in amounts.into_iter().enumerate() {
            let (value, by) = (inputs[x as usize], u32::try_from(by).unwrap_or(64));
            let index = 3 * index as u64;
            assert_eq!(run.output(index), value.checked_shl(by).unwrap_or(0), "<< {by}");
            assert_eq!(run.output(index + 1), value.checked_shr(by).unwrap_or(0), ">> {by}");
            assert_eq!(
                run.output(index + 2),
                (value as i64 >> by.min(63)) as u64,
                "signed >> {by}"
            );
        }
    }
}

/// All shift amounts, of a 64-bit and of a 32-bit value.
#[test]
fn shifts_by_constants() {
    let inputs = [0x8123_4567_89ab_cdef];
    let mut run = Run::new::<Render>(&inputs, |mi| {
        for by in 0..=64 {
            mi.store(output(by), input(0) >> by)?;
            mi.store(output(65 + by), input(0) << by)?;
            mi.store(output(130 + by), input(0).shift_right_signed(by))?;
            mi.store(output(195 + by), input(0).high() >> by)?;
            mi.store(output(260 + by), input(0).high() << by)?;
        }
        Ok(())
    })
    .unwrap();
    for by in 0..=64u32 {
        let (x, high, index) = (inputs[0], inputs[0] >> 32, u64::from(by));
        assert_eq!(run.output(index), x.checked_shr(by).unwrap_or(0), ">> {by}");
        assert_eq!(run.output(65 + index), x.checked_shl(by).unwrap_or(0), "<< {by}");
        assert_eq!(run.output(130 + index), (x as i64 >> by.min(63)) as u64, "signed >> {by}");
        assert_eq!(run.output(195 + index), high.checked_shr(by).unwrap_or(0), "high >> {by}");
        assert_eq!(run.output(260 + index), high.checked_shl(by).unwrap_or(0), "high << {by}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn arithmetic_with_constants(
        constants in proptest::collection::vec(number(), 8),
        values in proptest::collection::vec(number(), 8),
    ) {
        let mut run = Run::new::<Render>(&values, |mi| {
            for (index, constant) in constants.iter().enumerate() {
                let (i, x) = (index as u64, input(index as u64));
                mi.store(output(i), x * *constant)?;
                let divisor = (*constant).max(1);
                let (quotient, remainder) = x.divide(divisor);
                mi.store(output(8 + i), &quotient)?;
                mi.store(output(16 + i), remainder)?;
                // Divide a 32-bit value by a 32-bit divisor.
                let divisor = (constant & 0xffff_ffff).max(1);
                let (quotient, remainder) = x.low().divide(divisor);
                mi.store(output(24 + i), quotient)?;
                mi.store(output(32 + i), &remainder)?;
                // The builder folds these from the known range of the result, which must be right.
                mi.store(output(40 + i), &remainder >> 32)?;
                mi.store(output(48 + i), (x.low() * (constant & 0xffff)) & 0xffff_ffff_ffff)?;
            }
            Ok(())
        })
        .unwrap();
        for (index, (constant, x)) in constants.into_iter().zip(values).enumerate() {
            let index = index as u64;
            prop_assert_eq!(run.output(index), x.wrapping_mul(constant));
            prop_assert_eq!(run.output(8 + index), x / constant.max(1));
            prop_assert_eq!(run.output(16 + index), x % constant.max(1));
            let (low, divisor) = (x & 0xffff_ffff, (constant & 0xffff_ffff).max(1));
            prop_assert_eq!(run.output(24 + index), low / divisor);
            prop_assert_eq!(run.output(32 + index), low % divisor);
            prop_assert_eq!(run.output(40 + index), 0);
            prop_assert_eq!(run.output(48 + index), low * (constant & 0xffff));
        }
    }
}

/// Errors of reciprocals show at the greatest 32-bit number and at the greatest multiples of the
/// divisor.
#[test]
fn division_by_all_small_constants() {
    for divisors in (1..=768u64).collect::<Vec<_>>().chunks(128) {
        let mut run = Run::new::<Render>(&[0xffff_ffff, 0xffff_fffe], |mi| {
            for (index, divisor) in divisors.iter().enumerate() {
                let index = 2 * index as u64;
                mi.store(output(index), input(0).low() / *divisor)?;
                mi.store(
                    output(index + 1),
                    (input(1).low() - (0xffff_fffe % *divisor)).low() / *divisor,
                )?;
            }
            Ok(())
        })
        .unwrap();
        for (index, divisor) in divisors.iter().enumerate() {
            assert_eq!(run.output(2 * index as u64), 0xffff_ffff / divisor, "by {divisor}");
            assert_eq!(run.output(2 * index as u64 + 1), 0xffff_fffe / divisor, "by {divisor}");
        }
    }
}

/// Every combination of widths through memory, registers and variables. All other bytes keep their
/// value.
#[test]
fn copies() {
    const VALUE: u64 = 0x0123_4567_89ab_cdef;
    const LOW: u64 = VALUE & 0xffff_ffff;
    const CANARY_HIGH: u64 = CANARY & !0xffff_ffff;
    let mut run = Run::new::<Render>(&[VALUE], |mi| {
        let wide = mi.register::<genxml::gen8::engine_registers::MiPredicateData>()?;
        let narrow = wide.low_half();
        mi.store(output(0), VALUE)?;
        mi.store(output32(2), VALUE as u32)?;
        mi.store(output(2), input(0))?;
        mi.store(output32(6), input(0).low())?;
        mi.store(output32(8), input32(0))?;
        mi.store(output(5), input32(0))?;
        let mut index = 6;
        let mut check = |mi: &mut Mi<'_, Render>| {
            index += 1;
            mi.store(output(index - 1), wide)?;
            mi.store(wide, CANARY)
        };
        mi.store(wide, VALUE)?;
        check(mi)?;
        mi.store(narrow, VALUE as u32)?;
        check(mi)?;
        mi.store(wide, input(0))?;
        check(mi)?;
        mi.store(narrow, input(0).low())?;
        check(mi)?;
        mi.store(narrow, input32(0))?;
        check(mi)?;
        mi.store(wide, input32(0))?;
        check(mi)?;
        mi.store(narrow, input32(1))?;
        mi.store(wide, narrow)?;
        check(mi)?;
        let variable = mi.variable(input(0))?;
        mi.store(&variable, &variable >> 32)?;
        mi.store(narrow, variable.low())?;
        check(mi)?;
        mi.store(&variable, (variable.low() << 32) | 5)?;
        mi.store(output(20), &variable)?;
        mi.store(output(21), input(0))?;
        mi.store(output(21), (output(21) << 32) | output(21).high())?;
        mi.store(mem64(at(OUTPUT + 8 * 23 + 4)), !input(0))
    })
    .unwrap();
    let expected = [
        VALUE,
        CANARY_HIGH | LOW,
        VALUE,
        CANARY_HIGH | LOW,
        CANARY_HIGH | LOW,
        LOW,
        VALUE,
        CANARY_HIGH | LOW,
        VALUE,
        CANARY_HIGH | LOW,
        CANARY_HIGH | LOW,
        LOW,
        VALUE >> 32,
        CANARY_HIGH | VALUE >> 32,
        CANARY,
    ];
    for (index, expected) in expected.into_iter().enumerate() {
        assert_eq!(run.output(index as u64), expected, "store {index}");
    }
    assert_eq!(run.output(20), (VALUE >> 32) << 32 | 5);
    assert_eq!(run.output(21), VALUE.rotate_left(32));
    assert_eq!(run.get(OUTPUT + 8 * 23 + 4), !VALUE);
    assert_eq!(run.output(23), CANARY & 0xffff_ffff | !VALUE << 32);
}

#[test]
fn copies_and_fills_of_memory() {
    let inputs: Vec<u64> = (0..64).map(|index| 0x0101_0101_0101_0101 * index).collect();
    let mut run = Run::new::<Blitter>(&inputs, |mi| {
        mi.copy(at(OUTPUT), at(INPUT), 64)?;
        // Copies that overlap, in both directions.
        mi.copy(at(INPUT + 12), at(INPUT), 100)?;
        mi.copy(at(OUTPUT + 512), at(OUTPUT), 64)?;
        mi.copy(at(OUTPUT + 512), at(OUTPUT + 532), 59)?;
        mi.fill(at(OUTPUT + 1024), 0xdead_beef, 131)
    })
    .unwrap();
    let bytes: Vec<u8> = inputs.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut read = |address: u64, length: usize| {
        let words = (0..length as u64 / 4).map(|index| run.get(address + 4 * index) as u32);
        words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
    };
    assert_eq!(read(OUTPUT, 256), bytes[..256]);
    assert_eq!(read(INPUT + 12, 400), bytes[..400]);
    assert_eq!(read(OUTPUT + 512, 236), bytes[20..256]);
    assert_eq!(read(OUTPUT + 512 + 236, 20), bytes[236..256]);
    assert_eq!(read(OUTPUT + 1024, 131 * 4), 0xdead_beefu32.to_le_bytes().repeat(131));
    assert_eq!(read(OUTPUT + 1024 + 131 * 4, 4), [0xcc; 4]);
}

#[test]
fn predicated_stores_and_jumps() {
    for compare in Compare::ALL {
        for (a, b) in [(0, 0), (3, 5), (5, 3), (u64::MAX, 1), (1, u64::MAX), (1 << 63, 1 << 32)] {
            let mut run = Run::new::<Render>(&[a, b], |mi| {
                let condition = compare.build(input(0), input(1));
                mi.store_if(&condition, output(0), input(0) + 7)?;
                mi.store_if(&!&condition, output32(2), 9)?;
                mi.if_true(&condition, |mi| {
                    mi.store(output(2), 1)?;
                    // A block inside a block.
                    mi.if_true(&input(0).is_nonzero(), |mi| mi.store(output(3), 2))
                })?;
                mi.store(output(4), 3)?;
                // The blocks above have changed the predicate.
                mi.set_predicate(&condition)?;
                mi.store_predicated(output(5), 4)
            })
            .unwrap();
            let held = compare.eval(a, b);
            let or = |condition: bool, value: u64| if condition { value } else { CANARY };
            assert_eq!(run.output(0), or(held, a.wrapping_add(7)), "{compare:?} {a:#x} {b:#x}");
            assert_eq!(
                run.get(OUTPUT + 8) as u32,
                or(!held, 9) as u32,
                "{compare:?} {a:#x} {b:#x}"
            );
            assert_eq!(run.output(2), or(held, 1));
            assert_eq!(run.output(3), or(held && a != 0, 2));
            assert_eq!(run.output(4), 3);
            assert_eq!(run.output(5), or(held, 4));
        }
    }
}

/// Greatest common divisor and the number of steps, computed by the command streamer.
#[test]
fn loops() {
    for (a, b) in [(1071, 462), (462, 1071), (7, 7), (1 << 40, 3 << 20)] {
        let mut run = Run::new::<Render>(&[a, b], |mi| {
            let (a, b, steps) = (mi.variable(input(0))?, mi.variable(input(1))?, mi.variable(0)?);
            mi.repeat_while(|mi| {
                let (less, more) = (mi.keep(a.minimum(&b))?, mi.keep(a.maximum(&b))?);
                mi.store(&b, more - &less)?;
                mi.store(&a, less)?;
                mi.store(&steps, &steps + 1)?;
                Ok(b.is_nonzero())
            })?;
            mi.store(output(0), &a)?;
            mi.store(output(1), &steps)
        })
        .unwrap();
        let (mut x, mut y, mut steps) = (a, b, 0);
        while y != 0 || steps == 0 {
            (x, y, steps) = (x.min(y), x.max(y) - x.min(y), steps + 1);
        }
        assert_eq!((run.output(0), run.output(1)), (x, steps), "{a} and {b}");
    }
}

#[test]
fn semaphores_and_ends() {
    for (memory, until, passes) in [
        (5, Until::Equal(5), true),
        (5, Until::Equal(6), false),
        (5, Until::NotEqual(5), false),
        (5, Until::NotEqual(6), true),
        (5, Until::GreaterThan(4), true),
        (5, Until::GreaterThan(5), false),
        (5, Until::AtLeast(5), true),
        (5, Until::AtLeast(6), false),
        (5, Until::LessThan(6), true),
        (5, Until::LessThan(5), false),
        (5, Until::AtMost(5), true),
        (5, Until::AtMost(4), false),
        (0x8000_0000, Until::AtMost(4), false),
    ] {
        match Run::new::<VideoEnhance>(&[memory], |mi| mi.wait(input32(0), until)) {
            Ok(_) => assert!(passes, "{memory} {until:?}"),
            Err(Fault::Deadlock { .. }) => assert!(!passes, "{memory} {until:?}"),
            Err(fault) => panic!("{memory} {until:?}: {fault}"),
        }
    }
    for (memory, ends) in [(4, true), (5, true), (6, false), (0x8000_0000, false)] {
        let mut run = Run::new::<Render>(&[memory], |mi| {
            mi.end_unless_greater(input32(0), 5)?;
            mi.store(output(0), 1)
        })
        .unwrap();
        assert_eq!(run.output(0) == CANARY, ends, "{memory:#x}");
    }
    let mut run = Run::new::<Blitter>(&[], |mi| {
        mi.write_after_work(output(0), PostSync::Immediate(NUMBERS[5]))?;
        mi.write_after_work(output(1), PostSync::Timestamp)?;
        mi.signal(genxml::engine::EngineId::Render, 1)
    })
    .unwrap();
    assert_eq!(run.output(0), NUMBERS[5]);
    assert_ne!(run.output(1), CANARY);
}

/// An atomic operation gives the same memory as the operation in Rust.
#[test]
fn atomics() {
    /// The new memory value, from the old value, the operand and 64 minus the operation's number of
    /// bits.
    type Meaning = fn(u64, u64, u32) -> u64;
    let operations: [(Atomic, Meaning); 11] = [
        (Atomic::And, |m, x, _| m & x),
        (Atomic::Or, |m, x, _| m | x),
        (Atomic::Xor, |m, x, _| m ^ x),
        (Atomic::Exchange, |_, x, _| x),
        (Atomic::Add, |m, x, _| m.wrapping_add(x)),
        (Atomic::Subtract, |m, x, _| m.wrapping_sub(x)),
        (Atomic::ReverseSubtract, |m, x, _| x.wrapping_sub(m)),
        (
            Atomic::SignedMaximum,
            |m, x, shift| if (m << shift) as i64 > (x << shift) as i64 { m } else { x },
        ),
        (
            Atomic::SignedMinimum,
            |m, x, shift| if (m << shift) as i64 > (x << shift) as i64 { x } else { m },
        ),
        (Atomic::Maximum, |m, x, _| m.max(x)),
        (Atomic::Minimum, |m, x, _| m.min(x)),
    ];
    for (what, meaning) in operations {
        for (m, x) in [
            (3, 5),
            (5, 3),
            (0xffff_fff0, 7),
            (0x8000_0000, 0x7fff_ffff),
            (u64::MAX, 2),
            (2, u64::MAX),
        ] {
            let mut run = Run::new::<Render>(&[m, x], |mi| {
                for index in 0..6 {
                    mi.store(output(index), input(0))?;
                }
                // The operand is a constant, then a value, then a value with the old value
                // returned.
                mi.atomic(output(0), what, x)?;
                mi.atomic(output(1), what, input(1))?;
                let old = mi.atomic_fetch(output(2), what, input(1))?;
                mi.store(output(6), old)?;
                mi.atomic(output(3).low_half(), what, x as u32)?;
                mi.atomic(output(4).low_half(), what, input(1).low())?;
                let old = mi.atomic_fetch(output(5).low_half(), what, x as u32)?;
                mi.store(output(7), old)
            })
            .unwrap();
            let low = |value: u64| value & 0xffff_ffff;
            let (wide, narrow) =
                (meaning(m, x, 0), m & !0xffff_ffff | low(meaning(low(m), low(x), 32)));
            assert_eq!(
                [0, 1, 2].map(|index| run.output(index)),
                [wide; 3],
                "{what:?} {m:#x} {x:#x}"
            );
            assert_eq!(
                [3, 4, 5].map(|index| run.output(index)),
                [narrow; 3],
                "{what:?} {m:#x} {x:#x}"
            );
            assert_eq!((run.output(6), run.output(7)), (m, low(m)));
        }
    }
    let mut run = Run::new::<Render>(&[7, 8, 9], |mi| {
        let old = mi.compare_and_write(input(0), 7, 1)?;
        mi.store(output(0), old)?;
        let old = mi.compare_and_write(input(1), input(2), 1)?;
        mi.store(output(1), old)?;
        mi.compare_and_write(input32(4), input32(4), input32(2)).map(drop)
    })
    .unwrap();
    assert_eq!([0, 1, 2].map(|index| run.get(INPUT + 8 * index)), [1, 8, 8]);
    assert_eq!([0, 1].map(|index| run.output(index)), [7, 8]);
}

/// Values stay valid from one builder to the next if the builders share the registers.
#[test]
fn registers_shared_by_builders() {
    let mut batch = Batch::<Render>::new("batch", BATCH, 4096).unwrap();
    let gprs = Gprs::new();
    let kept = Builder::with_gprs(&mut batch, gprs.clone()).keep(1u64.value() + output(0)).unwrap();
    let mut mi = Builder::with_gprs(&mut batch, gprs);
    let other = mi.keep(input(0)).unwrap();
    assert_eq!(mi.gprs().free(), 14);
    mi.store(output(1), kept + other).unwrap();
    let submission = Submission::new(batch.finish().unwrap(), []);
    let mut gpu = Gpu::new();
    let context = gpu.create_context().unwrap();
    gpu.load(context, BATCH, submission.buffers[0].bytes()).unwrap();
    gpu.load(context, INPUT, &40u64.to_le_bytes()).unwrap();
    gpu.load(context, OUTPUT, &1u64.to_le_bytes()).unwrap();
    gpu.submit(context, Render::ID, BATCH, submission.batch_length).unwrap();
    assert_eq!(Run { gpu, context }.output(1), 42);
}

/// A batch works after the kernel moved it and its buffers: loads, stores of both halves,
/// predicated stores, jumps over packets and loops.
#[test]
fn moved_batches_do_the_same() {
    let build = || -> Result<Submission, MiError> {
        let query = Buffer::new("query", INPUT, 4096)?;
        let result = Buffer::new("result", OUTPUT, 4096)?;
        let input = |index: u64| Mem::<Qword>::of(&query, 8 * index);
        let output = |index: u64| Mem::<Qword>::of(&result, 8 * index);
        let mut batch = Batch::<Render>::new("batch", BATCH, 1 << 16)?;
        let mut mi = Builder::new(&mut batch);
        mi.store(output(0)?, input(0)?)?;
        mi.store(output(1)?, input(0)? + input(1)?)?;
        mi.store_if(&input(0)?.less_than(input(1)?), output(2)?, input(1)?)?;
        mi.if_true(&input(0)?.is_zero(), |mi| mi.store(output(3)?, 1))?;
        mi.if_true(&input(0)?.is_nonzero(), |mi| mi.store(output(4)?, 2))?;
        let count = mi.variable(3)?;
        mi.repeat_while(|mi| {
            mi.store(&count, &count - 1)?;
            mi.atomic(output(5)?, Atomic::Add, 10)?;
            Ok(count.is_nonzero())
        })?;
        mi.copy(output(6)?, input(1)?, 2)?;
        mi.fill(output(7)?, 7, 2)?;
        mi.write_after_work(output(8)?, PostSync::Immediate(8))?;
        Ok(batch.finish()?.submit([query, result])?)
    };
    let expected = [3, 8, 5, 0, 2, 30, 5, 0x7_0000_0007, 8];
    let here = [BATCH, INPUT, OUTPUT];
    for places in [here, [0x7_1234_5000, 0x9_0000_0000, 0x20_0000], [OUTPUT, BATCH, INPUT]] {
        let mut submission = build().unwrap();
        submission.relocate(&places).unwrap();
        let mut gpu = Gpu::new();
        let context = gpu.create_context().unwrap();
        // The old addresses contain garbage: nothing may read them.
        for old in here {
            gpu.load(context, old, &[0xcc; 4096]).unwrap();
        }
        for buffer in &mut submission.buffers {
            if buffer.name() == "query" {
                let bytes = buffer.bytes_mut();
                bytes[0] = 3;
                bytes[8] = 5;
            }
        }
        for buffer in &submission.buffers {
            gpu.load(context, buffer.address(), buffer.bytes()).unwrap();
        }
        gpu.submit(context, Render::ID, places[0], submission.batch_length).unwrap();
        let mut run = Run { gpu, context };
        for (index, value) in expected.into_iter().enumerate() {
            assert_eq!(run.get(places[2] + 8 * index as u64), value, "{places:x?}, result {index}");
        }
    }
}
