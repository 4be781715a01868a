//! Filters, draws, writes of state and differences of dumps. Oracle: the batches that the tests
//! build, and the contents of real captures.

use genxml::check::{Checker, Finding, Rules};
use genxml::core::bits;
use genxml::core::reflect::{Kind, Type};
use genxml::decode::{
    Decoder, JsonWriter, Options, Record, Sink, State, Summary, Tables, Tee, TextWriter, Unread,
};
use genxml::diff::{Ignore, Show, Tree, dumps, write_json, write_text};
use genxml::dump::{Dump, How};
use genxml::engine::EngineId;
use genxml::eu::asm::{self, assemble};
use genxml::eu::syntax::Syntax;
use genxml::query::{Draw, Draws, Filter, Filtered, Glob, Target, What, Write, Writes, in_effect};
use genxml_testkit::corpus;
use std::io;
use std::ops::Range;
use std::path::Path;

/// A packet with these stored values. Opcode and length are set.
fn packet(name: &str, fields: &[(&str, u64)]) -> Vec<u32> {
    let container = Tables::gen8().container(name).unwrap_or_else(|| panic!("no {name}"));
    let mut out = vec![0; container.dwords()];
    if let Kind::Instruction { opcode, length_field, bias, .. } = container.kind {
        out[0] = opcode;
        if let Some((start, end)) = length_field {
            let length = out.len() as u64 - u64::from(bias);
            bits::put(&mut out, start, end, length);
        }
    }
    for (name, value) in fields {
        let field = container.fields.iter().find(|field| field.name == *name);
        let field = field.unwrap_or_else(|| panic!("no field {name}"));
        bits::put(&mut out, field.start, field.end, *value);
    }
    out
}

const BASE: u64 = 0x10000;

/// Decodes packets at [`BASE`] into a sink.
fn raw(packets: &[Vec<u32>], sink: &mut dyn Sink) {
    let bytes: Vec<u8> = packets.concat().iter().flat_map(|dword| dword.to_le_bytes()).collect();
    at(BASE, &bytes, sink);
}

fn at(address: u64, bytes: &[u8], sink: &mut dyn Sink) {
    let decoder = Decoder::new(Tables::gen8(), Options { every_draw: true, ..Options::default() });
    let (memory, length) = ((address, bytes), bytes.len() as u64);
    decoder
        .batch(&mut State::default(), EngineId::Render, &memory, address, length, sink)
        .expect("the sink takes all");
    sink.finish().expect("the sink takes all");
}

/// Names and depths of the records that pass a filter.
fn shown(filter: &Filter, packets: &[Vec<u32>]) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    let mut collect = |record: &Record| {
        all.push((record.name.to_owned(), record.depth));
        Ok(())
    };
    raw(packets, &mut Filtered::new(filter, &mut collect));
    all
}

fn names(filter: &Filter, packets: &[Vec<u32>]) -> Vec<String> {
    shown(filter, packets)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty())
        .collect()
}

fn within(range: Range<u64>) -> Filter {
    Filter { ranges: std::iter::once(range).collect(), ..Filter::default() }
}

fn scene() -> Vec<Vec<u32>> {
    let draw = |count| packet("3DPRIMITIVE", &[("Vertex Count Per Instance", count)]);
    let vs = |entries| packet("3DSTATE_VS", &[("Binding Table Entry Count", entries)]);
    let topology = |ty| packet("3DSTATE_VF_TOPOLOGY", &[("Primitive Topology Type", ty)]);
    vec![
        topology(4),
        vs(1),
        draw(3),
        packet("PIPE_CONTROL", &[("DC Flush Enable", 1)]),
        vs(2),
        draw(6),
        topology(5),
        draw(9),
        packet("MI_BATCH_BUFFER_END", &[]),
    ]
}

