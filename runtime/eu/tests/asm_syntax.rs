//! The syntax of the assembler, compared with instructions built by hand. The corpus is needed only
//! where stated.

use genxml_eu::asm::{Assembly, Compaction, Options, assemble};
use genxml_eu::instruction::*;
use genxml_eu::syntax::Syntax::{self, Iga, Mesa};
use genxml_eu::{Instruction, Opcode, instructions};
use genxml_testkit::corpus;

fn ok(source: &str, syntax: Syntax) -> Assembly {
    assemble(source, syntax, &Options::default())
        .unwrap_or_else(|errors| panic!("{source}\n{}", errors[0]))
}

/// The only instruction of `source`.
fn one(source: &str, syntax: Syntax) -> Instruction {
    let kernel = ok(source, syntax);
    assert_eq!(kernel.lines.len(), 1, "{source}");
    kernel.lines[0].located.instruction
}

/// Checks that both texts assemble to `expected`.
#[track_caller]
fn both(iga: &str, mesa: &str, expected: Instruction) {
    assert_eq!(one(iga, Iga), expected, "{iga}");
    assert_eq!(one(mesa, Mesa), expected, "{mesa}");
}

fn grf(number: u8, byte: u8) -> Register {
    Register::Grf { number, byte }
}

fn source(register: Register, ty: DataType, region: Region) -> Source {
    Source::new(register, ty, region)
}

fn add(exec_size: u8) -> Instruction {
    let mut add = Instruction::new(Opcode::Add, exec_size);
    add.destination = Some(Destination::new(grf(4, 0), DataType::D));
    add.sources[0] = Operand::Register(source(grf(2, 0), DataType::D, Region::new(8, 8, 1)));
    add.sources[1] = Operand::Immediate(Immediate { ty: DataType::W, bits: 0xffff });
    add
}

#[test]
fn plain() {
    both(
        "add (8|M0) r4.0<1>:d r2.0<8;8,1>:d -1:w",
        "add(8) g4<1>D g2<8,8,1>D -1W { align1 1Q };",
        add(8),
    );
    // Optional parts and other spellings.
    assert_eq!(one("add (8|M0) r4:d r2:d -1:w // comment", Iga), add(8));
    assert_eq!(one("add(8)g4<1>:D g2<8;8,1>:D -0x1:W{};", Mesa), add(8));
    assert_eq!(one("add (8) r4:d r2:d 0xFFFF:w", Iga), add(8));
    let scalar = one("add(1) g4D g2<0,1,0>D -1W;".replace("g4D", "g4<1>D").as_str(), Mesa);
    assert_eq!(one("add (1|M0) r4.0<1>:d r2.0:d -1:w", Iga), scalar);
}

#[test]
fn controls() {
    let mut i = add(16);
    i.channel_offset = 16;
    i.no_mask = true;
    i.predicate = Some(Predicate { control: PredicateControl::Any(8), inverse: true });
    i.condition = Some(Condition::LessEqual);
    i.flag = Flag { register: 1, subregister: 1 };
    i.saturate = true;
    i.acc_write = true;
    i.no_dd_check = true;
    i.no_dd_clear = true;
    i.thread_control = ThreadControl::Atomic;
    i.breakpoint = true;
    both(
        "(W&~f1.1.any8h) add (16|M16) (le)f1.1 (sat)r4.0<1>:d r2.0<8;8,1>:d -1:w \
         {AccWrEn,Atomic,Breakpoint,NoDDChk,NoDDClr}",
        "(-f1.1.any8h) add.sat.breakpoint.le.f1.1(16) g4<1>D g2<8,8,1>D -1W \
         { align1 WE_all 2H AccWrEnable atomic NoDDChk,NoDDClr };",
        i,
    );
    for (control, name) in [
        (PredicateControl::AnyV, ".anyv"),
        (PredicateControl::AllV, ".allv"),
        (PredicateControl::Any(2), ".any2h"),
        (PredicateControl::All(4), ".all4h"),
        (PredicateControl::All(16), ".all16h"),
        (PredicateControl::Any(32), ".any32h"),
        (PredicateControl::Sequential, ""),
    ] {
        let mut i = add(8);
        i.predicate = Some(Predicate { control, inverse: false });
        both(
            &format!("(f0.0{name}) add (8|M0) r4.0<1>:d r2.0<8;8,1>:d -1:w"),
            &format!("(+f0.0{name}) add(8) g4<1>D g2<8,8,1>D -1W {{ align1 1Q }};"),
            i,
        );
    }
    let conditions = [
        (Condition::Equal, "eq", "z"),
        (Condition::Equal, "ze", "e"),
        (Condition::NotEqual, "ne", "nz"),
        (Condition::Greater, "gt", "g"),
        (Condition::GreaterEqual, "ge", "ge"),
        (Condition::Less, "lt", "l"),
        (Condition::Overflow, "ov", "o"),
        (Condition::Unordered, "un", "u"),
    ];
    for (condition, iga, mesa) in conditions {
        let mut i = add(8);
        i.condition = Some(condition);
        i.flag = Flag { register: 0, subregister: 1 };
        both(
            &format!("add (8|M0) ({iga})f0.1 r4.0<1>:d r2.0<8;8,1>:d -1:w"),
            &format!("add.{mesa}.f0.1(8) g4<1>D g2<8,8,1>D -1W {{ align1 1Q }};"),
            i,
        );
    }
    let channels =
        [(4, 4, "2N"), (4, 28, "8N"), (8, 8, "2Q"), (8, 24, "4Q"), (16, 16, "2H"), (1, 0, "1N")];
    for (exec_size, offset, name) in channels {
        let mut i = add(exec_size);
        i.channel_offset = offset;
        both(
            &format!("add ({exec_size}|M{offset}) r4.0<1>:d r2.0<8;8,1>:d -1:w"),
            &format!("add({exec_size}) g4<1>D g2<8,8,1>D -1W {{ align1 {name} }};"),
            i,
        );
    }
}

