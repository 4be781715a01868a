//! What is at a stop, as text.

use crate::run::draws;
use genxml::decode::{Decoder, Options, Record, Sink, State, Tables, TextWriter};
use genxml_eu::Generation;
use genxml_eu::syntax::Syntax;
use genxml_sim::eu::regions::{FLAGS, REGISTER};
use genxml_sim::eu::types::Type;
use genxml_sim::inspect::debugger::moment::Moment;
use genxml_sim::inspect::debugger::position::Packet;
use genxml_sim::inspect::debugger::register::{self, Register, type_name};
use genxml_sim::inspect::debugger::{Breakpoints, Reason, Stop, StoppedThread};
use genxml_sim::mem::Va;
use std::fmt::Write;
use std::io;

/// Why and where the debugger stopped.
pub fn stop(stop: &Stop<'_>, syntax: Syntax) -> String {
    let mut text = String::new();
    for reason in &stop.reasons {
        if let Some(reason) = self::reason(reason) {
            text += &format!("{reason}\n");
        }
    }
    text + &here(stop, syntax)
}

/// The reason of a stop; `None` if it needs no words.
pub fn reason(reason: &Reason) -> Option<String> {
    let hexadecimal = |bytes: &Option<Vec<u8>>| match bytes {
        None => "not mapped".to_owned(),
        Some(bytes) => {
            let shown: Vec<String> = bytes.iter().take(32).map(|b| format!("{b:02x}")).collect();
            let more = if bytes.len() > 32 { " ..." } else { "" };
            shown.join(" ") + more
        }
    };
    Some(match reason {
        Reason::Start | Reason::Step => return None,
        Reason::Breakpoint(number) => format!("breakpoint {number}"),
        Reason::Watchpoint { number, old, new } => {
            format!("watchpoint {number}\n  old {}\n  new {}", hexadecimal(old), hexadecimal(new))
        }
        Reason::BadCondition { number, problem } => {
            format!("breakpoint {number}: the condition cannot be evaluated: {problem}")
        }
        Reason::Pause => "paused".to_owned(),
        Reason::Beginning => "this is the beginning; nothing comes before it".to_owned(),
        Reason::Fault(text) => format!("fault: {text}"),
        Reason::End => "the run has ended".to_owned(),
        Reason::Broken(text) => format!("the run has ended: {text}"),
    })
}

/// The position of a stop: the packet, or the thread with its next instruction.
pub fn here(stop: &Stop<'_>, syntax: Syntax) -> String {
    match (&stop.thread, &stop.position.packet) {
        _ if stop.moment == Moment::End => String::new(),
        (Some(thread), _) => format!(
            "{}\n{}\n",
            self::thread(thread, stop),
            instruction(stop, syntax).unwrap_or_else(|problem| problem)
        ),
        (None, Some(packet)) => format!("{}\n", self::packet(packet, stop)),
        (None, None) => String::new(),
    }
}

fn packet(packet: &Packet, stop: &Stop<'_>) -> String {
    let mut text = format!("packet {}: {}", packet.number, packet.at);
    if let Moment::Draw(_) = stop.moment {
        text += &format!(", draw {}", stop.position.draws);
    }
    text
}

/// A thread with its kernel, pixel or group.
pub fn thread(thread: &StoppedThread<'_>, stop: &Stop<'_>) -> String {
    let mut text = thread.id.to_string();
    if stop.position.drawing {
        text += &format!(", draw {}", stop.position.draws);
    }
    if let Some((pixel, channel)) = thread.pixel {
        text += &format!(", pixel {},{} in channel {channel}", pixel.x, pixel.y);
    }
    if let Some([x, y, z]) = thread.group {
        text += &format!(", group {x},{y},{z}");
    }
    text + &format!(", kernel at {}", Va(thread.kernel))
}

/// The next instruction with its offset and its enabled channels.
fn instruction(stop: &Stop<'_>, syntax: Syntax) -> Result<String, String> {
    let thread = stop.stopped_thread()?;
    let text = stop.code()?.text(thread.ip, syntax);
    Ok(format!("=> +{:#06x} {:08x} {text}", thread.ip, thread.mask))
}

/// The frames from the innermost one: thread, draw, packet, batches, submission.
pub fn frames(stop: &Stop<'_>) -> Vec<String> {
    let position = stop.position;
    let mut frames = Vec::new();
    if let Some(thread) = &stop.thread {
        frames.push(format!("+{:#x} in kernel {}, {}", thread.ip, Va(thread.kernel), thread.id));
    }
    if position.drawing {
        frames.push(format!("draw {}", position.draws));
    }
    if let Some(packet) = &position.packet {
        frames.push(format!("packet {}: {}", packet.number, packet.at));
        for (level, batch) in position.batches[packet.at.engine as usize].iter().enumerate().rev() {
            frames.push(format!("batch at {}, level {}", Va(*batch), level + 1));
        }
        let exec = position.exec.map_or_else(String::new, |exec| format!(" (exec {exec})"));
        let engine = packet.at.engine.name();
        frames.push(format!("submission {}{exec} to the {engine} engine", position.submissions));
    }
    frames
}

