//! Accesses beyond bounds, and the same accesses inside. Oracle: the sizes of the surfaces and the
//! offsets in the kernels.

use super::kernels::{END, kernel, only};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use genxml::eu::gen8::descriptors::{MdcCmask, MdcDs, MdcSg2, MdcSg3, MdcSm2};
use genxml::eu::gen8::eu_messages::{
    A64BlockSubtype, MdcAop, Msd0Bs, Msd0Dws, Msd1A64B, Msd1Tai, Msd1Ts,
};
use genxml::gen8::media::MediaCurbeLoad;
use genxml::gen8::messages::{MdcDbOw, MtDp0, MtDp1};
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize as Size,
    RenderSurfaceState, RenderSurfaceStateExtent, ShaderChannelSelect, StateBaseAddress,
    SurfaceFormat, SurfaceType,
};
use genxml_cases::{Compute, DYNAMIC_STATE, Model, SCRATCH, at, minus_one, packets, raw_buffer, u};
use genxml_sim::inspect::sanitize::{Finding, Sanitizers};
use genxml_sim::{Event, Now, Observer};

/// The buffer of binding table entry 0, with 4096 bytes. More memory is mapped after it.
const DATA: u64 = 0x40_0000;
/// The image of entry 1: 16 x 4 dwords.
const IMAGE: u64 = 0x50_0000;

fn image() -> RenderSurfaceState {
    RenderSurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R32_UINT,
        surface_base_address: at(IMAGE),
        surface_pitch: minus_one(64),
        extent: RenderSurfaceStateExtent::Image {
            width: minus_one(16),
            height: minus_one(4),
            depth: minus_one(1),
        },
        shader_channel_select_red: ShaderChannelSelect::RED,
        ..RenderSurfaceState::new()
    }
}

fn null() -> RenderSurfaceState {
    RenderSurfaceState { surface_type: SurfaceType::SURFTYPE_NULL, ..RenderSurfaceState::new() }
}

/// One thread with the local ids 0 to 7 in r1.
fn compute(kernel: &[u32]) -> Compute<'_> {
    Compute {
        surfaces: vec![raw_buffer(DATA, 4096), image(), null()],
        curbe: (0..8u32).flat_map(u32::to_le_bytes).collect(),
        descriptor: InterfaceDescriptorData {
            shared_local_memory_size: Size::from_bits(1),
            ..InterfaceDescriptorData::new()
        },
        ..Compute::new(kernel)
    }
}

fn model() -> Model {
    let mut model = Model::new();
    model.map(DATA, 0x8000);
    model.map(IMAGE, 0x8000);
    model
}

/// What `bounds` finds while the batch runs.
fn observed(model: &mut Model, batch: &[u32], objects: &[(u64, u64)]) -> Vec<Finding> {
    let mut sanitizers = Sanitizers::new(["bounds"], Generation::Gen8).unwrap();
    if !objects.is_empty() {
        let now = Now { engine: EngineId::Render, clock: 0 };
        sanitizers.event(now, &Event::Objects(objects));
    }
    model.submit_observed(EngineId::Render, batch, &mut sanitizers).unwrap();
    sanitizers.findings().map(|(_, finding)| finding.clone()).collect()
}

fn run(text: &str) -> Vec<Finding> {
    let (kernel, _) = kernel(text);
    let mut model = model();
    let batch = compute(&kernel).batch(&mut model);
    observed(&mut model, &batch, &[])
}

/// Checks that the only finding has this rule and is about the label `access`.
#[track_caller]
fn found(text: &str, rule: &str) -> Finding {
    only(&run(text), text, rule, "access")
}

/// A message whose payload has dwords of the channels: `first + step * channel`, then `second`, then
/// data.
fn message(send: &str, first: u32, step: u32, second: u32) -> String {
    format!(
        "
        (W) mov (8|M0)  r5.0<1>:ud  {step}:ud
            mul (8|M0)  r6.0<1>:d   r1.0<8;8,1>:d  {step}:w
            add (8|M0)  r6.0<1>:ud  r6.0<8;8,1>:ud  {first}:ud
            mov (8|M0)  r7.0<1>:ud  {second}:ud
            mov (8|M0)  r8.0<1>:ud  3:ud
    access: {send}
        {END}"
    )
}

