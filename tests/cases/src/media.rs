//! Media threads: kernels started by packets of the media pipeline, and the events of their
//! threads.

use crate::{DYNAMIC_STATE, KERNELS, Model, at, put_state, put_surfaces, u};
use genxml::engine::EngineId;
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::mi::PipelineSelectPipelineSelection;
use genxml::gen8::state::{InterfaceDescriptorData, RenderSurfaceState, StateBaseAddress};
use genxml_core::MinusOne;
use genxml_sim::{Event, Fault, Now, Stats};

/// Indirect object base: the second half of the dynamic state.
pub const INDIRECT: u64 = DYNAMIC_STATE + 0x8000;

/// Kernels with their descriptors, surfaces and constants.
#[derive(Clone, Debug)]
pub struct Media<'a> {
    /// The kernel of each descriptor.
    pub kernels: Vec<&'a [u32]>,
    /// The descriptors. [`state`](Self::state) sets kernel and binding table.
    pub descriptors: Vec<InterfaceDescriptorData>,
    /// Surface states, by binding table index.
    pub surfaces: Vec<RenderSurfaceState>,
    /// Constants, 32 bytes per register.
    pub curbe: Vec<u8>,
    /// The state of the front end.
    pub vfe: MediaVfeState,
}

/// The start or end of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A thread starts with this payload.
    Start(Vec<u32>),
    /// A thread has ended after this many instructions.
    End(u64),
}

impl<'a> Media<'a> {
    /// One kernel. 64 threads can run at the same time; there are 8 URB entries of 4 registers.
    pub fn new(kernel: &'a [u32]) -> Self {
        Media {
            kernels: vec![kernel],
            descriptors: vec![InterfaceDescriptorData::new()],
            surfaces: Vec::new(),
            curbe: Vec::new(),
            vfe: MediaVfeState {
                maximum_number_of_threads: MinusOne::new(64).expect("fits"),
                number_of_urb_entries: u(8),
                urb_entry_allocation_size: u(4),
                ..MediaVfeState::new()
            },
        }
    }

    /// Writes the state to memory and returns the packets that select it.
    pub fn state(&self, model: &mut Model) -> Vec<u32> {
        let table = put_surfaces(model, &self.surfaces);
        for (index, (kernel, descriptor)) in self.kernels.iter().zip(&self.descriptors).enumerate()
        {
            let place = 0x1000 * index as u64;
            model.put(KERNELS + place, kernel);
            let descriptor = InterfaceDescriptorData {
                kernel_start_pointer: at(place),
                binding_table_pointer: at(table),
                ..*descriptor
            };
            model.put(DYNAMIC_STATE + 32 * index as u64, &descriptor.pack());
        }
        let bases = StateBaseAddress {
            indirect_object_base_address: at(INDIRECT),
            instruction_base_address: at(KERNELS),
            ..StateBaseAddress::new()
        };
        let pipeline = PipelineSelectPipelineSelection::MEDIA;
        put_state(model, pipeline, bases, self.vfe, &self.curbe, self.kernels.len() as u64)
    }
}

impl Model {
    /// Runs a batch on the render engine and returns the starts and ends of threads, in order.
    pub fn listen(&mut self, batch: &[u32]) -> (Result<Stats, Fault>, Vec<Told>) {
        let mut told = Vec::new();
        let mut hear = |_: Now, event: &Event<'_>| match event {
            Event::Thread { payload, .. } => told.push(Told::Start(dwords(payload))),
            Event::ThreadEnd { instructions, .. } => told.push(Told::End(*instructions)),
            _ => {}
        };
        let result = self.submit_observed(EngineId::Render, batch, &mut hear);
        (result, told)
    }

    /// Runs a batch and returns the payloads of all threads.
    ///
    /// # Errors
    /// The fault that the model returns.
    pub fn payloads(&mut self, batch: &[u32]) -> Result<Vec<Vec<u32>>, Fault> {
        let (result, told) = self.listen(batch);
        result?;
        let payload = |told| match told {
            Told::Start(payload) => Some(payload),
            Told::End(_) => None,
        };
        Ok(told.into_iter().filter_map(payload).collect())
    }
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|dword| u32::from_le_bytes(dword.try_into().expect("four bytes")))
        .collect()
}
