//! Pending submissions, and the thread that runs them. Submissions of one context on one engine run
//! in order. Of all ready submissions the oldest starts first.
//!
//! Submissions that have started share the model in time slices. So a batch that waits for a
//! semaphore, or that loops until its client ends it, does not stop other contexts and engines.

use super::addresses::VmId;
use super::context::EngineContextId;
use super::descriptor;
use super::fence::{Changes, Fence, now};
use super::gem::ObjectId;
use super::host::Host;
use super::machine::{Job, Machine, Slice, Started};
use super::report::say;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Interval at which sync files and semaphores are polled while nothing else can run.
const LOOK: Duration = Duration::from_millis(1);

/// A request, and the fences that it waits for.
#[derive(Debug)]
pub struct Request {
    /// The submission; `None` for a request that only combines fences.
    pub job: Option<Job>,
    /// Fences that must signal before the request starts.
    pub waits: Vec<Fence>,
    /// Sync files that must signal before the request starts.
    pub files: Vec<OwnedFd>,
    /// The fence that signals when the request is complete.
    pub fence: Fence,
}

impl Request {
    fn is_ready(&mut self) -> bool {
        self.waits.retain(|fence| !fence.is_signaled());
        self.files.retain(|file| !descriptor::is_signaled(file));
        self.waits.is_empty() && self.files.is_empty()
    }

    fn hardware(&self) -> Option<EngineContextId> {
        Some(self.job.as_ref()?.hardware)
    }
}

/// A function to call when the machine is idle.
type Task = Box<dyn FnOnce(&mut Machine) + Send>;

/// All pending requests, in order of submission, and the machine that runs them.
#[derive(Debug)]
pub struct Queue {
    host: &'static dyn Host,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Signaled when requests were added, completed or canceled, when the queue runs again after a
    /// pause, and when it is dropped.
    turn: Condvar,
    changes: Arc<Changes>,
    timestamp: AtomicU64,
}

#[derive(Default)]
struct State {
    /// The machine while it is idle; `None` while a submission runs or the queue is paused.
    machine: Option<Machine>,
    pending: Vec<Request>,
    /// Submissions between two time slices, with their fences. The first one runs next.
    started: VecDeque<(Box<Started>, Fence)>,
    /// The submission that runs.
    running: Option<Running>,
    /// Number of threads that wait in [`Queue::pause`]. The worker starts nothing for them.
    pauses: usize,
    /// True if the worker has started a request since the last time slice of an earlier one.
    slice_is_next: bool,
    /// Objects and context states to remove when no pending request uses them.
    freed: Vec<ObjectId>,
    forgotten: Vec<EngineContextId>,
    /// Address spaces to remove when no pending request uses them.
    released: Vec<VmId>,
    tasks: Vec<Task>,
    has_worker: bool,
    ends: bool,
    /// Whether the worker must write the final reports, or has written them.
    last: LastReports,
}

/// The submission that the worker executes.
#[derive(Clone, Copy)]
struct Running {
    hardware: EngineContextId,
    /// True if it must not continue after this time slice.
    is_canceled: bool,
}

/// State of the final reports of a process, if the worker writes them.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum LastReports {
    #[default]
    NotWanted,
    Wanted,
    Written,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("pending", &self.pending).finish_non_exhaustive()
    }
}

/// All submissions that have not ended, except for the running one.
fn jobs<'a>(
    pending: &'a [Request],
    started: &'a VecDeque<(Box<Started>, Fence)>,
) -> impl Iterator<Item = &'a Job> {
    let pending = pending.iter().filter_map(|request| request.job.as_ref());
    pending.chain(started.iter().map(|(started, _)| &started.job))
}

/// What the worker does next.
enum Next {
    /// The request with this index among the pending ones.
    Request(usize),
    /// The next time slice of the first started submission.
    Slice,
}

impl State {
    /// Index of the oldest ready request of a context state that has no earlier submission.
    fn ready(&mut self) -> Option<usize> {
        let mut waiting: HashSet<EngineContextId> =
            self.started.iter().map(|(started, _)| started.job.hardware).collect();
        self.pending.iter_mut().position(|request| {
            let hardware = request.hardware();
            let first = hardware.is_none_or(|hardware| !waiting.contains(&hardware));
            let ready = first && request.is_ready();
            waiting.extend(hardware);
            ready
        })
    }

    /// What to do next; `None` if nothing can continue without a change from outside. New requests
    /// and started submissions alternate. All started submissions have turns in order, also those
    /// that wait for semaphores, unless all of them wait.
    fn next(&mut self) -> Option<Next> {
        self.machine.as_ref().filter(|_| self.pauses == 0)?;
        let slice = self.started.iter().any(|(started, _)| !started.waits());
        if slice && self.slice_is_next {
            return Some(Next::Slice);
        }
        self.ready().map(Next::Request).or(slice.then_some(Next::Slice))
    }

