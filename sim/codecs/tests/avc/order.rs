//! Picture order counts (H.264 8.2.1).

use super::headers::Sps;
use super::slice::Header;
use genxml_codecs::Structure;

/// What the counts of a picture depend on: the pictures before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// prevPicOrderCntMsb and prevPicOrderCntLsb of type 0.
    msb: i32,
    lsb: i32,
    /// prevFrameNum and prevFrameNumOffset of types 1 and 2.
    frame_num: u32,
    offset: i32,
}

impl Order {
    /// Picture order counts of the top and bottom field of a picture; of a field, the other
    /// count is 0.
    pub fn counts(&mut self, header: &Header, sps: &Sps) -> [i32; 2] {
        if header.idr {
            *self = Order::default();
        }
        let mut counts = match sps.poc_type {
            0 => self.by_lsb(header, sps),
            1 => self.by_cycle(header, sps),
            _ => self.by_frame_num(header, sps),
        };
        match header.structure {
            Structure::Frame => {}
            Structure::Top => counts[1] = 0,
            Structure::Bottom => counts[0] = 0,
        }
        counts
    }

    /// A picture with memory management control operation 5 counts as one with `frame_num` 0.
    /// `top` is the count of its top field relative to it, 0 for a bottom field.
    pub fn reset(&mut self, top: i32) {
        *self = Order { lsb: top, ..Order::default() };
    }

    /// 8.2.1.1.
    fn by_lsb(&mut self, header: &Header, sps: &Sps) -> [i32; 2] {
        let max = 1i32 << sps.log2_max_poc_lsb;
        let lsb = header.poc_lsb as i32;
        let msb = if lsb < self.lsb && self.lsb - lsb >= max / 2 {
            self.msb.wrapping_add(max)
        } else if lsb > self.lsb && lsb - self.lsb > max / 2 {
            self.msb.wrapping_sub(max)
        } else {
            self.msb
        };
        if header.nal_ref_idc != 0 {
            (self.msb, self.lsb) = (msb, lsb);
        }
        let top = msb.wrapping_add(lsb);
        [top, top.wrapping_add(header.delta_poc_bottom)]
    }

    /// FrameNumOffset + frame_num.
    fn absolute(&mut self, header: &Header, sps: &Sps) -> i32 {
        if self.frame_num > header.frame_num {
            self.offset = self.offset.wrapping_add(1 << sps.log2_max_frame_num);
        }
        self.frame_num = header.frame_num;
        self.offset.wrapping_add(header.frame_num as i32)
    }

    /// 8.2.1.2.
    fn by_cycle(&mut self, header: &Header, sps: &Sps) -> [i32; 2] {
        let frame = self.absolute(header, sps);
        let length = sps.offsets_for_ref_frame.len() as i32;
        let mut number = if length == 0 { 0 } else { frame };
        if header.nal_ref_idc == 0 && number > 0 {
            number -= 1;
        }
        let mut expected = 0i32;
        if number > 0 {
            let cycle =
                sps.offsets_for_ref_frame.iter().fold(0i32, |sum, &next| sum.wrapping_add(next));
            expected = cycle.wrapping_mul((number - 1) / length);
            for &offset in &sps.offsets_for_ref_frame[..=((number - 1) % length) as usize] {
                expected = expected.wrapping_add(offset);
            }
        }
        if header.nal_ref_idc == 0 {
            expected = expected.wrapping_add(sps.offset_for_non_ref_pic);
        }
        let top = expected.wrapping_add(header.delta_poc[0]);
        let bottom = top.wrapping_add(sps.offset_for_top_to_bottom_field);
        [top, bottom.wrapping_add(header.delta_poc[1])]
    }

    /// 8.2.1.3.
    fn by_frame_num(&mut self, header: &Header, sps: &Sps) -> [i32; 2] {
        let frame = self.absolute(header, sps);
        [frame.wrapping_mul(2).wrapping_sub(i32::from(header.nal_ref_idc == 0)); 2]
    }
}
