//! Data that the public decoders read wrong and this one reads right: one test for each of their
//! known defects.
//!
//! Oracle: the layouts of the manual. Every dword below is written by hand from the page that is
//! named.

use crate::reading::{Buffers, END, bytes, decode, of_dwords};
use genxml::decode::{Kind, Memory, Tables, Value};
use genxml::engine::EngineId;

/// 3DPRIMITIVE, 2a p.1-5: Base Vertex Location is dword 6, a signed number. Mesa prints -1 as
/// 4294967295.
#[test]
fn signed_fields_have_their_sign() {
    let seen = of_dwords(EngineId::Render, &[0x7b00_0005, 0, 3, 0, 1, 0, 0xffff_ffff, END]);
    assert_eq!(seen[0].name, "3DPRIMITIVE");
    assert_eq!(seen[0].value("Base Vertex Location"), Value::Int(-1));
    assert_eq!(seen[0].value("Vertex Count Per Instance"), Value::Uint(3));
}

/// MI_LOAD_REGISTER_IMM: pairs of offset and value from dword 1 on (facts: Linux i915
/// intel_gpu_commands.h). Mesa's first pair starts one dword late.
#[test]
fn one_register_is_loaded_with_its_value() {
    let seen = of_dwords(EngineId::Render, &[0x1100_0001, 0x2358, 0x1111_1111, END]);
    let Value::Address { value, .. } = seen[0].value("Register Offset") else { panic!() };
    assert_eq!((value, seen[0].value("Data DWord")), (0x2358, Value::Uint(0x1111_1111)));
}

/// Several pairs: each register has its own value. INSTPM (0x20c0) bit 6 makes the constant
/// buffer's address absolute, CS_GPR 0 is 0x2600. Mesa shows every register with the first value.
#[test]
fn several_registers_are_loaded_each_with_its_own_value() {
    let dwords = [0x1100_0003, 0x20c0, 0x0040_0040, 0x2600, 0x1234_5678, END];
    let seen = of_dwords(EngineId::Render, &dwords);
    assert_eq!(seen[0].values("Data DWord"), [Value::Uint(0x0040_0040), Value::Uint(0x1234_5678)]);
    assert_eq!((seen[1].kind, seen[1].name), (Kind::Register, "INSTPM"));
    assert_eq!(seen[1].value("CONSTANT_BUFFER Address Offset Disable"), Value::Bool(true));
    assert_eq!((seen[2].kind, seen[2].name), (Kind::Register, "CS_GPR"));
    assert_eq!(seen[2].items[0].stored & 0xffff_ffff, 0x1234_5678);
}

