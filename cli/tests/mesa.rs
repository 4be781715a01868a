//! Mesa's own decoding beside that of `genx decode` with Mesa's tables. Oracle: the text that
//! Mesa's drivers print with `INTEL_DEBUG=bat`. Skipped without `GENXML_MESA`, the folder of Mesa's
//! sources. `GENXML_MESA_BAT` may name a folder with more such texts: `GENERATION_*.txt`,
//! compressed or not.

use crate::common::genx;
use genxml::aub::decompressed;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder of Mesa's tables, `None` without `GENXML_MESA`.
fn tables() -> Option<PathBuf> {
    let Some(mesa) = std::env::var_os("GENXML_MESA") else {
        eprintln!("skipped: set GENXML_MESA to the folder of Mesa's sources");
        return None;
    };
    let folder = Path::new(&mesa).join("src/intel/genxml");
    assert!(folder.is_dir(), "GENXML_MESA: no folder {}", folder.display());
    Some(folder)
}

/// The texts, each with the generation of its GPU.
fn texts() -> Vec<(String, PathBuf)> {
    let mut texts = Vec::new();
    match genxml_testkit::corpus::folder() {
        Some(corpus) => {
            for (generation, name) in [("8", "bdw"), ("9", "skl")] {
                let path = corpus.join(format!("dumps/iris_bat/{name}_kmscube.mesa.txt.xz"));
                texts.push((generation.to_owned(), path));
            }
        }
        None => eprintln!("skipped: the corpus is not there"),
    }
    if let Some(folder) = std::env::var_os("GENXML_MESA_BAT") {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            let generation = name.split('_').next().unwrap().to_owned();
            texts.push((generation, path));
        }
    }
    texts
}

/// The lines `NAME: VALUE` of a packet, structure or register in Mesa's text.
#[derive(Debug, Default)]
struct Block {
    /// What the block is, for messages.
    title: String,
    address: u64,
    dwords: u64,
    fields: Vec<(String, String)>,
}

/// The blocks of Mesa's text. A structure inside a packet is a block of its own.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut title = String::new();
    let mut packet = String::new();
    let mut at = 0;
    for line in text.lines() {
        let dword = line.split_once(" : Dword ").and_then(|(start, index)| {
            let address = start.strip_prefix("0x")?.split(':').next()?;
            let address = u64::from_str_radix(address, 16).ok()? & 0xffff_ffff_ffff;
            Some((address, index.trim().parse::<u64>().ok()?))
        });
        if let Some((address, index)) = dword {
            let start = address.wrapping_sub(4 * index);
            let open = blocks.iter().rposition(|block| block.address == start);
            at = match open.filter(|_| index > 0) {
                Some(open) => open,
                None => {
                    let title = format!("{packet} {title}");
                    blocks.push(Block { title, address: start, ..Block::default() });
                    blocks.len() - 1
                }
            };
            blocks[at].dwords = blocks[at].dwords.max(index + 1);
        } else if let Some(field) = line.strip_prefix("    ") {
            if let Some((name, value)) = field.split_once(": ")
                && !value.starts_with("<struct ")
                && !name.starts_with(' ')
                && let Some(block) = blocks.get_mut(at)
            {
                block.fields.push((name.to_owned(), value.to_owned()));
            }
        } else if let Some((_, name)) = line.split_once(":  ").filter(|_| line.starts_with("0x")) {
            packet = name.split(":  ").nth(1).unwrap_or_default().trim().to_owned();
            title.clear();
        } else {
            title = line.trim().to_owned();
        }
    }
    blocks
}

/// A field in the JSON of `genx decode`.
struct Field {
    name: String,
    stored: u64,
    value: Value,
}

/// The fields of all packets and structures by the address of the dword that they start in, and the
/// addresses of all decoded dwords. Each record is listed once. Registers are listed by their
/// offset and value.
#[derive(Default)]
struct Decoded {
    fields: BTreeMap<u64, Vec<Field>>,
    registers: BTreeMap<(u64, u64), Vec<Field>>,
    dwords: BTreeSet<u64>,
    records: BTreeSet<(u64, String)>,
}

