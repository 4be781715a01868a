//! Plays a file: applies its writes to memory and reports the work that it starts on engines.
//!
//! Started work is treated as finished at once: engines write no memory, and the head of the ring
//! moves to its tail before the next block.

use super::image::{Image, Translation};
use super::notes::Notes;
use super::tables::{self, LOCAL, Leads, PAGE, PAGE_SHIFT};
use super::view::View;
use super::{Event, Header, Reader, Space};
use crate::core::reflect::{Container, EngineBase};
use crate::core::{Packed, Shifted, U};
use crate::engine::EngineId;
use crate::gen8::ENGINES;
use crate::gen8::context::Gen8LrContextRegisterStatePage as ContextImage;
use crate::gen8::engine_registers::{
    RingCtl, RingElsp, RingHead, RingModeGen7, RingPdp, RingStart, RingTail,
};
use crate::gen8::memory::{
    ContextDescriptorFormat as Descriptor,
    ContextDescriptorFormatAddressingModeLegacyContext as Addressing,
};
use crate::memory::Memory;
use crate::submission::Ring;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// Size in bytes of the register range of an engine.
const ENGINE_BYTES: u32 = 0x1000;

/// The submission queue of Gen11 and later, from the engine's base: sixteen dwords, low half of an
/// element first, and the register whose bit 0 submits them (Linux i915 gt/intel_engine_regs.h,
/// RING_EXECLIST_SQ_CONTENTS and RING_EXECLIST_CONTROL). Broadwell has no registers there.
const QUEUE: std::ops::Range<u32> = 0x510..0x550;
const QUEUE_CONTROL: u32 = 0x550;

/// Commands that an engine starts to execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Started {
    /// Position in the decompressed file of the block that starts the work, in bytes.
    pub position: u64,
    /// The engine that executes the commands.
    pub engine: EngineId,
    /// The context: the page number of its image in the global space; 0 for work without an image.
    pub context: u32,
    /// The page tables of the context.
    pub translation: Translation,
    /// The commands, in global memory.
    pub commands: Commands,
}

/// Commands in global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Commands {
    /// The commands are in a ring.
    Ring(Ring),
    /// Commands at consecutive addresses, not in a ring.
    Row {
        /// Address of the first command.
        address: u64,
        /// Length in bytes.
        length: u64,
    },
}

/// Makes a ring from its registers. If head or tail is not less than the size, the size follows
/// from the larger of them, because Mesa's writer puts an address into the register of the size
/// (gen8_facts 1.5).
fn ring(start: u32, control: u32, head: u32, tail: u32) -> Ring {
    let size = RingCtl::unpack_lossy(&[control]).ring_nr_pages.get() * PAGE;
    let head = RingHead::unpack_lossy(&[head]).head_addr.get();
    let tail = RingTail::unpack_lossy(&[tail]).tail_addr.get();
    let last = head.max(tail);
    let size = if last < size { size } else { (last + 1).next_multiple_of(PAGE) };
    Ring { start: u64::from(start) & !(PAGE - 1), size, head, tail }
}

/// Number of bytes of a ring from its head to its tail.
pub(super) fn used(ring: &Ring) -> u64 {
    (ring.tail + ring.size - ring.head) % ring.size
}

/// A function that is called for started work, with the memory at that time, the head of the file
/// and the work.
pub(super) type OnStart<'a> =
    dyn FnMut(&mut Image, Option<&Header>, &Started) -> io::Result<()> + 'a;

/// Reads a file to its end into `image`. Parts that cannot be used are left out with a note; an
/// early end of the file gets a note too.
///
/// # Errors
/// Those returned by `each`.
pub(super) fn play(
    reader: &mut Reader<'_>,
    image: &mut Image,
    notes: &mut Notes,
    each: &mut OnStart<'_>,
) -> io::Result<()> {
    let mut play = Play {
        image,
        notes,
        each,
        header: None,
        engines: ENGINES,
        registers: HashMap::new(),
        ports: BTreeMap::new(),
        entry: None,
    };
    loop {
        match reader.next_block() {
            Ok(Some(block)) => play.block(block.position, block.event)?,
            Ok(None) => break,
            Err(error) => {
                play.notes.end(error.to_string());
                break;
            }
        }
    }
    Ok(())
}

