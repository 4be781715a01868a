//! `genx why`: the history of a pixel.
//!
//! * this file: the options and the main sequence; `text` and `json`: the two formats.

pub(crate) mod json;
pub(crate) mod text;

use crate::input::address;
use crate::output::{Error, Exit, bad_input, stdout};
use genxml::aub::Reader;
use genxml::capture::Capture;
use genxml_sim::Gpu;
use genxml_sim::aub::AubReplay;
use genxml_sim::pixel_history::{Answer, Question, Stop, Until, WhyError, of_aub, of_capture};
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
  genx why captures/kmscube --pixel 320,200 --format json | jq '.entries[-1]'")]
pub struct Args {
    /// A capture directory, or an AUB file, plain or compressed (xz, gzip, zstd)
    input: PathBuf,
    /// Column and row of the pixel, from the upper left, in the level that is drawn to
    #[arg(long, value_name = "X,Y", value_parser = pixel)]
    pixel: [u32; 2],
    /// End at the display of frame N of the capture, as in the names of the files of genx run --dump
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
    /// command), submission (from 1 on), exec (number in the capture), engine, packet, address, batch, old,
    /// new, draw (null for others), blit (pixel, rectangle, source; null for others). A value has
    /// bytes, cleared, and color, integers, depth or stencil.
    ///
    /// Members of a draw: draw, topology, pixel, buffer (color or depth), primitives, clipped,
    /// culled, fragments. Members of a fragment: primitive, id, shape, vertices (x, y, z, w),
    /// array_index, lost (why the pixel was not written, or null), coverage (rasterised, samples,
    /// facing, weights, depth, w, inputs), tests (sample, time, passed, depth, stencil), shader
    /// (kernel, channel, sample, instructions, writes, discard), outputs (binding, entry, color,
    /// bits, second, omask, depth, enabled, samples, target, blend), old, new. Members that do not
    /// apply are null.
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
    /// Maximum work of a submission, as in genx run
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    work_limit: Option<u64>,
}

/// The values of --format.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
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

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let question = Question {
        at: args.pixel,
        sample: args.sample,
        target: args.target,
        until: match (&args.after, args.frame) {
            (Some(words), _) => Some(until(words)?),
            (None, Some(frame)) => Some(Until::Frame(frame)),
            (None, None) => None,
        },
    };
    let answer = ask(args, &question).map_err(|error| {
        let text = format!("{}: {error}", args.input.display());
        Error { exit: exit_of(&error), text }
    })?;
    let exit = answer.stop.as_ref().map_or(Exit::Ok, exit_of_stop);
    if let Some(stop) = &answer.stop {
        eprintln!("genx: {}: {stop}; the history ends there", args.input.display());
    }
    match args.format {
        Format::Text => stdout(|out| text::write(out, &answer))?,
        Format::Json => {
            let value = json::value(&args.input, exit, &answer);
            stdout(|out| writeln!(out, "{value:#}"))?;
        }
    }
    Ok(exit)
}

fn ask(args: &Args, question: &Question) -> Result<Answer, WhyError> {
    let set_up = |gpu: &mut Gpu| {
        if let Some(units) = args.work_limit {
            gpu.set_work_limit(units);
        }
    };
    let path: &Path = &args.input;
    let file = |error: &dyn std::fmt::Display| WhyError::File(error.to_string());
    if path == Path::new("-") {
        let why = "a history needs two runs, so the input cannot be standard input; write it to a \
                   file";
        return Err(file(&why));
    }
    if !path.is_file() {
        let capture = Capture::open(path).map_err(|error| file(&error))?;
        return of_capture(&capture, question, &set_up);
    }
    of_aub(question, &mut || {
        let reader = Reader::open(path).map_err(|error| file(&error))?;
        let mut replay = AubReplay::new(reader);
        set_up(replay.gpu());
        Ok(replay)
    })
}

/// The exit code of an error.
fn exit_of(error: &WhyError) -> Exit {
    match error {
        WhyError::Stopped { stop, .. } => exit_of_stop(stop),
        _ => Exit::BadInput,
    }
}

fn exit_of_stop(stop: &Stop) -> Exit {
    match stop {
        Stop::Broken(_) => Exit::BadInput,
        Stop::Fault(_) | Stop::Stuck(_) => Exit::Fault,
    }
}
