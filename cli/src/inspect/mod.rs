//! `genx inspect`: the frame inspector, a page in the browser.
//!
//! * this file: the options and the start; [`server`]: the HTTP server;
//! * `work`: the runs, and what they found; `cache`: the steps that were looked at;
//! * `api`: the answers; `pictures`: PNG files; `state`: the state of a step as JSON.

mod api;
mod cache;
mod pictures;
pub mod server;
mod state;
mod work;

use crate::output::{Error, Exit, bad_input, stdout};
use genxml_sim::Gpu;
use genxml_sim::inspect::sanitize;
use server::Server;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use work::Work;

/// Show a capture or an AUB file in the browser: every draw, dispatch and blit with its pictures,
/// its state and its shaders.
///
/// The command serves one page on 127.0.0.1, prints its address, and opens it. The address has a
/// secret, so that other users and pages cannot read it. The page needs nothing from outside. The
/// command runs until it is stopped (Ctrl-C).
///
/// The page lists draws, dispatches and blits while the input runs on the model. For a draw, it
/// shows the state and what changed since the step before, the targets before and after the draw
/// and their difference, with exact values, the number of times that each pixel was shaded and its
/// cost, the mesh before and after the vertex shader, and the shaders. A click on a pixel shows its
/// history, as genx why prints it. For a blit, it shows the source, and the destination before and
/// after; for a dispatch, the images that its threads wrote, and the bytes of buffers that changed.
/// A step shows the rules of the manual that it violates. For each step that is selected, the input
/// runs again up to this step; the newest ones are cached.
///
/// Exit code: 2 unusable input, or no server. Otherwise the command runs until it is stopped; a
/// fault of the run is shown in the page.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx inspect captures/kmscube
  genx inspect recording.aub.xz --no-open             print the address only
  genx inspect captures/kmscube --sanitize flush      with the findings of a sanitizer
  genx inspect captures/kmscube --port 8080 --no-open then: ssh -L 8080:127.0.0.1:8080 HOST")]
pub struct Args {
    /// A capture directory, or an AUB file, plain or compressed (xz, gzip, zstd)
    input: PathBuf,
    /// The port of the server. Default: a free one
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Do not open the page in the browser
    #[arg(long)]
    no_open: bool,
    /// Also run sanitizers and show their findings, as in genx run. Names are separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = sanitizer)]
    sanitize: Vec<&'static str>,
    /// Maximum work of a submission, as in genx run
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    work_limit: Option<u64>,
}

/// Checks the name of a sanitizer.
fn sanitizer(word: &str) -> Result<&'static str, sanitize::Unknown> {
    sanitize::row(word).map(|row| row.name)
}

impl Args {
    fn set_up(&self) -> impl Fn(&mut Gpu) + Send + Sync + 'static {
        let limit = self.work_limit;
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        move |gpu: &mut Gpu| {
            gpu.set_threads(cores);
            if let Some(limit) = limit {
                gpu.set_work_limit(limit);
            }
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    if args.input == Path::new("-") {
        return Err(bad_input(
            "genx inspect runs its input many times, so it cannot be standard input; write it to a \
             file",
        ));
    }
    // A wrong path ends the command before a page is opened.
    if let Err(error) = std::fs::metadata(&args.input) {
        return Err(bad_input(format!("{}: {error}", args.input.display())));
    }
    let server = Server::new(args.port)
        .map_err(|error| bad_input(format!("cannot serve on port {}: {error}", args.port)))?;
    let url = server.url();
    let work = Arc::new(Work::new(&args.input, args.sanitize.clone(), Box::new(args.set_up())));
    let handler = {
        let work = Arc::clone(&work);
        Arc::new(move |path: &str, query: &str| api::answer(&work, path, query))
    };
    let served = thread::spawn(move || server.run(handler));
    stdout(|out| writeln!(out, "{url}"))?;
    if !args.no_open {
        open(&url);
    }
    work.first_run().map_err(|error| bad_input(format!("{}: {error}", args.input.display())))?;
    let failed = served.join().map(|error| error.to_string());
    Err(bad_input(failed.unwrap_or_else(|_| "the server has ended".to_owned())))
}

/// Opens the page in the browser. If that fails, the user has the printed address.
fn open(url: &str) {
    let (program, first) = match std::env::consts::OS {
        "macos" => ("open", None),
        "windows" => ("explorer", None),
        _ => ("xdg-open", None::<&str>),
    };
    let mut command = Command::new(program);
    command.args(first).arg(url);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match quiet.spawn() {
        // Wait in a thread, so that the program does not stay as a zombie.
        Ok(mut child) => drop(thread::spawn(move || child.wait())),
        Err(error) => eprintln!("genx: cannot start {program}: {error}; open the address above"),
    }
}
