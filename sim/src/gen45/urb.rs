//! Unified return buffer of G45: 384 rows of 512 bits (003:6536-6542; digests/gen45_facts 4).
//!
//! [`Urb::fence`] gives each unit a section. A unit divides its section into entries of equal size
//! ([`Urb::begin`]). The handle of an entry is the number of its first row. The constants of the
//! command streamer (CURBE) are entries too; [`Urb::curbe`] is the newest one.

use super::state::{ADDRESSES, State};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::slots::UnitState;
use genxml::gen45::commands_common::{ConstantBuffer, CsUrbState, UrbFence};
use std::fmt;
use std::ops::Range;

/// Number of rows.
pub const ROWS: usize = 384;
/// Bytes of a row.
pub const ROW: usize = 64;
/// Bytes of a register, which is half a row.
const REGISTER: usize = ROW / 2;
/// Maximum number of rows of constants that CONSTANT_BUFFER can load.
const MOST_CONSTANTS: usize = 64;
/// Maximum number of vertices that a thread of GS or CLIP can produce. The largest output of a
/// clip kernel is about 20 vertices; the limit bounds the memory of a kernel that never ends.
pub const MOST_PRODUCED: usize = 4096;

/// Units with a section, in the order of the sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    /// Vertex shader; vertex fetch writes its entries too.
    #[default]
    Vs,
    /// Geometry shader.
    Gs,
    /// Clipper.
    Clip,
    /// Strips and fans: setup entries.
    Sf,
    /// Video front end, in the media pipeline.
    Vfe,
    /// Command streamer: constants.
    Cs,
}

/// Number of units with a section.
const UNITS: usize = 6;

/// A value that the buffer cannot use.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct BadUrb {
    /// The field of the packet or unit state.
    pub field: &'static str,
    /// The value of the field.
    pub value: u64,
    /// What is wrong with the value.
    pub why: &'static str,
}

genxml_core::debug_as_display!(BadUrb);

impl fmt::Display for BadUrb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:#x}: {}", self.field, self.value, self.why)
    }
}

fn bad(field: &'static str, value: usize, why: &'static str) -> BadUrb {
    BadUrb { field, value: value as u64, why }
}

/// A vertex that a thread of GS or CLIP has completed. Its data are in [`Urb::produced_data`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Produced {
    /// Handle of the entry.
    pub handle: u16,
    /// Primitive type (3D_Prim_Topo_Type).
    pub topology: u8,
    /// True for the first vertex of a primitive.
    pub start: bool,
    /// True for the last vertex of a primitive.
    pub end: bool,
}

/// The entries of the unit whose threads run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Pool {
    unit: Unit,
    /// First row of the first entry.
    first: usize,
    /// Number of entries.
    entries: usize,
    /// Rows of an entry.
    rows: usize,
    /// Number of the entry that the next allocation returns.
    next: usize,
}

/// The unified return buffer.
#[derive(Clone, PartialEq, Eq)]
pub struct Urb {
    bytes: Vec<u8>,
    /// First row and end of each section.
    sections: [[usize; 2]; UNITS],
    /// Number of CURBE entries, and rows of one.
    constants: [usize; 2],
    /// Number of CURBE entries that were loaded since the section moved.
    loaded: usize,
    /// Rows of the newest CURBE entry that hold constants.
    curbe: Range<usize>,
    pool: Pool,
    /// Vertices that threads of GS or CLIP have completed, in order. The unit takes them.
    pub produced: Vec<Produced>,
    /// Contents of the entries of `produced`, one after the other, each with all rows of an entry.
    /// They are copies, because entries are used again before the unit reads them.
    pub produced_data: Vec<u8>,
}

impl UnitState for Urb {}

impl Default for Urb {
    fn default() -> Urb {
        Urb {
            bytes: vec![0; ROWS * ROW],
            sections: [[0; 2]; UNITS],
            constants: [0; 2],
            loaded: 0,
            curbe: 0..0,
            pool: Pool::default(),
            produced: Vec::new(),
            produced_data: Vec::new(),
        }
    }
}

impl fmt::Debug for Urb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Urb({:?})", self.sections)
    }
}

