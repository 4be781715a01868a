//! Writes to the unified return buffer (003:6585-6786) and its sections.

use crate::rig::{Rig, Send, u};
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::commands_common::UrbFence;
use genxml::gen45::message_headers::UrbWriteMessageHeader;
use genxml::gen45::messages::{UrbMessageDescriptor, UrbMessageDescriptorUrbOpcode, UrbSwizzle};
use genxml_sim::gen45::urb::{ROW, ROWS, Unit};

/// Fences of crocus for vertices of two rows (digests/gen45_facts 4.1): VS, GS, CLIP, SF, CS.
pub fn fences() -> UrbFence {
    UrbFence {
        vs_unit_urb_reallocation_request: true,
        gs_unit_urb_reallocation_request: true,
        clip_unit_urb_reallocation_request: true,
        sf_unit_urb_reallocation_request: true,
        vfe_unit_urb_reallocation_request: true,
        cs_unit_urb_reallocation_request: true,
        vs_fence: u(128),
        gs_fence: u(144),
        clip_fence: u(164),
        sf_fence: u(196),
        vfe_fence: u(0),
        cs_fence: u(384),
    }
}

pub fn rig(unit: Unit, entries: usize, rows: usize) -> Rig {
    let mut rig = Rig::new();
    rig.urb().fence(&fences()).unwrap();
    rig.urb().begin(unit, entries, rows).unwrap();
    rig
}

/// A header and `count` registers of numbers: register n has 100 n to 100 n + 7.
pub fn payload(handles: [u16; 2], count: usize) -> Vec<[u32; 8]> {
    let header = UrbWriteMessageHeader {
        urb_return_handle_0: u(handles[0].into()),
        urb_return_handle_1: u(handles[1].into()),
        ..UrbWriteMessageHeader::new()
    };
    let mut payload = vec![header.pack()];
    payload.extend((1..=count).map(|n| std::array::from_fn(|d| (100 * n + d) as u32)));
    payload
}

fn send(descriptor: UrbMessageDescriptor, payload: Vec<[u32; 8]>) -> Send {
    let descriptor = descriptor.pack()[0];
    Send { mask: 0xff, channels: 8, ..Send::new(SharedFunction::Urb, descriptor, payload) }
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect()
}

const USED: UrbMessageDescriptor =
    UrbMessageDescriptor { used: true, complete: true, ..UrbMessageDescriptor::new() };

#[test]
fn consecutive_rows() {
    let mut rig = rig(Unit::Gs, 8, 2);
    let handle = rig.urb().handle(3);
    assert_eq!(handle, 128 + 6);
    // The channel enables are ignored.
    let one = UrbMessageDescriptor { offset: u(1), ..USED };
    rig.send(&Send { mask: 0, ..send(one, payload([handle, 0], 2)) }).unwrap();
    let entry = dwords(rig.urb().rows(handle, 2));
    assert_eq!(entry[..8], [0; 8]);
    assert_eq!(entry[8..16], [100, 101, 102, 103, 104, 105, 106, 107]);
    assert_eq!(entry[16..24], [200, 201, 202, 203, 204, 205, 206, 207]);
    assert_eq!(entry[24..], [0; 8]);
}

/// Lower halves go to the first handle, upper halves to the second. Oracle: 003:6707-6739.
#[test]
fn interleaved() {
    for mask in [0xffu32, 0x0f, 0xf0, 0x5a] {
        let mut rig = rig(Unit::Vs, 64, 2);
        let handles = [rig.urb().handle(5), rig.urb().handle(9)];
        let descriptor = UrbMessageDescriptor {
            swizzle_control: UrbSwizzle::URB_INTERLEAVED,
            offset: u(1),
            ..USED
        };
        rig.send(&Send { mask, ..send(descriptor, payload(handles, 3)) }).unwrap();
        for (half, handle) in handles.into_iter().enumerate() {
            let entry = dwords(rig.urb().rows(handle, 2));
            for (n, found) in entry.into_iter().enumerate() {
                let slot = n / 4;
                let enabled = mask >> (4 * half + n % 4) & 1 == 1;
                let expected = match slot {
                    2..=4 if enabled => (100 * (slot - 1) + 4 * half + n % 4) as u32,
                    _ => 0,
                };
                assert_eq!(found, expected, "dword {n} of vertex {half}, mask {mask:#x}");
            }
        }
    }
}

/// Oracle: table 8-2 (003:6762-6774).
#[test]
fn transposed() {
    let mut rig = rig(Unit::Sf, 8, 4);
    let handle = rig.urb().handle(1);
    let descriptor = UrbMessageDescriptor { swizzle_control: UrbSwizzle::URB_TRANSPOSE, ..USED };
    rig.send(&Send { mask: 0, ..send(descriptor, payload([handle, 0], 6)) }).unwrap();
    let found = dwords(rig.urb().rows(handle, 4));
    let table: [[[u32; 4]; 2]; 8] = [
        [[100, 200, 0, 300], [101, 201, 0, 301]],
        [[102, 202, 0, 302], [103, 203, 0, 303]],
        [[104, 204, 0, 304], [105, 205, 0, 305]],
        [[106, 206, 0, 306], [107, 207, 0, 307]],
        [[400, 500, 0, 600], [401, 501, 0, 601]],
        [[402, 502, 0, 602], [403, 503, 0, 603]],
        [[404, 504, 0, 604], [405, 505, 0, 605]],
        [[406, 506, 0, 606], [407, 507, 0, 607]],
    ];
    let table: Vec<u32> = table.into_iter().flatten().flatten().collect();
    assert_eq!(found, table);
}

