//! Pipelines of the render engine as types. They decide which commands a batch accepts.
//!
//! PIPELINE_SELECT selects one of three pipelines. Commands of the other two are undefined. A batch
//! has the selected pipeline in its type, so a draw in the GPGPU pipeline does not compile. The
//! `pipeline` attribute of a command in the specification lists the pipelines that accept it.

use crate::reflect::Pipelines;
use core::fmt;

/// The pipeline that is selected at the end of a batch, as far as its type records it.
pub trait Pipeline: Copy + fmt::Debug + Default + 'static {
    /// The pipelines that may be selected: one, or all if the pipeline is not known.
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
    /// No pipeline was selected yet, or the engine has none. Only commands that every pipeline
    /// accepts are allowed: MI commands, PIPE_CONTROL, STATE_BASE_ADDRESS, and all commands of
    /// engines other than render.
    Neutral = ALL;
    /// The 3D pipeline.
    ThreeD = THREE_D;
    /// The media pipeline: MEDIA_OBJECT and related commands.
    Media = MEDIA;
    /// The GPGPU pipeline: GPGPU_WALKER.
    Gpgpu = GPGPU;
}

/// A packet that the pipeline `P` accepts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command of the pipeline `{P}`",
    label = "the pipeline `{P}` does not accept `{Self}`",
    note = "`select_3d()`, `select_media()` and `select_gpgpu()` of the batch select the pipeline",
    note = "the first line of a command's documentation says which pipelines accept it"
)]
pub trait InPipeline<P: Pipeline>: crate::Instruction {}

/// A pipeline that PIPELINE_SELECT leaves unchanged. No type implements this trait.
#[diagnostic::on_unimplemented(
    message = "PIPELINE_SELECT cannot be emitted directly: it changes the pipeline, which is part of the type of the batch",
    label = "the type would still be a batch in `{Self}`",
    note = "`select_3d()`, `select_media()` and `select_gpgpu()` of the batch select a pipeline with the flushes that the change needs",
    note = "`select_only()` emits PIPELINE_SELECT alone; `assume()` states that an earlier batch selected the pipeline"
)]
pub trait Unchanged: Pipeline {}

/// Implemented if a second-level batch that needs the pipeline `Self` can be called from a batch in
/// the pipeline `P`.
#[diagnostic::on_unimplemented(
    message = "a batch that needs the pipeline `{Self}` cannot run in the pipeline `{P}`",
    label = "needs `{Self}`, but `{P}` is selected here"
)]
pub trait RunsIn<P: Pipeline>: Pipeline {}

impl<P: Pipeline> RunsIn<P> for Neutral {}
impl RunsIn<ThreeD> for ThreeD {}
impl RunsIn<Media> for Media {}
impl RunsIn<Gpgpu> for Gpgpu {}
