//! Invalid macroblocks and states, and what the model does not have.

use super::headers::headers;
use super::setup::model;
use super::state::{VARIANT, image, picture, slice};
use crate::video::packets::{about, submit};
use genxml::gen8::mfc::*;
use genxml::gen8::mfx_avc::*;
use genxml_cases::{Random, packets, push, u};

/// Invalid macroblocks and states, and what the model does not have.
#[test]
fn faults_name_fields() {
    type Change = fn(&mut MfcAvcPakObject);
    let changes: [(Change, &str); 7] = [
        (|object| object.inline_data.qp_y = u(52), "QP Y"),
        (|object| object.inline_data.coefficient_clamp_enable = true, "limits of coefficients"),
        (|object| object.inline_data.intra_mb = false, "MB Type"),
        (
            |object| {
                object.inline_data.intra_mb = false;
                object.inline_data.mb_type =
                    InlineDataDescriptionForMfcAvcPakObjectMbType::INTER_L0_16X16;
            },
            "Intra MB",
        ),
        (|object| object.inline_data.mb_type = inter_type(26), "MB Type"),
        (
            |object| {
                object.inline_data.intra_mb = false;
                object.inline_data.mv_format =
                    InlineDataDescriptionForMfcAvcPakObjectMvFormat::_32_MOTION_VECTORS;
                object.inline_data.mb_type =
                    InlineDataDescriptionForMfcAvcPakObjectMbType::INTER_L0_16X16;
            },
            "Indirect PAK-MV Data Length",
        ),
        (
            // Vertical without samples above.
            |object| object.inline_data.prediction = [u(0); 3],
            "Luma Mode",
        ),
    ];
    for (change, want) in changes {
        let mut random = Random::new(1);
        let mut model = model(&mut random);
        let mut batch = picture(0, VARIANT);
        headers(0, VARIANT, &mut batch);
        let mut object = MfcAvcPakObject::new();
        object.inline_data.intra_mb = true;
        object.inline_data.qp_y = u(20);
        object.inline_data.prediction = [u(0x2222_2222), u(0x2222_2222), u(0)];
        change(&mut object);
        push(&mut batch, &object);
        let got = about(submit(&mut model, &batch).unwrap_err());
        assert!(got.starts_with(want), "{got} for {want}");
    }
    // State.
    let rate = MfxAvcSliceState { rate_control_counter_enable: true, ..slice(0) };
    let pairs = MfxAvcImgState { mbaff_mode: true, frame_mb_only: false, ..image(VARIANT) };
    for (packet, want) in [(packets![rate], "rate control"), (packets![pairs], "encoding of MBAFF")]
    {
        let mut model = model(&mut Random::new(1));
        let mut batch = picture(0, VARIANT);
        batch.extend(packet);
        let mut object = MfcAvcPakObject::new();
        object.inline_data.intra_mb = true;
        push(&mut batch, &object);
        let got = about(submit(&mut model, &batch).unwrap_err());
        assert!(got.starts_with(want), "{got} for {want}");
    }
}

fn inter_type(number: u64) -> InlineDataDescriptionForMfcAvcPakObjectMbType {
    InlineDataDescriptionForMfcAvcPakObjectMbType::from_bits(number)
}
