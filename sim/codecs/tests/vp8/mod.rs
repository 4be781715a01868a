//! The decoder of VP8.
