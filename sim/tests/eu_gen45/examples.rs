//! Worked examples of the manual, and what its text says about single instructions.

use super::support::{END, World, assembled, decode, launch, play, read, run, write};
use genxml_sim::eu::regions::{MASK0, MRF, MS0, MSD0};
use genxml_sim::eu::{Launch, Thread};

fn numbers(thread: &mut Thread) {
    for n in 0..1024 {
        thread.regs.set_u32(4 * n, n as u32 * 0x0001_0003);
    }
}

/// 003:7398-7453 and 8724-8738: a compressed instruction is two instructions of 8 channels. The
/// second has the next registers and the second half of flags; a scalar stays.
#[test]
fn compressed_instructions() {
    for (one, two) in [
        (
            "add(16) g4<1>D g2<8,8,1>D g10<8,8,1>D { align1 compr };",
            "add(8) g4<1>D g2<8,8,1>D g10<8,8,1>D { align1 };
             add(8) g5<1>D g3<8,8,1>D g11<8,8,1>D { align1 sechalf };",
        ),
        (
            "add(16) g4<1>D g2<8,8,1>D g10.3<0,1,0>D { align1 compr };",
            "add(8) g4<1>D g2<8,8,1>D g10.3<0,1,0>D { align1 };
             add(8) g5<1>D g3<8,8,1>D g10.3<0,1,0>D { align1 sechalf };",
        ),
        // The second half reads what the first one writes.
        (
            "add(16) g4<1>D g4<8,8,1>D g4.2<0,1,0>D { align1 compr };",
            "add(8) g4<1>D g4<8,8,1>D g4.2<0,1,0>D { align1 };
             add(8) g5<1>D g5<8,8,1>D g4.2<0,1,0>D { align1 sechalf };",
        ),
        // Words of a destination of dwords move by half a register.
        (
            "add(16) g4<1>D g2<8,8,1>W g10<8,8,1>D { align1 compr };",
            "add(8) g4<1>D g2<8,8,1>W g10<8,8,1>D { align1 };
             add(8) g5<1>D g2.8<8,8,1>W g11<8,8,1>D { align1 sechalf };",
        ),
        // An odd register is the same in both halves.
        (
            "add(16) g4<1>D g3<8,8,1>D g10<8,8,1>D { align1 compr };",
            "add(8) g4<1>D g3<8,8,1>D g10<8,8,1>D { align1 };
             add(8) g5<1>D g3<8,8,1>D g11<8,8,1>D { align1 sechalf };",
        ),
        (
            "cmp.l.f0.0(16) null<1>D g2<8,8,1>D g11.1<0,1,0>D { align1 compr };
             (+f0.0) mov(16) g4<1>D g2<8,8,1>D { align1 compr };",
            "cmp.l.f0.0(8) null<1>D g2<8,8,1>D g11.1<0,1,0>D { align1 };
             cmp.l.f0.0(8) null<1>D g3<8,8,1>D g11.1<0,1,0>D { align1 sechalf };
             (+f0.0) mov(8) g4<1>D g2<8,8,1>D { align1 };
             (+f0.0) mov(8) g5<1>D g3<8,8,1>D { align1 sechalf };",
        ),
        (
            "mov(16) m3<1>D g2<8,8,1>D { align1 compr };
             mov(16) m5<1>D g2<8,8,1>D { align1 compr4 };",
            "mov(8) m3<1>D g2<8,8,1>D { align1 };
             mov(8) m4<1>D g3<8,8,1>D { align1 sechalf };
             mov(8) m5<1>D g2<8,8,1>D { align1 };
             mov(8) m9<1>D g3<8,8,1>D { align1 sechalf };",
        ),
        // The implicit accumulators are acc0 and acc1.
        (
            "mul(16) null<1>F g2<8,8,1>F g10<8,8,1>F { align1 compr };
             mac(16) g4<1>F g6<8,8,1>F g12<8,8,1>F { align1 compr };",
            "mul(8) null<1>F g2<8,8,1>F g10<8,8,1>F { align1 };
             mul(8) null<1>F g3<8,8,1>F g11<8,8,1>F { align1 sechalf };
             mac(8) g4<1>F g6<8,8,1>F g12<8,8,1>F { align1 };
             mac(8) g5<1>F g7<8,8,1>F g13<8,8,1>F { align1 sechalf };",
        ),
        // 003:12701: the second half of a compressed pln reads source 1 two registers further.
        (
            "pln(16) g4<1>F g10<0,1,0>F g2<8,8,1>F { align1 compr };",
            "pln(8) g4<1>F g10<0,1,0>F g2<8,8,1>F { align1 };
             pln(8) g5<1>F g10<0,1,0>F g4<8,8,1>F { align1 sechalf };",
        ),
    ] {
        for mask in [0xffff, 0xa5c3] {
            let setup = |thread: &mut Thread| {
                numbers(thread);
                for n in 0..128 {
                    thread.regs.set_u32(32 * 2 + 4 * n, (n as f32 * 1.25 - 60.0).to_bits());
                }
            };
            let ran = |text| run(text, &launch(mask), setup).unwrap();
            assert!(ran(one).regs.bytes()[..] == ran(two).regs.bytes()[..], "{one}");
        }
    }
}

