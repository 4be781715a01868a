//! Pipelines of the render engine, as types: which commands go where.
//!
//! PIPELINE_SELECT chooses one of three; commands of another one are undefined until it is chosen.
//! A batch carries the chosen pipeline in its type, so a draw in the GPGPU pipeline does not
//! compile. The `pipeline` attribute of the command in the specification decides.

use crate::mi::{PipelineSelect, PipelineSelectPipelineSelection as Selection};
use core::fmt;
use genxml_core::reflect::Pipelines;

/// What a batch knows of the pipeline that is chosen at its end.
pub trait Pipeline: Copy + fmt::Debug + Default + 'static {
    /// The pipelines that may be chosen: one, or all if it is not known.
    const SET: Pipelines;
}

macro_rules! pipelines {
    ($($(#[$doc:meta])* $name:ident = $set:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name;
        impl Pipeline for $name { const SET: Pipelines = Pipelines::$set; }
    )*};
}

pipelines! {
    /// None was chosen yet, or the engine has none: only commands that every pipeline takes (MI
    /// commands, PIPE_CONTROL, STATE_BASE_ADDRESS; all commands of engines other than render).
    Neutral = ALL;
    /// The 3D pipeline.
    ThreeD = THREE_D;
    /// The media pipeline: MEDIA_OBJECT and its kin.
    Media = MEDIA;
    /// The GPGPU pipeline: GPGPU_WALKER.
    Gpgpu = GPGPU;
}

/// A packet that the pipeline `P` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command of the pipeline `{P}`",
    label = "the pipeline `{P}` does not take `{Self}`",
    note = "`select_3d()`, `select_media()` and `select_gpgpu()` of the batch choose the pipeline",
    note = "the `pipeline` attribute of the command in spec-xml says which pipelines take it"
)]
pub trait InPipeline<P: Pipeline>: genxml_core::Instruction {}

/// A pipeline that stays what it is when PIPELINE_SELECT comes: none.
#[diagnostic::on_unimplemented(
    message = "PIPELINE_SELECT is not emitted: it changes the pipeline, which the type of the batch has to know",
    label = "the type would stay a batch in `{Self}`",
    note = "`select_3d()`, `select_media()` and `select_gpgpu()` of the batch choose with the flushes that the change needs",
    note = "`select_only()` emits PIPELINE_SELECT alone; `assume()` says that an earlier batch chose"
)]
pub trait Unchanged: Pipeline {}

impl<P: Unchanged> InPipeline<P> for PipelineSelect {}

/// A pipeline that PIPELINE_SELECT can choose.
pub trait Selectable: Pipeline {
    /// How it says that.
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

/// A pipeline that is right, or does not matter, where `P` is chosen: a second-level batch for
/// `Self` can be called from a batch in `P`.
#[diagnostic::on_unimplemented(
    message = "what needs the pipeline `{Self}` cannot run in the pipeline `{P}`",
    label = "needs `{Self}`, but `{P}` is chosen here"
)]
pub trait RunsIn<P: Pipeline>: Pipeline {}

impl<P: Pipeline> RunsIn<P> for Neutral {}
impl RunsIn<ThreeD> for ThreeD {}
impl RunsIn<Media> for Media {}
impl RunsIn<Gpgpu> for Gpgpu {}
