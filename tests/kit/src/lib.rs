//! What the tests of several crates share.
//!
//! * [`Random`]: random numbers from a fixed seed
//! * [`corpus`]: the folder of real captures and kernels
//! * [`packet`]: packets as dwords, numbers and addresses for their fields
//! * [`text`]: bytes and text of test data
//! * [`aub`]: AUB files, written dword by dword
//! * `instructions` (feature `eu`): everything that can be done with the bytes of an instruction
//! * `draws`, `readers` (feature `runtime`): a long batch; everything that reads a file or a batch

pub mod aub;
pub mod corpus;
#[cfg(feature = "runtime")]
pub mod draws;
#[cfg(feature = "eu")]
pub mod instructions;
pub mod packet;
mod random;
#[cfg(feature = "runtime")]
pub mod readers;
pub mod text;

pub use random::Random;
