//! The rules engine. Tests compare rules with the same conditions written in Rust, sequences of
//! packets with hand-written results, and real drivers' batches.

mod added;
mod again;
mod around;
mod draws;
mod fields;
mod kernels;
mod search;
mod video;

use genxml::capture::Capture;
use genxml::check::{self, Finding, Level, Rules, Summary};
use genxml::core::bits;
use genxml::core::reflect::{Field, Group, Kind, Type};
use genxml::core::rule::{Frame, Severity};
use genxml::decode::Tables;
use genxml::engine::EngineId;
use genxml_testkit::{Random, corpus};
use std::collections::{BTreeMap, BTreeSet};

/// A packet or structure with these stored values. Opcode and length are set.
fn make(name: &str, dwords: usize, fields: &[(&str, u64)]) -> Vec<u32> {
    let container = Tables::gen8().container(name).unwrap_or_else(|| panic!("no {name}"));
    let mut out = vec![0; dwords.max(container.dwords())];
    if let Kind::Instruction { opcode, length_field, bias, .. } = container.kind {
        out[0] = opcode;
        if let Some((start, end)) = length_field {
            let length = out.len() as u64 - u64::from(bias);
            bits::put(&mut out, start, end, length);
        }
    }
    for (path, value) in fields {
        let (start, end) = find(container.fields, container.groups, path)
            .unwrap_or_else(|| panic!("{name} has no {path}"));
        bits::put(&mut out, start, end, *value);
    }
    out
}

pub(crate) fn packet(name: &str, fields: &[(&str, u64)]) -> Vec<u32> {
    make(name, 0, fields)
}

/// First and last bit of the field with a path: `Field`, `Struct/Field` or `Group/2/Field`.
fn find(fields: &[Field], groups: &[Group], path: &str) -> Option<(u32, u32)> {
    if let Some(field) = fields.iter().find(|field| field.name == path) {
        return Some((field.start, field.end));
    }
    let (head, rest) = path.split_once('/')?;
    if let Some(field) = fields.iter().find(|field| field.name == head)
        && let Type::Struct(inner) = field.ty
    {
        return find(inner.fields, inner.groups, rest)
            .map(|(start, end)| (field.start + start, field.start + end));
    }
    let group = groups.iter().find(|group| group.name == head)?;
    let (index, rest) = rest.split_once('/')?;
    let at = group.start + group.bits * index.parse::<u32>().ok()?;
    find(group.fields, group.groups, rest).map(|(start, end)| (at + start, at + end))
}

/// The findings for packets at 0x10000.
fn findings(engine: EngineId, packets: &[Vec<u32>]) -> Vec<Finding> {
    let mut dwords = packets.concat();
    dwords.extend(packet("MI_BATCH_BUFFER_END", &[]));
    let mut found = Vec::new();
    check::raw(engine, 0x10000, &dwords, &Rules::gen8(), &mut |finding| {
        found.push(finding.clone())
    });
    found
}

/// Number of findings of the rule for each packet of a batch of the render engine.
fn fires(rule: &str, packets: &[Vec<u32>]) -> Vec<usize> {
    fires_on(EngineId::Render, rule, packets)
}

/// Number of findings of the rule for each packet of the batch.
fn fires_on(engine: EngineId, rule: &str, packets: &[Vec<u32>]) -> Vec<usize> {
    assert!(Rules::gen8().find(rule).is_some(), "no rule {rule}");
    let found = findings(engine, packets);
    let mut end = 0x10000;
    packets
        .iter()
        .map(|packet| {
            let at = end;
            end = at + 4 * packet.len() as u64;
            let count = found.iter().filter(|finding| {
                finding.rule.id == rule
                    && (at..at + 4 * packet.len() as u64).contains(&finding.packet.1)
            });
            count.count()
        })
        .collect()
}

