//! The instructions of the threads of one draw, with the values that they write.

use crate::inspect::summary::kernel;
use crate::machine::drawing::{Drawing, Primitive};
use crate::machine::events::{Event, Now, Observer};
use crate::machine::watched::{PixelEvent, WatchedPixel};
use genxml::eu::Generation;
use genxml::eu::instruction::Instruction;
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

/// Maximum number of instructions of a thread that are remembered.
const MOST_STEPS: usize = 1 << 17;

/// The instructions of the kernels of a draw, by address of the kernel and byte offset.
pub type Kernels = BTreeMap<(u64, u32), Instruction>;

/// An executed instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Byte offset of the instruction from the start of the kernel.
    pub ip: u32,
    /// Mask of the enabled channels.
    pub mask: u32,
    /// The dwords of the register file that changed: byte offset (see [`crate::eu::regions`]), new
    /// value.
    pub changes: Vec<(u16, u32)>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thread {
    /// Graphics address of the kernel.
    pub kernel: u64,
    /// The register file before the first instruction.
    pub start: Vec<u8>,
    /// The instructions, in order. The changes by the last one are not recorded.
    pub steps: Vec<Step>,
    /// True if the thread has more instructions than are recorded.
    pub is_cut: bool,
}

/// Which threads of the draw are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Select {
    /// A digest of each thread whose kernel is at this address.
    Digests {
        /// Graphics address of the kernel.
        kernel: u64,
    },
    /// One thread whose kernel is at this address.
    Number {
        /// Graphics address of the kernel.
        kernel: u64,
        /// Number of the thread among those of this kernel, from 0 on.
        number: usize,
    },
    /// The thread that shades a pixel for a primitive.
    Pixel {
        /// The pixel.
        at: WatchedPixel,
        /// The sample, if the thread shades single samples.
        sample: u32,
        /// Number of the primitive in the draw.
        primitive: u32,
    },
}

/// Records threads of one draw.
#[derive(Debug)]
pub struct Threads {
    draw: u64,
    submission: u64,
    select: Select,
    draws: u64,
    submissions: u64,
    /// True while the draw runs.
    inside: bool,
    /// True if the primitive covers the pixel and its thread has not started.
    expected: bool,
    /// True while a selected thread runs.
    recording: bool,
    started: usize,
    registers: Vec<u8>,
    hasher: DefaultHasher,
    digests: Vec<u64>,
    thread: Option<Thread>,
    kernels: Kernels,
}

impl Threads {
    /// A recorder for a draw. Draws and submissions count from 1 on; `submission` is that of the
    /// draw.
    pub fn new(draw: u64, submission: u64, select: Select) -> Threads {
        Threads {
            draw,
            submission,
            select,
            draws: 0,
            submissions: 0,
            inside: false,
            expected: false,
            recording: false,
            started: 0,
            registers: Vec::new(),
            hasher: DefaultHasher::new(),
            digests: Vec::new(),
            thread: None,
            kernels: Kernels::new(),
        }
    }

    /// The digests of the threads, in the order in which they started. Two digests are equal if the
    /// threads execute instructions at the same offsets, with the same masks and the same registers
    /// before each instruction.
    pub fn digests(&self) -> &[u64] {
        &self.digests
    }

    /// The recorded thread, and the instructions of the kernels of the draw; `None` if no thread
    /// was selected.
    pub fn into_thread(self) -> Option<(Thread, Kernels)> {
        Some((self.thread?, self.kernels))
    }

    /// True if the draw has ended.
    pub fn is_done(&self) -> bool {
        self.draws >= self.draw && !self.inside
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        self.draws += 1;
        self.inside = self.draws == self.draw;
        if !self.inside {
            return;
        }
        let generation = match drawing.packet {
            Primitive::Gen8(_) => Generation::Gen8,
            #[cfg(feature = "gen45")]
            Primitive::Gen45(_) => Generation::Gen45,
        };
        for stage in drawing.summary().shaders {
            for shader in &stage.kernels {
                let place = (generation, shader.address);
                kernel::instructions(drawing, place, &mut |offset, instruction| {
                    if let Ok(offset) = u32::try_from(offset) {
                        self.kernels.insert((shader.address, offset), *instruction);
                    }
                });
            }
        }
    }

    fn pixel(&mut self, event: &PixelEvent<'_>) {
        let Select::Pixel { sample, primitive, .. } = self.select else { return };
        match event {
            PixelEvent::Covered(covered) => self.expected = covered.primitive == primitive,
            PixelEvent::Shaded(shaded) => {
                self.expected &= shaded.sample.is_none_or(|shaded| u32::from(shaded) == sample);
                self.recording = self.expected && self.thread.is_none();
                self.expected = false;
            }
            _ => {}
        }
    }

    fn start(&mut self, address: u64) {
        self.registers.clear();
        match self.select {
            Select::Digests { kernel } => {
                self.recording = kernel == address;
                self.hasher = DefaultHasher::new();
            }
            Select::Number { kernel, number } => {
                self.recording = kernel == address && self.started == number;
                self.started += usize::from(kernel == address);
            }
            Select::Pixel { .. } => {}
        }
        if self.recording && !matches!(self.select, Select::Digests { .. }) {
            self.thread = Some(Thread { kernel: address, ..Thread::default() });
        }
    }

    fn instruction(&mut self, ip: u32, mask: u32, registers: &[u8]) {
        if let Some(thread) = &mut self.thread {
            match thread.steps.last_mut() {
                None => thread.start = registers.to_vec(),
                Some(step) => step.changes = changes(&self.registers, registers),
            }
            if thread.steps.len() < MOST_STEPS {
                thread.steps.push(Step { ip, mask, changes: Vec::new() });
            } else {
                thread.is_cut = true;
                self.recording = false;
                return;
            }
        } else {
            self.hasher.write_u32(ip);
            self.hasher.write_u32(mask);
            self.hasher.write(registers);
        }
        self.registers.clear();
        self.registers.extend_from_slice(registers);
    }

    fn stop(&mut self) {
        if std::mem::take(&mut self.recording) && matches!(self.select, Select::Digests { .. }) {
            self.digests.push(self.hasher.finish());
        }
    }
}

/// The dwords that differ.
fn changes(old: &[u8], new: &[u8]) -> Vec<(u16, u32)> {
    let dwords = old.chunks_exact(4).zip(new.chunks_exact(4)).enumerate();
    let changed = dwords.filter(|(_, (old, new))| old != new);
    changed
        .map(|(index, (_, new))| ((4 * index) as u16, new.try_into().map_or(0, u32::from_le_bytes)))
        .collect()
}

impl Observer for Threads {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Draw(drawing) => self.begin(drawing),
            Event::DrawEnd(_) => self.inside = false,
            Event::Pixel { event, .. } if self.inside => self.pixel(event),
            Event::Thread { kernel, .. } if self.inside => self.start(*kernel),
            Event::Instruction { ip, mask, registers, .. } if self.recording => {
                self.instruction(*ip, *mask, registers);
            }
            Event::ThreadEnd { .. } => self.stop(),
            _ => {}
        }
    }

    /// Instructions make runs slow, so they are wanted only from the submission of the draw on.
    fn wants_instructions(&self) -> bool {
        !matches!(self.select, Select::Pixel { .. }) && self.submissions + 1 >= self.submission
    }

    fn watches(&self) -> Option<WatchedPixel> {
        match self.select {
            Select::Pixel { at, .. } if self.inside => Some(at),
            _ => None,
        }
    }
}
