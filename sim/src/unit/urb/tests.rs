//! Oracle: [`Urb::write`], row by row or dword by dword.

use super::*;
use genxml_testkit::Random;

/// All rows at once leave the buffer as one row after the other does, or nothing is changed.
#[test]
fn rows_at_once() {
    let mut random = Random::new(3);
    let data: Vec<u32> = (0..64).collect();
    for _ in 0..2000 {
        let mut below = |end: u64| random.below(end) as usize;
        let near_end = below(4) == 0;
        let offset = if near_end { URB_BYTES - 4 * below(80) } else { 4 * below(200) };
        let (stride, length) = (4 * below(12), 4 * below(12));
        let rows: Vec<&[u32]> = (0..below(6)).map(|n| &data[n..n + length / 4]).collect();
        let mut urb = Urb::default();
        urb.write(4 * below(100), &[7; 40]).unwrap();
        if below(2) == 0 {
            urb.start_record();
        }
        let before = urb.clone();
        let mut expected = urb.clone();
        let written = rows.iter().enumerate().try_for_each(|(n, row)| {
            expected.write(offset + n * stride, bytemuck::cast_slice(row))
        });
        match urb.write_rows(offset, stride, length, rows.iter().copied()) {
            true => assert!(written.is_ok() && urb == expected),
            false => {
                assert!(written.is_err() || length > stride || length == 0);
                assert!(urb == before);
            }
        }
    }
}

/// All channels at once leave the buffer as one dword after the other does, or nothing is changed.
#[test]
fn columns_at_once() {
    let mut random = Random::new(4);
    let mut registers = Registers::default();
    for n in 0..128 * REGISTER / 4 {
        registers.set_u32(4 * n, n as u32 * 3 + 1);
    }
    for _ in 0..2000 {
        let mut below = |end: u64| random.below(end) as usize;
        let near_end = below(4) == 0;
        let places: [usize; 8] = std::array::from_fn(|_| match near_end {
            true => URB_BYTES + 16 - 16 * below(20),
            false => 16 * below(40),
        });
        let (mask, count, first) = (below(256) as u32, below(16), REGISTER * below(100));
        let mut urb = Urb::default();
        urb.write(4 * below(100), &[7; 40]).unwrap();
        if below(2) == 0 {
            urb.start_record();
        }
        let before = urb.clone();
        let mut expected = urb.clone();
        let written = (0..8).filter(|n| mask >> n & 1 == 1).try_for_each(|n: usize| {
            (0..count).try_for_each(|c| {
                let dword = registers.u32(first + c * REGISTER + 4 * n);
                expected.write(places[n] + 4 * c, &dword.to_le_bytes())
            })
        });
        match urb.write_columns(&places, mask, &registers, first, count) {
            true => assert!(written.is_ok() && urb == expected),
            false => {
                assert!(written.is_err() || count == 0);
                assert!(urb == before);
            }
        }
    }
}
