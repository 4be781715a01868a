//! A submission: a batch with everything that is mapped when it runs.

use super::buffer::{Buffer, PAGE};
use super::builder::FinishedBatch;
use super::error::BatchError;
use super::object::Object;
use super::reloc::{MAX_DELTA, Relocation, canonical, va};
#[cfg(feature = "std")]
use crate::capture::{CaptureWriter, WriteObject};
use crate::engine::{Engine, EngineId};
use alloc::format;
use alloc::vec::Vec;
use core::iter;

/// A batch with everything that is mapped when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The engine that the batch is for.
    pub engine: EngineId,
    /// Address of the first packet.
    pub batch_address: u64,
    /// Length of the batch in bytes; for a batch that grew, the length in its first buffer.
    pub batch_length: u64,
    /// The batch's buffers, then the others.
    pub buffers: Vec<Buffer>,
}

impl Submission {
    /// The batch and everything that it points to, without the checks of [`FinishedBatch::submit`].
    pub fn new<E: Engine>(
        batch: FinishedBatch<E>,
        others: impl IntoIterator<Item = Buffer>,
    ) -> Self {
        let (batch_address, batch_length) = (batch.buffer.address, batch.length as u64);
        let buffers = iter::once(batch.buffer).chain(batch.chained).chain(others).collect();
        Submission { engine: E::ID, batch_address, batch_length, buffers }
    }

    /// The bytes from `address` to the end of its buffer; empty if no buffer holds `address`.
    pub fn tail(&self, address: u64) -> &[u8] {
        self.find(address)
            .map_or(&[], |buffer| &buffer.bytes[(address - buffer.address) as usize..])
    }

    /// The buffer that has the byte at `address`.
    pub(super) fn find(&self, address: u64) -> Option<&Buffer> {
        let inside = |buffer: &&Buffer| {
            address
                .checked_sub(buffer.address)
                .is_some_and(|offset| offset < buffer.bytes.len() as u64)
        };
        self.buffers.iter().find(inside)
    }

    /// Index of the buffer that starts at `address`.
    pub(super) fn index(&self, address: u64) -> Option<usize> {
        self.buffers.iter().position(|buffer| buffer.address == address)
    }

    /// Checks that the targets of references are in the submission.
    pub(super) fn references(&self) -> Result<(), BatchError> {
        for buffer in &self.buffers {
            for relocation in &buffer.relocations {
                if self.index(relocation.target).is_none() {
                    return Err(BatchError::Missing {
                        at: format!(
                            "{} at +{:#x} of {}",
                            relocation.packet, relocation.offset, buffer.name
                        )
                        .into(),
                        object: relocation.object.clone(),
                        address: relocation.target,
                    });
                }
            }
        }
        Ok(())
    }

    /// Moves the buffers to `addresses`, one for each in order, and rewrites every reference, as
    /// the kernel does when it moves buffer objects from their presumed addresses: it writes 64
    /// bits in canonical form. The result is the same as building with those addresses, except for
    /// 48-bit fields: the kernel also writes the 16 bits above the field, all ones if bit 47 of the
    /// address is set.
    ///
    /// # Errors
    /// [`BatchError::AddressCount`] if the number of addresses is not the number of buffers,
    /// [`BatchError::BadAddress`] for an invalid address, [`BatchError::Overlap`] if two buffers
    /// would share addresses; [`BatchError::Missing`], [`BatchError::Unrelocatable`] and
    /// [`BatchError::TooFar`] as [`exec`](Self::exec). After an error nothing has moved.
    pub fn relocate(&mut self, addresses: &[u64]) -> Result<(), BatchError> {
        if addresses.len() != self.buffers.len() {
            return Err(BatchError::AddressCount {
                given: addresses.len(),
                buffers: self.buffers.len(),
            });
        }
        self.references()?;
        self.relocatable()?;
        for (buffer, address) in self.buffers.iter().zip(addresses) {
            let end = address.checked_add(buffer.size()).filter(|end| *end <= 1 << 48);
            if !address.is_multiple_of(PAGE) || end.is_none() {
                let (buffer, size) = (buffer.name.clone(), buffer.size());
                return Err(BatchError::BadAddress { buffer, address: *address, size });
            }
        }
        disjoint(self.buffers.iter().zip(addresses.iter().copied()))?;
        let moved: Vec<(u64, u64)> = self
            .buffers
            .iter()
            .zip(addresses)
            .map(|(buffer, new)| (buffer.address, *new))
            .collect();
        let new = |old: u64| moved.iter().find(|(from, _)| *from == old).map_or(old, |(_, to)| *to);
        for buffer in &mut self.buffers {
            for relocation in &mut buffer.relocations {
                let at = relocation.offset as usize;
                let target = new(relocation.target);
                let value = canonical(target + relocation.delta);
                if let Some(place) = buffer.bytes.get_mut(at..at + 8) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
                relocation.address =
                    va(relocation.address.wrapping_sub(relocation.target).wrapping_add(target));
                relocation.target = target;
            }
            buffer.address = new(buffer.address);
        }
        self.batch_address = new(self.batch_address);
        Ok(())
    }

