//! Records each access to memory, for observers that check the order of accesses.
//!
//! Usually nothing is recorded. If an observer wants accesses, the [`Vm`](super::Vm) of the
//! submission has an [`AccessLog`]. Every read and write of a unit adds an [`Access`] to it. Units
//! say what kind of access they make with [`Vm::client`](super::Vm::client); until then, an access
//! counts as one of the command streamer.

use super::frames::Slot;
use super::outside::Outside;
use super::physical::Memory;
use super::space::AddressSpace;
use super::{ADDRESS_MASK, PAGE};
use std::cell::{Cell, RefCell};

/// The hardware client that makes an access: it decides through which caches the access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Default)]
pub enum Client {
    /// A command streamer: packets, operands of MI commands, post-sync operations, push constants,
    /// CURBE and indirect data, page table entries written by commands.
    #[default]
    CommandStreamer,
    /// Vertex fetch: vertex and index buffers.
    Vertices,
    /// Stream output.
    StreamOut,
    /// State objects: binding tables, surface and sampler states, descriptors, viewports.
    State,
    /// Instructions of kernels.
    Instructions,
    /// The data port, through the data cache.
    Data,
    /// The data port, through the constant cache.
    Constants,
    /// The sampler, and the data port through the sampler cache.
    Sampler,
    /// Render targets, with their auxiliary surfaces.
    RenderTarget,
    /// Depth, hierarchical depth and stencil buffers.
    Depth,
    /// Sources and destinations of blits.
    Blitter,
    /// The video engine: bitstreams, pictures and buffers.
    Video,
    /// The video enhancement engine: pictures and statistics.
    VideoEnhance,
}

impl Client {
    /// All clients, in the order of declaration.
    pub const ALL: [Client; 13] = [
        Client::CommandStreamer,
        Client::Vertices,
        Client::StreamOut,
        Client::State,
        Client::Instructions,
        Client::Data,
        Client::Constants,
        Client::Sampler,
        Client::RenderTarget,
        Client::Depth,
        Client::Blitter,
        Client::Video,
        Client::VideoEnhance,
    ];

    /// What the accesses of the client are about, in words: `"render target"`.
    pub const fn name(self) -> &'static str {
        match self {
            Client::CommandStreamer => "command streamer",
            Client::Vertices => "vertex fetch",
            Client::StreamOut => "stream output",
            Client::State => "state",
            Client::Instructions => "instruction fetch",
            Client::Data => "data port",
            Client::Constants => "constant cache",
            Client::Sampler => "sampler",
            Client::RenderTarget => "render target",
            Client::Depth => "depth and stencil",
            Client::Blitter => "blitter",
            Client::Video => "video",
            Client::VideoEnhance => "video enhancement",
        }
    }
}

/// An access to a run of bytes. Neighbouring accesses of one client may be joined to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Graphics address of the first byte.
    pub address: u64,
    /// Physical address of the first byte. The bytes are contiguous there too.
    pub physical: u64,
    /// Number of bytes, at least 1.
    pub bytes: u32,
    /// True for a write. An atomic operation is a read and a write.
    pub write: bool,
    /// The client.
    pub client: Client,
}

/// An access of a thread to the shared local memory of its group. Neighbouring accesses of one
/// message may be joined to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalAccess {
    /// Offset of the first byte in the shared local memory.
    pub offset: u64,
    /// Number of bytes, at least 1.
    pub bytes: u32,
    /// True for a write. An atomic operation is a read and a write.
    pub write: bool,
}

/// Number of frames whose numbers a log caches.
const FRAMES: usize = 256;

/// The accesses since the log was last [drained](AccessLog::drain), in order.
#[derive(Debug)]
pub struct AccessLog {
    client: Cell<Client>,
    /// True while nothing is recorded, because the accesses are those of an observer.
    paused: Cell<bool>,
    list: RefCell<Vec<Access>>,
    local: RefCell<Vec<LocalAccess>>,
    outside: RefCell<Vec<Outside>>,
    /// Frames by slot: the inverse of what page walks and memory give.
    frames: Box<[Cell<(Slot, u64)>; FRAMES]>,
}

impl Default for AccessLog {
    fn default() -> AccessLog {
        AccessLog {
            client: Cell::default(),
            paused: Cell::new(false),
            list: RefCell::default(),
            local: RefCell::default(),
            outside: RefCell::default(),
            frames: Box::new([const { Cell::new((Slot::NOWHERE, 0)) }; FRAMES]),
        }
    }
}

impl AccessLog {
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
        let Some(frame) = self.frame(mem, space, slot, address) else { return };
        let (physical, client) = (frame * PAGE + within, self.client.get());
        let mut list = self.list.borrow_mut();
        if let Some(last) = list.last_mut()
            && (last.client, last.write) == (client, write)
            && last.address.checked_add(last.bytes.into()) == Some(address)
            && last.physical + u64::from(last.bytes) == physical
            && let Some(sum) = last.bytes.checked_add(bytes)
        {
            last.bytes = sum;
            return;
        }
        list.push(Access { address, physical, bytes, write, client });
    }

    /// The number of the frame in `slot`, to which the translation of `address` leads.
    fn frame(&self, mem: &Memory, space: &AddressSpace, slot: Slot, address: u64) -> Option<u64> {
        let cached = &self.frames[(slot.page ^ slot.block << 4) as usize % FRAMES];
        let (of, frame) = cached.get();
        if of == slot && slot != Slot::UNTOUCHED {
            return Some(frame);
        }
        let frame = space.mapping(mem, address).ok()?.physical / PAGE;
        // A remembered translation can differ from the page tables. Then this is not the frame of
        // the slot.
        if mem.slot(frame) == Some(slot) {
            cached.set((slot, frame));
        }
        Some(frame)
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
