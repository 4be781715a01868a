//! The guide: from a first packet to a checked batch, in several chapters. The code in it is tested,
//! and so are the error messages.
//!
//! 1. [`packets`]: what a batch buffer is; packets and fields; literals, run-time values,
//!    enumerations, required fields
//! 2. [`memory`]: addresses and offsets; buffers and heaps of state
//! 3. [`batches`]: engines and pipelines; chains, jumps, second-level batches; computing in the
//!    command streamer
//! 4. [`triangle`]: the whole state of a draw, built but not run
//! 5. [`compute`]: a first kernel in thread groups; messages, constants, shared memory
//! 6. [`kernels`]: how to write a kernel: registers, instructions, branches, messages
//! 7. [`blits`]: fill and copy; fences, order between engines, arithmetic, timestamps
//! 8. [`reading`]: from dwords to packets, from dumps to text; parts and differences of dumps
//! 9. [`checking`]: the manual's restrictions; batches on the model
//! 10. [`tools`]: a program of your own that reads dumps
//! 11. [`mistakes`]: common mistakes and their error messages
//! 12. [`hangs`]: from the kernel's error state to the command that hung
//! 13. [`pixels`]: from a wrong pixel to the draw, the primitive and the test
//! 14. [`bisect`]: from two runs to the draw, the instruction and the value in which they part
//! 15. [`flushes`]: from data that is stale on hardware to the missing flush
//! 16. [`missing_state`]: draws that rely on state which nothing set
//! 17. [`stepping`]: through the thread of a pixel, forward and backward
//! 18. [`inspector`]: a frame in the browser: draws, state, targets, meshes, shaders; traces with
//!     counters

#[doc = include_str!("packets.md")]
pub mod packets {}

#[doc = include_str!("memory.md")]
pub mod memory {}

#[doc = include_str!("batches.md")]
pub mod batches {}

#[doc = include_str!("triangle.md")]
///
/// ```ignore
#[doc = include_str!("../../examples/triangle.rs")]
/// ```
pub mod triangle {}

#[cfg(all(feature = "media", feature = "messages"))]
#[doc = include_str!("compute.md")]
pub mod compute {}

#[cfg(feature = "media")]
#[doc = include_str!("kernels.md")]
pub mod kernels {}

#[cfg(all(feature = "blitter", feature = "registers"))]
#[doc = include_str!("blits.md")]
pub mod blits {}

#[doc = include_str!("reading.md")]
pub mod reading {}

#[doc = include_str!("checking.md")]
pub mod checking {}

#[doc = include_str!("tools.md")]
///
/// # The example `draw_report`
///
/// ```ignore
#[doc = include_str!("../../examples/draw_report.rs")]
/// ```
pub mod tools {}

#[doc = include_str!("hangs.md")]
pub mod hangs {}

// A chapter with a picture defines the link to it twice: an included text file has the bytes of the
// picture, and the end of the chapter has the path of its file. Rustdoc uses the first definition.
// It needs the bytes, because it does not copy files. A reader of the repository gets the path.
#[doc = include_str!("pictures/cube.txt")]
#[doc = include_str!("pictures/cube-wrong.txt")]
#[doc = include_str!("pixels.md")]
pub mod pixels {}

#[doc = include_str!("bisect.md")]
pub mod bisect {}

#[doc = include_str!("pictures/cube.txt")]
#[doc = include_str!("pictures/cube-stale.txt")]
#[doc = include_str!("flushes.md")]
pub mod flushes {}

#[doc = include_str!("missing_state.md")]
pub mod missing_state {}

#[doc = include_str!("pictures/triangle-stop.txt")]
#[doc = include_str!("stepping.md")]
pub mod stepping {}

#[doc = include_str!("inspector.md")]
pub mod inspector {}

#[doc = include_str!("mistakes.md")]
///
/// # A command of another engine
///
/// ```ignore
#[doc = include_str!("mistakes/wrong_engine.rs")]
/// ```
///
/// ```text
#[doc = include_str!("mistakes/wrong_engine.stderr")]
/// ```
///
/// # A literal that does not fit
///
/// ```ignore
#[doc = include_str!("mistakes/literal_too_wide.rs")]
/// ```
///
/// ```text
#[doc = include_str!("mistakes/literal_too_wide.stderr")]
/// ```
///
/// # An offset from another base
///
/// ```ignore
#[doc = include_str!("mistakes/wrong_base.rs")]
/// ```
///
/// ```text
#[doc = include_str!("mistakes/wrong_base.stderr")]
/// ```
///
/// # An address that is not aligned
///
/// ```ignore
#[doc = include_str!("mistakes/misaligned_address.rs")]
/// ```
///
/// ```text
#[doc = include_str!("mistakes/misaligned_address.stderr")]
/// ```
///
/// # A required field
///
/// The first message names the mistake. The second shows which fields `new` takes.
///
/// ```ignore
#[doc = include_str!("mistakes/required_field.rs")]
/// ```
///
/// ```text
#[doc = include_str!("mistakes/required_field.stderr")]
/// ```
///
/// # `batch!` without `?`
///
/// `batch!` returns a `Result`, because the buffer may be full. Write `?` after the closing brace.
///
/// ```ignore
#[doc = include_str!("mistakes/batch_statement.rs")]
/// ```
///
/// ```text
#[doc = include_str!("mistakes/batch_statement.stderr")]
/// ```
pub mod mistakes {}
