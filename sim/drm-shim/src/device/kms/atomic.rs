//! ATOMIC: sets all requested properties of several objects at once, or none of them.

use super::properties::{Property, settable};
use super::{Kms, PLANE, State};
use crate::device::descriptor;
use crate::device::fence::FOREVER;
use crate::device::host::Host;
use crate::device::{Device, File, Outcome, Stop};
use crate::uapi::{drm, mode};
use rustix::fd::IntoRawFd;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// The state that a client requests.
struct Commit {
    state: State,
    /// True if the client sets FB_ID, maybe to the current frame buffer.
    flips: bool,
    /// Fences that must signal before the commit (IN_FENCE_FD).
    before: Vec<OwnedFd>,
    /// Address at which the descriptor of the out-fence is stored (OUT_FENCE_PTR).
    after: Option<u64>,
}

impl Kms {
    /// The current state with the client's changes.
    fn wanted(&self, host: &dyn Host, arg: &mode::Atomic) -> Result<Commit, Errno> {
        let objects: Vec<u32> = host.array(arg.objs_ptr, arg.count_objs.into())?;
        let counts: Vec<u32> = host.array(arg.count_props_ptr, arg.count_objs.into())?;
        let total = counts.iter().map(|count| u64::from(*count)).sum();
        let ids: Vec<u32> = host.array(arg.props_ptr, total)?;
        let values: Vec<u64> = host.array(arg.prop_values_ptr, total)?;
        let named =
            objects.iter().zip(&counts).flat_map(|(object, count)| (0..*count).map(|_| *object));
        let mut commit =
            Commit { state: self.state, flips: false, before: Vec::new(), after: None };
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
                    super::CRTC => true,
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

impl Device {
    /// ATOMIC.
    pub(in crate::device) fn atomic(&mut self, file: &mut File, arg: &mut mode::Atomic) -> Outcome {
        let all = mode::PAGE_FLIP_EVENT
            | mode::PAGE_FLIP_ASYNC
            | mode::ATOMIC_TEST_ONLY
            | mode::ATOMIC_NONBLOCK
            | mode::ATOMIC_ALLOW_MODESET;
        let test = arg.flags & mode::ATOMIC_TEST_ONLY != 0;
        let event = arg.flags & mode::PAGE_FLIP_EVENT != 0;
        if !file.caps.atomic
            || arg.flags & !all != 0
            || arg.flags & mode::PAGE_FLIP_ASYNC != 0
            || arg.reserved != 0
            || (test && event)
        {
            return Err(Errno::INVAL.into());
        }
        let Commit { state, flips, before, after } = self.kms.wanted(self.host, arg)?;
        if let Some(address) = after {
            self.host.put(address, &-1i32)?;
        }
        self.kms.check(&state)?;
        let modeset = state.sets_mode(&self.kms.state);
        if modeset && arg.flags & mode::ATOMIC_ALLOW_MODESET == 0 {
            return Err(Errno::INVAL.into());
        }
        // An event or out-fence needs a commit of at least one object, and a CRTC that is active
        // before or after the commit.
        if (event || after.is_some())
            && (arg.count_objs == 0 || !(state.active || self.kms.state.active))
        {
            return Err(Errno::INVAL.into());
        }
        if test {
            return Ok(());
        }
        if !before.iter().all(descriptor::is_signaled) {
            return Err(Stop::Wait(FOREVER));
        }
        self.wait_for_rendering(state.fb)?;
        if let Some(address) = after {
            let fence = descriptor::signaled_fence()?;
            self.host.put(address, &rustix::fd::AsRawFd::as_raw_fd(&fence))?;
            // The client owns the descriptor now.
            let _ = fence.into_raw_fd();
        }
        self.kms.state = state;
        self.kms.sequence = self.kms.sequence.wrapping_add(1);
        if state.active && (flips || modeset) {
            self.report_image();
        }
        if event && let Some(channel) = &file.channel {
            let event = self.kms.event(drm::EVENT_FLIP_COMPLETE, arg.user_data);
            descriptor::send_event(channel, bytemuck::bytes_of(&event));
        }
        Ok(())
    }
}
