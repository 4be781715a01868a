//! The display: one connector with a monitor, one CRTC with its primary plane. A flip waits for
//! rendering to the frame buffer, then completes and sends its event at once. Displayed images go
//! to captures and image files.
//!
//! * `state`: the state of the display, and the ids of its objects; `buffers`: frame buffers;
//! * `display`: [`Kms`], which has all of these;
//! * `resources`: queries about the display, SETCRTC, vertical blanks; `properties`: properties of
//!   display objects; `atomic`: the state that an atomic commit requests;
//! * `held`: the objects that a client may use; `lease`: leases of objects from the master.
//!
//! The ioctls that use objects, such as page flips, are in `ioctl`.

mod atomic;
mod buffers;
mod display;
mod held;
mod lease;
mod properties;
mod resources;
mod state;

pub(crate) use atomic::Commit;
pub use buffers::FrameBuffer;
pub(crate) use buffers::{DEPTHS, FORMATS, MAX_EXTENT, MODIFIERS, WITH_ALPHA, fourcc};
pub use display::Kms;
pub(crate) use held::Held;
pub(crate) use properties::CONNECTOR_TYPE;
pub use properties::ClientCaps;
pub use state::CRTC;
pub(crate) use state::State;
