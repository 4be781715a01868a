//! Random changes of packets, tables and pixels: each submission ends with a result or a fault.
//!
//! `GENXML_MUTATIONS` sets the number of changed submissions.

use super::*;
use genxml::gen8::vebox_states::*;
use genxml_cases::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of changed submissions.
const PLAYS: u64 = 600;

/// Bytes of each buffer that a mutation fills.
const PIXELS: usize = PITCH * 96;

/// A scene with random functions.
fn random_scene(random: &mut Random) -> Scene {
    let mut scene = Scene::new();
    let mut flag = || random.one_in(2);
    if flag() {
        scene.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
    }
    if flag() {
        scene.state.di_enable = VeboxStateDiEnable::CALCULATE_DI;
    }
    scene.state.global_iecp_enable = flag();
    scene.video.mcdi_enable = flag();
    scene.state.color_gamut_expansion_enable = flag();
    scene.gamut.global_mode_enable = VeboxGamutStateGlobalModeEnable::from_bits(flag().into());
    scene.state.color_gamut_compression_enable = flag();
    scene.gamut.full_range_mapping_enable =
        VeboxGamutStateFullRangeMappingEnable::from_bits(flag().into());
    scene.state.alpha_plane_enable = flag() && flag();
    scene.video.temporal_difference_threshold = u(12);
    let colors = &mut scene.colors;
    colors.std_ste_state.std_enable = flag();
    colors.std_ste_state.ste_enable = flag();
    colors.std_ste_state.vy_std_enable = flag();
    colors.std_ste_state.skin_types_enable = flag();
    colors.ace_lace_state.ace_enable = flag();
    colors.tcc_state.tcc_enable = flag();
    colors.procamp_state.procamp_enable = flag();
    colors.csc_state.transform_enable = flag();
    if random.one_in(6) {
        scene.input.surface_format = VeboxSurfaceStateSurfaceFormat::BAYER_PATTERN;
        scene.input.bayer_pattern_offset =
            VeboxSurfaceStateBayerPatternOffset::from_bits(random.below(4));
        (scene.state.demosaic_enable, scene.state.global_iecp_enable) = (true, true);
        scene.state.di_enable = VeboxStateDiEnable::DO_NOT_CALCULATE_DI;
        scene.state.dn_enable = VeboxStateDnEnable::DO_NOT_DENOISE_FRAME;
        scene.state.vignette_enable = !scene.state.alpha_plane_enable;
        scene.state.hot_pixel_filtering_enable = random.one_in(2);
        return scene;
    }
    let formats = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13];
    if random.one_in(3) {
        scene.input.surface_format =
            VeboxSurfaceStateSurfaceFormat::from_bits(random.pick(&formats));
    }
    if random.one_in(3) {
        scene.output.surface_format =
            VeboxSurfaceStateSurfaceFormat::from_bits(random.pick(&formats));
    }
    scene
}

/// Changes random bits of dwords.
fn change(dwords: &mut [u32], random: &mut Random) {
    for _ in 0..=random.index(4) {
        let at = random.index(dwords.len());
        match random.below(3) {
            0 => dwords[at] = random.bits() as u32,
            1 => dwords[at] ^= 1 << random.below(32),
            _ => dwords[at] = random.pick(&[0, u32::MAX]),
        }
    }
}

#[test]
fn changed_packets_and_tables_end() {
    let count = std::env::var("GENXML_MUTATIONS").map_or(PLAYS, |count| count.parse().unwrap());
    let mut faults = 0;
    let mut pixels = vec![0_u8; PIXELS];
    for number in 0..count {
        let mut random = Random::new(number);
        let mut scene = random_scene(&mut random);
        // Small frames, so that many are played; some are smaller than any block.
        let size = [[1, 2, 3, 5, 20, 36], [1, 2, 3, 5, 12, 13]].map(|sizes| random.pick(&sizes));
        for surface in [&mut scene.input, &mut scene.output] {
            (surface.width, surface.height) = (minus_one(size[0]), minus_one(size[1]));
        }
        if number % 16 == 0 {
            for byte in &mut pixels {
                *byte = random.bits() as u8;
            }
        }
        scene.model.write(INPUT, &pixels[..0x4000]);
        scene.model.write(BEFORE, &pixels[0x2000..0x6000]);
        scene.model.write(HISTORY_IN, &pixels[..0x400]);
        let mut tables = [
            scene.video.pack().to_vec(),
            scene.colors.pack().to_vec(),
            scene.gamut.pack().to_vec(),
            scene.vertices.pack().to_vec(),
            scene.pipe.pack().to_vec(),
        ];
        let mut batch = scene.batch();
        match random.below(6) {
            0 => {
                // The headers stay, so that the packets are found.
                let packets = [(1, 12), (13, 18), (19, 24), (25, 44)];
                let (start, end) = random.pick(&packets);
                change(&mut batch[start..end], &mut random);
            }
            table => change(&mut tables[table as usize - 1], &mut random),
        }
        for (address, table) in TABLES.into_iter().zip(&tables) {
            scene.model.put(address, table);
        }
        let run = AssertUnwindSafe(|| scene.model.submit(EngineId::VideoEnhance, &batch));
        let ended = catch_unwind(run).unwrap_or_else(|_| panic!("change {number} panics"));
        faults += u64::from(ended.is_err());
    }
    // Both must be frequent, so that the changes reach all functions.
    assert!(faults > count / 50 && faults < count * 3 / 4, "{faults} of {count} have faults");
}
