//! A sink that passes all records to several sinks.

use super::fields::Unread;
use super::record::Record;
use super::sink::Sink;
use crate::memory::Memory;
use crate::submission::Submission;
use std::io;

/// A sink that passes everything to several sinks, in their order. One pass over a dump can so write
/// text, list draws and check rules.
///
/// ```
/// use genxml::decode::{Decoder, Options, Record, Sink, State, Tables, Tee, TextWriter};
/// use genxml::engine::EngineId;
///
/// let options = Options::default();
/// let mut text = TextWriter::new(Vec::new(), &options);
/// let mut packets = 0;
/// let mut count = |record: &Record| {
///     packets += usize::from(record.kind.is_packet());
///     Ok(())
/// };
/// let batch = [0u32, 0x0500_0000].map(u32::to_le_bytes).concat(); // MI_NOOP, MI_BATCH_BUFFER_END
/// let mut both = Tee::new([&mut text, &mut count]);
/// let decoder = Decoder::new(Tables::gen8(), options.clone());
/// let memory = (0x1000, &batch[..]);
/// decoder.batch(&mut State::default(), EngineId::Render, &memory, 0x1000, 8, &mut both)?;
/// both.finish()?;
/// assert_eq!(packets, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Each sink gets the records as if it were the only one: a packet comes to each with its fields
/// not decoded yet. So the fields are decoded once for each sink that reads them.
///
/// The first error of a sink ends the decoding, and the later sinks do not get the record.
/// [`finish`](Sink::finish) finishes all sinks and returns the first error.
pub struct Tee<'a> {
    sinks: Vec<&'a mut dyn Sink>,
}

impl<'a> Tee<'a> {
    /// A sink that passes everything to these sinks.
    pub fn new<const N: usize>(sinks: [&'a mut dyn Sink; N]) -> Tee<'a> {
        Tee { sinks: sinks.into() }
    }

    /// Adds a sink after the others.
    pub fn push(&mut self, sink: &'a mut dyn Sink) {
        self.sinks.push(sink);
    }
}

impl Sink for Tee<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.sinks.iter_mut().try_for_each(|sink| sink.section(submission))
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.sinks.iter_mut().try_for_each(|sink| sink.record(record))
    }

    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        // A sink may leave any items behind. Each reports the problems that it has seen.
        let mut problems = 0;
        for sink in &mut self.sinks {
            record.items.clear();
            record.problems = 0;
            sink.packet(record, unread)?;
            problems = problems.max(record.problems);
        }
        record.problems = problems;
        Ok(())
    }

    fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        self.sinks.iter_mut().try_for_each(|sink| sink.structure(record, memory))
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut result = Ok(());
        for sink in &mut self.sinks {
            result = result.and(sink.finish());
        }
        result
    }
}
