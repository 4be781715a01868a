//! Everything of an error state apart from its memory, as lines of text.

use super::{Entry, ErrorState, List, Process, Register, Request, field_of};

/// Largest number of rows that are printed of a list.
const MAX_ROWS: usize = 1000;

impl ErrorState {
    /// The header, the registers with decoded fences, the requests, and the lists of buffers, as
    /// lines of text.
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let section = |lines: &mut Vec<String>, title: &str, rows: Vec<String>| {
            if !rows.is_empty() {
                lines.push(format!("{title}:"));
                lines.extend(rows.into_iter().map(|row| format!("  {row}")));
            }
        };
        section(&mut lines, "header", self.header.iter().map(entry).collect());
        let (fences, registers): (Vec<_>, Vec<_>) =
            self.registers.iter().partition(|it| it.name.starts_with("fence["));
        section(&mut lines, "registers", registers.into_iter().map(register).collect());
        let fences = self.fences().into_iter().zip(fences);
        let fences = fences.map(|(fence, it)| format!("{fence} ({:#018x})", it.value));
        section(&mut lines, "fences", fences.collect());
        for engine in &self.engines {
            let process = engine.process.iter().map(process);
            let rows = process.chain(engine.registers.iter().map(register));
            let entries = engine.entries.iter().map(entry);
            let requests = engine.requests.iter().map(request);
            let other = engine.other.iter().map(|line| line.text.trim().to_owned());
            let rows = rows.chain(entries).chain(requests).chain(other).collect();
            section(&mut lines, &engine.name, rows);
        }
        for list in &self.lists {
            section(&mut lines, &list_title(list), list_rows(list));
        }
        let other = self.other.iter().map(|line| line.text.trim().to_owned());
        section(&mut lines, "other lines", other.collect());
        lines
    }
}

fn entry(entry: &Entry) -> String {
    format!("{}: {}", entry.key, entry.value)
}

fn process(process: &Process) -> String {
    let Process { name, pid, score, .. } = process;
    let score = score.map(|score| format!(", score {score}")).unwrap_or_default();
    format!("process: {name} [{pid}]{score}")
}

fn register(register: &Register) -> String {
    let Register { name, value, more } = register;
    let more: Vec<String> = more.iter().map(|value| format!("{value:#010x}")).collect();
    let mut text = format!("{name}: {value:#010x}");
    if !more.is_empty() {
        text.push_str(&format!(" [{}]", more.join(", ")));
    }
    let field = |field| field_of(name, field, *value);
    if name == "HEAD"
        && let (Some(offset), Some(wraps)) = (field("HEAD_ADDR"), field("HEAD_WRAP_COUNT"))
    {
        text.push_str(&format!(", offset {offset:#x}, {wraps} wraps"));
    }
    text
}

fn request(request: &Request) -> String {
    let Request { port, pid, context, seqno, head, tail, priority, more } = request;
    let mut parts = Vec::new();
    parts.push(match context {
        Some(context) => format!("request {context:x}:{seqno:#x}"),
        None => format!("request {seqno:#x}"),
    });
    parts.extend(port.map(|port| format!("port {port}")));
    parts.extend(pid.map(|pid| format!("process {pid}")));
    parts.extend(priority.map(|priority| format!("priority {priority}")));
    parts.extend(head.map(|head| format!("head {head:#x}")));
    parts.extend(tail.map(|tail| format!("tail {tail:#x}")));
    parts.extend(more.iter().map(|entry| format!("{} {}", entry.key, entry.value)));
    parts.join(", ")
}

fn list_title(list: &List) -> String {
    let count = list.rows.len();
    let vm = list.vm.map(|vm| format!(" of address space {vm}")).unwrap_or_default();
    format!("list {}{vm}, {count} buffers without their bytes", list.name)
}

fn list_rows(list: &List) -> Vec<String> {
    let mut rows: Vec<String> = list
        .rows
        .iter()
        .take(MAX_ROWS)
        .map(|row| format!("{:#012x} {:>9} bytes {}", row.address, row.size, row.rest))
        .collect();
    if let Some(more) = list.rows.len().checked_sub(MAX_ROWS).filter(|more| *more > 0) {
        rows.push(format!("{more} more"));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_memory() {
        let text = "Time: 1 s 2 us\nPCI ID: 0x2a42\nEIR: 0x00000001\n  fence[0] = 1f5700001f4800d\n\
                    render command stream:\n  HEAD: 0x062058cc [0x00005870]\n  waiting: yes\n\
                    Active [1]:\n  02540000     4096 0050 dirty\n\
                    render ring --- 1 requests\n  seqno 0x00000012, emitted 7, tail 0x00000060\n";
        let lines = ErrorState::read(text.as_bytes()).details();
        for line in [
            "  Time: 1 s 2 us",
            "  EIR: 0x00000001",
            // Oracle: intel_error_decode: x-tiled, pitch: 512, start: 0x01f48000, size: 65536.
            "  fence[0]: 0x1f48000 to 0x1f58000, 65536 bytes, tiling X, pitch 512 \
             (0x01f5700001f4800d)",
            "rcs0:",
            // Oracle: intel_error_decode of this value: head = 0x000058cc, wraps = 49.
            "  HEAD: 0x062058cc [0x00005870], offset 0x58cc, 49 wraps",
            "  waiting: yes",
            "  request 0x12, tail 0x60, emitted 7",
            "list Active, 1 buffers without their bytes:",
            "  0x0002540000      4096 bytes 0050 dirty",
        ] {
            assert!(lines.iter().any(|it| it == line), "{line}: {lines:#?}");
        }
    }
}
