//! Who set the state of each context.

use super::targets::Target;
use crate::machine::latched::Latched;
use crate::machine::place::Place;
use crate::machine::state::{BaseAddresses, State};
use crate::render::constant_buffers::BUFFERS;
use genxml::gen8::mi::PipelineSelectPipelineSelection;
use std::collections::HashMap;

/// A base address of STATE_BASE_ADDRESS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Base {
    /// Dynamic State Base Address.
    Dynamic,
    /// Surface State Base Address.
    Surface,
    /// Instruction Base Address.
    Instruction,
    /// Indirect Object Base Address.
    Indirect,
}

impl Base {
    /// All bases.
    pub const ALL: [Base; 4] = [Base::Dynamic, Base::Surface, Base::Instruction, Base::Indirect];

    /// The base in a set of bases.
    pub fn of(self, bases: &BaseAddresses) -> u64 {
        match self {
            Base::Dynamic => bases.dynamic,
            Base::Surface => bases.surface,
            Base::Instruction => bases.instruction,
            Base::Indirect => bases.indirect,
        }
    }

    /// The manual's name.
    pub fn name(self) -> &'static str {
        match self {
            Base::Dynamic => "Dynamic State Base Address",
            Base::Surface => "Surface State Base Address",
            Base::Instruction => "Instruction Base Address",
            Base::Indirect => "Indirect Object Base Address",
        }
    }
}

/// A piece of state that one packet sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Key {
    /// A slot of latched state.
    Slot(usize),
    /// A base address.
    Base(Base),
    /// PIPELINE_SELECT.
    Pipeline,
    /// MEDIA_VFE_STATE.
    FrontEnd,
    /// MEDIA_INTERFACE_DESCRIPTOR_LOAD.
    Descriptors,
    /// MEDIA_CURBE_LOAD.
    Constants,
}

impl Key {
    /// The state that Generic Media State Clear of PIPE_CONTROL clears.
    pub const MEDIA: [Key; 3] = [Key::FrontEnd, Key::Descriptors, Key::Constants];
}

/// The packet that set a piece of state.
#[derive(Clone, Copy, Debug)]
pub struct Setter {
    /// The packet.
    pub at: Place,
    /// The base addresses at the packet.
    pub bases: BaseAddresses,
    /// Graphics and physical address of the target of the packet's pointer, at the first draw that
    /// used it or at the newest STATE-STALE-MEMORY finding.
    pub target: Option<(u64, u64)>,
    /// The memory at the graphics addresses of the packet, when it was executed. `None` if the
    /// packet has no such address, or if no memory was mapped there.
    pub buffers: [Option<Target>; BUFFERS],
}

/// The newest setter of each piece of state of each context.
#[derive(Debug, Default)]
pub struct Setters {
    set: HashMap<(u32, Key), Setter>,
    /// The packets that cleared media state.
    cleared: HashMap<(u32, Key), Place>,
    /// Whether the first packets of each context were seen.
    whole: HashMap<u32, bool>,
}

impl Setters {
    /// A packet of the context is about to be executed. `state` is that of the context.
    pub fn begin(&mut self, context: u32, state: &State) {
        self.whole.entry(context).or_insert_with(|| {
            state.latched == Latched::default()
                && state.base == BaseAddresses::default()
                && state.pipeline == PipelineSelectPipelineSelection::default()
        });
    }

    /// True if nothing has set the state of the context before its first packet that was seen.
    pub fn is_whole(&self, context: u32) -> bool {
        self.whole.get(&context) == Some(&true)
    }

    /// A packet sets a piece of state.
    pub fn set(&mut self, context: u32, key: Key, setter: Setter) {
        self.set.insert((context, key), setter);
    }

    /// A packet clears media state.
    pub fn clear(&mut self, context: u32, at: Place) {
        for key in Key::MEDIA {
            if self.set.remove(&(context, key)).is_some() {
                self.cleared.insert((context, key), at);
            }
        }
    }

    /// The setter of a piece of state, if it was seen.
    pub fn get(&mut self, context: u32, key: Key) -> Option<&mut Setter> {
        self.set.get_mut(&(context, key))
    }

    /// The packet that cleared a piece of media state which was set before.
    pub fn cleared(&self, context: u32, key: Key) -> Option<Place> {
        self.cleared.get(&(context, key)).copied()
    }
}
