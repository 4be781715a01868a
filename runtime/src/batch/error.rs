//! The errors of batches, heaps and submissions, and of `mi` expressions.

use alloc::boxed::Box;
use alloc::sync::Arc;
use genxml_core::{FieldError, OutOfRange, PackError};

/// Why something cannot be put into a batch, heap or submission. The messages say what is wrong and
/// where, and many also what to do.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The address of a buffer is not a multiple of 4096, its size is 0, or it ends beyond 48 bits.
    #[error(
        "buffer {buffer}: {size} bytes at {address:#x} do not start on a page of 4096 bytes below 2^48"
    )]
    BadAddress {
        /// The buffer's name.
        buffer: Arc<str>,
        /// Address of the buffer.
        address: u64,
        /// Size of the buffer in bytes.
        size: u64,
    },
    /// The buffer is full.
    #[error(
        "{what} takes {needed} bytes, {available} of {size} are left in {buffer}: give it a larger size"
    )]
    Full {
        /// The buffer's name.
        buffer: Arc<str>,
        /// What was to be put there.
        what: &'static str,
        /// Bytes that are needed, with alignment.
        needed: usize,
        /// Bytes that are left.
        available: usize,
        /// Size of the buffer in bytes.
        size: usize,
    },
    /// An arena has no room for another buffer.
    #[error(
        "arena {arena} has no room for {needed} bytes more, {available} are left: give it a larger range"
    )]
    Arena {
        /// The arena's name.
        arena: Arc<str>,
        /// Bytes that were requested.
        needed: usize,
        /// Bytes that are left.
        available: u64,
    },
    /// The packet has no encoding.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A run-time value does not fit its field.
    #[error(transparent)]
    Field(Box<FieldError>),
    /// A value does not fit its type.
    #[error(transparent)]
    Value(Box<OutOfRange>),
    /// An offset, an address or a length does not fit its field.
    #[error("{what} at +{offset:#x} of {buffer}: the offset does not fit its field: {source}")]
    Offset {
        /// The buffer's name.
        buffer: Arc<str>,
        /// What has this offset: a structure or other data, by name.
        what: &'static str,
        /// The offset in the buffer.
        offset: u64,
        /// The underlying error.
        source: Box<OutOfRange>,
    },
    /// A reference goes beyond its object.
    #[error("+{delta:#x} is not inside {object}, which has {size} bytes")]
    Outside {
        /// The object's name.
        object: Arc<str>,
        /// The requested offset.
        delta: u64,
        /// Size of the object in bytes.
        size: u64,
    },
    /// A reference to address 0, which in a field means an unused pointer.
    #[error("{object} is at address 0, which in a field means nowhere: give it another address")]
    AtZero {
        /// The object's name.
        object: Arc<str>,
    },
    /// A packet can only be replaced by one of the same kind and length.
    #[error(
        "cannot patch {new} of {new_dwords} dwords over {old:#010x} of {old_dwords} dwords at +{offset:#x}"
    )]
    Patch {
        /// Name of the new packet.
        new: &'static str,
        /// Length of the new packet in dwords.
        new_dwords: usize,
        /// Header of the packet that is there.
        old: u32,
        /// Length in dwords of the packet that is there.
        old_dwords: usize,
        /// Position of the packet, in bytes from the start of the buffer.
        offset: usize,
    },
    /// `reads` or `writes` gave an address, and the next packet (or structure) does not hold it.
    #[error(
        "{packet} does not hold the address {address:#x} of {object} that was taken for it: take an address right before the packet that uses it"
    )]
    Unplaced {
        /// The packet or structure.
        packet: &'static str,
        /// The object's name.
        object: Arc<str>,
        /// The address that was taken.
        address: u64,
    },
    /// More fields hold an address than the number of times it was taken, so it is unknown which
    /// fields are references.
    #[error(
        "{fields} fields of {packet} hold the address {address:#x} of {object}, which was taken {taken} times: take it once for each"
    )]
    Ambiguous {
        /// The packet or structure.
        packet: &'static str,
        /// The object's name.
        object: Arc<str>,
        /// The address that was taken.
        address: u64,
        /// Number of fields that hold the address.
        fields: usize,
        /// Number of times that the address was taken.
        taken: usize,
    },
    /// The kernel cannot relocate the field: the value that it adds to the object's address is
    /// limited to 31 bits.
    #[error(
        "{field} of {packet} cannot be relocated: it is {object} + {delta:#x}, and the kernel adds at most 0x7fffffff"
    )]
    TooFar {
        /// The packet or structure.
        packet: &'static str,
        /// The field that holds the address.
        field: &'static str,
        /// The object's name.
        object: Arc<str>,
        /// The value that the kernel would have to add.
        delta: u64,
    },
    /// The kernel cannot relocate the field: the kernel writes 64 bits, and not all of them belong
    /// to the address.
    #[error(
        "{field} of {packet} cannot be relocated: the kernel writes 64 bits there, and not all of them belong to the address"
    )]
    Unrelocatable {
        /// The packet or structure.
        packet: &'static str,
        /// The field that holds the address.
        field: &'static str,
    },
    /// A label belongs to another batch.
    #[error(
        "the label belongs to another batch, not to {batch}: call `target` of that batch, then `jump_to`"
    )]
    ForeignLabel {
        /// The batch that got the label.
        batch: Arc<str>,
    },
    /// A label cannot have two positions.
    #[error("label {label} of {batch} is at {address:#x} already")]
    Bound {
        /// Name of the batch.
        batch: Arc<str>,
        /// Number of the label, in order of creation.
        label: usize,
        /// Address that the label is bound to.
        address: u64,
    },
    /// A jump has no target.
    #[error(
        "label {label} of {batch} is not bound, but the MI_BATCH_BUFFER_START at +{offset:#x} of {buffer} jumps to it: `bind` it"
    )]
    Unbound {
        /// Name of the batch.
        batch: Arc<str>,
        /// Number of the label, in order of creation.
        label: usize,
        /// The buffer that the jump is in.
        buffer: Arc<str>,
        /// Bytes from the start of that buffer to the jump.
        offset: usize,
    },
    /// A label that is not bound cannot be a target for other batches.
    #[error("label {label} of {batch} is not bound yet: `bind` it before others jump to it")]
    Nowhere {
        /// Name of the batch.
        batch: Arc<str>,
        /// Number of the label, in order of creation.
        label: usize,
    },
    /// Second-level batches cannot call others: hardware has two levels.
    #[error("{batch} is a second-level batch and cannot call {routine}: there is no third level")]
    Nested {
        /// The batch that called.
        batch: Arc<str>,
        /// The second-level batch that was called.
        routine: Arc<str>,
    },
    /// Only an empty batch can become a second-level batch.
    #[error("{batch} has packets already: only an empty batch can become a second-level batch")]
    NotEmpty {
        /// Name of the batch.
        batch: Arc<str>,
    },
    /// An error from an expression of [`mi`](crate::mi), for code that returns a [`BatchError`].
    #[cfg(all(feature = "std", feature = "registers"))]
    #[error(transparent)]
    Expression(Box<MiError>),
    /// Two buffers of a submission share addresses.
    #[error("{first} and {second} both have the address {address:#x}")]
    Overlap {
        /// The buffer that starts first.
        first: Arc<str>,
        /// The other buffer.
        second: Arc<str>,
        /// The first address that both have.
        address: u64,
    },
    /// A submission is relocated with fewer or more addresses than it has buffers.
    #[error("{given} addresses for {buffers} buffers: each needs one")]
    AddressCount {
        /// Number of addresses.
        given: usize,
        /// Number of buffers.
        buffers: usize,
    },
    /// Something that packets refer to is not in the submission.
    #[error("{at} refers to {object} at {address:#x}, which is not in the submission")]
    Missing {
        /// The packet or structure with the reference, and its position.
        at: Arc<str>,
        /// The object that is missing.
        object: Arc<str>,
        /// Address of the object.
        address: u64,
    },
    /// A base address points to none of the submission's buffers.
    #[error("{at}: {field} is {address:#x}, where no buffer of the submission is")]
    NoBuffer {
        /// The packet and its position.
        at: Arc<str>,
        /// The field with the base address.
        field: &'static str,
        /// The base address.
        address: u64,
    },
    /// An offset is relative to a base that no earlier STATE_BASE_ADDRESS has set.
    #[error(
        "{at}: {field} is an offset from the base of {space} space, which is not set yet: emit STATE_BASE_ADDRESS with this base and its Modify Enable, or call `assume_base`"
    )]
    NoBase {
        /// The packet and its position.
        at: Arc<str>,
        /// The field with the offset.
        field: &'static str,
        /// The space's name in the specification.
        space: &'static str,
    },
    /// An offset does not lead to a suitable structure in the heap. It is probably from another
    /// heap.
    #[error(
        "{at}: {field} is +{offset:#x} of {heap}, but {found}: does the offset belong to another heap?"
    )]
    Dangling {
        /// The packet or structure and its position.
        at: Arc<str>,
        /// The field with the offset.
        field: &'static str,
        /// The offset in the field.
        offset: u64,
        /// The buffer at the base.
        heap: Arc<str>,
        /// What the buffer has at the offset.
        found: Arc<str>,
    },
    /// A surface does not fit its buffer, or its pitch does not fit its tiling.
    #[error("the surface of {buffer} does not fit: {problem}")]
    Surface {
        /// The buffer's name.
        buffer: Arc<str>,
        /// What does not fit, with numbers.
        problem: Arc<str>,
    },
    /// The constants of threads are not whole registers for each thread.
    #[error(
        "{dwords} dwords of constants for {threads} threads: each needs the same number, a multiple of 8"
    )]
    Constants {
        /// Dwords of constants of all threads.
        dwords: usize,
        /// Number of threads.
        threads: u32,
    },
    /// A kernel has no instruction that ends the thread, so the thread runs into what follows it.
    #[error(
        "{at}: {kernel} has no instruction that ends the thread: end it with a `send` with {{EOT}}"
    )]
    NoEnd {
        /// The packet or structure that points to the kernel, and its position.
        at: Arc<str>,
        /// The kernel and its position.
        kernel: Arc<str>,
    },
    /// A kernel needs more than the state around it has.
    #[error(
        "{at}: the {room} has {has} {}, but the instruction at +{position:#x} of {kernel} needs {needed}: {}",
        room.unit(*has), room.hint()
    )]
    TooSmall {
        /// The packet or structure that runs the kernel, and its position.
        at: Arc<str>,
        /// What is too small.
        room: Room,
        /// What there is: entries or bytes.
        has: u32,
        /// What the kernel needs, in the same unit.
        needed: u32,
        /// The kernel and its position.
        kernel: Arc<str>,
        /// Bytes from the start of the kernel to the instruction.
        position: u64,
    },
}

