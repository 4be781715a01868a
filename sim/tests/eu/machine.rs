//! Machine registers, exceptions, messages, notifications, and the manuals' examples of jumps.
//! Oracle: the text of the manuals, as named at each test.

use crate::eu::support::{END, IP_BASE, LIMIT, World, assemble, play, read, session};
use genxml_core::U;
use genxml_eu::gen8::eu::{EuInstructionHeader, EuOpcode};
use genxml_eu::gen8::eu_registers::{ControlRegister, ThreadDependencyRegister};
use genxml_sim::Fault;
use genxml_sim::eu::debug::{Alone, Executed, Halt, Location};
use genxml_sim::eu::regions::{A0, CR0, DBG0, FLAGS, N0, SR0, TDR0};
use genxml_sim::eu::{Launch, Stop, Thread};
use genxml_sim::machine::fault::Exception;
use proptest::prelude::*;

fn all() -> Launch {
    Launch { dispatch_mask: u32::MAX, vector_mask: u32::MAX, ..Launch::default() }
}

/// The first dword of a general register.
fn dword(thread: &Thread, register: usize) -> u32 {
    thread.regs.u32(32 * register)
}

/// Runs the text to the end of the thread.
#[track_caller]
fn run(text: &str, setup: impl Fn(&mut Thread)) -> Thread {
    let (thread, halt) = play(&assemble(&format!("{text}{END}")).bytes, &all(), setup).unwrap();
    assert_eq!(halt, Halt::End);
    thread
}

/// The fault that the program `text` ends with.
#[track_caller]
fn fails(text: &str, launch: &Launch) -> Fault {
    play(&assemble(&format!("{text}{END}")).bytes, launch, |_| {}).err().unwrap()
}

// ---- jumps of the manuals ----

