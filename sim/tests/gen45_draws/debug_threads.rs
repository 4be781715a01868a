//! Threads under debugging (003:1714-1788, 1973-2590): their IDs, breakpoints, halts, attention,
//! and the messages that are recorded.

use crate::debug_support::*;
use crate::scene::{KERNELS, PIXELS, SIDE, Scene, kernel, rectangle, u};
use genxml::core::Address;
use genxml::gen45::commands_common::StateSip;
use genxml::gen45::debug_fixed::*;
use genxml::gen45::debug_shared::*;
use genxml_sim::eu::Exception;
use genxml_sim::{Event, Fault, Now};

/// The system routine.
const ROUTINE: u64 = KERNELS + 0x2000;

/// Writes r0.6, r0.7 and the execution unit and slot of sr0 as colours.
const IDS: &str = "
mov(1) g6<1>F g0.6<0,1,0>UD { align1 };
and(1) g7<1>UD g0.7<0,1,0>UD 0x00ffffffUD { align1 };
mov(1) g7.1<1>F g7<0,1,0>UD { align1 };
shr(1) g8<1>UD sr0<0,1,0>UD 8UD { align1 };
and(1) g8<1>UD g8<0,1,0>UD 0x0000000fUD { align1 };
mov(1) g8.1<1>F g8<0,1,0>UD { align1 };
and(1) g9<1>UD sr0<0,1,0>UD 0x00000007UD { align1 };
mov(1) g9.1<1>F g9<0,1,0>UD { align1 };
mul(16) m2<1>F g6<0,1,0>F 0.00392157F { align1 compr4 };
mul(16) m3<1>F g7.1<0,1,0>F 0.00392157F { align1 compr4 };
mul(16) m4<1>F g8.1<0,1,0>F 0.00392157F { align1 compr4 };
mul(16) m5<1>F g9.1<0,1,0>F 0.00392157F { align1 compr4 };
mov(8) m1<1>UD g1<8,8,1>UD { align1 nomask };
send(16) 0 null<1>UW g0<8,8,1>UW 0x85a04800
    write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0 { align1 EOT };
";

/// 003:1714-1728: r0.6 of a pixel shader counts the threads of its primitive, r0.7 has the number
/// of the primitive. 003:2010, 2073: the masks and the slot of the dispatcher.
#[test]
fn thread_ids() {
    let mut scene = Scene::new();
    scene.pixels = IDS;
    let td = TdCtl2 {
        wiz_execution_mask_enable: true,
        active_threadid: u(3),
        active_threadid_enable: true,
        ..TdCtl2::new()
    };
    let masks = [(TdCtl2::OFFSET, td.pack()[0]), (TdWizEmsk::OFFSET, 0xa0)];
    scene.more = load(&[&[ENABLE][..], &masks].concat());
    scene.draw(&four(), 24).unwrap();
    for n in 0..4 {
        let mut threads = [[0; 16]; 2];
        for at in 0..64 {
            let [thread, primitive, unit, slot] = scene.pixel(8 * n + at % 8, at / 8);
            assert_eq!([unit, slot], [5, 3]);
            threads[usize::from(primitive) - 2 * n as usize][usize::from(thread)] += 1;
        }
        for counts in threads {
            // Threads are counted from 0 without a gap, and have up to four subspans.
            let used = counts.iter().position(|count| *count == 0).unwrap();
            assert!((2..=4).contains(&used), "{counts:?}");
            assert!(counts[used..].iter().all(|count| *count == 0), "{counts:?}");
            assert!(counts.iter().all(|count| *count <= 16), "{counts:?}");
        }
    }
    // No execution unit.
    let mut scene = Scene::new();
    scene.more = load(&[ENABLE, (TdCtl2::OFFSET, td.pack()[0])]);
    match scene.draw(&four(), 24) {
        Err(Fault::BadPacket { field, .. }) => assert_eq!(field, "WIZ Execution Mask"),
        other => panic!("{other:?}"),
    }
}

/// Sets the green of all pixels of the message to 1, clears the status and returns.
const GREEN: &str = "
mov(8) m3<1>UD 0x3f800000UD { align1 nomask };
mov(8) m7<1>UD 0x3f800000UD { align1 nomask };
and(1) cr0.1<1>UD cr0.1<0,1,0>UD 0x0000ffffUD { align1 nomask };
or(1) cr0<1>UD cr0<0,1,0>UD 0x00008000UD { align1 nomask };
and(1) cr0<1>UD cr0<0,1,0>UD 0x7fffffffUD { align1 nomask };
nop;
";

