//! Batches of commands of the command streamer. Oracle: what the manual says of each command.
//!
//! These tests run the whole model. As unit tests of the crate, they would make the compiler build
//! the whole model a second time.

use crate::bench::{BATCH, Bench, DATA, at, batch, u};
use genxml::core::{U, U64};
use genxml::engine::EngineId;
use genxml::gen8::media::{GpgpuCsrBaseAddress, MediaCurbeLoad, MediaInterfaceDescriptorLoad};
use genxml::gen8::mi::*;
use genxml::gen8::registers::BcsSwctrl;
use genxml::gen8::render3d_constants::ThreeDStateDx9ConstantBufferPoolAlloc;
use genxml::gen8::state::StateBaseAddress;
use genxml_sim::Fault;
use proptest::prelude::*;

const END: MiBatchBufferEnd = MiBatchBufferEnd::new();
/// Offset of the first general register of the render engine's command streamer.
const GPR: u32 = 0x2600;

fn store<'a>(address: u64, data: &'a [U<32>]) -> MiStoreDataImm<'a> {
    MiStoreDataImm { data_dword: data.into(), ..MiStoreDataImm::new(at(address)) }
}

fn write(offset: u32, value: u32) -> [MiLoadRegisterImmRegister; 1] {
    [MiLoadRegisterImmRegister { register_offset: at(offset.into()), data_dword: u(value.into()) }]
}

fn load(registers: &[MiLoadRegisterImmRegister]) -> MiLoadRegisterImm<'_> {
    MiLoadRegisterImm { register: registers.into(), ..MiLoadRegisterImm::new() }
}

fn start(address: u64, second: bool) -> MiBatchBufferStart {
    MiBatchBufferStart {
        second_level_batch_buffer: if second {
            MiBatchBufferStartSecondLevelBatchBuffer::SECOND_LEVEL_BATCH
        } else {
            MiBatchBufferStartSecondLevelBatchBuffer::FIRST_LEVEL_BATCH
        },
        ..MiBatchBufferStart::new(at(address))
    }
}

#[test]
fn store_data() {
    let mut bench = Bench::new();
    let (one, four) = ([u(1)], [u(4), u(5), u(6), u(7)]);
    let qwords = MiStoreDataImm {
        store_qword: MiStoreDataImmStoreQword::STORE_QWORD,
        ..store(DATA + 16, &four)
    };
    let stats = bench
        .render(&batch![store(DATA, &[u(1)]), store(DATA + 4, &[u(2), u(3)]), qwords, END])
        .unwrap();
    assert_eq!(bench.get(DATA), [1, 2, 3, 0, 4, 5, 6, 7, 0]);
    assert_eq!((stats.packets, stats.bytes_written, stats.batches), (4, 28, 1));

    let odd =
        MiStoreDataImm { store_qword: MiStoreDataImmStoreQword::STORE_QWORD, ..store(DATA, &one) };
    assert!(matches!(
        bench.render(&batch![odd]),
        Err(Fault::BadPacket { field: "DWord Length", .. })
    ));
    let global = MiStoreDataImm { use_global_gtt: true, ..store(DATA, &one) };
    // A batch in the context's space must not use the global table: the command does nothing.
    let stats = bench.render(&batch![MiNoop::new(), global, END]).unwrap();
    assert_eq!((stats.packets, stats.violations, stats.bytes_written), (3, 1, 0));
    let fault = bench.render(&batch![store(0x1234_0000_0000, &[u(1)])]).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "MI_STORE_DATA_IMM at 0x0000_0010_0000 (render batch +0x0): page fault: write to 0x1234_0000_0000, \
         nothing is mapped there (level 4 entry not present) (Address)"
    );
}

/// Canonical addresses: bits 63:48 of an address in a command repeat bit 47 and are ignored.
#[test]
fn high_addresses() {
    let mut bench = Bench::new();
    let (gpu, context) = (&mut bench.gpu, bench.context);
    gpu.load(context, 0xffff_ffff_f000, &[0; 4096]).unwrap();
    bench.render(&batch![store(0xffff_ffff_f008, &[u(9)]), END]).unwrap();
    assert_eq!(bench.get(0xffff_ffff_f008), [9]);
    assert_eq!(bench.get(u64::MAX - 0xff7), [9]);
}