/// Packed vectors with destinations of several widths and strides. Oracle: the values that Intel's
/// OpenCL compiler needs where it writes these instructions; for words, the manual's rule that the
/// destination has a stride of one word.
#[test]
fn packed_vectors_follow_the_stride_of_the_destination() {
    let thread = run(
        "(W) mov (2|M0) r20.0<1>:ud 0x400:uv
         (W) mov (4|M0) r21.0<1>:ud 0xC080400:uv
         (W) mov (8|M0) r22.0<1>:uw 0x76543210:uv
         (W) mov (4|M0) r23.0<2>:w 0xF0E0D0C:v
         (W) mov (2|M0) r24.0<1>:w 0x40:v
         (W) mov (4|M0) r25.0<1>:f 0x48403000:vf
",
        |_| {},
    );
    let row = |number: usize, size: usize, stride: usize, count: usize| -> Vec<u64> {
        (0..count).map(|n| read(&thread, number, n * stride, size)).collect()
    };
    assert_eq!(row(20, 4, 4, 2), [0, 4]);
    assert_eq!(row(21, 4, 4, 4), [0, 4, 8, 12]);
    assert_eq!(row(22, 2, 2, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(row(23, 2, 4, 4), [0xfffc, 0xfffd, 0xfffe, 0xffff]);
    assert_eq!(row(24, 2, 2, 2), [0, 4]);
    assert_eq!(row(25, 4, 4, 4), [0.0f32, 1.0, 2.0, 3.0].map(|value| u64::from(value.to_bits())));
}

/// Oracle: 003:14414-14445. `ip` reads as the address of the instruction. A write to `ip` jumps to
/// the address; its low three bits are dropped.
#[test]
fn instruction_pointer() {
    let thread = run(
        "     mov (1|M0) r10.0<1>:ud 1:ud
              add (1|M0) ip<1>:ud ip<0;1,0>:ud 32:d
              mov (1|M0) r10.0<1>:ud 2:ud
              add (1|M0) ip<1>:ud ip<0;1,0>:ud 0x25:d
              mov (1|M0) r10.0<1>:ud 3:ud
              mov (1|M0) r11.0<1>:ud ip<0;1,0>:ud\n",
        |_| {},
    );
    assert_eq!((dword(&thread, 10), dword(&thread, 11)), (1, IP_BASE + 0x50));
    let loops = "add (1|M0) ip<1>:ud ip<0;1,0>:ud 0x7:d\n";
    let (_, halt) = play(&assemble(loops).bytes, &all(), |_| {}).unwrap();
    assert_eq!(halt, Halt::Limit, "an endless loop must reach the limit");
}

/// Oracle: 003:14700-14746, example 15-12, with distances in bytes: a jump into a table of jumps.
/// The cases are after the end of the thread, where only computed jumps lead.
#[test]
fn jump_table() {
    for case in 0..4 {
        let text = format!(
            "(W) shl (1|M0) r1.0<1>:d r0.0<0;1,0>:d 4:w
             (W) jmpi r1.0
             (W) mov (1|M0) ip<1>:ud {:#x}:ud
             (W) mov (1|M0) ip<1>:ud {:#x}:ud
             (W) mov (1|M0) ip<1>:ud {:#x}:ud
             (W) mov (1|M0) ip<1>:ud {:#x}:ud
             done: {END}
             mov (1|M0) r10.0<1>:ud 100:ud
             (W) jmpi done
             mov (1|M0) r10.0<1>:ud 101:ud
             (W) jmpi done
             mov (1|M0) r10.0<1>:ud 102:ud
             (W) jmpi done
             mov (1|M0) r10.0<1>:ud 103:ud
             (W) jmpi done\n",
            IP_BASE + 7 * 16,
            IP_BASE + 9 * 16,
            IP_BASE + 11 * 16,
            IP_BASE + 13 * 16,
        );
        let (thread, halt) =
            play(&assemble(&text).bytes, &all(), |t| t.regs.set_u32(0, case)).unwrap();
        assert_eq!((halt, dword(&thread, 10)), (Halt::End, 100 + case));
    }
}

/// Oracle: 001:21868-21872: a jmpi by -16, or by -8 if it is compacted, is an endless loop at that
/// jmpi. The two instructions before it are executed once. The end of thread after it is not
/// executed.
#[test]
fn compact_jump_to_itself() {
    for (option, length) in [("", 16), (" {Compacted}", 8)] {
        let text = format!(
            "add (1|M0) r10.0<1>:ud r10.0<0;1,0>:ud 1:ud
             add (1|M0) r10.0<1>:ud r10.0<0;1,0>:ud 1:ud
             self: (W) jmpi self{option}
             {END}"
        );
        let assembly = assemble(&text);
        let (bytes, dwords) = (&assembly.bytes, assembly.dwords());
        assert_eq!(bytes.len(), 32 + length + 16);
        // Source 1, the last dword of the native form, is the index.
        let jump = match length {
            8 => genxml_eu::expand(u64::from_le_bytes(bytes[32..40].try_into().unwrap())).unwrap(),
            _ => dwords[8..12].try_into().unwrap(),
        };
        assert_eq!(jump[3] as i32, -(length as i32));
        let (thread, halt) = play(bytes, &all(), |_| {}).unwrap();
        assert_eq!((halt, thread.active()), (Halt::Limit, u32::MAX));
        assert_eq!((thread.executed(), dword(&thread, 10)), (LIMIT, 2));
        let mut session = session(bytes, &all());
        for executed in 3..9 {
            session.run(&mut Alone::default(), executed, &mut ()).unwrap();
            assert_eq!(session.position(), 32);
        }
    }
}

/// Oracle: 003:14500-14540, example 15-5: if, else if, else with two endifs.
#[test]
fn cascade() {
    let thread = run(
        "        cmp (8|M0) (eq)f0.0 null<1>:d r5.0<8;8,1>:d r4.0<8;8,1>:d
         (f0.0)  if (8|M0) over1 out
                 mov (8|M0) r10.0<1>:d 1:w
                 else (8|M0) out out
         over1:  cmp (8|M0) (gt)f0.0 null<1>:d r6.0<8;8,1>:d r7.0<8;8,1>:d
         (f0.0)  if (8|M0) over2 in
                 mov (8|M0) r10.0<1>:d 2:w
                 else (8|M0) in in
         over2:  mov (8|M0) r10.0<1>:d 3:w
         in:     endif (8|M0) out
         out:    endif (8|M0) 16\n",
        |thread| {
            for c in 0..8u32 {
                thread.regs.set_u32(32 * 5 + 4 * c as usize, c & 1);
                thread.regs.set_u32(32 * 6 + 4 * c as usize, c >> 1 & 1);
            }
        },
    );
    // r4 and r7 are zero.
    let found: [u32; 8] = thread.regs.dwords(32 * 10);
    assert_eq!(found, [1, 3, 1, 2, 1, 3, 1, 2]);
}

/// Oracle: 003:14570-14640, examples 15-6 and 15-7 with two flags: a predicate that combines two
/// comparisons.
#[test]
fn compound_conditions() {
    for (predicate, expected) in [("(f0.0.allv)", [0, 0, 0, 9]), ("(f0.0.anyv)", [0, 9, 9, 9])] {
        let thread = run(
            &format!(
                "cmp (4|M0) (gt)f0.0 null<1>:d r4.0<4;4,1>:d 0:w
                 cmp (4|M0) (gt)f1.0 null<1>:d r5.0<4;4,1>:d 0:w
                 {predicate} if (4|M0) out out
                 mov (4|M0) r10.0<1>:d 9:w
                 out: endif (4|M0) 16\n"
            ),
            |thread| {
                for c in 0..4u32 {
                    thread.regs.set_u32(32 * 4 + 4 * c as usize, c & 1);
                    thread.regs.set_u32(32 * 5 + 4 * c as usize, c >> 1);
                }
            },
        );
        let found: [u32; 4] = thread.regs.dwords(32 * 10);
        assert_eq!(found, expected, "{predicate}");
    }
}

/// A loop that all channels leave at different rounds (examples 15-8, 15-9, 15-11), inside an outer
/// loop. The predicate of the inner `while` is stale for channels that left by `break`.
#[test]
fn marks_of_breaks_do_not_outlive_their_loop() {
    let thread = run(
        "       mov (8|M0) r11.0<1>:d 0:w
         outer: mov (8|M0) r12.0<1>:d 0:w
         inner: add (8|M0) r10.0<1>:d r10.0<8;8,1>:d 1:w
                add (8|M0) r12.0<1>:d r12.0<8;8,1>:d 1:w
                cmp (8|M0) (ge)f1.0 null<1>:d r12.0<8;8,1>:d r5.0<8;8,1>:d
                mov (8|M0) r13.0<1>:d 0:w
                cmp (8|M0) (ne)f0.0 null<1>:d r13.0<8;8,1>:d 0:w
         (f1.0) break (8|M0) bottom bottom
                cmp (8|M0) (eq)f0.0 null<1>:d r13.0<8;8,1>:d 0:w
         bottom: (f0.0) while (8|M0) inner
                add (8|M0) r11.0<1>:d r11.0<8;8,1>:d 1:w
                cmp (8|M0) (lt)f0.0 null<1>:d r11.0<8;8,1>:d 3:w
         (f0.0) while (8|M0) outer\n",
        |thread| (0..8).for_each(|c| thread.regs.set_u32(32 * 5 + 4 * c, c as u32 + 1)),
    );
    let found: [u32; 8] = thread.regs.dwords(32 * 10);
    assert_eq!(found, [3, 6, 9, 12, 15, 18, 21, 24]);
}

/// Oracle: 001:21760-21803, after a join, the channels with its predicate continue.
#[test]
fn join_with_a_predicate() {
    let text = format!(
        "       mov (1|M0) f0.0<1>:ud 0x0f:ud
                mov (1|M0) f1.0<1>:ud 0x33:ud
         (f0.0) goto (8|M0) here here
                mov (8|M0) r10.0<1>:d 1:w
         here: (f1.0) join (8|M0) out
                mov (8|M0) r11.0<1>:d 1:w
         out: {END}"
    );
    let launch = Launch { dispatch_mask: 0xff, ..Launch::default() };
    let (thread, _) = play(&assemble(&text).bytes, &launch, |_| {}).unwrap();
    let values = |register: usize| thread.regs.dwords::<8>(32 * register);
    assert_eq!(values(10), [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(values(11), [1, 1, 0, 0, 1, 1, 0, 0]);
    assert_eq!(thread.active(), 0x33);
}

/// A subroutine that calls itself, with its return address and the depth on a stack in the
/// registers.
#[test]
fn recursion() {
    let text = format!(
        "       mov (1|M0) a0.0<1>:uw 640:uw
                mov (8|M0) r10.0<1>:d 0:w
                call (8|M0) r100.0:ud sum
                {END}
         sum:   (W) mov (2|M0) r[a0.0]<1>:ud r100.0<2;2,1>:ud
                (W) add (1|M0) a0.0<1>:uw a0.0<0;1,0>:uw 32:uw
                add (8|M0) r10.0<1>:d r10.0<8;8,1>:d r11.0<8;8,1>:d
                add (8|M0) r11.0<1>:d r11.0<8;8,1>:d -1:w
                (W) add (1|M0) (gt)f0.0 r12.0<1>:d r12.0<0;1,0>:d -1:w
                (W&~f0.0) jmpi back
                call (8|M0) r100.0:ud sum
         back:  (W) add (1|M0) a0.0<1>:uw a0.0<0;1,0>:uw -32:w
                (W) mov (2|M0) r100.0<1>:ud r[a0.0]<2;2,1>:ud
                ret (8|M0) r100.0:ud\n"
    );
    let (thread, halt) = play(&assemble(&text).bytes, &all(), |thread| {
        (0..8).for_each(|c| thread.regs.set_u32(32 * 11 + 4 * c, 10 + c as u32));
        thread.regs.set_u32(32 * 12, 10);
    })
    .unwrap();
    assert_eq!(halt, Halt::End);
    // Channel c sums ten numbers, downward from 10 + c.
    let found: [u32; 8] = thread.regs.dwords(32 * 10);
    assert_eq!(found, std::array::from_fn(|c| (0..10).map(|n| 10 + c as u32 - n).sum::<u32>()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A private array in registers, written and read as Intel's compiler for OpenCL does it: one
    /// scattered move for each channel. Oracle: an array for each channel.
    #[test]
    fn scattered_moves(
        writes in prop::collection::vec((prop::array::uniform8(0u16..16), any::<[u32; 8]>()), 1..4),
        at in prop::array::uniform8(0u16..16),
        mask in 0u32..256,
    ) {
        let mut text = String::new();
        let index = |from: usize| format!(
            "mul (8|M0) r2.0<1>:uw r{from}.0<8;8,1>:uw 32:uw
             add (8|M0) a0.0<1>:uw r2.0<8;8,1>:uw 1280:uw\n"
        );
        for n in 0..writes.len() {
            text += &index(20 + 2 * n);
            for c in 0..8 {
                text += &format!("smov (8|M0) r[a0.{c}]<1>:d r{}.{c}<0;1,0>:d {}:uw\n", 21 + 2 * n, 1 << c);
            }
        }
        text += &index(30);
        text += &format!("add (8|M0) a0.0<1>:uw a0.0<8;8,1>:uw r31.0<8;8,1>:uw\nmov (8|M0) r10.0<1>:d r[a0.0]<1,0>:d\n{END}");
        let launch = Launch { dispatch_mask: mask, ..Launch::default() };
        let (thread, _) = play(&assemble(&text).bytes, &launch, |thread| {
            for c in 0..8 {
                for (n, (index, value)) in writes.iter().enumerate() {
                    thread.regs.set_u16(32 * (20 + 2 * n) + 2 * c, index[c]);
                    thread.regs.set_u32(32 * (21 + 2 * n) + 4 * c, value[c]);
                }
                thread.regs.set_u16(32 * 30 + 2 * c, at[c]);
                thread.regs.set_u16(32 * 31 + 2 * c, 4 * c as u16);
            }
        })
        .unwrap();
        for c in (0..8).filter(|c| mask >> c & 1 == 1) {
            let last = writes.iter().rev().find(|(index, _)| index[c] == at[c]);
            let expected = last.map_or(0, |(_, value)| value[c]);
            prop_assert_eq!(thread.regs.u32(32 * 10 + 4 * c), expected, "channel {}", c);
        }
        // Elements of other channels, and those outside the array, are unchanged.
        for register in 40..58 {
            for c in (0..8).filter(|c| register >= 56 || mask >> c & 1 == 0) {
                prop_assert_eq!(thread.regs.u32(32 * register + 4 * c), 0);
            }
        }
    }

    /// Oracle: 000:555-581 and 003:8660-8690: predicates `any` and `all` combine aligned groups of
    /// bits of the whole flag register, including bits of channels that are not dispatched. The
    /// inversion comes last.
    #[test]
    fn groups_of_predicates(
        flags: u32,
        size in prop::sample::select(vec![8u32, 16]),
        quarter in 0u32..4,
        group in prop::sample::select(vec![2u32, 4, 8, 16, 32]),
        every: bool,
        inverse: bool,
        mask: u32,
    ) {
        let first = quarter * 8 / size * size;
        let name = if every { "all" } else { "any" };
        let sign = if inverse { "~" } else { "" };
        // Channel `c` uses bit `c` of the 32-bit flag register. The predicate names the subregister
        // that contains the bit of the first channel.
        let subregister = first / 16;
        let text = format!(
            "({sign}f0.{subregister}.{name}{group}h) if ({size}|M{first}) out out
             mov ({size}|M{first}) r10.0<1>:ud 1:ud
             out: endif ({size}|M{first}) 16\n{END}"
        );
        let launch = Launch { dispatch_mask: mask, ..Launch::default() };
        let (thread, _) =
            play(&assemble(&text).bytes, &launch, |thread| thread.regs.set_u32(FLAGS, flags)).unwrap();
        for channel in first..first + size {
            let aligned = channel / group * group;
            let mut bits = (aligned..aligned + group).map(|bit| flags >> bit & 1 == 1);
            let holds = if every { bits.all(|bit| bit) } else { bits.any(|bit| bit) } != inverse;
            let expected = u32::from(holds && mask >> channel & 1 == 1);
            let found = thread.regs.u32((10 * 32 + 4 * (channel - first)) as usize);
            prop_assert_eq!(found, expected, "channel {}", channel);
        }
    }
}

// ---- messages and notifications ----

/// Oracle: 003:13340ff, a descriptor in the address register; 004:2567, an indirect destination.
/// The environment answers with zeros.
#[test]
fn descriptor_and_destination_in_registers() {
    let mut send =
        genxml_eu::decode(&assemble("send (8|M0) r20:ud r2:ud 0xA a0.0\n").dwords()).unwrap();
    let ends = genxml_eu::decode(&assemble(END).dwords()).unwrap();
    send.destination.as_mut().unwrap().register =
        genxml_eu::instruction::Register::Indirect { address: 3, offset: 32 };
    send.send.as_mut().unwrap().descriptor = genxml_eu::instruction::Descriptor::Address(16);
    let kernel = crate::eu::support::decode(&[send, ends]);
    for (address, fine) in [(640u16, true), (644, false), (4096 - 64, true), (4096 - 32, false)] {
        let mut thread = Thread::new(&all());
        thread.regs.grf_mut().fill(0xff);
        // The descriptor: one register of payload, one of response.
        thread.regs.set_u32(A0 + 16, 0x0210_0000);
        thread.regs.set_u16(A0 + 6, address);
        let mut world = Alone::default();
        let result = thread.run(&kernel, &mut world);
        assert_eq!(result.is_ok(), fine, "{address}: {result:?}");
        if fine {
            assert_eq!(world.messages[0].0.descriptor, 0x0210_0000);
            let at = usize::from(address) + 32;
            assert!(thread.regs.grf()[at..at + 32].iter().all(|byte| *byte == 0));
            assert_eq!(thread.regs.u32(at - 4), u32::MAX);
        }
    }
}

/// Oracle: eu.md 1: sends and sendsc came with Gen9.
#[test]
fn split_sends_are_illegal() {
    for opcode in [0x33, 0x34] {
        let bytes: Vec<u8> =
            [opcode, 0, 0, 0].iter().flat_map(|dword: &u32| dword.to_le_bytes()).collect();
        let fault = play(&bytes, &all(), |_| {}).err().unwrap();
        assert!(matches!(fault, Fault::IllegalInstruction { .. }), "{fault}");
    }
}

/// Oracle: 004:3512-3625 and G45 vol 4, wait: the count is decremented; if it is zero, the thread
/// waits for a notification.
#[test]
fn notifications() {
    let text = format!(
        "(W) wait n0.0<0;1,0>:ud
         (W) wait n0.1<0;1,0>:ud
         mov (1|M0) r10.0<1>:ud n0.0<0;1,0>:ud
         {END}"
    );
    let bytes = assemble(&text).bytes;
    let mut session = session(&bytes, &all());
    let mut world = Alone::default();
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), Halt::Wait(Stop::Notification(0)));
    session.thread.notify(0);
    session.thread.notify(0);
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), Halt::Wait(Stop::Notification(1)));
    // The host's notification has one bit: the second one is lost.
    session.thread.notify(1);
    session.thread.notify(1);
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), Halt::End);
    assert_eq!(session.thread.regs.dwords::<3>(N0), [1, 0, 0]);
    assert_eq!((dword(&session.thread, 10), session.thread.executed()), (1, 4));
    let fault = fails("(W) wait r10.0<0;1,0>:ud\n", &all());
    assert!(fault.to_string().contains("only n0.0, n0.1 and n0.2"), "{fault}");
}

/// Oracle: 001:18189-18203, sendc is sent when no dependency is valid; 004:3690, a write to tdr
/// clears the valid bit.
#[test]
fn dependencies() {
    let bytes = assemble(&format!("sendc (8|M0) null r2:ud 0xA 0x02000000\n{END}")).bytes;
    let mut session = session(&bytes, &all());
    for (n, fftid) in [(1, 7), (5, 9)] {
        let dependency = ThreadDependencyRegister { fftid: U::new(fftid).unwrap(), valid: true };
        session.thread.set_dependency(n, dependency);
    }
    let mut world = Alone::default();
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), Halt::Wait(Stop::Dependency(7)));
    session.thread.retired(7);
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), Halt::Wait(Stop::Dependency(9)));
    assert!(world.messages.is_empty());
    session.thread.retired(9);
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), Halt::End);
    assert_eq!(world.messages.len(), 2);

    let thread = run("(W) mov (1|M0) tdr0.2<1>:uw 0xffff:uw\n", |thread| {
        (0..8).for_each(|n| thread.regs.set_u16(TDR0 + 2 * n, 0x8000 + n as u16));
    });
    assert_eq!(thread.regs.dwords::<2>(TDR0), [0x8001_8000, 0x8003_0002]);
}

