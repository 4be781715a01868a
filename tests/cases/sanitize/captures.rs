//! What the sanitizers `race`, `bounds`, `uninit` and `state` find in captures of drivers and of
//! intel-gpu-tools. The programs work on hardware, so each finding needs an explanation here.

use genxml::capture::Capture;
use genxml::eu::Generation;
use genxml_sim::inspect::sanitize::{QUARANTINE, Sanitizers};
use genxml_sim::replay::{Replay, Step};
use genxml_testkit::corpus;
use std::collections::BTreeMap;

/// Capture, rule and number of findings, with the reason.
const EXPLAINED: &[(&str, &str, usize, &str)] = &[
    (
        "gl_iris",
        "UNINIT-OUTPUT",
        1,
        "a pixel shader that copies a texture to a buffer ends with a render target write of \
         registers that it did not write (r119 to r126): it needs the message to end, not the \
         colours",
    ),
    ("igt_render_copy", "STATE-UNSET", 5, RENDERCOPY),
    ("syn_rendercopy_00_L16x16_to_L16x16", "STATE-UNSET", 5, RENDERCOPY),
    ("syn_rendercopy_13_Y64x96_to_X256x32", "STATE-UNSET", 5, RENDERCOPY),
    ("syn_rendercopy_14_L64x64_to_L64x64", "STATE-UNSET", 5, RENDERCOPY),
    ("syn_rendercopy_16_L64x64_to_L64x64", "STATE-UNSET", 5, RENDERCOPY),
];

/// The copy of intel-gpu-tools is not a driver. Its batch has 3DSTATE_VF_INSTANCING for vertex
/// element 0 only, although elements 1 and 2 are valid (2a p.249-250), and neither 3DSTATE_VF_SGVS
/// (2a p.251) nor 3DSTATE_VF_STATISTICS (2a p.254) nor 3DSTATE_WM_CHROMAKEY (2a p.268). It relies
/// on the null batch of Linux, which sets them.
const RENDERCOPY: &str = "relies on the state of the kernel";

#[test]
fn findings_are_explained() {
    let mut found: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut any = false;
    for path in corpus::captures() {
        let capture = Capture::open(&path).expect("a capture");
        // This capture takes ten times as long as all others.
        if capture.device().generation != 8 || capture.name() == "pg_xfb" {
            continue;
        }
        any = true;
        let mut sanitizers =
            Sanitizers::new(["race", "bounds", "uninit", "state"], Generation::Gen8)
                .expect("names");
        let mut replay = Replay::new(&capture);
        replay.quarantine(QUARANTINE);
        while let Some(step) = replay.step_observed(&mut sanitizers) {
            if let Step::Exec { result: Err(fault), .. } = step {
                panic!("{}: {fault}", capture.name());
            }
        }
        for (_, finding) in sanitizers.findings() {
            eprintln!("{}: {finding}", capture.name());
            *found.entry((capture.name().to_owned(), finding.rule.id)).or_default() += 1;
        }
    }
    if !any {
        return;
    }
    let explained: BTreeMap<(String, &str), usize> = EXPLAINED
        .iter()
        .map(|(name, rule, count, _)| (((*name).to_owned(), *rule), *count))
        .collect();
    assert_eq!(found, explained);
}