#[test]
fn filters_by_name_field_address_and_draw() {
    let by = |names: &[&str]| Filter {
        packets: names.iter().map(|name| Glob::new(name)).collect(),
        ..Filter::default()
    };
    assert_eq!(names(&by(&["3dstate_v?"]), &scene()), ["3DSTATE_VS", "3DSTATE_VS"]);
    assert_eq!(
        names(&by(&["PIPE*", "*TOPO*"]), &scene()),
        ["3DSTATE_VF_TOPOLOGY", "PIPE_CONTROL", "3DSTATE_VF_TOPOLOGY"]
    );
    assert!(names(&by(&["3DSTATE"]), &scene()).is_empty());

    let fields = |tests: &[&str]| Filter {
        fields: tests.iter().map(|test| test.parse().expect("a condition")).collect(),
        ..Filter::default()
    };
    assert_eq!(names(&fields(&["Binding Table Entry Count=2"]), &scene()), ["3DSTATE_VS"]);
    assert_eq!(
        names(&fields(&["Vertex Count Per Instance!=6"]), &scene()),
        ["3DPRIMITIVE", "3DPRIMITIVE"]
    );
    assert_eq!(names(&fields(&["DC Flush Enable=true"]), &scene()), ["PIPE_CONTROL"]);
    assert_eq!(
        names(&fields(&["primitive topology type=TRISTRIP", "Vertex*=0"]), &scene()),
        [""; 0]
    );
    assert!(
        names(&fields(&["Primitive Topology Type=*TRISTRIP"]), &scene())
            .contains(&"3DSTATE_VF_TOPOLOGY".into())
    );
    assert!("=3".parse::<genxml::query::FieldTest>().is_err());
    assert!("Width=".parse::<genxml::query::FieldTest>().is_err());

    // A filter for a field shows only matching fields of the record.
    let mut items = Vec::new();
    let mut collect = |record: &Record| {
        items.push(record.items.iter().map(|item| item.name).collect::<Vec<_>>());
        Ok(())
    };
    raw(
        &scene(),
        &mut Filtered::new(
            &fields(&["*Instance Count", "Binding Table Entry Count"]),
            &mut collect,
        ),
    );
    assert_eq!(
        items,
        [
            vec!["Binding Table Entry Count"],
            vec!["Instance Count"],
            vec!["Binding Table Entry Count"],
            vec!["Instance Count"],
            vec!["Instance Count"]
        ]
    );

    let draws = |draws| Filter { draws: Some(draws), ..Filter::default() };
    assert_eq!(
        names(&draws(1..=1), &scene()),
        ["3DSTATE_VF_TOPOLOGY", "3DSTATE_VS", "3DPRIMITIVE"]
    );
    assert_eq!(
        names(&draws(2..=3), &scene()),
        ["PIPE_CONTROL", "3DSTATE_VS", "3DPRIMITIVE", "3DSTATE_VF_TOPOLOGY", "3DPRIMITIVE"]
    );
    // The second packet: 3DSTATE_VS, after two dwords of topology.
    let range = within(BASE + 8..BASE + 12);
    assert_eq!(names(&range, &scene()), ["3DSTATE_VS"]);
    // An address inside a packet selects the packet. An address without a packet selects nothing.
    let inside = within(BASE + 20..BASE + 24);
    assert_eq!(names(&inside, &scene()), ["3DSTATE_VS"]);
    let nowhere = within(0..BASE);
    assert!(names(&nowhere, &scene()).is_empty());
    // Conditions of different types must all hold.
    let both = Filter { packets: vec![Glob::new("3DSTATE_VS")], ..draws(2..=2) };
    assert_eq!(names(&both, &scene()).len(), 1);
    assert!(Filter::default().is_empty() && !both.is_empty());
}

/// A filtered tree is a tree: a record is at most one level deeper than the one before it.
#[test]
fn filtered_records_nest() {
    let Some(corpus) = corpus::folder() else { return };
    let mut capture = open(&corpus.join("drivers/vk_triangle"));
    for (name, least) in
        [("RENDER_SURFACE_STATE", 2), ("3DSTATE_PS", 1), ("kernel", 1), ("3DPRIMITIVE", 1)]
    {
        let filter = Filter { packets: vec![Glob::new(name)], ..Filter::default() };
        let (mut last, mut found) = (None, 0);
        let mut collect = |record: &Record| {
            assert!(
                record.depth <= last.map_or(0, |last: u32| last + 1),
                "{name}: {} {}",
                record.name,
                record.depth
            );
            assert!(record.depth > 0 || record.name == name, "{} at the margin", record.name);
            last = Some(record.depth);
            found += usize::from(record.name == name);
            Ok(())
        };
        capture_into(&mut capture, &mut Filtered::new(&filter, &mut collect));
        assert!(found >= least, "{name}: {found}");
    }
}