genxml_core::debug_as_display!(BatchError);

/// State whose size a kernel depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Room {
    /// The binding table: messages name surfaces by their index.
    BindingTable,
    /// The table of samplers: messages name samplers by their index.
    SamplerTable,
    /// The scratch space of a thread, which scratch block messages access.
    Scratch,
    /// The URB entry that a vertex shader or domain shader writes.
    UrbEntry,
}

/// Why an expression or another operation of a builder of [`mi`](crate::mi) cannot be put into a
/// batch. This type and [`BatchError`] contain each other, so both are defined in one file.
#[cfg(all(feature = "std", feature = "registers"))]
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MiError {
    /// The batch does not accept the packet.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// All general registers are in use.
    #[error(
        "all {count} general registers are in use: drop kept values and variables, or keep a part of the expression \
         first"
    )]
    OutOfRegisters {
        /// Number of general registers.
        count: u32,
    },
    /// The requested general register is in use.
    #[error("general register {index} is in use")]
    RegisterInUse {
        /// Number of the register.
        index: u32,
    },
    /// There is no register with this index.
    #[error("there is no {name}[{index}]")]
    NoSuchRegister {
        /// The register's name.
        name: &'static str,
        /// The requested index.
        index: u32,
    },
    /// A general register was named by its offset, which bypasses the allocator of general
    /// registers.
    #[error(
        "the register at {offset:#x} is general register {index}, which the builder gives out itself: use \
         `Gprs::take({index})`"
    )]
    Managed {
        /// Byte offset of the register.
        offset: u32,
        /// Number of the general register.
        index: u32,
    },
    /// A stored value or variable belongs to a builder with other general registers.
    #[error(
        "general register {index} belongs to another builder: share the registers of both with \
         `Builder::with_gprs`"
    )]
    Foreign {
        /// Number of the general register.
        index: u32,
    },
    /// The expression is nested so deeply that walking it could overflow the stack.
    #[error("the expression is nested more than {limit} operations deep: keep a part of it first")]
    TooDeep {
        /// Largest depth allowed.
        limit: u32,
    },
    /// A division by the constant 0.
    #[error("division by zero")]
    DivisionByZero,
    /// An address or a register offset that its field cannot hold.
    #[error("{what}: {source}")]
    Range {
        /// Description of the value.
        what: &'static str,
        /// Why it does not fit.
        source: OutOfRange,
    },
}

#[cfg(all(feature = "std", feature = "registers"))]
genxml_core::debug_as_display!(MiError);

#[cfg(all(feature = "std", feature = "registers"))]
impl MiError {
    /// The function for `map_err` that converts an [`OutOfRange`] to this error; `what` names the
    /// value.
    pub(crate) fn range(what: &'static str) -> impl Fn(OutOfRange) -> MiError {
        move |source| MiError::Range { what, source }
    }
}

#[cfg(all(feature = "std", feature = "registers"))]
impl From<MiError> for BatchError {
    fn from(error: MiError) -> Self {
        match error {
            MiError::Batch(error) => error,
            error => BatchError::Expression(Box::new(error)),
        }
    }
}

impl From<OutOfRange> for BatchError {
    fn from(error: OutOfRange) -> Self {
        BatchError::Value(Box::new(error))
    }
}

impl From<FieldError> for BatchError {
    fn from(error: FieldError) -> Self {
        BatchError::Field(Box::new(error))
    }
}

/// `?` in a field of `packet!` returns this error unchanged.
impl genxml_core::fit::Named for BatchError {
    type Error = BatchError;
    fn named(self, _: &'static genxml_core::At) -> BatchError {
        self
    }
}