#[test]
fn registers_keep_what_they_should() {
    let mut bench = Bench::new();
    let disable = MiLoadRegisterImm { byte_write_disables: u(0b0101), ..load(&[]) };
    let one = write(GPR, 0x1234_5678);
    let two = write(GPR, 0xffff_ffff);
    bench
        .render(&batch![load(&one), MiLoadRegisterImm { register: (&two).into(), ..disable }, END])
        .unwrap();
    let registers = &bench.gpu.context(bench.context).state.registers;
    assert_eq!(registers.read(GPR), 0xff34_ff78);

    // A masked register: bits 31:16 of the value say which of bits 15:0 are written.
    let swctrl =
        |bench: &Bench| bench.gpu.context(bench.context).state.registers.read(BcsSwctrl::OFFSET);
    for (value, expected) in
        [(0x0003_0003, 3), (0x0001_0000, 2), (0x0000_0001, 2), (0x0002_0001, 0)]
    {
        bench.render(&batch![load(&write(BcsSwctrl::OFFSET, value)), END]).unwrap();
        assert_eq!(swctrl(&bench), expected, "{value:#x}");
    }
}

#[test]
fn levels_of_batches() {
    let mut bench = Bench::new();
    let (second, third, chained) = (BATCH + 0x400, BATCH + 0x800, BATCH + 0xc00);
    bench.put(
        second,
        &batch![store(DATA + 4, &[u(2)]), start(third, true), store(DATA + 8, &[u(99)]), END],
    );
    bench.put(third, &batch![store(DATA + 12, &[u(3)]), END]);
    bench.put(chained, &batch![store(DATA + 20, &[u(5)]), END]);
    let first = batch![
        store(DATA, &[u(1)]),
        start(second, true),
        store(DATA + 16, &[u(4)]),
        start(chained, false),
        store(DATA + 24, &[u(99)]),
        END
    ];
    let stats = bench.render(&first).unwrap();
    // A second-level batch that starts another second-level batch is not resumed; the first-level
    // batch that called it is.
    assert_eq!(bench.get(DATA), [1, 2, 0, 3, 4, 5, 0]);
    assert_eq!(stats.batches, 4);

    bench.put(second, &batch![start(chained, false)]);
    // If a second-level batch starts a first-level batch, the new batch replaces the caller too:
    // the packet after the call is not executed.
    let stats = bench.render(&batch![start(second, true), store(DATA + 24, &[u(98)])]).unwrap();
    assert_eq!(stats.batches, 3);
    assert_eq!(bench.get(DATA), [1, 2, 0, 3, 4, 5, 0]);
}

#[test]
fn lengths_and_ends() {
    let mut bench = Bench::new();
    let noops = batch![MiNoop::new(), MiNoop::new(), store(DATA, &[u(1)])];
    bench.put(BATCH, &noops);
    let mut submit = |length| bench.gpu.submit(bench.context, EngineId::Render, BATCH, length);
    assert_eq!(submit(8).unwrap().packets, 2);
    assert_eq!(submit(24).unwrap().packets, 3);
    assert!(matches!(submit(12), Err(Fault::Truncated { needed: 4, available: 1, .. })));
    // Zeros are MI_NOOPs: the batch runs beyond the end of its buffer.
    assert!(matches!(submit(0), Err(Fault::Page { fault, .. }) if fault.address == BATCH + 0x4000));
    let address = 0x7000_0000;
    let result = bench.gpu.submit(bench.context, EngineId::Render, address, 0);
    assert!(matches!(result, Err(Fault::Page { fault, .. }) if fault.address == address));
}

#[test]
fn endless_loops_end() {
    let mut bench = Bench::new();
    let fault = bench.render(&batch![MiNoop::new(), start(BATCH, false)]).unwrap_err();
    assert!(matches!(fault, Fault::Hang { limit, .. } if limit == 1 << 24), "{fault}");
    assert!(fault.to_string().contains("raise the work limit"));
    let fault = bench.render(&batch![start(BATCH, true)]).unwrap_err();
    assert!(matches!(fault, Fault::Hang { .. }), "{fault}");
}

