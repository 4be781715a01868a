//! Captures of real batches. Oracle: the memory that the captures expect, which includes
//! intel-gpu-tools' own assertions.
//!
//! Without the corpus the tests do nothing.

use genxml::capture::Capture;
use genxml_sim::replay;
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
