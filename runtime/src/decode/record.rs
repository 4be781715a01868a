//! The output of the decoder: one [`Record`] per packet, state structure, kernel, piece of data or
//! remark.
//!
//! Records come in reading order: a packet, then what it points to with a larger
//! [`depth`](Record::depth). A record is reused for the next packet, so that decoding does not
//! allocate.

use super::buffer::Key;
use super::issue::Issue;
use super::plan::PlanId;
use super::video_surface::VideoSurface;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, RegisterAt};
use genxml_core::rule::Roles;

/// Names of records ([`Record::name`]) that are not names of a container: packets that the tables
/// do not have, kernels and data.
pub const DATA_NAMES: [&str; 18] = [
    "unknown MI command",
    "unknown blitter command",
    "unknown common render command",
    "unknown media command",
    "unknown 3D command",
    "unknown command",
    "kernel",
    "push constants",
    "constants",
    "indirect data",
    "coded data",
    "Indirect PAK-MV Data",
    "Indirect IT-MV Data",
    "Indirect IT-COEFF Data",
    "Indirect IT-DBLK Control Data",
    "vertex",
    "instance",
    "index",
];

/// A packet of a batch, or something that a batch points to.
#[derive(Debug, Default, Clone)]
pub struct Record {
    /// Nesting: how many records this one belongs to. Records come in the order of a tree that is
    /// read from its root: a record belongs to the last record before it with a smaller depth.
    ///
    /// | depth | record |
    /// |---|---|
    /// | 0 | a packet of the submitted batch, also after jumps; a remark about the batch |
    /// | 1 | a structure or kernel that such a packet points to; a packet of a second-level batch that such a packet calls |
    /// | 2 | what the records of depth 1 point to: the surface of a binding table entry, for example |
    ///
    /// For a ring, its packets have depth 0, and the packets of the batches that they start depth 1.
    /// So the depth does not distinguish packets from other records: [`Kind::is_packet`] does.
    /// [`is_top_level`](Self::is_top_level) is true for depth 0.
    pub depth: u32,
    /// GPU address of the first byte.
    pub address: u64,
    /// Kind of the record.
    pub kind: Kind,
    /// Name of the packet, structure or data.
    pub name: &'static str,
    /// Index in its table, if it is an element of one.
    pub index: Option<u32>,
    /// For a register: the register with its engine and index.
    pub register: Option<RegisterAt>,
    /// Length in dwords; for a packet, the length in its header.
    pub length: u32,
    /// The dwords: fewer than `length` if memory ends before; in an overview only the header,
    /// except for a jump to a batch.
    pub dwords: Vec<u32>,
    /// The fields; nested ones follow the one that holds them, with a larger [`Item::depth`].
    pub items: Vec<Item>,
    /// Disassembly: byte offset in the kernel and text. A send is followed by its message, with the
    /// same offset.
    pub lines: Vec<(u32, String)>,
    /// The text of a record of kind `Note`, or a remark on another record; empty without one.
    pub note: String,
    /// For the target of a binding table entry: how kernels use it, if known.
    pub uses: Option<Uses>,
    /// For a picture that a video engine decodes, or a reference of it: the samples in memory.
    pub surface: Option<VideoSurface>,
    /// The container in the tables.
    pub(crate) plan: Option<PlanId>,
    /// For a register: true if the command reads it instead of writing the value.
    pub(crate) read: bool,
    /// Number of fields with an issue, as far as they were decoded.
    pub(crate) problems: u64,
    /// For a kernel: true if its dwords include the end of thread.
    pub(crate) whole: bool,
}

/// How kernels use a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// The roles of the surface in the messages of the kernels.
    pub roles: Roles,
    /// True if all messages are known: the kernels were read to their ends, and every descriptor is
    /// in the instruction.
    pub complete: bool,
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A command that the tables describe.
    #[default]
    Packet,
    /// A command for which the tables describe only the header.
    Partial,
    /// A command that is not in the tables. Its length follows from the rules for its command type.
    Unknown,
    /// A structure in memory.
    Struct,
    /// A register with the value that a command writes to it; for a command that stores the
    /// register, the value written before.
    Register,
    /// Memory without structure: constants, thread data.
    Data,
    /// A row of a table in memory: a vertex as the draw's elements read it, or indices. The items
    /// are the columns; for a vertex the elements, each with its components.
    Row,
    /// Instructions of the execution units.
    Kernel,
    /// A remark: what was not followed and why, or the summary of a coded picture. `note` has the
    /// text.
    Note,
}

impl Kind {
    /// True for packets, whether the tables describe them or not.
    pub const fn is_packet(self) -> bool {
        matches!(self, Kind::Packet | Kind::Partial | Kind::Unknown)
    }

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Packet => "packet",
            Kind::Partial => "partial",
            Kind::Unknown => "unknown",
            Kind::Struct => "struct",
            Kind::Register => "register",
            Kind::Data => "data",
            Kind::Row => "row",
            Kind::Kernel => "kernel",
            Kind::Note => "note",
        }
    }
}

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// Nesting inside the record; 0 for its own fields.
    pub depth: u8,
    /// The manual's name of the field, group or structure.
    pub name: &'static str,
    /// Index in its array, if it is an element of one.
    pub index: Option<u32>,
    /// First bit, from the start of the record.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// The bits as stored; 0 for items that only hold others.
    pub stored: u64,
    /// What the bits mean.
    pub value: Value,
    /// Unit of the value; may be empty.
    pub unit: &'static str,
    /// The issue of the field, if there is one.
    pub issue: Option<Issue>,
    /// The field in the tables.
    pub(crate) origin: Origin,
}

