//! The buffer of a message: a surface of the binding table, or a stateless buffer (003:4315-4342).

use crate::assumptions::OFFSETS_ADD_BEYOND_32_BITS;
use crate::eu::regions::Registers;
use crate::gen45::message::bindings::STATELESS;
use crate::gen45::message::payload::Payload;
use crate::gen45::message::port::Port;
use crate::gen45::state::ADDRESSES;
use crate::machine::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::surface::SurfaceKind;
use genxml::gen45::message_headers::DataPortMessageHeader;

/// Bytes of an oword.
pub const OWORD: usize = 16;

/// A row of bytes. Reads outside of it return 0, writes outside are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Graphics address of the first byte.
    base: u64,
    /// Number of bytes.
    size: u64,
    /// Global Offset of the message, in bytes.
    global: u32,
}

impl Buffer {
    /// The buffer that a message with the header of the data port selects. The size of a surface
    /// counts entries of 16 bytes, whatever its pitch is (003:4543). A stateless buffer ends at the
    /// upper bound of general state.
    ///
    /// # Errors
    /// Faults of the surface state; [`Fault::IllegalInstruction`] for a surface that is not a
    /// buffer.
    pub fn of(
        port: &mut Port<'_, '_>,
        registers: &Registers,
        payload: &Payload<'_>,
        index: u64,
    ) -> Result<Buffer, Fault> {
        if payload.sent() == 0 {
            return Err(payload.illegal(port, "without a header"));
        }
        let header = DataPortMessageHeader::unpack_lossy(&payload.dwords(registers, 0));
        let global = header.global_offset.get() as u32;
        let index = index as u8;
        if index == STATELESS {
            let bindings = &port.bindings;
            let offset = header.immediate_buffer_base_address.get();
            let base = bindings.general_base.wrapping_add(offset) & ADDRESSES;
            let end = match bindings.general_bound {
                0 => 1 << 32,
                bound => bound,
            };
            return Ok(Buffer { base, size: end.saturating_sub(base), global });
        }
        let surface = port.bindings.surface(port.exec, index)?.surface;
        match surface.kind {
            SurfaceKind::Null => Ok(Buffer { base: 0, size: 0, global }),
            SurfaceKind::Buffer => {
                let size = OWORD as u64 * u64::from(surface.width);
                Ok(Buffer { base: surface.base, size, global })
            }
            _ => Err(payload.illegal(port, &format!("surface {index} is not a buffer"))),
        }
    }

    /// The offset of a block or dword: Global Offset plus `own`, rounded down to `unit` bytes.
    pub fn offset(&self, own: u32, unit: u64) -> u64 {
        let sum = match OFFSETS_ADD_BEYOND_32_BITS {
            true => u64::from(self.global) + u64::from(own),
            false => self.global.wrapping_add(own).into(),
        };
        sum & !(unit - 1)
    }

    /// True if `length` bytes from `offset` on lie in the buffer.
    fn contains(&self, offset: u64, length: usize) -> bool {
        offset.checked_add(length as u64).is_some_and(|end| end <= self.size)
    }

    /// Reads bytes; 0 outside of the buffer. The bytes must not cross a multiple
    /// of the unit of the buffer's size, which is 16 bytes for a surface.
    ///
    /// # Errors
    /// A page fault.
    pub fn read(&self, vm: &Vm<'_>, offset: u64, out: &mut [u8]) -> Result<u64, PageFault> {
        if !self.contains(offset, out.len()) {
            out.fill(0);
            return Ok(0);
        }
        vm.read(self.base.wrapping_add(offset) & ADDRESSES, out)?;
        Ok(out.len() as u64)
    }

    /// Writes bytes; drops them outside of the buffer.
    ///
    /// # Errors
    /// A page fault.
    pub fn write(&self, vm: &mut Vm<'_>, offset: u64, bytes: &[u8]) -> Result<u64, PageFault> {
        if !self.contains(offset, bytes.len()) {
            return Ok(0);
        }
        vm.write(self.base.wrapping_add(offset) & ADDRESSES, bytes)?;
        Ok(bytes.len() as u64)
    }
}
