//! IT mode: MFD_IT_OBJECT, whose macroblocks an application has decoded.
//!
//! * `captures`: MPEG-2 captures whose slices become macroblocks;
//! * `host`: the application: a parsed macroblock becomes a packet with its coefficients;
//! * `packets`: small pictures of typed packets, and faults;
//! * `mutations`: batches with random changes.

mod captures;
mod host;
mod mutations;
mod packets;
