//! A decoded instruction with typed fields. The compacted and the native form decode to the same
//! value, except for [`Instruction::compacted`].
//!
//! Quantities are normalised: register numbers have byte offsets, strides and widths are in
//! elements, jump distances are in bytes from the first byte of the branch itself, and channel
//! numbers replace quarter and nibble controls.

pub use crate::gen4::{Compression, Gen4Controls};
pub use crate::generation::Generation;
pub use crate::scoreboard::{Scoreboard, Token};
use crate::table::Opcode;
pub use crate::types::{AccessMode, DataType, MathFunction, SyncFunction};

/// An instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Instruction {
    /// The operation.
    pub opcode: Opcode,
    /// Number of channels: 1, 2, 4, 8, 16 or 32.
    pub exec_size: u8,
    /// The first channel of the thread on which the instruction works: a multiple of 4, from
    /// QtrCtrl and NibCtrl.
    pub channel_offset: u8,
    /// How operands are addressed.
    pub access_mode: AccessMode,
    /// Per-channel execution condition.
    pub predicate: Option<Predicate>,
    /// The flag that predicate and condition use.
    pub flag: Flag,
    /// Condition that updates the flag; for `sel` and `csel` the condition that selects. Always
    /// `None` for `math` and `send`.
    pub condition: Option<Condition>,
    /// Function of `math`.
    pub math: Option<MathFunction>,
    /// Message of `send` and `sendc`. On Gen9 and Gen11, also of `sends` and `sendsc`.
    pub send: Option<Send>,
    /// Extended descriptor of messages of Gen9 and later. If it is in the instruction: bits 9:6 are
    /// the number of registers of the second payload of `sends` and `sendsc`, bits 31:16 depend on
    /// the shared function, all others are zero. In `send` and `sendc`, bits 31:16 are in the bits
    /// of the region of the source, and the encoder reads them from there.
    pub extended: Option<Descriptor>,
    /// Jump distances of branches with immediate targets.
    pub branch: Option<Branch>,
    /// Results are clamped to the range of the destination type (0 to 1 for floats).
    pub saturate: bool,
    /// Channel enables and the per-channel instruction pointers are ignored (`NoMask`, IGA `W`).
    pub no_mask: bool,
    /// The result is also written to the accumulator. In messages of Gen9 and later, the same bit
    /// means that the scoreboard is not set for the payload (`NoSrcDepSet`).
    pub acc_write: bool,
    /// BranchCtrl of `if`, `else` and `goto` (IGA `.b`). If it is set, `goto` sends the channels
    /// that its predicate selects to UIP; otherwise it sends the other channels there (2a goto).
    pub branch_ctrl: bool,
    /// Thread control after the instruction.
    pub thread_control: ThreadControl,
    /// The destination scoreboard is not cleared (`NoDDClr`). No functional effect.
    pub no_dd_clear: bool,
    /// The destination scoreboard is not checked (`NoDDChk`). No functional effect.
    pub no_dd_check: bool,
    /// A breakpoint (DebugCtrl).
    pub breakpoint: bool,
    /// Destination of the result, if there is one. For `call` it gets the return address, for
    /// `send` it is the first reply register.
    pub destination: Option<Destination>,
    /// Sources; missing ones are [`Operand::None`].
    pub sources: [Operand; 3],
    /// True if the instruction was decoded from the 8-byte form.
    pub compacted: bool,
    /// For [`Opcode::Illegal`]: the opcode number, which no operation of the generation has. Zero
    /// is `illegal` itself.
    pub illegal_code: u8,
    /// The generation from which the instruction is.
    pub generation: Generation,
    /// Function of `sync`, of Gen12.
    pub sync: Option<SyncFunction>,
    /// Scoreboard information of Gen12.
    pub scoreboard: Scoreboard,
    /// Controls of Gen4 to Gen5.
    pub gen4: Gen4Controls,
}

