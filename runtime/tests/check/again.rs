//! The cache of packets that were seen before must not change results: text, problems and findings
//! equal those of sinks that read every field of every packet.

use genxml::capture::{Capture, Event, Playback};
use genxml::check::{Checker, Rules};
use genxml::decode::{Decoder, Options, Record, Sink, State, Summary, Tables, TextWriter};
use genxml::engine::EngineId;
use genxml_testkit::{Random, corpus, draws};
use std::io;

/// Passes on records only, so that the fields of every packet are read.
struct Plain<'a>(&'a mut dyn Sink);

impl Sink for Plain<'_> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.0.record(record)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()
    }
}

/// Calls `run` with false (the sink itself) and with true ([`Plain`] around the sink), and checks
/// that both results are equal. Returns the result.
fn both<T: PartialEq>(what: &str, run: impl Fn(bool) -> T) -> T {
    let (quick, plain) = (run(false), run(true));
    assert!(quick == plain, "{what} differs from what reading every field gives");
    quick
}

type Decode<'a> = &'a dyn Fn(&Decoder<'_>, &mut dyn Sink) -> Summary;

fn text(decode: Decode<'_>, options: &Options) -> (String, Summary) {
    both("text", |plain| {
        let mut out = Vec::new();
        let mut writer = TextWriter::new(&mut out, options);
        let decoder = Decoder::new(Tables::gen8(), options.clone());
        let summary = if plain {
            decode(&decoder, &mut Plain(&mut writer))
        } else {
            decode(&decoder, &mut writer)
        };
        writer.finish().expect("a vector takes all");
        drop(writer);
        (String::from_utf8(out).expect("text"), summary)
    })
}

fn findings(decode: Decode<'_>, rules: &Rules, engine: EngineId) -> Vec<String> {
    both("a finding", |plain| {
        let mut found = Vec::new();
        let mut each =
            |finding: &genxml::check::Finding| found.push(format!("{finding} {finding:?}"));
        let mut checker = Checker::new(rules, &mut each);
        checker.begin(None, 0, engine, 0);
        let decoder = Decoder::new(Tables::gen8(), Options { data: false, ..Options::default() });
        _ = if plain {
            decode(&decoder, &mut Plain(&mut checker))
        } else {
            decode(&decoder, &mut checker)
        };
        checker.finish().expect("nothing is written");
        drop(checker);
        found
    })
}

/// Repeated packets with some bits changed. The changes accumulate, so each packet differs little
/// from the previous one of its type.
#[test]
fn flipped_bits() {
    let rules = Rules::gen8();
    let mut dwords = draws::batch(24 << 10);
    let mut random = Random::new(1);
    let mut broken = 0;
    for round in 0..6 {
        let decode = |decoder: &Decoder<'_>, sink: &mut dyn Sink| {
            let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
            let memory = (draws::ADDRESS, &bytes[..]);
            let (mut state, length) = (State::default(), bytes.len() as u64);
            decoder
                .batch(&mut state, EngineId::Render, &memory, draws::ADDRESS, length, sink)
                .expect("nothing fails")
        };
        let options =
            Options { follow: round % 2 == 0, color: round % 3 == 0, ..Options::default() };
        let (text, summary) = text(&decode, &options);
        assert!(text.len() > 20 * dwords.len() && (round == 0 || summary.problems > 0));
        broken += findings(&decode, &rules, EngineId::Render).len();
        // Flip more bits in each round, and none in headers of 3D packets.
        for _ in 0..dwords.len() >> (7 - round) {
            let (at, bit) = (random.index(dwords.len()), random.below(32));
            let header = dwords[at] >> 27 & 3 == 3 && dwords[at] >> 29 == 3;
            if !header {
                dwords[at] ^= 1 << bit;
            }
        }
    }
    assert!(broken > 100, "{broken} findings");
}

/// One packet of every type, three times: unchanged, and with bits changed.
#[test]
fn every_packet() {
    use genxml::core::reflect::Kind;
    let rules = Rules::gen8();
    for engine in EngineId::ALL {
        let mut dwords = Vec::new();
        for container in Tables::gen8().names().filter_map(|name| Tables::gen8().container(name)) {
            let Kind::Instruction { engines, opcode, length_field, bias, .. } = container.kind
            else {
                continue;
            };
            if !engines.intersects(engine.set()) || container.name.starts_with("MI_BATCH_BUFFER") {
                continue;
            }
            let dwords_of_it = container.dwords().max(bias as usize).max(1);
            let mut packet = vec![0; dwords_of_it + 4 * container.groups.len()];
            packet[0] = opcode;
            if let Some((start, end)) = length_field {
                let length = packet.len() as u64 - u64::from(bias);
                genxml::core::bits::put(&mut packet, start, end, length);
            } else {
                packet.truncate(dwords_of_it);
            }
            for fill in [0, 0, 0x0101_0101, 0x0101_0101, 0x8765_4321, u32::MAX, 0] {
                packet[1..].fill(fill);
                dwords.extend_from_slice(&packet);
            }
        }
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword: &u32| dword.to_le_bytes()).collect();
        let decode = |decoder: &Decoder<'_>, sink: &mut dyn Sink| {
            let memory = (0x10_0000, &bytes[..]);
            let (mut state, length) = (State::default(), bytes.len() as u64);
            decoder
                .batch(&mut state, engine, &memory, 0x10_0000, length, sink)
                .expect("nothing fails")
        };
        let options = Options { follow: false, ..Options::default() };
        assert!(text(&decode, &options).1.packets > 100, "{engine}");
        findings(&decode, &rules, engine);
    }
}

/// Batches of real drivers, with everything that they refer to.
#[test]
fn real_captures() {
    let Some(corpus) = corpus::folder() else { return };
    let rules = Rules::gen8();
    let capture = Capture::open(corpus.join("drivers/vk_triangle")).expect("a capture");
    let decode = |decoder: &Decoder<'_>, sink: &mut dyn Sink| {
        let (mut playback, mut state, mut last) =
            (Playback::new(&capture), State::default(), Summary::default());
        while let Some(event) = playback.step() {
            let Event::Exec(exec) = event else { continue };
            let memory = playback.memory(exec);
            last = decoder
                .batch(
                    &mut state,
                    exec.engine,
                    &memory,
                    exec.batch_address,
                    exec.batch_length,
                    sink,
                )
                .expect("nothing fails");
        }
        last
    };
    text(&decode, &Options::default());
    findings(&decode, &rules, EngineId::Render);
}
