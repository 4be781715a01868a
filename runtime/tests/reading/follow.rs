//! The data that packets refer to: vertices, constants, viewports, registers, rings, context
//! images, messages.

use crate::reading::{Buffers, END, Seen, bytes, decode, of_dwords, seen, with};
use genxml::decode::{self, Decoder, Kind, Memory, Options, State, Tables, Value};
use genxml::dump::{Ring, Submission};
use genxml::engine::EngineId;
use genxml_testkit::text::squeeze;

const NOOP: u32 = 0;

/// STATE_BASE_ADDRESS: surface, dynamic and instruction base in dwords 4, 6 and 10. Bit 0 of each
/// enables the change.
fn bases(surface: u32, dynamic: u32, instruction: u32) -> Vec<u32> {
    let mut dwords = vec![0x6101_000e];
    dwords.extend([0; 15]);
    (dwords[4], dwords[6], dwords[10]) = (surface | 1, dynamic | 1, instruction | 1);
    dwords
}

/// A row of the output: its number, and the values of its columns.
fn row(record: &Seen) -> (Option<u32>, Vec<Value>) {
    let values = record.items.iter().map(|item| item.value).filter(|value| *value != Value::Nested);
    (record.index, values.collect())
}

fn rows(seen: &[Seen], name: &str) -> Vec<(Option<u32>, Vec<Value>)> {
    seen.iter().filter(|record| record.kind == Kind::Row && record.name == name).map(row).collect()
}

fn notes(seen: &[Seen]) -> Vec<&str> {
    seen.iter()
        .filter(|record| record.kind == Kind::Note)
        .map(|record| record.note.as_str())
        .collect()
}

/// Vertex buffer 2 at 0x20000 with vertices of 12 bytes: two floats, then four bytes that are
/// fractions of 255 (3DSTATE_VERTEX_BUFFERS 2a p.243, VERTEX_ELEMENT_STATE 2d p.588, formats 0x085
/// and 0x0c7 2b p.36).
fn vertex_state(size: u32) -> Vec<u32> {
    let mut dwords = vec![0x7808_0003, 2 << 26 | 1 << 14 | 12, 0x2_0000, 0, size];
    // x and y come from the buffer; z and w are generated as 0 and 1.0. Then a colour of four
    // components.
    dwords.extend([
        0x7809_0003,
        2 << 26 | 1 << 25 | 0x085 << 16,
        1 << 28 | 1 << 24 | 2 << 20 | 3 << 16,
    ]);
    dwords.extend([2 << 26 | 1 << 25 | 0x0c7 << 16 | 8, 1 << 28 | 1 << 24 | 1 << 20 | 1 << 16]);
    dwords
}

/// Vertex `n` is at (n, -n) and has the colour (255, 0, 51, 102).
fn vertices(count: u32) -> Vec<u8> {
    let vertex = |n: u32| [(n as f32).to_bits(), (-(n as f32)).to_bits(), 0x6633_00ff];
    bytes(&(0..count).flat_map(vertex).collect::<Vec<_>>())
}

fn vertex(n: u32) -> (Option<u32>, Vec<Value>) {
    let fraction = |of: f64| Value::Float(f64::from((of / 255.0) as f32));
    let place = [Value::Float(n.into()), Value::Float(-f64::from(n))];
    let color = [fraction(255.0), fraction(0.0), fraction(51.0), fraction(102.0)];
    (Some(n), [&place[..], &color].concat())
}

