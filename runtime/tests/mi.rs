//! Packets of the expression builder, dword by dword.
//!
//! Oracle: the commands as Linux writes them (`i915/gt/intel_gpu_commands.h`): `MI_INSTR(opcode,
//! length)` is `opcode << 23 | length`; steps of MI_MATH are `opcode << 20 | operand << 10 |
//! operand`. `tests/tests/mi` tests the results of the batches.

#![cfg(all(feature = "std", feature = "registers"))]

use genxml::batch::{Access, Batch, BatchError, Buffer, EXEC_OBJECT_WRITE, Placement};
use genxml::core::{Address, lit};
use genxml::engine::{Blitter, EngineId, Render, Video, VideoEnhance};
use genxml::gen8::RenderPacket;
use genxml::gen8::engine_registers::{CsGpr, MiPredicateResult, RingMiMode, RingTimestamp};
use genxml::gen8::mi::MiSetPredicatePredicateEnable;
use genxml::gen8::registers::CacheMode1;
use genxml::mi::*;

const LRI: u32 = 0x22 << 23;
const LRM: u32 = 0x29 << 23 | 2;
const LRR: u32 = 0x2a << 23 | 1;
const SRM: u32 = 0x24 << 23 | 2;
const SDI: u32 = 0x20 << 23;
const COPY: u32 = 0x2e << 23 | 3;
const MATH: u32 = 0x1a << 23;
const PREDICATE: u32 = 0x0c << 23;
const LOADINV_EQUAL: u32 = PREDICATE | 3 << 6 | 2;

/// Offset of a general register of the render engine. The builder allocates the last one first.
const fn gpr(index: u32) -> u32 {
    0x2600 + 8 * index
}

const A: u32 = 0x20;
const B: u32 = 0x21;
const ACCU: u32 = 0x31;
const ZF: u32 = 0x32;
const CF: u32 = 0x33;
const ADD: u32 = 0x100 << 20;
const SUB: u32 = 0x101 << 20;
const AND: u32 = 0x102 << 20;
const OR: u32 = 0x103 << 20;

const fn load(to: u32, register: u32) -> u32 {
    0x080 << 20 | to << 10 | register
}
const fn loadinv(to: u32, register: u32) -> u32 {
    0x480 << 20 | to << 10 | register
}
const fn load0(to: u32) -> u32 {
    0x081 << 20 | to << 10
}
const fn load1(to: u32) -> u32 {
    0x481 << 20 | to << 10
}
const fn store(register: u32, from: u32) -> u32 {
    0x180 << 20 | register << 10 | from
}
const fn storeinv(register: u32, from: u32) -> u32 {
    0x580 << 20 | register << 10 | from
}

fn at(address: u64) -> MemoryAddress {
    Address::new(address).unwrap()
}

fn q(address: u64) -> Mem<Qword> {
    mem64(at(address))
}

fn d(address: u64) -> Mem<Dword> {
    mem32(at(address))
}

type Mi<'b, E> = Builder<'b, E, Batch<E>>;