/// 20 messages to the buffer, each with several positions.
#[test]
fn buffers_and_local_memory() {
    let bytes = |kind, write: bool| {
        Msd0Bs {
            message_type: kind,
            simd_mode: MdcSm2::SIMD8,
            data_elements: MdcDs::DW,
            response_length: u(u64::from(!write)),
            message_length: u(1 + u64::from(write)),
            ..Msd0Bs::new()
        }
        .pack()[0]
    };
    let dwords = |kind, write: bool| {
        Msd0Dws {
            message_type: kind,
            simd_mode: MdcSm2::SIMD8,
            response_length: u(u64::from(!write)),
            message_length: u(1 + u64::from(write)),
            ..Msd0Dws::new()
        }
        .pack()[0]
    };
    let byte = [
        format!("send (8|M0) r20 r6 0xA {:#x}", bytes(MtDp0::MT0R_BS, false)),
        format!("send (8|M0) null r6 0xA {:#x}", bytes(MtDp0::MT0W_BS, true)),
        "send (8|M0) r20 r6 0xC 0x02106e00".to_owned(),
        "send (8|M0) null r6 0xC 0x04026e00".to_owned(),
        "send (8|M0) null r6 0xC 0x02009500".to_owned(),
    ];
    let local = [
        "send (8|M0) r20 r6 0xC 0x02106efe".to_owned(),
        "send (8|M0) null r6 0xC 0x04026efe".to_owned(),
        "send (8|M0) null r6 0xC 0x020095fe".to_owned(),
    ];
    let dword = [
        format!("send (8|M0) r20 r6 0xA {:#x}", dwords(MtDp0::MT0R_DWS, false)),
        format!("send (8|M0) null r6 0xA {:#x}", dwords(MtDp0::MT0W_DWS, true)),
    ];
    let mut count = 0;
    let mut check = |sends: &[String], rule, unit: u32, faulty: &[(u32, u32)]| {
        for send in sends {
            for &(first, channel) in faulty {
                let finding = found(&message(send, first, 4 / unit, 3), rule);
                let action = format!("channel {channel} ");
                assert!(finding.second.action.starts_with(&action), "{finding}");
                assert_eq!(finding.count, u64::from(8 - channel), "{finding}");
                count += 1;
            }
            for inside in [0, 4064 / unit] {
                let text = message(send, inside, 4 / unit, 3);
                assert_eq!(run(&text), [], "{text}");
            }
        }
    };
    // The last channel alone, half of the channels, all channels, far away.
    let far = 0x7fff_ff00;
    check(&byte, "BOUNDS-BUFFER", 1, &[(4068, 7), (4080, 4), (4096, 0), (far, 0)]);
    check(&dword, "BOUNDS-BUFFER", 4, &[(1017, 7), (1020, 4), (1024, 0), (far / 4, 0)]);
    check(&local, "BOUNDS-LOCAL", 1, &[(4068, 7), (4096, 0), (0x8000, 0)]);
    assert_eq!(count, 20 + 8 + 9);
}

/// Oword blocks of two owords: the header has the offset in owords.
#[test]
fn blocks() {
    let mut count = 0;
    for send in ["send (8|M0) r20 r30 0xA 0x02180200", "send (8|M0) null r30 0xA 0x040a0200"] {
        let text = |offset: u32| {
            format!(
                "
                (W) mov (8|M0)  r30.0<1>:ud  0:ud
                (W) mov (1|M0)  r30.2<1>:ud  {offset}:ud
                (W) mov (8|M0)  r31.0<1>:ud  0:ud
            access: (W) {send}
                {END}"
            )
        };
        for offset in [255, 256, 0x10000] {
            found(&text(offset), "BOUNDS-BUFFER");
            count += 1;
        }
        assert_eq!(run(&text(254)), []);
    }
    assert_eq!(count, 6);
}

