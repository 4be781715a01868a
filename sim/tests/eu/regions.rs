//! Regions and masks. Oracle: the addresses of the manual's formula, element by element
//! (004:4130-4160).

use crate::eu::support::{alu, read, run, write};
use genxml_eu::instruction::{
    DataType, Destination, Instruction, Operand, Region, Register, Source,
};
use genxml_eu::ops::Opcode;
use proptest::prelude::*;

fn fill(thread: &mut genxml_sim::eu::Thread) {
    for (n, byte) in thread.regs.grf_mut().iter_mut().enumerate() {
        *byte = (n * 7 + n / 256) as u8;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn strides(
        size_log in 0u32..5, width_log in 0u32..5,
        vertical in prop::sample::select(vec![0u8, 1, 2, 4, 8, 16]),
        horizontal in prop::sample::select(vec![0u8, 1, 2, 4]),
        stride in prop::sample::select(vec![1u8, 2, 4]),
        ty in prop::sample::select(vec![DataType::Ub, DataType::Uw, DataType::Ud, DataType::Uq]),
        element in 0u8..4, mask: u16,
    ) {
        let (channels, width) = (1u8 << size_log, 1u8 << width_log.min(size_log));
        let bytes = ty.size();
        let source = Source::new(
            Register::Grf { number: 10, byte: element * bytes },
            ty,
            Region::new(vertical, width, horizontal),
        );
        let mut destination = Destination::new(Register::Grf { number: 60, byte: element * bytes }, ty);
        destination.stride = stride;
        let body = [Instruction {
            destination: Some(destination),
            ..alu(Opcode::Mov, channels, ty, 60, &[Operand::Register(source)])
        }];
        let mask = u32::from(mask) | 1 << 31;
        let thread = run(&body, mask, fill).unwrap();
        let mut expected = thread.clone();
        fill(&mut expected);
        // All channels are read before any is written; large strides reach from the source into the
        // destination.
        let before = expected.clone();
        let first = 32 * 10 + usize::from(element * bytes);
        // Go through the region row by row, as the manual's figures do.
        let mut channel = 0;
        for row in 0..channels / width {
            for column in 0..width {
                let from = first
                    + (usize::from(row) * usize::from(vertical) + usize::from(column) * usize::from(horizontal))
                        * usize::from(bytes);
                let value = read(&before, from / 32, from % 32, bytes.into());
                let to = usize::from(element * bytes) + channel * usize::from(stride * bytes);
                if mask >> channel & 1 == 1 {
                    write(&mut expected, 60 + to / 32, to % 32, bytes.into(), value);
                }
                channel += 1;
            }
        }
        prop_assert!(thread.regs.grf() == expected.regs.grf());
    }
}

/// Oracle: 004:4130-4144, r4.1<16;8,2>:w: channel 0 at byte 130, channel 8 one register later.
#[test]
fn example_of_the_manual() {
    let source =
        Source::new(Register::Grf { number: 4, byte: 2 }, DataType::W, Region::new(16, 8, 2));
    let body = [alu(Opcode::Mov, 16, DataType::W, 60, &[Operand::Register(source)])];
    let thread = run(&body, u32::MAX, |thread| {
        for n in 0..64 {
            write(thread, 4 + n / 16, n % 16 * 2, 2, n as u64);
        }
    })
    .unwrap();
    let words: Vec<u64> = (0..16).map(|n| read(&thread, 60, 2 * n, 2)).collect();
    assert_eq!(words, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]);
}

/// Oracle: gen8 VxH: every channel reads where its own address register points.
#[test]
fn one_address_per_channel() {
    let source = Source::new(
        Register::Indirect { address: 0, offset: 4 },
        DataType::Ud,
        Region { vertical: genxml_eu::instruction::Vertical::Addresses, width: 1, horizontal: 0 },
    );
    let body = [alu(Opcode::Mov, 8, DataType::Ud, 60, &[Operand::Register(source)])];
    let addresses = [640u16, 32, 64, 1000, 4092, 8, 4, 0];
    let thread = run(&body, u32::MAX, |thread| {
        fill(thread);
        for (n, address) in addresses.iter().enumerate() {
            thread.regs.set_u16(genxml_sim::eu::regions::A0 + 2 * n, *address);
        }
    })
    .unwrap();
    for (n, address) in addresses.iter().enumerate() {
        let from = (usize::from(*address) + 4) % 4096;
        assert_eq!(
            read(&thread, 60, 4 * n, 4),
            read(&thread, from / 32, from % 32, 4),
            "channel {n}"
        );
    }
}
