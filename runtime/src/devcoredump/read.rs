//! Reads device coredumps.

use super::{Devcoredump, Missing, Queue, Section};
use crate::error_state::data::{Decoder, Trouble};
use crate::error_state::lines::{Lines, Notes};
use crate::error_state::{
    Buffer, BufferKind, Engine, Entry, Line, MAX_BYTES, Process, Register, parse,
};
use std::io::BufRead;

/// Size of a page.
const PAGE: u64 = 4096;

/// The section that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Current {
    Device,
    Contexts,
    Job,
    Engines,
    Memory,
    /// A section stored as text.
    Other(usize),
}

/// Registers that have different names in xe and in i915: the name in xe, the name in i915.
const REGISTERS: &[(&str, &str)] = &[
    ("RING_START", "START"),
    ("RING_HEAD", "HEAD"),
    ("RING_TAIL", "TAIL"),
    ("RING_CTL", "CTL"),
    ("RING_MI_MODE", "MODE"),
    ("RING_MODE", "GFX_MODE"),
    ("RING_HWS_PGA", "HWS"),
    ("RING_ESR", "ESR"),
    ("RING_INSTDONE", "INSTDONE"),
    ("DMA_FADDR", "FADDR"),
    ("RING_DMA_FADD", "FADDR"),
];

struct Reader {
    dump: Devcoredump,
    notes: Notes,
    section: Current,
    engine: Option<usize>,
    line: u64,
    room: usize,
    /// Name or address, size and line number of the piece of memory whose length was read last,
    /// until its bytes are read.
    announced: Option<(String, u64, u64)>,
}

impl Devcoredump {
    /// Reads a device coredump. Problems are in the notes of [`state`](Self::state).
    pub fn read(mut input: impl BufRead) -> Devcoredump {
        Reader::read(&mut input)
    }
}

impl Reader {
    fn read(input: &mut dyn BufRead) -> Devcoredump {
        let mut lines = Lines::new(input);
        let mut reader = Reader {
            dump: Devcoredump::default(),
            notes: Notes::default(),
            section: Current::Device,
            engine: None,
            line: 0,
            room: MAX_BYTES,
            announced: None,
        };
        while lines.next() {
            reader.line = lines.number;
            if let Some((name, start)) = data_line(&lines.text) {
                reader.data(&mut lines, &name, start);
                continue;
            }
            if lines.has_more() {
                reader.note(format_args!("the line is longer than {} bytes", lines.text.len()));
            }
            let text = String::from_utf8_lossy(&lines.text).into_owned();
            reader.text(&text);
        }
        reader.leave_piece();
        lines.finish(&mut reader.notes);
        reader.finish()
    }
}

/// The name in brackets of a line of bytes, `[HWSP].data: ...`, and the position where the bytes
/// begin.
fn data_line(text: &[u8]) -> Option<(String, usize)> {
    const MARK: &[u8] = b"].data: ";
    // Names are short: an address, or HWSP.
    let start = text.iter().position(|&byte| byte == b'[')?;
    if !text[..start].trim_ascii().is_empty() {
        return None;
    }
    let head = &text[start..text.len().min(start + 64)];
    let end = head.windows(MARK.len()).position(|window| window == MARK)?;
    let name = String::from_utf8_lossy(&head[1..end]).into_owned();
    Some((name, start + end + MARK.len()))
}

impl Reader {
    fn note(&mut self, text: std::fmt::Arguments<'_>) {
        self.notes.add(self.line, text);
    }

    fn text_fits(&mut self, bytes: usize) -> bool {
        self.notes.text_fits(self.line, bytes)
    }

    fn data(&mut self, lines: &mut Lines<'_>, name: &str, start: usize) {
        let announced = self.announced.take().filter(|(other, ..)| other == name);
        if announced.is_none() {
            self.note(format_args!("[{name}] has no length before its bytes"));
        }
        // Logs and messages of the GuC are not memory of programs.
        if matches!(self.section, Current::Other(_))
            && parse::hex(name).is_none_or(|(_, rest)| !rest.is_empty())
        {
            return;
        }
        let mut decoder = Decoder::new(false, self.room);
        if decoder.feed(&lines.text[start..]) {
            lines.rest(|piece| decoder.feed(piece));
        }
        let (mut data, problem) = decoder.finish();
        self.room -= data.len();
        let length = data.len() as u64;
        match (problem, announced) {
            (Some(Trouble { text, character }), _) => {
                let column = start as u64 + character;
                self.notes.add_at(self.line, column, format_args!("[{name}]: {text}"));
            }
            (None, Some((_, size, _))) if size != length => {
                self.note(format_args!(
                    "[{name}] has {length:#x} bytes, its length says {size:#x}"
                ));
                data.truncate(usize::try_from(size).unwrap_or(usize::MAX));
            }
            _ => {}
        }
        let (kind, address) = match name {
            // The status page is directly before the context image.
            "HWSP" => (BufferKind::Status, self.context_page()),
            "HWCTX" => (BufferKind::Context, self.context_page() + PAGE),
            _ => match parse::hex(name) {
                Some((address, "")) => (BufferKind::User, address),
                _ => (BufferKind::Other(name.to_owned()), 0),
            },
        };
        if self.text_fits(name.len()) {
            let engine = match kind {
                BufferKind::User => None,
                _ => self.dump.queues.last().map(|queue| queue.name.clone()),
            };
            let line = self.line;
            self.dump.state.buffers.push(Buffer {
                engine,
                kind,
                address,
                data,
                page_sizes: None,
                line,
            });
        }
    }

