//! Work on several host threads with the result of one: thread groups of a walker, batches of
//! vertices, tiles of a draw.
//!
//! [`Work`] consists of *items* with an order. Items are usually independent. They are not when
//! threads communicate, by atomics or by reading what another thread wrote: then the result depends
//! on their order, and the model promises the result of the items in order. So items run
//! speculatively:
//! 1. The items are cut into *parts*, ranges of neighbours. A *wave* has several parts for each
//!    host thread.
//! 2. Workers run the parts of a wave side by side. Memory does not change meanwhile: each part
//!    writes to its own [`Overlay`].
//! 3. When all parts of the wave have ended, they are merged in order. A part is valid if it read
//!    nothing that an earlier part of the wave wrote: it did what it would have done in order. Its
//!    overlay is written to memory. State that is not in memory, such as the URB, is in the report
//!    of the part. [`Work::admits`] checks it and [`Work::merge`] merges it.
//! 4. The first part that is not valid is aborted: it runs again, in order, and a new wave starts
//!    after it. A part is also aborted if it did something unusual: a fault, a read of the clock, a
//!    change of page tables, a kernel that had to be decoded further.
//!
//! After several aborts the rest of the work runs in order.
//!
//! The rows of tiles of most draws, and the rows of groups of many walkers, write to different
//! pages. [`Work::exclusive`] cuts the items of such work into *runs*. Runs need no overlays: host
//! threads write memory directly. Before a run uses a page for the first time, it claims the page
//! ([`crate::mem::claims`]). If two runs use a page and one of them writes it, or if anything
//! unusual happens, all writes are undone. Then the tiles of a draw run in order, because their
//! time was estimated. The groups of a walker run over overlays.
//!
//! Memory, counts, clock and faults are the same in every case. The TLB can differ in three cases:
//! * for pages that were never written;
//! * for surface states that several parts of a wave looked up first;
//! * for pages that share a TLB entry, after claims: the entry can hold another of these pages.
//!
//! Only a program that changes page tables without an invalidation can see this.

use crate::machine::device::Device;
use crate::machine::events::Listener;
use crate::machine::exec::{Exec, Mode};
use crate::machine::fault::{Fault, Place};
use crate::machine::observation::Observed;
use crate::machine::state::State;
use crate::machine::stats::Stats;
use crate::machine::watchdog::Budget;
use crate::mem::claims::{self, Claimant, Claims};
use crate::mem::overlay::{Overlay, Written};
use crate::mem::{AddressSpace, Memory, Vm};
use genxml::engine::EngineId;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Work that consists of items. Its result is that of running the items in order.
pub trait Work: Sync {
    /// The data that a host thread needs to run items one after the other.
    type Worker: Send + Sync;
    /// The data that a worker returns after a part.
    type Report: Send;

    /// Number of items.
    fn items(&self) -> u64;

    /// Time that all items take on one host thread, if it can be estimated from their state.
    fn estimate(&self, _exec: &Exec<'_>, _worker: &Self::Worker) -> Estimate {
        Estimate::Unknown
    }

    /// A number that is the same for work of the same kind, for example with the same kernel. If
    /// direct writes fail for some work, later work of the same kind does not try them for a while.
    /// `None` if this work never tries direct writes.
    fn kind(&self) -> Option<u64> {
        None
    }

    /// Cuts `items` into runs of consecutive items, in order. Different runs probably write to
    /// different pages. Runs need not be longer than `enough` items. `None` if runs probably share
    /// pages, or if this cannot be estimated.
    fn exclusive(
        &self,
        _exec: &Exec<'_>,
        _worker: &mut Self::Worker,
        _items: Range<u64>,
        _enough: u64,
    ) -> Option<Vec<Range<u64>>> {
        None
    }

    /// Runs the items of a range, in order.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread.
    fn run(
        &self,
        exec: &mut Exec<'_>,
        worker: &mut Self::Worker,
        items: Range<u64>,
    ) -> Result<(), Fault>;

    /// A new worker with empty caches and counts.
    fn fork(&self, worker: &Self::Worker) -> Self::Worker;

    /// Replaces the caches of `worker` by those of `other`.
    fn inherit(worker: &mut Self::Worker, other: &Self::Worker);

    /// Takes the caches and counts out of the worker.
    fn report(worker: &mut Self::Worker) -> Self::Report;

