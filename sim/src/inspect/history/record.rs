//! Records the history of a pixel: the second run.

use super::flags::Flags;
use super::fragment::{Coverage, Discard, Fragment, Shading};
use super::probe::{Meaning, Probe, Value, View};
use crate::inspect::summary::Name;
use crate::machine::blitting::Blitting;
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::machine::watched::{Fate, PixelEvent, PrimitiveInfo, WatchedPixel};
use crate::mem::Memory;
use crate::render::render_target::Purpose;
use genxml::engine::EngineId;
use genxml::eu::instruction::SharedFunction;

/// Maximum number of instructions of a thread that are remembered.
const MOST_TRACED: usize = 1 << 20;

/// Kinds of writers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The program that submits work, or whoever else writes memory while the GPU is idle.
    Host,
    /// A draw.
    Draw,
    /// A draw that marks blocks as cleared, or a clear of depth and stencil.
    Clear,
    /// A draw that writes the clear colour to cleared blocks.
    Resolve,
    /// A copy by the blitter.
    Copy,
    /// Another command of the blitter.
    Blit,
    /// Threads of GPGPU_WALKER or of media commands.
    Dispatch,
    /// A command that decodes, encodes or enhances video.
    Video,
    /// Another packet.
    Command,
}

impl Kind {
    /// The kind of a packet that is not a draw, from its name in the manual. `is_color` is false
    /// for depth and stencil.
    pub(crate) fn of(packet: &str, engine: EngineId, is_color: bool) -> Kind {
        match (packet, engine) {
            ("GPGPU_WALKER", _) => Kind::Dispatch,
            (name, _) if name.starts_with("MEDIA_") => Kind::Dispatch,
            // The post-sync operation executes the 3DSTATE_WM_HZ_OP before it.
            ("PIPE_CONTROL", EngineId::Render) if !is_color => Kind::Clear,
            (name, _) if name.contains("SRC_COPY") => Kind::Copy,
            (name, _) if name.ends_with("_BLT") || name.contains("_BLT_") => Kind::Blit,
            (_, EngineId::Video | EngineId::VideoEnhance) => Kind::Video,
            _ => Kind::Command,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Host => "host",
            Kind::Draw => "draw",
            Kind::Clear => "clear",
            Kind::Resolve => "resolve",
            Kind::Copy => "copy",
            Kind::Blit => "blit",
            Kind::Dispatch => "dispatch",
            Kind::Video => "video",
            Kind::Command => "command",
        }
    }
}

/// A packet, or the host, that changed or tested the pixel.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Number of the submission, from 1 on. For the host, the submission that follows.
    pub submission: u64,
    /// The caller's number of the submission ([`History::label`]).
    pub label: Option<u64>,
    /// The packet; `None` for the host.
    pub at: Option<Place>,
    /// Number of the packet in the run, from 1 on; `None` for the host.
    pub packet: Option<u64>,
    /// What a draw did.
    pub draw: Option<DrawTouch>,
    /// What a blit did.
    pub blit: Option<BlitTouch>,
    /// The value before; `None` if the memory did not exist.
    pub old: Option<Value>,
    /// The value after.
    pub new: Option<Value>,
}

/// What a draw did to the pixel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DrawTouch {
    /// Number of the draw, from 1 on.
    pub number: u64,
    /// Topology.
    pub topology: Name,
    /// Column and row of the pixel in this draw; `None` if the draw does not use the surface.
    pub pixel: Option<[u32; 2]>,
    /// The draw uses the surface as its depth or stencil buffer.
    pub as_depth: bool,
    /// Three counts: all primitives, those that the clipper dropped, those that setup dropped.
    pub primitives: [u64; 3],
    /// Primitives that cover the pixel, or that would without clipping, culling or scissor.
    pub fragments: Vec<Fragment>,
}

