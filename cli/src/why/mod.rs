//! `genx why`: the history of a pixel.
//!
//! * this file: the options and the main sequence; `text` and `json`: the two formats;
//! * `register`: registers on the command line; `slice_text` and `slice_json`: slices.

pub(crate) mod json;
mod register;
mod slice_json;
mod slice_text;
pub(crate) mod text;

use crate::input::address;
use crate::output::{Error, Exit, Format, bad_input, stdout};
use genxml::capture::{Capture, Event};
use genxml_sim::Gpu;
use genxml_sim::inspect::history::HistoryError;
use genxml_sim::pixel_history::{Answer, Question, Stop, Until, WhyError};
use genxml_sim::runs::Input;
use genxml_sim::value_slice::{self, InputRuns, Runs};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// Print the history of a pixel: everything that wrote or tested it, in order.
///
/// The input runs twice on the model. The first run finds the surface of the pixel. The second run
/// compares the memory of the pixel before and after each packet, so every change is found: by
/// draws, clears, copies, blits, dispatches, and by the program itself between submissions. Draws
/// and blits are also listed if they leave the value unchanged; other writers are not.
///
/// For a draw, each primitive that covers the pixel is printed: its vertices in pixels, the weights
/// of the vertices at the pixel, the tests with both values, what the shader wrote, the blending,
/// and the value before and after. Primitives that were clipped, culled or cut off by the scissor
/// are printed if the pixel lies inside of them. Draws of a G45 have no primitives in the list.
///
/// --target selects the surface. Without it, --frame selects the displayed image. Without both, the
/// surface is the first render target of the last draw that has one; if no draw has one, it is the
/// destination of the last blit. The level and slice are those that the draw writes. The value of a
/// pixel is its bytes in memory; if an auxiliary surface says that the pixel is cleared, it is the
/// clear colour.
///
/// Exit code: 0 the history is printed, even if nothing touched the pixel; 2 unusable input, or a
/// pixel that does not exist; 3 a GPU fault, a hang, or something that the model does not
/// implement. The history up to there is printed.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx why captures/kmscube --pixel 320,200
  genx why captures/kmscube --pixel 320,200 --frame 3
  genx why captures/kmscube --pixel 320,200 --after draw 7
  genx why captures/kmscube --pixel 320,200 --target 0x7f0000 --sample 2
  genx why captures/kmscube --pixel 320,200 --format json | jq '.entries[-1]'
  genx why captures/kmscube --pixel 320,200 --slice --depth 2
  genx why captures/kmscube --pixel 320,200 --slice --register r12.3:f --at 0x40
  genx why captures/kmscube --memory 0x7f0000,16 --slice")]
