//! Walkers whose kernels are random, jump to computed addresses, and raise exceptions.

use genxml::gen8::media::{GpgpuWalker, MediaVfeState};
use genxml::gen8::state::{InterfaceDescriptorData, StateSip};
use genxml_core::{Address, MinusOne, U};
use genxml_sim::machine::device::Device;
use genxml_sim::machine::exec::Mode;
use genxml_sim::machine::fault::Exception;
use genxml_sim::machine::state::InterfaceDescriptors;
use genxml_sim::mem::{AddressSpace, Memory, PAGE, Vm};
use genxml_sim::{Budget, EngineId, Exec, Fault, Place, State, Stats};
use proptest::prelude::*;

const BASE: u64 = 0x10_0000;
const BYTES: usize = 64 * 1024;

fn machine() -> (Memory, AddressSpace) {
    let mut mem = Memory::with_limit(16 << 20);
    let mut space = AddressSpace::new(&mut mem).unwrap();
    let frames = mem.alloc(BYTES as u64 / PAGE).unwrap();
    space.map(&mut mem, BASE, frames, true).unwrap();
    (mem, space)
}

fn exec<'a>(
    vm: Vm<'a>,
    ggtt: &'a mut AddressSpace,
    state: &'a mut State,
    stats: &'a mut Stats,
    budget: &'a mut Budget,
    device: &'a mut Device,
) -> Exec<'a> {
    Exec {
        engine: EngineId::Render,
        ggtt,
        vm,
        state,
        stats,
        budget,
        listener: Default::default(),
        at: Place::new(EngineId::Render, "GPGPU_WALKER", 0, 0),
        device,
        mode: Mode::default(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Random kernels that a walker starts end normally or with a fault, without a panic.
    #[test]
    fn random_kernels(
        code in prop::collection::vec((any::<[u32; 4]>(), prop::sample::select(vec![0x01u8, 0x31, 0x40, 0x41, 0x10, 0x20, 0x27])), 1..16),
        threads in 1u64..4,
    ) {
        let (mut mem, mut space) = machine();
        let mut vm = Vm::new(&mut mem, &mut space);
        for (n, (dwords, opcode)) in code.iter().enumerate() {
            let mut dwords = *dwords;
            dwords[0] = dwords[0] & !0x2000_00ff | u32::from(*opcode);
            vm.write(BASE + 16 * n as u64, bytemuck::must_cast_slice(&dwords)).unwrap();
        }
        let mut state = State { vfe: Some(MediaVfeState::new()), ..State::default() };
        state.base.instruction = BASE;
        state.base.surface = BASE;
        state.interface_descriptors =
            InterfaceDescriptors { address: 0, entries: vec![InterfaceDescriptorData::new()] };
        let (mut ggtt, mut stats) = (AddressSpace::global(), Stats::default());
        let (mut budget, mut device) = (Budget::new(100_000, 0), Device::default());
        let mut exec = exec(vm, &mut ggtt, &mut state, &mut stats, &mut budget, &mut device);
        let walker = GpgpuWalker {
            thread_width_counter_maximum: MinusOne::new(threads).unwrap(),
            thread_group_id_x_dimension: U::from_bits(2),
            thread_group_id_y_dimension: U::from_bits(1),
            thread_group_id_z_dimension: U::from_bits(1),
            right_execution_mask: U::MAX,
            bottom_execution_mask: U::MAX,
            indirect_data_start_address: Address::ZERO,
            ..GpgpuWalker::new()
        };
        let _ = genxml_sim::media::dispatch_walker(&mut exec, &walker);
    }
}

/// A kernel jumps to code that no direct branch reaches, and raises an exception there. Without a
/// system routine this is a fault. Oracle: the number of instructions that a thread executes,
/// counted by hand; 004:3110-3130 and STATE_SIP for the entry to the system routine and the return
/// from it.
#[test]
fn computed_jumps_and_exceptions_of_walkers() {
    let (mut mem, mut space) = machine();
    let mut vm = Vm::new(&mut mem, &mut space);
    let raise = "(W) or (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x20000000:ud {Switch}\n
                 (W) send (8|M0) null r112:ud 0x27 0x02000010 {EOT}";
    let routine = "(W) and (1|M0) cr0.1<1>:ud cr0.1<0;1,0>:ud 0x0000ffff:ud
                   (W) and (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x7fffffff:ud {Switch}";
    for (offset, text) in
        [(0x40, "(W) mov (1|M0) ip<1>:ud 0x240:ud"), (0x240, raise), (0x400, routine)]
    {
        let options = genxml_eu::asm::Options::default();
        let code =
            genxml_eu::asm::assemble(text, genxml_eu::syntax::Syntax::Iga, &options).unwrap();
        vm.write(BASE + offset, &code.bytes).unwrap();
    }
    let mut state = State { vfe: Some(MediaVfeState::new()), ..State::default() };
    state.base.instruction = BASE;
    state.base.surface = BASE;
    let descriptor = InterfaceDescriptorData {
        kernel_start_pointer: Address::new(0x40).unwrap(),
        software_exception_enable: true,
        ..InterfaceDescriptorData::new()
    };
    state.interface_descriptors = InterfaceDescriptors { address: 0, entries: vec![descriptor] };
    let (mut ggtt, mut stats) = (AddressSpace::global(), Stats::default());
    let (mut budget, mut device) = (Budget::new(100_000, 0), Device::default());
    let mut exec = exec(vm, &mut ggtt, &mut state, &mut stats, &mut budget, &mut device);
    let walker = GpgpuWalker {
        thread_group_id_x_dimension: U::from_bits(2),
        thread_group_id_y_dimension: U::from_bits(1),
        thread_group_id_z_dimension: U::from_bits(1),
        right_execution_mask: U::MAX,
        bottom_execution_mask: U::MAX,
        ..GpgpuWalker::new()
    };
    let fault = genxml_sim::media::dispatch_walker(&mut exec, &walker).unwrap_err();
    let Fault::Exception { exception, at } = &fault else { panic!("{fault}") };
    assert_eq!((*exception, at.thread.map_or(0, |thread| thread.ip)), (Exception::Software, 0x200));
    exec.state.sip = Some(StateSip { system_instruction_pointer: Address::new(0x400).unwrap() });
    // In the second round the cached kernel already has the code that the first round decoded.
    for round in 1..=2 {
        genxml_sim::media::dispatch_walker(&mut exec, &walker).unwrap();
        // Each of two threads executes a jump, the exception, two instructions of the routine, and
        // the end.
        assert_eq!((exec.stats.threads, exec.stats.instructions), (2 * round, 2 * 5 * round));
    }
}
