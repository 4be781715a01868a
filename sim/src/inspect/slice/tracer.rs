//! The observer that records one thread: the one that shades a pixel, or a thread of a packet.

use super::clock::Clock;
use super::lanes::Lanes;
use super::origins::{Origins, PrimitiveOrigin};
use super::payload::Map;
use super::record::Recording;
use super::setup::Setup;
use super::state::SetState;
use super::walk::{Slice, SliceError, Start, slice, slice_urb};
use super::writers::Span;
use crate::eu::access::{self, Part};
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
use genxml::gen8::render3d_stages::{ThreeDStateGs, ThreeDStateVs};
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

/// A kernel: its instructions in assembly, and the meaning of its payload.
#[derive(Clone, Debug)]
pub(super) struct Code {
    kernel: Kernel,
    text: BTreeMap<u32, String>,
    /// The meaning of the payload.
    pub(super) payload: Map,
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
    pub(super) code: Code,
}

/// The packet that started the thread, with the state and vertices that it and its threads read.
#[derive(Clone, Debug, Default)]
pub struct Parent {
    /// Reads of state in memory, of vertices and of indices.
    pub reads: Vec<Access>,
    /// The newest packet of each name up to this packet, by name.
    pub state: BTreeMap<&'static str, SetState>,
    /// Number of the packet in the run, from 1 on; 0 if it was not executed.
    pub number: u64,
    /// The packet.
    pub at: Option<Place>,
    /// Where the vertices of the pixel's primitive come from.
    pub origin: Option<PrimitiveOrigin>,
    /// The state that selects the dwords of the vertices.
    pub setup: Option<Setup>,
    /// The primitive faces backward, and its corner, as in
    /// [`Covered`](crate::machine::watched::Covered).
    pub covered: (bool, Option<u8>),
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
    origins: Option<Origins>,
    parent: Parent,
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
            origins: None,
            parent: Parent::default(),
        }
    }

    /// True if the packet of the thread has ended.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The packet, and the recorded thread.
    ///
    /// # Errors
    /// For the thread: [`SliceError::NoThread`] if it did not run; [`SliceError::NoKernel`] if its
    /// kernel could not be read.
    pub fn finish(mut self) -> (Parent, Result<Traced, SliceError>) {
        self.parent.origin = self.origins.and_then(Origins::finish);
        let thread = self.recorded.ok_or(SliceError::NoThread).and_then(|(recording, channel)| {
            let code = self.kernels.remove(&recording.kernel);
            let code = code
                .filter(|code| !code.text.is_empty())
                .ok_or(SliceError::NoKernel(recording.kernel))?;
            Ok(Traced { recording, channel, accesses: self.accesses, code })
        });
        (self.parent, thread)
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        let (draw, primitive) = match self.wanted.subject {
            Subject::Pixel { draw, primitive, .. } => (draw, primitive),
            Subject::Thread { .. } => {
                if self.is_now {
                    self.kernels = Code::before_pixels(drawing);
                }
                return;
            }
        };
        self.is_now = self.clock.draws == draw;
        if !self.is_now {
            return;
        }
        (self.parent.number, self.parent.at) = (self.clock.packets + 1, Some(drawing.at));
        self.origins = Some(Origins::new(primitive));
        self.parent.setup = Some(Setup::of(drawing));
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
            PixelEvent::Covered(covered) => {
                self.primitive = Some(covered.primitive);
                if covered.primitive == primitive && self.recorded.is_none() {
                    self.parent.covered = (covered.back, covered.corner);
                }
            }
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
            _ => {}
        }
        // Surface and sampler states are read once, by the first thread that needs them.
        let wanted = |access: &&Access| {
            !access.write && matches!(access.client, Client::State | Client::Vertices)
        };
        self.parent.reads.extend(list.iter().filter(wanted));
    }

    fn packet(&mut self, at: &Place, dwords: &[u32]) {
        if let Subject::Thread { packet, .. } = self.wanted.subject
            && packet == self.clock.packets + 1
        {
            self.is_now = true;
            (self.parent.number, self.parent.at) = (packet, Some(*at));
        }
        if at.packet.contains("STATE") || self.clock.submissions >= self.wanted.submission {
            self.parent.state.insert(at.packet, SetState { at: *at, dwords: dwords.to_vec() });
        }
    }
}

