//! Draws of piglit tests with Mesa's iris driver. Oracle: the tests, which draw green where they
//! pass.

use genxml::capture::{Capture, ExecObject};
use genxml_sim::replay::{Replay, Step};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Opens a capture in the project's shared directory: `../shared`, or the path in GENXML_SHARED.
fn driver(name: &str) -> Option<Capture> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let path =
        std::env::var_os("GENXML_SHARED").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if path.is_dir() {
        return Some(Capture::open(path.join("corpus/drivers").join(name)).unwrap());
    }
    eprintln!("skipped: nothing at {} (set GENXML_SHARED)", path.display());
    None
}

/// The dwords in the `pixels` pixels of a target after the first batch of a capture, each with the
/// number of pixels that have it. Later batches do not run.
fn colours(capture: &Capture, target: u64, pixels: usize) -> BTreeMap<u32, usize> {
    let mut replay = Replay::new(capture);
    let exec = loop {
        match replay.step().expect("a batch") {
            Step::Exec { exec, .. } => break exec,
            _ => continue,
        }
    };
    let place =
        |object: &&ExecObject| (object.address..object.address + object.size).contains(&target);
    let object = exec.objects.iter().find(place).expect("the target");
    let first = (target - object.address) as usize;
    let mut colours = BTreeMap::new();
    for pixel in replay.bytes(object.object)[first..][..4 * pixels].chunks_exact(4) {
        *colours.entry(u32::from_le_bytes(pixel.try_into().unwrap())).or_insert(0) += 1;
    }
    colours
}

/// Address of the target in most captures.
const TARGET: u64 = 0xfffe_ffa0_0000;

/// 250 by 250 pixels are green, and the others are 0.
fn green() -> BTreeMap<u32, usize> {
    BTreeMap::from([(0xff00_ff00, 250 * 250), (0, 256 * 256 - 250 * 250)])
}

/// glsl-1.50 gs-clip: a geometry shader that checks its whole input, vertex by vertex.
#[test]
fn geometry_shader() {
    let Some(capture) = driver("pg_gs_clip") else { return };
    assert_eq!(colours(&capture, TARGET, 256 * 256), green());
}

/// arb_tessellation_shader barrier: threads of a patch read what other threads of the same patch
/// wrote.
#[test]
fn tessellation() {
    let Some(capture) = driver("pg_tess_barrier") else { return };
    assert_eq!(colours(&capture, TARGET, 256 * 256), green());
}

/// A depth and stencil buffer is cleared. Then a quad is drawn where both equal the clear values,
/// which is everywhere. The target has 123 by 123 pixels in tiles of 32 by 32.
#[test]
fn depth_and_stencil() {
    let Some(capture) = driver("pg_depthstencil") else { return };
    let green = BTreeMap::from([(0xff00_ff00, 123 * 123), (0, 128 * 128 - 123 * 123)]);
    assert_eq!(colours(&capture, 0xfffe_ffa4_8000, 128 * 128), green);
}
