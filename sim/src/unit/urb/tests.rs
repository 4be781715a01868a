//! Oracle: [`Urb::write`], row by row or dword by dword.

use super::*;
use genxml_testkit::Random;

/// Writing all rows at once has the result of writing them one by one, or changes nothing.
#[test]
fn rows_at_once() {
    let mut random = Random::new(3);
    let data: Vec<u32> = (0..64).collect();
    for _ in 0..2000 {
        let mut below = |end: u64| random.below(end) as usize;
        let near_end = below(4) == 0;
        let offset = if near_end { URB_BYTES - 4 * below(80) } else { 4 * below(200) };
        let (stride, length, dwords) = (4 * below(12), 4 * below(12), 1 + below(12));
        let rows = &data[..below(6) * dwords];
        let mut urb = Urb::default();
        urb.write(4 * below(100), &[7; 40]).unwrap();
        if below(2) == 0 {
            urb.start_record();
        }
        let before = urb.clone();
        let mut expected = urb.clone();
        let written = rows.chunks(dwords).enumerate().try_for_each(|(n, row)| {
            let bytes = bytemuck::cast_slice(row);
            expected.write(offset + n * stride, &bytes[..length.min(bytes.len())])
        });
        match urb.write_rows(offset, stride, length, (rows, dwords)) {
            true => assert!(written.is_ok() && urb == expected),
            false => {
                let fits = length > 0 && length <= stride && length <= 4 * dwords;
                assert!(written.is_err() || !fits);
                assert!(urb == before);
            }
        }
    }
}

/// Writing all channels at once has the result of writing dword by dword, or changes nothing.
#[test]
fn columns_at_once() {
    let mut random = Random::new(4);
    let mut registers = Registers::default();
    for n in 0..128 * REGISTER / 4 {
        registers.set_u32(4 * n, n as u32 * 3 + 1);
    }
    let mut at_once = 0;
    for _ in 0..2000 {
        let mut below = |end: u64| random.below(end) as usize;
        let near_end = below(4) == 0;
        let (mask, count, first) = (below(256) as u32, below(16), REGISTER * below(100));
        let mut places =
            [if near_end { URB_BYTES - 600 + 16 * below(20) } else { 16 * below(9) }; 8];
        for n in 1..8 {
            // Most channels follow each other. Sometimes one overlaps the one before it.
            let gap = if below(20) == 0 { 0 } else { 4 * count };
            places[n] = places[n - 1] + gap + 4 * below(3);
        }
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
            true => {
                at_once += 1;
                assert!(written.is_ok() && urb == expected);
            }
            false => {
                let overlap = places.windows(2).any(|pair| pair[0] + 4 * count > pair[1]);
                assert!(written.is_err() || count == 0 || overlap);
                assert!(urb == before);
            }
        }
    }
    assert!(at_once > 800, "{at_once}");
}
