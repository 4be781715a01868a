//! Submissions of the library, from their buffers to their results.

use crate::gpu::{ContextId, Gpu};
use crate::machine::fault::Fault;
use crate::machine::stats::Stats;
use crate::mem::{OutOfMemory, PageFault};
use bytemuck::AnyBitPattern;
use genxml::batch::Submission;

/// Why a submission was not executed.
#[derive(thiserror::Error)]
pub enum ExecuteError {
    /// The buffers do not fit the memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The batch ended with a fault.
    #[error(transparent)]
    Fault(Box<Fault>),
}

genxml_core::debug_as_display!(ExecuteError);

impl Gpu {
    /// Writes the buffers of a submission to their addresses in the context, and runs the batch to
    /// its end. Memory that is not mapped yet is allocated. What an earlier submission wrote stays
    /// where this one has no buffer.
    ///
    /// ```
    /// use genxml::batch::{Batch, Buffer};
    /// use genxml::core::U;
    /// use genxml::engine::Render;
    /// use genxml::gen8::mi::MiStoreDataImm;
    /// use genxml_sim::Gpu;
    ///
    /// let target = Buffer::new("target", 0x20_0000, 4096)?;
    /// let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?;
    /// let data = [U::new(7)?];
    /// let address = batch.writes(&target, 8)?;
    /// batch.emit(&MiStoreDataImm { data_dword: (&data).into(), ..MiStoreDataImm::new(address) })?;
    /// let mut gpu = Gpu::new();
    /// let context = gpu.create_context()?;
    /// gpu.execute(context, &batch.finish()?.submit([target])?)?;
    /// assert_eq!(gpu.values::<u32>(context, 0x20_0000, 3)?, [0, 0, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub fn execute(
        &mut self,
        id: ContextId,
        submission: &Submission,
    ) -> Result<Stats, ExecuteError> {
        for buffer in &submission.buffers {
            let (address, bytes) = (buffer.address(), buffer.bytes());
            if self.vm(id).write(address, bytes).is_err() {
                self.load(id, address, bytes)?;
            }
        }
        self.submit(id, submission.engine, submission.batch_address, submission.batch_length)
            .map_err(|fault| ExecuteError::Fault(Box::new(fault)))
    }

    /// `count` values from the context's memory, from `address` on.
    ///
    /// # Errors
    /// [`PageFault`] if a part is not mapped.
    pub fn values<T: AnyBitPattern>(
        &mut self,
        id: ContextId,
        address: u64,
        count: usize,
    ) -> Result<Vec<T>, PageFault> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.vm(id).read(address, &mut bytes)?;
        Ok(bytes.chunks_exact(size_of::<T>().max(1)).map(bytemuck::pod_read_unaligned).collect())
    }
}
