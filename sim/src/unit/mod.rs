//! Shared functions: the units that receive the messages of threads.
//!
//! A [`Port`] connects one thread with these units. It refers to memory, to the surfaces of the
//! thread's binding table, and to the state that concurrent threads share. [`dispatch`] hands each
//! message to its unit: [`sampler`], [`dataport`], `render_cache`, [`urb`], [`gateway`],
//! [`spawner`], [`pixel_interpolator`], [`vme`]. No unit depends on the stage that started the
//! thread.
//!
//! The [`resource_streamer`] gets packets instead of messages. It makes binding tables and
//! constants for threads.

pub mod atomic;
pub mod bindings;
pub mod by_index;
pub mod dataport;
pub mod dispatch;
pub mod gateway;
pub mod local;
pub mod payload;
pub mod pixel_interpolator;
pub mod pixels;
pub mod port;
pub mod program;
pub mod render_cache;
pub mod resource_streamer;
pub mod sampler;
pub mod slots;
pub mod spawner;
pub mod stage;
pub mod urb;
mod view;
pub mod vme;

#[cfg(test)]
mod tests;

pub use bindings::{Bindings, Bound};
pub use local::Local;
pub use port::Port;
pub use program::Program;
pub use sampler::Samplers;
