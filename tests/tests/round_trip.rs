//! The laws of packing hold for every generated container: no value of a field is lost, packed
//! dwords are well formed, and unpacking loses no bit. Oracle: the laws themselves, on random
//! dwords.

use genxml_core::bits::{ones, put};
use genxml_core::reflect::{Container, Field};
use genxml_core::round_trip::Outcome;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;

/// Moves values into the range of their field, so that strict readers check more than the first
/// violation.
fn into_ranges(info: &Container, dwords: &mut [u32]) {
    for field in info.fields {
        if let Field { range: Some((min, max)), start, end, .. } = *field {
            let span = max.wrapping_sub(min) & ones(end - start + 1);
            let random = genxml_core::bits::get(dwords, start, end);
            let value =
                min.wrapping_add(if span == u64::MAX { random } else { random % (span + 1) });
            clear(dwords, start, end);
            put(dwords, start, end, value & ones(end - start + 1));
        }
    }
}

fn clear(dwords: &mut [u32], start: u32, end: u32) {
    for bit in start..=end {
        if let Some(dword) = dwords.get_mut((bit / 32) as usize) {
            *dword &= !(1 << (bit % 32));
        }
    }
}

#[test]
fn every_container() {
    let mut containers = 0;
    let mut never = Vec::new();
    for trip in genxml_tests::ROUND_TRIPS.iter().copied().flatten() {
        containers += 1;
        let least = trip.info.dwords().max(2);
        let strategy = (least..least + 12)
            .prop_flat_map(|length| proptest::collection::vec(any::<u32>(), length));
        let mut runner =
            TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
        let held = Cell::new(0);
        let result = runner.run(&(strategy, 0..4u32), |(mut dwords, density)| {
            for dword in &mut dwords {
                *dword &= match density {
                    0 => u32::MAX,
                    1 => 0x0f0f_0f0f,
                    2 => dword.rotate_left(7),
                    _ => 0,
                };
            }
            into_ranges(trip.info, &mut dwords);
            match (trip.check)(&dwords) {
                Ok(outcome) => held.set(held.get() + u32::from(outcome == Outcome::Holds)),
                Err(broken) => return Err(TestCaseError::fail(broken.to_string())),
            }
            Ok(())
        });
        if let Err(error) = result {
            panic!("{}: {error}", trip.info.name);
        }
        if held.get() == 0 {
            never.push(trip.info.name);
        }
    }
    println!("{containers} containers");
    // An empty list, or strict readers that refuse everything, would prove nothing.
    assert!(containers > 100, "only {containers} containers are listed");
    assert!(never.is_empty(), "strict unpack refused every sample of {never:?}");
}
