//! Cases of the model: mi.
