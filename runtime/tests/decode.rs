//! The decoder: every kind of field, everything that it follows, real captures, and invalid input.

use genxml::batch::{Batch, Buffer, Heap, Submission};
use genxml::capture::Capture;
use genxml::core::address::{DynamicState, Instruction, SurfaceState};
use genxml::core::{Address, Packed, U, lit};
use genxml::decode::{self, Decoder, Format, Issue, Kind, Options, Record, State, Tables, Value};
use genxml::engine::{EngineId, Render};
use genxml::gen8::{media, mi, registers, state};
use genxml::pipeline::Gpgpu;
use genxml_testkit::corpus;
use proptest::prelude::*;
use std::io;

/// The parts of a record that tests compare.
#[derive(Debug)]
struct Seen {
    depth: u32,
    kind: Kind,
    name: &'static str,
    items: Vec<decode::Item>,
    dwords: Vec<u32>,
    note: String,
    lines: Vec<String>,
}

impl Seen {
    fn value(&self, name: &str) -> Value {
        self.item(name).value
    }

    fn item(&self, name: &str) -> &decode::Item {
        let found = self.items.iter().find(|item| item.name == name);
        found.unwrap_or_else(|| panic!("{} has no field {name}: {:#?}", self.name, self.items))
    }
}

fn records(engine: EngineId, memory: &dyn decode::Memory, address: u64, length: u64) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut sink = |record: &Record| {
        seen.push(Seen {
            depth: record.depth,
            kind: record.kind,
            name: record.name,
            items: record.items.clone(),
            dwords: record.dwords.clone(),
            note: record.note.clone(),
            lines: record.lines.iter().map(|line| line.1.clone()).collect(),
        });
        Ok(())
    };
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    decoder.batch(&mut State::default(), engine, memory, address, length, &mut sink).unwrap();
    seen
}

fn of_dwords(engine: EngineId, dwords: &[u32]) -> Vec<Seen> {
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    records(engine, &(0x1000, &bytes[..]), 0x1000, 0)
}

