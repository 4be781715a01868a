//! The observer of a debugged run. It stops inside the callback for an event: the run continues
//! when [`Controller::stopped`] returns.

use super::breakpoint::{Breakpoint, Breakpoints, What, is_like};
use super::kernel::Code;
use super::moment::{Moment, ThreadId};
use super::position::Position;
use super::stop::{Reason, Stop, StoppedThread};
use crate::machine::events::{Event, Now, Observer};
use crate::machine::fault::{Fault, Place};
use crate::machine::view::View;
use crate::machine::watched::{PixelEvent, WatchedPixel};
use genxml::eu::Generation;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

/// Number of events between two calls of [`Controller::pauses`].
const EVENTS_BETWEEN_POLLS: u32 = 1024;

/// Number of events that each start or continuation of a thread counts as, because a thread can run
/// long without events.
const EVENTS_OF_A_TURN: u32 = 16;

/// Decides how to continue after a stop.
pub trait Controller {
    /// Called at each stop. Breakpoints can be changed there.
    fn stopped(&mut self, stop: &Stop<'_>, breakpoints: &mut Breakpoints) -> Command;

    /// True if the run is to stop as soon as possible. Called now and then during a run.
    fn pauses(&mut self) -> bool {
        false
    }
}

/// How to continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// To the next breakpoint.
    Continue,
    /// To the next instruction of the thread. After its last one, and at a packet, to the next
    /// instruction of any thread, draw or packet.
    Step,
    /// To the next packet.
    StepPacket,
    /// To the first instruction of the thread that starts next, or to the next packet.
    StepThread,
    /// To the last instruction of the thread.
    Finish,
    /// To the previous instruction of the thread; from its first one to its draw or packet; from a
    /// packet to the previous one.
    StepBack,
    /// From an instruction or draw to its packet; from a packet to the previous one.
    PacketBack,
    /// To the newest moment before this one at which a breakpoint stops; to the first packet if
    /// there is no such moment.
    ContinueBack,
    /// To a moment.
    GoTo(Moment),
    /// End the run.
    Quit,
}

/// What the run is looking for, besides breakpoints.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Goal {
    /// The first packet.
    Start,
    /// Breakpoints only.
    Run,
    /// An instruction, draw or packet.
    Any,
    /// An instruction of the thread.
    Next(ThreadId),
    /// The last instruction of the thread.
    Last(ThreadId),
    /// A packet.
    Packet,
    /// The first instruction of a thread, or a packet.
    Thread,
    /// A moment, without any breakpoint before it.
    Reach { moment: Moment, reasons: Vec<Reason> },
    /// The newest hit before a moment that no breakpoint ignores. `hits` are the newest hits so
    /// far, oldest first: one more than the breakpoints can ignore.
    Search { before: Moment, hits: VecDeque<Hit> },
    /// The newest instruction before the fault with this text.
    Fault { text: String },
}

/// A moment at which breakpoints stop.
type Hit = (Moment, Vec<Reason>);

/// Why the run is cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cancel {
    Quit,
    Restart,
}

/// What to do after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The debugger ends.
    Quit,
    /// The same input is to be run again from an earlier point.
    Restart,
}

/// A thread that has started and not ended.
#[derive(Clone, Debug)]
struct Live {
    id: ThreadId,
    /// Instructions executed before the newest event.
    executed: u64,
    /// True if the thread may have executed instructions without events.
    resumed: Cell<bool>,
    pixel: Option<(WatchedPixel, u8)>,
    group: Option<[u32; 3]>,
}

/// The observer of a debugged run.
pub struct Engine<'c> {
    controller: RefCell<&'c mut dyn Controller>,
    breakpoints: Breakpoints,
    generation: Generation,
    goal: Goal,
    cancel: Option<Cancel>,
    position: Position,
    /// Number of packets before the start of the run.
    start: u64,
    live: BTreeMap<u32, Live>,
    /// The watched pixel and its channel, if the thread that starts next shades it.
    shading: Option<(WatchedPixel, u8)>,
    /// Kernels by address. Packets may change them, so they are read again after each packet.
    codes: BTreeMap<u64, Code>,
    /// The pixel that was watched in the draw of a packet. A draw may start other threads if a
    /// pixel is watched, so a run to a moment of the draw must watch the same one.
    watched: RefCell<BTreeMap<u64, Option<WatchedPixel>>>,
    /// The bytes of watchpoints.
    memory: BTreeMap<u32, Option<Vec<u8>>>,
    /// True if memory may have changed since the bytes were compared.
    written: bool,
    /// True until the first packet of a submission.
    submitted: bool,
    /// The newest instruction with an event.
    newest: Option<Moment>,
    /// True if the fault of this run was shown before it happened.
    fault_shown: bool,
    /// Events and turns of threads since the controller was asked for a pause.
    events: Cell<u32>,
    pause: Cell<bool>,
}

