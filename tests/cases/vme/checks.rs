//! The skip and intra check.

use super::{CRE, Universal, cre, moved, mv, response, s, send, universal};
use genxml::eu::gen8::eu_messages::MotionEstimationType as Type;
use genxml::eu::gen8::eu_vme::{
    CreSicMessagePayload, CreSicMessagePayloadIntraComputeType as Compute,
};
use genxml_cases::paper::Tiling;
use genxml_cases::u;

/// Block-based skip checks compare the largest distortion of a block: 4x4, or 8x8 with the flag for
/// transforms of 8x8.
#[test]
fn skip_checks_of_blocks() {
    let (mut model, pictures) = moved(Tiling::Y, [[0, 0], [0, 0]]);
    // Differences of 10, 5 and 2 in three 4x4 blocks. The first two are in the same 8x8 block.
    let reference = |x: i64, y: i64| match (x / 4, y / 4) {
        (4, 4) => 110,
        (5, 5) => 105,
        (7, 6) => 102,
        _ => 100,
    };
    pictures.write(&mut model, 0, |_, _| 100, |_, _| [128; 2]);
    pictures.write(&mut model, 1, reference, |_, _| [128; 2]);
    let mut message = CreSicMessagePayload::new();
    message.intra_compute_type = Compute::NONE;
    for (block_based, transform_8x8, raw) in
        [(false, false, 272), (false, true, 272), (true, true, 240), (true, false, 160)]
    {
        // U4U4: 15 << 4 is 240.
        for (success, limit) in [(0x4f, 240), (0x4a, 160), (0x49, 144)] {
            let universal = Universal {
                skip_centre_enable_mask: u(1),
                block_based_skip_enable: block_based,
                t8x8_flag_for_inter_enable: transform_8x8,
                skip_success: u(success),
                ..universal()
            };
            let message: Vec<u32> = universal.pack().into_iter().chain(message.pack()).collect();
            let found = send(&mut model, &pictures, CRE, cre(Type::SIC), &message).unwrap();
            let found = response(&found);
            assert_eq!((found.skip_raw_distortion.get(), found.skip_mb), (raw, raw <= limit));
            assert_eq!(found.inter_distortion.get(), 272);
        }
    }
}

/// The skip check compares with a vector; the intra check finds the modes of a macroblock that its
/// neighbours predict. The last macroblock of the picture is cut: its pixels repeat.
#[test]
fn skip_and_intra_checks() {
    let (mut model, pictures) = moved(Tiling::Y, [[6, 1], [0, 0]]);
    let base =
        Universal { skip_centre_enable_mask: u(1), mb_intra_structure: u(0x7c), ..universal() };
    let mut message = CreSicMessagePayload::new();
    message.intra_compute_type = Compute::NONE;
    message.skip_centre[0].skip_centre_x = s(24);
    message.skip_centre[0].skip_centre_y = s(4);
    let sic = |universal: &Universal, message: &CreSicMessagePayload| {
        universal.pack().into_iter().chain(message.pack()).collect::<Vec<u32>>()
    };
    let found = send(&mut model, &pictures, CRE, cre(Type::SIC), &sic(&base, &message)).unwrap();
    let found = response(&found);
    assert!(found.skip_mb && !found.intra_mb);
    assert_eq!((found.skip_raw_distortion.get(), found.mv[31]), (0, mv(0, 0)));
    assert_eq!((found.mv[30], found.inter_mb_type.get()), (mv(24, 4), 1));

    // Stripes: columns of luma, rows of chroma. Column 55 repeats to the right of the picture.
    let stripes = |x: i64, _: i64| (40 + 3 * x) as u8;
    pictures.write(&mut model, 0, stripes, |_, y| [10 * y as u8, 200]);
    let corner = Universal { source_x: u(48), source_y: u(32), skip_mode_enable: false, ..base };
    message.intra_compute_type = Compute::LUMA_AND_CHROMA;
    for (n, pixel) in message.above_luma.iter_mut().enumerate() {
        *pixel = u(40 + 3 * (48 + n as u64).min(55));
    }
    message.left_luma = [u(0); 16];
    for (n, pair) in message.left_chroma.iter_mut().enumerate() {
        // Rows 16 to 19 of chroma are in the picture.
        (pair.left_cb, pair.left_cr) = (u(10 * (16 + n as u64).min(19)), u(200));
    }
    let found = send(&mut model, &pictures, CRE, cre(Type::SIC), &sic(&corner, &message)).unwrap();
    let found = response(&found);
    assert!(found.intra_mb && !found.skip_mb);
    assert_eq!((found.intra_distortion.get(), found.intra_mb_type.get()), (0, 1));
    assert!(found.intra_mode.iter().all(|mode| mode.get() == 0));
    assert_eq!((found.chroma_intra_distortion.get(), found.intra_chroma_mode.get()), (0, 1));
    assert_eq!(found.mb_intra_structure.get(), 0x7c >> 2);
}
