//! The G45 (Gen4.5): what differs from Gen8. Memory, budgets, events, registers and the scheduler
//! are those of Gen8.
//!
//! * [`commands`]: finds a packet and executes it with the function that is listed for it;
//!   [`state`]: what packets set for later packets;
//! * [`mi`]: commands of the streamer itself; [`control`]: PIPE_CONTROL, bases and other commands
//!   of both pipelines; [`blit`]: 2D commands, which the render engine executes;
//! * [`urb`]: the unified return buffer and the constants in it;
//! * [`message`]: the shared functions, which receive the messages of threads;
//! * [`modes`]: the modes that threads start with;
//! * [`mod@pipeline`]: draws, from 3DPRIMITIVE to pixels;
//! * [`media`]: the media pipeline, from MEDIA_OBJECT to threads;
//! * [`debug`]: snapshots, breakpoints and other debug functions of all of them.
//!
//! The G45 has one address space for all contexts, the global table, and no blitter engine.

pub mod blit;
pub mod commands;
pub mod control;
pub mod debug;
pub mod media;
pub mod message;
pub mod mi;
pub mod modes;
pub mod pipeline;
pub mod state;
pub mod urb;
