//! The rules of the sanitizer `state`.

use super::super::finding::Rule;
use genxml::core::rule::Severity;

/// What to do about a stale vertex, index or constant buffer.
const STALE_BUFFER: &str = "send the packet again with the new address, or keep the object and \
     list it in every submission whose draws read it";

/// All rules.
pub const RULES: &[Rule] = &[
    Rule::error(
        "STATE-UNSET",
        "the draw uses state that no packet of this context has set",
        "set it before the first draw of the context: the state is what the kernel left there",
        "the page of the packet; facts: Linux i915 gt/gen8_renderstate.c",
    ),
    Rule::error(
        "STATE-LOST",
        "the draw uses media state that was cleared",
        "send the packet again after the PIPE_CONTROL",
        "facts: intel/media-driver mhw_mi_hwcmd_g8_X.h (Generic Media State Clear)",
    ),
    Rule::error(
        "STATE-INVALID",
        "the draw uses state whose pointer is marked as not valid",
        "send the packet again with a pointer and the valid bit",
        "2a p.31, p.33",
    ),
    Rule::error(
        "STATE-PIPELINE",
        "the draw runs in a pipeline that is not the selected one",
        "select the pipeline first: PIPELINE_SELECT",
        "2a p.453, p.489; facts: intel/media-driver mhw_render_hwcmd_g8_X.h",
    ),
    Rule::error(
        "STATE-STALE-BASE",
        "the draw uses a pointer that was set relative to another base address",
        "send the packet with the pointer again after the base has changed",
        "Sandy Bridge vol 1 part 1 p.28; facts: intel/media-driver mhw_render_hwcmd_g8_X.h",
    ),
    Rule {
        id: "STATE-STALE-MEMORY",
        severity: Severity::Warning,
        message: "other memory is mapped at the pointer than when an earlier draw used it",
        remedy: "send the packet with the pointer again, so that the state is fetched again",
        source: "2a p.31, p.33",
    },
    Rule::error(
        "STATE-STALE-VERTICES",
        "the draw reads a vertex buffer whose memory is no longer what it was when it was set",
        STALE_BUFFER,
        "2a p.243; facts: Linux i915_drm.h drm_i915_gem_exec_object2; Mesa iris_batch.c",
    ),
    Rule::error(
        "STATE-STALE-INDICES",
        "the draw reads an index buffer whose memory is no longer what it was when it was set",
        STALE_BUFFER,
        "2a p.136; facts: Linux i915_drm.h drm_i915_gem_exec_object2; Mesa iris_batch.c",
    ),
    Rule::error(
        "STATE-STALE-CONSTANTS",
        "the draw reads push constants whose memory is no longer what it was when they were set",
        STALE_BUFFER,
        "2d p.1-3; facts: Linux i915_drm.h drm_i915_gem_exec_object2; Mesa iris_batch.c",
    ),
    Rule::error(
        "STATE-RESERVED-VALUE",
        "the draw reads a structure with a value that the manual reserves",
        "use one of the values that the manual lists",
        "the page of the structure",
    ),
    Rule::error(
        "STATE-RESERVED-BITS",
        "the draw reads a structure with bits set that must be zero",
        "write zero there",
        "the page of the structure",
    ),
];

/// Index in [`RULES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Id {
    /// STATE-UNSET.
    Unset,
    /// STATE-LOST.
    Lost,
    /// STATE-INVALID.
    Invalid,
    /// STATE-PIPELINE.
    Pipeline,
    /// STATE-STALE-BASE.
    StaleBase,
    /// STATE-STALE-MEMORY.
    StaleMemory,
    /// STATE-STALE-VERTICES.
    StaleVertices,
    /// STATE-STALE-INDICES.
    StaleIndices,
    /// STATE-STALE-CONSTANTS.
    StaleConstants,
    /// STATE-RESERVED-VALUE.
    ReservedValue,
    /// STATE-RESERVED-BITS.
    ReservedBits,
}

impl Id {
    /// The rule.
    pub const fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }
}
