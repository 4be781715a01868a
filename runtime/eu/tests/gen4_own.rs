//! Own cases of Gen4, G45 and Gen5. Oracle where nothing else is said: the G45 manual.

use crate::gen4::assembled;
use crate::generations::{bytes, dwords, listing};
use genxml_eu::asm::{Options, assemble};
use genxml_eu::instruction::{Branch, Compression, Register, SharedFunction};
use genxml_eu::kernel::{Instructions, Located};
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, decode_on, validate};
use genxml_testkit::text::squeeze;

/// Findings for a text in Mesa's syntax.
fn findings(text: &str) -> Vec<&'static str> {
    let kernel = assembled(text, text, Generation::Gen45);
    let found = validate::kernel_on(Generation::Gen45, &kernel).unwrap();
    found.iter().map(|finding| finding.rule.id).collect()
}

/// Each rule is found, and only it. Oracle: the restrictions in the G45 manual.
#[test]
fn rules() {
    let mut tried = vec!["EU4-DECODE", "EU4-MASK-STACK"];
    for (rule, text) in [
        ("EU4-COMPRESSED-SIZE", "add(8) g4<1>F g2<8,8,1>F 1F { align1 compr };"),
        ("EU4-COMPRESSED-ALIGN1", "add(16) g4<1>F g2<4>F 1F { align16 compr };"),
        ("EU4-COMPRESSED-OPERATION", "sad2(16) g4<2>UB g2<8,8,1>UB g3<8,8,1>UB { align1 compr };"),
        ("EU4-MRF", "mov(16) m12<1>F g2<8,8,1>F { align1 compr4 };"),
        ("EU4-MRF-READ", "mov(8) g4<1>F m2<8,8,1>F { align1 };"),
        ("EU4-STRIDE", "mov(8) g4<0>F g2<8,8,1>F { align1 };"),
        ("EU4-CONDITION", "sel.l.f0.0(8) g4<1>F g2<8,8,1>F g3<8,8,1>F { align1 };"),
        ("EU4-FLOAT-DWORD", "add(8) g4<1>F g2<8,8,1>F 1D { align1 };"),
        ("EU4-DOT-SIZE", "dp4(2) g4<1>F g2<4>F g3<4>F { align16 };"),
        ("EU4-LINE-SCALAR", "line(8) null<1>F g4<8,8,1>F g6<8,8,1>F { align1 };"),
        ("EU4-JMPI-SIZE", "jmpi(8) 0D { align1 nomask };"),
        ("EU4-BRANCH-PREDICATE", "(+f0.0) endif(8) Pop: 1 { align1 switch };"),
        (
            "EU4-SEND-RESPONSE",
            "send(8) 1 null<1>F g2<8,8,1>F 0x01110001 math MsgDesc: inv { align1 };",
        ),
        (
            "EU4-SEND-LENGTH",
            "send(8) 14 g4<1>F g2<8,8,1>F 0x01310001 math MsgDesc: inv { align1 };",
        ),
        (
            "EU4-SEND-EOT",
            "send(8) 1 null<1>F g2<8,8,1>F 0x02100001 sampler MsgDesc: x { align1 EOT };",
        ),
        ("EU4-TARGET", "while(8) Jump: -2 { align1 };"),
    ] {
        assert_eq!(findings(text), [rule], "{text}");
        tried.push(rule);
    }
    // The assembler has no g128.
    let mut kernel = assembled("", "mov(8) g4<1>F g2<8,8,1>F { align1 };", Generation::Gen45);
    let four = dwords(&kernel.iter().map(|byte| format!("{byte:02x} ")).collect::<String>());
    let mut mov = decode_on(Generation::Gen45, &four).unwrap();
    let Some(destination) = &mut mov.destination else { panic!() };
    destination.register = Register::grf(128);
    kernel = mov.encode().unwrap().map(u32::to_le_bytes).concat();
    let found = validate::kernel_on(Generation::Gen45, &kernel).unwrap();
    assert_eq!(found[0].rule.id, "EU4-GRF");
    tried.push("EU4-GRF");
    let mut all: Vec<_> =
        validate::rules_on(Generation::Gen45).iter().map(|rule| rule.id).collect();
    tried.sort_unstable();
    all.sort_unstable();
    assert_eq!(tried, all);
    assert!(validate::kernel_on(Generation::Gen9, &kernel).is_none());
}

