//! Offsets lead to where something was put.

use super::buffer::{Buffer, Content};
use super::error::BatchError;
use super::fields::{self, Found};
use super::reloc::va;
use super::submission::Submission;
use crate::engine::EngineId;
use crate::gen8::mi::{
    MiBatchBufferEnd, MiBatchBufferStart, MiBatchBufferStartSecondLevelBatchBuffer as Level,
};
use crate::gen8::state::StateBaseAddress;
use crate::gen8::{BlitterPacket, RenderPacket, VideoEnhancePacket, VideoPacket};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::Container;
use genxml_core::{Fixed, Packed};

/// The spaces whose bases STATE_BASE_ADDRESS sets.
const SPACES: [SpaceKind; 5] = [
    SpaceKind::GeneralState,
    SpaceKind::SurfaceState,
    SpaceKind::DynamicState,
    SpaceKind::IndirectObject,
    SpaceKind::Instruction,
];

/// Base addresses of [`SPACES`], once they are known.
type Bases = [Option<u64>; SPACES.len()];

fn slot(space: SpaceKind) -> Option<usize> {
    SPACES.iter().position(|one| *one == space)
}

/// Checks the packets of the batch, whose buffers are the first `chain` ones, and the state in heaps.
pub(super) fn offsets(
    submission: &Submission,
    chain: usize,
    length: usize,
    assumed: &[(SpaceKind, u64)],
) -> Result<(), BatchError> {
    let mut bases = Bases::default();
    for (space, base) in assumed {
        if let Some(slot) = slot(*space) {
            bases[slot] = Some(*base);
        }
    }
    let mut checker = Checker { submission, bases };
    for (index, buffer) in submission.buffers.iter().take(chain).enumerate() {
        checker.packets(buffer, if index == 0 { length } else { buffer.bytes.len() })?;
    }
    for buffer in &submission.buffers {
        checker.state(buffer)?;
    }
    Ok(())
}

struct Checker<'a> {
    submission: &'a Submission,
    bases: Bases,
}

