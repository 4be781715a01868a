//! PIPELINE_SELECT as a type: the pipeline of a render batch.

use super::builder::Batch;
use super::error::BatchError;
use crate::engine::Render;
use crate::gen8::mi::{PipeControl, PipelineSelect, PipelineSelectPipelineSelection as Selection};
use crate::gen8::render3d_pixel_tables::ThreeDStateCcStatePointers;
use crate::pipeline::{Gpgpu, Media, Pipeline, Selectable, ThreeD};
use genxml_core::reflect::{Container, Kind};
use genxml_core::{Instruction, PackError, Packed, bits};

impl<P: Pipeline> Batch<Render, P> {
    /// Selects the 3D pipeline, with the flushes that the change needs: a PIPE_CONTROL that writes
    /// caches back and stalls, one that invalidates the read-only caches (facts: Mesa's hasvk), and
    /// PIPELINE_SELECT. Emits nothing if the type of the batch already has the 3D pipeline.
    ///
    /// ```
    /// use genxml::batch::Batch;
    /// use genxml::engine::Render;
    /// use genxml::gen8::render3d_fetch::ThreeDPrimitive;
    ///
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_3d()?;
    /// batch.emit(&ThreeDPrimitive::new())?;
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Batch::emit`].
    pub fn select_3d(self) -> Result<Batch<Render, ThreeD>, BatchError> {
        self.select()
    }

    /// Selects the media pipeline, as [`select_3d`](Self::select_3d) does.
    ///
    /// # Errors
    /// As [`Batch::emit`].
    pub fn select_media(self) -> Result<Batch<Render, Media>, BatchError> {
        self.select()
    }

    /// Selects the GPGPU pipeline, as [`select_3d`](Self::select_3d) does. Before that, it emits
    /// 3DSTATE_CC_STATE_POINTERS with an invalid COLOR_CALC_STATE, which Broadwell needs (facts:
    /// the manual of PIPELINE_SELECT as Mesa quotes it).
    ///
    /// # Errors
    /// As [`Batch::emit`].
    pub fn select_gpgpu(self) -> Result<Batch<Render, Gpgpu>, BatchError> {
        self.select()
    }

    /// Selects pipeline `Q` with PIPELINE_SELECT alone: the program must emit the flushes before
    /// it.
    ///
    /// ```
    /// use genxml::batch::Batch;
    /// use genxml::engine::Render;
    /// use genxml::pipeline::Media;
    ///
    /// let batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_only::<Media>()?;
    /// assert_eq!(batch.dwords(), [0x6904_0001]);
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Batch::emit`].
    pub fn select_only<Q: Selectable>(mut self) -> Result<Batch<Render, Q>, BatchError> {
        self.core.emit(&PipelineSelect { pipeline_selection: Q::SELECTION })?;
        Ok(self.retyped())
    }

    /// Declares that the context is in pipeline `Q` here, because an earlier batch selected it.
    /// Emits nothing; the program must make sure that this is true.
    ///
    /// ```
    /// use genxml::batch::Batch;
    /// use genxml::engine::Render;
    /// use genxml::gen8::media::MediaStateFlush;
    /// use genxml::pipeline::Media;
    ///
    /// let mut batch = Batch::<Render>::new("later", 0x1000, 4096)?.assume::<Media>();
    /// batch.emit(&MediaStateFlush::new())?;
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    #[must_use]
    pub fn assume<Q: Pipeline>(self) -> Batch<Render, Q> {
        self.retyped()
    }

    fn select<Q: Selectable>(mut self) -> Result<Batch<Render, Q>, BatchError> {
        if P::SET == Q::SET {
            return Ok(self.retyped());
        }
        if Q::SELECTION == Selection::GPGPU {
            self.core.emit(&Empty(&ThreeDStateCcStatePointers))?;
        }
        self.core.emit(&PipeControl {
            render_target_cache_flush_enable: true,
            depth_cache_flush_enable: true,
            dc_flush_enable: true,
            command_streamer_stall_enable: true,
            ..PipeControl::new()
        })?;
        self.core.emit(&PipeControl {
            texture_cache_invalidation_enable: true,
            constant_cache_invalidation_enable: true,
            state_cache_invalidation_enable: true,
            instruction_cache_invalidate_enable: true,
            ..PipeControl::new()
        })?;
        self.select_only()
    }
}

/// A packet with only its opcode and length, made from its table. The packet's own type exists only
/// with the feature `3d`.
struct Empty(&'static Container);

impl Packed for Empty {
    const NAME: &'static str = "3DSTATE_CC_STATE_POINTERS";
    const INFO: &'static Container = &ThreeDStateCcStatePointers;
}

impl Instruction for Empty {
    fn dwords(&self) -> usize {
        self.0.dwords()
    }

    fn pack_into(&self, out: &mut [u32]) -> Result<usize, PackError> {
        let dwords = self.dwords();
        if let (
            Kind::Instruction { opcode, bias, length_field: Some((start, end)), .. },
            Some(header),
        ) = (self.0.kind, out.first_mut())
        {
            *header = opcode;
            bits::put(out, start, end, dwords as u64 - u64::from(bias));
        }
        Ok(dwords)
    }
}
