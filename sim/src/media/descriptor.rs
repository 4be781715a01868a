//! Interface descriptors resolved: kernel, surfaces, constants and modes of the threads of one packet.

use crate::assumptions::SUBNORMAL_BITS_AT_START;
use crate::context::Exec;
use crate::eu::Launch;
use crate::fault::Fault;
use crate::kernels;
use crate::observe::Observer;
use crate::unit::{Bindings, Program};
use genxml::eu::gen8::eu_registers::ControlRegister;
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::state::InterfaceDescriptorData;

/// Bytes of a register.
pub const REGISTER: usize = 32;
/// Registers of a payload at most: the register file.
const MAX_PAYLOAD: usize = 128;

/// All that the threads of a packet share.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Kernel and surfaces.
    pub program: Program,
    /// The descriptor.
    pub descriptor: InterfaceDescriptorData,
    /// The state of the front end.
    pub vfe: MediaVfeState,
    /// The constants, from where the descriptor reads them.
    constants: Vec<u8>,
    /// `cr0.0`.
    control: u32,
}

impl Dispatch {
    /// Follows descriptor `index` of the loaded ones.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if there is none, or no MEDIA_VFE_STATE came before; faults of the kernel's memory.
    pub fn resolve<O: Observer>(exec: &mut Exec<'_, O>, index: u64) -> Result<Dispatch, Fault> {
        let Some(vfe) = exec.state.vfe else {
            return Err(exec.bad_field("MEDIA_VFE_STATE", 0, "none was executed before"));
        };
        let Some(descriptor) = exec.state.interface_descriptors.entries.get(index as usize).copied() else {
            let loaded = exec.state.interface_descriptors.entries.len();
            let why = format!("{loaded} descriptors are loaded");
            return Err(exec.bad_field("Interface Descriptor Offset", index, why));
        };
        let base = exec.state.base;
        let offset = descriptor.kernel_start_pointer.get();
        let kernel = kernels::decode(exec, base.instruction.wrapping_add(offset), offset as u32);
        let table = base.surface.wrapping_add(descriptor.binding_table_pointer.get());
        let skip = descriptor.constant_urb_entry_read_offset.get() as usize * REGISTER;
        let constants = exec.state.curbe.get(skip..).unwrap_or_default().to_vec();
        Ok(Dispatch {
            program: Program { kernel, bindings: Bindings::new(base.surface, table) },
            control: control(&descriptor),
            constants,
            descriptor,
            vfe,
        })
    }

    /// Appends `registers` registers of constants, from register `first` of them on; what was not loaded is 0.
    pub fn push_constants(&self, payload: &mut Vec<u8>, first: usize, registers: usize) {
        let start = first.saturating_mul(REGISTER).min(self.constants.len());
        let end = start.saturating_add(registers.saturating_mul(REGISTER)).min(self.constants.len());
        let length = payload.len() + registers.min(MAX_PAYLOAD + 1) * REGISTER;
        payload.extend_from_slice(&self.constants[start..end]);
        payload.resize(length, 0);
    }

    /// Runs a thread with the given payload.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the payload is longer than the register file; faults of the thread.
    pub fn run<O: Observer>(
        &mut self,
        exec: &mut Exec<'_, O>,
        payload: Vec<u8>,
        mask: u32,
    ) -> Result<(), Fault> {
        if payload.len() > MAX_PAYLOAD * REGISTER {
            let registers = (payload.len() / REGISTER) as u64;
            return Err(exec.bad_field("thread payload", registers, "more registers than a thread has"));
        }
        // The vector mask names the groups of four with a live channel (004:3000ff).
        let groups = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111;
        let launch = Launch {
            dispatch_mask: mask,
            vector_mask: groups * 15,
            control: self.control,
            exceptions: exceptions(&self.descriptor),
            system_routine: exec.state.sip.map(|sip| sip.system_instruction_pointer.get() as u32),
            state: [0; 2],
            payload,
        };
        self.program.run(exec, &launch)
    }
}

/// What `cr0.1` starts with.
fn exceptions(descriptor: &InterfaceDescriptorData) -> u32 {
    ControlRegister {
        illegal_opcode_enable: descriptor.illegal_opcode_exception_enable,
        software_exception_enable: descriptor.software_exception_enable,
        mask_stack_enable: descriptor.mask_stack_exception_enable,
        ..ControlRegister::new()
    }
    .pack()[1]
}

/// What `cr0.0` starts with (004:3081-3250): float mode, single program flow, rounding, and denorms: single floats
/// are flushed, halves and doubles kept (2d INTERFACE_DESCRIPTOR_DATA Denorm Mode).
fn control(descriptor: &InterfaceDescriptorData) -> u32 {
    (descriptor.floating_point_mode.bits()
        | descriptor.single_program_flow.bits() << 2
        | descriptor.rounding_mode.bits() << 4) as u32
        | SUBNORMAL_BITS_AT_START
}
