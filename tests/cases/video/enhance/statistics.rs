//! The statistics output. Oracle: counts of the test, at the offsets of digests/video.md 12.8.

use super::*;
use genxml::gen8::vebox_states::{EncoderStatisticsFormat, VeboxCommandStatistics};

/// Bytes of the counts of blocks: 16 for each 16x4 pixels.
const BLOCKS: usize = WIDTH * HEIGHT / 4;

fn sums(scene: &mut Scene, offset: usize) -> VeboxCommandStatistics {
    let words: [u32; 21] = scene.model.get(STATISTICS + offset as u64, 21).try_into().unwrap();
    VeboxCommandStatistics::unpack_lossy(&words)
}

fn histogram(scene: &mut Scene, offset: usize) -> Vec<u32> {
    scene.model.get(STATISTICS + offset as u64, 256)
}

/// Luma of the input in an area, and in the whole frame.
#[test]
fn histograms() {
    for full in [false, true] {
        let mut scene = Scene::new();
        scene.state.global_iecp_enable = true;
        scene.colors.ace_lace_state.full_image_histogram = full;
        scene.colors.procamp_state.procamp_enable = true;
        scene.colors.procamp_state.contrast = genxml_core::UFix::new(0.5).unwrap();
        let area = &mut scene.colors.alpha_aoi_state;
        (area.aoi_min_x, area.aoi_max_x) = (u(8), u(31));
        (area.aoi_min_y, area.aoi_max_y) = (u(4), u(15));
        scene.draw(INPUT, pattern);
        scene.run().unwrap();
        let mut want = vec![0; 256];
        for (x, y) in (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))) {
            if full || ((8..32).contains(&x) && (4..16).contains(&y)) {
                want[usize::from(pattern(x, y)[0])] += 1;
            }
        }
        let (least, most) =
            (want.iter().position(|c| *c > 0).unwrap(), want.iter().rposition(|c| *c > 0).unwrap());
        assert_eq!(histogram(&mut scene, 0), want);
        let sums = sums(&mut scene, 0x400);
        assert_eq!((sums.ymin.get(), sums.ymax.get()), (4 * least as u64, 4 * most as u64));
    }
}

/// With denoising, counts of blocks come first. Encoders read differences from the previous frame.
#[test]
fn blocks() {
    let mut scene = Scene::new();
    scene.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
    scene.state.global_iecp_enable = true;
    scene.colors.ace_lace_state.full_image_histogram = true;
    scene.video.block_noise_estimate_edge_threshold = u(1);
    scene.video.block_noise_estimate_noise_threshold = u(20);
    scene.draw(INPUT, |_, _| [53, 128, 128]);
    scene.draw(BEFORE, |_, _| [50, 128, 128]);
    scene.run().unwrap();
    for block in 0..BLOCKS / 16 {
        let words = scene.model.get(STATISTICS + 16 * block as u64, 4);
        // 3 for each of 64 pixels. Without deinterlacing, only the denoised part is there.
        assert_eq!(words, [0, 0, 0, 192 << 24]);
    }
    let counts = histogram(&mut scene, BLOCKS);
    assert_eq!((counts[53], counts.iter().sum::<u32>()), (2048, 2048));
    // Flat blocks that touch no edge have a noise of 0: 16x8 pixels each.
    let sums = sums(&mut scene, BLOCKS + 0x400);
    assert_eq!(sums.gne_sum.map(|sum| sum.get()), [0; 3]);
    assert_eq!(sums.gne_count[0].get(), 2 * 2);
}

/// Oracle: 2d p.136 and 138. Numbers of denoising are 0 without it, those of fields are not.
#[test]
fn deinterlacing_alone() {
    for denoises in [false, true] {
        let mut scene = Scene::new();
        scene.state.di_enable = VeboxStateDiEnable::CALCULATE_DI;
        if denoises {
            scene.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
        }
        scene.draw(INPUT, pattern);
        scene.draw(BEFORE, |_, _| [128; 3]);
        scene.run().unwrap();
        for block in 0..BLOCKS / 16 {
            let words: [u32; 4] =
                scene.model.get(STATISTICS + 16 * block as u64, 4).try_into().unwrap();
            let block = EncoderStatisticsFormat::unpack_lossy(&words);
            let shifts = [block.s_stad, block.s_shcm, block.s_svcm].map(|shift| shift.get() > 0);
            assert_eq!(shifts, [denoises; 3]);
            if !denoises {
                let mantissas = [block.m_stad, block.m_shcm, block.m_svcm];
                assert_eq!(mantissas.map(|mantissa| mantissa.get()), [0; 3]);
            }
            assert!(block.s_diff_c_tp_t.get() > 0);
        }
    }
}

/// With deinterlacing there are parts for both frames, and fields are compared.
#[test]
fn fields() {
    let mut scene = Scene::new();
    scene.state.di_enable = VeboxStateDiEnable::CALCULATE_DI;
    scene.state.global_iecp_enable = true;
    scene.colors.ace_lace_state.full_image_histogram = true;
    scene.draw(INPUT, |_, y| [if y % 2 == 0 { 60 } else { 100 }, 128, 128]);
    scene.draw(BEFORE, |_, y| [if y % 2 == 0 { 60 } else { 90 }, 128, 128]);
    scene.run().unwrap();
    let sums = sums(&mut scene, BLOCKS + 0x880);
    // Blocks that touch no edge: 2 across, 6 down. 32 pixels of each field.
    let each = |difference: u64| 12 * (32 * difference * difference / 16);
    let [ctpt, cbpb, ctcb, ctpb, cbpt, ..] = sums.fmd_variance.map(|sum| sum.get());
    assert_eq!([ctpt, cbpb, ctcb], [0, each(10), each(40)]);
    assert_eq!([ctpb, cbpt], [each(30), each(40)]);
    // The outputs are frames: the kept field is half of each.
    for (part, kept) in [(BLOCKS, 60), (BLOCKS + 0x480, 100)] {
        let counts = histogram(&mut scene, part);
        assert_eq!(counts.iter().sum::<u32>(), 2048);
        assert!(counts[kept] >= 1024, "{part:#x} {:?}", counts[kept]);
    }
}
