//! Two kernels for each rule: one that complies and one that breaks it. Oracle: the text of the
//! restriction; the kernels are written by hand.

use genxml_eu::Instruction;
use genxml_eu::asm::{Options, assemble};
use genxml_eu::instruction::*;
use genxml_eu::syntax::Syntax;
use genxml_eu::validate::{self, Finding, Severity};

/// How the kernel that breaks a rule is made.
enum Broken {
    /// Another kernel.
    Text(&'static str),
    /// The first instruction of the compliant kernel, changed and checked alone.
    Edit(fn(&mut Instruction)),
    /// The compliant kernel with changed dwords.
    Dwords(fn(&mut [u32])),
}

use Broken::{Dwords, Edit, Text};

#[rustfmt::skip]
const EXAMPLES: &[(&str, &str, Broken)] = &[
    // encoding
    ("EU-DECODE", "mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Dwords(|dwords| dwords[0] |= 7 << 21)),
    ("EU-ILLEGAL", "mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Dwords(|dwords| dwords[0] = 0x33)),
    ("EU-BREAKPOINT", "mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Edit(|i| i.breakpoint = true)),
    ("EU-RESERVED-BITS", "add (8|M0) r4.0<1>:f r5.0<8;8,1>:f r6.0<8;8,1>:f", Dwords(|dwords| dwords[3] |= 1 << 31)),
    ("EU-WORD-HALVES", "mov (8|M0) r4.0<1>:w 5:w", Dwords(|dwords| dwords[3] ^= 1 << 16)),
    // operands
    ("EU-TYPES", "add (8|M0) r4.0<1>:f r5.0<8;8,1>:d r6.0<8;8,1>:uw", Edit(|i| i.sources[0] = general(5, DataType::F))),
    ("EU-NULL-SOURCE", "add (8|M0) r4.0<1>:f r5.0<8;8,1>:f r6.0<8;8,1>:f", Edit(|i| source(i, 1).register = Register::NULL)),
    ("EU-PREDICATE", "wait (1|M0) n0.0<0;1,0>:ud", Edit(|i| i.predicate = PREDICATE)),
    ("EU-ELSE-PREDICATE", "else (8|M0) 16 16\n endif (8|M0) 16", Edit(|i| i.predicate = PREDICATE)),
    ("EU-ENDIF-PREDICATE", "endif (8|M0) 16", Edit(|i| i.predicate = PREDICATE)),
    ("EU-CONDITION", "cbit (8|M0) r4.0<1>:ud r5.0<8;8,1>:ud", Edit(|i| i.condition = Some(Condition::Equal))),
    ("EU-SATURATE", "and (8|M0) r4.0<1>:ud r5.0<8;8,1>:ud r6.0<8;8,1>:ud", Edit(|i| i.saturate = true)),
    ("EU-SOURCE-MODIFIER", "addc (8|M0) r4.0<1>:ud r5.0<8;8,1>:ud r6.0<8;8,1>:ud {AccWrEn}", Edit(|i| source(i, 0).negate = true)),
    ("EU-SEL-CHOICE", "(f0.0) sel (8|M0) r4.0<1>:f r5.0<8;8,1>:f r6.0<8;8,1>:f", Edit(|i| i.predicate = None)),
    ("EU-SEL-CONDITION", "sel (8|M0) (ge)f0.0 r4.0<1>:f r5.0<8;8,1>:f r6.0<8;8,1>:f", Edit(|i| i.condition = Some(Condition::Equal))),
    ("EU-IMM-LAST", "add (8|M0) r4.0<1>:d r5.0<8;8,1>:d 7:d", Edit(|i| i.sources.swap(0, 1))),
    ("EU-IMM-64", "mov (4|M0) r4.0<1>:df 0x3FF0000000000000:df", Edit(|i| {
        i.opcode = genxml_eu::Opcode::Add;
        i.sources = [general(5, DataType::Df), i.sources[0], Operand::None];
    })),
    ("EU-IMM-BYTE", "mov (8|M0) r4.0<2>:b 5:w", Edit(|i| i.sources[0] = Operand::Immediate(Immediate { ty: DataType::B, bits: 5 }))),
    ("EU-V-PACKED-WORD", "add (8|M0) r4.0<1>:w r5.0<8;8,1>:w 0x76543210:v", Edit(|i| source(i, 0).ty = DataType::D)),
    ("EU-VECTOR-ALIGN", "mov (4|M0) r4.4<1>:f 0x302000:vf", Text("mov (4|M0) r4.1<1>:f 0x302000:vf")),
    ("EU-VECTOR-STRIDE", "mov (8|M0) r4.0<1>:w 0x76543210:v", Text("mov (8|M0) r4.0<2>:w 0x76543210:v")),
    ("EU-VECTOR-WIDE", "mov (2|M0) r4.0<1>:w 0x76543210:v", Text("mov (2|M0) r4.0<1>:d 0x76543210:v")),
    ("EU-GRF-RANGE", "mov (16|M0) r126.0<1>:f r4.0<8;8,1>:f", Text("mov (16|M0) r127.0<1>:f r4.0<8;8,1>:f")),
    ("EU-SUBREGISTER-ALIGN", "mov (1|M0) r4.0<1>:d r5.1<0;1,0>:d", Edit(|i| source(i, 0).register = Register::Grf { number: 5, byte: 2 })),
    ("EU-SRC1-ARF", "add (8|M0) r4.0<1>:f acc0.0<8;8,1>:f r5.0<8;8,1>:f", Edit(|i| i.sources.swap(0, 1))),
    ("EU-ARF-UNKNOWN", "mov (1|M0) r4.0<1>:ud f1.0<0;1,0>:ud", Edit(|i| source(i, 0).register = Register::Arf { file: Arf::Flag, number: 2, byte: 0 })),
    ("EU-ARF-READ-ONLY", "mov (1|M0) f0.0<1>:ud r4.0<0;1,0>:ud", Text("mov (1|M0) n0.0<1>:ud r4.0<0;1,0>:ud")),
    ("EU-ARF-SPAN", "mov (8|M0) a0.0<1>:uw r4.0<8;8,1>:uw", Text("mov (8|M0) a0.12<1>:uw r4.0<8;8,1>:uw")),
    ("EU-ADDRESS-RANGE", "mov (8|M0) r4.0<1>:uw r[a0.8,0]<1,0>:uw", Text("mov (8|M0) r4.0<1>:uw r[a0.12,0]<1,0>:uw")),
    ("EU-ADDRESS-GROUP", "mov (8|M0) r4.0<1>:d r[a0.2,0]<4,1>:d", Text("mov (8|M0) r4.0<1>:d r[a0.3,0]<4,1>:d")),
    ("EU-CONTROL-SWITCH", "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x8:uw {Switch}", Text("(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x8:uw")),
    ("EU-CARRY-ACCUMULATOR", "addc (8|M0) r4.0<1>:ud r5.0<8;8,1>:ud r6.0<8;8,1>:ud {AccWrEn}", Text("addc (8|M0) r4.0<1>:ud r5.0<8;8,1>:ud r6.0<8;8,1>:ud")),
    ("EU-MACH-ACCUMULATOR", "mach (8|M0) r4.0<1>:d r5.0<8;8,1>:d r6.0<8;8,1>:d {AccWrEn}", Text("mach (8|M0) r4.0<1>:d r5.0<8;8,1>:d r6.0<8;8,1>:d")),
    ("EU-NO-ACCUMULATOR", "fbl (8|M0) r4.0<1>:ud r5.0<8;8,1>:ud", Text("fbl (8|M0) acc0.0<1>:ud r5.0<8;8,1>:ud")),
    ("EU-LOGIC-ACCUMULATOR", "and (8|M0) r4.0<1>:ud acc0.0<8;8,1>:ud r5.0<8;8,1>:ud", Edit(|i| source(i, 0).negate = true)),
    ("EU-NOT-ACCUMULATOR", "not (8|M0) r4.0<1>:ud acc0.0<8;8,1>:ud", Edit(|i| source(i, 0).negate = true)),
    ("EU-ACC-DIFFERENT", "add (8|M0) acc1.0<1>:f acc1.0<8;8,1>:f r5.0<8;8,1>:f", Text("add (8|M0) acc1.0<1>:f acc0.0<8;8,1>:f r5.0<8;8,1>:f")),
    ("EU-ACC-SWIZZLE", "add (8|M0) r4.0<1>:f acc0.0<4>.xyzw:f r5.0<4>.xyzw:f {Align16}", Edit(|i| source(i, 0).swizzle = [1, 1, 1, 1])),
    ("EU-ACC-REGION", "add (8|M0) r4.0<1>:f acc0.0<8;8,1>:f r5.0<8;8,1>:f", Text("add (4|M0) r4.0<1>:f acc0.4<4;4,1>:f r5.0<4;4,1>:f")),
    ("EU-ACC-INTEGER", "add (8|M0) acc0.0<1>:d r4.0<8;8,1>:d r5.0<8;8,1>:d", Text("add (8|M0) acc1.0<1>:d r4.0<8;8,1>:d r5.0<8;8,1>:d")),
    // region
    ("EU-EXEC-TYPE", "mov (16|M0) r4.0<1>:f r6.0<8;8,1>:f", Text("mov (16|M0) r4.0<1>:f r6.0<0;1,0>:df")),
    ("EU-CHANNELS", "mov (16|M16) r4.0<1>:f r6.0<8;8,1>:f", Edit(|i| i.channel_offset = 24)),
    ("EU-FLAG-HALF", "(f0.0) mov (32|M0) r4.0<1>:w r6.0<16;16,1>:w", Edit(|i| i.flag.subregister = 1)),
    ("EU-NIBCTRL", "mov (4|M4) r4.0<1>:df r6.0<4;4,1>:df", Text("mov (4|M4) r4.0<1>:f r6.0<4;4,1>:f")),
    ("EU-REGION-WIDTH", "mov (4|M0) r4.0<1>:f r5.0<4;4,1>:f", Text("mov (4|M0) r4.0<1>:f r5.0<8;8,1>:f")),
    ("EU-REGION-VSTRIDE", "mov (8|M0) r4.0<1>:w r5.0<16;8,2>:w", Text("mov (8|M0) r4.0<1>:w r5.0<8;8,2>:w")),
    ("EU-REGION-HSTRIDE", "mov (8|M0) r4.0<1>:w r5.0<2;1,0>:w", Text("mov (8|M0) r4.0<1>:w r5.0<2;1,1>:w")),
    ("EU-REGION-SCALAR", "mov (1|M0) r4.0<1>:f r5.0<0;1,0>:f", Text("mov (1|M0) r4.0<1>:f r5.0<1;1,0>:f")),
    ("EU-REGION-BROADCAST", "mov (8|M0) r4.0<1>:f r5.0<0;1,0>:f", Text("mov (8|M0) r4.0<1>:f r5.0<0;2,0>:f")),
    // The manual's example 3 (G45 vol 4 11.3.10.1).
    ("EU-REGION-ROW", "mov (2|M0) r1.0<1>:d r2.6<2;2,1>:d", Text("mov (2|M0) r1.0<1>:d r2.7<2;2,1>:d")),
    ("EU-REGION-SPAN", "mov (16|M0) r4.0<1>:w r6.0<16;8,2>:w", Text("mov (32|M0) r4.0<1>:w r6.0<16;8,2>:w")),
    ("EU-VSTRIDE-ADDRESSES", "mov (8|M0) r4.0<1>:d r[a0.0,0]<1,0>:d", Edit(|i| source(i, 0).register = Register::grf(5))),
    ("EU-VSTRIDE-SIZE", "mov (16|M0) r4.0<1>:w r6.0<16;8,1>:w", Text("mov (2|M0) r4.0<1>:f r6.0<16;1,0>:f")),
    ("EU-DST-STRIDE", "mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Edit(|i| destination(i).stride = 0)),
    ("EU-DST-SPAN", "mov (16|M0) r4.0<2>:w r5.0<16;16,1>:w", Text("mov (32|M0) r4.0<2>:w r5.0<16;16,1>:w")),
    ("EU-DST-SPLIT", "mov (8|M0) r4.4<1>:f r6.0<0;1,0>:f", Text("mov (8|M0) r4.2<1>:f r6.0<0;1,0>:f")),
    ("EU-DST-OWORD", "mov (4|M0) r4.8<1>:w r6.0<16;2,1>:w", Text("mov (4|M0) r4.5<1>:w r6.0<16;2,1>:w")),
    // The manual's example 1 (G45 vol 4 11.3.10.1).
    ("EU-EXEC-STRIDE", "mov (2|M0) r0.0<4>:b r2.0<2;2,1>:d", Text("mov (2|M0) r0.0<2>:b r2.0<2;2,1>:d")),
    ("EU-EXEC-STRIDE-BYTE", "mov (2|M0) r0.0<2>:b r2.0<2;2,1>:w", Text("mov (2|M0) r0.0<4>:b r2.0<2;2,1>:w")),
    ("EU-EXEC-ALIGN", "mov (2|M0) r0.5<4>:b r2.0<2;2,1>:d", Text("mov (2|M0) r0.2<4>:b r2.0<2;2,1>:d")),
    ("EU-EXEC-ALIGN-SCALAR", "mov (1|M0) r0.4<1>:b r2.0<0;1,0>:d", Text("mov (1|M0) r0.2<1>:b r2.0<0;1,0>:d")),
    ("EU-PACKED-BYTE", "mov (8|M0) r4.0<1>:ub r5.0<8;8,1>:ub", Text("add (8|M0) r4.0<1>:ub r5.0<8;8,1>:ub r6.0<8;8,1>:ub")),
    ("EU-ALIGN16-VSTRIDE", "mov (8|M0) r4.0<1>:f r5.0<4>.xyzw:f {Align16}", Edit(|i| source(i, 0).region.vertical = Vertical::Stride(8))),
    ("EU-DST16-STRIDE", "mov (8|M0) r4.0<1>:f r5.0<4>.xyzw:f {Align16}", Dwords(|dwords| dwords[1] ^= 3 << 29)),
    ("EU-ALIGN16-QWORD", "mov (2|M0) r4.0<1>:df r5.0<4>.xyzw:f {Align16}", Text("mov (4|M0) r4.0<1>:df r5.0<4>.xyzw:f {Align16}")),
    ("EU-ALIGN16-SELECT", "mov (4|M0) r4.0<1>:df r6.0<2>.xyzw:df {Align16}", Edit(|i| source(i, 0).swizzle = [0, 0, 1, 1])),
    ("EU-ALIGN16-MASK", "mov (8|M0) r4.0<1>:f r5.0<4>.xyzw:f {Align16}", Edit(|i| destination(i).write_mask = 0)),
    // special
    ("EU-HALF-INTEGER", "mov (8|M0) r4.0<2>:hf r6.0<8;8,1>:d", Text("mov (8|M0) r4.0<1>:hf r6.0<8;8,1>:w")),
    ("EU-MIXED-INDIRECT", "add (8|M0) r4.0<1>:f r[a0.0,0]<8;8,1>:f r5.0<8;8,1>:f", Text("add (8|M0) r4.0<1>:f r[a0.0,0]<8;8,1>:hf r5.0<8;8,1>:f")),
    ("EU-MIXED-SIZE", "add (8|M0) r4.0<1>:f r6.0<8;8,1>:hf r8.0<8;8,1>:f", Text("add (16|M0) r4.0<1>:f r6.0<8;8,1>:hf r8.0<8;8,1>:f")),
    ("EU-MIXED-MOV", "mov (8|M0) r4.0<1>:f r6.0<8;8,1>:hf", Text("mov (16|M0) r4.0<1>:f r6.0<16;16,1>:hf")),
    ("EU-MIXED-ALIGN16", "add (8|M0) r4.0<1>:f r6.0<4>.xyzw:hf r8.0<4>.xyzw:f {Align16}", Text("add (8|M0) r4.0<1>:f r6.0<0>.xyzw:hf r8.0<4>.xyzw:f {Align16}")),
    ("EU-MIXED-ACCUMULATOR", "mac (8|M0) r4.0<2>:hf r6.0<8;8,1>:hf r8.0<8;8,1>:f", Text("mac (8|M0) r4.0<1>:f r6.0<4>.xyzw:hf r8.0<4>.xyzw:f {Align16}")),
    ("EU-CMP-MODIFIER", "cmp (8|M0) (lt)f0.0 null:d r5.0<8;8,1>:d r6.0<8;8,1>:d", Edit(|i| i.condition = None)),
    ("EU-CMP-UNORDERED", "cmp (8|M0) (ne)f0.0 null:f r5.0<8;8,1>:f r5.0<8;8,1>:f", Edit(|i| i.condition = Some(Condition::Unordered))),
    ("EU-CMPN-CONDITION", "cmpn (8|M0) (lt)f0.0 null:f r5.0<8;8,1>:f r6.0<8;8,1>:f", Edit(|i| i.condition = Some(Condition::Equal))),
    ("EU-CSEL-CONDITION", "csel (8|M0) (eq)f0.0 r2.0<1>:f r4.0<2;1>:f r5.0<2;1>:f r6.0<1>:f", Edit(|i| i.condition = None)),
    ("EU-LRP-OVERFLOW", "lrp (8|M0) r2.0<1>:f r4.0<2;1>:f r5.0<2;1>:f r6.0<1>:f", Edit(|i| i.condition = Some(Condition::Overflow))),
    ("EU-LOGIC-CONDITION", "and (8|M0) (ne)f0.0 r4.0<1>:ud r5.0<8;8,1>:ud r6.0<8;8,1>:ud", Edit(|i| i.condition = Some(Condition::Greater))),
    ("EU-DOT-SIZE", "dp4 (8|M0) r4.0<1>:f r5.0<4>.xyzw:f r6.0<4>.xyzw:f {Align16}", Edit(|i| i.exec_size = 2)),
    ("EU-DOT-STRIDE", "dp4 (8|M0) r4.0<1>:f r5.0<8;8,1>:f r6.0<8;8,1>:f", Text("dp4 (8|M0) r4.0<1>:f r5.0<0;1,0>:f r6.0<8;8,1>:f")),
    ("EU-DOT-ACCUMULATOR", "dp4 (8|M0) r4.0<1>:f r5.0<8;8,1>:f r6.0<8;8,1>:f", Text("dp4 (8|M0) r4.0<1>:f acc0.0<8;8,1>:f r6.0<8;8,1>:f")),
    ("EU-LINE", "line (8|M0) r4.0<1>:f r5.4<0;1,0>:f r6.0<8;8,1>:f", Text("line (8|M0) r4.0<1>:f r5.1<0;1,0>:f r6.0<8;8,1>:f")),
    ("EU-PLN", "pln (8|M0) r10.0<1>:f r6.0<0;1,0>:f r2.0<8;8,1>:f", Text("pln (4|M0) r10.0<1>:f r6.0<0;1,0>:f r2.0<4;4,1>:f")),
    ("EU-PLN-PAIR", "pln (8|M0) r10.0<1>:f r6.0<0;1,0>:f r2.0<8;8,1>:f", Text("pln (8|M0) r10.0<1>:f r6.0<0;1,0>:f r3.0<8;8,1>:f")),
    ("EU-MATH-DIVISION", "math.iqot (8|M0) r4.0<1>:d r5.0<8;8,1>:d r6.0<8;8,1>:d", Text("math.iqot (16|M0) r4.0<1>:d r6.0<8;8,1>:d r8.0<8;8,1>:d")),
    ("EU-MATH-DESTINATION", "math.inv (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Text("math.inv (8|M0) acc0.0<1>:f r5.0<8;8,1>:f")),
    ("EU-MATH-DEPENDENCY", "math.inv (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Edit(|i| i.no_dd_check = true)),
    ("EU-MATH-INDIRECT", "math.inv (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Text("math.inv (8|M0) r4.0<1>:f r[a0.0,0]<8;8,1>:f")),
    ("EU-MATH-ACCUMULATOR", "math.inv (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Text("math.inv (8|M0) r4.0<1>:f acc0.0<8;8,1>:f")),
    ("EU-MATH-REGION", "math.inv (4|M0) r4.0<2>:f r5.0<8;4,2>:f", Text("math.inv (4|M0) r4.0<1>:f r5.0<8;4,2>:f")),
    ("EU-MATH-OFFSET", "math.inv (4|M0) r4.4<1>:f r5.4<4;4,1>:f", Text("math.inv (4|M0) r4.0<1>:f r5.4<4;4,1>:f")),
    ("EU-MACRO-ALIGN16", "math.invm (8|M0) r4.mme0:f r5.nomme:f r6.nomme:f", Edit(|i| i.access_mode = AccessMode::Align1)),
    ("EU-MUL-ACCUMULATOR", "mul (8|M0) r4.0<1>:f acc0.0<8;8,1>:f r5.0<8;8,1>:f", Text("mul (8|M0) r4.0<1>:d acc0.0<8;8,1>:d r5.0<8;8,1>:d")),
    ("EU-SRC3-ALIGN16", "mad (8|M0) r2.0<1>:f r4.0<2;1>:f r5.0<2;1>:f r6.0<1>:f", Edit(|i| i.access_mode = AccessMode::Align1)),
    ("EU-SRC3-GRF", "mad (8|M0) r2.0<1>:f r4.0<2;1>:f r5.0<2;1>:f r6.0<1>:f", Edit(|i| source(i, 1).register = Register::grf(200))),
    ("EU-DST3-GRF", "mad (8|M0) r2.0<1>:f r4.0<2;1>:f r5.0<2;1>:f r6.0<1>:f", Edit(|i| destination(i).register = Register::grf(128))),
    ("EU-SRC3-REPLICATE", "mad (8|M0) r2.0<1>:f r4.0<0;0>:f r5.0<2;1>:f r6.0<1>:f", Edit(|i| {
        destination(i).ty = DataType::Df;
        (0..3).for_each(|number| source(i, number).ty = DataType::Df);
    })),
    // send
    ("EU-SEND-SOURCE", SEND, Edit(|i| source(i, 0).register = Register::Indirect { address: 0, offset: 0 })),
    ("EU-SEND-ALIGN1", SEND, Edit(|i| i.access_mode = AccessMode::Align16)),
    ("EU-SEND-DESTINATION", SEND, Edit(|i| destination(i).register = ACC0)),
    ("EU-SEND-IDLE", "send (8|M0) null r4:d 0xC 0x060A8000", Edit(|i| destination(i).register = ACC0)),
    ("MSG-LENGTH", SEND, Text("send (8|M0) r10:ud r4:ud 0xA 0x00106E00")),
    ("MSG-RESPONSE", SEND, Text("send (8|M0) r10:ud r4:ud 0xA 0x03106E00")),
    ("MSG-PAYLOAD", "send (8|M0) r10:ud r4:ud 0xA 0x04190801", Text("send (8|M0) r10:ud r4:ud 0xA 0x06190801")),
    ("MSG-REPLY", "send (8|M0) r10:ud r4:ud 0xA 0x04190801", Text("send (8|M0) r10:ud r4:ud 0xA 0x04290801")),
    ("EU-SEND-RANGE", SEND, Text("send (8|M0) r10:ud r127:ud 0xA 0x04106E00")),
    ("EU-SEND-REPLY", SEND, Text("send (8|M0) null r4:ud 0xA 0x02106E00")),
    ("EU-SEND-FUNCTION", SEND, Text("send (8|M0) r10:ud r4:ud 0xF 0x02106E00")),
    ("EU-SEND-DESCRIPTOR", "send (8|M0) r10:ud r4:ud 0xA a0.0", Edit(|i| i.send = i.send.map(|send| Send { descriptor: Descriptor::Address(4), ..send }))),
    ("EU-SEND-DEPENDENCY", SEND, Edit(|i| i.no_dd_check = true)),
    ("EU-EOT-PAYLOAD", "send (8|M0) null r112:f 0x27 0x02000010 {EOT}", Text("send (8|M0) null r111:f 0x27 0x02000010 {EOT}")),
    ("EU-EOT-REPLY", "send (8|M0) null r112:f 0x27 0x02000010 {EOT}", Text("send (8|M0) r4:f r112:f 0x27 0x02100010 {EOT}")),
    ("EU-SEND-R127", "send (8|M0) r126:ud r124:ud 0xA 0x04206E00", Text("send (8|M0) r126:ud r125:ud 0xA 0x04206E00")),
    // flow
    ("EU-JUMP-OUTSIDE", "join (8|M0) 16", Text("join (8|M0) 48")),
    ("EU-JUMP-INSIDE", "join (8|M0) 16\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f", Text("join (8|M0) 24\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f")),
    ("EU-JUMP-SELF", "(W) jmpi 16\n nop", Edit(|i| i.branch = Some(Branch { jip: 0, uip: None }))),
    ("EU-IF-TARGET", IF, Text("(f0.0) if (8|M0) 32 48\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n else (8|M0) 16 16\n endif (8|M0) 16")),
    ("EU-ELSE-TARGET", "else (8|M0) 16 16\n endif (8|M0) 16", Text("else (8|M0) 16 16\n join (8|M0) 16")),
    ("EU-BLOCK-FORWARD", IF, Edit(|i| i.branch = Some(Branch { jip: -16, uip: Some(48) }))),
    ("EU-IF-SIZE", IF, Text("(f0.0) if (16|M0) 48 48\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n else (8|M0) 16 16\n endif (8|M0) 16")),
    ("EU-LOOP-TARGET", LOOP, Text("mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n (f0.0) break (8|M0) 32 16\n nop\n (f0.0) while (8|M0) -48")),
    ("EU-LOOP-SIZE", LOOP, Text("mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n (f0.0) break (8|M0) 16 16\n (f0.0) while (16|M0) -32")),
    ("EU-BLOCK-END", LOOP, Text("mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n (f0.0) break (8|M0) -16 16\n (f0.0) while (8|M0) -32")),
    ("EU-WHILE-TARGET", LOOP, Text("(f0.0) while (8|M0) 16\n nop")),
    ("EU-HALT-TARGET", "halt (8|M0) 32 32\n nop\n halt (8|M0) 16 16\n nop", Text("halt (8|M0) 48 48\n nop\n halt (8|M0) 16 16\n nop")),
    ("EU-GOTO-TARGET", "(f0.0) goto (8|M0) 32 32\n nop\n join (8|M0) 16\n nop", Text("(f0.0) goto (8|M0) 32 16\n nop\n join (8|M0) 16\n nop")),
    ("EU-DEPENDENCY", "mov (4|M0) r4.0<1>:f r5.0<4;4,1>:f {NoDDClr}\n mov (4|M0) r4.4<1>:f r6.0<4;4,1>:f {NoDDChk}", Text("mov (4|M0) r4.0<1>:f r5.0<4;4,1>:f {NoDDClr}\n mov (4|M0) r6.0<1>:f r4.0<4;4,1>:f")),
    ("EU-NO-END", "send (8|M0) null r112:f 0x27 0x02000010 {EOT}", Text("nop")),
    ("EU-UNREACHED", "(W&f0.0) jmpi 32\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n send (8|M0) null r112:f 0x27 0x02000010 {EOT}", Text("(W) jmpi 32\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n send (8|M0) null r112:f 0x27 0x02000010 {EOT}")),
    ("EU-JMPI", "(W) jmpi 16\n nop", Edit(|i| i.exec_size = 8)),
    ("EU-JMPI-MASK", "(W) jmpi 16\n nop", Edit(|i| i.no_mask = false)),
    ("EU-JMPI-TYPE", "(W) jmpi r4.0<0;1,0>:d", Edit(|i| source(i, 0).ty = DataType::Ud)),
    ("EU-BRANCH-SWITCH", "brd (8|M0) 16\n nop", Edit(|i| i.thread_control = ThreadControl::Switch)),
    ("EU-CALL-SWITCH", "call (8|M0) r4.0:ud 32 {Switch}\n nop\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f {Switch}", Text("call (8|M0) r4.0:ud 32\n nop\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f {Switch}")),
    ("EU-CALL-DESTINATION", "call (8|M0) r4.2:ud 32 {Switch}\n nop\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f {Switch}", Edit(|i| destination(i).register = Register::Grf { number: 4, byte: 4 })),
    ("EU-RET-REGION", "ret (8|M0) r4.0:ud", Edit(|i| source(i, 0).region = Region::SCALAR)),
    ("EU-WAIT", "wait (1|M0) n0.0<0;1,0>:ud", Edit(|i| i.exec_size = 8)),
    ("EU-WAIT-ADJACENT", "wait (1|M0) n0.0<0;1,0>:ud\n nop\n wait (1|M0) n0.0<0;1,0>:ud", Text("wait (1|M0) n0.0<0;1,0>:ud\n wait (1|M0) n0.0<0;1,0>:ud")),
];

const SEND: &str = "send (8|M0) r10:ud r4:ud 0xA 0x02106E00";
const IF: &str = "(f0.0) if (8|M0) 48 48\n mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n else (8|M0) 16 16\n endif (8|M0) 16";
const LOOP: &str =
    "mov (8|M0) r4.0<1>:f r5.0<8;8,1>:f\n (f0.0) break (8|M0) 16 16\n (f0.0) while (8|M0) -32";
const ACC0: Register = Register::Arf { file: Arf::Accumulator, number: 0, byte: 0 };
const PREDICATE: Option<Predicate> =
    Some(Predicate { control: PredicateControl::Sequential, inverse: false });

fn general(number: u8, ty: DataType) -> Operand {
    Operand::Register(Source::new(Register::grf(number), ty, Region::packed(8)))
}

fn source(i: &mut Instruction, number: usize) -> &mut Source {
    match &mut i.sources[number] {
        Operand::Register(source) => source,
        other => panic!("source {number} is {other:?}"),
    }
}

fn destination(i: &mut Instruction) -> &mut Destination {
    i.destination.as_mut().unwrap()
}

fn bytes(source: &str) -> Vec<u8> {
    let assembly = assemble(source, Syntax::Iga, &Options::default());
    assembly.unwrap_or_else(|errors| panic!("{source}\n{}", errors[0])).bytes
}

fn breaks(found: &[Finding], id: &str) -> bool {
    found.iter().any(|finding| finding.rule.id == id)
}

fn listed(found: &[Finding]) -> String {
    found.iter().map(|finding| format!("\n    {finding}")).collect()
}

/// Each rule has one compliant kernel, without errors of any rule, and one that breaks the rule.
#[test]
fn every_rule_is_kept_and_broken() {
    let mut wrong = Vec::new();
    for (id, keeps, broken) in EXAMPLES {
        let kept = bytes(keeps);
        let found = validate::kernel(&kept);
        let error = found.iter().any(|finding| finding.rule.severity == Severity::Error);
        if error || breaks(&found, id) {
            wrong.push(format!("{id}: {keeps} does not comply:{}", listed(&found)));
        }
        let found = match broken {
            Text(source) => validate::kernel(&bytes(source)),
            Edit(edit) => {
                let mut first = genxml_eu::instructions(&kept).next().unwrap().unwrap().instruction;
                edit(&mut first);
                validate::instruction(&first)
            }
            Dwords(edit) => {
                let mut dwords: Vec<u32> = kept
                    .chunks_exact(4)
                    .map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap()))
                    .collect();
                edit(&mut dwords);
                let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
                validate::kernel(&bytes)
            }
        };
        if !breaks(&found, id) {
            wrong.push(format!("{id}: the changed kernel does not break it:{}", listed(&found)));
        }
    }
    for rule in validate::rules() {
        if EXAMPLES.iter().filter(|(id, ..)| *id == rule.id).count() != 1 {
            wrong.push(format!("{}: no example", rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} rules", EXAMPLES.len());
}

/// Ids are unique and have a known prefix; no text is empty.
#[test]
fn rules_are_complete() {
    let mut ids: Vec<&str> = validate::rules().map(|rule| rule.id).collect();
    for rule in validate::rules() {
        assert!(["EU-", "MSG-"].iter().any(|start| rule.id.starts_with(start)), "{}", rule.id);
        assert!(
            !rule.text.is_empty() && !rule.hint.is_empty() && !rule.source.is_empty(),
            "{}",
            rule.id
        );
        assert_eq!(validate::rule(rule.id), Some(rule));
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), validate::rules().count());
}

/// A finding prints severity, id, position, instruction, condition, values and hint in one line.
#[test]
fn a_finding_says_all_in_a_line() {
    let found = validate::kernel(&bytes("nop\n mov (8|M0) r4.0<1>:w r5.0<8;8,2>:w"));
    let text = found[0].to_string();
    assert_eq!(
        text,
        "error EU-REGION-VSTRIDE at 0x10 (mov (8|M0) r4.0<1>:w r5.0<8;8,2>:w): with one row and a horizontal \
         stride other than 0, the vertical stride must be width times horizontal stride: src0: <8;8,2>, 8 channels; \
         write the region as <w*h;w,h>"
    );
}

/// Zeros after the last instruction are padding; before it they are illegal instructions.
#[test]
fn padding_is_no_instruction() {
    let end = bytes("send (8|M0) null r112:f 0x27 0x02000010 {EOT}");
    let padded = [&end[..], &[0; 128]].concat();
    assert!(validate::kernel(&padded).is_empty(), "{}", listed(&validate::kernel(&padded)));
    let before = [&[0; 16], &end[..]].concat();
    assert!(breaks(&validate::kernel(&before), "EU-ILLEGAL"));
    // Code after the end of the thread is unreachable.
    let behind = [&end[..], &[0; 16], &end[..]].concat();
    assert!(validate::is_valid(&behind));
    assert!(!validate::is_valid(&[0; 16]));
    assert!(!validate::is_valid(&end[..12]));
    assert!(validate::is_valid(&[]));
}

/// The rules that rules.tsv names for kernels exist in the validator.
#[test]
fn the_table_of_restrictions_names_rules() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec-xml/rules.tsv");
    let table = std::fs::read_to_string(path).unwrap();
    let mut named = 0;
    for row in table.lines().map(|line| line.split('\t').collect::<Vec<_>>()) {
        if let [id, "kernel", ids] = row[..] {
            for rule in ids.split_whitespace() {
                named += 1;
                assert!(validate::rule(rule).is_some(), "{id}: no rule {rule}");
            }
        }
    }
    assert!(named > 0, "no row names a rule of kernels");
}