fn capture_into(dump: &mut Dump, sink: &mut dyn Sink) {
    let decoder = Decoder::new(Tables::gen8(), Options { every_draw: true, ..Options::default() });
    decoder.submissions(dump, sink).unwrap();
    sink.finish().unwrap();
}

fn open(path: &Path) -> Dump {
    Dump::open(path, &How::default()).unwrap()
}

fn draws_of(feed: impl FnOnce(&mut dyn Sink)) -> Vec<Draw> {
    let mut all = Vec::new();
    let mut each = |draw: &Draw| {
        all.push(draw.clone());
        Ok(())
    };
    feed(&mut Draws::new(&mut each));
    all
}

#[test]
fn draws_with_what_they_draw() {
    let all = draws_of(|sink| raw(&scene(), sink));
    let numbers: Vec<u64> = all.iter().map(|draw| draw.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let counts: Vec<u64> = all.iter().map(|draw| draw.sizes[0].1).collect();
    assert_eq!((all[0].sizes[0].0, counts), ("Vertex Count Per Instance", vec![3, 6, 9]));
    assert_eq!(all[0].topology, Some("3DPRIM_TRILIST"));
    assert_eq!(all[2].topology, Some("3DPRIM_TRISTRIP"));
    // A real program that draws a triangle with a vertex and a pixel shader.
    let Some(corpus) = corpus::folder() else { return };
    let mut capture = open(&corpus.join("drivers/vk_triangle"));
    let all = draws_of(|sink| capture_into(&mut capture, sink));
    let triangle = all.iter().find(|draw| draw.topology == Some("3DPRIM_TRILIST"));
    let stages: Vec<&str> =
        triangle.expect("a triangle").kernels.iter().map(|kernel| kernel.stage).collect();
    assert!(stages.contains(&"VS") && stages.contains(&"PS"), "{stages:?}");
    let mut capture = open(&corpus.join("drivers/vk_saxpy"));
    let all = draws_of(|sink| capture_into(&mut capture, sink));
    let walker = all.iter().find(|draw| draw.name == "GPGPU_WALKER").expect("a dispatch");
    assert_eq!(walker.kernels.len(), 1, "{walker:?}");
}

/// The number of a named value of a field.
fn value(container: &str, field: &str, name: &str) -> u64 {
    let container = Tables::gen8().container(container).unwrap();
    let mut fields = container.fields.iter().filter(|other| other.name == field);
    let list = fields.find_map(|field| match field.ty {
        Type::Enum(list) => list.value_of(name),
        _ => None,
    });
    list.unwrap_or_else(|| panic!("no {name} of {field}"))
}

/// Memory at [`BASE`]: a batch with three draws, at 0x1000 the kernel of their pixel shader, at
/// 0x2000 its binding table with two render targets and a texture. The second draw has no pixel
/// shader, the third no depth buffer. Also returns the length of the batch.
fn targets() -> (Vec<u8>, u64) {
    let draw = |count| packet("3DPRIMITIVE", &[("Vertex Count Per Instance", count)]);
    let buffer = |kind| value("3DSTATE_DEPTH_BUFFER", "Surface Type", kind);
    let pixels = |on| {
        packet("3DSTATE_PS", &[("8 Pixel Dispatch Enable", on), ("Kernel Start Pointer 0", 0x40)])
    };
    let batch = [
        packet(
            "STATE_BASE_ADDRESS",
            &[
                ("Surface State Base Address", (BASE + 0x2000) >> 12),
                ("Surface State Base Address Modify Enable", 1),
                ("Instruction Base Address", BASE >> 12),
                ("Instruction Base Address Modify Enable", 1),
            ],
        ),
        packet("3DSTATE_BINDING_TABLE_POINTERS_PS", &[]),
        packet(
            "3DSTATE_DEPTH_BUFFER",
            &[
                ("Surface Type", buffer("SURFTYPE_2D")),
                ("Surface Format", value("3DSTATE_DEPTH_BUFFER", "Surface Format", "D32_FLOAT")),
                ("Surface Base Address", 0x70_0000),
                ("Width", 63),
                ("Height", 31),
            ],
        ),
        packet(
            "3DSTATE_STENCIL_BUFFER",
            &[("Stencil Buffer Enable", 1), ("Surface Base Address", 0x80_0000)],
        ),
        pixels(1),
        draw(3),
        pixels(0),
        draw(4),
        pixels(1),
        packet("3DSTATE_DEPTH_BUFFER", &[("Surface Type", buffer("SURFTYPE_NULL"))]),
        draw(5),
        packet("MI_BATCH_BUFFER_END", &[]),
    ]
    .concat();
    // Two writes of render targets, with the binding table indices 2 and 0.
    let code = "sendc (8|M0) null r112 0x5 0x08031002\n\
                sendc (8|M0) null r112 0x25 0x08031400 {EOT}";
    let kernel = assemble(code, Syntax::Iga, &asm::Options::default()).unwrap().dwords();
    let surface = |address: u64, width: u64, format: &str| {
        let stored = [
            ("Surface Type", value("RENDER_SURFACE_STATE", "Surface Type", "SURFTYPE_2D")),
            ("Surface Format", value("RENDER_SURFACE_STATE", "Surface Format", format)),
            ("Width", width - 1),
            ("Height", 15),
            ("Surface Base Address", address),
        ];
        packet("RENDER_SURFACE_STATE", &stored)
    };
    let mut dwords = batch.clone();
    dwords.resize(0x400, 0);
    dwords.extend(kernel);
    dwords.resize(0x800, 0);
    dwords.extend([0x40u32, 0x80, 0xc0]);
    dwords.resize(0x810, 0);
    dwords.extend(surface(0x40_0000, 64, "R8G8B8A8_UNORM"));
    dwords.extend(surface(0x50_0000, 16, "R8_UNORM"));
    dwords.extend(surface(0x60_0000, 32, "B8G8R8A8_UNORM"));
    let bytes = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    (bytes, 4 * batch.len() as u64)
}

/// Decodes [`targets`] into a sink.
fn decode_targets(options: Options, sink: &mut dyn Sink) -> Summary {
    let (bytes, length) = targets();
    let decoder = Decoder::new(Tables::gen8(), options);
    let memory = (BASE, &bytes[..]);
    let mut state = State::default();
    let summary = decoder.batch(&mut state, EngineId::Render, &memory, BASE, length, sink).unwrap();
    sink.finish().unwrap();
    summary
}

fn every_draw() -> Options {
    Options { every_draw: true, ..Options::default() }
}

#[test]
fn draws_with_kernels_and_targets() {
    let all = draws_of(|sink| _ = decode_targets(every_draw(), sink));
    let target = |address, index, format, width, height| Target {
        address,
        index: Some(index),
        format: Some(format),
        width: Some(width),
        height: Some(height),
        depth: Some(1),
    };
    let colours = [
        target(0x40_0000, 0, "R8G8B8A8_UNORM", 64, 16),
        target(0x60_0000, 2, "B8G8R8A8_UNORM", 32, 16),
    ];
    let depth = Target { index: None, ..target(0x70_0000, 0, "D32_FLOAT", 64, 32) };
    let [first, second, third] = &all[..] else { panic!("{all:#?}") };
    assert_eq!(first.targets, colours);
    assert_eq!(first.depth.as_ref(), Some(&depth));
    let stencil = Target { address: 0x80_0000, format: None, ..depth.clone() };
    assert_eq!(first.stencil, Some(stencil));
    assert_eq!((&second.targets[..], second.depth.as_ref()), (&[][..], Some(&depth)));
    assert!(second.kernels.is_empty());
    assert_eq!((&third.targets[..], third.depth.as_ref()), (&colours[..], None));
    for draw in [first, third] {
        let [kernel] = &draw.kernels[..] else { panic!("{draw:?}") };
        assert_eq!((kernel.stage, kernel.address, kernel.length), ("PS", BASE + 0x1000, Some(32)));
        assert!(kernel.lines[0].1.contains("sendc"), "{:?}", kernel.lines);
    }
    let plain = Options { kernels: false, ..every_draw() };
    let all = draws_of(|sink| _ = decode_targets(plain, sink));
    assert_eq!((all[2].kernels[0].length, all[2].kernels[0].lines.len()), (Some(32), 0));

    let json = serde_json::to_value(first).unwrap();
    for (path, expected) in [
        ("/draw", serde_json::json!(1)),
        ("/exec", serde_json::json!(0)),
        ("/sizes/Vertex Count Per Instance", serde_json::json!(3)),
        ("/kernels/0/stage", serde_json::json!("PS")),
        ("/kernels/0/address", serde_json::json!("0x11000")),
        ("/targets/1/index", serde_json::json!(2)),
        ("/targets/1/format", serde_json::json!("B8G8R8A8_UNORM")),
        ("/depth/address", serde_json::json!("0x700000")),
        ("/stencil/format", serde_json::Value::Null),
    ] {
        assert_eq!(json.pointer(path), Some(&expected), "{path}: {json:#}");
    }
}

/// A sink that leaves only the first field of a packet behind, and counts structures with their
/// memory.
#[derive(Default)]
struct Careless {
    structures: usize,
}

impl Sink for Careless {
    fn record(&mut self, _: &Record) -> io::Result<()> {
        Ok(())
    }

    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        assert!(record.items.is_empty(), "the fields are not decoded yet");
        unread.items(record);
        record.items.truncate(1);
        Ok(())
    }

    fn structure(&mut self, _: &Record, memory: &dyn genxml::decode::Memory) -> io::Result<()> {
        assert!(!memory.tail(BASE).is_empty());
        self.structures += 1;
        Ok(())
    }
}

