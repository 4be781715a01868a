//! Constant registers of DX9, and the constant buffers made from them.

use crate::streamer::packets::{Gather, PS, Pick, dx9_pool, edit, gather, gather_pool, table_pool};
use crate::streamer::{DX9, DX9_BYTES, GATHERED, model, put_buffer, refused, run};
use genxml::gen8::render3d_constants::*;
use genxml::gen8::structures::{Dx9ConstantbEntry, Dx9ConstantfEntry, Dx9ConstantiEntry};
use genxml_cases::{Random, packets, u};
use genxml_core::Shifted;

/// Dwords of the registers: 256 of floats, 32 of integers, 16 booleans.
const DWORDS: usize = 256 * 4 + 32 * 4 + 16;
/// Dwords of the buffer that hold floats; the second half of the buffer begins after them.
const FLOATS: usize = 256 * 4;
/// Dwords that hold floats and integers.
const NUMBERS: usize = FLOATS + 32 * 4;

/// The registers of a stage. Each set has the order of the buffer.
#[derive(Clone)]
struct Stage {
    global: Vec<u32>,
    local: Vec<u32>,
    /// For each dword: the local register is valid.
    valid: Vec<bool>,
}

impl Stage {
    fn new() -> Stage {
        Stage { global: vec![0; DWORDS], local: vec![0; DWORDS], valid: vec![false; DWORDS] }
    }

    /// The buffer that the packet generates (2a p.88-91).
    fn generate(&mut self, hides: bool, clamp: bool) -> Vec<u32> {
        let mut buffer = Vec::new();
        for dword in 0..DWORDS {
            let float = f32::from_bits(self.global[dword]);
            buffer.push(if hides && self.valid[dword] {
                self.local[dword]
            } else if clamp && dword < FLOATS && float > 1.0 {
                1_f32.to_bits()
            } else if clamp && dword < FLOATS && float < -1.0 {
                (-1_f32).to_bits()
            } else {
                self.global[dword]
            });
        }
        self.valid.fill(false);
        buffer
    }
}

/// Packets of a stage.
macro_rules! stage {
    ($name:ident: $floats:ident $integers:ident $booleans:ident $valid:ident
        $generate:ident.$pointer:ident) => {
        mod $name {
            use super::*;

            /// Sets registers of floats.
            pub fn floats(global: bool, first: usize, values: &[[u32; 4]]) -> Vec<u32> {
                let entries: Vec<_> = values.iter().map(Dx9ConstantfEntry::unpack_lossy).collect();
                packets![$floats {
                    constant_register_index: u(first as u64),
                    global_constant_register: global,
                    entry: entries[..].into(),
                }]
            }

            /// Sets registers of integers.
            pub fn integers(global: bool, first: usize, values: &[[u32; 4]]) -> Vec<u32> {
                let entries: Vec<_> = values.iter().map(Dx9ConstantiEntry::unpack_lossy).collect();
                packets![$integers {
                    constant_register_index: u(first as u64),
                    global_constant_register: global,
                    entry: entries[..].into(),
                }]
            }

            /// Sets booleans.
            pub fn booleans(global: bool, first: usize, values: &[u32]) -> Vec<u32> {
                let entries: Vec<_> = values
                    .iter()
                    .map(|&it| Dx9ConstantbEntry { component: u(it.into()) })
                    .collect();
                packets![$booleans {
                    constant_register_index: u(first as u64),
                    global_constant_register: global,
                    entry: entries[..].into(),
                }]
            }

            /// Sets the valid bits of local registers.
            pub fn valid(floats: [u32; 8], integers: u32, booleans: u32) -> Vec<u32> {
                packets![$valid {
                    local_constant_f_valid_bits: floats.map(|bits| u(bits.into())),
                    local_constant_i_valid_bits: u(integers.into()),
                    local_constant_b_valid_bits: u(booleans.into()),
                }]
            }

            /// Writes the buffer at a byte offset.
            pub fn generate(offset: u64, dx9_enable: bool, clamp_enable: bool) -> Vec<u32> {
                let $pointer = Shifted::new(offset).expect("a multiple of 8 KiB");
                packets![$generate { clamp_enable, dx9_enable, $pointer }]
            }
        }
    };
}

