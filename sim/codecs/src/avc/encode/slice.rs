//! The macroblocks of a slice in order, and which of them are skipped.

use super::elements::{Elements, Writer, set_motion};
use super::macroblock::{Coded, Inter, Invalid, Kind, Macroblock, Shape};
use super::plan::Plan;
use super::quantise::Quantiser;
use super::record::{Record, Settings};
use super::residual::{self, Finder};
use crate::Frame;
use crate::avc::intra::{NEEDED_16X16, NEEDED_BLOCK, NEEDED_CHROMA, available_to_block};
use crate::avc::state::Decoder;
use crate::avc::{Prediction, SliceKind, macroblock};

/// What the macroblocks of a slice share.
pub(super) struct Coder<'a> {
    pub source: &'a Frame,
    pub quantiser: &'a Quantiser,
    pub settings: &'a Settings,
    pub plan: Plan,
}

/// A macroblock after its reconstruction.
enum Verdict {
    /// `P_Skip` or `B_Skip`.
    Skip,
    /// Its elements are in the plan.
    Write,
}

impl Coder<'_> {
    /// Writes the macroblocks of a slice from address `first` on, and keeps their records.
    ///
    /// # Errors
    /// The macroblock, counted from the start of the slice, that is not valid, and why. The slice
    /// ends before it.
    pub fn slice<E: Elements>(
        &mut self,
        decoder: &mut Decoder<'_, '_>,
        elements: &mut E,
        first: usize,
        macroblocks: &[Macroblock],
        records: &mut Vec<Record>,
    ) -> Result<(), (usize, Invalid)> {
        for (at, macroblock) in macroblocks.iter().enumerate() {
            let record = decoder
                .start(first + at)
                .filter(|()| !decoder.macroblocks[decoder.position()].decoded)
                .ok_or(Invalid::Position)
                .and_then(|()| self.macroblock(decoder, elements, at > 0, macroblock))
                .map_err(|error| (at, error))?;
            records.push(record);
        }
        Ok(())
    }

    /// Writes a macroblock. `follows`: it is not the first one of the slice.
    fn macroblock<E: Elements>(
        &mut self,
        decoder: &mut Decoder<'_, '_>,
        elements: &mut E,
        follows: bool,
        macroblock: &Macroblock,
    ) -> Result<Record, Invalid> {
        let verdict = self.reconstruct(decoder, macroblock)?;
        if follows {
            elements.follow();
        }
        let before = elements.position();
        if decoder.slice.kind != SliceKind::I {
            elements.skip(decoder, matches!(verdict, Verdict::Skip));
        }
        match verdict {
            Verdict::Skip => self.skip(decoder),
            Verdict::Write => self.write(decoder, elements)?,
        }
        Ok(self.record(decoder, elements.position() - before))
    }

    fn record(&self, decoder: &Decoder<'_, '_>, bits: usize) -> Record {
        let macroblock = &decoder.current;
        Record {
            intra: macroblock.is_intra(),
            skipped: macroblock.skipped,
            qp: macroblock.qp[0],
            pattern: macroblock.pattern,
            bits: bits as u32,
        }
    }

    /// Reconstructs a macroblock and makes its plan.
    fn reconstruct(
        &mut self,
        decoder: &mut Decoder<'_, '_>,
        chosen: &Macroblock,
    ) -> Result<Verdict, Invalid> {
        chosen.check(decoder.parameters, decoder.slice)?;
        let plan = &mut self.plan;
        plan.residual.clear();
        plan.transform_8x8 = false;
        plan.delta = (i32::from(chosen.qp) - i32::from(decoder.qp) + 26).rem_euclid(52) - 26;
        decoder.set_qp(chosen.qp);
        let intra_types = decoder.slice.kind.inter_types();
        let mut coded = chosen.coded;
        let mut conversion = Conversion::default();
        let whole = matches!(chosen.kind, Kind::Intra16x16(..));
        match &chosen.kind {
            Kind::Pcm => {
                residual::samples(decoder, self.source, &mut plan.samples);
                plan.number = intra_types + 25;
                self.prepare(decoder);
                return Ok(Verdict::Write);
            }
            Kind::Inter(inter) => {
                conversion = motion(decoder, plan, inter, self.settings.derive_direct);
                let small = inter.is_small(decoder.parameters.direct_8x8_inference);
                plan.transform_8x8 =
                    chosen.transform_8x8 && decoder.parameters.transform_8x8 && !small;
                if inter.skip {
                    coded = Coded::NONE;
                }
            }
            intra => modes(decoder, plan, intra)?,
        }
        decoder.current.transform_8x8 = plan.transform_8x8;
        let rounding = self.settings.rounding;
        let mut finder = Finder {
            source: self.source,
            quantiser: self.quantiser,
            rounding: if decoder.current.is_intra() { rounding.intra } else { rounding.inter },
            limit: chosen.limit,
            coded,
            residual: &mut plan.residual,
        };
        decoder.reconstruct_with(&mut |decoder, area| finder.find(decoder, area));
        plan.pattern = plan.residual.pattern(whole);
        match &chosen.kind {
            Kind::Inter(inter) => {
                let skip = conversion.skip && chosen.skip_conversion && plan.pattern == 0;
                if skip || inter.skip {
                    return Ok(Verdict::Skip);
                }
                let kind = decoder.slice.kind;
                let number = inter.number(kind).ok_or(Invalid::Syntax)?;
                let zero = !decoder.parameters.cabac && inter.references[0] == [0; 4];
                plan.number = match number {
                    22 if conversion.direct && chosen.direct_conversion => 0,
                    3 if kind == SliceKind::P && zero => 4,
                    number => number,
                };
                if inter.shape == Shape::Quarters {
                    for block in 0..4 {
                        let number = inter.sub_type(kind, block).ok_or(Invalid::Parts(block))?;
                        plan.sub_types[block] = number;
                    }
                }
            }
            Kind::Intra16x16(mode, _) => {
                let luma = if plan.pattern & 15 == 0 { 0 } else { 12 };
                plan.number = intra_types + 1 + mode + 4 * (plan.pattern >> 4) + luma;
            }
            _ => plan.number = intra_types,
        }
        self.prepare(decoder);
        Ok(Verdict::Write)
    }

    /// Removes what the reconstruction has left in the macroblock: the parser sets it again.
    fn prepare(&self, decoder: &mut Decoder<'_, '_>) {
        let macroblock::Macroblock { slice, field, .. } = decoder.current;
        decoder.current = macroblock::Macroblock { slice, field, ..Default::default() };
    }

    fn write<E: Elements>(
        &mut self,
        decoder: &mut Decoder<'_, '_>,
        elements: &mut E,
    ) -> Result<(), Invalid> {
        let mut writer = Writer { plan: &self.plan, elements };
        decoder.macroblock(&mut writer).ok_or(Invalid::Syntax)
    }

    /// Ends a skipped macroblock. Its motion and its samples are those of the reconstruction.
    fn skip(&self, decoder: &mut Decoder<'_, '_>) {
        decoder.set_skipped();
        decoder.current.transform_8x8 = false;
        decoder.current.differences = [[[0; 2]; 16]; 2];
        decoder.end();
    }
}

