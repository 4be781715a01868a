//! The project's own specification, inside the program.

/// Path and text of each file of Broadwell's specification, including its index, for
/// [`crate::load_texts`].
pub const GEN8: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
