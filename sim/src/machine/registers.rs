//! The register file: which registers exist, who owns them, and what reads and writes of them do.
//!
//! The tables of the specification decide this. They list masked registers (bits 31:16 of a value
//! say which of bits 15:0 are written), read-only and write-only registers, registers that every
//! engine has at its base, and pairs of dwords. A register that is not in the specification takes
//! every write unchanged and belongs to the context.
//!
//! Some registers belong to the GPU ([`Home::Device`]): rings, submission ports, status pages, page
//! table roots, interrupts, errors. Clocks have no owner. All others are state of the context and
//! are kept with it.

use genxml::core::reflect::{Access, Kind, registers};
use genxml::engine::EngineId;
use genxml::gen8::engine_registers::{RingEir, RingTimestamp};
use std::sync::LazyLock;

/// Bytes of the register space of an engine.
pub const ENGINE_BYTES: u32 = 0x1000;

/// Dwords of a page of [`Registers`]: the register space of one engine.
const PAGE: usize = ENGINE_BYTES as usize / 4;

/// Values of registers by byte offset. A register that was never written reads 0.
#[derive(Clone, Debug, Default)]
pub struct Registers(Vec<Option<Box<[u32; PAGE]>>>);

impl Registers {
    /// The dword at `offset`; the low two bits of the offset are ignored.
    #[inline]
    pub fn read(&self, offset: u32) -> u32 {
        let at = offset as usize / 4;
        match self.0.get(at / PAGE) {
            Some(Some(page)) => page[at % PAGE],
            _ => 0,
        }
    }

    /// The registers at `offset` (low) and `offset + 4` (high).
    pub fn read_u64(&self, offset: u32) -> u64 {
        u64::from(self.read(offset)) | u64::from(self.read(offset.wrapping_add(4))) << 32
    }

    /// Replaces the dword at `offset`.
    #[inline]
    pub fn write(&mut self, offset: u32, value: u32) {
        let at = offset as usize / 4;
        match self.0.get_mut(at / PAGE) {
            Some(Some(page)) => page[at % PAGE] = value,
            _ => self.insert(at, value),
        }
    }

    /// Replaces the dwords at `offset` (low) and `offset + 4` (high).
    pub fn write_u64(&mut self, offset: u32, value: u64) {
        self.write(offset, value as u32);
        self.write(offset.wrapping_add(4), (value >> 32) as u32);
    }

    #[cold]
    fn insert(&mut self, at: usize, value: u32) {
        if value != 0 {
            if self.0.len() <= at / PAGE {
                self.0.resize(at / PAGE + 1, None);
            }
            self.0[at / PAGE].get_or_insert_with(|| Box::new([0; PAGE]))[at % PAGE] = value;
        }
    }

    /// The byte offset and value of each register that is not 0, in the order of the offsets.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().enumerate().flat_map(|(index, page)| {
            let values = page.iter().flat_map(|page| page.iter().enumerate());
            values
                .filter(|(_, value)| **value != 0)
                .map(move |(at, value)| (4 * (index * PAGE + at) as u32, *value))
        })
    }
}

impl PartialEq for Registers {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Registers {}

/// The owner of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Home {
    /// The context that runs on the engine.
    #[default]
    Context,
    /// The GPU, or the engine.
    Device,
    /// No owner: a read returns the low or the high half of the clock.
    Clock,
}

/// The effect of reads and writes of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    /// The owner of the register.
    pub home: Home,
    /// True if bits 31:16 of a written value say which of bits 15:0 are written.
    pub masked: bool,
    /// True if writes are ignored.
    pub read_only: bool,
    /// True if reads give 0.
    pub write_only: bool,
    /// True if writing 1 to a bit clears the bit.
    pub clears: bool,
}

impl Rule {
    /// The value of a register after a write: bits outside `enable` keep their value.
    pub fn merge(self, old: u32, value: u32, enable: u32) -> u32 {
        let enable = if self.masked { (value & enable) >> 16 & enable } else { enable };
        if self.read_only {
            old
        } else if self.clears {
            old & !(value & enable)
        } else {
            old ^ ((old ^ value) & enable)
        }
    }
}

/// The registers that every engine has and that belong to the context (gen8_facts 1.2). They are
/// saved with the context, or commands of one batch set them for later batches.
const OF_THE_CONTEXT: [&str; 12] = [
    "RING_EXCC",
    "RING_NOPID",
    "RING_INSTPM",
    "GEN8_R_PWR_CLK_STATE",
    "RING_BB_OFFSET",
    "MI_PREDICATE_SRC0",
    "MI_PREDICATE_SRC1",
    "MI_PREDICATE_DATA",
    "MI_PREDICATE_RESULT",
    "MI_PREDICATE_RESULT_1",
    "MI_PREDICATE_RESULT_2",
    "CS_GPR",
];

/// Registers that are not at the base of an engine and that belong to the GPU. All registers of the
/// specification from [`DISPLAY`] on belong to the GPU too.
const OF_THE_DEVICE: [&str; 15] = [
    "PGETBL_CTL",
    "FAULT_REG",
    "GFX_ARB_ERROR_RPT",
    "PRIVATE_PAT1",
    "PRIVATE_PAT2",
    "GEN8_FAULT_TLB_DATA0",
    "GEN8_FAULT_TLB_DATA1",
    "INSTDONE_1",
    "ROW_INSTDONE",
    "SAMPLER_INSTDONE",
    "SC_INSTDONE",
    "PERFCNT1",
    "PERFCNT2",
    "RPSTAT1",
    "OACONTROL",
];

