//! MEDIA_OBJECT and MEDIA_OBJECT_GRPID: payloads of threads. Oracle: 2a p.489-499, gen8_facts 3.7.

use genxml::core::U;
use genxml::eu;
use genxml::gen8::media::{MediaObject, MediaObjectGrpid, MediaObjectPrt};
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize as Size,
};
use genxml::gen8::thread_payloads::MediaThreadPayloadHeader;
use genxml_cases::media::INDIRECT;
use genxml_cases::{Media, Model, at, push, u};
use genxml_sim::Fault;

const END: &[u32] = &eu! {
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

fn header(payload: &[u32]) -> MediaThreadPayloadHeader {
    MediaThreadPayloadHeader::unpack_lossy(&payload[..8].try_into().unwrap())
}

fn inline(dwords: u64) -> Vec<U<32>> {
    (0..dwords).map(|n| u(0x100 + n)).collect()
}

fn constants(registers: u32) -> Vec<u8> {
    (0..8 * registers).flat_map(u32::to_le_bytes).collect()
}

/// The payload has r0, constants, inline data and indirect data, in this order. Each part starts at
/// a new register.
#[test]
fn media_objects() {
    let mut model = Model::new();
    let descriptor = InterfaceDescriptorData {
        constant_indirect_urb_entry_read_length: u(2),
        constant_urb_entry_read_offset: u(1),
        ..InterfaceDescriptorData::new()
    };
    let media = Media { descriptors: vec![descriptor], curbe: constants(4), ..Media::new(END) };
    let mut batch = media.state(&mut model);
    let indirect: Vec<u32> = (0..16).map(|n| 0x200 + n).collect();
    model.put(INDIRECT + 64, &indirect);
    let data = inline(11);
    let object = MediaObject {
        scoreboard_x: u(511),
        scoredboard_y: u(300),
        scoreboard_color: u(9),
        inline_data: data[..].into(),
        indirect_data_length: u(64),
        indirect_data_start_address: at(64),
        ..MediaObject::new()
    };
    push(&mut batch, &object);
    let found = model.payloads(&batch).unwrap();
    let [payload] = &found[..] else { panic!("{} threads", found.len()) };
    let r0 = header(payload);
    assert_eq!(
        (r0.scoreboard_x.get(), r0.scoreboard_y.get(), r0.scoreboard_color.get()),
        (511, 300, 9)
    );
    assert_eq!((r0.urb_return_handle.get(), r0.interface_descriptor_offset.get()), (0, 0));
    let mut expected: Vec<u32> = (8..24).collect();
    expected.extend((0..11).map(|n| 0x100 + n));
    expected.extend([0; 5]);
    expected.extend(indirect);
    assert_eq!(payload[8..], expected);

    // The URB entry of a thread with children follows 64 registers of descriptors.
    let mut batch = media.state(&mut model);
    push(&mut batch, &MediaObject { children_present: true, ..MediaObject::new() });
    assert_eq!(header(&model.payloads(&batch).unwrap()[0]).urb_return_handle.get(), 64);

    for (object, field) in [
        (MediaObject { indirect_data_length: u(40), ..object }, "Indirect Data Length"),
        (MediaObject { indirect_data_length: u(2016), ..object }, "Indirect Data Length"),
        (
            MediaObject { interface_descriptor_offset: u(1), ..object },
            "Interface Descriptor Offset",
        ),
    ] {
        let mut batch = media.state(&mut model);
        push(&mut batch, &object);
        let fault = model.render(&batch).unwrap_err();
        assert!(
            matches!(&fault, Fault::BadPacket { field: found, .. } if *found == field),
            "{fault}"
        );
    }
}

/// A persistent root thread has twelve dwords of inline data.
#[test]
fn persistent_root_threads() {
    let mut model = Model::new();
    let mut batch = Media::new(END).state(&mut model);
    let data = std::array::from_fn(|n| u(n as u64 + 1));
    push(&mut batch, &MediaObjectPrt { inline_data: data, ..MediaObjectPrt::new() });
    let found = model.payloads(&batch).unwrap();
    let expected: Vec<u32> = (1..=12).chain([0; 4]).collect();
    assert_eq!(found[0][8..], expected);
}

/// Threads of two groups, alternately. Each group has its own barrier, and its first thread gets
/// the first constants.
#[test]
fn groups_by_number() {
    const MEET: &[u32] = &eu! {
        (W) mov (8|M0)   r10.0<1>:ud   0:ud
        (W) and (1|M0)   r10.2<1>:ud   r0.2<0;1,0>:ud  0x0f000000:ud
        (W) send (1|M0)  null  r10   0x3  0x02000004
        (W) wait         n0.0<0;1,0>:ud
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    const THREADS: u64 = 3;
    let descriptor = InterfaceDescriptorData {
        barrier_enable: true,
        number_of_threads_in_gpgpu_thread_group: u(THREADS),
        cross_thread_constant_data_read_length: u(1),
        constant_indirect_urb_entry_read_length: u(1),
        ..InterfaceDescriptorData::new()
    };
    let media = Media { descriptors: vec![descriptor], curbe: constants(4), ..Media::new(MEET) };
    let run = |threads: u64| {
        let mut model = Model::new();
        let mut batch = media.state(&mut model);
        // The group numbers of the first pair are used again.
        for _ in 0..2 {
            for thread in 0..threads {
                for group in [7, 0xffff_ffff] {
                    let object = MediaObjectGrpid {
                        group_id: u(group),
                        end_of_thread_group: thread + 1 == THREADS,
                        ..MediaObjectGrpid::new()
                    };
                    push(&mut batch, &object);
                }
            }
        }
        model.payloads(&batch)
    };
    let found = run(THREADS).unwrap();
    assert_eq!(found.len(), 12);
    for (n, payload) in (0..).zip(&found) {
        let (group, thread) = (n % 2, n / 2 % THREADS as u32);
        assert_eq!(header(payload).barrier_id.get(), u64::from(group));
        assert_eq!(payload[8..16], (0..8).collect::<Vec<u32>>());
        assert_eq!(payload[16..], (8 * (1 + thread)..8 * (2 + thread)).collect::<Vec<u32>>());
    }
    let fault = run(THREADS - 1).unwrap_err();
    assert!(matches!(&fault, Fault::Stuck { .. }), "{fault}");
}

/// Data of MEDIA_OBJECT_GRPID (2a p.494): inline data belongs to its own thread. Indirect data is
/// divided among the threads of the group like constants; a thread's own registers come first
/// (assumptions::INDIRECT_DATA_OF_A_THREAD_COMES_FIRST).
#[test]
fn data_of_grouped_objects() {
    let mut model = Model::new();
    let descriptor = InterfaceDescriptorData {
        number_of_threads_in_gpgpu_thread_group: u(2),
        shared_local_memory_size: Size::from_bits(1),
        ..InterfaceDescriptorData::new()
    };
    let media = Media { descriptors: vec![descriptor], ..Media::new(END) };
    let mut batch = media.state(&mut model);
    let data = [inline(11), inline(3)];
    for (thread, data) in (0..).zip(&data) {
        let object = MediaObjectGrpid {
            inline_data: data[..].into(),
            end_of_thread_group: thread == 1,
            ..MediaObjectGrpid::new()
        };
        push(&mut batch, &object);
    }
    let found = model.payloads(&batch).unwrap();
    let padded = |dwords: u32, room: u32| -> Vec<u32> {
        (0..room).map(|n| if n < dwords { 0x100 + n } else { 0 }).collect()
    };
    assert_eq!([&found[0][8..], &found[1][8..]], [padded(11, 16), padded(3, 8)]);

    // One register for both threads, two for each thread.
    let descriptor = InterfaceDescriptorData {
        cross_thread_constant_data_read_length: u(1),
        constant_indirect_urb_entry_read_length: u(2),
        ..descriptor
    };
    let media = Media { descriptors: vec![descriptor], ..media };
    let mut batch = media.state(&mut model);
    let register = |n: u32| 8 * n..8 * (n + 1);
    let indirect: Vec<u32> = (0..5).flat_map(register).collect();
    model.put(INDIRECT + 128, &indirect);
    for thread in 0..2 {
        let object = MediaObjectGrpid {
            indirect_data_length: u(32 * 5),
            indirect_data_start_address: at(128),
            end_of_thread_group: thread == 1,
            ..MediaObjectGrpid::new()
        };
        push(&mut batch, &object);
    }
    let found = model.payloads(&batch).unwrap();
    for (thread, payload) in (0..2).zip(&found) {
        let own = 1 + 2 * thread;
        let expected: Vec<u32> = [own, own + 1, 0].into_iter().flat_map(register).collect();
        assert_eq!(payload[8..], expected, "thread {thread}");
    }
}
