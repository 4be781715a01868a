//! Queries about the driver and the GPU.

use crate::device::config::Topology;
use crate::device::fence::now;
use crate::device::host::Host;
use crate::device::outcome::Outcome;
use crate::device::{Device, File};
use crate::uapi::drm;
use crate::uapi::i915::{self, EngineClass, param};
use genxml::gen8::engine_registers::RingTimestamp;
use genxml_sim::EngineId;
use genxml_sim::machine::registers::mmio_base;
use genxml_sim::machine::watchdog::{TIMESTAMP_BITS, ticks};
use rustix::io::Errno;

/// Size of system memory that QUERY reports, in bytes.
const SYSTEM_MEMORY: u64 = 8 << 30;

/// Name, date and description of the driver. (Linux i915_driver.h)
const NAMES: [&str; 3] = ["i915", "20201103", "Intel Graphics"];

/// Writes the part of a text that fits in `room` bytes, or nothing if `address` is 0. Stores the
/// whole length in `room`.
fn text(host: &dyn Host, address: u64, room: &mut u64, text: &str) -> Result<(), Errno> {
    let length = text.len().min(usize::try_from(*room).unwrap_or(usize::MAX));
    if address != 0 && length > 0 {
        host.write(address, &text.as_bytes()[..length])?;
    }
    *room = text.len() as u64;
    Ok(())
}

/// GET_CLIENT: only the calling client is reported, without its user. (Linux drm_ioctl.c)
pub(super) fn client(arg: &mut drm::Client) -> Outcome {
    /// The user that the kernel reports for all clients (DEFAULT_OVERFLOWUID).
    const NOBODY: u64 = 65534;
    if arg.idx != 0 {
        return Err(Errno::INVAL.into());
    }
    let pid = std::process::id().into();
    *arg = drm::Client { idx: 0, auth: 1, pid, uid: NOBODY, magic: 0, iocs: 0 };
    Ok(())
}

impl Device {
    /// Executes the ioctl VERSION.
    pub(super) fn version(&self, arg: &mut drm::Version) -> Outcome {
        (arg.major, arg.minor, arg.patch) = (1, 6, 0);
        text(self.host, arg.name, &mut arg.name_len, NAMES[0])?;
        text(self.host, arg.date, &mut arg.date_len, NAMES[1])?;
        text(self.host, arg.desc, &mut arg.desc_len, NAMES[2])?;
        Ok(())
    }

    /// Executes the ioctl GET_UNIQUE.
    pub(super) fn unique(&self, arg: &mut drm::Unique) -> Outcome {
        Ok(text(self.host, arg.unique, &mut arg.unique_len, "pci:0000:00:02.0")?)
    }

    /// Executes the ioctl GET_CAP.
    pub(super) fn cap(&self, _: &File, arg: &mut drm::Cap) -> Outcome {
        use drm::cap;
        arg.value = match arg.capability {
            cap::DUMB_BUFFER | cap::VBLANK_HIGH_CRTC | cap::TIMESTAMP_MONOTONIC => 1,
            cap::ADDFB2_MODIFIERS
            | cap::CRTC_IN_VBLANK_EVENT
            | cap::SYNCOBJ
            | cap::SYNCOBJ_TIMELINE => 1,
            cap::DUMB_PREFERRED_DEPTH => 24,
            cap::DUMB_PREFER_SHADOW => 1,
            // The bits for import and for export.
            cap::PRIME => 3,
            cap::ASYNC_PAGE_FLIP => 1,
            cap::PAGE_FLIP_TARGET => 0,
            cap::CURSOR_WIDTH | cap::CURSOR_HEIGHT => 256,
            _ => return Err(Errno::INVAL.into()),
        };
        Ok(())
    }

