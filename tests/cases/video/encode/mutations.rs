//! Batches with random changes.

use super::headers::headers;
use super::macroblocks::macroblock;
use super::setup::{HEIGHT, WIDTH, model};
use super::state::{VARIANT, Variant, picture};
use genxml::engine::EngineId;
use genxml_cases::{Random, push};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Batches with random changes end with a result or a fault. `GENXML_MUTATIONS` sets their number.
#[test]
fn changed_batches_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(600, |count| count.parse().unwrap());
    let mut faults = 0;
    for number in 0..count {
        let mut random = Random::new(number);
        let mut model = model(&mut random);
        let variant =
            Variant { cabac: random.below(2) == 0, transform_8x8: random.below(2) == 0, ..VARIANT };
        let index = random.index(3);
        let mut batch = picture(index, variant);
        headers(index, variant, &mut batch);
        for number in 0..WIDTH * HEIGHT {
            push(&mut batch, &macroblock(index, number, variant, &mut random, &mut model));
        }
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
