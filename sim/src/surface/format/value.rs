//! A decoded texel.

/// Red, green, blue and alpha, each as the bits of a float or as an integer;
/// [`Format::numeric`](super::Format::numeric) says which.
pub type Value = [u32; 4];
