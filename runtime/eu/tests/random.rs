//! Random instructions: random bytes, operations with random operands, compact forms, and real
//! instructions with some bits flipped. Nothing panics, and conversions are reversible.

use genxml_eu::disasm::write_listing_on;
use genxml_eu::ops::OPS;
use genxml_eu::syntax::Syntax;
use genxml_eu::{Generation, Instruction, Opcode, compact, decode_on};
use genxml_testkit::instructions::{exercise, exercise_kernel};
use genxml_testkit::text::dwords;
use genxml_testkit::{Random, corpus};

/// Sixteen bytes from every position where a real instruction starts or could start; without the
/// corpus, one `mov`.
fn real() -> Vec<[u32; 4]> {
    let Some(corpus) = corpus::folder() else { return vec![[0x0060_0001, 0x2080_0608, 0, 7]] };
    let mut places = Vec::new();
    for (_, bytes) in corpus::kernels(&corpus) {
        places.extend(
            dwords(&bytes).windows(4).step_by(2).map(|four| <[u32; 4]>::try_from(four).unwrap()),
        );
    }
    places
}

/// Runs 100,000 instructions, or `GENXML_EU_INSTRUCTIONS`. Ten million take some minutes:
/// `GENXML_EU_INSTRUCTIONS=10000000 cargo test -p genxml-eu --release random_instructions`.
#[test]
fn random_instructions() {
    let count =
        std::env::var("GENXML_EU_INSTRUCTIONS").map_or(100_000, |count| count.parse().unwrap());
    let real = real();
    let mut random = Random::new(1);
    let mut text = String::new();
    let mut kernel = Vec::new();
    let (mut compacted, mut printed) = (0u64, 0);
    for index in 0..count {
        let mut four = std::array::from_fn(|_| random.bits() as u32);
        match index % 4 {
            0 => {}
            1 => four[0] = four[0] & !0xff | u32::from(OPS[random.index(OPS.len())].code),
            2 => {
                // Set the bit of the compact form.
                four[0] = four[0] & !0xff | u32::from(OPS[random.index(OPS.len())].code) | 1 << 29;
            }
            _ => {
                four = real[random.index(real.len())];
                for _ in 0..random.below(4) {
                    four[random.index(4)] ^= 1 << random.below(32);
                }
            }
        }
        exercise(four, &mut text);
        printed += text.len();
        compacted += u64::from(compact(&four).is_some());
        kernel.extend(four.iter().flat_map(|dword| dword.to_le_bytes()));
        // Short kernels are valid more often.
        exercise_kernel(&kernel[kernel.len() - 16..], &mut text);
        if index % 64 == 63 {
            exercise_kernel(&kernel, &mut text);
            kernel.clear();
        }
    }
    println!("{count} instructions, {compacted} with a compact form, {printed} bytes of text");
    assert!(compacted > 0);
}

/// Later generations: each instruction that can be decoded has a text in both languages, and
/// encodes to the same value again.
#[test]
fn random_instructions_of_later_generations() {
    let mut random = Random::new(2);
    let mut text = String::new();
    for generation in [Generation::Gen9, Generation::Gen11, Generation::Gen12] {
        let codes: Vec<_> =
            (0..128).filter(|code| Opcode::on(generation, *code).is_some()).collect();
        let mut decoded = 0;
        for index in 0..20_000 {
            let mut four: [u32; 4] = std::array::from_fn(|_| random.bits() as u32);
            let code = u32::from(codes[random.index(codes.len())]);
            four[0] = four[0] & !0x2000_00ff | code | u32::from(index % 2 == 0) << 29;
            let bytes = four.map(u32::to_le_bytes).concat();
            for syntax in [Syntax::Iga, Syntax::Mesa] {
                text.clear();
                write_listing_on(generation, &mut text, &bytes[..], syntax).unwrap();
                assert!(!text.is_empty());
            }
            let Ok(instruction) = decode_on(generation, &four) else { continue };
            decoded += 1;
            // `wait` with an immediate can be decoded, but has no notification register.
            if instruction.opcode == Opcode::Wait {
                continue;
            }
            let encoded = instruction.encode().unwrap_or_else(|e| panic!("{four:08x?}: {e}"));
            let again = decode_on(generation, &encoded).unwrap();
            let compacted = instruction.compacted;
            assert_eq!(Instruction { compacted, ..again }, instruction, "{four:08x?}");
        }
        println!("{generation:?}: {decoded} decoded");
        assert!(decoded > 2_000, "{generation:?}: {decoded}");
    }
}
