//! Parts of other generations than Gen8 that dumps need, generated from `spec-xml/other`: registers
//! in error states, fences, and the engines of Gen11 and later. Tables only: nothing builds these
//! registers.
#![no_std]

include!(concat!(env!("OUT_DIR"), "/mod.rs"));

/// Commands of the streamer of Gen4, G45 and Gen5, from the specification of G45.
pub mod gen4 {
    include!(concat!(env!("OUT_DIR"), "/gen4/mod.rs"));
}
