//! Reads every spelling into one form.
//!
//! The reader recognises a line by its own form if possible, otherwise by its section. So a file
//! may begin anywhere, lack parts, and contain unknown lines.

use super::data::{Decoder, Trouble};
use super::guc;
use super::lines::{Lines, Notes};
use super::spelling::{self, ENGINE, GLOBAL};
use super::{
    Buffer, BufferKind, Engine, Entry, ErrorState, Line, List, Listed, MAX_BYTES, Process,
    Register, Request, parse,
};
use std::io::BufRead;

/// Largest total number of zero bytes that replace missing lines of the buffers of a file.
const MAX_HOLES: usize = 1 << 20;

/// Size of a page in bytes. Buffers are whole pages, except some of 1, 2 or 3 KiB; others get a
/// note.
const PAGE: usize = 4096;

/// The section that the reader is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Current {
    Header,
    /// Registers of the engine with this index.
    Engine(usize),
    /// Registers of the engine with this index that the GuC captured, in this list.
    Guc(usize, guc::List),
    /// Requests of the engine with this index, and the number of requests still to come.
    Requests(usize, i64),
    /// Waiters of the engine with this index.
    Waiters(usize),
    /// The list with this index, and the number of rows that are still to come.
    List(usize, i64),
    /// Memory of the buffer with this index.
    Buffer(usize),
    /// Outside the sections above.
    Tail,
}

struct Reader {
    state: ErrorState,
    notes: Notes,
    section: Current,
    /// The number of the current line.
    line: u64,
    /// Bytes of memory that may still be stored.
    room: usize,
    holes_room: usize,
    /// The address space of the following lists.
    vm: Option<u32>,
    /// Processes in the header and in first lines of buffers, each with the name of its engine.
    processes: Vec<(String, Process)>,
    engine_seen: bool,
}

impl ErrorState {
    /// Reads an error state. Problems are in [`notes`](Self::notes), including an error that stops
    /// the reader before the end.
    pub fn read(mut input: impl BufRead) -> ErrorState {
        Reader::read(&mut input)
    }
}

impl Reader {
    fn read(input: &mut dyn BufRead) -> ErrorState {
        let mut lines = Lines::new(input);
        let mut reader = Reader {
            state: ErrorState::default(),
            notes: Notes::default(),
            section: Current::Header,
            line: 0,
            room: MAX_BYTES,
            holes_room: MAX_HOLES,
            vm: None,
            processes: Vec::new(),
            engine_seen: false,
        };
        while lines.next() {
            reader.line = lines.number;
            match lines.text.first() {
                Some(b':' | b'~') => reader.data(&mut lines),
                _ => {
                    if lines.has_more() {
                        let text =
                            format_args!("the line is longer than {} bytes", lines.text.len());
                        reader.notes.add(lines.number, text);
                    }
                    let text = String::from_utf8_lossy(&lines.text);
                    reader.line(&text);
                }
            }
        }
        reader.leave();
        lines.finish(&mut reader.notes);
        reader.finish()
    }

    fn note(&mut self, text: std::fmt::Arguments<'_>) {
        self.notes.add(self.line, text);
    }

    /// Deducts `bytes` of text at the current line; see `Notes::text_fits`.
    fn text_fits(&mut self, bytes: usize) -> bool {
        self.notes.text_fits(self.line, bytes)
    }

    /// Index of the engine with this name, which may be an old one. Adds the engine if it is new.
    fn engine(&mut self, name: &str) -> usize {
        let name = spelling::engine_name(name);
        if let Some(at) = self.state.engines.iter().position(|engine| engine.name == name) {
            return at;
        }
        self.state.engines.push(Engine { name: name.to_owned(), ..Engine::default() });
        self.state.engines.len() - 1
    }

    /// Reads a line of memory in base 85.
    fn data(&mut self, lines: &mut Lines<'_>) {
        let at = match self.section {
            Current::Buffer(at) if self.state.buffers[at].data.is_empty() => at,
            _ => {
                self.note(format_args!("memory that no line announces: skipped"));
                return;
            }
        };
        let mut decoder = Decoder::new(lines.text[0] == b':', self.room);
        if decoder.feed(&lines.text[1..]) {
            lines.rest(|piece| decoder.feed(piece));
        }
        let (data, problem) = decoder.finish();
        self.room -= data.len();
        if let Some(Trouble { text, character }) = problem {
            self.notes.add_at(self.line, character + 1, format_args!("{text}"));
        }
        self.state.buffers[at].data = data;
    }

