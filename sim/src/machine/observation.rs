//! Aggregating counters of the observability architecture (OA): counts of events in the whole GPU,
//! which MI_REPORT_PERF_COUNT writes to memory (Broadwell vol 14 p.11-13).

/// Number of aggregating counters, A0 to A35.
pub const COUNTERS: usize = 36;

/// The aggregating counters that the model counts, by their numbers. The others are 0. Registers
/// select the EU events of A7 to A20. A22 (hierarchical depth test) and A29 (cache misses of the
/// sampler) belong to hardware that the model does not have. No source describes A33. A0 comes from
/// the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Counter {
    /// Clocks in which the render engine executed commands.
    RenderBusy = 0,
    /// Threads of the vertex shader.
    VertexThreads = 1,
    /// Threads of the hull shader.
    HullThreads = 2,
    /// Threads of the domain shader.
    DomainThreads = 3,
    /// Threads of GPGPU_WALKER.
    GpgpuThreads = 4,
    /// Threads of the geometry shader.
    GeometryThreads = 5,
    /// Threads of the pixel shader.
    PixelThreads = 6,
    /// Blocks of 2x2 pixels with a covered sample, before any test
    /// (assumptions::OA_BLOCKS_ARE_OF_PIXELS).
    Rasterized = 21,
    /// Blocks of 2x2 pixels of which no sample passed the tests before the pixel shader.
    FailedEarly = 23,
    /// Blocks of 2x2 pixels of which the pixel shader left no sample. (Not in the manual; Mesa's
    /// oa-bdw.xml.)
    Killed = 24,
    /// Blocks of 2x2 pixels of which no sample passed the tests after the pixel shader.
    FailedLate = 25,
    /// Blocks of 2x2 pixels with a sample that was written, for each render target.
    Written = 26,
    /// Blocks of 2x2 pixels with a sample that was written to a render target with blending.
    Blended = 27,
    /// Blocks of four lanes with an active lane, in messages to the sampler that return texels.
    Sampled = 28,
    /// Messages that read shared local memory (assumptions::OA_ACCESSES_ARE_MESSAGES).
    LocalReads = 30,
    /// Messages that write shared local memory.
    LocalWrites = 31,
    /// Messages that access memory other than render targets and textures.
    Memory = 32,
    /// Messages with atomic operations.
    Atomics = 34,
    /// Barrier messages.
    Barriers = 35,
}

/// The values of the aggregating counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observed([u64; COUNTERS]);

impl Default for Observed {
    fn default() -> Observed {
        Observed([0; COUNTERS])
    }
}

impl Observed {
    /// Adds `events` to a counter.
    #[inline]
    pub fn add(&mut self, counter: Counter, events: u64) {
        self.0[counter as usize] += events;
    }

    /// The value of a counter.
    #[must_use]
    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// All counters, A0 to A35.
    #[must_use]
    pub fn all(&self) -> &[u64; COUNTERS] {
        &self.0
    }
}

impl std::ops::AddAssign for Observed {
    fn add_assign(&mut self, other: Observed) {
        for (mine, others) in self.0.iter_mut().zip(other.0) {
            *mine += others;
        }
    }
}
