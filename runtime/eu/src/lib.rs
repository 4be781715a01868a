//! Gen8 execution unit instructions: decode, compaction, disassembly.