    fn line(&mut self, text: &str) {
        // Pasted text may have spaces at the ends of lines.
        let text = text.trim_end();
        if text.is_empty() || self.memory_row(text) {
            return;
        }
        if let Some(name) = guc::capture_of(text) {
            let at = self.stream(name);
            self.section = Current::Guc(at, guc::List::Engine);
            return;
        }
        if let Some(name) = guc::missing_of(text) {
            self.stream(name);
            return self.of_engine_entry(name, "GuC capture", "missing");
        }
        if let Some(name) = text.strip_suffix(" command stream:") {
            self.stream(name);
            return;
        }
        // Names of processes may contain ` --- `: split at the last one.
        if let Some((name, what)) = text.rsplit_once(" --- ")
            && is_section(what)
        {
            return self.section(name, what);
        }
        if let Some(rest) = text.strip_prefix("Semaphore page = ") {
            return self.buffer(None, BufferKind::Semaphores, rest);
        }
        if text.starts_with("gtt_offset = ") || text.starts_with("ringbuffer = ") {
            return self.section("render ring", text);
        }
        if let Some((pages, _)) =
            text.strip_prefix("gtt_page_sizes = ").and_then(parse::hex_prefixed)
            && let Current::Buffer(at) = self.section
        {
            self.state.buffers[at].page_sizes = Some(pages as u32);
            return;
        }
        if let Some(number) = text.strip_prefix("vm[").and_then(|rest| rest.strip_suffix(']')) {
            self.leave();
            self.vm = number.parse().ok();
            self.section = Current::Tail;
            return;
        }
        if self.list_begins(text) {
            return;
        }
        if let Some((name, value)) = text.trim_start().split_once(" = ")
            && name.starts_with("fence[")
        {
            if let Some((value, _)) = parse::hex(value) {
                self.global(Register::new(name, value));
                return;
            }
            self.note(format_args!("the fence has no number"));
        }
        match self.section {
            Current::Engine(at) if text.starts_with([' ', '\t']) => self.of_engine(at, text),
            Current::Guc(at, list)
                if text.starts_with([' ', '\t']) || text.starts_with("Coverage:") =>
            {
                self.of_capture(at, list, text);
            }
            Current::Requests(at, left) if text.starts_with([' ', '\t']) => {
                self.request(at, left, text)
            }
            Current::Waiters(at) if text.starts_with([' ', '\t']) => self.keep(Some(at), text),
            Current::List(at, left) if text.starts_with([' ', '\t']) => self.listed(at, left, text),
            Current::Buffer(at) if text.starts_with('\t') => {
                let engine = self.state.buffers[at].engine.clone();
                let engine = engine.map(|name| self.engine(&name));
                self.keep(engine, text);
            }
            _ => self.of_device(text),
        }
    }

    /// Stores a line unchanged.
    fn keep(&mut self, engine: Option<usize>, text: &str) {
        if !self.text_fits(text.len()) {
            return;
        }
        let line = Line { number: self.line, text: text.to_owned() };
        match engine {
            Some(at) => self.state.engines[at].other.push(line),
            None => self.state.other.push(line),
        }
    }

    /// Reads a line about the whole device, or an unknown line.
    fn of_device(&mut self, text: &str) {
        if !self.text_fits(text.len()) {
            return;
        }
        if self.section != Current::Header {
            self.leave();
            self.section = Current::Tail;
        }
        let line = text.trim();
        if let Some(rest) = line.strip_prefix(spelling::PROCESSES)
            && let Some((engine, process)) = rest.split_once("): ")
            && let Some(process) = process_of(process)
        {
            self.processes.push((spelling::engine_name(engine).to_owned(), process));
            return;
        }
        let Some((key, value)) = line.split_once(':') else { return self.keep(None, text) };
        let (key, value) = (key.trim_end(), value.trim());
        let name = match key.strip_prefix("GTIER gt ") {
            Some(index) => format!("GTIER[{index}]"),
            None => key.to_owned(),
        };
        let known = spelling::knows(GLOBAL, &name) || name.starts_with("INSTDONE_");
        match numbers(value) {
            Some(register) if known => self.global(Register { name, ..register }),
            _ if known && self.section == Current::Header => {
                self.note(format_args!("the register {name} has no number"));
                self.keep(None, text);
            }
            _ if self.section == Current::Header && !self.engine_seen => {
                self.state.header.push(Entry { key: key.to_owned(), value: value.to_owned() });
            }
            _ => self.keep(None, text),
        }
    }

