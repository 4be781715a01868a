//! The details of `--stats`: tables by engine, kind of packet, kernel, kind of message and coding
//! standard.

use super::number::counted;
use genxml_sim::inspect::Tally;
use genxml_sim::inspect::tally::CodecCounts;
use genxml_sim::mem::Va;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Maximum number of printed rows of a table; JSON has all rows.
const ROWS: usize = 24;

/// The tables as text. Times are the model's, in its units of work.
pub fn text(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let engines = tally.engines().map(|(engine, counts)| {
        (
            engine.name().to_owned(),
            vec![
                counts.submissions,
                counts.batches,
                counts.packets,
                counts.dispatches,
                counts.clock,
            ],
        )
    });
    let columns = ["submissions", "batches", "packets", "dispatches", "clock"];
    table(out, "engine", &columns, engines.collect())?;
    let packets = tally.packets().into_iter().map(|(engine, name, counts)| {
        (format!("{name} ({})", engine.name()), vec![counts.count, counts.clock])
    });
    table(out, "packet", &["count", "clock"], packets.collect())?;
    let kernels = tally.kernels().into_iter().map(|(address, counts)| {
        let row = vec![counts.dispatches, counts.threads, counts.instructions, counts.messages];
        (Va(address).to_string(), row)
    });
    table(
        out,
        "kernel",
        &["dispatches", "threads", "instructions", "messages"],
        kernels.collect(),
    )?;
    let messages = tally
        .messages()
        .into_iter()
        .map(|(to, words, count)| (format!("{to}: {words}"), vec![count]));
    table(out, "message", &["count"], messages.collect())?;
    let codecs = tally.codecs().map(|(codec, counts)| {
        let CodecCounts { pictures, slices, bytes, macroblocks, concealed } = counts;
        (codec.name().to_owned(), vec![pictures, slices, bytes, macroblocks, concealed])
    });
    let columns = ["pictures", "slices", "bytes", "macroblocks", "concealed"];
    table(out, "codec", &columns, codecs.collect())
}

/// Writes one table; nothing if it has no rows.
fn table(
    out: &mut dyn Write,
    name: &str,
    columns: &[&str],
    rows: Vec<(String, Vec<u64>)>,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let shown = &rows[..rows.len().min(ROWS)];
    let width = shown.iter().map(|(first, _)| first.len()).max().unwrap_or(0).max(name.len());
    write!(out, "\n  {name:<width$}")?;
    for column in columns {
        write!(out, " {column:>14}")?;
    }
    writeln!(out)?;
    for (first, numbers) in shown {
        write!(out, "  {first:<width$}")?;
        for number in numbers {
            write!(out, " {:>14}", counted(*number))?;
        }
        writeln!(out)?;
    }
    if rows.len() > shown.len() {
        writeln!(out, "  and {} more; --json has all", rows.len() - shown.len())?;
    }
    Ok(())
}

/// The tables as JSON.
pub fn json(tally: &Tally) -> Value {
    let engines: Vec<Value> = tally
        .engines()
        .map(|(engine, counts)| {
            json!({
                "engine": engine.name(),
                "submissions": counts.submissions,
                "batches": counts.batches,
                "packets": counts.packets,
                "dispatches": counts.dispatches,
                "clock": counts.clock,
            })
        })
        .collect();
    let packets: Vec<Value> = tally
        .packets()
        .into_iter()
        .map(|(engine, name, counts)| {
            json!({ "engine": engine.name(), "packet": name, "count": counts.count, "clock": counts.clock })
        })
        .collect();
    let kernels: Vec<Value> = tally
        .kernels()
        .into_iter()
        .map(|(address, counts)| {
            json!({
                "address": format!("{address:#x}"),
                "dispatches": counts.dispatches,
                "threads": counts.threads,
                "instructions": counts.instructions,
                "messages": counts.messages,
            })
        })
        .collect();
    let messages: Vec<Value> = tally
        .messages()
        .into_iter()
        .map(|(to, words, count)| json!({ "to": to, "message": words, "count": count }))
        .collect();
    let codecs: Vec<Value> = tally
        .codecs()
        .map(|(codec, counts)| {
            json!({
                "codec": codec.name(),
                "pictures": counts.pictures,
                "slices": counts.slices,
                "bytes": counts.bytes,
                "macroblocks": counts.macroblocks,
                "concealed": counts.concealed,
            })
        })
        .collect();
    let mut value =
        json!({ "engines": engines, "packets": packets, "kernels": kernels, "messages": messages });
    if !codecs.is_empty() {
        value["codecs"] = codecs.into();
    }
    value
}
