//! The caches of Gen8 as the sanitizer sees them: who uses which cache, and when each was flushed
//! and invalidated.
//!
//! A cache here is what one command bit flushes or invalidates, not a piece of hardware: the
//! texture cache has two levels, for example. Facts:
//! * Render targets, depth buffers and the data port have caches that hold written data until a
//!   flush. The same flush drops the lines, so later reads get them from memory (Mesa
//!   iris_pipe_control.c: the bit that flushes such a domain also invalidates it).
//! * Texture, constant, state and instruction caches and vertex fetch only read. They keep lines
//!   until their bit invalidates them (digests/gen8_facts 2.2; 2a p.243 for vertices).
//! * The level 3 cache is between the data port and memory. On Gen8, DC Flush is also the only bit
//!   that makes writes of the data port visible to the read caches on top of it (Mesa treats the
//!   flush of the data port as DC Flush before Gen12).
//! * Vertex fetch and the command streamers do not read through the level 3 cache (Mesa
//!   iris_domain_is_l3_coherent). Command streamers have no cache: they read what is in memory.
//! * Stream output is complete after a flush, a stall of the command streamer, or an invalidation
//!   of vertices (Mesa iris_emit_buffer_barrier_for).
//! * The blitter, video and video enhancement engines write back at MI_FLUSH_DW (Linux i915
//!   gen8_emit_flush_xcs). MI_FLUSH_DW with Video Pipeline Cache Invalidate drops what the video
//!   engine has read.
//! * The last level cache and the CPU see memory. Broadwell shares it with the CPU.

use crate::mem::Client;
use crate::mem::coherence::Cache;
use genxml::engine::EngineId;

/// What an access goes through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Holder {
    /// Memory, without a cache of the GPU.
    Memory,
    /// The render target cache.
    RenderTarget,
    /// The cache for depth and stencil.
    Depth,
    /// The data cache.
    Data,
    /// Stream output on its way to memory.
    StreamOut,
    /// The texture cache.
    Texture,
    /// The constant cache.
    Constant,
    /// The cache of vertex fetch.
    Vertex,
    /// The state cache.
    State,
    /// The instruction cache.
    Instruction,
    /// Writes of the blitter.
    Blitter,
    /// Pictures and buffers of the video engine.
    Video,
    /// Pictures of the video enhancement engine.
    VideoEnhance,
}

const HOLDERS: [Holder; 13] = [
    Holder::Memory,
    Holder::RenderTarget,
    Holder::Depth,
    Holder::Data,
    Holder::StreamOut,
    Holder::Texture,
    Holder::Constant,
    Holder::Vertex,
    Holder::State,
    Holder::Instruction,
    Holder::Blitter,
    Holder::Video,
    Holder::VideoEnhance,
];

impl Holder {
    /// The holder that the accesses of a client go through.
    pub const fn of(client: Client) -> Holder {
        match client {
            Client::CommandStreamer => Holder::Memory,
            Client::Vertices => Holder::Vertex,
            Client::StreamOut => Holder::StreamOut,
            Client::State => Holder::State,
            Client::Instructions => Holder::Instruction,
            Client::Data => Holder::Data,
            Client::Constants => Holder::Constant,
            Client::Sampler => Holder::Texture,
            Client::RenderTarget => Holder::RenderTarget,
            Client::Depth => Holder::Depth,
            Client::Blitter => Holder::Blitter,
            Client::Video => Holder::Video,
            Client::VideoEnhance => Holder::VideoEnhance,
        }
    }

    /// True if reads keep lines until an invalidation. The blitter and video enhancement read
    /// memory anew for each packet.
    pub const fn keeps_lines(self) -> bool {
        !matches!(self, Holder::Memory | Holder::StreamOut | Holder::Blitter | Holder::VideoEnhance)
    }

    /// True if written data stays in the holder until a flush.
    pub const fn keeps_writes(self) -> bool {
        matches!(
            self,
            Holder::RenderTarget
                | Holder::Depth
                | Holder::Data
                | Holder::StreamOut
                | Holder::Blitter
                | Holder::Video
                | Holder::VideoEnhance
        )
    }

    /// In words: `the render target cache`.
    pub const fn name(self) -> &'static str {
        match self {
            Holder::Memory => "the command streamer",
            Holder::RenderTarget => "the render target cache",
            Holder::Depth => "the depth cache",
            Holder::Data => "the data cache",
            Holder::StreamOut => "stream output",
            Holder::Texture => "the texture cache",
            Holder::Constant => "the constant cache",
            Holder::Vertex => "the vertex fetch cache",
            Holder::State => "the state cache",
            Holder::Instruction => "the instruction cache",
            Holder::Blitter => "the blitter",
            Holder::Video => "the video engine",
            Holder::VideoEnhance => "the video enhancement engine",
        }
    }
}

/// A holder of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Path(u8);

impl Path {
    /// The holder of an engine. Memory is the same for all engines.
    pub const fn new(engine: EngineId, holder: Holder) -> Path {
        match holder {
            Holder::Memory => Path(0),
            _ => Path((engine as usize * HOLDERS.len() + holder as usize) as u8),
        }
    }

    /// The holder.
    pub const fn holder(self) -> Holder {
        HOLDERS[self.0 as usize % HOLDERS.len()]
    }
}

/// A point in the order of writes, cache fills, flushes and invalidations. Each of these events has
/// its own.
pub type Time = u64;

/// The record of one path.
#[derive(Clone, Debug, Default)]
struct Record {
    /// When it was flushed, in ascending order.
    flushes: Vec<Time>,
    /// When it was last invalidated; 0 if it never was. It starts empty.
    invalidated: Time,
}