    /// GETPARAM. (Values: Linux i915_getparam.c for a Broadwell with execlists; for a G45, which
    /// has neither execlists nor page tables of contexts, gen45_facts 1.2 and 20)
    pub(super) fn get_param(&mut self, arg: &mut i915::GetParam) -> Outcome {
        let (topology, chip) = (self.config.topology(), self.config.chip());
        let has = |engine| u32::from(chip.engines.contains(&Some(engine)));
        let value: u32 = match arg.param {
            param::CHIPSET_ID => self.config.device,
            param::REVISION => chip.revision.into(),
            param::NUM_FENCES_AVAIL => chip.fences,
            param::HAS_BLT => has(EngineId::Blitter),
            param::HAS_VEBOX => has(EngineId::VideoEnhance),
            param::HAS_LLC => chip.has_llc.into(),
            param::HAS_ALIASING_PPGTT
            | param::HAS_SEMAPHORES
            | param::HAS_SCHEDULER
            | param::HAS_COHERENT_PHYS_GTT
                if !chip.has_ppgtt =>
            {
                0
            }
            // The whole GPU is reset.
            param::HAS_GPU_RESET if !chip.has_ppgtt => 1,
            // The kernel has no topology of a G45.
            param::SUBSLICE_TOTAL | param::EU_TOTAL | param::SLICE_MASK | param::SUBSLICE_MASK
                if !chip.has_ppgtt =>
            {
                return Err(Errno::NODEV.into());
            }
            param::HAS_OVERLAY
            | param::HAS_EXEC_CONSTANTS
            | param::HAS_RESOURCE_STREAMER
            | param::HAS_POOLED_EU
            | param::MIN_EU_IN_POOL
            | param::CMD_PARSER_VERSION
            | param::HAS_GEN7_SOL_RESET
            | param::HAS_SECURE_BATCHES
            | param::HAS_WT => 0,
            param::HAS_GEM
            | param::HAS_PAGEFLIPPING
            | param::HAS_EXECBUF2
            | param::HAS_BSD
            | param::HAS_RELAXED_FENCING
            | param::HAS_COHERENT_RINGS
            | param::HAS_RELAXED_DELTA
            | param::HAS_WAIT_TIMEOUT
            | param::HAS_SEMAPHORES
            | param::HAS_PRIME_VMAP_FLUSH
            | param::HAS_PINNED_BATCHES
            | param::HAS_EXEC_NO_RELOC
            | param::HAS_EXEC_HANDLE_LUT
            | param::HAS_COHERENT_PHYS_GTT
            | param::MMAP_VERSION
            | param::HAS_EXEC_SOFTPIN
            | param::HAS_EXEC_ASYNC
            | param::HAS_EXEC_FENCE
            | param::HAS_EXEC_CAPTURE
            | param::HAS_EXEC_BATCH_FIRST
            | param::HAS_EXEC_FENCE_ARRAY
            | param::MMAP_GTT_COHERENT
            | param::HAS_EXEC_SUBMIT_FENCE
            | param::HAS_EXEC_TIMELINE_FENCES
            | param::HAS_USERPTR_PROBE => 1,
            // Per-process address spaces of 48 bits.
            param::HAS_ALIASING_PPGTT => 3,
            param::HAS_BSD2 => (topology.videos > 1).into(),
            // Engines can be reset one by one.
            param::HAS_GPU_RESET => 2,
            param::MMAP_GTT_VERSION => 4,
            // The scheduler is enabled and has priorities.
            param::HAS_SCHEDULER => 3,
            param::SUBSLICE_TOTAL => topology.slices * topology.subslices,
            param::EU_TOTAL => topology.all_eus(),
            param::SLICE_MASK => (1 << topology.slices) - 1,
            param::SUBSLICE_MASK => (1 << topology.subslices) - 1,
            // Each context has its own render state.
            param::HAS_CONTEXT_ISOLATION => 1,
            param::CS_TIMESTAMP_FREQUENCY => 12_500_000,
            // No performance counters.
            param::PERF_REVISION => 0,
            param::HUC_STATUS => return Err(Errno::NODEV.into()),
            _ => return Err(Errno::INVAL.into()),
        };
        Ok(self.host.put(arg.value, &value)?)
    }

    /// REG_READ: the timestamp of the render engine, the only register that clients may read.
    pub(super) fn reg_read(&mut self, arg: &mut i915::RegRead) -> Outcome {
        let register = mmio_base(EngineId::Render) + RingTimestamp::OFFSET;
        if arg.offset & !i915::REG_READ_8B != u64::from(register) {
            return Err(Errno::INVAL.into());
        }
        let last = self.queue.timestamp();
        arg.val = match self.config.wall_clock {
            true => later(last, ticks(now())),
            false => last,
        };
        Ok(())
    }

    /// QUERY: several items, each with its own answer or error.
    pub(super) fn query(&mut self, arg: &mut i915::Query) -> Outcome {
        if arg.flags != 0 {
            return Err(Errno::INVAL.into());
        }
        let size = size_of::<i915::QueryItem>() as u64;
        for index in 0..u64::from(arg.num_items) {
            let address = index
                .checked_mul(size)
                .and_then(|at| arg.items_ptr.checked_add(at))
                .ok_or(Errno::FAULT)?;
            let mut item: i915::QueryItem = self.host.value(address)?;
            let answer = match item.query_id {
                0 => return Err(Errno::INVAL.into()),
                i915::QUERY_TOPOLOGY_INFO if !self.config.chip().has_ppgtt => Err(Errno::NODEV),
                i915::QUERY_TOPOLOGY_INFO if item.flags == 0 => Ok(self.topology_info()),
                i915::QUERY_ENGINE_INFO if item.flags == 0 => Ok(self.engine_info()),
                i915::QUERY_MEMORY_REGIONS if item.flags == 0 => Ok(memory_regions()),
                i915::QUERY_PERF_CONFIG
                | i915::QUERY_HWCONFIG_BLOB
                | i915::QUERY_GEOMETRY_SUBSLICES => Err(Errno::NODEV),
                _ => Err(Errno::INVAL),
            };
            item.length = match answer {
                Err(error) => -error.raw_os_error(),
                Ok(bytes) if item.length == 0 => bytes.len() as i32,
                // The kernel compares without sign: a negative length is large.
                Ok(bytes) if (item.length as usize) < bytes.len() => -Errno::INVAL.raw_os_error(),
                Ok(bytes) => match self.put_reply(&item, &bytes) {
                    Ok(()) => bytes.len() as i32,
                    Err(error) => -error.raw_os_error(),
                },
            };
            self.host.put(address, &item)?;
        }
        Ok(())
    }