impl Urb {
    /// URB_FENCE: moves the ends of sections. A section starts where the one before ends; the
    /// section of VFE is empty unless its fence was set. The entries of a section that moves are
    /// lost. (digests/gen45_facts 4.1)
    ///
    /// # Errors
    /// [`BadUrb`] for a section that ends before it starts or after the last row. The sections keep
    /// their old position.
    pub fn fence(&mut self, packet: &UrbFence) -> Result<(), BadUrb> {
        let fences = [
            (packet.vs_unit_urb_reallocation_request, packet.vs_fence.get(), "VS Fence"),
            (packet.gs_unit_urb_reallocation_request, packet.gs_fence.get(), "GS Fence"),
            (packet.clip_unit_urb_reallocation_request, packet.clip_fence.get(), "CLIP Fence"),
            (packet.sf_unit_urb_reallocation_request, packet.sf_fence.get(), "SF Fence"),
            (packet.vfe_unit_urb_reallocation_request, packet.vfe_fence.get(), "VFE Fence"),
            (packet.cs_unit_urb_reallocation_request, packet.cs_fence.get(), "CS Fence"),
        ];
        let mut sections = self.sections;
        let mut start = 0;
        for (n, (moves, fence, field)) in fences.into_iter().enumerate() {
            let fence = fence as usize;
            // A fence of 0 means that the unit has no section: the 3D pipeline has no VFE.
            let end = match moves {
                true if fence == 0 => start,
                true => fence,
                false => sections[n][1].max(start),
            };
            if end > ROWS {
                return Err(bad(field, fence, "the buffer has 384 rows"));
            }
            if end < start {
                return Err(bad(field, fence, "the section ends before it starts"));
            }
            sections[n] = [start, end];
            start = end;
        }
        let constants = Unit::Cs as usize;
        if sections[constants] != self.sections[constants] {
            (self.loaded, self.curbe) = (0, 0..0);
        }
        self.sections = sections;
        self.pool = Pool::default();
        Ok(())
    }

    /// CS_URB_STATE: number and size of the CURBE entries.
    pub fn set_constants(&mut self, packet: &CsUrbState) {
        let entries = packet.number_of_urb_entries.get() as usize;
        self.constants = [entries, packet.urb_entry_allocation_size.get() as usize];
        (self.loaded, self.curbe) = (0, 0..0);
    }

    /// CONSTANT_BUFFER: the bytes of the next CURBE entry, to be filled with `rows` rows.
    ///
    /// # Errors
    /// [`BadUrb`] if the rows do not fit an entry, or the entry does not fit the section.
    pub fn next_curbe(&mut self, rows: usize) -> Result<&mut [u8], BadUrb> {
        let [entries, size] = self.constants;
        if entries == 0 {
            let why = "CS_URB_STATE gives the CURBE no entries";
            return Err(bad("Number of URB Entries", entries, why));
        }
        if rows > size {
            return Err(bad("Buffer Length", rows, "longer than an entry (CS_URB_STATE)"));
        }
        let [start, end] = self.sections[Unit::Cs as usize];
        let first = start + self.loaded % entries * size;
        if first + size > end {
            let why = "the entries do not fit the section of CS (URB_FENCE)";
            return Err(bad("URB Entry Allocation Size", size, why));
        }
        self.loaded = self.loaded.wrapping_add(1);
        self.curbe = first..first + rows;
        Ok(&mut self.bytes[first * ROW..(first + rows) * ROW])
    }

    /// CONSTANT_BUFFER without Valid: there are no constants.
    pub fn drop_curbe(&mut self) {
        self.curbe = 0..0;
    }

    /// The constants that were loaded last; empty without constants.
    pub fn curbe(&self) -> &[u8] {
        &self.bytes[self.curbe.start * ROW..self.curbe.end * ROW]
    }

    /// `length` registers of the constants that were loaded last, from register `offset` on.
    /// Constants beyond the loaded ones are 0 (assumptions::G45_CONSTANTS_NOT_LOADED_ARE_ZERO).
    pub fn constants(&self, offset: usize, length: usize) -> Vec<u8> {
        let loaded = self.curbe();
        let from = (offset * REGISTER).min(loaded.len());
        let mut constants = vec![0; length * REGISTER];
        let there = &loaded[from..loaded.len().min(from + constants.len())];
        constants[..there.len()].copy_from_slice(there);
        constants
    }

    /// `count` registers from register `first` of the buffer on; `None` if the buffer ends before.
    pub fn registers(&self, first: usize, count: usize) -> Option<&[u8]> {
        self.bytes.get(first * REGISTER..(first + count) * REGISTER)
    }

    /// Rows of a unit's section.
    pub fn section(&self, unit: Unit) -> Range<usize> {
        let [start, end] = self.sections[unit as usize];
        start..end
    }

    /// Divides the section of a unit into `entries` entries of `rows` rows, for the threads that
    /// follow. Drops vertices that were produced and not taken.
    ///
    /// # Errors
    /// [`BadUrb`] if the section is too small.
    pub fn begin(&mut self, unit: Unit, entries: usize, rows: usize) -> Result<(), BadUrb> {
        let section = self.section(unit);
        if rows == 0 || entries.saturating_mul(rows) > section.len() {
            let why = "the entries of the unit do not fit its section (URB_FENCE)";
            return Err(bad("Number of URB Entries", entries, why));
        }
        self.pool = Pool { unit, first: section.start, entries, rows, next: 0 };
        self.produced.clear();
        self.produced_data.clear();
        Ok(())
    }

