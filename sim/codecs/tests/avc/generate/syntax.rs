//! Random parameter sets, and slice headers.

use crate::avc::headers::{Pps, Sps};
use crate::avc::slice::Header;
use crate::bits::BitWriter;
use genxml_codecs::Structure;

/// `count` scaling lists, of which the first six have 16 elements (7.3.2.1.1.1). Elements are at
/// most `largest`.
fn scaling(out: &mut BitWriter, random: &mut fastrand::Rng, count: usize, largest: u8) {
    for index in 0..count {
        let length = if index < 6 { 16 } else { 64 };
        match random.u8(0..4) {
            0 => out.flag(false),
            1 => {
                // A first delta that gives 0 selects the default list.
                out.flag(true);
                out.se(-8);
            }
            _ => {
                out.flag(true);
                let stop = if random.bool() { random.usize(1..length) } else { length };
                let mut last = 8u8;
                for _ in 0..stop {
                    let next = random.u8(1..=largest);
                    out.se(i32::from(next.wrapping_sub(last) as i8));
                    last = next;
                }
                // A 0 repeats the last element to the end.
                if stop < length {
                    out.se(i32::from(0u8.wrapping_sub(last) as i8));
                }
            }
        }
    }
}

/// A sequence parameter set with `id` 0.
pub fn sps(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut out = BitWriter::default();
    let profile = [100, 100, 100, 77][random.usize(0..4)];
    out.put(profile, 8);
    out.put(0, 8);
    out.put(51, 8);
    out.ue(0);
    if profile == 100 {
        out.ue(u32::from(random.u8(0..10) > 0));
        out.ue(0);
        out.ue(0);
        out.flag(false);
        let matrices = random.u8(0..4) == 0;
        out.flag(matrices);
        if matrices {
            let largest = [40, 40, 255][random.usize(0..3)];
            scaling(&mut out, random, 8, largest);
        }
    }
    // The frame numbers of references differ.
    let many = random.u8(0..8) == 0;
    out.ue(if many { random.u32(2..6) } else { random.u32(0..3) });
    let poc_type = [0, 0, 1, 2][random.usize(0..4)];
    out.ue(poc_type);
    if poc_type == 0 {
        // Counts differ by less than half of what these bits hold.
        out.ue(random.u32(6..10));
    }
    if poc_type == 1 {
        let fixed = random.bool();
        out.flag(fixed);
        // A frame that is no reference comes after the reference before it. No two fields have the
        // same count.
        out.se(random.i32(2..=3));
        out.se(random.i32(0..=1));
        let cycle = random.u32(u32::from(fixed)..4);
        out.ue(cycle);
        for _ in 0..cycle {
            out.se(random.i32(6..10));
        }
    }
    out.ue(random.u32(if many { 5..=16 } else { 1..=4 }));
    out.flag(false);
    let wide = random.u8(0..16) == 0;
    let (width, height) = match (many, wide) {
        (true, _) => (random.u32(1..=2), random.u32(1..=2)),
        (_, true) => (random.u32(6..=16), random.u32(1..=8)),
        _ => (random.u32(1..=5), random.u32(1..=4)),
    };
    let frames_only = random.u8(0..5) < 2;
    let height = if frames_only { height } else { height.min(3) };
    out.ue(width - 1);
    out.ue(height - 1);
    out.flag(frames_only);
    if !frames_only {
        out.flag(random.u8(0..4) > 0);
    }
    out.flag(!frames_only || random.bool());
    let crop = random.u8(0..5) == 0;
    out.flag(crop);
    if crop {
        for limit in [0, 4, 0, 2] {
            out.ue(random.u32(0..=limit));
        }
    }
    // Of the usability information only the restriction, with which FFmpeg delays the output
    // enough for any order.
    out.flag(true);
    out.put(0, 4);
    out.flag(false);
    out.put(0, 3);
    out.flag(true);
    out.flag(true);
    for value in [0, 0, 16, 16, 16, 16] {
        out.ue(value);
    }
    out.unit(0x67)
}

