//! Shared functions of G45: the receivers of the messages of threads (003 chapters 4 to 8).
//!
//! A [`Port`] connects one thread with them. It refers to memory, to the surfaces of the thread's
//! binding table ([`Bindings`]), and to what the thread produces ([`Local`]). The unified return
//! buffer is [`crate::gen45::urb`].

pub mod bindings;
pub mod local;
pub mod payload;
pub mod port;
pub mod target;

pub use bindings::Bindings;
pub use local::Local;
pub use port::Port;
