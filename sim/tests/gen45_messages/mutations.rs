//! Random messages and states: no panic, and no change of memory that no surface contains.

use crate::buffers::buffer;
use crate::rig::{BASE, DATA, Rig, SAMPLERS, SURFACES, Send, TABLE};
use crate::texture::{Texture, load_sampler, sampler};
use crate::urb::fences;
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::enums::SurfaceType;
use genxml::gen45::state_surface::SamplerStateMipModeFilter as Mip;
use genxml_sim::gen45::urb::Unit;
use genxml_testkit::Random;

const FUNCTIONS: [SharedFunction; 7] = [
    SharedFunction::Math,
    SharedFunction::Sampler,
    SharedFunction::Gateway,
    SharedFunction::DataPortRead,
    SharedFunction::DataPortWrite,
    SharedFunction::Urb,
    SharedFunction::ThreadSpawner,
];

fn message(random: &mut Random) -> Send {
    let function = random.pick(&FUNCTIONS);
    let length = 1 + random.index(14);
    let mut descriptor = random.bits() as u32 & 0x0009_ffff;
    // Mostly a surface that exists.
    if !random.one_in(4) {
        descriptor = descriptor & !0xff | random.below(5) as u32;
    }
    let payload = (0..length)
        .map(|_| {
            let dwords = random.dwords(8);
            let small = random.one_in(2);
            std::array::from_fn(|n| match (small, n) {
                (true, 3) => SAMPLERS as u32,
                (true, _) => dwords[n] & 0x3f0,
                (false, _) => dwords[n],
            })
        })
        .collect();
    Send {
        mask: random.bits() as u32,
        channels: 16,
        response: random.one_in(2),
        eot: random.one_in(8),
        ..Send::new(function, descriptor, payload)
    }
}

fn rig() -> Rig {
    let mut rig = Rig::new();
    let texture = Texture::new(SurfaceType::SURFTYPE_2D, [13, 11, 1], 3);
    texture.load(&mut rig);
    rig.bind(0, &texture.state().pack());
    rig.bind(1, &buffer(40, 16).pack());
    rig.bind(2, &Texture::new(SurfaceType::SURFTYPE_CUBE, [8, 8, 1], 2).state().pack());
    rig.bind(3, &Texture::new(SurfaceType::SURFTYPE_3D, [8, 4, 4], 2).state().pack());
    for n in 0..16 {
        load_sampler(&mut rig, n, &sampler(n % 2 == 0, Mip::LINEAR));
    }
    rig.local.pixels = true;
    rig.local.shared.spawns = true;
    rig.urb().fence(&fences()).unwrap();
    rig.urb().begin(Unit::Clip, 4, 5).unwrap();
    rig
}

/// Memory after the surfaces keeps its contents; so do states, because no surface contains them.
#[test]
fn random_messages() {
    let mut random = Random::new(2009);
    let mut rig = rig();
    let guard = DATA + 0x9_0000;
    rig.put_bytes(guard, &[0xa5; 0x4000]);
    let states = rig.get_bytes(BASE, 0x8000);
    // Stateless messages end before the guard and begin after the states.
    rig.bindings.general_base = DATA;
    rig.bindings.general_bound = guard;
    let mut done = 0;
    for _ in 0..20_000 {
        done += u32::from(rig.send(&message(&mut random)).is_ok());
        rig.local.writes.clear();
        rig.local.shared = Default::default();
        rig.local.shared.spawns = true;
        rig.urb().begin(Unit::Clip, 4, 5).unwrap();
    }
    assert!(done > 200, "{done} messages were executed");
    assert!(rig.get_bytes(guard, 0x4000).iter().all(|byte| *byte == 0xa5));
    assert_eq!(rig.get_bytes(BASE, 0x8000), states);
}

/// States with random bits end in results or faults.
#[test]
fn random_states() {
    let mut random = Random::new(1984);
    for _ in 0..150 {
        let mut rig = rig();
        for index in 0..5u64 {
            let mut state = match index {
                0 => Texture::new(SurfaceType::SURFTYPE_2D, [13, 11, 3], 3).state().pack(),
                _ => buffer(40, 16).pack(),
            };
            for _ in 0..random.index(6) {
                state[random.index(6)] ^= 1 << random.index(32);
            }
            if random.one_in(3) {
                state = std::array::from_fn(|_| random.bits() as u32);
                state[1] = DATA as u32;
            }
            rig.put(SURFACES + 0x4000 + 64 * index, &state);
            rig.put(SURFACES + TABLE + 4 * index, &[0x4000 + 64 * index as u32]);
        }
        for n in 0..16u64 {
            let state = random.dwords(4);
            rig.put(BASE + SAMPLERS + 16 * n, &[state[0], state[1], 0x3000, state[3]]);
        }
        for _ in 0..100 {
            let _ = rig.send(&message(&mut random));
        }
    }
}