impl std::fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("goal", &self.goal).finish_non_exhaustive()
    }
}

impl<'c> Engine<'c> {
    /// An engine that stops before the first packet.
    pub fn new(
        controller: &'c mut dyn Controller,
        breakpoints: Breakpoints,
        generation: Generation,
    ) -> Self {
        Engine {
            controller: RefCell::new(controller),
            breakpoints,
            generation,
            goal: Goal::Start,
            cancel: None,
            position: Position::default(),
            start: 0,
            live: BTreeMap::new(),
            shading: None,
            codes: BTreeMap::new(),
            watched: RefCell::default(),
            memory: BTreeMap::new(),
            written: false,
            submitted: false,
            newest: None,
            fault_shown: false,
            events: Cell::new(0),
            pause: Cell::new(false),
        }
    }

    /// Call before each run, with the position at its start. The run may start later than the
    /// beginning of the input, but before the packet with the number that
    /// [`starts_before`](Self::starts_before) returns.
    pub fn begin(&mut self, position: Position) {
        self.start = position.packets;
        self.position = position;
        self.cancel = None;
        self.live.clear();
        self.shading = None;
        self.codes.clear();
        self.memory.clear();
        (self.written, self.submitted, self.fault_shown) = (false, false, false);
    }

    /// The position now.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Sets the number that the capture gives the next submission.
    pub fn label(&mut self, exec: u64) {
        self.position.exec = Some(exec);
    }

    /// The number of the packet before which the next run has to start: the nearer, the faster.
    pub fn starts_before(&self) -> u64 {
        let watches = |breakpoint: &Breakpoint| matches!(breakpoint.what, What::Memory { .. });
        match &self.goal {
            Goal::Reach { moment, .. } => moment.packet().unwrap_or(u64::MAX),
            // The first packet of a run cannot show whether memory has changed before it.
            Goal::Search { .. } if self.breakpoints.enabled().any(watches) => 0,
            // Something must come before the moment.
            Goal::Search { before: Moment::Packet(packet), .. } => packet.saturating_sub(1),
            Goal::Search { before, .. } => before.packet().unwrap_or(u64::MAX),
            Goal::Fault { .. } => self.position.packets,
            _ => 0,
        }
    }

    /// Call when a run is over, with its fault, or with another problem that ended it. Returns what
    /// to do next.
    pub fn end(&mut self, fault: Option<&Fault>, problem: Option<String>) -> Next {
        match self.cancel {
            Some(Cancel::Quit) => return Next::Quit,
            Some(Cancel::Restart) => return Next::Restart,
            None => {}
        }
        match std::mem::replace(&mut self.goal, Goal::Run) {
            Goal::Search { hits, .. } => {
                self.found(hits);
                return Next::Restart;
            }
            Goal::Fault { text } => {
                let moment = self.newest.unwrap_or(Moment::Packet(self.position.packets));
                self.goal = Goal::Reach { moment, reasons: vec![Reason::Fault(text)] };
                return Next::Restart;
            }
            Goal::Reach { moment, .. } if moment != Moment::End => {
                let text = format!("the run does not reach {moment} again");
                return self.ended(Reason::Broken(text));
            }
            _ => {}
        }
        if let Some(problem) = problem {
            return self.ended(Reason::Broken(problem));
        }
        let Some(fault) = fault else { return self.ended(Reason::End) };
        let text = fault.to_string();
        if !self.breakpoints.faults || self.fault_shown || self.position.packets == 0 {
            return self.ended(Reason::Broken(text));
        }
        self.newest = None;
        self.goal = match fault.place() {
            Some(Place { thread: Some(_), .. }) => Goal::Fault { text },
            _ => Goal::Reach {
                moment: Moment::Packet(self.position.packets),
                reasons: vec![Reason::Fault(text)],
            },
        };
        Next::Restart
    }

    /// Stops at the end.
    fn ended(&mut self, reason: Reason) -> Next {
        self.stop(vec![reason], Moment::End, None, None);
        match self.cancel {
            Some(Cancel::Restart) => Next::Restart,
            _ => Next::Quit,
        }
    }