fn routine(scene: &mut Scene) -> Vec<u32> {
    scene.put(ROUTINE, &kernel(GREEN));
    StateSip { system_instruction_pointer: Address::from_bits(ROUTINE) }.pack().to_vec()
}

/// The recipe of 003:1237-1252: the windower's snapshot of a pixel enables the breakpoint at the
/// opcode `send` in the thread that draws it, and in no other one. The thread enters the system
/// routine.
#[test]
fn thread_of_a_snapshot_has_breakpoints() {
    let send = IscL1caBpOpc1 {
        breakpoint_opcode_1: u(0x31),
        breakpoint_opcode_1_eot_enable: true,
        breakpoint_opcode_1_enable: true,
    };
    let run = |wiz: WizCtl, td: TdCtl| {
        let mut scene = Scene::new();
        let sip = routine(&mut scene);
        scene.more = [
            sip,
            load(&[
                ENABLE,
                (WizCtl::OFFSET, wiz.pack()[0]),
                (WizStrgVal::OFFSET, 2 << 16 | 18),
                (TdCtl::OFFSET, td.pack()[0]),
                (IscL1caBpOpc1::OFFSET, send.pack()[0]),
            ]),
        ]
        .concat();
        scene.draw(&four(), 24).unwrap();
        let green: Vec<(u32, u32)> = (0..SIDE)
            .flat_map(|x| (0..8).map(move |y| (x, y)))
            .filter(|&(x, y)| scene.pixel(x, y)[1] == 255)
            .collect();
        green
    };
    let on = WizCtl { snapshot_enable: true, thread_snapshot_enable: true, ..WizCtl::new() };
    let breaks = TdCtl { breakpoint_enable: true, ..TdCtl::new() };
    let green = run(on, breaks);
    assert!(green.contains(&(18, 2)) && green.len() <= 16, "{green:?}");
    assert!(green.iter().all(|(x, _)| (16..24).contains(x)), "{green:?}");
    let none = WizCtl { thread_snapshot_enable: false, ..on };
    assert_eq!(run(none, breaks), []);
    assert_eq!(run(on, TdCtl::new()), []);
    let all = WizCtl { snapshot_all_threads: true, ..on };
    assert_eq!(run(all, breaks).len(), 256);
    // Forced for all threads, also those of strips and fans: their message is another one, so that
    // only pixels show it.
    let forced = TdCtl { force_thread_breakpoint_enable: true, ..TdCtl::new() };
    assert_eq!(run(WizCtl::new(), forced).len(), 256);
}

/// The exception that a draw ends with, without a system routine.
fn exception(registers: &[(u32, u32)], pixels: &'static str) -> Option<Exception> {
    let mut scene = Scene::new();
    scene.pixels = pixels;
    scene.more = load(&[&[ENABLE], registers].concat());
    match scene.draw(&four(), 24) {
        Ok(_) => None,
        Err(Fault::Exception { exception, .. }) => Some(exception),
        Err(fault) => panic!("{fault}"),
    }
}

/// 003:1987-1988, 2084-2130: a thread halts if the masked bits of r0.6 and r0.7 match; the next
/// thread halts once.
#[test]
fn external_halts() {
    let td = TdCtl { external_halt_on_r0_debug_match: true, ..TdCtl::new() }.pack()[0];
    let at = |primitive: u32, mask: u32| {
        let registers = [
            (TdCtl::OFFSET, td),
            (Td06EhtrgVal::OFFSET, 0),
            (Td07EhtrgVal::OFFSET, primitive),
            (Td06EhtrgMsk::OFFSET, 0xff_ffff),
            (Td07EhtrgMsk::OFFSET, mask),
        ];
        exception(&registers, PIXELS)
    };
    assert_eq!(at(7, 0xff_ffff), Some(Exception::ExternalHalt));
    assert_eq!(at(8, 0xff_ffff), None);
    assert_eq!(at(0xf5, 0x0f), Some(Exception::ExternalHalt));
    let force = TdCtl { force_external_halt: true, ..TdCtl::new() }.pack()[0];
    let forced = exception(&[(TdCtl::OFFSET, force)], PIXELS);
    assert_eq!(forced, Some(Exception::ExternalHalt));
    // With a routine, one thread enters it: that of setup, which shows no colour.
    let mut scene = Scene::new();
    let sip = routine(&mut scene);
    scene.more = [sip, load(&[ENABLE, (TdCtl::OFFSET, force)])].concat();
    let before = draw(&[ENABLE]).draw(&four(), 24).unwrap().instructions;
    let after = scene.draw(&four(), 24).unwrap().instructions;
    assert_eq!(after - before, 5);
}

