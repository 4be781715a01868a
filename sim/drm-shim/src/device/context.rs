//! Contexts of clients, and their fault state.

use super::addresses::VmId;
use super::fence::Fence;
use genxml_sim::EngineId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Number of submissions for which the ring of a context state has room: 16 KiB with about 40
/// dwords each, of which the kernel leaves a page free. (Linux intel_context.c,
/// i915_gem_execbuffer.c, eb_throttle)
pub(super) const RING: usize = 76;

/// Identifies the state of a context on one engine (the kernel's `intel_context`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct EngineContextId(pub u64);

/// Fault state of a context. The worker thread changes it while ioctls run.
#[derive(Debug)]
pub struct Health {
    /// True if a fault has banned the context.
    pub banned: AtomicBool,
    /// Number of faults that the context caused.
    pub guilty: AtomicU32,
    /// True if faults do not ban the context.
    pub recoverable: AtomicBool,
    /// Number of faults of all contexts of the file.
    pub resets: Arc<AtomicU32>,
}

impl Health {
    /// Records a fault. If `bans`, the fault bans the context unless the context is recoverable.
    pub fn fault(&self, bans: bool) {
        self.resets.fetch_add(1, Ordering::Relaxed);
        self.guilty.fetch_add(1, Ordering::Relaxed);
        if bans && !self.recoverable.load(Ordering::Relaxed) {
            self.banned.store(true, Ordering::Relaxed);
        }
    }
}

/// A context of a client.
#[derive(Debug)]
pub struct Context {
    /// The context's address space.
    pub vm: VmId,
    /// The context's engine map, if it has one. An element is `None` if the index has no engine.
    pub engines: Option<Vec<Option<EngineId>>>,
    /// The context's state on each engine that it has used, by index in the engine map. Without a
    /// map, by number of the engine, plus 8 for the second video engine.
    pub hardware: BTreeMap<u32, EngineContextId>,
    /// The context's fault state.
    pub health: Arc<Health>,
    /// True once the client has submitted work to the context or asked for its parameters: its
    /// address space and engine map cannot change any more. (Linux i915_gem_context.c,
    /// finalize_create_context_locked)
    pub(super) is_in_use: bool,
    /// True if submissions to all engines run in order.
    pub(super) has_single_timeline: bool,
    /// The fence of the last submission, if submissions to all engines run in order.
    pub(super) last: Option<Fence>,
    /// The fences of the last submissions to each engine, with the keys of `hardware`.
    recent: BTreeMap<u32, VecDeque<Fence>>,
    pub(super) bannable: bool,
    pub(super) persistent: bool,
    pub(super) no_error_capture: bool,
    pub(super) priority: i64,
}

impl Context {
    /// A context without state. `resets` counts the faults of its file.
    pub fn new(vm: VmId, resets: &Arc<AtomicU32>) -> Context {
        let health = Health {
            banned: AtomicBool::new(false),
            guilty: AtomicU32::new(0),
            recoverable: AtomicBool::new(true),
            resets: resets.clone(),
        };
        Context {
            vm,
            engines: None,
            hardware: BTreeMap::new(),
            health: Arc::new(health),
            is_in_use: false,
            has_single_timeline: false,
            last: None,
            recent: BTreeMap::new(),
            bannable: true,
            persistent: true,
            no_error_capture: false,
            priority: 0,
        }
    }
}

impl Context {
    /// True if the ring of an engine's context state has room for a submission.
    pub(super) fn has_room(&mut self, slot: u32) -> bool {
        let recent = self.recent.entry(slot).or_default();
        while recent.front().is_some_and(Fence::is_signaled) {
            recent.pop_front();
        }
        recent.len() < RING
    }

    /// Adds the fence of a submission.
    pub(super) fn add_work(&mut self, slot: u32, fence: &Fence) {
        self.last = self.has_single_timeline.then(|| fence.clone());
        self.recent.entry(slot).or_default().push_back(fence.clone());
    }

    /// Removes the fences of all work and returns them. A forked child calls this: the parent does
    /// the work, so the fences never signal in the child.
    pub(super) fn take_work(&mut self) -> impl Sized {
        (self.last.take(), std::mem::take(&mut self.recent))
    }
}

/// The engine of each engine class in the uAPI, by number of the class.
pub const CLASSES: [EngineId; 4] =
    [EngineId::Render, EngineId::Blitter, EngineId::Video, EngineId::VideoEnhance];
