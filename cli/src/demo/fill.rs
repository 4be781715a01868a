//! A texture written by GPGPU threads: every thread computes 8x8 pixels from its group's position
//! and writes them with one media block write.

use super::kernel::{Kernel, dword, number, packed, scalar, words};
use genxml::batch::{Batch, Buffer, Submission};
use genxml::core::lit;
use genxml::engine::Render;
use genxml::eu::instruction::{Register, SharedFunction};
use genxml::eu::{EncodeError, Opcode};
use genxml::gen8::messages::*;
use genxml::gen8::state::SurfaceFormat;
use genxml::setup::{Dispatch, Heaps, Surface};
use std::error::Error;

/// Width of the picture in pixels.
pub const WIDTH: u32 = 256;
/// Height of the picture in pixels.
pub const HEIGHT: u32 = 256;

/// Width and height of a thread's block in pixels.
const BLOCK: u32 = 8;
const PIXEL_BYTES: u32 = 4;

/// Addresses in the context's address space.
const BATCH: u64 = 0x10_0000;
const HEAPS: u64 = 0x20_0000;
/// Address of the picture in the context's address space.
pub const TARGET: u64 = 0x100_0000;

/// The pixel at `x`, `y` as bytes. Red is x, green is y, blue is their exclusive or.
pub fn pixel(x: u32, y: u32) -> [u8; 4] {
    [x as u8, y as u8, (x ^ y) as u8, 255]
}

/// The kernel of a thread. r0.1 and r0.6 have the x and y of its group; the thread writes the block
/// of the group to surface 0.
fn kernel() -> Result<Vec<u32>, EncodeError> {
    const X: Register = Register::grf(4);
    const COLOR: Register = Register::grf(6);
    const LEFT: Register = dword(5, 0);
    const TOP: Register = dword(5, 1);
    const Y: Register = dword(5, 2);
    const GREEN: Register = dword(5, 3);
    const HEADER: u8 = 10;
    const END: u8 = 112;

    let mut k = Kernel::default();
    k.dwords(Opcode::Shl, 1, LEFT, [scalar(dword(0, 1)), number(BLOCK.ilog2())]);
    k.dwords(Opcode::Shl, 1, TOP, [scalar(dword(0, 6)), number(BLOCK.ilog2())]);
    k.channel_numbers(COLOR);
    k.dwords(Opcode::Add, 8, X, [words(COLOR), scalar(LEFT)]);

    let extent = MhcMbControl {
        block_width: lit!((BLOCK * PIXEL_BYTES) as i128),
        block_height: lit!(BLOCK as i128),
        ..MhcMbControl::new()
    };
    k.dwords(Opcode::Mov, 8, Register::grf(HEADER), [number(0)]);
    k.dwords(Opcode::Shl, 1, dword(HEADER, 0), [scalar(LEFT), number(PIXEL_BYTES.ilog2())]);
    k.dwords(Opcode::Mov, 1, dword(HEADER, 1), [scalar(TOP)]);
    k.dwords(Opcode::Mov, 1, dword(HEADER, 2), [number(extent.pack()[0])]);
    for row in 0..BLOCK {
        k.dwords(Opcode::Add, 1, Y, [scalar(TOP), number(row)]);
        k.dwords(Opcode::Xor, 8, COLOR, [packed(X), scalar(Y)]);
        k.dwords(Opcode::Shl, 8, COLOR, [packed(COLOR), number(16)]);
        k.dwords(Opcode::Or, 8, COLOR, [packed(COLOR), packed(X)]);
        k.dwords(Opcode::Shl, 1, GREEN, [scalar(Y), number(8)]);
        k.dwords(Opcode::Or, 8, COLOR, [packed(COLOR), scalar(GREEN)]);
        let out = Register::grf(HEADER + 1 + row as u8);
        k.dwords(Opcode::Or, 8, out, [packed(COLOR), number(0xff00_0000)]);
    }
    let write = Msd1wMb {
        header_present: true,
        message_length: lit!(1 + BLOCK as i128),
        binding_table_index: lit!(0),
        ..Msd1wMb::new()
    };
    k.send(SharedFunction::DataPort1, write.pack()[0], Register::grf(HEADER), false);

    // The payload of the message that ends the thread must be in r112 or above.
    let end = TsEot { message_length: lit!(1), ..TsEot::new() };
    k.dwords(Opcode::Mov, 8, Register::grf(END), [packed(Register::grf(0))]);
    k.send(SharedFunction::ThreadSpawner, end.pack()[0], Register::grf(END), true);
    k.assemble()
}

/// The batch with its state, kernel and target.
///
/// # Errors
/// None in practice: all values fit.
pub fn submission() -> Result<Submission, Box<dyn Error>> {
    let target = Buffer::new("target", TARGET, (WIDTH * HEIGHT * PIXEL_BYTES) as usize)?;
    let mut heaps = Heaps::new(HEAPS)?;
    let image = Surface::image(SurfaceFormat::R8G8B8A8_UNORM, WIDTH, HEIGHT);
    let kernel = kernel()?;
    let dispatch = Dispatch {
        surfaces: vec![heaps.surface(&target, &image)?],
        groups: [WIDTH / BLOCK, HEIGHT / BLOCK, 1],
        ..Dispatch::new(&kernel)
    };
    let mut batch = Batch::<Render>::new("batch", BATCH, 4096)?.select_gpgpu()?;
    batch.emit(&heaps.bases(&batch)?)?;
    dispatch.emit(&mut batch, &mut heaps)?;
    Ok(batch.finish()?.submit(heaps.finish().into_iter().chain([target]))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::execute;

    /// Oracle: the formula of the picture, pixel by pixel.
    #[test]
    fn the_picture_is_its_formula() {
        let (pixels, stats) = execute(&submission().unwrap(), TARGET).unwrap();
        let expected: Vec<u8> =
            (0..HEIGHT).flat_map(|y| (0..WIDTH).flat_map(move |x| pixel(x, y))).collect();
        assert!(pixels == expected);
        assert_eq!(stats.threads, u64::from(WIDTH / BLOCK * (HEIGHT / BLOCK)));
    }
}
