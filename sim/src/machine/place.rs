//! The position of the model in a submission: a packet, or an instruction of a thread.

use crate::mem::Va;
use genxml::engine::EngineId;
use std::fmt;

/// The packet, and possibly the instruction, that was being executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The engine.
    pub engine: EngineId,
    /// The packet's name in the manual, or what was being done between packets ("batch fetch").
    pub packet: &'static str,
    /// Graphics address of the packet.
    pub address: u64,
    /// Start address of the batch or ring that contains the packet.
    pub batch: u64,
    /// The instruction, if a thread of the packet was being executed.
    pub thread: Option<InKernel>,
}

/// An instruction of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InKernel {
    /// Graphics address of the kernel's first instruction.
    pub kernel: u64,
    /// Byte offset of the instruction from the start of the kernel.
    pub ip: u32,
}

impl Place {
    /// A packet at `address`, in the batch that starts at `batch`.
    pub const fn new(engine: EngineId, packet: &'static str, address: u64, batch: u64) -> Place {
        Place { engine, packet, address, batch, thread: None }
    }

    /// The same packet, with the instruction at `ip` bytes from the start of the kernel at
    /// `kernel`, in a thread that this packet started.
    #[must_use]
    pub const fn in_kernel(self, kernel: u64, ip: u32) -> Place {
        Place { thread: Some(InKernel { kernel, ip }), ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.packet, Va(self.address))?;
        if self.address >= self.batch {
            write!(f, " ({} batch +{:#x})", self.engine.name(), self.address - self.batch)?;
        } else {
            write!(f, " ({})", self.engine.name())?;
        }
        if let Some(InKernel { kernel, ip }) = self.thread {
            write!(f, ", kernel at {} +{ip:#x}", Va(kernel))?;
        }
        Ok(())
    }
}