#[test]
fn a_draw_shows_as_many_vertices_as_it_takes() {
    let mut batch = vertex_state(48);
    // Three vertices from 1 on, one instance.
    batch.extend([0x7b00_0005, 4, 3, 1, 1, 0, 0, END]);
    let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x2_0000, vertices(4))]);
    let (seen, summary) = decode(EngineId::Render, &memory, 0x1000);
    assert_eq!(rows(&seen, "vertex"), [vertex(1), vertex(2), vertex(3)]);
    let first = seen.iter().find(|record| record.kind == Kind::Row).unwrap();
    assert_eq!((first.depth, first.address, first.there), (2, 0x2_000c, 3));
    assert!(
        notes(&seen)[0].contains("R32G32_FLOAT at +0; element 1: R8G8B8A8_UNORM at +8"),
        "{:?}",
        notes(&seen)
    );
    assert_eq!((summary.problems, summary.unknown), (0, 0));

    let options = Options { max_vertices: 2, ..Options::default() };
    let (seen, _) = with(&options, EngineId::Render, &memory, 0x1000);
    assert_eq!(rows(&seen, "vertex"), [vertex(1), vertex(2)]);
    assert!(notes(&seen).contains(&"1 more vertices are left out"), "{:?}", notes(&seen));

    // The state has 10 dwords, the draw 7, a vertex 3: the limit ends the vertices after the
    // first one. The other vertices are mapped, and not decoded.
    let options = Options { max_dwords: 10 + 7 + 3, ..Options::default() };
    let (seen, _) = with(&options, EngineId::Render, &memory, 0x1000);
    let shown = rows(&seen, "vertex").len();
    assert!((1..3).contains(&shown), "{shown}");
    let left = format!("{} more vertices are left out: too many dwords were decoded", 3 - shown);
    assert!(notes(&seen).contains(&left.as_str()), "{:?}", notes(&seen));
    assert!(!notes(&seen).iter().any(|note| note.contains("mapped")), "{:?}", notes(&seen));

    let options = Options { data: false, ..Options::default() };
    let (seen, _) = with(&options, EngineId::Render, &memory, 0x1000);
    assert!(seen.iter().all(|record| record.kind == Kind::Packet));
}

/// 3DSTATE_INDEX_BUFFER (2a p.136): format in dword 1 9:8, 1 for 16 bits. The base vertex is added
/// to each index. The cut index (3DSTATE_VF, 2a p.247) is not an index.
#[test]
fn indices_lead_to_vertices() {
    let mut batch = vertex_state(120);
    batch.extend([0x780c_0100, 0xffff]);
    batch.extend([0x780a_0003, 1 << 8, 0x3_0002, 0, 12]);
    // Five indices from the second on, random access, base vertex -1.
    batch.extend([0x7b00_0005, 1 << 8 | 4, 5, 1, 1, 0, 0xffff_ffff, END]);
    let indices = [0u16, 9, 7, 2, 0xffff, 3, 7].map(u16::to_le_bytes).concat();
    let memory =
        Buffers(vec![(0x1000, bytes(&batch)), (0x2_0000, vertices(10)), (0x3_0000, indices)]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let [index] = &rows(&seen, "index")[..] else { panic!("{seen:?}") };
    let cut = Value::Enum { name: Some("cut") };
    let shown = [Value::Uint(7), Value::Uint(2), cut, Value::Uint(3), Value::Uint(7)];
    assert_eq!(index, &(Some(1), shown.to_vec()));
    assert_eq!(rows(&seen, "vertex"), [vertex(1), vertex(2), vertex(6)]);
}

#[test]
fn what_vertices_and_indices_lack_is_said() {
    // Four vertices are drawn, but the buffer has two; then the buffer's address is unmapped.
    let mut batch = vertex_state(24);
    batch.extend([0x7b00_0005, 4, 4, 0, 1, 0, 0, END]);
    let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x2_0000, vertices(4))]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    assert_eq!(rows(&seen, "vertex"), [vertex(0), vertex(1)]);
    assert!(notes(&seen).contains(&"2 of them are beyond the end of the buffer: they read 0"));
    let (seen, _) = decode(EngineId::Render, &Buffers(vec![(0x1000, bytes(&batch))]), 0x1000);
    assert!(
        notes(&seen).contains(&"vertex buffer at 0x20000: nothing is mapped there"),
        "{:?}",
        notes(&seen)
    );
    // Parameters in registers that no command has loaded.
    let mut batch = vertex_state(24);
    batch.extend([0x7b00_0405, 4, 0, 0, 0, 0, 0, END]);
    let seen = of_dwords(EngineId::Render, &batch);
    assert!(notes(&seen)[0].contains("what they hold is not known"));
}

/// 3DSTATE_VF_INSTANCING (2a p.249): enable in dword 1 bit 8, the element in 5:0, the step in dword
/// 2.
#[test]
fn data_of_instances_step_with_them() {
    let mut batch = vertex_state(120);
    batch.extend([0x7849_0001, 1 << 8 | 1, 2]);
    // One vertex, five instances from number 3 on: three steps of the colour.
    batch.extend([0x7b00_0005, 4, 1, 0, 5, 3, 0, END]);
    let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x2_0000, vertices(10))]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let numbers =
        |name| rows(&seen, name).into_iter().map(|row| (row.0, row.1.len())).collect::<Vec<_>>();
    assert_eq!(numbers("vertex"), [(Some(0), 2)]);
    assert_eq!(numbers("instance"), [(Some(3), 4), (Some(4), 4), (Some(5), 4)]);
}

