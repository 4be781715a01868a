//! Decoding, encoding and expansion of real Gen8 kernels and of instructions that Mesa assembled.

use std::collections::BTreeMap;

use genxml_eu::instruction::{AccessMode, Descriptor, Operand};
use genxml_eu::kernel::Located;
use genxml_eu::{Instruction, decode, instructions};
use genxml_testkit::corpus;
use genxml_testkit::text::{dwords, hex, squeeze};

/// Oracle: compact and full forms of instructions in real kernels, from Mesa. Each compact form
/// expands to the full form in its row of the table.
#[test]
fn expansion_equals_mesa() {
    let Some(corpus) = corpus::folder() else { return };
    let table = std::fs::read_to_string(corpus.join("eu/compaction.tsv")).unwrap();
    let (mut rows, mut bad) = (0, Vec::new());
    for row in table.lines().skip(1) {
        let mut columns = row.split('\t');
        let compact = dwords(&hex(columns.next().unwrap()));
        let full = dwords(&hex(columns.next().unwrap()));
        let bits = u64::from(compact[0]) | u64::from(compact[1]) << 32;
        let expanded = genxml_eu::expand(bits).map(|dwords| dwords.to_vec());
        rows += 1;
        if expanded.as_ref() != Some(&full) {
            bad.push(format!("{row}\n    ours {expanded:08x?}\n    full {full:08x?}"));
        }
    }
    println!("{} of {rows} rows differ", bad.len());
    assert!(bad.is_empty(), "{}", bad[..bad.len().min(5)].join("\n"));
    assert!(rows >= 3_600);
}

/// Decoding, encoding and decoding again gives the same instruction. The test prints how many
/// instructions also have the same bits; unused bits may differ.
#[test]
fn encoding_keeps_instructions() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut total, mut same_bits) = (0, 0);
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (path, bytes) in corpus::kernels(&corpus) {
        for located in instructions(&bytes) {
            let Located { position, instruction } = located.unwrap();
            let encoded = instruction.encode().unwrap_or_else(|error| {
                panic!("{} {position:#x}: {error}: {instruction}", path.display())
            });
            let again = decode(&encoded).unwrap();
            let native = Instruction { compacted: false, ..instruction };
            assert_eq!(again, native, "{} {position:#x}", path.display());
            total += 1;
            let at = position as usize;
            let original = if instruction.compacted {
                let compact = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
                genxml_eu::expand(compact).unwrap().to_vec()
            } else {
                dwords(&bytes[at..at + 16])
            };
            if original == encoded {
                same_bits += 1;
            } else {
                let xor: Vec<String> =
                    original.iter().zip(encoded).map(|(a, b)| format!("{:08x}", a ^ b)).collect();
                let entry = kinds.entry(instruction.opcode.to_string()).or_default();
                entry.0 += 1;
                entry.1 = format!("{} {instruction}: {original:08x?}", xor.join(" "));
            }
        }
    }
    println!("{same_bits} of {total} instructions have the same bits again");
    for (kind, (count, example)) in &kinds {
        println!("{count:6} {kind}, differing bits as in {example}");
    }
}

/// Oracle: encodings made by Mesa's assembler. The decoded instruction has the operation, size,
/// saturation, NoMask and access mode of the source, and is encoded to the same bits again.
#[test]
fn assembled_by_mesa() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut total, mut different) = (0, Vec::new());
    for file in std::fs::read_dir(corpus.join("eu/asm/gen8")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "asm") {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        // A statement ends with "};" and may have a label before it.
        let statements =
            source.split_inclusive("};").map(squeeze).filter(|text| text.ends_with("};"));
        let statements = statements.map(|text| match text.split_once(": ") {
            Some((label, rest)) if !label.contains(' ') => rest.to_string(),
            _ => text,
        });
        let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
        for (source, expected) in statements.zip(expected.lines()) {
            let bytes: Vec<u8> = expected
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect();
            let instruction =
                decode(&dwords(&bytes)).unwrap_or_else(|error| panic!("{source}: {error}"));
            let text = source.trim_start_matches(|c| c != ')').trim_start_matches([')', ' ']);
            let text = if source.starts_with('(') { text } else { &source };
            let name: String = text.chars().take_while(char::is_ascii_alphanumeric).collect();
            assert_eq!(instruction.opcode.name(), name, "{source}");
            let size = format!("({})", instruction.exec_size);
            assert!(text.contains(&size), "{source}: {instruction}");
            assert_eq!(source.contains(".sat"), instruction.saturate, "{source}");
            assert_eq!(source.contains("WE_all"), instruction.no_mask, "{source}");
            assert_eq!(
                source.contains("align16"),
                instruction.access_mode == AccessMode::Align16,
                "{source}"
            );
            total += 1;
            let again = instruction.encode().unwrap();
            assert_eq!(decode(&again).unwrap(), instruction, "{source}");
            if again[..] != dwords(&bytes) {
                different
                    .push(format!("{source}: {expected} | {again:08x?} | {:08x?}", dwords(&bytes)));
            }
        }
    }
    println!("{} of {total} have the same bits again", total - different.len());
    different.iter().for_each(|line| println!("    {line}"));
    assert!(different.is_empty(), "{different:?}");
    assert!(total > 200, "{total}");
}

/// Kernels may end with padding (corpus/README.md); the first end of thread is before it.
#[test]
fn the_end_is_found() {
    let Some(corpus) = corpus::folder() else { return };
    let path = corpus.join("eu/kernels/igt/gpgpu_fill_gen8.bin");
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(genxml_eu::length_until_eot(&bytes).unwrap(), 160);
    let last = instructions(&bytes).take(10).last().unwrap().unwrap();
    let send = last.instruction.send.unwrap();
    assert_eq!(send.descriptor, Descriptor::Immediate(0x0200_0010));
    assert!(genxml_eu::length_until_eot(&bytes[..100]).is_err());
}

/// Oracle: compilers. The types of operands and destination of every instruction in the real
/// kernels are in the table. Operations without a row and jumps by a distance are left out.
#[test]
fn types_are_in_the_table() {
    let Some(corpus) = corpus::folder() else { return };
    let mut missing: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut total = 0;
    for (path, bytes) in corpus::kernels(&corpus) {
        for Located { instruction: i, .. } in instructions(&bytes).flatten() {
            let rows = i.math.map_or(i.opcode.signatures(), |math| math.signatures());
            if rows.is_empty() {
                continue;
            }
            let types = i.operands().map(|operand| match operand {
                Operand::Register(source) => source.ty,
                Operand::Immediate(immediate) => immediate.ty,
                Operand::None => unreachable!(),
            });
            let types: Vec<_> = types.collect();
            let destination = i.destination.map(|destination| destination.ty);
            // An immediate distance has no type.
            if i.branch.is_some() {
                continue;
            }
            total += 1;
            if !rows.iter().any(|row| row.allows(destination, &types)) {
                let math = i.math.map_or("", |math| math.name());
                let entry = missing
                    .entry(format!("{} {math} {destination:?} {types:?}", i.opcode))
                    .or_default();
                entry.0 += 1;
                entry.1 = format!("{} {i}", path.display());
            }
        }
    }
    println!("{total} instructions");
    for (kind, (count, example)) in &missing {
        println!("{count:6} {kind} {example}");
    }
    assert!(missing.is_empty(), "types that the table does not have");
}
