//! The state of the display, and the ids of its objects.

use crate::uapi::mode;

/// Id of the one CRTC.
pub const CRTC: u32 = 31;
/// Id of the one encoder.
pub(super) const ENCODER: u32 = 32;
/// Id of the one connector.
pub(super) const CONNECTOR: u32 = 33;
/// Id of the primary plane.
pub(super) const PLANE: u32 = 34;

/// 1 in the 16.16 fixed-point format of source rectangles.
pub(super) const ONE: u32 = 1 << 16;

/// The state of the display.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    /// Mode of the CRTC.
    pub(crate) mode: Option<mode::ModeInfo>,
    /// True if the CRTC is active.
    pub(crate) active: bool,
    /// True if the connector is attached to the CRTC.
    pub(crate) connector: bool,
    /// True if the plane is attached to the CRTC.
    pub(crate) plane: bool,
    /// Frame buffer of the plane, or 0.
    pub(crate) fb: u32,
    /// Source rectangle in the frame buffer: x, y, width and height, 16.16 fixed point.
    pub(crate) source: [u32; 4],
    /// Destination rectangle on the CRTC: x, y, width and height.
    pub(crate) destination: [i32; 4],
}

impl State {
    /// True if changing from `before` to this state is a modeset.
    pub(crate) fn sets_mode(&self, before: &State) -> bool {
        let timing = |state: &State| state.mode.map(|mode| bytemuck::bytes_of(&mode).to_vec());
        (self.active, self.connector) != (before.active, before.connector)
            || timing(self) != timing(before)
    }
}