/// 003:8865-8889: eight instructions become four compressed ones with addresses.
#[test]
fn compressed_indirect_instructions() {
    let plain: String = (0..8)
        .map(|n| {
            let word = 2 + n / 2;
            let half = if n % 2 == 1 { ".8" } else { "" };
            format!(
                "add.sat(8) g{0}<2>UB g{word}{half}<8,8,1>W g{0}<16,8,2>UB {{ align1 }};\n",
                26 + n
            )
        })
        .collect();
    let short: String = (0..4)
        .map(|n| {
            format!(
                "add.sat(16) g{0}<2>UB g[a0.2 {1}]<8,8,1>W g{0}<16,8,2>UB {{ align1 compr }};\n",
                26 + 2 * n,
                32 * n
            )
        })
        .collect();
    let short = format!("mov(1) a0.1<1>D 0x00500040D {{ align1 nomask }};\n{short}");
    let plain = run(&plain, &launch(0xffff), numbers).unwrap();
    let short = run(&short, &launch(0xffff), numbers).unwrap();
    assert!(plain.regs.grf() == short.regs.grf());
}

/// 003:7648-7664: moves of a0. Its words from a0.2 on have 12 bits (003:7666).
#[test]
fn addresses() {
    let thread = run(
        "mov(8) a0<1>UW g1<8,8,1>UW { align1 };
         mov(8) g2<1>UW a0<8,8,1>UW { align1 };
         mov(8) g2.8<1>UW a0.4<0,1,0>UW { align1 };",
        &launch(0xff),
        |thread| write(thread, 1, &[0xf001_f000, 0xf003_f002, 0xf005_f004, 0xf007_f006]),
    )
    .unwrap();
    let expected = [0xf000, 0xf001, 2, 3, 4, 5, 6, 7, 4, 4, 4, 4, 4, 4, 4, 4];
    for (n, expected) in expected.into_iter().enumerate() {
        assert_eq!(read(&thread, 2, n, 2), expected, "word {n}");
    }
}

/// 003:8300-8313: a strided and a transposed region.
#[test]
fn regions() {
    let thread = run(
        "mov(16) g20<1>W g4.1<16,8,2>W { align1 };
         mov(16) g21<1>W g5<1,8,2>W { align1 };",
        &launch(0xffff),
        |thread| {
            for n in 0..64 {
                thread.regs.set_u16(32 * 4 + 2 * n, n as u16);
            }
        },
    )
    .unwrap();
    for c in 0..16 {
        assert_eq!(read(&thread, 20, c, 2) as usize, 1 + c / 8 * 16 + c % 8 * 2);
        assert_eq!(read(&thread, 21, c, 2) as usize, 16 + c / 8 + c % 8 * 2);
    }
}

/// 003:12179-12183: the product of 32-bit numbers in 64 bits.
#[test]
fn long_products() {
    for (a, b) in [(7, 9), (-3, 5), (0x1234_5678, -0x7654_3210), (i32::MIN, i32::MIN), (-1, -1)] {
        let thread = run(
            "mul(8) acc0<1>D g2<8,8,1>D g3<8,8,1>D { align1 };
             mach(8) g4<1>D g2<8,8,1>D g3<8,8,1>D { align1 };
             mov(8) g5<1>D acc0<8,8,1>D { align1 };",
            &launch(0xff),
            |thread| {
                write(thread, 2, &[a as u32; 8]);
                write(thread, 3, &[b as u32; 8]);
            },
        )
        .unwrap();
        let product = i64::from(a) * i64::from(b);
        let found = u64::from(read(&thread, 4, 3, 4)) << 32 | u64::from(read(&thread, 5, 3, 4));
        assert_eq!(found as i64, product, "{a} * {b}");
    }
}

