//! Resolves interface descriptors: kernel, surfaces, constants and modes of one packet's threads.

use crate::assumptions::{
    INDIRECT_DATA_OF_A_THREAD_COMES_FIRST, MAX_FFTID, READ_OFFSET_COUNTS_FOR_SHARED_CONSTANTS,
    SUBNORMAL_BITS_AT_START,
};
use crate::eu::Launch;
use crate::eu::cache;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::unit::local::place;
use crate::unit::{Bindings, Program, Samplers};
use genxml::eu::gen8::eu_registers::{ControlRegister, StateRegister};
use genxml::gen8::media::MediaVfeState;
use genxml::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataThreadPriority as Priority,
};
use genxml_core::address::GeneralState;
use genxml_core::{Address, U};

/// Bytes of a register.
pub const REGISTER: usize = 32;
/// Maximum number of registers of a payload: the size of the register file.
const MAX_PAYLOAD: usize = 128;
/// Identifier of the thread spawner, which starts media and GPGPU threads (000, Shared Function and
/// Fixed Function IDs).
const THREAD_SPAWNER: u32 = 7;

/// Everything that the threads of a packet share.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Kernel and surfaces.
    pub program: Program,
    /// The descriptor.
    pub descriptor: InterfaceDescriptorData,
    /// The state of the front end.
    pub vfe: MediaVfeState,
    /// The constants: the CURBE from the descriptor's read offset on, or indirect data.
    constants: Vec<u8>,
    /// True if the constants are indirect data.
    indirect: bool,
    /// Bytes of shared local memory of a thread group.
    pub slm: usize,
    /// Initial value of `cr0.0`.
    control: u32,
    /// `ip` at the start of the system routine, if STATE_SIP has set it.
    system_routine: Option<u32>,
}

impl Dispatch {
    /// Resolves the loaded descriptor number `index`.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if no MEDIA_VFE_STATE was executed before, if the descriptor is not
    /// loaded, or if a field of the descriptor has an illegal value.
    pub fn resolve(exec: &mut Exec<'_>, index: u64) -> Result<Dispatch, Fault> {
        let Some(vfe) = exec.state.vfe else {
            let why = "no MEDIA_VFE_STATE was executed before this packet";
            return Err(exec.bad_field("MEDIA_VFE_STATE", 0, why));
        };
        let Some(descriptor) =
            exec.state.interface_descriptors.entries.get(index as usize).copied()
        else {
            let loaded = exec.state.interface_descriptors.entries.len();
            let why = format!("only {loaded} descriptors are loaded");
            return Err(exec.bad_field("Interface Descriptor Offset", index, why));
        };
        // The field counts units of 4 KiB (2d p.232).
        let slm = match descriptor.shared_local_memory_size.bits() {
            size @ (0 | 1 | 2 | 4 | 8 | 16) => (size as usize) << 12,
            other => {
                let why = "the size must be 0, 1, 2, 4, 8 or 16 blocks of 4 KiB";
                return Err(exec.bad_field("Shared Local Memory Size", other, why));
            }
        };
        let (own, shared) = (
            descriptor.constant_indirect_urb_entry_read_length.get(),
            descriptor.cross_thread_constant_data_read_length.get(),
        );
        // Without constants the read offset is ignored (2d p.231).
        let skip = match own > 0 || shared > 0 && READ_OFFSET_COUNTS_FOR_SHARED_CONSTANTS {
            true => descriptor.constant_urb_entry_read_offset.get(),
            false => 0,
        };
        if skip + if own > 0 { own } else { shared } > 1984 {
            let why = "offset plus length must not exceed the 1984 registers of the URB (2d p.231)";
            return Err(exec.bad_field("Constant URB Entry Read Offset", skip, why));
        }
        let base = exec.state.base;
        let offset = descriptor.kernel_start_pointer.get();
        let kernel = cache::decode(exec, base.instruction.wrapping_add(offset), offset as u32);
        let table = base.surface.wrapping_add(descriptor.binding_table_pointer.get());
        let samplers = Samplers::new(
            base.dynamic,
            base.dynamic.wrapping_add(descriptor.sampler_state_pointer.get()),
        );
        let constants =
            exec.state.curbe.get(skip as usize * REGISTER..).unwrap_or_default().to_vec();
        Ok(Dispatch {
            program: Program {
                kernel,
                bindings: Bindings::new(base.surface, table).with_samplers(samplers),
            },
            control: control(&descriptor),
            system_routine: exec.state.sip.map(|sip| sip.system_instruction_pointer.get() as u32),
            constants,
            indirect: false,
            slm,
            descriptor,
            vfe,
        })
    }

    /// Number of bytes of constants that are loaded, from the descriptor's read offset on.
    pub fn loaded(&self) -> u64 {
        self.constants.len() as u64
    }

    /// Replaces the constants of the CURBE with indirect data.
    pub fn replace_constants(&mut self, data: Vec<u8>) {
        self.constants = data;
        self.indirect = true;
    }

    /// Appends the constants of thread `thread` of a group to `payload`: the registers that all
    /// threads share, and the thread's own registers. In memory, the shared registers come first.
    /// In the payload they also come first, except for indirect data
    /// (assumptions::INDIRECT_DATA_OF_A_THREAD_COMES_FIRST).
    pub fn push_shares(&self, payload: &mut Vec<u8>, thread: usize) {
        let shared = self.descriptor.cross_thread_constant_data_read_length.get() as usize;
        let own = self.descriptor.constant_indirect_urb_entry_read_length.get() as usize;
        let (all, one) = ((0, shared), (shared + thread * own, own));
        let order = if self.indirect && INDIRECT_DATA_OF_A_THREAD_COMES_FIRST {
            [one, all]
        } else {
            [all, one]
        };
        for (first, registers) in order {
            self.push_constants(payload, first, registers);
        }
    }

