//! `genx decode`: prints every packet and field of a dump, and what packets point to.

use crate::filter::{Filters, missing};
use crate::input::{Input, address};
use crate::output::{Error, Exit, bad_input};
use crate::source::Source;
use crate::surface;
use crate::tables::tables;
use genxml::decode::{Color, Decoder, JsonWriter, Options, Sink, Summary, Tables, TextWriter};
use genxml::dump::Dump;
use genxml::html::{HtmlWriter, Page};
use genxml::query::{Filter, Filtered, Seen};
use std::io;

/// Decode a dump: every packet and field, and the state, surfaces and kernels that they point to.
///
/// For an error state or a device coredump, the text starts with a summary of the hang. Errors
/// inside a batch are printed where they occur, and do not change the exit code.
///
/// Exit code: 0 success, 2 unusable input, an input without any work, or --draw or --exec selects
/// nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx decode captures/gpgpu_fill
  genx decode captures/gpgpu_fill --headers
  genx decode saxpy.aub.xz
  genx decode captures/triangle --packet '3DSTATE_*' --draw 2
  genx decode captures/triangle --draw 1 --max-vertices 1000
  genx decode captures/triangle --field 'Surface Format=B8G8R8A8*'
  genx decode captures/gpgpu_fill --format json | jq -r .name
  genx decode captures/gpgpu_fill --format html > fill.html
  genx decode batch.bin --raw --engine blitter --address 0x100000
  genx decode skylake.bin --raw --engine render --spec gen9.xml
  xxd -r batch.hex | genx decode - --raw --engine render")]
pub struct Args {
    #[command(flatten)]
    input: Input,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
    /// Print one line per packet, without its fields and what it points to
    #[arg(long)]
    headers: bool,
    /// In text, do not print addresses and bit positions, so that two outputs can be compared
    #[arg(long)]
    no_offsets: bool,
    /// Do not print what packets point to, and do not follow jumps to other batches
    #[arg(long)]
    no_follow: bool,
    /// Maximum number of printed vertices and indices of a draw
    #[arg(long, value_name = "N", default_value = "32")]
    max_vertices: u32,
    /// Maximum number of printed bytes of one range of constants, thread data or coded video
    #[arg(long, value_name = "N", default_value = "4096", value_parser = bytes)]
    max_data: u32,
    /// Do not print the contents of buffers: vertices, indices, constants, thread data, coded
    /// video. Also do not print registers that commands load from memory or from other registers
    #[arg(long)]
    no_data: bool,
    /// When to use colours in text
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: When,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    filters: Filters,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum OutputFormat {
    /// Readable text
    Text,
    /// One line with a JSON object for each submission, and for each packet with what it points to
    Json,
    /// One interactive HTML page without external files
    Html,
}

/// When to use colours.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub enum When {
    /// If the output is a terminal and NO_COLOR is not set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl When {
    /// Converts to the decoder's type.
    pub fn on(self) -> Color {
        match self {
            When::Auto => Color::Auto,
            When::Always => Color::Always,
            When::Never => Color::Never,
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let tables = match args.source.spec.is_empty() {
        true => Tables::gen8(),
        false => tables(&args.source.load()?),
    };
    if args.headers && args.filters.has_fields() {
        return Err(bad_input("--headers prints no fields: it cannot be used with --field"));
    }
    let filter = args.filters.filter(tables)?;
    let color = args.color.on().enabled(&io::stdout());
    let options = Options {
        every_draw: args.filters.has_draws(),
        color,
        headers: args.headers,
        offsets: !args.no_offsets,
        follow: !args.no_follow,
        data: !args.no_data,
        max_vertices: args.max_vertices,
        max_data: args.max_data,
        ..Options::default()
    };
    let decoder = Decoder::new(tables, options.clone());
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut dump = args.input.open()?;
    let decoded = match args.format {
        OutputFormat::Html => page(&decoder, &mut dump, &filter, out, args),
        OutputFormat::Text => {
            // The summary of a hang comes first.
            let hang = dump.hang().map(|hang| crate::hang::print(&hang, color, &mut out));
            hang.unwrap_or(Ok(())).and_then(|()| {
                let mut writer = TextWriter::new(out, &options);
                let decoded = decode(&decoder, &mut dump, &filter, &mut writer)?;
                writer.finish().map(|()| decoded)
            })
        }
        OutputFormat::Json => {
            let mut writer = JsonWriter::new(out, &options);
            let decoded = decode(&decoder, &mut dump, &filter, &mut writer);
            decoded.and_then(|decoded| writer.finish().map(|()| decoded))
        }
    };
    let (decoded, seen) = match decoded {
        Ok((summary, seen)) => (Ok(summary), Some(seen)),
        Err(error) => (Err(error), None),
    };
    let summary = Summary::of_output(decoded)
        .map_err(|error| bad_input(format!("cannot write to standard output: {error}")))?;
    args.input.report(&dump);
    report(&summary);
    // Of an error state, the summary of the hang was printed.
    if dump.hang().is_none_or(|hang| hang == Default::default()) {
        args.input.readable(&dump)?;
    }
    match seen.and_then(|seen| missing(&filter, &seen)) {
        Some(text) => Err(bad_input(format!("{}: {text}", args.input.name()))),
        None => Ok(Exit::Ok),
    }
}

/// Decodes the parts of a dump that the filter selects.
fn decode(
    decoder: &Decoder<'_>,
    dump: &mut Dump,
    filter: &Filter,
    sink: &mut dyn Sink,
) -> io::Result<(Summary, Seen)> {
    if filter.is_empty() {
        return Ok((decoder.submissions(dump, sink)?, Seen::default()));
    }
    let mut filtered = Filtered::new(filter, sink);
    let summary = decoder.submissions(dump, &mut filtered)?;
    Ok((summary, filtered.seen()))
}

/// Parses a number of bytes, with the syntax of [`address`].
fn bytes(text: &str) -> Result<u32, String> {
    let bytes = address(text)?;
    u32::try_from(bytes).map_err(|_| format!("{bytes} does not fit 32 bits"))
}

/// Writes the page with pictures of surfaces. Pictures need the tables of Gen8, because other
/// generations have other surface layouts.
fn page(
    decoder: &Decoder<'_>,
    dump: &mut Dump,
    filter: &Filter,
    out: impl io::Write,
    args: &Args,
) -> io::Result<(Summary, Seen)> {
    let hang = dump.hang().map(|summary| summary.to_string()).unwrap_or_default();
    let page = Page { input: args.input.name(), hang };
    let mut writer = HtmlWriter::new(out, page);
    if args.source.spec.is_empty() {
        writer = writer.with_pictures(&surface::picture);
    }
    let decoded = decode(decoder, dump, filter, &mut writer)?;
    for note in dump.notes() {
        writer.remark(&note.to_string());
    }
    writer.finish()?;
    Ok(decoded)
}

/// Reports on standard error the number of unknown packets, and a batch that was not decoded to
/// its end.
fn report(summary: &Summary) {
    if summary.unknown > 0 {
        eprintln!("genx: {} of {} packets are unknown", summary.unknown, summary.packets);
    }
    if summary.limited {
        eprintln!("genx: the batch is too long for the decoder; the rest was left out");
    }
}
