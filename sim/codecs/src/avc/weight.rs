//! Weighted prediction (8.4.2.3).
