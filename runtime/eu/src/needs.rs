//! What a kernel needs from the state of its stage: an end of thread, entries of the binding table
//! and the sampler table, scratch space, and room in the URB entry that it writes.
//!
//! Only messages whose descriptor is in the instruction are counted. Descriptors in registers, and
//! offsets in headers, can need more.

use crate::gen8::{eu_messages as msd, messages as md};
use crate::instruction::{Descriptor, SharedFunction};
use crate::kernel;
use crate::surface;

/// Bytes of a register, and of a pair of owords in the URB.
const REGISTER: u32 = 32;

/// The needs of a kernel.
///
/// ```
/// use genxml_eu::needs::Needs;
///
/// // send (8|M0) null r112 0x27 0x02000010 {EOT}
/// let end = [0x0780_0031u32, 0x2000_0a40, 0x0e00_0e00, 0x8200_0010];
/// let bytes: Vec<u8> = end.iter().flat_map(|dword| dword.to_le_bytes()).collect();
/// let needs = Needs::of(&bytes);
/// assert!(needs.ends && needs.surfaces.is_none());
/// assert!(!Needs::of(&[]).ends);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// True if an instruction ends the thread.
    pub ends: bool,
    /// Entries of the binding table: the largest index that a message names, plus one.
    pub surfaces: Option<Need>,
    /// Entries of the sampler table: the largest index that a message names, plus one.
    pub samplers: Option<Need>,
    /// Bytes of scratch space: the end of the highest block that a scratch block message reads or
    /// writes.
    pub scratch: Option<Need>,
    /// Bytes of a URB entry: the end of the highest part that a message without slot offsets
    /// writes.
    pub urb: Option<Need>,
}

/// An amount, and the instruction that needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// The amount: entries or bytes.
    pub amount: u32,
    /// Bytes from the start of the kernel to the instruction.
    pub position: u64,
}

impl Needs {
    /// The needs of the kernel in these bytes. The bytes after its last end of thread must be other
    /// instructions or zeros. Instructions that cannot be decoded need nothing.
    pub fn of(bytes: &[u8]) -> Needs {
        let mut needs = Needs::default();
        for located in kernel::instructions(bytes).flatten() {
            needs.ends |= located.instruction.ends_thread();
            let Some(send) = located.instruction.send else { continue };
            let Descriptor::Immediate(descriptor) = send.descriptor else { continue };
            let next = |index: u8| u32::from(index) + 1;
            let surface = surface::binding_table_index(send.function, descriptor);
            let sampler = surface::sampler_index(send.function, descriptor);
            for (need, amount) in [
                (&mut needs.surfaces, surface.map(next)),
                (&mut needs.samplers, sampler.map(next)),
                (&mut needs.scratch, scratch(send.function, descriptor)),
                (&mut needs.urb, urb(send.function, descriptor)),
            ] {
                let Some(amount) = amount else { continue };
                if need.is_none_or(|need| need.amount < amount) {
                    *need = Some(Need { amount, position: located.position });
                }
            }
        }
        needs
    }
}

/// Bytes of scratch space up to the end of the block of a scratch block message (2d p.114).
fn scratch(function: SharedFunction, descriptor: u32) -> Option<u32> {
    let block = md::DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
    if function != SharedFunction::DataPort0 || block.legacy_dap_dc_message.bits() == 0 {
        return None;
    }
    let block = msd::Msd0Scratch::unpack_lossy(&[descriptor]);
    Some(REGISTER * (block.offset.get() + block.block_size.get()) as u32)
}

/// Bytes of the URB entry up to the end of what a message writes. The unit of Global Offset is an
/// oword, for messages of whole registers a pair of owords.
fn urb(function: SharedFunction, descriptor: u32) -> Option<u32> {
    use md::UrbMessageDescriptorUrbOpcode as Opcode;
    if function != SharedFunction::Urb {
        return None;
    }
    let message = md::UrbMessageDescriptor::unpack_lossy(&[descriptor]);
    if message.per_slot_offset {
        return None;
    }
    let masked = message.swizzle_control
        == md::UrbMessageDescriptorSwizzleControl::INTERLEAVE_OR_CHANNEL_MASK_PRESENT;
    let (offset, sent) = (message.global_offset.get() as u32, message.message_length.get() as u32);
    // The header, or the handles.
    let data = sent.checked_sub(1)?;
    const OWORD: u32 = REGISTER / 2;
    match message.urb_opcode {
        // A register holds one dword for each of eight entries.
        Opcode::SIMD8_WRITE => Some(OWORD * offset + 4 * data.checked_sub(u32::from(masked))?),
        Opcode::WRITE_OWORD => Some(OWORD * (offset + data.min(1))),
        // Interleaved registers hold halves of two entries.
        Opcode::WRITE_HWORD if masked => Some(REGISTER * offset + OWORD * data),
        Opcode::WRITE_HWORD => Some(REGISTER * (offset + data)),
        _ => None,
    }
}
