//! Ioctls that change the displayed image: SETCRTC, page flips, properties, atomic commits.

use crate::device::descriptor;
use crate::device::fence::FOREVER;
use crate::device::kms::{CONNECTOR_TYPE, CRTC, Commit, Held, State};
use crate::device::outcome::{Outcome, Stop};
use crate::device::{Device, File};
use crate::uapi::{drm, mode};
use rustix::fd::IntoRawFd;
use rustix::io::Errno;

impl Device {
    /// Executes the ioctl PAGE_FLIP.
    pub(super) fn page_flip(
        &mut self,
        file: &mut File,
        held: Held,
        arg: &mut mode::PageFlip,
    ) -> Outcome {
        held.find(arg.crtc_id)?;
        if arg.crtc_id != CRTC {
            return Err(Errno::NOENT.into());
        }
        held.find_plane()?;
        self.kms.has(arg.fb_id)?;
        if arg.flags & !(mode::PAGE_FLIP_EVENT | mode::PAGE_FLIP_ASYNC) != 0 || arg.reserved != 0 {
            return Err(Errno::INVAL.into());
        }
        if !self.kms.state.plane {
            return Err(Errno::BUSY.into());
        }
        let state = State { fb: arg.fb_id, ..self.kms.state };
        self.kms.check(&state)?;
        self.wait_for_rendering(arg.fb_id)?;
        self.kms.commit(state);
        self.report_image();
        if arg.flags & mode::PAGE_FLIP_EVENT != 0
            && let Some(channel) = &file.channel
        {
            let event = self.kms.event(drm::EVENT_FLIP_COMPLETE, arg.user_data);
            descriptor::send_event(channel, bytemuck::bytes_of(&event));
        }
        Ok(())
    }

    /// Reports the displayed image to captures and image files.
    pub(super) fn report_image(&mut self) {
        let Some(&fb) = self.kms.frame_buffers.get(&self.kms.state.fb) else { return };
        if let Ok(object) = self.object(fb.object) {
            object.write_back_view();
        }
        let bytes = self.bytes(fb.object);
        self.queue.when_idle(move |machine| machine.reporter.displayed(&fb, &bytes));
    }

    /// Makes the ioctl wait for pending work that writes a frame buffer.
    ///
    /// # Errors
    /// [`Stop::Wait`] while there is such work.
    fn wait_for_rendering(&mut self, fb: u32) -> Outcome {
        match self.kms.frame_buffers.get(&fb).map(|fb| fb.object) {
            Some(object) => self.object_mut(object)?.wait(false),
            None => Ok(()),
        }
    }

    /// Executes the ioctl SETCRTC.
    pub(super) fn set_crtc(&mut self, held: Held, arg: &mut mode::Crtc) -> Outcome {
        held.find(arg.crtc_id)?;
        if arg.mode_valid != 0 {
            held.find_plane()?;
        }
        self.wait_for_rendering(self.kms.selected(arg.fb_id))?;
        self.kms.set_crtc(arg)?;
        self.report_image();
        Ok(())
    }

    /// ATOMIC: sets all requested properties of several objects at once, or none of them.
    pub(super) fn atomic(
        &mut self,
        file: &mut File,
        held: Held,
        arg: &mut mode::Atomic,
    ) -> Outcome {
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
        let commit = self.kms.wanted(self.host, held, arg)?;
        self.check(&commit)?;
        let state = commit.state;
        if state.sets_mode(&self.kms.state) && arg.flags & mode::ATOMIC_ALLOW_MODESET == 0 {
            return Err(Errno::INVAL.into());
        }
        // An event or out-fence needs a commit of at least one object, and a CRTC that is active
        // before or after the commit.
        if (event || commit.after.is_some())
            && (arg.count_objs == 0 || !(state.active || self.kms.state.active))
        {
            return Err(Errno::INVAL.into());
        }
        if test {
            return Ok(());
        }
        self.apply(commit)?;
        if event && let Some(channel) = &file.channel {
            let event = self.kms.event(drm::EVENT_FLIP_COMPLETE, arg.user_data);
            descriptor::send_event(channel, bytemuck::bytes_of(&event));
        }
        Ok(())
    }

    /// OBJ_SETPROPERTY: sets one property, as an atomic commit that may set the mode.
    pub(super) fn set_property(&mut self, held: Held, arg: &mode::ObjSetProperty) -> Outcome {
        held.find(arg.obj_id)?;
        let mut commit = self.kms.wanted_by_property(self.host, arg)?;
        self.check(&commit)?;
        // Only an atomic commit stores an out-fence. (Linux drm_atomic_uapi.c, prepare_signaling)
        commit.after = None;
        self.apply(commit)
    }

    /// SETPROPERTY: sets a property of the connector.
    pub(super) fn set_connector_property(
        &mut self,
        held: Held,
        arg: &mut mode::ConnectorSetProperty,
    ) -> Outcome {
        let set = mode::ObjSetProperty {
            value: arg.value,
            prop_id: arg.prop_id,
            obj_id: arg.connector_id,
            obj_type: CONNECTOR_TYPE,
            pad: 0,
        };
        self.set_property(held, &set)
    }

    /// Stores -1 as out-fence, and checks a requested state.
    fn check(&self, commit: &Commit) -> Result<(), Errno> {
        if let Some(address) = commit.after {
            self.host.put(address, &-1i32)?;
        }
        self.kms.check(&commit.state)
    }

    /// Changes to a checked state, after the fences of the commit and rendering.
    fn apply(&mut self, commit: Commit) -> Outcome {
        let Commit { state, flips, before, after } = commit;
        if !before.iter().all(descriptor::is_signaled) {
            return Err(Stop::Wait(FOREVER));
        }
        self.wait_for_rendering(state.fb)?;
        let modeset = state.sets_mode(&self.kms.state);
        if let Some(address) = after {
            let fence = descriptor::signaled_fence()?;
            self.host.put(address, &rustix::fd::AsRawFd::as_raw_fd(&fence))?;
            // The client owns the descriptor now.
            let _ = fence.into_raw_fd();
        }
        self.kms.commit(state);
        if state.active && (flips || modeset) {
            self.report_image();
        }
        Ok(())
    }
}