/// A blit whose rectangle has the pixel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlitTouch {
    /// Column and row of the pixel in the destination of the blit.
    pub pixel: [u32; 2],
    /// Left, top, right, bottom. Right and bottom are exclusive.
    pub rectangle: [i64; 4],
    /// Address of the source, and the column and row that are copied to the pixel; `None` if the
    /// source is not a surface.
    pub source: Option<(u64, [i64; 2])>,
}

/// The draw that runs.
struct Current {
    touch: DrawTouch,
    purpose: Purpose,
    /// All primitives that can still cover the pixel, by number.
    primitives: Vec<PrimitiveInfo>,
}

/// Records the history of a pixel.
pub struct History {
    probe: Probe,
    current: Option<Value>,
    entries: Vec<Entry>,
    submissions: u64,
    packets: u64,
    label: Option<u64>,
    draws: u64,
    stop_after: Option<u64>,
    ended: bool,
    draw: Option<Current>,
    blit: Option<BlitTouch>,
    watched: Option<WatchedPixel>,
    /// True while the thread runs that shades the pixel.
    shading: bool,
    /// The instructions of this thread so far: byte offset, and whether it ran for the pixel.
    trace: Vec<(u32, bool)>,
    /// Length of `trace` after each write to a render target. The write is its last instruction.
    writes: Vec<usize>,
    flags: Flags,
}

impl History {
    /// A recorder for a pixel. Draws after number `stop_after` do not count.
    pub fn new(probe: Probe, stop_after: Option<u64>) -> History {
        History {
            probe,
            current: None,
            entries: Vec::new(),
            submissions: 0,
            packets: 0,
            label: None,
            draws: 0,
            stop_after,
            ended: false,
            draw: None,
            blit: None,
            watched: None,
            shading: false,
            trace: Vec::new(),
            writes: Vec::new(),
            flags: Flags::default(),
        }
    }

    /// The number that the caller gives to the following submissions.
    pub fn label(&mut self, label: u64) {
        self.label = Some(label);
    }

    /// Forgets everything: the memory of the pixel begins to exist now, with zeros.
    pub fn restart(&mut self) {
        self.entries.clear();
        let bytes = self.probe.view.value_bytes();
        self.current = Some(Value { bytes: vec![0; bytes], cleared: false });
    }

    /// Ends the history: later events do not count.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// True if the history has ended.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The pixel.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// The entries so far, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The value now.
    pub fn value(&self) -> Option<&Value> {
        self.current.as_ref()
    }

    /// Compares memory with the newest value, for changes by the host after the last submission.
    pub fn look(&mut self, memory: &Memory) {
        if !self.ended {
            self.memory(None, memory);
        }
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        self.draws += 1;
        if self.stop_after.is_some_and(|last| self.draws > last) {
            self.ended = true;
            return;
        }
        let summary = drawing.summary();
        let translate = |address| drawing.physical(address);
        let find = |view: View| {
            view.find(self.probe.physical, self.probe.at, &translate).map(|at| (view, at))
        };
        let found = View::all(&summary).into_iter().find_map(find);
        // Rectangles of fast clears and resolves are in units of blocks, not of pixels.
        let pixel = found.filter(|_| summary.purpose == Purpose::Draw);
        self.watched = pixel.map(|(_, [x, y])| WatchedPixel { x, y });
        if pixel.is_some() {
            self.flags = Flags::of(drawing, &summary.shaders);
        }
        self.draw = Some(Current {
            touch: DrawTouch {
                number: self.draws,
                topology: summary.topology,
                pixel: found.map(|(_, at)| at),
                as_depth: found.is_some_and(|(view, _)| view.binding.is_none()),
                ..DrawTouch::default()
            },
            purpose: summary.purpose,
            primitives: Vec::new(),
        });
    }

    fn blit(&mut self, blit: &Blitting<'_>) {
        let translate = |address| blit.physical(address);
        let found = View::of_blit(blit)
            .and_then(|view| view.find(self.probe.physical, self.probe.at, &translate));
        let Some([x, y]) = found else { return };
        let [left, top, right, bottom] = blit.rectangle;
        let (column, row) = (i64::from(x), i64::from(y));
        if (left..right).contains(&column) && (top..bottom).contains(&row) {
            let source =
                blit.source.map(|(plane, [x, y])| (plane.base, [x + column - left, y + row - top]));
            self.blit = Some(BlitTouch { pixel: [x, y], rectangle: blit.rectangle, source });
        }
    }

