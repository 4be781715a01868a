//! The decoder of H.264.
