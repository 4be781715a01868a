//! Messages by name in the assembler. Oracles: the generated packers, and the numbers that the
//! compilers of drivers write.

use genxml_core::lit;
use genxml_eu::asm::{Options, assemble};
use genxml_eu::gen8::messages as md;
use genxml_eu::instruction::{Descriptor, SharedFunction};
use genxml_eu::syntax::Syntax;
use genxml_testkit::Random;

/// The function and descriptor of `send (8|M0) null r10 TEXT`, or the error.
fn message(text: &str) -> Result<(SharedFunction, u32, bool), String> {
    let source = format!("(W) send (8|M0) null r10 {text}");
    let kernel = assemble(&source, Syntax::Iga, &Options::default())
        .map_err(|errors| errors[0].to_string())?;
    let send = kernel.lines[0].located.instruction.send.unwrap();
    match send.descriptor {
        Descriptor::Immediate(descriptor) => Ok((send.function, descriptor, send.end_of_thread)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_of_drivers() {
    use SharedFunction::*;
    for (text, function, descriptor) in [
        ("TsEot", ThreadSpawner, 0x0200_0000),
        (
            "Msd0rOwb {\n  header_present: true, // comments and lines as in a program\n  data_blocks: OW2,\n}",
            DataPort0,
            0x0218_0200,
        ),
        ("TsEot {}", ThreadSpawner, 0x0200_0000),
        ("TsEot {EOT}", ThreadSpawner, 0x0200_0000),
        ("Msd0rOwb { header_present: true, data_blocks: OW2 }", DataPort0, 0x0218_0200),
        (
            "MSD0W_OWB { header_present: true, data_blocks: OW2, binding_table_index: 2, .. }",
            DataPort0,
            0x040a_0202,
        ),
        ("Msd1wMb { header_present: true, message_length: 9 }", DataPort1, 0x120a_8000),
        (
            "MsdRtw { message_type: MT_RTW, message_subtype: SIMD8_LO, last_render_target_select: true, message_length: 4 }",
            DataPortRender,
            0x0803_1400,
        ),
        (
            "UrbMessageDescriptor { urb_opcode: SIMD8_WRITE, header_present: true, message_length: 9 }",
            Urb,
            0x1208_0007,
        ),
        (
            "MessageDescriptorSamplingEngine { message_type: SAMPLE, simd_mode_1_0: SIMD16, \
             binding_table_index: 1, message_length: 4, response_length: 8 }",
            Sampler,
            0x0884_0001,
        ),
        ("Msd0Scratch { header_present: true, block_size: 2, offset: 31 }", DataPort0, 0x022c_101f),
    ] {
        let (found, bits, ends) = message(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(ends, text.contains("EOT}"), "{text}");
        assert_eq!(
            (found, format!("{bits:#010x}")),
            (function, format!("{descriptor:#010x}")),
            "{text}"
        );
    }
}

/// The same values through the generated packers.
#[test]
fn bits_are_those_of_the_generated_types() {
    let mut random = Random::new(7);
    for _ in 0..1000 {
        let typed = md::Msd0rOwb {
            message_length: lit!(1),
            response_length: lit!(4),
            ..md::Msd0rOwb::unpack_lossy(&[random.dwords(1)[0]])
        };
        let text = format!(
            "Msd0rOwb {{ message_length: 1, response_length: 4, header_present: {}, data_blocks: {}, \
             binding_table_index: {} }}",
            typed.header_present,
            typed.data_blocks.bits(),
            typed.binding_table_index.bits()
        );
        let clear = md::Msd0rOwb {
            message_length: typed.message_length,
            response_length: typed.response_length,
            header_present: typed.header_present,
            data_blocks: typed.data_blocks,
            binding_table_index: typed.binding_table_index,
            ..md::Msd0rOwb::new()
        };
        assert_eq!(message(&text).unwrap().1, clear.pack()[0], "{text}");
    }
}

#[test]
fn errors_say_what_is_allowed() {
    for (text, starts, has) in [
        ("Msd0rOwc", "1:26: `Msd0rOwc` is not a message", "did you mean `Msd0rOwb`?"),
        ("Msd0rOwb { blocks: OW2 }", "1:37: Msd0rOwb has no field `blocks`", "data_blocks"),
        ("Msd0rOwb { data_blocks: OW3 }", "1:50: `OW3` is not a value of Data Blocks", "OW"),
        ("Msd0rOwb { data_blocks: 9 }", "1:50: 9 does not fit Data Blocks", "0 to 7"),
        ("Msd0rOwb { header_present: 1x }", "1:53: unexpected `1x`", "a value"),
        ("Msd0rOwb { header_present: yes }", "1:53: `yes` is not a value", "true or false"),
        ("Msd0Scratch { block_size: 3 }", "1:52: 3 does not fit Block Size", "1 to 8"),
        (
            "MsdRtw { message_type: MT_RTW, message_subtype: SIMD8_LO }",
            "1:26: MsdRtw needs `message_length`",
            "4 to 8",
        ),
        ("Msd1Us { binding_table_index: 1 }", "1:26: Msd1Us needs `message_type`", "MT1R_US"),
        ("Msd0rOwb { data_blocks OW2 }", "1:37: `data_blocks` is not", ""),
        ("Msd0rOwb { data_blocks: OW2", "1:53: the instruction ends here", "`}`"),
    ] {
        let error = message(text).unwrap_err();
        assert!(error.starts_with(starts) && error.contains(has), "{text}: {error}");
    }
}

/// No text makes the assembler panic.
#[test]
fn any_braces_are_survived() {
    let mut random = Random::new(11);
    let words =
        ["Msd0rOwb", "MsdRtw", "{", "}", ":", ",", "..", "true", "OW2", "7", "data_blocks", "a0"];
    for _ in 0..20_000 {
        let count = 1 + random.dwords(1)[0] as usize % 8;
        let text: Vec<&str> =
            random.dwords(count).iter().map(|word| words[*word as usize % words.len()]).collect();
        let source = format!("send (8|M0) null r10 {}", text.join(" "));
        _ = assemble(&source, Syntax::Iga, &Options::default());
    }
}
