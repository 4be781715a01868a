//! Draws of the G45: captures of a real driver, and draws with small kernels.

mod captures;
mod draws;
mod mutations;
mod scene;
