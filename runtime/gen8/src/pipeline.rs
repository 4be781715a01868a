//! Pipelines of the render engine as types, and the values of PIPELINE_SELECT for them.

use crate::mi::{PipelineSelect, PipelineSelectPipelineSelection as Selection};

pub use genxml_core::pipeline::*;

impl<P: Unchanged> InPipeline<P> for PipelineSelect {}

/// A pipeline that PIPELINE_SELECT can select.
pub trait Selectable: Pipeline {
    /// The value of the Pipeline Selection field that selects this pipeline.
    const SELECTION: Selection;
}

impl Selectable for ThreeD {
    const SELECTION: Selection = Selection::_3D;
}
impl Selectable for Media {
    const SELECTION: Selection = Selection::MEDIA;
}
impl Selectable for Gpgpu {
    const SELECTION: Selection = Selection::GPGPU;
}
