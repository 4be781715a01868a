//! Writes error states as kernels print them.

use super::data;
use super::reduce::was_numbered;
use super::spelling::{self, ENGINE, Form, GLOBAL, HEADER, PROCESSES};
use super::{Buffer, BufferKind, Engine, Entry, ErrorState, Process, Register, Request, Spelling};
use std::io::{self, Write};

/// Writes a state in a spelling, and returns a list of the data that the spelling cannot express;
/// see [`ErrorState::reduced`]. Tools of that time and later can read the text: intel-gpu-tools'
/// `intel_error_decode` reads all spellings, Mesa's `aubinator_error_decode` the spellings that
/// print memory in base 85. (Mesa's tool reads at most 1024 buffers, 256 in old versions.)
///
/// # Errors
/// If `out` cannot be written.
pub fn write(
    state: &ErrorState,
    spelling: Spelling,
    out: &mut dyn Write,
) -> io::Result<Vec<String>> {
    let (state, left_out) = state.reduced(spelling);
    let mut writer =
        Writer { state: &state, spelling, out: io::BufWriter::with_capacity(1 << 16, out) };
    writer.all()?;
    writer.out.flush()?;
    Ok(left_out)
}

struct Writer<'a, W: Write> {
    state: &'a ErrorState,
    spelling: Spelling,
    out: W,
}