/// Typed messages and `ld`, with the coordinates U and V.
#[test]
fn images() {
    let typed = |kind, write: bool| {
        Msd1Ts {
            binding_table_index: u(1),
            channel_mask: MdcCmask::from_bits(0xe),
            slot_group: MdcSg3::SG8L,
            message_type: kind,
            response_length: u(u64::from(!write)),
            message_length: u(2 + u64::from(write)),
            ..Msd1Ts::new()
        }
        .pack()[0]
    };
    let atomic = Msd1Tai {
        binding_table_index: u(1),
        atomic_integer_operation_type: MdcAop::AOP_INC,
        slot_group: MdcSg2::SG8L,
        message_type: MtDp1::MT1A_TA,
        message_length: u(2),
        ..Msd1Tai::new()
    };
    let mut count = 0;
    for (send, rule) in [
        (format!("send (8|M0) r20 r6 0xC {:#x}", typed(MtDp1::MT1R_TS, false)), "BOUNDS-IMAGE"),
        (format!("send (8|M0) null r6 0xC {:#x}", typed(MtDp1::MT1W_TS, true)), "BOUNDS-IMAGE"),
        (format!("send (8|M0) null r6 0xC {:#x}", atomic.pack()[0]), "BOUNDS-IMAGE"),
    ] {
        for (u, v, channel) in [(9, 3, 7), (12, 0, 4), (0, 4, 0), (16, 3, 0), (0, 0x7fff_0000, 0)] {
            let finding = found(&message(&send, u, 1, v), rule);
            let action = format!("channel {channel} ");
            assert!(finding.second.action.starts_with(&action), "{finding}");
            count += 1;
        }
        for (u, v) in [(0, 0), (8, 3)] {
            assert_eq!(run(&message(&send, u, 1, v)), []);
        }
    }
    // ld has the parameters U, level and V: r7 is the level.
    let ld = "send (8|M0) r20 r6 0x2 0x06427001";
    for (u, level, channel) in [(9, 0, 7), (16, 0, 0), (0, 1, 0)] {
        let text = message(ld, u, 1, level);
        let finding = found(&text, "BOUNDS-TEXEL");
        assert!(finding.second.action.starts_with(&format!("channel {channel} ")), "{finding}");
        count += 1;
    }
    assert_eq!(run(&message(ld, 8, 1, 0)), []);
    assert_eq!(count, 18);
}

/// Programs use null surfaces to drop accesses.
#[test]
fn null_surfaces_have_no_bounds() {
    for send in ["send (8|M0) null r6 0xC 0x04026e02", "send (8|M0) r20 r6 0xC 0x02106e02"] {
        assert_eq!(run(&message(send, 0, 4, 0)), []);
    }
}

/// Entry 1 of a table whose count is 1, 2, or not given.
#[test]
fn binding_tables() {
    let text = message("send (8|M0) null r6 0xC 0x04026e01", 0, 4, 0);
    let (kernel, labels) = kernel(&text);
    for (count, reported) in [(0, false), (1, true), (2, false), (31, false)] {
        let mut model = model();
        let mut compute = compute(&kernel);
        compute.descriptor.binding_table_entry_count = u(count);
        let batch = compute.batch(&mut model);
        let findings = observed(&mut model, &batch, &[]);
        let found: Vec<_> = findings
            .iter()
            .map(|finding| (finding.rule.id, finding.second.at.thread.unwrap().ip))
            .collect();
        let expected =
            if reported { vec![("BOUNDS-BINDING-TABLE", labels["access"])] } else { Vec::new() };
        assert_eq!(found, expected, "count {count}");
    }
}

