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
