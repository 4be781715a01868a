//! Typed packing has no cost: the test reads the assembly that the compiler generates.
//!
//! * Constants: only stores of constants.
//! * Structs in memory: no call, no check, no branch (except one for each set of alternatives and
//!   the loops of long arrays).
//! * Numbers: a branch for each conversion that can fail.
//!
//! No function may become longer: `zero_cost.tsv` has the number of instructions of each. After an
//! intended change, run `GENXML_BLESS=1 cargo test -p genxml-tests --test all zero_cost` and read
//! the difference. The counts are for x86-64 and one compiler, so ten percent more are allowed. On
//! other targets the test prints that it is skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of branches that a function may have; others may have none.
const BRANCHES: &[(&str, usize)] = &[
    // The values decide which fields exist: planar or auxiliary surface, view or none.
    ("values_surface", 2),
    // The slice may have any number of elements.
    ("values_vertex_elements", 3),
    // Checks: width, height and pitch are at least 1 and at most the maximum; the levels are in
    // range; the address is canonical and aligned.
    ("convert_surface", 12),
    // Checks of the range and the rounding of each of three numbers.
    ("convert_sampler", 18),
];

/// Number of calls that a function may have; others may have none.
const CALLS: &[(&str, usize)] = &[];

type Functions = BTreeMap<String, Vec<String>>;

/// The instructions of every function of the crate, optimised.
fn assembly() -> Functions {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("zero-cost/src/lib.rs");
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("zero_cost.s");
    let arguments: &[&str] = genxml_compile::compiler!();
    let status = Command::new(arguments[0])
        .args(&arguments[1..])
        .args(["--edition=2024", "--crate-type=lib", "--crate-name=genxml_zero_cost"])
        .args(["-C", "opt-level=3", "-C", "debuginfo=0", "-C", "codegen-units=1"])
        .arg("--emit=asm")
        .arg("-o")
        .args([&file, &source])
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
            // A mangled name contains the length of the function's name, then the name:
            // `12values_blend`.
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
            wrong.push(format!(
                "{name}: {branches} branches, allowed are {}",
                allowed(BRANCHES, name)
            ));
        }
        if calls > allowed(CALLS, name) {
            wrong.push(format!("{name}: {calls} calls, allowed are {}", allowed(CALLS, name)));
        }
        if name.starts_with("literal_") {
            let constant = |i: &&String| !is_constant_store(i);
            wrong.extend(
                instructions
                    .iter()
                    .filter(constant)
                    .map(|i| format!("{name}: `{i}` is not a constant store")),
            );
        }
    }
    compare(&functions, &mut wrong);
    assert!(wrong.is_empty(), "packing costs more than before:\n{}", wrong.join("\n"));
}

/// Whether the instruction only loads a constant into a register, copies or stores a register, or
/// returns. It may read memory only at constants of the program.
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

/// Compares the lengths with the table, or writes the table.
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

/// The test can fail: it detects code that branches, calls or computes.
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
