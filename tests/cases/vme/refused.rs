//! Messages that are refused.

use super::{CRE, Pictures, VME, ime, moved, search, send, universal};
use genxml::eu::gen8::eu_messages::{
    MotionEstimationMessageDescriptor as Descriptor, MotionEstimationType as Type,
};
use genxml::eu::gen8::eu_vme::{
    VmeImeStreamRecord, VmeUniversalMessagePayload as Universal,
    VmeUniversalMessagePayloadInterSad as Sad, VmeUniversalMessagePayloadMbTypeRemap as Remap,
    VmeUniversalMessagePayloadSearchControl as Control,
    VmeUniversalMessagePayloadSourceSize as Size, VmeUniversalMessagePayloadSubPelMode as SubPel,
};
use genxml::gen8::media::MediaSurfaceStateSurfaceFormat as Format;
use genxml_cases::paper::Tiling;
use genxml_cases::u;
use genxml_sim::Fault;

/// Messages that are refused, with what the fault names.
#[test]
fn refused_messages() {
    let (mut model, mut pictures) = moved(Tiling::Y, [[0, 0], [0, 0]]);
    let base = universal();
    let seven =
        |kind| Descriptor { message_type: kind, response_length: u(7), ..Descriptor::new() };
    let mut refused = |pictures: &Pictures, kernel, descriptor, message: &[u32]| match send(
        &mut model, pictures, kernel, descriptor, message,
    )
    .unwrap_err()
    {
        fault @ (Fault::Unimplemented { .. } | Fault::IllegalInstruction { .. }) => {
            fault.to_string()
        }
        Fault::BadPacket { field, .. } => field.to_string(),
        other => panic!("{other}"),
    };
    for (universal, what) in [
        (Universal { source_size: Size::_8X8, ..base }, "Source Size"),
        (Universal { mb_type_remap: Remap::FORWARD, ..base }, "MB Type Remap"),
        (Universal { inter_chroma_mode: true, ..base }, "Inter Chroma Mode"),
        (Universal { weighted_sad_haar: true, ..base }, "Weighted SAD Haar"),
        (Universal { weighted_sad_control: u(1), ..base }, "Weighted SAD Control"),
        (Universal { search_control: Control::DUAL_RECORD, ..base }, "Dual Record"),
        (Universal { dual_search_path_option: true, ..base }, "Dual Search Path Option"),
        (Universal { quit_inter_enable: true, ..base }, "Quit Inter Enable"),
        (Universal { early_success_enable: true, ..base }, "Early Success Enable"),
        (Universal { partition_candidate_enable: true, ..base }, "Partition Candidate Enable"),
        (Universal { bidirectional_mix_disable: true, ..base }, "Bidirectional Mix Disable"),
        (Universal { repartition_enable: true, ..base }, "Repartition Enable"),
        (Universal { fbr_pruning_enable: true, ..base }, "FBR Pruning Enable"),
        (Universal { intra_corner_swap: true, ..base }, "Intra Corner Swap"),
        (Universal { search_control: Control::from_bits(5), ..base }, "Search Control"),
        (Universal { sub_pel_mode: SubPel::from_bits(2), ..base }, "Sub Pel Mode"),
        (Universal { inter_sad: Sad::from_bits(1), ..base }, "Inter SAD"),
        (Universal { reference_width: u(38), ..base }, "Reference Width = 38"),
        (Universal { reference_height: u(68), ..base }, "Reference Height = 68"),
    ] {
        let found = refused(&pictures, VME, ime(false, false, 0), &search(&universal, &[]));
        assert!(found.contains(what), "{found}");
    }
    let message = search(&base, &[]);
    for (kernel, descriptor, what) in [
        (VME, seven(Type::IDM), "IDM"),
        (VME, seven(Type::SIC), "message type 1"),
        (CRE, seven(Type::IME), "message type 2"),
        (VME, ime(true, false, 0), "message length"),
        (VME, ime(false, true, 2), "response length"),
        (CRE, seven(Type::FBR), "message length"),
        (
            VME,
            Descriptor { binding_table_index: u(254), ..seven(Type::IME) },
            "Binding Table Index",
        ),
    ] {
        let found = refused(&pictures, kernel, descriptor, &message);
        assert!(found.contains(what), "{found}");
    }
    let mut other = base;
    other.block_reference[3].block_reference_1_id = u(1);
    let found = refused(&pictures, VME, ime(false, false, 0), &search(&other, &[]));
    assert!(found.contains("Block Reference ID in each 8x8 block"), "{found}");
    other.block_reference = [other.block_reference[3]; 4];
    let records = [VmeImeStreamRecord::new(); 1];
    let found = refused(&pictures, VME, ime(true, false, 0), &search(&other, &records));
    assert!(found.contains("stream-in"), "{found}");
    pictures.state.surface_format = Format::R8G8B8A8_UNORM;
    let found = refused(&pictures, VME, seven(Type::IME), &message);
    assert!(found.contains("Surface Format"), "{found}");
}
