//! The text of specifications and of rule files: XML elements with positions, and conditions.
//!
//! The code generator reads the specification with this crate when the project is built. The
//! library `genxml` reads rules with it at run time. So both accept the same language.
//!
//! * [`number`](mod@number): numbers
//! * [`suggest`]: corrections of names
//! * [`xml`]: elements and attributes with their positions
//! * [`condition`]: conditions of fields, rules and views
//! * [`terms`]: words of conditions, also for the generated tables
//!
//! The feature `text` has everything except `terms`, which needs no `std`.
//!
//! The schema and the grammar of conditions are documented in `spec-xml/SCHEMA.md`.

#![cfg_attr(not(feature = "text"), no_std)]

#[cfg(feature = "text")]
pub mod condition;
#[cfg(feature = "text")]
pub mod number;
#[cfg(feature = "text")]
pub mod suggest;
pub mod terms;
#[cfg(feature = "text")]
pub mod xml;
