//! What the manuals leave open: each question with the choice that the model makes and the reason.

/// Media blocks: where does a row of the surface end? Its Width is in dwords for these messages (2d
/// RENDER_SURFACE_STATE), but drivers are known that give bytes, and hardware accepts both. The model clips at the
/// width in dwords or at the pitch, whichever comes first, so that no block runs into the next row.
pub const MEDIA_BLOCK_CLIPS_AT_PITCH: bool = true;

/// Page directory entries with bit 7 set: do they map 2 MiB? No driver for Broadwell sets it (gen8_facts 1.1); the bit
/// means that in every table of the family, so the model honours it.
pub const DIRECTORY_ENTRIES_MAP_LARGE_PAGES: bool = true;

/// A blit that is clipped at its left or top: does the source start later by what was cut off? The alternative would
/// move the picture with the clip rectangle; no source states it, drivers rely on clipping that only hides
/// (gen8_facts 13).
pub const CLIPPING_MOVES_THE_SOURCE: bool = true;

/// Does NoMask override the channel enables of Align16? 2b p.8 says so, but the worked example 004:1992-2020 and
/// G45's Evaluate (vol 4, 13.1) keep them. The model keeps them.
pub const CHANNEL_ENABLES_HOLD_WITH_NO_MASK: bool = true;

/// Which two flags do the predicates anyv and allv combine? Text says f0.0 with f0.1, later documents and IGA f0 with
/// f1. The model follows the latter, as compilers do.
pub const VERTICAL_PREDICATE_COMBINES_REGISTERS: bool = true;

/// What does `cmpn` say of two NaNs (but for inequality)? The tables 10-9 to 10-14 of G45 vol 4 and the text say true
/// whenever source 1 is a NaN, the signal equations false when source 0 is one. The model follows the tables.
pub const COMPARE_NAN_TRUE_FOR_TWO: bool = true;

/// Pattern of a NaN that arithmetic makes. The manual leaves it open (004:1336); one pattern for all cases makes
/// results independent of the machine that the model runs on.
pub const ARITHMETIC_NAN: u32 = 0x7fc0_0000;

/// Subnormal bits of `cr0.0` when a media or GPGPU thread starts: halves (10) and doubles (6) kept, singles (7)
/// flushed. INTERFACE_DESCRIPTOR_DATA says this for Denorm Mode 0; for mode 1, which leaves it to the kernel, nothing
/// says what the kernel finds, and the model starts it the same way.
pub const SUBNORMAL_BITS_AT_START: u32 = 1 << 6 | 1 << 10;

/// Does MI_CONDITIONAL_BATCH_BUFFER_END compare unsigned? No source says; MI_SEMAPHORE_WAIT does.
pub const CONDITIONAL_END_IS_UNSIGNED: bool = true;

/// What an MI_ATOMIC on a dword leaves in bits 63:32 of the general register that it returns memory in: zero, or what was
/// there? No source says; 32-bit results are zero-extended elsewhere.
pub const ATOMIC_RETURNS_ZERO_ABOVE: bool = true;
