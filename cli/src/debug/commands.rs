//! The commands of the debugger.

use super::show;
use crate::input::address;
use crate::output::write_picture;
use genxml_eu::syntax::Syntax;
use genxml_sim::eu::regions::{GRF_BYTES, REGISTER};
use genxml_sim::eu::types::Type;
use genxml_sim::inspect::debugger::expression::{Expression, Value};
use genxml_sim::inspect::debugger::register::{Register, register, type_of};
use genxml_sim::inspect::debugger::{Breakpoints, Command, Moment, Stop, What};
use std::path::Path;

/// Maximum number of bytes that a command prints.
const MAX_PRINTED: u64 = 1 << 16;

/// The result of a command.
#[derive(Debug)]
pub enum Outcome {
    /// Text for the user.
    Print(String),
    /// The run continues.
    Resume(Command),
}

type Run = fn(&mut Session, &Call<'_>, &mut Breakpoints) -> Result<Outcome, String>;

/// The words of a command, and where the debugger has stopped.
struct Call<'a> {
    /// The name as typed.
    name: &'a str,
    /// The text after the name.
    text: &'a str,
    words: Vec<&'a str>,
    stop: &'a Stop<'a>,
}

/// A row of the table of commands.
struct Row {
    /// The name, and other names.
    names: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    run: Run,
}

const fn row(
    names: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    run: Run,
) -> Row {
    Row { names, arguments, help, run }
}

