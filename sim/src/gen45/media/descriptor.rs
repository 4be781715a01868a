//! Resolves interface descriptors: kernel, surfaces, constants and modes of media threads.

use crate::assumptions::{G45_MEDIA_CHANNELS, G45_THREAD_SPAWNER_FFID};
use crate::eu::cache;
use crate::eu::regions::GRF_BYTES;
use crate::eu::{Kernel, Launch};
use crate::gen45::debug;
use crate::gen45::message::Bindings;
use crate::gen45::message::gateway::place;
use crate::gen45::modes;
use crate::gen45::state::{ADDRESSES, State, general};
use crate::gen45::urb::Urb;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::Program;
use genxml::gen45::enums::{FloatingPointMode, ThreadPriority};
use genxml::gen45::eu_registers::StateRegister;
use genxml::gen45::media::{InterfaceDescriptor, VfeState};
use genxml::gen45::thread_payloads::MediaThreadPayloadHeader;
use genxml_core::{Address, U};
use genxml_eu::Generation;
use std::sync::Arc;

pub use crate::eu::regions::REGISTER;

/// Registers of a thread.
const REGISTERS: usize = GRF_BYTES / REGISTER;

/// Everything that threads with the same interface descriptor share.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Kernel and surfaces.
    pub program: Program<Bindings>,
    /// The state of the front end.
    pub vfe: VfeState,
    descriptor: InterfaceDescriptor,
    /// Offset of the descriptor from General State Base Address.
    offset: u64,
    constants: Vec<u8>,
    /// The modes of a thread, without payload.
    launch: Launch,
}

impl Dispatch {
    /// Resolves the descriptor at `offset` from General State Base Address. `table` replaces its
    /// binding table.
    ///
    /// # Errors
    /// [`Fault::Page`] at the descriptor; [`Fault::Unimplemented`] if registers for debugging change
    /// the threads.
    pub fn resolve(
        exec: &mut Exec<'_>,
        vfe: VfeState,
        offset: u64,
        table: Option<u64>,
    ) -> Result<Dispatch, Fault> {
        let registers = &exec.state.registers;
        if debug::enabled(registers) && debug::dispatch::changes_threads(registers) {
            let what = "breakpoints, halts and exceptions of media threads by debug registers";
            return Err(exec.unimplemented(what, "003:1973-2153, 2226-2334"));
        }
        let descriptor: InterfaceDescriptor = general(exec, offset)?;
        let base = exec.state.slots.with(|state: &State| state.base);
        let pointer = descriptor.kernel_start_pointer.get();
        let address = base.general.wrapping_add(pointer) & ADDRESSES;
        let kernel: Arc<Kernel> =
            cache::decode_on(Generation::Gen45, exec, address, pointer as u32);
        let (first, length) = (
            descriptor.constant_urb_entry_read_offset.get() as usize,
            descriptor.constant_urb_entry_read_length.get() as usize,
        );
        let constants = exec.state.slots.with(|urb: &Urb| urb.constants(first, length));
        let table = table.unwrap_or(descriptor.binding_table_pointer.get());
        let launch = modes::launch(
            exec,
            descriptor.single_program_flow,
            descriptor.floating_point_mode == FloatingPointMode::ALTERNATE,
            [
                descriptor.software_exception_enable,
                descriptor.mask_stack_exception_enable,
                descriptor.illegal_opcode_exception_enable,
            ],
        );
        let bindings = Bindings::new(base.surface, table, base.general, base.general_bound);
        Ok(Dispatch {
            program: Program { kernel, bindings },
            vfe,
            descriptor,
            offset,
            constants,
            launch,
        })
    }

    /// Refuses `data` registers of data if they and the constants do not fit the thread's
    /// registers.
    ///
    /// # Errors
    /// [`Fault::BadPacket`].
    pub fn check(&self, exec: &Exec<'_>, data: usize) -> Result<(), Fault> {
        let registers = 1 + self.constants.len() / REGISTER + data;
        let there = (16 * self.descriptor.grf_register_blocks.get() as usize).min(REGISTERS);
        if registers > there {
            let why = format!("GRF Register Blocks gives the thread {there} registers");
            return Err(exec.bad_field("thread payload", registers as u64, why));
        }
        Ok(())
    }

    /// The first register of a root thread. `slot` is the number of its scratch space. The fields
    /// for debuggers are 0 (assumptions::G45_MEDIA_DEBUG_ID_IS_ZERO).
    pub fn header(&self, slot: u64) -> [u32; 8] {
        let scratch = self.vfe.scratch_space_base_pointer.get();
        let step = 10 + self.vfe.per_thread_scratch_space.get().min(11);
        let scratch = scratch.wrapping_add(slot << step) & ADDRESSES;
        MediaThreadPayloadHeader {
            interface_descriptor_pointer: Address::from_bits(self.offset),
            sampler_state_pointer: self.descriptor.sampler_state_pointer,
            binding_table_pointer: self.descriptor.binding_table_pointer,
            scratch_space_base_pointer: Address::from_bits(scratch),
            dispatch_id: U::from_bits(slot & 0xff),
            ..MediaThreadPayloadHeader::new()
        }
        .pack()
    }

    /// The start of a thread: its first register, constants, and the registers after them.
    /// `number` is the number of the thread.
    pub fn start(&self, header: &[u8], data: &[u8], number: u32) -> Launch {
        let (unit, thread) = place(number);
        let state = StateRegister {
            fixed_function_identifier: U::from_bits(G45_THREAD_SPAWNER_FFID),
            priority_class: self.descriptor.thread_priority == ThreadPriority::HIGH_PRIORITY,
            execution_unit_identifier: U::from_bits(unit.into()),
            thread_identifier: U::from_bits(thread.into()),
            grf_register_blocks: U::from_bits(self.descriptor.grf_register_blocks.get() & 15),
            ..StateRegister::new()
        };
        Launch {
            payload: [header, &self.constants, data].concat(),
            dispatch_mask: G45_MEDIA_CHANNELS,
            vector_mask: G45_MEDIA_CHANNELS,
            state: state.pack(),
            ..self.launch.clone()
        }
    }
}
