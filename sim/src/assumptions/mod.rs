//! What the manuals leave open: each question, the choice that the model makes, and the reason.
//!
//! [`AREAS`] is the table of all assumptions. There are two kinds:
//! * A *value* is a constant that the model reads. Another value makes the model choose otherwise.
//! * A *documentation* entry has no constant. Its choice is part of the code's structure, and no
//!   constant could change it. Comments in the code refer to the entry by its name.
//!
//! The last area, `faults`, lists everything that the model does not implement.

/// An open question of the manuals and what the model does about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// Unique name. A value's constant has this name.
    pub name: &'static str,
    /// What the manuals leave open.
    pub question: &'static str,
    /// What the model does.
    pub choice: &'static str,
    /// Why: sources, and what contradicts them.
    pub reason: &'static str,
    /// Whether the model reads a constant of this name.
    pub kind: Kind,
}

/// Whether the model reads a constant for an [`Assumption`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The model reads a constant with the assumption's name. The string is the constant's value as
    /// a Rust expression.
    Value(&'static str),
    /// The choice is part of the code's structure. There is no constant.
    Documentation,
}

/// The assumptions about one part of the GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    /// Name of the area, which is also the name of its module.
    pub name: &'static str,
    /// The area's assumptions.
    pub assumptions: &'static [Assumption],
}

/// Makes an [`Area`], and a constant for each of its assumptions that is a value.
macro_rules! assumptions {
    (area $area:ident = $short:literal; $(
        $(const $name:ident: $type:ty = $value:expr;)?
        $(documentation $entry:ident;)?
        question $question:literal;
        choice $choice:literal;
        reason $reason:literal;
    )*) => {
        $($(
            #[doc = $question]
            ///
            #[doc = concat!("Choice: ", $choice)]
            ///
            #[doc = concat!("Reason: ", $reason)]
            pub const $name: $type = $value;
        )?)*

        pub(super) const $area: super::Area = super::Area {
            name: $short,
            assumptions: &[$(
                super::Assumption {
                    name: concat!($(stringify!($name))? $(stringify!($entry))?),
                    question: $question,
                    choice: $choice,
                    reason: $reason,
                    // An entry with a constant uses the first element. An entry without a constant
                    // has only the second element.
                    kind: [
                        $(super::Kind::Value(stringify!($value)),)?
                        super::Kind::Documentation,
                    ][0],
                },
            )*],
        };
    };
}

mod analytics;
mod blitter;
mod commands;
mod eu;
mod faults;
#[cfg(feature = "gen45")]
mod gen45;
#[cfg(feature = "gen45")]
mod gen45_debug;
#[cfg(feature = "gen45")]
mod gen45_eu;
#[cfg(feature = "gen45")]
mod gen45_media;
#[cfg(feature = "gen45")]
mod gen45_messages;
#[cfg(feature = "gen45")]
mod gen45_pipeline;
mod geometry;
mod memory;
mod messages;
mod motion;
mod pixels;
mod raster;
mod resource_streamer;
mod sampler;
mod surfaces;
#[cfg(test)]
mod tests;
mod threads;
mod vebox;
mod video;

pub use analytics::*;
pub use blitter::*;
pub use commands::*;
pub use eu::*;
#[cfg(feature = "gen45")]
pub use gen45::*;
#[cfg(feature = "gen45")]
pub use gen45_debug::*;
#[cfg(feature = "gen45")]
pub use gen45_eu::*;
#[cfg(feature = "gen45")]
pub use gen45_media::*;
#[cfg(feature = "gen45")]
pub use gen45_messages::*;
#[cfg(feature = "gen45")]
pub use gen45_pipeline::*;
pub use geometry::*;
pub use memory::*;
pub use messages::*;
pub use motion::*;
pub use pixels::*;
pub use raster::*;
pub use resource_streamer::*;
pub use sampler::*;
pub use surfaces::*;
pub use threads::*;
pub use vebox::*;
pub use video::*;

use analytics::ANALYTICS;
use faults::FAULTS;
#[cfg(feature = "gen45")]
use gen45::GEN45;
#[cfg(feature = "gen45")]
use gen45_debug::GEN45_DEBUG;
#[cfg(feature = "gen45")]
use gen45_eu::GEN45_EU;
#[cfg(feature = "gen45")]
use gen45_media::GEN45_MEDIA;
#[cfg(feature = "gen45")]
use gen45_messages::GEN45_MESSAGES;
#[cfg(feature = "gen45")]
use gen45_pipeline::GEN45_PIPELINE;
use motion::MOTION;
use vebox::VEBOX;
use video::VIDEO;

/// All assumptions, in the order in which a batch meets the parts of the GPU; then what the model
/// does not implement.
pub const AREAS: &[Area] = &[
    MEMORY,
    COMMANDS,
    RESOURCE_STREAMER,
    BLITTER,
    EU,
    THREADS,
    MESSAGES,
    SURFACES,
    SAMPLER,
    ANALYTICS,
    MOTION,
    GEOMETRY,
    RASTER,
    PIXELS,
    VIDEO,
    VEBOX,
    #[cfg(feature = "gen45")]
    GEN45,
    #[cfg(feature = "gen45")]
    GEN45_EU,
    #[cfg(feature = "gen45")]
    GEN45_DEBUG,
    #[cfg(feature = "gen45")]
    GEN45_PIPELINE,
    #[cfg(feature = "gen45")]
    GEN45_MESSAGES,
    #[cfg(feature = "gen45")]
    GEN45_MEDIA,
    FAULTS,
];
