//! `genx eu validate`: checks a kernel against the rules of the manual.

use crate::assembly::{Form, generation, read_kernel_on};
use crate::output::{Error, Exit, bad_input, stdout};
use genxml_codegen::suggest;
use genxml_core::rule::Severity;
use genxml_eu::Generation;
use genxml_eu::validate::{Finding, Rule, kernel_on, rules_on};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Check a kernel's instructions and control flow against the manual
///
/// An error is an instruction that hardware refuses, or whose result is undefined. A warning is an
/// instruction that works but is not recommended. `genx check --kernel` applies these rules too,
/// and also the rules of message descriptors.
///
/// Exit code: 0 no errors, 1 errors, 2 unusable input.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx eu validate kernel.bin
  genx eu validate kernel.asm --json | jq -r '.findings[].rule'
  genx eu validate kernel.asm --gen g45
  genx eu validate --list
  genx eu validate --explain EU-REGION-VSTRIDE")]
pub struct Args {
    /// The kernel; - for standard input
    #[arg(required_unless_present_any = ["list", "explain"])]
    file: Option<PathBuf>,
    /// Format of the file. Default: by the suffix of its name. Files with the suffix asm, s or iga
    /// are assembly. Files with the suffix hex, expected or txt are hexadecimal text. All others,
    /// and standard input, are binary
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// The GPU of the kernel: a generation (4, 4.5, 5 or 8) or a name (g45, broadwell)
    #[arg(long, value_name = "GPU", default_value = "8", value_parser = generation)]
    r#gen: Generation,
    /// Do not print warnings
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print the id, severity and text of every rule
    #[arg(long, conflicts_with = "file")]
    list: bool,
    /// Print the text and the source of a rule
    #[arg(long, value_name = "ID", conflicts_with_all = ["file", "list"])]
    explain: Option<String>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    if let Some(id) = &args.explain {
        return explain(id, args.json);
    }
    let Some(file) = args.file.as_deref().filter(|_| !args.list) else { return list(args) };
    let bytes = read_kernel_on(args.r#gen, file, args.form)?;
    let mut findings = kernel_on(args.r#gen, &bytes).unwrap_or_default();
    if args.quiet {
        findings.retain(|finding| finding.rule.severity == Severity::Error);
    }
    let count =
        |severity| findings.iter().filter(|finding| finding.rule.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if args.json {
        let all: Vec<Value> = findings.iter().map(as_json).collect();
        let value = json!({"findings": all, "errors": errors, "warnings": warnings});
        stdout(|out| writeln!(out, "{value:#}"))?;
    } else {
        stdout(|out| {
            show(out, &findings)?;
            let plural = |count: usize| if count == 1 { "" } else { "s" };
            writeln!(
                out,
                "{errors} error{}, {warnings} warning{}",
                plural(errors),
                plural(warnings)
            )
        })?;
    }
    Ok(if errors > 0 { Exit::Differs } else { Exit::Ok })
}

fn text_of(finding: &Finding) -> Option<String> {
    let text = finding.instruction.as_ref()?.to_string();
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Writes each violated rule once, with the instructions that violate it.
fn show(out: &mut dyn Write, findings: &[Finding]) -> io::Result<()> {
    let mut shown: Vec<&str> = Vec::new();
    for first in findings {
        let Rule { id, severity, text, hint, source, .. } = first.rule;
        if shown.contains(id) {
            continue;
        }
        shown.push(id);
        writeln!(out, "{} {id}: {text} ({source})", severity.name())?;
        for finding in findings.iter().filter(|finding| finding.rule == first.rule) {
            let instruction = text_of(finding).unwrap_or_default();
            writeln!(out, "  at {:#x}: {instruction}", finding.position)?;
            writeln!(out, "    {}{}", finding.place, finding.values)?;
        }
        writeln!(out, "  {hint}\n")?;
    }
    Ok(())
}

fn as_json(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id,
        "severity": finding.rule.severity.name(),
        "message": finding.rule.text,
        "hint": finding.rule.hint,
        "source": finding.rule.source,
        "offset": finding.position,
        "instruction": text_of(finding),
        "place": finding.place.to_string().trim_end_matches([':', ' ']),
        "values": finding.values,
    })
}

fn rule_json(rule: &Rule) -> Value {
    json!({
        "rule": rule.id,
        "severity": rule.severity.name(),
        "message": rule.text,
        "hint": rule.hint,
        "source": rule.source,
    })
}

fn list(args: &Args) -> Result<Exit, Error> {
    let rules = rules_on(args.r#gen);
    if args.json {
        let all: Vec<Value> = rules.iter().map(|rule| rule_json(rule)).collect();
        stdout(|out| writeln!(out, "{:#}", Value::Array(all)))?;
        return Ok(Exit::Ok);
    }
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    stdout(|out| {
        rules.iter().try_for_each(|rule| {
            writeln!(out, "{:width$}  {:8} {}", rule.id, rule.severity.name(), rule.text)
        })
    })?;
    Ok(Exit::Ok)
}

fn explain(id: &str, json: bool) -> Result<Exit, Error> {
    let all = || [Generation::Gen8, Generation::Gen45].into_iter().flat_map(rules_on);
    let found = all().find(|rule| rule.id == id).ok_or_else(|| {
        let hint = suggest::hint(id, all().map(|rule| rule.id));
        bad_input(format!(
            "there is no rule `{id}`; {}",
            hint.unwrap_or_else(|| "genx eu validate --list lists all rules".into())
        ))
    })?;
    stdout(|out| match json {
        true => writeln!(out, "{:#}", rule_json(found)),
        false => {
            writeln!(out, "{} · {}\n{}", found.id, found.severity.name(), found.text)?;
            writeln!(out, "\nto do:    {}\nsource:   {}", found.hint, found.source)
        }
    })?;
    Ok(Exit::Ok)
}
