//! Decodes instructions of Gen4, G45 and Gen5. Their bits are first moved to the positions of Gen8
//! ([`gen4`](crate::gen4)).

use super::fields::{Decoder, Result, illegal};
use crate::encoding as enc;
use crate::gen4;
use crate::gen8::eu as gen8;
use crate::gen8::eu_gen4::*;
use crate::instruction::*;
use crate::ops::{Format, Opcode};
use crate::problem::{Problem, operation};

/// Decodes the 16-byte form. `length` is the size in memory.
pub(super) fn native_form(
    generation: Generation,
    native: &[u32; 4],
    length: i32,
) -> Result<Instruction, Problem> {
    let dwords = &gen4::newer(native);
    let header = gen8::EuInstructionHeader::unpack_lossy(&[dwords[0]]);
    let Some(opcode) = operation(generation, native[0]) else {
        return Ok(illegal(generation, native[0]));
    };
    let types = enc::Types::of(generation);
    let decoder = Decoder { generation, types, opcode, dwords, length, header };
    let mut instruction = match opcode.op().format {
        Format::Bare => return Ok(decoder.bare()),
        Format::Loop => decoder.start()?.0,
        Format::Send => decoder.send_gen4(native)?,
        Format::JumpIndexed => decoder.jump_gen4()?,
        Format::BranchOne | Format::BranchTwo => decoder.exit_gen4()?,
        Format::Wait => decoder.one_source()?,
        _ => decoder.basic()?,
    };
    let indirect = matches!(
        instruction.destination,
        Some(Destination { register: Register::Indirect { .. }, .. })
    );
    let operands = EuOperandControlsGen4::unpack_lossy(&[native[1]]);
    let file = operands.destination_register_file.bits();
    if indirect && file == RegFileGen4::MRF.bits() {
        return Err(decoder.reserved("Destination Register File", file));
    }
    let controls = EuControlsGen4::unpack_lossy(&[native[0]]);
    let gen4 = &mut instruction.gen4;
    (instruction.channel_offset, gen4.compression) = match controls.compr_ctrl {
        ComprCtrlGen4::NONE => (0, Compression::None),
        ComprCtrlGen4::SEC_HALF => (8, Compression::None),
        ComprCtrlGen4::COMPR if instruction.destination.is_some() && apart(&operands) => {
            (0, Compression::Compr4)
        }
        ComprCtrlGen4::COMPR => (0, Compression::Compr),
        control => return Err(decoder.reserved("ComprCtrl", control.bits())),
    };
    gen4.no_continue_mask = header.control.controls_b.acc_wr_ctrl;
    instruction.acc_write = false;
    instruction.branch_ctrl = false;
    Ok(instruction)
}

/// True if the destination is a message register with Compr4.
fn apart(operands: &EuOperandControlsGen4) -> bool {
    let region = [operands.destination_register_region.get() as u32];
    let number = gen8::EuInstructionOperandDst::unpack_lossy(&region).destination_register_number;
    operands.destination_register_file.bits() == RegFileGen4::MRF.bits()
        && MrfNumberGen4::unpack_lossy(&[number.get() as u32]).compr4
}

impl Decoder<'_> {
    /// A message. On Gen4 and G45, the receiver is in the descriptor; if the descriptor is in a
    /// register, the instruction does not say it, and this function returns the null receiver.
    fn send_gen4(&self, native: &[u32; 4]) -> Result<Instruction> {
        let mut instruction = self.send()?;
        let send = gen8::EuInstructionSend::unpack_lossy(self.dwords);
        instruction.gen4.message_register = send.shared_function_id_sfid.bits() as u8;
        let Some(message) = &mut instruction.send else { return Ok(instruction) };
        let function = match (self.generation, &mut message.descriptor) {
            (Generation::Gen5, _) => {
                EuSourcesGen4::unpack_lossy(&[native[2], native[3]]).shared_function_id.get()
            }
            (_, Descriptor::Immediate(descriptor)) => {
                // Without reserved bits.
                let parts = EuSendDescriptorGen4::unpack_lossy(&[*descriptor]);
                [*descriptor] = parts.pack();
                parts.target_function_id.get()
            }
            (_, Descriptor::Address(_)) => 0,
        };
        let known = enc::SHARED_FUNCTION_GEN4.decode(SfidGen4::from_bits(function));
        message.function = known.unwrap_or(SharedFunction::Reserved(function as u8));
        Ok(instruction)
    }

    /// `jmpi`: the distance is in units, from the next instruction.
    fn jump_gen4(&self) -> Result<Instruction> {
        let mut instruction = self.jump()?;
        if let Some(branch) = &mut instruction.branch {
            let count = branch.jip.wrapping_sub(self.length);
            let unit = self.generation.jump_unit();
            branch.jip = count.wrapping_mul(unit).wrapping_add(16);
        }
        Ok(instruction)
    }

    /// A branch with an exit code.
    fn exit_gen4(&self) -> Result<Instruction> {
        let (mut instruction, _) = self.start()?;
        let code = EuExitCodeGen4::unpack_lossy(&[self.dwords[3]]);
        instruction.gen4.pop_count = code.pop_count.get() as u8;
        if self.opcode != Opcode::Endif {
            let jip = code.jump_count.get() as i32 * self.generation.jump_unit();
            instruction.branch = Some(Branch { jip, uip: None });
        }
        Ok(instruction)
    }
}
