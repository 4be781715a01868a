//! The memory that the slice of a thread read.

use super::made::MemoryRead;
use crate::inspect::slice::{Input, Origin, Slice, Source, Span, Traced};
use crate::mem::{Access, Client};
use std::collections::BTreeSet;

/// Maximum number of ranges of memory for which the slice of one thread finds the writers: at most
/// this many reads of the thread, and this many of state.
pub const MAX_RANGES: usize = 256;

/// The source of each input of a slice.
pub fn sources(traced: &Traced, slice: &Slice) -> Vec<Source> {
    let payload = traced.recording.payload.len();
    let source = |input: &Input| match input.at {
        Some(at) => traced.payload().source(at, payload),
        None => Source::Machine,
    };
    slice.inputs.iter().map(source).collect()
}

/// The memory that a slice for a channel read, and whether there is more.
pub fn reads(traced: &Traced, slice: &Slice, sources: &[Source]) -> (Vec<MemoryRead>, bool) {
    let mut reads: Vec<MemoryRead> = Vec::new();
    let mut known = BTreeSet::new();
    for (index, source) in sources.iter().enumerate() {
        if let Source::Constant { address, .. } = *source
            && known.insert((address, 4))
            && let Some(physical) = traced.payload().physical(address)
        {
            let (reader, span) = (Some(Origin::Input(index)), Span::physical(physical, 4));
            reads.push(MemoryRead::new(reader, address, 4, span));
        }
    }
    for (index, node) in slice.nodes.iter().enumerate().filter(|(_, node)| node.message.is_some()) {
        let of_channel = |channel| traced.accesses.get(&(node.step, channel));
        let channels = (0..32).filter(|channel| node.channels >> channel & 1 == 1);
        let mut lists: Vec<&Vec<Access>> =
            channels.filter_map(|channel| of_channel(Some(channel))).collect();
        if lists.is_empty() {
            lists.extend(of_channel(None));
        }
        for access in lists.into_iter().flatten() {
            let Access { address, physical, bytes, write, client } = *access;
            if !write && client != Client::State && known.insert((address, bytes)) {
                let span = Span::physical(physical, bytes as usize);
                let reader = Some(Origin::Node(index));
                reads.push(MemoryRead::new(reader, address, bytes.into(), span));
            }
        }
    }
    let is_cut = reads.len() > MAX_RANGES;
    reads.truncate(MAX_RANGES);
    (reads, is_cut)
}
