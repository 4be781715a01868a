//! `genx check`: checks a dump against the programming restrictions of the manual.

use crate::generation::Gpu;
use crate::input::{Raw, read_bytes, readable, report};
use crate::output::{Error, Exit, bad_input, stdout};
use crate::sarif;
use genxml::check::{self, Finding, Level, Line, Quote, Rules, Summary};
use genxml::core::reflect::{Container, Field, Type};
use genxml::core::rule::Severity;
use genxml_codegen::suggest;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Check a dump against the programming restrictions of the manual.
///
/// A violated restriction is a finding. These are checked: every packet; every structure that
/// packets point to; every instruction of the kernels that packets point to; and the descriptor of
/// a message if it is in the instruction. The rules of a packet or structure can also use earlier
/// packets and the ways in which kernels access a surface. The rules FIELD-* are about single
/// fields: ranges, bits that must be zero or one, reserved bits, and values other than 0 that have
/// no name.
///
/// If a rule needs information that the dump does not have, it gives no finding. Headers and
/// payloads of messages are in registers, which a dump does not have. So the rules of the
/// structures MH_*, MHC_* and MACD_* never give a finding, although --list prints them.
///
/// --rules adds rules of your own from an XML file; see below. A container is a packet, structure,
/// register, EU instruction or message. The `rule` elements are those of the project's files
/// spec-xml/gen8/*.xml, and spec-xml/SCHEMA.md describes the language of their conditions. --allow,
/// --warn, --deny, --list and --explain apply to these rules too.
///
/// Dumps of G45 are checked with the rules of G45, without their kernels. --gen g45 also selects
/// these rules for --list and --explain.
///
/// If a file is truncated or damaged, the part before the damage is checked.
///
/// Exit code: 0 no rule of severity error is violated, 1 such a rule is violated, 2 unusable input,
/// an input without any work, or the dump is truncated or damaged.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx check captures/gpgpu_fill
  genx check captures/gpgpu_fill --json | jq -r '.findings[].rule'
  genx check saxpy.aub.xz --format sarif > saxpy.sarif
  genx check captures/gpgpu_fill --allow 'MSF-*' --deny IDD-GROUP-SIZE
  genx check captures/gpgpu_fill --rules ours.xml
  genx check batch.bin --raw --engine render
  genx check kernel.bin --kernel
  genx check --explain RSS-MS-2D

A file of rules:
  <rules>
    <container name=\"3DSTATE_RASTER\">
      <rule id=\"OURS-CULL\" severity=\"warning\" source=\"our driver's guide\"
            require=\"[Cull Mode] != CULLMODE_NONE\" message=\"the driver culls in every draw\"/>
    </container>
  </rules>")]
pub struct Args {
    /// The dump, of any kind that `genx decode` reads, or - for standard input. With --raw, a file
    /// of dwords; with --kernel, a file of instructions
    #[arg(required_unless_present_any = ["explain", "list"])]
    input: Option<PathBuf>,
    /// Print a rule: its text and source, and the fields that it uses
    #[arg(long, value_name = "ID", conflicts_with_all = ["input", "list"])]
    explain: Option<String>,
    /// Print the id, severity and text of every rule
    #[arg(long, conflicts_with = "input")]
    list: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: OutputFormat,
    /// Print one JSON object instead of text; the same as --format json
    #[arg(long)]
    json: bool,
    /// Do not print the packets around each finding
    #[arg(long)]
    no_quote: bool,
    /// The input contains only the instructions of a kernel. --address is the address of the first
    /// one
    #[arg(long, conflicts_with = "raw")]
    kernel: bool,
    #[command(flatten)]
    raw: Raw,
    #[command(flatten)]
    gpu: Gpu,
    #[command(flatten)]
    levels: Levels,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFormat {
    /// Readable text: each finding with the packets around it, then the number of findings by rule
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for viewers and continuous integration
    Sarif,
}

/// Files of rules, and severities that replace those of the rules.
#[derive(clap::Args, Debug, Default)]
pub struct Levels {
    /// Also check the rules in this file. The option may be given several times
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Ignore a rule. A * at the end of the id selects all rules with this prefix
    #[arg(long, value_name = "ID")]
    allow: Vec<String>,
    /// Treat a rule as a warning
    #[arg(long, value_name = "ID")]
    warn: Vec<String>,
    /// Treat a rule as an error
    #[arg(long, value_name = "ID")]
    deny: Vec<String>,
}

impl Levels {
    /// The rules of Broadwell and those of the files of --rules, with the levels of the options.
    pub fn rules(&self) -> Result<Rules, Error> {
        self.apply(Rules::gen8())
    }

