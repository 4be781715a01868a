//! Instructions of Gen9. Oracles: Mesa's assembler tests, if `GENXML_MESA` names Mesa's sources, and
//! lines of these tests written out here.

use genxml_eu::disasm::write_listing_on;
use genxml_eu::instruction::*;
use genxml_eu::kernel::Instructions;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, Opcode, Problem, decode, decode_on};
use genxml_testkit::text::squeeze;
use std::path::PathBuf;

/// The folder of Mesa's assembler tests of a generation, `None` without `GENXML_MESA`.
fn mesa_tests(generation: &str) -> Option<PathBuf> {
    let Some(mesa) = std::env::var_os("GENXML_MESA") else {
        eprintln!("skipped: set GENXML_MESA to the folder of Mesa's sources");
        return None;
    };
    let mesa = PathBuf::from(mesa);
    let folders = ["src/intel/compiler/tests", "src/intel/tools/tests", "src/intel/compiler/brw/tests"];
    let folders = folders.map(|folder| mesa.join(folder).join(generation));
    let found = folders.iter().find(|folder| folder.is_dir());
    Some(found.unwrap_or_else(|| panic!("GENXML_MESA: none of the folders {folders:?}")).clone())
}

fn listing(generation: Generation, bytes: &[u8], syntax: Syntax) -> String {
    let mut text = String::new();
    write_listing_on(generation, &mut text, bytes, syntax).unwrap();
    let lines: Vec<_> = text.lines().map(squeeze).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

fn bytes(line: &str) -> Vec<u8> {
    line.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn dwords(line: &str) -> [u32; 4] {
    let bytes = bytes(line);
    std::array::from_fn(|i| u32::from_le_bytes(bytes[i * 4..i * 4 + 4].try_into().unwrap()))
}

fn on_gen9(line: &str) -> Instruction {
    decode_on(Generation::Gen9, &dwords(line)).unwrap()
}

/// Compares the text of the expected bytes of each file with its source, and encodes each decoded
/// instruction again. Returns the numbers of files, instructions, and the differences of text.
fn compare(folder: &str, generation: Generation) -> Option<(usize, usize, Vec<String>)> {
    let (mut files, mut total, mut different) = (0, 0, Vec::new());
    for file in std::fs::read_dir(mesa_tests(folder)?).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "asm") {
            continue;
        }
        files += 1;
        let name = path.file_stem().unwrap().display().to_string();
        let source = std::fs::read_to_string(&path).unwrap();
        let statements = source.split_inclusive(';').map(squeeze).filter(|text| !text.is_empty());
        let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
        for (source, expected) in statements.zip(expected.lines()) {
            let bytes = bytes(expected);
            let text = listing(generation, &bytes, Syntax::Mesa);
            total += 1;
            if text != source {
                different.push(format!("{name}\n    source {source}\n    ours   {text}"));
            }
            let located = Instructions::of(&bytes[..]).on(generation).next().unwrap();
            let instruction = located.unwrap_or_else(|error| panic!("{name}: {error}")).instruction;
            let encoded = instruction.encode().unwrap();
            // Other formats have unused bits, in which Mesa writes operands that do not exist.
            if instruction.extended.is_some() {
                assert_eq!(encoded.map(u32::to_le_bytes).concat(), bytes, "{name}: {source}");
            }
            let again = decode_on(generation, &encoded).unwrap();
            assert_eq!(Instruction { compacted: instruction.compacted, ..again }, instruction);
        }
    }
    Some((files, total, different))
}

/// Oracle: Mesa's assembler tests of Gen9: the text of the bytes is the source.
#[test]
fn text_is_the_source_of_mesa_tests() {
    let Some((files, total, different)) = compare("gen9", Generation::Gen9) else { return };
    println!("{files} files: {} of {total} instructions as written; others:", total - different.len());
    different.iter().for_each(|line| println!("{line}"));
    assert!(files >= 40 && total > 300, "{files} files, {total} instructions");
    assert!(different.iter().all(|text| text.contains("LABEL")), "{different:#?}");
}
