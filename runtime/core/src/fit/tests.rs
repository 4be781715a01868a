//! Tests of `fit`.

use super::*;
use crate::reflect::{Field, Group, Kind};
use std::string::ToString;

static FIELDS: [Field; 9] = [
    Field { name: "Count", start: 0, end: 8, stored: Stored::MinusOne, ..Field::PLAIN },
    Field { name: "Level", start: 9, end: 12, range: Some((1, 9)), ..Field::PLAIN },
    Field {
        name: "Bias",
        start: 13,
        end: 25,
        ty: Type::SFixed(8),
        range: Some((!0xff, 0x180)),
        ..Field::PLAIN
    },
    Field {
        name: "Delta",
        start: 26,
        end: 31,
        ty: Type::Int,
        range: Some((!3, 4)),
        ..Field::PLAIN
    },
    Field { name: "Twice", start: 32, end: 33, ..Field::PLAIN },
    Field { name: "Twice", start: 34, end: 35, range: Some((1, 1)), ..Field::PLAIN },
    Field {
        name: "Width",
        start: 36,
        end: 42,
        range: Some((0, 9)),
        alternative: Some(("The Extent", "Buffer")),
        ..Field::PLAIN
    },
    Field {
        name: "Width",
        start: 36,
        end: 42,
        alternative: Some(("The Extent", "Image")),
        ..Field::PLAIN
    },
    Field {
        name: "Start",
        start: 70,
        end: 95,
        ty: Type::Address { space: crate::address::SpaceKind::DynamicState, align: 64, target: "" },
        ..Field::PLAIN
    },
];
static ELEMENT: [Field; 2] = [
    Field { name: "Reserved", start: 0, end: 1, ty: Type::MustBeZero, ..Field::PLAIN },
    Field { name: "Log", start: 2, end: 3, stored: Stored::Log2, ..Field::PLAIN },
];
static GROUPS: [Group; 1] =
    [Group { name: "", start: 96, bits: 4, count: 8, fields: &ELEMENT, groups: &[] }];
static INFO: Container = Container {
    name: "A_THING",
    rust_name: "Thing",
    unit: "test",
    kind: Kind::Struct { align: 1 },
    bits: 128,
    fields: &FIELDS,
    groups: &GROUPS,
    views: &[],
    rules: &[],
    partial: false,
    doc: "",
    source: "",
};
struct Thing;
impl Packed for Thing {
    const NAME: &'static str = "A_THING";
    const INFO: &'static Container = &INFO;
}
struct Plain;

fn text<T>(result: Result<T, FieldError>) -> std::string::String {
    result.err().map_or("fits".into(), |error| error.to_string())
}

