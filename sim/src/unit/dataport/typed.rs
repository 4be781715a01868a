//! Typed surface messages: access elements of a surface by coordinates, in the surface's format.
//!
//! Each slot has up to four coordinates: U, V, R and LOD. In SIMD8 each coordinate has its own
//! register (2d p.430), and the last coordinates may be missing if the surface does not use them.
//! In SIMD4x2 the four coordinates of a slot are side by side in half a register (2d p.420). Values
//! have 32 bits for each channel and are converted from and to the format of the surface. Elements
//! outside of the surface read as elements of zero bits and are not written.

use super::{outside, target};
use crate::assumptions::TYPED_READS_OUTSIDE_DECODE_ZEROS;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use crate::surface::format::Numeric;
use crate::surface::format::codec;
use crate::surface::{Codec, Dimension, Level, Surface, SurfaceKind, TileMode};
use crate::unit::atomic::{self, Width};
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml::gen8::descriptors::{MdcSg2, MdcSg3};
use genxml::gen8::message_headers::Mh1BtsPsm;
use genxml::gen8::messages::{DataPort1MessageDescriptor, MtDp1};
use genxml::gen8::state::ShaderChannelSelect;
use genxml_eu::gen8::eu_messages::{MdcAop, Msd1Tai, Msd1Ts};

/// Maximum number of slots of a message.
const SLOTS: usize = 8;
/// Bytes of the largest element that typed messages support.
const MOST_BYTES: usize = 16;

/// Executes a typed read, write or atomic operation of data port 1.
///
/// # Errors
/// Page faults of the surface, and [`Fault::IllegalInstruction`] for surfaces and formats that
/// typed messages do not support, for reserved values in the descriptor, and for messages of the
/// wrong length.
pub(super) fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let kind = DataPort1MessageDescriptor::unpack_lossy(&[message.descriptor]).message_type;
    match kind {
        MtDp1::MT1R_TS | MtDp1::MT1W_TS => transfer(port, registers, message),
        _ => operation(port, registers, message),
    }
}

/// The slots of a message, and the positions of their coordinates and data in the registers.
struct Slots {
    /// True for two slots in the halves of a register (SIMD4x2), false for eight slots.
    pair: bool,
    /// Mask of active slots.
    mask: u32,
    /// Byte offset of the first coordinate register.
    at: usize,
    /// Number of coordinate registers. With eight slots, each register holds one coordinate of
    /// every slot.
    coordinates: usize,
    /// Byte offset of the first data register.
    data: usize,
}

impl Slots {
    /// Checks the lengths of a message with `data` registers of data after its coordinates, and a
    /// response of `back` registers. `upper` selects bits 15:8 of the header's mask instead of 7:0.
    fn new(
        port: &Port<'_, '_>,
        registers: &Registers,
        payload: &Payload<'_>,
        (pair, upper): (bool, bool),
        (data, back): (usize, usize),
    ) -> Result<Slots, Fault> {
        let message = payload.message;
        let most = if pair { 1 } else { 4 };
        let coordinates = payload.sent().saturating_sub(data).clamp(1, most);
        payload.check(port, coordinates + data, back)?;
        // A slot of SIMD4x2 has four channels and is active if one of them is enabled. The header's
        // mask applies to messages with eight slots only (2d p.299).
        let mask = if pair {
            u32::from(message.mask & 0x0f != 0) | u32::from(message.mask & 0xf0 != 0) << 1
        } else if let Some(header) = payload.header {
            let header = Mh1BtsPsm::unpack_lossy(&registers.dwords(header));
            let pixels = header.pixel_sample_mask.pixel_sample_mask.get() as u32;
            message.mask & pixels >> if upper { 8 } else { 0 } & 0xff
        } else {
            message.mask & 0xff
        };
        let at = payload.body;
        Ok(Slots { pair, mask, at, coordinates, data: at + coordinates * REGISTER })
    }

