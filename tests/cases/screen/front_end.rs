//! Draws with enough vertices for several host threads. Pixels, statistics, counters and the URB
//! must be the same as with one host thread, even if threads of the vertex shader communicate
//! through the URB. Oracle for the pixels: plain Rust.

use crate::screen::scene::{Scene, VERTICES, on_screen};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::mi::MiStoreUrbMem;
use genxml::gen8::render3d_stages::ThreeDStateVs;
use genxml_cases::{KERNELS, SCRATCH, at, draw, minus_one, packets, push, u};
use genxml_sim::Stats;
use genxml_sim::machine::stats::Speculation;
use std::ops::Range;

/// Offset of the vertex shader from the instruction base. The scene's pixel shader is at 0.
const SHADER: u64 = 0x1000;
/// Pixels along the side of the target. Each pixel is a point.
const SIDE: u32 = 80;
/// The 64-byte lines of the URB that hold the entries of the eight vertices of a thread.
const LINES: Range<u64> = 512..528;

/// A vertex shader that copies header and position, and then executes the given instructions.
macro_rules! shader {
    ($($rest:tt)*) => {
        &eu! {
            mov (8|M0)       r112.0<1>:ud  r1.0<8;8,1>:ud;
            mov (8|M0)       r113.0<1>:ud  r2.0<8;8,1>:ud;
            mov (8|M0)       r114.0<1>:ud  r3.0<8;8,1>:ud;
            mov (8|M0)       r115.0<1>:ud  r4.0<8;8,1>:ud;
            mov (8|M0)       r116.0<1>:ud  r5.0<8;8,1>:ud;
            send (8|M0)      null  r112  0x6  0x0A080007;
            mov (8|M0)       r113.0<1>:ud  r6.0<8;8,1>:ud;
            mov (8|M0)       r114.0<1>:ud  r7.0<8;8,1>:ud;
            mov (8|M0)       r115.0<1>:ud  r8.0<8;8,1>:ud;
            mov (8|M0)       r116.0<1>:ud  r9.0<8;8,1>:ud;
            send (8|M0)      null  r112  0x6  0x0A080017;
            $($rest)*
        }
    };
}

/// Copies the attribute, too.
const COPIES: &[u32] = shader! {
    mov (8|M0)       r113.0<1>:ud  r10.0<8;8,1>:ud;
    mov (8|M0)       r114.0<1>:ud  r11.0<8;8,1>:ud;
    mov (8|M0)       r115.0<1>:ud  r12.0<8;8,1>:ud;
    mov (8|M0)       r116.0<1>:ud  r13.0<8;8,1>:ud;
    send (8|M0)      null  r112  0x26  0x0A080027  {EOT};
};

/// The attribute is the number of threads so far. Each thread reads the number that the previous
/// thread wrote to slot 3 of the entry, adds 1 and writes it back.
const COUNTS: &[u32] = shader! {
    send (8|M0)      r20   r112  0x6  0x02480038;
    add (8|M0)       r113.0<1>:ud  r20.0<8;8,1>:ud  1:ud;
    mov (8|M0)       r114.0<1>:ud  r113.0<8;8,1>:ud;
    mov (8|M0)       r115.0<1>:ud  r113.0<8;8,1>:ud;
    mov (8|M0)       r116.0<1>:ud  r113.0<8;8,1>:ud;
    send (8|M0)      null  r112  0x6  0x0A080037;
    send (8|M0)      null  r112  0x26  0x0A080027  {EOT};
};

/// The results of a draw.
#[derive(PartialEq, Debug)]
struct Outcome {
    stats: Stats,
    pixels: Vec<u32>,
    urb: Vec<u32>,
    counters: [u64; 36],
}

/// Draws a point in each pixel, with a value for each.
fn run(kernel: &[u32], threads: usize) -> (Outcome, Speculation) {
    let point = |n: u32| on_screen((n % SIDE) as f32 + 0.5, (n / SIDE) as f32 + 0.5, 1000 + n);
    let mut scene =
        Scene::new([SIDE, SIDE], Code::_3DPRIM_POINTLIST, (0..SIDE * SIDE).map(point).collect());
    scene.more = draw::urb(2);
    let vs = ThreeDStateVs {
        function_enable: true,
        simd8_dispatch_enable: true,
        kernel_start_pointer: at(SHADER),
        dispatch_grf_start_register_for_urb_data: u(2),
        vertex_urb_entry_read_length: u(2),
        maximum_number_of_threads: minus_one(8),
        ..ThreeDStateVs::new()
    };
    push(&mut scene.more, &vs);
    let mut model = scene.model();
    // The scene maps 64 KiB for vertices.
    model.map(VERTICES + (64 << 10), u64::from(SIDE * SIDE * 48));
    model.gpu.set_threads(threads);
    let batch = scene.batch(&mut model);
    model.put(KERNELS + SHADER, kernel);
    let stats = model.render(&batch).unwrap();
    let speculation = model.gpu.context(model.context).state.speculation;
    let store =
        |line| MiStoreUrbMem { urb_address: u(line), memory_address: at(SCRATCH + 64 * line) };
    let stores: Vec<u32> = LINES.flat_map(|line| packets![store(line)]).collect();
    model.render(&stores).unwrap();
    let urb = model.get(SCRATCH + 64 * LINES.start, 16 * LINES.count());
    let counters = model.counters();
    let pixels = scene.drawn(&mut model, stats).dwords(0, 0, 0);
    (Outcome { stats, pixels, urb, counters }, speculation)
}

fn compare(kernel: &[u32], value: impl Fn(u32) -> u32) -> Speculation {
    let (one, speculation) = run(kernel, 1);
    assert_eq!(speculation.committed + speculation.aborted, 0);
    let expected: Vec<u32> = (0..SIDE * SIDE).map(value).collect();
    assert!(one.pixels == expected, "one thread differs from plain Rust");
    assert!(one.urb.iter().any(|dword| *dword != 0));
    for threads in [2, 3, 6] {
        let (many, _) = run(kernel, threads);
        assert!(many == one, "{threads} threads: {:?} instead of {:?}", many.stats, one.stats);
    }
    run(kernel, 2).1
}

#[test]
fn vertices_with_nothing_in_common() {
    let speculation = compare(COPIES, |n| 1000 + n);
    assert!(speculation.committed >= 12 && speculation.aborted == 0, "{speculation:?}");
}

/// Each thread reads what the thread before it wrote to the same entry.
#[test]
fn vertices_that_count_through_the_urb() {
    let speculation = compare(COUNTS, |n| n / 8 + 1);
    assert!(speculation.aborted > 0, "{speculation:?}");
}