    /// True if the part would have had the same result after all parts that were merged so far.
    /// Checks only state that is not in memory. The caller checks memory.
    fn admits(_worker: &Self::Worker, _report: &Self::Report) -> bool {
        true
    }

    /// Adds the report of a worker that [inherited](Self::inherit) from this one: its caches and
    /// counts to `worker`, its changes of units to `state`.
    fn merge(worker: &mut Self::Worker, state: &mut State, report: Self::Report);
}

/// An estimate of the time of [`Work`], in nanoseconds. One unit of [`crate::machine::watchdog`] is
/// about a nanosecond too. The estimate decides only whether and how work is cut into parts. It
/// does not depend on clocks of the host, so that the same work is always cut in the same way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimate {
    /// Nothing is known. The first items run in order, to measure the work of an item.
    Unknown,
    /// At least this time. Kernels with loops can take longer.
    AtLeast(u64),
    /// The items run in order. Either an item needs results of earlier items, or the items are so
    /// fast that copies of pages would take longer.
    InOrder,
}

/// Work of the first items, in units of [`crate::machine::watchdog`]. They run in order, to measure
/// the work of an item.
const SAMPLE: u64 = 20_000;
/// Work of a part of full size: one to four milliseconds, because compiled kernels do up to four
/// units in a nanosecond. So a part costs much more than its overlay and its look-ups of pages.
const PART: u64 = 4_000_000;
/// Work of a part at the start of a walker or draw, and after an abort. It is small, so that little
/// is lost if items have to run in order. It doubles with every wave without an abort.
const FIRST_PART: u64 = PART / 16;
/// Parts of a wave for each host thread, as pairs: the number of parts, and the right shift that
/// makes their size from the full size. Small parts come last, so that no host thread waits long
/// for another one.
const PARTS: [(u64, u32); 3] = [(12, 0), (2, 1), (4, 2)];
/// Sum of [`PARTS`], in parts of full size.
const WHOLE_PARTS: u64 = 14;
/// Largest factor by which a wave grows once its parts have full size. In long waves host threads
/// wait for each other less often.
const MAX_WAVE_LENGTH: u64 = 4;
/// Minimum remaining work for which other host threads are used, if the work was measured.
const MIN_PARALLEL_WORK: u64 = 1_000_000;
/// Minimum remaining time in nanoseconds for which other host threads are used, if the time was
/// estimated. The threads need some time to begin and to end.
const MIN_PARALLEL_TIME: u64 = 150_000;
/// A part is aborted if its work is more than this many times the expected work and more than
/// [`MIN_WORK_LIMIT`].
const MAX_WORK_RATIO: u64 = 32;
/// A part is not aborted for the amount of its work up to this limit.
const MIN_WORK_LIMIT: u64 = 4 * PART;
/// Number of aborts that are tolerated. After more aborts, the rest of the work runs in order.
const MAX_ABORTS: u64 = 2;
/// Number of committed parts that allow one more abort.
const COMMITS_PER_ABORT: u64 = 16;

/// Number of runs of walkers for each host thread that run before all of them wait for each other
/// for the first time. Later this number depends on the pages that the runs write.
const FIRST_RUNS: usize = 8;

