//! Cases of the model: memory.
