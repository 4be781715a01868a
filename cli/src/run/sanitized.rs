//! The findings of sanitizers, as text and as JSON.

use crate::output::Exit;
use genxml::core::rule::Severity;
use genxml_sim::inspect::sanitize::{Finding, Sanitizers, Side};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Maximum number of findings that are printed as text. JSON has all.
const MOST: usize = 50;

/// The exit code: an error counts as a difference.
pub fn exit(sanitizers: &Sanitizers) -> Exit {
    let error = |finding: &Finding| finding.rule.severity == Severity::Error;
    match sanitizers.findings().any(|(_, finding)| error(finding)) {
        true => Exit::Differs,
        false => Exit::Ok,
    }
}

/// The number of findings in words: `flush: 2 findings`.
pub fn verdict(sanitizers: &Sanitizers) -> String {
    let of = |name: &str| {
        let count = sanitizers.findings().filter(|(row, _)| row.name == name).count();
        format!("{name}: {count} finding{}", if count == 1 { "" } else { "s" })
    };
    sanitizers.names().map(of).collect::<Vec<_>>().join(", ")
}

/// Writes the findings.
pub fn text(out: &mut dyn Write, sanitizers: &Sanitizers) -> io::Result<()> {
    for (row, finding) in sanitizers.findings().take(MOST) {
        writeln!(out, "{}: {finding}\n", row.name)?;
    }
    match sanitizers.findings().count() {
        count if count > MOST => writeln!(out, "{} more findings\n", count - MOST),
        _ => Ok(()),
    }
}

/// The findings as JSON.
pub fn json(sanitizers: &Sanitizers) -> Value {
    let findings: Vec<Value> = sanitizers
        .findings()
        .map(|(row, finding)| {
            json!({
                "sanitizer": row.name,
                "rule": finding.rule.id,
                "severity": finding.rule.severity.name(),
                "message": finding.rule.message,
                "remedy": finding.rule.remedy,
                "source": finding.rule.source,
                "count": finding.count,
                "first": side(&finding.first),
                "second": side(&finding.second),
            })
        })
        .collect();
    json!({ "sanitizers": sanitizers.names().collect::<Vec<_>>(), "findings": findings })
}

fn side(side: &Side) -> Value {
    let address = |address: u64| format!("{address:#x}");
    let thread = side.at.thread;
    json!({
        "action": side.action,
        "engine": side.at.engine.name(),
        "packet": side.at.packet,
        "address": address(side.at.address),
        "batch": address(side.at.batch),
        "kernel": thread.map(|thread| address(thread.kernel)),
        "ip": thread.map(|thread| thread.ip),
        "thread": side.thread,
        "memory": address(side.address),
        "bytes": side.bytes,
    })
}
