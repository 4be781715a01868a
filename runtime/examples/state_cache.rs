//! A state cache, as in drivers. The fixed part of a packet is packed once for each distinct
//! pipeline, when the pipeline is created. At draw time it is merged with the few fields that a
//! draw changes. Mesa's iris merges with an `or` of dwords. Here a field that both parts set is an
//! error.

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

/// The key of a pipeline in the cache. It has everything that the pipeline depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Offset of the pixel shader's kernel.
    pub kernel: u64,
    /// The pixel shader is compiled for 16 pixels, not for 8.
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
    /// Packs the fixed fields.
    ///
    /// # Errors
    /// If the kernel's offset is not aligned, or a field's name is wrong.
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
            // The pipeline owns both fields, also the one with its default: a draw must not set it.
            ps: Prepacked::new(&ps)
                .owning("8 Pixel Dispatch Enable")?
                .owning("16 Pixel Dispatch Enable")?,
            raster: Prepacked::new(&ThreeDStateRaster { cull_mode, ..ThreeDStateRaster::new() })
                .owning("Cull Mode")?,
        })
    }
}

/// The state that a draw may change.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// Number of samplers, in units of four.
    pub samplers: SamplerCount,
    /// The scissor rectangle is enabled.
    pub scissor: bool,
}

/// Pipelines by their key.
#[derive(Debug, Default)]
pub struct Cache {
    pipelines: HashMap<Key, Pipeline>,
}

impl Cache {
    /// Returns the pipeline of this key; creates it if it is new.
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

/// Emits the packets of a draw. Their fixed parts are not packed again.
///
/// # Errors
/// If the batch is full, or the draw sets a field that the pipeline owns.
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

/// Returns the error of a draw that sets a field that the pipeline owns.
///
/// # Errors
/// None in practice.
pub fn overlap() -> Result<MergeError, Box<dyn Error>> {
    let pipeline = Pipeline::new(Key { kernel: 0x1240, simd16: true, cull_back: true })?;
    let ps = ThreeDStatePs { _8_pixel_dispatch_enable: true, ..ThreeDStatePs::new() };
    Ok(pipeline.ps.merge(&ps).err().ok_or("both parts set the field")?)
}

/// Prints the dwords of two draws, and the error.
///
/// # Errors
/// None in practice.
pub fn main() -> Result<(), Box<dyn Error>> {
    println!("{:08x?}", two_draws()?);
    println!("{}", overlap()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::core::Fixed;
    use genxml::gen8::RenderPacket;

    /// Oracle: the merged packets hold the values of both parts, and equal the `or` of both parts'
    /// dwords, which is Mesa's way.
    #[test]
    fn merged_as_if_made_at_once() {
        let dwords = two_draws().unwrap();
        let (ps, raster) = (ThreeDStatePs::DWORDS, ThreeDStateRaster::DWORDS);
        assert_eq!(dwords.len(), 2 * (ps + raster));
        let (first, second) = dwords.split_at(ps + raster);
        assert_eq!(first[..ps], second[..ps]);
        let read = ThreeDStatePs::read(first).unwrap();
        assert_eq!(read.kernel_start_pointer_0.get(), 0x1240);
        assert!(read._16_pixel_dispatch_enable && !read._8_pixel_dispatch_enable);
        assert_eq!(read.sampler_count.bits(), 1);
        let [off, on] = [first, second].map(|draw| ThreeDStateRaster::read(&draw[ps..]).unwrap());
        assert!(!off.scissor_rectangle_enable && on.scissor_rectangle_enable);
        assert_eq!(off.cull_mode, on.cull_mode);
        let or: Vec<u32> =
            ThreeDStateRaster { cull_mode: on.cull_mode, ..ThreeDStateRaster::new() }
                .pack()
                .iter()
                .zip(
                    ThreeDStateRaster {
                        scissor_rectangle_enable: true,
                        ..ThreeDStateRaster::new()
                    }
                    .pack(),
                )
                .map(|(fixed, draw)| fixed | draw)
                .collect();
        assert_eq!(second[ps..], or);
        assert!(RenderPacket::parse(first).is_ok());
        assert_eq!(
            overlap().unwrap().to_string(),
            "3DSTATE_PS: both parts set 8 Pixel Dispatch Enable (dw6 0:0)"
        );
    }
}
