//! The contract of `genx why --slice`, `--memory` and `--register`, and runs of captures with only
//! those packets that the history of a pixel names.

use crate::common::{demo_capture, fill_capture, finish, genx};
use genx::demo::Name;
use genxml::capture::Capture;
use genxml_sim::inspect::history::Meaning;
use genxml_sim::machine::events::{Event, Now, Observer};
use genxml_sim::mem::Client;
use genxml_sim::pixel_history::{Answer, Question, WhyError, of_capture};
use genxml_sim::replay::{Replay, Skipped, Step};
use genxml_testkit::{Random, corpus};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tempfile::{TempDir, tempdir};

fn why(capture: &Path, more: &[&str]) -> (i32, String, String) {
    finish(genx([&["why", capture.to_str().unwrap()], more].concat()))
}

fn json(capture: &Path, more: &[&str]) -> Json {
    let (code, out, err) = why(capture, &[more, &["--format", "json"]].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    serde_json::from_str(&out).unwrap()
}

fn demo(name: Name) -> TempDir {
    let directory = tempdir().unwrap();
    demo_capture(name, directory.path());
    directory
}

/// The number of an instruction's operand, by name.
fn operand<'j>(node: &'j Json, name: &str) -> &'j Json {
    let operands = node["operands"].as_array().unwrap();
    operands.iter().find(|operand| operand["name"] == name).unwrap()
}

