//! Tests of surfaces: formats, tilings and layouts, and the surface states of real drivers. `typed`
//! tests the data port's typed messages.

mod channels;
mod corpus;
mod facts;
mod layouts;
mod tilings;
mod values;

use std::path::PathBuf;

/// The project's shared directory: `../shared`, or the path in GENXML_SHARED.
fn shared() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let path =
        std::env::var_os("GENXML_SHARED").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: nothing at {} (set GENXML_SHARED)", path.display());
    None
}
