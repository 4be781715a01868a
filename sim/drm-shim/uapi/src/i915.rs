//! Interface of i915 (`i915_drm.h`).

use super::{Extension, structures};

/// Numbers of the ioctls, relative to [`COMMAND_BASE`](super::COMMAND_BASE).
#[allow(missing_docs, reason = "the kernel's names")]
pub mod nr {
    pub const GETPARAM: u32 = 0x06;
    pub const GEM_BUSY: u32 = 0x17;
    pub const GEM_THROTTLE: u32 = 0x18;
    pub const GEM_CREATE: u32 = 0x1b;
    pub const GEM_PREAD: u32 = 0x1c;
    pub const GEM_PWRITE: u32 = 0x1d;
    pub const GEM_MMAP: u32 = 0x1e;
    pub const GEM_SET_DOMAIN: u32 = 0x1f;
    pub const GEM_SW_FINISH: u32 = 0x20;
    pub const GEM_SET_TILING: u32 = 0x21;
    pub const GEM_GET_TILING: u32 = 0x22;
    pub const GEM_GET_APERTURE: u32 = 0x23;
    pub const GEM_MMAP_OFFSET: u32 = 0x24;
    pub const GET_PIPE_FROM_CRTC_ID: u32 = 0x25;
    pub const GEM_MADVISE: u32 = 0x26;
    pub const GEM_EXECBUFFER2: u32 = 0x29;
    pub const GEM_WAIT: u32 = 0x2c;
    pub const GEM_CONTEXT_CREATE: u32 = 0x2d;
    pub const GEM_CONTEXT_DESTROY: u32 = 0x2e;
    pub const GEM_SET_CACHING: u32 = 0x2f;
    pub const GEM_GET_CACHING: u32 = 0x30;
    pub const REG_READ: u32 = 0x31;
    pub const GET_RESET_STATS: u32 = 0x32;
    pub const GEM_USERPTR: u32 = 0x33;
    pub const GEM_CONTEXT_GETPARAM: u32 = 0x34;
    pub const GEM_CONTEXT_SETPARAM: u32 = 0x35;
    pub const PERF_OPEN: u32 = 0x36;
    pub const PERF_ADD_CONFIG: u32 = 0x37;
    pub const PERF_REMOVE_CONFIG: u32 = 0x38;
    pub const QUERY: u32 = 0x39;
    pub const GEM_VM_CREATE: u32 = 0x3a;
    pub const GEM_VM_DESTROY: u32 = 0x3b;
    pub const GEM_CREATE_EXT: u32 = 0x3c;
}

/// Parameters for GETPARAM.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod param {
    pub const IRQ_ACTIVE: i32 = 1;
    pub const ALLOW_BATCHBUFFER: i32 = 2;
    pub const LAST_DISPATCH: i32 = 3;
    pub const CHIPSET_ID: i32 = 4;
    pub const HAS_GEM: i32 = 5;
    pub const NUM_FENCES_AVAIL: i32 = 6;
    pub const HAS_OVERLAY: i32 = 7;
    pub const HAS_PAGEFLIPPING: i32 = 8;
    pub const HAS_EXECBUF2: i32 = 9;
    pub const HAS_BSD: i32 = 10;
    pub const HAS_BLT: i32 = 11;
    pub const HAS_RELAXED_FENCING: i32 = 12;
    pub const HAS_COHERENT_RINGS: i32 = 13;
    pub const HAS_EXEC_CONSTANTS: i32 = 14;
    pub const HAS_RELAXED_DELTA: i32 = 15;
    pub const HAS_GEN7_SOL_RESET: i32 = 16;
    pub const HAS_LLC: i32 = 17;
    pub const HAS_ALIASING_PPGTT: i32 = 18;
    pub const HAS_WAIT_TIMEOUT: i32 = 19;
    pub const HAS_SEMAPHORES: i32 = 20;
    pub const HAS_PRIME_VMAP_FLUSH: i32 = 21;
    pub const HAS_VEBOX: i32 = 22;
    pub const HAS_SECURE_BATCHES: i32 = 23;
    pub const HAS_PINNED_BATCHES: i32 = 24;
    pub const HAS_EXEC_NO_RELOC: i32 = 25;
    pub const HAS_EXEC_HANDLE_LUT: i32 = 26;
    pub const HAS_WT: i32 = 27;
    pub const CMD_PARSER_VERSION: i32 = 28;
    pub const HAS_COHERENT_PHYS_GTT: i32 = 29;
    pub const MMAP_VERSION: i32 = 30;
    pub const HAS_BSD2: i32 = 31;
    pub const REVISION: i32 = 32;
    pub const SUBSLICE_TOTAL: i32 = 33;
    pub const EU_TOTAL: i32 = 34;
    pub const HAS_GPU_RESET: i32 = 35;
    pub const HAS_RESOURCE_STREAMER: i32 = 36;
    pub const HAS_EXEC_SOFTPIN: i32 = 37;
    pub const HAS_POOLED_EU: i32 = 38;
    pub const MIN_EU_IN_POOL: i32 = 39;
    pub const MMAP_GTT_VERSION: i32 = 40;
    pub const HAS_SCHEDULER: i32 = 41;
    pub const HUC_STATUS: i32 = 42;
    pub const HAS_EXEC_ASYNC: i32 = 43;
    pub const HAS_EXEC_FENCE: i32 = 44;
    pub const HAS_EXEC_CAPTURE: i32 = 45;
    pub const SLICE_MASK: i32 = 46;
    pub const SUBSLICE_MASK: i32 = 47;
    pub const HAS_EXEC_BATCH_FIRST: i32 = 48;
    pub const HAS_EXEC_FENCE_ARRAY: i32 = 49;
    pub const HAS_CONTEXT_ISOLATION: i32 = 50;
    pub const CS_TIMESTAMP_FREQUENCY: i32 = 51;
    pub const MMAP_GTT_COHERENT: i32 = 52;
    pub const HAS_EXEC_SUBMIT_FENCE: i32 = 53;
    pub const PERF_REVISION: i32 = 54;
    pub const HAS_EXEC_TIMELINE_FENCES: i32 = 55;
    pub const HAS_USERPTR_PROBE: i32 = 56;
}