/// Oracle: the ranges above, by hand.
#[test]
fn messages() {
    fn level(value: impl Integer) -> Result<U<4>, FieldError> {
        fit!(Thing.level, value)
    }
    assert_eq!(level(9u8).map(U::get), Ok(9));
    assert_eq!(level(true).map(U::get), Ok(1));
    assert_eq!(text(level(0u64)), "A_THING: Level (dw0 12:9) = 0 does not fit 1..=9");
    assert_eq!(text(level(16usize)), "A_THING: Level (dw0 12:9) = 16 does not fit 1..=9");
    assert_eq!(text(level(-1i64)), "A_THING: Level (dw0 12:9) = -1 does not fit 1..=9");

    let count: Result<MinusOne<9>, _> = fit!(Thing.count, 600u16);
    assert_eq!(text(count), "A_THING: Count (dw0 8:0) = 600 does not fit 1..=512");
    let count: Result<MinusOne<9>, _> = fit!(Thing.count, MinusOne::new(0));
    assert_eq!(text(count), "A_THING: Count (dw0 8:0) = 0 does not fit 1..=512");

    let bias = |value: f32| -> Result<SFix<4, 8>, _> { fit!(Thing.bias, value) };
    assert_eq!(bias(1.5).map(SFix::get), Ok(1.5));
    assert_eq!(text(bias(1.75)), "A_THING: Bias (dw0 25:13) = 1.75 does not fit -1..=1.5");
    assert_eq!(text(bias(-100.0)), "A_THING: Bias (dw0 25:13) = -100 does not fit -1..=1.5");

    let delta = |value: i32| -> Result<S<6>, _> { fit!(Thing.delta, value) };
    assert_eq!((delta(-4).map(S::get), delta(4).map(S::get)), (Ok(-4), Ok(4)));
    assert_eq!(text(delta(-5)), "A_THING: Delta (dw0 31:26) = -5 does not fit -4..=4");

    let start = |value: u64| -> Result<Address<crate::address::DynamicState, 64, 32>, _> {
        fit!(Thing.start, value)
    };
    assert_eq!(start(64).map(Address::get), Ok(64));
    assert_eq!(text(start(65)), "A_THING: Start (dw2 31:6) = 0x41 is not a multiple of 0x40");
    assert_eq!(
        text(start(1 << 32)),
        "A_THING: Start (dw2 31:6) = 0x100000000 does not fit 0..=0xffffffc0"
    );

    let log: Result<PowerOfTwo<2>, _> = fit!(Thing.log, 3);
    assert_eq!(
        text(log),
        "A_THING: Log (dw3 3:2, first element) = 3 is not a power of two up to 8"
    );
}

/// Values that a field's type cannot hold are refused, also values that 64 bits cannot hold. The
/// error has the type's bounds.
#[test]
fn wide() {
    const AT: &At = &At::new(None, "Plain", &["wide"]);
    assert_eq!(
        text(Fit::<S64<64>>::fit(u64::MAX, AT)),
        "Plain: wide = 18446744073709551615 does not fit -9223372036854775808..=9223372036854775807"
    );
    assert_eq!(
        text(Fit::<U64<64>>::fit(-1i8, AT)),
        "Plain: wide = -1 does not fit 0..=18446744073709551615"
    );
    assert_eq!(text(Fit::<U64<64>>::fit(u64::MAX, AT)), "fits");
    assert_eq!(text(Fit::<U<3>>::fit(U::<3>::new(9), AT)), "Plain: wide = 9 does not fit 0..=7");
}

/// If two fields have the name, bits and range are not used.
#[test]
fn ambiguous() {
    const AT: &At = &At::new(Some(&INFO), "Thing", &["twice"]);
    assert_eq!(text(Fit::<U<2>>::fit(4u8, AT)), "A_THING: twice = 4 does not fit 0..=3");
    assert_eq!(text(Fit::<U<2>>::fit(3u8, AT)), "fits");
}

/// Fields of different alternatives may have the same name. The alternative's name selects the
/// field.
#[test]
fn alternatives() {
    let width = |value: u8| -> Result<U<7>, _> { fit!(Thing.the_extent.Buffer.width, value) };
    assert_eq!(
        (text(width(9)), text(width(10))),
        ("fits".into(), "A_THING: Width (dw1 10:4) = 10 does not fit 0..=9".into())
    );
    let width = |value: u8| -> Result<U<7>, _> { fit!(Thing.the_extent.Image.width, value) };
    assert_eq!(
        (text(width(127)), text(width(128))),
        ("fits".into(), "A_THING: Width (dw1 10:4) = 128 does not fit 0..=127".into())
    );
    const UNKNOWN: &At = &At::new(Some(&INFO), "Thing", &["width"]);
    assert!(UNKNOWN.field().is_none());
    const OTHER: &At = &At::new(Some(&INFO), "Thing", &["the_extent", "Other", "width"]);
    assert!(OTHER.field().is_none());
}

#[test]
fn probe() {
    assert_eq!(Probe::<Thing>::TABLES.map(|info| info.name), Some("A_THING"));
    assert!(Probe::<Plain>::TABLES.is_none());
}
