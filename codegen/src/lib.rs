//! From genxml files to a checked model to Rust text.
//!
//! Reading order, lowest layer first. A module uses only modules of earlier lines:
//!
//! * `source`, `number`, [`suggest`]: files and places in them, numbers, corrections of names
//! * [`diagnostic`], `xml`: problems with their places, and elements with their places
//! * [`model`]: the specification as data
//! * `words`, `value`, [`expr`]: what attributes say, as data and back as text
//! * `convert`, [`check`], [`list`](mod@list), [`index`], [`show`](mod@show), [`emit`]: elements to
//!   the model, its checks, and what is made of it: tables for people, Rust
//! * [`load`]: files to a model, with everything that is wrong
//! * `generate`, [`parts`]: what build scripts call
//!
//! Only [`load`] and `generate` read or write files. All problems are collected and reported
//! together. The schema is documented in `spec-xml/SCHEMA.md`.

pub mod check;
mod convert;
pub mod diagnostic;
mod embedded;
pub mod emit;
pub mod expr;
mod generate;
pub mod index;
pub mod list;
pub mod load;
pub mod model;
mod number;
pub mod parts;
pub mod show;
mod source;
pub mod suggest;
mod value;
mod words;
mod xml;

pub use diagnostic::{Diagnostic, Report};
pub use embedded::GEN8;
pub use generate::{build, write};
pub use list::list;
pub use load::{load_dir, load_files, load_texts};
pub use show::{show, show_colored};