// ---- registers ----

/// Oracle: 004:2918-3078, 3081-3250, 3512-3680: reserved bits stay zero, read-only bits keep their
/// value.
#[test]
fn access_to_registers() {
    let thread = run(
        "(W) mov (1|M0) sr0.0<1>:ud 0xffffffff:ud
         (W) mov (1|M0) cr0.0<1>:ud 0x00000030:ud
         (W) mov (1|M0) cr0.2<1>:ud 0x00001237:ud
         (W) mov (1|M0) cr0.3<1>:ud 0xffffffff:ud
         (W) mov (1|M0) n0.0<1>:ud 5:ud
         (W) mov (1|M0) tm0.0<1>:ud 5:ud
         (W) mov (1|M0) ce0.0<1>:ud 0:ud
         (W) mov (1|M0) dbg0.0<1>:ud 77:ud
         (W) mov (1|M0) r10.0<1>:ud sr0.0<0;1,0>:ud
         (W) mov (1|M0) r11.0<1>:ud ce0.0<0;1,0>:ud
         (W) mov (1|M0) r12.0<1>:ud tm0.0<0;1,0>:ud
         (W) mov (1|M0) r13.0<1>:ud tm0.0<0;1,0>:ud\n",
        |_| {},
    );
    // The bits of sr0.0 that exist: FFID, priority class, priority, half-slice, unit, thread.
    assert_eq!(dword(&thread, 10), 0x0f87_1f07);
    assert_eq!(thread.regs.dwords::<4>(CR0), [0x30, 0, 0x1230, 0]);
    assert_eq!(thread.modes.rounding, 3);
    assert_eq!((thread.regs.u32(N0), dword(&thread, 11)), (0, u32::MAX));
    assert_eq!((thread.regs.u32(DBG0), thread.regs.u32(SR0 + 8)), (77, u32::MAX));
    assert!(dword(&thread, 13) > dword(&thread, 12), "the clock must advance");
}

