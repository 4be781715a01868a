//! Commands of the streamer. Oracle: the text of each command in the comments, and its effect on
//! memory.

use super::debugging::load;
use super::{BATCH, DATA, END, G45};
use genxml::core::{Address, Shifted, U, U64};
use genxml::gen45::commands_common::{
    ConstantBuffer, CsUrbState, PipeControl, PipeControlPostSyncOperation as PostSync,
    PipelineSelect, UrbFence,
};
use genxml::gen45::commands_mi::{
    MiBatchBufferStart, MiBatchBufferStartMemorySpace, MiFlush, MiNoop, MiStoreDataImm,
    MiStoreDataIndex, MiStoreRegisterMem, MiUserInterrupt,
};
use genxml::gen45::registers::{PsDepthCount, VsInvocationCount};
use genxml_cases::push;

fn pipe_control(operation: PostSync, address: u64, data: u64) -> [u32; 4] {
    PipeControl {
        post_sync_operation: operation,
        address: Address::from_bits(address),
        immediate_data: U64::from_bits(data),
        ..PipeControl::new()
    }
    .pack()
}

/// The post-sync operations: 0 writes nothing, 1 the immediate qword, 2 PS_DEPTH_COUNT, 3 the time.
/// Each writes 8 bytes. (gen45_facts 2.2, 16)
#[test]
fn post_sync_operations() {
    let mut g45 = G45::new();
    g45.write(DATA, &[0xee; 64]);
    let batch = [
        &load(0, &[(PsDepthCount::OFFSET, 77), (PsDepthCount::OFFSET + 4, 1)])[..],
        &pipe_control(PostSync::NO_WRITE, DATA, 5),
        &pipe_control(PostSync::WRITE_IMMEDIATE_DATA, DATA + 8, 0x1122_3344_5566_7788),
        &pipe_control(PostSync::WRITE_PS_DEPTH_COUNT, DATA + 16, 5),
        &pipe_control(PostSync::WRITE_TIMESTAMP, DATA + 24, 5),
        &[0; 1000],
        &pipe_control(PostSync::WRITE_TIMESTAMP, DATA + 32, 5),
    ]
    .concat();
    g45.run(&batch).unwrap();
    let qwords: Vec<u64> = (0..6).map(|n| g45.qword(DATA + 8 * n)).collect();
    let untouched = 0xeeee_eeee_eeee_eeee;
    assert_eq!(qwords[..3], [untouched, 0x1122_3344_5566_7788, 1 << 32 | 77]);
    assert!(qwords[3] < qwords[4] && qwords[4] < 1 << 36, "{:?}", &qwords[3..5]);
    assert_eq!(qwords[5], untouched);
}

/// crocus sets bit 2 of the address. It is not part of the address. (gen45_facts 2.2)
#[test]
fn address_of_pipe_control_has_a_bit_for_the_table() {
    let mut g45 = G45::new();
    let mut packet = pipe_control(PostSync::WRITE_IMMEDIATE_DATA, DATA + 8, 9);
    packet[1] |= 4;
    g45.run(&packet).unwrap();
    assert_eq!((g45.qword(DATA), g45.qword(DATA + 8)), (0, 9));
}

#[test]
fn stores() {
    let mut g45 = G45::new();
    let store = |address: u64, data: &[u64]| {
        let data: Vec<U<32>> = data.iter().map(|&dword| U::from_bits(dword)).collect();
        let packet = MiStoreDataImm {
            address: Address::from_bits(address),
            data_dword: (&data[..]).into(),
            ..MiStoreDataImm::new()
        };
        let mut dwords = Vec::new();
        push(&mut dwords, &packet);
        dwords
    };
    g45.gpu.mmio_write(0x2080, DATA as u32).unwrap();
    let index =
        MiStoreDataIndex { offset: Shifted::new(0x40).unwrap(), data_dword: U::from_bits(33) };
    let register = MiStoreRegisterMem {
        register_address: Address::from_bits(VsInvocationCount::OFFSET.into()),
        memory_address: Address::from_bits(DATA + 0x60),
        ..MiStoreRegisterMem::new()
    };
    let batch = [
        &store(DATA + 4, &[11])[..],
        &store(DATA + 0x10, &[21, 22]),
        &index.pack(),
        &load(0, &[(VsInvocationCount::OFFSET, 44)]),
        &register.pack(),
    ]
    .concat();
    g45.run(&batch).unwrap();
    let at = [0, 4, 8, 0x10, 0x14, 0x40, 0x60, 0x64].map(|at| g45.dword(DATA + at));
    assert_eq!(at, [0, 11, 0, 21, 22, 33, 44, 0]);
    for (dwords, text) in [
        (store(DATA, &[1, 2, 3]), "DWord Length"),
        (store(DATA, &[]), "DWord Length"),
        (store(DATA + 4, &[1, 2]), "multiple of 8"),
        (store(0x100, &[1]), "write to 0x0000_0000_0100"),
    ] {
        let fault = g45.fault(&dwords);
        assert!(fault.contains("MI_STORE_DATA_IMM") && fault.contains(text), "{fault}");
    }
}

