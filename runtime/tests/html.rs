//! The HTML page: it loads nothing external, text from a dump cannot become markup, and its records
//! equal those of the JSON output. `tests/browser` has the tests that need a browser.

use genxml::batch::{Batch, Heap, Submission};
use genxml::core::address::{DynamicState, Instruction, SurfaceState};
use genxml::core::{Address, lit};
use genxml::decode::{self, Decoder, Format, Kind, Memory, Options, Record, Sink, State, Tables};
use genxml::dump::{self, Dump, How};
use genxml::engine::{EngineId, Render};
use genxml::gen8::{media, mi, state};
use genxml::html::{HtmlWriter, Page, Picture};
use genxml::pipeline::Gpgpu;
use genxml_testkit::{Random, corpus};
use serde_json::{Value, json};
use std::cell::Cell;

/// Names in hostile dumps.
const HOSTILE: &str =
    "</script><script>alert(1)</script><!-- \"'&<img src=x onerror=alert(1)>\u{202e}\0\n{{script}}";

/// The contents of the script elements with this opening tag.
fn elements<'a>(page: &'a str, open: &str) -> Vec<&'a str> {
    page.split(open)
        .skip(1)
        .map(|rest| rest.split_once("</script>").expect("elements are closed").0)
        .collect()
}

const DATA: &str = "<script type=\"application/json\" class=\"data\">";
const END: &str = "<script type=\"application/json\" class=\"end\">";

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// An address of the page's data, in the format of the JSON output.
fn hex(value: &Value) -> Value {
    if value.is_string() { value.clone() } else { json!(format!("{:#x}", number(value))) }
}

/// A field in the format of the JSON output.
fn field(strings: &[Value], item: &[Value]) -> Value {
    let string =
        |at: usize| item.get(at).map_or("", |value| text(&strings[number(value) as usize]));
    let (start, end) = (number(&item[3]), number(&item[4]));
    let dword = start / 32;
    let mut field = json!({
        "name": string(1),
        "dword": dword,
        "bits": format!("{}:{}", end - 32 * dword, start % 32),
    });
    if item[2] != json!(-1) {
        field["index"] = item[2].clone();
    }
    let value = &item[7];
    if item[6] == json!(0) {
        field["fields"] = json!([]);
        return field;
    }
    field["stored"] = item[5].clone();
    match number(&item[6]) {
        1..=4 => field["value"] = value.clone(),
        5 if *value == json!(-1) => field["value"] = item[5].clone(),
        5 => field["value"] = strings[number(value) as usize].clone(),
        6 => {
            let space = text(&strings[number(&value[1]) as usize]);
            field["value"] = hex(&value[0]);
            field["space"] = json!(space);
            if value[2] != json!(-1) && space != "graphics" {
                field["absolute"] = hex(&value[2]);
            }
            if value[3] != json!(0) {
                field["register"] = strings[number(&value[3]) as usize].clone();
            }
        }
        7 | 8 => {}
        other => panic!("items of type {other}"),
    }
    for (at, key) in [(8, "unit"), (9, "issue")] {
        if !string(at).is_empty() {
            field[key] = json!(string(at));
        }
    }
    field
}

/// Inserts `child` into the list `key` at nesting level `depth`.
fn nest(into: &mut Value, key: &str, depth: u64, child: Value) {
    if into.get(key).is_none() {
        into[key] = json!([]);
    }
    let list = into[key].as_array_mut().expect("a list");
    match list.last_mut() {
        Some(last) if depth > 0 => nest(last, key, depth - 1, child),
        _ => list.push(child),
    }
}

