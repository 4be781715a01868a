//! From genxml files to a checked model to Rust text.
//!
//! Reading order: [`load`] makes a [`model::Spec`] of XML, [`check`] proves it, [`emit`] writes Rust. Problems are
//! [`diagnostic::Diagnostic`]s, collected and shown all at once. Nothing here touches files but the functions of this
//! page.

pub mod model;
