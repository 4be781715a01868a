//! The decoder of MPEG-2.
