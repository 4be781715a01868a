//! Tilings. Oracle: walks through memory byte by byte, tile by tile, in the order of gen8_facts
//! 10.1.

use genxml_cases::paper::Tiling;
use genxml_sim::surface::TileMode;

const MODES: [(TileMode, Tiling); 4] = [
    (TileMode::Linear, Tiling::Linear),
    (TileMode::X, Tiling::X),
    (TileMode::Y, Tiling::Y),
    (TileMode::W, Tiling::W),
];

#[test]
fn every_byte_of_several_tiles() {
    for (mode, tiling) in MODES {
        let (walk, (width, height, unit)) = (tiling.walk(), tiling.tile());
        assert_eq!(walk.len(), if mode == TileMode::Linear { 1 } else { 4096 });
        assert_eq!(
            (mode.width(), mode.height(), mode.pitch_unit()),
            (width as u32, height as u32, unit as u32)
        );
        for across in 1..=3 {
            let pitch = (across * unit) as i64;
            let mut address = 0;
            for tile_row in 0..3 {
                for tile_column in 0..across {
                    for &(x, y) in &walk {
                        let (x, y) =
                            ((x + tile_column * width) as i64, (y + tile_row * height) as i64);
                        assert_eq!(
                            mode.offset(x, y, pitch),
                            address,
                            "{mode:?} {x} {y} of {pitch}"
                        );
                        assert_eq!(
                            mode.locate(address, pitch),
                            (x, y),
                            "{mode:?} {address:#x} of {pitch}"
                        );
                        address += 1;
                    }
                }
            }
        }
    }
}

#[test]
fn linear_rows() {
    for (pitch, x, y) in [(1, 0, 7), (100, 99, 3), (256, 0, 0), (4096, 4095, 5)] {
        assert_eq!(TileMode::Linear.offset(x, y, pitch), y * pitch + x);
        assert_eq!(TileMode::Linear.locate(y * pitch + x, pitch), (x, y));
    }
}
