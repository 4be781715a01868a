//! Batches with random changes.

use super::packets::{Scene, flat, predicted, state};
use crate::video::packets::model;
use genxml::engine::EngineId;
use genxml_cases::Random;
use genxml_codecs::mpeg2::Prediction;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of changed batches.
const COUNT: u64 = 600;

/// A picture of random macroblocks.
fn scene(random: &mut Random) -> Scene {
    let kind = 1 + random.below(3);
    let mut dc = || std::array::from_fn(|_| random.below(512) as i32 - 256);
    let positions = [(0, 0), (1, 0), (0, 1), (1, 1)];
    let macroblocks = positions.map(|position| {
        let mut macroblock = match kind {
            1 => flat(true, dc()),
            _ => predicted(dc()[..2].try_into().unwrap(), dc()),
        };
        if kind == 3 {
            macroblock.motion.directions[1] = true;
            macroblock.motion.prediction = Prediction::Field;
        }
        (position, macroblock)
    });
    Scene { state: state(kind), ..Scene::predicted(macroblocks.to_vec()) }
}

#[test]
fn changed_batches_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(COUNT, |count| count.parse().unwrap());
    let mut faults = 0;
    for number in 0..count {
        let mut random = Random::new(number);
        let mut model = model();
        let mut batch = scene(&mut random).batch(&mut model);
        for _ in 0..=random.index(4) {
            let at = random.index(batch.len());
            batch[at] = match random.below(3) {
                0 => random.below(1 << 32) as u32,
                1 => batch[at] ^ 1 << random.below(32),
                _ => batch[at] ^ 0xff << (8 * random.below(4)),
            };
        }
        let ended =
            catch_unwind(AssertUnwindSafe(|| model.submit(EngineId::Video, &batch).is_err()));
        faults += u64::from(ended.unwrap_or_else(|_| panic!("change {number} panics")));
    }
    assert!(faults > count / 20 && faults < count * 19 / 20, "{faults} of {count} have faults");
}
