//! The specification at run time. Decoders, diffs and rules read these tables instead of generated
//! code.
//!
//! The tables are constants of the generated modules. A program may also build them from a genxml
//! file and leak the memory, so every link is a plain `&'static`.

use crate::address::SpaceKind;
use crate::rule::{Cond, Frame, Rule};
use core::fmt;

pub use crate::enumeration::{Enumeration, ValueSet};
pub use genxml_terms::Op;

/// A structure, instruction or register.
#[derive(Debug)]
pub struct Container {
    /// The manual's name.
    pub name: &'static str,
    /// The generated Rust type's name.
    pub rust_name: &'static str,
    /// The unit (file of the specification) that the container belongs to.
    pub unit: &'static str,
    /// Structure, instruction or register, with what is specific to each.
    pub kind: Kind,
    /// Size of the fixed part in bits.
    pub bits: u32,
    /// Fields in order of their first bit; members of groups are in [`groups`](Self::groups).
    pub fields: &'static [Field],
    /// Arrays of fields, fixed or variable.
    pub groups: &'static [Group],
    /// Alternative descriptions of bits that fields also describe.
    pub views: &'static [View],
    /// Programming restrictions.
    pub rules: &'static [Rule],
    /// True if only the header is described and the other bits are unknown.
    pub partial: bool,
    /// Description in one line of our own words; may be empty.
    pub doc: &'static str,
    /// Volume and page of the manual, or another source of the facts.
    pub source: &'static str,
}

impl Container {
    /// Size of the fixed part in dwords, rounded up.
    pub const fn dwords(&self) -> usize {
        self.bits.div_ceil(32) as usize
    }

    /// Length in dwords of a packet of this kind that starts with `header`: from its length field,
    /// or the fixed size if there is none. At least 1.
    pub const fn packet_dwords(&self, header: u32) -> usize {
        let length = match self.kind {
            Kind::Instruction { bias, length_field: Some((start, end)), .. } => {
                crate::bits::get(&[header], start, end) as usize + bias as usize
            }
            _ => self.dwords(),
        };
        if length == 0 { 1 } else { length }
    }
}

/// Containers are compared by address: the tables are statics.
impl PartialEq for Container {
    fn eq(&self, other: &Container) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for Container {}

/// Kinds of containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Part of other containers, or state in memory.
    Struct {
        /// Alignment in memory in bytes; 1 if the manual states none.
        align: u32,
    },
    /// A command of one or more engines.
    Instruction {
        /// Engines that accept the instruction.
        engines: Engines,
        /// Pipelines of the render engine that the instruction works in.
        pipelines: Pipelines,
        /// Added to the DWord Length field to get the packet's length.
        bias: u32,
        /// Mask of the opcode bits of dword 0.
        opcode_mask: u32,
        /// Value of the opcode bits.
        opcode: u32,
        /// First and last bit of the DWord Length field in dword 0, if the packet has one.
        length_field: Option<(u32, u32)>,
        /// True if a variable tail follows the fixed part.
        variable: bool,
    },
    /// A register.
    Register {
        /// Byte offset in the register space; relative to the base of each engine if `per_engine`.
        offset: u32,
        /// True if every engine has one.
        per_engine: bool,
        /// Number of registers; more than one is an array.
        count: u32,
        /// Bytes from one element of the array to the next.
        stride: u32,
        /// True if bits 31:16 are write enables of bits 15:0.
        masked: bool,
        /// Access from commands.
        access: Access,
    },
}

/// The base of an engine's copy of the registers that every engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineBase {
    /// The engine's short name, `RCS`.
    pub name: &'static str,
    /// Byte offset in the register space.
    pub base: u32,
}

/// A dword of the register space and the register that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterAt {
    /// The register.
    pub register: &'static Container,
    /// The engine that the register belongs to, if every engine has its own copy.
    pub engine: Option<&'static EngineBase>,
    /// Index in the array, if the register is an array.
    pub index: Option<u32>,
    /// Index of the dword in the register.
    pub dword: u32,
}

/// Formats as people write it: `RING_TAIL of VCS`, `CS_GPR[3] of RCS, upper dword`.
impl fmt::Display for RegisterAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.register.name)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        if let Some(engine) = self.engine {
            write!(f, " of {}", engine.name)?;
        }
        match self.dword {
            0 => Ok(()),
            1 => f.write_str(", upper dword"),
            dword => write!(f, ", dword {dword}"),
        }
    }
}

