//! Random instructions: random bytes, operations with random operands, compact forms, and real
//! instructions with some bits flipped. Nothing panics, and conversions are reversible.

use genxml_eu::compact;
use genxml_eu::ops::OPS;
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
