//! A reference model of the Broadwell (Gen8) GPU: give it memory and a batch buffer, get the memory
//! that hardware would leave behind.
//!
//! The journey of a batch:
//! 1. [`gpu`]: [`Gpu::submit`] puts a batch of a [`Context`] on an engine; or a kernel driver fills
//!    rings and context images and writes registers ([`cs::mmio`]);
//! 2. [`mem`]: every address goes through the context's page tables to a frame of physical memory;
//! 3. [`cs`]: engines take turns; their command streamers turn dwords into generated packets, one
//!    by one;
//! 4. [`context`]: state packets are latched as they are, registers written;
//! 5. [`blt`]: the blitter's packets move pixels, [`surface`] knows where a pixel lies in a tiled
//!    surface;
//! 6. [`media`]: walkers and media objects become threads with their payload;
//! 7. [`render`]: draws become vertices, primitives and pixels;
//! 8. [`eu`]: threads execute kernels, instruction by instruction;
//! 9. [`mod@unit`]: what a thread sends goes to a shared function: data port, thread spawner;
//! 10. [`observe`]: each step counts in [`Stats`] and tells the [`Observer`]; [`watchdog`] ends
//!     what would not end;
//! 11. [`fault`]: whatever cannot be done comes back as a [`Fault`] that names the packet, its
//!     address and the cause;
//!     [`error_state`] makes of it what a kernel's driver would tell.
//!
//! What the manual leaves open is decided in one place: [`assumptions`]. [`replay`] runs captures
//! of real drivers, [`aub`] files for simulators.

pub mod assumptions;
pub mod aub;
pub mod blt;
pub mod cs;
pub mod error_state;
pub mod eu;
pub mod gpu;
pub mod inspect;
pub mod machine;
pub mod media;
pub mod mem;
pub mod pixel;
pub mod render;
pub mod replay;
pub mod surface;
#[cfg(test)]
mod testing;
pub mod unit;

pub use genxml::engine::EngineId;
pub use gpu::context::Context;
pub use gpu::{ContextId, Gpu};
pub use machine::events::{Event, Now, Observer, Stats};
pub use machine::fault::{Fault, InKernel, Place};
pub use machine::watchdog::Budget;
pub use machine::{Exec, State};
pub use mem::{Memory, Vm};