/// All commands, in the order of `help`.
const COMMANDS: &[Row] = &[
    row(&["help", "h"], "[COMMAND]", "list the commands, or describe one", help),
    row(&["quit", "q", "exit"], "", "end the debugger", |_, _, _| resume(Command::Quit)),
    row(
        &["break", "b"],
        "WHAT [if EXPRESSION]",
        "stop at WHAT: packet NAME (* for any characters), draw [N], submission [N], pixel X,Y \
         [draw N], group X,Y,Z, kernel [ADDRESS] (its first instruction), *ADDRESS (an \
         instruction), +OFFSET (in this kernel), message [FUNCTION]",
        add,
    ),
    row(&["tbreak"], "WHAT [if EXPRESSION]", "as break; deleted by its first stop", add),
    row(
        &["watch"],
        "ADDRESS [BYTES] [if EXPRESSION]",
        "stop after memory has changed; without BYTES, 4 bytes",
        watch,
    ),
    row(
        &["catch"],
        "fault on|off",
        "stop before a packet or instruction that causes a fault (on at first)",
        catch,
    ),
    row(&["delete", "d"], "[N...]", "delete breakpoints; without a number, all", delete),
    row(&["enable"], "N...", "enable breakpoints", enable),
    row(&["disable"], "N...", "disable breakpoints, without deleting them", enable),
    row(&["ignore"], "N COUNT", "do not stop at the next COUNT hits of breakpoint N", ignore),
    row(
        &["condition"],
        "N [EXPRESSION]",
        "change the condition of breakpoint N, or remove it",
        condition,
    ),
    row(
        &["info"],
        "breakpoints|packet|registers|flags|mask",
        "print breakpoints, the packet with its fields, or registers",
        info,
    ),
    row(&["run", "r", "start"], "", "go back to the first packet", |_, _, _| {
        resume(Command::GoTo(Moment::Packet(1)))
    }),
    row(&["continue", "c"], "", "run to the next breakpoint", |_, _, _| resume(Command::Continue)),
    row(
        &["step", "s", "si", "stepi"],
        "[N]",
        "execute N instructions of this thread; at a packet or draw, go to the next draw, \
         instruction or packet",
        |session, call, _| session.repeat(call, Command::Step),
    ),
    row(
        &["packet", "stepp", "n", "next"],
        "[N]",
        "go to the next packet, N times",
        |session, call, _| session.repeat(call, Command::StepPacket),
    ),
    row(
        &["stept"],
        "[N]",
        "go to the first instruction of the next thread, or to the next packet, N times",
        |session, call, _| session.repeat(call, Command::StepThread),
    ),
    row(
        &["finish", "fin"],
        "",
        "go to the last instruction of this thread, the message that ends it",
        |session, call, _| {
            call.stop.stopped_thread()?;
            session.repeat(call, Command::Finish)
        },
    ),
    row(
        &["reverse-step", "rs", "rsi", "reverse-stepi"],
        "[N]",
        "go back N instructions of this thread; from its first one, to the draw or packet",
        |session, call, _| session.repeat(call, Command::StepBack),
    ),
    row(
        &["reverse-packet", "rp", "rn", "reverse-next"],
        "[N]",
        "go back to the start of this packet, or to the previous packet, N times",
        |session, call, _| session.repeat(call, Command::PacketBack),
    ),
    row(
        &["reverse-continue", "rc"],
        "",
        "go back to the previous stop of a breakpoint",
        |_, _, _| resume(Command::ContinueBack),
    ),
    row(
        &["reverse-finish"],
        "",
        "go back to the first instruction of this thread",
        |_, call, _| {
            let thread = call.stop.stopped_thread()?.id;
            resume(Command::GoTo(Moment::Instruction { thread, executed: 0 }))
        },
    ),
    row(&["goto"], "packet N", "go to packet N, forward or back", goto),
    row(
        &["where", "bt", "backtrace"],
        "",
        "print thread, draw, packet, batches, submission",
        location,
    ),
    row(
        &["disassemble", "disas", "list", "l"],
        "[iga|mesa]",
        "print the kernel with the current instruction marked",
        disassemble,
    ),
    row(
        &["regs", "reg"],
        "[REGISTER[:TYPE]...]",
        "print registers, r2:f or r2-r5:ud; without one, all general registers that are not zero",
        registers,
    ),
    row(&["flags"], "", "print the flag registers", flags),
    row(&["mask"], "", "print the enabled channels of the next instruction", mask),
    row(&["channel"], "[N|auto]", "select the channel of expressions, or print it", channel),
    row(
        &["print", "p"],
        "EXPRESSION",
        "print a value: r12.3:f, r12:f (of the channel), f0.0, [0x1000]:ud, mask, ip, dw1; with \
         the operators of C",
        print,
    ),
    row(
        &["x"],
        "[/COUNTFORMAT] ADDRESS",
        "print memory at a graphics address: /16xw for 16 dwords; formats x d u f c, sizes b h w g",
        examine,
    ),
    row(&["state"], "", "print the state of the newest draw, as genx run --observe draw", state),
    row(
        &["surface"],
        "N|depth|stencil FILE",
        "write render target N, the depth or the stencil buffer of the newest draw as a PNG file",
        surface,
    ),
    row(&["urb"], "[OFFSET [BYTES]]", "print the unified return buffer", buffer),
    row(&["slm"], "[OFFSET [BYTES]]", "print shared local memory of the thread group", buffer),
    row(
        &["dump"],
        "grf FILE | kernel FILE | memory FILE ADDRESS BYTES",
        "write bytes to a file: registers (for genx eu run --grf-file), the kernel (for genx eu \
         run), or memory",
        dump,
    ),
    row(&["set"], "syntax iga|mesa", "select the language of disassembly", set),
];

/// The names of all commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().flat_map(|row| row.names.iter().copied())
}

fn resume(command: Command) -> Result<Outcome, String> {
    Ok(Outcome::Resume(command))
}

fn text(text: impl Into<String>) -> Result<Outcome, String> {
    Ok(Outcome::Print(text.into()))
}

/// Settings, and a command that is repeated.
#[derive(Debug)]
pub struct Session {
    syntax: Syntax,
    channel: Option<u32>,
    /// A command that was given with a number, and how many times it is still to be done.
    repeated: Option<(Command, u64)>,
}

impl Session {
    /// A session that disassembles to `syntax`.
    pub fn new(syntax: Syntax) -> Session {
        Session { syntax, channel: None, repeated: None }
    }

    /// The language of disassembly.
    pub fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// Call at each stop. Returns the command that is repeated, if nothing but a step stopped.
    pub fn arrive(&mut self, stop: &Stop<'_>) -> Option<Command> {
        use genxml_sim::inspect::debugger::Reason;
        let (command, count) = self.repeated.take()?;
        if count == 0 || stop.reasons.iter().any(|reason| *reason != Reason::Step) {
            return None;
        }
        self.repeated = Some((command, count - 1));
        Some(command)
    }

