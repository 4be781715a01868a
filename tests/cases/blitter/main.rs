//! Cases of the model: blitter.
