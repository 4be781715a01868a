//! MEDIA_OBJECT in generic mode.

use super::super::G45;
use super::super::debugging::load;
use super::*;
use genxml::gen45::commands_common::StateSip;
use genxml::gen45::debug_shared::TdCtl;
use genxml::gen45::media::{VfeStateEx, VfeStateVfeMode};
use genxml::gen45::registers::Instpm;
use genxml::gen45::state_surface::SurfaceStateMediaBoundaryPixelMode as Boundary;
use genxml::gen45::thread_payloads::MediaThreadPayloadHeader;

/// Writes 16 x 8 bytes of the colour r1.2 at (r1.0, r1.1).
const FILL: [u32; 24] = eu! {
    #![g45]
    mov(8)   g10<1>UD   0x0007000fUD                       { align1 nomask };
    mov(2)   g10<1>UD   g1<2,2,1>UD                        { align1 nomask };
    mov(16)  m2<1>UD    g1.2<0,1,0>UD                      { align1 nomask compr };
    mov(16)  m4<1>UD    g1.2<0,1,0>UD                      { align1 nomask compr };
    send(16) 1 null<1>UW g10<8,8,1>UW 0x05502000
        write MsgDesc: mlen 5 rlen 0 { align1 nomask };
    send(8) 1 null<1>UD g0<8,8,1>UD 0x87100000
        thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
};

/// Threads write in the order of their packets.
#[test]
fn fill() {
    let mut g45 = G45::new();
    let mut batch = Scene::new(&[&FILL]).state(&mut g45);
    let mut expected = vec![0u8; 64 * PITCH];
    let blocks = [(0, 0, 0x11), (16, 8, 0x22), (8, 4, 0x33), (48, 56, 0x44), (12, 6, 0x55)];
    for (x, y, color) in blocks {
        object(&mut batch, 0, &[x, y, color * 0x0101_0101]);
        for row in y..y + 8 {
            let start = row as usize * PITCH + x as usize;
            expected[start..start + 16].fill(color as u8);
        }
    }
    let stats = g45.run(&batch).unwrap();
    assert_eq!(stats.threads, blocks.len() as u64);
    assert!(g45.read(TARGET, expected.len()) == expected);
}

/// Reads 4 x 12 bytes at (0, -4) and writes them to (r1.0, 0).
const ROWS: [u32; 32] = eu! {
    #![g45]
    mov(8)   g10<1>UD   0UD                                { align1 nomask };
    mov(1)   g10.1<1>D  -4D                                { align1 nomask };
    mov(1)   g10.2<1>UD 0x000b0003UD                       { align1 nomask };
    send(16) 1 g20<1>UW g10<8,8,1>UW 0x0412a001
        read MsgDesc: mlen 1 rlen 2 { align1 nomask };
    mov(2)   g10<1>UD   g1<2,2,1>UD                        { align1 nomask };
    mov(16)  m2<1>UD    g20<8,8,1>UD                       { align1 nomask compr };
    send(16) 1 null<1>UW g10<8,8,1>UW 0x05302000
        write MsgDesc: mlen 3 rlen 0 { align1 nomask };
    send(8) 1 null<1>UD g0<8,8,1>UD 0x87100000
        thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
};

