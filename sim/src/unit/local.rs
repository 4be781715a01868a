//! State that concurrent threads share, and the messages that they send to each other.

use super::pixels::Pixels;
use super::render_cache::{Dispatched, Writes};
use genxml::eu::gen8::eu_registers::StateRegister;
use genxml_core::U;

/// State of the group whose thread runs (shared local memory and barrier), messages between threads
/// that have not arrived yet, and pixels of a pixel shader thread.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// Shared local memory. The interface descriptor gives its size.
    pub slm: Vec<u8>,
    /// The group's barrier, if the interface descriptor enables one.
    pub barrier: Option<Barrier>,
    /// Number of the thread that runs now. It is the sender of the messages.
    pub sender: u32,
    /// Numbers of all threads that have started and not ended.
    pub present: Vec<u32>,
    /// Messages that were sent to threads and have not arrived yet.
    pub mail: Vec<Mail>,
    /// Gateways that threads have opened: registers that other threads may write.
    pub gateways: Vec<Gateway>,
    /// True for media threads, which may spawn others.
    pub spawns: bool,
    /// Requests to the thread spawner.
    pub requests: Vec<Request>,
    /// The dispatched pixels, if the thread runs a pixel shader.
    pub dispatched: Option<Dispatched>,
    /// Input of the pixel interpolator for the dispatched pixels.
    pub pixels: Option<Pixels>,
    /// Mask of the covered pixels. Only their channels may access memory through the data cache.
    /// `None` unless the thread also runs uncovered pixels of its subspans.
    pub covered: Option<u32>,
    /// Messages to render targets that have not been executed yet.
    pub writes: Writes,
}

/// The state that concurrent threads share, within what the threads of a generation share and
/// produce.
pub trait Shared: Default {
    /// The state that concurrent threads share.
    fn shared(&mut self) -> &mut Local;
}

impl Shared for Local {
    fn shared(&mut self) -> &mut Local {
        self
    }
}

/// A barrier of a thread group. Each thread reports when it arrives. When all threads have arrived,
/// each is notified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// Number of the barrier. Threads find it in `r0.2`.
    pub id: u8,
    /// How many threads must report.
    pub threads: u32,
    /// Numbers of the threads that have reported.
    pub arrived: Vec<u32>,
}

/// A message from the gateway to a thread: register contents, a notification, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Number of the thread that receives the message.
    pub to: u32,
    /// Bytes for the registers of this thread.
    pub data: Option<Segment>,
    /// Subregister of the receiver's `n0` that is incremented.
    pub notify: Option<u8>,
}

/// Bytes for the general registers of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Byte offset of the destination from the start of `r0`.
    pub offset: usize,
    /// The bytes. Only the first `length` are valid.
    pub bytes: [u8; 16],
    /// Number of valid bytes: 1, 4, 8 or 16.
    pub length: usize,
}

/// Registers of a thread that others may write (G45 vol 4, 7.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// Number of the thread that opened the gateway.
    pub thread: u32,
    /// Key that a sender must give.
    pub key: u16,
    /// First register that others may write.
    pub base: usize,
    /// Number of registers that others may write.
    pub size: usize,
}

/// A request from a thread to the thread spawner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Start a child thread with this payload.
    Child([u32; 8]),
    /// Start the next waiting root thread.
    Root,
    /// Free the URB entry of the thread that sends the request.
    Release,
}

/// The fields of `sr0` that give the position of thread `number`: half-slice, execution unit and
/// thread slot. An execution unit has 7 slots, a half-slice has 16 units. 224 consecutive numbers
/// have different positions.
pub fn place(number: u32) -> StateRegister {
    StateRegister {
        thread_identifier: U::from_bits((number % 7).into()),
        execution_unit_identifier: U::from_bits((number / 7 % 16).into()),
        half_slice_identifier: U::from_bits((number / 112 % 2).into()),
        ..StateRegister::new()
    }
}

/// Number of different values of [`place`].
pub const PLACES: u32 = 224;

/// Address of thread `number` in gateway messages: [`place`] as the low word of `sr0.0`.
pub fn address(number: u32) -> u16 {
    place(number).pack()[0] as u16
}
