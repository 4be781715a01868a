//! Tests of bounded integers, fixed point and addresses. Oracle for rounding: the exact value of
//! the `f64`, as an integer times a power of two, rounded with integer arithmetic.

use genxml_core::address::{DynamicState, Graphics};
use genxml_core::{Address, MinusOne, PowerOfTwo, S, SFix, Shifted, U, U64, UFix};
use proptest::prelude::*;

/// `value * 2^fraction`, rounded to the nearest integer, ties to even; `None` if it is not finite
/// or far too large.
fn scaled(value: f64, fraction: i32) -> Option<i128> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction_bits = (bits & ((1 << 52) - 1)) as i128;
    let (significand, exponent) =
        if field == 0 { (fraction_bits, -1074) } else { (fraction_bits | 1 << 52, field - 1075) };
    let shift = exponent + fraction;
    let magnitude = match shift {
        70.. => return (significand == 0).then_some(0),
        0.. => significand << shift,
        -100..0 => {
            let (whole, rest) = (significand >> -shift, significand & ((1 << -shift) - 1));
            let half = 1i128 << (-shift - 1);
            whole + i128::from(rest > half || (rest == half && whole & 1 == 1))
        }
        _ => 0,
    };
    Some(if value < 0.0 { -magnitude } else { magnitude })
}

/// Values of all sizes, many of them at or next to a tie between two multiples of 1/256.
fn values() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -20.0..20.0f64,
        (-5000i32..5000).prop_map(|n| f64::from(n) / 512.0),
        (-5000i32..5000, -1i32..=1).prop_map(|(n, nudge)| {
            let tie = f64::from(n) / 512.0;
            f64::from_bits(tie.to_bits().wrapping_add_signed(i64::from(nudge)))
        }),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(-0.0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn unsigned_fixed_point_rounds_to_nearest_even(value in values()) {
        let expected = scaled(value, 8).filter(|scaled| (0..1 << 12).contains(scaled));
        let found = UFix::<4, 8>::new(value);
        prop_assert_eq!(found.ok().map(|fixed| i128::from(fixed.bits())), expected);
        if let Ok(fixed) = found {
            prop_assert_eq!(UFix::<4, 8>::new(fixed.get()), Ok(fixed));
        }
    }

    #[test]
    fn signed_fixed_point_rounds_to_nearest_even(value in values()) {
        let expected = scaled(value, 8).filter(|scaled| (-(1 << 11)..1 << 11).contains(scaled));
        let found = SFix::<3, 8>::new(value);
        prop_assert_eq!(found.ok().map(|fixed| fixed.get()), expected.map(|scaled| scaled as f64 / 256.0));
        if let Ok(fixed) = found {
            prop_assert_eq!(SFix::<3, 8>::from_bits(fixed.bits()), fixed);
        }
    }

    #[test]
    fn integers_hold_their_range_and_no_more(value: u64, small in 0u64..300, signed: i64) {
        for value in [value, small] {
            prop_assert_eq!(U::<7>::new(value).ok().map(U::get), (value < 128).then_some(value));
            prop_assert_eq!(U64::<64>::new(value).map(U64::get), Ok(value));
            prop_assert_eq!(MinusOne::<7>::new(value).ok().map(MinusOne::get), (1..=128).contains(&value).then_some(value));
            let shifted = value % 32 == 0 && value < 32 * 8;
            prop_assert_eq!(Shifted::<3, 5>::new(value).ok().map(Shifted::get), shifted.then_some(value));
            let power = value.is_power_of_two() && value <= 128;
            prop_assert_eq!(PowerOfTwo::<3>::new(value).ok().map(PowerOfTwo::get), power.then_some(value));
        }
        for signed in [signed, signed % 100] {
            prop_assert_eq!(S::<7>::new(signed).ok().map(S::get), (-64..64).contains(&signed).then_some(signed));
            prop_assert_eq!(S::<7>::from_bits(signed as u64).get(), signed << 57 >> 57);
        }
    }

    #[test]
    fn addresses_are_canonical(value: u64) {
        type Wide = Address<Graphics, 64, 64>;
        let low = value & 0xffff_ffff_ffc0;
        let canonical = (low as i64) << 16 >> 16;
        // A 48-bit address and its canonical form are equal; every other form is refused.
        prop_assert_eq!(Wide::new(low).map(Wide::get), Ok(canonical as u64));
        prop_assert_eq!(Wide::new(canonical as u64), Wide::new(low));
        prop_assert_eq!(Wide::new(low).map(Wide::va48), Ok(low));
        let high = value >> 48;
        let plain = high == 0 || (high == 0xffff && value >> 47 & 1 == 1);
        prop_assert_eq!(Wide::new(value).is_ok(), plain && value % 64 == 0);
        // Narrow fields have no sign.
        type Narrow = Address<DynamicState, 32, 16>;
        prop_assert_eq!(Narrow::new(value & 0x1_ffff).is_ok(), value & 0x1_001f == 0);
        prop_assert_eq!(Narrow::from_bits(value & 0xffff).get(), value & 0xffe0);
    }
}

#[test]
fn text() {
    assert_eq!(format!("{:?} {}", U::<8>::from_bits(200), S::<8>::from_bits(200)), "200 -56");
    assert_eq!(format!("{:?} {:?}", MinusOne::<4>::ONE, PowerOfTwo::<4>::from_bits(10)), "1 1024");
    assert_eq!(
        format!("{:?} {}", UFix::<4, 8>::from_bits(0x180), SFix::<3, 8>::from_bits(0xf80)),
        "1.5 -0.5"
    );
    assert_eq!(format!("{:?}", Address::<Graphics, 1, 48>::from_bits(0x1234)), "0x1234");
    let error = Shifted::<3, 5>::new(33).expect_err("no multiple");
    assert_eq!(error.to_string(), "33 does not fit 0..=224 in steps of 32");
    let error = UFix::<4, 8>::new(16.0).expect_err("too large");
    assert_eq!(error.to_string(), "16 does not fit 0..=15.99609375");
}

/// Bits outside the field are dropped: packing ORs the stored bits into the dword.
#[test]
fn addresses_keep_their_own_bits() {
    let address = Address::<Graphics, 4, 48>::from_bits(0xffff_8000_0000_1003);
    assert_eq!((address.bits(), Address::new(address.get())), (0x8000_0000_1000, Ok(address)));
    assert_eq!(Address::<DynamicState, 64, 32>::from_bits(u64::MAX).bits(), 0xffff_ffc0);
    assert_eq!(Address::<Graphics, 1, 64>::from_bits(u64::MAX).bits(), u64::MAX);
}
