//! Memory that several host threads write directly, each to its own pages.
//!
//! The items of parallel work are cut into runs. Each run is one user of the memory. Before a user
//! reads a page for the first time, it claims the page for reading. Before a user writes a page for
//! the first time, it claims the page for writing. If one user writes a page, no other user may
//! read or write that page: the second claim is refused. Then all writes are
//! [undone](Claims::undo), and the items run again without claims. If no claim is refused, no user
//! read what another user wrote. Then memory is the same as if the items had run in order.
//!
//! An [overlay](super::overlay) records the bytes that were read and written, and holds the writes.
//! Claims are for whole pages, and writes go directly to memory. Claims are useful only if the
//! users write to different pages.
//!
//! An undo restores whole pages. If code outside the model stores to such a page after the page was
//! claimed for writing, the undo loses that store.

#![allow(unsafe_code, reason = "host threads write to different pages of one memory")]

use super::fault::{Cause, PageFault};
use super::frames::Slot;
use super::page::{Page, PageMut};
#[cfg(feature = "fast")]
use super::physical::Identity;
use super::physical::Memory;
use super::space::{AddressSpace, Cached, NOTHING, TLB_ENTRIES, place};
use super::{ADDRESS_MASK, PAGE};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of written pages whose copies take little memory: 16 MiB. Work should be cut so that it
/// writes about so many. Also the maximum number of copies whose memory is kept for reuse.
pub const MANY: usize = 4096;

/// Number of parts of the table of claims.
const PARTS: usize = 16;

/// Number of spare pages that a host thread takes at once.
const SPARE_PAGES: usize = 64;

/// After an [`undo`](Claims::undo), [`Claims::are_useful`] returns false this many times for the
/// same kind of work.
const PAUSE: u32 = 32;

/// Maximum number of kinds of work whose pauses are remembered.
const MAX_PAUSES: usize = 256;

/// The value of [`Cached::read_only`] for a page that is claimed only for reading. The first write
/// of the page then calls [`Claimant::fill`], which claims the page for writing.
const UNCLAIMED: u8 = u8::MAX;

/// Who uses a page in one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Users {
    #[default]
    Nobody,
    One(u32),
    Several,
}

impl Users {
    /// True if no other user than `user` uses the page.
    fn are_only(self, user: u32) -> bool {
        self == Users::Nobody || self == Users::One(user)
    }

    fn add(&mut self, user: u32) {
        *self = if self.are_only(user) { Users::One(user) } else { Users::Several };
    }
}

/// The uses of a page.
#[derive(Clone, Copy, Debug, Default)]
struct Claim {
    readers: Users,
    writer: Users,
    /// Translations came from the page.
    table: bool,
}

impl Claim {
    fn reads(&mut self, user: u32) -> bool {
        self.readers.add(user);
        self.writer.are_only(user)
    }

    fn writes(&mut self, user: u32) -> bool {
        self.writer.add(user);
        !self.table && self.readers.are_only(user) && self.writer.are_only(user)
    }

    fn translates(&mut self) -> bool {
        self.table = true;
        self.writer == Users::Nobody
    }
}

/// The claims of all users.
#[derive(Default)]
pub struct Claims {
    /// The claims of pages. A page belongs to the part that [`part`] selects, so that host threads
    /// rarely wait for each other.
    pages: [Mutex<FxHashMap<Slot, Claim>>; PARTS],
    /// The old contents of pages that are claimed for writing. Each claimant adds its copies when
    /// it is dropped.
    before: Mutex<Before>,
    /// Pages whose memory later copies reuse.
    spare: Mutex<Vec<Box<Page>>>,
    /// True if a claim was refused, or if the items must run again for another reason, for example
    /// a fault.
    refused: AtomicBool,
    /// The entries of the TLB at the start. Empty if there was no TLB yet.
    known: Vec<Cached>,
    /// For each kind of work whose claims were refused: how many later works of this kind should
    /// not try claims.
    pauses: FxHashMap<u64, u32>,
}

/// Pages with their old contents.
type Before = Vec<(Slot, Box<Page>)>;

/// The index of the part of [`Claims::pages`] that a page belongs to.
fn part(slot: Slot) -> usize {
    (slot.block ^ slot.page) as usize % PARTS
}

/// A clone has no claims.
impl Clone for Claims {
    fn clone(&self) -> Claims {
        Claims::default()
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims").field("refused", &self.refused).finish_non_exhaustive()
    }
}