    /// Writes a reply to the client's memory, whose header must be zero: the flags of a topology,
    /// the number and the reserved fields of a list.
    ///
    /// # Errors
    /// EFAULT if the memory cannot be accessed; EINVAL if the header is not zero. (Linux
    /// i915_query.c, copy_query_item and its callers)
    fn put_reply(&self, item: &i915::QueryItem, bytes: &[u8]) -> Result<(), Errno> {
        let is_zero = match item.query_id {
            i915::QUERY_TOPOLOGY_INFO => self.host.value::<u16>(item.data_ptr)? == 0,
            _ => {
                let head: i915::ListHead = self.host.value(item.data_ptr)?;
                (head.count, head.rsvd) == (0, [0; 3])
            }
        };
        if is_zero { self.host.write(item.data_ptr, bytes) } else { Err(Errno::INVAL) }
    }

    /// The topology reply: a header, then masks of the slices, subslices and execution units that
    /// exist.
    fn topology_info(&self) -> Vec<u8> {
        let topology = self.config.topology();
        let subslice_offset = Topology::MAX_SLICES.div_ceil(8);
        let subslice_stride = Topology::MAX_SUBSLICES.div_ceil(8);
        let eu_offset = subslice_offset + Topology::MAX_SLICES * subslice_stride;
        let eu_stride = Topology::MAX_EUS.div_ceil(8);
        let head = i915::TopologyInfo {
            flags: 0,
            max_slices: Topology::MAX_SLICES as u16,
            max_subslices: Topology::MAX_SUBSLICES as u16,
            max_eus_per_subslice: Topology::MAX_EUS as u16,
            subslice_offset: subslice_offset as u16,
            subslice_stride: subslice_stride as u16,
            eu_offset: eu_offset as u16,
            eu_stride: eu_stride as u16,
        };
        let ones = |count: u32| ((1u32 << count) - 1) as u8;
        let mut bytes = bytemuck::bytes_of(&head).to_vec();
        bytes.push(ones(topology.slices));
        for slice in 0..Topology::MAX_SLICES {
            bytes.push(if slice < topology.slices { ones(topology.subslices) } else { 0 });
        }
        for slice in 0..Topology::MAX_SLICES {
            for subslice in 0..Topology::MAX_SUBSLICES {
                let there = slice < topology.slices && subslice < topology.subslices;
                bytes.push(if there { ones(topology.eus) } else { 0 });
            }
        }
        bytes
    }

    fn engine_info(&self) -> Vec<u8> {
        let topology = self.config.topology();
        let mut engines = Vec::new();
        for (class, id) in self.config.chip().engines.iter().enumerate() {
            let instances = match id {
                None => 0,
                Some(EngineId::Video) => topology.videos,
                Some(_) => 1,
            };
            for instance in 0..instances as u16 {
                engines.push(i915::EngineInfo {
                    engine: EngineClass { class: class as u16, instance },
                    // The field `logical_instance` is valid.
                    flags: 1,
                    logical_instance: instance,
                    ..Default::default()
                });
            }
        }
        let head = i915::ListHead { count: engines.len() as u32, rsvd: [0; 3] };
        [bytemuck::bytes_of(&head), bytemuck::cast_slice(&engines)].concat()
    }
}

/// The reply about memory regions. The only one is system memory.
fn memory_regions() -> Vec<u8> {
    let head = i915::ListHead { count: 1, rsvd: [0; 3] };
    let system = i915::MemoryRegionInfo {
        probed_size: SYSTEM_MEMORY,
        unallocated_size: SYSTEM_MEMORY,
        probed_cpu_visible_size: SYSTEM_MEMORY,
        unallocated_cpu_visible_size: SYSTEM_MEMORY,
        ..Default::default()
    };
    [bytemuck::bytes_of(&head), bytemuck::bytes_of(&system)].concat()
}

/// The later of two values of TIMESTAMP, of which one may have wrapped around.
fn later(a: u64, b: u64) -> u64 {
    const HALF: u64 = 1 << (TIMESTAMP_BITS - 1);
    if a.wrapping_sub(b) & (2 * HALF - 1) < HALF { a } else { b }
}
