//! Records which caches were flushed and invalidated, and when.
//!
//! The model has no caches: every unit sees every write at once. Hardware does not promise that, so
//! a batch that relies on it works in the model but may fail on hardware. To detect such a batch,
//! command streamers record what PIPE_CONTROL, MI_FLUSH_DW and similar commands flush. Each
//! recorded call is an [`Epoch`]. A write from before an epoch is visible to other units if the
//! cache that held it was flushed in that epoch or later.
//!
//! ```
//! use genxml_sim::EngineId;
//! use genxml_sim::mem::coherence::{Cache, Coherence};
//!
//! let mut coherence = Coherence::default();
//! let written = coherence.now();
//! assert!(!coherence.flushed_since(EngineId::Render, Cache::Data, written));
//! // PIPE_CONTROL with DC Flush and Texture Cache Invalidation, executed by the render engine:
//! coherence.flushed(EngineId::Render, Cache::Data);
//! coherence.invalidated(EngineId::Render, Cache::Texture);
//! assert!(coherence.flushed_since(EngineId::Render, Cache::Data, written));
//! assert_eq!(coherence.last_invalidation(EngineId::Render, Cache::Data), None);
//! ```

use genxml::engine::EngineId;

/// A cache that a command can flush or invalidate (2a PIPE_CONTROL, MI_FLUSH_DW).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Cache {
    /// Render targets: Render Target Cache Flush.
    RenderTarget,
    /// Depth and stencil: Depth Cache Flush.
    Depth,
    /// Data port: DC Flush Enable.
    Data,
    /// Sampler: Texture Cache Invalidation.
    Texture,
    /// Constants: Constant Cache Invalidation.
    Constant,
    /// Vertices: VF Cache Invalidation.
    Vertex,
    /// State objects: State Cache Invalidation.
    State,
    /// Kernels: Instruction Cache Invalidate.
    Instruction,
    /// Video: Video Pipeline Cache Invalidate of MI_FLUSH_DW.
    Video,
    /// Writes of the engine's own pipeline on their way to memory: MI_FLUSH_DW, Pipe Control Flush
    /// Enable.
    Pipeline,
    /// Translations: TLB Invalidate.
    Translation,
}

impl Cache {
    /// All caches, in the order of declaration.
    pub const ALL: [Cache; 11] = [
        Cache::RenderTarget,
        Cache::Depth,
        Cache::Data,
        Cache::Texture,
        Cache::Constant,
        Cache::Vertex,
        Cache::State,
        Cache::Instruction,
        Cache::Video,
        Cache::Pipeline,
        Cache::Translation,
    ];
}

/// A point in the order of flushes and invalidations: the number of them before that point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Default)]
pub struct Epoch(pub u64);

/// The record of one cache of one engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Record {
    flushes: u64,
    invalidations: u64,
    flushed: Option<Epoch>,
    invalidated: Option<Epoch>,
}

/// The record of all caches of all engines. It is always kept: a call costs a few additions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coherence {
    now: Epoch,
    records: [[Record; Cache::ALL.len()]; EngineId::ALL.len()],
}

impl Coherence {
    /// The epoch that the next flush or invalidation gets. Everything that has happened so far is
    /// before this epoch.
    pub fn now(&self) -> Epoch {
        self.now
    }

    /// Records that a command of `engine` wrote back what this cache held.
    pub fn flushed(&mut self, engine: EngineId, cache: Cache) {
        let now = self.advance();
        let record = self.record_mut(engine, cache);
        record.flushes += 1;
        record.flushed = Some(now);
    }

    /// Records that a command of `engine` dropped what this cache held.
    pub fn invalidated(&mut self, engine: EngineId, cache: Cache) {
        let now = self.advance();
        let record = self.record_mut(engine, cache);
        record.invalidations += 1;
        record.invalidated = Some(now);
    }

    /// True if the cache was flushed at `since` or later.
    pub fn flushed_since(&self, engine: EngineId, cache: Cache, since: Epoch) -> bool {
        self.last_flush(engine, cache) >= Some(since)
    }

    /// True if the cache was invalidated at `since` or later.
    pub fn invalidated_since(&self, engine: EngineId, cache: Cache, since: Epoch) -> bool {
        self.last_invalidation(engine, cache) >= Some(since)
    }

    /// The epoch of the last flush of the cache; `None` if it was never flushed.
    pub fn last_flush(&self, engine: EngineId, cache: Cache) -> Option<Epoch> {
        self.record(engine, cache).flushed
    }

    /// The epoch of the last invalidation of the cache; `None` if it was never invalidated.
    pub fn last_invalidation(&self, engine: EngineId, cache: Cache) -> Option<Epoch> {
        self.record(engine, cache).invalidated
    }

    /// Number of flushes of the cache.
    pub fn flushes(&self, engine: EngineId, cache: Cache) -> u64 {
        self.record(engine, cache).flushes
    }

    /// Number of invalidations of the cache.
    pub fn invalidations(&self, engine: EngineId, cache: Cache) -> u64 {
        self.record(engine, cache).invalidations
    }

    fn advance(&mut self) -> Epoch {
        let now = self.now;
        self.now.0 += 1;
        now
    }

    fn record(&self, engine: EngineId, cache: Cache) -> &Record {
        &self.records[engine as usize][cache as usize]
    }

    fn record_mut(&mut self, engine: EngineId, cache: Cache) -> &mut Record {
        &mut self.records[engine as usize][cache as usize]
    }
}
