//! Cases of the model: engines.