/// Runs all items.
///
/// # Errors
/// The [`Fault`] of the first item, in order, that has one. The items after it have no effect.
pub fn run<W: Work>(exec: &mut Exec<'_>, work: &W, worker: &mut W::Worker) -> Result<(), Fault> {
    let items = work.items();
    let serial = exec.listener.is_some() || exec.device.threads < 2 || exec.mode.global_only;
    if serial || exec.vm.memory().is_none() {
        return work.run(exec, worker, 0..items);
    }
    let estimate = match work.estimate(exec, worker) {
        Estimate::InOrder => return work.run(exec, worker, 0..items),
        Estimate::Unknown => 0,
        Estimate::AtLeast(time) => time,
    };
    let budget = exec.budget.left();
    let (mut done, mut commits, mut aborts) = (0, 0, 0);
    let (mut part, mut length) = (FIRST_PART, 1);
    let mut written = None;
    // True if claims should be tried; `None` before it was decided.
    let mut claims = None;
    // Draws write at most their targets, so all their runs are one batch.
    let mut batch = if estimate > 0 { usize::MAX } else { FIRST_RUNS * exec.device.threads };
    while done < items {
        let spent = budget - exec.budget.left();
        let left = items - done;
        let expected = estimate / items.max(1) * left;
        if spent < SAMPLE && expected < MIN_PARALLEL_TIME {
            work.run(exec, worker, done..done + 1)?;
            done += 1;
            continue;
        }
        let measured = spent.checked_div(done).unwrap_or_default();
        let each = measured.max(estimate / items.max(1)).max(1);
        let small = left.saturating_mul(measured) < MIN_PARALLEL_WORK;
        if small && expected < MIN_PARALLEL_TIME
            || aborts > MAX_ABORTS + commits / COMMITS_PER_ABORT
        {
            return work.run(exec, worker, done..items);
        }
        let kind = work.kind();
        let useful = |claims: &mut Claims| kind.is_some_and(|kind| claims.are_useful(kind));
        if *claims.get_or_insert_with(|| useful(&mut exec.device.claims))
            && let Some(mut runs) = work.exclusive(exec, worker, done..items, FIRST_PART / each)
            && runs.len() >= exec.device.threads
        {
            runs.truncate(batch);
            let limit = match (measured, runs.last()) {
                (1.., Some(last)) => each.saturating_mul(last.end - done),
                _ => u64::MAX,
            };
            let limit = limit.saturating_mul(MAX_WORK_RATIO).max(MIN_WORK_LIMIT);
            match run_claiming(exec, work, worker, &runs, limit) {
                Some(end) => {
                    done = end;
                    let pages = exec.device.claims.written().max(1);
                    batch = (runs.len() * claims::MANY / pages).max(exec.device.threads);
                    written = None;
                    continue;
                }
                None if expected >= MIN_PARALLEL_TIME => {
                    return work.run(exec, worker, done..items);
                }
                None => claims = Some(false),
            }
        }
        let width = exec.device.threads as u64 * length;
        let size = (part / each).min(left.div_ceil(width * WHOLE_PARTS)).max(1);
        let limit = each.saturating_mul(size).saturating_mul(MAX_WORK_RATIO).max(MIN_WORK_LIMIT);
        let wave = cut(done..items, size, width);
        let Some(committed) = run_wave(exec, work, worker, &wave, limit, &mut written) else {
            return work.run(exec, worker, done..items);
        };
        commits += committed as u64;
        exec.state.speculation.committed += committed as u64;
        done = if committed > 0 { wave[committed - 1].end } else { done };
        match wave.get(committed) {
            None if part < PART => part = PART.min(2 * part),
            None => length = MAX_WAVE_LENGTH.min(2 * length),
            Some(aborted) => {
                (part, length) = (FIRST_PART, 1);
                aborts += 1;
                exec.state.speculation.aborted += 1;
                done = aborted.end;
                written = None;
                work.run(exec, worker, aborted.clone())?;
            }
        }
    }
    Ok(())
}

/// Cuts the items of a wave into parts; a part of full size has `size` items. `width` is the number
/// of host threads times the length of the wave.
fn cut(items: Range<u64>, size: u64, width: u64) -> Vec<Range<u64>> {
    let sizes = PARTS
        .iter()
        .flat_map(|(parts, shift)| (0..parts * width).map(|_| size.div_ceil(1 << *shift)));
    let mut start = items.start;
    let parts = sizes.map_while(|size| {
        let part = start..items.end.min(start.saturating_add(size));
        start = part.end;
        (!part.is_empty()).then_some(part)
    });
    parts.collect()
}

/// A range of items that runs speculatively.
struct Part<W: Work> {
    items: Range<u64>,
    /// The report that its worker returned; `None` before the part has run.
    report: Option<W::Report>,
    space: AddressSpace,
    overlay: Overlay,
    stats: Stats,
    observed: Observed,
    /// Work that the part has done, in units of the budget.
    spent: u64,
    /// True if there was no fault and no access that depends on the order of parts.
    valid: bool,
}

/// Input that all parts of a wave share.
struct Shared<'a, W: Work> {
    work: &'a W,
    /// The worker that runs items in order.
    worker: &'a W::Worker,
    mem: &'a Memory,
    state: &'a State,
    engine: EngineId,
    at: Place,
    mode: Mode,
    /// Limit of the work of a part, or of a host thread that claims pages.
    limit: u64,
}

