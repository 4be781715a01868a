//! Cases of the model: parallel.
