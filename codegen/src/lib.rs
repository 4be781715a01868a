//! Loads genxml files to a model, checks the model, and generates Rust text from it.
//!
//! Reading order, lowest layer first. A module uses only modules of earlier lines:
//!
//! * `source`: files and positions in them
//! * [`diagnostic`], `xml`: problems and elements, with their positions
//! * [`model`]: the specification as data
//! * `words`, `value`, [`expr`]: parsers and formatters for the values of attributes
//! * `convert`, [`check`]: from elements to the model, and the checks of the model
//! * [`list`](mod@list), [`index`], [`show`](mod@show), [`emit`]: the outputs: lists, the index,
//!   tables for people, and Rust
//! * [`load`]: from files to a model and all its problems
//! * `generate`, [`parts`]: entry points for build scripts
//!
//! Only [`load`] and `generate` read or write files. All problems are collected and reported
//! together. The schema is documented in `spec-xml/SCHEMA.md`.

pub mod bases;
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
pub mod parts;
pub mod show;
mod source;
mod value;
mod words;
mod xml;

pub use diagnostic::{Diagnostic, Report};
pub use embedded::{GEN8, GEN45};
pub use generate::{build, write};
pub use genxml_syntax::suggest;
pub use list::list;
pub use load::{load_dir, load_files, load_texts};
pub use show::{show, show_colored};