struct Play<'a, 'b> {
    image: &'a mut Image,
    notes: &'a mut Notes,
    each: &'a mut OnStart<'b>,
    header: Option<Header>,
    /// The engines of the GPU that the header names; Broadwell's if no header names a known GPU.
    engines: &'static [EngineBase],
    /// Values of engine registers that were written, by register offset.
    registers: HashMap<u32, u32>,
    /// Dwords written to a submission port so far, by the engine's base: fewer than four.
    ports: BTreeMap<u32, Vec<u32>>,
    /// The frame that the last write of local memory maps, if this write is an entry of a page
    /// table.
    entry: Option<u64>,
}

impl Play<'_, '_> {
    fn block(&mut self, position: u64, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Header(header) if self.header.is_none() => {
                if let Some(platform) = header.platform() {
                    self.engines = engines(platform.generation);
                }
                self.header = Some(header);
            }
            Event::Header(_) => {}
            Event::Memory { space: Space::Physical, address, bytes } => {
                let lost = self.image.write_physical(address, bytes);
                self.notes.count(position, NO_ROOM, lost);
            }
            Event::Memory { space: Space::Global, address, bytes } => {
                if self.is_trace() && !self.image.has_global(address, bytes.len() as u64) {
                    self.notes.count(position, NO_ENTRY, bytes.len() as u64);
                }
                let lost = self.image.write_global(address, bytes);
                self.notes.count(position, NO_ROOM, lost);
            }
            Event::Memory { space: Space::Local, address, bytes } if self.is_trace() => {
                let mapped = self.entry == Some(LOCAL + (address >> PAGE_SHIFT));
                let before = self.image.local_for_both();
                let lost = self.image.write_local(address, bytes, mapped);
                if let (None, Some(page)) = (before, self.image.local_for_both()) {
                    let text = format!(
                        "local memory at {page:#x} is written both for the global table and for a \
                         context: the two contents are kept apart, here and in other pages"
                    );
                    self.notes.add(position, text);
                }
                self.notes.count(position, NO_ROOM, lost);
                self.entry = match tables::leaf(bytes) {
                    Some(Leads::Page(frame)) => Some(frame),
                    _ => None,
                };
            }
            Event::Memory { space, bytes, .. } => {
                let why = match space {
                    Space::Local => {
                        "bytes for local memory are left out: no source says how classic files use it"
                    }
                    Space::Pci => "bytes for the configuration space of the PCI bus are left out",
                    _ => {
                        "bytes for memory that is not local are left out: no source says which memory that is"
                    }
                };
                self.notes.count(position, why, bytes.len() as u64);
            }
            Event::GlobalEntries { first, entries } => {
                let lost = self.image.write_entries(first, entries);
                self.notes.count(
                    position,
                    "entries of the global table beyond 4 GiB are left out",
                    lost,
                );
            }
            Event::RegisterWrite { offset, mask, value } => {
                self.register(position, offset, mask, value)?
            }
            Event::Commands { engine, address, bytes } => {
                let lost = self.image.write_global(address, bytes);
                self.notes.count(position, NO_ROOM, lost);
                let commands = Commands::Row { address, length: bytes.len() as u64 };
                let translation = Translation::Global;
                self.start(Started { position, engine, context: 0, translation, commands })?;
            }
            Event::Named { block, why: Some(why), .. } => {
                self.notes.add(position, format!("a {block} block is left out: {why}"));
            }
            Event::Other { opcode, sub_opcode, .. } => {
                let text = format!(
                    "a block of kind {opcode:#x}, number {sub_opcode:#x}, which no source describes, is left out"
                );
                self.notes.add(position, text);
            }
            // Work is finished at once, so there is nothing to wait for. Engines write no memory,
            // so there are no results to compare. Pictures and remarks are for people.
            Event::RegisterPoll { .. }
            | Event::MemoryPoll { .. }
            | Event::RegisterCompare { .. }
            | Event::MemoryCompare { .. }
            | Event::Bitmap(_)
            | Event::Comment(_)
            | Event::Named { why: None, .. } => {}
        }
        Ok(())
    }

    /// True if the file is a memory trace, or does not say its kind.
    fn is_trace(&self) -> bool {
        self.header.as_ref().is_none_or(|header| header.kind == super::Kind::MemoryTrace)
    }

    fn start(&mut self, started: Started) -> io::Result<()> {
        (self.each)(self.image, self.header.as_ref(), &started)
    }

    fn read(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn register(&mut self, position: u64, offset: u32, mask: u32, value: u32) -> io::Result<()> {
        let Some((base, engine)) = engine_of(self.engines, offset) else { return Ok(()) };
        let before = self.read(offset);
        let mut value = before & !mask | value & mask;
        let within = offset - base;
        if within == RingModeGen7::OFFSET {
            let enable = RingModeGen7::unpack_lossy(&[value]).mask.get() as u32;
            value = before & !enable | value & enable;
        }
        self.registers.insert(offset, value);
        match within {
            RingElsp::OFFSET => {
                let port = self.ports.entry(base).or_default();
                port.push(value);
                let &[high1, low1, high0, low0] = &port[..] else { return Ok(()) };
                port.clear();
                if !Descriptor::unpack_lossy(&[low0, high0]).valid {
                    self.notes.add(
                        position,
                        format!("{engine}: the first element submitted is not valid"),
                    );
                }
                self.context(position, base, engine, [low0, high0])?;
                self.context(position, base, engine, [low1, high1])
            }
            QUEUE_CONTROL if value & 1 != 0 => {
                for element in QUEUE.step_by(8) {
                    let halves = [element, element + 4]
                        .map(|within| self.registers.insert(base + within, 0).unwrap_or(0));
                    self.context(position, base, engine, halves)?;
                }
                Ok(())
            }
            RingTail::OFFSET | RingCtl::OFFSET => self.ring(position, base, engine),
            _ => Ok(()),
        }
    }

    /// Starts the ring that the registers of the engine at `base` describe, if it is enabled and
    /// has commands to run. Does nothing if the engine uses execlists.
    fn ring(&mut self, position: u64, base: u32, engine: EngineId) -> io::Result<()> {
        let control = self.read(base + RingCtl::OFFSET);
        let mode = RingModeGen7::unpack_lossy(&[self.read(base + RingModeGen7::OFFSET)]);
        if !RingCtl::unpack_lossy(&[control]).ring_valid || mode.gfx_run_list_enable {
            return Ok(());
        }
        let [start, head, tail] = [RingStart::OFFSET, RingHead::OFFSET, RingTail::OFFSET]
            .map(|within| self.read(base + within));
        let ring = ring(start, control, head, tail);
        if used(&ring) == 0 {
            return Ok(());
        }
        let roots: [u64; 4] = std::array::from_fn(|index| {
            let at = base + RingPdp::OFFSET + 8 * index as u32;
            u64::from(self.read(at)) | u64::from(self.read(at + 4)) << 32
        });
        let translation = match (mode.gfx_ppgtt_enable, mode.gen8_gfx_ppgtt_48b) {
            (false, _) => Translation::Global,
            (true, true) => Translation::Four(roots[0]),
            (true, false) => Translation::Two(roots),
        };
        self.registers.insert(base + RingHead::OFFSET, packed_head(&ring));
        self.start(Started {
            position,
            engine,
            context: 0,
            translation,
            commands: Commands::Ring(ring),
        })
    }

    /// Starts a submitted context, if its descriptor is valid and its ring has commands to run.
    fn context(
        &mut self,
        position: u64,
        base: u32,
        engine: EngineId,
        halves: [u32; 2],
    ) -> io::Result<()> {
        let descriptor = Descriptor::unpack_lossy(&halves);
        if !descriptor.valid {
            return Ok(());
        }
        let lrca = descriptor.logical_ring_context_address_lrca.get();
        // The page of registers follows the status page.
        let page = lrca + PAGE;
        let mut dwords = Vec::with_capacity(ContextImage::DWORDS);
        View::new(self.image, Translation::Global).dwords(page, ContextImage::DWORDS, &mut dwords);
        let Some(dwords) = dwords.first_chunk() else {
            let text = format!(
                "{engine}: context {lrca:#x} is submitted, but global memory has no page of its registers at {page:#x}: left out"
            );
            self.notes.add(position, text);
            return Ok(());
        };
        // The images of all engines have the registers read here at the same offsets.
        let image = ContextImage::unpack_lossy(dwords);
        let ring = ring(
            image.ring_start.get() as u32,
            image.ring_ctl.get() as u32,
            image.ring_head.get() as u32,
            image.ring_tail.get() as u32,
        );
        if used(&ring) == 0 {
            return Ok(());
        }
        let root = |low: U<32>, high: U<32>| low.get() | high.get() << 32;
        let roots = [
            root(image.pdp0_ldw_pml4_lo, image.pdp0_udw_pml4_hi_in_48b_mode),
            root(image.pdp1_ldw, image.pdp1_udw),
            root(image.pdp2_ldw, image.pdp2_udw),
            root(image.pdp3_ldw, image.pdp3_udw),
        ];
        let translation = match descriptor.addressing_mode_legacy_context {
            _ if !descriptor.privilege_access => Translation::Global,
            Addressing::LEGACY_CONTEXT_WITH_NO_64_BIT_VA_SUPPORT => Translation::Two(roots),
            Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT => Translation::Four(roots[0]),
            _ => {
                let text = format!(
                    "{engine}: context {lrca:#x} shares the memory of a process, whose tables are not in the file"
                );
                self.notes.add(position, text);
                Translation::Global
            }
        };
        // When the engine is done, it saves the ring head in the context image.
        let at = page + u64::from(first_bit(ContextImage::INFO, "RING_HEAD") / 8);
        self.image.write_global(at, &packed_head(&ring).to_le_bytes());
        self.registers.insert(base + RingHead::OFFSET, packed_head(&ring));
        let context = (lrca / PAGE) as u32;
        self.start(Started {
            position,
            engine,
            context,
            translation,
            commands: Commands::Ring(ring),
        })
    }
}

