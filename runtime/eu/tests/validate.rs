//! The validator against Mesa's verdicts, real kernels, and an example for each rule.

#[path = "validate/corpus.rs"]
mod corpus;
#[path = "validate/mesa.rs"]
mod mesa;
#[path = "validate/random.rs"]
mod random;
#[path = "validate/rules.rs"]
mod rules;
