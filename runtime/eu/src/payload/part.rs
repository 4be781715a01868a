//! Parts of payloads and replies, and their order in registers.

use alloc::vec::Vec;
use genxml_core::reflect::Container;

/// Bits of a register.
const REGISTER_BITS: u32 = 256;

/// Number of channels of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Simd {
    /// Eight channels. A value of each channel has one register.
    Eight,
    /// Sixteen channels. A value of each channel has two registers, the second one for channels
    /// 8 to 15.
    Sixteen,
}

impl Simd {
    /// Number of registers of one dword for each channel.
    pub const fn registers(self) -> u8 {
        match self {
            Simd::Eight => 1,
            Simd::Sixteen => 2,
        }
    }

    /// Number of channels.
    pub const fn channels(self) -> u8 {
        8 * self.registers()
    }
}

/// Coordinates that a message has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Coordinates {
    /// U.
    One,
    /// U and V.
    Two,
    /// U, V and R.
    Three,
    /// U, V, R, and a fourth one: the mip level of a typed message ([`Part::Lod`]), the number of
    /// the cube of a sampler message ([`Part::ArrayIndex`]).
    All,
}

/// A part of a payload or of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Part {
    /// The header. [`Placed::header`](super::Placed::header) fills it.
    Header,
    /// Offset of each channel. Untyped and byte scattered messages: in bytes. Dword scattered
    /// messages: in dwords. URB messages: in units of 16 bytes.
    Offset,
    /// Data: a block, a value for each channel, or the registers of a URB message.
    Data,
    /// First operand of an atomic operation. Compare and write: the value to compare with.
    Operand0,
    /// Second operand of an atomic operation. Compare and write: the new value.
    Operand1,
    /// Masks of the data registers that a URB message writes, for each channel.
    Mask,
    /// First coordinate.
    CoordinateU,
    /// Second coordinate. In an array of one-dimensional surfaces, the layer.
    CoordinateV,
    /// Third coordinate. In an array of two-dimensional surfaces, the layer.
    CoordinateR,
    /// Number of the cube in an array of cube maps.
    ArrayIndex,
    /// Level of detail, or number of a mip level.
    Lod,
    /// Bias of the level of detail.
    Bias,
    /// Reference that texels are compared with.
    Reference,
    /// Derivative of U along X.
    DuDx,
    /// Derivative of U along Y.
    DuDy,
    /// Derivative of V along X.
    DvDx,
    /// Derivative of V along Y.
    DvDy,
    /// Derivative of R along X.
    DrDx,
    /// Derivative of R along Y.
    DrDy,
    /// Offset of U in texels.
    OffsetU,
    /// Offset of V in texels.
    OffsetV,
    /// Number of a sample.
    SampleIndex,
    /// Word of the multisample control surface.
    Mcs,
    /// Red, or the first component.
    Red,
    /// Green, or the second component.
    Green,
    /// Blue, or the third component.
    Blue,
    /// Alpha, or the fourth component.
    Alpha,
    /// Alpha of the colour of render target 0, for the alpha test and coverage.
    Source0Alpha,
    /// Masks of samples (oMask): a word for each channel, one register in SIMD8 and SIMD16.
    SampleMask,
    /// Depth.
    Depth,
}

impl Part {
    /// The colour channels in order.
    pub(super) const COLORS: [Part; 4] = [Part::Red, Part::Green, Part::Blue, Part::Alpha];

    /// The part that a field of a payload structure describes, by the field's name without the
    /// range of channels.
    fn of_field(name: &str) -> Option<Part> {
        Some(match name.split('[').next().unwrap_or_default() {
            "U" => Part::CoordinateU,
            "V" => Part::CoordinateV,
            "R" => Part::CoordinateR,
            "LOD" => Part::Lod,
            "Src0" => Part::Operand0,
            "Src1" => Part::Operand1,
            "Source 0 Alpha" => Part::Source0Alpha,
            "oMask" => Part::SampleMask,
            "Red" => Part::Red,
            "Green" => Part::Green,
            "Blue" => Part::Blue,
            "Alpha" => Part::Alpha,
            "Source Depth" => Part::Depth,
            _ => return None,
        })
    }
}

/// Parts in consecutive registers.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Registers(Vec<(Part, u32)>);

impl Registers {
    /// The parts of a payload structure of the specification.
    pub(super) fn of(container: &'static Container) -> Registers {
        let mut all = Registers::default();
        for field in container.fields {
            let Some(part) = Part::of_field(field.name) else { continue };
            let count = (field.end - field.start + 1) / REGISTER_BITS;
            match all.0.last_mut() {
                // The upper channels of the same part.
                Some((last, registers)) if *last == part => *registers += count,
                _ => all.push(part, count),
            }
        }
        all
    }

    /// Parts that have a value for each channel.
    pub(super) fn each(parts: impl IntoIterator<Item = Part>, simd: Simd) -> Registers {
        Registers(parts.into_iter().map(|part| (part, simd.registers().into())).collect())
    }

    /// Adds a part at the end.
    pub(super) fn push(&mut self, part: Part, registers: u32) {
        self.0.push((part, registers));
    }

    /// Keeps only the first `count` parts.
    pub(super) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// Adds parts at the end.
    pub(super) fn append(&mut self, others: Registers) {
        self.0.extend(others.0);
    }

    /// Number of registers.
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|(_, registers)| registers).sum()
    }

    /// Register of a part, counted from the first register.
    pub(super) fn position(&self, part: Part) -> Option<u32> {
        let mut at = 0;
        for &(other, registers) in &self.0 {
            if other == part {
                return Some(at);
            }
            at += registers;
        }
        None
    }
}