/// Oracle: gen8_facts 3.8, ce0 has the enabled channels; bit 0 is the instruction's first channel.
#[test]
fn channel_enables() {
    let thread = run(
        "       mov (1|M0) f0.0<1>:ud 0x00ff3300:ud
         (f0.0) if (32|M0) out out
                (W) mov (1|M0) r10.0<1>:ud ce0.0<0;1,0>:ud
                (W) mov (1|M8) r11.0<1>:ud ce0.0<0;1,0>:ud
         out:   endif (32|M0) 16\n",
        |_| {},
    );
    assert_eq!((dword(&thread, 10), dword(&thread, 11)), (0x00ff_3300, 0x00_ff33));
}

// ---- exceptions ----

fn control(thread: &Thread) -> ControlRegister {
    ControlRegister::unpack_lossy(&thread.regs.dwords(CR0))
}

const SOFTWARE: u32 = 1 << 13;
const ILLEGAL: u32 = 1 << 12;
const BREAKPOINT: u32 = 1 << 15;

/// Without a system routine an exception ends the thread with a fault that names the exception.
#[test]
fn exceptions_without_a_routine() {
    let name = |text: &str, exceptions| {
        let fault = fails(text, &Launch { exceptions, ..all() });
        match fault {
            Fault::Exception { exception, at } => {
                Some((exception, at.thread.map_or(0, |thread| thread.ip)))
            }
            _ => None,
        }
    };
    let raise = "nop\n(W) or (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x20000000:ud\n";
    assert_eq!(name(raise, SOFTWARE), Some((Exception::Software, 16)));
    assert_eq!(name("illegal\n", ILLEGAL), Some((Exception::IllegalOpcode, 0)));
    let breakpoint = "nop\nmov (8|M0) r10.0<1>:ud 1:ud {Breakpoint}\n";
    assert_eq!(name(breakpoint, BREAKPOINT), Some((Exception::Breakpoint, 16)));
    // Disabled exceptions only set their status (004:3110).
    let thread = run(&format!("{raise}{breakpoint}"), |_| {});
    assert_eq!(dword(&thread, 10), 1);
    assert!(control(&thread).software_exception_status && control(&thread).breakpoint_status);
    assert!(!control(&thread).master_exception_state);
    let fault = fails("illegal\n", &Launch { exceptions: ILLEGAL, ..all() });
    assert!(
        fault.to_string().contains("kernel at 0x0000_0000_0000 +0x0: illegal opcode, and"),
        "{fault}"
    );
}