#[test]
fn registers_and_regions() {
    let mov = |destination: Destination, source: Source| {
        let mut mov = Instruction::new(Opcode::Mov, 8);
        mov.destination = Some(destination);
        mov.sources[0] = Operand::Register(source);
        mov
    };
    let to = |register, ty| Destination::new(register, ty);
    let arf = |file, number, byte| Register::Arf { file, number, byte };
    let modified = Source {
        negate: true,
        absolute: true,
        ..source(grf(127, 28), DataType::F, Region::new(0, 1, 0))
    };
    let strided = Destination { stride: 2, ..to(grf(0, 2), DataType::W) };
    both(
        "mov (8|M0) r0.1<2>:w -(abs)r127.7<0;1,0>:f",
        "mov(8) g0.1<2>W -(abs)g127.7<0,1,0>F { align1 1Q };",
        mov(strided, modified),
    );
    let at = |address, offset| Register::Indirect { address, offset };
    both(
        "mov (8|M0) r[a0.3,-32]<4>:ub r[a0.15,511]<1,0>:ub",
        "mov(8) g[a0.3 -32]<4>UB g[a0.15 511]<VxH,1,0>UB { align1 1Q };",
        mov(
            Destination { stride: 4, ..to(at(3, -32), DataType::Ub) },
            source(
                at(15, 511),
                DataType::Ub,
                Region { vertical: Vertical::Addresses, width: 1, horizontal: 0 },
            ),
        ),
    );
    both(
        "mov (8|M0) r[a0.0]<1>:f r[a0.0,16]<8;4,2>:f",
        "mov(8) g[a0]<1>F g[a0 16]<8,4,2>F { align1 1Q };",
        mov(to(at(0, 0), DataType::F), source(at(0, 16), DataType::F, Region::new(8, 4, 2))),
    );
    let scalar = |register, ty| source(register, ty, Region::SCALAR);
    for (iga, mesa, register, ty) in [
        ("acc1.2", "acc1.2", arf(Arf::Accumulator, 1, 8), DataType::D),
        ("a0.3", "a0.3", arf(Arf::Address, 0, 6), DataType::Uw),
        ("f1.1", "f1.1", arf(Arf::Flag, 1, 2), DataType::Uw),
        ("ce0.0", "mask0", arf(Arf::ChannelEnable, 0, 0), DataType::Ud),
        ("sr0.1", "sr0.1", arf(Arf::State, 0, 4), DataType::Ud),
        ("cr0.2", "cr0.2", arf(Arf::Control, 0, 8), DataType::Ud),
        ("n0.2", "n0.2", arf(Arf::Notification, 0, 8), DataType::Ud),
        ("tm0.4", "tm0.4", arf(Arf::Timestamp, 0, 16), DataType::Ud),
        ("sp0.0", "msd0", arf(Arf::StackPointer, 0, 0), DataType::Uq),
        ("fc0.0", "ARF208", arf(Arf::FlowControl, 0, 0), DataType::Ud),
        ("dbg0.0", "ARF240", arf(Arf::Debug, 0, 0), DataType::Ud),
        ("arf14.3.0", "ARF227", arf(Arf::Reserved(14), 3, 0), DataType::Ud),
        ("null", "null", Register::NULL, DataType::Ud),
    ] {
        let expected = mov(to(register, ty), scalar(register, ty));
        let (small, capital) = (ty.name(), ty.name().to_uppercase());
        both(
            &format!("mov (8|M0) {iga}<1>:{small} {iga}<0;1,0>:{small}"),
            &format!("mov(8) {mesa}<1>{capital} {mesa}<0,1,0>{capital} {{ align1 1Q }};"),
            expected,
        );
    }
    // In Mesa's text the instruction pointer and the dependency register have no type.
    let pointer = arf(Arf::InstructionPointer, 0, 0);
    both(
        "mov (8|M0) ip<1>:ud ip<0;1,0>:ud",
        "mov(8) ip ip { align1 1Q };",
        mov(to(pointer, DataType::Ud), scalar(pointer, DataType::Ud)),
    );
    let tdr = arf(Arf::ThreadDependency, 0, 0);
    both(
        "mov (8|M0) tdr0.0<1>:uw tdr0.0<8;8,1>:uw",
        "mov(8) tdr0 tdr0 { align1 1Q };",
        mov(to(tdr, DataType::Uw), source(tdr, DataType::Uw, Region::new(8, 8, 1))),
    );
    // In a destination, Mesa's disassembler prints the word number of a0 divided by the size of
    // the type. It omits 0 for word 0, so a printed 0 is word 1.
    let word = one("mov(8) g[a0.2 32]<1>UW g2<8,8,1>UW { align1 1Q };", Mesa);
    assert_eq!(word.destination.unwrap().register, at(4, 32));
    let word = one("mov(8) g[a0.0]<1>UW g2<8,8,1>UW { align1 1Q };", Mesa);
    assert_eq!(word.destination.unwrap().register, at(1, 0));
}

