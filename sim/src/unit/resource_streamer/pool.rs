//! Pools: memory that the resource streamer writes and the pipeline reads.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::render3d_binding::ThreeDStateBindingTablePoolAlloc;
use genxml::gen8::render3d_constants::{
    ThreeDStateDx9ConstantBufferPoolAlloc, ThreeDStateGatherPoolAlloc,
};

/// Bytes of a unit of the size of the pools for binding tables and gathered constants (2a p.29,
/// p.112).
const PAGE: u64 = 4096;
/// Bytes of a unit of the size of the pool for the constant buffers of DX9 (2a p.75).
const DX9_PAGE: u64 = 8192;

/// The memory of an enabled pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Graphics address of the first byte.
    pub base: u64,
    /// Size in bytes.
    pub bytes: u64,
}

impl Pool {
    /// The graphics address at `offset`.
    pub fn address(self, offset: u64) -> u64 {
        self.base.wrapping_add(offset)
    }

    /// Bytes from `offset` to the end.
    pub fn after(self, offset: u64) -> u64 {
        self.bytes.saturating_sub(offset)
    }

    /// The pool for binding tables. `None` if the packet disables it.
    pub fn of_tables(packet: &ThreeDStateBindingTablePoolAlloc) -> Option<Pool> {
        packet.binding_table_pool_enable.then(|| Pool {
            base: packet.binding_table_pool_base_address.va48(),
            bytes: packet.binding_table_pool_buffer_size.get() * PAGE,
        })
    }

    /// The pool for gathered constants. `None` if the packet disables it.
    pub fn of_constants(packet: &ThreeDStateGatherPoolAlloc) -> Option<Pool> {
        packet.gather_pool_enable.then(|| Pool {
            base: packet.gather_pool_base_address.va48(),
            bytes: packet.gather_pool_buffer_size.get() * PAGE,
        })
    }

    /// The pool for the constant buffers of DX9. `None` if the packet disables it.
    pub fn of_dx9(packet: &ThreeDStateDx9ConstantBufferPoolAlloc) -> Option<Pool> {
        packet.dx9_constant_buffer_pool_enable.then(|| Pool {
            base: packet.dx9_constant_buffer_pool_base_address.va48(),
            bytes: packet.dx9_constant_buffer_pool_buffer_size.get() * DX9_PAGE,
        })
    }
}

/// Refuses an enabled pool without memory (2a p.29, p.75, p.112).
///
/// # Errors
/// [`Fault::BadPacket`] that names `field`.
pub fn check(exec: &Exec<'_>, pool: Option<Pool>, field: &'static str) -> Result<(), Fault> {
    match pool {
        Some(Pool { bytes: 0, .. }) => {
            Err(exec.bad_field(field, 0, "an enabled pool must have a size other than 0"))
        }
        _ => Ok(()),
    }
}
