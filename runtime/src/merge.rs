//! Packets merged from two parts. A driver packs the part that is constant when it compiles a
//! pipeline, and merges it at draw time with the few fields that change.
//!
//! Mesa's drivers OR the dwords of both parts. If both set the same field, the result is wrong and
//! nothing reports it. A [`Prepacked`] part records which fields it owns, so such a merge is an
//! error that names the field.
//!
//! ```
//! use genxml::core::lit;
//! use genxml::gen8::render3d_fetch::ThreeDStateVf;
//! use genxml::merge::Prepacked;
//!
//! // Once: the part owns the fields that it does not leave at their defaults.
//! let fixed = ThreeDStateVf { cut_index: lit!(0xffff), ..ThreeDStateVf::new() };
//! let fixed = Prepacked::new(&fixed);
//! // For each draw: the other fields.
//! let merged = fixed.merge(&ThreeDStateVf { indexed_draw_cut_index_enable: true, ..ThreeDStateVf::new() })?;
//! let both = ThreeDStateVf {
//!     indexed_draw_cut_index_enable: true,
//!     cut_index: lit!(0xffff),
//! };
//! assert_eq!(merged.dwords(), both.pack());
//!
//! let error = fixed.merge(&ThreeDStateVf { cut_index: lit!(1), ..ThreeDStateVf::new() }).unwrap_err();
//! assert_eq!(error.to_string(), "3DSTATE_VF: both parts set Cut Index (dw1 31:0)");
//! # Ok::<(), genxml::merge::MergeError>(())
//! ```

use crate::engine::{BlitterCommand, RenderCommand, VideoCommand, VideoEnhanceCommand};
use crate::pipeline::{InPipeline, Pipeline};
use genxml_core::packet::Dwords as _;
use genxml_core::reflect::{Container, Field, Group, Kind, Type};
use genxml_core::{Fixed, Instruction, PackError, Packed, bits};

/// Why two parts cannot be merged.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A field that the packed part owns is not at its default in the other part.
    #[error("{packet}: both parts set {field} (dw{} {}:{})", start / 32, start % 32 + (end - start), start % 32)]
    Overlap {
        /// The packet or structure.
        packet: &'static str,
        /// The field.
        field: &'static str,
        /// First bit of the field in the container.
        start: u32,
        /// Last bit of the field in the container, inclusive.
        end: u32,
    },
    /// No field of the container has this name.
    #[error("{packet} has no field with the name given to `owning`")]
    NoField {
        /// The packet or structure.
        packet: &'static str,
    },
}

genxml_core::debug_as_display!(MergeError);

/// Packed values of some fields of the packet or structure `T`: the fields that this part owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepacked<T: Fixed> {
    /// The packed part; bits that it does not own are zero.
    values: T::Dwords,
    /// Mask of the bits of the fields that the part owns.
    owned: T::Dwords,
    /// Defaults of the owned bits.
    defaults: T::Dwords,
}

impl<T: Fixed<Dwords: AsRef<[u32]> + AsMut<[u32]>>> Prepacked<T> {
    /// Packs the part. It owns the fields that are not at their defaults.
    pub fn new(part: &T) -> Self {
        let mut owned = T::Dwords::padded(&[]);
        let (values, mut defaults) = (part.to_dwords(), owned);
        put_defaults(T::INFO, &mut defaults);
        let differs = |start: u32, end: u32| {
            (start..=end).any(|bit| get(values.as_ref(), bit) != get(defaults.as_ref(), bit))
        };
        each_field(T::INFO, values.as_ref(), &mut |_, start, end| {
            if differs(start, end) {
                own(owned.as_mut(), start, end);
            }
        });
        Prepacked { values, owned, defaults }.cut()
    }

    /// Makes the part also own the field with the manual's name `field`, with its present value.
    /// Use it for a field that must stay at its default. If several fields have this name, for
    /// example in the elements of an array, the part owns all of them.
    ///
    /// ```
    /// # use genxml::gen8::render3d_fetch::ThreeDStateVf;
    /// # use genxml::merge::Prepacked;
    /// let never = Prepacked::new(&ThreeDStateVf::new()).owning("Indexed Draw Cut Index Enable")?;
    /// let always = ThreeDStateVf { indexed_draw_cut_index_enable: true, ..ThreeDStateVf::new() };
    /// assert!(never.merge(&always).is_err());
    /// # Ok::<(), genxml::merge::MergeError>(())
    /// ```
    ///
    /// # Errors
    /// [`MergeError::NoField`].
    pub fn owning(mut self, field: &str) -> Result<Self, MergeError> {
        let before = self.owned;
        let mut found = false;
        // Whether a field exists may depend on another field. Here the values of the part decide.
        each_field(T::INFO, self.values.as_ref(), &mut |other, start, end| {
            if other.name == field {
                found = true;
                own(self.owned.as_mut(), start, end);
            }
        });
        if !found {
            return Err(MergeError::NoField { packet: T::NAME });
        }
        // The part has not set its newly owned fields: they get their defaults.
        let mut defaults = T::Dwords::padded(&[]);
        put_defaults(T::INFO, &mut defaults);
        let new = |index: usize| self.owned.as_ref()[index] & !before.as_ref()[index];
        for index in 0..T::DWORDS {
            self.defaults.as_mut()[index] |= defaults.as_ref()[index] & new(index);
            self.values.as_mut()[index] |= defaults.as_ref()[index] & new(index);
        }
        Ok(self)
    }

