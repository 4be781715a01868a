//! Properties of operations: layout, modifiers, restrictions, execution sizes.

/// Layouts of the 128 bits of an instruction: what follows the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Format {
    /// Header only: `nop`, `illegal`.
    Bare,
    /// One or two sources; the last one may be an immediate.
    Basic,
    /// Three register sources with swizzles.
    ThreeSource,
    /// The same as [`Basic`](Self::Basic), with a math function in the bits of the condition.
    Math,
    /// A message: one register source and a descriptor.
    Send,
    /// A message with two payloads, of Gen9: two register sources and two descriptors.
    SplitSend,
    /// One jump distance (JIP).
    BranchOne,
    /// Two jump distances (JIP, UIP).
    BranchTwo,
    /// `jmpi`: the distance is the second source, counted from the next instruction.
    JumpIndexed,
    /// `call`, `calla`: a destination for the return address, the target is the second source.
    Call,
    /// `ret`: the return address is the first source.
    Return,
    /// `wait`: the notification register is destination and source.
    Wait,
    /// `sync` of Gen12: a function, and one source or none.
    Sync,
    /// `do` of Gen4 to Gen5: controls without operands.
    Loop,
}

impl Format {
    /// True for the formats of messages.
    pub const fn is_send(self) -> bool {
        matches!(self, Format::Send | Format::SplitSend)
    }
}

/// Modifiers that an instruction accepts, as a bit set (2a, property table of each instruction).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Modifiers(u8);

impl Modifiers {
    /// No modifier.
    pub const NONE: Self = Modifiers(0);
    /// The instruction may have a predicate.
    pub const PREDICATE: Self = Modifiers(1);
    /// A condition that writes a flag (or selects, for `sel` and `csel`).
    pub const CONDITION: Self = Modifiers(2);
    /// The result may be saturated.
    pub const SATURATE: Self = Modifiers(4);
    /// Sources may have negation and absolute value.
    pub const SOURCE: Self = Modifiers(8);

    /// True if every modifier of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The modifiers of both sets.
    pub const fn with(self, other: Self) -> Self {
        Modifiers(self.0 | other.0)
    }
}

/// Restrictions that depend only on the operation, as a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Traits(u16);

impl Traits {
    /// No restriction.
    pub const NONE: Self = Traits(0);
    /// A condition is required.
    pub const CONDITION_NEEDED: Self = Traits(1);
    /// Either a predicate or a condition is required, not both.
    pub const SELECTS: Self = Traits(2);
    /// The accumulator is an implicit source.
    pub const READS_ACCUMULATOR: Self = Traits(4);
    /// The accumulator is an implicit destination, so AccWrCtrl must be set.
    pub const WRITES_ACCUMULATOR: Self = Traits(8);
    /// No source can be an accumulator.
    pub const NO_ACCUMULATOR_SOURCE: Self = Traits(16);
    /// The destination, explicit or implicit, cannot be an accumulator.
    pub const NO_ACCUMULATOR_DESTINATION: Self = Traits(32);
    /// Neither source nor destination, explicit or implicit, can be an accumulator.
    pub const NO_ACCUMULATOR: Self = Traits(16 | 32);
    /// A negated source is the complement of its bits.
    pub const LOGIC: Self = Traits(64);
    /// NoMask should be set. Without it, the validator warns.
    pub const NO_MASK_NEEDED: Self = Traits(128);

    /// True if every trait of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The restrictions of both sets.
    pub const fn with(self, other: Self) -> Self {
        Traits(self.0 | other.0)
    }
}

/// A set of execution sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ExecSizes(u8);

impl ExecSizes {
    /// All sizes, 1 to 32.
    pub const ANY: Self = ExecSizes::of(&[1, 2, 4, 8, 16, 32]);

    /// These sizes; each is a power of two up to 32.
    pub const fn of(sizes: &[u8]) -> Self {
        let (mut bits, mut index) = (0, 0);
        while index < sizes.len() {
            bits |= sizes[index];
            index += 1;
        }
        ExecSizes(bits)
    }

    /// True if `size` is in the set.
    pub const fn contains(self, size: u8) -> bool {
        size.is_power_of_two() && self.0 & size != 0
    }

    /// The sizes, ascending.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        [1, 2, 4, 8, 16, 32].into_iter().filter(move |size| self.contains(*size))
    }
}
