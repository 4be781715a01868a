//! Packets converted to named fields and back. Oracle: the packet, for every generated container
//! with random values; and the strict readers, which must refuse the same values as JSON.

use genxml::gen8::mi::{MiLoadRegisterImm, PipeControl};
use genxml::gen8::render3d_pixel::BlendState;
use genxml::json::{Named, from_json, to_json};
use genxml_core::packet::UnpackError;
use genxml_core::round_trip::ROOM;
use genxml_core::serial::{Reason, Tree, build};
use genxml_testkit::Random;
use genxml_tests::packed;
use serde_json::{Value, json};

/// Converts through text, as in a file.
fn tree(value: &Value) -> Tree {
    serde_json::from_str(&value.to_string()).expect("JSON")
}

#[test]
fn every_container_comes_back() {
    let (mut same, mut refused) = (0, 0);
    for trip in genxml_tests::ROUND_TRIPS.iter().copied().flatten() {
        let mut random = Random::of(trip.info.name);
        for round in 0..60u32 {
            let Some(dwords) = packed(&mut random, trip, round) else { continue };
            let value = to_json(trip.info, &dwords);
            match build(trip.info, &tree(&value)) {
                Ok(back) => {
                    assert_eq!(back, dwords, "{} from {value}", trip.info.name);
                    same += 1;
                }
                Err(error) => {
                    let strict = (trip.strict)(&dwords);
                    let ranges = matches!(
                        (&error.reason, strict),
                        (Reason::Range { .. }, Err(UnpackError::Range { .. }))
                    );
                    assert!(ranges, "{}: {error}, but {strict:?} from {value}", trip.info.name);
                    refused += 1;
                }
            }
        }
    }
    println!("{same} came back, {refused} were refused");
    assert!(same > 20_000, "{same} came back, {refused} were refused");
}

/// A packet without given fields equals the type's `new`. If `new` has arguments, the conversion
/// reports a missing field.
#[test]
fn defaults_are_the_types_own() {
    let mut missing = 0;
    for trip in genxml_tests::ROUND_TRIPS.iter().copied().flatten() {
        let built = build(trip.info, &Tree::Map(Vec::new()));
        let mut dwords = [0; ROOM];
        match (trip.default, built) {
            (Some(default), built) => match default(&mut dwords) {
                Ok(length) => {
                    assert_eq!(built.expect(trip.info.name), dwords[..length], "{}", trip.info.name)
                }
                Err(_) => {
                    assert!(
                        matches!(built, Err(error) if matches!(error.reason, Reason::Length { .. }))
                    )
                }
            },
            (None, Err(error)) => {
                assert_eq!(error.reason, Reason::Missing, "{error}");
                missing += 1;
            }
            (None, Ok(_)) => panic!(
                "`new` of {} has arguments, but JSON without fields is accepted",
                trip.info.name
            ),
        }
    }
    assert!(missing > 0);
}

#[test]
fn typed() {
    let flush = PipeControl { dc_flush_enable: true, ..Default::default() };
    let text = serde_json::to_string(&flush).expect("JSON");
    assert_eq!(serde_json::from_str::<PipeControl>(&text).expect("a packet"), flush);
    let mut blend = BlendState::default();
    blend.entry[7].write_disable_alpha = true;
    let value = serde_json::to_value(blend).expect("JSON");
    assert_eq!(value["Entry"][7]["Write Disable Alpha"], json!(true));
    assert_eq!(serde_json::from_value::<BlendState>(value).expect("a state"), blend);

    let text = r#"{"MI_LOAD_REGISTER_IMM": {"Register": [{"Register Offset": "0x2358", "Data DWord": 5}]}}"#;
    let named: Named = serde_json::from_str(text).expect("a packet");
    assert_eq!(named.dwords, [0x1100_0001, 0x2358, 5]);
    let packet = MiLoadRegisterImm::unpack(&named.dwords).expect("well formed");
    assert_eq!(packet.register.len(), 1);
    let again: Named =
        serde_json::from_value(serde_json::to_value(&named).expect("JSON")).expect("a packet");
    assert_eq!(again, named);
    assert_eq!(serde_json::to_value(packet).expect("JSON")["Register"][0]["Data DWord"], json!(5));
}