fn text(engine: EngineId, dwords: &[u32], options: &Options) -> String {
    let mut out = Vec::new();
    decode::raw(engine, 0x1000, dwords, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_batch_of_our_own_is_read_with_all_that_it_points_to() {
    let mut kernels = Heap::<Instruction>::new("kernels", 0x30000, 4096).unwrap();
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x40000, 4096).unwrap();
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x50000, 4096).unwrap();
    kernels.put_dwords::<64, 48>("filler", &[0; 16]).unwrap();
    // mov (8) r112<1>:ud r0<8;8,1>:ud, then the end of the thread.
    let kernel =
        [0x00600001, 0x2e000208, 0x008d0000, 0, 0x07800031, 0x20000a40, 0x0e000e00, 0x82000010];
    surfaces.put_dwords::<64, 32>("filler", &[0; 16]).unwrap();
    let surface = state::RenderSurfaceState {
        surface_type: state::SurfaceType::SURFTYPE_2D,
        surface_base_address: Address::new(0x60000).unwrap(),
        ..Default::default()
    };
    let surface = surfaces.put(&surface).unwrap();
    let table = surfaces.put(&state::BindingTableState { surface_state_pointer: surface }).unwrap();
    let sampler = state::SamplerState {
        texture_lod_bias: genxml::core::SFix::try_from(-1.5).unwrap(),
        ..Default::default()
    };
    let descriptor = state::InterfaceDescriptorData {
        kernel_start_pointer: kernels.put_dwords("kernel", &kernel).unwrap(),
        binding_table_pointer: table,
        binding_table_entry_count: lit!(1),
        sampler_state_pointer: dynamic.put(&sampler).unwrap(),
        sampler_count: state::InterfaceDescriptorDataSamplerCount::BETWEEN_1_AND_4_SAMPLERS_USED,
        ..Default::default()
    };
    let mut batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap().assume::<Gpgpu>();
    let bases = state::StateBaseAddress {
        surface_state_base_address: Address::new(surfaces.base()).unwrap(),
        surface_state_base_address_modify_enable: true,
        dynamic_state_base_address: Address::new(dynamic.base()).unwrap(),
        dynamic_state_base_address_modify_enable: true,
        instruction_base_address: Address::new(kernels.base()).unwrap(),
        instruction_base_address_modify_enable: true,
        ..Default::default()
    };
    batch.emit(&bases).unwrap();
    let curbe = media::MediaCurbeLoad {
        curbe_total_data_length: lit!(64),
        curbe_data_start_address: dynamic.put_dwords("constants", &[0x3f800000; 16]).unwrap(),
    };
    batch.emit(&curbe).unwrap();
    let load = media::MediaInterfaceDescriptorLoad {
        interface_descriptor_total_length: lit!(32),
        interface_descriptor_data_start_address: dynamic.put(&descriptor).unwrap(),
    };
    batch.emit(&load).unwrap();
    let others = [kernels.finish(), surfaces.finish(), dynamic.finish()];
    let submission = Submission::new(batch.finish().unwrap(), others);

    let seen =
        records(EngineId::Render, &submission, submission.batch_address, submission.batch_length);
    let names: Vec<_> = seen.iter().map(|record| (record.depth, record.name)).collect();
    assert!(names.starts_with(&[
        (0, "STATE_BASE_ADDRESS"),
        (0, "MEDIA_CURBE_LOAD"),
        (1, "constants"),
        (0, "MEDIA_INTERFACE_DESCRIPTOR_LOAD"),
        (1, "INTERFACE_DESCRIPTOR_DATA"),
        (2, "kernel"),
    ]));
    assert_eq!(names.last(), Some(&(0, "MI_BATCH_BUFFER_END")));
    let find = |name| {
        seen.iter()
            .find(|record| record.name == name)
            .unwrap_or_else(|| panic!("no {name}: {names:?}"))
    };
    assert_eq!(find("constants").dwords, [0x3f800000; 16]);
    assert!(!find("kernel").lines.is_empty());
    let surface = find("RENDER_SURFACE_STATE");
    assert_eq!(surface.value("Surface Type"), Value::Enum { name: Some("SURFTYPE_2D") });
    assert_eq!(surface.value("Height"), Value::Uint(1), "stored less one");
    let Value::Address { value, absolute, .. } = surface.value("Surface Base Address") else {
        panic!()
    };
    assert_eq!((value, absolute), (0x60000, Some(0x60000)));
    let Value::Address { value, absolute, .. } =
        find("INTERFACE_DESCRIPTOR_DATA").value("Kernel Start Pointer")
    else {
        panic!()
    };
    assert_eq!((value, absolute), (128, Some(0x30080)));
}

#[test]
fn fixed_point_and_signed_fields_have_their_sign() {
    let sampler = state::SamplerState {
        texture_lod_bias: genxml::core::SFix::try_from(-1.5).unwrap(),
        min_lod: genxml::core::UFix::try_from(2.25).unwrap(),
        ..Default::default()
    };
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x50000, 4096).unwrap();
    let descriptor = state::InterfaceDescriptorData {
        sampler_state_pointer: dynamic.put(&sampler).unwrap(),
        sampler_count: state::InterfaceDescriptorDataSamplerCount::BETWEEN_1_AND_4_SAMPLERS_USED,
        ..Default::default()
    };
    let load = media::MediaInterfaceDescriptorLoad {
        interface_descriptor_total_length: lit!(32),
        interface_descriptor_data_start_address: dynamic.put(&descriptor).unwrap(),
    };
    let bases = state::StateBaseAddress {
        dynamic_state_base_address: Address::new(dynamic.base()).unwrap(),
        dynamic_state_base_address_modify_enable: true,
        ..Default::default()
    };
    let mut batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap().assume::<Gpgpu>();
    batch.emit(&bases).unwrap();
    batch.emit(&load).unwrap();
    let submission = Submission::new(batch.finish().unwrap(), [dynamic.finish()]);
    let seen = records(EngineId::Render, &submission, 0x10000, 0);
    let sampler = seen.iter().find(|record| record.name == "SAMPLER_STATE").unwrap();
    assert_eq!(sampler.value("Texture LOD Bias"), Value::Float(-1.5));
    assert_eq!(sampler.value("Min LOD"), Value::Float(2.25));
    let notes: Vec<_> =
        seen.iter().filter(|record| record.kind == Kind::Note).map(|record| &record.note).collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("no STATE_BASE_ADDRESS has set the instruction base")),
        "{notes:?}"
    );

    let vfe = media::MediaVfeState { scoreboard_3_delta_y: lit!(-2), ..Default::default() };
    let seen = of_dwords(EngineId::Render, &vfe.pack());
    assert_eq!(seen[0].value("Scoreboard 3 Delta Y"), Value::Int(-2));
    assert_eq!(seen[0].value("Maximum Number of Threads"), Value::Uint(1));
}

