//! Instructions of Gen11. Oracles: Mesa's assembler tests, if `GENXML_MESA` names Mesa's sources,
//! and lines of these tests written out here.

use crate::generations::{bytes, check, compare, dwords, listing};
use genxml_eu::gen8::eu_gen11::EuOpcodeGen11;
use genxml_eu::instruction::*;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, Opcode, Problem, decode, decode_on};

/// Oracle: Mesa's assembler tests of Gen11: the text of the bytes is the source.
#[test]
fn text_is_the_source_of_mesa_tests() {
    let Some((files, total, different)) = compare("gen11", Generation::Gen11) else { return };
    assert!(files >= 3 && total >= 9, "{files} files, {total} instructions");
    assert!(different.is_empty(), "{different:#?}");
}

/// Types, rotations, extended accumulators, three-source instructions in Align1, messages and
/// 8-byte forms. Oracles: Mesa 22.3.6's disassembler and Intel's assembler IGA 1.1.0 print these
/// texts, but for the start of the destination of `madm`, where Mesa loses a factor.
#[test]
fn texts() {
    check(Generation::Gen11, CASES);
}

#[rustfmt::skip]
const CASES: &[(&str, &str, &str)] = &[
    ("01 00 60 00 08 02 40 21 80 02 8d 4a c0 03 8d 00", "mov(8) g10<1>UD g20<8,8,1>UD { align1 1Q };", "mov (8|M0) r10.0<1>:ud r20.0<8;8,1>:ud"),
    ("01 00 60 00 88 22 40 21 80 02 8d 4a c0 03 8d 00", "mov(8) g10<1>UB g20<8,8,1>UB { align1 1Q };", "mov (8|M0) r10.0<1>:ub r20.0<8;8,1>:ub"),
    ("01 00 60 00 a8 2a 40 21 80 02 8d 4a c0 03 8d 00", "mov(8) g10<1>B g20<8,8,1>B { align1 1Q };", "mov (8|M0) r10.0<1>:b r20.0<8;8,1>:b"),
    ("01 00 60 00 08 43 40 21 80 02 8d 4a c0 03 8d 00", "mov(8) g10<1>HF g20<8,8,1>HF { align1 1Q };", "mov (8|M0) r10.0<1>:hf r20.0<8;8,1>:hf"),
    ("01 00 60 00 28 4b 40 21 80 02 8d 4a c0 03 8d 00", "mov(8) g10<1>F g20<8,8,1>F { align1 1Q };", "mov (8|M0) r10.0<1>:f r20.0<8;8,1>:f"),
    ("01 00 60 00 68 5b 40 21 80 02 8d 4a c0 03 8d 00", "mov(8) g10<1>NF g20<8,8,1>NF { align1 1Q };", "mov (8|M0) r10.0<1>:nf r20.0<8;8,1>:nf"),
    ("01 00 60 00 28 2f 40 21 80 02 8d 4a 78 56 34 12", "mov(8) g10<1>F 0x12345678V { align1 1Q };", "mov (8|M0) r10.0<1>:f 0x12345678:v"),
    ("01 00 60 00 28 5f 40 21 80 02 8d 4a 48 40 38 30", "mov(8) g10<1>F 0x30384048VF /* [3F, 2F, 1.5F, 1F]VF */ { align1 1Q };", "mov (8|M0) r10.0<1>:f 0x30384048:vf"),
    ("01 00 60 00 28 4f 40 21 80 02 8d 4a 00 00 80 3f", "mov(8) g10<1>F 0x3f800000F /* 1F */ { align1 1Q };", "mov (8|M0) r10.0<1>:f 1.0:f"),
    ("01 00 60 00 28 47 40 21 80 02 8d 4a 00 3c 00 3c", "mov(8) g10<1>F Half Float IMM { align1 1Q };", "mov (8|M0) r10.0<1>:f 1.0:hf"),
    ("0f 00 60 00 08 02 40 21 80 02 8d 02 c0 03 8d 00", "rol(8) g10<1>UD g20<8,8,1>UD g30<8,8,1>UD { align1 1Q };", "rol (8|M0) r10.0<1>:ud r20.0<8;8,1>:ud r30.0<8;8,1>:ud"),
    ("0e 00 60 00 08 02 40 21 80 02 8d 06 03 00 00 00", "ror(8) g10<1>UD g20<8,8,1>UD 0x00000003UD { align1 1Q };", "ror (8|M0) r10.0<1>:ud r20.0<8;8,1>:ud 0x3:ud"),
    ("38 00 60 0e 28 4b 41 21 82 02 8d 4a c8 03 8d 00", "math invm(8) g10.0<1>F g20.0<8,8,1>F g30.2<8,8,1>F { align1 1Q };", "math.invm (8|M0) (eo)f0.0 r10.mme1:f r20.mme2:f r30.nomme:f"),
    ("5b 00 60 00 08 40 00 0a 39 40 21 07 3c 84 00 0a", "mad(8) g10<1>F g20<8,8,1>F g30<8,8,1>F g40<1,1,1>F { align1 1Q };", "mad (8|M0) r10.0<1>:f r20.0<8;1>:f r30.0<8;1>:f r40.0<1>:f"),
    ("5b 00 60 00 18 c0 00 20 01 46 21 07 3c 84 00 0a", "mad(8) acc0<1>NF g20.3<0,1,0>F g30<8,8,1>F g40<1,1,1>F { align1 1Q };", "mad (8|M0) acc0.0<1>:nf r20.3<0;0>:f r30.0<8;1>:f r40.0<1>:f"),
    ("5b 00 60 00 08 4b 00 0a 3b 00 22 07 3c 84 00 0a", "mad(8) g10<1>F acc0<8,8,1>NF -g30<8,8,1>F (abs)g40<1,1,1>F { align1 1Q };", "mad (8|M0) r10.0<1>:f acc0.0<8;1>:nf -r30.0<8;1>:f (abs)r40.0<1>:f"),
    ("5b 00 60 00 00 40 00 0a 39 40 41 07 3c 94 00 0a", "mad(8) g10<1>D g20<8,8,1>D g30<8,8,1>UW g40<1,1,1>B { align1 1Q };", "mad (8|M0) r10.0<1>:d r20.0<8;1>:d r30.0<8;1>:uw r40.0<1>:b"),
    ("5b 00 60 00 00 60 00 0a 39 40 61 07 3c 88 46 02", "mad(8) g10<1>D g20<8,8,1>D g30<8,8,1>W 0x1234UW { align1 1Q };", "mad (8|M0) r10.0<1>:d r20.0<8;1>:d r30.0<8;1>:w 0x1234:uw"),
    ("5b 00 60 00 08 08 00 0a 00 e0 01 07 3c 80 00 0a", "mad(8) g10<1>HF 0x3c00HF g30<8,8,1>HF g40<1,1,1>HF { align1 1Q };", "mad (8|M0) r10.0<1>:hf 1.0:hf r30.0<8;1>:hf r40.0<1>:hf"),
    ("5b 00 60 00 08 40 00 0a 51 40 21 01 3c 04 08 0a", "mad(8) g10<1>F g20<4,2,2>F g30<2,2,0>F g40.1<0,1,0>F { align1 1Q };", "mad (8|M0) r10.0<1>:f r20.0<4;2>:f r30.0<2;0>:f r40.1<0>:f"),
    ("12 00 60 03 08 40 00 0a 39 40 21 07 3c 84 00 0a", "csel.g(8) g10<1>F g20<8,8,1>F g30<8,8,1>F g40<1,1,1>F { align1 1Q };", "csel (8|M0) (gt)f0.0 r10.0<1>:f r20.0<8;1>:f r30.0<8;1>:f r40.0<1>:f"),
    ("5d 00 60 00 08 40 80 0a 39 41 21 47 3c 84 20 0a", "madm(8) g10.4<1>F g20<8,8,1>F g30.1<8,8,1>F g40.4<1,1,1>F { align1 1Q };", "madm (8|M0) r10.nomme:f r20.mme1:f r30.mme2:f r40.nomme:f"),
    ("5b 00 60 00 08 50 00 0a 39 40 21 07 42 84 00 0a", "mad(8) g10<1>F g20<8,8,1>F acc1<8,8,1>F g40<1,1,1>F { align1 1Q };", "mad (8|M0) r10.0<1>:f r20.0<8;1>:f acc1.0<8;1>:f r40.0<1>:f"),
    ("33 00 00 0c 14 e0 01 00 41 0d 00 00 ff 87 04 04", "sends(1) nullUD g106UD g30UD 0x040487ff 0x00000040 dp data 1 MsgDesc: ( DC A64 untyped atomic op, Surface = 255, add) mlen 2 ex_mlen 1 rlen 0 { align1 WE_all 1N };", "(W) sends (1|M0) null:ud r106 r30 0x4C 0x040487FF"),
    ("31 e0 80 0a 68 4a c0 20 40 00 00 06 01 09 21 04", "send(16) g6<1>W g2<0,1,0>F 0x04210901 data MsgDesc: ( DC byte scattered read, 1, 9) mlen 2 rlen 2 { align1 2H*** invalid thread control value 3 };", "send (16|M16) r6:w r2:f 0xA 0x04210901 {NoPreempt}"),
    ("31 00 60 07 04 4a 00 20 e0 0f 00 06 10 00 00 82", "send(8) null<1>UD g127<0,1,0>F 0x82000010 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q EOT };", "(W) send (8|M0) null r127:f 0x27 0x02000010 {EOT}"),
    ("40 96 01 20 e0 0b 7e 04", "add(16) g11<1>D g126<0,1,0>D g4<8,8,1>D { align1 1H compacted };", "add (16|M0) r11.0<1>:d r126.0<0;1,0>:d r4.0<8;8,1>:d {Compacted}"),
    ("05 96 01 20 f7 2e 0a 0e", "and(16) g46<1>D g10<8,8,1>D ~g14<8,8,1>D { align1 1H compacted };", "and (16|M0) r46.0<1>:d r10.0<8;8,1>:d ~r14.0<8;8,1>:d {Compacted}"),
];

