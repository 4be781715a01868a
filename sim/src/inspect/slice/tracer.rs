//! The observer that records the thread which shades a pixel.

use super::payload::Map;
use super::record::Recording;
use super::walk::{Slice, SliceError, Start, slice};
use crate::eu::decode::{self, Fetched};
use crate::eu::kernel::Kernel;
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::watched::{PixelEvent, WatchedPixel};
use crate::render::ps;
use genxml::eu::Generation;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml_eu::{decode_on, instruction::Instruction};
use std::collections::BTreeMap;

/// The thread that is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Number of the draw, from 1 on.
    pub draw: u64,
    /// Column and row of the pixel in the draw.
    pub pixel: [u32; 2],
    /// The sample of the pixel.
    pub sample: u32,
    /// Number of the primitive in the draw.
    pub primitive: u32,
}

/// A kernel of the draw: its instructions, and the meaning of its payload.
#[derive(Debug)]
struct Code {
    kernel: Kernel,
    text: BTreeMap<u32, String>,
    payload: Map,
}

/// A recorded thread with its kernel.
#[derive(Debug)]
pub struct Traced {
    /// The instructions.
    pub recording: Recording,
    /// The channel of the thread that shades the pixel.
    pub channel: u8,
    code: Code,
}

/// Records the thread that shades a pixel in a draw.
#[derive(Debug)]
pub struct Tracer {
    wanted: Wanted,
    draws: u64,
    /// The draw is being executed.
    draws_now: bool,
    kernels: BTreeMap<u64, Code>,
    /// The primitive that covers the pixel now.
    primitive: Option<u32>,
    /// The channel of the next thread.
    next: Option<u8>,
    /// The thread that is recorded is running.
    runs: bool,
    recorded: Option<(Recording, u8)>,
}

impl Tracer {
    /// An observer that records the thread of `wanted`.
    pub fn new(wanted: Wanted) -> Tracer {
        Tracer {
            wanted,
            draws: 0,
            draws_now: false,
            kernels: BTreeMap::new(),
            primitive: None,
            next: None,
            runs: false,
            recorded: None,
        }
    }

    /// Number of draws so far.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// True if the draw is over.
    pub fn is_done(&self) -> bool {
        self.draws > self.wanted.draw || self.draws == self.wanted.draw && !self.draws_now
    }

    /// The recorded thread.
    ///
    /// # Errors
    /// [`SliceError::NoThread`] if no thread shaded the pixel; [`SliceError::NoKernel`] if its
    /// kernel could not be read.
    pub fn finish(mut self) -> Result<Traced, SliceError> {
        let (recording, channel) = self.recorded.ok_or(SliceError::NoThread)?;
        let code = self.kernels.remove(&recording.kernel);
        let code = code.ok_or(SliceError::NoKernel(recording.kernel))?;
        Ok(Traced { recording, channel, code })
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        self.draws += 1;
        self.draws_now = self.draws == self.wanted.draw;
        if !self.draws_now {
            return;
        }
        let ps: ThreeDStatePs = drawing.latched();
        for kernel in ps::kernels(&ps).into_iter().flatten() {
            let address = drawing.state.base.instruction.wrapping_add(kernel.pointer);
            let code = Code::read(address, kernel.pointer as u32, &|at, out| drawing.read(at, out));
            let payload = Map::of(drawing, &kernel);
            self.kernels.insert(address, Code { payload, ..code });
        }
    }

    fn pixel(&mut self, event: &PixelEvent<'_>) {
        match event {
            PixelEvent::Covered(covered) => self.primitive = Some(covered.primitive),
            PixelEvent::Shaded(shaded) => {
                let sample = self.wanted.sample;
                let ours =
                    self.primitive == Some(self.wanted.primitive) && shaded.live >> sample & 1 == 1;
                if ours && self.recorded.is_none() {
                    self.next = Some(shaded.channel);
                }
            }
            _ => {}
        }
    }
}

impl Observer for Tracer {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Draw(drawing) => self.begin(drawing),
            Event::DrawEnd(_) => self.draws_now = false,
            Event::Pixel { event, .. } if self.draws_now => self.pixel(event),
            Event::Thread { kernel, thread, payload } => {
                if let Some(channel) = self.next.take() {
                    self.recorded = Some((Recording::new(*kernel, *thread, payload), channel));
                    self.runs = true;
                }
            }
            Event::Instruction { ip, mask, registers, .. } if self.runs => {
                if let Some((recording, _)) = &mut self.recorded {
                    recording.instruction(*ip, *mask, registers);
                }
            }
            Event::ThreadEnd { .. } => self.runs = false,
            _ => {}
        }
    }

    fn watches(&self) -> Option<WatchedPixel> {
        let [x, y] = self.wanted.pixel;
        self.draws_now.then_some(WatchedPixel { x, y })
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