const NO_ROOM: &str =
    "bytes of memory are left out: at most 4 GiB are kept, and only 48-bit addresses";
const NO_ENTRY: &str =
    "bytes of global memory are written without an entry of the global table for them";

/// The value of RING_HEAD after all commands of a ring.
fn packed_head(ring: &Ring) -> u32 {
    let [dword] =
        RingHead { head_addr: Shifted::from_bits(ring.tail >> 2), ..RingHead::new() }.pack();
    dword
}

/// The engines of a GPU of `generation` (times ten), with the bases of their registers.
fn engines(generation: u32) -> &'static [EngineBase] {
    if generation < 110 { ENGINES } else { genxml_other::ENGINES }
}

/// The base of the engine that a register belongs to, and the engine. All engines of a kind have
/// the same commands.
fn engine_of(engines: &[EngineBase], offset: u32) -> Option<(u32, EngineId)> {
    let engine = engines.iter().find(|engine| offset.wrapping_sub(engine.base) < ENGINE_BYTES)?;
    let name = engine.name.trim_start_matches("GEN11_");
    let engine_id = match name.trim_end_matches(|last: char| last.is_ascii_digit()) {
        // Compute engines take commands of the render engine.
        "CCS" => EngineId::Render,
        name => name.to_ascii_lowercase().parse().ok()?,
    };
    Some((engine.base, engine_id))
}

/// The first bit of the field with this name.
fn first_bit(container: &Container, name: &str) -> u32 {
    container.fields.iter().find(|field| field.name == name).map_or(0, |field| field.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the bases of Linux i915_reg.h.
    #[test]
    fn engines_of_generations() {
        for (generation, offset, engine) in [
            (80, 0x2230, Some(EngineId::Render)),
            (80, 0x1_a230, Some(EngineId::VideoEnhance)),
            (90, 0x1_c230, Some(EngineId::Video)),
            (120, 0x1_a230, Some(EngineId::Render)),
            (110, 0x2_2230, Some(EngineId::Blitter)),
            (110, 0x1d_4230, Some(EngineId::Video)),
            (120, 0x1d_8230, Some(EngineId::VideoEnhance)),
            (80, 0x1d_8230, None),
            (110, 0x1_2230, None),
        ] {
            let found = engine_of(engines(generation), offset).map(|(_, engine)| engine);
            assert_eq!(found, engine, "{generation} {offset:#x}");
        }
    }
}
