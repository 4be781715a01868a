//! Converts findings to SARIF 2.1.0 (OASIS Static Analysis Results Interchange Format), for viewers
//! and continuous integration.
//!
//! The log has one run with one artifact, the dump. Each finding is a result. It refers to a rule
//! in the tool's list of rules, which has the help text. Its physical location is the dump and the
//! GPU address in it. Its logical locations are the packet and, if the packet only points to it,
//! the structure or instruction; their full names start with the submission.

use genxml::check::{Finding, Rules, Summary};
use genxml::core::rule::Severity;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// The schema that the log follows.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log of a check of the dump at `input` with these rules. `left_out` is the number of findings that are not in
/// `findings`. `cut` says why the dump could not be read to its end; `None` if it was.
pub fn log(
    input: &Path,
    rules: &Rules,
    findings: &[Finding],
    summary: &Summary,
    left_out: u64,
    cut: Option<&str>,
) -> Value {
    let uri = uri(input);
    let mut violated: Vec<Value> = Vec::new();
    let mut indices: HashMap<&str, usize> = HashMap::new();
    let mut results = Vec::new();
    for finding in findings {
        let index = *indices.entry(finding.rule.id).or_insert_with(|| {
            violated.push(rule(finding, rules));
            violated.len() - 1
        });
        results.push(result(finding, index, &uri));
    }
    let mut notes = Vec::new();
    let mut note = |count: u64, text: &str| {
        if count > 0 {
            notes.push(json!({"level": "note", "message": {"text": format!("{count} {text}")}}));
        }
    };
    note(left_out, "more findings are left out");
    note(summary.unknown, "packets are unknown and were not checked");
    note(summary.unfinished, "kernels without an end of thread were not checked");
    note(summary.limited.into(), "or more batches are too long; their rest was left out");
    if let Some(text) = cut {
        notes.push(json!({"level": "error", "message": {"text": text}}));
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "genx check",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": violated,
            }},
            "artifacts": [{"location": {"uri": uri}, "roles": ["analysisTarget"]}],
            "invocations": [
                {"executionSuccessful": cut.is_none(), "toolExecutionNotifications": notes}
            ],
            "results": results,
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Workaround => "note",
    }
}

fn sentence(text: &str) -> Value {
    let mut characters = text.chars();
    let text: String =
        characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect();
    json!({"text": if text.ends_with('.') { text } else { text + "." }})
}

fn rule(finding: &Finding, rules: &Rules) -> Value {
    let rule = finding.rule;
    let is_added = rules.added().any(|(_, added)| added == rule);
    let mut help = format!("Required: {}.", rule.text);
    if let Some(validated) = &finding.validated {
        help += &format!(" Do: {}.", validated.hint);
    }
    match finding.source() {
        "" => {}
        source if is_added => help += &format!(" See {source}."),
        source => help += &format!(" See {source} of Intel's Broadwell manual."),
    }
    help += &format!(" genx check --explain {} prints this, too.", rule.id);
    json!({
        "id": rule.id,
        "shortDescription": sentence(rule.message),
        "fullDescription": sentence(&format!("{}: {}", finding.container.name, rule.message)),
        "help": {"text": help},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"tags": [finding.container.name, rule.severity.name()]},
    })
}

fn result(finding: &Finding, index: usize, uri: &str) -> Value {
    let operands: Vec<String> = finding.operands.iter().map(ToString::to_string).collect();
    let mut text = finding.rule.message.to_owned();
    if !operands.is_empty() {
        text += &format!(": {}", operands.join(", "));
    }
    if let Some(validated) = &finding.validated {
        text += &format!(": {}", validated.values);
    }
    let (packet, at) = finding.packet;
    let submission = match finding.submission {
        Some(number) => format!("exec {number}"),
        None => "batch".to_owned(),
    };
    // From the outermost to the innermost location; each has its own address.
    let mut path = format!("{submission}/{packet}@{at:#x}");
    let mut logical = vec![json!({"name": packet, "kind": "packet", "fullyQualifiedName": path})];
    if packet != finding.container.name || finding.address != at {
        let index = finding.index.map(|index| format!("[{index}]")).unwrap_or_default();
        path += &format!("/{}{index}@{:#x}", finding.container.name, finding.address);
        let kind = if finding.instruction.is_some() { "instruction" } else { "structure" };
        logical.push(
            json!({"name": finding.container.name, "kind": kind, "fullyQualifiedName": path}),
        );
    }
    json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": sentence(&text),
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri, "index": 0},
                "address": {"absoluteAddress": finding.address, "kind": "packet", "name": path},
            },
            "logicalLocations": logical,
        }],
        "properties": {
            "exec": finding.submission,
            "engine": finding.engine.name(),
            "batch": format!("{:#x}", finding.batch),
            "operands": operands,
        },
    })
}

/// A path as a URI reference. Relative paths stay relative, so that a log can be read elsewhere.
fn uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let text = path.to_string_lossy();
    let mut out = String::new();
    for byte in text.bytes() {
        match plain(byte) {
            true => out.push(byte.into()),
            false => out += &format!("%{byte:02X}"),
        }
    }
    if path.is_absolute() { format!("file://{out}") } else { out }
}