/// Own cases: bytes, and their texts. Oracle: the layouts of the G45 manual (003:9660-10093),
/// worked out by hand.
#[test]
fn cases() {
    for (generation, hex, text) in [
        (Generation::Gen45, "7e 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "nop ;"),
        (
            Generation::Gen45,
            "01 20 80 00 be 03 00 30 40 00 8d 00 00 00 00 00",
            "mov(16) m0<1>F g2<8,8,1>F { align1 compr4 };",
        ),
        (
            Generation::Gen45,
            "01 10 60 00 be 03 40 20 40 00 8d 00 00 00 00 00",
            "mov(8) m2<1>F g2<8,8,1>F { align1 sechalf };",
        ),
        (
            Generation::Gen45,
            "47 00 60 07 bd 03 80 20 40 00 8d 02 00 00 00 00",
            "rndz.r.f0.1(8) g4<1>F g2<8,8,1>F { align1 };",
        ),
        (
            Generation::Gen4,
            "27 00 60 00 00 1c 00 34 00 14 60 00 fe ff 00 00",
            "while(8) Jump: -2 { align1 };",
        ),
    ] {
        let code = bytes(hex);
        assert_eq!(listing(generation, &code, Syntax::Mesa), text);
        assert_eq!(assembled(text, text, generation), code, "{text}");
        let i = decode_on(generation, &dwords(hex)).unwrap();
        assert_eq!(squeeze(&i.display(Syntax::Mesa).to_string()), text);
        assert!(!i.to_string().is_empty());
    }
}

/// Parts of decoded instructions: distances in bytes, compression, message registers.
#[test]
fn parts() {
    let decoded = |text: &str, generation: Generation| {
        let code = assembled(text, text, generation);
        let mut all = Instructions::of(&code[..]).on(generation);
        let Some(Ok(Located { instruction, .. })) = all.next() else { panic!("{text}") };
        instruction
    };
    let jump = "break(8) Jump: 6 Pop: 2 { align1 };";
    for (generation, distance) in [(Generation::Gen45, 96), (Generation::Gen5, 48)] {
        let i = decoded(jump, generation);
        assert_eq!(i.branch, Some(Branch { jip: distance, uip: None }));
        assert_eq!(i.gen4.pop_count, 2);
    }
    // The distance of jmpi is from the next instruction.
    let i = decoded("jmpi(1) 5D { align1 nomask };", Generation::Gen45);
    assert_eq!(i.branch, Some(Branch { jip: 96, uip: None }));
    let i = decoded("mov(16) m2<1>F g2<8,8,1>F { align1 compr4 };", Generation::Gen45);
    assert_eq!(i.gen4.compression, Compression::Compr4);
    assert_eq!(i.destination.unwrap().register, Register::Mrf { number: 2, byte: 0 });
    let i = decoded("mov(8) g4<1>F g2<8,8,1>F { align1 sechalf };", Generation::Gen45);
    assert_eq!((i.channel_offset, i.gen4.compression), (8, Compression::None));
    let text = "send(8) 3 g4<1>F g2<8,8,1>F 0x01110001 math MsgDesc: inv { align1 };";
    let i = decoded(text, Generation::Gen45);
    assert_eq!(i.gen4.message_register, 3);
    assert_eq!(i.send.unwrap().function, SharedFunction::Math);
}

/// Texts that are refused, with a word of the message.
#[test]
fn refused() {
    for (generation, text, word) in [
        (Generation::Gen8, "mov(8) m2<1>F g2<8,8,1>F { align1 1Q };", "not a register"),
        (Generation::Gen45, "mad(8) g4<1>F g2<4>F g3<4>F g5<4>F { align16 };", "not an operation"),
        (Generation::Gen4, "pln(8) g4<1>F g2<0,1,0>F g3<8,8,1>F { align1 };", "not an operation"),
        (Generation::Gen45, "if(8) Jump: 40000 { align1 };", "too large"),
        (Generation::Gen45, "else(8) Jump: 2 Pop: 16 { align1 };", "four bits"),
        (Generation::Gen45, "mov(8) g4<1>DF g2<8,8,1>F { align1 };", "DstType"),
        (Generation::Gen45, "mov(16) g4<1>F g2<8,8,1>F { align1 compr4 };", "Compr4"),
        (Generation::Gen12, "nop;", "generation"),
    ] {
        let options = Options { generation, ..Options::default() };
        let errors = assemble(text, Syntax::Mesa, &options).unwrap_err();
        assert!(errors[0].to_string().contains(word), "{text}: {}", errors[0]);
    }
}
