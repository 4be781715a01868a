//! State of the vector path of the sampler ([`super::vector`]) that a view keeps.

use super::lod::Choice;
use crate::eu::fast::Level;

/// The values that the vector path computes once for a view.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// The vector instructions of this processor.
    pub(super) level: Level,
    /// The levels that all lanes read, if they do not depend on the level of detail.
    pub(super) fixed: Option<Choice>,
    /// Bytes of an element.
    pub(super) size: i32,
    /// Address of the page of the surface's first byte.
    pub(super) page: u64,
    /// Offset of the surface's first byte in the page.
    pub(super) within: i32,
}