    /// Global address of the context of the newest queue, from its last context descriptor; the
    /// lower bits of the descriptor are flags. 0 if the queue has none. The kernel prints the bytes
    /// of a context after the lines of its queue (xe_guc_exec_queue_snapshot_print).
    fn context_page(&self) -> u64 {
        const KEY: &str = "HW Context Desc: ";
        let newest = self.dump.queues.last().into_iter();
        let mut lines = newest.flat_map(|queue| queue.lines.iter().rev());
        let found = lines.find_map(|line| parse::hex_prefixed(line.text.trim().strip_prefix(KEY)?));
        found.map_or(0, |(descriptor, _)| descriptor / PAGE * PAGE)
    }

    /// Adds a note if the length of a piece of memory was printed and its bytes did not follow.
    fn leave_piece(&mut self) {
        if let Some((name, _, line)) = self.announced.take() {
            self.notes.add(line, format_args!("[{name}] has no bytes in the file"));
        }
    }

    fn text(&mut self, text: &str) {
        let line = text.trim();
        if line.is_empty() {
            return;
        }
        if let Some(title) = line.strip_prefix("**** ").and_then(|rest| rest.strip_suffix(" ****"))
        {
            self.leave_piece();
            return self.section(title);
        }
        if !self.text_fits(text.len()) || self.piece(line) {
            return;
        }
        // Some kernels print the queues under the title of the GuC's messages.
        if line.starts_with("GuC ID: ") {
            self.section = Current::Contexts;
        }
        match self.section {
            Current::Device => self.device(line),
            Current::Contexts => self.queue(text),
            Current::Job => self.job(text),
            Current::Engines => self.engine(text),
            // Flags of the address space, from Linux 6.18 on.
            Current::Memory if line.starts_with("VM.") => self.keep(text),
            Current::Memory => {
                self.note(format_args!("not a line about memory: stored unchanged"));
                self.keep(text);
            }
            Current::Other(at) => {
                let number = self.line;
                self.dump.sections[at].lines.push(Line { number, text: text.to_owned() });
            }
        }
    }

    fn keep(&mut self, text: &str) {
        let number = self.line;
        self.dump.state.other.push(Line { number, text: text.to_owned() });
    }

    fn section(&mut self, title: &str) {
        self.engine = None;
        self.section = match title {
            "Xe Device Coredump" => Current::Device,
            "Contexts" => Current::Contexts,
            "Job" => Current::Job,
            "HW Engines" => Current::Engines,
            "VM state" => Current::Memory,
            _ => {
                if !self.text_fits(title.len()) {
                    return;
                }
                self.dump.sections.push(Section { title: title.to_owned(), lines: Vec::new() });
                Current::Other(self.dump.sections.len() - 1)
            }
        };
    }

