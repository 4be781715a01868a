//! The sanitizers of the model.
//!
//! * [`accesses`]: the accesses that an observer gets;
//! * [`pairs`]: a write through one cache and a read through another, with and without the flush;
//! * [`races`]: kernels with races, and the same kernels with the right order; [`kernels`]: their
//!   assembly;
//! * [`bounds`]: kernels with accesses beyond bounds, and the same kernels inside;
//! * [`uninit`]: kernels that use what was not written, and kernels that write it first;
//! * [`state`]: draws without a packet that they use, stale pointers, reserved values;
//! * [`stale`]: draws that read a buffer whose memory was replaced since its packet;
//! * [`captures`]: what these find in captures of drivers;
//! * [`mutants`]: captures of drivers without one of their flushes; [`oracle`]: real caches;
//! * [`state_mutants`]: captures of drivers without one of their state packets.

mod accesses;
mod bounds;
mod captures;
mod kernels;
mod mutants;
mod oracle;
mod pairs;
mod races;
mod stale;
mod state;
mod state_mutants;
mod uninit;