    /// Returns the packet with the fields that the part owns from the part, and all other fields
    /// from `rest`.
    ///
    /// # Errors
    /// [`MergeError::Overlap`] if a field that the part owns is not at its default in `rest`.
    #[inline]
    pub fn merge(&self, rest: &T) -> Result<Merged<T>, MergeError> {
        let mut dwords = rest.to_dwords();
        let mut overlap = 0;
        let parts =
            self.values.as_ref().iter().zip(self.owned.as_ref()).zip(self.defaults.as_ref());
        for (dword, ((values, owned), defaults)) in dwords.as_mut().iter_mut().zip(parts) {
            overlap |= (*dword ^ defaults) & owned;
            *dword = *dword & !owned | values;
        }
        if overlap == 0 { Ok(Merged { dwords }) } else { Err(self.overlap(rest)) }
    }

    /// Clears the bits that the part does not own.
    fn cut(mut self) -> Self {
        for (index, owned) in self.owned.as_ref().iter().enumerate() {
            self.values.as_mut()[index] &= owned;
            self.defaults.as_mut()[index] &= owned;
        }
        self
    }

    #[cold]
    fn overlap(&self, rest: &T) -> MergeError {
        let rest = rest.to_dwords();
        let both = |bit: u32| {
            get(self.owned.as_ref(), bit)
                && get(rest.as_ref(), bit) != get(self.defaults.as_ref(), bit)
        };
        let mut error = MergeError::NoField { packet: T::NAME };
        each_field(T::INFO, rest.as_ref(), &mut |field, start, end| {
            if matches!(error, MergeError::NoField { .. }) && (start..=end).any(both) {
                error = MergeError::Overlap { packet: T::NAME, field: field.name, start, end };
            }
        });
        error
    }
}

/// A packet merged from two parts; a batch takes it like the packet itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged<T: Fixed> {
    dwords: T::Dwords,
}

impl<T: Fixed> Merged<T> {
    /// The packet as dwords.
    pub const fn dwords(&self) -> T::Dwords {
        self.dwords
    }

    /// The packet as fields.
    pub fn get(&self) -> T {
        T::from_dwords_lossy(&self.dwords)
    }
}

impl<T: Fixed> Packed for Merged<T> {
    const NAME: &'static str = T::NAME;
    const INFO: &'static Container = T::INFO;
}

impl<T: Fixed + Instruction> Instruction for Merged<T> {
    fn dwords(&self) -> usize {
        T::DWORDS
    }

    #[inline]
    fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
        let (needed, available) = (T::DWORDS, out.len());
        let Some(place) = T::Dwords::first_mut(out) else {
            return Err(PackError::Space { packet: T::NAME, needed, available });
        };
        *place = self.dwords;
        Ok(needed)
    }
}

impl<T: Fixed + RenderCommand> RenderCommand for Merged<T> {}
impl<T: Fixed + BlitterCommand> BlitterCommand for Merged<T> {}
impl<T: Fixed + VideoCommand> VideoCommand for Merged<T> {}
impl<T: Fixed + VideoEnhanceCommand> VideoEnhanceCommand for Merged<T> {}
impl<T: Fixed + InPipeline<P>, P: Pipeline> InPipeline<P> for Merged<T> {}

fn get(dwords: &[u32], bit: u32) -> bool {
    bits::get(dwords, bit, bit) != 0
}

fn own(owned: &mut [u32], start: u32, end: u32) {
    (start..=end).for_each(|bit| bits::put(owned, bit, bit, 1));
}

/// Calls `each` with every field that exists, and with the field's first and last bit. For a nested
/// structure, it calls `each` with the fields of the structure instead.
fn each_field(
    info: &'static Container,
    dwords: &[u32],
    each: &mut dyn FnMut(&'static Field, u32, u32),
) {
    members(info.fields, info.groups, 0, dwords, each);
}

fn members(
    fields: &'static [Field],
    groups: &'static [Group],
    base: u32,
    dwords: &[u32],
    each: &mut dyn FnMut(&'static Field, u32, u32),
) {
    let total = 32 * dwords.len() as u32;
    for field in
        fields.iter().filter(|field| field.exists_if.is_none_or(|when| when.holds(dwords, base)))
    {
        match field.ty {
            Type::Struct(inner) => {
                members(inner.fields, inner.groups, base + field.start, dwords, each)
            }
            _ => each(field, base + field.start, base + field.end),
        }
    }
    for group in groups {
        let ends = (base + group.start..total).step_by(group.bits.max(1) as usize);
        let count = if group.count == 0 { usize::MAX } else { group.count as usize };
        for start in ends.take(count) {
            members(group.fields, group.groups, start, dwords, each);
        }
    }
}

/// Writes the contents of a new container: opcode, length and defaults.
fn put_defaults<D: AsRef<[u32]> + AsMut<[u32]> + Copy>(info: &'static Container, dwords: &mut D) {
    if let Kind::Instruction { opcode, length_field, bias, .. } = info.kind
        && let [header, ..] = dwords.as_mut()
    {
        *header = opcode;
        if let Some((start, end)) = length_field {
            let length = info.dwords() as u64 - u64::from(bias);
            bits::put(dwords.as_mut(), start, end, length);
        }
    }
    let shape = *dwords;
    each_field(info, shape.as_ref(), &mut |field, start, end| {
        let value = match field.ty {
            Type::MustBeOne => u64::MAX,
            _ => field.default.unwrap_or(0),
        };
        for bit in (start..=end).take(64) {
            bits::put(dwords.as_mut(), bit, bit, value >> (bit - start) & 1);
        }
    });
}
