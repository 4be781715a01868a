//! Looks at one draw of a run.

use super::heat::Heat;
use super::mesh::Mesh;
use super::seen::{Code, Look, Role, Seen, SeenTarget};
use crate::inspect::history::View;
use crate::inspect::image::Image;
use crate::inspect::summary::{Summary, kernel};
use crate::machine::drawing::{Drawing, Primitive};
use crate::machine::events::{Event, Now, Observer};
use crate::machine::watched::{PixelEvent, WatchedPixel};
use genxml::eu::Generation;

/// Maximum bytes of a kernel that is read.
const MOST_CODE: usize = 1 << 20;

/// Looks at a draw of a run, by its number from 1 on.
#[derive(Debug)]
pub struct DrawLook {
    wanted: u64,
    draws: u64,
    seen: Option<Seen>,
    is_inside: bool,
    summary: Option<Summary>,
}

impl DrawLook {
    /// A look at a draw.
    pub fn new(draw: u64) -> DrawLook {
        DrawLook { wanted: draw, draws: 0, seen: None, is_inside: false, summary: None }
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        let summary = drawing.summary();
        let read = |address: u64, out: &mut [u8]| drawing.read(address, out);
        let targets: Vec<SeenTarget> = View::all(&summary)
            .into_iter()
            .map(|view| {
                let picture = |view: &View| image(drawing, &summary, view);
                SeenTarget::new(Role::Target, view, [0; 2], &read, picture)
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
            ..Seen::default()
        });
        self.summary = Some(summary);
        self.is_inside = true;
    }

    fn end(&mut self, drawing: &Drawing<'_>) {
        self.is_inside = false;
        let (Some(seen), Some(summary)) = (&mut self.seen, &self.summary) else { return };
        let read = |address: u64, out: &mut [u8]| drawing.read(address, out);
        for target in &mut seen.targets {
            target.end(&read, |view| image(drawing, summary, view));
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

impl Look for DrawLook {
    fn is_done(&self) -> bool {
        self.draws > self.wanted || self.draws == self.wanted && !self.is_inside
    }

    fn take(&mut self) -> Option<Seen> {
        self.seen.take()
    }
}

impl Observer for DrawLook {
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
