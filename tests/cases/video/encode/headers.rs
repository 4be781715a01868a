//! Parameter sets and slice headers of AVC, made of bits.

use super::setup::{HEIGHT, WIDTH, insert};
use super::state::Variant;

/// Bits as text.
#[derive(Default)]
pub struct Bits(pub String);

impl Bits {
    fn put(mut self, bits: &str) -> Self {
        self.0 += bits;
        self
    }

    /// Exp-Golomb code.
    fn ue(self, value: u32) -> Self {
        let code = format!("{:b}", value + 1);
        let zeros = "0".repeat(code.len() - 1);
        self.put(&zeros).put(&code)
    }

    fn se(self, value: i32) -> Self {
        self.ue(if value > 0 { 2 * value as u32 - 1 } else { 2 * value.unsigned_abs() })
    }

    /// The packet that inserts a start code, the header byte of a NAL unit and the bits, with
    /// emulation prevention. Dwords are kept in `dwords`.
    fn insert(self, header: u8, stop: bool, dwords: &mut Vec<u32>) {
        let mut bits = format!("{}{header:08b}{}", "0".repeat(31) + "1", self.0);
        if stop {
            bits += "1";
            bits += &"0".repeat((8 - bits.len() % 8) % 8);
        }
        insert(&bits, true, dwords);
    }
}

/// Parameter sets and the slice header.
pub fn headers(index: usize, variant: Variant, dwords: &mut Vec<u32>) {
    let flag = |flag: bool| if flag { "1" } else { "0" };
    if index == 0 {
        let sps = Bits::default().put("01100100").put("00000000").put("00101000").ue(0).ue(1);
        // Frame numbers of 4 bits, counts of 4 bits, two references.
        let sps = sps.ue(0).ue(0).put("00").ue(0).ue(0).ue(0).ue(2).put("0");
        let sps = sps.ue(WIDTH as u32 - 1).ue(HEIGHT as u32 - 1).put("1100");
        sps.insert(0x67, true, dwords);
        let pps = Bits::default().ue(0).ue(0).put(flag(variant.cabac)).put("0").ue(0).ue(0).ue(0);
        let pps = pps.put("000").se(0).se(0).se(0).put("100").put(flag(variant.transform_8x8));
        pps.put("0").se(0).insert(0x68, true, dwords);
    }
    slice_header(index, variant).insert(NAL_UNITS[index], false, dwords);
}

/// Header bytes of the NAL units of the slices.
pub const NAL_UNITS: [u8; 3] = [0x65, 0x41, 0x01];

/// The header of the slice of picture `index`.
pub fn slice_header(index: usize, variant: Variant) -> Bits {
    let kind = [7, 5, 6][index];
    // The B picture is between the others in output order, and is no reference.
    let count = ["0000", "0100", "0010"][index];
    let number = ["0000", "0001", "0010"][index];
    let mut header = Bits::default().ue(0).ue(kind).ue(0).put(number);
    header = match index {
        0 => header.ue(0).put(count).put("00"),
        1 => header.put(count).put("00").put("0"),
        _ => header.put(count).put("1").put("000"),
    };
    if variant.cabac && index > 0 {
        header = header.ue(0);
    }
    header = header.se(0).ue(u32::from(!variant.deblocking));
    if variant.deblocking {
        header = header.se(0).se(0);
    }
    header
}