    /// The unit whose threads run.
    pub fn unit(&self) -> Unit {
        self.pool.unit
    }

    /// Rows of an entry of the unit whose threads run.
    pub fn entry_rows(&self) -> usize {
        self.pool.rows
    }

    /// Handle of entry `n` of the unit whose threads run. Numbers beyond the last entry start again
    /// with the first one.
    pub fn handle(&self, n: usize) -> u16 {
        let Pool { first, entries, rows, .. } = self.pool;
        (first + n % entries.max(1) * rows) as u16
    }

    /// Handle of the next entry, in turn.
    pub fn allocate(&mut self) -> u16 {
        let handle = self.handle(self.pool.next);
        self.pool.next = self.pool.next.wrapping_add(1);
        handle
    }

    /// Bytes of `rows` rows from `handle` on; fewer if the buffer ends there.
    pub fn rows(&self, handle: u16, rows: usize) -> &[u8] {
        let start = usize::from(handle).min(ROWS);
        &self.bytes[start * ROW..(start + rows.min(ROWS - start)) * ROW]
    }

    /// Bytes of `rows` rows from `handle` on; fewer if the buffer ends there.
    pub fn rows_mut(&mut self, handle: u16, rows: usize) -> &mut [u8] {
        let start = usize::from(handle).min(ROWS);
        &mut self.bytes[start * ROW..(start + rows.min(ROWS - start)) * ROW]
    }

    /// The bytes of entry `handle`; `None` if the unit whose threads run has no such entry. For
    /// threads of the media pipeline, the bytes from row `handle` to the end of the section:
    /// drivers choose handles themselves (assumptions::G45_MEDIA_THREADS_OWN_THE_SECTION).
    pub fn entry_mut(&mut self, handle: u16) -> Option<&mut [u8]> {
        let Pool { unit, first, entries, rows, .. } = self.pool;
        if unit == Unit::Vfe {
            let end = self.section(unit).end;
            let rows = end.checked_sub(handle.into()).filter(|rows| *rows > 0)?;
            return Some(self.rows_mut(handle, rows));
        }
        let offset = usize::from(handle).checked_sub(first)?;
        if rows == 0 || !offset.is_multiple_of(rows) || offset / rows >= entries {
            return None;
        }
        Some(self.rows_mut(handle, rows))
    }

    /// Appends a completed vertex to `produced`. Returns false if there are too many.
    pub fn produce(&mut self, vertex: Produced) -> bool {
        if self.produced.len() >= MOST_PRODUCED {
            return false;
        }
        self.produced.push(vertex);
        let start = usize::from(vertex.handle).min(ROWS);
        let end = start + self.pool.rows.min(ROWS - start);
        self.produced_data.extend_from_slice(&self.bytes[start * ROW..end * ROW]);
        true
    }
}

/// The fault for a value that the buffer cannot use.
fn fault(exec: &Exec<'_>, bad: BadUrb) -> Fault {
    exec.bad_field(bad.field, bad.value, bad.why)
}

/// URB_FENCE: moves the ends of the sections whose reallocation is requested.
///
/// # Errors
/// As [`Urb::fence`].
pub fn fence(exec: &mut Exec<'_>, packet: &UrbFence) -> Result<(), Fault> {
    let done = exec.state.slots.get_mut::<Urb>().fence(packet);
    done.map_err(|bad| fault(exec, bad))
}

/// CS_URB_STATE: number and size of the entries of the section CS. They are checked when they are
/// loaded.
pub fn cs_urb_state(exec: &mut Exec<'_>, packet: &CsUrbState) {
    exec.state.slots.get_mut::<Urb>().set_constants(packet);
}

/// CONSTANT_BUFFER: copies constants from general state to the next entry of the section CS.
///
/// # Errors
/// [`Fault::Page`] at the constants; as [`Urb::next_curbe`].
pub fn constant_buffer(exec: &mut Exec<'_>, packet: &ConstantBuffer) -> Result<(), Fault> {
    if !packet.valid {
        exec.state.slots.get_mut::<Urb>().drop_curbe();
        return Ok(());
    }
    let rows = packet.buffer_length.get() as usize;
    let general = exec.state.slots.get_mut::<State>().base.general;
    let address = general.wrapping_add(packet.buffer_starting_address.get()) & ADDRESSES;
    let mut constants = [0; MOST_CONSTANTS * ROW];
    let constants = &mut constants[..rows.min(MOST_CONSTANTS) * ROW];
    exec.vm.read(address, constants).map_err(|fault| exec.page(fault, "constants"))?;
    match exec.state.slots.get_mut::<Urb>().next_curbe(rows) {
        Ok(entry) => {
            entry.copy_from_slice(constants);
            exec.stats.bytes_read += constants.len() as u64;
            Ok(())
        }
        Err(bad) => Err(fault(exec, bad)),
    }
}