/// First byte of the registers of display and interrupts.
const DISPLAY: u32 = 0x40000;

/// Rules by dword offset, up to the last register of the specification.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let mut rules: Vec<Option<Rule>> = Vec::new();
    // First the registers that every engine has. Then the more exact descriptions for one engine:
    // they change how a register is written, but not its owner.
    for general in [true, false] {
        for (offset, at) in registers(genxml::gen8::CONTAINERS, genxml::gen8::ENGINES) {
            let Kind::Register { masked, access, .. } = at.register.kind else { continue };
            if at.engine.is_some() != general {
                continue;
            }
            let name = at.register.name;
            let index = offset as usize / 4;
            if rules.len() <= index {
                rules.resize(index + 1, None);
            }
            let device = match general {
                true => !OF_THE_CONTEXT.contains(&name),
                false => OF_THE_DEVICE.contains(&name) || offset >= DISPLAY,
            };
            let home = match rules[index] {
                Some(Rule { home, .. }) => home,
                None if name == RingTimestamp::NAME => Home::Clock,
                None if device => Home::Device,
                None => Home::Context,
            };
            rules[index] = Some(Rule {
                home,
                masked,
                read_only: access == Access::ReadOnly,
                write_only: access == Access::WriteOnly,
                clears: name == RingEir::NAME || name.contains("_IIR"),
            });
        }
    }
    rules.into_iter().map(Option::unwrap_or_default).collect()
});

/// The effect of reads and writes of the register at `offset`.
#[inline]
pub fn rule(offset: u32) -> Rule {
    RULES.get(offset as usize / 4).copied().unwrap_or_default()
}

/// The engine whose register space contains `offset`, and the offset within it.
pub fn engine_at(offset: u32) -> Option<(EngineId, u32)> {
    EngineId::ALL.into_iter().find_map(|engine| {
        let within = offset.wrapping_sub(mmio_base(engine));
        (within < ENGINE_BYTES).then_some((engine, within))
    })
}

/// Offset of the first of an engine's registers (gen8_facts 1.2, i915 intel_engine_cs.c).
pub const fn mmio_base(engine: EngineId) -> u32 {
    match engine {
        EngineId::Render => 0x02000,
        EngineId::Blitter => 0x22000,
        EngineId::Video => 0x12000,
        EngineId::VideoEnhance => 0x1a000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::gen8::engine_registers::{
        CsGpr, RingContextControl, RingEir, RingElsp, RingHead, RingPdp,
    };
    use genxml::gen8::registers::{BcsSwctrl, CsInvocationCount, Instpm, VcsActhdUdw};

    /// Oracle: attributes of the registers in spec-xml.
    #[test]
    fn rules_are_those_of_the_tables() {
        assert_eq!(rule(0x2000 + RingHead::OFFSET), Rule { home: Home::Device, ..Rule::default() });
        let control = rule(0x1a000 + RingContextControl::OFFSET);
        assert_eq!((control.home, control.masked), (Home::Device, true));
        assert!(rule(0x22000 + RingElsp::OFFSET).write_only);
        assert!(rule(0x12000 + RingEir::OFFSET).clears);
        assert_eq!(
            rule(VcsActhdUdw::OFFSET),
            Rule { home: Home::Device, read_only: true, ..Rule::default() }
        );
        assert_eq!(rule(Instpm::OFFSET), Rule { masked: true, ..Rule::default() });
        assert_eq!(rule(BcsSwctrl::OFFSET), Rule { masked: true, ..Rule::default() });
        for dword in 0..32 {
            assert_eq!(rule(0x2000 + CsGpr::OFFSET + 4 * dword), Rule::default());
        }
        for dword in 0..8 {
            assert_eq!(rule(0x2000 + RingPdp::OFFSET + 4 * dword).home, Home::Device);
        }
        assert_eq!(rule(CsInvocationCount::OFFSET + 4), Rule::default());
        for high in [0, 4] {
            assert_eq!(rule(0x22000 + RingTimestamp::OFFSET + high).home, Home::Clock);
        }
        assert_eq!(rule(0x2248), Rule::default());
        assert_eq!(rule(u32::MAX), Rule::default());
    }

    #[test]
    fn values() {
        let mut registers = Registers::default();
        registers.write(0x2600, 0);
        assert_eq!(registers, Registers::default());
        registers.write_u64(0x2600, 0x1_0000_0002);
        registers.write(0x45410, 3);
        assert_eq!(registers.read_u64(0x2600), 0x1_0000_0002);
        assert_eq!(registers.read(0x2603), 2);
        assert_eq!(registers.iter().collect::<Vec<_>>(), [(0x2600, 2), (0x2604, 1), (0x45410, 3)]);
        assert_eq!(registers.read(u32::MAX), 0);
    }

    #[test]
    fn merging() {
        let plain = Rule::default();
        assert_eq!(plain.merge(0x1234_5678, 0xffff_ffff, 0xff00_ff00), 0xff34_ff78);
        assert_eq!(Rule { masked: true, ..plain }.merge(3, 0x0001_0000, !0), 2);
        assert_eq!(Rule { read_only: true, ..plain }.merge(3, 4, !0), 3);
        assert_eq!(Rule { clears: true, ..plain }.merge(7, 2, !0), 5);
    }
}