/// What an inter macroblock may be converted to.
#[derive(Clone, Copy, Debug, Default)]
struct Conversion {
    /// `P_Skip` or `B_Skip`, if it has no coefficients.
    skip: bool,
    /// `B_Direct_16x16`.
    direct: bool,
}

/// Sets the motion of a macroblock in the decoder and in the plan.
fn motion(
    decoder: &mut Decoder<'_, '_>,
    plan: &mut Plan,
    inter: &Inter,
    derive: bool,
) -> Conversion {
    plan.derive = derive;
    plan.references = inter.references;
    plan.vectors = inter.vectors;
    let is_b = decoder.slice.kind == SliceKind::B;
    let direct = match (is_b, inter.skip) {
        (false, _) => 0,
        (true, true) => 15,
        (true, false) => inter.direct,
    };
    for block in (0..4).filter(|block| direct >> block & 1 == 0) {
        for list in (0..2).filter(|list| inter.lists[block] >> list & 1 == 0) {
            plan.references[list][block] = -1;
        }
    }
    if !is_b {
        plan.references[1] = [-1; 4];
    }
    decoder.fill_cache(false);
    let still = decoder.skip_vector();
    if direct != 0 && derive {
        decoder.direct(direct);
        set_motion(decoder, plan, !direct);
    } else {
        if !is_b && inter.skip && derive {
            plan.references = [[0; 4], [-1; 4]];
            plan.vectors = [[still; 16], [[0; 2]; 16]];
        }
        set_motion(decoder, plan, 15);
    }
    decoder.keep_motion();
    let is_still =
        inter.shape == Shape::Whole && inter.references[0][0] == 0 && inter.vectors[0][0] == still;
    Conversion { skip: if is_b { direct == 15 } else { is_still }, direct: direct == 15 }
}

/// Sets the intra modes of a macroblock in the decoder and in the plan.
fn modes(decoder: &mut Decoder<'_, '_>, plan: &mut Plan, kind: &Kind) -> Result<(), Invalid> {
    let available = decoder.available();
    let need = |needed: u8, available: u8, mode: u8| match needed & !available {
        0 => Ok(()),
        _ => Err(Invalid::Mode(mode)),
    };
    let chroma = match *kind {
        Kind::Intra4x4(modes, chroma) => {
            for (at, mode) in modes.into_iter().enumerate() {
                let flags = available_to_block(available, (at % 4, at / 4), 1);
                need(NEEDED_BLOCK[usize::from(mode)], flags, mode)?;
            }
            decoder.current.prediction = Prediction::Intra4x4;
            plan.modes = modes;
            chroma
        }
        Kind::Intra8x8(modes, chroma) => {
            for (block, mode) in modes.into_iter().enumerate() {
                let flags = available_to_block(available, (block % 2 * 2, block / 2 * 2), 2);
                need(NEEDED_BLOCK[usize::from(mode)], flags, mode)?;
            }
            decoder.current.prediction = Prediction::Intra8x8;
            plan.transform_8x8 = true;
            plan.modes = std::array::from_fn(|at| modes[at / 8 * 2 + at % 4 / 2]);
            chroma
        }
        Kind::Intra16x16(mode, chroma) => {
            need(NEEDED_16X16[usize::from(mode)], available, mode)?;
            decoder.current.prediction = Prediction::Intra16x16;
            decoder.intra_16x16_mode = mode;
            chroma
        }
        Kind::Pcm | Kind::Inter(_) => return Ok(()),
    };
    need(NEEDED_CHROMA[usize::from(chroma)], available, chroma)?;
    decoder.current.modes = plan.modes;
    decoder.current.chroma_mode = chroma;
    plan.chroma_mode = chroma;
    Ok(())
}
