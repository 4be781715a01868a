//! Statistics: counters in registers, and reports of performance counters.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::registers::Registers;
use genxml::gen8::mi::MiReportPerfCount;
use genxml::gen8::registers::{
    ClInvocationCount, ClPrimitivesCount, CsInvocationCount, DsInvocationCount, GsInvocationCount,
    GsPrimitivesCount, HsInvocationCount, IaPrimitivesCount, IaVerticesCount, PsDepthCount,
    PsInvocationCount, VsInvocationCount,
};

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

/// Dwords of a report: A32u40_A4u32_B8_C8 (gen8_facts 2.7).
const REPORT: usize = 64;

/// Sets all counters to 0.
pub fn reset(registers: &mut Registers) {
    for offset in COUNTERS {
        registers.write_u64(offset, 0);
    }
}

/// MI_REPORT_PERF_COUNT: writes the report id, the timestamp, the context's number and the clock to
/// memory (assumptions::CORE_0_ADDS_NO_OFFSET). The model has no performance counters; it reports
/// them as 0.
pub fn report_perf_count(exec: &mut Exec<'_>, packet: &MiReportPerfCount) -> Result<(), Fault> {
    let global = packet.use_global_gtt;
    if exec.allowed(global) {
        let mut report = [0u32; REPORT];
        report[0] = packet.report_id.get() as u32;
        report[1] = exec.budget.timestamp() as u32;
        report[2] = exec.mode.number;
        report[3] = exec.budget.clock() as u32;
        let address = packet.memory_address.va48();
        exec.view(global)
            .write(address, bytemuck::must_cast_slice(&report))
            .map_err(|fault| exec.page(fault, "Memory Address"))?;
        exec.stats.bytes_written += 4 * REPORT as u64;
    }
    Ok(())
}