    /// Sets the goal of the run after a search: the newest hit that is not ignored.
    fn found(&mut self, mut hits: VecDeque<Hit>) {
        let mut newest = None;
        while newest.is_none()
            && let Some((moment, mut reasons)) = hits.pop_back()
        {
            reasons.retain(|reason| {
                !reason.breakpoint().is_some_and(|number| self.breakpoints.ignores(number))
            });
            newest = (!reasons.is_empty()).then_some((moment, reasons));
        }
        self.goal = match newest {
            Some((moment, reasons)) => Goal::Reach { moment, reasons },
            // The search continues in what was run before this run started.
            None if self.start > 0 => {
                Goal::Search { before: Moment::Packet(self.start + 1), hits: VecDeque::new() }
            }
            None => {
                let reasons = vec![Reason::Beginning];
                Goal::Reach { moment: Moment::Packet(1), reasons }
            }
        };
    }

    fn stop(
        &mut self,
        reasons: Vec<Reason>,
        moment: Moment,
        thread: Option<StoppedThread<'_>>,
        view: Option<&dyn View>,
    ) {
        self.pause.set(false);
        self.fault_shown |= reasons.iter().any(|reason| matches!(reason, Reason::Fault(_)));
        let drawing = self.position.drawing;
        let Engine { controller, position, breakpoints, generation, .. } = self;
        let hits = |reasons: &[Reason], breakpoint: &Breakpoint| {
            reasons.iter().any(|reason| match reason {
                Reason::Breakpoint(number) | Reason::Watchpoint { number, .. } => {
                    breakpoint.temporary && *number == breakpoint.number
                }
                _ => false,
            })
        };
        breakpoints.delete_if(|breakpoint| hits(&reasons, breakpoint));
        let mut stop = Stop { reasons, moment, position, thread, view, generation: *generation };
        let goal = loop {
            let command = controller.get_mut().stopped(&stop, breakpoints);
            match goal(command, moment, stop.position.packets, drawing) {
                Ok(goal) => break goal,
                Err(reason) => stop.reasons = vec![reason],
            }
        };
        self.cancel = match &goal {
            None => Some(Cancel::Quit),
            Some(Goal::Reach { .. } | Goal::Search { .. }) => Some(Cancel::Restart),
            Some(_) => None,
        };
        self.goal = goal.unwrap_or(Goal::Run);
        // The controller may have added watchpoints.
        if let Some(view) = view {
            self.memory.clear();
            for breakpoint in self.breakpoints.enabled() {
                if let What::Memory { address, length } = breakpoint.what {
                    self.memory.insert(breakpoint.number, bytes(view, address, length));
                }
            }
        }
        self.written = false;
    }

    /// Compares a moment with the goal of the run. If the goal is not a single moment, `is_step`
    /// decides.
    fn meets(&mut self, moment: Moment, is_step: impl FnOnce(&Goal) -> bool) -> Met {
        match &mut self.goal {
            Goal::Reach { moment: wanted, reasons } => match *wanted == moment {
                true => Met::Stop(std::mem::take(reasons)),
                false => Met::Pass,
            },
            Goal::Fault { .. } => Met::Pass,
            Goal::Search { before, hits } if *before == moment => {
                let hits = std::mem::take(hits);
                self.found(hits);
                self.cancel = Some(Cancel::Restart);
                Met::Pass
            }
            Goal::Search { .. } => Met::Look(None),
            goal => Met::Look(is_step(goal).then_some(match goal {
                Goal::Start => Reason::Start,
                _ => Reason::Step,
            })),
        }
    }