impl Instruction {
    /// An unpredicated Align1 instruction with all options off and no operands.
    pub const fn new(opcode: Opcode, exec_size: u8) -> Self {
        Instruction {
            opcode,
            exec_size,
            channel_offset: 0,
            access_mode: AccessMode::Align1,
            predicate: None,
            flag: Flag { register: 0, subregister: 0 },
            condition: None,
            math: None,
            send: None,
            extended: None,
            branch: None,
            saturate: false,
            no_mask: false,
            acc_write: false,
            branch_ctrl: false,
            thread_control: ThreadControl::Normal,
            no_dd_clear: false,
            no_dd_check: false,
            breakpoint: false,
            destination: None,
            sources: [Operand::None; 3],
            compacted: false,
            illegal_code: 0,
            generation: Generation::Gen8,
            sync: None,
            scoreboard: Scoreboard(0),
            gen4: Gen4Controls::NONE,
        }
    }

    /// Size in memory in bytes of the form that was read: 8 compacted, 16 native.
    pub const fn length(&self) -> u32 {
        if self.compacted { 8 } else { 16 }
    }

    /// True if the thread ends with this instruction.
    pub const fn ends_thread(&self) -> bool {
        matches!(self.send, Some(Send { end_of_thread: true, .. }))
    }

    /// The sources that are not `None`.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.sources.iter().filter(|source| !matches!(source, Operand::None))
    }
}

/// Per-channel execution condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Predicate {
    /// How flag bits are combined into the condition of a channel.
    pub control: PredicateControl,
    /// The condition is inverted after `control` has combined the bits.
    pub inverse: bool,
}

/// How flag bits are combined into the condition of a channel (2b p.23).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum PredicateControl {
    /// Each channel uses its own bit.
    Sequential,
    /// Align1: the channel's bit is set in at least one of two flags.
    AnyV,
    /// Align1: the channel's bit is set in both of two flags.
    AllV,
    /// At least one bit is set in an aligned group of this many channels: 2, 4, 8, 16 or 32. In
    /// Align16 only 4.
    Any(u8),
    /// All bits are set in an aligned group of this many channels: 2, 4, 8, 16 or 32. In Align16
    /// only 4.
    All(u8),
    /// Align16: each group of four channels uses the bit of one of its channels (0 x, 1 y, 2 z, 3
    /// w).
    Replicate(u8),
}

/// A 16-bit flag subregister, `f<register>.<subregister>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Flag {
    /// Number of the flag register: 0 or 1.
    pub register: u8,
    /// Number of the subregister: 0 or 1.
    pub subregister: u8,
}

/// Conditions (2b p.13).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Condition {
    /// Zero, or equal.
    Equal,
    /// Not zero, or not equal.
    NotEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessEqual,
    /// Overflow.
    Overflow,
    /// Unordered: a NaN was computed.
    Unordered,
    /// Gen4 to Gen5: a rounding operation must increment its result.
    Round,
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Send {
    /// The shared function that receives the message.
    pub function: SharedFunction,
    /// The message descriptor.
    pub descriptor: Descriptor,
    /// The thread ends with this message.
    pub end_of_thread: bool,
}

/// Where the message descriptor comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Descriptor {
    /// In the instruction. Bit 31, the end of thread, is always clear here; see
    /// [`Send::end_of_thread`]. On Gen4 and G45, bits 27:24 repeat the shared function.
    Immediate(u32),
    /// In the address register, at this byte offset; always a0.0 for a descriptor. An extended
    /// descriptor may be in another dword of a0.
    Address(u8),
}

/// The units that receive messages: shared functions (2b p.28).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SharedFunction {
    /// No shared function: the null receiver.
    Null,
    /// Sampler.
    Sampler,
    /// Message gateway.
    Gateway,
    /// Sampler cache data port.
    DataPortSampler,
    /// Render cache data port.
    DataPortRender,
    /// Unified return buffer.
    Urb,
    /// Thread spawner.
    ThreadSpawner,
    /// Video motion estimation.
    MotionEstimation,
    /// Constant cache data port.
    DataPortConstant,
    /// Data cache data port.
    DataPort0,
    /// Pixel interpolator.
    PixelInterpolator,
    /// Data cache data port, further messages.
    DataPort1,
    /// Check and refinement engine.
    CheckAndRefinement,
    /// Gen4 to Gen5: extended math.
    Math,
    /// Gen4 to Gen5: data port for reads.
    DataPortRead,
    /// Gen4 to Gen5: data port for writes.
    DataPortWrite,
    /// A number that the manual reserves.
    Reserved(u8),
}

