//! The validator against Mesa's verdicts, real kernels, and an example for each rule.

mod corpus;
mod mesa;
mod random;
mod rules;
