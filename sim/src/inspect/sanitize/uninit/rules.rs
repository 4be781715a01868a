//! The rules of the sanitizer `uninit`.

use super::super::finding::Rule;
use genxml::core::rule::Severity;

const fn rule(id: &'static str, message: &'static str, source: &'static str) -> Rule {
    Rule::error(id, message, REMEDY, source)
}

const REMEDY: &str = "write the register for the same channels first; the payload of the thread \
                      has only the registers that the state asks for";

/// All rules.
pub const RULES: &[Rule] = &[
    rule(
        "UNINIT-CONTROL",
        "control flow depends on a register that the thread did not write",
        "004:2634-2819; 2a 3DSTATE_PS; gen8_facts 3.6",
    ),
    rule(
        "UNINIT-ADDRESS",
        "an address or a coordinate depends on a register that the thread did not write",
        "004:2634-2819; gen8_facts 3.6",
    ),
    rule(
        "UNINIT-OUTPUT",
        "a message writes data that depends on a register that the thread did not write",
        "004:2634-2819; gen8_facts 3.6",
    ),
    Rule {
        id: "UNINIT-LOCAL",
        severity: Severity::Error,
        message: "no thread of the group wrote the shared local memory before",
        remedy: "write it first, and use a barrier between the write and the read",
        source: "2d p.232",
    },
];

/// Index in [`RULES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Id {
    /// UNINIT-CONTROL.
    Control,
    /// UNINIT-ADDRESS.
    Address,
    /// UNINIT-OUTPUT.
    Output,
    /// UNINIT-LOCAL.
    Local,
}

impl Id {
    /// The rule.
    pub const fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }
}
