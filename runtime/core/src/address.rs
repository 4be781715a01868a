//! Addresses and offsets, typed by the base that they are relative to and by their alignment.
//!
//! A field `Address<DynamicState, 64, 32>` holds an offset from Dynamic State Base Address: a
//! multiple of 64 below 2^32. The compiler rejects an offset of another space for this field, for
//! example the offset of a surface state.

use crate::bits::{ones, sign_extend};
use crate::int::OutOfRange;
use core::{fmt, hash, marker::PhantomData};

/// The base that an address is relative to.
pub trait Space: Copy + Eq + hash::Hash + fmt::Debug + Default + 'static {
    /// The space as a run-time value.
    const KIND: SpaceKind;
}

macro_rules! spaces {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// The address spaces, as a run-time value.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum SpaceKind { $($(#[$doc])* $name,)* }

        impl SpaceKind {
            /// Every space, in the order of declaration.
            pub const ALL: &[SpaceKind] = &[$(SpaceKind::$name),*];

            /// The value of the `address-space` attribute in the specification.
            pub const fn name(self) -> &'static str {
                match self { $(SpaceKind::$name => $text,)* }
            }
        }

        $($(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name;
        impl Space for $name { const KIND: SpaceKind = SpaceKind::$name; })*
    };
}

spaces! {
    /// A 48-bit graphics virtual address. The command selects the context's PPGTT or the GGTT.
    Graphics = "graphics";
    /// An offset from General State Base Address.
    GeneralState = "general-state";
    /// An offset from Surface State Base Address.
    SurfaceState = "surface-state";
    /// An offset from Dynamic State Base Address.
    DynamicState = "dynamic-state";
    /// An offset from Indirect Object Base Address.
    IndirectObject = "indirect-object";
    /// An offset from Instruction Base Address.
    Instruction = "instruction";
    /// An offset from MFX Indirect Bitstream Object: coded data that a decoder reads.
    MfxBitstream = "mfx-bitstream";
    /// An offset from MFX Indirect MV Object: motion vectors.
    MfxMv = "mfx-mv";
    /// An offset from MFD Indirect IT-COEFF Object: coefficients.
    MfdItCoeff = "mfd-it-coeff";
    /// An offset from MFD Indirect IT-DBLK Object: control data of the deblocking filter.
    MfdItDblk = "mfd-it-dblk";
    /// An offset from MFC Indirect PAK-BSE Object: coded data that an encoder writes.
    MfcPakBse = "mfc-pak-bse";
    /// A byte offset into the register space (MMIO).
    Mmio = "mmio";
    /// An offset from a base that the specification does not name. Only Mesa's files have such
    /// fields.
    Unknown = "unknown";
}

/// A byte address or offset in space `SP`: a multiple of `ALIGN`, stored in the low `N` bits of a
/// pointer. With `N` = 64 it is a 48-bit graphics address in canonical form (bits 63:48 repeat bit
/// 47).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Address<SP: Space, const ALIGN: u64, const N: u32>(u64, PhantomData<SP>);

impl<SP: Space, const ALIGN: u64, const N: u32> Address<SP, ALIGN, N> {
    /// Address zero.
    pub const ZERO: Self = Address(0, PhantomData);

    /// Returns `value` if it is aligned and in range. In a 64-bit field a 48-bit address is
    /// converted to canonical form. A 64-bit value that is neither below 2^48 nor canonical is an
    /// error.
    #[inline(always)]
    pub const fn new(value: u64) -> Result<Self, OutOfRange> {
        let value = if N == 64 && value >> 48 == 0 { sign_extend(value, 48) as u64 } else { value };
        let fits =
            if N == 64 { sign_extend(value, 48) as u64 == value } else { value <= Self::LAST };
        if fits && value.is_multiple_of(ALIGN) {
            Ok(Address(value, PhantomData))
        } else {
            Err(OutOfRange {
                value: value as i128,
                min: 0,
                max: (Self::LAST - Self::LAST % ALIGN) as i128,
                multiple_of: ALIGN,
            })
        }
    }

    const LAST: u64 = if N >= 64 { (1 << 48) - 1 } else { (1 << N) - 1 };

    /// Makes an address from a stored pattern whose bits are already at their positions in the
    /// pointer; for decoders. The bits from `N` upwards and the bits below the alignment belong to
    /// other fields and are dropped.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        let bits = bits & ones(N);
        Address(bits - bits % ALIGN, PhantomData)
    }

    /// The stored pattern, with its bits at their positions in the pointer.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The byte address as stored. With `N` = 64, an address from `new` is canonical
    /// (sign-extended); `from_bits` does not check this.
    #[inline(always)]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The low 48 bits, the only ones that hardware uses.
    #[inline(always)]
    pub const fn va48(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }
}

impl<SP: Space, const ALIGN: u64, const N: u32> fmt::Debug for Address<SP, ALIGN, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl<SP: Space, const ALIGN: u64, const N: u32> fmt::Display for Address<SP, ALIGN, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl<SP: Space, const ALIGN: u64, const N: u32> TryFrom<u64> for Address<SP, ALIGN, N> {
    type Error = OutOfRange;
    #[inline(always)]
    fn try_from(value: u64) -> Result<Self, OutOfRange> {
        Self::new(value)
    }
}
