//! Helpers for tests of several modules: a GPU with some memory, and batches of typed packets.

use genxml::core::{Address, Instruction, Space, U};
use genxml::engine::EngineId;
use genxml_sim::{ContextId, Fault, Gpu, Stats};

/// Address at which [`Bench::submit`] writes the batch.
pub const BATCH: u64 = 0x10_0000;
/// Address of [`DATA_SIZE`] bytes of zeros.
pub const DATA: u64 = 0x20_0000;
/// Size of the memory at [`DATA`].
pub const DATA_SIZE: usize = 64 << 10;

/// A GPU, a context and some memory.
pub struct Bench {
    pub gpu: Gpu,
    pub context: ContextId,
}

impl Bench {
    pub fn new() -> Self {
        let mut gpu = Gpu::new();
        gpu.set_work_limit(1 << 24);
        let context = gpu.create_context().unwrap();
        gpu.load(context, BATCH, &[0; 16384]).unwrap();
        gpu.load(context, DATA, &[0; DATA_SIZE]).unwrap();
        Bench { gpu, context }
    }

    /// Writes dwords to memory.
    pub fn put(&mut self, address: u64, dwords: &[u32]) {
        self.gpu.vm(self.context).write(address, bytemuck::cast_slice(dwords)).unwrap();
    }

    /// Reads dwords from memory.
    pub fn get<const N: usize>(&mut self, address: u64) -> [u32; N] {
        let vm = self.gpu.vm(self.context);
        std::array::from_fn(|index| vm.read_u32(address + 4 * index as u64).unwrap())
    }

    /// Runs `batch` from [`BATCH`] on.
    pub fn submit(&mut self, engine: EngineId, batch: &[u32]) -> Result<Stats, Fault> {
        self.put(BATCH, batch);
        self.gpu.submit(self.context, engine, BATCH, 0)
    }

    /// Runs `batch` on the render engine.
    pub fn render(&mut self, batch: &[u32]) -> Result<Stats, Fault> {
        self.submit(EngineId::Render, batch)
    }

    /// Runs `batch` on the blitter.
    pub fn blit(&mut self, batch: &[u32]) -> Result<Stats, Fault> {
        self.submit(EngineId::Blitter, batch)
    }
}

/// Appends a packet to a batch.
pub fn push<I: Instruction>(batch: &mut Vec<u32>, packet: &I) {
    let start = batch.len();
    batch.resize(start + packet.dwords(), 0);
    packet.pack_into(&mut batch[start..]).unwrap();
}

/// A batch of packets.
macro_rules! batch {
    ($($packet:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut batch: Vec<u32> = Vec::new();
        $(crate::bench::push(&mut batch, &$packet);)*
        batch
    }};
}
pub(crate) use batch;

/// An address that is known to fit its field.
pub fn at<SP: Space, const ALIGN: u64, const N: u32>(address: u64) -> Address<SP, ALIGN, N> {
    Address::new(address).unwrap()
}

/// A number that is known to fit its field.
pub fn u<const N: u32>(value: u64) -> U<N> {
    U::new(value).unwrap()
}
