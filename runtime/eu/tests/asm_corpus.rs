//! Assembles the text of real kernels, and Mesa's assembler tests.

use genxml_eu::asm::{AsmError, Options, assemble};
use genxml_eu::instruction::*;
use genxml_eu::kernel::Located;
use genxml_eu::ops::Format;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Instruction, Opcode, instructions};
use genxml_testkit::corpus;
use std::collections::BTreeMap;

/// The instruction without parts that have no meaning (corpus/README.md): the source region of
/// messages, unused fields of `ret`, swizzles of replicated sources.
fn significant(mut i: Instruction) -> Instruction {
    let format = i.opcode.op().format;
    for operand in &mut i.sources {
        if let Operand::Register(source) = operand {
            if matches!(format, Format::Send | Format::Return) {
                source.region = Region::SCALAR;
            }
            if source.replicate {
                source.swizzle = Source::IDENTITY;
            }
        }
    }
    i
}

/// Results for the instructions of all kernels.
#[derive(Default)]
struct Tally {
    kernels: usize,
    instructions: usize,
    equal: usize,
    bytes: usize,
    /// Number of instructions whose text is incomplete, by the missing part.
    lost: BTreeMap<String, usize>,
    /// Instructions that differ, by operation.
    different: BTreeMap<String, (usize, String)>,
    /// Equal instructions with different bits, by operation.
    bits: BTreeMap<String, usize>,
}

/// `source` with each statement that cannot be read replaced by `nop`.
fn without(source: &str, errors: &[AsmError]) -> String {
    let mut text = source.to_string();
    for error in errors.iter().rev() {
        let line = text[..error.span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = error.span.start + text[error.span.start..].find(';').unwrap();
        text.replace_range(line..end, "nop ");
    }
    text
}

fn run(syntax: Syntax, extension: &str) -> Option<Tally> {
    let corpus = corpus::folder()?;
    let mut tally = Tally::default();
    for (path, bytes) in corpus::kernels(&corpus) {
        let mut source = std::fs::read_to_string(path.with_extension(extension)).unwrap();
        assert_eq!(Syntax::detect(&source), syntax, "{}", path.display());
        tally.kernels += 1;
        let theirs: Vec<_> = instructions(&bytes).map(|line| line.unwrap()).collect();
        tally.instructions += theirs.len();
        let mut lost = 0;
        let ours = loop {
            match assemble(&source, syntax, &Options::default()) {
                Ok(ours) => break ours,
                Err(errors) => {
                    for error in &errors {
                        assert!(
                            error.hint.as_ref().is_some_and(|hint| hint.starts_with("Mesa's dis")),
                            "{error}"
                        );
                        *tally.lost.entry(error.message.clone()).or_default() += 1;
                    }
                    lost += errors.len();
                    source = without(&source, &errors);
                }
            }
        };
        assert_eq!(ours.lines.len(), theirs.len(), "{}: number of instructions", path.display());
        let mut replaced = 0;
        for (line, theirs) in ours.lines.iter().zip(&theirs) {
            let bits = |located: &Located, bytes: &[u8]| {
                let at = located.position as usize;
                bytes[at..at + located.instruction.length() as usize].to_vec()
            };
            let (mine, original) = (line.located.instruction, theirs.instruction);
            assert_eq!(line.located.position, theirs.position, "{}", path.display());
            let operation = original.opcode.to_string();
            if significant(mine) == significant(original) {
                tally.equal += 1;
                if bits(&line.located, &ours.bytes) == bits(theirs, &bytes) {
                    tally.bytes += 1;
                } else {
                    *tally.bits.entry(operation).or_default() += 1;
                }
            } else if mine.opcode == Opcode::Nop && lost > 0 {
                replaced += 1;
            } else {
                let entry = tally.different.entry(operation).or_default();
                let text = &source[line.span.clone()];
                entry.0 += 1;
                entry.1 = format!(
                    "{}: {text}\n    theirs {original:?}\n    ours   {mine:?}",
                    path.display()
                );
            }
        }
        assert_eq!(replaced, lost, "{}", path.display());
    }
    println!(
        "{syntax:?}: {} kernels, {} of {} instructions equal, {} with the same bits",
        tally.kernels, tally.equal, tally.instructions, tally.bytes
    );
    for (what, count) in &tally.lost {
        println!("{count:6} lost: {what}");
    }
    for (what, (count, example)) in &tally.different {
        println!("{count:6} different: {what}, as in {example}");
    }
    println!("other bits: {:?}", tally.bits);
    Some(tally)
}

/// Oracle: the kernels that IGA disassembled.
#[test]
fn iga_texts_assemble() {
    let Some(tally) = run(Syntax::Iga, "iga.asm") else { return };
    assert!(tally.lost.is_empty());
    let different: Vec<_> =
        tally.different.iter().map(|(name, (count, _))| (name.as_str(), *count)).collect();
    // IGA prints `nenop` as illegal, and Align16 sources with a swizzle as regions of Align1.
    assert_eq!(different, [("illegal", 3), ("mov", 32)]);
    assert_eq!(tally.equal + 35, tally.instructions);
    assert!(tally.instructions > 61_000);
}

/// Oracle: the kernels that Mesa disassembled.
#[test]
fn mesa_texts_assemble() {
    let Some(tally) = run(Syntax::Mesa, "mesa.asm") else { return };
    // Mesa prints `goto`, `call` and `ret` without targets, and no indirect operands of Align16.
    assert_eq!(tally.lost.values().sum::<usize>(), 133 + 32 + 3 + 32);
    let mut different: BTreeMap<_, _> =
        tally.different.iter().map(|(name, (count, _))| (&**name, *count)).collect();
    // Mesa prints `join` and `nenop` as illegal, and does not print the flag in which `math.invm`
    // reports its early out.
    assert_eq!(different.remove("join"), Some(122));
    assert_eq!(different.remove("illegal"), Some(3));
    assert_eq!(different.remove("math"), Some(4));
    // In an indirect destination, Mesa prints the word number of a0 divided by the size of the
    // type. So odd word numbers are lost for types of two bytes.
    let odd = [("add", 144), ("and", 48), ("mov", 34), ("sel", 24), ("shr", 16)];
    assert_eq!(different, BTreeMap::from(odd));
    assert_eq!(tally.equal + 200 + 129 + 266, tally.instructions);
}

/// Oracle: the output of Mesa's assembler for its own tests, byte for byte.
#[test]
fn mesa_tests_are_byte_exact() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut files, mut lines) = (0, 0);
    let mut wrong = Vec::new();
    for file in std::fs::read_dir(corpus.join("eu/asm/gen8")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "asm") {
            continue;
        }
        files += 1;
        let source = std::fs::read_to_string(&path).unwrap();
        let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
        let ours = assemble(&source, Syntax::Mesa, &Options::default())
            .unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0]));
        let expected: Vec<_> = expected.lines().collect();
        assert_eq!(ours.lines.len(), expected.len(), "{}", path.display());
        for (index, (bytes, expected)) in ours.bytes.chunks(16).zip(expected).enumerate() {
            lines += 1;
            let bytes =
                bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
            if bytes != expected.trim() {
                let text = &source[ours.lines[index].span.clone()];
                wrong.push(format!(
                    "{}: {text}\n    mesa {expected}\n    ours {bytes}",
                    path.display()
                ));
            }
        }
    }
    println!("{} of {lines} lines of {files} files have Mesa's bytes", lines - wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lines > 200, "{lines}");
}