pub struct Args {
    /// A capture directory, or an AUB file, plain or compressed (xz, gzip, zstd)
    input: PathBuf,
    /// Column and row of the pixel, from the upper left, in the level that is drawn to
    #[arg(long, value_name = "X,Y", value_parser = pixel, required_unless_present = "memory")]
    pixel: Option<[u32; 2]>,
    /// Print the history of a range of memory instead: BYTES bytes, by default 4, from a graphics
    /// address on
    #[arg(long, value_name = "ADDRESS[,BYTES]", value_parser = range)]
    #[arg(conflicts_with_all = ["pixel", "target", "sample", "register"])]
    memory: Option<(u64, u64)>,
    /// Also print the slice: where the newest value comes from
    ///
    /// The slice has the instructions that made the value, with the values of their operands. For
    /// each operand, it has the instruction that made it, or the part of the payload that it comes
    /// from. It also has the branches and predicates that decided whether these instructions are
    /// executed, the texels and constants that they read, and for each of these the packet that
    /// wrote it last. If the value was copied by a blit, the slice goes on at the source.
    ///
    /// For a draw, the slice goes on with the vertices of the primitive: where setup takes each
    /// attribute from, the corners that the clipper made, the dwords of each vertex that the pixel
    /// depends on, the slices of the vertex shader and geometry shader threads that wrote them, and
    /// the bytes of the vertex and index buffers. Tessellation is not traced: the slice names its
    /// stages and ends there. Then come the packets that set the state of the draw, up to the part
    /// of the pipeline that the primitive reached, and the state, vertices and indices that the
    /// draw read from memory.
    #[arg(long)]
    slice: bool,
    /// Levels of the slice. With 1, it ends at the memory that the thread read. With 2, it also has
    /// the slices of the threads that wrote this memory, and so on. Each of these slices runs the
    /// input again several times. At most four of the values that a thread read are followed;
    /// the threads that made the vertices of the primitive count as one
    #[arg(long, value_name = "N", default_value_t = 1, requires = "slice")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=16))]
    depth: u32,
    /// Slice the value of a register of the thread that shades the pixel, instead of the colour:
    /// for example r12.3:f, a0.0:uw or f0.1. Without :TYPE, the type is ud for general registers,
    /// and uw for a0 and flags
    #[arg(long, value_name = "REGISTER", requires_all = ["slice", "at"])]
    #[arg(value_parser = register::parse)]
    register: Option<register::Register>,
    /// The instruction before which the register has the value: its byte offset in the kernel. If
    /// it is executed several times, the last one counts
    #[arg(long, value_name = "OFFSET", value_parser = offset, requires = "register")]
    at: Option<u32>,
    /// End when frame N of the capture is displayed. The files of genx run --dump have the numbers
    /// of frames in their names
    #[arg(long, value_name = "N", conflicts_with = "after")]
    frame: Option<u64>,
    /// End after a submission or draw: exec N or draw N. Submissions have the numbers that the
    /// capture gives them; in an AUB file, they count from 1 on. Draws count from 1 on, as in
    /// genx run --observe draw
    #[arg(long, num_args = 2, value_names = ["WHAT", "N"])]
    after: Option<Vec<String>>,
    /// Base address of the surface: a render target, a depth buffer or a stencil buffer of a draw
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    target: Option<u64>,
    /// The sample of the pixel
    #[arg(long, value_name = "S", default_value_t = 0)]
    sample: u32,
    /// text or json
    ///
    /// Members of the JSON object: input, exit, pixel, sample, surface (meaning, format, width,
    /// height, level, slice, samples, tiling, pitch, address, draw), address (of the pixel),
    /// entries, value (at the end), stop (text; null if the run reached the end).
    ///
    /// Members of an entry: kind (host, draw, clear, resolve, copy, blit, dispatch, video,
    /// command), submission (from 1 on), exec (number in the capture), engine, packet, address,
    /// batch, old, new, draw (null if it is not a draw), blit (pixel, rectangle, source; null if it
    /// is not a blit). A value has bytes, cleared, and color, integers, depth or stencil.
    ///
    /// Members of a draw: draw, topology, pixel, buffer (color or depth), primitives, clipped,
    /// culled, fragments. Members of a fragment: primitive, id, shape, vertices (x, y, z, w),
    /// array_index, lost (why the pixel was not written, or null), coverage (rasterised, samples,
    /// facing, weights, depth, w, inputs), tests (sample, time, passed, depth, stencil), shader
    /// (kernel, channel, sample, instructions, writes, discard), outputs (binding, entry, color,
    /// bits, second, omask, depth, enabled, samples, target, blend), old, new. Members that do not
    /// apply are null.
    ///
    /// With --slice, the object has the member slice: pixel, address, bytes, writer (as an entry,
    /// with old and new as bytes), how (thread, copied, filled, streamed, outside, packet, end,
    /// unreadable or failed), state, geometry, thread, source (pixel, made), error. Members of a
    /// state: packets (stage, packet, address, batch, dwords), memory (kind, address, bytes,
    /// writer), cut. Members of a thread: draw, primitive, kernel, channel, executed, cut,
    /// instructions, inputs. Members of an instruction: step, offset, text, channels, decides,
    /// message, operands (name, channel, element, from, inputs), results, because, reads. "from"
    /// and "because" are indices of instructions, "inputs" are indices of inputs. Members of an
    /// input: register, bits, source, reads. The kind of a source is header, positions, barycentric
    /// (with mode, vertex), depth, w, offset, coverage, constant (buffer, address), attribute
    /// (attribute, component, term), handles, primitive ID, vertex (lane, vertex, dword), urb
    /// (offset), payload, zero or machine. Members of a read: address, bytes, writer, made (as
    /// slice; null if the writer is not followed).
    ///
    /// Members of a geometry, which is null for values that no draw made: primitive, corners
    /// (position, weights), attributes (attribute, component, kind; dword and vertex, or bits),
    /// vertices, inputs (of the geometry shader), untraced (stages, or null), cut. Members of a
    /// vertex: vertex, number, instance, dwords (dword, bits, uses, from), thread (with stage),
    /// error, index (a read), fetched. Members of a fetched dword: dword, kind (buffer, outside,
    /// constant, vertex ID, instance ID or nothing), element, component, buffer, format, entry,
    /// read.
    ///
    /// With --memory, the members are input, exit, address, bytes, changes, slice, stop.
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
    /// Maximum work of a submission, as in genx run
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    work_limit: Option<u64>,
}