#[test]
fn alternatives_are_told_apart() {
    let tables = Tables::gen8();
    let info = tables.container(state::RenderSurfaceState::NAME).unwrap();
    assert!(std::ptr::eq(info, state::RenderSurfaceState::INFO));
    let buffer = state::RenderSurfaceState {
        surface_type: state::SurfaceType::SURFTYPE_BUFFER,
        extent: state::RenderSurfaceStateExtent::Buffer {
            height: lit!(3),
            width: lit!(5),
            depth: lit!(0),
        },
        ..Default::default()
    };
    let heights = |surface: &state::RenderSurfaceState| {
        let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x40000, 4096).unwrap();
        let pointer = surfaces.put(surface).unwrap();
        let table = state::BindingTableState { surface_state_pointer: pointer };
        let descriptor = state::InterfaceDescriptorData {
            binding_table_pointer: surfaces.put(&table).unwrap(),
            binding_table_entry_count: lit!(1),
            ..Default::default()
        };
        let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x50000, 4096).unwrap();
        let load = media::MediaInterfaceDescriptorLoad {
            interface_descriptor_total_length: lit!(32),
            interface_descriptor_data_start_address: dynamic.put(&descriptor).unwrap(),
        };
        let bases = state::StateBaseAddress {
            surface_state_base_address: Address::new(0x40000).unwrap(),
            surface_state_base_address_modify_enable: true,
            dynamic_state_base_address: Address::new(0x50000).unwrap(),
            dynamic_state_base_address_modify_enable: true,
            ..Default::default()
        };
        let mut batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap().assume::<Gpgpu>();
        batch.emit(&bases).unwrap();
        batch.emit(&load).unwrap();
        let submission =
            Submission::new(batch.finish().unwrap(), [surfaces.finish(), dynamic.finish()]);
        let seen = records(EngineId::Render, &submission, 0x10000, 0);
        let surface = seen.iter().find(|record| record.name == "RENDER_SURFACE_STATE").unwrap();
        let heights = surface.items.iter().filter(|item| item.name == "Height");
        heights.map(|item| item.value).collect::<Vec<_>>()
    };
    assert_eq!(heights(&buffer), [Value::Uint(3)], "as it is");
    let image = state::RenderSurfaceState {
        extent: state::RenderSurfaceStateExtent::Image {
            height: lit!(4),
            width: lit!(5),
            depth: lit!(1),
        },
        ..Default::default()
    };
    assert_eq!(heights(&image), [Value::Uint(4)], "stored less one");
}

#[test]
fn registers_are_named_with_their_fields() {
    let pairs = [
        mi::MiLoadRegisterImmRegister {
            register_offset: Address::new(registers::BcsSwctrl::OFFSET.into()).unwrap(),
            data_dword: lit!(0x30001),
        },
        mi::MiLoadRegisterImmRegister {
            register_offset: Address::new(0x7ffffc).unwrap(),
            data_dword: lit!(7),
        },
    ];
    let load = mi::MiLoadRegisterImm { register: (&pairs).into(), ..Default::default() };
    let mut dwords = [0; 5];
    load.pack_into(&mut dwords).unwrap();
    let seen = of_dwords(EngineId::Blitter, &dwords);
    assert_eq!(seen[0].name, "MI_LOAD_REGISTER_IMM");
    let offsets: Vec<_> =
        seen[0].items.iter().filter(|item| item.name == "Register Offset").collect();
    let Value::Address { value, register, .. } = offsets[0].value else { panic!() };
    assert_eq!((value, register.map(|at| at.register.name)), (0x22200, Some("BCS_SWCTRL")));
    let Value::Address { register, .. } = offsets[1].value else { panic!() };
    assert_eq!(register, None);
    assert_eq!((seen[1].depth, seen[1].kind, seen[1].name), (1, Kind::Register, "BCS_SWCTRL"));
    assert_eq!(seen[1].value("Tile Y Source"), Value::Bool(true));
    assert_eq!(seen[1].value("Tile Y Destination"), Value::Bool(false));
    assert_eq!(seen.iter().filter(|record| record.kind == Kind::Register).count(), 1);
}

