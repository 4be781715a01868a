//! GPGPU threads fill a picture with one colour, on the model. The example has a kernel made from
//! typed instructions, the state that points to it, and a walker that starts 8 x 8 threads. Each
//! thread writes 8 x 8 pixels.

use genxml::batch::{Batch, Buffer, Heap, Submission};
use genxml::core::address::{DynamicState, Instruction as Instructions, SurfaceState};
use genxml::core::lit;
use genxml::engine::Render;
use genxml::eu::instruction::{
    DataType, Descriptor, Destination, Immediate, Operand, Region, Register, Send, SharedFunction,
    Source,
};
use genxml::eu::{Instruction, Opcode};
use genxml::gen8::media::*;
use genxml::gen8::messages::*;
use genxml::gen8::state::*;
use genxml::packet;
use genxml_sim::Gpu;
use std::error::Error;

/// Width and height of the picture, in pixels of 4 bytes.
pub const SIZE: usize = 64;

const TARGET: u64 = 0x100_0000;

/// An instruction with `operation` on `channels` dwords.
fn dwords<const N: usize>(
    operation: Opcode,
    channels: u8,
    to: Register,
    from: [Operand; N],
) -> Instruction {
    let mut instruction = Instruction::new(operation, channels);
    instruction.no_mask = true;
    instruction.destination = Some(Destination::new(to, DataType::Ud));
    instruction.sources[..N].copy_from_slice(&from);
    instruction
}

fn send(
    function: SharedFunction,
    descriptor: u32,
    payload: Register,
    end_of_thread: bool,
) -> Instruction {
    let region = Operand::Register(Source::new(payload, DataType::Ud, Region::packed(8)));
    let mut instruction = dwords(Opcode::Send, 8, Register::NULL, [region]);
    instruction.send =
        Some(Send { function, descriptor: Descriptor::Immediate(descriptor), end_of_thread });
    instruction
}

/// The kernel. Each thread writes the colour to one block with one media block write. The number of
/// its group in X (`r0.1`) and Y (`r0.6`) gives the position of the block.
fn kernel(color: u32) -> Result<Vec<u32>, Box<dyn Error>> {
    const fn dword(number: u8, index: u8) -> Register {
        Register::Grf { number, byte: 4 * index }
    }
    let scalar = |register| Operand::Register(Source::new(register, DataType::Ud, Region::SCALAR));
    let packed =
        |register| Operand::Register(Source::new(register, DataType::Ud, Region::packed(8)));
    let number = |bits: u32| Operand::Immediate(Immediate { ty: DataType::Ud, bits: bits.into() });

    let extent = packet! { MhcMbControl { block_width: 32, block_height: 8, .. } };
    let write = packet! {
        Msd1wMb { header_present: true, message_length: 9, binding_table_index: 0, .. }
    };
    let end = packet! { TsEot { message_length: 1, .. } };
    let mut instructions = vec![
        // The header of the message: left edge in bytes, top edge in rows, size of the block.
        dwords(Opcode::Mov, 8, Register::grf(10), [number(0)]),
        dwords(Opcode::Shl, 1, dword(10, 0), [scalar(dword(0, 1)), number(5)]),
        dwords(Opcode::Shl, 1, dword(10, 1), [scalar(dword(0, 6)), number(3)]),
        dwords(Opcode::Mov, 1, dword(10, 2), [number(extent.pack()[0])]),
    ];
    instructions
        .extend((11..19).map(|row| dwords(Opcode::Mov, 8, Register::grf(row), [number(color)])));
    instructions.extend([
        send(SharedFunction::DataPort1, write.pack()[0], Register::grf(10), false),
        dwords(Opcode::Mov, 8, Register::grf(112), [packed(Register::grf(0))]),
        send(SharedFunction::ThreadSpawner, end.pack()[0], Register::grf(112), true),
    ]);
    let encoded: Result<Vec<[u32; 4]>, _> = instructions.iter().map(Instruction::encode).collect();
    Ok(encoded?.concat())
}