/// An indirect draw takes its parameters from 3DPRIM_VERTEX_COUNT (0x2434), 3DPRIM_START_VERTEX
/// (0x2430) and 3DPRIM_INSTANCE_COUNT (0x2438), here from memory and from the batch.
#[test]
fn indirect_draws_take_registers() {
    let mut batch = vertex_state(48);
    batch.extend([0x1480_0002, 0x2434, 0x4_0008, 0]);
    batch.extend([0x1100_0003, 0x2430, 1, 0x2438, 1]);
    batch.extend([0x7b00_0405, 4, 0, 0, 0, 0, 0, END]);
    let memory = Buffers(vec![
        (0x1000, bytes(&batch)),
        (0x2_0000, vertices(4)),
        (0x4_0000, bytes(&[0, 0, 2])),
    ]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    assert_eq!(rows(&seen, "vertex"), [vertex(1), vertex(2)]);
}

/// 3DSTATE_CONSTANT_VS (2a p.53, 2d p.1): lengths in units of 32 bytes in dwords 1 and 2, pointers
/// from dword 3 on. Pointer 0 counts from the dynamic state base until INSTPM (0x20c0) bit 6 makes
/// it an address.
#[test]
fn push_constants_are_as_long_as_they_are_pushed() {
    let constants = |pointer: u32| [0x7815_0009, 1, 2, pointer, 0, 0, 0, 0x7_0020, 0, 0, 0];
    let mut batch = bases(0, 0x5_0000, 0);
    batch.extend(constants(0x40));
    batch.extend([0x1100_0001, 0x20c0, 0x0040_0040]);
    batch.extend(constants(0x7_0000));
    batch.push(END);
    let memory = Buffers(vec![
        (0x1000, bytes(&batch)),
        (0x5_0000, vec![1; 0x60]),
        (0x7_0000, vec![2; 0x80]),
    ]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let found: Vec<_> = seen
        .iter()
        .filter(|record| record.kind == Kind::Data)
        .map(|record| (record.name, record.index, record.address, record.there))
        .collect();
    assert_eq!(
        found,
        [
            ("push constants", Some(0), 0x5_0040, 8),
            ("push constants", Some(2), 0x7_0020, 16),
            ("push constants", Some(0), 0x7_0000, 8),
            ("push constants", Some(2), 0x7_0020, 16),
        ]
    );
}

/// With the pools of the resource streamer (2a p.28 and p.111: base in dwords 1 and 2, enable in
/// dword 1 bit 11), constant buffer 1 and binding tables are offsets in the pools. Entries have 16
/// bits, bits 21:6 of the offset of a surface state (2d p.207). Bits 15:5 of the pointer are bits
/// 16:6 of the offset (2a p.26).
#[test]
fn pools_of_the_resource_streamer() {
    let mut batch = bases(0x4_0000, 0x5_0000, 0x6_0000);
    batch.extend([0x7919_0002, 0x8_0000 | 1 << 11, 0, 1 << 12]);
    batch.extend([0x791a_0002, 0x9_0000 | 1 << 11, 0, 1 << 12]);
    batch.extend([0x7815_0009, 1 << 16, 0, 0, 0, 0x40, 0, 0, 0, 0, 0]);
    // A vertex shader with three binding table entries (3DSTATE_VS dword 3 25:18, dword 7 bit 0).
    batch.extend([0x7810_0007, 0, 0, 3 << 18, 0, 0, 0, 1, 0]);
    batch.extend([0x7826_0000, 0x60]);
    batch.extend([0x7b00_0005, 4, 3, 0, 1, 0, 0, END]);
    let mut pool = vec![0; 0xc0];
    // Entries 0 and 2 point to 0x80 and 0x40; entry 1 is zero.
    pool.extend([2, 0, 0, 0, 1, 0, 0, 0]);
    let memory = Buffers(vec![
        (0x1000, bytes(&batch)),
        (0x4_0000, vec![0; 0x100]),
        (0x5_0000, vec![0; 0x40]),
        (0x6_0000, vec![0; 0x40]),
        (0x8_0000, pool),
        (0x9_0000, vec![3; 0x60]),
    ]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let surfaces: Vec<_> = seen
        .iter()
        .filter(|record| record.name == "RENDER_SURFACE_STATE")
        .map(|record| (record.index, record.address))
        .collect();
    assert_eq!(surfaces, [(Some(0), 0x4_0080), (Some(2), 0x4_0040)]);
    assert!(seen.iter().all(|record| record.name != "BINDING_TABLE_STATE"));
    assert!(notes(&seen).contains(&"VS: binding table of the resource streamer"));
    let data: Vec<_> = seen
        .iter()
        .filter(|record| record.kind == Kind::Data)
        .map(|record| (record.name, record.index, record.address, record.there))
        .collect();
    assert_eq!(data, [("push constants", Some(1), 0x9_0040, 8)]);
}

/// Maximum VP Index (3DSTATE_CLIP dword 3 3:0, 2a p.44) says how many viewports there are.
#[test]
fn there_are_as_many_viewports_as_the_clipper_knows() {
    let mut batch = bases(0, 0x5_0000, 0);
    batch.extend([0x7812_0002, 0, 0, 2]);
    batch.extend([0x7823_0000, 0x20]);
    batch.extend([0x7b00_0005, 4, 3, 0, 1, 0, 0, END]);
    let viewports = [0.0f32, 1.0, 0.25, 0.5, 0.125, 0.75].map(f32::to_bits);
    let dynamic = [&[0; 8][..], &viewports].concat();
    let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x5_0000, bytes(&dynamic))]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let found: Vec<_> = seen
        .iter()
        .filter(|record| record.name == "CC_VIEWPORT")
        .map(|record| (record.index, record.value("Minimum Depth"), record.value("Maximum Depth")))
        .collect();
    let depths = [(0.0, 1.0), (0.25, 0.5), (0.125, 0.75)]
        .map(|(low, high)| (Value::Float(low), Value::Float(high)));
    // Here the clipper uses only one viewport. With option `unused`, four are shown.
    let clip = batch.iter().position(|&dword| dword == 0x7812_0002).unwrap();
    batch[clip + 3] = 0;
    let four = bytes(&[&dynamic[..], &[0; 2]].concat());
    let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x5_0000, four)]);
    for (unused, indices) in [(false, vec![None]), (true, vec![None, Some(1), Some(2), Some(3)])] {
        let options = Options { unused, ..Options::default() };
        let (seen, _) = with(&options, EngineId::Render, &memory, 0x1000);
        let viewports = seen.iter().filter(|record| record.name == "CC_VIEWPORT");
        assert_eq!(viewports.map(|record| record.index).collect::<Vec<_>>(), indices);
        let why = "CC_VIEWPORT of viewports 1 to 3; the draw uses 1";
        assert_eq!(notes(&seen).contains(&why), unused, "{:?}", notes(&seen));
    }
    assert_eq!(
        found,
        [
            (None, depths[0].0, depths[0].1),
            (Some(1), depths[1].0, depths[1].1),
            (Some(2), depths[2].0, depths[2].1)
        ]
    );
}

