//! End-to-end tests of the workspace.
//!
//! * [`toy`]: code generated from `toy/toy.xml`, which uses every feature of the schema
//! * [`foreign`]: code generated from files in Mesa's schema
//! * [`ROUND_TRIPS`]: every generated container of the workspace, for tests of the laws of packing
//! * [`packed`]: random packets of these containers

pub mod toy {
    //! Code generated from `toy/toy.xml`.
    pub use genxml::{engine, pipeline};
    include!(concat!(env!("OUT_DIR"), "/toy/mod.rs"));
}

pub mod foreign {
    //! Code generated from `codegen/tests/foreign/new`.
    pub use genxml::{engine, pipeline};
    include!(concat!(env!("OUT_DIR"), "/foreign/mod.rs"));
}

mod packets;

pub use packets::{packed, within};

use genxml_core::round_trip::RoundTrip;

/// The containers of `genxml::gen8`, `genxml_eu::gen8`, `genxml::gen45` and [`toy`].
pub static ROUND_TRIPS: &[&[RoundTrip]] = &[
    include!(concat!(env!("OUT_DIR"), "/round_trips_runtime.rs")),
    include!(concat!(env!("OUT_DIR"), "/round_trips_eu.rs")),
    include!(concat!(env!("OUT_DIR"), "/round_trips_gen45.rs")),
    include!(concat!(env!("OUT_DIR"), "/round_trips_toy.rs")),
];

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
