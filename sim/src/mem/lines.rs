//! Leaves out accesses that an observer of caches does not need.
//!
//! Nearly all accesses of a draw are harmless for caches: they read lines that nobody writes, or
//! write lines that nobody reads before the next flush. This table finds the harmless accesses. It
//! has three bits for each line of 64 bytes and each [`Client`]: the client has read the line since
//! its cache was invalidated; the line in its cache is stale; the client has written the line since
//! its cache was flushed. The observer reports when caches are flushed and invalidated
//! ([`Observer::update_lines`](crate::Observer::update_lines)).
//!
//! * A read is reported if another client has written the line and was not flushed, or if the line
//!   is stale. Any other read only sets a bit. If another client writes the line later, a read of
//!   the whole line is reported before that write, and the line is stale from then on.
//! * Every write is reported. Writes to render targets and to depth and stencil buffers are joined:
//!   they are reported together, before another client accesses the line, and at the latest at the
//!   end of the packet.

use super::PAGE;
use super::access::{Access, Client};
use super::frames::Slot;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// Bytes of a line. All caches of Gen8 have lines of 64 bytes (gen8_facts 1.3).
pub const LINE: u64 = 64;
/// Lines of a page.
pub const LINES: usize = (PAGE / LINE) as usize;
/// Number of clients.
const CLIENTS: usize = Client::ALL.len();
/// The clients whose writes are joined.
const JOINED: [Client; 2] = [Client::RenderTarget, Client::Depth];

/// A bit for each line of a page, or for each byte of a line.
type Bits = u64;

/// What is recorded for a page.
#[derive(Clone, Debug)]
struct PageLines {
    /// Number of the frame.
    frame: u64,
    /// Graphics address of the page.
    address: u64,
    /// The value of [`Lines::round`] for which the lines of clients are valid.
    round: u32,
    clients: [ClientLines; CLIENTS],
    joined: [Joined; JOINED.len()],
}

/// What a client has done with the lines of a page.
#[derive(Clone, Copy, Debug, Default)]
struct ClientLines {
    /// Lines in its cache that are as in memory.
    read: Bits,
    /// Lines in its cache that another client has written since.
    stale: Bits,
    /// Lines that it has written and that were not flushed.
    unflushed: Bits,
    /// The epoch of the client's cache for which the lines are valid.
    epoch: Epoch,
}

/// Number of invalidations and flushes of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Epoch {
    invalidations: u32,
    flushes: u32,
}

/// Writes of a client to a page that were not reported.
#[derive(Clone, Debug, Default)]
struct Joined {
    /// The lines that were written.
    lines: Bits,
    /// The bytes of each line that were written. It is empty before the first write.
    bytes: Vec<Bits>,
}

/// A new access, in one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    /// Graphics address of the first byte.
    pub(super) address: u64,
    /// Number of bytes, at least 1.
    pub(super) bytes: u32,
    pub(super) client: Client,
    pub(super) write: bool,
}

/// What the table says about an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Report the access.
    Report,
    /// Do not report the access now. It is left out, or reported later.
    Keep,
}

/// The table.
#[derive(Clone, Debug)]
pub struct Lines {
    /// False if all accesses are reported.
    enabled: Cell<bool>,
    /// For each client: what the observer has said about its cache.
    epochs: [Cell<Epoch>; CLIENTS],
    /// Number of changes of `epochs`.
    round: Cell<u32>,
    pages: RefCell<Vec<PageLines>>,
    /// Indices in `pages` of pages that may have joined writes.
    waiting: RefCell<Vec<u32>>,
    /// Index in `pages` by slot.
    slots: RefCell<FxHashMap<(u32, u32), u32>>,
    /// Recent slots, each with its index. Bits of the slot select the entry.
    recent: Box<[Cell<(Slot, u32)>; RECENT]>,
    /// The latest read and the latest write that were kept, for accesses that repeat or continue
    /// them.
    latest: [Cell<Option<Latest>>; 2],
}

/// An access to one line that was kept.
#[derive(Clone, Copy, Debug)]
struct Latest {
    slot: Slot,
    line: u64,
    client: Client,
    page: Index,
}