    /// The active slots in order.
    fn active(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..SLOTS).filter(move |slot| mask >> slot & 1 == 1)
    }

    /// U, V, R and LOD of a slot. Coordinates that the message does not have are 0.
    #[inline]
    fn coordinates(&self, registers: &Registers, slot: usize) -> [u32; 4] {
        if self.pair {
            return registers.dwords(self.at + slot * (REGISTER / 2));
        }
        let mut coordinates = [0; 4];
        for (n, coordinate) in coordinates.iter_mut().take(self.coordinates).enumerate() {
            *coordinate = registers.u32(self.at + n * REGISTER + 4 * slot);
        }
        coordinates
    }

    /// The coordinates of the first slot, if all eight slots are active and are neighbours: U grows
    /// by one from slot to slot, and the other coordinates are equal.
    #[inline]
    fn neighbours(&self, registers: &Registers) -> Option<[u32; 4]> {
        if self.pair || self.mask != 0xff {
            return None;
        }
        let (mut first, mut differ) = ([0; 4], 0);
        for (n, first) in first.iter_mut().take(self.coordinates).enumerate() {
            let row: [u32; SLOTS] = registers.dwords(self.at + n * REGISTER);
            let step = u32::from(n == 0);
            *first = row[0];
            let expected = |slot: usize| row[0].wrapping_add(slot as u32 * step);
            differ |= (0..SLOTS).fold(0, |bits, slot| bits | (row[slot] ^ expected(slot)));
        }
        (differ == 0).then_some(first)
    }

    /// Byte offset of value `n` of a slot, from the first data register.
    #[inline]
    fn place(&self, n: usize, slot: usize) -> usize {
        if self.pair { slot * (REGISTER / 2) + 4 * n } else { n * REGISTER + 4 * slot }
    }
}

/// Finds elements of a surface. Caches the last level, because slots usually access the same level,
/// and the last element, because slots usually access neighbours.
struct Finder<'s> {
    surface: &'s Surface,
    level: Option<(u32, Option<Level>)>,
    /// Coordinates and address of the last element that was found.
    last: Option<([u32; 4], u64)>,
    /// Neighbours in U are adjacent in memory up to a multiple of this number of bytes.
    run: u64,
}

/// Bytes of a column of a Y tile. Longer runs exist in other memory.
const RUN: u64 = 16;

