//! Render cache data port: messages of pixel shaders that write render targets (2d p.255,
//! p.353-357; 003:4911).
//!
//! This module decodes the pixels and colours of a message. [`crate::render::merge`] writes them to
//! the render target.

use crate::eu::Message;
use crate::eu::ending::Ending;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Refusal;
use genxml::gen8::message_headers::{MhRt, MhcRtC0FrontBackFacingPolygon, MhcRtSubspan};
use genxml_eu::gen8::eu_messages::{
    MsdRtw, MsdRtwPrecision, MsdRtwSlotGroupSelect, MtDpRt, RenderTargetWriteSubtype,
};
use genxml_eu::instruction::SharedFunction;

/// Maximum number of slots of a message. Each slot is a pixel.
pub const SLOTS: usize = 16;

/// Red, green, blue and alpha of sixteen slots: bits of floats, or integers.
pub type Source = [[u32; SLOTS]; 4];

/// Values from the dispatch of a thread. Messages without a header use them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dispatched {
    /// Render target array index.
    pub slice: u32,
    /// Viewport.
    pub viewport: u8,
    /// True if the primitive is back-facing.
    pub back: bool,
    /// Column and row of the upper left pixel of each quad. A quad is four consecutive slots.
    pub subspans: [[u32; 2]; 8],
    /// Mask of covered slots.
    pub mask: u32,
    /// True if messages contain a sample mask (3DSTATE_PS_EXTRA).
    pub omask: bool,
    /// True if messages contain depth (3DSTATE_PS_EXTRA).
    pub depth: bool,
}

/// The binding table index of a render target write with this descriptor.
pub fn binding(descriptor: u32) -> u8 {
    MsdRtw::unpack_lossy(&[descriptor]).binding_table_index.get() as u8
}

/// The render target writes of one or more threads, in order.
///
/// A write has several hundred bytes, so the list keeps the memory of earlier writes for later
/// ones.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    /// The first `count` writes are valid. Old writes follow, whose memory is reused.
    list: Vec<Write>,
    count: usize,
    /// The descriptor of the first plain message that began the list. It is not decoded again.
    plain: Option<Plain>,
}

/// The decoded descriptor of a plain message. A plain message has no header. It has one colour for
/// each slot, and nothing else. Most messages of a draw have the same descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Plain {
    descriptor: u32,
    shape: Shape,
    binding: u8,
    last: bool,
    upper: bool,
}

impl Plain {
    /// Decodes a descriptor that [`parse`] has accepted. `None` if the message is not plain.
    fn of(bits: u32, dispatched: &Dispatched) -> Option<Plain> {
        let descriptor = MsdRtw::unpack_lossy(&[bits]);
        let shape = supported(&descriptor).ok()?;
        let plain = !descriptor.header_present
            && !shape.dual
            && !shape.replicated
            && !dispatched.omask
            && !dispatched.depth;
        plain.then(|| Plain {
            descriptor: bits,
            shape,
            binding: descriptor.binding_table_index.get() as u8,
            last: descriptor.last_render_target_select,
            upper: descriptor.slot_group_select == MsdRtwSlotGroupSelect::SLOTGRP_HI,
        })
    }

    /// True if the message is plain, with the same descriptor.
    #[inline(always)]
    fn matches(&self, message: &Message, dispatched: &Dispatched) -> bool {
        self.descriptor == message.descriptor && !dispatched.omask && !dispatched.depth
    }

    /// As [`parse`], for a message that [matches](Self::matches).
    #[inline(always)]
    fn parse(
        &self,
        registers: &Registers,
        message: &Message,
        dispatched: &Dispatched,
        write: &mut Write,
    ) {
        let Plain { shape, upper, .. } = *self;
        write.binding = self.binding;
        write.entry = 0;
        write.last = self.last;
        write.start(&shape, upper, dispatched);
        write.mask = mask(&shape, upper, message, dispatched);
        let (at, slots, first) = (message.payload, shape.slots, shape.first);
        Reader { registers, at, slots, first }.color(&mut write.color);
    }
}

