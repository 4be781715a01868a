//! The sanitizers of the model.
//!
//! * [`accesses`]: the accesses that an observer gets;
//! * [`pairs`]: a write through one cache and a read through another, with and without the flush;
//! * [`mutants`]: captures of drivers without one of their flushes; [`oracle`]: real caches.

mod accesses;
mod mutants;
mod oracle;
mod pairs;
