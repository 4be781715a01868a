//! Work on several threads of the host, with the result of one: thread groups of a walker, tiles of
//! a draw.
//!
//! [`Work`] has many *items* that run in order, each of them independent of the others as a rule.
//! But threads may talk to each other: by atomics, or by reading what another one wrote. What comes
//! of it depends on their order, and the model promises one. So items run side by side on trial:
//! 1. they are cut into `Part`s of neighbours, some for each host thread, a *wave* of them at a
//!    time;
//! 2. each part runs over memory that does not change meanwhile, with an [`Overlay`] for what it
//!    writes;
//! 3. when all of the wave are done, they are put together in order: a part that read nothing that
//!    a part before it wrote did what it would have done in its place, and its overlay goes to
//!    memory;
//! 4. the first part that did not, or that did anything unusual (a fault, a look at the clock, a
//!    change of page tables, a kernel that grew), runs again in its place, and a new wave starts
//!    behind it.
//!
//! Work whose parts keep failing runs in order. Memory, counts, clock and faults are the same in
//! every case. So is the TLB, but for pages that were never written, and those of surface states
//! that several parts of a wave looked up first: it matters only to those who change page tables
//! without an invalidation.

use crate::machine::device::Device;
use crate::machine::events::{Listener, Stats};
use crate::machine::exec::{Exec, Mode};
use crate::machine::fault::{Fault, Place};
use crate::machine::state::State;
use crate::machine::watchdog::Budget;
use crate::mem::overlay::{Overlay, Written};
use crate::mem::{AddressSpace, Memory, Vm};
use genxml::engine::EngineId;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Items that run in order, or as if they had.
pub trait Work: Sync {
    /// Where items run, one after the other.
    type Worker: Send + Sync;
    /// What a worker has to tell when it is done.
    type Report: Send;

    /// How many there are.
    fn items(&self) -> u64;

    /// Runs items.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread.
    fn run(
        &self,
        exec: &mut Exec<'_>,
        worker: &mut Self::Worker,
        items: Range<u64>,
    ) -> Result<(), Fault>;

    /// Another worker that knows nothing yet.
    fn fork(worker: &Self::Worker) -> Self::Worker;

    /// Takes over what another worker knows, and forgets what it knew itself.
    fn follow(worker: &mut Self::Worker, other: &Self::Worker);

    /// What it knows and counted; it knows nothing then.
    fn report(worker: &mut Self::Worker) -> Self::Report;

    /// Takes over what a worker that [follows](Self::follow) this one got to know.
    fn learn(worker: &mut Self::Worker, report: Self::Report);
}

/// Work of the first items, which run in order to see how much an item is, in units of
/// [`crate::machine::watchdog`].
const SAMPLE: u64 = 20_000;
/// Work of a part: a millisecond or more, so that a part costs much more than its overlay.
const PART: u64 = 1_000_000;
/// Work of a part at the start of a walker or draw, and after one that had to run again: little is
/// lost where items have to run in order. It doubles with every wave that was right.
const FIRST_PART: u64 = PART / 4;
/// Parts of a wave for each host thread, and which fraction of a whole one they are, as powers of
/// two: small ones at the end, so that no host thread waits long for the last one.
const PARTS: [(u64, u32); 3] = [(12, 0), (2, 1), (4, 2)];
/// Whole parts that those of a host thread are together.
const WHOLE_PARTS: u64 = 14;
/// A wave of parts that have their full size may be so many times as long: where items are large,
/// host threads wait less often for each other then.
const LONGEST: u64 = 4;
/// Work that is not worth starting threads.
const LITTLE: u64 = 1_000_000;
/// A part may do this many times the work that was expected; then it counts as unusual.
const SURPRISE: u64 = 32;
/// Waves that may fail before the rest runs in order, and parts that make up for one more.
const PATIENCE: u64 = 2;
const PARTS_PER_FAILURE: u64 = 16;

/// How often items ran on trial. Unlike everything else it depends on the number of host threads,
/// and on nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Trials {
    /// Parts that counted.
    pub kept: u64,
    /// Parts that had to run again, in their place.
    pub repeated: u64,
}

/// Runs all items.
///
/// # Errors
/// Any [`Fault`] of a thread, the first one in order.
pub fn run<W: Work>(exec: &mut Exec<'_>, work: &W, worker: &mut W::Worker) -> Result<(), Fault> {
    let items = work.items();
    let alone = exec.listener.is_some() || exec.device.threads < 2 || exec.mode.global_only;
    if alone || exec.vm.memory().is_none() {
        return work.run(exec, worker, 0..items);
    }
    let budget = exec.budget.left();
    let (mut done, mut parts, mut failures) = (0, 0, 0);
    let (mut part, mut length) = (FIRST_PART, 1);
    let mut written = None;
    while done < items {
        let spent = budget - exec.budget.left();
        if spent < SAMPLE {
            work.run(exec, worker, done..done + 1)?;
            done += 1;
            continue;
        }
        let each = (spent / done).max(1);
        let left = items - done;
        if left.saturating_mul(each) < LITTLE || failures > PATIENCE + parts / PARTS_PER_FAILURE {
            return work.run(exec, worker, done..items);
        }
        let seats = exec.device.threads as u64 * length;
        let size = (part / each).min(left.div_ceil(seats * WHOLE_PARTS)).max(1);
        let limit = each.saturating_mul(size).saturating_mul(SURPRISE);
        let wave = cut(done..items, size, seats);
        let Some(good) = run_wave(exec, work, worker, &wave, limit, &mut written) else {
            return work.run(exec, worker, done..items);
        };
        parts += good as u64;
        exec.state.trials.kept += good as u64;
        done = if good > 0 { wave[good - 1].end } else { done };
        match wave.get(good) {
            None if part < PART => part = PART.min(2 * part),
            None => length = LONGEST.min(2 * length),
            Some(failed) => {
                (part, length) = (FIRST_PART, 1);
                failures += 1;
                exec.state.trials.repeated += 1;
                done = failed.end;
                written = None;
                work.run(exec, worker, failed.clone())?;
            }
        }
    }
    Ok(())
}

