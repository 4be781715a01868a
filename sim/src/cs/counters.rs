//! Statistics: counters in registers, and reports of performance counters.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::registers::Registers;
use genxml::core::{Packed, U};
use genxml::gen8::formats::PerformanceCounterReportFormat101b;
use genxml::gen8::mi::MiReportPerfCount;
use genxml::gen8::registers::{
    ClInvocationCount, ClPrimitivesCount, CsInvocationCount, DsInvocationCount, GsInvocationCount,
    GsPrimitivesCount, HsInvocationCount, IaPrimitivesCount, IaVerticesCount, Oacontrol,
    OacontrolCounterSelect as Layout, PsDepthCount, PsInvocationCount, VsInvocationCount,
};
use std::ops::Range;

/// The counters that PIPE_CONTROL resets, 64 bits each.
const COUNTERS: [u32; 12] = [
    HsInvocationCount::OFFSET,
    DsInvocationCount::OFFSET,
    IaVerticesCount::OFFSET,
    IaPrimitivesCount::OFFSET,
    VsInvocationCount::OFFSET,
    GsInvocationCount::OFFSET,
    GsPrimitivesCount::OFFSET,
    ClInvocationCount::OFFSET,
    ClPrimitivesCount::OFFSET,
    PsInvocationCount::OFFSET,
    PsDepthCount::OFFSET,
    CsInvocationCount::OFFSET,
];

/// Sets all counters to 0.
pub fn reset(registers: &mut Registers) {
    for offset in COUNTERS {
        registers.write_u64(offset, 0);
    }
}

/// MI_REPORT_PERF_COUNT: writes the report id, the timestamp, the context's number, the clock and
/// the counters to memory, in the layout that Counter Select of OACONTROL selects. The counters B
/// and C, and those that [`Counter`] does not have, are 0. Core Mode Enable changes nothing
/// (assumptions::CORE_0_ADDS_NO_OFFSET).
///
/// # Errors
/// [`Fault::Unimplemented`] for Specific Context Enable of OACONTROL; [`Fault::BadPacket`] for a
/// reserved layout; [`Fault::Page`].
pub fn report_perf_count(exec: &mut Exec<'_>, packet: &MiReportPerfCount) -> Result<(), Fault> {
    let control = Oacontrol::unpack_lossy(&[exec.device.read(Oacontrol::OFFSET)]);
    if control.specific_context_enable {
        let what = "counters of one context (Specific Context Enable of OACONTROL)";
        return Err(exec.unimplemented(what, "Linux i915 i915_reg.h, GEN8_OACONTROL"));
    }
    let Some(parts) = layout(control.counter_select) else {
        let why = "the layout of reports is reserved; set Counter Select of OACONTROL to 0, 2, 5 \
            or 7";
        return Err(exec.bad_field("Counter Select", control.counter_select.bits(), why));
    };
    let global = packet.use_global_gtt;
    if exec.allowed(global) {
        let whole = whole_report(exec, packet.report_id.get()).pack();
        let report: Vec<u32> = parts.into_iter().flat_map(|part| whole[part].to_vec()).collect();
        let address = packet.memory_address.va48();
        exec.view(global)
            .write(address, bytemuck::must_cast_slice(&report))
            .map_err(|fault| exec.page(fault, "Memory Address"))?;
        exec.stats.bytes_written += 4 * report.len() as u64;
    }
    Ok(())
}

/// The parts of a layout in order: ranges of dwords of the report with all counters (2b p.22;
/// Broadwell vol 14 p.8). `None` for reserved layouts.
fn layout(select: Layout) -> Option<Vec<Range<usize>>> {
    let names: &[(&str, &str)] = match select {
        Layout::A12 => {
            &[("RPT_ID", "GPU_TICKS"), ("A-Cntr 7 (low dword)", "A-Cntr 18 (low dword)")]
        }
        Layout::A12_B8_C8 => &[
            ("RPT_ID", "GPU_TICKS"),
            ("A-Cntr 7 (low dword)", "A-Cntr 18 (low dword)"),
            ("B-Cntr 0", "C-Cntr 7"),
        ],
        Layout::A36_B8_C8 => &[("RPT_ID", "C-Cntr 7")],
        Layout::C4_B8 => {
            &[("RPT_ID", "GPU_TICKS"), ("C-Cntr 0", "C-Cntr 3"), ("B-Cntr 0", "B-Cntr 7")]
        }
        _ => return None,
    };
    let dword = |name: &str| {
        let fields = PerformanceCounterReportFormat101b::INFO.fields;
        Some(fields.iter().find(|field| field.name == name)?.start as usize / 32)
    };
    names.iter().map(|(first, last)| Some(dword(first)?..dword(last)? + 1)).collect()
}