    /// Checks that the kernel can write every reference.
    pub(super) fn relocatable(&self) -> Result<(), BatchError> {
        let mut all = self.buffers.iter().flat_map(|buffer| &buffer.relocations);
        let wrong = all.find(|relocation| !relocation.whole || relocation.delta > MAX_DELTA);
        match wrong.map(|one| (one.packet, one.field, one)) {
            None => Ok(()),
            Some((packet, field, Relocation { whole: false, .. })) => {
                Err(BatchError::Unrelocatable { packet, field })
            }
            Some((packet, field, one)) => Err(BatchError::TooFar {
                packet,
                field,
                object: one.object.clone(),
                delta: one.delta,
            }),
        }
    }

    /// The violations of the rules in the batch and in everything that it points to. The check
    /// assumes that this is the only batch of its context: state that a draw uses and the batch
    /// does not set is a finding too.
    ///
    /// ```
    /// use genxml::batch::Batch;
    /// use genxml::check::Rules;
    /// use genxml::engine::Render;
    /// use genxml::gen8::media::GpgpuWalker;
    ///
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_gpgpu()?;
    /// batch.emit(&GpgpuWalker::new())?;
    /// let found = batch.finish()?.submit([])?.findings(&Rules::gen8());
    /// assert!(found.iter().any(|finding| finding.rule.id == "STATE-UNDEFINED"));
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn findings(&self, rules: &crate::check::Rules) -> Vec<crate::check::Finding> {
        let mut found = Vec::new();
        crate::check::only_batch(
            self.engine,
            self,
            self.batch_address,
            self.batch_length,
            rules,
            &mut |finding| found.push(finding.clone()),
        );
        found
    }

    /// Adds the submission to a capture and returns its sequence number. If an earlier submission
    /// of the capture has a buffer with the same name, the buffer is written completely, which
    /// replaces its old contents.
    #[cfg(feature = "std")]
    pub fn write(&self, context: u32, writer: &mut CaptureWriter) -> u64 {
        let objects: Vec<WriteObject<'_>> = self
            .buffers
            .iter()
            .map(|buffer| {
                let object = match writer.has_object(&buffer.name) {
                    true => WriteObject::whole,
                    false => WriteObject::new,
                };
                object(&buffer.name, buffer.address, buffer.bytes.len() as u64, &buffer.bytes)
            })
            .collect();
        writer.exec(context, self.engine, self.batch_address, self.batch_length, &objects)
    }
}

/// Checks that no two buffers overlap; each is given with its address.
pub(super) fn disjoint<'a>(
    buffers: impl Iterator<Item = (&'a Buffer, u64)>,
) -> Result<(), BatchError> {
    let mut sorted: Vec<_> = buffers.collect();
    sorted.sort_by_key(|(_, address)| *address);
    for pair in sorted.windows(2) {
        let [(first, start), (second, address)] = pair else { continue };
        if *address < start + first.size() {
            let (first, second) = (first.name.clone(), second.name.clone());
            return Err(BatchError::Overlap { first, second, address: *address });
        }
    }
    Ok(())
}

#[cfg(feature = "std")]
impl crate::memory::Memory for Submission {
    fn tail(&self, address: u64) -> &[u8] {
        Submission::tail(self, address)
    }
}