/// Pointers to a binding table and to samplers, without a draw: with option `unused`, the surface
/// and sampler 0 are shown, as by Mesa's decoder.
#[test]
fn tables_without_a_draw_are_shown_on_request() {
    let mut batch = bases(0x4_0000, 0x5_0000, 0);
    batch.extend([0x782a_0000, 0x20, 0x782f_0000, 0x40, END]);
    let mut heap = vec![0; 0x28];
    // The table has one entry, which points to 0x40.
    heap[8] = 0x40;
    let memory = Buffers(vec![
        (0x1000, bytes(&batch)),
        (0x4_0000, bytes(&heap)),
        (0x5_0000, vec![0; 0x100]),
    ]);
    for (unused, expected) in [
        (false, vec![]),
        (true, vec![("RENDER_SURFACE_STATE", 0x4_0040), ("SAMPLER_STATE", 0x5_0040)]),
    ] {
        let options = Options { unused, ..Options::default() };
        let (seen, _) = with(&options, EngineId::Render, &memory, 0x1000);
        let names = ["RENDER_SURFACE_STATE", "SAMPLER_STATE"];
        let found = seen.iter().filter(|record| names.contains(&record.name));
        assert_eq!(found.map(|it| (it.name, it.address)).collect::<Vec<_>>(), expected);
    }
}