impl Decoded {
    fn record(&mut self, record: &Value) {
        let address = record["address"].as_str().and_then(|text| text.strip_prefix("0x"));
        let address = address.map_or(0, |text| u64::from_str_radix(text, 16).unwrap());
        let name = record["name"].as_str().unwrap_or_default().to_owned();
        if record["kind"] == "register" {
            let mut fields = Vec::new();
            list(&record["fields"], &mut |_, field| fields.push(field));
            let value = record["dwords"][0].as_u64().unwrap_or_default();
            self.registers.insert((address, value), fields);
        } else if record["kind"] != "submission" && self.records.insert((address, name)) {
            let count = record["dwords"].as_array().map_or(0, Vec::len) as u64;
            self.dwords.extend((0..count).map(|dword| address + 4 * dword));
            list(&record["fields"], &mut |dword, field| {
                self.fields.entry(address + 4 * dword).or_default().push(field);
            });
        }
        for child in record["children"].as_array().into_iter().flatten() {
            self.record(child);
        }
    }
}

/// Calls `each` for each field with the number of its dword, also for those of inner structures.
fn list(fields: &Value, each: &mut dyn FnMut(u64, Field)) {
    for field in fields.as_array().into_iter().flatten() {
        if field["fields"].is_array() {
            list(&field["fields"], each);
            continue;
        }
        let found = Field {
            name: field["name"].as_str().unwrap().to_owned(),
            stored: field["stored"].as_u64().unwrap_or_default(),
            value: field["value"].clone(),
        };
        each(field["dword"].as_u64().unwrap(), found);
    }
}

/// The letters and digits of a name: versions of the tables differ in the others.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// True if Mesa's text of a value means the decoded value.
fn is_equal(mesa: &str, field: &Field) -> bool {
    let number = mesa.split(' ').next().unwrap();
    if let Some(hexadecimal) = number.strip_prefix("0x") {
        let number = u64::from_str_radix(hexadecimal, 16).unwrap();
        let ours = match &field.value {
            Value::String(text) => text
                .strip_prefix("0x")
                .and_then(|text| u64::from_str_radix(text, 16).ok())
                .unwrap_or(field.stored),
            Value::Number(value) => value.as_u64().unwrap_or(field.stored),
            _ => field.stored,
        };
        // Mesa extends the sign of addresses.
        return number == ours || number & 0xffff_ffff_ffff == ours & 0xffff_ffff_ffff;
    }
    match &field.value {
        Value::Bool(value) => mesa == value.to_string() || number.parse() == Ok(field.stored),
        Value::String(name) => {
            let named = mesa.split_once('(').map(|(_, name)| name.trim_end_matches(')'));
            let named = named.map(|mesa| letters(mesa.trim_start_matches("ISL_FORMAT_")));
            let same = named.is_none_or(|mesa| mesa == letters(name));
            number.parse() == Ok(field.stored) && same
        }
        Value::Number(value) => {
            let (Ok(mesa), Some(ours)) = (number.parse::<f64>(), value.as_f64()) else {
                return false;
            };
            // Mesa prints six digits after the point, and signed numbers without their sign.
            (mesa - ours).abs() <= 1e-6 * mesa.abs().max(1.0) || mesa == field.stored as f64
        }
        _ => number.parse() == Ok(field.stored),
    }
}

/// What the comparison of a text found.
#[derive(Debug, Default, PartialEq)]
struct Found {
    blocks: usize,
    equal: usize,
    /// Fields that the tables of this version do not have.
    unknown: usize,
    /// Fields with another value, and fields that the tables have and the decoding has not.
    wrong: Vec<String>,
    /// Structures that the decoding does not reach.
    unreached: Vec<String>,
}

