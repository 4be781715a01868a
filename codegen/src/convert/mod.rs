//! Converts XML elements to the model.
//!
//! Reading order: `attribute` (attributes of an element), `enumeration` (enumerations and engines),
//! `converter` (what the conversion of a container reads and writes), `field`, `container`,
//! `condition` (conditions that are parsed later).

mod attribute;
mod condition;
mod container;
mod converter;
mod enumeration;
mod field;

pub(crate) use attribute::{no_text, required, unknown_element, words};
pub(crate) use converter::{Converter, Names};
pub(crate) use enumeration::{engine, named_enum};