/// Oracle: the dwords that intel-vaapi-driver's gen8_mfd.c writes for a last MPEG-2 slice, computed
/// by hand.
#[test]
fn offsets_of_the_video_engine_count_from_their_bases() {
    let mut dwords = vec![0x7003_0018];
    let mut bases = [0u32; 25];
    // Base and upper bound of the bitstream, then the base of motion vectors.
    (bases[0], bases[3], bases[5]) = (0x0040_0000, 0x8000_0000, 0x0050_0000);
    dwords.extend(bases);
    // 200 bytes at offset 0x123; column 2, row 3, 40 macroblocks, last slice and macroblock, bit 5;
    // quantiser 9, next row 6.
    dwords.extend([
        0x7328_0003,
        200,
        0x123,
        2 << 24 | 3 << 16 | 40 << 8 | 1 << 5 | 1 << 3 | 5,
        9 << 24 | 6 << 8,
    ]);
    // A VP8 macroblock without motion vectors.
    dwords.extend([0x7449_0005, 0, 0x40, 1 << 13, 7 << 16 | 8, 0, 0]);
    let seen = of_dwords(EngineId::Video, &dwords);
    assert_eq!(seen[0].name, "MFX_IND_OBJ_BASE_ADDR_STATE");
    assert_eq!(seen[1].name, "MFD_MPEG2_BSD_OBJECT");
    let Value::Address { value, absolute, .. } = seen[1].value("Indirect BSD Data Start Address")
    else {
        panic!()
    };
    assert_eq!((value, absolute), (0x123, Some(0x0040_0123)));
    for (name, value) in [
        ("Slice Horizontal Position", 2),
        ("Slice Vertical Position", 3),
        ("Macroblock Count", 40),
        ("First Macroblock Bit Offset", 5),
        ("Quantizer Scale Code", 9),
        ("Next Slice Vertical Position", 6),
    ] {
        assert_eq!(seen[1].value(name), Value::Uint(value), "{name}");
    }
    assert_eq!(seen[1].value("Last Pic Slice"), Value::Bool(true));
    // The coded data are not in the dump, and the output says so between the packets.
    let macroblock = seen.iter().find(|record| record.name == "MFX_VP8_PAK_OBJECT").unwrap();
    let data = macroblock.value("Indirect PAK-MV Data Start Address Offset");
    assert!(matches!(data, Value::Address { absolute: Some(0x0050_0040), .. }), "{data:?}");
    assert_eq!(macroblock.value("MbYCnt (Vertical Origin)"), Value::Uint(7));
    assert!(macroblock.items.iter().any(|item| item.name == "MB Type 3-Bits - Intra MB"));
    assert!(macroblock.items.iter().all(|item| item.name != "MB Type 3-Bits - Inter MB"));
}

/// The name of a register includes the engine for registers of each engine, the element for arrays,
/// and the half for pairs. If one engine has a more detailed description, that description is used.
#[test]
fn registers_say_whose_they_are() {
    use genxml::gen8::{engine_registers as er, engines};
    let tables = Tables::gen8();
    let name = |offset| tables.register(offset).map(|at| at.to_string()).unwrap_or_default();
    let gpr = er::CsGpr::offset(engines::RCS, 3).unwrap();
    assert_eq!((gpr, name(gpr)), (0x2618, "CS_GPR[3] of RCS".to_owned()));
    assert_eq!(name(gpr + 4), "CS_GPR[3] of RCS, upper dword");
    assert_eq!(er::CsGpr::offset(engines::RCS, 16), None);
    assert_eq!(name(er::RingTail::offset(engines::VCS2)), "RING_TAIL of VCS2");
    assert_eq!(name(0x2203c), "BCS_RING_BUFFER_CTL");
    assert_eq!(name(0x1c06c), "RING_INSTDONE of VCS2");
    assert_eq!(name(0x22010), "");

    let pairs =
        [(0x22030, 0x40), (0x2261c, 7)].map(|(offset, value)| mi::MiLoadRegisterImmRegister {
            register_offset: Address::new(offset).unwrap(),
            data_dword: U::new(value).unwrap(),
        });
    let load = mi::MiLoadRegisterImm { register: (&pairs).into(), ..Default::default() };
    let mut dwords = [0; 5];
    load.pack_into(&mut dwords).unwrap();
    let seen = of_dwords(EngineId::Blitter, &dwords);
    assert_eq!((seen[1].name, seen[1].value("TAIL_ADDR")), ("RING_TAIL", Value::Uint(0x40)));
    let item = &seen[2].items[0];
    assert_eq!((item.name, item.start, item.end, item.stored), ("Value", 32, 63, 7));
}

