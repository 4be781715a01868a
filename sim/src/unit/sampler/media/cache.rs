//! Pictures and states of samplers that media messages have used.

use super::analytics::convolution::Convolution;
use super::analytics::mask::Mask;
use super::analytics::source::Source;
use super::picture::Picture;
use super::scaler::Scaler;
use crate::machine::fault::Fault;
use crate::unit::by_index::ByIndex;

/// Maximum number of cached states of a kind. The limit is needed because a kernel can compute
/// sampler addresses.
const MOST_STATES: usize = 64;

/// Resolved states of samplers, by the address of the state.
#[derive(Clone, Debug)]
pub struct ByAddress<T>(Vec<(u64, T)>);

impl<T> Default for ByAddress<T> {
    fn default() -> ByAddress<T> {
        ByAddress(Vec::new())
    }
}

impl<T: Clone> ByAddress<T> {
    fn number(&self, address: u64) -> Option<usize> {
        self.0.iter().position(|(known, _)| *known == address)
    }

    /// The state at an address. It is resolved if it is not cached. If the cache is full, all other
    /// states are removed first.
    ///
    /// # Errors
    /// Those of `resolve`.
    pub(super) fn find(
        &mut self,
        address: u64,
        resolve: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<&T, Fault> {
        let number = match self.number(address) {
            Some(number) => number,
            None => {
                let state = resolve()?;
                if self.0.len() >= MOST_STATES {
                    self.0.clear();
                }
                self.0.push((address, state));
                self.0.len() - 1
            }
        };
        Ok(&self.0[number].1)
    }

    /// Copies what only `other` has, up to the maximum number of states.
    fn merge(&mut self, other: &ByAddress<T>) {
        for (address, state) in &other.0 {
            if self.number(*address).is_none() && self.0.len() < MOST_STATES {
                self.0.push((*address, state.clone()));
            }
        }
    }
}

/// Pictures by binding table index, and states of samplers by their address.
#[derive(Clone, Debug, Default)]
pub struct MediaCache {
    pub(super) pictures: ByIndex<Picture>,
    pub(super) sources: ByIndex<Source>,
    pub(super) scalers: ByAddress<Scaler>,
    pub(super) convolutions: ByAddress<Convolution>,
    pub(super) masks: ByAddress<Mask>,
}

impl MediaCache {
    /// Copies what only `other` has, up to the maximum number of states.
    pub fn merge(&mut self, other: &MediaCache) {
        self.pictures.merge(&other.pictures);
        self.sources.merge(&other.sources);
        self.scalers.merge(&other.scalers);
        self.convolutions.merge(&other.convolutions);
        self.masks.merge(&other.masks);
    }
}