/// Every dword of every register among `containers`, with its byte offset, in no particular order.
/// An offset can occur twice: for a register that every engine has, and for a register of a single
/// engine. The description of the latter (`per_engine` is false) is more precise.
pub fn registers(
    containers: &'static [&'static Container],
    engines: &'static [EngineBase],
) -> impl Iterator<Item = (u32, RegisterAt)> {
    containers.iter().flat_map(move |register| {
        let (offset, per_engine, count, stride) = match register.kind {
            Kind::Register { offset, per_engine, count, stride, .. } => {
                (offset, per_engine, count, stride)
            }
            _ => (0, false, 0, 0),
        };
        let engines = engines.iter().filter(move |_| per_engine).map(Some);
        let owners = engines.chain((!per_engine).then_some(None));
        let indices = owners.flat_map(move |engine| (0..count).map(move |index| (engine, index)));
        let dwords = register.dwords() as u32;
        indices.flat_map(move |(engine, index)| {
            let base = engine.map_or(0, |engine| engine.base);
            let first = base.wrapping_add(offset).wrapping_add(index.wrapping_mul(stride));
            let index = (count > 1).then_some(index);
            (0..dwords).map(move |dword| {
                (first.wrapping_add(4 * dword), RegisterAt { register, engine, index, dword })
            })
        })
    })
}

/// Access to a register from commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read and write.
    ReadWrite,
    /// Writes are ignored.
    ReadOnly,
    /// Reads return nothing useful.
    WriteOnly,
}

/// A set of engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Engines(pub u8);

impl Engines {
    /// The render engine: 3D, media and GPGPU.
    pub const RENDER: Engines = Engines(1);
    /// The blitter, or copy engine.
    pub const BLITTER: Engines = Engines(2);
    /// The video codec engine.
    pub const VIDEO: Engines = Engines(4);
    /// The video enhancement engine, VEBOX.
    pub const VIDEO_ENHANCE: Engines = Engines(8);
    /// Every engine.
    pub const ALL: Engines = Engines(15);

    /// True if the sets share an engine.
    pub const fn intersects(self, other: Engines) -> bool {
        self.0 & other.0 != 0
    }

    /// The names of the engines in the set as the specification spells them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [(1, "render"), (2, "blitter"), (4, "video"), (8, "video-enhance")]
            .into_iter()
            .filter(move |(bit, _)| self.0 & bit != 0)
            .map(|(_, name)| name)
    }
}

/// A set of pipelines of the render engine, which PIPELINE_SELECT chooses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pipelines(pub u8);

impl Pipelines {
    /// The 3D pipeline.
    pub const THREE_D: Pipelines = Pipelines(1);
    /// The media pipeline.
    pub const MEDIA: Pipelines = Pipelines(2);
    /// The GPGPU pipeline.
    pub const GPGPU: Pipelines = Pipelines(4);
    /// All of them; also used for commands that belong to no pipeline.
    pub const ALL: Pipelines = Pipelines(7);

    /// True if the sets share a pipeline.
    pub const fn intersects(self, other: Pipelines) -> bool {
        self.0 & other.0 != 0
    }

    /// The names of the pipelines in the set as the specification spells them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [(1, "3d"), (2, "media"), (4, "gpgpu")]
            .into_iter()
            .filter(move |(bit, _)| self.0 & bit != 0)
            .map(|(_, name)| name)
    }
}

/// A field: a named, typed range of bits.
#[derive(Debug)]
pub struct Field {
    /// The manual's name.
    pub name: &'static str,
    /// First bit, from the start of the container (or group element).
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// How the bits are interpreted.
    pub ty: Type,
    /// How the stored bits encode the value.
    pub stored: Stored,
    /// Default value, as stored.
    pub default: Option<u64>,
    /// True if a program must set the field: there is no sensible default.
    pub required: bool,
    /// Least and greatest stored value that the manual allows.
    pub range: Option<(u64, u64)>,
    /// The field exists only if this holds.
    pub exists_if: Option<&'static Expr>,
    /// The names of the set of alternatives and of the alternative that the field belongs to. If
    /// the condition of the alternative does not hold, another field or nothing occupies the bits.
    /// A field with a condition but no alternative keeps its bits, but has no effect if the
    /// condition does not hold.
    pub alternative: Option<(&'static str, &'static str)>,
    /// Unit of the value; may be empty.
    pub unit: &'static str,
    /// Description in one line of our own words; may be empty.
    pub doc: &'static str,
    /// Volume and page of the manual, or another source; empty if that of the container applies.
    pub source: &'static str,
}