/// A pixel of the textured floor. Oracle: the kernel of the demo: two planes make the coordinates,
/// a message samples the texture, a message writes the colour.
#[test]
fn a_texture() {
    let capture = demo(Name::Texture);
    let answer = json(capture.path(), &["--pixel", "100,200", "--slice"]);
    let made = &answer["slice"];
    assert_eq!(
        (&made["how"], &made["writer"]["packet"]),
        (&"thread".into(), &"3DPRIMITIVE".into())
    );
    let thread = &made["thread"];
    let nodes = thread["instructions"].as_array().unwrap();
    let texts: Vec<&str> = nodes
        .iter()
        .map(|node| node["text"].as_str().unwrap().split(' ').next().unwrap())
        .collect();
    assert_eq!(texts, ["pln", "pln", "send", "sendc"]);
    // The colour is the response of the sampler, and the value of the pixel.
    let red = operand(&nodes[3], "red");
    assert_eq!(red["from"], serde_json::json!([2]));
    let color = answer["value"]["color"][0].as_f64().unwrap();
    assert!((red["element"]["float"].as_f64().unwrap() - color).abs() < 1.0 / 255.0);
    // The coordinates of the four pixels of the quad decide about the level of detail.
    let payload = nodes[2]["operands"].as_array().unwrap();
    assert_eq!(payload.iter().filter(|it| it["from"] == serde_json::json!([0])).count(), 4);
    assert_eq!(payload.iter().filter(|it| it["from"] == serde_json::json!([1])).count(), 4);
    // Texels of one pixel only, all written by the program.
    let reads = nodes[2]["reads"].as_array().unwrap();
    let bytes: u64 = reads.iter().map(|read| read["bytes"].as_u64().unwrap()).sum();
    assert!((4..=32).contains(&bytes), "{bytes} bytes: at most two levels of four texels");
    assert!(reads.iter().all(|read| read["writer"]["kind"] == "host"));
    let sources: BTreeSet<&str> = thread["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| input["source"]["kind"].as_str().unwrap())
        .collect();
    assert_eq!(sources, ["attribute", "barycentric"].into());
    // The state has the packet of the samplers.
    let packets = made["state"]["packets"].as_array().unwrap();
    assert!(packets.iter().any(|it| it["packet"] == "3DSTATE_SAMPLER_STATE_POINTERS_PS"));
}

/// A register between the instructions. Oracle: the first instruction makes r11 of the channels
/// from 8 on from attribute 0 x, so the slice has that instruction and the one that was asked for.
#[test]
fn a_register() {
    let capture = demo(Name::Texture);
    let options = ["--pixel", "100,200", "--slice", "--register", "r11.0:f", "--at", "0x20"];
    let answer = json(capture.path(), &options);
    let nodes = answer["slice"]["thread"]["instructions"].as_array().unwrap();
    let offsets: Vec<&str> = nodes.iter().map(|node| node["offset"].as_str().unwrap()).collect();
    assert_eq!(offsets, ["0x0", "0x20"]);
    assert_eq!(operand(&nodes[1], "register")["from"], serde_json::json!([0]));
    let (code, out, _) = why(capture.path(), &options);
    assert!(code == 0 && out.contains("from attribute 0 x, at vertex 0"), "{out}");
    // An instruction that is not there, and bad registers.
    let missing = ["--pixel", "100,200", "--slice", "--register", "r2.0", "--at", "0x24"];
    let (code, out, _) = why(capture.path(), &missing);
    assert!(code == 0 && out.contains("does not execute an instruction at +0x24"), "{out}");
    for bad in [
        &["--pixel", "1,1", "--slice", "--register", "r200.0", "--at", "0"][..],
        &["--pixel", "1,1", "--slice", "--register", "r2.0"][..],
        &["--pixel", "1,1", "--register", "r2.0", "--at", "0"][..],
        &["--pixel", "1,1", "--depth", "2"][..],
        &["--slice"][..],
        &["--memory", "0x1000,0"][..],
        &["--memory", "0x1000", "--pixel", "1,1"][..],
    ] {
        let (code, out, _) = why(capture.path(), bad);
        assert_eq!((code, out.as_str()), (2, ""), "{bad:?}");
    }
}

/// Memory that compute threads write.
#[test]
fn memory_and_its_writers() {
    let directory = tempdir().unwrap();
    fill_capture(directory.path(), |_| ());
    let (code, _, err) = why(directory.path(), &["--memory", "0x7770000,4"]);
    assert!(code == 2 && err.contains("maps"), "{err}");
    let capture = demo(Name::Fill);
    for (end, message) in [
        (&["--after", "draw", "1"][..], "write --after exec N"),
        (&["--after", "exec", "7"][..], "there is no submission 7; there are 1"),
        (&["--frame", "3"][..], "there is no frame 3"),
    ] {
        let (code, out, err) = why(capture.path(), &[&["--memory", "0x1000000"], end].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(message), "{err}");
    }
    let found = json(capture.path(), &["--memory", "0x1000000", "--slice"]);
    let changes = found["changes"].as_array().unwrap();
    let Some(last) = changes.last() else { panic!("{found:#}") };
    assert_eq!(last["kind"], "dispatch", "{found:#}");
    assert_eq!(found["slice"]["how"], "thread");
    let nodes = found["slice"]["thread"]["instructions"].as_array().unwrap();
    assert!(!nodes.last().unwrap()["message"].is_null());
}

/// Removes the members of a slice that an AUB file does not have or has in another way: the
/// numbers of submissions in the capture, and values before the host wrote the first ones.
fn without_labels(json: &mut Json) {
    match json {
        Json::Object(members) => {
            members.remove("exec");
            members.remove("old");
            members.values_mut().for_each(without_labels);
        }
        Json::Array(list) => list.iter_mut().for_each(without_labels),
        _ => {}
    }
}

/// The slice of memory that a dispatch wrote, in an AUB file. Oracle: the slice in the capture of
/// which the AUB file is made.
#[test]
fn a_dispatch_in_an_aub_file() {
    let capture = demo(Name::Fill);
    let file = capture.path().join("fill.aub");
    let paths = [capture.path().to_str().unwrap(), file.to_str().unwrap()];
    let (code, _, err) = finish(genx(["convert", paths[0], "-o", paths[1]]));
    assert_eq!(code, 0, "{err}");
    let options = ["--memory", "0x1000040", "--slice"];
    let [mut expected, mut found] = [capture.path(), &file].map(|path| json(path, &options));
    let nodes = found["slice"]["thread"]["instructions"].as_array().unwrap();
    assert!(nodes.last().unwrap()["message"].is_string(), "{found:#}");
    without_labels(&mut expected);
    without_labels(&mut found);
    assert_eq!(found["slice"]["thread"], expected["slice"]["thread"]);
}

/// A dispatch in an AUB file of Mesa's tools. Oracle: element i is 3 i + (1000 - 2 i), from the
/// expectation of the capture of the same program, and the slice in this capture.
#[test]
fn a_dispatch_in_an_aub_file_of_a_driver() {
    let Some(folder) = corpus::folder() else { return };
    let file = folder.join("aub/vk_saxpy.aub.xz");
    let element = |path: &Path, i: u64| {
        let address = format!("{:#x}", 0xfffe_ffff_9000 + 4 * i);
        json(path, &["--memory", &address, "--slice"])
    };
    // The dispatch leaves element 0 unchanged.
    for i in [1, 4, 999] {
        let mut found = element(&file, i);
        let nodes = found["slice"]["thread"]["instructions"].as_array().unwrap();
        let mad = nodes.iter().find(|node| node["text"].as_str().unwrap().contains("mad"));
        let value = |at: usize| &mad.unwrap()["operands"][at]["element"]["float"];
        let values = [0, 1, 2].map(|at| value(at).as_f64().unwrap());
        assert_eq!(values, [1000.0 - 2.0 * i as f64, i as f64, 3.0]);
        let mut expected = element(&folder.join("drivers/vk_saxpy"), i);
        without_labels(&mut expected);
        without_labels(&mut found);
        assert_eq!(found["slice"]["thread"], expected["slice"]["thread"], "{i}");
    }
}

/// The memory that a draw, blit or dispatch reads and writes, besides its render targets.
#[derive(Default)]
struct Footprint {
    seq: u64,
    address: u64,
    dwords: usize,
    works: bool,
    reads: BTreeSet<u64>,
    writes: BTreeSet<u64>,
}

/// Bytes of a unit of memory in [`Footprint`].
const UNIT: u64 = 64;

/// Collects the footprints of a run.
#[derive(Default)]
struct Footprints {
    seq: u64,
    current: Footprint,
    all: Vec<Footprint>,
}

impl Observer for Footprints {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Packet { at, dwords, .. } => {
                self.current = Footprint {
                    seq: self.seq,
                    address: at.address,
                    dwords: dwords.len(),
                    ..Footprint::default()
                };
            }
            Event::Draw(_) | Event::Blit(_) | Event::Dispatch { .. } => self.current.works = true,
            Event::Accesses { list, .. } => {
                for access in *list {
                    let units = access.physical / UNIT
                        ..(access.physical + u64::from(access.bytes)).div_ceil(UNIT);
                    match (access.write, access.client) {
                        (true, _) => self.current.writes.extend(units),
                        // Blending reads the pixel itself, whose writers the history has.
                        (false, Client::RenderTarget) => {}
                        (false, _) => self.current.reads.extend(units),
                    }
                }
            }
            Event::Memory { after: Some(_), .. } => {
                let done = std::mem::take(&mut self.current);
                if done.works {
                    self.all.push(done);
                }
            }
            _ => {}
        }
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}