    /// Adds an entry if the value has changed, or if a draw has fragments.
    fn memory(&mut self, after: Option<Place>, memory: &Memory) {
        let new = self.probe.value(memory);
        self.shading = false;
        self.watched = None;
        let draw = self.draw.take();
        let changed = new != self.current;
        let blit = self.blit.take();
        let touched =
            blit.is_some() || draw.as_ref().is_some_and(|draw| !draw.touch.fragments.is_empty());
        if !changed && !touched {
            return;
        }
        let old = std::mem::replace(&mut self.current, new.clone());
        // Memory that begins to exist is not a change.
        if old.is_none() && !touched {
            return;
        }
        let kind = match (&draw, &after) {
            (Some(draw), _) => match draw.purpose {
                Purpose::Draw => Kind::Draw,
                Purpose::FastClear => Kind::Clear,
                Purpose::Resolve => Kind::Resolve,
            },
            (None, Some(at)) => {
                let is_color = self.probe.view.meaning == Meaning::Color;
                Kind::of(at.packet, at.engine, is_color)
            }
            (None, None) => Kind::Host,
        };
        let submission = match after {
            Some(_) => self.submissions,
            None => self.submissions + 1,
        };
        self.entries.push(Entry {
            kind,
            submission,
            label: self.label,
            at: after,
            packet: after.map(|_| self.packets),
            draw: draw.map(|draw| draw.touch),
            blit,
            old,
            new,
        });
    }

    fn pixel(&mut self, event: &PixelEvent<'_>, memory: &Memory) {
        let (watched, sample) = (self.watched, self.probe.sample);
        let Some(draw) = &mut self.draw else { return };
        let touch = &mut draw.touch;
        match event {
            PixelEvent::Primitive(info) => {
                touch.primitives[0] += 1;
                match info.fate {
                    Fate::Clipped => touch.primitives[1] += 1,
                    Fate::Culled => touch.primitives[2] += 1,
                    _ => {}
                }
                if info.fate == Fate::Kept {
                    draw.primitives.push(*info);
                } else if watched.is_some_and(|at| contains(info, at)) {
                    touch.fragments.push(Fragment::lost(*info));
                }
                return;
            }
            PixelEvent::Covered(covered) => {
                if covered.rasterised >> sample & 1 == 0 {
                    self.shading = false;
                    return;
                }
                let number = covered.primitive;
                let Ok(place) = draw.primitives.binary_search_by_key(&number, |info| info.number)
                else {
                    return;
                };
                let value = self.probe.value(memory);
                touch.fragments.push(Fragment {
                    coverage: Some(Coverage::of(covered)),
                    old: value.clone(),
                    new: value,
                    ..Fragment::lost(draw.primitives[place])
                });
                return;
            }
            PixelEvent::Tested(tested) => {
                if let Some(fragment) = touch.fragments.last_mut()
                    && u32::from(tested.sample) == sample
                {
                    fragment.tests.push(*tested);
                }
            }
            PixelEvent::Shaded(shaded) => {
                let ours = shaded.sample.is_none_or(|shaded| u32::from(shaded) == sample);
                if let Some(fragment) = touch.fragments.last_mut().filter(|_| ours) {
                    fragment.shading = Some(Shading {
                        channel: shaded.channel,
                        sample: shaded.sample,
                        ..Shading::default()
                    });
                    self.shading = true;
                    self.trace.clear();
                    self.writes.clear();
                }
                return;
            }
            PixelEvent::Output(output) => {
                self.shading = false;
                if let Some(fragment) = touch.fragments.last_mut()
                    && output.live >> sample & 1 == 1
                {
                    let number = fragment.outputs.len();
                    if let Some(shading) = &mut fragment.shading
                        && output.shaded >> sample & 1 == 0
                        && shading.discard.is_none()
                    {
                        let end = self.writes.get(number).copied().unwrap_or_default();
                        let trace = self.trace.get(..end).unwrap_or_default();
                        shading.discard = Some(discard(&self.flags, shading, trace, number));
                    }
                    fragment.outputs.push(**output);
                }
            }
        }
        let new = self.probe.value(memory);
        if let Some(fragment) = touch.fragments.last_mut() {
            fragment.new = new;
        }
    }

