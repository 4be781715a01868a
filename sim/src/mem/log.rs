//! Records each access to memory, for observers that check the order of accesses.
//!
//! Usually nothing is recorded. If an observer wants accesses, the [`Vm`](super::Vm) of the
//! submission has an [`AccessLog`]. Every read and write of a unit adds an [`Access`] to it. Units
//! say what kind of access they make with [`Vm::client`](super::Vm::client); until then, an access
//! counts as one of the command streamer.

use super::access::{Access, Client, LocalAccess};
use super::frames::Slot;
use super::lines::{Answer, Index, LINE, Lines, New};
use super::outside::Outside;
use super::physical::Memory;
use super::space::AddressSpace;
use super::{ADDRESS_MASK, PAGE};
use std::cell::{Cell, RefCell};

/// The accesses since the log was last [drained](AccessLog::drain), in order.
#[derive(Clone, Debug, Default)]
pub struct AccessLog {
    client: Cell<Client>,
    /// True while nothing is recorded, because the accesses are those of an observer.
    paused: Cell<bool>,
    list: RefCell<Vec<Access>>,
    local: RefCell<Vec<LocalAccess>>,
    outside: RefCell<Vec<Outside>>,
    /// Leaves out accesses, if the observer follows caches only.
    lines: Lines,
}

impl AccessLog {
    /// The table of lines, for the observer's [updates](crate::Observer::update_lines).
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Adds the joined writes that were not reported.
    pub fn report_joined(&self) {
        self.lines.report_joined(&mut self.list.borrow_mut());
    }

    /// Adds the joined writes, and the reads that were left out if their lines are still in a
    /// cache. From now on, nothing is left out.
    pub fn end_lines(&self) {
        self.lines.end(&mut self.list.borrow_mut());
    }

    /// Moves the accesses to `list`, whose old contents are dropped. Returns false if there is
    /// nothing to report.
    pub fn drain(&self, list: &mut Vec<Access>) -> bool {
        list.clear();
        if self.paused.get() {
            return false;
        }
        std::mem::swap(list, &mut self.list.borrow_mut());
        !list.is_empty()
    }

    /// Drains the log. Returns each byte that was accessed, and true if it was written.
    #[cfg(test)]
    pub fn drain_bytes(&self) -> std::collections::BTreeSet<(u64, bool)> {
        let mut list = Vec::new();
        self.drain(&mut list);
        let bytes = |access: &Access| access.address..access.address + u64::from(access.bytes);
        list.iter().flat_map(|access| bytes(access).map(|byte| (byte, access.write))).collect()
    }

    /// Takes back the memory of a drained list, for the next accesses.
    pub fn reuse(&self, list: Vec<Access>) {
        let mut own = self.list.borrow_mut();
        if own.is_empty() {
            *own = list;
            own.clear();
        }
    }

    /// Removes the accesses to shared local memory since the last call, in order.
    pub fn take_local(&self) -> Vec<LocalAccess> {
        self.local.take()
    }

    /// Records an access that bounds cut off.
    #[cold]
    pub fn add_outside(&self, outside: Outside) {
        self.outside.borrow_mut().push(outside);
    }

    /// Forgets recorded accesses of channels that are not in the mask and that bounds cut off.
    #[cold]
    pub fn keep_outside(&self, mask: u32) {
        self.outside.borrow_mut().retain(|outside| mask >> (outside.channel & 31) & 1 == 1);
    }

    /// Removes the accesses since the last call that bounds cut off, in order.
    pub fn take_outside(&self) -> Vec<Outside> {
        self.outside.take()
    }

    /// Records an access to `length` bytes of shared local memory from `offset` on.
    #[cold]
    #[inline(never)]
    pub fn add_local(&self, offset: u64, length: usize, write: bool) {
        let bytes = length as u32;
        let mut list = self.local.borrow_mut();
        match list.last_mut() {
            Some(last) if last.write == write && last.offset + u64::from(last.bytes) == offset => {
                last.bytes += bytes;
            }
            _ => list.push(LocalAccess { offset, bytes, write }),
        }
    }