fn compare(mesa: &str, decoded: &Decoded, tables: &Tables, found: &mut Found) {
    let mut seen = BTreeSet::new();
    for block in blocks(mesa) {
        // The same structure may be printed again for a later packet.
        if !seen.insert((block.address, block.title.clone())) {
            continue;
        }
        found.blocks += 1;
        let end = block.address + 4 * block.dwords;
        let there: Vec<&Field> = match block.title.split_once(" register ") {
            Some((_, register)) => {
                let value = register.rsplit_once("0x").map(|(_, value)| value).unwrap();
                let value = u64::from_str_radix(value, 16).unwrap();
                let fields = decoded.registers.get(&(block.address, value));
                fields.into_iter().flatten().collect()
            }
            None => {
                let range = decoded.fields.range(block.address..end);
                range.flat_map(|(_, fields)| fields).collect()
            }
        };
        if there.is_empty() && !decoded.dwords.contains(&block.address) {
            found.unreached.push(format!("{} at {:#x}", block.title, block.address));
            continue;
        }
        let mut fields: BTreeMap<&str, VecDeque<&Field>> = BTreeMap::new();
        for field in there {
            fields.entry(&field.name).or_default().push_back(field);
        }
        let mut named = decoded.records.range((block.address, String::new())..);
        let container = named.next().filter(|(address, _)| *address == block.address);
        let container = container.map(|(_, name)| name.as_str());
        for (name, value) in &block.fields {
            let name = name.split('[').next().unwrap();
            let lines = tables.lines_of(container, name);
            // Mesa's files have a name that ends with a space.
            match fields.get_mut(name.trim_end()).and_then(VecDeque::pop_front) {
                Some(field) if is_equal(value, field) => found.equal += 1,
                // Of a register of 64 bits, Mesa reads the dword after the one that is loaded, too.
                Some(field)
                    if block.title.contains(" register ")
                        && value
                            .parse::<u64>()
                            .is_ok_and(|it| it as u32 == field.stored as u32) =>
                {
                    found.equal += 1;
                }
                Some(field) => found.wrong.push(format!(
                    "{} at {:#x}: {name}: Mesa {value}, genx {}",
                    block.title, block.address, field.value
                )),
                // genx shows neither the length nor bits that must have a value and have it.
                None if name == "DWord Length" || is_fixed(&lines, value) => {}
                // Mesa reads the pairs of this packet wrong: see `peers.rs` of genxml's tests.
                None if block.title.starts_with("MI_LOAD_REGISTER_IMM") => {}
                None if !lines.is_empty() => found.wrong.push(format!(
                    "{} at {:#x}: {name}: Mesa {value}, genx has no such field",
                    block.title, block.address
                )),
                None => found.unknown += 1,
            }
        }
    }
}

/// True if one of a field's lines in the tables says that it must have this value.
fn is_fixed(lines: &[&str], value: &str) -> bool {
    let kind = match value {
        "true" => "type=\"mbo\"",
        "false" | "0" => "type=\"mbz\"",
        _ => return false,
    };
    lines.iter().any(|line| line.contains(kind))
}

/// The texts of a file of tables and of the files that it imports, its own first.
struct Tables(Vec<String>);

impl Tables {
    fn read(folder: &Path, file: &str) -> Tables {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let imported: Vec<String> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("<import name=\"")?.split('"').next())
            .flat_map(|name| Tables::read(folder, name).0)
            .collect();
        Tables([text].into_iter().chain(imported).collect())
    }

    /// The lines that describe a field of a container, or of any container if it is not known.
    fn lines_of(&self, container: Option<&str>, field: &str) -> Vec<&str> {
        let field = format!("<field name=\"{}\"", field.replace('&', "&amp;"));
        let described = container.and_then(|container| {
            self.0.iter().find_map(|text| {
                ["instruction", "struct", "register"].iter().find_map(|kind| {
                    let start = text.find(&format!("<{kind} name=\"{container}\""))?;
                    let end = text[start..].find(&format!("</{kind}>"))?;
                    Some(&text[start..start + end])
                })
            })
        });
        let texts: Vec<&str> = match described {
            Some(text) => vec![text],
            None => self.0.iter().map(String::as_str).collect(),
        };
        texts.iter().flat_map(|text| text.lines()).filter(|line| line.contains(&field)).collect()
    }
}

