//! The backward slice of a recorded thread: from a value to the instructions that made it.

use super::lanes::Lanes;
use super::record::{Backward, File, Recording, Step};
use crate::eu::Message;
use crate::eu::access::{self, Access, CELLS, Part, Use};
use crate::eu::debug::Location;
use crate::eu::kernel::Kernel;
use crate::eu::regions::{FLAGS, GRF_BYTES, REGISTER, Registers};
use crate::eu::uop::{NOWHERE, Op, Opcode, Type, Uop};
use crate::unit::render_cache;
use crate::unit::urb::{self, Transfer};
use genxml::gen8::message_headers::MhRt;
use genxml_eu::gen8::eu_messages::MsdRtw;
use genxml_eu::instruction::SharedFunction;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Maximum number of instructions of a slice.
pub const MAX_NODES: usize = 1 << 16;

/// The bytes of the flags in the register file.
const FLAG_BYTES: Range<usize> = FLAGS..FLAGS + 8;

/// Where a slice starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The values that a channel of the thread sends to the render target with this binding table
    /// index; the last such message counts.
    Output {
        /// Binding table index; `None` for any.
        binding: Option<u8>,
        /// The message has a sample mask (oMask).
        omask: bool,
        /// The message has a depth.
        depth: bool,
    },
    /// Bytes of the register file before the instruction at a byte offset of the kernel. The last
    /// execution of the instruction counts.
    Register {
        /// Byte offset of the instruction.
        offset: u32,
        /// The first byte and the number of bytes.
        part: Part,
        /// The type of the value.
        ty: Type,
    },
    /// The payload of the message at a byte offset of the kernel: what a channel writes to memory.
    /// The last execution counts.
    Message {
        /// Byte offset of the instruction.
        offset: u32,
    },
}

/// Why there is no slice.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SliceError {
    /// No message writes the pixel.
    #[error("the thread sends no message for the pixel to this render target")]
    NoWrite,
    /// The instruction was not executed.
    #[error("the thread does not execute an instruction at +{0:#x}")]
    NotExecuted(u32),
    /// The instruction is not a message.
    #[error("the instruction at +{0:#x} is not a send")]
    NoMessage(u32),
    /// The recording is too short.
    #[error("the thread has more than {0} instructions; a longer thread cannot be recorded")]
    TooLong(usize),
    /// The kernel is of another generation.
    #[error("slices of kernels of the G45 are not implemented")]
    OtherGeneration,
    /// The kernel could not be read.
    #[error("the kernel at {0:#x} cannot be read")]
    NoKernel(u64),
    /// No thread was recorded.
    #[error("no thread of the packet writes the value, or shades the pixel")]
    NoThread,
}

/// An element of a register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// Its name as in assembly, for example `r12.3`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value; `None` for accumulators, which are not recorded.
    pub bits: Option<u64>,
}

/// Where the value of an operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// An instruction of the slice: its index in [`Slice::nodes`].
    Node(usize),
    /// A register that no instruction has written: its index in [`Slice::inputs`].
    Input(usize),
}

/// An operand of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// What it is: `source 0`, `predicate`, `payload`, `red`...
    pub name: &'static str,
    /// The channel of the thread that reads it.
    pub channel: u8,
    /// The element and its value.
    pub element: Element,
    /// Where the value comes from.
    pub from: Vec<Origin>,
}

/// An instruction of a slice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Number of the instruction among those that the thread executed, from 0 on.
    pub step: usize,
    /// Byte offset of the instruction in the kernel.
    pub offset: u32,
    /// Channels of the thread whose results the slice needs.
    pub channels: u32,
    /// True if the instruction is here only because it decides whether others are executed.
    pub decides: bool,
    /// Operands.
    pub operands: Vec<Operand>,
    /// Results that the slice needs.
    pub results: Vec<Element>,
    /// Branches that decide whether the instruction is executed: indices in [`Slice::nodes`].
    pub because: Vec<usize>,
    /// The message.
    pub message: Option<Sent>,
}

/// A message of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// The shared function.
    pub function: SharedFunction,
    /// The descriptor.
    pub descriptor: u32,
}

/// A register, or a dword of the URB, that the thread read before any of its instructions wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Byte offset in the register file; `None` for accumulators and for the URB.
    pub at: Option<usize>,
    /// Byte offset in the URB, if the input is a dword there.
    pub urb: Option<usize>,
    /// The element and its value at the start of the thread.
    pub element: Element,
}

