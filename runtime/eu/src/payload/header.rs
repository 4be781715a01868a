//! Headers of messages: registers that are copied, then changed in a few fields.

use super::error::PayloadError;
use crate::instruction::*;
use crate::ops::Opcode;
use alloc::vec::Vec;

/// A value for a field of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// A constant.
    Constant(u32),
    /// The contents of a register when the header is filled: a dword, or a word if the field has
    /// 16 bits.
    Register(Register),
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Constant(value)
    }
}

impl From<Register> for Value {
    fn from(register: Register) -> Value {
        Value::Register(register)
    }
}

/// A header: a copy of other registers with changes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Header {
    /// Number of registers.
    pub(super) registers: u8,
    /// First register that is copied.
    pub(super) source: u8,
    /// True if Header Present is set in the descriptor.
    pub(super) flagged: bool,
    pub(super) changes: Vec<Change>,
}

/// A change of a header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Change {
    /// Replaces a field that has the size of the type. `byte` counts from the first register.
    Replace { byte: u32, ty: DataType, value: Value },
    /// Sets bits of a dword. `byte` counts from the first register.
    SetBits { byte: u32, bits: u32 },
}

impl Header {
    /// A copy of r0.
    pub(super) const fn of_r0() -> Header {
        Header { registers: 1, source: 0, flagged: true, changes: Vec::new() }
    }

    /// Replaces a field. In `field`, the packed header, all bits of the field are set and no
    /// others: 16 bits that start at a word, or 32 that start at a dword.
    pub(super) fn replace(&mut self, field: &[u32], value: Value) {
        for (n, dword) in (0..).zip(field).filter(|(_, dword)| **dword != 0) {
            let ty = if dword.count_ones() > 16 { DataType::Ud } else { DataType::Uw };
            self.changes.push(Change::Replace {
                byte: 4 * n + dword.trailing_zeros() / 8,
                ty,
                value,
            });
        }
    }

    /// Replaces dwords with those of `values` where `fields` has bits.
    pub(super) fn replace_dwords(&mut self, fields: &[u32], values: &[u32]) {
        for ((n, field), value) in (0..).zip(fields).zip(values) {
            if *field != 0 {
                let value = Value::Constant(*value);
                self.changes.push(Change::Replace { byte: 4 * n, ty: DataType::Ud, value });
            }
        }
    }

    /// Sets the bits that are set in `values`, the packed header.
    pub(super) fn set_bits(&mut self, values: &[u32]) {
        for (n, bits) in (0..).zip(values).filter(|(_, bits)| **bits != 0) {
            self.changes.push(Change::SetBits { byte: 4 * n, bits: *bits });
        }
    }

    /// Returns an error if a constant does not fit its field, or if the header in the registers
    /// from `first` on overwrites what it is made from.
    pub(super) fn check(&self, first: u8) -> Result<(), PayloadError> {
        let overwritten = |register: u8| {
            first != self.source
                && (first..first.saturating_add(self.registers)).contains(&register)
        };
        // The first register of the header may be one of those that are copied after it.
        let mut read: Vec<u8> = (self.source..self.source.saturating_add(self.registers)).collect();
        for change in &self.changes {
            match *change {
                Change::Replace { ty: DataType::Uw, value: Value::Constant(value), .. }
                    if value > u16::MAX.into() =>
                {
                    return Err(PayloadError::Constant { value, bits: u16::BITS });
                }
                Change::Replace {
                    value: Value::Register(Register::Grf { number, .. }), ..
                } => {
                    read.push(number);
                }
                _ => {}
            }
        }
        match read.into_iter().find(|register| overwritten(*register)) {
            Some(register) => Err(PayloadError::Overwritten { first, register }),
            None => Ok(()),
        }
    }

    /// The instructions that fill the header in the registers from `first` on.
    pub(super) fn fill(&self, first: u8) -> Vec<Instruction> {
        let ud = DataType::Ud;
        let mut all = Vec::new();
        if first != self.source {
            let source = Source::new(Register::grf(self.source), ud, Region::new(8, 8, 1));
            let sources = [Operand::Register(source), Operand::None];
            let exec_size = 8 * self.registers;
            all.push(instruction(Opcode::Mov, exec_size, Register::grf(first), ud, sources));
        }
        let at = |byte: u32| Register::Grf {
            number: first + (byte / 32) as u8,
            byte: (byte % 32) as u8,
        };
        all.extend(self.changes.iter().map(|change| match *change {
            Change::Replace { byte, ty, value } => {
                let sources = [operand(value, ty), Operand::None];
                instruction(Opcode::Mov, 1, at(byte), ty, sources)
            }
            Change::SetBits { byte, bits } => {
                let old = operand(Value::Register(at(byte)), ud);
                let sources = [old, operand(Value::Constant(bits), ud)];
                instruction(Opcode::Or, 1, at(byte), ud, sources)
            }
        }));
        all
    }
}

/// An instruction without the mask of the channels, whose operands have the same type.
fn instruction(
    opcode: Opcode,
    exec_size: u8,
    destination: Register,
    ty: DataType,
    sources: [Operand; 2],
) -> Instruction {
    let [first, second] = sources;
    Instruction {
        no_mask: true,
        destination: Some(Destination::new(destination, ty)),
        sources: [first, second, Operand::None],
        ..Instruction::new(opcode, exec_size)
    }
}

fn operand(value: Value, ty: DataType) -> Operand {
    match value {
        Value::Constant(bits) => Operand::Immediate(Immediate { ty, bits: bits.into() }),
        Value::Register(register) => Operand::Register(Source::new(register, ty, Region::SCALAR)),
    }
}
