//! `genx shim`: runs a command with the model as its GPU.

use crate::output::{Error, Exit, bad_input, stdout};
use crate::sanitizer;
use genxml::error_state::Platform;
use genxml_sim::inspect::trace::Counter;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that replaces the kernel driver.
const LIBRARY: &str = "libgenxml_drm_shim.so";

/// Run a command with the model as its GPU.
///
/// Unmodified drivers (Mesa's iris, crocus and hasvk, Intel's OpenCL driver NEO, the VA-API drivers
/// iHD and i965) find a Broadwell. They draw, compute, decode video (AVC, MPEG-2, JPEG, VP8; with
/// i965 also VC-1) and encode video (AVC, MPEG-2) on it.
///
/// With `--device g45` or `--device gm45` they find a G45 (Gen4.5) or its mobile variant. Mesa's
/// crocus draws on it with OpenGL 2.1 and OpenGL ES 2.0.
///
/// A library is preloaded into the command and its child processes. It replaces the libc functions
/// that open and use the device. This needs no kernel module, device file or privilege. Programs
/// that call the kernel without libc (static programs, Go programs) do not see the device.
///
/// The environment of the command also selects drivers. VK_ICD_FILENAMES is set to hasvk, if hasvk
/// is installed and neither VK_ICD_FILENAMES nor VK_DRIVER_FILES is set. LIBVA_DRIVER_NAME is set
/// to i965, if it is not set.
///
/// A GPU fault, a hang, or something that the model does not implement ends the submission. The
/// client gets the error that the kernel driver would report, and can continue. A line on standard
/// error gives the reason, and an error state for `genx decode` is written to the directory of
/// --errors. Only the first four faults of a process are reported.
///
/// Exit code: that of the command; 2 if the command cannot be started. With --doctor: 0 if the
/// library and at least one driver are found, otherwise 1.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx shim -- vulkaninfo --summary
  genx shim -- eglinfo -B
  genx shim --capture out -- kmscube -c 10     then: genx decode out/kmscube.*
  genx shim --mode 320x240 --frames out -- kmscube -c 10     pictures in out/kmscube.*/frame*.png
  genx shim --check -- clinfo                  check every batch with the rules engine
  genx shim --sanitize flush -- kmscube -c 10  data that passes caches without a flush
  genx shim --device GT3 --stats -- ./compute
  genx shim --device g45 -- eglinfo -B         crocus, OpenGL 2.1
  genx shim -- env LIBVA_DRIVER_NAME=iHD ffmpeg -hwaccel vaapi \\
      -hwaccel_device /dev/dri/renderD128 -i x.mp4 -f framemd5 -     decode video
  genx shim --doctor                           list the installed drivers")]
pub struct Args {
    /// GT1, GT2, GT3, G45, GM45, or the PCI id of a Broadwell or G45 in hexadecimal. Default:
    /// 0x1616, a GT2
    #[arg(long, value_name = "ID", value_parser = device)]
    device: Option<String>,
    /// The preferred display mode, up to 8192x8192@1000; no mode of the display is larger. Without
    /// this option, the preferred mode is 1024x768@60, and larger modes exist
    #[arg(long, value_name = "WIDTHxHEIGHT[@HZ]", value_parser = mode)]
    mode: Option<String>,
    /// Write the submissions of each process to the capture DIR/PROGRAM.PID, again and again while
    /// it runs and when it ends. If a signal ends it, the last submissions may be missing
    #[arg(long, value_name = "DIR")]
    capture: Option<PathBuf>,
    /// Write a picture after each mode set and page flip, to DIR/PROGRAM.PID/frameNUMBER-crtcID.png
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,
    /// Check every batch against the programming restrictions of the manual. Print the first three
    /// findings of each rule to standard error, and the number of findings at the end
    #[arg(long)]
    check: bool,
    /// Find mistakes that the model does not feel: LIST has names separated by commas. Print the
    /// first three findings of each rule to standard error, and the number of findings at the end
    ///
    /// flush: data that passes from cache to cache without the flush or invalidation that it needs.
    /// race: threads that access the same bytes without order. bounds: accesses beyond surfaces,
    /// constants and tables. uninit: registers that are used before anything wrote them. state:
    /// draws that use state which nothing set, or a stale pointer. `genx run --help` says more.
    ///
    /// The model is slower, and uses one host thread. Only for Broadwell.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = sanitizer::name)]
    sanitize: Vec<&'static str>,
    /// Print counts of packets and kernels, and the time of the model, to standard error at the end
    #[arg(long)]
    stats: bool,
    /// Write a trace of batches and packets for Perfetto to FILE, or to FILE.PROGRAM.PID if FILE
    /// exists
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Also write the time of this machine to the trace, as `genx run --trace-host`
    #[arg(long, requires = "trace")]
    trace_host: bool,
    /// Also write counters to the trace: overdraw, lines, occupancy, messages. Names are separated
    /// by commas; `genx run --help` says what they count. The model is slower, and uses one host
    /// thread
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "trace")]
    trace_counters: Vec<Counter>,
    /// Print each call to the device to standard error
    #[arg(long)]
    log: bool,
    /// Number of host threads. Default: all cores. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Option<u32>,
    /// Maximum work of a submission; with more, it is a hang. An EU instruction is 16 units, a
    /// packet 32, a shaded pixel 64; a unit is about a nanosecond of the model's time. Default:
    /// 68719476736
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    work_limit: Option<u64>,
    /// Directory for error states. Default: the temporary directory
    #[arg(long, value_name = "DIR")]
    errors: Option<PathBuf>,
    /// Report success to the client after a fault, so that it continues and further faults are
    /// found
    #[arg(long)]
    ignore_faults: bool,
    /// What the GPU's clock (TIMESTAMP) counts: "work", the model's work, which is the same in each
    /// run, or "wall", the time of this machine. Default: work
    #[arg(long, value_name = "CLOCK", value_parser = ["work", "wall"])]
    clock: Option<String>,
    /// Let clients continue while the model works, as on hardware. Without this option, each
    /// submission completes before the client continues, unless it waits for the client
    #[arg(long = "async")]
    asynchronous: bool,
    /// Print whether the library is found and which drivers are installed, and exit
    #[arg(long, conflicts_with = "command")]
    doctor: bool,
    /// The command and its arguments
    #[arg(last = true, required_unless_present = "doctor", value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Checks a device name or id for the library.
