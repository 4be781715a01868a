//! The surfaces and samplers that the messages of kernels use.

use crate::inspect::summary::kernel;
use crate::machine::view::View;
use crate::unit::bindings::FIRST_SPECIAL_INDEX;
use crate::unit::sampler::payload::{Action, Kind, Simd};
use genxml::eu::Generation;
use genxml::eu::instruction::{Descriptor, SharedFunction};
use genxml::gen8::messages::{
    DataPort0MessageDescriptor, DataPort0MessageDescriptorLegacyDapDcMessage as Legacy,
    MessageDescriptorSamplingEngine,
};
use std::collections::{BTreeSet, HashMap};

/// The binding table entries and samplers of a kernel's messages whose descriptors are immediate.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Messages {
    /// Binding table indices of messages that read RENDER_SURFACE_STATE.
    pub surfaces: BTreeSet<u8>,
    /// Indices in `surfaces` of messages to the render target data port.
    pub targets: BTreeSet<u8>,
    /// A message uses the binding table.
    pub table: bool,
    /// Indices of sampler states of messages without a header. A header can have another pointer to
    /// sampler states.
    pub samplers: BTreeSet<u8>,
    /// A message uses the sampler states.
    pub sampled: bool,
}

impl Messages {
    fn add(&mut self, function: SharedFunction, descriptor: u32) {
        // All messages with a surface have the index at the same bits.
        let message = MessageDescriptorSamplingEngine::unpack_lossy(&[descriptor]);
        let index = message.binding_table_index.get() as u8;
        let mut surface = true;
        match function {
            SharedFunction::Sampler => {
                let kind = Simd::of(message.simd_mode_1_0).and(Kind::of(message.message_type));
                match kind.map(|kind| kind.action) {
                    Some(Action::Sample(_) | Action::Gather { .. } | Action::Lod) => {
                        self.sampled = true;
                        if !message.header_present {
                            self.samplers.insert(message.sampler_index.get() as u8);
                        }
                    }
                    Some(_) => {}
                    // Messages of media read other structures.
                    None => return,
                }
            }
            SharedFunction::DataPort0 => {
                let message = DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
                surface = message.legacy_dap_dc_message != Legacy::SCRATCH_BLOCK;
            }
            SharedFunction::DataPort1
            | SharedFunction::DataPortConstant
            | SharedFunction::DataPortSampler
            | SharedFunction::DataPortRender => {}
            _ => return,
        }
        if surface && index < FIRST_SPECIAL_INDEX {
            self.table = true;
            self.surfaces.insert(index);
            if function == SharedFunction::DataPortRender {
                self.targets.insert(index);
            }
        }
    }
}

/// The messages of kernels, by address.
#[derive(Debug, Default)]
pub struct Kernels(HashMap<u64, Messages>);

impl Kernels {
    /// The messages of the kernel at an address.
    pub fn messages(&mut self, view: &dyn View, address: u64) -> &Messages {
        self.0.entry(address).or_insert_with(|| {
            let mut messages = Messages::default();
            kernel::instructions(view, (Generation::Gen8, address), &mut |_, instruction| {
                if let Some(send) = &instruction.send
                    && let Descriptor::Immediate(descriptor) = send.descriptor
                {
                    messages.add(send.function, descriptor);
                }
            });
            messages
        })
    }

    /// Forgets all kernels: their memory can change.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