/// The kinds and names of all records, with their numbers.
fn counts(arguments: &[&str]) -> BTreeMap<(String, String), usize> {
    fn add(record: &Value, counts: &mut BTreeMap<(String, String), usize>) {
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        if record["kind"] != "submission" {
            *counts.entry((text("kind"), text("name"))).or_default() += 1;
        }
        for child in record["children"].as_array().into_iter().flatten() {
            add(child, counts);
        }
    }
    let output = genx([&["decode", "--format", "json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut counts = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        add(&serde_json::from_str(line).unwrap(), &mut counts);
    }
    counts
}

/// With Mesa's tables of Gen8, captures of Broadwell decode to the same packets, structures,
/// kernels and data as with those of the manual. Mesa's tables lack commands of the blitter and two
/// registers.
#[test]
fn captures_decode_the_same_with_mesas_tables() {
    let Some(folder) = tables() else { return };
    let folder = folder.to_string_lossy();
    let captures = genxml_testkit::corpus::captures();
    if captures.is_empty() {
        eprintln!("skipped: the corpus is not there");
    }
    for capture in captures {
        let path = capture.to_string_lossy();
        let mut own = counts(&[&path]);
        let mut mesa = counts(&["--spec", &folder, &path]);
        let is_known = |(kind, name): &(String, String), _: &mut usize| {
            !(name.starts_with("XY_")
                || name == "unknown blitter command"
                || kind == "register" && name.starts_with("MI_PREDICATE_SRC"))
        };
        own.retain(is_known);
        mesa.retain(is_known);
        let other: Vec<_> = mesa
            .keys()
            .chain(own.keys())
            .filter(|key| mesa.get(key) != own.get(key))
            .map(|key| (key, mesa.get(key), own.get(key)))
            .collect();
        assert!(other.is_empty(), "{path}: {other:?}");
    }
}

#[test]
fn fields_and_structures_of_mesas_text() {
    let Some(folder) = tables() else { return };
    for (generation, path) in texts() {
        let mut mesa = String::new();
        decompressed(&path).unwrap().read_to_string(&mut mesa).unwrap();
        let (tables, text) = (folder.to_string_lossy(), path.to_string_lossy());
        let output = genx([
            "decode",
            "--unused",
            "--format",
            "json",
            "--gen",
            &generation,
            "--spec",
            &tables,
            &text,
        ]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Batches may have the same addresses, so each is compared alone.
        let mut decoded: Vec<Decoded> = Vec::new();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if record["kind"] == "submission" {
                decoded.push(Decoded::default());
            }
            decoded.last_mut().unwrap().record(&record);
        }
        let number = generation.replace('.', "");
        let names = [format!("gen{number}.xml"), format!("gen{number}0.xml")];
        let file = names.iter().find(|name| folder.join(name).exists()).unwrap();
        let tables = Tables::read(&folder, file);
        let batches: Vec<&str> = mesa.split(" flush with ").skip(1).collect();
        assert_eq!(batches.len(), decoded.len(), "{}", path.display());
        let mut found = Found::default();
        for (mesa, decoded) in batches.into_iter().zip(&decoded) {
            compare(mesa, decoded, &tables, &mut found);
        }
        println!(
            "{}: {} blocks, {} fields equal, {} of another version of the tables",
            path.display(),
            found.blocks,
            found.equal,
            found.unknown
        );
        assert!(found.wrong.is_empty(), "{}: {:#?}", path.display(), found.wrong);
        assert!(found.unreached.is_empty(), "{}: {:#?}", path.display(), found.unreached);
        assert!(found.equal > 1000, "{}: {found:#?}", path.display());
    }
}
