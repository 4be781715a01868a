//! Writes submissions: page tables, context images and the register writes that start the engines,
//! in the order of Mesa's writer.

use super::Space;
use super::tables::{self, ENTRIES, INDEX_BITS, PAGE, PAGE_SHIFT};
use super::writer::{Writer, bytes};
use crate::capture::WriteObject;
use crate::core::{Address, MinusOne, Packed, U};
use crate::engine::EngineId;
use crate::gen8::context::{
    Gen8LrContextRegisterStatePage, Gen8LrContextRegisterStatePageOtherEngines,
};
use crate::gen8::engine_registers::{
    RingContextControl, RingCtl, RingElsp, RingExeclistStatusLo, RingHwsPga, RingModeGen7,
};
use crate::gen8::memory::{
    ContextDescriptorFormat, ContextDescriptorFormatAddressingModeLegacyContext as Addressing,
};
use crate::gen8::mi::{
    MiBatchBufferEnd, MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator, MiNoop,
};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// Pages of a context's image after its status page (gen8_facts 1.5).
const RENDER_PAGES: u64 = 22;
const OTHER_PAGES: u64 = 2;

/// Bytes of a ring.
const RING: u64 = PAGE;

/// Number of physical pages (frames): physical addresses have 39 bits, as in real machines.
const MAX_FRAMES: u64 = 1 << (39 - PAGE_SHIFT);

/// Writes submissions with the memory that they need, as
/// [`CaptureWriter`](crate::capture::CaptureWriter) does, into a memory trace.
///
/// Each object has physical pages of its own, which are written completely at its first use. A
/// context has page tables of four levels, which map exactly the objects of its newest submission.
/// On each engine, a context has a ring and an image; the engine restores the image from the second
/// submission on. A simulator waits for the end of each submission.
#[derive(Debug)]
pub struct Recorder<W> {
    writer: Writer<W>,
    /// The next physical page.
    frame: u64,
    /// The next page of the global table.
    global: u64,
    /// For each object by name: its first physical page and its number of pages.
    objects: HashMap<String, (u64, u64)>,
    spaces: BTreeMap<u32, Tables>,
    contexts: BTreeMap<(u32, EngineId), Image>,
    /// Engines that are set up.
    engines: Vec<EngineId>,
}

/// The page tables of a context.
#[derive(Debug, Default)]
struct Tables {
    root: u64,
    /// The frame of each table below the root, by its level and its number among the tables of that
    /// level (a page's number divided by the number of pages that a table maps).
    tables: HashMap<(u32, u64), u64>,
    /// Mapped ranges: first page, first frame and number of pages.
    mapped: BTreeMap<u64, (u64, u64)>,
}

/// A context on an engine.
#[derive(Clone, Copy, Debug)]
struct Image {
    /// Global address of its ring. Status page and registers follow.
    ring: u64,
    /// Number of submissions so far.
    used: u64,
}

impl<W: Write> Recorder<W> {
    /// Begins a file; see [`Writer::new`].
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(out: W, pci_id: u32, application: &str) -> io::Result<Self> {
        let writer = Writer::new(out, pci_id, application)?;
        Ok(Recorder {
            writer,
            // Not 0: a root of 0 would look like a register that was never written.
            frame: 1,
            global: 1,
            objects: HashMap::new(),
            spaces: BTreeMap::new(),
            contexts: BTreeMap::new(),
            engines: Vec::new(),
        })
    }

    /// Bytes that were written so far.
    pub fn position(&self) -> u64 {
        self.writer.position()
    }