/// MI_MATH (opcode 0x1a): LOAD SRCA R0, LOAD SRCB R1, SUB, STORE R2 ACCU, STORE R3 CF (facts: Mesa
/// gen8.xml).
#[test]
fn arithmetic_is_an_expression() {
    let steps = [0x0800_8000, 0x0800_8401, 0x1010_0000, 0x1800_0831, 0x1800_0c33];
    let seen = of_dwords(EngineId::Render, &[&[0x0d00_0004][..], &steps, &[END]].concat());
    assert_eq!(seen[0].name, "MI_MATH");
    assert_eq!(notes(&seen), ["R2 = R0 - R1", "R3 = borrow(R0 - R1)"]);
}

/// MI_LOAD_REGISTER_REG (0x2a) and MI_STORE_REGISTER_MEM (0x24) show the register's value, if an
/// earlier command has loaded it.
#[test]
fn registers_that_are_moved_have_their_fields() {
    let mut batch = vec![0x1100_0001, 0x20c0, 0xffff_0040];
    // Only the low half of INSTPM is known. CS_GPR 1 is completely known, and is copied to CS_GPR
    // 2.
    batch.extend([0x1200_0002, 0x20c0, 0x9000, 0]);
    batch.extend([0x1100_0001, 0x2608, 77]);
    batch.extend([0x1500_0001, 0x2608, 0x2610]);
    batch.extend([0x1200_0002, 0x2610, 0x9000, 0, END]);
    let seen = of_dwords(EngineId::Render, &batch);
    let found: Vec<_> = seen
        .iter()
        .filter(|record| record.kind == Kind::Register)
        .map(|record| (record.name, record.address, record.note.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("INSTPM", 0x20c0, ""),
            ("CS_GPR", 0x2608, ""),
            ("CS_GPR", 0x2610, "as the source register was loaded before"),
            ("CS_GPR", 0x2610, "as it was loaded before"),
        ]
    );
}

/// Memory of a context, with global memory beside it.
struct Both {
    context: Buffers,
    global: Buffers,
}

impl Memory for Both {
    fn tail(&self, address: u64) -> &[u8] {
        self.context.tail(address)
    }

    fn global(&self) -> Option<&dyn Memory> {
        Some(&self.global)
    }
}

/// MI_BATCH_BUFFER_START: bit 8 is 1 for an address of the context, bit 22 for the second level.
#[test]
fn a_ring_is_read_across_its_end_with_the_batches_that_it_starts() {
    let start = 0x1880_0001 | 1 << 8;
    // A ring of 64 bytes at 0x9000. The head is 0x34. The packet at 0x38 continues at the start of
    // the ring. The tail is 0xc.
    let mut ring = vec![0x7fff_ffff; 16];
    (ring[13], ring[14], ring[15], ring[0]) = (NOOP, start, 0x1000, 0);
    (ring[1], ring[2]) = (NOOP, 0x0280_0000);
    let batch = [0x0280_0000, END];
    let memory = Both {
        // The same address has different contents in the two address spaces.
        context: Buffers(vec![(0x1000, bytes(&batch)), (0x9000, bytes(&[END; 16]))]),
        global: Buffers(vec![(0x9000, bytes(&ring))]),
    };
    let submission = Submission {
        name: "rcs0 ring",
        number: 0,
        context: 0,
        engine: EngineId::Render,
        memory: &memory,
        address: 0x9034,
        length: 24,
        global: true,
        ring: Some(Ring { start: 0x9000, size: 64, head: 0x34, tail: 0xc }),
    };
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let (seen, summary) = seen(|sink| decoder.submission(&mut State::default(), &submission, sink));
    let found: Vec<_> = seen
        .iter()
        .map(|record| {
            (
                record.depth,
                record.address,
                if record.name.is_empty() { &record.note } else { record.name },
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, 0x9034, "MI_NOOP"),
            (0, 0x9038, "MI_BATCH_BUFFER_START"),
            (1, 0x1000, "MI_ARB_CHECK"),
            (1, 0x1004, "MI_BATCH_BUFFER_END"),
            (0, 0x9004, "the ring goes on at its start"),
            (0, 0x9004, "MI_NOOP"),
            (0, 0x9008, "MI_ARB_CHECK"),
        ]
    );
    assert_eq!(summary.unknown, 0);

    // Without a ring, a batch at a global address.
    let submission = Submission { address: 0x9034, length: 0, ring: None, ..submission };
    let (seen, _) =
        crate::reading::seen(|sink| decoder.submission(&mut State::default(), &submission, sink));
    assert_eq!(
        (seen[1].name, seen[1].there, seen[2].name),
        ("MI_BATCH_BUFFER_START", 2, "MI_ARB_CHECK")
    );
}