    fn global(&mut self, register: Register) {
        if self.state.register(&register.name).is_none() {
            self.state.registers.push(register);
        }
    }

    /// Starts the section of an engine, and returns its index.
    fn stream(&mut self, name: &str) -> usize {
        self.leave();
        let at = self.engine(name);
        self.engine_seen = true;
        self.section = Current::Engine(at);
        at
    }

    fn of_engine_entry(&mut self, engine: &str, key: &str, value: &str) {
        let at = self.engine(engine);
        let entry = Entry { key: key.to_owned(), value: value.to_owned() };
        self.state.engines[at].entries.push(entry);
    }

    /// Reads a line in the registers that the GuC captured for an engine.
    fn of_capture(&mut self, at: usize, list: guc::List, text: &str) {
        let Some((name, value)) = text.trim().split_once(':') else {
            return self.keep(Some(at), text);
        };
        let value = value.trim();
        match name {
            "RegListType" => self.section = Current::Guc(at, guc::List::of(value)),
            // Properties of the list, not of the engine.
            "Owner-Id" | "NumRegs" => {}
            _ => {
                let name = guc::name_of(name.trim_end());
                let of_list = list == guc::List::Device && name != "FAULT_REG";
                match numbers(value) {
                    Some(register) if of_list || name.starts_with("SFC_DONE") => {
                        if self.text_fits(text.len()) {
                            self.global(Register { name, ..register });
                        }
                    }
                    _ => self.of_engine(at, &format!("{name}: {value}")),
                }
            }
        }
    }

    /// Reads a line in the section of an engine.
    fn of_engine(&mut self, at: usize, text: &str) {
        if !self.text_fits(text.len()) {
            return;
        }
        let line = text.trim();
        let Some((name, value)) = line.split_once(':') else { return self.keep(Some(at), text) };
        let (name, value) = (name.trim_end(), value.trim());
        if let Some(port) = name.strip_prefix("ELSP[").and_then(|rest| rest.strip_suffix(']')) {
            // Empty ports have an empty line.
            if let Some(request) = request_of(value) {
                self.state.engines[at]
                    .requests
                    .push(Request { port: port.parse().ok(), ..request });
            } else if !value.is_empty() {
                self.keep(Some(at), text);
            }
            return;
        }
        let known = spelling::knows(ENGINE, name);
        let decimal = || parse::decimal(value).and_then(|value| u64::try_from(value).ok());
        let register = match numbers(value) {
            Some(register) if known || value.starts_with("0x") => Some(register),
            None if known => decimal().map(|value| Register::new("", value)),
            _ => None,
        };
        let engine = &mut self.state.engines[at];
        match register {
            Some(register) if engine.register(name).is_none() => {
                engine.registers.push(Register { name: name.to_owned(), ..register });
            }
            Some(_) => self.keep(Some(at), text),
            None if known => {
                self.note(format_args!("the register {name} has no number"));
                self.keep(Some(at), text);
            }
            None => engine.entries.push(Entry { key: name.to_owned(), value: value.to_owned() }),
        }
    }

    /// Reads `NAME --- WHAT`, the first line of a buffer, of requests or of waiters.
    fn section(&mut self, name: &str, what: &str) {
        let (name, process, workaround) = match name.split_once(" (") {
            Some((engine, "w/a)")) => (engine, None, true),
            Some((engine, rest)) => {
                let process = rest.strip_prefix("submitted by ").and_then(process_of);
                (engine, process, false)
            }
            None => (name, None, false),
        };
        let engine = (name.trim() != "global").then(|| spelling::engine_name(name).to_owned());
        if let (Some(process), Some(engine)) = (process, &engine) {
            self.processes.push((engine.clone(), process));
        }
        if let Some((kind, rest)) = what.split_once(" = ") {
            let mut kind = spelling::buffer_kind(kind);
            if workaround && kind == BufferKind::Batch {
                kind = BufferKind::WorkaroundBatch;
            }
            return self.buffer(engine, kind, rest);
        }
        self.leave();
        let at = engine.as_deref().map(|name| self.engine(name));
        let count = what.split_once(' ').map(|(count, what)| (parse::decimal(count), what));
        match (at, count) {
            (Some(at), Some((Some(count), "requests"))) => {
                self.section = Current::Requests(at, count)
            }
            (Some(at), Some((_, what))) if what.starts_with("waiters") => {
                self.section = Current::Waiters(at);
                self.keep(
                    Some(at),
                    &format!("{name} --- {}", what_of(what, count.and_then(|(count, _)| count))),
                );
            }
            _ => {
                self.section = Current::Tail;
                self.keep(None, &format!("{name} --- {what}"));
            }
        }
    }

