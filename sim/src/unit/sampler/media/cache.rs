//! What media messages have used before.

use super::picture::Picture;
use super::scaler::Scaler;

/// Pictures by binding table index, and scalers by address, that messages have used.
#[derive(Clone, Debug, Default)]
pub struct MediaCache {
    /// Pictures by binding table index.
    pub pictures: Vec<(u8, Picture)>,
    /// Scalers by the address of their state.
    pub scalers: Vec<(u64, Scaler)>,
}
