//! Looks at one draw of a run.

use super::heat::Heat;
use super::mesh::Mesh;
use crate::inspect::bisect::Texels;
use crate::inspect::history::View;
use crate::inspect::image::Image;
use crate::inspect::summary::{Summary, kernel};
use crate::machine::drawing::{Drawing, Primitive};
use crate::machine::events::{Event, Now, Observer};
use crate::machine::watched::{PixelEvent, WatchedPixel};
use genxml::eu::Generation;

/// Maximum bytes of a kernel that is read.
const MOST_CODE: usize = 1 << 20;

/// A target of the draw.
#[derive(Clone, Debug)]
pub struct SeenTarget {
    /// The surface.
    pub view: View,
    /// All values before and after the draw.
    pub texels: [Texels; 2],
    /// Pictures before and after the draw; `None` for surfaces without a picture.
    pub images: [Option<Image>; 2],
}

/// A kernel of the draw.
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

/// What a [`Look`] has seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The render targets, the depth buffer and the stencil buffer.
    pub targets: Vec<SeenTarget>,
    /// The kernels, in the order of the pipeline.
    pub kernels: Vec<Code>,
    /// Heat maps; `None` for draws of a G45, whose threads have another payload.
    pub heat: Option<Heat>,
    /// The mesh.
    pub mesh: Mesh,
    /// True if the draw ran to its end.
    pub is_complete: bool,
}

/// Looks at a draw of a run, by its number from 1 on.
#[derive(Debug)]
pub struct Look {
    wanted: u64,
    draws: u64,
    seen: Option<Seen>,
    is_inside: bool,
    summary: Option<Summary>,
}

impl Look {
    /// A look at a draw.
    pub fn new(draw: u64) -> Look {
        Look { wanted: draw, draws: 0, seen: None, is_inside: false, summary: None }
    }

    /// True if the draw has ended. The rest of the run is not needed.
    pub fn is_done(&self) -> bool {
        self.draws > self.wanted || self.draws == self.wanted && !self.is_inside
    }

    /// What was seen; `None` if the run has no such draw.
    pub fn into_seen(self) -> Option<Seen> {
        self.seen
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        let summary = drawing.summary();
        let read = |address: u64, out: &mut [u8]| drawing.read(address, out);
        let targets: Vec<SeenTarget> = View::all(&summary)
            .into_iter()
            .map(|view| {
                let texels = Texels::of(&view, &read);
                let image = image(drawing, &summary, &view);
                SeenTarget { view, texels: [texels.clone(), texels], images: [image, None] }
            })
            .collect();
        let size = targets.first().map_or([0, 0], |target| {
            let level = &target.view.level;
            [level.width, level.height]
        });
        let is_gen8 = matches!(drawing.packet, Primitive::Gen8(_));
        self.seen = Some(Seen {
            targets,
            kernels: kernels(drawing, &summary),
            heat: is_gen8.then(|| Heat::new(&summary, size)),
            mesh: Mesh::new(drawing, &summary),
            is_complete: false,
        });
        self.summary = Some(summary);
        self.is_inside = true;
    }

    fn end(&mut self, drawing: &Drawing<'_>) {
        self.is_inside = false;
        let (Some(seen), Some(summary)) = (&mut self.seen, &self.summary) else { return };
        let read = |address: u64, out: &mut [u8]| drawing.read(address, out);
        for target in &mut seen.targets {
            target.texels[1] = Texels::of(&target.view, &read);
            target.images[1] = image(drawing, summary, &target.view);
        }
        seen.is_complete = true;
    }
}

/// The picture of a view of a draw.
fn image(drawing: &Drawing<'_>, summary: &Summary, view: &View) -> Option<Image> {
    use crate::inspect::history::Meaning;
    match view.meaning {
        Meaning::Color => {
            let target = summary.targets.iter().find(|t| Some(t.binding) == view.binding)?;
            drawing.color(target)
        }
        Meaning::Depth(_) => summary.depth.as_ref().map(|buffer| drawing.depth(buffer)),
        Meaning::Stencil(_) => summary.stencil.as_ref().map(|buffer| drawing.stencil(buffer)),
    }
}

fn kernels(drawing: &Drawing<'_>, summary: &Summary) -> Vec<Code> {
    let generation = match drawing.packet {
        Primitive::Gen8(_) => Generation::Gen8,
        #[cfg(feature = "gen45")]
        Primitive::Gen45(_) => Generation::Gen45,
    };
    let all = summary.shaders.iter().flat_map(|shader| {
        shader.kernels.iter().map(move |kernel| (shader.stage, kernel.dispatch, kernel.address))
    });
    all.map(|(stage, dispatch, address)| {
        let mut length = 0;
        kernel::instructions(drawing, (generation, address), &mut |offset, instruction| {
            let end = usize::try_from(offset).unwrap_or(0) + instruction.length() as usize;
            length = length.max(end);
        });
        let mut bytes = vec![0; length.min(MOST_CODE)];
        if !drawing.read(address, &mut bytes) {
            bytes.clear();
        }
        Code { stage, dispatch, address, generation, bytes }
    })
    .collect()
}

impl Observer for Look {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Draw(drawing) => {
                self.draws += 1;
                self.is_inside = false;
                if self.draws == self.wanted {
                    self.begin(drawing);
                }
            }
            Event::DrawEnd(drawing) if self.is_inside => self.end(drawing),
            Event::Thread { kernel, thread, payload } if self.is_inside => {
                if let Some(seen) = &mut self.seen {
                    seen.mesh.start(*kernel, payload);
                    if let Some(heat) = &mut seen.heat {
                        heat.start(*kernel, *thread, payload);
                    }
                }
            }
            Event::ThreadEnd { thread, instructions, .. } if self.is_inside => {
                if let Some(heat) = self.seen.as_mut().and_then(|seen| seen.heat.as_mut()) {
                    heat.end(*thread, *instructions);
                }
            }
            Event::Pixel { event: PixelEvent::Primitive(primitive), .. } if self.is_inside => {
                if let Some(seen) = &mut self.seen {
                    seen.mesh.primitive(primitive);
                }
            }
            _ => {}
        }
    }

    /// Any pixel will do: primitives are reported for each watched pixel.
    fn watches(&self) -> Option<WatchedPixel> {
        self.is_inside.then_some(WatchedPixel { x: 0, y: 0 })
    }
}