impl Writes {
    /// Removes all writes.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Decodes a message and adds its write.
    ///
    /// # Errors
    /// As [`parse`]. Then nothing is added.
    pub fn add(
        &mut self,
        registers: &Registers,
        message: &Message,
        dispatched: &Dispatched,
    ) -> Result<(), Refusal> {
        if self.count == self.list.len() {
            self.list.push(Write::default());
        }
        let write = &mut self.list[self.count];
        match &self.plain {
            Some(plain) if plain.matches(message, dispatched) => {
                plain.parse(registers, message, dispatched, write);
            }
            _ => {
                parse(registers, message, dispatched, write)?;
                if self.count == 0 && self.plain.is_none() {
                    self.plain = Plain::of(message.descriptor, dispatched);
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Number of writes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The writes.
    pub fn all(&mut self) -> &mut [Write] {
        &mut self.list[..self.count]
    }

    /// The newest write.
    pub fn newest(&self) -> Option<&Write> {
        self.list[..self.count].last()
    }
}

/// A render target write.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Write {
    /// Index of the surface in the binding table.
    pub binding: u8,
    /// Entry of BLEND_STATE.
    pub entry: u8,
    /// True for the last message for these pixels.
    pub last: bool,
    /// True if the slots are 31:16 of the thread, false if they are 15:0.
    pub upper: bool,
    /// Mask of the slots that the message subtype addresses. Bit 0 is the first of sixteen slots.
    pub slots: u16,
    /// Mask of the slots that are written.
    pub mask: u16,
    /// Column and row of the upper left pixel of each quad. A quad is four consecutive slots.
    pub subspans: [[u32; 2]; 4],
    /// Render target array index.
    pub slice: u32,
    /// Viewport.
    pub viewport: u8,
    /// True if the primitive is back-facing.
    pub back: bool,
    /// Colours, by slot.
    pub color: Source,
    /// Second colours, for dual source blending.
    pub second: Option<Source>,
    /// Alpha of the first render target's colours (source 0).
    pub alpha: Option<[u32; SLOTS]>,
    /// Sample mask (oMask) of each slot.
    pub omask: Option<[u16; SLOTS]>,
    /// Depths that the shader computed.
    pub depth: Option<[f32; SLOTS]>,
}

impl Write {
    /// Sets the slots, and the values that come from the dispatch of the thread. Removes the second
    /// colours, the alpha values, the sample masks and the depths.
    #[inline(always)]
    fn start(&mut self, shape: &Shape, upper: bool, dispatched: &Dispatched) {
        self.upper = upper;
        self.slots = shape.mask() as u16;
        let [a, b, c, d, e, f, g, h] = dispatched.subspans;
        self.subspans = if upper { [e, f, g, h] } else { [a, b, c, d] };
        self.slice = dispatched.slice;
        self.viewport = dispatched.viewport;
        self.back = dispatched.back;
        (self.second, self.alpha, self.omask, self.depth) = (None, None, None, None);
    }
}

/// Slots and colours of a message subtype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Number of slots of the message.
    pub slots: usize,
    /// Number of the message's first slot among the sixteen slots of a `Write`: 0 or 8.
    pub first: usize,
    /// True if all slots have the same colour.
    pub replicated: bool,
    /// True if each slot has two colours.
    pub dual: bool,
}

impl Shape {
    /// `slots` slots from slot `first` on, each with its own colour.
    pub fn new(slots: usize, first: usize) -> Shape {
        Shape { slots, first, replicated: false, dual: false }
    }

    fn of(subtype: RenderTargetWriteSubtype) -> Option<Shape> {
        let shape = Shape::new;
        Some(match subtype {
            RenderTargetWriteSubtype::SIMD16 => shape(16, 0),
            RenderTargetWriteSubtype::SIMD16_REPDATA => Shape { replicated: true, ..shape(16, 0) },
            RenderTargetWriteSubtype::SIMD8_DUALSRC_LO => Shape { dual: true, ..shape(8, 0) },
            RenderTargetWriteSubtype::SIMD8_DUALSRC_HI => Shape { dual: true, ..shape(8, 8) },
            RenderTargetWriteSubtype::SIMD8_LO => shape(8, 0),
            _ => return None,
        })
    }

    /// Mask of the message's slots among sixteen.
    pub fn mask(&self) -> u32 {
        ((1 << self.slots) - 1) << self.first
    }
}

/// The slots and colours of a render target write, by its descriptor; `None` for messages that
/// [`parse`] refuses.
pub fn shape(descriptor: u32) -> Option<(Shape, bool)> {
    let descriptor = MsdRtw::unpack_lossy(&[descriptor]);
    let upper = descriptor.slot_group_select == MsdRtwSlotGroupSelect::SLOTGRP_HI;
    supported(&descriptor).ok().map(|shape| (shape, upper))
}

/// Reads the parts of a message's payload one after the other.
struct Reader<'r> {
    registers: &'r Registers,
    at: usize,
    slots: usize,
    first: usize,
}

impl Reader<'_> {
    /// Reads one dword for each slot of the message. Other slots get 0.
    #[inline(always)]
    fn slots(&mut self) -> [u32; SLOTS] {
        let mut lanes = [0; SLOTS];
        if self.slots == SLOTS {
            lanes = self.registers.dwords(self.at);
        } else {
            let half: [u32; 8] = self.registers.dwords(self.at);
            lanes[self.first..self.first + 8].copy_from_slice(&half);
        }
        self.at += 4 * self.slots;
        lanes
    }

