//! Parts of findings other than the rule: stable identifiers, quoted packets, undefined state. Also
//! batches that are checked while they are built.

use super::{findings, make, packet};
use genxml::batch::{Arena, Batch, BatchError};
use genxml::capture::{Capture, CaptureWriter, WriteObject};
use genxml::check::{self, Finding, Level, Rules};
use genxml::core::rule::Severity;
use genxml::engine::{EngineId, Render};
use genxml::gen8::mi::{MiNoop, PipeControl};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Scripts and settings name rules, so an identifier must never disappear. With `GENXML_BLESS` set,
/// new identifiers are added.
#[test]
fn identifiers_stay() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check/ids.txt");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let known: BTreeSet<&str> = text.lines().collect();
    let rules = Rules::gen8();
    let of_all = rules.all().map(|(_, rule)| rule.id);
    let all: BTreeSet<&str> = of_all
        .chain(Rules::of_fields().iter().chain(Rules::of_draws()).map(|rule| rule.id))
        .collect();
    let gone: Vec<_> = known.difference(&all).collect();
    assert!(gone.is_empty(), "rules that have disappeared: {gone:?}");
    if std::env::var_os("GENXML_BLESS").is_some() {
        let lines: Vec<&str> = all.iter().copied().collect();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        return;
    }
    let new: Vec<_> = all.difference(&known).collect();
    assert!(new.is_empty(), "add the new rules with GENXML_BLESS=1: {new:?}");
    assert!(known.len() > 500, "{}", known.len());
}

#[test]
fn packets_around_are_quoted() {
    let noop = |number| packet("MI_NOOP", &[("Identification Number", number)]);
    let wrong =
        packet("3DPRIMITIVE", &[("Indirect Parameter Enable", 1), ("End Offset Enable", 1)]);
    let mut packets: Vec<Vec<u32>> = (1..6).map(noop).collect();
    packets.insert(0, wrong.clone());
    packets.push(wrong);
    let found = findings(EngineId::Render, &packets);
    let found: Vec<&Finding> =
        found.iter().filter(|finding| finding.rule.id == "3DPRIM-INDIRECT-END").collect();
    let [first, last] = &found[..] else { panic!("{found:?}") };
    let quote = first.quote.as_ref().expect("it is in a batch");
    assert!(quote.before.is_empty());
    assert_eq!(
        (quote.packet.name, quote.packet.address, quote.packet.length),
        ("3DPRIMITIVE", 0x10000, 7)
    );
    assert_eq!(quote.after.map(|line| (line.name, line.address)), Some(("MI_NOOP", 0x1001c)));
    assert!(
        quote.fields().contains(&("End Offset Enable".into(), "true".into())),
        "{:?}",
        quote.fields()
    );
    let quote = last.quote.as_ref().expect("it is in a batch");
    let before: Vec<u32> = quote.before.iter().map(|line| line.header & 0x3f_ffff).collect();
    assert_eq!(before, [3, 4, 5]);
    assert_eq!(quote.after.map(|line| line.name), Some("MI_BATCH_BUFFER_END"));
    // The last packet has no packet after it. A kernel alone is in no batch.
    let mut all = Vec::new();
    check::raw(EngineId::Render, 0, &packets[0], &Rules::gen8(), &mut |finding| {
        all.push(finding.clone())
    });
    assert!(all[0].quote.as_ref().is_some_and(|quote| quote.after.is_none()));
    let mut all = Vec::new();
    check::kernel(0, &[0xff; 16], &Rules::gen8(), &mut |finding| all.push(finding.clone()));
    assert!(!all.is_empty() && all.iter().all(|finding| finding.quote.is_none()));
}

/// Runs the checker on a capture of these batches, which have one context. Returns a list for each
/// STATE-UNDEFINED finding: the names of the packets that are missing.
fn lacking(batches: &[&[Vec<u32>]]) -> Vec<Vec<String>> {
    let mut writer = CaptureWriter::new("lacking");
    for packets in batches {
        let mut dwords = packets.concat();
        dwords.extend([0x0500_0000, 0]);
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        let size = bytes.len().next_multiple_of(4096) as u64;
        let objects = [WriteObject::new("batch", 0x1_0000, size, &bytes)];
        writer.exec(1, EngineId::Render, 0x1_0000, 0, &objects);
    }
    let folder = tempfile::tempdir().unwrap();
    writer.finish(folder.path()).unwrap();
    let capture = Capture::open(folder.path()).unwrap();
    let mut all = Vec::new();
    check::dump(&mut &capture, &Rules::gen8(), &mut |finding| {
        if finding.rule.id == "STATE-UNDEFINED" {
            assert_eq!(finding.severity, Severity::Warning);
            let name =
                |operand: &check::Operand| operand.name[5..operand.name.len() - 1].to_owned();
            all.push(finding.operands.iter().map(name).collect());
        }
    });
    all
}

