//! A decoded render target write.

use crate::unit::render_cache::{self, SLOTS};

/// A render target write.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Write {
    /// Pixels, colours and source depths. `entry`, `alpha` and `omask` are not used.
    pub base: render_cache::Write,
    /// Mask of the slots that were dispatched.
    pub dispatched: u16,
    /// Mask of the slots that the kernel discarded by clip distance; PS_INVOCATIONS does not count
    /// them.
    pub clipped_out: u16,
    /// Depths that the pixels had when the thread was dispatched, as the thread received them. If
    /// they are present, the depth test is due.
    pub destination_depth: Option<[u32; SLOTS]>,
    /// Stencil values that the pixels had when the thread was dispatched. If they are present, the
    /// stencil test is due.
    pub destination_stencil: Option<[u8; SLOTS]>,
    /// Alpha of antialiased lines, in 1/255.
    pub antialias: Option<[u8; SLOTS]>,
    /// Graphics address of COLOR_CALC_STATE, as the header gives it.
    pub color_calc: u64,
    /// True if the message ends the thread.
    pub eot: bool,
    /// Debugging: the bits that the pixels get instead of their colours (RC_DEF_CLR).
    pub constant: Option<u32>,
}