#[test]
fn align16() {
    let mut i = add(8);
    i.access_mode = AccessMode::Align16;
    i.predicate = Some(Predicate { control: PredicateControl::Replicate(2), inverse: false });
    i.destination =
        Some(Destination { write_mask: 0b1010, ..Destination::new(grf(4, 16), DataType::F) });
    let region = Region::new(4, 4, 1);
    let swizzled = Source { swizzle: [3, 3, 3, 3], ..source(grf(2, 0), DataType::F, region) };
    i.sources[0] = Operand::Register(swizzled);
    let other = Source { swizzle: [2, 0, 1, 1], ..source(grf(3, 16), DataType::F, region) };
    i.sources[1] = Operand::Register(other);
    both(
        "(f0.0.z) add (8|M0) r4.4<1>.yw:f r2.0<4>.w:f r3.4<4>.zxyy:f",
        "(+f0.0.z) add(8) g4.4<1>.ywF g2<4>.wF g3.4<4>.zxyyF { align16 1Q };",
        i,
    );
    assert_eq!(
        one("add (8|M0) r4.0<1>:f r2.0<4>:f r3.0<4>:f", Iga).access_mode,
        AccessMode::Align16
    );
    let named = one("mov (8|M0) r4.0<1>:f 1.0:f {Align16}", Iga);
    assert_eq!(named.access_mode, AccessMode::Align16);
}

#[test]
fn three_sources() {
    let mut mad = Instruction::new(Opcode::Mad, 8);
    mad.access_mode = AccessMode::Align16;
    mad.condition = Some(Condition::Greater);
    mad.flag = Flag { register: 0, subregister: 1 };
    mad.destination = Some(Destination::new(grf(9, 0), DataType::F));
    let region = Region::new(4, 4, 1);
    mad.sources[0] =
        Operand::Register(Source { negate: true, ..source(grf(3, 0), DataType::F, region) });
    mad.sources[1] =
        Operand::Register(Source { absolute: true, ..source(grf(4, 0), DataType::F, region) });
    let replicated = Source { replicate: true, ..source(grf(5, 8), DataType::F, Region::SCALAR) };
    mad.sources[2] = Operand::Register(replicated);
    let iga = "mad (8|M0) (gt)f0.1 r9.0<1>:f -r3.0<2;1>:f (abs)r4.0<2;1>:f r5.2<0>:f";
    assert_eq!(one(iga, Iga), mad);
    // The swizzle of a replicated source has no effect; Mesa writes x.
    mad.sources[2] = Operand::Register(Source { swizzle: [0; 4], ..replicated });
    let mesa = "mad.g.f0.1(8) g9<1>F -g3<4,4,1>F (abs)g4<4,4,1>F g5.2<0,1,0>F { align16 1Q };";
    assert_eq!(one(mesa, Mesa), mad);
    // One channel is encoded as the first of four.
    let scalar = one("csel (1|M0) (lt)f0.0 r3.0<1>:f r2.0<0;0>:f r2.1<0;0>:f r2.2<0>:f", Iga);
    assert_eq!((scalar.exec_size, scalar.destination.unwrap().write_mask), (4, 1));
    // If the types differ, all sources get that of the destination, as in Mesa's assembler.
    let mixed = one("bfe(8) g9<1>D g3<4,4,1>UD g4<4,4,1>D g5<4,4,1>D { align16 1Q };", Mesa);
    assert!(
        mixed
            .operands()
            .all(|operand| matches!(operand, Operand::Register(Source { ty: DataType::D, .. })))
    );
}

