//! The kernel and the bindings that the threads of one packet share.

use super::bindings::Bindings;
use crate::eu::Kernel;
use std::sync::Arc;

/// A kernel and the surfaces that all its threads use.
#[derive(Clone, Debug)]
pub struct Program {
    /// The decoded kernel.
    pub kernel: Arc<Kernel>,
    /// Surfaces and samplers of its threads.
    pub bindings: Bindings,
}
