//! A slice: its macroblocks in order (7.3.4).

use super::SliceKind;
use super::bins::Cabac;
use super::cabac::Arithmetic;
use super::cavlc::Cavlc;
use super::state::Decoder;
use super::syntax::Entropy;

impl Decoder<'_, '_> {
    /// Decodes the slice. `data`: the NAL unit without emulation prevention bytes.
    pub fn run(&mut self, data: &[u8]) {
        let (x, y) = self.slice.first;
        let width = self.parameters.width;
        let outside = x >= width || y >= self.parameters.picture_height();
        if outside || self.slice.data_offset / 8 >= data.len() {
            self.errors = self.errors.saturating_add(1);
            return;
        }
        let first = if self.mbaff { 2 * (y / 2 * width + x) } else { y * width + x };
        self.qp = self.slice.qp.min(51);
        let result = if self.parameters.cabac {
            let start = self.slice.data_offset.div_ceil(8);
            let bins = Arithmetic::new(data, start, self.slice.cabac_set(), self.slice.qp);
            self.run_cabac(&mut Cabac { bins }, first)
        } else {
            self.run_cavlc(&mut Cavlc::new(data, self.slice.data_offset), first)
        };
        if result.is_none() {
            self.errors = self.errors.saturating_add(1);
        }
    }

    fn run_cavlc(&mut self, entropy: &mut Cavlc<'_>, first: usize) -> Option<()> {
        let mut address = first;
        let inter = self.slice.kind != SliceKind::I;
        loop {
            if inter {
                let skipped = entropy.bits.ue()?;
                for left in (0..skipped).rev() {
                    self.start(address)?;
                    if self.mbaff && address.is_multiple_of(2) {
                        // The flag of the pair follows after the run, if the lower macroblock is
                        // not skipped.
                        let lower = left == 0 && entropy.more();
                        let field = if lower { entropy.bits.flag() } else { self.inferred_field() };
                        self.set_field(field);
                    }
                    self.skip()?;
                    address += 1;
                }
                if !entropy.more() {
                    return Some(());
                }
            }
            self.start(address)?;
            // If the upper macroblock is skipped, its run has brought the flag.
            if self.mbaff && address.is_multiple_of(2) {
                let field = entropy.field_flag(self);
                self.set_field(field);
            }
            self.macroblock(entropy)?;
            address += 1;
            if !entropy.more() {
                return Some(());
            }
        }
    }

    fn run_cabac(&mut self, entropy: &mut Cabac<'_>, first: usize) -> Option<()> {
        let mut address = first;
        let inter = self.slice.kind != SliceKind::I;
        // The skip flag of a lower macroblock that was read with the upper one.
        let mut ahead = None;
        loop {
            self.start(address)?;
            let upper = self.mbaff && address.is_multiple_of(2);
            if upper {
                let field = self.inferred_field();
                self.set_field(field);
            }
            let skipped = match ahead.take() {
                Some(flag) => flag,
                None => inter && entropy.skip_flag(self),
            };
            if skipped {
                if upper {
                    ahead = Some(self.look_ahead(entropy, address)?);
                }
                self.skip()?;
            } else {
                if upper {
                    let field = entropy.field_flag(self);
                    self.set_field(field);
                }
                self.macroblock(entropy)?;
            }
            address += 1;
            if !upper && entropy.bins.terminate() {
                return Some(());
            }
            if entropy.overrun() {
                return None;
            }
        }
    }

    /// The upper macroblock of a pair is skipped: reads the skip flag of the lower one and, if that
    /// is not skipped, the field flag of the pair (7.3.4).
    fn look_ahead(&mut self, entropy: &mut Cabac<'_>, address: usize) -> Option<bool> {
        let field = self.current.field;
        // For the lower macroblock the upper one is decoded and skipped.
        self.current.skipped = true;
        self.store();
        self.start(address + 1)?;
        let skipped = entropy.skip_flag(self);
        let field = if skipped { field } else { entropy.field_flag(self) };
        self.start(address)?;
        self.set_field(field);
        Some(skipped)
    }
}
