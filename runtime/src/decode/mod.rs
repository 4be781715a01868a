//! The decoder: batches and everything that they point to, as records, text or JSON.
//!
//! The decoder reads packets only with the tables of [`genxml_core::reflect`]. So it shows every
//! field of every container in the specification, and works with the tables of other generations
//! ([`Tables::new`]).
//!
//! It follows jumps, second-level batches and rings. It emits everything that packets point to:
//! interface descriptors, kernels (disassembled, with the messages that they send), binding tables,
//! surfaces, samplers, viewports, vertices and indices, constants, thread data, coded video. It
//! takes the sizes from the state that earlier packets have set. It shows arithmetic of the command
//! streamer as expressions, and registers by name with their fields.
//!
//! It reads only memory in [`Memory`], terminates on every input and never panics.
//!
//! ```no_run
//! use genxml::decode;
//! use genxml::dump::{Dump, How};
//! let mut dump = Dump::open("some/capture".as_ref(), &How::default())?;
//! decode::dump(&mut dump, &decode::Options::default(), std::io::stdout().lock())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Decoder::dump`], [`dump()`], [`raw`]: complete decoding in one call, to any [`Write`]
//! * [`Decoder`]: batches one by one, into a [`Sink`]; [`Decoder::context_image`] for the image of
//!   a context
//! * [`Record`]: one packet, structure, kernel or remark, as a sink receives it
//! * [`TextWriter`], [`JsonWriter`], [`HtmlWriter`](crate::html::HtmlWriter): sinks that write
//! * [`Tee`]: several sinks in one pass

mod bases;
mod buffer;
mod coded;
mod coded_summary;
mod condition;
mod constants;
mod cursor;
mod draw;
mod draw_state;
mod effects;
mod fields;
mod follow;
mod format;
mod gen4;
mod image;
mod issue;
mod json;
mod kernel;
mod math;
mod media;
mod message;
mod options;
mod other;
mod output;
mod plan;
mod record;
mod register_loads;
mod registers;
mod ring;
mod seen;
mod sink;
mod stage;
mod state;
mod steps;
mod surface_state;
mod surfaces;
mod tables;
mod tee;
mod text;
mod vertex;
mod video_surface;
mod walk;

pub use fields::Unread;
pub(crate) use fields::items_at;
pub use issue::Issue;
pub use json::JsonWriter;
pub use options::{Color, Format, Options};
pub(crate) use other::register_field;
pub(crate) use plan::PlanId;
pub use record::{DATA_NAMES, Item, Kind, Record, Uses, Value};
pub use sink::{Sink, Summary};
pub use state::State;
pub use tables::{Tables, generation_name};
pub use tee::Tee;
pub use text::TextWriter;
pub use video_surface::{Chroma, Tiles, VideoSurface};

pub use crate::memory::Memory;

use crate::engine::EngineId;
use crate::memory::{VA_MASK, bytes_of};
use crate::submission::{Source, Submission};
use std::collections::HashMap;
use std::io::{self, Write};
use walk::Walker;

/// Decodes batches with the tables of one generation.
#[derive(Debug)]
pub struct Decoder<'a> {
    tables: &'a Tables,
    options: Options,
}

impl<'a> Decoder<'a> {
    /// A decoder with these tables, [`Tables::gen8`] for instance.
    pub fn new(tables: &'a Tables, options: Options) -> Self {
        Decoder { tables, options }
    }

    /// Decodes the batch at `address`. `length` is in bytes, 0 if the batch runs to its
    /// MI_BATCH_BUFFER_END. `state` is the state of the context after earlier batches, and is
    /// updated.
    ///
    /// # Errors
    /// Only errors of the sink; problems of the batch are in the records.
    pub fn batch(
        &self,
        state: &mut State,
        engine: EngineId,
        memory: &dyn Memory,
        address: u64,
        length: u64,
        sink: &mut dyn Sink,
    ) -> io::Result<Summary> {
        self.submission(state, &Submission::of_batch(engine, memory, address, length), sink)
    }

    /// Decodes a submission, as [`batch`](Self::batch) does a batch. For a ring, decodes the
    /// commands from its head to its tail, across its end, with the batches that they start. Global
    /// addresses go through the global page table.
    ///
    /// # Errors
    /// Only errors of the sink.
    pub fn submission(
        &self,
        state: &mut State,
        submission: &Submission<'_>,
        sink: &mut dyn Sink,
    ) -> io::Result<Summary> {
        let Submission { engine, memory, address, length, global, ring, .. } = *submission;
        let mut walker = Walker::new(self.tables, &self.options, memory, state, engine, sink);
        let (address, code) = (address & VA_MASK, walker.follower.space(global));
        match ring {
            Some(ring) => walker.ring(ring, address, length, code)?,
            None => {
                let end = (length != 0).then(|| address.saturating_add(length));
                walker.level(address, end, 0, code)?;
            }
        }
        Ok(walker.summary())
    }

