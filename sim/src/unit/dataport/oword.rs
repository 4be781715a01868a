//! Oword blocks: runs of 16 bytes along a buffer. They ignore the execution mask (G45 vol 4, 5.10.1).

use super::bound;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::fault::Fault;
use crate::observe::Observer;
use crate::surface::SurfaceKind;
use crate::unit::{Bound, Port};
use genxml::gen8::messages::{MdcDbOw, MhBtsGo, Msd0rOwb, Msd0wOwb};

/// First byte in the first register, and length, of a block of owords.
fn owords<O: Observer>(
    port: &Port<'_, '_, O>,
    blocks: MdcDbOw,
    message: &Message,
) -> Result<(usize, usize), Fault> {
    match blocks {
        MdcDbOw::OW1L => Ok((0, 16)),
        MdcDbOw::OW1U => Ok((16, 16)),
        MdcDbOw::OW2 => Ok((0, 32)),
        MdcDbOw::OW4 => Ok((0, 64)),
        MdcDbOw::OW8 => Ok((0, 128)),
        other => Err(port.illegal(format!("oword block size {} is reserved", other.bits()), message)),
    }
}

/// Bytes of a buffer that exist from `offset` on, at most `length`. Beyond the end reads give 0 and writes vanish.
fn inside(bound: &Bound, offset: u64, length: usize) -> usize {
    let surface = &bound.surface;
    let size = match surface.kind {
        SurfaceKind::Null => 0,
        SurfaceKind::Buffer | SurfaceKind::Structured => {
            u64::from(surface.width) * u64::from(surface.pitch.max(surface.element_bytes))
        }
        SurfaceKind::Image => u64::from(surface.pitch) * u64::from(surface.height),
    };
    size.saturating_sub(offset).min(length as u64) as usize
}

pub(super) fn read_owords<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &mut Registers,
    message: &Message,
    unit: u64,
) -> Result<(), Fault> {
    let descriptor = Msd0rOwb::unpack_lossy(&[message.descriptor]);
    let (at, length) = owords(port, descriptor.data_blocks, message)?;
    if !descriptor.header_present {
        return Err(port.illegal("an oword block message without a header".into(), message));
    }
    let header = MhBtsGo::unpack_lossy(&registers.dwords(message.payload));
    let bound = bound(port, descriptor.binding_table_index.get() as u8, message)?;
    let offset = header.global_offset.get() * unit;
    let Some(response) = message.response else { return Ok(()) };
    let first = response + at;
    if first + length > response + descriptor.response_length.get() as usize * REGISTER {
        return Err(port.illegal(format!("{length} bytes of owords in a shorter response"), message));
    }
    let mut data = vec![0; length];
    let there = inside(&bound, offset, length);
    port.exec
        .vm
        .read(bound.surface.base.wrapping_add(offset), &mut data[..there])
        .map_err(|fault| port.exec.page(fault, "oword block read"))?;
    registers.grf_mut()[first..first + length].copy_from_slice(&data);
    port.exec.stats.bytes_read += there as u64;
    Ok(())
}

pub(super) fn write_owords<O: Observer>(
    port: &mut Port<'_, '_, O>,
    registers: &Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd0wOwb::unpack_lossy(&[message.descriptor]);
    let (at, length) = owords(port, descriptor.data_blocks, message)?;
    if !descriptor.header_present {
        return Err(port.illegal("an oword block message without a header".into(), message));
    }
    let header = MhBtsGo::unpack_lossy(&registers.dwords(message.payload));
    let bound = bound(port, descriptor.binding_table_index.get() as u8, message)?;
    let offset = header.global_offset.get() * 16;
    let first = message.payload + REGISTER + at;
    if first + length > message.payload + descriptor.message_length.get() as usize * REGISTER {
        return Err(port.illegal(format!("{length} bytes of owords in a shorter message"), message));
    }
    let there = inside(&bound, offset, length);
    let data = &registers.grf()[first..first + there];
    port.exec
        .vm
        .write(bound.surface.base.wrapping_add(offset), data)
        .map_err(|fault| port.exec.page(fault, "oword block write"))?;
    port.exec.stats.bytes_written += there as u64;
    Ok(())
}
