//! Which instructions of a kernel test and set flags, to find the instruction that discards a
//! pixel.

use crate::inspect::summary::kernel;
use crate::inspect::summary::state::ShaderSummary;
use crate::machine::drawing::Drawing;
use genxml::eu::Generation;
use genxml::eu::instruction::{Arf, Flag, Instruction, Register};
use genxml_eu::Opcode;
use std::collections::BTreeMap;

/// How an instruction uses flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Use {
    /// The flag of its predicate.
    tests: Option<Flag>,
    /// A flag that it sets, and whether it sets the other half of the register too.
    sets: Option<(Flag, bool)>,
}

impl Use {
    fn of(instruction: &Instruction) -> Use {
        let selects = matches!(instruction.opcode, Opcode::Sel | Opcode::Csel);
        let compares = instruction.condition.is_some() && !selects;
        let written = instruction.destination.and_then(|destination| match destination.register {
            Register::Arf { file: Arf::Flag, number, byte } => {
                let flag = Flag { register: number, subregister: (byte / 2) & 1 };
                Some((flag, destination.ty.size() > 2))
            }
            _ => None,
        });
        Use {
            tests: instruction.predicate.map(|_| instruction.flag),
            sets: written.or(compares.then_some((instruction.flag, instruction.exec_size > 16))),
        }
    }

    fn sets(&self, flag: Flag) -> bool {
        self.sets.is_some_and(|(set, whole)| set == flag || whole && set.register == flag.register)
    }
}

/// The flags that the pixel shaders of a draw use.
#[derive(Debug, Default)]
pub struct Flags {
    /// By address of the kernel and byte offset of the instruction.
    uses: BTreeMap<(u64, u32), Use>,
}

impl Flags {
    /// Reads the pixel shaders of a draw.
    pub fn of(drawing: &Drawing<'_>, shaders: &[ShaderSummary]) -> Flags {
        let mut uses = BTreeMap::new();
        let kernels = shaders.iter().filter(|shader| shader.stage == "PS");
        for kernel in kernels.flat_map(|shader| &shader.kernels) {
            let place = (Generation::Gen8, kernel.address);
            kernel::instructions(drawing, place, &mut |offset, instruction| {
                if let Ok(offset) = u32::try_from(offset) {
                    uses.insert((kernel.address, offset), Use::of(instruction));
                }
            });
        }
        Flags { uses }
    }

    /// `trace` has the byte offsets of executed instructions; the last one tests a flag. Returns
    /// the newest instruction that set this flag.
    pub fn setter(&self, kernel: u64, trace: &[u32]) -> Option<u32> {
        let (last, before) = trace.split_last()?;
        let flag = self.uses.get(&(kernel, *last))?.tests?;
        let sets = |ip: &&u32| self.uses.get(&(kernel, **ip)).is_some_and(|use_| use_.sets(flag));
        before.iter().rfind(sets).copied()
    }
}
