//! Functions for all subcommands: exit codes, errors, and writing pictures and standard
//! output.

use genxml_sim::inspect::picture;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

/// The exit codes. Scripts depend on the numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// A negative result: an expectation or a dump differs, a check found an error, or a query
    /// found nothing.
    Differs = 1,
    /// The input cannot be used, or the output cannot be written.
    BadInput = 2,
    /// A GPU fault, a hang, or something not implemented.
    Fault = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// The values of `--format`.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
}

/// An error that ends the command.
#[derive(Debug)]
pub struct Error {
    /// The exit code.
    pub exit: Exit,
    /// The message for the user.
    pub text: String,
}

/// An error about input that cannot be used or output that cannot be written.
pub fn bad_input(error: impl Display) -> Error {
    Error { exit: Exit::BadInput, text: error.to_string() }
}

/// Writes `width` x `height` pixels of red, green, blue and alpha bytes as a PNG file.
pub fn write_picture(path: &Path, width: u32, height: u32, rgba: &[u8]) -> Result<(), Error> {
    picture::write_rgba(path, width, height, rgba)
        .map_err(|error| bad_input(format!("cannot write {}: {error}", path.display())))
}

/// Writes to standard output. A reader that stops reading (`genx check X | head`) is not an error,
/// and does not change the exit code.
pub fn stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = write(&mut out);
    flushed(written, &mut out)
}

/// Writes the buffered data of `out`, unless writing failed before. A closed pipe is not an error.
fn flushed(written: io::Result<()>, out: &mut dyn Write) -> Result<(), Error> {
    match written.and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(bad_input(format!("cannot write to standard output: {error}"))),
    }
}
