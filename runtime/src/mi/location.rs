//! Sources and destinations of values: memory and registers of 32 or 64 bits.

use super::MiError;
use super::emit::Reference;
use super::gpr::Gpr;
use crate::batch::{Access, BatchError, Object};
use genxml_core::address::{Graphics, Mmio};
use genxml_core::reflect::{EngineBase, Kind};
use genxml_core::{Address, Fixed};
use std::marker::PhantomData;

/// An address of a dword in the context's memory.
pub type MemoryAddress = Address<Graphics, 4, 64>;

/// A width, as a type: [`Dword`] or [`Qword`].
pub trait Width: Copy + std::fmt::Debug + sealed::Sealed + 'static {
    /// True for 64 bits.
    const WIDE: bool;
}

/// 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dword;

/// 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Qword;

impl Width for Dword {
    const WIDE: bool = false;
}
impl Width for Qword {
    const WIDE: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Dword {}
    impl Sealed for super::Qword {}
}

/// A dword or qword in memory: in an object ([`Mem::of`]), or at a fixed address ([`mem32`],
/// [`mem64`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mem<W: Width> {
    pub(super) location: Location,
    width: PhantomData<W>,
}

/// The dword at the fixed address `address` (softpin). [`Mem::of`] is for memory that the kernel
/// may move.
pub const fn mem32(address: MemoryAddress) -> Mem<Dword> {
    Mem { location: Location { address, object: None }, width: PhantomData }
}

/// The qword at the fixed address `address` (softpin), a multiple of 4. [`Mem::of`] is for memory
/// that the kernel may move.
pub const fn mem64(address: MemoryAddress) -> Mem<Qword> {
    Mem { location: Location { address, object: None }, width: PhantomData }
}

impl<W: Width> Mem<W> {
    /// Memory `delta` bytes after the start of an object. Packets that use it have references to
    /// the object. So their addresses are relocated when the object is moved, and a write marks the
    /// object as written for the kernel.
    ///
    /// ```
    /// use genxml::batch::{Batch, Buffer};
    /// use genxml::engine::Render;
    /// use genxml::mi::{Builder, Mem, Qword};
    ///
    /// let query = Buffer::new("query", 0x10000, 4096)?;
    /// let begin = Mem::<Qword>::of(&query, 0)?;
    /// let mut batch = Batch::<Render>::new("batch", 0x20000, 4096)?;
    /// Builder::new(&mut batch).store(begin.offset(16)?, begin)?;
    /// // Two copies of a dword each.
    /// assert_eq!(batch.finish()?.buffer.relocations().len(), 4);
    /// # Ok::<(), genxml::mi::MiError>(())
    /// ```
    ///
    /// # Errors
    /// [`MiError::Batch`] if the memory is not inside the object, or the object is at address 0;
    /// [`MiError::Range`] if `delta` is not a multiple of 4.
    pub fn of(object: &(impl Object + ?Sized), delta: u64) -> Result<Self, MiError> {
        let extent = Extent { address: object.address(), size: object.size() };
        let bytes = if W::WIDE { 8 } else { 4 };
        if delta.checked_add(bytes).is_none_or(|end| end > extent.size) {
            let (object, size) = (object.name().clone(), extent.size);
            return Err(BatchError::Outside { object, delta, size }.into());
        }
        if extent.address + delta == 0 {
            return Err(BatchError::AtZero { object: object.name().clone() }.into());
        }
        let address =
            Address::new(extent.address + delta).map_err(MiError::range("an address in memory"))?;
        Ok(Mem { location: Location { address, object: Some(extent) }, width: PhantomData })
    }

    /// Address of the memory.
    pub const fn address(self) -> MemoryAddress {
        self.location.address
    }

    /// The memory that starts `bytes` bytes after the start of this memory.
    ///
    /// # Errors
    /// [`MiError::Range`] if `bytes` is not a multiple of 4, or a dword of the result is beyond 48
    /// bits; [`MiError::Batch`] if the result is not completely inside the object.
    pub fn offset(self, bytes: u64) -> Result<Self, MiError> {
        let location = self.location.after(bytes)?;
        if W::WIDE {
            // The upper half of a qword must be valid too.
            location.after(4)?;
        }
        Ok(Mem { location, ..self })
    }
}

impl From<MemoryAddress> for Mem<Dword> {
    fn from(address: MemoryAddress) -> Self {
        mem32(address)
    }
}

impl From<Mem<Qword>> for Mem<Dword> {
    fn from(memory: Mem<Qword>) -> Self {
        memory.low_half()
    }
}

/// Address and size of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    pub address: u64,
    size: u64,
}

/// An address, with its object if it is relocated with that object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub address: MemoryAddress,
    pub object: Option<Extent>,
}

/// Locations are equal if their addresses are equal, with or without an object.
impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl Eq for Location {}

impl Location {
    /// The location `bytes` bytes after this one.
    pub fn after(self, bytes: u64) -> Result<Self, MiError> {
        let sum = self.address.va48().saturating_add(bytes);
        let address = Address::new(sum).map_err(MiError::range("an address in memory"))?;
        match self.object {
            Some(Extent { address: start, size }) if sum + 4 > start + size => {
                let object = format!("the object at {start:#x}").into();
                Err(BatchError::Outside { object, delta: sum - start, size }.into())
            }
            object => Ok(Location { address, object }),
        }
    }

