//! Threads of 8, 16 and 32 pixels, and dithering. Oracles: f64 through
//! [`crate::screen::interpolation`]; the width of threads must not change the result (2a p.331);
//! the average of a dithered value over 4 by 4 pixels.

use crate::screen::interpolation::{compare, triangle};
use crate::screen::kernels;
use crate::screen::scene::{Scene, Target, on_screen};
use genxml::eu;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml::gen8::render3d_pixel::BlendState;
use genxml::gen8::state::SurfaceFormat;
use genxml_cases::{SCRATCH, at, u};

/// Like [`kernels::PLANES`], for 32 pixels: barycentrics of the first sixteen pixels in r3 to r6,
/// of the others in r7 to r10, the setup in r11 and r12.
const PLANES_32: &[u32] = &eu! {
    pln (16|M0)      r96.0<1>:f    r11.0<0;1,0>:f  r3.0<8;8,1>:f
    pln (16|M0)      r98.0<1>:f    r11.4<0;1,0>:f  r3.0<8;8,1>:f
    pln (16|M0)      r100.0<1>:f   r12.0<0;1,0>:f  r3.0<8;8,1>:f
    pln (16|M0)      r102.0<1>:f   r12.4<0;1,0>:f  r3.0<8;8,1>:f
    sendc (16|M0)    null  r96   0x5   0x10031000
    pln (16|M16)     r112.0<1>:f   r11.0<0;1,0>:f  r7.0<8;8,1>:f
    pln (16|M16)     r114.0<1>:f   r11.4<0;1,0>:f  r7.0<8;8,1>:f
    pln (16|M16)     r116.0<1>:f   r12.0<0;1,0>:f  r7.0<8;8,1>:f
    pln (16|M16)     r118.0<1>:f   r12.4<0;1,0>:f  r7.0<8;8,1>:f
    sendc (16|M16)   null  r112  0x25  0x10031800  {EOT}
};

/// The scene, drawn by threads of `pixels` pixels.
fn wide(scene: &Scene, pixels: u32) -> Scene {
    let (kernel, start) = match pixels {
        8 => (kernels::PLANES, 4),
        16 => (kernels::PLANES_16, 6),
        _ => (PLANES_32, 11),
    };
    let mut scene = scene.clone();
    scene.kernel = kernel;
    scene.ps._8_pixel_dispatch_enable = pixels == 8;
    scene.ps._16_pixel_dispatch_enable = pixels == 16;
    scene.ps._32_pixel_dispatch_enable = pixels == 32;
    scene.ps.dispatch_grf_start_register_for_constant_setup_data_0 = u(start);
    scene
}

#[test]
fn widths_of_threads() {
    let scene = triangle();
    let narrow = wide(&scene, 8).run().unwrap().floats(0, 0, 0);
    for pixels in [8, 16, 32] {
        let scene = wide(&scene, pixels);
        compare(&scene, true);
        let drawn = scene.run().unwrap();
        assert_eq!(drawn.floats(0, 0, 0), narrow, "{pixels} pixels");
        assert_eq!(drawn.stats.threads, u64::from(256 / pixels));
    }
}

