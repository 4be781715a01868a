//! Opens texts: error states, device coredumps, and texts that describe batches.

use super::error::{DumpError, How};
use super::{Content, Dump, Note};
use crate::devcoredump::Devcoredump;
use crate::engine::EngineId;
use crate::error_state::{self, ErrorState, marks};
use crate::pasted::{self, Batches, Piece, Problem, Repaired};
use std::io::{BufRead, BufReader, Read};

/// Reads a clean error state or device coredump.
pub(super) fn read(name: &str, stream: impl Read, mut notes: Vec<Note>) -> Result<Dump, DumpError> {
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    let start = stream.fill_buf().unwrap_or_default();
    let text = String::from_utf8_lossy(start);
    let mark = text.lines().find(|line| marks::is_mark(line));
    if mark.is_none() && !ErrorState::starts_like(start) {
        let what = "a text without the marks of an error state, too long to be searched for others";
        return Err(DumpError::Unknown { path: name.into(), what: what.to_owned() });
    }
    let (content, found) = if mark.is_some_and(marks::is_of_coredump) {
        let dump = Devcoredump::read(stream);
        let found = notes_of(&dump.state, None);
        (Content::Devcoredump(Box::new(dump)), found)
    } else {
        let state = ErrorState::read(stream);
        let found = notes_of(&state, None);
        (Content::ErrorState(Box::new(state)), found)
    };
    // Of a truncated file, `notes` may have the end already. One note is enough.
    let known = notes.iter().any(|note| note.cut);
    notes.extend(found.into_iter().filter(|note| !(known && note.cut)));
    Ok(Dump::of(name, content, notes))
}

/// Opens a text that may be damaged.
pub(super) fn open(
    name: &str,
    input: &[u8],
    how: &How,
    mut notes: Vec<Note>,
) -> Result<Dump, DumpError> {
    let repaired = pasted::repair(input);
    let text = repaired.text.as_str();
    let repairs = repaired.summary().map(Note::new);
    let at = |problem: Problem| {
        let (line, column) = repaired.position(problem.line, problem.column);
        let problem = Problem { line, column, ..problem };
        DumpError::Text { path: name.into(), problem }
    };
    let bytes = text.as_bytes();
    // The start of the dump may be missing.
    let mark = text.lines().find(|line| marks::is_mark(line));
    // The characters beside a hex dump may look like a dump.
    let first = text.lines().find(|line| !line.trim().is_empty());
    let beside = mark.is_some() && first.is_some_and(|line| !marks::is_mark(line));
    if beside && let Some(Ok(memory)) = pasted::memory(text) {
        return of_memory(name, memory, how, notes, repairs);
    }
    let content = if mark.is_some_and(marks::is_of_coredump) {
        let dump = Devcoredump::read(bytes);
        notes.extend(repairs);
        notes.extend(notes_of(&dump.state, Some(&repaired)));
        Content::Devcoredump(Box::new(dump))
    } else if mark.is_some() || ErrorState::starts_like(bytes) {
        let state = ErrorState::read(bytes);
        notes.extend(repairs);
        notes.extend(notes_of(&state, Some(&repaired)));
        Content::ErrorState(Box::new(state))
    } else if let Some(batches) = pasted::batches(text) {
        notes.extend(repairs);
        Content::Text(batches.map_err(at)?)
    } else if let Some(memory) = pasted::memory(text) {
        return of_memory(name, memory.map_err(at)?, how, notes, repairs);
    } else if let Some(bytes) = pasted::encoded(text) {
        let mut dump = Dump::encoded(name, bytes, how)
            .map_err(|error| inside(name, "base64 of another file", &error))?;
        dump.notes.splice(0..0, notes.into_iter().chain(repairs));
        return Ok(dump);
    } else {
        let Problem { line, column, text } = pasted::unknown(text);
        let (line, column) = repaired.position(line, column);
        let what = format!("line {line}, column {column}: {text}");
        return Err(DumpError::Unknown { path: name.into(), what });
    };
    Ok(Dump::of(name, content, notes))
}

/// Opens a hex dump: of a file that can be read, otherwise of commands.
fn of_memory(
    name: &str,
    memory: Vec<Piece>,
    how: &How,
    mut notes: Vec<Note>,
    repairs: Option<Note>,
) -> Result<Dump, DumpError> {
    notes.extend(repairs);
    if let [(0, bytes)] = &memory[..]
        && let Ok(mut dump) = Dump::encoded(name, bytes.clone(), how)
    {
        dump.notes.splice(0..0, notes);
        return Ok(dump);
    }
    let (engine, address) = how.text.unwrap_or((EngineId::Render, 0));
    if how.text.is_none() {
        notes.push(Note::new(format!(
            "the hex dump is decoded as commands of the {engine} engine; --engine selects another"
        )));
    }
    let batches = pasted::memory_as_batches(memory, engine, address);
    Ok(Dump::of(name, Content::Text(batches), notes))
}

/// The batches of a hex dump; `None` if the bytes are not text of a hex dump.
pub(super) fn hex_dump(
    name: &str,
    bytes: &[u8],
    engine: EngineId,
    address: u64,
) -> Result<Option<Batches>, DumpError> {
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    if bytes.len() < 16 || !bytes.iter().all(is_text) {
        return Ok(None);
    }
    let repaired = pasted::repair(bytes);
    match pasted::memory(&repaired.text) {
        None => Ok(None),
        Some(Ok(memory)) => Ok(Some(pasted::memory_as_batches(memory, engine, address))),
        Some(Err(problem)) => {
            let (line, column) = repaired.position(problem.line, problem.column);
            let problem = Problem { line, column, ..problem };
            Err(DumpError::Text { path: name.into(), problem })
        }
    }
}

fn inside(name: &str, outer: &str, error: &DumpError) -> DumpError {
    DumpError::Unknown { path: name.into(), what: format!("{outer} ({error})") }
}

/// The notes of a text reader, with positions in the text before its repair.
fn notes_of(state: &ErrorState, repaired: Option<&Repaired>) -> Vec<Note> {
    let said = state.notes.iter().map(|note| {
        let error_state::Note { line, column, text, cut } = note;
        let (line, column) = match repaired {
            Some(repaired) => repaired.position(*line, *column),
            None => (*line, *column),
        };
        let note = error_state::Note { line, column, ..note.clone() };
        // Data that a person copied can be copied again.
        let todo = if column > 0 { "; attach the file itself instead of its text" } else { "" };
        Note { position: note.position(), text: format!("{text}{todo}"), cut: *cut }
    });
    said.collect()
}
