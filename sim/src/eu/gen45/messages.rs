//! The receiver of a message of G45, from the descriptor.

use crate::eu::regions::{MRF, REGISTER};
use crate::machine::fault::Refusal;
use genxml_eu::Generation;
use genxml_eu::instruction::SharedFunction;
use genxml_eu::message::{lengths_on, receiver_gen4};

/// The shared function that receives the message with this descriptor, whose payload begins at byte
/// `payload` of the file.
///
/// # Errors
/// The message has registers after `m15` (003:7534).
pub fn receiver(descriptor: u32, payload: u16) -> Result<SharedFunction, Refusal> {
    let first = usize::from(payload).saturating_sub(MRF) / REGISTER;
    let (length, _) = lengths_on(Generation::Gen45, descriptor);
    if first + length as usize > 16 {
        let why = format!("send: {length} message registers from m{first}, of 16");
        return Err(Refusal::illegal(why));
    }
    Ok(receiver_gen4(descriptor))
}
