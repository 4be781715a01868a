//! A value in a self-describing data format, such as JSON.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde_core::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value of JSON or a similar format. A map keeps the order of its names.
#[derive(Clone, PartialEq, Debug)]
pub enum Tree {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// Named values.
    Map(Vec<(String, Tree)>),
}

/// Formats for messages: plain values in full, a list by its length, a map without its content.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Null => f.write_str("null"),
            Tree::Bool(value) => value.fmt(f),
            Tree::Integer(value) => value.fmt(f),
            Tree::Float(value) => fmt::Debug::fmt(value, f),
            Tree::Text(value) => write!(f, "{value:?}"),
            Tree::List(values) => write!(f, "a list of {}", values.len()),
            Tree::Map(_) => f.write_str("a map"),
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyTree)
    }
}

struct AnyTree;

impl<'de> Visitor<'de> for AnyTree {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields by name")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut out = Vec::new();
        while let Some(value) = list.next_element()? {
            out.push(value);
        }
        Ok(Tree::List(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut out = Vec::new();
        while let Some(entry) = map.next_entry()? {
            out.push(entry);
        }
        Ok(Tree::Map(out))
    }
}
