//! AUB files written dword by dword, from the description of the format (gen8_facts 1.5), without
//! code of the reader.

/// The bytes of a file, as far as it is written.
#[derive(Default, Debug)]
pub struct AubFile(pub Vec<u8>);

/// Address spaces of a memory trace.
pub mod space {
    /// Addresses in the global page table.
    pub const GGTT: u32 = 0;
    /// Local memory.
    pub const LOCAL: u32 = 1;
    /// Physical addresses.
    pub const PHYSICAL: u32 = 2;
    /// Entries of the global page table.
    pub const GGTT_ENTRY: u32 = 4;
}

impl AubFile {
    /// Appends dwords.
    pub fn dwords(&mut self, dwords: &[u32]) -> &mut Self {
        dwords.iter().for_each(|dword| self.0.extend_from_slice(&dword.to_le_bytes()));
        self
    }

    /// Appends data, padded to whole dwords.
    fn padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Appends the head of a memory trace for a device: 11 Broadwell, 12 Skylake.
    pub fn version(&mut self, device: u32, text: &str) -> &mut Self {
        let dwords = 5 + text.len().div_ceil(4) as u32;
        self.dwords(&[0xf70e_0000 | (dwords - 1), 1, device << 8, 0, 0]).padded(text.as_bytes())
    }

    /// The head of a memory trace for Broadwell.
    pub fn memory_trace() -> Self {
        let mut file = AubFile::default();
        file.version(11, "PCI-ID=0x1616 a test");
        file
    }

    /// Appends a write of bytes to memory.
    pub fn memory(&mut self, space: u32, address: u64, bytes: &[u8]) -> &mut Self {
        let dwords = bytes.len().div_ceil(4) as u32;
        let address = [address as u32, (address >> 32) as u32];
        self.dwords(&[
            0xf706_0000 | (4 + dwords),
            address[0],
            address[1],
            space << 28,
            bytes.len() as u32,
        ]);
        self.padded(bytes)
    }

    /// Appends a write of 64-bit numbers to memory.
    pub fn memory_u64(&mut self, space: u32, address: u64, values: &[u64]) -> &mut Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.memory(space, address, &bytes)
    }

    /// Appends a write of dwords to memory.
    pub fn memory_u32(&mut self, space: u32, address: u64, values: &[u32]) -> &mut Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.memory(space, address, &bytes)
    }

    /// Appends entries of the global page table, which map `pages` pages from address `page` on to
    /// physical pages from address `frame` on.
    pub fn map_global(&mut self, page: u64, frame: u64, pages: u64) -> &mut Self {
        let entries: Vec<u64> = (0..pages).map(|index| (frame + index * 4096) | 1).collect();
        self.memory_u64(space::GGTT_ENTRY, page / 4096 * 8, &entries)
    }

    /// Appends a write of a register.
    pub fn register(&mut self, offset: u32, value: u32) -> &mut Self {
        self.dwords(&[0xf703_0005, offset, 2 << 16, u32::MAX, 0, value])
    }

    /// Appends a poll of a register: wait until the bits of `mask` have `value`.
    pub fn poll(&mut self, offset: u32, mask: u32, value: u32) -> &mut Self {
        self.dwords(&[0xf702_0005, offset, 2 << 16, mask, 0, value])
    }

    /// The head of a classic file.
    pub fn classic(comment: &str) -> Self {
        let mut file = AubFile::default();
        let dwords = 13 + comment.len().div_ceil(4) as u32;
        file.dwords(&[0xe085_0000 | (dwords - 2), 4 << 24]);
        let mut name = [0; 32];
        name[..6].copy_from_slice(b"a test");
        file.padded(&name).dwords(&[0, 0, comment.len() as u32]).padded(comment.as_bytes());
        file
    }

    /// Appends a classic trace block: operation, type, address space; address; data.
    pub fn trace(
        &mut self,
        [operation, kind, space]: [u32; 3],
        address: u64,
        bytes: &[u8],
    ) -> &mut Self {
        let size = bytes.len().next_multiple_of(4) as u32;
        let address = [address as u32, (address >> 32) as u32];
        self.dwords(&[
            0xe0c1_0004,
            operation | kind << 8 | space << 16,
            0,
            address[0],
            size,
            address[1],
        ]);
        self.padded(bytes)
    }
}