/// The data that a host thread owns to run parts one after the other. The thread stops after a part
/// that is not valid.
struct HostThread<W: Work> {
    worker: W::Worker,
    state: State,
    /// Only its counters of performance reports are used. The other fields of the device, and
    /// `ggtt`, are placeholders: EU threads access neither registers of the GPU nor the global
    /// table.
    device: Device,
    ggtt: AddressSpace,
}

impl<W: Work> Part<W> {
    fn run(&mut self, shared: &Shared<'_, W>, host: &mut HostThread<W>) {
        W::inherit(&mut host.worker, shared.worker);
        host.device.observed = Observed::default();
        let mut budget = Budget::new(shared.limit, 0);
        let vm = Vm::over(shared.mem, &mut self.overlay, &mut self.space);
        let result = host.run(shared, vm, &mut self.stats, &mut budget, &self.items);
        self.observed = host.device.observed;
        self.report = Some(W::report(&mut host.worker));
        self.valid = result.is_ok() && !self.overlay.ordered();
        self.spent = shared.limit - budget.left();
    }
}

impl<W: Work> HostThread<W> {
    fn new(shared: &Shared<'_, W>) -> Self {
        HostThread {
            worker: shared.work.fork(shared.worker),
            state: shared.state.for_worker(),
            device: Device::default(),
            ggtt: AddressSpace::global(),
        }
    }

    /// Runs items with the memory `vm`.
    fn run(
        &mut self,
        shared: &Shared<'_, W>,
        vm: Vm<'_>,
        stats: &mut Stats,
        budget: &mut Budget,
        items: &Range<u64>,
    ) -> Result<(), Fault> {
        let HostThread { worker, state, device, ggtt } = self;
        let mut exec = Exec {
            engine: shared.engine,
            vm,
            ggtt,
            state,
            stats,
            budget,
            listener: Listener::default(),
            at: shared.at,
            device,
            mode: shared.mode,
        };
        shared.work.run(&mut exec, worker, items.clone())
    }
}

/// The results of one host thread, which ran some of the runs.
struct Share<W: Work> {
    report: W::Report,
    stats: Stats,
    observed: Observed,
    spent: u64,
    /// The translations that the host thread looked up.
    looked_up: claims::LookedUp,
}

