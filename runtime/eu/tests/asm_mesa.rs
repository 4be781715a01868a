//! Input and output of Mesa's assembler that its tests in the corpus do not cover. Oracle: the
//! grammar of Mesa's assembler for Gen8 and its encoder, read for these cases; kernels of the
//! corpus where stated.

use genxml_eu::asm::{Assembly, Options, assemble};
use genxml_eu::gen8::eu;
use genxml_eu::instruction::*;
use genxml_eu::syntax::Syntax::Mesa;
use genxml_eu::{Instruction, Opcode, decode, disasm, instructions};
use genxml_testkit::corpus;

fn ok(source: &str) -> Assembly {
    assemble(source, Mesa, &Options::default())
        .unwrap_or_else(|errors| panic!("{source}\n{}", errors[0]))
}

fn dwords(source: &str) -> [u32; 4] {
    ok(source).dwords().try_into().unwrap()
}

fn error(source: &str) -> String {
    assemble(source, Mesa, &Options::default()).unwrap_err()[0].to_string()
}

fn types(i: &Instruction) -> Vec<DataType> {
    let ty = |operand: &Operand| match operand {
        Operand::Register(source) => source.ty,
        other => panic!("{other:?}"),
    };
    i.operands().map(ty).collect()
}

/// Assembles `source`, prints it, assembles the listing again and compares. Returns the listing.
fn again(source: &str) -> String {
    let kernel = ok(source);
    let text = disasm::listing(&kernel.bytes, Mesa);
    assert_eq!(ok(&text).bytes, kernel.bytes, "{text}");
    text
}

/// Mesa prints `null` as the second source of `movi`.
#[test]
fn movi_has_a_null() {
    let source = "movi(8) g4<1>UW g[a0 64]<8,8,1>UW null<0,1,0>UD { align1 1Q };";
    let text = again(source);
    assert!(text.contains("null<0,1,0>UD"), "{text}");
    assert_eq!(dwords(source)[3], 0);
}

/// The first source of `jmpi` is the instruction pointer with type UD, for a register and for an
/// immediate.
#[test]
fn jumps_to_registers() {
    let words = dwords("jmpi(1) g3<0,1,0>D { align1 WE_all 1N };");
    assert_eq!(words[0], 0x20);
    assert_eq!(words[1].to_le_bytes()[..2], [0x04, 0x00]);
    let immediate = dwords("jmpi(1) 16D { align1 WE_all 1N };");
    assert_eq!(immediate[1], words[1]);
}

