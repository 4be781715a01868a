//! Code that BC6H and BC7 share: the division of texels into subsets, and indices. A block does not
//! store the highest bit of the index of an anchor texel, because it is always 0 (Direct3D 11, BC6H
//! and BC7 formats; ARB_texture_compression_bptc).

/// Divisions into two subsets: the subset of each texel, one bit a texel.
const TWO: [u16; 64] = [
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800,
    0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce,
    0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc,
    0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660,
    0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718,
    0xccf0, 0x0fcc, 0x7744, 0xee22,
];

/// Anchor texel of the second subset, by number of the division. The anchor of the first subset is
/// always texel 0.
const ANCHOR_OF_TWO: [u8; 64] = [
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2, 8, 2, 2, 8, 8, 15, 2, 8,
    2, 2, 8, 8, 2, 2, 15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6, 6, 2, 6, 8, 15, 15, 2,
    2, 15, 15, 15, 15, 15, 2, 2, 15,
];

/// Divisions into three subsets: the subset of each texel, two bits a texel.
const THREE: [u32; 64] = [
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254,
];

/// Anchor texels of the second and the third subset.
const ANCHORS_OF_THREE: [[u8; 64]; 2] = [
    [
        3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3, 3, 3, 8, 15, 3, 3, 6, 10, 5, 8, 8, 6,
        8, 5, 15, 15, 8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15, 3, 15, 5, 5, 5, 8,
        5, 10, 5, 10, 8, 13, 15, 12, 3, 3,
    ],
    [
        15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8, 15, 8, 15, 3, 15, 8, 15, 8, 3,
        15, 6, 10, 15, 15, 10, 8, 15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8, 15, 3, 15,
        15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 15, 15, 8,
    ],
];

/// Division of the texels of a block into subsets.
#[derive(Clone, Copy)]
pub struct Partition {
    /// Subset of each texel, two bits a texel.
    subsets: u32,
    /// The first `count` entries are the anchor texels in ascending order.
    anchors: [u8; 3],
    count: usize,
}

impl Partition {
    /// A block that is not divided.
    pub const WHOLE: Partition = Partition { subsets: 0, anchors: [0; 3], count: 1 };

    /// Division `number` (0 to 63) of a block into one, two or three subsets.
    #[inline(always)]
    pub fn new(subsets: u32, number: u32) -> Partition {
        let n = number as usize & 63;
        match subsets {
            3 => {
                let [one, other] = [ANCHORS_OF_THREE[0][n], ANCHORS_OF_THREE[1][n]];
                Partition {
                    subsets: THREE[n],
                    anchors: [0, one.min(other), one.max(other)],
                    count: 3,
                }
            }
            2 => Partition { subsets: spread(TWO[n]), anchors: [0, ANCHOR_OF_TWO[n], 0], count: 2 },
            _ => Partition::WHOLE,
        }
    }

    /// The subset of a texel.
    #[inline(always)]
    pub fn subset(&self, texel: usize) -> usize {
        (self.subsets >> (2 * texel) & 3) as usize
    }
}

/// Moves the bits of `word` to the even bits of the result.
const fn spread(word: u16) -> u32 {
    let mut bits = word as u32;
    bits = (bits | bits << 8) & 0x00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

/// The indices of a block, all of the same width.
#[derive(Clone, Copy)]
pub struct Indices {
    bits: u64,
    /// Bits of an index.
    width: u32,
}

impl Indices {
    /// Reads indices of `width` bits from bit `low` of the block up. Inserts the missing bits of
    /// the anchor texels as 0.
    #[inline(always)]
    pub fn new(block: u128, low: u32, width: u32, partition: &Partition) -> Indices {
        let mut bits = (block >> low) as u64;
        for anchor in &partition.anchors[..partition.count] {
            let below = (1u64 << (u32::from(*anchor) * width + width - 1)) - 1;
            bits = bits & below | (bits & !below) << 1;
        }
        Indices { bits, width }
    }

    /// Weight of the second endpoint for a texel, in 1/64.
    #[inline(always)]
    pub fn weight(&self, texel: usize) -> i32 {
        let index = self.bits >> (texel as u32 * self.width) & ((1 << self.width) - 1);
        WEIGHTS[self.width as usize & 3][index as usize & 15].into()
    }
}

/// Weights of the second endpoint, by width of an index (row 0 is for four bits) and by index.
const WEIGHTS: [[u8; 16]; 4] = [
    [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64],
    [0; 16],
    [0, 21, 43, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 9, 18, 27, 37, 46, 55, 64, 0, 0, 0, 0, 0, 0, 0, 0],
];

/// Interpolates between two endpoints. `weight` is the weight of the second endpoint, in 1/64.
#[inline(always)]
pub fn interpolate(first: i32, second: i32, weight: i32) -> i32 {
    ((64 - weight) * first + weight * second + 32) >> 6
}