impl Observer for Tracer {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        self.clock.event(event);
        if self.is_done {
            return;
        }
        if self.is_now
            && let Some(origins) = &mut self.origins
        {
            origins.event(event);
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
            Event::Instruction { kernel, thread, ip, mask, registers, view }
                if self.runs == Some(*thread) =>
            {
                // A draw's kernels were read when it began. A dispatch's kernel is read here.
                self.kernels.entry(*kernel).or_insert_with(|| {
                    Code::read(*kernel, 0, &|address, out| view.read(address, out))
                });
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

    fn wants_channels(&self) -> bool {
        self.wants_accesses()
    }

    fn follows(&self) -> bool {
        self.is_now && self.origins.is_some()
    }

    fn watches(&self) -> Option<WatchedPixel> {
        match self.wanted.subject {
            Subject::Pixel { pixel: [x, y], .. } if self.is_now => Some(WatchedPixel { x, y }),
            _ => None,
        }
    }
}

impl Code {
    /// True if no instruction could be read.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The kernels of the vertex and geometry shader of a draw, by their addresses.
    pub(super) fn before_pixels(drawing: &Drawing<'_>) -> BTreeMap<u64, Code> {
        let vs: ThreeDStateVs = drawing.latched();
        let gs: ThreeDStateGs = drawing.latched();
        let mut kernels = BTreeMap::new();
        let mut add = |pointer: u64, payload: Map| {
            let address = drawing.state.base.instruction.wrapping_add(pointer);
            let code = Code::read(address, pointer as u32, &|at, out| drawing.read(at, out));
            kernels.insert(address, Code { payload, ..code });
        };
        if vs.function_enable {
            add(vs.kernel_start_pointer.get(), Map::of_vertex_shader(drawing));
        }
        if gs.enable {
            add(gs.kernel_start_pointer.get(), Map::of_geometry_shader(drawing));
        }
        kernels
    }

    /// Decodes the kernel at `address`. `pointer` is its offset from Instruction Base Address.
    pub(super) fn read(address: u64, pointer: u32, read: &dyn Fn(u64, &mut [u8]) -> bool) -> Code {
        let mut text = BTreeMap::new();
        let generation = Generation::Gen8;
        let kernel = decode::kernel_on(generation, address, pointer, |offset| {
            let at = address.wrapping_add_signed(offset.into());
            match instruction(generation, at, read) {
                Some(instruction) => {
                    text.insert(offset as u32, instruction.to_string().trim_start().to_owned());
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

    /// The backward slice, for a channel, from dwords of the URB that the thread wrote. They are
    /// byte offsets.
    ///
    /// # Errors
    /// [`SliceError`].
    pub fn slice_urb(&self, channel: u8, wanted: &[usize]) -> Result<Slice, SliceError> {
        slice_urb(&self.recording, &self.code.kernel, channel, wanted)
    }

    /// The channel that wrote a range of memory with the message at a byte offset of the kernel;
    /// the last execution counts. `None` if the message has no lanes with an offset for each.
    pub fn writer(&self, offset: u32, span: &Span) -> Option<u8> {
        let kernel = &self.code.kernel;
        let uop = kernel.uops.get(kernel.index(offset)? as usize)?;
        let mut backward = self.recording.backward();
        let (number, step) = loop {
            let (number, step) = backward.step()?;
            if step.ip == offset {
                break (number, step);
            }
        };
        let packet = access::packet(uop, &backward.before[..])?;
        let layout = Lanes::of(uop, &packet)?;
        layout.lane(layout.response.start)?;
        // The first value of each lane is its offset in the surface. The address of the surface is
        // not recorded, so assume that the lowest offset belongs to the lowest address written.
        let enabled = (0..usize::from(uop.size)).filter(|lane| step.mask >> lane & 1 == 1);
        let offsets: Vec<(usize, u64)> = enabled
            .filter_map(|lane| {
                let at = layout.payload(Some(lane)).first()?.start;
                let part = Part::File(at as u16, 4);
                Some((lane, access::value(part, &backward.before)?))
            })
            .collect();
        let list = self.accesses.get(&(number, None))?;
        let writes = || list.iter().filter(|access| access.write);
        let lowest = offsets.iter().map(|(_, offset)| *offset).min()?;
        let base = writes().map(|access| access.address).min()?.checked_sub(lowest)?;
        let wanted = writes().find_map(|access| {
            span.pieces.iter().find_map(|(physical, bytes)| {
                let first = (*physical).max(access.physical);
                let inside = first < access.physical + u64::from(access.bytes)
                    && first < physical + *bytes as u64;
                inside.then(|| access.address + (first - access.physical))
            })
        })?;
        let lane = offsets
            .iter()
            .filter(|(_, offset)| wanted.checked_sub(base + offset).is_some_and(|it| it < 16))
            .max_by_key(|(_, offset)| *offset)?
            .0;
        Some(uop.first + lane as u8)
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