/// Jump distances in bytes, from the first byte of the branch. `jmpi` is normalised: hardware
/// counts its distance from the next instruction. For `calla`, `jip` is the absolute target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Branch {
    /// JIP: the distance to the target at which the thread continues.
    pub jip: i32,
    /// UIP: the distance to the target at which channels that leave the block continue, for
    /// branches with two distances.
    pub uip: Option<i32>,
}

/// Thread control after an instruction (2b p.44). No functional effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ThreadControl {
    /// Hardware decides whether it switches to another thread.
    Normal,
    /// Hardware does not switch to another thread.
    Atomic,
    /// Hardware must switch to another thread.
    Switch,
    /// Hardware does not preempt the thread after the instruction. Gen11 only.
    NoPreempt,
}

/// Architecture registers (2d p.120; G45 vol 4; the numbers of Gen8 are from IGA).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Arf {
    /// `null`: reads as zero, ignores writes.
    Null,
    /// `a0`: sixteen words of addresses.
    Address,
    /// `acc0`, `acc1` and the extended exponents `acc2`..`acc9`.
    Accumulator,
    /// `f0`, `f1`: two 16-bit flags each.
    Flag,
    /// `ce`: channel enables, read-only. On Gen4 to Gen5 `mask`: the active, if, loop and continue
    /// masks.
    ChannelEnable,
    /// `msg`: message control. On Gen4 to Gen5 `ms`: the mask stacks.
    MessageControl,
    /// `sp`: stack pointers. On Gen4 to Gen5 `msd`: the depths of the mask stacks.
    StackPointer,
    /// `sr`: state, partly read-only.
    State,
    /// `cr`: control.
    Control,
    /// `n`: notification counts.
    Notification,
    /// `ip`: instruction pointer.
    InstructionPointer,
    /// `tdr`: thread dependencies.
    ThreadDependency,
    /// `tm`: time stamp and pause.
    Timestamp,
    /// `fc`: flow control.
    FlowControl,
    /// `dbg`: debug.
    Debug,
    /// A number without a register.
    Reserved(u8),
}

/// A position in a register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Register {
    /// General register `number` (0..=127; larger numbers can be encoded but do not exist),
    /// starting at byte `byte`.
    Grf {
        /// Register number.
        number: u8,
        /// Byte in the register, 0..=31.
        byte: u8,
    },
    /// Architecture register.
    Arf {
        /// Kind of register.
        file: Arf,
        /// Number within its kind, such as the 1 of `acc1`.
        number: u8,
        /// Byte in the register, 0..=31.
        byte: u8,
    },
    /// Message register `number` of Gen4 to Gen5, starting at byte `byte`. It can be encoded as
    /// a source, but cannot be read.
    Mrf {
        /// Register number: 0..=15; larger numbers up to 127 can be encoded but do not exist.
        number: u8,
        /// Byte in the register, 0..=31.
        byte: u8,
    },
    /// General registers at the byte address a0.`address` + `offset`.
    Indirect {
        /// Word of a0 (0..=15). If each row of the region has its own address, the word of the
        /// first row.
        address: u8,
        /// Added to the address, in bytes: -512..=511.
        offset: i16,
    },
}

impl Register {
    /// The null register.
    pub const NULL: Register = Register::Arf { file: Arf::Null, number: 0, byte: 0 };

    /// General register `number`, starting at byte 0.
    pub const fn grf(number: u8) -> Register {
        Register::Grf { number, byte: 0 }
    }

    /// True for the null register.
    pub const fn is_null(&self) -> bool {
        matches!(self, Register::Arf { file: Arf::Null, .. })
    }
}