fn iga_text(i: &Instruction) -> String {
    i.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Oracle: the source code of IGA's printing of half floats, and IEEE 754: decimal if six or seven
/// digits are exact.
#[test]
fn half_float_immediates() {
    for (bits, text) in [
        (0x3c00, "1.0"),
        (0xc000, "-2.0"),
        (0x3800, "0.5"),
        (0x8000, "-0.0"),
        (0x7bff, "65504.0"),
        (0x2c00, "0.0625"),
        (0x3555, "0x3555"),
        (0x0001, "0x1"),
        (0x7c00, "inf"),
        (0xfc00, "-inf"),
        (0x7e05, "qnan(0x5)"),
        (0xfc03, "-snan(0x3)"),
    ] {
        let line = format!("mov (8|M0) r2.0<1>:hf {text}:hf");
        let i = one(&line, Iga);
        assert_eq!(
            i.sources[0],
            Operand::Immediate(Immediate { ty: DataType::Hf, bits }),
            "{text}"
        );
        assert_eq!(iga_text(&i), line);
    }
    for bits in 0..=u16::MAX {
        let immediate = Operand::Immediate(Immediate { ty: DataType::Hf, bits: bits.into() });
        let mut mov = Instruction::new(Opcode::Mov, 8);
        mov.destination = Some(Destination::new(grf(2, 0), DataType::Hf));
        mov.sources[0] = immediate;
        assert_eq!(one(&mov.to_string(), Iga).sources[0], immediate, "{bits:#x}");
    }
}

/// Oracle: the source code of IGA's encoder and decoder for Align16, and Mesa's text of the same
/// instructions. Doubles are not replicated but selected in pairs. One channel is encoded as one of
/// four (for doubles one of two) at an aligned offset.
#[test]
fn one_element_of_three_sources() {
    let cases = [
        (
            "mad (4|M0) r3.0<1>:df r4.0<0;0>:df r5.0<2;1>:df r6.1<0>:df",
            "mad(4) g3<1>DF g4<4,4,1>.xyxyDF g5<4,4,1>DF g6<4,4,1>.zwzwDF { align16 1N };",
        ),
        (
            "mad (8|M0) r3.0<1>:df r4.2<0;0>:df -r5.3<0;0>:df r6.0<1>:df",
            "mad(8) g3<1>DF g4.2<4,4,1>.xyxyDF -g5.2<4,4,1>.zwzwDF g6<4,4,1>DF { align16 1Q };",
        ),
        (
            "(W) mad (1|M0) r53.6<1>:f r2.0<2;1>:f r3.0<2;1>:f r4.0<1>:f",
            "mad(4) g53.4<1>.zF g2<4,4,1>F g3<4,4,1>F g4<4,4,1>F { align16 WE_all 1N };",
        ),
        (
            "mad (1|M0) r53.3<1>:f r2.0<2;1>:f r3.0<2;1>:f r4.0<1>:f",
            "mad(4) g53<1>.wF g2<4,4,1>F g3<4,4,1>F g4<4,4,1>F { align16 1N };",
        ),
        (
            "mad (1|M0) r53.0<1>:df r2.0<0;0>:df r3.0<2;1>:df r4.0<1>:df",
            "mad(2) g53<1>.xyDF g2<4,4,1>.xyxyDF g3<4,4,1>DF g4<4,4,1>DF { align16 1N };",
        ),
        (
            "mad (1|M0) r53.3<1>:df r2.0<2;1>:df r3.0<2;1>:df r4.1<0>:df",
            "mad(2) g53.2<1>.zwDF g2<4,4,1>DF g3<4,4,1>DF g4<4,4,1>.zwzwDF { align16 1N };",
        ),
        // Other masks and unaligned offsets are written in full.
        (
            "mad (4|M0) r53.0<1>.xy:f r2.0<2;1>:f r3.0<2;1>.xyxy:f r4.0<1>:f",
            "mad(4) g53<1>.xyF g2<4,4,1>F g3<4,4,1>.xyxyF g4<4,4,1>F { align16 1N };",
        ),
        (
            "mad (4|M0) r53.1<1>.x:f r2.0<2;1>:f r3.0<2;1>:f r4.0<1>:f",
            "mad(4) g53.1<1>.xF g2<4,4,1>F g3<4,4,1>F g4<4,4,1>F { align16 1N };",
        ),
        ("mad (4|M0) r53.0<1>.none:f r2.0<2;1>:f r3.0<2;1>:f r4.0<1>:f", ""),
    ];
    for (iga, mesa) in cases {
        let assembled = one(iga, Iga);
        if !mesa.is_empty() {
            assert_eq!(assembled, one(mesa, Mesa), "{iga}");
        }
        assert_eq!(iga_text(&assembled), iga);
    }
    let mad = one(cases[0].0, Iga);
    let Operand::Register(source) = mad.sources[2] else { panic!() };
    assert_eq!(
        (source.replicate, source.swizzle, source.register),
        (false, [2, 3, 2, 3], grf(6, 0))
    );
    // A replicated source has no swizzle; <2;1>, <4;1> and <8;1> mean the same region.
    let replicated = "mad(8) g9<1>D g2.1<0,1,0>D g3<4,4,1>D g4<4,4,1>D { align16 1Q };";
    let text = "mad (8|M0) r9.0<1>:d r2.1<0;0>:d r3.0<2;1>:d r4.0<1>:d";
    assert_eq!(iga_text(&one(replicated, Mesa)), text);
    for wider in ["<4;1>", "<8;1>"] {
        assert_eq!(one(&text.replace("<2;1>", wider), Iga), one(text, Iga));
    }
    // A replicated double, which is not allowed, is not a pair.
    let double = "mad (4|M0) r9.0<1>:df r2.1<0;0>.xyzw:df r3.0<2;1>:df r4.0<1>:df";
    let Operand::Register(source) = one(double, Iga).sources[0] else { panic!() };
    assert_eq!((source.replicate, source.register), (true, grf(2, 8)));
    assert_eq!(iga_text(&one(double, Iga)), double);
    // A mask that writes nothing.
    let none = "add (8|M0) r33.4<1>.none:f r2.0<4>:f r3.0<4>:f";
    assert_eq!(iga_text(&one(none, Iga)), none);
}

#[test]
fn extended_accumulators() {
    let mut i = Instruction::new(Opcode::Madm, 4);
    i.access_mode = AccessMode::Align16;
    i.destination = Some(Destination {
        macro_accumulator: Some(MacroAccumulator(5)),
        ..Destination::new(grf(100, 0), DataType::Df)
    });
    let region = Region::new(4, 4, 1);
    for (index, (number, accumulator)) in [(66, 8), (104, 8), (36, 4)].into_iter().enumerate() {
        i.sources[index] = Operand::Register(Source {
            negate: index == 1,
            macro_accumulator: Some(MacroAccumulator(accumulator)),
            ..source(grf(number, 0), DataType::Df, region)
        });
    }
    both(
        "madm (4|M0) r100.mme5:df r66.nomme:df -r104.nomme:df r36.mme4:df",
        "madm(4) g100<1>.xzDF g66<4,4,1>.xzxxDF -g104<4,4,1>.xzxxDF g36<4,4,1>.xyxxDF { align16 1N };",
        i,
    );
    let early = one("math.invm (4|M0) (eo)f1.0 r14.mme0:df r110.nomme:df r114.nomme:df", Iga);
    assert_eq!(early.math, Some(MathFunction::InverseMacro));
    assert_eq!((early.flag, early.condition), (Flag { register: 1, subregister: 0 }, None));
    let mesa = one("math invm(4) g14<1>.DF g110<2>.xzxxDF g114<2>.xzxxDF { align16 1N };", Mesa);
    assert_eq!(mesa, Instruction { flag: Flag::default(), ..early });
}

#[test]
fn math() {
    for (iga, mesa, function) in [
        ("inv", "inv", MathFunction::Inverse),
        ("log", "log", MathFunction::Log),
        ("exp", "exp", MathFunction::Exp),
        ("sqt", "sqrt", MathFunction::SquareRoot),
        ("rsqt", "rsq", MathFunction::InverseSquareRoot),
        ("sin", "sin", MathFunction::Sin),
        ("cos", "cos", MathFunction::Cos),
        ("fdiv", "fdiv", MathFunction::Divide),
        ("pow", "pow", MathFunction::Power),
    ] {
        let mut i = Instruction::new(Opcode::Math, 8);
        i.math = Some(function);
        i.saturate = true;
        i.destination = Some(Destination::new(grf(2, 0), DataType::F));
        let region = Region::new(8, 8, 1);
        i.sources[0] = Operand::Register(source(grf(3, 0), DataType::F, region));
        let (mut second_iga, mut second_mesa) = ("", "null<8,8,1>F");
        if function.sources() == 2 {
            (second_iga, second_mesa) = ("r5.0<8;8,1>:f", "g5<8,8,1>F");
            i.sources[1] = Operand::Register(source(grf(5, 0), DataType::F, region));
        }
        both(
            &format!("math.{iga} (8|M0) (sat)r2.0<1>:f r3.0<8;8,1>:f {second_iga}"),
            &format!("math.sat {mesa}(8) g2<1>F g3<8,8,1>F {second_mesa} {{ align1 1Q }};"),
            i,
        );
    }
    let shuffle = one("movi(8) g2<1>UB g4<8,8,1>UB null<0,1,0>UD { align1 1Q };", Mesa);
    assert_eq!(shuffle, one("movi (8|M0) r2.0<1>:ub r4.0<8;8,1>:ub", Iga));
    let divide = one("math intdivmod(8) g2<1>UD g4<8,8,1>UD 7UD { align1 1Q };", Mesa);
    assert_eq!(divide.math, Some(MathFunction::IntQuotientRemainder));
    assert_eq!(divide, one("math.idiv (8|M0) r2.0<1>:ud r4.0<8;8,1>:ud 7:ud", Iga));
}

/// Immediates of every type and spelling.
#[test]
fn immediates() {
    let check = |iga: &str, mesa: &str, ty: DataType, bits: u64| {
        let expected = Operand::Immediate(Immediate { ty, bits });
        let name = if ty.size() == 8 { "q" } else { "d" };
        if !iga.is_empty() {
            let text = format!("mov (8|M0) r2.0<1>:{name} {iga}");
            assert_eq!(one(&text, Iga).sources[0], expected, "{text}");
        }
        if !mesa.is_empty() {
            let text = format!("mov(8) g2<1>{} {mesa} {{ align1 1Q }};", name.to_uppercase());
            assert_eq!(one(&text, Mesa).sources[0], expected, "{text}");
        }
    };
    check("-2147483648:d", "-2147483648D", DataType::D, 0x8000_0000);
    check("0xFFFFFFFF:d", "0xffffffffD", DataType::D, 0xffff_ffff);
    check("4294967295:ud", "0xffffffffUD", DataType::Ud, 0xffff_ffff);
    check("-32768:w", "-32768W", DataType::W, 0x8000);
    check("0x7:uw", "0x0007UW", DataType::Uw, 7);
    check("0b101:uw", "", DataType::Uw, 5);
    check("-1:q", "-1Q", DataType::Q, u64::MAX);
    check("18446744073709551615:uq", "0xffffffffffffffffUQ", DataType::Uq, u64::MAX);
    check("0x76543210:v", "0x76543210V", DataType::V, 0x7654_3210);
    check("0x76543210:uv", "0x76543210UV", DataType::Uv, 0x7654_3210);
    check("0x48403000:vf", "0x48403000VF", DataType::Vf, 0x4840_3000);
    check("[0, 1, 2.0, 3]:vf", "[0F, 1F, 2F, 3F]VF", DataType::Vf, 0x4840_3000);
    check("[-1, -0.0, 0.5, 31]:vf", "", DataType::Vf, 0x7f20_80b0);
    check("1.5:f", "0x3fc00000F /* 1.5F */", DataType::F, 0x3fc0_0000);
    check("1:f", "1.0F", DataType::F, 0x3f80_0000);
    check("-0.1:f", "-0.1F", DataType::F, 0xbdcc_cccd);
    check("1.17549421e-38:f", "1.17549421e-38F", DataType::F, 0x007f_ffff);
    check("1e10:f", "", DataType::F, 10_000_000_000f32.to_bits().into());
    check("0x7F800000:f", "0x7f800000F", DataType::F, 0x7f80_0000);
    check("inf:f", "", DataType::F, 0x7f80_0000);
    check("-inf:f", "", DataType::F, 0xff80_0000);
    check("qnan(0x1):f", "", DataType::F, 0x7fc0_0001);
    check("-snan(0x1):f", "", DataType::F, 0xff80_0001);
    check("nan:f", "", DataType::F, 0x7fc0_0000);
    check("0.1:df", "0x3fb999999999999aDF /* 0.1DF */", DataType::Df, 0x3fb9_9999_9999_999a);
    check("-inf:df", "", DataType::Df, 0xfff0_0000_0000_0000);
    check("qnan(0x0):df", "", DataType::Df, 0x7ff8_0000_0000_0000);
    // In Mesa's syntax a plain integer gives the bits.
    check("", "1F", DataType::F, 1);
    // Half floats: IEEE 754 values, ties to even, the least subnormal, the greatest number.
    for (text, bits) in [
        ("1.0", 0x3c00),
        ("0.1", 0x2e66),
        ("65504", 0x7bff),
        ("5.96046448e-8", 1),
        ("2.98e-8", 0),
        ("0", 0),
    ] {
        check(&format!("{text}:hf"), "", DataType::Hf, bits);
    }
    for (text, bits) in
        [("2049", 0x6800), ("2051", 0x6802), ("6.097555e-5", 0x03ff), ("-2", 0xc000)]
    {
        check(&format!("{text}:hf"), "", DataType::Hf, bits);
    }
    check("0xFC00:hf", "0xfc00HF", DataType::Hf, 0xfc00);
}

/// Oracle: corpus/eu/vf_float.tsv, Mesa's values of the restricted floats.
#[test]
fn restricted_floats() {
    let Some(corpus) = corpus::folder() else { return };
    let table = std::fs::read_to_string(corpus.join("eu/vf_float.tsv")).unwrap();
    let mut rows = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<_> = row.split('\t').collect();
        let code = u64::from_str_radix(columns[0].trim_start_matches("0x"), 16).unwrap();
        let value =
            f32::from_bits(u32::from_str_radix(columns[1].trim_start_matches("0x"), 16).unwrap());
        let text = format!("mov (4|M0) r2.0<1>:f [0, {value:?}, 0, 0]:vf");
        let Operand::Immediate(immediate) = one(&text, Iga).sources[0] else { panic!("{text}") };
        assert_eq!(immediate.bits, code << 8, "{text}");
        rows += 1;
    }
    assert_eq!(rows, 256);
}

