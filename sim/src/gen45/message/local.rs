//! What a thread produces, apart from memory and the unified return buffer.

use super::write::Write;
use crate::unit;
use crate::unit::local::Shared;

/// What the thread of a [`super::Port`] produces. One value serves all threads of a worker.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// Render target writes that have not been executed yet. The pipeline executes and clears
    /// them.
    pub writes: Vec<Write>,
    /// True for threads of the windowizer: only they write to render targets.
    pub pixels: bool,
    /// Messages between media threads, and their requests for more threads.
    pub shared: unit::Local,
}

impl Shared for Local {
    fn shared(&mut self) -> &mut unit::Local {
        &mut self.shared
    }
}