/// While its exception is disabled, an illegal opcode sets its status and works as `nop`. So does
/// any unused opcode, also if bit 7 of the instruction is set. Oracle: 003:9342-9346,
/// 001:21677-21700.
#[test]
fn disabled_illegal_opcodes_are_nops() {
    // 0x01 is `mov` if bit 7 is clear; with bit 7 set it is illegal. 0x7d is unused.
    for (opcode, bit_7, compact) in [
        (0x00, false, false),
        (0x7d, false, false),
        (0x01, true, false),
        (0x7f, true, false),
        (0x00, false, true),
        (0x7d, false, true),
    ] {
        let mut header = EuInstructionHeader {
            opcode: EuOpcode::from_bits(opcode),
            undefined_operation: bit_7,
            ..EuInstructionHeader::new()
        };
        header.control.controls_b.cmpt_ctrl = compact;
        let mut bytes = bytemuck::bytes_of(&header.pack()[0]).to_vec();
        bytes.resize(if compact { 8 } else { 16 }, 0);
        bytes.extend(assemble(&format!("mov (8|M0) r10.0<1>:ud 7:ud\n{END}")).bytes);
        let what = format!("opcode {opcode:#x} {bit_7} {compact}");
        let (thread, halt) = play(&bytes, &Launch { exceptions: SOFTWARE, ..all() }, |_| {})
            .unwrap_or_else(|fault| panic!("{what}: {fault}"));
        assert_eq!((halt, thread.regs.dwords(320)), (Halt::End, [7; 8]), "{what}");
        assert_eq!(thread.executed(), 3, "{what}");
        let control = control(&thread);
        assert!(control.illegal_opcode_status && !control.master_exception_state, "{what}");
        let fault = play(&bytes, &Launch { exceptions: ILLEGAL, ..all() }, |_| {}).err();
        assert!(
            matches!(fault, Some(Fault::Exception { exception: Exception::IllegalOpcode, .. })),
            "{what}: {fault:?}"
        );
    }
}

