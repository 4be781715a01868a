//! Pictures and scalers that media messages have used.

use super::picture::Picture;
use super::scaler::Scaler;
use crate::unit::by_index::ByIndex;

/// Maximum number of cached scalers. The limit is needed because a kernel can compute sampler
/// addresses.
const MOST_SCALERS: usize = 64;

/// Pictures by binding table index, and scalers by the address of their state.
#[derive(Clone, Debug, Default)]
pub struct MediaCache {
    pub(super) pictures: ByIndex<Picture>,
    scalers: Vec<(u64, Scaler)>,
}

impl MediaCache {
    /// The number of the scaler whose state is at an address, if it is cached.
    pub(super) fn number(&self, address: u64) -> Option<usize> {
        self.scalers.iter().position(|(known, _)| *known == address)
    }

    /// The scaler with this number.
    pub(super) fn scaler(&self, number: usize) -> &Scaler {
        &self.scalers[number].1
    }

    /// Adds a scaler and returns its number. If the cache is full, all other scalers are removed
    /// first.
    pub(super) fn add(&mut self, address: u64, scaler: Scaler) -> usize {
        if self.scalers.len() >= MOST_SCALERS {
            self.scalers.clear();
        }
        self.scalers.push((address, scaler));
        self.scalers.len() - 1
    }

    /// Copies what only `other` has, up to the maximum number of scalers.
    pub fn merge(&mut self, other: &MediaCache) {
        self.pictures.merge(&other.pictures);
        for (address, scaler) in &other.scalers {
            if self.number(*address).is_none() && self.scalers.len() < MOST_SCALERS {
                self.scalers.push((*address, scaler.clone()));
            }
        }
    }
}
