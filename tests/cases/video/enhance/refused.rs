//! Faults that name the field, the surface or the function.

use super::*;
use VeboxSurfaceStateSurfaceFormat as F;
use genxml::gen8::vebox_states::*;

/// The text of the fault after a change.
fn fault(change: impl FnOnce(&mut Scene)) -> String {
    let mut scene = Scene::new();
    scene.draw(INPUT, pattern);
    change(&mut scene);
    scene.run().expect_err("a fault").to_string()
}

fn assert_names(text: &str, name: &str) {
    assert!(text.contains(name), "{name}: {text}");
}

#[test]
fn functions_that_the_model_lacks() {
    let bayer = |change: fn(&mut Scene)| {
        fault(|s| {
            s.input.surface_format = F::BAYER_PATTERN;
            s.state.demosaic_enable = true;
            s.state.global_iecp_enable = true;
            change(s);
        })
    };
    assert_names(
        &bayer(|s| s.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME),
        "denoising of a Bayer pattern",
    );
    assert_names(
        &fault(|s| {
            s.state.global_iecp_enable = true;
            s.state.color_gamut_compression_enable = true;
            s.gamut.cpi_override = true;
        }),
        "Cpi Override",
    );
    assert_names(
        &fault(|s| {
            s.state.global_iecp_enable = true;
            s.state.color_gamut_expansion_enable = true;
            s.gamut.global_mode_enable = VeboxGamutStateGlobalModeEnable::BASIC_MODE;
            s.state.gamut_expansion_position = u(1);
        }),
        "Gamut Expansion Position",
    );
    // The camera pipe.
    assert_names(&bayer(|s| s.state.demosaic_enable = false), "Demosaic Enable = 0x0");
    assert_names(&bayer(|s| s.state.global_iecp_enable = false), "Global IECP Enable = 0x0");
    assert_names(&bayer(|s| s.input.width = minus_one(3)), "Width = 0x3");
    assert_names(&bayer(|s| s.input.height = minus_one(3)), "Height = 0x3");
    assert_names(
        &bayer(|s| s.state.di_enable = VeboxStateDiEnable::CALCULATE_DI),
        "Surface Format = 0xe",
    );
    assert_names(
        &bayer(|s| (s.state.alpha_plane_enable, s.state.vignette_enable) = (true, true)),
        "Alpha Plane Enable = 0x1",
    );
    assert_names(&bayer(|s| s.output.surface_format = F::BAYER_PATTERN), "Surface Format = 0xe");
    assert_names(&fault(|s| s.state.demosaic_enable = true), "Demosaic Enable = 0x1");
    assert_names(&fault(|s| s.state.vignette_enable = true), "Vignette Enable = 0x1");
    assert_names(&fault(|s| s.state.hot_pixel_filtering_enable = true), "Hot Pixel Filtering");
    for (change, name) in [
        (
            (|s| s.state.capture_pipe_state_pointer = at(UNMAPPED)) as fn(&mut Scene),
            "capture pipe state",
        ),
        (
            |s| {
                s.state.vignette_enable = true;
                s.packet.alpha_vignette_correction_address = at(UNMAPPED);
            },
            "vignette correction",
        ),
    ] {
        assert_names(&bayer(change), name);
    }
    let enhanced = |change: fn(&mut VeboxIecpState)| {
        fault(|s| {
            s.state.global_iecp_enable = true;
            change(&mut s.colors);
        })
    };
    assert_names(
        &enhanced(|c| c.ccm_state.color_correction_matrix_enable = true),
        "Color Correction Matrix Enable",
    );
    assert_names(
        &enhanced(|c| c.forward_gamma_correction_state.forward_gamma_correction_enable = true),
        "Forward Gamma Correction Enable",
    );
    assert_names(
        &enhanced(|c| c.front_end_csc_state.front_end_csc_transform_enable = true),
        "Front End CSC Transform Enable",
    );
}

#[test]
fn surfaces() {
    let ten = F::R10G10B10A2_UNORM_R10G10B10A2_UNORM_SRGB;
    assert_names(&fault(|s| s.input.surface_format = ten), "Surface Format = 0x7");
    assert_names(&fault(|s| s.output.surface_format = F::from_bits(15)), "Surface Format = 0xf");
    assert_names(&fault(|s| s.output.surface_pitch = minus_one(63)), "Surface Pitch = 0x3f");
    assert_names(&fault(|s| s.output.width = minus_one(62)), "Width = 0x3e");
    assert_names(&fault(|s| s.output.height = minus_one(31)), "Height = 0x1f");
    assert_names(
        &fault(|s| {
            s.input.tiled_surface = true;
            s.input.surface_pitch = minus_one(1000);
        }),
        "Surface Pitch = 0x3e8",
    );
    assert_names(
        &fault(|s| {
            s.input.tiled_surface = true;
            s.input.half_pitch_for_chroma = true;
        }),
        "Half Pitch for Chroma",
    );
    assert_names(
        &fault(|s| {
            s.input.surface_format = F::YCRCB_NORMAL;
            s.input.width = minus_one(63);
        }),
        "Width = 0x3f",
    );
    assert_names(
        &fault(|s| {
            s.output.surface_format = F::YCRCB_NORMAL;
            s.input.width = minus_one(63);
        }),
        "Width = 0x3f",
    );
    assert_names(
        &fault(|s| {
            s.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
            s.input.surface_format = F::PACKED_444A_8;
        }),
        "Surface Format = 0x5",
    );
}