#[test]
fn messages() {
    let mut send = Instruction::new(Opcode::Send, 8);
    send.no_mask = true;
    send.destination = Some(Destination::new(Register::NULL, DataType::Ud));
    send.sources[0] = Operand::Register(source(grf(127, 0), DataType::Ud, Region::new(8, 8, 1)));
    send.send = Some(Send {
        function: SharedFunction::ThreadSpawner,
        descriptor: Descriptor::Immediate(0x0200_0010),
        end_of_thread: true,
    });
    let mesa = "send(8) null<1>UD g127<8,8,1>UD 0x82000010
                    thread_spawner MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q EOT };";
    both("(W) send (8|M0) null r127 0x27 0x02000010 {EOT}", mesa, send);
    both("(W) send (8|M0) null:ud r127:ud 0x7 0x02000010 {EOT}", mesa, send);
    let mut indirect = Instruction::new(Opcode::Sendc, 16);
    indirect.destination = Some(Destination::new(grf(3, 0), DataType::Uw));
    indirect.sources[0] = Operand::Register(source(grf(2, 0), DataType::F, Region::new(8, 8, 1)));
    indirect.send = Some(Send {
        function: SharedFunction::DataPort1,
        descriptor: Descriptor::Address(0),
        end_of_thread: false,
    });
    both(
        "sendc (16|M0) r3:uw r2:f 0xC a0.0",
        "sendc(16) g3<1>UW g2<8,8,1>F a0<0,1,0>UD 0x00000200 dp data 1 MsgDesc: indirect { align1 1H };",
        indirect,
    );
    for (number, name, function) in [
        (0, "null", SharedFunction::Null),
        (2, "sampler", SharedFunction::Sampler),
        (3, "gateway", SharedFunction::Gateway),
        (4, "dp_sampler", SharedFunction::DataPortSampler),
        (5, "render", SharedFunction::DataPortRender),
        (6, "urb", SharedFunction::Urb),
        (8, "vme", SharedFunction::MotionEstimation),
        (8, "rt accel", SharedFunction::MotionEstimation),
        (9, "const", SharedFunction::DataPortConstant),
        (10, "data", SharedFunction::DataPort0),
        (11, "pixel interp", SharedFunction::PixelInterpolator),
        (13, "cre", SharedFunction::CheckAndRefinement),
        (15, "ugm", SharedFunction::Reserved(15)),
    ] {
        let mut i = indirect;
        i.send = Some(Send {
            function,
            descriptor: Descriptor::Immediate(0x0210_0000),
            end_of_thread: false,
        });
        both(
            &format!("sendc (16|M0) r3:uw r2:f 0x{number:X} 0x02100000"),
            &format!("sendc(16) g3<1>UW g2<8,8,1>F 0x02100000 {name} {{ align1 1H }};"),
            i,
        );
    }
}