    /// Decodes the image of an execlist context of `engine`. `address` is its address in `memory`,
    /// which is mapped by the global page table. The image starts with a status page. Commands that
    /// load registers follow; they are decoded up to the first dword that is not a command.
    /// `length` is in bytes and includes the status page; 0 means unknown. The loaded values are
    /// stored in `state`.
    ///
    /// # Errors
    /// Only errors of the sink.
    pub fn context_image(
        &self,
        state: &mut State,
        engine: EngineId,
        memory: &dyn Memory,
        address: u64,
        length: u64,
        sink: &mut dyn Sink,
    ) -> io::Result<Summary> {
        let mut walker = Walker::new(self.tables, &self.options, memory, state, engine, sink);
        walker.image(address & VA_MASK, length)?;
        Ok(walker.summary())
    }

    /// Decodes every submission of a dump into a sink, with the state of each context. The caller
    /// calls [`Sink::finish`].
    ///
    /// # Errors
    /// Only errors of the sink.
    pub fn submissions(&self, dump: &mut dyn Source, sink: &mut dyn Sink) -> io::Result<Summary> {
        let mut summary = Summary::default();
        let mut contexts = Contexts::default();
        dump.submissions(&mut |submission| {
            sink.section(submission)?;
            summary.add(self.submission(contexts.of(submission), submission, sink)?);
            Ok(())
        })?;
        Ok(summary)
    }

    /// Decodes every submission of a dump to `out`. If `out` is a closed pipe, the rest is not
    /// decoded and [`Summary::cut`] is set.
    ///
    /// # Errors
    /// If `out` cannot be written for another reason.
    pub fn dump(&self, dump: &mut dyn Source, out: impl Write) -> io::Result<Summary> {
        with_writer(&self.options, out, |sink| self.submissions(dump, sink))
    }

    /// Decodes dwords at `address` to `out`, without other memory. Jumps are followed inside the
    /// dwords. See [`dump`](Self::dump) for a closed pipe.
    ///
    /// # Errors
    /// If `out` cannot be written; a closed pipe is not an error.
    pub fn raw(
        &self,
        engine: EngineId,
        address: u64,
        dwords: &[u32],
        out: impl Write,
    ) -> io::Result<Summary> {
        let bytes = bytes_of(dwords);
        with_writer(&self.options, out, |sink| {
            let address = address & VA_MASK;
            let memory = (address, &bytes[..]);
            let batch = Submission::of_batch(engine, &memory, address, bytes.len() as u64);
            let batch = Submission { name: "dwords", ..batch };
            sink.section(&batch)?;
            self.submission(&mut State::default(), &batch, sink)
        })
    }
}

/// The state of every context of a dump.
#[derive(Debug, Default)]
pub struct Contexts(HashMap<(u32, EngineId), State>);

impl Contexts {
    /// The state of the submission's context, as earlier submissions have left it.
    pub fn of(&mut self, submission: &Submission<'_>) -> &mut State {
        self.0.entry((submission.context, submission.engine)).or_default()
    }
}

/// Decodes every submission of a dump to `out` with the tables of Broadwell; see [`Decoder::dump`].
///
/// # Errors
/// If `out` cannot be written; a closed pipe is not an error.
pub fn dump(dump: &mut dyn Source, options: &Options, out: impl Write) -> io::Result<Summary> {
    Decoder::new(Tables::gen8(), options.clone()).dump(dump, out)
}

/// Decodes dwords at `address` to `out` with the tables of Broadwell; see [`Decoder::raw`].
///
/// # Errors
/// If `out` cannot be written; a closed pipe is not an error.
pub fn raw(
    engine: EngineId,
    address: u64,
    dwords: &[u32],
    options: &Options,
    out: impl Write,
) -> io::Result<Summary> {
    Decoder::new(Tables::gen8(), options.clone()).raw(engine, address, dwords, out)
}

/// Decodes the image of an execlist context with the tables of Broadwell; see
/// [`Decoder::context_image`].
///
/// # Errors
/// Only errors of the sink.
pub fn context_image(
    engine: EngineId,
    memory: &dyn Memory,
    address: u64,
    length: u64,
    options: &Options,
    sink: &mut dyn Sink,
) -> io::Result<Summary> {
    let decoder = Decoder::new(Tables::gen8(), options.clone());
    decoder.context_image(&mut State::default(), engine, memory, address, length, sink)
}

fn with_writer(
    options: &Options,
    out: impl Write,
    decode: impl FnOnce(&mut dyn Sink) -> io::Result<Summary>,
) -> io::Result<Summary> {
    let (mut text, mut json);
    let sink: &mut dyn Sink = match options.format {
        Format::Text => {
            text = TextWriter::new(out, options);
            &mut text
        }
        Format::Json => {
            json = JsonWriter::new(out, options);
            &mut json
        }
    };
    Summary::of_output(decode(sink).and_then(|summary| sink.finish().map(|()| summary)))
}