/// Like [`kernels::PLANES`], but through scratch space: the components are written to hwords 40 to
/// 43 of the thread's own 2 KiB and read back.
const SPILLS: &[u32] = &eu! {
    (W) mov (8|M0)   r30.0<1>:ud   r0.0<8;8,1>:ud
    pln (8|M0)       r31.0<1>:f    r4.0<0;1,0>:f  r2.0<8;8,1>:f
    (W) send (8|M0)  null  r30  0xA  0x040e0028
    pln (8|M0)       r31.0<1>:f    r4.4<0;1,0>:f  r2.0<8;8,1>:f
    (W) send (8|M0)  null  r30  0xA  0x040e0029
    pln (8|M0)       r31.0<1>:f    r5.0<0;1,0>:f  r2.0<8;8,1>:f
    (W) send (8|M0)  null  r30  0xA  0x040e002a
    pln (8|M0)       r31.0<1>:f    r5.4<0;1,0>:f  r2.0<8;8,1>:f
    (W) send (8|M0)  null  r30  0xA  0x040e002b
    (W) send (8|M0)  r112  r30  0xA  0x021c0028
    (W) send (8|M0)  r113  r30  0xA  0x021c0029
    (W) send (8|M0)  r114  r30  0xA  0x021c002a
    (W) send (8|M0)  r115  r30  0xA  0x021c002b
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// Shaders that use scratch space give the same result, and access only the scratch space of the
/// threads that can run at the same time.
#[test]
fn scratch_space() {
    let scene = wide(&triangle(), 8);
    let plain = scene.run().unwrap().floats(0, 0, 0);
    let mut spills = scene.clone();
    spills.kernel = SPILLS;
    spills.ps.scratch_space_base_pointer = at(SCRATCH);
    spills.ps.per_thread_scratch_space = u(1);
    let mut model = spills.model();
    let batch = spills.batch(&mut model);
    let stats = model.render(&batch).unwrap();
    assert_eq!(spills.drawn(&mut model, stats).floats(0, 0, 0), plain);
    // 64 threads of 2 KiB each: only hwords 40 to 43 of some threads are written.
    let memory = model.get(SCRATCH, 1 << 18);
    let touched = |n: usize| memory[8 * n..8 * n + 8] != [0; 8];
    let hwords: Vec<usize> = (0..memory.len() / 8).filter(|&n| touched(n)).collect();
    assert!(hwords.iter().all(|n| n / 64 < 64 && (40..44).contains(&(n % 64))), "{hwords:?}");
    assert!(!hwords.is_empty());
    // The scratch space of a thread is 1 KiB: writes beyond it are dropped, and reads return zeros.
    spills.ps.per_thread_scratch_space = u(0);
    assert!(spills.run().unwrap().floats(0, 0, 0).iter().all(|pixel| *pixel == [0.0; 4]));
}

/// Each pixel gets the number of earlier pixels: an atomic increment of the first dword of scratch
/// space (stateless) returns it.
const TURNS: &[u32] = &eu! {
    mov (8|M0)       r10.0<1>:ud   0x300000:ud
    send (8|M0)      r112  r10  0xC  0x0210b5ff
    mov (8|M0)       r113.0<1>:ud  0:ud
    mov (8|M0)       r114.0<1>:ud  0:ud
    mov (8|M0)       r115.0<1>:ud  0:ud
    sendc (8|M0)     null  r112  0x25  0x08031400  {EOT}
};

/// Pixels that depend on each other: tiles that ran in parallel are detected and drawn again. The
/// result is the same as with one host thread.
#[test]
fn shaders_that_count_each_other() {
    let vertices = vec![on_screen(0.0, 0.0, 0), on_screen(400.0, 0.0, 0), on_screen(0.0, 400.0, 0)];
    let mut scene = Scene::new([200, 160], Code::_3DPRIM_TRILIST, vertices);
    scene.kernel = TURNS;
    let run = |threads: usize| {
        let mut model = scene.model();
        model.gpu.set_threads(threads);
        let batch = scene.batch(&mut model);
        let stats = model.render(&batch).unwrap();
        let speculation = model.gpu.context(model.context).state.speculation;
        (scene.drawn(&mut model, stats).dwords(0, 0, 0), model.get(SCRATCH, 1), speculation)
    };
    let (turns, count, _) = run(1);
    assert_eq!(count, [200 * 160]);
    let mut sorted = turns.clone();
    sorted.sort_unstable();
    assert!(
        sorted.iter().copied().eq(0..200 * 160),
        "two pixels have the same number, or a number is missing"
    );
    for threads in [2, 5] {
        let (others, count, speculation) = run(threads);
        assert!(others == turns && count == [200 * 160], "{threads} threads");
        assert!(speculation.aborted > 0, "{speculation:?}");
    }
}

/// A colour that is n sixteenths above a step of five bits is rounded up in n - 1 to n + 1 of
/// sixteen pixels. The number of these pixels never falls as n grows.
#[test]
fn dither() {
    let mut before = 0;
    for n in 0..16u32 {
        let value = (10.0 + n as f32 / 16.0) / 31.0;
        let corners = [(0.0, 0.0), (32.0, 0.0), (0.0, 32.0)];
        let vertices = corners.map(|(x, y)| on_screen(x, y, value.to_bits())).to_vec();
        let mut scene = Scene::new([16, 16], Code::_3DPRIM_TRILIST, vertices);
        scene.targets = vec![Target::new(SurfaceFormat::B5G6R5_UNORM, 2)];
        scene.blend = BlendState { color_dither_enable: true, ..scene.blend };
        let bytes = scene.run().unwrap().bytes(0, 0, 0);
        let mut blocks = [[0; 4]; 4];
        for (at, pixel) in bytes.as_chunks::<2>().0.iter().enumerate() {
            let red = u32::from(u16::from_le_bytes(*pixel) >> 11);
            assert!(red == 10 || red == 11, "{red} at {at}");
            blocks[at / 64][at % 16 / 4] += red - 10;
        }
        let [[up, ..], ..] = blocks;
        assert_eq!(blocks, [[up; 4]; 4], "the pattern does not repeat every 4 by 4 pixels");
        assert!(up.abs_diff(n) <= 1 && up >= before, "{n} sixteenths: {up} of 16, {before} before");
        before = up;
    }
    assert!(before >= 14);
}