fn device(word: &str) -> Result<String, String> {
    let names = ["gt1", "gt2", "gt3", "g45", "gm45"];
    let is_name = names.contains(&word.to_ascii_lowercase().as_str());
    let id = u32::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    match id.and_then(Platform::of_pci_id) {
        _ if is_name => Ok(word.to_owned()),
        // All Broadwells that were sold have names that start with GT.
        Some(platform) if platform.device.starts_with("GT") => Ok(word.to_owned()),
        Some(platform) if platform.generation == 45 => Ok(word.to_owned()),
        _ => Err("use GT1, GT2, GT3, G45, GM45, or the PCI id of a Broadwell or G45 in \
                  hexadecimal, for example 0x1616"
            .into()),
    }
}

/// Checks a display mode for the library.
fn mode(word: &str) -> Result<String, String> {
    let numbers = |word: &str| {
        let (size, hz) = word.split_once('@').unwrap_or((word, "60"));
        let (width, height) = size.split_once('x')?;
        let [width, height, hz] = [width, height, hz].map(|number| number.parse::<u16>().ok());
        Some([width?, height?, hz?])
    };
    match numbers(word) {
        Some([1..=8192, 1..=8192, 1..=1000]) => Ok(word.to_owned()),
        _ => {
            Err("use WIDTHxHEIGHT or WIDTHxHEIGHT@HZ, for example 320x240@60, up to 8192x8192@1000"
                .into())
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let library = library();
    if args.doctor {
        return doctor(library.as_deref());
    }
    let library = library.ok_or_else(|| bad_input(missing_library()))?;
    let Some((program, rest)) = args.command.split_first() else {
        return Err(bad_input("no command is given"));
    };
    let mut command = Command::new(program);
    command.args(rest);
    let mut preload = preloadable(library)?.into_os_string();
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    command.env("LD_PRELOAD", preload);
    options(args, &mut command)?;
    drivers(&mut command);
    let error = become_command(&mut command);
    Err(bad_input(format!("cannot run {}: {error}", Path::new(program).display())))
}

/// The absolute path of the library, because the command may change its directory. LD_PRELOAD
/// cannot contain names with a space or a colon.
fn preloadable(library: PathBuf) -> Result<PathBuf, Error> {
    let library = library
        .canonicalize()
        .map_err(|error| bad_input(format!("cannot preload {}: {error}", library.display())))?;
    if library.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        return Err(bad_input(format!(
            "cannot preload {}: its path has a space or a colon, which separate names in LD_PRELOAD; \
             copy it to another directory and set GENX_SHIM_LIBRARY to its path",
            library.display()
        )));
    }
    Ok(library)
}

/// Replaces this process by the command, so that signals and waits of other processes reach the
/// command. Returns only on an error.
#[cfg(unix)]
fn become_command(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn become_command(_: &mut Command) -> std::io::Error {
    std::io::ErrorKind::Unsupported.into()
}

/// Passes the options to the library as environment variables.
fn options(args: &Args, command: &mut Command) -> Result<(), Error> {
    if let Some(device) = &args.device {
        command.env("GENX_SHIM_DEVICE", device);
    }
    if let Some(mode) = &args.mode {
        command.env("GENX_SHIM_MODE", mode);
    }
    if let Some(clock) = &args.clock {
        command.env("GENX_SHIM_CLOCK", clock);
    }
    for (option, path) in
        [("--capture", &args.capture), ("--frames", &args.frames), ("--errors", &args.errors)]
    {
        path.as_deref().map_or(Ok(()), |path| directory(option, path))?;
    }
    // The command may change its directory.
    let whole = |path: &Path| {
        std::path::absolute(path).map_err(|error| bad_input(format!("{}: {error}", path.display())))
    };
    for (name, path) in [
        ("GENX_SHIM_CAPTURE", &args.capture),
        ("GENX_SHIM_TRACE", &args.trace),
        ("GENX_SHIM_FRAMES", &args.frames),
        ("GENX_SHIM_ERRORS", &args.errors),
    ] {
        if let Some(path) = path {
            command.env(name, whole(path)?);
        }
    }
    for (name, is_set) in [
        ("GENX_SHIM_CHECK", args.check),
        ("GENX_SHIM_STATS", args.stats),
        ("GENX_SHIM_TRACE_HOST", args.trace_host),
        ("GENX_SHIM_LOG", args.log),
        ("GENX_SHIM_IGNORE_FAULTS", args.ignore_faults),
        ("GENX_SHIM_ASYNC", args.asynchronous),
    ] {
        if is_set {
            command.env(name, "1");
        }
    }
    if !args.trace_counters.is_empty() {
        let names: Vec<&str> = args.trace_counters.iter().map(|counter| counter.name()).collect();
        command.env("GENX_SHIM_TRACE_COUNTERS", names.join(","));
    }
    if !args.sanitize.is_empty() {
        command.env("GENX_SHIM_SANITIZE", args.sanitize.join(","));
    }
    if let Some(threads) = args.threads {
        command.env("GENX_SHIM_THREADS", threads.to_string());
    }
    if let Some(limit) = args.work_limit {
        command.env("GENX_SHIM_WORK_LIMIT", limit.to_string());
    }
    Ok(())
}

/// Creates the directory of an option. The library creates directories in it when the command ends,
/// which is too late for an error.
fn directory(option: &str, path: &Path) -> Result<(), Error> {
    match std::fs::create_dir_all(path) {
        Ok(()) => Ok(()),
        Err(_) if path.exists() && !path.is_dir() => Err(bad_input(format!(
            "{option} {}: not a directory; give a directory, which may be new",
            path.display()
        ))),
        Err(error) => Err(bad_input(format!(
            "{option} {}: the directory cannot be created: {error}",
            path.display()
        ))),
    }
}

/// Selects drivers that support Broadwell, unless the user's environment selects drivers.
fn drivers(command: &mut Command) {
    let mut set = |name: &str, value: &Path| {
        if env::var_os(name).is_none() {
            command.env(name, value);
        }
    };
    if let Some(icd) = vulkan_icd()
        && env::var_os("VK_DRIVER_FILES").is_none()
    {
        set("VK_ICD_FILENAMES", &icd);
    }
    set("LIBVA_DRIVER_NAME", Path::new("i965"));
}

/// The file by which Vulkan's loader finds hasvk. In newer Mesa versions, anv does not support
/// Broadwell.
fn vulkan_icd() -> Option<PathBuf> {
    let directory = Path::new("/usr/share/vulkan/icd.d");
    let mut files: Vec<PathBuf> =
        directory.read_dir().ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let named = |file: &PathBuf, start: &str| {
        file.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(start) && name.contains(env::consts::ARCH))
    };
    files.into_iter().find(|file| named(file, "intel_hasvk_icd"))
}

/// Finds the library: at GENX_SHIM_LIBRARY if it is set; otherwise in the folder of this
/// executable, or in `deps`, `../lib` or `../lib/genx` relative to this folder.
fn library() -> Option<PathBuf> {
    if let Some(path) = env::var_os("GENX_SHIM_LIBRARY") {
        return Some(PathBuf::from(path)).filter(|path| path.is_file());
    }
    let executable = env::current_exe().ok()?;
    let here = executable.parent()?;
    let places =
        [here.to_owned(), here.join("deps"), here.join("../lib"), here.join("../lib/genx")];
    let found = places.into_iter().map(|place| place.join(LIBRARY)).find(|path| path.is_file())?;
    found.canonicalize().ok()
}

fn missing_library() -> String {
    match env::var_os("GENX_SHIM_LIBRARY") {
        Some(path) => format!("GENX_SHIM_LIBRARY={} is not a file", Path::new(&path).display()),
        None => format!(
            "{LIBRARY} is not beside this executable: build it with `cargo build --release -p \
             genxml-drm-shim`, or set GENX_SHIM_LIBRARY to its path"
        ),
    }
}

/// A driver: its API, its files, and its Debian package.
struct Driver {
    name: &'static str,
    api: &'static str,
    files: &'static [&'static str],
    package: &'static str,
    /// A command that uses the driver.
    hint: &'static str,
    /// A hint for users; empty if there is none.
    note: &'static str,
}

