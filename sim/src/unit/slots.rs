//! Thread slots of the execution units: concurrent threads that run in turns.
//!
//! A thread's turn ends when the thread ends, waits for something, or has executed
//! `INSTRUCTIONS_OF_A_TURN` instructions. Then the next thread gets its turn. The order is always
//! the order of start, so that a repeated run gives the same results.

use crate::assumptions::INSTRUCTIONS_OF_A_TURN;
use crate::eu::cache;
use crate::eu::written::Start;
use crate::eu::{Launch, Stop, Thread};
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, InKernel, Place, Waiting};
use crate::machine::slots::UnitState;
use crate::machine::watchdog::INSTRUCTION;
use crate::unit::bindings::Bindings;
use crate::unit::dispatch::Receive;
use crate::unit::local::{Barrier, Local, Shared};
use crate::unit::port::Port;
use crate::unit::program::Program;
use std::fmt;

/// A thread that has started and not ended.
#[derive(Clone)]
pub struct Resident {
    thread: Box<Thread>,
    /// Number of the thread. It is unique within the slots.
    pub number: u32,
    /// The event that the thread waits for; `None` if it can run.
    waits: Option<Stop>,
    /// Index of the thread's kernel in [`Slots::programs`].
    pub program: usize,
    /// The packet that started the thread.
    at: Place,
}

/// Ended threads whose memory later draws reuse. A thread has several kilobytes, and most draws of
/// applications are small, so allocating threads for each draw takes time. A clone has no threads.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "threads are large and move to and from slots")]
struct Pool(Vec<Box<Thread>>);

impl Pool {
    /// Maximum number of threads.
    const CAPACITY: usize = 16;
}

impl Clone for Pool {
    fn clone(&self) -> Self {
        Pool::default()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} threads", self.0.len())
    }
}

impl UnitState for Pool {}

/// How a turn ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The thread ended and was removed from the slots.
    Ended,
    /// The thread waits for an event.
    Waits,
    /// The thread used up the instructions of its turn.
    Over,
}

/// Concurrent threads. A generation that has other binding tables than Gen8 has other types `B`
/// and `L`.
#[derive(Clone)]
pub struct Slots<B = Bindings, L = Local> {
    /// The kernels that the threads run.
    pub programs: Vec<Program<B>>,
    /// State that the threads share, and what they produce.
    pub local: L,
    residents: Vec<Resident>,
    /// Threads that ended. Their memory is used for new threads.
    #[expect(clippy::vec_box, reason = "threads are large and move between the two lists")]
    spare: Vec<Box<Thread>>,
}

impl<B, L: Shared> Default for Slots<B, L> {
    fn default() -> Self {
        Slots {
            programs: Vec::new(),
            local: L::default(),
            residents: Vec::new(),
            spare: Vec::new(),
        }
    }
}

impl<B, L> fmt::Debug for Slots<B, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.residents.iter().map(|resident| resident.number)).finish()
    }
}

impl<B, L: Shared> Slots<B, L> {
    /// Slots with one kernel and without threads.
    pub fn new(program: Program<B>) -> Self {
        Slots { programs: vec![program], ..Slots::default() }
    }

    /// True if there is no thread.
    pub fn is_empty(&self) -> bool {
        self.residents.is_empty()
    }

    /// The threads, in the order of their turns.
    pub fn residents(&self) -> &[Resident] {
        &self.residents
    }

    /// Starts a thread. In each round, its turn comes after the turns of the older threads.
    pub fn start(
        &mut self,
        exec: &mut Exec<'_>,
        program: usize,
        number: u32,
        launch: &Launch,
    ) -> &mut Thread {
        let thread = self.launch(exec, program, number, launch);
        let at = exec.at;
        let index = self.residents.len();
        self.residents.push(Resident { thread, number, waits: None, program, at });
        self.local.shared().present.push(number);
        &mut self.residents[index].thread
    }

    /// A thread before its first instruction.
    fn launch(
        &mut self,
        exec: &mut Exec<'_>,
        program: usize,
        number: u32,
        launch: &Launch,
    ) -> Box<Thread> {
        let kernel = self.programs[program].kernel.address;
        exec.emit(&Event::Thread { kernel, thread: number, payload: &launch.payload });
        let spare = self.spare.pop();
        match spare.or_else(|| exec.device.scratch.get_mut::<Pool>().0.pop()) {
            Some(mut thread) => {
                // An observer can see all registers, so none may keep an old value.
                let all = exec.listener.is_some();
                let kernel = &self.programs[program].kernel;
                thread.restart(launch, if all { Start::default() } else { kernel.start() });
                thread
            }
            None => Box::new(Thread::new(launch)),
        }
    }

