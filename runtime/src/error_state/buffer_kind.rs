//! Kinds of memory in an error state.

/// The kind of a piece of memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BufferKind {
    /// The batch of the request that was running.
    #[default]
    Batch,
    /// The ring of the context.
    Ring,
    /// The ring that the hardware's registers point to, if it differs from the driver's ring.
    HardwareRing,
    /// The image of the context, with the status page first.
    Context,
    /// The hardware status page.
    Status,
    /// Commands that the hardware runs when it loads a context.
    WorkaroundContext,
    /// Commands that the driver runs as a hardware workaround.
    WorkaroundBatch,
    /// The engine's default context image, from which the driver initializes new contexts.
    NullContext,
    /// A buffer that the program asked to have captured.
    User,
    /// The page of the semaphores between engines.
    Semaphores,
    /// A buffer of any other kind, with its name in the file.
    Other(String),
}

impl BufferKind {
    /// True if a buffer of this kind has its address in the global page table, false if in the
    /// page tables of a context.
    pub fn is_global(&self) -> bool {
        !matches!(self, BufferKind::Batch | BufferKind::User)
    }

    /// The name for messages.
    pub fn name(&self) -> &str {
        match self {
            BufferKind::Batch => "batch",
            BufferKind::Ring => "ring",
            BufferKind::HardwareRing => "hardware's ring",
            BufferKind::Context => "context",
            BufferKind::Status => "status page",
            BufferKind::WorkaroundContext => "workarounds of the context",
            BufferKind::WorkaroundBatch => "workaround batch",
            BufferKind::NullContext => "null context",
            BufferKind::User => "user buffer",
            BufferKind::Semaphores => "semaphores",
            BufferKind::Other(name) => name,
        }
    }
}
