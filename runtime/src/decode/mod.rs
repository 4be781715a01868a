//! The decoder: batches and everything that they point to, as records, text or JSON.
//!
//! The decoder reads packets only by the tables of [`genxml_core::reflect`]. So it shows every
//! field of every container in the specification, and works with the tables of other generations
//! ([`Tables::new`]). It follows jumps, second-level batches and rings, and everything that packets
//! point to, with sizes from the state that earlier packets have set: interface descriptors,
//! kernels (disassembled, with the messages that they send), binding tables, surfaces, samplers,
//! viewports, vertices and indices, constants, thread data, coded video. Arithmetic of the command
//! streamer is shown as expressions, registers by name with their fields. It reads only memory in
//! [`Memory`], terminates on every input and never panics.
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
//! * [`Record`]: the unit that a sink gets
//! * [`TextWriter`], [`JsonWriter`], [`HtmlWriter`](crate::html::HtmlWriter): sinks that write

mod buffer;
mod condition;
mod constants;
mod cursor;
mod draw;
mod draw_state;
mod fields;
mod follow;
mod format;
mod image;
mod json;
mod kernel;
mod math;
mod media;
mod message;
mod output;
mod record;
mod registers;
mod ring;
mod seen;
mod state;
mod steps;
mod surfaces;
mod tables;
mod text;
mod vertex;
mod walk;

pub use fields::Unread;
pub(crate) use fields::items_at;
pub use json::JsonWriter;
pub use record::{Issue, Item, Kind, Record, Uses, Value};
pub use state::State;
pub(crate) use tables::PlanId;
pub use tables::Tables;
pub use text::TextWriter;

pub use crate::memory::Memory;

use crate::engine::EngineId;
use crate::memory::{VA_MASK, bytes_of};
use crate::submission::{Source, Submission};
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use walk::Walker;

/// Options for decoding and printing.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format in which [`Decoder::dump`] and [`Decoder::raw`] write.
    pub format: Format,
    /// ANSI colours in text; see [`Color::enabled`].
    pub color: bool,
    /// Only the name of each packet.
    pub headers: bool,
    /// Print addresses of records and bit positions of fields in text. Without them, the text of
    /// two dumps can be compared.
    pub offsets: bool,
    /// Follow what packets point to, jumps included.
    pub follow: bool,
    /// Disassemble kernels; otherwise they are only searched for the surfaces and samplers that
    /// they use.
    pub kernels: bool,
    /// Show the contents of buffers, not only structures: vertices, indices, constants, thread
    /// data, coded video; and registers whose values commands take from memory or from other
    /// registers.
    pub data: bool,
    /// Largest number of vertices, and of indices, shown for a draw; the number of the others is
    /// shown.
    pub max_vertices: u32,
    /// Largest number of bytes of constants, thread data or coded video shown at one address.
    pub max_data: u32,
    /// Show the tables and structures of every draw, also those that an earlier draw of the batch
    /// used in the same way.
    pub every_draw: bool,
    /// Largest number of dwords decoded per batch, in case of loops.
    pub max_dwords: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            format: Format::Text,
            color: false,
            headers: false,
            offsets: true,
            follow: true,
            kernels: true,
            data: true,
            max_vertices: 32,
            max_data: 4096,
            every_draw: false,
            max_dwords: 16 << 20,
        }
    }
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people, see [`TextWriter`].
    #[default]
    Text,
    /// One object per line, see [`JsonWriter`].
    Json,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
    /// If the output is a terminal and the environment does not say `NO_COLOR`.
    #[default]
    Auto,
    /// Yes.
    Always,
    /// No.
    Never,
}

impl Color {
    /// True if colours are used for this output.
    pub fn enabled(self, output: &impl IsTerminal) -> bool {
        match self {
            Color::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                output.is_terminal() && !refused
            }
            Color::Always => true,
            Color::Never => false,
        }
    }
}

/// Takes records as they are decoded.
pub trait Sink {
    /// A submission starts.
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        _ = submission;
        Ok(())
    }

    /// The next record.
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn record(&mut self, record: &Record) -> io::Result<()>;

    /// The next record, a packet whose fields are not decoded yet. For sinks that cache packets by
    /// their dwords; other sinks let `unread` fill in [`Record::items`].
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        unread.items(record);
        self.record(record)
    }

    /// The next record, a structure, with the memory that holds it, for sinks that read what it
    /// points to.
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        _ = memory;
        self.record(record)
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// If what was collected cannot be written.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A function is a sink of records.
impl<F: FnMut(&Record) -> io::Result<()>> Sink for F {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self(record)
    }
}

/// Counts of what was decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Packets, unknown ones included.
    pub packets: u64,
    /// Packets that are not in the tables.
    pub unknown: u64,
    /// Fields with reserved bits set, values out of range and so on, and packets that are cut
    /// short.
    pub problems: u64,
    /// The limit of dwords was reached and something was left out.
    pub limited: bool,
    /// The output was closed, and the rest was not decoded.
    pub cut: bool,
}

impl Summary {
    /// The summary of a decoding to an output. A closed pipe is not an error: then only
    /// [`cut`](Self::cut) is set.
    ///
    /// # Errors
    /// Those of `result` other than a closed pipe.
    pub fn of_output(result: io::Result<Summary>) -> io::Result<Summary> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Summary { cut: true, ..Summary::default() })
            }
            other => other,
        }
    }

    fn add(&mut self, other: Summary) {
        self.packets += other.packets;
        self.unknown += other.unknown;
        self.problems += other.problems;
        self.limited |= other.limited;
    }
}

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
    /// Only those of the sink; problems of the batch are in the records.
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
    /// Only those of the sink.
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
    /// `length` is in bytes, with the status page, or 0 if it is unknown. The loaded values are
    /// stored in `state`.
    ///
    /// # Errors
    /// Only those of the sink.
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
    /// Only those of the sink.
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
    /// The state after earlier submissions of the same context.
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
/// Only those of the sink.
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
