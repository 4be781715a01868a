//! The commands of a ring: the batches that it calls, and the other commands.

use super::play::used;
use crate::core::opcodes::unknown_length;
use crate::decode::Tables;
use crate::gen8::mi::{MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator};
use crate::memory::Memory;
use crate::submission::Submission;
use std::collections::BTreeMap;

/// Commands of a ring that are not counted as left out: they call batches, control the ring or
/// notify the driver.
const SILENT: [&str; 8] = [
    "MI_NOOP",
    "MI_BATCH_BUFFER_START",
    "MI_BATCH_BUFFER_END",
    "MI_ARB_CHECK",
    "MI_ARB_ON_OFF",
    "MI_USER_INTERRUPT",
    "MI_REPORT_HEAD",
    "MI_SET_CONTEXT",
];

/// The commands of a submission that are in its ring, or in another range of global memory.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The called batches: the 48-bit address of each, and whether it is in global memory.
    pub batches: Vec<(u64, bool)>,
    /// Number of commands that are not in `SILENT`, by name.
    pub others: BTreeMap<&'static str, u64>,
    /// The bytes of the commands, in order.
    pub bytes: Vec<u8>,
}

impl Calls {
    /// Reads the commands of a submission.
    pub fn of(submission: &Submission<'_>) -> Calls {
        let bytes = commands(submission);
        let mut calls = Calls::default();
        let dwords: Vec<u32> =
            bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let mut rest = &dwords[..];
        while let Some(&header) = rest.first() {
            let found = Tables::gen8().instruction(submission.engine, header);
            let length = match found {
                Some(container) => container.packet_dwords(header),
                None => unknown_length(submission.engine.set(), header),
            };
            let name = found.map_or("unknown commands", |container| container.name);
            match rest.first_chunk().filter(|_| name == MiBatchBufferStart::NAME) {
                Some(dwords) => {
                    let start = MiBatchBufferStart::unpack_lossy(dwords);
                    let space = start.address_space_indicator;
                    let address = start.batch_buffer_start_address.va48();
                    calls
                        .batches
                        .push((address, space == MiBatchBufferStartAddressSpaceIndicator::GGTT));
                }
                None if SILENT.contains(&name) => {}
                None => *calls.others.entry(name).or_default() += 1,
            }
            rest = rest.get(length.max(1)..).unwrap_or(&[]);
        }
        calls.bytes = bytes;
        calls
    }
}

/// The bytes of the commands of a submission, in order: for a ring from its head to its tail,
/// across its end.
pub(super) fn commands(submission: &Submission<'_>) -> Vec<u8> {
    let memory = match (submission.global, submission.memory.global()) {
        (true, Some(global)) => global,
        _ => submission.memory,
    };
    let read = |memory: &dyn Memory, address: u64, length: u64| {
        let mut bytes = vec![0; length as usize];
        let there = memory.bytes(address, &mut bytes);
        bytes.truncate(there);
        bytes
    };
    match submission.ring {
        Some(ring) => {
            let to_end = used(&ring).min(ring.size - ring.head);
            let mut bytes = read(memory, ring.start + ring.head, to_end);
            if bytes.len() as u64 == to_end {
                bytes.extend(read(memory, ring.start, used(&ring) - to_end));
            }
            bytes
        }
        None => read(memory, submission.address, submission.length),
    }
}
