//! Finds the item of the specification that a row of the inventory names.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use genxml_codegen::model::{Container, Enum, Field, Group, Spec, Type};

use crate::inventory::tsv::{self, plain};

/// The item of a row.
#[derive(Clone, Copy)]
pub enum Item<'a> {
    /// A structure, instruction or register.
    Container(&'a Container),
    /// An enumeration, named or inside a field.
    Enum(&'a Enum),
    /// A field that has no enumeration.
    Field(&'a Field),
}

/// A row of `inventory_names.tsv`.
struct Other {
    /// The name in the specification; empty if it is the same, `-` if the item is omitted on
    /// purpose.
    here: String,
    values: Option<usize>,
    bits: Option<u32>,
}

/// Names of the specification, and the committed table of rows whose item has another name in the
/// specification.
pub struct Names<'a> {
    spec: &'a Spec,
    /// Names and sizes that `genx spec list` prints.
    listed: HashSet<(String, u32)>,
    containers: HashMap<String, &'a Container>,
    enums: HashMap<String, &'a Enum>,
    other: HashMap<(String, String), Other>,
    used: RefCell<BTreeSet<(String, String)>>,
}

impl<'a> Names<'a> {
    /// Reads the committed tables in `data`.
    pub fn new(spec: &'a Spec, data: &Path) -> Names<'a> {
        let mut containers = HashMap::new();
        for container in &spec.containers {
            containers.entry(plain(&container.name)).or_insert(container);
        }
        let mut enums = HashMap::new();
        for list in &spec.enums {
            enums.entry(plain(&list.name)).or_insert(list);
        }
        let key = |row: &tsv::Row| (row.get("table").to_owned(), row.get("row").to_owned());
        let other = tsv::read(&data.join("inventory_names.tsv"));
        let other = other.iter().map(|row| {
            let (values, bits) = (row.get("values").parse().ok(), row.get("bits").parse().ok());
            let reason = !row.get("why").is_empty()
                || values.is_none() && bits.is_none() && row.get("here") != "-";
            assert!(reason, "inventory_names.tsv: {} without a reason", row.get("row"));
            (key(row), Other { here: row.get("here").to_owned(), values, bits })
        });
        let listed = genxml_codegen::list(spec).into_iter().map(|item| (item.name, item.bits));
        Names {
            spec,
            listed: listed.collect(),
            containers,
            enums,
            other: other.collect(),
            used: RefCell::default(),
        }
    }

    /// The item of a row, by the committed table, otherwise the container or enumeration with one
    /// of its `names`. A row without an item is a problem.
    pub fn find(
        &self,
        table: &str,
        names: &[&str],
        problems: &mut Vec<String>,
    ) -> Option<Item<'a>> {
        self.find_with(table, names, false, problems)
    }

    /// Does the same as [`find`](Self::find). With `header`, a command with only its header counts
    /// as described.
    pub fn find_with(
        &self,
        table: &str,
        names: &[&str],
        header: bool,
        problems: &mut Vec<String>,
    ) -> Option<Item<'a>> {
        let key = (table.to_owned(), names[0].to_owned());
        let other = self.other.get(&key);
        if other.is_some() {
            self.used.borrow_mut().insert(key);
        }
        let by_name =
            || names.iter().filter(|name| !name.is_empty()).find_map(|name| self.named(name));
        let found = match other.map_or("", |other| &other.here) {
            "" => by_name(),
            // The item is omitted on purpose.
            "-" => {
                if by_name().is_some() {
                    problems.push(format!(
                        "{table}: {} exists, but inventory_names.tsv omits it",
                        names[0]
                    ));
                }
                return None;
            }
            here => self.named(here),
        };
        let found = found.filter(|item| {
            header || !matches!(item, Item::Container(container) if container.partial)
        });
        if let Some(Item::Container(Container { name, bits, .. })) = found
            && !self.listed.contains(&(name.clone(), *bits))
        {
            problems.push(format!("{table}: {name} is not in the list of the specification"));
        }
        if found.is_none() {
            problems.push(format!("{table}: {} is missing", names[0]));
        }
        found
    }

    /// A container, an enumeration, or `CONTAINER.Field`, where the inventory leaves out a leading
    /// `3DSTATE_`.
    pub fn named(&self, name: &str) -> Option<Item<'a>> {
        let whole = plain(name);
        if let Some(container) = self.containers.get(&whole) {
            return Some(Item::Container(container));
        }
        if let Some(list) = self.enums.get(&whole) {
            return Some(Item::Enum(list));
        }
        let (container, field) = name.split_once('.')?;
        let of = |name: &str| self.containers.get(&plain(name));
        let container = of(container).or_else(|| of(&format!("3DSTATE_{container}")))?;
        let field = field_of(&container.fields, &container.groups, field)?;
        Some(match field.ty {
            Type::Enum(id) => Item::Enum(&self.spec.enums[id.0]),
            _ => Item::Field(field),
        })
    }

    /// False for an enumeration that is not the type of any field, so its size is unknown.
    pub fn is_used(&self, item: Item) -> bool {
        let Item::Enum(list) = item else { return true };
        let is = |field: &Field| matches!(field.ty, Type::Enum(id) if std::ptr::eq(&self.spec.enums[id.0], list));
        self.spec
            .containers
            .iter()
            .any(|container| any_field(&container.fields, &container.groups, &is))
    }

    /// The number of values and bits that the committed table has for a row, if they differ from
    /// the row's.
    pub fn other(&self, table: &str, name: &str) -> (Option<usize>, Option<u32>) {
        let other = self.other.get(&(table.to_owned(), name.to_owned()));
        other.map_or((None, None), |other| (other.values, other.bits))
    }

    /// Rows of the committed table for `table` that no comparison used.
    pub fn leftovers(&self, table: &str) -> Vec<String> {
        let used = self.used.borrow();
        let other = self.other.keys().filter(|key| key.0 == table && !used.contains(*key));
        other.map(|(table, row)| format!("inventory_names.tsv: no row {row} in {table}")).collect()
    }
}

fn field_of<'a>(fields: &'a [Field], groups: &'a [Group], name: &str) -> Option<&'a Field> {
    let found = fields.iter().find(|field| plain(&field.name) == plain(name));
    found.or_else(|| groups.iter().find_map(|group| field_of(&group.fields, &group.groups, name)))
}

fn any_field(fields: &[Field], groups: &[Group], is: &dyn Fn(&Field) -> bool) -> bool {
    fields.iter().any(is) || groups.iter().any(|group| any_field(&group.fields, &group.groups, is))
}
