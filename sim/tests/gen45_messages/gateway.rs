//! Message gateway (003 chapter 7), thread spawner and the null function.

use crate::rig::{ANSWER, Rig, Send, before, u};
use genxml::core::PowerOfTwo;
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::message_payloads::{
    ForwardMsgPayload, ForwardMsgPayloadLength as Length, OpenGatewayPayload,
};
use genxml::gen45::messages::*;
use genxml_sim::gen45::message::gateway::place;
use genxml_sim::unit::local::{Mail, Request};

fn send(function: GatewayFunction, acknowledge: bool, payload: [u32; 8]) -> Send {
    let descriptor = MessageGatewayDescriptor {
        sub_func_id: function,
        ack_req: acknowledge,
        notify: true,
        response_length: u(u64::from(acknowledge)),
        ..MessageGatewayDescriptor::new()
    };
    let send = Send::new(SharedFunction::Gateway, descriptor.pack()[0], vec![payload]);
    Send { response: acknowledge, ..send }
}

fn open(key: u64, base: u64, size: u64) -> [u32; 8] {
    OpenGatewayPayload {
        key: u(key),
        reg_base: u(base),
        gateway_size: PowerOfTwo::new(size).unwrap(),
        ..OpenGatewayPayload::new()
    }
    .pack()
}

fn forward(to: u32, key: u64, offset: u64, length: Length) -> [u32; 8] {
    let (unit, slot) = place(to);
    ForwardMsgPayload {
        data_segment_dword_0: u(0x0403_0201),
        data_segment_dword_1: u(0x0807_0605),
        data_segment_dword_2: u(0x0c0b_0a09),
        data_segment_dword_3: u(0x100f_0e0d),
        key: u(key),
        euid: u(unit.into()),
        tid: u(slot.into()),
        offset: u(offset),
        length,
        ..ForwardMsgPayload::new()
    }
    .pack()
}

/// The error code and the shared function in the lowest dword, which alone is written.
fn acknowledged(rig: &Rig, error: u32) {
    let expected = std::array::from_fn(|n| match n {
        0 => 3 << 16 | error,
        n => before(ANSWER, n),
    });
    assert_eq!(rig.answer(0), expected);
}

/// Error codes: 003:6381, 003:6462.
#[test]
fn messages_between_threads() {
    let mut rig = Rig::new();
    rig.local.shared.sender = 13;
    rig.send(&send(GatewayFunction::OPEN_GATEWAY, true, open(0xabc, 20, 4))).unwrap();
    acknowledged(&rig, 0);
    rig.local.shared.sender = 2;
    let cases = [
        (forward(13, 0xabc, 0, Length::_4_DWORDS), 0),
        (forward(13, 0xabc, 4 * 32 - 16, Length::_4_DWORDS), 0),
        (forward(13, 0xabc, 4 * 32, Length::_1_BYTE), 4),
        (forward(13, 0xabd, 0, Length::_1_DWORD), 3),
        (forward(14, 0xabc, 0, Length::_1_DWORD), 2),
        (forward(13, 0xabc, 0, Length::from_bits(1)), 6),
        (forward(13, 0xabc, 0, Length::from_bits(7)), 6),
    ];
    for (payload, error) in cases {
        rig.send(&send(GatewayFunction::FORWARD_MSG, true, payload)).unwrap();
        acknowledged(&rig, error);
    }
    rig.send(&send(GatewayFunction::FORWARD_MSG, false, forward(13, 0xabc, 37, Length::_1_BYTE)))
        .unwrap();
    let places: Vec<_> = rig.local.shared.mail.iter().map(mail).collect();
    let bytes: Vec<u8> = (1..=16).collect();
    assert_eq!(
        places,
        [(13, 640, bytes.clone()), (13, 640 + 112, bytes.clone()), (13, 640 + 37, vec![1])]
    );
    assert!(rig.local.shared.mail.iter().all(|mail| mail.notify == Some(0)));
    // Data must be aligned to its length.
    let unaligned =
        send(GatewayFunction::FORWARD_MSG, true, forward(13, 0xabc, 2, Length::_1_DWORD));
    assert!(rig.refusal(&unaligned).contains("not a multiple of 4"));
    // The reserved function, and a gateway that is too large.
    rig.send(&send(GatewayFunction::from_bits(3), true, [0; 8])).unwrap();
    acknowledged(&rig, 5);
    rig.send(&send(GatewayFunction::OPEN_GATEWAY, true, open(1, 0, 64))).unwrap();
    acknowledged(&rig, 1);
    // Closing; a message that ends the thread closes too.
    rig.local.shared.sender = 13;
    let ends = Send { eot: true, ..send(GatewayFunction::OPEN_GATEWAY, false, open(7, 0, 1)) };
    rig.send(&ends).unwrap();
    assert!(rig.local.shared.gateways.is_empty());
    let long =
        MessageGatewayDescriptor { response_length: u(1), ..MessageGatewayDescriptor::new() };
    let send = Send::new(SharedFunction::Gateway, long.pack()[0], vec![[0; 8]]);
    assert!(rig.refusal(&send).contains("response of 1"));
}

