//! Names of atomic operations.

use crate::gen8::eu_messages as msd;

/// IGA's words for an atomic operation.
pub(super) fn operation(operation: msd::MdcAop) -> &'static str {
    match operation {
        msd::MdcAop::AOP_AND => "logical AND",
        msd::MdcAop::AOP_OR => "logical OR",
        msd::MdcAop::AOP_XOR => "logical XOR",
        msd::MdcAop::AOP_MOV => "store",
        msd::MdcAop::AOP_INC => "integer increment",
        msd::MdcAop::AOP_DEC => "integer decrement",
        msd::MdcAop::AOP_ADD => "integer add",
        msd::MdcAop::AOP_SUB => "integer subtract",
        msd::MdcAop::AOP_REVSUB => "commuted integer subtract",
        msd::MdcAop::AOP_IMAX => "signed-integer max",
        msd::MdcAop::AOP_IMIN => "signed-integer min",
        msd::MdcAop::AOP_UMAX => "unsigned-integer max",
        msd::MdcAop::AOP_UMIN => "unsigned-integer min",
        msd::MdcAop::AOP_CMPWR => "integer compare and swap",
        msd::MdcAop::AOP_PREDEC => "integer pre-decrement (returns pre-decrement value)",
        _ => "64b integer compare and swap",
    }
}
