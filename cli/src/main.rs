//! The `genx` command.
fn main() {}