/// The packets that the history of a pixel does not name, and that wrote nothing that the named
/// ones read, directly or through others.
fn unnamed(footprints: &[Footprint], answer: &Answer) -> Vec<Skipped> {
    let named: BTreeSet<(u64, u64)> =
        answer.entries.iter().filter_map(|entry| Some((entry.label?, entry.at?.address))).collect();
    let mut needed = BTreeSet::new();
    let mut reads: BTreeMap<u64, ()> = BTreeMap::new();
    let mut skipped = Vec::new();
    for footprint in footprints.iter().rev() {
        let is_read = footprint.writes.iter().any(|unit| reads.contains_key(unit));
        if named.contains(&(footprint.seq, footprint.address)) || is_read {
            needed.insert((footprint.seq, footprint.address));
            reads.extend(footprint.reads.iter().map(|unit| (*unit, ())));
        } else {
            let Footprint { seq, address, dwords, .. } = *footprint;
            skipped.push(Skipped { seq, address, dwords });
        }
    }
    // A packet that runs several times in a submission is skipped only if no run is needed.
    skipped.retain(|packet| !needed.contains(&(packet.seq, packet.address)));
    skipped.dedup();
    skipped
}

/// The bytes of the pixel after each submission, the last ones while its memory exists.
fn replayed(capture: &Capture, answer: &Answer, skipped: &[Skipped]) -> Option<Vec<u8>> {
    let (probe, value) = (&answer.probe, answer.value.as_ref()?);
    let mut replay = Replay::new(capture);
    skipped.iter().for_each(|packet| replay.skip(*packet));
    let mut bytes = None;
    while let Some(step) = replay.step() {
        if let Step::Exec { result: Err(fault), .. } = step {
            panic!("{fault}");
        }
        if replay.object_at(probe.physical).is_some() {
            let mut found = vec![0; value.bytes.len()];
            replay.gpu().memory.read_physical(probe.physical, &mut found)?;
            bytes = Some(found);
        }
    }
    bytes
}

