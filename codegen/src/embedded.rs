//! The project's own specifications, inside the program: path and text of each file, including the
//! index, for [`crate::load_texts`].

/// The specification of Broadwell.
pub const GEN8: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/gen8.rs"));
/// The specification of G45.
pub const GEN45: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/gen45.rs"));
