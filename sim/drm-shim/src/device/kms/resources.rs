//! Resources of the display: CRTC, encoder, connector, plane, and vertical blanks.

use super::buffers::{FORMATS, MAX_EXTENT};
use super::display::{Kms, no_such_object};
use super::held::Held;
use super::properties::ClientCaps;
use super::state::{CONNECTOR, CRTC, ENCODER, ONE, PLANE, State};
use crate::device::descriptor;
use crate::device::fence::now;
use crate::device::host::Host;
use crate::device::outcome::Outcome;
use crate::uapi::{drm, mode};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

impl Kms {
    /// Executes the ioctl GETRESOURCES.
    pub(crate) fn resources(
        &self,
        host: &dyn Host,
        held: Held,
        arg: &mut mode::CardRes,
    ) -> Outcome {
        let fbs: Vec<u32> = self.frame_buffers.keys().copied().collect();
        host.put_list(arg.fb_id_ptr, &mut arg.count_fbs, &fbs)?;
        host.put_list(arg.crtc_id_ptr, &mut arg.count_crtcs, &held.filter(&[CRTC]))?;
        let connectors = held.filter(&[CONNECTOR]);
        host.put_list(arg.connector_id_ptr, &mut arg.count_connectors, &connectors)?;
        host.put_list(arg.encoder_id_ptr, &mut arg.count_encoders, &[ENCODER])?;
        (arg.min_width, arg.max_width, arg.min_height, arg.max_height) =
            (0, MAX_EXTENT, 0, MAX_EXTENT);
        Ok(())
    }

    /// Executes the ioctl GETCRTC.
    pub(crate) fn crtc(&self, arg: &mut mode::Crtc) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        let State { mode, fb, source, .. } = self.state;
        (arg.x, arg.y) = (source[0] / ONE, source[1] / ONE);
        (arg.fb_id, arg.gamma_size) = (fb, 256);
        arg.mode_valid = mode.is_some().into();
        arg.mode = mode.unwrap_or_default();
        Ok(())
    }

    /// The frame buffer that SETCRTC selects: -1 keeps the current one.
    pub(crate) fn selected(&self, fb: u32) -> u32 {
        if fb == u32::MAX { self.state.fb } else { fb }
    }

    /// SETCRTC, without reporting the image to captures and image files.
    pub(crate) fn set_crtc(&mut self, arg: &mode::Crtc) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        if arg.mode_valid == 0 {
            self.state = State::default();
            return Ok(());
        }
        let fb = self.selected(arg.fb_id);
        self.has(fb)?;
        let fixed = |value: u32| value.checked_mul(ONE).ok_or(Errno::NOSPC);
        let (width, height) = (arg.mode.hdisplay, arg.mode.vdisplay);
        let state = State {
            mode: Some(arg.mode),
            active: true,
            connector: true,
            plane: true,
            fb,
            source: [fixed(arg.x)?, fixed(arg.y)?, fixed(width.into())?, fixed(height.into())?],
            destination: [0, 0, width.into(), height.into()],
        };
        self.check(&state)?;
        self.commit(state);
        Ok(())
    }

    /// Executes the ioctl GETENCODER.
    pub(crate) fn encoder(&self, held: Held, arg: &mut mode::GetEncoder) -> Outcome {
        if arg.encoder_id != ENCODER {
            return no_such_object();
        }
        // The encoder type TMDS.
        arg.encoder_type = 2;
        arg.crtc_id = held.crtc_if(self.state.connector);
        (arg.possible_crtcs, arg.possible_clones) = (held.has(CRTC).into(), 0);
        Ok(())
    }

    /// Executes the ioctl GETCONNECTOR.
    pub(crate) fn connector(
        &self,
        host: &dyn Host,
        client: ClientCaps,
        arg: &mut mode::GetConnector,
    ) -> Outcome {
        if arg.connector_id != CONNECTOR {
            return no_such_object();
        }
        host.put_list(arg.modes_ptr, &mut arg.count_modes, &self.modes)?;
        let (ids, values) = self.list(CONNECTOR, client).unwrap_or_default();
        let mut room = arg.count_props;
        host.put_list(arg.props_ptr, &mut arg.count_props, &ids)?;
        host.put_list(arg.prop_values_ptr, &mut room, &values)?;
        host.put_list(arg.encoders_ptr, &mut arg.count_encoders, &[ENCODER])?;
        arg.encoder_id = if self.state.connector { ENCODER } else { 0 };
        // HDMI-A-1, connected, 340 by 190 mm, subpixel order unknown.
        (arg.connector_type, arg.connector_type_id, arg.connection) = (11, 1, 1);
        (arg.mm_width, arg.mm_height, arg.subpixel) = (340, 190, 1);
        Ok(())
    }

    /// WAIT_VBLANK. Does not wait: the next vertical blank counts as reached.
    pub(crate) fn wait_vblank(
        &mut self,
        channel: Option<&OwnedFd>,
        arg: &mut drm::WaitVblank,
    ) -> Outcome {
        const EVENT: u32 = 0x0400_0000;
        self.sequence = self.sequence.wrapping_add(1);
        let event = self.event(drm::EVENT_VBLANK, arg.signal);
        if arg.kind & EVENT != 0
            && let Some(channel) = channel
        {
            descriptor::send_event(channel, bytemuck::bytes_of(&event));
        }
        arg.sequence = self.sequence;
        (arg.signal, arg.microseconds) = (event.tv_sec.into(), event.tv_usec.into());
        Ok(())
    }

    /// Executes the ioctl CRTC_GET_SEQUENCE.
    pub(crate) fn get_sequence(&self, arg: &mut drm::CrtcGetSequence) -> Outcome {
        if arg.crtc_id != CRTC {
            return no_such_object();
        }
        arg.active = self.state.active.into();
        arg.sequence = self.sequence.into();
        arg.sequence_ns = now() as i64;
        Ok(())
    }

    /// GETPLANERESOURCES. There is only the primary plane, which clients without universal planes
    /// do not see.
    pub(crate) fn planes(
        &self,
        host: &dyn Host,
        held: Held,
        client: ClientCaps,
        arg: &mut mode::PlaneRes,
    ) -> Outcome {
        let planes: &[u32] = if client.universal_planes { &[PLANE] } else { &[] };
        Ok(host.put_list(arg.plane_id_ptr, &mut arg.count_planes, &held.filter(planes))?)
    }

    /// Executes the ioctl GETPLANE.
    pub(crate) fn plane(&self, host: &dyn Host, held: Held, arg: &mut mode::GetPlane) -> Outcome {
        if arg.plane_id != PLANE {
            return no_such_object();
        }
        (arg.crtc_id, arg.fb_id) = (held.crtc_if(self.state.plane), self.state.fb);
        (arg.possible_crtcs, arg.gamma_size) = (held.has(CRTC).into(), 0);
        Ok(host.put_list(arg.format_type_ptr, &mut arg.count_format_types, &FORMATS)?)
    }
}