/// The pools of the resource streamer may be disabled: the kernel driver's initial state does that.
#[test]
fn pools_of_the_resource_streamer_are_disabled() {
    let mut bench = Bench::new();
    let pool = ThreeDStateDx9ConstantBufferPoolAlloc::new();
    bench.render(&batch![pool, MiBatchBufferEnd::new()]).unwrap();
    let enabled =
        ThreeDStateDx9ConstantBufferPoolAlloc { dx9_constant_buffer_pool_enable: true, ..pool };
    let fault = bench.render(&batch![enabled]).unwrap_err();
    assert!(matches!(fault, Fault::BadPacket { .. }), "{fault}");
}

#[test]
fn what_is_unknown_or_missing_says_so() {
    let mut bench = Bench::new();
    let fault = bench.render(&[0xe000_0000]).unwrap_err();
    assert!(matches!(fault, Fault::UnknownPacket { header: 0xe000_0000, .. }), "{fault}");
    let fault = bench.render(&batch![GpgpuCsrBaseAddress::new()]).unwrap_err();
    assert!(fault.to_string().contains("does not implement GPGPU_CSR_BASE_ADDRESS"), "{fault}");
    // A render command on the blitter.
    let fault = bench.blit(&batch![PipeControl::new()]).unwrap_err();
    assert!(matches!(fault, Fault::UnknownPacket { .. }), "{fault}");
}

#[test]
fn pipe_control() {
    let mut bench = Bench::new();
    let write = |operation, address| PipeControl {
        post_sync_operation: operation,
        address: at(address),
        immediate_data: U64::from_bits(0x1122_3344_5566_7788),
        ..PipeControl::new()
    };
    let register = PipeControl {
        lri_post_sync_operation: PipeControlLriPostSyncOperation::MMIO_WRITE_IMMEDIATE_DATA,
        address: at(GPR.into()),
        immediate_data: U64::from_bits(77),
        ..PipeControl::new()
    };
    bench
        .render(&batch![
            write(PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA, DATA + 4),
            write(PipeControlPostSyncOperation::WRITE_PS_DEPTH_COUNT, DATA + 8),
            write(PipeControlPostSyncOperation::WRITE_TIMESTAMP, DATA + 16),
            register,
            write(PipeControlPostSyncOperation::NO_WRITE, DATA + 32),
            END
        ])
        .unwrap();
    // Bit 2 of the address is ignored.
    assert_eq!(bench.get(DATA), [0x5566_7788, 0x1122_3344, 0, 0]);
    let [first, high, zero] = bench.get(DATA + 16);
    assert_eq!((high, zero), (0, 0));
    assert_eq!(bench.gpu.context(bench.context).state.registers.read(GPR), 77);

    let mut later: Vec<u32> = vec![0; 100];
    later.extend(batch![write(PipeControlPostSyncOperation::WRITE_TIMESTAMP, DATA + 16), END]);
    bench.render(&later).unwrap();
    assert!(bench.get::<1>(DATA + 16)[0] > first);

    let index = PipeControl {
        store_data_index: true,
        ..write(PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA, DATA)
    };
    let fault = bench.render(&batch![index]).unwrap_err();
    assert!(fault.to_string().contains("hardware status page"), "{fault}");
}

#[test]
fn bases_change_only_when_asked() {
    let mut bench = Bench::new();
    let all = StateBaseAddress {
        general_state_base_address: at(0x1000),
        general_state_base_address_modify_enable: true,
        surface_state_base_address: at(0x2000),
        surface_state_base_address_modify_enable: true,
        dynamic_state_base_address: at(DATA),
        dynamic_state_base_address_modify_enable: true,
        indirect_object_base_address: at(0x4000),
        indirect_object_base_address_modify_enable: true,
        instruction_base_address: at(0x5000),
        instruction_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    };
    let one = StateBaseAddress {
        surface_state_base_address: at(0x8000_0000_0000),
        surface_state_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    };
    bench.render(&batch![all, one, END]).unwrap();
    let base = bench.gpu.context(bench.context).state.base;
    let all = [base.general, base.surface, base.dynamic, base.indirect, base.instruction];
    assert_eq!(all, [0x1000, 0x8000_0000_0000, DATA, 0x4000, 0x5000]);
}

