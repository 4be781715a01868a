//! Options from the environment (`GENX_SHIM_*`): which GPU the device is, limits, and which reports
//! are written.

mod chip;

pub use chip::Chip;

use genxml::eu::Generation as EuGeneration;
use genxml_sim::gpu::Generation;
use genxml_sim::inspect::sanitize;
use genxml_sim::inspect::trace::Counter;
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;

/// Default of [`Config::work_limit`]: about a minute of the model's own time.
const WORK_LIMIT: u64 = 1 << 36;

/// The options.
#[derive(Clone, Debug)]
pub struct Config {
    /// PCI device id.
    pub device: u32,
    /// Number of host threads that the model uses.
    pub threads: usize,
    /// Units of work after which a submission counts as a hang.
    pub work_limit: u64,
    /// Preferred and largest display mode; `None` for the default monitor.
    pub mode: Option<Mode>,
    /// Directory for captures, with a subdirectory for each process; `None` for no captures.
    pub capture: Option<PathBuf>,
    /// True to check every batch with the rules engine.
    pub check: bool,
    /// Names of the sanitizers that observe every batch.
    pub sanitize: Vec<&'static str>,
    /// True to print statistics when the process ends.
    pub stats: bool,
    /// True to print each ioctl.
    pub log: bool,
    /// File for a trace (Perfetto), if one is wanted.
    pub trace: Option<PathBuf>,
    /// True to write the time of the host to the trace.
    pub trace_host: bool,
    /// Counters of the trace.
    pub trace_counters: Vec<Counter>,
    /// Directory for displayed images, with a subdirectory for each process; `None` for no images.
    pub frames: Option<PathBuf>,
    /// Directory for error states.
    pub errors: PathBuf,
    /// True to report success to the client after a fault.
    pub ignore_faults: bool,
    /// True if the GPU's clock follows the time of the machine; false if it counts only the model's
    /// work, which is the same in each run.
    pub wall_clock: bool,
    /// True if clients continue while their work runs, and wait for fences.
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
            sanitize: Vec::new(),
            stats: false,
            log: false,
            trace: None,
            trace_host: false,
            trace_counters: Vec::new(),
            frames: None,
            errors: std::env::temp_dir(),
            ignore_faults: false,
            wall_clock: false,
            asynchronous: false,
        }
    }
}

/// A display mode: size and refresh rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// Refresh rate in Hz.
    pub hz: u16,
}

impl Mode {
    /// Largest width and height.
    pub const MAX_EXTENT: u16 = 8192;
    /// Largest refresh rate.
    pub const MAX_HZ: u16 = 1000;
}

/// The error for a text that is not a display mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoMode;

impl FromStr for Mode {
    type Err = NoMode;

    /// Parses `WIDTHxHEIGHT`, with 60 Hz, or `WIDTHxHEIGHT@HZ`.
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

/// The PCI id that `word` names: `GT1`, `GT2`, `GT3`, `G45`, `GM45`, or a PCI id in hexadecimal.
/// `None` if `word` names neither a Broadwell nor a G45.
pub fn device(word: &str) -> Option<u32> {
    match word.to_ascii_lowercase().as_str() {
        "gt1" => Some(0x1606),
        "gt2" => Some(0x1616),
        "gt3" => Some(0x1626),
        "g45" => Some(0x2e22),
        "gm45" => Some(0x2a42),
        hex => {
            let id = u32::from_str_radix(hex.trim_start_matches("0x"), 16).ok()?;
            Chip::of(id).map(|_| id)
        }
    }
}

impl Config {
    /// True if something is written when the process ends.
    pub fn reports_at_end(&self) -> bool {
        self.capture.is_some()
            || self.trace.is_some()
            || self.check
            || self.stats
            || !self.sanitize.is_empty()
    }

