//! A context: page tables, latched packets and registers. Nothing else survives from one submission to the next.

use crate::fault::{Fault, Place};
use crate::mem::{AddressSpace, PageFault, Vm};
use crate::observe::{Observer, Stats};
use crate::standin::{InterfaceDescriptorData, MediaVfeState};
use crate::watchdog::{Budget, Exhausted};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A hardware context.
#[derive(Debug)]
pub struct Context {
    /// Its page tables.
    pub space: AddressSpace,
    /// Latched packets and registers.
    pub state: State,
}

/// What packets leave behind for later packets.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What state offsets count from, by STATE_BASE_ADDRESS.
    pub base: BaseAddresses,
    /// The newest MEDIA_VFE_STATE.
    pub vfe: Option<MediaVfeState>,
    /// Constants that MEDIA_CURBE_LOAD read, from CURBE offset 0 on.
    pub curbe: Vec<u8>,
    /// Descriptors that MEDIA_INTERFACE_DESCRIPTOR_LOAD read.
    pub interface_descriptors: InterfaceDescriptors,
    /// Registers that were written; all others read 0.
    pub registers: Registers,
}

/// Base addresses, 48 bits each. Offsets beyond a buffer's size are read through: what hardware does is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseAddresses {
    /// General State: scratch space.
    pub general: u64,
    /// Surface State: binding tables and surface states.
    pub surface: u64,
    /// Dynamic State: samplers, viewports, interface descriptors, constants.
    pub dynamic: u64,
    /// Indirect Object: indirect data of media objects and walkers.
    pub indirect: u64,
    /// Instruction: kernels.
    pub instruction: u64,
}

/// Interface descriptors, read when the load command is executed (hardware keeps them in a temporary storage).
#[derive(Clone, Debug, Default)]
pub struct InterfaceDescriptors {
    /// Graphics address of the first.
    pub address: u64,
    /// All of them in order.
    pub entries: Vec<InterfaceDescriptorData>,
}

/// The register space, by byte offset. A register that nothing wrote reads 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers(BTreeMap<u32, u32>);

impl Registers {
    /// The dword at `offset`; the low two bits of the offset are ignored.
    pub fn read(&self, offset: u32) -> u32 {
        self.0.get(&(offset & !3)).copied().unwrap_or(0)
    }

    /// Replaces the dword at `offset`.
    pub fn write(&mut self, offset: u32, value: u32) {
        self.0.insert(offset & !3, value);
    }

    /// All registers that were written, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.0.iter().map(|(&offset, &value)| (offset, value))
    }
}

/// All that a unit gets to execute a packet.
pub struct Exec<'a, O: Observer = ()> {
    /// Memory as the context sees it.
    pub vm: Vm<'a>,
    /// Latched packets and registers.
    pub state: &'a mut State,
    /// Counts of this submission.
    pub stats: &'a mut Stats,
    /// Work left, and the clock.
    pub budget: &'a mut Budget,
    /// The listener.
    pub observer: &'a mut O,
    /// The packet being executed.
    pub at: Place,
}

impl<O: Observer> Exec<'_, O> {
    /// Takes `units` (see [`crate::watchdog`]) off the budget.
    ///
    /// # Errors
    /// [`Fault::Hang`] if the budget is used up.
    #[inline(always)]
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        match self.budget.spend(units) {
            Ok(()) => Ok(()),
            Err(Exhausted) => Err(self.hang()),
        }
    }

    /// The fault of a used-up budget.
    #[cold]
    pub fn hang(&self) -> Fault {
        Fault::Hang { limit: self.budget.limit(), at: self.at }
    }

    /// A page fault at the packet being executed; `what` says what was being read or written.
    #[cold]
    pub fn page(&self, fault: PageFault, what: impl Into<Cow<'static, str>>) -> Fault {
        Fault::Page { fault, what: what.into(), at: self.at }
    }

    /// Something that the model lacks, met at the packet being executed; `page` says where it is described.
    #[cold]
    pub fn unimplemented(
        &self,
        what: impl Into<Cow<'static, str>>,
        page: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault::Unimplemented { what: what.into(), at: self.at, page: page.into() }
    }

    /// A field of the packet being executed holds something wrong.
    #[cold]
    pub fn bad_field(&self, field: &'static str, value: u64, why: impl Into<Cow<'static, str>>) -> Fault {
        Fault::BadPacket { field, value, why: why.into(), at: self.at }
    }
}
