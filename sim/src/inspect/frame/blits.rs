//! Looks at one blit of a run.

use super::seen::{Look, MOST_VALUES, Role, Seen, SeenTarget, colors};
use crate::inspect::history::View;
use crate::machine::blitting::{BlitPlane, Blitting};
use crate::machine::events::{Event, Now, Observer};
use crate::mem::ADDRESS_MASK;
use crate::surface::TileMode;
use genxml::engine::EngineId;
use genxml::gen8::state::SurfaceFormat;

/// The pixels that a blit writes; `None` if they have no picture: the rows go upward or are all the
/// same, pixels of a tiled plane are left of it or above it, or they have more bytes than
/// [`MOST_VALUES`].
pub fn destination(blit: &Blitting<'_>) -> Option<View> {
    let [left, top, ..] = blit.rectangle;
    rectangle(blit.format, blit.destination, [left, top], size(blit)?)
}

/// The pixels that a blit reads, if its source is a surface; `None` also for the reasons of
/// [`destination`].
pub fn source(blit: &Blitting<'_>) -> Option<View> {
    let (plane, at) = blit.source?;
    rectangle(blit.format, plane, at, size(blit)?)
}

/// Width and height of the rectangle.
fn size(blit: &Blitting<'_>) -> Option<[u32; 2]> {
    let [left, top, right, bottom] = blit.rectangle;
    Some([u32::try_from(right - left).ok()?, u32::try_from(bottom - top).ok()?])
}

/// A rectangle of a plane as an image of its own.
fn rectangle(
    format: SurfaceFormat,
    plane: BlitPlane,
    [x, y]: [i64; 2],
    size: [u32; 2],
) -> Option<View> {
    let BlitPlane { base, pitch, tile_mode } = plane;
    let width = u32::try_from(pitch).ok().filter(|pitch| *pitch > 0)?;
    let mut view = View::image(format, base, size, width, tile_mode)?;
    let left = x * i64::from(view.surface.element_bytes);
    if tile_mode == TileMode::Linear {
        let offset = y * pitch + left;
        view.surface.base = base.wrapping_add_signed(offset) & ADDRESS_MASK;
    } else {
        view.surface.x_offset = u32::try_from(x).ok()?;
        view.surface.left = u32::try_from(left).ok()?;
        view.surface.top = u32::try_from(y).ok()?;
    }
    let bytes = u64::from(size[0]) * u64::from(size[1]) * u64::from(view.surface.element_bytes);
    (bytes <= MOST_VALUES).then_some(view)
}

/// Looks at a blit of a run, by its number from 1 on.
#[derive(Debug)]
pub struct BlitLook {
    wanted: u64,
    blits: u64,
    /// Engine and context of the newest packet; after the blit has begun, those of the blit.
    stream: Option<(EngineId, u32)>,
    is_inside: bool,
    seen: Option<Seen>,
}

impl BlitLook {
    /// A look at a blit.
    pub fn new(blit: u64) -> BlitLook {
        BlitLook { wanted: blit, blits: 0, stream: None, is_inside: false, seen: None }
    }

    fn begin(&mut self, blit: &Blitting<'_>) {
        let read = |address: u64, out: &mut [u8]| blit.read(address, out);
        let target = |role, view: View, origin| {
            SeenTarget::new(role, view, origin, &read, |view| colors(view, &read))
        };
        let [left, top, ..] = blit.rectangle;
        let to = destination(blit).map(|view| target(Role::Destination, view, [left, top]));
        let from = blit.source.and_then(|(_, at)| Some(target(Role::Source, source(blit)?, at)));
        let note = match (&to, &from) {
            (None, _) => Some(
                "the destination has no picture: it is empty, its rows go upward or are all the \
                 same, it begins outside of its tiles, or it has more than 256 MiB",
            ),
            (Some(_), None) if blit.source.is_some() => Some(
                "the source has no picture: its rows go upward or are all the same, or it \
                     begins outside of its tiles",
            ),
            _ => None,
        };
        let targets = [to, from].into_iter().flatten().collect();
        self.seen = Some(Seen { targets, note, ..Seen::default() });
        self.is_inside = true;
    }

    fn end(&mut self, read: &dyn Fn(u64, &mut [u8]) -> bool) {
        self.is_inside = false;
        let Some(seen) = &mut self.seen else { return };
        for target in &mut seen.targets {
            target.end(read, |view| colors(view, read));
        }
        seen.is_complete = true;
    }
}

impl Look for BlitLook {
    fn is_done(&self) -> bool {
        self.blits >= self.wanted && !self.is_inside
    }

    fn take(&mut self) -> Option<Seen> {
        self.seen.take()
    }
}

impl Observer for BlitLook {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Packet { at, context, view, .. } => {
                let stream = Some((at.engine, *context));
                if !self.is_inside {
                    self.stream = stream;
                } else if self.stream == stream {
                    // The engine executes the next packet only if there was no fault.
                    self.end(&|address, out| view.read(address, out));
                }
            }
            Event::Blit(blit) => {
                self.blits += 1;
                if self.blits == self.wanted {
                    self.begin(blit);
                }
            }
            _ => {}
        }
    }
}