    #[inline(always)]
    fn color(&mut self, color: &mut Source) {
        color.iter_mut().for_each(|lanes| *lanes = self.slots());
    }
}

/// Returns the slots and colours of a message, or refuses a message that does not exist or that the
/// model does not implement.
///
/// Bit 13 (Per Sample) has a meaning from Gen9 on only: Gen8 ignores it (2a MSD_RTW_HI8DS). Threads
/// for whole pixels write single samples by oMask.
fn supported(descriptor: &MsdRtw) -> Result<Shape, Refusal> {
    match descriptor.message_type {
        MtDpRt::MT_RTW => {}
        MtDpRt::MT_RTR => return Err(Refusal::missing("render target reads", "2d p.352")),
        other => {
            let why =
                format!("type {} of a message to the render cache does not exist", other.bits());
            return Err(Refusal::illegal(why));
        }
    }
    if descriptor.precision == MsdRtwPrecision::HALF {
        return Err(Refusal::missing("half-precision render target writes", "2a p.459"));
    }
    Shape::of(descriptor.message_subtype).ok_or_else(|| {
        let subtype = descriptor.message_subtype.bits();
        Refusal::illegal(format!("render target write: subtype {subtype} is reserved"))
    })
}

/// True if a kernel ends with a render target write whose colours are the same in all threads that
/// start with whole quads. The message has no header and nothing besides colours.
pub fn is_constant(ending: &Ending) -> bool {
    if ending.function != SharedFunction::DataPortRender {
        return false;
    }
    let descriptor = MsdRtw::unpack_lossy(&[ending.descriptor]);
    let Ok(shape) = supported(&descriptor) else { return false };
    let sent = descriptor.message_length.get() as usize * REGISTER / 4;
    if descriptor.header_present || shape.dual || shape.slots != usize::from(ending.channels) {
        return false;
    }
    // The channels of the first quad are enabled in every thread.
    match shape.replicated {
        true => sent == REGISTER / 4 && ending.is_constant(0..4, 4),
        false => {
            let slots = shape.slots;
            let color = |n: usize| ending.is_constant(n * slots..(n + 1) * slots, ending.channels);
            sent == 4 * slots && (0..4).all(color)
        }
    }
}

/// The slots that a message without a header writes.
#[inline(always)]
fn mask(shape: &Shape, upper: bool, message: &Message, dispatched: &Dispatched) -> u16 {
    enabled(dispatched.mask >> if upper { 16 } else { 0 }, shape, message)
}

/// The `covered` slots whose channel is enabled. The `send` may have fewer channels than the
/// message has slots. Slots without a channel count as enabled.
#[inline(always)]
fn enabled(covered: u32, shape: &Shape, message: &Message) -> u16 {
    let channels = (message.mask | !0 << message.channels.min(31)) << shape.first;
    (covered & channels & shape.mask()) as u16
}