/// A dword of the URB that a slice starts at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Output {
    /// Byte offset in the URB.
    pub urb: usize,
    /// The message that wrote it: its index in [`Slice::nodes`]. `None` if the thread did not
    /// write it.
    pub node: Option<usize>,
}

/// The instructions of a thread that made a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Slice {
    /// Instructions in the order of execution. Without `outputs`, the last one is the start of the
    /// slice.
    pub nodes: Vec<Node>,
    /// The dwords of the URB that the slice starts at, in order.
    pub outputs: Vec<Output>,
    /// Registers and dwords of the URB that have values from outside the thread, in order.
    pub inputs: Vec<Input>,
    /// True if the slice has more instructions than are listed.
    pub is_cut: bool,
}

/// The backward slice of a recorded thread from `start`, for a channel of the thread.
///
/// # Errors
/// [`SliceError`] if the thread does not have the start, or was not recorded as a whole.
pub fn slice(
    recording: &Recording,
    kernel: &Kernel,
    channel: u8,
    start: &Start,
) -> Result<Slice, SliceError> {
    check(recording, kernel)?;
    let mut walk = Walk::new(kernel, channel);
    let mut backward = recording.backward();
    let mut started = false;
    while let Some((number, step)) = backward.step() {
        let Some(u) = uop(kernel, step.ip) else { continue };
        if !started {
            started = walk.start(number, step, u, &backward, start);
            continue;
        }
        walk.step(number, step, u, &backward);
    }
    if !started {
        return Err(match *start {
            Start::Output { .. } => SliceError::NoWrite,
            Start::Register { offset, .. } => SliceError::NotExecuted(offset),
            Start::Message { offset } => match uop(kernel, offset) {
                Some(u) if u.send.is_none() => SliceError::NoMessage(offset),
                _ => SliceError::NotExecuted(offset),
            },
        });
    }
    Ok(walk.finish(&backward.before))
}

/// The backward slice of a recorded thread from dwords of the URB, given as byte offsets, for a
/// channel of the thread. The last write of each dword counts.
///
/// # Errors
/// [`SliceError`] if the thread was not recorded as a whole.
pub fn slice_urb(
    recording: &Recording,
    kernel: &Kernel,
    channel: u8,
    wanted: &[usize],
) -> Result<Slice, SliceError> {
    check(recording, kernel)?;
    let mut walk = Walk::new(kernel, channel);
    walk.wanted = wanted.iter().map(|urb| (*urb, None)).collect();
    let mut backward = recording.backward();
    while let Some((number, step)) = backward.step() {
        if let Some(u) = uop(kernel, step.ip) {
            walk.step(number, step, u, &backward);
        }
    }
    Ok(walk.finish(&backward.before))
}

fn check(recording: &Recording, kernel: &Kernel) -> Result<(), SliceError> {
    if kernel.generation.has_message_registers() {
        return Err(SliceError::OtherGeneration);
    }
    if recording.is_cut {
        return Err(SliceError::TooLong(recording.steps.len()));
    }
    Ok(())
}

fn uop(kernel: &Kernel, offset: u32) -> Option<&Uop> {
    let index = kernel.index(offset)?;
    kernel.behind_breakpoint(index).or_else(|| kernel.uops.get(index as usize))
}

/// An operand that waits for the instruction that made it.
type Consumer = (u32, u32);

struct Walk<'k> {
    kernel: &'k Kernel,
    /// The channel of the thread that the slice is about.
    channel: usize,
    nodes: Vec<Node>,
    /// For each cell, the operands that read it.
    consumers: Vec<Vec<Consumer>>,
    /// The dwords of the URB that the slice starts at, with the node that wrote each.
    wanted: BTreeMap<usize, Option<usize>>,
    /// The operands that read a dword of the URB.
    urb: BTreeMap<usize, Vec<Consumer>>,
    /// The nodes by byte offset, to find those that a branch decides about.
    open: BTreeMap<u32, Vec<usize>>,
    /// Pairs of a node's number and a branch that was found for it.
    found: BTreeSet<(usize, u32)>,
    is_cut: bool,
}