/// Oracle: each sink alone.
#[test]
fn a_tee_gives_each_sink_what_it_gets_alone() {
    type Feed<'a> = &'a mut dyn FnMut(&mut dyn Sink) -> Summary;
    let text = |feed: Feed<'_>| {
        let mut out = Vec::new();
        feed(&mut TextWriter::new(&mut out, &every_draw()));
        out
    };
    let json = |feed: Feed<'_>| {
        let mut out = Vec::new();
        feed(&mut JsonWriter::new(&mut out, &every_draw()));
        out
    };
    let checked = |feed: Feed<'_>| {
        let mut out = Vec::new();
        let rules = Rules::gen8();
        let mut each = |finding: &Finding| out.push(finding.to_string());
        feed(&mut Checker::new(&rules, &mut each));
        out
    };
    let mut alone = |sink: &mut dyn Sink| decode_targets(every_draw(), sink);
    let (lines, values, findings) = (text(&mut alone), json(&mut alone), checked(&mut alone));
    let draws = draws_of(|sink| _ = alone(sink));
    let mut careless = Careless::default();
    let summary = alone(&mut careless);
    assert!(!lines.is_empty() && !values.is_empty() && !findings.is_empty() && !draws.is_empty());

    let first = careless.structures;
    let (mut out, mut objects, mut found, mut all) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    {
        let rules = Rules::gen8();
        let mut each = |finding: &Finding| found.push(finding.to_string());
        let mut each_draw = |draw: &Draw| {
            all.push(draw.clone());
            Ok(())
        };
        let (mut text, mut json) = (
            TextWriter::new(&mut out, &every_draw()),
            JsonWriter::new(&mut objects, &every_draw()),
        );
        let (mut checker, mut draws) =
            (Checker::new(&rules, &mut each), Draws::new(&mut each_draw));
        let mut last = Careless::default();
        let mut tee = Tee::new([&mut careless, &mut json, &mut checker, &mut text, &mut draws]);
        tee.push(&mut last);
        assert_eq!(alone(&mut tee), summary);
        assert_eq!(last.structures, first);
    }
    assert_eq!(careless.structures, 2 * first);
    assert!(first > 0);
    assert_eq!(String::from_utf8(out).unwrap(), String::from_utf8(lines).unwrap());
    assert_eq!(String::from_utf8(objects).unwrap(), String::from_utf8(values).unwrap());
    assert_eq!((found, all), (findings, draws));
}

