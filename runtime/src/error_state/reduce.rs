//! Reduces an error state to the data that a spelling can express, in the order of that spelling.

use super::spelling::{self, ENGINE, ENTRIES, Form, GLOBAL, HEADER, Row};
use super::{Engine, ErrorState, Register, Request, Spelling};
use crate::engine::EngineId;

impl ErrorState {
    /// Returns the state as kernels of this spelling print it, in their order, and a list of the
    /// data that they do not print. Writing and reading the reduced state gives the same state.
    ///
    /// Old kernels printed less memory, but no memory is left out except empty buffers and buffers
    /// of engines that are not in `engines`. Addresses and values keep all their digits.
    pub fn reduced(&self, spelling: Spelling) -> (ErrorState, Vec<String>) {
        let mut left_out = Vec::new();
        let mut state = ErrorState { other: self.other.clone(), ..ErrorState::default() };
        self.reduce_header(spelling, &mut state, &mut left_out);
        for engine in &self.engines {
            state.engines.push(reduce_engine(engine, spelling, &mut left_out));
        }
        state.registers = reduce_registers(&self.registers, GLOBAL, spelling, "", &mut left_out);
        self.reduce_buffers(spelling, &mut state, &mut left_out);
        if spelling < Spelling::Linux6_1 {
            state.lists.clone_from(&self.lists);
            if spelling >= Spelling::Linux4_10 || spelling < Spelling::Linux3_14 {
                state.lists.iter_mut().for_each(|list| list.vm = None);
            }
        } else {
            left_out.extend(self.lists.iter().map(|list| format!("the list {}", list.name)));
        }
        (state, left_out)
    }

    fn reduce_header(
        &self,
        spelling: Spelling,
        state: &mut ErrorState,
        left_out: &mut Vec<String>,
    ) {
        for (key, since, until) in HEADER {
            if (*since..=*until).contains(&spelling) {
                state.header.extend(self.header.iter().filter(|entry| entry.key == *key).cloned());
            }
        }
        for entry in &self.header {
            if !HEADER.iter().any(|(key, ..)| *key == entry.key) {
                state.header.push(entry.clone());
            } else if !state.header.contains(entry) {
                left_out.push(format!("the line {}: {}", entry.key, entry.value));
            }
        }
    }

    fn reduce_buffers(
        &self,
        spelling: Spelling,
        state: &mut ErrorState,
        left_out: &mut Vec<String>,
    ) {
        let known = |name: &String| self.engines.iter().any(|engine| engine.name == *name);
        let of_engines = self.engines.iter().flat_map(|engine| self.buffers_of(&engine.name));
        let global = self.buffers.iter().filter(|buffer| buffer.engine.is_none());
        for buffer in of_engines.chain(global) {
            let mut buffer = buffer.clone();
            if buffer.data.is_empty() {
                left_out.push(format!(
                    "the {} at {:#x}, which is empty",
                    buffer.kind.name(),
                    buffer.address
                ));
                continue;
            }
            // Files contain whole dwords.
            buffer.data.resize(buffer.data.len().next_multiple_of(4), 0);
            if !spelling.is_grouped() {
                buffer.page_sizes = None;
            }
            if buffer.kind == super::BufferKind::Semaphores && spelling.is_hex() {
                buffer.engine = None;
            }
            state.buffers.push(buffer);
        }
        state.buffers.sort_by_key(|buffer| buffer.engine.is_none());
        for buffer in &self.buffers {
            if let Some(name) = buffer.engine.as_ref().filter(|name| !known(name)) {
                left_out.push(format!(
                    "the {} of {name}, which is not among the engines",
                    buffer.kind.name()
                ));
            }
        }
    }
}

