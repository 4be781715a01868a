//! Decoded instructions. Everything that does not change while a kernel runs is resolved.
//!
//! A [`Uop`] does not depend on an encoding. Registers are byte offsets into one flat file
//! ([`super::regions`]), regions are per-channel offsets or one of two simple shapes, branch
//! targets are indices of other uops.

use super::regions::{ACC_FILE, FILE_BYTES};
use super::transfer::Transfer;
use crate::machine::fault::Refusal;
use genxml_eu::instruction::{Descriptor, SharedFunction};

pub use super::regions::{Indirect, MAX_CHANNELS};
pub use super::types::{ExecType, Type};
pub use genxml_eu::instruction::{Condition, MathFunction, PredicateControl};
pub use genxml_eu::ops::Opcode;

/// The operation of a uop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Op {
    /// An operation of the instruction set. `sendc` is [`Opcode::Send`] here, `smov` is
    /// [`Opcode::Mov`]. [`Opcode::Illegal`] stands for every opcode without an operation.
    Isa(Opcode),
    /// An operation that differs on G45: see [`super::gen45::operations`] and
    /// [`super::gen45::flow`].
    #[cfg(feature = "gen45")]
    Gen45(Opcode),
    /// G45: true before an instruction that ignores the continue mask (NoCMask), false after it.
    #[cfg(feature = "gen45")]
    IgnoreContinueMask(bool),
    /// The instruction has a breakpoint. [`super::Kernel::behind_breakpoint`] gives its uop.
    Breakpoint,
    /// The model cannot execute the instruction. [`Uop::note`] says why.
    Refused,
}

/// Where the elements of a source are.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// All channels read the element at this byte of the file.
    Scalar(u16),
    /// Channel n reads the n-th element from this byte of the file on.
    Contiguous(u16),
    /// Channel n reads the element at the n-th of these byte offsets in the file.
    Table(Box<[u16; MAX_CHANNELS]>),
    /// A constant, as a bit pattern of the operand's type.
    Immediate(u64),
    /// Packed vector immediate: channel n takes pattern n modulo the number of patterns.
    Vector(Box<[u64]>),
    /// Channel n reads the element at the n-th of these byte offsets in the accumulators (see
    /// [`super::acc`]).
    Accumulator(Box<[u16; MAX_CHANNELS]>),
    /// Register-indirect: `a0` gives the address.
    Indirect(Box<Indirect>),
}

/// A source operand.
#[derive(Clone, PartialEq, Debug)]
pub struct Src {
    /// Element type.
    pub ty: Type,
    /// Where the elements are.
    pub shape: Shape,
    /// True if the source is negated (in logic operations: inverted), after `abs`.
    pub negate: bool,
    /// True if the absolute value of the source is used.
    pub abs: bool,
}

impl Src {
    /// A constant.
    pub const fn immediate(ty: Type, bits: u64) -> Src {
        Src { ty, shape: Shape::Immediate(bits), negate: false, abs: false }
    }

    /// True if the source has no modifier, so that its bits are not changed.
    pub const fn plain(&self) -> bool {
        !self.negate && !self.abs
    }
}

/// Where results go.
#[derive(Clone, PartialEq, Debug)]
pub enum Target {
    /// Results are dropped.
    Null,
    /// The result of channel n goes to byte `offset + n * stride` of the file.
    File {
        /// Byte offset of the first element in the register file.
        offset: u16,
        /// Bytes from one channel to the next.
        stride: u8,
    },
    /// The result of channel n goes to the n-th of these byte offsets in the file. For destinations
    /// that wrap at the end of the general registers.
    Table(Box<[u16; MAX_CHANNELS]>),
    /// The result of channel n goes to the n-th of these byte offsets in the accumulators (see
    /// [`super::acc`]).
    Accumulator(Box<[u16; MAX_CHANNELS]>),
    /// Register-indirect: the result of channel 0 goes to the address in `a0` plus `immediate`.
    Indirect {
        /// Number of the subregister of `a0` that holds the address.
        address: u8,
        /// Number of bytes that is added to the address.
        immediate: i16,
        /// Bytes from one channel to the next.
        stride: u8,
    },
    /// The instruction pointer: a jump.
    Ip,
}

