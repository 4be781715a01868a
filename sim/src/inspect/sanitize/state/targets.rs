//! The memory that packets point to: vertex buffers, the index buffer and constant buffers. These
//! packets have graphics addresses, and a context keeps them from submission to submission. But the
//! memory at an address can change with each submission, because Linux binds only the objects that
//! the submission lists.

use crate::inspect::objects::Objects;
use crate::machine::state::State;
use crate::machine::view::View;
use crate::mem::Va;
use crate::render::constant_buffers::{BUFFERS, constant_buffers};
use genxml::gen8::RenderPacket;
use genxml::gen8::render3d_constants::ThreeDStateConstantBody;
use std::fmt;

/// Memory at a graphics address during one submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The graphics address.
    pub address: u64,
    /// Address and size of the driver's object that has the address, if objects are reported.
    pub object: Option<(u64, u64)>,
    /// The physical address.
    pub physical: u64,
}

/// `the object of 0x3000 bytes at 0x0000_0001_0000`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.object {
            Some((start, size)) => write!(f, "the object of {size:#x} bytes at {}", Va(start)),
            None => write!(f, "physical address {:#x}", self.physical),
        }
    }
}

impl Target {
    /// The memory at a graphics address; `None` if no memory is mapped there, or if the address is
    /// outside of all reported objects.
    pub fn at(objects: &Objects, view: &dyn View, address: u64) -> Option<Target> {
        let physical = view.physical(address)?;
        let object = match objects.is_empty() {
            true => None,
            false => Some(objects.containing(address)?),
        };
        Some(Target { address, object, physical })
    }
}

/// The graphics addresses of the constant buffers of a stage, each at its number; `None` for a
/// buffer of length 0.
pub fn constants(state: &State, body: &ThreeDStateConstantBody) -> [Option<u64>; BUFFERS] {
    constant_buffers(state, body).map(|buffer| (buffer.registers != 0).then_some(buffer.address))
}

/// The buffers that a packet points to, other than 3DSTATE_VERTEX_BUFFERS, each at its number.
pub fn of_packet(state: &State, packet: &RenderPacket<'_>) -> [Option<u64>; BUFFERS] {
    let body = match packet {
        RenderPacket::ThreeDStateConstantVs(packet) => packet.unpack_lossy().constant_body,
        RenderPacket::ThreeDStateConstantHs(packet) => packet.unpack_lossy().constant_body,
        RenderPacket::ThreeDStateConstantDs(packet) => packet.unpack_lossy().constant_body,
        RenderPacket::ThreeDStateConstantGs(packet) => packet.unpack_lossy().constant_body,
        RenderPacket::ThreeDStateConstantPs(packet) => packet.unpack_lossy().constant_body,
        RenderPacket::ThreeDStateIndexBuffer(packet) => {
            let address = packet.unpack_lossy().buffer_starting_address.va48();
            return [Some(address), None, None, None];
        }
        _ => return [None; BUFFERS],
    };
    constants(state, &body)
}
