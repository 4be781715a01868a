//! Plays the captures.
//!
//! Oracle: FFmpeg 5.1's software decoder, which decoded the same streams. Frames of AVC, VP8 and
//! VC-1 are equal, those of MPEG-2 and JPEG near.

use super::capture::Capture;

macro_rules! captures {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let capture = Capture::open(stringify!($name));
                let mut model = capture.model();
                capture.play(&mut model).unwrap();
            }
        )*

        /// Each file has a case.
        #[test]
        fn all_captures() {
            let mut names = vec![$(stringify!($name)),*];
            names.sort();
            assert_eq!(Capture::names(), names);
        }
    };
}

captures! {
    avc_cavlc,
    avc_mbaff,
    avc_mbaff_cavlc,
    avc_mono,
    avc_random_1,
    avc_random_29,
    avc_random_31,
    avc_random_39,
    avc_random_48,
    avc_random_56,
    avc_random_58,
    avc_random_8,
    avc_spatial,
    avc_temporal,
    avc_weights,
    jpeg_420,
    jpeg_random_5,
    jpeg_random_6,
    jpeg_random_8,
    jpeg_random_9,
    mpeg2_frames,
    mpeg2_interlaced,
    mpeg2_random_0,
    mpeg2_random_20,
    mpeg2_random_5,
    vc1_advanced,
    vc1_advanced_b,
    vc1_fields,
    vc1_frames,
    vc1_main,
    vc1_main_b,
    vc1_simple,
    vp8_inter,
    vp8_partitions,
    vp8_random_0,
    vp8_random_2,
    vp8_random_4,
    vp8_random_5,
}

/// Two host threads write the same memory as one.
#[test]
fn host_threads() {
    for name in Capture::names() {
        let capture = Capture::open(&name);
        let run = |threads: usize| {
            let mut model = capture.model();
            model.gpu.set_threads(threads);
            assert_eq!(capture.submit(&mut model), 0, "{name}");
            capture.memory(&mut model)
        };
        assert!(run(1) == run(2), "{name}");
    }
}
