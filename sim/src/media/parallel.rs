//! Thread groups of a walker on several threads of the host, with the result of one.
//!
//! Groups may talk to each other: by atomics, or by reading what another one wrote. What comes of it depends on their
//! order, and the model promises one: that of dispatch. So groups run side by side on trial:
//! 1. the groups are cut into `Part`s of neighbours, some for each host thread, a *wave* of them at a time;
//! 2. each part runs over memory that does not change meanwhile, with an [`Overlay`] for what it writes;
//! 3. when all of the wave are done, they are put together in order: a part that read nothing that a part before it
//!    wrote did what it would have done in its place, and its overlay goes to memory;
//! 4. the first part that did not, or that did anything unusual (a fault, a look at the clock, a change of page tables,
//!    a kernel that grew), runs again in its place, and a new wave starts behind it.
//!
//! A walker whose parts keep failing runs in order. Memory, counts, clock and faults are the same in every case. So is the
//! TLB, but for pages that were never written, and those of surface states that several parts of a wave looked up first:
//! it matters only to those who change page tables without an invalidation.

use super::gpgpu::{Grid, Worker};
use crate::context::{Exec, Mode, State};
use crate::cs::device::Device;
use crate::fault::{Fault, Place};
use crate::mem::overlay::{Overlay, Written};
use crate::mem::{AddressSpace, Memory, Vm};
use crate::observe::{Observer, Stats};
use crate::watchdog::Budget;
use genxml::engine::EngineId;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Work of the first groups, which run in order to see how much a group is, in units of [`crate::watchdog`].
const SAMPLE: u64 = 20_000;
/// Work of a part: a millisecond or more, so that a part costs much more than its overlay.
const PART: u64 = 1_000_000;
/// Work of a part at the start of a walker, and after one that had to run again: little is lost where groups have to run
/// in order. It doubles with every wave that was right.
const FIRST_PART: u64 = PART / 4;
/// Parts of a wave for each host thread: enough that none waits long for the last one.
const PARTS_PER_THREAD: u64 = 16;
/// Work that is not worth starting threads.
const LITTLE: u64 = 1_000_000;
/// A part may do this many times the work that was expected; then it counts as unusual.
const SURPRISE: u64 = 32;
/// Waves that may fail before the rest runs in order, and parts that make up for one more.
const PATIENCE: u64 = 2;
const PARTS_PER_FAILURE: u64 = 16;

/// How often groups ran on trial. Unlike everything else it depends on the number of host threads, and on nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Trials {
    /// Parts that counted.
    pub kept: u64,
    /// Parts that had to run again, in their place.
    pub repeated: u64,
}

/// Runs all groups of a grid.
///
/// # Errors
/// Any [`Fault`] of a thread, the first one in the order of dispatch.
pub fn run<O: Observer>(exec: &mut Exec<'_, O>, grid: &Grid, worker: &mut Worker) -> Result<(), Fault> {
    let groups = grid.groups();
    let alone = O::LISTENS || exec.device.threads < 2 || exec.mode.global_only;
    if alone || exec.vm.memory().is_none() {
        return grid.run(exec, worker, 0..groups);
    }
    let budget = exec.budget.left();
    let (mut done, mut parts, mut failures) = (0, 0, 0);
    let mut part = FIRST_PART;
    while done < groups {
        let spent = budget - exec.budget.left();
        if spent < SAMPLE {
            grid.run(exec, worker, done..done + 1)?;
            done += 1;
            continue;
        }
        let each = (spent / done).max(1);
        let left = groups - done;
        if left.saturating_mul(each) < LITTLE || failures > PATIENCE + parts / PARTS_PER_FAILURE {
            return grid.run(exec, worker, done..groups);
        }
        let wanted = exec.device.threads as u64 * PARTS_PER_THREAD;
        let size = (part / each).min(left.div_ceil(wanted)).max(1);
        let limit = each.saturating_mul(size).saturating_mul(SURPRISE);
        let starts = (done..groups).step_by(size as usize).take(wanted as usize);
        let wave: Vec<Range<u64>> = starts.map(|start| start..groups.min(start + size)).collect();
        match run_wave(exec, grid, worker, &wave, limit) {
            Some(good) => {
                parts += good as u64;
                exec.state.trials.kept += good as u64;
                done = if good > 0 { wave[good - 1].end } else { done };
                part = if good == wave.len() { PART.min(2 * part) } else { FIRST_PART };
                if let Some(failed) = wave.get(good) {
                    failures += 1;
                    exec.state.trials.repeated += 1;
                    done = failed.end;
                    grid.run(exec, worker, failed.clone())?;
                }
            }
            None => return grid.run(exec, worker, done..groups),
        }
    }
    Ok(())
}

