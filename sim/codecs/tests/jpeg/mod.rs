//! The decoder of JPEG.
