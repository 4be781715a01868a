//! Media threads: root threads, which MEDIA_OBJECT starts, and the children that they spawn.
//!
//! Root threads start in the order of their packets, each as soon as one of the threads that VFE
//! allows is free. A thread gets its first turn as soon as it starts. Therefore threads that
//! neither wait nor need a second turn run one after the other.

use super::descriptor::{Dispatch, REGISTER};
use super::front::Front;
use crate::assumptions::ROUNDS_OF_A_PACKET;
use crate::gen45::message::{Bindings, Local};
use crate::gen45::urb::{ROWS, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::slots::UnitState;
use crate::unit::local::Request;
use crate::unit::slots::{Slots, Turn};
use genxml::gen45::message_payloads::ThreadSpawnMessagePayload;
use genxml::gen45::thread_payloads::MediaChildThreadPayloadHeader;
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of threads that run at the same time: 10 units with 5 threads (gen45_facts 1.1).
const PLACES: usize = 50;
/// Maximum number of root threads that wait for their start. If a packet adds more, running threads
/// continue until at most this number wait. The order of starts does not change.
const QUEUE: usize = 256;
/// Maximum number of child threads that wait for their start: each has its r0 in the URB.
const CHILDREN: usize = 2 * ROWS;

/// A root thread that waits for its start.
#[derive(Clone, Debug)]
pub struct Root {
    /// Kernel, constants and modes.
    pub dispatch: Arc<Dispatch>,
    /// The registers after the constants.
    pub data: Vec<u8>,
    /// The packet that requested the thread.
    pub at: Place,
}

/// A child thread that waits for its start.
#[derive(Clone, Debug)]
struct Child {
    dispatch: Arc<Dispatch>,
    header: Vec<u8>,
    data: Vec<u8>,
    at: Place,
}

/// A running thread.
#[derive(Clone, Copy, Debug)]
struct Member {
    number: u32,
    /// Number of the thread's scratch space. `None` for a child, which uses the one that its parent
    /// passes to it.
    slot: Option<u64>,
    /// True if the thread holds a URB entry: root threads that can have children do.
    entry: bool,
}

impl UnitState for Pool {}

/// The media threads of a context, and the state that they run with.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// State of the front end. `None` until the first MEDIA_OBJECT after a packet of another kind.
    front: Option<Front>,
    slots: Slots<Bindings, Local>,
    members: Vec<Member>,
    /// The dispatch that each program of `slots` was made from.
    dispatches: Vec<Arc<Dispatch>>,
    roots: VecDeque<Root>,
    children: VecDeque<Child>,
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
    pool.slots.local.shared.spawns = true;
    work(&mut pool, exec)?;
    *exec.state.slots.get_mut() = pool;
    Ok(())
}

impl Pool {
    /// True if no thread runs and none waits for its start.
    pub fn is_idle(&self) -> bool {
        self.slots.is_empty() && self.roots.is_empty() && self.children.is_empty()
    }

    /// True if no MEDIA_OBJECT was executed after the last packet of another kind.
    pub fn is_unused(&self) -> bool {
        self.front.is_none()
    }

    /// The state of the front end. The first MEDIA_OBJECT after another packet reads it.
    ///
    /// # Errors
    /// As [`Front::resolve`].
    pub fn front(&mut self, exec: &mut Exec<'_>) -> Result<&mut Front, Fault> {
        Ok(match &mut self.front {
            Some(front) => front,
            empty => empty.insert(Front::resolve(exec)?),
        })
    }

