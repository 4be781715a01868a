//! What the threads of a group share.

/// Shared local memory of a group, and what its threads tell each other.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// Shared local memory, as many bytes as the interface descriptor asks for.
    pub slm: Vec<u8>,
}