/// A clip kernel writes more vertices than its section has entries, in the order of completion, and
/// gives back the last handle unused.
#[test]
fn produced_vertices() {
    let mut rig = rig(Unit::Clip, 10, 2);
    let mut handle = rig.urb().allocate();
    for n in 0..25u64 {
        let mut payload = payload([handle, 0], 4);
        payload[0] = UrbWriteMessageHeader {
            urb_return_handle_0: u(handle.into()),
            handle_0_prim_type: u(6),
            handle_0_prim_start: n == 0,
            handle_0_prim_end: n == 24,
            ..UrbWriteMessageHeader::new()
        }
        .pack();
        payload[1][0] = 7000 + n as u32;
        let descriptor = UrbMessageDescriptor { allocate: true, response_length: u(1), ..USED };
        rig.send(&send(descriptor, payload)).unwrap();
        assert_eq!(rig.answer(0)[1..], [0; 7]);
        let next = rig.answer(0)[0] as u16;
        assert_ne!(next, handle);
        handle = next;
    }
    let last = UrbMessageDescriptor { complete: true, ..UrbMessageDescriptor::new() };
    rig.send(&Send { eot: true, response: false, ..send(last, payload([handle, 0], 0)) }).unwrap();
    let urb = rig.urb();
    assert_eq!((urb.produced.len(), urb.produced_data.len()), (25, 25 * 2 * ROW));
    for (n, vertex) in urb.produced.iter().enumerate() {
        assert_eq!((vertex.topology, vertex.start, vertex.end), (6, n == 0, n == 24));
        let data = dwords(&urb.produced_data[2 * ROW * n..]);
        assert_eq!((data[0], data[1], data[31]), (7000 + n as u32, 101, 407));
    }
}

/// Rules of 003:6585-6618 and 003:6707-6747.
#[test]
fn refused() {
    let mut rig = rig(Unit::Vs, 64, 2);
    let handle = rig.urb().handle(0);
    let mut check = |descriptor: UrbMessageDescriptor, eot, payload, expected: &str| {
        let text = rig.refusal(&Send { eot, response: false, ..send(descriptor, payload) });
        assert!(text.contains(expected), "{text} has not {expected}");
    };
    let good = payload([handle, 0], 3);
    let opcode = UrbMessageDescriptorUrbOpcode::from_bits(1);
    check(UrbMessageDescriptor { urb_opcode: opcode, ..USED }, false, good.clone(), "opcode");
    check(UrbMessageDescriptor { allocate: true, ..USED }, true, good.clone(), "allocate");
    check(UrbMessageDescriptor { used: false, ..USED }, false, good.clone(), "without using");
    let reserved = UrbSwizzle::from_bits(3);
    check(
        UrbMessageDescriptor { swizzle_control: reserved, ..USED },
        false,
        good.clone(),
        "swizzle",
    );
    let transpose = UrbMessageDescriptor { swizzle_control: UrbSwizzle::URB_TRANSPOSE, ..USED };
    check(transpose, false, payload([handle, 0], 2), "multiple of 3");
    check(UrbMessageDescriptor { offset: u(1), ..transpose }, false, good.clone(), "even");
    check(USED, false, payload([handle, 0], 5), "2 rows");
    check(UrbMessageDescriptor { offset: u(63), ..USED }, false, good.clone(), "2 rows");
    check(USED, false, payload([handle + 1, 0], 1), "is no entry");
    check(USED, false, payload([128, 0], 1), "is no entry");
    check(USED, false, payload([0xffff, 0], 1), "is no entry");
}

/// Positions of sections: digests/gen45_facts 4.1.
#[test]
fn sections() {
    let mut rig = rig(Unit::Vs, 64, 2);
    let urb = rig.urb();
    let found = [Unit::Vs, Unit::Gs, Unit::Clip, Unit::Sf, Unit::Vfe, Unit::Cs]
        .map(|unit| urb.section(unit));
    assert_eq!(found, [0..128, 128..144, 144..164, 164..196, 196..196, 196..384]);
    // Only the fences whose bit is set move.
    let one =
        UrbFence { sf_unit_urb_reallocation_request: true, sf_fence: u(200), ..UrbFence::new() };
    urb.fence(&one).unwrap();
    assert_eq!((urb.section(Unit::Sf), urb.section(Unit::Cs)), (164..200, 200..384));
    let bad = UrbFence { cs_fence: u(385), ..fences() };
    assert!(urb.fence(&bad).unwrap_err().to_string().contains("384"));
    let bad = UrbFence { gs_fence: u(100), ..fences() };
    assert!(urb.fence(&bad).unwrap_err().to_string().contains("before"));
    assert!(urb.begin(Unit::Gs, 9, 2).is_err() && urb.begin(Unit::Gs, 8, 2).is_ok());
    assert!(urb.begin(Unit::Gs, 1, 0).is_err());
    assert_eq!(urb.rows(400, 3).len(), 0);
    assert_eq!(urb.rows((ROWS - 1) as u16, 3).len(), ROW);
}
