//! What was seen of a step.

use super::heat::Heat;
use super::mesh::Mesh;
use crate::inspect::bisect::Texels;
use crate::inspect::history::View;
use crate::inspect::image::{self, Image, MOST};
use crate::machine::events::Observer;
use crate::surface::Surface;
use genxml::eu::Generation;

/// What a step does with a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A draw has it as render target, depth buffer or stencil buffer.
    Target,
    /// A blit writes it.
    Destination,
    /// A blit reads it.
    Source,
    /// Threads of a dispatch write it through the binding table.
    Image,
}

/// A surface of the step.
#[derive(Clone, Debug)]
pub struct SeenTarget {
    /// What the step does with it.
    pub role: Role,
    /// The surface.
    pub view: View,
    /// Column and row of the first pixel of the view, as the packet counts them; 0 except for
    /// blits, whose views are only the rectangle.
    pub origin: [i64; 2],
    /// All values before and after the step.
    pub texels: [Texels; 2],
    /// Pictures before and after the step; `None` for surfaces without a picture.
    pub images: [Option<Image>; 2],
}

impl SeenTarget {
    /// A surface before the step. `read` reads memory, `picture` makes the picture.
    pub fn new(
        role: Role,
        view: View,
        origin: [i64; 2],
        read: &dyn Fn(u64, &mut [u8]) -> bool,
        picture: impl FnOnce(&View) -> Option<Image>,
    ) -> SeenTarget {
        let texels = Texels::of(&view, read);
        let images = [picture(&view), None];
        SeenTarget { role, view, origin, texels: [texels.clone(), texels], images }
    }

    /// Adds the surface after the step.
    pub fn end(
        &mut self,
        read: &dyn Fn(u64, &mut [u8]) -> bool,
        picture: impl FnOnce(&View) -> Option<Image>,
    ) {
        self.texels[1] = Texels::of(&self.view, read);
        self.images[1] = picture(&self.view);
    }
}

/// The colours of a view of a blit or dispatch.
pub fn colors(view: &View, read: &dyn Fn(u64, &mut [u8]) -> bool) -> Option<Image> {
    image::color(&view.surface, &view.level, MOST, read)
}

/// Maximum bytes of the values of an image of a blit or dispatch. A larger one has no picture.
pub const MOST_VALUES: u64 = 256 << 20;

/// Maximum number of bytes that a [`ChangedRun`] has of its contents.
pub const FIRST_BYTES: usize = 16;

/// A run of consecutive bytes that changed. Bytes are compared in groups of four, at multiples of
/// four.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangedRun {
    /// Graphics address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// The first bytes before and after the step; zeros after the last byte of the run.
    pub first: [[u8; FIRST_BYTES]; 2],
}

/// Memory that threads of a dispatch wrote and that has no picture: a buffer, or memory that is
/// not accessed through a surface.
#[derive(Clone, Debug)]
pub struct SeenBuffer {
    /// Binding table index; `None` for memory that is not accessed through a surface.
    pub binding: Option<u8>,
    /// The surface; `None` also if its state cannot be read.
    pub surface: Option<Surface>,
    /// Graphics addresses of the first byte that was written, and of the first byte after the last
    /// one.
    pub extent: [u64; 2],
    /// Number of different bytes that were written.
    pub written: u64,
    /// Number of bytes in all runs of changed bytes.
    pub changed: u64,
    /// Number of runs of changed bytes.
    pub count: u64,
    /// The first runs of changed bytes, in the order of their addresses.
    pub runs: Vec<ChangedRun>,
    /// True if so much was written that only the first part was compared.
    pub is_cut: bool,
}

/// A kernel of a draw.
#[derive(Clone, Debug)]
pub struct Code {
    /// `VS`, `HS`, `DS`, `GS` or `PS`; on the G45 `VS`, `GS`, `CLIP`, `SF` or `PS`.
    pub stage: &'static str,
    /// How threads are dispatched: `SIMD8`, `SIMD4x2`...
    pub dispatch: &'static str,
    /// Graphics address.
    pub address: u64,
    /// Generation of the instructions.
    pub generation: Generation,
    /// The bytes up to the last instruction that can be reached.
    pub bytes: Vec<u8>,
}

/// An observer of a run that looks at one step.
pub trait Look: Observer {
    /// True if the step has ended. The rest of the run is not needed.
    fn is_done(&self) -> bool;

    /// Removes and returns what was seen; `None` if the run has no such step.
    fn take(&mut self) -> Option<Seen>;
}

/// What was seen of a step.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Of a draw, the render targets, the depth buffer and the stencil buffer; of a blit, the
    /// destination and the source; of a dispatch, the images that its threads wrote.
    pub targets: Vec<SeenTarget>,
    /// Other memory that the threads of a dispatch wrote.
    pub buffers: Vec<SeenBuffer>,
    /// The kernels of a draw, in the order of the pipeline.
    pub kernels: Vec<Code>,
    /// Heat maps; `None` for steps other than draws, and for draws of a G45, whose threads have
    /// another payload.
    pub heat: Option<Heat>,
    /// The mesh of a draw.
    pub mesh: Mesh,
    /// What the lists above do not say, for example why the destination has no picture.
    pub note: Option<&'static str>,
    /// True if the step ran to its end.
    pub is_complete: bool,
}
