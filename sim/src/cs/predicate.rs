//! The predicate that later commands look at (gen8_facts 2.4).

use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::engine_registers::{MiPredicateResult, MiPredicateSrc0, MiPredicateSrc1};
use genxml::gen8::mi::{
    MiPredicate, MiPredicateCombineOperation, MiPredicateCompareOperation, MiPredicateLoadOperation,
};

/// The predicate that conditional commands look at: bit 0 of MI_PREDICATE_RESULT.
pub fn result<O: Observer>(exec: &Exec<'_, O>) -> bool {
    let register = exec.state.registers.read(exec.base() + MiPredicateResult::OFFSET);
    MiPredicateResult::unpack_lossy(&[register]).result
}

/// MI_PREDICATE: a comparison, combined with the predicate so far.
pub fn predicate<O: Observer>(exec: &mut Exec<'_, O>, packet: &MiPredicate) -> Result<(), Fault> {
    let old = result(exec);
    let register = |offset| exec.state.registers.read_u64(exec.base() + offset);
    let compared = match packet.compare_operation {
        MiPredicateCompareOperation::TRUE => true,
        MiPredicateCompareOperation::FALSE => false,
        MiPredicateCompareOperation::SRCS_EQUAL => {
            register(MiPredicateSrc0::OFFSET) == register(MiPredicateSrc1::OFFSET)
        }
        _ => return Err(exec.unimplemented("DELTAS_EQUAL", "no source says how it compares")),
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
        other => return Err(exec.bad_field("Load Operation", other.bits(), "there is no such operation")),
    };
    let [register] = MiPredicateResult { result: new }.pack();
    exec.state.registers.write(exec.base() + MiPredicateResult::OFFSET, register);
    Ok(())
}