impl Claims {
    /// Forgets all claims, and takes the translations that `space` remembers. Page tables that
    /// these translations came from cannot be written.
    pub fn start(&mut self, mem: &Memory, space: &AddressSpace) {
        *self.refused.get_mut() = false;
        self.known.clear();
        self.known.extend(space.entries());
        self.pages.iter_mut().for_each(|pages| own(pages).clear());
        let spare = own(&mut self.spare);
        spare.extend(own(&mut self.before).drain(..).map(|(_, page)| page));
        spare.truncate(MANY);
        space.each_table(|frame| {
            if let Some(slot) = mem.slot(frame) {
                own(&mut self.pages[part(slot)]).entry(slot).or_default().table = true;
            }
        });
    }

    /// False for the next calls after an [`undo`](Self::undo) of the same kind of work: the claims
    /// would probably be refused again. Call this once for each work, because it counts the calls.
    pub fn are_useful(&mut self, kind: u64) -> bool {
        let Some(pause) = self.pauses.get_mut(&kind) else { return true };
        *pause -= 1;
        if *pause == 0 {
            self.pauses.remove(&kind);
        }
        false
    }

    /// True if a claim was refused: the writes must be [undone](Self::undo).
    pub fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// The number of pages that were claimed for writing. All claimants must have been dropped.
    pub fn written(&mut self) -> usize {
        own(&mut self.before).len()
    }

    /// Stops all users: their writes will be undone.
    pub fn refuse(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }

    /// Restores the contents that all pages had at the start. All claimants must have been dropped.
    /// `kind` is the kind of work that wrote them.
    pub fn undo(&mut self, mem: &mut Memory, kind: u64) {
        if self.pauses.len() == MAX_PAUSES {
            self.pauses.clear();
        }
        self.pauses.insert(kind, PAUSE);
        for (slot, page) in own(&mut self.before) {
            mem.page_mut(*slot).write(0, page.bytes_mut());
        }
    }

    /// Changes the claim of a page by `change`, and returns its result.
    fn claim(&self, slot: Slot, change: impl FnOnce(&mut Claim) -> bool) -> bool {
        change(lock(&self.pages[part(slot)]).entry(slot).or_default())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// A host thread that claims pages, for one user after the other.
#[derive(Debug)]
pub struct Claimant<'a> {
    claims: &'a Claims,
    user: Cell<u32>,
    /// The translations that this host thread looked up.
    looked_up: RefCell<LookedUp>,
    /// The old contents of the pages that this host thread claimed for writing.
    before: RefCell<Before>,
    /// Pages whose memory the next copies reuse.
    spare: RefCell<Vec<Box<Page>>>,
    #[cfg(feature = "fast")]
    identity: Identity,
}

impl Drop for Claimant<'_> {
    fn drop(&mut self) {
        lock(&self.claims.before).append(self.before.get_mut());
        lock(&self.claims.spare).append(self.spare.get_mut());
    }
}

