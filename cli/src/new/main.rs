//! A first batch: eight threads of the GPU compute the squares of 0 to 63, on the model.
//!
//! The program has four steps: a kernel, the state that points to it, a batch that starts threads,
//! and the model that runs the batch.

use genxml::batch::{Batch, Buffer};
use genxml::engine::Render;
use genxml::gen8::mi::PipeControl;
use genxml::setup::{Dispatch, Heaps, Surface};
use genxml::{batch, eu};
use genxml_sim::Gpu;
use std::error::Error;
use std::process::ExitCode;

/// Threads of the GPU. Each computes eight numbers, one in each channel.
const THREADS: u32 = 8;
/// Numbers that the threads write.
const COUNT: u32 = 8 * THREADS;
/// GPU address of the numbers.
const NUMBERS: u64 = 0x100_0000;

/// The kernel. The compiler assembles and checks it: try a wrong register or region.
const KERNEL: &[u32] = &eu! {
    mov (8|M0)       r2.0<1>:w    0x76543210:v                       // 0 to 7
    (W) shl (1|M0)   r3.0<1>:ud   r0.1<0;1,0>:ud  3:ud               // 8 * number of the thread
    add (8|M0)       r4.0<1>:ud   r2.0<8;8,1>:uw  r3.0<0;1,0>:ud
    mul (8|M0)       r11.0<1>:ud  r4.0<8;8,1>:ud  r4.0<8;8,1>:ud     // the squares

    // Write r11 to surface 0. r10 is the header of the message: r10.2 has the offset, in units of
    // 16 bytes (owords).
    (W) mov (8|M0)   r10.0<1>:ud  0:ud
    (W) shl (1|M0)   r10.2<1>:ud  r0.1<0;1,0>:ud  1:ud
    (W) send (8|M0)  null  r10  Msd0wOwb {
        header_present: true, data_blocks: OW2, binding_table_index: 0,
    }

    // End the thread.
    (W) mov (8|M0)   r112.0<1>:ud  r0.0<8;8,1>:ud
    (W) send (8|M0)  null  r112  TsEot {EOT}
};

/// Runs the batch on the model. Returns the numbers that the threads wrote.
fn squares() -> Result<Vec<u32>, Box<dyn Error>> {
    // Each buffer has an address in the memory of the GPU. The kernel sees this one as surface 0.
    let numbers = Buffer::new("numbers", NUMBERS, 4096)?;
    let mut heaps = Heaps::new(0x20_0000)?;
    let surface = heaps.surface(&numbers, &Surface::raw(4 * COUNT))?;
    let dispatch = Dispatch {
        surfaces: vec![surface],
        groups: [THREADS, 1, 1], // each group has one thread
        ..Dispatch::new(KERNEL)
    };

    // The batch. A packet that the engine or the pipeline does not take does not compile.
    let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_gpgpu()?;
    batch.emit(&heaps.bases(&batch)?)?;
    dispatch.emit(&mut batch, &mut heaps)?;
    batch! { batch =>
        // Any packet, field by field. This one waits for the threads and flushes what they wrote.
        PipeControl { command_streamer_stall_enable: true, dc_flush_enable: true, .. };
    }?;
    let submission = batch.finish()?.submit(heaps.finish().into_iter().chain([numbers]))?;

    // The model. The watchdog ends an endless kernel with an error (`Gpu::set_work_limit`).
    let mut gpu = Gpu::new();
    let context = gpu.create_context()?;
    gpu.execute(context, &submission)?;
    Ok(gpu.values(context, NUMBERS, COUNT as usize)?)
}

fn main() -> ExitCode {
    match squares() {
        Ok(squares) => {
            let expected: Vec<u32> = (0..COUNT).map(|n| n * n).collect();
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
        let expected: Vec<u32> = (0..COUNT).map(|n| n * n).collect();
        assert_eq!(squares().unwrap(), expected);
    }
}
