//! Finds items by name or offset, and suggests names after a typing error.

use crate::model::{Field, Group, Kind, Spec, Type};
use genxml_syntax::suggest;

/// The error if no item has the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DidYouMean {
    /// The given name.
    pub name: String,
    /// Similar names.
    pub nearest: Vec<String>,
    /// Containers with a field of that name.
    pub fields: Vec<String>,
}

impl std::fmt::Display for DidYouMean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the specification has no `{}`", self.name)?;
        match &self.nearest[..] {
            [] => {}
            [one] => write!(f, "; did you mean `{one}`?")?,
            many => write!(f, "; did you mean one of `{}`?", many.join("`, `"))?,
        }
        match &self.fields[..] {
            [] => Ok(()),
            containers => write!(f, "; a field of that name is in `{}`", containers.join("`, `")),
        }
    }
}

impl std::error::Error for DidYouMean {}

/// A container or enumeration by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Container(usize),
    Enum(usize),
}

/// Maximum number of suggestions.
const NEAREST: usize = 8;

/// Finds an item by the name in the manual or of the Rust type, in any case, or a register by its
/// offset.
pub(super) fn find(spec: &Spec, name: &str) -> Result<Found, DidYouMean> {
    let containers =
        spec.containers.iter().enumerate().map(|(at, c)| (Found::Container(at), c.name.as_str()));
    let enums =
        spec.enums.iter().enumerate().map(|(at, list)| (Found::Enum(at), list.name.as_str()));
    let names: Vec<(Found, &str)> = containers.chain(enums).collect();
    let wanted = key(name);
    let exact = names.iter().find(|(_, other)| *other == name);
    if let Some((found, _)) = exact.or_else(|| names.iter().find(|(_, other)| key(other) == wanted))
    {
        return Ok(*found);
    }
    if let Some(offset) = offset(name) {
        return register(spec, name, offset);
    }
    let words: Vec<String> =
        name.split(|c: char| !c.is_alphanumeric()).map(key).filter(|w| !w.is_empty()).collect();
    let mut ranked: Vec<(usize, usize, &str)> = Vec::new();
    for (_, other) in &names {
        let key = key(other);
        let rank = if wanted.len() > 1 && key.starts_with(&wanted) {
            0
        } else if wanted.len() > 2 && key.contains(&wanted) {
            1
        } else if words.len() > 1 && words.iter().all(|word| key.contains(word.as_str())) {
            2
        } else {
            continue;
        };
        ranked.push((rank, other.len(), other));
    }
    ranked.sort();
    ranked.dedup();
    let mut nearest: Vec<String> =
        ranked.iter().map(|(.., name)| (*name).to_owned()).take(NEAREST).collect();
    if nearest.is_empty() {
        nearest
            .extend(suggest::nearest(name, names.iter().map(|(_, name)| *name)).map(str::to_owned));
    }
    Err(DidYouMean { name: name.to_owned(), nearest, fields: with_field(spec, &wanted) })
}

/// The letters and digits of a name in lower case. `ThreeD` becomes `3d`, as Rust types have it.
fn key(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect::<String>().replace("threed", "3d")
}

fn offset(name: &str) -> Option<u32> {
    let digits = name.trim().strip_prefix("0x").or_else(|| name.trim().strip_prefix("0X"))?;
    u32::from_str_radix(&digits.replace('_', ""), 16).ok()
}

/// The register with the byte at `offset`. The description of one engine's register has precedence
/// over that of all engines.
fn register(spec: &Spec, name: &str, offset: u32) -> Result<Found, DidYouMean> {
    let mut found = None;
    let mut distances: Vec<(u32, String)> = Vec::new();
    for (at, container) in spec.containers.iter().enumerate() {
        let Kind::Register { per_engine, .. } = container.kind else { continue };
        for start in container.register_places(&spec.engines) {
            if (start..start.saturating_add(container.bits.div_ceil(8))).contains(&offset) {
                found = found.filter(|(shared, _)| !shared).or(Some((per_engine, at)));
            }
            distances.push((start.abs_diff(offset), format!("{} ({start:#x})", container.name)));
        }
    }
    if let Some((_, at)) = found {
        return Ok(Found::Container(at));
    }
    distances.sort();
    let nearest =
        distances.into_iter().take_while(|(far, _)| *far < 0x40).map(|(_, name)| name).take(3);
    Err(DidYouMean { name: name.to_owned(), nearest: nearest.collect(), fields: Vec::new() })
}

/// Containers with a field whose name has this key.
fn with_field(spec: &Spec, wanted: &str) -> Vec<String> {
    fn has(fields: &[Field], groups: &[Group], wanted: &str) -> bool {
        fields.iter().any(|field| key(&field.name) == wanted)
            || groups.iter().any(|group| has(&group.fields, &group.groups, wanted))
    }
    let holders = spec.containers.iter().filter(|c| has(&c.fields, &c.groups, wanted));
    holders.map(|container| container.name.clone()).take(NEAREST).collect()
}

/// Names of the containers with a field whose type satisfies `uses`.
pub(super) fn users(spec: &Spec, uses: impl Fn(&Type) -> bool) -> Vec<String> {
    fn any(fields: &[Field], groups: &[Group], uses: &dyn Fn(&Type) -> bool) -> bool {
        fields.iter().any(|field| uses(&field.ty))
            || groups.iter().any(|group| any(&group.fields, &group.groups, uses))
    }
    let users = spec.containers.iter().filter(|c| any(&c.fields, &c.groups, &uses));
    users.map(|container| container.name.clone()).collect()
}