    /// Rules with those of the files and with these levels. If several options name a rule,
    /// --allow overrides --deny, and --deny overrides --warn.
    fn apply(&self, mut rules: Rules) -> Result<Rules, Error> {
        for path in &self.rules {
            add_file(&mut rules, path)?;
        }
        for (ids, level) in
            [(&self.warn, Level::Warn), (&self.deny, Level::Deny), (&self.allow, Level::Allow)]
        {
            for id in ids {
                rules.set(id, level).map_err(|error| unknown(&rules, id, &error))?;
            }
        }
        Ok(rules)
    }
}

/// Adds the rules of a file. An error has a line for each problem: file, line, column.
fn add_file(rules: &mut Rules, path: &Path) -> Result<(), Error> {
    let name = path.display();
    let text = String::from_utf8(read_bytes(path)?)
        .map_err(|_| bad_input(format!("{name}: a file of rules is text in UTF-8")))?;
    match rules.read(&text) {
        Ok(_) => Ok(()),
        Err(error) => {
            let lines = error.problems.iter().map(|problem| format!("{name}:{problem}"));
            Err(bad_input(lines.collect::<Vec<_>>().join("\ngenx: ")))
        }
    }
}

fn unknown(rules: &Rules, id: &str, error: &check::UnknownRule) -> Error {
    let of_fields = Rules::of_fields().iter().chain(Rules::of_draws()).map(|rule| rule.id);
    match suggest::nearest(id, of_fields.chain(rules.all().map(|(_, rule)| rule.id))) {
        Some(nearest) => bad_input(format!("{error}; did you mean `{nearest}`?")),
        None => bad_input(format!("{error}; genx check --list lists them")),
    }
}

/// Maximum number of listed findings. Further findings are only counted.
const MOST: usize = 50_000;

/// The first [`MOST`] findings of a check, and the number of violations of each rule.
#[derive(Default)]
struct Found {
    list: Vec<Finding>,
    left_out: u64,
    /// How often each rule was violated, by id.
    rules: BTreeMap<&'static str, (Severity, u64)>,
}

impl Found {
    fn add(&mut self, finding: &Finding) {
        self.rules.entry(finding.rule.id).or_insert((finding.severity, 0)).1 += 1;
        match self.list.len() < MOST {
            true => self.list.push(finding.clone()),
            false => self.left_out += 1,
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let format = if args.json { OutputFormat::Json } else { args.format };
    if args.input.is_none() && format == OutputFormat::Sarif {
        return Err(bad_input("--format sarif is for findings: use text or json"));
    }
    let json = format == OutputFormat::Json;
    if let Some(id) = &args.explain {
        return explain(&args.levels.apply(args.gpu.named_rules()?)?, id, json);
    }
    let Some(input) = args.input.as_deref().filter(|_| !args.list) else {
        return list(&args.levels.apply(args.gpu.named_rules()?)?, json);
    };
    let mut found = Found::default();
    let mut each = |finding: &Finding| found.add(finding);
    let rules;
    let (summary, cut) = if args.kernel {
        if args.gpu.is_other() {
            return Err(bad_input(
                "--kernel checks kernels of Broadwell; genx eu validate checks those of other GPUs",
            ));
        }
        rules = args.levels.rules()?;
        (check::kernel(args.raw.address(), &read_bytes(input)?, &rules, &mut each), None)
    } else {
        let mut dump = args.raw.open(input)?;
        rules = args.levels.apply(args.gpu.rules(&input.display().to_string(), &dump)?)?;
        let summary = check::dump(&mut dump, &rules, &mut each);
        report(input, &dump);
        readable(input, &dump)?;
        (summary, dump.notes().iter().find(|note| note.cut).map(ToString::to_string))
    };
    stdout(|out| match format {
        OutputFormat::Json => {
            let mut value = as_json(&found.list, &summary);
            value["left_out"] = found.left_out.into();
            value["truncated"] = cut.clone().into();
            value["by_rule"] = found
                .rules
                .iter()
                .map(|(id, (_, count))| ((*id).to_owned(), json!(count)))
                .collect();
            writeln!(out, "{value:#}")
        }
        OutputFormat::Sarif => {
            let log =
                sarif::log(input, &rules, &found.list, &summary, found.left_out, cut.as_deref());
            writeln!(out, "{log:#}")
        }
        OutputFormat::Text => write_text(out, args, &found, &summary, cut.is_some()),
    })?;
    Ok(exit(&summary).max(if cut.is_some() { Exit::BadInput } else { Exit::Ok }))
}

fn write_text(
    out: &mut dyn Write,
    args: &Args,
    found: &Found,
    summary: &Summary,
    cut: bool,
) -> io::Result<()> {
    let mut all = found.list.iter().peekable();
    while let Some(finding) = all.next() {
        write_finding(out, finding)?;
        // Findings of one packet share one quote (the packets around it). It is printed after the
        // last of these findings.
        let next = all.peek().and_then(|next| next.quote.as_ref());
        if let Some(quote) = finding.quote.as_ref().filter(|_| !args.no_quote)
            && next.is_none_or(|next| !Arc::ptr_eq(next, quote))
        {
            write_quote(out, quote)?;
        }
    }
    if found.left_out > 0 {
        writeln!(out, "{} more findings are left out\n", found.left_out)?;
    }
    if found.rules.len() > 1 {
        writeln!(out, "by rule:")?;
        let width = found.rules.keys().map(|id| id.len()).max().unwrap_or(0);
        for (id, (severity, count)) in &found.rules {
            writeln!(out, "  {id:width$}  {:10}  {count:>5}", severity.name())?;
        }
        writeln!(out)?;
    }
    let cut = if cut { "; the rest of the dump is missing and not checked" } else { "" };
    writeln!(out, "{}{cut}", verdict(summary))
}

/// Writes the packets around a finding. The packet that breaks the rule is printed with its fields.
fn write_quote(out: &mut dyn Write, quote: &Quote) -> io::Result<()> {
    let line = |out: &mut dyn Write, mark: char, line: &Line| {
        let Line { address, header, name, length } = line;
        let dwords = if *length == 1 { "dword" } else { "dwords" };
        writeln!(out, "  {mark} {address:#014x}: {header:08x}  {name}  {length} {dwords}")
    };
    quote.before.iter().try_for_each(|before| line(out, ' ', before))?;
    line(out, '>', &quote.packet)?;
    for (path, value) in quote.fields() {
        writeln!(out, "        {path}: {value}")?;
    }
    quote.after.iter().try_for_each(|after| line(out, ' ', after))?;
    writeln!(out)
}

/// The exit code of a check.
pub fn exit(summary: &Summary) -> Exit {
    if summary.errors > 0 { Exit::Differs } else { Exit::Ok }
}

/// Formats the counts of a check (packets, errors, warnings and so on) as one line.
pub fn verdict(summary: &Summary) -> String {
    let count =
        |number: u64, word: &str| format!("{number} {word}{}", if number == 1 { "" } else { "s" });
    let Summary {
        packets,
        unknown,
        kernels,
        instructions,
        unfinished,
        errors,
        warnings,
        workarounds,
        limited,
    } = *summary;
    let mut text = match (packets, kernels) {
        (_, 0) => count(packets, "packet"),
        (0, _) => count(instructions, "instruction"),
        _ => format!(
            "{}, {} of {}",
            count(packets, "packet"),
            count(instructions, "instruction"),
            count(kernels, "kernel")
        ),
    };
    text += &format!(
        ": {}, {}, {}",
        count(errors, "error"),
        count(warnings, "warning"),
        count(workarounds, "missing workaround"),
    );
    if unknown > 0 {
        text.push_str(&format!("; {} unknown and not checked", count(unknown, "packet")));
    }
    if unfinished > 0 {
        text.push_str(&format!(
            "; {} without an end of thread not checked",
            count(unfinished, "kernel")
        ));
    }
    if limited {
        text.push_str("; the rest of a batch that is too long was left out");
    }
    text
}

/// Writes a finding as text: the problem, where it is, and the values that cause it.
pub fn write_finding(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    writeln!(out, "{finding:#}")?;
    if finding.hides_condition() {
        writeln!(out, "  required: see genx check --explain {}", finding.rule.id)?;
    }
    writeln!(out)
}

/// Converts findings and numbers to JSON.
pub fn as_json(findings: &[Finding], summary: &Summary) -> Value {
    let findings: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let operands: Vec<Value> = finding
                .operands
                .iter()
                .map(|operand| json!({"name": operand.name, "value": operand.value, "text": operand.text}))
                .collect();
            json!({
                "rule": finding.rule.id,
                "severity": finding.severity.name(),
                "message": finding.rule.message,
                "source": finding.source(),
                "require": finding.required(),
                "container": finding.container.name,
                "index": finding.index,
                "exec": finding.submission,
                "engine": finding.engine.name(),
                "address": format!("{:#x}", finding.address),
                "batch": format!("{:#x}", finding.batch),
                "packet": {"name": finding.packet.0, "address": format!("{:#x}", finding.packet.1)},
                "kernel": finding.instruction.as_ref().map(|instruction| json!({
                    "address": format!("{:#x}", instruction.kernel),
                    "offset": format!("{:#x}", instruction.offset),
                    "instruction": instruction.text,
                })),
                "operands": operands,
                "around": finding.quote.as_ref().map(|quote| quote_json(quote)),
                "values": finding.validated.as_ref().map(|validated| &validated.values),
                "hint": finding.validated.as_ref().map(|validated| validated.hint),
            })
        })
        .collect();
    json!({
        "findings": findings,
        "packets": summary.packets,
        "unknown": summary.unknown,
        "kernels": summary.kernels,
        "instructions": summary.instructions,
        "unfinished_kernels": summary.unfinished,
        "errors": summary.errors,
        "warnings": summary.warnings,
        "workarounds": summary.workarounds,
        "limited": summary.limited,
    })
}

fn quote_json(quote: &Quote) -> Value {
    let line = |line: &Line| json!({"address": format!("{:#x}", line.address), "name": line.name, "length": line.length});
    json!({
        "before": quote.before.iter().map(line).collect::<Vec<_>>(),
        "dwords": quote.dwords,
        "after": quote.after.as_ref().map(line),
    })
}

fn explain(rules: &Rules, id: &str, json: bool) -> Result<Exit, Error> {
    let general = general().find(|(_, rule)| rule.id == id).map(|(of, rule)| (of, "", rule));
    let found = general.or_else(|| {
        rules.find(id).map(|(container, rule)| (container.name, container.source, rule))
    });
    let (container, source, rule) =
        found.ok_or_else(|| unknown(rules, id, &check::UnknownRule(id.to_owned())))?;
    let is_added = rules.added().any(|(_, added)| added == rule);
    if json {
        let value = rule_json(container, rule);
        stdout(|out| writeln!(out, "{value:#}"))?;
        return Ok(Exit::Ok);
    }
    stdout(|out| {
        writeln!(out, "{} · {} · {}", rule.id, rule.severity.name(), container)?;
        writeln!(out, "{}", rule.message)?;
        writeln!(out, "\nrequired: {}", rule.text)?;
        if let Some(rule) = genxml::eu::validate::rule(rule.id) {
            writeln!(out, "do:       {}", rule.hint)?;
        }
        match if rule.source.is_empty() { source } else { rule.source } {
            "" if container == DRAWS => Ok(()),
            _ if rule.source.is_empty() && is_added => Ok(()),
            "" => {
                writeln!(
                    out,
                    "source:   that of the container; genx spec show prints it with the fields"
                )
            }
            source => writeln!(out, "source:   {source}"),
        }?;
        let Some((container, _)) = rules.find(id) else { return Ok(()) };
        explain_fields(out, container, rule.text)
    })?;
    Ok(Exit::Ok)
}

/// Prints the fields of the container that a condition names: position, meaning, named values. At
/// most [`MOST_VALUES`] values are printed for each field.
fn explain_fields(out: &mut dyn Write, container: &Container, text: &str) -> io::Result<()> {
    const MOST_VALUES: usize = 8;
    let named = |field: &&Field| text.contains(&format!("[{}]", field.name));
    let mut fields = container.fields.iter().filter(named).peekable();
    if fields.peek().is_some() {
        writeln!(out, "\nfields of {}:", container.name)?;
    }
    for field in fields {
        let (dword, low) = (field.start / 32, field.start % 32);
        let high = low + field.end - field.start;
        let bits = if high == low { low.to_string() } else { format!("{high}:{low}") };
        write!(out, "  dw{dword} {bits}  {}", field.name)?;
        if !field.doc.is_empty() {
            write!(out, ": {}", field.doc)?;
        }
        writeln!(out)?;
        let Type::Enum(list) = field.ty else { continue };
        for (value, name) in list.values.iter().take(MOST_VALUES) {
            writeln!(out, "      {value} = {name}")?;
        }
        if list.values.len() > MOST_VALUES {
            let more = list.values.len() - MOST_VALUES;
            writeln!(out, "      and {more} more: genx spec show {}", list.name)?;
        }
    }
    Ok(())
}

fn rule_json(container: &str, rule: &genxml::core::rule::Rule) -> Value {
    json!({
        "rule": rule.id,
        "severity": rule.severity.name(),
        "container": container,
        "message": rule.message,
        "require": rule.text,
        "source": rule.source,
    })
}

/// The text that is printed as the container of rules about single fields.
const EVERY: &str = "every field";

/// The text that is printed as the container of the rule about undefined state.
const DRAWS: &str = "draws and dispatches";

/// The rules that do not belong to a container.
fn general() -> impl Iterator<Item = (&'static str, &'static genxml::core::rule::Rule)> {
    let of_draws = Rules::of_draws().iter().map(|rule| (DRAWS, rule));
    Rules::of_fields().iter().map(|rule| (EVERY, rule)).chain(of_draws)
}

/// All rules with the names of their containers.
fn listed(
    rules: &Rules,
) -> impl Iterator<Item = (&'static str, &'static genxml::core::rule::Rule)> {
    general().chain(rules.all().map(|(container, rule)| (container.name, rule)))
}

fn list(rules: &Rules, json: bool) -> Result<Exit, Error> {
    if json {
        let all: Vec<Value> =
            listed(rules).map(|(container, rule)| rule_json(container, rule)).collect();
        stdout(|out| writeln!(out, "{:#}", Value::Array(all)))?;
        return Ok(Exit::Ok);
    }
    let width = listed(rules).map(|(_, rule)| rule.id.len()).max().unwrap_or(0);
    stdout(|out| {
        listed(rules).try_for_each(|(container, rule)| {
            let (id, severity) = (rule.id, rule.severity.name());
            writeln!(out, "{id:width$}  {severity:10}  {container}: {}", rule.message)
        })
    })?;
    Ok(Exit::Ok)
}
