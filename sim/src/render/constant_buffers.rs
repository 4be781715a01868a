//! The constant buffers of a stage (3DSTATE_CONSTANT_VS and those of the other stages).

use crate::machine::state::State;
use crate::unit::resource_streamer::gather::Buffer1;
use genxml::gen8::registers::Instpm;
use genxml::gen8::render3d_constants::ThreeDStateConstantBody;

/// Number of constant buffers of a stage.
pub const BUFFERS: usize = 4;

/// A constant buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConstantBuffer {
    /// Length in registers of 32 bytes; 0 if the stage does not read the buffer.
    pub registers: u64,
    /// Graphics address of the first byte.
    pub address: u64,
}

/// True if the address of constant buffer 0 is not relative to Dynamic State Base Address.
pub fn is_absolute(state: &State) -> bool {
    let switches = Instpm::unpack_lossy(&[state.registers.read(Instpm::OFFSET)]);
    switches.constant_buffer_address_offset_disable
}

/// The four constant buffers of a stage, each at its number (gen8_facts 3.2). With a gather pool,
/// buffer 1 is in the pool.
pub fn constant_buffers(
    state: &State,
    body: &ThreeDStateConstantBody,
) -> [ConstantBuffer; BUFFERS] {
    let base = if is_absolute(state) { 0 } else { state.base.dynamic };
    let gathered = Buffer1::of(state, body.pointer_to_constant_buffer_1.va48());
    [
        (
            body.constant_buffer_0_read_length,
            body.pointer_to_constant_buffer_0.va48().wrapping_add(base),
        ),
        (body.constant_buffer_1_read_length, gathered.address()),
        (body.constant_buffer_2_read_length, body.pointer_to_constant_buffer_2.va48()),
        (body.constant_buffer_3_read_length, body.pointer_to_constant_buffer_3.va48()),
    ]
    .map(|(length, address)| ConstantBuffer { registers: length.get(), address })
}