/// A thread that runs into zeros ends: with its budget, at the end of the code, or at the limit for
/// the length of a kernel. Oracle: 16 bytes for each instruction.
#[test]
fn threads_in_zeros() {
    let zeros = vec![0; 3 << 20];
    let mut long = session(&zeros, &all());
    let fault =
        long.run(&mut World { steps: 5000, ..World::new() }, u64::MAX, &mut ()).unwrap_err();
    assert!(matches!(fault, Fault::Hang { .. }), "{fault}");
    let mut short = session(&zeros, &all());
    assert_eq!(short.run(&mut Alone::default(), 1000, &mut ()).unwrap(), Halt::Limit);
    assert_eq!((short.thread.executed(), short.position()), (1000, 16_000));
    let code = &zeros[..1 << 20];
    for (code, says, ip) in [
        (code, "the code ends before this instruction", 1 << 20),
        (&zeros, "a kernel of more than 131,072 instructions", 131_072 * 16),
    ] {
        let fault = play(code, &all(), |_| {}).err().unwrap();
        assert!(fault.to_string().contains(says), "{fault}");
        let at = match &fault {
            Fault::IllegalInstruction { at, .. } | Fault::Unimplemented { at, .. } => at,
            _ => panic!("{fault}"),
        };
        assert_eq!(at.thread.map(|thread| thread.ip), Some(ip));
    }
}

