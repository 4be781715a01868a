//! Why an expression cannot be put into a batch.

use super::error::BatchError;
use genxml_core::OutOfRange;

/// Why an expression or another operation of a builder of [`mi`](crate::mi) cannot be put into a
/// batch. It is defined here and not in `mi`, because this type and [`BatchError`] contain each
/// other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MiError {
    /// The batch does not take the packet.
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

impl MiError {
    /// The function for `map_err` that makes an error of [`OutOfRange`]; `what` names the value.
    pub(crate) fn range(what: &'static str) -> impl Fn(OutOfRange) -> MiError {
        move |source| MiError::Range { what, source }
    }
}