/// 003:14136-14199: a plane equation with line and mac, whose accumulator no operand names.
#[test]
fn line_and_mac() {
    let thread = run(
        "line(8) null<1>F g3<0,1,0>F g4<8,8,1>F { align1 };
         mac(8) g5<1>F g3.1<0,1,0>F g6<8,8,1>F { align1 };",
        &launch(0xff),
        |thread| {
            write(thread, 3, &[2.0f32, 3.0, 99.0, 10.0].map(f32::to_bits));
            write(thread, 4, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(f32::to_bits));
            write(thread, 6, &[0.5f32; 8].map(f32::to_bits));
        },
    )
    .unwrap();
    for c in 0..8 {
        let expected = 2.0 * (c + 1) as f32 + 10.0 + 1.5;
        assert_eq!(f32::from_bits(read(&thread, 5, c, 4)), expected);
    }
}

/// The accumulator keeps its value over a long chain of jumps backward.
#[test]
fn accumulators_over_jumps() {
    let text = format!(
        "line(8) null<1>F g3<0,1,0>F g4<8,8,1>F {{ align1 }};
         jmpi(1) 202D {{ align1 nomask }};
         mac(8) g5<1>F g3.1<0,1,0>F g6<8,8,1>F {{ align1 }};
         {END}
         jmpi(1) -3D {{ align1 nomask }};
         {}",
        "jmpi(1) -2D { align1 nomask };\n".repeat(200)
    );
    let thread = run(&text, &launch(0xff), |thread| {
        write(thread, 3, &[2.0f32, 3.0, 99.0, 10.0].map(f32::to_bits));
        write(thread, 4, &[4.0f32; 8].map(f32::to_bits));
        write(thread, 6, &[0.5f32; 8].map(f32::to_bits));
    })
    .unwrap();
    for c in 0..8 {
        assert_eq!(f32::from_bits(read(&thread, 5, c, 4)), 2.0 * 4.0 + 10.0 + 1.5);
    }
}

/// 003:10915: the negation of a source is arithmetic, also for logic.
#[test]
fn logic_of_negated_sources() {
    let thread = run(
        "and(8) g4<1>D -g2<8,8,1>D g3<8,8,1>D { align1 };
         not(8) g5<1>D -g2<8,8,1>D { align1 };
         or(8) g6<1>D (abs)g2<8,8,1>D 0x0D { align1 };",
        &launch(0xff),
        |thread| {
            write(thread, 2, &[5, (-5i32) as u32, 0, 1, 2, 3, 4, 5]);
            write(thread, 3, &[u32::MAX; 8]);
        },
    )
    .unwrap();
    assert_eq!([0, 1, 2].map(|c| read(&thread, 4, c, 4) as i32), [-5, 5, 0]);
    assert_eq!([0, 1, 2].map(|c| read(&thread, 5, c, 4) as i32), [4, -6, -1]);
    assert_eq!([0, 1, 2].map(|c| read(&thread, 6, c, 4)), [5, 5, 0]);
}

/// 003:14418-14443: jumps by arithmetic on ip; the four low bits do not matter.
#[test]
fn jumps_by_arithmetic() {
    for (distance, expected) in [("48D", 4), ("0x3fD", 4), ("32D", 6), ("64D", 0)] {
        let thread = run(
            &format!(
                "add(1) ip ip {distance} {{ align1 }};
                 add(1) g2<1>D g2<0,1,0>D 1D {{ align1 }};
                 add(1) g2<1>D g2<0,1,0>D 2D {{ align1 }};
                 add(1) g2<1>D g2<0,1,0>D 4D {{ align1 }};"
            ),
            &launch(1),
            |_| {},
        )
        .unwrap();
        assert_eq!(read(&thread, 2, 0, 4), expected, "{distance}");
    }
}

/// 003:11953: the count of jmpi is from the next instruction, in instructions; also from a register
/// (003:14718, the table of jumps).
#[test]
fn indexed_jumps() {
    for index in 0..3 {
        let text = format!(
            "jmpi(1) g1<0,1,0>D {{ align1 nomask }};
             add(1) g2<1>D g2<0,1,0>D 1D {{ align1 }};
             add(1) g2<1>D g2<0,1,0>D 2D {{ align1 }};
             add(1) g2<1>D g2<0,1,0>D 4D {{ align1 }};\n{END}"
        );
        let bytes = assembled(&text);
        let (mut kernel, mut thread) = (decode(&bytes), Thread::new(&launch(1)));
        write(&mut thread, 1, &[index]);
        play(&bytes, &mut kernel, &mut thread, &mut World::new(100)).unwrap();
        assert_eq!(read(&thread, 2, 0, 4), [7, 6, 4][index as usize]);
    }
}

