//! Where a picture is written, and the pictures that it refers to.

use super::surface::{Arrangement, Layout, Sizes};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use genxml::gen8::mfx_common::{MfxPipeBufAddrState, MfxPipeModeSelect};
use genxml_codecs::{Frame, Plane};
use std::sync::Arc;

/// Where a decoded picture is written.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// Where the samples of the picture and of its references are.
    pub layout: Layout,
    /// Samples of the picture's planes.
    pub sizes: Sizes,
    /// Address of the picture before the deblocking filter, if wanted.
    pub before: Option<u64>,
    /// Address of the picture after the deblocking filter, if wanted.
    pub after: Option<u64>,
}

impl Outputs {
    /// The outputs that MFX_PIPE_MODE_SELECT enables.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] if it enables none; those of [`Layout::resolve`].
    pub fn resolve(
        exec: &Exec<'_>,
        sizes: Sizes,
        arrangement: Arrangement,
    ) -> Result<Outputs, Fault> {
        let outputs = Outputs::of_encoder(exec, sizes, arrangement)?;
        if outputs.before.is_none() && outputs.after.is_none() {
            let why = "neither it nor Post Deblocking Output Enable is set, so the decoded \
                       picture has no address";
            return Err(exec.bad_field("Pre Deblocking Output Enable", 0, why));
        }
        Ok(outputs)
    }

    /// The outputs that MFX_PIPE_MODE_SELECT enables, if any. An encoder needs none for a picture
    /// that is not a reference.
    ///
    /// # Errors
    /// Those of [`Layout::resolve`].
    pub fn of_encoder(
        exec: &Exec<'_>,
        sizes: Sizes,
        arrangement: Arrangement,
    ) -> Result<Outputs, Fault> {
        let mode: MfxPipeModeSelect = exec.state.latched.read(0);
        let buffers: MfxPipeBufAddrState = exec.state.latched.read(0);
        let before = mode
            .pre_deblocking_output_enable
            .then(|| buffers.pre_deblocking_destination_address.get());
        let after = mode
            .post_deblocking_output_enable
            .then(|| buffers.post_deblocking_destination_address.get());
        Ok(Outputs { layout: Layout::resolve(exec, arrangement)?, sizes, before, after })
    }

    /// Reads the samples at the address of the output before decoding. Decoding does not overwrite
    /// all of them if the picture is a field or if slices are missing. Without an output they are
    /// 0.
    ///
    /// # Errors
    /// [`Fault::Page`] if the picture is not mapped; [`Fault::Hang`] if the budget is used up.
    pub fn load(&self, exec: &mut Exec<'_>) -> Result<Frame, Fault> {
        let (width, height) = self.sizes[0];
        exec.spend(watchdog::PIXEL * (width * height) as u64)?;
        let Some(address) = self.after.or(self.before) else {
            let planes = self.sizes.map(|(width, height)| Plane::new(width, height, 0));
            return Ok(Frame { planes });
        };
        self.layout
            .read(&exec.vm, address, self.sizes)
            .map_err(|fault| exec.page(fault, "decoded picture"))
    }

    /// Writes the picture before and after the deblocking filter, as far as wanted.
    ///
    /// # Errors
    /// [`Fault::Page`] if the picture is not mapped.
    pub fn store(
        &self,
        exec: &mut Exec<'_>,
        before: Option<&Frame>,
        after: Option<&Frame>,
    ) -> Result<(), Fault> {
        for (address, frame) in [(self.before, before), (self.after, after)] {
            let (Some(address), Some(frame)) = (address, frame) else { continue };
            self.layout
                .write(&mut exec.vm, address, frame)
                .map_err(|fault| exec.page(fault, "decoded picture"))?;
            let samples: usize = frame.planes.iter().map(|plane| plane.data.len()).sum();
            exec.stats.bytes_written += samples as u64;
            exec.stats.pixels += frame.planes[0].data.len() as u64;
        }
        Ok(())
    }

    /// The reference pictures of MFX_PIPE_BUF_ADDR_STATE that `wanted` says are used. An address
    /// of 0 is no picture. Pictures at the same address are read once.
    ///
    /// # Errors
    /// [`Fault::Page`] if a picture is not mapped.
    pub fn references(
        &self,
        exec: &mut Exec<'_>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<References, Fault> {
        let buffers: MfxPipeBufAddrState = exec.state.latched.read(0);
        let addresses = buffers.reference_picture.map(|address| address.get());
        let mut frames: [Option<Arc<Frame>>; 16] = Default::default();
        let mut read = Vec::new();
        for (index, &address) in addresses.iter().enumerate() {
            if address == 0 || !wanted(index) {
                continue;
            }
            read.push((index, address));
            let same = addresses[..index].iter().position(|other| *other == address);
            if let Some(frame) = same.and_then(|same| frames[same].clone()) {
                frames[index] = Some(frame);
                continue;
            }
            let frame = self.layout.read(&exec.vm, address, self.sizes);
            let frame =
                frame.map_err(|fault| exec.page(fault, format!("reference picture {index}")))?;
            let samples: usize = frame.planes.iter().map(|plane| plane.data.len()).sum();
            exec.stats.bytes_read += samples as u64;
            frames[index] = Some(Arc::new(frame));
        }
        Ok(References { frames, addresses: read })
    }
}

/// The reference pictures, by their index in MFX_PIPE_BUF_ADDR_STATE.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// The pictures; `None` for those that do not exist.
    pub frames: [Option<Arc<Frame>>; 16],
    /// Index and address of each picture that exists.
    pub addresses: Vec<(usize, u64)>,
}

impl References {
    /// A reference picture.
    pub fn get(&self, index: usize) -> Option<&Frame> {
        self.frames.get(index)?.as_deref()
    }
}
