//! The resource streamer: binding tables that packets edit, gathered constants, constants of DX9.
//!
//! Oracles: 2a p.8-29 and 2d p.22, p.207 (binding tables), 2a p.96-112 and 2d p.194 (gathering), 2a
//! p.74-95 and 2d p.132-134 (DX9), in plain Rust. A draw with the streamer has a twin whose binding
//! table and constants the test writes to memory itself.

mod control;
mod draws;
mod dx9;
mod gather;
mod packets;
mod tables;

use genxml::gen8::mi::{MiRsControl, MiRsControlResourceStreamerControl as Control};
use genxml_cases::{Model, SURFACE_STATE, packets, raw_buffer};
use genxml_sim::Fault;

/// Address of the pool for binding tables.
pub const TABLES: u64 = 0x100_0000;
/// Bytes of the pool for binding tables. Pointers reach 128 KiB.
pub const TABLES_BYTES: u64 = 128 << 10;
/// Address of the pool for gathered constants.
pub const GATHERED: u64 = 0x200_0000;
/// Bytes of the pool for gathered constants.
pub const GATHERED_BYTES: u64 = 64 << 10;
/// Address of the pool for constant buffers of DX9.
pub const DX9: u64 = 0x300_0000;
/// Bytes of the pool for constant buffers of DX9.
pub const DX9_BYTES: u64 = 64 << 10;
/// Address of constant buffers.
pub const BUFFERS: u64 = 0x400_0000;
/// Bytes of the memory for constant buffers.
pub const BUFFERS_BYTES: u64 = 128 << 10;

/// Maps the pools and the memory for constant buffers.
pub fn map(model: &mut Model) {
    model.map(TABLES, TABLES_BYTES);
    model.map(GATHERED, GATHERED_BYTES);
    model.map(DX9, DX9_BYTES);
    model.map(BUFFERS, BUFFERS_BYTES);
}

/// A model with pools.
pub fn model() -> Model {
    let mut model = Model::new();
    map(&mut model);
    model
}

/// MI_RS_CONTROL that starts the streamer.
pub fn start() -> Vec<u32> {
    packets![MiRsControl { resource_streamer_control: Control::START }]
}

/// Runs a batch whose first packet starts the streamer.
///
/// # Errors
/// The fault that the model returns.
pub fn run(model: &mut Model, batch: &[u32]) -> Result<genxml_sim::Stats, Fault> {
    model.render(&[&start(), batch].concat())
}

/// The text of the fault of a batch whose first packet starts the streamer.
pub fn refused(model: &mut Model, batch: &[u32]) -> String {
    run(model, batch).expect_err("a fault").to_string()
}

/// Writes the surface state of a raw buffer at an offset from the surface state base.
pub fn put_buffer(model: &mut Model, state: u64, address: u64, bytes: u64) {
    model.put(SURFACE_STATE + state, &raw_buffer(address, bytes).pack());
}