/// Source 0 of a `jmpi` with a register is encoded with the type that kernels have. Oracle: kernels
/// of drivers.
#[test]
fn jumps_to_registers_of_kernels() {
    let Some(corpus) = corpus::folder() else { return };
    let mut seen = 0;
    for (path, bytes) in corpus::kernels(&corpus) {
        for located in instructions(&bytes).flatten() {
            let i = located.instruction;
            if i.opcode != Opcode::Jmpi || i.branch.is_some() || i.compacted {
                continue;
            }
            let at = located.position as usize + 4;
            let word = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let controls = |word: u32| eu::EuInstructionOperandControls::unpack_lossy(&[word]);
            assert_eq!(
                controls(i.encode().unwrap()[1]).src0_type,
                controls(word).src0_type,
                "{}",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}

/// Bits 36 and 35 mark sources 1 and 2 as half floats; such an instruction has no compact form.
#[test]
fn three_half_floats() {
    let mad = |[a, b, c, d]: [&str; 4]| {
        format!("mad(8) g3<1>{a} g4<4,4,1>{b} g5<4,4,1>{c} g6<4,4,1>{d} {{ align16 1Q }};")
    };
    use DataType::{F, Hf};
    for (names, marks, expected) in [
        (["HF"; 4], 0x18, [Hf, Hf, Hf]),
        (["F", "F", "HF", "F"], 0x10, [F, Hf, F]),
        (["F", "F", "F", "HF"], 0x08, [F, F, Hf]),
        (["F", "F", "HF", "HF"], 0x18, [F, Hf, Hf]),
        (["F", "HF", "F", "HF"], 0x08, [Hf, F, Hf]),
        (["F"; 4], 0, [F, F, F]),
    ] {
        let source = mad(names);
        let words = dwords(&source);
        assert_eq!(words[1].to_le_bytes()[0], marks, "{source}");
        let i = decode(&words).unwrap();
        assert_eq!(types(&i), expected, "{source}");
        assert!(marks == 0 || i.compact().is_none(), "{source}");
        again(&source);
    }
    // Broadwell's manual has one type for all three sources.
    let mut words = dwords(&mad(["HF"; 4]));
    words[1] &= !0x18;
    assert_eq!(types(&decode(&words).unwrap()), [Hf; 3]);
    assert!(error(&mad(["F", "HF", "F", "F"])).contains("Source Data Type"));
    // If types cannot be mixed, all sources get that of the destination, as in Mesa.
    assert_eq!(dwords(&mad(["D", "D", "UD", "D"])), dwords(&mad(["D"; 4])));
}

/// A label may be after the last instruction.
#[test]
fn jumps_to_the_end() {
    let text = again("(+f0.0) if(8) JIP: LABEL0 UIP: LABEL0 { align1 1Q };\nnop;\nLABEL0:\n");
    assert!(text.trim_end().ends_with("LABEL0:"), "{text}");
    let compacted = again(
        "while(8) JIP: L { align1 1Q };\nmov(8) g2<1>F g3<8,8,1>F { align1 1Q compacted };\nL:",
    );
    assert!(compacted.trim_end().ends_with("LABEL0:"), "{compacted}");
}

/// Spellings that the assembler accepts but the disassembler does not write.
#[test]
fn other_spellings() {
    let same = |one: &str, other: &str| assert_eq!(dwords(one), dwords(other), "{one}");
    let add = |value: &str| format!("add(8) g4<1>D g2<8,8,1>D {value} {{ align1 1Q }};");
    same(&add("65535W"), &add("-1W"));
    same(&add("-1UD"), &add("0xffffffffUD"));
    same(&add("4294967295D"), &add("-1D"));
    same(&add("-1UW"), &add("0xffffUW"));
    for (value, ty) in [("65536W", "w"), ("-32769W", "w"), ("4294967296D", "d")] {
        assert!(error(&add(value)).contains(&format!("does not fit the type {ty}")), "{value}");
    }
    let condition =
        |name: &str| format!("cmp.{name}.f0.0(8) g4<1>D g2<8,8,1>D g3<8,8,1>D {{ align1 1Q }};");
    same(&condition("ne"), &condition("nz"));
    let vector = |value: &str| format!("mov(4) g4<1>F {value}VF {{ align1 1N }};");
    same(&vector("[0x0, 0x30, 0x40, 0x48]"), &vector("0x48403000"));
    same(&vector("[0, 48, 64, 72]"), &vector("[0F, 1F, 2F, 3F]"));
    assert!(error(&vector("[0x100, 0, 0, 0]")).contains("too large"));
    same("mov(1) g2UD g3.1UD { align1 1N };", "mov(1) g2<1>UD g3.1<0,1,0>UD { align1 1N };");
    // A word that looks like a register with a type can be a label.
    assert_eq!(ok("g2UD:\nwhile(8) JIP: g2UD { align1 1Q };").labels["g2UD"], 0);
}

/// Size and options of `illegal` have no meaning, but are kept.
#[test]
fn illegal_keeps_its_controls() {
    let words = dwords("illegal(8) { align1 1Q };");
    assert_eq!(words, [3 << 21, 0, 0, 0]);
    for source in ["illegal(8) { align1 1Q };", "illegal(16) { align16 WE_all 2H };"] {
        let text = again(source);
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>(),
            source.split_whitespace().collect::<Vec<_>>()
        );
    }
    // Reserved values are not an error in `illegal`.
    assert_eq!(decode(&[7 << 21, 0, 0, 0]).unwrap().opcode, Opcode::Illegal);
}

/// The assembler stops after fifty errors, because each one compares all labels for a hint.
#[test]
fn many_missing_labels_end_soon() {
    let mut source = String::new();
    for index in 0..8000 {
        source += &format!("LABEL{index}:\njmpi(1) JIP: MISSING{index};\n");
    }
    let begun = std::time::Instant::now();
    assert_eq!(assemble(&source, Mesa, &Options::default()).unwrap_err().len(), 50);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
