//! Expressions on registers and memory, for conditions and for printing.
//!
//! Operators are those of C, with C's precedence:
//! `|| && | ^ & == != < <= > >= << >> + - * / % ! ~`.
//! Integers have 128 bits; an operation with a float is done in double precision. Operands:
//!
//! * numbers: `7`, `0x40`, `0.5`;
//! * an element of a register: `r12.3:f` or `g12.3<f>` is element 3 of r12 as a float; without a
//!   type it is a dword (`ud`), of flags a word (`uw`);
//! * `r12:f`, without the number of an element, is the element of the current channel. If the
//!   register is too short for this channel, the element is in one of the next registers, as for an
//!   operand of an instruction. For flags and other registers without channels, it is element 0;
//! * `[address]:type`, an element in memory;
//! * `mask`, the enabled channels; `ip`, the byte offset in the kernel; `kernel`, its address;
//!   `channel`; `executed`, the number of instructions of the thread; `packet`, `draw` and
//!   `submission`, counted from 1 on; `dw0`, `dw1`..., the dwords of the packet.

use super::moment::Moment;
use super::register::{Register, number, register, type_of};
use super::stop::{NO_THREAD, Stop};
use crate::eu::convert::half_to_single;
use crate::eu::regions::{FLAGS, GRF_BYTES};
use crate::eu::types::Type;
use std::fmt;

/// Maximum depth of parentheses and unary operators.
const DEPTH: u32 = 64;

/// A value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
}

impl Value {
    /// False for zero.
    pub fn is_true(self) -> bool {
        match self {
            Value::Integer(value) => value != 0,
            Value::Float(value) => value != 0.0,
        }
    }

    fn float(self) -> f64 {
        match self {
            Value::Integer(value) => value as f64,
            Value::Float(value) => value,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(value) if value.unsigned_abs() < 10 => write!(f, "{value}"),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(bits) => write!(f, "{value} ({bits:#x})"),
                Err(_) => write!(f, "{value}"),
            },
            Value::Float(value) => write!(f, "{value:?}"),
        }
    }
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    text: String,
    root: Node,
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Node {
    Number(Value),
    Element { register: Register, element: Option<usize>, ty: Type },
    Memory(Box<Node>, Type),
    Name(Name),
    Dword(usize),
    Unary(char, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    Mask,
    Ip,
    Kernel,
    Channel,
    Executed,
    Packet,
    Draw,
    Submission,
}

const NAMES: [(&str, Name); 8] = [
    ("mask", Name::Mask),
    ("ip", Name::Ip),
    ("kernel", Name::Kernel),
    ("channel", Name::Channel),
    ("executed", Name::Executed),
    ("packet", Name::Packet),
    ("draw", Name::Draw),
    ("submission", Name::Submission),
];

/// Binary operators by precedence, lowest first. Of operators with a common prefix, the longer one
/// is first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// What is wrong, with the column, as text.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let root = parser.binary(0)?;
        match parser.rest().is_empty() {
            true => Ok(Expression { text: text.trim().to_owned(), root }),
            false => Err(parser.error("an operator or the end is expected")),
        }
    }

    /// The value at a stop.
    ///
    /// # Errors
    /// For example for a register without a thread, as text.
    pub fn value(&self, stop: &Stop<'_>, channel: u32) -> Result<Value, String> {
        self.root.value(stop, channel)
    }

    /// The value at a stop as text. If the expression is a single element, the type of the element
    /// decides the form of the number.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn print(&self, stop: &Stop<'_>, channel: u32) -> Result<String, String> {
        match &self.root {
            Node::Element { ty, .. } | Node::Memory(_, ty) => {
                let bits = self.root.bits(stop, channel)?;
                Ok(match ty {
                    Type::Ub | Type::Uw | Type::Ud | Type::Uq => format!("{bits} ({bits:#x})"),
                    Type::Hf => format!("{:?}", half_to_single(bits as u16)),
                    _ => number(*ty, bits),
                })
            }
            _ => Ok(self.value(stop, channel)?.to_string()),
        }
    }
}

/// The value of an element.
fn decoded(ty: Type, bits: u64) -> Value {
    match ty {
        Type::F => Value::Float(f32::from_bits(bits as u32).into()),
        Type::Df => Value::Float(f64::from_bits(bits)),
        Type::Hf => Value::Float(half_to_single(bits as u16).into()),
        Type::B => Value::Integer((bits as i8).into()),
        Type::W => Value::Integer((bits as i16).into()),
        Type::D => Value::Integer((bits as i32).into()),
        Type::Q => Value::Integer((bits as i64).into()),
        Type::Ub | Type::Uw | Type::Ud | Type::Uq => Value::Integer(bits.into()),
    }
}

