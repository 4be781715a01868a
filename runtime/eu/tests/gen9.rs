//! Instructions of Gen9. Oracles: Mesa's assembler tests, if `GENXML_MESA` names Mesa's sources,
//! and lines of these tests written out here.

use crate::generations::{bytes, compare, dwords, listing};
use genxml_eu::instruction::*;
use genxml_eu::message::is_described;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, Opcode, Problem, decode, decode_on};
use genxml_testkit::text::squeeze;

fn on_gen9(line: &str) -> Instruction {
    decode_on(Generation::Gen9, &dwords(line)).unwrap()
}

/// Oracle: Mesa's assembler tests of Gen9: the text of the bytes is the source.
#[test]
fn text_is_the_source_of_mesa_tests() {
    let Some((files, total, different)) = compare("gen9", Generation::Gen9) else { return };
    println!("{} of {files} files ({total} instructions) as written", files - different.len());
    assert!(files >= 40 && total > 2_000, "{files} files, {total} instructions");
    assert!(different.is_empty(), "{different:#?}");
}

/// A line of Mesa's test `sends`, its bytes and its text.
const STORE: &str = "33 00 60 0c 10 40 02 00 44 04 00 00 01 50 03 04";
/// Another line of it, with the descriptor in a0.
const INDIRECT: &str = "33 00 61 0c 12 d0 00 00 44 20 00 00 00 00 00 00";

/// Bits `low` and up of the 16 bytes, changed to `value`.
fn with(line: &str, low: u32, value: u32) -> [u32; 4] {
    let mut dwords = dwords(line);
    dwords[low as usize / 32] |= value << (low % 32);
    dwords
}

fn mesa(dwords: [u32; 4]) -> String {
    listing(Generation::Gen9, &dwords.map(u32::to_le_bytes).concat(), Syntax::Mesa)
}

/// The payloads and both descriptors of a split send. Oracle: Mesa's test `sends`.
#[test]
fn split_send() {
    let i = on_gen9(STORE);
    assert_eq!(i.opcode, Opcode::Sends);
    assert_eq!(i.destination.unwrap().register, Register::NULL);
    let register = |operand: &Operand| match operand {
        Operand::Register(source) => source.register,
        other => panic!("{other:?}"),
    };
    let payloads: Vec<_> = i.operands().map(register).collect();
    assert_eq!(payloads, [Register::grf(34), Register::grf(36)]);
    let send = i.send.unwrap();
    assert_eq!(send.function, SharedFunction::DataPort1);
    assert_eq!(send.descriptor, Descriptor::Immediate(0x0403_5001));
    assert_eq!(i.extended, Some(Descriptor::Immediate(0x100)));
    assert_eq!(i.encode().unwrap(), dwords(STORE));
    // The extended descriptor has the shared function in its low bits, as in Intel's assembler.
    let text = listing(Generation::Gen9, &bytes(STORE), Syntax::Iga);
    let expected = "L0: sends (8|M0) null:ud r34 r36 0x10C 0x04035001 // wr:2+4, rd:0; hdc.dc1; typed surface write";
    assert!(text.starts_with(expected), "{text}");
}

/// On Gen8 the opcode is illegal, and the instruction cannot be encoded.
#[test]
fn gen8_has_no_split_send() {
    let i = decode(&dwords(STORE)).unwrap();
    assert_eq!((i.opcode, i.illegal_code), (Opcode::Illegal, 0x33));
    let split = Instruction { generation: Gen8, ..on_gen9(STORE) };
    assert!(split.encode().unwrap_err().to_string().contains("Opcode cannot hold 51"));
    use Generation::{Gen8, Gen9, Gen11, Gen12};
    let numbers = [80, 90, 100, 110, 120, 125];
    let of = [Some(Gen8), Some(Gen9), None, Some(Gen11), Some(Gen12), None];
    assert_eq!(numbers.map(Generation::of), of);
}

/// Descriptors in a0, bits 77 and 61; the dword of a0 of the extended one is in bits 82:80. Oracle:
/// the first line is in Mesa's test `sends`; the others follow Mesa's layout and words.
#[test]
fn descriptors_in_registers() {
    assert_eq!(
        mesa(dwords(INDIRECT)),
        "(+f1.0) sends(8) nullUD g2UD g13UD a0<0>UD 0x00000100 dp data 1 MsgDesc: indirect \
         ex_mlen 4 { align1 1Q };"
    );
    let mut extended = with(STORE, 61, 1);
    extended[2] = extended[2] & !0xf | 2 << 16;
    assert_eq!(
        mesa(extended),
        "sends(8) nullUD g34UD g36UD 0x04035001 a0.2<0>UD dp data 1 MsgDesc: ( DC typed surface \
         write, Surface = 1, SIMD16, Mask = 0x0) mlen 2 rlen 0 { align1 1Q };"
    );
    let i = decode_on(Generation::Gen9, &extended).unwrap();
    assert_eq!(i.extended, Some(Descriptor::Address(8)));
    assert_eq!(i.encode().unwrap(), extended);
    let text = squeeze(&i.to_string());
    assert!(text.contains("r36 a0.2 0x04035001 // wr:2+?, rd:0"), "{text}");
}

