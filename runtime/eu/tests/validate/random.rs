//! Random kernels: nothing panics, and findings can be printed.

use genxml_eu::validate;
use genxml_testkit::Random;

/// Number of instructions: `GENXML_EU_RANDOM`, by default 100,000.
fn count() -> u64 {
    std::env::var("GENXML_EU_RANDOM").ok().and_then(|count| count.parse().ok()).unwrap_or(100_000)
}

/// Kernels of up to eight instructions; most instructions have an existing operation.
#[test]
fn random_instructions_do_not_panic() {
    let mut random = Random::new(1);
    let (mut done, mut findings, mut shown) = (0, 0u64, 0);
    while done < count() {
        let length = random.below(8) + 1;
        let mut bytes = Vec::new();
        for _ in 0..length {
            let mut words = [random.bits(), random.bits()];
            if !random.one_in(8) {
                let ops = genxml_eu::ops::OPS;
                let code = ops[random.index(ops.len())].code;
                words[0] = words[0] & !0xff | u64::from(code);
            }
            // Small operand values, for short jump distances.
            if random.one_in(2) {
                words[1] &= 0x0000_00ff_0000_00ff;
            }
            words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        }
        bytes.truncate(bytes.len() - random.index(16));
        let found = validate::kernel(&bytes);
        findings += found.len() as u64;
        if done % 64 == 0 {
            shown += found.iter().map(|finding| finding.to_string().len()).sum::<usize>();
        }
        done += length;
    }
    println!("{done} instructions, {findings} findings, {shown} bytes of text");
    assert!(findings > done / 2, "random instructions break rules");
}