impl Checker<'_> {
    /// Packets one behind the other, to the end of the batch or the jump to the next buffer; second-level batches where
    /// they are called.
    fn packets(&mut self, buffer: &Buffer, length: usize) -> Result<(), BatchError> {
        let dwords = dwords(&buffer.bytes[..length.min(buffer.bytes.len())]);
        let mut at = 0;
        while at < dwords.len() {
            let Some(container) = find(self.submission.engine, dwords[at]) else { return Ok(()) };
            let end = (at + container.packet_dwords(dwords[at])).min(dwords.len());
            let packet = &dwords[at..end];
            let place = || format!("{} at +{:#x} of {}", container.name, 4 * at, buffer.name);
            if container == StateBaseAddress::INFO {
                self.latch(&StateBaseAddress::read_lossy(packet), &place)?;
            } else {
                self.pointers(container, packet, &place)?;
            }
            if container == MiBatchBufferStart::INFO {
                let start = MiBatchBufferStart::read_lossy(packet);
                let target = va(start.batch_buffer_start_address.get());
                let second = start.second_level_batch_buffer == Level::SECOND_LEVEL_BATCH;
                if second
                    && let Some(routine) = self.submission.find(target)
                    && routine.address == target
                    && routine.address != buffer.address
                {
                    self.packets(routine, routine.bytes.len())?;
                }
            }
            if container == MiBatchBufferEnd::INFO {
                return Ok(());
            }
            at = end;
        }
        Ok(())
    }

    fn latch(&mut self, packet: &StateBaseAddress, place: &dyn Fn() -> String) -> Result<(), BatchError> {
        let bases = [
            (
                packet.general_state_base_address_modify_enable,
                packet.general_state_base_address,
                "General State Base Address",
            ),
            (
                packet.surface_state_base_address_modify_enable,
                packet.surface_state_base_address,
                "Surface State Base Address",
            ),
            (
                packet.dynamic_state_base_address_modify_enable,
                packet.dynamic_state_base_address,
                "Dynamic State Base Address",
            ),
            (
                packet.indirect_object_base_address_modify_enable,
                packet.indirect_object_base_address,
                "Indirect Object Base Address",
            ),
            (
                packet.instruction_base_address_modify_enable,
                packet.instruction_base_address,
                "Instruction Base Address",
            ),
        ];
        for (slot, (enabled, base, field)) in bases.into_iter().enumerate() {
            if !enabled {
                continue;
            }
            let address = base.va48();
            // A base of 0 with offsets that are addresses is usual for spaces that the batch does not use.
            if address != 0 && self.submission.find(address).is_none() {
                return Err(BatchError::NoBuffer { place: place().into(), field, address });
            }
            self.bases[slot] = Some(address);
        }
        Ok(())
    }

    /// State that heaps hold, with the last bases: spaces without one are left out.
    fn state(&self, buffer: &Buffer) -> Result<(), BatchError> {
        for content in &buffer.contents {
            let Some(container) = content.container else { continue };
            let size = 4 * container.dwords();
            let bytes = &buffer.bytes[content.offset as usize..][..content.bytes as usize];
            for (index, element) in bytes.chunks_exact(size.max(4)).enumerate() {
                let place = || {
                    let offset = content.offset + (index * size) as u64;
                    format!("{} at +{offset:#x} of {}", container.name, buffer.name)
                };
                self.each(container, &dwords(element), &mut |found| match self.base(found.space) {
                    Some(Some(base)) => self.pointer(&found, base, &place),
                    _ => Ok(()),
                })?;
            }
        }
        Ok(())
    }

    /// The offsets that a packet holds.
    fn pointers(
        &self,
        container: &'static Container,
        packet: &[u32],
        place: &dyn Fn() -> String,
    ) -> Result<(), BatchError> {
        self.each(container, packet, &mut |found| match self.base(found.space) {
            None => Ok(()),
            Some(None) => Err(BatchError::NoBase {
                place: place().into(),
                field: found.field.name,
                space: found.space.name(),
            }),
            Some(Some(base)) => self.pointer(&found, base, place),
        })
    }

    /// The offsets in `dwords` that are not zero, until one is wrong.
    fn each(
        &self,
        container: &'static Container,
        dwords: &[u32],
        check: &mut dyn FnMut(Found) -> Result<(), BatchError>,
    ) -> Result<(), BatchError> {
        let mut result = Ok(());
        fields::addresses(container, dwords, &mut |found| {
            if result.is_ok() && found.value != 0 {
                result = check(found);
            }
        });
        result
    }

    /// The base of a space that STATE_BASE_ADDRESS sets.
    fn base(&self, space: SpaceKind) -> Option<Option<u64>> {
        slot(space).map(|slot| self.bases[slot])
    }

    fn pointer(&self, found: &Found, base: u64, place: &dyn Fn() -> String) -> Result<(), BatchError> {
        let offset = va(found.value);
        let Some(heap) = self.submission.find(base) else { return Ok(()) };
        let at = base - heap.address + offset;
        let wrong = |what: String| BatchError::Dangling {
            place: place().into(),
            field: found.field.name,
            offset,
            heap: heap.name.clone(),
            found: what.into(),
        };
        if at >= heap.bytes.len() as u64 {
            return Err(wrong(format!("only {} bytes are", heap.bytes.len())));
        }
        // Only heaps know what was put where.
        if heap.contents.is_empty() {
            return Ok(());
        }
        let there = heap.contents.partition_point(|content| content.offset <= at);
        let content = there.checked_sub(1).and_then(|index| heap.contents.get(index));
        match content.filter(|content| at < content.offset + content.bytes) {
            None => Err(wrong("nothing was put".to_string())),
            Some(Content { what, container: Some(_), .. })
                if !found.target.is_empty() && found.target != *what =>
            {
                Err(wrong(format!("{what} lies and not {}", found.target)))
            }
            Some(_) => Ok(()),
        }
    }
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn find(engine: EngineId, header: u32) -> Option<&'static Container> {
    match engine {
        EngineId::Render => RenderPacket::find(header),
        EngineId::Blitter => BlitterPacket::find(header),
        EngineId::Video => VideoPacket::find(header),
        EngineId::VideoEnhance => VideoEnhancePacket::find(header),
    }
}