    /// Executes a command line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn execute(
        &mut self,
        line: &str,
        stop: &Stop<'_>,
        breakpoints: &mut Breakpoints,
    ) -> Result<Outcome, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return text("");
        }
        let end = line.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let found = find(name)?;
        let name = found.names[0];
        let call = Call { name, text: rest.trim(), words: rest.split_whitespace().collect(), stop };
        if found.arguments.is_empty() && !call.text.is_empty() {
            return Err(format!("{name} has no arguments"));
        }
        (found.run)(self, &call, breakpoints)
    }

    fn repeat(&mut self, call: &Call<'_>, command: Command) -> Result<Outcome, String> {
        let count = match call.words[..] {
            [] => 1,
            [count] => {
                address(count).map_err(|why| format!("{}: `{count}` is {why}", call.name))?
            }
            _ => return Err(usage(call.name)),
        };
        if count == 0 {
            return text("");
        }
        self.repeated = Some((command, count - 1));
        resume(command)
    }

    /// The channel of expressions.
    pub fn channel(&self, stop: &Stop<'_>) -> u32 {
        self.channel.unwrap_or_else(|| stop.channel())
    }
}

/// The command with a name, or with the only name that begins so.
fn find(name: &str) -> Result<&'static Row, String> {
    if let Some(row) = COMMANDS.iter().find(|row| row.names.contains(&name)) {
        return Ok(row);
    }
    let begins = |row: &&Row| row.names.iter().any(|known| known.starts_with(name));
    let found: Vec<&Row> = COMMANDS.iter().filter(begins).collect();
    match found[..] {
        [row] => Ok(row),
        [] => Err(format!("`{name}` is not a command; help lists all")),
        _ => {
            let names: Vec<&str> = found.iter().map(|row| row.names[0]).collect();
            Err(format!("`{name}` is ambiguous: {}", names.join(", ")))
        }
    }
}

/// The error for wrong arguments.
fn usage(name: &str) -> String {
    match find(name) {
        Ok(row) => format!("write {name} {}", row.arguments),
        Err(error) => error,
    }
}

fn help(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    if let [name] = call.words[..] {
        let row = find(name)?;
        let other = match row.names[1..].join(", ") {
            names if names.is_empty() => names,
            names => format!("also: {names}\n"),
        };
        return text(format!("{} {}\n{}\n{other}", row.names[0], row.arguments, row.help));
    }
    let mut lines = String::new();
    for row in COMMANDS {
        let name = format!("{} {}", row.names[0], row.arguments);
        lines += &format!("{name}\n    {}\n", row.help);
    }
    text(lines)
}

/// Splits `WHAT if EXPRESSION`.
fn conditional(words: &str) -> Result<(&str, Option<Expression>), String> {
    match words.split_once(" if ") {
        Some((what, condition)) => Ok((what.trim(), Some(Expression::parse(condition)?))),
        None => Ok((words, None)),
    }
}

fn add(_: &mut Session, call: &Call<'_>, breakpoints: &mut Breakpoints) -> Result<Outcome, String> {
    let (what, condition) = conditional(call.text)?;
    let what = What::parse(what, call.stop.thread.map(|thread| thread.kernel))?;
    let breakpoint = breakpoints.add(what, condition)?;
    breakpoint.temporary = call.name == "tbreak";
    text(format!("breakpoint {}: {}\n", breakpoint.number, breakpoint.what))
}

fn watch(
    session: &mut Session,
    call: &Call<'_>,
    breakpoints: &mut Breakpoints,
) -> Result<Outcome, String> {
    let (what, condition) = conditional(call.text)?;
    let (place, length) = match what.rsplit_once(char::is_whitespace) {
        Some((place, length)) => (place, address(length)?),
        None => (what, 4),
    };
    let address = session.evaluate_address(call, place)?;
    let breakpoint = breakpoints.add(What::Memory { address, length }, condition)?;
    text(format!("watchpoint {}: {}\n", breakpoint.number, breakpoint.what))
}

impl Session {
    fn evaluate_address(&self, call: &Call<'_>, expression: &str) -> Result<u64, String> {
        if expression.is_empty() {
            return Err(usage(call.name));
        }
        let value = Expression::parse(expression)?.value(call.stop, self.channel(call.stop))?;
        match value {
            Value::Integer(value) => u64::try_from(value)
                .map_err(|_| format!("the address {value} does not fit 64 bits")),
            Value::Float(_) => Err("an address must be an integer".to_owned()),
        }
    }
}

