//! ATOMIC, OBJ_SETPROPERTY: the state that a client requests with properties of objects.

use super::display::Kms;
use super::held::Held;
use super::properties::{Property, property_of, settable};
use super::state::{CRTC, PLANE, State};
use crate::device::host::Host;
use crate::uapi::mode;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// The state that a client requests.
pub(crate) struct Commit {
    pub(crate) state: State,
    /// True if the client sets FB_ID, maybe to the current frame buffer.
    pub(crate) flips: bool,
    /// Fences that must signal before the commit (IN_FENCE_FD).
    pub(crate) before: Vec<OwnedFd>,
    /// Address at which the descriptor of the out-fence is stored (OUT_FENCE_PTR).
    pub(crate) after: Option<u64>,
}

impl Kms {
    /// The current state.
    fn unchanged(&self) -> Commit {
        Commit { state: self.state, flips: false, before: Vec::new(), after: None }
    }

    /// The current state with one property changed.
    ///
    /// # Errors
    /// ENOENT if no object has the id and the type; EINVAL if the object lacks the property, if the
    /// property is read-only, or if the value is wrong. (Linux drm_mode_object.c)
    pub(crate) fn wanted_by_property(
        &self,
        host: &dyn Host,
        arg: &mode::ObjSetProperty,
    ) -> Result<Commit, Errno> {
        self.find(arg.obj_id, arg.obj_type)?;
        let mut commit = self.unchanged();
        match property_of(arg.obj_id, arg.prop_id).ok_or(Errno::INVAL)? {
            // Any value but 0 (on) means off. Without a CRTC there is nothing to switch. (Linux
            // drm_atomic_uapi.c, drm_atomic_connector_commit_dpms)
            Property::Dpms if commit.state.connector => commit.state.active = arg.value == 0,
            Property::Dpms => {}
            _ => {
                let property = settable(arg.obj_id, arg.prop_id, arg.value)?;
                self.set(host, &mut commit, arg.obj_id, property, arg.value)?;
            }
        }
        Ok(commit)
    }

    /// The current state with the client's changes.
    pub(crate) fn wanted(
        &self,
        host: &dyn Host,
        held: Held,
        arg: &mode::Atomic,
    ) -> Result<Commit, Errno> {
        let objects: Vec<u32> = host.array(arg.objs_ptr, arg.count_objs.into())?;
        objects.iter().try_for_each(|object| held.find(*object))?;
        let counts: Vec<u32> = host.array(arg.count_props_ptr, arg.count_objs.into())?;
        let total = counts.iter().map(|count| u64::from(*count)).sum();
        let ids: Vec<u32> = host.array(arg.props_ptr, total)?;
        let values: Vec<u64> = host.array(arg.prop_values_ptr, total)?;
        let named =
            objects.iter().zip(&counts).flat_map(|(object, count)| (0..*count).map(|_| *object));
        let mut commit = self.unchanged();
        for ((object, id), value) in named.zip(ids).zip(values) {
            self.set(host, &mut commit, object, settable(object, id, value)?, value)?;
        }
        Ok(commit)
    }

    fn set(
        &self,
        host: &dyn Host,
        commit: &mut Commit,
        object: u32,
        property: Property,
        value: u64,
    ) -> Result<(), Errno> {
        let state = &mut commit.state;
        // `settable` has checked the value against the property's range.
        let (number, signed) = (value as u32, value as i32);
        match property {
            Property::FbId => {
                if number != 0 && !self.frame_buffers.contains_key(&number) {
                    return Err(Errno::INVAL);
                }
                (state.fb, commit.flips) = (number, true);
            }
            Property::CrtcId => {
                let on = match number {
                    0 => false,
                    CRTC => true,
                    _ => return Err(Errno::INVAL),
                };
                *(if object == PLANE { &mut state.plane } else { &mut state.connector }) = on;
            }
            Property::SrcX => state.source[0] = number,
            Property::SrcY => state.source[1] = number,
            Property::SrcW => state.source[2] = number,
            Property::SrcH => state.source[3] = number,
            Property::CrtcX => state.destination[0] = signed,
            Property::CrtcY => state.destination[1] = signed,
            Property::CrtcW => state.destination[2] = signed,
            Property::CrtcH => state.destination[3] = signed,
            Property::InFenceFd if signed < 0 => {}
            Property::InFenceFd => {
                commit.before.push(host.sync_file(signed)?);
            }
            Property::ModeId if number == 0 => state.mode = None,
            Property::ModeId => {
                let bytes = self.blob(number).ok_or(Errno::INVAL)?;
                let mode = bytemuck::try_pod_read_unaligned(&bytes).map_err(|_| Errno::INVAL)?;
                state.mode = Some(mode);
            }
            Property::Active => state.active = value != 0,
            Property::OutFencePtr => commit.after = (value != 0).then_some(value),
            Property::Type | Property::InFormats | Property::Dpms => return Err(Errno::INVAL),
        }
        Ok(())
    }
}
