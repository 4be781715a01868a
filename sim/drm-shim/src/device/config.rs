//! Which Broadwell it is, and what is asked of it: `GENX_SHIM_*` in the environment.

use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;

/// Bytes of the aperture that the kernel tells of.
pub const APERTURE: u64 = 4 << 30;

/// Work units of a submission after which it counts as hanging: some minutes of a whole GPU's
/// instructions.
const WORK_LIMIT: u64 = 1 << 36;

/// The options.
#[derive(Clone, Debug)]
pub struct Config {
    /// PCI device id.
    pub device: u32,
    /// Threads of the host that the model uses.
    pub threads: usize,
    /// Units of work after which a submission counts as hanging.
    pub work_limit: u64,
    /// What the monitor shows by itself; it shows nothing larger then.
    pub mode: Option<Mode>,
    /// Where captures go: a directory with one for each process.
    pub capture: Option<PathBuf>,
    /// The rules engine looks at every batch.
    pub check: bool,
    /// Counts are printed at the end.
    pub stats: bool,
    /// Each ioctl is told.
    pub log: bool,
    /// A trace for Perfetto.
    pub trace: Option<PathBuf>,
    /// Where pictures go that are shown: a directory with one for each process.
    pub frames: Option<PathBuf>,
    /// Where error states go.
    pub errors: PathBuf,
    /// After a fault the client goes on as if nothing had happened.
    pub ignore_faults: bool,
    /// Clients go on while their work is done, and learn of its end by fences.
    pub asynchronous: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            device: 0x1616,
            threads: 1,
            work_limit: WORK_LIMIT,
            mode: None,
            capture: None,
            check: false,
            stats: false,
            log: false,
            trace: None,
            frames: None,
            errors: std::env::temp_dir(),
            ignore_faults: false,
            asynchronous: false,
        }
    }
}

/// A size of pictures, and how many are shown in a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// Pixels across.
    pub width: u16,
    /// Pixels down.
    pub height: u16,
    /// Pictures a second.
    pub hz: u16,
}

impl Mode {
    /// Most pixels across and down.
    pub const MAX_EXTENT: u16 = 8192;
    /// Most pictures a second.
    pub const MAX_HZ: u16 = 1000;
}

/// A word that is no mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoMode;

impl FromStr for Mode {
    type Err = NoMode;

    /// `WIDTHxHEIGHT` or `WIDTHxHEIGHT@HZ`.
    fn from_str(word: &str) -> Result<Mode, NoMode> {
        let number = |word: &str, most: u16| {
            word.parse::<u16>().ok().filter(|number| (1..=most).contains(number)).ok_or(NoMode)
        };
        let (size, hz) = word.split_once('@').unwrap_or((word, "60"));
        let (width, height) = size.split_once('x').ok_or(NoMode)?;
        Ok(Mode {
            width: number(width, Mode::MAX_EXTENT)?,
            height: number(height, Mode::MAX_EXTENT)?,
            hz: number(hz, Mode::MAX_HZ)?,
        })
    }
}

/// The device that a word means: `GT1`, `GT2`, `GT3`, or a PCI id in hexadecimal.
pub fn device(word: &str) -> Option<u32> {
    match word.to_ascii_lowercase().as_str() {
        "gt1" => Some(0x1606),
        "gt2" => Some(0x1616),
        "gt3" => Some(0x1626),
        hex => {
            let id = u32::from_str_radix(hex.trim_start_matches("0x"), 16).ok()?;
            Topology::of(id).map(|_| id)
        }
    }
}