/// MI_FLUSH resets the counters with bit 3 only. (gen45_facts 2.2)
#[test]
fn flush_resets_counters() {
    let mut g45 = G45::new();
    let reset = MiFlush { global_snapshot_count_reset: true, ..MiFlush::new() };
    for (flush, expected) in [(MiFlush::new(), 55), (reset, 0)] {
        let batch = [
            &load(0, &[(PsDepthCount::OFFSET, 55)])[..],
            &flush.pack(),
            &pipe_control(PostSync::WRITE_PS_DEPTH_COUNT, DATA, 0),
        ]
        .concat();
        g45.run(&batch).unwrap();
        assert_eq!(g45.qword(DATA), expected);
    }
}

/// There is one level of batches: a batch that starts another one does not continue.
#[test]
fn batch_starts_another() {
    let mut g45 = G45::new();
    let second = [&pipe_control(PostSync::WRITE_IMMEDIATE_DATA, DATA, 1)[..], &[END]].concat();
    g45.write(BATCH + 0x8000, bytemuck::cast_slice(&second));
    let mut start = MiBatchBufferStart::new(Address::from_bits(BATCH + 0x8000));
    start.memory_space = MiBatchBufferStartMemorySpace::GTT;
    let after = pipe_control(PostSync::WRITE_IMMEDIATE_DATA, DATA + 8, 2);
    let stats = g45.run(&[&start.pack()[..], &after].concat()).unwrap();
    assert_eq!((g45.qword(DATA), g45.qword(DATA + 8), stats.batches), (1, 0, 2));
    start.memory_space = MiBatchBufferStartMemorySpace::MAIN;
    assert!(g45.fault(&start.pack()).contains("Memory Space"));
}

/// Two contexts have one address space, and registers of their own.
#[test]
fn contexts_share_memory() {
    let mut g45 = G45::new();
    g45.run(&load(0, &[(PsDepthCount::OFFSET, 5)])).unwrap();
    let first = std::mem::replace(&mut g45.context, g45.gpu.create_context().unwrap());
    g45.run(&pipe_control(PostSync::WRITE_PS_DEPTH_COUNT, DATA, 0)).unwrap();
    assert_eq!(g45.qword(DATA), 0);
    g45.context = first;
    g45.run(&pipe_control(PostSync::WRITE_PS_DEPTH_COUNT, DATA, 0)).unwrap();
    assert_eq!(g45.qword(DATA), 5);
}

/// Faults name the packet, the field and its value.
#[test]
fn bad_packets_are_faults() {
    let mut g45 = G45::new();
    let mut select = PipelineSelect::new().pack();
    select[0] |= 2;
    let fence = UrbFence {
        vs_unit_urb_reallocation_request: true,
        vs_fence: U::from_bits(385),
        ..UrbFence::new()
    };
    let media = [0x7100_0002, 0, 0, 0];
    let cases: [(&[u32], &str); 7] = [
        (&select, "Pipeline Selection"),
        (&fence.pack(), "VS Fence = 0x181"),
        (&load(0, &[(0x22200, 1)]), "Register Offset"),
        (&media, "MEDIA_OBJECT"),
        (&[0x7a10_0002, 0, 0, 0], "0x7a100002"),
        // PIPELINE_SELECT of the 965.
        (&[0x6104_0000], "0x61040000"),
        (&[0x7803_0000, 0], "0x78030000"),
    ];
    for (dwords, text) in cases {
        let fault = g45.fault(dwords);
        assert!(fault.contains(text), "{fault}, expected {text}");
    }
}

/// Constants must fit an entry, and the entries must fit the section of CS. (gen45_facts 4)
#[test]
fn constants_fit_their_entry() {
    let mut g45 = G45::new();
    let fence = |rows| UrbFence {
        cs_unit_urb_reallocation_request: true,
        cs_fence: U::from_bits(rows),
        ..UrbFence::new()
    };
    let state = |rows: u64| CsUrbState {
        urb_entry_allocation_size: rows.try_into().unwrap(),
        number_of_urb_entries: U::from_bits(1),
    };
    let constants = |rows: u64| ConstantBuffer {
        valid: true,
        buffer_starting_address: Address::from_bits(DATA),
        buffer_length: rows.try_into().unwrap(),
    };
    let batch = |fence: UrbFence, state: CsUrbState, constants: ConstantBuffer| {
        [&fence.pack()[..], &state.pack(), &constants.pack()].concat()
    };
    g45.run(&batch(fence(384), state(4), constants(4))).unwrap();
    for (dwords, text) in [
        (batch(fence(384), state(4), constants(5)), "Buffer Length"),
        (batch(fence(3), state(4), constants(4)), "URB Entry Allocation Size"),
    ] {
        let fault = g45.fault(&dwords);
        assert!(fault.contains("CONSTANT_BUFFER") && fault.contains(text), "{fault}");
    }
}

#[test]
fn counts() {
    let mut g45 = G45::new();
    let batch = [&MiNoop::new().pack()[..], &MiUserInterrupt::new().pack()].concat();
    let stats = g45.run(&batch).unwrap();
    assert_eq!((stats.packets, stats.interrupts, stats.batches), (3, 1, 1));
}