#[test]
fn settings() {
    assert_names(
        &fault(|s| {
            s.state.alpha_plane_enable = true;
            s.input.surface_format = F::PACKED_444A_8;
        }),
        "Alpha Plane Enable = 0x1",
    );
    assert_names(
        &fault(|s| {
            s.state.global_iecp_enable = true;
            s.state.color_gamut_compression_enable = true;
            s.gamut.compression_line_shift = u(5);
        }),
        "CompressionLineShift = 0x5",
    );
    assert_names(&fault(|s| s.packet.starting_x = u(32)), "Starting X = 0x20");
    let denoised = |change: fn(&mut VeboxDndiState)| {
        fault(|s| {
            s.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
            change(&mut s.video);
        })
    };
    assert_names(
        &denoised(|v| v.temporal_difference_threshold = u(17)),
        "Temporal Difference Threshold = 0x11",
    );
    assert_names(
        &denoised(|v| v.low_temporal_difference_threshold = u(1)),
        "Temporal Difference Threshold = 0x0",
    );
    assert_names(
        &denoised(|v| {
            v.chroma_temporal_difference_threshold = u(30);
            v.chroma_denoise_enable = VeboxDndiStateChromaDenoiseEnable::from_bits(1);
        }),
        "Chroma Temporal Difference Threshold = 0x1e",
    );
    let deinterlaced = |change: fn(&mut Scene)| {
        fault(|s| {
            s.state.di_enable = VeboxStateDiEnable::CALCULATE_DI;
            change(s);
        })
    };
    assert_names(
        &deinterlaced(|s| s.state.di_output_frames = VeboxStateDiOutputFrames::from_bits(3)),
        "DI Output Frames = 0x3",
    );
    assert_names(
        &deinterlaced(|s| {
            s.video.progressive_cadence_reconstruction_for_1st_field_of_current_frame =
                VeboxDndiStateProgressiveCadenceReconstructionFor1stFieldOfCurrentFrame::from_bits(
                    3,
                );
        }),
        "Progressive Cadence Reconstruction for 1st Field of Current Frame = 0x3",
    );
}

#[test]
fn unmapped_buffers() {
    type Change = fn(&mut Scene);
    let cases: [(Change, &str); 13] = [
        (|s| s.packet.current_frame_input_address = at(UNMAPPED), "current frame input"),
        (|s| s.packet.previous_frame_input_address = at(UNMAPPED), "previous frame input"),
        (|s| s.packet.stmm_input_address = at(UNMAPPED), "STMM input"),
        (|s| s.packet.stmm_output_address = at(UNMAPPED), "STMM output"),
        (
            |s| s.packet.denoised_current_frame_output_address = at(UNMAPPED),
            "denoised frame output",
        ),
        (|s| s.packet.current_frame_output_address = at(UNMAPPED), "current frame output"),
        (|s| s.packet.previous_frame_output_address = at(UNMAPPED), "previous frame output"),
        (|s| s.packet.statistics_output_address = at(UNMAPPED), "statistics output"),
        (|s| s.state.dn_di_state_pointer = at(UNMAPPED), "DN/DI state"),
        (|s| s.state.iecp_state_pointer = at(UNMAPPED), "IECP state"),
        (|s| s.state.gamut_state_pointer = at(UNMAPPED), "gamut state"),
        (|s| s.state.vertex_table_state_pointer = at(UNMAPPED), "vertex table"),
        (
            |s| {
                s.state.alpha_plane_enable = true;
                s.output.surface_format = F::R8G8B8A8_UNORM_R8G8B8A8_UNORM_SRGB;
                s.packet.alpha_vignette_correction_address = at(UNMAPPED);
            },
            "alpha plane",
        ),
    ];
    for (change, name) in cases {
        let text = fault(|s| {
            s.state.dn_enable = VeboxStateDnEnable::DENOISE_FRAME;
            s.state.di_enable = VeboxStateDiEnable::CALCULATE_DI;
            s.state.global_iecp_enable = true;
            s.state.color_gamut_expansion_enable = true;
            s.state.color_gamut_compression_enable = true;
            change(s);
        });
        assert_names(&text, name);
    }
}

/// A packet without the state that must come before it.
#[test]
fn missing_state() {
    let mut scene = Scene::new();
    let run = |scene: &mut Scene, batch: Vec<u32>| {
        scene.model.submit(EngineId::VideoEnhance, &batch).expect_err("a fault").to_string()
    };
    let batch = packets![scene.packet];
    assert_names(&run(&mut scene, batch), "VEBOX_STATE");
    let batch = packets![scene.state, scene.input, scene.packet];
    assert_names(&run(&mut scene, batch), "Surface Identification = 0x1");
}
