//! BC7: eight modes with one to three pairs of colours, with or without alpha.

use super::super::value::Value;
use super::bptc::{Indices, Partition, interpolate};
use super::texels::{Block, Bytes};

/// A row of the table of modes (Direct3D 11, BC7 format mode reference).
struct Mode {
    subsets: u32,
    /// Number of bits of the partition number.
    partition: u32,
    /// Number of bits that select the channel to swap with alpha.
    rotation: u32,
    /// Number of bits (0 or 1) that swap the two sets of indices.
    selection: u32,
    /// Bits of each of red, green and blue of an endpoint.
    colour: u32,
    /// Bits of alpha of an endpoint.
    alpha: u32,
    /// 1 if each endpoint has an extra lowest bit for all its channels.
    end_bits: u32,
    /// 1 if both endpoints of a subset share an extra lowest bit for all their channels.
    shared_bits: u32,
    /// Bits of an index.
    index: u32,
    /// Bits of a second index, for alpha.
    second: u32,
}

/// A mode from its row, which has the fields of [`Mode`] in order.
const fn mode(row: [u32; 10]) -> Mode {
    Mode {
        subsets: row[0],
        partition: row[1],
        rotation: row[2],
        selection: row[3],
        colour: row[4],
        alpha: row[5],
        end_bits: row[6],
        shared_bits: row[7],
        index: row[8],
        second: row[9],
    }
}

const MODES: [Mode; 8] = [
    mode([3, 4, 0, 0, 4, 0, 1, 0, 3, 0]),
    mode([2, 6, 0, 0, 6, 0, 0, 1, 3, 0]),
    mode([3, 6, 0, 0, 5, 0, 0, 0, 2, 0]),
    mode([2, 6, 0, 0, 7, 0, 1, 0, 2, 0]),
    mode([1, 0, 2, 1, 5, 6, 0, 0, 2, 3]),
    mode([1, 0, 2, 0, 7, 8, 0, 0, 2, 2]),
    mode([1, 0, 0, 0, 7, 7, 1, 0, 4, 0]),
    mode([2, 6, 0, 0, 5, 5, 1, 0, 2, 0]),
];

/// A decoded block: the endpoints of each subset, and the indices.
pub struct Bc7 {
    ends: [[[u8; 4]; 2]; 3],
    partition: Partition,
    /// Indices of red, green and blue, and indices of alpha.
    indices: [Indices; 2],
    /// The channel that is swapped with alpha; 3 (alpha itself) if none is.
    rotated: usize,
    values: Bytes,
}

impl Bc7 {
    /// Reads a block of BC7. A block whose mode is reserved is transparent black.
    #[inline]
    pub fn read(bytes: &[u8; 16], srgb: bool) -> Bc7 {
        let block = u128::from_le_bytes(*bytes);
        let values = Bytes::new(srgb);
        // Each mode has its own compiled function, with its row as a constant.
        match bytes[0].trailing_zeros() {
            0 => Bc7::with_mode::<0>(block, values),
            1 => Bc7::with_mode::<1>(block, values),
            2 => Bc7::with_mode::<2>(block, values),
            3 => Bc7::with_mode::<3>(block, values),
            4 => Bc7::with_mode::<4>(block, values),
            5 => Bc7::with_mode::<5>(block, values),
            6 => Bc7::with_mode::<6>(block, values),
            7 => Bc7::with_mode::<7>(block, values),
            _ => {
                let partition = Partition::WHOLE;
                let indices = [Indices::new(0, 0, 2, &partition); 2];
                Bc7 { ends: [[[0; 4]; 2]; 3], partition, indices, rotated: 3, values }
            }
        }
    }

    #[inline]
    fn with_mode<const MODE: usize>(block: u128, values: Bytes) -> Bc7 {
        let mode = const { &MODES[MODE] };
        let mut at = MODE as u32 + 1;
        let mut take = |count: u32| {
            let bits = (block >> at) as u32 & ((1 << count) - 1);
            at += count;
            bits
        };
        let partition = Partition::new(mode.subsets, take(mode.partition));
        let rotation = take(mode.rotation);
        let selection = take(mode.selection);
        let ends = Bc7::ends(mode, &mut take);
        let first = Indices::new(block, at, mode.index, &partition);
        let second = match mode.second {
            0 => first,
            width => Indices::new(block, at + 16 * mode.index - mode.subsets, width, &partition),
        };
        let indices = if selection == 0 { [first, second] } else { [second, first] };
        let rotated = if rotation == 0 { 3 } else { rotation as usize - 1 };
        Bc7 { ends, partition, indices, rotated, values }
    }

    /// Reads the endpoints: red of all endpoints, then green, blue, alpha, then their extra lowest
    /// bits.
    #[inline(always)]
    fn ends(mode: &Mode, take: &mut impl FnMut(u32) -> u32) -> [[[u8; 4]; 2]; 3] {
        let count = 2 * mode.subsets as usize;
        let widths = [mode.colour, mode.colour, mode.colour, mode.alpha];
        let mut raw = [[0u32; 4]; 6];
        for (channel, width) in widths.into_iter().enumerate() {
            for end in &mut raw[..count] {
                end[channel] = take(width);
            }
        }
        let more = mode.end_bits | mode.shared_bits;
        let mut ends = [[[0xff; 4]; 2]; 3];
        let mut lowest = 0;
        for n in 0..count {
            // Both endpoints of a subset may share the bit that is read for the first one.
            if mode.shared_bits == 0 || n % 2 == 0 {
                lowest = take(more);
            }
            for channel in 0..4 {
                if widths[channel] != 0 {
                    let bits = widths[channel] + more;
                    let value = (raw[n][channel] << more | lowest) << (8 - bits);
                    ends[n / 2][n % 2][channel] = (value | value >> bits) as u8;
                }
            }
        }
        ends
    }
}

impl Block for Bc7 {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        let n = 4 * y + x;
        let [first, second] = &self.ends[self.partition.subset(n)];
        let [colour, alpha] = [&self.indices[0], &self.indices[1]].map(|indices| indices.weight(n));
        let channel =
            |n: usize, weight| interpolate(first[n].into(), second[n].into(), weight) as u8;
        let mut texel =
            [channel(0, colour), channel(1, colour), channel(2, colour), channel(3, alpha)];
        texel.swap(3, self.rotated);
        self.values.value(texel)
    }
}
