//! Cases of the model: surfaces. Formats, tilings and layouts by themselves, and the surface states
//! of real drivers. The data port's messages on them are in `typed`.

mod channels;
mod corpus;
mod facts;
mod layouts;
mod tilings;
mod values;

use std::path::PathBuf;

/// What the project keeps beside itself: `../shared`, or what GENXML_SHARED says.
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