#[test]
fn media_state_is_read_when_loaded() {
    let mut bench = Bench::new();
    bench.put(DATA + 64, &[0x40, 0, 0, 0, 0xa0, 0, 0, 0]);
    bench.put(DATA + 128, &[1, 2, 3, 4]);
    let base = StateBaseAddress {
        dynamic_state_base_address: at(DATA),
        dynamic_state_base_address_modify_enable: true,
        ..StateBaseAddress::new()
    };
    let descriptors = MediaInterfaceDescriptorLoad {
        interface_descriptor_total_length: u(32),
        interface_descriptor_data_start_address: at(64),
    };
    let curbe = |offset, length| MediaCurbeLoad {
        curbe_total_data_length: u(length),
        curbe_data_start_address: at(offset),
    };
    bench.render(&batch![base, descriptors, curbe(128, 64), curbe(132, 4), END]).unwrap();
    let state = &bench.gpu.context(bench.context).state;
    assert_eq!(state.interface_descriptors.address, DATA + 64);
    assert_eq!(state.interface_descriptors.entries.len(), 1);
    assert_eq!(state.interface_descriptors.entries[0].kernel_start_pointer.get(), 0x40);
    assert_eq!(state.interface_descriptors.entries[0].binding_table_pointer.get(), 0xa0);
    assert_eq!(state.curbe[..20], *bytemuck::cast_slice::<u32, u8>(&[2, 2, 3, 4, 0]));

    let bad =
        MediaInterfaceDescriptorLoad { interface_descriptor_total_length: u(33), ..descriptors };
    assert!(matches!(bench.render(&batch![bad]), Err(Fault::BadPacket { value: 33, .. })));
}

#[test]
fn registers_and_memory() {
    let mut bench = Bench::new();
    bench.put(DATA, &[0xdead_beef, 0x77]);
    let load_memory = MiLoadRegisterMem {
        register_address: at(GPR.into()),
        memory_address: at(DATA),
        ..MiLoadRegisterMem::new()
    };
    let copy = MiLoadRegisterReg {
        source_register_address: at(GPR.into()),
        destination_register_address: at(u64::from(GPR) + 8),
    };
    let store_memory = |offset: u32, to| MiStoreRegisterMem {
        register_address: at(offset.into()),
        memory_address: at(to),
        ..MiStoreRegisterMem::new()
    };
    let copy_memory = MiCopyMemMem {
        source_memory_address: at(DATA + 4),
        destination_memory_address: at(DATA + 12),
        ..MiCopyMemMem::new()
    };
    bench
        .render(&batch![
            load_memory,
            copy,
            store_memory(GPR + 8, DATA + 8),
            copy_memory,
            store_memory(0x2358, DATA + 16),
            store_memory(0x235c, DATA + 20),
            MiArbCheck::new(),
            MiUserInterrupt::new(),
            END
        ])
        .unwrap();
    assert_eq!(bench.get(DATA), [0xdead_beef, 0x77, 0xdead_beef, 0x77]);
    let [low, high] = bench.get(DATA + 16);
    assert!(low > 0 && high == 0, "TIMESTAMP is {low:#x} {high:#x}");
}

#[test]
fn predicates() {
    let mut bench = Bench::new();
    let result = 0x2418;
    let compare = |compare, combine, load| MiPredicate {
        compare_operation: compare,
        combine_operation: combine,
        load_operation: load,
    };
    let equal = compare(
        MiPredicateCompareOperation::SRCS_EQUAL,
        MiPredicateCombineOperation::SET,
        MiPredicateLoadOperation::LOAD,
    );
    // Drivers invert the predicate with this packet.
    let invert = compare(
        MiPredicateCompareOperation::FALSE,
        MiPredicateCombineOperation::OR,
        MiPredicateLoadOperation::LOADINV,
    );
    let keep = compare(
        MiPredicateCompareOperation::TRUE,
        MiPredicateCombineOperation::SET,
        MiPredicateLoadOperation::KEEP,
    );
    let target = BATCH + 0x800;
    bench.put(target, &batch![END]);
    let jump = MiBatchBufferStart { predication_enable: true, ..start(target, false) };
    let high = write(0x240c, 5);
    for (packets, taken) in [
        (batch![equal], true),
        (batch![equal, invert], false),
        (batch![equal, invert, invert], true),
        (batch![load(&high), equal], false),
        (batch![equal, keep], false),
        (batch![equal, invert], true),
    ] {
        bench.put(DATA, &[0]);
        let mut batch = packets;
        batch.extend(batch![jump, store(DATA, &[u(1)]), END]);
        bench.render(&batch).unwrap();
        assert_eq!(bench.get(DATA), [u32::from(!taken)]);
        assert_eq!(bench.gpu.context(bench.context).state.registers.read(result), u32::from(taken));
    }
}

