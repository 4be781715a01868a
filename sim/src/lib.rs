//! A reference model of the Broadwell (Gen8) GPU. It takes memory and a batch buffer, and leaves in
//! memory what hardware would write.
//!
//! The journey of a batch:
//! 1. [`gpu`]: [`Gpu::submit`] submits a batch of a [`Context`] to an engine. A kernel driver can
//!    instead fill rings and context images and write registers ([`gpu::mmio`]).
//! 2. [`gpu::schedule`]: the engines take turns.
//! 3. [`mem`]: every address goes through the page tables of the context to physical memory.
//! 4. [`cs`]: the command streamer of an engine fetches packets and executes them, one by one.
//! 5. [`machine`]: state packets are latched; registers are written; each step is counted
//!    in [`Stats`] and reported to an [`Observer`].
//! 6. [`blt`]: packets of the blitter copy and fill pixels; [`surface`] computes their addresses.
//! 7. [`media`]: walkers and media objects become threads with their payload.
//! 8. [`render`]: draws become vertices, primitives and pixels; [`pixel`] rasterises.
//! 9. [`eu`]: threads execute kernels; [`mod@unit`]: their messages go to shared functions such as
//!    the sampler and the data port.
//! 10. [`machine::fault`]: what cannot be executed ends the submission with a [`Fault`] that names
//!     the packet, its address and the cause. [`machine::watchdog`] ends endless work.
//!
//! The modules form layers. This list starts with the lowest layer; a module uses only modules of
//! its own layer and of earlier lines:
//! * [`mem`]: memory and page tables; [`surface`]: formats, tiling and layout; [`assumptions`]:
//!   choices where the manual is silent;
//! * [`machine`]: registers, latched state, events, faults;
//! * [`eu`]: threads and instructions;
//! * [`pixel`]: raster and interpolation;
//! * [`mod@unit`]: shared functions;
//! * [`blt`]: the blitter; [`media`]: dispatch of threads; [`render`]: the 3D pipeline; [`video`]:
//!   the video decoder; [`vebox`]: video enhancement;
//! * [`cs`]: command streamers;
//! * `gen45`: the G45, with the feature of this name;
//! * [`inspect`]: summaries, pictures, tables and traces for tools;
//! * [`gpu`]: engines, contexts and submission.
//!
//! On top of them, with the feature `dumps`, `replay` runs captures of real drivers, `aub` runs AUB
//! files, `pixel_history` runs both to find everything that wrote a pixel, `value_slice` to find
//! where a value comes from, `bisect` runs two of them to find where they part, `debugger` runs both
//! step by step, `runs` runs one of them many times, and `error_state` turns a fault into the error
//! state that the kernel would report.
//!
//! # Features
//!
//! `dumps` and `fast` are on by default. Without them, a first build takes less time.
//!
//! * `dumps`: the modules `replay`, `aub`, `pixel_history`, `value_slice`, `bisect`, `debugger`,
//!   `runs`, `error_state`, `inspect::bisect`, `inspect::frame` and `inspect::picture`, and the
//!   feature `std` of `genxml`, which has the decoder.
//! * `fast`: the fast path for the most frequent instructions of the execution units
//!   ([`eu::fast`]), and machine code for kernels that run for long. Both run several times as
//!   fast. Results are the same without them. The environment variable `GENX_EU` can turn the
//!   machine code off, or compare it with the fast path: [`eu::compile::Strategy`].
//! * `gen45`: a [`Gpu`] can also be a G45 ([`gpu::Generation`]), a machine of the generation 4.5.

pub mod assumptions;
#[cfg(feature = "dumps")]
pub mod aub;
#[cfg(feature = "dumps")]
pub mod bisect;
pub mod blt;
pub mod cs;
#[cfg(feature = "dumps")]
pub mod debugger;
#[cfg(feature = "dumps")]
pub mod error_state;
pub mod eu;
#[cfg(feature = "gen45")]
pub mod gen45;
pub mod gpu;
pub mod inspect;
pub mod machine;
pub mod media;
pub mod mem;
pub mod pixel;
#[cfg(feature = "dumps")]
pub mod pixel_history;
pub mod render;
#[cfg(feature = "dumps")]
pub mod replay;
#[cfg(feature = "dumps")]
pub mod runs;
pub mod surface;
pub mod unit;
#[cfg(feature = "dumps")]
pub mod value_slice;
pub mod vebox;
pub mod video;

pub use genxml::engine::EngineId;
pub use gpu::context::Context;
pub use gpu::{ContextId, Gpu};
pub use machine::events::{Event, Now, Observer};
pub use machine::fault::{Fault, InKernel, Place};
pub use machine::stats::Stats;
pub use machine::watchdog::Budget;
pub use machine::{Exec, State};
pub use mem::{Memory, Vm};