    /// Reads the options. `variable` returns the value of an environment variable. Also returns
    /// messages about invalid values. Without a valid `GENX_SHIM_THREADS`, all cores are used.
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
                    "GENX_SHIM_DEVICE={word} is neither a Broadwell nor a G45: use GT1, GT2, GT3, \
                     G45, GM45, or a PCI id such as 0x1616"
                )),
            }
        }
        if let Some(word) = variable("MODE") {
            match word.parse() {
                Ok(mode) => config.mode = Some(mode),
                Err(NoMode) => wrong.push(format!(
                    "GENX_SHIM_MODE={word} is not a display mode: use WIDTHxHEIGHT or \
                     WIDTHxHEIGHT@HZ, up to {0}x{0}@{1}",
                    Mode::MAX_EXTENT,
                    Mode::MAX_HZ
                )),
            }
        }
        match variable("CLOCK").as_deref() {
            None | Some("work") => {}
            Some("wall") => config.wall_clock = true,
            Some(word) => {
                wrong.push(format!("GENX_SHIM_CLOCK={word} is not a clock: use work or wall"));
            }
        }
        for name in variable("SANITIZE").iter().flat_map(|names| names.split(',')) {
            match sanitize::row(name) {
                Ok(row) if row.generations.contains(&config.generation()) => {
                    config.sanitize.push(row.name);
                }
                Ok(row) => wrong.push(format!(
                    "GENX_SHIM_SANITIZE={}: the sanitizer has no rules for this device",
                    row.name
                )),
                Err(unknown) => wrong.push(format!("GENX_SHIM_SANITIZE: {unknown}")),
            }
        }
        for name in variable("TRACE_COUNTERS").iter().flat_map(|names| names.split(',')) {
            match name.parse::<Counter>() {
                Ok(counter) if counter.is_for(config.generation()) => {
                    config.trace_counters.push(counter);
                }
                Ok(_) => wrong.push(format!(
                    "GENX_SHIM_TRACE_COUNTERS={name}: the counter does not exist for this device"
                )),
                Err(unknown) => wrong.push(format!("GENX_SHIM_TRACE_COUNTERS: {unknown}")),
            }
        }
        config.threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut number = |name: &str| {
            let word = variable(name)?;
            let number = word.parse::<u64>().ok().filter(|number| *number > 0);
            if number.is_none() {
                wrong.push(format!("GENX_SHIM_{name}={word} is not a number: use 1 or more"));
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
        config.trace_host = flag("TRACE_HOST");
        config.log = flag("LOG");
        config.ignore_faults = flag("IGNORE_FAULTS");
        config.asynchronous = flag("ASYNC");
        if let Some(errors) = path("ERRORS") {
            config.errors = errors;
        }
        (config, wrong)
    }

    /// The generation of the device's execution units.
    pub fn generation(&self) -> EuGeneration {
        match self.chip().generation {
            Generation::Gen8 => EuGeneration::Gen8,
            _ => EuGeneration::Gen45,
        }
    }

    /// What the kind of device decides.
    pub fn chip(&self) -> Chip {
        Chip::of(self.device).unwrap_or_default()
    }

    /// Numbers of slices, subslices, execution units and video engines.
    pub fn topology(&self) -> Topology {
        match Topology::of(self.device) {
            Some(topology) => topology,
            None if self.chip().has_ppgtt => Topology::GT2,
            None => Topology::G45,
        }
    }
}

/// Numbers of slices, subslices, execution units and video engines. (Linux intel_sseu.c,
/// bdw_sseu_info_init)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Topology {
    /// Slices.
    pub slices: u32,
    /// Subslices per slice.
    pub subslices: u32,
    /// Execution units per subslice.
    pub eus: u32,
    /// Number of video engines.
    pub videos: u32,
}

impl Topology {
    /// Maximum number of slices in the kernel's topology of a Broadwell.
    pub const MAX_SLICES: u32 = 3;
    /// Maximum number of subslices per slice in the kernel's topology of a Broadwell.
    pub const MAX_SUBSLICES: u32 = 3;
    /// Maximum number of execution units per subslice in the kernel's topology of a Broadwell.
    pub const MAX_EUS: u32 = 8;

    const GT2: Topology = Topology { slices: 1, subslices: 3, eus: 8, videos: 1 };

    /// The kernel reports no topology for a G45, which has ten execution units.
    const G45: Topology = Topology { slices: 1, subslices: 1, eus: 10, videos: 1 };

    /// The topology of a PCI id: bits 7:4 are 0 for GT1, 1 for GT2, 2 for GT3. `None` if the id is
    /// not that of a Broadwell.
    pub const fn of(id: u32) -> Option<Topology> {
        match id {
            0x1602..=0x160f => Some(Topology { slices: 1, subslices: 2, eus: 6, videos: 1 }),
            0x1612..=0x161f => Some(Topology::GT2),
            0x1622..=0x162f => Some(Topology { slices: 2, subslices: 3, eus: 8, videos: 2 }),
            _ => None,
        }
    }

    /// Number of all execution units.
    pub const fn all_eus(self) -> u32 {
        self.slices * self.subslices * self.eus
    }
}

#[cfg(test)]
mod tests;
