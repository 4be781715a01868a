//! Device coredumps: the text with which the kernel's driver xe describes a GPU that hung.
//!
//! `/sys/class/drm/card0/device/devcoredump/data` is a text of sections under titles (`**** VM
//! state ****`). They hold the state of the execution queue, the state of the engines, and the
//! memory of the address space. The parts that error states have too are in an [`ErrorState`], with
//! registers under their i915 names.
//!
//! ```no_run
//! use genxml::devcoredump::Devcoredump;
//! use std::{fs::File, io::BufReader};
//! let dump = Devcoredump::read(BufReader::new(File::open("data")?));
//! println!("{:?}: batches at {:x?}", dump.state.entry("Reason"), dump.batches);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! xe drives GPUs from Gen12 on and has never supported Broadwell. Commands are still decoded with
//! the tables of Broadwell, or with tables that the user loads. If the file names the GPU, a note
//! reports this.
//!
//! Sources: `drivers/gpu/drm/xe` of Linux 6.8 to 6.17 (`xe_devcoredump.c`, `xe_guc_submit.c`,
//! `xe_lrc.c`, `xe_vm.c`, `xe_hw_engine.c`, `xe_sched_job.c`); Mesa's `error_decode_xe_lib.c` for
//! what readers use.

mod read;

use crate::error_state::{Engine, ErrorState, Line};
use crate::memory::VA_MASK;
use crate::submission::{Each, Submission};
use std::io;

/// The contents of a device coredump.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Devcoredump {
    /// The parts that error states have too: header, engines with registers, memory, notes. Buffers
    /// of the address space have no engine.
    pub state: ErrorState,
    /// GPU addresses of the batches of the job that hung, one for each engine that it ran on.
    pub batches: Vec<u64>,
    /// Execution queues; usually only the one that hung.
    pub queues: Vec<Queue>,
    /// Pieces of the address space whose bytes are missing, and why.
    pub missing: Vec<Missing>,
    /// Sections that the reader does not parse, such as the log of the GuC.
    pub sections: Vec<Section>,
}

/// An execution queue: the driver's object for a context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    /// Its number in the GuC, the GPU's scheduling firmware.
    pub id: i64,
    /// The engine that it runs on, `rcs0`.
    pub name: String,
    /// Lines of the queue, without dumped bytes.
    pub lines: Vec<Line>,
}

/// A piece of the address space without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// GPU address; 0 if the file names no address.
    pub address: u64,
    /// Size in bytes; 0 if the file does not give it.
    pub size: u64,
    /// The kernel's error: a negative number.
    pub error: String,
}

/// A section stored as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    /// Title of the section.
    pub title: String,
    /// Lines of the section, without dumped bytes.
    pub lines: Vec<Line>,
}

/// The first line of every device coredump.
pub const FIRST_LINE: &str = "**** Xe Device Coredump ****";

impl Devcoredump {
    /// True if a file that starts like this is a device coredump of xe.
    pub fn starts_like(start: &[u8]) -> bool {
        start.trim_ascii_start().starts_with(FIRST_LINE.as_bytes())
    }

    /// The engine that the job ran on: the one of the first queue, otherwise the first engine of a
    /// kind that Broadwell has.
    pub fn engine(&self) -> Option<&Engine> {
        let of_queue = self.queues.first().and_then(|queue| self.state.engine(&queue.name));
        of_queue.or_else(|| self.state.engines.iter().find(|engine| engine.id().is_some()))
    }

    /// Passes the batches of the job to `each`. (xe does not dump rings.)
    ///
    /// # Errors
    /// Errors returned by `each`.
    pub fn submissions(&self, each: &mut Each<'_>) -> io::Result<()> {
        let Some(engine) = self.engine() else { return Ok(()) };
        let Some(id) = engine.id() else { return Ok(()) };
        let context =
            self.state.engines.iter().position(|other| other.name == engine.name).unwrap_or(0)
                as u32;
        let view = self.state.memory(&engine.name);
        for (number, &batch) in self.batches.iter().enumerate() {
            each(&Submission {
                name: &format!("{} batch {number}", engine.name),
                number: number as u64,
                context,
                engine: id,
                memory: &view,
                address: batch & VA_MASK,
                length: 0,
                global: false,
                ring: None,
            })?;
        }
        Ok(())
    }
}
