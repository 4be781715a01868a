//! Gen4, G45 and Gen5. Oracle: Mesa 22.3.6, whose text and bytes are in the corpus.

use crate::generations::{bytes, dwords, listing};
use genxml_eu::asm::{Options, assemble};
use genxml_eu::disasm::write_listing_on;
use genxml_eu::instruction::Register;
use genxml_eu::kernel::{Instructions, Located};
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, Instruction, Opcode, compact_on, decode_on, validate};
use genxml_testkit::text::squeeze;
use genxml_testkit::{Random, corpus};
use std::path::{Path, PathBuf};

/// The folder of the corpus for these generations, `None` with a message if it is missing.
fn folder() -> Option<PathBuf> {
    let folder = corpus::folder()?.join("gen45");
    if !folder.is_dir() {
        eprintln!("skipped: no folder {}", folder.display());
        return None;
    }
    Some(folder)
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The instructions of a text, without empty lines and with single spaces.
fn statements(text: &str) -> Vec<String> {
    text.split_inclusive(';').map(squeeze).filter(|line| !line.is_empty()).collect()
}

/// Compares the texts of instructions. Prints those that differ, and returns the number of equal
/// ones and of all.
fn compare(name: &str, ours: &str, theirs: &str) -> (usize, usize) {
    let (ours, theirs) = (statements(ours), statements(theirs));
    assert_eq!(ours.len(), theirs.len(), "{name}: number of instructions");
    let mut equal = 0;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        if ours == theirs {
            equal += 1;
        } else {
            println!("{name}:\n  ours   {ours}\n  theirs {theirs}");
        }
    }
    (equal, theirs.len())
}

/// The text of all kernels, and their encoding: each instruction encodes to the bits that it was
/// decoded from.
#[test]
fn kernels() {
    let Some(folder) = folder() else { return };
    let (mut equal, mut total, mut instructions) = (0, 0, 0);
    let kernels = files(&folder.join("kernels"), "bin");
    for path in &kernels {
        let name = path.file_stem().unwrap().display().to_string();
        let kernel = std::fs::read(path).unwrap();
        let text = listing(Generation::Gen45, &kernel, Syntax::Mesa);
        let (same, all) = compare(&name, &text, &read(&path.with_extension("mesa.asm")));
        (equal, total) = (equal + same, total + all);
        for located in Instructions::of(&kernel[..]).on(Generation::Gen45) {
            let Located { position, instruction } =
                located.unwrap_or_else(|error| panic!("{name}: {error}"));
            let place = &kernel[position as usize..];
            let native = instruction.encode().unwrap_or_else(|e| panic!("{name}: {e}"));
            let dwords = match instruction.compacted {
                true => compact_on(Generation::Gen45, &native).map(|form| form.to_vec()),
                false => Some(native.to_vec()),
            };
            let again: Vec<_> =
                dwords.unwrap_or_default().iter().flat_map(|dword| dword.to_le_bytes()).collect();
            let length = instruction.length() as usize;
            assert_eq!(again, &place[..length], "{name} {position:#x}: {instruction}");
            instructions += 1;
        }
    }
    println!("{} kernels, {equal} of {total} equal, {instructions} encoded", kernels.len());
    assert!(kernels.len() > 300, "{}", kernels.len());
    assert_eq!(equal, total);
}

pub fn assembled(name: &str, text: &str, generation: Generation) -> Vec<u8> {
    let options = Options { generation, ..Options::default() };
    match assemble(text, Syntax::Mesa, &options) {
        Ok(assembly) => assembly.bytes,
        Err(errors) => panic!("{name}: {}", errors[0]),
    }
}

/// Compares bytes of instructions, given as the lines that produce them.
fn same_bytes(name: &str, ours: &[u8], theirs: &[u8]) {
    let at = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    if let Some(at) = at.map(|at| at / 16 * 16) {
        let part = |bytes: &[u8]| format!("{:02x?}", &bytes[at..bytes.len().min(at + 16)]);
        panic!("{name}, byte {at:#x}:\n  ours   {}\n  theirs {}", part(ours), part(theirs));
    }
    assert_eq!(ours.len(), theirs.len(), "{name}");
}