/// Number of entries in `Lines::recent`.
const RECENT: usize = 1024;

/// Index of a page in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Index(u32);

impl Default for Lines {
    fn default() -> Lines {
        Lines {
            enabled: Cell::default(),
            epochs: Default::default(),
            round: Cell::default(),
            pages: RefCell::default(),
            waiting: RefCell::default(),
            slots: RefCell::default(),
            recent: Box::new([const { Cell::new((Slot::NOWHERE, 0)) }; RECENT]),
            latest: Default::default(),
        }
    }
}

impl Lines {
    /// Sets whether accesses are left out from now on. At first, they are not. Use `true` only if
    /// all caches of the engine are empty, and no other engine has data in its caches.
    pub fn enable(&self, enabled: bool) {
        if !self.enabled.replace(enabled) && !enabled {
            return;
        }
        for client in Client::ALL {
            self.invalidated(client);
            self.flushed(client);
        }
    }

    /// The cache of a client was invalidated.
    pub fn invalidated(&self, client: Client) {
        let epoch = self.epochs[client as usize].get();
        let invalidations = epoch.invalidations.wrapping_add(1);
        self.change(client, Epoch { invalidations, ..epoch });
    }

    /// What a client has written is in memory.
    pub fn flushed(&self, client: Client) {
        let epoch = self.epochs[client as usize].get();
        self.change(client, Epoch { flushes: epoch.flushes.wrapping_add(1), ..epoch });
    }

    fn change(&self, client: Client, epoch: Epoch) {
        self.epochs[client as usize].set(epoch);
        self.round.set(self.round.get().wrapping_add(1));
        self.forget_latest();
    }

    fn forget_latest(&self) {
        self.latest.iter().for_each(|latest| latest.set(None));
    }

    /// Records an access to the page in `slot` that repeats or continues the latest one. Returns
    /// false, and records nothing, if it does not.
    #[inline]
    pub(super) fn repeats(&self, slot: Slot, new: &New) -> bool {
        let Some(latest) = self.latest[usize::from(new.write)].get() else { return false };
        let within = new.address % PAGE;
        let line = within / LINE;
        if (latest.slot, latest.line, latest.client) != (slot, line, new.client)
            || within % LINE + u64::from(new.bytes) > LINE
        {
            return false;
        }
        if new.write
            && let Some(own) = JOINED.iter().position(|client| *client == new.client)
        {
            let page = &mut self.pages.borrow_mut()[latest.page.0 as usize];
            page.joined[own].bytes[line as usize % LINES] |= mask(within % LINE, new.bytes.into());
        }
        true
    }

    /// The page of a slot, if it has been [added](Self::add).
    #[inline]
    pub(super) fn find(&self, slot: Slot) -> Option<Index> {
        let recent = &self.recent[(slot.page ^ slot.block << 4) as usize % RECENT];
        let (of, index) = recent.get();
        if of == slot {
            return Some(Index(index));
        }
        let index = *self.slots.borrow().get(&(slot.block, slot.page))?;
        recent.set((slot, index));
        Some(Index(index))
    }

    /// Adds the page of a frame that is stored in `slot`.
    pub(super) fn add(&self, slot: Slot, frame: u64) {
        let mut pages = self.pages.borrow_mut();
        self.slots.borrow_mut().insert((slot.block, slot.page), pages.len() as u32);
        pages.push(PageLines {
            frame,
            address: 0,
            round: self.round.get(),
            clients: std::array::from_fn(|n| ClientLines {
                epoch: self.epochs[n].get(),
                ..ClientLines::default()
            }),
            joined: Default::default(),
        });
    }

    /// The number of the page's frame.
    pub(super) fn frame(&self, page: Index) -> u64 {
        self.pages.borrow()[page.0 as usize].frame
    }

    /// The lines of a page whose reads by a client are left out.
    #[inline]
    pub(super) fn harmless(&self, page: Index, client: Client) -> Bits {
        let mut pages = self.pages.borrow_mut();
        let page = &mut pages[page.0 as usize];
        self.renew(page);
        page.clients[client as usize].read
    }