/// Oracle: the memory after a run of the whole capture. At least some packets must be skipped, and
/// without the named ones, some pixels must differ.
#[test]
fn the_named_packets_reproduce_the_pixel() {
    let mut random = Random::new(31);
    // Two pixels of each capture; GENXML_MUTATIONS sets another number.
    let pixels_of_each =
        std::env::var("GENXML_MUTATIONS").map_or(2, |count| count.parse().expect("a number"));
    let (mut captures, mut pixels, mut without, mut changed) = (0, 0, 0, 0);
    let folders = corpus::captures().into_iter().filter(|path| !path.ends_with("pg_xfb"));
    for path in folders {
        let capture = Capture::open(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let question = |at| Question { at, sample: 0, target: None, until: None };
        let first = match of_capture(&capture, &question([0, 0]), &|_| ()) {
            Ok(answer) if answer.stop.is_none() => answer,
            Ok(_) | Err(WhyError::History(_) | WhyError::Stopped { .. }) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let mut footprints = Footprints::default();
        let mut replay = Replay::new(&capture);
        for event in capture.events() {
            if let genxml::capture::Event::Exec(exec) = event {
                footprints.seq = exec.seq;
            }
            replay.step_observed(&mut footprints);
        }
        captures += 1;
        let level = first.probe.view.level;
        for _ in 0..pixels_of_each {
            let at = [level.width, level.height].map(|size| random.below(size.into()) as u32);
            let answer = of_capture(&capture, &question(at), &|_| ()).unwrap();
            let value = answer.value.as_ref().unwrap();
            let is_plain = answer.probe.view.surface.auxiliary.base == 0
                && answer.probe.view.meaning == Meaning::Color;
            if !is_plain || value.cleared {
                continue;
            }
            let skipped = unnamed(&footprints.all, &answer);
            let found = replayed(&capture, &answer, &skipped).unwrap();
            assert_eq!(found, value.bytes, "{name} {at:?}, without {skipped:x?}");
            without += skipped.len();
            pixels += 1;
            let named: Vec<Skipped> = footprints
                .all
                .iter()
                .map(|it| Skipped { seq: it.seq, address: it.address, dwords: it.dwords })
                .collect();
            changed += usize::from(
                pixels % 10 == 0 && replayed(&capture, &answer, &named).unwrap() != value.bytes,
            );
        }
    }
    println!("{captures} captures, {pixels} pixels, {without} packets skipped, {changed} changed");
    if corpus::folder().is_some() {
        assert!(captures >= 10 && pixels >= 12 * pixels_of_each, "{captures} {pixels}");
        assert!(without > 0 && changed > 0, "{without} {changed}");
    } else {
        println!("skipped: there is no ../shared/corpus");
    }
}