impl<W: Write> Writer<'_, W> {
    fn all(&mut self) -> io::Result<()> {
        let state = self.state;
        self.header()?;
        self.global_registers()?;
        for engine in &state.engines {
            self.stream(engine)?;
            if self.spelling.is_grouped() {
                state.buffers_of(&engine.name).try_for_each(|buffer| self.buffer(buffer))?;
            }
        }
        self.lists()?;
        for engine in &state.engines {
            if !self.spelling.is_grouped() {
                state.buffers_of(&engine.name).try_for_each(|buffer| self.buffer(buffer))?;
                self.requests(engine)?;
            }
        }
        let global = state.buffers.iter().filter(|buffer| buffer.engine.is_none());
        global.into_iter().try_for_each(|buffer| self.buffer(buffer))?;
        for line in &state.other {
            writeln!(self.out, "{}", line.text)?;
        }
        Ok(())
    }

    fn header(&mut self) -> io::Result<()> {
        let state = self.state;
        let processes = HEADER.iter().position(|(key, ..)| *key == PROCESSES).unwrap_or(0);
        let before = |entry: &&Entry| {
            HEADER.iter().enumerate().any(|(at, (key, since, until))| {
                at < processes && *key == entry.key && (*since..=*until).contains(&self.spelling)
            })
        };
        let (first, rest): (Vec<_>, Vec<_>) = state.header.iter().partition(before);
        for Entry { key, value } in first {
            writeln!(self.out, "{key}: {value}")?;
        }
        for engine in &state.engines {
            if let Some(Process { name, pid, score, .. }) = &engine.process {
                let ring = spelling::stream_name(&engine.name, self.spelling);
                write!(self.out, "{PROCESSES}{ring}): {name} [{pid}]")?;
                match score {
                    Some(score) => writeln!(self.out, ", score {score}")?,
                    None => writeln!(self.out)?,
                }
            }
        }
        for Entry { key, value } in rest {
            writeln!(self.out, "{key}: {value}")?;
        }
        Ok(())
    }

    fn global_registers(&mut self) -> io::Result<()> {
        let state = self.state;
        let numbered = (Spelling::Linux3_14..Spelling::Linux4_10).contains(&self.spelling);
        let mut numbered = numbered.then(|| state.engine("rcs0")).flatten();
        for register in &state.registers {
            let row = spelling::row(GLOBAL, &register.name, self.spelling);
            let follows =
                row.is_none_or(|(_, row)| matches!(row.0, "ERROR" | "FAULT_TLB_DATA" | "DONE_REG"));
            if follows && let Some(engine) = numbered.take() {
                self.numbered(engine)?;
            }
            let Register { name, value, more } = register;
            match (row.map(|(_, row)| row.1), name.strip_prefix("GTIER[")) {
                (Some(Form::Fence), _) => writeln!(self.out, "  {name} = {value:08x}")?,
                (_, Some(index)) if self.spelling.is_hex() => {
                    writeln!(self.out, "GTIER gt {}: {value:#010x}", index.trim_end_matches(']'))?;
                }
                (form, _) => {
                    let indent = if matches!(name.as_str(), "GAM_DONE")
                        || name.contains('[') && form.is_none()
                    {
                        "  "
                    } else {
                        ""
                    };
                    write!(self.out, "{indent}{name}: ")?;
                    self.number(form.unwrap_or(Form::Hex), *value, more)?;
                }
            }
        }
        match numbered {
            Some(engine) => self.numbered(engine),
            None => Ok(()),
        }
    }

    /// Writes INSTDONE_0 to INSTDONE_3 of an engine.
    fn numbered(&mut self, engine: &Engine) -> io::Result<()> {
        for (index, name) in spelling::INSTDONE.iter().enumerate() {
            if let Some(value) = engine.value(name) {
                writeln!(self.out, "  INSTDONE_{index}: {value:#010x}")?;
            }
        }
        Ok(())
    }

    /// Writes the rest of a register's line, after the name: its value and further numbers.
    fn number(&mut self, form: Form, value: u64, more: &[u64]) -> io::Result<()> {
        let out = &mut self.out;
        let (high, low) = (value >> 32, value as u32);
        match form {
            Form::Hex | Form::Fence => write!(out, "{value:#010x}")?,
            Form::Hex16 => write!(out, "{value:#018x}")?,
            Form::Halves => write!(out, "{high:#010x} {low:08x}")?,
            Form::Joined => write!(out, "{high:#010x}_{low:08x}")?,
            Form::Decimal => write!(out, "{value}")?,
            Form::Synced => {
                write!(out, "{value:#010x}")?;
                if let Some(synced) = more.first() {
                    write!(out, " [last synced {synced:#010x}]")?;
                }
                return writeln!(out);
            }
            Form::Range => {
                write!(out, "[{high:#010x}_{low:08x}")?;
                for end in more {
                    write!(out, ", {:#010x}_{:08x}", end >> 32, *end as u32)?;
                }
                return writeln!(out, "]");
            }
            Form::Pair => {
                write!(out, "{value:#010x}")?;
                for number in more {
                    write!(out, " {number:#010x}")?;
                }
                return writeln!(out);
            }
            Form::Bracket => write!(out, "{value:#010x}")?,
        }
        for (index, number) in more.iter().enumerate() {
            write!(out, "{}{number:#010x}", if index == 0 { " [" } else { ", " })?;
        }
        writeln!(out, "{}", if more.is_empty() { "" } else { "]" })
    }

    fn stream(&mut self, engine: &Engine) -> io::Result<()> {
        let spelling = self.spelling;
        writeln!(self.out, "{} command stream:", spelling::stream_name(&engine.name, spelling))?;
        for register in &engine.registers {
            let name = register.name.as_str();
            if was_numbered(name, &engine.name, spelling) {
                // Until Linux 3.12 every engine has INSTDONE_0 to INSTDONE_3. Linux 3.13 to 4.8
                // print them once for the device: see `global_registers`.
                if spelling == Spelling::Linux3_10
                    && let Some(index) = numbered(name)
                {
                    writeln!(self.out, "  INSTDONE_{index}: {:#010x}", register.value)?;
                }
                continue;
            }
            // The spellings from Linux 4.3 on align the values of these registers.
            const ALIGNED: [&str; 11] = [
                "CCID", "START", "HEAD", "TAIL", "CTL", "MODE", "HWS", "ACTHD", "IPEIR", "IPEHR",
                "ESR",
            ];
            let width = if spelling >= Spelling::Linux4_4 && ALIGNED.contains(&name) {
                5 - name.len()
            } else {
                0
            };
            write!(self.out, "  {name}: {:width$}", "")?;
            let form = spelling::row(ENGINE, name, spelling).map_or(Form::Hex, |(_, row)| row.1);
            self.number(form, register.value, &register.more)?;
        }
        for Entry { key, value } in &engine.entries {
            writeln!(self.out, "  {key}: {value}")?;
        }
        for request in &engine.requests {
            if let Some(port) = request.port {
                write!(self.out, "  ELSP[{port}]:  ")?;
                self.request(request)?;
            }
        }
        for line in &engine.other {
            writeln!(self.out, "{}", line.text)?;
        }
        Ok(())
    }

    fn requests(&mut self, engine: &Engine) -> io::Result<()> {
        let requests = || engine.requests.iter().filter(|request| request.port.is_none());
        let count = requests().count();
        if count > 0 {
            let name = spelling::section_name(&engine.name, self.spelling);
            writeln!(self.out, "{name} --- {count} requests")?;
        }
        for request in requests() {
            write!(self.out, "  ")?;
            self.request(request)?;
        }
        Ok(())
    }

    fn request(&mut self, request: &Request) -> io::Result<()> {
        let Request { pid, context, seqno, head, tail, priority, more, .. } = request;
        let mut parts = Vec::new();
        let mut more = more.iter().peekable();
        let flags =
            more.next_if(|entry| entry.key == "flags").map_or("", |entry| entry.value.as_str());
        if let Some(pid) = pid {
            parts.push(format!("pid {pid}"));
        }
        parts.push(match context {
            Some(context) => format!("seqno {context:8x}:{seqno:08x}{flags}"),
            None if self.spelling.is_hex() => format!("seqno {seqno:#010x}{flags}"),
            None => format!("seqno {seqno:08x}{flags}"),
        });
        if let Some(priority) = priority {
            parts.push(format!("prio {priority}"));
        }
        for Entry { key, value } in more {
            parts.push(format!("{key} {value}").trim_end().to_owned());
        }
        let hex = |value: u32| match self.spelling.is_hex() {
            true => format!("{value:#010x}"),
            false => format!("{value:08x}"),
        };
        parts.extend(head.map(|head| format!("head {}", hex(head))));
        parts.extend(tail.map(|tail| format!("tail {}", hex(tail))));
        writeln!(self.out, "{}", parts.join(", "))
    }

    fn lists(&mut self) -> io::Result<()> {
        let mut vm = None;
        for list in &self.state.lists {
            if list.vm.is_some() && list.vm != vm {
                vm = list.vm;
                writeln!(self.out, "vm[{}]", vm.unwrap_or(0))?;
            }
            let indent = if list.vm.is_some() { "  " } else { "" };
            writeln!(self.out, "{indent}{} [{}]:", list.name, list.rows.len())?;
            for row in &list.rows {
                match self.spelling.has_halves() {
                    true => write!(
                        self.out,
                        "    {:08x}_{:08x}",
                        row.address >> 32,
                        row.address as u32
                    )?,
                    false => write!(self.out, "  {:08x}", row.address)?,
                }
                writeln!(self.out, " {:8} {}", row.size, row.rest)?;
            }
        }
        Ok(())
    }

    fn buffer(&mut self, buffer: &Buffer) -> io::Result<()> {
        let spelling = self.spelling;
        let Buffer { kind, address, data, .. } = buffer;
        let process =
            buffer.engine.as_deref().and_then(|name| self.state.engine(name)?.process.as_ref());
        let name = buffer
            .engine
            .as_deref()
            .map_or("global", |name| spelling::section_name(name, spelling));
        if *kind == BufferKind::Semaphores && spelling.is_hex() {
            write!(self.out, "Semaphore page = ")?;
        } else {
            write!(self.out, "{name}")?;
            match process {
                Some(Process { name, pid, context, score })
                    if *kind == BufferKind::Batch && !spelling.is_grouped() =>
                {
                    write!(self.out, " (submitted by {name} [{pid}]")?;
                    if let Some((handle, hardware)) = context {
                        write!(self.out, ", ctx {handle} [{hardware}]")?;
                    }
                    if let Some(score) = score {
                        write!(self.out, ", score {score}")?;
                    }
                    write!(self.out, ")")?;
                }
                _ if *kind == BufferKind::WorkaroundBatch && spelling.is_hex() => {
                    write!(self.out, " (w/a)")?
                }
                _ => {}
            }
            write!(self.out, " --- {} = ", spelling::buffer_name(kind, spelling))?;
        }
        // Old kernels print 32 bits of an address. Readers accept two halves in every spelling, so
        // longer addresses are always printed as two halves.
        match spelling.has_halves() || *address > u64::from(u32::MAX) {
            true => writeln!(self.out, "{:#010x} {:08x}", address >> 32, *address as u32)?,
            false => writeln!(self.out, "{address:#010x}")?,
        }
        if let Some(pages) = buffer.page_sizes {
            writeln!(self.out, "gtt_page_sizes = {pages:#010x}")?;
        }
        if spelling.is_hex() {
            return self.rows(kind, data);
        }
        if spelling == Spelling::Linux6_1Plain {
            self.out.write_all(b"~")?;
            data::encode(data, &mut self.out)?;
        } else {
            self.out.write_all(b":")?;
            data::encode(&data::deflate(data), &mut self.out)?;
        }
        self.out.write_all(b"\n")
    }

    /// Writes memory as lines of hexadecimal dwords. Status pages, workarounds of the context,
    /// semaphores, and in the oldest spelling contexts, have four dwords in a line, other memory
    /// has one.
    fn rows(&mut self, kind: &BufferKind, data: &[u8]) -> io::Result<()> {
        let rows_of_four = match kind {
            BufferKind::Status | BufferKind::WorkaroundContext | BufferKind::Semaphores => true,
            BufferKind::Context => self.spelling == Spelling::Linux3_10,
            _ => false,
        };
        let dwords = data.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        for (index, dword) in dwords.enumerate() {
            let offset = 4 * index;
            match (rows_of_four, index % 4) {
                (false, _) => writeln!(self.out, "{offset:08x} :  {dword:08x}")?,
                (true, 0) => write!(self.out, "[{offset:04x}] {dword:08x}")?,
                (true, _) => write!(self.out, " {dword:08x}")?,
            }
            if rows_of_four && (index % 4 == 3 || offset + 4 == data.len()) {
                writeln!(self.out)?;
            }
        }
        Ok(())
    }
}

fn numbered(name: &str) -> Option<usize> {
    spelling::INSTDONE.iter().position(|other| *other == name)
}