    /// Replaces the registers of another thread of the group in `shares`, the constants that
    /// [`push_shares`](Self::push_shares) appended for it, by those of thread `thread`.
    pub fn replace_own(&self, shares: &mut [u8], thread: usize) {
        let shared = self.descriptor.cross_thread_constant_data_read_length.get() as usize;
        let own = self.descriptor.constant_indirect_urb_entry_read_length.get() as usize;
        let first = if self.indirect && INDIRECT_DATA_OF_A_THREAD_COMES_FIRST { 0 } else { shared };
        let shares = &mut shares[first * REGISTER..][..own * REGISTER];
        let start = (shared + thread * own) * REGISTER;
        let loaded = self.constants.get(start..).unwrap_or_default();
        let (there, missing) = shares.split_at_mut(loaded.len().min(own * REGISTER));
        there.copy_from_slice(&loaded[..there.len()]);
        missing.fill(0);
    }

    /// Appends `registers` registers of constants, from register `first` on. Registers that were
    /// not loaded are 0.
    pub fn push_constants(&self, payload: &mut Vec<u8>, first: usize, registers: usize) {
        let start = first.saturating_mul(REGISTER).min(self.constants.len());
        let end =
            start.saturating_add(registers.saturating_mul(REGISTER)).min(self.constants.len());
        let length = payload.len() + registers.min(MAX_PAYLOAD + 1) * REGISTER;
        payload.extend_from_slice(&self.constants[start..end]);
        payload.resize(length, 0);
    }

    /// Refuses a payload of `registers` registers if the register file has fewer.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the payload is too long.
    pub fn check_payload(&self, exec: &Exec<'_>, registers: usize) -> Result<(), Fault> {
        if registers > MAX_PAYLOAD {
            return Err(exec.bad_field(
                "thread payload",
                registers as u64,
                "a thread has 128 registers",
            ));
        }
        Ok(())
    }

    /// Number of scratch slots: the areas of scratch space of which each running thread gets one.
    pub fn scratch_slots(&self) -> u64 {
        self.vfe.maximum_number_of_threads.get().min(MAX_FFTID)
    }

    /// Address of the scratch space of scratch slot `slot`, as an offset from General State Base
    /// Address. The scratch spaces of all slots are contiguous.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if the address of a slot does not fit the thread's header.
    pub fn scratch(
        &self,
        exec: &Exec<'_>,
        slot: u64,
    ) -> Result<Address<GeneralState, 1024, 32>, Fault> {
        let base = self.vfe.scratch_space_base_pointer.get();
        let at = base.wrapping_add(slot << (10 + self.vfe.per_thread_scratch_space.get()));
        Address::new(at).map_err(|_| {
            let why = format!(
                "the address of scratch slot {slot} is {at:#x}, which does not fit the 32 bits \
                of r0.5 (2d)"
            );
            exec.bad_field("Scratch Space Base Pointer", base, why)
        })
    }

    /// Sets all fields of `launch`, the state that a thread starts with, except the payload.
    /// `number` is the number of the hardware thread, `fftid` the number of its scratch slot.
    pub fn launch(&self, launch: &mut Launch, mask: u32, number: u32, fftid: u64) {
        // The vector mask enables all four channels of each group of four with a live channel
        // (004:3000ff).
        let groups = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111;
        launch.dispatch_mask = mask;
        launch.vector_mask = groups * 15;
        launch.control = self.control;
        launch.exceptions = exceptions(&self.descriptor);
        launch.system_routine = self.system_routine;
        launch.state = state(number, fftid, self.descriptor.thread_priority);
    }
}

/// `sr0.0` and `sr0.1` of a thread.
fn state(number: u32, fftid: u64, priority: Priority) -> [u32; 2] {
    let register = StateRegister {
        fixed_function_identifier: U::from_bits(THREAD_SPAWNER.into()),
        priority_class: priority == Priority::HIGH_PRIORITY,
        fixed_function_thread_identifier: U::from_bits(fftid & 0xff),
        ..place(number)
    };
    let [state, ids, ..] = register.pack();
    [state, ids]
}

/// Initial value of `cr0.1`.
fn exceptions(descriptor: &InterfaceDescriptorData) -> u32 {
    ControlRegister {
        illegal_opcode_enable: descriptor.illegal_opcode_exception_enable,
        software_exception_enable: descriptor.software_exception_enable,
        mask_stack_enable: descriptor.mask_stack_exception_enable,
        ..ControlRegister::new()
    }
    .pack()[1]
}

/// Initial value of `cr0.0` (004:3081-3250): float mode, single program flow, rounding and
/// denormals. Single-precision denormals are flushed; half and double ones are kept (2d
/// INTERFACE_DESCRIPTOR_DATA Denorm Mode).
fn control(descriptor: &InterfaceDescriptorData) -> u32 {
    (descriptor.floating_point_mode.bits()
        | descriptor.single_program_flow.bits() << 2
        | descriptor.rounding_mode.bits() << 4) as u32
        | SUBNORMAL_BITS_AT_START
}
