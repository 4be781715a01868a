//! Captures with random changes: each submission ends with a result or a fault.
//!
//! `GENXML_MUTATIONS` sets the number of changed plays, which all captures share.

use super::capture::{Capture, Step};
use genxml_cases::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of changed plays.
const PLAYS: u64 = 7600;

/// Changes what the driver wrote: packets, coded data and tables.
fn change(capture: &mut Capture, random: &mut Random) {
    let is_put = |step: &Step| matches!(step, Step::Put(..));
    let puts: Vec<usize> =
        (0..capture.steps.len()).filter(|&at| is_put(&capture.steps[at])).collect();
    for _ in 0..=random.index(3) {
        let at = random.pick(&puts);
        let Step::Put(address, bytes) = &mut capture.steps[at] else { unreachable!() };
        let byte = random.index(bytes.len());
        match random.below(4) {
            0 => bytes[byte] = random.below(256) as u8,
            1 => bytes[byte] ^= 0xff,
            2 => {
                // A whole dword, some of which the driver did not write.
                let dword = (*address + byte as u64) & !3;
                let values = [0, 1, 0xffff_ffff, random.below(1 << 32) as u32];
                let value = random.pick(&values);
                let step = Step::Put(dword, value.to_le_bytes().to_vec());
                capture.steps.insert(at + 1, step);
                return;
            }
            _ => bytes[byte] ^= 1 << random.below(8),
        }
    }
}

#[test]
fn changed_captures_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(PLAYS, |count| count.parse().unwrap());
    let (mut plays, mut faults) = (0, 0);
    let names = Capture::names();
    for (index, name) in names.iter().enumerate() {
        let capture = Capture::open(name);
        for number in 0..count.div_ceil(names.len() as u64) {
            let mut random = Random::new(number << 8 | index as u64);
            let mut changed = capture.clone();
            change(&mut changed, &mut random);
            let mut model = capture.model();
            let ended = catch_unwind(AssertUnwindSafe(|| changed.submit(&mut model)));
            let count = ended.unwrap_or_else(|_| panic!("{name}: change {number} panics"));
            plays += 1;
            faults += usize::from(count > 0);
        }
    }
    // Both must be frequent, so that the changes reach all parts of the decoders.
    assert!(faults > plays / 50 && faults < plays * 3 / 4, "{faults} of {plays} have faults");
}
