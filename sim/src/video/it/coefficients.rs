//! The coefficients of macroblocks, which MFD_IT_OBJECT has in memory.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::{MfdItObject, MfdItObjectCoefficient};
use genxml::gen8::mfx_common::MfxIndObjBaseAddrState;

/// Bytes that Indirect IT-COEFF Data Length can state.
const MOST: usize = 1 << 12;

/// Coefficients that were read from memory.
pub struct Coefficients {
    data: [u8; MOST],
    /// Bytes that were read, and those that were taken.
    length: usize,
    taken: usize,
}

impl Coefficients {
    /// Reads the coefficients of a macroblock. Stops before the upper bound, where 0 means no
    /// limit, as for coded data.
    ///
    /// # Errors
    /// [`Fault::Page`] if a byte is not mapped; [`Fault::Hang`] if the budget is used up.
    pub fn read(exec: &mut Exec<'_>, packet: &MfdItObject<'_>) -> Result<Self, Fault> {
        let state: MfxIndObjBaseAddrState = exec.state.latched.read(0);
        let base = state.mfd_indirect_it_coeff_object_address.get();
        let offset = packet.indirect_it_coeff_data_start_address_offset.get();
        let address = base.wrapping_add(offset);
        let length = packet.indirect_it_coeff_data_length.get();
        let length = match state.mfd_indirect_it_coeff_object_upper_bound.get() {
            0 => length,
            bound => length.min(bound.saturating_sub(address)),
        };
        exec.spend(length)?;
        let length = (length as usize).min(MOST);
        let mut data = [0; MOST];
        let read = exec.vm.read(address, &mut data[..length]);
        read.map_err(|fault| exec.page(fault, "coefficients"))?;
        exec.stats.bytes_read += length as u64;
        Ok(Coefficients { data, length, taken: 0 })
    }

    /// Number of bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The next coefficient. `None` at the end of the data.
    pub fn next(&mut self) -> Option<MfdItObjectCoefficient> {
        let dword = self.data[..self.length].get(self.taken..)?.first_chunk()?;
        self.taken += dword.len();
        Some(MfdItObjectCoefficient::unpack_lossy(&[u32::from_le_bytes(*dword)]))
    }
}
