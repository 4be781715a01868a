//! `genx eu run`: executes a kernel in one thread, without memory and other threads.

use super::debugging::{self, Attention};
use crate::assembly::{Form, generation, read_kernel_on};
use crate::input::{address, read_bytes};
use crate::output::{Error, Exit, bad_input, stdout};
use genxml_eu::Generation;
use genxml_eu::disasm::message_gen45;
use genxml_eu::kernel::Located;
use genxml_eu::message::{self, function_name, lengths_on};
use genxml_sim::Fault;
use genxml_sim::eu::debug::{Alone, Executed, Halt, Location, Session, Write as Written};
use genxml_sim::eu::decode::{Fetched, fetch_on};
use genxml_sim::eu::regions::{FLAGS, GRF_BYTES, MASK0, MRF, MSD0, REGISTER};
use genxml_sim::eu::uop::Type;
use genxml_sim::eu::{Launch, Message, Stop, Thread};
use genxml_sim::inspect::debugger::register::{self as names, type_name, type_of};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

/// Execute a kernel in one thread, without a batch
///
/// There is no memory: messages are printed with their payload, and their responses are zero.
/// General registers that --grf and --grf-file do not set are zero at the start. The run ends after
/// a send with EOT (end of thread), before a breakpoint, after --max instructions, or at a fault.
/// At the end, the registers of --dump are printed; without --dump, all general registers that
/// changed.
///
/// Exit code: 0 the thread ended, reached a breakpoint, or waits for the host's attention (wait n1
/// of the G45); 2 unusable input; 3 a fault, --max was
/// reached, or the thread waits for something that never happens.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx eu run kernel.bin --grf r1=1,2,3,4,5,6,7,8 --dump r2-r3
  genx eu run kernel.asm --simd 8 --grf r4:f=1.5,-2 --trace
  echo 'add (8|M0) r2.0<1>:f r1.0<8;8,1>:f 1.0:f' | genx eu run - --form asm --grf r1:f=1,2 --max 1
  genx eu run kernel.bin --break 0x40 --json | jq .active
  genx eu run kernel.bin --offset 0x80 --mask 0x5
  genx eu run kernel.asm --gen g45 --simd 16 --trace
  genx eu run kernel.asm --gen g45 --break-opcode send:eot --state
  genx eu run kernel.bin --gen g45 --system-routine 0x400 --single-step --clear-attention 9")]
