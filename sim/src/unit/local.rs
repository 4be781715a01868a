//! What the threads that run side by side share and tell each other.

use super::pixel_interpolator::Pixels;
use super::render_cache::{Dispatched, Write};
use genxml::eu::gen8::eu_registers::StateRegister;
use genxml_core::U;

/// Shared local memory and barrier of the group whose thread runs, and the messages between
/// threads.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// Shared local memory, as many bytes as the interface descriptor asks for.
    pub slm: Vec<u8>,
    /// The group's barrier, if the interface descriptor asks for one.
    pub barrier: Option<Barrier>,
    /// The thread that runs, by its number among those that run side by side.
    pub sender: u32,
    /// The numbers of those that run side by side.
    pub present: Vec<u32>,
    /// What was sent to threads and has not arrived.
    pub mail: Vec<Mail>,
    /// Threads whose registers others may write.
    pub gateways: Vec<Gateway>,
    /// True for media threads, which may spawn others.
    pub spawns: bool,
    /// What the thread spawner was asked for.
    pub requests: Vec<Request>,
    /// What was dispatched, for threads of pixel shaders.
    pub dispatched: Option<Dispatched>,
    /// What is interpolated over its pixels.
    pub pixels: Option<Pixels>,
    /// Channels that may write memory, if others run beside them: the unlit pixels of lit subspans.
    pub lit: Option<u32>,
    /// Messages to render targets.
    pub writes: Vec<Write>,
}

/// A barrier: threads report, and when all have, each is notified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// Its number, which threads find in `r0.2`.
    pub id: u8,
    /// Threads of the group, which have to report.
    pub threads: u32,
    /// Those that have.
    pub arrived: Vec<u32>,
}

/// What a thread receives without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The thread's number.
    pub to: u32,
    /// Bytes for its registers.
    pub data: Option<Segment>,
    /// Subregister of `n0` that counts up.
    pub notify: Option<u8>,
}

/// Bytes for the general registers of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where the first goes, from `r0` on.
    pub offset: usize,
    /// The bytes.
    pub bytes: [u8; 16],
    /// How many of them count: 1, 4, 8 or 16.
    pub length: usize,
}

/// Registers of a thread that others may write (G45 vol 4, 7.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// The thread's number.
    pub thread: u32,
    /// What others have to know.
    pub key: u16,
    /// First register.
    pub base: usize,
    /// How many registers.
    pub size: usize,
}

/// What a thread asks of the thread spawner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A child thread, with the payload of the message.
    Child([u32; 8]),
    /// The next of the root threads that wait for this.
    Root,
    /// The thread's URB entry is not needed any more.
    Release,
}

/// `sr0` of thread `number`, as far as it says where the thread is: seven threads an execution
/// unit, the units of a half-slice one after the other. No two of 224 numbers in a row share
/// half-slice, unit and slot.
pub fn place(number: u32) -> StateRegister {
    StateRegister {
        thread_identifier: U::from_bits((number % 7).into()),
        execution_unit_identifier: U::from_bits((number / 7 % 16).into()),
        half_slice_identifier: U::from_bits((number / 112 % 2).into()),
        ..StateRegister::new()
    }
}

/// Threads that can be there at once without two of them having the same [`place`].
pub const PLACES: u32 = 224;

/// The same as threads write it into messages: the low word of `sr0.0`.
pub fn address(number: u32) -> u16 {
    place(number).pack()[0] as u16
}