#[test]
fn what_is_wrong_is_said() {
    // Reserved bits of MI_BATCH_BUFFER_END.
    let seen = of_dwords(EngineId::Render, &[0x05000001]);
    assert_eq!(seen[0].item("Reserved").issue, Some(Issue::ReservedSet));
    // A header whose length differs from the length of the packet.
    let seen = of_dwords(EngineId::Render, &[0x78180001, 0, 0, 0x05000000]);
    assert_eq!(seen[0].name, "3DSTATE_SAMPLE_MASK");
    assert_eq!(seen[0].note, "the header says 3 dwords, the packet is described with 2");
    assert_eq!(seen[1].name, "MI_BATCH_BUFFER_END");
    // The last dword of PIPE_CONTROL may be missing (DWord Length is 2 to 4).
    let seen = of_dwords(EngineId::Render, &[0x7a000003, 0, 0, 0, 0, 0x05000000]);
    assert_eq!((seen[0].name, seen[0].note.as_str()), ("PIPE_CONTROL", ""));
    // A packet that is truncated at the end of memory is the last record.
    let seen = of_dwords(EngineId::Render, &[0x7a000004, 0x00100000]);
    assert_eq!(seen[0].note, "cut short: 2 of 6 dwords are there");
    assert_eq!(seen[0].value("Command Streamer Stall Enable"), Value::Bool(true));
    assert!(seen[1].note.contains("without MI_BATCH_BUFFER_END"));
    // Unknown packets are skipped by the length rules of their type.
    let unknown_mi_long = 0x3f << 23 | 1;
    let unknown_single = 3 << 29 | 1 << 27 | 7 << 24;
    let seen = of_dwords(
        EngineId::Render,
        &[unknown_mi_long, 1, 2, unknown_single, 0x7fffffff & 7 << 23, 0x05000000],
    );
    let kinds: Vec<_> = seen.iter().map(|record| (record.kind, record.dwords.len())).collect();
    assert_eq!(kinds[0], (Kind::Unknown, 3));
    assert_eq!(kinds[1], (Kind::Unknown, 1));
    assert_eq!(seen.last().unwrap().name, "MI_BATCH_BUFFER_END");
    // A blitter command is unknown to the render engine.
    let blit = genxml::gen8::blitter::XyColorBlt::default().pack();
    assert_eq!(of_dwords(EngineId::Render, &blit)[0].name, "unknown blitter command");
    assert_eq!(of_dwords(EngineId::Blitter, &blit)[0].name, "XY_COLOR_BLT");
    // An empty batch.
    assert_eq!(of_dwords(EngineId::Render, &[])[0].kind, Kind::Note);
}

fn start(target: u64, second_level: bool, predicated: bool) -> [u32; 3] {
    mi::MiBatchBufferStart {
        second_level_batch_buffer: mi::MiBatchBufferStartSecondLevelBatchBuffer::from_bits(
            second_level.into(),
        ),
        predication_enable: predicated,
        address_space_indicator: mi::MiBatchBufferStartAddressSpaceIndicator::PPGTT,
        ..mi::MiBatchBufferStart::new(Address::new(target).unwrap())
    }
    .pack()
}

