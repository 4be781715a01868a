//! Batches with random changes.

use super::headers::headers;
use super::macroblocks::macroblock;
use super::setup::{self, HEIGHT, WIDTH};
use super::state::{ADDRESSES, VARIANT, Variant, picture};
use genxml_cases::push;

#[test]
fn changed_batches_end() {
    setup::changed_batches_end(600, |random, model| {
        let variant =
            Variant { cabac: random.below(2) == 0, transform_8x8: random.below(2) == 0, ..VARIANT };
        let index = random.index(3);
        let mut batch = picture(index, variant);
        headers(index, variant, &mut batch);
        for number in 0..WIDTH * HEIGHT {
            push(&mut batch, &macroblock(index, number, variant, random, model));
        }
        (batch, ADDRESSES)
    });
}