/// The destination of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Destination {
    /// First byte of the first element.
    pub register: Register,
    /// Type of an element.
    pub ty: DataType,
    /// Distance between elements, in elements: 1, 2 or 4. 0 can be encoded but is illegal for most
    /// operations.
    pub stride: u8,
    /// Align16 and three-source instructions: mask of the channels that are written in each group
    /// of four; x is the lowest bit. 15 otherwise.
    pub write_mask: u8,
    /// Extended accumulator that `math.invm`, `math.rsqtm` and `madm` also write.
    pub macro_accumulator: Option<MacroAccumulator>,
}

impl Destination {
    /// A destination with stride 1 and all channels written.
    pub const fn new(register: Register, ty: DataType) -> Self {
        Destination { register, ty, stride: 1, write_mask: 15, macro_accumulator: None }
    }
}

/// An extended accumulator of the division and square root macros: `mme0`..`mme7` are 0..=7, 8 is
/// `nomme`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct MacroAccumulator(pub u8);

impl MacroAccumulator {
    /// `nomme`: no extended accumulator.
    pub const NONE: Self = MacroAccumulator(8);
}

/// A source operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    /// No operand: the operation has fewer sources.
    None,
    /// A region of registers.
    Register(Source),
    /// A constant.
    Immediate(Immediate),
}

/// A region of registers that an instruction reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Source {
    /// First byte of the first element.
    pub register: Register,
    /// Type of an element.
    pub ty: DataType,
    /// The elements that are read.
    pub region: Region,
    /// Negation, applied after the absolute value; bitwise complement in logic operations.
    pub negate: bool,
    /// Absolute value.
    pub absolute: bool,
    /// Align16 and three-source instructions: for each of x, y, z and w, the channel of its group
    /// of four that it reads. `0,1,2,3` otherwise.
    pub swizzle: [u8; 4],
    /// Three-source instructions: one element for all channels.
    pub replicate: bool,
    /// Extended accumulator that `math.invm`, `math.rsqtm` and `madm` also read.
    pub macro_accumulator: Option<MacroAccumulator>,
}

impl Source {
    /// The swizzle that changes nothing.
    pub const IDENTITY: [u8; 4] = [0, 1, 2, 3];

    /// A region without modifiers.
    pub const fn new(register: Register, ty: DataType, region: Region) -> Self {
        Source {
            register,
            ty,
            region,
            negate: false,
            absolute: false,
            swizzle: Source::IDENTITY,
            replicate: false,
            macro_accumulator: None,
        }
    }
}

/// The elements that a source reads, with strides in elements: `<vertical; width, horizontal>`.
///
/// Element `i` of row `r` is at `r * vertical + i * horizontal`. Channel `c` reads row `c / width`,
/// element `c % width`. In Align16 a row is four swizzled channels and `horizontal` is 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Region {
    /// Distance between rows.
    pub vertical: Vertical,
    /// Elements per row: 1, 2, 4, 8 or 16.
    pub width: u8,
    /// Distance between elements of a row: 0, 1, 2 or 4.
    pub horizontal: u8,
}

impl Region {
    /// One element for all channels: `<0;1,0>`.
    pub const SCALAR: Region = Region::new(0, 1, 0);

    /// `<vertical; width, horizontal>`.
    pub const fn new(vertical: u8, width: u8, horizontal: u8) -> Region {
        Region { vertical: Vertical::Stride(vertical), width, horizontal }
    }

    /// Consecutive elements: `<n;n,1>` for n channels up to 16, `<0;1,0>` for one channel.
    pub const fn packed(exec_size: u8) -> Region {
        match exec_size {
            0 | 1 => Region::SCALAR,
            n if n > 16 => Region::new(16, 16, 1),
            n => Region::new(n, n, 1),
        }
    }
}

/// Distance between the rows of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Vertical {
    /// In elements: 0, 1, 2, 4, 8, 16 or 32.
    Stride(u8),
    /// Each row has its own address, in consecutive words of a0 (Vx1; VxH if the width is 1).
    Addresses,
}

/// A constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Immediate {
    /// Type of the constant.
    pub ty: DataType,
    /// Bits of the constant: 16 for words and half floats (the instruction repeats them in the
    /// upper half), 64 for qwords and doubles, 32 for all others.
    pub bits: u64,
}