/// The bytes of Mesa's assembler tests.
#[test]
fn assembler_tests() {
    let Some(folder) = folder() else { return };
    for (folder, generation) in GENERATIONS.map(|(name, of)| (folder.join("asm").join(name), of)) {
        for path in files(&folder, "asm") {
            let ours = assembled(&path.display().to_string(), &read(&path), generation);
            let expected = bytes(&read(&path.with_extension("expected")));
            same_bytes(&path.display().to_string(), &ours, &expected);
        }
    }
}

/// The bytes with one word of a0 instead of those that Mesa prints alike: it divides the word of an
/// indirect destination by the size of the type. Returns the number of such destinations.
fn with_printed_words(kernel: &[u8]) -> (Vec<u8>, usize) {
    let (mut changed, mut count) = (kernel.to_vec(), 0);
    for located in Instructions::of(kernel).on(Generation::Gen45) {
        let Located { position, mut instruction } = located.unwrap();
        let Some(destination) = &mut instruction.destination else { continue };
        let Register::Indirect { address, offset } = destination.register else { continue };
        let size = destination.ty.size();
        let printed = if address / size == 0 { 1 } else { address / size * size };
        if address == 0 || address == printed {
            continue;
        }
        destination.register = Register::Indirect { address: printed, offset };
        count += 1;
        let native = instruction.encode().unwrap();
        let place = &mut changed[position as usize..][..16];
        place.copy_from_slice(&native.map(u32::to_le_bytes).concat());
    }
    (changed, count)
}

/// The text of every kernel, ours and Mesa's, assembles to the bytes of the kernel, except for the
/// words of a0 that the text does not have.
#[test]
fn kernels_again() {
    let Some(folder) = folder() else { return };
    let mut lost = 0;
    for path in files(&folder.join("kernels"), "bin") {
        let name = path.display().to_string();
        let kernel = std::fs::read(&path).unwrap();
        let mut text = String::new();
        write_listing_on(Generation::Gen45, &mut text, &kernel[..], Syntax::Mesa).unwrap();
        let (kernel, count) = with_printed_words(&kernel);
        lost += count;
        same_bytes(&name, &assembled(&name, &text, Generation::Gen45), &kernel);
        let theirs = read(&path.with_extension("mesa.asm"));
        same_bytes(&name, &assembled(&name, &theirs, Generation::Gen45), &kernel);
    }
    println!("{lost} words of a0 that the text does not have");
    assert!(lost < 200, "{lost}");
}

/// The 8-byte forms, in both directions.
#[test]
fn compaction() {
    let Some(folder) = folder() else { return };
    let mut count = 0;
    for line in read(&folder.join("compaction.tsv")).lines().skip(1) {
        let columns: Vec<_> = line.split('\t').collect();
        let [small, full, text] = columns[..] else { panic!("{line}") };
        let compact = bytes(small);
        let native = dwords(full);
        let printed = listing(Generation::Gen45, &bytes(full), Syntax::Mesa);
        assert_eq!(squeeze(&printed), squeeze(text), "{line}");
        let printed = listing(Generation::Gen45, &compact, Syntax::Mesa);
        assert_eq!(printed.replace(" compacted", ""), squeeze(text), "{line}");
        let form = compact_on(Generation::Gen45, &native);
        let form: Option<Vec<_>> =
            form.map(|form| form.iter().flat_map(|dword| dword.to_le_bytes()).collect());
        assert_eq!(form.as_ref(), Some(&compact), "{line}");
        let small: Vec<u32> =
            compact.chunks(4).map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap())).collect();
        let mut decoded = decode_on(Generation::Gen45, &small).unwrap();
        decoded.compacted = false;
        assert_eq!(Ok(decoded), decode_on(Generation::Gen45, &native), "{line}");
        count += 1;
    }
    println!("{count} compact instructions");
    assert!(count > 2000, "{count}");
}

