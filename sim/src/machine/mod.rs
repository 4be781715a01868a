//! The machine that units work on: registers, latched packets, the device, events and faults. It
//! depends on no unit.
//!
//! * [`exec`]: the parts of the machine that a unit uses while it executes a packet;
//! * [`state`]: the state of a context that packets set; [`latched`]: the newest packet of each
//!   type; [`slots`]: state that units own;
//! * [`registers`]: which registers exist and how they are written; [`device`]: registers of the
//!   GPU, interrupts, errors;
//! * [`memory`]: operands of commands in memory; [`mod@wait`], [`semaphore`]: waits for a dword in
//!   memory;
//! * [`stats`]: counts; [`observation`]: counters of performance reports; [`events`]: events and
//!   their observers; [`view`]: what observers can read; [`drawing`], [`blitting`], [`coded`],
//!   [`watched`], [`origins`]: the data in events of draws, of blits, of decoded pictures, of a
//!   watched pixel, and of vertices and primitives;
//! * [`fault`]: everything that ends a submission early; [`place`]: where it was;
//!   [`watchdog`]: the limit of work;
//! * [`parallel`]: work on several host threads with the same result as on one; [`overlay_pool`]:
//!   host memory that `parallel` reuses; [`host_threads`]: the host threads.

pub mod blitting;
pub mod coded;
pub mod device;
pub mod drawing;
pub mod events;
pub mod exec;
pub mod fault;
pub mod host_threads;
pub mod latched;
pub mod memory;
pub mod observation;
pub mod origins;
pub mod overlay_pool;
pub mod parallel;
pub mod place;
pub mod registers;
pub mod semaphore;
pub mod slots;
pub mod state;
pub mod stats;
pub mod view;
pub mod wait;
pub mod watchdog;
pub mod watched;

pub use exec::{Exec, Mode};
pub use state::State;
