//! Modes and exceptions of threads, from INTERFACE_DESCRIPTOR_DATA and STATE_SIP. Oracle: 2d
//! p.228-233; 004:3081-3250 for `cr0`.

use genxml::eu;
use genxml::eu::gen8::eu_registers::{ControlRegister, ControlRegisterRoundingMode as Rounding};
use genxml::gen8::mi::{MiNoop, PipeControl};
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataFloatingPointMode as FloatMode,
    InterfaceDescriptorDataRoundingMode as RoundingMode,
    InterfaceDescriptorDataSingleProgramFlow as Flow, StateSip,
};
use genxml_cases::{Compute, KERNELS, Model, at, packets, push, raw_buffer};

const DATA: u64 = 0x40_0000;
/// Offset of the system routine from the instruction base.
const ROUTINE: u64 = 0x1000;

/// Stores `cr0.0` and `cr0.1`.
const MODES: &[u32] = &eu! {
    (W) mov (8|M0)   r126.0<1>:ud  0:ud
    (W) mov (8|M0)   r127.0<1>:ud  0:ud
    (W) mov (1|M0)   r127.0<1>:ud  cr0.0<0;1,0>:ud
    (W) mov (1|M0)   r127.1<1>:ud  cr0.1<0;1,0>:ud
    (W) send (8|M0)  null  r126  0xA  0x040a0200      // two owords to binding table entry 0
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// Raises the software exception, then stores r20.
const RAISE: &[u32] = &eu! {
    (W) mov (8|M0)   r20.0<1>:ud  1:ud
    (W) or (1|M0)    cr0.1<1>:ud  cr0.1<0;1,0>:ud  0x20000000:ud  {Switch}
    (W) mov (8|M0)   r126.0<1>:ud  0:ud
    (W) mov (8|M0)   r127.0<1>:ud  r20.0<8;8,1>:ud
    (W) send (8|M0)  null  r126  0xA  0x040a0200
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// A system routine that adds 1 to r20, ends the exception and returns.
const ADD: &[u32] = &eu! {
    (W) add (8|M0)   r20.0<1>:ud  r20.0<8;8,1>:ud  1:ud
    (W) and (1|M0)   cr0.1<1>:ud  cr0.1<0;1,0>:ud  0x0000ffff:ud
    (W) and (1|M0)   cr0.0<1>:ud  cr0.0<0;1,0>:ud  0x7fffffff:ud  {Switch}
};

fn compute(kernel: &[u32], descriptor: InterfaceDescriptorData) -> (Model, Compute<'_>) {
    let mut model = Model::new();
    model.map(DATA, 4096);
    let surfaces = vec![raw_buffer(DATA, 4096)];
    (model, Compute { surfaces, descriptor, ..Compute::new(kernel) })
}

/// A thread finds the modes of its descriptor in `cr0`.
#[test]
fn a_thread_finds_its_modes() {
    let new = InterfaceDescriptorData::new();
    for descriptor in [
        new,
        InterfaceDescriptorData { floating_point_mode: FloatMode::ALTERNATE, ..new },
        InterfaceDescriptorData { single_program_flow: Flow::SINGLE, ..new },
        InterfaceDescriptorData { rounding_mode: RoundingMode::RTZ, ..new },
        InterfaceDescriptorData { rounding_mode: RoundingMode::RU, ..new },
        InterfaceDescriptorData { illegal_opcode_exception_enable: true, ..new },
        InterfaceDescriptorData { software_exception_enable: true, ..new },
        InterfaceDescriptorData { mask_stack_exception_enable: true, ..new },
    ] {
        let (mut model, compute) = compute(MODES, descriptor);
        compute.run(&mut model).unwrap();
        let found = model.get(DATA, 2);
        let control = ControlRegister::unpack_lossy(&[found[0], found[1], 0, 0]);
        let want = ControlRegister {
            alternative_float_mode: descriptor.floating_point_mode == FloatMode::ALTERNATE,
            single_program_flow: descriptor.single_program_flow == Flow::SINGLE,
            rounding_mode: match descriptor.rounding_mode {
                RoundingMode::RTZ => Rounding::TO_ZERO,
                RoundingMode::RU => Rounding::UP,
                _ => Rounding::TO_NEAREST_EVEN,
            },
            illegal_opcode_enable: descriptor.illegal_opcode_exception_enable,
            software_exception_enable: descriptor.software_exception_enable,
            mask_stack_enable: descriptor.mask_stack_exception_enable,
            // Subnormal halves and doubles are kept (2d INTERFACE_DESCRIPTOR_DATA, Denorm Mode).
            half_precision_denorms: true,
            double_precision_denorms: true,
            ..ControlRegister::new()
        };
        assert_eq!(control, want);
    }
}

/// A software exception runs the system routine if it is enabled.
#[test]
fn exceptions_run_the_system_routine() {
    for (software_exception_enable, want) in [(false, 1), (true, 2)] {
        let descriptor =
            InterfaceDescriptorData { software_exception_enable, ..InterfaceDescriptorData::new() };
        let (mut model, compute) = compute(RAISE, descriptor);
        model.put(KERNELS + ROUTINE, ADD);
        let mut batch =
            packets![StateSip { system_instruction_pointer: at(ROUTINE) }, MiNoop::new()];
        batch.extend(compute.batch(&mut model));
        model.render(&batch).unwrap();
        assert_eq!(model.get(DATA, 8), [want; 8]);
    }
}

/// After Generic Media State Clear there is no front end for a walker (2a PIPE_CONTROL).
#[test]
fn cleared_state() {
    for generic_media_state_clear in [false, true] {
        let (mut model, compute) = compute(MODES, InterfaceDescriptorData::new());
        let mut batch = compute.batch(&mut model);
        push(&mut batch, &PipeControl { generic_media_state_clear, ..PipeControl::new() });
        push(&mut batch, &compute.walker());
        match model.render(&batch) {
            Ok(stats) => assert_eq!((stats.threads, generic_media_state_clear), (2, false)),
            Err(fault) => {
                assert!(generic_media_state_clear, "{fault}");
                assert!(fault.to_string().contains("MEDIA_VFE_STATE"), "{fault}");
            }
        }
    }
}