/// A picture parameter set.
pub fn pps(random: &mut fastrand::Rng, sps: &Sps, id: u32) -> Vec<u8> {
    let mut out = BitWriter::default();
    out.ue(id);
    out.ue(sps.id);
    out.flag(random.u8(0..3) > 0);
    out.flag(random.bool());
    out.ue(0);
    out.ue(random.u32(0..3));
    out.ue(random.u32(0..3));
    out.flag(random.bool());
    out.put(random.u32(0..3), 2);
    out.se(random.i32(-26..=25));
    out.se(0);
    out.se(if random.bool() { random.i32(-12..=12) } else { 0 });
    out.flag(random.u8(0..4) > 0);
    out.flag(random.u8(0..3) == 0);
    out.flag(false);
    if sps.profile_idc == 100 && random.u8(0..4) > 0 {
        let large = random.u8(0..4) > 0;
        out.flag(large);
        let matrices = random.u8(0..4) == 0;
        out.flag(matrices);
        if matrices {
            let largest = [40, 255][random.usize(0..2)];
            scaling(&mut out, random, if large { 8 } else { 6 }, largest);
        }
        out.se(if random.bool() { random.i32(-12..=12) } else { 0 });
    }
    out.unit(0x68)
}

/// Writes a slice header (7.3.3).
pub fn header(out: &mut BitWriter, header: &Header, sps: &Sps, pps: &Pps) {
    let field = header.structure.is_field();
    out.ue(header.first_mb as u32);
    out.ue(header.kind);
    out.ue(header.pps);
    out.put(header.frame_num, sps.log2_max_frame_num);
    if !sps.frame_mbs_only {
        out.flag(field);
        if field {
            out.flag(header.structure == Structure::Bottom);
        }
    }
    if header.idr {
        out.ue(header.idr_pic_id);
    }
    if sps.poc_type == 0 {
        out.put(header.poc_lsb, sps.log2_max_poc_lsb);
        if pps.bottom_field_pic_order && !field {
            out.se(header.delta_poc_bottom);
        }
    }
    if sps.poc_type == 1 && !sps.delta_pic_order_always_zero {
        out.se(header.delta_poc[0]);
        if pps.bottom_field_pic_order && !field {
            out.se(header.delta_poc[1]);
        }
    }
    lists(out, header, pps);
    if let Some((denominators, weights)) = &header.weights {
        weight_table(out, header, sps, *denominators, weights);
    }
    if header.nal_ref_idc != 0 {
        if header.idr {
            out.flag(false);
            out.flag(header.long_term_reference);
        } else {
            out.flag(header.operations.is_some());
            for &(operation, first, second) in header.operations.iter().flatten() {
                out.ue(operation);
                if operation != 5 {
                    out.ue(first);
                }
                if operation == 3 {
                    out.ue(second);
                }
            }
            if header.operations.is_some() {
                out.ue(0);
            }
        }
    }
    if pps.cabac && header.kind != 2 {
        out.ue(header.cabac_init_idc);
    }
    out.se(header.qp - pps.pic_init_qp);
    if pps.deblocking_control {
        out.ue(header.deblocking_idc);
        if header.deblocking_idc != 1 {
            out.se(header.alpha_offset_div2);
            out.se(header.beta_offset_div2);
        }
    }
}

fn lists(out: &mut BitWriter, header: &Header, pps: &Pps) {
    let count = [1, 2, 0][header.kind as usize];
    if count == 0 {
        return;
    }
    if header.kind == 1 {
        out.flag(header.direct_spatial);
    }
    let lengths = header.num_ref_idx.map(|length| length as u32);
    let sent = lengths[..count] != pps.num_ref_idx[..count];
    out.flag(sent);
    if sent {
        for length in &lengths[..count] {
            out.ue(length - 1);
        }
    }
    for modifications in &header.modifications[..count] {
        out.flag(!modifications.is_empty());
        for &(kind, operand) in modifications {
            out.ue(kind);
            out.ue(operand);
        }
        if !modifications.is_empty() {
            out.ue(3);
        }
    }
}

fn weight_table(
    out: &mut BitWriter,
    header: &Header,
    sps: &Sps,
    denominators: [u32; 2],
    weights: &[Vec<[(i32, i32); 3]>; 2],
) {
    let chroma = sps.chroma_format_idc != 0;
    out.ue(denominators[0]);
    if chroma {
        out.ue(denominators[1]);
    }
    let neutral = denominators.map(|denominator| (1 << denominator, 0));
    let lists = if header.kind == 1 { 2 } else { 1 };
    for weights in weights[..lists].iter().flatten() {
        out.flag(weights[0] != neutral[0]);
        if weights[0] != neutral[0] {
            out.se(weights[0].0);
            out.se(weights[0].1);
        }
        if chroma {
            let sent = weights[1..] != [neutral[1]; 2];
            out.flag(sent);
            for &(weight, offset) in weights[1..].iter().filter(|_| sent) {
                out.se(weight);
                out.se(offset);
            }
        }
    }
}
