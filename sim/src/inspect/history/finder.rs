//! Finds the surface that a pixel belongs to: the first run.

use super::HistoryError;
use super::probe::{Probe, View};
use crate::machine::blitting::Blitting;
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};

/// The pixel of a surface that a draw uses.
#[derive(Clone, Debug)]
pub struct Found {
    /// The pixel in memory.
    pub probe: Probe,
    /// Number of the newest draw that has the surface, from 1 on; `None` for the destination of a
    /// blit, and for a displayed image.
    pub draw: Option<u64>,
}

/// Remembers the newest surface that a pixel can belong to.
#[derive(Debug)]
pub struct Finder {
    at: [u32; 2],
    sample: u32,
    target: Option<u64>,
    stop_after: Option<u64>,
    draws: u64,
    newest: Option<Result<Found, HistoryError>>,
    /// The newest pixel of each surface, by the physical address of the surface.
    surfaces: Vec<(u64, Found)>,
    known: Vec<u64>,
    /// The pixel in the destination of the newest blit.
    blitted: Option<Result<Found, HistoryError>>,
}

impl Finder {
    /// A finder for a sample of the pixel at column and row `at`. `target` is the base address of
    /// the surface; without it, the surface is the first render target of the newest draw that has
    /// one, or the destination of the newest blit if there is no such draw. Draws after number
    /// `stop_after` are ignored.
    pub fn new(at: [u32; 2], sample: u32, target: Option<u64>, stop_after: Option<u64>) -> Finder {
        Finder {
            at,
            sample,
            target,
            stop_after,
            draws: 0,
            newest: None,
            surfaces: Vec::new(),
            known: Vec::new(),
            blitted: None,
        }
    }

    /// Number of draws so far.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// The pixel of the surface.
    ///
    /// # Errors
    /// [`HistoryError`] if no draw has the surface, or if the surface does not have the pixel.
    pub fn found(&self) -> Result<Found, HistoryError> {
        match (self.newest.as_ref().or(self.blitted.as_ref()), self.target) {
            (Some(found), _) => found.clone(),
            (None, None) => Err(HistoryError::NoTarget),
            (None, Some(address)) => {
                Err(HistoryError::UnknownTarget { address, known: self.known.clone() })
            }
        }
    }

    /// The pixel of the newest render target that starts at a physical address.
    pub fn at_physical(&self, base: u64) -> Option<Found> {
        let found = self.surfaces.iter().find(|(physical, _)| *physical == base);
        found.map(|(_, found)| found.clone())
    }
}

impl Observer for Finder {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Draw(drawing) => self.draw(drawing),
            Event::Blit(blit) => self.blit(blit),
            _ => {}
        }
    }
}

impl Finder {
    fn blit(&mut self, blit: &Blitting<'_>) {
        if self.stop_after.is_some_and(|last| self.draws >= last) {
            return;
        }
        let Some(view) = View::of_blit(blit) else { return };
        let base = view.surface.base;
        if !self.known.contains(&base) {
            self.known.push(base);
        }
        if self.target.is_none_or(|target| base == target) {
            let translate = |address| blit.physical(address);
            let probe = Probe::new(view, self.at, self.sample, &translate);
            let found = probe.map(|probe| Found { probe, draw: None });
            // A blit of a part of the surface does not show how large the surface is.
            if found.is_ok() || self.blitted.is_none() {
                self.blitted = Some(found);
            }
        }
    }

    fn draw(&mut self, drawing: &Drawing<'_>) {
        self.draws += 1;
        if self.stop_after.is_some_and(|last| self.draws > last) {
            return;
        }
        let translate = |address| drawing.physical(address);
        let mut first = true;
        for view in View::all(&drawing.summary()) {
            let base = view.surface.base;
            if !self.known.contains(&base) {
                self.known.push(base);
            }
            let found = Probe::new(view, self.at, self.sample, &translate)
                .map(|probe| Found { probe, draw: Some(self.draws) });
            let wanted = match self.target {
                Some(target) => base == target,
                None => view.binding.is_some(),
            };
            if let (Ok(found), Some(_), Some(physical)) =
                (&found, view.binding, drawing.physical(base))
            {
                self.surfaces.retain(|(known, _)| *known != physical);
                self.surfaces.push((physical, found.clone()));
            }
            if wanted && std::mem::take(&mut first) {
                self.newest = Some(found);
            }
        }
    }
}