/// Decodes a render target write into `write`, whose old values have no effect. A slot of the
/// message is written if the header's pixel mask includes it and the `send` enables its channel.
/// Without a header, the mask of the dispatched slots replaces the header's mask (gen8_facts 4.3).
///
/// # Errors
/// [`Refusal`] for message types that do not exist or that the model does not implement, and for a
/// wrong number of registers. Then the contents of `write` are not defined.
pub fn parse(
    registers: &Registers,
    message: &Message,
    dispatched: &Dispatched,
    write: &mut Write,
) -> Result<(), Refusal> {
    let descriptor = MsdRtw::unpack_lossy(&[message.descriptor]);
    let shape = supported(&descriptor)?;
    let upper = descriptor.slot_group_select == MsdRtwSlotGroupSelect::SLOTGRP_HI;
    write.binding = descriptor.binding_table_index.get() as u8;
    write.entry = 0;
    write.last = descriptor.last_render_target_select;
    write.start(&shape, upper, dispatched);
    write.mask = mask(&shape, upper, message, dispatched);
    let (mut alpha, mut omask, mut depth) = (false, dispatched.omask, dispatched.depth);
    let mut at = message.payload;
    let sent = descriptor.message_length.get() as usize;
    if descriptor.header_present {
        if sent < 2 {
            return Err(Refusal::illegal("render target write: a header has two registers"));
        }
        let header = MhRt::unpack_lossy(&registers.dwords(at));
        let controls = header.render_target_controls_0;
        if controls.stencil_present_to_render_target {
            return Err(Refusal::missing("stencil values in render target writes", "2d p.357"));
        }
        at += 2 * REGISTER;
        let covered = header.pixel_sample_enables.pixel_sample_enables.get() as u32;
        write.mask = enabled(covered, &shape, message);
        alpha = controls.source0_alpha_present_to_render_target;
        omask |= controls.o_mask_to_render_target;
        depth |= controls.source_depth_present_to_render_target;
        write.entry = header.render_target_index.render_target_index.get() as u8;
        write.slice = controls.render_target_array_index.get() as u32;
        write.viewport = controls.viewport_index.get() as u8;
        write.back =
            controls.front_back_facing_polygon == MhcRtC0FrontBackFacingPolygon::BACK_FACING;
        // Quads lie at even columns and rows.
        let corner =
            |subspan: MhcRtSubspan| [subspan.x.get() as u32 & !1, subspan.y.get() as u32 & !1];
        write.subspans =
            [header.subspan_0, header.subspan_1, header.subspan_2, header.subspan_3].map(corner);
    }
    let mut reader = Reader { registers, at, slots: shape.slots, first: shape.first };
    let rows = shape.slots / 8;
    let colors = if shape.replicated { 1 } else { 4 * rows * if shape.dual { 2 } else { 1 } };
    // Messages with two colours for each slot, or with one colour for all slots, have no separate
    // alpha of source 0 (2d p.357).
    let alpha = alpha && !shape.dual && !shape.replicated;
    let depth = depth && !shape.replicated;
    let header = if descriptor.header_present { 2 } else { 0 };
    let parts = [(alpha, rows), (omask, 1), (true, colors), (depth, rows)];
    let needs: usize =
        header + parts.iter().map(|&(present, rows)| if present { rows } else { 0 }).sum::<usize>();
    if sent != needs {
        return Err(Refusal::illegal(format!(
            "this render target write needs {needs} registers for its header and data, but its \
             message length is {sent}"
        )));
    }
    if alpha {
        write.alpha = Some(reader.slots());
    }
    if omask {
        write.omask = Some(std::array::from_fn(|n| registers.u16(reader.at + 2 * n)));
        reader.at += REGISTER;
    }
    if shape.replicated {
        write.color = registers.dwords::<4>(reader.at).map(|value| [value; SLOTS]);
    } else {
        reader.color(&mut write.color);
        if shape.dual {
            reader.color(write.second.insert([[0; SLOTS]; 4]));
        }
        if depth {
            write.depth = Some(reader.slots().map(f32::from_bits));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
