//! Compares listings of real kernels with those of Intel's and Mesa's disassemblers, line by line.

use genxml_eu::disasm::listing;
use genxml_eu::syntax::Syntax;
use genxml_testkit::corpus;
use genxml_testkit::text::squeeze;
use std::collections::BTreeMap;

/// The lines of a listing with single spaces, without empty ones.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(squeeze).filter(|line| !line.is_empty()).collect()
}

/// Compares all lines of all kernels and prints the differences by `kind`. Returns the number of
/// equal lines and of all lines, `None` without the corpus.
fn compare(
    syntax: Syntax,
    extension: &str,
    kind: fn(&str, &str) -> &'static str,
) -> Option<(usize, usize)> {
    let corpus = corpus::folder()?;
    let (mut equal, mut total) = (0, 0);
    let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, bytes) in corpus::kernels(&corpus) {
        let theirs = lines(&std::fs::read_to_string(path.with_extension(extension)).unwrap());
        let ours = lines(&listing(&bytes, syntax));
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert_eq!(ours.len(), theirs.len(), "{name}: number of lines");
        total += theirs.len();
        for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            if ours == theirs {
                equal += 1;
            } else {
                let text = format!(
                    "{name} line {}\n        theirs {theirs}\n        ours   {ours}",
                    number + 1
                );
                kinds.entry(kind(ours, theirs)).or_default().push(text);
            }
        }
    }
    println!("{equal} of {total} lines are equal");
    for (kind, lines) in &kinds {
        println!("{} lines: {kind}", lines.len());
        lines.iter().for_each(|line| println!("    {line}"));
    }
    Some((equal, total))
}

/// Oracle: Mesa's listings of real kernels, all lines.
#[test]
fn listings_equal_mesa() {
    let Some((equal, total)) = compare(Syntax::Mesa, "mesa.asm", |_, _| "not explained") else {
        return;
    };
    assert!(total > 68_000);
    assert_eq!(equal, total);
}

/// Oracle: Intel's listings of real kernels. All lines, labels and comments included, are equal
/// except two kinds.
#[test]
fn listings_equal_iga() {
    fn kind(ours: &str, theirs: &str) -> &'static str {
        if theirs.contains("GED error") {
            "operations that do not exist: IGA prints the bytes"
        } else if theirs.contains("]<1;1,0>:ud") && ours.contains("]<4>.wzyx:ud") {
            "swizzles: IGA prints them as a region that the instruction does not have"
        } else {
            "not explained"
        }
    }
    let Some((equal, total)) = compare(Syntax::Iga, "iga.asm", kind) else { return };
    assert!(total > 67_000);
    assert_eq!(equal + 32 + 3, total);
}

/// Oracle: the sources of Mesa's assembler tests. The disassembly of a test's expected bytes equals
/// its source, except for jumps to labels.
#[test]
fn sources_of_mesa_assembler() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut total, mut different) = (0, Vec::new());
    for file in std::fs::read_dir(corpus.join("eu/asm/gen8")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "asm") {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let statements =
            source.split_inclusive("};").map(squeeze).filter(|text| text.ends_with("};"));
        let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
        for (source, expected) in statements.zip(expected.lines()) {
            let bytes: Vec<u8> = expected
                .split_whitespace()
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect();
            let text = lines(&listing(&bytes, Syntax::Mesa)).join(" ");
            total += 1;
            if text != source {
                different.push(format!(
                    "{}\n    source {source}\n    ours   {text}",
                    path.file_stem().unwrap().display()
                ));
            }
        }
    }
    println!("{} of {total} are printed as they were written; others:", total - different.len());
    different.iter().for_each(|line| println!("{line}"));
    assert!(total > 200);
    assert!(different.iter().all(|text| text.contains("LABEL")), "{different:?}");
}
