//! Cases of the model: surfaces.
