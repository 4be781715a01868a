//! Speed of the rules engine, in bytes of batch per second: 8 MiB of 3D state, all packets of fixed length with the
//! manual's defaults as far as no rule is broken by them, and a draw behind each round.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use genxml::check::{self, Rules};
use genxml::core::bits;
use genxml::core::reflect::{Container, Kind};
use genxml::engine::EngineId;
use genxml::gen8::CONTAINERS;

const BYTES: usize = 8 << 20;

fn main() {
    divan::main();
}

/// The packet with opcode, length and defaults; none if it is no 3D state, or has a tail.
fn packet(container: &Container) -> Option<Vec<u32>> {
    let Kind::Instruction { opcode, length_field, bias, variable: false, .. } = container.kind else {
        return None;
    };
    let usual = container.name.starts_with("3DSTATE_") || container.name == "PIPE_CONTROL";
    if !usual || ["_DX9_", "_GATHER_", "_PALETTE_", "_EDIT_"].iter().any(|rare| container.name.contains(rare))
    {
        return None;
    }
    let mut out = vec![0; container.dwords()];
    out[0] = opcode;
    if let Some((start, end)) = length_field {
        bits::put(&mut out, start, end, container.dwords() as u64 - u64::from(bias));
    }
    for field in container.fields {
        let value = field.default.or(field.range.map(|(first, _)| first)).unwrap_or(0);
        // Opcode and length are there already.
        if field.start >= 32 {
            bits::put(&mut out, field.start, field.end, value);
        }
    }
    Some(out)
}

fn findings(dwords: &[u32], rules: &Rules) -> u64 {
    let summary = check::raw(EngineId::Render, 0, dwords, rules, &mut |_| ());
    summary.errors + summary.warnings + summary.workarounds + summary.unknown
}

fn batch(rules: &Rules) -> Vec<u32> {
    let packets = CONTAINERS.iter().filter_map(|container| packet(container));
    let mut round: Vec<u32> = packets.filter(|packet| findings(packet, rules) == 0).flatten().collect();
    round.extend([0x7b00_0005, 4, 3, 0, 1, 0, 0]);
    round.repeat(BYTES / (4 * round.len()))
}

#[divan::bench]
fn rules(bencher: Bencher) {
    let rules = Rules::gen8();
    let dwords = batch(&rules);
    let run = || check::raw(EngineId::Render, 0, divan::black_box(&dwords), &rules, &mut |_| ());
    let summary = run();
    println!("{summary:?}");
    bencher.counter(BytesCount::new(4 * dwords.len())).counter(ItemsCount::new(summary.packets)).bench(run);
}
