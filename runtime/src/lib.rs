//! Typed packets of Intel Broadwell graphics: build batches, decode dumps.
//!
//! Start with the guide, in the module `guide`. The modules, in reading order:
//!
//! * [`gen8`]: the packets, generated from the specification
//! * [`engine`]: the engines and which packets they take
//! * [`pipeline`]: the pipelines of the render engine and which packets they take
//! * [`batch`](mod@batch): batches and the state that they point to
//! * [`setup`]: the parts that nearly every program needs: surfaces, samplers, viewports, thread
//!   groups, draws
//! * [`merge`]: packets merged from a part packed in advance and a part packed at draw time
//! * [`aub`]: files for simulators: memory, page tables, registers and submissions as a stream
//! * [`capture`]: recorded submissions of programs, with the contents of memory
//! * [`check`](mod@check): violations of the manual's programming restrictions in dumps and batches
//! * [`error_state`]: error states, the i915 driver's report on a GPU that hung, read and written
//!   in every spelling
//! * [`devcoredump`]: device coredumps, the report of the later driver xe on a GPU that hung
//! * [`hang`]: a summary of what hung, and why
//! * [`read`]: iterators over the typed packets of a batch
//! * [`diff`]: differences between packets, field by field, and between batches, packet by packet
//! * [`dump`]: opens dumps of every kind and passes on their submissions
//! * [`pasted`]: text pasted from bug reports, Mesa's printed batches, hex dumps
//! * [`query`]: filters for dumps, lists of draws, and which packet wrote which state
//! * [`decode`]: batches and everything that they point to, as records, text or JSON
//! * [`html`]: a decoded dump as one self-contained HTML page
//! * [`mi`]: a builder for expressions that the command streamer evaluates
//! * `json` (feature `serde`): packets as JSON of named fields, and back
//!
//! # Features
//!
//! `3d`, `blitter`, `display`, `media`, `messages`, `registers`, `vebox` and `video`, all on by
//! default, each enable the types of one unit. Without a unit's feature, the decoder still decodes
//! its packets and the parsers return them as `Partial`. Types of the unit remain if fields of
//! another unit use them. MI commands, state and structures are always available.
//!
//! `eu`, off by default, enables the macro `eu!`: kernels in assembly as constants.
//!
//! `serde`, off by default, gives every type `Serialize` and `Deserialize`, and the module `json`.
//!
//! `std`, on by default, enables the modules that read and write files and dumps: [`aub`],
//! [`capture`], [`check`](mod@check), [`decode`], [`diff`], [`dump`] and others, and, with
//! `registers`, [`mi`]. Without `std` the crate is `no_std` with `alloc`; packing, unpacking and
//! building batches still work.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;
// The macros name this crate `genxml`.
extern crate self as genxml;

#[cfg(feature = "std")]
pub mod aub;
pub mod batch;
#[cfg(feature = "std")]
pub mod capture;
#[cfg(feature = "std")]
pub mod check;
#[cfg(feature = "std")]
pub mod decode;
#[cfg(feature = "std")]
pub mod devcoredump;
#[cfg(feature = "std")]
pub mod diff;
#[cfg(feature = "std")]
pub mod dump;
#[cfg(feature = "std")]
pub mod error_state;
#[cfg(feature = "std")]
pub mod guide;
#[cfg(feature = "std")]
pub mod hang;
#[cfg(feature = "std")]
pub mod html;
#[cfg(feature = "serde")]
pub mod json;
#[cfg(feature = "std")]
mod memory;
pub mod merge;
#[cfg(all(feature = "std", feature = "registers"))]
pub mod mi;
#[cfg(feature = "std")]
pub mod pasted;
#[cfg(feature = "std")]
pub mod query;
pub mod read;
pub mod setup;
#[cfg(feature = "std")]
mod submission;

/// Packets, state structures, registers and enumerations of Gen8, generated from the specification:
/// a module for each unit, and for each engine an enum of its packets with a parser.
pub mod gen8 {
    pub use genxml_gen8::*;
}

/// Packets, state structures, registers and enumerations of G45 (Gen4.5), in the same form as
/// [`gen8`]. Without the feature `gen45` there are only their tables.
#[cfg(feature = "gen45-tables")]
pub mod gen45 {
    pub use genxml_gen45::*;
}

pub use genxml_core as core;
pub use genxml_core::engine;
pub use genxml_eu as eu;
pub use genxml_gen8::pipeline;