/// Oracle: the batches of drivers that work on hardware do nothing that is undefined or hangs.
#[test]
fn real_drivers_break_no_rule_of_severity_error() {
    let Some(corpus) = corpus::folder() else { return };
    let rules = Rules::gen8();
    let mut wrong = Vec::new();
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    let mut packets = 0;
    for folder in ["images", "drivers"] {
        let mut paths: Vec<_> = std::fs::read_dir(corpus.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        for path in paths {
            let capture = Capture::open(&path).unwrap();
            let name = capture.path().file_name().unwrap().to_string_lossy().into_owned();
            let mut seen = BTreeSet::new();
            let summary = check::dump(&mut &capture, &rules, &mut |finding| {
                if finding.severity != Severity::Error {
                    *warnings.entry(finding.rule.id).or_default() += 1;
                    return;
                }
                if seen.insert(finding.rule.id) {
                    let operands: Vec<String> =
                        finding.operands.iter().map(|operand| operand.to_string()).collect();
                    wrong.push(format!(
                        "{name}: {finding}\n    {}\n    {}",
                        operands.join("\n    "),
                        finding.rule.text
                    ));
                }
            });
            packets += summary.packets;
        }
    }
    println!("{packets} packets; not errors: {warnings:#?}");
    assert!(packets > 1000);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Oracle: the rule written again in Rust, with bits from the manual's tables.
#[test]
fn rules_mean_what_they_say() {
    type Holds = fn(&dyn Fn(usize, u32, u32) -> u64) -> bool;
    let rules = Rules::gen8();
    // Rule, dwords, and whether it holds; bits are dword, last, first as the manual writes them.
    let cases: &[(&str, usize, Holds)] = &[
        ("RSS-MS-2D", 16, |b| b(0, 31, 29) == 7 || b(4, 5, 3) == 0 || b(0, 31, 29) == 1),
        ("RSS-ARRAY-TYPE", 16, |b| b(0, 28, 28) == 0 || [0, 1, 3, 7].contains(&b(0, 31, 29))),
        ("SAMP-NONNORM-MIP", 4, |b| b(3, 10, 10) == 0 || b(0, 21, 20) == 0),
        ("SAMP-MONO-BOTH", 4, |b| (b(0, 19, 17) == 6) == (b(0, 16, 14) == 6)),
        ("VFE-URB-ENTRIES", 9, |b| (1..=128).contains(&b(3, 15, 8))),
        ("VFE-STACK-FITS", 9, |b| b(1, 7, 4) <= b(1, 3, 0)),
        ("CURBE-LENGTH-ALIGN", 4, |b| b(2, 16, 0).is_multiple_of(64)),
        ("MIDL-LENGTH", 4, |b| {
            let bytes = b(2, 16, 0);
            bytes > 0 && bytes <= 64 * 32 && bytes.is_multiple_of(32)
        }),
        ("3DPRIM-INDIRECT-END", 7, |b| b(0, 10, 10) & b(1, 9, 9) == 0),
        ("3DPRIM-END-OFFSET", 7, |b| {
            b(1, 9, 9) == 0
                || b(1, 8, 8) == 0 && [3, 5, 6].iter().all(|&dword| b(dword, 31, 0) == 0)
        }),
        ("WALKER-INDIRECT-LENGTH", 15, |b| b(2, 16, 0) <= 4032),
        // Elements: a sum over the group, and a condition with the element's number.
        ("VE-EDGE-LAST", 9, |b| {
            let valid = (0..4).filter(|i| b(1 + 2 * i, 25, 25) == 1).count();
            let edges: Vec<usize> =
                (0..4).filter(|i| b(1 + 2 * i, 25, 25) == 1 && b(1 + 2 * i, 15, 15) == 1).collect();
            let sum: usize = edges.iter().map(|i| i + 1).sum();
            edges.is_empty() || sum == valid
        }),
        ("SBE-SWIZ-CONTROL-MODE", 11, |b| {
            (1..16).all(|i| b(1 + i / 2, 16 * (i as u32 % 2) + 11, 16 * (i as u32 % 2) + 11) == 0)
        }),
        ("VB-UNIQUE", 17, |b| {
            let indices: BTreeSet<u64> = (0..4).map(|i| b(1 + 4 * i, 31, 26)).collect();
            indices.len() == 4
        }),
    ];
    let mut random = Random::new(1);
    for (id, dwords, holds) in cases {
        let (_, rule) = rules.find(id).unwrap_or_else(|| panic!("no rule {id}"));
        let (mut kept, mut broken) = (0, 0);
        for _ in 0..4000 {
            // Each dword is 0, has few bits set, or is random: rules compare with zeros and with
            // small numbers.
            let mask = [
                0,
                0x0101_0101 << random.below(8),
                random.bits() as u32 & random.bits() as u32,
                u32::MAX,
            ];
            let words: Vec<u32> =
                (0..*dwords).map(|_| random.bits() as u32 & mask[random.index(4)]).collect();
            let bits = |dword: usize, last: u32, first: u32| {
                u64::from(words[dword]) >> first & ((1u64 << (last - first + 1)) - 1)
            };
            let expected = holds(&bits);
            assert_eq!(
                rule.require.eval(&Frame::new(&words), &()),
                Some(u64::from(expected)),
                "{id}: {words:08x?}"
            );
            if expected { kept += 1 } else { broken += 1 }
        }
        assert!(kept > 20 && broken > 20, "{id}: {kept} times kept, {broken} times broken");
    }
}

#[test]
fn what_came_before_counts() {
    let draw = || packet("3DPRIMITIVE", &[]);
    let pipe_control = |stall| packet("PIPE_CONTROL", &[("Command Streamer Stall Enable", stall)]);

    // Order of packets: if the stage is enabled, constants must be set again after their space was
    // moved.
    let rule = "PUSH-GS-AGAIN";
    let gs = |on| packet("3DSTATE_GS", &[("Enable", on)]);
    let moved = || packet("3DSTATE_PUSH_CONSTANT_ALLOC_GS", &[]);
    let constants = || packet("3DSTATE_CONSTANT_GS", &[]);
    assert_eq!(fires(rule, &[moved(), draw()]), [0, 0], "the state of the stage is unknown");
    assert_eq!(fires(rule, &[gs(1), constants(), moved(), draw()]), [0, 0, 0, 1]);
    assert_eq!(fires(rule, &[gs(0), constants(), moved(), draw()]), [0, 0, 0, 0]);
    assert_eq!(fires(rule, &[gs(1), moved(), constants(), draw()]), [0, 0, 0, 0]);

    // A packet's own earlier occurrence: elements may be set once for each draw.
    let elements = || make("3DSTATE_VERTEX_ELEMENTS", 3, &[]);
    let rule = "VE-ONCE";
    assert_eq!(fires(rule, &[elements(), draw(), elements(), elements(), draw()]), [0, 0, 0, 1, 0]);

    // Condition on the earlier packet: only a PIPE_CONTROL that stalls counts.
    let rule = "PUSH-DS-STALL";
    let moved = || packet("3DSTATE_PUSH_CONSTANT_ALLOC_DS", &[]);
    assert_eq!(fires(rule, &[moved(), pipe_control(0), draw()]), [0, 0, 1]);
    assert_eq!(fires(rule, &[moved(), pipe_control(1), draw()]), [0, 0, 0]);
    assert_eq!(fires(rule, &[pipe_control(1), moved(), draw()]), [0, 0, 1]);
    assert_eq!(fires(rule, &[draw()]), [0]);

    // State of several packets: the newest one counts.
    let rule = "3DPRIM-TESS-GROUP";
    let hs = |on| packet("3DSTATE_HS", &[("Enable", on)]);
    let te = |on| packet("3DSTATE_TE", &[("TE Enable", on)]);
    let ds = |on| packet("3DSTATE_DS", &[("Function Enable", on)]);
    assert_eq!(fires(rule, &[hs(1), draw()]), [0, 0], "unknown");
    assert_eq!(fires(rule, &[hs(1), te(1), ds(0), draw()]), [0, 0, 0, 1]);
    assert_eq!(fires(rule, &[hs(1), te(0), draw()]), [0, 0, 1], "for any third state");
    assert_eq!(fires(rule, &[hs(1), te(1), ds(0), ds(1), draw()]), [0; 5]);

    let rule = "3DPRIM-DEPTH-BUFFER";
    let writes = |on| packet("3DSTATE_WM_DEPTH_STENCIL", &[("Depth Buffer Write Enable", on)]);
    let buffer = |ty, on| {
        packet("3DSTATE_DEPTH_BUFFER", &[("Surface Type", ty), ("Depth Write Enable", on)])
    };
    assert_eq!(fires(rule, &[writes(1), buffer(7, 1), draw()]), [0, 0, 1]);
    assert_eq!(fires(rule, &[writes(1), buffer(1, 1), draw()]), [0, 0, 0]);
    assert_eq!(fires(rule, &[writes(1), buffer(7, 0), draw()]), [0, 0, 0]);
    assert_eq!(fires(rule, &[writes(0), buffer(7, 1), draw()]), [0, 0, 0]);

    // A group in another packet.
    let rule = "URB-VS-INPUT";
    let urb = |rows| packet("3DSTATE_URB_VS", &[("VS URB Entry Allocation Size", rows)]);
    let many = |count: usize| make("3DSTATE_VERTEX_ELEMENTS", 1 + 2 * count, &[]);
    let at = |packets: &[Vec<u32>]| fires(rule, packets).iter().sum::<usize>();
    assert_eq!(at(&[urb(0), many(4), draw()]), 0);
    assert!(at(&[urb(0), many(5), draw()]) > 0);
    assert_eq!(at(&[urb(1), many(5), draw()]), 0);
    assert_eq!(at(&[many(5), draw()]), 0, "unknown");
}

/// Pools of the resource streamer may be enabled after MI_RS_CONTROL with Start, and in a batch
/// that MI_BATCH_BUFFER_START starts with Resource Streamer Enable (2a p.74, p.111). Linux disables
/// them without the streamer.
#[test]
fn pools_need_the_resource_streamer() {
    // An MI_BATCH_BUFFER_START continues with the packet after it.
    let run = |rule: &str, before: &[(&str, u64)], pool: Vec<u32>| {
        let mut packets: Vec<Vec<u32>> = Vec::new();
        for (what, on) in before {
            let end = 0x10000 + 4 * packets.concat().len() as u64;
            packets.push(match *what {
                "control" => packet("MI_RS_CONTROL", &[("Resource Streamer Control", *on)]),
                _ => packet(
                    "MI_BATCH_BUFFER_START",
                    &[
                        ("Resource Streamer Enable", *on),
                        ("Batch Buffer Start Address", (end + 12) >> 2),
                    ],
                ),
            });
        }
        packets.push(pool);
        fires(rule, &packets).pop().unwrap()
    };
    for (rule, name, enable) in [
        ("POOL-GATHER-STREAMER", "3DSTATE_GATHER_POOL_ALLOC", "Gather Pool Enable"),
        (
            "POOL-DX9-STREAMER",
            "3DSTATE_DX9_CONSTANT_BUFFER_POOL_ALLOC",
            "Dx9 Constant Buffer Pool Enable",
        ),
    ] {
        let pool = |on| packet(name, &[(enable, on)]);
        for (before, violations) in [
            (&[][..], 0),
            (&[("control", 1)], 0),
            (&[("start", 1)], 0),
            (&[("control", 0)], 1),
            (&[("start", 0)], 1),
            (&[("control", 1), ("control", 0)], 1),
            (&[("control", 1), ("start", 0)], 1),
            (&[("start", 1), ("control", 0)], 1),
            (&[("control", 0), ("start", 1)], 0),
            (&[("start", 0), ("control", 1)], 0),
        ] {
            assert_eq!(run(rule, before, pool(1)), violations, "{rule}: {before:?}");
            assert_eq!(run(rule, before, pool(0)), 0, "{rule}: {before:?}");
        }
    }
}

#[test]
fn threads_and_their_state() {
    let vfe = |threads| {
        packet(
            "MEDIA_VFE_STATE",
            &[("Maximum Number of Threads", threads), ("CURBE Allocation Size", 2)],
        )
    };
    let walker = || packet("GPGPU_WALKER", &[]);
    let pipe_control = |stall| packet("PIPE_CONTROL", &[("Command Streamer Stall Enable", stall)]);

    // The previous packet of the same type.
    let rule = "VFE-STALL";
    assert_eq!(fires(rule, &[vfe(5), vfe(6)]), [0, 0], "no thread ran");
    assert_eq!(fires(rule, &[vfe(5), walker(), vfe(6)]), [0, 0, 1]);
    assert_eq!(fires(rule, &[vfe(5), walker(), vfe(5)]), [0, 0, 0], "nothing changes");
    assert_eq!(fires(rule, &[vfe(5), walker(), pipe_control(1), vfe(6)]), [0, 0, 0, 0]);
    assert_eq!(fires(rule, &[vfe(5), walker(), pipe_control(0), vfe(6)]), [0, 0, 0, 1]);

    let rule = "CURBE-FITS";
    let curbe = |bytes| packet("MEDIA_CURBE_LOAD", &[("CURBE Total Data Length", bytes)]);
    assert_eq!(fires(rule, &[curbe(128), vfe(5), curbe(64), curbe(128)]), [0, 0, 0, 1]);

    let rule = "WALKER-WATERMARK";
    let flush = |mark| packet("MEDIA_STATE_FLUSH", &[("Watermark Required", mark)]);
    assert_eq!(fires(rule, &[flush(0), walker(), flush(1), walker(), walker()]), [0, 0, 0, 1, 0]);
}

/// Dispatches that run nothing, run without channels, or read constants that nothing loaded.
#[test]
fn dispatches_that_do_nothing() {
    let size = [
        ("Thread Group ID X Dimension", 3),
        ("Thread Group ID Y Dimension", 2),
        ("Thread Group ID Z Dimension", 1),
        ("Right Execution Mask", 0xff),
        ("Bottom Execution Mask", 0xff),
    ];
    let walker = |changes: &[(&'static str, u64)]| {
        // A field is written once.
        let kept = size.iter().filter(|(name, _)| changes.iter().all(|(other, _)| other != name));
        let mut fields: Vec<_> = kept.copied().collect();
        fields.extend(changes);
        packet("GPGPU_WALKER", &fields)
    };
    let one = |rule: &str, changes: &[(&'static str, u64)]| fires(rule, &[walker(changes)])[0];
    assert_eq!(one("WALKER-SIZE", &[]), 0);
    for axis in ["X", "Y", "Z"] {
        let dimension: &str = match axis {
            "X" => "Thread Group ID X Dimension",
            "Y" => "Thread Group ID Y Dimension",
            _ => "Thread Group ID Z Dimension",
        };
        assert_eq!(one("WALKER-SIZE", &[(dimension, 0)]), 1, "{axis}");
        let indirect = ("Indirect Parameter Enable", 1);
        assert_eq!(one("WALKER-SIZE", &[(dimension, 0), indirect]), 0, "{axis} from a register");
    }
    assert_eq!(one("WALKER-SIZE", &[("Thread Group ID Starting X", 3)]), 1);
    assert_eq!(one("WALKER-SIZE", &[("Thread Group ID Starting X", 2)]), 0);

    assert_eq!(one("WALKER-MASK", &[]), 0);
    assert_eq!(one("WALKER-MASK", &[("Right Execution Mask", 0)]), 1);
    assert_eq!(one("WALKER-MASK", &[("Bottom Execution Mask", 0)]), 1);
    // Bits beyond the SIMD size select no channel.
    for (simd, mask, violations) in
        [(0, 0xff00, 1), (1, 0xff00, 0), (1, 0xff_0000, 1), (2, 0xff_0000, 0)]
    {
        let fields = [("SIMD Size", simd), ("Right Execution Mask", mask)];
        assert_eq!(one("WALKER-MASK", &fields), violations, "SIMD {simd}: {mask:#x}");
    }

    let rule = "MI-COND-END-COMPARE";
    let end =
        |compare| packet("MI_CONDITIONAL_BATCH_BUFFER_END", &[("Compare Semaphore", compare)]);
    assert_eq!(fires(rule, &[end(1), end(0)]), [0, 1]);
}

/// Constants that threads receive: whether they were loaded, and whether there is room for them.
#[test]
fn constants_of_dispatches() {
    // The packets, then an interface descriptor in the same memory.
    let run = |rule: &str, own: u64, shared: u64, threads: u64, before: &[Vec<u32>]| {
        let base =
            [("Dynamic State Base Address", 0x10), ("Dynamic State Base Address Modify Enable", 1)];
        let load = |at| {
            let fields = [
                ("Interface Descriptor Total Length", 32),
                ("Interface Descriptor Data Start Address", at),
            ];
            packet("MEDIA_INTERFACE_DESCRIPTOR_LOAD", &fields)
        };
        let mut packets = before.to_vec();
        packets.extend([packet("STATE_BASE_ADDRESS", &base), load(0), packet("GPGPU_WALKER", &[])]);
        let walker = packets.len() - 1;
        packets.push(packet("MI_BATCH_BUFFER_END", &[]));
        let used = 4 * packets.concat().len();
        let at = used.next_multiple_of(64);
        packets.extend((used..at).step_by(4).map(|_| vec![0]));
        packets.push(packet(
            "INTERFACE_DESCRIPTOR_DATA",
            &[
                ("Constant/Indirect URB Entry Read Length", own),
                ("Cross-Thread Constant Data Read Length", shared),
                ("Number of Threads in GPGPU Thread Group", threads),
            ],
        ));
        packets[walker - 1] = load(at as u64);
        fires(rule, &packets)[walker]
    };
    let vfe = |registers| packet("MEDIA_VFE_STATE", &[("CURBE Allocation Size", registers)]);
    let curbe = || packet("MEDIA_CURBE_LOAD", &[("CURBE Total Data Length", 64)]);
    let rule = "WALKER-CURBE";
    assert_eq!(run(rule, 0, 0, 4, &[vfe(8)]), 0, "no constants");
    assert_eq!(run(rule, 1, 0, 4, &[vfe(8)]), 1);
    assert_eq!(run(rule, 0, 1, 4, &[vfe(8)]), 1);
    assert_eq!(run(rule, 1, 1, 4, &[vfe(8), curbe()]), 0);
    assert_eq!(run(rule, 1, 1, 4, &[]), 0, "the earlier packets are unknown");
    let rule = "WALKER-CURBE-FITS";
    // Each of 4 threads gets 2 registers, and all share 3.
    assert_eq!(run(rule, 2, 3, 4, &[vfe(11)]), 0);
    assert_eq!(run(rule, 2, 3, 4, &[vfe(10)]), 1);
    assert_eq!(run(rule, 0, 0, 4, &[vfe(0)]), 0);
    assert_eq!(run(rule, 2, 3, 4, &[]), 0, "unknown");
}

/// A rule reads a structure that a packet points to. The structure is an interface descriptor after
/// the packets in the same memory.
#[test]
fn structures_that_packets_lead_to() {
    let base = |name: &'static str| {
        packet("STATE_BASE_ADDRESS", &[(name, 0x10), (&format!("{name} Modify Enable"), 1)])
    };
    let walker = |width| packet("GPGPU_WALKER", &[("Thread Width Counter Maximum", width)]);
    let batch = |threads, width| {
        let load = |at| {
            let fields = [
                ("Interface Descriptor Total Length", 32),
                ("Interface Descriptor Data Start Address", at),
            ];
            packet("MEDIA_INTERFACE_DESCRIPTOR_LOAD", &fields)
        };
        let mut packets = vec![base("Dynamic State Base Address"), load(0), walker(width)];
        packets.push(packet("MI_BATCH_BUFFER_END", &[]));
        let mut at = 4 * packets.concat().len();
        while !at.is_multiple_of(64) {
            packets.push(vec![0]);
            at += 4;
        }
        packets.push(packet(
            "INTERFACE_DESCRIPTOR_DATA",
            &[("Number of Threads in GPGPU Thread Group", threads)],
        ));
        packets[1] = load(at as u64);
        fires("WALKER-GROUP-SIZE", &packets)[..3].to_vec()
    };
    assert_eq!(batch(4, 3), [0, 0, 0]);
    assert_eq!(batch(4, 2), [0, 0, 1]);
    assert_eq!(batch(0, 2), [0, 0, 0]);
}

/// A rule reads a masked register. Bits that no command has written are unknown to it.
#[test]
fn registers_as_commands_wrote_them() {
    let register = Tables::gen8().container("BCS_SWCTRL").unwrap();
    let Kind::Register { offset, masked, .. } = register.kind else { panic!("no register") };
    let field = register.fields.iter().find(|field| field.name == "Tile Y Destination").unwrap();
    let write = |mask: u32, value: u32| {
        let data = if masked {
            mask << (16 + field.start) | value << field.start
        } else {
            value << field.start
        };
        let mut packet = make("MI_LOAD_REGISTER_IMM", 3, &[]);
        packet[1..].copy_from_slice(&[offset, data]);
        packet
    };
    // A pitch of 32 dwords: enough for Y tiles, not for X tiles.
    let fill = packet("XY_COLOR_BLT", &[("Dest Tiling Enable", 1), ("Destination Pitch", 32)]);
    let count = |writes: &[Vec<u32>]| {
        let packets: Vec<Vec<u32>> = writes.iter().cloned().chain([fill.clone()]).collect();
        findings(EngineId::Blitter, &packets)
            .iter()
            .filter(|finding| finding.rule.id == "XY-COLOR-DST-PITCH")
            .count()
    };
    assert_eq!(count(&[]), 0, "unknown");
    assert_eq!(count(&[write(1, 1)]), 0);
    assert_eq!(count(&[write(1, 0)]), 1);
    assert_eq!(count(&[write(1, 1), write(1, 0)]), 1);
    if masked {
        assert_eq!(count(&[write(0, 0)]), 0, "another bit was written");
        assert_eq!(count(&[write(1, 0), write(0, 1)]), 1, "this bit was not");
    }
}

/// The contents of a finding.
#[test]
fn findings_name_place_and_values() {
    let packets = [
        packet("MI_NOOP", &[]),
        packet("3DPRIMITIVE", &[("Indirect Parameter Enable", 1), ("End Offset Enable", 1)]),
    ];
    let found = findings(EngineId::Render, &packets);
    let finding =
        found.iter().find(|finding| finding.rule.id == "3DPRIM-INDIRECT-END").expect("it fires");
    assert_eq!((finding.address, finding.packet), (0x10004, ("3DPRIMITIVE", 0x10004)));
    assert_eq!((finding.submission, finding.engine), (None, EngineId::Render));
    let operands: Vec<String> =
        finding.operands.iter().map(|operand| operand.to_string()).collect();
    assert_eq!(operands, ["[Indirect Parameter Enable] = 1", "[End Offset Enable] = 1"]);

    assert_eq!(
        format!("{finding:#}"),
        format!(
            "error 3DPRIM-INDIRECT-END: {} ({})\n  at 0x10004: 3DPRIMITIVE; render engine\n    \
             [Indirect Parameter Enable] = 1\n    [End Offset Enable] = 1\n  required: {}",
            finding.rule.message,
            finding.source(),
            finding.rule.text
        )
    );

    // A structure inside a packet, and the element that breaks the rule.
    let swizzles = packet("3DSTATE_SBE_SWIZ", &[("Attribute/3/Attribute/Swizzle Control Mode", 1)]);
    let found = findings(EngineId::Render, &[swizzles]);
    let finding =
        found.iter().find(|finding| finding.rule.id == "SBE-SWIZ-CONTROL-MODE").expect("it fires");
    assert_eq!(
        finding.operands[0].to_string(),
        "[Attribute[3].Attribute.Swizzle Control Mode] = 1"
    );
    let edge = make(
        "3DSTATE_VERTEX_ELEMENTS",
        5,
        &[
            ("Element/1/Element/Valid", 1),
            ("Element/1/Element/Edge Flag Enable", 1),
            ("Element/1/Element/Source Element Format", 0x1c1),
        ],
    );
    let found = findings(EngineId::Render, &[edge]);
    let inner = found
        .iter()
        .find(|finding| finding.container.name == "VERTEX_ELEMENT_STATE")
        .expect("an element is wrong");
    assert_eq!(
        (inner.address, inner.index, inner.packet.0),
        (0x1000c, Some(1), "3DSTATE_VERTEX_ELEMENTS")
    );
}

#[test]
fn rules_can_count_differently() {
    let broken =
        packet("3DPRIMITIVE", &[("Indirect Parameter Enable", 1), ("End Offset Enable", 1)]);
    let run = |set: &dyn Fn(&mut Rules)| -> Summary {
        let mut rules = Rules::gen8();
        set(&mut rules);
        check::raw(EngineId::Render, 0, &broken, &rules, &mut |_| ())
    };
    let plain = run(&|_| ());
    let less = run(&|rules| rules.set("3DPRIM-INDIRECT-END", Level::Allow).unwrap());
    assert_eq!(less.errors, plain.errors - 1);
    let warned = run(&|rules| rules.set("3DPRIM-INDIRECT-END", Level::Warn).unwrap());
    assert_eq!((warned.errors, warned.warnings), (plain.errors - 1, plain.warnings + 1));
    let nothing = run(&|rules| rules.set("3DPRIM-*", Level::Allow).unwrap());
    assert_eq!((plain.errors, nothing.errors), (1, 0));
    // A later level replaces Allow: of one rule, and of a group of rules.
    let again = run(&|rules| {
        rules.set("3DPRIM-*", Level::Allow).unwrap();
        rules.set("3DPRIM-INDIRECT-END", Level::Warn).unwrap();
    });
    assert_eq!((again.errors, again.warnings), (0, nothing.warnings + 1));
    let again = run(&|rules| {
        rules.set("3DPRIM-INDIRECT-END", Level::Allow).unwrap();
        rules.set("3DPRIM-INDIRECT-E*", Level::Deny).unwrap();
    });
    assert_eq!(again.errors, plain.errors);
    assert!(Rules::gen8().set("3DPRIM-NOTHING", Level::Deny).is_err());
}

/// Each surface that the kernels of a real program use is either a render target or a sampled
/// texture, never both.
#[test]
fn kernels_tell_how_surfaces_are_used() {
    use genxml::core::rule::{Role, Roles};
    use genxml::decode::{self, Decoder, Options, Record, State};
    let Some(corpus) = corpus::folder() else { return };
    let capture = Capture::open(corpus.join("drivers/vk_triangle")).unwrap();
    let mut playback = genxml::capture::Playback::new(&capture);
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    let (mut state, mut targets, mut textures) = (State::default(), 0, 0);
    while let Some(event) = playback.step() {
        let genxml::capture::Event::Exec(exec) = event else { continue };
        let mut sink = |record: &Record| {
            if let (decode::Kind::Struct, "RENDER_SURFACE_STATE", Some(uses)) =
                (record.kind, record.name, record.uses)
            {
                assert!(uses.complete);
                let target = uses.roles == Roles::of(&[Role::RenderTarget, Role::Written]);
                assert!(
                    target || uses.roles == Roles::of(&[Role::Sampled, Role::Read]),
                    "{uses:?}"
                );
                *(if target { &mut targets } else { &mut textures }) += 1;
            }
            Ok(())
        };
        let memory = playback.memory(exec);
        decoder
            .batch(
                &mut state,
                exec.engine,
                &memory,
                exec.batch_address,
                exec.batch_length,
                &mut sink,
            )
            .unwrap();
    }
    assert!(targets > 0 && textures > 0, "{targets} targets, {textures} textures");
}
