//! A decoded kernel.

#[cfg(feature = "fast")]
use super::compile::Compilation;
use super::ending::Ending;
use super::fast::Plan;
use super::uop::{Op, Uop};
use super::written;
use genxml_eu::Generation;
use std::sync::OnceLock;

/// Maximum number of instructions of a kernel. The largest kernel known has about 10,000.
pub const MAX_INSTRUCTIONS: usize = 1 << 17;

/// A kernel as uops.
///
/// It holds the instructions that direct control flow can reach. A computed jump to other
/// instructions adds them ([`super::decode::extend`]). Indices of uops never change.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The generation of the instructions.
    pub generation: Generation,
    /// Graphics address of the first instruction.
    pub address: u64,
    /// Value of `ip` at the first instruction: its offset from Instruction Base Address.
    pub ip_base: u32,
    /// Instructions. Their offsets are signed numbers, although `Uop::offset` is a `u32`: a branch
    /// may go to an address before the first instruction.
    pub uops: Vec<Uop>,
    /// Byte offsets of the instructions in ascending order, each with the index of its uop.
    offsets: Vec<(i32, u32)>,
    /// The general registers that the instructions can write, a bit each.
    written: u128,
    /// See [`Kernel::start`].
    start: OnceLock<written::Start>,
    /// The uops that breakpoints have replaced, each with its index.
    breakpoints: Vec<(u32, Uop)>,
    /// G45: byte offsets of the compressed instructions.
    #[cfg(feature = "gen45")]
    compressed: Vec<i32>,
    /// The instructions as machine code.
    #[cfg(feature = "fast")]
    pub compilation: Compilation,
    /// What [`super::constant`] found, with the first register that it was asked for.
    pub(super) ending: OnceLock<(usize, Option<Box<Ending>>)>,
}

impl Kernel {
    /// A kernel of a generation without decoded instructions.
    pub fn new(generation: Generation, address: u64, ip_base: u32) -> Kernel {
        Kernel { generation, address, ip_base, ..Kernel::default() }
    }

    /// The general registers whose values at the start of a thread the kernel can read.
    pub fn start(&self) -> written::Start {
        *self.start.get_or_init(|| written::start(&self.uops))
    }

    /// The general registers that its threads can write, a bit each. Messages from other threads
    /// can write more.
    pub fn written(&self) -> u128 {
        self.written
    }

    /// Index of the uop at byte `offset` from the first instruction; `None` if nothing is decoded
    /// there.
    pub fn index(&self, offset: u32) -> Option<u32> {
        // Threads start at the first instruction.
        if self.uops.first().is_some_and(|first| first.offset == offset) {
            return Some(0);
        }
        let at = self.offsets.binary_search_by_key(&(offset as i32), |(offset, _)| *offset).ok()?;
        Some(self.offsets[at].1)
    }

    /// The instruction that the breakpoint at `index` replaces; `None` if there is no breakpoint.
    pub fn behind_breakpoint(&self, index: u32) -> Option<&Uop> {
        self.breakpoints.iter().find(|(at, _)| *at == index).map(|(_, uop)| uop)
    }

    /// The operation of the instruction at `index`, also if the instruction has a breakpoint.
    pub fn operation(&self, index: u32) -> Option<Op> {
        match self.uops.get(index as usize)?.op {
            Op::Breakpoint => self.behind_breakpoint(index).map(|uop| uop.op),
            op => Some(op),
        }
    }

    /// True for a compressed instruction of G45 at byte `offset`.
    #[cfg(feature = "gen45")]
    pub fn is_compressed(&self, offset: u32) -> bool {
        self.compressed.contains(&(offset as i32))
    }

    /// Adds byte offsets of compressed instructions.
    #[cfg(feature = "gen45")]
    pub(super) fn compressed_at(&mut self, offsets: Vec<i32>) {
        self.compressed.extend(offsets);
    }

    /// Appends instructions that the kernel does not have yet: their uops, each with its offset and
    /// its number within its instruction.
    pub(super) fn append(&mut self, uops: impl IntoIterator<Item = ((i32, u8), Uop)>) {
        let uops = uops.into_iter();
        self.uops.reserve(uops.size_hint().0);
        for ((offset, part), uop) in uops {
            if part == 0 {
                self.offsets.push((offset, self.uops.len() as u32));
            }
            self.written |= written::by(&uop);
            self.uops.push(uop);
        }
        self.offsets.sort_unstable();
        self.changed();
    }

    /// Forgets the machine code of the old instructions, and what was found out about them.
    fn changed(&mut self) {
        self.start = OnceLock::new();
        self.ending = OnceLock::new();
        #[cfg(feature = "fast")]
        {
            self.compilation = Compilation::default();
        }
    }

    /// Puts a breakpoint before the instruction at `index`.
    pub(super) fn set_breakpoint(&mut self, index: u32) {
        if let Some(uop) = self.uops.get_mut(index as usize) {
            let stub = Uop { op: Op::Breakpoint, plan: Plan::NONE, ..uop.clone() };
            self.breakpoints.push((index, std::mem::replace(uop, stub)));
            self.changed();
        }
    }
}