/// The field or group of an item, if there is one. Together with the position, the depth, the bits
/// and the base addresses, it determines the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin(usize);

impl Origin {
    /// The origin of an item without a field.
    pub const NONE: Origin = Origin(0);

    /// The origin of an item for this field or group.
    #[inline]
    pub fn of<T>(what: &'static T) -> Origin {
        Origin(std::ptr::from_ref(what).addr())
    }

    /// The address of the field or group, which is unique; 0 if there is none.
    #[inline]
    pub fn address(self) -> usize {
        self.0
    }
}

/// What the bits of a field mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An unsigned number after decoding: for example one more than stored, or shifted left.
    Uint(u64),
    /// A signed number.
    Int(i64),
    /// A switch: true or false.
    Bool(bool),
    /// A floating-point or fixed-point number.
    Float(f64),
    /// A value of an enumeration.
    Enum {
        /// Its name, if the manual has one for this value.
        name: Option<&'static str>,
    },
    /// An address or offset.
    Address {
        /// The offset in bytes from the start of the space.
        value: u64,
        /// The address space.
        space: SpaceKind,
        /// The GPU address, 48 bits, if the base of the space is known.
        absolute: Option<u64>,
        /// The register if it is an offset in the register space.
        register: Option<RegisterAt>,
    },
    /// No value of its own: the following items with a larger depth belong to it.
    Nested,
    /// Bits that carry no meaning.
    Reserved,
    /// Bits that the tables do not describe.
    Raw,
}

impl Record {
    /// Empties the record for reuse.
    pub(super) fn reset(&mut self, kind: Kind, depth: u32, address: u64, name: &'static str) {
        self.depth = depth;
        self.address = address;
        self.kind = kind;
        self.name = name;
        self.index = None;
        self.register = None;
        self.length = 0;
        self.dwords.clear();
        self.items.clear();
        self.lines.clear();
        self.note.clear();
        self.uses = None;
        self.surface = None;
        self.plan = None;
        self.problems = 0;
        self.read = false;
        self.whole = false;
    }

    /// True for the packets of the submitted batch or ring itself, and for remarks about it. False
    /// for what packets point to, and for the packets of batches that it calls.
    ///
    /// ```
    /// use genxml::decode::{Decoder, Options, Record, State, Tables};
    /// use genxml::engine::EngineId;
    ///
    /// // MI_LOAD_REGISTER_IMM of CS_GPR 0, MI_BATCH_BUFFER_END.
    /// let batch = [0x1100_0001u32, 0x2600, 7, 0x0500_0000].map(u32::to_le_bytes).concat();
    /// let mut found = Vec::new();
    /// let mut sink = |record: &Record| {
    ///     found.push((record.name, record.depth, record.is_top_level()));
    ///     Ok(())
    /// };
    /// let decoder = Decoder::new(Tables::gen8(), Options::default());
    /// let memory = (0x1000, &batch[..]);
    /// decoder.batch(&mut State::default(), EngineId::Render, &memory, 0x1000, 16, &mut sink)?;
    /// assert_eq!(
    ///     found,
    ///     [
    ///         ("MI_LOAD_REGISTER_IMM", 0, true),
    ///         ("CS_GPR", 1, false), // the register that the packet before writes
    ///         ("MI_BATCH_BUFFER_END", 0, true),
    ///     ]
    /// );
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn is_top_level(&self) -> bool {
        self.depth == 0
    }

    /// The field with this name, at any depth; the first if there are several.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.name == name)
    }

    /// The address in a field of `container`: its bits at their positions in the pointer.
    pub(super) fn address_of(&self, container: &Container, name: &str) -> Option<u64> {
        let field = container.fields.iter().find(|field| field.name == name)?;
        Some(genxml_core::bits::get(&self.dwords, field.start, field.end) << (field.start % 32))
    }

    /// The stored bits of a field of `container`, by name, whether or not it was decoded.
    pub(super) fn stored(&self, container: &Container, name: &str) -> Option<u64> {
        let field = container.fields.iter().find(|field| field.name == name)?;
        Some(genxml_core::bits::get(&self.dwords, field.start, field.end))
    }
}

/// A number that identifies a position: the first bit in bits 31:0; above them the index in an
/// array plus one, or 0 without an index.
#[inline]
pub(super) fn place(index: Option<u32>, start: u32) -> u64 {
    u64::from(index.map_or(0, |index| index.wrapping_add(1))) << 32 | u64::from(start)
}

/// Largest width in bits of a number whose text is memoised. Wider numbers have too many values.
pub(super) const NARROW: u32 = 16;

impl Item {
    /// True if the whole text of the item is memoised, false if only the part before the value is.
    #[inline(always)]
    pub(super) fn has_few_values(&self) -> bool {
        match self.value {
            Value::Address { .. } => false,
            Value::Uint(_) | Value::Int(_) | Value::Raw => self.end - self.start < NARROW,
            _ => true,
        }
    }

    /// The memo's key of the item's text: of the whole text, or of the part before the value.
    #[inline(always)]
    pub(super) fn memo_key(&self, whole: bool, kind: u64) -> Key {
        Key {
            what: self.origin.address(),
            value: if whole { self.stored } else { 0 },
            place: self.place(),
            kind,
        }
    }

    /// The position of the field.
    #[inline]
    pub(super) fn place(&self) -> u64 {
        place(self.index, self.start)
    }

    /// The offset, if this is an offset in the register space.
    pub fn register_offset(&self) -> Option<u32> {
        match self.value {
            Value::Address { value, space: SpaceKind::Mmio, .. } => u32::try_from(value).ok(),
            _ => None,
        }
    }
}
