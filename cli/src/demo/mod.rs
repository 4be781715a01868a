//! `genx demo`: batches built with the typed API, run on the model.

use crate::output::{Error, Exit, bad_input, stdout};
use crate::picture;
use genxml::batch::Submission;
use genxml::decode::{Decoder, Options, Record, Sink, State, Tables, TextWriter};
use std::io;
use std::path::PathBuf;

pub mod fill;
pub mod kernel;

/// Build a batch with the typed API, run it on the model, and write the picture.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx demo fill -o fill.png
  genx demo")]
pub struct Args {
    /// Which demo; without, those that there are
    name: Option<Name>,
    /// Where the picture goes
    #[arg(short, long, value_name = "FILE", default_value = "demo.png")]
    output: PathBuf,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Name {
    /// A texture of exclusive ors, each 8x8 pixels computed and written by a GPGPU thread of its own
    Fill,
}

/// Packets that the excerpt shows, with what they point to.
const EXCERPT: [&str; 2] = ["MEDIA_INTERFACE_DESCRIPTOR_LOAD", "GPGPU_WALKER"];

/// Lines that it shows of each packet, structure and kernel.
const EXCERPT_LINES: usize = 6;

/// Collects the text of the packets of [`EXCERPT`] and what belongs to them.
struct Excerpt<'a> {
    options: &'a Options,
    text: String,
    inside: bool,
}

impl Sink for Excerpt<'_> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        if record.depth == 0 {
            self.inside = EXCERPT.contains(&record.name);
        }
        if !self.inside {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let mut writer = TextWriter::new(&mut bytes, self.options);
        writer.record(record)?;
        writer.finish()?;
        drop(writer);
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().count();
        for line in text.lines().take(EXCERPT_LINES) {
            self.text.push_str(line);
            self.text.push('\n');
        }
        if lines > EXCERPT_LINES {
            let indent = 4 + 2 * record.depth as usize;
            self.text.push_str(&format!("{:indent$}... {} more lines\n", "", lines - EXCERPT_LINES));
        }
        Ok(())
    }
}

/// A part of the batch, decoded.
fn excerpt(submission: &Submission) -> io::Result<String> {
    let options = Options { offsets: false, ..Options::default() };
    let mut sink = Excerpt { options: &options, text: String::new(), inside: false };
    Decoder::new(Tables::gen8(), options.clone()).batch(
        &mut State::default(),
        submission.engine,
        submission,
        submission.batch_address,
        submission.batch_length,
        &mut sink,
    )?;
    Ok(sink.text)
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    match args.name {
        None => {
            stdout(|out| {
                writeln!(
                    out,
                    "fill    a texture of exclusive ors, computed and written by 1,024 GPGPU threads"
                )
            })?;
            Ok(Exit::Ok)
        }
        Some(Name::Fill) => {
            let submission = fill::submission().map_err(bad_input)?;
            let (pixels, stats) =
                fill::execute(&submission).map_err(|text| Error { exit: Exit::Fault, text })?;
            picture::write_rgba(&args.output, fill::WIDTH, fill::HEIGHT, &pixels)?;
            let excerpt = excerpt(&submission).map_err(bad_input)?;
            stdout(|out| {
                writeln!(out, "{excerpt}")?;
                writeln!(
                    out,
                    "{} packets, {} threads, {} EU instructions, {} bytes written; picture in {}",
                    stats.packets,
                    stats.threads,
                    stats.instructions,
                    stats.bytes_written,
                    args.output.display()
                )
            })?;
            Ok(Exit::Ok)
        }
    }
}
