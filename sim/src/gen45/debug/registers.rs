//! Reads and writes of debug registers, by commands and by the host.

use super::state::Debug;
use super::{attention, value};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::registers::Registers;
use crate::machine::state::State;
use genxml::core::reflect::{Access, Kind, registers};
use genxml::gen45::CONTAINERS;
use genxml::gen45::debug_fixed::{
    ClCtl, ClRdata, GsCtl, GsRdata, SfCtl, SfRdata, SvgCtl, SvgRdata, TsCtl, TsRdata, VfCtl,
    VfRdata, VfeCtl, VfeRdata, VsCtl, VsRdata, WizCtl, WizRdata,
};
use genxml::gen45::debug_shared::{
    DpCtl, DpRdata, EuAttClr, EuCtl, EuRdata, IscL1caCtr, IscL1caRdata, MathCtl, MathRdata, RcCtl,
    RcRdata, SamplerCtl, SamplerRdata, TdCtl, TdRdata, UrbCtl, UrbRdata,
};
use std::ops::RangeInclusive;

/// First byte of the debug registers.
pub const FIRST: u32 = SvgCtl::OFFSET;
/// First byte after the debug registers.
pub const END: u32 = EuRdata::OFFSET + 16;

/// True for the offset of a debug register.
pub fn covers(offset: u32) -> bool {
    (FIRST..END).contains(&offset)
}

/// Something that a register asks for and that the model does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// What it is.
    pub what: String,
    /// Where the manual describes it.
    pub page: &'static str,
}

impl Missing {
    /// The fault, for a command.
    pub fn fault(self, exec: &Exec<'_>) -> Fault {
        exec.unimplemented(self.what, self.page)
    }
}

/// A register that returns one of several words.
struct Window {
    name: &'static str,
    offset: u32,
    /// The mux select of its control register.
    select: fn(&Registers) -> u64,
    /// The selects whose words the manual describes, and that the model has.
    described: &'static [RangeInclusive<u64>],
    page: &'static str,
}

macro_rules! window {
    ($data:ident, $control:ident . $field:ident, $described:expr, $page:literal) => {
        Window {
            name: $data::NAME,
            offset: $data::OFFSET,
            select: |registers| u64::from(value!(registers, $control).$field),
            described: &$described,
            page: $page,
        }
    };
    ($data:ident, $control:ident . $field:ident(), $described:expr, $page:literal) => {
        Window {
            name: $data::NAME,
            offset: $data::OFFSET,
            select: |registers| value!(registers, $control).$field.bits(),
            described: &$described,
            page: $page,
        }
    };
}

/// All of them.
static WINDOWS: [Window; 17] = [
    window!(SvgRdata, SvgCtl.debug_output_mux_select(), [0..=5], "003:1281"),
    window!(VfRdata, VfCtl.snapshot_output_mux_select(), [0..=0], "003:1332"),
    window!(VsRdata, VsCtl.snapshot_output_mux_select(), [0..=0], "003:1439"),
    window!(GsRdata, GsCtl.snapshot_output_mux_select(), [0..=13], "003:1500"),
    window!(ClRdata, ClCtl.snapshot_output_mux_select(), [0..=7], "003:1562"),
    window!(SfRdata, SfCtl.snapshot_output_mux_select(), [0..=7], "003:1632"),
    window!(WizRdata, WizCtl.snapshot_output_mux_select(), [0..=2], "003:1779"),
    window!(VfeRdata, VfeCtl.snapshot_output_mux_select(), [], "003:1829"),
    window!(TsRdata, TsCtl.debug_data_mux_select(), [0..=0, 3..=3], "003:1882"),
    window!(TdRdata, TdCtl.debug_data_mux_select(), [], "003:1986"),
    window!(MathRdata, MathCtl.debug_data_mux_select(), [0..=0], "003:2171"),
    window!(IscL1caRdata, IscL1caCtr.snapshot_output_mux_select(), [], "003:2237"),
    window!(SamplerRdata, SamplerCtl.debug_data_mux_select(), [0..=2], "003:2349"),
    window!(DpRdata, DpCtl.debug_data_mux_select(), [0..=2], "003:2391"),
    window!(RcRdata, RcCtl.snapshot_output_mux_select(), [], "003:2436"),
    window!(UrbRdata, UrbCtl.debug_data_mux_select(), [0..=2, 8..=15], "003:2484"),
    window!(EuRdata, EuCtl.debug_data_mux_select(), [], "003:2541"),
];

/// How commands may access the register at `offset`; `None` without a register there.
fn access(offset: u32) -> Option<Access> {
    let (_, at) = registers(CONTAINERS, &[]).find(|(at, _)| *at == offset & !3)?;
    match at.register.kind {
        Kind::Register { access, .. } => Some(access),
        _ => None,
    }
}

/// Writes a debug register. Bits outside `enable` keep their value.
///
/// # Errors
/// A function that the model does not have.
pub fn write(state: &mut State, offset: u32, value: u32, enable: u32) -> Result<(), Missing> {
    if access(offset) == Some(Access::ReadOnly) {
        return Ok(());
    }
    if let Some(dword) = offset.checked_sub(EuAttClr::OFFSET)
        && dword < 4 * EuAttClr::DWORDS as u32
    {
        attention::clear(state, dword / 4, value & enable);
        return Ok(());
    }
    let old = state.registers.read(offset);
    let new = old ^ ((old ^ value) & enable);
    match offset {
        VfeCtl::OFFSET if VfeCtl::unpack_lossy(&[new]).snapshot_enable => {
            let what = "snapshots of the video front end (VFE_CTL)".into();
            return Err(Missing { what, page: "003:1815-1856" });
        }
        TsCtl::OFFSET => {
            let control = TsCtl::unpack_lossy(&[new]);
            if control.thread_snapshot_enable
                || control.snapshot_all_root_threads
                || control.snapshot_all_child_threads
            {
                let what = "snapshots of media threads (TS_CTL)".into();
                return Err(Missing { what, page: "003:1858-1933" });
            }
        }
        // The bit acts once: on the next thread.
        TdCtl::OFFSET if TdCtl::unpack_lossy(&[value & enable]).force_external_halt => {
            state.slots.get_mut::<Debug>().halt_next = true;
        }
        _ => {}
    }
    state.registers.write(offset, new);
    Ok(())
}

/// Reads a debug register.
///
/// # Errors
/// A word that the manual does not describe, or that the model does not have.
pub fn read(state: &State, offset: u32) -> Result<u32, Missing> {
    let Some(window) = WINDOWS.iter().find(|window| window.offset == offset & !3) else {
        return Ok(match access(offset) {
            Some(Access::WriteOnly) => 0,
            _ => state.registers.read(offset),
        });
    };
    let select = (window.select)(&state.registers);
    if !window.described.iter().any(|range| range.contains(&select)) {
        let what = format!("the word {select} of {}", window.name);
        return Err(Missing { what, page: window.page });
    }
    Ok(state.slots.with(|debug: &Debug| debug.captured(window.offset, select as u8)))
}
