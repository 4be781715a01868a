//! Buffers that the engine reads and writes: coded data, and what decoders keep in memory.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::PAGE;
use genxml::gen8::mfx_common::{MfxIndObjBaseAddrState, MfxQmState};
use std::borrow::Cow;

/// Reads `length` bytes at `offset` from the base address in MFX_IND_OBJ_BASE_ADDR_STATE. Stops
/// before the upper bound, so the result may be shorter. An upper bound of 0 means no limit
/// (digests/video.md 1.2).
///
/// # Errors
/// [`Fault::Page`] if a byte is not mapped; [`Fault::Hang`] if the budget is used up.
pub fn coded_data(exec: &mut Exec<'_>, offset: u64, length: u64) -> Result<Vec<u8>, Fault> {
    let state: MfxIndObjBaseAddrState = exec.state.latched.read(0);
    let start = state.mfx_indirect_bitstream_object_address.get().wrapping_add(offset);
    let bound = state.mfx_indirect_bitstream_object_upper_bound.get();
    let length = match bound {
        0 => length,
        bound => length.min(bound.saturating_sub(start)),
    };
    let mut data = Vec::new();
    while (data.len() as u64) < length {
        let (at, done) = (start.wrapping_add(data.len() as u64), data.len());
        let now = (PAGE - at % PAGE).min(length - done as u64);
        exec.spend(now)?;
        data.resize(done + now as usize, 0);
        let read = exec.vm.read(at, &mut data[done..]);
        read.map_err(|fault| exec.page(fault, "coded data"))?;
    }
    exec.stats.bytes_read += data.len() as u64;
    Ok(data)
}

/// Reads `length` bytes at `address`; `name` is that of the buffer.
///
/// # Errors
/// [`Fault::Page`] if a byte is not mapped.
pub fn read(
    exec: &mut Exec<'_>,
    address: u64,
    length: usize,
    name: impl Into<Cow<'static, str>>,
) -> Result<Vec<u8>, Fault> {
    let mut data = vec![0; length];
    exec.vm.read(address, &mut data).map_err(|fault| exec.page(fault, name))?;
    exec.stats.bytes_read += length as u64;
    Ok(data)
}

/// Writes `data` to `address`; `name` is that of the buffer.
///
/// # Errors
/// [`Fault::Page`] if a byte is not mapped.
pub fn write(
    exec: &mut Exec<'_>,
    address: u64,
    data: &[u8],
    name: &'static str,
) -> Result<(), Fault> {
    exec.vm.write(address, data).map_err(|fault| exec.page(fault, name))?;
    exec.stats.bytes_written += data.len() as u64;
    Ok(())
}

/// The newest quantiser matrix `index` of MFX_QM_STATE, in raster order. `None` if there was no
/// such packet.
pub fn matrix(exec: &Exec<'_>, index: usize) -> Option<[u8; 64]> {
    exec.state.latched.get::<MfxQmState>(index)?;
    let state: MfxQmState = exec.state.latched.read(index);
    Some(state.forward_quantizer_matrix.map(|entry| entry.get() as u8))
}