/// The lines of JSON output, from the data of a page.
fn lines(page: &str) -> Vec<Value> {
    let mut lines = Vec::new();
    for piece in elements(page, DATA) {
        let piece: Value = serde_json::from_str(piece).expect("pieces are JSON");
        let list = |key: &str| piece[key].as_array().expect("a list").clone();
        let (strings, items) = (list("strings"), list("items"));
        for record in list("records") {
            if record[0] == json!(-1) {
                let mut said = record[1].clone();
                said["kind"] = json!("submission");
                lines.push(said);
                continue;
            }
            let string = |at: usize| text(&strings[record.get(at).map_or(0, number) as usize]);
            let there = |at: usize| {
                record.get(at).filter(|value| **value != json!(-1) && **value != json!(0))
            };
            let mut line = json!({ "kind": string(0), "address": hex(&record[2]) });
            for (at, key) in [(3, "name"), (8, "note"), (9, "register")] {
                if !string(at).is_empty() {
                    line[key] = json!(string(at));
                }
            }
            if let Some(index) = record.get(4).filter(|index| **index != json!(-1)) {
                line["index"] = index.clone();
            }
            if let Some(length) = there(5) {
                line["length"] = length.clone();
            }
            let instructions =
                record.get(10).and_then(Value::as_array).cloned().unwrap_or_default();
            for pair in instructions.chunks(2) {
                let text = &strings[number(&pair[1]) as usize];
                let said = line.get_mut("instructions").and_then(Value::as_array_mut);
                let before = said.and_then(|said| said.last_mut());
                // A pair with the offset of the instruction before it is the message of that
                // instruction.
                match before.filter(|before| before["offset"] == pair[0]) {
                    Some(before) => before["message"] = json!(text),
                    None => {
                        nest(
                            &mut line,
                            "instructions",
                            0,
                            json!({ "offset": pair[0], "text": text }),
                        );
                    }
                }
            }
            if let Some(dwords) = record.get(6).filter(|_| instructions.is_empty()) {
                let dwords = text(dwords).as_bytes().chunks(8).map(|digits| {
                    u32::from_str_radix(std::str::from_utf8(digits).expect("digits"), 16)
                        .expect("eight digits")
                });
                let dwords: Vec<u32> = dwords.collect();
                if !dwords.is_empty() {
                    line["dwords"] = json!(dwords);
                }
            }
            for item in record.get(7).and_then(Value::as_array).into_iter().flatten() {
                let item = items[number(item) as usize].as_array().expect("an item");
                nest(&mut line, "fields", number(&item[0]), field(&strings, item));
            }
            let depth = number(&record[1]);
            match lines.last_mut() {
                Some(last) if depth > 0 => nest(last, "children", depth - 1, line),
                _ => lines.push(line),
            }
        }
    }
    lines
}

fn html_of(dump: &mut Dump) -> String {
    let mut out = Vec::new();
    let mut writer = HtmlWriter::new(&mut out, Page::default());
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    decoder.submissions(dump, &mut writer).expect("memory takes it");
    writer.finish().expect("memory takes it");
    String::from_utf8(out).expect("UTF-8")
}

fn json_of(dump: &mut Dump) -> String {
    let mut out = Vec::new();
    let options = Options { format: Format::Json, ..Options::default() };
    decode::dump(dump, &options, &mut out).expect("memory takes it");
    String::from_utf8(out).expect("UTF-8")
}

fn same_as_json(dump: &mut Dump) {
    let page = html_of(dump);
    let json = json_of(dump);
    let found = lines(&page);
    let wanted: Vec<Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(found.len(), wanted.len(), "{}", dump.name());
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!(found == wanted, "{}: found {found:#}\nwanted {wanted:#}", dump.name());
    }
    assert_eq!(page, html_of(dump), "the second output is the same");
}

/// A batch of two dispatches with everything that they point to.
fn compute() -> Submission {
    let mut kernels = Heap::<Instruction>::new("kernels", 0x30000, 4096).unwrap();
    let mut surfaces = Heap::<SurfaceState>::new("surfaces", 0x40000, 4096).unwrap();
    let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x50000, 4096).unwrap();
    // mov (8) r112<1>:ud r0<8;8,1>:ud, then the end of the thread.
    let kernel =
        [0x00600001, 0x2e000208, 0x008d0000, 0, 0x07800031, 0x20000a40, 0x0e000e00, 0x82000010];
    let surface = state::RenderSurfaceState {
        surface_type: state::SurfaceType::SURFTYPE_2D,
        surface_base_address: Address::new(0x60000).unwrap(),
        ..Default::default()
    };
    surfaces.put_dwords::<64, 32>("filler", &[0; 16]).unwrap();
    let surface = surfaces.put(&surface).unwrap();
    let descriptor = state::InterfaceDescriptorData {
        kernel_start_pointer: kernels.put_dwords("kernel", &kernel).unwrap(),
        binding_table_pointer: surfaces
            .put(&state::BindingTableState { surface_state_pointer: surface })
            .unwrap(),
        binding_table_entry_count: lit!(1),
        sampler_state_pointer: dynamic.put(&state::SamplerState::default()).unwrap(),
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
    let constants = dynamic.put_dwords("constants", &[0x3f800000; 16]).unwrap();
    let curbe = media::MediaCurbeLoad {
        curbe_total_data_length: lit!(64),
        curbe_data_start_address: constants,
    };
    batch.emit(&curbe).unwrap();
    let load = media::MediaInterfaceDescriptorLoad {
        interface_descriptor_total_length: lit!(32),
        interface_descriptor_data_start_address: dynamic.put(&descriptor).unwrap(),
    };
    batch.emit(&load).unwrap();
    for groups in [lit!(1), lit!(2)] {
        batch
            .emit(&media::GpgpuWalker { thread_group_id_x_dimension: groups, ..Default::default() })
            .unwrap();
    }
    batch.emit(&mi::MiNoop::default()).unwrap();
    Submission::new(
        batch.finish().unwrap(),
        [kernels.finish(), surfaces.finish(), dynamic.finish()],
    )
}