/// The bits of a scratch block's offset are not the index of a surface.
#[test]
fn scratch_blocks() {
    let (kernel, _) = kernel(&format!(
        "
        (W) mov (8|M0)  r6.0<1>:ud  r0.0<8;8,1>:ud
            mov (8|M0)  r7.0<1>:ud  r1.0<8;8,1>:ud
        (W) send (8|M0)  null  r6  0xA  0x040e0003
        {END}"
    ));
    let mut model = model();
    let mut compute = compute(&kernel);
    compute.vfe.scratch_space_base_pointer = at(SCRATCH);
    compute.descriptor.binding_table_entry_count = u(1);
    let batch = compute.batch(&mut model);
    assert_eq!(observed(&mut model, &batch, &[]), []);
    assert_eq!(model.get(SCRATCH + 96, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// A group of 8 threads needs 8 registers of constants. Fewer are loaded.
#[test]
fn constants() {
    let (kernel, _) = kernel(END);
    for (loaded, threads, reported) in [(8, 8, false), (6, 8, true), (2, 2, false)] {
        let mut model = model();
        let mut compute = compute(&kernel);
        compute.curbe = vec![0; 32 * 8];
        compute.threads = 8;
        let batch = compute.batch(&mut model);
        // The load is replaced by a shorter one; the walker may have fewer threads.
        let load = |registers: u64| {
            packets![MediaCurbeLoad {
                curbe_total_data_length: u(32 * registers),
                curbe_data_start_address: at(0x1000),
            }]
        };
        let walker = packets![Compute { threads, ..compute.clone() }.walker()];
        let (old, body) = (load(8), batch.len() - walker.len());
        let found = batch.windows(old.len()).position(|dwords| dwords == old).expect("a load");
        let batch =
            [&batch[..found], &load(loaded), &batch[found + old.len()..body], &walker].concat();
        let findings = observed(&mut model, &batch, &[]);
        let found: Vec<_> = findings.iter().map(|finding| finding.rule.id).collect();
        let expected = if reported { vec!["BOUNDS-CONSTANTS"] } else { Vec::new() };
        assert_eq!(found, expected, "{loaded} registers, {threads} threads");
    }
}

/// Dynamic state with one page: CURBE data in the second page.
#[test]
fn dynamic_state() {
    let (kernel, _) = kernel(END);
    for (pages, reported) in [(1, true), (2, false)] {
        let mut model = model();
        let compute = compute(&kernel);
        let batch = compute.batch(&mut model);
        let bases = StateBaseAddress {
            dynamic_state_base_address_modify_enable: true,
            dynamic_state_base_address: at(DYNAMIC_STATE),
            dynamic_state_buffer_size_modify_enable: true,
            dynamic_state_buffer_size: u(pages),
            ..StateBaseAddress::new()
        };
        let load =
            MediaCurbeLoad { curbe_total_data_length: u(64), curbe_data_start_address: at(0x1000) };
        let findings = observed(&mut model, &[batch.clone(), packets![bases, load]].concat(), &[]);
        let found: Vec<_> = findings.iter().map(|f| (f.rule.id, f.second.at.packet)).collect();
        let expected =
            if reported { vec![("BOUNDS-STATE", "MEDIA_CURBE_LOAD")] } else { Vec::new() };
        assert_eq!(found, expected, "{pages} pages");
    }
}

/// Writes to addresses of 64 bits, with the end of an object in the middle of a page.
#[test]
fn objects() {
    let write = Msd1A64B {
        binding_table_index: u(255),
        data_blocks: u(MdcDbOw::OW2.bits()),
        subtype: A64BlockSubtype::OWORD,
        message_type: MtDp1::MT1W_A64_B,
        header_present: true,
        message_length: u(2),
        ..Msd1A64B::new()
    };
    let write = write.pack()[0];
    let block = |address: u64| {
        format!(
            "
            (W) mov (8|M0)  r6.0<1>:ud  0:ud
            (W) mov (1|M0)  r6.0<1>:ud  {address}:ud
            (W) mov (8|M0)  r7.0<1>:ud  0:ud
        access: send (8|M0) null r6 0xC {write:#x}
            {END}"
        )
    };
    for (address, reported) in [(DATA, false), (DATA + 0xe0, false), (DATA + 0xf0, true)] {
        let text = block(address);
        let (kernel, labels) = kernel(&text);
        let mut model = model();
        let batch = compute(&kernel).batch(&mut model);
        let objects = [(0, DATA - 0x1000), (DATA, 0x100), (DATA + 0x1000, 0x1000)];
        let findings = observed(&mut model, &batch, &objects);
        let found: Vec<_> = findings
            .iter()
            .map(|f| (f.rule.id, f.second.at.thread.unwrap().ip, f.second.address))
            .collect();
        let expected = match reported {
            true => vec![("BOUNDS-OBJECT", labels["access"], DATA + 0x100)],
            false => Vec::new(),
        };
        assert_eq!(found, expected, "{address:#x}");
    }
}