/// A packet, or any generated structure, with numbers written as plain literals and run-time values
/// followed by `?`.
///
/// ```
/// use genxml::core::{Address, FieldError, address::Graphics};
/// use genxml::gen8::blitter::{BlitColorDepth, XyColorBlt};
/// use genxml::packet;
///
/// fn fill(target: Address<Graphics, 1, 64>, pitch: usize) -> Result<XyColorBlt, FieldError> {
///     Ok(packet! {
///         XyColorBlt {
///             color_depth: BlitColorDepth::_32BPP, // expressions stand as they are
///             solid_pattern_color: 0xff0000,       // checked when compiled: it must fit the field
///             destination_base_address: target,
///             destination_pitch: pitch?,           // checked when run; the error names the field
///             ..                                   // the rest at its default
///         }
///     })
/// }
/// assert!(fill(Address::ZERO, 256).is_ok());
/// assert_eq!(
///     fill(Address::ZERO, 40_000).unwrap_err().to_string(),
///     "XY_COLOR_BLT: Destination Pitch (dw1 15:0) = 40000 does not fit -32768..=32767"
/// );
/// ```
///
/// It is a struct literal in which
///
/// * every number, also `-1` and `0.5`, stands for a checked constant of the field's type. It must
///   fit the field's bits and the range that the manual allows; otherwise the program does not
///   compile, and the message names the field.
/// * `value?` converts a run-time value with the same checks. It takes the types that implement
///   [`Fit`](crate::core::Fit): integers of every size, floats for fixed point, and results of
///   conversions such as `Address::new(x)`. A value that does not fit returns from the function
///   with a [`FieldError`](crate::core::FieldError), as `?` does. Rust's own `?` is written
///   `(value?)`.
/// * `..` stands for `..Type::new()`. A structure with required fields has no `new()` without
///   arguments: write `..Type::new(...)`.
///
/// The same applies inside arrays and inside nested struct literals. Parentheses, calls and all
/// other expressions are left unchanged. To check a single value, use
/// [`core::fit!`](crate::core::fit!), or for a literal [`core::lit!`](crate::core::lit!).
pub use genxml_macros::packet;

/// Emits packets in order into a batch; the value is a `Result`.
///
/// ```
/// use genxml::batch;
/// use genxml::batch::{Batch, BatchError};
/// use genxml::engine::Render;
/// use genxml::gen8::mi::{MiNoop, PipeControl};
///
/// fn setup(batch: &mut Batch<Render>, stall: bool, marks: &[u32]) -> Result<(), BatchError> {
///     batch! { batch =>
///         if stall {
///             PipeControl { command_streamer_stall_enable: true, stall_at_pixel_scoreboard: true, .. };
///         }
///         for &mark in marks {
///             MiNoop { identification_number_register_write_enable: true, identification_number: mark?, .. };
///         }
///         MiNoop::new();
///     }
/// }
/// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
/// setup(&mut batch, true, &[1, 2])?;
/// assert_eq!(batch.dwords().len(), 6 + 2 + 1);
///
/// let error = setup(&mut batch, false, &[1 << 22]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "MI_NOOP: Identification Number (dw0 21:0) = 4194304 does not fit 0..=4194303"
/// );
/// # Ok::<(), BatchError>(())
/// ```
///
/// The batch comes before `=>`: any value with a method `emit` that takes a reference to a packet
/// and returns a `Result`. The packets follow, each with a `;`: struct literals as in [`packet!`],
/// or any other expression whose value is a packet. `if`, `for` and `let` work as in Rust. The
/// braces of `if` and `for` contain packets; any other block in braces is plain Rust.
///
/// The first error from `emit` or from a field's `?` ends the macro, and the macro's value is this
/// error; a `?` elsewhere is Rust's own. To patch a packet later, call `emit` directly: it returns
/// the packet's position.
pub use genxml_macros::batch;

/// A kernel in assembly as an array of dwords, assembled and validated at compile time. Needs the
/// feature `eu`.
///
/// ```
/// use genxml::eu;
///
/// const END: [u32; 8] = eu! {
///     (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
///     (W) send (8|M0)  null  r127  0x27  0x02000010  {EOT}   // to the thread spawner
/// };
/// assert_eq!(END[7], 0x8200_0010);
///
/// const SUM: [u32; 4] = eu! { #![mesa] add(8) g4<1>F g2<8,8,1>F 0x3f800000F { align1 1Q }; };
/// assert_eq!(SUM, eu!("add (8|M0) r4.0<1>:f r2.0<8;8,1>:f 1.0:f"));
/// ```
///
/// It accepts the input of [`eu::asm`]: labels and both languages, with Rust's comments. An
/// instruction of IGA's language ends at the end of its line or at a `;`. Code that cannot be
/// assembled, or that breaks a rule of severity error of the [validator](crate::eu::validate), does
/// not compile; the message points at the token or the instruction. String literals are accepted
/// too, one for each line; the message then points at the literal.
///
/// Attributes may stand before the first instruction:
///
/// | attribute | meaning |
/// |---|---|
/// | `#![mesa]`, `#![iga]` | the language; IGA's by default |
/// | `#![g45]`, `#![gen4]`, `#![gen5]` | a kernel of these GPUs, in Mesa's language |
/// | `#![compact]` | every instruction that has an 8-byte form uses it, except branches |
/// | `#![allow("EU-...")]` | the kernel may break this rule |
#[cfg(feature = "eu")]
pub use genxml_macros::eu;