impl<'s> Finder<'s> {
    fn new(surface: &'s Surface) -> Finder<'s> {
        let rows = matches!(surface.tile_mode, TileMode::Linear | TileMode::X | TileMode::Y);
        let texels = surface.layout.block == [1, 1] && !surface.layout.interleaved;
        let aligned = surface.base.is_multiple_of(RUN) && surface.element_bytes.is_power_of_two();
        let image = surface.kind == SurfaceKind::Image;
        let run = if image && rows && texels && aligned { RUN } else { 1 };
        Finder { surface, level: None, last: None, run }
    }

    /// Graphics address of the element at U, V, R and LOD; `None` outside of the surface.
    #[inline]
    fn find(&mut self, at: [u32; 4]) -> Option<u64> {
        let found = self.neighbour(at);
        debug_assert!(found.is_none() || found == self.locate(at), "the neighbour is elsewhere");
        let address = match found {
            Some(address) => address,
            None => self.locate(at)?,
        };
        self.last = Some((at, address));
        Some(address)
    }

    /// The address of the element, if it is the right neighbour of the last one and adjacent to it.
    #[inline]
    fn neighbour(&self, [u, v, r, lod]: [u32; 4]) -> Option<u64> {
        let ([last, y, z, level], address) = self.last?;
        let next = address + u64::from(self.surface.element_bytes);
        let width = self.level?.1?.width;
        let adjacent = u == last.wrapping_add(1) && u < width && !next.is_multiple_of(self.run);
        (adjacent && (v, r, lod) == (y, z, level)).then_some(next)
    }

    /// The addresses of the elements of eight slots at neighbouring U, from `first` on. `None` if
    /// one is outside of the surface.
    fn row(&mut self, first: [u32; 4]) -> Option<[u64; SLOTS]> {
        let size = u64::from(self.surface.element_bytes);
        let mut addresses = [0; SLOTS];
        let mut slot = 0;
        while slot < SLOTS {
            let [u, v, r, lod] = first;
            let address = self.locate([u.checked_add(slot as u32)?, v, r, lod])?;
            // The elements up to the next multiple of `run` are adjacent.
            let adjacent = (self.run - address % self.run) / size;
            let end = SLOTS.min(slot + (adjacent as usize).max(1));
            for (to, n) in addresses[slot..end].iter_mut().zip(0..) {
                *to = address + n * size;
            }
            slot = end;
        }
        // Only the first element of each group was checked. The last one may be beyond the edge.
        let [u, v, r, lod] = first;
        self.locate([u.checked_add(SLOTS as u32 - 1)?, v, r, lod]).map(|_| addresses)
    }

    /// As [`find`](Self::find), without the last element.
    ///
    /// Coordinates that the surface does not use are ignored, as in the sampler (003:4038). In an
    /// array, the layer follows the other coordinates (Mesa, brw_fs_nir.cpp). In a cube map, R is
    /// the face (gen8_facts 4.6).
    fn locate(&mut self, [u, v, r, lod]: [u32; 4]) -> Option<u64> {
        let surface = self.surface;
        if surface.kind == SurfaceKind::Buffer {
            let offset = u64::from(u) * u64::from(surface.pitch);
            return (u < surface.width).then(|| surface.base.wrapping_add(offset));
        }
        let level = match self.level {
            Some((known, level)) if known == lod => level?,
            _ => self.level.insert((lod, surface.level(lod))).1?,
        };
        let dimension = surface.layout.dimension;
        let (y, layer) = match dimension {
            Dimension::One => (0, if surface.array { v } else { 0 }),
            Dimension::Two => (v, if surface.array { r } else { 0 }),
            Dimension::Three | Dimension::Cube => (v, r),
        };
        // The extent of the view counts from the first accessible slice (2d p.338).
        let layers = match dimension {
            Dimension::Three => {
                surface.view_extent.min(level.depth.saturating_sub(surface.first_slice))
            }
            _ => surface.slices,
        };
        (u < level.width && y < level.height && layer < layers)
            .then(|| surface.texel(&level, surface.first_slice + layer, u, y, 0))
    }
}

/// The surface of a message. `takes` returns whether the message supports a format.
fn surface(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    index: u64,
    takes: impl Fn(&Codec) -> bool,
) -> Result<Surface, Fault> {
    let surface = target::surface(port, payload, index)?.surface;
    let why = match surface.codec {
        _ if surface.kind == SurfaceKind::Null => return Ok(surface),
        _ if surface.kind == SurfaceKind::Structured => "a structured buffer".into(),
        _ if surface.layout.samples > 1 => "a surface with several samples".into(),
        Some(codec) if !takes(codec) => codec.format().name.to_string(),
        _ => return Ok(surface),
    };
    Err(port.illegal(
        format!("{} of {why}, which the data port does not support", payload.name),
        payload.message,
    ))
}

/// Executes a typed read or write.
fn transfer(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1Ts::unpack_lossy(&[message.descriptor]);
    let writes = descriptor.message_type == MtDp1::MT1W_TS;
    let payload = Payload::open(message, if writes { "a typed write" } else { "a typed read" });
    let mode = match descriptor.slot_group {
        MdcSg3::SG4X2 => (true, false),
        MdcSg3::SG8L => (false, false),
        MdcSg3::SG8U => (false, true),
        other => return Err(payload.reserved(port, "Slot Group", other.bits())),
    };
    // A set bit excludes a channel (2d p.73).
    let present = !descriptor.channel_mask.bits() as u8 & codec::ALL;
    if present == 0 {
        return Err(payload.reserved(port, "Channel Mask", descriptor.channel_mask.bits()));
    }
    let data = if mode.0 { 1 } else { present.count_ones() as usize };
    let index = descriptor.binding_table_index.get();
    if writes {
        let slots = Slots::new(port, registers, &payload, mode, (data, 0))?;
        let surface = surface(port, &payload, index, Codec::typed_write)?;
        write(port, &payload, registers, &slots, &surface, present)
    } else {
        let slots = Slots::new(port, registers, &payload, mode, (0, data))?;
        let surface = surface(port, &payload, index, Codec::typed_read)?;
        let Some(response) = payload.answer() else { return Ok(()) };
        read(port, &payload, registers, &slots, &surface, present, response)
    }
}

/// Index of channel `channel` among the values of a slot; `None` if the message does not have this
/// channel. With eight slots, missing channels take no register. With two slots, each channel has a
/// fixed position (MDP_DW_SIMD4X2, 2d p.126).
fn value_of(slots: &Slots, present: u8, channel: usize) -> Option<usize> {
    let below =
        if slots.pair { channel } else { (present & ((1 << channel) - 1)).count_ones() as usize };
    (present >> channel & 1 == 1).then_some(below)
}

/// The elements of a message's slots. Elements that are contiguous in memory are read or written
/// together.
struct Elements {
    /// Mask of the slots whose element lies inside of the surface.
    mask: u32,
    addresses: [u64; SLOTS],
    /// Bytes of an element.
    size: usize,
    bytes: [u8; SLOTS * MOST_BYTES],
}

impl Elements {
    fn find(
        port: &mut Port<'_, '_>,
        slots: &Slots,
        registers: &Registers,
        surface: &Surface,
        write: bool,
    ) -> Elements {
        let size = surface.element_bytes as usize;
        let mut elements =
            Elements { mask: 0, addresses: [0; SLOTS], size, bytes: [0; SLOTS * MOST_BYTES] };
        let mut finder = Finder::new(surface);
        if let Some(first) = slots.neighbours(registers)
            && let Some(addresses) = finder.row(first)
        {
            return Elements { mask: 0xff, addresses, ..elements };
        }
        for slot in slots.active() {
            let coordinates = slots.coordinates(registers, slot);
            match finder.find(coordinates) {
                Some(address) => {
                    elements.mask |= 1 << slot;
                    elements.addresses[slot] = address;
                }
                None => outside::element(port, surface, slot, coordinates, write),
            }
        }
        port.exec.stats.cut_off += u64::from((slots.mask & !elements.mask).count_ones());
        elements
    }

