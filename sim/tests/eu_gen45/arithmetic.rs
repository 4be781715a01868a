//! Float arithmetic against exact arithmetic that is rounded toward zero. Oracle: rustc_apfloat.

use super::support::{launch, read, run};
use genxml_testkit::Random;
use rustc_apfloat::ieee::Single;
use rustc_apfloat::{Float, Round, StatusAnd};

/// A number of any class, mostly with exponents close to those of the other operands.
fn number(random: &mut Random) -> u32 {
    let bits = random.bits() as u32;
    match random.index(8) {
        0 => bits,
        1 => bits & 0x8000_0000 | random.pick(&[0, 1, 0x7f80_0000, 0x7f7f_ffff, 0x0080_0000]),
        2 => bits & 0x81ff_ffff | 0x7e00_0000,
        3 => bits & 0x81ff_ffff,
        _ => bits & 0x8fff_ffff | 0x3800_0000,
    }
}

fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// The result of an instruction: subnormal numbers become zeros, overflow an infinity. `about` is
/// the result in double precision, which shows whether it is 2^128 or more.
fn finished(result: StatusAnd<Single>, about: f64) -> u32 {
    let bits = result.value.to_bits() as u32;
    if about.abs() >= 2f64.powi(128) { bits & 0x8000_0000 | 0x7f80_0000 } else { flushed(bits) }
}

#[test]
fn sums_and_products_round_toward_zero() {
    let mut random = Random::new(3);
    for turn in 0..4000 {
        let a: [u32; 16] = std::array::from_fn(|_| number(&mut random));
        let b: [u32; 16] = std::array::from_fn(|n| match random.index(4) {
            0 => a[n] ^ 0x8000_0000 ^ random.bits() as u32 & 0xff,
            _ => number(&mut random),
        });
        let (opcode, multiply) = if turn % 2 == 0 { ("add", false) } else { ("mul", true) };
        let text = format!("{opcode}(16) g20<1>F g10<8,8,1>F g12<8,8,1>F {{ align1 compr }};");
        let thread = run(&text, &launch(0xffff), |thread| {
            super::support::write(thread, 10, &a);
            super::support::write(thread, 12, &b);
        })
        .unwrap();
        for n in 0..16 {
            let single = |bits: u32| Single::from_bits(flushed(bits).into());
            let exact = if multiply {
                single(a[n]).mul_r(single(b[n]), Round::TowardZero)
            } else {
                single(a[n]).add_r(single(b[n]), Round::TowardZero)
            };
            let [x, y] = [a[n], b[n]].map(|bits| f64::from(f32::from_bits(flushed(bits))));
            let about = if multiply { x * y } else { x + y };
            let (found, expected) = (read(&thread, 20, n, 4), finished(exact, about));
            let nan = |bits: u32| bits << 1 > 0xff00_0000;
            assert!(
                found == expected || nan(found) && nan(expected),
                "{opcode} {:#x} {:#x}: {found:#x}, expected {expected:#x}",
                a[n],
                b[n]
            );
        }
    }
}

/// `dp4` of words with dwords, and `shr` of negative numbers, as the kernels of intel-vaapi-driver
/// for MPEG-2 have them. Oracle: sums of 64 bits, and the floor of a quotient.
#[test]
fn integers_of_an_inverse_transform() {
    let mut random = Random::new(5);
    for _ in 0..200 {
        let a: [i16; 16] = std::array::from_fn(|_| random.bits() as i16 >> 4);
        let b: [i32; 16] = std::array::from_fn(|_| (random.bits() as i16).into());
        let words: [u32; 8] = std::array::from_fn(|n| {
            u32::from(a[2 * n] as u16) | u32::from(a[2 * n + 1] as u16) << 16
        });
        let text = "dp4(16) g20<1>D g10<8,8,1>W g12<8,8,1>D { align1 compr };
            shr(16) g22<1>D g20<8,8,1>D 11UD { align1 compr };";
        let thread = run(text, &launch(0xffff), |thread| {
            super::support::write(thread, 10, &words);
            super::support::write(thread, 12, &b.map(|b| b as u32));
        })
        .unwrap();
        for n in 0..16 {
            let tuple = n / 4 * 4..n / 4 * 4 + 4;
            let sum: i64 = tuple.map(|n| i64::from(a[n]) * i64::from(b[n])).sum();
            assert_eq!(read(&thread, 20, n, 4) as i32, sum as i32);
            let floor = (f64::from(sum as i32) / 2048.0).floor() as i32;
            assert_eq!(read(&thread, 22, n, 4) as i32, floor);
        }
    }
}
