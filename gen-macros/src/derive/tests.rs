use super::*;

fn error(input: &str) -> String {
    let tokens = input.parse().expect("tokens");
    match expand(tokens) {
        Err(error) => {
            error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join(" | ")
        }
        Ok(tokens) => format!("expands to {tokens}"),
    }
}

/// A command of two dwords whose dword 1 has these fields.
fn command(fields: &str) -> String {
    format!(
        "#[packet(name = \"MY_COMMAND\", engine = \"render\", length = 2, opcode(bits = \"31:8\", value = 0x7a0400),
         dword_length(bits = \"7:0\"))] struct MyCommand {{ {fields} }}"
    )
}

#[test]
fn good() {
    let text = error(&command("#[field(dword = 1, bits = \"31:0\")] data: U<32>"));
    for part in [
        "impl :: genxml :: core :: Packed for MyCommand",
        "use :: genxml :: core :: { Entry as _ ,",
        "impl :: genxml :: engine :: RenderCommand for MyCommand",
        "const INFO : & 'static :: genxml :: core :: reflect :: Container = & MyCommand ;",
        "pub static MyCommand : :: genxml :: core :: reflect :: Container",
        "-> :: core :: result :: Result < Self , :: genxml :: core :: UnpackError >",
        ".. :: genxml :: core :: reflect :: Field :: PLAIN",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("super") && !text.contains("pub struct"), "{text}");
}

#[test]
fn errors() {
    for (fields, message) in [
        ("data: U<32>", "`data` needs a position: add `#[field(dword = 1, bits = \"15:0\")]`"),
        ("#[field(bits = \"31:0\")] data: U<32>", "`data` needs its dword: add `dword = 1`"),
        ("#[field(dword = 1)] data: U<32>", "`data` needs its bits: add `bits = \"15:0\"`"),
        (
            "#[field(dword = 1, bits = \"0:31\")] data: U<32>",
            "`0:31` is not a range of bits: write \"15:0\", or \"3\" for one",
        ),
        ("#[field(dword = 1, bits = \"31:0\")] data: U<31>", "these are 32 bits, `U<31>` has 31"),
        (
            "#[field(dword = 1, bits = \"31:0\")] data: [U<9>; 4]",
            "these are 8 bits for each element, `[U<9>;4]` has 9",
        ),
        ("#[field(dword = 1, bits = \"31:0\")] data: u32", "an integer of 32 bits is `U<32>`"),
        (
            "#[field(dword = 1, bits = \"31:0\", defalt = 3)] data: U<32>",
            "`defalt` is not an attribute here; did you mean `default`?",
        ),
        (
            "#[field(dword = 1, bits = \"31:0\", name = \"The Data\")] data: U<32>",
            "the Rust field of this name is `the_data`",
        ),
        (
            "#[field(dword = 1, bits = \"31:6\")] data: Address<DynamicState, 64, 26>",
            "these 26 bits need the type `Address<_, _, 32>`: the width of an address counts from bit 0 of its first dword",
        ),
    ] {
        assert_eq!(error(&command(fields)), message, "{fields}");
    }
    for (fields, part) in [
        (
            "#[field(dword = 1, bits = \"15:0\")] a: U<16>, #[field(dword = 1, bits = \"31:15\")] b: U<17>",
            "share",
        ),
        ("#[field(dword = 1, bits = \"15:0\")] a: U<16>", "belong"),
        ("#[field(dword = 2, bits = \"31:0\")] a: U<32>", "reaches beyond"),
        ("#[field(dword = 1, bits = \"31:0\", default = 0x100000000)] a: U<32>", "default"),
        ("#[field(dword = 1, bits = \"31:0\", range = \"9..3\")] a: U<32>", "empty"),
    ] {
        let text = error(&command(fields));
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

/// `zero = "..."` is the short form of several `zero(...)`; `reserved` and `one` have it too.
#[test]
fn runs() {
    let packet = |zero: &str| {
        error(&format!(
            "#[packet(name = \"S\", length = 2, {zero})] struct S {{ #[field(dword = 1, bits = \"9:3\")] a: U<7> }}"
        ))
    };
    for zero in [
        "zero = \"31:0, dw1 2:0, 31:10\"",
        "zero = \"dw1 31:10\", reserved = \"dw0 31:1, dw1 2, 1\", one = \"0\", zero(dword = 1, bits = \"0\")",
    ] {
        let text = packet(zero);
        assert!(text.starts_with("expands"), "{text}");
    }
    for (zero, part) in [
        ("zero = \"31:0, dw1 2\"", "belong"),
        ("zero = \"31:0; 3\"", "`31:0; 3` is not a list of bit ranges: write"),
        ("zero = \"dwx 3\"", "is not a list of bit ranges"),
        ("zero = \"\"", "`` is not a list of bit ranges"),
        ("opcode = \"3\"", "`opcode` needs its bits"),
    ] {
        let text = packet(zero);
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