    /// Reads a line about a piece of memory: `[NAME].length: 0x1000`, `[ADDRESS].error: -14` or
    /// `[ADDRESS].properties: ...`. Returns false without an effect if the line has another form.
    fn piece(&mut self, line: &str) -> bool {
        let Some((name, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]."))
        else {
            return false;
        };
        if let Some(length) = rest.strip_prefix("length: ") {
            self.leave_piece();
            match parse::hex_prefixed(length) {
                Some((size, _)) => self.announced = Some((name.to_owned(), size, self.line)),
                None => self.note(format_args!("the length of [{name}] is not a number")),
            }
            return true;
        }
        if let Some(error) = rest.strip_prefix("error: ") {
            let announced = self.announced.take().filter(|(other, ..)| other == name);
            let address = parse::hex(name).map_or(0, |(address, _)| address);
            let size = announced.map_or(0, |(_, size, _)| size);
            self.note(format_args!("[{name}] was not dumped: error {}", error.trim()));
            self.dump.missing.push(Missing { address, size, error: error.trim().to_owned() });
            return true;
        }
        if let Some(properties) = rest.strip_prefix("properties: ") {
            // A sparse range has no memory.
            if properties.contains("null_sparse") {
                self.announced = None;
            }
            self.keep(line);
            return true;
        }
        false
    }

    fn device(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(':') else { return self.keep(line) };
        let (key, value) = (key.trim(), value.trim());
        // The keys of the GPU's topology repeat; a lookup by name finds the first.
        self.dump.state.header.push(Entry { key: key.to_owned(), value: value.to_owned() });
    }

    fn queue(&mut self, text: &str) {
        let line = text.trim();
        if let Some(id) = line.strip_prefix("GuC ID: ") {
            self.dump
                .queues
                .push(Queue { id: parse::decimal(id).unwrap_or(0), ..Queue::default() });
            return;
        }
        let number = self.line;
        match self.dump.queues.last_mut() {
            Some(queue) => {
                if let Some(name) = line.strip_prefix("Name: ") {
                    queue.name = name.trim().to_owned();
                }
                queue.lines.push(Line { number, text: text.to_owned() });
            }
            None => self.keep(text),
        }
    }

    fn job(&mut self, text: &str) {
        let line = text.trim();
        let batch = line.strip_prefix("batch_addr[").and_then(|rest| rest.split_once("]: "));
        match batch.and_then(|(_, address)| parse::hex_prefixed(address)) {
            Some((address, _)) => self.dump.batches.push(address),
            None => {
                self.note(format_args!("not the address of a batch: stored unchanged"));
                self.keep(text);
            }
        }
    }

    fn engine(&mut self, text: &str) {
        let line = text.trim();
        if let Some((name, _)) = line.split_once(" (physical), logical instance=") {
            self.dump.state.engines.push(Engine { name: name.to_owned(), ..Engine::default() });
            self.engine = Some(self.dump.state.engines.len() - 1);
            return;
        }
        let Some(at) = self.engine else { return self.keep(text) };
        let number = self.line;
        let engine = &mut self.dump.state.engines[at];
        let Some((name, value)) = line.split_once(':') else {
            engine.other.push(Line { number, text: text.to_owned() });
            return;
        };
        let (name, value) = (name.trim(), value.trim());
        match parse::hex_prefixed(value) {
            Some((value, _)) => {
                let known = REGISTERS.iter().find(|(xe, _)| *xe == name);
                let name = known.map_or(name, |(_, i915)| i915);
                // xe gives one index for a subslice, i915 two.
                let name = match name.split_once('[') {
                    Some((stem, index)) if stem.ends_with("INSTDONE") => {
                        format!("{stem}[0][{index}")
                    }
                    _ => name.to_owned(),
                };
                if engine.register(&name).is_none() {
                    engine.registers.push(Register::new(name, value));
                }
            }
            None => engine.entries.push(Entry { key: name.to_owned(), value: value.to_owned() }),
        }
    }

    fn finish(mut self) -> Devcoredump {
        let state = &mut self.dump.state;
        let process = state.entry("Process").filter(|name| *name != "no process").map(|text| {
            // Until Linux 6.12 the line has no process id.
            let (name, pid, _) = parse::process(text).unwrap_or((text, 0, ""));
            Process { name: name.to_owned(), pid, context: None, score: None }
        });
        // Join registers that are printed as two halves.
        for engine in &mut state.engines {
            for (low, high, whole) in [
                ("RING_ACTHD", "RING_ACTHD_UDW", "ACTHD"),
                ("RING_BBADDR", "RING_BBADDR_UDW", "BBADDR"),
                ("RING_DMA_FADD", "RING_DMA_FADD_UDW", "FADDR"),
            ] {
                if let (Some(low), Some(high)) = (engine.value(low), engine.value(high))
                    && engine.register(whole).is_none()
                {
                    engine.registers.push(Register::new(whole, high << 32 | low));
                }
            }
        }
        let name = self.dump.engine().map(|engine| engine.name.clone());
        let state = &mut self.dump.state;
        // The engine that the job ran on is the one that hung: nothing else causes a coredump.
        if let Some(engine) =
            state.engines.iter_mut().find(|engine| Some(&engine.name) == name.as_ref())
        {
            engine.process = process;
            if !self.dump.batches.is_empty() && engine.register("hung").is_none() {
                engine.registers.push(Register::new("hung", 1));
            }
        }
        if state.engines.is_empty() && state.buffers.is_empty() {
            self.notes.add(self.line, format_args!("the file speaks of no engine and no memory"));
        } else if !self.dump.batches.is_empty() && name.is_none() {
            self.notes
                .add(self.line, format_args!("no engine is named: batches cannot be decoded"));
        }
        self.dump.state.notes = self.notes.finish(self.line);
        self.dump
    }
}
