//! The model: the result of loading the XML, and the input of the checks and all outputs.
//!
//! References are resolved to indexes, conditions are parsed, and positions are absolute. If
//! [`crate::check`] finds no error in a [`Spec`], Rust can be generated without further errors.

pub use crate::source::{SourceFile, Span};
pub use genxml_terms::{Op, Quantifier, Role};

use genxml_syntax::condition;

/// A specification of one generation: the contents of all its files.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// Name of the platform, `BDW`.
    pub name: String,
    /// Generation as written, `8`.
    pub generation: String,
    /// The files that were read, imports included.
    pub files: Vec<SourceFile>,
    /// Enumerations of all units, in file order, including those inside fields.
    pub enums: Vec<Enum>,
    /// Structures, instructions and registers of all units, in file order.
    pub containers: Vec<Container>,
    /// Engines with registers of their own, in file order.
    pub engines: Vec<EngineBase>,
}

/// An engine (`<engine>`), with the base of its copy of the per-engine registers.
#[derive(Debug, Clone)]
pub struct EngineBase {
    /// The short name, `RCS`.
    pub name: String,
    /// Byte offset of its registers in the register space.
    pub base: u32,
    /// Documentation: one line in our own words.
    pub doc: String,
    /// Volume and page, or the fact's origin.
    pub source: String,
    /// The element's opening tag.
    pub span: Span,
}

/// Index into [`Spec::enums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub usize);

/// Index into [`Spec::containers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContainerId(pub usize);

/// A named list of values.
#[derive(Debug, Clone)]
pub struct Enum {
    /// The manual's name; `CONTAINER Field` for a list inside a field.
    pub name: String,
    /// Index in [`Spec::files`] of the file that contains it.
    pub file: usize,
    /// Prefix of the values (`prefix`), or empty. It is not a part of their names.
    pub prefix: String,
    /// Bits of the widest field of this type, or of the greatest value if that has more; at least
    /// 1.
    pub bits: u32,
    /// Values in file order.
    pub values: Vec<EnumValue>,
    /// Named sets of values (`set`), for conditions.
    pub sets: Vec<ValueSet>,
    /// Documentation: one line in our own words.
    pub doc: String,
    /// Volume and page, or the fact's origin.
    pub source: String,
    /// The element's opening tag.
    pub span: Span,
}

/// A value of an enumeration.
#[derive(Debug, Clone)]
pub struct EnumValue {
    /// The manual's name.
    pub name: String,
    /// The number.
    pub value: u64,
    /// Bits that a compaction index with this value expands to (`expansion`).
    pub expansion: Option<u64>,
    /// True if this is a second name for a number that another value already has (`alias`).
    pub alias: bool,
    /// Size in bits of the thing that the value names (`bits`), such as an element of a surface
    /// format.
    pub bits: Option<u64>,
    /// Documentation: one line in our own words.
    pub doc: String,
    /// The element's opening tag.
    pub span: Span,
}

/// A named set of values of an enumeration.
#[derive(Debug, Clone)]
pub struct ValueSet {
    /// The name in conditions.
    pub name: String,
    /// The numbers as ranges (first, last). The ranges are ascending and do not touch.
    pub ranges: Vec<(u64, u64)>,
    /// Documentation: one line in our own words.
    pub doc: String,
    /// The element's opening tag.
    pub span: Span,
}

/// A structure, instruction or register.
#[derive(Debug, Clone)]
pub struct Container {
    /// The manual's name.
    pub name: String,
    /// Index in [`Spec::files`] of the file that contains it.
    pub file: usize,
    /// Structure, instruction or register.
    pub kind: Kind,
    /// Size in bits of the fixed part: `length` dwords or `size` bits. A register without `length`
    /// has 32 bits. An instruction, or a structure of Mesa's, without these attributes ends with
    /// its last field or group, rounded up to dwords. A variable group counts as empty.
    pub bits: u32,
    /// Fields in order of their first bit.
    pub fields: Vec<Field>,
    /// Arrays, in order of their first bit. Only the last one may be variable.
    pub groups: Vec<Group>,
    /// Further descriptions of the bits of fields (`view`), in file order.
    pub views: Vec<View>,
    /// Programming restrictions.
    pub rules: Vec<Rule>,
    /// Set if the newest packet or structure of this type stays in force for later packets
    /// (`latch`).
    pub latch: Option<Latch>,
    /// True if only some bits are described, such as the header (`partial`). Bits without a field
    /// are unknown, not reserved.
    pub partial: bool,
    /// True if fields may overlap without being variants: `overlap="allowed"`, or the file is
    /// Mesa's.
    pub overlap_allowed: bool,
    /// Documentation: one line in our own words.
    pub doc: String,
    /// Volume and page, or the fact's origin.
    pub source: String,
    /// The element's opening tag.
    pub span: Span,
}