/// Rings with invalid registers: the reader stops and reports that.
#[test]
fn rings_that_make_no_sense_end() {
    let memory = Buffers(vec![(0x9000, bytes(&[NOOP; 16]))]);
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    for (start, size, address, length) in [
        (0x9000, 0, 0x9000, 64),
        (0x9000, 64, 0x8000, 64),
        (0x9000, 3, 0x9000, u64::MAX),
        (0x9000, 64, 0x9003, u64::MAX),
        (u64::MAX, u64::MAX, u64::MAX, u64::MAX),
        (0x9000, u64::MAX, 0x9020, u64::MAX),
    ] {
        let submission = Submission {
            name: "",
            number: 0,
            context: 0,
            engine: EngineId::Render,
            memory: &memory,
            address,
            length,
            global: true,
            ring: Some(Ring { start, size, head: 0, tail: 0 }),
        };
        let (seen, _) = seen(|sink| decoder.submission(&mut State::default(), &submission, sink));
        assert!(seen.len() < 30, "{seen:?}");
    }
}

/// The image of an execlist context: a status page, then MI_NOOP, MI_LOAD_REGISTER_IMM with pairs
/// of RING_CONTEXT_CONTROL (0x2244), RING_HEAD (0x2034), RING_TAIL (0x2030) and so on (facts:
/// context_image).
#[test]
fn context_images_show_registers_by_name() {
    let mut image = vec![0u32; 2048];
    // Ring Head Pointer Storage of the status page is its dword 4.
    image[4] = 0x120;
    image[1024..1036].copy_from_slice(&[
        NOOP,
        0x1100_1009,
        0x2244,
        0x0009_0009,
        0x2034,
        0x120,
        0x2030,
        0x140,
        0x2038,
        0x0010_0000,
        0x203c,
        0x3001,
    ]);
    image[1036..1040].copy_from_slice(&[NOOP, 0x1100_0001, 0x20c8, 0x8000_0000]);
    image[1040] = END;
    let memory = Buffers(vec![(0x20_0000, bytes(&image))]);
    let (seen, summary) = seen(|sink| {
        decode::context_image(EngineId::Render, &memory, 0x20_0000, 0, &Options::default(), sink)
    });
    assert_eq!(
        (seen[0].name, seen[0].value("Ring Head Pointer Storage")),
        ("PPHWSP_LAYOUT", Value::Uint(0x120))
    );
    let registers: Vec<_> = seen
        .iter()
        .filter(|record| record.kind == Kind::Register)
        .map(|record| record.address)
        .collect();
    assert_eq!(registers, [0x2244, 0x2034, 0x2030, 0x2038, 0x203c, 0x20c8]);
    let tail = seen.iter().find(|record| record.address == 0x2030).unwrap();
    assert_eq!((tail.name, tail.value("TAIL_ADDR")), ("RING_TAIL", Value::Uint(0x140)));
    assert_eq!(seen.last().unwrap().name, "MI_BATCH_BUFFER_END");
    assert_eq!(summary.unknown, 0);

    // A truncated image, and one that is not in memory.
    for (length, said) in [(4096 + 16, "cut short"), (0, "nothing is mapped there")] {
        let memory = Buffers(vec![(0x20_0000, bytes(&image)[..length].to_vec())]);
        let (seen, _) = crate::reading::seen(|sink| {
            decode::context_image(
                EngineId::Render,
                &memory,
                0x20_0000,
                0,
                &Options::default(),
                sink,
            )
        });
        assert!(
            seen.iter().any(|record| record.note.contains(said)),
            "{length}: {:?}",
            notes(&seen)
        );
    }
}

