//! A first batch: eight threads of the GPU compute the squares of 0 to 63, on the model.
//!
//! The program has five steps: a kernel, the state that points to it, a batch that starts threads,
//! the model that runs the batch, and a check of the result.

use genxml::batch::{Batch, Buffer, Heap};
use genxml::core::address::{DynamicState, Instruction, SurfaceState};
use genxml::engine::Render;
use genxml::gen8::media::{GpgpuWalker, GpgpuWalkerSimdSize, MediaStateFlush, MediaVfeState};
use genxml::gen8::messages::{MdcDbOw, Msd0wOwb};
use genxml::gen8::state::{
    InterfaceDescriptorData, RenderSurfaceState, RenderSurfaceStateExtent, StateBaseAddress,
    SurfaceFormat, SurfaceType,
};
use genxml::{batch, eu, packet};
use genxml_sim::Gpu;
use std::error::Error;
use std::process::ExitCode;

/// Threads of the GPU. Each computes eight numbers, one in each channel.
const THREADS: u64 = 8;
/// Numbers that the threads write.
const COUNT: u64 = 8 * THREADS;
/// GPU address of the numbers.
const NUMBERS: u64 = 0x100_0000;

/// The kernel. The compiler assembles and checks it: try a wrong register or region.
const KERNEL: &[u32] = &eu! {
    mov (8|M0)       r2.0<1>:w    0x76543210:v                       // 0 to 7
    (W) shl (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  3:ud               // 8 * number of the thread
    add (8|M0)       r4.0<1>:ud   r2.0<8;8,1>:uw  r3.0<0;1,0>:ud
    mul (8|M0)       r11.0<1>:ud  r4.0<8;8,1>:ud  r4.0<8;8,1>:ud     // the squares

    // Write r11 to surface 0. The header of the message is r10, with the offset in r10.2.
    (W) mov (8|M0)   r10.0<1>:ud  r0.0<8;8,1>:ud
    (W) shl (1|M0)   r10.2<1>:ud  r0.1<0;1,0>:ud  1:ud               // two blocks of 16 bytes
    send (8|M0)      null  r10  0xA  0x040A0200

    // End the thread.
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  0x27  0x02000010  {EOT}
};

/// The message descriptor of the write in the kernel, as typed fields. A number that does not fit
/// its field does not compile.
const WRITE: Msd0wOwb = packet! {
    Msd0wOwb {
        binding_table_index: 0,
        data_blocks: MdcDbOw::OW2,
        header_present: true,
        message_length: 2,
        ..
    }
};
const _: () = assert!(WRITE.pack()[0] == 0x040a_0200);

/// Runs the batch on the model. Returns the numbers that the threads wrote.
fn squares() -> Result<Vec<u32>, Box<dyn Error>> {
    // Each buffer has an address in the memory of the GPU.
    let numbers = Buffer::new("numbers", NUMBERS, 4096)?;
    let mut surfaces = Heap::<SurfaceState>::new("surface state", 0x20_0000, 4096)?;
    let mut instructions = Heap::<Instruction>::new("instructions", 0x30_0000, 4096)?;
    let mut dynamic = Heap::<DynamicState>::new("dynamic state", 0x40_0000, 4096)?;

    // The kernel sees the buffer as surface 0 of its binding table.
    let surface = surfaces.put(&packet! {
        RenderSurfaceState {
            surface_type: SurfaceType::SURFTYPE_BUFFER,
            surface_format: SurfaceFormat::RAW,
            // 256 bytes: the number minus one, in three parts of 7, 14 and 6 bits.
            extent: RenderSurfaceStateExtent::Buffer { width: 127, height: 1, depth: 0 },
            surface_base_address: surfaces.writes(&numbers, 0)?,
            ..
        }
    })?;
    let descriptor = packet! {
        InterfaceDescriptorData {
            kernel_start_pointer: instructions.kernel(KERNEL)?,
            binding_table_pointer: surfaces.binding_table(&[surface])?,
            binding_table_entry_count: 1,
            number_of_threads_in_gpgpu_thread_group: 1,
            ..
        }
    };

    // The batch. `batch!` emits packets; a packet that the engine or the pipeline does not take
    // does not compile.
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_gpgpu()?;
    let surface_base = batch.reads(&surfaces, 0)?;
    let dynamic_base = batch.reads(&dynamic, 0)?;
    let instruction_base = batch.reads(&instructions, 0)?;
    let descriptors = dynamic.interface_descriptors(&[descriptor])?;
    batch! { batch =>
        StateBaseAddress {
            surface_state_base_address_modify_enable: true,
            surface_state_base_address: surface_base,
            dynamic_state_base_address_modify_enable: true,
            dynamic_state_base_address: dynamic_base,
            instruction_base_address_modify_enable: true,
            instruction_base_address: instruction_base,
            ..
        };
        MediaVfeState {
            maximum_number_of_threads: 64,
            number_of_urb_entries: 2,
            urb_entry_allocation_size: 2,
            ..
        };
        descriptors;
        GpgpuWalker {
            simd_size: GpgpuWalkerSimdSize::SIMD8,
            thread_group_id_x_dimension: THREADS?, // a run-time value is checked when it is created
            thread_group_id_y_dimension: 1,
            thread_group_id_z_dimension: 1,
            right_execution_mask: 0xff,
            bottom_execution_mask: 0xffff_ffff,
            ..
        };
        MediaStateFlush::new();
    }?;
    let heaps = [surfaces.finish(), dynamic.finish(), instructions.finish(), numbers];
    let submission = batch.finish()?.submit(heaps)?;

    // The model: load the buffers, submit the batch, read memory. An endless kernel ends with an
    // error of the watchdog (`Gpu::set_work_limit`).
    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    for buffer in &submission.buffers {
        gpu.load(context, buffer.address(), buffer.bytes())?;
    }
    gpu.submit(context, submission.engine, submission.batch_address, submission.batch_length)?;
    (0..COUNT).map(|n| Ok(gpu.vm(context).read_u32(NUMBERS + 4 * n)?)).collect()
}

fn main() -> ExitCode {
    match squares() {
        Ok(squares) => {
            let expected: Vec<u32> = (0..COUNT as u32).map(|n| n * n).collect();
            assert_eq!(squares, expected);
            println!("{COUNT} squares, computed by {THREADS} threads: 0 to {}", squares[63]);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gpu_squares() {
        let expected: Vec<u32> = (0..COUNT as u32).map(|n| n * n).collect();
        assert_eq!(squares().unwrap(), expected);
    }
}
