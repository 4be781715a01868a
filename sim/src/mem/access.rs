//! Accesses to memory, and the hardware clients that make them.

/// The hardware client that makes an access: it decides through which caches the access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Default)]
pub enum Client {
    /// A command streamer: packets, operands of MI commands, post-sync operations, push constants,
    /// CURBE and indirect data, page table entries written by commands.
    #[default]
    CommandStreamer,
    /// Vertex fetch: vertex and index buffers.
    Vertices,
    /// Stream output.
    StreamOut,
    /// State objects: binding tables, surface and sampler states, descriptors, viewports.
    State,
    /// Instructions of kernels.
    Instructions,
    /// The data port, through the data cache.
    Data,
    /// The data port, through the constant cache.
    Constants,
    /// The sampler, and the data port through the sampler cache.
    Sampler,
    /// Render targets, with their auxiliary surfaces.
    RenderTarget,
    /// Depth, hierarchical depth and stencil buffers.
    Depth,
    /// Sources and destinations of blits.
    Blitter,
    /// The video engine: bitstreams, pictures and buffers.
    Video,
    /// The video enhancement engine: pictures and statistics.
    VideoEnhance,
}

impl Client {
    /// All clients, in the order of declaration.
    pub const ALL: [Client; 13] = [
        Client::CommandStreamer,
        Client::Vertices,
        Client::StreamOut,
        Client::State,
        Client::Instructions,
        Client::Data,
        Client::Constants,
        Client::Sampler,
        Client::RenderTarget,
        Client::Depth,
        Client::Blitter,
        Client::Video,
        Client::VideoEnhance,
    ];

    /// What the accesses of the client are about, in words: `"render target"`.
    pub const fn name(self) -> &'static str {
        match self {
            Client::CommandStreamer => "command streamer",
            Client::Vertices => "vertex fetch",
            Client::StreamOut => "stream output",
            Client::State => "state",
            Client::Instructions => "instruction fetch",
            Client::Data => "data port",
            Client::Constants => "constant cache",
            Client::Sampler => "sampler",
            Client::RenderTarget => "render target",
            Client::Depth => "depth and stencil",
            Client::Blitter => "blitter",
            Client::Video => "video",
            Client::VideoEnhance => "video enhancement",
        }
    }
}

/// An access to a run of bytes. Neighbouring accesses of one client may be joined to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Graphics address of the first byte.
    pub address: u64,
    /// Physical address of the first byte. The bytes are contiguous there too.
    pub physical: u64,
    /// Number of bytes, at least 1.
    pub bytes: u32,
    /// True for a write. An atomic operation is a read and a write.
    pub write: bool,
    /// The client.
    pub client: Client,
}

impl Access {
    /// Adds the access to the end of a list. It is joined with the last access if it continues it.
    pub(super) fn append(self, list: &mut Vec<Access>) {
        if let Some(last) = list.last_mut()
            && (last.client, last.write) == (self.client, self.write)
            && last.address.checked_add(last.bytes.into()) == Some(self.address)
            && last.physical + u64::from(last.bytes) == self.physical
            && let Some(sum) = last.bytes.checked_add(self.bytes)
        {
            last.bytes = sum;
            return;
        }
        list.push(self);
    }
}

/// An access of a thread to the shared local memory of its group. Neighbouring accesses of one
/// message may be joined to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalAccess {
    /// Offset of the first byte in the shared local memory.
    pub offset: u64,
    /// Number of bytes, at least 1.
    pub bytes: u32,
    /// True for a write. An atomic operation is a read and a write.
    pub write: bool,
}