impl Node {
    /// The bit pattern of an element.
    fn bits(&self, stop: &Stop<'_>, channel: u32) -> Result<u64, String> {
        match self {
            Node::Element { register, element, ty } => {
                let channels = match register {
                    Register::File(at) => *at < GRF_BYTES,
                    Register::Accumulator(_) => true,
                };
                let implied = if channels { channel as usize } else { 0 };
                stop.element(*register, element.unwrap_or(implied) * ty.size(), *ty)
            }
            Node::Memory(address, ty) => {
                let Value::Integer(address) = address.value(stop, channel)? else {
                    return Err("an address must be an integer".to_owned());
                };
                let address = u64::try_from(address)
                    .map_err(|_| format!("the address {address} does not fit 64 bits"))?;
                let bytes = stop.memory(address, ty.size())?;
                Ok(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
            }
            _ => Err("the expression is not an element".to_owned()),
        }
    }

    fn value(&self, stop: &Stop<'_>, channel: u32) -> Result<Value, String> {
        Ok(match self {
            Node::Number(value) => *value,
            Node::Element { ty, .. } | Node::Memory(_, ty) => {
                decoded(*ty, self.bits(stop, channel)?)
            }
            Node::Name(name) => Value::Integer(named(*name, stop, channel)?),
            Node::Dword(index) => {
                let packet = stop.position.packet.as_ref().ok_or("there is no packet yet")?;
                let dword = packet.dwords.get(*index).ok_or_else(|| {
                    let (name, count) = (packet.at.packet, packet.dwords.len());
                    format!("dw{index}: this {name} has {count} dwords")
                })?;
                Value::Integer((*dword).into())
            }
            Node::Unary(operator, node) => match (operator, node.value(stop, channel)?) {
                ('!', value) => Value::Integer((!value.is_true()).into()),
                ('-', Value::Integer(value)) => Value::Integer(value.wrapping_neg()),
                ('-', Value::Float(value)) => Value::Float(-value),
                (_, Value::Integer(value)) => Value::Integer(!value),
                (_, Value::Float(_)) => return Err("~ needs an integer".to_owned()),
            },
            Node::Binary(operator, left, right) => {
                let left = left.value(stop, channel)?;
                match *operator {
                    "&&" if !left.is_true() => return Ok(Value::Integer(0)),
                    "||" if left.is_true() => return Ok(Value::Integer(1)),
                    _ => binary(operator, left, right.value(stop, channel)?)?,
                }
            }
        })
    }
}

fn named(name: Name, stop: &Stop<'_>, channel: u32) -> Result<i128, String> {
    let thread = || stop.thread.as_ref().ok_or(NO_THREAD);
    Ok(match name {
        Name::Mask => thread()?.mask.into(),
        Name::Ip => thread()?.ip.into(),
        Name::Kernel => thread()?.kernel.into(),
        Name::Channel => channel.into(),
        Name::Executed => match stop.moment {
            Moment::Instruction { executed, .. } => executed.into(),
            _ => return Err(NO_THREAD.to_owned()),
        },
        Name::Packet => stop.position.packets.into(),
        Name::Draw => stop.position.draws.into(),
        Name::Submission => stop.position.submissions.into(),
    })
}

fn binary(operator: &str, left: Value, right: Value) -> Result<Value, String> {
    let truth = |value: bool| Ok(Value::Integer(value.into()));
    match operator {
        "&&" | "||" => return truth(right.is_true()),
        "==" => return truth(equal(left, right)),
        "!=" => return truth(!equal(left, right)),
        _ => {}
    }
    if let (Value::Integer(a), Value::Integer(b)) = (left, right) {
        let shift = || {
            let count = u32::try_from(b).ok().filter(|count| *count < 128);
            count.ok_or_else(|| format!("a shift by {b} bits"))
        };
        let divided = |value: Option<i128>| value.ok_or_else(|| format!("{a} {operator} {b}"));
        return Ok(Value::Integer(match operator {
            "|" => a | b,
            "^" => a ^ b,
            "&" => a & b,
            "<" => (a < b).into(),
            ">" => (a > b).into(),
            "<=" => (a <= b).into(),
            ">=" => (a >= b).into(),
            "<<" => a.wrapping_shl(shift()?),
            ">>" => a.wrapping_shr(shift()?),
            "+" => a.wrapping_add(b),
            "-" => a.wrapping_sub(b),
            "*" => a.wrapping_mul(b),
            "/" => divided(a.checked_div(b))?,
            _ => divided(a.checked_rem(b))?,
        }));
    }
    let (a, b) = (left.float(), right.float());
    Ok(match operator {
        "<" => return truth(a < b),
        ">" => return truth(a > b),
        "<=" => return truth(a <= b),
        ">=" => return truth(a >= b),
        "+" => Value::Float(a + b),
        "-" => Value::Float(a - b),
        "*" => Value::Float(a * b),
        "/" => Value::Float(a / b),
        "%" => Value::Float(a % b),
        _ => return Err(format!("{operator} needs integers")),
    })
}

fn equal(left: Value, right: Value) -> bool {
    match (left, right) {
        (Value::Integer(a), Value::Integer(b)) => a == b,
        _ => left.float() == right.float(),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Parser<'a> {
    /// The text after white space.
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn error(&self, what: &str) -> String {
        let column = self.text[..self.at].chars().count() + 1;
        format!("`{}`, column {column}: {what}", self.text)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn binary(&mut self, level: usize) -> Result<Node, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.binary(level + 1)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// Reads one of `operators`, unless it is the start of a longer one of another level.
    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let rest = self.rest();
        let longest = LEVELS.iter().flat_map(|level| level.iter().copied());
        let longest =
            longest.filter(|operator| rest.starts_with(operator)).max_by_key(|o| o.len())?;
        let found = operators.iter().copied().find(|operator| *operator == longest)?;
        self.at += found.len();
        Some(found)
    }

    fn unary(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error("more than 64 levels of parentheses and operators"));
        }
        let operator = ['-', '!', '~'].into_iter().find(|sign| self.rest().starts_with(*sign));
        let node = match operator {
            Some(operator) => {
                self.at += 1;
                Node::Unary(operator, Box::new(self.unary()?))
            }
            None => self.operand()?,
        };
        self.depth -= 1;
        Ok(node)
    }

