//! The observer that records the thread which shades a pixel.

use super::payload::Map;
use super::record::Recording;
use super::walk::{Slice, SliceError, Start, slice};
use crate::eu::decode::{self, Fetched};
use crate::eu::kernel::Kernel;
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::machine::watched::{PixelEvent, WatchedPixel};
use crate::mem::{Access, Client};
use crate::render::ps;
use genxml::eu::Generation;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml_eu::{decode_on, instruction::Instruction};
use std::collections::BTreeMap;

/// The thread that is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Number of the submission, from 1 on.
    pub submission: u64,
    /// The thread.
    pub subject: Subject,
}

/// What identifies a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The thread that shades a pixel.
    Pixel {
        /// Number of the draw, from 1 on.
        draw: u64,
        /// Column and row of the pixel in the draw.
        pixel: [u32; 2],
        /// The sample of the pixel.
        sample: u32,
        /// Number of the primitive in the draw.
        primitive: u32,
    },
    /// A thread of a packet.
    Thread {
        /// Number of the packet in the run, from 1 on ([`Clock`]).
        packet: u64,
        /// Number of the thread among those that the packet starts, from 0 on.
        thread: u64,
    },
}

/// Counts what has been executed, in the same way in each run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Clock {
    /// Submissions that have started.
    pub submissions: u64,
    /// Packets that have ended. The packet that is being executed has the next number.
    pub packets: u64,
    /// Draws that have started.
    pub draws: u64,
}

impl Clock {
    /// Counts an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Memory { after: Some(_), .. } => self.packets += 1,
            Event::Draw(_) => self.draws += 1,
            _ => {}
        }
    }
}

/// A kernel: its instructions in assembly, and the meaning of its payload.
#[derive(Debug)]
struct Code {
    kernel: Kernel,
    text: BTreeMap<u32, String>,
    payload: Map,
}

/// A packet that set state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetState {
    /// Position of the packet.
    pub at: Place,
    /// Its dwords.
    pub dwords: Vec<u32>,
}

/// A recorded thread with its kernel, and what it read.
#[derive(Debug)]
pub struct Traced {
    /// The instructions.
    pub recording: Recording,
    /// The channel of the thread that shades the pixel; 0 for other threads.
    pub channel: u8,
    /// The memory accesses of messages, by the number of the instruction and the channel. Channel
    /// `None` has those of all channels; messages to the sampler also have them one by one.
    pub accesses: BTreeMap<(usize, Option<u8>), Vec<Access>>,
    /// Accesses of the packet to state in memory and to vertices.
    pub inputs: Vec<Access>,
    /// The newest packet of each name before the draw or dispatch, by name.
    pub state: BTreeMap<&'static str, SetState>,
    /// Number of the packet that started the thread, from 1 on.
    pub packet: u64,
    /// The packet that started the thread.
    pub at: Option<Place>,
    code: Code,
}

/// Records a thread.
#[derive(Debug)]
pub struct Tracer {
    wanted: Wanted,
    clock: Clock,
    /// The packet of the thread is being executed.
    is_now: bool,
    is_done: bool,
    kernels: BTreeMap<u64, Code>,
    /// The primitive that covers the pixel now.
    primitive: Option<u32>,
    /// The channel of the next thread.
    next: Option<u8>,
    /// Threads that the packet has started.
    threads: u64,
    /// The thread that is recorded is running.
    runs: Option<u32>,
    recorded: Option<(Recording, u8)>,
    accesses: BTreeMap<(usize, Option<u8>), Vec<Access>>,
    inputs: Vec<Access>,
    state: BTreeMap<&'static str, SetState>,
    packet: u64,
    at: Option<Place>,
}

impl Tracer {
    /// An observer that records the thread of `wanted`.
    pub fn new(wanted: Wanted) -> Tracer {
        Tracer {
            wanted,
            clock: Clock::default(),
            is_now: false,
            is_done: false,
            kernels: BTreeMap::new(),
            primitive: None,
            next: None,
            threads: 0,
            runs: None,
            recorded: None,
            accesses: BTreeMap::new(),
            inputs: Vec::new(),
            state: BTreeMap::new(),
            packet: 0,
            at: None,
        }
    }