#[test]
fn semaphores() {
    let mut bench = Bench::new();
    bench.put(DATA, &[5]);
    let wait = |operation, data| MiSemaphoreWait {
        compare_operation: operation,
        semaphore_data_dword: u(data),
        semaphore_address: at(DATA),
        ..MiSemaphoreWait::new()
    };
    use MiSemaphoreWaitCompareOperation as Compare;
    for (operation, below, same, above) in [
        (Compare::SAD_GREATER_THAN_SDD, true, false, false),
        (Compare::SAD_GREATER_THAN_OR_EQUAL_SDD, true, true, false),
        (Compare::SAD_LESS_THAN_SDD, false, false, true),
        (Compare::SAD_LESS_THAN_OR_EQUAL_SDD, false, true, true),
        (Compare::SAD_EQUAL_SDD, false, true, false),
        (Compare::SAD_NOT_EQUAL_SDD, true, false, true),
    ] {
        for (data, passes) in [(4, below), (5, same), (6, above)] {
            let result = bench.render(&batch![wait(operation, data), END]);
            assert_eq!(result.is_ok(), passes, "{operation:?} {data}");
            assert!(
                passes || matches!(&result, Err(Fault::Deadlock { waits }) if waits[0].memory == 5)
            );
        }
    }
}

#[test]
fn flush_writes_what_it_has() {
    let mut bench = Bench::new();
    let flush = |data| MiFlushDw {
        post_sync_operation: MiFlushDwPostSyncOperation::WRITE_IMMEDIATE_DATA,
        address: at(DATA),
        immediate_data: data,
        ..MiFlushDw::new()
    };
    let (one, two) = ([u(1)], [u(2), u(3)]);
    bench.blit(&batch![flush((&one).into()), END]).unwrap();
    assert_eq!(bench.get(DATA), [1, 0]);
    bench.blit(&batch![flush((&two).into()), END]).unwrap();
    assert_eq!(bench.get(DATA), [2, 3]);
}

/// An ALU instruction of MI_MATH.
fn step(opcode: MiMathAluOpcode, one: MiMathOperand, two: MiMathOperand) -> MiMathAluInstruction {
    MiMathAluInstruction { alu_opcode: opcode, operand_1: one, operand_2: two }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Oracle: 64-bit arithmetic of Rust.
    #[test]
    fn math(a in any::<u64>(), b in prop_oneof![any::<u64>(), 0u64..4], same in any::<bool>()) {
        use {MiMathAluOpcode as Op, MiMathOperand as R};
        let b = if same { a } else { b };
        for (op, expected, carry) in [
            (Op::ADD, a.wrapping_add(b), a.checked_add(b).is_none()),
            (Op::SUB, a.wrapping_sub(b), a < b),
            (Op::AND, a & b, false),
            (Op::OR, a | b, false),
            (Op::XOR, a ^ b, false),
        ] {
            let program = [
                step(Op::LOAD, R::SRCA, R::REG0),
                step(Op::LOADINV, R::SRCB, R::REG1),
                step(op, R::REG0, R::REG0),
                step(Op::STORE, R::REG2, R::ACCU),
                step(Op::STORE, R::REG3, R::ZF),
                step(Op::STOREINV, R::REG4, R::CF),
            ];
            let mut bench = Bench::new();
            let registers = &mut bench.gpu.context_mut(bench.context).state.registers;
            for (offset, value) in [(GPR, a as u32), (GPR + 4, (a >> 32) as u32)] {
                registers.write(offset, value);
            }
            registers.write(GPR + 8, !b as u32);
            registers.write(GPR + 12, (!b >> 32) as u32);
            bench.render(&batch![MiMath { instruction: (&program).into() }, END]).unwrap();
            let registers = &bench.gpu.context(bench.context).state.registers;
            let flag = |set: bool| if set { u64::MAX } else { 0 };
            prop_assert_eq!(registers.read_u64(GPR + 16), expected, "{:?}", op);
            prop_assert_eq!(registers.read_u64(GPR + 24), flag(expected == 0), "{:?}", op);
            prop_assert_eq!(registers.read_u64(GPR + 32), !flag(carry), "{:?}", op);
        }
    }

    /// For any dwords, a submission ends with a result.
    #[test]
    fn anything_ends(dwords in prop::collection::vec(any::<u32>(), 1..64), masked in any::<bool>(), render in any::<bool>()) {
        let mut bench = Bench::new();
        bench.gpu.set_work_limit(1 << 16);
        let valid = [0x1000_0002, 0x1100_0001, 0x1880_0101, 0x18c0_0101, 0x7a00_0004, 0x54f0_8808, 0x5430_0005, 0];
        let batch: Vec<u32> =
            dwords.into_iter().map(|dword| if masked { valid[dword as usize % 8] ^ (dword & 0x0020_00a0) } else { dword }).collect();
        let engine = if render { EngineId::Render } else { EngineId::Blitter };
        if let Err(fault) = bench.submit(engine, &batch) {
            prop_assert!(!fault.to_string().is_empty());
        }
    }
}