/// Packets whose length or content the fields do not describe are restored too.
#[test]
fn what_is_not_described_comes_back() {
    let there_and_back = |name: &str, dwords: &[u32]| -> Value {
        let container = genxml::decode::Tables::gen8().container(name).expect("a packet");
        let named = Named { container, dwords: dwords.to_vec() };
        let value = serde_json::to_value(&named).expect("JSON");
        let back: Named = serde_json::from_str(&value.to_string())
            .unwrap_or_else(|error| panic!("{error}: {value}"));
        assert_eq!(back, named, "{value}");
        value[name].clone()
    };
    // The specification describes only the header of these packets.
    let value = there_and_back("MEDIA_GATEWAY_STATE", &[0x7003_0002, 7, 0, 9]);
    assert_eq!(value, json!({ "$dwords": [7, 0, 9] }));
    there_and_back("GPGPU_OBJECT", &[0x7104_0004, 0, 0, 0, 0, 0]);
    assert_eq!(
        there_and_back("MI_SEMAPHORE_MBOX", &[0x0b00_0001, 5, 6]),
        json!({ "$dwords": [5, 6] })
    );
    there_and_back("MI_SEMAPHORE_MBOX", &[0x0b00_0001, 0, 0]);
    // PIPE_CONTROL of 4 to 8 dwords. Drivers of earlier generations write fewer than 6.
    let stall = 1 << 20;
    for length in 4..=8 {
        let mut dwords = vec![0x7a00_0000 | (length - 2), stall];
        dwords.resize(length as usize, 0);
        let value = there_and_back("PIPE_CONTROL", &dwords);
        assert_eq!(value.get("$length").is_some(), length < 6, "{value}");
        assert_eq!(value.get("$dwords").is_some(), length > 6, "{value}");
    }
    // A packet whose tail has whole elements, and one whose tail ends with half an element.
    there_and_back("MI_LOAD_REGISTER_IMM", &[0x1100_0003, 0x2358, 5, 0x235c, 6]);
    there_and_back("MI_LOAD_REGISTER_IMM", &[0x1100_0002, 0x2358, 5, 0x235c]);

    let error =
        |name: &str, fields: Value| from_json(name, &fields).expect_err("a mistake").to_string();
    assert_eq!(
        error("PIPE_CONTROL", json!({ "$length": 4, "Immediate Data": 1 })),
        "PIPE_CONTROL has more fields than fit 4 dwords"
    );
    assert_eq!(
        error("PIPE_CONTROL", json!({ "$length": 1_000_000 })),
        "PIPE_CONTROL of 1000000 dwords cannot be expressed by its length field"
    );
    assert_eq!(
        error("PIPE_CONTROL", json!({ "$length": -1 })),
        "PIPE_CONTROL: $length = -1 is not a number of dwords"
    );
    assert_eq!(
        error("PIPE_CONTROL", json!({ "$dwords": 1 })),
        "PIPE_CONTROL: $dwords = 1 is not a list of dwords"
    );
    assert_eq!(
        error("MI_NOOP", json!({ "$length": 2 })),
        "MI_NOOP of 2 dwords cannot be expressed by its length field"
    );
    assert_eq!(error("BLEND_STATE", json!({ "$length": 2 })), "BLEND_STATE has no field `$length`");
    let typed: PipeControl = serde_json::from_value(json!({ "$length": 4 })).expect("a packet");
    assert_eq!(typed, PipeControl::default());
}

#[test]
fn mistakes_are_reported() {
    let error =
        |name: &str, fields: Value| from_json(name, &fields).expect_err("a mistake").to_string();
    assert_eq!(
        error("PIPE_CONTOL", json!({})),
        "no instruction, structure or register is called `PIPE_CONTOL`; did you mean `PIPE_CONTROL`?"
    );
    assert_eq!(error("PIPE_CONTROL", json!({ "Zorro": 1 })), "PIPE_CONTROL has no field `Zorro`");
    assert_eq!(
        error("PIPE_CONTROL", json!({ "Post Sync Operation": "Write Timestmp" })),
        "PIPE_CONTROL: Post Sync Operation = `Write Timestmp` is not a value of \
         PIPE_CONTROL Post Sync Operation; did you mean `Write Timestamp`?"
    );
    assert_eq!(
        error("PIPE_CONTROL", json!({ "Address": "0x1002" })),
        "PIPE_CONTROL: Address = \"0x1002\" does not fit 0x0..=0xfffffffffffffffc in steps of 4 (dw2 63:2)"
    );
    assert_eq!(
        error("PIPE_CONTROL", json!({ "DC Flush Enable": "yes" })),
        "PIPE_CONTROL: DC Flush Enable = \"yes\" is not true or false"
    );
    assert_eq!(
        error("PIPE_CONTROL", json!([])),
        "PIPE_CONTROL is written as a map of fields, not a list of 0"
    );
    assert_eq!(
        error("RENDER_SURFACE_STATE", json!({ "Width": 20000 })),
        "RENDER_SURFACE_STATE: Width = 20000 does not fit 1..=16384 (dw2 13:0)"
    );
    let absent = error(
        "RENDER_SURFACE_STATE",
        json!({ "Surface Type": "SURFTYPE_STRBUF", "Minimum Array Element": 1 }),
    );
    assert_eq!(
        absent,
        "RENDER_SURFACE_STATE: Minimum Array Element exists only if Surface Type != 5"
    );
    assert_eq!(
        error("BLEND_STATE", json!({ "Entry": [{}] })),
        "BLEND_STATE: Entry has 8 elements, 1 are given"
    );
    assert_eq!(
        from_json("PIPE_CONTROL", &json!({ "Post Sync Operation": 3 })).expect("a number")[1],
        0xc000
    );
}
