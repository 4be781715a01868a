//! The tests of this crate that use its public items. All of them are in one program, so that it is
//! linked once.

mod bases;
mod cases;
mod emit;
mod foreign;
mod gen8;
mod inventory;
mod mesa;
mod mutations;
mod robust;
mod rules;
mod show;
