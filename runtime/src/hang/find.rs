//! Finds the engines with unfinished work, and collects the information about them.

use super::message;
use super::registers::Registers;
use super::walk::{self, Submissions};
use super::{Hang, Idle, Summary, fault};
use crate::decode::Tables;
use crate::devcoredump::Devcoredump;
use crate::error_state::{Engine, ErrorState, Process};
use crate::submission::Submission;

/// A summary of the engines with unfinished work. Commands and registers are read with `tables`,
/// which should be those of the GPU that hung.
pub fn summary(state: &ErrorState, tables: &Tables) -> Summary {
    of(state, tables, &mut |each| state.submissions(each))
}

/// As [`summary`], for a device coredump.
pub fn of_devcoredump(dump: &Devcoredump, tables: &Tables) -> Summary {
    of(&dump.state, tables, &mut |each| dump.submissions(each))
}

fn of(state: &ErrorState, tables: &Tables, submissions: &mut Submissions<'_>) -> Summary {
    let registers = Registers::new(tables, state);
    let text = |key: &str| state.entry(key).unwrap_or_default().to_owned();
    let message = if text("GPU HANG").is_empty() { text("Reason") } else { text("GPU HANG") };
    let kernel = if text("Kernel").is_empty() { text("kernel") } else { text("Kernel") };
    let mut summary = Summary {
        platform: state.platform(),
        generation: tables.generation(),
        message,
        kernel,
        errors: registers.of_device(state),
        ..Summary::default()
    };
    summary.fault = fault::of_device(registers, state);
    for (index, engine) in state.engines.iter().enumerate() {
        let because = because(state, engine);
        let named = engine.registers.is_empty() && engine.process.is_some();
        if because.is_empty() && !named && !is_at_work(registers, state, engine) {
            let mut units = registers.units(engine);
            units.retain(|units| !units.busy.is_empty());
            summary.idle.push(Idle { engine: engine.name.clone(), units });
            continue;
        }
        let mut hang = Hang {
            engine: engine.name.clone(),
            because,
            process: engine.process.clone().or_else(|| active_context(engine)),
            acthd: engine.value("ACTHD").map(|acthd| acthd & crate::memory::VA_MASK),
            units: registers.units(engine),
            flags: registers.flags(engine),
            fault: fault::of_engine(registers, state, engine),
            ..Hang::default()
        };
        walk::ring(tables, state, engine, &mut hang);
        walk::batches(tables, state, engine, &mut hang, &mut |each| {
            submissions(&mut |submission: &Submission<'_>| match submission.context == index as u32
            {
                true => each(submission),
                false => Ok(()),
            })
        });
        summary.engines.push(hang);
    }
    if state.engines.is_empty() {
        summary.engines.extend(message::culprit(state));
    }
    summary.engines.sort_by_key(|hang| hang.because.is_empty());
    summary
}

/// The process in the line about the active context: `Active context: NAME[PID] prio 0, ...`.
fn active_context(engine: &Engine) -> Option<Process> {
    let line = engine.entry("Active context")?;
    let (start, _) = line.rsplit_once("] ")?;
    let (name, pid) = start.rsplit_once('[')?;
    let (name, pid) = (name.trim_end(), pid.parse().ok()?);
    let process = || Process { name: name.to_owned(), pid, ..Process::default() };
    (!name.is_empty()).then(process)
}

/// The signs that an engine hung.
fn because(state: &ErrorState, engine: &Engine) -> Vec<String> {
    let mut because = Vec::new();
    if engine.value("hung").is_some_and(|hung| hung != 0) {
        because.push("hung: 1".to_owned());
    }
    for (key, start) in
        [("hangcheck", "hung"), ("hangcheck stall", "yes"), ("hangcheck action", "dead")]
    {
        if let Some(value) = engine.entry(key)
            && value.starts_with(start)
        {
            because.push(format!("{key}: {value}"));
        }
    }
    if let Some(context) = engine.entry("Active context")
        && let Some(at) = context.find("guilty ")
        && !context[at + 7..].starts_with('0')
    {
        because.push("its context is guilty".to_owned());
    }
    if message::engine_of(state).as_deref() == Some(&engine.name) {
        because.push("the driver's message names it".to_owned());
    }
    // The file may end before the registers. Then the header names the engines that had work.
    let without_registers = state.engines.iter().all(|engine| engine.registers.is_empty());
    if without_registers && engine.process.is_some() {
        because.push("the file has only its header, which names the engine's process".to_owned());
    }
    because
}

/// True if an engine had work, as far as its registers and buffers show.
fn is_at_work(registers: Registers<'_>, state: &ErrorState, engine: &Engine) -> bool {
    if engine.entry("IDLE?") == Some("yes") {
        return false;
    }
    let field = |register: &str, field| {
        engine
            .value(register)
            .and_then(|value| crate::error_state::field_of(register, field, value))
    };
    let moved = match (field("HEAD", "HEAD_ADDR"), field("TAIL", "TAIL_ADDR")) {
        (Some(head), Some(tail)) => head != tail,
        _ => engine.value("ACTHD").is_some_and(|acthd| acthd != 0),
    };
    let fault = fault::is_valid(registers, engine);
    let batch = state.buffers_of(&engine.name).any(|buffer| !buffer.kind.is_global());
    moved || fault || batch
}
