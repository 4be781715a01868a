//! Pipeline counters as driver queries read them: MI_STORE_REGISTER_MEM before and after a draw.
//! Oracle: the shapes that were drawn, counted by hand; OpenGL 4.6, 11.3.2 (pipeline statistics);
//! gen8_facts 2.7 for the registers.

use crate::pixels::harness::{Draw, Vertex, WHITE, model};
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::mi::{
    MiReportPerfCount, MiStoreRegisterMem, PipeControl, PipeControlPostSyncOperation as PostSync,
};
use genxml::gen8::render3d_fetch::ThreeDStateVfStatistics;
use genxml_cases::{Model, SCRATCH, at, packets, push, u};

/// Name, register and expected count, for a draw of two rectangles of 8 x 4 and 6 x 2 pixels, each
/// of two triangles.
const COUNTERS: [(&str, u32, u64); 14] = [
    ("vertices", 0x2310, 12),
    ("primitives", 0x2318, 4),
    ("vertex shader", 0x2320, 0),
    ("hull shader", 0x2300, 0),
    ("domain shader", 0x2308, 0),
    ("geometry shader", 0x2328, 0),
    ("primitives of geometry shaders", 0x2330, 0),
    ("clipper", 0x2338, 4),
    ("primitives of the clipper", 0x2340, 4),
    // Four for each pixel: drivers divide by 4.
    ("pixel shader", 0x2348, 4 * 44),
    ("samples that passed", 0x2350, 44),
    ("compute shader", 0x2290, 0),
    ("primitives written", 0x5200, 0),
    ("room that primitives needed", 0x5240, 0),
];

fn rectangles() -> Draw {
    let rectangle = |x: f32, y: f32, width: f32, height: f32| {
        [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
            .map(|[right, below]| Vertex::at(x + right * width, y + below * height))
    };
    let vertices = [rectangle(4.0, 8.0, 8.0, 4.0), rectangle(30.0, 20.0, 6.0, 2.0)].concat();
    let mut draw = Draw::new(Code::_3DPRIM_TRILIST, vertices, WHITE);
    push(&mut draw.more, &ThreeDStateVfStatistics { statistics_enable: true });
    draw
}

/// Stores both halves of each counter, as drivers do.
fn snapshot(to: u64) -> Vec<u32> {
    let mut batch = Vec::new();
    for (n, (_, register, _)) in COUNTERS.into_iter().enumerate() {
        for half in 0..2 {
            push(
                &mut batch,
                &MiStoreRegisterMem {
                    register_address: at(u64::from(register + 4 * half)),
                    memory_address: at(to + 8 * n as u64 + 4 * u64::from(half)),
                    ..MiStoreRegisterMem::new()
                },
            );
        }
    }
    batch
}

fn stored(model: &mut Model, from: u64, n: usize) -> u64 {
    let [low, high] = model.get(from + 8 * n as u64, 2)[..] else { unreachable!("two dwords") };
    u64::from(low) | u64::from(high) << 32
}

#[test]
fn queries() {
    let mut model = model();
    let draw = rectangles();
    let mut batch = draw.batch(&mut model);
    batch.splice(0..0, snapshot(SCRATCH));
    batch.extend(snapshot(SCRATCH + 0x1000));
    push(
        &mut batch,
        &PipeControl {
            depth_stall_enable: true,
            post_sync_operation: PostSync::WRITE_PS_DEPTH_COUNT,
            address: at(SCRATCH + 0x2000),
            ..PipeControl::new()
        },
    );
    for round in 1..3 {
        model.render(&batch).unwrap();
        for (n, (name, _, expected)) in COUNTERS.into_iter().enumerate() {
            let more = stored(&mut model, SCRATCH + 0x1000, n) - stored(&mut model, SCRATCH, n);
            assert_eq!(more, expected, "{name}, round {round}");
        }
        assert_eq!(stored(&mut model, SCRATCH + 0x2000, 0), 44 * round);
    }
    // The counters do not change without their enables, and PIPE_CONTROL resets them.
    let mut still = draw;
    still.wm.statistics_enable = false;
    let mut batch = still.batch(&mut model);
    batch.extend(snapshot(SCRATCH));
    batch.extend(packets![PipeControl { global_snapshot_count_reset: true, ..PipeControl::new() }]);
    batch.extend(snapshot(SCRATCH + 0x1000));
    model.render(&batch).unwrap();
    assert_eq!(stored(&mut model, SCRATCH, 9), 2 * 4 * 44);
    for (n, (name, ..)) in COUNTERS.into_iter().enumerate() {
        assert_eq!(stored(&mut model, SCRATCH + 0x1000, n), 0, "{name}");
    }
}

/// A report without performance counters: its id, and increasing timestamps.
#[test]
fn reports() {
    let mut model = model();
    let report = |id, to| MiReportPerfCount {
        memory_address: at(to),
        report_id: u(id),
        ..MiReportPerfCount::new()
    };
    let mut batch = packets![report(0x1234, SCRATCH)];
    batch.extend(rectangles().batch(&mut model));
    push(&mut batch, &report(0x5678, SCRATCH + 256));
    model.render(&batch).unwrap();
    let [first, second] = [0, 256].map(|offset| model.get(SCRATCH + offset, 64));
    assert_eq!([first[0], second[0]], [0x1234, 0x5678]);
    assert!(second[3] > first[3], "clock");
    assert!(first[4..].iter().chain(&second[4..]).all(|&counter| counter == 0));
}
