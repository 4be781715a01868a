//! A GPU with rings, status pages and context images, as a kernel driver sets it up.

use bytemuck::cast_slice;
use genxml::core::{Address, Fixed, MinusOne, Shifted, U};
use genxml::engine::EngineId;
use genxml::gen8::context::{
    Gen8LrContextRegisterStatePage, Gen8LrContextRegisterStatePageOtherEngines,
};
use genxml::gen8::engine_registers::*;
use genxml::gen8::memory::{
    ContextDescriptorFormat, ContextDescriptorFormatAddressingModeLegacyContext as Addressing,
    GlobalGttPageTableEntry,
};
use genxml::gen8::mi::*;
use genxml::gen8::structures::ContextStatus;
use genxml_cases::at;
use genxml_sim::mem::AddressSpace;
use genxml_sim::{Fault, Gpu};

/// Base of an engine's registers (gen8_facts 1.2).
pub fn base(engine: EngineId) -> u32 {
    match engine {
        EngineId::Render => 0x2000,
        EngineId::Video => 0x12000,
        EngineId::VideoEnhance => 0x1a000,
        EngineId::Blitter => 0x22000,
    }
}

/// Global address of the status page of the first engine. The status pages of two engines are
/// 16 KiB apart.
const STATUS: u64 = 0x1_0000;
/// Global address of the ring of the first context.
const CONTEXTS: u64 = 0x10_0000;
/// Bytes of global memory per context: ring (2 pages, of which the second may be unused), status
/// page, page of registers.
const STRIDE: u64 = 0x4000;
/// Start of a context's own memory, 64 KiB.
pub const BATCH: u64 = 0x4000_0000;
/// Address of the data that all contexts share.
pub const DATA: u64 = 0x5000_0000;

/// A GPU that a driver has initialised.
pub struct Machine {
    pub gpu: Gpu,
    /// The memory that all contexts have mapped at [`DATA`].
    pub data: genxml_sim::mem::Frames,
    contexts: u64,
}

/// A context with its ring and its image.
#[derive(Clone, Copy, Debug)]
pub struct Logical {
    pub engine: EngineId,
    /// Address of the ring in the global table; status page and registers follow at 2 and 3 pages.
    pub ring: u64,
    pub ring_bytes: u64,
    pub tail: u64,
    pub number: u32,
    pub batch: genxml_sim::mem::Frames,
    pub addressing: Addressing,
}

impl Logical {
    /// Address of the image.
    pub fn lrca(&self) -> u64 {
        self.ring + 0x2000
    }

    pub fn descriptor(&self) -> ContextDescriptorFormat {
        ContextDescriptorFormat {
            valid: true,
            privilege_access: true,
            addressing_mode_legacy_context: self.addressing,
            logical_ring_context_address_lrca: at(self.lrca()),
            context_id: U::new(self.number.into()).unwrap(),
            ..ContextDescriptorFormat::new()
        }
    }
}

/// The registers of an image before the first run: context control with restore inhibit, ring, and
/// page table roots.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    pub control: u32,
    pub head: u32,
    pub tail: u32,
    pub start: u32,
    pub ring_control: u32,
    pub roots: [u64; 4],
}

impl Image {
    fn dwords(&self, engine: EngineId, registers: u32) -> Vec<u32> {
        let word = |value: u32| U::new(value.into()).unwrap();
        macro_rules! image {
            ($image:ident, $($register:ident $value:ident = $new:expr;)*) => {{
                let mut image = $image::new();
                let shift = registers.wrapping_sub(Address::get(image.ring_head_register) as u32 - 0x34);
                // The defaults are those of one engine. The registers of the others are relative to
                // their own base.
                for register in [
                    &mut image.context_control_register, &mut image.ring_head_register,
                    &mut image.ring_tail_register, &mut image.ring_start_register,
                    &mut image.ring_ctl_register, &mut image.bb_head_u_register,
                    &mut image.bb_head_l_register, &mut image.bb_state_register,
                    &mut image.second_bb_head_u_register, &mut image.second_bb_head_l_register,
                    &mut image.second_bb_state_register, &mut image.ctx_timestamp_register,
                    &mut image.pdp0_udw_register, &mut image.pdp0_ldw_register,
                    &mut image.pdp1_udw_register, &mut image.pdp1_ldw_register,
                    &mut image.pdp2_udw_register, &mut image.pdp2_ldw_register,
                    &mut image.pdp3_udw_register, &mut image.pdp3_ldw_register,
                    $(&mut image.$register,)*
                ] {
                    *register = at(u64::from((register.get() as u32).wrapping_add(shift)));
                }
                $(image.$value = word($new);)*
                image.context_control = word(self.control);
                image.ring_head = word(self.head);
                image.ring_tail = word(self.tail);
                image.ring_start = word(self.start);
                image.ring_ctl = word(self.ring_control);
                let [zero, one, two, three] = self.roots;
                image.pdp0_udw_pml4_hi_in_48b_mode = word((zero >> 32) as u32);
                image.pdp0_ldw_pml4_lo = word(zero as u32);
                image.pdp1_udw = word((one >> 32) as u32);
                image.pdp1_ldw = word(one as u32);
                image.pdp2_udw = word((two >> 32) as u32);
                image.pdp2_ldw = word(two as u32);
                image.pdp3_udw = word((three >> 32) as u32);
                image.pdp3_ldw = word(three as u32);
                image.to_dwords().to_vec()
            }};
        }
        match engine {
            EngineId::Render => image!(Gen8LrContextRegisterStatePage,
                r_pwr_clk_state_register r_pwr_clk_state = 0;),
            _ => image!(Gen8LrContextRegisterStatePageOtherEngines,
                bcs_swctrl_register bcs_swctrl = 0; ring_excc_register ring_excc = 0;),
        }
    }
}

