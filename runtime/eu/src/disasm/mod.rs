//! Text of instructions, in the syntax of Intel's assembler IGA and in that of Mesa's disassembler.
//!
//! [`Instruction::display`] and [`Located::display`] print one instruction, [`listing`] a whole
//! kernel with its labels. Both languages are written as their tools write them, up to white space.
//! Two things follow from that: Mesa's text shows no targets of `goto`, `brd`, `brc` and `call`,
//! calls `join` illegal, divides the subregister of an indirect destination by the size of its type
//! and writes negative offsets to an address as ten bits, since Mesa's does; IGA's has none of the
//! swizzles and masks of Align16, which are written here as Mesa does, `.xyzw` behind the region.
//!
//! `Display` of an [`Instruction`] and of a [`Located`] is IGA's text. A lone instruction's jumps
//! are shown as numbers of bytes.
//!
//! ```
//! use genxml_eu::disasm::listing;
//! use genxml_eu::syntax::Syntax;
//!
//! let mov = [0x00600001, 0x20800608, 0x00000000, 0x00000007u32].map(u32::to_le_bytes).concat();
//! let line = |syntax| listing(&mov, syntax).lines().last().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
//! assert_eq!(line(Syntax::Mesa).unwrap(), "mov(8) g4<1>UD 0x00000007UD { align1 1Q };");
//! assert!(listing(&mov, Syntax::Iga).contains("r4.0<1>:ud"));
//! ```

mod iga;
mod mesa;
mod mesa_messages;
pub(crate) mod text;

use crate::instruction::Instruction;
use crate::kernel::Located;
use crate::ops::Opcode;
use crate::syntax::Syntax;
use alloc::string::String;
use core::fmt;

/// An instruction to be printed in a syntax, by its `Display`.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    instruction: &'a Instruction,
    position: Option<u64>,
    syntax: Syntax,
}

impl Instruction {
    /// The text in `syntax`, without a line end. Mesa's text of a message has two lines. What
    /// cannot be encoded has no text in Mesa's syntax but a comment that says why.
    pub fn display(&self, syntax: Syntax) -> Shown<'_> {
        Shown { instruction: self, position: None, syntax }
    }
}

impl Located {
    /// As [`Instruction::display`]; targets of jumps are labels `L<byte>` in IGA's syntax.
    pub fn display(&self, syntax: Syntax) -> Shown<'_> {
        Shown { instruction: &self.instruction, position: Some(self.position), syntax }
    }

    /// Byte positions that the instruction can jump to, as far as it holds them; those before the
    /// kernel are left out.
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

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.syntax {
            Syntax::Iga => iga::write(f, self.instruction, self.position),
            Syntax::Mesa => match self.instruction.encode() {
                Ok(dwords) => {
                    mesa::write(f, &dwords, self.instruction.compacted, &mesa::Targets::Numbers)
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

/// A whole kernel: labels, and an instruction a line. What cannot be decoded is shown as a comment
/// with its dwords and the reason.
pub fn listing(bytes: &[u8], syntax: Syntax) -> String {
    // About what a line takes.
    let mut text = String::with_capacity(bytes.len() * 6);
    // A string takes all that is written to it.
    let _ = write_listing(&mut text, bytes, syntax);
    text
}

/// [`listing`] to a writer.
///
/// # Errors
/// Those of the writer.
pub fn write_listing(out: &mut impl fmt::Write, bytes: &[u8], syntax: Syntax) -> fmt::Result {
    match syntax {
        Syntax::Iga => iga::listing(out, bytes),
        Syntax::Mesa => mesa::listing(out, bytes),
    }
}