/// Drivers that support Broadwell, as tested on Debian 12.
const DRIVERS: [Driver; 6] = [
    Driver {
        name: "iris",
        api: "OpenGL, OpenGL ES, EGL",
        files: &["dri/iris_dri.so"],
        package: "libgl1-mesa-dri",
        hint: "eglinfo -B",
        note: "its shader cache stays after the run: MESA_SHADER_CACHE_DISABLE=true turns it off",
    },
    Driver {
        name: "crocus",
        api: "OpenGL, OpenGL ES, EGL",
        files: &["dri/crocus_dri.so"],
        package: "libgl1-mesa-dri",
        hint: "env CROCUS_GEN8=1 MESA_LOADER_DRIVER_OVERRIDE=crocus eglinfo -B",
        note: "",
    },
    Driver {
        name: "hasvk",
        api: "Vulkan",
        files: &["libvulkan_intel_hasvk.so"],
        package: "mesa-vulkan-drivers",
        hint: "vulkaninfo --summary",
        note: "",
    },
    Driver {
        name: "NEO",
        api: "OpenCL",
        files: &["intel-opencl/libigdrcl.so"],
        package: "intel-opencl-icd",
        hint: "clinfo",
        note: "",
    },
    Driver {
        name: "iHD",
        api: "VA-API",
        files: &["dri/iHD_drv_video.so"],
        package: "intel-media-va-driver",
        hint: "env LIBVA_DRIVER_NAME=iHD vainfo --display drm --device /dev/dri/renderD128",
        note: "",
    },
    Driver {
        name: "i965-va",
        api: "VA-API",
        files: &["dri/i965_drv_video.so"],
        package: "i965-va-driver",
        hint: "env LIBVA_DRIVER_NAME=i965 vainfo --display drm --device /dev/dri/renderD128",
        note: "it reads decoded pictures back only with the package i965-va-driver-shaders \
               (non-free); without it, vaGetImage returns \"not implemented\"",
    },
];