    /// Starts a thread and gives it a turn. Most threads end in this turn. Such a thread takes no
    /// slot. `enabled`, if given, replaces the channels that the thread starts with.
    ///
    /// # Errors
    /// Any [`Fault`] that the thread causes.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        program: usize,
        number: u32,
        launch: &Launch,
        enabled: Option<u32>,
    ) -> Result<(), Fault>
    where
        for<'p, 'a> Port<'p, 'a, B, L>: Receive,
    {
        let mut thread = self.launch(exec, program, number, launch);
        if let Some(enabled) = enabled {
            thread.begin_with(enabled);
        }
        self.local.shared().present.push(number);
        let at = exec.at;
        let of_thread = &mut self.programs[program];
        let turn = turn(exec, of_thread, &mut self.local, &mut thread, number, at);
        if let Ok(Some(Stop::End)) = turn {
            let shared = self.local.shared();
            shared.present.pop();
            if !shared.gateways.is_empty() {
                shared.gateways.retain(|gateway| gateway.thread != number);
            }
            self.spare.push(thread);
            return Ok(());
        }
        let waits = *turn.as_ref().unwrap_or(&None);
        self.residents.push(Resident { thread, number, waits, program, at });
        turn.map(|_| ())
    }

    /// Keeps the memory of ended threads for later draws and walkers. Call this at the end of a
    /// draw.
    pub fn release(&mut self, exec: &mut Exec<'_>) {
        let pool = &mut exec.device.scratch.get_mut::<Pool>().0;
        let room = Pool::CAPACITY.saturating_sub(pool.len());
        pool.extend(self.spare.drain(..).take(room));
    }

    /// Gives one turn to each thread that does not wait. Messages are delivered before the first
    /// turn and after each turn. Returns true if at least one thread had a turn.
    ///
    /// # Errors
    /// Any [`Fault`] that a thread causes.
    pub fn round(&mut self, exec: &mut Exec<'_>) -> Result<bool, Fault>
    where
        for<'p, 'a> Port<'p, 'a, B, L>: Receive,
    {
        self.deliver();
        let (mut any, mut index) = (false, 0);
        while index < self.residents.len() {
            if self.waits(index) {
                index += 1;
                continue;
            }
            any = true;
            if self.turn(exec, index)? != Turn::Ended {
                index += 1;
            }
            self.deliver();
        }
        Ok(any)
    }

    /// True if the thread at `index` waits.
    pub fn waits(&self, index: usize) -> bool {
        self.residents[index].waits.is_some()
    }

    /// Gives one turn to the thread at `index`.
    ///
    /// # Errors
    /// Any [`Fault`] that the thread causes.
    pub fn turn(&mut self, exec: &mut Exec<'_>, index: usize) -> Result<Turn, Fault>
    where
        for<'p, 'a> Port<'p, 'a, B, L>: Receive,
    {
        let Resident { thread, number, waits, program, at } = &mut self.residents[index];
        let (program, number) = (&mut self.programs[*program], *number);
        match turn(exec, program, &mut self.local, thread, number, *at)? {
            Some(Stop::End) => {
                let shared = self.local.shared();
                take(&mut shared.present, index);
                if !shared.gateways.is_empty() {
                    shared.gateways.retain(|gateway| gateway.thread != number);
                }
                self.spare.extend(take(&mut self.residents, index).map(|ended| ended.thread));
                Ok(Turn::Ended)
            }
            Some(stop) => {
                *waits = Some(stop);
                Ok(Turn::Waits)
            }
            None => Ok(Turn::Over),
        }
    }

    /// Delivers all messages to their threads. Messages to threads that have ended are dropped.
    pub fn deliver(&mut self) {
        if self.local.shared().mail.is_empty() {
            return;
        }
        // Messages usually go to the threads in the order of the list. So the next thread is tried
        // before a search.
        let mut next = 0;
        for mail in self.local.shared().mail.drain(..) {
            let all = &self.residents[..];
            let index = match all.get(next) {
                Some(resident) if resident.number == mail.to => next,
                _ => match all.iter().position(|resident| resident.number == mail.to) {
                    Some(index) => index,
                    None => continue,
                },
            };
            next = index + 1;
            let resident = &mut self.residents[index];
            if let Some(segment) = mail.data {
                let to = segment.offset..segment.offset + segment.length;
                resident.thread.fill(to.start, to.end);
                resident.thread.regs.grf_mut()[to]
                    .copy_from_slice(&segment.bytes[..segment.length]);
            }
            if let Some(register) = mail.notify {
                resident.thread.notify(register);
                if resident.waits == Some(Stop::Notification(register.into())) {
                    resident.waits = None;
                }
            }
        }
    }

    /// Notifies all threads that the thread with this FFTID has ended.
    pub fn retire(&mut self, fftid: u8) {
        for resident in &mut self.residents {
            resident.thread.retired(fftid);
            if resident.waits == Some(Stop::Dependency(fftid.into())) {
                resident.waits = None;
            }
        }
    }

    /// The packet that started the first of the threads; `None` if there is no thread.
    pub fn first_packet(&self) -> Option<Place> {
        self.residents.first().map(|resident| resident.at)
    }

    /// Every thread with what it waits for. `barrier` takes a thread's number and returns its
    /// barrier.
    pub fn waiting<'b>(&self, barrier: impl Fn(u32) -> Option<&'b Barrier>) -> Vec<Waiting> {
        let reason = |resident: &Resident| match (resident.waits, barrier(resident.number)) {
            (Some(Stop::Notification(0)), Some(barrier))
                if barrier.arrived.contains(&resident.number) =>
            {
                let (arrived, all) = (barrier.arrived.len(), barrier.threads);
                format!("a barrier where {arrived} of {all} threads have arrived")
            }
            (Some(Stop::Notification(register)), _) => format!("a notification in n0.{register}"),
            (Some(Stop::Dependency(fftid)), _) => {
                format!("the end of the thread with FFTID {fftid:#x}")
            }
            _ => "its turn".into(),
        };
        let place = |resident: &Resident| {
            let kernel = &self.programs[resident.program].kernel;
            InKernel { kernel: kernel.address, ip: resident.thread.position(kernel) }
        };
        self.residents
            .iter()
            .map(|resident| Waiting {
                thread: resident.number,
                eu: place(resident),
                reason: reason(resident),
            })
            .collect()
    }
}