/// Neighbouring groups on trial.
struct Part {
    groups: Range<u64>,
    worker: Worker,
    space: AddressSpace,
    overlay: Overlay,
    stats: Stats,
    /// Work that was done.
    spent: u64,
    /// Nothing unusual happened.
    good: bool,
}

/// What all parts of a wave share.
struct Shared<'a> {
    grid: &'a Grid,
    mem: &'a Memory,
    state: &'a State,
    engine: EngineId,
    at: Place,
    mode: Mode,
    /// Work that a part may do.
    limit: u64,
}

impl Part {
    fn run(&mut self, shared: &Shared<'_>, state: &mut State, others: &mut (Device, AddressSpace)) {
        let (device, ggtt) = others;
        let mut budget = Budget::new(shared.limit, 0);
        let mut exec = Exec {
            engine: shared.engine,
            vm: Vm::over(shared.mem, &mut self.overlay, &mut self.space),
            ggtt,
            state,
            stats: &mut self.stats,
            budget: &mut budget,
            observer: &mut (),
            at: shared.at,
            device,
            mode: shared.mode,
        };
        let result = shared.grid.run(&mut exec, &mut self.worker, self.groups.clone());
        self.good = result.is_ok() && !self.overlay.ordered();
        self.spent = shared.limit - budget.left();
    }
}

/// Runs parts side by side and puts together as many as come out as they would in order. Returns how many these are; None
/// if the TLB makes that impossible.
fn run_wave<O: Observer>(
    exec: &mut Exec<'_, O>,
    grid: &Grid,
    worker: &mut Worker,
    wave: &[Range<u64>],
    limit: u64,
) -> Option<usize> {
    let threads = exec.device.threads.min(wave.len());
    let (mem, space) = exec.vm.memory()?;
    let mut written = Written::new(mem, space)?;
    // Threads do not look at the kernels of other packets.
    let kernels = std::mem::take(&mut exec.state.kernels);
    let shared = Shared {
        grid,
        mem,
        state: exec.state,
        engine: exec.engine,
        at: exec.at,
        mode: exec.mode,
        limit: limit.min(exec.budget.left()),
    };
    let fresh = |groups: &Range<u64>| Part {
        groups: groups.clone(),
        worker: worker.fork(),
        space: space.fork(),
        overlay: Overlay::default(),
        stats: Stats::default(),
        spent: 0,
        good: false,
    };
    let waiting = Mutex::new(wave.iter().map(fresh).collect::<Vec<_>>().into_iter().enumerate());
    let done: Mutex<Vec<Option<Part>>> = Mutex::new(wave.iter().map(|_| None).collect());
    // What comes behind a part that failed is of no use.
    let failed = AtomicUsize::new(usize::MAX);
    let work = || {
        let mut state = shared.state.clone();
        // Threads know neither registers of the GPU nor the global table.
        let mut others = (Device::default(), AddressSpace::global());
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, mut part)) = next.filter(|(n, _)| *n < failed.load(Ordering::Relaxed)) else {
                break;
            };
            part.run(&shared, &mut state, &mut others);
            if !part.good {
                failed.fetch_min(number, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    exec.state.kernels = kernels;
    let parts = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut good = 0;
    for part in parts.into_iter().map_while(|part| part) {
        let fits = part.good && part.spent <= exec.budget.left();
        if !fits || !written.admits(mem, &part.overlay) || exec.budget.spend(part.spent).is_err() {
            break;
        }
        part.overlay.commit(mem, space, &part.space, &mut written);
        *exec.stats += part.stats;
        worker.learn(&part.worker);
        good += 1;
    }
    Some(good)
}