impl Field {
    /// A plain unsigned field, for the members that a table does not set (`..Field::PLAIN`).
    pub const PLAIN: Field = Field {
        name: "",
        start: 0,
        end: 0,
        ty: Type::Uint,
        stored: Stored::Plain,
        default: None,
        required: false,
        range: None,
        exists_if: None,
        alternative: None,
        unit: "",
        doc: "",
        source: "",
    };
}

/// Another description of bits that fields also describe. It is valid under a condition on the rest
/// of the container. Examples: operands depend on register file and access mode, messages on
/// shared function and type. Rules can name views, and the rules of a view's structure apply too.
#[derive(Debug)]
pub struct View {
    /// The view's name. A view of the whole container often has the name of its structure.
    pub name: &'static str,
    /// First bit, from the start of the container.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// How the bits are interpreted.
    pub ty: Type,
    /// The view applies only if this condition holds. The condition reads only this container.
    pub exists_if: Option<&'static Cond>,
}

impl View {
    /// True if the view applies to the container at `frame`.
    pub fn exists(&self, frame: &Frame<'_>) -> bool {
        self.exists_if
            .is_none_or(|condition| condition.eval(frame, &()).is_some_and(|value| value != 0))
    }
}

/// How the bits of a field are interpreted.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// Unsigned integer.
    Uint,
    /// Two's complement integer.
    Int,
    /// One bit.
    Bool,
    /// IEEE single (32 bits) or double (64 bits).
    Float,
    /// Unsigned fixed point with this many fraction bits.
    UFixed(u32),
    /// Two's complement fixed point with this many fraction bits.
    SFixed(u32),
    /// A byte address. Address bits keep their positions: bit 6 of the address is bit 6 (mod 32) of
    /// the dword. With `Stored::Shifted`, the address is stored shifted right by that number of
    /// bits.
    Address {
        /// The base that the address is relative to.
        space: SpaceKind,
        /// Alignment in bytes.
        align: u64,
        /// Name of the container that the address points to; empty if the target is not a described
        /// container.
        target: &'static str,
    },
    /// A named list of values.
    Enum(&'static Enumeration),
    /// A nested structure.
    Struct(&'static Container),
    /// Must be zero.
    MustBeZero,
    /// Must be one (all bits).
    MustBeOne,
    /// Reserved: written as zero; readers accept any value.
    Reserved,
}

/// How stored bits encode an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The value unchanged.
    Plain,
    /// The value minus one.
    MinusOne,
    /// The value shifted right by this number of bits.
    Shifted(u32),
    /// The logarithm to base 2 of the value.
    Log2,
}

impl Stored {
    /// The value that `stored` encodes; only its low 64 bits if it is larger.
    pub const fn decode(self, stored: u64) -> u64 {
        match self {
            Stored::Plain => stored,
            Stored::MinusOne => stored.wrapping_add(1),
            Stored::Shifted(by) if by < 64 => stored << by,
            Stored::Log2 if stored < 64 => 1 << stored,
            Stored::Shifted(_) | Stored::Log2 => 0,
        }
    }
}

/// An array of fields that repeats every `bits` bits from `start` on.
#[derive(Debug)]
pub struct Group {
    /// Name of the array; may be empty.
    pub name: &'static str,
    /// First bit of the first element.
    pub start: u32,
    /// Size of an element in bits.
    pub bits: u32,
    /// Number of elements; 0 means as many as the packet's length allows.
    pub count: u32,
    /// Fields of an element, from its first bit.
    pub fields: &'static [Field],
    /// Groups inside an element.
    pub groups: &'static [Group],
}

/// A condition over stored values of fields of the same container.
#[derive(Debug)]
pub enum Expr {
    /// A number, or a value of an enumeration.
    Number(u64),
    /// The stored value of the field at this range of bits of the container.
    Field {
        /// The field's name, for messages.
        name: &'static str,
        /// First bit.
        start: u32,
        /// Last bit, inclusive.
        end: u32,
    },
    /// Logical not.
    Not(&'static Expr),
    /// Two operands.
    Binary(Op, &'static Expr, &'static Expr),
}

impl Expr {
    /// The value for a container that starts at bit `base` of `dwords`.
    pub const fn eval(&self, dwords: &[u32], base: u32) -> u64 {
        match *self {
            Expr::Number(value) => value,
            Expr::Field { start, end, .. } => crate::bits::get(dwords, base + start, base + end),
            Expr::Not(expr) => (expr.eval(dwords, base) == 0) as u64,
            Expr::Binary(op, left, right) => {
                op.apply(left.eval(dwords, base), right.eval(dwords, base))
            }
        }
    }

    /// True if the value is not zero.
    pub const fn holds(&self, dwords: &[u32], base: u32) -> bool {
        self.eval(dwords, base) != 0
    }
}