#[test]
fn branches() {
    let branch = |opcode, jip, uip| {
        let mut i = Instruction::new(opcode, 8);
        i.branch = Some(Branch { jip, uip });
        i
    };
    let iga = "
        top:  if (8|M0) side join
        side: else (8|M0) join join
        join: endif (8|M0) next
        next: break (8|M0) loop out
              cont (8|M0) loop loop
        loop: while (8|M0) top
        out:  halt (8|M0) 16 32
              goto.b (8|M0) end end
              join (8|M0) end
              brd (8|M0) -144
              brc (8|M0) top end
        end:
    ";
    let mesa = "
        top:  if(8) JIP: side UIP: join { align1 1Q };
        side: else(8) JIP: join UIP: join { align1 1Q };
        join: endif(8) JIP: next { align1 1Q };
        next: break(8) JIP: loop UIP: out { align1 1Q };
              cont(8) JIP: loop UIP: loop { align1 1Q };
        loop: while(8) JIP: top { align1 1Q };
        out:  halt(8) JIP: 16 UIP: 32 { align1 1Q };
              goto(8) JIP: end UIP: end { align1 1Q BranchCtrl };
              join(8) JIP: end { align1 1Q };
              brd(8) JIP: -144 { align1 1Q };
              brc(8) JIP: top UIP: end { align1 1Q };
        end:
    ";
    let mut goto = branch(Opcode::Goto, 64, Some(64));
    goto.branch_ctrl = true;
    let expected = [
        branch(Opcode::If, 16, Some(32)),
        branch(Opcode::Else, 16, Some(16)),
        branch(Opcode::Endif, 16, None),
        branch(Opcode::Break, 32, Some(48)),
        branch(Opcode::Cont, 16, Some(16)),
        branch(Opcode::While, -80, None),
        branch(Opcode::Halt, 16, Some(32)),
        goto,
        branch(Opcode::Join, 48, None),
        branch(Opcode::Brd, -144, None),
        branch(Opcode::Brc, -160, Some(16)),
    ];
    for (source, syntax) in [(iga, Iga), (mesa, Mesa)] {
        let kernel = ok(source, syntax);
        let read: Vec<_> = kernel.lines.iter().map(|line| line.located.instruction).collect();
        assert_eq!(read, expected, "{syntax:?}");
        assert_eq!(kernel.labels["out"], 96);
        assert_eq!(kernel.labels["end"], 176);
        assert_eq!(kernel.lines[6].line, 8);
    }
}