    /// If the machine is idle, calls the tasks that wait for that, and removes freed objects and
    /// context states that no pending request uses.
    fn sweep(&mut self) {
        let Some(machine) = &mut self.machine else { return };
        for task in self.tasks.drain(..) {
            task(machine);
        }
        if self.freed.is_empty() && self.forgotten.is_empty() && self.released.is_empty() {
            return;
        }
        let jobs = || jobs(&self.pending, &self.started);
        let used: HashSet<ObjectId> =
            jobs().flat_map(|job| job.objects.iter().map(|item| item.id)).collect();
        let states: HashSet<EngineContextId> = jobs().map(|job| job.hardware).collect();
        let spaces: HashSet<VmId> = jobs().map(|job| job.vm).collect();
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
        self.released.retain(|id| {
            let stays = spaces.contains(id);
            if !stays {
                machine.release(*id);
            }
            stays
        });
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, but at most until the idle machine has a capture to save, and at most
    /// [`LOOK`] if a request waits for sync files, or a submission for a semaphore.
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let polled = state.pending.iter().any(|request| !request.files.is_empty())
            || !state.started.is_empty();
        let due = state.machine.as_ref().and_then(|machine| machine.reporter.due());
        let due = due.map(|due| due.saturating_duration_since(Instant::now()));
        match due.into_iter().chain(polled.then_some(LOOK)).min() {
            None => self.turn.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(most) => {
                let woken = self.turn.wait_timeout(state, most);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// Takes the machine if it is idle and has something to write now.
    fn to_write(state: &mut State) -> Option<Machine> {
        let wanted = state.last == LastReports::Wanted;
        let due = state.machine.as_ref()?.reporter.due();
        state.machine.take_if(|_| wanted || due.is_some_and(|due| due <= Instant::now()))
    }

    /// Runs requests until the queue is dropped. This is the worker's loop.
    fn work(&self) {
        let mut state = self.lock();
        while !state.ends {
            state = match state.next() {
                Some(Next::Request(index)) => {
                    let Request { job, fence, .. } = state.pending.remove(index);
                    state.slice_is_next = true;
                    match job {
                        Some(job) => {
                            self.run(state, job.hardware, fence, |machine| machine.start(job))
                        }
                        None => self.complete(state, &fence, true),
                    }
                }
                Some(Next::Slice) => {
                    state.slice_is_next = false;
                    self.slice(state)
                }
                None => self.rest(state),
            };
        }
    }

    /// Writes reports if some are due. Otherwise waits until something has changed, and then
    /// compares the semaphores that submissions wait for.
    fn rest<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if let Some(mut machine) = Shared::to_write(&mut state) {
            let last = state.last;
            drop(state);
            match last {
                LastReports::Wanted => machine.reporter.finish(),
                _ => machine.reporter.save_if_due(),
            }
            state = self.lock();
            if last == LastReports::Wanted {
                state.last = LastReports::Written;
            }
            state.machine = Some(machine);
            state.sweep();
            self.turn.notify_all();
            return state;
        }
        if state.machine.is_some() && state.pauses == 0 {
            self.changes.set_at_rest(true);
        }
        state = self.wait(state);
        for _ in 0..state.started.len() {
            state = self.slice(state);
        }
        state
    }

    /// Continues the first started submission, unless the queue is paused.
    fn slice<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let may_run = state.machine.is_some() && state.pauses == 0;
        let first = if may_run { state.started.pop_front() } else { None };
        match first {
            Some((started, fence)) => {
                let hardware = started.job.hardware;
                self.run(state, hardware, fence, |machine| machine.run(started))
            }
            None => state,
        }
    }

    /// Starts or continues a submission of a context state: `work` runs a time slice of it.
    fn run<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        hardware: EngineContextId,
        fence: Fence,
        work: impl FnOnce(&mut Machine) -> Slice,
    ) -> MutexGuard<'a, State> {
        let Some(mut machine) = state.machine.take() else {
            return self.complete(state, &fence, false);
        };
        state.running = Some(Running { hardware, is_canceled: false });
        drop(state);
        // A panic is a defect of the model, not of the client. The submission fails with EIO.
        let slice = catch_unwind(AssertUnwindSafe(|| work(&mut machine))).unwrap_or_else(|_| {
            say("the model panicked; this is a defect of the model: please report it");
            Slice::Ended(false)
        });
        self.timestamp.store(machine.timestamp(), Ordering::Relaxed);
        let mut state = self.lock();
        state.machine = Some(machine);
        let running = state.running.take();
        match slice {
            Slice::Ended(well) => self.complete(state, &fence, well),
            Slice::Suspended(_) if running.is_some_and(|running| running.is_canceled) => {
                self.complete(state, &fence, false)
            }
            Slice::Suspended(started) => {
                if !started.waits() {
                    self.changes.set_at_rest(false);
                }
                state.started.push_back((started, fence));
                state.sweep();
                self.turn.notify_all();
                state
            }
        }
    }

    /// Signals the fence of a request that has ended.
    fn complete<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        fence: &Fence,
        well: bool,
    ) -> MutexGuard<'a, State> {
        fence.signal(well);
        state.sweep();
        self.turn.notify_all();
        self.changes.add();
        state
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.lock().ends = true;
        self.shared.turn.notify_all();
    }
}

