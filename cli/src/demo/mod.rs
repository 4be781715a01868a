//! `genx demo`: batches built with the typed API, run on the model.

use crate::output::{Error, Exit, bad_input, stdout, write_picture};
use clap::ValueEnum;
use genxml::batch::Submission;
use genxml::capture::CaptureWriter;
use genxml::decode::{Decoder, Options, Record, Sink, State, Tables, TextWriter};
use genxml_sim::{Gpu, Stats};
use std::io;
use std::path::PathBuf;

pub mod cube;
pub mod fill;
pub mod initial;
pub mod kernel;
pub mod texture;
pub mod triangle;

/// Build a batch with the typed API, run it on the model, and write the picture.
///
/// An excerpt of the decoded batch and the counts of the run are also printed.
///
/// Exit code: 0 success; 2 the output cannot be written; 3 a GPU fault.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx demo triangle -o triangle.png
  genx demo cube --capture cube && genx run cube --observe draw
  genx demo")]
pub struct Args {
    /// The demo. Default: list the demos
    name: Option<Name>,
    /// File for the picture
    #[arg(short, long, value_name = "FILE", default_value = "demo.png")]
    output: PathBuf,
    /// Write the batch and all that it points to as a capture for genx decode, check, query and run
    #[arg(long, value_name = "DIR")]
    capture: Option<PathBuf>,
}

/// The demos by name.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// A pattern made with exclusive or; each GPGPU thread computes and writes 8x8 pixels
    Fill,
    /// A triangle: a vertex and a pixel shader, colours interpolated between three corners
    Triangle,
    /// Two intersecting cubes with lighting: vertices by index, a matrix in push constants, a depth
    /// test
    Cube,
    /// A tiled floor in perspective: the sampler blends mip levels; each has its own colour and
    /// number
    Texture,
}

/// A batch that draws a picture.
#[derive(Clone, Copy, Debug)]
pub struct Demo {
    /// Builds the batch with all that it points to.
    pub submission: fn() -> Result<Submission, Box<dyn std::error::Error>>,
    /// Address of the picture: red, green, blue and alpha bytes of each pixel, row by row.
    pub target: u64,
    /// Width and height of the picture.
    pub size: [u32; 2],
    /// Packets that are printed, together with everything that they point to.
    excerpt: &'static [&'static str],
}

impl Name {
    /// The demo of this name.
    pub fn demo(self) -> Demo {
        let draw = |submission, size| Demo {
            submission,
            target: initial::TARGET,
            size: [size; 2],
            excerpt: &["3DSTATE_VS", "3DSTATE_PS", "3DPRIMITIVE"],
        };
        match self {
            Name::Fill => Demo {
                submission: fill::submission,
                target: fill::TARGET,
                size: [fill::WIDTH, fill::HEIGHT],
                excerpt: &["MEDIA_INTERFACE_DESCRIPTOR_LOAD", "GPGPU_WALKER"],
            },
            Name::Triangle => draw(triangle::submission, triangle::SIZE),
            Name::Cube => draw(cube::submission, cube::SIZE),
            Name::Texture => draw(texture::submission, texture::SIZE),
        }
    }
}

/// Maximum number of printed lines for each packet, structure and kernel.
const EXCERPT_LINES: usize = 6;

/// Collects the text of some packets and of everything that they point to.
struct Excerpt<'a> {
    packets: &'a [&'a str],
    options: &'a Options,
    text: String,
    inside: bool,
}

impl Sink for Excerpt<'_> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        if record.depth == 0 {
            self.inside = self.packets.contains(&record.name);
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
            self.text.push_str(&format!(
                "{:indent$}... {} more lines\n",
                "",
                lines - EXCERPT_LINES
            ));
        }
        Ok(())
    }
}

/// Decodes the batch. Returns the text of `packets` and of what they point to.
fn excerpt(submission: &Submission, packets: &[&str]) -> io::Result<String> {
    let options = Options { offsets: false, ..Options::default() };
    let mut sink = Excerpt { packets, options: &options, text: String::new(), inside: false };
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

/// Runs a submission on a new GPU. Returns the bytes of the buffer at `target`, and the counts.
///
/// # Errors
/// The fault as text.
pub fn execute(submission: &Submission, target: u64) -> Result<(Vec<u8>, Stats), String> {
    let mut gpu = Gpu::new();
    let context = gpu.create_context().map_err(|error| error.to_string())?;
    let stats = gpu.execute(context, submission).map_err(|error| error.to_string())?;
    let buffer = submission.buffers.iter().find(|buffer| buffer.address() == target);
    let length = buffer.map_or(0, |buffer| buffer.bytes().len());
    let bytes = gpu.values(context, target, length).map_err(|error| error.to_string())?;
    Ok((bytes, stats))
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let Some(name) = args.name else {
        let demos = Name::value_variants().iter().filter_map(Name::to_possible_value);
        stdout(|out| {
            for demo in demos {
                let about = demo.get_help().map(ToString::to_string).unwrap_or_default();
                writeln!(out, "{:<10}{about}", demo.get_name())?;
            }
            Ok(())
        })?;
        return Ok(Exit::Ok);
    };
    let demo = name.demo();
    let submission = (demo.submission)().map_err(bad_input)?;
    if let Some(directory) = &args.capture {
        let name =
            name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let mut writer = CaptureWriter::new(&name);
        submission.write(1, &mut writer);
        writer
            .finish(directory)
            .map_err(|error| bad_input(format!("cannot write {}: {error}", directory.display())))?;
    }
    let (pixels, stats) =
        execute(&submission, demo.target).map_err(|text| Error { exit: Exit::Fault, text })?;
    write_picture(&args.output, demo.size[0], demo.size[1], &pixels)?;
    let excerpt = excerpt(&submission, demo.excerpt).map_err(bad_input)?;
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