#[test]
fn jumps() {
    let mut jump = Instruction::new(Opcode::Jmpi, 1);
    jump.no_mask = true;
    jump.branch = Some(Branch { jip: 0, uip: None });
    // Mesa's distance is relative to the next instruction, IGA's to this one.
    both("(W) jmpi 0", "jmpi(1) -16D { align1 WE_all 1N };", jump);
    both("here: (W) jmpi (1|M0) here", "here: jmpi(1) JIP: here { align1 WE_all 1N };", jump);
    jump.branch = None;
    jump.sources[0] = Operand::Register(source(grf(5, 8), DataType::D, Region::SCALAR));
    both("(W) jmpi r5.2", "jmpi(1) g5.2<0,1,0>D { align1 WE_all 1N };", jump);
    let mut call = Instruction::new(Opcode::Call, 16);
    call.destination = Some(Destination::new(grf(125, 0), DataType::Ud));
    call.branch = Some(Branch { jip: 32, uip: None });
    both("call (16|M0) r125.0:ud 32", "call(16) g125<1>UD JIP: 32 { align1 1H };", call);
    call.opcode = Opcode::Calla;
    call.branch = Some(Branch { jip: 4096, uip: None });
    both("calla (16|M0) r125.0:ud 4096", "calla(16) g125<1>UD JIP: 4096 { align1 1H };", call);
    let mut ret = Instruction::new(Opcode::Ret, 16);
    ret.sources[0] = Operand::Register(source(grf(125, 0), DataType::Ud, Region::new(2, 2, 1)));
    both("ret (16|M0) r125.0:ud", "ret(16) g125<2,2,1>UD { align1 1H };", ret);
    let mut wait = Instruction::new(Opcode::Wait, 1);
    wait.no_mask = true;
    let notification = Register::Arf { file: Arf::Notification, number: 0, byte: 4 };
    wait.sources[0] = Operand::Register(source(notification, DataType::Ud, Region::SCALAR));
    both("(W) wait n0.1<0;1,0>:ud", "wait(1) n0.1<1>UD { align1 WE_all 1N };", wait);
    both("nop", "nop;", Instruction::new(Opcode::Nop, 1));
    both("illegal", "illegal(1) { align1 1N };", Instruction::new(Opcode::Illegal, 1));
}

