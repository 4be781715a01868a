//! Packs 4 or 8 single-bit fields by one multiplication.
//!
//! The compiler usually stores the `bool` members of a struct as adjacent bytes, in the order of
//! their declaration. Then it reads 4 or 8 of them by one load. The product of the loaded integer
//! and a constant contains each flag at the position of its field. The result is also correct, but
//! slower to compute, if the members are not adjacent.

use super::field::{number, pattern};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::ops::Range;

/// The constants that move flags from the bytes of an integer to the bits of a dword:
/// `(bytes * factor >> shift) as u32 & mask`. Byte `i` is flag `i`, which is 0 or 1.
#[derive(Debug, PartialEq)]
struct Gather {
    factor: u64,
    shift: u32,
    mask: u32,
}

impl Gather {
    /// The constants for flags at the bits `places` of a dword. `None` if two partial products
    /// would have the same position, because then a carry could change a flag; or if the product
    /// would not fit 64 bits.
    fn new(places: &[u32]) -> Option<Gather> {
        let bytes = (0u32..).step_by(8);
        let shift =
            places.iter().zip(bytes.clone()).map(|(place, byte)| byte.saturating_sub(*place));
        let shift = shift.max()?;
        let (mut factor, mut mask, mut taken) = (0u64, 0u32, 0u64);
        for (place, byte) in places.iter().zip(bytes.clone()) {
            let exponent = shift + place - byte;
            // The flag must be in the low 64 bits of the product.
            1u64.checked_shl(exponent + byte)?;
            mask |= 1u32.checked_shl(*place)?;
            let bit = 1u64.checked_shl(exponent)?;
            if factor & bit != 0 {
                continue;
            }
            factor |= bit;
            // Each flag is multiplied by each bit of the factor.
            for (_, byte) in places.iter().zip(bytes.clone()) {
                let Some(partial) = 1u64.checked_shl(exponent + byte) else { continue };
                if taken & partial != 0 {
                    return None;
                }
                taken |= partial;
            }
        }
        Some(Gather { factor, shift, mask })
    }
}

/// Combines flags of one dword. `flags` has the bit and the expression of each flag, in the order
/// of declaration. Returns a term for each run that can be combined, with the indices of its flags.
/// No flag is in two runs: the compiler combines loads of bytes only if each byte is used once.
pub(super) fn combine(flags: &[(u32, TokenStream)]) -> Vec<(Range<usize>, TokenStream)> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at < flags.len() {
        match [8, 4].iter().find_map(|count| {
            let run = at..at + count;
            Some((run.clone(), term(flags.get(run)?)?))
        }) {
            Some((run, term)) => {
                at = run.end;
                runs.push((run, term));
            }
            None => at += 1,
        }
    }
    runs
}

/// The term for 4 or 8 flags.
fn term(flags: &[(u32, TokenStream)]) -> Option<TokenStream> {
    let places: Vec<u32> = flags.iter().map(|(place, _)| *place).collect();
    let Gather { factor, shift, mask } = Gather::new(&places)?;
    let values = flags.iter().map(|(_, value)| value);
    let (factor, shift, mask) = (pattern(factor), number(shift), pattern(u64::from(mask)));
    let function = format_ident!("flags{}", flags.len());
    Some(quote!(#function([#(#values),*], #factor, #shift, #mask)))
}

#[cfg(test)]
mod tests {
    use super::Gather;

    /// For every value of the flags, the formula moves each flag to its position.
    fn check(places: &[u32]) {
        let Some(Gather { factor, shift, mask }) = Gather::new(places) else { return };
        for value in 0..1u32 << places.len() {
            let flag = |i: usize| value >> i & 1;
            let bytes = (0..places.len()).fold(0, |bytes, i| bytes | u64::from(flag(i)) << (8 * i));
            let expected = (0..places.len()).fold(0, |bits, i| bits | flag(i) << places[i]);
            let found = (bytes.wrapping_mul(factor) >> shift) as u32 & mask;
            assert_eq!(found, expected, "places {places:?}, flags {value:#b}");
        }
    }

    #[test]
    fn four_flags_at_all_places() {
        for a in 0..32 {
            for b in a + 1..32 {
                for c in b + 1..32 {
                    for d in c + 1..32 {
                        check(&[a, b, c, d]);
                    }
                }
            }
        }
        let adjacent = |first: u32| Gather::new(&[first, first + 1, first + 2, first + 3]);
        assert!((0..=28).all(|first| adjacent(first).is_some()));
    }

    #[test]
    fn eight_adjacent_flags() {
        for first in 0..=24 {
            let places: Vec<u32> = (first..first + 8).collect();
            assert!(Gather::new(&places).is_some(), "{first}");
            check(&places);
        }
    }

    #[test]
    fn eight_flags_with_gaps() {
        let mut places: Vec<u32> = (0..8).collect();
        for gap in 0..8 {
            for width in 1..=24 {
                places.iter_mut().enumerate().for_each(|(i, place)| {
                    *place = i as u32 + if i >= gap { width } else { 0 };
                });
                check(&places);
            }
        }
    }

    #[test]
    fn a_carry_is_refused() {
        // The factors are 2^0, 2^7, 2^14 and 2^8. Flag 0 times 2^8 meets flag 1 times 2^0.
        assert_eq!(Gather::new(&[0, 1, 2, 18]), None);
    }
}
