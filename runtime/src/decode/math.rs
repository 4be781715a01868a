//! MI_MATH as expressions: each step that stores a result is printed as an expression over the
//! registers before the packet.
//!
//! ```text
//! R2 = R0 + R1
//! R3 = carry(R0 + R1)
//! ```
//! A register that the packet has written after its value was read is printed as `old R0`.

use super::follow::Follower;
use super::record::Record;
use genxml_core::bits;
use genxml_core::reflect::{Container, Field, Type};
use std::fmt;
use std::io;
use std::rc::Rc;

/// Largest number of printed nodes of an expression; a packet can build any number by adding sums
/// to themselves.
const MAX_NODES: u32 = 64;

/// The value in a register of the arithmetic unit.
#[derive(Debug, Clone)]
enum Expr {
    /// A general register, and how often the packet had written to it before this read.
    Register(u32, u32),
    Word(&'static str),
    Not(Rc<Expr>),
    Binary(&'static str, Rc<Expr>, Rc<Expr>),
    Flag(&'static str, Rc<Expr>),
    /// An expression with more than [`MAX_NODES`] nodes, which is not printed.
    Long,
}

impl Expr {
    fn nodes(&self) -> u32 {
        match self {
            Expr::Register(..) | Expr::Word(_) | Expr::Long => 1,
            Expr::Not(inner) | Expr::Flag(_, inner) => 1 + inner.nodes(),
            Expr::Binary(_, left, right) => 1 + left.nodes() + right.nodes(),
        }
    }

    /// Returns the expression, or [`Expr::Long`] if it has too many nodes.
    fn limited(self) -> Rc<Expr> {
        Rc::new(if self.nodes() > MAX_NODES { Expr::Long } else { self })
    }
}

/// An expression to print, with the number of writes to each register so far. A register that was
/// written after its value was read is printed as `old`.
struct Shown<'a>(&'a Expr, &'a [u32; REGISTERS]);

/// Number of general registers of a command streamer (facts: CS_GPR).
const REGISTERS: usize = 16;

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(expr, writes) = *self;
        // An operand that is a binary expression gets parentheses.
        let inner = |f: &mut fmt::Formatter<'_>, inner: &Expr| match inner {
            Expr::Binary(..) => write!(f, "({})", Shown(inner, writes)),
            _ => Shown(inner, writes).fmt(f),
        };
        match expr {
            Expr::Register(number, version) => {
                let now = writes.get(*number as usize).copied().unwrap_or(0);
                write!(f, "{}R{number}", if now == *version { "" } else { "old " })
            }
            Expr::Word(word) => f.write_str(word),
            Expr::Not(operand) => {
                f.write_str("~")?;
                inner(f, operand)
            }
            Expr::Binary(op, left, right) => {
                inner(f, left)?;
                write!(f, " {op} ")?;
                inner(f, right)
            }
            Expr::Flag(flag, of) => write!(f, "{flag}({})", Shown(of, writes)),
            Expr::Long => f.write_str("..."),
        }
    }
}

/// The arithmetic unit during a packet.
struct Alu {
    a: Rc<Expr>,
    b: Rc<Expr>,
    accumulator: Rc<Expr>,
    zero: Rc<Expr>,
    carry: Rc<Expr>,
    writes: [u32; REGISTERS],
}

impl Alu {
    fn new() -> Alu {
        let word = |word| Rc::new(Expr::Word(word));
        Alu {
            a: word("SRCA"),
            b: word("SRCB"),
            accumulator: word("ACCU"),
            zero: word("ZF"),
            carry: word("CF"),
            writes: [0; REGISTERS],
        }
    }

    fn operand(&self, name: &'static str) -> Rc<Expr> {
        match (name, register(name)) {
            (_, Some(number)) => {
                let writes = self.writes.get(number as usize).copied().unwrap_or(0);
                Rc::new(Expr::Register(number, writes))
            }
            ("SRCA", _) => Rc::clone(&self.a),
            ("SRCB", _) => Rc::clone(&self.b),
            ("ACCU", _) => Rc::clone(&self.accumulator),
            ("ZF", _) => Rc::clone(&self.zero),
            ("CF", _) => Rc::clone(&self.carry),
            (other, _) => Rc::new(Expr::Word(other)),
        }
    }

    /// Executes one step. Returns a text for a store (`R2 = R0 + R1`), and for a load to a register
    /// that cannot be loaded.
    fn step(
        &mut self,
        op: &'static str,
        first: &'static str,
        second: &'static str,
    ) -> Option<String> {
        match op {
            "LOAD" | "LOADINV" | "LOAD0" | "LOAD1" => {
                let value = match op {
                    "LOAD0" => Rc::new(Expr::Word("0")),
                    "LOAD1" => Rc::new(Expr::Word("~0")),
                    "LOADINV" => Expr::Not(self.operand(second)).limited(),
                    _ => self.operand(second),
                };
                match first {
                    "SRCA" => self.a = value,
                    "SRCB" => self.b = value,
                    other => {
                        return Some(format!("{op} to {other}: only SRCA and SRCB can be loaded"));
                    }
                }
                None
            }
            "ADD" | "SUB" | "AND" | "OR" | "XOR" => {
                let (sign, carry) = match op {
                    "ADD" => ("+", "carry"),
                    "SUB" => ("-", "borrow"),
                    "AND" => ("&", "carry"),
                    "OR" => ("|", "carry"),
                    _ => ("^", "carry"),
                };
                let result = Expr::Binary(sign, Rc::clone(&self.a), Rc::clone(&self.b)).limited();
                self.zero = Expr::Flag("zero", Rc::clone(&result)).limited();
                self.carry = Expr::Flag(carry, Rc::clone(&result)).limited();
                self.accumulator = result;
                None
            }
            "STORE" | "STOREINV" => {
                let value = match op {
                    "STOREINV" => Expr::Not(self.operand(second)).limited(),
                    _ => self.operand(second),
                };
                let target = match register(first) {
                    Some(number) => format!("R{number}"),
                    None => first.to_owned(),
                };
                // Formatted before the write: the target's own name means its previous value.
                let text = format!("{target} = {}", Shown(&value, &self.writes));
                if let Some(writes) =
                    register(first).and_then(|number| self.writes.get_mut(number as usize))
                {
                    *writes += 1;
                }
                Some(text)
            }
            _ => None,
        }
    }
}

