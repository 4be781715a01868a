//! Tests of `literal`.

use super::*;
use crate::address::Graphics;

#[test]
fn literals_that_fit() {
    let minimum: S<8> = lit!(-128);
    let all: U64<64> = lit!(0xffff_ffff_ffff_ffff);
    let shifted: Shifted<4, 7> = lit!(128);
    let log: PowerOfTwo<3> = lit!(128);
    let address: Address<Graphics, 64, 64> = lit!(0x8000_0000_0040);
    let (single, double): (f32, f64) = (lit!(3), lit!(float 0.1));
    let fixed: UFix<4, 8> = lit!(2);
    assert_eq!((minimum.get(), all.get(), shifted.bits(), log.bits()), (-128, u64::MAX, 1, 7));
    assert_eq!(address.get(), 0xffff_8000_0000_0040);
    assert_eq!((single, double, fixed.get()), (3.0, 0.1, 2.0));
}

/// Oracle: the greatest f32 is 3.4028235e38 (IEEE 754).
#[test]
fn floats_do_not_become_infinite() {
    fn result<const BITS: u64>() -> Result<f32, LiteralError> {
        <f32 as FloatLiteral<BITS>>::RESULT
    }
    assert_eq!(result::<{ f64::to_bits(3.4028234e38) }>(), Ok(f32::MAX));
    assert_eq!(result::<{ f64::to_bits(1e39) }>(), Err(LiteralError::Infinite));
    assert_eq!(result::<{ f64::to_bits(-1e39) }>(), Err(LiteralError::Infinite));
    assert_eq!(<f64 as FloatLiteral<{ f64::to_bits(1e39) }>>::RESULT, Ok(1e39));
    assert_eq!(
        result::<{ f64::to_bits(f64::INFINITY) }>(),
        Ok(f32::INFINITY),
        "an explicit infinity is accepted"
    );
}

#[test]
fn messages() {
    fn message<const V: i128, T: Literal<V>>() -> std::string::String {
        let Err(refused) = T::RESULT else { panic!("{V} fits") };
        refused.write(Text::new()).as_str().into()
    }
    assert_eq!(message::<256, U<8>>(), "256 does not fit 0..=255");
    assert_eq!(message::<-1, U<8>>(), "-1 does not fit 0..=255");
    assert_eq!(
        message::<{ 1 << 64 }, U64<64>>(),
        "18446744073709551616 does not fit 0..=18446744073709551615"
    );
    assert_eq!(message::<-129, S<8>>(), "-129 does not fit -128..=127");
    assert_eq!(message::<0, MinusOne<6>>(), "0 does not fit 1..=64");
    assert_eq!(message::<100, Shifted<4, 7>>(), "100 does not fit 0..=1920 in steps of 128");
    assert_eq!(message::<3, PowerOfTwo<3>>(), "3 is not a power of two up to 128");
    assert_eq!(message::<16, UFix<4, 8>>(), "the number does not fit 0..=15.99609375");
    assert_eq!(message::<0x41, Address<Graphics, 64, 32>>(), "0x41 is not a multiple of 0x40");
    assert_eq!(
        message::<0x1_0000_0000, Address<Graphics, 64, 32>>(),
        "0x100000000 does not fit 0..=0xffffffc0"
    );
    assert_eq!(
        message::<-64, Address<Graphics, 64, 64>>(),
        "-0x40 does not fit 0..=0xffffffffffc0"
    );
}
