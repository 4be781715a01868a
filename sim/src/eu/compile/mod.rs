//! Compiled kernels: runs of instructions as machine code of the host.
//!
//! A [`Block`] is a run of consecutive instructions without branches and messages. No branch of the
//! kernel leads into it. `translate.rs` makes a routine from it. In a routine, registers of the
//! host hold results of eight dwords as long as possible. Words, single dwords and flags are stored
//! at once.
//!
//! A [`Run`] consists of blocks and of the messages of dwords between them. Its routine executes a
//! message if the slots access adjacent dwords, or read the same dwords. The dwords have to be in
//! shared local memory, or in a page that the environment lends
//! ([`reach`](super::Environment::reach)). The routine stops before any other message. The thread
//! then executes that message by itself.
//!
//! All other instructions are executed one by one ([`super::run`]). So are those of a block if
//! channels wait inside it, or if the environment has to see each instruction
//! ([`steps`](super::Environment::steps)). The results are the same bits. A message of dwords that
//! is executed by itself is decoded in advance ([`Step::Transfer`]).
//!
//! A kernel is compiled when its threads have executed [`HOT`] instructions, so that a kernel of
//! few threads does not pay for it.

mod cache;
mod translate;

use super::modes::Modes;
use super::transfer::{Tally, Transfer};
use super::uop::{NOWHERE, Uop};
use genxml_jit::{Assembler, Code, MASK_LANES, Reach};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Instructions after which a kernel is compiled.
pub const HOT: u64 = 20_000;

/// Instructions that a thread executes between two checks whether its kernel is compiled.
pub const CHECK: u64 = 4096;

/// Which instructions are executed as compiled code: the environment variable `GENX_EU`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// `interpret`: none.
    Interpret,
    /// `compile`, and the default: blocks of kernels that have executed [`HOT`] instructions.
    Compile,
    /// `verify`: all blocks and runs. Each is also executed one by one, and a difference is a fault.
    Verify,
}

impl Strategy {
    /// The strategy that the environment names. Another value is reported on standard error, and
    /// means `compile`.
    pub fn get() -> Strategy {
        static STRATEGY: OnceLock<Strategy> = OnceLock::new();
        *STRATEGY.get_or_init(|| match std::env::var("GENX_EU").as_deref() {
            Ok("interpret") => Strategy::Interpret,
            Ok("verify") => Strategy::Verify,
            Ok("compile") | Err(_) => Strategy::Compile,
            Ok(other) => {
                eprintln!(
                    "genxml-sim: GENX_EU={other} is unknown: it must be interpret, compile or \
                     verify. The run continues with compile."
                );
                Strategy::Compile
            }
        })
    }
}

/// A run of instructions with its code.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Number of instructions.
    pub count: u32,
    /// Index of the uop after the last one.
    pub end: u32,
    /// Bit n is set if an instruction after the first has an index whose remainder modulo 64 is n.
    /// If [`Flow::awaited`](super::flow::Flow) has one of these bits, a channel may wait inside the
    /// block.
    pub inner: u64,
    /// Mask of the channels that the instructions use.
    channels: u32,
    /// Number of the routine without masks. It is used if all of `channels` are active.
    full: usize,
    /// Number of the routine that reads the mask of active channels.
    masked: usize,
}

/// How a compiled kernel continues at an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The instruction is executed by itself.
    Single,
    /// A block begins.
    Block(Block),
    /// The instruction is a message of dwords.
    Transfer {
        /// The message.
        transfer: Transfer,
        /// Mask of the channels that must be active.
        channels: u32,
        /// Index of the uop after the message.
        next: u32,
    },
    /// The run with this number begins.
    Run(u32),
}

impl Step {
    /// The step of an instruction outside blocks.
    fn alone(u: &Uop) -> Step {
        let Some(transfer) = u.send.and_then(|send| send.transfer) else { return Step::Single };
        let slots = transfer.slots();
        let channels = if u.no_mask { 0 } else { u64::from(slots) << u.first };
        match u32::try_from(channels) {
            Ok(channels) if u.predicate.is_none() && u.lanes & slots == slots => {
                Step::Transfer { transfer, channels, next: u.next }
            }
            _ => Step::Single,
        }
    }
}

