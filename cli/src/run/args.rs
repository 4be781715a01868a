//! The options of `genx run`.

use crate::sanitizer;
use genxml_sim::Gpu;
use genxml_sim::inspect::trace::Counter;
use std::num::NonZero;
use std::path::PathBuf;

/// Execute a capture on the model and compare memory with what the capture expects, or execute an
/// AUB file.
///
/// A capture is a directory with submissions, memory, and expectations: contents that memory must
/// have after a submission. A fault or hang ends the run. The printed number of submissions counts
/// only those that completed. In JSON, an expectation that was not reached has `"ok": null`. If a
/// part of an AUB file cannot be read, everything before that part runs. Values of registers and
/// memory that an AUB file states are compared, too. An AUB file without any work is an error.
///
/// Results do not depend on the number of host threads. With --stats, --observe or a trace, thread
/// groups and screen tiles run one after the other.
///
/// Exit code: 0 success; 1 an expectation differs, or --check or --sanitize finds an error; 2
/// unusable input; 3 a GPU fault, a hang, or something that the model does not implement.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx run captures/gpgpu_fill
  genx run captures/gpgpu_fill --dump out --stats
  genx run captures/gpgpu_fill --json | jq .expectations
  genx run captures/gpgpu_fill --trace fill.json      open it in ui.perfetto.dev
  genx run captures/kmscube --trace t.json --trace-counters overdraw,lines --trace-host
  genx run captures/kmscube --observe draw --dump out   each draw, with its targets before and after
  genx run captures/video --observe frame --dump out    each decoded or encoded picture, as text, PNG, YUV
  genx run captures/kmscube --sanitize flush          data that passes caches without a flush
  genx run captures/cl_vadd --sanitize race,bounds    races of threads, and accesses beyond bounds
  genx run captures/hang --error-state hang.error     write the state after a hang, for genx decode
  genx run saxpy.aub.xz --stats                       a recording of intel_dump_gpu or NEO")]