/// XY_SRC_COPY_BLT (blitter, opcode 0x53): dword 1 has the raster operation in 23:16 and the pitch
/// in 15:0, dwords 2 and 3 the corners with Y in 31:16, 4 and 5 the destination, 6 the source's
/// corner, 7 its pitch, 8 and 9 its address. Mesa has no blitter command at all.
#[test]
fn commands_of_the_blitter_are_known() {
    let dwords = [
        0x54c0_0008,
        3 << 24 | 0xcc << 16 | 512,
        7 << 16 | 5,
        71 << 16 | 69,
        0x0012_0000,
        1,
        3 << 16 | 2,
        256,
        0x0034_0000,
        0,
        END,
    ];
    let seen = of_dwords(EngineId::Blitter, &dwords);
    assert_eq!((seen[0].name, seen[1].name), ("XY_SRC_COPY_BLT", "MI_BATCH_BUFFER_END"));
    for (name, value) in [
        ("Destination X1 Coordinate (Left)", 5),
        ("Destination Y1 Coordinate (Top)", 7),
        ("Destination X2 Coordinate (Right)", 69),
        ("Destination Y2 Coordinate (Bottom)", 71),
        ("Destination Pitch", 512),
        ("Source X1 Coordinate (Left)", 2),
        ("Source Y1 Coordinate (Top)", 3),
        ("Source Pitch", 256),
    ] {
        let number = match seen[0].value(name) {
            Value::Uint(number) => number as i64,
            Value::Int(number) => number,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(number, value, "{name}");
    }
    let Value::Address { absolute, .. } = seen[0].value("Destination Base Address") else {
        panic!()
    };
    assert_eq!(absolute, Some(0x1_0012_0000));
}

/// The video enhancement engine has commands as others have, and MI_BATCH_BUFFER_END ends its
/// batches. Mesa has none of them.
#[test]
fn the_video_enhancement_engine_is_known() {
    let seen = of_dwords(EngineId::VideoEnhance, &[0, END, 0x0280_0000]);
    let names: Vec<_> = seen.iter().map(|record| record.name).collect();
    assert_eq!(names, ["MI_NOOP", "MI_BATCH_BUFFER_END"]);
}

/// A truncated batch is read up to the cut and no further. Mesa reads beyond the end of the buffer.
#[test]
fn nothing_is_read_behind_a_cut() {
    struct Guarded(Vec<u8>);
    impl Memory for Guarded {
        fn tail(&self, address: u64) -> &[u8] {
            self.0.get(address.wrapping_sub(0x1000) as usize..).unwrap_or_default()
        }
    }
    let mut dwords = vec![0x6101_000e];
    dwords.extend([0u32; 15]);
    dwords.extend([0x7b00_0005, 0, 3, 0, 1, 0, 0]);
    dwords.extend([0x7a00_0004, 0, 0, 0, 0, 0]);
    let whole = bytes(&dwords);
    for cut in 0..whole.len() {
        let memory = Guarded(whole[..cut].to_vec());
        let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
        let packets = seen.iter().filter(|record| record.kind == Kind::Packet);
        assert_eq!(packets.map(|record| record.there).sum::<usize>(), cut / 4, "cut at {cut}");
        assert!(seen.last().unwrap().note.contains("without MI_BATCH_BUFFER_END"), "cut at {cut}");
    }
}

/// Packets with lengths that drivers use (facts: length_observed), and that differ in Mesa's
/// tables. Each is read as a whole, and the packet after it is found.
#[test]
fn packets_are_as_long_as_drivers_send_them() {
    for (name, length) in [
        ("MFX_AVC_IMG_STATE", 16),
        ("MFX_AVC_IMG_STATE", 17),
        ("MFX_AVC_SLICE_STATE", 11),
        ("MFX_MPEG2_PIC_STATE", 13),
        ("MFX_VP8_PIC_STATE", 38),
        ("MFX_QM_STATE", 18),
        ("MFX_JPEG_HUFF_TABLE_STATE", 53),
        ("MFD_AVC_DPB_STATE", 27),
        ("MI_STORE_DATA_IMM", 4),
        ("MI_STORE_DATA_IMM", 5),
    ] {
        let container = Tables::gen8().container(name).unwrap_or_else(|| panic!("no {name}"));
        let genxml::core::reflect::Kind::Instruction { opcode, .. } = container.kind else {
            panic!()
        };
        let mut dwords = vec![0; length as usize];
        dwords[0] = opcode | (length - 2);
        dwords.push(END);
        let seen = of_dwords(EngineId::Video, &dwords);
        assert_eq!((seen[0].name, seen[0].length, seen[0].there), (name, length, length as usize));
        let described =
            seen[0].items.iter().all(|item| !(item.value == Value::Raw && item.name.is_empty()));
        assert!(described, "{name} of {length} dwords has dwords that are not described");
        assert_eq!(seen[0].note, "", "{name} of {length} dwords");
        let last = seen.last().unwrap();
        assert_eq!(
            (last.name, last.address),
            ("MI_BATCH_BUFFER_END", 0x1000 + 4 * u64::from(length)),
            "{name}"
        );
    }
}

/// MI_FLUSH_DW (opcode 0x26) is a command of the blitter and of both kinds of video engines (facts:
/// Linux i915). Mesa has it for video alone.
#[test]
fn flushes_of_all_engines_are_known() {
    for engine in [EngineId::Blitter, EngineId::Video, EngineId::VideoEnhance] {
        let seen = of_dwords(engine, &[0x1300_0002, 0, 0, 0, END]);
        assert_eq!(
            (seen[0].name, seen[1].name),
            ("MI_FLUSH_DW", "MI_BATCH_BUFFER_END"),
            "{engine}"
        );
    }
}

/// STATE_BASE_ADDRESS: general, surface, dynamic, indirect and instruction base in dwords 1, 4, 6,
/// 8 and 10. Bit 0 of each enables the change (2a STATE_BASE_ADDRESS).
fn bases(surface: u32, dynamic: u32, instruction: u32) -> Vec<u32> {
    let mut dwords = vec![0x6101_000e];
    dwords.extend([0; 15]);
    (dwords[4], dwords[6], dwords[10]) = (surface | 1, dynamic | 1, instruction | 1);
    dwords
}

/// MEDIA_INTERFACE_DESCRIPTOR_LOAD (2a p.487): dword 2 has the length in bytes, dword 3 the start
/// of the descriptors.
fn load_descriptors(bytes: u32, start: u32) -> [u32; 4] {
    [0x7002_0002, 0, bytes, start]
}

/// An interface descriptor of eight dwords (2d INTERFACE_DESCRIPTOR_DATA). Dword 0: kernel address.
/// Dword 3: sampler table address; bits 4:2 are the number of samplers divided by 4, rounded up.
/// Dword 4: binding table address; bits 4:0 are the number of its entries.
fn descriptor(kernel: u32, samplers: u32, table: u32) -> [u32; 8] {
    [kernel, 0, 0, samplers, table, 0, 0, 0]
}

/// Interface descriptors follow each other every 32 bytes. Mesa reads the second one 8 bytes after
/// the first.
#[test]
fn the_second_interface_descriptor_is_behind_the_first() {
    let mut batch = bases(0x4_0000, 0x5_0000, 0x6_0000);
    batch.extend(load_descriptors(64, 0x40));
    batch.push(END);
    let mut dynamic = vec![0; 16];
    dynamic.extend(descriptor(0x40, 0, 0));
    dynamic.extend(descriptor(0x80, 0, 0));
    let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x5_0000, bytes(&dynamic))]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let found: Vec<_> = seen
        .iter()
        .filter(|record| record.name == "INTERFACE_DESCRIPTOR_DATA")
        .map(|record| (record.index, record.address, record.value("Kernel Start Pointer")))
        .collect();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].0, found[0].1), (Some(0), 0x5_0040));
    assert_eq!((found[1].0, found[1].1), (Some(1), 0x5_0060));
    for (found, kernel) in found.iter().zip([0x6_0040, 0x6_0080]) {
        assert!(
            matches!(found.2, Value::Address { absolute: Some(at), .. } if at == kernel),
            "{found:?}"
        );
    }
}