/// The kernel with the current line marked.
pub fn disassembly(stop: &Stop<'_>, syntax: Syntax) -> Result<String, String> {
    let thread = stop.stopped_thread()?;
    let mut text = String::new();
    for line in stop.code()?.listing(syntax) {
        match line.offset {
            None => text += &format!("{}\n", line.text),
            Some(offset) => {
                let mark = if offset == thread.ip { "=>" } else { "  " };
                let lines = line.text.trim_end().replace('\n', "\n           ");
                text += &format!("{mark} +{offset:#06x} {}\n", lines.trim_start());
            }
        }
    }
    Ok(text)
}

/// The elements of a register, 32 bytes, from element 0 on.
pub fn elements(stop: &Stop<'_>, register: Register, ty: Type) -> Result<Vec<String>, String> {
    let size = ty.size();
    let element = |at| Ok(register::number(ty, stop.element(register, at, ty)?));
    (0..REGISTER).step_by(size).map(element).collect()
}

/// A line with the elements of a register: `r2  f 1.0 2.0 ...`
pub fn register_line(
    stop: &Stop<'_>,
    name: &str,
    register: Register,
    ty: Type,
) -> Result<String, String> {
    let elements = match ty {
        Type::Ud => {
            let dword = |at| Ok(format!("{:08x}", stop.element(register, at, ty)?));
            (0..REGISTER).step_by(4).map(dword).collect::<Result<Vec<_>, String>>()?
        }
        _ => elements(stop, register, ty)?,
    };
    Ok(format!("{name:<5} {} {}\n", type_name(ty), elements.join(" ")))
}

/// The flags: names and values.
pub fn flags(stop: &Stop<'_>) -> Result<Vec<(String, u64)>, String> {
    let flag = |n: usize| {
        let value = stop.element(Register::File(FLAGS), 2 * n, Type::Uw)?;
        Ok((format!("f{}.{}", n / 2, n % 2), value))
    };
    (0..4).map(flag).collect()
}

/// The packet with its fields.
pub fn packet_fields(stop: &Stop<'_>) -> Result<String, String> {
    let packet = stop.position.packet.as_ref().ok_or("there is no packet yet")?;
    let tables = match stop.generation {
        Generation::Gen45 => Tables::gen45(),
        _ => Tables::gen8(),
    };
    let bytes: Vec<u8> = packet.dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let options = Options { follow: false, ..Options::default() };
    let mut text = Vec::new();
    let mut records = Records(TextWriter::new(&mut text, &options));
    let address = packet.at.address;
    let mut decode = || {
        Decoder::new(tables, options.clone()).batch(
            &mut State::default(),
            packet.at.engine,
            &(address, &bytes[..]),
            address,
            bytes.len() as u64,
            &mut records,
        )?;
        records.0.finish()
    };
    decode().map_err(|error| error.to_string())?;
    drop(records);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes records only. Notes are about the batch, and a single packet is not one.
struct Records<W: io::Write>(TextWriter<W>);

impl<W: io::Write> Sink for Records<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.0.record(record)
    }
}

/// The state of the newest draw.
pub fn state(stop: &Stop<'_>) -> Result<String, String> {
    let submission = stop.position.submissions;
    let mut text = Vec::new();
    stop.draw(|drawing, number| draws::write_state(&mut text, drawing, number, submission))?
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Bytes in lines of 16, with addresses.
pub fn bytes(bytes: &[u8], address: u64) -> String {
    let mut text = String::new();
    for (n, line) in bytes.chunks(16).enumerate() {
        let dwords: Vec<String> = line
            .chunks(4)
            .map(|dword| {
                dword.iter().rev().fold(String::new(), |mut text, byte| {
                    // Writing to a string cannot fail.
                    _ = write!(text, "{byte:02x}");
                    text
                })
            })
            .collect();
        text += &format!("{:#010x}: {}\n", address + 16 * n as u64, dwords.join(" "));
    }
    text
}

/// The table of breakpoints.
pub fn breakpoints(breakpoints: &Breakpoints) -> String {
    let mut text = String::new();
    for breakpoint in breakpoints.all() {
        let number = breakpoint.number;
        text += &format!("{number:<3} {}", breakpoint.what);
        if let Some(condition) = &breakpoint.condition {
            text += &format!(" if {condition}");
        }
        if !breakpoint.enabled {
            text += ", disabled";
        }
        if breakpoint.temporary {
            text += ", temporary";
        }
        if breakpoint.ignore > 0 {
            text += &format!(", ignores {} hits", breakpoint.ignore);
        }
        text += &match breakpoint.hits {
            1 => ", 1 hit\n".to_owned(),
            hits => format!(", {hits} hits\n"),
        };
    }
    if text.is_empty() {
        text += "no breakpoints\n";
    }
    text + if breakpoints.faults { "stops at faults\n" } else { "does not stop at faults\n" }
}