impl Container {
    /// If the latched state is a table (such as that of vertex buffers), the field that selects the
    /// entry that a packet sets; otherwise `None`.
    pub fn latch_index(&self) -> Option<&Field> {
        let name = self.latch.as_ref()?.index.as_ref()?;
        self.fields.iter().find(|field| field.name == *name)
    }

    /// True if the number of elements of a group depends on the length.
    pub fn is_variable(&self) -> bool {
        self.groups.iter().any(|group| group.count == 0)
    }

    /// Largest size in dwords, including a variable tail; `None` if no length field limits the
    /// tail.
    pub fn max_dwords(&self) -> Option<u32> {
        if !self.is_variable() {
            return Some(self.bits.div_ceil(32));
        }
        let Kind::Instruction { bias, .. } = self.kind else { return None };
        let length = self.fields.iter().find(|field| field.length)?;
        let most = length.range.map_or(u64::MAX, |(_, most)| most);
        Some(most.min(u64::MAX >> (63 - (length.end - length.start))) as u32 + bias)
    }

    /// Byte offsets of a register in the register space: of each array element, on each engine.
    pub fn register_places<'a>(
        &'a self,
        engines: &'a [EngineBase],
    ) -> impl Iterator<Item = u32> + 'a {
        let (offset, count, stride, engines) = match self.kind {
            Kind::Register { offset, per_engine: true, count, stride, .. } => {
                (offset, count, stride, engines)
            }
            Kind::Register { offset, count, stride, .. } => (offset, count, stride, [].as_slice()),
            _ => (0, 0, 0, [].as_slice()),
        };
        let absolute = !matches!(self.kind, Kind::Register { per_engine: true, .. });
        let bases = engines.iter().map(|engine| engine.base).chain(absolute.then_some(0));
        bases.flat_map(move |base| {
            (0..count).map(move |index| base.wrapping_add(offset).wrapping_add(index * stride))
        })
    }
}

/// State that stays in force until a newer value replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latch {
    /// Name of the field that selects the entry if the state is a table; `None` if there is only
    /// one state.
    pub index: Option<String>,
}

/// Kinds of containers.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A structure: a part of other containers, or state in memory.
    Struct {
        /// Alignment in memory in bytes, 1 if unstated.
        align: u32,
    },
    /// A command.
    Instruction {
        /// Bit set as in `genxml_core::reflect::Engines`: 1 render, 2 blitter, 4 video, 8
        /// video-enhance.
        engines: u8,
        /// Bit set as in `genxml_core::reflect::Pipelines`: 1 3D, 2 media, 4 GPGPU; all if
        /// unstated.
        pipelines: u8,
        /// The length in dwords is the value of the field DWord Length plus this.
        bias: u32,
    },
    /// A register.
    Register {
        /// Byte offset; from the base of each engine if `per_engine`.
        offset: u32,
        /// True if every engine has a copy of the register.
        per_engine: bool,
        /// Number of registers in the array; 1 for a single register.
        count: u32,
        /// Bytes from one register of the array to the next.
        stride: u32,
        /// Name of the per-engine register that this describes in more detail for one engine, or
        /// empty.
        instance_of: String,
        /// True if bits 31:16 are the write enables of bits 15:0.
        masked: bool,
        /// Access from commands.
        access: Access,
    },
}

/// Access to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `rw`, the default.
    ReadWrite,
    /// `ro`.
    ReadOnly,
    /// `wo`.
    WriteOnly,
}

/// An array of fields.
#[derive(Debug, Clone)]
pub struct Group {
    /// Name (`name`). It may be empty if the element is one field.
    pub name: String,
    /// First bit of the first element, from the start of the container or enclosing element.
    pub start: u32,
    /// Size of an element in bits.
    pub bits: u32,
    /// Number of elements; 0 means as many as the packet's length allows.
    pub count: u32,
    /// Fields of an element; positions count from its first bit.
    pub fields: Vec<Field>,
    /// Groups of an element.
    pub groups: Vec<Group>,
    /// The opening tag of `<group>`.
    pub span: Span,
}

impl Group {
    /// First bit after the group; for a variable group, its first bit.
    pub fn end(&self) -> u32 {
        self.start + self.count * self.bits
    }
}

/// A field.
#[derive(Debug, Clone)]
pub struct Field {
    /// The manual's name.
    pub name: String,
    /// First bit.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// Its type.
    pub ty: Type,
    /// How the meant value is computed from the stored value.
    pub stored: Stored,
    /// Default, as stored bits.
    pub default: Option<u64>,
    /// Least and greatest stored value (`range`), sign-extended to 64 bits for signed types.
    pub range: Option<(u64, u64)>,
    /// True for a part of the opcode, which is always written, checked when read, and not a member
    /// of the Rust type.
    pub opcode: bool,
    /// True for the field `DWord Length`, which holds the packet's length minus the bias.
    pub length: bool,
    /// True if the program must give a value (`required`).
    pub required: bool,
    /// True if the value must not be zero (`nonzero`).
    pub nonzero: bool,
    /// The condition under which the field exists (`exists-if`).
    pub exists_if: Option<Expr>,
    /// Name of the set of alternatives and of this alternative (`variant="set/alternative"`).
    pub variant: Option<(String, String)>,
    /// Unit of measurement; may be empty.
    pub unit: String,
    /// Documentation: one line in our own words; may be empty.
    pub doc: String,
    /// Volume and page, or the fact's origin; empty if it is that of the container.
    pub source: String,
    /// The reason why the description is derived or doubtful (`derived`, `doubtful`); may be empty.
    pub doubt: String,
    /// The element's opening tag.
    pub span: Span,
}