#[test]
fn jumps_and_calls_are_followed_and_end() {
    const NOOP: u32 = 0;
    const END: u32 = 0x05000000;
    let names = |dwords: &[u32]| -> Vec<(u32, String)> {
        let seen = of_dwords(EngineId::Render, dwords);
        seen.iter()
            .map(|record| {
                (
                    record.depth,
                    if record.name.is_empty() { &record.note } else { record.name }.to_owned(),
                )
            })
            .collect()
    };
    let flat = |dwords: &[u32]| {
        names(dwords).into_iter().map(|(depth, name)| format!("{depth} {name}")).collect::<Vec<_>>()
    };
    // A jump does not return, so the noop between is not decoded.
    let jump = [&start(0x1010, false, false)[..], &[NOOP, END]].concat();
    assert_eq!(flat(&jump), ["0 MI_BATCH_BUFFER_START", "0 MI_BATCH_BUFFER_END"]);
    // A call does.
    let call = [&start(0x1014, true, false)[..], &[NOOP, END, NOOP, NOOP, END]].concat();
    assert_eq!(
        flat(&call),
        [
            "0 MI_BATCH_BUFFER_START",
            "1 MI_NOOP",
            "1 MI_NOOP",
            "1 MI_BATCH_BUFFER_END",
            "0 MI_NOOP",
            "0 MI_BATCH_BUFFER_END"
        ]
    );
    // A loop is decoded once.
    let seen = names(&start(0x1000, false, false));
    assert!(seen[1].1.contains("jumps back to 0x1000, which was decoded before"), "{seen:?}");
    // A recursive call ends too, because the depth is limited.
    let seen = names(&[&start(0x1000, true, false)[..], &[END]].concat());
    assert!(seen.len() < 40, "{seen:?}");
    // Both branches of a conditional jump are decoded.
    let conditional = [&start(0x1010, false, true)[..], &[END, NOOP, END]].concat();
    let seen = flat(&conditional);
    assert_eq!(
        seen,
        [
            "0 MI_BATCH_BUFFER_START",
            "1 jumps only if the predicate holds",
            "1 MI_NOOP",
            "1 MI_BATCH_BUFFER_END",
            "0 MI_BATCH_BUFFER_END"
        ]
    );
    // A jump that is not followed: decoding continues, because the predicate may be false.
    let not_followed = |predicated| {
        let dwords = [&start(0x1010, false, predicated)[..], &[NOOP, END]].concat();
        text(EngineId::Render, &dwords, &Options { follow: false, ..Options::default() })
    };
    assert!(not_followed(true).contains("MI_BATCH_BUFFER_END"), "{}", not_followed(true));
    assert!(!not_followed(false).contains("MI_BATCH_BUFFER_END"), "{}", not_followed(false));
    let mut global = start(0x9_0000, false, true);
    global[0] &= !(1 << 8);
    let seen = flat(&[&global[..], &[NOOP, END]].concat());
    assert!(seen[1].contains("address of the GGTT"), "{seen:?}");
    assert_eq!(seen.last().unwrap(), "0 MI_BATCH_BUFFER_END");
    // A jump to unmapped memory.
    let seen = names(&start(0x9000, false, false));
    assert!(seen[1].1.contains("no memory here"), "{seen:?}");
}

#[test]
fn a_limit_ends_what_would_go_on() {
    // Nested calls of the whole buffer: exponential without the limit.
    let mut dwords = Vec::new();
    for _ in 0..400 {
        dwords.extend(start(0x1000, true, false));
    }
    let mut out = Vec::new();
    let options = Options { max_dwords: 10_000, ..Options::default() };
    let summary = decode::raw(EngineId::Render, 0x1000, &dwords, &options, &mut out).unwrap();
    assert!(summary.limited && summary.packets <= 10_001, "{summary:?}");
    assert!(String::from_utf8(out).unwrap().contains("stopped: 10000 dwords were decoded"));
}

#[test]
fn a_dword_may_straddle_pieces_of_memory() {
    struct Pieces(Vec<u8>);
    impl decode::Memory for Pieces {
        // Pieces of five bytes.
        fn tail(&self, address: u64) -> &[u8] {
            let at = address.wrapping_sub(0x1000) as usize;
            let end = (at.wrapping_add(5) / 5 * 5).min(self.0.len());
            self.0.get(at..end).unwrap_or_default()
        }
    }
    let mut dwords = media::MediaVfeState { number_of_urb_entries: lit!(9), ..Default::default() }
        .pack()
        .to_vec();
    dwords.push(0x05000000);
    let pieces = Pieces(dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect());
    let seen = records(EngineId::Render, &pieces, 0x1000, 0);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0].dwords, dwords[..9]);
    assert_eq!(seen[0].value("Number of URB Entries"), Value::Uint(9));
}