/// The dwords that a program emits.
fn build<E: MiEngine>(
    program: impl FnOnce(&mut Mi<'_, E>) -> Result<(), MiError>,
) -> Result<Vec<u32>, MiError> {
    let mut batch = Batch::<E>::new("batch", 0x10_0000, 1 << 16)?;
    program(&mut Builder::new(&mut batch))?;
    Ok(batch.dwords().to_vec())
}

fn render(program: impl FnOnce(&mut Mi<'_, Render>) -> Result<(), MiError>) -> Vec<u32> {
    build(program).unwrap()
}

#[test]
fn moves() {
    let (one, two) = (q(0x1000), q(0x2000));
    assert_eq!(render(|mi| mi.store(one, 0x1_0000_0002)), [SDI | 1 << 21 | 3, 0x1000, 0, 2, 1]);
    // A store of one qword needs an address that is a multiple of 8. Other addresses take two
    // stores of a dword.
    let odd = render(|mi| mi.store(q(0x1004), 0x1_0000_0002));
    assert_eq!(odd, [SDI | 2, 0x1004, 0, 2, SDI | 2, 0x1008, 0, 1]);
    assert_eq!(render(|mi| mi.store(d(0x1000), 7)), [SDI | 2, 0x1000, 0, 7]);
    assert_eq!(
        render(|mi| mi.store(one, two)),
        [COPY, 0x1000, 0, 0x2000, 0, COPY, 0x1004, 0, 0x2004, 0]
    );
    // A dword stored to a qword: the upper half is cleared, and 0x2004 is not read.
    assert_eq!(
        render(|mi| mi.store(one, d(0x2000))),
        [COPY, 0x1000, 0, 0x2000, 0, SDI | 2, 0x1004, 0, 0]
    );
    assert_eq!(render(|mi| mi.store(d(0x1000), two.low())), [COPY, 0x1000, 0, 0x2000, 0]);
    assert_eq!(render(|mi| mi.store(d(0x1000), two.high())), [COPY, 0x1000, 0, 0x2004, 0]);

    let time = |mi: &Mi<'_, Render>| mi.register::<RingTimestamp>().unwrap();
    assert_eq!(
        render(|mi| mi.store(one, time(mi))),
        [SRM, 0x2358, 0x1000, 0, SRM, 0x235c, 0x1004, 0]
    );
    let wide = Reg::<Qword>::at(0x2400).unwrap();
    assert_eq!(render(|mi| mi.store(wide, 0x1_0000_0002)), [LRI | 3, 0x2400, 2, 0x2404, 1]);
    assert_eq!(render(|mi| mi.store(wide, one)), [LRM, 0x2400, 0x1000, 0, LRM, 0x2404, 0x1004, 0]);
    assert_eq!(render(|mi| mi.store(wide, time(mi))), [LRR, 0x2358, 0x2400, LRR, 0x235c, 0x2404]);
    let narrow = Reg::<Dword>::at(0x2400).unwrap();
    assert_eq!(render(|mi| mi.store(narrow, 9)), [LRI | 1, 0x2400, 9]);
    assert_eq!(render(|mi| mi.store(narrow, d(0x1000))), [LRM, 0x2400, 0x1000, 0]);
    // A store of a value to its own place needs no packet.
    assert_eq!(render(|mi| mi.store(one, one)), [0u32; 0]);
}

/// If a store exchanges the two halves of a qword, both halves are read before one is overwritten.
#[test]
fn overlapping_moves() {
    let swapped = render(|mi| mi.store(q(0x1000), (q(0x1000) << 32) | q(0x1000).high()));
    // The ALU combines the halves: both operands are loaded before anything is stored.
    assert_eq!(
        swapped[swapped.len() - 8..],
        [SRM, gpr(15), 0x1000, 0, SRM, gpr(15) + 4, 0x1004, 0]
    );
    assert_eq!(
        render(|mi| mi.store(q(0x1000), q(0x1000) << 32)),
        [COPY, 0x1004, 0, 0x1000, 0, SDI | 2, 0x1000, 0, 0]
    );
    assert_eq!(
        render(|mi| mi.store(q(0x1004), q(0x1000))),
        [COPY, 0x1008, 0, 0x1004, 0, COPY, 0x1004, 0, 0x1000, 0]
    );
}

#[test]
fn arithmetic() {
    let sum = render(|mi| mi.store(q(0x1000), q(0x2000) + q(0x3000)));
    let loads = [
        [LRM, gpr(15), 0x2000, 0],
        [LRM, gpr(15) + 4, 0x2004, 0],
        [LRM, gpr(14), 0x3000, 0],
        [LRM, gpr(14) + 4, 0x3004, 0],
    ];
    let math = [MATH | 3, load(A, 15), load(B, 14), ADD, store(15, ACCU)];
    let stores = [SRM, gpr(15), 0x1000, 0, SRM, gpr(15) + 4, 0x1004, 0];
    assert_eq!(sum, [&loads.concat()[..], &math, &stores].concat());

    // 0, -1 and 1 need no register, and an inversion needs no step. The loads of a whole expression
    // come first.
    let dwords = render(|mi| {
        let x = d(0x2000).value();
        mi.store(d(0x1000), ((!&x & d(0x2004)) - (x + 1)).low())
    });
    let loads = [
        vec![LRM, gpr(15), 0x2000, 0, LRI | 1, gpr(15) + 4, 0],
        vec![LRM, gpr(14), 0x2004, 0, LRI | 1, gpr(14) + 4, 0],
    ];
    let math = [
        vec![MATH | 11],
        vec![loadinv(A, 15), load(B, 14), AND, store(14, ACCU)],
        vec![load(A, 15), load1(B), SUB, store(15, ACCU)],
        vec![load(A, 14), load(B, 15), SUB, store(15, ACCU)],
    ];
    assert_eq!(dwords, [loads.concat(), math.concat(), vec![SRM, gpr(15), 0x1000, 0]].concat());
}

#[test]
fn comparisons() {
    let math = |value: fn(Mem<Qword>, Mem<Qword>) -> Value| {
        let dwords = render(|mi| mi.store(q(0x1000), value(q(0x2000), q(0x3000))));
        let start = dwords.iter().position(|dword| dword >> 8 == MATH >> 8).unwrap();
        dwords[start + 1..=start + 1 + dwords[start] as usize % 256].to_vec()
    };
    let (a, b) = (load(A, 15), load(B, 14));
    assert_eq!(math(|x, y| x.equal_to(y).mask()), [a, b, SUB, store(15, ZF)]);
    assert_eq!(math(|x, y| x.not_equal_to(y).mask()), [a, b, SUB, storeinv(15, ZF)]);
    assert_eq!(math(|x, y| x.less_than(y).mask()), [a, b, SUB, store(15, CF)]);
    assert_eq!(math(|x, y| x.at_least(y).mask()), [a, b, SUB, storeinv(15, CF)]);
    assert_eq!(math(|x, _| x.is_zero().mask()), [a, load0(B), SUB, store(15, ZF)]);
    assert_eq!(math(|x, _| !x), [loadinv(A, 15), load0(B), OR, store(15, ACCU)]);
    // Multiplication by 8: doubled three times.
    let double = [load(A, 15), load(B, 15), ADD, store(15, ACCU)];
    assert_eq!(math(|x, _| x << 3), [double; 3].concat());
}

/// Operations that do not change a value need no packets, and results that do not depend on memory
/// are constants.
#[test]
#[expect(clippy::erasing_op, clippy::modulo_one, reason = "these are what is folded")]
fn constants_are_folded() {
    let x = || d(0x2000).value();
    let same = [
        x() + 0,
        x() | 0,
        x() & 0xffff_ffff,
        x() & u64::MAX,
        x() ^ 0,
        x() * 1,
        x() / 1,
        x() << 0,
        !!x(),
        (x() + 5) - 5,
        (x() << 32) >> 32,
        x().low().value(),
        x().minimum(u64::MAX),
        Condition::constant(true).select(x(), q(0x3000)),
        x().less_than(1 << 32).select(x(), 3),
    ];
    for (index, value) in same.into_iter().enumerate() {
        assert_eq!(
            render(|mi| mi.store(d(0x1000), value.low())),
            [COPY, 0x1000, 0, 0x2000, 0],
            "{index}"
        );
    }
    let zero = [
        x() * 0,
        x() >> 32,
        x().high().value(),
        x() << 64,
        x() & (1 << 40),
        x() / (1 << 32),
        x() % 1,
    ];
    for (index, value) in zero.into_iter().enumerate() {
        assert_eq!(value.constant(), Some(0), "{index}");
    }
    assert_eq!(x().equal_to(1 << 32).mask().constant(), Some(0));
    assert_eq!((7u64.value() * 6 - 2).constant(), Some(40));
    assert_eq!((u64::MAX.value().shift_right_signed(3)).constant(), Some(u64::MAX));
}

#[test]
fn predicates() {
    let (src0, src1) = (0x2400, 0x2408);
    // MI_PREDICATE itself compares for equality.
    assert_eq!(
        render(|mi| mi.set_predicate(&q(0x1000).is_nonzero())),
        [
            vec![LRM, src0, 0x1000, 0, LRM, src0 + 4, 0x1004, 0],
            vec![LRI | 3, src1, 0, src1 + 4, 0, LOADINV_EQUAL],
        ]
        .concat()
    );
    // MI_MATH computes other comparisons into a general register, whose bit 0 is the predicate.
    let less = render(|mi| mi.set_predicate(&q(0x1000).less_than(q(0x2000))));
    assert_eq!(less[less.len() - 3..], [LRR, gpr(15), 0x2418]);
    assert_eq!(less[16], MATH | 7);
    assert_eq!(render(|mi| mi.set_predicate(&Condition::constant(true))), [PREDICATE | 2 << 6]);
    assert_eq!(
        render(|mi| mi.set_predicate(&Condition::constant(false))),
        [PREDICATE | 2 << 6 | 1]
    );
    let stored = render(|mi| mi.store_predicated(d(0x1000), 5));
    assert_eq!(stored, [LRI | 3, gpr(15), 5, gpr(15) + 4, 0, SRM | 1 << 21, gpr(15), 0x1000, 0]);
    assert_eq!(
        render(|mi| mi.store_if(&Condition::constant(false), q(0x1000), q(0x2000))),
        [0u32; 0]
    );
    assert_eq!(
        render(|mi| mi.skip_commands(MiSetPredicatePredicateEnable::NOOP_ALWAYS)),
        [1 << 23 | 15]
    );

    // The jump goes to the end of the block. The predicate takes 4 + 4 + 5 + 1 dwords, the jump 3,
    // and the skipped store 4.
    let block = render(|mi| mi.if_true(&q(0x1000).is_nonzero(), |mi| mi.store(d(0x2000), 1)));
    let jump = 0x31 << 23 | 1 | 1 << 8 | 1 << 15;
    assert_eq!(block[13..], [PREDICATE | 2 << 6 | 2, jump, 0x10_0054, 0, SDI | 2, 0x2000, 0, 1]);
    // A jump in a called batch stays on its level.
    let mut dwords: Vec<u32> = Vec::new();
    Batch::<Render>::new("called", 0x8000, 4096)
        .unwrap()
        .routine(|batch| {
            Builder::new(batch).repeat_while(|mi| {
                mi.store(d(0x2000), 1)?;
                Ok(q(0x1000).is_nonzero())
            })?;
            dwords.extend(batch.dwords());
            Ok(())
        })
        .unwrap();
    assert_eq!(dwords[18..], [jump | 1 << 22, 0x8000, 0]);
}

#[test]
fn engines_have_their_own_registers() {
    fn gpr15<E: MiEngine>() -> (u32, u32) {
        let dwords = build::<E>(|mi| mi.store(d(0x1000), (d(0x2000) + 3).low())).unwrap();
        let mut batch = Batch::<E>::new("batch", 0, 4096).unwrap();
        let result = Builder::<E, _>::new(&mut batch).register::<MiPredicateResult>().unwrap();
        (dwords[1], result.offset())
    }
    assert_eq!(gpr15::<Render>(), (0x2678, 0x2418));
    assert_eq!(gpr15::<Blitter>(), (0x22678, 0x22418));
    assert_eq!(gpr15::<Video>(), (0x12678, 0x12418));
    assert_eq!(gpr15::<VideoEnhance>(), (0x1a678, 0x1a418));
}

/// Oracle: Mesa's drivers switch the fix of Gen8's early depth test with 0x28002800 and 0x28000000
/// in CACHE_MODE_1 (fields NP PMA Fix Enable and NP Early Z Fails Disable).
#[test]
fn masked_registers_keep_the_other_fields() {
    for (enable, value) in [(true, 0x2800_2800), (false, 0x2800_0000)] {
        let dwords = render(|mi| {
            mi.set_fields(|register: &mut CacheMode1| {
                register.np_pma_fix_enable = enable;
                register.np_early_z_fails_disable = enable;
            })
        });
        assert_eq!(dwords, [LRI | 1, 0x7004, value]);
    }
    // A field of two bits, set to a value whose bits differ. The field `mask` is not used.
    let dwords = render(|mi| {
        mi.set_fields(|register: &mut CacheMode1| {
            register.sampler_cache_set_xor_selection = lit!(1);
            register.mask = lit!(0xffff);
        })
    });
    assert_eq!(dwords, [LRI | 1, 0x7004, 0x0180_0080]);
    assert_eq!(render(|mi| mi.set_fields(|_: &mut CacheMode1| {})), [LRI | 1, 0x7004, 0]);
    // Each engine has its own register.
    let dwords = build::<Blitter>(|mi| {
        mi.set_fields(|register: &mut RingMiMode| register.stop_ring = false)
    });
    assert_eq!(dwords.unwrap(), [LRI | 1, 0x2209c, 0x0100_0000]);
}

#[test]
fn memory_and_synchronisation() {
    assert_eq!(
        render(|mi| mi.copy(at(0x1000), at(0x2000), 2)),
        [COPY, 0x1000, 0, 0x2000, 0, COPY, 0x1004, 0, 0x2004, 0]
    );
    // Copy backwards if the source would be overwritten.
    assert_eq!(
        render(|mi| mi.copy(at(0x2004), at(0x2000), 2)),
        [COPY, 0x2008, 0, 0x2004, 0, COPY, 0x2004, 0, 0x2000, 0]
    );
    let filled = render(|mi| mi.fill(at(0x1000), 0xdead, 65));
    assert_eq!((filled[0], filled[1], filled[66]), (SDI | 65, 0x1000, 0xdead));
    assert_eq!(filled[67..], [SDI | 2, 0x1100, 0, 0xdead]);
    assert_eq!(
        render(|mi| mi.wait(d(0x1000), Until::AtLeast(5))),
        [0x1c << 23 | 2 | 1 << 15 | 1 << 12, 5, 0x1000, 0]
    );
    assert_eq!(render(|mi| mi.signal(EngineId::Blitter, 7)), [0x1b << 23 | 2 << 15, 7]);
    assert_eq!(
        render(|mi| mi.end_unless_greater(d(0x1000), 4)),
        [0x36 << 23 | 2 | 1 << 21, 4, 0x1000, 0]
    );
    // The dwords of the two operands alternate: 1.0, 2.0, 1.1, 2.1 ...
    let atomic = |opcode: u32| 0x2f << 23 | 9 | opcode << 8 | 1 << 17 | 1 << 18;
    assert_eq!(
        render(|mi| mi.atomic(q(0x1000), Atomic::Add, 0x1_0000_0002)),
        [atomic(0x27) | 1 << 19, 0x1000, 0, 2, 0, 1, 0, 0, 0, 0, 0]
    );
    assert_eq!(
        render(|mi| mi.compare_and_write(d(0x1000), 3, 4).map(drop)),
        [atomic(0x0e) | 1 << 16, 0x1000, 0, 3, 4, 0, 0, 0, 0, 0, 0]
    );
    let late = |what| {
        let render = render(|mi| mi.write_after_work(q(0x1000), what));
        (render, build::<Blitter>(|mi| mi.write_after_work(q(0x1000), what)).unwrap())
    };
    // The commands with which i915 ends a request (gen8_emit_fini_breadcrumb_rcs): the first
    // PIPE_CONTROL flushes the render target, depth and data caches; the second one stalls the
    // command streamer (bit 20), waits for the flush (bit 7) and writes.
    let pipe_control = 0x7a00_0004;
    let flush = [pipe_control, 1 << 12 | 1 << 5 | 1, 0, 0, 0, 0];
    let stall = 1 << 20 | 1 << 7;
    let flush_dw = 0x26 << 23 | 3;
    assert_eq!(
        late(PostSync::Immediate(0x1_0000_0002)),
        (
            [flush, [pipe_control, stall | 1 << 14, 0x1000, 0, 2, 1]].concat(),
            vec![flush_dw | 1 << 14, 0x1000, 0, 2, 1]
        )
    );
    assert_eq!(
        late(PostSync::Timestamp),
        (
            [flush, [pipe_control, stall | 3 << 14, 0x1000, 0, 0, 0]].concat(),
            vec![flush_dw | 3 << 14, 0x1000, 0, 0, 0]
        )
    );
}

/// An MI_MATH has at most 64 steps, because sources disagree on the width of its length field.
#[test]
fn long_programs_are_cut() {
    let dwords = render(|mi| mi.store(q(0x1000), q(0x2000) << 31));
    let lengths: Vec<u32> =
        dwords.iter().filter(|dword| *dword >> 8 == MATH >> 8).map(|dword| dword % 256).collect();
    assert_eq!(lengths, [63, 59]);
}

#[test]
fn general_registers_are_given_back() {
    let mut batch = Batch::<Render>::new("batch", 0, 1 << 16).unwrap();
    let gprs = Gprs::new();
    let mut mi = Builder::with_gprs(&mut batch, gprs.clone());
    let seven = gprs.take(7).unwrap();
    assert_eq!(gprs.take(7).unwrap_err().to_string(), "general register 7 is in use");
    assert_eq!(
        gprs.take(16).unwrap_err(),
        MiError::NoSuchRegister { name: CsGpr::NAME, index: 16 }
    );
    let kept = mi.keep(q(0x1000) + q(0x2000)).unwrap();
    let derived = kept.clone() * 3;
    let variable = mi.variable(0).unwrap();
    assert_eq!(gprs.free(), 13);
    drop((kept, variable));
    // An expression still uses the kept register.
    assert_eq!(gprs.free(), 14);
    mi.store(q(0x3000), &derived).unwrap();
    drop((derived, seven));
    assert_eq!(gprs.free(), 16);

    // Constants need no registers.
    assert_eq!(mi.keep(5).unwrap().constant(), Some(5));
    // A chain needs two registers, however long it is. A full tree needs one more for each level.
    let chain = (0..100).fold(0u64.value(), |sum, index| q(0x1000 + 8 * index) + sum);
    let held: Vec<Gpr> = (2..16).map(|index| gprs.take(index).unwrap()).collect();
    mi.store(q(0x3000), chain).unwrap();
    drop(held);
    fn tree(levels: u64) -> Value {
        match levels {
            0 => q(0x1000).value(),
            _ => tree(levels - 1) + tree(levels - 1),
        }
    }
    let _held: Vec<Gpr> = (5..16).map(|index| gprs.take(index).unwrap()).collect();
    mi.store(q(0x3000), tree(4)).unwrap();
    let error = mi.store(q(0x3000), tree(5)).unwrap_err();
    assert_eq!(error, MiError::OutOfRegisters { count: 16 });
    assert_eq!(gprs.free(), 5);
}

#[test]
fn errors() {
    let fails = |program: fn(&mut Mi<'_, Render>) -> Result<(), MiError>| {
        build(program).unwrap_err().to_string()
    };
    assert_eq!(fails(|mi| mi.store(q(0x1000), q(0x2000) / 0)), "division by zero");
    assert_eq!(fails(|mi| mi.store(d(0x1000), (q(0x2000) % 0 + 1).low())), "division by zero");
    // Long chains neither overflow the stack nor panic.
    let deep = |levels: u64| {
        (0..levels).fold(q(0x1000).value(), |sum, index| (sum ^ q(0x1000 + 8 * index)) + 3)
    };
    let error = render_error(|mi| mi.store(q(0x1000), deep(100_000)));
    assert_eq!(
        error.to_string(),
        "the expression is nested more than 1000 operations deep: keep a part of it first"
    );
    build::<Render>(|mi| mi.store(q(0x1000), deep(490))).unwrap();
    assert_eq!(
        fails(|mi| mi.store(q(0xffff_ffff_fffc), 1)),
        "an address in memory: 281474976710656 does not fit 0..=281474976710652 in steps of 4"
    );
    assert_eq!(
        fails(|mi| mi.store(Reg::<Dword>::at(0x2600)?, 1)),
        "the register at 0x2600 is general register 0, which the builder gives out itself: use `Gprs::take(0)`"
    );
    assert_eq!(
        fails(|mi| mi.store(q(0x1000), Reg::<Qword>::at(0x25fc)? + 1)),
        "the register at 0x2600 is general register 0, which the builder gives out itself: use `Gprs::take(0)`"
    );
    assert_eq!(
        fails(|_| Reg::<Dword>::at(0x2601).map(drop)),
        "a register's offset: 9729 does not fit 0..=8388604 in steps of 4"
    );
    assert_eq!(fails(|mi| mi.register_of::<CsGpr>(16).map(drop)), "there is no CS_GPR[16]");
    assert_eq!(
        fails(|mi| mi.end_unless_greater(d(0x1004), 4)),
        "the address of the dword that a conditional end compares: 4100 does not fit 0..=281474976710648 in steps of 8"
    );
    assert_eq!(
        fails(|mi| {
            let mut other = Batch::<Render>::new("other", 0, 4096)?;
            let foreign = Builder::new(&mut other).keep(q(0x1000))?;
            mi.store(q(0x1000), foreign + 1)
        }),
        "general register 15 belongs to another builder: share the registers of both with `Builder::with_gprs`"
    );
    assert_eq!(
        fails(|mi| {
            let _four = mi.gprs().take(4)?;
            mi.atomic_fetch(d(0x1000), Atomic::Add, 1).map(drop)
        }),
        "general register 4 is in use"
    );
    // Atomics on qwords need addresses aligned to 8 bytes.
    for atomic in [
        |mi: &mut Mi<'_, Render>| mi.atomic(q(0x1004), Atomic::Add, 1),
        |mi: &mut Mi<'_, Render>| mi.atomic_fetch(q(0x1004), Atomic::Add, q(0x2000)).map(drop),
        |mi: &mut Mi<'_, Render>| mi.compare_and_write(q(0x1004), 1, 2).map(drop),
    ] {
        assert_eq!(
            fails(atomic),
            "the address of an atomic's qword: 4100 does not fit 0..=281474976710648 in steps of 8"
        );
    }
    render(|mi| mi.atomic(d(0x1004), Atomic::Add, 1));
    let target = Buffer::new("target", 0x1000, 16).unwrap();
    assert_eq!(
        Mem::<Qword>::of(&target, 12).unwrap_err().to_string(),
        "+0xc is not inside target, which has 16 bytes"
    );
    // A qword is completely inside its object, or it is refused.
    let first = Mem::<Qword>::of(&target, 0).unwrap();
    assert_eq!(first.offset(8).unwrap().address().get(), 0x1008);
    assert_eq!(
        first.offset(12).unwrap_err().to_string(),
        "+0x10 is not inside the object at 0x1000, which has 16 bytes"
    );
    let last = lit!(0xffff_ffff_fff0);
    assert!(mem64(last).offset(8).is_ok() && mem64(last).offset(12).is_err());
    assert!(mem32(last).offset(12).is_ok() && mem32(last).offset(16).is_err());
    assert_eq!(
        Mem::<Dword>::of(&target, 12).unwrap().offset(4).unwrap_err().to_string(),
        "+0x10 is not inside the object at 0x1000, which has 16 bytes"
    );
    let mut batch = Batch::<Render>::new("small", 0, 32).unwrap();
    let error = Builder::new(&mut batch).store(q(0x1000), q(0x2000) + q(0x3000)).unwrap_err();
    assert!(matches!(error, MiError::Batch(BatchError::Full { .. })), "{error}");
}

fn render_error(program: impl FnOnce(&mut Mi<'_, Render>) -> Result<(), MiError>) -> MiError {
    build(program).unwrap_err()
}

/// Number of times that MI_LOAD_REGISTER_MEM and MI_COPY_MEM_MEM read each memory address.
fn reads(dwords: &[u32]) -> Vec<(u32, usize)> {
    let (mut at, mut found) = (0, std::collections::BTreeMap::new());
    while at < dwords.len() {
        let address = match dwords[at] {
            LRM => Some(dwords[at + 2]),
            COPY => Some(dwords[at + 3]),
            _ => None,
        };
        if let Some(address) = address {
            *found.entry(address).or_insert(0) += 1;
        }
        at += RenderPacket::length(dwords[at]).unwrap();
    }
    found.into_iter().collect()
}

/// Clones are one value: an operation reads its memory once, however the value is used.
#[test]
fn a_value_is_read_once() {
    type Program = dyn Fn(&mut Mi<'_, Render>, Value) -> Result<(), MiError>;
    let once = |program: &Program| {
        let narrow = render(|mi| program(mi, d(0x1000).value()));
        assert_eq!(reads(&narrow), [(0x1000, 1)], "narrow");
        let wide = render(|mi| program(mi, q(0x1000).value()));
        assert_eq!(reads(&wide), [(0x1000, 1), (0x1004, 1)], "wide");
    };
    once(&|mi, v| mi.store(q(0x2000), &v | (&v << 32)));
    once(&|mi, v| mi.store(q(0x2000), v.low().value() + (&v >> 4)));
    once(&|mi, v| mi.store(q(0x2000), &v + &v));
    once(&|mi, v| mi.store(q(0x2000), !&v & (&v << 3)));
    once(&|mi, v| mi.set_predicate(&v.equal_to(&v & 0xff)));
    once(&|mi, v| mi.set_predicate(&v.less_than(&v ^ 5)));
    once(&|mi, v| mi.if_true(&v.equal_to(&v & 0xff), |_| Ok(())));
    once(&|mi, v| mi.repeat_while(|_| Ok(v.not_equal_to(&v & 0xff))));
    once(&|mi, v| mi.store_if(&v.is_nonzero(), q(0x2000), &v));
    once(&|mi, v| mi.store_if(&v.less_than(7), q(0x2000), &v + 1));
    once(&|mi, v| mi.store_if(&v.is_nonzero(), q(0x2000), v.is_nonzero().mask()));
    once(&|mi, v| mi.compare_and_write(q(0x2000), &v, &v + 1).map(drop));
    once(&|mi, v| mi.compare_and_write(q(0x2000), &v, &v).map(drop));
    once(&|mi, v| mi.keep((&v << 32) + v.low()).map(drop));
    // Both halves of a 64-bit value are used more than once.
    let wide = render(|mi| {
        let v = q(0x1000).value();
        let (low, high) = (v.low(), v.high());
        mi.store(q(0x2000), (&low << 32) + &high + (&low ^ (&high << 32)))
    });
    assert_eq!(reads(&wide), [(0x1000, 1), (0x1004, 1)]);
    assert_eq!(
        reads(&render(|mi| mi.store(q(0x2000), q(0x1000) >> 4))),
        [(0x1000, 1), (0x1004, 1)]
    );
    // A half that is not used is not read.
    assert_eq!(reads(&render(|mi| mi.store(q(0x2000), q(0x1000).high() + 1))), [(0x1004, 1)]);
    assert_eq!(reads(&render(|mi| mi.store(q(0x2000), q(0x1000) >> 36))), [(0x1004, 1)]);
    // A register that changes by itself is read once, too.
    let time = render(|mi| {
        let time = mi.register::<RingTimestamp>()?.value();
        mi.store(q(0x2000), &time | (&time << 32))
    });
    assert_eq!(time.windows(2).filter(|pair| *pair == [LRR, 0x2358]).count(), 1);
}

/// All references follow their objects: both dwords of a copy, jumps, and all others.
#[test]
fn packets_are_references_to_their_objects() {
    let (from, to) =
        (Buffer::new("from", 0x10000, 4096).unwrap(), Buffer::new("to", 0x20000, 4096).unwrap());
    let mut batch = Batch::<Render>::new("batch", 0x40000, 4096).unwrap();
    let (a, b) = (Mem::<Qword>::of(&from, 8).unwrap(), Mem::<Qword>::of(&to, 16).unwrap());
    Builder::new(&mut batch).store(b, a).unwrap();
    let placed = |batch: Batch<Render>| {
        let buffer = batch.finish().unwrap().buffer;
        let found = buffer.relocations().iter().map(|one| (one.offset, one.address, one.access));
        found.collect::<Vec<_>>()
    };
    let (read, write) = (Access::Read, Access::Write);
    assert_eq!(
        placed(batch),
        [(4, 0x20010, write), (12, 0x10008, read), (24, 0x20014, write), (32, 0x1000c, read)]
    );

    let batch = || Batch::<Render>::new("batch", 0x40000, 4096).unwrap();
    let with = |program: &dyn Fn(&mut Mi<'_, Render>) -> Result<(), MiError>| {
        let mut batch = batch();
        program(&mut Builder::new(&mut batch)).unwrap();
        let found = placed(batch);
        found.into_iter().map(|(_, address, access)| (address, access)).collect::<Vec<_>>()
    };
    assert_eq!(with(&|mi| mi.store(b, 5)), [(0x20010, write)]);
    assert_eq!(with(&|mi| mi.store(b.offset(4)?, 5)), [(0x20014, write), (0x20018, write)]);
    assert_eq!(with(&|mi| mi.store_predicated(b.low_half(), 5)), [(0x20010, write)]);
    assert_eq!(with(&|mi| mi.keep(a).map(drop)), [(0x10008, read), (0x1000c, read)]);
    assert_eq!(with(&|mi| mi.copy(b, a, 1)), [(0x20010, write), (0x10008, read)]);
    assert_eq!(with(&|mi| mi.fill(b, 5, 65)), [(0x20010, write), (0x20110, write)]);
    assert_eq!(with(&|mi| mi.wait(a.low_half(), Until::Equal(5))), [(0x10008, read)]);
    assert_eq!(with(&|mi| mi.end_unless_greater(a.low_half(), 5)), [(0x10008, read)]);
    assert_eq!(with(&|mi| mi.atomic(b, Atomic::Add, 5)), [(0x20010, write)]);
    assert_eq!(with(&|mi| mi.write_after_work(b, PostSync::Timestamp)), [(0x20010, write)]);
    // A jump is a reference to the batch itself. The jump is at dword 14 and has 3 dwords; its
    // target follows.
    assert_eq!(
        with(&|mi| mi.if_true(&q(0x1000).is_nonzero(), |_| Ok(()))),
        [(0x40000 + 4 * (8 + 5 + 1 + 3), read)]
    );
    assert_eq!(with(&|mi| mi.repeat_while(|_| Ok(q(0x1000).is_nonzero()))), [(0x40000, read)]);

    // The kernel gets a write flag for each written object.
    let mut batch = batch();
    Builder::new(&mut batch).store(b, a).unwrap();
    let exec =
        batch.finish().unwrap().submit([from, to]).unwrap().exec(Placement::Relocated).unwrap();
    let writes = exec.objects.iter().map(|object| object.flags & EXEC_OBJECT_WRITE != 0);
    assert_eq!(writes.collect::<Vec<_>>(), [false, false, true]);
}

/// Plain numbers are not references. An address taken from the batch and used as a number is
/// refused, because it would be relocated in only one of several packets.
#[test]
fn addresses_taken_from_the_batch_are_refused() {
    let target = Buffer::new("target", 0x10000, 4096).unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x40000, 4096).unwrap();
    let mut mi = Builder::new(&mut batch);
    let taken = mem64(mi.batch().writes(&target, 8).unwrap());
    let error = mi.store(taken, q(0x1000)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "MI_COPY_MEM_MEM does not hold the address 0x10008 of target that was taken for it: take an address right before \
         the packet that uses it"
    );
}