/// A send with its message: function 0x27 is the thread spawner with end of thread; descriptor
/// 0x02000010 has one register and keeps the resource (2d p.495).
#[test]
fn sends_are_followed_by_their_messages() {
    let mut batch = bases(0, 0x5_0000, 0x6_0000);
    batch.extend([0x7002_0002, 0, 32, 0, END]);
    let kernel =
        [0x00600001, 0x2e000208, 0x008d0000, 0, 0x07800031, 0x20000a40, 0x0e000e00, 0x82000010];
    let memory =
        Buffers(vec![(0x1000, bytes(&batch)), (0x5_0000, vec![0; 64]), (0x6_0000, bytes(&kernel))]);
    let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
    let kernel = seen.iter().find(|record| record.kind == Kind::Kernel).unwrap();
    let offsets: Vec<_> = kernel.lines.iter().map(|line| line.0).collect();
    assert_eq!(offsets, [0, 16, 16]);
    let message = &kernel.lines[2].1;
    for said in ["Message Length 1", "EOT"] {
        assert!(message.contains(said), "{message}");
    }
}

/// Kernels of Gen9 and Gen11 are read to the end of thread of a split send, and the binding table
/// up to the surface of its descriptor, here entry 1. Kernels of Gen12.5 are named and not
/// disassembled. Oracle: the bytes of the send are a line of Mesa's assembler test sends of Gen9,
/// with the end of thread. Gen11 has the same format.
#[test]
fn kernels_of_later_generations() {
    let mut batch = bases(0x7_0000, 0x5_0000, 0x6_0000);
    batch.extend([0x7002_0002, 0, 32, 0, END]);
    let mut descriptor = vec![0; 32];
    descriptor[16] = 0x20;
    let mut surfaces = vec![0; 0x140];
    surfaces[0x20..0x2c].copy_from_slice(&bytes(&[0x40, 0x80, 0xc0]));
    let kernel = [0x0c60_0033, 0x0002_4010, 0x0000_0444, 0x8403_5001, 1, 0, 0, 0];
    let memory = Buffers(vec![
        (0x1000, bytes(&batch)),
        (0x5_0000, descriptor),
        (0x6_0000, bytes(&kernel)),
        (0x7_0000, surfaces),
    ]);
    let of = |generation| {
        let tables = Tables::new(genxml::gen8::CONTAINERS, genxml::gen8::ENGINES, 80);
        let tables = tables.with_kernels_of(generation);
        let decoder = Decoder::new(&tables, Options::default());
        let (engine, address) = (EngineId::Render, 0x1000);
        seen(|sink| decoder.batch(&mut State::default(), engine, &memory, address, 0, sink)).0
    };
    for seen in [of(90), of(110)] {
        let kernel = seen.iter().find(|record| record.kind == Kind::Kernel).unwrap();
        let lines: Vec<_> = kernel.lines.iter().map(|(at, text)| (*at, squeeze(text))).collect();
        assert_eq!((lines.len(), lines[0].0, lines[1].0), (2, 0, 0), "{lines:?}");
        let text = "sends (8|M0) null:ud r34 r36 0x12C 0x04035001";
        assert!(lines[0].1.starts_with(text), "{lines:?}");
        assert!(lines[1].1.contains("Message Length 2"), "{lines:?}");
        let states = seen.iter().filter(|record| record.name == "RENDER_SURFACE_STATE");
        assert_eq!(states.map(|record| record.address).collect::<Vec<_>>(), [0x7_0040, 0x7_0080]);
    }
    let seen = of(125);
    assert!(seen.iter().all(|record| record.kind != Kind::Kernel));
    let text = "kernel at 0x60000: Gen12.5: instructions of this generation cannot be disassembled";
    assert!(notes(&seen).contains(&text), "{:?}", notes(&seen));
}

/// Notes distinguish the reasons why a pointer is not followed: nothing is mapped at the address,
/// or the base is not known.
#[test]
fn pointers_that_lead_nowhere_say_why() {
    let colour_calculator = |pointer: u32| [0x780e_0000, pointer | 1, END];
    let seen = of_dwords(EngineId::Render, &colour_calculator(0x40));
    assert_eq!(
        notes(&seen),
        ["not followed: no STATE_BASE_ADDRESS has set the dynamic-state base"]
    );
    let with_base = |pointer| {
        let batch = [&bases(0, 0x5_0000, 0)[..], &colour_calculator(pointer)].concat();
        of_dwords(EngineId::Render, &batch)
    };
    assert_eq!(notes(&with_base(0x40)), ["COLOR_CALC_STATE at 0x50040: nothing is mapped there"]);
    assert_eq!(notes(&with_base(0)), [""; 0]);
}

