//! Cases of the model: aub.
