//! Cases of the model: groups.