    /// Stops if the goal or a breakpoint says so. `hit` decides for each breakpoint.
    fn look(
        &mut self,
        met: Met,
        moment: Moment,
        thread: Option<StoppedThread<'_>>,
        view: &dyn View,
        hit: &dyn Fn(&Engine<'_>, &Breakpoint) -> bool,
    ) {
        let mut reasons = match met {
            Met::Pass => return,
            Met::Stop(reasons) => return self.stop(reasons, moment, thread, Some(view)),
            Met::Look(step) => Vec::from_iter(step),
        };
        if !self.breakpoints.all().is_empty() {
            reasons.extend(self.hits(moment, thread, view, hit));
        }
        if let Goal::Search { hits, .. } = &mut self.goal {
            if !reasons.is_empty() {
                hits.push_back((moment, reasons));
                let ignored = self.breakpoints.enabled().map(|breakpoint| breakpoint.ignore);
                if hits.len() as u64 > ignored.fold(1, u64::saturating_add) {
                    hits.pop_front();
                }
            }
            return;
        }
        if self.pause.get() && reasons.is_empty() {
            reasons.push(Reason::Pause);
        }
        if !reasons.is_empty() {
            self.stop(reasons, moment, thread, Some(view));
        }
    }

    /// The breakpoints that stop here.
    fn hits(
        &mut self,
        moment: Moment,
        thread: Option<StoppedThread<'_>>,
        view: &dyn View,
        hit: &dyn Fn(&Engine<'_>, &Breakpoint) -> bool,
    ) -> Vec<Reason> {
        let compares = std::mem::take(&mut self.written);
        let mut reasons = Vec::new();
        let mut numbers = Vec::new();
        for breakpoint in self.breakpoints.enabled() {
            let number = breakpoint.number;
            let reason = match breakpoint.what {
                What::Memory { address, length } if compares => {
                    let new = bytes(view, address, length);
                    match self.memory.insert(number, new.clone()) {
                        Some(old) if old != new => Reason::Watchpoint { number, old, new },
                        _ => continue,
                    }
                }
                What::Memory { .. } => continue,
                _ if hit(self, breakpoint) => Reason::Breakpoint(number),
                _ => continue,
            };
            let reason = match &breakpoint.condition {
                None => reason,
                Some(condition) => {
                    let (position, generation) = (&self.position, self.generation);
                    let reasons = Vec::new();
                    let view = Some(view);
                    let stop = Stop { reasons, moment, position, thread, view, generation };
                    match condition.value(&stop, stop.channel()) {
                        Ok(value) if value.is_true() => reason,
                        Ok(_) => continue,
                        Err(problem) => Reason::BadCondition { number, problem },
                    }
                }
            };
            numbers.push(number);
            reasons.push((number, reason));
        }
        if matches!(self.goal, Goal::Search { .. }) {
            return reasons.into_iter().map(|(_, reason)| reason).collect();
        }
        let mut stops = Vec::new();
        for (number, reason) in reasons {
            let Some(breakpoint) = self.breakpoints.get_mut(number) else { continue };
            breakpoint.hits += 1;
            if !self.breakpoints.ignores(number) {
                stops.push(reason);
            }
        }
        stops
    }

    fn packet(&mut self, at: Place, dwords: &[u32], view: &dyn View) {
        self.codes.clear();
        self.position.begin(at, dwords);
        self.written = true;
        let moment = Moment::Packet(self.position.packets);
        let submitted = std::mem::take(&mut self.submitted);
        let submissions = self.position.submissions;
        let met = self.meets(moment, |goal| {
            matches!(goal, Goal::Start | Goal::Any | Goal::Packet | Goal::Thread)
        });
        self.look(met, moment, None, view, &|_, breakpoint| match &breakpoint.what {
            What::Packet(pattern) => is_like(pattern, at.packet),
            What::Submission(number) => submitted && number.is_none_or(|n| n == submissions),
            _ => false,
        });
    }

    fn draw(&mut self, view: &dyn View) {
        self.position.draws += 1;
        self.position.draw = self.position.packet.clone();
        self.position.drawing = true;
        let moment = Moment::Draw(self.position.packets);
        let draws = self.position.draws;
        let met = self.meets(moment, |goal| *goal == Goal::Any);
        self.look(met, moment, None, view, &|_, breakpoint| match breakpoint.what {
            What::Draw(number) => number.is_none_or(|number| number == draws),
            _ => false,
        });
    }

    fn instruction(
        &mut self,
        (kernel, slot, ip, mask): (u64, u32, u32, u32),
        registers: &[u8],
        view: &dyn View,
    ) {
        let Some(live) = self.live.get_mut(&slot) else { return };
        live.executed = match (live.resumed.take(), view.executed()) {
            (true, Some(executed)) => executed,
            _ => live.executed + 1,
        };
        let Live { id, executed, pixel, group, .. } = *live;
        let moment = Moment::Instruction { thread: id, executed };
        self.newest = Some(moment);
        if self.needs_code() && !self.codes.contains_key(&kernel) {
            self.codes.insert(kernel, Code::read(view, self.generation, kernel));
        }
        let code = self.codes.get(&kernel);
        let is_last = code
            .and_then(|code| code.instruction(ip))
            .is_some_and(|instruction| instruction.ends_thread());
        let to = code.and_then(|code| code.sends_to(ip));
        let met = self.meets(moment, |goal| match goal {
            Goal::Any => true,
            Goal::Next(thread) => *thread == id,
            Goal::Last(thread) => *thread == id && is_last,
            Goal::Thread => executed == 0,
            _ => false,
        });
        let thread = StoppedThread { id, slot, kernel, ip, mask, registers, pixel, group };
        let begins = executed == 0;
        self.look(met, moment, Some(thread), view, &|_, breakpoint| match breakpoint.what {
            What::Instruction(address) => kernel.wrapping_add(ip.into()) == address,
            What::Kernel(address) => begins && address.is_none_or(|address| address == kernel),
            What::Pixel { x, y, .. } => {
                begins && pixel.is_some_and(|(pixel, _)| pixel == WatchedPixel { x, y })
            }
            What::Group(wanted) => begins && group == Some(wanted),
            What::Message(function) => to.is_some_and(|to| function.is_none_or(|f| f == to)),
            _ => false,
        });
    }

    /// True if the instructions of kernels matter.
    fn needs_code(&self) -> bool {
        matches!(self.goal, Goal::Last(_))
            || self
                .breakpoints
                .enabled()
                .any(|it| matches!(it.what, What::Message(_) | What::Instruction(_)))
    }

    /// Asks the controller for a pause now and then.
    fn poll(&self, events: u32) {
        self.events.set(self.events.get() + events);
        if self.events.get() >= EVENTS_BETWEEN_POLLS {
            self.events.set(0);
            let pauses = self.controller.borrow_mut().pauses();
            self.pause.set(self.pause.get() || pauses);
        }
    }

    /// The pixel that a breakpoint wants to be watched in the current draw.
    fn pixel(&self) -> Option<WatchedPixel> {
        self.breakpoints.enabled().find_map(|breakpoint| match breakpoint.what {
            What::Pixel { x, y, draw } => {
                draw.is_none_or(|draw| draw == self.position.draws).then_some(WatchedPixel { x, y })
            }
            _ => None,
        })
    }
}

/// How a moment meets the goal.
enum Met {
    /// The run does not stop here, not even at a breakpoint.
    Pass,
    /// The run stops here for these reasons: the goal is this moment.
    Stop(Vec<Reason>),
    /// Breakpoints can stop the run here. With a reason, the goal stops it too.
    Look(Option<Reason>),
}

/// The goal of a command; `None` to quit.
fn goal(
    command: Command,
    moment: Moment,
    packets: u64,
    drawing: bool,
) -> Result<Option<Goal>, Reason> {
    let thread = match moment {
        Moment::Instruction { thread, .. } => Some(thread),
        _ => None,
    };
    let reach = |moment| Goal::Reach { moment, reasons: vec![Reason::Step] };
    let forward = !matches!(
        command,
        Command::StepBack | Command::PacketBack | Command::ContinueBack | Command::GoTo(_)
    );
    if moment == Moment::End && forward && command != Command::Quit {
        return Err(Reason::End);
    }
    Ok(Some(match command {
        Command::Quit => return Ok(None),
        Command::Continue => Goal::Run,
        Command::Step => thread.map_or(Goal::Any, Goal::Next),
        Command::Finish => thread.map_or(Goal::Any, Goal::Last),
        Command::StepPacket => Goal::Packet,
        Command::StepThread => Goal::Thread,
        Command::ContinueBack => Goal::Search { before: moment, hits: VecDeque::new() },
        Command::GoTo(moment) => reach(moment),
        Command::StepBack | Command::PacketBack => reach(match moment {
            Moment::End if packets == 0 => return Err(Reason::Beginning),
            Moment::End => Moment::Packet(packets),
            Moment::Packet(0 | 1) => return Err(Reason::Beginning),
            Moment::Packet(packet) => Moment::Packet(packet - 1),
            Moment::Draw(packet) => Moment::Packet(packet),
            Moment::Instruction { thread, .. } if command == Command::PacketBack => {
                Moment::Packet(thread.packet)
            }
            Moment::Instruction { thread, executed: 0 } if drawing => Moment::Draw(thread.packet),
            Moment::Instruction { thread, executed: 0 } => Moment::Packet(thread.packet),
            Moment::Instruction { thread, executed } => {
                Moment::Instruction { thread, executed: executed - 1 }
            }
        }),
    }))
}

/// The bytes of a watchpoint; `None` if they cannot be read.
fn bytes(view: &dyn View, address: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    view.read(address, &mut bytes).then_some(bytes)
}

impl Observer for Engine<'_> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        if self.cancel.is_some() {
            return;
        }
        self.poll(1);
        let batches = &mut self.position.batches[now.engine as usize];
        match *event {
            Event::Submission { .. } => {
                batches.clear();
                self.position.submissions += 1;
                self.submitted = true;
            }
            Event::Batch { level, address } => {
                batches.truncate(usize::from(level).saturating_sub(1));
                batches.push(address);
            }
            Event::BatchEnd { level } => batches.truncate(usize::from(level).saturating_sub(1)),
            Event::Packet { at, dwords, view, .. } => self.packet(at, dwords, view),
            Event::Draw(drawing) => self.draw(drawing),
            Event::DrawEnd(_) => self.position.drawing = false,
            Event::Group { id, .. } => self.position.group = Some(id),
            Event::GroupEnd { .. } => self.position.group = None,
            Event::Pixel { event: PixelEvent::Shaded(shaded), .. } => {
                let packet = self.position.packets;
                let watched = self.watched.borrow().get(&packet).copied().flatten();
                if self.shading.is_none() {
                    self.shading = watched.map(|pixel| (pixel, shaded.channel));
                }
            }
            Event::Thread { thread, .. } => {
                self.position.threads += 1;
                let id = ThreadId { packet: self.position.packets, number: self.position.threads };
                let live = Live {
                    id,
                    executed: 0,
                    resumed: Cell::new(true),
                    pixel: self.shading.take(),
                    group: self.position.group,
                };
                self.live.insert(thread, live);
            }
            Event::ThreadEnd { thread, .. } => {
                self.written = true;
                if let Some(live) = self.live.remove(&thread)
                    && matches!(self.goal, Goal::Next(id) | Goal::Last(id) if id == live.id)
                {
                    self.goal = Goal::Any;
                }
            }
            Event::Message { .. } => self.written = true,
            Event::Instruction { kernel, thread, ip, mask, registers, view } => {
                self.instruction((kernel, thread, ip, mask), registers, view);
            }
            _ => {}
        }
    }

    fn wants_instructions_of(&self, kernel: u64, slot: u32) -> bool {
        let Some(live) = self.live.get(&slot) else { return self.cancel.is_some() };
        live.resumed.set(true);
        self.poll(EVENTS_OF_A_TURN);
        match &self.goal {
            _ if self.cancel.is_some() => return true,
            Goal::Reach { moment: Moment::Instruction { thread, .. }, .. } => {
                return *thread == live.id;
            }
            Goal::Reach { .. } => return false,
            _ if self.pause.get() => return true,
            Goal::Any | Goal::Thread | Goal::Fault { .. } => return true,
            Goal::Next(thread) | Goal::Last(thread) if *thread == live.id => return true,
            Goal::Search { before: Moment::Instruction { thread, .. }, .. }
                if *thread == live.id =>
            {
                return true;
            }
            _ => {}
        }
        let code = self.codes.get(&kernel);
        self.breakpoints.enabled().any(|breakpoint| match breakpoint.what {
            What::Instruction(address) => {
                // A kernel that was not read yet is read at its first instruction.
                let offset = address.checked_sub(kernel).and_then(|o| u32::try_from(o).ok());
                offset.is_some_and(|offset| code.is_none_or(|code| code.has(offset)))
            }
            What::Kernel(address) => {
                live.executed == 0 && address.is_none_or(|address| address == kernel)
            }
            What::Pixel { .. } => live.pixel.is_some(),
            What::Group(group) => live.group == Some(group),
            What::Message(function) => code.is_none_or(|code| code.sends(function)),
            What::Memory { .. } => true,
            What::Packet(_) | What::Draw(_) | What::Submission(_) => false,
        })
    }

    fn cancels(&self) -> bool {
        self.cancel.is_some()
    }

    fn watches(&self) -> Option<WatchedPixel> {
        let packet = self.position.packets;
        let again = match &self.goal {
            Goal::Reach { moment, .. } | Goal::Search { before: moment, .. } => {
                moment.packet() == Some(packet)
            }
            Goal::Fault { .. } => true,
            _ => false,
        };
        let mut watched = self.watched.borrow_mut();
        match watched.get(&packet) {
            Some(pixel) if again => *pixel,
            _ => {
                let pixel = self.pixel();
                watched.insert(packet, pixel);
                pixel
            }
        }
    }
}