/// Parameters of a context.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod context_param {
    pub const BAN_PERIOD: u64 = 0x1;
    pub const NO_ZEROMAP: u64 = 0x2;
    pub const GTT_SIZE: u64 = 0x3;
    pub const NO_ERROR_CAPTURE: u64 = 0x4;
    pub const BANNABLE: u64 = 0x5;
    pub const PRIORITY: u64 = 0x6;
    pub const SSEU: u64 = 0x7;
    pub const RECOVERABLE: u64 = 0x8;
    pub const VM: u64 = 0x9;
    pub const ENGINES: u64 = 0xa;
    pub const PERSISTENCE: u64 = 0xb;
}

/// Flags of an EXECBUFFER2.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod exec {
    pub const RING_MASK: u64 = 0x3f;
    pub const RENDER: u64 = 1;
    pub const BSD: u64 = 2;
    pub const BLT: u64 = 3;
    pub const VEBOX: u64 = 4;
    pub const CONSTANTS_MASK: u64 = 3 << 6;
    pub const GEN7_SOL_RESET: u64 = 1 << 8;
    pub const SECURE: u64 = 1 << 9;
    pub const IS_PINNED: u64 = 1 << 10;
    pub const NO_RELOC: u64 = 1 << 11;
    pub const HANDLE_LUT: u64 = 1 << 12;
    pub const BSD_MASK: u64 = 3 << 13;
    pub const BSD_SHIFT: u32 = 13;
    pub const RESOURCE_STREAMER: u64 = 1 << 15;
    pub const FENCE_IN: u64 = 1 << 16;
    pub const FENCE_OUT: u64 = 1 << 17;
    pub const BATCH_FIRST: u64 = 1 << 18;
    pub const FENCE_ARRAY: u64 = 1 << 19;
    pub const FENCE_SUBMIT: u64 = 1 << 20;
    pub const USE_EXTENSIONS: u64 = 1 << 21;
    /// All flags that are defined.
    pub const KNOWN: u64 = (1 << 22) - 1;
}

/// Flags of an object in EXECBUFFER2.
#[allow(missing_docs, reason = "the kernel's names")]
pub mod object {
    pub const NEEDS_FENCE: u64 = 1 << 0;
    pub const NEEDS_GTT: u64 = 1 << 1;
    pub const WRITE: u64 = 1 << 2;
    pub const SUPPORTS_48B: u64 = 1 << 3;
    pub const PINNED: u64 = 1 << 4;
    pub const PAD_TO_SIZE: u64 = 1 << 5;
    pub const ASYNC: u64 = 1 << 6;
    pub const CAPTURE: u64 = 1 << 7;
    /// All flags that are defined.
    pub const KNOWN: u64 = (1 << 8) - 1;
}