/// Rows above and below the surface, by Media Boundary Pixel Mode, Vertical Line Stride and its
/// offset. Oracle: the table 003:4391-4400, rows -4 to 7 of a surface of four lines.
#[test]
fn boundary_rows() {
    let table = [
        (Boundary::NORMAL_MODE, 0, 0, "000001233333"),
        (Boundary::NORMAL_MODE, 1, 0, "000002222222"),
        (Boundary::NORMAL_MODE, 1, 1, "111113333333"),
        (Boundary::PROGRESSIVE_FRAME, 0, 0, "000001233333"),
        (Boundary::PROGRESSIVE_FRAME, 1, 0, "000002333333"),
        (Boundary::PROGRESSIVE_FRAME, 1, 1, "000013333333"),
        (Boundary::INTERLACED_FRAME, 0, 0, "010101232323"),
        (Boundary::INTERLACED_FRAME, 1, 0, "000002222222"),
        (Boundary::INTERLACED_FRAME, 1, 1, "111113333333"),
    ];
    for (mode, stride, offset, expected) in table {
        let mut g45 = G45::new();
        let lines = if stride == 1 { 2 } else { 4 };
        let mut scene = Scene::new(&[&ROWS]);
        scene.surfaces[1] = SurfaceState {
            media_boundary_pixel_mode: mode,
            vertical_line_stride: u(stride),
            vertical_line_stride_offset: u(offset),
            ..surface(SOURCE, lines)
        };
        let mut batch = scene.state(&mut g45);
        let source: Vec<u8> = (0..4).flat_map(|line| [b'0' + line; PITCH]).collect();
        g45.write(SOURCE, &source);
        object(&mut batch, 0, &[8, 0]);
        g45.run(&batch).unwrap();
        let target = g45.read(TARGET, 12 * PITCH);
        let found: Vec<u8> = (0..12).map(|row| target[row * PITCH + 8]).collect();
        assert_eq!(String::from_utf8(found).unwrap(), expected, "{mode:?} {stride} {offset}");
    }
}

/// After r0 come constants, inline data and indirect data, each from a new register on. r0 has the
/// descriptor, samplers, surfaces and scratch space of the thread.
#[test]
fn payload() {
    let mut g45 = G45::new();
    let mut scene = Scene::new(&[&END, &END]);
    scene.constants = (0..48).collect();
    scene.descriptor = InterfaceDescriptor {
        constant_urb_entry_read_length: u(2),
        constant_urb_entry_read_offset: u(1),
        sampler_state_pointer: at(0x40),
        ..scene.descriptor
    };
    scene.vfe.scratch_space_base_pointer = at(0x7000);
    scene.vfe.per_thread_scratch_space = u(1);
    let mut batch = scene.state(&mut g45);
    let indirect: Vec<u32> = (0..16).map(|n| 0x200 + n).collect();
    g45.write(INDIRECT + 64, bytemuck::cast_slice(&indirect));
    let inline: Vec<U<32>> = (0..9).map(|n| u(0x100 + n)).collect();
    let packet = MediaObject {
        interface_descriptor_offset: u(1),
        indirect_data_length: u(48),
        indirect_data_start_address: at(64),
        inline_data: inline[..].into(),
    };
    push(&mut batch, &packet);
    let found = payloads(&mut g45, &batch).unwrap();
    let [payload] = &found[..] else { panic!("{} threads", found.len()) };
    let r0 = MediaThreadPayloadHeader {
        interface_descriptor_pointer: at(DESCRIPTORS + 16),
        sampler_state_pointer: at(0x40),
        binding_table_pointer: at(TABLE),
        scratch_space_base_pointer: at(0x7000),
        ..MediaThreadPayloadHeader::new()
    };
    let mut expected = r0.pack().to_vec();
    expected.extend(8..24);
    expected.extend((0..9).map(|n| 0x100 + n));
    expected.extend([0; 7]);
    expected.extend(&indirect[..12]);
    expected.extend([0; 4]);
    assert_eq!(payload, &expected);

    for (packet, text) in [
        (MediaObject { indirect_data_length: u(128 * 32), ..packet }, "Indirect Data Length"),
        (MediaObject { indirect_data_length: u(124 * 32), ..packet }, "thread payload"),
    ] {
        let mut batch = scene.state(&mut g45);
        push(&mut batch, &packet);
        let fault = g45.fault(&batch);
        assert!(fault.contains("MEDIA_OBJECT") && fault.contains(text), "{fault}");
    }
}
/// A root that waits for a message that no thread sends is reported.
#[test]
fn stuck() {
    const WAIT: [u32; 8] = eu! {
        #![g45]
        wait(1)  n0<1>UD                                       { align1 nomask };
        send(8) 1 null<1>UD g0<8,8,1>UD 0x87100000
            thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
    };
    let mut g45 = G45::new();
    let mut batch = Scene::new(&[&WAIT]).state(&mut g45);
    object(&mut batch, 0, &[]);
    let fault = g45.run(&batch).unwrap_err();
    assert!(matches!(fault, Fault::Stuck { .. }), "{fault}");
    // The next batch is not concerned.
    let batch = Scene::new(&[&END]).state(&mut g45);
    g45.run(&batch).unwrap();
}

