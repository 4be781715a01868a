//! Interpolation of fractional samples (8.4.2.2).
