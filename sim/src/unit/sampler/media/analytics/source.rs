//! Pictures with one channel, which the video analytics functions read.

use super::super::rows::{Origin, Rows};
use crate::assumptions::{AVS_POSITION_BITS, KERNELS_OF_EVEN_SIZES_REACH_RIGHT};
use crate::mem::{PageFault, Vm};
use crate::surface::BadSurface;
use genxml::gen8::media::{MediaSurfaceState, MediaSurfaceStateSurfaceFormat as Format};
use std::ops::RangeInclusive;

/// Largest width and height of a kernel.
pub const MOST_KERNEL: usize = 15;
/// Number of pixels of the largest kernel beside the one of the result.
const AROUND: usize = MOST_KERNEL - 1;
/// Largest number of rows of a block of a function with a kernel.
const BLOCK_ROWS: usize = 4;
/// Largest number of columns of a block, unless pixels are bits.
const BLOCK_COLUMNS: usize = 16;
/// Largest number of columns of a block of bits.
const BIT_COLUMNS: usize = 64;
/// Largest width of a window.
const MOST_COLUMNS: usize = BIT_COLUMNS + AROUND;
/// Largest height of a window.
const MOST_ROWS: usize = BLOCK_ROWS + AROUND;

/// The pixels of a window, by row and column.
pub type Numbers = [[i32; BLOCK_COLUMNS + AROUND]; MOST_ROWS];
/// The pixels of a window of bits, by row. Bit n is column n.
pub type Bits = [u128; MOST_ROWS];

/// No pixels.
pub const NO_NUMBERS: Numbers = [[0; BLOCK_COLUMNS + AROUND]; MOST_ROWS];
/// No bits.
pub const NO_BITS: Bits = [0; MOST_ROWS];

/// A picture with one channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Source {
    /// Width and height in pixels. If lines are skipped, the height of the field.
    size: [i32; 2],
    /// The format.
    pub format: Format,
    rows: Rows,
    /// Column and row of the first pixel in memory.
    first: [i64; 2],
}

/// A rectangle of pixels, which may reach beyond the edges of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The first column and the first row.
    pub corner: [i32; 2],
    /// Number of columns and of rows.
    pub size: [usize; 2],
}

impl Window {
    /// The pixels that a block with its first pixel at `at` depends on, if each result depends on
    /// the pixels of a kernel.
    pub fn around(at: [i32; 2], block: [usize; 2], kernel: [usize; 2]) -> Window {
        let before = |size: usize| match KERNELS_OF_EVEN_SIZES_REACH_RIGHT {
            true => (size - 1) / 2,
            false => size / 2,
        };
        Window {
            corner: [0, 1].map(|n| at[n] - before(kernel[n]) as i32),
            size: [0, 1].map(|n| block[n] + kernel[n] - 1),
        }
    }
}

impl Source {
    /// Resolves the fields of a MEDIA_SURFACE_STATE for the video analytics functions.
    ///
    /// # Errors
    /// [`BadSurface`] with the first field that has an invalid value.
    pub fn resolve(state: &MediaSurfaceState) -> Result<Source, BadSurface> {
        let rows = Rows::resolve(state)?;
        let format = state.surface_format;
        if bits(format).is_none() {
            let why = "only the adaptive video scaler supports the format";
            return Err(BadSurface { field: "Surface Format", value: format.bits(), why });
        }
        Ok(Source {
            size: [state.width.get() as i32, state.height.get() as i32],
            format,
            rows,
            first: [state.x_offset_for_u_cb.get() as i64, state.y_offset_for_u_cb.get() as i64],
        })
    }

    /// True if a pixel has one bit.
    pub fn is_boolean(&self) -> bool {
        self.format == Format::Y1_UNORM
    }

    /// The smallest and the largest pixel.
    pub fn range(&self) -> RangeInclusive<i32> {
        match self.format {
            Format::Y1_UNORM => 0..=1,
            Format::Y8_UNORM_VA => 0..=0xff,
            Format::Y16_SNORM => i32::from(i16::MIN)..=i32::from(i16::MAX),
            _ => 0..=0xffff,
        }
    }

    /// Column and row of the pixel at a position that is relative to the size of the picture
    /// (assumptions::ANALYTICS_READ_WHOLE_PIXELS).
    pub fn pixel(&self, relative: [f32; 2]) -> [i32; 2] {
        /// Far outside of all pictures. The limit keeps sums from overflowing.
        const FAR: f64 = (1 << 20) as f64;
        let unit = f64::from(1u32 << AVS_POSITION_BITS);
        [0, 1].map(|n| {
            let pixels = f64::from(relative[n]) * f64::from(self.size[n]);
            // A NaN becomes 0.
            libm::floor(pixels.clamp(-FAR, FAR) * unit + 0.5) as i32 >> AVS_POSITION_BITS
        })
    }

    /// Reads a window: calls `put` with the row, the column and the value of each pixel. Returns
    /// the number of bytes that were read.
    ///
    /// # Errors
    /// A page fault.
    #[inline]
    pub fn read(
        &self,
        vm: &Vm<'_>,
        window: Window,
        mut put: impl FnMut(usize, usize, i32),
    ) -> Result<u64, PageFault> {
        let bits = i64::from(bits(self.format).unwrap_or(8));
        let [width, height] = window.size;
        let mut columns = [0; MOST_COLUMNS];
        let columns = &mut columns[..width];
        for (n, column) in columns.iter_mut().enumerate() {
            *column = self.rows.inside(window.corner[0] + n as i32, self.size[0]);
        }
        // Clamped and mirrored columns lie as close together as those of the window.
        let first = columns.iter().min().map_or(0, |&column| i64::from(column)) + self.first[0];
        let end = columns.iter().max().map_or(0, |&column| i64::from(column) + 1) + self.first[0];
        let start = first * bits / 8;
        let mut bytes = [0; 2 * MOST_COLUMNS];
        let bytes = &mut bytes[..((end * bits + 7) / 8 - start) as usize];
        let origin = Origin { left: 0, top: self.first[1] };
        for row in 0..height {
            let y = self.rows.inside(window.corner[1] + row as i32, self.size[1]);
            self.rows.read(vm, origin, start, y, bytes)?;
            for (n, &column) in columns.iter().enumerate() {
                let bit = ((self.first[0] + i64::from(column)) * bits - 8 * start) as usize;
                put(row, n, self.value(bytes, bit));
            }
        }
        Ok((bytes.len() * height) as u64)
    }

    /// The pixel that begins at bit `bit` of some bytes.
    #[inline(always)]
    fn value(&self, bytes: &[u8], bit: usize) -> i32 {
        let byte = bit / 8;
        match self.format {
            // assumptions::BITS_OF_ANALYTICS_BEGIN_WITH_THE_LOWEST
            Format::Y1_UNORM => i32::from(bytes[byte] >> (bit % 8) & 1),
            Format::Y8_UNORM_VA => bytes[byte].into(),
            Format::Y16_SNORM => i16::from_le_bytes([bytes[byte], bytes[byte + 1]]).into(),
            _ => u16::from_le_bytes([bytes[byte], bytes[byte + 1]]).into(),
        }
    }
}

/// Number of bits of a pixel; `None` for formats that the functions do not support.
fn bits(format: Format) -> Option<u8> {
    match format {
        Format::Y1_UNORM => Some(1),
        Format::Y8_UNORM_VA => Some(8),
        Format::Y16_SNORM | Format::Y16_UNORM_VA => Some(16),
        _ => None,
    }
}
