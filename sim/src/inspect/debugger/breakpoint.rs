//! Where to stop.

use super::expression::Expression;
use genxml::eu::instruction::SharedFunction;
use genxml_eu::message::function_name;
use std::fmt;

/// Maximum number of bytes of a watchpoint.
pub const MAX_WATCHED: u64 = 1 << 20;

/// What a breakpoint waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// A packet with this name. `*` stands for any characters.
    Packet(String),
    /// A draw with this number, from 1 on; without a number, any draw.
    Draw(Option<u64>),
    /// A submission with this number, from 1 on; without a number, any submission.
    Submission(Option<u64>),
    /// The instruction at a graphics address.
    Instruction(u64),
    /// The first instruction of a thread whose kernel starts at this graphics address; without an
    /// address, of any thread.
    Kernel(Option<u64>),
    /// The first instruction of a thread that shades a pixel, in the draw with the number, or in
    /// any draw.
    Pixel {
        /// Column.
        x: u32,
        /// Row.
        y: u32,
        /// Number of the draw, from 1 on.
        draw: Option<u64>,
    },
    /// The first instruction of each thread of a thread group.
    Group([u32; 3]),
    /// An instruction that sends a message to a shared function; without one, to any.
    Message(Option<SharedFunction>),
    /// A change of memory.
    Memory {
        /// Graphics address of the first byte.
        address: u64,
        /// Number of bytes, at most [`MAX_WATCHED`].
        length: u64,
    },
}

const FUNCTIONS: [SharedFunction; 15] = [
    SharedFunction::Sampler,
    SharedFunction::Gateway,
    SharedFunction::DataPortSampler,
    SharedFunction::DataPortRender,
    SharedFunction::Urb,
    SharedFunction::ThreadSpawner,
    SharedFunction::MotionEstimation,
    SharedFunction::DataPortConstant,
    SharedFunction::DataPort0,
    SharedFunction::PixelInterpolator,
    SharedFunction::DataPort1,
    SharedFunction::CheckAndRefinement,
    SharedFunction::Math,
    SharedFunction::DataPortRead,
    SharedFunction::DataPortWrite,
];

/// The form of breakpoints, for error messages.
pub const FORMS: &str = "packet NAME, draw [N], submission [N], kernel [ADDRESS], *ADDRESS, \
                         +OFFSET, pixel X,Y [draw N], group X,Y,Z, message [FUNCTION]";

impl What {
    /// Parses a breakpoint ([`FORMS`]). `kernel` is the address to which `+OFFSET` is added.
    ///
    /// # Errors
    /// What is wrong, as text.
    pub fn parse(text: &str, kernel: Option<u64>) -> Result<What, String> {
        let mut words = text.split_whitespace();
        let form = || format!("`{text}` is not a breakpoint; write {FORMS}");
        let first = words.next().ok_or_else(form)?;
        let rest: Vec<&str> = words.collect();
        let optional = || match rest[..] {
            [] => Ok(None),
            [number] => integer(number).map(Some),
            _ => Err(form()),
        };
        let counted = |what: &str| match optional()? {
            Some(0) => Err(format!("{what} 0: they count from 1 on")),
            number => Ok(number),
        };
        match first {
            "packet" => match rest[..] {
                [name] => Ok(What::Packet(name.to_ascii_uppercase())),
                _ => Err("packet needs one name, such as PIPE_CONTROL or 3DSTATE_*".to_owned()),
            },
            "draw" => Ok(What::Draw(counted("draw")?)),
            "submission" | "exec" => Ok(What::Submission(counted("submission")?)),
            "kernel" => Ok(What::Kernel(optional()?)),
            "pixel" => {
                let (at, draw) = match rest[..] {
                    [at] => (at, None),
                    [at, "draw", number] => (at, Some(integer(number)?)),
                    _ => return Err(form()),
                };
                let wrong = || format!("`{at}` is not a column and a row; write 320,200");
                let (x, y) = at.split_once(',').ok_or_else(wrong)?;
                let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
                Ok(What::Pixel { x: number(x)?, y: number(y)?, draw })
            }
            "group" => {
                let wrong = || format!("`{}` is not a thread group; write 0,0,0", rest.join(" "));
                let [at] = rest[..] else { return Err(wrong()) };
                let numbers: Result<Vec<u32>, _> = at.split(',').map(str::parse).collect();
                let numbers = numbers.map_err(|_| wrong())?;
                Ok(What::Group(numbers.try_into().map_err(|_| wrong())?))
            }
            "message" => match rest[..] {
                [] => Ok(What::Message(None)),
                [name] => Ok(What::Message(Some(function(name)?))),
                _ => Err(form()),
            },
            address if rest.is_empty() => {
                if let Some(address) = address.strip_prefix('*') {
                    let (base, offset) = address.split_once('+').unwrap_or((address, "0"));
                    return Ok(What::Instruction(integer(base)?.wrapping_add(integer(offset)?)));
                }
                let Some(offset) = address.strip_prefix('+') else { return Err(form()) };
                let why = "there is no kernel here; write *ADDRESS";
                let kernel = kernel.ok_or_else(|| format!("{address}: {why}"))?;
                Ok(What::Instruction(kernel.wrapping_add(integer(offset)?)))
            }
            _ => Err(form()),
        }
    }
}

