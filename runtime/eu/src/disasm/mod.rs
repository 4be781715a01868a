//! Disassembler: text of instructions in the syntax of Intel's assembler IGA and of Mesa's
//! disassembler.
//!
//! [`Instruction::display`] and [`Located::display`] print one instruction, [`listing`] prints a
//! whole kernel with its labels. The text equals that of the two tools, except for white space and
//! defects of Mesa: the types of mixed half and single floats, and words that it reads after the
//! end of a table. From Gen11 on, also: start and stride of the destination of a three-source
//! instruction, its signed words, types and immediates of 64 bits, and the distance of `jmpi` of
//! Gen12. Gen4, G45 and Gen5 have no text of IGA; they are printed in its style, with message
//! registers `m2` and the options `Compr` and `Compr4`. Newer releases of Mesa print more words in some messages, such as `bti` before an index.
//!
//! So the text also has the peculiarities of the tools. Mesa's text has no targets of `goto`,
//! `brd`, `brc` and `call`, prints `join` as illegal, divides the subregister of an indirect
//! destination by the size of its type, and prints negative address offsets as unsigned ten-bit
//! numbers. IGA has no syntax for the swizzles and masks of Align16; this crate prints them as Mesa
//! does, `.xyzw` after the region.
//!
//! `Display` of [`Instruction`] and [`Located`] prints IGA's text. Without a position, jump targets
//! are printed as distances in bytes.
//!
//! ```
//! use genxml_eu::disasm::listing;
//! use genxml_eu::syntax::Syntax;
//!
//! let mov = [0x00600001, 0x20800608, 0x00000000, 0x00000007u32].map(u32::to_le_bytes).concat();
//! let line = |syntax| listing(&mov, syntax).lines().last().map(|line|
//! line.split_whitespace().collect::<Vec<_>>().join(" ")); assert_eq!(line(Syntax::Mesa).unwrap(),
//! "mov(8) g4<1>UD 0x00000007UD { align1 1Q };"); assert!(listing(&mov,
//! Syntax::Iga).contains("r4.0<1>:ud"));
//! ```

mod iga;
mod mesa;
mod mesa_gen4;
mod mesa_messages;
pub(crate) mod text;

use crate::gen8::eu_gen4::{EuSendDescriptorGen4, SfidGen4};
use crate::generation::Generation;
use crate::instruction::Instruction;
use crate::kernel::{Code, Located};
use crate::ops::Opcode;
use crate::syntax::Syntax;
use alloc::string::String;
use core::fmt;

/// An instruction with a syntax; its `Display` prints the text.
#[derive(Clone, Copy, Debug)]
pub struct InstructionText<'a> {
    instruction: &'a Instruction,
    position: Option<u64>,
    syntax: Syntax,
}

impl Instruction {
    /// The text in `syntax`, without a line end. Mesa's text of a message has two lines. An
    /// instruction that cannot be encoded is printed in Mesa's syntax as a comment with the reason.
    pub fn display(&self, syntax: Syntax) -> InstructionText<'_> {
        InstructionText { instruction: self, position: None, syntax }
    }
}

impl Located {
    /// Like [`Instruction::display`]; jump targets are labels `L<byte>` in IGA's syntax.
    pub fn display(&self, syntax: Syntax) -> InstructionText<'_> {
        InstructionText { instruction: &self.instruction, position: Some(self.position), syntax }
    }

    /// Byte offsets of the jump targets that are encoded in the instruction. Targets before the
    /// kernel and the absolute target of `calla` are left out.
    pub fn targets(&self) -> impl Iterator<Item = u64> {
        let position = self.position;
        let distances = self.instruction.branch.map(|branch| [Some(branch.jip), branch.uip]);
        let distances = distances.filter(|_| self.instruction.opcode != Opcode::Calla);
        distances
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(move |d| position.checked_add_signed(i64::from(d)))
    }
}

impl fmt::Display for InstructionText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.syntax {
            Syntax::Iga => iga::write(f, self.instruction, self.position),
            Syntax::Mesa => match self.instruction.encode() {
                Ok(dwords) => {
                    let Instruction { generation, compacted, .. } = *self.instruction;
                    mesa::write(f, generation, &dwords, compacted, &mesa::Targets::Numbers)
                }
                Err(error) => write!(f, "// {error}"),
            },
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        iga::write(f, self, None)
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        iga::write(f, &self.instruction, Some(self.position))
    }
}

/// A message descriptor of G45 in Mesa's words, with the receiver, which the descriptor names:
/// `math MsgDesc: inv mlen 1 rlen 1`.
pub fn message_gen45(descriptor: u32) -> String {
    let mut text = String::new();
    let function = EuSendDescriptorGen4::unpack_lossy(&[descriptor]).target_function_id.get();
    // Writing to a string cannot fail.
    let _ = mesa_gen4::write(
        &mut text::Line::new(&mut text),
        Generation::Gen45,
        SfidGen4::from_bits(function),
        Some(descriptor),
    );
    text
}

/// Prints a whole kernel: labels and instructions. Each starts a line; Mesa's text of a message has
/// two lines. An instruction that cannot be decoded is printed as a comment with its dwords and the
/// reason.
pub fn listing(bytes: &[u8], syntax: Syntax) -> String {
    // Estimate of the text size per instruction byte.
    let mut text = String::with_capacity(bytes.len() * 6);
    // Writing to a string cannot fail.
    let _ = write_listing(&mut text, bytes, syntax);
    text
}

/// Writes a [`listing`] to a writer.
///
/// Returns the errors of the writer.
pub fn write_listing(out: &mut impl fmt::Write, bytes: &[u8], syntax: Syntax) -> fmt::Result {
    write_listing_of(out, bytes, syntax)
}

/// As [`write_listing`], for code that need not be in memory. The code is read twice, the first
/// time for the labels. Only the labels are stored.
///
/// Returns the errors of the writer.
pub fn write_listing_of(out: &mut impl fmt::Write, code: impl Code, syntax: Syntax) -> fmt::Result {
    write_listing_on(Generation::Gen8, out, code, syntax)
}

/// As [`write_listing_of`], for code of `generation`.
///
/// Returns the errors of the writer.
pub fn write_listing_on(
    generation: Generation,
    out: &mut impl fmt::Write,
    code: impl Code,
    syntax: Syntax,
) -> fmt::Result {
    match syntax {
        Syntax::Iga => iga::listing(generation, out, code),
        Syntax::Mesa => mesa::listing(generation, out, code),
    }
}
