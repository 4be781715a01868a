use super::Bound;
use super::dataport::media_block::{Block, BlockMask, Lines, read_block, write_block};
use crate::mem::{AddressSpace, Memory, PAGE, Vm};
use crate::surface::{Surface, SurfaceKind, TileMode};
use genxml::gen8::state::{RenderSurfaceStateMediaBoundaryPixelMode, SurfaceFormat};
use proptest::prelude::*;

const BASE: u64 = 0x10_0000;
const BYTES: usize = 64 * 1024;

/// Offset of byte `x` of row `y`, computed by counting tiles (gen8_facts 10.1).
fn offset(tile_mode: TileMode, x: usize, y: usize, pitch: usize) -> usize {
    match tile_mode {
        TileMode::Linear => y * pitch + x,
        TileMode::X => (y / 8 * (pitch / 512) + x / 512) * 4096 + y % 8 * 512 + x % 512,
        _ => (y / 32 * (pitch / 128) + x / 128) * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16,
    }
}

fn machine() -> (Memory, AddressSpace) {
    let mut mem = Memory::with_limit(16 << 20);
    let mut space = AddressSpace::new(&mut mem).unwrap();
    let frames = mem.alloc(BYTES as u64 / PAGE).unwrap();
    space.map(&mut mem, BASE, frames, true).unwrap();
    (mem, space)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Oracle for writes: an array that is filled byte by byte. Oracle for reads: this array; for
    /// bytes outside of the surface, G45 vol 4 section 5.10.4.
    #[test]
    fn media_blocks(
        tile_mode in prop::sample::select(vec![TileMode::Linear, TileMode::X, TileMode::Y]),
        dwords in 1u32..128, height in 1u32..64, x in -80i64..560, y in -40i64..80,
        block_dwords in 1u32..=16, block_height in 1u32..=16, element_bytes in prop::sample::select(vec![1u32, 2, 4]),
    ) {
        let (mut mem, mut space) = machine();
        let mut vm = Vm::new(&mut mem, &mut space);
        let bound = Bound {
            surface: Surface {
                kind: SurfaceKind::Image,
                base: BASE,
                width: dwords,
                height,
                pitch: 512,
                tile_mode,
                element_bytes,
                format: SurfaceFormat::R8_UNORM,
                ..Surface::default()
            },
            boundary: RenderSurfaceStateMediaBoundaryPixelMode::NORMAL_MODE,
        };
        let block = Block { x: x & !3, y, width: 4 * block_dwords, height: block_height };
        let data: Vec<u8> = (0..block.bytes()).map(|n| (n % 251) as u8 + 1).collect();
        write_block(&mut vm, &bound, &Lines::new(&bound, None), &block, BlockMask::All, &data).unwrap();

        let mut expected = vec![0u8; BYTES];
        for row in 0..i64::from(block_height) {
            for column in 0..i64::from(block.width) {
                let (x, y) = (block.x + column, block.y + row);
                if (0..4 * i64::from(dwords)).contains(&x) && (0..i64::from(height)).contains(&y) {
                    let pitch = (block.width as usize).next_power_of_two();
                    expected[offset(tile_mode, x as usize, y as usize, 512)] =
                        data[row as usize * pitch + column as usize];
                }
            }
        }
        let mut found = vec![0; BYTES];
        vm.read(BASE, &mut found).unwrap();
        prop_assert!(found == expected);

        let mut read = vec![0; block.bytes()];
        read_block(&vm, &bound, &Lines::new(&bound, None), &block, &mut read).unwrap();
        for row in 0..i64::from(block_height) {
            for column in 0..i64::from(block.width) {
                let e = i64::from(element_bytes);
                let element = (block.x + column).div_euclid(e).max(0).min(4 * i64::from(dwords) / e - 1);
                let x = element * e + (block.x + column).rem_euclid(e);
                let y = (block.y + row).max(0).min(i64::from(height) - 1);
                let pitch = (block.width as usize).next_power_of_two();
                prop_assert_eq!(
                    read[row as usize * pitch + column as usize],
                    expected[offset(tile_mode, x as usize, y as usize, 512)]
                );
            }
        }
    }

    /// Only the bytes that the mask includes are written and counted. Oracle: the positions of the
    /// bits in byte masks (one for each byte of a row) and pixel masks (2d p.295).
    #[test]
    fn masked_media_blocks(
        mask in any::<u32>(), pixels in any::<bool>(), x in -8i64..24, y in -3i64..8, height in 1u32..=8,
    ) {
        let (mut mem, mut space) = machine();
        let mut vm = Vm::new(&mut mem, &mut space);
        let surface = Surface {
            kind: SurfaceKind::Image,
            base: BASE,
            width: 10,
            height: 7,
            pitch: 512,
            tile_mode: TileMode::Linear,
            element_bytes: 1,
            format: SurfaceFormat::R8_UNORM,
            ..Surface::default()
        };
        let boundary = RenderSurfaceStateMediaBoundaryPixelMode::NORMAL_MODE;
        let bound = Bound { surface, boundary };
        let height = if pixels { 4 } else { height };
        let block = Block { x: 4 * x, y, width: 32, height };
        let data = vec![1; block.bytes()];
        let kind = if pixels { BlockMask::Pixels(mask) } else { BlockMask::Bytes(mask) };
        let lines = Lines::new(&bound, None);
        let written = write_block(&mut vm, &bound, &lines, &block, kind, &data).unwrap();
        let mut expected = vec![0; 8 * 512];
        for (row, column) in (0..height).flat_map(|row| (0..32).map(move |column| (row, column))) {
            // Bits 3:0 are the 4 x 4 pixels on the left. Each group of four bits is a 2 x 2 square.
            let squares = [[0u32, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]];
            let bit = match pixels {
                true => squares[row as usize][column as usize / 4 % 4] + column / 16 * 16,
                false => column,
            };
            let (x, y) = (block.x + i64::from(column), y + i64::from(row));
            if mask >> bit & 1 == 1 && (0..40).contains(&x) && (0..7).contains(&y) {
                expected[y as usize * 512 + x as usize] = 1;
            }
        }
        let mut found = vec![0; expected.len()];
        vm.read(BASE, &mut found).unwrap();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(written, expected.iter().map(|byte| u64::from(*byte)).sum::<u64>());
    }
}