pub struct Args {
    /// The kernel; - for standard input
    file: PathBuf,
    /// Format of the file. Default: by the suffix of its name. Files with the suffix asm, s or iga
    /// are assembly. Files with the suffix hex, expected or txt are hexadecimal text. All others,
    /// and standard input, are binary
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// The GPU of the kernel: broadwell (8) or g45 (4.5)
    #[arg(long, value_name = "GPU", default_value = "8", value_parser = executable)]
    r#gen: Generation,
    /// Byte offset of the first instruction in FILE
    #[arg(long, value_name = "N", value_parser = address, default_value = "0")]
    offset: u64,
    /// Set general registers before the start. rN=VALUES sets dwords from the start of rN; VALUES
    /// are numbers, separated by commas. rN.S:TYPE=VALUES sets elements of TYPE (ub b uw w ud d uq
    /// q hf f df), from element S of rN on. May be repeated
    #[arg(long, value_name = "rN=VALUES")]
    grf: Vec<Load>,
    /// Set general registers from the bytes of a file, from r0 on. --grf changes them afterwards
    #[arg(long, value_name = "FILE")]
    grf_file: Option<PathBuf>,
    /// The channels that the thread starts with, one bit each. Default: all channels of --simd
    #[arg(long, value_parser = address)]
    mask: Option<u64>,
    /// Number of channels of the thread, if --mask is not given. G45 has at most 16
    #[arg(long, value_name = "N", default_value = "32", value_parser = ["1", "8", "16", "32"])]
    simd: String,
    /// Initial value of cr0.0: 0x0001 alternative float mode, 0x0030 rounding mode (not G45),
    /// 0x0004 single program flow
    #[arg(long, value_name = "BITS", value_parser = address, default_value = "0")]
    control: u64,
    /// Initial value of cr0.1, the enabled exceptions: 0x8000 breakpoint, 0x2000 software, 0x1000
    /// illegal opcode, 0x0800 mask stacks (G45)
    #[arg(long, value_name = "BITS", value_parser = address, default_value = "0")]
    exceptions: u64,
    /// Byte offset of the system routine in FILE, for exceptions
    #[arg(long, value_name = "N", value_parser = address)]
    system_routine: Option<u64>,
    /// Maximum number of executed instructions
    #[arg(long, value_name = "N", value_parser = address, default_value = "1000000")]
    max: u64,
    /// Stop before the instruction at this byte offset in FILE; may be repeated
    #[arg(long = "break", value_name = "OFFSET", value_parser = address)]
    breakpoints: Vec<u64>,
    /// Print each instruction with its enabled channels and the values that it wrote
    #[arg(long)]
    trace: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// General registers to print at the end, for example r2 or r2-r5. May be repeated
    #[arg(long, value_name = "rA-rB")]
    dump: Vec<Range>,
    #[command(flatten)]
    debug: debugging::Options,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let code = read_kernel_on(args.r#gen, &args.file, args.form)?;
    let start = i32::try_from(args.offset)
        .ok()
        .filter(|start| (*start as usize) < code.len())
        .ok_or_else(|| {
            bad_input(format!(
                "--offset {:#x}: the kernel has {:#x} bytes",
                args.offset,
                code.len()
            ))
        })?;
    let routine = args.system_routine.is_some();
    args.debug.check(args.r#gen, routine)?;
    let mut launch = launch(args)?;
    args.debug.apply(&mut launch);
    // The thread counts offsets from its first instruction. Printed offsets count from the start of
    // the file.
    let fetch = |offset: i32| {
        let offset = offset.wrapping_add(start);
        args.debug.mark(fetch_on(args.r#gen, &code, offset), offset)
    };
    let mut session = Session::new(&launch, start as u32, fetch);
    for offset in &args.breakpoints {
        session.break_at((*offset as u32).wrapping_sub(start as u32));
    }
    let before = session.thread.regs.grf().to_vec();
    let mut world = Alone::default();
    let mut report = Report { args, code: &code, start: start as u32, trace: Vec::new() };
    let debugging::Run { result, attentions } = if args.trace {
        let mut stopped = Ok(());
        // Lines are printed at once, so that a kernel that does not end shows what it does.
        let mut watch = |executed: &Executed<'_>| {
            if args.json {
                let entry = report.entry(executed);
                report.trace.push(entry);
            } else if stopped.is_ok() {
                stopped = stdout(|out| report.line(out, executed));
            }
        };
        let run = args.debug.run(&mut session, &mut world, args.max, routine, &mut watch);
        stopped?;
        run
    } else {
        args.debug.run(&mut session, &mut world, args.max, routine, &mut ())
    };
    let position = session.position().wrapping_add(start as u32);
    let (stopped, exit) = stopped(&result, args.max, start as u32, report.older());
    let waiting = session.thread.waiting(session.kernel());
    let ended = matches!(result, Ok(Halt::End));
    let end = End {
        thread: &session.thread,
        stopped,
        ended,
        position,
        waiting,
        before: &before,
        world: &world,
        attentions,
    };
    if args.json {
        let value = report.json(&end, &result, exit);
        stdout(|out| writeln!(out, "{value:#}"))?;
    } else {
        stdout(|out| report.text(out, &end))?;
    }
    Ok(exit)
}

fn launch(args: &Args) -> Result<Launch, Error> {
    let bits = |name: &str, value: u64| {
        u32::try_from(value)
            .map_err(|_| bad_input(format!("--{name} {value:#x}: more than 32 bits")))
    };
    let channels: u32 = args.simd.parse().unwrap_or(32);
    let all = u32::MAX >> (32 - channels.clamp(1, 32));
    let mask = args.mask.map_or(Ok(all), |mask| bits("mask", mask))?;
    let groups = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111;
    let mut payload = match &args.grf_file {
        Some(path) => read_bytes(path)?,
        None => Vec::new(),
    };
    if payload.len() > GRF_BYTES {
        return Err(bad_input(format!(
            "--grf-file: {} bytes; 128 registers have {GRF_BYTES}",
            payload.len()
        )));
    }
    payload.resize(GRF_BYTES, 0);
    for load in &args.grf {
        payload[load.first..load.first + load.bytes.len()].copy_from_slice(&load.bytes);
    }
    Ok(Launch {
        generation: args.r#gen,
        dispatch_mask: mask,
        vector_mask: groups * 15,
        control: bits("control", args.control)?,
        exceptions: bits("exceptions", args.exceptions)?,
        system_routine: args
            .system_routine
            .map(|offset| bits("system-routine", offset))
            .transpose()?,
        payload,
        ..Launch::default()
    })
}

/// Parses --gen.
fn executable(text: &str) -> Result<Generation, String> {
    generation(text)
        .ok()
        .filter(|of| matches!(of, Generation::Gen8 | Generation::Gen45))
        .ok_or_else(|| {
            format!("`{text}`: only kernels of broadwell (8) and g45 (4.5) can be executed")
        })
}

/// The result as text, and the exit code.
fn stopped(result: &Result<Halt, Fault>, max: u64, start: u32, older: bool) -> (String, Exit) {
    match result {
        Ok(Halt::Wait(Stop::Notification(1))) if older => {
            ("waits for the host's attention (wait n1; --clear-attention)".into(), Exit::Ok)
        }
        Ok(Halt::End) => ("the thread has ended".into(), Exit::Ok),
        Ok(Halt::Breakpoint(at)) => {
            (format!("breakpoint at +{:#06x}", at.wrapping_add(start)), Exit::Ok)
        }
        Ok(Halt::Limit) => (format!("still running after {max} instructions (--max)"), Exit::Fault),
        Ok(Halt::Wait(Stop::Notification(n))) => {
            (format!("waits for a notification in n0.{n}, which is never sent"), Exit::Fault)
        }
        Ok(Halt::Wait(Stop::Dependency(id))) => (
            format!("sendc waits for the end of thread {id:#x}, which does not exist"),
            Exit::Fault,
        ),
        Ok(Halt::Wait(other)) => (format!("stopped: {other:?}"), Exit::Fault),
        Err(Fault::IllegalInstruction { why, .. }) => {
            (format!("illegal instruction: {why}"), Exit::Fault)
        }
        Err(Fault::Unimplemented { what, page, .. }) => {
            (format!("the model does not implement {what} yet ({page})"), Exit::Fault)
        }
        Err(Fault::Exception { exception, .. }) => {
            (format!("{exception}, but there is no system routine (--system-routine)"), Exit::Fault)
        }
        Err(fault) => (fault.to_string(), Exit::Fault),
    }
}

/// A thread after the run.
struct End<'a> {
    thread: &'a Thread,
    stopped: String,
    /// True if the thread ended with a message that has EOT.
    ended: bool,
    /// Offset in the file of the next instruction.
    position: u32,
    waiting: Vec<(u8, u32)>,
    before: &'a [u8],
    world: &'a Alone,
    attentions: Vec<Attention>,
}

struct Report<'a> {
    args: &'a Args,
    code: &'a [u8],
    start: u32,
    trace: Vec<Value>,
}

impl Report<'_> {
    /// The instruction at an offset in the file, in assembly.
    fn assembly(&self, offset: u32) -> String {
        match fetch_on(self.args.r#gen, self.code, offset as i32) {
            Fetched::Instruction(instruction) => {
                let text =
                    Located { position: offset.into(), instruction: *instruction }.to_string();
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            Fetched::Garbage(why) => format!("// {why}"),
        }
    }

    /// True for a kernel of G45.
    fn older(&self) -> bool {
        self.args.r#gen.has_message_registers()
    }

    /// Writes a line of the trace, and lines with the written values.
    fn line(&self, out: &mut dyn Write, executed: &Executed<'_>) -> io::Result<()> {
        let offset = executed.offset.wrapping_add(self.start);
        writeln!(
            out,
            "instruction +{offset:#06x} {:08x} {}",
            executed.mask,
            self.assembly(offset)
        )?;
        for group in groups(executed.writes) {
            write!(
                out,
                "    {} {}",
                group[0].location.name(group[0].ty.size()),
                type_name(group[0].ty)
            )?;
            for written in group {
                match written.channel {
                    Some(channel) => write!(out, " {channel}:{}", number(written))?,
                    None => write!(out, " {}", number(written))?,
                }
            }
            writeln!(out)?;
        }
        if let Some(message) = executed.message {
            writeln!(out, "    message to {}", self.words(message))?;
        }
        Ok(())
    }

    /// An entry of the trace as JSON.
    fn entry(&self, executed: &Executed<'_>) -> Value {
        let offset = executed.offset.wrapping_add(self.start);
        let writes: Vec<Value> = executed
            .writes
            .iter()
            .map(|written| {
                json!({
                    "register": written.location.name(written.ty.size()),
                    "channel": written.channel,
                    "type": type_name(written.ty),
                    "value": number(written),
                    "bits": format!("{:#x}", written.bits),
                })
            })
            .collect();
        json!({
            "offset": format!("{offset:#x}"),
            "mask": format!("{:#010x}", executed.mask),
            "assembly": self.assembly(offset),
            "writes": writes,
        })
    }

    /// Numbers of the general registers to print at the end.
    fn registers(&self, end: &End<'_>) -> Vec<usize> {
        let grf = end.thread.regs.grf();
        let changed =
            |r: &usize| grf[r * REGISTER..][..REGISTER] != end.before[r * REGISTER..][..REGISTER];
        match self.args.dump[..] {
            [] => (0..128).filter(changed).collect(),
            _ => self.args.dump.iter().flat_map(|range| range.first..=range.last).collect(),
        }
    }

    fn text(&self, out: &mut dyn Write, end: &End<'_>) -> io::Result<()> {
        for (message, payload) in &end.world.messages {
            let at = message.ip.wrapping_add(self.start);
            writeln!(out, "message at +{at:#06x} {:08x} to {}", message.mask, self.words(message))?;
            for (n, register) in payload.chunks(8).enumerate() {
                writeln!(out, "    {}", dwords(message.payload / REGISTER + n, register))?;
            }
        }
        if end.world.messages.iter().any(|(message, _)| self.returns(message) > 0) {
            writeln!(out, "note: there is no memory; the responses of messages are zero")?;
        }
        for Attention { offset, data } in &end.attentions {
            let at = offset.wrapping_add(self.start);
            writeln!(out, "attention at +{at:#06x}, data {}", u8::from(*data))?;
        }
        for register in self.registers(end) {
            let values: [u32; 8] = end.thread.regs.dwords(register * REGISTER);
            writeln!(out, "{}", dwords(register, &values))?;
        }
        for (name, values) in self.args.debug.state(end.thread) {
            writeln!(out, "{name:<5}{}", hexadecimal(&values).join(" "))?;
        }
        let [f0, f1]: [u32; 2] = end.thread.regs.dwords(FLAGS);
        let channels = end.thread.active();
        if self.older() {
            let masks = masks(end.thread).map(|(name, mask)| format!("{name} {mask:04x}"));
            writeln!(out, "f0 {f0:08x}  channels {channels:04x}  {}", masks.join("  "))?;
        } else {
            writeln!(out, "f0 {f0:08x}  f1 {f1:08x}  channels {channels:08x}")?;
        }
        for (channel, offset) in &end.waiting {
            writeln!(out, "channel {channel} waits at +{:#06x}", offset.wrapping_add(self.start))?;
        }
        let at = match end.ended {
            true => String::new(),
            false => format!("; at +{:#06x} {}", end.position, self.assembly(end.position)),
        };
        writeln!(out, "{}: {} instructions{at}", end.stopped, end.thread.executed())
    }

    fn json(&self, end: &End<'_>, result: &Result<Halt, Fault>, exit: Exit) -> Value {
        let registers: serde_json::Map<String, Value> = self
            .registers(end)
            .into_iter()
            .map(|r| {
                let values: [u32; 8] = end.thread.regs.dwords(r * REGISTER);
                (format!("r{r}"), json!(values.map(|value| format!("{value:08x}"))))
            })
            .collect();
        let messages: Vec<Value> = end
            .world
            .messages
            .iter()
            .map(|(message, payload)| {
                json!({
                    "offset": format!("{:#x}", message.ip.wrapping_add(self.start)),
                    "mask": format!("{:#010x}", message.mask),
                    "function": function_name(message.function),
                    "descriptor": format!("{:#010x}", message.descriptor),
                    "text": self.what(message),
                    "end_of_thread": message.eot,
                    "payload": payload.iter().map(|dword| format!("{dword:08x}")).collect::<Vec<_>>(),
                    "registers_returned_as_zero": self.returns(message),
                })
            })
            .collect();
        let [f0, f1]: [u32; 2] = end.thread.regs.dwords(FLAGS);
        let kind = match result {
            Ok(Halt::End) => "end",
            Ok(Halt::Breakpoint(_)) => "breakpoint",
            Ok(Halt::Limit) => "limit",
            Ok(Halt::Wait(Stop::Notification(1))) if self.older() => "attention",
            Ok(Halt::Wait(_)) => "wait",
            Err(_) => "fault",
        };
        let waiting: Vec<Value> = end
            .waiting
            .iter()
            .map(|(channel, at)| json!({ "channel": channel, "offset": format!("{:#x}", at.wrapping_add(self.start)) }))
            .collect();
        let mut value = json!({
            "exit": exit as u8,
            "stopped": kind,
            "text": end.stopped,
            "position": format!("{:#x}", end.position),
            "instructions": end.thread.executed(),
            "active": format!("{:#010x}", end.thread.active()),
            "waiting": waiting,
            "flags": { "f0": format!("{f0:08x}"), "f1": format!("{f1:08x}") },
            "grf": registers,
            "messages": messages,
        });
        if self.older() {
            value["flags"] = json!({ "f0": format!("{f0:08x}") });
            value["masks"] = masks(end.thread)
                .into_iter()
                .map(|(name, mask)| (name.to_owned(), Value::from(format!("{mask:04x}"))))
                .collect();
            value["attentions"] = end
                .attentions
                .iter()
                .map(|it| {
                    let at = it.offset.wrapping_add(self.start);
                    json!({ "offset": format!("{at:#x}"), "data": it.data })
                })
                .collect();
            let state = self.args.debug.state(end.thread);
            if !state.is_empty() {
                value["state"] = state
                    .into_iter()
                    .map(|(name, values)| (name.to_owned(), json!(hexadecimal(&values))))
                    .collect();
            }
        }
        if self.args.trace {
            value["trace"] = Value::Array(self.trace.clone());
        }
        value
    }

    fn returns(&self, message: &Message) -> u64 {
        match message.response {
            Some(_) => lengths_on(self.args.r#gen, message.descriptor).1,
            None => 0,
        }
    }

    /// Describes a message.
    fn what(&self, message: &Message) -> String {
        match self.older() {
            true => message_gen45(message.descriptor),
            false => message::words(message.function, message.descriptor).to_string(),
        }
    }

    /// Formats receiver, descriptor and description: `hdc.dc1 0x040a8000 (media block write)`. Adds
    /// `, end of thread` if the message ends the thread.
    fn words(&self, message: &Message) -> String {
        let (what, name) = (self.what(message), function_name(message.function));
        let mut text = format!("{name} {:#010x} ({what})", message.descriptor);
        if message.eot {
            text.push_str(", end of thread");
        }
        text
    }
}

/// The masks of a thread of G45, and the depths of its stacks.
fn masks(thread: &Thread) -> [(&'static str, u16); 6] {
    let word = |at: usize| thread.regs.u16(at);
    [
        ("amask", word(MASK0)),
        ("imask", word(MASK0 + 2)),
        ("lmask", word(MASK0 + 4)),
        ("cmask", word(MASK0 + 6)),
        ("istack", word(MSD0)),
        ("lstack", word(MSD0 + 2)),
    ]
}

/// Groups consecutive elements of one register and type, to print each group in one line.
fn groups(writes: &[Written]) -> impl Iterator<Item = &[Written]> {
    let register = |written: &Written| match written.location {
        Location::File(at) => (false, usize::from(at) / REGISTER),
        Location::Accumulator(at) => (true, usize::from(at) / REGISTER),
    };
    writes.chunk_by(move |a, b| a.ty == b.ty && register(a) == register(b))
}

fn hexadecimal(values: &[u32]) -> Vec<String> {
    values.iter().map(|value| format!("{value:08x}")).collect()
}

fn dwords(register: usize, values: &[u32]) -> String {
    let values = hexadecimal(values);
    // Registers after r127 are message registers of G45.
    let name = match register.checked_sub(MRF / REGISTER) {
        Some(register) => format!("m{register}"),
        None => format!("r{register}"),
    };
    format!("{name:<5}{}", values.join(" "))
}

/// The value of an element as text.
fn number(written: &Written) -> String {
    names::number(written.ty, written.bits)
}

/// Bytes that one `--grf` sets, from byte `first` of the general registers on.
#[derive(Clone, Debug)]
struct Load {
    first: usize,
    bytes: Vec<u8>,
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Load, String> {
        let form = || format!("`{text}`: write it as r1=1,2 or r1.4:uw=1,2");
        let (place, values) = text.split_once('=').ok_or_else(form)?;
        let (place, ty) = place.split_once(':').unwrap_or((place, "ud"));
        let ty = type_of(ty)?;
        let size = ty.size();
        let (number, element) = place.split_once('.').unwrap_or((place, "0"));
        let element: usize = element.parse().map_err(|_| form())?;
        let first = register(number)? * REGISTER + element.checked_mul(size).ok_or_else(form)?;
        let mut bytes = Vec::new();
        for value in values.split(',') {
            let bits = element_bits(value.trim(), ty)?;
            bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
        }
        if first + bytes.len() > GRF_BYTES {
            return Err("the values do not fit: the last register is r127".into());
        }
        Ok(Load { first, bytes })
    }
}

/// The bit pattern of a value of type `ty`, which `text` gives.
fn element_bits(text: &str, ty: Type) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let (negative, plain) = match digits.strip_prefix('-') {
        Some(plain) => (true, plain),
        None => (false, digits.as_str()),
    };
    let hexadecimal = plain.strip_prefix("0x").or(plain.strip_prefix("0X"));
    // Parse a float in decimal. A float in hexadecimal is given by its bits, so it is parsed below
    // like an integer.
    if let (None, Type::F | Type::Df) = (hexadecimal, ty) {
        let bad = |_| format!("`{text}` is not a number");
        return Ok(match ty {
            Type::F => digits.parse::<f32>().map_err(bad)?.to_bits().into(),
            _ => digits.parse::<f64>().map_err(bad)?.to_bits(),
        });
    }
    if let (None, Type::Hf) = (hexadecimal, ty) {
        return Err(format!("`{text}`: half floats are given by their bits, 0x3c00 for 1.0"));
    }
    let magnitude = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => plain.parse(),
    };
    let magnitude = i128::from(magnitude.map_err(|_| {
        format!("`{text}` is not an integer; for other types, write the type as in r2:f=1.5")
    })?);
    let value = if negative { -magnitude } else { magnitude };
    let bits = 8 * ty.size() as u32;
    if value >= 1i128 << bits || value < -(1i128 << (bits - 1)) {
        return Err(format!("`{text}` does not fit {}", type_name(ty)));
    }
    Ok(value as u64)
}

fn register(text: &str) -> Result<usize, String> {
    let number = text.strip_prefix(['r', 'g']).and_then(|number| number.parse().ok());
    number
        .filter(|number| *number < 128)
        .ok_or_else(|| format!("`{text}` is not a register; use r0 to r127"))
}

/// Registers of `--dump`.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: usize,
    last: usize,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (register(first)?, register(last)?);
        if first > last {
            return Err(format!("{text}: the first register comes after the last"));
        }
        Ok(Range { first, last })
    }
}
