//! Events that listeners get from packets that start threads, and from flushes. Oracle: counts from
//! the batch.

use genxml::engine::EngineId;
use genxml::eu;
use genxml::gen8::media::{MediaObject, MediaObjectWalker};
use genxml::gen8::mi::PipeControl;
use genxml_cases::{KERNELS, Media, Model, packets, push, u};
use genxml_core::S;
use genxml_sim::inspect::{Tally, Trace};
use genxml_sim::machine::events::{Event, Now};

const END: &[u32] = &eu! {
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}
};

/// Checks the table of kernels and the trace of three media objects, a walk of six threads and a
/// flush.
#[test]
fn media_packets_and_flushes() {
    let mut model = Model::new();
    let mut batch = Media::new(END).state(&mut model);
    for _ in 0..3 {
        push(&mut batch, &MediaObject::new());
    }
    let walker = MediaObjectWalker {
        block_resolution_x: u(6),
        block_resolution_y: u(1),
        global_resolution_x: u(6),
        global_resolution_y: u(1),
        local_inner_loop_unit_x: S::new(1).expect("fits"),
        ..MediaObjectWalker::new()
    };
    push(&mut batch, &walker);
    let flush = PipeControl {
        dc_flush_enable: true,
        texture_cache_invalidation_enable: true,
        tlb_invalidate: true,
        ..PipeControl::new()
    };
    batch.extend(packets![flush]);

    let (mut tally, mut file) = (Tally::default(), Vec::new());
    let mut trace = Trace::new(&mut file);
    let mut listener = |now: Now, event: &Event<'_>| {
        tally.event(now, event);
        trace.event(now, event);
    };
    model.submit_observed(EngineId::Render, &batch, &mut listener).unwrap();
    trace.finish().unwrap();

    let [(address, kernel)] = tally.kernels()[..] else { panic!("one kernel") };
    assert_eq!(
        (address, kernel.dispatches, kernel.threads, kernel.instructions),
        (KERNELS, 4, 9, 18)
    );
    let text = String::from_utf8(file).unwrap();
    let moments: Vec<&str> = text.lines().filter(|line| line.contains(r#""ph":"i""#)).collect();
    for (moment, name) in
        moments.iter().zip(["flush Data", "invalidate Texture", "invalidate Translation"])
    {
        assert!(moment.contains(&format!(r#""name":"{name}""#)), "{moment}");
    }
    // There is a count of instructions after each packet whose threads have all ended.
    let counts = text.lines().filter(|line| line.contains(r#""ph":"C""#)).count();
    assert_eq!((moments.len(), counts), (3, 4), "{text}");
}
