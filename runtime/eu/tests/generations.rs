//! Helpers of the tests of Gen9 and later generations.

use genxml_eu::disasm::write_listing_on;
use genxml_eu::instruction::*;
use genxml_eu::kernel::{Instructions, Located};
use genxml_eu::ops::Format;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, decode_on};
use genxml_testkit::text::squeeze;
use std::path::PathBuf;

/// The folder of Mesa's assembler tests of a generation, `None` without `GENXML_MESA`.
fn mesa_tests(generation: &str) -> Option<PathBuf> {
    let Some(mesa) = std::env::var_os("GENXML_MESA") else {
        eprintln!("skipped: set GENXML_MESA to the folder of Mesa's sources");
        return None;
    };
    let mesa = PathBuf::from(mesa);
    let folders =
        ["src/intel/compiler/tests", "src/intel/tools/tests", "src/intel/compiler/brw/tests"];
    let folders = folders.map(|folder| mesa.join(folder).join(generation));
    let found = folders.iter().find(|folder| folder.is_dir());
    Some(found.unwrap_or_else(|| panic!("GENXML_MESA: none of the folders {folders:?}")).clone())
}

pub fn listing(generation: Generation, bytes: &[u8], syntax: Syntax) -> String {
    let mut text = String::new();
    write_listing_on(generation, &mut text, bytes, syntax).unwrap();
    let lines: Vec<_> = text.lines().map(squeeze).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

pub fn bytes(line: &str) -> Vec<u8> {
    line.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

pub fn dwords(line: &str) -> [u32; 4] {
    let bytes = bytes(line);
    std::array::from_fn(|i| u32::from_le_bytes(bytes[i * 4..i * 4 + 4].try_into().unwrap()))
}

/// Renumbers the labels of a listing in the order of their first appearance.
fn renumbered(text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let words = text.split(' ').map(|word| {
        let Some(number) = word.strip_prefix("LABEL") else { return word.to_owned() };
        let (number, colon) = number.split_at(number.trim_end_matches(':').len());
        let at = names.iter().position(|name| *name == number).unwrap_or_else(|| {
            names.push(number);
            names.len() - 1
        });
        format!("LABEL{at}{colon}")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The text with the words that all releases of Mesa print in messages.
fn words(text: &str) -> String {
    text.replace("MsgDesc: ( ", "MsgDesc: (").replace(", bti ", ", ").replace(": offset ", ": ")
}

/// Compares the text of the expected bytes of each file with its source, and encodes each decoded
/// instruction again. Returns the numbers of files and instructions, and the differences of text.
pub fn compare(folder: &str, generation: Generation) -> Option<(usize, usize, Vec<String>)> {
    let (mut files, mut total, mut different) = (0, 0, Vec::new());
    for file in std::fs::read_dir(mesa_tests(folder)?).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "asm") {
            continue;
        }
        files += 1;
        let name = path.file_stem().unwrap().display().to_string();
        let source = renumbered(&squeeze(&std::fs::read_to_string(&path).unwrap()));
        let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
        let kernel = bytes(&expected);
        let text = renumbered(&listing(generation, &kernel, Syntax::Mesa));
        if words(&text) != words(&source) {
            let mut lines = source.split_inclusive(';').zip(text.split_inclusive(';'));
            let line = lines.find(|(source, ours)| words(source) != words(ours));
            different.push(format!("{name}: {line:?}"));
        }
        total += encodes_again(&name, &kernel, generation);
    }
    Some((files, total, different))
}

/// Decodes and encodes each instruction of a kernel. Returns their number.
fn encodes_again(name: &str, kernel: &[u8], generation: Generation) -> usize {
    let mut total = 0;
    for located in Instructions::of(kernel).on(generation) {
        let Located { position, instruction } =
            located.unwrap_or_else(|error| panic!("{name}: {error}"));
        let encoded = instruction.encode().unwrap();
        // Other formats have unused bits. Mesa prints them as operands, which the instruction does
        // not have.
        let gen12 = generation == Generation::Gen12 && instruction.send.is_some();
        if instruction.opcode.op().format == Format::SplitSend || gen12 {
            let bytes = &kernel[position as usize..][..16];
            assert_eq!(encoded.map(u32::to_le_bytes).concat(), bytes, "{name}: {position:#x}");
        }
        let again = decode_on(generation, &encoded).unwrap();
        let again = Instruction { compacted: instruction.compacted, ..again };
        assert_eq!(again, instruction, "{name}: {position:#x}");
        total += 1;
    }
    total
}

/// A case is the bytes of an instruction, and its text in Mesa's and in Intel's syntax. The bytes
/// decode to both texts, and encode to the same bytes again.
pub fn check(generation: Generation, cases: &[(&str, &str, &str)]) {
    for (hex, mesa, iga) in cases {
        let code = bytes(hex);
        let text = listing(generation, &code, Syntax::Mesa);
        // A label may follow.
        assert_eq!(text[..=text.rfind(';').unwrap()], **mesa, "{hex}");
        let mut all = Instructions::of(&code[..]).on(generation);
        let located = all.next().unwrap().unwrap_or_else(|error| panic!("{hex}: {error}"));
        let text = squeeze(&located.instruction.to_string());
        assert_eq!(text.split("//").next().unwrap().trim(), *iga, "{hex}");
        // Written by its value, the instruction has the same text, but numbers instead of labels.
        let text = squeeze(&located.instruction.display(Syntax::Mesa).to_string());
        if !mesa.contains("LABEL") {
            assert_eq!(text, *mesa, "{hex}");
        }
        encodes_again(hex, &code, generation);
    }
}
