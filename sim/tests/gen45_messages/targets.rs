//! Render target writes: the sequences of registers of 003:5212-5246.

use crate::rig::{Rig, Send, u};
use genxml::core::Address;
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::message_headers::{
    RenderTargetWriteMessageHeader as Header,
    RenderTargetWriteMessageHeaderFrontBackFacingPolygon as Facing,
    RenderTargetWriteMessageHeaderSubspan as Subspan,
};
use genxml::gen45::messages::{RenderTargetWriteDescriptor, RenderTargetWriteType as Type};
use genxml_sim::gen45::message::Write;

/// The table of legal messages: type, source depth, stencil or antialias alpha, destination depth,
/// and the registers from M2 on. `1/0R` is red of subspans 1 and 0.
const TABLE: &str = "\
000 1=0 0 0 | 1/0R 1/0G 1/0B 1/0A 3/2R 3/2G 3/2B 3/2A
001 1=0 0 0 | RGBA
010 1=0 0 0 | 1/0s0R 1/0s0G 1/0s0B 1/0s0A 1/0s1R 1/0s1G 1/0s1B 1/0s1A
011 1=0 0 0 | 3/2s0R 3/2s0G 3/2s0B 3/2s0A 3/2s1R 3/2s1G 3/2s1B 3/2s1A
100 1=0 0 0 | 1/0R 1/0G 1/0B 1/0A
000 1=1 0 0 | 1/0R 1/0G 1/0B 1/0A 3/2R 3/2G 3/2B 3/2A 1/0sZ 3/2sZ
010 1=1 0 0 | 1/0s0R 1/0s0G 1/0s0B 1/0s0A 1/0s1R 1/0s1G 1/0s1B 1/0s1A 1/0sZ
011 1=1 0 0 | 3/2s0R 3/2s0G 3/2s0B 3/2s0A 3/2s1R 3/2s1G 3/2s1B 3/2s1A 3/2sZ
100 1=1 0 0 | 1/0R 1/0G 1/0B 1/0A 1/0sZ
000 1=1 0 1 | 1/0R 1/0G 1/0B 1/0A 3/2R 3/2G 3/2B 3/2A 1/0sZ 3/2sZ 1/0dZ 3/2dZ
010 1=1 0 1 | 1/0s0R 1/0s0G 1/0s0B 1/0s0A 1/0s1R 1/0s1G 1/0s1B 1/0s1A 1/0sZ 1/0dZ
011 1=1 0 1 | 3/2s0R 3/2s0G 3/2s0B 3/2s0A 3/2s1R 3/2s1G 3/2s1B 3/2s1A 3/2sZ 3/2dZ
100 1=1 0 1 | 1/0R 1/0G 1/0B 1/0A 1/0sZ 1/0dZ
000 1=1 1 0 | sten 1/0R 1/0G 1/0B 1/0A 3/2R 3/2G 3/2B 3/2A 1/0sZ 3/2sZ
010 1=1 1 0 | sten 1/0s0R 1/0s0G 1/0s0B 1/0s0A 1/0s1R 1/0s1G 1/0s1B 1/0s1A 1/0sZ
011 1=1 1 0 | sten 3/2s0R 3/2s0G 3/2s0B 3/2s0A 3/2s1R 3/2s1G 3/2s1B 3/2s1A 3/2sZ
100 1=1 1 0 | sten 1/0R 1/0G 1/0B 1/0A 1/0sZ
000 1=1 1 1 | sten 1/0R 1/0G 1/0B 1/0A 3/2R 3/2G 3/2B 3/2A 1/0sZ 3/2sZ 1/0dZ 3/2dZ
100 1=1 1 1 | sten 1/0R 1/0G 1/0B 1/0A 1/0sZ 1/0dZ";

/// A row of the table.
struct Row {
    kind: u64,
    source: bool,
    stencil: bool,
    destination: bool,
    registers: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    TABLE
        .lines()
        .map(|line| {
            let (flags, registers) = line.split_once('|').unwrap();
            let flags: Vec<&str> = flags.split_whitespace().collect();
            Row {
                kind: u64::from_str_radix(flags[0], 2).unwrap(),
                source: flags[1] == "1=1",
                stencil: flags[2] == "1",
                destination: flags[3] == "1",
                registers: registers.split_whitespace().collect(),
            }
        })
        .collect()
}

/// The number that a test writes to a part of a slot.
fn number(part: &str, slot: usize) -> u32 {
    let code =
        ["R", "G", "B", "A", "s0R", "s0G", "s0B", "s0A", "s1R", "s1G", "s1B", "s1A", "sZ", "dZ"];
    1000 * (1 + code.iter().position(|other| *other == part).unwrap() as u32) + slot as u32
}

fn header(row: &Row, alpha: bool) -> Header {
    Header {
        pixel_enables: u(0xbeef),
        dispatched_pixel_enables: u(0xffef),
        color_calculator_state_pointer: Address::new(0x4_0040).unwrap(),
        subspan: std::array::from_fn(|n| Subspan { x: u(10 + 2 * n as u64), y: u(4 * n as u64) }),
        source_depth_present_to_render_target: row.source,
        destination_depth_present_to_render_target: row.destination,
        destination_stencil_present_to_render_target: row.stencil && !alpha,
        antialias_alpha_present_to_render_target: row.stencil && alpha,
        front_back_facing_polygon: Facing::BACK_FACING,
        clipped_out_mask: u(0x10),
        render_target_array_index: u(5),
        viewport_index: u(2),
        ..Header::new()
    }
}

