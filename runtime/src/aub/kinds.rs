//! Kinds of blocks: their opcodes and names, from the specification.

use crate::gen8::aub::{
    AubCaptureBinaryDump, AubDumpBitmap, AubDumpBitmapFull, AubHeader, AubPpgttContextCreate,
    AubTraceBlock, MemTraceComment, MemTraceDelay, MemTraceDumpCompress, MemTraceFrameBegin,
    MemTraceMemoryCompare, MemTraceMemoryContinuousRegion, MemTraceMemoryDump, MemTraceMemoryPoll,
    MemTraceMemoryWrite, MemTraceMemoryWriteDiscontiguous, MemTracePredicate,
    MemTraceRegisterCompare, MemTraceRegisterPoll, MemTraceRegisterWrite, MemTraceTestPhaseMarker,
    MemTraceVersion, MemTraceVersionOld,
};

/// The fields of a block's first dword, which all kinds of blocks share.
pub(super) struct Head {
    pub opcode: u64,
    pub sub_opcode: u64,
    /// Dwords of the block, without the data of classic trace blocks.
    pub dwords: usize,
}

/// Opcode of classic blocks. Memory traces may have them too.
pub(super) const CLASSIC: u64 = AubHeader::new().opcode.get();
/// Opcode of the blocks of memory traces.
pub(super) const MEMORY_TRACE: u64 = MemTraceVersion::new().opcode.get();
/// Type of all blocks.
const BLOCK_TYPE: u64 = AubHeader::new().type_.get();

/// Sub-opcodes of classic blocks.
pub(super) mod classic {
    use super::{AubDumpBitmap, AubHeader, AubTraceBlock};

    pub const HEADER: u64 = AubHeader::new().sub_opcode.get();
    pub const TRACE_BLOCK: u64 = AubTraceBlock::new().sub_opcode.get();
    pub const BITMAP: u64 = AubDumpBitmap::new().sub_opcode.get();
}

/// Sub-opcodes of the blocks of memory traces that the reader parses.
pub(super) mod trace {
    use super::{
        MemTraceComment, MemTraceMemoryCompare, MemTraceMemoryPoll, MemTraceMemoryWrite,
        MemTraceMemoryWriteDiscontiguous, MemTracePredicate, MemTraceRegisterCompare,
        MemTraceRegisterPoll, MemTraceRegisterWrite, MemTraceVersion, MemTraceVersionOld,
    };

    pub const VERSION: u64 = MemTraceVersion::new().sub_opcode.get();
    pub const VERSION_OLD: u64 = MemTraceVersionOld::new().sub_opcode.get();
    pub const MEMORY_WRITE: u64 = MemTraceMemoryWrite::new().sub_opcode.get();
    pub const MEMORY_WRITES: u64 = MemTraceMemoryWriteDiscontiguous::new().sub_opcode.get();
    pub const MEMORY_POLL: u64 = MemTraceMemoryPoll::new().sub_opcode.get();
    pub const MEMORY_COMPARE: u64 = MemTraceMemoryCompare::new().sub_opcode.get();
    pub const REGISTER_WRITE: u64 = MemTraceRegisterWrite::new().sub_opcode.get();
    pub const REGISTER_POLL: u64 = MemTraceRegisterPoll::new().sub_opcode.get();
    pub const REGISTER_COMPARE: u64 = MemTraceRegisterCompare::new().sub_opcode.get();
    pub const COMMENT: u64 = MemTraceComment::new().sub_opcode.get();
    pub const PREDICATE: u64 = MemTracePredicate::new().sub_opcode.get();
}

macro_rules! kinds {
    ($($type:ident),* $(,)?) => {
        /// Opcode, sub-opcode and name of each kind of block.
        const KINDS: &[(u64, u64, &str)] = &[
            $(($type::new().opcode.get(), $type::new().sub_opcode.get(), $type::NAME)),*
        ];
    };
}

kinds! {
    AubHeader, AubTraceBlock, AubDumpBitmap, AubDumpBitmapFull, AubPpgttContextCreate,
    AubCaptureBinaryDump, MemTraceVersion, MemTraceVersionOld, MemTraceRegisterCompare,
    MemTraceRegisterPoll, MemTraceRegisterWrite, MemTraceMemoryCompare, MemTraceMemoryPoll,
    MemTraceMemoryWrite, MemTraceFrameBegin, MemTraceComment, MemTraceDelay, MemTraceMemoryDump,
    MemTraceMemoryWriteDiscontiguous, MemTraceTestPhaseMarker, MemTraceMemoryContinuousRegion,
    MemTracePredicate, MemTraceDumpCompress,
}

impl Head {
    /// Parses the first dword of a block; `None` if no block starts with it.
    pub fn of(dword: u32) -> Option<Head> {
        let head = MemTraceVersionOld::unpack_lossy(&[dword]);
        let (opcode, length) = (head.opcode.get(), head.length.get() as usize);
        let bias = match opcode {
            CLASSIC => 2,
            MEMORY_TRACE => 1,
            _ => return None,
        };
        let sub_opcode = head.sub_opcode.get();
        (head.type_.get() == BLOCK_TYPE).then_some(Head {
            opcode,
            sub_opcode,
            dwords: length + bias,
        })
    }

    /// The name of the kind in the specification; `None` if no source describes the kind.
    pub fn kind(&self) -> Option<&'static str> {
        KINDS.iter().find(|kind| (kind.0, kind.1) == (self.opcode, self.sub_opcode)).map(|k| k.2)
    }

    /// The name of the kind for messages.
    pub fn name(&self) -> &'static str {
        self.kind().unwrap_or("unknown")
    }
}