    /// True if the packet of the thread has ended.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Reads the kernel of a thread that no draw started. `read` reads memory as the thread's
    /// context sees it.
    pub fn read_kernel(&mut self, read: &dyn Fn(u64, &mut [u8]) -> bool) {
        if let Some((recording, _)) = &self.recorded {
            let address = recording.kernel;
            self.kernels.entry(address).or_insert_with(|| Code::read(address, 0, read));
        }
    }

    /// The recorded thread.
    ///
    /// # Errors
    /// [`SliceError::NoThread`] if no such thread ran; [`SliceError::NoKernel`] if its kernel could
    /// not be read.
    pub fn finish(mut self) -> Result<Traced, SliceError> {
        let (recording, channel) = self.recorded.ok_or(SliceError::NoThread)?;
        let code = self.kernels.remove(&recording.kernel);
        let code = code
            .filter(|code| !code.text.is_empty())
            .ok_or(SliceError::NoKernel(recording.kernel))?;
        Ok(Traced {
            recording,
            channel,
            accesses: self.accesses,
            inputs: self.inputs,
            state: self.state,
            packet: self.packet,
            at: self.at,
            code,
        })
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        let Subject::Pixel { draw, .. } = self.wanted.subject else { return };
        self.is_now = self.clock.draws == draw;
        if !self.is_now {
            return;
        }
        self.packet = self.clock.packets + 1;
        self.at = Some(drawing.at);
        let ps: ThreeDStatePs = drawing.latched();
        for kernel in ps::kernels(&ps).into_iter().flatten() {
            let address = drawing.state.base.instruction.wrapping_add(kernel.pointer);
            let code = Code::read(address, kernel.pointer as u32, &|at, out| drawing.read(at, out));
            let payload = Map::of(drawing, &kernel);
            self.kernels.insert(address, Code { payload, ..code });
        }
    }

    fn pixel(&mut self, event: &PixelEvent<'_>) {
        let Subject::Pixel { primitive, sample, .. } = self.wanted.subject else { return };
        match event {
            PixelEvent::Covered(covered) => self.primitive = Some(covered.primitive),
            PixelEvent::Shaded(shaded) => {
                let ours = self.primitive == Some(primitive) && shaded.live >> sample & 1 == 1;
                if ours && self.recorded.is_none() {
                    self.next = Some(shaded.channel);
                }
            }
            _ => {}
        }
    }

    fn thread(&mut self, kernel: u64, thread: u32, payload: &[u8]) {
        let channel = match self.wanted.subject {
            Subject::Pixel { .. } => self.next.take(),
            Subject::Thread { thread, .. } => {
                self.threads += 1;
                (self.threads == thread + 1).then_some(0)
            }
        };
        if let Some(channel) = channel {
            self.recorded = Some((Recording::new(kernel, thread, payload), channel));
            self.runs = Some(thread);
        }
    }

    fn accesses(&mut self, thread: Option<u32>, channel: Option<u8>, list: &[Access]) {
        match (thread, self.runs) {
            (Some(thread), Some(running)) if thread == running => {
                if let Some((recording, _)) = &self.recorded
                    && let Some(step) = recording.steps.len().checked_sub(1)
                {
                    self.accesses.entry((step, channel)).or_default().extend_from_slice(list);
                }
            }
            (None, _) => {
                let wanted = |access: &&Access| {
                    !access.write && matches!(access.client, Client::State | Client::Vertices)
                };
                self.inputs.extend(list.iter().filter(wanted));
            }
            _ => {}
        }
    }

    fn packet(&mut self, at: &Place, dwords: &[u32]) {
        if let Subject::Thread { packet, .. } = self.wanted.subject
            && packet == self.clock.packets + 1
        {
            (self.is_now, self.packet, self.at) = (true, packet, Some(*at));
        }
        if self.clock.submissions >= self.wanted.submission || at.packet.starts_with("3DSTATE") {
            self.state.insert(at.packet, SetState { at: *at, dwords: dwords.to_vec() });
        }
    }
}

