//! Media threads: root threads, which packets start, and the children that they spawn. A thread may
//! outlive its packet: the front end continues while threads run, and a thread may wait for
//! something that a later packet brings.
//!
//! Root threads start in the order of their packets. A root thread that cannot start yet delays all
//! root threads after it. It cannot start if the maximum number of threads is running, if no URB
//! entry or barrier is free, if a dependency on a stalling scoreboard has not ended, if the fence
//! of a persistent root thread is still up, or if it waits for the message of another thread. Each
//! thread gets its first turn as soon as it starts. Therefore threads that neither wait nor need a
//! second turn run one after the other.

use super::descriptor::{Dispatch, REGISTER};
use super::scoreboard::{Position, Scoreboard};
use crate::assumptions::{ROUNDS_OF_A_PACKET, URB_HANDLE_BYTES};
use crate::eu::Launch;
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::slots::UnitState;
use crate::unit::local::{Barrier, PLACES, Request};
use crate::unit::slots::{Slots, Turn};
use crate::unit::urb::Urb;
use crate::unit::{Bindings, Samplers};
use genxml::eu::gen8::eu_registers::ThreadDependencyRegister;
use genxml::gen8::messages::ThreadSpawnMessagePayload;
use genxml::gen8::thread_payloads::MediaThreadPayloadHeader;
use genxml_core::{Address, U};
use std::collections::VecDeque;
use std::sync::Arc;

/// A root thread that waits for its start.
#[derive(Clone, Debug)]
pub struct Root {
    /// Kernel, constants and modes.
    pub dispatch: Arc<Dispatch>,
    /// The thread's position on the scoreboard.
    pub position: Position,
    /// Mask of the dependencies that the thread has; `None` if it does not use the scoreboard.
    pub dependencies: Option<u8>,
    /// Inline and indirect data, whole registers.
    pub data: Arc<Vec<u8>>,
    /// True if the thread starts only after another thread has sent a message for a synchronized
    /// root thread.
    pub synchronized: bool,
    /// The index of the thread's interface descriptor, if the thread gets a URB entry and may spawn
    /// children; otherwise `None`.
    pub children: Option<u64>,
    /// True if the thread is a fence: no root thread after it starts until a thread has sent a
    /// spawn message.
    pub fence: bool,
    /// The thread group to which the thread belongs, if any.
    pub group: Option<GroupKey>,
    /// True if the constants are divided among the threads of its group: registers for all threads,
    /// then registers for each thread.
    pub split: bool,
    /// True if the thread is the last one of its group.
    pub last: bool,
    /// The packet that requested the thread.
    pub at: Place,
}

/// Identifies threads that share a barrier and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupKey {
    /// The number in MEDIA_OBJECT_GRPID.
    Id(u32),
    /// A group of the running walk: the counts of the loops outside the group, and in the last
    /// element the number of these loops.
    Walk([u32; 6]),
}

/// A running thread.
#[derive(Clone, Copy, Debug)]
struct Member {
    number: u32,
    /// Number of the thread's scratch slot. `None` for a child, which uses the scratch space that
    /// its parent passes to it.
    scratch: Option<u64>,
    position: Option<Position>,
    group: Option<usize>,
    /// True if the thread got a URB entry when it started.
    children: bool,
    /// The thread's URB entry; `None` after the thread has released the entry.
    entry: Option<usize>,
}

/// Threads that share a barrier and memory.
#[derive(Clone, Debug)]
struct Group {
    key: GroupKey,
    slm: Vec<u8>,
    barrier: Option<Barrier>,
    started: usize,
    live: usize,
    closed: bool,
}

/// A child thread that waits for its start.
#[derive(Clone, Debug)]
struct Child {
    dispatch: Arc<Dispatch>,
    payload: Vec<u8>,
    at: Place,
}

/// Maximum number of root threads that wait for their start. If a packet adds more, running threads
/// continue until at most this number wait. The fixed functions of hardware also have a queue of
/// limited length. The order of starts does not change: threads of a later packet never start
/// before those of an earlier one.
const QUEUE: usize = 256;

/// Registers of the URB that media and GPGPU threads use: 64 KiB (2a p.512).
pub(super) const URB_ROWS: u64 = 2048;
/// Maximum number of child threads that wait for their start. Until a child starts, its r0 occupies
/// one register of the URB.
const CHILDREN: usize = URB_ROWS as usize;