    /// Marks lines of the page at `address` that a client reads. Returns false, and changes
    /// nothing, if reads of these lines must be reported.
    pub(super) fn read(&self, page: Index, client: Client, address: u64, span: Bits) -> bool {
        let mut pages = self.pages.borrow_mut();
        let page = &mut pages[page.0 as usize];
        self.renew(page);
        self.enabled.get() && page.reads(client, address, span)
    }

    /// Records an access to a page. Adds accesses to `list` that are to be reported before it.
    #[inline]
    pub(super) fn access(
        &self,
        index: Index,
        slot: Slot,
        new: New,
        list: &mut Vec<Access>,
    ) -> Answer {
        if !self.enabled.get() {
            return Answer::Report;
        }
        let mut pages = self.pages.borrow_mut();
        let page = &mut pages[index.0 as usize];
        self.renew(page);
        let span = span(new.address % PAGE, new.bytes.into());
        if new.write {
            let own = JOINED.iter().position(|client| *client == new.client);
            let is_first = own.is_none_or(|own| page.joined[own].lines & span != span);
            if is_first {
                // The bits of the latest access's line can change.
                self.forget_latest();
                page.first_write(&new, span, list);
            }
            let Some(own) = own else { return Answer::Report };
            if is_first {
                self.waiting.borrow_mut().push(index.0);
            }
            page.joined[own].add(&new, span);
        } else if page.clients[new.client as usize].read & span != span
            && page.first_read(&new, span, list) == Answer::Report
        {
            self.forget_latest();
            return Answer::Report;
        }
        if span.is_power_of_two() {
            let line = u64::from(span.trailing_zeros());
            let latest = Latest { slot, line, client: new.client, page: index };
            self.latest[usize::from(new.write)].set(Some(latest));
        }
        Answer::Keep
    }

    /// Adds all joined writes to `list`.
    pub(super) fn report_joined(&self, list: &mut Vec<Access>) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_empty() {
            return;
        }
        self.forget_latest();
        let mut pages = self.pages.borrow_mut();
        for index in waiting.drain(..) {
            let page = &mut pages[index as usize];
            for own in 0..JOINED.len() {
                page.report_joined(own, Bits::MAX, list);
            }
        }
    }

    /// Adds the reads to `list` that were left out, if their lines are still in a cache. From now
    /// on, all accesses are reported.
    pub(super) fn end(&self, list: &mut Vec<Access>) {
        self.report_joined(list);
        self.forget_latest();
        if self.enabled.replace(false) {
            for page in &mut *self.pages.borrow_mut() {
                self.renew(page);
                for client in Client::ALL {
                    page.report_reads(client, Bits::MAX, list);
                }
            }
        }
    }

    /// Removes lines that were flushed or invalidated.
    #[inline]
    fn renew(&self, page: &mut PageLines) {
        let round = self.round.get();
        if page.round == round {
            return;
        }
        page.round = round;
        for (lines, epoch) in page.clients.iter_mut().zip(&self.epochs) {
            let epoch = epoch.get();
            if lines.epoch.invalidations != epoch.invalidations {
                (lines.read, lines.stale) = (0, 0);
            }
            if lines.epoch.flushes != epoch.flushes {
                lines.unflushed = 0;
            }
            lines.epoch = epoch;
        }
    }
}

impl PageLines {
    /// The first read of some of the lines in `span`.
    #[inline(never)]
    fn first_read(&mut self, new: &New, span: Bits, list: &mut Vec<Access>) -> Answer {
        if self.reads(new.client, new.address, span) {
            return Answer::Keep;
        }
        let unflushed = self.unflushed_by_others(new.client);
        let own = &mut self.clients[new.client as usize];
        // The client now has these lines in its cache without the writes.
        own.stale |= unflushed & span;
        own.read |= span & !own.stale;
        for joined in 0..JOINED.len() {
            self.report_joined(joined, span, list);
        }
        Answer::Report
    }

