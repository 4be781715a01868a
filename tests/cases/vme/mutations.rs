//! Messages with random changes: each ends with a response or a fault, and writes nothing but the
//! response.
//!
//! `GENXML_MUTATIONS` sets the number of changed messages.

use super::*;
use genxml::engine::EngineId;
use genxml::eu::gen8::eu_vme::{
    CreSicMessagePayload, CreSicMessagePayloadIntraComputeType as Compute,
    VmeUniversalMessagePayloadIntraSad as IntraSad,
};
use genxml_cases::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of changed messages.
const PLAYS: u64 = 600;

/// A valid universal payload with random functions.
fn random_universal(random: &mut Random) -> Universal {
    let mut flag = || random.one_in(2);
    let mut universal = Universal {
        adaptive_search_enable: flag(),
        early_ime_success_enable: flag(),
        inter_sad: if flag() { Sad::HAAR } else { Sad::NONE },
        intra_sad: if flag() { IntraSad::HAAR } else { IntraSad::NONE },
        bme_disable: flag(),
        bilinear_enable: flag(),
        skip_mode_enable: flag(),
        block_based_skip_enable: flag(),
        forward_transform_skip_check_enable: flag(),
        t8x8_flag_for_inter_enable: flag(),
        non_skip_mode_added: flag(),
        unidirectional_mix_disable: flag(),
        ..universal()
    };
    universal.sub_pel_mode = random.pick(&[SubPel::INTEGER, SubPel::HALF, SubPel::QUARTER]);
    universal.search_control =
        random.pick(&[Control::SINGLE_START, Control::DUAL_START, Control::DUAL_REFERENCE]);
    universal.max_number_of_mvs = u(random.pick(&[1, 4, 8, 16, 32]));
    universal.shape_disable_mask = u(random.pick(&[0, 0x7e, 0x77, 0x10, 0x3f]));
    universal.skip_centre_enable_mask = u(random.below(256));
    universal.mb_intra_structure = u(random.below(256));
    universal.fbr_mb_mode = FbrMode::from_bits(random.below(4));
    universal.fbr_sub_mb_shapes = u(random.below(256));
    universal.fbr_sub_mb_prediction_modes = u(random.below(256));
    universal.search_path_length = u(1 + random.below(56));
    universal.reference_0_window_x = s(random.below(80) as i64 - 60);
    universal.reference_1_window_y = s(random.below(80) as i64 - 60);
    universal.mode_cost.iter_mut().for_each(|cost| *cost = u(random.below(0x60)));
    universal
}

/// A valid message: its kernel, its descriptor, its registers.
fn random_message(random: &mut Random) -> (&'static [u32], u32, Vec<u32>) {
    let universal = random_universal(random);
    let references = if universal.search_control == Control::DUAL_REFERENCE { 2 } else { 1 };
    let mut message = universal.pack().to_vec();
    // Vectors, pixels and costs of any value, not too large.
    let mut small =
        |count: usize| random.dwords(count).into_iter().map(|dword| dword & 0x1f1f_1f1f);
    let (kernel, kind) = match universal.fbr_mb_mode.bits() {
        0 | 1 => {
            let mut search = VmeImeMessagePayload::new();
            for (step, dword) in search.search_path.iter_mut().zip(small(56)) {
                step.search_path_x = S::new(i64::from(dword & 3) - 1).unwrap();
                step.search_path_y = S::new(i64::from(dword >> 8 & 3) - 1).unwrap();
            }
            message.extend(search.pack());
            let stream_in = universal.block_based_skip_enable;
            if stream_in {
                message.extend(small(16 * references));
            }
            (VME, ime(stream_in, universal.bilinear_enable, references as u64))
        }
        2 => {
            message.extend(small(32));
            (CRE, cre(Type::FBR))
        }
        _ => {
            let mut check = CreSicMessagePayload::new().pack();
            check.iter_mut().zip(small(32)).for_each(|(to, dword)| *to = dword);
            let mut check = CreSicMessagePayload::unpack_lossy(&check);
            check.intra_compute_type = Compute::from_bits(u64::from(universal.bme_disable));
            message.extend(check.pack());
            (CRE, cre(Type::SIC))
        }
    };
    let descriptor = descriptor(kind, &message);
    (kernel, descriptor, message)
}

/// Changes random bits of dwords.
fn change(dwords: &mut [u32], random: &mut Random) {
    for _ in 0..=random.index(3) {
        let at = random.index(dwords.len());
        match random.below(4) {
            0 => dwords[at] = random.bits() as u32,
            1 => dwords[at] ^= 1 << random.below(32),
            2 => dwords[at] ^= 0xff << (8 * random.below(4)),
            _ => dwords[at] = random.pick(&[0, u32::MAX]),
        }
    }
}

#[test]
fn changed_messages_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(PLAYS, |count| count.parse().unwrap());
    let mut faults = 0;
    for number in 0..count {
        let mut random = Random::new(number);
        let (mut model, mut pictures) =
            (model(), Pictures::new(random.pick(&[Tiling::Y, Tiling::X])));
        let bytes = random.bytes(0x2000);
        let before = PICTURES.map(|picture| {
            let from = random.index(0x1000);
            model.write(picture, &bytes[from..from + 0x1000]);
            model.write(picture + 0x2000, &bytes[from..from + 0x1000]);
            model.read(picture, 0x4000)
        });
        let (kernel, mut descriptor, mut message) = random_message(&mut random);
        match random.below(8) {
            0 => {
                // Bits of the descriptor that are its own, not those of the receiver.
                descriptor ^= 1 << random.below(29);
            }
            1 => {
                let mut state = pictures.state.pack();
                change(&mut state, &mut random);
                pictures.state = MediaSurfaceState::unpack_lossy(&state);
            }
            _ => change(&mut message, &mut random),
        }
        let kernel = [kernel, STORE].concat();
        let batch = batch(&mut model, &pictures, &kernel, descriptor, &message, 1);
        let run = AssertUnwindSafe(|| model.submit(EngineId::Render, &batch).is_err());
        let ended = catch_unwind(run).unwrap_or_else(|_| panic!("change {number} panics"));
        faults += u64::from(ended);
        let after = PICTURES.map(|picture| model.read(picture, 0x4000));
        assert!(before == after, "change {number} writes to a picture");
        let rest = model.read(ANSWERS + ANSWER, 0x1000 - ANSWER as usize);
        assert!(rest.iter().all(|byte| *byte == 0), "change {number} writes after the response");
    }
    // Both must be frequent, so that the changes reach all functions.
    assert!(faults > count / 50 && faults < count * 3 / 4, "{faults} of {count} have faults");
}
