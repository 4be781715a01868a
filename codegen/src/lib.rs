//! From genxml files to a checked model to Rust text.
//!
//! Reading order: [`load`] makes a [`model::Spec`] of XML, [`check`] proves it, `emit` writes Rust. Problems are
//! [`diagnostic::Diagnostic`]s, collected and shown all at once. Nothing here touches files but the functions of this
//! page and of [`load`].

pub mod check;
mod convert;
pub mod diagnostic;
pub mod expr;
mod field;
pub mod load;
pub mod model;
pub mod suggest;
mod value;
mod xml;

pub use check::check;
pub use diagnostic::{Diagnostic, Report};
pub use load::{load_dir, load_files, load_texts};