fn reduce_engine(engine: &Engine, spelling: Spelling, left_out: &mut Vec<String>) -> Engine {
    let name = &engine.name;
    let mut process = engine.process.clone();
    match &mut process {
        Some(process) if spelling < Spelling::Linux3_14 => {
            left_out.push(format!("the process {} [{}] of {name}", process.name, process.pid));
        }
        Some(process) if !(Spelling::Linux4_10..Spelling::Linux6_1).contains(&spelling) => {
            // These spellings print neither the context nor the score.
            (process.context, process.score) = (None, None);
        }
        _ => {}
    }
    if spelling < Spelling::Linux3_14 {
        process = None;
    }
    let mut entries: Vec<_> = Vec::new();
    for (key, since, until) in ENTRIES {
        let here = engine.entries.iter().filter(|entry| entry.key == *key);
        match (*since..=*until).contains(&spelling) {
            true => entries.extend(here.cloned()),
            false => left_out
                .extend(here.map(|entry| format!("{}: {} of {name}", entry.key, entry.value))),
        }
    }
    let strange = |key: &str| !ENTRIES.iter().any(|(known, ..)| *known == key);
    entries.extend(engine.entries.iter().filter(|entry| strange(&entry.key)).cloned());
    let mut requests = Vec::new();
    let (ported, listed): (Vec<_>, Vec<_>) =
        engine.requests.iter().partition(|request| request.port.is_some());
    for request in ported.into_iter().chain(listed) {
        let printed = match request.port {
            Some(_) => spelling >= Spelling::Linux4_10,
            None => spelling < Spelling::Linux6_1,
        };
        match printed {
            true => requests.push(reduce_request(request, spelling)),
            false => left_out.push(format!("the request {:#x} of {name}", request.seqno)),
        }
    }
    let registers = reduce_registers(&engine.registers, ENGINE, spelling, name, left_out);
    Engine {
        name: name.clone(),
        process,
        registers,
        entries,
        requests,
        other: engine.other.clone(),
    }
}

fn reduce_request(request: &Request, spelling: Spelling) -> Request {
    let mut request = request.clone();
    if spelling < Spelling::Linux4_10 {
        request = Request {
            seqno: request.seqno,
            tail: request.tail,
            more: request.more,
            ..Request::default()
        };
    } else if spelling < Spelling::Linux5_4 {
        request.priority = None;
    }
    // Flags directly follow the sequence number.
    let flags = request.more.iter().position(|entry| entry.key == "flags");
    if let Some(at) = flags {
        let flags = request.more.remove(at);
        request.more.insert(0, flags);
    }
    request
}

fn reduce_registers(
    registers: &[Register],
    table: &[Row],
    spelling: Spelling,
    engine: &str,
    left_out: &mut Vec<String>,
) -> Vec<Register> {
    let mut kept: Vec<(usize, Register)> = Vec::new();
    for register in registers {
        let mut register = register.clone();
        let place = match spelling::row(table, &register.name, spelling) {
            Some((place, row)) => {
                match row.1 {
                    Form::Bracket if spelling < Spelling::Linux4_10 => register.more.clear(),
                    Form::Synced if spelling > Spelling::Linux4_10 => register.more.clear(),
                    _ => {}
                }
                place
            }
            // Early kernels print INSTDONE_0 to INSTDONE_3, which the reader renames.
            None if was_numbered(&register.name, engine, spelling) => {
                table.iter().position(|row| row.0 == "INSTDONE").unwrap_or(0)
            }
            None if spelling::knows(table, &register.name) => {
                left_out
                    .push(format!("the register {} {engine}", register.name).trim_end().to_owned());
                continue;
            }
            // A register that is in no table is printed in every spelling.
            None => table.len(),
        };
        kept.push((place, register));
    }
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, register)| register).collect()
}

/// True if kernels of this spelling print the register as one of INSTDONE_0 to INSTDONE_3.
pub(super) fn was_numbered(name: &str, engine: &str, spelling: Spelling) -> bool {
    let index = spelling::INSTDONE.iter().position(|other| *other == name);
    match index {
        Some(0) => spelling == Spelling::Linux3_10,
        Some(_) => spelling.is_hex() && spelling::engine_id(engine) == Some(EngineId::Render),
        None => false,
    }
}
