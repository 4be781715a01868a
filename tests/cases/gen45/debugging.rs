//! Debug registers, written and read by commands and by the host. (003 chapter 3)

use super::{DATA, G45};
use genxml::core::{Address, U};
use genxml::gen45::commands_common::{StateBaseAddress, StateSip};
use genxml::gen45::commands_mi::{
    MiLoadRegisterImm, MiLoadRegisterImmRegister, MiStoreRegisterMem,
};
use genxml::gen45::debug_fixed::{SfRdata, SfStrgVal, SvgCtl, SvgRdata};
use genxml::gen45::debug_shared::{EuAtt, EuAttClr, TdCtl2};
use genxml::gen45::registers::Instpm;
use genxml_cases::push;

/// Writes registers, but not the bytes that are disabled (a bit each).
pub fn load(disabled: u64, registers: &[(u32, u32)]) -> Vec<u32> {
    let registers: Vec<_> = registers
        .iter()
        .map(|&(offset, value)| MiLoadRegisterImmRegister {
            register_offset: Address::from_bits(offset.into()),
            data_dword: U::from_bits(value.into()),
        })
        .collect();
    let packet = MiLoadRegisterImm {
        byte_write_disables: U::from_bits(disabled),
        register: (&registers[..]).into(),
    };
    let mut dwords = Vec::new();
    push(&mut dwords, &packet);
    dwords
}

/// Stores registers one after the other, from the start of the data on.
fn store(registers: &[u32]) -> Vec<u32> {
    let one = |(n, register): (u64, &u32)| {
        MiStoreRegisterMem {
            register_address: Address::from_bits((*register).into()),
            memory_address: Address::from_bits(DATA + 4 * n),
            ..MiStoreRegisterMem::new()
        }
        .pack()
    };
    (0..).zip(registers).flat_map(one).collect()
}

/// Access as the manual says: Read/Write (003:1643), Read-Only (003:1700), Write-Only (003:2568). A
/// packet does not write the bytes that it disables.
#[test]
fn access() {
    let mut g45 = G45::new();
    let (trigger, control) = (SfStrgVal::OFFSET, TdCtl2::OFFSET);
    let batch = [
        load(0, &[(trigger, 0x0123_4567), (SfRdata::OFFSET, 5), (EuAtt::OFFSET, 6)]),
        load(0b0101, &[(trigger, 0x0f0f_0f0f)]),
        load(0, &[(control, 0x1400), (EuAttClr::OFFSET, 7)]),
        store(&[trigger, SfRdata::OFFSET, EuAtt::OFFSET, EuAttClr::OFFSET, control]),
    ];
    g45.run(&batch.concat()).unwrap();
    let stored = [0, 4, 8, 12, 16].map(|at| g45.dword(DATA + at));
    assert_eq!(stored, [0x0f23_0f67, 0, 0, 0, 0x1400]);
    // The host sees the same registers.
    assert_eq!(g45.gpu.mmio_read(trigger), 0x0f23_0f67);
    g45.gpu.mmio_write(trigger, 9).unwrap();
    g45.gpu.mmio_write(SfRdata::OFFSET, 9).unwrap();
    g45.run(&store(&[trigger, SfRdata::OFFSET])).unwrap();
    assert_eq!([g45.dword(DATA), g45.dword(DATA + 4)], [9, 0]);
}

/// 003:1269-1295: the state variable unit latches the bases that change while Global Debug Enable
/// is set.
#[test]
fn latched_bases() {
    let mut g45 = G45::new();
    let bases = StateBaseAddress {
        general_state_base_address: Address::from_bits(0x4000),
        general_state_base_address_modify_enable: true,
        surface_state_base_address: Address::from_bits(0x7000),
        surface_state_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    };
    let sip = |at| {
        let pointer = Address::from_bits(at);
        StateSip { system_instruction_pointer: pointer }.pack()
    };
    let word = |select: u32| load(0, &[(SvgCtl::OFFSET, select << 8)]);
    let read = [SvgRdata::OFFSET];
    g45.run(&[&sip(0x100)[..], &word(5), &store(&read)].concat()).unwrap();
    assert_eq!(g45.dword(DATA), 0);
    let latch = [
        &load(0, &[(Instpm::OFFSET, 0x0010_0010)])[..],
        &bases.pack(),
        &sip(0x120),
        &load(0, &[(Instpm::OFFSET, 0x0010_0000)]),
        &sip(0x140),
    ];
    g45.run(&latch.concat()).unwrap();
    for (select, expected) in [(0, 0x4000), (1, 0x7000), (2, 0), (5, 0x120)] {
        g45.run(&[word(select), store(&read)].concat()).unwrap();
        assert_eq!(g45.dword(DATA), expected, "{select}");
        assert_eq!(g45.gpu.mmio_read(SvgRdata::OFFSET), expected);
    }
    // The manual does not describe other words.
    let fault = g45.fault(&[word(6), store(&read)].concat());
    assert!(fault.contains("the word 6 of SVG_RDATA"), "{fault}");
}