/// Parses a number: decimal, or hexadecimal with 0x.
fn integer(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let parsed = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not a number; write 4096 or 0x1000"))
}

/// The shared function with IGA's name `name`.
fn function(name: &str) -> Result<SharedFunction, String> {
    let found = FUNCTIONS.into_iter().find(|function| function_name(*function) == name);
    found.ok_or_else(|| {
        let names = FUNCTIONS.map(function_name).join(" ");
        format!("`{name}` is not a shared function; use one of {names}")
    })
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |f: &mut fmt::Formatter<'_>, what: &str, number: &Option<u64>| match number {
            Some(number) => write!(f, "{what} {number}"),
            None => f.write_str(what),
        };
        match self {
            What::Packet(name) => write!(f, "packet {name}"),
            What::Draw(number) => counted(f, "draw", number),
            What::Submission(number) => counted(f, "submission", number),
            What::Instruction(address) => write!(f, "*{address:#x}"),
            What::Kernel(None) => f.write_str("kernel"),
            What::Kernel(Some(address)) => write!(f, "kernel {address:#x}"),
            What::Pixel { x, y, draw } => {
                write!(f, "pixel {x},{y}")?;
                draw.map_or(Ok(()), |draw| write!(f, " draw {draw}"))
            }
            What::Group([x, y, z]) => write!(f, "group {x},{y},{z}"),
            What::Message(None) => f.write_str("message"),
            What::Message(Some(to)) => write!(f, "message {}", function_name(*to)),
            What::Memory { address, length } => write!(f, "watch {address:#x} {length}"),
        }
    }
}

/// A breakpoint, or a watchpoint.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, from 1 on.
    pub number: u32,
    /// What it waits for.
    pub what: What,
    /// It stops only if the value is not zero.
    pub condition: Option<Expression>,
    /// Number of hits that do not stop: the next ones of a run forward, or the newest ones of a
    /// search backward.
    pub ignore: u64,
    /// Number of hits of runs forward; hits whose condition is false do not count.
    pub hits: u64,
    /// False if it never stops.
    pub enabled: bool,
    /// True if the first stop deletes it.
    pub temporary: bool,
}

/// All breakpoints.
#[derive(Clone, Debug)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    next: u32,
    /// True if the run stops at a fault, before the packet or instruction that causes it.
    pub faults: bool,
}

impl Default for Breakpoints {
    fn default() -> Self {
        Breakpoints { list: Vec::new(), next: 1, faults: true }
    }
}