/// The condition until which threads run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Goal {
    /// Until no thread makes progress, but at most [`ROUNDS_OF_A_PACKET`] rounds.
    Packet,
    /// Until all root threads have started.
    Started,
    /// Until all threads have ended.
    Ended,
}

impl UnitState for Pool {}

/// The media threads of a context.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    slots: Slots,
    members: Vec<Member>,
    /// The dispatch that each program of `slots` was made from.
    dispatches: Vec<Arc<Dispatch>>,
    roots: VecDeque<Root>,
    children: VecDeque<Child>,
    groups: Vec<Option<Group>>,
    /// URB entries that are in use.
    entries: Vec<bool>,
    /// True if the fence of a persistent root thread is up.
    fenced: bool,
    /// Messages for synchronized root threads that no root thread has used yet.
    calls: usize,
}

/// Appends a root thread, then runs threads as long as one makes progress, at most
/// `ROUNDS_OF_A_PACKET` rounds.
///
/// # Errors
/// Any [`Fault`] of a thread.
pub fn submit(exec: &mut Exec<'_>, root: Root) -> Result<(), Fault> {
    with(exec, |pool, exec| {
        pool.push(exec, root)?;
        pool.settle(exec)
    })
}

/// Runs threads until all root threads have started (MEDIA_STATE_FLUSH).
///
/// # Errors
/// Any [`Fault`] of a thread; [`Fault::Stuck`] if a root thread can never start.
pub fn flush(exec: &mut Exec<'_>) -> Result<(), Fault> {
    with(exec, |pool, exec| pool.run(exec, Goal::Started))
}

/// True if no media thread runs or waits for its start.
pub fn is_idle(exec: &Exec<'_>) -> bool {
    exec.state.slots.get::<Pool>().is_none_or(Pool::is_idle)
}

/// Starts the threads that can start, and gives each thread that does not wait one turn; called
/// while the command streamer waits. True if a thread started or made progress.
///
/// # Errors
/// Any [`Fault`] of a thread.
pub fn go_on(exec: &mut Exec<'_>) -> Result<bool, Fault> {
    if is_idle(exec) {
        return Ok(false);
    }
    let mut moved = false;
    with(exec, |pool, exec| {
        let started = pool.start_ready(exec)?;
        moved = pool.round(exec)? || started;
        Ok(())
    })?;
    Ok(moved)
}

/// Runs threads until all have ended.
///
/// # Errors
/// Any [`Fault`] of a thread; [`Fault::Stuck`] if threads wait forever.
pub fn drain(exec: &mut Exec<'_>) -> Result<(), Fault> {
    if is_idle(exec) {
        return Ok(());
    }
    with(exec, |pool, exec| pool.run(exec, Goal::Ended))
}

