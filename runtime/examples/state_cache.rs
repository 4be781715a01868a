//! A cache of state as drivers have it: what is known when a pipeline is made is packed then, once
//! for each distinct pipeline, and merged at draw time with the little that a draw changes. Mesa's
//! iris does it with an `or` of dwords; here a field that both sides set is an error instead of the
//! `or` of two values.

use genxml::batch::{Batch, BatchError};
use genxml::core::address::Instruction;
use genxml::core::{Address, OutOfRange};
use genxml::engine::Render;
use genxml::gen8::render3d_pixel::ThreeDStatePs;
use genxml::gen8::render3d_raster::{ThreeDStateRaster, ThreeDStateRasterCullMode};
use genxml::gen8::render3d_stages::SamplerCount;
use genxml::merge::{MergeError, Prepacked};
use genxml::packet;
use genxml::pipeline::ThreeD;
use std::collections::HashMap;
use std::error::Error;

/// What a pipeline is made from, and is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Offset of the pixel shader's kernel.
    pub kernel: u64,
    /// What the pixel shader is compiled for.
    pub simd16: bool,
    /// Back faces are not drawn.
    pub cull_back: bool,
}

/// The fixed parts of a pipeline's packets.
#[derive(Debug)]
pub struct Pipeline {
    ps: Prepacked<ThreeDStatePs>,
    raster: Prepacked<ThreeDStateRaster>,
}

impl Pipeline {
    /// Packs what does not change.
    ///
    /// # Errors
    /// If the kernel's offset is not one; names of fields that are wrong.
    pub fn new(key: Key) -> Result<Self, Box<dyn Error>> {
        let kernel: Result<Address<Instruction, 64, 64>, OutOfRange> = Address::new(key.kernel);
        let ps = ThreeDStatePs {
            kernel_start_pointer_0: kernel?,
            _8_pixel_dispatch_enable: !key.simd16,
            _16_pixel_dispatch_enable: key.simd16,
            ..packet! { ThreeDStatePs { maximum_number_of_threads_per_psd: 62, .. } }
        };
        let mut cull_mode = ThreeDStateRasterCullMode::CULLMODE_NONE;
        if key.cull_back {
            cull_mode = ThreeDStateRasterCullMode::CULLMODE_BACK;
        }
        Ok(Pipeline {
            // Owned even where they are at their default: a draw must not turn the other one on.
            ps: Prepacked::new(&ps)
                .owning("8 Pixel Dispatch Enable")?
                .owning("16 Pixel Dispatch Enable")?,
            raster: Prepacked::new(&ThreeDStateRaster { cull_mode, ..ThreeDStateRaster::new() })
                .owning("Cull Mode")?,
        })
    }
}

/// What each draw may change.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// Samplers that are bound, in fours as the field counts.
    pub samplers: SamplerCount,
    /// The scissor rectangle is on.
    pub scissor: bool,
}

/// Pipelines by their key.
#[derive(Debug, Default)]
pub struct Cache {
    pipelines: HashMap<Key, Pipeline>,
}

impl Cache {
    /// The pipeline of this key, made if it is new.
    ///
    /// # Errors
    /// As [`Pipeline::new`].
    pub fn pipeline(&mut self, key: Key) -> Result<&Pipeline, Box<dyn Error>> {
        use std::collections::hash_map::Entry;
        Ok(match self.pipelines.entry(key) {
            Entry::Occupied(old) => old.into_mut(),
            Entry::Vacant(new) => new.insert(Pipeline::new(key)?),
        })
    }
}

/// Emits the packets of a draw: merged dwords, nothing is packed that was known before.
///
/// # Errors
/// If the batch is full, or a draw sets what the pipeline owns.
pub fn emit(
    batch: &mut Batch<Render, ThreeD>,
    pipeline: &Pipeline,
    draw: Draw,
) -> Result<(), Box<dyn Error>> {
    let ps = ThreeDStatePs { sampler_count: draw.samplers, ..ThreeDStatePs::new() };
    batch.emit(&pipeline.ps.merge(&ps)?)?;
    let raster =
        ThreeDStateRaster { scissor_rectangle_enable: draw.scissor, ..ThreeDStateRaster::new() };
    batch.emit(&pipeline.raster.merge(&raster)?)?;
    Ok(())
}

/// Two draws with one pipeline.
///
/// # Errors
/// None in practice.
pub fn two_draws() -> Result<Vec<u32>, Box<dyn Error>> {
    let new =
        || -> Result<_, BatchError> { Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_3d() };
    let (mut batch, mut cache) = (new()?, Cache::default());
    let before = batch.dwords().len();
    let key = Key { kernel: 0x1240, simd16: true, cull_back: true };
    for scissor in [false, true] {
        let draw = Draw { samplers: SamplerCount::_1_4_SAMPLERS, scissor };
        emit(&mut batch, cache.pipeline(key)?, draw)?;
    }
    Ok(batch.dwords()[before..].to_vec())
}

/// What happens to a draw that wants to change what the pipeline owns.
///
/// # Errors
/// None in practice.
pub fn overlap() -> Result<MergeError, Box<dyn Error>> {
    let pipeline = Pipeline::new(Key { kernel: 0x1240, simd16: true, cull_back: true })?;
    let ps = ThreeDStatePs { _8_pixel_dispatch_enable: true, ..ThreeDStatePs::new() };
    Ok(pipeline.ps.merge(&ps).err().ok_or("both parts were taken")?)
}

/// Shows the dwords of two draws, and what a mistake says.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn Error>> {
    println!("{:08x?}", two_draws()?);
    println!("{}", overlap()?);
    Ok(())
}