    /// The thread that shades the pixel executes an instruction.
    fn instruction(&mut self, ip: u32, mask: u32) {
        let Some(shading) = self.shading() else { return };
        let runs = mask >> (shading.channel & 31) & 1 == 1;
        shading.instructions += u64::from(runs);
        if self.trace.len() < MOST_TRACED {
            self.trace.push((ip, runs));
        }
    }

    fn shading(&mut self) -> Option<&mut Shading> {
        let fragment = self.draw.as_mut()?.touch.fragments.last_mut()?;
        fragment.shading.as_mut().filter(|_| self.shading)
    }
}

impl Observer for History {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Submission { .. } => self.submissions += 1,
            Event::Memory { after: Some(_), .. } => self.packets += 1,
            _ => {}
        }
        if self.ended {
            return;
        }
        match event {
            Event::Draw(drawing) => self.begin(drawing),
            Event::Blit(blit) => self.blit(blit),
            Event::Memory { after, memory } => self.memory(*after, memory),
            Event::Pixel { event, memory } => self.pixel(event, memory),
            Event::Instruction { ip, mask, .. } if self.shading => self.instruction(*ip, *mask),
            Event::Thread { kernel, .. } => {
                if let Some(shading) = self.shading() {
                    shading.kernel = *kernel;
                }
            }
            Event::Message { ip, function: SharedFunction::DataPortRender, .. } => {
                let end = self.trace.len();
                if let Some(shading) = self.shading() {
                    shading.writes.push(*ip);
                    self.writes.push(end);
                }
            }
            _ => {}
        }
    }

    fn watches(&self) -> Option<WatchedPixel> {
        self.watched.filter(|_| !self.ended)
    }
}

/// The discard that excludes the pixel from write `number` of a thread. `trace` ends with this
/// write.
fn discard(flags: &Flags, shading: &Shading, trace: &[(u32, bool)], number: usize) -> Discard {
    let before = trace.split_last().map_or(trace, |(_, before)| before);
    let offsets: Vec<u32> = trace.iter().map(|(ip, _)| *ip).collect();
    Discard {
        write: shading.writes.get(number).copied(),
        last: before.iter().rfind(|(_, runs)| *runs).map(|(ip, _)| *ip),
        flag: flags.setter(shading.kernel, &offsets),
    }
}

/// True if the middle of the pixel lies inside a triangle, or in the box around another primitive.
fn contains(info: &PrimitiveInfo, WatchedPixel { x, y }: WatchedPixel) -> bool {
    let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
    let vertices: Option<Vec<[f32; 4]>> =
        info.vertices[..info.count.clamp(1, 3)].iter().copied().collect();
    let Some(vertices) = vertices else { return false };
    if let [a, b, c] = vertices[..]
        && info.shape == "triangle"
    {
        let side = |[ax, ay, ..]: [f32; 4], [bx, by, ..]: [f32; 4]| {
            (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        };
        let sides = [side(a, b), side(b, c), side(c, a)];
        return sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0);
    }
    let span = |axis: usize| {
        let values = vertices.iter().map(|vertex| vertex[axis]);
        (values.clone().fold(f32::MAX, f32::min), values.fold(f32::MIN, f32::max))
    };
    let ((left, right), (top, bottom)) = (span(0), span(1));
    (left - 0.5..=right + 0.5).contains(&x) && (top - 0.5..=bottom + 0.5).contains(&y)
}
