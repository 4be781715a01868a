//! Exceptions for debuggers (003:2513-2623, 8055-8135, 9195-9380), with a system routine that
//! counts its calls.

use super::support::{END, assembled};
use genxml_eu::Generation;
use genxml_sim::Fault;
use genxml_sim::eu::debug::{Alone, Halt, Session};
use genxml_sim::eu::decode::{Fetched, fetch_on};
use genxml_sim::eu::gen45::breakpoints::{AtOpcode, Breakpoints};
use genxml_sim::eu::{Launch, Stop};

/// cr0.1: enables of exceptions.
const BREAKPOINTS: u32 = 1 << 15;
const HALTS: u32 = 1 << 14;
/// cr0.1: status of the breakpoint.
const STATUS: u32 = 1 << 31;
/// cr0.0: Breakpoint Suppress.
const SUPPRESS: u32 = 1 << 15;

/// Counts in g121, and notes cr0.1 in g122 and cr0.2 in g123.
const ENTRY: &str = "
    add(1) g121<1>UD g121<0,1,0>UD 1UD { align1 nomask };
    mov(1) g122<1>UD cr0.1<0,1,0>UD { align1 nomask };
    mov(1) g123<1>UD cr0.2<0,1,0>UD { align1 nomask };
";
/// Clears the status of all exceptions.
const CLEAR: &str = "and(1) cr0.1<1>UD cr0.1<0,1,0>UD 0x0000ffffUD { align1 nomask };\n";
/// Sets Breakpoint Suppress.
const PASS: &str = "or(1) cr0<1>UD cr0<0,1,0>UD 0x00008000UD { align1 nomask };\n";
/// Returns to the thread.
const RETURN: &str = "
    and(1) cr0<1>UD cr0<0,1,0>UD 0x7fffffffUD { align1 nomask };
    nop;
";

struct Run {
    halt: Halt,
    /// g121, g122 and g123: calls of the routine, cr0.1 and cr0.2 at the last one.
    seen: [u32; 3],
    registers: Vec<u32>,
}

/// Runs a program with this system routine. Breakpoints are at offsets of the program.
fn run(text: &str, routine: &str, exceptions: u32, breakpoints: Breakpoints) -> Result<Run, Fault> {
    let mut bytes = assembled(&format!("{text}\n{END}"));
    let launch = Launch {
        generation: Generation::Gen45,
        dispatch_mask: 0xffff,
        exceptions,
        control: if exceptions & STATUS != 0 { SUPPRESS } else { 0 },
        system_routine: Some(bytes.len() as u32),
        ..Launch::default()
    };
    bytes.extend(assembled(&format!("{ENTRY}{routine}{RETURN}")));
    let fetch = |offset: i32| -> Fetched {
        breakpoints.mark(fetch_on(Generation::Gen45, &bytes, offset), offset as u64)
    };
    let mut session = Session::new(&launch, 0, fetch);
    let halt = session.run(&mut Alone::default(), 500, &mut ())?;
    let register = |number: usize| session.thread.regs.u32(32 * number);
    Ok(Run {
        halt,
        seen: [121, 122, 123].map(register),
        registers: (0..128).map(register).collect(),
    })
}

const THREE: &str = "
    mov(8) g2<1>UD 2UD { align1 };
    mov(8) g3<1>UD 3UD { align1 };
    mul(8) g4<1>UD g2<8,8,1>UD 4UW { align1 };
";

/// 003:9366-9374: the exception comes before the instruction, and AIP is its address (8130). The
/// routine clears the status and sets Breakpoint Suppress; the instruction is then executed once.
#[test]
fn breakpoints_of_instructions() {
    let text = THREE.replacen("3UD { align1 }", "3UD { align1 breakpoint }", 1);
    let handled = format!("{CLEAR}{PASS}");
    let done = run(&text, &handled, BREAKPOINTS, Breakpoints::default()).unwrap();
    assert_eq!((done.halt, done.seen), (Halt::End, [1, STATUS | BREAKPOINTS, 16]));
    assert_eq!(done.registers[2..5], [2, 3, 8]);
    // Without Breakpoint Enable nothing happens (003:2603).
    let done = run(&text, &handled, 0, Breakpoints::default()).unwrap();
    assert_eq!((done.halt, done.seen[0]), (Halt::End, 0));
    // Without Breakpoint Suppress the exception comes again and again (003:8078).
    let done = run(&text, CLEAR, BREAKPOINTS, Breakpoints::default()).unwrap();
    assert_eq!((done.halt, done.registers[3]), (Halt::Limit, 0));
}

/// 003:2226-2305: breakpoints at addresses and opcodes need the same enable. All instructions with
/// a matching opcode have the breakpoint.
#[test]
fn breakpoints_of_the_instruction_cache() {
    const MOV: u8 = 0x01;
    const SEND: u8 = 0x31;
    let opcode = |code, eot| Some(AtOpcode { code, eot });
    let handled = format!("{CLEAR}{PASS}");
    let at = |addresses| Breakpoints { addresses, ..Breakpoints::default() };
    let on = |opcodes| Breakpoints { opcodes, ..Breakpoints::default() };
    let send = "send(8) 2 g9<1>UD g0<8,8,1>UD 0x01110001
        math MsgDesc: inv mlen 1 rlen 1 { align1 };";
    let text = format!("{THREE}{send}");
    for (breakpoints, calls, last) in [
        (at([Some(16), None]), 1, 16),
        (at([Some(16), Some(32)]), 2, 32),
        (at([Some(4096), None]), 0, 0),
        (on([opcode(MOV, false), None]), 2, 16),
        (on([opcode(SEND, false), None]), 2, 64),
        (on([opcode(SEND, true), None]), 1, 64),
        (on([opcode(MOV, false), opcode(SEND, false)]), 4, 64),
        (on([opcode(0x7f, false), None]), 0, 0),
    ] {
        let done = run(&text, &handled, BREAKPOINTS, breakpoints).unwrap();
        assert_eq!((done.halt, done.seen[0], done.seen[2]), (Halt::End, calls, last));
        let done = run(&text, &handled, 0, breakpoints).unwrap();
        assert_eq!(done.seen[0], 0, "{breakpoints:?}");
    }
}