fn semaphore(address: u64, data: u64) -> MiSemaphoreWait {
    MiSemaphoreWait {
        wait_mode: MiSemaphoreWaitWaitMode::POLLING_MODE,
        compare_operation: MiSemaphoreWaitCompareOperation::SAD_EQUAL_SDD,
        semaphore_data_dword: u(data),
        semaphore_address: at(address),
        ..MiSemaphoreWait::new()
    }
}

/// Two engines pass a token to each other, in both orders of submission.
#[test]
fn engines_wait_for_each_other() {
    for order in [[EngineId::Render, EngineId::Blitter], [EngineId::Blitter, EngineId::Render]] {
        let mut bench = Bench::new();
        let (ping, pong) = (BATCH, BATCH + 0x1000);
        bench.put(
            ping,
            &batch![store(DATA, &[u(1)]), semaphore(DATA, 2), store(DATA + 4, &[u(7)]), END],
        );
        bench.put(
            pong,
            &batch![semaphore(DATA, 1), store(DATA + 8, &[u(8)]), store(DATA, &[u(2)]), END],
        );
        for engine in order {
            let address = if engine == EngineId::Render { ping } else { pong };
            bench.gpu.enqueue(bench.context, engine, address, 0);
        }
        let stats = bench.gpu.run().unwrap();
        assert_eq!(bench.get(DATA), [2, 7, 8]);
        assert_eq!((stats.batches, stats.packets), (2, 8));
        assert_eq!(bench.gpu.run().unwrap().packets, 0);
    }
}

#[test]
fn batches_of_an_engine_run_in_order() {
    let mut bench = Bench::new();
    for index in 0..4 {
        bench.put(BATCH + 0x100 * index, &batch![store(DATA, &[u(index)]), END]);
        bench.gpu.enqueue(bench.context, EngineId::Video, BATCH + 0x100 * index, 0);
    }
    assert_eq!(bench.gpu.run().unwrap().batches, 4);
    assert_eq!(bench.get(DATA), [3]);
}

/// The fault names each engine that waits, the packet, and the semaphore. Batches that did not wait
/// are executed, and a batch that is queued after a waiting one runs at the next call.
#[test]
fn deadlock() {
    let mut bench = Bench::new();
    let second = BATCH + 0x1000;
    bench.put(BATCH, &batch![MiNoop::new(), semaphore(DATA, 2), END]);
    bench.put(second, &batch![semaphore(DATA + 4, 1), END]);
    bench.put(BATCH + 0x2000, &batch![store(DATA + 8, &[u(3)]), END]);
    bench.gpu.enqueue(bench.context, EngineId::VideoEnhance, BATCH, 0);
    bench.gpu.enqueue(bench.context, EngineId::Blitter, second, 0);
    bench.gpu.enqueue(bench.context, EngineId::Render, BATCH + 0x2000, 0);
    bench.gpu.enqueue(bench.context, EngineId::Blitter, BATCH + 0x2000, 0);
    let fault = bench.gpu.run().unwrap_err();
    assert_eq!(
        fault.to_string(),
        "deadlock: MI_SEMAPHORE_WAIT at 0x0000_0010_1000 (blitter batch +0x0) waits for 0x0000_0020_0004 \
         (per-process) == 0x1; memory holds 0x0; MI_SEMAPHORE_WAIT at 0x0000_0010_0004 (video-enhance batch \
         +0x4) waits for 0x0000_0020_0000 (per-process) == 0x2; memory holds 0x0"
    );
    assert_eq!(bench.get(DATA + 8), [3]);
    assert_eq!(bench.gpu.run().unwrap().batches, 1);
}