/// The destination operand.
#[derive(Clone, PartialEq, Debug)]
pub struct Dst {
    /// Element type.
    pub ty: Type,
    /// Where the elements are.
    pub target: Target,
    /// True for machine registers (`sr0`, `cr0`, `n0`, `tdr0`, `tm0`, `ce0`). Writes to them have
    /// side effects: see [`super::control`].
    pub control: bool,
}

/// The message part of a send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendInfo {
    /// The shared function that receives the message.
    pub function: SharedFunction,
    /// True if the message ends the thread (EOT).
    pub eot: bool,
    /// The descriptor, or its location in `a0`.
    pub descriptor: Descriptor,
    /// First payload register, as a byte offset.
    pub payload: u16,
    /// First register of the response.
    pub response: Response,
    /// True for `sendc`, which waits until other threads have ended.
    pub dependent: bool,
    /// G45: the element of the response register that belongs to the first channel.
    pub position: u8,
    /// The message, if it moves dwords and its descriptor is a constant.
    pub transfer: Option<Transfer>,
}

/// First register of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Response {
    /// No response: the destination is null or another architecture register.
    None,
    /// The register at this byte offset in the register file.
    Register(u16),
    /// The register at the byte address in `a0`.
    Indirect {
        /// Number of the subregister of `a0` that holds the address.
        address: u8,
        /// Number of bytes that is added to the address.
        immediate: i16,
    },
}

/// The targets of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// Index of the uop at the first target; [`NOWHERE`] if the target is not an immediate.
    pub jip: u32,
    /// Index of the uop at the second target. If the branch has only one target, this is the same
    /// as `jip`. [`NOWHERE`] if no target is an immediate.
    pub uip: u32,
    /// The BranchCtrl bit.
    pub control: bool,
    /// G45: number of masks that are popped off the if stack.
    pub pops: u8,
}

/// A uop index that does not exist.
pub const NOWHERE: u32 = u32::MAX;

/// One decoded instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Uop {
    /// The operation.
    pub op: Op,
    /// The function of `math`.
    pub function: Option<MathFunction>,
    /// Execution type: the arithmetic that the instruction computes in.
    pub exec: ExecType,
    /// The fast path of the instruction, see [`super::fast`].
    pub plan: super::fast::Plan,
    /// Number of channels: 1, 2, 4, 8, 16 or 32.
    pub size: u8,
    /// First channel, from quarter and nibble control.
    pub first: u8,
    /// Channels that this instruction can write, by its size, its Align16 channel enables, and the
    /// mask of a `smov`.
    pub lanes: u32,
    /// True if the instruction ignores the execution mask.
    pub no_mask: bool,
    /// How the flag enables channels.
    pub predicate: Option<PredicateControl>,
    /// True if the predicate is inverted.
    pub invert: bool,
    /// The condition that sets flag bits.
    pub condition: Option<Condition>,
    /// The condition that selects a source (`sel`, `csel`).
    pub select: Option<Condition>,
    /// First bit of the flag in the 64 flag bits (f0.0 is 0, f1.0 is 32).
    pub flag: u8,
    /// True if the result is clamped (saturated).
    pub saturate: bool,
    /// True if the accumulator is written too.
    pub acc_write: bool,
    /// Index of the accumulator element of channel 0, for instructions that use the accumulator
    /// without naming it.
    pub accumulator: u8,
    /// Extended accumulators (`mme0` to `mme7`) of the destination and of each source of a division
    /// macro's step; 8 is none.
    pub extended: [u8; 4],
    /// True if a source is a register that must be updated before it is read (`ip`, `tm0`, `ce0`).
    pub volatile: bool,
    /// True if a source is `tm0`, the clock.
    pub clock: bool,
    /// Destination.
    pub dst: Dst,
    /// Sources; unused ones are constants of zero.
    pub src: [Src; 3],
    /// Branch targets.
    pub branch: Branch,
    /// The message, if the instruction is a send.
    pub send: Option<SendInfo>,
    /// Byte offset from the kernel's first instruction.
    pub offset: u32,
    /// Length in bytes: 16, or 8 when compacted.
    pub length: u8,
    /// Index of the uop that follows in memory.
    pub next: u32,
    /// Why the instruction cannot be executed ([`Op::Refused`]).
    pub note: Option<Box<Refusal>>,
}