stage!(vs: ThreeDStateDx9ConstantfVs ThreeDStateDx9ConstantiVs ThreeDStateDx9ConstantbVs
    ThreeDStateDx9LocalValidVs ThreeDStateDx9GenerateActiveVs.pointer_to_vs_constant_buffer);
stage!(ps: ThreeDStateDx9ConstantfPs ThreeDStateDx9ConstantiPs ThreeDStateDx9ConstantbPs
    ThreeDStateDx9LocalValidPs ThreeDStateDx9GenerateActivePs.pointer_to_ps_constant_buffer);

/// Floats on both sides of the limits, and any bits.
fn float(random: &mut Random) -> u32 {
    let special = [0, 1 << 31, f32::NAN.to_bits(), f32::INFINITY.to_bits(), 1.0_f32.to_bits()];
    match random.below(4) {
        0 => random.pick(&special),
        1 => random.below(1 << 32) as u32,
        _ => (random.below(4001) as f32 / 1000.0 - 2.0).to_bits(),
    }
}

fn random_packets(random: &mut Random, pixel: bool, state: &mut Stage) -> Vec<u32> {
    let mut batch = Vec::new();
    for _ in 0..4 {
        let global = random.one_in(2);
        let set = if global { &mut state.global } else { &mut state.local };
        let mut vectors = |random: &mut Random, registers: usize, start: usize, floats: bool| {
            let first = random.index(registers);
            let count = random.index(registers - first + 1);
            let mut values = Vec::new();
            for register in first..first + count {
                let value = [(); 4].map(|()| match floats {
                    true => float(random),
                    false => random.below(1 << 32) as u32,
                });
                set[start + 4 * register..][..4].copy_from_slice(&value);
                values.push(value);
            }
            (first, values)
        };
        let packet = match random.below(4) {
            0 => {
                let (first, values) = vectors(random, 256, 0, true);
                if pixel {
                    ps::floats(global, first, &values)
                } else {
                    vs::floats(global, first, &values)
                }
            }
            1 => {
                let (first, values) = vectors(random, 32, FLOATS, false);
                if pixel {
                    ps::integers(global, first, &values)
                } else {
                    vs::integers(global, first, &values)
                }
            }
            2 => {
                let first = random.index(16);
                let count = random.index(17 - first);
                let values = random.dwords(count);
                set[NUMBERS + first..][..values.len()].copy_from_slice(&values);
                if pixel {
                    ps::booleans(global, first, &values)
                } else {
                    vs::booleans(global, first, &values)
                }
            }
            _ => {
                let bits = random.dwords(9);
                let floats: [u32; 8] = bits[..8].try_into().unwrap();
                let booleans = random.below(1 << 16) as u32;
                for (dword, valid) in state.valid.iter_mut().enumerate() {
                    *valid = match dword {
                        ..FLOATS => floats[dword / 128] & 1 << (dword / 4 % 32) != 0,
                        FLOATS..NUMBERS => bits[8] & 1 << ((dword - FLOATS) / 4) != 0,
                        _ => booleans & 1 << (dword - NUMBERS) != 0,
                    };
                }
                if pixel {
                    ps::valid(floats, bits[8], booleans)
                } else {
                    vs::valid(floats, bits[8], booleans)
                }
            }
        };
        batch.extend(packet);
    }
    batch
}