    /// Starts a buffer. `rest` is the buffer's first line from the address on.
    fn buffer(&mut self, engine: Option<String>, kind: BufferKind, rest: &str) {
        self.leave();
        if !self.text_fits(rest.len()) {
            self.section = Current::Tail;
            return;
        }
        let address = match parse::address(rest) {
            Some((address, _)) => address,
            None => {
                self.note(format_args!("the {} has no address", kind.name()));
                0
            }
        };
        if let Some(engine) = &engine {
            self.engine(engine);
        }
        let line = self.line;
        self.state.buffers.push(Buffer { engine, kind, address, line, ..Buffer::default() });
        self.section = Current::Buffer(self.state.buffers.len() - 1);
    }

    /// Reads a line of memory as numbers: `OFFSET :  VALUE`, or `[OFFSET] VALUE VALUE VALUE VALUE`.
    /// Returns false if the line has another form.
    fn memory_row(&mut self, text: &str) -> bool {
        let row = memory_row(text);
        let Some((offset, dwords, count)) = row else { return false };
        let Current::Buffer(at) = self.section else {
            self.note(format_args!("memory that no line announces: skipped"));
            return true;
        };
        let length = self.state.buffers[at].data.len();
        let Some(end) = offset.checked_add(4 * count) else { return true };
        if offset > length {
            self.note(format_args!(
                "{} bytes of the buffer are missing before this line",
                offset - length
            ));
            match self.holes_room.checked_sub(offset - length) {
                Some(room) => self.holes_room = room,
                None => return true,
            }
        } else if offset < length {
            self.note(format_args!("this line repeats earlier memory: the later values are used"));
        }
        let grown = end.saturating_sub(length);
        if grown > self.room {
            self.note(format_args!("skipped: there is too much memory in the file"));
            return true;
        }
        self.room -= grown;
        let data = &mut self.state.buffers[at].data;
        if end > length {
            data.resize(end, 0);
        }
        for (section, dword) in data[offset..end].chunks_exact_mut(4).zip(dwords) {
            section.copy_from_slice(&dword.to_le_bytes());
        }
        true
    }

    /// Reads the first line of a list: `Active (rcs0) [3]:`, `Pinned [0]:`. Returns false if the
    /// line has another form.
    fn list_begins(&mut self, text: &str) -> bool {
        // Linux 3.14 to 4.8 indents lists below their address space.
        let Some((name, count)) =
            text.trim_start().strip_suffix("]:").and_then(|rest| rest.rsplit_once(" ["))
        else {
            return false;
        };
        let Some(count) = parse::decimal(count) else { return false };
        if !name.starts_with("Active") && !name.starts_with("Pinned") {
            return false;
        }
        self.leave();
        if self.text_fits(name.len()) {
            let name = match name.strip_prefix("Active (").and_then(|rest| rest.strip_suffix(')')) {
                Some(engines) => {
                    let engines: Vec<&str> =
                        engines.split(", ").map(spelling::engine_name).collect();
                    format!("Active ({})", engines.join(", "))
                }
                None => name.to_owned(),
            };
            self.state.lists.push(List { name, vm: self.vm, rows: Vec::new() });
            self.section = Current::List(self.state.lists.len() - 1, count);
        }
        true
    }