    /// The lines that other clients have written and that were not flushed.
    #[inline]
    fn unflushed_by_others(&self, client: Client) -> Bits {
        let mut unflushed = 0;
        for (other, lines) in self.clients.iter().enumerate() {
            if other != client as usize {
                unflushed |= lines.unflushed;
            }
        }
        unflushed
    }

    /// Marks lines that a client reads. Returns false, and changes nothing, if reads of these lines
    /// are to be reported.
    #[inline]
    fn reads(&mut self, client: Client, address: u64, span: Bits) -> bool {
        let unflushed = self.unflushed_by_others(client);
        let own = &mut self.clients[client as usize];
        let harmless = (unflushed | own.stale) & span == 0;
        if harmless {
            own.read |= span;
            self.address = address & !(PAGE - 1);
        }
        harmless
    }

    /// The first write to some of the lines in `span`.
    #[inline(never)]
    fn first_write(&mut self, new: &New, span: Bits, list: &mut Vec<Access>) {
        for (joined, client) in JOINED.into_iter().enumerate() {
            if client != new.client {
                self.report_joined(joined, span, list);
            }
        }
        for other in 0..CLIENTS {
            if self.clients[other].read & span != 0 && other != new.client as usize {
                self.report_reads(Client::ALL[other], span, list);
            }
        }
        self.clients[new.client as usize].unflushed |= span;
        self.address = new.address & !(PAGE - 1);
    }

    /// Reports the reads of lines by a client. The lines are stale from now on.
    #[inline(never)]
    fn report_reads(&mut self, client: Client, span: Bits, list: &mut Vec<Access>) {
        let lines = &mut self.clients[client as usize];
        let mut rest = lines.read & span;
        lines.read &= !rest;
        lines.stale |= rest;
        while rest != 0 {
            let line = u64::from(rest.trailing_zeros());
            rest &= rest - 1;
            self.push(LINE * line, LINE, client, false, list);
        }
    }

    /// Moves joined writes to the lines of `span` to `list`, a run of bytes each.
    fn report_joined(&mut self, own: usize, span: Bits, list: &mut Vec<Access>) {
        let mut lines = self.joined[own].lines & span;
        self.joined[own].lines &= !span;
        while lines != 0 {
            let line = lines.trailing_zeros() as usize % LINES;
            lines &= lines - 1;
            let mut rest = std::mem::take(&mut self.joined[own].bytes[line]);
            let mut at = LINE * line as u64;
            while rest != 0 {
                let skip = rest.trailing_zeros();
                let run = (rest >> skip).trailing_ones();
                self.push(at + u64::from(skip), run.into(), JOINED[own], true, list);
                at += u64::from(skip + run);
                rest = rest.checked_shr(skip + run).unwrap_or(0);
            }
        }
    }

    /// Adds an access to bytes of the page.
    fn push(&self, within: u64, bytes: u64, client: Client, write: bool, list: &mut Vec<Access>) {
        let (address, physical) = (self.address + within, self.frame * PAGE + within);
        Access { address, physical, bytes: bytes as u32, write, client }.append(list);
    }
}

impl Joined {
    /// Adds a write to the lines in `span`.
    #[inline]
    fn add(&mut self, new: &New, span: Bits) {
        if self.bytes.is_empty() {
            self.bytes = vec![0; LINES];
        }
        self.lines |= span;
        let (mut at, end) = (new.address % PAGE, new.address % PAGE + u64::from(new.bytes));
        while at < end {
            let next = (at / LINE + 1) * LINE;
            self.bytes[(at / LINE) as usize % LINES] |= mask(at % LINE, next.min(end) - at);
            at = next;
        }
    }
}

/// The lines of a page that contain `bytes` bytes from offset `within` on, at least one of them.
#[inline]
fn span(within: u64, bytes: u64) -> Bits {
    let (first, last) = (within / LINE, (within + bytes.max(1) - 1) / LINE);
    mask(first, last - first + 1)
}

/// `count` bits from bit `first` on, at least one of them.
#[inline]
pub fn mask(first: u64, count: u64) -> Bits {
    let bits = u64::from(Bits::BITS);
    Bits::MAX >> (bits - count.clamp(1, bits)) << (first % bits)
}