/// Blocks and messages of dwords that follow each other, as one routine. The routine executes
/// messages whose slots access adjacent dwords or the same dwords inside memory that it can reach.
/// It stops before other messages. The run is executed only if all of `channels` are active.
#[derive(Debug)]
pub struct Run {
    /// Number of instructions.
    pub count: u32,
    /// See [`Block::inner`].
    pub inner: u64,
    /// Mask of the channels that the instructions use.
    pub channels: u32,
    /// The step that is executed if the run cannot be.
    pub instead: Step,
    routine: usize,
    /// Indexed by the number that the routine returns. Exit 0: the whole run was executed. Exit n:
    /// the routine stopped before message n, counted from 1.
    exits: Vec<Exit>,
}

/// A point where a run can stop, and what it has executed before.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// Index of the uop where the thread continues.
    pub index: u32,
    /// Number of instructions executed.
    pub count: u32,
    /// The messages executed.
    pub tally: Tally,
}

/// The blocks of a kernel for one treatment of subnormal floats.
#[derive(Debug)]
pub struct Blocks {
    code: Code,
    /// For each uop, the step that begins there.
    steps: Vec<Step>,
    runs: Vec<Run>,
}

/// The mask of a routine that needs all channels.
const ALL: [u32; MASK_LANES] = [u32::MAX; MASK_LANES];

impl Blocks {
    /// The step at uop `index`.
    #[inline(always)]
    pub fn step(&self, index: u32) -> &Step {
        self.steps.get(index as usize).unwrap_or(&Step::Single)
    }

    /// Executes a block on a register file for the channels of `active`.
    #[inline]
    pub fn execute(&self, block: &Block, active: u32, file: &mut [u8]) {
        if active & block.channels == block.channels {
            self.code.call(block.full, file, &ALL, &Reach::window(&mut []));
        } else {
            let lane = |n: usize| if active >> n & 1 == 1 { u32::MAX } else { 0 };
            let mask = std::array::from_fn(lane);
            self.code.call(block.masked, file, &mask, &Reach::window(&mut []));
        }
    }

    /// The run with this number.
    #[inline(always)]
    pub fn run(&self, number: u32) -> &Run {
        &self.runs[number as usize]
    }

    /// Executes a run on a register file and on the memory of `reach`.
    #[inline]
    pub fn execute_run<'r>(&self, run: &'r Run, file: &mut [u8], reach: &Reach<'_>) -> &'r Exit {
        &run.exits[self.code.call(run.routine, file, &ALL, reach) as usize]
    }

    /// Compiles a kernel. `flush`: subnormal floats are flushed. Returns `None` if the host cannot
    /// run the code, or if the kernel has no blocks.
    fn new(uops: &[Uop], flush: bool) -> Option<Blocks> {
        if !Code::supported() {
            return None;
        }
        let mut assembler = Assembler::new(super::regions::FILE_BYTES);
        let mut steps: Vec<Step> = uops.iter().map(Step::alone).collect();
        let mut found = false;
        let starts = targets(uops);
        let mut index = 0;
        while index < uops.len() {
            let end = end(uops, &starts, index);
            if end == index {
                index += 1;
                continue;
            }
            let run = &uops[index..end];
            let channels = run.iter().filter(|u| !u.no_mask);
            steps[index] = Step::Block(Block {
                count: run.len() as u32,
                end: end as u32,
                inner: (index + 1..end).fold(0, |bits, at| bits | 1 << (at & 63)),
                channels: channels.fold(0, |bits, u| bits | u.lanes << u.first),
                full: translate::routine(&mut assembler, run, flush, false),
                masked: translate::routine(&mut assembler, run, flush, true),
            });
            found = true;
            index = end;
        }
        if !found {
            return None;
        }
        let runs = runs(&mut assembler, uops, &starts, &mut steps, flush);
        Some(Blocks { code: Code::new(assembler)?, steps, runs })
    }
}