/// Calls `work` with the pool taken out of `exec.state`, and puts the pool back if `work` succeeds.
/// A fault drops the pool, so all its threads end.
///
/// # Errors
/// Those of `work`.
pub fn with(
    exec: &mut Exec<'_>,
    work: impl FnOnce(&mut Pool, &mut Exec<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut pool = std::mem::take(exec.state.slots.get_mut::<Pool>());
    pool.slots.local.spawns = true;
    work(&mut pool, exec)?;
    *exec.state.slots.get_mut() = pool;
    Ok(())
}

impl Pool {
    /// True if no thread runs and none waits for its start.
    pub fn is_idle(&self) -> bool {
        self.slots.is_empty() && self.roots.is_empty() && self.children.is_empty()
    }

    /// Empties the pool (MEDIA_VFE_STATE): no thread is left, and all URB entries are free.
    pub fn reset(&mut self) {
        *self = Pool::default();
    }

    /// Appends a root thread, then starts all threads that can start. If more than `QUEUE` root
    /// threads wait for their start, running threads continue until at most `QUEUE` wait.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread; [`Fault::Stuck`] if too many root threads wait and no thread
    /// makes progress.
    pub fn push(&mut self, exec: &mut Exec<'_>, root: Root) -> Result<(), Fault> {
        self.roots.push_back(root);
        let mut started = self.start_ready(exec)?;
        while self.roots.len() > QUEUE {
            if !self.round(exec)? && !started {
                return Err(self.stuck(exec));
            }
            started = self.start_ready(exec)?;
        }
        Ok(())
    }

    /// Runs threads as long as one makes progress, at most `ROUNDS_OF_A_PACKET` rounds.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread.
    pub fn settle(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        self.run(exec, Goal::Packet)
    }

    fn run(&mut self, exec: &mut Exec<'_>, goal: Goal) -> Result<(), Fault> {
        let mut rounds = 0;
        loop {
            let started = self.start_ready(exec)?;
            let done = match goal {
                Goal::Packet => self.is_idle() || rounds >= ROUNDS_OF_A_PACKET,
                Goal::Started => self.roots.is_empty(),
                Goal::Ended => self.is_idle(),
            };
            if done {
                return Ok(());
            }
            rounds += 1;
            if !self.round(exec)? && !started {
                // A later packet may bring what the threads wait for.
                return if goal == Goal::Packet { Ok(()) } else { Err(self.stuck(exec)) };
            }
        }
    }

    #[cold]
    fn stuck(&self, exec: &mut Exec<'_>) -> Fault {
        let barrier = |number: u32| {
            let member = self.members.iter().find(|member| member.number == number)?;
            self.groups.get(member.group?)?.as_ref()?.barrier.as_ref()
        };
        let threads = self.slots.waiting(barrier);
        let first = self.slots.first_packet().or(self.roots.front().map(|root| root.at));
        exec.at = first.unwrap_or(exec.at);
        let group = match self.roots.front() {
            None => "media threads".into(),
            Some(root) => {
                let why = self.obstacle(root).unwrap_or("nothing");
                format!("{} media root threads cannot start ({why})", self.roots.len())
            }
        };
        exec.stuck(group, threads)
    }

    /// Gives one turn to each running thread that does not wait. True if there was such a thread.
    fn round(&mut self, exec: &mut Exec<'_>) -> Result<bool, Fault> {
        self.slots.deliver();
        let (mut any, mut index) = (false, 0);
        while index < self.slots.residents().len() {
            if self.slots.waits(index) {
                index += 1;
                continue;
            }
            any = true;
            if self.turn(exec, index)? != Turn::Ended {
                index += 1;
            }
        }
        Ok(any)
    }

    fn turn(&mut self, exec: &mut Exec<'_>, index: usize) -> Result<Turn, Fault> {
        let number = self.slots.residents()[index].number;
        let group = self.member(number).and_then(|member| member.group);
        self.exchange(group);
        let turn = self.slots.turn(exec, index);
        self.exchange(group);
        let turn = turn?;
        for request in std::mem::take(&mut self.slots.local.requests) {
            self.request(exec, number, request)?;
        }
        if turn == Turn::Ended {
            self.ended(number);
        }
        self.slots.deliver();
        Ok(turn)
    }

    fn member(&self, number: u32) -> Option<&Member> {
        self.members.iter().find(|member| member.number == number)
    }

    /// Swaps the memory and barrier of a group with those in `slots.local`, where the running
    /// thread accesses them. A second call swaps them back. Without a group, does nothing.
    fn exchange(&mut self, group: Option<usize>) {
        if let Some(Some(group)) = group.and_then(|group| self.groups.get_mut(group)) {
            std::mem::swap(&mut group.slm, &mut self.slots.local.slm);
            std::mem::swap(&mut group.barrier, &mut self.slots.local.barrier);
        }
    }

    fn ended(&mut self, number: u32) {
        let Some(at) = self.members.iter().position(|member| member.number == number) else {
            return;
        };
        let member = self.members.remove(at);
        if let Some(fftid) = member.scratch {
            self.slots.retire(fftid as u8);
        }
        if let Some(slot) = member.group.and_then(|group| self.groups.get_mut(group))
            && let Some(group) = slot
        {
            group.live -= 1;
            if group.closed && group.live == 0 {
                *slot = None;
            }
        }
    }

    // ---- requests to the thread spawner ----

    fn request(&mut self, exec: &mut Exec<'_>, number: u32, request: Request) -> Result<(), Fault> {
        match request {
            Request::Root => {
                self.fenced = false;
                self.calls += 1;
            }
            Request::Child(payload) => {
                self.fenced = false;
                if self.children.len() >= CHILDREN {
                    let handle =
                        ThreadSpawnMessagePayload::unpack_lossy(&payload).dispatch_urb_handle.get();
                    let why = "the URB has no room for r0 of another waiting child thread";
                    return Err(exec.bad_field("Dispatch URB Handle", handle, why));
                }
                let child = child(exec, &payload)?;
                self.children.push_back(child);
            }
            Request::Release => {
                let member = self.members.iter_mut().find(|member| member.number == number);
                match member.map(|member| (member.children, member.entry.take())) {
                    Some((true, None)) => {
                        let why = "the thread releases its URB entry a second time (2a p.490)";
                        return Err(exec.bad_field("Resource Select", 0, why));
                    }
                    Some((_, Some(entry))) => self.entries[entry] = false,
                    // Without Children Present the thread holds no URB entry.
                    _ => {}
                }
            }
        }
        Ok(())
    }

    // ---- starts ----

    /// Starts all threads that can start. True if at least one started.
    fn start_ready(&mut self, exec: &mut Exec<'_>) -> Result<bool, Fault> {
        let mut any = false;
        loop {
            if self.slots.residents().len() < PLACES as usize
                && let Some(child) = self.children.pop_front()
            {
                self.start_child(exec, child)?;
            } else if let Some(root) = self.roots.front()
                && self.obstacle(root).is_none()
                && let Some(root) = self.roots.pop_front()
            {
                self.start_root(exec, root)?;
            } else {
                return Ok(any);
            }
            any = true;
        }
    }

    /// The reason why `root`, the first root thread, cannot start; `None` if it can.
    fn obstacle(&self, root: &Root) -> Option<&'static str> {
        let vfe = &root.dispatch.vfe;
        let live = self.members.iter().filter(|member| member.scratch.is_some()).count() as u64;
        let entries = vfe.number_of_urb_entries.get() as usize;
        let wants_entry = root.children.is_some() || !root.data.is_empty();
        if live >= vfe.maximum_number_of_threads.get()
            || self.slots.residents().len() >= PLACES as usize
        {
            Some("Maximum Number of Threads are running")
        } else if wants_entry && self.entries.iter().filter(|used| **used).count() >= entries {
            Some("no URB entry is free")
        } else if self.fenced {
            Some("the fence of a persistent root thread is up")
        } else if root.synchronized && self.calls == 0 {
            Some("the first one waits for a message that no thread has sent")
        } else if self.stalls(root) {
            Some("the first one depends on a thread that has not ended")
        } else if root.dispatch.descriptor.barrier_enable
            && root.group.is_some_and(|key| self.group(key).is_none())
            && self.barrier().is_none()
        {
            Some("no barrier is free")
        } else {
            None
        }
    }

    /// True if the scoreboard is a stalling one and a dependency of `root` is still running.
    fn stalls(&self, root: &Root) -> bool {
        let Some((scoreboard, mask)) = Scoreboard::new(&root.dispatch.vfe).zip(root.dependencies)
        else {
            return false;
        };
        !scoreboard.non_stalling
            && scoreboard
                .dependencies(root.position, mask)
                .any(|(_, on)| self.members.iter().any(|member| member.position == Some(on)))
    }

    fn start_root(&mut self, exec: &mut Exec<'_>, root: Root) -> Result<(), Fault> {
        let packet = std::mem::replace(&mut exec.at, root.at);
        let dispatch = &root.dispatch;
        let scratch = free(|n| self.members.iter().any(|member| member.scratch == Some(n)));
        let number = self.free_number();
        self.calls -= usize::from(root.synchronized);
        self.fenced = root.fence;
        let entry = root.children.map(|_| self.take_entry());
        let (group, index) = match root.group {
            Some(key) => {
                let (group, index) = self.join(key, &root);
                (Some(group), index)
            }
            None => (None, 0),
        };
        let descriptor = &dispatch.descriptor;
        let barrier = group.and_then(|group| self.groups[group].as_ref()?.barrier.as_ref());
        let handle = entry.map_or(0, |entry| {
            let vfe = &dispatch.vfe;
            let row = 64
                + vfe.curbe_allocation_size.get()
                + entry as u64 * vfe.urb_entry_allocation_size.get();
            row * REGISTER as u64 / URB_HANDLE_BYTES as u64
        });
        let header = MediaThreadPayloadHeader {
            urb_return_handle: U::from_bits(handle),
            scoreboard_x: U::from_bits(root.position.x as u64),
            scoreboard_y: U::from_bits(root.position.y as u64),
            scoreboard_color: U::from_bits(root.position.color.into()),
            interface_descriptor_offset: U::from_bits(root.children.unwrap_or(0)),
            barrier_id: U::from_bits(barrier.map_or(0, |barrier| barrier.id.into())),
            per_thread_scratch_space: dispatch.vfe.per_thread_scratch_space,
            sampler_state_pointer: descriptor.sampler_state_pointer,
            binding_table_pointer: Address::from_bits(descriptor.binding_table_pointer.get()),
            fftid: U::from_bits(scratch),
            scratch_space_pointer: dispatch.scratch(exec, scratch)?,
        };
        let mut payload = bytemuck::cast_slice::<u32, u8>(&header.pack()).to_vec();
        let own = descriptor.constant_indirect_urb_entry_read_length.get() as usize;
        if root.split {
            dispatch.push_shares(&mut payload, index);
        } else {
            dispatch.push_constants(&mut payload, 0, own);
        }
        payload.extend_from_slice(&root.data);

        let mut launch = Launch { payload, ..Launch::default() };
        // Media threads start with all channels enabled (gen8_facts 3.7).
        dispatch.launch(&mut launch, u32::MAX, number, scratch);
        let program = self.program(dispatch);
        let scoreboard = Scoreboard::new(&dispatch.vfe).zip(root.dependencies);
        let depends: Vec<_> = scoreboard
            .filter(|(scoreboard, _)| scoreboard.non_stalling)
            .into_iter()
            .flat_map(|(scoreboard, mask)| scoreboard.dependencies(root.position, mask))
            .filter_map(|(n, on)| {
                let member =
                    self.members.iter().rev().find(|member| member.position == Some(on))?;
                Some((n, member.scratch?))
            })
            .collect();
        let thread = self.slots.start(exec, program, number, &launch);
        for (n, fftid) in depends {
            let dependency = ThreadDependencyRegister { valid: true, fftid: U::from_bits(fftid) };
            thread.set_dependency(n, dependency);
        }
        self.members.push(Member {
            number,
            scratch: Some(scratch),
            position: scoreboard.map(|_| root.position),
            group,
            children: entry.is_some(),
            entry,
        });
        self.first_turn(exec)?;
        exec.at = packet;
        Ok(())
    }

    fn start_child(&mut self, exec: &mut Exec<'_>, child: Child) -> Result<(), Fault> {
        let packet = std::mem::replace(&mut exec.at, child.at);
        let number = self.free_number();
        let mut launch = Launch { payload: child.payload, ..Launch::default() };
        child.dispatch.launch(&mut launch, u32::MAX, number, number.into());
        let program = self.program(&child.dispatch);
        self.slots.start(exec, program, number, &launch);
        self.members.push(Member {
            number,
            scratch: None,
            position: None,
            group: None,
            children: false,
            entry: None,
        });
        self.first_turn(exec)?;
        exec.at = packet;
        Ok(())
    }

    /// Gives the newest thread its first turn.
    fn first_turn(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let last = self.slots.residents().len() - 1;
        self.turn(exec, last)?;
        Ok(())
    }

    fn free_number(&self) -> u32 {
        free(|n| self.members.iter().any(|member| u64::from(member.number) == n)) as u32
    }

    fn take_entry(&mut self) -> usize {
        let entry = self.entries.iter().position(|used| !used).unwrap_or(self.entries.len());
        if entry == self.entries.len() {
            self.entries.push(true);
        }
        self.entries[entry] = true;
        entry
    }

    /// Index of the program of a dispatch; adds the program if it is missing. Threads of one packet
    /// share a program and the surfaces that it has cached.
    fn program(&mut self, dispatch: &Arc<Dispatch>) -> usize {
        if let Some(known) = self.dispatches.iter().position(|known| Arc::ptr_eq(known, dispatch)) {
            return known;
        }
        let unused =
            |n: &usize| self.slots.residents().iter().all(|resident| resident.program != *n);
        match (0..self.dispatches.len()).find(unused) {
            Some(slot) => {
                self.dispatches[slot] = dispatch.clone();
                self.slots.programs[slot] = dispatch.program.clone();
                slot
            }
            None => {
                self.dispatches.push(dispatch.clone());
                self.slots.programs.push(dispatch.program.clone());
                self.dispatches.len() - 1
            }
        }
    }

    // ---- groups ----

    fn group(&self, key: GroupKey) -> Option<usize> {
        let open = |group: &Group| group.key == key && !group.closed;
        self.groups.iter().position(|group| group.as_ref().is_some_and(open))
    }

    /// Number of a barrier that no group uses; `None` if all 16 are in use.
    fn barrier(&self) -> Option<u8> {
        let used = |id: u8| {
            self.groups
                .iter()
                .flatten()
                .any(|group| group.barrier.as_ref().is_some_and(|b| b.id == id))
        };
        (0..16).find(|id| !used(*id))
    }

    /// Adds a starting thread to its group. Makes the group if it does not exist. Returns the index
    /// of the group, and how many threads of the group started before.
    fn join(&mut self, key: GroupKey, root: &Root) -> (usize, usize) {
        let at = self.group(key).unwrap_or_else(|| {
            let descriptor = &root.dispatch.descriptor;
            let threads = descriptor.number_of_threads_in_gpgpu_thread_group.get() as u32;
            let barrier = descriptor.barrier_enable.then(|| Barrier {
                id: self.barrier().unwrap_or(0),
                threads,
                ..Barrier::default()
            });
            let group = Group {
                key,
                slm: vec![crate::assumptions::SHARED_LOCAL_MEMORY_FILL; root.dispatch.slm],
                barrier,
                started: 0,
                live: 0,
                closed: false,
            };
            match self.groups.iter().position(Option::is_none) {
                Some(slot) => {
                    self.groups[slot] = Some(group);
                    slot
                }
                None => {
                    self.groups.push(Some(group));
                    self.groups.len() - 1
                }
            }
        });
        let mut index = 0;
        if let Some(group) = &mut self.groups[at] {
            index = group.started;
            group.started += 1;
            group.live += 1;
            group.closed |= root.last;
        }
        (at, index)
    }
}

