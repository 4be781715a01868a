//! Pixels of the pictures of a message. Windows and vectors may leave a picture: its nearest pixels
//! are repeated there.

use super::geometry::{Luma, Partition};
use super::predict::Patch;
use super::search::{WINDOW, Window};
use crate::machine::fault::Fault;
use crate::unit::bindings::FIRST_SPECIAL_INDEX;
use crate::unit::port::Port;
use crate::unit::sampler::media::picture::{BLUE, GREEN, Picture, Plane};
use genxml::eu::gen8::eu_vme::VmeUniversalMessagePayload;

/// The lines of a picture that are used: all, or those of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lines {
    step: i32,
    first: i32,
}

impl Lines {
    fn new(field: bool, polarity: u64) -> Lines {
        if field {
            Lines { step: 2, first: (polarity & 1) as i32 }
        } else {
            Lines { step: 1, first: 0 }
        }
    }

    /// The line of row `y`, in a plane of `height` lines.
    fn line(self, y: i32, height: i32) -> i32 {
        let last = ((height - 1 - self.first) / self.step).max(0);
        y.clamp(0, last) * self.step + self.first
    }
}

/// Which pictures a message uses, and how many bytes of them it has read.
#[derive(Clone, Debug)]
pub struct Pictures {
    /// Binding table indices of the source and both references.
    indices: [u64; 3],
    lines: [Lines; 3],
    /// Position of the macroblock in the picture.
    at: [i32; 2],
    bytes: u64,
}

impl Pictures {
    /// The pictures of a message whose source has the binding table index `index`. The references
    /// follow the source, two for each reference ID.
    pub fn new(universal: &VmeUniversalMessagePayload, index: u64) -> Pictures {
        let block = &universal.block_reference[0];
        let ids = [block.block_reference_0_id.get(), block.block_reference_1_id.get()];
        let polarity = universal.reference_field_polarity.get();
        let field = universal.reference_field_access;
        Pictures {
            indices: [index, index + 1 + 2 * ids[0], index + 2 + 2 * ids[1]],
            lines: [
                Lines::new(universal.source_field_access, universal.source_field_polarity.get()),
                Lines::new(field, polarity),
                Lines::new(field, polarity >> 4),
            ],
            at: [universal.source_x, universal.source_y].map(|n| n.get() as i32),
            bytes: 0,
        }
    }

    /// Number of bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads a rectangle of the plane that has `channel` into `out`, row by row. `x` and `y` are in
    /// pixels of the plane. The rows are `stride` bytes apart, and `width` bytes of each are read.
    fn read(
        &mut self,
        port: &mut Port<'_, '_>,
        number: usize,
        channel: usize,
        [x, y]: [i32; 2],
        (width, height, stride): (usize, usize, usize),
        out: &mut [u8],
    ) -> Result<(), Fault> {
        let index = self.indices[number];
        let picture = match u8::try_from(index) {
            Ok(index) if index < FIRST_SPECIAL_INDEX => port.bindings.picture(port.exec, index)?,
            _ => {
                let why = format!("motion estimation with entry {index}, which is not a surface");
                return Err(port.exec.bad_field("Binding Table Index", index, why));
            }
        };
        let plane: Option<Plane> = match picture
            .planes()
            .find(|plane| plane.channels >> channel & 1 == 1)
        {
            Some(plane) if plane.bytes() == if channel == GREEN { 1 } else { 2 } => Some(*plane),
            _ => None,
        };
        let copied = match &plane {
            Some(plane) => {
                self.rows(port, &picture, plane, number, [x, y], (width, height, stride), out)
            }
            None => Ok(false),
        };
        match copied {
            Ok(true) => {
                self.bytes += (width * height) as u64;
                Ok(())
            }
            Ok(false) => {
                let why = format!(
                    "binding table entry {index}: motion estimation needs NV12 pictures, or Y8 \
                     without chroma"
                );
                Err(port.exec.bad_field("Surface Format", index, why))
            }
            Err(fault) => Err(port.exec.page(fault, "a picture of motion estimation")),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn rows(
        &self,
        port: &Port<'_, '_>,
        picture: &Picture,
        plane: &Plane,
        number: usize,
        [x, y]: [i32; 2],
        (width, height, stride): (usize, usize, usize),
        out: &mut [u8],
    ) -> Result<bool, crate::mem::PageFault> {
        for (row, out) in out.chunks_mut(stride).take(height).enumerate() {
            let line = self.lines[number].line(y + row as i32, plane.size[1]);
            if !picture.copy(&port.exec.vm, plane, [x, line], &mut out[..width])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The luma of the macroblock.
    ///
    /// # Errors
    /// Page faults, and surface states that do not describe a picture of luma.
    pub fn source(&mut self, port: &mut Port<'_, '_>) -> Result<Luma, Fault> {
        let mut luma = [0; 256];
        self.read(port, 0, GREEN, self.at, (16, 16, 16), &mut luma)?;
        Ok(luma)
    }

    /// Cb and Cr of the macroblock.
    ///
    /// # Errors
    /// Like [`Pictures::source`].
    pub fn chroma(&mut self, port: &mut Port<'_, '_>) -> Result<[[u8; 64]; 2], Fault> {
        let mut pairs = [0; 128];
        let at = self.at.map(|n| n / 2);
        self.read(port, 0, BLUE, at, (16, 8, 16), &mut pairs)?;
        Ok([0, 1].map(|part| std::array::from_fn(|n| pairs[2 * n + part])))
    }

    /// A window of a reference whose corner is relative to the macroblock.
    ///
    /// # Errors
    /// Like [`Pictures::source`].
    pub fn window(
        &mut self,
        port: &mut Port<'_, '_>,
        reference: usize,
        [x, y]: [i32; 2],
        [width, height]: [usize; 2],
    ) -> Result<Window, Fault> {
        let mut window = Window { pixels: [0; WINDOW * WINDOW], width, height, x, y };
        let at = [self.at[0] + x, self.at[1] + y];
        self.read(port, 1 + reference, GREEN, at, (width, height, WINDOW), &mut window.pixels)?;
        Ok(window)
    }

    /// Fills a patch with the pixels of a reference around a partition.
    ///
    /// # Errors
    /// Like [`Pictures::source`].
    pub fn patch(
        &mut self,
        port: &mut Port<'_, '_>,
        reference: usize,
        part: &Partition,
        patch: &mut Patch,
    ) -> Result<(), Fault> {
        let ([x, y], [width, height]) = patch.area(part);
        let at = [self.at[0] + x, self.at[1] + y];
        let shape = (width, height, Patch::STRIDE);
        self.read(port, 1 + reference, GREEN, at, shape, &mut patch.pixels)
    }
}