/// A sampler needs a border colour only if coordinates can leave the surface. Otherwise a pointer
/// of 0 is not followed (2d p.396-407: TCX, TCY and TCZ in dword 3 8:6, 5:3 and 2:0; 4 is
/// CLAMP_BORDER).
#[test]
fn borders_are_followed_where_there_are_some() {
    let of = |modes: u32| {
        let mut batch = bases(0, 0x5_0000, 0x6_0000);
        batch.extend([0x7002_0002, 0, 32, 0x40, END]);
        let mut dynamic = vec![0; 16];
        dynamic.extend([0, 0, 0, 0x80 | 1 << 2, 0, 0, 0, 0]);
        dynamic.extend([0; 8]);
        dynamic.extend([0, 0, 0, modes].repeat(4));
        let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x5_0000, bytes(&dynamic))]);
        let (seen, _) = decode(EngineId::Render, &memory, 0x1000);
        assert_eq!(seen.iter().filter(|record| record.name == "SAMPLER_STATE").count(), 4);
        seen.iter().filter(|record| record.name == "SAMPLER_INDIRECT_STATE").count()
    };
    assert_eq!(of(2 << 6 | 2 << 3 | 2), 0);
    assert_eq!(of(4 << 6 | 2 << 3 | 2), 4);
}

/// MFX_IND_OBJ_BASE_ADDR_STATE has the base of coded data in dword 1; MFD_JPEG_BSD_OBJECT has their
/// length in dword 1 and their start in dword 2 (facts: intel/media-driver).
#[test]
fn coded_data_are_shown() {
    let mut batch = vec![0x7003_0018, 0x4_0000];
    batch.extend([0; 24]);
    batch.extend([0x7728_0004, 20, 0x10, 0, 0, 0, END]);
    let memory = Buffers(vec![(0x1000, bytes(&batch)), (0x4_0000, vec![0xd8; 0x40])]);
    let (seen, _) = decode(EngineId::Video, &memory, 0x1000);
    let data = seen.iter().find(|record| record.kind == Kind::Data).unwrap();
    assert_eq!((data.name, data.address, data.there), ("coded data", 0x4_0010, 5));
}

/// A surface that a packet describes is shown in one line. 3DSTATE_DEPTH_BUFFER (2a p.55): type in
/// dword 1 31:29, format in 20:18, pitch minus one in 17:0, height and width minus one in dword 4
/// 31:18 and 17:4. 3DSTATE_SO_BUFFER (2a p.216): index in dword 1 30:29, dwords minus one in dword
/// 4; the pitch of buffer 1 is in dword 3 27:16 of 3DSTATE_STREAMOUT (2a p.225).
#[test]
fn surfaces_that_packets_describe() {
    let depth = [0x7805_0006, 1 << 29 | 1 << 18 | 255, 0x1000, 0, 63 << 18 | 31 << 4, 0, 0, 0];
    let buffer = [0x7918_0006, 1 << 31 | 1 << 29, 0x2_0000, 0, 255, 0, 0, 0];
    let off = [0x7918_0006, 2 << 29, 0x3_0000, 0, 255, 0, 0, 0];
    let stream = [0x781e_0003, 1 << 31, 0, 16 << 16, 0];
    let dwords =
        [&depth[..], &buffer, &off, &stream, &[0x7805_0006, 7 << 29, 0, 0, 0, 0, 0, 0, END]]
            .concat();
    let seen = of_dwords(EngineId::Render, &dwords);
    let notes: Vec<_> = seen
        .iter()
        .filter(|record| record.kind == Kind::Note)
        .map(|record| record.note.as_str())
        .collect();
    assert_eq!(
        notes,
        [
            "depth buffer of 32 x 64 D32_FLOAT, pitch 256 bytes, at 0x1000",
            "stream output buffer 1 of 1024 bytes, pitch 16 bytes, room for 64 vertices, at 0x20000: nothing is mapped there",
        ]
    );
}
