//! The decoder of VC-1.