impl Config {
    /// The options as `variable` has them, and what is wrong with them. Without `GENX_SHIM_THREADS`
    /// all cores work.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> (Config, Vec<String>) {
        let mut wrong = Vec::new();
        let mut config = Config::default();
        let variable =
            |name: &str| variable(&format!("GENX_SHIM_{name}")).filter(|value| !value.is_empty());
        let flag = |name| variable(name).is_some_and(|value| value != "0");
        let path = |name| variable(name).map(PathBuf::from);
        if let Some(word) = variable("DEVICE") {
            match device(&word) {
                Some(id) => config.device = id,
                None => wrong.push(format!(
                    "GENX_SHIM_DEVICE={word} is no Broadwell: GT1, GT2, GT3, or a PCI id from 0x1602 to 0x162e"
                )),
            }
        }
        if let Some(word) = variable("MODE") {
            match word.parse() {
                Ok(mode) => config.mode = Some(mode),
                Err(NoMode) => wrong.push(format!(
                    "GENX_SHIM_MODE={word} is no mode: WIDTHxHEIGHT or WIDTHxHEIGHT@HZ, up to {0}x{0}@{1}",
                    Mode::MAX_EXTENT,
                    Mode::MAX_HZ
                )),
            }
        }
        config.threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut number = |name: &str| {
            let word = variable(name)?;
            let number = word.parse::<u64>().ok().filter(|number| *number > 0);
            if number.is_none() {
                wrong.push(format!("GENX_SHIM_{name}={word} is no number from 1 on"));
            }
            number
        };
        if let Some(threads) = number("THREADS") {
            config.threads = threads.min(256) as usize;
        }
        if let Some(limit) = number("WORK_LIMIT") {
            config.work_limit = limit;
        }
        config.capture = path("CAPTURE");
        config.trace = path("TRACE");
        config.frames = path("FRAMES");
        config.check = flag("CHECK");
        config.stats = flag("STATS");
        config.log = flag("LOG");
        config.ignore_faults = flag("IGNORE_FAULTS");
        config.asynchronous = flag("ASYNC");
        if let Some(errors) = path("ERRORS") {
            config.errors = errors;
        }
        (config, wrong)
    }

    /// What the device is made of.
    pub fn topology(&self) -> Topology {
        Topology::of(self.device).unwrap_or(Topology::GT2)
    }
}

/// Slices, subslices and execution units. (Linux intel_sseu.c, bdw_sseu_info_init)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Topology {
    /// Slices.
    pub slices: u32,
    /// Subslices of each.
    pub subslices: u32,
    /// Execution units of each.
    pub eus: u32,
    /// Video engines.
    pub videos: u32,
}

impl Topology {
    /// Most slices of any Broadwell.
    pub const MAX_SLICES: u32 = 3;
    /// Most subslices of a slice.
    pub const MAX_SUBSLICES: u32 = 3;
    /// Most execution units of a subslice.
    pub const MAX_EUS: u32 = 8;

    const GT2: Topology = Topology { slices: 1, subslices: 3, eus: 8, videos: 1 };

    /// Of a PCI device id: its second digit from the right of the family (`0x16_Gx`) tells the
    /// size.
    pub const fn of(id: u32) -> Option<Topology> {
        match id {
            0x1602..=0x160f => Some(Topology { slices: 1, subslices: 2, eus: 6, videos: 1 }),
            0x1612..=0x161f => Some(Topology::GT2),
            0x1622..=0x162f => Some(Topology { slices: 2, subslices: 3, eus: 8, videos: 2 }),
            _ => None,
        }
    }

    /// All execution units.
    pub const fn all_eus(self) -> u32 {
        self.slices * self.subslices * self.eus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        let set = [
            ("GENX_SHIM_DEVICE", "gt3"),
            ("GENX_SHIM_THREADS", "none"),
            ("GENX_SHIM_WORK_LIMIT", "77"),
            ("GENX_SHIM_CHECK", "0"),
            ("GENX_SHIM_STATS", "1"),
        ];
        let find = |name: &str| Some(set.iter().find(|(known, _)| *known == name)?.1.to_owned());
        let (config, wrong) = Config::new(find);
        assert_eq!((config.device, config.work_limit), (0x1626, 77));
        assert_eq!((config.check, config.stats), (false, true));
        assert_eq!(wrong, ["GENX_SHIM_THREADS=none is no number from 1 on"]);
        assert_eq!("320x240".parse(), Ok(Mode { width: 320, height: 240, hz: 60 }));
        assert_eq!("8192x1@144".parse(), Ok(Mode { width: 8192, height: 1, hz: 144 }));
        for wrong in [
            "",
            "320",
            "320x",
            "0x240",
            "320x240@",
            "320x240@0",
            "8193x1",
            "1x70000",
            "-1x1",
            "1x1x1",
        ] {
            assert_eq!(wrong.parse::<Mode>(), Err(NoMode), "{wrong}");
        }
        assert_eq!((device("0x1606"), device("0x9a49"), device("x")), (Some(0x1606), None, None));
    }
}