/// A structure may end exactly at the end of its buffer. Mesa refuses it.
#[test]
fn state_at_the_end_of_its_buffer_is_read() {
    // The descriptor has 4 samplers at 0x40 and a binding table of 2 entries at 0x60.
    let mut batch = bases(0x4_0000, 0x5_0000, 0x6_0000);
    batch.extend(load_descriptors(32, 0x20));
    batch.push(END);
    let mut dynamic = vec![0; 8];
    dynamic.extend(descriptor(0, 0x40 | 1 << 2, 0x60 | 2));
    dynamic.extend([0; 16]);
    assert_eq!(dynamic.len() * 4, 0x80, "four samplers of 16 bytes end the buffer");
    // The binding table at 0x60 has two entries, for surfaces at 0 and 0x40. It ends the buffer.
    let mut surfaces = vec![0; 24];
    surfaces.extend([0, 0x40]);
    let memory = Buffers(vec![
        (0x1000, bytes(&batch)),
        (0x4_0000, bytes(&surfaces)),
        (0x5_0000, bytes(&dynamic)),
        (0x6_0000, vec![0; 64]),
    ]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let of = |name| {
        seen.iter()
            .filter(|record| record.name == name)
            .map(|record| record.index)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("BINDING_TABLE_STATE"), [Some(0), Some(1)]);
    assert_eq!(of("SAMPLER_STATE"), [Some(0), Some(1), Some(2), Some(3)]);
    let last = seen.iter().rfind(|record| record.name == "SAMPLER_STATE").unwrap();
    assert_eq!((last.address, last.there, last.note.as_str()), (0x5_0070, 4, ""));
    // The memory of the kernel is in the dump, but its zeros are no instructions.
    assert!(seen.iter().any(|record| record.note == "kernel at 0x60000: there is no instruction"));
    let mapped: Vec<_> = seen.iter().filter(|record| record.note.contains("mapped")).collect();
    assert!(mapped.is_empty(), "{mapped:#?}");
}

/// 3DSTATE_GS (2a p.113-124): Dispatch Mode is dword 7 12:11, 3 is SIMD8. Mesa calls every mode
/// "vec4".
#[test]
fn the_dispatch_mode_of_geometry_shaders_has_its_name() {
    for (mode, name) in [(0, "Single"), (1, "Dual Instance"), (2, "Dual Object"), (3, "SIMD8")] {
        let mut dwords = vec![0x7811_0008];
        dwords.extend([0; 9]);
        dwords[7] = mode << 11;
        dwords.push(END);
        let seen = of_dwords(EngineId::Render, &dwords);
        assert_eq!(seen[0].value("Dispatch Mode"), Value::Enum { name: Some(name) });
    }
}

/// A binding table has as many entries as the descriptor says (dword 4 4:0), not eight.
#[test]
fn binding_tables_are_as_long_as_the_state_says() {
    let mut batch = bases(0x4_0000, 0x5_0000, 0x6_0000);
    batch.extend(load_descriptors(32, 0));
    batch.push(END);
    let mut dynamic = descriptor(0, 0, 12).to_vec();
    dynamic.resize(16, 0);
    // Twelve entries that all lead to one surface at 0x80.
    let mut surfaces = vec![0x80; 12];
    surfaces.resize(32 + 16, 0);
    let memory = Buffers(vec![
        (0x1000, bytes(&batch)),
        (0x4_0000, bytes(&surfaces)),
        (0x5_0000, bytes(&dynamic)),
    ]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let entries: Vec<_> = seen
        .iter()
        .filter(|record| record.name == "BINDING_TABLE_STATE")
        .filter_map(|it| it.index)
        .collect();
    assert_eq!(entries, (0..12).collect::<Vec<_>>());
    let surfaces = seen.iter().filter(|record| record.name == "RENDER_SURFACE_STATE");
    assert!(surfaces.clone().all(|surface| surface.address == 0x4_0080 && surface.depth == 3));
    assert_eq!(surfaces.count(), 12);
}
