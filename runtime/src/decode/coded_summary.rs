//! The summary of a coded picture with its outputs and references. The decoder emits it after the
//! last BSD object of the picture.

use super::coded::{BUFFERS, Coded, MODE, Picture};
use super::follow::Follower;
use super::record::Kind;
use super::surfaces::DECODED;
use super::video_surface::VideoSurface;
use std::fmt;
use std::io;

/// True for packets that may come between the BSD objects of a picture.
fn goes_on(name: &str) -> bool {
    match name {
        "MFX_PIPE_MODE_SELECT" | "MFX_WAIT" => false,
        "MI_NOOP" | "MI_BATCH_BUFFER_START" => true,
        _ => name.starts_with("MFX_") || name.starts_with("MFD_"),
    }
}

impl Follower<'_> {
    /// Emits the summary of the coded picture, if packet `next` does not belong to it. `None` is
    /// the end of the batch.
    #[inline]
    pub fn end_picture(&mut self, next: Option<&str>) -> io::Result<()> {
        match self.state.coded.picture {
            Some(_) if !next.is_some_and(goes_on) => self.coded_picture(),
            _ => Ok(()),
        }
    }

    #[cold]
    fn coded_picture(&mut self) -> io::Result<()> {
        let mut coded = std::mem::take(&mut self.state.coded);
        // Reference lists without a BSD object are those of an encoder.
        let result = match &coded.picture {
            Some(picture) if !picture.object.is_empty() && self.options.follow => {
                self.summary_of(&coded, picture)
            }
            _ => Ok(()),
        };
        coded.picture = None;
        self.state.coded = coded;
        result
    }

    fn summary_of(&mut self, coded: &Coded, picture: &Picture) -> io::Result<()> {
        let Picture { object, depth, address, ref roles, .. } = *picture;
        let (title, amount) = (coded.title(object), coded.amount(picture));
        self.coded_note(depth + 1, address, None, format_args!("coded picture: {title}{amount}"))?;
        let layout = self.state.draw.surfaces.pictures[DECODED];
        let samples = |address| layout.and_then(|layout| coded.samples(&layout, address, object));
        let Some(buffers) = coded.get(BUFFERS) else { return Ok(()) };
        let mut outputs = 0;
        for (enable, field, name) in [
            ("Pre Deblocking Output Enable", "Pre Deblocking Destination - Address", "before"),
            ("Post Deblocking Output Enable", "Post Deblocking Destination - Address", "after"),
        ] {
            if !coded.get(MODE).is_some_and(|mode| mode.on(enable)) {
                continue;
            }
            outputs += 1;
            let at = buffers.address(field);
            let text = format_args!("writes the picture {name} deblocking, at {at:#x}");
            self.coded_note(depth + 2, at, samples(at), text)?;
        }
        if outputs == 0 {
            self.coded_note(depth + 2, 0, None, format_args!("writes no picture"))?;
        }
        let addresses = buffers.elements("Reference Picture - Address");
        for (index, (role, at)) in roles.iter().zip(addresses).enumerate() {
            if !role.is_empty() && at != 0 {
                let text = format_args!("uses reference picture {index} ({role}), at {at:#x}");
                self.coded_note(depth + 2, at, samples(at), text)?;
            }
        }
        Ok(())
    }

    fn coded_note(
        &mut self,
        depth: u32,
        address: u64,
        surface: Option<VideoSurface>,
        text: fmt::Arguments<'_>,
    ) -> io::Result<()> {
        let mut record = self.out.new_record(Kind::Note, depth, address, "");
        record.surface = surface;
        _ = fmt::write(&mut record.note, text);
        let result = self.out.structure(&record, self.memory);
        self.out.reuse(record);
        result
    }
}
