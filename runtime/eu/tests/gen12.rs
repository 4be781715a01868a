//! Instructions of Gen12. Oracles: Mesa's assembler tests, if `GENXML_MESA` names Mesa's sources,
//! and lines of these tests written out here.

use crate::generations::{bytes, check, compare, dwords, listing};
use genxml_eu::gen8::eu_gen12::EuOpcodeGen12;
use genxml_eu::instruction::*;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, Opcode, Problem, decode_on};

/// Oracle: Mesa's assembler tests of Gen12: the text of the bytes is the source.
#[test]
fn text_is_the_source_of_mesa_tests() {
    let Some((files, total, different)) = compare("gen12", Generation::Gen12) else { return };
    assert!(files >= 4 && total >= 120, "{files} files, {total} instructions");
    assert!(different.is_empty(), "{different:#?}");
}

/// Types, scoreboards, addressing, controls, branches, messages, three-source instructions and
/// 8-byte forms. Oracles: Mesa 22.3.6's disassembler and Intel's assembler IGA 1.1.0 print these
/// texts, but for two lines: Mesa prints source 1 of `jmpi`, where Gen12 has no operand, and a word
/// of a three-source instruction as unsigned.
#[test]
fn texts() {
    check(Generation::Gen12, CASES);
}

#[rustfmt::skip]
const CASES: &[(&str, &str, &str)] = &[
("61 00 03 00 00 00 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>UB g20<8,8,1>UB { align1 1Q };", "mov (8|M0) r10.0<1>:ub r20.0<8;8,1>:ub"),
    ("61 00 03 00 10 01 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>UW g20<8,8,1>UW { align1 1Q };", "mov (8|M0) r10.0<1>:uw r20.0<8;8,1>:uw"),
    ("61 00 03 00 20 02 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>UD g20<8,8,1>UD { align1 1Q };", "mov (8|M0) r10.0<1>:ud r20.0<8;8,1>:ud"),
    ("61 00 03 00 40 04 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>B g20<8,8,1>B { align1 1Q };", "mov (8|M0) r10.0<1>:b r20.0<8;8,1>:b"),
    ("61 00 03 00 50 05 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>W g20<8,8,1>W { align1 1Q };", "mov (8|M0) r10.0<1>:w r20.0<8;8,1>:w"),
    ("61 00 03 00 60 06 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>D g20<8,8,1>D { align1 1Q };", "mov (8|M0) r10.0<1>:d r20.0<8;8,1>:d"),
    ("61 00 03 00 90 09 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>HF g20<8,8,1>HF { align1 1Q };", "mov (8|M0) r10.0<1>:hf r20.0<8;8,1>:hf"),
    ("61 00 03 00 a0 0a 05 0a 05 14 46 0a 05 1e 46 00", "mov(8) g10<1>F g20<8,8,1>F { align1 1Q };", "mov (8|M0) r10.0<1>:f r20.0<8;8,1>:f"),
    ("61 00 03 00 a0 40 05 0a 04 00 00 00 78 56 34 12", "mov(8) g10<1>F 0x12345678UV { align1 1Q };", "mov (8|M0) r10.0<1>:f 0x12345678:uv"),
    ("61 00 03 00 a0 44 05 0a 04 00 00 00 78 56 34 12", "mov(8) g10<1>F 0x12345678V { align1 1Q };", "mov (8|M0) r10.0<1>:f 0x12345678:v"),
    ("61 00 03 00 a0 45 05 0a 04 00 00 00 fe ff fe ff", "mov(8) g10<1>F -2W { align1 1Q };", "mov (8|M0) r10.0<1>:f -2:w"),
    ("61 00 03 00 a0 48 05 0a 04 00 00 00 48 40 38 30", "mov(8) g10<1>F 0x30384048VF /* [3F, 2F, 1.5F, 1F]VF */ { align1 1Q };", "mov (8|M0) r10.0<1>:f 0x30384048:vf"),
    ("61 00 03 00 a0 4a 05 0a 04 00 00 00 00 00 80 3f", "mov(8) g10<1>F 0x3f800000F /* 1F */ { align1 1Q };", "mov (8|M0) r10.0<1>:f 1.0:f"),
    ("40 01 03 00 a0 1a 05 0a 05 14 46 0a 05 1e 46 02", "add(8) g10<1>F (abs)g20<8,8,1>F -g30<8,8,1>F { align1 1Q @1 };", "add (8|M0) r10.0<1>:f (abs)r20.0<8;8,1>:f -r30.0<8;8,1>:f {@1}"),
    ("40 23 03 00 a0 1a 05 0a 05 14 46 0a 05 1e 46 02", "add(8) g10<1>F (abs)g20<8,8,1>F -g30<8,8,1>F { align1 1Q $3.dst };", "add (8|M0) r10.0<1>:f (abs)r20.0<8;8,1>:f -r30.0<8;8,1>:f {$3.dst}"),
    ("40 34 03 00 a0 1a 05 0a 05 14 46 0a 05 1e 46 02", "add(8) g10<1>F (abs)g20<8,8,1>F -g30<8,8,1>F { align1 1Q $4.src };", "add (8|M0) r10.0<1>:f (abs)r20.0<8;8,1>:f -r30.0<8;8,1>:f {$4.src}"),
    ("40 45 03 00 a0 1a 05 0a 05 14 46 0a 05 1e 46 02", "add(8) g10<1>F (abs)g20<8,8,1>F -g30<8,8,1>F { align1 1Q $5 };", "add (8|M0) r10.0<1>:f (abs)r20.0<8;8,1>:f -r30.0<8;8,1>:f {$5}"),
    ("40 b6 03 00 a0 1a 05 0a 05 14 46 0a 05 1e 46 02", "add(8) g10<1>F (abs)g20<8,8,1>F -g30<8,8,1>F { align1 1Q @3 $6.dst };", "add (8|M0) r10.0<1>:f (abs)r20.0<8;8,1>:f -r30.0<8;8,1>:f {@3,$6.dst}"),
    ("38 91 03 00 a0 0a 05 0a 05 14 46 40 00 00 00 00", "math sqrt(8) g10<1>F g20<8,8,1>F null<0,1,0>UB { align1 1Q @1 $1 };", "math.sqt (8|M0) r10.0<1>:f r20.0<8;8,1>:f {@1,$1}"),
    ("38 00 03 00 a0 0a 0d 0a 15 14 46 ea 45 1e 46 00", "math invm(8) g10.0<1>F g20.0<8,8,1>F g30.2<8,8,1>F { align1 1Q };", "math.invm (8|M0) (eo)f0.0 r10.mme1:f r20.mme2:f r30.nomme:f"),
    ("61 00 03 00 a8 0a e1 0f 05 14 46 0a 05 1e 46 00", "mov(8) g[a0 1016]<1>F g20<8,8,1>F { align1 1Q };", "mov (8|M0) r[a0.0,-8]<1>:f r20.0<8;8,1>:f"),
    ("61 00 03 00 a0 0a 05 0a 0d 30 47 0a 05 1e 46 00", "mov(8) g10<1>F g[a0.3 3]<8,8,1>F { align1 1Q };", "mov (8|M0) r10.0<1>:f r[a0.3,3]<8;8,1>:f"),
    ("40 00 03 00 a0 0a 05 0a 05 14 46 0a 05 1e 47 00", "add(8) g10<1>F g20<8,8,1>F g[a0.1 897]<8,8,1>F { align1 1Q };", "add (8|M0) r10.0<1>:f r20.0<8;8,1>:f r[a0.1,-127]<8;8,1>:f"),
    ("70 00 c3 91 a1 0a 05 0a 05 14 46 5a 05 1e 46 00", "(-f1.1) cmp.l.f1.1(8) g10<1>F g20<8,8,1>F g30<8,8,1>F { align1 WE_all 1Q atomic };", "(W&~f1.1) cmp (8|M0) (lt)f1.1 r10.0<1>:f r20.0<8;8,1>:f r30.0<8;8,1>:f {Atomic}"),
    ("40 00 13 40 a6 0a 05 0a 05 14 46 0a 05 1e 46 00", "add.sat.breakpoint(8) g10<1>F g20<8,8,1>F g30<8,8,1>F { align1 2Q AccWrEnable };", "add (8|M8) (sat)r10.0<1>:f r20.0<8;8,1>:f r30.0<8;8,1>:f {AccWrEn,Breakpoint}"),
    ("62 00 24 01 a0 0a 05 0a 05 14 46 0a 05 1e 46 00", "(+f0.0) sel(16) g10<1>F g20<8,8,1>F g30<8,8,1>F { align1 2H };", "(f0.0) sel (16|M16) r10.0<1>:f r20.0<8;8,1>:f r30.0<8;8,1>:f"),
    ("60 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "nop ;", "nop {@3}"),
    ("01 00 00 80 00 00 01 00 00 00 00 e0 00 00 00 00", "sync bar(1) null<0,1,0>UB { align1 WE_all 1N };", "(W) sync.bar null"),
    ("01 00 00 00 00 42 01 00 00 00 00 30 40 04 00 00", "sync allwr(1) 0x00000440UD { align1 1N };", "sync.allwr ($6,$10)"),
    ("01 24 00 e8 01 00 11 00", "sync nop(1) null<0,1,0>UB { align1 1N $4.dst compacted };", "sync.nop null {Compacted,$4.dst}"),
    ("22 00 05 11 00 c0 00 00 78 06 00 00 30 00 00 00", "(-f0.0) if(32) JIP: LABEL1 UIP: LABEL0 { align1 };", "(~f0.0) if (32|M0) 48 1656"),
    ("24 00 05 00 00 c0 00 00 58 06 00 00 58 06 00 00", "else(32) JIP: LABEL0 UIP: LABEL0 { align1 };", "else (32|M0) 1624 1624"),
    ("25 00 05 00 00 40 00 00 00 00 00 00 10 00 00 00", "endif(32) JIP: LABEL0 { align1 };", "endif (32|M0) 16"),
    ("27 00 05 01 00 40 00 00 00 00 00 00 20 fa ff ff", "(+f0.0) while(32) JIP: LABEL0 { align1 };", "(f0.0) while (32|M0) -1504"),
    ("2e 00 85 01 00 c0 00 00 00 1e 00 00 00 1e 00 00", "(+f1.0) goto(32) { align1 };", "(f1.0) goto (32|M0) 7680 7680"),
    ("2c 01 03 00 00 40 84 05 00 00 00 00 98 00 00 00", "call(8) { align1 1Q @1 };", "call (8|M0) r5.4 152 {@1}"),
    ("2d 01 03 00 00 00 00 00 84 05 00 00 00 00 00 00", "ret(8) { align1 1Q @1 };", "ret (8|M0) r5.4 {@1}"),
    ("20 00 00 81 00 46 00 00 00 00 00 00 40 00 00 00", "(+f0.0) jmpi(1) 64D { align1 WE_all 1N };", "(W&f0.0) jmpi 64"),
    ("31 b1 00 81 00 00 0c 2b 0c 2a 02 a0 00 00 42 00", "(+f0.0) send(1) g43UD g42UD nullUD 0x02110801 0x00000000 data MsgDesc: ( DC byte scattered read, 1, 8) mlen 1 ex_mlen 0 rlen 1 { align1 WE_all 1N @3 $1 };", "(W&f0.0) send.dc0 (1|M0) r43 r42 null 0x0 0x02110801 {@3,$1}"),
    ("31 01 03 80 04 00 00 00 0c 7f 20 70 00 00 00 00", "send(8) nullUD g127UD nullUD 0x02000010 0x00000000 thread_spawner MsgDesc: mlen 1 ex_mlen 0 rlen 0 { align1 WE_all 1Q @1 EOT };", "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT,@1}"),
    ("31 96 04 00 00 00 05 71 04 0c 00 c0 00 00 00 00", "send(16) g113UD g12UD nullUD a0<0>UD 0x00000000 dp data 1 MsgDesc: indirect ex_mlen 0 { align1 1H @1 $6 };", "send.dc1 (16|M0) r113 r12 null 0x0 a0.0 {@1,$6}"),
    ("31 94 84 01 00 00 01 00 04 0f 00 c0 14 11 00 00", "(+f1.0) send(16) nullUD g15UD g17UD a0<0>UD 0x00000080 dp data 1 MsgDesc: indirect ex_mlen 2 { align1 1H @1 $4 };", "(f1.0) send.dc1 (16|M0) null r15 r17 0x80 a0.0 {@1,$4}"),
    ("31 48 13 00 00 00 0c 68 14 77 26 cc 00 00 5a 00", "send(8) g104UD g119UD nullUD 0x04116e13 0x00000000 dp data 1 MsgDesc: ( DC typed surface read, Surface = 19, SIMD8, Mask = 0xe) mlen 2 ex_mlen 0 rlen 1 { align1 2Q $8 };", "send.dc1 (8|M8) r104 r119 null 0x0 0x04116E13 {$8}"),
    ("31 98 03 00 00 01 02 00 0c 5c f8 c1 04 75 d4 00", "send(8) nullUD g92UD g117UD 0x020350fc a0.1<0>UD dp data 1 MsgDesc: ( DC typed surface write, Surface = 252, SIMD16, Mask = 0x0) mlen 1 rlen 0 { align1 1Q @1 $8 };", "send.dc1 (8|M0) null r92 r117 a0.1 0x020350FC {@1,$8}"),
    ("5b 00 03 00 a8 0a 04 0a 05 14 0a 0a 05 1e 05 28", "mad(8) g10<1>F g20<8,8,1>F g30<8,8,1>F g40<1,1,1>F { align1 1Q };", "mad (8|M0) r10.0<1>:f r20.0<8;1>:f r30.0<8;1>:f r40.0<1>:f"),
    ("5b 00 03 00 a8 22 04 0a 05 14 42 0a 06 1e 24 28", "mad(8) g10<1>F -g20<1,1,1>F (abs)g30<4,2,2>F g40.1<0,1,0>F { align1 1Q };", "mad (8|M0) r10.0<1>:f -r20.0<1;1>:f (abs)r30.0<4;2>:f r40.1<0>:f"),
    ("5b 00 03 00 a8 0a 00 20 01 20 0a 0a 05 1e 05 28", "mad(8) acc0<1>F acc0<8,8,1>F g30<8,8,1>F g40<1,1,1>F { align1 1Q };", "mad (8|M0) acc0.0<1>:f acc0.0<8;1>:f r30.0<8;1>:f r40.0<1>:f"),
    ("5b 00 03 00 a8 49 04 0a 00 3c 0a 0a 05 1e 05 28", "mad(8) g10<1>F 0x3c00HF g30<8,8,1>F g40<1,1,1>F { align1 1Q };", "mad (8|M0) r10.0<1>:f 1.0:hf r30.0<8;1>:f r40.0<1>:f"),
    ("5b 00 03 00 68 8e 04 0a 05 14 0d 09 05 1e f0 ff", "mad(8) g10<1>D g20<8,8,1>D g30<8,8,1>UW -16W { align1 1Q };", "mad (8|M0) r10.0<1>:d r20.0<8;1>:d r30.0<8;1>:uw -16:w"),
    ("72 00 03 00 a8 0a 04 0a 05 14 0a 3a 05 1e 05 28", "csel.g(8) g10<1>F g20<8,8,1>F g30<8,8,1>F g40<1,1,1>F { align1 1Q };", "csel (8|M0) (gt)f0.0 r10.0<1>:f r20.0<8;1>:f r30.0<8;1>:f r40.0<1>:f"),
    ("58 a1 03 00 68 0e 04 0a 05 14 0a 0e 05 1e 05 28", "dp4a(8) g10<1>D g20<8,8,1>D g30<8,8,1>D g40<1,1,1>UD { align1 1Q @2 $1.dst };", "dp4a (8|M0) r10.0<1>:d r20.0<8;1>:d r30.0<8;1>:d r40.0<1>:ud {@2,$1.dst}"),
    ("40 03 0d a0 02 04 01 05", "add(16) g13<1>D g4<0,1,0>D g5<8,8,1>D { align1 1H @3 compacted };", "add (16|M0) r13.0<1>:d r4.0<0;1,0>:d r5.0<8;8,1>:d {Compacted,@3}"),
    ("41 01 20 22 16 0a 11 03", "mul(1) acc0<1>D g10<0,1,0>D g3.2<0,1,0>UW { align1 WE_all 1N @1 compacted };", "(W) mul (1|M0) acc0.0<1>:d r10.0<0;1,0>:d r3.2<0;1,0>:uw {Compacted,@1}"),
    ("61 00 15 a0 00 00 01 00", "mov(16) g21<1>F 0x0F /* 0F */ { align1 1H compacted };", "mov (16|M0) r21.0<1>:f 0.0:f {Compacted}"),
    ("62 00 28 e5 00 1c 00 c3", "sel.ge(16) g40<1>F g28<8,8,1>F 0xc3000000F /* -128F */ { align1 1H compacted };", "sel (16|M0) (ge)f0.0 r40.0<1>:f r28.0<8;8,1>:f -128.0:f {Compacted}"),
    ("65 00 2e a0 02 14 20 18", "and(16) g46<1>D g20<8,8,1>D ~g24<8,8,1>D { align1 1H compacted };", "and (16|M0) r46.0<1>:d r20.0<8;8,1>:d ~r24.0<8;8,1>:d {Compacted}"),
    ("68 05 05 a0 06 05 10 00", "shr(16) g5<1>D g5<8,8,1>UD 1W { align1 1H @5 compacted };", "shr (16|M0) r5.0<1>:d r5.0<8;8,1>:ud 1:w {Compacted,@5}"),
    ("70 00 00 2c 01 1e 00 1e", "cmp.z.f0.0(16) null<1>F g30<8,8,1>F g30<8,8,1>F { align1 1H compacted };", "cmp (16|M0) (eq)f0.0 null<1>:f r30.0<8;8,1>:f r30.0<8;8,1>:f {Compacted}"),
    ("5b 28 15 e0 00 3e 2b 15", "mad(16) g21<1>F g62<8,8,1>F g21<8,8,1>F g43.0<0,1,0>F { align1 1H $8.dst compacted };", "mad (16|M0) r21.0<1>:f r62.0<8;1>:f r21.0<8;1>:f r43.0<0>:f {Compacted,$8.dst}"),
    ("5b 02 12 ec 30 22 3e 1a", "mad(16) g18<1>F g34<8,8,1>F g26<8,8,1>F g62.2<0,1,0>F { align1 2H @2 compacted };", "mad (16|M16) r18.0<1>:f r34.0<8;1>:f r26.0<8;1>:f r62.2<0>:f {Compacted,@2}"),
    ("61 00 25 e2 64 30 11 00", "mov(1) g37.1<1>UD f0<0,1,0>UD { align1 WE_all 1N compacted };", "(W) mov (1|M0) r37.1<1>:ud f0.0<0;1,0>:ud {Compacted}"),
];

/// The numbers of operations are those of the specification. Oracle: Mesa's table of operations.
#[test]
fn operations() {
    let named = |number: u8| EuOpcodeGen12::from_bits(number.into()).name();
    for number in 0..128 {
        let found = Opcode::on(Generation::Gen12, number);
        assert_eq!(found.map(Opcode::name), named(number), "{number:#x}");
        if let Some(opcode) = found {
            assert_eq!(opcode.code_on(Generation::Gen12), Some(number));
        }
    }
    assert_eq!(Opcode::Mov.code_on(Generation::Gen12), Some(0x61));
    assert_eq!(Opcode::Sends.code_on(Generation::Gen12), None);
    assert_eq!(Opcode::Sync.code_on(Generation::Gen11), None);
    // The number of mov on Gen11 belongs to sync.
    assert_eq!(Opcode::on(Generation::Gen12, 1), Some(Opcode::Sync));
}

/// The parts of a scoreboard. Oracle: Mesa's `tgl_swsb_decode`.
#[test]
fn scoreboards() {
    let parts = |bits, opcode| (Scoreboard(bits).distance(), Scoreboard(bits).token(opcode));
    assert_eq!(parts(0x00, Opcode::Add), (None, None));
    assert_eq!(parts(0x07, Opcode::Add), (Some(7), None));
    assert_eq!(parts(0x2f, Opcode::Add), (None, Some((Token::Written, 15))));
    assert_eq!(parts(0x30, Opcode::Add), (None, Some((Token::Read, 0))));
    assert_eq!(parts(0x41, Opcode::Send), (None, Some((Token::Set, 1))));
    assert_eq!(parts(0xd2, Opcode::Add), (Some(5), Some((Token::Written, 2))));
    for sets in [Opcode::Send, Opcode::Sendc, Opcode::Math] {
        assert_eq!(parts(0xd2, sets), (Some(5), Some((Token::Set, 2))));
    }
}

/// Reserved values are errors. Oracle: IGA refuses these instructions of Gen12.0, too.
#[test]
fn reserved_values() {
    let error = |hex: &str| decode_on(Generation::Gen12, &dwords(hex)).unwrap_err().problem;
    let reserved = |operation, field, value| Problem::Reserved { operation, field, value };
    // The pipes of Gen12.5.
    let pipe = "40 11 03 00 a0 0a 05 0a 05 14 46 0a 05 1e 46 00";
    assert_eq!(error(pipe), reserved(Opcode::Add, "SWSB", 0x11));
    let ty = "61 00 03 00 80 08 05 0a 05 14 46 0a 05 1e 46 00";
    assert_eq!(error(ty), reserved(Opcode::Mov, "DstType", 8));
    let function = "01 00 03 80 00 00 00 00 00 00 00 4a 05 1e 46 00";
    assert_eq!(error(function), reserved(Opcode::Sync, "SyncFunction", 4));
    let receiver = "32 01 04 00 04 00 00 00 24 7b 00 e0 24 77 c4 00";
    assert_eq!(error(receiver), reserved(Opcode::Sendc, "SFID", 14));
    // Messages have no 8-byte form.
    let compact = decode_on(Generation::Gen12, &[0x2000_0031, 0]).unwrap_err().problem;
    assert_eq!(compact, Problem::NotCompactable { operation: Opcode::Send });
}

/// All bits of both descriptors, in all their parts. Oracle: the positions of Mesa's brw_inst.h;
/// IGA prints the same numbers.
#[test]
fn descriptors() {
    let all = "31 00 03 00 f8 ff f8 0c fb 0f fe cf ff 1e fe ff";
    let i = decode_on(Generation::Gen12, &dwords(all)).unwrap();
    assert_eq!(i.extended, Some(Descriptor::Immediate(0xffff_ffc0)));
    assert_eq!(i.send.unwrap().descriptor, Descriptor::Immediate(0xffff_ffff));
    assert_eq!(i.encode().unwrap(), dwords(all));
    let text = listing(Generation::Gen12, &bytes(all), Syntax::Iga);
    assert!(text.contains("0xFFFFFFC0 0xFFFFFFFF"), "{text}");
}