/// 003:1989, 2003-2005: the dispatcher replaces the enables of exceptions.
#[test]
fn overridden_exceptions() {
    // Raises the software exception if it is enabled.
    const RAISES: &str = "
        or(1) cr0.1<1>UD cr0.1<0,1,0>UD 0x20000000UD { align1 nomask };
        mov(8) m1<1>UD g1<8,8,1>UD { align1 nomask };
        send(16) 0 null<1>UW g0<8,8,1>UW 0x85a04800
            write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0 { align1 EOT };
    ";
    let td = TdCtl { exception_mask_override: true, ..TdCtl::new() }.pack()[0];
    let software = TdCtl2 { software_exception_override: true, ..TdCtl2::new() }.pack()[0];
    let run = |td, two| exception(&[(TdCtl::OFFSET, td), (TdCtl2::OFFSET, two)], RAISES);
    assert_eq!(run(td, software), Some(Exception::Software));
    assert_eq!(run(td, 0), None);
    assert_eq!(run(0, software), None);
}

/// 003:2513-2580: a thread that waits for the host shows its attention. An answer before the draw,
/// or of the observer, lets it continue.
#[test]
fn attention() {
    const WAITS: &str = "
        or(1) cr0<1>UD cr0<0,1,0>UD 0x00000100UD { align1 nomask };
        wait(1) n1<1>UD { align1 nomask };
        mov(8) m1<1>UD g1<8,8,1>UD { align1 nomask };
        send(16) 0 null<1>UW g0<8,8,1>UW 0x85a04800
            write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0 { align1 EOT };
    ";
    let triangle = &four()[..3];
    let mut scene = Scene::new();
    scene.pixels = WAITS;
    match scene.draw(triangle, 3) {
        Err(Fault::Stuck { threads, .. }) => assert!(threads[0].reason.contains("EU_ATT_CLR")),
        other => panic!("{other:?}"),
    }
    // Thread 0 has the highest bit.
    assert_eq!(scene.gpu.mmio_read(EuAtt::OFFSET), 1 << 31);
    assert_eq!(scene.gpu.mmio_read(EuAttData::OFFSET + 4), 1 << 31);
    scene.gpu.mmio_write(EuAttClr::OFFSET, 1).unwrap();
    assert_eq!(scene.gpu.mmio_read(EuAtt::OFFSET), 0);
    assert_eq!(scene.gpu.mmio_read(EuAttClr::OFFSET), 0);
    // The answer was for a thread that has ended; the next one takes it. Other threads wait again.
    let small = rectangle([0.0, 0.0], [2.0, 2.0], 0.5, RED);
    scene.draw(&small[..3], 3).unwrap();
    assert!(scene.draw(triangle, 3).is_err());

    let mut scene = Scene::new();
    scene.pixels = WAITS;
    let bytes = scene.prepare(triangle, 3);
    let mut seen = 0;
    let mut host = |_: Now, event: &Event<'_>| {
        if let Event::Attention { thread, data, answer, ip, .. } = event {
            assert_eq!((*thread, *data, *ip), (0, true, 16));
            seen += 1;
            answer.give();
        }
    };
    scene.observe(bytes, &mut host).unwrap();
    assert!(seen >= 2, "{seen}");
    assert_eq!(scene.gpu.mmio_read(EuAtt::OFFSET), 0);
}

