//! Typed packing costs nothing: what the compiler makes of it is read from its assembly.
//!
//! * Constants: stores of constants, nothing else.
//! * Structs in memory: no call, no branch (but one for each set of alternatives, and loops of
//!   arrays), no check.
//! * Numbers: a branch for each conversion that can fail.
//!
//! And no function may become longer than it was: `zero_cost.tsv` has the instructions of each.
//! After a wanted change `GENXML_BLESS=1 cargo test -p genxml-tests --test zero_cost`, and read the
//! difference. Counts are of x86-64 and of one compiler, so a tenth more is let pass; elsewhere the
//! test says that it looked at nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Branches that a function may have; the others none.
const BRANCHES: &[(&str, usize)] = &[
    // Planar or auxiliary surface, view or none: which fields there are is in the values.
    ("values_surface", 2),
    // The loop over eight entries, if it is one.
    ("values_blend", 1),
    // Elements in a slice, however many.
    ("values_vertex_elements", 3),
    // Width and height are at least 1 and at most 2^14, the pitch likewise, levels, address:
    // canonical and aligned.
    ("convert_surface", 12),
    // Range and rounding of each.
    ("convert_sampler", 18),
];

/// Calls that a function may have; the others none.
const CALLS: &[(&str, usize)] = &[];

type Functions = BTreeMap<String, Vec<String>>;

/// The instructions of every function that the crate has.
fn assembly() -> Functions {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("zero_cost.s");
    let status = Command::new(env!("CARGO"))
        .args(["rustc", "--quiet", "--package", "genxml-zero-cost", "--lib", "--"])
        .arg(format!("--emit=asm={}", file.display()))
        .args(["-C", "debuginfo=0", "-C", "codegen-units=1"])
        .current_dir(here)
        .status()
        .unwrap();
    assert!(status.success(), "genxml-zero-cost does not compile");
    functions(&std::fs::read_to_string(file).unwrap())
}

fn functions(text: &str) -> Functions {
    let mut found = Functions::new();
    let mut name: Option<String> = None;
    for line in text.lines() {
        if let Some(label) = line.strip_suffix(':').filter(|label| !label.starts_with('.')) {
            // Mangled: the length of the name and the name, `16values_blend`.
            let parts =
                ["literal_", "values_", "convert_"].iter().filter_map(|prefix| label.find(prefix));
            name = parts.min().map(|start| {
                let digits: String =
                    label[..start].chars().rev().take_while(char::is_ascii_digit).collect();
                let length = digits.chars().rev().collect::<String>().parse().unwrap_or(0);
                label[start..].chars().take(length).collect()
            });
        } else if line.starts_with(".Lfunc_end") {
            name = None;
        } else if let (Some(name), Some(instruction)) = (&name, line.strip_prefix('\t'))
            && !instruction.starts_with(['.', '#'])
        {
            found.entry(name.clone()).or_default().push(instruction.replace('\t', " "));
        }
    }
    found
}

fn operation(instruction: &str) -> &str {
    instruction.split_whitespace().next().unwrap_or("")
}

fn allowed(table: &[(&str, usize)], name: &str) -> usize {
    table.iter().find(|(other, _)| *other == name).map_or(0, |(_, count)| *count)
}

#[test]
fn packing_costs_nothing() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("skipped: counts are of x86-64");
        return;
    }
    let functions = assembly();
    let of = |prefix: &str| functions.keys().filter(|name| name.starts_with(prefix)).count();
    assert!(
        of("literal_") >= 10 && of("values_") >= 20 && of("convert_") >= 3,
        "{:?}",
        functions.keys()
    );

    let mut wrong = Vec::new();
    for (name, instructions) in &functions {
        let count = |test: &dyn Fn(&str) -> bool| {
            instructions.iter().filter(|i| test(operation(i))).count()
        };
        let branches = count(&|operation| operation.starts_with('j') && operation != "jmp");
        let calls = count(&|operation| operation.starts_with("call") || operation == "jmp")
            - instructions.iter().filter(|i| i.starts_with("jmp .L")).count();
        if branches > allowed(BRANCHES, name) {
            wrong
                .push(format!("{name}: {branches} branches, {} are fine", allowed(BRANCHES, name)));
        }
        if calls > allowed(CALLS, name) {
            wrong.push(format!("{name}: {calls} calls, {} are fine", allowed(CALLS, name)));
        }
        if name.starts_with("literal_") {
            let constant = |i: &&String| !is_constant_store(i);
            wrong.extend(
                instructions
                    .iter()
                    .filter(constant)
                    .map(|i| format!("{name}: `{i}` is no constant store")),
            );
        }
    }
    compare(&functions, &mut wrong);
    assert!(wrong.is_empty(), "packing has become dearer:\n{}", wrong.join("\n"));
}

/// A constant put into a register or stored; nothing is read but the constants of the function.
fn is_constant_store(instruction: &str) -> bool {
    let (operation, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    match operation {
        "ret" | "retq" => true,
        "xorps" | "xorl" | "pxor" => {
            operands.split_once(", ").is_some_and(|(from, to)| from == to && from.starts_with('%'))
        }
        _ if operation.starts_with("mov") => {
            let source = operands.split(", ").next().unwrap_or("");
            source.starts_with('$') || source.starts_with('%') || source.ends_with("(%rip)")
        }
        _ => false,
    }
}

/// Compares the lengths with the table, or writes it.
fn compare(functions: &Functions, wrong: &mut Vec<String>) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zero_cost.tsv");
    if std::env::var_os("GENXML_BLESS").is_some() {
        let lines = functions
            .iter()
            .map(|(name, instructions)| format!("{name}\t{}\n", instructions.len()));
        let text = format!("# function\tinstructions\n{}", lines.collect::<String>());
        std::fs::write(path, text).unwrap();
        return;
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let table: BTreeMap<&str, usize> = lines
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(n, c)| Some((n, c.parse().ok()?)))
        .collect();
    for (name, instructions) in functions {
        match table.get(name.as_str()) {
            None => wrong.push(format!("{name}: not in zero_cost.tsv")),
            Some(before) if instructions.len() > before + before / 10 => {
                wrong.push(format!("{name}: {} instructions, {before} before", instructions.len()));
            }
            Some(_) => {}
        }
    }
    for name in table.keys().filter(|name| !functions.contains_key(**name)) {
        wrong.push(format!("{name}: in zero_cost.tsv, but not compiled"));
    }
}

/// The test can fail: code that branches, calls or computes is seen.
#[test]
fn costs_are_seen() {
    let text = "_ZN16genxml_zero_cost14literal_wasted17h0E:\n\tmovl\t(%rdi), %eax\n\tshll\t$3, %eax\n\tjne\t.LBB0_1\n\
                \tcallq\tmemcpy\n\tretq\n.Lfunc_end0:\n";
    let functions = functions(text);
    let instructions = &functions["literal_wasted"];
    let bad: Vec<&str> =
        instructions.iter().filter(|i| !is_constant_store(i)).map(|i| operation(i)).collect();
    assert_eq!(bad, ["movl", "shll", "jne", "callq"]);
}
