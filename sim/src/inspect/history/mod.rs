//! The history of a pixel: everything that wrote or tested one sample of a surface, in order.
//!
//! It takes two runs of the same work. In the first, [`Finder`] remembers the surfaces that draws
//! write to, and finds the pixel in memory. In the second, [`History`] compares the pixel's memory
//! before and after each packet, so nothing that writes it is missed: draws, clears, blits, threads
//! and the host. For draws whose targets contain the pixel, the pipeline also reports what each
//! primitive does there ([`crate::machine::watched`]).
//!
//! * [`probe`]: the memory of a pixel; [`finder`]: which surface it belongs to;
//! * [`record`]: observes the second run; [`fragment`]: what a primitive does to the pixel;
//!   `flags`: the instruction that discards it.

pub mod finder;
mod flags;
pub mod fragment;
pub mod probe;
pub mod record;

pub use finder::{Finder, Found};
pub use fragment::{Discard, Fragment, Shading};
pub use probe::{Channels, Meaning, Probe, Value, View};
pub use record::{BlitTouch, DrawTouch, Entry, History, Kind};

use crate::mem::Va;

/// Why a pixel has no history.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The pixel is outside of the surface.
    #[error(
        "pixel {x},{y} is outside of the {format} surface of {width}x{height} pixels; columns are 0 to {}, rows 0 to {}",
        width - 1, height - 1
    )]
    Outside {
        /// Column.
        x: u32,
        /// Row.
        y: u32,
        /// Width of the level that is drawn to.
        width: u32,
        /// Height of the level.
        height: u32,
        /// Format of the surface.
        format: &'static str,
    },
    /// The surface does not have the sample.
    #[error("the surface has no sample {sample}, it has {samples}: numbers count from 0 on")]
    Sample {
        /// The sample.
        sample: u32,
        /// Number of samples of the surface.
        samples: u32,
    },
    /// The memory of the pixel is not mapped.
    #[error("the pixel is at {}, where no memory is mapped", Va(*address))]
    NotMapped {
        /// Graphics address of the pixel.
        address: u64,
    },
    /// A range of memory is never mapped as a whole.
    #[error("no submission maps all of the {bytes} bytes at {}", Va(*address))]
    NoMemory {
        /// Graphics address of the first byte.
        address: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// No draw has a render target, and there are no blits.
    #[error(
        "nothing before this point draws to a render target or blits; --target selects a depth or stencil buffer"
    )]
    NoTarget,
    /// No draw uses a surface at the address.
    #[error("no draw or blit before this point has a target at {}; {}", Va(*address), Targets(known))]
    UnknownTarget {
        /// The address.
        address: u64,
        /// The base addresses of the targets of draws.
        known: Vec<u64>,
    },
}

genxml_core::debug_as_display!(HistoryError);

/// A list of targets, for messages.
struct Targets<'a>(&'a [u64]);

impl std::fmt::Display for Targets<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [first, rest @ ..] = self.0 else { return f.write_str("there are no targets") };
        write!(f, "targets are at {}", Va(*first))?;
        let mut rest = rest.iter();
        rest.by_ref().take(15).try_for_each(|address| write!(f, ", {}", Va(*address)))?;
        match rest.len() {
            0 => Ok(()),
            count => write!(f, " and {count} other addresses"),
        }
    }
}
