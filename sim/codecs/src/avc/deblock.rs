//! Deblocking filter (8.7).
