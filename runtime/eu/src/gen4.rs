//! The positions of fields on Gen4, G45 and Gen5. These generations have most fields of Gen8 at
//! other positions, so this module moves the bits of an instruction to their positions on Gen8, and
//! back. What reads and prints Gen8's form then also works for Gen4.
//!
//! Gen8's form has the compression in the bits of the quarter (QtrCtrl), and the exit code of a
//! branch or the descriptor of a message as an immediate source 1.

use crate::gen8::eu::{self as gen8, AddrMode, RegFile};
use crate::gen8::eu_gen4::*;
use crate::generation::Generation;
use genxml_core::U;

/// Controls that only Gen4, G45 and Gen5 have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Gen4Controls {
    /// Whether the instruction stands for two instructions of half its size.
    pub compression: Compression,
    /// Messages: the first message register of the payload. Source 0 is copied there first, unless
    /// it is null.
    pub message_register: u8,
    /// Branches: levels that are popped off the mask stack if the jump is taken.
    pub pop_count: u8,
    /// The continue mask is ignored (MaskCtrlEx). Mesa's language has no word for it.
    pub no_continue_mask: bool,
}

impl Gen4Controls {
    /// No compression, and zero otherwise.
    pub const NONE: Self = Gen4Controls {
        compression: Compression::None,
        message_register: 0,
        pop_count: 0,
        no_continue_mask: false,
    };
}

/// Compression: one instruction of 16 or 32 channels that stands for two, the second with the next
/// registers and the second half of flags, masks and accumulators.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Compression {
    /// One instruction.
    #[default]
    None,
    /// Two instructions.
    Compr,
    /// Two instructions; the destination is a message register, and that of the second is four
    /// registers further.
    Compr4,
}

/// Moves the bits of an instruction of Gen4 to the places that its fields have on Gen8.
pub(crate) fn newer(native: &[u32; 4]) -> [u32; 4] {
    let controls = EuControlsGen4::unpack_lossy(&[native[0]]);
    let [first] = EuControlsCut {
        low: controls.low,
        dep_ctrl: controls.dep_ctrl,
        nib_ctrl: U::ZERO,
        qtr_ctrl: U::from_bits(controls.compr_ctrl.bits()),
        high: controls.high,
    }
    .pack();
    let operands = EuOperandControlsGen4::unpack_lossy(&[native[1]]);
    let half = [native[2], native[3]];
    let sources = EuSourcesGen4::unpack_lossy(&half);
    let (region, sign) = newer_address(operands.destination_register_region);
    let [second] = EuOperandControlsCut {
        flag_subregister_number: sources.flag_subregister_number,
        flag_register_number: U::ZERO,
        mask_ctrl: controls.mask_ctrl,
        destination_register_file: operands.destination_register_file,
        destination_data_type: wider(operands.destination_data_type),
        src0_reg_file: operands.src0_reg_file,
        src0_src_type: wider(operands.src0_src_type),
        destination_address_immediate_9_9: sign,
        destination_register_region: region,
    }
    .pack();
    let (source_0, sign_0) = newer_source(sources.source_0);
    let (source_1, sign_1) = newer_source(sources.source_1);
    let [third, fourth] = gen8::EuInstructionSourcesRegReg {
        source_0,
        src1_reg_file: operands.src1_reg_file,
        src1_src_type: gen8::SrcType::from_bits(operands.src1_src_type.bits()),
        source_0_address_immediate_9_9: sign_0,
        source_1,
        source_1_address_immediate_9_9: sign_1,
    }
    .pack();
    [first, second, third, if has_immediate(&operands) { native[3] } else { fourth }]
}

