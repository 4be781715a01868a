//! What an engine runs: a batch with everything that is mapped when it does.

use super::buffer::{Buffer, Object};
use super::builder::FinishedBatch;
use super::error::BatchError;
use super::reloc::{canonical, va};
use super::verify;
#[cfg(feature = "std")]
use crate::capture::{CaptureWriter, WriteObject};
use crate::engine::{Engine, EngineId};
use alloc::format;
use alloc::vec::Vec;
use core::iter;

/// A batch with everything that is mapped when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The engine that it is for.
    pub engine: EngineId,
    /// Address of the first packet.
    pub batch_address: u64,
    /// Length of the batch in bytes; of one that grew, of its first buffer.
    pub batch_length: u64,
    /// The batch's buffers, then the others.
    pub buffers: Vec<Buffer>,
}

impl<E: Engine> FinishedBatch<E> {
    /// The batch and all that it points to, checked:
    ///
    /// * no two buffers share addresses;
    /// * what packets and state refer to (`reads`, `writes`, jumps, calls) is there;
    /// * the bases in STATE_BASE_ADDRESS are those of buffers that are there;
    /// * an offset is used after its base was set (or [`assume_base`](super::Batch::assume_base) says that it is), and leads
    ///   to something that was put into the heap at that base, of the kind that the field wants. Offset 0 is taken for
    ///   a pointer that is not used. Pointers inside of state in heaps are checked with the last bases.
    ///
    /// It reads every packet once, as fast as a decoder does. [`Submission::new`] is the way around.
    ///
    /// ```
    /// use genxml::batch::{Batch, BatchError, Heap};
    /// use genxml::core::address::DynamicState;
    /// use genxml::engine::Render;
    /// use genxml::gen8::state::{InterfaceDescriptorData, StateBaseAddress};
    ///
    /// let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 4096)?;
    /// dynamic.put_dwords::<64, 32>("constants", &[1, 2, 3])?;
    /// let load = dynamic.interface_descriptors(&[InterfaceDescriptorData::new()])?;
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_gpgpu()?;
    /// batch.emit(&load)?; // without STATE_BASE_ADDRESS
    /// let error = batch.finish()?.submit([dynamic.finish()]).unwrap_err();
    /// assert!(matches!(error, BatchError::NoBase { space: "dynamic-state", .. }));
    /// # Ok::<(), BatchError>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError::Overlap`], [`BatchError::Missing`], [`BatchError::NoBuffer`], [`BatchError::NoBase`],
    /// [`BatchError::Dangling`].
    pub fn submit(self, others: impl IntoIterator<Item = Buffer>) -> Result<Submission, BatchError> {
        let chain = 1 + self.chained.len();
        let (length, assumed) = (self.length, self.assumed.clone());
        let submission = Submission::new(self, others);
        submission.overlaps()?;
        submission.references()?;
        verify::offsets(&submission, chain, length, &assumed)?;
        Ok(submission)
    }
}

impl Submission {
    /// The batch and all that it points to, as they are: nothing is checked ([`FinishedBatch::submit`] does).
    pub fn new<E: Engine>(batch: FinishedBatch<E>, others: impl IntoIterator<Item = Buffer>) -> Self {
        let (batch_address, batch_length) = (batch.buffer.address, batch.length as u64);
        let buffers = iter::once(batch.buffer).chain(batch.chained).chain(others).collect();
        Submission { engine: E::ID, batch_address, batch_length, buffers }
    }

    /// The bytes from `address` to the end of its buffer; empty if there is none.
    pub fn tail(&self, address: u64) -> &[u8] {
        self.find(address).map_or(&[], |buffer| &buffer.bytes[(address - buffer.address) as usize..])
    }

    /// The buffer that has the byte at `address`.
    pub(super) fn find(&self, address: u64) -> Option<&Buffer> {
        let inside = |buffer: &&Buffer| {
            address.checked_sub(buffer.address).is_some_and(|offset| offset < buffer.bytes.len() as u64)
        };
        self.buffers.iter().find(inside)
    }

    /// Number of the buffer that starts at `address`.
    pub(super) fn index(&self, address: u64) -> Option<usize> {
        self.buffers.iter().position(|buffer| buffer.address == address)
    }

    fn overlaps(&self) -> Result<(), BatchError> {
        let mut sorted: Vec<&Buffer> = self.buffers.iter().collect();
        sorted.sort_by_key(|buffer| buffer.address);
        for pair in sorted.windows(2) {
            let [first, second] = pair else { continue };
            if second.address < first.address + first.size() {
                return Err(BatchError::Overlap {
                    first: first.name.clone(),
                    second: second.name.clone(),
                    address: second.address,
                });
            }
        }
        Ok(())
    }

    /// What references lead to is there.
    pub(super) fn references(&self) -> Result<(), BatchError> {
        for buffer in &self.buffers {
            for relocation in &buffer.relocations {
                if self.index(relocation.target).is_none() {
                    return Err(BatchError::Missing {
                        place: format!(
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

    /// Moves the buffers to `addresses`, one for each in order, and writes every reference anew, as the kernel does when
    /// it places buffer objects elsewhere than presumed: 64 bits in canonical form. The result is what building with
    /// those addresses gives, but for fields of 48 bits, whose upper 16 bits the kernel writes too if bit 47 is set.
    ///
    /// # Errors
    /// [`BatchError::Place`] for an address that cannot be, [`BatchError::Missing`] and [`BatchError::Unrelocatable`] as
    /// [`exec`](Self::exec).
    pub fn relocate(&mut self, addresses: &[u64]) -> Result<(), BatchError> {
        self.references()?;
        self.relocatable()?;
        for (buffer, address) in self.buffers.iter().zip(addresses) {
            Buffer::new(buffer.name.clone(), *address, 1).and_then(|_| {
                let end = address.checked_add(buffer.size()).filter(|end| *end <= 1 << 48);
                let place =
                    BatchError::Place { buffer: buffer.name.clone(), address: *address, size: buffer.size() };
                end.ok_or(place)
            })?;
        }
        let moved: Vec<(u64, u64)> =
            self.buffers.iter().zip(addresses).map(|(buffer, new)| (buffer.address, *new)).collect();
        let new = |old: u64| moved.iter().find(|(from, _)| *from == old).map_or(old, |(_, to)| *to);
        for buffer in &mut self.buffers {
            for relocation in &mut buffer.relocations {
                let at = relocation.offset as usize;
                let target = new(relocation.target);
                let value = canonical(target + u64::from(relocation.delta));
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

    /// No reference is where the kernel cannot write it.
    pub(super) fn relocatable(&self) -> Result<(), BatchError> {
        let mut all = self.buffers.iter().flat_map(|buffer| &buffer.relocations);
        match all.find(|relocation| !relocation.whole) {
            Some(relocation) => {
                Err(BatchError::Unrelocatable { packet: relocation.packet, field: relocation.field })
            }
            None => Ok(()),
        }
    }

    /// Adds the submission to a capture and returns its sequence number.
    #[cfg(feature = "std")]
    pub fn write(&self, context: u32, writer: &mut CaptureWriter) -> u64 {
        let objects: Vec<WriteObject<'_>> = self
            .buffers
            .iter()
            .map(|buffer| {
                WriteObject::new(&buffer.name, buffer.address, buffer.bytes.len() as u64, &buffer.bytes)
            })
            .collect();
        writer.exec(context, self.engine, self.batch_address, self.batch_length, &objects)
    }
}

#[cfg(feature = "std")]
impl crate::decode::Memory for Submission {
    fn tail(&self, address: u64) -> &[u8] {
        Submission::tail(self, address)
    }
}
