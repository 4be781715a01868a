//! Captures of real batches. Oracle: the memory that the captures expect, which includes
//! intel-gpu-tools' own assertions.
//!
//! Without the corpus the tests do nothing.

use genxml::capture::Capture;
use genxml_sim::replay::{self, Step};
use genxml_testkit::corpus;

/// Runs every capture in `folder` whose name starts with one of `prefixes`. Returns the number of
/// these captures; 0 without the corpus.
fn run(folder: &str, prefixes: &[&str]) -> usize {
    let Some(corpus) = corpus::folder() else { return 0 };
    let mut count = 0;
    let mut entries: Vec<_> = std::fs::read_dir(corpus.join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let report = replay::run(&Capture::open(&path).unwrap());
        if let Some((seq, fault)) = report.fault {
            panic!("{name}: submission {seq}: {fault}");
        }
        assert!(report.mismatches.is_empty(), "{name}: {}", report.mismatches[0]);
        assert!(report.execs > 0 && report.stats.packets > 0, "{name}: {report:?}");
        count += 1;
    }
    count
}

#[test]
fn command_streamer() {
    let count = run("images", &["igt_exec_nop", "igt_storedw", "igt_pipe_control"]);
    assert!(count == 3 || corpus::folder().is_none());
}

/// Programs of OpenCL with indirect data, of Vulkan with constants in the CURBE, and of OpenGL with
/// shared memory.
#[test]
fn compute_of_real_programs() {
    let count = run("drivers", &["cl_vadd", "vk_saxpy", "pg_cs_shared_atomics"]);
    assert!(count == 3 || corpus::folder().is_none());
}

#[test]
fn blitter() {
    let count = run("images", &["syn_blt_", "igt_tiled_blits"]);
    assert!(count == 7 || corpus::folder().is_none());
}

#[test]
fn blitter_of_a_real_program() {
    let count = run("drivers", &["igt_gem_blt"]);
    assert!(count == 1 || corpus::folder().is_none());
}

/// Oracle: images that other renderers drew.
#[test]
fn frames_of_real_programs() {
    let count = run("drivers", &["kmscube", "gl_iris", "vk_triangle"]);
    assert!(count == 3 || corpus::folder().is_none());
    let count = run("images", &["syn_rendercopy", "igt_render_copy"]);
    assert!(count == 5 || corpus::folder().is_none());
}

/// Tests of piglit. The capture pg_xfb is left out: it takes too long.
#[test]
fn piglit() {
    let count = run("drivers", &["pg_depthstencil", "pg_gs_clip", "pg_tess_barrier"]);
    assert!(count == 3 || corpus::folder().is_none());
}

/// The address of a byte in a Y tile: rows of 128 bytes, 32 of them, in columns of 16 bytes.
fn y_tiled(x: usize, y: usize, pitch: usize) -> usize {
    let tile = y / 32 * (pitch / 128) + x / 128;
    4096 * tile + x % 128 / 16 * 512 + y % 32 * 16 + x % 16
}

/// A picture that a VA driver decodes. Oracle: FFmpeg's software decoder, whose inverse transform
/// rounds differently.
#[test]
fn picture_of_a_va_driver() {
    let Some(corpus) = corpus::folder() else { return };
    let folder = corpus.join("drivers/va_jpg");
    let wanted = std::fs::read(folder.join("reference/va_jpg.yuv")).unwrap();
    let capture = Capture::open(&folder).unwrap();
    let mut replay = replay::Replay::new(&capture);
    let mut compared = 0;
    while let Some(step) = replay.step() {
        let Step::Exec { exec, result, .. } = step else { continue };
        assert!(result.is_ok(), "{result:?}");
        // Three planes of 64x64 and 32x32 samples. Rows of tiles separate them.
        let surface = replay.bytes(exec.objects[0].object);
        let planes = [(64, 0), (32, 64), (32, 96)];
        let samples = planes.iter().flat_map(|&(size, top)| {
            (0..size * size).map(move |at| y_tiled(at % size, top + at / size, 128))
        });
        for (wanted, at) in wanted.iter().zip(samples) {
            assert!(wanted.abs_diff(surface[at]) <= 1, "byte {at}: {} for {wanted}", surface[at]);
            compared += 1;
        }
    }
    assert_eq!(compared, wanted.len());
}