impl Uop {
    /// A `nop` at `offset`, from which all other uops are made by changing fields.
    pub fn nop(offset: u32) -> Uop {
        Uop {
            op: Op::Isa(Opcode::Nop),
            function: None,
            exec: ExecType::Dword,
            plan: super::fast::Plan::NONE,
            size: 1,
            first: 0,
            lanes: 1,
            no_mask: true,
            predicate: None,
            invert: false,
            condition: None,
            select: None,
            flag: 0,
            saturate: false,
            acc_write: false,
            accumulator: 0,
            extended: [8; 4],
            volatile: false,
            clock: false,
            dst: Dst { ty: Type::Ud, target: Target::Null, control: false },
            src: [const { Src::immediate(Type::Ud, 0) }; 3],
            branch: Branch { jip: NOWHERE, uip: NOWHERE, control: false, pops: 0 },
            send: None,
            offset,
            length: 16,
            next: NOWHERE,
            note: None,
        }
    }

    /// An instruction that stops the thread when it is reached.
    pub fn refused(offset: u32, why: Refusal) -> Uop {
        Uop { op: Op::Refused, note: Some(Box::new(why)), ..Uop::nop(offset) }
    }

    /// The error of an instruction that cannot be executed.
    #[cold]
    pub fn refusal(&self) -> Refusal {
        self.note.as_deref().cloned().unwrap_or_else(|| Refusal::illegal(""))
    }
}

/// Per-channel byte offsets of a region: channel n is in row n / width. Offsets wrap at `limit`
/// bytes, as the manual allows for registers past the last (G45 vol 4, exceptions: may wrap).
pub fn region(
    base: usize,
    size: usize,
    vstride: usize,
    width: usize,
    hstride: usize,
    limit: usize,
) -> [u16; MAX_CHANNELS] {
    let (row, column) = (vstride * size, hstride * size);
    let (mut first, mut at, mut left) = (base, base, width);
    std::array::from_fn(|_| {
        if left == 0 {
            first += row;
            (at, left) = (first, width);
        }
        let offset = if at < limit { at } else { at % limit };
        at += column;
        left -= 1;
        offset as u16
    })
}

/// The simplest shape for elements of `size` bytes at the byte offsets `table` of the file. The
/// first `channels` entries of the table are used.
pub fn shape(table: [u16; MAX_CHANNELS], channels: usize, size: usize) -> Shape {
    let first = usize::from(table[0]);
    let used = &table[..channels];
    if used.iter().all(|&o| usize::from(o) == first) && first + size <= FILE_BYTES {
        Shape::Scalar(table[0])
    } else if used.iter().enumerate().all(|(n, &o)| usize::from(o) == first + n * size)
        && first + channels * size <= FILE_BYTES
    {
        Shape::Contiguous(table[0])
    } else {
        Shape::Table(Box::new(table))
    }
}

/// True if elements of `size` bytes at the byte offsets `table` lie inside the two accumulators.
pub fn in_accumulators(table: &[u16], size: usize) -> bool {
    table.iter().all(|&o| usize::from(o) + size <= ACC_FILE)
}