/// Payloads and destination with indirect addressing: bits 79 and 63, the sign of the offset in
/// bits 78 and 62.
#[test]
fn indirect_payloads() {
    let mut store = with(STORE, 79, 1);
    store[2] = store[2] & !(0x1ff << 4) | 2 << 9 | 3 << 4;
    store[1] |= 1 << 31 | 1 << 30 | 31 << 20;
    let i = decode_on(Generation::Gen9, &store).unwrap();
    let Operand::Register(source) = i.sources[0] else { panic!("{i:?}") };
    assert_eq!(source.register, Register::Indirect { address: 2, offset: 48 });
    let to = i.destination.unwrap().register;
    assert_eq!(to, Register::Indirect { address: 0, offset: -16 });
    // The file of an indirect destination is that of general registers.
    store[1] |= 1 << 3;
    assert_eq!(i.encode().unwrap(), store);
    assert!(mesa(store).starts_with("sends(8) g[a0 1008]UD g[a0.2 48]UD g36UD"), "{}", mesa(store));
}

/// Bit 127 ends the thread and is not in the text of the descriptor. Oracle: Mesa's disassembler.
#[test]
fn split_send_ends_the_thread() {
    let end = with(STORE, 127, 1);
    assert!(decode_on(Generation::Gen9, &end).unwrap().ends_thread());
    let text = mesa(end);
    assert!(text.contains(" 0x04035001 0x00000100 "), "{text}");
    assert!(text.ends_with("{ align1 1Q EOT };"), "{text}");
}

/// A split send has no 8-byte form.
#[test]
fn split_sends_are_not_compact() {
    let error = decode_on(Generation::Gen9, &[0x2000_0033, 0]).unwrap_err();
    assert_eq!(error.problem, Problem::NotCompactable { operation: Opcode::Sends });
}

/// Sources of three-source instructions start at any word: bits 84, 105 and 126. On Gen8 these bits
/// are reserved and have no meaning. Oracle: Mesa's layout of both.
#[test]
fn half_floats_at_odd_words() {
    // mad(8) g3<1>HF g4.0<0,1,0>HF g5.0<0,1,0>HF g6.0<0,1,0>HF, with the half-float marks.
    let mut mad = [0x0060_015b, 3 << 24 | 0xf << 17 | 4 << 14 | 4 << 11 | 3 << 3, 0, 0];
    for (start, register) in [(64, 4), (85, 5), (106, 6)] {
        set(&mut mad, start, 1);
        set(&mut mad, start + 12, register);
        set(&mut mad, start + 20, 1);
    }
    let i = decode_on(Generation::Gen9, &mad).unwrap();
    let starts = i.operands().map(|operand| match operand {
        Operand::Register(Source { register: Register::Grf { byte, .. }, ty, .. }) => (*byte, *ty),
        other => panic!("{other:?}"),
    });
    assert_eq!(starts.collect::<Vec<_>>(), [(2, DataType::Hf); 3]);
    assert_eq!(i.encode().unwrap(), mad);
    assert!(mesa(mad).contains("g4.1<0,1,0>HF g5.1<0,1,0>HF g6.1<0,1,0>HF"), "{}", mesa(mad));
    let old = decode(&mad).unwrap();
    let Operand::Register(source) = old.sources[0] else { panic!("{old:?}") };
    assert_eq!(source.register, Register::grf(4));
}

fn set(dwords: &mut [u32; 4], low: u32, value: u32) {
    dwords[low as usize / 32] |= value << (low % 32);
    if low % 32 > 24 && low < 96 {
        dwords[low as usize / 32 + 1] |= value >> (32 - low % 32);
    }
}

/// Messages that have the same number in both generations have names; all others have none. Oracle:
/// Mesa's tables; number 13 is a read on Gen9 and a typed write before.
#[test]
fn names_of_messages() {
    let send = |function: u32, descriptor: u32| {
        [0x31 | 3 << 21 | function << 24, 0x2000_0208, 0x0600_0000 | 2 << 5, descriptor]
    };
    let text = mesa(send(5, 0x0213_4001));
    assert!(text.contains("render MsgDesc: RT read MsgCtrl"), "{text}");
    // Sampler: bit 30 is the format of the result, bit 29 extends the SIMD mode in bits 18:17.
    let (sampler, sample) = (SharedFunction::Sampler, 0x0212_0001);
    for (bits, mode) in [(0, "sample SIMD8 Surface"), (1 << 30, "sample SIMD8 HP Surface")] {
        let text = mesa(send(2, sample | bits));
        assert!(text.contains(mode), "{text}");
        assert_eq!(is_described(Generation::Gen9, sampler, sample | bits), bits == 0);
    }
    let text = mesa(send(2, sample | 1 << 29));
    assert!(text.contains("invalid sampler simd mode value 5"), "{text}");
    let text = listing(
        Generation::Gen9,
        &send(4, 0x0211_0001).map(u32::to_le_bytes).concat(),
        Syntax::Iga,
    );
    assert!(text.ends_with("; sampler; function control 0x10001"), "{text}");
}