impl Machine {
    /// Maps the status pages and 64 KiB of data, and enables execution lists.
    pub fn new() -> Machine {
        let mut gpu = Gpu::new();
        gpu.set_work_limit(1 << 24);
        let data = gpu.alloc(0x1_0000).unwrap();
        let mut machine = Machine { gpu, data, contexts: 0 };
        for engine in EngineId::ALL {
            let page = machine.status(engine);
            machine.map_global(page, 0x1000);
            machine.write(engine, RingHwsPga::OFFSET, page as u32);
            let [mode] = RingModeGen7 {
                mask: U::new(1 << 15).unwrap(),
                gfx_run_list_enable: true,
                ..RingModeGen7::new()
            }
            .pack();
            machine.write(engine, RingModeGen7::OFFSET, mode);
        }
        machine
    }

    /// Address of an engine's status page.
    pub fn status(&self, engine: EngineId) -> u64 {
        STATUS + 0x4000 * engine as u64
    }

    pub fn map_global(&mut self, address: u64, bytes: u64) {
        let frames = self.gpu.alloc(bytes).unwrap();
        for page in 0..frames.count {
            let entry = GlobalGttPageTableEntry {
                present: true,
                address: Shifted::new(frames.address() + page * 4096).unwrap(),
            };
            let [low, high] = entry.pack();
            let index = address / 4096 + page;
            let _ = self.gpu.ggtt.write_global_entry(index, u64::from(low) | u64::from(high) << 32);
        }
    }

    pub fn write(&mut self, engine: EngineId, offset: u32, value: u32) {
        self.gpu.mmio_write(base(engine) + offset, value).unwrap();
    }

    pub fn read(&self, engine: EngineId, offset: u32) -> u32 {
        self.gpu.mmio_read(base(engine) + offset)
    }

    /// A context of an engine. Its ring has `pages` pages. Its page tables map 64 KiB of its own at
    /// [`BATCH`] and the shared data at [`DATA`].
    pub fn context(&mut self, engine: EngineId, pages: u64, addressing: Addressing) -> Logical {
        let ring = CONTEXTS + STRIDE * self.contexts;
        self.contexts += 1;
        self.map_global(ring, STRIDE);
        let batch = self.gpu.alloc(0x1_0000).unwrap();
        let memory = &mut self.gpu.memory;
        let mut space = match addressing {
            Addressing::LEGACY_CONTEXT_WITH_NO_64_BIT_VA_SUPPORT => {
                AddressSpace::new3(memory).unwrap()
            }
            _ => AddressSpace::new(memory).unwrap(),
        };
        space.map(memory, BATCH, batch, true).unwrap();
        space.map(memory, DATA, self.data, true).unwrap();
        let logical = Logical {
            engine,
            ring,
            ring_bytes: 4096 * pages,
            tail: 0,
            number: 0x100 + self.contexts as u32,
            batch,
            addressing,
        };
        let image = self.first_image(&logical, space.roots());
        self.put_image(&logical, &image, base(engine));
        logical
    }

