//! AVC Loop Filter Read: the filter controls of a macroblock, expanded with the tables of the
//! standard (003:5290-5816).

use super::buffer::{Buffer, OWORD};
use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::gen45::message::bindings::STATELESS;
use crate::gen45::message::payload::Payload;
use crate::gen45::message::port::Port;
use crate::machine::fault::Fault;
use genxml::gen45::media_avc::AvcLoopFilterControl;
use genxml::gen45::messages::AvcLoopFilterReadDescriptor;
use genxml::gen45::writebacks::AvcLoopFilterReadWriteback;
use genxml_codecs::avc::{ALPHA, BETA, CLIP};
use genxml_core::U;

/// Largest index of the tables.
const MOST: u64 = 51;

/// The entry of a table for an index (003 tables 5-1 and 5-2). A larger index selects the last
/// entry. Tables begin at index 16; below it, thresholds are 0.
fn entry<T: Copy>(table: &[T; 36], index: U<8>) -> Option<T> {
    (index.get().min(MOST) as usize).checked_sub(16).map(|n| table[n])
}

fn alpha(index: U<8>) -> U<8> {
    U::from_bits(entry(&ALPHA, index).unwrap_or(0).into())
}

fn beta(index: U<8>) -> U<8> {
    U::from_bits(entry(&BETA, index).unwrap_or(0).into())
}

/// tc0 of an edge; 0 for boundary strengths 0 and 4.
fn tc0(strength: u64, index: U<8>) -> U<8> {
    let row = entry(&CLIP, index).unwrap_or_default();
    match strength {
        1..=3 => U::from_bits(row[strength as usize - 1].into()),
        _ => U::ZERO,
    }
}

/// All four bits if a condition holds.
fn map(condition: bool) -> U<4> {
    if condition { U::MAX } else { U::ZERO }
}

/// Reads the controls of a macroblock and returns eight registers. The execution mask is ignored.
/// Outside of the buffer, the controls are 0.
///
/// # Errors
/// Faults of the buffer; [`Fault::IllegalInstruction`] for a stateless message and wrong lengths.
pub fn read(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = AvcLoopFilterReadDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "an AVC loop filter read");
    payload.check(port, 1, 8)?;
    let index = descriptor.binding_table_index.get();
    if index == u64::from(STATELESS) {
        return Err(payload.illegal(port, "without a surface (003:5302)"));
    }
    // The header has the Global Offset where other messages have it.
    let buffer = Buffer::of(port, registers, &payload, index)?;
    let mut controls = [0u32; AvcLoopFilterControl::DWORDS];
    let bytes: &mut [u8] = bytemuck::must_cast_slice_mut(&mut controls);
    let start = buffer.offset(0, OWORD as u64);
    let mut done = Ok(0);
    for (n, oword) in bytes.chunks_exact_mut(OWORD).enumerate() {
        done = done.and_then(|sum| {
            let offset = start + (n * OWORD) as u64;
            Ok(sum + buffer.read(&port.exec.vm, offset, oword)?)
        });
    }
    payload.moved(port, false, done)?;
    if let Some(answer) = payload.answer() {
        let expanded = expand(&AvcLoopFilterControl::unpack_lossy(&controls));
        registers.set_dwords(answer, expanded.pack());
    }
    Ok(())
}