    /// The reference to the object of the location, if there is an object.
    pub fn reference(self, access: Access) -> Option<Reference> {
        self.object.map(|object| Reference {
            object: object.address,
            address: self.address.va48(),
            access,
        })
    }
}

/// A register of 32 bits, or two registers that form one of 64 bits.
/// [`Builder::register`](super::Builder::register) finds the registers that the specification
/// describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg<W: Width> {
    offset: Offset,
    width: PhantomData<W>,
}

/// Byte offset of a register.
pub(super) type Offset = Address<Mmio, 4, 23>;

impl<W: Width> Reg<W> {
    /// The register at a byte offset, for registers that the specification does not describe.
    ///
    /// # Errors
    /// [`MiError::Range`] if the offset is not a multiple of 4 below 2^23.
    pub fn at(offset: u32) -> Result<Self, MiError> {
        let offset = Address::new(offset.into()).map_err(MiError::range("a register's offset"))?;
        Ok(Reg { offset, width: PhantomData })
    }

    /// Byte offset of the register in the register space.
    pub const fn offset(self) -> u32 {
        self.offset.get() as u32
    }

    pub(super) const fn mmio(self) -> Offset {
        self.offset
    }
}

impl Mem<Qword> {
    /// Bits 31:0 as a dword.
    pub const fn low_half(self) -> Mem<Dword> {
        Mem { location: self.location, width: PhantomData }
    }

    /// Bits 63:32 as a dword.
    ///
    /// # Errors
    /// [`MiError::Range`] if the address of the dword is beyond 48 bits; [`MiError::Batch`] if the
    /// dword is not inside the object.
    pub fn high_half(self) -> Result<Mem<Dword>, MiError> {
        self.low_half().offset(4)
    }
}

impl Reg<Qword> {
    /// The register with bits 31:0.
    pub const fn low_half(self) -> Reg<Dword> {
        Reg { offset: self.offset, width: PhantomData }
    }

    /// The register with bits 63:32.
    ///
    /// # Errors
    /// [`MiError::Range`] if it is beyond the register space.
    pub fn high_half(self) -> Result<Reg<Dword>, MiError> {
        Ok(Reg { offset: upper(self.offset)?, width: PhantomData })
    }
}

/// The offset of the upper half of a 64-bit register, which is the dword after the lower half.
pub(super) fn upper(offset: Offset) -> Result<Offset, MiError> {
    Address::new(offset.get() + 4).map_err(MiError::range("the upper half of a register"))
}

/// The packed form of a register: an array of one or two dwords.
pub trait RegisterDwords {
    /// The register's width.
    type Width: Width;
}

impl RegisterDwords for [u32; 1] {
    type Width = Dword;
}
impl RegisterDwords for [u32; 2] {
    type Width = Qword;
}

/// The register `R` of an engine; `index` selects the element of an array of registers.
pub(super) fn register<R: Fixed<Dwords: RegisterDwords>>(
    engine: EngineBase,
    index: u32,
) -> Result<Reg<<R::Dwords as RegisterDwords>::Width>, MiError> {
    const { assert!(matches!(R::INFO.kind, Kind::Register { .. }), "this type is not a register") }
    match R::INFO.kind {
        Kind::Register { offset, per_engine, count, stride, .. } if index < count.max(1) => {
            let base = if per_engine { engine.base } else { 0 };
            Reg::at(base.wrapping_add(offset).wrapping_add(stride.wrapping_mul(index)))
        }
        _ => Err(MiError::NoSuchRegister { name: R::NAME, index }),
    }
}

/// The dword to write to the masked register `R`: it changes only the fields that `set` assigns.
pub(super) fn masked<R: Fixed<Dwords = [u32; 1]>>(set: impl Fn(&mut R)) -> u32 {
    /// Bits 15:0, which are data. Bits 31:16 enable them.
    const DATA: u32 = 0xffff;
    const {
        assert!(
            matches!(R::INFO.kind, Kind::Register { masked: true, .. }),
            "this type is not a masked register"
        )
    }
    let of = |dword, set: &dyn Fn(&mut R)| {
        let mut register = R::from_dwords_lossy(&[dword]);
        set(&mut register);
        let [dword] = register.to_dwords();
        dword & DATA
    };
    let fields = of(0, &|_| {}) ^ of(DATA, &|_| {});
    let (low, high) = (of(0, &set), of(DATA, &set));
    let changed = fields & !(low ^ high);
    changed << DATA.trailing_ones() | low & changed
}

/// A destination for a value of width `W`.
#[derive(Clone, Debug)]
pub struct Target<W: Width> {
    pub(super) destination: Destination,
    width: PhantomData<W>,
}

#[derive(Clone, Debug)]
pub(super) enum Destination {
    Memory(Location),
    Register(Offset),
    Gpr(Gpr),
}

impl<W: Width> From<Mem<W>> for Target<W> {
    fn from(mem: Mem<W>) -> Self {
        Target { destination: Destination::Memory(mem.location), width: PhantomData }
    }
}

impl<W: Width> From<Reg<W>> for Target<W> {
    fn from(register: Reg<W>) -> Self {
        Target { destination: Destination::Register(register.offset), width: PhantomData }
    }
}

impl From<&Gpr> for Target<Qword> {
    fn from(gpr: &Gpr) -> Self {
        Target { destination: Destination::Gpr(gpr.clone()), width: PhantomData }
    }
}
