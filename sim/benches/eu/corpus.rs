//! Kernels by Intel's compilers, from `../shared/corpus/eu/kernels`.

use genxml::gen8::messages::MessageDescriptor;
use genxml_eu::decode::decode;
use genxml_sim::eu::decode::{Fetched, kernel};
use genxml_sim::eu::fast::Operation;
use genxml_sim::eu::regions::{GRF_BYTES, REGISTER, Registers};
use genxml_sim::eu::{Environment, Kernel, Launch, Message, Thread, Trap};
use genxml_sim::{EngineId, Fault, Place};

/// Kernels of mixed integer code that run for long or execute most of their instructions. They use
/// bytes, words and dwords, all shapes of regions, indirect operands, saturation, flags, predicates
/// and branches.
pub const INTEGERS: [&str; 12] = [
    "vaapi/vp8_tpu_genx_0",
    "hybrid_g8/PredictIntra_Chroma_Granularity_16x16",
    "hybrid_g8/InverseTransform_LL_Chroma_Granularity_32x32",
    "hybrid_g8lp/PredictIntra_Luma_Granularity_8x8",
    "media_driver_gpucopy/SurfaceCopy_2DTo2D_32x32",
    "media_driver_vp/vp_krn_660",
    "media_driver_vp/vp_krn_661",
    "media_driver_vp/vp_krn_665",
    "media_driver_vp/vp_krn_687",
    "media_driver_vp/vp_krn_691",
    "ocloc_beignet_cl/compiler_abs_diff__compiler_abs_diff_short16",
    "ocloc_beignet_cl/compiler_abs_diff__compiler_abs_diff_uchar16",
];

/// Kernels that compute with floats.
pub const FLOATS: [&str; 3] = [
    "vaapi/rgbx_to_nv12",
    "ocloc_beignet_cl/bench_math__bench_math_pow",
    "ocloc_beignet_cl/bench_copy_image__bench_filter_image",
];

/// Bytes of a kernel; `None` without the corpus.
pub fn bytes(name: &str) -> Option<Vec<u8>> {
    let folder = genxml_testkit::corpus::folder()?.join("eu/kernels");
    std::fs::read(folder.join(name).with_extension("bin")).ok()
}

/// Decodes these bytes to a kernel.
pub fn decoded(bytes: &[u8]) -> Kernel {
    kernel(0, 0, |offset| {
        let rest =
            usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or(&[]);
        let dwords: Vec<u32> = rest
            .chunks_exact(4)
            .take(4)
            .map(|d| u32::from_le_bytes([d[0], d[1], d[2], d[3]]))
            .collect();
        match genxml_eu::decode::length(dwords.first().copied().unwrap_or(0)) {
            8 if dwords.len() >= 2 => read(&dwords[..2]),
            16 if dwords.len() == 4 => read(&dwords),
            _ => Fetched::Garbage("after the end".into()),
        }
    })
}

fn read(dwords: &[u32]) -> Fetched {
    match decode(dwords) {
        Ok(instruction) => Fetched::Instruction(Box::new(instruction)),
        Err(error) => Fetched::Garbage(error.problem.to_string()),
    }
}

/// Maximum number of instructions of a thread. Responses of zeros keep some kernels in a loop.
const LIMIT: u64 = 20_000;

/// An environment that answers every message with zeros and stops a thread after [`LIMIT`]
/// instructions.
#[derive(Default)]
pub struct Zeros {
    /// Instructions so far.
    pub instructions: u64,
}

impl Environment for Zeros {
    #[inline(always)]
    fn step(&mut self, _: u32, _: u32) -> Result<(), Fault> {
        self.instructions += 1;
        if self.instructions < LIMIT { Ok(()) } else { Err(stopped()) }
    }
    #[inline(always)]
    fn steps(&mut self, count: u32) -> bool {
        let fits = self.instructions + u64::from(count) < LIMIT;
        self.instructions += if fits { count.into() } else { 0 };
        fits
    }
    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        let descriptor = MessageDescriptor::unpack_lossy(&[message.descriptor]);
        let bytes = descriptor.response_length.get() as usize * REGISTER;
        if let Some(first) = message.response {
            registers.grf_mut()[first..(first + bytes).min(GRF_BYTES)].fill(0);
        }
        Ok(())
    }
    fn timestamp(&self) -> u64 {
        0
    }
    fn trap(&self, _: Trap, _: u32) -> Fault {
        stopped()
    }
}

#[cold]
fn stopped() -> Fault {
    Fault::Hang { limit: LIMIT, at: Place::new(EngineId::Render, "", 0, 0) }
}

/// An environment like [`Zeros`] that also counts enabled channels.
#[derive(Default)]
struct Counting {
    world: Zeros,
    channels: u64,
}

impl Environment for Counting {
    fn step(&mut self, offset: u32, mask: u32) -> Result<(), Fault> {
        self.channels += u64::from(mask.count_ones());
        self.world.step(offset, mask)
    }
    fn send(&mut self, registers: &mut Registers, message: &Message) -> Result<(), Fault> {
        self.world.send(registers, message)
    }
    fn timestamp(&self) -> u64 {
        0
    }
    fn trap(&self, trap: Trap, offset: u32) -> Fault {
        self.world.trap(trap, offset)
    }
}

/// Initial state of a thread: all channels, and registers that are neither zero nor regular.
fn launch() -> Launch {
    let payload = (0..GRF_BYTES).map(|n| (n * 7 + n / 256) as u8).collect();
    Launch { dispatch_mask: u32::MAX, vector_mask: u32::MAX, payload, ..Launch::default() }
}

/// Runs one thread and returns its number of instructions.
pub fn run(kernel: &Kernel) -> u64 {
    let mut world = Zeros::default();
    // The error of a thread that was stopped does not matter: its instructions count too.
    let _ = Thread::new(&launch()).run(kernel, &mut world);
    world.instructions
}

/// Prints properties of the kernels: instructions that a thread executes, enabled channels of an
/// instruction on average, and how many instructions of the kernel have a fast path.
pub fn describe() {
    for name in INTEGERS.into_iter().chain(FLOATS) {
        let Some(bytes) = bytes(name) else {
            println!("{name}: skipped, ../shared/corpus does not exist");
            continue;
        };
        let kernel = decoded(&bytes);
        let mut world = Counting::default();
        let end = Thread::new(&launch()).run(&kernel, &mut world);
        let short = kernel.uops.iter().filter(|u| u.plan.operation != Operation::NONE).count();
        println!(
            "{name}: {} instructions a thread{}, {:.1} enabled channels an instruction, fast path for {short} of {}",
            world.world.instructions,
            if end.is_ok() { "" } else { " until it was stopped" },
            world.channels as f64 / world.world.instructions as f64,
            kernel.uops.len(),
        );
    }
}