/// The batch that fills the target with `color`, and everything that it points to. `fill_short`
/// builds the same batch with `genxml::setup`.
///
/// # Errors
/// None in practice.
pub fn submission(color: u32) -> Result<Submission, Box<dyn Error>> {
    let target = Buffer::new("target", TARGET, 4 * SIZE * SIZE)?;
    let mut surfaces = Heap::<SurfaceState>::new("surface state", 0x20_0000, 0x1_0000)?;
    let surface = packet! {
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_2D,
            surface_format: SurfaceFormat::R8G8B8A8_UNORM,
            extent: RenderSurfaceStateExtent::Image { width: lit!(64), height: lit!(64), depth: lit!(1) },
            surface_pitch: 256,
            surface_base_address: surfaces.writes(&target, 0)?,
            ..
        }
    };
    let surface = surfaces.put(&surface)?;
    let mut instructions = Heap::<Instructions>::new("instructions", 0x22_0000, 0x1_0000)?;
    let mut dynamic = Heap::<DynamicState>::new("dynamic state", 0x21_0000, 0x1_0000)?;
    let descriptor = packet! {
        InterfaceDescriptorData {
            kernel_start_pointer: instructions.kernel(&kernel(color)?)?,
            binding_table_pointer: surfaces.binding_table(&[surface])?,
            binding_table_entry_count: 1,
            number_of_threads_in_gpgpu_thread_group: 1,
            ..
        }
    };

    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_gpgpu()?;
    // A heap of 64 KiB has 16 pages. The bases that this batch does not use are 0.
    batch.emit(&StateBaseAddress {
        general_state_base_address_modify_enable: true,
        surface_state_base_address_modify_enable: true,
        surface_state_base_address: batch.reads(&surfaces, 0)?,
        dynamic_state_base_address_modify_enable: true,
        dynamic_state_base_address: batch.reads(&dynamic, 0)?,
        dynamic_state_buffer_size_modify_enable: true,
        dynamic_state_buffer_size: lit!(16),
        indirect_object_base_address_modify_enable: true,
        instruction_base_address_modify_enable: true,
        instruction_base_address: batch.reads(&instructions, 0)?,
        instruction_buffer_size_modify_enable: true,
        instruction_buffer_size: lit!(16),
        ..StateBaseAddress::new()
    })?;
    batch.emit(&packet! {
        MediaVfeState {
            maximum_number_of_threads: 64,
            number_of_urb_entries: 2,
            urb_entry_allocation_size: 2,
            ..
        }
    })?;
    batch.emit(&dynamic.interface_descriptors(&[descriptor])?)?;
    batch.emit(&packet! {
        GpgpuWalker {
            simd_size: GpgpuWalkerSimdSize::SIMD8,
            thread_group_id_x_dimension: 8,
            thread_group_id_y_dimension: 8,
            thread_group_id_z_dimension: 1,
            right_execution_mask: 0xffff_ffff,
            bottom_execution_mask: 0xffff_ffff,
            ..
        }
    })?;
    batch.emit(&MediaStateFlush::new())?;
    let heaps = [surfaces.finish(), dynamic.finish(), instructions.finish(), target];
    Ok(batch.finish()?.submit(heaps)?)
}

/// The pixels of a picture filled with `color`.
///
/// # Errors
/// None in practice.
pub fn filled(color: u32) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    gpu.execute(context, &submission(color)?)?;
    Ok(gpu.values(context, TARGET, SIZE * SIZE)?)
}

/// Fills the picture with blue. Prints the number of pixels and the first pixel.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn Error>> {
    let pixels = filled(0xffff_0000)?;
    println!("{} pixels, the first is {:#010x}", pixels.len(), pixels[0]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: every pixel has the colour.
    #[test]
    fn every_pixel_is_filled() {
        assert_eq!(filled(0x0102_0304).unwrap(), [0x0102_0304; SIZE * SIZE]);
        main().unwrap();
    }
}
