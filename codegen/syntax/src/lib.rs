//! The text of specifications and of rule files: XML elements with positions, and conditions.
//!
//! The code generator reads the specification with this crate when the project is built. The
//! library `genxml` reads rules with it at run time. So both accept the same language.
//!
//! * [`number`](mod@number): numbers
//! * [`suggest`]: corrections of names
//! * [`xml`]: elements and attributes with their positions
//! * [`condition`]: conditions of fields, rules and views
//!
//! The schema and the grammar of conditions are documented in `spec-xml/SCHEMA.md`.

pub mod condition;
pub mod number;
pub mod suggest;
pub mod xml;
