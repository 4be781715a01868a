//! The state that packets set for later packets: registers, base addresses, latched packets, and
//! the state that units own.

use super::latched::Latched;
use super::registers::Registers;
use super::slots::Slots;
use super::stats::Speculation;
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::mi::PipelineSelectPipelineSelection;
use genxml::gen8::state::{InterfaceDescriptorData, StateSip};

/// What packets can have changed since the last draw of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Changed {
    /// No packet was executed after the draw.
    Nothing,
    /// State of vertex fetch, constants of the vertex shader, or both.
    Vertices,
    /// Any state. Also the value before the first draw.
    #[default]
    Anything,
}

/// The state of a context that packets set for later packets.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The pipeline that PIPELINE_SELECT chose.
    pub pipeline: PipelineSelectPipelineSelection,
    /// Base addresses of state offsets, from STATE_BASE_ADDRESS.
    pub base: BaseAddresses,
    /// The newest STATE_SIP.
    pub sip: Option<StateSip>,
    /// The newest MEDIA_VFE_STATE.
    pub vfe: Option<MediaVfeState>,
    /// Constants that MEDIA_CURBE_LOAD read, from CURBE offset 0 on.
    pub curbe: Vec<u8>,
    /// Descriptors that MEDIA_INTERFACE_DESCRIPTOR_LOAD read.
    pub interface_descriptors: InterfaceDescriptors,
    /// Registers that were written; all others read 0.
    pub registers: Registers,
    /// The newest packet of each latched type, for draws.
    pub latched: Latched,
    /// What the packets since the last draw can have changed. The next draw reuses all other
    /// resolved state from the last draw.
    pub changed: Changed,
    /// True while MI_SET_PREDICATE makes the streamer skip packets.
    pub skips: bool,
    /// True while MI_ARB_ON_OFF disables preemption by other contexts.
    pub arbitration_off: bool,
    /// Counts of speculative parts on several host threads; not state of the context.
    pub speculation: Speculation,
    /// The clock when the gateway's timer was reset.
    pub gateway_epoch: u64,
    /// True if the context was loaded from an image that the model did not save: its state can have
    /// been set before, in the format of the hardware, which the model cannot read.
    pub restored: bool,
    /// State that units own.
    pub slots: Slots,
}

impl State {
    /// The state that a worker of [`super::parallel`] starts with.
    pub(super) fn for_worker(&self) -> State {
        State {
            pipeline: self.pipeline,
            base: self.base,
            sip: self.sip,
            vfe: self.vfe,
            curbe: self.curbe.clone(),
            interface_descriptors: self.interface_descriptors.clone(),
            registers: self.registers.clone(),
            latched: self.latched.clone(),
            changed: self.changed,
            skips: self.skips,
            arbitration_off: self.arbitration_off,
            speculation: self.speculation,
            gateway_epoch: self.gateway_epoch,
            restored: self.restored,
            slots: self.slots.for_worker(),
        }
    }
}

/// Base addresses, 48 bits each. The buffer sizes of Indirect Object and Instruction are not
/// checked: offsets beyond them are read like any other. The behaviour of hardware is undefined
/// there (gen8_facts 12.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseAddresses {
    /// General State: scratch space.
    pub general: u64,
    /// Bytes of General State that stateless messages may reach; 0 means no limit
    /// (assumptions::GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND).
    pub general_size: u64,
    /// Surface State: binding tables and surface states.
    pub surface: u64,
    /// Dynamic State: samplers, viewports, interface descriptors, constants.
    pub dynamic: u64,
    /// Bytes of Dynamic State; 0 means no limit. Only reads of sampler states regard it
    /// (assumptions::SAMPLERS_PAST_DYNAMIC_STATE_ARE_ZERO).
    pub dynamic_size: u64,
    /// Indirect Object: indirect data of media objects and walkers.
    pub indirect: u64,
    /// Instruction: kernels.
    pub instruction: u64,
}

/// Interface descriptors. They are read when the load command is executed, because hardware keeps
/// them in temporary storage.
#[derive(Clone, Debug, Default)]
pub struct InterfaceDescriptors {
    /// Graphics address of the first descriptor.
    pub address: u64,
    /// All descriptors in order.
    pub entries: Vec<InterfaceDescriptorData>,
}