/// A packet, state structure or register of your own, described as the specification describes
/// those of the manual. It gets the same items as generated types: `new`, `pack`, `unpack`,
/// `unpack_lossy`, the tables (`INFO`) that decoders and `Debug` read, the traits of
/// [`core`](mod@crate::core) and the markers of the engines that take it.
///
/// ```
/// use genxml::Packet;
/// use genxml::batch::{Batch, BatchError};
/// use genxml::core::{MinusOne, U};
/// use genxml::engine::Render;
/// use genxml::packet;
///
/// #[derive(Clone, Copy, Packet)]
/// #[packet(
///     name = "MY_COMMAND", engine = "render", length = 2,
///     opcode(bits = "31:16", value = 0x7a42), dword_length(bits = "7:0"),
///     zero = "15:8, dw1 31:25"
/// )]
/// struct MyCommand {
///     #[field(dword = 1, bits = "15:0", default = 0xffff, unit = "one bit per sample")]
///     mask: U<16>,
///     #[field(dword = 1, bits = "24:16", range = "1..500")]
///     threads: MinusOne<9>,
/// }
///
/// fn emit(batch: &mut Batch<Render>, threads: usize) -> Result<(), BatchError> {
///     batch.emit(&packet! { MyCommand { threads: threads?, .. } })?;
///     Ok(())
/// }
/// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
/// emit(&mut batch, 64)?;
/// assert_eq!(batch.dwords(), [0x7a42_0000, 63 << 16 | 0xffff]);
/// assert_eq!(
///     emit(&mut batch, 501).unwrap_err().to_string(),
///     "MY_COMMAND: Threads (dw1 24:16) = 501 does not fit 1..=500"
/// );
/// assert_eq!(format!("{:?}", MyCommand::new()), "MY_COMMAND { Mask: 65535, Threads: 1 }");
/// # Ok::<(), BatchError>(())
/// ```
///
/// The struct must also derive `Clone` and `Copy`. `Packet` implements `PartialEq`, `Eq` and
/// `Debug`, except for a struct with a tail, which must derive them.
///
/// `#[packet(...)]` describes the container:
///
/// | attribute | meaning |
/// |---|---|
/// | `name = "MY_COMMAND"` | its name as in a manual |
/// | `length = 2` | dwords; not with a tail |
/// | `opcode(bits = "31:16", value = 0x7a42)` | bits that identify the command; without an opcode it is a structure |
/// | `engine = "render\|blitter"` | the engines that take it; all by default |
/// | `pipeline = "media\|gpgpu"` | the pipelines of the render engine that take it (`3d`, `media`, `gpgpu`); all by default |
/// | `dword_length(bits = "7:0")`, `bias = 2` | the length field, which holds the number of dwords minus the bias (2 by default) |
/// | `zero = "31:16, 3, dw1 15:0"` | bits that must be zero, in dword 0 or in the dword named before them. For one range also `zero(dword = 1, bits = "15:0")` |
/// | `one` | as `zero`, for bits that must be one |
/// | `reserved` | as `zero`, for bits that are written as zero and may have any value when read |
/// | `align = 64` | alignment of a structure in memory, in bytes |
/// | `register = 0x2358`, `access = "ro"`, `masked` | it is a register, at this offset |
/// | `source = "2a p.188"`, `doc = "..."` | the page that describes it, and a description |
///
/// `#[field(...)]` describes a field:
///
/// | attribute | meaning |
/// |---|---|
/// | `dword = 1, bits = "15:0"` | its position; bits may go beyond the dword, as in `"63:0"`; for an array, the bits of all elements |
/// | `name = "Sample Mask"` | the manual's name; by default made from the field's name |
/// | `default = 1` | the default as stored, for fixed point and floats as a number; 0 if omitted |
/// | `range = "1..500"` | the values that the manual allows, before encoding: for `MinusOne` the count, not the stored number |
/// | `required` | an argument of `new` |
/// | `nonzero` | must not be zero: for an unsigned number that has a `default` or is `required` |
/// | `nested` | the type is a structure; without `nested`, a type with an unknown name counts as an enumeration |
/// | `unit`, `source`, `doc` | unit of the value, source and description, for the tables |
///
/// Types are `bool`, `f32`, `f64`, those of [`core`](mod@crate::core) (`U<16>`, `U64<48>`, `S`,
/// `S64`, `MinusOne`, `Shifted`, `PowerOfTwo`, `UFix`, `SFix`, `Address`), generated enumerations
/// and structures, other derived structures, arrays `[T; 4]` of all these, and as the last field
/// `Entries<'a, T>`, a tail without a fixed length. Bits that belong to no field or to two fields,
/// and types whose width differs from the bits, do not compile.
pub use genxml_macros::Packet;
