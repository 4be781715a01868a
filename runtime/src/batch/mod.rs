//! Building batches: packets of one engine, and the state in memory that they point to.
//!
//! * [`Batch`]: packets one behind the other; takes those of its engine only, and of the pipeline
//!   that was chosen
//! * [`Heap`]: state, found by offsets that fit only the fields that count from the same base
//! * [`Buffer`]: memory at a GPU address; [`Arena`]: addresses for buffers of a batch that grows
//! * [`Label`], [`Target`], [`Routine`]: places to jump to, second-level batches
//! * [`Submission`]: what an engine runs, checked, and as the kernel takes it ([`ExecBuffer`])
//!
//! Every buffer has a GPU address from the start. With softpin that is where it will be, and
//! addresses may go into packets as plain numbers. Where the kernel places buffers, an address is
//! taken with [`Batch::reads`] or [`Batch::writes`] (or the heap's), which remember where in the
//! packet it went.
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
//! Without the feature `std` all of it is there but `Submission::write`; it needs `alloc` only.

mod arena;
mod buffer;
mod builder;
mod error;
mod exec;
#[cfg(all(feature = "std", feature = "registers"))]
mod expression;
mod fields;
mod heap;
mod jump;
mod label;
mod reloc;
mod stage;
mod submission;
mod verify;

pub use arena::{Allocate, Arena};
pub use buffer::{Buffer, Object, PAGE};
pub use builder::{Batch, FinishedBatch, Position};
pub use error::BatchError;
pub use exec::{
    EXEC_OBJECT_PINNED, EXEC_OBJECT_SUPPORTS_48B_ADDRESS, EXEC_OBJECT_WRITE, ExecBuffer,
    ExecObject, I915_EXEC_BATCH_FIRST, I915_EXEC_HANDLE_LUT, I915_EXEC_NO_RELOC,
    I915_GEM_DOMAIN_RENDER, Placement, RelocationEntry,
};
#[cfg(all(feature = "std", feature = "registers"))]
pub use expression::MiError;
pub use heap::Heap;
pub use jump::Routine;
pub use label::{Label, Target};
pub use reloc::{Access, Relocation};
pub use submission::Submission;
