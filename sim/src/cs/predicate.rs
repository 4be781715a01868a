//! The predicate, which conditional commands test (gen8_facts 2.4).

use crate::assumptions::{BATCHES_END_WHILE_SKIPPING, DELTAS_ARE_OF_THE_SOURCES, SLICES};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::engine_registers::{
    MiPredicateData, MiPredicateResult, MiPredicateResult2, MiPredicateSrc0, MiPredicateSrc1,
};
use genxml::gen8::mi::{
    MiBatchBufferEnd, MiPredicate, MiPredicateCombineOperation, MiPredicateCompareOperation,
    MiPredicateLoadOperation, MiSetPredicate, MiSetPredicatePredicateEnable as Enable,
};
use genxml::gen8::registers::HswMiPredicateResult2;

/// The predicate that conditional commands test: bit 0 of MI_PREDICATE_RESULT.
pub fn result(exec: &Exec<'_>) -> bool {
    let register = exec.state.registers.read(exec.base() + MiPredicateResult::OFFSET);
    MiPredicateResult::unpack_lossy(&[register]).result
}

/// MI_PREDICATE: compares the sources, combines the result with the old predicate, and writes the
/// new predicate.
pub fn predicate(exec: &mut Exec<'_>, packet: &MiPredicate) -> Result<(), Fault> {
    let old = result(exec);
    let register = |offset| exec.state.registers.read_u64(exec.base() + offset);
    let compared = match packet.compare_operation {
        MiPredicateCompareOperation::TRUE => true,
        MiPredicateCompareOperation::FALSE => false,
        MiPredicateCompareOperation::SRCS_EQUAL => {
            register(MiPredicateSrc0::OFFSET) == register(MiPredicateSrc1::OFFSET)
        }
        _ => {
            let delta =
                register(MiPredicateSrc0::OFFSET).wrapping_sub(register(MiPredicateSrc1::OFFSET));
            DELTAS_ARE_OF_THE_SOURCES && delta == register(MiPredicateData::OFFSET)
        }
    };
    let combined = match packet.combine_operation {
        MiPredicateCombineOperation::SET => compared,
        MiPredicateCombineOperation::AND => old & compared,
        MiPredicateCombineOperation::OR => old | compared,
        _ => old ^ compared,
    };
    let new = match packet.load_operation {
        MiPredicateLoadOperation::KEEP => old,
        MiPredicateLoadOperation::LOAD => combined,
        MiPredicateLoadOperation::LOADINV => !combined,
        other => {
            return Err(exec.bad_field(
                "Load Operation",
                other.bits(),
                "there is no such operation",
            ));
        }
    };
    let [register] = MiPredicateResult { result: new }.pack();
    exec.state.registers.write(exec.base() + MiPredicateResult::OFFSET, register);
    Ok(())
}

/// MI_SET_PREDICATE: sets whether the commands after it are skipped, up to the next
/// MI_SET_PREDICATE. The condition is evaluated once, by this command.
pub fn set_predicate(exec: &mut Exec<'_>, packet: &MiSetPredicate) -> Result<(), Fault> {
    let registers = &exec.state.registers;
    let second = registers.read(exec.base() + MiPredicateResult2::OFFSET)
        | registers.read(HswMiPredicateResult2::OFFSET);
    let second = MiPredicateResult2::unpack_lossy(&[second]).lower_slice_enabled;
    exec.state.skips = match packet.predicate_enable {
        Enable::NOOP_NEVER => false,
        Enable::NOOP_ON_RESULT2_CLEAR => !second,
        Enable::NOOP_ON_RESULT2_SET => second,
        Enable::NOOP_ON_RESULT_CLEAR => !result(exec),
        Enable::NOOP_ON_RESULT_SET => result(exec),
        Enable::EXECUTE_WHEN_ONE_SLICE_ENABLED => SLICES != 1,
        Enable::EXECUTE_WHEN_TWO_SLICES_ARE_ENABLED => SLICES != 2,
        Enable::EXECUTE_WHEN_THREE_SLICES_ARE_ENABLED => SLICES != 3,
        Enable::NOOP_ALWAYS => true,
        other => {
            return Err(exec.bad_field(
                "PREDICATE ENABLE",
                other.bits(),
                "there is no such condition",
            ));
        }
    };
    Ok(())
}

/// True if the packet is skipped because of MI_SET_PREDICATE. Counts skipped packets in the
/// statistics. MI_SET_PREDICATE is never skipped, and neither is MI_BATCH_BUFFER_END
/// (assumptions::BATCHES_END_WHILE_SKIPPING).
#[inline]
pub fn skips(exec: &mut Exec<'_>) -> bool {
    let skips = exec.state.skips
        && exec.at.packet != MiSetPredicate::NAME
        && !(BATCHES_END_WHILE_SKIPPING && exec.at.packet == MiBatchBufferEnd::NAME);
    exec.stats.skipped += u64::from(skips);
    skips
}