/// Parses `X,Y`.
fn pixel(text: &str) -> Result<[u32; 2], String> {
    let wrong = || "not a column and a row; write 320,200".to_owned();
    let (x, y) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    Ok([number(x)?, number(y)?])
}

/// Parses the values of --after.
fn until(words: &[String]) -> Result<Until, Error> {
    let wrong = || bad_input("--after: write --after exec N or --after draw N");
    let [what, number] = words else { return Err(wrong()) };
    let number = number.parse().map_err(|_| wrong())?;
    match what.as_str() {
        "exec" => Ok(Until::Exec(number)),
        "draw" if number == 0 => Err(bad_input("--after draw 0: draws count from 1 on")),
        "draw" => Ok(Until::Draw(number)),
        _ => Err(wrong()),
    }
}

/// Parses `ADDRESS[,BYTES]`.
fn range(text: &str) -> Result<(u64, u64), String> {
    let (first, bytes) = text.split_once(',').unwrap_or((text, "4"));
    match address(bytes.trim())? {
        bytes @ 1..=MOST_BYTES => Ok((address(first.trim())?, bytes)),
        _ => Err(format!("not a number of bytes from 1 to {MOST_BYTES}")),
    }
}

/// Parses a byte offset in a kernel.
fn offset(text: &str) -> Result<u32, String> {
    let text = text.strip_prefix('+').unwrap_or(text);
    u32::try_from(address(text)?).map_err(|_| "not a byte offset in a kernel".to_owned())
}

/// Maximum number of bytes of --memory.
const MOST_BYTES: u64 = 4096;

/// The answer of a run, with what is printed.
struct Printed {
    text: Vec<u8>,
    json: Json,
    stop: Option<Stop>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let until = match (&args.after, args.frame) {
        (Some(words), _) => Some(until(words)?),
        (None, Some(frame)) => Some(Until::Frame(frame)),
        (None, None) => None,
    };
    let printed = ask(args, until).map_err(|error| {
        let text = format!("{}: {error}", args.input.display());
        Error { exit: exit_of(&error), text }
    })?;
    let exit = printed.stop.as_ref().map_or(Exit::Ok, exit_of_stop);
    if let Some(stop) = &printed.stop {
        eprintln!("genx: {}: {stop}; the history ends there", args.input.display());
    }
    match args.format {
        Format::Text => stdout(|out| out.write_all(&printed.text))?,
        Format::Json => {
            let mut json = printed.json;
            json["input"] = json!(args.input.display().to_string());
            json["exit"] = json!(exit as u8);
            json["stop"] = json!(printed.stop.as_ref().map(ToString::to_string));
            stdout(|out| writeln!(out, "{json:#}"))?;
        }
    }
    Ok(exit)
}

