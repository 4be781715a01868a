//! Where the coded data go, and the status registers of the encoder.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::video::buffer;
use genxml::gen8::mfc::PakStreamOutRecord;
use genxml::gen8::mfx_common::{MfxIndObjBaseAddrState, MfxPipeBufAddrState, MfxPipeModeSelect};
use genxml::gen8::mfx_registers::{
    MfcAvcCabacBinCountFrame, MfcAvcCabacInsertionCount, MfcAvcMinsizePaddingCount,
    MfcBitstreamBytecountFrame, MfcBitstreamBytecountSlice, MfcBitstreamSeBitcountFrame,
    MfcBitstreamSeBitcountSlice, MfcImageStatusControl, MfcImageStatusMask, MfcQpStatusCount,
};
use genxml_core::U;

/// The coded data, by their offset in the buffer.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// Offset in the buffer, and position in the coded data.
    starts: Vec<(u64, usize)>,
}

impl Segments {
    /// From byte `position` on, the coded data go to `offset`.
    pub fn start(&mut self, offset: u64, position: usize) {
        self.starts.push((offset, position));
    }

    /// Writes the coded data to the buffer of MFX_IND_OBJ_BASE_ADDR_STATE. Bytes from its upper
    /// bound on are lost; an upper bound of 0 means no limit (digests/video.md 1.2).
    ///
    /// # Errors
    /// [`Fault::Page`] if the buffer is not mapped.
    pub fn write(&self, exec: &mut Exec<'_>, data: &[u8]) -> Result<(), Fault> {
        let state: MfxIndObjBaseAddrState = exec.state.latched.read(0);
        let base = state.mfc_indirect_pak_bse_object_address.get();
        let bound = state.mfc_indirect_pak_bse_object_upper_bound.get();
        let ends = self.starts.iter().skip(1).map(|&(_, position)| position).chain([data.len()]);
        for (&(offset, position), end) in self.starts.iter().zip(ends) {
            let mut part = data.get(position..end).unwrap_or_default();
            let address = base.wrapping_add(offset);
            if bound != 0 {
                let room = usize::try_from(bound.saturating_sub(address)).unwrap_or(usize::MAX);
                part = &part[..part.len().min(room)];
            }
            let written = exec.vm.write(address, part);
            written.map_err(|fault| exec.page(fault, "coded data"))?;
            exec.stats.bytes_written += part.len() as u64;
        }
        Ok(())
    }
}

/// Writes a record for each macroblock, in raster order, if MFX_PIPE_MODE_SELECT enables it.
/// Macroblocks that were not encoded have records of zeros.
///
/// # Errors
/// [`Fault::Page`] if the buffer is not mapped.
pub fn records(exec: &mut Exec<'_>, records: &[PakStreamOutRecord]) -> Result<(), Fault> {
    let mode: MfxPipeModeSelect = exec.state.latched.read(0);
    let buffers: MfxPipeBufAddrState = exec.state.latched.read(0);
    let address = buffers.stream_out_data_destination_address.get();
    if !mode.stream_out_enable || address == 0 {
        return Ok(());
    }
    let dwords = records.iter().flat_map(|record| record.pack());
    let data: Vec<u8> = dwords.flat_map(u32::to_le_bytes).collect();
    buffer::write(exec, address, &data, "Stream-Out Data Destination")
}

/// Sizes of a coded picture.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// Bytes of the coded data.
    pub bytes: u64,
    /// Bits of the slices.
    pub slice_bits: u64,
    /// Bins of CABAC.
    pub bins: u64,
    /// Bytes of padding.
    pub padding: u64,
    /// Bytes and bits of the last slice.
    pub last_slice: [u64; 2],
    /// Sum of the luma quantisers of the macroblocks.
    pub quantisers: u64,
}

/// Writes the sizes of a picture to the status registers. The image status says that no limit is
/// exceeded: the model does not compare sizes with limits.
pub fn publish(exec: &mut Exec<'_>, sizes: &Sizes) {
    let registers = &mut exec.state.registers;
    let mut put = |offset: u32, value: [u32; 1]| registers.write(offset, value[0]);
    let count = U::from_bits;
    put(
        MfcBitstreamBytecountFrame::OFFSET,
        MfcBitstreamBytecountFrame { bytes: count(sizes.bytes) }.pack(),
    );
    put(
        MfcBitstreamSeBitcountFrame::OFFSET,
        MfcBitstreamSeBitcountFrame { bits: count(sizes.slice_bits) }.pack(),
    );
    put(
        MfcAvcCabacBinCountFrame::OFFSET,
        MfcAvcCabacBinCountFrame { bins: count(sizes.bins) }.pack(),
    );
    put(
        MfcBitstreamBytecountSlice::OFFSET,
        MfcBitstreamBytecountSlice { bytes: count(sizes.last_slice[0]) }.pack(),
    );
    put(
        MfcBitstreamSeBitcountSlice::OFFSET,
        MfcBitstreamSeBitcountSlice { bits: count(sizes.last_slice[1]) }.pack(),
    );
    put(
        MfcQpStatusCount::OFFSET,
        MfcQpStatusCount {
            cumulative_qp: U::from_bits(sizes.quantisers),
            ..MfcQpStatusCount::new()
        }
        .pack(),
    );
    put(MfcAvcCabacInsertionCount::OFFSET, MfcAvcCabacInsertionCount::new().pack());
    put(
        MfcAvcMinsizePaddingCount::OFFSET,
        MfcAvcMinsizePaddingCount { bytes: count(sizes.padding) }.pack(),
    );
    put(MfcImageStatusMask::OFFSET, MfcImageStatusMask::new().pack());
    put(MfcImageStatusControl::OFFSET, MfcImageStatusControl::new().pack());
}
