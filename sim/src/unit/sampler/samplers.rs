//! The samplers of the threads of one packet, and the views that messages have used.

use super::kinds::{Kind, Sample, Simd};
use super::media::cache::MediaCache;
use super::view::View;
use crate::assumptions::SAMPLERS_PAST_DYNAMIC_STATE_ARE_ZERO;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::Client;
use crate::mem::outside::{Beyond, Outside};
use crate::unit::by_index::Numbers;

/// Bytes of a sampler state.
const STATE: u64 = 16;
/// Maximum number of cached views. The limit is needed because a kernel can compute sampler
/// addresses, so that the number of views has no other bound.
const MOST_VIEWS: usize = 4096;

/// The samplers of the threads of one packet, and the views that messages have used.
#[derive(Clone, Debug)]
pub struct Samplers {
    /// Dynamic State Base Address: offsets of samplers and border colours are relative to it.
    pub base: u64,
    /// Graphics address of the table of sampler states.
    pub table: u64,
    /// For each binding table index: position in `views` of the view that was used last.
    recent: Numbers,
    views: Vec<CachedView>,
    /// Cache of messages that were executed before. It has at most [`KNOWN`] entries.
    known: Vec<Known>,
    pub(super) media: MediaCache,
}

/// Maximum number of entries of the cache of messages.
const KNOWN: usize = 8;

/// A decoded message without a header that returns filtered texels. For the threads of one packet,
/// these values depend only on the descriptor, so the next message with the same descriptor needs
/// neither checks nor a search for its view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The descriptor.
    pub descriptor: u32,
    /// The kind of message.
    pub kind: &'static Kind,
    /// What the kind does.
    pub sample: Sample,
    /// Number of lanes.
    pub simd: Simd,
    /// Number of registers of parameters, and of the response.
    pub lengths: [usize; 2],
    /// Number of the view.
    pub view: usize,
}

#[derive(Clone, Debug)]
struct CachedView {
    surface: u8,
    /// Address of the sampler state; none for messages without a sampler.
    sampler: Option<u64>,
    view: Box<View>,
}

impl Default for Samplers {
    fn default() -> Samplers {
        Samplers::new(0, 0)
    }
}

impl Samplers {
    /// Sampler states at graphics address `table`. Offsets are relative to `base`.
    pub fn new(base: u64, table: u64) -> Samplers {
        Samplers {
            base,
            table,
            recent: Numbers::default(),
            views: Vec::new(),
            known: Vec::new(),
            media: MediaCache::default(),
        }
    }

    /// Graphics address of sampler state `index`. With `offset`, the table at this offset from the
    /// base is used instead of the default table.
    #[inline(always)]
    pub fn address(&self, offset: Option<u64>, index: u64) -> u64 {
        let table = offset.map_or(self.table, |offset| self.base.wrapping_add(offset));
        table.wrapping_add(STATE * index)
    }

    /// Reads the state at a graphics address that a message or a stage gives.
    ///
    /// # Errors
    /// A page fault, except past the end of Dynamic State
    /// (assumptions::SAMPLERS_PAST_DYNAMIC_STATE_ARE_ZERO).
    pub(super) fn read(exec: &Exec<'_>, address: u64, dwords: &mut [u32]) -> Result<(), Fault> {
        let _client = exec.vm.client(Client::State);
        let base = exec.state.base;
        let end = address.wrapping_sub(base.dynamic).saturating_add(4 * dwords.len() as u64);
        let past_end = base.dynamic_size != 0 && end > base.dynamic_size;
        if let (true, Some(log)) = (past_end, exec.vm.log()) {
            let beyond = Beyond::Sampler;
            log.add_outside(Outside { channel: 0, base: Some(address), beyond, write: false });
        }
        match exec.vm.read(address, bytemuck::cast_slice_mut(dwords)) {
            Err(_) if SAMPLERS_PAST_DYNAMIC_STATE_ARE_ZERO && past_end => dwords.fill(0),
            done => done.map_err(|fault| exec.page(fault, "sampler state"))?,
        }
        Ok(())
    }

    /// Copies the views and the states of media messages that only `other` has, up to the maximum
    /// number of each. `self` and `other` must use the same tables.
    pub fn merge(&mut self, other: &Samplers) {
        for view in &other.views {
            if self.index(view.surface, view.sampler).is_none() && self.views.len() < MOST_VIEWS {
                self.views.push(view.clone());
            }
        }
        self.media.merge(&other.media);
    }

    fn index(&self, surface: u8, sampler: Option<u64>) -> Option<usize> {
        self.views.iter().position(|view| view.surface == surface && view.sampler == sampler)
    }

    /// The number of the view of a surface and a sampler, if this view is the most recently used
    /// view of the surface.
    #[inline(always)]
    pub fn recent(&self, surface: u8, sampler: Option<u64>) -> Option<usize> {
        let number = self.recent.get(surface)?;
        self.views.get(number).is_some_and(|view| view.sampler == sampler).then_some(number)
    }

    /// The number of the view of a surface and a sampler, if there is one. This view becomes the
    /// recent view of the surface.
    pub fn look_up(&mut self, surface: u8, sampler: Option<u64>) -> Option<usize> {
        let number = self.index(surface, sampler)?;
        self.recent.set(surface, number);
        Some(number)
    }

    /// Adds a view, which becomes the recent view of its surface, and returns its number. If the
    /// cache is full, all other views are removed first.
    pub fn add(&mut self, surface: u8, sampler: Option<u64>, view: Box<View>) -> usize {
        if self.views.len() >= MOST_VIEWS {
            self.views.clear();
            self.recent.clear();
            self.known.clear();
        }
        self.views.push(CachedView { surface, sampler, view });
        self.recent.set(surface, self.views.len() - 1);
        self.views.len() - 1
    }

    /// The message with this descriptor, if one was executed before.
    #[inline(always)]
    pub(super) fn known(&self, descriptor: u32) -> Option<Known> {
        self.known.iter().find(|known| known.descriptor == descriptor).copied()
    }

    /// Adds a message to the cache. If the cache is full, all other entries are removed first.
    pub(super) fn remember(&mut self, message: Known) {
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.push(message);
    }

    /// The view with this number.
    #[inline(always)]
    pub fn get(&self, number: usize) -> &View {
        &self.views[number].view
    }
}
