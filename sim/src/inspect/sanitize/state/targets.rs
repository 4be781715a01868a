//! The memory that packets point to: vertex buffers, the index buffer and constant buffers. These
//! packets have graphics addresses, and a context keeps them from submission to submission. But the
//! memory at an address can change with each submission, because Linux binds only the objects that
//! the submission lists.

use crate::machine::state::State;
use crate::machine::view::View;
use crate::mem::Va;
use crate::unit::resource_streamer::pool::Pool;
use genxml::gen8::RenderPacket;
use genxml::gen8::registers::Instpm;
use genxml::gen8::render3d_constants::ThreeDStateConstantBody;
use std::collections::BTreeMap;
use std::fmt;

/// Largest number of buffers that one packet points to: the constant buffers of a stage.
pub const BUFFERS: usize = 4;

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

/// The memory objects of the driver that are mapped for a submission: size by address. Empty if
/// they are not reported.
#[derive(Debug, Default)]
pub struct Objects(BTreeMap<u64, u64>);

impl Objects {
    /// The objects of the next submission, as addresses and sizes in bytes.
    pub fn replace(&mut self, list: &[(u64, u64)]) {
        self.0.clear();
        self.0.extend(list.iter().copied());
    }

    /// The memory at a graphics address; `None` if no memory is mapped there, or if the address is
    /// outside of all reported objects.
    pub fn target(&self, view: &dyn View, address: u64) -> Option<Target> {
        let physical = view.physical(address)?;
        if self.0.is_empty() {
            return Some(Target { address, object: None, physical });
        }
        let (&start, &size) = self.0.range(..=address).next_back()?;
        let inside = address - start < size;
        inside.then_some(Target { address, object: Some((start, size)), physical })
    }
}

/// True if the address of constant buffer 0 is not relative to Dynamic State Base Address.
pub fn is_absolute(state: &State) -> bool {
    let switches = Instpm::unpack_lossy(&[state.registers.read(Instpm::OFFSET)]);
    switches.constant_buffer_address_offset_disable
}

/// The graphics addresses of the constant buffers of a stage, each at its number; `None` for a
/// buffer of length 0.
pub fn constants(state: &State, body: &ThreeDStateConstantBody) -> [Option<u64>; BUFFERS] {
    let base = match is_absolute(state) {
        true => 0,
        false => state.base.dynamic,
    };
    let offset = body.pointer_to_constant_buffer_1.va48();
    let gathered = match Pool::of_constants(&state.latched.read(0)) {
        Some(pool) => pool.address(offset),
        None => offset,
    };
    let buffers = [
        (
            body.constant_buffer_0_read_length,
            body.pointer_to_constant_buffer_0.va48().wrapping_add(base),
        ),
        (body.constant_buffer_1_read_length, gathered),
        (body.constant_buffer_2_read_length, body.pointer_to_constant_buffer_2.va48()),
        (body.constant_buffer_3_read_length, body.pointer_to_constant_buffer_3.va48()),
    ];
    buffers.map(|(length, address)| (length.get() != 0).then_some(address))
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