#[test]
fn text_has_options() {
    let dwords = [0x69040002, 0x05000000];
    let plain = text(EngineId::Render, &dwords, &Options::default());
    assert_eq!(
        plain,
        "dwords: context 0, render engine, batch at 0x1000, 8 bytes\n\
         0x000000001000: 69040002  PIPELINE_SELECT  1 dword\n    dw0 1:0     Pipeline Selection: GPGPU (2)\n\
         0x000000001004: 05000000  MI_BATCH_BUFFER_END  1 dword\n"
    );
    let headers = text(EngineId::Render, &dwords, &Options { headers: true, ..Options::default() });
    assert!(!headers.contains("Pipeline Selection") && headers.contains("PIPELINE_SELECT"));
    let comparable =
        text(EngineId::Render, &dwords, &Options { offsets: false, ..Options::default() });
    assert!(
        comparable.contains("\nPIPELINE_SELECT  1 dword\n    Pipeline Selection: GPGPU (2)\n"),
        "{comparable}"
    );
    let color = text(EngineId::Render, &dwords, &Options { color: true, ..Options::default() });
    assert!(color.contains("\x1b[1mPIPELINE_SELECT\x1b[0m"));
}

#[test]
fn json_is_one_object_per_packet() {
    let options = Options { format: Format::Json, ..Options::default() };
    let dwords = [&start(0x1010, true, false)[..], &[0x05000000, 0x69040002, 0x05000000]].concat();
    let lines = text(EngineId::Render, &dwords, &options);
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["kind"], "submission");
    assert_eq!(lines[1]["name"], "MI_BATCH_BUFFER_START");
    assert_eq!(lines[1]["children"][0]["name"], "PIPELINE_SELECT");
    assert_eq!(lines[1]["children"][0]["fields"][0]["value"], "GPGPU");
    assert_eq!(lines[1]["children"][0]["fields"][0]["stored"], 2);
    assert_eq!(lines[1]["children"][1]["name"], "MI_BATCH_BUFFER_END");
    assert_eq!(lines[2]["name"], "MI_BATCH_BUFFER_END");
    assert_eq!(lines.len(), 3);
}

/// A pipe whose reader has closed it.
struct Closed(usize);

impl io::Write for Closed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0 -= 1;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dwords = [0; 40_000];
    for writes in [0, 1] {
        let summary =
            decode::raw(EngineId::Render, 0, &dwords, &Options::default(), Closed(writes)).unwrap();
        assert!(summary.cut);
    }
}

