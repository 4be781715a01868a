//! Every command of the render engine is executed or latched. The commands that the model does not
//! implement are in a list, and are refused by name.

use crate::pixels::harness::model;
use genxml::core::reflect::Kind;
use genxml::engine::EngineId;
use genxml::gen8::{CONTAINERS, RenderPacket};
use genxml_sim::Fault;

/// Prefixes of the names of commands that the model does not implement.
const LEFT_OUT: [&str; 5] = [
    "MEDIA_GATEWAY_STATE",
    "GPGPU_OBJECT",
    "GPGPU_CSR_BASE_ADDRESS",
    "MI_SEMAPHORE_MBOX",
    "SWTESS_BASE_ADDRESS",
];

/// Commands other than 3DSTATE that Mesa's drivers for Broadwell use, from their sources (iris,
/// crocus, hasvk, blorp, the batch builder and the performance queries).
const OF_DRIVERS: [&str; 32] = [
    "MI_NOOP",
    "MI_BATCH_BUFFER_START",
    "MI_BATCH_BUFFER_END",
    "MI_CONDITIONAL_BATCH_BUFFER_END",
    "MI_LOAD_REGISTER_IMM",
    "MI_LOAD_REGISTER_MEM",
    "MI_LOAD_REGISTER_REG",
    "MI_STORE_REGISTER_MEM",
    "MI_STORE_DATA_IMM",
    "MI_COPY_MEM_MEM",
    "MI_MATH",
    "MI_ATOMIC",
    "MI_PREDICATE",
    "MI_SET_PREDICATE",
    "MI_SEMAPHORE_WAIT",
    "MI_REPORT_PERF_COUNT",
    "MI_USER_INTERRUPT",
    "MI_ARB_CHECK",
    "MI_RS_CONTROL",
    "PIPE_CONTROL",
    "PIPELINE_SELECT",
    "STATE_BASE_ADDRESS",
    "STATE_SIP",
    "MEDIA_VFE_STATE",
    "MEDIA_CURBE_LOAD",
    "MEDIA_INTERFACE_DESCRIPTOR_LOAD",
    "MEDIA_STATE_FLUSH",
    "GPGPU_WALKER",
    "3DPRIMITIVE",
    "3DSTATE_VF_SGVS",
    "3DSTATE_SO_DECL_LIST",
    "3DSTATE_WM_HZ_OP",
];

/// Runs each command with only its header set. The fault must be `Unimplemented` for the commands
/// in [`LEFT_OUT`]; the others may cause any other fault, or none.
#[test]
fn commands() {
    let mut model = model();
    let mut known = Vec::new();
    for container in CONTAINERS {
        let Kind::Instruction { bias, opcode, length_field, .. } = container.kind else { continue };
        let mut batch = vec![0; container.dwords()];
        let length =
            length_field.map_or(0, |(start, _)| (batch.len() as u32).saturating_sub(bias) << start);
        batch[0] = opcode | length;
        if RenderPacket::find(batch[0]).is_none_or(|found| found.name != container.name) {
            continue;
        }
        let left_out = LEFT_OUT.iter().any(|start| container.name.starts_with(start));
        match model.submit(EngineId::Render, &batch) {
            Err(fault @ Fault::Unimplemented { .. }) => assert!(left_out, "{fault}"),
            other => assert!(!left_out, "{}: {other:?}", container.name),
        }
        known.push(container.name);
    }
    for name in OF_DRIVERS {
        assert!(known.contains(&name), "{name}");
    }
    assert!(known.len() > 140, "{} commands", known.len());
}