    /// Calls `work` with the address and the bytes of each contiguous piece of memory. Returns the
    /// number of bytes.
    #[inline]
    fn each(
        &mut self,
        mut work: impl FnMut(u64, &mut [u8]) -> Result<(), PageFault>,
    ) -> Result<u64, PageFault> {
        let (mut slot, mut sum) = (0, 0);
        while slot < SLOTS {
            let first = slot;
            slot += 1;
            if self.mask >> first & 1 == 0 {
                continue;
            }
            let end = |slot: usize| self.addresses[slot - 1].wrapping_add(self.size as u64);
            while slot < SLOTS && self.mask >> slot & 1 == 1 && self.addresses[slot] == end(slot) {
                slot += 1;
            }
            work(self.addresses[first], &mut self.bytes[first * self.size..slot * self.size])?;
            sum += ((slot - first) * self.size) as u64;
        }
        Ok(sum)
    }

    fn read(&mut self, port: &mut Port<'_, '_>, payload: &Payload<'_>) -> Result<(), Fault> {
        let vm = &port.exec.vm;
        let bytes = self.each(|address, bytes| vm.read(address, bytes));
        target::observe(port, false, false);
        payload.moved(port, false, bytes)
    }

    fn write(&mut self, port: &mut Port<'_, '_>, payload: &Payload<'_>) -> Result<(), Fault> {
        let vm = &mut port.exec.vm;
        let bytes = self.each(|address, bytes| vm.write(address, bytes));
        target::observe(port, false, true);
        payload.moved(port, true, bytes)
    }

    /// The bytes of the elements of all slots.
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[..SLOTS * self.size]
    }
}

fn write(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    registers: &Registers,
    slots: &Slots,
    surface: &Surface,
    present: u8,
) -> Result<(), Fault> {
    let Some(codec) = surface.codec.filter(|_| surface.kind != SurfaceKind::Null) else {
        port.exec.stats.cut_off += slots.active().count() as u64;
        return Ok(());
    };
    // The source of each channel of the surface: the first shader channel whose select names it (2d
    // p.347).
    let mut sources = [None; 4];
    for (channel, select) in surface.select.into_iter().enumerate() {
        if let (Some(value), Some(to)) = (value_of(slots, present, channel), selected(select)) {
            sources[to].get_or_insert(value);
        }
    }
    let channels = (0..4).fold(0, |mask, n| mask | u8::from(sources[n].is_some()) << n);
    let mut elements = Elements::find(port, slots, registers, surface, true);
    // A partial write keeps the other bits of the elements. One read before all writes is enough:
    // all slots write the same channels, so the last slot that writes an element determines it.
    if !codec.is_whole(channels) {
        elements.read(port, payload)?;
    }
    let mut values = [[0; 4]; SLOTS];
    if slots.pair {
        for slot in slots.active() {
            for (value, n) in values[slot].iter_mut().zip(sources) {
                *value = n.map_or(0, |n| registers.u32(slots.data + slots.place(n, slot)));
            }
        }
    } else {
        // Values of slots that are not active are encoded, but not written.
        for (channel, n) in sources.into_iter().enumerate() {
            let row = n.map_or([0; SLOTS], |n| registers.dwords(slots.data + slots.place(n, 0)));
            for (value, bits) in values.iter_mut().zip(row) {
                value[channel] = bits;
            }
        }
    }
    codec.encode(&values, channels, elements.bytes());
    elements.write(port, payload)
}