/// Oracle: the values that the captured programs intended to write, as the captures describe them.
#[test]
fn real_captures_are_read_completely() {
    for path in corpus::captures() {
        let capture = Capture::open(&path).unwrap();
        let name = capture.name().to_owned();
        let mut out = Vec::new();
        let summary = decode::dump(&mut &capture, &Options::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(summary.unknown, 0, "{name}: packets without a name");
        assert!(!summary.limited);
        let mut expected: Vec<&str> = vec!["MI_BATCH_BUFFER_END"];
        match name.as_str() {
            name if name.contains("gpgpufill") || name.contains("gpgpu_fill") => expected.extend([
                "PIPELINE_SELECT",
                "Pipeline Selection: GPGPU (2)",
                "STATE_BASE_ADDRESS",
                "MEDIA_VFE_STATE",
                "MEDIA_CURBE_LOAD",
                "constants",
                "MEDIA_INTERFACE_DESCRIPTOR_LOAD",
                "INTERFACE_DESCRIPTOR_DATA",
                "kernel",
                "BINDING_TABLE_STATE[0]",
                "RENDER_SURFACE_STATE",
                "Surface Format: R8_UNORM",
                "Surface Type: SURFTYPE_2D (1)",
                "GPGPU_WALKER",
                "SIMD Size: SIMD16 (1)",
            ]),
            name if name.contains("mediafill") => {
                expected.extend([
                    "MEDIA_OBJECT",
                    "Inline Data[0]",
                    "Tile Mode: YMAJOR (3)",
                    "MEDIA_STATE_FLUSH",
                    "kernel",
                ]);
            }
            name if name.contains("syn_blt_54") => expected.extend([
                "XY_COLOR_BLT",
                "Destination X1 Coordinate (Left): 3 pixels",
                "Destination Y2 Coordinate (Bottom): 41 rows",
                "Destination Pitch: 256 bytes",
                "0x12345678",
            ]),
            name if name.contains("_blt") || name.contains("blits") => {
                expected.extend(["XY_SRC_COPY_BLT", "Raster Operation", "Source Base Address"]);
            }
            name if name.contains("storedw") => {
                expected.extend(["MI_STORE_DATA_IMM", "Data DWord[0]: 1", "Address: 0x120000"])
            }
            name if name.contains("pipe_control") => {
                expected.extend(["PIPE_CONTROL", "Write Immediate Data (1)"])
            }
            name if name.contains("va_jpg") => expected.extend([
                "MFX_PIPE_MODE_SELECT",
                "Standard Select: JPEG (3)",
                "MFX_JPEG_PIC_STATE",
                "MFX_JPEG_HUFF_TABLE_STATE",
                "MFD_JPEG_BSD_OBJECT",
            ]),
            name if name.contains("rendercopy") => expected.extend(["3DPRIMITIVE", "3DSTATE_PS"]),
            _ => {}
        }
        for needle in expected {
            assert!(text.contains(needle), "{name}: {needle} is missing in\n{text}");
        }

        let mut out = Vec::new();
        decode::dump(
            &mut &capture,
            &Options { format: Format::Json, ..Options::default() },
            &mut out,
        )
        .unwrap();
        let json = String::from_utf8(out).unwrap();
        for line in json.lines() {
            serde_json::from_str::<serde_json::Value>(line)
                .unwrap_or_else(|error| panic!("{name}: {error}\n{line}"));
        }
        decode::dump(&mut &capture, &Options { headers: true, ..Options::default() }, io::sink())
            .unwrap();
    }
}

/// Random dwords, many of which are valid headers.
fn dwords() -> impl Strategy<Value = Vec<u32>> {
    let containers = genxml::gen8::CONTAINERS;
    let headers: Vec<u32> = containers
        .iter()
        .filter_map(|container| match container.kind {
            genxml::core::reflect::Kind::Instruction { opcode, .. } => Some(opcode),
            _ => None,
        })
        .collect();
    let header =
        (proptest::sample::select(headers), 0u32..40).prop_map(|(header, length)| header | length);
    // Small numbers and addresses inside the buffer lead to decodable data.
    let small = (0u32..0x80).prop_map(|dword| 0x1000 + 4 * dword);
    let dword =
        prop_oneof![3 => header, 2 => any::<u32>(), 2 => 0u32..64, 2 => small, 1 => Just(0u32)];
    proptest::collection::vec(dword, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_dwords_make_it_panic(dwords in dwords(), engine in 0usize..4, odd in 0u64..8) {
        let engine = EngineId::ALL[engine];
        for format in [Format::Text, Format::Json] {
            let options = Options { format, max_dwords: 20_000, ..Options::default() };
            let mut out = Vec::new();
            let address = 0x1000 + odd / 4 * 0xffff_ffff_e000;
            decode::raw(engine, address, &dwords, &options, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            if format == Format::Json {
                for line in text.lines() {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{}", line);
                }
            }
        }
        let headers = Options { headers: true, max_dwords: 20_000, ..Options::default() };
        decode::raw(engine, 0x1000, &dwords, &headers, io::sink()).unwrap();
    }
}

#[test]
fn unused_buffers_do_not_disturb() {
    let empty = Buffer::new("empty", 0x1000, 4096).unwrap();
    let mut batch = Batch::<Render>::new("batch", 0x10000, 4096).unwrap();
    let values = [U::new(1).unwrap()];
    let target = Address::new(0x1000).unwrap();
    batch
        .emit(&mi::MiStoreDataImm {
            data_dword: (&values).into(),
            ..mi::MiStoreDataImm::new(target)
        })
        .unwrap();
    let submission = Submission::new(batch.finish().unwrap(), [empty]);
    let seen = records(EngineId::Render, &submission, 0x10000, submission.batch_length);
    assert_eq!(seen[0].value("Data DWord"), Value::Uint(1));
    assert_eq!(seen.len(), 2);
}
