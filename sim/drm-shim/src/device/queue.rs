//! Work in order: submissions wait here for their fences, and run on a thread of their own. Those
//! of a context's engine run one after the other; among all that can run the oldest does, so that
//! what comes of them does not depend on how fast the client is.

use super::context::HardwareId;
use super::descriptor;
use super::fence::{Changes, Fence, now};
use super::gem::ObjectId;
use super::host::Host;
use super::machine::{Job, Machine};
use super::report::say;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often sync files of others are looked at while something waits for them.
const LOOK: Duration = Duration::from_millis(1);

/// Something to do, and when.
#[derive(Debug)]
pub struct Request {
    /// What; nothing only passes fences on.
    pub job: Option<Job>,
    /// What has to be past before.
    pub waits: Vec<Fence>,
    /// Sync files that have to be past before.
    pub files: Vec<OwnedFd>,
    /// What is past then.
    pub fence: Fence,
}

impl Request {
    fn is_ready(&mut self) -> bool {
        self.waits.retain(|fence| !fence.is_signaled());
        self.files.retain(|file| !descriptor::is_signaled(file));
        self.waits.is_empty() && self.files.is_empty()
    }

    fn hardware(&self) -> Option<HardwareId> {
        Some(self.job.as_ref()?.hardware)
    }
}

/// Something for the machine to do when it is at rest.
type Errand = Box<dyn FnOnce(&mut Machine) + Send>;

/// All requests, in order.
#[derive(Debug)]
pub struct Queue {
    host: &'static dyn Host,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is more to do, or the machine is back.
    turn: Condvar,
    changes: Arc<Changes>,
    timestamp: AtomicU64,
}

#[derive(Default)]
struct State {
    /// The machine when it is at rest.
    machine: Option<Machine>,
    pending: Vec<Request>,
    /// State and objects of what runs.
    running: Option<(HardwareId, Vec<ObjectId>)>,
    /// Objects and states that go when no request has them any more.
    freed: Vec<ObjectId>,
    forgotten: Vec<HardwareId>,
    errands: Vec<Errand>,
    has_worker: bool,
    ends: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("pending", &self.pending).finish_non_exhaustive()
    }
}

impl State {
    /// The oldest request that can run, and before which none of the same state waits.
    fn next(&mut self) -> Option<usize> {
        let mut waiting = HashSet::new();
        self.pending.iter_mut().position(|request| {
            let hardware = request.hardware();
            let first = hardware.is_none_or(|hardware| !waiting.contains(&hardware));
            let ready = first && request.is_ready();
            waiting.extend(hardware);
            ready
        })
    }

