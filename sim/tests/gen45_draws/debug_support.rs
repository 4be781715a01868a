//! Draws of four rectangles with debug registers, which commands write and read.

use crate::scene::{Scene, VERTICES, Vertex, rectangle};
use genxml::core::{Address, U};
use genxml::gen45::commands_mi::{
    MiLoadRegisterImm, MiLoadRegisterImmRegister, MiStoreRegisterMem,
};
use genxml::gen45::registers::Instpm;
use genxml_testkit::packet::push;

pub const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
/// Where registers are stored.
pub const RESULTS: u64 = VERTICES + 0x8000;
/// Global Debug Enable, with its write enable.
pub const ENABLE: (u32, u32) = (Instpm::OFFSET, 0x0010_0010);
/// Pixels that nothing drew.
pub const EMPTY: [u8; 4] = [0; 4];

pub fn load(registers: &[(u32, u32)]) -> Vec<u32> {
    let registers: Vec<_> = registers
        .iter()
        .map(|&(offset, value)| MiLoadRegisterImmRegister {
            register_offset: Address::from_bits(offset.into()),
            data_dword: U::from_bits(value.into()),
        })
        .collect();
    let packet =
        MiLoadRegisterImm { register: (&registers[..]).into(), ..MiLoadRegisterImm::new() };
    let mut dwords = Vec::new();
    push(&mut dwords, &packet);
    dwords
}

/// Stores a register as dword `n` of the results.
pub fn store(n: usize, register: u32) -> Vec<u32> {
    MiStoreRegisterMem {
        register_address: Address::from_bits(register.into()),
        memory_address: Address::from_bits(RESULTS + 4 * n as u64),
        ..MiStoreRegisterMem::new()
    }
    .pack()
    .to_vec()
}

/// For each mux select, writes the control register and stores the word.
pub fn words(control: u32, value: u32, data: u32, selects: &[u32]) -> Vec<u32> {
    let one = |(n, select): (usize, &u32)| {
        [load(&[(control, value | select << 8)]), store(n, data)].concat()
    };
    selects.iter().enumerate().flat_map(one).collect()
}

pub fn results<const N: usize>(scene: &Scene) -> [u32; N] {
    let bytes = scene.bytes(RESULTS, 4 * N);
    std::array::from_fn(|n| u32::from_le_bytes(bytes[4 * n..4 * n + 4].try_into().unwrap()))
}

/// Four rectangles of 8x8 pixels in the first row; the triangles of rectangle n are 2n and 2n + 1.
pub fn four() -> Vec<Vertex> {
    (0..4)
        .flat_map(|n| rectangle([8.0 * n as f32, 0.0], [8.0 * n as f32 + 8.0, 8.0], 0.5, RED))
        .collect()
}

/// Which of the four rectangles is drawn.
pub fn drawn(scene: &Scene) -> [bool; 4] {
    std::array::from_fn(|n| {
        let all: Vec<bool> =
            (0..64).map(|at| scene.pixel(8 * n as u32 + at % 8, at / 8) != EMPTY).collect();
        assert!(all.iter().all(|it| *it == all[0]), "rectangle {n} is drawn in part");
        all[0]
    })
}

pub fn draw(registers: &[(u32, u32)]) -> Scene {
    let mut scene = Scene::new();
    scene.more = load(registers);
    scene.draw(&four(), 24).unwrap();
    scene
}