    /// The values that a driver writes into the image of a new context.
    pub fn first_image(&self, logical: &Logical, roots: [u64; 4]) -> Image {
        let [ring_control] = RingCtl {
            ring_valid: true,
            ring_nr_pages: MinusOne::new(logical.ring_bytes / 4096).unwrap(),
            ..RingCtl::new()
        }
        .pack();
        Image {
            // Linux i915 sets Restore Inhibit and Inhibit Synchronous Context Switch.
            control: 0x0009_0009,
            head: 0,
            tail: 0,
            start: logical.ring as u32,
            ring_control,
            roots,
        }
    }

    pub fn put_image(&mut self, logical: &Logical, image: &Image, registers: u32) {
        let dwords = image.dwords(logical.engine, registers);
        self.gpu.global().write(logical.lrca() + 4096, cast_slice(&dwords)).unwrap();
    }

    /// Dword `index` of the register page of an image (gen8_facts 1.4).
    pub fn image(&mut self, logical: &Logical, index: u64) -> u32 {
        self.gpu.global().read_u32(logical.lrca() + 4096 + 4 * index).unwrap()
    }

    /// Appends commands to the ring, padded to 8 bytes. Wraps at the end of the ring. Writes the
    /// tail into the image.
    pub fn ring(&mut self, logical: &mut Logical, commands: &[u32]) {
        let mut commands = commands.to_vec();
        if commands.len() % 2 == 1 {
            commands.push(0);
        }
        for dword in commands {
            self.gpu.global().write_u32(logical.ring + logical.tail, dword).unwrap();
            logical.tail = (logical.tail + 4) % logical.ring_bytes;
        }
        let [tail] = RingTail { tail_addr: Shifted::new(logical.tail).unwrap() }.pack();
        self.gpu.global().write_u32(logical.lrca() + 4096 + 28, tail).unwrap();
    }

    /// Writes a batch and MI_BATCH_BUFFER_END at `offset` of the context's memory at [`BATCH`].
    pub fn batch(&mut self, logical: &Logical, offset: usize, batch: &[u32]) {
        let mut batch = batch.to_vec();
        genxml_cases::push(&mut batch, &MiBatchBufferEnd::new());
        let bytes: &[u8] = cast_slice(&batch);
        self.gpu.memory.bytes_mut(logical.batch)[offset..offset + bytes.len()]
            .copy_from_slice(bytes);
    }

    /// Writes a list to the submission port: the second element first, the high half of each first
    /// (gen8_facts 1.3).
    pub fn submit(&mut self, elements: &[&Logical]) -> Result<(), Fault> {
        let descriptors: Vec<_> = elements.iter().map(|logical| logical.descriptor()).collect();
        self.submit_descriptors(elements[0].engine, &descriptors)
    }

    pub fn submit_descriptors(
        &mut self,
        engine: EngineId,
        elements: &[ContextDescriptorFormat],
    ) -> Result<(), Fault> {
        let dwords = |index: usize| elements.get(index).map_or([0; 2], |element| element.pack());
        for value in [dwords(1)[1], dwords(1)[0], dwords(0)[1], dwords(0)[0]] {
            self.gpu.mmio_write(base(engine) + RingElsp::OFFSET, value)?;
        }
        Ok(())
    }

    /// Events in the status page after the entry `read`, oldest first. Sets `read` to the newest
    /// one.
    pub fn events(&mut self, engine: EngineId, read: &mut u32) -> Vec<ContextStatus> {
        let page = self.status(engine);
        let newest = self.gpu.global().read_u32(page + 0x7c).unwrap();
        let pointer =
            RingContextStatusPtr::unpack_lossy(&[self.read(engine, RingContextStatusPtr::OFFSET)]);
        assert_eq!(
            pointer.write_pointer.get() as u32,
            newest,
            "the register and its mirror differ"
        );
        let mut events = Vec::new();
        while *read != newest {
            *read = (*read + 1) % 6;
            let at = page + 0x40 + 8 * u64::from(*read);
            let dwords = [0, 4].map(|half| self.gpu.global().read_u32(at + half).unwrap());
            let register = RingContextStatusBuf::OFFSET + 8 * *read;
            assert_eq!(
                dwords,
                [0, 4].map(|half| self.read(engine, register + half)),
                "entry {read}"
            );
            events.push(ContextStatus::unpack_lossy(&dwords));
        }
        events
    }

    pub fn data(&self, dword: usize) -> u32 {
        let bytes = &self.gpu.memory.bytes(self.data)[4 * dword..][..4];
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    pub fn set_data(&mut self, dword: usize, value: u32) {
        self.gpu.memory.bytes_mut(self.data)[4 * dword..][..4]
            .copy_from_slice(&value.to_le_bytes());
    }
}
