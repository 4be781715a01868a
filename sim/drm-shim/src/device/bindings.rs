//! The objects that are bound in an address space, as the machine needs them: with their memory.
//!
//! [`super::addresses::Vm`] has the same objects at the time of the ioctls. Submissions run later,
//! so the machine has bindings of its own.

use super::gem::ObjectId;
use genxml_sim::mem::Frames;
use std::collections::BTreeMap;

/// A bound object.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The object.
    pub id: ObjectId,
    /// The object's memory.
    pub frames: Frames,
    /// True if the GPU may write the object.
    pub is_writable: bool,
    /// Tiling: the kernel's number for linear, X or Y.
    pub tiling: u32,
    /// Stride in bytes if tiled.
    pub stride: u32,
}

/// Bound objects by address. Their ranges do not overlap, and each object is bound once.
#[derive(Clone, Debug, Default)]
pub struct Bindings {
    by_address: BTreeMap<u64, Binding>,
    addresses: BTreeMap<ObjectId, u64>,
    version: u64,
}

impl Bindings {
    /// A number that increases whenever the page tables for these bindings change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Binds an object at `address`. It is unbound from its old address, and objects that overlap
    /// the new one are unbound.
    pub fn bind(&mut self, address: u64, binding: Binding) {
        if self.maps(address, &binding) {
            self.by_address.insert(address, binding);
            return;
        }
        self.release(binding.id);
        let end = address + binding.frames.bytes();
        while let Some((start, other)) = self.by_address.range(..end).next_back()
            && start + other.frames.bytes() > address
        {
            let id = other.id;
            self.release(id);
        }
        self.addresses.insert(binding.id, address);
        self.by_address.insert(address, binding);
        self.version += 1;
    }

    /// Unbinds an object. Returns the address and the binding; `None` if it is not bound.
    pub fn release(&mut self, id: ObjectId) -> Option<(u64, Binding)> {
        let address = self.addresses.remove(&id)?;
        self.version += 1;
        Some((address, self.by_address.remove(&address)?))
    }

    /// Unbinds the objects for which `stays` is false.
    pub fn retain(&mut self, stays: impl Fn(&Binding) -> bool) {
        let gone = self.by_address.values().filter(|binding| !stays(binding));
        let gone: Vec<ObjectId> = gone.map(|binding| binding.id).collect();
        for id in gone {
            self.release(id);
        }
    }

    /// The bound objects with their addresses, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Binding)> {
        self.by_address.iter().map(|(address, binding)| (*address, binding))
    }

    /// True if page tables for these bindings map the same memory at `address` as `binding`, with
    /// the same access.
    pub fn maps(&self, address: u64, binding: &Binding) -> bool {
        self.by_address.get(&address).is_some_and(|own| {
            (own.id, own.frames, own.is_writable)
                == (binding.id, binding.frames, binding.is_writable)
        })
    }
}
