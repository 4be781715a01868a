//! State of the video front end, from memory.

use super::descriptor::Dispatch;
use crate::gen45::state::{State, general, latched};
use crate::gen45::urb::{Unit, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen45::commands_common::{PipelineSelect, PipelineSelectPipelineSelection};
use genxml::gen45::media::{
    MediaStatePointers, VfeState, VfeStateEx, VfeStateVfeMode as Code, VldState,
};
use std::sync::Arc;

/// Bytes of an interface descriptor.
const DESCRIPTOR: u64 = 16;
/// Source of the modes and the state of the front end, for error messages.
const SOURCE: &str = "spec-xml/gen45/media.xml";

/// What the front end does with the data of MEDIA_OBJECT.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// Hands them to a thread.
    Generic,
    /// Decodes a slice of MPEG-2. The state has the parameters of the picture.
    Vld(VldState),
}

/// The state of the front end, with the interface descriptors that were used.
#[derive(Clone, Debug)]
pub struct Front {
    /// VFE_STATE.
    pub vfe: VfeState,
    /// What the front end does.
    pub mode: Mode,
    /// Resolved interface descriptors by their offset from General State Base Address.
    dispatches: Vec<(u64, Arc<Dispatch>)>,
}

impl Front {
    /// Reads the state that MEDIA_STATE_POINTERS points to, and divides the front end's section of
    /// the URB into entries.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the media pipeline is not selected, if there is no
    /// MEDIA_STATE_POINTERS, for a mode that does not exist, and for entries that do not fit the
    /// section; [`Fault::Unimplemented`] for modes that the model does not have; [`Fault::Page`].
    pub fn resolve(exec: &mut Exec<'_>) -> Result<Front, Fault> {
        let select: PipelineSelect = latched(exec);
        if select.pipeline_selection != PipelineSelectPipelineSelection::MEDIA {
            let why = "MEDIA_OBJECT is for the media pipeline, which is not selected";
            return Err(exec.bad_field(
                "Pipeline Selection",
                select.pipeline_selection.bits(),
                why,
            ));
        }
        let sent = |state: &State| state.latched.get::<MediaStatePointers>(0).is_some();
        if !exec.state.slots.with(sent) {
            let why = "no MEDIA_STATE_POINTERS was executed before this packet";
            return Err(exec.bad_field("MEDIA_STATE_POINTERS", 0, why));
        }
        let pointers: MediaStatePointers = latched(exec);
        let pointer = pointers.pointer_to_vfe_state.get();
        let vfe: VfeState = general(exec, pointer)?;
        let mode = match vfe.vfe_mode {
            Code::GENERIC => Mode::Generic,
            Code::VLD if pointers.vld_state_enable => {
                Mode::Vld(general(exec, pointers.pointer_to_vld_state.get())?)
            }
            Code::VLD => {
                let why = "VFE Mode is VLD, which needs VLD_STATE";
                return Err(exec.bad_field("VLD State Enable", 0, why));
            }
            Code::IS => return Err(exec.unimplemented("inverse scan by the front end", SOURCE)),
            Code::AVC_MC | Code::AVC_IT => {
                return Err(exec.unimplemented("AVC modes of the front end", SOURCE));
            }
            other => {
                return Err(exec.bad_field("VFE Mode", other.bits(), "there is no such mode"));
            }
        };
        // In VLD mode i965 sets the flag, but its buffer has no VFE_STATE_EX after VFE_STATE.
        if vfe.extended_vfe_state_present && matches!(mode, Mode::Generic) {
            let more: VfeStateEx = general(exec, pointer + 4 * VfeState::DWORDS as u64)?;
            if more.scoreboard_enable {
                return Err(exec.unimplemented("the scoreboard of the front end", SOURCE));
            }
        }
        let (entries, rows) =
            (vfe.number_of_urb_entries.get(), vfe.urb_entry_allocation_size.get());
        exec.state
            .slots
            .get_mut::<Urb>()
            .begin(Unit::Vfe, entries as usize, rows as usize)
            .map_err(|bad| exec.bad_field(bad.field, bad.value, bad.why))?;
        Ok(Front { vfe, mode, dispatches: Vec::new() })
    }

    /// The threads of the interface descriptor at an offset from General State Base Address.
    ///
    /// # Errors
    /// As [`Dispatch::resolve`].
    pub fn dispatch(&mut self, exec: &mut Exec<'_>, offset: u64) -> Result<Arc<Dispatch>, Fault> {
        if let Some((_, dispatch)) = self.dispatches.iter().find(|(at, _)| *at == offset) {
            return Ok(dispatch.clone());
        }
        let dispatch = Arc::new(Dispatch::resolve(exec, self.vfe, offset, None)?);
        self.dispatches.push((offset, dispatch.clone()));
        Ok(dispatch)
    }

    /// Offset of interface descriptor `index` from General State Base Address.
    pub fn descriptor(&self, index: u64) -> u64 {
        self.vfe.interface_descriptor_base_pointer.get() + DESCRIPTOR * index
    }
}
