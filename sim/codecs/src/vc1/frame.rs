//! Macroblocks of frames.
use super::slice::{Damaged, Decoded, Decoder};
impl Decoder<'_> {
    pub(super) fn frame_p_macroblock(&mut self) -> Decoded<()> {
        Err(Damaged)
    }
    pub(super) fn frame_b_macroblock(&mut self) -> Decoded<()> {
        Err(Damaged)
    }
}