/// 003:2465-2503: the buffer traps a register of a message whose header has the snapshot flag.
#[test]
fn captured_messages() {
    let mut scene = Scene::new();
    let sf = SfCtl { snapshot_enable: true, thread_snapshot_enable: true, ..SfCtl::new() };
    // Register 3 has C0 of position and attribute: x, y, z, 1/w, red, green, blue, alpha.
    let urb =
        UrbCtl { snapshot_enable: true, snapshot_output_register_select: u(3), ..UrbCtl::new() };
    let value = urb.pack()[0];
    scene.more = load(&[
        ENABLE,
        (SfCtl::OFFSET, sf.pack()[0]),
        (SfStrgVal::OFFSET, 4),
        (UrbCtl::OFFSET, value),
    ]);
    scene.after = store(10, UrbCtl::OFFSET);
    let selects = [8, 9, 10, 11, 12, 13, 14, 15, 1, 2];
    scene.after.extend(words(UrbCtl::OFFSET, value, UrbRdata::OFFSET, &selects));
    scene.draw(&four(), 24).unwrap();
    let words: [u32; 11] = results(&scene);
    let floats = [4, 5, 6, 7].map(|n: usize| f32::from_bits(words[n]));
    assert_eq!(floats, RED);
    assert_eq!(words[8..], [4, 1 << 31, value | 1 << 31]);
}

/// 003:2434-2451: pixels of threads with the snapshot flag get the bits of RC_DEF_CLR, whatever
/// blending does.
#[test]
fn constant_colours() {
    let run = |wiz: WizCtl| {
        let mut scene = Scene::new();
        scene.cc.color_buffer_blend_enable = true;
        scene.target.color_blend_enable = true;
        let cache = RcCtl { default_color_enable: true, ..RcCtl::new() };
        scene.more = load(&[
            ENABLE,
            (WizCtl::OFFSET, wiz.pack()[0]),
            (WizStrgVal::OFFSET, 2 << 16 | 18),
            (RcCtl::OFFSET, cache.pack()[0]),
            (RcDefClr::OFFSET, 0x4433_2211),
        ]);
        scene.draw(&four(), 24).unwrap();
        let constant = |&(x, y): &(u32, u32)| scene.pixel(x, y) == [0x11, 0x22, 0x33, 0x44];
        let pixels = (0..SIDE).flat_map(|x| (0..8).map(move |y| (x, y)));
        pixels.filter(constant).collect::<Vec<_>>()
    };
    let on = WizCtl { snapshot_enable: true, thread_snapshot_enable: true, ..WizCtl::new() };
    let one = run(on);
    assert!(one.contains(&(18, 2)) && one.len() <= 16, "{one:?}");
    assert_eq!(run(WizCtl { snapshot_all_threads: true, ..on }).len(), 256);
    assert_eq!(run(WizCtl { thread_snapshot_enable: false, ..on }), []);
}

/// 003:2171-2180: extended math records a message that it refuses, with the sender.
#[test]
fn bad_messages() {
    // Function 0 is reserved.
    const BAD: &str = "send(8) 2 g9<1>F g0<8,8,1>F 0x01110000
        math MsgDesc: mlen 1 rlen 1 { align1 };";
    let mut scene = Scene::new();
    scene.pixels = BAD;
    scene.more = load(&[ENABLE]);
    match scene.draw(&four(), 24) {
        Err(Fault::IllegalInstruction { .. }) => {}
        other => panic!("{other:?}"),
    }
    let word = MathErrorMessageHeader::unpack_lossy(&[scene.gpu.mmio_read(MathRdata::OFFSET)]);
    assert!(word.invalid_opcode && !word.bad_length && !word.eot_bit_detected);
    assert_eq!((word.message_length.get(), word.response_length.get()), (1, 1));
    assert_eq!(word.ffid.get(), 6);
}

/// What the model does not have is a fault that names it.
#[test]
fn missing_functions() {
    let halt = MaDebug1 { shared_function_arb_halt_mode: true, ..MaDebug1::new() };
    let roots = TsCtl { snapshot_all_root_threads: true, ..TsCtl::new() };
    let media = VfeCtl { snapshot_enable: true, ..VfeCtl::new() };
    for (registers, after, name) in [
        (vec![ENABLE, (MaDebug1::OFFSET, halt.pack()[0])], vec![], "MA_DEBUG_1"),
        (vec![(TsCtl::OFFSET, roots.pack()[0])], vec![], "TS_CTL"),
        (vec![(VfeCtl::OFFSET, media.pack()[0])], vec![], "VFE_CTL"),
        (vec![(SfCtl::OFFSET, 8 << 8)], store(0, SfRdata::OFFSET), "the word 8 of SF_RDATA"),
        (vec![ENABLE], store(0, EuRdata::OFFSET), "EU_RDATA"),
    ] {
        let mut scene = Scene::new();
        scene.more = load(&registers);
        scene.after = after;
        match scene.draw(&four(), 24) {
            Err(Fault::Unimplemented { what, .. }) => assert!(what.contains(name), "{what}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
