//! Parts of other generations than Gen8 that dumps need, generated from `spec-xml/other`: registers
//! in error states, fences, commands of Gen4 and Gen5, and the engines of Gen11 and later. Tables
//! only: nothing builds these registers.
#![no_std]

include!(concat!(env!("OUT_DIR"), "/mod.rs"));
