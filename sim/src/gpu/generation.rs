//! The generation of a GPU.

use crate::cs::Commands;
#[cfg(feature = "gen45")]
use crate::gen45;

/// The generation of a [`Gpu`](crate::Gpu).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Generation {
    /// Broadwell.
    #[default]
    Gen8,
    /// G45 (Gen4.5). All contexts use the global table: what is mapped into one context is mapped
    /// into all. The render engine executes 2D commands; there is no blitter engine.
    #[cfg(feature = "gen45")]
    G45,
}

impl Generation {
    /// The generation with a number: ten times the generation, such as 80 and 45; captures call
    /// Gen8 also 8. `None` if the model does not have it.
    pub fn of_number(number: u32) -> Option<Generation> {
        match number {
            8 | 80 => Some(Generation::Gen8),
            #[cfg(feature = "gen45")]
            45 => Some(Generation::G45),
            _ => None,
        }
    }

    /// True if contexts have no page tables of their own: all use the global table.
    pub fn is_global_only(self) -> bool {
        self != Generation::Gen8
    }

    /// The packets of the generation.
    pub(super) fn commands(self) -> Commands {
        match self {
            Generation::Gen8 => Commands::default(),
            #[cfg(feature = "gen45")]
            Generation::G45 => gen45::commands::COMMANDS,
        }
    }
}