/// Makes the runs of a kernel whose blocks are in `steps`, and adds their steps.
fn runs(
    assembler: &mut Assembler,
    uops: &[Uop],
    starts: &[bool],
    steps: &mut [Step],
    flush: bool,
) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut first = 0;
    while first < uops.len() {
        let (mut at, mut parts, mut channels) = (first, 0, 0);
        let (mut exits, mut tally) = (Vec::new(), Tally::default());
        while at < uops.len() && (at == first || !starts[at]) {
            match &steps[at] {
                Step::Block(block) => {
                    channels |= block.channels;
                    at = block.end as usize;
                }
                Step::Transfer { transfer, channels: needed, next }
                    if translate::can_transfer(transfer) && *next as usize == at + 1 =>
                {
                    exits.push(Exit { index: at as u32, count: (at - first) as u32, tally });
                    tally.add(transfer);
                    channels |= needed;
                    at += 1;
                }
                _ => break,
            }
            parts += 1;
        }
        if parts > 1 && !exits.is_empty() {
            let count = (at - first) as u32;
            exits.insert(0, Exit { index: at as u32, count, tally });
            runs.push(Run {
                count,
                inner: (first + 1..at).fold(0, |bits, at| bits | 1 << (at & 63)),
                channels,
                instead: steps[first],
                routine: translate::routine(assembler, &uops[first..at], flush, false),
                exits,
            });
            steps[first] = Step::Run(runs.len() as u32 - 1);
        }
        first = at.max(first + 1);
    }
    runs
}

/// For each uop, true if a branch can go there.
fn targets(uops: &[Uop]) -> Vec<bool> {
    let mut starts = vec![false; uops.len()];
    for target in uops.iter().flat_map(|u| [u.branch.jip, u.branch.uip]) {
        if let Some(start) = starts.get_mut(target as usize) {
            *start = true;
        }
    }
    starts
}

/// Index after the last instruction of the block that begins at `first`; `first` if its instruction
/// cannot be compiled.
fn end(uops: &[Uop], starts: &[bool], first: usize) -> usize {
    let mut at = first;
    while let Some(u) = uops.get(at) {
        let joins = at > first && starts[at];
        if joins || u.next == NOWHERE || !translate::can(u) {
            break;
        }
        at += 1;
        if u.next as usize != at {
            break;
        }
    }
    // After a block, the thread continues at the block's end. If the last instruction continues
    // elsewhere, the block ends before it.
    if at > first && uops[at - 1].next as usize != at { at - 1 } else { at }
}

/// The compiled code of a kernel, and the count that decides when to compile it. A clone is empty.
#[derive(Debug, Default)]
pub struct Compilation {
    /// Instructions executed so far.
    executed: AtomicU64,
    /// Compile the kernel at its first instruction.
    at_once: bool,
    /// The blocks for threads that keep subnormal floats, and for those that flush them.
    blocks: [OnceLock<Option<Box<Blocks>>>; 2],
}

impl Clone for Compilation {
    fn clone(&self) -> Self {
        Compilation::default()
    }
}

impl Compilation {
    /// Compiles the kernel before its first instruction and ignores `GENX_EU`.
    pub fn at_once() -> Compilation {
        Compilation { at_once: true, ..Compilation::default() }
    }

    /// True if instruction `index` begins a block or a run of a kernel that was compiled.
    pub fn begins(&self, index: u32) -> bool {
        self.blocks.iter().any(|blocks| {
            let blocks = blocks.get().and_then(Option::as_ref);
            blocks.is_some_and(|blocks| matches!(blocks.step(index), Step::Block(_) | Step::Run(_)))
        })
    }

    /// Notes that threads have executed `count` instructions of the kernel.
    pub fn executed(&self, count: u64) {
        if self.executed.load(Ordering::Relaxed) < HOT {
            self.executed.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The blocks for threads in `modes`. Compiles the kernel if it is time to do so.
    #[inline]
    pub fn get(&self, uops: &[Uop], modes: &Modes) -> Option<&Blocks> {
        if modes.alternative || modes.rounding != 0 {
            return None;
        }
        let flush = !modes.keep_single;
        let place = &self.blocks[usize::from(flush)];
        if let Some(blocks) = place.get() {
            return blocks.as_deref();
        }
        let ready = match Strategy::get() {
            _ if self.at_once => true,
            Strategy::Interpret => false,
            Strategy::Compile => self.executed.load(Ordering::Relaxed) >= HOT,
            Strategy::Verify => true,
        };
        if !ready {
            return None;
        }
        place.get_or_init(|| Blocks::new(uops, flush).map(Box::new)).as_deref()
    }
}
