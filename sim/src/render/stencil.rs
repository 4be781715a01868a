//! The stencil test of one face, and its operations (2a p.269-273).

use super::compare::Compare;
use genxml::gen8::enums::ThreeDStencilOperation;

/// The outcome of the tests of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The sample failed the stencil test.
    Failed,
    /// The sample passed the stencil test and failed the depth test.
    DepthFailed,
    /// The sample passed both tests.
    Passed,
}

/// The test of front or back faces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Face {
    /// The comparison of the reference with the stored value.
    pub function: Compare,
    /// The operation for each [`Outcome`].
    pub operations: [ThreeDStencilOperation; 3],
    /// Stencil Test Mask: bits of both values that are compared.
    pub test_mask: u8,
    /// Stencil Write Mask: bits that are written.
    pub write_mask: u8,
    /// Stencil Reference Value.
    pub reference: u8,
}

impl Face {
    /// True if a sample passes the test with this stored value.
    #[inline(always)]
    pub fn passes(&self, stored: u8) -> bool {
        let mask = self.test_mask;
        self.function.integers((self.reference & mask).into(), (stored & mask).into())
    }

    /// The value to store after the tests, from the stored one.
    #[inline(always)]
    pub fn update(&self, stored: u8, outcome: Outcome) -> u8 {
        let new = operate(self.operations[outcome as usize], stored, self.reference);
        stored & !self.write_mask | new & self.write_mask
    }

    /// True if some outcome can change the stored value.
    pub fn writes(&self) -> bool {
        let keeps = |&operation: &_| operation == ThreeDStencilOperation::STENCILOP_KEEP;
        self.write_mask != 0 && !self.operations.iter().all(keeps)
    }

    /// True if a sample that fails the stencil or depth test can change the stored value.
    pub fn marks_failures(&self) -> bool {
        let [failed, depth_failed, _] = self.operations;
        Face { operations: [failed, depth_failed, ThreeDStencilOperation::STENCILOP_KEEP], ..*self }
            .writes()
    }
}

/// The result of an operation on the stored value. INCR and DECR wrap, INCRSAT and DECRSAT clamp.
#[inline(always)]
fn operate(operation: ThreeDStencilOperation, stored: u8, reference: u8) -> u8 {
    use ThreeDStencilOperation as Op;
    match operation {
        Op::STENCILOP_ZERO => 0,
        Op::STENCILOP_REPLACE => reference,
        Op::STENCILOP_INCRSAT => stored.saturating_add(1),
        Op::STENCILOP_DECRSAT => stored.saturating_sub(1),
        Op::STENCILOP_INCR => stored.wrapping_add(1),
        Op::STENCILOP_DECR => stored.wrapping_sub(1),
        Op::STENCILOP_INVERT => !stored,
        _ => stored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::gen8::enums::ThreeDCompareFunction;

    /// Oracle: the operations as Direct3D 11 and OpenGL define them, computed in `i32`. Tests all
    /// operations and stored values, with a few references and write masks.
    #[test]
    fn operations_and_masks() {
        for code in 0..8u64 {
            let operation = ThreeDStencilOperation::from_bits(code);
            for stored in 0..=255u8 {
                for (reference, write_mask) in
                    [(0u8, 255u8), (255, 255), (0x5a, 0x0f), (0x81, 0x80), (7, 0)]
                {
                    let face = Face {
                        function: Compare::ALWAYS,
                        operations: [operation; 3],
                        test_mask: 255,
                        write_mask,
                        reference,
                    };
                    let old = i32::from(stored);
                    let new = match code {
                        0 => old,
                        1 => 0,
                        2 => reference.into(),
                        3 => (old + 1).min(255),
                        4 => (old - 1).max(0),
                        5 => (old + 1) % 256,
                        6 => (old + 255) % 256,
                        _ => 255 - old,
                    };
                    let mut expected = 0;
                    for bit in 0..8 {
                        let from = if write_mask >> bit & 1 == 1 { new } else { old };
                        expected |= from & 1 << bit;
                    }
                    for outcome in [Outcome::Failed, Outcome::DepthFailed, Outcome::Passed] {
                        assert_eq!(
                            i32::from(face.update(stored, outcome)),
                            expected,
                            "{code} {stored}"
                        );
                    }
                    assert!(face.writes() || face.update(stored, Outcome::Passed) == stored);
                }
            }
        }
    }

    /// Oracle: Rust's operators on masked values, with the reference as the left operand.
    #[test]
    fn the_reference_stands_on_the_left() {
        for code in 0..8u64 {
            for mask in [0xffu8, 0x0f, 0x80, 0] {
                for reference in (0..=255u8).step_by(5) {
                    let face = Face {
                        function: Compare::of(ThreeDCompareFunction::from_bits(code)),
                        operations: [ThreeDStencilOperation::STENCILOP_KEEP; 3],
                        test_mask: mask,
                        write_mask: 0xff,
                        reference,
                    };
                    for stored in 0..=255u8 {
                        let (a, b) = (reference & mask, stored & mask);
                        let expected = [true, false, a < b, a == b, a <= b, a > b, a != b, a >= b]
                            [code as usize];
                        assert_eq!(
                            face.passes(stored),
                            expected,
                            "{code} {mask} {reference} {stored}"
                        );
                    }
                    assert!(!face.writes());
                }
            }
        }
    }
}