fn catch(
    _: &mut Session,
    call: &Call<'_>,
    breakpoints: &mut Breakpoints,
) -> Result<Outcome, String> {
    breakpoints.faults = match call.words[..] {
        ["fault"] | ["fault", "on"] => true,
        ["fault", "off"] => false,
        _ => return Err(usage(call.name)),
    };
    text("")
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("`{word}` is not the number of a breakpoint"))
}

fn missing(number: u32) -> String {
    format!("there is no breakpoint {number}; info breakpoints lists them")
}

fn delete(
    _: &mut Session,
    call: &Call<'_>,
    breakpoints: &mut Breakpoints,
) -> Result<Outcome, String> {
    if call.words.is_empty() {
        breakpoints.delete_if(|_| true);
    }
    for word in &call.words {
        let number = number(word)?;
        if !breakpoints.delete(number) {
            return Err(missing(number));
        }
    }
    text("")
}

fn enable(
    _: &mut Session,
    call: &Call<'_>,
    breakpoints: &mut Breakpoints,
) -> Result<Outcome, String> {
    if call.words.is_empty() {
        return Err(usage(call.name));
    }
    for word in &call.words {
        let number = number(word)?;
        let breakpoint = breakpoints.get_mut(number).ok_or_else(|| missing(number))?;
        breakpoint.enabled = call.name.starts_with('e');
    }
    text("")
}

fn ignore(
    _: &mut Session,
    call: &Call<'_>,
    breakpoints: &mut Breakpoints,
) -> Result<Outcome, String> {
    let [word, count] = call.words[..] else { return Err(usage(call.name)) };
    let number = number(word)?;
    let breakpoint = breakpoints.get_mut(number).ok_or_else(|| missing(number))?;
    breakpoint.ignore = address(count)?;
    text("")
}

fn condition(
    _: &mut Session,
    call: &Call<'_>,
    breakpoints: &mut Breakpoints,
) -> Result<Outcome, String> {
    let word = call.words.first().ok_or_else(|| usage(call.name))?;
    let number = number(word)?;
    let breakpoint = breakpoints.get_mut(number).ok_or_else(|| missing(number))?;
    let expression = call.text[word.len()..].trim();
    breakpoint.condition = match expression.is_empty() {
        true => None,
        false => Some(Expression::parse(expression)?),
    };
    text("")
}

fn info(
    session: &mut Session,
    call: &Call<'_>,
    breakpoints: &mut Breakpoints,
) -> Result<Outcome, String> {
    let Some((what, rest)) = call.words.split_first() else { return Err(usage(call.name)) };
    let is = |name: &str| name.starts_with(what);
    let rest = Call { name: call.name, text: "", words: rest.to_vec(), stop: call.stop };
    if is("breakpoints") {
        text(show::breakpoints(breakpoints))
    } else if is("packet") {
        text(show::packet_fields(call.stop)?)
    } else if is("registers") {
        registers(session, &rest, breakpoints)
    } else if is("flags") {
        flags(session, &rest, breakpoints)
    } else if is("mask") {
        mask(session, &rest, breakpoints)
    } else {
        Err(usage(call.name))
    }
}

fn goto(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    match call.words[..] {
        ["packet", number] => match address(number)? {
            0 => Err("packet 0: packets count from 1 on".to_owned()),
            number => resume(Command::GoTo(Moment::Packet(number))),
        },
        _ => Err(usage(call.name)),
    }
}

fn location(
    session: &mut Session,
    call: &Call<'_>,
    _: &mut Breakpoints,
) -> Result<Outcome, String> {
    let frames = show::frames(call.stop);
    if frames.is_empty() {
        return text(show::here(call.stop, session.syntax));
    }
    let lines = frames.iter().enumerate().map(|(n, frame)| format!("#{n:<2} {frame}\n"));
    text(lines.collect::<String>())
}

fn syntax_of(word: &str) -> Result<Syntax, String> {
    match word {
        "iga" => Ok(Syntax::Iga),
        "mesa" => Ok(Syntax::Mesa),
        _ => Err(format!("`{word}` is not a language; write iga or mesa")),
    }
}

