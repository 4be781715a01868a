//! Draws of Mesa's iris for piglit. Oracle: the tests, which say of themselves that everything is green.

use genxml::capture::Capture;
use genxml_sim::replay::{Replay, Step};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the project keeps beside itself: `../shared`, or what GENXML_SHARED says.
fn driver(name: &str) -> Option<Capture> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let path = std::env::var_os("GENXML_SHARED").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if path.is_dir() {
        return Some(Capture::open(path.join("corpus/drivers").join(name)).unwrap());
    }
    eprintln!("skipped: nothing at {} (set GENXML_SHARED)", path.display());
    None
}

/// Dwords of the target of 256 by 256 pixels after the first batch, and how often each occurs. What the batch does with
/// them behind the draws is left to others.
fn colours(capture: &Capture) -> BTreeMap<u32, usize> {
    const TARGET: u64 = 0xfffe_ffa0_0000;
    let mut replay = Replay::new(capture);
    let exec = loop {
        match replay.step().expect("a batch") {
            Step::Exec { exec, .. } => break exec,
            _ => continue,
        }
    };
    let object = exec.objects.iter().find(|object| object.address == TARGET).expect("the target");
    let mut colours = BTreeMap::new();
    for pixel in replay.bytes(object.object)[..256 * 256 * 4].chunks_exact(4) {
        *colours.entry(u32::from_le_bytes(pixel.try_into().unwrap())).or_insert(0) += 1;
    }
    colours
}

/// 250 by 250 pixels are green, and nothing was drawn beside them.
fn green() -> BTreeMap<u32, usize> {
    BTreeMap::from([(0xff00_ff00, 250 * 250), (0, 256 * 256 - 250 * 250)])
}

/// glsl-1.50 gs-clip: a geometry shader that compares everything it is given, vertex by vertex.
#[test]
fn geometry_shader() {
    let Some(capture) = driver("pg_gs_clip") else { return };
    assert_eq!(colours(&capture), green());
}

/// arb_tessellation_shader barrier: threads of a patch read what others wrote of it.
#[test]
fn tessellation() {
    let Some(capture) = driver("pg_tess_barrier") else { return };
    assert_eq!(colours(&capture), green());
}
