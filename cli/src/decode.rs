//! `genx decode`: prints every packet and field of a dump, and what packets point to.

use crate::filter::{Filters, missing};
use crate::generation::Choice;
use crate::input::{Input, address};
use crate::object;
use crate::output::{Error, Exit, bad_input};
use genxml::decode::{Color, Decoder, JsonWriter, Options, Sink, Summary, Tables, TextWriter};
use genxml::dump::Dump;
use genxml::hang;
use genxml::html::{HtmlWriter, Page};
use genxml::query::{Filter, Filtered, Reached, Seen};
use genxml_sim::inspect::page;
use std::io::{self, Write as _};

/// Decode a dump: every packet and field, and the state, surfaces and kernels that they point to.
///
/// For an error state or a device coredump, the text starts with a summary of the hang. At its end
/// it lists the buffers that no batch reaches, registers, fences and requests. Errors inside a
/// batch are printed where they occur, and do not change the exit code.
///
/// Text from bug reports is repaired where this is unambiguous: quotes, indentation, wrapped
/// lines, prefixes of dmesg and the journal, code fences, HTML, colours. A line on standard error
/// says what was repaired.
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
  genx decode error.txt --spec mesa/src/intel/genxml
  genx decode icelake.bin --raw --engine render --spec mesa/src/intel/genxml --gen 11
  genx decode error.txt --object 0x7f0000
  genx decode error.txt --object 'rcs0 user'
  INTEL_DEBUG=bat,no-color glxgears 2> bat.txt; genx decode bat.txt
  genx decode batch.hex --engine blitter")]
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
    /// Always print viewports and scissors 0 to 3, even those that the draw does not use. After a
    /// packet that sets the pointer to a binding table or to samplers, print the table or sampler
    /// 0. Mesa's decoder does the same
    #[arg(long)]
    unused: bool,
    /// Decode only one piece of memory of an error state or device coredump: the one that holds
    /// this address, or all with this name (rcs0 user, HW context). Data that are not commands are
    /// printed as dwords
    #[arg(long, value_name = "ADDRESS|NAME")]
    object: Option<String>,
    /// When to use colours in text
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: When,
    #[command(flatten)]
    choice: Choice,
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
    if args.headers && args.filters.has_fields() {
        return Err(bad_input("--headers prints no fields: it cannot be used with --field"));
    }
    let mut dump = args.input.open()?;
    let tables = args.choice.tables(&args.input.name(), &dump)?;
    let filter = args.filters.filter(tables)?;
    let color = args.color.on().enabled(&io::stdout());
    let options = Options {
        every_draw: args.filters.has_draws(),
        color,
        headers: args.headers,
        offsets: !args.no_offsets,
        follow: !args.no_follow,
        data: !args.no_data,
        unused: args.unused,
        max_vertices: args.max_vertices,
        max_data: args.max_data,
        ..Options::default()
    };
    let decoder = Decoder::new(tables, options.clone());
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if let Some(text) = &args.object {
        return one_object(args, &dump, text, &decoder, tables, &options, &mut out);
    }
    let hang = dump.hang(tables);
    let decoded = match args.format {
        OutputFormat::Html => {
            let hang = hang.as_ref().map(ToString::to_string).unwrap_or_default();
            page(&decoder, hang, &mut dump, &filter, out, args)
        }
        OutputFormat::Text => {
            // The summary of a hang comes first.
            let shown = hang.as_ref().map(|hang| crate::hang::print(hang, color, &mut out));
            shown.unwrap_or(Ok(())).and_then(|()| {
                let mut writer = TextWriter::new(&mut out, &options);
                let whole = filter.is_empty() && options.follow && !options.headers;
                if !whole {
                    let decoded = decode(&decoder, &mut dump, &filter, &mut writer)?;
                    return writer.finish().map(|()| decoded);
                }
                let spans: Vec<(u64, u64)> =
                    dump.objects().iter().map(|object| (object.address(), object.end())).collect();
                let (decoded, unreached) = if spans.is_empty() {
                    (decode(&decoder, &mut dump, &filter, &mut writer)?, Vec::new())
                } else {
                    let mut reached = Reached::new(&spans, &mut writer);
                    let decoded = decode(&decoder, &mut dump, &filter, &mut reached)?;
                    (decoded, reached.unreached())
                };
                writer.finish()?;
                drop(writer);
                object::rest(&dump, &unreached, &mut out)?;
                out.flush().map(|()| decoded)
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
    // Of an error state, the summary of the hang is something to read too.
    let nothing = hang::Summary { generation: tables.generation(), ..hang::Summary::default() };
    if hang.is_none_or(|hang| hang == nothing) {
        args.input.readable(&dump)?;
    }
    match seen.and_then(|seen| missing(&filter, &seen)) {
        Some(text) => Err(bad_input(format!("{}: {text}", args.input.name()))),
        None => Ok(Exit::Ok),
    }
}

/// Decodes the objects that `--object` selects.
fn one_object(
    args: &Args,
    dump: &Dump,
    text: &str,
    decoder: &Decoder<'_>,
    tables: &Tables,
    options: &Options,
    out: &mut dyn io::Write,
) -> Result<Exit, Error> {
    let objects = object::find(dump, text)?;
    let written = match args.format {
        OutputFormat::Html => {
            return Err(bad_input("--object writes text or JSON: use --format text or json"));
        }
        OutputFormat::Text => {
            let mut writer = TextWriter::new(&mut *out, options);
            let decoded = object::decode(objects, decoder, tables, &mut writer);
            let finished = writer.finish();
            drop(writer);
            let printed = |(summary, data): (Summary, Vec<_>)| {
                finished?;
                object::print(&data, out)?;
                out.flush().map(|()| summary)
            };
            decoded.and_then(printed)
        }
        OutputFormat::Json => {
            let mut writer = JsonWriter::new(&mut *out, options);
            let decoded = object::decode(objects, decoder, tables, &mut writer);
            decoded.and_then(|(summary, _)| writer.finish().map(|()| summary))
        }
    };
    let summary = Summary::of_output(written)
        .map_err(|error| bad_input(format!("cannot write to standard output: {error}")))?;
    args.input.report(dump);
    report(&summary);
    Ok(Exit::Ok)
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
    hang: String,
    dump: &mut Dump,
    filter: &Filter,
    out: impl io::Write,
    args: &Args,
) -> io::Result<(Summary, Seen)> {
    let page = Page { input: args.input.name(), hang };
    let mut writer = HtmlWriter::new(out, page);
    if args.choice.is_broadwell(dump) {
        writer = writer.with_pictures(&page::surface).with_video(&page::video);
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