impl<'a> Claimant<'a> {
    /// A host thread without a user.
    pub fn new(claims: &'a Claims) -> Claimant<'a> {
        Claimant {
            claims,
            user: Cell::new(u32::MAX),
            looked_up: RefCell::default(),
            before: RefCell::default(),
            spare: RefCell::default(),
            #[cfg(feature = "fast")]
            identity: Identity::default(),
        }
    }

    /// A number that identifies the claimant.
    #[cfg(feature = "fast")]
    pub(super) fn identity(&self) -> u64 {
        self.identity.0
    }

    /// Begins the next user. `space` is the address space of the host thread. Its TLB is cleared,
    /// because it may hold only pages that the current user has claimed.
    pub fn begin(&self, user: u32, space: &mut AddressSpace) {
        self.user.set(user);
        space.forget();
    }

    /// The translations that were looked up. Add them to the TLB by [`keep`].
    pub fn into_looked_up(self) -> LookedUp {
        self.looked_up.take()
    }

    pub(super) fn refuse(&self) {
        self.claims.refuse();
    }

    /// The page of `address`, for a read.
    #[inline(always)]
    pub(super) fn read<'m>(
        &self,
        mem: &'m Memory,
        space: &AddressSpace,
        address: u64,
    ) -> Result<&'m Page, PageFault> {
        let slot = match space.remembered(address, false) {
            Some(cached) => cached.slot,
            None => self.fill(mem, space, address & ADDRESS_MASK, false)?,
        };
        Ok(mem.page(slot))
    }

    /// The page of `address`, for a write.
    #[inline(always)]
    pub(super) fn write<'m>(
        &self,
        mem: &'m Memory,
        space: &AddressSpace,
        address: u64,
    ) -> Result<PageMut<'m>, PageFault> {
        let slot = match space.remembered(address, true) {
            Some(cached) => cached.slot,
            None => self.fill(mem, space, address & ADDRESS_MASK, true)?,
        };
        // SAFETY: `space` remembers a page as writable only after `fill` has claimed it for the
        // user of this host thread, and claims of other users for the page are refused from then
        // on. So until all host threads have ended, no other one accesses the page. Nobody has a
        // slice of its bytes, because that needs `&mut Memory`.
        Ok(unsafe { PageMut::new(mem.page(slot)) })
    }

    /// Checks that the byte at `address` can be read, or written if `write`.
    pub(super) fn probe(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        address: u64,
        write: bool,
    ) -> Result<(), PageFault> {
        match space.remembered(address, write) {
            Some(_) => Ok(()),
            None => self.fill(mem, space, address & ADDRESS_MASK, write).map(|_| ()),
        }
    }

    /// Looks up the translation of a page, claims the page, and adds the translation to the TLB of
    /// `space`.
    ///
    /// # Errors
    /// The fault of the access. If the claim is refused, the fault has no meaning: the items run
    /// again without claims.
    #[cold]
    fn fill(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        address: u64,
        write: bool,
    ) -> Result<Slot, PageFault> {
        let fault = |cause| space.fault(address, write, cause);
        let refused = || {
            self.refuse();
            fault(Cause::Outside)
        };
        if self.claims.is_refused() {
            return Err(refused());
        }
        let cached = match self.translation(mem, space, address) {
            Ok(Some(cached)) => cached,
            Ok(None) => return Err(refused()),
            Err(cause) => return Err(fault(cause)),
        };
        let Cached { slot, read_only, .. } = cached;
        self.looked_up.borrow_mut().add(cached);
        if write && read_only != 0 {
            return Err(fault(Cause::ReadOnly(read_only)));
        }
        let user = self.user.get();
        let claimed = match write {
            true => self.writes(mem, slot, user),
            false => self.claims.claim(slot, |claim| claim.reads(user)),
        };
        if !claimed {
            return Err(refused());
        }
        let read_only = if write { 0 } else { UNCLAIMED };
        space.remember(Cached { read_only, ..cached });
        Ok(slot)
    }

    /// Claims a page for a write. Keeps its contents if this is the first write.
    fn writes(&self, mem: &Memory, slot: Slot, user: u32) -> bool {
        // All untouched frames share one page of zeros, and so do all freed frames. Nobody may
        // write these pages.
        let Some(page) = mem.existing(slot).filter(|_| slot != Slot::UNTOUCHED) else {
            return false;
        };
        let mut first = false;
        let granted = self.claims.claim(slot, |claim| {
            first = claim.writer == Users::Nobody;
            claim.writes(user)
        });
        // From now on, no other host thread accesses the page.
        if granted && first {
            let mut copy = self.copy();
            page.read(0, copy.bytes_mut());
            self.before.borrow_mut().push((slot, copy));
        }
        granted
    }

    /// Memory for the contents of a page.
    fn copy(&self) -> Box<Page> {
        let mut spare = self.spare.borrow_mut();
        if spare.is_empty() {
            let all = &mut *lock(&self.claims.spare);
            let kept = all.len().saturating_sub(SPARE_PAGES);
            spare.extend(all.drain(kept..));
        }
        spare.pop().unwrap_or_else(bytemuck::zeroed_box)
    }

    /// The translation of `address`: as the TLB had it at the start, or from the page tables.
    /// `None` if a user writes to the tables.
    fn translation(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        address: u64,
    ) -> Result<Option<Cached>, Cause> {
        let page = address / PAGE;
        if let Some(known) = self.claims.known.get(place(address)).filter(|k| k.page == page) {
            return Ok(Some(*known));
        }
        let tables = &mut self.looked_up.borrow_mut().tables;
        let mut written = false;
        let found = space.look_up(mem, address, |at| {
            let frame = at / PAGE;
            if !tables.contains(&frame) {
                written |= !self.claims.claim(mem.slot(frame)?, Claim::translates);
                if written {
                    return None;
                }
                tables.insert(frame);
            }
            mem.read_u64(at)
        });
        match written {
            true => Ok(None),
            false => found.map(|(cached, _)| Some(cached)),
        }
    }
}