fn page_of(submission: &Submission, name: &str, mut writer: HtmlWriter<'_, &mut Vec<u8>>) {
    let said = dump::Submission {
        name,
        number: 0,
        context: 1,
        engine: EngineId::Render,
        memory: submission,
        address: submission.batch_address,
        length: submission.batch_length,
        global: false,
        ring: None,
    };
    writer.section(&said).unwrap();
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    decoder.submission(&mut State::default(), &said, &mut writer).unwrap();
    writer.finish().unwrap();
}

#[test]
fn the_data_are_the_records_of_json() {
    let everything = [0x7a00_0004, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0, 0];
    let foreign = [0x7fff_0001, 1, 2];
    let registers = [0x1100_0003, 0x2358, 5, 0x7034, 0xffff_ffff];
    let dwords: Vec<u32> = [&everything[..], &foreign, &registers, &[0x0500_0000]].concat();
    for address in [0, 0x1000, 0xffff_fffd_f000] {
        let bytes = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        same_as_json(&mut Dump::raw(EngineId::Render, address, bytes));
    }
}

/// Random dwords give more records than fit in one piece of the page's data. The first two thirds
/// of the dwords contain no packet that ends the batch or jumps out of it.
#[test]
fn large_batches_come_in_pieces() {
    const BATCH_BUFFER_END: u32 = 0x0a;
    const BATCH_BUFFER_START: u32 = 0x31;
    let mut random = Random::new(1);
    let bytes: Vec<u8> = (0..300_000)
        .flat_map(|n| {
            let dword = match random.below(4) {
                0 => 0x7800_0001 | (random.bits() as u32 & 0x07ff_0003),
                1 => 0x1100_0001,
                _ => random.bits() as u32,
            };
            let leaves = matches!(dword >> 23, BATCH_BUFFER_END | BATCH_BUFFER_START);
            if n < 200_000 && leaves { 0 } else { dword }.to_le_bytes()
        })
        .collect();
    let mut dump = Dump::raw(EngineId::Render, 0x10_0000, bytes);
    let page = html_of(&mut dump);
    assert!(elements(&page, DATA).len() > 1);
    same_as_json(&mut dump);
}

/// Oracle: the corpus.
#[test]
fn the_data_are_the_records_of_json_for_captures() {
    for path in corpus::captures() {
        same_as_json(&mut Dump::open(&path, &How::default()).unwrap());
    }
}

#[test]
fn nothing_that_a_dump_says_becomes_part_of_the_page() {
    let submission = compute();
    let mut out = Vec::new();
    let mut writer =
        HtmlWriter::new(&mut out, Page { input: HOSTILE.into(), hang: HOSTILE.into() });
    writer.remark(HOSTILE);
    let picture = |_: &state::RenderSurfaceState, _: &dyn Memory| {
        Some(Picture { png: b"not a picture".to_vec(), width: 1, height: 1, note: HOSTILE.into() })
    };
    page_of(&submission, HOSTILE, writer.with_pictures(&picture));
    let page = String::from_utf8(out).unwrap();
    let plain = {
        let mut out = Vec::new();
        page_of(&submission, "name", HtmlWriter::new(&mut out, Page::default()));
        String::from_utf8(out).unwrap()
    };
    for mark in ["<script", "</script", "<!--", "<img"] {
        let count = |page: &str| page.to_lowercase().matches(mark).count();
        assert_eq!(count(&page), count(&plain), "{mark} in the page");
    }
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    assert!(!page.contains('\0'));
    assert_eq!(lines(&page)[0]["name"], json!(HOSTILE), "the data contain it unchanged");
    let end: Value = serde_json::from_str(elements(&page, END)[0]).unwrap();
    assert_eq!(end["input"], json!(HOSTILE));
    assert_eq!(end["hang"], json!(HOSTILE));
    assert_eq!(end["remarks"], json!([HOSTILE]));
    let title = page.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    assert!(!title.contains('<') && title.starts_with("&lt;/script&gt;"), "{title}");
}