/// A sink whose output cannot be written.
struct Full;

impl Sink for Full {
    fn record(&mut self, _: &Record) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn finish(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }
}

/// A sink that counts.
#[derive(Default)]
struct Finished {
    records: usize,
    is_finished: bool,
}

impl Sink for Finished {
    fn record(&mut self, _: &Record) -> io::Result<()> {
        self.records += 1;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.is_finished = true;
        Ok(())
    }
}

#[test]
fn a_tee_reports_the_first_error_and_finishes_all() {
    let mut records = 0;
    let mut count = |_: &Record| {
        records += 1;
        Ok(())
    };
    let (mut full, mut last) = (Full, Finished::default());
    let mut tee = Tee::new([&mut count, &mut full, &mut last]);
    let error = tee.record(&Record::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(tee.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!((records, last.records, last.is_finished), (1, 0, true));
}

#[test]
fn last_writes_before_a_draw() {
    let written = |what: &What, draw: u64| -> Option<Vec<Write>> {
        let mut sink = in_effect(Some(what), draw);
        raw(&scene(), &mut sink);
        sink.writes()
    };
    let vs = What::Named(Glob::new("3DSTATE_VS"));
    let entries = |draw| {
        let all = written(&vs, draw).expect("there is such a draw");
        assert_eq!(all.len(), 1);
        (all[0].record.item("Binding Table Entry Count").unwrap().stored, all[0].before_draw)
    };
    assert_eq!((entries(1), entries(2), entries(3)), ((1, 1), (2, 2), (2, 2)));
    assert!(written(&vs, 4).is_none(), "there are three draws");
    assert_eq!(written(&What::Named(Glob::new("3DSTATE_PS")), 1).map(|all| all.len()), Some(0));
    // All state.
    let mut sink = in_effect(None, 3);
    raw(&scene(), &mut sink);
    let all: Vec<&str> = sink.writes().unwrap().iter().map(|write| write.record.name).collect();
    assert_eq!(all, ["3DSTATE_VS", "3DSTATE_VF_TOPOLOGY"]);

    // Every write, and registers that have only a number.
    let mut packets = vec![vec![0x1100_0001, 0x7034, 0x1234]];
    packets.extend(scene());
    let all = |what: &What| {
        let mut found = Vec::new();
        let mut each = |write: &Write| {
            found.push((write.packet.0, write.before_draw, write.record.dwords.clone()));
            Ok(())
        };
        raw(&packets, &mut Writes::new(what, &mut each));
        found
    };
    assert_eq!(all(&What::Register(0x7034)), [("MI_LOAD_REGISTER_IMM", 1, vec![0x1234])]);
    assert!(all(&What::Register(0x7038)).is_empty());
    let places: Vec<u64> = all(&vs).iter().map(|write| write.1).collect();
    assert_eq!(places, [1, 2]);
}

fn tree(ignore: &Ignore, feed: impl FnOnce(&mut dyn Sink)) -> Tree {
    let mut tree = Tree::new(Tables::gen8(), ignore.clone());
    feed(&mut tree);
    tree
}

fn text(old: &Tree, new: &Tree) -> String {
    let mut out = Vec::new();
    write_text(&dumps(old, new), Show { color: false, context: 1 }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn differences_of_packets() {
    let plain = Ignore::default();
    let old = tree(&plain, |sink| raw(&scene(), sink));
    assert!(dumps(&old, &tree(&plain, |sink| raw(&scene(), sink))).is_empty());
    let mut changed = scene();
    changed[4] = packet("3DSTATE_VS", &[("Binding Table Entry Count", 7)]);
    changed.remove(3);
    changed.insert(7, packet("MI_NOOP", &[("Identification Number", 5)]));
    let new = tree(&plain, |sink| raw(&changed, sink));
    let found = text(&old, &new);
    assert!(found.contains("- PIPE_CONTROL"), "{found}");
    assert!(found.contains("~     Binding Table Entry Count: 2 -> 7 (dw3 25:18)"), "{found}");
    assert!(found.contains("+ MI_NOOP"), "{found}");
    let counts = dumps(&old, &new).counts();
    assert_eq!((counts.changed, counts.removed, counts.added), (1, 1, 1));
    // JSON has the same differences.
    let mut json = Vec::new();
    write_json(&dumps(&old, &new), &mut json).unwrap();
    let lines: Vec<serde_json::Value> = String::from_utf8(json)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let marks: Vec<&str> = lines.iter().filter_map(|line| line["change"].as_str()).collect();
    assert_eq!(marks, ["removed", "changed", "added"]);
    assert_eq!(lines[1]["fields"][0]["new"], "7");
    assert_eq!(lines[3]["same"], false);
    // Ignored fields are not compared.
    let without = Ignore { fields: vec![Glob::new("3DSTATE_VS.Binding*")], ..Ignore::default() };
    let mut only = scene();
    only[4] = changed[3].clone();
    let (old, new) =
        (tree(&without, |sink| raw(&scene(), sink)), tree(&without, |sink| raw(&only, sink)));
    assert!(dumps(&old, &new).is_empty(), "{}", text(&old, &new));
}

/// The test builds a batch, a descriptor and a kernel at a given address. If all of them move to
/// another address, only addresses differ.
#[test]
fn what_only_moved_is_the_same() {
    let bytes = |address: u64, threads: u64| -> Vec<u8> {
        let base = |name: &str| (format!("{name} Base Address"), address >> 12);
        let enable = |name: &str| (format!("{name} Base Address Modify Enable"), 1);
        let spaces = ["Dynamic State", "Instruction"];
        let fields: Vec<(String, u64)> =
            spaces.iter().flat_map(|name| [base(name), enable(name)]).collect();
        let fields: Vec<(&str, u64)> =
            fields.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let load = packet(
            "MEDIA_INTERFACE_DESCRIPTOR_LOAD",
            &[
                ("Interface Descriptor Total Length", 32),
                ("Interface Descriptor Data Start Address", 0x200),
            ],
        );
        let mut dwords = [
            packet("STATE_BASE_ADDRESS", &fields),
            load,
            packet("GPGPU_WALKER", &[]),
            packet("MI_BATCH_BUFFER_END", &[]),
        ]
        .concat();
        dwords.resize(0x200 / 4, 0);
        dwords.extend(packet(
            "INTERFACE_DESCRIPTOR_DATA",
            &[("Number of Threads in GPGPU Thread Group", threads)],
        ));
        dwords.resize(0x300 / 4, 0);
        dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
    };
    let made = |ignore: &Ignore, address: u64, threads: u64| {
        let bytes = bytes(address, threads);
        tree(ignore, |sink| at(address, &bytes, sink))
    };
    let plain = Ignore::default();
    let found = text(&made(&plain, 0x10000, 4), &made(&plain, 0x50000, 4));
    assert!(found.contains("Dynamic State Base Address: 0x10000 -> 0x50000"), "{found}");
    let moved = Ignore { addresses: true, ..Ignore::default() };
    let (one, two) = (made(&moved, 0x10000, 4), made(&moved, 0x50000, 4));
    assert!(dumps(&one, &two).is_empty(), "{}", text(&one, &two));
    // The data at a changed address are still compared.
    let other = made(&moved, 0x50000, 5);
    let found = text(&one, &other);
    assert!(found.contains("Number of Threads in GPGPU Thread Group: 4 -> 5"), "{found}");
    assert!(!found.contains("Base Address:"), "{found}");
}

/// Every capture equals itself. The text of the difference of two captures is empty only if there
/// is no difference.
#[test]
fn captures_are_like_themselves() {
    let mut before: Option<Tree> = None;
    for path in corpus::captures() {
        let ignore = Ignore { addresses: true, ..Ignore::default() };
        let make = |path: &Path| {
            let mut capture = open(path);
            tree(&ignore, |sink| capture_into(&mut capture, sink))
        };
        if std::fs::metadata(path.join("data.bin.zst")).unwrap().len() > 1 << 20 {
            continue;
        }
        let one = make(&path);
        assert!(dumps(&one, &one).is_empty(), "{}", path.display());
        if let Some(other) = before.replace(one) {
            let one = before.as_ref().unwrap();
            let diff = dumps(&other, one);
            let mut out = Vec::new();
            write_text(&diff, Show::default(), &mut out).unwrap();
            assert_eq!(diff.is_empty(), out.is_empty());
        }
    }
}

/// Oracle: Mesa's intel_dump_gpu recorded the program of the capture. Both have the same 3D state,
/// but the AUB file's batch is called from a ring.
#[test]
fn a_capture_and_an_aub_file_of_one_program() {
    let Some(corpus) = corpus::folder() else { return };
    let ignore = Ignore { addresses: true, ..Ignore::default() };
    let filter = Filter {
        packets: vec![Glob::new("3DSTATE_CLIP"), Glob::new("3DPRIMITIVE")],
        ..Filter::default()
    };
    let make = |path: &Path| {
        let mut tree = Tree::new(Tables::gen8(), ignore.clone());
        let mut packets = 0;
        let mut count = |record: &Record| {
            packets += u32::from(record.name == "3DPRIMITIVE");
            tree.record(record)
        };
        capture_into(&mut open(path), &mut Filtered::new(&filter, &mut count));
        tree.finish().unwrap();
        (tree, packets)
    };
    let (capture, draws) = make(&corpus.join("drivers/vk_triangle"));
    let (aub, others) = make(&corpus.join("aub/vk_triangle.aub.xz"));
    assert_eq!((draws, others), (5, 5));
    let counts = dumps(&capture, &aub).counts();
    assert!(counts.removed + counts.added < 4, "{counts:?}");
}

/// The first = of a condition ends the name.
#[test]
fn conditions_are_parsed() {
    use genxml::query::{Compare, FieldTest};
    let parsed = |text: &str| text.parse::<FieldTest>().map(|test| (test.name, test.value));
    let test =
        |name: &str, compare, value: &str| Ok((Glob::new(name), Some((compare, value.to_owned()))));
    assert_eq!(parsed("Width"), Ok((Glob::new("Width"), None)));
    assert_eq!(parsed("Width = 3"), test("Width", Compare::Same, "3"));
    assert_eq!(parsed("Width != 3"), test("Width", Compare::Other, "3"));
    assert_eq!(parsed("Width=a!=b"), test("Width", Compare::Same, "a!=b"));
    assert_eq!(parsed("Width!=a=b"), test("Width", Compare::Other, "a=b"));
    for (text, word) in
        [("=3", "no name"), ("!=3", "no name"), ("Width=", "no value"), ("Width==3", "==")]
    {
        let error = parsed(text).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("NAME=VALUE"), "{error}");
    }
}

/// A value of 64 bits is compared exactly: 2^53 + 1 has no double.
#[test]
fn large_values_are_compared_exactly() {
    let immediate = (1u64 << 53) + 1;
    let store = packet(
        "PIPE_CONTROL",
        &[("Post Sync Operation", 1), ("Address", 0x1000 >> 2), ("Immediate Data", immediate)],
    );
    let count = |value: u64| {
        let field = format!("Immediate Data={value}").parse().unwrap();
        shown(&Filter { fields: vec![field], ..Filter::default() }, std::slice::from_ref(&store))
            .len()
    };
    assert_eq!((count(immediate), count(immediate - 1)), (1, 0));
}