/// The translations that a host thread looked up, and the frames of the tables that they came from.
#[derive(Debug, Default)]
pub struct LookedUp {
    /// For each entry of the TLB, the translation of the highest page that was looked up. Empty if
    /// nothing was looked up.
    translations: Vec<Cached>,
    tables: FxHashSet<u64>,
}

impl LookedUp {
    fn add(&mut self, cached: Cached) {
        if self.translations.is_empty() {
            self.translations.resize(TLB_ENTRIES, NOTHING);
        }
        let entry = &mut self.translations[place(cached.page * PAGE)];
        if entry.page == NOTHING.page || entry.page < cached.page {
            *entry = cached;
        }
    }
}

/// Adds the translations that host threads looked up to the TLB of `space`. If several belong to
/// one entry of the TLB, that of the highest page is added.
pub fn keep(space: &AddressSpace, all: Vec<LookedUp>) {
    let mut highest = LookedUp::default();
    for LookedUp { translations, tables } in all {
        let found = translations.into_iter().filter(|cached| cached.page != NOTHING.page);
        found.for_each(|cached| highest.add(cached));
        tables.into_iter().for_each(|frame| space.add_table(frame));
    }
    for cached in highest.translations {
        let known = cached.page == NOTHING.page || cached.slot == Slot::UNTOUCHED;
        if !known && space.remembered(cached.page * PAGE, false).is_none() {
            space.remember(cached);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::{Frames, Vm};

    const BASE: u64 = 0x10_0000;

    /// Memory of eight pages; page n has bytes of value n.
    fn memory() -> (Memory, AddressSpace) {
        let mut mem = Memory::new();
        let mut space = AddressSpace::new(&mut mem).unwrap();
        let frames = mem.alloc(8).unwrap();
        space.map(&mut mem, BASE, frames, true).unwrap();
        let mut vm = Vm::new(&mut mem, &mut space);
        for page in 0..8 {
            vm.write(BASE + page * PAGE, &[page as u8; PAGE as usize]).unwrap();
        }
        (mem, space)
    }

    /// Claims of the memory of `space`.
    fn started(mem: &Memory, space: &AddressSpace) -> Claims {
        let mut claims = Claims::default();
        claims.start(mem, space);
        claims
    }

    /// Claims pages for user 0. The address space is that of the host thread.
    fn claimant<'c>(claims: &'c Claims, space: &AddressSpace) -> (Claimant<'c>, AddressSpace) {
        let (claimant, mut fork) = (Claimant::new(claims), space.fork());
        claimant.begin(0, &mut fork);
        (claimant, fork)
    }

    /// An access of a user: the number of the user, the number of the page, and true for a write.
    type Step = (u32, u64, bool);

    /// Runs the steps with one claimant for each user. Returns true if all claims were granted.
    /// If not, checks that memory is as before.
    fn granted(steps: &[Step]) -> bool {
        let (mut mem, mut space) = memory();
        space.forget();
        let mut claims = started(&mem, &space);
        {
            let claimants = [0, 1, 2].map(|_| Claimant::new(&claims));
            let mut spaces = [0, 1, 2].map(|_| space.fork());
            for (user, claimant) in claimants.iter().enumerate() {
                claimant.begin(user as u32, &mut spaces[user]);
            }
            for &(user, page, write) in steps {
                let user = user as usize;
                let mut vm = Vm::claiming(&mem, &claimants[user], &mut spaces[user]);
                let at = BASE + page * PAGE + 8 * user as u64;
                let done = match write {
                    true => vm.write_u8(at, 0xff),
                    false => vm.read_u8(at).map(|_| ()),
                };
                assert_eq!(done.is_err(), claims.is_refused());
                if done.is_err() {
                    break;
                }
            }
        }
        let refused = claims.is_refused();
        if refused {
            claims.undo(&mut mem, 0);
            let vm = Vm::new(&mut mem, &mut space);
            for page in 0..8 {
                let bytes: [u8; 64] = vm.read_array(BASE + page * PAGE).unwrap();
                assert_eq!(bytes, [page as u8; 64]);
            }
        }
        !refused
    }

    #[test]
    fn pages_have_one_writer_or_any_readers() {
        let (read, write) = (false, true);
        for (steps, expected) in [
            (&[(0, 1, read), (1, 1, read), (2, 1, read), (0, 2, write), (1, 3, write)][..], true),
            (&[(0, 1, read), (0, 1, write), (0, 1, read), (1, 2, write)], true),
            (&[(0, 1, write), (1, 1, write)], false),
            (&[(0, 1, write), (1, 1, read)], false),
            (&[(0, 1, read), (1, 1, write)], false),
            (&[(0, 1, read), (1, 1, read), (0, 1, write)], false),
            (&[(0, 5, write), (0, 6, write), (1, 7, write), (1, 5, read)], false),
        ] {
            assert_eq!(granted(steps), expected, "{steps:?}");
        }
    }

    /// A claim for a write to a page table is refused. This holds if the TLB had translations from
    /// the table at the start, and if they are looked up later. A page fault is not a refusal.
    #[test]
    fn page_tables_and_faults() {
        for remembered in [false, true] {
            let (mut mem, mut space) = memory();
            // The frame of the root table. It is mapped, so that the user can write to it.
            let table = Frames { first: space.root() / PAGE, count: 1 };
            space.map(&mut mem, BASE + 8 * PAGE, table, true).unwrap();
            if !remembered {
                space.forget();
            }
            let claims = started(&mem, &space);
            let (claimant, mut fork) = claimant(&claims, &space);
            let mut vm = Vm::claiming(&mem, &claimant, &mut fork);
            assert!(vm.read_u8(0).is_err() && !claims.is_refused());
            vm.write_u8(BASE, 1).unwrap();
            assert!(vm.write_u8(BASE + 8 * PAGE, 1).is_err() && claims.is_refused());
        }
    }

    /// The TLB gets the translations that were looked up.
    #[test]
    fn translations_are_kept() {
        let (mem, mut space) = memory();
        space.forget();
        let claims = started(&mem, &space);
        let (claimant, mut fork) = claimant(&claims, &space);
        let mut vm = Vm::claiming(&mem, &claimant, &mut fork);
        vm.write_u8(BASE + 3 * PAGE, 1).unwrap();
        vm.read_u8(BASE + PAGE).unwrap();
        let mut tables = 0;
        keep(&space, vec![claimant.into_looked_up()]);
        space.each_table(|frame| tables += u64::from(frame != 0));
        assert_eq!(tables, 4);
        let pages: Vec<u64> = space.all_remembered().map(|cached| cached.page * PAGE).collect();
        assert_eq!(pages, [BASE + PAGE, BASE + 3 * PAGE]);
        assert!(space.remembered(BASE + PAGE, true).is_some());
    }

    /// The TLB remembers a page whose memory was freed. Nobody may write the page of zeros that is
    /// read there.
    #[test]
    fn freed_memory() {
        let (mut mem, mut space) = memory();
        let frames = mem.alloc(1).unwrap();
        space.map(&mut mem, BASE + 8 * PAGE, frames, true).unwrap();
        Vm::new(&mut mem, &mut space).write_u8(BASE + 8 * PAGE, 7).unwrap();
        mem.free(frames);
        let claims = started(&mem, &space);
        let (claimant, mut fork) = claimant(&claims, &space);
        let mut vm = Vm::claiming(&mem, &claimant, &mut fork);
        assert_eq!(vm.read_u8(BASE + 8 * PAGE), Ok(0));
        assert!(vm.write_u8(BASE + 8 * PAGE, 1).is_err() && claims.is_refused());
        assert_eq!(mem.page(Slot::NOWHERE).load(0), Some([0]));
    }

    /// An undo restores the old contents of many pages, also if the memory of the copies is reused.
    #[test]
    fn many_pages() {
        let (mut mem, mut space) = memory();
        let pages = MANY as u64;
        let frames = mem.alloc(pages).unwrap();
        space.map(&mut mem, BASE + 8 * PAGE, frames, true).unwrap();
        let mut claims = Claims::default();
        for round in 0..3 {
            claims.start(&mem, &space);
            {
                let (claimant, mut fork) = claimant(&claims, &space);
                let mut vm = Vm::claiming(&mem, &claimant, &mut fork);
                for page in 0..pages {
                    let at = BASE + (8 + page) * PAGE;
                    assert_eq!(vm.read_u32(at), Ok(0));
                    vm.write_u32(at, round * 0x1_0000 + page as u32).unwrap();
                }
            }
            assert!(!claims.is_refused());
            assert_eq!(claims.written(), MANY);
            claims.undo(&mut mem, 0);
        }
        let vm = Vm::new(&mut mem, &mut space);
        assert!((0..pages).all(|page| vm.read_u32(BASE + (8 + page) * PAGE) == Ok(0)));
    }
}
