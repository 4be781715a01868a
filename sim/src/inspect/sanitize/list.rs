//! The list of sanitizers, and the observer that runs several of them.

use super::finding::{Finding, Rule};
use super::sanitizer::Sanitize;
use super::{bounds, flush, race, state, uninit};
use crate::machine::events::{Event, Now, Observer};
use crate::mem::Lines;
use genxml::eu::Generation;

/// A row of [`SANITIZERS`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in `--sanitize`.
    pub name: &'static str,
    /// What it finds, in one line.
    pub doc: &'static str,
    /// The generations whose rules it has.
    pub generations: &'static [Generation],
    /// The rules whose violations it reports.
    pub rules: &'static [Rule],
    /// Makes one without findings.
    pub new: fn() -> Box<dyn Sanitize>,
}

/// All sanitizers.
pub const SANITIZERS: &[Row] = &[
    Row {
        name: "flush",
        doc: "data that passes from cache to cache without the flush or invalidation that it needs",
        generations: &[Generation::Gen8],
        rules: flush::RULES,
        new: || Box::new(flush::Flush::default()),
    },
    Row {
        name: "race",
        doc: "threads of one packet that access the same bytes without order, and one writes",
        generations: &[Generation::Gen8],
        rules: race::RULES,
        new: || Box::<race::Race>::default(),
    },
    Row {
        name: "bounds",
        doc: "accesses beyond the bounds of surfaces, shared local memory, tables and objects",
        generations: &[Generation::Gen8],
        rules: bounds::RULES,
        new: || Box::<bounds::Bounds>::default(),
    },
    Row {
        name: "uninit",
        doc: "registers and shared local memory that are used before anything wrote them",
        generations: &[Generation::Gen8],
        rules: uninit::RULES,
        new: || Box::<uninit::Uninit>::default(),
    },
    Row {
        name: "state",
        doc: "draws that use state which nothing set, reserved values, or stale pointers",
        generations: &[Generation::Gen8],
        rules: state::RULES,
        new: || Box::<state::UsedState>::default(),
    },
];

/// Why sanitizers cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unknown {
    /// There is no sanitizer of this name.
    #[error("there is no sanitizer {0:?}: use {names}", names = names())]
    Name(String),
    /// The sanitizer does not have the rules of the generation.
    #[error("the sanitizer {name} has no rules for {generation}")]
    Generation {
        /// The sanitizer.
        name: &'static str,
        /// The generation, in words.
        generation: String,
    },
}

/// The names of all sanitizers, separated by commas.
pub fn names() -> String {
    SANITIZERS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

/// The row of a sanitizer.
///
/// # Errors
/// [`Unknown::Name`].
pub fn row(name: &str) -> Result<&'static Row, Unknown> {
    let found = SANITIZERS.iter().find(|row| row.name == name);
    found.ok_or_else(|| Unknown::Name(name.to_owned()))
}

/// The observer that runs several sanitizers.
#[derive(Default)]
pub struct Sanitizers {
    list: Vec<(&'static Row, Box<dyn Sanitize>)>,
}

impl std::fmt::Debug for Sanitizers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list.iter().map(|(row, _)| row.name)).finish()
    }
}

impl Sanitizers {
    /// The sanitizers of these names, for a GPU of `generation`. A name that is given twice counts
    /// once.
    ///
    /// # Errors
    /// [`Unknown`].
    pub fn new<'n>(
        names: impl IntoIterator<Item = &'n str>,
        generation: Generation,
    ) -> Result<Sanitizers, Unknown> {
        let mut list: Vec<(&'static Row, Box<dyn Sanitize>)> = Vec::new();
        for name in names {
            let row = row(name)?;
            if !row.generations.contains(&generation) {
                let generation = format!("{generation:?}");
                return Err(Unknown::Generation { name: row.name, generation });
            }
            if list.iter().all(|(other, _)| other.name != row.name) {
                list.push((row, (row.new)()));
            }
        }
        Ok(Sanitizers { list })
    }

    /// The findings of each sanitizer, with its row.
    pub fn findings(&self) -> impl Iterator<Item = (&'static Row, &Finding)> {
        self.list.iter().flat_map(|(row, sanitizer)| {
            sanitizer.findings().iter().map(move |finding| (*row, finding))
        })
    }

    /// The names of the sanitizers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().map(|(row, _)| row.name)
    }
}

impl Observer for Sanitizers {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        for (_, sanitizer) in &mut self.list {
            sanitizer.event(now, event);
        }
    }

    fn wants_instructions(&self) -> bool {
        self.list.iter().any(|(_, sanitizer)| sanitizer.wants_instructions())
    }

    fn wants_accesses(&self) -> bool {
        self.list.iter().any(|(_, sanitizer)| sanitizer.wants_accesses())
    }

    fn update_lines(&mut self, lines: &Lines) {
        let mut users = self.list.iter_mut().filter(|(_, sanitizer)| sanitizer.wants_accesses());
        if let (Some((_, only)), None) = (users.next(), users.next()) {
            only.update_lines(lines);
        }
    }

    fn wants_channels(&self) -> bool {
        false
    }

    /// A thread that does the same as another one has no finding of its own.
    fn wants_threads(&self) -> bool {
        false
    }
}