pub struct Args {
    /// A capture directory (with manifest.json and data.bin.zst), an AUB file, plain or compressed
    /// (xz, gzip, zstd), or - for an AUB file from standard input
    pub(super) input: PathBuf,
    /// Before the run, also check the capture against the programming restrictions of the manual,
    /// as `genx check` does. Not for AUB files
    #[arg(long)]
    pub(super) check: bool,
    /// Find mistakes that the model does not feel: LIST has names separated by commas
    ///
    /// flush: data that passes from cache to cache without the flush or invalidation that it needs.
    /// Each finding has the access that wrote, the access that read or wrote later, the rule and
    /// its source.
    ///
    /// race: threads of one walker or draw that access the same bytes without a barrier, atomic
    /// operations or a fence, and one writes: shared local memory, memory, render targets.
    ///
    /// bounds: accesses beyond surfaces, shared local memory, loaded constants, binding tables,
    /// dynamic state, and the objects of the capture.
    ///
    /// uninit: registers and shared local memory that decide about control flow, an address or
    /// output before anything wrote them.
    ///
    /// state: draws and dispatches that use state which no packet of the context has set, pointers
    /// relative to a base address that has changed, and structures with reserved values.
    ///
    /// The run is slower, and uses one host thread. Only for Gen8.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = sanitizer::name)]
    pub(super) sanitize: Vec<&'static str>,
    /// Write files to DIR: the memory of each expectation as NAME.bin, each displayed frame of a
    /// capture as frameN.png, with --observe draw the targets of draws as pictures, and with
    /// --observe frame the frames of decoded and encoded video
    ///
    /// The pictures before and after draw N are DIR/drawN-before-rt0.png, DIR/drawN-after-rt0.png
    /// and so on for each render target. If the draw has depth or stencil tests, there are also
    /// drawN-...-depth.png and drawN-...-stencil.png. A picture shows the level and the first slice
    /// that the draw writes to, sample 0, without alpha. Blocks of a fast clear have the clear
    /// colour. In a picture of depths, 1 is white. The other depths are grey: the smallest is
    /// black, the greatest is light grey.
    ///
    /// Picture N that the video engine decoded, or that its encoder reconstructed, is
    /// DIR/pictureN.png, in colours of BT.601, and DIR/pictureN.yuv: the samples of its planes Y,
    /// Cb and Cr in turn, in whole macroblocks. If it is a field, the files have both fields of its
    /// frame.
    ///
    /// The values that an AUB file states have no names, and it has no frames, so --dump needs
    /// --observe for it.
    #[arg(long, value_name = "DIR")]
    pub(super) dump: Option<PathBuf>,
    /// After a fault or hang, write an i915 error state to FILE: registers, ring, batch and all
    /// memory of the context. It is compressed if the name ends in .gz, .xz or .zst
    #[arg(long, value_name = "FILE")]
    pub(super) error_state: Option<PathBuf>,
    /// Print a paragraph for each draw or picture of the video engine; with --json, an
    /// object in `draws` or `frames`
    ///
    /// Members of a draw: draw, submission (both from 1 on), address, batch, topology,
    /// vertices, start_vertex, base_vertex, instances, start_instance, indirect, indices (format,
    /// address, bytes; null if the draw has no indices), shaders (stage, kernels: dispatch, offset,
    /// address), stream_output, rasterised, targets (binding, format, width, height, level,
    /// first_slice, samples, tiling, pitch, address, auxiliary, blend), more_targets (true if the
    /// kernel computes the numbers of further targets), depth and stencil (null if there is no
    /// such buffer), samples, cull, viewports, scissors, counts (null if a fault ended the draw; a
    /// count is null if its counter is off), pictures, problems.
    ///
    /// Members of a frame: frame, submission (both from 1 on), address and packet (of the last
    /// slice), codec, type (I, P, B or BI), rows (frame, top field or bottom field), width, height
    /// (in macroblocks, of the frame), slices, bytes, references (index and address), before and
    /// after (address of the picture before and after deblocking; null if it is not written),
    /// macroblocks, concealed, picture and samples (files of --dump; null without). A JPEG picture of
    /// several scans is one frame for each scan. A picture of the encoder has the packet of the last
    /// macroblock.
    #[arg(long, value_name = "WHAT")]
    pub(super) observe: Option<Observed>,
    /// Print tables by engine, kind of packet, kernel, kind of message and video standard
    #[arg(long)]
    pub(super) stats: bool,
    /// Write a trace for Perfetto (ui.perfetto.dev) to FILE: batches, packets and thread groups by
    /// engine, in the model's time
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Also write the time of this machine to the trace, to see where the model spends it
    ///
    /// The trace gets a second process, "host time", with the same slices at times of this machine.
    /// In both processes, the arguments of a slice have its duration in the other time, and the CPU
    /// time. Two runs write different traces. Events and counters take time too, so compare slices
    /// of one trace only.
    #[arg(long, requires = "trace")]
    pub(super) trace_host: bool,
    /// Also write counters to the trace: LIST has names separated by commas
    ///
    /// A counter has a value for each packet. The value holds from the start of the packet to the
    /// start of the next one.
    ///
    /// overdraw: how often a pixel is shaded, on average over the shaded pixels. It is 1 if each
    /// pixel is shaded once. "draw" counts one draw, "submission" all draws of the submission to
    /// the same target so far. Only for Broadwell.
    ///
    /// lines: different cache lines of 64 bytes that a packet and its threads read and write, by
    /// client: vertex fetch, sampler, render target and others. The model has no caches, so a line
    /// counts once for each packet.
    ///
    /// occupancy: enabled channels of the executed EU instructions, in per cent of all channels of
    /// these instructions. It is below 100 with branches, partly covered subspans and predicates.
    /// Also the number of threads.
    ///
    /// messages: messages of threads by shared function.
    ///
    /// lines and occupancy make the run much slower.
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "trace")]
    pub(super) trace_counters: Vec<Counter>,
    /// Write one line per packet and thread to FILE
    #[arg(long, value_name = "FILE")]
    pub(super) trace_text: Option<PathBuf>,
    /// Also write one line per EU instruction to the text trace
    #[arg(long, requires = "trace_text")]
    pub(super) trace_instructions: bool,
    /// Print one JSON object instead of text
    ///
    /// Members: input, exit, submissions, expectations (name, after_exec, ok, first_difference),
    /// fault (exec or byte, text, engine, packet, address, batch, batch_offset, kernel, ip; null if
    /// there was none), stats (batches, packets, groups, threads, instructions, messages, pixels,
    /// bytes_read, bytes_written, cut_off, and pictures, slices and macroblocks if video was
    /// decoded), engines (engine, packets), seconds,
    /// instructions_per_second. cut_off counts data port accesses of kernels beyond
    /// the end of a surface or of shared local memory, and to null surfaces.
    ///
    /// Captures also have capture and submissions_in_capture. AUB files have aub (kind, pci_id,
    /// application), compared (number of stated values) and differences (messages). --check adds
    /// check (the object of `genx check`), --sanitize adds sanitize (sanitizers: names; findings:
    /// sanitizer, rule, severity, message, remedy, source, count, first and second: action, engine,
    /// packet, address, batch, kernel, ip, thread, memory, bytes), --observe adds draws or frames,
    /// and --stats adds tables (engines, packets, kernels, messages, and codecs if video was
    /// decoded). Times in tables are the model's, in units of about a nanosecond. Two runs of the
    /// same input differ only in seconds and instructions_per_second.
    #[arg(long)]
    pub(super) json: bool,
    /// Number of host threads, at most 256. Default: all cores. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) threads: Option<u32>,
    /// Maximum work of a submission; with more, it is a hang. An EU instruction is 16 units, a
    /// packet 32, a shaded pixel 64; a unit is about a nanosecond of the model's time. Default:
    /// 4294967296, less if the command is built without optimisation
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) work_limit: Option<u64>,
}

/// The values of --observe.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Observed {
    /// Vertices, shaders, render targets, depth and stencil, viewport, counts
    Draw,
    /// Pictures of the video engine: standard, type, size, slices, references, macroblocks
    Frame,
}

impl Args {
    /// Applies the arguments to the model.
    pub(super) fn set_up(&self, gpu: &mut Gpu) {
        if let Some(units) = self.work_limit {
            gpu.set_work_limit(units);
        }
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        gpu.set_threads(self.threads.map_or_else(cores, |threads| threads as usize));
    }
}