fn read(
    port: &mut Port<'_, '_>,
    payload: &Payload<'_>,
    registers: &mut Registers,
    slots: &Slots,
    surface: &Surface,
    present: u8,
    response: usize,
) -> Result<(), Fault> {
    let mut values = [[0; 4]; SLOTS];
    if let Some(codec) = surface.codec.filter(|_| surface.kind != SurfaceKind::Null) {
        let one = match codec.format().numeric {
            Numeric::Float => 1.0f32.to_bits(),
            Numeric::Uint | Numeric::Sint => 1,
        };
        let mut elements = Elements::find(port, slots, registers, surface, false);
        elements.read(port, payload)?;
        codec.decode(elements.bytes(), &mut values);
        for (slot, value) in values.iter_mut().enumerate() {
            let read = *value;
            *value = if elements.mask >> slot & 1 == 1 || TYPED_READS_OUTSIDE_DECODE_ZEROS {
                surface.select.map(|select| match (select, selected(select)) {
                    (_, Some(from)) => read[from],
                    (ShaderChannelSelect::ONE, _) => one,
                    _ => 0,
                })
            } else {
                [0; 4]
            };
        }
    } else {
        port.exec.stats.cut_off += slots.active().count() as u64;
    }
    for slot in slots.active() {
        for (channel, bits) in values[slot].into_iter().enumerate() {
            if let Some(n) = value_of(slots, present, channel) {
                registers.set_u32(response + slots.place(n, slot), bits);
            }
        }
    }
    Ok(())
}

/// The channel of the surface that a select names; `None` for the constants 0 and 1.
fn selected(select: ShaderChannelSelect) -> Option<usize> {
    match select {
        ShaderChannelSelect::RED => Some(0),
        ShaderChannelSelect::GREEN => Some(1),
        ShaderChannelSelect::BLUE => Some(2),
        ShaderChannelSelect::ALPHA => Some(3),
        _ => None,
    }
}

/// Executes an atomic operation on elements of 32 bits, slot by slot in order.
fn operation(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd1Tai::unpack_lossy(&[message.descriptor]);
    let pair = descriptor.message_type == MtDp1::MT1A_TA4X2;
    let payload = Payload::open(message, "a typed atomic operation");
    let operation = descriptor.atomic_integer_operation_type;
    if operation == MdcAop::AOP_CMPWR_2W {
        return Err(payload.reserved(port, "Atomic Integer Operation Type", operation.bits()));
    }
    let operands = atomic::sources(operation);
    // Both operands of a slot of SIMD4x2 share its half register (MDP_AOP4X2_DW2, 2d p.124).
    let data = if pair { operands.min(1) } else { operands };
    let mode = (pair, descriptor.slot_group == MdcSg2::SG8U);
    let back = usize::from(descriptor.return_data_control);
    let slots = Slots::new(port, registers, &payload, mode, (data, back))?;
    let surface =
        surface(port, &payload, descriptor.binding_table_index.get(), Codec::typed_atomic)?;
    let response = payload.answer().filter(|_| descriptor.return_data_control);
    target::observe_atomic(port, false);
    let mut finder = Finder::new(&surface);
    let mut answers = [None; SLOTS];
    for slot in slots.active() {
        answers[slot] = Some(0);
        let coordinates = slots.coordinates(registers, slot);
        let found = match surface.kind {
            SurfaceKind::Null => None,
            _ => finder.find(coordinates),
        };
        let Some(address) = found else {
            port.exec.stats.cut_off += 1;
            if surface.kind != SurfaceKind::Null {
                outside::element(port, &surface, slot, coordinates, true);
            }
            continue;
        };
        let operand = |n: usize| match n < operands {
            true => registers.u32(slots.data + slots.place(n, slot)).into(),
            false => 0,
        };
        let old = port.exec.vm.read_u32(address).map_err(|fault| payload.page(port, fault))?;
        let (new, answer) =
            atomic::operate(operation, Width::Dword, old.into(), operand(0), operand(1));
        port.exec.vm.write_u32(address, new as u32).map_err(|fault| payload.page(port, fault))?;
        port.exec.stats.bytes_read += 4;
        port.exec.stats.bytes_written += 4;
        answers[slot] = Some(answer as u32);
    }
    if let Some(response) = response {
        for (slot, answer) in answers.into_iter().enumerate() {
            if let Some(answer) = answer {
                registers.set_u32(response + slots.place(0, slot), answer);
            }
        }
    }
    Ok(())
}
