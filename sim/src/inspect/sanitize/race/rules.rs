//! The rules of the sanitizer `race`.

use super::super::finding::Rule;
use genxml::core::rule::Severity;

/// All rules.
pub const RULES: &[Rule] = &[
    Rule {
        id: "RACE-LOCAL",
        severity: Severity::Error,
        message: "two threads access the same shared local memory without order, and one writes",
        remedy: "between them, all threads of the group must report to the barrier and wait for it",
        source: "2d p.114, G45 vol 4, 7.1; facts: Mesa brw_fs_nir.cpp",
    },
    Rule {
        id: "RACE-MEMORY",
        severity: Severity::Error,
        message: "two threads access the same memory without order, and one writes",
        remedy: "use a barrier if both are in one group, else atomic operations, a fence before an \
                 atomic operation that both use, or another packet",
        source: "2d p.114; facts: Mesa brw_fs_nir.cpp",
    },
    Rule {
        id: "RACE-ATOMIC",
        severity: Severity::Error,
        message: "one thread uses an atomic operation, another one an ordinary access, without \
                  order",
        remedy: "use atomic operations on both sides, or a barrier between them",
        source: "2d p.14-16; facts: Mesa brw_fs_nir.cpp",
    },
    Rule {
        id: "RACE-RENDER-TARGET",
        severity: Severity::Error,
        message: "a thread accesses a pixel of a render target that another thread of the draw \
                  writes",
        remedy: "use two draws with a flush of the render target cache between them",
        source: "2a p.1; facts: Mesa iris_resolve.c, GL_ARB_texture_barrier",
    },
];

/// Accesses to shared local memory.
pub const fn local() -> &'static Rule {
    &RULES[0]
}

/// Accesses to memory.
pub const fn memory() -> &'static Rule {
    &RULES[1]
}

/// An atomic operation and another access.
pub const fn atomic() -> &'static Rule {
    &RULES[2]
}

/// A render target and another access.
pub const fn render_target() -> &'static Rule {
    &RULES[3]
}
