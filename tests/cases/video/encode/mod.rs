//! AVC pictures encoded from typed packets.
//!
//! * [`setup`]: memory and packets that all encoded pictures have, and FFmpeg's decoder;
//! * [`state`]: states of pictures and slices;
//! * [`headers`]: parameter sets and slice headers;
//! * [`macroblocks`]: random macroblocks;
//! * [`pictures`]: I, P and B pictures with random macroblocks;
//! * [`round_trip`]: the same pictures, decoded by the model;
//! * [`effects`]: what single fields change in the coded data;
//! * [`faults`]: invalid macroblocks and states;
//! * [`mutations`]: batches with random changes.
//!
//! Oracle: FFmpeg's software decoder shows the pictures that the model has reconstructed. Tests
//! that need it end early if it is not installed.

mod effects;
mod faults;
mod headers;
mod macroblocks;
mod mutations;
mod pictures;
mod round_trip;
mod setup;
mod state;

pub use setup::{
    CODED, DECODED, HEAD, HEIGHT, PICTURES, REGISTERS, SOURCE, WIDTH, changed_batches_end, ffmpeg,
    insert, model, reconstructed, samples, store, surface,
};
