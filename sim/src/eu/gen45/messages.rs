//! The receiver of a message of G45, from the descriptor.

use crate::eu::regions::{MRF, REGISTER};
use crate::machine::fault::Refusal;
use genxml_eu::gen8::eu_gen4::EuSendDescriptorGen4;
use genxml_eu::instruction::SharedFunction;

/// The shared function that receives the message with this descriptor, whose payload begins at byte
/// `payload` of the file.
///
/// # Errors
/// The message has registers after `m15` (003:7534).
pub fn receiver(descriptor: u32, payload: u16) -> Result<SharedFunction, Refusal> {
    let parts = EuSendDescriptorGen4::unpack_lossy(&[descriptor]);
    let first = usize::from(payload).saturating_sub(MRF) / REGISTER;
    let length = parts.message_length.get() as usize;
    if first + length > 16 {
        let why = format!("send: {length} message registers from m{first}, of 16");
        return Err(Refusal::illegal(why));
    }
    Ok(match parts.target_function_id.get() {
        0 => SharedFunction::Null,
        1 => SharedFunction::Math,
        2 => SharedFunction::Sampler,
        3 => SharedFunction::Gateway,
        4 => SharedFunction::DataPortRead,
        5 => SharedFunction::DataPortWrite,
        6 => SharedFunction::Urb,
        7 => SharedFunction::ThreadSpawner,
        number => SharedFunction::Reserved(number as u8),
    })
}
