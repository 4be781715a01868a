//! Construction of messages from their parts in the text.

use crate::encoding;
use crate::gen8::eu as gen8;
use crate::instruction::{Descriptor, Send, SharedFunction};

/// A message to the function with this number. Bit 31 of the descriptor is the end of thread.
pub(super) fn message(function: u8, descriptor: Descriptor, end_of_thread: bool) -> Send {
    let sfid = gen8::Sfid::new(u64::from(function)).ok();
    let known = sfid.and_then(|sfid| encoding::SHARED_FUNCTION.decode(sfid));
    let function = known.unwrap_or(SharedFunction::Reserved(function));
    match descriptor {
        Descriptor::Immediate(dword) => {
            let message = gen8::EuInstructionOperandSendMsg::unpack_lossy(&[dword]);
            let end_of_thread = end_of_thread || message.eot;
            let [dword] = gen8::EuInstructionOperandSendMsg { eot: false, ..message }.pack();
            Send { function, descriptor: Descriptor::Immediate(dword), end_of_thread }
        }
        address => Send { function, descriptor: address, end_of_thread },
    }
}