/// A further description of the bits of fields (`view`). Rules can name it. If its type is a
/// structure, the rules of this structure apply while the condition of the view holds.
#[derive(Debug, Clone)]
pub struct View {
    /// Name, position and type.
    pub field: Field,
    /// The condition under which the view is valid (`exists-if`). It uses only fields of the
    /// container and of nested structures.
    pub exists_if: Option<Cond>,
    /// The text of the condition with single spaces; empty without one.
    pub text: String,
}

/// Type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `uint`
    Uint,
    /// `int`
    Int,
    /// `bool`, one bit
    Bool,
    /// `float`, 32 or 64 bits
    Float,
    /// `uI.F`
    UFixed {
        /// Integer bits.
        int: u32,
        /// Fraction bits.
        frac: u32,
    },
    /// `sI.F`: a sign bit in addition to these bits
    SFixed {
        /// Integer bits.
        int: u32,
        /// Fraction bits.
        frac: u32,
    },
    /// `address` and `offset`: the bits keep their position in the pointer, so the field's first
    /// bit is bit `start % 32` of the pointer
    Address {
        /// One of `genxml_core::address::SpaceKind`'s names.
        space: String,
        /// Alignment in bytes: `align`, or 2^(start % 32) without the attribute.
        align: u64,
        /// Name of the container at the address (`target`), or empty.
        target: String,
    },
    /// An enumeration by name, or the values inside the field
    Enum(EnumId),
    /// A structure by name
    Struct(ContainerId),
    /// `mbz`: must be zero
    MustBeZero,
    /// `mbo`: must be one
    MustBeOne,
    /// `reserved`: written as zero; any value is accepted when read
    Reserved,
}

/// How the meant value is computed from the stored integer (`stored-as`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stored {
    /// The two values are equal.
    #[default]
    Plain,
    /// `minus-one`: the meant value is the stored value plus one.
    MinusOne,
    /// `shifted:N`: the meant value is the stored value times 2^N.
    Shifted(u32),
    /// `log2`: the meant value is 2 to the power of the stored value.
    Log2,
}

/// A condition of a field (`exists-if`); grammar in SCHEMA.md. Names are resolved: values of
/// enumerations to numbers, fields to absolute bit ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number or a value of an enumeration.
    Number(u64),
    /// The stored value of a field of the same container.
    Field {
        /// The field's name.
        name: String,
        /// First bit.
        start: u32,
        /// Last bit.
        end: u32,
    },
    /// Logical not.
    Not(Box<Expr>),
    /// Two operands.
    Binary(Op, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// The value, as `genxml_core::reflect::Expr::eval` computes it. `field` returns the bits of
    /// the container from a first to a last bit.
    pub fn eval(&self, field: &dyn Fn(u32, u32) -> u64) -> u64 {
        match self {
            Expr::Number(value) => *value,
            Expr::Field { start, end, .. } => field(*start, *end),
            Expr::Not(inner) => u64::from(inner.eval(field) == 0),
            Expr::Binary(op, left, right) => op.apply(left.eval(field), right.eval(field)),
        }
    }
}

/// A condition of a rule (`require`) or a view (`exists-if`): an [`Expr`] with more operators. It
/// is about the container and, in rules, about the packets before it.
pub type Cond = condition::Cond<ContainerId, EnumId>;

/// Where a field or group is looked up.
pub type Base = condition::Base<ContainerId>;

/// A field that a rule refers to. It may be in a nested structure or in an element of a group.
pub type FieldRef = condition::FieldRef<ContainerId, EnumId>;

/// A group that a rule names.
pub type GroupRef = condition::GroupRef<ContainerId>;

/// A programming restriction of a container.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Stable identifier.
    pub id: String,
    /// How bad a violation is.
    pub severity: Severity,
    /// The condition that must hold.
    pub require: Cond,
    /// The text of the condition.
    pub text: String,
    /// What is wrong if the condition does not hold, in our own words.
    pub message: String,
    /// Volume and page.
    pub source: String,
    /// The element's opening tag.
    pub span: Span,
}

/// How bad the violation of a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The result is undefined, or the GPU hangs.
    Error,
    /// The GPU works, but this is probably not intended.
    Warning,
    /// Needed on some steppings.
    Workaround,
}
