//! Cases of the model: dataport.
