//! Packets as JSON of named fields, and back (feature `serde`).
//!
//! ```
//! use genxml::gen8::mi::PipeControl;
//! use genxml::json;
//!
//! // Any generated type is Serialize, and Deserialize if it has no variable tail.
//! let flush = PipeControl { dc_flush_enable: true, ..Default::default() };
//! let text = serde_json::to_string(&flush)?;
//! assert!(text.contains(r#""DC Flush Enable":true"#));
//! assert_eq!(serde_json::from_str::<PipeControl>(&text)?, flush);
//!
//! // By name: omitted fields get their defaults, and errors are reported.
//! let fields = serde_json::json!({ "DC Flush Enable": true, "Post Sync Operation": "Write Timestamp", "Address": "0x1000" });
//! let dwords = json::from_json("PIPE_CONTROL", &fields)?;
//! assert_eq!(dwords, [0x7a00_0004, 0xc020, 0x1000, 0, 0, 0]);
//! let error = json::from_json("PIPE_CONTROL", &serde_json::json!({ "DC Flush Enabel": true })).unwrap_err();
//! assert_eq!(error.to_string(), "PIPE_CONTROL has no field `DC Flush Enabel`; did you mean `DC Flush Enable`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`serial`](genxml_core::serial) documents how each kind of field is written. [`Named`] is a
//! packet of any kind that owns its dwords: `{"PIPE_CONTROL": {...}}`.

use crate::decode::Tables;
use genxml_core::reflect::Container;
use genxml_core::serial::{BuildError, FieldMap, Reason, Tree, build, nearest};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Why JSON cannot be read as a container.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum JsonError {
    /// No container has this name.
    #[error("no instruction, structure or register is called `{name}`{}", hint.map(|hint| format!("; did you mean `{hint}`?")).unwrap_or_default())]
    Unknown {
        /// The unknown name.
        name: String,
        /// A similar name that exists.
        hint: Option<&'static str>,
    },
    /// A field is unknown, missing, or has a wrong value.
    #[error(transparent)]
    Build(#[from] BuildError),
}

genxml_core::debug_as_display!(JsonError);

/// The container of Gen8 with this name.
fn container(name: &str) -> Result<&'static Container, JsonError> {
    Tables::gen8().container(name).ok_or_else(|| {
        let hint = nearest(name, crate::gen8::CONTAINERS.iter().map(|info| info.name));
        JsonError::Unknown { name: name.to_owned(), hint }
    })
}

/// Returns the fields of a container as JSON. `info` describes the container, `dwords` holds it.
pub fn to_json(info: &'static Container, dwords: &[u32]) -> Value {
    // This fails only if a key cannot be text. All keys here are names.
    serde_json::to_value(FieldMap::new(info, dwords)).unwrap_or(Value::Null)
}

/// The dwords of the container called `name` with these fields.
///
/// # Errors
/// A name that Gen8 does not have; the first field that is unknown, missing, or has a value that it
/// cannot hold.
pub fn from_json(name: &str, fields: &Value) -> Result<Vec<u32>, JsonError> {
    let info = container(name)?;
    Ok(build(info, &tree(info, fields)?)?)
}

fn tree(info: &'static Container, fields: &Value) -> Result<Tree, BuildError> {
    Tree::deserialize(fields).map_err(|error| BuildError {
        container: info.name,
        path: String::new(),
        reason: Reason::Kind { expected: "a map of fields", found: error.to_string() },
    })
}

/// A packet, structure or register of Gen8 with its dwords. Its JSON is `{"MI_NOOP": {...}}`; the
/// type's `unpack` reads the dwords.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The description of the packet, structure or register.
    pub container: &'static Container,
    /// The dwords of the packet, structure or register.
    pub dwords: Vec<u32>,
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.container.name, &FieldMap::new(self.container, &self.dwords))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tree = Tree::deserialize(deserializer)?;
        let Tree::Map(entries) = &tree else {
            return Err(D::Error::custom("a packet is written as {\"NAME\": {fields}}"));
        };
        let [(name, fields)] = &entries[..] else {
            return Err(D::Error::custom(
                "a packet is written as {\"NAME\": {fields}}, one name each",
            ));
        };
        let container = container(name).map_err(D::Error::custom)?;
        let dwords = build(container, fields).map_err(D::Error::custom)?;
        Ok(Named { container, dwords })
    }
}
