//! Which registers of a kernel have to be cleared before a thread starts.

use crate::eu::support::{decode, end, grf, immediate};
use genxml_eu::instruction::{
    Arf, DataType, Descriptor, Destination, Instruction, Operand, Predicate, PredicateControl,
    Region, Register, Send, SharedFunction, Source,
};
use genxml_eu::ops::Opcode;
use genxml_sim::eu::written::Start;

/// Moves `channels` dwords from one register to another.
fn copy(to: u8, from: u8, channels: u8) -> Instruction {
    Instruction {
        destination: Some(Destination::new(Register::Grf { number: to, byte: 0 }, DataType::Ud)),
        sources: [grf(from, DataType::Ud, channels), Operand::None, Operand::None],
        ..Instruction::new(Opcode::Mov, channels)
    }
}

/// A read of eight dwords from the buffer with binding table index 0, at the offsets in a register.
fn load(to: u8, offsets: u8) -> Instruction {
    Instruction {
        send: Some(Send {
            function: SharedFunction::DataPort1,
            descriptor: Descriptor::Immediate(0x0210_6e00),
            end_of_thread: false,
        }),
        ..Instruction { opcode: Opcode::Send, ..copy(to, offsets, 8) }
    }
}

fn start(body: &[Instruction]) -> Start {
    let mut body = body.to_vec();
    body.push(end());
    decode(&body).start()
}

/// The registers of a start, without the payload of the message that ends the thread.
fn read(body: &[Instruction]) -> Vec<u32> {
    let registers = start(body).registers & !start(&[]).registers;
    (0..128).filter(|register| registers >> register & 1 == 1).collect()
}

#[test]
fn registers_that_are_overwritten_first_need_no_clear() {
    assert_eq!(read(&[copy(10, 5, 8), copy(11, 10, 8)]), [5]);
    assert_eq!(read(&[copy(10, 5, 16), copy(12, 10, 16)]), [5, 6]);
    assert_eq!(read(&[load(20, 5), copy(21, 20, 8)]), [5]);
    assert_eq!(start(&[copy(10, 5, 16)]).channels & 0xffff, 0xffff);
}

#[test]
fn parts_of_registers_are_not_overwritten() {
    assert_eq!(read(&[copy(10, 5, 4), copy(11, 10, 8)]), [5, 10]);
    let words = Instruction {
        destination: Some(Destination::new(Register::Grf { number: 10, byte: 0 }, DataType::Uw)),
        ..copy(10, 5, 8)
    };
    assert_eq!(read(&[words, copy(11, 10, 8)]), [5, 10]);
    let predicate = Predicate { control: PredicateControl::Sequential, inverse: false };
    let sometimes = Instruction { predicate: Some(predicate), ..copy(10, 5, 8) };
    assert_eq!(read(&[sometimes, copy(11, 10, 8)]), [5, 10]);
}

#[test]
fn other_kernels_may_read_everything() {
    let all = Start::default();
    assert_eq!(all.registers, u128::MAX);
    let indirect = Register::Indirect { address: 0, offset: 0 };
    let source = Source::new(indirect, DataType::Ud, Region::new(8, 8, 1));
    let by_address = Instruction {
        sources: [Operand::Register(source), Operand::None, Operand::None],
        ..copy(10, 5, 8)
    };
    assert_eq!(start(&[by_address]), all);
    assert_eq!(start(&[Instruction::new(Opcode::Wait, 1)]), all);
    let control = |byte| {
        let register = Register::Arf { file: Arf::Control, number: 0, byte };
        let source = Source::new(register, DataType::Ud, Region::new(0, 1, 0));
        Instruction {
            destination: Some(Destination::new(register, DataType::Ud)),
            sources: [Operand::Register(source), immediate(DataType::Uw, 0x4c0), Operand::None],
            no_mask: true,
            ..Instruction::new(Opcode::Or, 1)
        }
    };
    assert_ne!(start(&[control(0)]), all, "changes of modes are known");
    assert_eq!(start(&[control(4)]), all, "exceptions are not");
}
