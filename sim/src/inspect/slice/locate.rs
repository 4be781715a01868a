//! Finds what wrote an address: the pixel of a draw, the source of a blit, or the thread of a
//! dispatch.

use super::clock::Clock;
use super::writers::Span;
use crate::inspect::history::{Probe, View};
use crate::machine::blitting::{BlitPlane, Blitting};
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};

/// A writer of an address.
#[derive(Clone, Debug)]
pub enum Located {
    /// A pixel of a target of a draw.
    Pixel(Box<Probe>),
    /// A pixel that a blit copied.
    Source {
        /// Graphics address of the source pixel.
        address: u64,
        /// Column and row in the source.
        pixel: [i64; 2],
        /// The bytes of the pixel; `None` if they are not mapped.
        span: Option<Span>,
    },
    /// A blit without a source: it writes a constant or a pattern.
    Filled,
    /// A message of a thread.
    Thread {
        /// Number of the thread among those that the packet started, from 0 on.
        thread: u64,
        /// Byte offset of the instruction in the kernel.
        ip: u32,
    },
}

/// Looks at one packet of a run.
#[derive(Debug)]
pub struct Locate {
    submission: u64,
    packet: u64,
    span: Span,
    clock: Clock,
    /// Threads of the packet that have started.
    started: u64,
    /// Numbers of running threads, each with its number among those of the packet.
    running: Vec<(u32, u64)>,
    found: Option<Located>,
}

impl Locate {
    /// Looks for the writer of a range in a packet of a submission; both count from 1 on.
    pub fn new(submission: u64, packet: u64, span: Span) -> Locate {
        Locate {
            submission,
            packet,
            span,
            clock: Clock::default(),
            started: 0,
            running: Vec::new(),
            found: None,
        }
    }

    /// True if the packet has ended.
    pub fn is_done(&self) -> bool {
        self.clock.packets >= self.packet
    }

    /// The writer; `None` if the packet writes the range in another way.
    pub fn finish(self) -> Option<Located> {
        self.found
    }

    fn is_now(&self) -> bool {
        self.clock.packets + 1 == self.packet
    }

    fn draw(&mut self, drawing: &Drawing<'_>) {
        let Some((wanted, _)) = self.span.pieces.first().copied() else { return };
        let translate = |address| drawing.physical(address);
        let probe = View::all(&drawing.summary()).into_iter().find_map(|view| {
            let at = view.find(wanted, [0, 0], &translate)?;
            let probes = (0..view.surface.layout.samples.max(1))
                .filter_map(|sample| Probe::new(view, at, sample, &translate).ok());
            let bytes = u64::from(view.surface.element_bytes);
            let mut probes: Vec<Probe> = probes.collect();
            let own = probes.iter().position(|probe| wanted.wrapping_sub(probe.physical) < bytes);
            match own {
                Some(own) => Some(probes.swap_remove(own)),
                None => probes.into_iter().next(),
            }
        });
        self.found = probe.map(|probe| Located::Pixel(Box::new(probe)));
    }

    fn blit(&mut self, blit: &Blitting<'_>) {
        let Some((wanted, _)) = self.span.pieces.first().copied() else { return };
        let translate = |address| blit.physical(address);
        let pixel = View::of_blit(blit).and_then(|view| view.find(wanted, [0, 0], &translate));
        let Some([x, y]) = pixel else { return };
        self.found = Some(match blit.source {
            None => Located::Filled,
            Some((plane, [left, top])) => {
                let [x0, y0, ..] = blit.rectangle;
                let pixel = [left + i64::from(x) - x0, top + i64::from(y) - y0];
                source(blit, plane, pixel)
            }
        });
    }

    fn wrote(&mut self, thread: u32, ip: u32) {
        if let Some((_, number)) = self.running.iter().rev().find(|(own, _)| *own == thread) {
            self.found = Some(Located::Thread { thread: *number, ip });
        }
    }
}

/// The pixel that a blit copies.
fn source(blit: &Blitting<'_>, plane: BlitPlane, pixel: [i64; 2]) -> Located {
    let BlitPlane { base, pitch, tile_mode } = plane;
    let unknown = Located::Source { address: base, pixel, span: None };
    let (Ok(x), Ok(y), Ok(pitch)) =
        (u32::try_from(pixel[0]), u32::try_from(pixel[1]), u32::try_from(pitch))
    else {
        return unknown;
    };
    let Some(view) = View::image(blit.format, base, [x + 1, y + 1], pitch, tile_mode) else {
        return unknown;
    };
    let address = view.surface.texel(&view.level, 0, x, y, 0);
    let bytes = u64::from(view.surface.element_bytes);
    let span = Span::new(address, bytes, &|address| blit.physical(address));
    Located::Source { address, pixel, span }
}

impl Observer for Locate {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        self.clock.event(event);
        if !self.is_now() {
            return;
        }
        match event {
            Event::Draw(drawing) => self.draw(drawing),
            Event::Blit(blit) => self.blit(blit),
            Event::Thread { thread, .. } => {
                self.running.retain(|(own, _)| own != thread);
                self.running.push((*thread, self.started));
                self.started += 1;
            }
            Event::Accesses { thread: Some(thread), at, list, .. } => {
                let ours = list.iter().any(|access| {
                    access.write && self.span.overlaps(access.physical, access.bytes.into())
                });
                if let Some(place) = at.thread.filter(|_| ours) {
                    self.wrote(*thread, place.ip);
                }
            }
            _ => {}
        }
    }

    fn wants_accesses(&self) -> bool {
        !self.is_done() && self.clock.submissions + 1 >= self.submission
    }
}
