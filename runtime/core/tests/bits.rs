//! Tests of `bits` against a definition bit by bit.

use genxml_core::bits::{get, get_array, ones, put, put_array, sign_extend};
use proptest::prelude::*;

/// Bit `at` of `dwords`. Bits after the last dword are zero.
fn bit(dwords: &[u32], at: u32) -> bool {
    dwords.get((at / 32) as usize).is_some_and(|dword| dword >> (at % 32) & 1 == 1)
}

fn range() -> impl Strategy<Value = (Vec<u32>, u32, u32)> {
    (proptest::collection::vec(any::<u32>(), 0..6), 0u32..200, 1u32..=64)
        .prop_map(|(dwords, start, width)| (dwords, start, start + width - 1))
}

proptest! {
    #[test]
    fn get_reads_each_bit((dwords, start, end) in range()) {
        let value = get(&dwords, start, end);
        for at in 0..64 {
            let expected = start + at <= end && bit(&dwords, start + at);
            prop_assert_eq!(value >> at & 1 == 1, expected);
        }
    }

    #[test]
    fn put_sets_each_bit_and_no_other((mut dwords, start, end) in range(), value: u64) {
        let value = value & ones(end - start + 1);
        let before = dwords.clone();
        for at in start..=end {
            if let Some(dword) = dwords.get_mut((at / 32) as usize) {
                *dword &= !(1 << (at % 32));
            }
        }
        put(&mut dwords, start, end, value);
        for at in 0..dwords.len() as u32 * 32 {
            let inside = (start..=end).contains(&at);
            let expected = if inside { value >> (at - start) & 1 == 1 } else { bit(&before, at) };
            prop_assert_eq!(bit(&dwords, at), expected);
        }
    }

    #[test]
    fn arrays_are_the_bits_in_order(dwords in proptest::collection::vec(any::<u32>(), 6), start in 0u32..64, bits in 1u32..=96) {
        let nested: [u32; 3] = get_array(&dwords, start, bits);
        for at in 0..96 {
            prop_assert_eq!(bit(&nested, at), at < bits && bit(&dwords, start + at));
        }
        let mut out = [0; 6];
        put_array(&mut out, start, bits, &nested);
        for at in 0..192 {
            let inside = (start..start + bits).contains(&at);
            prop_assert_eq!(bit(&out, at), inside && bit(&dwords, at));
        }
    }

    #[test]
    fn signs(value: i64, width in 1u32..=64) {
        let value = value >> (64 - width);
        prop_assert_eq!(sign_extend(value as u64 & ones(width), width), value);
    }
}
