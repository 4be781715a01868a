//! Host memory of speculative work that later work reuses.

use crate::mem::AddressSpace;
use crate::mem::overlay::Overlay;

/// Overlays and forks of address spaces that later parts of parallel work reuse. A clone of the
/// pool is empty.
#[derive(Debug, Default)]
pub(crate) struct OverlayPool(Vec<(Overlay, AddressSpace)>);

impl Clone for OverlayPool {
    fn clone(&self) -> OverlayPool {
        OverlayPool::default()
    }
}

impl OverlayPool {
    /// Maximum number of entries.
    const CAPACITY: usize = 64;

    /// Takes an empty overlay out of the pool, or makes one, together with a fork of `space`.
    pub fn take(&mut self, space: &AddressSpace) -> (Overlay, AddressSpace) {
        match self.0.pop() {
            Some((overlay, mut fork)) => {
                space.fork_into(&mut fork);
                (overlay, fork)
            }
            None => (Overlay::default(), space.fork()),
        }
    }

    /// Clears an overlay and puts it into the pool with a forked address space, unless the pool is
    /// full.
    pub fn put(&mut self, mut overlay: Overlay, space: AddressSpace) {
        if self.0.len() < OverlayPool::CAPACITY {
            overlay.clear();
            self.0.push((overlay, space));
        }
    }
}
