//! What one primitive does to the pixel.

use super::probe::Value;
use crate::machine::watched::{Covered, Fate, Output, PrimitiveInfo, Tested};

/// What one primitive does to the pixel, up to the stage that removes it.
#[derive(Clone, PartialEq, Debug)]
pub struct Fragment {
    /// The primitive.
    pub primitive: PrimitiveInfo,
    /// Coverage; `None` if the primitive did not reach the rasteriser ([`PrimitiveInfo::fate`]).
    pub coverage: Option<Coverage>,
    /// The depth and stencil tests, in order.
    pub tests: Vec<Tested>,
    /// The thread that shaded the pixel.
    pub shading: Option<Shading>,
    /// The writes of the thread to render targets.
    pub outputs: Vec<Output>,
    /// The value before the primitive.
    pub old: Option<Value>,
    /// The value after it.
    pub new: Option<Value>,
}

/// How a primitive covers the pixel.
#[derive(Clone, PartialEq, Debug)]
pub struct Coverage {
    /// Samples that the primitive covers.
    pub rasterised: u16,
    /// Samples that are left after stipple and sample mask.
    pub samples: u8,
    /// Faces backward.
    pub back: bool,
    /// Weights of the three vertices with perspective.
    pub barycentric: [f32; 3],
    /// Depths of the samples.
    pub depths: [f32; 8],
    /// w.
    pub w: f32,
    /// Attributes at the location of the pixel, with perspective. Attributes without interpolation
    /// have the value of a vertex.
    pub inputs: Vec<[f32; 4]>,
}

impl Coverage {
    /// The coverage of an event.
    pub(super) fn of(covered: &Covered<'_>) -> Coverage {
        let [b1, b2] = covered.barycentric;
        let input = |attribute: &[[f32; 4]; 4]| {
            attribute.map(|[c1, c2, _, a0]| match [c1, c2] {
                // Bits that are not a float stay as they are.
                [0.0, 0.0] => a0,
                _ => a0 + b1 * c1 + b2 * c2,
            })
        };
        Coverage {
            rasterised: covered.rasterised,
            samples: covered.coverage,
            back: covered.back,
            barycentric: [1.0 - b1 - b2, b1, b2],
            depths: covered.depths,
            w: covered.w,
            inputs: covered.attributes.iter().map(input).collect(),
        }
    }
}

/// A thread that shaded the pixel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shading {
    /// Address of the kernel.
    pub kernel: u64,
    /// Channel of the pixel.
    pub channel: u8,
    /// The sample, if the thread shades samples.
    pub sample: Option<u8>,
    /// Number of instructions that ran while the channel was enabled.
    pub instructions: u64,
    /// Byte offsets of the messages that write render targets, in order.
    pub writes: Vec<u32>,
    /// Where the kernel discarded the pixel.
    pub discard: Option<Discard>,
}

/// The instructions by which a kernel discards a pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Discard {
    /// Byte offset of the write to a render target that leaves out the pixel.
    pub write: Option<u32>,
    /// Byte offset of the last instruction that ran for the pixel before this write.
    pub last: Option<u32>,
    /// Byte offset of the newest instruction that set the flag which selects the pixels of this
    /// write. If the kernel discards in several places, an earlier instruction may have cleared
    /// the flag of the pixel.
    pub flag: Option<u32>,
}

/// Why a primitive did not change the pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// The clipper dropped the primitive.
    Clipped,
    /// Setup dropped the primitive: it is culled or has no area.
    Culled,
    /// The scissor, drawing rectangle or viewport excludes the pixel.
    Scissor,
    /// Stipple or sample mask removed the sample.
    Mask,
    /// The stencil test failed.
    Stencil,
    /// The depth test failed.
    Depth,
    /// The kernel discarded the pixel.
    Discard,
    /// The alpha test or alpha to coverage removed the sample.
    Alpha,
}

impl Lost {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Lost::Clipped => "clipped",
            Lost::Culled => "culled",
            Lost::Scissor => "scissor",
            Lost::Mask => "sample mask",
            Lost::Stencil => "stencil test",
            Lost::Depth => "depth test",
            Lost::Discard => "discard",
            Lost::Alpha => "alpha test",
        }
    }
}

impl Fragment {
    /// A fragment of a primitive that did not reach the rasteriser.
    pub(super) fn lost(primitive: PrimitiveInfo) -> Fragment {
        Fragment {
            primitive,
            coverage: None,
            tests: Vec::new(),
            shading: None,
            outputs: Vec::new(),
            old: None,
            new: None,
        }
    }

    /// What removed the sample; `None` if it reached the end of the pipeline.
    pub fn lost_by(&self, sample: u32) -> Option<Lost> {
        let has = |mask: u8| mask >> sample & 1 == 1;
        let Some(coverage) = &self.coverage else {
            return match self.primitive.fate {
                Fate::Clipped => Some(Lost::Clipped),
                Fate::Culled => Some(Lost::Culled),
                Fate::Excluded | Fate::Kept => Some(Lost::Scissor),
            };
        };
        if !has(coverage.samples) {
            return Some(Lost::Mask);
        }
        let failed = |test: &&Tested| u32::from(test.sample) == sample && !test.passed;
        if let Some(test) = self.tests.iter().find(failed) {
            return Some(match test.stencil {
                Some(stencil) if !stencil.passed => Lost::Stencil,
                _ => Lost::Depth,
            });
        }
        let ours = |output: &&Output| has(output.live);
        match self.outputs.iter().rfind(ours) {
            Some(output) if !has(output.shaded) => Some(Lost::Discard),
            Some(output) if !has(output.kept) => Some(Lost::Alpha),
            _ => None,
        }
    }
}