/// Random registers of both stages, local and global, in DX9 and DX8 mode, with and without
/// clamping. The registers themselves are not clamped: a later buffer has their values.
#[test]
fn random_registers() {
    let mut model = model();
    let mut random = Random::new(0x55);
    run(&mut model, &packets![dx9_pool()]).unwrap();
    let mut stages = [Stage::new(), Stage::new()];
    for round in 0..400 {
        let pixel = random.one_in(2);
        let state = &mut stages[usize::from(pixel)];
        let mut batch = random_packets(&mut random, pixel, state);
        let offset = 8192 * random.below(DX9_BYTES / 8192);
        let (hides, clamp) = (random.one_in(2), random.one_in(2));
        batch.extend(match pixel {
            true => ps::generate(offset, hides, clamp),
            false => vs::generate(offset, hides, clamp),
        });
        run(&mut model, &batch).unwrap();
        let expected = state.generate(hides, clamp);
        let found = model.get(DX9 + offset, DWORDS);
        for dword in 0..DWORDS {
            assert_eq!(found[dword], expected[dword], "round {round}, dword {dword}");
        }
    }
}

/// A disabled pool clears the valid bits and keeps the registers; no buffer is written.
#[test]
fn disabled_pool() {
    let mut model = model();
    let off = ThreeDStateDx9ConstantBufferPoolAlloc {
        dx9_constant_buffer_pool_enable: false,
        ..dx9_pool()
    };
    let set = [
        packets![dx9_pool()],
        vs::floats(true, 0, &[[1; 4]]),
        vs::floats(false, 0, &[[2; 4]]),
        vs::valid([!0; 8], 0, 0),
    ]
    .concat();
    let stats = run(&mut model, &[set, packets![off], vs::generate(0, true, false)].concat());
    assert_eq!(stats.unwrap().without_effect, 1);
    assert_eq!(model.get(DX9, 4), [0; 4]);
    run(&mut model, &[packets![dx9_pool()], vs::generate(0, true, false)].concat()).unwrap();
    assert_eq!(model.get(DX9, 4), [1; 4]);
}

/// A buffer that is generated and then gathered from, with both halves.
#[test]
fn gathered() {
    let mut model = model();
    put_buffer(&mut model, 64, DX9 + 8192, 8192);
    let pick = |buffer, vector, mask| Pick { buffer, vector, mask };
    let picks = vec![pick(0, 255, 15), pick(1, 31, 3), pick(1, 32, 4)];
    let batch = [
        crate::streamer::gather::prepare(),
        packets![table_pool(), gather_pool(), dx9_pool()],
        edit(PS, 0, &[(16, 64)]),
        ps::floats(true, 255, &[[11, 12, 13, 14]]),
        ps::integers(true, 31, &[[21, 22, 23, 24]]),
        ps::booleans(true, 2, &[1]),
        ps::generate(8192, true, false),
        gather(PS, &Gather { valid: 1, block: 1, offset: 0, dx9: true, picks }),
    ]
    .concat();
    run(&mut model, &batch).unwrap();
    assert_eq!(model.get(GATHERED, 7), [11, 12, 13, 14, 21, 22, 1]);
}

/// Values that the manual forbids.
#[test]
fn forbidden() {
    let mut model = model();
    let mut refuse = |packets: &[Vec<u32>], text: &str| {
        let fault = refused(&mut model, &packets.concat());
        assert!(fault.contains(text), "{fault}");
    };
    refuse(&[vs::floats(true, 255, &[[0; 4]; 2])], "after the last of 256 registers");
    refuse(&[ps::integers(false, 1, &[[0; 4]; 32])], "after the last of 32 registers");
    refuse(&[ps::booleans(false, 15, &[0; 2])], "after the last of 16 registers");
    refuse(
        &[packets![dx9_pool()], ps::generate(DX9_BYTES, true, false)],
        "Pointer to PS Constant Buffer",
    );
    let empty = ThreeDStateDx9ConstantBufferPoolAlloc {
        dx9_constant_buffer_pool_buffer_size: u(0),
        ..dx9_pool()
    };
    refuse(&[packets![empty]], "Dx9 Constant Buffer Pool Buffer Size");
    // One register and two dwords.
    let mut half = vs::floats(true, 0, &[[0; 4]]);
    half[0] += 2;
    half.extend([0, 0]);
    refuse(&[half], "DWord Length = 0x6");
}
