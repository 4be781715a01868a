//! The short format of AVC slices: what the headers of slices depend on, from latched packets.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::{
    InlineDataDescriptionForMfdAvcBsdObject as Inline,
    InlineDataDescriptionForMfdAvcBsdObjectEmulationPreventionBytePresent as Escapes,
    MfdAvcDpbState, MfdAvcDpbUsedForReferenceFlag as Used,
};
use genxml::gen8::mfx_avc::MfxAvcImgState;
use genxml_codecs::avc::short::{HeaderError, Store, Stream};
use genxml_codecs::avc::{Parameters, Slice};

/// View order of a frame store that is no reference in another view (2a p.536-538).
const NO_VIEW: u8 = 15;

/// The parameters of a slice from its header in `data`. A header that cannot be read gives a slice
/// without macroblocks, which counts as an error of the picture.
///
/// # Errors
/// [`Fault::Unimplemented`] for scalable and three-dimensional coding, for slice groups, and for
/// references in other views that are not sorted.
pub fn slice(
    exec: &Exec<'_>,
    parameters: &Parameters,
    inline: &Inline,
    data: &[u8],
) -> Result<Slice, Fault> {
    let image: MfxAvcImgState = exec.state.latched.read(0);
    let groups = image.number_of_slice_groups.get();
    if groups != 1 {
        return Err(exec.unimplemented("slice groups of AVC", "MFX_AVC_IMG_STATE dw14 14:12"));
    }
    let escaped = inline.emulation_prevention_byte_present != Escapes::NOT_REMOVED;
    let start = inline.first_mb_byte_offset_of_slice_data_or_slice_header.get() as usize;
    match stream(exec, &image).slice(parameters, data, escaped, start) {
        Ok(_) if image.inter_view_order_disable && data.first().is_some_and(is_dependent) => {
            let what = "references in other views that are not sorted (Inter View Order Disable)";
            Err(exec.unimplemented(what, "MFX_AVC_IMG_STATE dw16 31"))
        }
        Ok(slice) => Ok(slice),
        Err(HeaderError::UnitType(kind @ (14 | 20 | 21))) => Err(exec.unimplemented(
            format!("scalable or 3D slices in the short format (NAL unit type {kind})"),
            "MFD_AVC_BSD_OBJECT",
        )),
        // No data start here, so the decoder counts an error.
        Err(_) => Ok(Slice { data_offset: usize::MAX, ..Slice::default() }),
    }
}

/// The header byte of a NAL unit that is a slice of a dependent view.
fn is_dependent(unit: &u8) -> bool {
    unit & 0x1f == 20
}

/// State of the stream and marking of the references.
fn stream(exec: &Exec<'_>, image: &MfxAvcImgState) -> Stream {
    let marking: MfdAvcDpbState = exec.state.latched.read(0);
    let bit = |flags: u64, store: usize| flags >> store & 1 != 0;
    let stores = std::array::from_fn(|store| Store {
        fields: match marking.used_for_reference_flag[store] {
            Used::TOP_FIELD => [true, false],
            Used::BOTTOM_FIELD => [false, true],
            Used::FRAME => [true, true],
            _ => [false, false],
        },
        long_term: bit(marking.long_term_frame_flag.get(), store),
        missing: bit(marking.non_existing_frame_flag.get(), store),
        number: marking.ltstframe_num_list[store].get() as u16,
        view: marking.view_idlist[store].get() as u16 & 0x3ff,
        view_index: [marking.view_order_list_l0[store], marking.view_order_list_l1[store]]
            .map(|order| Some(order.get() as u8 & 15).filter(|&order| order != NO_VIEW)),
    });
    let count = |count: u64| count as u8;
    Stream {
        frame_number_bits: count(image.log2_max_frame_number.get()).saturating_add(4),
        order_type: count(image.pic_order_count_type.get()),
        order_bits: count(image.log2_max_pic_order_count_lsb.get()).saturating_add(4),
        order_delta_always_zero: image.delta_pic_order_always_zero,
        order_of_bottom_field: image.pic_order_present,
        deblocking_control: image.deblocking_filter_control_present,
        redundant_pictures: image.redundant_pic_count_present,
        reference_counts: [
            count(image.number_of_active_reference_pictures_from_l0.get()),
            count(image.number_of_active_reference_pictures_from_l1.get()),
        ],
        initial_qp: image.initial_qp_value.get() as i8,
        view: image.current_frame_view_id.get() as u16,
        views: [count(image.max_view_idxl0.get()), count(image.max_view_idxl1.get())],
        stores,
    }
}