    /// Appends a root thread, then starts all threads that can start.
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
        for _ in 0..ROUNDS_OF_A_PACKET {
            let started = self.start_ready(exec)?;
            // A later packet may bring what the threads wait for.
            if self.is_idle() || !self.round(exec)? && !started {
                break;
            }
        }
        Ok(())
    }

    /// Runs threads until all have ended. The next MEDIA_OBJECT reads its state anew.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread; [`Fault::Stuck`] if threads wait forever.
    pub fn drain(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        loop {
            let started = self.start_ready(exec)?;
            if self.is_idle() {
                break;
            }
            if !self.round(exec)? && !started {
                return Err(self.stuck(exec));
            }
        }
        *self = Pool { slots: std::mem::take(&mut self.slots), ..Pool::default() };
        self.slots.programs.clear();
        Ok(())
    }

    #[cold]
    fn stuck(&self, exec: &mut Exec<'_>) -> Fault {
        let first = self.slots.first_packet().or(self.roots.front().map(|root| root.at));
        exec.at = first.unwrap_or(exec.at);
        let group = match self.roots.len() {
            0 => "media threads".into(),
            waiting => format!("{waiting} media root threads cannot start"),
        };
        exec.stuck(group, self.slots.waiting(|_| None))
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
        let turn = self.slots.turn(exec, index)?;
        for request in std::mem::take(&mut self.slots.local.shared.requests) {
            self.request(exec, number, request)?;
        }
        if turn == Turn::Ended {
            self.members.retain(|member| member.number != number);
        }
        self.slots.deliver();
        Ok(turn)
    }

    /// Executes a request of thread `number` to the thread spawner.
    fn request(&mut self, exec: &mut Exec<'_>, number: u32, request: Request) -> Result<(), Fault> {
        match request {
            Request::Root => {
                let what = "a thread that starts a root thread of another packet";
                return Err(exec.unimplemented(what, "spec-xml/gen45/messages.xml"));
            }
            Request::Child(payload) => {
                let message = ThreadSpawnMessagePayload::unpack_lossy(&payload);
                if self.children.len() >= CHILDREN {
                    let handle = message.dispatch_urb_handle.get();
                    let why = "the URB has no room for r0 of another waiting child thread";
                    return Err(exec.bad_field("Dispatch URB Handle", handle, why));
                }
                let child = self.child(exec, &message)?;
                self.children.push_back(child);
            }
            Request::Release => {
                for member in self.members.iter_mut().filter(|member| member.number == number) {
                    member.entry = false;
                }
            }
        }
        Ok(())
    }

    /// The child thread that a message requests. The URB holds its r0 and the registers after its
    /// constants (003:1864). Its binding table comes from r0.
    fn child(
        &mut self,
        exec: &mut Exec<'_>,
        message: &ThreadSpawnMessagePayload,
    ) -> Result<Child, Fault> {
        let vfe = self.front(exec)?.vfe;
        if !vfe.children_present {
            let why = "a root thread spawns children";
            return Err(exec.bad_field("Children Present", 0, why));
        }
        let (handle, length) =
            (message.dispatch_urb_handle.get(), message.dispatch_urb_length.get() as usize);
        let registers = exec
            .state
            .slots
            .with(|urb: &Urb| urb.registers(handle as usize, 1 + length).map(<[u8]>::to_vec));
        let Some(registers) = registers else {
            let why = format!("{length} registers from here on leave the URB");
            return Err(exec.bad_field("Dispatch URB Handle", handle, why));
        };
        let (header, data) = registers.split_at(REGISTER);
        let mut dwords = [0; 8];
        bytemuck::cast_slice_mut::<u32, u8>(&mut dwords).copy_from_slice(header);
        let r0 = MediaChildThreadPayloadHeader::unpack_lossy(&dwords);
        let table = Some(r0.binding_table_pointer.get());
        let offset = message.interface_descriptor_pointer.get();
        let dispatch = Dispatch::resolve(exec, vfe, offset, table)?;
        dispatch.check(exec, length)?;
        Ok(Child {
            dispatch: Arc::new(dispatch),
            header: header.to_vec(),
            data: data.to_vec(),
            at: exec.at,
        })
    }

    /// Starts all threads that can start. True if at least one started.
    fn start_ready(&mut self, exec: &mut Exec<'_>) -> Result<bool, Fault> {
        let mut any = false;
        while self.slots.residents().len() < PLACES {
            if let Some(child) = self.children.pop_front() {
                let Child { dispatch, header, data, at } = child;
                self.start(exec, at, &dispatch, |_| header, &data, false)?;
            } else if self.root_can_start()
                && let Some(Root { dispatch, data, at }) = self.roots.pop_front()
            {
                let header = |slot| bytemuck::cast_slice(&dispatch.header(slot)).to_vec();
                self.start(exec, at, &dispatch, header, &data, true)?;
            } else {
                break;
            }
            any = true;
        }
        Ok(any)
    }

    /// True if the first root thread can start.
    fn root_can_start(&self) -> bool {
        let Some(root) = self.roots.front() else { return false };
        let vfe = &root.dispatch.vfe;
        let roots = self.members.iter().filter(|member| member.slot.is_some());
        let entries = self.members.iter().filter(|member| member.entry).count() as u64;
        (roots.count() as u64) < vfe.maximum_number_of_threads.get()
            && (!vfe.children_present || entries < vfe.number_of_urb_entries.get())
    }

    /// Starts a thread and gives it its first turn.
    fn start(
        &mut self,
        exec: &mut Exec<'_>,
        at: Place,
        dispatch: &Arc<Dispatch>,
        header: impl FnOnce(u64) -> Vec<u8>,
        data: &[u8],
        root: bool,
    ) -> Result<(), Fault> {
        let packet = std::mem::replace(&mut exec.at, at);
        let number = free(|n| self.members.iter().any(|member| u64::from(member.number) == n));
        let slot = free(|n| self.members.iter().any(|member| member.slot == Some(n)));
        let number = number as u32;
        let launch = dispatch.start(&header(slot), data, number);
        let program = self.program(dispatch);
        self.slots.start(exec, program, number, &launch);
        let entry = root && dispatch.vfe.children_present;
        self.members.push(Member { number, slot: root.then_some(slot), entry });
        self.turn(exec, self.slots.residents().len() - 1)?;
        exec.at = packet;
        Ok(())
    }

    /// Index of the program of a dispatch; adds the program if it is missing. Threads with the same
    /// dispatch share a program and the surfaces that it has cached.
    fn program(&mut self, dispatch: &Arc<Dispatch>) -> usize {
        if let Some(known) = self.dispatches.iter().position(|known| Arc::ptr_eq(known, dispatch)) {
            return known;
        }
        let unused =
            |n: &usize| self.slots.residents().iter().all(|resident| resident.program != *n);
        let shared = |n: &usize| Arc::strong_count(&self.dispatches[*n]) > 1;
        match (0..self.dispatches.len()).find(|n| !shared(n) && unused(n)) {
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
}

/// The lowest number that is not used.
fn free(used: impl Fn(u64) -> bool) -> u64 {
    (0..).find(|n| !used(*n)).unwrap_or(0)
}
