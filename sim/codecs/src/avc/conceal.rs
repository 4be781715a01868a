//! Concealment: which reference, if any, replaces the macroblocks that no slice has decoded.

use super::parameters::count_of;
use super::{Concealment, Entry, Macroblock, Parameters, References, Slice, SliceKind, Substitute};
use crate::Frame;
use crate::conceal::Block;

/// Where a slice's missing macroblocks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Nothing is concealed.
    Left,
    /// The mean of the row above and of the column to the left (Intra_16x16_DC without residual).
    Neighbours,
    /// The same position of a reference.
    Reference(Entry),
}

impl Source {
    /// Resolves a slice's concealment.
    pub fn of(slice: &Slice, parameters: &Parameters) -> Source {
        let entries = || {
            let lists = match slice.kind {
                SliceKind::I => 0,
                SliceKind::P => 1,
                SliceKind::B => 2,
            };
            let active = |list: usize| {
                let count = usize::from(slice.reference_counts[list]).min(32);
                &slice.lists[list][..count]
            };
            (0..lists).flat_map(active).filter(|entry| entry.present)
        };
        let closest = || entries().min_by_key(|entry| distance(entry, parameters));
        let entry = match slice.concealment {
            Concealment::Off => return Source::Left,
            Concealment::Intra => return Source::Neighbours,
            Concealment::Inter(Substitute::Picture(entry)) => Some(entry),
            Concealment::Inter(Substitute::First) => entries().next().copied(),
            Concealment::Inter(Substitute::Closest) => closest().copied(),
            Concealment::Inter(Substitute::LongTerm) => {
                entries().find(|entry| entry.long_term).or_else(closest).copied()
            }
        };
        entry.map_or(Source::Neighbours, Source::Reference)
    }
}

/// Distance of a reference from the picture in picture order counts.
fn distance(entry: &Entry, parameters: &Parameters) -> u32 {
    let counts = parameters.counts[usize::from(entry.store.min(15))];
    let own = count_of(parameters.count, parameters.structure);
    count_of(counts, entry.structure(parameters.structure)).abs_diff(own)
}

/// Conceals the macroblocks that are not decoded. A missing macroblock belongs to the slice of the
/// newest decoded macroblock before it, or to the first slice.
pub(super) fn conceal(
    parameters: &Parameters,
    references: &References<'_>,
    macroblocks: &[Macroblock],
    sources: &[Source],
    frame: &mut Frame,
) {
    let Some(first) = sources.first() else { return };
    let mut source = first;
    for (address, macroblock) in macroblocks.iter().enumerate() {
        if macroblock.decoded {
            source = sources.get(usize::from(macroblock.slice)).unwrap_or(source);
            continue;
        }
        let position = (address % parameters.width, address / parameters.width);
        let reference = match source {
            Source::Left => continue,
            Source::Neighbours => None,
            // A reference without an address cannot be copied.
            Source::Reference(entry) => references.frames[usize::from(entry.store.min(15))]
                .filter(|reference| sizes(reference) == sizes(frame))
                .map(|reference| (reference, entry.structure(parameters.structure))),
        };
        let planes = if parameters.monochrome { 1 } else { 3 };
        for (plane, size) in [16, 8, 8].into_iter().enumerate().take(planes) {
            let target = &mut frame.planes[plane];
            let block = Block { position, size, structure: parameters.structure };
            match reference {
                Some((reference, from)) => block.copy(&reference.planes[plane], from, target),
                None => block.mean(target),
            }
        }
    }
}

fn sizes(frame: &Frame) -> [(usize, usize); 3] {
    frame.planes.each_ref().map(|plane| (plane.width, plane.height))
}