    fn listed(&mut self, at: usize, left: i64, text: &str) {
        if !self.text_fits(text.len()) {
            return;
        }
        let row = text.trim();
        let parsed = parse::halves(row).and_then(|(address, rest)| {
            let rest = rest.trim_start();
            let (size, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            Some(Listed { address, size: size.parse().ok()?, rest: rest.to_owned() })
        });
        match parsed {
            Some(row) => {
                self.section = Current::List(at, left - 1);
                self.state.lists[at].rows.push(row);
            }
            None => self.of_device(text),
        }
    }

    fn request(&mut self, at: usize, left: i64, text: &str) {
        if !self.text_fits(text.len()) {
            return;
        }
        match request_of(text.trim()) {
            Some(request) => {
                self.section = Current::Requests(at, left - 1);
                self.state.engines[at].requests.push(request);
            }
            None => self.keep(Some(at), text),
        }
    }

    /// Ends the section; adds a note if it is incomplete.
    fn leave(&mut self) {
        match self.section {
            Current::Buffer(at) => {
                let buffer = &self.state.buffers[at];
                let (line, length) = (buffer.line, buffer.data.len());
                let name = buffer.kind.name();
                if length == 0 {
                    self.notes.add(line, format_args!("the {name} has no memory in the file"));
                } else if length % PAGE != 0 && !matches!(length, 0x400 | 0x800 | 0xc00) {
                    let text = format_args!("the {name} ends inside a page, with {length} bytes");
                    self.notes.add(line, text);
                }
            }
            Current::List(at, left) if left > 0 => {
                let name = self.state.lists[at].name.clone();
                self.note(format_args!("the list {name} lacks {left} buffers"));
            }
            Current::Requests(at, left) if left > 0 => {
                let name = self.state.engines[at].name.clone();
                self.note(format_args!("{left} requests of {name} are missing"));
            }
            _ => {}
        }
        self.section = Current::Tail;
    }

    fn finish(mut self) -> ErrorState {
        for (engine, process) in std::mem::take(&mut self.processes) {
            let at = self.engine(&engine);
            let engine = &mut self.state.engines[at];
            match &mut engine.process {
                // The header and the first line of a buffer may name the same process: merge the
                // details of both lines.
                Some(known) if known.name == process.name && known.pid == process.pid => {
                    known.context = process.context.or(known.context);
                    known.score = process.score.or(known.score);
                }
                Some(_) => {}
                none => *none = Some(process),
            }
        }
        self.state.engines.iter_mut().for_each(guc::join_halves);
        guc::join_fault(&mut self.state.registers);
        self.instdone();
        let state = &mut self.state;
        if state.engines.is_empty() && state.buffers.is_empty() {
            let said =
                state.header.iter().chain(std::iter::once(&Entry::default())).next().cloned();
            let none = state
                .other
                .iter()
                .any(|line| line.text.to_lowercase().contains("no error state collected"));
            let text = match said {
                _ if none => "the driver had no error state",
                _ => "the file speaks of no engine and no memory",
            };
            self.notes.add(self.line, format_args!("{text}"));
        }
        self.state.notes = self.notes.finish(self.line);
        self.state
    }

    /// Renames INSTDONE_0 to INSTDONE_3 to their present names, and moves those of the device to
    /// the render engine. For other engines, only INSTDONE_0 is renamed, and zero values of the
    /// rest are dropped. Does nothing before Gen7, where these names mean other registers.
    fn instdone(&mut self) {
        if self.state.platform().is_some_and(|platform| platform.generation < 70) {
            return;
        }
        // These registers are printed for each engine until Linux 3.12, and once for the device
        // from 3.13 to 4.8.
        for engine in &mut self.state.engines {
            let render = engine.id() == Some(crate::engine::EngineId::Render);
            let known: Vec<String> =
                engine.registers.iter().map(|register| register.name.clone()).collect();
            engine.registers.retain_mut(|register| {
                let Some(index) = instdone_index(&register.name) else { return true };
                if index > 0 && !render {
                    return register.value != 0;
                }
                let name = spelling::INSTDONE[index];
                let fresh = !known.iter().any(|known| known == name);
                name.clone_into(&mut register.name);
                fresh
            });
        }
        let Some(at) = self.state.engines.iter().position(|engine| engine.name == "rcs0") else {
            return;
        };
        let engine = &mut self.state.engines[at];
        self.state.registers.retain(|register| {
            let Some(index) = instdone_index(&register.name) else { return true };
            let name = spelling::INSTDONE[index];
            match engine.value(name) {
                Some(value) => value != register.value,
                None => {
                    // Insert the register where present kernels print it.
                    let previous = engine
                        .registers
                        .iter()
                        .rposition(|register| register.name.contains("INSTDONE"));
                    let ipehr =
                        engine.registers.iter().position(|register| register.name == "IPEHR");
                    let at = previous.or(ipehr).map_or(engine.registers.len(), |at| at + 1);
                    engine.registers.insert(at, Register::new(name, register.value));
                    false
                }
            }
        });
    }
}

/// True if `what` can follow the name of an engine and ` --- ` in the first line of a section.
fn is_section(what: &str) -> bool {
    let buffer = what.split_once(" = ").is_some_and(|(_, rest)| rest.starts_with("0x"));
    let counted = what
        .split_once(' ')
        .is_some_and(|(_, what)| what == "requests" || what.starts_with("waiters"));
    buffer || counted
}

fn what_of(what: &str, count: Option<i64>) -> String {
    count.map_or_else(|| format!("? {what}"), |count| format!("{count} {what}"))
}

/// The index, 0 to 3, of INSTDONE_0 to INSTDONE_3.
fn instdone_index(name: &str) -> Option<usize> {
    let index = name.strip_prefix("INSTDONE_")?;
    (index.len() == 1)
        .then(|| index.parse().ok())
        .flatten()
        .filter(|index| *index < spelling::INSTDONE.len())
}

/// Parses the numbers with `0x` in a register's value, such as `0x00000001 [0x00000002]`, into a
/// register without a name.
fn numbers(value: &str) -> Option<Register> {
    let mut rest = value;
    let mut found = Vec::new();
    while let Some(at) = rest.find("0x") {
        let (number, after) = parse::address(&rest[at..])?;
        found.push(number);
        rest = after;
    }
    let mut found = found.into_iter();
    let value = found.next()?;
    Some(Register { name: String::new(), value, more: found.collect() })
}

/// Parses a line of memory: its offset, its dwords, and the number of dwords.
fn memory_row(text: &str) -> Option<(usize, [u32; 4], usize)> {
    let dword = |text: &str| u32::from_str_radix(text, 16).ok();
    if let Some((offset, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        let offset = usize::from_str_radix(offset, 16).ok()?;
        let mut dwords = [0; 4];
        let mut count = 0;
        for word in rest.split_ascii_whitespace() {
            *dwords.get_mut(count)? = dword(word)?;
            count += 1;
        }
        return (count > 0).then_some((offset, dwords, count));
    }
    let (offset, value) = text.split_once(" : ")?;
    if offset.len() != 8 {
        return None;
    }
    Some((dword(offset)? as usize, [dword(value.trim())?, 0, 0, 0], 1))
}

/// Parses a process, up to the parenthesis that closes the list: `NAME [PID], ctx 1 [2], score 0)`.
fn process_of(text: &str) -> Option<Process> {
    let (name, pid, rest) = parse::process(text)?;
    let context = rest.find("ctx ").and_then(|at| {
        let rest = &rest[at..];
        Some((parse::number_behind(rest, "ctx ")?, parse::number_behind(rest, "[")?))
    });
    Some(Process {
        name: name.to_owned(),
        pid,
        context,
        score: parse::number_behind(rest, "score "),
    })
}

/// Parses a request:
/// `pid 1, ban score 0, seqno 5:0000001f, prio 0, emitted 12ms ago, head 00000000, tail 00000060`,
/// or in old kernels `seqno 0x00000012, emitted 4294967, tail 0x00000060`.
fn request_of(text: &str) -> Option<Request> {
    let mut request = Request::default();
    let mut any = false;
    for part in text.split(", ") {
        let hex = |text: &str| {
            let text = text.trim();
            u32::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
        };
        let (key, value) = match part.strip_prefix("ban score ") {
            Some(value) => ("ban score", value),
            None => part.trim().split_once(' ').unwrap_or((part, "")),
        };
        match key {
            "pid" => request.pid = Some(parse::decimal(value)?),
            "seqno" => {
                let (context, seqno) = match value.split_once(':') {
                    Some((context, seqno)) => (Some(hex(context)?), seqno),
                    None => (None, value),
                };
                let end = seqno.find(['!', '+']).unwrap_or(seqno.len());
                (request.context, request.seqno) = (context, hex(&seqno[..end])?);
                any = true;
                if end < seqno.len() {
                    request
                        .more
                        .push(Entry { key: "flags".into(), value: seqno[end..].to_owned() });
                }
            }
            "head" => request.head = Some(hex(value)?),
            "tail" => request.tail = Some(hex(value)?),
            "prio" => request.priority = Some(parse::decimal(value)?),
            _ => request.more.push(Entry { key: key.to_owned(), value: value.trim().to_owned() }),
        }
    }
    any.then_some(request)
}
