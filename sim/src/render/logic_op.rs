//! Logic operations: Boolean functions of the bits of a source and a destination element (2b p.4).

use genxml::gen8::enums::ThreeDLogicOpFunction;

/// One of the sixteen logic operations. Bit 2s + d of its code is the result for source bit s and
/// destination bit d.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogicOp(u8);

impl LogicOp {
    /// The logic operation that a field selects.
    pub fn of(function: ThreeDLogicOpFunction) -> LogicOp {
        LogicOp(function.bits() as u8)
    }

    /// True if the result depends on the destination.
    pub fn reads_destination(self) -> bool {
        (self.0 >> 1 ^ self.0) & 0b0101 != 0
    }

    /// Applies the function to all bits of a source and a destination byte.
    #[inline(always)]
    pub fn apply(self, source: u8, destination: u8) -> u8 {
        let term = |code: u8| 0u8.wrapping_sub(self.0 >> code & 1);
        source & destination & term(3)
            | source & !destination & term(2)
            | !source & destination & term(1)
            | !source & !destination & term(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the descriptions of 2b p.4, as Rust's operators; all bytes.
    #[test]
    fn all_functions() {
        type Function = fn(u8, u8) -> u8;
        let table: [(ThreeDLogicOpFunction, Function, bool); 16] = [
            (ThreeDLogicOpFunction::LOGICOP_CLEAR, |_, _| 0, false),
            (ThreeDLogicOpFunction::LOGICOP_NOR, |s, d| !(s | d), true),
            (ThreeDLogicOpFunction::LOGICOP_AND_INVERTED, |s, d| !s & d, true),
            (ThreeDLogicOpFunction::LOGICOP_COPY_INVERTED, |s, _| !s, false),
            (ThreeDLogicOpFunction::LOGICOP_AND_REVERSE, |s, d| s & !d, true),
            (ThreeDLogicOpFunction::LOGICOP_INVERT, |_, d| !d, true),
            (ThreeDLogicOpFunction::LOGICOP_XOR, |s, d| s ^ d, true),
            (ThreeDLogicOpFunction::LOGICOP_NAND, |s, d| !(s & d), true),
            (ThreeDLogicOpFunction::LOGICOP_AND, |s, d| s & d, true),
            (ThreeDLogicOpFunction::LOGICOP_EQUIV, |s, d| !(s ^ d), true),
            (ThreeDLogicOpFunction::LOGICOP_NOOP, |_, d| d, true),
            (ThreeDLogicOpFunction::LOGICOP_OR_INVERTED, |s, d| !s | d, true),
            (ThreeDLogicOpFunction::LOGICOP_COPY, |s, _| s, false),
            (ThreeDLogicOpFunction::LOGICOP_OR_REVERSE, |s, d| s | !d, true),
            (ThreeDLogicOpFunction::LOGICOP_OR, |s, d| s | d, true),
            (ThreeDLogicOpFunction::LOGICOP_SET, |_, _| 0xff, false),
        ];
        for (name, function, reads) in table {
            let op = LogicOp::of(name);
            assert_eq!(op.reads_destination(), reads, "{name:?}");
            for s in 0..=255 {
                for d in 0..=255 {
                    assert_eq!(op.apply(s, d), function(s, d), "{name:?} {s:#x} {d:#x}");
                }
            }
        }
    }
}
