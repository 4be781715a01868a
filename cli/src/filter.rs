//! Options that select parts of a dump: shared by `decode`, `diff` and `query`.

use crate::input::address;
use crate::output::{Error, bad_input};
use genxml::core::reflect::{Container, Field, Group};
use genxml::decode::{DATA_NAMES, Tables};
use genxml::query::{FieldTest, Filter, Glob, Seen};
use genxml_codegen::suggest;
use std::ops::{Range, RangeInclusive};

/// Selects parts of a dump. Conditions of different options must all hold. If an option is given
/// several times, at least one of its conditions must hold; for `--field` with a value, all must
/// hold.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Filters")]
pub struct Filters {
    /// Only packets, structures or registers with this name, and everything that they point to. In
    /// the name, * stands for any characters, ? for one
    #[arg(long, value_name = "NAME")]
    packet: Vec<String>,
    /// NAME: print only this field of each record. NAME=VALUE or NAME!=VALUE: only records whose
    /// field has (or does not have) this value, with all their fields. A value is a number, the
    /// name of an enumeration's value, true or false
    #[arg(long, value_name = "NAME[=VALUE]")]
    field: Vec<FieldTest>,
    /// Only records in memory that overlap the addresses from A to B (B is excluded), and
    /// everything that they point to
    #[arg(long, value_name = "A..B", value_parser = addresses)]
    range: Vec<Range<u64>>,
    /// Only draw N, or draws N to M (M is included), each with the packets after the previous draw
    /// and the state that it uses. Draws and dispatches are numbered from 1 through the whole dump,
    /// as in genx query --draws
    #[arg(long, value_name = "N[..M]", value_parser = draws)]
    draw: Option<RangeInclusive<u64>>,
    /// Only submission N, or submissions N to M (M is included). The number is that of the dump
    /// (seq in a capture); if the dump has no numbers, submissions count from 0
    #[arg(long, value_name = "N[..M]", value_parser = numbers)]
    exec: Option<RangeInclusive<u64>>,
}

impl Filters {
    /// The filter that the options describe.
    ///
    /// # Errors
    /// If no packet, structure, register or field has a name that an option gives.
    pub fn filter(&self, tables: &Tables) -> Result<Filter, Error> {
        let packets: Vec<Glob> = self.packet.iter().map(|name| Glob::new(name)).collect();
        packets.iter().try_for_each(|glob| known_container(tables, glob))?;
        self.field.iter().try_for_each(|test| known_field(tables, &test.name))?;
        Ok(Filter {
            packets,
            fields: self.field.clone(),
            ranges: self.range.clone(),
            draws: self.draw.clone(),
            submissions: self.exec.clone(),
        })
    }

    /// True if the options select fields.
    pub fn has_fields(&self) -> bool {
        !self.field.is_empty()
    }

    /// True if the options select draws. All state that a draw uses is then shown, even if an
    /// earlier draw used it too.
    pub fn has_draws(&self) -> bool {
        self.draw.is_some()
    }
}

/// Returns an error if no packet, structure, register or data record has a name that matches
/// `glob`.
pub fn known_container(tables: &Tables, glob: &Glob) -> Result<(), Error> {
    let names = || DATA_NAMES.into_iter().chain(tables.names());
    // The register of one engine, such as `RING_TAIL of VCS`, is in the tables as `RING_TAIL`.
    let register = glob.as_str().split([' ', '[']).next().map(Glob::new);
    let known =
        |name: &str| glob.matches(name) || register.as_ref().is_some_and(|glob| glob.matches(name));
    if glob.is_wild() && names().any(|name| glob.matches(name)) || names().any(known) {
        return Ok(());
    }
    Err(unknown("packet, structure or register", glob, names()))
}

/// Returns an error if no field has a name that matches `glob`.
fn known_field(tables: &Tables, glob: &Glob) -> Result<(), Error> {
    // A path with the names of enclosing structures is not looked up.
    if glob.as_str().contains(['.', '[']) {
        return Ok(());
    }
    let mut names = Vec::new();
    for name in tables.names() {
        if let Some(container) = tables.container(name) {
            of_container(container, &mut names);
        }
    }
    match names.iter().any(|name| glob.matches(name)) {
        true => Ok(()),
        false => Err(unknown("field", glob, names.into_iter())),
    }
}

fn of_container(container: &Container, names: &mut Vec<&'static str>) {
    fn level(fields: &'static [Field], groups: &'static [Group], names: &mut Vec<&'static str>) {
        names.extend(fields.iter().map(|field| field.name));
        for group in groups {
            names.push(group.name);
            level(group.fields, group.groups, names);
        }
    }
    level(container.fields, container.groups, names);
}

fn unknown<'a>(what: &str, glob: &Glob, names: impl Iterator<Item = &'a str>) -> Error {
    let upper = glob.as_str().to_uppercase();
    let names: Vec<&str> = names.collect();
    // Names of the specification are in upper case or in mixed case, so both spellings are
    // compared.
    let nearest = suggest::nearest(glob.as_str(), names.iter().copied())
        .or_else(|| suggest::nearest(&upper, names.iter().copied()));
    bad_input(match nearest {
        Some(nearest) => format!("there is no {what} `{glob}`; did you mean `{nearest}`?"),
        None => format!("there is no {what} `{glob}`; see genx spec list and genx spec show"),
    })
}

/// Parses `A..B`.
fn addresses(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once("..").ok_or("write 0x1000..0x2000")?;
    let (start, end) = (address(start)?, address(end)?);
    if start < end {
        Ok(start..end)
    } else {
        Err("the range is empty: the first address must be less than the last".to_owned())
    }
}

/// The draws or submissions that a filter selects and a dump does not have, as a message; `None` if
/// the dump has at least one of them.
pub fn missing(filter: &Filter, seen: &Seen) -> Option<String> {
    let range = |range: &RangeInclusive<u64>| match range.start() == range.end() {
        true => range.start().to_string(),
        false => format!("{} to {}", range.start(), range.end()),
    };
    if let Some(draws) = filter.draws.as_ref().filter(|draws| *draws.start() > seen.draws) {
        let count = match seen.draws {
            0 => "no draws".to_owned(),
            1 => "1 draw".to_owned(),
            count => format!("{count} draws"),
        };
        return Some(format!("there is no draw {}: the dump has {count}", range(draws)));
    }
    match (&filter.submissions, seen.submissions) {
        (Some(_), _) if seen.selected > 0 => None,
        (Some(wanted), Some((first, last))) => {
            let (wanted, numbers) = (range(wanted), range(&(first..=last)));
            let has = if first == last { "only submission" } else { "submissions" };
            Some(format!("there is no submission {wanted}: the dump has {has} {numbers}"))
        }
        (Some(wanted), None) => {
            Some(format!("there is no submission {}: the dump has no submissions", range(wanted)))
        }
        (None, _) => None,
    }
}

/// Parses the numbers of draws.
fn draws(text: &str) -> Result<RangeInclusive<u64>, String> {
    match numbers(text)? {
        range if *range.start() == 0 => Err("draws are numbered from 1".to_owned()),
        range => Ok(range),
    }
}

/// Parses `N`, or `N..M`, where M is included.
fn numbers(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| "write 3, or 3..5".to_owned());
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first)?, number(last.strip_prefix('=').unwrap_or(last))?),
        None => (number(text)?, number(text)?),
    };
    if first <= last {
        Ok(first..=last)
    } else {
        Err("the first number is greater than the last".to_owned())
    }
}
