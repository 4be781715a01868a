//! The manifest's JSON as types, without checks beyond those of the JSON reader.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// The name of the only capture format.
pub(super) const FORMAT: &str = "genx-capture-1";

#[derive(Deserialize)]
pub(super) struct Manifest<'a> {
    pub format: Option<String>,
    pub name: Option<String>,
    pub device: Option<Device>,
    pub data: Option<String>,
    pub data_size: Option<u64>,
    /// Raw text, so that errors inside an event can report its line.
    #[serde(borrow)]
    pub events: Option<Vec<&'a RawValue>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Device {
    pub pci_id: Number,
    pub r#gen: u32,
}

/// An event with the fields of all types; `type` decides which of them are required.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct Event {
    pub r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_address: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_length: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<Object>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_exec: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<Vec<(u64, u64)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<Compare>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<(u64, u64, u64)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fourcc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tiling: Option<u32>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Object {
    pub object: Name,
    pub address: Number,
    pub size: u64,
    #[serde(default)]
    pub tiling: u32,
    #[serde(default)]
    pub stride: u32,
    pub writes: Vec<(u64, u64, u64)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Compare {
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_abs_diff: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlier_fraction: Option<f64>,
}

/// The manifest as the writer makes it.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    pub format: &'a str,
    pub name: &'a str,
    pub device: Device,
    pub data: &'a str,
    pub data_size: u64,
    pub events: &'a [Event],
}

/// A number, or text with a number: `"0x1000"`, `"4096"`.
#[derive(Serialize, Deserialize, Clone)]
#[serde(untagged)]
pub(super) enum Number {
    Value(u64),
    Text(String),
}

impl Number {
    pub fn hex(value: u64) -> Number {
        Number::Text(format!("{value:#x}"))
    }

    pub fn get(&self) -> Option<u64> {
        match self {
            Number::Value(value) => Some(*value),
            Number::Text(text) => match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
            {
                // `from_str_radix` would accept a plus sign.
                Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
                Some(_) => None,
                None if text.starts_with('+') => None,
                None => text.parse().ok(),
            },
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Value(value) => write!(f, "{value:#x}"),
            Number::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// The name of an object: text or a number.
#[derive(Serialize, Deserialize, Clone)]
#[serde(untagged)]
pub(super) enum Name {
    Number(u64),
    Text(String),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Number(number) => write!(f, "{number}"),
            Name::Text(text) => f.write_str(text),
        }
    }
}
