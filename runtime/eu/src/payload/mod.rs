//! Builders of messages: the registers of header and payload, the instructions that fill the
//! header, and the `send`.
//!
//! A function such as [`untyped_write`] returns a [`Message`], which lists the parts of the payload
//! in order. [`Message::place`] puts it into registers and checks the numbers of registers. The
//! result, [`Placed`], has the register of each [`Part`], the instructions that fill the header,
//! and the `send` with its descriptor. The kernel writes the other parts itself.
//!
//! This kernel adds 1 to 32 bytes of surface 0. The block is that of the thread's group, r0.1.
//!
//! ```
//! use genxml_eu::asm::{Options, assemble};
//! use genxml_eu::instruction::Register;
//! use genxml_eu::payload::{self, MdcDbOw, Part};
//! use genxml_eu::syntax::Syntax;
//!
//! let offset = Register::grf(9); // in owords
//! let read = payload::oword_block_read(0, MdcDbOw::OW2, offset.into())?.place(10, Some(20))?;
//! let write = payload::oword_block_write(0, MdcDbOw::OW2, offset.into())?.place(12, None)?;
//! let end = payload::end_of_thread().place(112, None)?;
//! let (old, new) = (read.reply(Part::Data).unwrap(), write.register(Part::Data).unwrap());
//! assert_eq!((old, new), (20, 13));
//!
//! // A message prints as assembly: the instructions that fill its header, and its `send`.
//! let text = format!(
//!     "(W) shl (1|M0) r9.0<1>:ud r0.1<0;1,0>:ud 1:ud
//!     {read}
//!     (W) add (8|M0) r{new}.0<1>:ud r{old}.0<8;8,1>:ud 1:ud
//!     {write}
//!     {end}"
//! );
//! let kernel = assemble(&text, Syntax::Iga, &Options::default()).unwrap();
//! assert!(genxml_eu::validate::is_valid(&kernel.bytes));
//!
//! // The same as values, to encode without text.
//! assert_eq!(read.instructions().last(), Some(&read.send()));
//! # Ok::<(), genxml_eu::payload::PayloadError>(())
//! ```

mod dataport;
mod error;
mod header;
mod message;
mod part;
mod render_target;
mod sampler;
mod thread;
mod urb;

pub use crate::gen8::descriptors::{MdcCmask, MdcDs, MdcSg2, MdcSg3};
pub use crate::gen8::eu_messages::MdcAop;
pub use crate::gen8::eu_payloads::SamplerMessageHeader;
pub use crate::gen8::messages::{MdcDbOw, MessageDescriptorSamplingEngineMessageType};
pub use dataport::{
    byte_scattered_read, byte_scattered_write, dword_scattered_read, dword_scattered_write,
    oword_block_read, oword_block_write, typed_atomic, typed_read, typed_write, untyped_atomic,
    untyped_read, untyped_write,
};
pub use error::PayloadError;
pub use header::Value;
pub use message::{Message, Placed};
pub use part::{Coordinates, Part, Simd};
pub use render_target::{RenderTarget, render_target_write};
pub use sampler::{Sample, sample};
pub use thread::end_of_thread;
pub use urb::{Urb, urb_read, urb_write};
