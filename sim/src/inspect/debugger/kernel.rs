//! The instructions of a kernel in memory.

use crate::eu::decode::{self, Fetched};
use crate::machine::view::View;
use genxml::eu::Generation;
use genxml::eu::decode::{decode_on, length};
use genxml::eu::instruction::{Instruction, SharedFunction};
use genxml_eu::kernel::Located;
use genxml_eu::syntax::Syntax;
use std::collections::{BTreeMap, BTreeSet};

/// The instructions that a kernel can reach.
#[derive(Clone, Debug)]
pub struct Code {
    /// Address of the first instruction.
    pub address: u64,
    /// Generation of the instructions.
    pub generation: Generation,
    /// The instructions by byte offset; the error for bytes that are not an instruction.
    instructions: BTreeMap<u32, Result<Instruction, String>>,
}

/// A line of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Byte offset of the instruction; `None` for a label.
    pub offset: Option<u32>,
    /// The text, without a line end. Mesa's text of a message has two lines.
    pub text: String,
}

impl Code {
    /// Reads a kernel. Instructions that only a computed jump reaches are left out.
    pub fn read(view: &dyn View, generation: Generation, address: u64) -> Code {
        let mut instructions = BTreeMap::new();
        decode::kernel_on(generation, address, 0, |offset| {
            let decoded = fetch(view, generation, address.wrapping_add_signed(offset.into()));
            if let Ok(offset) = u32::try_from(offset) {
                instructions.insert(offset, decoded.clone());
            }
            match decoded {
                Ok(instruction) => Fetched::Instruction(Box::new(instruction)),
                Err(why) => Fetched::Garbage(why),
            }
        });
        Code { address, generation, instructions }
    }

    /// True if an instruction starts at a byte offset.
    pub fn has(&self, offset: u32) -> bool {
        self.instructions.contains_key(&offset)
    }

    /// The instruction at a byte offset.
    pub fn instruction(&self, offset: u32) -> Option<&Instruction> {
        self.instructions.get(&offset)?.as_ref().ok()
    }

    /// The shared function to which the instruction at an offset sends a message.
    pub fn sends_to(&self, offset: u32) -> Option<SharedFunction> {
        Some(self.instruction(offset)?.send?.function)
    }

    /// True if an instruction sends a message to `function`, or to any function.
    pub fn sends(&self, function: Option<SharedFunction>) -> bool {
        let offsets = self.instructions.keys();
        offsets
            .filter_map(|offset| self.sends_to(*offset))
            .any(|to| function.is_none_or(|f| f == to))
    }

    /// Number of bytes up to the end of the last instruction.
    pub fn bytes(&self) -> u32 {
        let last = self.instructions.iter().next_back();
        last.map_or(0, |(offset, instruction)| {
            let length = instruction.as_ref().map_or(16, |instruction| instruction.length());
            offset + length
        })
    }

    /// Byte offsets of the instructions, in order.
    pub fn offsets(&self) -> impl Iterator<Item = u32> {
        self.instructions.keys().copied()
    }

    /// The text of the instruction at an offset, in one line.
    pub fn text(&self, offset: u32, syntax: Syntax) -> String {
        match self.instructions.get(&offset) {
            Some(Ok(instruction)) => {
                let located = Located { position: offset.into(), instruction: *instruction };
                let text = located.display(syntax).to_string();
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            Some(Err(why)) => format!("// {why}"),
            None => "// no instruction that the kernel can reach".to_owned(),
        }
    }

    /// All instructions with their labels. The labels of IGA's syntax have lines of their own.
    pub fn listing(&self, syntax: Syntax) -> Vec<Line> {
        let located = |offset: u32, instruction: &Instruction| Located {
            position: offset.into(),
            instruction: *instruction,
        };
        let targets: BTreeSet<u64> = self
            .instructions
            .iter()
            .filter_map(|(offset, instruction)| Some(located(*offset, instruction.as_ref().ok()?)))
            .flat_map(|located| located.targets().collect::<Vec<_>>())
            .collect();
        let mut lines = Vec::new();
        for (offset, instruction) in &self.instructions {
            if syntax == Syntax::Iga && targets.contains(&(*offset).into()) {
                lines.push(Line { offset: None, text: format!("L{offset}:") });
            }
            let text = match instruction {
                Ok(instruction) => located(*offset, instruction).display(syntax).to_string(),
                Err(why) => format!("// {why}"),
            };
            lines.push(Line { offset: Some(*offset), text });
        }
        lines
    }
}

/// The instruction at a graphics address.
fn fetch(view: &dyn View, generation: Generation, address: u64) -> Result<Instruction, String> {
    let mut dwords = [0u32; 4];
    let mut read = view.read(address, bytemuck::must_cast_slice_mut(&mut dwords[..2]));
    let compact = length(dwords[0]) == 8;
    if read && !compact {
        read = view.read(address, bytemuck::must_cast_slice_mut(&mut dwords));
    }
    if !read {
        return Err(format!("no memory is mapped at {address:#x}"));
    }
    decode_on(generation, if compact { &dwords[..2] } else { &dwords })
        .map_err(|error| error.problem.to_string())
}