/// The registers of a row: header, then numbers by part and slot.
fn payload(row: &Row, header: Header) -> Vec<[u32; 8]> {
    let dwords = header.pack();
    let mut payload =
        vec![std::array::from_fn(|n| dwords[n]), std::array::from_fn(|n| dwords[8 + n])];
    for name in &row.registers {
        payload.push(match *name {
            "RGBA" => std::array::from_fn(|n| if n < 4 { 1000 * (n as u32 + 1) } else { 9 }),
            // Bytes 0 to 15 are stencil values, bytes 16 to 31 antialias alpha.
            "sten" => std::array::from_fn(|n| {
                u32::from_le_bytes(std::array::from_fn(|byte| 3 * (4 * n + byte) as u8))
            }),
            name => {
                let first = if name.starts_with("3/2") { 8 } else { 0 };
                std::array::from_fn(|n| number(&name[3..], first + n))
            }
        });
    }
    payload
}

fn send(row: &Row, header: Header) -> Send {
    let descriptor = RenderTargetWriteDescriptor {
        message_type: Type::from_bits(row.kind),
        last_render_target_select: true,
        binding_table_index: u(6),
        ..RenderTargetWriteDescriptor::new()
    };
    // The execution mask is ignored (003:4935).
    Send {
        mask: 0,
        response: false,
        eot: true,
        ..Send::new(SharedFunction::DataPortWrite, descriptor.pack()[0], payload(row, header))
    }
}

#[test]
fn legal_messages() {
    let rows = rows();
    assert_eq!(rows.len(), 19);
    for row in &rows {
        for alpha in [false, true] {
            let dual = row.kind == 2 || row.kind == 3;
            if alpha && (!row.stencil || dual) {
                continue;
            }
            let mut rig = Rig::new();
            rig.local.pixels = true;
            rig.send(&send(row, header(row, alpha))).unwrap();
            let [write] = rig.local.writes[..] else { panic!("one write") };
            check(row, alpha, &write);
        }
    }
}

fn check(row: &Row, alpha: bool, write: &Write) {
    let slots = match row.kind {
        0 | 1 => 0..16,
        3 => 8..16,
        _ => 0..8usize,
    };
    let mask = slots.clone().fold(0u16, |mask, slot| mask | 1 << slot);
    let base = &write.base;
    assert_eq!((base.binding, base.last, base.upper, write.eot), (6, true, false, true));
    assert_eq!((base.slots, base.mask), (mask, 0xbeef & mask));
    assert_eq!((write.dispatched, write.clipped_out), (0xffef, 0x10));
    assert_eq!((base.slice, base.viewport, base.back), (5, 2, true));
    assert_eq!(base.subspans, [[10, 0], [12, 4], [14, 8], [16, 12]]);
    assert_eq!(write.color_calc, crate::rig::BASE + 0x4_0040);
    let letters = ["R", "G", "B", "A"];
    for slot in 0..16 {
        let inside = slots.contains(&slot);
        for (n, letter) in letters.into_iter().enumerate() {
            let expected = match row.kind {
                1 => 1000 * (n as u32 + 1),
                _ if !inside => 0,
                2 | 3 => number(&format!("s0{letter}"), slot),
                _ => number(letter, slot),
            };
            assert_eq!(base.color[n][slot], expected, "{letter} of slot {slot}");
            if let Some(second) = base.second {
                let expected = if inside { number(&format!("s1{letter}"), slot) } else { 0 };
                assert_eq!(second[n][slot], expected);
            }
        }
        let at = |part| if inside { number(part, slot) } else { 0 };
        if let Some(depth) = base.depth {
            assert_eq!(depth[slot].to_bits(), at("sZ"));
        }
        if let Some(depth) = write.destination_depth {
            assert_eq!(depth[slot], at("dZ"));
        }
        if let Some(stencil) = write.destination_stencil {
            assert_eq!(stencil[slot], 3 * slot as u8);
        }
        if let Some(antialias) = write.antialias {
            assert_eq!(antialias[slot], 3 * (16 + slot as u8));
        }
    }
    assert_eq!(base.second.is_some(), row.kind == 2 || row.kind == 3);
    assert_eq!(base.depth.is_some(), row.source);
    assert_eq!(write.destination_depth.is_some(), row.destination);
    assert_eq!(write.destination_stencil.is_some(), row.stencil && !alpha);
    assert_eq!(write.antialias.is_some(), row.stencil && alpha);
}

/// Wrong lengths and senders, reserved types, and parts that a type does not allow.
#[test]
fn refused() {
    let rows = rows();
    let mut rig = Rig::new();
    let text = rig.refusal(&send(&rows[0], header(&rows[0], false)));
    assert!(text.contains("only pixel shaders"), "{text}");
    rig.local.pixels = true;
    for row in &rows {
        for change in [-1i32, 1] {
            let mut send = send(row, header(row, false));
            match change {
                -1 => drop(send.payload.pop()),
                // The longest message has 15 registers.
                _ if send.payload.len() == 15 => continue,
                _ => send.payload.push([0; 8]),
            }
            let text = rig.refusal(&send);
            assert!(text.contains("need"), "{text}");
        }
    }
    let mut with = |kind: u64, header: Header, expected: &str| {
        let row =
            Row { kind, source: false, stencil: false, destination: false, registers: vec![] };
        let text = rig.refusal(&send(&row, header));
        assert!(text.contains(expected), "{text}");
    };
    for kind in 5..8 {
        with(kind, header(&rows[0], false), "reserved");
    }
    let destination = Header { destination_depth_present_to_render_target: true, ..Header::new() };
    with(0, destination, "without source depths");
    let alpha = Header { antialias_alpha_present_to_render_target: true, ..Header::new() };
    with(1, alpha, "one colour");
    with(2, alpha, "two colours");
    let short = Send { payload: vec![[0; 8]], ..send(&rows[0], Header::new()) };
    assert!(rig.refusal(&short).contains("two registers"));
    assert!(rig.local.writes.is_empty());
}