/// [`ExecFence::flags`]: wait for the fence before the submission runs.
pub const FENCE_WAIT: u32 = 1;
/// [`ExecFence::flags`]: signal the fence after the submission has run.
pub const FENCE_SIGNAL: u32 = 2;
/// Name of the extension [`TimelineFences`].
pub const EXT_TIMELINE_FENCES: u32 = 0;
/// GEM_MMAP_OFFSET: a mapping through the aperture, where tiled objects look linear.
pub const MMAP_OFFSET_GTT: u64 = 0;
/// GEM_MMAP_OFFSET: an uncached mapping. The only kind with a larger number needs local memory.
pub const MMAP_OFFSET_UC: u64 = 3;
/// GEM_SET_DOMAIN: the domain for accesses of the CPU through the aperture.
pub const DOMAIN_GTT: u32 = 0x40;
/// The domains of the GPU: RENDER, SAMPLER, COMMAND, INSTRUCTION, VERTEX (I915_GEM_DOMAIN_*).
pub const GPU_DOMAINS: u32 = 0x3e;
/// GEM_MADVISE: the contents are not needed. 0 means that they are.
pub const MADV_DONTNEED: u32 = 1;
/// GEM_USERPTR: the GPU does not write the pages.
pub const USERPTR_READ_ONLY: u32 = 1;
/// GEM_USERPTR: fail if the pages are not mapped.
pub const USERPTR_PROBE: u32 = 2;
/// GEM_USERPTR: without synchronisation with the CPU; for privileged clients.
pub const USERPTR_UNSYNCHRONIZED: u32 = 1 << 31;
/// REG_READ: read both halves of a 64-bit register at once.
pub const REG_READ_8B: u64 = 1;
/// QUERY: topology, that is slices, subslices and execution units.
pub const QUERY_TOPOLOGY_INFO: u64 = 1;
/// QUERY: engines.
pub const QUERY_ENGINE_INFO: u64 = 2;
/// QUERY: configurations of performance counters.
pub const QUERY_PERF_CONFIG: u64 = 3;
/// QUERY: memory regions.
pub const QUERY_MEMORY_REGIONS: u64 = 4;
/// QUERY: hardware description (newer GPUs).
pub const QUERY_HWCONFIG_BLOB: u64 = 5;
/// QUERY: subslices with geometry (newer GPUs).
pub const QUERY_GEOMETRY_SUBSLICES: u64 = 6;

