//! Batches of the G45: commands of the streamer and 2D commands.

mod blits;
mod debugging;
mod media;
mod mutations;
mod streamer;

use genxml_sim::gpu::Generation;
use genxml_sim::{ContextId, EngineId, Fault, Gpu, Memory, Stats};

/// Address of the batch.
const BATCH: u64 = 0x10_0000;
/// Address of the data.
const DATA: u64 = 0x20_0000;
/// Bytes of the batch and of the data.
const SIZE: usize = 192 << 10;
/// MI_BATCH_BUFFER_END. (gen45_facts 2.2)
const END: u32 = 0x0500_0000;

/// A G45 with a batch and data.
struct G45 {
    gpu: Gpu,
    context: ContextId,
}

impl G45 {
    fn new() -> G45 {
        let mut gpu = Gpu::of(Generation::G45, Memory::new());
        let context = gpu.create_context().unwrap();
        for address in [BATCH, DATA] {
            gpu.load(context, address, &vec![0; SIZE]).unwrap();
        }
        G45 { gpu, context }
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        self.gpu.vm(self.context).write(address, bytes).unwrap();
    }

    fn read(&mut self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.gpu.vm(self.context).read(address, &mut bytes).unwrap();
        bytes
    }

    fn dword(&mut self, address: u64) -> u32 {
        self.gpu.vm(self.context).read_u32(address).unwrap()
    }

    fn qword(&mut self, address: u64) -> u64 {
        self.gpu.vm(self.context).read_u64(address).unwrap()
    }

    /// Runs dwords as a batch that ends with MI_BATCH_BUFFER_END.
    fn run(&mut self, dwords: &[u32]) -> Result<Stats, Fault> {
        let batch = [dwords, &[END, 0]].concat();
        self.write(BATCH, bytemuck::cast_slice(&batch));
        self.gpu.submit(self.context, EngineId::Render, BATCH, 0)
    }

    /// Runs dwords, which must end with a fault. Returns its text.
    fn fault(&mut self, dwords: &[u32]) -> String {
        self.run(dwords).expect_err("the batch has a fault").to_string()
    }
}
