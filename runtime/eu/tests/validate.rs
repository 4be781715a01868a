//! The validator against Mesa's verdicts, real kernels, and an example for each rule.

#[path = "validate/corpus.rs"]
mod corpus;