    /// Does what waits for the machine to be at rest.
    fn sweep(&mut self) {
        let Some(machine) = &mut self.machine else { return };
        for errand in self.errands.drain(..) {
            errand(machine);
        }
        if self.freed.is_empty() && self.forgotten.is_empty() {
            return;
        }
        let jobs = || self.pending.iter().filter_map(|request| request.job.as_ref());
        let used: HashSet<ObjectId> =
            jobs().flat_map(|job| job.objects.iter().map(|item| item.id)).collect();
        let states: HashSet<HardwareId> = jobs().map(|job| job.hardware).collect();
        self.freed.retain(|id| {
            let stays = used.contains(id);
            if !stays {
                machine.free(*id);
            }
            stays
        });
        self.forgotten.retain(|id| {
            let stays = states.contains(id);
            if !stays {
                machine.forget(*id);
            }
            stays
        });
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if state.pending.iter().any(|request| !request.files.is_empty()) {
            let woken = self.turn.wait_timeout(state, LOOK);
            return woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.turn.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// What the worker does.
    fn work(&self) {
        let mut state = self.lock();
        while !state.ends {
            let next = if state.machine.is_some() { state.next() } else { None };
            let Some(next) = next else {
                state = self.wait(state);
                continue;
            };
            let request = state.pending.remove(next);
            let mut well = true;
            if let Some(job) = request.job
                && let Some(mut machine) = state.machine.take()
            {
                state.running =
                    Some((job.hardware, job.objects.iter().map(|item| item.id).collect()));
                drop(state);
                // A panic of the model is the model's fault, not the client's: it becomes an error.
                let run = AssertUnwindSafe(|| machine.run(&job));
                well = catch_unwind(run).unwrap_or_else(|_| {
                    say("the model panicked, which it never should: please report it");
                    false
                });
                self.timestamp.store(machine.timestamp(), Ordering::Relaxed);
                state = self.lock();
                state.machine = Some(machine);
                state.running = None;
            }
            request.fence.signal(well);
            state.sweep();
            self.turn.notify_all();
            self.changes.add();
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.lock().ends = true;
        self.shared.turn.notify_all();
    }
}

impl Queue {
    /// An empty one. The worker starts with the first request.
    pub fn new(host: &'static dyn Host, machine: Machine, changes: Arc<Changes>) -> Queue {
        let state = State { machine: Some(machine), ..State::default() };
        Queue {
            host,
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                turn: Condvar::new(),
                changes,
                timestamp: AtomicU64::new(0),
            }),
        }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// EAGAIN if there can be no worker.
    pub fn add(&self, request: Request) -> Result<(), Errno> {
        let mut state = self.shared.lock();
        if !state.has_worker {
            let shared = self.shared.clone();
            self.host.spawn(Box::new(move || shared.work()))?;
            state.has_worker = true;
        }
        state.pending.push(request);
        self.shared.turn.notify_all();
        Ok(())
    }

    /// A fence that is past when others and sync files are.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn after(&self, waits: Vec<Fence>, files: Vec<OwnedFd>) -> Result<Fence, Errno> {
        let fence = Fence::new(None, &self.shared.changes);
        self.add(Request { job: None, waits, files, fence: fence.clone() })?;
        Ok(fence)
    }

    /// The machine does something as soon as it is at rest, at once if it is.
    pub fn tell(&self, errand: impl FnOnce(&mut Machine) + Send + 'static) {
        let mut state = self.shared.lock();
        state.errands.push(Box::new(errand));
        state.sweep();
    }

    /// Objects and states are gone when no request has them any more.
    pub fn free(&self, objects: &[ObjectId], states: &[HardwareId]) {
        let mut state = self.shared.lock();
        state.freed.extend(objects);
        state.forgotten.extend(states);
        state.sweep();
    }

    /// Requests of states that have not begun fail.
    pub fn cancel(&self, states: &[HardwareId]) {
        let mut state = self.shared.lock();
        let of_these = |request: &mut Request| {
            request.hardware().is_some_and(|hardware| states.contains(&hardware))
        };
        for request in state.pending.extract_if(.., of_these) {
            request.fence.signal(false);
        }
        state.sweep();
        self.shared.turn.notify_all();
        self.shared.changes.add();
    }

    /// Waits until nothing runs, and nothing can but what waits for somebody else; at most so many
    /// nanoseconds.
    pub fn drain(&self, most: u64) {
        let until = now().saturating_add(most);
        let mut state = self.shared.lock();
        loop {
            let at_rest = state.machine.is_some() && state.next().is_none();
            let left = until.saturating_sub(now());
            if at_rest || left == 0 {
                return;
            }
            let woken = self.shared.turn.wait_timeout(state, Duration::from_nanos(left));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes the machine as soon as it is at rest: nothing runs until [`resume`](Self::resume).
    pub fn pause(&self) -> Machine {
        let mut state = self.shared.lock();
        loop {
            if let Some(machine) = state.machine.take() {
                return machine;
            }
            state = self.shared.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives the machine back.
    pub fn resume(&self, machine: Machine) {
        let mut state = self.shared.lock();
        state.machine = Some(machine);
        state.sweep();
        self.shared.turn.notify_all();
    }

    /// The timestamp of the render engine after the last submission.
    pub fn timestamp(&self) -> u64 {
        self.shared.timestamp.load(Ordering::Relaxed)
    }
}