/// Operations that are new in Gen11, and those that it no longer has. Oracle: Mesa's table of
/// operations.
#[test]
fn operations() {
    for (number, name) in EuOpcodeGen11::INFO.values {
        let number = *number as u8;
        let found = Opcode::on(Generation::Gen11, number).unwrap();
        assert_eq!((found.name(), found.code()), (*name, number));
        assert_eq!(Opcode::on(Generation::Gen9, number), None);
    }
    for gone in ["dp2", "dp3", "dp4", "dph", "line", "pln", "lrp"] {
        let op = genxml_eu::ops::OPS.iter().find(|op| op.name == gone).unwrap();
        assert_eq!(Opcode::on(Generation::Gen11, op.code), None, "{gone}");
        assert_eq!(Opcode::on(Generation::Gen9, op.code), Some(op.opcode), "{gone}");
    }
    // Their 16 bytes are an illegal instruction, with the number.
    let pln = [0x0060_005a, 0, 0, 0];
    let i = decode_on(Generation::Gen11, &pln).unwrap();
    assert_eq!((i.opcode, i.illegal_code), (Opcode::Illegal, 0x5a));
    assert!(i.display(Syntax::Iga).to_string().contains("operation 0x5a does not exist"));
}

/// The same bytes have other types on Gen8: f is 7 there, and 9 on Gen11.
#[test]
fn types_differ_from_gen8() {
    let mov = "01 00 60 00 28 4b 40 21 80 02 8d 4a c0 03 8d 00";
    let ty = |i: Instruction| i.destination.unwrap().ty;
    assert_eq!(ty(decode(&dwords(mov)).unwrap()), DataType::Q);
    assert_eq!(ty(decode_on(Generation::Gen11, &dwords(mov)).unwrap()), DataType::F);
    // Native floats are only on Gen11.
    let mut native = decode_on(Generation::Gen11, &dwords(mov)).unwrap();
    native.destination.as_mut().unwrap().ty = DataType::Nf;
    assert!(native.encode().is_ok());
    native.generation = Generation::Gen9;
    assert!(native.encode().unwrap_err().to_string().contains("cannot hold the type nf"));
}