/// Text of the bytes of Mesa's assembler tests.
#[test]
fn assembler_tests_as_text() {
    let Some(folder) = folder() else { return };
    for (name, generation) in GENERATIONS {
        let (mut equal, mut total) = (0, 0);
        for path in files(&folder.join("asm").join(name), "asm") {
            let kernel = bytes(&read(&path.with_extension("expected")));
            let text = listing(generation, &kernel, Syntax::Mesa);
            let file = format!("{name}/{}", path.file_stem().unwrap().display());
            let (same, all) = compare(&file, &text, &read(&path));
            (equal, total) = (equal + same, total + all);
        }
        println!("{name}: {equal} of {total} equal");
        assert!(total > 20, "{name}: {total}");
        assert_eq!(equal, total, "{name}");
    }
}

const GENERATIONS: [(&str, Generation); 3] =
    [("gen4", Generation::Gen4), ("gen45", Generation::Gen45), ("gen5", Generation::Gen5)];

/// Kernels of drivers break no rule.
#[test]
fn kernels_are_valid() {
    let Some(folder) = folder() else { return };
    for path in files(&folder.join("kernels"), "bin") {
        let kernel = std::fs::read(&path).unwrap();
        let found = validate::kernel_on(Generation::Gen45, &kernel).unwrap();
        assert!(found.is_empty(), "{}: {}", path.display(), found[0]);
    }
}

/// Instructions with random changes: nothing panics, and what can be decoded encodes to the same
/// value again, also through the text of the assembler. `GENXML_EU_INSTRUCTIONS` is their number.
#[test]
fn random_instructions() {
    let count: u64 =
        std::env::var("GENXML_EU_INSTRUCTIONS").map_or(30_000, |count| count.parse().unwrap());
    let mut real = vec![dwords("01 20 80 00 be 03 00 30 40 00 8d 00 00 00 00 00")];
    if let Some(folder) = folder() {
        for path in files(&folder.join("kernels"), "bin") {
            let kernel = genxml_testkit::text::dwords(&std::fs::read(&path).unwrap());
            real.extend(
                kernel.windows(4).step_by(2).map(|four| <[u32; 4]>::try_from(four).unwrap()),
            );
        }
    }
    let mut random = Random::new(3);
    let mut text = String::new();
    let (mut decoded, mut again) = (0u64, 0u64);
    for index in 0..count {
        let generation = GENERATIONS[random.index(3)].1;
        let mut four = real[random.index(real.len())];
        for _ in 0..random.below(5) {
            four[random.index(4)] ^= 1 << random.below(32);
        }
        if index % 8 == 0 {
            four = std::array::from_fn(|_| random.bits() as u32);
        }
        let code = four.map(u32::to_le_bytes).concat();
        for syntax in [Syntax::Iga, Syntax::Mesa] {
            text.clear();
            write_listing_on(generation, &mut text, &code[..], syntax).unwrap();
            assert!(!text.is_empty());
        }
        let options = Options { generation, ..Options::default() };
        again += u64::from(assemble(&text, Syntax::Mesa, &options).is_ok());
        assert!(validate::kernel_on(generation, &code).is_some());
        if let Some(small) = compact_on(generation, &four) {
            assert!(decode_on(generation, &small).is_ok() == decode_on(generation, &four).is_ok());
        }
        let Ok(instruction) = decode_on(generation, &four) else { continue };
        decoded += 1;
        if instruction.opcode == Opcode::Wait {
            continue;
        }
        let native = instruction.encode().unwrap_or_else(|e| panic!("{four:08x?}: {e}"));
        let other = decode_on(generation, &native).unwrap();
        let compacted = instruction.compacted;
        assert_eq!(Instruction { compacted, ..other }, instruction, "{four:08x?}");
    }
    println!("{count} instructions, {decoded} decoded, {again} texts assembled");
    assert!(decoded > count / 4, "{decoded}");
}
