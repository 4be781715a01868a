//! State that setup packets set for later packets.

use super::operation::Rectangle;
use crate::machine::slots::UnitState;
use genxml::gen8::blitter::{XySetupBlt, XySetupMonoPatternSlBlt};

impl UnitState for SetupState {}

/// The state of setup packets in a context.
#[derive(Clone, Debug, Default)]
pub struct SetupState {
    /// The latest setup packet.
    pub setup: Option<Setup>,
    /// The clip rectangle of the latest setup packet or XY_SETUP_CLIP_BLT, whichever came last.
    pub clip: Option<Rectangle>,
}

/// A setup packet.
#[derive(Clone, Copy, Debug)]
pub enum Setup {
    /// With a colour pattern.
    Color(XySetupBlt),
    /// With a monochrome pattern.
    Mono(XySetupMonoPatternSlBlt),
}