/// Oracle: Mesa 22.3, brw_eu_emit.c and i965_gram.y, read for the values that its assembler writes
/// to unused bits.
#[test]
fn unused_bits_equal_mesa() {
    for (text, expected) in [
        // Source 1 of a unary instruction has the type of the immediate.
        (
            "mov(8) g2<1>F 0x3f800000F { align1 1Q };",
            [0x0060_0001, 0x2040_3ee8, 0x3800_0000, 0x3f80_0000],
        ),
        (
            "mov(1) g2<1>UW 0x0001UW { align1 WE_all 1N };",
            [1, 0x2040_164c, 0x1000_0000, 0x0001_0001],
        ),
        // The source of `wait` is its destination, the second source the null register.
        ("wait(1) n0<1>UD { align1 WE_all 1N };", [0x30, 0x3200_0004, 0x3800_1200, 0x008d_0000]),
        // `cont` writes the instruction pointer, `break` and `halt` write nothing.
        ("cont(8) JIP: 16 UIP: 32;", [0x0060_0029, 0x3400_0e00, 32, 16]),
        ("break(8) JIP: 16 UIP: 32;", [0x0060_0028, 0x2000_0e20, 32, 16]),
        ("halt(8) JIP: 16 UIP: 32;", [0x0060_002a, 0x2000_0e20, 32, 16]),
        // The instruction pointer has the type UD.
        ("jmpi(1) 16D { align1 WE_all 1N };", [0x20, 0x3400_0004, 0x0e00_1400, 16]),
        // A null destination of bytes gets stride 2.
        ("mov(8) null<1>UB g2<8,8,1>UB { align1 1Q };", [0x0060_0001, 0x4000_2280, 0x008d_0040, 0]),
    ] {
        assert_eq!(ok(text, Mesa).dwords(), expected, "{text}");
    }
}

#[test]
fn compaction_as_asked() {
    let source = "
        top:  mov (8|M0)  r4.0<1>:ud  r2.0<8;8,1>:ud
              mov (8|M0)  r5.0<1>:ud  r2.0<8;8,1>:ud   {Compacted}
              if (8|M0)   over end
              add (8|M0)  r4.0<1>:f  r2.0<8;8,1>:f  r3.0<8;8,1>:f
        over: while (8|M0) -56
        end:  (W) jmpi top
    ";
    let lengths = |kernel: &Assembly| -> Vec<u32> {
        kernel.lines.iter().map(|line| line.located.instruction.length()).collect()
    };
    let targets = |kernel: &Assembly| -> Vec<Vec<usize>> {
        let places: Vec<u64> = kernel.lines.iter().map(|line| line.located.position).collect();
        let index = |target: u64| places.iter().position(|place| *place == target).unwrap();
        kernel.lines.iter().map(|line| line.located.targets().map(index).collect()).collect()
    };
    let with =
        |compaction| assemble(source, Iga, &Options { compaction, ..Options::default() }).unwrap();
    let written = with(Compaction::AsWritten);
    assert_eq!(lengths(&written), [16, 8, 16, 16, 16, 16]);
    let jumps: [&[usize]; 6] = [&[], &[], &[4, 5], &[], &[0], &[0]];
    assert_eq!(targets(&written), jumps);
    for (compaction, expected) in
        [(Compaction::None, [16, 16, 16, 16, 16, 16]), (Compaction::All, [8, 8, 16, 8, 16, 16])]
    {
        let kernel = with(compaction);
        assert_eq!(lengths(&kernel), expected);
        assert_eq!(targets(&kernel), jumps, "{compaction:?}");
        assert_eq!(kernel.bytes.len(), expected.iter().sum::<u32>() as usize);
        let read: Vec<_> = instructions(&kernel.bytes).map(Result::unwrap).collect();
        assert_eq!(read, kernel.lines.iter().map(|line| line.located).collect::<Vec<_>>());
    }
}

#[test]
fn text_around_instructions() {
    let kernel = ok(
        "// a comment\n# another\n/* and one\n of two lines */ first: second: nop; nop // two on a line\n\n last:",
        Iga,
    );
    assert_eq!(kernel.lines.len(), 2);
    assert_eq!(
        (kernel.labels["first"], kernel.labels["second"], kernel.labels["last"]),
        (0, 0, 32)
    );
    assert_eq!((kernel.lines[0].line, kernel.lines[1].line), (4, 4));
    let kernel =
        ok("add(8)\n g4<1>D // to\n g2<8,8,1>D /* from */\n 1D\n { align1\n 1Q }\n;nop;", Mesa);
    assert_eq!(kernel.lines.len(), 2);
    assert_eq!((kernel.lines[0].line, kernel.lines[1].line), (1, 7));
    assert!(ok("", Iga).bytes.is_empty());
    assert!(ok("// nothing", Mesa).bytes.is_empty());
}

#[test]
fn language_is_detected() {
    for (text, syntax) in [
        ("add (8|M0) r4.0<1>:d r2.0<8;8,1>:d -1:w", Iga),
        ("// comment; with { align1 }\n(W) mov (1|M0) r1.0<1>:d 0:w", Iga),
        ("L0:\n nop\n illegal", Iga),
        ("", Iga),
        ("add(8) g4<1>D g2<8,8,1>D -1W { align1 1Q };", Mesa),
        ("mov(1) g4<1>D g2<0,1,0>D;", Mesa),
        ("nop;", Mesa),
        ("endif(8) JIP: L;", Mesa),
    ] {
        assert_eq!(Syntax::detect(text), syntax, "{text}");
    }
}
