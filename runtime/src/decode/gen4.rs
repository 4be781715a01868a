//! Commands of Gen4 and Gen5.

use genxml_core::reflect::{Container, Kind};

/// Commands outside the streamer that Mesa's files lack. The tables of G45 have them.
#[cfg(feature = "gen45-tables")]
const OTHER: &[&str] = &[
    "STATE_PREFETCH",
    "3DSTATE_SAMPLER_PALETTE_LOAD0",
    "3DSTATE_SAMPLER_PALETTE_LOAD1",
    "3DSTATE_CHROMA_KEY",
    "3DSTATE_GS_SVB_INDEX",
    "MEDIA_STATE_POINTERS",
    "MEDIA_OBJECT",
];

/// The commands of Gen4 and Gen5 that Mesa's files lack; none for other generations. Without the
/// feature `gen45-tables` they are those of the streamer.
pub(super) fn commands(generation: u32) -> impl Iterator<Item = &'static Container> {
    let streamer = genxml_other::gen4::CONTAINERS.iter().copied();
    #[cfg(feature = "gen45-tables")]
    let all = streamer
        .chain(genxml_gen45::CONTAINERS.iter().copied().filter(|it| OTHER.contains(&it.name)));
    #[cfg(not(feature = "gen45-tables"))]
    let all = streamer;
    all.filter(move |container| {
        (40..60).contains(&generation) && matches!(container.kind, Kind::Instruction { .. })
    })
}