/// The lowest number that is not used.
fn free(used: impl Fn(u64) -> bool) -> u64 {
    (0..).find(|n| !used(*n)).unwrap_or(0)
}

/// The child thread that a spawn message with this payload requests. The URB holds the child's r0
/// and the registers after its constants. Its binding table and samplers come from r0, not from the
/// descriptor (2d p.229).
fn child(exec: &mut Exec<'_>, payload: &[u32; 8]) -> Result<Child, Fault> {
    let message = ThreadSpawnMessagePayload::unpack_lossy(payload);
    let mut dispatch = Dispatch::resolve(exec, message.interface_descriptor_offset.get())?;
    let length = message.dispatch_urb_length.get() as usize;
    let first = message.dispatch_urb_handle.get() as usize * URB_HANDLE_BYTES;
    let mut rows = vec![0; (1 + length) * REGISTER];
    if exec.state.slots.get_mut::<Urb>().read(first, &mut rows).is_err() {
        let handle = message.dispatch_urb_handle.get();
        return Err(exec.bad_field(
            "Dispatch URB Handle",
            handle,
            "the handle points outside the URB",
        ));
    }
    let (r0, rest) = rows.split_at(REGISTER);
    let mut dwords = [0; 8];
    bytemuck::cast_slice_mut::<u32, u8>(&mut dwords).copy_from_slice(r0);
    let header = MediaThreadPayloadHeader::unpack_lossy(&dwords);
    let base = dispatch.program.bindings.base;
    let dynamic = dispatch.program.bindings.samplers.base;
    let samplers = dynamic.wrapping_add(header.sampler_state_pointer.get());
    dispatch.program.bindings =
        Bindings::new(base, base.wrapping_add(header.binding_table_pointer.get()))
            .with_samplers(Samplers::new(dynamic, samplers));
    let mut payload = r0.to_vec();
    let constants = dispatch.descriptor.constant_indirect_urb_entry_read_length.get() as usize;
    dispatch.check_payload(exec, 1 + constants + length)?;
    dispatch.push_constants(&mut payload, 0, constants);
    payload.extend_from_slice(rest);
    Ok(Child { dispatch: Arc::new(dispatch), payload, at: exec.at })
}
