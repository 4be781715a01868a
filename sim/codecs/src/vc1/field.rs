//! Macroblocks of fields.
use super::slice::{Damaged, Decoded, Decoder};
impl Decoder<'_> {
    pub(super) fn field_p_macroblock(&mut self) -> Decoded<()> {
        Err(Damaged)
    }
    pub(super) fn field_b_macroblock(&mut self) -> Decoded<()> {
        Err(Damaged)
    }
}
