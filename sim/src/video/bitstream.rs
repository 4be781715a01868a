//! The coded data that BSD objects name: ranges of the indirect bitstream object.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::PAGE;
use genxml::gen8::mfx_common::MfxIndObjBaseAddrState;

/// Reads `length` bytes from `offset` on, counted from the base that MFX_IND_OBJ_BASE_ADDR_STATE
/// sets. Bytes from the upper bound on are left out; an upper bound of 0 is none
/// (digests/video.md 1.2).
///
/// # Errors
/// [`Fault::Page`] if a byte is not mapped; [`Fault::Hang`] if the budget is used up.
pub fn read(exec: &mut Exec<'_>, offset: u64, length: u64) -> Result<Vec<u8>, Fault> {
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
