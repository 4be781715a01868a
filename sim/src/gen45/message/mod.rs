//! Shared functions of G45: the receivers of the messages of threads (003 chapters 4 to 8).
//!
//! A [`Port`] connects one thread with them. It refers to memory, to the surfaces of the thread's
//! binding table ([`Bindings`]), and to what the thread produces ([`Local`]). [`dispatch`] hands
//! each message to its unit: [`math`], [`sampler`], [`dataport`], [`target`] (render target
//! writes), [`urb`], [`gateway`], [`spawner`]. The unified return buffer itself is
//! [`crate::gen45::urb`].

pub mod bindings;
pub mod dataport;
pub mod dispatch;
pub mod gateway;
pub mod local;
pub mod math;
pub mod payload;
pub mod port;
pub mod sampler;
pub mod spawner;
pub mod surface;
pub mod target;
pub mod urb;
pub mod write;

pub use bindings::Bindings;
pub use local::Local;
pub use port::Port;
pub use write::Write;
