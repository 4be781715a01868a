//! Building batches: packets of one engine, and the state in memory that they point to.
//!
//! * [`Batch`]: consecutive packets; takes only those of its engine and of the selected pipeline
//! * [`Heap`]: state; its offsets have the types of fields relative to the same base
//! * [`Buffer`]: memory at a GPU address; [`Arena`]: addresses for buffers of a growing batch
//! * [`Label`], [`Target`], [`Routine`]: targets of jumps, second-level batches
//! * [`Submission`]: a batch with its buffers, checked, also in the form of the kernel
//!   ([`ExecBuffer`])
//!
//! Every buffer has a GPU address from the start. With softpin this is the final address, and
//! addresses may go into packets as plain numbers. If the kernel chooses the addresses, take an
//! address with [`Batch::reads`] or [`Batch::writes`] (or the heap's methods). They record the
//! position of the address in the packet.
//!
//! ```
//! use genxml::batch::{Batch, Buffer};
//! use genxml::core::U;
//! use genxml::engine::Render;
//! use genxml::gen8::mi::MiStoreDataImm;
//!
//! let target = Buffer::new("target", 0x10000, 4096)?;
//! let mut batch = Batch::<Render>::new("batch", 0x20000, 4096)?;
//! let values = [U::new(42)?];
//! let address = batch.writes(&target, 0)?;
//! batch.emit(&MiStoreDataImm { data_dword: (&values).into(), ..MiStoreDataImm::new(address) })?;
//! let submission = batch.finish()?.submit([target])?;
//! assert_eq!(submission.batch_address, 0x20000);
//! # Ok::<(), genxml::batch::BatchError>(())
//! ```
//!
//! Without the feature `std` everything except `Submission::write`, `Submission::findings`,
//! `MiError` and checked batches is available; it needs only `alloc`.

mod arena;
mod buffer;
mod builder;
mod error;
mod exec;
mod fields;
mod heap;
mod jump;
mod label;
mod needs;
mod object;
mod position;
mod reloc;
mod stage;
mod submission;
mod verify;

pub use arena::{Allocate, Arena};
pub use buffer::{Buffer, PAGE};
pub use builder::{Batch, FinishedBatch};
#[cfg(all(feature = "std", feature = "registers"))]
pub use error::MiError;
pub use error::{BatchError, Room};
pub use exec::{
    EXEC_OBJECT_PINNED, EXEC_OBJECT_SUPPORTS_48B_ADDRESS, EXEC_OBJECT_WRITE, ExecBuffer,
    ExecObject, I915_EXEC_BATCH_FIRST, I915_EXEC_HANDLE_LUT, I915_EXEC_NO_RELOC,
    I915_GEM_DOMAIN_RENDER, Placement, RelocationEntry,
};
pub use heap::Heap;
pub use jump::Routine;
pub use label::{Label, Target};
pub use object::Object;
pub use position::Position;
pub use reloc::{Access, Relocation};
pub use submission::Submission;
