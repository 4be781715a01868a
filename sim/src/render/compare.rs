//! The eight comparisons of depth, stencil and alpha tests (2b p.3).

use genxml::gen8::enums::ThreeDCompareFunction;

/// A comparison: whether less, equal, greater and unordered values pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compare {
    /// A value less than the reference passes.
    pub less: bool,
    /// A value equal to the reference passes.
    pub equal: bool,
    /// A value greater than the reference passes.
    pub greater: bool,
    /// If the value or the reference is NaN, the value passes.
    pub unordered: bool,
}

impl Compare {
    /// Everything passes.
    pub const ALWAYS: Compare = Compare::new([true; 4]);
    /// Nothing passes.
    pub const NEVER: Compare = Compare::new([false; 4]);

    const fn new([less, equal, greater, unordered]: [bool; 4]) -> Compare {
        Compare { less, equal, greater, unordered }
    }

    /// The comparison that a field selects; all eight values of its three bits are defined.
    pub fn of(function: ThreeDCompareFunction) -> Compare {
        use ThreeDCompareFunction as F;
        match function {
            F::COMPAREFUNCTION_NEVER => Compare::NEVER,
            F::COMPAREFUNCTION_LESS => Compare::new([true, false, false, false]),
            F::COMPAREFUNCTION_EQUAL => Compare::new([false, true, false, false]),
            F::COMPAREFUNCTION_LEQUAL => Compare::new([true, true, false, false]),
            F::COMPAREFUNCTION_GREATER => Compare::new([false, false, true, false]),
            F::COMPAREFUNCTION_NOTEQUAL => Compare::new([true, false, true, true]),
            F::COMPAREFUNCTION_GEQUAL => Compare::new([false, true, true, false]),
            _ => Compare::ALWAYS,
        }
    }

    /// The manual's name.
    pub fn name(self) -> &'static str {
        let mut functions = (0..8).map(ThreeDCompareFunction::from_bits);
        let function = functions.find(|function| Compare::of(*function) == self);
        function.and_then(ThreeDCompareFunction::name).unwrap_or("?")
    }

    /// True if the outcome depends on the values.
    pub fn looks(self) -> bool {
        self != Compare::ALWAYS && self != Compare::NEVER
    }

    /// Compares integers.
    #[inline(always)]
    pub fn integers(self, value: u32, reference: u32) -> bool {
        self.less & (value < reference)
            | self.equal & (value == reference)
            | self.greater & (value > reference)
    }

    /// Compares floats; both zeros are equal.
    #[inline(always)]
    pub fn floats(self, value: f32, reference: f32) -> bool {
        // Without branches, so that the compiler can compare vectors.
        self.less & (value < reference)
            | self.equal & (value == reference)
            | self.greater & (value > reference)
            | self.unordered & (value.is_nan() | reference.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: Rust's operators, by the table of 2b p.3.
    #[test]
    fn all_functions() {
        type Pass = fn(f32, f32) -> bool;
        let table: [Pass; 8] = [
            |_, _| true,
            |_, _| false,
            |a, b| a < b,
            |a, b| a == b,
            |a, b| a <= b,
            |a, b| a > b,
            |a, b| a != b,
            |a, b| a >= b,
        ];
        let values = [0.0, -0.0, 1.0, -1.0, 0.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];
        for (code, pass) in table.into_iter().enumerate() {
            let compare = Compare::of(ThreeDCompareFunction::from_bits(code as u64));
            assert_eq!(compare.looks(), code > 1);
            for a in values {
                for b in values {
                    assert_eq!(compare.floats(a, b), pass(a, b), "{code}: {a} {b}");
                }
            }
            for a in [0u32, 1, 7, 255, 0xff_ffff, u32::MAX] {
                for b in [0u32, 1, 7, 255, 0xff_ffff, u32::MAX] {
                    let exact = match code {
                        0 => true,
                        1 => false,
                        2 => a < b,
                        3 => a == b,
                        4 => a <= b,
                        5 => a > b,
                        6 => a != b,
                        _ => a >= b,
                    };
                    assert_eq!(compare.integers(a, b), exact);
                }
            }
        }
    }
}