impl<'k> Walk<'k> {
    fn new(kernel: &'k Kernel, channel: u8) -> Walk<'k> {
        Walk {
            kernel,
            channel: channel.into(),
            nodes: Vec::new(),
            consumers: vec![Vec::new(); CELLS],
            wanted: BTreeMap::new(),
            urb: BTreeMap::new(),
            open: BTreeMap::new(),
            found: BTreeSet::new(),
            is_cut: false,
        }
    }

    /// Starts the slice if it starts at this instruction.
    fn start(
        &mut self,
        number: usize,
        step: &Step,
        u: &Uop,
        at: &Backward<'_>,
        start: &Start,
    ) -> bool {
        let file = &at.before;
        match *start {
            Start::Output { binding, omask, depth } => {
                let Some(parts) = self.output(u, file, binding, omask, depth) else { return false };
                let node = self.node(number, step, u);
                self.nodes[node].channels = 1 << self.channel;
                self.sent(node, u, file);
                for (name, part, ty) in parts {
                    self.operand(node, name, self.channel, part, ty, file);
                }
                self.predicate(node, u, self.channel, file);
            }
            Start::Register { offset, part, ty } => {
                if step.ip != offset {
                    return false;
                }
                let node = self.node(number, step, u);
                self.nodes[node].channels = 1 << self.channel;
                self.operand(node, "register", self.channel, part, ty, file);
            }
            Start::Message { offset } => {
                if step.ip != offset || u.send.is_none() {
                    return false;
                }
                let lane = self.channel.wrapping_sub(usize::from(u.first));
                let node = self.node(number, step, u);
                self.nodes[node].channels = 1 << self.channel;
                self.message(node, u, [Some(lane)].into(), file);
                self.predicate(node, u, self.channel, file);
            }
        }
        true
    }

    /// The values of the channel in a render target write.
    fn output(
        &self,
        u: &Uop,
        file: &File,
        binding: Option<u8>,
        omask: bool,
        depth: bool,
    ) -> Option<Vec<(&'static str, Part, Type)>> {
        u.send.filter(|send| send.function == SharedFunction::DataPortRender)?;
        let packet = access::packet(u, file)?;
        let fields = MsdRtw::unpack_lossy(&[packet.descriptor]);
        if binding.is_some_and(|binding| u64::from(binding) != fields.binding_table_index.get()) {
            return None;
        }
        let (shape, upper) = render_cache::shape(packet.descriptor)?;
        let first = shape.first + if upper { render_cache::SLOTS } else { 0 };
        let lane = self.channel.checked_sub(first)?;
        if lane >= shape.slots {
            return None;
        }
        let mut parts = Vec::new();
        let mut at = packet.payload;
        let sent = fields.message_length.get() as usize;
        let part = |at: usize| Part::File(at as u16, 4);
        if fields.header_present {
            // The header selects the blend state, the slice and the pixels.
            let header = MhRt::DWORDS.min(2 * REGISTER / 4);
            parts.extend((0..header).map(|n| ("header", part(at + 4 * n), Type::Ud)));
            at += 2 * REGISTER;
        }
        let rows = shape.slots / 8;
        let colors = match (shape.replicated, shape.dual) {
            (true, _) => 1,
            (_, true) => 8 * rows,
            _ => 4 * rows,
        };
        let header = if fields.header_present { 2 } else { 0 };
        let depths = if depth && !shape.replicated { rows } else { 0 };
        let alphas = sent.checked_sub(header + colors + depths + usize::from(omask))?;
        let slot = 4 * lane;
        if alphas > 0 {
            parts.push(("alpha of source 0", part(at + slot), Type::F));
            at += alphas * REGISTER;
        }
        if omask {
            let slot = self.channel % 16;
            parts.push(("oMask", Part::File((at + 2 * slot) as u16, 2), Type::Uw));
            at += REGISTER;
        }
        let names = [
            "red",
            "green",
            "blue",
            "alpha",
            "second red",
            "second green",
            "second blue",
            "second alpha",
        ];
        for (n, name) in names.into_iter().enumerate().take(if shape.dual { 8 } else { 4 }) {
            let byte = if shape.replicated { 4 * n } else { n * rows * REGISTER + slot };
            parts.push((name, part(at + byte), Type::F));
        }
        if depths > 0 {
            parts.push(("depth", part(at + colors * REGISTER + slot), Type::F));
        }
        Some(parts)
    }

    /// Adds an instruction.
    fn node(&mut self, number: usize, step: &Step, u: &Uop) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node {
            step: number,
            offset: u.offset,
            channels: 0,
            decides: false,
            operands: Vec::new(),
            results: Vec::new(),
            because: Vec::new(),
            message: None,
        });
        self.open.entry(step.ip).or_default().push(node);
        node
    }

    /// Adds an operand to a node. The values of parts that are read twice are listed once.
    fn operand(
        &mut self,
        node: usize,
        name: &'static str,
        channel: usize,
        part: Part,
        ty: Type,
        file: &File,
    ) {
        let element = element(part, ty, file);
        let operands = &mut self.nodes[node].operands;
        if operands.iter().any(|it| it.name == name && it.element.name == element.name) {
            return;
        }
        let consumer = (node as u32, operands.len() as u32);
        operands.push(Operand { name, channel: channel as u8, element, from: Vec::new() });
        for cell in part.cells() {
            self.consumers[cell].push(consumer);
        }
    }

    /// Adds the flag bits that enable a channel of the thread.
    fn predicate(&mut self, node: usize, u: &Uop, channel: usize, file: &File) {
        let own = channel.saturating_sub(usize::from(u.first));
        for part in access::predicate(u, own) {
            self.operand(node, "predicate", channel, part, Type::Ud, file);
        }
    }

    /// Records the message of a node.
    fn sent(&mut self, node: usize, u: &Uop, file: &File) {
        if let (Some(send), Some(packet)) = (u.send, access::packet(u, file)) {
            let (function, descriptor) = (send.function, packet.descriptor);
            self.nodes[node].message = Some(Sent { function, descriptor });
        }
    }

    /// Adds the header and the payload that the lanes of a message depend on; `None` for all.
    fn message(&mut self, node: usize, u: &Uop, lanes: BTreeSet<Option<usize>>, file: &File) {
        let Some(packet) = access::packet(u, file) else { return };
        let Some(layout) = Lanes::of(u, &packet) else { return };
        self.sent(node, u, file);
        let mut access = Access::default();
        access::channel(u, 0, file, &mut access);
        for read in access.reads {
            self.operand(node, name(read.purpose), self.channel, read.part, read.ty, file);
        }
        for at in layout.header.clone().step_by(4) {
            self.operand(node, "header", self.channel, Part::File(at as u16, 4), Type::Ud, file);
        }
        let samples = u.send.is_some_and(|send| send.function == SharedFunction::Sampler);
        let ty = if samples { Type::F } else { Type::Ud };
        for lane in lanes {
            let channel = lane.map_or(self.channel, |lane| lane + usize::from(u.first));
            for Range { start, .. } in layout.payload(lane) {
                let part = Part::File(start as u16, 4);
                self.operand(node, "payload", channel, part, ty, file);
            }
        }
    }

    /// Adds the instruction to the slice if it made a value that the slice needs, or if it decides
    /// whether an instruction of the slice is executed.
    fn step(&mut self, number: usize, step: &Step, u: &Uop, at: &Backward<'_>) {
        if self.nodes.len() >= MAX_NODES {
            self.is_cut = true;
            return;
        }
        if let Some(send) = &u.send {
            return match send.function {
                SharedFunction::Urb => self.urb_message(number, step, u, at),
                _ => self.response(number, step, u, at),
            };
        }
        let mut node = None;
        for channel in 0..usize::from(u.size) {
            if step.mask >> channel & 1 == 0 {
                continue;
            }
            let mut access = Access::default();
            access::channel(u, channel, &at.before[..], &mut access);
            let channel = channel + usize::from(u.first);
            self.made(&mut node, &access, (number, step, u), Some(channel), at);
        }
        let mut access = Access::default();
        access::always(u, &at.before[..], &mut access);
        self.made(&mut node, &access, (number, step, u), None, at);
        self.decision(node, number, step, u, &at.before);
    }

    /// Adds a channel of an instruction if the slice needs one of its writes.
    fn made(
        &mut self,
        node: &mut Option<usize>,
        access: &Access,
        (number, step, u): (usize, &Step, &Uop),
        channel: Option<usize>,
        at: &Backward<'_>,
    ) {
        let needed: Vec<Part> =
            access.writes.iter().copied().filter(|part| self.needs(*part)).collect();
        if needed.is_empty() {
            return;
        }
        let index = match *node {
            Some(index) => index,
            None => *node.insert(self.node(number, step, u)),
        };
        for part in needed {
            self.made_by(index, part);
            let ty = match part {
                Part::Flag(_) => Type::Ud,
                _ => u.dst.ty,
            };
            self.nodes[index].results.push(element(part, ty, &at.after));
        }
        let own = channel.unwrap_or(self.channel);
        self.nodes[index].channels |= 1u32.checked_shl(own as u32).unwrap_or(0);
        for read in &access.reads {
            self.operand(index, name(read.purpose), own, read.part, read.ty, &at.before);
        }
        if u.op != Op::Isa(Opcode::Sel) {
            self.predicate(index, u, own, &at.before);
        }
    }

    fn needs(&self, part: Part) -> bool {
        part.cells().any(|cell| !self.consumers[cell].is_empty())
    }

    /// Links the operands that read a part with the node that made it.
    fn made_by(&mut self, node: usize, part: Part) {
        for cell in part.cells() {
            for (consumer, operand) in std::mem::take(&mut self.consumers[cell]) {
                link(&mut self.nodes, consumer, operand, Origin::Node(node));
            }
        }
    }

    /// Adds a message if the slice needs a part of its response.
    fn response(&mut self, number: usize, step: &Step, u: &Uop, at: &Backward<'_>) {
        let file = &at.before;
        let Some(packet) = access::packet(u, &file[..]) else { return };
        let Some(layout) = Lanes::of(u, &packet) else { return };
        if step.mask == 0 || layout.response.is_empty() {
            return;
        }
        let mut needed = Vec::new();
        for dword in layout.response.clone().step_by(4) {
            // A message leaves the lanes of disabled channels unchanged.
            let lane = layout.lane(dword);
            let enabled = lane.is_none_or(|lane| step.mask >> lane & 1 == 1);
            let part = Part::File(dword as u16, 4);
            if enabled && self.needs(part) {
                needed.push((part, lane));
            }
        }
        if needed.is_empty() {
            return;
        }
        let node = self.node(number, step, u);
        let mut lanes = BTreeSet::new();
        for (part, lane) in needed {
            self.made_by(node, part);
            self.nodes[node].results.push(element(part, Type::F, &at.after));
            lanes.insert(lane);
            let channel = lane.map_or(self.channel, |lane| lane + usize::from(u.first));
            self.nodes[node].channels |= 1u32.checked_shl(channel as u32).unwrap_or(0);
        }
        self.message(node, u, lanes, file);
        self.predicate(node, u, self.channel, file);
    }

    /// Adds a message to the URB if it wrote a dword that the slice needs, or if the slice needs a
    /// part of its response.
    fn urb_message(&mut self, number: usize, step: &Step, u: &Uop, at: &Backward<'_>) {
        let file = &at.before;
        let (Some(send), Some(packet)) = (u.send, access::packet(u, &file[..])) else { return };
        let mut registers = Registers::default();
        registers.grf_mut()[..GRF_BYTES].copy_from_slice(&file[..GRF_BYTES]);
        let message = Message {
            function: send.function,
            eot: false,
            descriptor: packet.descriptor,
            mask: step.mask,
            no_mask: false,
            channels: u.size,
            first: u.first,
            payload: packet.payload,
            response: packet.response,
            ip: u.offset,
        };
        let part = |transfer: &Transfer| Part::File(transfer.register as u16, 4);
        let moved = urb::transfers(&registers, &message);
        let (writes, reads): (Vec<Transfer>, Vec<Transfer>) = moved
            .into_iter()
            .filter(|it| match it.writes {
                true => self.wanted.get(&it.urb) == Some(&None) || self.urb.contains_key(&it.urb),
                false => self.needs(part(it)),
            })
            .partition(|it| it.writes);
        if writes.is_empty() && reads.is_empty() {
            return;
        }
        let node = self.node(number, step, u);
        self.sent(node, u, file);
        let mut access = Access::default();
        access::channel(u, 0, &file[..], &mut access);
        for read in access.reads {
            self.operand(node, name(read.purpose), self.channel, read.part, read.ty, file);
        }
        // Registers of handles, offsets and masks, before the data.
        let headers = urb::headers(packet.descriptor);
        let own = self.channel;
        let channel_of = |lane: Option<usize>| match lane {
            Some(lane) => lane + usize::from(u.first),
            None => own,
        };
        let channels: BTreeSet<(Option<usize>, usize)> =
            writes.iter().chain(&reads).map(|it| (it.lane, channel_of(it.lane))).collect();
        for (lane, channel) in &channels {
            self.nodes[node].channels |= 1u32.checked_shl(*channel as u32).unwrap_or(0);
            for register in 0..headers {
                let from = packet.payload + register * REGISTER;
                let dwords = match lane {
                    Some(lane) => *lane..lane + 1,
                    None => 0..REGISTER / 4,
                };
                for dword in dwords {
                    let part = Part::File((from + 4 * dword) as u16, 4);
                    self.operand(node, "header", *channel, part, Type::Ud, file);
                }
            }
            self.predicate(node, u, *channel, file);
        }
        // A message that reads and writes a dword reads it first.
        for write in &writes {
            let channel = channel_of(write.lane);
            self.operand(node, "data", channel, part(write), Type::F, file);
            for (consumer, operand) in self.urb.remove(&write.urb).unwrap_or_default() {
                link(&mut self.nodes, consumer, operand, Origin::Node(node));
            }
            if let Some(wanted @ None) = self.wanted.get_mut(&write.urb) {
                *wanted = Some(node);
            }
        }
        for read in &reads {
            self.made_by(node, part(read));
            let result = element(part(read), Type::F, &at.after);
            let name = format!("URB {:#x}", read.urb);
            let operand = Operand {
                name: "entry",
                channel: channel_of(read.lane) as u8,
                element: Element { name, ..result.clone() },
                from: Vec::new(),
            };
            let operands = &mut self.nodes[node].operands;
            operands.push(operand);
            let consumer = (node as u32, operands.len() as u32 - 1);
            self.nodes[node].results.push(result);
            self.urb.entry(read.urb).or_default().push(consumer);
        }
    }

    /// Makes a branch a part of the slice if it decides whether an instruction of the slice is
    /// executed.
    fn decision(&mut self, node: Option<usize>, number: usize, step: &Step, u: &Uop, file: &File) {
        if u.predicate.is_none() && !computed(u) {
            return;
        }
        let Some(range) = decided(u, self.kernel) else { return };
        let inside: Vec<usize> = self
            .open
            .range(range)
            .flat_map(|(_, nodes)| nodes)
            .copied()
            .filter(|node| self.nodes[*node].step > number)
            .filter(|node| !self.found.contains(&(*node, u.offset)))
            .collect();
        if inside.is_empty() {
            return;
        }
        let index = match node {
            Some(node) => node,
            None => {
                let index = self.node(number, step, u);
                self.nodes[index].decides = true;
                self.nodes[index].channels = 1 << self.channel;
                index
            }
        };
        for node in inside {
            self.found.insert((node, u.offset));
            self.nodes[node].because.push(index);
        }
        self.predicate(index, u, self.channel, file);
        if computed(u) {
            let mut access = Access::default();
            access::channel(u, 0, &file[..], &mut access);
            for read in access.reads {
                self.operand(index, name(read.purpose), self.channel, read.part, read.ty, file);
            }
        }
    }

    /// The slice, in the order of execution. `file` is the register file at the start.
    fn finish(mut self, file: &File) -> Slice {
        let mut inputs: Vec<Input> = Vec::new();
        let mut newest: Option<(usize, usize)> = None;
        for cell in 0..CELLS {
            let consumers = std::mem::take(&mut self.consumers[cell]);
            if consumers.is_empty() {
                continue;
            }
            // Bytes of the same dword are one input, and flag bits of the same word.
            let group = match access::file_byte(cell) {
                Some(byte) if FLAG_BYTES.contains(&byte) => byte & !1,
                Some(byte) => byte & !3,
                None => CELLS + cell / 4,
            };
            let index = match newest {
                Some((known, index)) if known == group => index,
                _ => {
                    let part = match access::file_byte(cell) {
                        Some(byte) if FLAG_BYTES.contains(&byte) => Part::File(group as u16, 2),
                        Some(_) => Part::File(group as u16, 4),
                        None => access::part_of(cell),
                    };
                    let at = access::file_byte(cell).map(|_| group);
                    inputs.push(Input { at, urb: None, element: element(part, Type::Ud, file) });
                    inputs.len() - 1
                }
            };
            newest = Some((group, index));
            for (node, operand) in consumers {
                link(&mut self.nodes, node, operand, Origin::Input(index));
            }
        }
        for (urb, consumers) in std::mem::take(&mut self.urb) {
            let element = Element { name: format!("URB {urb:#x}"), ty: Type::Ud, bits: None };
            inputs.push(Input { at: None, urb: Some(urb), element });
            for (node, operand) in consumers {
                link(&mut self.nodes, node, operand, Origin::Input(inputs.len() - 1));
            }
        }
        let last = self.nodes.len().wrapping_sub(1);
        let outputs = self
            .wanted
            .iter()
            .map(|(urb, node)| Output { urb: *urb, node: node.map(|node| last - node) })
            .collect();
        let mut nodes = self.nodes;
        nodes.reverse();
        for node in &mut nodes {
            for origin in node.operands.iter_mut().flat_map(|operand| &mut operand.from) {
                if let Origin::Node(index) = origin {
                    *index = last - *index;
                }
            }
            node.operands.iter_mut().for_each(|operand| operand.from.sort());
            node.because.iter_mut().for_each(|index| *index = last - *index);
            node.because.sort_unstable();
        }
        Slice { nodes, outputs, inputs, is_cut: self.is_cut }
    }
}

