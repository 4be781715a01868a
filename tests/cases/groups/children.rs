//! Child threads, and root threads that wait for messages of other threads. The kernels do what
//! media kernels of earlier generations do (intel-vaapi-driver, h264/ildb), because no other source
//! shows the contents of the messages.

use super::DATA;
use genxml::eu;
use genxml::gen8::media::{
    MediaObject, MediaObjectPrt, MediaObjectThreadSynchronization as Synchronization,
    MediaVfeState, MediaVfeStateBypassGatewayControl as Bypass,
};
use genxml::gen8::state::InterfaceDescriptorData;
use genxml_cases::media::Told;
use genxml_cases::{Media, Model, push, raw_buffer, u};
use genxml_sim::Fault;

/// Spawns three children, and waits until each of them has written a dword into `r60`.
const PARENT: &[u32] = &eu! {
    (W) mov (8|M0)   r10.0<1>:ud  0:ud                                // OpenGateway: r60, one register, key 0x1212
    (W) mov (1|M0)   r10.4<1>:ud  0x1212:ud
    (W) mov (1|M0)   r10.5<1>:ud  0x07800000:ud
    (W) send (8|M0)  null  r10  0x3  0x02000000
    (W) mov (8|M0)   r60.0<1>:ud  0:ud
    (W) mov (1|M0)   r50.0<1>:ud  0:ud                                // the child's number
    (W) and (1|M0)   r50.1<1>:ud  r0.0<0;1,0>:ud  0xffff:ud           // the URB entry
    (W) and (1|M0)   r50.2<1>:ud  sr0.0<0;1,0>:ud  0xffff:ud          // the parent's id
  spawn:
    (W) mov (8|M0)   r20.0<1>:ud  0:ud                                // into the URB: r0 and one more register
    (W) mov (1|M0)   r20.0<1>:ud  r50.1<0;1,0>:ud
    (W) shl (1|M0)   r20.3<1>:ud  r50.0<0;1,0>:ud  1:ud
    (W) mov (1|M0)   r20.5<1>:ud  0xff00:ud
    (W) mov (8|M0)   r21.0<1>:ud  r0.0<8;8,1>:ud
    (W) mov (1|M0)   r21.6<1>:ud  r50.0<0;1,0>:ud
    (W) mov (8|M0)   r22.0<1>:ud  0:ud
    (W) add (1|M0)   r22.0<1>:ud  r50.0<0;1,0>:ud  100:ud
    (W) shl (1|M0)   r22.1<1>:ud  r50.0<0;1,0>:ud  18:ud
    (W) shl (1|M0)   r22.2<1>:ud  r50.2<0;1,0>:ud  16:ud
    (W) send (8|M0)  null  r20  0x6  0x060a0000                       // write hwords, with an offset for the handle
    (W) mov (8|M0)   r30.0<1>:ud  r21.0<8;8,1>:ud
    (W) add (1|M0)   r30.2<1>:ud  r0.2<0;1,0>:ud  16:ud               // the next descriptor
    (W) shl (1|M0)   r30.4<1>:ud  r50.0<0;1,0>:ud  1:ud
    (W) add (1|M0)   r30.4<1>:ud  r30.4<0;1,0>:ud  r50.1<0;1,0>:ud
    (W) or (1|M0)    r30.4<1>:ud  r30.4<0;1,0>:ud  0x400:ud           // one register after r0
    (W) send (8|M0)  null  r30  0x7  0x02000001                       // spawn a child
    (W) add (1|M0)   r50.0<1>:ud  r50.0<0;1,0>:ud  1:ud
    (W) cmp (1|M0) (lt)f0.0  null<1>:ud  r50.0<0;1,0>:ud  3:ud
    (W&f0.0) jmpi    spawn
    (W) wait         n0.0<0;1,0>:ud
    (W) wait         n0.0<0;1,0>:ud
    (W) wait         n0.0<0;1,0>:ud
    (W) mov (8|M0)   r126.0<1>:ud  0:ud
    (W) mov (8|M0)   r127.0<1>:ud  r60.0<8;8,1>:ud
    (W) send (8|M0)  null  r126  0xA  0x040a0200
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000000  {EOT}              // releases the URB entry
};

/// Sends three times its number to the parent, and writes its r0.6 to memory through the parent's
/// binding table.
const CHILD: &[u32] = &eu! {
    (W) mov (8|M0)   r126.0<1>:ud  0:ud
    (W) add (1|M0)   r126.2<1>:ud  r0.6<0;1,0>:ud  4:ud
    (W) shl (1|M0)   r126.2<1>:ud  r126.2<0;1,0>:ud  1:ud
    (W) mov (8|M0)   r127.0<1>:ud  r0.6<0;1,0>:ud
    (W) send (8|M0)  null  r126  0xA  0x040a0200
    (W) mov (8|M0)   r20.0<1>:ud  0:ud
    (W) mul (1|M0)   r20.0<1>:d   r1.0<0;1,0>:d  3:w
    (W) or (1|M0)    r20.4<1>:ud  r1.2<0;1,0>:ud  0x1212:ud
    (W) or (1|M0)    r20.5<1>:ud  r1.1<0;1,0>:ud  0x200:ud            // a dword
    (W) send (8|M0)  null  r20  0x3  0x02008002                       // forward and notify
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000012  {EOT}
};

fn family(parent: &[u32]) -> Media<'_> {
    let media = Media::new(parent);
    Media {
        kernels: vec![parent, CHILD],
        descriptors: vec![InterfaceDescriptorData::new(); 2],
        surfaces: vec![raw_buffer(DATA, 4096)],
        vfe: MediaVfeState { urb_entry_allocation_size: u(8), ..media.vfe },
        ..media
    }
}

