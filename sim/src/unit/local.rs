//! What the threads that run side by side share and tell each other.

/// Shared local memory and barrier of the group whose thread runs, and the messages between threads.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// Shared local memory, as many bytes as the interface descriptor asks for.
    pub slm: Vec<u8>,
    /// The group's barrier, if the interface descriptor asks for one.
    pub barrier: Option<Barrier>,
    /// The thread that runs, by its number among those that run side by side.
    pub sender: u32,
    /// What was sent to threads and has not arrived.
    pub mail: Vec<Mail>,
}

/// A barrier: threads report, and when all have, each is notified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// Its number, which threads find in `r0.2`.
    pub id: u8,
    /// Threads of the group, which have to report.
    pub threads: u32,
    /// Those that have.
    pub arrived: Vec<u32>,
}

/// What a thread receives without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The thread's number.
    pub to: u32,
    /// Subregister of `n0` that counts up.
    pub notify: Option<u8>,
}
