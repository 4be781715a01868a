//! The kernel and the bindings that the threads of one packet share.

use super::bindings::Bindings;
use crate::eu::Kernel;
use std::sync::Arc;

/// A kernel and the surfaces that all its threads use. A generation that has other binding tables
/// than Gen8 has another type `B`.
#[derive(Clone, Debug)]
pub struct Program<B = Bindings> {
    /// The decoded kernel.
    pub kernel: Arc<Kernel>,
    /// Surfaces and samplers of its threads.
    pub bindings: B,
}