/// A media thread enters the system routine of STATE_SIP at an exception. (003:9231-9263)
#[test]
fn exceptions() {
    const RAISE: [u32; 8] = eu! {
        #![g45]
        or(1)   cr0.1<1>UD  cr0.1<0,1,0>UD  0x20000000UD       { align1 nomask };
        send(8) 1 null<1>UD g0<8,8,1>UD 0x87100000
            thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
    };
    let mut g45 = G45::new();
    let mut scene = Scene::new(&[&RAISE, &END]);
    scene.descriptor.software_exception_enable = true;
    let mut batch = scene.state(&mut g45);
    object(&mut batch, 0, &[]);
    let fault = g45.run(&batch).unwrap_err().to_string();
    assert!(fault.contains("system routine"), "{fault}");
    let mut batch = scene.state(&mut g45);
    push(&mut batch, &StateSip { system_instruction_pointer: at(KERNELS + 0x400) });
    object(&mut batch, 0, &[]);
    g45.run(&batch).unwrap();
}

/// Registers for debugging that would change media threads are refused.
#[test]
fn debugging() {
    let mut g45 = G45::new();
    let scene = Scene::new(&[&END]);
    let force = TdCtl { force_thread_breakpoint_enable: true, ..TdCtl::new() }.pack()[0];
    for (value, refused) in [(0, false), (force, true)] {
        let mut batch = scene.state(&mut g45);
        batch.extend(load(0, &[(Instpm::OFFSET, 0x0010_0010), (TdCtl::OFFSET, value)]));
        object(&mut batch, 0, &[]);
        let result = g45.run(&batch).map_err(|fault| fault.to_string());
        assert_eq!(result.is_err_and(|fault| fault.contains("media threads")), refused);
    }
}

/// What the front end cannot do is a fault that names it.
#[test]
fn faults() {
    let mut g45 = G45::new();
    let mut run = |change: &dyn Fn(&mut Scene<'_>, &mut Vec<u32>)| {
        let mut scene = Scene::new(&[&END]);
        change(&mut scene, &mut Vec::new());
        let mut batch = scene.state(&mut g45);
        change(&mut scene, &mut batch);
        object(&mut batch, 0, &[]);
        g45.run(&batch).map_err(|fault| fault.to_string())
    };
    assert!(run(&|_, _| {}).is_ok());
    for (mode, text) in [
        (VfeStateVfeMode::IS, "inverse scan"),
        (VfeStateVfeMode::AVC_MC, "AVC"),
        (VfeStateVfeMode::AVC_IT, "AVC"),
        (VfeStateVfeMode::VLD, "VLD State Enable"),
        (VfeStateVfeMode::from_bits(9), "VFE Mode"),
    ] {
        let fault = run(&|scene, _| scene.vfe.vfe_mode = mode).unwrap_err();
        assert!(fault.contains(text), "{fault}");
    }
    let fault = run(&|_, batch| {
        let pipeline_selection = PipelineSelectPipelineSelection::_3D;
        push(batch, &PipelineSelect { pipeline_selection });
    });
    assert!(fault.unwrap_err().contains("Pipeline Selection"));
    let fault = run(&|scene, _| scene.vfe.number_of_urb_entries = u(100)).unwrap_err();
    assert!(fault.contains("Number of URB Entries"), "{fault}");

    let mut scene = Scene::new(&[&END]);
    scene.vfe.extended_vfe_state_present = true;
    for (scoreboard_enable, expected) in [(false, true), (true, false)] {
        let more = VfeStateEx { scoreboard_enable, ..VfeStateEx::new() };
        g45.write(VFE + 12, bytemuck::cast_slice(&more.pack()));
        let mut batch = scene.state(&mut g45);
        object(&mut batch, 0, &[]);
        assert_eq!(g45.run(&batch).is_ok(), expected);
    }
}
