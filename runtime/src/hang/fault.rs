//! Page faults.

use super::registers::{Described, Registers};
use crate::error_state::{Engine, ErrorState};
use crate::memory::VA_MASK;

/// A page fault.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fault {
    /// GPU address of the page, if the file has it.
    pub address: Option<u64>,
    /// True if the address is in the global page table.
    pub global: bool,
    /// The table that had no entry, by the manual's name.
    pub kind: Option<&'static str>,
    /// The engine that made the access, by the manual's name.
    pub engine: Option<&'static str>,
    /// Number of the unit that made the access.
    pub source: Option<u64>,
    /// The buffer that holds the address; if none does, the nearest one below and above it.
    pub near: Vec<Near>,
}

/// Memory near an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// Name of the buffer, or of the list that contains the buffer.
    pub name: String,
    /// First address of the memory.
    pub address: u64,
    /// The address after its last byte.
    pub end: u64,
    /// True if the file has the bytes of the memory; otherwise only a list of buffers names it.
    pub has_bytes: bool,
}

impl Near {
    /// Distance in bytes to an address: 0 if the memory holds it, 1 for the first byte after the
    /// end.
    pub fn distance(&self, address: u64) -> u64 {
        if address < self.address {
            self.address - address
        } else if address < self.end {
            0
        } else {
            // The first byte after the memory has distance one.
            address - self.end + 1
        }
    }

    /// True if the memory holds the address.
    pub fn holds(&self, address: u64) -> bool {
        self.distance(address) == 0
    }
}

/// The page fault that an engine's register reports, with the address from the device's
/// registers. `None` if the valid bit is not set.
pub(super) fn of_engine(
    registers: Registers<'_>,
    state: &ErrorState,
    engine: &Engine,
) -> Option<Fault> {
    let (register, value) = valid(registers, engine)?;
    let mut fault = of_device(registers, state).unwrap_or_default();
    fault.kind = register.field_name("Fault Type", value);
    fault.engine = register.field_name("Engine ID", value);
    fault.source = register.field("SRCID of Fault", value);
    if fault.address.is_none() {
        fault.global = register.field("GTTSEL", value) == Some(1);
        // Gen7 has the address in this register.
        fault.address = register.field("Address", value);
        fault.near = fault.address.map_or_else(Vec::new, |at| near(state, at, fault.global));
    }
    Some(fault)
}

/// True if an engine's register reports a page fault.
pub(super) fn is_valid(registers: Registers<'_>, engine: &Engine) -> bool {
    valid(registers, engine).is_some()
}

/// An engine's register of page faults and its value. `None` if the valid bit is not set.
fn valid<'a>(registers: Registers<'a>, engine: &Engine) -> Option<(Described<'a>, u64)> {
    let value = engine.value("FAULT_REG")?;
    let register = registers.describe(None, "FAULT_REG", "FAULT_REG")?;
    (register.field("Valid Bit", value)? != 0).then_some((register, value))
}

/// The last page fault, with the address from the device's registers. `None` if they are missing
/// or zero.
pub(super) fn of_device(registers: Registers<'_>, state: &ErrorState) -> Option<Fault> {
    let data = state.register("FAULT_TLB_DATA")?;
    let (high, low) = (data.value, *data.more.first()?);
    if high == 0 && low == 0 {
        return None;
    }
    let describe = |name| registers.describe(None, name, name);
    let low = describe("GEN8_FAULT_TLB_DATA0")?.field("FAULT_VA", low)?;
    let high_part = describe("GEN8_FAULT_TLB_DATA1")?;
    let bits = high_part.field("FAULT_VA_HIGH_BITS", high)?;
    let global = high_part.field("FAULT_GTT_SEL", high) == Some(1);
    // DATA0 holds bits 43:12 of the address, DATA1 the bits above.
    let address = bits * (crate::error_state::FAULT_LOW + 1) + low;
    Some(Fault {
        address: Some(address),
        global,
        near: near(state, address, global),
        ..Fault::default()
    })
}

/// The memory that holds an address; if none does, the nearest below and above it.
pub(super) fn near(state: &ErrorState, address: u64, global: bool) -> Vec<Near> {
    let buffers = state
        .buffers
        .iter()
        .filter(|buffer| buffer.kind.is_global() == global && !buffer.data.is_empty());
    let buffers = buffers.map(|buffer| {
        let engine = buffer.engine.as_deref().unwrap_or("global");
        let name = format!("{engine} {}", buffer.kind.name());
        let address = buffer.address & VA_MASK;
        // The end of the last buffer may be 2^48.
        let end = address + buffer.data.len() as u64;
        Near { name, address, end, has_bytes: true }
    });
    let listed = state.lists.iter().flat_map(|list| {
        list.rows.iter().map(|row| {
            let address = row.address & VA_MASK;
            Near {
                name: format!("a buffer of the list {}", list.name),
                address,
                end: address.saturating_add(row.size),
                has_bytes: false,
            }
        })
    });
    // Buffers with bytes come first, because the first of several equally near entries is used.
    let all: Vec<Near> = buffers.chain(listed.filter(|_| !global)).collect();
    if let Some(holds) = all.iter().find(|near| near.holds(address)) {
        return vec![holds.clone()];
    }
    let below = all.iter().filter(|near| near.end <= address).min_by_key(|near| address - near.end);
    let above =
        all.iter().filter(|near| near.address > address).min_by_key(|near| near.address - address);
    below.into_iter().chain(above).cloned().collect()
}
