//! The tests of this crate that use its public items. One program, so that it is linked once.

mod asm_corpus;
mod asm_errors;
mod asm_mesa;
mod asm_messages;
mod asm_round;
mod asm_syntax;
mod compaction;
mod corpus;
mod forms;
mod gen11;
mod gen12;
mod gen4;
mod gen4_own;
mod gen9;
mod generations;
mod manual;
mod message;
mod own;
mod payload;
mod random;
mod text;
mod validate;