impl Breakpoints {
    /// Adds a breakpoint and returns it.
    ///
    /// # Errors
    /// For a second pixel: the model watches one pixel in a draw. For a watchpoint that is empty or
    /// too long.
    pub fn add(
        &mut self,
        what: What,
        condition: Option<Expression>,
    ) -> Result<&mut Breakpoint, String> {
        match what {
            What::Pixel { .. } => {
                let pixel = |other: &&Breakpoint| matches!(other.what, What::Pixel { .. });
                if let Some(Breakpoint { number, what, .. }) = self.list.iter().find(pixel) {
                    return Err(format!(
                        "the model watches one pixel at a time; delete breakpoint {number} ({what}) \
                         first"
                    ));
                }
            }
            What::Memory { length, .. } if !(1..=MAX_WATCHED).contains(&length) => {
                return Err(format!("{length} bytes; watch between 1 and {MAX_WATCHED} bytes"));
            }
            _ => {}
        }
        let number = self.next;
        self.next += 1;
        self.list.push(Breakpoint {
            number,
            what,
            condition,
            ignore: 0,
            hits: 0,
            enabled: true,
            temporary: false,
        });
        let last = self.list.len() - 1;
        Ok(&mut self.list[last])
    }

    /// Deletes the breakpoint with this number; false if it does not exist.
    pub fn delete(&mut self, number: u32) -> bool {
        let before = self.list.len();
        self.list.retain(|breakpoint| breakpoint.number != number);
        self.list.len() < before
    }

    /// Deletes all breakpoints for which `gone` returns true.
    pub fn delete_if(&mut self, mut gone: impl FnMut(&Breakpoint) -> bool) {
        self.list.retain(|breakpoint| !gone(breakpoint));
    }

    /// All breakpoints in the order in which they were set.
    pub fn all(&self) -> &[Breakpoint] {
        &self.list
    }

    /// The breakpoint with a number.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Breakpoint> {
        self.list.iter_mut().find(|breakpoint| breakpoint.number == number)
    }

    /// Returns true if the breakpoint with this number ignores a hit, and decrements its
    /// `ignore`.
    pub(super) fn ignores(&mut self, number: u32) -> bool {
        match self.get_mut(number) {
            Some(breakpoint) if breakpoint.ignore > 0 => {
                breakpoint.ignore -= 1;
                true
            }
            _ => false,
        }
    }

    /// Those that can stop.
    pub(super) fn enabled(&self) -> impl Iterator<Item = &Breakpoint> {
        self.list.iter().filter(|breakpoint| breakpoint.enabled)
    }
}

/// True if `name` has the form of `pattern`, where `*` stands for any characters.
pub(super) fn is_like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("PIPE_CONTROL", "PIPE_CONTROL", true),
            ("PIPE_CONTROL", "PIPE_CONTROLS", false),
            ("3DSTATE_*", "3DSTATE_PS", true),
            ("3DSTATE_*", "3DPRIMITIVE", false),
            ("*", "", true),
            ("*_PS*", "3DSTATE_PS_EXTRA", true),
            ("*_PS", "3DSTATE_PS_EXTRA", false),
            ("A*A", "A", false),
        ] {
            assert_eq!(is_like(pattern, name), expected, "{pattern} {name}");
        }
    }

    /// The printed form of a breakpoint can be parsed again.
    #[test]
    fn forms() {
        for text in [
            "packet 3DSTATE_*",
            "draw",
            "draw 3",
            "submission",
            "submission 2",
            "kernel",
            "kernel 0x1000",
            "*0x1040",
            "pixel 10,20",
            "pixel 10,20 draw 2",
            "group 0,1,2",
            "message",
            "message sampler",
        ] {
            assert_eq!(What::parse(text, None).unwrap().to_string(), text);
        }
        assert_eq!(What::parse("+0x40", Some(0x1000)), Ok(What::Instruction(0x1040)));
        for text in [
            "",
            "draw 0",
            "pixel 1",
            "pixel 1,x",
            "group 1,2",
            "message x",
            "packet",
            "+1",
            "x",
            "*",
        ] {
            assert!(What::parse(text, None).is_err(), "{text}");
        }
    }
}