/// 003:2613-2619, 8100: with the status left set and Breakpoint Suppress, one instruction is
/// executed, and the routine is called again before the next one.
#[test]
fn single_steps() {
    let done = run(THREE, PASS, BREAKPOINTS | STATUS, Breakpoints::default()).unwrap();
    // The first instruction is executed before the first call, the last one ends the thread.
    assert_eq!((done.halt, done.seen), (Halt::End, [3, STATUS | BREAKPOINTS, 48]));
    // Stepping ends when the routine clears the status (003:2619).
    let done = run(THREE, &format!("{CLEAR}{PASS}"), BREAKPOINTS | STATUS, Breakpoints::default());
    assert_eq!(done.unwrap().seen[0], 1);
    // It does not work on compressed instructions.
    let text = "mov(16) g2<1>UD 2UD { align1 compr };";
    let done = run(text, PASS, BREAKPOINTS | STATUS, Breakpoints::default());
    match done {
        Err(Fault::IllegalInstruction { why, .. }) => assert!(why.contains("single step"), "{why}"),
        Err(fault) => panic!("{fault}"),
        Ok(done) => panic!("{:?}", done.halt),
    }
    // A breakpoint does.
    let text = "mov(16) g2<1>UD 2UD { align1 compr breakpoint };";
    let handled = format!("{CLEAR}{PASS}");
    let done = run(text, &handled, BREAKPOINTS, Breakpoints::default()).unwrap();
    assert_eq!((done.seen[0], done.registers[2], done.registers[3]), (1, 2, 2));
}

/// 003:8104, 8114: an external halt needs its enable. Its status is set in any case (8059).
#[test]
fn external_halts() {
    for (enable, calls) in [(HALTS, 1), (0, 0)] {
        let done = run(THREE, CLEAR, enable | 1 << 30, Breakpoints::default()).unwrap();
        assert_eq!((done.halt, done.seen[0]), (Halt::End, calls));
        if calls == 1 {
            assert_eq!(done.seen[1..], [1 << 30 | HALTS, 0]);
        }
    }
}

/// 003:2513-2524, 13589: `wait n1` stalls until the host clears the attention. That clears the bit
/// of data, and n1 is 0 afterwards.
#[test]
fn attention() {
    let text = format!(
        "or(1) cr0<1>UD cr0<0,1,0>UD 0x00000100UD {{ align1 nomask }};
         wait(1) n1<1>UD {{ align1 nomask }};
         mov(1) g4<1>UD cr0<0,1,0>UD {{ align1 nomask }};
         mov(1) g5<1>UD n1<0,1,0>UD {{ align1 nomask }};
         wait(1) n1<1>UD {{ align1 nomask }};
         {END}"
    );
    let bytes = assembled(&text);
    let launch = Launch { generation: Generation::Gen45, dispatch_mask: 0xff, ..Launch::default() };
    let fetch = |offset| fetch_on(Generation::Gen45, &bytes, offset);
    let mut session = Session::new(&launch, 0, fetch);
    let mut world = Alone::default();
    let waits = Halt::Wait(Stop::Notification(1));
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), waits);
    assert!(session.thread.attention_data());
    assert_eq!((session.position(), session.run(&mut world, 99, &mut ()).unwrap()), (16, waits));
    session.thread.clear_attention();
    assert!(!session.thread.attention_data());
    // The second wait.
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), waits);
    let register = |number: usize| session.thread.regs.u32(32 * number);
    assert_eq!([register(4), register(5), session.position()], [0, 0, 64]);
    // Two answers before the wait are one notification (003:8160).
    session.thread.clear_attention();
    session.thread.clear_attention();
    assert_eq!(session.run(&mut world, 99, &mut ()).unwrap(), Halt::End);
}

/// 003:1941-1951: how a parent thread makes the debug ID of a child and keeps the snapshot flag.
#[test]
fn parents_keep_the_snapshot_flag() {
    let text = "
        and(1) g10<1>UD g0.7<0,1,0>UD 0x80000000UD { align1 nomask };
        mov(1) g0.7<1>UD 0x00001234UD { align1 nomask };
        or(1) g0.7<1>UD g0.7<0,1,0>UD g10<0,1,0>UD { align1 nomask };
    ";
    for flag in [0, 1 << 31] {
        let bytes = assembled(&format!("{text}\n{END}"));
        let mut payload = vec![0; 32];
        payload[28..].copy_from_slice(&(flag | 0x77u32).to_le_bytes());
        let launch = Launch {
            generation: Generation::Gen45,
            dispatch_mask: 0xff,
            payload,
            ..Launch::default()
        };
        let mut session =
            Session::new(&launch, 0, |offset| fetch_on(Generation::Gen45, &bytes, offset));
        session.run(&mut Alone::default(), 99, &mut ()).unwrap();
        assert_eq!(session.thread.regs.u32(28), flag | 0x1234);
    }
}