structures! {
    /// Argument of GETPARAM.
    GetParam { param: i32, pad: u32, value: u64 }
    /// Argument of GEM_CREATE.
    GemCreate { size: u64, handle: u32, pad: u32 }
    /// Argument of GEM_CREATE_EXT.
    GemCreateExt { size: u64, handle: u32, flags: u32, extensions: u64 }
    /// Argument of GEM_PREAD and GEM_PWRITE.
    GemTransfer { handle: u32, pad: u32, offset: u64, size: u64, data_ptr: u64 }
    /// Argument of GEM_MMAP.
    GemMmap { handle: u32, pad: u32, offset: u64, size: u64, addr_ptr: u64, flags: u64 }
    /// Argument of GEM_MMAP_OFFSET. The first 16 bytes are the argument of GEM_MMAP_GTT.
    GemMmapOffset { handle: u32, pad: u32, offset: u64, flags: u64, extensions: u64 }
    /// Argument of GEM_SET_DOMAIN.
    GemSetDomain { handle: u32, read_domains: u32, write_domain: u32 }
    /// Argument of GEM_SW_FINISH.
    GemSwFinish { handle: u32 }
    /// Argument of GEM_BUSY.
    GemBusy { handle: u32, busy: u32 }
    /// Argument of GEM_SET_CACHING and GEM_GET_CACHING.
    GemCaching { handle: u32, caching: u32 }
    /// Argument of GEM_SET_TILING.
    GemSetTiling { handle: u32, tiling_mode: u32, stride: u32, swizzle_mode: u32 }
    /// Argument of GEM_GET_TILING.
    GemGetTiling { handle: u32, tiling_mode: u32, swizzle_mode: u32, phys_swizzle_mode: u32 }
    /// Argument of GEM_GET_APERTURE.
    GemGetAperture { aper_size: u64, aper_available_size: u64 }
    /// Argument of GET_PIPE_FROM_CRTC_ID.
    PipeFromCrtc { crtc_id: u32, pipe: u32 }
    /// Argument of GEM_MADVISE.
    GemMadvise { handle: u32, madv: u32, retained: u32 }
    /// Argument of GEM_EXECBUFFER2.
    ExecBuffer2 {
        buffers_ptr: u64, buffer_count: u32, batch_start_offset: u32, batch_len: u32, dr1: u32,
        dr4: u32,
        num_cliprects: u32, cliprects_ptr: u64, flags: u64, rsvd1: u64, rsvd2: u64,
    }
    /// An object of EXECBUFFER2.
    ExecObject2 {
        handle: u32, relocation_count: u32, relocs_ptr: u64, alignment: u64, offset: u64,
        flags: u64,
        pad_to_size: u64, rsvd2: u64,
    }
    /// A relocation: an address for the kernel to write.
    Relocation {
        target_handle: u32, delta: u32, offset: u64, presumed_offset: u64, read_domains: u32,
        write_domain: u32,
    }
    /// A syncobj of EXECBUFFER2.
    ExecFence { handle: u32, flags: u32 }
    /// Syncobjs of EXECBUFFER2 with timeline points.
    TimelineFences { base: Extension, fence_count: u64, handles_ptr: u64, values_ptr: u64 }
    /// Argument of GEM_WAIT.
    GemWait { bo_handle: u32, flags: u32, timeout_ns: i64 }
    /// Argument of GEM_CONTEXT_CREATE with flags. Without flags only the first 8 bytes are passed.
    ContextCreate { ctx_id: u32, flags: u32, extensions: u64 }
    /// Argument of GEM_CONTEXT_DESTROY.
    ContextDestroy { ctx_id: u32, pad: u32 }
    /// Argument of GEM_CONTEXT_GETPARAM and GEM_CONTEXT_SETPARAM.
    ContextParam { ctx_id: u32, size: u32, param: u64, value: u64 }
    /// Extension of GEM_CONTEXT_CREATE: a parameter to set.
    ContextSetParam { base: Extension, param: ContextParam }
    /// Extension of GEM_CREATE_EXT: the memory regions in which the object may be.
    CreateExtMemoryRegions { base: Extension, pad: u32, num_regions: u32, regions: u64 }
    /// A memory region by class and instance.
    MemoryRegion { class: u16, instance: u16 }
    /// An engine by class and instance.
    EngineClass { class: u16, instance: u16 }
    /// Value of the parameter SSEU.
    ContextSseu {
        engine: EngineClass, flags: u32, slice_mask: u64, subslice_mask: u64,
        min_eus_per_subslice: u16, max_eus_per_subslice: u16, rsvd: u32,
    }
    /// Extension of an engine map: a virtual engine, which uses any of its siblings.
    LoadBalance { base: Extension, engine_index: u16, num_siblings: u16, flags: u32, mbz64: u64 }
    /// Argument of GEM_VM_CREATE and GEM_VM_DESTROY.
    VmControl { extensions: u64, flags: u32, vm_id: u32 }
    /// Argument of REG_READ.
    RegRead { offset: u64, val: u64 }
    /// Argument of GET_RESET_STATS.
    ResetStats {
        ctx_id: u32, flags: u32, reset_count: u32, batch_active: u32, batch_pending: u32, pad: u32,
    }
    /// Argument of GEM_USERPTR.
    GemUserptr { user_ptr: u64, user_size: u64, flags: u32, handle: u32 }
    /// Argument of QUERY.
    Query { num_items: u32, flags: u32, items_ptr: u64 }
    /// An item of QUERY.
    QueryItem { query_id: u64, length: i32, flags: u32, data_ptr: u64 }
    /// Header of the reply of QUERY_TOPOLOGY_INFO.
    TopologyInfo {
        flags: u16, max_slices: u16, max_subslices: u16, max_eus_per_subslice: u16,
        subslice_offset: u16, subslice_stride: u16, eu_offset: u16, eu_stride: u16,
    }
    /// Header of a reply that is a list: engines or memory regions.
    ListHead { count: u32, rsvd: [u32; 3] }
    /// An engine in the reply of QUERY_ENGINE_INFO.
    EngineInfo {
        engine: EngineClass, rsvd0: u32, flags: u64, capabilities: u64, logical_instance: u16,
        rsvd1: [u16; 3], rsvd2: [u64; 3],
    }
    /// A memory region in the reply of QUERY_MEMORY_REGIONS.
    MemoryRegionInfo {
        class: u16, instance: u16, rsvd0: u32, probed_size: u64, unallocated_size: u64,
        probed_cpu_visible_size: u64, unallocated_cpu_visible_size: u64, rsvd1: [u64; 6],
    }
}
