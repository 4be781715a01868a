//! Hardware status pages: memory in which an engine or a context reports values to the driver.
//!
//! RING_HWS_PGA holds the global address of an engine's page. The page of a context is the first
//! page of its image.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::memory;
use crate::mem::PAGE;
use genxml::core::Packed;
use genxml::core::reflect::Container;
use genxml::gen8::context::{HardwareStatusPageLayout, PphwspLayout};
use genxml::gen8::engine_registers::{RingHead, RingHwsPga};
use genxml::gen8::mi::{MiReportHead, MiStoreDataIndex};
use std::sync::LazyLock;

/// Byte offsets in status pages.
pub(crate) struct Places {
    /// The ring's head pointer; the same offset in both kinds of page.
    pub head: u64,
    /// In an engine's page: the first context status entry; entries have 8 bytes.
    context_status: u64,
    /// In an engine's page: the index of the newest context status entry.
    pub last_written: u64,
    /// In a context's page: the total time that the context ran.
    pub run_time: u64,
    /// In a context's page: the time when its restore was complete.
    pub restored: u64,
    /// In a context's page: the time when its save was complete.
    pub saved: u64,
    /// In a context's page: the MI_SEMAPHORE_WAIT at which the context waits.
    pub semaphore: u64,
}

impl Places {
    /// Byte offset of context status entry `index`.
    pub fn context_status(&self, index: u32) -> u64 {
        self.context_status + 8 * u64::from(index)
    }
}

/// The offsets in the layouts of the specification, looked up once.
pub(crate) static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let (engine, context) = (HardwareStatusPageLayout::INFO, PphwspLayout::INFO);
    Places {
        head: offset(context, "Ring Head Pointer Storage"),
        context_status: offset(engine, "Context Status DWords"),
        last_written: offset(engine, "Last Written Status Offset"),
        run_time: offset(context, "Cumulative Context Run Time"),
        restored: offset(context, "Context Restore Complete Timestamp"),
        saved: offset(context, "Context Save Finished Timestamp"),
        semaphore: offset(context, "MI_SEMAPHORE_WAIT"),
    }
});

/// Byte offset of a field or an array from the start of a structure.
///
/// # Panics
/// If the structure has no field or array of this name. A test checks all names that are used.
fn offset(structure: &Container, name: &str) -> u64 {
    let field = structure.fields.iter().find(|field| field.name == name).map(|field| field.start);
    let start = field.or_else(|| {
        structure.groups.iter().find(|group| group.name == name).map(|group| group.start)
    });
    u64::from(start.expect("the structure has no field or array of the requested name") / 8)
}

/// The global address of a status page: the context's if `of_context`, else the engine's.
///
/// # Errors
/// [`Fault::BadPacket`] if there is no page: RING_HWS_PGA is 0, or the context has no image.
pub fn page(exec: &Exec<'_>, of_context: bool) -> Result<u64, Fault> {
    let page = match of_context {
        true => exec.mode.image.unwrap_or(0),
        false => exec.device.engine(exec.engine, RingHwsPga::OFFSET),
    };
    match (page, of_context) {
        (0, true) => Err(exec.bad_field(
            "status page",
            0,
            "a context without an image has no hardware status page",
        )),
        (0, false) => Err(exec.bad_field("RING_HWS_PGA", 0, "there is no hardware status page")),
        _ => Ok(page.into()),
    }
}

/// Writes dwords to a status page, starting at byte offset `offset`. `field` is the packet's field
/// that holds the offset, for faults. Writes beyond the page are refused, because a batch without
/// privilege may write to the page of its context (Linux i915 gvt/cmd_parser.c has the same check).
///
/// # Errors
/// The errors of [`page`]; [`Fault::BadPacket`] if the dwords are not all in the page;
/// [`Fault::Page`] if the page is not mapped.
pub fn write(
    exec: &mut Exec<'_>,
    of_context: bool,
    offset: u64,
    dwords: &[u32],
    field: &'static str,
) -> Result<(), Fault> {
    let page = page(exec, of_context)?;
    if offset.checked_add(4 * dwords.len() as u64).is_none_or(|end| end > PAGE) {
        return Err(exec.bad_field(field, offset, "a status page has 4096 bytes"));
    }
    for (index, dword) in dwords.iter().enumerate() {
        memory::write(
            exec,
            true,
            page + offset + 4 * index as u64,
            *dword,
            "hardware status page",
        )?;
    }
    Ok(())
}

/// MI_STORE_DATA_INDEX: writes dwords at an offset in the status page of the engine or context.
pub fn store_data_index(exec: &mut Exec<'_>, packet: &MiStoreDataIndex<'_>) -> Result<(), Fault> {
    let of_context = packet.use_per_process_hardware_status_page;
    let offset = packet.offset.get();
    let bytes = 4 * packet.data_dword.len() as u64;
    if bytes == 0 {
        return Err(exec.bad_field(
            "DWord Length",
            packet.dwords() as u64 - 2,
            "the packet has no data",
        ));
    }
    if offset + bytes > PAGE {
        return Err(exec.bad_field("Offset", offset, "a status page has 4096 bytes"));
    }
    // The engine's page does not belong to the context, so it needs privilege (gen8_facts 1.1).
    if exec.allowed(!of_context) {
        for (index, dword) in packet.data_dword.iter().enumerate() {
            write(exec, of_context, offset + 4 * index as u64, &[dword.get() as u32], "Offset")?;
        }
    }
    Ok(())
}

/// MI_REPORT_HEAD: writes RING_HEAD to the status page of the context, or of the engine if the
/// context has no image (2d p.199, p.305).
pub fn report_head(exec: &mut Exec<'_>, _: &MiReportHead) -> Result<(), Fault> {
    let register = exec.device.engine(exec.engine, RingHead::OFFSET);
    write(exec, exec.mode.image.is_some(), PLACES.head, &[register], "Ring Head Pointer Storage")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: gen8_facts 1.3 and 2d p.199, p.305 (dword numbers).
    #[test]
    fn places() {
        let places = &*PLACES;
        let status = [0, 5].map(|entry| places.context_status(entry));
        assert_eq!((status, places.last_written), ([0x40, 0x68], 0x7c));
        let head = offset(HardwareStatusPageLayout::INFO, "Ring Head Pointer Storage");
        assert_eq!((places.head, head), (16, 16));
        let dwords =
            [places.run_time, places.restored, places.saved, places.semaphore].map(|at| at / 4);
        assert_eq!(dwords, [16, 20, 22, 24]);
    }
}