    fn operand(&mut self) -> Result<Node, String> {
        if self.eat("(") {
            let node = self.binary(0)?;
            return if self.eat(")") { Ok(node) } else { Err(self.error("`)` is expected")) };
        }
        if self.eat("[") {
            let node = self.binary(0)?;
            if !self.eat("]") {
                return Err(self.error("`]` is expected"));
            }
            let ty = self.ty()?.unwrap_or(Type::Ud);
            return Ok(Node::Memory(Box::new(node), ty));
        }
        let rest = self.rest();
        match rest.chars().next() {
            Some(first) if first.is_ascii_digit() => self.number(rest),
            Some(first) if first.is_ascii_alphabetic() || first == '$' => self.word(rest),
            _ => Err(self.error("a number, a register, `[address]` or `(` is expected")),
        }
    }

    fn number(&mut self, rest: &str) -> Result<Node, String> {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let mut length = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
        // The sign of an exponent.
        if !is_hex && rest[..length].ends_with(['e', 'E']) && rest[length..].starts_with(['-', '+'])
        {
            let more = &rest[length + 1..];
            length += 1 + more.find(|c| !part(c)).unwrap_or(more.len());
        }
        let digits = rest[..length].replace('_', "");
        let parsed = match is_hex {
            true => i128::from_str_radix(&digits[2..], 16).ok().map(Value::Integer),
            false if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
                digits.parse().ok().map(Value::Integer)
            }
            false => digits.parse().ok().map(Value::Float),
        };
        match parsed {
            Some(value) => {
                self.at += length;
                Ok(Node::Number(value))
            }
            None => Err(self.error(&format!("`{digits}` is not a number"))),
        }
    }

    /// A register or a name.
    fn word(&mut self, rest: &str) -> Result<Node, String> {
        let dollar = usize::from(rest.starts_with('$'));
        let word = &rest[dollar..];
        let word = &word[..word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len())];
        let length = dollar + word.len();
        // `ip` is the position in the kernel; the architecture register has an element: `ip.0`.
        let element_follows = rest[length..].starts_with('.');
        if let Some((_, name)) = NAMES.iter().find(|(name, _)| *name == word && !element_follows) {
            self.at += length;
            return Ok(Node::Name(*name));
        }
        if let Some(index) = word.strip_prefix("dw").and_then(|index| index.parse().ok()) {
            self.at += length;
            return Ok(Node::Dword(index));
        }
        let register = match register(word) {
            Some(register) => register.map_err(|why| self.error(&why))?,
            None => {
                let names = NAMES.map(|(name, _)| name).join(" ");
                let why = format!("`{word}` is not a register such as r12.3:f, or one of {names}");
                return Err(self.error(&why));
            }
        };
        self.at += length;
        let element = match self.eat(".") {
            true => {
                let rest = self.rest();
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let element = rest[..digits].parse::<u16>();
                let element = element.map_err(|_| self.error("the number of an element"))?;
                self.at += digits;
                Some(usize::from(element))
            }
            false => None,
        };
        let implied = match register {
            Register::File(at) if (FLAGS..FLAGS + 8).contains(&at) => Type::Uw,
            _ => Type::Ud,
        };
        let ty = self.ty()?.unwrap_or(implied);
        Ok(Node::Element { register, element, ty })
    }

    /// `:f` or `<f>`, if it follows.
    fn ty(&mut self) -> Result<Option<Type>, String> {
        let rest = self.rest();
        let (rest, end) = match (rest.strip_prefix(':'), rest.strip_prefix('<')) {
            (Some(rest), _) => (rest, ""),
            // `<` is also an operator.
            (_, Some(rest)) if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => (rest, ">"),
            _ => return Ok(None),
        };
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        if end == ">" && !rest[letters..].starts_with('>') {
            return Ok(None);
        }
        let ty = type_of(&rest[..letters].to_ascii_lowercase());
        let ty = ty.map_err(|why| self.error(&why))?;
        self.at += 1 + letters + end.len();
        Ok(Some(ty))
    }
}