/// The controls with edge control maps and thresholds.
#[rustfmt::skip]
#[expect(clippy::too_many_lines, reason = "a line for each field")]
fn expand(c: &AvcLoopFilterControl) -> AvcLoopFilterReadWriteback {
    let inner = |strength: U<2>| map(strength.get() > 0);
    let outer = |strength: U<4>| map(strength.get() > 0);
    let strong = |strength: U<4>| map(strength.get() == 4);
    AvcLoopFilterReadWriteback {
        horz_origin: c.horz_origin,
        vert_origin: c.vert_origin,
        mbaff_frame_flag: c.mbaff_frame_flag,
        field_mode_current_mb_flag: c.field_mode_current_mb_flag,
        field_mode_left_mb_flag: c.field_mode_left_mb_flag,
        field_mode_above_mb_flag: c.field_mode_above_mb_flag,
        filter_internal8x8edges_flag: c.filter_internal8x8edges_flag,
        filter_internal4x4edges_flag: c.filter_internal4x4edges_flag,
        filter_left_mb_edge_flag: c.filter_left_mb_edge_flag,
        filter_top_mb_edge_flag: c.filter_top_mb_edge_flag,
        b_s_v01: c.b_s_v01,
        b_s_v11: c.b_s_v11,
        b_s_v21: c.b_s_v21,
        b_s_v31: c.b_s_v31,
        b_s_v02: c.b_s_v02,
        b_s_v12: c.b_s_v12,
        b_s_v22: c.b_s_v22,
        b_s_v32: c.b_s_v32,
        b_s_v03: c.b_s_v03,
        b_s_v13: c.b_s_v13,
        b_s_v23: c.b_s_v23,
        b_s_v33: c.b_s_v33,
        b_s_h10: c.b_s_h10,
        b_s_h11: c.b_s_h11,
        b_s_h12: c.b_s_h12,
        b_s_h13: c.b_s_h13,
        bb_sinternal_mid_horz: quad([c.b_s_h20, c.b_s_h21, c.b_s_h22, c.b_s_h23]),
        bb_sinternal_bot_horz: quad([c.b_s_h30, c.b_s_h31, c.b_s_h32, c.b_s_h33]),
        b_s_v00_0: c.b_s_v00_0,
        b_s_v10_0: c.b_s_v10_0,
        b_s_v20_0: c.b_s_v20_0,
        b_s_v30_0: c.b_s_v30_0,
        b_s_v00_1: c.b_s_v00_1,
        b_s_v10_1: c.b_s_v10_1,
        b_s_v20_1: c.b_s_v20_1,
        b_s_v30_1: c.b_s_v30_1,
        b_s_h00_0: c.b_s_h00_0,
        b_s_h01_0: c.b_s_h01_0,
        b_s_h02_0: c.b_s_h02_0,
        b_s_h03_0: c.b_s_h03_0,
        b_s_h00_1: c.b_s_h00_1,
        b_s_h01_1: c.b_s_h01_1,
        b_s_h02_1: c.b_s_h02_1,
        b_s_h03_1: c.b_s_h03_1,
        b_index_ainternal_y: c.b_index_ainternal_y,
        b_index_binternal_y: c.b_index_binternal_y,
        b_index_aleft0_y: c.b_index_aleft0_y,
        b_index_bleft0_y: c.b_index_bleft0_y,
        b_index_aleft1_y: c.b_index_aleft1_y,
        b_index_bleft1_y: c.b_index_bleft1_y,
        b_index_atop0_y: c.b_index_atop0_y,
        b_index_btop0_y: c.b_index_btop0_y,
        b_index_atop1_y: c.b_index_atop1_y,
        b_index_btop1_y: c.b_index_btop1_y,
        b_index_ainternal_cb: c.b_index_ainternal_cb,
        b_index_binternal_cb: c.b_index_binternal_cb,
        b_index_aleft0_cb: c.b_index_aleft0_cb,
        b_index_bleft0_cb: c.b_index_bleft0_cb,
        b_index_aleft1_cb: c.b_index_aleft1_cb,
        b_index_bleft1_cb: c.b_index_bleft1_cb,
        b_index_atop0_cb: c.b_index_atop0_cb,
        b_index_btop0_cb: c.b_index_btop0_cb,
        b_index_atop1_cb: c.b_index_atop1_cb,
        b_index_btop1_cb: c.b_index_btop1_cb,
        b_index_ainternal_cr: c.b_index_ainternal_cr,
        b_index_binternal_cr: c.b_index_binternal_cr,
        b_index_aleft0_cr: c.b_index_aleft0_cr,
        b_index_bleft0_cr: c.b_index_bleft0_cr,
        b_index_aleft1_cr: c.b_index_aleft1_cr,
        b_index_bleft1_cr: c.b_index_bleft1_cr,
        b_index_atop0_cr: c.b_index_atop0_cr,
        b_index_btop0_cr: c.b_index_btop0_cr,
        b_index_atop1_cr: c.b_index_atop1_cr,
        b_index_btop1_cr: c.b_index_btop1_cr,
        edge_cntl_map_v01: inner(c.b_s_v01),
        edge_cntl_map_v11: inner(c.b_s_v11),
        edge_cntl_map_v21: inner(c.b_s_v21),
        edge_cntl_map_v31: inner(c.b_s_v31),
        edge_cntl_map_v02: inner(c.b_s_v02),
        edge_cntl_map_v12: inner(c.b_s_v12),
        edge_cntl_map_v22: inner(c.b_s_v22),
        edge_cntl_map_v32: inner(c.b_s_v32),
        edge_cntl_map_v03: inner(c.b_s_v03),
        edge_cntl_map_v13: inner(c.b_s_v13),
        edge_cntl_map_v23: inner(c.b_s_v23),
        edge_cntl_map_v33: inner(c.b_s_v33),
        edge_cntl_map_h10: inner(c.b_s_h10),
        edge_cntl_map_h11: inner(c.b_s_h11),
        edge_cntl_map_h12: inner(c.b_s_h12),
        edge_cntl_map_h13: inner(c.b_s_h13),
        edge_cntl_map_h20: inner(c.b_s_h20),
        edge_cntl_map_h21: inner(c.b_s_h21),
        edge_cntl_map_h22: inner(c.b_s_h22),
        edge_cntl_map_h23: inner(c.b_s_h23),
        edge_cntl_map_h30: inner(c.b_s_h30),
        edge_cntl_map_h31: inner(c.b_s_h31),
        edge_cntl_map_h32: inner(c.b_s_h32),
        edge_cntl_map_h33: inner(c.b_s_h33),
        edge_cntl_map_a_v00_0: outer(c.b_s_v00_0),
        edge_cntl_map_b_v00_0: strong(c.b_s_v00_0),
        edge_cntl_map_a_v10_0: outer(c.b_s_v10_0),
        edge_cntl_map_b_v10_0: strong(c.b_s_v10_0),
        edge_cntl_map_a_v20_0: outer(c.b_s_v20_0),
        edge_cntl_map_b_v20_0: strong(c.b_s_v20_0),
        edge_cntl_map_a_v30_0: outer(c.b_s_v30_0),
        edge_cntl_map_b_v30_0: strong(c.b_s_v30_0),
        edge_cntl_map_a_v00_1: outer(c.b_s_v00_1),
        edge_cntl_map_b_v00_1: strong(c.b_s_v00_1),
        edge_cntl_map_a_v10_1: outer(c.b_s_v10_1),
        edge_cntl_map_b_v10_1: strong(c.b_s_v10_1),
        edge_cntl_map_a_v20_1: outer(c.b_s_v20_1),
        edge_cntl_map_b_v20_1: strong(c.b_s_v20_1),
        edge_cntl_map_a_v30_1: outer(c.b_s_v30_1),
        edge_cntl_map_b_v30_1: strong(c.b_s_v30_1),
        edge_cntl_map_a_h00_0: outer(c.b_s_h00_0),
        edge_cntl_map_b_h00_0: strong(c.b_s_h00_0),
        edge_cntl_map_a_h01_0: outer(c.b_s_h01_0),
        edge_cntl_map_b_h01_0: strong(c.b_s_h01_0),
        edge_cntl_map_a_h02_0: outer(c.b_s_h02_0),
        edge_cntl_map_b_h02_0: strong(c.b_s_h02_0),
        edge_cntl_map_a_h03_0: outer(c.b_s_h03_0),
        edge_cntl_map_b_h03_0: strong(c.b_s_h03_0),
        edge_cntl_map_a_h00_1: outer(c.b_s_h00_1),
        edge_cntl_map_b_h00_1: strong(c.b_s_h00_1),
        edge_cntl_map_a_h01_1: outer(c.b_s_h01_1),
        edge_cntl_map_b_h01_1: strong(c.b_s_h01_1),
        edge_cntl_map_a_h02_1: outer(c.b_s_h02_1),
        edge_cntl_map_b_h02_1: strong(c.b_s_h02_1),
        edge_cntl_map_a_h03_1: outer(c.b_s_h03_1),
        edge_cntl_map_b_h03_1: strong(c.b_s_h03_1),
        b_tc0_v00_0_y: tc0(c.b_s_v00_0.get(), c.b_index_aleft0_y),
        b_tc0_v00_0_cb: tc0(c.b_s_v00_0.get(), c.b_index_aleft0_cb),
        b_tc0_v00_0_cr: tc0(c.b_s_v00_0.get(), c.b_index_aleft0_cr),
        b_tc0_v10_0_y: tc0(c.b_s_v10_0.get(), c.b_index_aleft0_y),
        b_tc0_v10_0_cb: tc0(c.b_s_v10_0.get(), c.b_index_aleft0_cb),
        b_tc0_v10_0_cr: tc0(c.b_s_v10_0.get(), c.b_index_aleft0_cr),
        b_tc0_v20_0_y: tc0(c.b_s_v20_0.get(), c.b_index_aleft0_y),
        b_tc0_v20_0_cb: tc0(c.b_s_v20_0.get(), c.b_index_aleft0_cb),
        b_tc0_v20_0_cr: tc0(c.b_s_v20_0.get(), c.b_index_aleft0_cr),
        b_tc0_v30_0_y: tc0(c.b_s_v30_0.get(), c.b_index_aleft0_y),
        b_tc0_v30_0_cb: tc0(c.b_s_v30_0.get(), c.b_index_aleft0_cb),
        b_tc0_v30_0_cr: tc0(c.b_s_v30_0.get(), c.b_index_aleft0_cr),
        b_tc0_v00_1_y: tc0(c.b_s_v00_1.get(), c.b_index_aleft1_y),
        b_tc0_v00_1_cb: tc0(c.b_s_v00_1.get(), c.b_index_aleft1_cb),
        b_tc0_v00_1_cr: tc0(c.b_s_v00_1.get(), c.b_index_aleft1_cr),
        b_tc0_v10_1_y: tc0(c.b_s_v10_1.get(), c.b_index_aleft1_y),
        b_tc0_v10_1_cb: tc0(c.b_s_v10_1.get(), c.b_index_aleft1_cb),
        b_tc0_v10_1_cr: tc0(c.b_s_v10_1.get(), c.b_index_aleft1_cr),
        b_tc0_v20_1_y: tc0(c.b_s_v20_1.get(), c.b_index_aleft1_y),
        b_tc0_v20_1_cb: tc0(c.b_s_v20_1.get(), c.b_index_aleft1_cb),
        b_tc0_v20_1_cr: tc0(c.b_s_v20_1.get(), c.b_index_aleft1_cr),
        b_tc0_v30_1_y: tc0(c.b_s_v30_1.get(), c.b_index_aleft1_y),
        b_tc0_v30_1_cb: tc0(c.b_s_v30_1.get(), c.b_index_aleft1_cb),
        b_tc0_v30_1_cr: tc0(c.b_s_v30_1.get(), c.b_index_aleft1_cr),
        b_tc0_h00_0_y: tc0(c.b_s_h00_0.get(), c.b_index_atop0_y),
        b_tc0_h00_0_cb: tc0(c.b_s_h00_0.get(), c.b_index_atop0_cb),
        b_tc0_h00_0_cr: tc0(c.b_s_h00_0.get(), c.b_index_atop0_cr),
        b_tc0_h01_0_y: tc0(c.b_s_h01_0.get(), c.b_index_atop0_y),
        b_tc0_h01_0_cb: tc0(c.b_s_h01_0.get(), c.b_index_atop0_cb),
        b_tc0_h01_0_cr: tc0(c.b_s_h01_0.get(), c.b_index_atop0_cr),
        b_tc0_h02_0_y: tc0(c.b_s_h02_0.get(), c.b_index_atop0_y),
        b_tc0_h02_0_cb: tc0(c.b_s_h02_0.get(), c.b_index_atop0_cb),
        b_tc0_h02_0_cr: tc0(c.b_s_h02_0.get(), c.b_index_atop0_cr),
        b_tc0_h03_0_y: tc0(c.b_s_h03_0.get(), c.b_index_atop0_y),
        b_tc0_h03_0_cb: tc0(c.b_s_h03_0.get(), c.b_index_atop0_cb),
        b_tc0_h03_0_cr: tc0(c.b_s_h03_0.get(), c.b_index_atop0_cr),
        b_tc0_h00_1_y: tc0(c.b_s_h00_1.get(), c.b_index_atop1_y),
        b_tc0_h00_1_cb: tc0(c.b_s_h00_1.get(), c.b_index_atop1_cb),
        b_tc0_h00_1_cr: tc0(c.b_s_h00_1.get(), c.b_index_atop1_cr),
        b_tc0_h01_1_y: tc0(c.b_s_h01_1.get(), c.b_index_atop1_y),
        b_tc0_h01_1_cb: tc0(c.b_s_h01_1.get(), c.b_index_atop1_cb),
        b_tc0_h01_1_cr: tc0(c.b_s_h01_1.get(), c.b_index_atop1_cr),
        b_tc0_h02_1_y: tc0(c.b_s_h02_1.get(), c.b_index_atop1_y),
        b_tc0_h02_1_cb: tc0(c.b_s_h02_1.get(), c.b_index_atop1_cb),
        b_tc0_h02_1_cr: tc0(c.b_s_h02_1.get(), c.b_index_atop1_cr),
        b_tc0_h03_1_y: tc0(c.b_s_h03_1.get(), c.b_index_atop1_y),
        b_tc0_h03_1_cb: tc0(c.b_s_h03_1.get(), c.b_index_atop1_cb),
        b_tc0_h03_1_cr: tc0(c.b_s_h03_1.get(), c.b_index_atop1_cr),
        b_tc0_v01_y: tc0(c.b_s_v01.get(), c.b_index_ainternal_y),
        b_tc0_v11_y: tc0(c.b_s_v11.get(), c.b_index_ainternal_y),
        b_tc0_v21_y: tc0(c.b_s_v21.get(), c.b_index_ainternal_y),
        b_tc0_v31_y: tc0(c.b_s_v31.get(), c.b_index_ainternal_y),
        b_tc0_v02_y: tc0(c.b_s_v02.get(), c.b_index_ainternal_y),
        b_tc0_v12_y: tc0(c.b_s_v12.get(), c.b_index_ainternal_y),
        b_tc0_v22_y: tc0(c.b_s_v22.get(), c.b_index_ainternal_y),
        b_tc0_v32_y: tc0(c.b_s_v32.get(), c.b_index_ainternal_y),
        b_tc0_v03_y: tc0(c.b_s_v03.get(), c.b_index_ainternal_y),
        b_tc0_v13_y: tc0(c.b_s_v13.get(), c.b_index_ainternal_y),
        b_tc0_v23_y: tc0(c.b_s_v23.get(), c.b_index_ainternal_y),
        b_tc0_v33_y: tc0(c.b_s_v33.get(), c.b_index_ainternal_y),
        b_tc0_h10_0_y: tc0(c.b_s_h10.get(), c.b_index_ainternal_y),
        b_tc0_h11_0_y: tc0(c.b_s_h11.get(), c.b_index_ainternal_y),
        b_tc0_h12_0_y: tc0(c.b_s_h12.get(), c.b_index_ainternal_y),
        b_tc0_h13_0_y: tc0(c.b_s_h13.get(), c.b_index_ainternal_y),
        b_tc0_h20_0_y: tc0(c.b_s_h20.get(), c.b_index_ainternal_y),
        b_tc0_h21_0_y: tc0(c.b_s_h21.get(), c.b_index_ainternal_y),
        b_tc0_h22_0_y: tc0(c.b_s_h22.get(), c.b_index_ainternal_y),
        b_tc0_h23_0_y: tc0(c.b_s_h23.get(), c.b_index_ainternal_y),
        b_tc0_h30_0_y: tc0(c.b_s_h30.get(), c.b_index_ainternal_y),
        b_tc0_h31_0_y: tc0(c.b_s_h31.get(), c.b_index_ainternal_y),
        b_tc0_h32_0_y: tc0(c.b_s_h32.get(), c.b_index_ainternal_y),
        b_tc0_h33_0_y: tc0(c.b_s_h33.get(), c.b_index_ainternal_y),
        b_tc0_v02_cb: tc0(c.b_s_v02.get(), c.b_index_ainternal_cb),
        b_tc0_v12_cb: tc0(c.b_s_v12.get(), c.b_index_ainternal_cb),
        b_tc0_v22_cb: tc0(c.b_s_v22.get(), c.b_index_ainternal_cb),
        b_tc0_v32_cb: tc0(c.b_s_v32.get(), c.b_index_ainternal_cb),
        b_tc0_h20_cb: tc0(c.b_s_h20.get(), c.b_index_ainternal_cb),
        b_tc0_h21_cb: tc0(c.b_s_h21.get(), c.b_index_ainternal_cb),
        b_tc0_h22_cb: tc0(c.b_s_h22.get(), c.b_index_ainternal_cb),
        b_tc0_h23_cb: tc0(c.b_s_h23.get(), c.b_index_ainternal_cb),
        b_tc0_v02_cr: tc0(c.b_s_v02.get(), c.b_index_ainternal_cr),
        b_tc0_v12_cr: tc0(c.b_s_v12.get(), c.b_index_ainternal_cr),
        b_tc0_v22_cr: tc0(c.b_s_v22.get(), c.b_index_ainternal_cr),
        b_tc0_v32_cr: tc0(c.b_s_v32.get(), c.b_index_ainternal_cr),
        b_tc0_h20_cr: tc0(c.b_s_h20.get(), c.b_index_ainternal_cr),
        b_tc0_h21_cr: tc0(c.b_s_h21.get(), c.b_index_ainternal_cr),
        b_tc0_h22_cr: tc0(c.b_s_h22.get(), c.b_index_ainternal_cr),
        b_tc0_h23_cr: tc0(c.b_s_h23.get(), c.b_index_ainternal_cr),
        b_alpha_left0_y: alpha(c.b_index_aleft0_y),
        b_beta_left0_y: beta(c.b_index_bleft0_y),
        b_alpha_top0_y: alpha(c.b_index_atop0_y),
        b_beta_top0_y: beta(c.b_index_btop0_y),
        b_alpha_internal_y: alpha(c.b_index_ainternal_y),
        b_beta_internal_y: beta(c.b_index_binternal_y),
        b_alpha_left1_y: alpha(c.b_index_aleft1_y),
        b_beta_left1_y: beta(c.b_index_bleft1_y),
        b_alpha_top1_y: alpha(c.b_index_atop1_y),
        b_beta_top1_y: beta(c.b_index_btop1_y),
        b_alpha_left0_cb: alpha(c.b_index_aleft0_cb),
        b_beta_left0_cb: beta(c.b_index_bleft0_cb),
        b_alpha_top0_cb: alpha(c.b_index_atop0_cb),
        b_beta_top0_cb: beta(c.b_index_btop0_cb),
        b_alpha_internal_cb: alpha(c.b_index_ainternal_cb),
        b_beta_internal_cb: beta(c.b_index_binternal_cb),
        b_alpha_left1_cb: alpha(c.b_index_aleft1_cb),
        b_beta_left1_cb: beta(c.b_index_bleft1_cb),
        b_alpha_top1_cb: alpha(c.b_index_atop1_cb),
        b_beta_top1_cb: beta(c.b_index_btop1_cb),
        b_alpha_left0_cr: alpha(c.b_index_aleft0_cr),
        b_beta_left0_cr: beta(c.b_index_bleft0_cr),
        b_alpha_top0_cr: alpha(c.b_index_atop0_cr),
        b_beta_top0_cr: beta(c.b_index_btop0_cr),
        b_alpha_internal_cr: alpha(c.b_index_ainternal_cr),
        b_beta_internal_cr: beta(c.b_index_binternal_cr),
        b_alpha_left1_cr: alpha(c.b_index_aleft1_cr),
        b_beta_left1_cr: beta(c.b_index_bleft1_cr),
        b_alpha_top1_cr: alpha(c.b_index_atop1_cr),
        b_beta_top1_cr: beta(c.b_index_btop1_cr),
    }
}

/// Four boundary strengths of an inner edge, the first in the lowest bits.
fn quad(strengths: [U<2>; 4]) -> U<8> {
    U::from_bits(strengths.iter().rev().fold(0, |sum, strength| 4 * sum + strength.get()))
}
