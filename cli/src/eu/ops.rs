//! `genx eu ops`: the instruction table.

use crate::output::{Error, Exit, bad_input, stdout};
use genxml_codegen::suggest;
use genxml_eu::instruction::{AccessMode, MathFunction};
use genxml_eu::ops::{ExecSizes, Format, Modifiers, OPS, Op, Traits};
use genxml_eu::signature::{Signature, math_functions};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Print the table of EU operations: syntax, types, modifiers, restrictions and source
///
/// Exit code: 0 success, 2 there is no operation of this name.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx eu ops
  genx eu ops mul
  genx eu ops --json | jq '.[] | select(.modifiers | index(\"saturate\")) | .name'")]
pub struct Args {
    /// The mnemonic, for example mad: print its whole row. Default: one line for each operation
    name: Option<String>,
    /// Print JSON: an array, or one object
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let Some(name) = &args.name else {
        match args.json {
            true => {
                let all = Value::Array(OPS.iter().map(as_json).collect());
                stdout(|out| writeln!(out, "{all:#}"))?;
            }
            false => stdout(|out| {
                writeln!(out, "code  name     summary")?;
                let line = |op: &Op| format!("{:#04x}  {:8} {}", op.code, op.name, op.summary);
                OPS.iter().try_for_each(|op| writeln!(out, "{}", line(op)))
            })?,
        }
        return Ok(Exit::Ok);
    };
    let op =
        OPS.iter().find(|op| op.name.eq_ignore_ascii_case(name)).ok_or_else(|| unknown(name))?;
    match args.json {
        true => stdout(|out| writeln!(out, "{:#}", as_json(op)))?,
        false => stdout(|out| show(out, op))?,
    }
    Ok(Exit::Ok)
}

fn unknown(name: &str) -> Error {
    let hint = suggest::hint(name, OPS.iter().map(|op| op.name));
    bad_input(format!(
        "no operation of Gen8 is called `{name}`; {}",
        hint.unwrap_or_else(|| "genx eu ops lists all operations".into())
    ))
}

/// Writes everything that the table contains about one operation.
fn show(out: &mut dyn Write, op: &Op) -> io::Result<()> {
    writeln!(out, "{} ({:#04x}): {}", op.name, op.code, op.summary)?;
    writeln!(out, "\nsyntax        {}", op.syntax())?;
    let list = |names: Vec<&str>| if names.is_empty() { "none".into() } else { names.join(", ") };
    writeln!(out, "modifiers     {}", list(modifiers(op.modifiers)))?;
    for (index, restriction) in restrictions(op).iter().enumerate() {
        writeln!(out, "{:13} {restriction}", if index == 0 { "restrictions" } else { "" })?;
    }
    write_types(out, "types", op.signatures)?;
    if op.format == Format::Math {
        for function in math_functions() {
            write_types(out, function.name(), function.signatures())?;
        }
    }
    writeln!(out, "source        {}", op.page)
}

fn write_types(out: &mut dyn Write, title: &str, rows: &[Signature]) -> io::Result<()> {
    for (index, row) in rows.iter().enumerate() {
        let row_text = row.to_string();
        writeln!(
            out,
            "{:13} {row_text:44} ({})",
            if index == 0 { title } else { "" },
            row.origin.name()
        )?;
    }
    Ok(())
}

fn modifiers(set: Modifiers) -> Vec<&'static str> {
    let all = [
        (Modifiers::PREDICATE, "predicate"),
        (Modifiers::CONDITION, "condition"),
        (Modifiers::SATURATE, "saturate"),
        (Modifiers::SOURCE, "source"),
    ];
    all.into_iter().filter(|(modifier, _)| set.contains(*modifier)).map(|(_, name)| name).collect()
}

fn restrictions(op: &Op) -> Vec<String> {
    let traits = [
        (Traits::CONDITION_NEEDED, "a condition is required"),
        (Traits::SELECTS, "either a predicate or a condition is required, not both"),
        (Traits::READS_ACCUMULATOR, "reads the accumulator in addition to its sources"),
        (
            Traits::WRITES_ACCUMULATOR,
            "writes the accumulator in addition to its destination: AccWrEn must be set",
        ),
        (Traits::NO_ACCUMULATOR_SOURCE, "no source can be an accumulator"),
        (Traits::NO_ACCUMULATOR_DESTINATION, "the destination cannot be an accumulator"),
        (Traits::LOGIC, "a negated source is its complement"),
        (Traits::NO_MASK_NEEDED, "NoMask should be set"),
    ];
    let found = traits.into_iter().filter(|(set, _)| op.traits.contains(*set));
    let mut texts: Vec<String> = found.map(|(_, text)| text.to_owned()).collect();
    if op.exec_sizes() != ExecSizes::ANY {
        let sizes: Vec<_> = op.exec_sizes().iter().map(|size| size.to_string()).collect();
        texts.push(format!("execution size {}", sizes.join(", ")));
    }
    texts.extend(op.access_mode().map(|mode| format!("{} only", mode_name(mode))));
    texts
}

fn mode_name(mode: AccessMode) -> &'static str {
    match mode {
        AccessMode::Align1 => "Align1",
        AccessMode::Align16 => "Align16",
    }
}

fn types_json(rows: &[Signature]) -> Value {
    let names =
        |set: genxml_eu::signature::TypeSet| set.iter().map(|ty| ty.name()).collect::<Vec<_>>();
    let rows = rows.iter().map(|row| {
        let sources = row.sources.iter().filter(|set| !set.is_empty()).map(|set| names(*set));
        json!({
            "destination": names(row.destination),
            "sources": sources.collect::<Vec<_>>(),
            "one_type": row.one_type,
            "origin": row.origin.name(),
        })
    });
    rows.collect()
}

fn as_json(op: &Op) -> Value {
    let functions = math_functions().filter(|_| op.format == Format::Math);
    let functions: Vec<Value> = functions
        .map(|function: MathFunction| json!({"name": function.name(), "types": types_json(function.signatures())}))
        .collect();
    json!({
        "name": op.name,
        "code": op.code,
        "summary": op.summary,
        "syntax": op.syntax(),
        "sources": op.sources,
        "modifiers": modifiers(op.modifiers),
        "restrictions": restrictions(op),
        "exec_sizes": op.exec_sizes().iter().collect::<Vec<_>>(),
        "access_mode": op.access_mode().map(mode_name),
        "types": types_json(op.signatures),
        "functions": functions,
        "source": op.page,
    })
}