/// The inverse of [`newer`]: moves the bits of an instruction back to their places on Gen4. `code`
/// is the opcode.
pub(crate) fn older(dwords: &[u32; 4], code: u8) -> [u32; 4] {
    let header = gen8::EuInstructionHeader {
        opcode: gen8::EuOpcode::from_bits(u64::from(code)),
        ..gen8::EuInstructionHeader::unpack_lossy(&[dwords[0]])
    };
    let controls = EuControlsCut::unpack_lossy(&header.pack());
    let second = EuOperandControlsCut::unpack_lossy(&[dwords[1]]);
    let half = [dwords[2], dwords[3]];
    let sources = gen8::EuInstructionSourcesRegReg::unpack_lossy(&half);
    let [first] = EuControlsGen4 {
        low: controls.low,
        mask_ctrl: second.mask_ctrl,
        dep_ctrl: controls.dep_ctrl,
        compr_ctrl: ComprCtrlGen4::from_bits(controls.qtr_ctrl.bits()),
        high: controls.high,
    }
    .pack();
    let operands = EuOperandControlsGen4 {
        destination_register_file: second.destination_register_file,
        destination_data_type: narrower(second.destination_data_type),
        src0_reg_file: second.src0_reg_file,
        src0_src_type: narrower(second.src0_src_type),
        src1_reg_file: sources.src1_reg_file,
        src1_src_type: U::from_bits(sources.src1_src_type.bits() % 8),
        destination_register_region: older_address(
            second.destination_register_region,
            second.destination_address_immediate_9_9,
        ),
    };
    let [third, fourth] = EuSourcesGen4 {
        source_0: older_source(sources.source_0, sources.source_0_address_immediate_9_9),
        flag_subregister_number: second.flag_subregister_number,
        shared_function_id: U::ZERO,
        source_1: older_source(sources.source_1, sources.source_1_address_immediate_9_9),
    }
    .pack();
    let fourth = if has_immediate(&operands) { half[1] } else { fourth };
    [first, operands.pack()[0], third, fourth]
}

/// True if the last dword is an immediate.
fn has_immediate(operands: &EuOperandControlsGen4) -> bool {
    operands.src0_reg_file == RegFile::IMM || operands.src1_reg_file == RegFile::IMM
}

fn wider(ty: U<3>) -> U<4> {
    U::from_bits(ty.bits())
}

/// The three bits that a type has on Gen4. The encoder's types have no others.
fn narrower(ty: U<4>) -> U<3> {
    U::from_bits(ty.bits() % 8)
}

/// The lower 16 bits of an operand in Gen8's form, and the sign of an address immediate.
fn newer_address(bits: U<16>) -> (U<16>, bool) {
    let address = EuAddressGen4::unpack_lossy(&[bits.get() as u32]);
    if address.addressing_mode == AddrMode::DIRECT {
        return (bits, false);
    }
    let [bits] = EuAddressCut {
        address_immediate_8_0: address.address_immediate_8_0,
        address_subregister_number: U::from_bits(address.address_subregister_number.bits()),
        rest: address.rest,
        addressing_mode: address.addressing_mode,
    }
    .pack();
    (U::from_bits(u64::from(bits)), address.address_immediate_9_9)
}

/// The inverse of [`newer_address`].
fn older_address(bits: U<16>, sign: bool) -> U<16> {
    let address = EuAddressCut::unpack_lossy(&[bits.get() as u32]);
    if address.addressing_mode == AddrMode::DIRECT {
        return bits;
    }
    let [bits] = EuAddressGen4 {
        address_immediate_8_0: address.address_immediate_8_0,
        address_immediate_9_9: sign,
        address_subregister_number: U::from_bits(address.address_subregister_number.bits() % 8),
        rest: address.rest,
        addressing_mode: address.addressing_mode,
    }
    .pack();
    U::from_bits(u64::from(bits))
}

fn newer_source(bits: U<25>) -> (U<25>, bool) {
    let halves = EuSourceHalves::unpack_lossy(&[bits.get() as u32]);
    let (address, sign) = newer_address(halves.address);
    let [bits] = EuSourceHalves { address, ..halves }.pack();
    (U::from_bits(u64::from(bits)), sign)
}

fn older_source(bits: U<25>, sign: bool) -> U<25> {
    let halves = EuSourceHalves::unpack_lossy(&[bits.get() as u32]);
    let [bits] = EuSourceHalves { address: older_address(halves.address, sign), ..halves }.pack();
    U::from_bits(u64::from(bits))
}

/// Registers that a message sends and returns.
pub(crate) fn lengths(generation: Generation, descriptor: u32) -> (u64, u64) {
    if generation == Generation::Gen5 {
        let message =
            gen8::EuInstructionOperandSendMsg::unpack_lossy(&[descriptor]).message_descriptor;
        return (message.message_length.get(), message.response_length.get());
    }
    let message = EuSendDescriptorGen4::unpack_lossy(&[descriptor]);
    (message.message_length.get(), message.response_length.get())
}
