//! What the manuals leave open: each question with the choice that the model makes and the reason.

/// Media blocks: where does a row of the surface end? Its Width is in dwords for these messages (2d
/// RENDER_SURFACE_STATE), but drivers are known that give bytes, and hardware accepts both. The model clips at the
/// width in dwords or at the pitch, whichever comes first, so that no block runs into the next row.
pub const MEDIA_BLOCK_CLIPS_AT_PITCH: bool = true;
