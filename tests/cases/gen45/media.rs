//! The media pipeline: MEDIA_OBJECT in generic mode. Oracle: the text of the manual's sections on
//! media blocks, gateway and thread spawner, and where kernels of drivers find their data.

use super::{DATA, G45};
use genxml::core::{PowerOfTwo, U};
use genxml::eu;
use genxml::gen45::commands_common::{
    ConstantBuffer, CsUrbState, PipelineSelect, PipelineSelectPipelineSelection, StateBaseAddress,
    UrbFence,
};
use genxml::gen45::enums::SurfaceType;
use genxml::gen45::media::{
    InterfaceDescriptor, MediaObject, MediaStatePointers, VfeState, VfeStateEx, VfeStateVfeMode,
};
use genxml::gen45::message_payloads::{
    ForwardMsgPayload, ForwardMsgPayloadLength, OpenGatewayPayload, ThreadSpawnMessagePayload,
};
use genxml::gen45::state_formats::SurfaceFormat;
use genxml::gen45::state_surface::{
    BindingTableState, SurfaceState, SurfaceStateExtent,
    SurfaceStateMediaBoundaryPixelMode as Boundary,
};
use genxml::gen45::thread_payloads::{MediaChildThreadPayloadHeader, MediaThreadPayloadHeader};
use genxml_cases::{at, minus_one, push, u};
use genxml_sim::{EngineId, Event, Fault, Now};

/// VFE_STATE; the other addresses follow.
const VFE: u64 = DATA;
const DESCRIPTORS: u64 = DATA + 0x100;
const TABLE: u64 = DATA + 0x200;
const SURFACES: u64 = DATA + 0x400;
const CONSTANTS: u64 = DATA + 0x800;
const INDIRECT: u64 = DATA + 0x2000;
const KERNELS: u64 = DATA + 0x4000;
/// The surface that kernels write.
const TARGET: u64 = DATA + 0x8000;
/// The surface that kernels read.
const SOURCE: u64 = DATA + 0x1_0000;
/// Bytes of a row of both.
const PITCH: usize = 64;

/// What a test has in the state of the pipeline.
struct Scene<'a> {
    kernels: &'a [&'a [u32]],
    descriptor: InterfaceDescriptor,
    vfe: VfeState,
    constants: Vec<u32>,
    surfaces: Vec<SurfaceState>,
}

impl<'a> Scene<'a> {
    fn new(kernels: &'a [&'a [u32]]) -> Self {
        Scene {
            kernels,
            descriptor: InterfaceDescriptor {
                grf_register_blocks: minus_one(8),
                ..InterfaceDescriptor::new()
            },
            vfe: VfeState {
                maximum_number_of_threads: minus_one(16),
                urb_entry_allocation_size: minus_one(4),
                number_of_urb_entries: u(8),
                interface_descriptor_base_pointer: at(DESCRIPTORS),
                ..VfeState::new()
            },
            constants: Vec::new(),
            surfaces: vec![surface(TARGET, 64), surface(SOURCE, 64)],
        }
    }

    /// Writes the state to memory. Returns the packets that select it.
    fn state(&self, g45: &mut G45) -> Vec<u32> {
        let mut put =
            |address: u64, dwords: &[u32]| g45.write(address, bytemuck::cast_slice(dwords));
        put(VFE, &self.vfe.pack());
        for (n, kernel) in self.kernels.iter().enumerate() {
            let n = n as u64;
            put(KERNELS + 0x400 * n, kernel);
            let descriptor = InterfaceDescriptor {
                kernel_start_pointer: at(KERNELS + 0x400 * n),
                binding_table_pointer: at(TABLE),
                ..self.descriptor
            };
            put(DESCRIPTORS + 16 * n, &descriptor.pack());
        }
        for (n, surface) in self.surfaces.iter().enumerate() {
            let (n, address) = (n as u64, SURFACES + 32 * n as u64);
            put(address, &surface.pack());
            let entry = BindingTableState { surface_state_pointer: at(address) };
            put(TABLE + 4 * n, &entry.pack());
        }
        put(CONSTANTS, &self.constants);
        let rows = (self.constants.len() as u64).div_ceil(16);
        let mut batch = Vec::new();
        let pipeline_selection = PipelineSelectPipelineSelection::MEDIA;
        push(&mut batch, &PipelineSelect { pipeline_selection });
        push(
            &mut batch,
            &StateBaseAddress {
                indirect_object_base_address: at(INDIRECT),
                indirect_object_base_address_modify_enable: true,
                ..StateBaseAddress::new()
            },
        );
        push(
            &mut batch,
            &UrbFence {
                vfe_unit_urb_reallocation_request: true,
                vfe_fence: u(320),
                cs_unit_urb_reallocation_request: true,
                cs_fence: u(384),
                ..UrbFence::new()
            },
        );
        push(
            &mut batch,
            &MediaStatePointers { pointer_to_vfe_state: at(VFE), ..MediaStatePointers::new() },
        );
        if rows > 0 {
            push(
                &mut batch,
                &CsUrbState {
                    number_of_urb_entries: u(1),
                    urb_entry_allocation_size: minus_one(rows),
                },
            );
            push(
                &mut batch,
                &ConstantBuffer {
                    valid: true,
                    buffer_starting_address: at(CONSTANTS),
                    buffer_length: minus_one(rows),
                },
            );
        }
        batch
    }
}

/// A linear surface of bytes.
fn surface(address: u64, rows: u64) -> SurfaceState {
    SurfaceState {
        surface_type: SurfaceType::SURFTYPE_2D,
        surface_format: SurfaceFormat::R8_UINT,
        surface_base_address: at(address),
        extent: SurfaceStateExtent::Image {
            width: minus_one(PITCH as u64 / 4),
            height: minus_one(rows),
            depth: minus_one(1),
        },
        surface_pitch: minus_one(PITCH as u64),
        ..SurfaceState::new()
    }
}

fn object(batch: &mut Vec<u32>, descriptor: u64, inline: &[u32]) {
    let data: Vec<U<32>> = inline.iter().map(|&dword| u(dword.into())).collect();
    let packet = MediaObject {
        interface_descriptor_offset: u(descriptor),
        inline_data: data[..].into(),
        ..MediaObject::new()
    };
    push(batch, &packet);
}

/// The payloads of all threads.
fn payloads(g45: &mut G45, batch: &[u32]) -> Result<Vec<Vec<u32>>, Fault> {
    let mut found: Vec<Vec<u32>> = Vec::new();
    let mut hear = |_: Now, event: &Event<'_>| {
        if let Event::Thread { payload, .. } = event {
            found.push(
                payload.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect(),
            );
        }
    };
    let batch = [batch, &[super::END, 0]].concat();
    g45.write(super::BATCH, bytemuck::cast_slice(&batch));
    g45.gpu.submit_observed(g45.context, EngineId::Render, super::BATCH, 0, &mut hear)?;
    Ok(found)
}

/// Ends a root thread, and releases its URB entry.
const END: [u32; 4] = eu! {
    #![g45]
    send(8) 1 null<1>UD g0<8,8,1>UD 0x87100000
        thread_spawner MsgDesc: mlen 1 rlen 0 { align1 nomask EOT };
};

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

/// The root sends r1 to the gateway (open), tells the child its address in word 6 of r3, writes r3
/// and r5 to the URB, sends r2 to the thread spawner, waits, and writes r30 to (r5.6, r5.7).
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
