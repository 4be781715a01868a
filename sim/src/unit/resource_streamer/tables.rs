//! Binding tables inside the resource streamer. Packets edit the table of a stage. A packet that
//! sets the stage's binding table pointer makes the streamer write the table to the pool, and the
//! pipeline reads it there.

use super::chip::{ENTRIES, ResourceStreamer, running};
use super::pool::Pool;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::stage::Stage;
use genxml::gen8::render3d_binding::{BindingTableEditEntry, BindingTableEditTarget as Target};
use genxml::gen8::structures::HwGeneratedBindingTableState;

/// Entries that one bit of Binding Table Block Clear clears (2a p.16).
const BLOCK: usize = 16;
/// Bytes of an entry in the pool.
pub const ENTRY_BYTES: usize = HwGeneratedBindingTableState::BITS as usize / 8;

/// 3DSTATE_BINDING_TABLE_EDIT_*: clears the blocks whose bit is set in `clear`, then sets entries
/// in the order of the packet (2a p.16-17). The pool need not be enabled
/// (assumptions::STREAMER_STATE_CHANGES_WITHOUT_POOL).
///
/// # Errors
/// [`Fault::BadPacket`] if the streamer does not follow the batch, for the reserved target 0, or
/// for more than 256 entries; [`Fault::Unimplemented`] for edits of the second core alone.
pub fn edit(
    exec: &mut Exec<'_>,
    stage: Stage,
    target: Target,
    clear: u64,
    entries: impl ExactSizeIterator<Item = BindingTableEditEntry>,
) -> Result<(), Fault> {
    running(exec)?;
    match target {
        Target::CORE_0 | Target::ALL_CORES => {}
        Target::CORE_1 => {
            return Err(exec.unimplemented("Binding Table Edit Target = Core 1", "2a p.17"));
        }
        other => {
            let why = "the value is reserved; use All Cores (3)";
            return Err(exec.bad_field("Binding Table Edit Target", other.bits(), why));
        }
    }
    if entries.len() > ENTRIES {
        let why = "a packet edits at most 256 entries";
        return Err(exec.bad_field("DWord Length", entries.len() as u64, why));
    }
    let table = &mut ResourceStreamer::chip(exec).tables[stage as usize];
    for (block, entries) in table.chunks_exact_mut(BLOCK).enumerate() {
        if clear >> block & 1 != 0 {
            entries.fill(HwGeneratedBindingTableState::new());
        }
    }
    for entry in entries {
        table[entry.binding_table_index.get() as usize] =
            HwGeneratedBindingTableState { surface_state_pointer: entry.surface_state_pointer };
    }
    Ok(())
}

/// Byte offset in the pool of the table that a 3DSTATE_BINDING_TABLE_POINTERS_* selects. With a
/// pool, bits 15:5 of the packet hold bits 16:6 of the offset (2a p.26-27). `pointer` is the
/// packet's field as an offset from Surface State Base Address.
pub fn pool_offset(pointer: u64) -> u64 {
    2 * pointer
}

/// 3DSTATE_BINDING_TABLE_POINTERS_*: writes the table of the stage to the pool at the packet's
/// pointer, if the streamer follows the batch and its pool is enabled. Writes all 256 entries, or
/// those before the end of the pool (assumptions::HARDWARE_TABLES_ARE_WRITTEN_WHOLE).
///
/// # Errors
/// [`Fault::Page`] if the pool is not mapped there.
pub fn write(exec: &mut Exec<'_>, stage: Stage, pointer: u64) -> Result<(), Fault> {
    if !exec.mode.resource_streamer {
        return Ok(());
    }
    let chip = ResourceStreamer::chip(exec);
    let Some(pool) = chip.table_pool else { return Ok(()) };
    let mut bytes = [0; ENTRIES * ENTRY_BYTES];
    for (bytes, entry) in bytes.chunks_exact_mut(ENTRY_BYTES).zip(&chip.tables[stage as usize]) {
        bytes.copy_from_slice(&entry.pack()[0].to_le_bytes()[..ENTRY_BYTES]);
    }
    let offset = pool_offset(pointer);
    let length = bytes.len().min(pool.after(offset) as usize);
    exec.vm
        .write(pool.address(offset), &bytes[..length])
        .map_err(|fault| exec.page(fault, "binding table pool"))?;
    exec.stats.bytes_written += length as u64;
    Ok(())
}

/// Where the pipeline finds the entries of a binding table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// Entries of 32 bits at a graphics address.
    Software(u64),
    /// Entries of 16 bits in a pool, at a byte offset.
    Pool(Pool, u64),
}

impl Table {
    /// The table of a stage whose packet 3DSTATE_BINDING_TABLE_POINTERS_* has `pointer`. The newest
    /// 3DSTATE_BINDING_TABLE_POOL_ALLOC decides whether the table is in a pool, even if the
    /// streamer did not follow the batch of that packet (2a p.28).
    pub fn of(exec: &Exec<'_>, pointer: u64) -> Table {
        let pool = Pool::of_tables(&exec.state.latched.read(0));
        Table::new(exec.state.base.surface, pointer, pool)
    }

    /// The table at `pointer` in the pool; without a pool, at `pointer` from the address `base`.
    pub fn new(base: u64, pointer: u64, pool: Option<Pool>) -> Table {
        match pool {
            Some(pool) => Table::Pool(pool, pool_offset(pointer)),
            None => Table::Software(base.wrapping_add(pointer)),
        }
    }

    /// Offset of the surface state of entry `index` from Surface State Base Address. `read` reads
    /// memory at a graphics address. Entries after the end of a pool are 0 (2a p.29).
    ///
    /// # Errors
    /// The error of `read`.
    pub fn entry<E>(
        self,
        index: u8,
        read: impl FnOnce(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut bytes = [0; 4];
        match self {
            Table::Software(table) => {
                read(table.wrapping_add(4 * u64::from(index)), &mut bytes)?;
                let entry = [u32::from_le_bytes(bytes)];
                Ok(genxml::gen8::state::BindingTableState::unpack_lossy(&entry)
                    .surface_state_pointer
                    .get())
            }
            Table::Pool(pool, table) => {
                let offset = table + ENTRY_BYTES as u64 * u64::from(index);
                if pool.after(offset) >= ENTRY_BYTES as u64 {
                    read(pool.address(offset), &mut bytes[..ENTRY_BYTES])?;
                }
                let entry = [u32::from_le_bytes(bytes)];
                Ok(HwGeneratedBindingTableState::unpack_lossy(&entry).surface_state_pointer.get())
            }
        }
    }
}