/// Holders that were flushed and invalidated, a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    flushed: u16,
    invalidated: u16,
}

const _: () = assert!(HOLDERS.len() <= u16::BITS as usize);

impl Changes {
    /// Whether the holder was flushed. If it does not keep written data, that is always so.
    pub const fn flushed(self, holder: Holder) -> bool {
        !holder.keeps_writes() || self.flushed >> holder as u32 & 1 == 1
    }

    /// Whether the holder was invalidated. If it does not keep lines, that is always so.
    pub const fn invalidated(self, holder: Holder) -> bool {
        !holder.keeps_lines() || self.invalidated >> holder as u32 & 1 == 1
    }

    /// True if no holder was flushed or invalidated.
    pub const fn is_empty(self) -> bool {
        self.flushed == 0 && self.invalidated == 0
    }
}

/// The record of all caches.
#[derive(Clone, Debug)]
pub struct Caches {
    now: Time,
    changes: Changes,
    records: Vec<Record>,
    /// The engines that execute a submission.
    active: [bool; EngineId::ALL.len()],
}

impl Default for Caches {
    fn default() -> Caches {
        let count = EngineId::ALL.len() * HOLDERS.len();
        Caches {
            now: 0,
            changes: Changes::default(),
            records: vec![Record::default(); count],
            active: Default::default(),
        }
    }
}

impl Caches {
    /// What was flushed and invalidated since the last call.
    pub fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// A new point in time, after all earlier ones.
    pub fn tick(&mut self) -> Time {
        self.now += 1;
        self.now
    }

    /// The latest point in time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When a write through `path` at `written` became visible in memory; `None` if it is still in
    /// its cache.
    pub fn visible(&self, path: Path, written: Time) -> Option<Time> {
        if !path.holder().keeps_writes() {
            return Some(written);
        }
        let flushes = &self.records[usize::from(path.0)].flushes;
        if flushes.last().is_none_or(|last| *last < written) {
            return None;
        }
        flushes.get(flushes.partition_point(|time| *time < written)).copied()
    }

    /// True if a line that was read through `path` at `filled` may still be there.
    pub fn holds(&self, path: Path, filled: Time) -> bool {
        self.records[usize::from(path.0)].invalidated < filled
    }

    /// A command of `engine` flushed or invalidated a cache.
    pub fn command(&mut self, engine: EngineId, cache: Cache, invalidates: bool) {
        let own = match engine {
            EngineId::Render => Holder::StreamOut,
            EngineId::Blitter => Holder::Blitter,
            EngineId::Video => Holder::Video,
            EngineId::VideoEnhance => Holder::VideoEnhance,
        };
        let holder = match cache {
            Cache::RenderTarget => Holder::RenderTarget,
            Cache::Depth => Holder::Depth,
            Cache::Data => Holder::Data,
            Cache::Texture => Holder::Texture,
            Cache::Constant => Holder::Constant,
            Cache::Vertex => Holder::Vertex,
            Cache::State => Holder::State,
            Cache::Instruction => Holder::Instruction,
            Cache::Video | Cache::Pipeline => own,
            Cache::Translation => return,
        };
        if cache == Cache::Vertex {
            self.flush(engine, Holder::StreamOut);
        }
        match invalidates {
            true => self.invalidate(engine, holder),
            false => self.flush(engine, holder),
        }
    }

    /// A command of `engine` waited until its pipeline was idle.
    pub fn stalled(&mut self, engine: EngineId) {
        self.flush(engine, Holder::StreamOut);
    }

    /// A submission begins: the kernel invalidates all caches of the engine before it (Linux i915
    /// gen8_emit_flush_rcs with EMIT_INVALIDATE). Captures do not have this command. Returns true
    /// if no other submission is being executed.
    pub fn begin(&mut self, engine: EngineId) -> bool {
        let alone = self.active == [false; EngineId::ALL.len()];
        self.active[engine as usize] = true;
        for holder in HOLDERS.into_iter().filter(|holder| !holder.keeps_writes()) {
            self.invalidate(engine, holder);
        }
        self.invalidate(engine, Holder::Video);
        alone
    }

    /// A submission ends: the kernel flushes all caches of the engine after it (Linux i915
    /// gen8_emit_fini_breadcrumb_rcs and gen8_emit_flush_xcs). Captures do not have this command.
    /// Returns true if no engine executes a submission now. Then all writes are in memory, and no
    /// cache will hold a line when the next submission begins.
    pub fn end(&mut self, engine: EngineId) -> bool {
        for holder in HOLDERS.into_iter().filter(|holder| holder.keeps_writes()) {
            self.flush(engine, holder);
        }
        self.active[engine as usize] = false;
        let idle = self.active == [false; EngineId::ALL.len()];
        if idle {
            self.records.iter_mut().for_each(|record| record.flushes.clear());
        }
        idle
    }

    fn flush(&mut self, engine: EngineId, holder: Holder) {
        let time = self.tick();
        let record = &mut self.records[usize::from(Path::new(engine, holder).0)];
        record.flushes.push(time);
        self.changes.flushed |= 1 << holder as u32;
        if matches!(holder, Holder::RenderTarget | Holder::Depth | Holder::Data) {
            record.invalidated = time;
            self.changes.invalidated |= 1 << holder as u32;
        }
    }

    fn invalidate(&mut self, engine: EngineId, holder: Holder) {
        let time = self.tick();
        self.records[usize::from(Path::new(engine, holder).0)].invalidated = time;
        self.changes.invalidated |= 1 << holder as u32;
    }
}