#[test]
fn draws_with_state_that_nothing_has_set() {
    let draw = || packet("3DPRIMITIVE", &[]);
    let all = lacking(&[&[draw()]]);
    let [needed] = &all[..] else { panic!("{all:?}") };
    assert!(needed.len() > 25, "{needed:?}");
    let set = |name: &str| match name {
        "3DSTATE_VERTEX_ELEMENTS" => make(name, 3, &[]),
        _ => packet(name, &[]),
    };
    let state = |without: &str| -> Vec<Vec<u32>> {
        let names = needed.iter().filter(|name| *name != without);
        let mut packets: Vec<Vec<u32>> = names.map(|name| set(name)).collect();
        packets.push(draw());
        packets
    };
    assert!(lacking(&[&state("")]).is_empty());
    for name in needed {
        assert_eq!(lacking(&[&state(name)]), [vec![name.clone()]], "{name}");
    }
    // State from an earlier batch of the context counts. The same missing state is reported once.
    // Raw dwords are not checked for it.
    assert!(lacking(&[&state(""), &[draw(), draw()]]).is_empty());
    assert_eq!(lacking(&[&state("3DSTATE_PS"), &[draw(), draw()]]).len(), 1);
    let found = findings(EngineId::Render, &[draw()]);
    assert!(found.iter().all(|finding| finding.rule.id != "STATE-UNDEFINED"));
    // State that threads of the media pipeline need.
    let all = lacking(&[&[packet("GPGPU_WALKER", &[])]]);
    assert_eq!(all, [["STATE_BASE_ADDRESS", "MEDIA_VFE_STATE", "MEDIA_INTERFACE_DESCRIPTOR_LOAD"]]);
}

/// A checked batch contains the same packets as an unchecked one, over any number of buffers.
#[test]
fn batches_are_checked_as_they_are_built() -> Result<(), BatchError> {
    let wrong = PipeControl { command_streamer_stall_enable: true, ..PipeControl::new() };
    let build = |checked: bool| -> Result<(Vec<Vec<u8>>, Vec<u64>), BatchError> {
        let mut batch = Batch::<Render>::growing(Arena::new("batch", 0x10_0000, 0x10_0000, 4096))?;
        if checked {
            batch = batch.checked(Rules::gen8());
        }
        let mut places = Vec::new();
        for at in 0..3000 {
            if at % 1000 == 7 {
                batch.emit(&wrong)?;
                // The finding is available at once.
                let newest = batch.findings().last().map(|finding| finding.packet.1);
                assert_eq!(newest, checked.then(|| batch.address() - 24));
                places.extend(newest);
            } else {
                batch.emit(&MiNoop::new())?;
            }
        }
        assert_eq!(batch.findings().len(), places.len());
        let finished = batch.finish()?;
        let buffers = std::iter::once(&finished.buffer).chain(&finished.chained);
        Ok((buffers.map(|buffer| buffer.bytes().to_vec()).collect(), places))
    };
    let (plain, none) = build(false)?;
    let (checked, places) = build(true)?;
    assert!(plain.len() > 2 && plain == checked);
    assert_eq!((none.len(), places.len()), (0, 3));

    // In a single buffer, the checked batch is full after the same number of packets. Levels of
    // rules apply.
    let mut rules = Rules::gen8();
    rules.set("PC-*", Level::Allow).expect("there are such rules");
    let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.checked(rules);
    let mut count = 0;
    while batch.emit(&wrong).is_ok() {
        count += 1;
    }
    let mut plain = Batch::<Render>::new("batch", 0x1000, 4096)?;
    for _ in 0..count {
        plain.emit(&wrong)?;
    }
    assert!(plain.emit(&wrong).is_err());
    assert_eq!(plain.dwords(), batch.dwords());
    assert!(batch.findings().is_empty());
    Ok(())
}