impl Queue {
    /// An empty queue. The worker starts with the first request.
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
    /// EAGAIN if the worker cannot be started.
    pub fn add(&self, request: Request) -> Result<(), Errno> {
        let mut state = self.shared.lock();
        if !state.has_worker {
            let shared = self.shared.clone();
            self.host.spawn(Box::new(move || shared.work()))?;
            state.has_worker = true;
        }
        self.shared.changes.set_at_rest(false);
        state.pending.push(request);
        self.shared.turn.notify_all();
        Ok(())
    }

    /// A fence that signals when all of `waits` and `files` have signaled.
    ///
    /// # Errors
    /// The errors of [`add`](Self::add).
    pub fn after(&self, waits: Vec<Fence>, files: Vec<OwnedFd>) -> Result<Fence, Errno> {
        let fence = Fence::new(None, &self.shared.changes);
        self.add(Request { job: None, waits, files, fence: fence.clone() })?;
        Ok(fence)
    }

    /// Calls `task` with the machine: now if the machine is idle, else as soon as it is.
    pub fn when_idle(&self, task: impl FnOnce(&mut Machine) + Send + 'static) {
        let mut state = self.shared.lock();
        state.tasks.push(Box::new(task));
        state.sweep();
    }

    /// Removes objects and context states when no pending request uses them.
    pub fn free(&self, objects: &[ObjectId], states: &[EngineContextId]) {
        let mut state = self.shared.lock();
        state.freed.extend(objects);
        state.forgotten.extend(states);
        state.sweep();
    }

    /// True if freed objects still have their memory because pending requests use them.
    pub fn has_freed(&self) -> bool {
        !self.shared.lock().freed.is_empty()
    }

    /// Removes an address space when no pending request uses it.
    pub fn release(&self, vm: VmId) {
        let mut state = self.shared.lock();
        state.released.push(vm);
        state.sweep();
    }

    /// Fails the requests and started submissions that use one of these context states. A running
    /// submission fails at the end of its time slice, unless it is complete by then.
    pub fn cancel(&self, states: &[EngineContextId]) {
        let mut state = self.shared.lock();
        state.started.retain(|(started, fence)| {
            let stays = !states.contains(&started.job.hardware);
            if !stays {
                fence.signal(false);
            }
            stays
        });
        if let Some(running) = &mut state.running {
            running.is_canceled |= states.contains(&running.hardware);
        }
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

    /// Waits until nothing runs or can continue, but at most `most` nanoseconds.
    pub fn drain(&self, most: u64) {
        let until = now().saturating_add(most);
        let mut state = self.shared.lock();
        loop {
            let at_rest = state.machine.is_some() && state.pauses == 0 && state.next().is_none();
            let left = until.saturating_sub(now());
            if at_rest || left == 0 {
                return;
            }
            let woken = self.shared.turn.wait_timeout(state, Duration::from_nanos(left));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Lets the worker run what is ready and then write the final reports of the process. Waits
    /// for that, but at most `running` nanoseconds in total, and at most `idle` nanoseconds while
    /// no submission runs. Does nothing if there was no submission. This function allocates and
    /// frees no memory and waits for no lock without a time limit, so it may run in a signal
    /// handler.
    pub fn finish_in_worker(&self, running: u64, idle: u64) {
        let start = now();
        let mut since = start;
        let mut state = loop {
            match self.shared.state.try_lock() {
                Ok(state) => break state,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if now().saturating_sub(start) < idle => {
                    std::thread::sleep(LOOK);
                }
                Err(TryLockError::WouldBlock) => return,
            }
        };
        if !state.has_worker || state.last != LastReports::NotWanted {
            return;
        }
        state.last = LastReports::Wanted;
        self.shared.turn.notify_all();
        while state.last != LastReports::Written {
            if state.running.is_some() {
                since = now();
            }
            if now().saturating_sub(since) > idle || now().saturating_sub(start) > running {
                return;
            }
            let woken = self.shared.turn.wait_timeout(state, LOOK);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the machine is idle, and takes it out of the queue. No submission runs until
    /// [`resume`](Self::resume).
    pub fn pause(&self) -> Machine {
        let mut state = self.shared.lock();
        state.pauses += 1;
        loop {
            if let Some(machine) = state.machine.take() {
                state.pauses -= 1;
                return machine;
            }
            state = self.shared.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the machine to the queue.
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