/// The system routine of 003:9420-9609 without its messages: accumulators off, flags saved, the
/// pending exceptions served one after the other through a table of jumps, flags restored, master
/// bit cleared. `lzd` gives the number of the highest pending exception in `cr0.1`: 0 breakpoint,
/// 1 halt, 2 software, 3 illegal opcode.
const ROUTINE: &str = "
    entry:  (W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x2:ud {Switch}
            (W) mov (1|M0) r120.0<1>:ud f0.0<0;1,0>:ud
    next:   (W) and (1|M0) (eq)f0.0 r120.1<1>:ud cr0.1<0;1,0>:ud 0xf8000000:ud
            (W&f0.0) jmpi exit
            (W) lzd (1|M0) r120.2<1>:ud r120.1<0;1,0>:ud
            (W) shl (1|M0) r120.2<1>:d r120.2<0;1,0>:d 4:w
            (W) jmpi r120.2
            (W) jmpi serve0
            (W) jmpi serve1
            (W) jmpi serve2
            (W) jmpi serve3
    serve0: (W) and (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x7fffffff:ud
            (W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x8000:ud
            (W) add (1|M0) r121.0<1>:ud r121.0<0;1,0>:ud 1:ud
            (W) jmpi next
    serve1: (W) and (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0xbfffffff:ud
            (W) add (1|M0) r121.1<1>:ud r121.1<0;1,0>:ud 1:ud
            (W) jmpi next
    serve2: (W) and (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0xdfffffff:ud
            (W) add (1|M0) r121.2<1>:ud r121.2<0;1,0>:ud 1:ud
            (W) jmpi next
    serve3: (W) and (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0xefffffff:ud
            (W) add (1|M0) r121.3<1>:ud r121.3<0;1,0>:ud 1:ud
            (W) add (1|M0) cr0.2<1>:ud cr0.2<0;1,0>:ud 16:ud
            (W) jmpi next
    exit:   (W) mov (1|M0) f0.0<1>:ud r120.0<0;1,0>:ud
            (W) and (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0xfffffffd:ud
            (W) and (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x7fffffff:ud {Switch}
            nop\n";

/// The code of a kernel followed by the routine, and the value of `ip` at the routine.
fn with_routine(text: &str, routine: &str) -> (Vec<u8>, Option<u32>) {
    let assembly = assemble(&format!("{text}{END}{routine}"));
    let entry = assembly.labels["entry"];
    (assembly.bytes, Some(IP_BASE + entry as u32))
}

#[test]
fn the_system_routine_of_the_manual() {
    let (bytes, system_routine) = with_routine(
        "       (W) mov (1|M0) f0.0<1>:ud 0x55:ud
         (f0.0) if (8|M0) out out
                mov (8|M0) r10.0<1>:ud 1:ud {Breakpoint}
                (W) or (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x20000000:ud {Switch}
                add (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 1:ud
                illegal
                add (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 1:ud {Breakpoint}
         out:   endif (8|M0) 16\n",
        ROUTINE,
    );
    let launch = Launch { exceptions: SOFTWARE | ILLEGAL | BREAKPOINT, system_routine, ..all() };
    let (thread, halt) = play(&bytes, &launch, |_| {}).unwrap();
    assert_eq!(halt, Halt::End);
    // Two breakpoints, no halt, one software exception, and one illegal opcode, which the routine
    // skipped.
    assert_eq!(thread.regs.dwords::<4>(32 * 121), [2, 0, 1, 1]);
    assert_eq!(thread.regs.dwords::<8>(32 * 10), [3, 0, 3, 0, 3, 0, 3, 0]);
    assert_eq!((thread.regs.u32(FLAGS), thread.active()), (0x55, u32::MAX));
    let control = control(&thread);
    assert!(
        !control.master_exception_state
            && !control.breakpoint_suppress
            && !control.accumulator_disable
    );
    assert_eq!(control.pack()[1] >> 16, 0, "no exception may be left pending");
}

/// Oracle: 004:3481-3490, in the routine, `cr0.2` has the address of the instruction that raised
/// the exception, or of the instruction after it for a software exception.
#[test]
fn application_pointer() {
    let keep = "
        entry: (W) mov (1|M0) r20.0<1>:ud cr0.2<0;1,0>:ud
               (W) mov (1|M0) r20.1<1>:ud cr0.0<0;1,0>:ud
               (W) mov (1|M0) cr0.1<1>:ud 0:ud
               (W) mov (1|M0) cr0.0<1>:ud 0:ud\n";
    for (raise, exceptions, back) in [
        ("mov (8|M0) r10.0<1>:ud 1:ud {Breakpoint}\n", BREAKPOINT, 16),
        ("(W) or (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x20000000:ud\n", SOFTWARE, 32),
        ("illegal\n", ILLEGAL, 16),
    ] {
        let (bytes, system_routine) = with_routine(&format!("nop\n{raise}"), keep);
        let launch = Launch { exceptions, system_routine, ..all() };
        // The routine disables all exceptions, so the thread does not enter it again.
        let (thread, halt) = play(&bytes, &launch, |_| {}).unwrap();
        assert_eq!((halt, dword(&thread, 20)), (Halt::End, IP_BASE + back), "{raise}");
        assert_eq!(thread.regs.u32(32 * 20 + 4) >> 31, 1, "not in the exception state");
    }
}

/// Oracle: G45 vol 4, 12.4.5: if the routine leaves the exception status set and sets the suppress
/// bit, each return from it executes one instruction.
#[test]
fn single_steps() {
    let step = "
        entry: (W) add (1|M0) r20.0<1>:ud r20.0<0;1,0>:ud 1:ud
               (W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x8000:ud
               (W) and (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x7fffffff:ud\n";
    let (bytes, system_routine) = with_routine(
        "nop {Breakpoint}
         mov (8|M0) r10.0<1>:ud 1:ud
         mov (8|M0) r11.0<1>:ud 1:ud\n",
        step,
    );
    let launch = Launch { exceptions: BREAKPOINT, system_routine, ..all() };
    let (thread, halt) = play(&bytes, &launch, |_| {}).unwrap();
    // The routine ran before each of nop, mov, mov and send.
    assert_eq!((halt, dword(&thread, 20)), (Halt::End, 4));
    assert_eq!(thread.executed(), 4 + 4 * 3);
}

/// Oracle: 003:9330ff, software cannot enter the exception state, and an exception within the
/// routine does not nest.
#[test]
fn exceptions_do_not_nest() {
    let thread = run("(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x80000000:ud\n", |_| {});
    assert!(!control(&thread).master_exception_state);
    let routine = "
        entry: (W) add (1|M0) r20.0<1>:ud r20.0<0;1,0>:ud 1:ud {Breakpoint}
               (W) and (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x0000ffff:ud
               (W) and (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x7fffffff:ud\n";
    let (bytes, system_routine) =
        with_routine("(W) or (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x20000000:ud\n", routine);
    let launch = Launch { exceptions: BREAKPOINT | SOFTWARE, system_routine, ..all() };
    let (thread, halt) = play(&bytes, &launch, |_| {}).unwrap();
    assert_eq!((halt, dword(&thread, 20)), (Halt::End, 1));
    // If the routine does not clear the status, it is entered again and again (12.3.3).
    let routine = "entry: (W) and (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x7fffffff:ud\n";
    let (bytes, system_routine) =
        with_routine("(W) or (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x20000000:ud\n", routine);
    let launch = Launch { exceptions: SOFTWARE, system_routine, ..all() };
    assert_eq!(play(&bytes, &launch, |_| {}).unwrap().1, Halt::Limit);
}

/// Oracle: 003:9370ff, a halt from outside is recognised between two instructions.
#[test]
fn external_halt() {
    let (bytes, system_routine) = with_routine("here: (W) jmpi here\n", ROUTINE);
    let mut session = session(&bytes, &Launch { system_routine, ..all() });
    let mut world = Alone::default();
    assert_eq!(session.run(&mut world, 100, &mut ()).unwrap(), Halt::Limit);
    session.thread.halt();
    assert_eq!(session.run(&mut world, 100, &mut ()).unwrap(), Halt::Limit);
    assert_eq!(session.thread.regs.u32(32 * 121 + 4), 1);
    assert_eq!((session.position(), session.thread.executed()), (0, 200));
}

// ---- sessions ----

/// Breakpoints and limits of a session, and what it reports to a watcher.
#[test]
fn sessions() {
    let bytes = assemble(&format!(
        "        mov (8|M0) r10.0<1>:ud 7:ud
                 cmp (8|M0) (eq)f0.0 null<1>:ud r11.0<8;8,1>:ud 1:ud
         (f0.0)  add (8|M0) r10.0<2>:uw r10.0<16;8,2>:uw 1:uw
                 {END}"
    ))
    .bytes;
    let launch = Launch { dispatch_mask: 0x0f, ..Launch::default() };
    let mut session = session(&bytes, &launch);
    session.thread.regs.set_u32(32 * 11 + 8, 1);
    session.break_at(32);
    let mut world = Alone::default();
    let mut seen = Vec::new();
    let mut watch = |executed: &Executed<'_>| {
        let writes: Vec<String> = executed
            .writes
            .iter()
            .map(|w| format!("{}={:#x}", w.location.name(w.ty.size()), w.bits))
            .collect();
        seen.push((executed.offset, executed.mask, writes.join(" ")));
    };
    assert_eq!(session.run(&mut world, 1, &mut watch).unwrap(), Halt::Limit);
    assert_eq!(session.run(&mut world, 9, &mut watch).unwrap(), Halt::Breakpoint(32));
    assert_eq!((session.position(), session.thread.executed()), (32, 2));
    assert_eq!(session.run(&mut world, 9, &mut watch).unwrap(), Halt::End);
    assert_eq!(seen[0], (0, 0x0f, "r10.0=0x7 r10.1=0x7 r10.2=0x7 r10.3=0x7".into()));
    assert_eq!(seen[1], (16, 0x0f, "f0.0=0x4".into()));
    assert_eq!(seen[2], (32, 0x04, "r10.4=0x8".into()));
    assert_eq!(seen.len(), 4);
}

/// A watcher sees quotients and remainders where the division writes them: the remainders are in
/// the registers after the quotients (003:5958-5971). Oracle: 100 / 7 and the registers.
#[test]
fn watched_remainders() {
    for (size, stride, after) in [(8, 1, 1), (4, 1, 1), (8, 2, 2), (16, 1, 2)] {
        let text = format!(
            "mov ({size}|M0) r10.0<{stride}>:ud 100:ud
             mov ({size}|M0) r14.0<{stride}>:ud 7:ud
             math.idiv ({size}|M0) r20.0<{stride}>:ud r10.0{region}:ud r14.0{region}:ud
             {END}",
            region = format_args!("<{};{size},{stride}>", size * stride),
        );
        let bytes = assemble(&text).bytes;
        let mut session = session(&bytes, &all());
        let mut seen = Vec::new();
        let mut watch = |executed: &Executed<'_>| {
            if executed.offset == 32 {
                seen.extend(executed.writes.iter().map(|w| (w.location, w.channel, w.bits)));
            }
        };
        session.run(&mut Alone::default(), 9, &mut watch).unwrap();
        let at = |first: usize, c: usize| (32 * first + 4 * stride * c) as u16;
        let of = |first: usize, bits| {
            (0..size).map(move |c| (Location::File(at(first, c)), Some(c as u8), bits))
        };
        let expected: Vec<_> = of(20, 14).chain(of(20 + after, 2)).collect();
        assert_eq!(seen, expected, "{size} {stride}");
        for (location, _, bits) in expected {
            let Location::File(at) = location else { panic!("{location:?}") };
            assert_eq!(u64::from(session.thread.regs.u32(at.into())), bits, "{size} {stride}");
        }
    }
}
