//! Cases of the model: typed.
