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
    // The register counts four for each pixel, and drivers divide it by 4.
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

fn report(id: u64, to: u64) -> MiReportPerfCount {
    MiReportPerfCount { memory_address: at(to), report_id: u(id), ..MiReportPerfCount::new() }
}

/// Reports before and after a draw of a rectangle of 8 x 4 pixels at an even position, as two
/// triangles. Its diagonal runs through no pixel centre. Both triangles touch six of its eight
/// blocks of 2x2 pixels: pixel (x, y) is in the first one if x + 2 y < 6.5.
#[test]
fn reports() {
    let mut model = model();
    model.select_report(5);
    let mut draw = rectangles();
    draw.vertices.truncate(6);
    let mut batch = packets![report(0x1234, SCRATCH)];
    batch.extend(draw.batch(&mut model));
    push(&mut batch, &report(0x5678, SCRATCH + 256));
    let stats = model.render(&batch).unwrap();
    let [first, second] = [0, 256].map(|offset| model.get(SCRATCH + offset, 64));
    assert_eq!([first[0], second[0]], [0x1234, 0x5678]);
    let ticks = second[3] - first[3];
    let mut expected = [0; 60];
    // The render engine was busy all the time.
    expected[0] = ticks;
    expected[6] = stats.threads as u32;
    let blocks = |inside: fn(u32, u32) -> bool| {
        let touched = |bx: u32, by: u32| (0..4).any(|n| inside(2 * bx + n % 2, 2 * by + n / 2));
        (0..8).filter(|n| touched(n % 4, n / 4)).count() as u32
    };
    expected[21] = blocks(|x, y| 2 * x + 4 * y < 13) + blocks(|x, y| 2 * x + 4 * y > 13);
    assert_eq!(expected[21], 12);
    expected[26] = expected[21];
    let more: Vec<u32> = second[4..].iter().zip(&first[4..]).map(|(b, a)| b - a).collect();
    assert_eq!(more, expected);
    // The same draw, as the statistics registers count it: four for each of 32 pixels.
    let registers = &model.gpu.context(model.context).state.registers;
    assert_eq!([registers.read(0x2348), registers.read(0x2350)], [4 * 32, 32]);
    assert_eq!((stats.pixels, stats.threads > 0), (32, true));
}

/// The layouts that Counter Select of OACONTROL selects (2b p.22; Broadwell vol 14 p.8). The test
/// lists each layout as dwords of the layout with all counters. Memory after a report is not
/// written.
#[test]
fn layouts_of_reports() {
    let layouts: [(u64, Vec<usize>); 4] = [
        (0, (0..4).chain(11..23).collect()),
        (2, (0..4).chain(11..23).chain(48..64).collect()),
        (5, (0..64).collect()),
        (7, (0..4).chain(56..60).chain(48..56).collect()),
    ];
    for (layout, dwords) in layouts {
        let mut model = model();
        let batch = rectangles().batch(&mut model);
        model.render(&batch).unwrap();
        let counters = model.counters();
        model.put(SCRATCH, &[0xeeee_eeee; 80]);
        model.select_report(layout);
        model.render(&packets![report(0xabcd, SCRATCH)]).unwrap();
        let found = model.get(SCRATCH, 80);
        assert_eq!(found[0], 0xabcd);
        for (n, dword) in dwords.iter().enumerate().skip(4) {
            let expected = match dword {
                // Counter A0 counts clocks, so it continues to increase.
                4 => found[n],
                5..40 => counters[dword - 4] as u32,
                _ => 0,
            };
            assert_eq!(found[n], expected, "layout {layout}, dword {n}");
        }
        assert_eq!(found[dwords.len()..], vec![0xeeee_eeee; 80 - dwords.len()], "layout {layout}");
    }
    for reserved in [1, 3, 4, 6] {
        let mut model = model();
        model.select_report(reserved);
        let fault = model.render(&packets![report(0, SCRATCH)]).unwrap_err();
        assert!(fault.to_string().contains("Counter Select"), "{fault}");
    }
}