    /// Records an access to `length` bytes from `address` on, up to the end of the page.
    #[cold]
    #[inline(never)]
    pub(super) fn add(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        slot: Slot,
        address: u64,
        length: usize,
        write: bool,
    ) {
        let (address, within) = (address & ADDRESS_MASK, address % PAGE);
        let bytes = length.min((PAGE - within) as usize) as u32;
        if self.paused.get() || bytes == 0 {
            return;
        }
        let client = self.client.get();
        let new = New { address, bytes, client, write };
        if self.lines.repeats(slot, &new) {
            return;
        }
        let mut list = self.list.borrow_mut();
        let frame = match self.page(mem, space, slot, address) {
            Some(page) => {
                if self.lines.access(page, slot, new, &mut list) == Answer::Keep {
                    return;
                }
                self.lines.frame(page)
            }
            None => match space.mapping(mem, address) {
                Ok(mapping) => mapping.physical / PAGE,
                Err(_) => return,
            },
        };
        let physical = frame * PAGE + within;
        Access { address, physical, bytes, write, client }.append(&mut list);
    }

    /// Records reads of `bytes` bytes at each of `offsets` from `base`, the address of a page.
    /// None of them crosses a line.
    #[cold]
    #[inline(never)]
    pub(super) fn add_elements(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        base: u64,
        offsets: &[u32],
        bytes: usize,
    ) {
        if self.paused.get() {
            return;
        }
        let page_of = |offset: u32| u64::from(offset) / PAGE;
        let client = self.client.get();
        for run in offsets.chunk_by(|a, b| page_of(*a) == page_of(*b)) {
            let address = base.wrapping_add(run[0].into()) & ADDRESS_MASK;
            let Ok(slot) = space.read(mem, address) else { continue };
            let page = self.page(mem, space, slot, address);
            let line = |offset: &u32| 1 << (u64::from(*offset) % PAGE / LINE);
            let span = run.iter().fold(0, |span, offset| span | line(offset));
            if page.is_some_and(|page| self.lines.read(page, client, address, span)) {
                continue;
            }
            for offset in run {
                let address = base.wrapping_add((*offset).into());
                self.add(mem, space, slot, address, bytes, false);
            }
        }
    }

    /// A bit for each line of the page of `address`: set if reads of the line by the current client
    /// are left out. The page is in `slot`.
    #[cold]
    #[inline(never)]
    pub(super) fn harmless(
        &self,
        mem: &Memory,
        space: &AddressSpace,
        slot: Slot,
        address: u64,
    ) -> u64 {
        let page = self.page(mem, space, slot, address & ADDRESS_MASK);
        page.map_or(0, |page| self.lines.harmless(page, self.client.get()))
    }

    /// The page in `slot`, to which the translation of `address` leads. `None` if the slot does not
    /// belong to one frame.
    #[inline]
    fn page(&self, mem: &Memory, space: &AddressSpace, slot: Slot, address: u64) -> Option<Index> {
        if let Some(page) = self.lines.find(slot) {
            return Some(page);
        }
        let frame = space.mapping(mem, address).ok()?.physical / PAGE;
        // A remembered translation can differ from the page tables. Then this is not the frame of
        // the slot.
        if slot == Slot::UNTOUCHED || mem.slot(frame) != Some(slot) {
            return None;
        }
        self.lines.add(slot, frame);
        self.lines.find(slot)
    }
}

/// Counts accesses as those of a client until this value is dropped. Then the previous client
/// applies again.
#[derive(Debug)]
#[must_use = "the client changes back when this value is dropped"]
pub struct Acting<'a>(Option<Before<'a>>);

#[derive(Debug)]
struct Before<'a> {
    log: &'a AccessLog,
    client: Client,
    paused: bool,
}

impl<'a> Acting<'a> {
    /// The author of accesses becomes `client`, if there is a log.
    #[inline(always)]
    pub(super) fn new(log: Option<&'a AccessLog>, client: Client) -> Acting<'a> {
        Acting(log.map(|log| Before {
            log,
            client: log.client.replace(client),
            paused: log.paused.get(),
        }))
    }

    /// Nothing is recorded, if there is a log.
    #[inline(always)]
    pub(super) fn unrecorded(log: Option<&'a AccessLog>) -> Acting<'a> {
        Acting(log.map(|log| Before {
            log,
            client: log.client.get(),
            paused: log.paused.replace(true),
        }))
    }
}

impl Drop for Acting<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(Before { log, client, paused }) = self.0.take() {
            log.client.set(client);
            log.paused.set(paused);
        }
    }
}
