//! The order of accesses of threads in one packet.
//!
//! An access comes before another one
//! * if one thread makes both;
//! * if both threads are in one group, the first one made its access before it reported to a
//!   barrier, and that barrier was complete before the second access;
//! * if the first thread, after a fence, makes an atomic operation on some memory, and the second
//!   thread makes a later atomic operation on the same memory before its access (for example a
//!   counter that finds the last group). Barriers of both groups and further operations can be
//!   links of this chain too.

use rustc_hash::FxHashMap;

/// Maximum number of atomic operations in a chain.
const LINKS: u32 = 3;

/// Who made an access, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the thread in the packet, from 0 on.
    pub thread: u32,
    /// Number of the group in the packet. A thread without a group is a group of its own.
    pub group: u32,
    /// Number of barriers to which the thread had reported.
    pub reported: u32,
    /// Number of atomic operations after fences that the thread had made.
    pub released: u32,
    /// Number of the position in the program, for findings.
    pub author: u32,
}

/// What a thread may have seen at some time.
#[derive(Clone, Copy, Debug)]
struct View {
    thread: u32,
    group: u32,
    /// Number of complete barriers of the group.
    complete: u32,
    /// Number of entries of [`Group::acquired`].
    acquired: usize,
}

/// An atomic operation after a fence.
#[derive(Clone, Copy, Debug)]
struct Release {
    released: u32,
    view: View,
}

/// A thread of the group has made an atomic operation: it has seen the first `length` releases at
/// `memory`.
#[derive(Clone, Copy, Debug)]
struct Acquired {
    thread: u32,
    reported: u32,
    memory: u64,
    length: usize,
}

#[derive(Debug, Default)]
struct Group {
    complete: u32,
    acquired: Vec<Acquired>,
}

#[derive(Debug)]
struct Thread {
    number: u32,
    group: u32,
    reported: u32,
    released: u32,
    fenced: bool,
}

/// The threads of a packet and their order.
#[derive(Debug, Default)]
pub struct Order {
    threads: Vec<Thread>,
    groups: Vec<Group>,
    /// Threads that run, by their number in the events.
    running: FxHashMap<u32, u32>,
    /// The group that runs.
    group: Option<u32>,
    /// The thread that ended last.
    ended: Option<u32>,
    /// Releases by memory: address, or the address of shared local memory of the group.
    releases: FxHashMap<u64, Vec<Release>>,
}

impl Order {
    /// A packet begins.
    pub fn clear(&mut self) {
        *self = Order::default();
    }

    /// A group begins: the next threads belong to it.
    pub fn begin_group(&mut self) {
        self.groups.push(Group::default());
        self.group = Some(self.groups.len() as u32 - 1);
    }

    /// The group has ended.
    pub fn end_group(&mut self) {
        self.group = None;
    }

    /// A thread begins. `number` is that of the events.
    pub fn begin(&mut self, number: u32) {
        let group = self.group.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() as u32 - 1
        });
        let thread = self.threads.len() as u32;
        self.threads.push(Thread { number, group, reported: 0, released: 0, fenced: false });
        self.running.insert(number, thread);
    }

    /// The thread has ended.
    pub fn end(&mut self, number: u32) {
        self.ended = self.running.remove(&number).or(self.ended);
    }

    /// The thread has reported to the barrier of its group.
    pub fn report(&mut self, number: u32, complete: bool) {
        let Some(&thread) = self.running.get(&number) else { return };
        let thread = &mut self.threads[thread as usize];
        thread.reported += 1;
        if complete {
            self.groups[thread.group as usize].complete += 1;
        }
    }

    /// The thread has sent a fence.
    pub fn fence(&mut self, number: u32) {
        if let Some(&thread) = self.running.get(&number) {
            self.threads[thread as usize].fenced = true;
        }
    }

    /// The thread makes an atomic operation on the memory.
    pub fn atomic(&mut self, number: u32, memory: u64) {
        let Some(view) = self.view(number) else { return };
        let thread = &mut self.threads[view.thread as usize];
        let releases = self.releases.entry(memory).or_default();
        let group = &mut self.groups[view.group as usize];
        // The operation itself sees what came before it. Its release follows.
        let acquired = Acquired {
            thread: view.thread,
            reported: thread.reported,
            memory,
            length: releases.len(),
        };
        if acquired.length > 0 {
            group.acquired.push(acquired);
        }
        if thread.fenced {
            let view = View { acquired: group.acquired.len(), ..view };
            releases.push(Release { released: thread.released, view });
            thread.released += 1;
        }
    }

    /// The stamp of an access that the thread makes now; without a number, the access is a
    /// write to a render target of the thread that ended last. Its author is 0.
    pub fn stamp(&self, number: Option<u32>) -> Option<Stamp> {
        let thread = match number {
            Some(number) => *self.running.get(&number)?,
            None => self.ended?,
        };
        let Thread { group, reported, released, .. } = self.threads[thread as usize];
        Some(Stamp { thread, group, reported, released, author: 0 })
    }

    /// The number in the events of a thread with this number in the packet.
    pub fn number(&self, thread: u32) -> u32 {
        self.threads[thread as usize].number
    }

    /// True if the access comes before what the thread of `later` does now.
    pub fn before(&self, access: &Stamp, later: &Stamp) -> bool {
        let group = &self.groups[later.group as usize];
        let view = View {
            thread: later.thread,
            group: later.group,
            complete: group.complete,
            acquired: group.acquired.len(),
        };
        self.seen(access, view, LINKS)
    }

    fn view(&self, number: u32) -> Option<View> {
        let thread = *self.running.get(&number)?;
        let group = self.threads[thread as usize].group;
        let Group { complete, ref acquired } = self.groups[group as usize];
        Some(View { thread, group, complete, acquired: acquired.len() })
    }

    fn seen(&self, access: &Stamp, view: View, links: u32) -> bool {
        if access.thread == view.thread {
            return true;
        }
        if access.group == view.group && access.reported < view.complete {
            return true;
        }
        if links == 0 {
            return false;
        }
        let acquired = &self.groups[view.group as usize].acquired[..view.acquired];
        acquired.iter().filter(|of| of.thread == view.thread || of.reported < view.complete).any(
            |of| {
                self.releases[&of.memory][..of.length].iter().any(|release| {
                    let own = release.view.thread == access.thread;
                    (!own || access.released <= release.released)
                        && self.seen(access, release.view, links - 1)
                })
            },
        )
    }
}