/// The number of a general register, `REG5`.
fn register(name: &str) -> Option<u32> {
    name.strip_prefix("REG").or_else(|| name.strip_prefix('R'))?.parse().ok()
}

/// The name of the value of an enumeration field in the step that starts at bit `base`.
fn name_of(step: &Container, field: &str, dwords: &[u32], base: u32) -> Option<&'static str> {
    let field: &Field = step.fields.iter().find(|other| other.name == field)?;
    let stored = bits::get(dwords, base + field.start, base + field.end);
    match field.ty {
        Type::Enum(list) => Some(list.name_of(stored).unwrap_or("?")),
        _ => None,
    }
}

/// The texts of the steps of an MI_MATH packet, in order: one for each store and each invalid load.
pub(super) fn statements(packet: &Container, dwords: &[u32]) -> Vec<String> {
    let Some(group) = packet.groups.first().filter(|group| group.bits == 32) else {
        return Vec::new();
    };
    let Some(Type::Struct(step)) = group.fields.first().map(|field| field.ty) else {
        return Vec::new();
    };
    let mut alu = Alu::new();
    let mut found = Vec::new();
    for dword in group.start / 32..dwords.len() as u32 {
        let of = |field| name_of(step, field, dwords, 32 * dword);
        if let (Some(op), Some(first), Some(second)) =
            (of("ALU Opcode"), of("Operand 1"), of("Operand 2"))
        {
            found.extend(alu.step(op, first, second));
        }
    }
    found
}

impl Follower<'_> {
    /// Emits the expressions that the packet stores. The values of all general registers are
    /// unknown afterwards.
    pub fn math(&mut self, record: &Record, container: &Container, depth: u32) -> io::Result<()> {
        self.state.registers.forget_named(self.tables, "CS_GPR");
        for statement in statements(container, &record.dwords) {
            self.note(depth, record.address, format_args!("{statement}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opcodes and operands as numbers (Mesa gen8.xml, MI_MATH): opcode in bits 31:20, operands in
    /// bits 19:10 and 9:0.
    const fn step(opcode: u32, first: u32, second: u32) -> u32 {
        opcode << 20 | first << 10 | second
    }
    const LOAD: u32 = 0x080;
    const LOADINV: u32 = 0x480;
    const ADD: u32 = 0x100;
    const SUB: u32 = 0x101;
    const STORE: u32 = 0x180;
    const STOREINV: u32 = 0x580;
    const A: u32 = 32;
    const B: u32 = 33;
    const ACCU: u32 = 49;
    const ZF: u32 = 50;
    const CF: u32 = 51;

    fn text(steps: &[u32]) -> Vec<String> {
        let packet = crate::decode::Tables::gen8().container("MI_MATH").unwrap();
        let dwords = [&[26 << 23 | (steps.len() as u32 - 1)], steps].concat();
        statements(packet, &dwords)
    }

    #[test]
    fn a_sum_and_its_carry() {
        let steps = [
            step(LOAD, A, 0),
            step(LOAD, B, 1),
            step(ADD, 0, 0),
            step(STORE, 2, ACCU),
            step(STORE, 3, CF),
            step(STOREINV, 4, ZF),
        ];
        assert_eq!(text(&steps), ["R2 = R0 + R1", "R3 = carry(R0 + R1)", "R4 = ~zero(R0 + R1)"]);
    }

    #[test]
    fn what_was_overwritten_is_old() {
        let steps = [
            step(LOAD, A, 0),
            step(LOADINV, B, 15),
            step(SUB, 0, 0),
            step(STORE, 0, ACCU),
            step(STORE, 1, CF),
            step(LOAD, A, ACCU),
            step(LOAD, B, 0),
            step(ADD, 0, 0),
            step(STORE, 2, ACCU),
        ];
        assert_eq!(
            text(&steps),
            ["R0 = R0 - ~R15", "R1 = borrow(old R0 - ~R15)", "R2 = (old R0 - ~R15) + R0"]
        );
    }

    #[test]
    fn what_doubles_all_the_time_stays_short() {
        let mut steps = vec![step(LOAD, A, 0), step(LOAD, B, 0)];
        for _ in 0..60 {
            steps.extend([step(ADD, 0, 0), step(LOAD, A, ACCU), step(LOAD, B, ACCU)]);
        }
        steps.push(step(STORE, 1, ACCU));
        assert!(text(&steps)[0].len() < 400);
        assert_eq!(
            text(&[step(LOAD, 5, 0), step(0x7ff, 900, 901)]),
            ["LOAD to REG5: only SRCA and SRCB can be loaded"]
        );
    }
}
