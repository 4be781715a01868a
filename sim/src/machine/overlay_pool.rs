//! Host memory of speculative work that later work reuses.

use crate::mem::AddressSpace;
use crate::mem::overlay::Overlay;

/// Overlays and forks of address spaces that later parts of parallel work reuse. A clone of the
/// pool is empty.
#[derive(Debug, Default)]
pub(crate) struct OverlayPool {
    overlays: Vec<Overlay>,
    spaces: Vec<AddressSpace>,
}

impl Clone for OverlayPool {
    fn clone(&self) -> OverlayPool {
        OverlayPool::default()
    }
}

impl OverlayPool {
    /// Maximum number of entries of each kind.
    const CAPACITY: usize = 64;

    /// Takes an empty overlay out of the pool, or makes one.
    pub fn take_overlay(&mut self) -> Overlay {
        self.overlays.pop().unwrap_or_default()
    }

    /// Clears an overlay and puts it into the pool, unless the pool is full.
    pub fn put_overlay(&mut self, mut overlay: Overlay) {
        if self.overlays.len() < OverlayPool::CAPACITY {
            overlay.clear();
            self.overlays.push(overlay);
        }
    }

    /// Takes a fork of `space` out of the pool, or makes one.
    pub fn take_space(&mut self, space: &AddressSpace) -> AddressSpace {
        match self.spaces.pop() {
            Some(mut fork) => {
                space.fork_into(&mut fork);
                fork
            }
            None => space.fork(),
        }
    }

    /// Puts a forked address space into the pool, unless the pool is full.
    pub fn put_space(&mut self, space: AddressSpace) {
        if self.spaces.len() < OverlayPool::CAPACITY {
            self.spaces.push(space);
        }
    }
}