/// Prints the library and the installed drivers.
fn doctor(library: Option<&Path>) -> Result<Exit, Error> {
    let directories = [
        format!("/usr/lib/{}-linux-gnu", env::consts::ARCH),
        "/usr/lib64".to_owned(),
        "/usr/lib".to_owned(),
        "/usr/local/lib".to_owned(),
    ];
    let find = |file: &str| {
        directories.iter().map(|at| Path::new(at).join(file)).find(|path| path.exists())
    };
    let linux = cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"));
    let mut usable = linux && library.is_some();
    stdout(|out| {
        match library {
            Some(path) => writeln!(out, "library   {}", path.display())?,
            None => writeln!(out, "library   missing: {}", missing_library())?,
        }
        if !linux {
            writeln!(out, "system    not supported: Linux on 64-bit machines with glibc only")?;
        }
        let mut any = false;
        for driver in &DRIVERS {
            let found = driver.files.iter().find_map(|file| find(file));
            any |= found.is_some();
            match found {
                Some(path) => {
                    writeln!(out, "{:<9} {}: {}", driver.name, driver.api, path.display())?;
                    writeln!(out, "          try: genx shim -- {}", driver.hint)?;
                    if !driver.note.is_empty() {
                        writeln!(out, "          note: {}", driver.note)?;
                    }
                }
                None => writeln!(
                    out,
                    "{:<9} {}: not installed (Debian: {})",
                    driver.name, driver.api, driver.package
                )?,
            }
        }
        usable &= any;
        Ok(())
    })?;
    Ok(if usable { Exit::Ok } else { Exit::Differs })
}