fn link(nodes: &mut [Node], node: u32, operand: u32, origin: Origin) {
    let from = &mut nodes[node as usize].operands[operand as usize].from;
    if !from.contains(&origin) {
        from.push(origin);
    }
}

/// True if the branch reads its target from a register.
fn computed(u: &Uop) -> bool {
    let Op::Isa(opcode) = u.op else { return false };
    let jumps = matches!(
        opcode,
        Opcode::Jmpi | Opcode::Brd | Opcode::Brc | Opcode::Call | Opcode::Calla | Opcode::Ret
    );
    jumps && u.branch.jip == NOWHERE
}

/// The byte offsets of the instructions that a branch decides about: those from the branch to its
/// targets. `None` for other instructions.
fn decided(u: &Uop, kernel: &Kernel) -> Option<Range<u32>> {
    let Op::Isa(opcode) = u.op else { return None };
    let is_branch = matches!(
        opcode,
        Opcode::If
            | Opcode::Else
            | Opcode::While
            | Opcode::Break
            | Opcode::Cont
            | Opcode::Halt
            | Opcode::Jmpi
            | Opcode::Brd
            | Opcode::Brc
            | Opcode::Goto
            | Opcode::Call
            | Opcode::Calla
            | Opcode::Ret
    );
    if !is_branch {
        return None;
    }
    if computed(u) {
        // Everything after a computed jump may depend on it.
        return Some(u.offset + 1..u32::MAX);
    }
    let at = |index: u32| kernel.uops.get(index as usize);
    let (mut first, mut end) = (u.offset + 1, u.offset + 1);
    for target in [u.branch.jip, u.branch.uip].into_iter().filter_map(at) {
        if target.offset <= u.offset {
            // A loop: the instructions of its body, in the next round.
            first = first.min(target.offset);
        } else {
            end = end.max(target.offset);
        }
        // A `break` that is not taken leads to the next round.
        if target.op == Op::Isa(Opcode::While)
            && let Some(head) = at(target.branch.jip)
        {
            first = first.min(head.offset);
        }
    }
    // Both sides of an `if`: JIP is after `else`, UIP at `endif`.
    (first < end).then_some(first..end)
}

const fn name(purpose: Use) -> &'static str {
    match purpose {
        Use::Source(0) => "source 0",
        Use::Source(1) => "source 1",
        Use::Source(_) => "source 2",
        Use::Accumulator => "accumulator",
        Use::Address => "address",
        Use::Choice => "choice",
        Use::Descriptor => "descriptor",
    }
}

/// The element at a part.
fn element(part: Part, ty: Type, file: &File) -> Element {
    let name = match part {
        Part::File(at, _) => Location::File(at).name(ty.size()),
        Part::Accumulator(at, _) => Location::Accumulator(at).name(ty.size()),
        Part::Flag(bit) => format!("f{}.{} bit {}", bit / 32, bit / 16 % 2, bit % 16),
        Part::Extension(selector, channel) => format!("mme{selector} channel {channel}"),
    };
    Element { name, ty, bits: access::value(part, file) }
}
