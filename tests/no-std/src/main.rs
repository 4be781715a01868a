//! Packs a packet and builds a batch without the standard library, with an allocator of a few
//! lines. If a dependency linked the standard library, there would be two panic handlers, and the
//! program would not build. The exit code is 0 if the results are right.
#![no_std]
#![no_main]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod bump;

use genxml::batch::Batch;
use genxml::core::{S, lit};
use genxml::engine::Blitter;
use genxml::gen8::blitter::{BlitByteMask, BlitColorDepth, BlitRasterOperation, XyColorBlt};

const RED_SQUARE: [u32; XyColorBlt::DWORDS] = XyColorBlt {
    color_depth: BlitColorDepth::_32BPP,
    _32bpp_byte_mask: BlitByteMask::WRITE_RGBA,
    raster_operation: BlitRasterOperation::PATTERN_COPY,
    destination_pitch: lit!(1024),
    destination_x2_coordinate_right: lit!(64),
    destination_base_address: lit!(0x10_0000),
    solid_pattern_color: lit!(0xff0000),
    ..XyColorBlt::new()
}
.pack();

/// Packs and builds. An error is the number of the step that failed.
fn run(height: i64) -> Result<(), i32> {
    let height = S::new(height).map_err(|_| 1)?;
    let square = XyColorBlt {
        destination_y2_coordinate_bottom: height,
        ..XyColorBlt::unpack(&RED_SQUARE).map_err(|_| 2)?
    };
    if square.pack()[3] != 0x0040_0040 {
        return Err(3);
    }
    let mut batch = Batch::<Blitter>::new("batch", 0x20_0000, 4096).map_err(|_| 4)?;
    batch.emit(&square).map_err(|_| 5)?;
    let finished = batch.finish().map_err(|_| 6)?;
    // The packet and MI_BATCH_BUFFER_END, which together are whole qwords.
    if finished.length != 4 * (XyColorBlt::DWORDS + 1) { Err(7) } else { Ok(()) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// The compiled `alloc` of hosts refers to this symbol. Nothing unwinds here.
// SAFETY: no other definition of the symbol is linked, or the linker would refuse both.
#[cfg(not(target_os = "none"))]
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

/// Where the C library starts the program.
// SAFETY: `#![no_main]` leaves the symbol free, and the signature is C's without the arguments,
// which is allowed.
#[cfg(not(target_os = "none"))]
#[unsafe(no_mangle)]
pub extern "C" fn main() -> i32 {
    run(64).map_or_else(|wrong| wrong, |()| 0)
}

/// Where a loader would start the program.
// SAFETY: nothing else of the name is linked: there is neither a C library nor a runtime.
#[cfg(target_os = "none")]
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let _ = run(64);
    loop {
        core::hint::spin_loop();
    }
}
