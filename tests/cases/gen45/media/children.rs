//! Root threads and their children.

use super::super::G45;
use super::*;
use genxml::core::PowerOfTwo;
use genxml::gen45::message_payloads::{
    ForwardMsgPayload, ForwardMsgPayloadLength, OpenGatewayPayload, ThreadSpawnMessagePayload,
};
use genxml::gen45::thread_payloads::MediaChildThreadPayloadHeader;

/// The root sends r1 to the gateway (open), passes its address to the child in word 6 of r3, writes
/// r3 and r5 to the URB, sends r2 to the thread spawner, waits, and writes r30 to (r5.6, r5.7).
const ROOT: [u32; 48] = eu! {
    #![g45]
    send(8) 1 null<1>UD g1<8,8,1>UD 0x03100000
        gateway MsgDesc: mlen 1 rlen 0 { align1 nomask };
    mov(1)   g3.6<1>UW  sr0<0,1,0>UW                       { align1 nomask };
    mov(8)   m3<1>UD    g3<8,8,1>UD                        { align1 nomask };
    mov(8)   m4<1>UD    g5<8,8,1>UD                        { align1 nomask };
    send(8) 2 null<1>UD g4<8,8,1>UD 0x06300000
        urb MsgDesc: mlen 3 rlen 0 { align1 nomask };
    send(8) 5 null<1>UD g2<8,8,1>UD 0x07100001
        thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask };
    wait(1)  n0<1>UD                                       { align1 nomask };
    mov(8)   g10<1>UD   0x0000000fUD                       { align1 nomask };
    mov(2)   g10<1>UD   g5.6<2,2,1>UD                      { align1 nomask };
    mov(8)   m8<1>UD    g30<8,8,1>UD                       { align1 nomask };
    send(16) 7 null<1>UW g10<8,8,1>UW 0x05202000
        write MsgDesc: mlen 2 rlen 0 { align1 nomask };
    send(8) 1 null<1>UD g0<8,8,1>UD 0x87100000
        thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
};

/// The child sends four dwords and a notification to the thread whose address is in word 6 of r0.
const CHILD: [u32; 12] = eu! {
    #![g45]
    mov(1)   g1.9<1>UW  g0.6<0,1,0>UW                      { align1 nomask };
    send(8) 1 null<1>UD g1<8,8,1>UD 0x03108002
        gateway MsgDesc: mlen 1 rlen 0 { align1 nomask };
    send(8) 1 null<1>UD g0<8,8,1>UD 0x87100012
        thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
};

fn family() -> Scene<'static> {
    const KERNELS: &[&[u32]] = &[&ROOT, &CHILD];
    let open = OpenGatewayPayload {
        key: u(0x1212),
        reg_base: u(30),
        gateway_size: PowerOfTwo::new(2).unwrap(),
        ..OpenGatewayPayload::new()
    };
    let spawn = ThreadSpawnMessagePayload {
        interface_descriptor_pointer: at(DESCRIPTORS + 16),
        dispatch_urb_length: u(1),
        dispatch_urb_handle: u(0),
        ..ThreadSpawnMessagePayload::new()
    };
    let child = MediaChildThreadPayloadHeader {
        interface_descriptor_pointer: at(DESCRIPTORS + 16),
        binding_table_pointer: at(TABLE),
        child_thread_id: u(77),
        ..MediaChildThreadPayloadHeader::new()
    };
    let mut scene = Scene::new(KERNELS);
    scene.constants = [open.pack(), spawn.pack(), child.pack(), [0; 8]].concat();
    scene.vfe.children_present = true;
    scene
}

/// Data of the root in `family`: the child's message, and where the root writes its first register.
fn message(first: u32, x: u32, y: u32) -> [u32; 8] {
    let mut dwords = ForwardMsgPayload {
        data_segment_dword_0: u(first.into()),
        data_segment_dword_1: u(u64::from(first) + 1),
        data_segment_dword_2: u(u64::from(first) + 2),
        data_segment_dword_3: u(u64::from(first) + 3),
        key: u(0x1212),
        offset: u(0),
        length: ForwardMsgPayloadLength::_4_DWORDS,
        ..ForwardMsgPayload::new()
    }
    .pack();
    (dwords[6], dwords[7]) = (x, y);
    dwords
}

/// A root thread spawns a child, which answers through the gateway (003:985, 1864, chapter 7).
#[test]
fn children() {
    let mut g45 = G45::new();
    let mut scene = family();
    // Constants are for the root: the child finds its data in r1.
    let batch = scene.state(&mut g45);
    let root = InterfaceDescriptor {
        constant_urb_entry_read_length: u(4),
        kernel_start_pointer: at(KERNELS),
        binding_table_pointer: at(TABLE),
        ..scene.descriptor
    };
    g45.write(DESCRIPTORS, bytemuck::cast_slice(&root.pack()));
    let mut objects = batch.clone();
    object(&mut objects, 0, &message(0x100, 16, 3));
    object(&mut objects, 0, &message(0x200, 32, 5));
    let stats = g45.run(&objects).unwrap();
    assert_eq!(stats.threads, 4);
    for (first, x, y) in [(0x100, 16, 3), (0x200, 32, 5)] {
        let found: Vec<u32> =
            (0..4).map(|n| g45.dword(TARGET + y * PITCH as u64 + x + 4 * n)).collect();
        assert_eq!(found, [first, first + 1, first + 2, first + 3]);
    }
    // The child's r0 is what the root wrote, with the root's address.
    let found = payloads(&mut g45, &objects).unwrap();
    let child = MediaChildThreadPayloadHeader::unpack_lossy(&found[1][..8].try_into().unwrap());
    assert_eq!((child.child_thread_id.get(), child.parent_euid.get()), (77, 0));
    assert_eq!(found[1].len(), 16);

    // Without Children Present, nothing can be spawned.
    scene.vfe.children_present = false;
    g45.write(VFE, bytemuck::cast_slice(&scene.vfe.pack()));
    let fault = g45.fault(&objects);
    assert!(fault.contains("Children Present"), "{fault}");
}
