//! Base addresses of state.

use crate::memory::VA_MASK;
use genxml_core::address::SpaceKind;
use std::sync::atomic::{AtomicU32, Ordering};

/// Base addresses by space; `None` where nothing has set one yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Bases {
    by_space: [Option<u64>; SpaceKind::ALL.len()],
    version: u32,
}

/// The last version number given to the base addresses of any context.
static VERSION: AtomicU32 = AtomicU32::new(0);

impl Bases {
    pub fn set(&mut self, space: SpaceKind, base: u64) {
        let base = Some(base & VA_MASK);
        if self.by_space[space as usize] != base {
            self.by_space[space as usize] = base;
            self.version = VERSION.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        }
    }

    /// A number that changes whenever a base changes. Equal numbers mean equal bases, also between
    /// contexts.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The GPU address of `value` in `space`; `None` if the base is not set or not known, and for
    /// registers.
    pub fn absolute(&self, space: SpaceKind, value: u64) -> Option<u64> {
        match space {
            SpaceKind::Graphics => Some(value & VA_MASK),
            SpaceKind::Mmio | SpaceKind::Unknown => None,
            _ => self.by_space[space as usize].map(|base| base.wrapping_add(value) & VA_MASK),
        }
    }
}