/// 003:7954-7956: depths are modulo 16, also past an overflow or underflow; without the exception
/// the thread continues. 003:7906: a mask stack is saved and restored.
#[test]
fn mask_stacks() {
    let push = "push(1) ms0<1>UD mask0.1<0,1,0>UW { align1 };\n";
    let text = format!(
        "{}mov(16) g5<1>W ms0<16,16,1>W {{ align1 nomask }};
         mov(1) g4<1>UD msd0<0,1,0>UD {{ align1 nomask }};",
        push.repeat(3)
    );
    let setup = |thread: &mut Thread| thread.regs.set_u16(MASK0 + 2, 0x00f3);
    let thread = run(&text, &launch(0xffff), setup).unwrap();
    for channel in 0..16 {
        let expected = if 0x00f3 >> channel & 1 == 1 { 0 } else { 3 };
        assert_eq!(read(&thread, 5, channel, 1), expected);
        assert_eq!(u32::from(thread.regs.u8(MS0 + channel)), expected);
    }
    assert_eq!(read(&thread, 4, 0, 4), 3);
    for (depth, text, expected) in [(15, push.repeat(2), 1), (5, pop(9), 12)] {
        let setup = |thread: &mut Thread| thread.regs.set_u16(MSD0, depth);
        let thread = run(&text, &launch(0xffff), setup).unwrap();
        assert_eq!(thread.regs.u16(MSD0), expected);
        // With the exception enabled, and without a system routine, it is a fault.
        let start = Launch { exceptions: 1 << 11, ..launch(0xffff) };
        assert!(run(&text, &start, setup).is_err());
    }
}

fn pop(levels: u8) -> String {
    format!("pop(1) ms0<1>UD {levels}UD {{ align1 }};\n")
}

/// 003:12326-12416: msave and mrest around a change of a mask.
#[test]
fn masks_are_saved_and_restored() {
    let thread = run(
        "mov(1) mask0<1>UW 0x0f0fUW { align1 nomask };
         msave(1) ms0<1>UD mask0.1<0,1,0>UW { align1 };
         mov(1) g4<1>UD mask0<0,1,0>UD { align1 nomask };
         mov(8) g6<1>D 7D { align1 };
         mrest(1) mask0.1<1>UW ms0<0,1,0>UD { align1 };
         mov(1) g5<1>UD mask0<0,1,0>UD { align1 nomask };",
        &launch(0x0fff),
        |_| {},
    )
    .unwrap();
    assert_eq!(read(&thread, 4, 0, 4), 0x0f0f_0f0f);
    assert_eq!(read(&thread, 5, 0, 4), 0x0fff_0f0f);
    assert_eq!([0, 3, 4, 7].map(|c| read(&thread, 6, c, 4)), [7, 7, 0, 0]);
}

/// 003:1029-1031 and 13338-13348: a message with an implied move, and one whose receiver is in a0.
#[test]
fn messages() {
    let text = format!(
        "send(8) 3 g5<1>F g2<8,8,1>F 0x01110001
           math MsgDesc: inv mlen 1 rlen 1 {{ align1 }};
         send(1) 4 g27.3<1>F g27.3<0,1,0>F 0x01110081
           math MsgDesc: inv scalar mlen 1 rlen 1 {{ align1 }};\n{END}"
    );
    let bytes = assembled(&text);
    let (mut kernel, mut thread) = (decode(&bytes), Thread::new(&launch(0x0f)));
    numbers(&mut thread);
    let mut world = World::new(100);
    play(&bytes, &mut kernel, &mut thread, &mut world).unwrap();
    let [first, second, last] = world.messages[..] else { panic!("three messages") };
    assert_eq!((first.payload, first.response), (MRF + 3 * 32, Some(5 * 32)));
    assert_eq!((first.mask & 0xff, first.descriptor), (0x0f, 0x0111_0001));
    assert_eq!(second.mask & 0xff, 0x08);
    assert!(last.eot);
    let at = |register: usize, n: usize| thread.regs.u32(MRF + 32 * register + 4 * n);
    for n in 0..8 {
        assert_eq!(at(3, n), (16 + n) as u32 * 0x0001_0003);
        assert_eq!(at(4, n), (27 * 8 + 3) as u32 * 0x0001_0003);
    }
}