/// Oracle: the text of the kernels. There are more parents than URB entries, one after the other:
/// each parent releases its entry.
#[test]
fn children_answer_their_parent() {
    let mut model = Model::new();
    model.map(DATA, 4096);
    let mut batch = family(PARENT).state(&mut model);
    for _ in 0..20 {
        push(&mut batch, &MediaObject { children_present: true, ..MediaObject::new() });
    }
    let stats = model.render(&batch).unwrap();
    assert_eq!(stats.threads, 80);
    assert_eq!(model.get(DATA, 8), [300, 303, 306, 0, 0, 0, 0, 0]);
    let numbers: Vec<u32> = (0..3).flat_map(|n| [n; 8]).collect();
    assert_eq!(model.get(DATA + 32 * 4, 24), numbers);
}

/// Parents that do not release their URB entry: without a free entry, no root thread with children
/// can start (2a p.490).
#[test]
fn entries_that_are_not_released() {
    const KEEPS: &[u32] = &eu! {
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
    };
    const TWICE: &[u32] = &eu! {
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x7   0x02000000
        (W) send (8|M0)  null  r127  0x27  0x02000000  {EOT}
    };
    let run = |kernel, objects| {
        let mut model = Model::new();
        let mut batch = Media::new(kernel).state(&mut model);
        for _ in 0..objects {
            push(&mut batch, &MediaObject { children_present: true, ..MediaObject::new() });
        }
        model.render(&batch)
    };
    assert_eq!(run(KEEPS, 8).unwrap().threads, 8);
    let fault = run(KEEPS, 9).unwrap_err();
    assert!(
        matches!(&fault, Fault::Stuck { group, .. } if group.contains("no URB entry")),
        "{fault}"
    );
    let fault = run(TWICE, 1).unwrap_err();
    assert!(fault.to_string().contains("a second time"), "{fault}");
}

/// Waits for a notification. [`CALLS_AND_WAITS`] first sends a message that spawns a root thread.
const WAITS: &[u32] = &eu! {
    (W) wait         n0.0<0;1,0>:ud
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};
const CALLS_AND_WAITS: &[u32] = &eu! {
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x7  0x02000011
    (W) wait         n0.0<0;1,0>:ud
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};
/// Notifies the thread of slot 0 without opening its gateway.
const NOTIFIES: &[u32] = &eu! {
    (W) mov (8|M0)   r20.0<1>:ud  0:ud
    (W) mov (1|M0)   r20.5<1>:ud  0x00800200:ud                       // a dword for r4
    (W) send (8|M0)  null  r20  0x3  0x02008002
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// A persistent root thread, and then a thread that sends the notification. In the faulty variants
/// the fence blocks the second thread, or a thread waits for a message that never comes.
#[test]
fn persistent_root_threads() {
    let run = |persistent, fence, synchronized, objects| {
        let mut model = Model::new();
        let media = Media::new(persistent);
        let vfe = MediaVfeState {
            bypass_gateway_control: Bypass::BYPASSING_OPEN_GATEWAY_CLOSE_GATEWAY_PROTOCOL,
            ..media.vfe
        };
        let media = Media {
            kernels: vec![persistent, NOTIFIES],
            descriptors: vec![InterfaceDescriptorData::new(); 2],
            vfe,
            ..media
        };
        let mut batch = media.state(&mut model);
        push(&mut batch, &MediaObjectPrt { prt_fence_needed: fence, ..MediaObjectPrt::new() });
        for _ in 0..objects {
            let object = MediaObject {
                interface_descriptor_offset: u(1),
                thread_synchronization: Synchronization::from_bits(u64::from(synchronized)),
                ..MediaObject::new()
            };
            push(&mut batch, &object);
        }
        let (result, told) = model.listen(&batch);
        (
            result.map(|stats| stats.threads),
            told.iter().filter(|told| matches!(told, Told::Start(_))).count(),
        )
    };
    for (persistent, fence, synchronized) in
        [(WAITS, false, false), (CALLS_AND_WAITS, true, false), (CALLS_AND_WAITS, false, true)]
    {
        assert_eq!(run(persistent, fence, synchronized, 1), (Ok(2), 2));
    }
    for (persistent, fence, synchronized, objects, why) in [
        (WAITS, false, false, 0, "n0.0"),
        (WAITS, true, false, 1, "fence"),
        (WAITS, false, true, 1, "no thread has sent"),
    ] {
        let (result, started) = run(persistent, fence, synchronized, objects);
        let fault = result.unwrap_err();
        let Fault::Stuck { threads, at, .. } = &fault else { panic!("{fault}") };
        assert_eq!((threads.len(), started, at.packet), (1, 1, "MEDIA_OBJECT_PRT"), "{fault}");
        assert!(fault.to_string().contains(why), "{fault}");
    }
}

/// A GPGPU thread cannot spawn a child, and a spawn message cannot end the thread (2d p.496).
#[test]
fn spawns_that_are_not_possible() {
    const ENDS: &[u32] = &eu! {
        (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
        (W) send (8|M0)  null  r127  0x27  0x02000001  {EOT}
    };
    let mut model = Model::new();
    let fault = genxml_cases::Compute::new(CALLS_AND_WAITS).run(&mut model).unwrap_err();
    assert!(matches!(fault, Fault::IllegalInstruction { .. }), "{fault}");
    let mut batch = Media::new(ENDS).state(&mut model);
    push(&mut batch, &MediaObject::new());
    assert!(matches!(model.render(&batch), Err(Fault::IllegalInstruction { .. })));
}