/// Every element is closed, attributes are quoted, and nothing is fetched.
#[test]
fn the_page_is_whole_and_alone() {
    let mut out = Vec::new();
    page_of(
        &compute(),
        "compute",
        HtmlWriter::new(&mut out, Page { input: "compute".into(), ..Page::default() }),
    );
    let page = String::from_utf8(out).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(!page.contains("{{") && page.contains("Content-Security-Policy"));
    for outside in
        ["http:", "https:", "//cdn", "@import", "url(", "src=\"", "innerHTML", "eval(", "fetch("]
    {
        assert!(!page.contains(outside), "{outside}");
    }
    // Check tags only: remove scripts and style first.
    let mut rest = page.as_str();
    let mut open: Vec<&str> = Vec::new();
    while let Some((_, tail)) = rest.split_once('<') {
        let (tag, after) = tail.split_once('>').expect("tags are closed");
        rest = after;
        if tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split_whitespace().next().expect("a name");
        if ["meta", "link", "input", "br"].contains(&name) {
            continue;
        }
        open.push(name);
        if ["script", "style"].contains(&name) {
            rest = &rest[rest.find(&format!("</{name}")).expect("closed")..];
        }
    }
    assert!(open.is_empty(), "{open:?} are open");
}

/// The page contains everything that the batch refers to, at the address in the field.
#[test]
fn pointers_lead_to_records() {
    let mut out = Vec::new();
    page_of(&compute(), "compute", HtmlWriter::new(&mut out, Page::default()));
    let page = String::from_utf8(out).unwrap();
    let mut addresses = Vec::new();
    let mut pointers = Vec::new();
    fn walk(line: &Value, addresses: &mut Vec<Value>, pointers: &mut Vec<(Value, Value)>) {
        if line["kind"] != json!("note") {
            addresses.push(line["address"].clone());
        }
        for field in line["fields"].as_array().into_iter().flatten() {
            if let Some(absolute) = field.get("absolute") {
                pointers.push((field["name"].clone(), absolute.clone()));
            }
        }
        for child in line["children"].as_array().into_iter().flatten() {
            walk(child, addresses, pointers);
        }
    }
    for line in &lines(&page) {
        walk(line, &mut addresses, &mut pointers);
    }
    for name in [
        "CURBE Data Start Address",
        "Interface Descriptor Data Start Address",
        "Kernel Start Pointer",
        "Binding Table Pointer",
        "Surface State Pointer",
    ] {
        let (_, to) = pointers.iter().find(|pointer| pointer.0 == json!(name)).expect(name);
        assert!(addresses.contains(to), "{name} leads to {to}, where nothing is");
    }
}

/// An image is requested once for each surface of a submission. Equal images are written once.
#[test]
fn pictures_are_bounded() {
    let asked = Cell::new(0);
    let picture = |_: &state::RenderSurfaceState, memory: &dyn Memory| {
        assert!(!memory.tail(0x40000).is_empty());
        asked.set(asked.get() + 1);
        Some(Picture { png: vec![7; 1000], width: 3, height: 2, note: String::new() })
    };
    let submission = compute();
    let mut out = Vec::new();
    let mut writer = HtmlWriter::new(&mut out, Page::default()).with_pictures(&picture);
    for number in 0..3 {
        let said = dump::Submission {
            name: "again",
            number,
            context: 1,
            engine: EngineId::Render,
            memory: &submission,
            address: submission.batch_address,
            length: submission.batch_length,
            global: false,
            ring: None,
        };
        writer.section(&said).unwrap();
        let decoder = Decoder::new(Tables::gen8(), Options::default());
        decoder.submission(&mut State::default(), &said, &mut writer).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(asked.get(), 3, "memory may differ from one submission to the next");
    let page = String::from_utf8(out).unwrap();
    let pieces: Vec<Value> =
        elements(&page, DATA).iter().map(|piece| serde_json::from_str(piece).unwrap()).collect();
    let pictures: Vec<&Value> =
        pieces.iter().flat_map(|piece| piece["pictures"].as_array().unwrap()).collect();
    assert_eq!(pictures.len(), 1);
    assert_eq!(&pictures[0].as_array().unwrap()[1..], [json!(3), json!(2), json!("")]);
    let shown = pieces[0]["records"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| record.get(11) == Some(&json!(0)));
    assert_eq!(shown.count(), 3);
}

/// A page without records is valid.
#[test]
fn nothing_is_a_page_too() {
    let mut out = Vec::new();
    let mut writer = HtmlWriter::new(&mut out, Page::default());
    writer.finish().unwrap();
    writer.finish().unwrap();
    let page = String::from_utf8(out).unwrap();
    assert_eq!(page.matches("</html>").count(), 1);
    assert!(lines(&page).is_empty());
}

/// Function sinks get structures like all other records.
#[test]
fn structures_reach_every_sink() {
    let submission = compute();
    let mut structures = 0;
    let mut sink = |record: &Record| {
        structures += u32::from(record.kind == Kind::Struct);
        Ok(())
    };
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let (address, length) = (submission.batch_address, submission.batch_length);
    decoder
        .batch(&mut State::default(), EngineId::Render, &submission, address, length, &mut sink)
        .unwrap();
    assert!(structures >= 3);
}