/// Checks the end of a history of memory. `capture` is `None` for an AUB file.
fn check_end(until: Option<Until>, capture: Option<&Capture>) -> Result<(), WhyError> {
    let execs = || capture.into_iter().flat_map(Capture::execs).map(|exec| exec.seq);
    let frames = || {
        let events = capture.into_iter().flat_map(Capture::events);
        events.filter_map(|event| match event {
            Event::Frame(frame) => Some(frame.index),
            _ => None,
        })
    };
    let last = |numbers: &mut dyn Iterator<Item = u64>| {
        numbers.fold((0, 0), |(_, count), number| (number, count + 1))
    };
    match until {
        Some(Until::Draw(number)) => Err(WhyError::File(format!(
            "--memory ends after a submission, so --after draw {number} is not possible; write \
             --after exec N"
        ))),
        Some(Until::Exec(wanted)) if capture.is_some() && execs().all(|seq| seq != wanted) => {
            let (newest, count) = last(&mut execs());
            Err(WhyError::NoExec { wanted, newest, count })
        }
        Some(Until::Frame(wanted)) if frames().all(|index| index != wanted) => {
            let (newest, count) = last(&mut frames());
            Err(WhyError::NoFrame { wanted, newest, count })
        }
        _ => Ok(()),
    }
}

fn ask(args: &Args, until: Option<Until>) -> Result<Printed, WhyError> {
    let set_up = |gpu: &mut Gpu| {
        if let Some(units) = args.work_limit {
            gpu.set_work_limit(units);
        }
    };
    let path: &Path = &args.input;
    if path == Path::new("-") {
        let why = "a history needs two runs, so the input cannot be standard input; write it to a \
                   file";
        return Err(WhyError::File(why.into()));
    }
    let input = Input::open(path).map_err(WhyError::File)?;
    if args.memory.is_some() {
        let capture = match &input {
            Input::Capture(capture) => Some(&**capture),
            Input::Aub(_) => None,
        };
        check_end(until, capture)?;
    }
    let mut runs = InputRuns { input: &input, set_up: &set_up, until };
    print(args, until, &mut runs, &mut |question| input.history(question, &set_up))
}

/// Computes the answer and writes it in both formats.
fn print(
    args: &Args,
    until: Option<Until>,
    runs: &mut dyn Runs,
    history: &mut dyn FnMut(&Question) -> Result<Answer, WhyError>,
) -> Result<Printed, WhyError> {
    let mut text = Vec::new();
    let full = |error: std::io::Error| WhyError::File(error.to_string());
    if let Some((address, bytes)) = args.memory {
        let (span, stop) = value_slice::find(runs, address, bytes)?;
        let Some(span) = span else {
            let error = HistoryError::NoMemory { address, bytes };
            return Err(match stop {
                Some(stop) => WhyError::Stopped { stop: Box::new(stop), error },
                None => WhyError::History(error),
            });
        };
        let (changes, stop) = value_slice::changes(runs, span.clone())?;
        slice_text::changes(&mut text, (address, bytes), &changes).map_err(full)?;
        let mut json = json!({
            "address": format!("{address:#x}"),
            "bytes": bytes,
            "changes": changes.iter().map(slice_json::change).collect::<Vec<_>>(),
        });
        if args.slice {
            let range = (address, bytes);
            let made = value_slice::of_memory(runs, range, span, &changes, args.depth)?;
            slice_text::write(&mut text, &made, 0).map_err(full)?;
            json["slice"] = slice_json::value(&made);
        }
        return Ok(Printed { text, json, stop });
    }
    let question = Question {
        at: args.pixel.unwrap_or_default(),
        sample: args.sample,
        target: args.target,
        until,
    };
    let answer = history(&question)?;
    text::write(&mut text, &answer).map_err(full)?;
    let mut json = json::value(&answer);
    if args.slice {
        let start = match (args.register, args.at) {
            (Some(register), Some(offset)) => Some(register.start(offset)),
            _ => None,
        };
        let made = value_slice::of_pixel(runs, &answer, start, args.depth)?;
        slice_text::write(&mut text, &made, 0).map_err(full)?;
        json["slice"] = slice_json::value(&made);
    }
    Ok(Printed { text, json, stop: answer.stop })
}

/// The exit code of an error.
fn exit_of(error: &WhyError) -> Exit {
    match error {
        WhyError::Stopped { stop, .. } => exit_of_stop(stop),
        _ => Exit::BadInput,
    }
}

pub(crate) fn exit_of_stop(stop: &Stop) -> Exit {
    match stop {
        Stop::Broken(_) => Exit::BadInput,
        Stop::Fault(_) | Stop::Stuck(_) => Exit::Fault,
    }
}