/// Cuts as many items as a wave has into parts; a whole one has `size`. `seats` is the number of
/// host threads, or more in a longer wave.
fn cut(items: Range<u64>, size: u64, seats: u64) -> Vec<Range<u64>> {
    let sizes = PARTS
        .iter()
        .flat_map(|(parts, shift)| (0..parts * seats).map(|_| size.div_ceil(1 << *shift)));
    let mut start = items.start;
    let parts = sizes.map_while(|size| {
        let part = start..items.end.min(start.saturating_add(size));
        start = part.end;
        (!part.is_empty()).then_some(part)
    });
    parts.collect()
}

/// What parts leave for others.
#[derive(Debug, Default)]
pub(crate) struct Shelf(Vec<(Overlay, AddressSpace)>);

impl Clone for Shelf {
    fn clone(&self) -> Shelf {
        Shelf::default()
    }
}

impl Shelf {
    /// Most that are kept.
    const CAPACITY: usize = 64;

    /// An overlay that holds nothing and a fork of `space`.
    fn take(&mut self, space: &AddressSpace) -> (Overlay, AddressSpace) {
        match self.0.pop() {
            Some((overlay, mut fork)) => {
                space.fork_into(&mut fork);
                (overlay, fork)
            }
            None => (Overlay::default(), space.fork()),
        }
    }

    fn put(&mut self, mut overlay: Overlay, space: AddressSpace) {
        if self.0.len() < Shelf::CAPACITY {
            overlay.clear();
            self.0.push((overlay, space));
        }
    }
}

/// Neighbouring items on trial.
struct Part<W: Work> {
    items: Range<u64>,
    /// What its worker had to tell in the end.
    report: Option<W::Report>,
    space: AddressSpace,
    overlay: Overlay,
    stats: Stats,
    /// Work that was done.
    spent: u64,
    /// Nothing unusual happened.
    good: bool,
}

/// What all parts of a wave share.
struct Shared<'a, W: Work> {
    work: &'a W,
    /// The worker that runs items in order.
    worker: &'a W::Worker,
    mem: &'a Memory,
    state: &'a State,
    engine: EngineId,
    at: Place,
    mode: Mode,
    /// Work that a part may do.
    limit: u64,
}

/// Where a host thread runs parts, one after the other. After one that is not good it runs no
/// other.
struct Seat<W: Work> {
    worker: W::Worker,
    state: State,
    /// Threads know neither registers of the GPU nor the global table.
    device: Device,
    ggtt: AddressSpace,
}

impl<W: Work> Part<W> {
    fn run(&mut self, shared: &Shared<'_, W>, seat: &mut Seat<W>) {
        let Seat { worker, state, device, ggtt } = seat;
        W::follow(worker, shared.worker);
        let mut budget = Budget::new(shared.limit, 0);
        let mut exec = Exec {
            engine: shared.engine,
            vm: Vm::over(shared.mem, &mut self.overlay, &mut self.space),
            ggtt,
            state,
            stats: &mut self.stats,
            budget: &mut budget,
            listener: Listener::default(),
            at: shared.at,
            device,
            mode: shared.mode,
        };
        let result = shared.work.run(&mut exec, worker, self.items.clone());
        self.report = Some(W::report(worker));
        self.good = result.is_ok() && !self.overlay.ordered();
        self.spent = shared.limit - budget.left();
    }
}

/// Runs parts side by side and puts together as many as come out as they would in order. Returns
/// how many these are; None if the TLB makes that impossible. `written` is what the wave before
/// this one left, if nothing ran between them.
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
    let shelf = &mut exec.device.shelf;
    let fresh = |items: &Range<u64>| {
        let (overlay, space) = shelf.take(space);
        let (report, stats) = (None, Stats::default());
        Part::<W> { items: items.clone(), report, space, overlay, stats, spent: 0, good: false }
    };
    let waiting = Mutex::new(wave.iter().map(fresh).collect::<Vec<_>>().into_iter().enumerate());
    let done: Mutex<Vec<Option<Part<W>>>> = Mutex::new(wave.iter().map(|_| None).collect());
    // What comes behind a part that failed is of no use.
    let failed = AtomicUsize::new(usize::MAX);
    let sit = || {
        let mut seat = Seat {
            worker: W::fork(shared.worker),
            state: shared.state.for_worker(),
            device: Device::default(),
            ggtt: AddressSpace::global(),
        };
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, mut part)) =
                next.filter(|(n, _)| *n < failed.load(Ordering::Relaxed))
            else {
                break;
            };
            part.run(&shared, &mut seat);
            let good = part.good;
            done.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(part);
            if !good {
                failed.fetch_min(number, Ordering::Relaxed);
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(sit);
        }
        sit();
    });
    let parts = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (mut good, mut fails) = (0, false);
    for part in parts {
        let Some(part) = part else {
            fails = true;
            continue;
        };
        fails |=
            !part.good || part.spent > exec.budget.left() || !written.admits(mem, &part.overlay);
        fails = fails || exec.budget.spend(part.spent).is_err();
        if !fails {
            part.overlay.commit(mem, space, &part.space, written);
            *exec.stats += part.stats;
            if let Some(report) = part.report {
                W::learn(worker, report);
            }
            good += 1;
        }
        shelf.put(part.overlay, part.space);
    }
    written.settle();
    Some(good)
}