/// Gen11 has no Align16, and so no three-source instructions of 8 bytes. An immediate of a
/// three-source instruction has 16 bits.
#[test]
fn what_gen11_does_not_have() {
    let error = |hex: &str| decode_on(Generation::Gen11, &dwords(hex)).unwrap_err().problem;
    let align16 = "01 01 60 00 28 4b 40 21 80 02 8d 4a c0 03 8d 00";
    let reserved = |operation, field, value| Problem::Reserved { operation, field, value };
    assert_eq!(error(align16), reserved(Opcode::Mov, "AccessMode", 1));
    let float = "5b 00 60 00 08 48 00 0a 01 e0 01 07 3c 80 00 0a";
    assert_eq!(error(float), reserved(Opcode::Mad, "Source Register File", 1));
    let compact = decode_on(Generation::Gen11, &[0x2000_005b, 0]).unwrap_err().problem;
    assert_eq!(compact, Problem::NotCompactable { operation: Opcode::Mad });
}

/// A destination of a three-source instruction starts at a multiple of 8 bytes. Oracle: IGA; Mesa
/// prints no subregister here.
#[test]
fn start_of_a_ternary_destination() {
    let mad = "5b 00 60 00 08 40 c0 0a 39 40 21 07 3c 84 00 0a";
    let text = listing(Generation::Gen11, &bytes(mad), Syntax::Iga);
    assert!(text.contains("mad (8|M0) r10.6<1>:f r20.0<8;1>:f"), "{text}");
    let text = listing(Generation::Gen11, &bytes(mad), Syntax::Mesa);
    assert!(text.starts_with("mad(8) g10.6<1>F g20<8,8,1>F"), "{text}");
}