/// The report with all counters. A0 to A31 have 40 bits, A32 to A35 have 32 bits.
fn whole_report(exec: &Exec<'_>, id: u64) -> PerformanceCounterReportFormat101b {
    let mut observed = exec.device.observed;
    let clock = exec.budget.clock();
    observed.add(Counter::RenderBusy, clock.wrapping_sub(exec.device.render_since));
    let counters = observed.all();
    let low = |n: usize| U::from_bits(counters[n]);
    let high = |n: usize| U::from_bits(counters[n] >> 32);
    PerformanceCounterReportFormat101b {
        rpt_id: U::from_bits(id),
        time_stamp: U::from_bits(exec.budget.timestamp()),
        ctx_id: U::from_bits(exec.mode.number.into()),
        gpu_ticks: U::from_bits(clock),
        a_cntr_0_low_dword: low(0),
        a_cntr_1_low_dword: low(1),
        a_cntr_2_low_dword: low(2),
        a_cntr_3_low_dword: low(3),
        a_cntr_4_low_dword: low(4),
        a_cntr_5_low_dword: low(5),
        a_cntr_6_low_dword: low(6),
        a_cntr_7_low_dword: low(7),
        a_cntr_8_low_dword: low(8),
        a_cntr_9_low_dword: low(9),
        a_cntr_10_low_dword: low(10),
        a_cntr_11_low_dword: low(11),
        a_cntr_12_low_dword: low(12),
        a_cntr_13_low_dword: low(13),
        a_cntr_14_low_dword: low(14),
        a_cntr_15_low_dword: low(15),
        a_cntr_16_low_dword: low(16),
        a_cntr_17_low_dword: low(17),
        a_cntr_18_low_dword: low(18),
        a_cntr_19_low_dword: low(19),
        a_cntr_20_low_dword: low(20),
        a_cntr_21_low_dword: low(21),
        a_cntr_22_low_dword: low(22),
        a_cntr_23_low_dword: low(23),
        a_cntr_24_low_dword: low(24),
        a_cntr_25_low_dword: low(25),
        a_cntr_26_low_dword: low(26),
        a_cntr_27_low_dword: low(27),
        a_cntr_28_low_dword: low(28),
        a_cntr_29_low_dword: low(29),
        a_cntr_30_low_dword: low(30),
        a_cntr_31_low_dword: low(31),
        a_cntr_32_low_dword: low(32),
        a_cntr_33_low_dword: low(33),
        a_cntr_34_low_dword: low(34),
        a_cntr_35_low_dword: low(35),
        high_byte_of_a0: high(0),
        high_byte_of_a1: high(1),
        high_byte_of_a2: high(2),
        high_byte_of_a3: high(3),
        high_byte_of_a4: high(4),
        high_byte_of_a5: high(5),
        high_byte_of_a6: high(6),
        high_byte_of_a7: high(7),
        high_byte_of_a8: high(8),
        high_byte_of_a9: high(9),
        high_byte_of_a10: high(10),
        high_byte_of_a11: high(11),
        high_byte_of_a12: high(12),
        high_byte_of_a13: high(13),
        high_byte_of_a14: high(14),
        high_byte_of_a15: high(15),
        high_byte_of_a16: high(16),
        high_byte_of_a17: high(17),
        high_byte_of_a18: high(18),
        high_byte_of_a19: high(19),
        high_byte_of_a20: high(20),
        high_byte_of_a21: high(21),
        high_byte_of_a22: high(22),
        high_byte_of_a23: high(23),
        high_byte_of_a24: high(24),
        high_byte_of_a25: high(25),
        high_byte_of_a26: high(26),
        high_byte_of_a27: high(27),
        high_byte_of_a28: high(28),
        high_byte_of_a29: high(29),
        high_byte_of_a30: high(30),
        high_byte_of_a31: high(31),
        ..PerformanceCounterReportFormat101b::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the sizes in 2b p.22 and Broadwell vol 14 p.8: 64, 128, 256 and 64 bytes.
    #[test]
    fn sizes_of_layouts() {
        let dwords = |select| {
            let parts = layout(Layout::from_bits(select));
            parts.map(|parts| parts.into_iter().map(|part| part.len()).sum::<usize>())
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7].map(dwords),
            [Some(16), None, Some(32), None, None, Some(64), None, Some(16)]
        );
    }
}