impl Observer for Tracer {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        self.clock.event(event);
        if self.is_done {
            return;
        }
        match event {
            Event::Packet { at, dwords, .. } => self.packet(at, dwords),
            Event::Draw(drawing) => self.begin(drawing),
            Event::Memory { after: Some(_), .. } if self.is_now => {
                (self.is_now, self.is_done) = (false, true);
            }
            Event::Accesses { thread, channel, list, .. } if self.is_now => {
                self.accesses(*thread, *channel, list);
            }
            Event::Pixel { event, .. } if self.is_now => self.pixel(event),
            Event::Thread { kernel, thread, payload } if self.is_now => {
                self.thread(*kernel, *thread, payload);
            }
            Event::Instruction { thread, ip, mask, registers, .. }
                if self.runs == Some(*thread) =>
            {
                if let Some((recording, _)) = &mut self.recorded {
                    recording.instruction(*ip, *mask, registers);
                }
            }
            Event::ThreadEnd { thread, .. } if self.runs == Some(*thread) => self.runs = None,
            _ => {}
        }
    }

    fn wants_instructions(&self) -> bool {
        // Threads of a draw send these events only if they shade the pixel.
        matches!(self.wanted.subject, Subject::Thread { .. }) && self.wants_accesses()
    }

    fn wants_accesses(&self) -> bool {
        !self.is_done && self.clock.submissions + 1 >= self.wanted.submission
    }

    fn watches(&self) -> Option<WatchedPixel> {
        match self.wanted.subject {
            Subject::Pixel { pixel: [x, y], .. } if self.is_now => Some(WatchedPixel { x, y }),
            _ => None,
        }
    }
}

impl Code {
    /// Decodes the kernel at `address`. `pointer` is its offset from Instruction Base Address.
    fn read(address: u64, pointer: u32, read: &dyn Fn(u64, &mut [u8]) -> bool) -> Code {
        let mut text = BTreeMap::new();
        let generation = Generation::Gen8;
        let kernel = decode::kernel_on(generation, address, pointer, |offset| {
            let at = address.wrapping_add_signed(offset.into());
            match instruction(generation, at, read) {
                Some(instruction) => {
                    text.insert(offset as u32, instruction.to_string());
                    Fetched::Instruction(Box::new(instruction))
                }
                None => Fetched::Garbage("the instruction cannot be read".to_owned()),
            }
        });
        Code { kernel, text, payload: Map::default() }
    }
}

/// Reads an instruction; `None` if it cannot be read or decoded.
fn instruction(
    generation: Generation,
    at: u64,
    read: &dyn Fn(u64, &mut [u8]) -> bool,
) -> Option<Instruction> {
    let mut dwords = [0u32; 4];
    let (first, rest) = dwords.split_at_mut(2);
    if !read(at, bytemuck::cast_slice_mut(first)) {
        return None;
    }
    if genxml_eu::decode::length(first[0]) == 8 {
        return decode_on(generation, first).ok();
    }
    if !read(at.wrapping_add(8), bytemuck::cast_slice_mut(rest)) {
        return None;
    }
    decode_on(generation, &dwords).ok()
}

impl Traced {
    /// The backward slice from `start`.
    ///
    /// # Errors
    /// [`SliceError`].
    pub fn slice(&self, start: &Start) -> Result<Slice, SliceError> {
        slice(&self.recording, &self.code.kernel, self.channel, start)
    }

    /// The instruction at a byte offset of the kernel, in assembly.
    pub fn text(&self, offset: u32) -> &str {
        self.code.text.get(&offset).map_or("", String::as_str)
    }

    /// The meaning of the registers at the start of the thread.
    pub fn payload(&self) -> &Map {
        &self.code.payload
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.code.kernel
    }
}
