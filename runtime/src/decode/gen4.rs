//! Commands of Gen4 and Gen5.

use genxml_core::reflect::{Container, Kind};

/// The commands of Gen4 and Gen5 that Mesa's files lack; none for other generations.
pub(super) fn commands(generation: u32) -> impl Iterator<Item = &'static Container> {
    let all = genxml_other::CONTAINERS.iter().copied();
    all.filter(move |container| {
        (40..60).contains(&generation) && matches!(container.kind, Kind::Instruction { .. })
    })
}