/// Gives one turn to a thread: executes it until it ends or waits, or until the instructions of the
/// turn are used up. In the last case the result is `None`. A thread that ends is counted. `at` is
/// the packet that has started the thread.
fn turn<B, L: Shared>(
    exec: &mut Exec<'_>,
    program: &mut Program<B>,
    local: &mut L,
    thread: &mut Thread,
    number: u32,
    at: Place,
) -> Result<Option<Stop>, Fault>
where
    for<'p, 'a> Port<'p, 'a, B, L>: Receive,
{
    local.shared().sender = number;
    let packet = std::mem::replace(&mut exec.at, at);
    exec.budget.turn(INSTRUCTIONS_OF_A_TURN * INSTRUCTION);
    // The result of `resume` is large. Each case is handled here, so that it is not copied.
    let stop = loop {
        let kernel = program.kernel.address;
        let bindings = &mut program.bindings;
        let mut port = Port { exec, bindings, local, kernel, thread: number };
        match port.resume(thread, &program.kernel) {
            Ok(Stop::Decode(offset)) => cache::extend(exec, &mut program.kernel, offset),
            Ok(stop) => break stop,
            Err(fault) => {
                let beyond = exec.budget.end_turn();
                exec.at = packet;
                return match fault {
                    Fault::Hang { .. } if beyond => Ok(None),
                    fault => Err(fault),
                };
            }
        }
    };
    exec.budget.end_turn();
    exec.at = packet;
    if stop == Stop::End {
        let instructions = thread.executed();
        exec.stats.threads += 1;
        exec.stats.instructions += instructions;
        let kernel = program.kernel.address;
        exec.emit(&Event::ThreadEnd { kernel, thread: number, instructions });
        thread.ended(program.kernel.written());
    }
    Ok(Some(stop))
}

/// Removes element `index`. The threads of most stages run one after the other, so the element is
/// usually the last one. Then no other element has to move.
fn take<T>(list: &mut Vec<T>, index: usize) -> Option<T> {
    if index + 1 == list.len() { list.pop() } else { Some(list.remove(index)) }
}