/// Runs the items of `runs`. Each host thread takes the next of `runs` when it has finished one. It
/// claims pages and writes memory directly. `limit` is the limit of the work of one host thread.
/// Returns the end of the items. Returns `None` if a claim was refused or the work did not succeed
/// for another reason. Then all writes are undone, no results are merged, and the caller must run
/// the items in another way.
fn run_claiming<W: Work>(
    exec: &mut Exec<'_>,
    work: &W,
    worker: &mut W::Worker,
    runs: &[Range<u64>],
    limit: u64,
) -> Option<u64> {
    let threads = exec.device.threads.min(runs.len());
    let (mem, space) = exec.vm.memory()?;
    let mut claims = std::mem::take(&mut exec.device.claims);
    claims.start(mem, space);
    let shared = Shared {
        work,
        worker,
        mem,
        state: exec.state,
        engine: exec.engine,
        at: exec.at,
        mode: exec.mode,
        limit: limit.min(exec.budget.left()),
    };
    let next = AtomicUsize::new(0);
    let pool = &mut exec.device.overlays;
    let spaces: Vec<_> = (0..threads).map(|_| Mutex::new(pool.take_space(space))).collect();
    let shares = Mutex::new(Vec::new());
    exec.device.host_threads.run(threads, |number| {
        let space = &mut *spaces[number].lock().unwrap_or_else(PoisonError::into_inner);
        let claimant = Claimant::new(&claims);
        let mut host = HostThread::new(&shared);
        W::inherit(&mut host.worker, shared.worker);
        let mut budget = Budget::new(shared.limit, 0);
        let mut stats = Stats::default();
        while !claims.is_refused() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(items) = runs.get(number) else { break };
            claimant.begin(number as u32, space);
            let vm = Vm::claiming(shared.mem, &claimant, space);
            if host.run(&shared, vm, &mut stats, &mut budget, items).is_err() {
                claims.refuse();
            }
        }
        let share = Share::<W> {
            report: W::report(&mut host.worker),
            stats,
            observed: host.device.observed,
            spent: shared.limit - budget.left(),
            looked_up: claimant.into_looked_up(),
        };
        shares.lock().unwrap_or_else(PoisonError::into_inner).push((number, share));
    });
    let mut shares = shares.into_inner().unwrap_or_else(PoisonError::into_inner);
    shares.sort_unstable_by_key(|(number, _)| *number);
    let shares: Vec<Share<W>> = shares.into_iter().map(|(_, share)| share).collect();
    for space in spaces {
        pool.put_space(space.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    let spent = shares.iter().fold(0, |sum: u64, share| sum.saturating_add(share.spent));
    let admitted = !claims.is_refused()
        && spent <= exec.budget.left()
        && shares.iter().all(|share| W::admits(worker, &share.report))
        && exec.budget.spend(spent).is_ok();
    if admitted {
        let mut looked_up = Vec::new();
        for share in shares {
            looked_up.push(share.looked_up);
            *exec.stats += share.stats;
            exec.device.observed += share.observed;
            W::merge(worker, exec.state, share.report);
        }
        claims::keep(space, looked_up);
        exec.state.speculation.committed += runs.len() as u64;
    } else {
        claims.undo(mem, work.kind().unwrap_or_default());
        exec.state.speculation.aborted += 1;
    }
    exec.device.claims = claims;
    runs.last().filter(|_| admitted).map(|last| last.end)
}

/// Runs the parts of a wave side by side and commits the valid ones up to the first that is not.
/// Returns how many were committed; `None` if the TLB makes speculation impossible. `written` holds
/// the pages that the wave before this one wrote, if nothing ran between the two.
fn run_wave<W: Work>(
    exec: &mut Exec<'_>,
    work: &W,
    worker: &mut W::Worker,
    wave: &[Range<u64>],
    limit: u64,
    written: &mut Option<Written>,
) -> Option<usize> {
    let threads = exec.device.threads.min(wave.len());
    let (mem, space) = exec.vm.memory()?;
    if written.is_none() {
        *written = Some(Written::new(mem, space)?);
    }
    let written = written.as_mut()?;
    let shared = Shared {
        work,
        worker,
        mem,
        state: exec.state,
        engine: exec.engine,
        at: exec.at,
        mode: exec.mode,
        limit: limit.min(exec.budget.left()),
    };
    let pool = &mut exec.device.overlays;
    let fresh = |items: &Range<u64>| Part::<W> {
        items: items.clone(),
        report: None,
        space: pool.take_space(space),
        overlay: pool.take_overlay(),
        stats: Stats::default(),
        observed: Observed::default(),
        spent: 0,
        valid: false,
    };
    let waiting = Mutex::new(wave.iter().map(fresh).collect::<Vec<_>>().into_iter().enumerate());
    let done: Mutex<Vec<Option<Part<W>>>> = Mutex::new(wave.iter().map(|_| None).collect());
    // Number of the first part that is not valid. The parts after it do not have to run.
    let failed = AtomicUsize::new(usize::MAX);
    let run_parts = || {
        let mut host = HostThread::new(&shared);
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, mut part)) =
                next.filter(|(n, _)| *n < failed.load(Ordering::Relaxed))
            else {
                break;
            };
            part.run(&shared, &mut host);
            let valid = part.valid;
            done.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(part);
            if !valid {
                failed.fetch_min(number, Ordering::Relaxed);
                break;
            }
        }
    };
    exec.device.host_threads.run(threads, |_| run_parts());
    let parts = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (mut committed, mut aborts) = (0, false);
    for part in parts {
        let Some(part) = part else {
            aborts = true;
            continue;
        };
        aborts |=
            !part.valid || part.spent > exec.budget.left() || !written.admits(mem, &part.overlay);
        aborts |= !part.report.as_ref().is_some_and(|report| W::admits(worker, report));
        aborts = aborts || exec.budget.spend(part.spent).is_err();
        if !aborts {
            part.overlay.commit(mem, space, &part.space, written);
            *exec.stats += part.stats;
            exec.device.observed += part.observed;
            if let Some(report) = part.report {
                W::merge(worker, exec.state, report);
            }
            committed += 1;
        }
        pool.put_overlay(part.overlay);
        pool.put_space(part.space);
    }
    written.settle();
    Some(committed)
}
