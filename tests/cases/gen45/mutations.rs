//! Damaged batches of the G45: with any damage, a batch ends soon, with a result or a fault, and
//! writes nothing that is not mapped.
//!
//! A thousand damaged batches run by default; this runs a hundred thousand:
//!
//!     GENXML_MUTATIONS=100000 cargo test -p genxml-cases --test all gen45::mutations

use super::{BATCH, DATA, END, G45, SIZE};
use genxml::core::reflect::Kind;
use genxml::gen45::RenderPacket;
use genxml_cases::Random;
use std::time::Instant;

/// Values that are likely to break something.
const EXTREMES: [u32; 12] = [
    0,
    1,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    !0,
    !1,
    BATCH as u32,
    DATA as u32,
    (DATA + SIZE as u64 - 4) as u32,
    0xffff_f000,
];

/// A batch with every packet of the engine, in random order. Fields have random or extreme values.
fn batch(random: &mut Random) -> Vec<u32> {
    let mut dwords = Vec::new();
    for _ in 0..1 + random.below(24) {
        let container = random.pick(&RenderPacket::INSTRUCTIONS);
        let Kind::Instruction { opcode, opcode_mask, .. } = container.kind else { continue };
        let least = container.dwords() as u32;
        // The length is usually right, and the flags are usually 0.
        let length = match random.below(8) {
            0 => random.below(64) as u32,
            _ => least.saturating_sub(2),
        };
        let flags = random.bits() as u32 & random.bits() as u32 & !opcode_mask & !0xff;
        let mut header = opcode | if random.below(3) == 0 { flags } else { 0 };
        if least > 1 {
            header |= length;
        }
        let length = RenderPacket::length(header).unwrap_or(1).clamp(1, 80);
        dwords.push(header);
        for _ in 1..length {
            dwords.push(match random.below(4) {
                0 => random.pick(&EXTREMES),
                1 => DATA as u32 + 8 * random.below(SIZE as u64 / 8) as u32,
                2 => random.bits() as u32 & random.bits() as u32,
                _ => random.bits() as u32,
            });
        }
    }
    dwords.push(END);
    dwords
}

#[test]
fn damaged_batches_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(1000, |text| text.parse().unwrap());
    let mut g45 = G45::new();
    g45.gpu.set_work_limit(1 << 18);
    let other = g45.gpu.alloc(4096 * 4).unwrap();
    g45.gpu.memory.bytes_mut(other).fill(0xa5);
    let (mut well, mut faults) = (0, 0);
    for seed in 0..count {
        let mut random = Random::new(seed);
        let batch = batch(&mut random);
        if seed % 16 == 0 {
            g45.context = g45.gpu.create_context().unwrap();
        }
        let started = Instant::now();
        let result = g45.run(&batch);
        assert!(started.elapsed().as_secs() < 5, "seed {seed} took {:?}", started.elapsed());
        match result {
            Ok(_) => well += 1,
            Err(fault) => {
                assert!(!fault.to_string().is_empty());
                faults += 1;
            }
        }
        let untouched = g45.gpu.memory.bytes(other).iter().all(|&byte| byte == 0xa5);
        assert!(untouched, "seed {seed} wrote to memory that is not mapped");
    }
    println!("{well} batches ended well, {faults} with a fault");
    assert!(well > count / 100 && faults > count / 100, "{well} well, {faults} faults");
}
