//! Concealment of AVC slices: the inline data of their BSD objects become the values that
//! [`genxml_codecs::avc`] takes.

use genxml::gen8::mfd::{
    InlineDataDescriptionForMfdAvcBsdObject as Inline,
    InlineDataDescriptionForMfdAvcBsdObjectBSliceConcealmentMode as B,
    InlineDataDescriptionForMfdAvcBsdObjectBSliceSpatialInterConcealmentMode as BSpatial,
    InlineDataDescriptionForMfdAvcBsdObjectBSliceTemporalInterConcealmentMode as BTemporal,
    InlineDataDescriptionForMfdAvcBsdObjectConcealmentMethod as Method,
    InlineDataDescriptionForMfdAvcBsdObjectISliceConcealmentMode as I,
    InlineDataDescriptionForMfdAvcBsdObjectPSliceConcealmentMode as P,
    InlineDataDescriptionForMfdAvcBsdObjectPSliceInterConcealmentMode as PInter,
};
use genxml_codecs::avc::{Concealment, Entry, SliceKind, Substitute};

/// What becomes of the missing macroblocks of a slice. `direct_spatial` is the prediction of direct
/// macroblocks in the slice, which selects one of two fields in B slices.
pub fn resolve(kind: SliceKind, direct_spatial: bool, inline: &Inline) -> Concealment {
    if inline.init_current_mb_number {
        return Concealment::Off;
    }
    let reference = inline.concealment_reference_picture_field_bit.get();
    let reference = picture(reference / 2, !reference.is_multiple_of(2));
    if inline.concealment_method == Method::INTER_P_COPY {
        return Concealment::Inter(picture(inline.concealment_picture_id.get(), false));
    }
    let (intra, substitute) = match kind {
        SliceKind::I => (inline.i_slice_concealment_mode == I::INTRA_CONCEALMENT, reference),
        SliceKind::P => (
            inline.p_slice_concealment_mode == P::INTRA_CONCEALMENT,
            match inline.p_slice_inter_concealment_mode {
                PInter::DRIVER_SPECIFIED_CONCEALMENT_REFERENCE => reference,
                PInter::TEMPORAL_CLOSEST => Substitute::Closest,
                PInter::FIRST_LONG_TERM_PICTURE => Substitute::LongTerm,
                _ => Substitute::First,
            },
        ),
        SliceKind::B if direct_spatial => (
            inline.b_slice_concealment_mode == B::INTRA_CONCEALMENT,
            match inline.b_slice_spatial_inter_concealment_mode {
                BSpatial::DRIVER_SPECIFIED_CONCEALMENT_REFERENCE => reference,
                BSpatial::TEMPORAL_CLOSEST => Substitute::Closest,
                BSpatial::FIRST_LONG_TERM_PICTURE => Substitute::LongTerm,
                _ => Substitute::First,
            },
        ),
        SliceKind::B => (
            inline.b_slice_concealment_mode == B::INTRA_CONCEALMENT,
            match inline.b_slice_temporal_inter_concealment_mode {
                BTemporal::DRIVER_SPECIFIED_CONCEALMENT_REFERENCE => reference,
                BTemporal::TEMPORAL_CLOSEST => Substitute::Closest,
                BTemporal::FIRST_LONG_TERM_PICTURE => Substitute::LongTerm,
                _ => Substitute::First,
            },
        ),
    };
    if intra { Concealment::Intra } else { Concealment::Inter(substitute) }
}

/// The picture in frame store `store`.
fn picture(store: u64, bottom: bool) -> Substitute {
    let store = (store % 16) as u8;
    Substitute::Picture(Entry { present: true, long_term: false, store, bottom })
}