fn mail(mail: &Mail) -> (u32, usize, Vec<u8>) {
    let data = mail.data.unwrap();
    (mail.to, data.offset, data.bytes[..data.length].to_vec())
}

#[test]
fn spawner() {
    let descriptor = |opcode, resource, requester_type| {
        ThreadSpawnMessageDescriptor {
            opcode,
            requester_type,
            resource,
            ..ThreadSpawnMessageDescriptor::new()
        }
        .pack()[0]
    };
    use ThreadSpawnMessageDescriptorOpcode as Opcode;
    use ThreadSpawnMessageDescriptorRequesterType as Requester;
    use ThreadSpawnMessageDescriptorResource as Resource;
    let spawn = |select| Resource::Spawn { resource_select: select };
    let release = Resource::Dereference {
        resource_select: ThreadSpawnMessageDescriptorResourceSelect::DEREFERENCE_RESOURCE,
    };
    let child = ThreadSpawnMessageDescriptorSpawnResourceSelect::SPAWN_CHILD;
    let root = ThreadSpawnMessageDescriptorSpawnResourceSelect::SPAWN_ROOT;
    let send = |descriptor| Send {
        response: false,
        ..Send::new(SharedFunction::ThreadSpawner, descriptor, vec![[1, 2, 3, 4, 5, 6, 7, 8]])
    };
    let mut rig = Rig::new();
    let children = send(descriptor(Opcode::SPAWN_THREAD, spawn(child), Requester::ROOT_THREAD));
    assert!(rig.refusal(&children).contains("only media threads"));
    rig.local.shared.spawns = true;
    rig.send(&children).unwrap();
    rig.send(&send(descriptor(Opcode::SPAWN_THREAD, spawn(root), Requester::ROOT_THREAD))).unwrap();
    let end = descriptor(Opcode::DEREFERENCE_RESOURCE, release, Requester::ROOT_THREAD);
    rig.send(&Send { eot: true, ..send(end) }).unwrap();
    let end = descriptor(Opcode::DEREFERENCE_RESOURCE, release, Requester::CHILD_THREAD);
    rig.send(&Send { eot: true, ..send(end) }).unwrap();
    assert_eq!(
        rig.local.shared.requests,
        [Request::Child([1, 2, 3, 4, 5, 6, 7, 8]), Request::Root, Request::Release]
    );
    assert!(rig.refusal(&Send { eot: true, ..children }).contains("cannot spawn another one"));
}

/// The null function ignores a message, which can end the thread (003:1110). A message to a number
/// without a function is an error (003:1164).
#[test]
fn nobody() {
    let mut rig = Rig::new();
    let null = Send::new(SharedFunction::Null, 0, vec![[0; 8]]);
    rig.send(&Send { eot: true, response: false, ..null.clone() }).unwrap();
    let text = rig.refusal(&Send { function: SharedFunction::Reserved(9), ..null });
    assert!(text.contains("does not exist"), "{text}");
}