fn disassemble(
    session: &mut Session,
    call: &Call<'_>,
    _: &mut Breakpoints,
) -> Result<Outcome, String> {
    let syntax = match call.words[..] {
        [] => session.syntax,
        [word] => syntax_of(word)?,
        _ => return Err(usage(call.name)),
    };
    text(show::disassembly(call.stop, syntax)?)
}

fn set(session: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let ["syntax", word] = call.words[..] else { return Err(usage(call.name)) };
    session.syntax = syntax_of(word)?;
    text("")
}

fn registers(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let thread = call.stop.stopped_thread()?;
    let mut lines = String::new();
    if call.words.is_empty() {
        for (n, bytes) in thread.registers[..GRF_BYTES].chunks(REGISTER).enumerate() {
            if bytes.iter().any(|byte| *byte != 0) {
                let register = Register::File(n * REGISTER);
                lines += &show::register_line(call.stop, &format!("r{n}"), register, Type::Ud)?;
            }
        }
        return text(lines);
    }
    for word in &call.words {
        let (names, ty) = word.split_once(':').unwrap_or((word, "ud"));
        let ty = type_of(ty)?;
        let (first, last) = names.split_once('-').unwrap_or((names, names));
        let of = |name: &str| {
            let why = || format!("`{name}` is not a register; write r2, r2-r5, acc0, f0 or a0");
            register(name).ok_or_else(why)?
        };
        match (of(first)?, of(last)?) {
            (Register::File(first), Register::File(last)) if first < last && last < GRF_BYTES => {
                for at in (first..=last).step_by(REGISTER) {
                    let name = format!("r{}", at / REGISTER);
                    lines += &show::register_line(call.stop, &name, Register::File(at), ty)?;
                }
            }
            (register, other) if register == other => {
                lines += &show::register_line(call.stop, first, register, ty)?;
            }
            _ => return Err(format!("`{names}` is not a range of general registers")),
        }
    }
    text(lines)
}

fn flags(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let flags = show::flags(call.stop)?;
    let lines = flags.iter().map(|(name, value)| format!("{name} {value:#06x} {value:016b}\n"));
    text(lines.collect::<String>())
}

fn mask(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let mask = call.stop.stopped_thread()?.mask;
    text(format!("mask {mask:#010x} {mask:032b}\n"))
}

fn channel(session: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    session.channel = match call.words[..] {
        [] => session.channel,
        ["auto"] => None,
        [number] => match number.parse() {
            Ok(channel) if channel < 32 => Some(channel),
            _ => return Err(format!("`{number}` is not a channel; there are channels 0 to 31")),
        },
        _ => return Err(usage(call.name)),
    };
    text(format!("channel {}\n", session.channel(call.stop)))
}

fn print(session: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let expression = Expression::parse(call.text)?;
    text(format!("{}\n", expression.print(call.stop, session.channel(call.stop))?))
}

fn examine(session: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let (format, place) = match call.text.strip_prefix('/') {
        Some(rest) => rest.split_once(char::is_whitespace).ok_or_else(|| usage(call.name))?,
        None => ("", call.text),
    };
    let digits = format.find(|c: char| !c.is_ascii_digit()).unwrap_or(format.len());
    let count: u64 = match &format[..digits] {
        "" => 1,
        digits => digits.parse().map_err(|_| format!("`{digits}` is not a count"))?,
    };
    let (mut style, mut size) = ('x', None);
    for letter in format[digits..].chars() {
        match letter {
            'x' | 'd' | 'u' | 'f' | 'c' => style = letter,
            'b' => size = Some(1),
            'h' => size = Some(2),
            'w' => size = Some(4),
            'g' => size = Some(8),
            _ => return Err(format!("`{letter}` is not a format (x d u f c) or size (b h w g)")),
        }
    }
    let size: usize = size.unwrap_or(if style == 'c' { 1 } else { 4 });
    let ty = match (style, size) {
        ('d', 1) => Type::B,
        ('d', 2) => Type::W,
        ('d', 4) => Type::D,
        ('d', _) => Type::Q,
        ('f', 2) => Type::Hf,
        ('f', 4) => Type::F,
        ('f', 8) => Type::Df,
        ('f', _) => return Err("a float has 2, 4 or 8 bytes (h, w, g)".to_owned()),
        _ => Type::Uq,
    };
    let length = count.checked_mul(size as u64).filter(|length| *length <= MAX_PRINTED);
    let length = length.ok_or_else(|| format!("more than {MAX_PRINTED} bytes"))?;
    let address = session.evaluate_address(call, place.trim())?;
    let bytes = call.stop.memory(address, length as usize)?;
    let mut lines = String::new();
    let row = 16 / size * size;
    for (n, line) in bytes.chunks(row).enumerate() {
        let values: Vec<String> = line
            .chunks(size)
            .map(|element| {
                let bits = element.iter().rev().fold(0u64, |bits, b| bits << 8 | u64::from(*b));
                match style {
                    'x' => format!("{bits:#0width$x}", width = 2 + 2 * size),
                    'u' => bits.to_string(),
                    'c' => format!("{:?}", char::from(bits as u8)),
                    'f' if ty == Type::Hf => {
                        format!("{:?}", genxml_sim::eu::convert::half_to_single(bits as u16))
                    }
                    _ => genxml_sim::inspect::debugger::register::number(ty, bits),
                }
            })
            .collect();
        lines += &format!("{:#010x}: {}\n", address + (n * row) as u64, values.join(" "));
    }
    text(lines)
}

