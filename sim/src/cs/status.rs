//! Status pages: where an engine, and a context, leave numbers for the driver.
//!
//! The engine's page is where RING_HWS_PGA says, in the global table; the page of a context is the first one of its image.

use super::memory;
use crate::context::Exec;
use crate::fault::Fault;
use crate::mem::PAGE;
use crate::observe::Observer;
use genxml::core::Packed;
use genxml::core::reflect::Container;
use genxml::gen8::context::{HardwareStatusPageLayout, PphwspLayout};
use genxml::gen8::engine_registers::{RingHead, RingHwsPga};
use genxml::gen8::mi::{MiReportHead, MiStoreDataIndex};

/// Byte offset in a structure of a field or an array.
///
/// # Panics
/// If the specification has no such field: tests name all that are used.
pub(super) fn offset(structure: &Container, name: &str) -> u64 {
    let field = structure.fields.iter().find(|field| field.name == name).map(|field| field.start);
    let start =
        field.or_else(|| structure.groups.iter().find(|group| group.name == name).map(|group| group.start));
    u64::from(start.expect("a field of the structure") / 8)
}

/// Where the context status of entry `index` goes.
pub(super) fn context_status(index: u32) -> u64 {
    offset(HardwareStatusPageLayout::INFO, "Context Status DWords") + 8 * u64::from(index)
}

/// Where the number of the newest entry goes.
pub(super) fn last_written() -> u64 {
    offset(HardwareStatusPageLayout::INFO, "Last Written Status Offset")
}

/// Where the head pointer goes; the same in both kinds of page.
pub(super) fn head() -> u64 {
    offset(PphwspLayout::INFO, "Ring Head Pointer Storage")
}

/// Where a time stamp of the context goes, or what it waits for.
pub(super) fn of_context(name: &str) -> u64 {
    offset(PphwspLayout::INFO, name)
}

/// The address of a status page in the global table.
///
/// # Errors
/// [`Fault::BadPacket`] if there is no page: nothing was written to RING_HWS_PGA, or the context has no image.
pub fn page<O: Observer>(exec: &Exec<'_, O>, of_context: bool) -> Result<u64, Fault> {
    let page = match of_context {
        true => exec.mode.image.unwrap_or(0),
        false => exec.device.engine(exec.engine, RingHwsPga::OFFSET),
    };
    match (page, of_context) {
        (0, true) => {
            Err(exec.bad_field("status page", 0, "a context without an image has no hardware status page"))
        }
        (0, false) => Err(exec.bad_field("RING_HWS_PGA", 0, "there is no hardware status page")),
        _ => Ok(page.into()),
    }
}

/// Writes a dword to a status page.
///
/// # Errors
/// As [`page`], or [`Fault::Page`] if the page is not mapped.
pub fn write<O: Observer>(
    exec: &mut Exec<'_, O>,
    of_context: bool,
    offset: u64,
    value: u32,
) -> Result<(), Fault> {
    let page = page(exec, of_context)?;
    memory::write(exec, true, page + offset, value, "hardware status page")
}

/// MI_STORE_DATA_INDEX: dwords from an offset of a status page on, the engine's or the context's.
pub fn store_data_index<O: Observer>(
    exec: &mut Exec<'_, O>,
    packet: &MiStoreDataIndex<'_>,
) -> Result<(), Fault> {
    let of_context = packet.use_per_process_hardware_status_page.get() != 0;
    let offset = packet.offset.get();
    let bytes = 4 * packet.data_dword.len() as u64;
    if bytes == 0 {
        return Err(exec.bad_field("DWord Length", packet.dwords() as u64 - 2, "there must be data"));
    }
    if offset + bytes > PAGE {
        return Err(exec.bad_field("Offset", offset, "a status page has 4096 bytes"));
    }
    // The engine's page is not the context's own (gen8_facts 1.1).
    if memory::allowed(exec, !of_context) {
        for (index, dword) in packet.data_dword.iter().enumerate() {
            write(exec, of_context, offset + 4 * index as u64, dword.get() as u32)?;
        }
    }
    Ok(())
}

/// MI_REPORT_HEAD: RING_HEAD to the status page, the context's if it has one (2d p.199, p.305).
pub fn report_head<O: Observer>(exec: &mut Exec<'_, O>, _: &MiReportHead) -> Result<(), Fault> {
    let register = exec.device.engine(exec.engine, RingHead::OFFSET);
    write(exec, exec.mode.image.is_some(), head(), register)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: gen8_facts 1.3 and 2d p.199, p.305 (dword numbers).
    #[test]
    fn places() {
        assert_eq!((context_status(0), context_status(5), last_written()), (0x40, 0x68, 0x7c));
        assert_eq!((head(), offset(HardwareStatusPageLayout::INFO, "Ring Head Pointer Storage")), (16, 16));
        let names = [
            ("Cumulative Context Run Time", 16),
            ("Preempt Request Received Timestamp", 18),
            ("Context Restore Complete Timestamp", 20),
            ("Context Save Finished Timestamp", 22),
            ("MI_SEMAPHORE_WAIT", 24),
        ];
        for (name, dword) in names {
            assert_eq!(of_context(name), 4 * dword, "{name}");
        }
    }
}
