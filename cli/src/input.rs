//! Inputs that subcommands share: dumps of any kind, addresses and plain bytes.

use crate::output::{Error, bad_input};
use genxml::dump::{Dump, How, Kind};
use genxml::engine::EngineId;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A dump of any kind.
#[derive(clap::Args, Debug)]
pub struct Input {
    /// A capture directory, an AUB file, an error state, a device coredump, or - for standard
    /// input. Files may be compressed (gzip, xz, zstd). Text may be pasted: quoted, indented,
    /// wrapped, with log prefixes. Also text of Mesa (INTEL_DEBUG=bat), a hex dump (xxd, od,
    /// hexdump), a list of `address: dword`, base64 of a dump. With --raw, little-endian dwords
    input: PathBuf,
    #[command(flatten)]
    raw: Raw,
}

/// Options for a file of plain dwords.
#[derive(clap::Args, Debug)]
pub struct Raw {
    /// The input contains only the dwords of a batch, little-endian or as a hex dump
    #[arg(long, requires = "engine")]
    raw: bool,
    /// Engine of raw dwords or of a hex dump: render, blitter, video, video-enhance
    #[arg(long, value_name = "E")]
    engine: Option<EngineId>,
    /// GPU address of the first raw dword; added to the offsets of a hex dump
    #[arg(long, value_name = "A", default_value = "0", value_parser = address)]
    address: u64,
}

impl Input {
    /// Opens the dump.
    pub fn open(&self) -> Result<Dump, Error> {
        self.raw.open(&self.input)
    }

    /// An error if nothing could be read from the dump. To be called after the submissions were
    /// visited.
    pub fn readable(&self, dump: &Dump) -> Result<(), Error> {
        readable(&self.input, dump)
    }

    /// The input as the command line gives it.
    pub fn name(&self) -> String {
        self.input.display().to_string()
    }

    /// The path; - for standard input.
    pub fn path(&self) -> &Path {
        &self.input
    }

    /// Reports on standard error which parts could not be read.
    pub fn report(&self, dump: &Dump) {
        report(&self.input, dump);
    }
}

impl Raw {
    /// Opens a file with these options.
    pub fn open(&self, path: &Path) -> Result<Dump, Error> {
        let place = |engine| (engine, self.address);
        let how = How {
            raw: self.engine.filter(|_| self.raw).map(place),
            text: self.engine.or((self.address != 0).then_some(EngineId::Render)).map(place),
        };
        let dump = Dump::open(path, &how).map_err(bad_input)?;
        if self.engine.is_some() && !matches!(dump.kind(), Kind::Raw | Kind::Text) {
            return Err(bad_input(format!(
                "{}: this is a {}, which names its engines; --engine is for plain dwords (with \
                 --raw) and hex dumps",
                path.display(),
                dump.kind().name()
            )));
        }
        Ok(dump)
    }

    /// GPU address of the first byte, from --address.
    pub fn address(&self) -> u64 {
        self.address
    }
}

/// An error if nothing could be read from a dump whose submissions were visited.
pub fn readable(path: &Path, dump: &Dump) -> Result<(), Error> {
    match dump.unreadable() {
        Some(text) => Err(bad_input(format!("{}: {text}", path.display()))),
        None => Ok(()),
    }
}

/// Reports on standard error which parts of a dump could not be read.
pub fn report(path: &Path, dump: &Dump) {
    for note in dump.notes() {
        eprintln!("genx: {}: {note}", path.display());
    }
}

/// Parses a number: decimal, or hexadecimal with 0x. Underscores are ignored.
pub fn address(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let parsed = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    parsed.map_err(|_| "not a number; write 4096 or 0x1000".to_owned())
}

/// The bytes of a file or of standard input.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |error: io::Error| bad_input(format!("{}: {error}", path.display()));
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(fail)?;
        return Ok(bytes);
    }
    std::fs::read(path).map_err(fail)
}
