//! Draws of the G45: captures of a real driver, and draws with small kernels.

mod captures;
mod debug_registers;
mod debug_support;
mod debug_threads;
mod draws;
mod mutations;
mod scene;