    /// Writes a submission: the batch at `batch_address`, which runs to its MI_BATCH_BUFFER_END,
    /// with exactly these objects mapped in the context.
    ///
    /// # Errors
    /// If the output cannot be written, or the objects do not fit in physical memory.
    pub fn exec(
        &mut self,
        context: u32,
        engine: EngineId,
        batch_address: u64,
        objects: &[WriteObject<'_>],
    ) -> io::Result<()> {
        self.set_up(engine)?;
        let mut wanted = BTreeMap::new();
        let mut new = Vec::new();
        for object in objects {
            let pages = object.size.div_ceil(PAGE);
            let known = self.objects.get(object.object).copied();
            let frames = match known {
                Some(frames) => frames,
                None => {
                    let frames = (self.frames(pages)?, pages);
                    self.objects.insert(object.object.to_owned(), frames);
                    frames
                }
            };
            new.push((frames, known.is_none()));
            wanted.insert(object.address >> PAGE_SHIFT, frames);
        }
        self.map(context, wanted)?;
        for (object, ((frame, _), is_new)) in objects.iter().zip(new) {
            let first = frame << PAGE_SHIFT;
            if is_new {
                self.contents(first, object)?;
                continue;
            }
            for (offset, bytes) in &object.writes {
                self.writer.memory(Space::Physical, first + offset, bytes)?;
            }
        }
        self.submit(context, engine, batch_address)
    }

    /// Records that an object was freed. A later object of the same name is a new one that starts
    /// with zeros.
    pub fn free(&mut self, object: &str) {
        self.objects.remove(object);
    }

    /// The physical address of the first byte of an object, whose pages are contiguous. `None` if
    /// no submission had the object, or it was freed.
    pub fn physical(&self, object: &str) -> Option<u64> {
        self.objects.get(object).map(|frames| frames.0 << PAGE_SHIFT)
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// If buffered data cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }

    fn frames(&mut self, count: u64) -> io::Result<u64> {
        let first = self.frame;
        if count > MAX_FRAMES - first {
            let text = format!("no room for {count} pages: {first} of {MAX_FRAMES} are in use");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.frame += count;
        Ok(first)
    }

    /// Maps `count` pages of global memory to new frames; returns the global address of the first
    /// page.
    fn global_pages(&mut self, count: u64) -> io::Result<u64> {
        let (first, frame) = (self.global, self.frames(count)?);
        self.global += count;
        let entries: Vec<u64> = (frame..frame + count).map(tables::pack_global).collect();
        self.writer.global_entries(first, &entries)?;
        Ok(first << PAGE_SHIFT)
    }

    /// Enables execlists on an engine that is used for the first time, and gives it a status page.
    fn set_up(&mut self, engine: EngineId) -> io::Result<()> {
        if self.engines.contains(&engine) {
            return Ok(());
        }
        self.engines.push(engine);
        let mode = RingModeGen7 { gfx_run_list_enable: true, ..RingModeGen7::new() };
        let [enable] = mode.pack();
        let [value] = RingModeGen7 { mask: U::from_bits(enable.into()), ..mode }.pack();
        self.writer.register_write(base(engine) + RingModeGen7::OFFSET, value)?;
        let status = self.global_pages(1)?;
        self.writer.memory(Space::Global, status, &[0; PAGE as usize])?;
        self.writer.register_write(base(engine) + RingHwsPga::OFFSET, status as u32)
    }

    /// Writes a new object completely: its writes over zeros.
    fn contents(&mut self, first: u64, object: &WriteObject<'_>) -> io::Result<()> {
        let mut page = vec![0; PAGE as usize];
        for at in (0..object.size).step_by(PAGE as usize) {
            page.fill(0);
            for (offset, bytes) in &object.writes {
                let (start, end) = (*offset.max(&at), (offset + bytes.len() as u64).min(at + PAGE));
                if start < end {
                    page[(start - at) as usize..(end - at) as usize].copy_from_slice(
                        &bytes[(start - offset) as usize..(end - offset) as usize],
                    );
                }
            }
            self.writer.memory(Space::Physical, first + at, &page)?;
        }
        Ok(())
    }

    /// Changes the page tables of a context so that they map exactly the `wanted` ranges.
    fn map(&mut self, context: u32, wanted: BTreeMap<u64, (u64, u64)>) -> io::Result<()> {
        if !self.spaces.contains_key(&context) {
            let root = self.frames(1)?;
            self.spaces.insert(context, Tables { root, ..Tables::default() });
        }
        let mut space = self.spaces.remove(&context).unwrap_or_default();
        let before = std::mem::replace(&mut space.mapped, wanted.clone());
        let mut result = Ok(());
        for (page, frames) in
            before.iter().filter(|(page, frames)| wanted.get(page) != Some(frames))
        {
            result = result.and_then(|()| self.entries(&mut space, *page, frames.1, None));
        }
        for (page, frames) in
            wanted.iter().filter(|(page, frames)| before.get(page) != Some(frames))
        {
            result =
                result.and_then(|()| self.entries(&mut space, *page, frames.1, Some(frames.0)));
        }
        self.spaces.insert(context, space);
        result
    }

    /// Writes the entries of `count` pages from `page` on. They map to frames from `frame` on. If
    /// `frame` is `None`, the entries are not present.
    fn entries(
        &mut self,
        space: &mut Tables,
        page: u64,
        count: u64,
        frame: Option<u64>,
    ) -> io::Result<()> {
        let mut done = 0;
        while done < count {
            let at = page + done;
            let here = (ENTRIES - at % ENTRIES).min(count - done);
            let table = self.table(space, at)?;
            let entries: Vec<u64> = (done..done + here)
                .map(|index| frame.map_or(0, |frame| tables::pack(1, frame + index)))
                .collect();
            let address = (table << PAGE_SHIFT) + 8 * (at % ENTRIES);
            self.writer.memory(Space::Physical, address, &bytes(&entries))?;
            done += here;
        }
        Ok(())
    }

    /// The frame of the page table that maps a page. Missing tables of all levels are created.
    fn table(&mut self, space: &mut Tables, page: u64) -> io::Result<u64> {
        let mut above = space.root;
        for level in [4, 3, 2] {
            let covers = INDEX_BITS * (level - 1);
            let key = (level - 1, page >> covers);
            above = match space.tables.get(&key) {
                Some(&table) => table,
                None => {
                    let table = self.frames(1)?;
                    space.tables.insert(key, table);
                    let address = (above << PAGE_SHIFT) + 8 * (page >> covers & (ENTRIES - 1));
                    self.writer.memory(
                        Space::Physical,
                        address,
                        &bytes(&[tables::pack(level, table)]),
                    )?;
                    table
                }
            };
        }
        Ok(above)
    }

    /// Puts a jump to the batch into the ring, and submits the context.
    fn submit(&mut self, context: u32, engine: EngineId, batch_address: u64) -> io::Result<()> {
        let key = (context, engine);
        let image = match self.contexts.get(&key) {
            Some(&image) => image,
            None => {
                let pages = if engine == EngineId::Render { RENDER_PAGES } else { OTHER_PAGES };
                let ring = self.global_pages(RING / PAGE + 1 + pages)?;
                self.writer.memory(Space::Global, ring, &vec![0; (RING + PAGE) as usize])?;
                let root = self.spaces.get(&context).map_or(0, |space| space.root << PAGE_SHIFT);
                let mut registers = image(engine, ring, root);
                registers.resize((pages * PAGE / 4) as usize, 0);
                let registers: Vec<u8> =
                    registers.iter().flat_map(|dword| dword.to_le_bytes()).collect();
                self.writer.memory(Space::Global, ring + RING + PAGE, &registers)?;
                Image { ring, used: 0 }
            }
        };
        let mut commands = Vec::new();
        let start = MiBatchBufferStart {
            address_space_indicator: MiBatchBufferStartAddressSpaceIndicator::PPGTT,
            ..MiBatchBufferStart::new(Address::from_bits(canonical(batch_address)))
        };
        commands.extend(start.pack());
        // The tail is a multiple of 8 bytes.
        commands.extend(MiNoop::new().pack());
        let commands: Vec<u8> = commands.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.writer.memory(Space::Global, image.ring, &commands)?;
        let page = image.ring + RING + PAGE;
        let mut put = |field: &str, value: u32| {
            let at = page + offset_of(field);
            self.writer.memory(Space::Global, at, &value.to_le_bytes())
        };
        put("RING_HEAD", 0)?;
        put("RING_TAIL", commands.len() as u32)?;
        if image.used == 1 {
            put("CONTEXT_CONTROL", control(false))?;
        }
        let lrca = image.ring + RING;
        let [low, high] = ContextDescriptorFormat {
            valid: true,
            addressing_mode_legacy_context: Addressing::LEGACY_CONTEXT_WITH_64_BIT_VA_SUPPORT,
            privilege_access: true,
            logical_ring_context_address_lrca: Address::from_bits(lrca),
            ..ContextDescriptorFormat::new()
        }
        .pack();
        for value in [0, 0, high, low] {
            self.writer.register_write(base(engine) + RingElsp::OFFSET, value)?;
        }
        self.contexts.insert(key, Image { used: image.used + 1, ..image });
        let [running] =
            RingExeclistStatusLo { execlist_0_valid: true, ..RingExeclistStatusLo::new() }.pack();
        self.writer.register_poll(base(engine) + RingExeclistStatusLo::OFFSET, running, 0)
    }
}

/// Where the registers of an engine start.
fn base(engine: EngineId) -> u32 {
    use crate::gen8::engines;
    match engine {
        EngineId::Render => engines::RCS.base,
        EngineId::Blitter => engines::BCS.base,
        EngineId::Video => engines::VCS.base,
        EngineId::VideoEnhance => engines::VECS.base,
    }
}

/// CONTEXT_CONTROL as drivers set it (gen8_facts 1.4). If `first`, the engine does not restore the
/// context.
fn control(first: bool) -> u32 {
    let bits = RingContextControl {
        ctx_ctrl_engine_ctx_restore_inhibit: true,
        ctx_ctrl_inhibit_syn_ctx_switch: true,
        ..RingContextControl::new()
    };
    let [mask] = bits.pack();
    let [value] = RingContextControl {
        ctx_ctrl_engine_ctx_restore_inhibit: first,
        mask: U::from_bits(mask.into()),
        ..bits
    }
    .pack();
    value
}

/// Byte offset of a field in the page of a context's registers, the same for all engines.
fn offset_of(field: &str) -> u64 {
    let fields = Gen8LrContextRegisterStatePage::INFO.fields;
    fields.iter().find(|known| known.name == field).map_or(0, |field| u64::from(field.start / 8))
}

/// The register page of a new context, with its ring and the root of its page tables. The engine
/// does not restore the context the first time.
fn image(engine: EngineId, ring: u64, root: u64) -> Vec<u32> {
    let size = RingCtl {
        ring_nr_pages: MinusOne::new(RING / PAGE).unwrap_or_default(),
        ring_valid: true,
        ..RingCtl::new()
    };
    let [size] = size.pack();
    let (start, size) = (U::from_bits(ring), U::from_bits(size.into()));
    let (low, high) = (U::from_bits(root & 0xffff_ffff), U::from_bits(root >> 32));
    let control = U::from_bits(control(true).into());
    let mut dwords = match engine {
        EngineId::Render => Gen8LrContextRegisterStatePage {
            context_control: control,
            ring_start: start,
            ring_ctl: size,
            pdp0_udw_pml4_hi_in_48b_mode: high,
            pdp0_ldw_pml4_lo: low,
            // Requests all slices and units, as Mesa's writer does.
            r_pwr_clk_state: U::from_bits(0x7fff_ffff),
            ..Gen8LrContextRegisterStatePage::new()
        }
        .pack()
        .to_vec(),
        _ => Gen8LrContextRegisterStatePageOtherEngines {
            context_control: control,
            ring_start: start,
            ring_ctl: size,
            pdp0_udw_pml4_hi_in_48b_mode: high,
            pdp0_ldw_pml4_lo: low,
            ..Gen8LrContextRegisterStatePageOtherEngines::new()
        }
        .pack()
        .to_vec(),
    };
    if engine != EngineId::Render {
        // The defaults of the structure are register offsets of the blitter.
        let fields = Gen8LrContextRegisterStatePageOtherEngines::INFO.fields;
        for field in fields.iter().filter(|field| field.name.ends_with(" Register")) {
            let dword = &mut dwords[(field.start / 32) as usize];
            *dword = *dword - base(EngineId::Blitter) + base(engine);
        }
    }
    dwords.extend(MiBatchBufferEnd::new().pack());
    dwords
}

/// An address in the canonical form of commands: bits 63:48 repeat bit 47.
fn canonical(address: u64) -> u64 {
    crate::core::bits::sign_extend(address, 48) as u64
}