fn state(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    text(show::state(call.stop)?)
}

fn surface(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let [which, file] = call.words[..] else { return Err(usage(call.name)) };
    let image = call.stop.draw(|drawing, number| {
        let summary = drawing.summary();
        let missing = |what: &str| format!("draw {number} has no {what}; state lists what it has");
        match which {
            "depth" => {
                let buffer = summary.depth.as_ref().ok_or_else(|| missing("depth buffer"))?;
                Ok(drawing.depth(buffer))
            }
            "stencil" => {
                let buffer = summary.stencil.as_ref().ok_or_else(|| missing("stencil buffer"))?;
                Ok(drawing.stencil(buffer))
            }
            number => {
                let index: usize = number.parse().map_err(|_| usage(call.name))?;
                let target = summary.targets.get(index);
                let target = target.ok_or_else(|| missing(&format!("target {index}")))?;
                let image = drawing.color(target);
                image.ok_or_else(|| format!("target {index} is not an image with colours"))
            }
        }
    })??;
    write_picture(Path::new(file), image.width, image.height, &image.rgba)
        .map_err(|error| error.text)?;
    text(format!("{}x{} pixels in {file}\n", image.width, image.height))
}

fn buffer(_: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let bytes = match call.name {
        "urb" => call.stop.urb()?,
        _ => call.stop.local()?,
    };
    let (offset, length) = match call.words[..] {
        [] => (0, 256),
        [offset] => (address(offset)?, 256),
        [offset, length] => (address(offset)?, address(length)?),
        _ => return Err(usage(call.name)),
    };
    let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let count = usize::try_from(length.min(MAX_PRINTED)).unwrap_or(0).min(bytes.len() - from);
    let all = bytes.len();
    let mut lines = show::bytes(&bytes[from..from + count], from as u64);
    if from + count < all || count == 0 {
        lines += &format!("{} has {all} bytes\n", call.name);
    }
    text(lines)
}

fn dump(session: &mut Session, call: &Call<'_>, _: &mut Breakpoints) -> Result<Outcome, String> {
    let stop = call.stop;
    let (file, bytes) = match call.words[..] {
        ["grf", file] => (file, stop.stopped_thread()?.registers[..GRF_BYTES].to_vec()),
        ["kernel", file] => {
            let code = stop.code()?;
            (file, stop.memory(code.address, code.bytes() as usize)?)
        }
        ["memory", file, ref place @ .., length] if !place.is_empty() => {
            let length = address(length)?;
            let length = usize::try_from(length).ok().filter(|length| *length <= 1 << 30);
            let length = length.ok_or("more than 1 GiB")?;
            (file, stop.memory(session.evaluate_address(call, &place.join(" "))?, length)?)
        }
        _ => return Err(usage(call.name)),
    };
    std::fs::write(file, &bytes).map_err(|error| format!("cannot write {file}: {error}"))?;
    text(format!("{} bytes in {file}\n", bytes.len()))
}
