//! The rules of the sanitizer `flush`.

use super::super::finding::Rule;
use super::caches::Holder;

/// The order of writes through different caches.
const OVERWRITTEN: usize = 7;

/// All rules. First those of caches that hold writes, then that of the order of writes, then those
/// of caches that hold lines they have read.
pub const RULES: &[Rule] = &[
    Rule::error(
        "FLUSH-RENDER-TARGET",
        "the data is still in the render target cache",
        "between them, flush it: PIPE_CONTROL with Render Target Cache Flush Enable",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "FLUSH-DEPTH",
        "the data is still in the depth cache",
        "between them, flush it: PIPE_CONTROL with Depth Cache Flush Enable",
        "2a p.56; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "FLUSH-DATA",
        "the data is still in the data cache",
        "between them, flush it: PIPE_CONTROL with DC Flush Enable",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "FLUSH-STREAM-OUT",
        "the data of stream output is still on its way to memory",
        "between them, wait for it: PIPE_CONTROL with Pipe Control Flush Enable or a stall",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "FLUSH-BLITTER",
        "the blitter has not written the data to memory yet",
        "between them, use MI_FLUSH_DW on the blitter",
        "facts: Linux i915 gen8_emit_flush_xcs",
    ),
    Rule::error(
        "FLUSH-VIDEO",
        "the video engine has not written the data to memory yet",
        "between them, use MI_FLUSH_DW on the video engine",
        "facts: Linux i915 gen8_emit_flush_xcs",
    ),
    Rule::error(
        "FLUSH-VIDEO-ENHANCE",
        "the video enhancement engine has not written the data to memory yet",
        "between them, use MI_FLUSH_DW on the video enhancement engine",
        "facts: Linux i915 gen8_emit_flush_xcs",
    ),
    Rule::error(
        "FLUSH-WRITE-ORDER",
        "a later flush of another cache can replace this data with older data",
        "between them, flush the cache of the first write",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "INVALIDATE-RENDER-TARGET",
        "the render target cache may hold older data",
        "between them, use PIPE_CONTROL with Render Target Cache Flush Enable: it drops the lines",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "INVALIDATE-DEPTH",
        "the depth cache may hold older data",
        "between them, use PIPE_CONTROL with Depth Cache Flush Enable: it drops the lines",
        "2a p.56; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "INVALIDATE-DATA",
        "the data cache may hold older data",
        "between them, use PIPE_CONTROL with DC Flush Enable: it drops the lines",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "INVALIDATE-TEXTURE",
        "the texture cache may hold older data",
        "between them, use PIPE_CONTROL with Texture Cache Invalidation Enable",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "INVALIDATE-CONSTANT",
        "the constant cache may hold older data",
        "between them, use PIPE_CONTROL with Constant Cache Invalidation Enable",
        "2a p.1; facts: Mesa iris_pipe_control.c",
    ),
    Rule::error(
        "INVALIDATE-VERTEX",
        "the vertex fetch cache may hold older data",
        "between them, use PIPE_CONTROL with VF Cache Invalidation Enable",
        "2a p.243",
    ),
    Rule::error(
        "INVALIDATE-STATE",
        "the state cache may hold older data",
        "between them, use PIPE_CONTROL with State Cache Invalidation Enable",
        "facts: Mesa genX_cmd_buffer.c, Linux i915 gen8_emit_flush_rcs",
    ),
    Rule::error(
        "INVALIDATE-INSTRUCTION",
        "the instruction cache may hold older data",
        "between them, use PIPE_CONTROL with Instruction Cache Invalidate Enable",
        "facts: Mesa genX_cmd_buffer.c, Linux i915 gen8_emit_flush_rcs",
    ),
    Rule::error(
        "INVALIDATE-VIDEO",
        "the caches of the video engine may hold older data",
        "between them, use MI_FLUSH_DW with Video Pipeline Cache Invalidate",
        "facts: intel/media-driver mhw_mi_hwcmd_g8_X.h",
    ),
];

/// The rule for a write that is still in `holder`.
pub const fn not_flushed(holder: Holder) -> &'static Rule {
    &RULES[match holder {
        Holder::RenderTarget => 0,
        Holder::Depth => 1,
        Holder::Data => 2,
        Holder::StreamOut => 3,
        Holder::Blitter => 4,
        Holder::Video => 5,
        // The other holders do not keep writes.
        _ => 6,
    }]
}

/// The rule for a write over data that is still in another cache.
pub const fn overwritten() -> &'static Rule {
    &RULES[OVERWRITTEN]
}

/// The rule for a read through `holder`, which may hold older data.
pub const fn not_invalidated(holder: Holder) -> &'static Rule {
    &RULES[OVERWRITTEN
        + match holder {
            Holder::RenderTarget => 1,
            Holder::Depth => 2,
            Holder::Data => 3,
            Holder::Texture => 4,
            Holder::Constant => 5,
            Holder::Vertex => 6,
            Holder::State => 7,
            Holder::Instruction => 8,
            // The other holders do not keep lines.
            _ => 9,
        }]
}
